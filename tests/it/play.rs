//! `plyd play` line by line, as a script or a person writes the lines.

use crate::common::{Folder, Server, process};
use crate::script::{in_order, pipe, printed};
use crate::terminal::Terminal;

#[test]
fn a_game_is_played_by_lines_in_a_terminal() {
    let arguments = [
        "play",
        "isolation",
        "--plain",
        "--rules",
        "width=5,height=5",
        "--p2",
        "greedy",
        "--option",
        "seed=1",
    ];
    let mut terminal = Terminal::start(&arguments, 24, 80);
    terminal.expect("p1 (me) to move");
    terminal.says("A1", "p1 (me) plays a1");
    terminal.expect("p2 (greedy,seed=1) plays ");
    terminal.says("undo", "2 moves taken back");
    terminal.says("redo", "2 moves played again");
    terminal.says("redo", "nothing to play again");
    terminal.says("undo 1", "1 move taken back");
    terminal.expect("the engine waits");
    terminal.says("continue", "p2 (greedy,seed=1) plays ");
    terminal.says("hint 50ms", "hint: ");
    terminal.says("view x", "e d c b a");
    terminal.says("view reset", "a b c d e");
    terminal.says("board words", "5 rows, 5 columns");
    terminal.expect("p1's token");
    terminal.says("board picture", "+-+-+");
    terminal.says("level 3", "p2 (greedy,level=3,seed=1)");
    terminal.says("swap", "p1 (greedy,level=3,seed=1), p2 (me)");
    terminal.expect("p1 (greedy,level=3,seed=1) plays ");
    terminal.says("undoo", "no such command or move; did you mean `undo`?");
    terminal.says("levle 3", "no such command or move; did you mean `level`?");
    terminal.says("hnt", "no such command or move; did you mean `hint`?");
    terminal.says("a1", "`a1` is neither a legal move here");
    terminal.says("\u{1}\u{fffd}?", "neither a legal move here nor a command");
    terminal.says("level 99", "from 1 to 10");
    terminal.says("p1 wizard", "`player`: expected one of");
    terminal.says("option depth=deep", "`depth`: ");
    terminal.says("help level", "For example: level 3");
    terminal.says("quit", "plyd play isolation --seed ");
    assert!(terminal.end().success());
    assert!(terminal.is_as_before());
}

#[test]
fn a_server_elsewhere_is_asked_as_well() {
    let server = Server::tcp(&[]);
    let address = server.address();
    let connect = format!("tcp={address}");
    let text = printed(&["l-game", "--connect", &connect, "--level", "1", "--seed", "1"], "4 1 W\n");
    in_order(&text, &["p1 (me) plays 4 1 W", "p2 (default,level=1) plays "]);
}

#[test]
fn lines_from_a_pipe_wait_for_what_they_began() {
    let text = printed(
        &["isolation", "--rules", "width=5,height=5", "--time", "20ms"],
        "c3\nhint 20ms\nanalyse\n\ntext\nposition ...../...../...../...../21... 1\nmoves\nposition nonsense\nnew width=3,height=3\nanalyse 2 60s\nnew size=3\nrules\nb2\n",
    );
    let parts = [
        "p1 (me) plays c3",
        "p2 (default) plays ",
        "hint: ",
        "analysis for p1",
        "/",
        "3 moves",
        "no such position: ",
        "a new game",
        // So small a board is solved before the time is over, however busy the machine is.
        "analysis for p1",
        "1. loss in ",
        "2. loss in ",
        "`size`: ",
        "width=3",
        "p1 (me) plays b2",
        "p2 (default) plays ",
    ];
    in_order(&text, &parts);
    assert!(!text.contains('\x1b'), "a pipe gets no escape sequences");
    assert!(!text.contains("> "), "and nothing asks it for lines");
}

#[test]
fn what_is_no_command_is_answered_in_its_words() {
    let game = ["isolation", "--rules", "width=5,height=5", "--p2", "me"];
    let text = printed(&game, "draw\na9\na1\nundo 50\n");
    let parts = [
        "`draw` is neither a legal move here nor a command",
        "`a9` is neither a legal move here nor a command: ",
        "p1 (me) plays a1",
        "1 move taken back: there are no more",
    ];
    in_order(&text, &parts);
    assert!(!text.contains("after the column letter"), "{text}");
}

#[test]
fn a_game_is_resigned_and_one_that_is_left_unsaved_can_be_taken_up() {
    let folder = Folder::new("play-resign");
    let file = folder.path.join("game.jsonl").display().to_string();
    let game = ["isolation", "--rules", "width=5,height=5", "--p2", "me"];
    let script = format!("resi\nundo\na1\nb2\nresign\nresign\nsave {file}\nc2\nundo\nc2\nnew\nload {file}\n");
    let text = printed(&game, &script);
    let parts = [
        "p2 wins: resignation.",
        "1 move taken back",
        "p2 (me) plays b2",
        "p2 wins: resignation.",
        "there is nothing to resign: the game is over",
        "saved 2 plies",
        "no move can be made here",
        // The resignation.
        "1 move taken back",
        "p1 (me) plays c2",
        "the game before is not saved; this command resumes it:",
        "--moves a1 b2 c2",
        "a new game",
        "p2 wins by resignation",
    ];
    in_order(&text, &parts);
    assert!(!text.contains("you can play on"), "{text}");
    assert_eq!(text.matches("is not saved").count(), 1, "{text}");
    let text = printed(
        &["isolation", "--rules", "width=4,height=4", "--p1", "greedy"],
        "pause\nwatch\npause\nresign\n",
    );
    assert!(!text.contains("resignation"), "{text}");
}

#[test]
fn a_game_that_began_with_chance_goes_on_after_all_is_taken_back() {
    let position = "AA..../....../....../....../....../...... + ~";
    let game = ["ijk", "--rules", "mode=nondet", "--p2", "me", "--seed", "1", "--position", position];
    let text = printed(&game, "U\nundo 99\nU\n");
    let parts = [
        "chance: ~",
        "p1 (me) plays U",
        "1 move taken back: there are no more",
        "p1 (me) plays U",
        "this command resumes it",
    ];
    in_order(&text, &parts);
}

#[test]
fn the_engine_shows_its_score_if_one_asks_or_only_watches() {
    let game = ["isolation", "--rules", "width=5,height=5", "--time", "10ms"];
    let engine_moves = |script: &str, more: &[&str]| {
        let text = printed(&[&game[..], more].concat(), script);
        let moves: Vec<String> =
            text.lines().filter(|line| line.contains("(default) plays")).map(str::to_owned).collect();
        assert!(!moves.is_empty(), "{text}");
        moves
    };
    for (script, more, is_shown) in
        [("a1\nquit\n", &[][..], false), ("bar\na1\nquit\n", &[], true), ("", &["--p1", "default"], true)]
    {
        let moves = engine_moves(script, more);
        assert_eq!(moves[0].contains("depth "), is_shown, "{moves:?}");
    }
}

#[test]
fn players_are_watched_to_the_end() {
    let text = printed(&["isolation", "--rules", "width=4,height=4", "--p1", "greedy", "--p2", "random"], "");
    in_order(&text, &["p1 (greedy) plays ", "p2 (random) plays ", " wins: no move is left."]);
    let text = printed(&["sudoku", "--rules", "m=2,n=2"], "level 1\ntime 10ms\nwatch\nundo 2\nquit\n");
    in_order(
        &text,
        &["p1 (default,level=1), p2 (default,level=1)", "`review` says what", "2 moves taken back"],
    );
}

#[test]
fn proven_results_are_named() {
    let position = "x.x..x./.xxx.../.x.x21./x..xx.x/..xxx../.x...x./...x... 1";
    let text =
        printed(&["isolation", "--position", position, "--option", "exact=true"], "analyse 60s\nquit\n");
    assert!(text.contains("win in ") || text.contains("loss in "), "{text}");
}

#[test]
fn arguments_that_cannot_be_are_refused_with_a_way_out() {
    for (arguments, word) in [
        (&["no_such_game"][..], "possible values: "),
        (&["isolation", "--p1", "wizard"], "random"),
        (&["isolation", "--p2", "wizard"], "--p2 wizard: `player`: expected one of"),
        (&["isolation", "--p2", "me,level=3"], "`me` is you"),
        (&["isolation", "--p1", "engine"], "`default` is the engine, `me` is you"),
        (&["isolation", "--lvl", "3"], "--level 3"),
        (&["isolation", "--board", "6"], "--rules width=5,height=5"),
        (&["isolation", "--opponent", "random"], "--p2 random"),
        (
            &["isolation", "--load", "/nowhere"],
            "/nowhere: No such file or directory (os error 2); give a file of games",
        ),
        (&["isolation", "--p2", "default,level=30"], "--p2 default,level=30: `level`: "),
        (&["isolation", "--level", "3", "--option", "level=4"], "not both"),
        (&["isolation", "--option", "depth=4,depth=5"], "twice"),
        (&["isolation", "--p1", "default,fast"], "minimax,depth=3"),
        (&["isolation", "--position", "zz"], "--position"),
        (&["isolation", "--moves", "z9"], "move 1 of --moves"),
        (&["isolation", "--rules", "width=99"], "--rules width"),
        (&["isolation", "--rules", "width=5,width=6"], "twice"),
        (&["isolation", "--option", "speed=1"], "threads"),
        (&["isolation", "--level", "11"], "from 1, for beginners, to 10"),
        (&["isolation", "--level", "easy"], "from 1, for beginners, to 10"),
        (&["isolation", "--p2", "cmd=./bot"], "`plyd arena`"),
        (&["isolation", "--clock", "5m"], "tc=5m+3s"),
        (&["isolation", "--time", "0s"], "500ms"),
        (&["isolation", "--connect", "nowhere"], "tcp=127.0.0.1:7117"),
        (&["isolation", "--seed", "XYZ"], "hexadecimal"),
        (&["isolation", "--load", "/nowhere"], "--load"),
        (&["isolation", "--game", "2"], "--load"),
    ] {
        let output = pipe(arguments, "");
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(word), "{arguments:?} without `{word}`: {text}");
    }
    let output = pipe(&["isolation", "--connect", "tcp=127.0.0.1:1"], "");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn hostile_lines_are_answered_and_nothing_breaks() {
    let long = "x".repeat(200_000);
    let lines = format!(
        "{long}\n\0\x1b[2J\n\u{202e}abc\nundo undo\nply 18446744073709551615\nback 9999999999999999999\nsave\n{long}"
    );
    let output = pipe(&["isolation", "--p2", "me"], &lines);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    in_order(
        &text,
        &[
            "too long",
            "neither a legal move here nor a command",
            "is not a count",
            "that was the last ply",
            "the start of",
            "give a file",
            "too long",
        ],
    );
    assert!(!text.contains('\x1b') && !text.contains('\u{202e}'));
    // Bytes that are no text.
    let output = process::output_of(process::plyd(["play", "isolation"]), b"\xff\xfe\n");
    assert!(String::from_utf8_lossy(&output.stdout).contains("or it is not text"));
}
