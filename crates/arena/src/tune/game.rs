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

/// A game that came to its end.
pub(super) struct Played {
    /// The points of p1: 1 for a win and -1 for a loss.
    pub(super) points: i32,
    /// The moves of both players.
    pub(super) moves: Vec<String>,
}

/// Plays a game of p1 against p2; gives nothing if `halt` was raised before the end.
///
/// # Errors
/// An option that a player cannot have.
pub(super) fn play(
    opening: &dyn AnyRoot,
    players: [&Options; 2],
    limits: Limits,
    seed: u64,
    halt: &AtomicBool,
) -> Result<Option<Played>, Fault> {
    let mut engines: [Box<dyn Engine>; 2] = [opening.engine(players[0])?, opening.engine(players[1])?];
    let mut chance = SplitMix64::new(seed);
    let mut held = opening.extend(&[])?;
    let root = Arc::get_mut(&mut held).expect("it is new");
    let mut moves = Vec::new();
    settle(root, &mut chance);
    while root.outcome().is_none() && moves.len() < limits.moves as usize {
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
        moves.push(mv);
        settle(root, &mut chance);
    }
    Ok(Some(Played { points: points(root.outcome().and_then(|outcome| outcome.winner)), moves }))
}

/// The points of p1 in a game of these moves, played by the rules.
///
/// # Errors
/// They are no whole game, for people.
pub(super) fn judge(opening: &dyn AnyRoot, moves: &[String], most: u32, seed: u64) -> Result<i32, String> {
    let mut chance = SplitMix64::new(seed);
    let mut held = opening.extend(&[]).map_err(|fault| fault.message)?;
    let root = Arc::get_mut(&mut held).expect("it is new");
    settle(root, &mut chance);
    for (number, mv) in moves.iter().enumerate() {
        if root.outcome().is_some() || number >= most as usize {
            return Err(format!("the game was over before move {}", number + 1));
        }
        root.play(mv).map_err(|fault| format!("move {}: {}", number + 1, fault.message))?;
        settle(root, &mut chance);
    }
    if root.outcome().is_none() && moves.len() < most as usize {
        return Err(format!("the game was not over after {} moves", moves.len()));
    }
    Ok(points(root.outcome().and_then(|outcome| outcome.winner)))
}

fn points(winner: Option<Side>) -> i32 {
    match winner {
        None => 0,
        Some(Side::First) => 1,
        Some(Side::Second) => -1,
    }
}
