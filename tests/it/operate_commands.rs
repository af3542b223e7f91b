//! `plyd status`, `plyd close`, `plyd disconnect` and `plyd top`: what they show of a daemon, and what they
//! end.

use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};

use crate::common::{Folder, Peer, Server, open, process};
use crate::identity::{Clients, endless_go, search};
use crate::operate::{called, number};
use crate::terminal::{GIVEN_BACK, Terminal};
use rustix::process::Signal;
use serde_json::{Value, json};

fn at(server: &Server) -> String {
    format!("tcp={}", server.address())
}

fn plyd(arguments: &[&str]) -> Output {
    process::output(process::plyd(arguments))
}

/// What a command that succeeds writes.
fn said(arguments: &[&str]) -> String {
    let output = plyd(arguments);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaint.is_empty(), "{arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

/// What a command says that fails.
fn complaint(arguments: &[&str]) -> String {
    let output = plyd(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty() && said.starts_with("error: "), "{arguments:?}: {said}");
    said
}

/// A connection with a session in which a search runs.
fn searcher(server: &Server, name: &str) -> Peer {
    let mut peer = called(server, name);
    open(&mut peer, "table-4");
    search(&mut peer, &endless_go("g9", json!({ "session": "table-4" })));
    peer
}

#[test]
fn status_shows_connections_searches_and_sessions() {
    let server = Server::tcp(&["--threads", "2"]);
    let peer = searcher(&server, "\x1b]0;evil\x07referee");
    let at = at(&server);
    let text = said(&["status", &at]);
    for word in
        ["plyd ", " 2 connections, ", " 1 session, ", " 1 search, ", "of 2 threads busy", "nodes in 1 search"]
    {
        assert!(text.contains(word), "no `{word}` in\n{text}");
    }
    // A line of each table.
    for words in [
        &["operate", "tcp 127.0.0.1:", "open", "referee\""][..],
        &["g9", "table-4", "isolation", "move", "searching"],
        &["table-4", "isolation", "referee\""],
        &["operate", "\"plyd status\""],
    ] {
        let found = text.lines().find(|line| words.iter().all(|word| line.contains(word)));
        assert!(found.is_some(), "no line of {words:?} in\n{text}");
    }
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");

    let json: Value = serde_json::from_str(&said(&["status", &at, "--json"])).unwrap();
    let names: Vec<&Value> = json["connections"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names[1], "plyd status");
    assert_eq!(json["connections"][0]["searches"][0]["id"], "g9");
    assert_eq!(
        (&json["server"]["name"], &json["limits"]["threads"], &json["status"]["searches"]),
        (&json!("plyd"), &json!(2), &json!(1))
    );
    drop(peer);
}

#[test]
fn status_goes_on_when_it_is_to_watch() {
    let server = Server::tcp(&[]);
    let at = at(&server);
    let mut launch = process::plyd(["status", &at, "--watch=100ms", "--json", "--timeout", "1s"]);
    launch.command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = process::spawn(launch);
    let mut lines = BufReader::new(process.take_stdout().unwrap()).lines();
    let mut complaints = BufReader::new(process.take_stderr().unwrap()).lines();
    for _ in 0..3 {
        let view: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(view["connections"].as_array().unwrap().len(), 1, "{view}");
    }
    // What is no more there is said, and asked again.
    drop(server);
    for _ in 0..2 {
        let complaint = complaints.next().unwrap().unwrap();
        assert!(complaint.starts_with("error: "), "{complaint}");
    }
    assert!(process::runs(&mut process));
    process::signal(&process, Signal::TERM);
    process::exit(&mut process);
}

#[test]
fn sessions_and_connections_are_ended_by_commands() {
    let server = Server::tcp(&["--threads", "2"]);
    let mut peer = searcher(&server, "peer");
    let mut watcher = called(&server, "watcher");
    let (at, connection) = (at(&server), number(&mut watcher, "peer").to_string());
    let closed = said(&["close", &at, &connection, "table-4"]);
    assert_eq!(closed, format!("closed the session table-4 of connection {connection}\n"));
    assert_eq!(peer.last("g9")["reason"], "closed");
    assert!(complaint(&["close", &at, &connection, "table-4"]).contains("no session of that name"));
    assert_eq!(said(&["disconnect", &at, &connection]), format!("ended connection {connection}\n"));
    assert_eq!(peer.closed().last().unwrap()["code"], "disconnected");
    assert!(complaint(&["disconnect", &at, &connection]).contains("no connection of that number"));
    assert!(complaint(&["disconnect", &at, "--client", "peer"]).contains("no connection of a client"));
    // One that is not there keeps nobody from those behind it.
    let mut others = ["second", "third"].map(|name| called(&server, name));
    let [second, third] = ["second", "third"].map(|name| number(&mut watcher, name).to_string());
    let output = plyd(&["disconnect", &at, &second, "4711", &third]);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(output.stdout), format!("ended connection {second}\nended connection {third}\n"));
    let said = text(output.stderr);
    assert!(said.starts_with("error: connection 4711: no connection") && said.lines().count() == 1, "{said}");
    for other in &mut others {
        assert_eq!(other.closed().last().unwrap()["code"], "disconnected");
    }
    watcher.ping();
    for arguments in [
        &["disconnect", &at][..],
        &["disconnect", &at, "0"],
        &["disconnect", &at, "peer"],
        &["disconnect", &at, "1", "--client", "peer"],
        &["close", &at, "1"],
        &["status", "localhost"],
        &["status", &at, "--watch", "1s"],
    ] {
        assert_eq!(plyd(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn who_may_not_operate_is_advised() {
    let clients = Clients::new("operate-commands");
    let folder = Folder::new("operate-commands");
    let file = |name: &str, rights: &[&str]| folder.file(name, clients.add(name, rights));
    let (alice, ops) = (file("alice", &[]), file("ops", &["--role", "operate"]));
    let wrong = folder.file("wrong", "open sesame");
    let server = clients.serve(&[]);
    let at = at(&server);
    assert!(complaint(&["status", &at]).contains("give --token-file"));
    let advice = complaint(&["status", &at, "--token-file", &alice]);
    assert!(advice.contains("`operate`") && advice.contains("--token-file"), "{advice}");
    assert!(complaint(&["disconnect", &at, "1", "--token-file", &alice]).contains("`operate`"));
    assert!(complaint(&["close", &at, "1", "s", "--token-file", &alice]).contains("`operate`"));
    assert!(complaint(&["status", &at, "--token-file", &wrong]).contains("token"));
    let text = said(&["status", &at, "--token-file", &ops]);
    assert!(text.lines().any(|line| line.contains(" ops ") && line.contains(" operate ")), "{text}");
    assert_eq!(said(&["disconnect", &at, "--client", "ops", "--token-file", &ops]).lines().count(), 1);
}

#[test]
fn a_daemon_that_is_not_there_or_hangs_is_waited_for_no_longer_than_asked() {
    let server = Server::tcp(&[]);
    let at = at(&server);
    server.signal(Signal::STOP);
    assert!(complaint(&["status", &at, "--timeout", "200ms"]).contains("no answer within 200ms"));
    server.signal(Signal::CONT);
    drop(server);
    assert!(complaint(&["status", &at]).contains("cannot connect"));
    assert_eq!(plyd(&["top", &at]).status.code(), Some(2), "no terminal");
}

#[test]
fn a_question_does_not_outlive_the_daemon_that_it_is_about() {
    let folder = Folder::new("operate-restart");
    let socket = folder.path.join("socket");
    let socket = socket.to_str().unwrap();
    let serve = || Server::both(&["--unix", socket]);
    let (server, stdio) = serve();
    let mut terminal = Terminal::start(&["top", &format!("unix={socket}"), "--every", "100ms"], 30, 160);
    terminal.shows("stdio");
    terminal.send("\x1b[H");
    terminal.shows("q leave");
    terminal.send("d");
    terminal.shows("end connection 1? y/n");
    drop((server, stdio));
    let (_server, mut stdio) = serve();
    terminal.shows("broke: nothing was ended");
    // Whoever has that number now stays.
    terminal.send("y\x1b[B");
    terminal.shows("q leave");
    // What comes later in the window was asked for later than anything that the key led to.
    for errors in ["1 error, ", "2 errors, "] {
        stdio.ask(&json!({ "id": "e", "cmd": "no such" }));
        terminal.shows(errors);
    }
    let status = stdio.result(&json!({ "id": "t", "cmd": "status" }));
    assert_eq!(status["counters"]["connections_dropped"], 0, "{status}");
    terminal.send("q");
    assert!(terminal.end().success());
}

#[test]
fn the_full_screen_shows_what_happens_and_ends_what_is_chosen() {
    let server = Server::tcp(&["--threads", "2"]);
    let mut peer = searcher(&server, "referee");
    let at = at(&server);
    let mut terminal = Terminal::start(&["top", &at, "--every", "100ms"], 30, 160);
    terminal.shows("2 connections, 1 session, 1 search");
    terminal.shows("\"referee\"");
    terminal.shows("g9");
    terminal.shows("nodes/s");
    // What comes later is seen without a key.
    let late = called(&server, "late");
    terminal.shows("\"late\"");
    drop(late);
    terminal.shows("2 connections, ");
    // Nothing is ended before a line is chosen, nor without a yes.
    terminal.send("d");
    terminal.shows("choose a line first");
    terminal.send("\x1b[B");
    terminal.shows("q leave");
    terminal.send("c");
    terminal.shows("this line is about no session");
    terminal.send("d");
    terminal.shows("end connection 1? y/n");
    terminal.send("n");
    terminal.shows("nothing was ended");
    // The last line is the session.
    terminal.send("\x1b[F");
    terminal.shows("q leave");
    terminal.send("c");
    terminal.shows("close the session table-4 of connection 1? y/n");
    terminal.send("y");
    terminal.shows("the session is closed");
    assert_eq!(peer.last("g9")["reason"], "closed");
    terminal.shows("0 sessions, 0 searches");
    terminal.send("\x1b[H");
    terminal.shows("q leave");
    terminal.send("d");
    terminal.shows("end connection 1? y/n");
    terminal.send("y");
    terminal.shows("ended connection 1");
    assert_eq!(peer.closed().last().unwrap()["code"], "disconnected");
    terminal.shows("1 connection, ");
    // A window of another size, and one that is too small for all.
    terminal.resize(5, 40);
    terminal.shows("plyd ");
    drop(server);
    terminal.send("\x1b[B");
    terminal.shows("cannot connect");
    terminal.send("q");
    assert!(terminal.end().success());
    assert!(terminal.is_as_before() && terminal.transcript.contains(GIVEN_BACK));
}
