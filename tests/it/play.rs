//! `plyd play` as people meet it: in a pseudo-terminal, by keys and by lines, and through a pipe.

use std::fs;
use std::path::PathBuf;
use std::process::Output;
use std::sync::Arc;

use crate::common::{Server, process};
use crate::terminal::Terminal;
use plyd::bridge;
use plyd::engine::settings;
use plyd::engine::{AnyRoot, ToMove};
use plyd::game::Side;
use plyd::games::REGISTRY;
use plyd_protocol::Record;
use rustix::process::{Pid, Signal, kill_process};

/// What gives the terminal back: line by line, the usual screen.
const GIVEN_BACK: &str = "\x1b[?1049l";

/// Games that end soon, with their rules.
const GAMES: [(&str, &str); 5] = [
    ("l-game", "max_plies=12"),
    ("isolation", "width=5,height=4"),
    ("colosseum", "size=5"),
    ("sudoku", "m=2,n=2,preset=rows"),
    ("ijk", "preset=v2-4x4,mode=nondet,max_plies=20"),
];

/// Runs `plyd play` with lines from a pipe.
fn pipe(arguments: &[&str], lines: &str) -> Output {
    process::output_of(process::plyd([&["play"], arguments].concat()), lines)
}

/// What the command prints for these lines; it must succeed.
fn printed(arguments: &[&str], lines: &str) -> String {
    let output = pipe(arguments, lines);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Checks that the text has these parts in this order.
fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at =
            rest.find(part).unwrap_or_else(|| panic!("no `{part}` behind what came before, in:\n{text}"));
        rest = &rest[at + part.len()..];
    }
}

/// A file of its own for a test, gone when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plyd-play-{}-{name}.jsonl", std::process::id()));
        let _none_there = fs::remove_file(&path);
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    fn record(&self) -> Record {
        serde_json::from_str(&fs::read_to_string(&self.0).unwrap()).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _never_written = fs::remove_file(&self.0);
    }
}

/// Plays a record's moves by the rules themselves.
fn replayed(record: &Record) -> Arc<dyn AnyRoot> {
    let entry = REGISTRY.iter().find(|entry| entry.name == record.game).unwrap();
    let rules = settings::rules(entry, &bridge::given(&record.rules), 0).unwrap();
    let start = settings::open(entry, &rules, Some(&record.start)).unwrap();
    start.extend(&record.moves).unwrap()
}

/// A process's children.
fn children(pid: u32) -> Vec<i32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

#[test]
fn a_full_game_of_each_by_typed_moves() {
    for (game, rules) in GAMES {
        let file = Scratch::new(&format!("full-{game}"));
        let arguments = ["play", game, "--rules", rules, "--p2", "random", "--seed", "5"];
        let mut terminal = Terminal::start(&arguments, 40, 120);
        terminal.shows("p1 (me) to move");
        for round in 0.. {
            assert!(round < 100, "{game}: {:?}", terminal.window.lines());
            // What may be played is read from the page, as a person would.
            terminal.send("moves\r");
            let page = terminal.wait("moves", |terminal| {
                let lines = terminal.window.lines();
                let is_page = lines[0] == "moves" && lines.last()?.contains("Esc");
                is_page.then(|| lines[2..lines.len() - 1].join(" "))
            });
            let separator = if page.contains(" | ") { " | " } else { " " };
            let moves: Vec<&str> = page.split(separator).map(str::trim).filter(|mv| !mv.is_empty()).collect();
            let mv = moves[round % moves.len().min(7)].to_owned();
            terminal.send("\x1b");
            terminal.shows("PgUp");
            let before = plies(&terminal);
            terminal.send(&format!("{mv}\r"));
            let is_over = terminal.wait("an answer", |terminal| {
                let lines = terminal.window.lines();
                let over = lines.iter().any(|line| line.starts_with("the game is over"));
                let mine = lines.iter().any(|line| line.starts_with("p1 (me) to move"));
                (over || (mine && plies(terminal) > before)).then_some(over)
            });
            if is_over {
                break;
            }
        }
        terminal.send(&format!("save {}\r", file.path()));
        terminal.shows("saved ");
        terminal.send("quit\r");
        assert!(terminal.end().success(), "{game}");
        assert!(terminal.is_as_before() && terminal.transcript.contains(GIVEN_BACK), "{game}");
        let record = file.record();
        let root = replayed(&record);
        assert!(record.result.is_some(), "{game}");
        assert_eq!(root.outcome().map(bridge::outcome), record.result, "{game}");
    }
}

/// The number of the last ply beside the board.
fn plies(terminal: &Terminal) -> usize {
    let lines = terminal.window.lines();
    let numbers = lines.iter().filter_map(|line| {
        let (_, beside) = line.rsplit_once("   ")?;
        let (number, _) = beside.trim().split_once(' ')?;
        number.parse().ok()
    });
    numbers.max().unwrap_or(0)
}

#[test]
fn cells_and_directions_are_played_by_keys() {
    // The arrows choose a cell from the middle on, and Enter plays it.
    let arguments = ["play", "isolation", "--rules", "width=5,height=5", "--p2", "me"];
    let mut terminal = Terminal::start(&arguments, 24, 80);
    terminal.shows("p1 (me) to move");
    terminal.send("\x1b[A\x1b[A\x1b[D\r");
    terminal.shows("plays b2");
    terminal.send("\x1b[B\x1b[B\r");
    terminal.shows("plays b4");
    terminal.send("\r");
    terminal.shows("nothing can be played at b4");
    // Transposed, down is a column on, and labels go along.
    terminal.send("view t\r");
    terminal.shows("1 2 3 4 5");
    terminal.send("\x1b[B\x1b[B\x1b[D\r");
    terminal.shows("plays d3");
    // What was taken back by a key is there by the other.
    terminal.send("\x1b[5~\x1b[5~");
    terminal.shows("ply 1 of 3");
    terminal.send("\x1b[6~");
    terminal.shows("ply 2 of 3");
    terminal.send("\x1b[F");
    terminal.shows("ply 3 of 3");
    // Tab completes, Escape clears, and a paste is typed without being entered.
    terminal.send("hist\t");
    terminal.shows("> history");
    terminal.send("\x1b[200~ of\nthe game\x1b[201~");
    terminal.shows("> history of");
    terminal.send("\x15swa\t\r");
    terminal.shows("p1 (me), p2 (me)");
    terminal.send("\x04");
    assert!(terminal.end().success());

    let mut terminal = Terminal::start(&["play", "ijk", "--p2", "me"], 24, 80);
    terminal.shows("p1 (me) to move");
    terminal.send("\x1b[C");
    terminal.shows("plays R");
    terminal.send("view y\r\x1b[A");
    terminal.shows("plays D");
    terminal.send("\x04");
    assert!(terminal.end().success());
}

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
    terminal.says("undoo", "did you mean `undo`?");
    terminal.says("a1", "`a1` is no move here");
    terminal.says("\u{1}\u{fffd}?", "no move here and no command");
    terminal.says("level 99", "from 1 to 10");
    terminal.says("p1 wizard", "`player`: expected one of");
    terminal.says("option depth=deep", "`depth`: ");
    terminal.says("help level", "For example: level 3");
    terminal.says("quit", "plyd play isolation --seed ");
    assert!(terminal.end().success());
    assert!(terminal.is_as_before());
}

#[test]
fn an_interrupt_stops_the_search_and_a_second_one_leaves() {
    for plain in [false, true] {
        let mut arguments = vec!["play", "isolation", "--rules", "preset=11x9", "--p2", "me"];
        if plain {
            arguments.push("--plain");
        }
        let mut terminal = Terminal::start(&arguments, 30, 100);
        terminal.expect("p1 (me) to move");
        terminal.send("analyse 2\r");
        // The search runs, and has found both lines.
        terminal.wait("a depth", |terminal| {
            let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
            let mut depths = terminal.transcript.split("depth ").skip(1).map(digits);
            depths.any(|depth| depth.parse().is_ok_and(|depth: u32| depth >= 3)).then_some(())
        });
        terminal.send("\x03");
        terminal.expect("stopped; Ctrl-C again leaves");
        terminal.expect("analysis for p1, depth");
        terminal.expect("2. ");
        terminal.send("e5\r");
        terminal.expect("plays e5");
        terminal.send("\x03");
        terminal.expect("Ctrl-C again leaves");
        terminal.send("\x03");
        assert!(terminal.end().success());
        terminal.expect("the game is not saved; this takes it up again:");
        assert!(terminal.transcript.contains("--moves e5"), "{}", terminal.transcript);
        assert!(terminal.is_as_before(), "plain: {plain}");
        assert_eq!(terminal.transcript.contains(GIVEN_BACK), !plain);
    }
}

#[test]
fn an_interrupt_makes_the_engine_move_at_once() {
    let arguments = ["play", "isolation", "--rules", "preset=11x9", "--time", "1000s"];
    let mut terminal = Terminal::start(&arguments, 30, 100);
    terminal.shows("p1 (me) to move");
    terminal.send("e5\r");
    terminal.shows("thinking for p2");
    terminal.send("a1\r");
    terminal.shows("it is p2's turn");
    terminal.send("\x03");
    terminal.shows("p2 (default) plays ");
    terminal.send("watch\r");
    terminal.shows("thinking for p1");
    terminal.send("stop\r");
    terminal.shows("p1 (default) plays ");
    terminal.shows("thinking for p2");
    terminal.send("pause\r");
    terminal.shows("the engine waits for `continue`");
    terminal.send("undo 3\r");
    terminal.shows("3 moves taken back");
    terminal.send("quit\r");
    assert!(terminal.end().success());
}

#[test]
fn the_terminal_is_given_back_however_it_ends() {
    type End = fn(&mut Terminal);
    let endings: [(&str, End); 4] = [
        ("SIGTERM", |terminal| terminal.signal(Signal::TERM)),
        ("hang-up", Terminal::hang_up),
        ("interrupts from outside", |terminal| {
            terminal.signal(Signal::INT);
            terminal.shows("Ctrl-C again leaves");
            terminal.signal(Signal::INT);
        }),
        ("Ctrl-D", |terminal| terminal.send("\x04")),
    ];
    for (name, end) in endings {
        let mut terminal = Terminal::start(&["play", "l-game"], 24, 80);
        terminal.shows("p1 (me) to move");
        assert!(!terminal.is_as_before(), "{name}: raw while it is played");
        end(&mut terminal);
        assert!(terminal.end().success(), "{name}");
        assert!(terminal.is_as_before(), "{name}");
        assert!(terminal.transcript.contains(GIVEN_BACK), "{name}");
    }
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_it_goes_on() {
    let mut terminal = Terminal::start(&["play", "l-game"], 24, 80);
    terminal.shows("p1 (me) to move");
    terminal.send("\x1a");
    // Whether it really stops, the shell decides that it was started from; the terminal is given back in any
    // case.
    terminal.expect(GIVEN_BACK);
    terminal.signal(Signal::CONT);
    terminal.send("text\r");
    terminal.shows("3 1 W 1 1 4 4 2 4 E 1");
    terminal.send("quit\r");
    assert!(terminal.end().success());
}

#[test]
fn windows_of_any_size_are_drawn() {
    let mut terminal = Terminal::start(&["play", "sudoku", "--rules", "m=4,n=4"], 40, 120);
    terminal.shows("p1 (me) to move");
    for (rows, cols) in [(10, 40), (5, 20), (2, 5), (1, 1), (1, 200), (60, 2), (3, 3)] {
        terminal.resize(rows, cols);
        let first: String = "> ".chars().take(cols).collect();
        terminal.shows(first.trim_end());
    }
    terminal.resize(10, 80);
    terminal.shows("the window is too small for the board");
    terminal.send("help\r");
    terminal.shows("lines 1 to 8 of");
    terminal.send("\x1b[6~");
    terminal.shows("lines 9 to 16 of");
    terminal.send("\x1b[F\x1b[H\x1b[B");
    terminal.shows("lines 2 to 9 of");
    terminal.send("q");
    terminal.resize(40, 120);
    terminal.shows("sudoku  p1 (me)");
    terminal.send("quit\r");
    assert!(terminal.end().success());
}

#[test]
fn an_engine_that_is_gone_is_called_again_and_the_game_goes_on() {
    for plain in ["--plain", "--time=1000s"] {
        let mut terminal = Terminal::start(&["play", "isolation", "--rules", "preset=11x9", plain], 30, 100);
        terminal.expect("p1 (me) to move");
        let kill = |terminal: &Terminal| {
            let engines = children(terminal.pid());
            assert_eq!(engines.len(), 1);
            kill_process(Pid::from_raw(engines[0]).unwrap(), Signal::KILL).unwrap();
        };
        kill(&terminal);
        terminal.expect("the engine is gone");
        terminal.send("e5\r");
        if plain == "--plain" {
            terminal.expect("p2 (default) plays ");
        } else {
            // It goes while it thinks.
            terminal.shows("thinking for p2");
            kill(&terminal);
            terminal.shows("the game is kept; `continue` calls the engine again");
            terminal.send("continue\r");
            terminal.shows("thinking for p2");
            terminal.send("stop\r");
            terminal.shows("p2 (default) plays ");
        }
        terminal.send("quit\r");
        assert!(terminal.end().success());
    }
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
            "there is such a file already",
            "ijk ",
            "there is no game 2",
            "/nowhere",
            "no record of a game",
            "standard input",
            "/nowhere/x",
        ],
    );
    assert_eq!(file.record(), record);
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
        (good.replace("isolation", "chess") + "}", "there is no game `chess`"),
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

#[test]
fn lines_from_a_pipe_wait_for_what_they_began() {
    let text = printed(
        &["isolation", "--rules", "width=5,height=5", "--time", "20ms"],
        "c3\nhint 20ms\nanalyse 2 50ms\nanalyse\n\ntext\nposition ...../...../...../...../21... 1\nmoves\nposition nonsense\nnew width=3,height=3\nnew size=3\nrules\nb2\n",
    );
    let parts = [
        "p1 (me) plays c3",
        "p2 (default) plays ",
        "hint: ",
        "analysis for p1",
        "2. ",
        "analysis for p1",
        "/",
        "3 moves",
        "no such position: ",
        "a new game",
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
fn players_are_watched_to_the_end() {
    let text = printed(&["isolation", "--rules", "width=4,height=4", "--p1", "greedy", "--p2", "random"], "");
    in_order(&text, &["p1 (greedy) plays ", "p2 (random) plays ", "the game is over: "]);
    let text = printed(&["sudoku", "--rules", "m=2,n=2"], "level 1\ntime 10ms\nwatch\nundo 2\nquit\n");
    in_order(
        &text,
        &["p1 (default,level=1), p2 (default,level=1)", "the game is over: ", "2 moves taken back"],
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
fn a_flag_that_falls_ends_the_game() {
    let mut terminal = Terminal::start(&["play", "l-game", "--clock", "tc=1s"], 24, 80);
    terminal.shows("the game is over: p2 wins by late");
    terminal.send("4 1 W\r");
    terminal.shows("no move can be made here");
    terminal.send("clock off\rundo\r");
    terminal.shows("1 move taken back");
    terminal.send("4 1 W\r");
    terminal.shows("p2 (default) plays ");
    terminal.send("quit\r");
    assert!(terminal.end().success());
}

#[test]
fn arguments_that_cannot_be_are_refused_with_a_way_out() {
    for (arguments, word) in [
        (&["chess"][..], "possible values: "),
        (&["isolation", "--p1", "wizard"], "random"),
        (&["isolation", "--p2", "wizard"], "--p2 wizard: `player`: expected one of"),
        (&["isolation", "--p2", "me,level=3"], "`me` is you"),
        (&["isolation", "--p2", "default,level=30"], "--p2 default,level=30: `level`: "),
        (&["isolation", "--level", "3", "--option", "level=4"], "not both"),
        (&["isolation", "--option", "depth=4,depth=5"], "twice"),
        (&["isolation", "--p1", "default,fast"], "minimax,depth=3"),
        (&["isolation", "--position", "zz"], "--position"),
        (&["isolation", "--moves", "z9"], "move 1 of --moves"),
        (&["isolation", "--rules", "width=99"], "--rules width"),
        (&["isolation", "--rules", "width=5,width=6"], "twice"),
        (&["isolation", "--option", "speed=1"], "threads"),
        (&["isolation", "--level", "11"], "1..=10"),
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
            "no move here",
            "is no count",
            "that was the last ply",
            "the start of",
            "give a file",
            "too long",
        ],
    );
    assert!(!text.contains('\x1b') && !text.contains('\u{202e}'));
    // Bytes that are no text.
    let output = process::output_of(process::plyd(["play", "isolation"]), b"\xff\xfe\n");
    assert!(String::from_utf8_lossy(&output.stdout).contains("or no text"));
}

#[test]
fn colours_are_left_out_where_they_are_not_wanted() {
    for (variables, plain, coloured, escaped) in [
        (&[][..], true, true, true),
        (&[("NO_COLOR", "1")], true, false, true),
        (&[("NO_COLOR", "1")], false, false, true),
        (&[("NO_COLOR", "")], false, true, true),
        // A terminal that knows nothing gets lines.
        (&[("TERM", "dumb")], false, false, false),
    ] {
        let mut arguments = vec!["play", "isolation", "--moves", "d4", "b1", "--p2", "me"];
        if plain {
            arguments.push("--plain");
        }
        let mut terminal = Terminal::start_with(&arguments, 24, 80, variables);
        terminal.expect("p1 (me) to move");
        terminal.send("quit\r");
        assert!(terminal.end().success());
        let text = &terminal.transcript;
        assert_eq!(text.contains("\x1b[1;32m"), coloured, "{variables:?} {plain}: {text:?}");
        assert_eq!(text.contains('\x1b'), escaped, "{variables:?} {plain}: {text:?}");
    }
}
