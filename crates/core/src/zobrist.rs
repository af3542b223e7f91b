//! Reproducible pseudo-random numbers: keys for hashing positions and the choices of seeded players.
//!
//! One generator (SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014) so
//! that equal seeds give equal games on every machine and with every version of every library.

/// A SplitMix64 generator.
///
/// ```
/// use plyd_core::zobrist::SplitMix64;
///
/// let (mut first, mut second) = (SplitMix64::new(7), SplitMix64::new(7));
/// assert!((0..100).all(|_| first.below(6) < 6 && second.below(6) < 6));
/// assert_eq!(first.next(), second.next());
/// ```
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator that gives the same numbers for the same seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `bound`, which must not be 0 (Lemire's multiply-shift; the bias is below 2^-32 for
    /// the small bounds that games need).
    pub const fn below(&mut self, bound: usize) -> usize {
        (((self.next() >> 32) * bound as u64) >> 32) as usize
    }

    /// Draws a chance outcome by the probabilities in ppm and gives its index; none if there are no outcomes.
    ///
    /// ```
    /// use plyd_core::zobrist::SplitMix64;
    ///
    /// let mut random = SplitMix64::new(7);
    /// assert_eq!(random.outcome(&[0, 1_000_000]), Some(1));
    /// assert_eq!(random.outcome(&[]), None);
    /// ```
    pub fn outcome(&mut self, probabilities: &[u32]) -> Option<usize> {
        outcome_at(probabilities, self.below(1_000_000) as u32)
    }
}

/// The outcome at this place, in ppm, of all outcomes laid side by side; the last one if they end before
/// it.
fn outcome_at(probabilities: &[u32], mut place: u32) -> Option<usize> {
    let found = probabilities.iter().position(|&ppm| {
        let reaches = place < ppm;
        place = place.saturating_sub(ppm);
        reaches
    });
    found.or(probabilities.len().checked_sub(1))
}

/// Spreads the bits of a number over all 64: a hash of small keys.
///
/// ```
/// use plyd_core::zobrist::mix;
///
/// assert_ne!(mix(1), mix(2));
/// ```
#[must_use]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A table of `N` hash keys, made at compile time from `seed`.
///
/// ```
/// use plyd_core::zobrist::keys;
///
/// /// A key for each of 64 cells with a piece of each side.
/// static KEYS: [u64; 128] = keys(0x6661_6c6c_696e_6721);
/// assert_ne!(KEYS[0], KEYS[64]);
/// ```
#[must_use]
pub const fn keys<const N: usize>(seed: u64) -> [u64; N] {
    let mut random = SplitMix64::new(seed);
    let mut table = [0; N];
    let mut i = 0;
    while i < N {
        table[i] = random.next();
        i += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_published_sequence() {
        // First outputs of the reference implementation (Vigna, splitmix64.c) for seed 1234567.
        let mut random = SplitMix64::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([random.next(), random.next(), random.next()], expected);
    }

    #[test]
    fn below_covers_its_range() {
        let mut random = SplitMix64::new(1);
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[random.below(5)] += 1;
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    }

    #[test]
    fn outcomes_are_as_likely_as_they_say() {
        let probabilities = [500_000, 1, 499_999];
        for (place, index) in [(0, 0), (499_999, 0), (500_000, 1), (500_001, 2), (999_999, 2)] {
            assert_eq!(outcome_at(&probabilities, place), Some(index), "{place}");
        }
    }
}
