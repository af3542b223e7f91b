//! Sets of cells in two words, one for each colour of a chess board.
//!
//! A step to a neighbour and a knight's move change the colour of the cell. So a step moves all cells of a
//! word by the same number of bits into the other word, and no bit passes from one machine word to the next,
//! as it would in one long word of twice the size.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Shl, Shr};

use super::{Bits, Colour, Part};

/// A set of cells whose even and odd numbers are in words of their own: cell `c` is bit `c / 2`.
///
/// The parity is a colour if neighbours in a row have consecutive numbers, and those in a column numbers that
/// differ by an odd one: on boards of an odd width, or with an unused number after each row.
///
/// ```
/// use plyd_core::bits::{Bits, Colours, Part};
///
/// let set = Colours::<u64>::single(70) | Colours::single(3);
/// assert_eq!(set.cells().collect::<Vec<_>>(), [3, 70]);
/// assert_eq!(set.up(11).cells().collect::<Vec<_>>(), [14, 81]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Colours<W> {
    even: W,
    odd: W,
}

/// The even numbers of a set.
#[derive(Clone, Copy, Debug)]
pub struct Even<W>(W);

/// The odd numbers of a set.
#[derive(Clone, Copy, Debug)]
pub struct Odd<W>(W);

/// Both words of a set; a step turns them into [`Crossed`] ones.
#[derive(Clone, Copy, Debug)]
pub struct All<W>(W, W);

/// The odd numbers of a set, a bit higher than usual, and the even ones: a step moves the words of [`All`]
/// into these by the same number of bits, so that the compiler moves both with one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Crossed<W>(W, W);

/// A word that holds the cells of one colour.
pub trait Word: Bits + Shl<u32, Output = Self> + Shr<u32, Output = Self> {
    /// The set of each cell. Where both words come from memory and go there at once, a set that was just
    /// changed is read back without delay.
    const SINGLES: &'static [Colours<Self>; 256];
}

macro_rules! word {
    ($word:ty) => {
        impl Word for $word {
            const SINGLES: &'static [Colours<Self>; 256] = {
                static SINGLES: [Colours<$word>; 256] = {
                    let mut singles = [Colours { even: 0, odd: 0 }; 256];
                    let mut cell = 0;
                    while cell < <$word>::BITS as usize {
                        singles[2 * cell].even = 1 << cell;
                        singles[2 * cell + 1].odd = 1 << cell;
                        cell += 1;
                    }
                    singles
                };
                &SINGLES
            };
        }
    };
}
word!(u64);
word!(u128);

impl<W: Word> Bits for Colours<W> {
    const CAPACITY: usize = 2 * W::CAPACITY;
    const COLOURS: usize = 2;
    const EMPTY: Self = Self { even: W::EMPTY, odd: W::EMPTY };
    type Even = Even<W>;
    type Odd = Odd<W>;
    type All = All<W>;

    #[inline]
    fn single(cell: u8) -> Self {
        W::SINGLES[usize::from(cell)]
    }
    #[inline]
    fn len(self) -> u32 {
        self.even.len() + self.odd.len()
    }
    #[inline]
    fn first(self) -> u8 {
        // An empty word's first bit is beyond those of the other.
        let (even, odd) = (self.even.first(), self.odd.first());
        if even <= odd { 2 * even } else { 2 * odd + 1 }
    }
    #[inline]
    fn without_first(self) -> Self {
        if self.even.first() <= self.odd.first() {
            Self { even: self.even.without_first(), ..self }
        } else {
            Self { odd: self.odd.without_first(), ..self }
        }
    }
    #[inline]
    fn word(self, index: usize, colour: usize) -> u64 {
        (if colour == 0 { self.even } else { self.odd }).word(index, 0)
    }
    #[inline]
    fn packed(self) -> u128 {
        self.even.packed() | self.odd.packed() << 56
    }
    #[inline]
    fn colour(self) -> Option<Colour> {
        if self.odd.is_empty() {
            Some(Colour::Even)
        } else if self.even.is_empty() {
            Some(Colour::Odd)
        } else {
            None
        }
    }
    #[inline]
    fn each(self, mut visit: impl FnMut(u8)) {
        match self.colour() {
            Some(Colour::Even) => self.even.each(|bit| visit(2 * bit)),
            Some(Colour::Odd) => self.odd.each(|bit| visit(2 * bit + 1)),
            None => self.cells().for_each(visit),
        }
    }
    #[inline]
    fn has(self, cell: u8) -> bool {
        (if cell & 1 == 0 { self.even } else { self.odd }).has(cell >> 1)
    }
}

// A number `2 m + 1` away is `m` bits away for one colour, and `m + 1` for the other.

impl<W: Word> Part<Self> for Colours<W> {
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
        (self.even | self.odd).is_empty()
    }
    #[inline]
    fn count(self) -> i32 {
        self.even.count() + self.odd.count()
    }
    #[inline]
    fn up(self, odd: u32) -> Self {
        Self { even: Odd(self.odd).up(odd).0, odd: Even(self.even).up(odd).0 }
    }
    #[inline]
    fn down(self, odd: u32) -> Self {
        Self { even: Odd(self.odd).down(odd).0, odd: Even(self.even).down(odd).0 }
    }
    #[inline]
    fn up_even(self, even: u32) -> Self {
        Self { even: self.even << (even >> 1), odd: self.odd << (even >> 1) }
    }
    #[inline]
    fn down_even(self, even: u32) -> Self {
        Self { even: self.even >> (even >> 1), odd: self.odd >> (even >> 1) }
    }
}

macro_rules! part {
    ($part:ident, $field:ident, $next:ident, $up:expr, $down:expr) => {
        impl<W: Word> Part<Colours<W>> for $part<W> {
            type Next = $next<W>;

            #[inline]
            fn of(set: Colours<W>) -> Self {
                Self(set.$field)
            }
            #[inline]
            fn put_into(self, set: &mut Colours<W>) {
                set.$field |= self.0;
            }
            #[inline]
            fn take_from(self, set: &mut Colours<W>) {
                set.$field &= !self.0;
            }
            #[inline]
            fn is_empty(self) -> bool {
                self.0.is_empty()
            }
            #[inline]
            fn count(self) -> i32 {
                self.0.count()
            }
            #[inline]
            fn up(self, odd: u32) -> $next<W> {
                $next(self.0 << ((odd >> 1) + $up))
            }
            #[inline]
            fn down(self, odd: u32) -> $next<W> {
                $next(self.0 >> ((odd >> 1) + $down))
            }
            #[inline]
            fn up_even(self, even: u32) -> Self {
                Self(self.0 << (even >> 1))
            }
            #[inline]
            fn down_even(self, even: u32) -> Self {
                Self(self.0 >> (even >> 1))
            }
        }
    };
}
part!(Even, even, Odd, 0, 1);
part!(Odd, odd, Even, 1, 0);

macro_rules! both {
    ($part:ident, $next:ident, $of:expr, $set:expr, $up:expr, $down:expr) => {
        impl<W: Word> Part<Colours<W>> for $part<W> {
            type Next = $next<W>;

            #[inline]
            fn of(set: Colours<W>) -> Self {
                let (first, second) = $of(set);
                Self(first, second)
            }
            #[inline]
            fn put_into(self, set: &mut Colours<W>) {
                *set |= $set(self.0, self.1);
            }
            #[inline]
            fn take_from(self, set: &mut Colours<W>) {
                *set &= !$set(self.0, self.1);
            }
            #[inline]
            fn is_empty(self) -> bool {
                (self.0 | self.1).is_empty()
            }
            #[inline]
            fn count(self) -> i32 {
                self.0.count() + self.1.count()
            }
            #[inline]
            fn up(self, odd: u32) -> $next<W> {
                $next(self.0 << ((odd >> 1) + $up), self.1 << ((odd >> 1) + $up))
            }
            #[inline]
            fn down(self, odd: u32) -> $next<W> {
                $next(self.0 >> ((odd >> 1) + $down), self.1 >> ((odd >> 1) + $down))
            }
            #[inline]
            fn up_even(self, even: u32) -> Self {
                Self(self.0 << (even >> 1), self.1 << (even >> 1))
            }
            #[inline]
            fn down_even(self, even: u32) -> Self {
                Self(self.0 >> (even >> 1), self.1 >> (even >> 1))
            }
        }
    };
}
both!(All, Crossed, |set: Colours<W>| (set.even, set.odd), |even, odd| Colours { even, odd }, 1, 0);
both!(
    Crossed,
    All,
    |set: Colours<W>| (set.odd << 1, set.even),
    |odd, even| Colours { even, odd: odd >> 1 },
    0,
    1
);

macro_rules! operators {
    ($part:ident, $($word:tt),*) => {
        operators!(@ $part, BitAnd, bitand, $($word),*);
        operators!(@ $part, BitOr, bitor, $($word),*);
        operators!(@ $part, BitXor, bitxor, $($word),*);
    };
    (@ $part:ident, $operator:ident, $method:ident, $($word:tt),*) => {
        impl<W: Word> $operator for $part<W> {
            type Output = Self;
            #[inline]
            fn $method(self, other: Self) -> Self {
                Self($(self.$word.$method(other.$word)),*)
            }
        }
    };
}
operators!(Even, 0);
operators!(Odd, 0);
operators!(All, 0, 1);
operators!(Crossed, 0, 1);

macro_rules! colour_by_colour {
    ($operator:ident, $method:ident, $assign:ident, $assign_method:ident) => {
        impl<W: Word> $operator for Colours<W> {
            type Output = Self;
            #[inline]
            fn $method(self, other: Self) -> Self {
                Self { even: self.even.$method(other.even), odd: self.odd.$method(other.odd) }
            }
        }
        impl<W: Word> $assign for Colours<W> {
            #[inline]
            fn $assign_method(&mut self, other: Self) {
                *self = self.$method(other);
            }
        }
    };
}
colour_by_colour!(BitAnd, bitand, BitAndAssign, bitand_assign);
colour_by_colour!(BitOr, bitor, BitOrAssign, bitor_assign);
colour_by_colour!(BitXor, bitxor, BitXorAssign, bitxor_assign);

impl<W: Word> Not for Colours<W> {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Self { even: !self.even, odd: !self.odd }
    }
}
