//! `plyd mcp` as a host starts it: the real binary, lines of JSON-RPC. That agents can play is shown by the
//! tests of `plyd-mcp`.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};

use crate::common::{TIMEOUT, process};

/// What a host says first.
fn greeting() -> [Value; 2] {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    ]
}

#[test]
fn a_host_starts_it_asks_and_ends_it() {
    let mut launch = process::plyd(["mcp"]);
    launch.command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut plyd = process::spawn(launch);
    let mut input = plyd.take_stdin().unwrap();
    let mut output = BufReader::new(plyd.take_stdout().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&output.next().unwrap().unwrap()).unwrap();
    let [initialize, initialized] = greeting();
    writeln!(input, "{initialize}").unwrap();
    assert_eq!(next()["result"]["serverInfo"]["name"], "plyd");
    let arguments = json!({ "game": "isolation", "moves": ["d4", "b3"] });
    let call = json!({ "name": "new_game", "arguments": arguments });
    writeln!(input, "{initialized}").unwrap();
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }))
        .unwrap();
    let begun = next()["result"]["structuredContent"].take();
    assert_eq!(begun["ply"], 2, "{begun}");
    let call = json!({ "name": "draw_board", "arguments": { "game_id": begun["game_id"], "as": "text" } });
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }))
        .unwrap();
    let drawn = next()["result"]["content"][0]["text"].take();
    assert!(drawn.as_str().unwrap().lines().count() > 7, "{drawn}");
    drop(input);
    assert!(plyd.wait_exit(Instant::now() + TIMEOUT).unwrap().unwrap().success());
    assert!(output.next().is_none(), "the output holds the protocol alone");
}

#[test]
fn other_machines_need_a_token() {
    let output = process::output(process::plyd(["mcp", "--http", "0.0.0.0:0"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--token-file"), "{output:?}");
    let output = process::output(process::plyd(["mcp", "--token-file", "token.txt"]));
    assert_eq!(output.status.code(), Some(2), "there is nobody to show a token on the standard streams");
}
