//! The moves that the threads of a search are searching, so that each searches what the others do not.
//!
//! A thread that comes to a move which another one searches puts it off until its other moves are searched.
//! Then the table most often knows what the move is worth; if it does not, the threads share the moves behind
//! it in the same way. (Weill, "The ABDADA distributed minimax search algorithm", 1996; without counts in the
//! table: Kerrigan, "Simplified ABDADA".)
//!
//! A mark is a hint: two moves may want the same place, and then a move is searched twice, or put off for
//! nothing. So there are no locks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::zobrist::mix;

/// Places for each thread, which searches some twenty moves at once, one behind the other: a power of two.
const PLACES: usize = 1 << 8;
const NONE: u64 = 0;

/// A move of a position, to be searched to some depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MoveKey(u64);

impl MoveKey {
    /// The move with an index, of the position with a key.
    #[inline]
    pub(super) fn new(position: u64, index: usize, depth: i32) -> Self {
        Self(mix(position ^ (index as u64) << 32 ^ depth as u64))
    }
}

/// The moves in progress.
pub(super) struct MovesInProgress(Vec<AtomicU64>);

impl MovesInProgress {
    /// None yet, with places for so many threads.
    pub(super) fn new(threads: usize) -> Self {
        let mut places = Vec::new();
        places.resize_with(PLACES * threads.next_power_of_two(), AtomicU64::default);
        Self(places)
    }

    #[inline]
    fn place(&self, mv: MoveKey) -> &AtomicU64 {
        // The length is a power of two, so the mask stays inside.
        &self.0[mv.0 as usize & (self.0.len() - 1)]
    }

    /// Whether a thread searches the move.
    #[inline]
    pub(super) fn has(&self, mv: MoveKey) -> bool {
        self.place(mv).load(Relaxed) == mv.0
    }

    /// Notes that a thread begins to search a move.
    #[inline]
    pub(super) fn begin(&self, mv: MoveKey) {
        self.place(mv).store(mv.0, Relaxed);
    }

    /// Notes that a thread no longer searches a move.
    #[inline]
    pub(super) fn end(&self, mv: MoveKey) {
        if self.has(mv) {
            self.place(mv).store(NONE, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Game, Side};
    use crate::nim::{Heap, Nim, Rest};
    use crate::score::{Score, Value};
    use crate::search::Control;
    use crate::search::alpha_beta::{AlphaBeta, NodeContext};
    use crate::search::ordering::History;
    use crate::search::table::Table;
    use crate::search::thread::SearchThread;
    use crate::zobrist::SplitMix64;

    #[test]
    fn a_mark_stands_until_its_move_ends_or_another_takes_its_place() {
        let marks = MovesInProgress::new(1);
        let keys: Vec<MoveKey> = (0..1000).map(|index| MoveKey::new(7, index, 5)).collect();
        let (first, same_place) =
            (keys[0], keys[1..].iter().find(|key| key.0 % PLACES as u64 == keys[0].0 % PLACES as u64));
        let second = *same_place.expect("a place for two of a thousand");
        assert!(!marks.has(first));
        marks.begin(first);
        assert!(marks.has(first) && !marks.has(second));
        marks.begin(second);
        assert!(!marks.has(first) && marks.has(second));
        marks.end(first);
        assert!(marks.has(second));
        marks.end(second);
        assert!(!marks.has(second));
    }

    /// The value of a heap, and whether moves were put off, where a part of all moves is marked.
    fn search(stones: u8, depth: i32, marked: impl Fn() -> bool, window: [Score; 2]) -> (Value, bool) {
        let game = Nim { most: 3 };
        let (control, table, mut history) = (Control::default(), Table::new(1), History::new(&game));
        let marks = MovesInProgress::new(64);
        for heap in (0..=stones).map(Heap::of) {
            for side in Side::ALL {
                let heap = Heap { side, ..heap };
                for (index, depth) in
                    (1..=3).flat_map(|taken| (0..=depth).map(move |depth| (game.index(taken), depth)))
                {
                    if marked() {
                        marks.begin(MoveKey::new(game.hash(&heap), index, depth));
                    }
                }
            }
        }
        let mut search = AlphaBeta {
            game: &game,
            evaluator: &Rest,
            table: &table,
            in_progress: Some(&marks),
            history: &mut history,
            thread: SearchThread::alone(&control),
            root: Side::First,
        };
        let node = NodeContext { depth, ply: 0, distance: 0, last: None };
        let value = search.node(&mut Heap::of(stones), node, window[0], window[1]);
        assert!(search.history.moves.is_empty() && search.history.put_off.is_empty());
        (value, search.history.put_off.capacity() > 0)
    }

    #[test]
    fn moves_that_others_search_are_searched_later_and_worth_the_same() {
        let mut random = SplitMix64::new(11);
        for round in 0..60 {
            let (stones, depth) = (10 + random.below(12) as u8, 4 + random.below(6) as i32);
            let open = [-Score::INFINITE, Score::INFINITE];
            let window = if round % 2 == 0 { open } else { [Score::eval(-1), Score::eval(0)] };
            let seed = std::cell::Cell::new(random.next());
            let half = || {
                seed.set(mix(seed.get().wrapping_add(1)));
                seed.get().is_multiple_of(2)
            };
            let (value, _) = search(stones, depth, || false, window);
            let (marked_value, was_put_off) = search(stones, depth, half, window);
            assert_eq!(marked_value.score, value.score, "{stones} {depth}");
            let (_, all_put_off) = search(stones, depth, || true, open);
            assert!(all_put_off || was_put_off, "{stones} {depth}");
        }
    }
}
