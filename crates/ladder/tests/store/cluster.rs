//! A PostgreSQL server for the tests: in a folder of its own, on a socket of its own, ended with them.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// How long it may take to start.
const TIMEOUT: Duration = Duration::from_secs(120);

struct Cluster {
    folder: PathBuf,
    server: Mutex<Option<Child>>,
}

static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();

/// The URL of a new database; none where PostgreSQL is not installed.
pub(crate) fn new_database(name: &str) -> Option<String> {
    let cluster = CLUSTER.get_or_init(|| {
        let programs = programs();
        if programs.is_none() {
            let reason = "PostgreSQL is not installed (apt-get install postgresql): tested on SQLite alone";
            let _nobody_reads = writeln!(io::stderr(), "{reason}");
        }
        programs.map(|programs| start(&programs))
    });
    let cluster = cluster.as_ref()?;
    let mut client = connect(&cluster.folder, "postgres").unwrap();
    client.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
    Some(format!("postgres:///{name}?host={}&user=ladder", cluster.folder.display()))
}

/// Connects beside the ladder, as another program would.
pub(crate) fn client(database: &str) -> postgres::Client {
    connect(&CLUSTER.get().unwrap().as_ref().unwrap().folder, database).unwrap()
}

/// Ends the server, if it was started.
pub(crate) fn stop() {
    if let Some(Some(cluster)) = CLUSTER.get() {
        if let Some(mut server) = cluster.server.lock().unwrap().take() {
            server.kill().unwrap();
            server.wait().unwrap();
        }
        let _gone = fs::remove_dir_all(&cluster.folder);
    }
}

fn connect(folder: &Path, database: &str) -> Result<postgres::Client, postgres::Error> {
    let mut config = postgres::Config::new();
    config.host_path(folder).user("ladder").dbname(database).connect(postgres::NoTls)
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

#[allow(clippy::disallowed_methods, reason = "the system ends the server with us; the others end at once")]
fn start(programs: &Path) -> Cluster {
    // The path of a socket is short.
    let folder = PathBuf::from(format!("/tmp/plyd-pg-{}", std::process::id()));
    let _none_yet = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    // It refuses to run as root.
    let is_root = rustix::process::geteuid().is_root();
    let user = ["postgres", "nobody"].into_iter().find(|user| {
        is_root
            && Command::new("id")
                .arg(user)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap()
                .success()
    });
    // It ends with this process, however that ends.
    let run = |program: &str| {
        let mut command = Command::new("setpriv");
        if let Some(user) = user {
            command.args(["--reuid", user, "--clear-groups"]);
        }
        command.args(["--pdeathsig", "KILL"]).arg(programs.join(program)).current_dir("/");
        command.stdout(Stdio::null()).stdin(Stdio::null());
        command
    };
    if let Some(user) = user {
        assert!(Command::new("chown").arg(user).arg(&folder).status().unwrap().success());
    }
    let data = folder.join("data");
    let made = run("initdb")
        .args(["--no-sync", "--encoding=UTF8", "--locale=C", "--auth=trust", "--username=ladder", "--pgdata"])
        .arg(&data)
        .status()
        .unwrap();
    assert!(made.success(), "initdb failed");
    let mut command = run("postgres");
    command.arg("-D").arg(&data).arg("-k").arg(&folder);
    command.args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=50"]);
    command.stderr(fs::File::create(folder.join("log")).unwrap());
    // That signal comes when the thread ends that started it: this one does not before the process.
    let (sender, started) = std::sync::mpsc::channel();
    thread::spawn(move || {
        sender.send(command.spawn().unwrap()).unwrap();
        loop {
            thread::park();
        }
    });
    let server = started.recv().unwrap();
    let since = Instant::now();
    while let Err(error) = connect(&folder, "postgres") {
        let log = || fs::read_to_string(folder.join("log")).unwrap();
        assert!(since.elapsed() < TIMEOUT, "PostgreSQL does not start: {error}\n{}", log());
        thread::sleep(Duration::from_millis(20));
    }
    Cluster { folder, server: Mutex::new(Some(server)) }
}
