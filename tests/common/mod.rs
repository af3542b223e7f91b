//! The real binary from outside: processes, connections of raw bytes, and the rules that every message obeys.
//!
//! Knows the protocol's text only; nothing of the crate is linked. Waiting is for a condition, up to [`PATIENCE`].

// Each test file is a crate of its own and uses a part of this.
#![allow(dead_code, unused_imports)]

mod ledger;
mod peer;
mod random;
mod requests;
pub(crate) mod websocket;

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

pub(crate) use peer::Peer;
pub(crate) use random::Random;
pub(crate) use requests::{endless, first_place, go, inspect, open, place, stop, texts, with};

/// How long a condition is waited for before the test fails; far above what a loaded machine needs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// A process of the daemon, killed when dropped.
pub(crate) struct Server {
    child: Child,
    address: Option<SocketAddr>,
    /// Whether the address is one for WebSocket.
    is_websocket: bool,
    _log: Receiver<SocketAddr>,
}

impl Server {
    /// A daemon on standard input and output.
    pub(crate) fn stdio(arguments: &[&str]) -> (Self, Peer) {
        let mut server = Self::spawn(&[&["--stdio"], arguments].concat());
        let stdin = server.child.stdin.take().expect("stdin is piped");
        let stdout = server.child.stdout.take().expect("stdout is piped");
        (server, Peer::new(Box::new(stdin), stdout))
    }

    /// A daemon on a free TCP port.
    pub(crate) fn tcp(arguments: &[&str]) -> Self {
        let mut server = Self::spawn(&[&["--tcp", "127.0.0.1:0"], arguments].concat());
        let address = server._log.recv_timeout(PATIENCE).expect("the log tells the port");
        server.address = Some(address);
        server
    }

    /// A daemon on a free port for WebSocket.
    pub(crate) fn websocket(arguments: &[&str]) -> Self {
        let mut server = Self::spawn(&[&["--ws", "127.0.0.1:0"], arguments].concat());
        let address = server._log.recv_timeout(PATIENCE).expect("the log tells the port");
        server.address = Some(address);
        server.is_websocket = true;
        server
    }

    /// A daemon on both: its standard input and output, and a free TCP port.
    pub(crate) fn both(arguments: &[&str]) -> (Self, Peer) {
        let (mut server, peer) = Self::stdio(&[&["--tcp", "127.0.0.1:0"], arguments].concat());
        let address = server._log.recv_timeout(PATIENCE).expect("the log tells the port");
        server.address = Some(address);
        (server, peer)
    }

    fn spawn(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_plyd"))
            .args(["serve", "-v"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stderr = child.stderr.take().expect("stderr is piped");
        let (tell, log) = channel();
        // Reads on after the address, so that the log's pipe never fills up.
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if let Some(address) = listening(&line) {
                    let _server_gone = tell.send(address);
                }
            }
        });
        Self { child, address: None, is_websocket: false, _log: log }
    }

    /// A connection that has said nothing and reads nothing by itself.
    pub(crate) fn socket(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address.expect("a TCP server")).expect("the server listens");
        stream.set_nodelay(true).expect("a TCP option");
        stream
    }

    /// A connection, over TCP or WebSocket, that has said nothing.
    pub(crate) fn connect(&self) -> Peer {
        let stream = self.socket();
        if self.is_websocket {
            let (lines, messages) = websocket::open(stream);
            return Peer::new(Box::new(lines), messages);
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
        kill_process(self.pid(), signal).expect("the process runs");
    }

    /// Whether the process runs.
    pub(crate) fn runs(&mut self) -> bool {
        self.child.try_wait().expect("a child can be waited for").is_none()
    }

    /// Waits until the process ends.
    pub(crate) fn exit(&mut self) -> ExitStatus {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                return status;
            }
            assert!(Instant::now() < end, "the process does not end");
            std::thread::yield_now();
        }
    }

    /// Resident memory in KiB.
    pub(crate) fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line of /proc");
        line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number of KiB")
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended_before = self.child.kill();
        let _ended_before = self.child.wait();
    }
}

/// The address in a log line that tells one, colours or not.
pub(crate) fn listening(line: &str) -> Option<SocketAddr> {
    let at = line.find("127.0.0.1:").filter(|_| line.contains("listening"))?;
    let text: String = line[at..].chars().take_while(|c| c.is_ascii_digit() || ".:".contains(*c)).collect();
    text.parse().ok()
}
