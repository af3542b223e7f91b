//! How connections and the process end: end of input, `quit`, signals, and what becomes of searches.

// The functions beside the tests are called by them alone.
use std::time::Instant;

use crate::common::{Peer, Server, process};
use plyd_protocol::signals;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Searches by what ends them, and how `finish` ends each; those that end by themselves do so soon, though
/// not before a busy machine can give each what it needs, or in years.
fn searches(soon: bool) -> Vec<(&'static str, Value, &'static str)> {
    let clock = json!({ "kind": "per_move", "ms": if soon { 1000 } else { 1_000_000_000_000_i64 } });
    let nodes = json!({ "nodes": if soon { 20_000 } else { 1_000_000_000_000_000_i64 } });
    vec![
        ("clock", json!({ "clock": clock }), "clock"),
        ("nodes", json!({ "limit": nodes }), "limit"),
        ("limited", json!({ "mode": "analyse", "limit": nodes }), "limit"),
        ("endless", json!({ "clock": { "kind": "none" } }), "stopped"),
        ("anytime", json!({ "clock": { "kind": "anytime" } }), "stopped"),
        ("analyse", json!({ "mode": "analyse" }), "stopped"),
        ("ponder", json!({ "mode": "ponder", "session": "s" }), "stopped"),
        ("busy", json!({ "session": "q", "clock": clock }), "clock"),
        ("queued", json!({ "session": "q", "queue": true, "limit": nodes }), "limit"),
        ("waits", json!({ "session": "q", "queue": true, "clock": { "kind": "none" } }), "stopped"),
    ]
}

/// Starts all searches; nothing is waited for, so that some have not begun when the next line comes.
fn start_all(peer: &mut Peer, on_eof: &str) {
    let rules = json!({ "preset": "11x9" });
    for session in ["s", "q"] {
        peer.result(
            &json!({ "id": "n", "cmd": "newgame", "session": session, "game": "isolation", "rules": rules }),
        );
    }
    for (id, fields, _) in searches(on_eof == "finish") {
        let mut request = json!({ "id": id, "cmd": "go", "position": {} });
        if fields.get("session").is_none() {
            request["game"] = json!("isolation");
            request["rules"] = rules.clone();
        }
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        peer.send(&request);
    }
}

/// Every search has its final message, and the connection is closed.
fn check_ends(peer: &mut Peer, on_eof: &str, row: &str) {
    peer.closed();
    assert_eq!(peer.open(), 0, "{row}: requests without a final message");
    for (id, _, finish) in searches(true) {
        let last = peer.last(id);
        match on_eof {
            "cancel" => assert_eq!(last["code"], "cancelled", "{row} {id}: {last}"),
            "stop" => assert_eq!(last["reason"], "stopped", "{row} {id}: {last}"),
            _ => assert_eq!(last["reason"], finish, "{row} {id}: {last}"),
        }
    }
}

#[test]
fn the_end_of_input_ends_searches_as_asked() {
    // So many threads that no analysis is refused.
    let server = Server::tcp(&["--threads", "16"]);
    for on_eof in ["finish", "stop", "cancel"] {
        let (mut process, mut stdio) = Server::stdio(&["--threads", "16"]);
        stdio.hello(json!({ "on_eof": on_eof }));
        let mut peers = [("stdio", stdio), ("TCP", server.greet(json!({ "on_eof": on_eof })))];
        for (_, peer) in &mut peers {
            start_all(peer, on_eof);
            peer.end_input();
        }
        for (way, peer) in &mut peers {
            check_ends(peer, on_eof, &format!("{way} {on_eof}"));
        }
        assert!(process.exit().success());
    }
    server.greet(json!({})).ping();
}

#[test]
fn without_hello_searches_finish() {
    let (mut process, mut peer) = Server::stdio(&["--threads", "16"]);
    start_all(&mut peer, "finish");
    peer.end_input();
    check_ends(&mut peer, "finish", "no hello");
    assert!(process.exit().success());
}

#[test]
fn an_idle_connection_just_ends() {
    let (mut process, mut peer) = Server::stdio(&[]);
    peer.end_input();
    assert!(peer.closed().is_empty());
    assert!(process.exit().success());
    let server = Server::tcp(&[]);
    for greets in [false, true] {
        let mut peer = if greets { server.greet(json!({})) } else { server.connect() };
        let answers = usize::from(greets);
        peer.end_input();
        assert_eq!(peer.closed().len(), answers);
    }
}

#[test]
fn the_end_of_stdio_leaves_other_listeners_alone() {
    let (mut server, mut stdio) = Server::both(&[]);
    let mut other = server.greet(json!({}));
    // A board that is not soon proven.
    let rules = json!({ "preset": "11x9" });
    stdio.send(
        &json!({ "id": "g", "cmd": "go", "game": "isolation", "rules": rules, "position": {}, "mode": "analyse" }),
    );
    stdio.end_input();
    assert_eq!(stdio.last("g")["reason"], "stopped");
    other.ping();
    server.greet(json!({})).ping();
    assert!(server.runs());
    server.signal(Signal::TERM);
    other.closed();
    assert!(server.exit().success());
}

#[test]
fn quit_is_the_last_message_of_its_connection() {
    let server = Server::tcp(&["--threads", "16"]);
    let mut bystander = server.greet(json!({}));
    for (mode, quit) in [
        ("finish", json!({ "id": "quit", "cmd": "quit" })),
        ("finish", json!({ "id": "quit", "cmd": "quit", "mode": "finish" })),
        ("stop", json!({ "id": "quit", "cmd": "quit", "mode": "stop" })),
    ] {
        let (mut process, stdio) = Server::stdio(&["--threads", "16"]);
        let mut peers = [stdio, server.greet(json!({}))];
        for peer in &mut peers {
            start_all(peer, mode);
            peer.send(&quit);
            // Not read any more, and not answered.
            peer.bytes(b"{\"id\":\"late\",\"cmd\":\"ping\"}\nnonsense\n");
        }
        for peer in &mut peers {
            check_ends(peer, mode, &quit.to_string());
            let last = peer.log.last().unwrap();
            assert_eq!((&last["type"], &last["of"]), (&json!("result"), &json!("quit")), "{last}");
            assert!(peer.log.iter().all(|message| message["type"] != "error"), "{quit}");
        }
        assert!(process.exit().success());
        bystander.ping();
    }
}

#[test]
fn a_signal_ends_every_search_with_a_move() {
    signals::let_children_heed_hangup().unwrap();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let (mut server, stdio) = Server::both(&["--threads", "16"]);
        let mut peers = [stdio, server.greet(json!({})), server.greet(json!({ "on_eof": "cancel" }))];
        let mut idle = server.greet(json!({}));
        for peer in &mut peers {
            for (id, fields) in [
                ("move", json!({ "clock": { "kind": "none" } })),
                ("clock", json!({ "clock": { "kind": "per_move", "ms": 600_000 } })),
                ("analyse", json!({ "mode": "analyse" })),
                ("ponder", json!({ "mode": "ponder" })),
            ] {
                let mut request = json!({ "id": id, "cmd": "go", "game": "isolation", "position": {},
                    "rules": { "preset": "11x9" }, "info": { "events": ["started"] } });
                request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
                peer.send(&request);
                peer.info(id, "started");
            }
        }
        server.signal(signal);
        for peer in &mut peers {
            peer.closed();
            peer.notice("going_away");
            assert_eq!(peer.open(), 0);
            for id in ["move", "clock", "analyse", "ponder"] {
                let best = peer.last(id);
                assert_eq!(
                    (&best["type"], &best["reason"]),
                    (&json!("bestmove"), &json!("shutdown")),
                    "{best}"
                );
            }
        }
        idle.closed();
        idle.notice("going_away");
        assert!(server.exit().success(), "{signal:?}");
    }
}

/// Fills a connection that is never read until its answers wait in the process, then sends the signal once or
/// twice; how long the process takes to end.
fn end_while_unread(signals: usize) -> std::time::Duration {
    use std::io::Write;
    let mut server = Server::tcp(&[]);
    let mut watcher = server.greet(json!({}));
    let mut socket = server.socket();
    socket.write_all(b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n").unwrap();
    let ping = format!("{{\"id\":\"p\",\"cmd\":\"ping\",\"echo\":\"{}\"}}\n", "e".repeat(1000));
    // More than the sockets hold, less than the daemon lets wait.
    for _ in 0..6500 {
        socket.write_all(ping.as_bytes()).unwrap();
    }
    let status = json!({ "id": "t", "cmd": "status" });
    while watcher.result(&status)["counters"]["lines"].as_u64() < Some(6500) {}
    server.signal(Signal::TERM);
    watcher.notice("going_away");
    let since = Instant::now();
    if signals > 1 {
        server.signal(Signal::TERM);
    }
    server.exit();
    since.elapsed()
}

/// A file that takes little: a pipe whose other end is open and never read.
struct Clogged {
    path: std::path::PathBuf,
    _end: std::fs::File,
}

impl Clogged {
    fn new(name: &str) -> Self {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let path = std::env::temp_dir().join(format!("plyd-{name}-{}", std::process::id()));
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let end = std::fs::File::options().read(true).write(true).open(&path).unwrap();
        Self { path, _end: end }
    }
}

impl Drop for Clogged {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.path);
    }
}

#[test]
fn a_second_signal_does_not_wait_for_the_transcript() {
    let pipe = Clogged::new("second");
    let mut server = Server::tcp(&["--transcript", pipe.path.to_str().unwrap()]);
    let mut peer = server.greet(json!({}));
    for _ in 0..200 {
        peer.result(&json!({ "id": "p", "cmd": "ping", "echo": "e".repeat(1000) }));
    }
    server.signal(Signal::TERM);
    peer.closed();
    server.signal(Signal::TERM);
    assert!(server.exit().success());
}

#[test]
fn a_transcript_that_takes_nothing_costs_its_lines_alone() {
    let lost = |peer: &mut Peer| {
        let status = peer.result(&json!({ "id": "t", "cmd": "status" }));
        status["counters"]["transcript_lost"].as_u64().unwrap_or_else(|| panic!("no count in {status}"))
    };
    let pipe = Clogged::new("hung");
    let mut server = Server::tcp(&["--transcript", pipe.path.to_str().unwrap()]);
    let mut peer = server.greet(json!({}));
    peer.ping();
    assert_eq!(lost(&mut peer), 0);
    // At most 64 MiB wait for the file.
    let line = vec![b'x'; 1 << 20];
    for _ in 0..70 {
        peer.line(&line);
        assert_eq!(peer.fault()["code"], "bad_json");
    }
    assert!(lost(&mut peer) >= 5, "lines beyond the bound are counted when they are dropped");
    server.signal(Signal::TERM);
    peer.closed();
    // The end waits for the file as long as it may last, and no longer.
    assert!(server.exit().success());
}

#[test]
fn a_second_signal_does_not_wait_for_the_flush() {
    let patient = end_while_unread(1);
    // A machine that is busy may take long to end a process, but not each time.
    let hasty = (0..8).map(|_| end_while_unread(2)).find(|hasty| *hasty * 4 < patient);
    assert!(hasty.is_some(), "a second signal takes as long as the flush, {patient:?}");
}

/// A set of signals of the process, as Linux reports it, has SIGHUP.
fn has_hangup(server: &Server, set: &str) -> bool {
    u64::from_str_radix(&server.status_line(set), 16).unwrap() & 1 == 1
}

#[test]
fn a_hangup_that_is_ignored_stays_so() {
    // As `nohup` starts it.
    let mut server = Server::under("trap '' HUP");
    let mut peer = server.greet(json!({}));
    assert!(has_hangup(&server, "SigIgn:") && !has_hangup(&server, "SigCgt:"));
    for _ in 0..20 {
        server.signal(Signal::HUP);
        peer.ping();
    }
    server.greet(json!({})).ping();
    assert!(server.runs());
    server.signal(Signal::TERM);
    peer.closed();
    assert!(server.exit().success());
    signals::let_children_heed_hangup().unwrap();
    let other = Server::under(":");
    assert!(!has_hangup(&other, "SigIgn:") && has_hangup(&other, "SigCgt:"));
}

#[test]
fn a_late_hello_that_is_refused_leaves_no_request_without_its_final_message() {
    let (mut process, mut peer) = Server::stdio(&["--threads", "4"]);
    let rules = json!({ "preset": "11x9" });
    for (id, fields) in [
        ("endless", json!({ "clock": { "kind": "none" }, "info": { "events": ["started"] } })),
        ("clock", json!({ "clock": { "kind": "per_move", "ms": 600_000 } })),
        ("analyse", json!({ "mode": "analyse", "queue": true })),
    ] {
        let mut request =
            json!({ "id": id, "cmd": "go", "game": "isolation", "rules": rules, "position": {} });
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        peer.send(&request);
    }
    peer.info("endless", "started");
    peer.send(&json!({ "id": "i", "cmd": "inspect", "game": "isolation", "position": {} }));
    peer.send(&json!({ "id": "h", "cmd": "hello", "protocol": { "min": 9, "max": 9 } }));
    peer.send(&json!({ "id": "late", "cmd": "ping" }));
    peer.closed();
    for id in ["endless", "clock", "analyse"] {
        let last = peer.last(id);
        assert_eq!(last["reason"], "stopped", "{last}");
    }
    assert_eq!(peer.last("i")["type"], "result");
    // The fatal error is the last message, and what stands behind it is not read.
    let fatal = peer.log.last().unwrap();
    assert_eq!((&fatal["code"], &fatal["fatal"]), (&json!("version_unsupported"), &json!(true)), "{fatal}");
    assert!(process.exit().success());
}

#[test]
fn a_transcript_keeps_what_earlier_runs_wrote() {
    let path = std::env::temp_dir().join(format!("plyd-runs-{}", std::process::id()));
    let _none_yet = std::fs::remove_file(&path);
    for run in ["first", "second"] {
        let (mut process, mut peer) = Server::stdio(&["--transcript", path.to_str().unwrap()]);
        peer.result(&json!({ "id": "p", "cmd": "ping", "echo": run }));
        peer.end_input();
        peer.closed();
        assert!(process.exit().success());
        // As if the run had been killed within a line.
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, b"{\"dir\":\"in\",\"t_us\":1,\"co").unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let replay = process::output(process::plyd(["replay", path.to_str().unwrap()]));
    std::fs::remove_file(&path).unwrap();
    assert!(text.contains("\"first\"") && text.contains("\"second\""), "{text}");
    let stdout = String::from_utf8_lossy(&replay.stdout);
    assert!(
        replay.status.success() && stdout.contains("2 lines sent, 2 finals compared, 0 differences"),
        "{stdout}"
    );
}
