//! Two sides flooding a board at the same time: who reaches which cell first, and whether they meet.
//!
//! Knows no game: the board defines a step.

use crate::bits::{Bits, Colour, Part};
use crate::game::{Cell, Layer, Mark, Side};

/// A board on which sets of cells move a step at a time: [`Flood`] has an example.
pub trait Step<B: Bits> {
    /// The cells that are a step away from any cell of the part; it may have bits beyond the board.
    fn step<P: Part<B>>(&self, part: P) -> P::Next;
}

/// What each side floods when a cell that one side flooded bars the other.
///
/// ```
/// use plyd_core::bits::Part;
/// use plyd_core::flood::{Flood, Step};
///
/// /// Cells in a row.
/// struct Row;
///
/// impl Step<u64> for Row {
///     fn step<P: Part<u64>>(&self, cells: P) -> P::Next {
///         cells.up(1) | cells.down(1)
///     }
/// }
///
/// let flood = Flood::new(&Row, 0b11_1111, 0b1, 0b10_0000);
/// assert_eq!((flood.first, flood.second), (0b111, 0b11_1000));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flood<B> {
    /// The cells that the first of the two reaches first, or in the same step as the second.
    pub first: B,
    /// The cells that the second of the two reaches first, or in the same step as the first.
    pub second: B,
}

impl<B: Bits> Flood<B> {
    /// Floods the open cells from the cells on which each side starts.
    #[inline]
    #[must_use]
    pub fn new(board: &impl Step<B>, open: B, first: B, second: B) -> Self {
        if B::COLOURS > 1 {
            Self::apart(board, open, first, second)
        } else {
            Self::whole(board, open, first, second)
        }
    }

    /// Four floods, by the colours: too much code to inline into each caller.
    #[inline(never)]
    fn apart(board: &impl Step<B>, open: B, first: B, second: B) -> Self {
        Self::whole(board, open, first, second)
    }

    #[inline]
    fn whole(board: &impl Step<B>, open: B, first: B, second: B) -> Self {
        let race = Race { board, free: open & !(first | second), flood: Self { first, second } };
        by_colour(first, second, race)
    }

    /// The cells that one side alone reaches first, as a layer of a board; `place` says where a cell is.
    pub fn ground(&self, place: impl Fn(u8) -> Cell) -> Layer {
        let held = [(Side::First, self.first & !self.second), (Side::Second, self.second & !self.first)];
        let marks = held.into_iter().flat_map(|(side, cells)| {
            let at = &place;
            cells.cells().map(move |cell| Mark {
                cell: at(cell),
                mark: "ground",
                owner: Some(side),
                label: None,
            })
        });
        let label = "Ground that each side reaches first";
        Layer { name: "ground", label, marks: marks.collect(), ..Layer::default() }
    }

    /// Every cell that a side can ever reach.
    #[inline]
    #[must_use]
    pub fn all(&self) -> B {
        self.first | self.second
    }

    /// Whether no cell can ever be reached by both: from then on each plays alone.
    #[inline]
    #[must_use]
    pub fn is_apart(&self, board: &impl Step<B>) -> bool {
        (self.first & self.second).is_empty() && (board.step(self.first) & self.second).is_empty()
    }
}

/// Something that starts from two sets of cells, and goes step by step.
pub trait Walk<B> {
    /// What it finds.
    type Found;

    /// Goes from sets.
    fn go(self, first: B, second: B) -> Self::Found;

    /// Goes from sets that have one colour each.
    fn go_by_colour<P, Q>(self, first: P, second: Q) -> Self::Found
    where
        P: Part<B, Next: Part<B, Next = P>>,
        Q: Part<B, Next: Part<B, Next = Q>>;
}

/// Walks from two sets. Where colours are apart and each set has one, no step needs the words of the other.
#[inline]
pub fn by_colour<B: Bits, W: Walk<B>>(first: B, second: B, walk: W) -> W::Found {
    match (first.colour(), second.colour()) {
        (Some(Colour::Even), Some(Colour::Even)) => {
            walk.go_by_colour(B::Even::of(first), B::Even::of(second))
        }
        (Some(Colour::Even), Some(Colour::Odd)) => walk.go_by_colour(B::Even::of(first), B::Odd::of(second)),
        (Some(Colour::Odd), Some(Colour::Even)) => walk.go_by_colour(B::Odd::of(first), B::Even::of(second)),
        (Some(Colour::Odd), Some(Colour::Odd)) => walk.go_by_colour(B::Odd::of(first), B::Odd::of(second)),
        _ => walk.go(first, second),
    }
}

/// A flood on its way.
struct Race<'a, B, S> {
    board: &'a S,
    free: B,
    flood: Flood<B>,
}

impl<B: Bits, S: Step<B>> Race<'_, B, S> {
    #[inline]
    fn step<P: Part<B>, Q: Part<B>>(&mut self, edge_1: P, edge_2: Q) -> (P::Next, Q::Next) {
        let edge_1 = self.board.step(edge_1) & P::Next::of(self.free);
        let edge_2 = self.board.step(edge_2) & Q::Next::of(self.free);
        edge_1.take_from(&mut self.free);
        edge_2.take_from(&mut self.free);
        edge_1.put_into(&mut self.flood.first);
        edge_2.put_into(&mut self.flood.second);
        (edge_1, edge_2)
    }

    #[inline]
    fn is_over<P: Part<B>, Q: Part<B>>(&self, edge_1: P, edge_2: Q) -> bool {
        edge_1.is_empty() && edge_2.is_empty() || self.free.is_empty()
    }
}

impl<B: Bits, S: Step<B>> Walk<B> for Race<'_, B, S> {
    type Found = Flood<B>;

    #[inline]
    fn go(mut self, mut first: B, mut second: B) -> Flood<B> {
        while !self.is_over(first, second) {
            (first, second) = self.step(first, second);
            // Two steps at a time where a step is cheap: no processor predicts the last one.
            if B::WORDS == 1 {
                (first, second) = self.step(first, second);
            }
        }
        self.flood
    }

    #[inline]
    fn go_by_colour<P, Q>(mut self, mut first: P, mut second: Q) -> Flood<B>
    where
        P: Part<B, Next: Part<B, Next = P>>,
        Q: Part<B, Next: Part<B, Next = Q>>,
    {
        while !self.is_over(first, second) {
            let (next_1, next_2) = self.step(first, second);
            (first, second) = self.step(next_1, next_2);
        }
        self.flood
    }
}

/// Every cell that can be reached from `from` by any number of steps through open cells, `from` included.
#[inline]
#[must_use]
pub fn reachable<B: Bits>(board: &impl Step<B>, open: B, from: B) -> B {
    let (mut all, mut edge) = (from, from);
    while !edge.is_empty() {
        edge = board.step(edge) & open & !all;
        all |= edge;
    }
    all
}
