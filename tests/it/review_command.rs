//! `plyd review`: real records in, marks out, for people and for programs.

use std::fs;
use std::process::Output;

use crate::common::process;
use crate::matches::{FAST, RANDOM, directory, records};
use crate::record::Scratch;
use crate::script::{in_order, printed};
use plyd::review::Mark;
use plyd_protocol::{Line, Score};
use serde_json::{Value, json};

/// The beginning of a game of the L Game.
const L_GAME: &str = r#"{"record":1,"game":"l-game","rules":{},"start":"3 1 W 1 1 4 4 2 4 E 1","moves":["4 3 W 4 4 3 1","1 4 E 3 1 2 1","3 3 E 2 1 2 3"],"result":null}"#;

fn review(arguments: &[&str], input: &str) -> Output {
    process::output_of(process::plyd([&["review", "-"], arguments].concat()), input)
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn objects(output: &Output) -> Vec<Value> {
    text(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The names of an object's fields, in alphabetical order.
fn fields(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[test]
fn the_json_has_the_fields_that_are_promised() {
    let found = objects(&review(&["--json", "--nodes", "20000"], L_GAME)).remove(0);
    let names =
        ["counts", "game", "limit", "moves", "number", "opening", "result", "review", "rules", "start"];
    assert_eq!(fields(&found), names);
    let record: Value = serde_json::from_str(L_GAME).unwrap();
    for same in ["game", "rules", "start", "result"] {
        assert_eq!(found[same], record[same], "{same}");
    }
    assert_eq!((&found["review"], &found["number"]), (&json!(1), &json!(1)));
    assert_eq!(found["limit"], json!({ "nodes": 20_000, "threads": 1 }));
    let moves = found["moves"].as_array().unwrap();
    assert_eq!(moves.len(), 3);
    for (index, mv) in moves.iter().enumerate() {
        let mut names = vec!["after", "before", "mark", "move", "only", "player", "ply", "proven"];
        names.extend(mv.get("better").map(|_| "better"));
        names.extend(mv.get("loss_ppm").map(|_| "loss_ppm"));
        names.sort_unstable();
        assert_eq!(fields(mv), names);
        assert_eq!(mv["move"], record["moves"][index]);
        assert_eq!((&mv["ply"], &mv["player"]), (&json!(index + 1), &json!(["p1", "p2"][index % 2])));
        // Each position of the L Game is solved.
        for value in ["before", "after"] {
            let score: Score = serde_json::from_value(mv[value].clone()).unwrap();
            assert!(score.proof.is_some(), "{mv}");
        }
        let mark = mv["mark"].as_str().unwrap();
        let known = Mark::ALL.into_iter().find(|known| known.name() == mark).unwrap();
        assert!(known.is_proven() && mv["proven"] == json!(true), "{mv}");
        if let Some(better) = mv.get("better") {
            let line: Line = serde_json::from_value(better.clone()).unwrap();
            assert!(known.is_error() && line.mv != mv["move"].as_str().unwrap(), "{mv}");
        }
        assert_eq!(mv.get("better").is_some(), known.is_error(), "{mv}");
    }
    for (side, counts) in found["counts"].as_array().unwrap().iter().enumerate() {
        assert_eq!(fields(counts), ["errors", "marks", "moves"]);
        let marks: u64 =
            counts["marks"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!((counts["moves"].as_u64(), Some(marks)), (Some([2, 1][side]), counts["moves"].as_u64()));
    }
    let again = objects(&review(&["--json", "--nodes", "20000"], L_GAME)).remove(0);
    assert_eq!(found, again, "the same limit, the same review");
}

#[test]
fn a_game_played_in_the_terminal_is_reviewed_there_and_from_its_file() {
    let file = Scratch::new("review");
    let path = file.path();
    let rules =
        ["isolation", "--rules", "width=4,height=4", "--p1", "random", "--p2", "random", "--seed", "3"];
    let played = printed(&rules, &format!("save {path}\nreview 2s\n"));
    in_order(
        &played,
        &["wins: no move is left.", "saved ", "reviewing ", "before", "after", "p1 (random)", "moves"],
    );
    let output = process::output(process::plyd(["review", path, "--movetime", "2s"]));
    let shown = text(&output);
    in_order(&shown, &["isolation ", "p1: random", "ply", "win in ", "p1 (random)", "p2 (random)"]);
    assert!(!shown.contains('\x1b'), "a pipe gets no escape sequences: {shown}");
    // So small a board is proven; each value is a result.
    assert!(!shown.contains('~'), "{shown}");
}

#[test]
fn many_games_are_reviewed_and_one_is_chosen() {
    let arguments =
        ["isolation", "--rules", "width=4,height=4", "--player", FAST, "--player", RANDOM, "--games", "4"];
    let (games, _) = records(&arguments);
    let lines: String = games.iter().map(|game| format!("{game}\n")).collect();
    let all = objects(&review(&["--json", "--nodes", "20000"], &lines));
    assert_eq!(all.len(), 4);
    for (game, reviewed) in games.iter().zip(&all) {
        assert_eq!(reviewed["number"], game["number"]);
        let opening = game["opening"].as_u64().unwrap();
        assert!(reviewed["moves"].as_array().unwrap().iter().all(|mv| mv["ply"].as_u64().unwrap() > opening));
        let moves = reviewed["moves"].as_array().unwrap().len() as u64;
        let counted: u64 =
            reviewed["counts"].as_array().unwrap().iter().map(|side| side["moves"].as_u64().unwrap()).sum();
        assert_eq!(counted, moves);
    }
    let one = objects(&review(&["--json", "--nodes", "20000", "--game", "3"], &lines));
    assert_eq!(one, [all[2].clone()], "the same limit, the same review");
    let refused = review(&["--game", "9"], &lines);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("there is no game 9"));
}

#[test]
fn records_that_are_none_are_refused_with_their_line() {
    let changed = |field: &str, value: Value| {
        let mut record: Value = serde_json::from_str(L_GAME).unwrap();
        record[field] = value;
        record.to_string()
    };
    for (line, parts) in [
        ("{}".to_owned(), &["line 2", "no record of a game"][..]),
        ("\u{1b}[2J".to_owned(), &["line 2", "no record of a game"]),
        (changed("game", json!("chess")), &["line 2", "there is no game `chess`", "l-game"]),
        (changed("rules", json!({"size": 3})), &["line 2", "`size`"]),
        (changed("start", json!("nonsense")), &["line 2", "start"]),
        (changed("moves", json!(["4 3 W 4 4 3 1", "9 9 N\u{1b}[2J"])), &["line 2", "ply 2 `9 9 N"]),
        (changed("moves", json!(["~4"])), &["line 2", "ply 1"]),
        (changed("moves", json!(vec!["4 3 W"; 3000])), &["line 2", "2000 plies"]),
    ] {
        let output = review(&["--nodes", "100"], &format!("{L_GAME}\n{line}\n"));
        assert_eq!(output.status.code(), Some(2), "{line}");
        let message = String::from_utf8_lossy(&output.stderr);
        in_order(&message, parts);
        assert!(!message.contains('\x1b'), "{message}");
    }
    // Nobody chose more moves than there are.
    let empty = text(&review(&["--nodes", "100"], &changed("opening", json!(99))));
    in_order(&empty, &["no move to review"]);
    for arguments in [&["--movetime", "0s"][..], &["--nodes", "0"], &["--movetime", "5"], &["--threads", "0"]]
    {
        assert_eq!(review(arguments, L_GAME).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_match_is_reviewed_in_its_report() {
    let directory = directory();
    let page = directory.join("match.html");
    let page = page.to_str().unwrap();
    let arguments = [
        "isolation",
        "--rules",
        "width=4,height=4",
        "--player",
        FAST,
        "--player",
        RANDOM,
        "--games",
        "4",
        "--review=nodes=20000",
        "--html",
        page,
    ];
    let (games, report) = records(&arguments);
    let found = &report["review"];
    assert_eq!((&found["games"], &found["limit"]["nodes"]), (&json!(4), &json!(20_000)));
    let chosen: usize = games.iter().map(|game| game["answers"].as_array().unwrap().len()).sum();
    let players = found["players"].as_array().unwrap();
    let counted: u64 = players.iter().map(|player| player["moves"].as_u64().unwrap()).sum();
    assert_eq!(counted, chosen as u64);
    // Whoever plays at random errs, and the page says where.
    assert!(players[1]["errors"].as_u64() > Some(0), "{report}");
    let page = fs::read_to_string(page).unwrap();
    in_order(&page, &[r#""marks":["#, r#""error":true,"proven":true"#]);
    fs::remove_dir_all(directory).unwrap();
}
