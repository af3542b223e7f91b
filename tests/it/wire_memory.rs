//! Memory is bounded in bytes: floods of large requests, and requests that wait for each other's room.

// The functions beside the tests are called by them alone.
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::common::boards::{Board, SLOW as SLOW_BOARDS};
use crate::common::{Server, endless, go, is_whole, open, place};
use serde_json::{Value, json};

/// How long the slow question below may take: the moves of an empty 25x25 sudoku, on a machine that does
/// other things.
const SLOW: Duration = Duration::from_secs(300);

/// A question that takes so long that what comes behind it waits.
fn slow() -> Value {
    json!({ "id": "slow", "cmd": "inspect", "game": "sudoku", "rules": { "m": 5, "n": 5 }, "position": {},
        "want": ["moves"] })
}

/// A question that takes some milliseconds, or some hundreds in a build that is not optimised.
fn slow_board(id: &str, number: usize) -> Value {
    let board = Board::new(SLOW_BOARDS[number % SLOW_BOARDS.len()]);
    json!({ "id": id, "cmd": "inspect", "game": "sudoku", "want": ["legal"],
        "position": { "start": board.start(), "moves": [board.mv()] } })
}

/// A line of almost 1 MiB whose texts occupy fifteen times as much.
fn heavy(id: &str) -> String {
    let moves = "\"a\",".repeat(262_000);
    format!(
        "{{\"id\":\"{id}\",\"cmd\":\"inspect\",\"game\":\"l-game\",\"position\":{{\"moves\":[{}]}}}}\n",
        moves.trim_end_matches(',')
    )
}

/// A connection that said hello.
fn greeted(server: &Server) -> (TcpStream, BufReader<TcpStream>) {
    let mut stream = server.socket();
    stream.set_read_timeout(Some(SLOW)).unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    stream.write_all(b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n").unwrap();
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(line.contains("byte_limits"), "{line}");
    (stream, lines)
}

fn next(lines: &mut impl BufRead) -> Value {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

/// The most resident memory so far, in MiB.
fn peak_mib(server: &Server) -> u64 {
    server.status_kib("VmHWM:") / 1024
}

#[test]
fn clients_that_flood_large_lines_are_read_no_faster_than_they_are_answered() {
    // They would be too much if they waited decoded, 15 MB each.
    let count = if is_whole() { 30 } else { 15 };
    let server = Server::tcp(&[]);
    let clients: Vec<_> = (0..2)
        .map(|_| {
            let (mut stream, mut lines) = greeted(&server);
            let mut sending = stream.try_clone().unwrap();
            let sender = std::thread::spawn(move || {
                sending.write_all(format!("{}\n", slow()).as_bytes()).unwrap();
                for number in 0..count {
                    sending.write_all(heavy(&format!("i{number}")).as_bytes()).unwrap();
                }
            });
            std::thread::spawn(move || {
                // All are answered in the end, in their order.
                assert_eq!(next(&mut lines)["id"], "slow");
                for number in 0..count {
                    let error = next(&mut lines);
                    assert_eq!(
                        (&error["id"], &error["code"]),
                        (&json!(format!("i{number}")), &json!("illegal_move"))
                    );
                }
                sender.join().unwrap();
                stream.write_all(b"{\"id\":\"p\",\"cmd\":\"ping\"}\n").unwrap();
                assert_eq!(next(&mut lines)["of"], "ping");
            })
        })
        .collect();
    // Who sends little is not kept waiting by them.
    let mut other = server.greet(json!({}));
    while clients.iter().any(|client| !client.is_finished()) {
        other.ping();
        std::thread::sleep(Duration::from_millis(20));
    }
    clients.into_iter().for_each(|client| client.join().unwrap());
    let peak = peak_mib(&server);
    assert!(peak < 400, "{peak} MiB at most");
}

#[test]
fn a_line_that_alone_exceeds_the_bounds_is_taken_and_stop_is_read() {
    // On stdio and over TCP, with bounds that one line exceeds.
    let (server, mut stdio) = Server::both(&["--request-mb", "1", "--requests-mb", "2", "--threads", "2"]);
    let mut tcp = server.greet(json!({}));
    stdio.hello(json!({}));
    for peer in [&mut stdio, &mut tcp] {
        for id in ["a", "b"] {
            peer.line(heavy(id).trim_end().as_bytes());
        }
        for id in ["a", "b"] {
            assert_eq!(peer.last(id)["code"], "illegal_move");
        }
        // A search that does not end by itself takes more than the room.
        let moves: Vec<String> = Vec::new();
        let go = json!({ "id": "g", "cmd": "go", "game": "isolation", "rules": { "preset": "11x9" },
            "position": { "moves": moves }, "excludemoves": vec!["a1"; 40_000], "clock": { "kind": "none" },
            "info": { "events": ["started"] } });
        peer.send(&go);
        peer.info("g", "started");
        // Behind it waiting would have no end.
        peer.line(heavy("c").trim_end().as_bytes());
        assert_eq!(peer.last("c")["code"], "too_many_requests");
        peer.result(&json!({ "id": "s", "cmd": "stop", "target": "g" }));
        assert_eq!(peer.last("g")["reason"], "stopped");
        peer.line(heavy("d").trim_end().as_bytes());
        assert_eq!(peer.last("d")["code"], "illegal_move");
    }
}

#[test]
fn a_connection_at_its_bound_is_read_no_further_and_keeps_its_order() {
    let (server, mut stdio) = Server::both(&["--request-mb", "1", "--threads", "2"]);
    let mut tcp = server.greet(json!({}));
    let question = slow_board("slow", 0);
    for peer in [&mut stdio, &mut tcp] {
        peer.send(&question);
        // It does not fit beside the question, and a ping behind it, which would be answered at once, is not
        // read.
        peer.line(heavy("heavy").trim_end().as_bytes());
        peer.send(&json!({ "id": "ping", "cmd": "ping" }));
        for (id, wanted) in [("slow", "undecided"), ("heavy", "illegal_move")] {
            assert_eq!(peer.last(id)["code"], wanted);
        }
        assert_eq!(peer.last("ping")["of"], "ping");
        assert!(place(peer, "slow") < place(peer, "ping"), "the ping was read before there was room");
    }
}

#[test]
fn sessions_do_not_remember_more_than_they_may() {
    let server = Server::tcp(&["--session-mb", "1"]);
    let mut peer = server.greet(json!({}));
    let mut most = 0;
    while most < 64 {
        let name = format!("s{most}");
        let opened = peer.ask(&json!({ "id": "n", "cmd": "newgame", "session": name, "game": "l-game" }));
        if opened["type"] == "error" {
            break;
        }
        most += 1;
    }
    // 16 KiB each: fewer than the 64 that a connection may have.
    let last = peer.ask(&json!({ "id": "n", "cmd": "newgame", "session": "more", "game": "l-game" }));
    assert_eq!(last["code"], "too_many_sessions", "{last}");
    assert!((30..64).contains(&most), "{most}");
    peer.result(&json!({ "id": "c", "cmd": "close", "session": "s0" }));
    peer.result(&json!({ "id": "n", "cmd": "newgame", "session": "more", "game": "l-game" }));
}

#[test]
fn a_search_that_waits_holds_no_table() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1", "--hash-mb", "256"]);
    open(&mut peer, "s");
    let wants = |id: &str, hash_mb: u64| {
        let options = json!({ "hash_mb": hash_mb });
        go(id, json!({ "session": "s", "clock": endless(), "queue": true, "options": options }))
    };
    peer.send(&wants("first", 16));
    peer.info("first", "best");
    // Each would need a player of its own.
    for index in 0..20 {
        peer.send(&wants(&format!("w{index}"), 17 + index));
    }
    // What is asked later is answered once they are taken in.
    peer.result(&json!({ "id": "i", "cmd": "inspect", "session": "s", "position": {}, "want": ["hash"] }));
    let status = peer.result(&json!({ "id": "t", "cmd": "status" }));
    assert_eq!((&status["searches"], &status["hash_bytes"]), (&json!(21), &json!(16 << 20)), "{status}");
}

#[test]
fn searches_that_wait_are_counted_with_their_positions_and_moves() {
    // 141 KiB each: 15,625 moves of 8 bytes, and the position.
    const SEARCHES: usize = 60;
    let (server, mut peer) = Server::stdio(&["--threads", "1", "--request-mb", "4"]);
    let large = |id: &str| {
        json!({ "id": id, "cmd": "go", "game": "sudoku", "rules": { "m": 5, "n": 5 }, "position": {},
            "mode": "analyse", "queue": true, "options": { "hash_mb": 1 } })
    };
    let ids: Vec<String> = (0..SEARCHES).map(|index| format!("g{index}")).collect();
    ids.iter().for_each(|id| peer.send(&large(id)));
    peer.wait("each is taken or refused", |peer| {
        let refused = ids.iter().filter(|id| !peer.is_open(id)).count();
        refused >= SEARCHES - 29
    });
    let (taken, refused): (Vec<_>, Vec<_>) = ids.iter().partition(|id| peer.is_open(id));
    for id in refused {
        let error = peer.last(id);
        assert_eq!(error["code"], "too_many_requests", "{error}");
        assert!(error["retry_ms"].as_u64() > Some(0), "{error}");
    }
    assert!((20..=29).contains(&taken.len()), "{} are taken", taken.len());
    // One that ends makes room for another.
    peer.result(&json!({ "id": "s", "cmd": "stop", "target": taken[0] }));
    peer.send(&large("again"));
    peer.result(&json!({ "id": "t", "cmd": "stop", "target": "again" }));
    assert_eq!(peer.last("again")["type"], "bestmove");
    // The tables of a shape are there once, however many searches there are.
    let peak = peak_mib(&server);
    assert!(peak < 200, "{peak} MiB at most");
}

#[test]
fn many_clients_with_large_lines_get_room_in_turns() {
    const SLOW_QUESTIONS: usize = 4;
    const LINES: usize = 4;
    // Room for two or three of these lines at once. Without a bound all of them wait behind the slow
    // questions, 15 MB each.
    let clients = if is_whole() { 12 } else { 8 };
    let server = Server::tcp(&["--requests-mb", "64", "--request-mb", "32"]);
    let clients: Vec<_> = (0..clients)
        .map(|_| {
            let (mut stream, mut lines) = greeted(&server);
            std::thread::spawn(move || {
                for number in 0..SLOW_QUESTIONS {
                    let question = slow_board(&format!("slow{number}"), number);
                    stream.write_all(format!("{question}\n").as_bytes()).unwrap();
                }
                for number in 0..LINES {
                    stream.write_all(heavy(&format!("i{number}")).as_bytes()).unwrap();
                    // What needs no room once it is decoded must give back what its line had.
                    let padding = "x".repeat(900_000);
                    stream
                        .write_all(
                            format!("{{\"id\":\"p{number}\",\"cmd\":\"ping\",\"x_pad\":\"{padding}\"}}\n")
                                .as_bytes(),
                        )
                        .unwrap();
                    stream.write_all(format!("{{\"id\":[{}\n", ":".repeat(900_000)).as_bytes()).unwrap();
                }
                // Pings and bad lines overtake questions, which keep their order.
                let answers: Vec<Value> = (0..SLOW_QUESTIONS + 3 * LINES).map(|_| next(&mut lines)).collect();
                let of = |field: &str, wanted: &str| -> Vec<&Value> {
                    answers
                        .iter()
                        .filter(|answer| answer[field] == wanted)
                        .map(|answer| &answer["id"])
                        .collect()
                };
                assert_eq!(of("code", "undecided").len(), SLOW_QUESTIONS, "{answers:?}");
                assert_eq!(of("code", "illegal_move"), ["i0", "i1", "i2", "i3"], "{answers:?}");
                assert_eq!(of("of", "ping"), ["p0", "p1", "p2", "p3"], "{answers:?}");
                assert_eq!(of("code", "bad_json").len(), LINES, "{answers:?}");
            })
        })
        .collect();
    clients.into_iter().for_each(|client| client.join().unwrap());
    let peak = peak_mib(&server);
    assert!(peak < 300, "{peak} MiB at most");
}

/// Clients that send pings as long as any is taken, and do not read the answers.
struct Deaf {
    streams: Vec<TcpStream>,
    /// What is left of the ping that each is sending.
    rests: Vec<usize>,
    line: Vec<u8>,
}

impl Deaf {
    fn new(server: &Server, count: usize) -> Self {
        let streams = (0..count).map(|_| {
            let (stream, _) = greeted(server);
            // Little of the answers fits into the system's memory.
            rustix::net::sockopt::set_socket_recv_buffer_size(&stream, 4096).unwrap();
            stream.set_nonblocking(true).unwrap();
            stream
        });
        let streams: Vec<TcpStream> = streams.collect();
        let line = json!({ "id": "p", "cmd": "ping", "echo": "x".repeat(1000) });
        Self { rests: vec![0; count], streams, line: format!("{line}\n").into_bytes() }
    }

    /// Sends what is taken at once; how many bytes.
    fn send(&mut self) -> usize {
        let lines = self.line.repeat(16);
        let sent = self.streams.iter_mut().zip(&mut self.rests).map(|(stream, rest)| {
            // One that was cut off takes nothing any more.
            let sent = stream.write(&lines[*rest..]).unwrap_or(0);
            *rest = (*rest + sent) % lines.len();
            sent
        });
        sent.sum()
    }

    /// Reads a little of each, so that none stalls.
    fn sip(&mut self) {
        let mut some = [0; 2000];
        for stream in &mut self.streams {
            // One that was cut off has nothing more.
            let _nothing = stream.read(&mut some);
        }
    }

    /// Sends until the server takes nothing more and its memory stays, while another client is answered in
    /// between. The system holds some MB of each, so the server is behind when it takes nothing at first.
    fn pour(&mut self, server: &Server, beside: &mut crate::common::Peer) {
        let (mut idle, mut peak, mut sipped) = (0, 0, Instant::now());
        while idle < 40 {
            let sent: usize = (0..10).map(|_| self.send()).sum();
            let now = peak_mib(server);
            idle = if sent == 0 && now == peak { idle + 1 } else { 0 };
            peak = now;
            if sipped.elapsed() > Duration::from_secs(5) {
                self.sip();
                sipped = Instant::now();
            }
            beside.ping();
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn clients_that_ask_and_do_not_read_take_no_more_than_the_bound() {
    // To fill the usual bound would take a minute.
    let large = is_whole().then_some((&["--unsent-mb", "32"], 150));
    for (arguments, most_mib) in large.into_iter().chain([(&["--unsent-mb", "1"], 100)]) {
        let server = Server::tcp(arguments);
        let mut beside = server.greet(json!({}));
        let mut deaf = Deaf::new(&server, if is_whole() { 100 } else { 12 });
        deaf.pour(&server, &mut beside);
        let peak = peak_mib(&server);
        assert!(peak < most_mib, "{peak} MiB at most, with {arguments:?}");
        beside.ping();
        drop(deaf);
    }
}

#[test]
fn clients_that_read_get_all_answers_beside_those_that_do_not() {
    const PINGS: usize = 3000;
    let server = Server::tcp(&["--unsent-mb", "1"]);
    let mut beside = server.greet(json!({}));
    let mut deaf = Deaf::new(&server, if is_whole() { 20 } else { 8 });
    deaf.pour(&server, &mut beside);
    let clients = (0..4).map(|_| {
        let (mut stream, mut lines) = greeted(&server);
        std::thread::spawn(move || {
            let sender = std::thread::spawn(move || {
                for number in 0..PINGS {
                    let ping = json!({ "id": number.to_string(), "cmd": "ping", "echo": "x".repeat(1000) });
                    stream.write_all(format!("{ping}\n").as_bytes()).unwrap();
                }
                stream
            });
            for number in 0..PINGS {
                assert_eq!(next(&mut lines)["id"], number.to_string());
            }
            sender.join().unwrap();
        })
    });
    let clients: Vec<_> = clients.collect();
    clients.into_iter().for_each(|client| client.join().unwrap());
    drop(deaf);
}

/// Opens sessions until there is no room for one more; how many.
fn fill_with_sessions(peer: &mut crate::common::Peer, looks: bool, most: usize) -> usize {
    for count in 0..most {
        let name = format!("s{count}");
        let opened = peer.ask(&json!({ "id": "n", "cmd": "newgame", "session": name, "game": "l-game" }));
        if opened["type"] == "error" {
            assert_eq!(opened["code"], "too_many_sessions", "{opened}");
            return count;
        }
        if looks {
            let want = ["hash"];
            let moves = ["1 4 N"];
            let position = json!({ "moves": moves });
            peer.ask(
                &json!({ "id": "i", "cmd": "inspect", "session": name, "position": position, "want": want }),
            );
            peer.result(
                &json!({ "id": "i", "cmd": "inspect", "session": name, "position": {}, "want": want }),
            );
        }
    }
    most
}

#[test]
fn remembered_positions_make_room_for_new_sessions() {
    let bounds = ["--session-mb", "1", "--sessions-mb", "1"];
    let server = Server::tcp(&bounds);
    let most = fill_with_sessions(&mut server.greet(json!({})), false, 64);
    let server = Server::tcp(&bounds);
    let mut first = server.greet(json!({}));
    let mine = fill_with_sessions(&mut first, true, most / 2);
    let others = fill_with_sessions(&mut server.greet(json!({})), false, 64);
    assert!(mine == most / 2 && mine + others >= most, "{mine} and {others} of {most}");
    // Who lost what it remembered goes on.
    let limit = json!({ "depth": 1 });
    first.best(&json!({ "id": "g", "cmd": "go", "session": "s0", "position": {}, "limit": limit }));
}

#[test]
fn a_session_is_not_charged_for_what_it_does_not_keep() {
    let server = Server::tcp(&["--session-mb", "1", "--sessions-mb", "1"]);
    let mut peer = server.greet(json!({}));
    let limit = json!({ "depth": 1 });
    for (index, session) in ["a", "b"].into_iter().enumerate() {
        // 0.5 MB of moves that are left out.
        peer.result(&json!({ "id": "n", "cmd": "newgame", "session": session, "game": "l-game" }));
        let moves = vec!["3 1 W"; 8000];
        peer.ask(&json!({ "id": format!("g{index}"), "cmd": "go", "session": session, "position": {}, "limit": limit,
            "excludemoves": moves }));
    }
    let most = fill_with_sessions(&mut peer, false, 40);
    assert!(most >= 30, "{most}");
}
