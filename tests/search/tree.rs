//! Random game trees for tests of the searches: players may move twice, chance may decide, lines join again.

use plyd::game::{Context, Evaluator, Game, LateMoveReductions, Outcome, Side, Turn};
use plyd::score::Score;
use plyd::zobrist::mix;

/// A random game: everything about a position is drawn from its number.
#[derive(Clone, PartialEq)]
pub(crate) struct Tree<const CHANCE: bool, const SCORED: bool> {
    pub(crate) seed: u64,
    /// Positions a ply; few make many transpositions.
    pub(crate) width: u64,
    /// No line is longer.
    pub(crate) plies: u32,
}

/// A position of such a game.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Node {
    pub(crate) state: u64,
    pub(crate) ply: u32,
    /// Points of the first player less the second's.
    pub(crate) lead: i32,
}

impl<const CHANCE: bool, const SCORED: bool> Tree<CHANCE, SCORED> {
    fn draw(&self, pos: &Node, what: u64) -> u64 {
        mix(self.seed ^ mix(pos.state ^ u64::from(pos.ply) << 40 ^ what << 56))
    }
}

impl<const CHANCE: bool, const SCORED: bool> Game for Tree<CHANCE, SCORED> {
    type Position = Node;
    type Move = u8;
    type Undo = Node;
    const STOCHASTIC: bool = CHANCE;
    const SCORED: bool = SCORED;

    fn side(&self, pos: &Node) -> Side {
        // Mostly alternating, but a third of the turns are skipped or doubled.
        let usual = pos.ply.is_multiple_of(2);
        if usual ^ (self.draw(pos, 1).is_multiple_of(3)) { Side::First } else { Side::Second }
    }

    fn turn(&self, pos: &Node) -> Turn {
        let ends = pos.ply > 0 && self.draw(pos, 2).is_multiple_of(8);
        if ends || pos.ply >= self.plies {
            let winner = match self.draw(pos, 3) % 3 {
                _ if SCORED && pos.lead > 0 => Some(Side::First),
                _ if SCORED && pos.lead < 0 => Some(Side::Second),
                _ if SCORED => None,
                0 => None,
                1 => Some(Side::First),
                _ => Some(Side::Second),
            };
            let scores = SCORED.then_some([pos.lead, 0]);
            return Turn::Over(Outcome { winner, by: "end", scores });
        }
        if CHANCE && pos.ply > 0 && self.draw(pos, 4).is_multiple_of(3) { Turn::Chance } else { Turn::Move }
    }

    fn moves(&self, pos: &Node, out: &mut Vec<u8>) {
        out.extend(0..1 + (self.draw(pos, 5) % 4) as u8);
    }

    fn is_legal(&self, pos: &Node, mv: u8) -> bool {
        u64::from(mv) < 1 + self.draw(pos, 5) % 4
    }

    fn play(&self, pos: &mut Node, mv: u8) -> Node {
        let before = *pos;
        let points = if SCORED { (self.draw(pos, 6) % 3) as i32 } else { 0 };
        pos.lead += if self.side(&before) == Side::First { points } else { -points };
        pos.state = self.draw(&before, 7 + u64::from(mv)) % self.width;
        pos.ply += 1;
        before
    }

    fn undo(&self, pos: &mut Node, _mv: u8, undo: Node) {
        *pos = undo;
    }

    fn hash(&self, pos: &Node) -> u64 {
        // In games that score, the table must work without the points.
        mix(pos.state ^ u64::from(pos.ply) << 32)
    }

    fn outcomes(&self, pos: &Node, out: &mut Vec<(u8, u32)>) {
        out.extend((0..2 + (self.draw(pos, 5) % 3) as u8).map(|mv| (mv, 1 + u32::from(mv))));
    }

    fn index(&self, mv: u8) -> usize {
        usize::from(mv)
    }

    fn index_len(&self) -> usize {
        4
    }

    fn settled(&self, pos: &Node) -> i32 {
        let lead = if self.side(pos) == Side::First { pos.lead } else { -pos.lead };
        if SCORED { lead * 1000 } else { 0 }
    }
}

/// An evaluation that is drawn from the position, too.
#[derive(Clone)]
pub(crate) struct Noise;

impl<const CHANCE: bool, const SCORED: bool> Evaluator<Tree<CHANCE, SCORED>> for Noise {
    fn evaluate(&self, game: &Tree<CHANCE, SCORED>, pos: &Node, _ctx: &Context<u8>) -> Score {
        Score::eval((game.draw(pos, 20) % 6000) as i32 - 3000 + game.settled(pos))
    }

    fn range(&self) -> (i32, i32) {
        (-100_000, 100_000)
    }
}

/// [`Noise`] for a search that looks less deep behind late moves.
#[derive(Clone)]
pub(crate) struct SelectiveNoise;

impl<const CHANCE: bool, const SCORED: bool> Evaluator<Tree<CHANCE, SCORED>> for SelectiveNoise {
    fn evaluate(&self, game: &Tree<CHANCE, SCORED>, pos: &Node, ctx: &Context<u8>) -> Score {
        Noise.evaluate(game, pos, ctx)
    }

    fn range(&self) -> (i32, i32) {
        Evaluator::<Tree<CHANCE, SCORED>>::range(&Noise)
    }

    fn lmr(&self) -> Option<LateMoveReductions> {
        Some(LateMoveReductions { first: 2, from: 6, plies: 2 })
    }
}
