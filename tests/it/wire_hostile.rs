//! Peers that send nonsense, never read, ask for too much or vanish: the process stays, and stays small.

// The functions beside the tests are called by them alone.
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Stdio;
use std::time::Instant;

use crate::common::{Random, Server, TIMEOUT, is_whole, process};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

/// Lines that are fine, for mutation.
const LINES: [&str; 12] = [
    r#"{"id":"a","cmd":"hello","protocol":{"min":1,"max":1},"require":[],"on_eof":"stop"}"#,
    r#"{"id":"b","cmd":"ping","echo":"\ud83c\udfb2 é"}"#,
    r#"{"id":"c","cmd":"describe","what":"game","game":"l-game"}"#,
    r#"{"id":"d","cmd":"newgame","session":"s","game":"isolation","rules":{"width":5,"height":4},"seed":"ff"}"#,
    r#"{"id":"e","cmd":"setoption","session":"s","options":{"depth":3,"player":"alphabeta"}}"#,
    r#"{"id":"f","cmd":"inspect","game":"l-game","position":{"start":"3 1 W 1 1 4 4 2 4 E 1"},"want":["board","moves"]}"#,
    r#"{"id":"g","cmd":"go","session":"s","position":{"moves":["a1","c3"]},"limit":{"nodes":100},"multipv":2}"#,
    r#"{"id":"h","cmd":"go","game":"l-game","position":{},"clock":{"kind":"increment","me_ms":5,"inc_ms":1}}"#,
    r#"{"id":"i","cmd":"go","game":"isolation","position":{"start":"1../.../..2 1"},"mode":"analyse","info":{"events":["best"]}}"#,
    r#"{"id":"j","cmd":"update","target":"g","limit":{"nodes":5},"mode":"move"}"#,
    r#"{"id":"k","cmd":"stop","all":true,"discard":false}"#,
    r#"{"id":"l","cmd":"close","session":"s"}"#,
];

/// One change of a line: what is done, where, and with which byte.
fn mutation() -> impl Strategy<Value = (u8, prop::sample::Index, u8)> {
    (0..6_u8, any::<prop::sample::Index>(), any::<u8>())
}

fn mutated(line: &str, changes: &[(u8, prop::sample::Index, u8)]) -> Vec<u8> {
    let mut bytes = line.as_bytes().to_vec();
    for (what, index, byte) in changes {
        let at = index.index(bytes.len() + 1);
        let printable = b"{}[]\",:0123456789eE.-+\\u nt\0\xff";
        match what {
            0 => bytes.insert(at, *byte),
            1 => bytes.insert(at, printable[usize::from(*byte) % printable.len()]),
            2 if at < bytes.len() => bytes[at] = *byte,
            3 if at < bytes.len() => drop(bytes.remove(at)),
            4 => bytes.truncate(at),
            _ => bytes.extend_from_within(at..),
        }
    }
    bytes
}

/// Sends bytes as they are, then a ping; every message up to its answer is well-formed.
fn survives(stream: &mut TcpStream, bytes: &[u8], round: usize) {
    let marker = format!("marker-{round}");
    stream.write_all(bytes).unwrap();
    stream.write_all(format!("\n{{\"id\":\"{marker}\",\"cmd\":\"ping\"}}\n").as_bytes()).unwrap();
    let mut text = Vec::new();
    let mut byte = [0; 4096];
    loop {
        let count = stream.read(&mut byte).expect("the connection stays");
        assert!(count > 0, "closed after {:?}", String::from_utf8_lossy(bytes));
        text.extend_from_slice(&byte[..count]);
        if text.ends_with(b"\n") && text.windows(marker.len()).any(|part| part == marker.as_bytes()) {
            break;
        }
    }
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let message: Value = serde_json::from_slice(line).expect("nothing but messages");
        assert!(message["seq"].is_u64(), "{message}");
    }
}

/// A connection that said hello and is read by hand.
fn greeted(server: &Server) -> TcpStream {
    let mut stream = server.socket();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    survives_hello(&mut stream);
    stream
}

fn survives_hello(stream: &mut TcpStream) {
    stream.write_all(b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n").unwrap();
    let mut byte = [0; 1];
    while byte[0] != b'\n' {
        stream.read_exact(&mut byte).unwrap();
    }
}

fn cases(cases: u32) -> TestRunner {
    TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() })
}

#[test]
fn random_bytes_end_nothing() {
    let mut server = Server::tcp(&[]);
    let round = std::cell::Cell::new(0);
    let stream = std::cell::RefCell::new(greeted(&server));
    cases(300)
        .run(&prop::collection::vec(any::<u8>(), 0..400), |bytes| {
            round.set(round.get() + 1);
            survives(&mut stream.borrow_mut(), &bytes, round.get());
            Ok(())
        })
        .unwrap();
    assert!(server.runs());
}

#[test]
fn mutated_requests_end_nothing() {
    let mut server = Server::tcp(&[]);
    let round = std::cell::Cell::new(0);
    let stream = std::cell::RefCell::new(greeted(&server));
    let lines = prop::collection::vec(
        (prop::sample::select(&LINES[..]), prop::collection::vec(mutation(), 0..4)),
        1..6,
    );
    cases(600)
        .run(&lines, |lines| {
            let bytes: Vec<Vec<u8>> = lines.iter().map(|(line, changes)| mutated(line, changes)).collect();
            round.set(round.get() + 1);
            survives(&mut stream.borrow_mut(), &bytes.join(&b"\n"[..]), round.get());
            Ok(())
        })
        .unwrap();
    assert!(server.runs());
    // Nothing that was left running outlives its connection.
    drop(stream);
    idle(&server);
}

/// Waits until no search runs and no session but this connection's is left.
fn idle(server: &Server) -> Value {
    let mut peer = server.greet(json!({}));
    let end = Instant::now() + TIMEOUT;
    loop {
        let status = peer.result(&json!({ "id": "t", "cmd": "status" }));
        if status["searches"] == 0 && status["sessions"] == 0 {
            return status;
        }
        assert!(Instant::now() < end, "{status}");
    }
}

/// Writes until the other side closes, without ever reading.
fn pour(stream: &mut TcpStream, chunk: &[u8]) {
    stream.set_write_timeout(Some(TIMEOUT)).unwrap();
    let end = Instant::now() + TIMEOUT;
    loop {
        if let Err(error) = stream.write(chunk) {
            assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "neither read nor closed");
            return;
        }
        assert!(Instant::now() < end, "a peer that never reads is still connected");
    }
}

#[test]
fn a_peer_that_never_reads_is_closed_and_costs_no_memory() {
    let server = Server::tcp(&["--threads", "1", "--hash-mb", "16"]);
    let mut watcher = server.greet(json!({}));
    watcher.ping();
    let before = server.resident_kib();
    let ping = format!("{{\"id\":\"p\",\"cmd\":\"ping\",\"echo\":\"{}\"}}\n", "e".repeat(1000));
    let mut chunk = ping.repeat(50);
    chunk.push_str("{\"id\":\"t\",\"cmd\":\"describe\",\"what\":\"options\"}\n[]\n\n{\n");
    let mut most = 0;
    for _ in 0..2 {
        let mut stream = greeted(&server);
        pour(&mut stream, chunk.as_bytes());
        most = most.max(server.resident_kib());
        watcher.ping();
    }
    assert!(most < before + 48 * 1024, "{before} KiB grew to {most} KiB");
    let status = idle(&server);
    assert!(status["counters"]["connections_dropped"].as_u64().unwrap() >= 2, "{status}");
}

#[test]
fn a_search_of_a_peer_that_never_reads_is_cancelled() {
    let server = Server::tcp(&["--threads", "2"]);
    let mut stream = greeted(&server);
    let go = json!({ "id": "g", "cmd": "go", "game": "isolation", "rules": { "preset": "11x9" }, "position": {},
        "mode": "analyse", "info": { "events": ["best", "progress"] } });
    stream.write_all(format!("{go}\n").as_bytes()).unwrap();
    let ping = format!("{{\"id\":\"p\",\"cmd\":\"ping\",\"echo\":\"{}\"}}\n", "e".repeat(1000));
    pour(&mut stream, ping.repeat(20).as_bytes());
    idle(&server);
}

#[test]
fn a_slow_reader_misses_infos_and_no_final_message() {
    let server = Server::tcp(&["--threads", "2"]);
    let mut stream = greeted(&server);
    stream.set_write_timeout(Some(TIMEOUT)).unwrap();
    let mut expected = Vec::new();
    let mut bytes = Vec::new();
    // More than the sockets hold, less than the daemon lets wait.
    for round in 0..6000 {
        let request = match round % 40 {
            0 => {
                json!({ "id": format!("r{round}"), "cmd": "go", "game": "isolation", "limit": { "nodes": 4000 },
                "position": { "moves": ["d4", "b3"] }, "info": { "events": ["started", "best", "progress"] } })
            }
            _ => json!({ "id": format!("r{round}"), "cmd": "ping", "echo": "e".repeat(1000) }),
        };
        expected.push(format!("r{round}"));
        bytes.extend(format!("{request}\n").into_bytes());
        if round % 40 == 39 {
            stream.write_all(&bytes).unwrap();
            bytes.clear();
        }
    }
    // Everything is decided before the first byte is read.
    let mut watcher = server.greet(json!({}));
    let end = Instant::now() + TIMEOUT;
    loop {
        let status = watcher.result(&json!({ "id": "t", "cmd": "status" }));
        if status["searches"] == 0 && status["counters"]["searches"].as_u64() >= Some(150) {
            assert!(status["counters"]["info_skipped"].as_u64() > Some(0), "{status}");
            break;
        }
        assert!(Instant::now() < end, "{status}");
    }
    stream.shutdown(Shutdown::Write).unwrap();
    let reading = stream.try_clone().unwrap();
    let mut seq = 1;
    let mut finals = std::collections::HashSet::new();
    for line in std::io::BufRead::lines(std::io::BufReader::new(reading)) {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        seq += 1;
        assert_eq!(message["seq"], seq, "{message}");
        let id = message["id"].as_str().unwrap().to_owned();
        if message["type"] == "info" {
            assert!(!finals.contains(&id), "an info after its final message: {message}");
        } else {
            assert!(["result", "bestmove"].contains(&message["type"].as_str().unwrap()), "{message}");
            assert!(finals.insert(id), "{message}");
        }
    }
    let missing: Vec<&String> = expected.iter().filter(|id| !finals.contains(*id)).collect();
    assert!(missing.is_empty(), "no final message of {missing:?}");
}

#[test]
fn too_many_requests_are_refused_and_no_other() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    let most = peer.hello(json!({}))["limits"]["requests"].as_u64().unwrap() as usize;
    peer.result(&json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "isolation", "rules": { "preset": "11x9" } }));
    let extra = 2000;
    let requests: Vec<Value> = (0..most + extra)
        .map(|n| {
            json!({ "id": format!("g{n}"), "cmd": "go", "session": "s", "position": {}, "queue": true,
                "clock": { "kind": "none" } })
        })
        .collect();
    peer.send_all(&requests);
    peer.wait("the refusals", |peer| peer.open() <= most);
    let refused = peer.log.iter().filter(|message| message["code"] == "too_many_requests").count();
    assert_eq!(refused, extra);
    // What ends searches is still taken.
    let result = peer.result(&json!({ "id": "s", "cmd": "stop", "all": true }));
    assert_eq!(result["targets"].as_array().unwrap().len(), most);
    peer.wait("the best moves", |peer| peer.open() == 0);
    let moves = peer.log.iter().filter(|message| message["type"] == "bestmove").count();
    assert_eq!(moves, most);
    peer.best(&json!({ "id": "g", "cmd": "go", "session": "s", "position": {}, "limit": { "nodes": 10 } }));
}

#[test]
fn too_many_sessions_are_refused_and_no_other() {
    let server = Server::tcp(&[]);
    let mut peer = server.connect();
    let most = peer.hello(json!({}))["limits"]["sessions"].as_u64().unwrap() as usize;
    let open =
        |n: usize| json!({ "id": "n", "cmd": "newgame", "session": format!("s{n}"), "game": "l-game" });
    for n in 0..3000 {
        let last = peer.ask(&open(n));
        let code = last["code"].as_str().unwrap_or("none");
        assert_eq!(code, if n < most { "none" } else { "too_many_sessions" }, "{n}: {last}");
    }
    assert_eq!(peer.result(&json!({ "id": "t", "cmd": "status" }))["sessions"], most);
    // One that is open is reset, and one that is closed makes room.
    peer.result(&open(0));
    peer.result(&json!({ "id": "c", "cmd": "close", "session": "s1" }));
    peer.result(&open(most));
    drop(peer);
    idle(&server);
}

#[test]
fn memory_does_not_grow_with_ids_and_searches() {
    let mut launch = process::plyd(["serve", "--stdio", "--threads", "1", "--hash-mb", "16"]);
    // Else threads keep freed memory apart, and how many do so depends on the machine.
    launch.command.env("MALLOC_ARENA_MAX", "1");
    // Else freed tables stay between what is in use, and how many do so depends on the order of events.
    launch.command.env("MALLOC_MMAP_THRESHOLD_", "65536").env("MALLOC_TRIM_THRESHOLD_", "65536");
    let (server, mut peer) = Server::stdio_as(launch);
    let go = |id: String| {
        json!({ "id": id, "cmd": "go", "game": "isolation", "rules": { "preset": "11x9" }, "position": {},
            "limit": { "nodes": 1 }, "options": { "hash_mb": 1 } })
    };
    // Tables come and go, so that the memory swings; a leak lifts even the lowest point, and goes on. The
    // machine may lift it, too, but once: how high it ever stood depends on what ran at the same time.
    let mut resident = Vec::new();
    for chunk in 0..if is_whole() { 80 } else { 40 } {
        for n in 0..50 {
            peer.best(&go(format!("{chunk}-{n}-{}", "x".repeat(50))));
        }
        resident.push(server.resident_kib());
    }
    let lowest: Vec<u64> = resident.chunks(10).map(|part| *part.iter().min().unwrap()).collect();
    let mut grown: Vec<u64> = lowest.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    grown.sort_unstable();
    assert!(grown[grown.len() / 2] < 512, "500 searches leave {grown:?} KiB: {resident:?}");
}

#[test]
fn connections_that_vanish_leave_nothing() {
    let mut server = Server::tcp(&["--threads", "2"]);
    let mut random = Random::new(5);
    for round in 0..50 {
        let mut peer = server.greet(json!({ "on_eof": *random.pick(&["finish", "stop", "cancel"]) }));
        let rules = json!({ "preset": "11x9" });
        peer.result(
            &json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "isolation", "rules": rules }),
        );
        for (id, fields) in [
            ("a", json!({ "session": "s", "clock": { "kind": "none" } })),
            ("b", json!({ "session": "s", "clock": { "kind": "none" }, "queue": true })),
            ("c", json!({ "game": "isolation", "rules": rules, "clock": { "kind": "anytime" } })),
            ("d", json!({ "game": "isolation", "rules": rules, "mode": "analyse", "queue": true })),
        ] {
            let mut request =
                json!({ "id": id, "cmd": "go", "position": {}, "info": { "events": ["started", "best"] } });
            request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            peer.send(&request);
        }
        match round % 3 {
            0 => drop(peer.info("a", "started")),
            1 => drop(peer.info("c", "best")),
            _ => {}
        }
    }
    let status = idle(&server);
    assert_eq!(status["counters"]["failed"], 0, "{status}");
    assert!(server.runs());
}

#[test]
fn a_reset_cancels_at_once() {
    let server = Server::tcp(&["--threads", "2"]);
    for _ in 0..10 {
        let mut stream = greeted(&server);
        let go = json!({ "id": "g", "cmd": "go", "game": "isolation", "rules": { "preset": "11x9" }, "position": {},
            "clock": { "kind": "none" }, "info": { "events": ["started"] } });
        stream.write_all(format!("{go}\n").as_bytes()).unwrap();
        let mut first = [0; 1];
        stream.read_exact(&mut first).unwrap();
        // Unread bytes at the close make it a reset.
    }
    idle(&server);
}

/// Reads a line however long it takes to come: the position of each of 15,625 moves is written into it.
fn large_answer(input: &mut impl std::io::BufRead) -> Value {
    let mut line = String::new();
    input.read_line(&mut line).unwrap();
    assert!(line.len() > 8 << 20, "{} bytes: {}", line.len(), &line[..line.len().min(300)]);
    serde_json::from_str(&line).unwrap()
}

#[test]
fn an_answer_beyond_the_unsent_bytes_is_delivered() {
    let mut launch = process::plyd([""; 0]);
    launch.command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = process::spawn(launch);
    let ask = json!({ "id": "i", "cmd": "inspect", "game": "sudoku", "rules": { "m": 5, "n": 5 }, "position": {},
        "want": ["moves"] });
    let mut input = process.take_stdin().unwrap();
    let mut output = std::io::BufReader::new(process.take_stdout().unwrap());
    input.write_all(format!("{ask}\n").as_bytes()).unwrap();
    let answer = large_answer(&mut output);
    assert_eq!(answer["moves"].as_array().unwrap().len(), 25 * 25 * 25);
    // The connection is as good as before.
    input.write_all(b"{\"id\":\"p\",\"cmd\":\"ping\"}\n").unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    assert!(line.contains("\"p\""), "{line}");
    drop(input);
    assert!(process::exit(&mut process).success());
}
