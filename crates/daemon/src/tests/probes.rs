//! What those who watch see of a daemon in which things go wrong.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::fake::gate;
use super::network::{Served, TIMEOUT, go};
use crate::{Config, Limits};

/// Asks for a path; the status and the text.
fn ask(address: SocketAddr, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes())
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

#[test]
fn panics_stuck_threads_and_the_watchdogs_answers_are_counted() {
    let limits = Limits { abandon: Duration::from_millis(50), ..Limits::default() };
    let served = Served::new(Config { limits, ..Config::default() });
    let metrics = served.runtime.block_on(served.daemon.serve_metrics("127.0.0.1:0")).unwrap();
    let mut client = served.greet();
    client.send(&go("a", "panics", r#""limit":{"nodes":5}"#));
    assert_eq!(client.next_final()["reason"], "failed");
    client.send(r#"{"id":"n","cmd":"newgame","session":"s","game":"counting","seed":"5eed0"}"#);
    client.next_final();
    client.send(
        r#"{"id":"g","cmd":"go","session":"s","position":{},"options":{"player":"stuck"},"clock":{"kind":"none"}}"#,
    );
    assert_eq!(client.next()["move"], "+3");
    client.send(r#"{"id":"u","cmd":"update","target":"g","hard_ms":0}"#);
    assert_eq!(client.next_final()["effect"], "updated");
    assert_eq!(client.next_final()["reason"], "deadline");
    served.wait_until("the thread is abandoned", |daemon| daemon.status().counters.abandoned == 1);
    let (status, text) = ask(metrics, "/metrics");
    assert_eq!(status, 200);
    for line in [
        "plyd_incidents_total 1",
        "plyd_abandoned_threads_total 1",
        "plyd_watchdog_answers_total 1",
        "plyd_unsearched_answers_total 1",
        "plyd_searches_total{game=\"counting\"} 2",
        "plyd_answers_total{game=\"counting\",reason=\"failed\"} 1",
        "plyd_answers_total{game=\"counting\",reason=\"deadline\"} 1",
        "plyd_sessions 1",
    ] {
        assert!(text.lines().any(|found| found == line), "no {line}: {text}");
    }
    gate(0x5eed0).open();
    client.send(r#"{"id":"c","cmd":"close","session":"s"}"#);
    client.next_final();
    served.wait_until("the abandoned engine is freed", |daemon| daemon.status().hash_bytes == 0);
}

#[test]
fn a_daemon_that_shuts_down_lives_and_is_not_ready() {
    let served = Served::new(Config::default());
    let metrics = served.runtime.block_on(served.daemon.serve_metrics("127.0.0.1:0")).unwrap();
    let ok = (200, "ok\n".to_owned());
    assert_eq!((ask(metrics, "/healthz"), ask(metrics, "/readyz")), (ok.clone(), ok.clone()));
    served.runtime.block_on(served.daemon.shut_down());
    let not_ready = (503, "the daemon shuts down\n".to_owned());
    assert_eq!((ask(metrics, "/healthz"), ask(metrics, "/readyz")), (ok, not_ready));
    // The rest of it can be seen to the end, too.
    assert_eq!(ask(metrics, "/metrics").0, 200);
}

#[test]
fn a_daemon_whose_deadlines_pass_unheeded_is_not_well() {
    let served = Served::new(Config::default());
    let _stranger = served.connect();
    served.wait_until("its hello is awaited", |daemon| daemon.shared.lock().next_timer().is_some());
    let state = served.daemon.shared.lock();
    let at_ns = state.next_timer().unwrap();
    assert_eq!(state.health(at_ns + 1_000_000_000), Ok(()));
    let stuck = Err("the watchdog is stuck: no deadline is kept");
    assert_eq!(
        (state.health(at_ns + 31_000_000_000), state.readiness(at_ns + 31_000_000_000)),
        (stuck, stuck)
    );
}
