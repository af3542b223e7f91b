//! `plyd arena --watch`: whoever watches sees the match to its report, and changes nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Stdio;

use crate::common::{TIMEOUT, process};
use crate::matches::{FAST, GREEDY, command, report};
use serde_json::{Value, json};

const MATCH: [&str; 11] = [
    "isolation",
    "--rules",
    "width=5,height=5",
    "--player",
    FAST,
    "--player",
    GREEDY,
    "--games",
    "20",
    "--seed",
    "5eed",
];

fn ask(address: SocketAddr, path: &str) -> BufReader<TcpStream> {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    write!(socket, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    BufReader::new(socket)
}

/// What a report says but for times.
fn without_times(mut report: Value) -> Value {
    for player in report["summary"]["players"].as_array_mut().unwrap() {
        (player["time_us"], player["max_us"]) = (Value::Null, Value::Null);
    }
    report
}

#[test]
fn whoever_watches_sees_all_and_changes_no_result() {
    let alone = report(&MATCH);
    let arguments = [&MATCH[..], &["--json", "--watch=0"]].concat();
    let mut launch = command(Path::new(env!("CARGO_TARGET_TMPDIR")), &arguments);
    launch.command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut match_process = process::spawn(launch);
    let mut notices = BufReader::new(match_process.take_stderr().unwrap());
    let mut line = String::new();
    notices.read_line(&mut line).unwrap();
    let address = line.strip_prefix("watch at http://").and_then(|rest| rest.strip_suffix("/\n"));
    let address: SocketAddr = address.unwrap_or_else(|| panic!("no address: {line}")).parse().unwrap();
    assert!(address.ip().is_loopback(), "{address}");

    // One reads nothing, one is gone at once, one follows to the end.
    let stuck = ask(address, "/events");
    drop(ask(address, "/events"));
    let (mut name, mut events) = (String::new(), Vec::new());
    for line in ask(address, "/events").lines() {
        let line = line.unwrap();
        if let Some(event) = line.strip_prefix("event: ") {
            event.clone_into(&mut name);
        } else if let Some(data) = line.strip_prefix("data: ") {
            events.push((name.clone(), serde_json::from_str::<Value>(data).unwrap()));
        }
    }
    let mut page = String::new();
    ask(address, "/report").read_to_string(&mut page).unwrap();
    drop(stuck);

    let of = |kind: &str| -> Vec<&Value> {
        events.iter().filter(|(name, _)| name == kind).map(|(_, data)| data).collect()
    };
    assert_eq!(of("match"), [&json!({ "game": "isolation", "players": [FAST, GREEDY] })]);
    let table = of("table")[0];
    assert!(table["board"]["grid"].is_object() && table["players"].is_array(), "{table}");
    let numbers: Vec<u64> = of("result").iter().map(|result| result["game"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=20).collect::<Vec<_>>(), "each result once, in their order");
    let score = of("score").pop().unwrap();
    let result = &alone["summary"]["meetings"][0];
    assert_eq!(score["results"], json!([result["wins"], result["draws"], result["losses"]]));
    assert_eq!(events.last().unwrap().0, "over");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("\"scheduled\":20"), "the report");

    let output = process::outcome(match_process);
    assert!(output.status.success());
    let watched: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(without_times(watched), without_times(alone));
}

#[test]
fn what_is_played_elsewhere_or_not_at_all_is_not_watched() {
    for arguments in [&["--merge", "part.jsonl", "--watch"][..], &["--preset", "l-game", "--watch"]] {
        let output = crate::matches::arena(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("cannot be used with"), "{message}");
    }
}
