//! What every game's weaker levels keep to: steady answers, few nodes, no win in one missed, no proof that is
//! none.

use std::cmp::Ordering;
use std::sync::Arc;

use plyd::effort::Effort;
use plyd::engine::conformance::next;
use plyd::engine::{AnyRoot, Engine, Entry, Line, Proof, ToMove};
use plyd::game::Rules;
use plyd::options::Options;
use plyd::search::{Control, End};
use plyd::zobrist::SplitMix64;

use crate::common::is_whole;
use crate::games::{counts_points, games};

fn options(entry: &Entry, level: u32, seed: u64) -> Options {
    Options {
        player: "default".to_owned(),
        eval: entry.evaluators().next().unwrap().name.to_owned(),
        threads: 2,
        hash_mb: 4,
        seed,
        level,
        deterministic: false,
        ..Options::default()
    }
}

fn ask(engine: &mut dyn Engine, root: &dyn AnyRoot, multipv: usize) -> (Vec<Line>, End, u64) {
    ask_within(engine, root, multipv, None)
}

fn ask_within(
    engine: &mut dyn Engine,
    root: &dyn AnyRoot,
    multipv: usize,
    nodes: Option<u64>,
) -> (Vec<Line>, End, u64) {
    let control = Control::default();
    control.set_limits(nodes, None);
    let candidates = root.candidates(&[], &[]).unwrap();
    let (lines, end) = engine.search(root, &candidates, multipv, &control, &mut |_| ());
    (lines, end, control.stats().nodes)
}

/// Positions of random games in which somebody is to move, from each fifth ply.
fn positions(entry: &Entry, seed: u64, count: usize) -> Vec<Arc<dyn AnyRoot>> {
    let mut random = SplitMix64::new(seed);
    let mut positions = Vec::new();
    while positions.len() < count {
        let mut root = (entry.open)(&Rules::default(), None, &Effort::free()).unwrap();
        for ply in 0.. {
            let moves = next(root.as_ref());
            if moves.is_empty() || positions.len() == count || ply == 100 {
                break;
            }
            if ply % 5 == 0 && root.to_move() != ToMove::Chance {
                positions.push(Arc::clone(&root));
            }
            root = root.extend(&[moves[random.below(moves.len())].clone()]).unwrap();
        }
    }
    positions
}

#[test]
fn a_level_answers_equal_questions_equally_whatever_it_was_asked_before() {
    for entry in games() {
        let positions = positions(entry, 1, 8);
        for level in [1, 3, 5, 7, 9] {
            let engine = || positions[0].engine(&options(entry, level, 5)).unwrap();
            let mut used = engine();
            for root in &positions {
                let root = root.as_ref();
                let (first, second) = (ask(used.as_mut(), root, 1), ask(engine().as_mut(), root, 1));
                assert_eq!(first, second, "{} level {level}: {}", entry.name, root.text());
            }
        }
    }
}

#[test]
fn a_beginner_looks_at_few_positions() {
    for entry in games() {
        let most = entry.levels().weakening(1).unwrap().nodes;
        for root in positions(entry, 2, 30) {
            let mut engine = root.engine(&options(entry, 1, 0)).unwrap();
            let (_, _, nodes) = ask(engine.as_mut(), root.as_ref(), 3);
            assert!(nodes <= most, "{}: {nodes} nodes at {}", entry.name, root.text());
        }
    }
}

#[test]
fn a_beginner_wins_at_once_where_it_can() {
    let mut wins = 0;
    for entry in games() {
        // Where the margin counts, the widest win may come later.
        if counts_points(entry) {
            continue;
        }
        for (seed, root) in positions(entry, 3, 400).into_iter().enumerate() {
            let ToMove::Player(me) = root.to_move() else { continue };
            let ends = |text: &str| root.extend(&[text.to_owned()]).unwrap().outcome();
            let is_won = |text: &str| ends(text).is_some_and(|outcome| outcome.winner == Some(me));
            if !root.legal().iter().any(|text| is_won(text)) {
                continue;
            }
            wins += 1;
            for level in [1, 2] {
                let mut engine = root.engine(&options(entry, level, seed as u64)).unwrap();
                let (lines, ..) = ask(engine.as_mut(), root.as_ref(), 1);
                let mv = lines[0].mv();
                assert!(is_won(mv), "{} level {level}: {mv} in {}", entry.name, root.text());
            }
        }
    }
    assert!(wins > 20 || games().len() == 1, "{wins} positions");
}

/// The outcome that a line is proven to have, both ways.
fn outcome(line: &Line) -> Option<Ordering> {
    let exact = |proof: &Proof| proof.plies.is_some() || proof.margin.is_some() || proof.result.is_eq();
    line.value?.proof.filter(exact).map(|proof| proof.result)
}

#[test]
fn a_weaker_move_does_not_claim_to_be_all_that_the_position_is_worth() {
    let mut total = 0;
    for entry in games() {
        let (mut known, mut claims) = (0, 0);
        for (seed, root) in positions(entry, 4, 300).into_iter().enumerate() {
            let root = root.as_ref();
            let mut strongest = root.engine(&options(entry, 10, 0)).unwrap();
            let (truth, ..) = ask_within(strongest.as_mut(), root, 1, Some(5_000));
            let Some(truth) = outcome(&truth[0]) else { continue };
            known += 1;
            for level in 1..=9 {
                let mut engine = root.engine(&options(entry, level, seed as u64)).unwrap();
                let (lines, end, _) = ask(engine.as_mut(), root, 1);
                let claimed = outcome(&lines[0]);
                claims += usize::from(claimed.is_some());
                let name = entry.name;
                assert!(claimed.is_none_or(|claimed| claimed == truth), "{name} {level}: {}", root.text());
                assert!(end == End::Limit || claimed.is_some(), "{name} {level}: {}", root.text());
            }
            if known == if is_whole() { 50 } else { 20 } {
                break;
            }
        }
        total += claims;
    }
    assert!(total > 20 || games().len() == 1, "{total} claims");
}

#[test]
fn a_randomized_player_draws_apart_from_the_player_within() {
    let entry = plyd::games::REGISTRY.iter().find(|entry| entry.name == "ijk").unwrap();
    let root = (entry.open)(&Rules::default(), None, &Effort::free()).unwrap();
    let legal = root.legal();
    assert_eq!(legal.len(), 4);
    // All lines of `random` are alike; so are these moves at sight, of which none merges.
    for player in ["random", "greedy"] {
        for (level, variety) in [(10, 1), (4, 0)] {
            let mut counts = [0; 4];
            for seed in 0..400 {
                let options = Options { player: player.to_owned(), variety, ..options(entry, level, seed) };
                let mut engine = root.engine(&options).unwrap();
                let (lines, ..) = ask(engine.as_mut(), root.as_ref(), 1);
                counts[legal.iter().position(|mv| *mv == lines[0].mv()).unwrap()] += 1;
            }
            assert!(counts.iter().all(|count| (60..=140).contains(count)), "{player} {level}: {counts:?}");
        }
    }
}
