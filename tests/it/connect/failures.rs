//! Processes of a bot that die, hang, or write what is no message, and what that costs.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Ladder, go, said};
use crate::common::{process, until};

#[test]
fn a_bot_that_fails_costs_one_search() {
    let (_ladder, _bot, mut visit) = Ladder::with_least("connect-fails", &[]);
    let mut last = String::new();
    for (number, (poison, message)) in
        [("die", "exit status: 3"), ("flood", "thinking..."), ("garble", "bestmove")].into_iter().enumerate()
    {
        let process = visit.best(&format!("good{number}"), "a", &[]);
        assert_ne!(process, last, "a process that failed is started again");
        let answer = visit.ask(&go(&format!("bad{number}"), "a", &[poison]));
        assert_eq!((&answer["type"], &answer["code"]), (&json!("error"), &json!("internal")), "{answer}");
        assert!(answer["message"].as_str().unwrap().contains(message), "{answer}");
        last = process;
    }
    let process = visit.best("again", "a", &[]);
    assert_ne!(process, last);
    // What it was asked besides is answered, too, and a second search in a game is none.
    visit.write(&go("hang", "a", &["hang"]).to_string());
    visit.write(&json!({ "id": "s", "cmd": "stop", "target": "hang" }).to_string());
    // That this is answered shows that the process was passed both.
    assert_eq!(visit.ask(&go("second", "a", &[]))["code"], "session_busy");
    let group = rustix::process::Pid::from_raw(process.parse().unwrap()).unwrap();
    rustix::process::kill_process_group(group, Signal::KILL).unwrap();
    let mut answers = [visit.read(), visit.read()];
    answers.sort_by_key(|answer| answer["id"].to_string());
    for (answer, id) in answers.iter().zip(["hang", "s"]) {
        assert_eq!((&answer["id"], &answer["code"]), (&json!(id), &json!("internal")), "{answer}");
    }
}

#[test]
fn a_bot_that_cannot_play_does_not_dial() {
    let ladder = Ladder::new("connect-cannot");
    for (arguments, words) in [
        (&["--", "/no/such/bot"][..], &["cannot start `/no/such/bot`"][..]),
        (&["--", "sh", "-c", "exit 3"], &["it ended, exit status: 3"]),
        (&["--", "sh", "-c", "read -r line; exit 4"], &["it ended, exit status: 4"]),
        (&["--", "true"], &["it ended, exit status: 0"]),
        (&["--option", "contempt=much"], &["/options/contempt", "there is no such option", "--game"]),
        (&["--option", "level=many", "--game", "ijk"], &["refuses ijk at /options/level"]),
        (&["--game", "isolation:7x7", "--game", "isolation:1x1"], &["refuses isolation at /rules/preset"]),
        (&["--game", "chess"], &["refuses chess at /game", "isolation"]),
    ] {
        let (code, _, complaint) = said(ladder.bot(arguments));
        assert_eq!(code, Some(1), "{arguments:?}: {complaint}");
        for words in words {
            assert!(complaint.contains(words), "{arguments:?}: {complaint}");
        }
        assert!(ladder.listener.accept().is_err(), "{arguments:?}");
    }
}

/// A bot that notes each `go` that it gets in a file, and dies of the first so many.
const DIES: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
  case $line in
    *'"cmd":"go"'*)
      printf '%s\n' "$line" >> "$0/asked"
      [ "$(wc -l < "$0/asked")" -gt "$1" ] || exit 3
      echo "Warning: a line of a runtime"
      echo "{\"id\":\"$id\",\"type\":\"bestmove\",\"move\":\"a\"}" ;;
    *) echo "{\"id\":\"$id\",\"type\":\"error\",\"code\":\"unknown_cmd\",\"message\":\"go alone\"}" ;;
  esac
done"#;

#[test]
fn a_bot_that_dies_in_a_search_is_asked_once_more_with_the_time_that_is_left() {
    for (deaths, expected) in [("1", "bestmove"), ("2", "error")] {
        let ladder = Ladder::new("connect-dies");
        let folder = ladder.folder.path.to_str().unwrap();
        let bot = ladder.bot(&["--json", "--", "sh", "-c", DIES, folder, deaths]);
        let (mut visit, _) = ladder.joined(&[]);
        let mut asked = go("1", "a", &["d4"]);
        asked["clock"] = json!({ "kind": "per_move", "ms": 600_000 });
        asked["elapsed_ms"] = json!(7);
        assert_eq!(visit.ask(&asked)["type"], expected, "after {deaths} deaths");
        visit.over("a");
        process::signal(&bot, Signal::TERM);
        let last = visit.read();
        visit.take(&last, &[], 60_000);
        let (code, text, _) = said(bot);
        assert_eq!(code, Some(0));
        let failures = text.lines().filter(|line| line.contains("\"failed\"")).count();
        assert_eq!(failures.to_string(), deaths, "{text}");
        // What a runtime says of itself is printed, and costs nothing.
        assert_eq!(text.contains("Warning: a line of a runtime"), expected == "bestmove", "{text}");
        let lines = std::fs::read_to_string(ladder.folder.path.join("asked")).unwrap();
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [first, second] = &lines[..] else { panic!("{lines:?}") };
        assert_ne!(first["id"], second["id"]);
        for field in ["game", "rules", "position", "clock"] {
            assert_eq!(first[field], second[field]);
        }
        let elapsed = [first, second].map(|line| line["elapsed_ms"].as_u64().unwrap());
        assert!(7 <= elapsed[0] && elapsed[0] < elapsed[1], "{elapsed:?}");
    }
}

#[test]
fn lines_that_are_no_messages_cost_no_search() {
    let (_ladder, _bot, mut visit) = Ladder::with_least("connect-babbles", &[]);
    let process = visit.best("1", "a", &[]);
    // More of them in all than one search may have.
    for number in 0..50 {
        assert_eq!(visit.best(&format!("b{number}"), "a", &["babble"]), process);
    }
}

#[test]
fn a_bot_that_hangs_loses_one_game() {
    let (_ladder, _bot, mut visit) = Ladder::with_least("connect-hangs", &[]);
    let process = visit.best("1", "a", &[]);
    visit.write(&go("2", "a", &["hang"]).to_string());
    // The ladder counts it as lost on time, and goes on with another game.
    visit.over("a");
    assert_ne!(visit.best("3", "b", &[]), process);
}

/// A bot that stops the connector once it shall end a search, and then answers it.
const ENDS: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
  case $line in
    *'"hold"'*) held=$id ;;
    *'"cmd":"go"'*) echo "{\"id\":\"$id\",\"type\":\"bestmove\",\"move\":\"$$\"}" ;;
    *'"cmd":"stop"'*)
      kill -STOP $PPID
      echo "{\"id\":\"$held\",\"type\":\"bestmove\",\"move\":\"late\"}"
      : > "$0/answered" ;;
    *) echo "{\"id\":\"$id\",\"type\":\"error\",\"code\":\"unknown_cmd\"}" ;;
  esac
done"#;

#[test]
fn an_answer_that_was_not_read_in_time_is_no_search_that_goes_on() {
    let ladder = Ladder::new("connect-unread");
    let bot = ladder.bot(&["--", "sh", "-c", ENDS, ladder.folder.path.to_str().unwrap()]);
    let (mut visit, _) = ladder.joined(&[]);
    let process = visit.best("1", "a", &[]);
    visit.write(&go("2", "a", &["hold"]).to_string());
    visit.write(&json!({ "id": "over", "cmd": "over", "x_game": "a", "outcome": "lost" }).to_string());
    until("the bot has answered", || ladder.folder.path.join("answered").exists());
    // For longer than a search that nobody waits for may go on, as on a machine that is busy with other
    // things.
    let answered = Instant::now();
    until("the connector was away for long", || answered.elapsed() > Duration::from_secs(3));
    process::signal(&bot, Signal::CONT);
    assert_eq!(visit.answer("over")["of"], "over");
    assert_eq!(visit.best("3", "b", &[]), process);
}

#[test]
fn a_bot_that_fails_for_want_of_the_legal_moves_is_told_how_to_get_them() {
    for (arguments, is_told) in [(&["--json"][..], true), (&["--json", "--legal"], false)] {
        let (_ladder, bot, mut visit) = Ladder::with_least("connect-hint", arguments);
        visit.ask(&go("1", "a", &["die"]));
        visit.over("a");
        process::signal(&bot, Signal::TERM);
        let last = visit.read();
        visit.take(&last, &[], 60_000);
        let (_, text, _) = said(bot);
        let failed: Vec<&str> = text.lines().filter(|line| line.contains("\"failed\"")).collect();
        assert!(
            !failed.is_empty() && failed.iter().all(|line| line.contains("--legal") == is_told),
            "{text}"
        );
    }
}
