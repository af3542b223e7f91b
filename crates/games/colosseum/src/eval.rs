//! The plain evaluations: the race for cells, and the ground that a side holds.

use super::ahead::Ahead;
use super::position::{Position, Walk};
use super::rules::Colosseum;
use plyd_core::bits::Bits;
use plyd_core::game::{Context, Evaluator, FutilityMargins, LateMoveReductions, Spec};
use plyd_core::options::weights::{self, Weights};
use plyd_core::score::Score;

/// Thousandths in a cell.
pub(super) const UNIT: i32 = 1000;
/// The reductions with which the evaluations win games.
const LMR: LateMoveReductions = LateMoveReductions { first: 6, from: 3, plies: 1 };
/// A lead with which most games are won.
const DECISIVE: i32 = 10 * UNIT;

const FILE: &str = include_str!("weights.txt");
const FIRST: Spec = weights::spec(
    FILE,
    "first",
    0,
    2000,
    "Of `ground`: what a cell is worth that one side reaches first, in thousandths.",
);
const FAR: Spec = weights::spec(
    FILE,
    "far",
    0,
    2000,
    "Of `ground`: what a cell with three open sides or more is worth beside that, two steps ahead.",
);
const TEMPO: Spec =
    weights::spec(FILE, "tempo", 0, 20_000, "Of `ground`: what it is worth to be the side to move.");
/// The weights.
pub(super) const WEIGHTS: Weights = Weights { list: &[FIRST, FAR, TEMPO], file: FILE };

/// The mover's lead in cells: those that the mover reaches first less those that the opponent reaches first.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    cells: i32,
}

impl Race {
    /// The evaluation for a game.
    #[must_use]
    pub fn new<B: Bits>(game: &Colosseum<B>) -> Self {
        Self { cells: game.board().cells() as i32 }
    }
}

impl<B: Bits> Evaluator<Colosseum<B>> for Race {
    #[inline]
    fn evaluate(&self, game: &Colosseum<B>, pos: &Position<B>, _ctx: &Context<Walk>) -> Score {
        let [own, opp] = [pos.mover(), pos.mover().other()].map(|side| pos.player(side));
        Score::eval(game.lead(pos.open(), own, opp) * UNIT)
    }

    fn range(&self) -> (i32, i32) {
        (-self.cells * UNIT, self.cells * UNIT)
    }

    fn decisive(&self) -> i32 {
        DECISIVE
    }

    fn lmr(&self) -> Option<LateMoveReductions> {
        Some(LMR)
    }
}

/// The mover's lead in cells, as [`Race`] counts them, and in wide cells that one side reaches two steps or
/// more before the other, each with a worth; and the worth of being the mover.
///
/// A cell is wide if it is open on three sides or more: it is not soon cut off, and the next wall may turn a
/// lead of one step around. `plyd tune colosseum` tunes the worths.
///
/// ```
/// use plyd_core::game::{Evaluator, Rules};
/// use plyd_colosseum::eval::{Ground, Race};
/// use plyd_colosseum::rules::Colosseum;
/// use plyd_colosseum::setup::Setup;
///
/// let game = Colosseum::<u64>::new(Setup::choose(&Rules::default(), Some(6)).unwrap());
/// let pos = game.start().unwrap();
/// let (race, ground) = (Race::new(&game), Ground::new(&game));
/// println!("{:?} and {:?}", race.evaluate_alone(&game, &pos), ground.evaluate_alone(&game, &pos));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ground {
    cells: i32,
    // In thousandths.
    first: i32,
    far: i32,
    tempo: i32,
}

impl Ground {
    /// The evaluation for a game, with the default weights.
    #[must_use]
    pub fn new<B: Bits>(game: &Colosseum<B>) -> Self {
        Self::weighted(game, weights::default)
    }

    /// The evaluation for a game with other weights.
    #[must_use]
    pub(super) fn weighted<B: Bits>(game: &Colosseum<B>, weight: impl Fn(&Spec) -> i32) -> Self {
        Self {
            cells: game.board().cells() as i32,
            first: weight(&FIRST),
            far: weight(&FAR),
            tempo: weight(&TEMPO),
        }
    }
}

impl<B: Bits> Evaluator<Colosseum<B>> for Ground {
    #[inline]
    fn evaluate(&self, game: &Colosseum<B>, pos: &Position<B>, _ctx: &Context<Walk>) -> Score {
        let [own, opp] = [pos.mover(), pos.mover().other()].map(|side| B::single(pos.player(side)));
        let ahead = Ahead::new(&game.board().paths(pos.open()), own, opp);
        let wide = game.board().wide(pos.open());
        let lead = |[own, opp]: [B; 2]| own.len() as i32 - opp.len() as i32;
        let (first, far) = (lead(ahead.first), lead(ahead.far.map(|cells| cells & wide)));
        Score::eval(self.first * first + self.far * far + self.tempo)
    }

    fn range(&self) -> (i32, i32) {
        let most = (self.first + self.far) * self.cells + self.tempo;
        (-most, most)
    }

    fn decisive(&self) -> i32 {
        DECISIVE
    }

    fn lmr(&self) -> Option<LateMoveReductions> {
        Some(LMR)
    }

    fn futility(&self) -> Option<FutilityMargins> {
        Some(FutilityMargins { behind: 5 * UNIT / 2, ahead: [3 * UNIT, 4 * UNIT] })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::notation::Layout;
    use super::super::oracle::{Place, random_games};
    use super::super::setup::{Setup, StartWalls};
    use super::*;
    use plyd_core::bits::Colours;
    use plyd_core::game::Side;

    /// Compares the evaluations of a size with the oracle's distances, cell by cell.
    fn check<B: Bits>(size: usize, games: u64) {
        let game = Colosseum::<B>::new(Setup { size, start_walls: StartWalls::Fall2023, seed: 0 });
        the_race_counts_the_cells_that_each_reaches_first(&game, games);
        the_ground_counts_wide_cells_that_one_reaches_two_steps_sooner(&game, games);
    }

    #[test]
    fn evaluations_of_every_size_agree_with_the_oracle() {
        for size in 5..=12 {
            match size {
                ..=8 => check::<u64>(size, 6),
                9..=11 => check::<Colours<u64>>(size, 1),
                _ => check::<Colours<u128>>(size, 1),
            }
        }
    }

    fn the_race_counts_the_cells_that_each_reaches_first<B: Bits>(game: &Colosseum<B>, games: u64) {
        random_games(game.board().size() as i32, games, |_, oracle| {
            let pos = Layout::parse(&oracle.text()).unwrap().position(game);
            let [own, opp] = [oracle.active, 1 - oracle.active]
                .map(|player| oracle.within(oracle.places[player], u32::MAX, None));
            // Pockets that one side cannot reach count for the other.
            let sooner = |one: &HashMap<_, u32>, other: &HashMap<_, u32>| {
                let first = |&(place, steps): &(&_, &u32)| other.get(place).is_none_or(|other| steps < other);
                one.iter().filter(first).count() as i32
            };
            let expected = 1000 * (sooner(&own, &opp) - sooner(&opp, &own));
            let context = Context { root: Side::First, last: None };
            let value = Race::new(game).evaluate(game, &pos, &context).raw();
            assert_eq!(value, expected, "{}", oracle.text());
            let (least, most) = Evaluator::<Colosseum<B>>::range(&Race::new(game));
            assert!((least..=most).contains(&value));
        });
    }

    fn the_ground_counts_wide_cells_that_one_reaches_two_steps_sooner<B: Bits>(
        game: &Colosseum<B>,
        games: u64,
    ) {
        random_games(game.board().size() as i32, games, |_, oracle| {
            let pos = Layout::parse(&oracle.text()).unwrap().position(game);
            let [own, opp] = [oracle.active, 1 - oracle.active]
                .map(|player| oracle.within(oracle.places[player], u32::MAX, None));
            let is_wide = |place: Place| (0..4).filter(|&side| !oracle.has_wall(place, side)).count() > 2;
            let worth = |one: &HashMap<Place, u32>, other: &HashMap<Place, u32>| -> i32 {
                let cell = |(place, steps): (&Place, &u32)| {
                    let ahead = other.get(place).map_or(u32::MAX, |other| other.saturating_sub(*steps));
                    300 * i32::from(ahead > 0) + 700 * i32::from(ahead > 1 && is_wide(*place))
                };
                one.iter().map(cell).sum()
            };
            let context = Context { root: Side::First, last: None };
            // Worths that can be distinguished.
            let ground = Ground { first: 300, far: 700, tempo: 1100, ..Ground::new(game) };
            let value = ground.evaluate(game, &pos, &context).raw();
            assert_eq!(value, worth(&own, &opp) - worth(&opp, &own) + 1100, "{}", oracle.text());
            let (least, most) = Evaluator::<Colosseum<B>>::range(&ground);
            assert!((least..=most).contains(&value));
        });
    }
}
