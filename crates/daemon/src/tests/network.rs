//! The whole daemon on a loopback port: real threads, real time, and conditions instead of sleeps.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};

use super::fake::{GAMES, gate};
use crate::state::outbox::Item;
use crate::{Config, Daemon, Limits};
use plyd_core::search::clock::now_ns;

/// How long a test waits for what must come; only a broken daemon takes so long, however busy the machine is.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

/// A daemon on a port, with a thread that drives its sockets.
pub(super) struct Served {
    pub(super) daemon: Arc<Daemon>,
    address: SocketAddr,
    pub(super) runtime: tokio::runtime::Handle,
    end: Arc<Notify>,
}

impl Served {
    pub(super) fn new(config: Config) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(1)
            .build()
            .unwrap();
        let daemon = Arc::new(Daemon::start(&config, GAMES).unwrap());
        let address = runtime.block_on(daemon.serve_tcp("127.0.0.1:0")).unwrap();
        let (handle, end) = (runtime.handle().clone(), Arc::new(Notify::new()));
        let ended = Arc::clone(&end);
        std::thread::spawn(move || runtime.block_on(ended.notified()));
        Self { daemon, address, runtime: handle, end }
    }

    pub(super) fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { lines: BufReader::new(stream.try_clone().unwrap()), stream, seq: 0 }
    }

    /// A client that has shaken hands.
    pub(super) fn greet(&self) -> Client {
        let mut client = self.connect();
        client.send(r#"{"id":"h","cmd":"hello","protocol":{"min":1,"max":1}}"#);
        assert_eq!(client.next()["of"], "hello");
        client
    }

    pub(super) fn wait_until(&self, what: &str, condition: impl Fn(&Daemon) -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !condition(&self.daemon) {
            assert!(Instant::now() < deadline, "{what}: {:?}", self.daemon.status());
            std::thread::yield_now();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end.notify_one();
    }
}

pub(super) struct Client {
    lines: BufReader<TcpStream>,
    stream: TcpStream,
    seq: u64,
}

impl Client {
    pub(super) fn send(&mut self, line: &str) {
        self.stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next message; checks that `seq` has no gap.
    pub(super) fn next(&mut self) -> Value {
        self.try_next().expect("a message before the end")
    }

    fn try_next(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.lines.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        self.seq += 1;
        assert_eq!(message["seq"], self.seq, "{line}");
        Some(message)
    }

    /// The next message that is no news.
    pub(super) fn next_final(&mut self) -> Value {
        loop {
            let message = self.next();
            let is_news =
                message["type"] == "info" || message["type"] == "notice" && message["id"].is_string();
            if !is_news {
                return message;
            }
        }
    }

    /// Whether the server closed the connection, orderly or not.
    fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0]), Ok(0) | Err(_))
    }
}

pub(super) fn go(id: &str, player: &str, rest: &str) -> String {
    format!(
        r#"{{"id":"{id}","cmd":"go","game":"counting","position":{{}},"options":{{"player":"{player}"}},{rest}}}"#
    )
}

#[test]
fn pings_are_answered_while_a_search_runs_and_stop_ends_it() {
    let served = Served::new(Config::default());
    let mut client = served.greet();
    client.send(&go("g", "steady", r#""mode":"analyse""#));
    assert_eq!(client.next()["event"], "best");
    client.send(r#"{"id":"p","cmd":"ping","echo":"x"}"#);
    assert_eq!(client.next_final()["echo"], "x");
    client.send(r#"{"id":"s","cmd":"stop","target":"g"}"#);
    assert_eq!(client.next_final()["effect"], "stopping");
    let bestmove = client.next();
    assert_eq!((&bestmove["reason"], &bestmove["move"]), (&json!("stopped"), &json!("+3")));
    client.send(r#"{"id":"s2","cmd":"stop","target":"g"}"#);
    assert_eq!(client.next()["effect"], "already_finished");
    served.wait_until("everything returns to zero", |daemon| {
        let status = daemon.status();
        (status.searches, status.threads, status.hash_bytes) == (0, 0, 0)
    });
}

#[test]
fn a_search_that_panics_answers_and_the_next_one_works() {
    let served = Served::new(Config::default());
    let mut client = served.greet();
    client
        .send(r#"{"id":"n","cmd":"newgame","session":"s","game":"counting","options":{"player":"panics"}}"#);
    assert_eq!(client.next()["of"], "newgame");
    for (id, player, mv) in [("a", "panics", "+3"), ("b", "panics-early", "+1"), ("c", "instant", "+3")] {
        let options = json!({ "player": player });
        client.send(&format!(
            r#"{{"id":"{id}","cmd":"go","session":"s","position":{{}},"limit":{{"nodes":5}},"options":{options}}}"#
        ));
        let bestmove = client.next_final();
        assert_eq!((&bestmove["id"], &bestmove["move"]), (&json!(id), &json!(mv)), "{bestmove}");
        let failed = player != "instant";
        assert_eq!(bestmove["reason"], if failed { "failed" } else { "limit" });
        assert_eq!(bestmove["incident"].is_string(), failed);
    }
    client.send(r#"{"id":"i","cmd":"inspect","session":"s","position":{"moves":["+666"]}}"#);
    assert_eq!(client.next()["code"], "internal");
    assert_eq!(served.daemon.status().counters.failed, 2);
}

#[test]
fn a_search_without_a_clock_begins_although_reading_its_position_does_not_end() {
    // As much again is left to a machine that is busy.
    let limits = Limits { reading: Duration::from_secs(3), ..Limits::default() };
    let served = Served::new(Config { limits, ..Config::default() });
    let mut client = served.greet();
    client.send(
        r#"{"id":"g","cmd":"go","game":"counting","rules":{"goal":777},"position":{"start":"0"},"limit":{"nodes":5},"options":{"player":"instant"}}"#,
    );
    let bestmove = client.next_final();
    assert_eq!((&bestmove["reason"], &bestmove["move"]), (&json!("limit"), &json!("+3")));
}

#[test]
fn a_thread_that_does_not_yield_is_abandoned() {
    let limits = Limits { abandon: Duration::from_millis(50), ..Limits::default() };
    let served = Served::new(Config { limits, ..Config::default() });
    let mut client = served.greet();
    client.send(r#"{"id":"n","cmd":"newgame","session":"s","game":"counting","seed":"abad0"}"#);
    client.next();
    client.send(
        r#"{"id":"g","cmd":"go","session":"s","position":{},"options":{"player":"stuck"},"clock":{"kind":"none"}}"#,
    );
    // Once it has published its move, and hangs, its time is over.
    assert_eq!(client.next()["move"], "+3");
    client.send(r#"{"id":"u","cmd":"update","target":"g","hard_ms":0}"#);
    assert_eq!(client.next_final()["effect"], "updated");
    let bestmove = client.next_final();
    assert_eq!((&bestmove["reason"], &bestmove["move"]), (&json!("deadline"), &json!("+3")));
    client.send(r#"{"id":"g2","cmd":"go","session":"s","position":{},"limit":{"nodes":100}}"#);
    let bestmove = client.next_final();
    assert_eq!((&bestmove["id"], &bestmove["reason"]), (&json!("g2"), &json!("limit")));
    assert_eq!(served.daemon.status().counters.abandoned, 1);
    gate(0xabad0).open();
    client.send(r#"{"id":"c","cmd":"close","session":"s"}"#);
    client.next_final();
    served.wait_until("the abandoned engine is freed", |daemon| daemon.status().hash_bytes == 0);
}

#[test]
fn each_search_of_a_queue_gets_the_player_that_it_asked_for() {
    let served = Served::new(Config::default());
    let mut client = served.greet();
    client.send(r#"{"id":"n","cmd":"newgame","session":"s","game":"counting"}"#);
    client.next();
    let mut queue = |id: &str, player: &str, rest: &str| {
        client.send(&format!(
            r#"{{"id":"{id}","cmd":"go","session":"s","position":{{}},"options":{{"player":"{player}"}},"queue":true,{rest}}}"#
        ));
    };
    queue("a", "steady", r#""clock":{"kind":"none"}"#);
    queue("b", "prover", r#""clock":{"kind":"none"}"#);
    queue("c", "steady", r#""limit":{"nodes":10}"#);
    queue("d", "prover", r#""clock":{"kind":"none"}"#);
    // Answered once all four are prepared: requests of a session keep their order.
    client.send(r#"{"id":"i","cmd":"inspect","session":"s","position":{}}"#);
    assert_eq!(client.next_final()["id"], "i");
    client.send(r#"{"id":"s","cmd":"stop","target":"a"}"#);
    assert_eq!(client.next_final()["of"], "stop");
    for (id, reason) in [("a", "stopped"), ("b", "proven"), ("c", "limit"), ("d", "proven")] {
        let bestmove = client.next_final();
        assert_eq!((&bestmove["id"], &bestmove["reason"]), (&json!(id), &json!(reason)));
    }
}

#[test]
fn a_panic_that_panics_again_costs_its_request_alone() {
    let served = Served::new(Config::default());
    let mut client = served.greet();
    client.send(r#"{"id":"n","cmd":"newgame","session":"s","game":"counting"}"#);
    client.next();
    // More than there are threads for requests.
    for _ in 0..10 {
        client.send(r#"{"id":"b","cmd":"inspect","session":"s","position":{"moves":["+667"]}}"#);
        let error = client.next_final();
        assert_eq!((&error["id"], &error["code"]), (&json!("b"), &json!("internal")));
    }
    client.send(r#"{"id":"i","cmd":"inspect","session":"s","position":{}}"#);
    assert_eq!(client.next_final()["of"], "inspect");
}

#[test]
fn a_peer_that_never_reads_is_cut_off_within_bounds() {
    let limits = Limits { unsent_bytes: 1 << 20, ..Limits::default() };
    let served = Served::new(Config { limits, ..Config::default() });
    let mut deaf = served.greet();
    deaf.send(&go("g", "chatty", r#""mode":"analyse""#));
    let mut flood = deaf.stream.try_clone().unwrap();
    let ping = format!(r#"{{"id":"p","cmd":"ping","echo":"{}"}}"#, "x".repeat(1000));
    let flooding = std::thread::spawn(move || {
        let line = format!("{ping}\n").repeat(100);
        while flood.write_all(line.as_bytes()).is_ok() {}
    });
    served.wait_until("the peer is cut off", |daemon| daemon.status().counters.connections_dropped == 1);
    flooding.join().unwrap();
    served.wait_until("its search is cancelled", |daemon| daemon.status().searches == 0);
    assert_eq!(served.daemon.shared.lock().conns.len(), 0);
}

#[test]
fn a_peer_that_vanishes_has_its_searches_cancelled() {
    let served = Served::new(Config::default());
    let mut client = served.greet();
    client.send(&go("g", "chatty", r#""mode":"analyse""#));
    client.next();
    drop(client);
    served.wait_until("the search is cancelled", |daemon| daemon.status().searches == 0);
}

#[test]
fn strangers_get_an_error_and_are_turned_away() {
    let table: &[(&str, &[u8], &str)] = &[
        ("HTTP", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "bad_json"),
        ("HTTP without an end", b"POST /", "bad_json"),
        ("TLS", &[0x16, 0x03, 0x01, 0x02, 0x00], "bad_json"),
        ("no hello", b"{\"id\":\"p\",\"cmd\":\"ping\"}\n", "handshake_required"),
        (
            "another version",
            b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":2,\"max\":3}}\n",
            "version_unsupported",
        ),
        (
            "a feature",
            b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":3},\"token\":\"secret\",\"require\":[\"queue\",\"x\"]}\n",
            "feature_unsupported",
        ),
        ("no token", b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n", "auth_required"),
        (
            "a wrong token",
            b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1},\"token\":\"secreu\"}\n",
            "auth_failed",
        ),
    ];
    let served = Served::new(Config { token: Some("secret".into()), ..Config::default() });
    for (name, bytes, code) in table {
        let mut client = served.connect();
        client.stream.write_all(bytes).unwrap();
        let error = client.next();
        assert_eq!((&error["code"], &error["fatal"]), (&json!(code), &json!(true)), "{name}");
        assert!(client.is_closed(), "{name}");
    }
    let mut client = served.connect();
    client.send(&format!(r#"{{"id":"{}"}}"#, "x".repeat(20_000)));
    assert_eq!(client.next()["code"], "line_too_long");
    client.send(r#"{"id":"h","cmd":"hello","protocol":{"min":1,"max":1},"token":"secret"}"#);
    assert_eq!(client.next()["of"], "hello");
    client.send(&format!(r#"{{"id":"p","cmd":"ping","x_pad":"{}"}}"#, "x".repeat(20_000)));
    assert_eq!(client.next()["of"], "ping");
    client.send(r#"{"id":"h","cmd":"hello","protocol":{"min":1,"max":1}}"#);
    assert_eq!(client.next()["code"], "handshake_repeated");
}

#[test]
fn a_long_line_delays_its_own_connection_only() {
    let served = Served::new(Config::default());
    let (mut sender, mut other) = (served.greet(), served.greet());
    // Occupies the thread that long lines are decoded on.
    let (open, gate) = oneshot::channel::<()>();
    let occupied = served.runtime.spawn_blocking(move || gate.blocking_recv().unwrap());
    sender.send(&json!({ "id": "long", "cmd": "ping", "x_pad": "x".repeat(100_000) }).to_string());
    sender.send(r#"{"id":"short","cmd":"ping"}"#);
    for _ in 0..100 {
        other.send(r#"{"id":"p","cmd":"ping"}"#);
        assert_eq!(other.next()["of"], "ping");
    }
    let opened_us = now_ns() / 1000;
    open.send(()).unwrap();
    served.runtime.block_on(occupied).unwrap();
    let (long, short) = (sender.next(), sender.next());
    assert_eq!((&long["id"], &short["id"]), (&json!("long"), &json!("short")));
    assert!(long["t_us"].as_u64() >= Some(opened_us), "{long}");
}

#[test]
fn hello_and_requests_may_share_a_packet() {
    let served = Served::new(Config::default());
    let mut client = served.connect();
    let long = "x".repeat(30_000);
    client.send(&format!(
        "\n{}\n{}",
        r#"{"id":"h","cmd":"hello","protocol":{"min":1,"max":1}}"#,
        json!({ "id": "p", "cmd": "ping", "x_pad": long })
    ));
    assert_eq!(client.next()["of"], "hello");
    assert_eq!(client.next()["of"], "ping");
    client.send(r#"{"id":"q","cmd":"quit"}"#);
    assert_eq!(client.next()["of"], "quit");
    assert!(client.is_closed());
}

#[test]
fn a_unix_socket_is_private_and_leaves_nothing_behind() {
    use std::os::unix::fs::PermissionsExt;
    let served = Served::new(Config::default());
    let path = std::env::temp_dir().join(format!("plyd-test-{}.sock", std::process::id()));
    // A server that died leaves its socket.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let file = {
        let _inside = served.runtime.enter();
        let file = served.daemon.serve_unix(&path).unwrap();
        assert!(served.daemon.serve_unix(&path).is_err(), "a live server keeps its socket");
        file
    };
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let mut stream = std::os::unix::net::UnixStream::connect(&path).unwrap();
    stream.write_all(b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n").unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    assert!(line.contains(r#""of":"hello""#), "{line}");
    drop(file);
    assert!(!path.exists());
}

#[test]
fn a_transcript_has_every_line() {
    let path = std::env::temp_dir().join(format!("plyd-test-{}.ndjson", std::process::id()));
    let served = Served::new(Config { transcript: Some(path.clone()), ..Config::default() });
    let mut client = served.greet();
    client.send("no JSON \"");
    assert_eq!(client.next()["code"], "bad_json");
    served.daemon.shared.transcript.as_ref().unwrap().finish(TIMEOUT);
    let records: Vec<Value> = std::fs::read_to_string(&path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    std::fs::remove_file(&path).unwrap();
    let seen: Vec<(&str, u64)> =
        records.iter().map(|r| (r["dir"].as_str().unwrap(), r["line"].as_u64().unwrap())).collect();
    assert_eq!(seen, [("in", 1), ("out", 1), ("in", 2), ("out", 2)]);
    assert_eq!(records[0]["msg"]["cmd"], "hello");
    assert_eq!(records[2]["msg"], "no JSON \"");
    assert_eq!(records[3]["msg"]["seq"], 2);
}

#[test]
fn a_large_answer_is_whole_for_its_reader_and_in_the_transcript() {
    let path = std::env::temp_dir().join(format!("plyd-test-large-{}.ndjson", std::process::id()));
    let served = Served::new(Config { transcript: Some(path.clone()), ..Config::default() });
    let mut client = served.greet();
    let pad = "x".repeat(3 << 20);
    served.daemon.shared.with(|state| {
        let conn = *state.conns.keys().next().expect("the connection is open");
        state.send(conn, Item::body(json!({ "pad": pad }).to_string()), now_ns());
    });
    client.send(r#"{"id":"p","cmd":"ping"}"#);
    let answer = client.next();
    assert!(answer["pad"] == pad, "the answer differs");
    assert_eq!(client.next()["of"], "ping");
    served.daemon.shared.transcript.as_ref().unwrap().finish(TIMEOUT);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert!(records.filter(|record| record["msg"] == answer).count() == 1, "the record differs");
}

#[test]
fn a_shutdown_lets_every_search_answer() {
    let served = Served::new(Config::default());
    let mut client = served.greet();
    client.send(&go("g", "steady", r#""mode":"analyse""#));
    client.next();
    served.runtime.block_on(served.daemon.shut_down());
    let (mut notice, mut bestmove) = (None, None);
    while bestmove.is_none() {
        let message = client.next();
        match message["type"].as_str() {
            Some("notice") => notice = Some(message["kind"].clone()),
            Some("bestmove") => bestmove = Some(message["reason"].clone()),
            _ => {}
        }
    }
    assert_eq!((notice, bestmove), (Some(json!("going_away")), Some(json!("shutdown"))));
    client.send(&go("g2", "steady", r#""limit":{"nodes":1}"#));
    assert_eq!(client.next()["code"], "shutting_down");
}
