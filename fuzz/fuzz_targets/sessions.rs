//! Whole conversations with a daemon in this process: every line gets one final message, whatever it says.
//!
//! Input: lines. They are sent after a `hello` that ends all searches with the input, so that none goes on.

#![no_main]

use std::collections::HashMap;
use std::sync::LazyLock;
use std::thread;

use libfuzzer_sys::fuzz_target;
use plyd_client::{is_final, message_id};
use plyd_core::search::clock::now_ns;
use plyd_daemon::{Config, Daemon, Limits};
use plyd_games::REGISTRY;
use plyd_protocol::{Command, Envelope, ErrorCode, Message, decode};

const HELLO: &[u8] = br#"{"id":"the-first","cmd":"hello","protocol":{"min":1,"max":1},"on_eof":"stop"}"#;

static DAEMON: LazyLock<Daemon> = LazyLock::new(|| {
    let limits = Limits { cores: 1, hash_bytes: 8 << 20, ..Limits::default() };
    Daemon::start(&Config { limits, ..Config::default() }, REGISTRY)
        .expect("a daemon that serves nothing starts")
});

fuzz_target!(|data: &[u8]| {
    let lines = lines(data);
    let connection = DAEMON.connect();
    let received = thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let mut all = Vec::new();
            while let Some(lines) = connection.receive() {
                all.extend(lines);
            }
            all
        });
        for line in &lines {
            connection.send(line, now_ns());
        }
        connection.finish_input();
        receiver.join().expect("a panic ends the fuzzer before it ends the thread")
    });
    check(&lines, &received);
});

/// The lines up to one that ends the connection.
fn lines(data: &[u8]) -> Vec<&[u8]> {
    let mut lines = vec![HELLO];
    for line in data.split(|byte| *byte == b'\n') {
        lines.push(line);
        if decode(line).is_ok_and(|request| matches!(request.command, Command::Quit(_))) {
            break;
        }
    }
    lines
}

fn check(lines: &[&[u8]], received: &[u8]) {
    // A line whose id cannot be read is answered without one.
    let mut owed: HashMap<Option<String>, usize> = HashMap::new();
    for line in lines {
        *owed.entry(decode(line).map_or_else(|fault| fault.id, |request| Some(request.id))).or_default() += 1;
    }
    let messages = received.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    for (seq, line) in (1..).zip(messages) {
        let shown = String::from_utf8_lossy(line);
        let Envelope { seq: counted, message, .. } =
            serde_json::from_slice(line).expect("every line is a message");
        assert_eq!(counted, seq, "{shown}");
        if is_final(&message) {
            // An error that a request has the id of another one in flight names that id beside its own, which
            // is null.
            let of = match &message {
                Message::Error(error) => error.id.as_ref().or(error.reference.as_ref()).cloned(),
                _ => message_id(&message).map(str::to_owned),
            };
            let left = owed.get_mut(&of).filter(|left| **left > 0);
            *left.unwrap_or_else(|| panic!("more answers than requests: {shown}")) -= 1;
        }
        match message {
            Message::BestMove(best) => {
                assert_eq!(best.incident, None, "{shown}");
                let line = best.lines.first().expect("a best move has a line");
                assert_eq!((&line.mv, line.pv.first()), (&best.mv, Some(&best.mv)), "{shown}");
            }
            Message::Error(error) => assert_ne!(error.code, ErrorCode::Internal, "{shown}"),
            _ => {}
        }
    }
    owed.retain(|_, left| *left > 0);
    assert!(owed.is_empty(), "without a final message: {owed:?}");
}
