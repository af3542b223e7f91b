//! The logistic curve between a difference in strength and a score.

/// The Elo of a difference of 1 in the logarithm of the odds of the points: 400 / ln 10.
pub(super) const ELO_PER_LOGIT: f64 = 400.0 / std::f64::consts::LN_10;

/// The difference in Elo that makes a player score this share: the inverse of [`expected_score`]. Infinite at
/// 0 and 1, and not a number beyond.
///
/// ```
/// use plyd_arena::statistics::{elo, expected_score};
///
/// assert_eq!(elo(0.5), 0.0);
/// assert_eq!(elo(0.75).round(), 191.0);
/// assert!((expected_score(elo(0.6)) - 0.6).abs() < 1e-12);
/// ```
#[must_use]
pub fn elo(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}

/// The share of the points, from 0 to 1, that a player is expected to make who is `elo` stronger:
/// 1 / (1 + 10^(-elo / 400)).
#[must_use]
pub fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(-elo / 400.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_known_elo() {
        // FIDE Handbook B.02 8.1.2, the logistic curve: 10:1 odds at 400, and symmetric.
        for (score, expected) in [(0.5, 0.0), (10.0 / 11.0, 400.0), (1.0 / 11.0, -400.0), (0.75, 190.85)] {
            assert!((elo(score) - expected).abs() < 0.0051, "{score}: {}", elo(score));
            assert!((expected_score(expected) - score).abs() < 1e-5, "{expected}");
        }
        assert_eq!(elo(1.0), f64::INFINITY);
    }
}
