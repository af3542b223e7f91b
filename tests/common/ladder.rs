//! A ladder of the real command, with bots that dial in.

mod answers;
mod browser;
mod spectators;
mod waiting;

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::process::{ExitStatus, Stdio};

use plyd::client::Process;
use plyd_ladder::store::{Checked, Database, Store};
use rustix::process::Signal;

use super::{Folder, LogReader, listening, process};
pub(crate) use answers::Answers;
pub(crate) use spectators::{Spectators, Watched};
pub(crate) use waiting::{Pause, Seen, WaitingBots};

/// A ladder in a folder of its own.
pub(crate) struct Ladder {
    pub(crate) folder: Folder,
    db: String,
    /// What serves it.
    server: Option<(Process, LogReader)>,
    /// Where bots dial, once it was served.
    pub(crate) address: Option<SocketAddr>,
    /// Where browsers do, if it is served with `--http`.
    pub(crate) web: Option<SocketAddr>,
}

impl Ladder {
    /// One in SQLite.
    pub(crate) fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        let db = folder.path.join("ladder.db").to_str().expect("a path in UTF-8").to_owned();
        Self::of(folder, db)
    }

    /// One in the database of that name or URL.
    pub(crate) fn within(name: &str, db: String) -> Self {
        Self::of(Folder::new(name), db)
    }

    fn of(folder: Folder, db: String) -> Self {
        let ladder = Self { folder, db, server: None, address: None, web: None };
        ladder.run(&["init"]);
        ladder
    }

    /// Runs a command on it, which must succeed; gives what it prints.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let (code, stdout, stderr) = self.try_run(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {stderr}");
        stdout
    }

    /// Runs a command on it: its exit code, and what it prints on stdout and stderr.
    pub(crate) fn try_run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = process::output(process::plyd([&["ladder"], arguments, &["--db", &self.db]].concat()));
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// What it keeps.
    pub(crate) fn store(&self) -> Store {
        Store::open(&self.db.parse::<Database>().expect("a database")).expect("the ladder is there")
    }

    /// What a check of it finds, which must be no fault.
    pub(crate) fn check(&self) -> Checked {
        let checked = self.store().check().expect("it can be read");
        assert_eq!(checked.faults, [""; 0]);
        checked
    }

    /// Serves it, where it was served before, and lets nobody wait for long.
    pub(crate) fn serve(&mut self, arguments: &[&str]) {
        self.serve_as(&[&["--round-ms", "20", "--retry-ms", "0"], arguments].concat());
    }

    /// The same as people do.
    pub(crate) fn serve_as(&mut self, arguments: &[&str]) {
        let address = self.address.map_or_else(|| "127.0.0.1:0".to_owned(), |address| address.to_string());
        let common = ["ladder", "serve", "--tcp", &address, "--db", &self.db];
        let mut launch = process::plyd([&common, arguments].concat());
        launch.command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = process::spawn(launch);
        let log = LogReader::of(&mut process);
        self.address = listening(&log.wait_for("listening on t"));
        if arguments.contains(&"--http") {
            self.web = listening(&log.wait_for("listening on http"));
        }
        self.server = Some((process, log));
    }

    /// The process id of what serves it.
    pub(crate) fn id(&self) -> u32 {
        self.server.as_ref().expect("it is served").0.id()
    }

    /// Kills what serves it.
    pub(crate) fn kill(&mut self) {
        let (mut process, _log) = self.server.take().expect("it is served");
        process::signal(&process, Signal::KILL);
        process::exit(&mut process);
    }

    /// Stops what serves it, as a service manager does.
    pub(crate) fn stop(&mut self) {
        self.signal(Signal::TERM);
        assert!(self.exit().success());
    }

    /// Sends what serves it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        process::signal(&self.server.as_ref().expect("it is served").0, signal);
    }

    /// Waits until what serves it has ended.
    pub(crate) fn exit(&mut self) -> ExitStatus {
        let (mut process, _log) = self.server.take().expect("it is served");
        process::exit(&mut process)
    }

    /// Waits for a line of its log.
    pub(crate) fn logged(&self, text: &str) -> String {
        self.server.as_ref().expect("it is served").1.wait_for(text)
    }

    /// Makes a bot; gives the file of its token.
    pub(crate) fn token(&self, name: &str, owner: &str) -> String {
        let token = self.run(&["bot", "new", name, "--owner", owner]);
        self.folder.file(&format!("{name}.token"), token)
    }

    /// Starts `plyd connect` for a bot; behind `--` a program.
    pub(crate) fn connect<A: AsRef<OsStr>>(&self, token: &str, arguments: &[A]) -> Process {
        self.connect_to(&format!("tcp={}", self.address.expect("it was served")), token, arguments)
    }

    /// The same to a URL.
    pub(crate) fn connect_to<A: AsRef<OsStr>>(&self, url: &str, token: &str, arguments: &[A]) -> Process {
        let mut launch = process::plyd(["connect", url, "--token-file", token]);
        launch.command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        process::spawn(launch)
    }
}
