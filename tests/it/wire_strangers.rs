//! Who may be connected: peers that say nothing, guess tokens or come in crowds keep nobody out.

// The functions beside the tests are called by them alone.
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Peer, Server, TIMEOUT, process, until, with};
use crate::operate::connections;
use rustix::process::Signal;
use serde_json::{Value, json};

/// What a peer is sent until its connection ends.
fn rest(stream: &TcpStream) -> Vec<Value> {
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    lines.map_while(Result::ok).map(|line| serde_json::from_str(&line).unwrap()).collect()
}

/// A file with a token.
struct TokenFile(std::path::PathBuf);

impl TokenFile {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plyd-token-{name}-{}", std::process::id()));
        std::fs::write(&path, "open sesame\n").unwrap();
        // Nothing is to be warned of.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        Self(path)
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.0);
    }
}

fn hello(token: &str) -> Value {
    json!({ "id": "h", "cmd": "hello", "protocol": { "min": 1, "max": 1 }, "token": token })
}

/// Without a bound each of them would keep a socket of the server for ten seconds.
#[test]
fn those_that_do_not_read_to_the_end_hold_as_many_sockets_as_there_are_places() {
    let server = Server::tcp(&["--connections", "2", "--strangers", "2"]);
    let mut operator = server.greet(json!({}));
    let mut requests = vec![json!({ "id": "h", "cmd": "hello", "protocol": { "min": 1, "max": 1 } })];
    requests.extend((0..60).map(|at| json!({ "id": format!("d{at}"), "cmd": "describe", "what": "schema" })));
    requests.push(json!({ "id": "q", "cmd": "quit" }));
    let requests: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let (mut unread, mut newest) = (Vec::new(), json!(1));
    for _ in 0..7 {
        let mut stream = server.socket();
        // Little of the answers fits into the system's memory.
        rustix::net::sockopt::set_socket_recv_buffer_size(&stream, 4096).unwrap();
        stream.write_all(requests.as_bytes()).unwrap();
        unread.push(stream);
        let last = newest.clone();
        until("the newest one ends, and gives up its place", || {
            let (all, _) = connections(&mut operator);
            // The operator, those that nobody reads, and the one that is ending.
            assert!(all.len() <= 1 + 4 + 1, "{all:?}");
            let at = all.last().unwrap();
            newest = at["connection"].clone();
            newest != last && at["state"] == "closing" && at["requests"] == 0
        });
    }
}

#[test]
fn silent_strangers_keep_nobody_out() {
    let token = TokenFile::new("silent");
    let server = Server::tcp(&["--token-file", token.0.to_str().unwrap(), "--strangers", "8"]);
    let silent: Vec<TcpStream> = (0..300).map(|_| server.socket()).collect();
    // A client with the token comes in at once, and stays however many come behind it.
    let mut client = server.greet(json!({ "token": "open sesame" }));
    let _more: Vec<TcpStream> = (0..50).map(|_| server.socket()).collect();
    client.ping();
    // Those that left got the reason.
    let messages = rest(&silent[0]);
    assert_eq!(messages.len(), 1, "{messages:?}");
    let reason = json!({ "type": "error", "id": null, "line": 0, "code": "too_many_connections",
        "retry_ms": 1000, "limit": "strangers", "fatal": true });
    assert_eq!(with(messages[0].clone(), &reason), messages[0], "{messages:?}");
    // All but the last eight left, once the daemon has seen them all.
    let end = Instant::now() + TIMEOUT;
    loop {
        let status = client.result(&json!({ "id": "t", "cmd": "status" }));
        let dropped = status["counters"]["connections_dropped"].as_u64().unwrap();
        if dropped == 350 - 8 {
            break;
        }
        assert!(dropped < 350 - 8 && Instant::now() < end, "{status}");
    }
}

#[test]
fn all_places_of_greeted_clients_and_of_an_address_can_be_taken() {
    for (flag, limit) in [("--connections", "connections"), ("--per-address", "connections_per_address")] {
        let server = Server::tcp(&[flag, "2"]);
        let (mut first, mut second) = (server.greet(json!({})), server.connect());
        let limits = second.hello(json!({}))["limits"].clone();
        assert_eq!(limits[limit], 2);
        let mut third = server.connect();
        let refused = third.ask(&json!({ "id": "h", "cmd": "hello", "protocol": { "min": 1, "max": 1 } }));
        assert_eq!(
            (&refused["code"], &refused["fatal"]),
            (&json!("too_many_connections"), &json!(true)),
            "{refused}"
        );
        assert!(refused["retry_ms"].is_u64());
        assert_eq!(
            [&refused["id"], &refused["line"], &refused["limit"]],
            [&json!("h"), &json!(1), &json!(limit)]
        );
        third.closed();
        // Who leaves makes room.
        drop(second);
        let end = Instant::now() + TIMEOUT;
        loop {
            let mut peer = server.connect();
            let answer = peer.ask(&json!({ "id": "h", "cmd": "hello", "protocol": { "min": 1, "max": 1 } }));
            if answer["type"] == "result" {
                break;
            }
            assert!(Instant::now() < end, "{answer}");
        }
        first.ping();
    }
}

#[test]
fn an_address_with_too_many_connections_loses_its_oldest_stranger() {
    let server = Server::tcp(&["--per-address", "3"]);
    let mut greeted = server.greet(json!({}));
    let strangers: Vec<TcpStream> = (0..3).map(|_| server.socket()).collect();
    let messages = rest(&strangers[0]);
    assert_eq!(
        (&messages[0]["code"], &messages[0]["limit"]),
        (&json!("too_many_connections"), &json!("connections_per_address")),
        "{messages:?}"
    );
    // The one that came last can still say hello.
    drop(strangers.into_iter().take(2).collect::<Vec<_>>());
    server.greet(json!({})).ping();
    greeted.ping();
}

#[test]
fn wrong_tokens_are_answered_later_and_later_and_a_right_one_is_not() {
    let token = TokenFile::new("wrong");
    let server = Server::tcp(&["--token-file", token.0.to_str().unwrap()]);
    for round in 0..4 {
        let since = Instant::now();
        let mut peer = server.connect();
        let refused = peer.ask(&hello(&round.to_string()));
        assert_eq!(refused["code"], "auth_failed", "{refused}");
        peer.closed();
        // 100 ms, then twice as long each time.
        let waited = since.elapsed();
        assert!(waited >= Duration::from_millis(100 << round), "{round}: {waited:?}");
    }
    // While the next guess waits for its answer a right token has its own; as the waits grow, also on a busy
    // machine.
    let is_ahead = |_| {
        let mut guesser = server.connect();
        guesser.send(&hello("no"));
        let client = server.greet(json!({ "token": "open sesame" }));
        assert_eq!(guesser.last("h")["code"], "auth_failed");
        client.log[0]["t_us"].as_u64() < guesser.log[0]["t_us"].as_u64()
    };
    assert!((0..4).any(is_ahead), "a right token waits for the answer to a wrong one");
}

#[test]
fn wrong_tokens_are_logged() {
    let token = TokenFile::new("logged");
    let mut launch =
        process::plyd(["serve", "-v", "--tcp", "127.0.0.1:0", "--token-file", token.0.to_str().unwrap()]);
    launch.command.stderr(Stdio::piped());
    let mut daemon = process::spawn(launch);
    let mut log = BufReader::new(daemon.take_stderr().unwrap());
    let mut line = String::new();
    let address = loop {
        assert!(log.read_line(&mut line).unwrap() > 0, "the log names the port");
        if let Some(address) = crate::common::listening(&line) {
            break address;
        }
    };
    for token in ["open sesam", "open sesame"] {
        let stream = TcpStream::connect(address).unwrap();
        let mut peer = Peer::tcp(stream.try_clone().unwrap(), stream);
        peer.ask(&hello(token));
    }
    process::signal(&daemon, Signal::TERM);
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    assert!(process::exit(&mut daemon).success());
    let warnings: Vec<&str> = rest.lines().filter(|line| line.contains("wrong tokens")).collect();
    assert_eq!(warnings.len(), 1, "{rest}");
    assert!(warnings[0].contains("WARN") && warnings[0].contains("127.0.0.1"), "{}", warnings[0]);
    assert!(!rest.contains("sesam"), "the log keeps no token, right or wrong: {rest}");
}

#[test]
fn an_idle_client_is_closed_only_where_that_is_asked_for() {
    let server = Server::tcp(&["--idle", "3"]);
    let mut idle = server.connect();
    assert_eq!(idle.hello(json!({}))["limits"]["idle_ms"], 3000);
    let mut busy = server.greet(json!({}));
    busy.send(
        &json!({ "id": "g", "cmd": "go", "game": "isolation", "rules": { "preset": "11x9" }, "position": {},
        "mode": "analyse", "info": { "events": ["started"] } }),
    );
    idle.closed();
    let last = idle.log.last().unwrap();
    let reason = json!({ "type": "error", "code": "timed_out", "limit": "idle_ms", "fatal": true });
    assert_eq!(with(last.clone(), &reason), *last);
    // A search in flight is no idleness.
    busy.ping();
    busy.result(&json!({ "id": "s", "cmd": "stop", "target": "g" }));
    let patient = Server::tcp(&[]).greet(json!({})).log[0]["limits"]["idle_ms"].clone();
    assert_eq!(patient, 0);
}

/// What the system will ask of the server's end of a connection, and in how many hundredths of a second: `02`
/// is a question whether the peer is there.
fn timer(server: &Server, stream: &TcpStream) -> (String, u32) {
    let port = |address: SocketAddr| format!(":{:04X}", address.port());
    let (own, peer) = (port(server.address()), port(stream.local_addr().unwrap()));
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut timers = rows.filter(|row| row[1].ends_with(&own) && row[2].ends_with(&peer)).map(|row| row[5]);
    let (kind, hundredths) = timers.next().expect("the connection is there").split_once(':').unwrap();
    (kind.to_owned(), u32::from_str_radix(hundredths, 16).unwrap())
}

#[test]
fn the_system_asks_silent_clients_whether_they_are_there() {
    for (seconds, asks) in [("600", true), ("0", false)] {
        let server = Server::tcp(&["--keepalive", seconds]);
        let mut stream = server.socket();
        stream.write_all(format!("{}\n", hello("any")).as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("\"hello\""), "{line}");
        // Another timer comes first until what was sent is acknowledged.
        let end = Instant::now() + TIMEOUT;
        let (kind, hundredths) = loop {
            let (kind, hundredths) = timer(&server, &stream);
            if kind != "01" {
                break (kind, hundredths);
            }
            assert!(Instant::now() < end, "never acknowledged");
        };
        assert_eq!(kind == "02", asks, "{seconds}: {kind}");
        assert!(hundredths <= 60_000, "{seconds}: {hundredths}");
    }
}

#[test]
fn hello_must_come_in_time() {
    let server = Server::tcp(&["--hello-within", "1"]);
    let silent = server.socket();
    let messages = rest(&silent);
    assert_eq!(
        (&messages[0]["code"], &messages[0]["limit"], &messages[0]["fatal"]),
        (&json!("timed_out"), &json!("hello_ms"), &json!(true)),
        "{messages:?}"
    );
}

#[test]
fn limits_are_listed_by_describe_too() {
    let server = Server::tcp(&["--strangers", "9", "--request-mb", "3", "--silence", "7"]);
    let mut peer = server.connect();
    let greeting = peer.hello(json!({}));
    let described = peer.result(&json!({ "id": "d", "cmd": "describe", "what": "limits" }));
    assert_eq!(described["body"], greeting["limits"]);
    for (name, value) in [("strangers", 9), ("request_bytes", 3 << 20), ("silence_ms", 7000)] {
        assert_eq!(greeting["limits"][name], value, "{name}");
    }
}

/// Runs `plyd serve` with these arguments until its first line of log, or its end; what it wrote, and whether
/// it ran.
fn starts(arguments: &[&str]) -> (String, bool) {
    let mut launch = process::plyd([&["serve", "-v"], arguments].concat());
    launch.command.stdin(Stdio::null()).stderr(Stdio::piped());
    let mut child = process::spawn(launch);
    let mut line = String::new();
    let mut log = BufReader::new(child.take_stderr().unwrap());
    log.read_line(&mut line).unwrap();
    let listens = line.contains("listening");
    if !listens {
        log.read_to_string(&mut line).unwrap();
        let exit = child.wait_exit(Instant::now() + TIMEOUT).unwrap();
        assert!(exit.is_some_and(|exit| !exit.success()), "{line}");
    }
    (line, listens)
}

#[test]
fn addresses_that_others_reach_want_a_token() {
    let token = TokenFile::new("reach");
    for at in ["0.0.0.0:0", "[::]:0"] {
        for flag in ["--tcp", "--ws"] {
            let (error, listens) = starts(&[flag, at]);
            assert!(!listens && error.contains("--token-file") && error.contains("--insecure"), "{error}");
        }
        assert!(starts(&["--tcp", at, "--insecure"]).1);
        assert!(starts(&["--tcp", at, "--token-file", token.0.to_str().unwrap()]).1);
    }
    for at in ["127.0.0.1:0", "localhost:0"] {
        assert!(starts(&["--tcp", at]).1, "{at}");
    }
}

#[test]
fn a_flood_of_short_lines_leaves_others_their_share() {
    let server = Server::tcp(&[]);
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    // 14 KB of moves each, decoded by the thread that serves all connections.
    let moves = "\"a\",".repeat(3500);
    let line = format!(
        "{{\"id\":\"i\",\"cmd\":\"inspect\",\"game\":\"l-game\",\"position\":{{\"moves\":[{}]}}}}\n",
        moves.trim_end_matches(',')
    );
    let floods: Vec<_> = (0..4)
        .map(|_| {
            let (mut stream, line, stop) = (server.socket(), line.clone(), stop.clone());
            let mut reading = stream.try_clone().unwrap();
            std::thread::spawn(move || while reading.read(&mut [0; 1 << 16]).is_ok_and(|count| count > 0) {});
            stream
                .write_all(b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n")
                .unwrap();
            std::thread::spawn(move || {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    if stream.write_all(line.as_bytes()).is_err() {
                        break;
                    }
                }
                let _closed = stream.shutdown(std::net::Shutdown::Both);
            })
        })
        .collect();
    let mut client = server.greet(json!({}));
    let counted = |client: &mut crate::common::Peer| {
        client.result(&json!({ "id": "t", "cmd": "status" }))["counters"]["lines"].as_u64().unwrap()
    };
    // Once the flood runs, between two answers at most a few lines of each of the four are taken.
    while counted(&mut client) < 100 {}
    let mut between: Vec<u64> = Vec::new();
    let mut last = counted(&mut client);
    for _ in 0..100 {
        let now = counted(&mut client);
        between.push(now - last);
        last = now;
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    floods.into_iter().for_each(|flood| flood.join().unwrap());
    between.sort_unstable();
    let median = between[between.len() / 2];
    assert!(median <= 24, "{median} lines of others between two answers: {between:?}");
}
