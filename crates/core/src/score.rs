//! Values of positions: arithmetic, the range reserved for proven results, distance to the end.
//!
//! A [`Score`] is a number and knows no game. Whether it is *proven* is not in the number but in the two
//! flags of a [`Value`]: "at least this much is certain" and "at most this much is certain". That one idea
//! carries wins with a distance, draws, final margins and chance averages alike: a distance is exact when
//! both flags stand, a bound when one does.

use std::fmt;
use std::ops::Neg;

/// A value from one side's view, in thousandths of the game's unit, or a win or loss with its distance.
///
/// ```
/// use plyd_core::score::Score;
///
/// assert!(Score::win_in(3) > Score::win_in(5) && Score::win_in(5) > Score::eval(9000));
/// assert_eq!(-Score::win_in(3), Score::loss_in(3));
/// assert_eq!(Score::win_in(3).earlier(2).distance(), Some(5));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Score(i32);

/// A win in no plies. Everything above [`Score::MAX_EVAL`] is a win with a distance.
const WIN: i32 = 2_000_000_000;
/// The longest distance that a score can hold, in plies.
const MAX_DISTANCE: i32 = 1_000_000;

impl Score {
    /// Neither side is ahead; also the value of a drawn game.
    pub const DRAW: Self = Self(0);
    /// Above every score: the open upper end of a window.
    pub const INFINITE: Self = Self(WIN + 1);
    /// The largest score that is an evaluation or a margin.
    pub const MAX_EVAL: Self = Self(WIN - MAX_DISTANCE - 1);

    /// An evaluation or margin in thousandths of the game's unit, clamped to the range of evaluations.
    #[must_use]
    pub const fn eval(thousandths: i32) -> Self {
        if thousandths > Self::MAX_EVAL.0 {
            Self::MAX_EVAL
        } else if thousandths < -Self::MAX_EVAL.0 {
            Self(-Self::MAX_EVAL.0)
        } else {
            Self(thousandths)
        }
    }

    /// The side wins after `plies` more moves of the game.
    #[must_use]
    pub const fn win_in(plies: u32) -> Self {
        let plies = if plies > MAX_DISTANCE as u32 { MAX_DISTANCE } else { plies as i32 };
        Self(WIN - plies)
    }

    /// The side loses after `plies` more moves of the game.
    #[must_use]
    pub const fn loss_in(plies: u32) -> Self {
        Self(-Self::win_in(plies).0)
    }

    /// Whether this is a win with a distance.
    #[must_use]
    pub const fn is_win(self) -> bool {
        self.0 > Self::MAX_EVAL.0
    }

    /// Whether this is a loss with a distance.
    #[must_use]
    pub const fn is_loss(self) -> bool {
        self.0 < -Self::MAX_EVAL.0
    }

    /// The distance to the end in plies, for a win or a loss with a distance.
    #[must_use]
    pub const fn distance(self) -> Option<u32> {
        if self.is_win() || self.is_loss() { Some((WIN - self.0.abs()) as u32) } else { None }
    }

    /// The raw number: thousandths for evaluations, a large number for wins and losses.
    #[must_use]
    pub const fn raw(self) -> i32 {
        self.0
    }

    /// The score that [`Score::raw`] gave.
    #[must_use]
    pub const fn from_raw(raw: i32) -> Self {
        Self(raw)
    }

    /// The same result seen `plies` moves earlier: wins and losses move further away.
    #[must_use]
    pub const fn earlier(self, plies: u32) -> Self {
        if self.is_win() {
            Self(self.0 - plies as i32)
        } else if self.is_loss() {
            Self(self.0 + plies as i32)
        } else {
            self
        }
    }

    /// The same result seen `plies` moves later: the inverse of [`Score::earlier`].
    #[must_use]
    pub const fn later(self, plies: u32) -> Self {
        if self.is_win() {
            Self(self.0 + plies as i32)
        } else if self.is_loss() {
            Self(self.0 - plies as i32)
        } else {
            self
        }
    }

    /// The next larger score.
    #[must_use]
    pub const fn above(self) -> Self {
        Self(self.0 + 1)
    }

    /// The next smaller score.
    #[must_use]
    pub const fn below(self) -> Self {
        Self(self.0 - 1)
    }

    /// This score moved by `thousandths`; wins and losses with a distance stay.
    #[must_use]
    pub const fn shifted(self, thousandths: i32) -> Self {
        if self.is_win() || self.is_loss() { self } else { Self::eval(self.0.saturating_add(thousandths)) }
    }
}

impl Neg for Score {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl fmt::Debug for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_win(), self.distance()) {
            (true, Some(plies)) => write!(f, "win in {plies}"),
            (false, Some(plies)) => write!(f, "loss in {plies}"),
            _ => write!(f, "{}", self.0),
        }
    }
}

/// A score with what is proven of it, from one side's view.
///
/// ```
/// use plyd_core::score::{Score, Value};
///
/// let won = Value::proven(Score::win_in(3));
/// let better = won.or(Value::guess(Score::eval(500)));
/// // The win is certain; that nothing is quicker is not.
/// assert!(better.at_least && !better.at_most && better.is_decided() && !better.is_exact());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Value {
    /// The number that a search compares.
    pub score: Score,
    /// The rules alone make the position worth at least `score`.
    pub at_least: bool,
    /// The rules alone make the position worth at most `score`.
    pub at_most: bool,
}

impl Value {
    /// A score that nothing proves: an evaluation.
    #[must_use]
    pub const fn guess(score: Score) -> Self {
        Self { score, at_least: false, at_most: false }
    }

    /// A score that the rules settle: the end of a game, or an exact table.
    #[must_use]
    pub const fn proven(score: Score) -> Self {
        Self { score, at_least: true, at_most: true }
    }

    /// The value of having nothing to choose from: the neutral element of [`Value::or`].
    pub const NOTHING: Self = Self { score: Score(-Score::INFINITE.0), at_least: false, at_most: true };

    /// The value of a choice between two: at least what either is proven to be, at most what both are.
    #[inline]
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        // Without branches: in a search either may be the larger, and no branch predictor knows which.
        Self {
            score: self.score.max(other.score),
            at_least: (self.at_least & (self.score >= other.score))
                | (other.at_least & (other.score >= self.score)),
            at_most: self.at_most & other.at_most,
        }
    }

    /// Whether the score is settled from both sides.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        self.at_least && self.at_most
    }

    /// Whether the outcome (win, draw or loss) is settled, if not its distance.
    #[must_use]
    pub const fn is_decided(self) -> bool {
        self.is_exact() || (self.score.is_win() && self.at_least) || (self.score.is_loss() && self.at_most)
    }
}

impl Neg for Value {
    type Output = Self;
    fn neg(self) -> Self {
        Self { score: -self.score, at_least: self.at_most, at_most: self.at_least }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quicker_wins_and_slower_losses_are_better() {
        let order = [
            -Score::INFINITE,
            Score::loss_in(0),
            Score::loss_in(7),
            Score::eval(i32::MIN),
            Score::eval(-1),
            Score::DRAW,
            Score::eval(1),
            Score::MAX_EVAL,
            Score::win_in(7),
            Score::win_in(1),
            Score::INFINITE,
        ];
        assert!(order.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(order.iter().all(|score| -(-*score) == *score));
    }

    #[test]
    fn distances_move_with_the_reader() {
        assert_eq!(Score::win_in(3).earlier(2), Score::win_in(5));
        assert_eq!(Score::loss_in(5).later(2), Score::loss_in(3));
        assert_eq!(Score::eval(40).earlier(2), Score::eval(40));
        assert_eq!(Score::win_in(5).distance(), Some(5));
        assert_eq!(Score::eval(5).distance(), None);
    }

    #[test]
    fn negation_swaps_what_is_proven() {
        let value = Value { score: Score::win_in(4), at_least: true, at_most: false };
        assert!(value.is_decided() && !value.is_exact());
        assert_eq!(-value, Value { score: Score::loss_in(4), at_least: false, at_most: true });
        assert!((-value).is_decided());
        assert!(!Value::guess(Score::win_in(4)).is_decided());
    }
}
