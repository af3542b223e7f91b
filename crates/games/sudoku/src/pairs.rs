//! What a race is run over: pairs of cells and values, with the solutions that have them and what they
//! exclude.
//!
//! Made once from a position and its solutions. It leaves out what is not asked for, or does not fit: passes
//! that cancel, and in an outline all solutions but one, or the passes too.

use super::lines::Lines;
use super::position::{Position, Square};
use super::race::Race;
use super::rules::{Fill, Sudoku};
use super::solutions::Solutions;
use crate::words::Words;
use plyd_core::game::Side;

/// The most solutions that a position can distinguish: the empty board of 2x2 has 288.
pub(super) const SOLUTIONS: usize = Words::<5>::CAPACITY;

/// The largest board whose cells are numbered only while they are empty: 16 by 16.
const LARGEST: usize = 256;
/// What shifts a number past the largest value.
const VALUE_BITS: usize = 5;

/// How much of the rules a race keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    /// Every move, each with its exact value.
    EveryMove,
    /// Every move that may be better than all others: passes that cancel are left out.
    EveryChoice,
    /// One solution and one pass; how many there are is counted, if all solutions are known.
    Outline,
    /// One solution, without passes.
    Fills,
}

pub(super) struct Data<const C: usize, const W: usize, const S: usize> {
    pub(super) pairs: Vec<Pair<W, S>>,
    pub(super) cells: Vec<Cell<C>>,
    pub(super) regions: Vec<Words<C>>,
    /// For each solution, the classes of passes that stay legal as long as each other once it is the only one
    /// left.
    pub(super) classes: Vec<Vec<Words<W>>>,
    /// If the cells are numbered as the grid numbers them.
    pub(super) lines: Option<Lines<C>>,
    pub(super) is_exact: bool,
    pub(super) is_bound: bool,
    /// Whether all legal moves are among the pairs, so that their number gives the number of passes.
    pub(super) is_counted: bool,
}

/// A cell and a value.
pub(super) struct Pair<const W: usize, const S: usize> {
    pub(super) mv: Fill,
    pub(super) cell: usize,
    /// The solutions that have the value in the cell.
    pub(super) solutions: Words<S>,
    /// The pairs that are no longer legal once this one fills its cell.
    pub(super) excludes: Words<W>,
}

pub(super) struct Cell<const C: usize> {
    pub(super) regions: [u8; 3],
    pub(super) near: Words<C>,
}

impl<const C: usize, const W: usize, const S: usize> Data<C, W, S> {
    /// The pairs of a position with these solutions, and where the race stands; none if they do not fit.
    ///
    /// They are exact if all solutions are given and `rules` asks for it.
    pub(super) fn of(
        game: &Sudoku,
        pos: &Position,
        solutions: &Solutions,
        rules: Extent,
    ) -> Option<(Self, Race<C, W, S>)> {
        let grid = game.grid();
        let is_empty = |&cell: &usize| pos.square(cell).value == 0;
        // A race that holds the largest boards numbers cells as the grid does, a smaller one only the empty
        // cells.
        let is_whole = Words::<C>::CAPACITY > LARGEST;
        let places: Vec<usize> = (0..grid.cells()).filter(|cell| is_whole || is_empty(cell)).collect();
        if places.len() > Words::<C>::CAPACITY {
            return None;
        }
        let is_exact = matches!(rules, Extent::EveryMove | Extent::EveryChoice) && solutions.are_all;
        let known = if is_exact { &solutions.found[..] } else { &solutions.found[..1] };
        if known.len() > Words::<S>::CAPACITY {
            return None;
        }
        let is_counted = solutions.are_all && rules != Extent::Fills;
        let mut moves: Vec<(usize, Fill, Words<S>, bool)> = Vec::new();
        for (at, &cell) in places.iter().enumerate() {
            // A full cell has none.
            for mv in Fill::all(cell, pos.open_values(grid, cell)) {
                let having = known.iter().enumerate().filter(|(_, found)| found[cell] == mv.value);
                let having: Words<S> = having.map(|(number, _)| number).collect();
                if is_counted || !having.is_empty() {
                    let is_taboo =
                        solutions.are_all && solutions.found.iter().all(|found| found[cell] != mv.value);
                    moves.push((at, mv, having, is_taboo));
                }
            }
        }
        if moves.len() > Words::<W>::CAPACITY {
            return None;
        }
        // Moves that fill come first, then moves that are taboo already, then moves that may become taboo.
        moves.sort_by_key(|&(_, _, solutions, is_taboo)| (solutions.is_empty(), !is_taboo));
        let at = |cell: u16| places.binary_search(&cell.into()).ok();
        let set = |cells: &[u16]| cells.iter().filter_map(|&cell| at(cell)).collect();
        let regions: Vec<Words<C>> = grid.regions().iter().map(|region| set(region)).collect();
        // By places and values.
        let mut numbers = vec![None; places.len() << VALUE_BITS];
        for (number, &(place, mv, ..)) in moves.iter().enumerate() {
            numbers[place << VALUE_BITS | usize::from(mv.value)] = Some(number as u16);
        }
        let excludes = |place: usize, mv: Fill| {
            let [row, column, block] = grid.regions_of(mv.cell.into()).map(|region| regions[region]);
            let beside = (row | column | block).iter();
            let equal = beside.filter_map(|other| numbers[other << VALUE_BITS | usize::from(mv.value)]);
            let here = &numbers[place << VALUE_BITS..(place + 1) << VALUE_BITS];
            here.iter().copied().flatten().chain(equal).map(usize::from).collect()
        };
        let pairs: Vec<Pair<W, S>> = moves
            .iter()
            .map(|&(cell, mv, solutions, _)| Pair { mv, cell, solutions, excludes: excludes(cell, mv) })
            .collect();
        let cells = places.iter().map(|&cell| Cell {
            regions: grid.regions_of(cell).map(|region| region as u8),
            near: set(grid.near(cell)),
        });
        let legal = Words::below(pairs.len());
        let reached = Side::ALL.map(|side| {
            let cells = places.iter().enumerate().filter(|&(_, &cell)| pos.is_playable(cell, side));
            cells.map(|(at, _)| at).collect()
        });
        let is_bound = game.is_bound();
        // A pass can be answered only by a player who may play its twin.
        let cancels = !is_bound && rules != Extent::EveryMove;
        let data = Self {
            cells: cells.collect(),
            regions,
            classes: (0..known.len())
                .map(|i| if cancels { classes(&pairs, i) } else { Vec::new() })
                .collect(),
            pairs,
            lines: is_whole.then(|| Lines::new(grid)),
            is_exact,
            is_bound,
            is_counted,
        };
        let empty: Words<C> = (0..places.len()).filter(|&place| is_empty(&places[place])).collect();
        let [first, second] = pos.scores();
        let race = Race {
            empty,
            reached,
            legal,
            solutions: Words::below(known.len()),
            fresh: if is_exact && rules == Extent::EveryChoice { fresh(game, pos) } else { 0 },
            margin: first - second,
            open: data.regions.iter().filter(|&&region| !(region & empty).is_empty()).count() as u8,
            mover: pos.mover(),
        };
        Some((data, race))
    }
}

/// The values that no cell has and that were declared nowhere, as bits from the lowest: exchanged with each
/// other, they leave the position as it is.
fn fresh(game: &Sudoku, pos: &Position) -> u32 {
    let seen = |square: &Square| square.taboo | if square.value == 0 { 0 } else { 1 << (square.value - 1) };
    game.grid().all_values() & !pos.squares().iter().fold(0, |values, square| values | seen(square))
}

/// The classes, of two members or more, of passes under the solution that are excluded by the same fills of
/// it.
fn classes<const W: usize, const S: usize>(pairs: &[Pair<W, S>], solution: usize) -> Vec<Words<W>> {
    let is_fill = |pair: &Pair<W, S>| pair.solutions.contains(solution);
    let fills = pairs.iter().enumerate().filter(|(_, pair)| is_fill(pair));
    let fills: Words<W> = fills.map(|(number, _)| number).collect();
    // Exclusion is mutual.
    let mut excluded: Vec<(Words<W>, Words<W>)> = Vec::new();
    for (number, pair) in pairs.iter().enumerate().filter(|(_, pair)| !is_fill(pair)) {
        let by = pair.excludes & fills;
        match excluded.iter_mut().find(|class| class.0 == by) {
            Some((_, class)) => class.insert(number),
            None => excluded.push((by, [number].into_iter().collect())),
        }
    }
    excluded.into_iter().map(|(_, class)| class).filter(|class| class.len() > 1).collect()
}
