//! How sure a figure of samples is, by the bootstrap: what it would have been had other samples come.

use plyd::zobrist::SplitMix64;

/// How often samples are drawn anew.
const RESAMPLES: usize = 1000;

/// The ends of the 95 % interval of a figure, which draws its samples anew by the random numbers each time it
/// is asked for; none if it ever has no value.
pub(crate) fn interval(mut figure: impl FnMut(&mut SplitMix64) -> Option<f64>) -> Option<[f64; 2]> {
    let mut random = SplitMix64::new(1);
    let mut figures = (0..RESAMPLES).map(|_| figure(&mut random)).collect::<Option<Vec<_>>>()?;
    figures.sort_by(f64::total_cmp);
    let cut = RESAMPLES / 40;
    Some([figures[cut], figures[RESAMPLES - 1 - cut]])
}

/// As many samples, each drawn from all.
pub(crate) fn resample<T: Copy>(samples: &[T], random: &mut SplitMix64) -> Vec<T> {
    samples.iter().map(|_| samples[random.below(samples.len())]).collect()
}
