//! How many times the median of one kind of daemon is that of another, and whether that can be judged: from
//! delays that both were measured at side by side, over several starts of each.
//!
//! Equal daemons differ from start to start, by where the system puts their threads and their memory. More
//! samples of the same two processes would only repeat that difference, so the unit of the bootstrap is the
//! round: one start of each, with all that was measured in it.

use std::fmt;

use crate::bootstrap::{interval, resample};

/// What the ratio of equal daemons must stay within, with its whole interval, for others to be judged.
const CONTROL: std::ops::RangeInclusive<f64> = 0.95..=1.05;

/// A ratio of medians with its 95 % bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Whether a bound is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    Kept,
    Exceeded,
    /// Equal daemons differ too much, or it is not known whether they do.
    Unknown,
}

impl Ratio {
    /// The ratio of the median of `own` to that of `base`, both a list of delays for each round, in the same
    /// order of rounds. None without delays, or if the median of `base` is not positive.
    pub(crate) fn of(own: &[Vec<i64>], base: &[Vec<i64>]) -> Option<Self> {
        let count = own.len().min(base.len());
        let over = |rounds: &[usize]| {
            Some(median(own, rounds)? / Some(median(base, rounds)?).filter(|it| *it > 0.0)?)
        };
        let all: Vec<usize> = (0..count).collect();
        let value = over(&all)?;
        let [low, high] = interval(|random| over(&resample(&all, random)))?;
        Some(Self { value, low, high })
    }

    /// Whether this, of equal daemons, lets others be judged.
    pub(crate) fn is_sound_control(&self) -> bool {
        CONTROL.contains(&self.low) && CONTROL.contains(&self.high)
    }

    /// Whether this is at most `bound`, given the ratio of equal daemons in the same rounds.
    pub(crate) fn judge(&self, bound: f64, control: Option<&Self>) -> Verdict {
        match control {
            Some(control) if control.is_sound_control() => {
                if self.value <= bound {
                    Verdict::Kept
                } else {
                    Verdict::Exceeded
                }
            }
            _ => Verdict::Unknown,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kept => "yes",
            Self::Exceeded => "no",
            Self::Unknown => "cannot be judged here",
        })
    }
}

/// The median of all delays of these rounds.
fn median(delays: &[Vec<i64>], rounds: &[usize]) -> Option<f64> {
    let mut pooled: Vec<i64> = rounds.iter().flat_map(|round| &delays[*round]).copied().collect();
    let middle = pooled.len() / 2;
    (!pooled.is_empty()).then(|| *pooled.select_nth_unstable(middle).1 as f64)
}
