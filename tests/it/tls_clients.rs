//! Our own clients over TLS, against the real binary: each command that calls a server, and a page in a
//! browser.

// The functions beside the tests are called by them alone.
use std::time::Instant;

use crate::common::{Folder, TIMEOUT, process};
use crate::terminal::Terminal;
use crate::tls::{Daemon, answer, ask, certificate, counted};
use plyd::client::Address;
use rustix::process::Signal;
use serde_json::{Value, json};

/// What a command prints that gets these lines; it must succeed.
fn printed(arguments: &[&str], lines: &str) -> String {
    let output = process::output_of(process::plyd(arguments), lines);
    let (text, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {text}{said}");
    text
}

#[test]
fn every_command_that_calls_a_server_does_so_over_tls() {
    let folder = Folder::new("tls-commands");
    let recorded = folder.path.join("recorded.jsonl").to_str().unwrap().to_owned();
    let flags = [&certificate("server")[..], &["--threads".to_owned(), "2".to_owned()]].concat();
    let mut recording = Daemon::start(&[&flags[..], &["--transcript".to_owned(), recorded.clone()]].concat());
    let go = json!({ "id": "last", "cmd": "go", "game": "isolation", "position": {}, "limit": { "nodes": 20_000 } });
    let mut client = ask(&recording.trusting()[0]).unwrap();
    assert_eq!(answer(&mut client, &go)["type"], "bestmove");
    recording.signal(Signal::TERM);
    assert!(process::exit(&mut recording.process).success());

    let daemon = Daemon::start(&flags);
    let [tls, wss] = daemon.trusting();
    // As it is written in settings, and as a URL.
    for (way, address) in [
        ("tls", tls.replace("tls=", "tls://")),
        ("tls", tls),
        ("wss", wss.replace("wss=", "wss://")),
        ("wss", wss),
    ] {
        let at = address.as_str();
        assert_eq!(printed(&["health", at], ""), "ok\n");

        let mut client = ask(at).unwrap();
        let new = json!({ "id": "n", "cmd": "newgame", "session": "table", "game": "l-game" });
        assert_eq!(answer(&mut client, &new)["type"], "result");
        let status: Value = serde_json::from_str(&printed(&["status", at, "--json"], "")).unwrap();
        let ours = status["connections"].as_array().unwrap();
        let ours =
            ours.iter().find(|one| one["sessions"].as_array().is_some_and(|all| !all.is_empty())).unwrap();
        assert_eq!(ours["transport"], way, "{ours}");
        let number = ours["connection"].to_string();
        let closed = printed(&["close", at, &number, "table"], "");
        assert_eq!(closed, format!("closed the session table of connection {number}\n"));
        assert_eq!(printed(&["disconnect", at, &number], ""), format!("ended connection {number}\n"));

        let played = printed(&["play", "l-game", "--connect", at, "--seed", "1"], "hint\nquit\n");
        assert!(played.contains("hint: "), "{played}");
        let players = ["--player", "random", "--player", &format!("{at},player=random")];
        let options = ["arena", "isolation", "--rules", "width=5,height=5", "--games", "2"];
        let report = printed(&[&options[..], &players].concat(), "");
        assert!(report.contains("games: 2;"), "{report}");
        let compared = printed(&["replay", &recorded, "--connect", at], "");
        assert_eq!(compared, "3 lines sent, 3 finals compared, 0 differences\n");
    }
}

#[test]
fn the_full_screen_shows_a_daemon_over_tls_and_ends_what_is_chosen() {
    let daemon = Daemon::start(&certificate("server"));
    for (address, (way, number)) in daemon.trusting().iter().zip([("tls", 1), ("wss", 3)]) {
        let mut client = ask(address).unwrap();
        let mut terminal = Terminal::start(&["top", address, "--every", "100ms"], 30, 160);
        terminal.shows("2 connections, ");
        terminal.shows(&format!("{way} 127.0.0.1"));
        terminal.send("\x1b[H");
        terminal.shows("q leave");
        terminal.send("d");
        terminal.shows(&format!("end connection {number}? y/n"));
        terminal.send("y");
        terminal.shows(&format!("ended connection {number}"));
        assert!(client.next(Instant::now() + TIMEOUT).is_ok(), "the farewell");
        terminal.send("q");
        assert!(terminal.end().success());
    }
}

/// What a page in a browser sends, whatever it is that carries it: an origin of its own.
#[test]
fn a_foreign_page_is_refused_over_tls() {
    let flags = ["--metrics", "127.0.0.1:0", "--ws-origin", "https://play.example"].map(str::to_owned);
    let daemon = Daemon::start(&[&certificate("server")[..], &flags].concat());
    let page = daemon.log.metrics();
    // HTTP consists of lines, too: the client that finds them over TLS asks the port of WebSocket.
    let [at, _] = daemon.trusting();
    let at = Address::read(&at.replace(&daemon.tcp.to_string(), &daemon.ws.to_string())).unwrap();
    for (origin, status, refused) in [
        ("https://evil.example", "HTTP/1.1 403 Forbidden", 1.0),
        ("http://play.example", "HTTP/1.1 403 Forbidden", 2.0),
        ("null", "HTTP/1.1 403 Forbidden", 3.0),
        ("https://play.example", "HTTP/1.1 101 Switching Protocols", 3.0),
    ] {
        let mut lines = at.lines().unwrap();
        let origin_line = format!("Origin: {origin}\r");
        for line in [
            "GET /ws HTTP/1.1\r",
            "Host: localhost\r",
            &origin_line,
            "Connection: Upgrade\r",
            "Upgrade: websocket\r",
            "Sec-WebSocket-Version: 13\r",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r",
            "\r",
        ] {
            lines.send(line.as_bytes()).unwrap();
        }
        let first = lines.next(Instant::now() + TIMEOUT).unwrap().bytes;
        assert_eq!(String::from_utf8_lossy(&first).trim_end(), status, "{origin}");
        counted(page, &[("origin", refused)]);
    }
    let line = daemon.logged("page refused");
    assert!(line.contains("https://evil.example"), "{line}");
}
