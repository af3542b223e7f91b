//! A finding: what is measured of a build, and what came of it.

use std::fs::{self, File};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command as Program, ExitStatus, Stdio};
use std::time::Duration;

use plyd::client::{Client, Launch, Reaper};

use crate::server::{Outcome, PLYD, Server};

/// What is waited for at most where no answer is a figure too.
pub(crate) const LOST: Duration = Duration::from_secs(10);

/// One finding of the report.
pub(crate) struct Finding {
    /// What is measured, and its bound.
    pub(crate) lines: &'static [(&'static str, &'static str)],
    /// Measures a build: a figure for each line.
    pub(crate) measure: fn(&Path) -> Outcome<Vec<Figure>>,
}

/// What came of one line.
pub(crate) struct Figure {
    pub(crate) text: String,
    pub(crate) is_kept: bool,
}

impl Finding {
    /// A figure for each line; where the measurement fails, each says why.
    pub(crate) fn figures(&self, build: &Path) -> Vec<Figure> {
        let figures = (self.measure)(build).unwrap_or_else(|error| {
            let text = format!("failed: {error}").replace(['|', '\n'], " ");
            self.lines.iter().map(|_| figure(text.clone(), false)).collect()
        });
        assert_eq!(figures.len(), self.lines.len(), "a figure for each line");
        figures
    }
}

/// A figure, and whether it is within its bound.
pub(crate) fn figure(text: impl Into<String>, is_kept: bool) -> Figure {
    Figure { text: text.into(), is_kept }
}

/// A command whose process is killed with this one; its log is discarded unless the caller
/// redirects it.
pub(crate) fn launch(program: &Path, arguments: &[&str]) -> Outcome<Launch> {
    let mut launch = Reaper::start(PLYD)?.launch(Program::new(program).args(arguments))?;
    launch.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(launch)
}

/// A daemon that speaks on its standard streams.
pub(crate) fn stdio(build: &Path, arguments: &[&str]) -> Outcome<Client> {
    Ok(Client::spawn(launch(build, &[&["serve", "--stdio"], arguments].concat())?)?)
}

/// A daemon on a free TCP port, whose log goes nowhere.
pub(crate) fn tcp(build: &Path, arguments: &[&str]) -> Outcome<Server> {
    let mut serve = Program::new(build);
    serve.arg("serve").args(arguments);
    Server::start_logging(serve, free_address()?, Stdio::null())
}

/// The same within a limit of the shell's `ulimit`, and with this log.
pub(crate) fn limited(build: &Path, limit: &str, arguments: &[&str], log: Stdio) -> Outcome<Server> {
    let mut serve = Program::new("sh");
    serve.args(["-c", &format!("ulimit {limit}; exec \"$0\" serve \"$@\"")]).arg(build).args(arguments);
    Server::start_logging(serve, free_address()?, log)
}

/// An address that nobody listens at, unless another process takes it in the meantime.
pub(crate) fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// An exit status, in words.
pub(crate) fn words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(6)) => "aborted".to_owned(),
        (None, signal) => format!("ended by signal {}", signal.unwrap_or_default()),
    }
}

/// A directory of this process, which is removed when this is dropped.
pub(crate) struct Place(pub(crate) PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Outcome<Self> {
        let place = std::env::temp_dir().join(format!("plyd-findings-{name}-{}", std::process::id()));
        fs::create_dir_all(&place)?;
        Ok(Self(place))
    }

    /// A file in it with that text, by its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> Outcome<String> {
        let path = self.0.join(name);
        fs::write(&path, text)?;
        Ok(path.display().to_string())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _stays_behind = fs::remove_dir_all(&self.0);
    }
}

/// A log that cannot be written: a full disk.
pub(crate) fn full() -> Outcome<Stdio> {
    Ok(File::options().write(true).open("/dev/full")?.into())
}

/// A log that cannot be written: a pipe whose reader is gone.
pub(crate) fn broken() -> Outcome<Stdio> {
    let (_gone, writer) = io::pipe()?;
    Ok(writer.into())
}
