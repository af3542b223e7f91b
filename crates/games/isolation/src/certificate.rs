//! What is proven of an opening and can be checked by others: who wins, and the winner's moves up to a given
//! ply.
//!
//! `docs/reference/formats.md` describes the text. The solver decides positions from that ply on; before it
//! each position of an opening is decided once, so that a certificate takes no longer than the values alone.

use std::collections::HashMap;
use std::str::Bytes;

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
        let first = self.moves.bytes().next().filter(|_| pos.mover() == self.winner)?;
        chosen(&legal(game, pos), first)
    }

    /// Whether the moves are those of a walk up to that ply, each of them legal and none too many. Whether
    /// they win is another question.
    pub(super) fn fits<B: Bits>(&self, game: &Isolation<B>, pos: &Position<B>, plies: u32) -> bool {
        let mut digits = self.moves.bytes();
        self.walks(game, pos, plies, &mut digits) && digits.len() == 0
    }

    fn walks<B: Bits>(
        &self,
        game: &Isolation<B>,
        pos: &Position<B>,
        plies: u32,
        digits: &mut Bytes<'_>,
    ) -> bool {
        if plies == 0 {
            return true;
        }
        let legal = legal(game, pos);
        let played = if pos.mover() == self.winner {
            let Some(mv) = digits.next().and_then(|digit| chosen(&legal, digit)) else { return false };
            vec![mv]
        } else {
            legal
        };
        played.into_iter().all(|mv| {
            let mut after = *pos;
            game.play(&mut after, mv);
            self.walks(game, &after, plies - 1, digits)
        })
    }
}

/// The move that a digit names.
fn chosen(legal: &[Target], digit: u8) -> Option<Target> {
    legal.get(usize::from(digit.checked_sub(b'0')?)).copied()
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
