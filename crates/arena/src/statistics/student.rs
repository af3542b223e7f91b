//! Student's t distribution: how far a mean of few results may be off whose spread is known from them alone.

use super::normal::Z_95;

/// The quantiles that leave 2.5 % on each side at 1 to 5 degrees of freedom, where the expansion below is too
/// short. M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions" (1964), table 26.10.
const FEW: [f64; 5] = [12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582];

/// The quantile that leaves 2.5 % on each side, as [`Z_95`] does for a spread that is known: 95 % of
/// intervals of this many standard errors hold the truth. Infinite without a degree of freedom, for then
/// nothing is known of the spread.
///
/// By the expansion of R. A. Fisher and E. A. Cornish (1960), as in Abramowitz and Stegun, 26.7.5; it is off
/// by less than 0.0002 from 6 degrees of freedom on, and by less than 0.00001 from 10 on.
pub(super) fn quantile_95(degrees_of_freedom: u64) -> f64 {
    let Some(index) = degrees_of_freedom.checked_sub(1) else { return f64::INFINITY };
    if let Some(known) = usize::try_from(index).ok().and_then(|index| FEW.get(index)) {
        return *known;
    }
    let (z, n) = (Z_95, degrees_of_freedom as f64);
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
        (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1482.0 * z.powi(5) - 1920.0 * z.powi(3) - 945.0 * z)
            / 92_160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / n) + z
}

/// Half the width of the 95 % interval of a sum whose `variance`, as the results show it, is made of the
/// squares of `units` of results around `fitted` figures that were computed from them, and is so too small by
/// the share that these took. Infinite if the results say nothing of their spread: they are as few as the
/// figures, or all alike.
pub(super) fn error_95(variance: f64, units: u64, fitted: u64) -> f64 {
    let free = units.saturating_sub(fitted);
    if free == 0 || variance <= 0.0 {
        return f64::INFINITY;
    }
    quantile_95(free) * (variance * units as f64 / free as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // Abramowitz and Stegun, table 26.10; NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
        for (degrees, expected) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (6, 2.447),
            (9, 2.262),
            (19, 2.093),
            (30, 2.042),
            (99, 1.984),
        ] {
            assert!((quantile_95(degrees) - expected).abs() < 0.0006, "{degrees}: {}", quantile_95(degrees));
        }
        assert!((quantile_95(1_000_000) - Z_95).abs() < 1e-5);
        assert_eq!(quantile_95(0), f64::INFINITY);
        assert!((1..200).all(|degrees| quantile_95(degrees) > quantile_95(degrees + 1)));
    }

    #[test]
    fn an_error_is_that_of_the_degrees_of_freedom_that_are_left() {
        // Ten results around their mean: the sample variance divides by 9.
        assert!((error_95(4.0, 10, 1) - 2.262_157 * (40.0_f64 / 9.0).sqrt()).abs() < 1e-4);
        assert_eq!([error_95(4.0, 1, 1), error_95(0.0, 10, 1)], [f64::INFINITY; 2]);
    }
}
