//! The evaluations: points, and what decides who gains more of those still to come.

use super::filling::Filling;
use super::naive::Naive;
use super::position::Position;
use super::race::{Number, Race};
use super::rules::{Fill, Sudoku};
use super::territory::Territory;
use crate::game::{Context, Evaluator, Game, Side};
use crate::score::Score;

/// What the parity is worth, in thousandths.
const PARITY: i32 = 3000;
/// Where players are bound to cells, what a cell is worth that only one of them can come to, in thousandths.
const ALONE: i32 = 300;
/// What a cell is worth that one comes to sooner.
const NEARER: i32 = 50;
/// What a region is worth that only one can complete.
const REGION: i32 = 500;
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
    if empty.is_multiple_of(2) && passes.is_multiple_of(2) { -PARITY } else { PARITY }
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
            return Score::eval(points + land(game, race));
        }
        Score::eval(points + game.passes(race).map_or(0, |passes| parity(race.empty(), passes)))
    }

    fn range(&self) -> (i32, i32) {
        RANGE
    }
}

/// What the cells are worth that one player reaches alone or sooner, from the mover's view: where the mover's are more, those
/// that are left over at the end are filled in a row, and their regions with them.
fn land<const C: usize, const W: usize>(game: &Filling<C, W>, race: &Race<C, W>) -> i32 {
    let territory = Territory::of(game, race);
    let [own, others] = [race.mover(), race.mover().other()].map(|side| territory.alone(side));
    let cells = own.len() as i32 - others.len() as i32;
    let [first, second] = territory.nearer.map(|cells| cells.len() as i32);
    let nearer = if race.mover() == Side::First { first - second } else { second - first };
    let mut regions = 0;
    if cells != 0 {
        for &region in game.regions() {
            regions += i32::from(!(region & own).is_empty()) - i32::from(!(region & others).is_empty());
        }
    }
    ALONE * cells + NEARER * nearer + REGION * regions
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
