//! Games between two settings in this process, each move searched to a number of nodes.
//!
//! A game depends on its opening, the two settings and a seed alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::settle;
use plyd_core::engine::{AnyRoot, Engine, Fault, ToMove};
use plyd_core::game::Side;
use plyd_core::options::Options;
use plyd_core::search::Control;
use plyd_core::zobrist::SplitMix64;

/// What ends searches and games.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Limits {
    /// Nodes of each move.
    pub(super) nodes: u64,
    /// Moves after which an unfinished game is a draw.
    pub(super) moves: u32,
}

/// Plays a game of p1 against p2; gives p1's points, 1 for a win and -1 for a loss, and nothing if `halt` was
/// raised before the end.
///
/// # Errors
/// An option that a player cannot have.
pub(super) fn play(
    opening: &dyn AnyRoot,
    players: [&Options; 2],
    limits: Limits,
    seed: u64,
    halt: &AtomicBool,
) -> Result<Option<i32>, Fault> {
    let mut engines: [Box<dyn Engine>; 2] = [opening.engine(players[0])?, opening.engine(players[1])?];
    let mut chance = SplitMix64::new(seed);
    let mut held = opening.extend(&[])?;
    let root = Arc::get_mut(&mut held).expect("it is new");
    for _ in 0..limits.moves {
        settle(root, &mut chance);
        if let Some(outcome) = root.outcome() {
            return Ok(Some(points(outcome.winner)));
        }
        if halt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let engine = &mut engines[usize::from(root.to_move() == ToMove::Player(Side::Second))];
        let control = Control::default();
        control.set_limits(Some(limits.nodes), None);
        let candidates = root.candidates(&[], &[])?;
        let (lines, _) = engine.search(root, &candidates, 1, &control, &mut |_| ());
        let mv = lines.into_iter().next().map_or(candidates.first_text, |line| line.mv().to_owned());
        root.play(&mv)?;
    }
    settle(root, &mut chance);
    Ok(Some(points(root.outcome().and_then(|outcome| outcome.winner))))
}

fn points(winner: Option<Side>) -> i32 {
    match winner {
        None => 0,
        Some(Side::First) => 1,
        Some(Side::Second) => -1,
    }
}
