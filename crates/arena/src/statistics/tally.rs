//! Results counted by the points that a player made in them.

use std::ops::AddAssign;

use serde::{Serialize, Serializer};

use super::{Estimate, Points};

/// Games, or pairs of games, counted by the points that a player made in each: from 0 to `N - 1` half points.
/// As JSON the counts alone.
///
/// ```
/// use plyd_arena::statistics::Games;
///
/// let games = Games { counts: [20, 30, 50] };
/// let score = games.score().expect("there are games");
/// assert_eq!((games.total(), score.value), (100, 0.65));
/// let elo = games.elo().expect("not all were won");
/// assert_eq!((elo.value.round(), elo.error.round()), (108.0, 60.0));
/// assert!(games.superiority() > Some(0.99));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tally<const N: usize> {
    /// How many with 0, 1, ... half points.
    pub counts: [u64; N],
}

/// Single games: lost, drawn and won.
pub type Games = Tally<3>;

/// Pairs of games by the points that a player made in them.
pub type Pairs = Tally<5>;

impl<const N: usize> Tally<N> {
    /// How many games one count stands for: 1 in [`Games`], 2 in [`Pairs`].
    pub const GAMES: u64 = (N as u64 - 1) / 2;

    /// Adds a game or a pair in which this number of half points was made.
    ///
    /// # Panics
    /// If they are more than `N - 1`.
    pub fn add(&mut self, half_points: usize) {
        self.counts[half_points] += 1;
    }

    /// How many games or pairs there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The same results, seen by the opponent.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.counts.reverse();
        self
    }

    /// The points. Games, or pairs, are taken as independent draws from those that were seen.
    #[must_use]
    pub fn points(&self) -> Points {
        let (units, games) = (self.total(), self.total() * Self::GAMES);
        let made = self.each().map(|(count, points)| count * points).sum();
        let products = [self.squares(0.0), Self::GAMES as f64 * made, (Self::GAMES * games) as f64];
        Points { games, made, units, products }
    }

    /// The share of the points: see [`Points::score`].
    #[must_use]
    pub fn score(&self) -> Option<Estimate> {
        self.points().score()
    }

    /// The difference in Elo: see [`Points::elo`].
    #[must_use]
    pub fn elo(&self) -> Option<Estimate> {
        self.points().elo()
    }

    /// The likelihood of superiority: see [`Points::superiority`].
    #[must_use]
    pub fn superiority(&self) -> Option<f64> {
        self.points().superiority()
    }

    /// The sum of the squared distances of each count's points from `expected` points.
    pub(super) fn squares(&self, expected: f64) -> f64 {
        self.each().map(|(count, points)| count * (points - expected).powi(2)).sum()
    }

    /// How often how many points were made.
    fn each(&self) -> impl Iterator<Item = (f64, f64)> {
        self.counts.iter().enumerate().map(|(half_points, count)| (*count as f64, half_points as f64 / 2.0))
    }
}

impl<const N: usize> Default for Tally<N> {
    fn default() -> Self {
        Self { counts: [0; N] }
    }
}

impl<const N: usize> AddAssign for Tally<N> {
    fn add_assign(&mut self, other: Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
    }
}

impl<const N: usize> Serialize for Tally<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Z_95;
    use super::super::simulation::{Opponents, held_in_95_percent};
    use super::*;
    use plyd_core::zobrist::SplitMix64;

    fn close(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 0.0051
    }

    /// The Elo with the interval that fastchess gives, by the normal distribution whatever their number.
    fn normal(points: Points) -> Estimate {
        let games = points.games as f64;
        let error = Z_95 * points.variance().sqrt() / games;
        Estimate { value: points.made / games, error }.to_elo().unwrap()
    }

    #[test]
    fn pairs_give_what_fastchess_gives() {
        // What fastchess printed for matches whose pentanomial counts it gave, and its unit tests
        // (elo_test.cpp).
        for (counts, value, error) in [
            ([1, 10, 78, 48, 13], 72.85, 22.33),
            ([352, 579, 1264, 743, 464], 19.83, 6.77),
            ([4, 3, 34, 42, 117], 277.00, 40.90),
            ([0, 0, 1, 8, 1], 190.85, 65.54),
            ([0, 1, 0, 1, 0], 0.0, 296.58),
            ([34, 54, 63, 64, 75], 55.58, 27.65),
            ([332, 433, 498, 333, 334], -8.64, 10.33),
            ([7895, 8757, 5685, 568, 9999], -21.04, 2.95),
        ] {
            let elo = normal(Pairs { counts }.points());
            assert!(close(elo.value, value) && close(elo.error, error), "{counts:?}: {elo:?}");
        }
    }

    #[test]
    fn superiority_is_what_fastchess_gives() {
        // The unit tests of fastchess, elo_test.cpp, in per cent.
        let pairs = [
            ([34, 54, 63, 64, 75], 100.00),
            ([332, 433, 498, 333, 334], 5.05),
            ([7895, 8757, 5685, 568, 9999], 0.00),
        ];
        let games = [([89, 123, 76], 15.53), ([96, 111, 136], 99.60)];
        let pairs = pairs.map(|(counts, percent)| (Pairs { counts }.superiority(), percent));
        let games = games.map(|(counts, percent)| (Games { counts }.superiority(), percent));
        for (superiority, percent) in pairs.into_iter().chain(games) {
            assert!(close(100.0 * superiority.unwrap(), percent), "{superiority:?}, {percent}");
        }
    }

    #[test]
    fn single_games_give_what_fastchess_gives() {
        // elo_test.cpp again.
        let elo = normal(Games { counts: [96, 111, 136] }.points());
        assert!(close(elo.value, 40.70) && close(elo.error, 30.43), "{elo:?}");
    }

    #[test]
    fn no_pairs_say_nothing_and_lost_ones_no_elo() {
        let none = Pairs::default();
        assert_eq!((none.score(), none.superiority()), (None, None));
        let lost = Pairs { counts: [3, 0, 0, 0, 0] };
        assert_eq!(lost.score(), Some(Estimate { value: 0.0, error: f64::INFINITY }));
        assert_eq!((lost.elo(), lost.superiority()), (None, None));
        assert_eq!(Pairs { counts: [0, 0, 0, 1, 9] }.elo(), None, "the interval reaches beyond 1");
    }

    #[test]
    fn few_pairs_have_students_interval() {
        // Ten pairs, 60 % of the points: a standard deviation of 0.4 points a pair, 2.262 standard errors.
        let score = Pairs { counts: [0, 2, 3, 4, 1] }.score().unwrap();
        let deviation = f64::sqrt((2.0 * 0.49 + 3.0 * 0.04 + 4.0 * 0.09 + 0.64) / 9.0);
        let error = 2.262_157 * deviation / f64::sqrt(10.0) / 2.0;
        assert!((score.value - 0.6).abs() < 1e-12 && (score.error - error).abs() < 1e-5, "{score:?}");
        // Many pairs have the normal one.
        let points = Pairs { counts: [1000, 2000, 3000, 4000, 1000] }.points();
        assert!((points.elo().unwrap().error / normal(points).error - 1.0).abs() < 1e-3);
    }

    #[test]
    fn pairs_that_are_all_alike_say_nothing_of_their_error() {
        for counts in [[0, 0, 0, 7, 0], [0, 0, 1, 0, 0]] {
            let pairs = Pairs { counts };
            let (score, elo) = (pairs.score().unwrap(), pairs.elo().unwrap());
            assert!(!score.has_error() && !elo.has_error(), "{score:?} {elo:?}");
            assert_eq!(elo.value, super::super::elo(score.value));
            assert_eq!(serde_json::to_value(elo).unwrap()["error"], serde_json::Value::Null);
            assert_eq!(pairs.superiority(), None);
        }
    }

    #[test]
    fn intervals_of_ten_pairs_hold_the_truth_as_often_as_they_say() {
        let mut random = SplitMix64::new(6);
        let opponents = Opponents::new(0.0, 0.2, 0.2);
        let held = held_in_95_percent(4000, || {
            let points = opponents.pairs(10, &mut random).points();
            [(points.score().unwrap(), 0.5)]
        });
        assert_eq!(held, [true]);
    }

    #[test]
    fn the_opponent_sees_the_opposite() {
        let pairs = Pairs { counts: [3, 8, 20, 12, 7] };
        let (ours, theirs) = (pairs.elo().unwrap(), pairs.reversed().elo().unwrap());
        assert!((ours.value + theirs.value).abs() < 1e-9 && (ours.error - theirs.error).abs() < 1e-9);
        let certain = pairs.superiority().unwrap() + pairs.reversed().superiority().unwrap();
        assert!((certain - 1.0).abs() < 1e-12);
    }

    #[test]
    fn counts_are_the_whole_json() {
        assert_eq!(serde_json::to_string(&Pairs { counts: [1, 2, 3, 4, 5] }).unwrap(), "[1,2,3,4,5]");
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let mut random = SplitMix64::new(4);
        for (elo, draws, advantage) in [(0.0, 0.0, 0.0), (70.0, 0.2, 0.2), (-120.0, 0.1, 0.25)] {
            let opponents = Opponents::new(elo, draws, advantage);
            let held = held_in_95_percent(4000, || {
                let estimate = opponents.pairs(200, &mut random).elo().unwrap();
                [(estimate, elo)]
            });
            assert_eq!(held, [true], "{elo} {draws} {advantage}");
        }
    }

    #[test]
    fn superiority_is_as_often_right_as_it_says() {
        // Of equal players, each value of the likelihood is as likely as each other one.
        let opponents = Opponents::new(0.0, 0.2, 0.2);
        let mut random = SplitMix64::new(5);
        let mut fifths = [0; 5];
        for _ in 0..4000 {
            let superiority = opponents.pairs(400, &mut random).superiority().unwrap();
            fifths[(superiority * 5.0) as usize] += 1;
        }
        // 800 each with four standard deviations.
        assert!(fifths.iter().all(|count| (699..=901).contains(count)), "{fifths:?}");
    }
}
