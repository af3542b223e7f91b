//! A daemon on two pipes in the place of the standard streams.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::{Value, json};

use super::fake::GAMES;
use crate::runtime::Shared;
use crate::state::outbox::Item;
use crate::transport::stdio;
use crate::{Config, Daemon, Limits};
use plyd_core::search::clock::now_ns;

/// How long a test waits for what must come; only a broken daemon takes so long, however busy the machine is.
const TIMEOUT: Duration = Duration::from_secs(60);

struct Streams {
    daemon: Daemon,
    input: PipeWriter,
    output: BufReader<PipeReader>,
}

impl Streams {
    /// A daemon on pipes with these flags, and the future of its end.
    fn new(limits: Limits, flags: OFlags) -> (Self, impl Future<Output = ()>) {
        let daemon = Daemon::start(&Config { limits, ..Config::default() }, GAMES).unwrap();
        let ((stdin, input), (output, stdout)) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        for end in [stdin.as_fd(), stdout.as_fd()] {
            fcntl_setfl(end, fcntl_getfl(end).unwrap() | flags).unwrap();
        }
        let ended = stdio::serve(&daemon.shared, stdin, stdout).unwrap();
        (Self { daemon, input, output: BufReader::new(output) }, ended)
    }

    fn send(&mut self, line: &Value) {
        self.input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.daemon.shared
    }
}

/// Waits for the end of a connection.
fn wait_for(ended: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(TIMEOUT, ended).await }).expect("the connection ends");
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_peer_that_does_not_read_is_not_waited_for() {
    let limits = Limits { stalled: Duration::from_millis(100), ..Limits::default() };
    let (mut streams, ended) = Streams::new(limits, OFlags::empty());
    // More than the pipe holds.
    for _ in 0..200 {
        streams.send(&json!({ "id": "p", "cmd": "ping", "echo": "e".repeat(1000) }));
    }
    let Streams { daemon, input, output } = streams;
    drop(input);
    wait_for(ended);
    assert_eq!(daemon.status().counters.connections_dropped, 1);
    drop(output);
}

#[test]
fn what_the_reading_thread_wrote_counts_as_written() {
    let (mut streams, ended) = Streams::new(Limits::default(), OFlags::empty());
    for _ in 0..100 {
        streams.send(&json!({ "id": "p", "cmd": "ping" }));
        assert_eq!(streams.next()["of"], "ping");
    }
    wait_until("nothing counts as unsent", || {
        streams.shared().lock().conns.values().all(|conn| conn.outbox.is_drained())
    });
    let Streams { daemon, input, .. } = streams;
    drop(input);
    wait_for(ended);
    assert_eq!(daemon.status().counters.connections_dropped, 0);
}

#[test]
fn a_large_answer_is_one_line_among_others() {
    for flags in [OFlags::empty(), OFlags::NONBLOCK] {
        let (mut streams, _ended) = Streams::new(Limits::default(), flags);
        let pad = "x".repeat(3 << 20);
        streams.shared().with(|state| {
            let conn = *state.conns.keys().next().expect("the connection is open");
            state.send(conn, Item::body(json!({ "pad": pad }).to_string()), now_ns());
        });
        streams.send(&json!({ "id": "p", "cmd": "ping" }));
        assert!(streams.next()["pad"] == pad, "the answer differs");
        assert_eq!(streams.next()["of"], "ping");
    }
}

#[test]
fn streams_that_do_not_block_are_waited_for() {
    let (mut streams, ended) = Streams::new(Limits::default(), OFlags::NONBLOCK);
    let mut input = streams.input.try_clone().unwrap();
    let sending = std::thread::spawn(move || {
        for n in 0..1000 {
            let ping = json!({ "id": n.to_string(), "cmd": "ping", "echo": "e".repeat(1000) });
            input.write_all(format!("{ping}\n").as_bytes()).unwrap();
        }
    });
    wait_until("all is read", || streams.daemon.status().counters.lines == 1000);
    sending.join().unwrap();
    for n in 0..1000 {
        assert_eq!(streams.next()["id"], n.to_string());
    }
    drop(streams.input);
    wait_for(ended);
}

/// An output that panics in the thread that reads.
struct Fragile(PipeWriter);

impl AsFd for Fragile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        assert!(std::thread::current().name() != Some("stdin"), "as the test wants");
        self.0.as_fd()
    }
}

#[test]
fn a_panic_of_the_reading_thread_ends_the_input() {
    let daemon = Daemon::start(&Config::default(), GAMES).unwrap();
    let ((stdin, mut input), (output, stdout)) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
    let ended = stdio::serve(&daemon.shared, stdin, Fragile(stdout)).unwrap();
    let (mut output, mut answers) = (BufReader::new(output), String::new());
    // The thread breaks at its first attempt to write, and attempts none if the other thread is about to.
    while input.write_all(b"{\"id\":\"p\",\"cmd\":\"ping\"}\n").is_ok() {
        let timeout = Timespec { tv_sec: TIMEOUT.as_secs() as i64, tv_nsec: 0 };
        let comes = poll(&mut [PollFd::new(output.get_ref(), PollFlags::IN)], Some(&timeout));
        assert_eq!(comes, Ok(1), "neither an answer nor the end");
        output.read_line(&mut answers).unwrap();
    }
    wait_for(ended);
    assert!(answers.contains("ping"), "{answers}");
}

#[test]
fn searches_are_heard_while_a_long_line_is_decoded() {
    let (mut streams, _ended) = Streams::new(Limits::default(), OFlags::empty());
    // Slow to decode, and bad at its end.
    let keys: Vec<String> = (0..60_000).map(|n| format!("\"{n}\":0")).collect();
    let line = format!("{{\"x_pad\":{{{}}}}}\n", keys.join(","));
    let mut input = streams.input.try_clone().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&over);
    let sending = std::thread::spawn(move || {
        while !is_over.load(Relaxed) {
            input.write_all(line.as_bytes()).unwrap();
        }
    });
    let mut looks = 0;
    wait_until("lines are decoded", || {
        let state = streams.shared().lock();
        let conn = state.conns.values().next().expect("the connection is open");
        if conn.held.reserved > 0 {
            assert!(!conn.reader_writes, "the writer is held while a line is decoded");
            looks += 1;
        }
        looks == 100
    });
    assert_eq!(streams.next()["code"], "missing_field");
    over.store(true, Relaxed);
    sending.join().unwrap();
}
