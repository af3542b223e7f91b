//! Whoever is turned away is counted by the reason, and the limits of flags take effect, by the real binary.

// The functions beside the tests are called by them alone.
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use crate::common::scrape::Scrape;
use crate::common::{Logged, TIMEOUT, is_whole, until, until_within, websocket};
use serde_json::{Value, json};

/// A daemon for TCP and for WebSocket, in this order, with these flags; and where its metrics are.
fn start(flags: &[&str]) -> (Logged, SocketAddr) {
    let ports = ["--tcp", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--metrics", "127.0.0.1:0"];
    let daemon = Logged::start(&[&ports[..], flags].concat(), &[], 2);
    let metrics = daemon.metrics();
    (daemon, metrics)
}

/// How many were turned away for that reason.
fn refusals(metrics: SocketAddr, reason: &str) -> f64 {
    Scrape::of(metrics).get(&format!("plyd_refusals_total{{reason=\"{reason}\"}}"))
}

/// A large answer to this question is some 3 MB: all moves of an empty board of 256 cells, with positions.
fn large(id: &str) -> Value {
    json!({ "id": id, "cmd": "inspect", "game": "sudoku", "rules": { "m": 4, "n": 4 }, "position": {}, "want": ["moves"] })
}

#[test]
fn who_breaks_the_rules_of_websocket_is_counted() {
    let (daemon, metrics) = start(&[]);
    // Frames that are not masked, that have a reserved bit, an unknown opcode, and a ping in parts.
    let broken: [&[u8]; 4] = [b"\x81\x01x", b"\xc1\x81\0\0\0\0x", b"\x83\x81\0\0\0\0x", b"\x09\x80\0\0\0\0"];
    for (count, frame) in (1..).map(f64::from).zip(broken) {
        let mut raw = daemon.socket(1);
        let (_lines, mut messages) = websocket::open(raw.try_clone().unwrap());
        raw.write_all(frame).unwrap();
        assert_eq!(messages.read(&mut [0; 1]).unwrap(), 0, "{frame:?}");
        until("it is counted", || refusals(metrics, "protocol_violation") == count);
    }
    // Who leaves in the midst of a frame has broken none.
    let mut raw = daemon.socket(1);
    let _open = websocket::open(raw.try_clone().unwrap());
    raw.write_all(&broken[1][..3]).unwrap();
    raw.shutdown(Shutdown::Both).unwrap();
    until("it is gone", || Scrape::of(metrics).sum("plyd_connections") == 0.0);
    assert_eq!(refusals(metrics, "protocol_violation"), 4.0);
    daemon.end();
}

#[test]
fn visitors_who_leave_for_others_are_counted() {
    // On no machine so slow that their time is up before.
    let (daemon, metrics) = start(&["--hello-within", "600"]);
    // Three more than there are places; they have sent nothing, or the beginning of a request.
    let mut silent: Vec<TcpStream> = (0..67).map(|_| daemon.socket(1)).collect();
    until("those who came first have left", || refusals(metrics, "visitors") == 3.0);
    for socket in &mut silent[..3] {
        assert_eq!(socket.read(&mut [0; 1]).unwrap(), 0);
    }
    // Whoever says what they want is served, and nobody was turned away from the other port.
    websocket::open(daemon.socket(1));
    daemon.greet(json!({}));
    assert_eq!(refusals(metrics, "strangers"), 0.0);
    daemon.end();
}

#[test]
fn as_many_bad_lines_as_the_flag_says_end_a_stranger() {
    for (flags, most) in [(&["--bad-lines", "3"][..], 3), (&[], 16)] {
        let (daemon, metrics) = start(flags);
        let mut client = daemon.greet(json!({}));
        let limits = client.result(&json!({ "id": "d", "cmd": "describe", "what": "limits" }));
        assert_eq!(limits["body"]["bad_lines"], most);
        let mut stranger = daemon.connect();
        for _ in 1..most {
            stranger.bytes(b"x\n");
            assert_eq!(stranger.fault()["code"], "bad_json");
        }
        assert_eq!(refusals(metrics, "bad_lines"), 0.0);
        stranger.bytes(b"x\n");
        let log = stranger.closed();
        let errors = log.iter().filter(|message| message["code"] == "bad_json").count();
        assert_eq!(errors, most, "{log:?}");
        assert_eq!(log.last().unwrap()["limit"], "bad_lines", "{log:?}");
        until("it is counted", || refusals(metrics, "bad_lines") == 1.0);
        // Those who have said hello may err as often as they like.
        client.bytes(&b"x\n".repeat(2 * most));
        client.ping();
        daemon.end();
    }
}

/// Peers that ask for large answers and read none: beyond the bound others get none either, until those who
/// do not read are cut off. Without the flag there is room for both.
#[test]
fn unread_answers_are_bounded_by_the_flag_and_slow_readers_are_cut_off() {
    // To come near the usual bound takes several seconds of a core.
    let cases = if is_whole() { 2 } else { 1 };
    for (flags, is_bounded) in [(&["--unsent-mb", "1"][..], true), (&[], false)].into_iter().take(cases) {
        let (daemon, metrics) = start(flags);
        let mut client = daemon.greet(json!({}));
        let mut deaf = Vec::new();
        let mut asked = 0;
        let mut ask = |client: &mut crate::common::Peer| {
            asked += 1;
            client.ask(&large(&format!("large-{asked}")))
        };
        // On a busy machine those who do not read may be gone before the client asks: then others come.
        let mut refused = None;
        let enough = 5 * TIMEOUT;
        until_within(enough, "an answer is refused, or there is room beside what waits", || {
            let cut_off = refusals(metrics, "slow_reader");
            deaf.push(deaf_peer(&daemon));
            // Beyond the bound, the sockets' buffers decide how much of an answer waits.
            let least = if is_bounded { 0.0 } else { f64::from(1 << 20) };
            let waits = || Scrape::of(metrics).get("plyd_unsent_bytes") > least;
            until("an answer waits", || waits() || refusals(metrics, "slow_reader") > cut_off);
            let answer = ask(&mut client);
            refused = (answer["type"] == "error").then_some(answer);
            refused.is_some() == is_bounded
        });
        if let Some(error) = refused {
            assert_eq!((&error["code"], &error["fatal"]), (&json!("overloaded"), &json!(false)), "{error}");
            assert!(error["message"].as_str().unwrap().contains("wait to be read"), "{error}");
            until("who does not read is cut off", || refusals(metrics, "slow_reader") >= 1.0);
        }
        until("the client gets its answer", || ask(&mut client)["type"] == "result");
        daemon.end();
    }
}

/// A client that asks for more than its socket holds, and reads no answer.
fn deaf_peer(daemon: &Logged) -> TcpStream {
    let mut stream = daemon.socket(0);
    let hello = json!({ "id": "h", "cmd": "hello", "protocol": { "min": 1, "max": 1 } });
    let requests: Vec<Value> = (0..4).map(|number| large(&format!("l{number}"))).collect();
    for request in [&[hello][..], &requests].concat() {
        writeln!(stream, "{request}").unwrap();
    }
    stream
}

#[test]
fn who_says_nothing_for_too_long_is_counted() {
    let (daemon, metrics) = start(&["--hello-within", "1"]);
    let mut stranger = daemon.socket(0);
    stranger.read_to_end(&mut Vec::new()).unwrap();
    until("the stranger is counted", || refusals(metrics, "hello_ms") == 1.0);
    daemon.end();
    let (daemon, metrics) = start(&["--idle", "1"]);
    let mut idle = daemon.greet(json!({}));
    idle.closed();
    until("the idle client is counted", || refusals(metrics, "idle_ms") == 1.0);
    assert_eq!(refusals(metrics, "hello_ms"), 0.0);
    daemon.end();
}
