//! Sets of small numbers, such as the cells of a board, as bits of machine words.
//!
//! Knows no game: the boards decide which cell has which number, and which cells are neighbours.

use std::fmt::Debug;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Shl, Shr};

/// A set of cells: numbers below 256.
///
/// ```
/// use plyd_games::bits::Bits;
///
/// let set = u64::single(3) | u64::single(5);
/// assert_eq!((set.len(), set.cells().collect::<Vec<_>>()), (2, vec![3, 5]));
/// ```
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

/// A set of up to 192 cells.
pub type U192 = Words<3>;

/// A set of numbers below 64 `W`, in machine words, the lowest first: of cells, which are numbers below 256,
/// or of anything that is numbered. Shifts must be by less than 64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Words<const W: usize>([u64; W]);

impl<const W: usize> Words<W> {
    /// The set of the numbers below `len`.
    #[must_use]
    pub(crate) fn below(len: usize) -> Self {
        (0..len).collect()
    }

    /// Adds a number.
    #[inline]
    pub(crate) fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    /// Takes a number out.
    #[inline]
    pub(crate) fn remove(&mut self, number: usize) {
        self.0[number / 64] &= !(1 << (number % 64));
    }

    /// Whether the number is in the set.
    #[inline]
    #[must_use]
    pub(crate) fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    /// The only number in the set, if there is no other.
    #[inline]
    #[must_use]
    pub(crate) fn only(&self) -> Option<usize> {
        let (mut found, mut words) = (None, 0);
        for (at, &word) in self.0.iter().enumerate() {
            if word != 0 {
                words += 1;
                found = (word & (word - 1) == 0).then(|| 64 * at + word.trailing_zeros() as usize);
            }
        }
        found.filter(|_| words == 1)
    }

    /// The numbers in the set, ascending.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + use<W> {
        let words = self.0;
        words.into_iter().enumerate().flat_map(|(at, mut word)| {
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                (word != 0).then(|| {
                    word &= word - 1;
                    64 * at + bit
                })
            })
        })
    }

    /// The words, the smallest numbers first.
    #[inline]
    #[must_use]
    pub(crate) fn words(&self) -> &[u64; W] {
        &self.0
    }
}

impl<const W: usize> Default for Words<W> {
    fn default() -> Self {
        Self([0; W])
    }
}

impl<const W: usize> FromIterator<usize> for Words<W> {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        let mut set = Self::default();
        numbers.into_iter().for_each(|number| set.insert(number));
        set
    }
}

impl<const W: usize> Bits for Words<W> {
    const CAPACITY: usize = 64 * W;
    const EMPTY: Self = Self([0; W]);

    #[inline]
    fn single(cell: u8) -> Self {
        // Without an index into the words, which then need not lie in memory.
        let mut set = Self::EMPTY;
        for (at, word) in set.0.iter_mut().enumerate() {
            *word = if usize::from(cell >> 6) == at { 1 << (cell & 63) } else { 0 };
        }
        set
    }
    #[inline]
    fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
    #[inline]
    fn first(self) -> u8 {
        for (at, word) in self.0[..W - 1].iter().enumerate() {
            if *word != 0 {
                return (64 * at as u32 + word.trailing_zeros()) as u8;
            }
        }
        (64 * (W as u32 - 1) + self.0[W - 1].trailing_zeros()) as u8
    }
    #[inline]
    fn without_first(mut self) -> Self {
        for word in &mut self.0[..W - 1] {
            if *word != 0 {
                *word &= *word - 1;
                return self;
            }
        }
        self.0[W - 1] &= self.0[W - 1] - 1;
        self
    }
    #[inline]
    fn word(self, index: usize) -> u64 {
        self.0[index]
    }
    #[inline]
    fn low(self) -> u128 {
        self.0.iter().take(2).rev().fold(0, |low, &word| low << 64 | u128::from(word))
    }
    #[inline]
    fn has(self, cell: u8) -> bool {
        self.contains(cell.into())
    }
    #[inline]
    fn is_empty(self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }
}

macro_rules! word_by_word {
    ($operator:ident, $method:ident, $assign:ident, $assign_method:ident) => {
        impl<const W: usize> $operator for Words<W> {
            type Output = Self;
            #[inline]
            fn $method(mut self, other: Self) -> Self {
                self.$assign_method(other);
                self
            }
        }
        impl<const W: usize> $assign for Words<W> {
            #[inline]
            fn $assign_method(&mut self, other: Self) {
                for (word, other) in self.0.iter_mut().zip(other.0) {
                    word.$assign_method(other);
                }
            }
        }
    };
}
word_by_word!(BitAnd, bitand, BitAndAssign, bitand_assign);
word_by_word!(BitOr, bitor, BitOrAssign, bitor_assign);
word_by_word!(BitXor, bitxor, BitXorAssign, bitxor_assign);

impl<const W: usize> Not for Words<W> {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

// In two steps: after a shift by 0, one step would shift a word by 64 bits.
impl<const W: usize> Shl<u32> for Words<W> {
    type Output = Self;
    #[inline]
    fn shl(self, by: u32) -> Self {
        let back = 63 - (by & 63);
        let mut shifted = self;
        for at in 0..W {
            let carried = if at > 0 { self.0[at - 1] >> 1 >> back } else { 0 };
            shifted.0[at] = (self.0[at] << by) | carried;
        }
        shifted
    }
}

impl<const W: usize> Shr<u32> for Words<W> {
    type Output = Self;
    #[inline]
    fn shr(self, by: u32) -> Self {
        let back = 63 - (by & 63);
        let mut shifted = self;
        for at in 0..W {
            let carried = if at + 1 < W { self.0[at + 1] << 1 << back } else { 0 };
            shifted.0[at] = (self.0[at] >> by) | carried;
        }
        shifted
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
    use std::collections::BTreeSet;

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
        check::<Words<1>>();
        check::<Words<2>>();
    }

    #[test]
    fn sets_of_numbers_agree_with_those_of_the_standard_library() {
        type Set = Words<5>;
        let mut draws = SplitMix64::new(1);
        for _ in 0..500 {
            let mut draw =
                || -> BTreeSet<usize> { (0..draws.below(5)).map(|_| draws.below(Set::CAPACITY)).collect() };
            let (left, right) = (draw(), draw());
            let words = |set: &BTreeSet<usize>| set.iter().copied().collect::<Set>();
            let set = |words: Set| words.iter().collect::<BTreeSet<usize>>();
            assert_eq!(set(words(&left) | words(&right)), &left | &right);
            assert_eq!(set(words(&left) & words(&right)), &left & &right);
            assert_eq!(set(words(&left) ^ words(&right)), &left ^ &right);
            assert_eq!(set(words(&left) & !words(&right)), &left - &right);
            assert_eq!((words(&left).len() as usize, words(&left).is_empty()), (left.len(), left.is_empty()));
            assert_eq!(words(&left).only(), left.first().copied().filter(|_| left.len() == 1));
            assert!(
                (0..2 * Set::CAPACITY).all(|number| words(&left).contains(number) == left.contains(&number))
            );
            let mut emptied = words(&left);
            left.iter().for_each(|&number| emptied.remove(number));
            assert!(emptied.is_empty());
        }
        assert_eq!(Words::<2>::below(70).iter().collect::<Vec<_>>(), (0..70).collect::<Vec<_>>());
    }
}
