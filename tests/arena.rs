//! Matches as people run them: the real binary plays against itself and against players that misbehave.

// A test that cannot start the command or read its own files has nothing better to do than to panic.
#![allow(clippy::unwrap_used)]

mod common;

use std::thread;

use common::arena::{FAST, arena, records, report, timeless};
use plyd::games::REGISTRY;
use plyd::settings;
use plyd_protocol::{Setting, Settings};
use serde_json::{Value, json};

#[test]
fn the_same_seed_gives_the_same_games() {
    for game in [
        &["l-game", "--random-plies", "4", "--max-moves", "12"][..],
        &["isolation", "--rules", "width=5,height=5"],
    ] {
        let played = |options: &[&str]| -> Vec<Value> {
            let players = ["--player", FAST, "--player", "random", "--games", "8"];
            let (records, _) = records(&[game, &players, options].concat());
            records.into_iter().map(timeless).collect()
        };
        let first = played(&["--seed", "5"]);
        assert_eq!(first, played(&["--seed", "5", "--concurrency", "2"]));
        assert_ne!(first, played(&["--seed", "6"]));
    }
}

#[test]
fn records_are_whole_games_in_pairs() {
    let (records, report) = records(&[
        "isolation",
        "--rules",
        "width=5,height=5",
        "--player",
        FAST,
        "--player",
        "greedy",
        "--games",
        "6",
    ]);
    assert_eq!(records.len(), 6);
    let entry = REGISTRY.iter().find(|entry| entry.name == "isolation").unwrap();
    let size: Settings =
        [("width", 5), ("height", 5)].map(|(name, n)| (name, Setting::Int(n))).into_iter().collect();
    let mut wins = 0;
    for (record, number) in records.iter().zip(1..) {
        assert_eq!(record["number"], number);
        let first = &records[(number - 1) / 2 * 2];
        let opening = |record: &Value| record["moves"].as_array().unwrap()[..2].to_vec();
        assert_eq!((&record["opening"], opening(record)), (&json!(2), opening(first)));
        let indexes = [0, 1].map(|side| record["players"][side]["index"].as_u64().unwrap());
        assert_eq!(indexes, if number % 2 == 1 { [0, 1] } else { [1, 0] });
        let moves: Vec<String> = serde_json::from_value(record["moves"].clone()).unwrap();
        assert_eq!(record["answers"].as_array().unwrap().len() + 2, moves.len());
        let rules = settings::rules(entry, &size, 0).unwrap();
        let start = settings::open(entry, &rules, record["start"].as_str()).unwrap();
        let outcome = serde_json::to_value(start.extend(&moves).unwrap().outcome()).unwrap();
        assert_eq!(record["result"], outcome);
        wins += u64::from(outcome["winner"] == ["p1", "p2"][(number - 1) % 2]);
    }
    let summary = &report["summary"];
    assert_eq!((&summary["games"], &summary["meetings"][0]["wins"]), (&json!(6), &json!(wins)));
    assert_eq!(report["openings"], 3);
}

#[test]
fn the_stronger_player_wins() {
    let report = report(&[
        "isolation",
        "--rules",
        "width=5,height=5",
        "--player",
        "random",
        "--player",
        FAST,
        "--games",
        "20",
        "--concurrency",
        "2",
    ]);
    assert!(report["scores"][0]["score"]["value"].as_f64() < Some(0.2), "{report}");
    let pairs: Vec<u64> = serde_json::from_value(report["summary"]["meetings"][0]["pairs"].clone()).unwrap();
    assert_eq!(pairs.iter().sum::<u64>(), 10, "{report}");
    for player in report["summary"]["players"].as_array().unwrap() {
        assert_eq!((&player["faults"], &player["contradicted_proofs"]), (&json!({}), &json!(0)), "{report}");
    }
}

/// Plays two games against the stub. In the L Game's first position it is asked once: with sides swapped the
/// opponent's move ends the game.
fn against_stub(way: &str, limit: &str, options: &[&str]) -> (Vec<Value>, Value) {
    let stub = format!("cmd=sh tests/arena/stub.sh {way},{limit}");
    let game = ["l-game", "--rules", "max_plies=1", "--random-plies", "0", "--games", "2"];
    records(&[&game, &["--player", &stub, "--player", FAST][..], options].concat())
}

#[test]
fn failing_players_lose_with_the_reason() {
    thread::scope(|scope| {
        for (way, limit, fault, word) in [
            ("silent", "nodes=1", "silence", "no answer"),
            ("chatty", "nodes=1", "silence", "no answer"),
            ("crash", "nodes=1", "crash", "exit status: 3"),
            ("close", "nodes=1", "crash", "closed"),
            ("garbage", "nodes=1", "protocol", "e2e4"),
            ("wrong", "nodes=1", "protocol", "no `bestmove`"),
            ("error", "nodes=1", "protocol", "no idea"),
            ("deaf", "nodes=1", "protocol", "what?"),
            ("illegal", "nodes=1", "illegal", "1 1 N"),
            ("nonsense", "nodes=1", "illegal", "resign"),
            ("late", "time=1ms", "late", "us after its 1 ms"),
        ] {
            scope.spawn(move || {
                // A wait of the default length would only make the test longer.
                let options: &[&str] = if fault == "silence" { &["--patience", "2s"] } else { &[] };
                let (records, report) = against_stub(way, limit, options);
                let forfeit = &records[0]["forfeit"];
                assert_eq!((&forfeit["player"], &forfeit["kind"]), (&json!("p1"), &json!(fault)), "{way}");
                assert!(forfeit["message"].as_str().unwrap().contains(word), "{way}: {forfeit}");
                assert_eq!(records[0]["result"], json!({ "winner": "p2", "by": fault }), "{way}");
                assert_eq!(records[1]["result"], json!({ "winner": null, "by": "max_plies" }), "{way}");
                let summary = &report["summary"];
                assert_eq!(summary["players"][0]["faults"], json!({ fault: 1 }), "{way}");
                let meeting = &summary["meetings"][0];
                assert_eq!((&meeting["draws"], &meeting["losses"]), (&json!(1), &json!(1)), "{way}");
            });
        }
    });
}

#[test]
fn a_failed_player_is_started_again() {
    let stub = "cmd=sh tests/arena/stub.sh crash,nodes=1";
    let report = report(&["isolation", "--player", FAST, "--player", stub, "--games", "6"]);
    assert_eq!(report["summary"]["players"][1]["faults"], json!({ "crash": 6 }), "{report}");
    assert_eq!(report["summary"]["meetings"][0]["wins"], 6, "{report}");
}

#[test]
fn a_game_without_end_is_a_draw() {
    let players = ["--player", FAST, "--player", FAST];
    let (records, _) = records(
        &[&["l-game", "--games", "2", "--random-plies", "0", "--max-moves", "3"], &players[..]].concat(),
    );
    for record in records {
        assert_eq!(record["result"], json!({ "winner": null, "by": "max_moves" }));
        assert_eq!(record["moves"].as_array().map(Vec::len), Some(3));
    }
}

#[test]
fn a_margin_forgives() {
    let (records, report) = against_stub("late", "time=1ms", &["--margin", "20s"]);
    assert_eq!(report["summary"]["players"][0]["faults"], json!({}));
    assert!(records[0]["answers"][0]["time_us"].as_u64() > Some(1000), "{}", records[0]);
}

#[test]
fn a_proof_that_does_not_come_true_is_counted() {
    let (records, report) = against_stub("boast", "nodes=1", &[]);
    assert_eq!(records[0]["contradictions"][0]["message"], "announced a win and drew");
    assert_eq!(report["summary"]["players"][0]["contradicted_proofs"], 1);
    assert_eq!(report["summary"]["players"][1]["contradicted_proofs"], 0);
}

#[test]
fn mistakes_end_the_command_before_the_first_game() {
    for (arguments, word) in [
        (&["isolation"][..], "--player"),
        (&["isolation", "--player", FAST], "twice"),
        (&["isolation", "--player", FAST, "--player", "expert"], "random"),
        (&["isolation", "--player", FAST, "--player", FAST, "--games", "3"], "even"),
        (
            &[
                "isolation",
                "--player",
                FAST,
                "--player",
                FAST,
                "--rules",
                "width=3,height=3",
                "--random-plies",
                "9",
            ],
            "fewer",
        ),
        (&["isolation", "--player", FAST, "--player", "cmd=/nowhere,nodes=1"], "cannot start `/nowhere`"),
        (
            &["isolation", "--player", FAST, "--player", "cmd=sh tests/arena/stub.sh refuse"],
            "never heard of it",
        ),
    ] {
        let output = arena(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(word), "{arguments:?} without `{word}`: {text}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn people_get_a_table_and_a_running_score() {
    let output = arena(&["l-game", "--player", FAST, "--player", "random", "--games", "4"]);
    let (table, progress) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    for word in ["score", "points of a pair", "contradicted proofs", "longest", "ended by: ", "openings: 2"] {
        assert!(table.contains(word), "no `{word}` in:\n{table}");
    }
    assert!(progress.contains("4/4 games"), "{progress}");
}
