//! Sets of small numbers in a fixed number of machine words: cells of a board, or moves.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// A set of numbers below 64 `W`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bits<const W: usize>([u64; W]);

impl<const W: usize> Bits<W> {
    /// How many numbers a set can hold.
    pub const CAPACITY: usize = 64 * W;
    /// The set without members.
    pub const EMPTY: Self = Self([0; W]);

    /// The set of one number.
    #[inline]
    #[must_use]
    pub fn single(member: usize) -> Self {
        let mut set = Self::EMPTY;
        set.insert(member);
        set
    }

    /// The set of the numbers below `len`.
    #[must_use]
    pub fn below(len: usize) -> Self {
        let mut set = Self::EMPTY;
        (0..len).for_each(|member| set.insert(member));
        set
    }

    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, member: usize) {
        self.0[member / 64] |= 1 << (member % 64);
    }

    /// Takes a number out.
    #[inline]
    pub fn remove(&mut self, member: usize) {
        self.0[member / 64] &= !(1 << (member % 64));
    }

    /// Whether the number is a member.
    #[inline]
    #[must_use]
    pub fn has(&self, member: usize) -> bool {
        self.0[member / 64] >> (member % 64) & 1 != 0
    }

    /// Whether there are no members.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// The number of members.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The smallest member.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<usize> {
        let at = self.0.iter().position(|&word| word != 0)?;
        Some(64 * at + self.0[at].trailing_zeros() as usize)
    }

    /// The only member, if there is no other.
    #[inline]
    #[must_use]
    pub fn only(&self) -> Option<usize> {
        let (mut found, mut words) = (None, 0);
        for (at, &word) in self.0.iter().enumerate() {
            if word != 0 {
                words += 1;
                found = (word & (word - 1) == 0).then(|| 64 * at + word.trailing_zeros() as usize);
            }
        }
        found.filter(|_| words == 1)
    }

    /// The members, ascending.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> + use<W> {
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
    pub fn words(&self) -> &[u64; W] {
        &self.0
    }
}

impl<const W: usize> BitAnd for Bits<W> {
    type Output = Self;
    #[inline]
    fn bitand(mut self, other: Self) -> Self {
        self &= other;
        self
    }
}

impl<const W: usize> BitOr for Bits<W> {
    type Output = Self;
    #[inline]
    fn bitor(mut self, other: Self) -> Self {
        self |= other;
        self
    }
}

impl<const W: usize> BitAndAssign for Bits<W> {
    #[inline]
    fn bitand_assign(&mut self, other: Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word &= other;
        }
    }
}

impl<const W: usize> BitOrAssign for Bits<W> {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }
}

impl<const W: usize> Not for Bits<W> {
    type Output = Self;
    /// The complement within the capacity.
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
    fn sets_agree_with_those_of_the_standard_library() {
        let mut random = SplitMix64::new(1);
        for _ in 0..500 {
            let mut draw = || -> BTreeSet<usize> {
                (0..random.below(5)).map(|_| random.below(Bits::<3>::CAPACITY)).collect()
            };
            let (left, right) = (draw(), draw());
            let bits = |set: &BTreeSet<usize>| {
                set.iter().fold(Bits::<3>::EMPTY, |bits, &member| bits | Bits::single(member))
            };
            let set = |bits: Bits<3>| bits.iter().collect::<BTreeSet<usize>>();
            assert_eq!(set(bits(&left) | bits(&right)), &left | &right);
            assert_eq!(set(bits(&left) & bits(&right)), &left & &right);
            assert_eq!(set(bits(&left) & !bits(&right)), &left - &right);
            assert_eq!((bits(&left).len(), bits(&left).is_empty()), (left.len(), left.is_empty()));
            assert_eq!(bits(&left).first(), left.first().copied());
            assert_eq!(bits(&left).only(), left.first().copied().filter(|_| left.len() == 1));
            assert!((0..192).all(|member| bits(&left).has(member) == left.contains(&member)));
        }
        assert_eq!(Bits::<2>::below(70).iter().collect::<Vec<_>>(), (0..70).collect::<Vec<_>>());
    }
}
