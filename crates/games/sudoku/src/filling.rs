//! The race to fill cells: what is left of the game when its solutions are known.
//!
//! Points depend on which cells are full, and whether a move fills its cell or passes depends on which
//! solutions are left. So a position is a few sets of bits: the empty cells, the moves that are legal and not
//! declared, and some solutions of the puzzle, one bit each. A move that occurs in none of the solutions left
//! is taboo. No node needs a solver.
//!
//! **Exact** if all solutions are known and all passes are listed. Two passes that stay legal exactly as long
//! as each other cancel: a player who gains by one is answered by the other, and nothing has changed. So each
//! such class keeps one pass if its number is odd, and none if it is even. Of values that nobody has used,
//! one stands for all.
//!
//! **An outline** otherwise: one solution is taken for the only one, and one pass is listed.

use std::sync::Arc;

use super::pairs::{Data, Extent};
use super::position::Position;
use super::race::{Number, Race};
use super::rules::{FULL, Fill, POINTS, STUCK, Sudoku};
use super::solutions::Solutions;
use crate::words::Words;
use plyd_core::game::{Game, Outcome, Side, Turn};
use plyd_core::score::{Score, Value};
use plyd_core::zobrist::mix;

/// The race on at most 64 `C` cells with at most 64 `W` moves, and 64 `S` solutions if it is exact.
#[derive(Clone)]
pub(super) struct Filling<const C: usize, const W: usize, const S: usize> {
    data: Arc<Data<C, W, S>>,
}

impl<const C: usize, const W: usize, const S: usize> Filling<C, W, S> {
    /// The race of a position with these solutions, and where it stands; none if it does not fit.
    ///
    /// It is exact if all solutions are given and `rules` asks for it.
    #[must_use]
    pub(super) fn of(
        game: &Sudoku,
        pos: &Position,
        solutions: &Solutions,
        rules: Extent,
    ) -> Option<(Self, Race<C, W, S>)> {
        let (data, mut race) = Data::of(game, pos, solutions, rules)?;
        let filling = Self { data: Arc::new(data) };
        filling.cancel(&mut race);
        Some((filling, race))
    }

    /// Whether what is proven of the race is proven of the game.
    #[must_use]
    pub(super) fn is_exact(&self) -> bool {
        self.data.is_exact
    }

    /// Whether players are bound to cells of their own.
    #[inline]
    #[must_use]
    pub(super) fn is_bound(&self) -> bool {
        self.data.is_bound
    }

    /// The game's move.
    #[must_use]
    pub(super) fn fill(&self, number: Number) -> Fill {
        self.data.pairs[usize::from(number.0)].mv
    }

    /// Whether a move fills its cell.
    #[inline]
    #[must_use]
    pub(super) fn is_fill(&self, race: &Race<C, W, S>, number: Number) -> bool {
        !(self.data.pairs[usize::from(number.0)].solutions & race.solutions).is_empty()
    }

    /// How many passes are left once a single solution is left; none if they are not counted.
    #[inline]
    #[must_use]
    pub(super) fn passes(&self, race: &Race<C, W, S>) -> Option<usize> {
        self.data.is_counted.then(|| race.legal.len().saturating_sub(race.empty.len()) as usize)
    }

    /// The rows, columns and blocks, each with the cells that were empty at the root.
    #[inline]
    #[must_use]
    pub(super) fn regions(&self) -> &[Words<C>] {
        &self.data.regions
    }

    /// The cells beside those of a set; its own, and numbers of no cell, may be among them.
    #[inline]
    #[must_use]
    pub(super) fn beside(&self, cells: Words<C>) -> Words<C> {
        match &self.data.lines {
            Some(lines) => lines.around(cells),
            None => cells.iter().fold(Words::EMPTY, |all, cell| all | self.data.cells[cell].near),
        }
    }

    /// Leaves out passes that cancel each other, once one solution is left.
    fn cancel(&self, race: &mut Race<C, W, S>) {
        if let Some(solution) = race.solutions.only() {
            for &class in &self.data.classes[solution] {
                let twins = race.legal & class;
                if let Some(first) = twins.iter().next()
                    && twins.only().is_none()
                {
                    race.legal &= !class;
                    if twins.len() % 2 == 1 {
                        race.legal.insert(first);
                    }
                }
            }
        }
    }

    /// Makes a side the mover, or the other one if that side has no cell to play and the other has.
    #[inline]
    fn pass_to(&self, race: &mut Race<C, W, S>, side: Side) {
        let skipped =
            self.data.is_bound && race.playable(side).is_empty() && !race.playable(side.other()).is_empty();
        race.mover = if skipped { side.other() } else { side };
    }

    /// How many cells are empty in each region of a cell.
    #[inline]
    fn missing(&self, race: &Race<C, W, S>, cell: usize) -> [u32; 3] {
        let regions = self.data.cells[cell].regions;
        regions.map(|region| (race.empty & self.data.regions[usize::from(region)]).len())
    }
}

/// How many of these regions have `cells` empty cells.
#[inline]
fn regions_with(missing: [u32; 3], cells: u32) -> usize {
    missing.into_iter().filter(|&missing| missing == cells).count()
}

impl<const C: usize, const W: usize, const S: usize> PartialEq for Filling<C, W, S> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.data, &other.data)
    }
}

impl<const C: usize, const W: usize, const S: usize> Game for Filling<C, W, S> {
    type Position = Race<C, W, S>;
    type Move = Number;
    type Undo = Race<C, W, S>;
    const SCORED: bool = true;
    /// Positions are reached in so many orders that probing the table pays everywhere.
    const TABLE_DEPTH: i32 = 1;

    #[inline]
    fn side(&self, race: &Race<C, W, S>) -> Side {
        race.mover
    }

    #[inline]
    fn turn(&self, race: &Race<C, W, S>) -> Turn {
        if !race.playable(race.mover).is_empty() {
            return Turn::Move;
        }
        let winner = match race.margin {
            1.. => Some(Side::First),
            0 => None,
            _ => Some(Side::Second),
        };
        let by = if race.empty.is_empty() { FULL } else { STUCK };
        Turn::Over(Outcome { winner, by, scores: Some([race.margin, 0]) })
    }

    #[inline]
    fn moves(&self, race: &Race<C, W, S>, out: &mut Vec<Number>) {
        let playable = race.playable(race.mover);
        // Of fresh values, the lowest stands for all.
        let like = race.fresh & race.fresh.wrapping_sub(1);
        for number in race.legal.iter() {
            let pair = &self.data.pairs[number];
            if self.data.is_bound && !playable.contains(pair.cell) || like >> (pair.mv.value - 1) & 1 != 0 {
                continue;
            }
            out.push(Number(number as u16));
            if !self.data.is_exact && pair.solutions.is_empty() {
                break;
            }
        }
    }

    #[inline]
    fn is_legal(&self, race: &Race<C, W, S>, mv: Number) -> bool {
        let number = usize::from(mv.0);
        race.legal.contains(number) && race.playable(race.mover).contains(self.data.pairs[number].cell)
    }

    #[inline]
    fn play(&self, race: &mut Race<C, W, S>, mv: Number) -> Race<C, W, S> {
        let before = *race;
        let pair = &self.data.pairs[usize::from(mv.0)];
        let left = pair.solutions & race.solutions;
        race.fresh &= !(1 << (pair.mv.value - 1));
        if left.is_empty() {
            race.legal.remove(mv.0.into());
        } else {
            let completed = regions_with(self.missing(race, pair.cell), 1);
            let points = POINTS[completed];
            race.open -= completed as u8;
            race.margin += if race.mover == Side::First { points } else { -points };
            race.empty.remove(pair.cell);
            race.legal &= !pair.excludes;
            if self.data.is_bound {
                let reached = &mut race.reached[before.mover.index()];
                *reached |= self.data.cells[pair.cell].near;
            }
            if left != race.solutions {
                race.solutions = left;
                self.cancel(race);
            }
        }
        self.pass_to(race, before.mover.other());
        before
    }

    #[inline]
    fn undo(&self, race: &mut Race<C, W, S>, _mv: Number, before: Race<C, W, S>) {
        *race = before;
    }

    #[inline]
    fn hash(&self, race: &Race<C, W, S>) -> u64 {
        let fold = |hash: u64, word: &u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let solutions = race.solutions.words();
        let first = solutions[0].rotate_left(1) ^ race.mover as u64;
        let words = solutions[1..].iter().chain(race.legal.words()).chain(race.empty.words());
        let mut hash = words.fold(mix(first), fold);
        if self.data.is_bound {
            // Whether a full cell was reached no longer matters.
            for side in Side::ALL {
                hash = race.playable(side).words().iter().fold(hash, fold);
            }
        }
        mix(hash)
    }

    #[inline]
    fn index(&self, mv: Number) -> usize {
        mv.0.into()
    }

    fn index_len(&self) -> usize {
        Words::<W>::CAPACITY
    }

    #[inline]
    fn settled(&self, race: &Race<C, W, S>) -> i32 {
        1000 * if race.mover == Side::First { race.margin } else { -race.margin }
    }

    /// At most the mover's points and those of all open regions: three at once are worth most.
    #[inline]
    fn probe(&self, race: &Race<C, W, S>) -> Option<Value> {
        let most = self.settled(race) + 1000 * (i32::from(race.open) * POINTS[3] / 3);
        Some(Value { score: Score::eval(most), at_least: false, at_most: true })
    }

    /// Points first, then moves that give none away; passes if they change the parity in the mover's favour.
    #[inline]
    fn order(&self, race: &Race<C, W, S>, mv: Number) -> i32 {
        let pair = &self.data.pairs[usize::from(mv.0)];
        if self.is_fill(race, mv) {
            let missing = self.missing(race, pair.cell);
            return 8 * POINTS[regions_with(missing, 1)] - 4 * regions_with(missing, 2) as i32;
        }
        let is_odd = |count: usize| count % 2 == 1;
        if !is_odd(race.empty()) && self.passes(race).is_some_and(is_odd) { 4 } else { -6 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::boards::open;
    use super::super::layout::Layout;
    use super::super::oracle::{Oracle, solved};
    use super::super::pairs::SOLUTIONS;
    use super::super::presets::{Choice, Preset};
    use super::*;
    use plyd_core::engine::conformance::is_whole;
    use plyd_core::game::Rules;
    use plyd_core::zobrist::SplitMix64;

    /// What the mover gains more than the other, by trying every line.
    fn solve(filling: &Filling<1, 4, 5>, race: &mut Race<1, 4, 5>) -> i32 {
        if filling.turn(race) != Turn::Move {
            return filling.settled(race) / 1000;
        }
        let mut moves = Vec::new();
        filling.moves(race, &mut moves);
        let side = race.mover;
        let after = |mv| {
            let before = filling.play(race, mv);
            let value = solve(filling, race);
            let value = if race.mover == side { value } else { -value };
            filling.undo(race, mv, before);
            value
        };
        moves.into_iter().map(after).max().expect("a race that goes on has a move")
    }

    fn oracle(game: &Sudoku, pos: &Position) -> Oracle {
        let places = |cells: &Vec<u16>| cells.iter().map(|&cell| game.grid().place(cell.into())).collect();
        let values: Vec<u8> = pos.squares().iter().map(|square| square.value).collect();
        let mut oracle = Oracle::new(game.grid().m(), game.grid().n(), &values);
        if let Some([first, second]) = &game.choice().allowed {
            oracle = oracle.bound(places(first), places(second));
        }
        oracle.mover = pos.mover().index();
        oracle
    }

    /// Half of all values are missing, and one stands for both.
    #[test]
    fn values_that_nobody_has_used_are_worth_the_same() {
        let texts = ["2 2 1 2 . . . . 1 2 2 1 . . . . 2 1", "2 2 1 2 . . . . 1 2 . . 2 1 2 1 . ."];
        for text in texts.into_iter().take(if is_whole() { 2 } else { 1 }) {
            for preset in ["classic", "rows", "border"] {
                let (game, pos) = open(text, preset);
                let all = Solutions::of(&game, &pos, SOLUTIONS, u64::MAX);
                let of = |extent| Filling::<1, 4, 5>::of(&game, &pos, &all, extent).unwrap();
                let listed = |(filling, race): &(Filling<1, 4, 5>, Race<1, 4, 5>)| {
                    let mut moves = Vec::new();
                    filling.moves(race, &mut moves);
                    moves.len()
                };
                let (mut one, each) = (of(Extent::EveryChoice), of(Extent::EveryMove));
                assert_eq!(2 * listed(&one), listed(&each), "{preset} {text}");
                let expected = oracle(&game, &pos).solve(&mut HashMap::new());
                assert_eq!(solve(&one.0, &mut one.1), expected, "{preset} {text}");
            }
        }
    }

    /// Endings with few empty cells under the full rules, without the passes that cancel, against an oracle
    /// that leaves out none.
    #[test]
    fn exact_races_are_worth_what_the_rules_say() {
        let (mut several, mut with_passes, mut seen) = (0, 0, 0);
        // Each third has every shape with every preset, too.
        let share = if is_whole() { 1 } else { 3 };
        for seed in (0..600).step_by(share) {
            let mut random = SplitMix64::new(seed);
            let (m, n) = [(2, 2), (2, 3), (3, 3), (2, 2)][seed as usize % 4];
            let preset = [Preset::Classic, Preset::Classic, Preset::Border, Preset::Classic, Preset::Random]
                [seed as usize % 5];
            let mut values = solved(m, n, &mut random);
            let empty = 3 + random.below(if preset == Preset::Classic { 6 } else { 4 });
            for _ in 0..empty {
                // Close together, so that solutions differ.
                let cell = random.below(values.len()) / 2 * 2;
                values[cell] = 0;
                // The last cell of an odd board is its own neighbour.
                let next = (cell + 1).min(values.len() - 1);
                values[next] = if random.below(3) == 0 { 0 } else { values[next] };
            }
            let empty = values.iter().filter(|&&value| value == 0).count();
            let words: Vec<String> = values.iter().map(u8::to_string).collect();
            let layout = Layout::parse(&format!("{m} {n} {}", words.join(" "))).unwrap();
            let rules = Rules::new(vec![("preset", preset.name().into())]);
            let game = Sudoku::new(Choice::new(&rules, Some(&layout.stated_rules())).unwrap());
            let pos = layout.position(&game).unwrap();
            let mut moves = Vec::new();
            game.moves(&pos, &mut moves);
            if empty > 8 || moves.len() > 9 || matches!(game.turn(&pos), Turn::Over(_)) {
                continue;
            }
            let all = Solutions::of(&game, &pos, SOLUTIONS, u64::MAX);
            let (filling, mut race) = Filling::<1, 4, 5>::of(&game, &pos, &all, Extent::EveryChoice).unwrap();
            assert!(filling.is_exact());
            let expected = oracle(&game, &pos).solve(&mut HashMap::new());
            assert_eq!(solve(&filling, &mut race), expected, "{preset:?} {m} {n} {}", words.join(" "));
            seen += 1;
            several += usize::from(all.found.len() > 1);
            with_passes += usize::from(moves.len() > empty);
        }
        let enough = seen > 300 / share && several > 4 / share && with_passes > 100 / share;
        assert!(enough, "{seen} {several} {with_passes}");
    }
}
