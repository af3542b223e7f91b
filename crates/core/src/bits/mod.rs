//! Sets of small numbers, such as the cells of a board, as bits of machine words.
//!
//! Knows no game: the boards decide which cell has which number, and which cells are neighbours.

mod colours;

use std::fmt::Debug;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

pub use self::colours::Colours;

/// A set of cells: numbers below 256.
///
/// ```
/// use plyd_core::bits::Bits;
///
/// let set = u64::single(3) | u64::single(5);
/// assert_eq!((set.len(), set.cells().collect::<Vec<_>>()), (2, vec![3, 5]));
/// ```
pub trait Bits:
    Part<Self, Next = Self>
    + Eq
    + Debug
    + Default
    + Send
    + Sync
    + 'static
    + BitAndAssign
    + BitOrAssign
    + BitXorAssign
    + Not<Output = Self>
{
    /// How many cells the set can hold.
    const CAPACITY: usize;
    /// How many words the set is made of side by side, the colours: 1 or 2.
    const COLOURS: usize;
    /// How many machine words of 64 bits each colour takes.
    const WORDS: usize = Self::CAPACITY / Self::COLOURS / 64;
    /// The empty set.
    const EMPTY: Self;
    /// The cells of a set with even numbers, or the whole set if colours are not kept apart.
    type Even: Part<Self, Next = Self::Odd>;
    /// The cells of a set with odd numbers, or the whole set if colours are not kept apart.
    type Odd: Part<Self, Next = Self::Even>;
    /// All cells of a set, so laid out that a step moves each of its words by the same number of bits.
    type All: Part<Self>;

    /// The set of one cell.
    fn single(cell: u8) -> Self;
    /// The number of cells in the set.
    fn len(self) -> u32;
    /// The smallest cell of a set that is not empty.
    fn first(self) -> u8;
    /// The set without its smallest cell; the set must not be empty.
    fn without_first(self) -> Self;
    /// A machine word of a colour: bit `b` of the word `index` is the cell `(64 * index + b) * COLOURS +
    /// colour`.
    fn word(self, index: usize, colour: usize) -> u64;
    /// A number below 2^112 that identifies the set, if all its cells are below 112.
    fn packed(self) -> u128;
    /// The colour of the set's cells; none if colours are not kept apart, or both are in the set.
    fn colour(self) -> Option<Colour>;

    /// Visits the cells of the set in ascending order.
    fn each(self, visit: impl FnMut(u8));

    /// Whether the cell is in the set.
    #[inline]
    fn has(self, cell: u8) -> bool {
        !(self & Self::single(cell)).is_empty()
    }

    /// The cells of the set in ascending order.
    #[inline]
    fn cells(self) -> Cells<Self> {
        Cells(self)
    }
}

/// The colour of a cell on a board where a step leads from an even number to an odd one, and back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colour {
    /// That of even numbers.
    Even,
    /// That of odd numbers.
    Odd,
}

/// The cells of a set that take part in a step: those of one colour, or all of them.
///
/// Moving cells by an odd number changes their colour, and with it the type of the part.
pub trait Part<B>: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> {
    /// The part that a step leads to.
    type Next: Part<B>;

    /// The cells of a set that belong to this part.
    fn of(set: B) -> Self;
    /// Adds the part to a set.
    fn put_into(self, set: &mut B);
    /// Takes the part out of a set.
    fn take_from(self, set: &mut B);
    /// Whether the part has no cell.
    fn is_empty(self) -> bool;
    /// The number of cells in the part.
    fn count(self) -> i32;
    /// Moves each cell to the number that is larger by `odd`, an odd number.
    fn up(self, odd: u32) -> Self::Next;
    /// Moves each cell to the number that is smaller by `odd`, an odd number.
    fn down(self, odd: u32) -> Self::Next;
    /// Moves each cell to the number that is larger by `even`, an even number.
    fn up_even(self, even: u32) -> Self;
    /// Moves each cell to the number that is smaller by `even`, an even number.
    fn down_even(self, even: u32) -> Self;
}

macro_rules! bits {
    ($word:ty) => {
        impl Bits for $word {
            const CAPACITY: usize = <$word>::BITS as usize;
            const COLOURS: usize = 1;
            const EMPTY: Self = 0;
            type Even = Self;
            type Odd = Self;
            type All = Self;

            #[inline]
            fn single(cell: u8) -> Self {
                1 << cell
            }
            #[inline]
            fn len(self) -> u32 {
                self.count_ones()
            }
            #[inline]
            fn first(self) -> u8 {
                self.trailing_zeros() as u8
            }
            #[inline]
            fn without_first(self) -> Self {
                self & (self - 1)
            }
            #[inline]
            fn word(self, index: usize, _colour: usize) -> u64 {
                (self >> (64 * index)) as u64
            }
            #[inline]
            fn packed(self) -> u128 {
                self.into()
            }
            #[inline]
            fn colour(self) -> Option<Colour> {
                None
            }
            #[inline]
            fn each(self, visit: impl FnMut(u8)) {
                self.cells().for_each(visit);
            }
        }

        impl Part<$word> for $word {
            type Next = Self;

            #[inline]
            fn of(set: Self) -> Self {
                set
            }
            #[inline]
            fn put_into(self, set: &mut Self) {
                *set |= self;
            }
            #[inline]
            fn take_from(self, set: &mut Self) {
                *set &= !self;
            }
            #[inline]
            fn is_empty(self) -> bool {
                self == 0
            }
            #[inline]
            fn count(self) -> i32 {
                self.count_ones() as i32
            }
            #[inline]
            fn up(self, odd: u32) -> Self {
                self << odd
            }
            #[inline]
            fn down(self, odd: u32) -> Self {
                self >> odd
            }
            #[inline]
            fn up_even(self, even: u32) -> Self {
                self << even
            }
            #[inline]
            fn down_even(self, even: u32) -> Self {
                self >> even
            }
        }
    };
}
bits!(u64);
bits!(u128);

/// The cells of a set in ascending order; made by [`Bits::cells`].
#[derive(Clone, Debug)]
pub struct Cells<B>(B);

impl<B: Bits> Iterator for Cells<B> {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        if self.0.is_empty() {
            return None;
        }
        let cell = self.0.first();
        self.0 = self.0.without_first();
        Some(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zobrist::SplitMix64;

    fn numbers<B: Bits>() -> impl Iterator<Item = u8> {
        (0..=u8::MAX).take(B::CAPACITY)
    }

    fn random<B: Bits>(random: &mut SplitMix64) -> (B, Vec<u8>) {
        let cells: Vec<u8> = numbers::<B>().filter(|_| random.below(3) == 0).collect();
        (cells.iter().fold(B::EMPTY, |set, &cell| set | B::single(cell)), cells)
    }

    fn is<B: Bits>(set: B, what: &dyn Fn(u8) -> bool) {
        let expected: Vec<u8> = numbers::<B>().filter(|&cell| what(cell)).collect();
        assert_eq!(set.cells().collect::<Vec<_>>(), expected);
        assert_eq!((set.len() as usize, set.is_empty()), (expected.len(), expected.is_empty()));
        assert!(numbers::<B>().all(|cell| set.has(cell) == what(cell)));
    }

    /// The set that has only this part of another, and what remains of it.
    fn part<B: Bits, P: Part<B>>(part: P, mut from: B) -> (B, B) {
        let mut set = B::EMPTY;
        part.put_into(&mut set);
        part.take_from(&mut from);
        assert_eq!(part.is_empty(), set.is_empty());
        (set, from)
    }

    /// Compares the part of a set with the cells that it has, still and moved.
    fn check_part<B: Bits, P: Part<B>>(set: B, in_set: &[u8], parity: Option<u8>, draws: &mut SplitMix64) {
        let has = |cell: u8| in_set.contains(&cell) && parity.is_none_or(|parity| cell % 2 == parity);
        let (cells, rest) = part(P::of(set), set);
        is(cells, &has);
        is(rest, &|cell| in_set.contains(&cell) && !has(cell));
        let even = 2 * draws.below(16) as u8;
        let odd = even + 1;
        let before = |by: u8| move |cell: u8| cell.checked_sub(by).is_some_and(has);
        let after = |by: u8| move |cell: u8| cell.checked_add(by).is_some_and(has);
        is(part(P::of(set).up(odd.into()), set).0, &before(odd));
        is(part(P::of(set).down(odd.into()), set).0, &after(odd));
        is(part(P::of(set).up_even(even.into()), set).0, &before(even));
        is(part(P::of(set).down_even(even.into()), set).0, &after(even));
    }

    fn check<B: Bits>() {
        let mut draws = SplitMix64::new(7);
        for _ in 0..200 {
            let ((a, in_a), (b, in_b)) = (random::<B>(&mut draws), random::<B>(&mut draws));
            let [has_a, has_b] = [&in_a, &in_b].map(|cells| |cell: u8| cells.contains(&cell));
            is(a, &has_a);
            is(a & b, &|cell| has_a(cell) && has_b(cell));
            is(a | b, &|cell| has_a(cell) || has_b(cell));
            is(a ^ b, &|cell| has_a(cell) != has_b(cell));
            is(!a, &|cell| !has_a(cell));
            let parities = if B::COLOURS == 1 { [None; 2] } else { [Some(0), Some(1)] };
            check_part::<B, B>(a, &in_a, None, &mut draws);
            check_part::<B, B::Even>(a, &in_a, parities[0], &mut draws);
            check_part::<B, B::Odd>(a, &in_a, parities[1], &mut draws);
            for cell in numbers::<B>() {
                let (place, colour) = (usize::from(cell) / B::COLOURS, usize::from(cell) % B::COLOURS);
                assert_eq!(a.word(place / 64, colour) >> (place % 64) & 1, u64::from(has_a(cell)));
                let expected = [Colour::Even, Colour::Odd][usize::from(cell % 2)];
                assert_eq!(B::single(cell).colour(), Some(expected).filter(|_| B::COLOURS == 2));
            }
            assert_eq!(a.colour(), None, "both colours");
        }
        assert!(B::EMPTY.is_empty());
    }

    #[test]
    fn words_of_each_size_are_sets_of_cells() {
        check::<u64>();
        check::<u128>();
        check::<Colours<u64>>();
        check::<Colours<u128>>();
    }

    #[test]
    fn packed_sets_below_112_cells_differ() {
        fn packed<B: Bits>(cells: &[u8]) -> u128 {
            cells.iter().fold(B::EMPTY, |set, &cell| set | B::single(cell)).packed()
        }
        for kind in [packed::<u128>, packed::<Colours<u64>>] {
            // The bits of different cells are different, so the sets are.
            let all: Vec<u8> = (0..112).collect();
            let sum: u128 = all.iter().map(|&cell| kind(&[cell])).sum();
            assert_eq!((sum, sum), (kind(&all), (1 << 112) - 1));
            assert!(all.iter().all(|&cell| kind(&[cell]).is_power_of_two()));
        }
    }
}
