//! The log is never in the way: stderr that is full, closed or unread costs lines of it and nothing else.

// The functions beside the tests are called by them alone.
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::{ChildStderr, Command, Stdio};
use std::thread;

use crate::common::{Peer, go, process, until};
use plyd::client::Process;
use rustix::process::Signal;
use serde_json::json;

/// More searches than what the log's queue and the pipe hold at -vvv.
const SEARCHES: u64 = 2500;

/// A daemon whose stderr the shell redirects as a test asks; killed when dropped.
struct Logging {
    process: Process,
    stderr: Option<ChildStderr>,
}

impl Logging {
    fn start(arguments: &str, redirection: &str) -> (Self, Peer) {
        let script = format!("exec \"$0\" serve --stdio {arguments} {redirection}");
        let mut launch = process::launch(Command::new("sh").args(["-c", &script, process::PLYD]));
        launch.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = process::spawn(launch);
        let peer = Peer::new(Box::new(process.take_stdin().unwrap()), process.take_stdout().unwrap());
        let stderr = process.take_stderr();
        (Self { process, stderr }, peer)
    }

    /// Ends the input and waits for a good end.
    fn end(&mut self, peer: &mut Peer, row: &str) {
        peer.end_input();
        peer.closed();
        assert_eq!(peer.open(), 0, "{row}: requests without a final message");
        assert_eq!(process::exit(&mut self.process).code(), Some(0), "{row}");
    }
}

/// Asks for a short search, again and again.
fn search(peer: &mut Peer, searches: u64) {
    for number in 0..searches {
        peer.best(&go(&format!("{number:060}"), json!({ "limit": { "nodes": 1 } })));
    }
}

fn log_lost(peer: &mut Peer) -> u64 {
    let status = peer.result(&json!({ "id": "status", "cmd": "status" }));
    status["counters"]["log_lost"].as_u64().unwrap_or_else(|| panic!("no count in {status}"))
}

#[test]
fn a_log_that_cannot_be_written_costs_its_lines_alone() {
    // A closed stderr is opened again as /dev/null by Rust's runtime, so that nothing is lost to it. Without
    // a redirection it is a pipe whose reader goes away.
    for (redirection, is_lost) in [("2>/dev/full", true), ("2>&-", false), ("", true)] {
        for verbosity in ["", "-v", "-vvv"] {
            let row = format!("{verbosity} {redirection}");
            let (mut server, mut peer) = Logging::start(verbosity, redirection);
            drop(server.stderr.take());
            let hello = peer.hello(json!({ "require": ["log_lost"] }));
            assert!(hello["features"].as_array().unwrap().contains(&json!("log_lost")), "{hello}");
            search(&mut peer, 20);
            if is_lost && verbosity == "-vvv" {
                wait_until_lost(&mut peer);
            }
            server.end(&mut peer, &row);
        }
    }
}

/// Waits for lost lines: they are counted when the log's thread has tried to write them.
fn wait_until_lost(peer: &mut Peer) {
    until("a line of the log is lost", || log_lost(peer) > 0);
}

#[test]
fn a_daemon_whose_log_broke_goes_on_accepting() {
    let (mut server, mut peer) = Logging::start("-v --tcp 127.0.0.1:0", "");
    let mut log = BufReader::new(server.stderr.take().unwrap());
    let mut line = String::new();
    let address = loop {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "the log names the port");
        if let Some(address) = crate::common::listening(&line) {
            break address;
        }
    };
    // From now on every line of the log meets a closed pipe.
    drop(log);
    peer.hello(json!({}));
    for _ in 0..20 {
        let stream = TcpStream::connect(address).unwrap();
        let mut peer = Peer::tcp(stream.try_clone().unwrap(), stream);
        peer.hello(json!({}));
    }
    wait_until_lost(&mut peer);
    process::signal(&server.process, Signal::TERM);
    server.end(&mut peer, "closed log");
}

/// Searches until lines are lost, as nobody reads the log; how many they are by then.
fn fill(peer: &mut Peer) -> u64 {
    for _ in 0..SEARCHES / 100 {
        search(peer, 100);
        let lost = log_lost(peer);
        if lost > 0 {
            return lost;
        }
    }
    panic!("{SEARCHES} searches do not fill the log");
}

#[test]
fn an_unread_log_stops_nothing_and_says_what_was_lost_when_it_is_read_again() {
    let (mut server, mut peer) = Logging::start("-vvv", "");
    let stderr = server.stderr.take().unwrap();
    peer.hello(json!({}));
    let lost = fill(&mut peer);
    let reading = thread::spawn(move || {
        let lines = BufReader::new(stderr).lines().map(Result::unwrap);
        lines.filter_map(|line| count_of_loss(&line)).sum::<u64>()
    });
    server.end(&mut peer, "unread log");
    let reported = reading.join().unwrap();
    assert!(reported >= lost, "the log speaks of {reported} lost lines, `status` of {lost}");
}

#[test]
fn a_process_ends_though_nobody_reads_its_log() {
    let (mut server, mut peer) = Logging::start("-vvv", "");
    let mut stderr = server.stderr.take().unwrap();
    peer.hello(json!({}));
    fill(&mut peer);
    server.end(&mut peer, "unread log");
    let mut kept = Vec::new();
    stderr.read_to_end(&mut kept).unwrap();
    assert!(!kept.is_empty());
}

/// The number in a line of the log that says how many lines were lost.
fn count_of_loss(line: &str) -> Option<u64> {
    let (before, _) =
        line.split_once(" lines of the log were lost").or(line.split_once(" line of the log was lost"))?;
    before.rsplit(' ').next().and_then(|number| number.parse().ok())
}
