//! Pictures of boards, by `plyd draw` and by `inspect`: the ones of the docs are drawn anew and compared.
//!
//! `UPDATE_PICTURES=1 cargo test --test it draw` renews them.

use std::env;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{Random, Server, inspect, process};
use crate::games::{Request, games};
use plyd::engine::conformance::few;
use serde_json::{Value, json};

/// A game under way: the game, its rules and its moves.
type Shown = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

/// One of each game, as its file in `docs/images` shows it.
const PICTURES: [Shown; 5] = [
    ("l-game", &[], &["4 3 W 4 4 3 1", "1 4 E 3 1 2 1", "3 3 E 2 1 2 3"]),
    ("isolation", &[], &["d4", "c4", "b5", "e3", "c3", "d5", "e4", "b4", "c5", "d3"]),
    (
        "colosseum",
        &[("size", "7"), ("seed", "5")],
        &["32l", "34r", "33l", "43u", "44r", "43d", "23u", "24r", "44u", "31l", "22u", "41l", "42d", "21l"],
    ),
    (
        "ijk",
        &[],
        &[
            "D", "D", "R", "D", "R", "R", "D", "L", "L", "R", "D", "D", "D", "U", "D", "D", "D", "L", "D",
            "D", "U", "D", "U",
        ],
    ),
    ("sudoku", &[], &["0,5,6", "0,8,9", "0,6,7", "0,0,1", "0,1,2", "1,1,5", "1,2,6", "1,4,8", "0,7,8"]),
];

/// What else is there: the map of the code, and the preview with all boards in it.
const NO_BOARDS: [&str; 2] = ["code-map", "social"];

/// The picture of a layer: who wins after each first placement of Isolation.
const LAYER: &str = "openings-7x7";

/// The most bytes of a picture that the specification promises.
const MOST: usize = 256 << 10;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images")
}

fn draw(arguments: &[impl AsRef<str>]) -> Output {
    process::output(process::plyd(["draw"].into_iter().chain(arguments.iter().map(AsRef::as_ref))))
}

/// What a command that succeeds draws.
fn drawn(arguments: &[impl AsRef<str> + Debug]) -> String {
    let output = draw(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The picture that a daemon answers.
fn answered(game: &Value, position: &Value) -> String {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    inspect(&mut peer, game, position, &["svg"])["svg"].as_str().unwrap().to_owned()
}

/// What `plyd draw` takes to draw one of them.
fn arguments((game, rules, moves): &Shown) -> Vec<String> {
    let given: Vec<String> = rules.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut arguments = vec![(*game).to_owned()];
    if !rules.is_empty() {
        arguments.extend(["--rules".to_owned(), given.join(",")]);
    }
    arguments.extend(["--moves"].iter().chain(*moves).map(|&word| word.to_owned()));
    arguments
}

/// Whether the file of that name in `docs/images` holds this. It is renewed first if the environment says so.
fn is_current(name: &str, svg: &str) -> bool {
    let file = folder().join(format!("{name}.svg"));
    if env::var_os("UPDATE_PICTURES").is_some() {
        fs::write(&file, svg).unwrap();
    }
    fs::read_to_string(&file).is_ok_and(|kept| kept == svg)
}

#[test]
fn the_pictures_of_the_docs_are_what_commands_and_daemons_draw() {
    let mut stale = Vec::new();
    for shown in PICTURES {
        let (game, rules, moves) = shown;
        let svg = drawn(&arguments(&shown));
        // Numbers are numbers there, and a seed is a text.
        let value = |name: &str, text: &str| match text.parse::<i64>() {
            Ok(number) if name != "seed" => json!(number),
            _ => json!(text),
        };
        let rules: Value = rules.iter().map(|(name, text)| ((*name).to_owned(), value(name, text))).collect();
        let game_and_rules = json!({ "game": game, "rules": rules });
        assert_eq!(answered(&game_and_rules, &json!({ "moves": moves })), svg, "{game}");
        if !is_current(game, &svg) {
            stale.push(game);
        }
    }
    assert!(stale.is_empty(), "{stale:?}: `UPDATE_PICTURES=1 cargo test --test it draw` renews them");
    let all = fs::read_dir(folder()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let boards = all.filter_map(|name| name.strip_suffix(".svg").map(str::to_owned));
    let mut drawn: Vec<String> = boards.filter(|name| !NO_BOARDS.contains(&&**name)).collect();
    let mut known: Vec<&str> = PICTURES.iter().map(|(game, ..)| *game).chain([LAYER]).collect();
    drawn.sort();
    known.sort_unstable();
    assert_eq!(drawn, known, "each picture of a board is drawn anew");
}

#[test]
fn layers_are_drawn_in_the_place_of_the_usual_ones() {
    let book = drawn(&["isolation", "--layer", "book"]);
    assert!(is_current(LAYER, &book), "`UPDATE_PICTURES=1 cargo test --test it draw` renews it");
    assert_eq!(book.matches("class=\"plyd-p2-ground\"").count(), 49, "player 2 wins everywhere");
    assert_eq!(book.matches(">16</text>").count(), 1, "{book}");
    assert_eq!(drawn(&["isolation", "--layer", "none"]), drawn(&["isolation"]), "none is usual there");
    let position = "2 2 1 2 3 . 3 4 1 2 2 1 . 3 . 3 . 1; scores 2 1";
    let sudoku = |layers: &[&str]| drawn(&[&["sudoku", "--position", position][..], layers].concat());
    let (usual, closing) = (sudoku(&[]), sudoku(&["--layer", "closing"]));
    assert_eq!(sudoku(&["--layer", "taboo", "--layer", "candidates"]), usual);
    assert!(closing.contains(">+7</text>") && closing.contains(">2 left</text>") && !usual.contains(">+7<"));
    let both = sudoku(&["--layer", "candidates,closing"]);
    assert!(both.len() > closing.len() && both.contains(">+7</text>"), "{both}");
}

#[test]
fn layers_are_listed_and_a_wrong_name_is_told_which_there_are() {
    let listed = drawn(&["sudoku", "--list-layers"]);
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["candidates", "taboo", "closing"]);
    assert!(listed.lines().next().unwrap().ends_with("usual"), "{listed}");
    for (arguments, says) in [
        (
            &["isolation", "--layer", "bok"][..],
            "--layer bok: this board of isolation has no such layer; it has ground, book",
        ),
        // After both placements the book has no cells to colour.
        (&["isolation", "--moves", "a1", "c1", "--layer", "book"], "has ground"),
        (&["ijk", "--layer", "ground"], "it has none"),
        (&["ijk", "--list-layers", "--layer", "ground"], "cannot be used with"),
    ] {
        let output = draw(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{arguments:?}: {error}");
        assert!(error.contains(says), "{arguments:?}: {error}");
    }
}

/// What sites show beside a link to the project: its name, a sentence, and the five boards, 1280 by 640.
#[test]
fn the_social_preview_shows_the_boards_as_they_are_drawn() {
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"1280\" height=\"640\" \
         viewBox=\"0 0 1280 640\" font-family=\"system-ui,sans-serif\"><title>plyd: five board games, one \
         engine</title><rect width=\"1280\" height=\"640\" fill=\"#f4f2ec\"/>\
         <text x=\"48\" y=\"146\" font-size=\"112\" font-weight=\"700\" fill=\"#23262b\">plyd</text>\
         <g font-size=\"38\" fill=\"#4b4f57\"><text x=\"48\" y=\"222\">Plays five board games that chess engines \
         do not play,</text><text x=\"48\" y=\"274\">for people, and for programs by lines of JSON.</text></g>\n",
    );
    for (place, shown) in PICTURES.iter().enumerate() {
        let board = drawn(&[arguments(shown), vec!["--theme".to_owned(), "light".to_owned()]].concat());
        let (_, board) = board.split_once("viewBox=").expect("a picture says what it shows");
        let x = 48 + place * (224 + 16);
        svg.push_str(&format!("<svg x=\"{x}\" y=\"352\" width=\"224\" height=\"224\" viewBox={board}"));
    }
    svg.push_str("</svg>\n");
    assert!(is_current("social", &svg), "`UPDATE_PICTURES=1 cargo test --test it draw` renews it");
}

#[test]
fn every_game_is_drawn_with_its_last_move_in_words() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    let mut random = Random::new(11);
    for sample in games().into_iter().flat_map(|entry| few(entry, 3, 200).unwrap()) {
        for plies in [0, 1, 9] {
            let moves = sample.stroll_to_move(&mut random, plies);
            let position = sample.position(&moves);
            let result = inspect(&mut peer, &sample.game(), &position, &["svg", "to_move"]);
            let svg = result["svg"].as_str().unwrap();
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{position}: {svg}");
            assert!(svg.len() <= MOST, "{position}: {} bytes", svg.len());
            let player = result["to_move"].as_str().unwrap().replace('p', "player ");
            assert!(svg.contains(&format!(": {player} to move</title>")), "{position}: {svg}");
            if moves.is_empty() {
                assert!(!svg.contains("last move"), "{position}: {svg}");
            }
        }
    }
    let game = json!({ "game": "colosseum", "rules": { "size": 6, "seed": "5" } });
    let legal = inspect(&mut peer, &game, &json!({}), &["legal"])["legal"][0].clone();
    let played = inspect(&mut peer, &game, &json!({ "moves": [legal] }), &["svg"]);
    assert!(played["svg"].as_str().unwrap().contains("last move: "), "{played}");
}

#[test]
fn the_largest_boards_keep_the_bound() {
    for (arguments, shows) in [
        (&["sudoku", "--rules", "m=5,n=5"][..], "25 rows and 25 columns"),
        (&["sudoku", "--rules", "m=3,n=3"], ">9</text>"),
        (&["isolation", "--rules", "width=15,height=8"], ">o</text>"),
        (&["colosseum", "--rules", "size=12"], ">b</text>"),
        (&["ijk", "--rules", "preset=v2"], ">f</text>"),
    ] {
        let svg = drawn(arguments);
        assert!(svg.contains(shows), "{arguments:?} without {shows}: {svg}");
        assert!(svg.len() <= MOST, "{arguments:?}: {} bytes", svg.len());
    }
}

#[test]
fn a_picture_follows_its_reader_unless_it_is_told_to_be_light_or_dark() {
    let ground = |theme| {
        let svg = drawn(&["isolation", "--moves", "d4", "--theme", theme]);
        let rect = svg.split_once("<rect").unwrap().1.split_once("/>").unwrap().0.to_owned();
        (rect.rsplit('"').nth(1).unwrap().to_owned(), svg.contains("prefers-color-scheme:dark"))
    };
    let (auto, light, dark) = (ground("auto"), ground("light"), ground("dark"));
    assert_eq!((auto.1, light.1, dark.1), (true, false, false));
    assert_eq!(auto.0, light.0, "a reader without style sheets sees the light form");
    assert_ne!(light.0, dark.0);
}

#[test]
fn what_cannot_be_drawn_is_refused_at_its_place() {
    for arguments in [
        &["isolation", "--theme", "<svg>"][..],
        &["isolation", "--position", "<script>alert(1)</script>"],
        &["isolation", "--moves", "d4", "d4"],
        &["chess"],
    ] {
        let output = draw(arguments);
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    let request = |position: Value, want: &[&str]| json!({ "id": "i", "cmd": "inspect", "game": "isolation", "position": position, "want": want });
    for (position, want, code, pointer) in [
        (json!({}), &["svg", "png"][..], "bad_enum", "/want/1"),
        (json!({ "start": "</svg>" }), &["svg"], "bad_position", "/position/start"),
        (json!({ "moves": ["d4", "d4"] }), &["svg"], "illegal_move", "/position/moves/1"),
    ] {
        let error = peer.ask(&request(position, want));
        assert_eq!((&error["code"], &error["pointer"]), (&json!(code), &json!(pointer)), "{error}");
    }
    assert_eq!(peer.hello(json!({ "require": ["svg"] }))["type"], "result");
}
