//! The files of `plyd play`: games are saved, loaded and replayed.

use std::fs;

use crate::common::process;
use crate::record::{Scratch, replayed};
use crate::script::{in_order, pipe, printed};
use plyd::engine::ToMove;
use plyd::game::Side;

#[test]
fn games_are_saved_loaded_and_replayed() {
    let file = Scratch::new("saved");
    let path = file.path();
    let saved = printed(
        &["ijk", "--rules", "mode=nondet", "--p2", "greedy", "--seed", "7"],
        &format!("U\nL\nsave {path}\nR\nundo\nsave {path}\nsave\nhistory\n"),
    );
    in_order(
        &saved,
        &[
            "chance: ~",
            "saved 8 plies",
            "saved 8 plies",
            "saved 8 plies",
            "p1: me",
            "the game goes on",
            "chance",
        ],
    );
    let record = file.record();
    assert_eq!(record.moves.len(), 8);
    assert_eq!(replayed(&record).to_move(), ToMove::Player(Side::First));
    // The same seed, the same game.
    let again = printed(&["ijk", "--rules", "mode=nondet", "--p2", "greedy", "--seed", "7"], "U\nL\n");
    let chance = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("chance")).take(4).map(str::to_owned).collect()
    };
    assert_eq!(chance(&saved), chance(&again));

    let shown = process::output(process::plyd(["show", path]));
    let shown = String::from_utf8(shown.stdout).unwrap();
    in_order(&shown, &["p1: me", "p2: greedy", "ply", "chance", "ply 8 of 8"]);

    // An empty line goes on while a game is looked through, and a move from the middle drops the rest.
    let loaded = printed(
        &["ijk", "--load", path, "--p2", "me"],
        "replay\n\nnext 2\nback\nply 4\ncontinue\nD\nundo\nredo\nredo\nhistory\n",
    );
    let parts = [
        "p2: greedy",
        "the start of 8 plies",
        "ply 1 of 8: U",
        "ply 3 of 8",
        "ply 2 of 8: ~",
        "ply 4 of 8",
        "you play on from here",
        "p1 (me) plays D",
        "1 move taken back",
        "1 move played again",
        "nothing to play again",
    ];
    in_order(&loaded, &parts);
    assert!(loaded.contains("  6  ~") && !loaded.contains("  7  "), "{loaded}");

    // A file that holds another game is not written over, nor one that is none read.
    let refused = printed(
        &["l-game"],
        &format!(
            "save {path}\nload {path}\nload {path} 2\nload /nowhere\nload Cargo.toml\nload -\nsave /nowhere/x\n"
        ),
    );
    in_order(
        &refused,
        &[
            "this file exists already",
            "ijk ",
            "there is no game 2",
            "`load`: /nowhere",
            "no record of a game: no JSON object; each line is the JSON of a game",
            "standard input",
            "`save`: cannot write /nowhere/x",
        ],
    );
    assert_eq!(file.record(), record);
}

#[test]
fn a_saved_game_goes_on_between_those_who_played_it() {
    let file = Scratch::new("level");
    let path = file.path();
    let game = ["isolation", "--rules", "width=5,height=5", "--level", "3"];
    printed(&game, &format!("a1\nsave {path}\n"));
    for (arguments, seats) in [
        (&[][..], "p1 (me), p2 (default,level=3)"),
        (&["--level", "5"], "p1 (me), p2 (default,level=5)"),
        (&["--p2", "greedy"], "p1 (me), p2 (greedy)"),
        (&["--p1", "random"], "p1 (random), p2 (default,level=3)"),
    ] {
        let text = printed(&[&["isolation", "--load", path], arguments].concat(), "quit\n");
        in_order(&text, &["p2: default,level=3", seats]);
    }
    for (arguments, seats) in [
        (&[][..], "p1 (me), p2 (default,level=8)"),
        (&["--p2", "default,level=3,threads=1"], "p1 (me), p2 (default,level=8,threads=1)"),
    ] {
        let text = printed(
            &[&["isolation", "--load", path], arguments].concat(),
            "level 8\noption level=99\nswap\nswap\nquit\n",
        );
        in_order(&text, &[seats, "from 1 to 10", seats]);
    }
    // Where it cannot be played so, that is said.
    let saved = fs::read_to_string(&file.0).unwrap();
    for name in ["wizard", "Engine, level 2"] {
        fs::write(&file.0, saved.replace("default,level=3", name)).unwrap();
        let text = printed(&["isolation", "--load", path], "quit\n");
        let absent = format!("p2 was `{name}`, which cannot play here");
        in_order(&text, &[&absent, "p1 (me), p2 (default)"]);
    }
    // Earlier pages called the person otherwise.
    fs::write(&file.0, saved.replace("\"me\"", "\"default,level=1\"").replace("default,level=3", "Human"))
        .unwrap();
    let text = printed(&["isolation", "--load", path], "quit\n");
    assert!(text.contains("p1 (default,level=1), p2 (me)\n"), "{text}");
    // A match that nobody here played is taken over as ever.
    fs::write(&file.0, saved.replace("\"me\"", "\"random\"")).unwrap();
    let text = printed(&["isolation", "--load", path], "quit\n");
    assert!(text.contains("p1 (me), p2 (default)\n"), "{text}");
}

#[test]
fn what_was_taken_back_is_not_saved_and_that_is_said() {
    let file = Scratch::new("undone");
    let game = ["isolation", "--rules", "width=5,height=5", "--p2", "me", "--moves", "a1", "b2"];
    let text = printed(&game, &format!("undo 1\nsave {}\nundo\nsave\n", file.path()));
    let parts = [
        "saved 1 ply to ",
        "; without the 1 ply that was taken back (`redo` brings it back)",
        "saved 0 plies to ",
        "; without the 2 plies that were taken back",
    ];
    in_order(&text, &parts);
}

#[test]
fn a_game_that_differs_from_its_file_is_not_saved() {
    let game = ["isolation", "--rules", "width=5,height=5", "--p2", "me"];
    for (before, after, is_saved) in [
        ("a1\nb2", "undo", true),
        ("a1\nb2", "replay", true),
        ("a1\nb2\nresign", "replay", true),
        ("a1\nb2", "undo 2\nc3\nb2", false),
        ("a1\nb2\nundo", "redo", false),
        ("a1\nb2", "resign", false),
    ] {
        for end in ["quit", "new"] {
            let file = Scratch::new("differs");
            let text = printed(&game, &format!("{before}\nsave {}\n{after}\n{end}\n", file.path()));
            assert_eq!(!text.contains("this command resumes it"), is_saved, "{after}, {end}: {text}");
        }
    }
}

#[test]
fn the_moves_of_a_game_that_is_taken_up_again_are_those_of_its_players() {
    let file = Scratch::new("moves");
    let game = ["isolation", "--rules", "width=5,height=5", "--p2", "me", "--clock", "tc=60s+5s"];
    let moves = ["--moves", "a1", "b2"];
    let text = printed(&[&game[..], &moves].concat(), &format!("history\nsave {}\n", file.path()));
    in_order(&text, &["1  a1    p1", "2  b2    p2", "saved 2 plies"]);
    assert!(!text.contains("opening"), "{text}");
    let saved = fs::read_to_string(&file.0).unwrap();
    assert!(saved.contains("\"opening\":0"), "a review judges them: {saved}");
    // A record may keep no answers, like those of the page.
    let mut record: serde_json::Value = serde_json::from_str(&saved).unwrap();
    for (opening, are_openings) in [(0, [false, false]), (1, [true, false])] {
        record["answers"] = serde_json::json!([]);
        record["opening"] = serde_json::json!(opening);
        fs::write(&file.0, record.to_string()).unwrap();
        let shown = process::output(process::plyd(["show", file.path()]));
        let shown = String::from_utf8(shown.stdout).unwrap();
        let is_opening =
            |mv: &str| shown.lines().any(|line| line.contains(mv) && line.trim_end().ends_with("opening"));
        assert_eq!(["  1  a1", "  2  b2"].map(is_opening), are_openings, "{shown}");
    }
}

#[test]
fn records_that_cannot_be_are_refused_with_their_place() {
    let file = Scratch::new("hostile");
    let good = r#"{"record":1,"game":"isolation","rules":{"width":5,"height":5},"start":"...../...../...../...../..... 1","moves":["a1","b2"],"result":null"#;
    for (line, word) in [
        ("nonsense".to_owned(), "line 1"),
        (good.replace("b2", "zz") + "}", "its ply 2 cannot be"),
        (good.replace("b2", r"\u001b[2J") + "}", "its ply 2 cannot be"),
        (good.replace(".../..... 1", "x") + "}", "its start cannot be"),
        (good.replace("5,\"h", "99,\"h") + "}", "its rules cannot be"),
        (good.replace("isolation", "no_such_game") + "}", "there is no game `no_such_game`"),
        (format!("{good}}}\n{good}}}"), "choose one by"),
        (
            good.to_owned()
                + r#","opening":99,"answers":[{"player":"p1","time_us":18446744073709551615,"own_us":0}]}"#,
            "p1 (me) to move",
        ),
        (
            good.to_owned()
                + r#","answers":[{"player":"p1","time_us":18446744073709551615,"own_us":0},{"player":"p1","time_us":18446744073709551615,"own_us":0}]}"#,
            "p1 (me) to move",
        ),
        (
            good.to_owned() + r#","players":[{"index":0,"name":"\u001b[31mred"},{"index":1,"name":"b"}]}"#,
            "p1: \u{fffd}[31mred",
        ),
    ] {
        fs::write(&file.0, &line).unwrap();
        let text = printed(&["isolation", "--p2", "me"], &format!("load {}\n", file.path()));
        assert!(text.contains(word), "{line}: {text}");
        assert!(!text.contains('\x1b'), "{line}");
    }
    fs::write(&file.0, good.to_owned() + "}").unwrap();
    let output = pipe(&["l-game", "--load", file.path()], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("say `plyd play isolation`"));
}
