//! Matches of several players, ended and gone on with, and their records shown: the real binary as people run
//! it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{TIMEOUT, process};
use crate::matches::{FAST, GREEDY, RANDOM, arena, command, directory, read, records, report, timeless};
use rustix::process::Signal;
use serde_json::{Value, json};

const SMALL: [&str; 3] = ["isolation", "--rules", "width=5,height=5"];

fn players<'a>(names: &[&'a str]) -> Vec<&'a str> {
    names.iter().flat_map(|name| ["--player", name]).collect()
}

#[test]
fn each_meets_each_or_the_first_meets_all() {
    let entrants = players(&[FAST, GREEDY, RANDOM]);
    for (format, pairings) in [
        (&[][..], vec![[0, 1], [0, 2], [1, 2]]),
        (&["--gauntlet"], vec![[0, 1], [0, 2]]),
        (&["--ladder"], vec![[0, 1], [1, 2]]),
    ] {
        let arguments = [&SMALL[..], &entrants, format, &["--games", "4", "--concurrency", "2"]].concat();
        let (records, report) = records(&arguments);
        let games = 4 * pairings.len();
        assert_eq!((records.len(), &report["summary"]["games"]), (games, &json!(games)));
        for (index, players) in pairings.iter().enumerate() {
            let pairing = &report["summary"]["meetings"][index];
            assert_eq!(pairing["players"], json!(players));
            let count = |field: &str| pairing[field].as_u64().unwrap();
            assert_eq!(count("wins") + count("draws") + count("losses"), 4, "{pairing}");
        }
        assert_eq!(report["ratings"][0]["player"], 0, "{}", report["ratings"]);
        // Each round has one opening for all.
        for round in records.chunks(2 * pairings.len()) {
            let opening = |record: &Value| record["moves"].as_array().unwrap()[..2].to_vec();
            assert!(round.iter().all(|record| opening(record) == opening(&round[0])));
        }
    }
    let output = arena(&[&SMALL[..], &entrants, &["--games", "4"]].concat());
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(["Elo", "points", "against", "won"].iter().all(|word| table.contains(word)), "{table}");
}

#[test]
fn a_test_ends_the_match_when_it_is_decided() {
    let entrants = players(&[FAST, RANDOM]);
    let test = ["--sprt", "elo0=0,elo1=100"];
    let report = report(&[&SMALL[..], &entrants, &test, &["--games", "2000"]].concat());
    let sprt = &report["sprt"];
    assert_eq!(sprt["verdict"], "H1", "{sprt}");
    assert!(sprt["llr"].as_f64() >= sprt["upper"].as_f64(), "{sprt}");
    assert_eq!(report["ended"], "decided");
    let games = report["summary"]["games"].as_u64().unwrap();
    assert!((4..1000).contains(&games) && games.is_multiple_of(2), "no game after the decision: {games}");
}

/// A match that takes some seconds.
fn long_match(file: &Path) -> Vec<String> {
    let entrants = players(&["default,nodes=20000", "default,nodes=10000"]);
    let options = ["--games", "40", "--concurrency", "2", "--record", file.to_str().unwrap()];
    [&SMALL[..], &entrants, &options].concat().into_iter().map(str::to_owned).collect()
}

/// Starts a match, waits until some games are recorded, and sends it a signal.
fn end_early(arguments: &[&str], file: &Path, signal: Signal) {
    let mut launch = command(Path::new("."), arguments);
    launch.command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut process = process::spawn(launch);
    let deadline = Instant::now() + TIMEOUT;
    // Until it is there, it cannot be read.
    while !std::fs::read_to_string(file).is_ok_and(|text| text.lines().count() >= 5) {
        assert!(Instant::now() < deadline && process::runs(&mut process));
        std::thread::sleep(Duration::from_millis(1));
    }
    process::signal(&process, signal);
    process::exit(&mut process);
}

#[test]
fn a_match_that_was_ended_goes_on_without_a_lost_or_doubled_game() {
    let whole = directory().join("whole.jsonl");
    let arguments = long_match(&whole);
    assert!(arena(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).status.success());
    let expected: Vec<Value> = read(&whole).into_iter().map(timeless).collect();
    // What a kill in the middle of writing would leave.
    let half = &std::fs::read(&whole).unwrap()[..100];
    for signal in [Signal::KILL, Signal::INT, Signal::TERM] {
        let file = directory().join("ended.jsonl");
        let arguments = long_match(&file);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        end_early(&arguments, &file, signal);
        let ended = read(&file).len();
        assert!((5..40).contains(&ended), "{signal:?}: {ended}");
        OpenOptions::new().append(true).open(&file).unwrap().write_all(half).unwrap();
        let report = report(&arguments);
        assert_eq!(report["summary"]["games"], 40);
        let games: Vec<Value> = read(&file).into_iter().map(timeless).collect();
        assert_eq!(games, expected, "{signal:?}");
        // Nothing is left to play: the same again only reports.
        let length = std::fs::metadata(&file).unwrap().len();
        assert_eq!(self::report(&arguments)["summary"], report["summary"]);
        assert_eq!(std::fs::metadata(&file).unwrap().len(), length);
    }
}

#[test]
fn a_file_of_other_games_is_left_as_it_is() {
    let file = directory().join("games.jsonl");
    let name = file.to_str().unwrap();
    let play = |more: &[&str]| {
        let entrants = players(&[FAST, GREEDY]);
        arena(&[&SMALL[..], &entrants, &["--games", "4", "--record", name], more].concat())
    };
    assert!(play(&[]).status.success());
    let games = std::fs::read(&file).unwrap();
    for (more, word) in [
        (&["--seed", "7"][..], "another seed"),
        (&["--random-plies", "3"], "another opening"),
        (&["--max-moves", "7"], "other terms"),
        (&["--margin", "1s"], "other terms"),
        (&["--adjudicate", "proof"], "other terms"),
        (&["--player", "random"], "instead of"),
        (&["--gauntlet", "--player", "random"], "instead of"),
    ] {
        let output = play(more);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{more:?}: {text}");
        assert!(text.contains(word) && text.contains("line "), "{more:?}: {text}");
        assert_eq!(std::fs::read(&file).unwrap(), games);
    }
    for (content, word) in
        [("dear diary", "line 1"), ("dear diary\n", "line 1"), ("{\"record\":2}\n", "line 1")]
    {
        std::fs::write(&file, content).unwrap();
        let text = String::from_utf8(play(&[]).stderr).unwrap();
        assert!(text.contains(word), "{text}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
    }
    let doubled = [&games[..], &games[..]].concat();
    std::fs::write(&file, &doubled).unwrap();
    assert!(String::from_utf8(play(&[]).stderr).unwrap().contains("there twice"));
    let rebuilt = String::from_utf8(games.clone()).unwrap().replace("\"build\":\"", "\"build\":\"0");
    std::fs::write(&file, &rebuilt).unwrap();
    assert!(String::from_utf8(play(&[]).stderr).unwrap().contains("another build"));
    // A longer match begins as the shorter one did, also where an editor took the end of the last line.
    std::fs::write(&file, &games[..games.len() - 1]).unwrap();
    let entrants = players(&[FAST, GREEDY]);
    let longer = report(&[&SMALL[..], &entrants, &["--games", "6", "--record", name]].concat());
    assert_eq!((&longer["summary"]["games"], &longer["ended"]), (&json!(6), &json!("played")));
    assert!(std::fs::read(&file).unwrap().starts_with(&games));
}

#[test]
fn openings_come_from_a_file() {
    let (games, _) = records(&[&SMALL[..], &players(&[FAST, RANDOM]), &["--games", "2"]].concat());
    let start = games[0]["start"].as_str().unwrap();
    let file = directory().join("openings.txt");
    std::fs::write(&file, format!("# two of them\n{start}\n\n{}\n", games[0])).unwrap();
    let name = file.to_str().unwrap();
    let arguments = [&SMALL[..], &players(&[FAST, RANDOM]), &["--games", "6", "--openings", name]].concat();
    let (played, report) = records(&arguments);
    let openings: Vec<&Value> = played.iter().map(|record| &record["opening"]).collect();
    assert_eq!(openings, [0, 0, 2, 2, 0, 0]);
    assert_eq!(played[2]["moves"].as_array().unwrap()[..2], games[0]["moves"].as_array().unwrap()[..2]);
    assert_eq!(report["openings"], 2);
    for (text, word) in [("", "no opening"), ("\n# nothing\n", "no opening"), ("nonsense\n", "line 1")] {
        std::fs::write(&file, text).unwrap();
        let output = arena(&arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(word), "{message}");
    }
}

/// Runs `plyd show` with some input and gives its output and what it says on stderr.
fn show(arguments: &[&str], input: &str) -> (String, String) {
    let output = process::output_of(process::plyd([&["show"], arguments].concat()), input);
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn games_are_shown_as_they_were_played() {
    let file = directory().join("games.jsonl");
    let name = file.to_str().unwrap();
    let entrants = players(&[FAST, RANDOM]);
    report(&[&SMALL[..], &entrants, &["--games", "4", "--record", name]].concat());
    let games = read(&file);
    let (list, _) = show(&[name], "");
    assert_eq!(list.lines().count(), 5, "{list}");
    assert!(list.contains(FAST) && list.contains("wins by stuck"), "{list}");
    let moves = games[1]["moves"].as_array().unwrap();
    let (game, _) = show(&[name, "--game", "2"], "");
    for mv in moves {
        assert!(game.contains(mv.as_str().unwrap()), "{game}");
    }
    assert!(game.contains("p1: random") && game.contains("width=5"), "{game}");
    let (start, _) = show(&[name, "--game", "2", "--ply", "0"], "");
    assert!(start.contains("the start of ") && start.contains("p1 to move"), "{start}");
    // Steps on and back: what is shown last is ply 1 again, and the end of the input ends the command.
    let (steps, _) = show(&[name, "--game", "2", "--step"], "n\n\np\n999\nwhat?\n");
    let plies: Vec<&str> = steps.lines().filter_map(|line| line.split(" of ").next()).collect();
    let shown = |text: &str| plies.iter().filter(|line| **line == text).count();
    assert_eq!((shown("the start"), shown("ply 1"), shown("ply 2")), (1, 2, 1), "{steps}");
    assert_eq!(steps.matches("no such ply").count(), 2, "{steps}");
    let mut branched = games[1].clone();
    branched["comments"] = json!({"1": "a start\nto remember"});
    branched["variations"] = json!([
        {"of": 0, "ply": 1, "moves": ["c3", "d4"], "scores": {"2": {"bound": "exact", "eval": 7}}},
        {"of": 1, "ply": 2, "moves": ["e5"]},
    ]);
    let (game, _) = show(&["-"], &branched.to_string());
    assert!(game.contains("2 variations beside"), "{game}");
    assert!(
        game.contains("variation 1, after ply 1: c3; d4\nvariation 2, after ply 2 of variation 1: e5\n"),
        "{game}"
    );
    let (start, _) = show(&["-", "--ply", "1"], &branched.to_string());
    assert!(start.contains("“a start to remember”"), "{start}");
    let (piped, _) = show(&["-"], &games[0].to_string());
    assert!(piped.contains(&format!("p1: {FAST}")), "{piped}");
    // A record comes from anywhere: a terminal is not given what it would obey.
    let mut hostile = games[0].clone();
    hostile["players"][0]["name"] = json!("a\u{1b}[2J\nb");
    let hostile = format!("{hostile}\n");
    for input in [hostile.clone(), hostile.repeat(2)] {
        let (shown, _) = show(&["-"], &input);
        assert!(shown.contains("a\u{fffd}[2J\u{fffd}b") && !shown.contains('\u{1b}'), "{shown}");
    }
    for (arguments, input, word) in [
        (&[name, "--game", "9"][..], "", "no game 9"),
        (&[name, "--step"], "", "--game N"),
        (&[name, "--game", "2", "--ply", "99"], "", "plies"),
        (&["/nowhere"], "", "/nowhere"),
        (&["-"], "", "no game"),
        (&["-"], "{}\n", "line 1"),
        (&["-"], "[[[[\n", "line 1"),
    ] {
        let (output, message) = show(arguments, input);
        assert!(output.is_empty() && message.contains(word), "{arguments:?}: {message}");
    }
}
