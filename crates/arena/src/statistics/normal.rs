//! The standard normal distribution.

/// The quantile of the standard normal distribution that leaves 2.5 % on each side.
pub const Z_95: f64 = 1.959_963_984_540_054;

/// The probability of a value of at most `z`.
pub(super) fn cumulative(z: f64) -> f64 {
    libm::erfc(-z / std::f64::consts::SQRT_2) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_of_known_quantiles() {
        for (z, probability) in [(0.0, 0.5), (Z_95, 0.975), (-Z_95, 0.025), (1.0, 0.841_344_746_068_543)] {
            assert!((cumulative(z) - probability).abs() < 1e-14, "{z}: {}", cumulative(z));
        }
    }
}
