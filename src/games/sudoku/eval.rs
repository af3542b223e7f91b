//! The evaluations: points, and what decides who gains more of those still to come.

use super::bits::Bits;
use super::filling::{Filling, Number, Race};
use super::naive::Naive;
use super::rules::{Fill, Position, Sudoku};
use crate::game::{Context, Evaluator, Game, Side};
use crate::score::Score;

/// What the parity is worth, in thousandths.
const PARITY: i32 = 3000;
/// What a cell within reach is worth where players are bound to cells, in thousandths.
const REACH: i32 = 300;
/// Bounds of all evaluations: points are given by texts, too.
const RANGE: (i32, i32) = (-Score::MAX_EVAL.raw(), Score::MAX_EVAL.raw());

/// Points, and who the parity of cells and passes favours: the mover, unless both are even.
#[derive(Clone, Copy, Debug)]
pub struct Parity;

/// The mover's points less the opponent's: the published `score`.
#[derive(Clone, Copy, Debug)]
pub struct Points;

/// Points, and a tenth of the mean emptiness of all regions where the side of the root is to move: the published
/// `prefer_empty_regions`.
#[derive(Clone, Copy, Debug)]
pub struct FewerFilled;

fn parity(empty: usize, passes: usize) -> i32 {
    if empty % 2 == 0 && passes % 2 == 0 { -PARITY } else { PARITY }
}

impl Evaluator<Sudoku> for Parity {
    /// Passes are counted as if the solution at hand were the only one.
    fn evaluate(&self, game: &Sudoku, pos: &Position, _ctx: &Context<Fill>) -> Score {
        let open = |cell: usize| (pos.candidates(game.grid(), cell) & !pos.square(cell).taboo).count_ones();
        let moves: u32 = (0..game.grid().cells()).map(open).sum();
        Score::eval(game.settled(pos) + parity(pos.empty(), moves as usize - pos.empty()))
    }

    fn range(&self) -> (i32, i32) {
        RANGE
    }
}

impl<const C: usize, const W: usize> Evaluator<Filling<C, W>> for Parity {
    #[inline]
    fn evaluate(&self, game: &Filling<C, W>, race: &Race<C, W>, _ctx: &Context<Number>) -> Score {
        let points = game.settled(race);
        if game.is_bound() {
            let reach = |side: Side| flood(game, race, side) as i32;
            return Score::eval(points + REACH * (reach(race.mover()) - reach(race.mover().other())));
        }
        Score::eval(points + game.passes(race).map_or(0, |passes| parity(race.empty(), passes)))
    }

    fn range(&self) -> (i32, i32) {
        RANGE
    }
}

/// The empty cells that a player could come to if the other never moved.
fn flood<const C: usize, const W: usize>(game: &Filling<C, W>, race: &Race<C, W>, side: Side) -> usize {
    let mut reached = race.playable(side);
    let mut new = reached;
    while !new.is_empty() {
        let next = new.iter().fold(Bits::EMPTY, |next, cell| next | game.near(cell));
        new = next & race.empty_cells() & !reached;
        reached |= new;
    }
    reached.len()
}

impl Evaluator<Sudoku> for Points {
    fn evaluate(&self, game: &Sudoku, pos: &Position, _ctx: &Context<Fill>) -> Score {
        Score::eval(game.settled(pos))
    }

    fn range(&self) -> (i32, i32) {
        RANGE
    }
}

impl<const C: usize, const W: usize> Evaluator<Filling<C, W>> for Points {
    #[inline]
    fn evaluate(&self, game: &Filling<C, W>, race: &Race<C, W>, _ctx: &Context<Number>) -> Score {
        Score::eval(game.settled(race))
    }

    fn range(&self) -> (i32, i32) {
        RANGE
    }
}

impl Evaluator<Sudoku> for FewerFilled {
    const ROOT_DEPENDENT: bool = true;

    fn evaluate(&self, game: &Sudoku, pos: &Position, ctx: &Context<Fill>) -> Score {
        let grid = game.grid();
        let regions = grid.regions().len();
        let missing: u32 = (0..regions).map(|region| pos.missing(grid, region)).sum();
        let bonus = 100 * missing as i32 / (regions * grid.side()) as i32;
        Score::eval(game.settled(pos) + if pos.mover() == ctx.root { bonus } else { 0 })
    }

    fn range(&self) -> (i32, i32) {
        RANGE
    }
}

impl Evaluator<Naive> for Points {
    fn evaluate(&self, game: &Naive, pos: &Position, ctx: &Context<Fill>) -> Score {
        Evaluator::<Sudoku>::evaluate(self, game.rules(), pos, ctx)
    }

    fn range(&self) -> (i32, i32) {
        RANGE
    }
}

impl Evaluator<Naive> for FewerFilled {
    const ROOT_DEPENDENT: bool = true;

    fn evaluate(&self, game: &Naive, pos: &Position, ctx: &Context<Fill>) -> Score {
        Evaluator::<Sudoku>::evaluate(self, game.rules(), pos, ctx)
    }

    fn range(&self) -> (i32, i32) {
        RANGE
    }
}
