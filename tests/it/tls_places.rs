//! Handshakes of TLS against the real binary: how many there may be at once, how long and how large, and who
//! leaves for whom.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::scrape::Scrape;
use crate::common::{process, until};
use crate::tls::{Daemon, answer, ask, certificate, counted, rest};
use serde_json::{Value, json};

/// A daemon with these flags, and where its metrics are.
fn start(flags: &[&str]) -> (Daemon, SocketAddr) {
    let flags: Vec<String> = ["--metrics", "127.0.0.1:0"].iter().chain(flags).map(|&it| it.into()).collect();
    let daemon = Daemon::start(&[&certificate("server")[..], &flags].concat());
    let metrics = daemon.log.metrics();
    (daemon, metrics)
}

/// How many were turned away for a reason.
fn refusals(metrics: SocketAddr, reason: &str) -> f64 {
    Scrape::of(metrics).get(&format!("plyd_refusals_total{{reason=\"{reason}\"}}"))
}

#[test]
fn silent_and_slow_handshakes_keep_nobody_out_and_end_in_time() {
    let (daemon, metrics) = start(&["--strangers", "4", "--hello-within", "2"]);
    // More than there are places, half of them with the beginning of a handshake.
    let mut silent: Vec<TcpStream> = (0..12).map(|_| daemon.socket()).collect();
    for socket in silent.iter_mut().step_by(2) {
        let _gone = socket.write_all(b"\x16\x03\x01\x02\x00\x01");
    }
    for address in daemon.trusting() {
        ask(&address).unwrap();
    }
    // The last ones were not pushed out, but their time is up.
    let began = Instant::now();
    for socket in silent {
        assert_eq!(rest(socket), b"");
    }
    assert!(began.elapsed() < Duration::from_secs(30), "bounded by --hello-within");
    // Each was counted once: on a busy machine the time of some is up before the others come.
    let turned_away = || refusals(metrics, "handshakes") + refusals(metrics, "handshake_ms");
    until("all are counted", || turned_away() == 12.0);
    assert!(refusals(metrics, "handshake_ms") >= 3.0);
}

#[test]
fn who_leaves_for_another_is_counted_and_logged() {
    let (daemon, metrics) = start(&["--strangers", "4"]);
    let pushed: Vec<TcpStream> = (0..10).map(|_| daemon.socket()).collect();
    counted(metrics, &[("handshakes", 6.0), ("connections_per_address", 0.0)]);
    let line = daemon.logged("another peer came before this one had shaken hands");
    assert!(line.contains("WARN") && line.contains("reason=\"handshakes\""), "{line}");
    assert!(line.contains(&format!("peer={}", pushed[0].local_addr().unwrap())), "{line}");
    for socket in &pushed[..6] {
        assert_eq!(rest(socket), b"");
    }
    // The ports of WebSocket have places of their own.
    ask(&daemon.trusting()[1]).unwrap();
    counted(metrics, &[("handshakes", 6.0)]);

    let (daemon, metrics) = start(&["--per-address", "3"]);
    let _pushed: Vec<TcpStream> = (0..5).map(|_| daemon.socket()).collect();
    counted(metrics, &[("connections_per_address", 2.0), ("handshakes", 0.0)]);
}

#[test]
fn a_handshake_of_too_many_bytes_ends() {
    let (daemon, metrics) = start(&[]);
    let mut socket = daemon.socket();
    // One message of the greatest length, in records of the greatest length.
    let message = [&b"\x01\x00\xff\xff"[..], &[0; 0xffff]].concat();
    let records = message.chunks(1 << 14).flat_map(|piece| {
        let [high, low] = (piece.len() as u16).to_be_bytes();
        [&[22, 3, 1, high, low], piece].concat()
    });
    let _closed_before_all_is_written = socket.write_all(&records.collect::<Vec<u8>>());
    rest(socket);
    // It is too long for TLS as well, which may notice first.
    let turned_away = || refusals(metrics, "handshake_bytes") + refusals(metrics, "handshake_malformed");
    until("it is counted", || turned_away() == 1.0);
    let line = daemon.logged("refused: a handshake that");
    assert!(line.contains("reason=\"handshake_"), "{line}");
}

/// What a relay is asked to wait for before it passes on the client's first bytes, and those behind the
/// server's answer.
struct Gates {
    begin: Receiver<()>,
    end: Receiver<()>,
}

/// Passes on what one client and a server say to each other; says when the server has answered.
fn relay(listener: &TcpListener, server: SocketAddr, gates: &Gates, answered: Sender<()>) {
    let mut upstream = TcpStream::connect(server).unwrap();
    let (mut client, _) = listener.accept().unwrap();
    let (mut down_from, mut down_to) = (upstream.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = down_from.read(&mut buffer) {
            let _already_known = answered.send(());
            if down_to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _gone = down_to.shutdown(Shutdown::Write);
    });
    let mut buffer = vec![0; 1 << 16];
    for gate in [Some(&gates.begin), Some(&gates.end)].into_iter().chain(std::iter::repeat(None)) {
        let Ok(count @ 1..) = client.read(&mut buffer) else { break };
        gate.into_iter().for_each(|gate| gate.recv().unwrap());
        if upstream.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _gone = upstream.shutdown(Shutdown::Write);
}

#[test]
fn a_handshake_that_gets_on_stays_where_silent_ones_leave() {
    let (daemon, metrics) = start(&["--strangers", "4"]);
    let open_files = || fs::read_dir(format!("/proc/{}/fd", daemon.process.id())).unwrap().count();
    let at_rest = open_files();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let [tls, _] = daemon.trusting();
    let through = tls.replace(&daemon.tcp.to_string(), &listener.local_addr().unwrap().to_string());
    let ((begin, begins), (end, ends), (answers, answered)) = (channel(), channel(), channel());
    let gates = Gates { begin: begins, end: ends };
    thread::scope(|scope| {
        let server = daemon.tcp;
        scope.spawn(move || relay(&listener, server, &gates, answers));
        let client = scope.spawn(|| ask(&through));
        until("the first peer is there", || open_files() == at_rest + 1);
        // Three that say nothing come later, but do not get on, which the first one does behind them.
        let _silent: Vec<TcpStream> = (0..3).map(|_| daemon.socket()).collect();
        until("all places are taken", || open_files() == at_rest + 4);
        begin.send(()).unwrap();
        answered.recv().unwrap();
        let _newest = daemon.socket();
        counted(metrics, &[("handshakes", 1.0)]);
        end.send(()).unwrap();
        client.join().unwrap().expect("the oldest has got on, and stays");
    });
}

#[test]
fn the_limits_of_handshakes_are_announced_where_tls_is_served() {
    let (daemon, _) = start(&["--strangers", "9", "--hello-within", "3"]);
    let wanted =
        |limits: &Value| ["handshakes", "handshake_ms", "handshake_bytes"].map(|it| limits[it].clone());
    for address in daemon.trusting() {
        let mut client = ask(&address).unwrap();
        let limits = answer(&mut client, &json!({ "id": "d", "cmd": "describe", "what": "limits" }));
        assert_eq!(wanted(&limits["body"]), [9, 3000, 65536].map(Value::from), "{limits}");
    }
    let plain =
        process::output_of(process::plyd(["serve"]), br#"{"id":"d","cmd":"describe","what":"limits"}"#);
    let answer: Value = serde_json::from_slice(&plain.stdout).unwrap();
    assert_eq!(wanted(&answer["body"]), [Value::Null, Value::Null, Value::Null], "{answer}");
}
