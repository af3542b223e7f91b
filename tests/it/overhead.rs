//! What the bench `overhead` judges by, whose harness runs no tests.

use crate::ratio::{Ratio, Verdict};
use plyd::zobrist::SplitMix64;

/// Delays of a daemon: so many in each round, around the round's centre.
fn rounds(centres: &[i64], each: usize, seed: u64) -> Vec<Vec<i64>> {
    let mut random = SplitMix64::new(seed);
    let mut around = |centre: i64| centre + random.below(201) as i64 - 100;
    centres.iter().map(|&centre| (0..each).map(|_| around(centre)).collect()).collect()
}

/// Rounds whose centres differ by a little luck.
fn centres(centre: i64, seed: u64) -> Vec<i64> {
    let mut random = SplitMix64::new(seed);
    (0..24).map(|_| centre + random.below(41) as i64 - 20).collect()
}

#[test]
fn equal_daemons_are_equal_and_a_dearer_one_is_found() {
    let plain = rounds(&centres(1000, 1), 50, 1);
    let control = Ratio::of(&rounds(&centres(1000, 2), 50, 2), &plain).unwrap();
    assert!(control.is_sound_control(), "{control:?}");
    for (centre, verdict) in [(1000, Verdict::Kept), (1060, Verdict::Kept), (1200, Verdict::Exceeded)] {
        let ratio = Ratio::of(&rounds(&centres(centre, 3), 50, 3), &plain).unwrap();
        assert!((ratio.low..=ratio.high).contains(&ratio.value), "{ratio:?}");
        assert_eq!(ratio.judge(1.1, Some(&control)), verdict, "{centre}: {ratio:?}");
    }
}

/// However many samples a start has, three starts of different luck say little of two kinds of daemon.
#[test]
fn the_luck_of_a_start_widens_the_interval_whatever_the_number_of_samples() {
    for each in [200, 1000] {
        let plain = rounds(&[800, 1000, 1200], each, 4);
        let lucky = Ratio::of(&rounds(&[1200, 1000, 800], each, 5), &plain).unwrap();
        assert!((lucky.value - 1.0).abs() < 0.02, "{lucky:?}");
        assert!(lucky.low < 0.8 && lucky.high > 1.2, "{lucky:?}");
        assert_eq!(lucky.judge(1.1, Some(&lucky)), Verdict::Unknown);
    }
}

#[test]
fn what_was_not_measured_is_not_judged() {
    let some = rounds(&[1000; 4], 10, 6);
    for (own, base) in [(&some[..], &[][..]), (&[], &some), (&some, &[vec![0; 10]]), (&some, &[vec![]])] {
        assert_eq!(Ratio::of(own, base), None, "{own:?} {base:?}");
    }
    let ratio = Ratio::of(&some, &some).unwrap();
    assert_eq!(ratio, Ratio { value: 1.0, low: 1.0, high: 1.0 });
    assert_eq!(ratio.judge(1.1, None), Verdict::Unknown);
    for (low, high) in [(0.94, 1.0), (1.0, 1.06), (0.8, 0.9), (1.1, 1.2), (f64::NAN, 1.0)] {
        let control = Ratio { value: 1.0, low, high };
        assert_eq!(ratio.judge(1.1, Some(&control)), Verdict::Unknown, "{control:?}");
    }
}
