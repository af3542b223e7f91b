//! The solved game in numbers: how many states are won, drawn and lost, and in how many plies.

use std::collections::BTreeMap;

use super::LGame;
use super::board::State;
use super::tablebase::Tablebase;
use plyd_core::engine::{Share, Solved};
use plyd_core::game::{OpenError, Rules};
use plyd_core::score::{Score, Value};
use plyd_core::search::clock::thread_cpu_time;

/// Solves the variant that the rules name and counts its states by value. The table knows neither caps nor
/// repetition, so they must be off.
pub(super) fn solve(rules: &Rules) -> Result<Solved, OpenError> {
    for name in ["max_plies", "repetition"] {
        if rules.int(name).is_some_and(|value| value != 0) {
            return Err(OpenError::Rule { name, message: "the table is of games without end".to_owned() });
        }
    }
    let neutrals = LGame::of(rules)?.neutrals;
    let began = thread_cpu_time();
    let table = Tablebase::of(neutrals);
    let cpu = thread_cpu_time() - began;
    let mut counts: BTreeMap<Option<u32>, (u64, u64)> = BTreeMap::new();
    for state in State::all() {
        let (states, classes) = counts.entry(table.distance(0, state)).or_default();
        *states += 1;
        *classes += u64::from(state == state.class());
    }
    let share = |(plies, (positions, classes)): (Option<u32>, (u64, u64))| {
        let score = match plies {
            None => Score::DRAW,
            Some(plies) if plies % 2 == 1 => Score::win_in(plies),
            Some(plies) => Score::loss_in(plies),
        };
        Share { kind: "", value: Value::proven(score), positions, classes }
    };
    Ok(Solved { cpu, shares: counts.into_iter().map(share).collect() })
}
