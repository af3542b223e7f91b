//! How a connection to a ladder begins, what ends it, and what goes on over the next one.

use std::collections::BTreeSet;

use rustix::process::Signal;
use serde_json::json;

use super::{Ladder, Visit, go, said};
use crate::common::{process, until};

#[test]
fn what_a_ladder_says_before_it_takes_the_bot_is_not_lost() {
    let ladder = Ladder::new("connect-early");
    let bot = ladder.least(&[]);
    let mut visit = ladder.called();
    let offer = visit.read();
    visit.write(&json!({ "type": "notice", "kind": "warning", "message": "no pool is open" }).to_string());
    visit.write(&json!({ "id": "early", "cmd": "ping" }).to_string());
    visit.take(&offer, &[], 60_000);
    assert_eq!(visit.answer("early")["of"], "ping");
    process::signal(&bot, Signal::TERM);
    let last = visit.read();
    visit.take(&last, &[], 60_000);
    let (_, text, _) = said(bot);
    assert!(text.contains("joined as kari") && text.contains("no pool is open"), "{text}");
    // But it does not go on for ever.
    let flooded = Ladder::new("connect-early-flood");
    let _bot = flooded.least(&[]);
    let mut visit = flooded.called();
    assert_eq!(visit.read()["cmd"], "offer");
    let ping = json!({ "id": "early", "cmd": "ping" }).to_string();
    visit.write(&vec![ping; 65].join("\n"));
    assert!(visit.is_over());
    assert_eq!(flooded.called().read()["cmd"], "offer");
}

#[test]
fn games_go_on_over_the_next_connection() {
    let (ladder, _bot, mut visit) = Ladder::with_least("connect-again", &["--concurrency", "2"]);
    let (a, b) = (visit.best("1", "a", &[]), visit.best("2", "b", &[]));
    drop(visit);
    let (mut visit, offer) = ladder.joined(&["b"]);
    assert_eq!(offer["concurrency"], 2);
    // The ladder gave the other game up, so its place is free.
    assert_eq!((visit.best("1", "b", &[]), visit.best("2", "c", &[])), (b, a));
}

#[test]
fn games_that_go_on_are_played_whatever_the_new_limit_is() {
    let ladder = Ladder::new("connect-fewer");
    let _bot = ladder.least(&["--concurrency", "1"]);
    // They were begun by a connector that offered three.
    let (mut visit, offer) = ladder.joined(&["a", "b", "c"]);
    assert_eq!(offer["concurrency"], 1);
    let processes = ["a", "b", "c"].map(|game| visit.best(&format!("1{game}"), game, &["d4"]));
    assert_eq!(processes.iter().collect::<BTreeSet<_>>().len(), 3, "{processes:?}");
    let refused = |visit: &mut Visit| assert_eq!(visit.ask(&go("d", "d", &[]))["code"], "too_many_sessions");
    refused(&mut visit);
    for (game, process) in [("b", &processes[1]), ("a", &processes[0])] {
        visit.over(game);
        refused(&mut visit);
        // Nor is a process kept that the limit has no use for.
        until("the process has ended", || !std::path::Path::new("/proc").join(process).exists());
    }
    assert_eq!(visit.best("2", "c", &["d4"]), processes[2]);
    visit.over("c");
    assert_eq!(visit.best("3", "d", &[]), processes[2]);
}

#[test]
fn a_search_of_the_connection_before_is_not_answered_on_the_next() {
    let ladder = Ladder::new("connect-stale");
    let _bot = ladder.bot(&[]);
    let (mut visit, _) = ladder.joined(&[]);
    let endless = json!({ "id": "1", "cmd": "go", "x_game": "a", "game": "isolation", "rules": { "preset": "11x9" },
        "position": {}, "clock": { "kind": "none" }, "info": { "events": ["started"] } });
    visit.write(&endless.to_string());
    assert_eq!(visit.read()["event"], "started");
    drop(visit);
    let (mut visit, _) = ladder.joined(&["a"]);
    let again = json!({ "id": "1", "cmd": "go", "x_game": "a", "game": "isolation", "rules": { "preset": "11x9" },
        "position": {}, "limit": { "depth": 1 }, "info": { "events": [] } });
    visit.write(&again.to_string());
    let answer = visit.read();
    assert_eq!((&answer["id"], &answer["reason"]), (&json!("1"), &json!("limit")), "{answer}");
    // And nothing else comes.
    visit.write(&json!({ "id": "p", "cmd": "ping" }).to_string());
    assert_eq!(visit.read()["of"], "ping");
}

#[test]
fn a_ladder_that_falls_silent_is_dialled_again() {
    let ladder = Ladder::new("connect-silence");
    let _bot = ladder.least(&[]);
    let mut visit = ladder.called();
    let offer = visit.read();
    visit.take(&offer, &[], 1);
    let mut again = ladder.called();
    assert_eq!(again.read()["cmd"], "offer");
    assert!(visit.is_over());
}

#[test]
fn what_a_ladder_refuses_for_good_ends_the_bot_and_the_rest_does_not() {
    let error = |code: &str| json!({ "type": "error", "code": code, "message": "not you", "fatal": true });
    for (answer, is_final) in [
        (error("auth_failed"), true),
        (error("forbidden"), true),
        (error("shutting_down"), false),
        (error("too_many_connections"), false),
        (json!({ "type": "notice", "kind": "going_away", "message": "back soon" }), false),
        (json!({ "type": "result", "id": "offer-1", "of": "offer" }), true),
        (json!("hello"), true),
    ] {
        let ladder = Ladder::new("connect-refused");
        let bot = ladder.least(&[]);
        let mut visit = ladder.called();
        let offer = visit.read();
        let mut answer = answer;
        if answer["type"] == "error" {
            answer["id"] = offer["id"].clone();
        }
        visit.write(&answer.to_string());
        if is_final {
            let (code, _, complaint) = said(bot);
            assert_eq!(code, Some(1), "{answer}");
            assert!(complaint.starts_with("error: tcp=127.0.0.1:"), "{answer}: {complaint}");
        } else {
            assert_eq!(ladder.called().read()["cmd"], "offer", "{answer}");
        }
    }
}

#[test]
fn a_line_that_is_broken_costs_a_connection() {
    for line in
        [r#"{"id":"1","cmd":"#, r#"{"type":"error","code":"line_too_long","message":"m","fatal":true}"#]
    {
        let (ladder, _bot, mut visit) = Ladder::with_least("connect-broken", &[]);
        visit.write(line);
        assert_eq!(ladder.called().read()["cmd"], "offer", "{line}");
    }
}
