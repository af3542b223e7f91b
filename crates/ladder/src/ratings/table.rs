//! Ratings by all games, for the table: the Bradley-Terry model with anchors and 95 % intervals.
//!
//! The arithmetic is [`Fit`]'s: the strengths that make all results likeliest, a draw as half a win, and
//! errors by the pairs of games as they varied. Pairs and not games are the unit, because the two games of an
//! opening depend on each other: the side that an opening favours changes hands, so that a win often comes
//! with a loss, and the same players meet in the same position, so that a win may come with a win. The first
//! makes the information of single games too cautious, the second too sure; the robust (sandwich) estimate
//! around pairs is right in both cases (P. J. Huber 1967; K.-Y. Liang and S. L. Zeger, "Longitudinal data
//! analysis using generalized linear models" 1986).
//!
//! A bot that won or lost everything has a rating by the prior ([`Prior::Jeffreys`]), and an
//! [interval](Row::interval) without a bound on that side.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use plyd_arena::statistics::ratings::{Assumptions, Fit, Prior};
use plyd_arena::statistics::{Estimate, Pairing};

use crate::BotId;

/// The results of all games that count.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// By the two bots, the smaller one first, whose view the results are.
    met: BTreeMap<[BotId; 2], Pairing>,
}

impl Results {
    /// Adds a pair of games of one opening with sides swapped, in which the first bot made so many half
    /// points.
    ///
    /// # Panics
    /// If they are more than 4, or both bots are the same.
    pub fn add_pair(&mut self, players: [BotId; 2], half_points: usize) {
        let (pairing, swapped) = self.pairing(players);
        pairing.pairs.add(if swapped { 4 - half_points } else { half_points });
    }

    /// Adds a game whose partner does not count, such as one that was voided.
    ///
    /// # Panics
    /// If the half points are more than 2, or both bots are the same.
    pub fn add_single(&mut self, players: [BotId; 2], half_points: usize) {
        let (pairing, swapped) = self.pairing(players);
        pairing.singles.add(if swapped { 2 - half_points } else { half_points });
    }

    /// The results between two bots, from the first one's view.
    #[must_use]
    pub fn between(&self, players: [BotId; 2]) -> Pairing {
        let [first, second] = players;
        let pairing = |key| self.met.get(&key).copied().unwrap_or_else(|| Pairing::new([0, 1]));
        if second < first { pairing([second, first]).reversed() } else { pairing(players) }
    }

    /// The results of two bots, and whether these have changed places in it.
    fn pairing(&mut self, [first, second]: [BotId; 2]) -> (&mut Pairing, bool) {
        assert_ne!(first, second, "a bot does not play itself");
        let swapped = second < first;
        let key = if swapped { [second, first] } else { [first, second] };
        (self.met.entry(key).or_insert_with(|| Pairing::new([0, 1])), swapped)
    }
}

/// A bot's row of the table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Row {
    /// The bot.
    pub bot: BotId,
    /// How many games it played.
    pub games: u64,
    /// The points that it made in them.
    pub points: f64,
    /// Its rating.
    pub place: Place,
}

/// How many games a bot plays before it has a rank: two pairs. Before, its rating is the prior's more than
/// its own.
pub const RANKED_GAMES: u64 = 4;

impl Row {
    /// Whether its rating says enough for a rank: it is an anchor's, or comes of some games that were not all
    /// lost. A bot that lost everything would stand by the prior alone, above bots that won some.
    #[must_use]
    pub fn is_ranked(&self) -> bool {
        matches!(self.place, Place::Anchor(_)) || self.games >= RANKED_GAMES && self.points > 0.0
    }

    /// The 95 % interval of its strength, where [`Place`] has it; an anchor's is a point. A bot that won
    /// everything may be stronger by any distance, and one that lost everything weaker: on that side there is
    /// no bound.
    #[must_use]
    pub fn interval(&self) -> RangeInclusive<f64> {
        let Estimate { value, error } = match self.place {
            Place::Anchor(elo) => return elo..=elo,
            Place::Rated(estimate) | Place::Apart { from_mean: estimate, .. } => estimate,
        };
        let low = if self.points > 0.0 { value - error } else { f64::NEG_INFINITY };
        let high = if self.points < self.games as f64 { value + error } else { f64::INFINITY };
        low..=high
    }
}

/// Where a bot stands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Place {
    /// It is an anchor of this rating.
    Anchor(f64),
    /// Its rating: games connect it with an anchor, directly or through others.
    Rated(Estimate),
    /// No games connect it with an anchor, so that nothing is known of its distance from them, nor from
    /// other groups.
    Apart {
        /// The group of bots that games connect, counted from 0.
        group: usize,
        /// The distance from the group's mean.
        from_mean: Estimate,
    },
}

impl Place {
    /// What rows are sorted by: the group, that of the anchors first, and the strength in it.
    fn order(&self) -> (Option<usize>, f64) {
        match self {
            Self::Anchor(elo) => (None, *elo),
            Self::Rated(elo) => (None, elo.value),
            Self::Apart { group, from_mean } => (Some(*group), from_mean.value),
        }
    }
}

/// The table of all bots that played and of all anchors, which are given with their Elo: the strongest
/// first, and groups without an anchor behind the others, the largest one first. Within each, those
/// [without a rank](Row::is_ranked) are the last.
///
/// The time grows with the cube of the bots, and with their product with the pairings that were played; how
/// many games there are makes no difference.
#[must_use]
pub fn table(results: &Results, anchors: &BTreeMap<BotId, f64>) -> Vec<Row> {
    let mut rows: BTreeMap<BotId, (u64, f64)> = anchors.keys().map(|bot| (*bot, (0, 0.0))).collect();
    for (&[first, second], pairing) in &results.met {
        for (bot, pairing) in [(first, *pairing), (second, pairing.reversed())] {
            let (points, row) = (pairing.points(), rows.entry(bot).or_default());
            row.0 += points.games;
            row.1 += points.made;
        }
    }
    let bots: Vec<BotId> = rows.keys().copied().collect();
    let places = places(&bots, results, anchors);
    let row = |((bot, (games, points)), place)| Row { bot, games, points, place };
    let mut rows: Vec<Row> = rows.into_iter().zip(places).map(row).collect();
    rows.sort_by(|a, b| {
        let ((group, elo), (other_group, other)) = (a.place.order(), b.place.order());
        group.cmp(&other_group).then(b.is_ranked().cmp(&a.is_ranked())).then(other.total_cmp(&elo))
    });
    rows
}

/// The place of each bot, which are in order.
fn places(bots: &[BotId], results: &Results, anchors: &BTreeMap<BotId, f64>) -> Vec<Place> {
    let number = |bot: &BotId| bots.binary_search(bot).expect("every bot has a row");
    let pairings: Vec<Pairing> = results
        .met
        .iter()
        .map(|([first, second], met)| Pairing { players: [number(first), number(second)], ..*met })
        .collect();
    let anchored: BTreeMap<usize, f64> = anchors.iter().map(|(bot, elo)| (number(bot), *elo)).collect();
    let mut groups = connected(bots.len(), &pairings);
    // What stands at anchors is one group: their distance is known without games.
    let (with, mut apart): (Vec<_>, Vec<_>) =
        groups.drain(..).partition(|group| group.iter().any(|bot| anchored.contains_key(bot)));
    apart.sort_by_key(|group| (Reverse(group.len()), group[0]));
    let mut places = vec![Place::Anchor(0.0); bots.len()];
    let with = with.concat();
    let fit = fit(&with, &pairings, &anchored);
    for (at, &bot) in with.iter().enumerate() {
        places[bot] = anchored.get(&bot).map_or_else(|| Place::Rated(fit.elo(at)), |elo| Place::Anchor(*elo));
    }
    for (group, members) in apart.iter().enumerate() {
        let fit = self::fit(members, &pairings, &anchored);
        for (at, &bot) in members.iter().enumerate() {
            places[bot] = Place::Apart { group, from_mean: fit.elo(at) };
        }
    }
    places
}

/// Fits the strengths of some bots, whom no games connect with others, by their place among them.
fn fit(members: &[usize], pairings: &[Pairing], anchored: &BTreeMap<usize, f64>) -> Fit {
    let place: BTreeMap<usize, usize> = members.iter().enumerate().map(|(at, bot)| (*bot, at)).collect();
    let within = |pairing: &Pairing| {
        let [first, second] = pairing.players;
        Some(Pairing { players: [*place.get(&first)?, *place.get(&second)?], ..*pairing })
    };
    let pairings: Vec<Pairing> = pairings.iter().filter_map(within).collect();
    let fixed = anchored.iter().filter_map(|(bot, elo)| Some((*place.get(bot)?, *elo))).collect();
    Fit::new(members.len(), &pairings, &Assumptions { fixed, prior: Prior::Jeffreys })
}

/// The players in groups that games connect, whoever won them; each in order.
fn connected(players: usize, pairings: &[Pairing]) -> Vec<Vec<usize>> {
    // Each player points to a smaller one of its group, the smallest to itself.
    let mut smaller: Vec<usize> = (0..players).collect();
    let smallest = |smaller: &[usize], mut player: usize| {
        while smaller[player] != player {
            player = smaller[player];
        }
        player
    };
    for pairing in pairings {
        let ends = pairing.players.map(|player| smallest(&smaller, player));
        let least = ends[0].min(ends[1]);
        pairing.players.into_iter().chain(ends).for_each(|player| smaller[player] = least);
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    (0..players).for_each(|player| groups.entry(smallest(&smaller, player)).or_default().push(player));
    groups.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_arena::statistics::Z_95;
    use proptest::prelude::*;
    use std::f64::consts::LN_10;

    const HOUSE: BotId = BotId(100);

    fn results(met: &[([u64; 2], [u64; 5])]) -> Results {
        let mut results = Results::default();
        for (players, counts) in met {
            for (half_points, count) in counts.iter().enumerate() {
                (0..*count).for_each(|_| results.add_pair(players.map(BotId), half_points));
            }
        }
        results
    }

    fn rated(rows: &[Row], bot: u64) -> Estimate {
        match rows.iter().find(|row| row.bot == BotId(bot)).unwrap().place {
            Place::Rated(elo) => elo,
            place => panic!("{bot}: {place:?}"),
        }
    }

    #[test]
    fn a_bot_that_met_one_anchor_is_rated_by_its_score() {
        // 12 of 20 points, and half of the prior's: 12.5 of 21.
        let results = results(&[([1, 100], [1, 2, 2, 2, 3])]);
        let rows = table(&results, &BTreeMap::from([(HOUSE, 1500.0)]));
        assert_eq!(rows[1], Row { bot: HOUSE, games: 20, points: 8.0, place: Place::Anchor(1500.0) });
        assert_eq!((rows[0].bot, rows[0].games, rows[0].points), (BotId(1), 20, 12.0));
        let elo = rated(&rows, 1);
        let score: f64 = 12.5 / 21.0;
        assert!((elo.value - 1500.0 - 400.0 * (score / (1.0 - score)).log10()).abs() < 1e-6, "{elo:?}");
        // The squares of the pairs around 2 s, what each of the ten pairs drew to itself (its information of
        // the whole, 2 of 21 games, times its variance), and the prior's half win and half loss around s.
        let game = score * (1.0 - score);
        let counts = [(1.0, 0.0), (2.0, 0.5), (2.0, 1.0), (2.0, 1.5), (3.0, 2.0)];
        let pairs: f64 = counts.iter().map(|(count, points)| count * (points - 2.0 * score).powi(2)).sum();
        let drawn = 10.0 * (2.0 / 21.0) * 2.0 * game;
        let prior = (score.powi(2) + (1.0 - score).powi(2)) / 2.0;
        let error = 400.0 / LN_10 * Z_95 * (pairs + drawn + prior).sqrt() / (21.0 * game);
        assert!((elo.error - error).abs() < 1e-6, "{elo:?}, not {error}");
    }

    #[test]
    fn pairs_whose_games_depend_on_each_other_have_other_errors_than_single_games() {
        let error = |counts| {
            let rows = table(&results(&[([1, 100], counts)]), &BTreeMap::from([(HOUSE, 0.0)]));
            rated(&rows, 1).error
        };
        // 40 games each, half of them won.
        let [opposed, independent, alike] =
            [[0, 0, 20, 0, 0], [5, 0, 10, 0, 5], [10, 0, 0, 0, 10]].map(error);
        // With openings that decide all games, only what corrects for few pairs is left to chance.
        assert!(opposed < 0.3 * independent, "{opposed} {independent}");
        assert!((alike / independent - 2_f64.sqrt()).abs() < 0.05, "{alike} {independent}");
    }

    #[test]
    fn who_won_or_lost_all_has_a_wide_interval_on_the_right_side() {
        let anchors = BTreeMap::from([(HOUSE, 1500.0)]);
        for pairs in [1, 5, 20, 200] {
            let results = results(&[([1, 100], [0, 0, 0, 0, pairs]), ([2, 100], [pairs, 0, 0, 0, 0])]);
            let rows = table(&results, &anchors);
            let (won, lost) = (rated(&rows, 1), rated(&rows, 2));
            // Odds of 2 n + 1/2 to 1/2 in 2 n games.
            let odds = (4.0 * pairs as f64 + 1.0).log10();
            assert!((won.value - 1500.0 - 400.0 * odds).abs() < 1e-6, "{pairs}: {won:?}");
            assert!((won.value + lost.value - 3000.0).abs() < 1e-6, "{won:?} {lost:?}");
            let [first, last] =
                [1, 2].map(|bot| rows.iter().find(|row| row.bot == BotId(bot)).unwrap().interval());
            assert_eq!((*first.end(), *last.start()), (f64::INFINITY, f64::NEG_INFINITY));
            assert!((first.start() + last.end() - 3000.0).abs() < 1e-6, "{first:?} {last:?}");
            // The least strength that wins so many independent games in 2.5 % of cases, and so many pairs
            // whose games are as one (Clopper and Pearson 1934): the interval begins between the two.
            let [games, pairs] = [2.0, 1.0].map(|games| {
                let share = 0.025_f64.powf(1.0 / (games * pairs as f64));
                1500.0 + 400.0 * (share / (1.0 - share)).log10()
            });
            // For long runs somewhat below: the errors are normal, and the odds are not.
            let low = *first.start();
            assert!((pairs - 60.0..games).contains(&low), "{pairs} {games} {first:?}");
        }
        assert_eq!(table(&Results::default(), &anchors)[0].interval(), 1500.0..=1500.0);
    }

    #[test]
    fn who_has_shown_nothing_stands_behind_the_others() {
        // The first lost a pair, the third nineteen and a half of twenty, the second won one of two games.
        let met = [([1, 100], [1, 0, 0, 0, 0]), ([3, 100], [19, 1, 0, 0, 0]), ([2, 100], [0, 0, 1, 0, 0])];
        let rows = table(&results(&met), &BTreeMap::from([(HOUSE, 1500.0)]));
        assert!(rated(&rows, 1).value > rated(&rows, 3).value, "by the prior alone it would stand above");
        let order: Vec<(u64, bool)> = rows.iter().map(|row| (row.bot.0, row.is_ranked())).collect();
        assert_eq!(order, [(100, true), (3, true), (2, false), (1, false)]);
    }

    #[test]
    fn groups_that_no_games_connect_are_told() {
        let rounds = [2, 2, 2, 2, 2];
        let mut results = results(&[
            ([1, 100], rounds),
            ([2, 1], [0, 0, 0, 0, 3]),
            ([10, 11], [0, 1, 2, 3, 4]),
            ([12, 11], [0, 0, 5, 0, 0]),
            ([20, 21], [4, 0, 0, 0, 0]),
        ]);
        results.add_single([BotId(30), HOUSE], 1);
        let anchors = BTreeMap::from([(HOUSE, 1500.0), (BotId(101), 2500.0), (BotId(102), 1000.0)]);
        let rows = table(&results, &anchors);
        let order: Vec<(u64, Option<usize>)> =
            rows.iter().map(|row| (row.bot.0, row.place.order().0)).collect();
        // Bot 1 made half of its points against the anchor.
        let mut middle = [order[2], order[3]];
        middle.sort_unstable();
        assert_eq!(middle, [(1, None), (100, None)]);
        // Bot 30 played a single game.
        assert_eq!(
            [order[0], order[1], order[4], order[5]],
            [(101, None), (2, None), (102, None), (30, None)]
        );
        let apart = [(10, Some(0)), (11, Some(0)), (12, Some(0)), (21, Some(1)), (20, Some(1))];
        let mut found = order[6..].to_vec();
        found[1..3].sort_unstable();
        assert_eq!(found, apart);
        assert_eq!(rows[0].games, 0, "an anchor that played nothing");
        // Each group is around its own mean, and the same as without the others.
        let sum: f64 = rows[6..9].iter().map(|row| row.place.order().1).sum();
        assert!(sum.abs() < 1e-9, "{sum}");
        let alone = table(&results, &BTreeMap::new());
        assert!(alone.iter().all(|row| matches!(row.place, Place::Apart { .. })), "{alone:?}");
        assert_eq!(table(&Results::default(), &BTreeMap::new()), []);
        assert_eq!(table(&Results::default(), &anchors).len(), 3);
    }

    #[test]
    fn results_are_the_same_from_both_views() {
        let mut results = Results::default();
        results.add_pair([BotId(1), BotId(2)], 3);
        results.add_pair([BotId(2), BotId(1)], 0);
        results.add_single([BotId(2), BotId(1)], 2);
        let pairing = results.between([BotId(1), BotId(2)]);
        assert_eq!((pairing.pairs.counts, pairing.singles.counts), ([0, 0, 0, 1, 1], [1, 0, 0]));
        assert_eq!(results.between([BotId(2), BotId(1)]).pairs.counts, [1, 1, 0, 0, 0]);
        assert_eq!(results.between([BotId(2), BotId(3)]).points().games, 0);
    }

    #[test]
    fn ratings_and_errors_are_those_of_another_program() {
        // Computed by a program that knows none of this code's formulas for the strengths: it maximises the
        // logarithm of the likelihood and half that of the information's determinant, by differences.
        let results = results(&[
            ([1, 100], [2, 1, 3, 2, 2]),
            ([1, 2], [0, 1, 2, 3, 1]),
            ([2, 101], [3, 2, 2, 1, 0]),
            ([3, 1], [0, 0, 0, 0, 3]),
            ([3, 2], [0, 0, 0, 0, 2]),
        ]);
        let rows = table(&results, &BTreeMap::from([(HOUSE, 1500.0), (BotId(101), 1700.0)]));
        for (bot, elo, error) in
            [(1, 1547.0974, 129.6880), (2, 1494.7533, 138.6504), (3, 2053.9875, 551.9426)]
        {
            let found = rated(&rows, bot);
            assert!(
                (found.value - elo).abs() < 0.01 && (found.error - error).abs() < 0.01,
                "{bot}: {found:?}"
            );
        }
    }

    proptest! {
        /// Whatever the results, ratings are finite, and rest on distances alone.
        #[test]
        fn ratings_are_sound(
            met in proptest::collection::vec((0_u64..8, 0_u64..8, 0_usize..5, 1_u64..9), 1..40),
            origin in -5000.0..5000.0,
        ) {
            let mut results = Results::default();
            let mut renamed = Results::default();
            for (first, second, half_points, count) in met {
                if first != second {
                    for _ in 0..count {
                        results.add_pair([BotId(first), BotId(second)], half_points);
                        renamed.add_pair([BotId(100 - first), BotId(100 - second)], half_points);
                    }
                }
            }
            let rows = table(&results, &BTreeMap::from([(BotId(0), 1500.0), (BotId(1), 1700.0)]));
            let anchors = BTreeMap::from([(BotId(100), origin), (BotId(99), origin + 200.0)]);
            let others = table(&renamed, &anchors);
            prop_assert_eq!(rows.len(), others.len());
            for row in rows {
                let other = others.iter().find(|other| other.bot == BotId(100 - row.bot.0)).unwrap();
                prop_assert_eq!((row.games, row.points), (other.games, other.points));
                let (one, other) = match (row.place, other.place) {
                    (Place::Anchor(one), Place::Anchor(other)) => {
                        prop_assert!((other - one - (origin - 1500.0)).abs() < 1e-6);
                        continue;
                    }
                    (Place::Rated(one), Place::Rated(mut other)) => {
                        other.value -= origin - 1500.0;
                        (one, other)
                    }
                    // Groups of one size may change places.
                    (Place::Apart { from_mean: one, .. }, Place::Apart { from_mean: other, .. }) => (one, other),
                    places => panic!("{places:?}"),
                };
                // A rating is found to 0.002 Elo.
                prop_assert!((one.value - other.value).abs() < 0.1, "{:?} {:?}", one, other);
                prop_assert!((one.error - other.error).abs() < 0.1 + 1e-3 * one.error, "{:?} {:?}", one, other);
                prop_assert!(one.value.abs() < 20_000.0 && one.error > 0.0 && one.error < 20_000.0, "{:?}", one);
            }
        }
    }
}
