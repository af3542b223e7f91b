//! Exact values under a game's whole rules: the table, the plies left and the positions seen before.
//!
//! # Caps
//! A win or loss in d plies stands when d plies may still be played; with fewer the game is a draw, for the
//! stuck mover loses even on the last ply and nobody is stuck earlier against best defence.
//!
//! # Repetition
//! Let n be the occurrence that draws, and B the positions that occurred n - 1 times so far: entering one of
//! them again draws at once. The exact values are those of the graph of all positions in which entering a
//! member of B is a draw:
//!
//! - a win in that graph is a win in the game: the winner's moves have strictly falling distances whatever
//!   the other side does, so no position comes twice on the way, none outside B reaches its n-th occurrence,
//!   and the draws of repetition that the graph leaves out never happen;
//! - a win in the game is a win in that graph in as many plies, for the graph only has fewer draws.
//!
//! A win in d plies passes through positions with distances below d only. So if every member of B is drawn in
//! the plain table or has a distance of at least d, the plain table's d stands. Repetition adds draws only,
//! so a draw of the plain table always stands.

use std::cell::Cell;

use super::board::State;
use super::tablebase::Tablebase;
use super::{LGame, Move, Position};
use plyd_core::score::Score;

/// The score of a distance (none: a draw) with `left` plies to play.
pub(super) const fn score(distance: Option<u32>, left: u32) -> Score {
    match distance {
        Some(plies) if plies > left => Score::DRAW,
        Some(plies) if plies % 2 == 1 => Score::win_in(plies),
        Some(plies) => Score::loss_in(plies),
        None => Score::DRAW,
    }
}

/// Whether positions seen before may change the plain table's value of a position.
pub(super) fn repetitions_matter(game: &LGame, pos: &Position) -> bool {
    let table = Tablebase::of(game.neutrals);
    let Some(distance) = table.distance(0, pos.state) else {
        return false;
    };
    let is_nearer = |state| table.distance(0, state).is_some_and(|nearer| nearer < distance);
    drawing_states(game, pos).any(|(_, state)| is_nearer(state))
}

/// The states whose next occurrence draws: plane 0 has the position's mover to move.
fn drawing_states(game: &LGame, pos: &Position) -> impl Iterator<Item = (usize, State)> {
    let enough = game.repetition.saturating_sub(1);
    let drawing = pos.seen.iter().filter(move |(_, count)| **count >= enough);
    drawing.map(|(&(state, mover), _)| (usize::from(mover != pos.mover), state))
}

/// A position on the way from the root of a solution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// What stands on the board.
    pub(super) state: State,
    plane: usize,
    left: u32,
}

impl Node {
    /// The position after a move.
    pub(super) const fn after(self, mv: Move) -> Self {
        Self {
            state: self.state.after(mv.target, mv.tokens),
            plane: 1 - self.plane,
            left: self.left.saturating_sub(1),
        }
    }
}

/// Exact values around one position.
pub(super) struct Solution<'a> {
    game: &'a LGame,
    table: Source,
    lookups: Cell<u64>,
}

enum Source {
    Shared(&'static Tablebase),
    Own(Tablebase),
}

/// How the moves of a position end: how many win, draw and lose for the mover.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tally {
    /// Moves that win.
    pub(super) wins: u32,
    /// Moves that draw.
    pub(super) draws: u32,
    /// Moves that lose.
    pub(super) losses: u32,
}

impl Tally {
    /// The share of the moves that give away the best outcome, in parts per million.
    pub(super) fn mistakes_ppm(self) -> u32 {
        let all = self.wins + self.draws + self.losses;
        let worse = match self {
            Self { wins: 1.., .. } => self.draws + self.losses,
            Self { draws: 1.., .. } => self.losses,
            _ => 0,
        };
        (u64::from(worse) * 1_000_000 / u64::from(all.max(1))) as u32
    }
}

impl<'a> Solution<'a> {
    /// The solution around a position. Solves the graph without the positions that may draw by repetition if
    /// one of them is won or lost otherwise; that takes under a millisecond.
    pub(super) fn new(game: &'a LGame, pos: &Position) -> (Self, Node) {
        let plain = Tablebase::of(game.neutrals);
        let drawing: Vec<(usize, State)> = drawing_states(game, pos).collect();
        let table = if drawing.iter().any(|(_, state)| plain.distance(0, *state).is_some()) {
            Source::Own(Tablebase::with_draws(game.neutrals, drawing.into_iter()))
        } else {
            Source::Shared(plain)
        };
        let root = Node { state: pos.state, plane: 0, left: game.plies_left(pos) };
        (Self { game, table, lookups: Cell::new(0) }, root)
    }

    /// The value, from its mover's view, of entering a position.
    pub(super) fn score(&self, node: Node) -> Score {
        self.lookups.set(self.lookups.get() + 1);
        let table = match &self.table {
            Source::Shared(table) => table,
            Source::Own(table) => table,
        };
        if table.is_barred(node.plane, node.state) {
            return Score::DRAW;
        }
        score(table.distance(node.plane, node.state), node.left)
    }

    /// How the moves of a position end.
    pub(super) fn tally(&self, node: Node) -> Tally {
        let mut tally = Tally::default();
        for mv in self.game.turns(node.state) {
            let reply = self.score(node.after(mv));
            if reply.is_loss() {
                tally.wins += 1;
            } else if reply.is_win() {
                tally.losses += 1;
            } else {
                tally.draws += 1;
            }
        }
        tally
    }

    /// How many values were looked up.
    pub(super) fn lookups(&self) -> u64 {
        self.lookups.get()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Neutrals;
    use super::super::oracle::{game_tree_value, random_states};
    use super::*;
    use plyd_core::engine::conformance::is_whole;
    use plyd_core::game::{Game, Side, Turn};
    use plyd_core::zobrist::SplitMix64;

    /// Checks the value of a position and of each of its moves against the game tree.
    fn check(game: &LGame, pos: &mut Position) -> Score {
        let truth = game_tree_value(game, pos);
        let (solution, node) = Solution::new(game, pos);
        let mut best = -Score::INFINITE;
        for mv in game.turns(pos.state) {
            best = best.max((-solution.score(node.after(mv))).earlier(1));
        }
        assert_eq!(best, truth, "{game:?} {pos:?}");
        if let Some(probed) = game.probe(pos) {
            assert_eq!(probed.score, truth, "{game:?} {pos:?}");
        }
        truth
    }

    #[test]
    fn values_under_a_cap_are_those_of_the_game_tree() {
        for (neutrals, caps) in
            [(Neutrals::None, 1..=6), (Neutrals::One, 1..=2), (Neutrals::Compulsory, 1..=2)]
        {
            let states = random_states(3, 60);
            let mut decided = 0;
            for cap in caps {
                let game = LGame::new(neutrals, cap, 0);
                for state in states.iter().filter(|state| !state.is_stuck()) {
                    let value = check(&game, &mut game.position(*state, Side::First));
                    decided += usize::from(value != Score::DRAW);
                }
            }
            assert!(decided > 10, "{neutrals:?}: {decided}");
        }
    }

    #[test]
    fn values_under_repetition_are_those_of_the_game_tree() {
        // Few moves and short cycles: the variant without token moves, with a cap so that the tree ends.
        let mut random = SplitMix64::new(11);
        let (mut compared, mut changed) = (0, 0);
        let count = if is_whole() { 4_000 } else { 2_000 };
        for (number, state) in random_states(7, count).into_iter().enumerate() {
            let repetition = 2 + number as u32 % 2;
            let walked = 4 * (repetition - 1) + random.below(4) as u32;
            let game = LGame::new(Neutrals::None, walked + 5, repetition);
            let mut pos = game.position(state, Side::First);
            let mut walk = vec![state];
            // Walk to and fro between few states, so that the history is full of repetitions.
            while pos.ply < walked && game.turn(&pos) == Turn::Move {
                let moves: Vec<Move> = game.turns(pos.state).collect();
                let back = walk.len().checked_sub(3).map(|index| walk[index]);
                let returning = moves.iter().find(|mv| {
                    Some(pos.state.after(mv.target, mv.tokens).other) == back.map(|back| back.other)
                });
                let mv = *returning.unwrap_or(&moves[random.below(moves.len())]);
                game.play(&mut pos, mv);
                walk.push(pos.state);
            }
            if game.turn(&pos) != Turn::Move || !decided_nearby(&game, &pos) {
                continue;
            }
            let truth = check(&game, &mut pos);
            compared += 1;
            let plain = score(Tablebase::of(game.neutrals).distance(0, pos.state), game.plies_left(&pos));
            changed += usize::from(plain != truth);
        }
        assert!(compared > count / 40 && changed > count / 800, "{compared} {changed} of {count}");
    }

    /// Whether a win or loss is near, so that repetition may matter.
    fn decided_nearby(game: &LGame, pos: &Position) -> bool {
        Tablebase::of(game.neutrals).distance(0, pos.state).is_some_and(|plies| plies > 0)
    }

    #[test]
    fn a_distance_counts_when_it_fits_the_plies_left() {
        assert_eq!(score(Some(3), 3), Score::win_in(3));
        assert_eq!(score(Some(3), 2), Score::DRAW);
        assert_eq!(score(Some(0), 0), Score::loss_in(0));
        assert_eq!(score(None, u32::MAX), Score::DRAW);
    }

    #[test]
    fn mistakes_give_away_the_best_outcome() {
        let tally = |wins, draws, losses| Tally { wins, draws, losses }.mistakes_ppm();
        assert_eq!(tally(1, 1, 2), 750_000);
        assert_eq!(tally(0, 1, 3), 750_000);
        assert_eq!(tally(0, 0, 3), 0);
        assert_eq!(tally(0, 0, 0), 0);
    }
}
