//! Reviews of games, against the truth: brute force by the rules alone, tables, and a solver.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::common::{Random, is_whole};
use plyd::engine::settings::Settings;
use plyd::engine::{Evaluation, ToMove};
use plyd::game::{Setting, Side};
use plyd::games::REGISTRY;
use plyd::options::Options;
use plyd::play::{Player, Position, SearchLimits};
use plyd::review::{Mark, Review, ReviewLimits, ReviewedMove, Reviewer};

fn start(game: &str, rules: &[(&str, &str)]) -> Position {
    let entry = REGISTRY.iter().find(|entry| entry.name == game).unwrap();
    let setting = |text: &str| text.parse().map_or_else(|_| Setting::Text(text.to_owned()), Setting::Int);
    let rules = Settings::from_iter(rules.iter().map(|(name, text)| (*name, setting(text))));
    Position::open(entry, &rules, None).unwrap()
}

/// A game of random moves, to its end or to so many plies.
fn stroll(start: &Position, seed: u64, plies: usize) -> Vec<String> {
    let mut random = Random::new(seed);
    let mut position = start.clone();
    while position.outcome().is_none() && position.played().len() < plies {
        let chance = position.chance().into_iter().map(|outcome| outcome.mv).collect();
        let moves = if position.to_move() == ToMove::Chance { chance } else { position.legal() };
        position = position.play(random.pick::<String>(&moves)).unwrap();
    }
    position.played().to_vec()
}

fn review(start: &Position, moves: &[String], opening: usize, nodes: u64) -> Review {
    let limits = ReviewLimits { nodes: Some(nodes), ..ReviewLimits::default() };
    let mut reviewer = Reviewer::new(start, limits).unwrap();
    let go_on = |_, _| ControlFlow::Continue(());
    reviewer.review(start, moves, opening, go_on).unwrap().expect("nobody broke it off")
}

fn after(start: &Position, moves: &[String]) -> Position {
    moves.iter().fold(start.clone(), |position, mv| position.play(mv).unwrap())
}

fn side(position: &Position) -> Side {
    match position.to_move() {
        ToMove::Player(side) => side,
        ToMove::Chance => panic!("chance is to move"),
    }
}

/// Values of positions by their texts, from the view of the side to move: margins in games that score, else
/// wins as [`WON`] less their distance.
#[derive(Default)]
struct Truth(HashMap<String, i64>);

const WON: i64 = 10_000;

impl Truth {
    fn of(&mut self, position: &Position) -> i64 {
        let key = position.to_string();
        if let Some(known) = self.0.get(&key) {
            return *known;
        }
        let value = match position.outcome() {
            Some(end) => {
                let side = side(position);
                match (end.scores, end.winner) {
                    (Some(scores), _) => {
                        i64::from(scores[side.index()]) - i64::from(scores[1 - side.index()])
                    }
                    (None, None) => 0,
                    (None, Some(winner)) => {
                        if winner == side {
                            WON
                        } else {
                            -WON
                        }
                    }
                }
            }
            None => position.legal().iter().map(|mv| self.of_move(position, mv)).max().unwrap(),
        };
        self.0.insert(key, value);
        value
    }

    fn of_move(&mut self, position: &Position, mv: &str) -> i64 {
        let next = position.play(mv).unwrap();
        let has_scores = position.board().scores.is_some();
        let value = self.of(&next) * if side(&next) == side(position) { 1 } else { -1 };
        value - if has_scores { 0 } else { value.signum() }
    }
}

fn result(value: i64) -> Ordering {
    value.cmp(&0)
}

/// Distances that are claimed to be exact are.
fn check_value(claimed: Option<Evaluation>, truth: i64, reviewed: &ReviewedMove) {
    let proof = claimed.unwrap().proof.unwrap_or_else(|| panic!("no proof: {reviewed:?}"));
    assert_eq!(proof.result, result(truth), "{reviewed:?}");
    let plies = |plies: u32| WON - i64::from(plies);
    assert!(proof.plies.is_none_or(|distance| plies(distance) == truth.abs()), "{truth}: {reviewed:?}");
    assert!(proof.plies_max.is_none_or(|distance| plies(distance) <= truth.abs()), "{truth}: {reviewed:?}");
    assert!(proof.margin.is_none_or(|margin| margin == truth), "{truth}: {reviewed:?}");
}

#[test]
fn marks_on_small_boards_of_isolation_are_those_of_brute_force() {
    let start = start("isolation", &[("width", "4"), ("height", "4")]);
    let mut truth = Truth::default();
    let mut seen: HashMap<Mark, usize> = HashMap::new();
    for seed in 0..12 {
        let moves = stroll(&start, seed, 100);
        // Behind both placements.
        for reviewed in review(&start, &moves, 2, 400_000).moves {
            let position = after(&start, &moves[..reviewed.ply]);
            let (best, played) = (truth.of(&position), truth.of_move(&position, &reviewed.mv));
            check_value(reviewed.before, best, &reviewed);
            check_value(reviewed.after, played, &reviewed);
            let others: Vec<i64> = position
                .legal()
                .iter()
                .filter(|mv| **mv != reviewed.mv)
                .map(|mv| truth.of_move(&position, mv))
                .collect();
            let expected = match (result(best), result(played)) {
                _ if others.is_empty() => Mark::Forced,
                (could, does) if does < could => Mark::ThrewAway,
                (Ordering::Greater, _) if played < best => Mark::WinsLater,
                (Ordering::Greater, _) => Mark::KeptWin,
                (_, _) if played < best => Mark::LostSooner,
                _ => Mark::BestDefence,
            };
            assert_eq!(reviewed.mark, expected, "{best} {played}: {reviewed:?}");
            let is_only = others.iter().all(|other| result(*other) < result(played)) && played > 0;
            assert_eq!(reviewed.is_only, is_only || others.is_empty(), "{others:?}: {reviewed:?}");
            if let Some(better) = &reviewed.better {
                assert_eq!(truth.of_move(&position, better.mv()), best, "{reviewed:?}");
            }
            assert_eq!(reviewed.better.is_some(), reviewed.mark.is_error(), "{reviewed:?}");
            *seen.entry(reviewed.mark).or_default() += 1;
        }
    }
    for mark in [Mark::ThrewAway, Mark::KeptWin, Mark::BestDefence] {
        assert!(seen.contains_key(&mark), "{mark:?} is missing: {seen:?}");
    }
}

#[test]
fn the_second_placement_on_7x7_keeps_the_win_or_throws_it_away() {
    // The second player wins, unless it answers the centre with a knight's move from it.
    let start = start("isolation", &[("preset", "7x7")]);
    for (second, mark) in [("b3", Mark::ThrewAway), ("d3", Mark::KeptWin)] {
        let moves = ["d4", second].map(str::to_owned);
        let review = review(&start, &moves, 0, 40_000);
        let [first, second] = &review.moves[..] else { panic!("two moves: {review:?}") };
        assert_eq!((first.mark, second.mark), (Mark::WasLost, mark), "{review:?}");
        assert!(second.before.unwrap().proof.unwrap().result.is_gt());
    }
}

#[test]
fn results_on_7x7_are_those_of_the_solver_alone() {
    let start = start("isolation", &[("preset", "7x7")]);
    let options = Options { player: "solver".to_owned(), ..Options::default() };
    let mut solver = Player::new(&start, &options).unwrap();
    let mut proven = 0;
    for seed in [3, 4, 5] {
        let moves = stroll(&start, seed, 100);
        let opening = 12.min(moves.len());
        for reviewed in review(&start, &moves, opening, 400_000).moves {
            let position = after(&start, &moves[..reviewed.ply]);
            let mut result_of = |searchmoves: Vec<String>| {
                let limits = SearchLimits { searchmoves, ..SearchLimits::default() };
                let line = solver.best(&position, &limits).unwrap().lines.remove(0);
                line.value.and_then(|value| value.proof).unwrap().result
            };
            let (best, played) = (result_of(Vec::new()), result_of(vec![reviewed.mv.clone()]));
            for (value, truth) in [(reviewed.before, best), (reviewed.after, played)] {
                let claimed = value.and_then(|value| value.proof);
                assert!(claimed.is_none_or(|proof| proof.result == truth), "{reviewed:?}");
            }
            proven += usize::from(reviewed.mark.is_proven());
        }
    }
    assert!(proven >= 10, "{proven} moves proven are few");
}

#[test]
fn values_of_the_l_game_are_those_of_its_table() {
    let start = start("l-game", &[]);
    let mut player = Player::new(&start, &Options::default()).unwrap();
    let mut seen: HashMap<Mark, usize> = HashMap::new();
    for seed in 0..if is_whole() { 20 } else { 6 } {
        let moves = stroll(&start, seed, 16);
        for reviewed in review(&start, &moves, 0, 50_000).moves {
            let position = after(&start, &moves[..reviewed.ply]);
            let multipv = position.legal().len();
            let limits = SearchLimits { multipv, nodes: Some(1_000_000), ..SearchLimits::default() };
            let lines = player.best(&position, &limits).unwrap().lines;
            let values: HashMap<&str, Evaluation> =
                lines.iter().map(|line| (line.mv(), line.value.unwrap())).collect();
            let detail = |value: Evaluation| value.proof.map(|proof| (proof.result, proof.plies));
            assert_eq!(detail(reviewed.before.unwrap()), detail(lines[0].value.unwrap()), "{reviewed:?}");
            assert_eq!(detail(reviewed.after.unwrap()), detail(values[&*reviewed.mv]), "{reviewed:?}");
            assert!(reviewed.mark.is_proven() || reviewed.mark == Mark::Forced, "{reviewed:?}");
            *seen.entry(reviewed.mark).or_default() += 1;
        }
    }
    assert!(seen.contains_key(&Mark::ThrewAway) && seen.contains_key(&Mark::KeptDraw), "{seen:?}");
}

#[test]
fn margins_of_sudokus_endings_are_those_of_brute_force() {
    let start = start("sudoku", &[("m", "2"), ("n", "2")]);
    let mut truth = Truth::default();
    let (mut known, mut seen) = (0, HashMap::new());
    for seed in 0..8 {
        let moves = stroll(&start, seed, 100);
        let opening = moves.len().saturating_sub(5);
        for reviewed in review(&start, &moves, opening, 200_000).moves {
            let position = after(&start, &moves[..reviewed.ply]);
            let (best, played) = (truth.of(&position), truth.of_move(&position, &reviewed.mv));
            let values = [(reviewed.before, best), (reviewed.after, played)];
            for (value, truth) in values {
                if value.is_some_and(|value| value.proof.is_some()) {
                    check_value(value, truth, &reviewed);
                }
            }
            let margin = |value: Option<Evaluation>| value.and_then(|value| value.proof)?.margin;
            if margin(reviewed.before).is_some() && margin(reviewed.after).is_some() {
                known += 1;
                let is_worse = played < best;
                assert_eq!(
                    reviewed.mark.is_error(),
                    is_worse && reviewed.mark != Mark::Forced,
                    "{reviewed:?}"
                );
            }
            *seen.entry(reviewed.mark).or_insert(0) += 1;
        }
    }
    assert!(known >= 5, "{known} margins are few: {seen:?}");
}

/// The worst and the best result for the side to move, whatever chance does.
fn bounds(position: &Position, whose: Side) -> (i64, i64) {
    if let Some(end) = position.outcome() {
        let value = end.winner.map_or(0, |winner| if winner == whose { 1 } else { -1 });
        return (value, value);
    }
    let chance: Vec<String> = position.chance().into_iter().map(|outcome| outcome.mv).collect();
    let is_chance = !chance.is_empty();
    let all = if is_chance { chance } else { position.legal() };
    let all = all.iter().map(|mv| bounds(&position.play(mv).unwrap(), whose));
    let (low, high): (Vec<i64>, Vec<i64>) = all.unzip();
    let (least, most) = (|of: &[i64]| *of.iter().min().unwrap(), |of: &[i64]| *of.iter().max().unwrap());
    match position.to_move() {
        _ if is_chance => (least(&low), most(&high)),
        ToMove::Player(side) if side == whose => (most(&low), most(&high)),
        _ => (least(&low), least(&high)),
    }
}

#[test]
fn with_chance_a_proof_holds_whatever_is_drawn() {
    let rules = [("preset", "v2-4x4"), ("mode", "nondet"), ("max_plies", "14")];
    let start = start("ijk", &rules);
    let (mut proven, mut estimated) = (0, 0);
    for seed in 0..6 {
        let moves = stroll(&start, seed, 200);
        for reviewed in review(&start, &moves, 0, 3_000).moves {
            assert!(!reviewed.mv.starts_with('~'));
            let known = reviewed.after.and_then(|value| value.proof);
            estimated += usize::from(known.is_none());
            let position = after(&start, &moves[..reviewed.ply]);
            // Brute force sees the last two moves alone.
            let left = moves[reviewed.ply..].iter().filter(|mv| !mv.starts_with('~')).count();
            if left > 2 {
                continue;
            }
            if let Some(proof) = known {
                let (low, high) = bounds(&position.play(&reviewed.mv).unwrap(), reviewed.side);
                match proof.result {
                    Ordering::Greater => assert_eq!(low, 1, "{reviewed:?}"),
                    Ordering::Less => assert_eq!(high, -1, "{reviewed:?}"),
                    Ordering::Equal => assert_eq!((low, high), (0, 0), "{reviewed:?}"),
                }
                proven += 1;
            }
        }
    }
    assert!(proven > 0 && estimated > 20, "{proven} {estimated}");
}

#[test]
fn every_game_is_reviewed_from_its_start() {
    for entry in crate::games::games() {
        let start = Position::start(entry);
        let moves = stroll(&start, 7, 8);
        let review = review(&start, &moves, 0, 600);
        let chosen = moves.iter().filter(|mv| !mv.starts_with('~')).count();
        assert_eq!(review.moves.len(), chosen, "{}", entry.name);
        for reviewed in &review.moves {
            assert!(reviewed.loss.is_none_or(|loss| (0.0..=1.0).contains(&loss)), "{reviewed:?}");
            if let Some(better) = &reviewed.better {
                let position = after(&start, &moves[..reviewed.ply]);
                assert!(position.legal().iter().any(|mv| mv == better.mv()), "{reviewed:?}");
                assert_ne!(better.mv(), reviewed.mv);
            }
        }
    }
}
