//! The evaluations: points, and what decides who gains more of those still to come.

use super::filling::Filling;
use super::naive::Naive;
use super::narrow::Narrow;
use super::position::Position;
use super::race::{Number, Race};
use super::rules::{Fill, Sudoku};
use super::territory::Territory;
use plyd_core::game::{Context, Evaluator, Game, Side, Spec};
use plyd_core::options::weights::{self, Weights};
use plyd_core::score::Score;

const FILE: &str = include_str!("weights.txt");
const PARITY: Spec = weights::spec(
    FILE,
    "parity",
    0,
    10_000,
    "Of `parity`: what the parity is worth, in thousandths of a point.",
);
const ALONE: Spec = weights::spec(
    FILE,
    "land_alone",
    0,
    2000,
    "Of `parity`, if players are bound to cells: the worth of a cell that only one of them can come to.",
);
const NEARER: Spec =
    weights::spec(FILE, "land_nearer", 0, 500, "The same of a cell that one of them comes to sooner.");
const REGION: Spec =
    weights::spec(FILE, "land_region", 0, 3000, "The same of a region that only one of them can complete.");
/// The weights.
pub(super) const WEIGHTS: Weights = Weights { list: &[PARITY, ALONE, NEARER, REGION], file: FILE };
/// Bounds of all evaluations: points are given by texts, too.
const RANGE: (i32, i32) = (-Score::MAX_EVAL.raw(), Score::MAX_EVAL.raw());

/// Points, and whom the parity of cells and passes favours: the mover, unless both are even.
#[derive(Clone, Copy, Debug)]
pub struct Parity {
    // All in thousandths.
    parity: i32,
    /// The worth of a cell that only one player can come to, if players are bound to cells.
    alone: i32,
    /// The worth of a cell that one comes to sooner.
    nearer: i32,
    /// The worth of a region that only one can complete.
    region: i32,
}

impl Parity {
    /// The evaluation with these weights.
    #[must_use]
    pub(super) fn new(weight: impl Fn(&Spec) -> i32) -> Self {
        let [parity, alone, nearer, region] = [PARITY, ALONE, NEARER, REGION].map(|spec| weight(&spec));
        Self { parity, alone, nearer, region }
    }

    fn parity(self, empty: usize, passes: usize) -> i32 {
        if empty.is_multiple_of(2) && passes.is_multiple_of(2) { -self.parity } else { self.parity }
    }

    /// The worth of the cells that one player reaches alone or sooner, from the mover's view: if the mover
    /// has more, it fills the surplus at the end in a row, and completes their regions.
    fn land<const C: usize, const W: usize, const S: usize>(
        self,
        game: &Filling<C, W, S>,
        race: &Race<C, W, S>,
    ) -> i32 {
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
        self.alone * cells + self.nearer * nearer + self.region * regions
    }
}

impl Default for Parity {
    fn default() -> Self {
        Self::new(weights::default)
    }
}

/// The mover's points less the opponent's: the published `score`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Points;

/// Points, and a tenth of the mean emptiness of all regions if the side of the root is to move: the published
/// `prefer_empty_regions`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FewerFilled;

impl Evaluator<Sudoku> for Parity {
    /// Passes are counted as if the solution at hand were the only one.
    fn evaluate(&self, game: &Sudoku, pos: &Position, _ctx: &Context<Fill>) -> Score {
        let open = |cell: usize| pos.open_values(game.grid(), cell).count_ones();
        let moves: u32 = (0..game.grid().cells()).map(open).sum();
        // If it is undecided whether there is a solution, a cell may have no number left.
        let passes = (moves as usize).saturating_sub(pos.empty());
        Score::eval(game.settled(pos) + self.parity(pos.empty(), passes))
    }

    fn range(&self) -> (i32, i32) {
        RANGE
    }
}

impl<const C: usize, const W: usize, const S: usize> Evaluator<Filling<C, W, S>> for Parity {
    #[inline]
    fn evaluate(&self, game: &Filling<C, W, S>, race: &Race<C, W, S>, _ctx: &Context<Number>) -> Score {
        let points = game.settled(race);
        if game.is_bound() {
            return Score::eval(points + self.land(game, race));
        }
        Score::eval(points + game.passes(race).map_or(0, |passes| self.parity(race.empty(), passes)))
    }

    fn range(&self) -> (i32, i32) {
        RANGE
    }
}

impl Evaluator<Sudoku> for Points {
    fn evaluate(&self, game: &Sudoku, pos: &Position, _ctx: &Context<Fill>) -> Score {
        Score::eval(game.settled(pos))
    }

    fn range(&self) -> (i32, i32) {
        RANGE
    }
}

impl Evaluator<Sudoku> for FewerFilled {
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

    fn is_root_dependent(&self) -> bool {
        true
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

impl Evaluator<Narrow> for Points {
    fn evaluate(&self, game: &Narrow, pos: &Position, ctx: &Context<Fill>) -> Score {
        Evaluator::<Naive>::evaluate(self, game.whole(), pos, ctx)
    }

    fn range(&self) -> (i32, i32) {
        RANGE
    }
}

impl Evaluator<Naive> for FewerFilled {
    fn evaluate(&self, game: &Naive, pos: &Position, ctx: &Context<Fill>) -> Score {
        Evaluator::<Sudoku>::evaluate(self, game.rules(), pos, ctx)
    }

    fn range(&self) -> (i32, i32) {
        RANGE
    }

    fn is_root_dependent(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::boards::{BOARDS, open};
    use super::super::pairs::{Extent, SOLUTIONS};
    use super::super::solutions::Solutions;
    use super::*;
    use plyd_core::engine::Playable;
    use plyd_core::game::Turn;
    use plyd_core::zobrist::SplitMix64;

    /// Four empty cells with one pass among them.
    const ENDING: &str = "2 2 1 2 3 . 3 4 1 2 2 1 . 3 . 3 . 1; scores 5 2";

    #[test]
    fn values_are_those_worked_out_by_hand() {
        let rows = [
            // Points, whom the parity favours, and fewer-filled if the root's side moves: 12 of 48 cells of
            // regions are missing.
            (ENDING.to_owned(), 3000, 1, 3025),
            (format!("{ENDING}; mover 2"), -3000, 1, -2975),
            (format!("{ENDING}; taboo 3,2,4"), 3000, -1, 3025),
            (ENDING.replacen("3 .", "3 4", 1), 3000, 1, 3018),
        ];
        for (text, points, sign, fewer) in rows {
            let parity = points + sign * weights::default(&PARITY);
            let (game, pos) = open(&text, "classic");
            let value = |evaluator: &str| game.evaluate(&pos, evaluator).unwrap().raw();
            assert_eq!(
                (value("score"), value("parity"), value("fewer-filled")),
                (points, parity, fewer),
                "{text}"
            );
            let other = Context { root: pos.mover().other(), last: None };
            assert_eq!(
                Evaluator::<Sudoku>::evaluate(&FewerFilled, &game, &pos, &other).raw(),
                points,
                "{text}"
            );
        }
    }

    #[test]
    fn a_race_is_worth_what_its_position_is() {
        let texts =
            BOARDS.iter().filter(|board| board.solutions == Some(1)).map(|board| board.text).chain([ENDING]);
        for text in texts {
            let (game, pos) = open(text, "classic");
            let solutions = Solutions::of(&game, &pos, SOLUTIONS, u64::MAX);
            let context = Context { root: pos.mover(), last: None };
            let points = Evaluator::<Sudoku>::evaluate(&Points, &game, &pos, &context);
            let parity = Evaluator::<Sudoku>::evaluate(&Parity::default(), &game, &pos, &context);
            for extent in [Extent::EveryMove, Extent::EveryChoice, Extent::Outline] {
                let (filling, race) = Filling::<4, 8, 1>::of(&game, &pos, &solutions, extent).unwrap();
                let context = Context { root: race.mover(), last: None };
                assert_eq!(
                    Parity::new(|_| 0).evaluate(&filling, &race, &context),
                    points,
                    "{extent:?} {text}"
                );
                assert_eq!(
                    Parity::default().evaluate(&filling, &race, &context),
                    parity,
                    "{extent:?} {text}"
                );
            }
        }
    }

    /// Swapping the sides keeps the value for the mover, at every position of random games.
    #[test]
    fn land_is_worth_the_same_from_both_sides() {
        let mut unsettled = 0;
        for (seed, name) in (0..).zip(["empty-2x2", "empty-2x3", "random-2x3", "empty-3x3", "random-3x3"]) {
            let board = BOARDS.iter().find(|board| board.name == name).expect("a board");
            let mut random = SplitMix64::new(seed);
            let (game, mut pos) = open(board.text, "rows");
            let mut moves = Vec::new();
            while game.turn(&pos) == Turn::Move {
                let solutions = Solutions::of(&game, &pos, 1, 0);
                let (filling, race) =
                    Filling::<4, 8, 1>::of(&game, &pos, &solutions, Extent::Outline).unwrap();
                let mirrored = race.with_sides_swapped();
                let context = Context { root: race.mover(), last: None };
                let value = Parity::default().evaluate(&filling, &race, &context);
                assert_eq!(Parity::default().evaluate(&filling, &mirrored, &context), value, "{name}");
                unsettled += usize::from(value.raw() != filling.settled(&race));
                moves.clear();
                game.moves(&pos, &mut moves);
                game.play(&mut pos, moves[random.below(moves.len())]);
            }
        }
        assert!(unsettled > 30, "{unsettled}");
    }

    /// However the cells are numbered, a race has the same moves and values.
    #[test]
    fn races_of_all_cells_are_those_of_the_empty_cells() {
        let mut values = 0;
        for (seed, board) in (0..).zip(BOARDS) {
            for preset in ["classic", "rows", "border"] {
                let (game, pos) = open(board.text, preset);
                let solutions = Solutions::of(&game, &pos, 1, 0);
                let (empty, mut at) = Filling::<4, 8, 1>::of(&game, &pos, &solutions, Extent::Fills).unwrap();
                let (whole, mut whole_at) =
                    Filling::<10, 10, 1>::of(&game, &pos, &solutions, Extent::Fills).unwrap();
                let mut random = SplitMix64::new(seed);
                while empty.turn(&at) == Turn::Move {
                    assert_eq!(whole.turn(&whole_at), Turn::Move);
                    let (mut moves, mut same) = (Vec::<Number>::new(), Vec::new());
                    empty.moves(&at, &mut moves);
                    whole.moves(&whole_at, &mut same);
                    assert_eq!(moves, same, "{} {preset}", board.name);
                    let mv = moves[random.below(moves.len())];
                    assert_eq!(empty.order(&at, mv), whole.order(&whole_at, mv));
                    let context = Context { root: at.mover(), last: None };
                    let value = Parity::default().evaluate(&empty, &at, &context);
                    assert_eq!(Parity::default().evaluate(&whole, &whole_at, &context), value);
                    assert_eq!(
                        (empty.side(&at), empty.probe(&at)),
                        (whole.side(&whole_at), whole.probe(&whole_at))
                    );
                    values += usize::from(value.raw() != 0);
                    empty.play(&mut at, mv);
                    whole.play(&mut whole_at, mv);
                }
                assert_eq!(whole.turn(&whole_at), empty.turn(&at));
            }
        }
        assert!(values > 500, "{values}");
    }
}
