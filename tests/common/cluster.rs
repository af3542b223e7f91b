//! A PostgreSQL server for tests: in a folder of its own, on a socket of its own, ended with them.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long it may take to start.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A server with its databases.
pub(crate) struct Cluster {
    folder: PathBuf,
    programs: PathBuf,
    /// Who runs it, if that is somebody else.
    user: Option<&'static str>,
    server: Mutex<Option<Child>>,
}

impl Cluster {
    /// Starts a server of that name; none where PostgreSQL is not installed.
    pub(crate) fn start(name: &str) -> Option<Self> {
        let programs = programs()?;
        // The path of a socket is short.
        let folder = PathBuf::from(format!("/tmp/plyd-pg-{}-{name}", std::process::id()));
        let _none_yet = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        // It refuses to run as root.
        let is_root = rustix::process::geteuid().is_root();
        let mut others = ["postgres", "nobody"].into_iter();
        let user = others.find(|user| is_root && run(Command::new("id").arg(user)));
        if let Some(user) = user {
            assert!(run(Command::new("chown").arg(user).arg(&folder)));
        }
        let cluster = Self { folder, programs, user, server: Mutex::default() };
        let mut command = cluster.command("initdb");
        command.args(["--no-sync", "--encoding=UTF8", "--locale=C", "--auth=trust", "--username=ladder"]);
        command.arg("--pgdata").arg(cluster.folder.join("data"));
        assert!(run(&mut command), "initdb failed");
        cluster.serve();
        Some(cluster)
    }

    /// Where its socket is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes a database, and gives its URL.
    pub(crate) fn new_database(&self, name: &str) -> String {
        let mut command = self.client("createdb");
        assert!(run(command.args(["--username=ladder", name])), "createdb failed");
        format!("postgres:///{name}?host={}&user=ladder", self.folder.display())
    }

    /// Ends the server, with all connections.
    pub(crate) fn end(&self) {
        if let Some(mut server) = self.server.lock().unwrap().take() {
            // At once, but not before all of its processes are gone: another one could not start beside them.
            let pid = Pid::from_raw(server.id().cast_signed()).unwrap();
            kill_process(pid, Signal::QUIT).unwrap();
            server.wait().unwrap();
        }
    }

    /// Ends the server, and removes what it kept.
    pub(crate) fn stop(&self) {
        self.end();
        let _gone = fs::remove_dir_all(&self.folder);
    }

    /// Keeps a file that nobody but the server reads; gives its path.
    pub(crate) fn keep(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.join(name);
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).unwrap();
        file.write_all(bytes).unwrap();
        if let Some(user) = self.user {
            assert!(run(Command::new("chown").arg(user).arg(&path)));
        }
        path
    }

    /// Starts the server, where it was before.
    pub(crate) fn serve(&self) {
        self.serve_with(&[]);
    }

    /// The same with settings of its own, each `NAME=VALUE`.
    #[allow(
        clippy::disallowed_methods,
        reason = "the system ends the server with us; the others end at once"
    )]
    pub(crate) fn serve_with(&self, settings: &[String]) {
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.folder.join("data")).arg("-k").arg(&self.folder);
        command.args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=50"]);
        command.args(settings.iter().flat_map(|setting| ["-c", setting]));
        command.stderr(fs::File::create(self.folder.join("log")).unwrap());
        // That signal comes when the thread ends that started it: this one does not before the process.
        let (sender, started) = std::sync::mpsc::channel();
        thread::spawn(move || {
            sender.send(command.spawn().unwrap()).unwrap();
            loop {
                thread::park();
            }
        });
        *self.server.lock().unwrap() = Some(started.recv().unwrap());
        let since = Instant::now();
        while !run(self.client("pg_isready").arg("--quiet")) {
            let log = || fs::read_to_string(self.folder.join("log")).unwrap();
            assert!(since.elapsed() < TIMEOUT, "PostgreSQL does not start: {}", log());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// One of its clients.
    fn client(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.arg("--host").arg(&self.folder);
        command
    }

    /// A command that ends with this process, however that ends.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("setpriv");
        if let Some(user) = self.user {
            command.args(["--reuid", user, "--clear-groups"]);
        }
        command.args(["--pdeathsig", "KILL"]).arg(self.programs.join(program)).current_dir("/");
        command.stdout(Stdio::null()).stdin(Stdio::null());
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether a command succeeds.
#[allow(clippy::disallowed_methods, reason = "it ends at once")]
fn run(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
}

/// The folder of PostgreSQL's programs, the newest: Debian has no links to most of them.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    versions.sort_by_key(|path| {
        let version = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        version.and_then(|version| version.parse::<u32>().ok())
    });
    let on_path = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let mut places = versions.into_iter().rev().chain(on_path.into_iter().flatten());
    places.find(|place| place.join("initdb").exists() && place.join("postgres").exists())
}
