//! Sets of numbers of any size, for Sudoku's race.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

/// A set of numbers below 64 `W`, in machine words, the lowest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Words<const W: usize>([u64; W]);

impl<const W: usize> Words<W> {
    /// How many numbers the set can hold.
    pub(super) const CAPACITY: usize = 64 * W;
    /// The empty set.
    pub(super) const EMPTY: Self = Self([0; W]);

    /// How many numbers are in the set.
    #[inline]
    #[must_use]
    pub(super) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether no number is in the set.
    #[inline]
    #[must_use]
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// The set of the numbers below `len`.
    #[must_use]
    pub(super) fn below(len: usize) -> Self {
        (0..len).collect()
    }

    /// Adds a number.
    #[inline]
    pub(super) fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    /// Takes a number out.
    #[inline]
    pub(super) fn remove(&mut self, number: usize) {
        self.0[number / 64] &= !(1 << (number % 64));
    }

    /// Whether the number is in the set.
    #[inline]
    #[must_use]
    pub(super) fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    /// The only number in the set, if there is no other.
    #[inline]
    #[must_use]
    pub(super) fn only(&self) -> Option<usize> {
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
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + use<W> {
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

    /// Each number increased by `by`, which is below 64; those that no longer fit are left out.
    #[inline]
    #[must_use]
    pub(super) fn up(&self, by: usize) -> Self {
        debug_assert!((1..64).contains(&by));
        Self(std::array::from_fn(|at| {
            let below = if at > 0 { self.0[at - 1] >> (64 - by) } else { 0 };
            self.0[at] << by | below
        }))
    }

    /// Each number decreased by `by`, which is below 64; those that would be below 0 are left out.
    #[inline]
    #[must_use]
    pub(super) fn down(&self, by: usize) -> Self {
        debug_assert!((1..64).contains(&by));
        Self(std::array::from_fn(|at| {
            let above = self.0.get(at + 1).map_or(0, |above| above << (64 - by));
            self.0[at] >> by | above
        }))
    }

    /// The words, the smallest numbers first.
    #[inline]
    #[must_use]
    pub(super) fn words(&self) -> &[u64; W] {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use plyd_core::zobrist::SplitMix64;

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
            let by = 1 + left.len() * 13 % 63;
            let up = left.iter().map(|number| number + by).filter(|&number| number < Set::CAPACITY);
            assert_eq!(set(words(&left).up(by)), up.collect());
            let down = left.iter().filter_map(|number| number.checked_sub(by));
            assert_eq!(set(words(&left).down(by)), down.collect());
            let mut emptied = words(&left);
            left.iter().for_each(|&number| emptied.remove(number));
            assert!(emptied.is_empty());
        }
        assert_eq!(Words::<2>::below(70).iter().collect::<Vec<_>>(), (0..70).collect::<Vec<_>>());
    }
}
