//! Sets of the cells of a board as bits of machine words, whatever the board.
//!
//! The boards decide which cell has which number, and which cells are neighbours.

use std::fmt::Debug;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not, Shl, Shr};

/// A set of cells in one machine word, in two, or in three.
pub trait Bits:
    Copy
    + Eq
    + Debug
    + Default
    + Send
    + Sync
    + 'static
    + BitAnd<Output = Self>
    + BitAndAssign
    + BitOr<Output = Self>
    + BitOrAssign
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// How many cells the set can hold.
    const CAPACITY: usize;
    /// How many machine words of 64 bits the set takes.
    const WORDS: usize = Self::CAPACITY / 64;
    /// The empty set.
    const EMPTY: Self;

    /// The set of one cell.
    fn single(cell: u8) -> Self;
    /// The number of cells in the set.
    fn len(self) -> u32;
    /// The smallest cell of a set that is not empty.
    fn first(self) -> u8;
    /// The set without its smallest cell; the set must not be empty.
    fn without_first(self) -> Self;
    /// The machine word with the cells from `64 * index` on; the index must be below [`Bits::WORDS`].
    fn word(self, index: usize) -> u64;
    /// The first 128 cells, as a number.
    fn low(self) -> u128;

    /// Whether the set has no cell.
    #[inline]
    fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

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

macro_rules! bits {
    ($word:ty) => {
        impl Bits for $word {
            const CAPACITY: usize = <$word>::BITS as usize;
            const EMPTY: Self = 0;

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
            fn word(self, index: usize) -> u64 {
                (self >> (64 * index)) as u64
            }
            #[inline]
            fn low(self) -> u128 {
                self.into()
            }
        }
    };
}
bits!(u64);
bits!(u128);

/// A set of up to 192 cells in three machine words, the lowest first. Shifts must be by less than 64.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct U192([u64; 3]);

impl Bits for U192 {
    const CAPACITY: usize = 192;
    const EMPTY: Self = Self([0; 3]);

    #[inline]
    fn single(cell: u8) -> Self {
        let bit = 1 << (cell & 63);
        let word = |index: u8| if cell >> 6 == index { bit } else { 0 };
        Self([word(0), word(1), word(2)])
    }
    #[inline]
    fn len(self) -> u32 {
        let Self([a, b, c]) = self;
        a.count_ones() + b.count_ones() + c.count_ones()
    }
    #[inline]
    fn first(self) -> u8 {
        let Self([a, b, c]) = self;
        let cell = match (a, b) {
            (0, 0) => 128 + c.trailing_zeros(),
            (0, _) => 64 + b.trailing_zeros(),
            _ => a.trailing_zeros(),
        };
        cell as u8
    }
    #[inline]
    fn without_first(self) -> Self {
        let Self([a, b, c]) = self;
        match (a, b) {
            (0, 0) => Self([0, 0, c & (c - 1)]),
            (0, _) => Self([0, b & (b - 1), c]),
            _ => Self([a & (a - 1), b, c]),
        }
    }
    #[inline]
    fn word(self, index: usize) -> u64 {
        self.0[index]
    }
    #[inline]
    fn low(self) -> u128 {
        let Self([a, b, _]) = self;
        u128::from(b) << 64 | u128::from(a)
    }
    #[inline]
    fn has(self, cell: u8) -> bool {
        self.0.get(usize::from(cell >> 6)).is_some_and(|word| word >> (cell & 63) & 1 != 0)
    }
}

macro_rules! word_by_word {
    ($operator:ident, $method:ident) => {
        impl $operator for U192 {
            type Output = Self;
            #[inline]
            fn $method(self, other: Self) -> Self {
                let (Self([a, b, c]), Self([x, y, z])) = (self, other);
                Self([a.$method(x), b.$method(y), c.$method(z)])
            }
        }
    };
}
word_by_word!(BitAnd, bitand);
word_by_word!(BitOr, bitor);
word_by_word!(BitXor, bitxor);

impl BitAndAssign for U192 {
    #[inline]
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

impl BitOrAssign for U192 {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl Not for U192 {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        let Self([a, b, c]) = self;
        Self([!a, !b, !c])
    }
}

// In two steps: after a shift by 0, one step would shift a word by 64 bits.
impl Shl<u32> for U192 {
    type Output = Self;
    #[inline]
    fn shl(self, by: u32) -> Self {
        let (Self([a, b, c]), back) = (self, 63 - (by & 63));
        Self([a << by, (b << by) | (a >> 1 >> back), (c << by) | (b >> 1 >> back)])
    }
}

impl Shr<u32> for U192 {
    type Output = Self;
    #[inline]
    fn shr(self, by: u32) -> Self {
        let (Self([a, b, c]), back) = (self, 63 - (by & 63));
        Self([(a >> by) | (b << 1 << back), (b >> by) | (c << 1 << back), c >> by])
    }
}

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
    use plyd_core::zobrist::SplitMix64;

    fn random<B: Bits>(random: &mut SplitMix64) -> (B, Vec<u8>) {
        let cells: Vec<u8> = (0..B::CAPACITY as u8).filter(|_| random.below(3) == 0).collect();
        (cells.iter().fold(B::EMPTY, |set, &cell| set | B::single(cell)), cells)
    }

    fn check<B: Bits>() {
        let mut draws = SplitMix64::new(7);
        for _ in 0..200 {
            let ((a, in_a), (b, in_b)) = (random::<B>(&mut draws), random::<B>(&mut draws));
            let is = |set: B, what: &dyn Fn(u8) -> bool| {
                let expected: Vec<u8> = (0..B::CAPACITY as u8).filter(|&cell| what(cell)).collect();
                assert_eq!(set.cells().collect::<Vec<_>>(), expected);
                assert_eq!((set.len() as usize, set.is_empty()), (expected.len(), expected.is_empty()));
                assert!((0..=u8::MAX).take(B::CAPACITY).all(|cell| set.has(cell) == what(cell)));
            };
            let [has_a, has_b] = [&in_a, &in_b].map(|cells| |cell: u8| cells.contains(&cell));
            is(a, &has_a);
            is(a & b, &|cell| has_a(cell) && has_b(cell));
            is(a | b, &|cell| has_a(cell) || has_b(cell));
            is(a ^ b, &|cell| has_a(cell) != has_b(cell));
            is(!a, &|cell| !has_a(cell));
            let by = draws.below(64) as u8;
            is(a << u32::from(by), &|cell| cell >= by && has_a(cell - by));
            is(a >> u32::from(by), &|cell| cell.checked_add(by).is_some_and(has_a));
            assert!(
                (0..=u8::MAX).take(B::CAPACITY).all(|cell| {
                    a.word(usize::from(cell / 64)) >> (cell % 64) & 1 == u64::from(has_a(cell))
                })
            );
            let low = in_a.iter().filter(|&&cell| cell < 128).fold(0, |low, cell| low | 1 << cell);
            assert_eq!(a.low(), low);
        }
        assert!(B::EMPTY.is_empty());
    }

    #[test]
    fn words_of_each_size_are_sets_of_cells() {
        check::<u64>();
        check::<u128>();
        check::<U192>();
    }
}
