//! SIGHUP with a file of settings: what was asked for is in force, what needs a restart is named, and nobody
//! who is connected notices.

// The functions beside the tests are called by them alone.
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use crate::common::{Folder, LogReader, Peer, TIMEOUT, endless, go, open, process, stop, texts, until, with};
use plyd::client::{Launch, Process};
use rustix::process::Signal;
use serde_json::{Value, json};

/// A daemon with a folder for its files and a log that is read.
pub(crate) struct Daemon {
    folder: Folder,
    process: Process,
    pub(crate) log: LogReader,
    address: SocketAddr,
}

/// What stands in the log at the end of a good reload, and of a bad one.
pub(crate) const IN_FORCE: &str = "the settings are read again and in force";
pub(crate) const REFUSED: &str = "the settings stay as they are: ";

impl Daemon {
    /// Starts one with these settings in its file, on a free port.
    fn start(name: &str, settings: &str, arguments: &[&str]) -> Self {
        let folder = Folder::new(&format!("reload-{name}"));
        folder.file("plyd.toml", settings);
        let mut launch = process::plyd(["serve", "--config", "plyd.toml"].iter().chain(arguments));
        launch.command.current_dir(&folder.path);
        Self::spawn(folder, launch)
    }

    /// Starts one without such a file, on a free port.
    pub(crate) fn without_settings(name: &str, arguments: &[&str]) -> Self {
        let folder = Folder::new(&format!("reload-{name}"));
        let mut launch = process::plyd(["serve", "--tcp", "127.0.0.1:0"].iter().chain(arguments));
        launch.command.current_dir(&folder.path);
        Self::spawn(folder, launch)
    }

    fn spawn(folder: Folder, mut launch: Launch) -> Self {
        launch.command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = process::spawn(launch);
        let log = LogReader::of(&mut process);
        let mut daemon = Self { folder, process, log, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        let line = daemon.logged("listening on ");
        let port = line.rsplit(':').next().unwrap().trim().parse().unwrap();
        daemon.address.set_port(port);
        daemon
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path.join(name)
    }

    /// Waits for a line of the log.
    pub(crate) fn logged(&self, text: &str) -> String {
        self.log.wait_for(text)
    }

    pub(crate) fn hang_up(&self) {
        process::signal(&self.process, Signal::HUP);
    }

    /// Changes the file of settings and lets it be read again; waits for that line of the log.
    fn reload(&self, settings: &str, result: &str) -> String {
        fs::write(self.file("plyd.toml"), settings).unwrap();
        self.hang_up();
        self.logged(result)
    }

    fn socket(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    pub(crate) fn connect(&self) -> Peer {
        let stream = self.socket();
        stream.set_nodelay(true).unwrap();
        Peer::tcp(stream.try_clone().unwrap(), stream)
    }

    pub(crate) fn greet(&self, fields: Value) -> Peer {
        let mut peer = self.connect();
        peer.hello(fields);
        peer
    }

    /// Ends it by a signal.
    pub(crate) fn end(&mut self) -> ExitStatus {
        process::signal(&self.process, Signal::TERM);
        process::exit(&mut self.process)
    }
}

/// The limits that are in force.
fn limits(peer: &mut Peer) -> Value {
    peer.result(&json!({ "id": "limits", "cmd": "describe", "what": "limits" }))["body"].clone()
}

fn hello(token: &str) -> Value {
    json!({ "id": "hello", "cmd": "hello", "protocol": { "min": 1, "max": 1 }, "token": token })
}

#[test]
fn a_reload_is_in_force_and_nobody_who_is_connected_notices() {
    let before = "connections = 2\nhash-mb = 64\nengines = 9\ntoken-file = 'first'\n";
    let folder = Folder::new("reload-tokens");
    let tokens = ["first", "second"].map(|name| folder.file(name, name));
    let settings = |text: &str| {
        text.replace("'first'", &format!("'{}'", tokens[0])).replace("'second'", &format!("'{}'", tokens[1]))
    };
    let arguments = ["--tcp", "127.0.0.1:0", "--engines", "5", "--threads", "2"];
    let mut daemon = Daemon::start("force", &settings(before), &arguments);
    let (mut busy, mut idle) =
        (daemon.greet(json!({ "token": "first" })), daemon.greet(json!({ "token": "first" })));
    assert_eq!(limits(&mut idle)["connections"], 2);
    open(&mut busy, "s");
    busy.send(&go("search", json!({ "session": "s", "clock": endless() })));
    busy.info("search", "started");

    let after = "connections = 1\nhash-mb = 7\nengines = 8\nidle = 3600\ntoken-file = 'second'\n";
    daemon.reload(&settings(after), IN_FORCE);
    for peer in [&mut busy, &mut idle] {
        let limits = limits(peer);
        assert_eq!(
            (&limits["connections"], &limits["hash_bytes"], &limits["engines"], &limits["idle_ms"]),
            (&json!(1), &json!(7 << 20), &json!(5), &json!(3_600_000)),
            "{limits}"
        );
    }
    assert!(busy.is_open("search"), "the search goes on");
    busy.send(&stop("search"));
    assert_eq!(busy.last("search")["reason"], "stopped");
    busy.best(&go("next", json!({ "session": "s", "limit": { "nodes": 1000 } })));
    for (token, code) in [("first", "auth_failed"), ("second", "too_many_connections")] {
        let refused = daemon.connect().ask(&hello(token));
        assert_eq!(refused["code"], code, "{refused}");
    }

    // What is wrong changes nothing, and is said with its line.
    let bad = settings("connections = 9\ntoken-file = 'first'\n\nhash-mb = 0\nidel = 3\n");
    let line = daemon.reload(&bad, REFUSED);
    assert!(line.contains("plyd.toml:4: hash-mb: give a whole number from 1"), "{line}");
    assert!(line.contains("plyd.toml:5: there is no setting `idel`; the nearest is `idle`"), "{line}");
    let line = daemon.reload("token-file = 'nowhere'\n", REFUSED);
    assert!(line.contains("nowhere: No such file"), "{line}");
    assert_eq!(limits(&mut idle)["connections"], 1);

    let more = settings("connections = 3\nthreads = 9\nunix = 'socket'\ntoken-file = 'second'\n");
    daemon.reload(&more, IN_FORCE);
    let line = daemon.logged("need a restart");
    assert!(line.ends_with("need a restart: unix"), "the flag `--threads` is stronger: {line}");
    let mut third = daemon.greet(json!({ "token": "second" }));
    let changed = limits(&mut third);
    assert_eq!((&changed["connections"], &changed["threads"]), (&json!(3), &json!(2)), "{changed}");
    for peer in [&mut busy, &mut idle] {
        peer.ping();
    }
    assert!(daemon.end().success());
}

#[test]
fn a_promise_holds_also_where_no_new_one_is_given() {
    let mut daemon = Daemon::start("promise", "resume-ms = 600000\n", &["--tcp", "127.0.0.1:0"]);
    let asked = |resume: Value| {
        let hello = json!({ "id": "h", "cmd": "hello", "protocol": { "min": 1, "max": 1 } });
        with(hello, &json!({ "require": ["resume"], "resume": resume }))
    };
    let mut first = daemon.connect();
    let token = first.result(&asked(json!({ "keep_ms": 600_000 })))["resume"]["token"].clone();
    daemon.reload("resume-ms = 0\n", IN_FORCE);
    first.reset();
    let refused = daemon.connect().ask(&asked(json!({ "keep_ms": 600_000 })));
    assert_eq!(refused["code"], "feature_unsupported", "{refused}");
    for seq in [1, 2] {
        let mut next = daemon.connect();
        next.follow(&first, seq);
        let result = next.result(&asked(json!({ "token": token, "seq": seq })));
        assert!(texts(&result["features"]).contains(&"resume".to_owned()), "{result}");
        assert_eq!(result["resume"]["keep_ms"], 600_000, "{result}");
        next.reset();
        first = next;
    }
    // Where there is nothing to take up, the feature is not there either.
    let mut peer = daemon.connect();
    assert_eq!(peer.ask(&asked(json!({ "token": "wrong" })))["code"], "resume_unknown");
    assert_eq!(peer.ask(&asked(json!({ "keep_ms": 1 })))["code"], "feature_unsupported");
    assert!(daemon.end().success());
}

#[test]
fn settings_with_which_no_daemon_starts_are_warned_of_before_the_restart() {
    let mut daemon = Daemon::start("check", "", &["--tcp", "127.0.0.1:0"]);
    for (settings, name, error) in [
        ("unix = '/nowhere/socket'\n", "unix", "cannot listen on /nowhere/socket"),
        ("ws = ['0.0.0.0:0']\n", "ws", "refusing to listen on 0.0.0.0:0 without a token"),
        ("transcript = '/nowhere/lines'\n", "transcript", "cannot write the transcript /nowhere/lines"),
    ] {
        daemon.reload(settings, IN_FORCE);
        let line = daemon.logged("need a restart");
        assert!(line.ends_with(&format!("need a restart: {name}")), "{line}");
        let line = daemon.logged("a restart would fail: ");
        assert!(line.contains(error), "{line}");
    }
    // Nothing more is said of those with which one starts.
    daemon.reload("unix = 'socket'\n", IN_FORCE);
    daemon.logged("need a restart: unix");
    fs::write(daemon.file("plyd.toml"), "").unwrap();
    daemon.hang_up();
    let mut line = daemon.log.next();
    // The check that said nothing may not be over yet.
    if line.contains("the settings are still being read") {
        line = daemon.log.next();
    }
    assert!(line.contains(IN_FORCE), "{line}");
    assert!(daemon.end().success());
}

#[test]
fn the_log_and_the_transcript_follow_the_settings() {
    let mut daemon = Daemon::start("log", "transcript = 'lines'\n", &["--tcp", "127.0.0.1:0"]);
    let ping = |peer: &mut Peer, echo: &str| {
        peer.result(&json!({ "id": echo, "cmd": "ping", "echo": echo }));
    };
    let mut peer = daemon.greet(json!({}));
    ping(&mut peer, "before");
    fs::rename(daemon.file("lines"), daemon.file("lines.1")).unwrap();
    daemon.reload("transcript = 'lines'\nverbose = 1\n", IN_FORCE);
    ping(&mut peer, "after");
    daemon.greet(json!({}));
    daemon.logged(": connection");
    // Another file; then one that cannot be had.
    daemon.reload("transcript = 'other'\n", IN_FORCE);
    ping(&mut peer, "elsewhere");
    let line = daemon.reload("transcript = '/nowhere/lines'\nverbose = 3\n", REFUSED);
    assert!(line.contains("cannot write the transcript /nowhere/lines"), "{line}");
    ping(&mut peer, "still");
    daemon.reload("", IN_FORCE);
    daemon.logged("need a restart: transcript");
    ping(&mut peer, "last");
    assert!(daemon.end().success());
    let rest = daemon.log.rest();
    let is_quiet =
        rest.iter().all(|line| line.contains(" ending, as a signal asks: ") || line.ends_with(" ended"));
    assert!(is_quiet, "it logs warnings, and its end: {rest:?}");
    let echoes = |name: &str| {
        let text = fs::read_to_string(daemon.file(name)).unwrap();
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let pings = records.filter(|record| record["dir"] == "in" && record["msg"]["cmd"] == "ping");
        pings.map(|record| record["msg"]["echo"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(echoes("lines.1"), ["before"]);
    assert_eq!(echoes("lines"), ["after"]);
    assert_eq!(echoes("other"), ["elsewhere", "still", "last"]);
}

#[test]
fn a_new_token_stands_in_no_transcript() {
    let folder = Folder::new("reload-kept-out");
    let [old, new] = ["olD", "neW"].map(|token| folder.file(token, token));
    let settings = |file: &str| format!("token-file = '{file}'\n");
    let before = settings(&old) + "transcript = 'lines'\n";
    // Whether the new settings name the transcript or not: without, it goes on until the restart.
    for (name, after) in [("named", settings(&new) + "transcript = 'lines'\n"), ("unnamed", settings(&new))] {
        let mut daemon = Daemon::start(&format!("kept-out-{name}"), &before, &["--tcp", "127.0.0.1:0"]);
        let mut peer = daemon.greet(json!({ "token": "olD" }));
        daemon.reload(&after, IN_FORCE);
        peer.result(&json!({ "id": "p", "cmd": "ping", "echo": "neW" }));
        daemon.greet(json!({ "token": "neW" })).ping();
        assert!(daemon.end().success());
        let text = fs::read_to_string(daemon.file("lines")).unwrap();
        assert!(text.contains("a line that holds the token in the wrong place"), "{name}: {text}");
        assert!(!text.contains("olD") && !text.contains("neW"), "{name}: {text}");
    }
}

#[test]
fn pages_may_come_from_the_origins_of_the_new_settings() {
    let mut daemon = Daemon::start("origins", "ws-origin = ['http://a.example']\n", &["--ws", "127.0.0.1:0"]);
    let upgrade = |daemon: &Daemon, origin: &str| {
        let mut socket = daemon.socket();
        socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        let request = format!(
            "GET /ws HTTP/1.1\r\nHost: {}\r\nOrigin: {origin}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
            daemon.address
        );
        socket.write_all(request.as_bytes()).unwrap();
        let mut answer = [0; 12];
        socket.read_exact(&mut answer).unwrap();
        (socket, String::from_utf8(answer.to_vec()).unwrap())
    };
    let (mut early, answer) = upgrade(&daemon, "http://a.example");
    assert_eq!(answer, "HTTP/1.1 101");
    assert_eq!(upgrade(&daemon, "http://b.example").1, "HTTP/1.1 403");
    daemon.reload("ws-origin = ['http://b.example']\n", IN_FORCE);
    assert_eq!(upgrade(&daemon, "http://a.example").1, "HTTP/1.1 403");
    assert_eq!(upgrade(&daemon, "http://b.example").1, "HTTP/1.1 101");
    // A page that is connected stays so: it is still asked for signs of life, or answered, and not cut off.
    early.write_all(&[0x89, 0x80, 0, 0, 0, 0]).unwrap();
    let mut bytes = Vec::new();
    while !bytes.ends_with(&[0x8a, 0]) {
        let mut byte = [0];
        early.read_exact(&mut byte).expect("an answer to the ping");
        bytes.push(byte[0]);
    }
    assert!(daemon.end().success());
}

#[test]
fn strangers_are_not_let_in_by_mistake() {
    let mut daemon = Daemon::start("open", "insecure = true\n", &["--tcp", "0.0.0.0:0"]);
    let line = daemon.reload("insecure = true\nhash-mb = 8\n", IN_FORCE);
    assert!(line.contains("INFO"), "{line}");
    let line = daemon.reload("hash-mb = 9\n", REFUSED);
    assert!(line.contains("refusing to listen on 0.0.0.0:0 without a token"), "{line}");
    assert_eq!(limits(&mut daemon.greet(json!({})))["hash_bytes"], 8 << 20);
    assert!(daemon.end().success());
    let folder = Folder::new("reload-token");
    let settings = format!("token-file = '{}'\n", folder.file("token", "secret"));
    let mut daemon = Daemon::start("closed", &settings, &["--tcp", "0.0.0.0:0"]);
    let line = daemon.reload("", REFUSED);
    assert!(line.contains("refusing to listen on 0.0.0.0:0 without a token"), "{line}");
    assert_eq!(daemon.connect().ask(&hello("wrong"))["code"], "auth_failed");
    daemon.greet(json!({ "token": "secret" }));
    // Once everybody is let in, nobody without a name looks after the connections of others.
    daemon.reload("insecure = true\n", IN_FORCE);
    let refused = daemon.greet(json!({})).ask(&json!({ "id": "c", "cmd": "connections" }));
    assert_eq!(refused["code"], "forbidden", "{refused}");
    assert!(daemon.end().success());
}

#[test]
fn a_hangup_is_a_reload_also_under_nohup() {
    let folder = Folder::new("reload-nohup");
    folder.file("plyd.toml", "");
    let script = "trap '' HUP; exec \"$0\" serve --tcp 127.0.0.1:0";
    let mut launch = process::launch(Command::new("sh").args(["-c", script, process::PLYD]));
    launch.command.current_dir(&folder.path).env("PLYD_SERVE_CONFIG", "plyd.toml");
    let mut daemon = Daemon::spawn(folder, launch);
    daemon.reload("connections = 7\n", IN_FORCE);
    assert_eq!(limits(&mut daemon.greet(json!({})))["connections"], 7);
    assert!(daemon.end().success());
}

#[test]
fn a_file_that_hangs_holds_up_its_reload_alone() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let mut daemon = Daemon::start("hangs", "", &["--tcp", "127.0.0.1:0"]);
    let mut peer = daemon.greet(json!({}));
    // Whoever reads it waits for the one who writes to it.
    mknodat(CWD, daemon.file("token"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let mut writer = fs::File::options().read(true).write(true).open(daemon.file("token")).unwrap();
    fs::write(daemon.file("plyd.toml"), "token-file = 'token'\n").unwrap();
    daemon.hang_up();
    let (token, open) = (daemon.file("token"), format!("/proc/{}/fd", daemon.process.id()));
    let files = || fs::read_dir(&open).unwrap().filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    // What is written into the pipe waits for whoever has it open.
    until("the settings are being read", || files().any(|file| file == token));
    for _ in 0..20 {
        daemon.hang_up();
        peer.ping();
    }
    daemon.greet(json!({})).ping();
    daemon.logged("the settings are still being read");
    // Once it hangs no longer, the others have their turn, as one.
    fs::write(daemon.file("plyd.toml"), "connections = 7\n").unwrap();
    writer.write_all(b"secret\n").unwrap();
    drop(writer);
    daemon.logged(IN_FORCE);
    daemon.logged(IN_FORCE);
    assert_eq!(limits(&mut peer)["connections"], 7);
    daemon.greet(json!({})).ping();
    // Nobody is waited for who writes to no pipe, and what was wrong may be mended.
    let line = daemon.reload("token-file = 'token'\n", REFUSED);
    assert!(line.contains("token: the file is empty"), "{line}");
    daemon.reload("connections = 8\n", IN_FORCE);
    assert_eq!(limits(&mut peer)["connections"], 8);
    assert!(daemon.end().success());
}

#[test]
fn many_hangups_end_in_the_newest_settings() {
    let mut daemon = Daemon::start("many", "", &["--tcp", "127.0.0.1:0"]);
    let mut peer = daemon.greet(json!({}));
    peer.send(&go("search", json!({ "clock": endless() })));
    for connections in 2..60 {
        fs::write(daemon.file("new"), format!("connections = {connections}\n")).unwrap();
        fs::rename(daemon.file("new"), daemon.file("plyd.toml")).unwrap();
        daemon.hang_up();
    }
    until("the last settings are in force", || limits(&mut peer)["connections"] == 59);
    peer.send(&stop("search"));
    assert_eq!(peer.last("search")["reason"], "stopped");
    assert!(daemon.end().success());
}
