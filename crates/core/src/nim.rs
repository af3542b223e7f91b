//! The smallest game that searches can be tested with: players take 1 to so many stones in turn, and whoever
//! takes the last one wins.

use crate::game::{Game, Outcome, Side, Turn};
use crate::zobrist::mix;

/// The rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Nim {
    /// How many stones may be taken at once.
    pub(crate) most: u8,
}

/// A heap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Heap {
    pub(crate) stones: u8,
    pub(crate) side: Side,
}

impl Heap {
    pub(crate) fn of(stones: u8) -> Self {
        Self { stones, side: Side::First }
    }
}

impl Game for Nim {
    type Position = Heap;
    type Move = u8;
    type Undo = Heap;

    fn side(&self, heap: &Heap) -> Side {
        heap.side
    }

    fn turn(&self, heap: &Heap) -> Turn {
        match heap.stones {
            0 => Turn::Over(Outcome { winner: Some(heap.side.other()), by: "taken", scores: None }),
            _ => Turn::Move,
        }
    }

    fn moves(&self, heap: &Heap, out: &mut Vec<u8>) {
        out.extend(1..=self.most.min(heap.stones));
    }

    fn is_legal(&self, heap: &Heap, taken: u8) -> bool {
        (1..=self.most.min(heap.stones)).contains(&taken)
    }

    fn play(&self, heap: &mut Heap, taken: u8) -> Heap {
        std::mem::replace(heap, Heap { stones: heap.stones - taken, side: heap.side.other() })
    }

    fn undo(&self, heap: &mut Heap, _taken: u8, before: Heap) {
        *heap = before;
    }

    fn hash(&self, heap: &Heap) -> u64 {
        mix(2 * u64::from(heap.stones) + heap.side.index() as u64)
    }

    fn index(&self, taken: u8) -> usize {
        usize::from(taken)
    }

    fn index_len(&self) -> usize {
        usize::from(self.most) + 1
    }
}
