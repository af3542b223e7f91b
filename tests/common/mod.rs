//! The real binary from outside: processes, connections of raw bytes, and the rules that every message obeys.
//!
//! Knows the protocol's text only; of the crate nothing is linked but what starts processes and what
//! carries lines over a WebSocket. Waiting is for a condition,
//! up to [`TIMEOUT`].

// Each executable of tests uses a part of this.
#![allow(dead_code, unused_imports)]

pub(crate) mod boards;
#[cfg(feature = "ladder")]
pub(crate) mod cluster;
mod folder;
pub(crate) mod harness;
#[cfg(feature = "ladder")]
pub(crate) mod ladder;
mod ledger;
mod log_reader;
mod logged;
pub(crate) mod manager;
#[cfg(feature = "fleet")]
pub(crate) mod nats;
mod peer;
pub(crate) mod process;
mod random;
mod requests;
pub(crate) mod scrape;
pub(crate) mod websocket;

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use plyd::client::{Launch, Process};
pub(crate) use plyd::engine::conformance::is_whole;
use rustix::process::Signal;
use serde_json::Value;

pub(crate) use folder::Folder;
pub(crate) use log_reader::LogReader;
pub(crate) use logged::Logged;
pub(crate) use peer::Peer;
pub(crate) use random::Random;
pub(crate) use requests::{endless, first_place, go, inspect, open, place, stop, texts, with};

/// How long a condition is waited for before the test fails; far above what a loaded machine needs, also for
/// questions, whose threads give way to all others.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

/// Waits until something is so.
pub(crate) fn until(what: &str, is_so: impl FnMut() -> bool) {
    until_within(TIMEOUT, what, is_so);
}

/// Waits until something is so that may take longer than most.
pub(crate) fn until_within(time: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + time;
    while !is_so() {
        assert!(Instant::now() < end, "never: {what}");
        // Not without a pause: what is waited for may need the core.
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A process of the daemon, killed when dropped, and with the test program.
pub(crate) struct Server {
    process: Process,
    address: Option<SocketAddr>,
    /// Whether the address is one for WebSocket.
    is_websocket: bool,
    _log: Receiver<SocketAddr>,
}

impl Server {
    /// A daemon on standard input and output.
    pub(crate) fn stdio(arguments: &[&str]) -> (Self, Peer) {
        Self::stdio_as(process::plyd([&["serve", "-v", "--stdio"], arguments].concat()))
    }

    /// A daemon on standard input and output, started so.
    pub(crate) fn stdio_as(launch: Launch) -> (Self, Peer) {
        let mut server = Self::spawn_as(launch);
        let stdin = server.process.take_stdin().expect("stdin is piped");
        let stdout = server.process.take_stdout().expect("stdout is piped");
        (server, Peer::new(Box::new(stdin), stdout))
    }

    /// A daemon on a free TCP port.
    pub(crate) fn tcp(arguments: &[&str]) -> Self {
        Self::spawn_on_port(process::plyd([&["serve", "-v", "--tcp", "127.0.0.1:0"], arguments].concat()))
    }

    fn spawn_on_port(launch: Launch) -> Self {
        let mut server = Self::spawn_as(launch);
        server.find_address();
        server
    }

    fn find_address(&mut self) {
        self.address = Some(self._log.recv_timeout(TIMEOUT).expect("the log names the port"));
    }

    /// A daemon on a free port for WebSocket.
    pub(crate) fn websocket(arguments: &[&str]) -> Self {
        let mut server = Self::spawn(&[&["--ws", "127.0.0.1:0"], arguments].concat());
        server.find_address();
        server.is_websocket = true;
        server
    }

    /// A daemon on a free TCP port, started by a shell after this command.
    pub(crate) fn under(command: &str) -> Self {
        let script = format!("{command}; exec \"$0\" serve -v --tcp 127.0.0.1:0");
        let launch = process::launch(Command::new("sh").args(["-c", &script, process::PLYD]));
        Self::spawn_on_port(launch)
    }

    /// A daemon on both: its standard input and output, and a free TCP port.
    pub(crate) fn both(arguments: &[&str]) -> (Self, Peer) {
        let (mut server, peer) = Self::stdio(&[&["--tcp", "127.0.0.1:0"], arguments].concat());
        server.find_address();
        (server, peer)
    }

    fn spawn(arguments: &[&str]) -> Self {
        Self::spawn_as(process::plyd([&["serve", "-v"], arguments].concat()))
    }

    fn spawn_as(mut launch: Launch) -> Self {
        launch.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = process::spawn(launch);
        let stderr = process.take_stderr().expect("stderr is piped");
        let (sender, log) = channel();
        // Reads on after the address, so that the log's pipe never fills up.
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if let Some(address) = listening(&line) {
                    let _server_gone = sender.send(address);
                }
            }
        });
        Self { process, address: None, is_websocket: false, _log: log }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address.expect("a server on a socket")
    }

    /// A connection that has said nothing and reads nothing by itself.
    pub(crate) fn socket(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).expect("the server listens");
        stream.set_nodelay(true).expect("a TCP option");
        stream
    }

    /// A connection, over TCP or WebSocket, that has said nothing.
    pub(crate) fn connect(&self) -> Peer {
        let stream = self.socket();
        if self.is_websocket {
            let socket = stream.try_clone().expect("a second handle");
            let (lines, messages) = websocket::open(stream);
            return Peer::new(Box::new(lines), messages).over(socket);
        }
        let reading = stream.try_clone().expect("a second handle");
        Peer::tcp(stream, reading)
    }

    /// A connection whose `hello` with these further fields was answered.
    pub(crate) fn greet(&self, fields: Value) -> Peer {
        let mut peer = self.connect();
        peer.hello(fields);
        peer
    }

    /// Sends the process a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        process::signal(&self.process, signal);
    }

    /// Whether the process runs.
    pub(crate) fn runs(&mut self) -> bool {
        process::runs(&mut self.process)
    }

    /// Waits until the process ends.
    pub(crate) fn exit(&mut self) -> ExitStatus {
        process::exit(&mut self.process)
    }

    /// Resident memory in KiB.
    pub(crate) fn resident_kib(&self) -> u64 {
        self.status_kib("VmRSS:")
    }

    /// A number of KiB that the system reports of the process.
    pub(crate) fn status_kib(&self, name: &str) -> u64 {
        self.status_line(name).parse().expect("a number of KiB")
    }

    /// The word behind a name in what the system reports of the process.
    pub(crate) fn status_line(&self, name: &str) -> String {
        process::status_line(&self.process, name)
    }

    /// The processor time that the process has used, in clock ticks of a hundredth of a second.
    pub(crate) fn cpu_ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).expect("it runs");
        // The name, in brackets, may hold spaces; user and system time are the 12th and 13th field behind it.
        let fields = stat.rsplit(')').next().expect("a text has an end").split_whitespace().skip(11);
        fields.take(2).map(|ticks| ticks.parse::<u64>().expect("a number of ticks")).sum()
    }

    /// The nice values of its threads whose names begin so.
    pub(crate) fn nices(&self, name: &str) -> Vec<i32> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.process.id())).expect("it runs");
        let nice = |task: std::io::Result<std::fs::DirEntry>| {
            // A thread may end meanwhile.
            let stat = std::fs::read_to_string(task.ok()?.path().join("stat")).ok()?;
            let (start, fields) = stat.rsplit_once(')')?;
            let is_meant = start.split_once('(')?.1.starts_with(name);
            fields.split_whitespace().nth(16).filter(|_| is_meant)?.parse().ok()
        };
        tasks.filter_map(nice).collect()
    }
}

/// The address in a log line that has one, colours or not.
pub(crate) fn listening(line: &str) -> Option<SocketAddr> {
    let at = line.find("127.0.0.1:").filter(|_| line.contains("listening"))?;
    let text: String = line[at..].chars().take_while(|c| c.is_ascii_digit() || ".:".contains(*c)).collect();
    text.parse().ok()
}
