//! Counts that others published, made again: paths, moves, and moves that keep a draw.

use super::board::{PAIRS, State};
use super::notation::{START, parse_position};
use super::solution::{Solution, Tally};
use super::tablebase::Tablebase;
use super::{LGame, Neutrals, Position};
use plyd_core::engine::conformance::is_whole;
use plyd_core::game::Side;

const GAME: LGame = LGame::new(Neutrals::One, 0, 0);

fn start() -> Position {
    parse_position(&GAME, START).expect("valid")
}

#[test]
fn perft_by_states() {
    // Paths of each length from every state; the counts of the longest are only within reach this way.
    let expected = [
        65,
        7_956,
        628_797,
        53_599_871,
        4_399_015_556,
        365_025_400_701,
        30_048_750_952_441,
        2_479_008_813_253_154_u64,
    ];
    let states: Vec<State> = State::all().collect();
    let slot = |state: State| {
        usize::from(state.own) * 48 * PAIRS + usize::from(state.other) * PAIRS + usize::from(state.tokens)
    };
    let mut number = vec![usize::MAX; 48 * 48 * PAIRS];
    for (index, state) in states.iter().enumerate() {
        number[slot(*state)] = index;
    }
    let next: Vec<Vec<usize>> = states
        .iter()
        .map(|state| GAME.turns(*state).map(|mv| number[slot(state.after(mv.target, mv.tokens))]).collect())
        .collect();
    let start = number[slot(start().state)];
    let mut paths = vec![1_u64; states.len()];
    for (depth, expected) in expected.into_iter().enumerate() {
        paths = next.iter().map(|next| next.iter().map(|&index| paths[index]).sum()).collect();
        assert_eq!(paths[start], expected, "depth {}", depth + 1);
    }
}

#[test]
fn legal_moves_are_multiples() {
    let counts: Vec<usize> = State::all().map(|state| GAME.turns(state).count()).collect();
    let sum: usize = counts.iter().sum();
    let moving = counts.iter().filter(|count| **count > 0).count();
    assert_eq!(counts.iter().max(), Some(&221));
    assert_eq!(((sum as f64 / counts.len() as f64) * 100.0).round(), 8_889.0);
    assert_eq!(((sum as f64 / moving as f64) * 100.0).round(), 8_948.0);
    for neutrals in Neutrals::ALL {
        let game = LGame::new(neutrals, 0, 0);
        for state in State::all() {
            let places = state.targets().count_ones();
            assert_eq!(game.turns(state).count() as u32, neutrals.choices() * places);
        }
    }
}

#[test]
fn moves_of_drawn_states() {
    let (solution, start) = Solution::new(&GAME, &start());
    assert_eq!(solution.tally(start), Tally { wins: 0, draws: 36, losses: 29 });
    let (mut drawn, mut single, mut share) = (0, 0, 0.0);
    for state in State::all().filter(|state| *state == state.class()) {
        if Tablebase::of(Neutrals::One).distance(0, state).is_none() {
            let (solution, node) = Solution::new(&GAME, &GAME.position(state, Side::First));
            let tally = solution.tally(node);
            assert_eq!(tally.wins, 0);
            drawn += 1;
            single += usize::from(tally.draws == 1);
            share += f64::from(tally.losses) / f64::from(tally.draws + tally.losses);
        }
    }
    assert_eq!((drawn, single), (1_261, 35));
    assert_eq!((share / 1_261.0 * 100.0).round(), 54.0);
}

#[test]
fn perft_of_the_entry() {
    use plyd_core::engine::Counting;
    use plyd_core::game::{Rules, Setting};
    use plyd_core::search::Control;
    // The last counts take longer than all others together.
    let most = if is_whole() { u64::MAX } else { 1_000_000 };
    for line in super::ENTRY.perft.lines() {
        let [rules, position, counts] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("three fields: {line}")
        };
        let setting = |rule: &str| match rule.split_once('=') {
            Some(("neutrals", name)) => ("neutrals", Setting::from(name)),
            Some(("max_plies", count)) => ("max_plies", Setting::Int(count.parse().expect("a count"))),
            Some(("repetition", count)) => ("repetition", Setting::Int(count.parse().expect("a count"))),
            _ => panic!("an unknown rule: {rule}"),
        };
        let rules = Rules::new(rules.split(',').filter(|rule| !rule.is_empty()).map(setting).collect());
        let root = (super::ENTRY.open)(&rules, Some(position), &plyd_core::effort::Effort::free())
            .expect("possible");
        let counts = counts.split(' ').map(|count| count.parse().expect("a count"));
        for (depth, count) in (1..).zip(counts).filter(|&(_, count)| count <= most) {
            let found = root.perft(depth, Counting::Plain, &Control::default());
            assert_eq!(found, count, "{line}: depth {depth}");
        }
    }
}
