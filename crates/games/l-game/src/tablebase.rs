//! The retrograde solution: the exact distance to the end of every state of a variant.
//!
//! Knows nothing of plies played, caps or histories; [`solution`](super::solution) puts those on top.
//!
//! # Method
//! A turn has two halves, the L and the tokens, and the tokens' half does not depend on the L's old place. So
//! for a row (two Ls) the positions between the halves are token pairs too, and a set of them is one 128-bit
//! mask. With `near(S)` the pairs that one token move joins to a member of S (a symmetric relation), a layer
//! of the solution is, for the row (A, B) with A to move and over all places A' that A's L may go to,
//!
//! - won in d: `clear(A') & near(lost in d - 1 of (B, A'))`, joined;
//! - not lost in d: `clear(A') & near(not won below d of (B, A'))`, joined.
//!
//! That solves all 18,368 states directly, without the eight symmetries, in a third of a millisecond.

use std::sync::OnceLock;

use super::board::{APART, CLEAR, PAIRS, Pairs, ROW_LS, ROWS, State, pairs, placements, row};
use super::neutrals::Neutrals;

/// A draw, among distances.
const DRAW: u8 = u8::MAX;

/// The distances to the end of all states of a variant, and the states whose entering draws.
///
/// A table has one plane, or two when some states are drawn for one side to move only: plane 0 for one mover,
/// plane 1 for the other.
pub(super) struct Tablebase {
    planes: usize,
    distances: Box<[u8]>,
    barred: Box<[Pairs]>,
}

impl Tablebase {
    /// The solution of a variant, computed when it is first asked for.
    pub(super) fn of(neutrals: Neutrals) -> &'static Self {
        static TABLES: [OnceLock<Tablebase>; 4] = [const { OnceLock::new() }; 4];
        TABLES[neutrals as usize].get_or_init(|| Self::solve(neutrals, 1, vec![0; ROWS].into()))
    }

    /// The solution of a variant in which entering one of the given states (plane, state) draws.
    pub(super) fn with_draws(neutrals: Neutrals, barred: impl Iterator<Item = (usize, State)>) -> Self {
        let mut rows = vec![0; 2 * ROWS];
        for (plane, state) in barred {
            rows[plane * ROWS + row(state.own, state.other)] |= 1 << state.tokens;
        }
        Self::solve(neutrals, 2, rows.into())
    }

    /// The distance to the end in plies if the game goes on from a state, none for a draw. Odd distances are
    /// wins of the mover, even ones losses.
    pub(super) fn distance(&self, plane: usize, state: State) -> Option<u32> {
        let index = self.row(plane, state) * PAIRS + usize::from(state.tokens);
        let distance = self.distances[index];
        (distance != DRAW).then_some(u32::from(distance))
    }

    /// Whether entering a state draws.
    pub(super) fn is_barred(&self, plane: usize, state: State) -> bool {
        self.barred[self.row(plane, state)] >> state.tokens & 1 == 1
    }

    fn row(&self, plane: usize, state: State) -> usize {
        (plane & (self.planes - 1)) * ROWS + row(state.own, state.other)
    }

    fn solve(neutrals: Neutrals, planes: usize, barred: Box<[Pairs]>) -> Self {
        let rows = planes * ROWS;
        let mut table = Self { planes, distances: vec![DRAW; rows * PAIRS].into(), barred };
        let reach = neutrals.reach();
        let mut won = vec![0; rows];
        let mut lost = vec![0; rows];
        let mut fresh: Vec<Pairs> =
            (0..rows).map(|index| valid(index) & !table.join(index, |_| !0)).collect();
        for distance in (0..).step_by(2) {
            for index in 0..rows {
                lost[index] |= fresh[index];
                table.write(index, fresh[index], distance);
            }
            let ways: Vec<Pairs> =
                (0..rows).map(|index| near(reach, fresh[index] & !table.barred[index])).collect();
            let mut any = false;
            for (index, won) in won.iter_mut().enumerate() {
                let wins = valid(index) & table.join(index, |next| ways[next]) & !*won;
                any |= wins != 0;
                *won |= wins;
                table.write(index, wins, distance + 1);
            }
            if !any {
                break;
            }
            let ways: Vec<Pairs> = (0..rows)
                .map(|index| near(reach, valid(index) & (!won[index] | table.barred[index])))
                .collect();
            for index in 0..rows {
                fresh[index] = valid(index) & !table.join(index, |next| ways[next]) & !lost[index];
            }
        }
        table
    }

    /// The pairs from which the mover's L can go to a place whose row then has the pair in `ways`.
    fn join(&self, index: usize, ways: impl Fn(usize) -> Pairs) -> Pairs {
        let (own, other) = ROW_LS[index % ROWS];
        let next_plane = (index / ROWS + 1) % self.planes * ROWS;
        placements(APART[usize::from(other)] & !(1 << own))
            .map(|target| CLEAR[usize::from(target)] & ways(next_plane + row(other, target)))
            .fold(0, |joined, way| joined | way)
    }

    fn write(&mut self, index: usize, set: Pairs, distance: u8) {
        for pair in pairs(set) {
            self.distances[index * PAIRS + usize::from(pair)] = distance;
        }
    }
}

/// The pairs that touch neither L of a row.
fn valid(index: usize) -> Pairs {
    let (own, other) = ROW_LS[index % ROWS];
    CLEAR[usize::from(own)] & CLEAR[usize::from(other)]
}

/// The pairs that the tokens' half of a turn joins to a member of `set`.
fn near(reach: &[Pairs; PAIRS], set: Pairs) -> Pairs {
    pairs(set).map(|pair| reach[usize::from(pair)]).fold(0, |joined, way| joined | way)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::board::{CELLS, CORNERS};
    use super::*;

    /// How many states are at each distance; `None` counts draws.
    fn histogram(neutrals: Neutrals) -> BTreeMap<Option<u32>, usize> {
        let mut counts = BTreeMap::new();
        for state in State::all() {
            *counts.entry(Tablebase::of(neutrals).distance(0, state)).or_default() += 1;
        }
        counts
    }

    #[test]
    fn distances_of_the_game() {
        let expected = [
            (None, 10_088),
            (Some(0), 120),
            (Some(1), 6_144),
            (Some(2), 24),
            (Some(3), 216),
            (Some(4), 24),
            (Some(5), 648),
            (Some(6), 40),
            (Some(7), 88),
            (Some(8), 24),
            (Some(9), 952),
        ];
        assert_eq!(histogram(Neutrals::One), BTreeMap::from(expected));
    }

    #[test]
    fn distances_of_the_classes() {
        let mut counts = BTreeMap::new();
        for state in State::all().filter(|state| *state == state.class()) {
            *counts.entry(Tablebase::of(Neutrals::One).distance(0, state)).or_default() += 1;
        }
        let expected = [
            (None, 1_261),
            (Some(0), 15),
            (Some(1), 768),
            (Some(2), 3),
            (Some(3), 27),
            (Some(4), 3),
            (Some(5), 81),
            (Some(6), 5),
            (Some(7), 11),
            (Some(8), 3),
            (Some(9), 119),
        ];
        assert_eq!(counts, BTreeMap::from(expected));
    }

    #[test]
    fn values_and_longest_distances_of_the_variants() {
        // Classes won, drawn and lost, and the longest distance in plies.
        let expected = [
            (Neutrals::One, [1_006, 1_261, 29], 9),
            (Neutrals::Both, [1_730, 150, 416], 11),
            (Neutrals::Compulsory, [832, 1_437, 27], 8),
            (Neutrals::None, [359, 1_841, 96], 14),
        ];
        for (neutrals, values, longest) in expected {
            let counts = histogram(neutrals);
            let mut found = [0; 3];
            for (distance, count) in &counts {
                found[distance.map_or(1, |plies| if plies % 2 == 1 { 0 } else { 2 })] += count;
            }
            assert_eq!(found.map(|count| count / 8), values, "{neutrals:?}");
            assert_eq!(counts.keys().max(), Some(&Some(longest)), "{neutrals:?}");
        }
    }

    #[test]
    fn images_have_equal_distances() {
        for neutrals in Neutrals::ALL {
            let table = Tablebase::of(neutrals);
            for state in State::all() {
                assert_eq!(table.distance(0, state), table.distance(0, state.class()));
            }
        }
    }

    #[test]
    fn only_an_l_on_a_corner_loses() {
        let on_corner = |l: u8| CELLS[usize::from(l)] & CORNERS != 0;
        let table = Tablebase::of(Neutrals::One);
        let is_lost = |state| table.distance(0, state).is_some_and(|plies| plies % 2 == 0);
        assert!(State::all().filter(|state| is_lost(*state)).all(|state| on_corner(state.own)));
        let off_corners: Vec<State> = State::all().filter(|state| !on_corner(state.own)).collect();
        assert_eq!(off_corners.len(), 6_048);
        let without = |state: &&State| placements(state.targets()).all(on_corner);
        assert_eq!(off_corners.iter().filter(without).count(), 344);
    }

    #[test]
    fn barred_states_are_drawn_for_one_side_only() {
        let table = Tablebase::of(Neutrals::One);
        let won = State::all().find(|state| table.distance(0, *state) == Some(1)).expect("wins exist");
        // Bar every end for plane 1: then nobody to move in plane 0 wins in one, and those in plane 1 still
        // do.
        let ends = State::all().filter(|state| state.is_stuck()).map(|state| (1, state));
        let barred = Tablebase::with_draws(Neutrals::One, ends);
        assert_ne!(barred.distance(0, won), Some(1));
        assert_eq!(barred.distance(1, won), Some(1));
    }
}
