//! `plyd botzone` as a judge of Botzone's kind meets it: the real binary, a line in and a line out.

use std::io::Write;
use std::process::ChildStdin;
use std::sync::mpsc::Receiver;

use plyd::client::Process;
use plyd::engine::conformance::{Sample, next};
use plyd::engine::{Entry, ToMove};
use serde_json::{Value, json};

use crate::common::{TIMEOUT, process};
use crate::games::games;
use crate::short;

/// What a bot writes to be kept running.
const KEEP_RUNNING: &str = ">>>BOTZONE_REQUEST_KEEP_RUNNING<<<";
/// Times that make a test short; nothing here depends on an answer being in time.
const QUICK: [&str; 4] = ["--time", "10ms", "--first-time", "20ms"];

fn arguments<'a>(game: &'a str, rules: &'a str) -> Vec<&'a str> {
    let mut arguments = vec!["botzone", game];
    if !rules.is_empty() {
        arguments.extend(["--rules", rules]);
    }
    arguments.extend(QUICK);
    arguments
}

/// The answer of a process that gets one line.
fn once(arguments: &[&str], line: &str) -> Value {
    let output = process::output_of(process::plyd(arguments), format!("{line}\n"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text.lines().count(), 1, "{line}: {text}");
    serde_json::from_str(&text).unwrap()
}

/// A bot that is kept running.
struct Kept {
    process: Process,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Kept {
    fn start(arguments: &[&str]) -> Self {
        let launch = process::plyd([arguments, &["--keep-running"]].concat());
        let (process, input, lines) = process::spoken_with(launch);
        Self { process, input: Some(input), lines }
    }

    fn ask(&mut self, line: &[u8]) -> Value {
        let input = self.input.as_mut().unwrap();
        input.write_all(&[line, b"\n"].concat()).unwrap();
        let answer = self.lines.recv_timeout(TIMEOUT).unwrap();
        assert_eq!(self.lines.recv_timeout(TIMEOUT).unwrap(), KEEP_RUNNING, "{answer}");
        serde_json::from_str(&answer).unwrap()
    }

    fn end(mut self) {
        self.input = None;
        assert!(process::exit(&mut self.process).success());
        assert_eq!(self.lines.recv_timeout(TIMEOUT).ok(), None);
    }
}

/// How a judge asks.
enum Mode {
    /// A process for each answer, which is told the whole game.
    Anew,
    /// A process for each player, which is told what is new.
    KeptRunning(Option<Kept>),
}

/// A player, as the judge sees it.
struct Seat<'a> {
    arguments: Vec<&'a str>,
    mode: Mode,
    requests: Vec<Value>,
    responses: Vec<Value>,
}

impl Seat<'_> {
    fn answer(&mut self, plies: &[String]) -> String {
        // Every form of a request says the same.
        let request = match plies {
            [] => json!(""),
            [one] if self.requests.len().is_multiple_of(2) => json!(one),
            [one] => json!({ "move": one }),
            _ if self.requests.len().is_multiple_of(2) => json!(plies),
            _ => json!({ "moves": plies }),
        };
        self.requests.push(request.clone());
        let whole = json!({ "requests": self.requests, "responses": self.responses, "data": "", "globaldata": {"a": 1} });
        let answer = match &mut self.mode {
            Mode::Anew => once(&self.arguments, &whole.to_string()),
            Mode::KeptRunning(kept @ None) => {
                kept.insert(Kept::start(&self.arguments)).ask(whole.to_string().as_bytes())
            }
            Mode::KeptRunning(Some(kept)) => kept.ask(request.to_string().as_bytes()),
        };
        assert_eq!((&answer["data"], &answer["globaldata"]), (&json!(""), &json!({"a": 1})), "{answer}");
        let debug = answer["debug"].as_str().unwrap();
        assert!(debug.contains("nodes in") && debug.len() <= 1024, "{answer}");
        let response = answer["response"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        self.responses.push(json!(response));
        response
    }
}

/// Plays a game and checks each answer against the rules; gives how many plies it took.
fn judge(entry: &'static Entry, mode: fn() -> Mode) -> usize {
    let rules = short::rules(entry.name);
    let mut root = Sample::new(entry, rules, "").unwrap().root().unwrap();
    let arguments = arguments(entry.name, rules);
    let seat = || Seat { arguments: arguments.clone(), mode: mode(), requests: vec![], responses: vec![] };
    let mut seats = [seat(), seat()];
    let mut heard = [0, 0];
    let mut plies: Vec<String> = Vec::new();
    while root.outcome().is_none() && plies.len() < 300 {
        let ply = match root.to_move() {
            ToMove::Chance => {
                let outcomes = next(root.as_ref());
                outcomes[plies.len() % outcomes.len()].clone()
            }
            ToMove::Player(side) => {
                let at = side.index();
                let answer = seats[at].answer(&plies[heard[at]..]);
                heard[at] = plies.len() + 1;
                assert!(next(root.as_ref()).contains(&answer), "{} {plies:?}: {answer}", entry.name);
                answer
            }
        };
        plies.push(ply.clone());
        root = root.extend(&[ply]).unwrap();
    }
    for seat in seats {
        if let Mode::KeptRunning(Some(kept)) = seat.mode {
            kept.end();
        }
    }
    assert!(root.outcome().is_some() || rules.is_empty(), "{}: {plies:?}", entry.name);
    plies.len()
}

#[test]
fn every_game_is_played_to_its_end_by_a_process_for_each_answer() {
    for entry in games() {
        assert!(judge(entry, || Mode::Anew) > 0, "{}", entry.name);
    }
}

#[test]
fn every_game_is_played_to_its_end_by_processes_that_are_kept_running() {
    for entry in games() {
        assert!(judge(entry, || Mode::KeptRunning(None)) > 0, "{}", entry.name);
    }
}

#[test]
fn the_first_request_may_set_up_the_game() {
    let quick = arguments("isolation", "");
    let line = json!({ "requests": [{ "position": "1../..2/... 1", "rules": { "width": 3, "height": 3 } }] });
    let answer = once(&quick, &line.to_string());
    assert_eq!(answer["response"], "b3", "{answer}");

    let mut kept = Kept::start(&quick);
    assert_eq!(kept.ask(line.to_string().as_bytes())["response"], answer["response"]);
    // Another game begins in the same process, by the rules of the arguments again.
    let answer = kept.ask(br#"{"requests":["d4"],"responses":[]}"#);
    assert!(answer["response"].is_string(), "{answer}");
    kept.end();

    let placed = [
        "botzone",
        "isolation",
        "--position",
        "1../..2/... 1",
        "--rules",
        "width=3,height=3",
        "--moves",
        "b3",
    ];
    let answer = once(&[&placed[..], &QUICK].concat(), r#"{"requests":[""]}"#);
    assert_eq!(answer["response"], "a3", "{answer}");
}

#[test]
fn mistakes_are_answered_by_name_and_place_and_cost_no_process() {
    let mut kept = Kept::start(&arguments("isolation", ""));
    for (line, said) in [
        (&b"\"d4\""[..], "missing_field at /requests: "),
        (b"{", "bad_json: "),
        (b"\xff\xfe", "bad_utf8: "),
        (br#"{"requests":["d4",""],"responses":[]}"#, "out_of_range at /responses: "),
        (br#"{"requests":["d4","a1"],"responses":["d4"]}"#, "illegal_move at /responses/0: "),
        (br#"{"requests":["d4","zz"],"responses":["b3"]}"#, "illegal_move at /requests/1: "),
        (br#"{"requests":[{"moves":["d4","d4"]}]}"#, "illegal_move at /requests/0/moves/1: "),
        (br#"{"requests":[{"position":"nonsense"}]}"#, " at /requests/0/position: "),
        (br#"{"requests":[{"rules":{"gravity":1}}]}"#, " at /requests/0/rules/gravity: "),
        (br#"{"requests":[{"rules":{"width":"5"}}]}"#, " at /requests/0/rules/width: "),
        (br#"{"requests":[{"position":"1xx/x2x/xxx 1","rules":{"width":3,"height":3}}]}"#, "game_over: "),
        (br#"{"requests":[{"x":-1,"y":-1}]}"#, "unknown_field at /requests/0/x: "),
    ] {
        let answer = kept.ask(line);
        let debug = answer["debug"].as_str().unwrap();
        assert!(answer["response"].is_null() && debug.contains(said), "{answer}");
    }
    let deep = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
    let long = format!(r#"{{"requests":["{}"]}}"#, "d".repeat(2 << 20));
    let many = json!({ "requests": [vec!["\u{1}"; 200_000]] }).to_string();
    let wide = json!({ "requests": [{ "é".repeat(5000): 1 }] }).to_string();
    for line in [&deep[..], long.as_bytes(), many.as_bytes(), wide.as_bytes()] {
        let answer = kept.ask(line);
        assert!(answer["response"].is_null(), "{answer}");
        assert!(answer["debug"].as_str().unwrap().len() <= 1024, "{answer}");
    }

    // A mistake leaves the game where it was, so that the judge may ask again.
    let first = kept.ask(br#"{"requests":["d4"],"responses":[]}"#);
    let own = first["response"].as_str().unwrap().to_owned();
    assert!(kept.ask(br#""d4""#)["debug"].as_str().unwrap().starts_with("illegal_move: "));
    let isolation = plyd::games::find("isolation").unwrap();
    let root = Sample::new(isolation, "", "").unwrap().root().unwrap().extend(&["d4".into(), own]).unwrap();
    let reply = next(root.as_ref()).swap_remove(0);
    let answer = kept.ask(json!(reply).to_string().as_bytes());
    let root = root.extend(&[reply]).unwrap();
    assert!(next(root.as_ref()).contains(&answer["response"].as_str().unwrap().to_owned()), "{answer}");
    kept.end();
}

#[test]
fn one_mistake_is_an_answer_and_no_failure() {
    let answer = once(&arguments("isolation", ""), "[");
    assert_eq!(answer["response"], Value::Null);
    let empty = process::output(process::plyd(["botzone", "isolation"]));
    assert_eq!(empty.status.code(), Some(1));
    for (arguments, word) in [
        (&["botzone", "no_such_game"][..], "possible values: "),
        (&["botzone", "isolation", "--rules", "gravity=1"], "gravity"),
        (&["botzone", "isolation", "--option", "level=77"], "level"),
        (&["botzone", "isolation", "--memory", "1"], "--memory"),
        (&["botzone", "isolation", "--time", "soon"], "--time"),
    ] {
        let output = process::output(process::plyd(arguments));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(word), "{arguments:?}");
    }
}

#[test]
fn a_move_that_was_not_searched_says_so() {
    // The time may suffice on some machines. Where it does not, the remark says so.
    for _ in 0..5 {
        let line = r#"{"requests":[""],"responses":[]}"#;
        let limits = ["--time", "1ms", "--first-time", "1ms"];
        let answer = once(&[&["botzone", "colosseum", "--rules", "size=12"], &limits[..]].concat(), line);
        let debug = answer["debug"].as_str().unwrap();
        assert!(answer["response"].is_string(), "{answer}");
        assert_eq!(debug.contains("no score, depth 0, "), debug.contains("not searched"), "{answer}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_keeps_to_its_memory() {
    let mut kept =
        Kept::start(&["botzone", "isolation", "--rules", "preset=11x9", "--memory", "64", "--time", "500ms"]);
    kept.ask(br#"{"requests":[""],"responses":[]}"#);
    let kib: u64 = process::status_line(&kept.process, "VmHWM:").parse().unwrap();
    assert!(kib < 64 << 10, "{kib} KiB");
    kept.end();
}
