//! `plyd ugi` as tournament managers meet it: the real binary, bytes in and lines out.

use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::process::Stdio;

use crate::common::{is_whole, process};
use crate::games::games;
use crate::ugi_engine::Engine;
use plyd::engine::Entry;
use plyd::engine::conformance::{Sample, few};

/// A position of Isolation 11x9 that no search decides.
const WIDE: &[&str] = &["isolation", "--rules", "preset=11x9"];

fn bestmoves(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.starts_with("bestmove ")).count()
}

/// The value behind a name in an `info` line.
fn value<'a>(line: &'a str, name: &str) -> &'a str {
    line.split(' ').skip_while(|word| *word != name).nth(1).unwrap_or_else(|| panic!("no {name}: {line}"))
}

/// A game between two processes, asked as cutegames asks: it trusts the engines for the turn, the end and the
/// result.
fn play(mut engines: [Engine; 2], fen: &str, most: usize) -> Option<String> {
    for engine in &mut engines {
        engine.say("ugi");
        engine.until("ugiok");
        engine.sync();
        engine.say("uginewgame");
    }
    let mut moves: Vec<String> = Vec::new();
    loop {
        let mut position = format!("position {fen}");
        if !moves.is_empty() {
            position += &format!(" moves {}", moves.join(" "));
        }
        for engine in &mut engines {
            engine.say(&position);
        }
        let turn = engines[0].query("p1turn");
        assert_eq!(turn, engines[1].query("p1turn"), "{}", engines[0]);
        let mover = usize::from(turn == "false");
        assert_eq!(engines[mover].sync(), Vec::<String>::new(), "{}", engines[0]);
        let over = engines[mover].query("gameover");
        assert_eq!(over, engines[1 - mover].query("gameover"), "{}", engines[0]);
        let result = engines[mover].query("result");
        assert_eq!(result, engines[1 - mover].query("result"), "{}", engines[0]);
        assert_eq!(over == "true", result != "none", "{}", engines[0]);
        if over == "true" {
            assert_eq!(engines[mover].go("nodes 10").1, "0000", "{}: a game that is over", engines[0]);
            return Some(result);
        }
        if moves.len() == most {
            return None;
        }
        let (lines, mv) = engines[mover].go("nodes 300");
        let last = lines.last().unwrap();
        assert_eq!(value(last, "pv"), mv, "{}: {last}", engines[0]);
        for name in ["depth", "nodes", "time", "nps"] {
            assert!(value(last, name).parse::<u64>().is_ok(), "{}: {name}: {last}", engines[0]);
        }
        moves.push(mv);
    }
}

/// What UGI can play of a game, from at most so many positions: no chance.
fn deterministic(entry: &'static Entry, most: usize) -> Vec<Sample> {
    let samples = few(entry, usize::MAX, 200).unwrap().into_iter();
    samples.filter(|sample| !sample.root().unwrap().is_stochastic()).take(most).collect()
}

/// An engine for a game under the rules of a position.
fn start(sample: &Sample) -> Engine {
    match sample.rules_text().as_str() {
        "" => Engine::start(&[sample.entry.name]),
        rules => Engine::start(&[sample.entry.name, "--rules", rules]),
    }
}

#[test]
fn every_deterministic_game_is_played_to_its_end() {
    let mut ended = 0;
    for sample in games().into_iter().flat_map(|entry| deterministic(entry, if is_whole() { 4 } else { 2 })) {
        let fen = sample.start.as_ref().map_or("startpos".to_owned(), |text| format!("fen {text}"));
        // Games without an end under these rules are played on for a while.
        let result = play([start(&sample), start(&sample)], &fen, 60);
        assert!(
            result.as_ref().is_none_or(|result| ["p1win", "p2win", "draw"].contains(&&**result)),
            "{sample}"
        );
        ended += usize::from(result.is_some());
    }
    assert!(ended > 0 || games().len() == 1, "no game ends");
}

#[test]
fn the_introduction_lists_options_that_can_be_set() {
    for sample in games().into_iter().flat_map(|entry| deterministic(entry, 1)) {
        let game = sample.entry.name;
        let mut engine = start(&sample);
        engine.say("ugi");
        let mut lines = engine.until("ugiok");
        lines.pop();
        assert!(lines[0].starts_with("id name plyd ") && lines[0].ends_with(game), "{engine}: {}", lines[0]);
        assert!(lines[1].starts_with("id author "), "{engine}: {}", lines[1]);
        for option in &lines[2..] {
            let (name, default) = (value(option, "name"), value(option, "default"));
            let least = if option.contains(" min ") { value(option, "min") } else { default };
            for chosen in [default, least] {
                let notes = engine.notes(&format!("setoption name {name} value {chosen}"));
                assert_eq!(notes, Vec::<String>::new(), "{engine}: {option}");
            }
        }
        assert_ne!(engine.go("nodes 50").1, "0000", "{engine}");
    }
}

#[test]
fn a_failure_names_the_game_and_the_position() {
    for (game, position) in [("isolation", "position startpos moves d4 b3"), ("l-game", "")] {
        let mut engine = Engine::start(&[game]);
        engine.say(position);
        let failure = panic::catch_unwind(AssertUnwindSafe(|| {
            engine.input = None;
            engine.until("never");
        }));
        let text = failure.unwrap_err().downcast::<String>().unwrap();
        assert!(text.contains(game) && text.contains(position), "{text}");
    }
}

#[test]
fn options_change_the_player() {
    let mut engine = Engine::start(WIDE);
    for (name, value) in [("Hash", "32"), ("threads", "1"), ("MultiPV", "3"), ("eval", "mobility")] {
        assert_eq!(engine.notes(&format!("setoption name {name} value {value}")), Vec::<String>::new());
    }
    let (lines, mv) = engine.go("depth 4");
    let ranks: Vec<&str> = lines[lines.len() - 3..].iter().map(|line| value(line, "multipv")).collect();
    assert_eq!(ranks, ["1", "2", "3"]);
    assert_eq!(value(&lines[lines.len() - 3], "pv"), mv);
    // A depth of the player's own ends a search that nothing else would end; its default sets no end.
    engine.say("setoption name multipv value 1");
    engine.say("setoption name player value alphabeta");
    engine.say("setoption name depth value 2");
    let (lines, _) = engine.go("movetime 60000");
    assert_eq!(value(lines.last().unwrap(), "depth"), "2");
    for (line, word) in [
        ("setoption name ownbook value false", "ownbook"),
        ("setoption name eval value wrong", "expected one of"),
        ("setoption name threads value many", "threads"),
        ("setoption name multipv value 0", "1 to 1000"),
        ("setoption name depth value 1001", "1 to 1000"),
    ] {
        let notes = engine.notes(line);
        assert!(
            notes.len() == 1 && notes[0].starts_with("info string ") && notes[0].contains(word),
            "{notes:?}"
        );
    }
    let notes = engine.notes("setoption name player value seed");
    assert!(notes.len() == 1 && notes[0].contains("`seed` is called `published` now"), "{notes:?}");
    assert_ne!(engine.go("nodes 50").1, "0000");
}

#[test]
fn queries_are_about_the_position_that_was_sent_last() {
    let mut engine = Engine::start(&["l-game"]);
    assert_eq!(
        [engine.query("p1turn"), engine.query("gameover"), engine.query("result")],
        ["true", "false", "none"]
    );
    assert_eq!(engine.query("fen"), "3 1 W 1 1 4 4 2 4 E 1");
    engine.say("position startpos moves 4_3_W");
    assert_eq!(
        [engine.query("p1turn"), engine.query("gameover"), engine.query("result")],
        ["false", "false", "none"]
    );
    engine.say("uginewgame");
    assert_eq!(engine.query("p1turn"), "true");
    engine.say("position fen 3 3 E 2 1 3 4 2 4 W 2");
    assert_eq!(engine.query("p1turn"), "false");

    let mut engine = Engine::start(&["isolation", "--position", "1../..2/... 1"]);
    for (position, result) in [
        ("startpos", ["true", "false", "none"]),
        ("startpos moves b3", ["false", "false", "none"]),
        ("fen 1xx/x2x/xxx 1", ["true", "true", "p2win"]),
        ("fen 1xx/x2x/xxx 2", ["false", "true", "p1win"]),
    ] {
        engine.say(&format!("position {position}"));
        assert_eq!(["p1turn", "gameover", "result"].map(|what| engine.query(what)), result, "{position}");
    }

    let mut engine = Engine::start(&["l-game", "--rules", "max_plies=1"]);
    engine.say("position startpos moves 4_3_W");
    assert_eq!(["gameover", "result"].map(|what| engine.query(what)), ["true", "draw"]);
}

#[test]
fn a_position_that_cannot_be_played_ends_the_game_without_a_result() {
    let mut engine = Engine::start(&["isolation"]);
    for position in [
        "position startpos moves a1 a1",
        "position startpos moves a1 zz",
        "position fen nonsense",
        "position fen 1xx 1",
        "position startpos a1",
        "position",
        "position fen",
        "position fen moves a1",
        "position a1",
    ] {
        assert_eq!(engine.notes("position startpos"), Vec::<String>::new());
        let notes = engine.notes(position);
        assert!(
            notes.len() == 1 && notes[0].starts_with("info string no position: "),
            "{position}: {notes:?}"
        );
        assert_eq!(["gameover", "result"].map(|what| engine.query(what)), ["true", "none"], "{position}");
        assert_eq!(engine.go("movetime 10").1, "0000", "{position}");
    }
    engine.say("position startpos");
    assert_ne!(engine.go("movetime 10").1, "0000");
}

#[test]
fn lines_that_are_too_long_leave_no_position_and_no_go_without_an_answer() {
    let mut engine = Engine::start(&["isolation"]);
    // Longer than what is read, and longer than what is read only when it is put as a request.
    for long in [" b3".repeat(400_000), " \u{1}".repeat(200_000)] {
        assert_eq!(engine.notes("position startpos"), Vec::<String>::new());
        let notes = engine.notes(&format!("position startpos moves{long}"));
        assert!(notes.len() == 1 && notes[0].starts_with("info string no position: "), "{notes:?}");
        assert_eq!(["gameover", "result"].map(|what| engine.query(what)), ["true", "none"]);
        assert_eq!(engine.go("movetime 10").1, "0000");
    }
    engine.say("position startpos");
    assert_eq!(engine.go(&format!("searchmoves{}", " \u{1}".repeat(200_000))).1, "0000");
    assert_ne!(engine.go("movetime 10").1, "0000");
}

#[test]
fn every_kind_of_go_is_answered() {
    let mut engine = Engine::start(WIDE);
    engine.say("position startpos moves f5 e7");
    for how in [
        "p1time 2000 p2time 2000 p1inc 0 p2inc 0",
        "p1time 300 p1inc 10 p2time 400 p2inc 20 movestogo 4",
        "p2time 100",
        "movetime 50",
        "movetime 50 p1time 3600000 p2time 3600000",
        "movetime 3600000 p1time 50 p2time 50",
        "movetime 0",
        "movetime -7",
        "p1time -1 p2time 1000 p1inc 0 p2inc 0",
        "depth 3",
        "depth 0",
        "nodes 1000",
        "nodes 0",
        "movetime",
        "movetime soon",
        "depth 2 movetime 60000 nonsense",
        "movetime 99999999999999999999999 nodes 100",
    ] {
        assert_ne!(engine.go(how).1, "0000", "{how}");
    }
    assert_eq!(engine.go("nodes 100 searchmoves d4").1, "d4");
    let (lines, mv) = engine.go("nodes 100 searchmoves a1");
    assert_eq!((mv.as_str(), lines.len()), ("0000", 1), "{lines:?}");
}

#[test]
fn searches_without_an_end_are_stopped() {
    for how in ["infinite", "", "ponder", "ponder p1time 60000 p2time 60000 p1inc 0 p2inc 0"] {
        let mut engine = Engine::start(WIDE);
        engine.say(&format!("go {how}"));
        engine.until("info");
        assert_eq!(bestmoves(&engine.sync()), 0, "{how}");
        assert_eq!(engine.query("p1turn"), "true");
        let notes = engine.notes("stop");
        assert_eq!(bestmoves(&notes), 1, "{how}: {notes:?}");
        assert!(notes.last().unwrap().starts_with("bestmove "), "{how}: {notes:?}");
        assert_eq!(engine.notes("stop"), Vec::<String>::new(), "nothing is left to stop");
    }
}

#[test]
fn a_ponder_that_is_solved_waits_for_its_end() {
    for end in ["ponderhit", "stop"] {
        let mut engine = Engine::start(&["l-game"]);
        engine.say("position fen 3 3 E 2 1 3 4 2 4 W 1");
        engine.say("go ponder p1time 60000 p2time 60000 p1inc 0 p2inc 0");
        for _ in 0..50 {
            assert_eq!(bestmoves(&engine.sync()), 0);
        }
        engine.say(end);
        engine.until("bestmove");
        let notes = engine.notes("ponderhit");
        assert!(notes.len() == 1 && notes[0].starts_with("info string "), "{notes:?}");
    }
}

#[test]
fn a_ponder_hit_starts_the_clock() {
    let mut engine = Engine::start(WIDE);
    engine.say("go ponder movetime 30");
    engine.until("info");
    assert_eq!(bestmoves(&engine.sync()), 0);
    engine.say("ponderhit");
    engine.until("bestmove");
    engine.say("go ponder");
    engine.until("info");
    engine.say("ponderhit");
    assert_eq!(bestmoves(&engine.sync()), 0, "no clock, no end");
    assert_eq!(bestmoves(&engine.notes("stop")), 1);
}

#[test]
fn each_go_has_one_answer() {
    let mut engine = Engine::start(WIDE);
    for after in ["go nodes 100", "uginewgame", "setoption name hash value 8", "stop"] {
        engine.say("position startpos moves a1 b2");
        engine.say("go infinite");
        engine.say(after);
        let notes = engine.sync();
        let expected = 1 + usize::from(after.starts_with("go"));
        let late = if bestmoves(&notes) < expected { bestmoves(&engine.until("bestmove")) } else { 0 };
        assert_eq!(bestmoves(&notes) + late, expected, "{after}: {notes:?}");
    }
    // A position for later leaves the search its own.
    engine.say("position startpos moves a1 b2");
    engine.say("go infinite");
    engine.say("position startpos");
    assert_eq!(bestmoves(&engine.sync()), 0);
    engine.say("stop");
    let mv = engine.until("bestmove").pop().unwrap();
    assert!(["bestmove b3", "bestmove c2"].contains(&mv.as_str()), "{mv}");
}

#[test]
fn nonsense_is_reported_and_ends_nothing() {
    let mut engine = Engine::start(&["isolation"]);
    for line in [
        "joho",
        "uci",
        "{\"id\":\"1\",\"cmd\":\"ping\"}",
        "query",
        "query winner",
        "position",
        "position fen",
        "position a1 b2",
        "setoption",
        "setoption hash 12",
        "ponderhit",
        "\u{1}\u{2}\u{7f}",
    ] {
        let notes = engine.notes(line);
        assert!(notes.len() == 1 && notes[0].starts_with("info string "), "{line}: {notes:?}");
    }
    assert_eq!(engine.notes(""), Vec::<String>::new());
    assert_eq!(engine.notes("  \r"), Vec::<String>::new());
    engine.bytes(&[0xff, 0xfe, 0, b'\n']);
    engine.bytes(&[vec![b'x'; 200_000], vec![b'\n']].concat());
    engine.bytes(format!("position startpos moves{}\n", " \u{1}".repeat(30_000)).as_bytes());
    let notes = engine.sync();
    assert_eq!(notes.len(), 3, "{notes:?}");
    engine.say("position startpos");
    assert_ne!(engine.go("nodes 10").1, "0000");
}

#[test]
fn the_end_of_input_lets_searches_answer() {
    for (how, count) in [("nodes 20000", 1), ("movetime 100", 1), ("infinite", 1), ("ponder", 1)] {
        let mut engine = Engine::start(WIDE);
        engine.say(&format!("go {how}"));
        let (lines, status) = engine.end();
        assert_eq!(bestmoves(&lines), count, "{how}: {lines:?}");
        assert!(status.success(), "{how}: {status}");
    }
    let mut engine = Engine::start(WIDE);
    engine.bytes(b"ugi\nposition startpos\ngo nodes 50\nquery p1turn");
    let (lines, status) = engine.end();
    assert!(lines.contains(&"ugiok".to_owned()) && lines.contains(&"response true".to_owned()), "{lines:?}");
    assert!(bestmoves(&lines) == 1 && status.success(), "{lines:?}");
    let (lines, status) = Engine::start(WIDE).end();
    assert!(lines.is_empty() && status.success());
}

#[test]
fn quit_ends_the_process_whatever_it_does() {
    for (before, count) in [("", 0), ("go infinite", 1), ("go ponder", 1), ("go movetime 60000", 1)] {
        let mut engine = Engine::start(WIDE);
        engine.say(before);
        engine.say("quit");
        // The input stays open: the word is enough.
        let input = engine.input.take();
        let (lines, status) = engine.end();
        assert_eq!(bestmoves(&lines), count, "{before}: {lines:?}");
        assert!(status.success(), "{before}: {status}");
        drop(input);
    }
}

#[test]
fn a_reader_that_is_gone_ends_the_process() {
    let mut launch = process::plyd([&["ugi"], WIDE].concat());
    launch.command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = process::spawn(launch);
    drop(process.take_stdout());
    let mut input = process.take_stdin().unwrap();
    input.write_all(b"go infinite\n").unwrap();
    // It does not search on for nobody.
    process::exit(&mut process);
}

#[test]
fn games_that_ugi_cannot_play_are_refused_with_a_reason() {
    for (arguments, word) in [
        (&["ugi", "ijk", "--rules", "mode=nondet"][..], "chance"),
        (&["ugi", "no_such_game"], "possible values: "),
        (&["ugi", "isolation", "--rules", "gravity=1"], "gravity"),
        (&["ugi", "isolation", "--position", "nonsense"], "--position"),
        (&["ugi"], "GAME"),
    ] {
        let output = process::output(process::plyd(arguments));
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(word), "{arguments:?} without `{word}`: {text}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}
