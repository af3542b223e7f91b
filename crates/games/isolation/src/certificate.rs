//! What is proven of an opening and can be checked by others: who wins, and the winner's moves up to a given
//! ply.
//!
//! `docs/solved.md` describes the text. The solver decides positions from that ply on; above it each position
//! of an opening is decided once, so that a certificate takes no longer than the values alone.

use std::collections::HashMap;

use super::decided::{Decided, Key};
use super::rules::{Isolation, Position, Target};
use super::solver::{Solver, by_race};
use plyd_core::bits::Bits;
use plyd_core::game::{Game, Side};
use plyd_core::search::thread::SearchThread;

/// What is proven of an opening.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Proof {
    pub(super) winner: Side,
    /// The winner's moves, a digit each: their places among the legal moves in ascending order.
    pub(super) moves: String,
}

impl Proof {
    /// The winning move of the side to move, if that is the winner.
    pub(super) fn reply<B: Bits>(&self, game: &Isolation<B>, pos: &Position<B>) -> Option<Target> {
        let first = self.moves.chars().next().filter(|_| pos.mover() == self.winner)?.to_digit(10)?;
        legal(game, pos).get(first as usize).copied()
    }
}

/// Proves openings, one after the other.
pub(super) struct Certifier<'a, B: Bits> {
    game: &'a Isolation<B>,
    solver: Solver<B>,
    /// The ply, counted from the end of the opening, from which on no moves are named.
    plies: u32,
    /// The positions of one opening above that ply, each with a winning move or none.
    moves: HashMap<Key, Option<Target>>,
}

impl<'a, B: Bits> Certifier<'a, B> {
    pub(super) fn new(game: &'a Isolation<B>, plies: u32) -> Self {
        Self { game, solver: Solver::new(game), plies, moves: HashMap::new() }
    }

    /// Solves a position after both placements; none if the thread ended first.
    pub(super) fn prove(&mut self, pos: &Position<B>, thread: &mut SearchThread<'_>) -> Option<Proof> {
        self.moves.clear();
        let wins = self.wins(pos, 0, thread)?;
        let winner = if wins { pos.mover() } else { pos.mover().other() };
        let mut proof = Proof { winner, moves: String::new() };
        self.write(pos, 0, &mut proof);
        Some(proof)
    }

    /// Whether the mover wins.
    fn wins(&mut self, pos: &Position<B>, ply: u32, thread: &mut SearchThread<'_>) -> Option<bool> {
        if ply >= self.plies {
            return self.solver.wins(self.game, pos, thread);
        }
        let key = key(pos);
        if let Some(known) = self.moves.get(&key) {
            return Some(known.is_some());
        }
        let mut winning = None;
        for mv in by_race(self.game, pos) {
            if !self.wins(&self.after(pos, mv), ply + 1, thread)? {
                winning = Some(mv);
                break;
            }
        }
        self.moves.insert(key, winning);
        Some(winning.is_some())
    }

    /// Adds the winner's moves from a decided position on.
    fn write(&self, pos: &Position<B>, ply: u32, proof: &mut Proof) {
        if ply >= self.plies {
            return;
        }
        let legal = legal(self.game, pos);
        if pos.mover() == proof.winner {
            let winning = self.moves[&key(pos)].expect("the winner has a winning move");
            let place = legal.iter().position(|&mv| mv == winning).expect("it is legal");
            proof.moves.push(char::from_digit(place as u32, 10).expect("a knight has eight moves"));
            self.write(&self.after(pos, winning), ply + 1, proof);
        } else {
            legal.into_iter().for_each(|mv| self.write(&self.after(pos, mv), ply + 1, proof));
        }
    }

    fn after(&self, pos: &Position<B>, mv: Target) -> Position<B> {
        let mut after = *pos;
        self.game.play(&mut after, mv);
        after
    }
}

/// The legal moves in ascending order of their cells.
fn legal<B: Bits>(game: &Isolation<B>, pos: &Position<B>) -> Vec<Target> {
    let mut moves = Vec::new();
    game.moves(pos, &mut moves);
    moves.sort_unstable_by_key(|mv| mv.0);
    moves
}

/// The whole position, but for the names of the sides.
fn key<B: Bits>(pos: &Position<B>) -> Key {
    Decided::key(pos.open(), pos.token(pos.mover()), pos.token(pos.mover().other()))
}
