//! The ratio of two lists of times that were measured in turns.

use crate::bootstrap::{interval, resample};

/// The median of the ratios of all rounds, with its 95 % bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Ratio {
    /// The ratio of `own` to `base`, times of the same rounds; none without rounds.
    pub(crate) fn of(own: &[f64], base: &[f64]) -> Option<Self> {
        let ratios: Vec<f64> = own.iter().zip(base).map(|(own, base)| own / base).collect();
        if ratios.is_empty() {
            return None;
        }
        let [low, high] = interval(|random| Some(median(resample(&ratios, random))))?;
        Some(Self { value: median(ratios), low, high })
    }
}

/// The median of some numbers.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    if numbers.len() % 2 == 1 { numbers[middle] } else { f64::midpoint(numbers[middle - 1], numbers[middle]) }
}
