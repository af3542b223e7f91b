//! `plyd health`: what it says of a daemon that serves, of one that does not, and of what is no daemon.

// The functions beside the tests are called by them alone.
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Output, Stdio};
use std::thread;

use crate::common::manager::Manager;
use crate::common::{Folder, Logged, Server, endless, go, process};
use rustix::process::Signal;
use serde_json::json;

fn health(arguments: &[&str]) -> Output {
    process::output(process::plyd(["health"].iter().chain(arguments)))
}

fn assert_well(arguments: &[&str]) {
    let output = health(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{arguments:?}: {said}");
    assert_eq!(output.stdout, b"ok\n");
}

/// What it says of one that does not answer as it should.
fn complaint(arguments: &[&str]) -> String {
    let output = health(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty() && said.starts_with("error: "), "{arguments:?}: {said}");
    assert!(said.len() < 400 && !said.contains(['\0', '\x1b']), "{arguments:?}: {said}");
    said
}

#[test]
fn a_daemon_that_serves_is_well_over_each_transport() {
    let folder = Folder::new("health");
    let manager = Manager::new(&folder);
    let socket = folder.path.join("socket");
    let mut launch = process::plyd(["serve", "--unix", socket.to_str().unwrap()]);
    launch.command.env("NOTIFY_SOCKET", &manager.address).stdout(Stdio::null()).stderr(Stdio::null());
    let mut daemon = process::spawn(launch);
    manager.until("READY=1");
    let unix = format!("unix={}", socket.display());
    assert_well(&[&unix]);
    process::signal(&daemon, Signal::TERM);
    process::exit(&mut daemon);
    assert!(complaint(&[&unix]).contains("cannot connect"));
    let tcp = Server::tcp(&[]);
    assert_well(&[&format!("tcp={}", tcp.address())]);
    let ws = Server::websocket(&[]);
    assert_well(&[&format!("ws={}", ws.address())]);
    assert_well(&[&format!("ws://{}/ws", ws.address())]);
}

#[test]
fn a_token_is_shown_if_there_is_one() {
    let folder = Folder::new("health-token");
    let (right, wrong) = (folder.file("right", "open sesame\n"), folder.file("wrong", "open barley\n"));
    let server = Server::tcp(&["--token-file", &right]);
    let at = format!("tcp={}", server.address());
    assert_well(&[&at, "--token-file", &right]);
    // It answers, and lets nobody in.
    assert_well(&[&at]);
    let said = complaint(&[&at, "--token-file", &wrong]);
    assert!(said.contains("token") && !said.contains("barley"), "{said}");
}

#[test]
fn who_asks_without_a_token_leaves_no_warning() {
    let folder = Folder::new("health-quiet");
    let token = folder.file("token", "open sesame\n");
    let daemon = Logged::start(&["--tcp", "127.0.0.1:0", "--token-file", &token], &[], 1);
    assert_well(&[&format!("tcp={}", daemon.addresses[0])]);
    let lines = daemon.end();
    assert!(lines.iter().all(|line| !line.contains("auth_required")), "{lines:?}");
}

#[cfg(feature = "service")]
#[test]
fn of_a_daemon_with_tls_it_says_what_to_ask_instead() {
    let daemon = crate::tls::Daemon::start(&crate::tls::certificate("server"));
    for (asked, instead) in [
        (format!("tcp={}", daemon.tcp), "tls="),
        (format!("ws={}", daemon.ws), "wss="),
        (format!("http://{}/readyz", daemon.tcp), "tls="),
    ] {
        let said = complaint(&[&asked]);
        assert!(said.contains(&format!("If it serves TLS, ask {instead}")), "{asked}: {said}");
    }
    let status = process::output(process::plyd(["status", &format!("tcp={}", daemon.tcp)]));
    let said = String::from_utf8(status.stderr).unwrap();
    assert!(said.contains(&format!("If it serves TLS, ask tls={}", daemon.tcp)), "{said}");
}

#[test]
fn a_daemon_that_ends_or_is_full_or_hangs_is_not_well() {
    let mut server = Server::tcp(&["--connections", "1", "--drain-ms", "4000000000"]);
    let at = format!("tcp={}", server.address());
    let mut peer = server.greet(json!({}));
    assert!(complaint(&[&at]).contains("connections"));
    peer.send(&go("g", json!({ "clock": endless() })));
    peer.info("g", "started");
    server.signal(Signal::STOP);
    assert!(complaint(&[&at, "--timeout", "200ms"]).contains("no answer within 200ms"));
    server.signal(Signal::CONT);
    server.signal(Signal::TERM);
    peer.notice("going_away");
    // Whether no connection is made or an error comes: nobody serves.
    complaint(&[&at]);
    peer.result(&crate::common::stop("g"));
    assert!(server.exit().success());
}

/// A server that answers one connection with these bytes.
fn page(answer: &'static [u8]) -> (SocketAddr, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        let mut piece = [0; 1024];
        while !head.ends_with(b"\r\n\r\n") {
            let length = stream.read(&mut piece).unwrap();
            assert!(length > 0, "the request ends");
            head.extend_from_slice(&piece[..length]);
        }
        let _closed = stream.write_all(answer);
        String::from_utf8(head).unwrap()
    });
    (address, served)
}

#[test]
fn a_page_that_is_not_well_says_why() {
    let answer = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 22\r\n\r\nthe daemon shuts down\n";
    let (address, served) = page(answer);
    let said = complaint(&[&format!("http://{address}/readyz")]);
    served.join().unwrap();
    assert!(said.contains("`HTTP/1.1 503 Service Unavailable`: the daemon shuts down"), "{said}");
}

#[test]
fn a_page_is_well_if_it_answers_200() {
    for (answer, is_well) in [
        (&b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"[..], true),
        (b"HTTP/1.0 200\r\n\r\n", true),
        (b"HTTP/1.1 503 Service Unavailable\r\n\r\n", false),
        (b"HTTP/1.1 2000 OK\r\n\r\n", false),
        (b"200 OK\r\n\r\n", false),
        (b"SSH-2.0-OpenSSH_9.2\r\n\x1b[31m\0", false),
        (b"\xff\xfe\x00", false),
        (b"", false),
    ] {
        let (address, served) = page(answer);
        let at = format!("http://{address}/readyz");
        if is_well {
            assert_well(&[&at]);
        } else {
            complaint(&[&at]);
        }
        let head = served.join().unwrap();
        assert!(
            head.starts_with("GET /readyz HTTP/1.1\r\n") && head.contains(&format!("Host: {address}\r\n"))
        );
    }
    assert_eq!(health(&["http://localhost/readyz"]).status.code(), Some(2));
    assert_eq!(health(&["localhost:7117"]).status.code(), Some(2));
}
