//! What a worker does not play unless its operator allows it.

use std::fs;

use serde_json::json;

use super::{ACK_WAIT, nats, shown, worker};
use crate::common::nats::wait_until;
use crate::common::{Server, process};
use crate::matches::{GREEDY, command, directory};

#[test]
fn an_address_is_called_by_a_worker_that_may() {
    let (nats, directory, server) = (nats(), directory(), Server::tcp(&[]));
    let (url, player) = (nats.url(), format!("tcp={},player=greedy,time=1000s", server.address()));
    let the_match = ["isolation", "--rules", "width=5,height=5", "--player", GREEDY, "--player", &player];
    let more = ["--games", "2", "--nats", &url, "--ack-wait", ACK_WAIT, "--json"];
    let mut launch = command(&directory, &[&the_match[..], &more].concat());
    launch.command.stdout(std::process::Stdio::piped());
    let coordinator = process::spawn(launch);
    let careful = worker(&nats, "careful", &[]);
    wait_until("it says why it does not play", || {
        let faults = shown(&nats, "careful")["faults"].to_string();
        faults.contains("--allow-address")
    });
    let _free = worker(&nats, "free", &["--allow-address"]);
    let output = process::outcome(coordinator);
    assert!(output.status.success());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["summary"]["games"], 2);
    assert_eq!(shown(&nats, "careful")["games"], 0);
    assert_eq!(shown(&nats, "free")["games"], 2);
    drop(careful);
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn what_a_worker_does_not_have_or_may_not_use_it_gives_back() {
    let (nats, directory) = (nats(), directory());
    let the_match = ["isolation", "--rules", "width=5,height=5", "--player", GREEDY, "--games", "2"];
    let url = nats.url();
    let started = |player: &str| {
        let more = ["--player", player, "--nats", &url, "--ack-wait", ACK_WAIT];
        process::spawn(command(&directory, &[&the_match[..], &more].concat()))
    };
    // A worker rests the longer the more pairs it has given back: each case has one of its own.
    let says = |name: &str, words: &str| {
        let _worker = worker(&nats, name, &["--max-hash", "64", "--max-threads", "1"]);
        wait_until(words, || shown(&nats, name)["faults"].to_string().contains(words));
        assert_eq!(shown(&nats, name)["games"], 0);
    };
    for (name, player, words) in [
        ("less-memory", "default,nodes=100,hash_mb=65", "hash_mb=65 is more than the 64"),
        ("fewer-threads", "default,nodes=100,threads=2", "threads=2 is more than the 1"),
    ] {
        let coordinator = started(player);
        says(name, words);
        drop(coordinator);
    }
    // A match as a plyd would describe it that searches otherwise.
    let mut client = nats.client();
    let described = client.description();
    let job = client.api("STREAM.INFO.plyd_jobs", &json!({ "subjects_filter": "plyd.job.*.*" }));
    assert!(job["state"]["messages"].as_u64() > Some(0), "{job}");
    for (name, change, words) in [
        (
            "another-build",
            ("/match/players/0/build", json!("plyd 9, bench 1 2")),
            "is of `plyd 9, bench 1 2`",
        ),
        ("another-game", ("/match/game", json!("chess")), "no game `chess`"),
        ("another-version", ("/version", json!(99)), "version 99"),
        ("no-match", ("/match/rounds", json!(0)), "no match of 0 openings"),
        (
            "another-option",
            ("/match/players/0/options", json!({ "colour": "red" })),
            "there is no such option",
        ),
    ] {
        let mut changed = described.json();
        *changed.pointer_mut(change.0).unwrap() = change.1;
        let bytes = changed.to_string();
        let id = plyd_fleet::MatchId::of(bytes.as_bytes());
        client.store(&format!("plyd.match.{id}"), bytes.as_bytes());
        let job = json!({ "rules": { "width": 5, "height": 5 }, "start": "", "moves": [] }).to_string();
        client.store(&format!("plyd.job.{id}.1"), job.as_bytes());
        says(name, words);
        client.api("STREAM.PURGE.plyd_jobs", &json!({ "filter": format!("plyd.job.{id}.*") }));
    }
    // A tuning whose moves would take longer than anybody waits for one in a match.
    let build = described.json()["match"]["players"][0]["build"].take();
    let tuning = json!({
        "game": "isolation", "rules": {}, "evaluator": "race", "random_plies": 0, "max_moves": 9, "seed": "0",
        "build": build, "weights": [], "options": {}, "nodes": u64::MAX, "iterations": 1, "pairs": 1,
        "rate": 0.1, "step_percent": 1.0,
    });
    let bytes = json!({ "version": 1, "tuning": tuning }).to_string();
    let id = plyd_fleet::MatchId::of(bytes.as_bytes());
    client.store(&format!("plyd.match.{id}"), bytes.as_bytes());
    client.store(&format!("plyd.job.{id}.1"), br#"{"rules":{"width":5,"height":5},"start":"","moves":[]}"#);
    says("fewer-nodes", "nodes=18446744073709551615 is more than the");
    client.api("STREAM.PURGE.plyd_jobs", &json!({ "filter": format!("plyd.job.{id}.*") }));
    // A description under a name that is not its hash.
    let id = "0".repeat(32);
    client.store(&format!("plyd.match.{id}"), &described.bytes);
    client.store(&format!("plyd.job.{id}.1"), b"{}");
    says("another-name", "another one than its name says");
    fs::remove_dir_all(directory).unwrap();
}
