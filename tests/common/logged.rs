//! A daemon on sockets whose log is read.

use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;

use plyd::client::Process;
use rustix::process::Signal;
use serde_json::Value;

use super::{LogReader, Peer, TIMEOUT, process};

/// The daemon; killed when dropped.
pub(crate) struct Logged {
    pub(crate) process: Process,
    log: LogReader,
    /// Where it listens, in the order of the log.
    pub(crate) addresses: Vec<SocketAddr>,
}

impl Logged {
    /// Starts `plyd serve` and waits until it listens on so many ports.
    pub(crate) fn start(arguments: &[&str], variables: &[(&str, &str)], ports: usize) -> Self {
        let mut launch = process::plyd([&["serve"], arguments].concat());
        launch.command.envs(variables.iter().copied()).env_remove("RUST_BACKTRACE");
        launch.command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = process::spawn(launch);
        let log = LogReader::of(&mut process);
        let mut daemon = Self { process, log, addresses: Vec::new() };
        while daemon.addresses.len() < ports {
            let line = daemon.wait_for("listening on ");
            daemon.addresses.extend(super::listening(&line));
        }
        daemon
    }

    /// Waits for a line of the log.
    pub(crate) fn wait_for(&self, text: &str) -> String {
        self.log.wait_for(text)
    }

    /// Where its metrics are.
    pub(crate) fn metrics(&self) -> SocketAddr {
        self.log.metrics()
    }

    /// A connection to one of its ports.
    pub(crate) fn socket(&self, port: usize) -> TcpStream {
        let stream = TcpStream::connect(self.addresses[port]).expect("it listens");
        stream.set_nodelay(true).expect("a TCP option");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a time");
        stream
    }

    /// A client that has said nothing, at the first port.
    pub(crate) fn connect(&self) -> Peer {
        let stream = self.socket(0);
        Peer::tcp(stream.try_clone().expect("a second handle"), stream)
    }

    /// A client whose `hello` with these further fields was answered.
    pub(crate) fn greet(&self, fields: Value) -> Peer {
        let mut peer = self.connect();
        peer.hello(fields);
        peer
    }

    /// Ends it by a signal; all lines of its log.
    pub(crate) fn end(self) -> Vec<String> {
        process::signal(&self.process, Signal::TERM);
        self.rest()
    }

    /// Waits until it has ended well; all lines of its log.
    pub(crate) fn rest(mut self) -> Vec<String> {
        assert!(process::exit(&mut self.process).success());
        self.log.all()
    }
}
