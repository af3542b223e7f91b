//! Samples of a delay and their percentiles.

use std::time::Instant;

/// Delays in microseconds; negative ones came early.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<i64>);

/// The percentiles that the table shows, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Percentiles {
    /// The median.
    pub(crate) p50: i64,
    /// The 99th percentile.
    pub(crate) p99: i64,
    /// The 99.9th percentile.
    #[allow(dead_code, reason = "not every bench has enough samples for it")]
    pub(crate) p999: i64,
    /// The largest sample.
    #[allow(dead_code, reason = "not every bench shows it")]
    pub(crate) max: i64,
}

impl FromIterator<i64> for Samples {
    fn from_iter<T: IntoIterator<Item = i64>>(delays: T) -> Self {
        Self(delays.into_iter().collect())
    }
}

impl Samples {
    /// Adds how long after `due` something happened.
    #[allow(dead_code, reason = "some benches have times without due instants")]
    pub(crate) fn add(&mut self, due: Instant, at: Instant) {
        let late = at.saturating_duration_since(due).as_micros() as i64;
        let early = due.saturating_duration_since(at).as_micros() as i64;
        self.0.push(late - early);
    }

    /// Adds the samples of another.
    #[allow(dead_code, reason = "not every bench has several sources")]
    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The samples in the order in which they were added.
    #[allow(dead_code, reason = "most benches ask for percentiles alone")]
    pub(crate) fn values(&self) -> &[i64] {
        &self.0
    }

    /// The number of samples.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of samples after the due instant.
    #[allow(dead_code, reason = "not every bench has due instants")]
    pub(crate) fn late(&self) -> usize {
        self.0.iter().filter(|sample| **sample > 0).count()
    }

    /// The percentiles by nearest rank; none without samples.
    pub(crate) fn percentiles(&self) -> Option<Percentiles> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let max = *sorted.last()?;
        let rank = |per_mille: usize| sorted[(sorted.len() * per_mille).div_ceil(1000).max(1) - 1];
        Some(Percentiles { p50: rank(500), p99: rank(990), p999: rank(999), max })
    }
}
