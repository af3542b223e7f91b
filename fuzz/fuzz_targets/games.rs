//! Every game's rules, positions, moves and state texts, through the registry: what is accepted is printed,
//! and accepted again as the same; what is said to be legal can be played.
//!
//! Input: a line whose first byte chooses the game, a line of rules as `NAME=VALUE,...`, the lines of the
//! position (none: that of the rules), and a line `>MOVE` for each ply, where `>#N` is the Nth of those that
//! can be played.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use plyd_core::engine::settings::{self, Settings};
use plyd_core::engine::{AnyRoot, Entry, FaultCode, Place, ToMove};
use plyd_core::game::{Drawing, Setting};
use plyd_games::REGISTRY;

/// Plies of a random game that are checked from each position.
const CHECKED: usize = 2;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (heading, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let (rules, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    let (start, plies) = match rest.strip_prefix('>') {
        Some(plies) => ("", plies),
        None => rest.split_once("\n>").unwrap_or((rest, "")),
    };
    let index = heading.bytes().next().unwrap_or_default();
    let entry = REGISTRY[usize::from(index) % REGISTRY.len()];
    let given = settings_of(rules);
    let Some(mut root) = open(entry, &given, Some(start).filter(|start| !start.is_empty())) else {
        return;
    };
    check(root.as_ref(), &given);
    for ply in plies.split("\n>").take(64) {
        if let Some(next) = play(root.as_ref(), ply.trim_end_matches('\n')) {
            root = next;
        }
    }
    if !root.played().is_empty() {
        check(root.as_ref(), &given);
    }
});

/// Rules as the command line takes them.
fn settings_of(text: &str) -> Settings {
    let mut rules = Settings::new();
    for (name, value) in text.split(',').filter_map(|rule| rule.split_once('=')) {
        let setting = match (value.parse::<bool>(), value.parse::<i64>()) {
            (Ok(value), _) => Setting::Bool(value),
            (_, Ok(value)) => Setting::Int(value),
            _ => Setting::Text(value.to_owned()),
        };
        rules.insert(name, setting);
    }
    rules
}

/// Opens the game as a request would.
fn open(entry: &Entry, given: &Settings, start: Option<&str>) -> Option<Arc<dyn AnyRoot>> {
    match settings::rules(entry, given, 1).and_then(|rules| settings::open(entry, &rules, start)) {
        Ok(root) => Some(root),
        Err(fault) => {
            let known = [FaultCode::RulesUnsupported, FaultCode::BadPosition, FaultCode::IllegalPosition]
                .contains(&fault.code);
            assert!(known && !fault.message.is_empty(), "{fault:?}");
            None
        }
    }
}

/// What can be played: moves, or the outcomes of chance.
fn plies(root: &dyn AnyRoot) -> Vec<String> {
    match root.to_move() {
        ToMove::Chance => root.chance().into_iter().map(|outcome| outcome.mv).collect(),
        ToMove::Player(_) => root.legal(),
    }
}

/// The position after the move that the line names, if that can be played.
fn play(root: &dyn AnyRoot, line: &str) -> Option<Arc<dyn AnyRoot>> {
    let plies = plies(root);
    if let Some(index) = line.strip_prefix('#').and_then(|digits| digits.parse::<usize>().ok()) {
        let text = plies.get(index.checked_rem(plies.len())?)?;
        return Some(
            played(root, text)
                .unwrap_or_else(|| panic!("{text} can be played but is refused at {}", root.text())),
        );
    }
    let next = played(root, line)?;
    // Another way to write one of those that are listed.
    let same = |text: &String| played(root, text).is_some_and(|listed| listed.text() == next.text());
    assert!(plies.iter().any(same), "{line} is accepted at {} but not listed", root.text());
    Some(next)
}

fn played(root: &dyn AnyRoot, text: &str) -> Option<Arc<dyn AnyRoot>> {
    match root.extend(&[text.to_owned()]) {
        Ok(next) => {
            assert_eq!(next.played().len(), root.played().len() + 1);
            Some(next)
        }
        Err(fault) => {
            assert_eq!(fault.code, FaultCode::IllegalMove, "{fault:?}");
            assert_eq!(fault.place, Place::Ply(root.played().len()), "{fault:?}");
            None
        }
    }
}

/// What a position says of itself.
#[derive(PartialEq, Debug)]
struct Described {
    text: String,
    state: Option<String>,
    rules: Settings,
    to_move: ToMove,
    outcome: Option<String>,
    plies: Vec<String>,
    board: Drawing,
}

fn described(root: &dyn AnyRoot) -> Described {
    Described {
        text: root.text(),
        state: root.state_text(),
        rules: root.rules().iter().map(|(name, value)| (name, value.clone())).collect(),
        to_move: root.to_move(),
        outcome: root.outcome().map(|outcome| format!("{outcome:?}")),
        plies: plies(root),
        board: root.board(),
    }
}

/// Checks a position by its texts.
fn check(root: &dyn AnyRoot, given: &Settings) {
    let entry = root.entry();
    let own = described(root);
    let reopen = |rules: &Settings, text: &str| {
        let again = open(entry, rules, Some(text));
        again.unwrap_or_else(|| panic!("{} is printed but not accepted, under {rules:?}", text))
    };
    // A position that was played to may end by a rule about the plies before, which its text does not hold.
    let is_start = root.played().is_empty();
    for rules in [given, &own.rules] {
        let again = described(reopen(rules, &own.text).as_ref());
        if is_start {
            assert_eq!(again, own, "read back under {rules:?}");
        }
        assert_eq!(again.text, own.text, "read back under {rules:?}");
    }
    if let Some(state) = &own.state {
        // It may hold less, but nothing is lost when it is written again.
        let again = reopen(&own.rules, state);
        assert_eq!(again.state_text().as_ref(), Some(state), "of {}", own.text);
    }
    assert_eq!(own.outcome.is_none(), !own.plies.is_empty(), "{own:?}");
    drawn(&own.board);
    if own.to_move == ToMove::Chance {
        let ppm: u64 = root.chance().iter().map(|outcome| u64::from(outcome.ppm)).sum();
        assert!(own.outcome.is_some() || ppm == 1_000_000, "{ppm} ppm at {}", own.text);
    } else if own.outcome.is_none() {
        let candidates = root.candidates(&[], &[]).expect("a move is to be made");
        assert_eq!(candidates.indexes.len(), own.plies.len(), "{}", own.text);
        assert_eq!(own.plies[candidates.first], candidates.first_text, "{}", own.text);
        for evaluator in entry.evaluators() {
            assert!(
                root.eval(evaluator.name).is_ok_and(|eval| eval.is_some()),
                "{} has no {}",
                own.text,
                evaluator.name
            );
        }
    }
    if let Err(broken) = root.check(1, CHECKED) {
        panic!("{broken}, under {:?}", own.rules);
    }
}

/// What is drawn stands on the board.
fn drawn(board: &Drawing) {
    let (rows, cols) = (board.rows, board.cols);
    let cells = board
        .pieces
        .iter()
        .flat_map(|piece| piece.cells.iter().copied())
        .chain(board.walls.iter().map(|wall| wall.cell));
    for (row, col) in cells.chain(board.marks.iter().map(|mark| mark.cell)) {
        assert!(row < rows && col < cols, "{row}, {col} on a board of {rows} by {cols}");
    }
}
