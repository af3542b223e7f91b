//! The game as [`Naive`] sees it, with the few moves of a position that decide who gains points soon.
//!
//! Large boards have thousands of legal moves, and nearly all of them are alike: they touch no region that is
//! nearly full. A search over the others, and some of the rest to wait with, sees many plies. At the root the
//! rest are those that bring regions nearer to completion and leave the most of them possible: every move
//! fills its cell here, but a cell may be left without a value, and then its regions are worth nothing.

use std::cmp::Reverse;

use super::naive::{Naive, root_of};
use super::position::Position;
use super::rules::Fill;
use plyd_core::game::{Evaluator, Game, Root, Side, Turn};
use plyd_core::options::Options;
use plyd_core::search::iterate::Iterate;
use plyd_core::search::{Control, End, SearchParams, SearchResult, Searcher};

/// The most empty cells of a region whose cells are all tried.
const NEARLY_FULL: u32 = 3;
/// The moves after which no more regions are looked at.
const ENOUGH: usize = 64;
/// The moves elsewhere.
const ELSEWHERE: usize = 4;
/// The moves elsewhere at the root.
const ELSEWHERE_AT_ROOT: usize = 128;

/// The naive game with few moves, except at the root.
#[derive(Clone, PartialEq)]
pub(super) struct Narrow(Naive);

impl Narrow {
    /// The game with all its moves.
    #[must_use]
    pub(super) fn whole(&self) -> &Naive {
        &self.0
    }

    /// The values that an empty cell may take, as bits from the lowest, if the mover may play there.
    fn open(&self, pos: &Position, cell: usize) -> u32 {
        if pos.is_playable(cell, pos.mover()) { pos.open_values(self.0.rules().grid(), cell) } else { 0 }
    }

    /// The moves that are tried at the root: at least `least` of `moves`, if there are as many.
    fn at_root(&self, pos: &Position, moves: &[Fill], least: usize) -> Vec<Fill> {
        let grid = self.0.rules().grid();
        let regions = |mv: &Fill| grid.regions_of(mv.cell.into()).into_iter();
        let is_near = |mv: &Fill| regions(mv).any(|region| pos.missing(grid, region) <= NEARLY_FULL);
        let (mut near, mut rest): (Vec<Fill>, Vec<Fill>) = moves.iter().partition(|mv| is_near(mv));
        let possible = Outlook::of(&self.0, pos).possible;
        let progress = |mv: &Fill| {
            let filled = |region: usize| grid.side() as u32 - pos.missing(grid, region);
            regions(mv).filter(|&region| possible[region]).map(|region| filled(region).pow(2)).sum::<u32>()
        };
        rest.sort_by_cached_key(|mv| Reverse(progress(mv)));
        rest.truncate(least.max(ELSEWHERE_AT_ROOT));
        let mut next = pos.clone();
        rest.sort_by_cached_key(|mv| {
            let undo = self.0.play(&mut next, *mv);
            let Outlook { possible, choices } = Outlook::of(&self.0, &next);
            self.0.undo(&mut next, *mv, undo);
            let possible = possible.into_iter().filter(|&is_possible| is_possible).count();
            Reverse((possible, progress(mv), choices))
        });
        near.append(&mut rest);
        near
    }

    /// Appends the moves in the regions with `missing` empty cells, each move once.
    fn moves_where(&self, pos: &Position, missing: u32, out: &mut Vec<Fill>) {
        let grid = self.0.rules().grid();
        for (region, cells) in grid.regions().iter().enumerate() {
            if pos.missing(grid, region) != missing {
                continue;
            }
            for &cell in cells {
                // With the fullest region of its cell, and the first of equal ones.
                let of_cell = grid.regions_of(cell.into());
                let fullest = of_cell.into_iter().min_by_key(|&of| pos.missing(grid, of));
                if pos.square(cell.into()).value == 0 && fullest == Some(region) {
                    out.extend(Fill::all(cell.into(), self.open(pos, cell.into())));
                }
            }
        }
    }
}

/// How a position may go on, as far as single cells and values tell.
struct Outlook {
    /// The regions that may still be completed.
    possible: Vec<bool>,
    /// The values that their empty cells may take, added up.
    choices: u32,
}

impl Outlook {
    fn of(game: &Naive, pos: &Position) -> Self {
        let grid = game.rules().grid();
        let open: Vec<u32> = (0..grid.cells()).map(|cell| pos.open_values(grid, cell)).collect();
        let mut choices = 0;
        let is_possible = |(region, cells): (usize, &Vec<u16>)| {
            let (mut values, mut count) = (0, 0);
            for &cell in cells {
                let cell = usize::from(cell);
                if pos.square(cell).value == 0 {
                    if open[cell] == 0 {
                        return false;
                    }
                    values |= open[cell];
                    count += open[cell].count_ones();
                }
            }
            // Each value that is missing has a place.
            let is_possible = values.count_ones() == pos.missing(grid, region);
            choices += if is_possible { count } else { 0 };
            is_possible
        };
        let possible = grid.regions().iter().enumerate().map(is_possible).collect();
        Self { possible, choices }
    }
}

impl Game for Narrow {
    type Position = Position;
    type Move = Fill;
    type Undo = <Naive as Game>::Undo;
    const SCORED: bool = true;
    /// Hashes by playing moves would cost more than the table saves.
    const PREFETCH: bool = false;

    fn side(&self, pos: &Position) -> Side {
        self.0.side(pos)
    }

    fn turn(&self, pos: &Position) -> Turn {
        self.0.turn(pos)
    }

    fn moves(&self, pos: &Position, out: &mut Vec<Fill>) {
        let base = out.len();
        for missing in 1..=NEARLY_FULL {
            self.moves_where(pos, missing, out);
            if out.len() - base >= ENOUGH {
                return;
            }
        }
        let grid = self.0.rules().grid();
        let is_elsewhere = |&cell: &usize| {
            grid.regions_of(cell).into_iter().all(|region| pos.missing(grid, region) > NEARLY_FULL)
        };
        let cells = (0..grid.cells()).filter(|&cell| self.open(pos, cell) != 0);
        for cell in cells.filter(is_elsewhere).take(ELSEWHERE) {
            out.extend(Fill::all(cell, self.open(pos, cell)).next());
        }
    }

    fn is_legal(&self, pos: &Position, mv: Fill) -> bool {
        self.0.is_legal(pos, mv)
    }

    fn play(&self, pos: &mut Position, mv: Fill) -> Self::Undo {
        self.0.play(pos, mv)
    }

    fn undo(&self, pos: &mut Position, mv: Fill, undo: Self::Undo) {
        self.0.undo(pos, mv, undo);
    }

    fn hash(&self, pos: &Position) -> u64 {
        self.0.hash(pos)
    }

    fn index(&self, mv: Fill) -> usize {
        self.0.index(mv)
    }

    fn index_len(&self) -> usize {
        self.0.index_len()
    }

    fn settled(&self, pos: &Position) -> i32 {
        self.0.settled(pos)
    }

    /// Completions.
    fn noisy(&self, pos: &Position, out: &mut Vec<Fill>) {
        self.moves_where(pos, 1, out);
    }

    /// Points first, and last what lets the other complete a region.
    fn order(&self, pos: &Position, mv: Fill) -> i32 {
        let grid = self.0.rules().grid();
        let given = |&region: &usize| pos.missing(grid, region) == 2;
        let given = grid.regions_of(mv.cell.into()).iter().filter(|region| given(region)).count();
        8 * self.0.rules().points(pos, mv.cell.into()) - 4 * given as i32
    }
}

/// The default search over few moves, for a game that has them all.
pub(super) struct Few<E>(Iterate<Narrow, E>);

impl<E: Evaluator<Narrow>> Few<E> {
    /// A player of a game with an evaluation.
    #[must_use]
    pub(super) fn new(game: &Naive, evaluator: E, options: &Options) -> Self {
        Self(Iterate::new(&Narrow(game.clone()), evaluator, options))
    }
}

impl<E: Evaluator<Narrow>> Searcher<Naive> for Few<E> {
    fn search(
        &mut self,
        game: &Naive,
        root: &Root<Naive>,
        params: &SearchParams<Fill>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<Fill>),
    ) -> (SearchResult<Fill>, End) {
        let root = root_of(root);
        let game = Narrow(game.clone());
        let moves = game.at_root(&root.pos, &params.moves, params.multipv);
        let params = SearchParams { moves, multipv: params.multipv };
        self.0.search(&game, &root, &params, control, publish)
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::boards::{BOARDS, open};
    use super::*;
    use plyd_core::engine::conformance::is_whole;
    use plyd_core::zobrist::SplitMix64;

    /// Along games of random moves, boards of all sizes and presets, until the mover has none left. A sample
    /// has one preset a board.
    #[test]
    fn few_moves_are_some_of_all_moves_and_more_regions_are_completed_by_noisy_ones() {
        let largest = format!("5 5 {}", "0 ".repeat(625));
        let texts = BOARDS.iter().map(|board| board.text).chain([largest.as_str()]);
        let (mut fewer, mut completed) = (0, 0);
        for (seed, text) in (0..).zip(texts) {
            let presets = ["classic", "rows", "border"];
            let sample = seed as usize % presets.len();
            for preset in if is_whole() { &presets[..] } else { &presets[sample..=sample] } {
                let (rules, mut pos) = open(text, preset);
                let (naive, mut random) = (Naive::new(&rules), SplitMix64::new(seed));
                let narrow = Narrow(naive.clone());
                while naive.turn(&pos) == Turn::Move {
                    let (mut all, mut few, mut noisy) = (Vec::new(), Vec::new(), Vec::new());
                    naive.moves(&pos, &mut all);
                    narrow.moves(&pos, &mut few);
                    narrow.noisy(&pos, &mut noisy);
                    let mut sorted = all.clone();
                    sorted.sort_unstable();
                    let among_all = |mv: &Fill| sorted.binary_search(mv).is_ok();
                    for list in [&mut few, &mut noisy] {
                        assert!(list.iter().all(among_all), "{list:?} of {all:?}");
                        list.sort_unstable();
                        assert!(list.windows(2).all(|pair| pair[0] != pair[1]), "{list:?}");
                    }
                    assert!(!few.is_empty());
                    let gains = |mv: &&Fill| rules.points(&pos, mv.cell.into()) > 0;
                    assert!(noisy.iter().all(|mv| gains(&mv)));
                    assert_eq!(noisy.len(), all.iter().filter(gains).count());
                    for least in [1, all.len()] {
                        let tried = narrow.at_root(&pos, &all, least);
                        assert!(tried.len() >= least && tried.iter().all(among_all));
                    }
                    fewer += usize::from(few.len() < all.len());
                    completed += noisy.len();
                    let steps = if all.len() > 1000 { 20 } else { 1 };
                    for _ in 0..steps {
                        all.clear();
                        naive.moves(&pos, &mut all);
                        if let Some(&mv) = all.get(random.below(all.len().max(1))) {
                            naive.play(&mut pos, mv);
                        }
                    }
                }
            }
        }
        assert!(fewer > 100 && completed > 20, "{fewer} {completed}");
    }

    #[test]
    fn regions_are_possible_while_cells_and_values_have_places() {
        let fills = [(0, 1), (1, 2), (6, 3), (7, 4)];
        let rows: [(usize, &[usize]); 3] = [
            (0, &[]),
            // Two cells of the first row, and two of the first block, have one value between them.
            (3, &[0, 8]),
            // And now none.
            (4, &[0, 1, 4, 5, 6, 7, 8, 9]),
        ];
        for (count, expected) in rows {
            let (rules, mut pos) = open(&format!("2 2 {}", "0 ".repeat(16)), "classic");
            let naive = Naive::new(&rules);
            for (cell, value) in fills.into_iter().take(count) {
                naive.play(&mut pos, Fill { cell, value });
            }
            let possible = Outlook::of(&naive, &pos).possible;
            let impossible: Vec<usize> = (0..possible.len()).filter(|&region| !possible[region]).collect();
            assert_eq!(impossible, expected, "{count}");
        }
    }

    #[test]
    fn what_lets_the_other_complete_a_region_comes_last() {
        let (rules, pos) = open("2 2 1 2 . . 3 4 . . . . . . . . . .", "classic");
        let game = Narrow(Naive::new(&rules));
        let order = |cell| game.order(&pos, Fill { cell, value: 3 });
        assert!(order(2) < order(10));
    }
}
