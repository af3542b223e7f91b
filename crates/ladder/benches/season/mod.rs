//! Seasons of players of known strength, to see whether the ratings find it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use plyd_arena::statistics::expected_score;
use plyd_core::zobrist::SplitMix64;
use plyd_ladder::BotId;
use plyd_ladder::pairing::{Candidate, Matchmaker, Owner};
use plyd_ladder::ratings::glicko::{Glicko2, Rating, Standing};
use plyd_ladder::ratings::table::{Place, Results, table};

/// The anchors' ratings; their strength is the same.
const ANCHORS: [f64; 5] = [900.0, 1200.0, 1500.0, 1800.0, 2100.0];

/// How a season is played.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Season {
    /// How many bots there are beside the anchors.
    pub(crate) bots: usize,
    /// The standard deviation of their strengths around 1500 Elo.
    pub(crate) spread: f64,
    /// In how many rounds those who are ready are paired.
    pub(crate) rounds: usize,
    /// The games between equals that are drawn, from 0 to 1.
    pub(crate) draws: f64,
    /// How much more than the strengths predict the first side scores between equals, on the mean of all
    /// openings.
    pub(crate) advantage: f64,
    /// How much this and the next differ at most from opening to opening.
    pub(crate) openings: f64,
    /// How much more one of two equals scores at most in both games of an opening that suits it.
    pub(crate) taste: f64,
}

/// An interval and the true strength.
pub(crate) type Interval = (RangeInclusive<f64>, f64);

/// The intervals of a season.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SeasonIntervals {
    /// Of the table.
    pub(crate) table: Vec<Interval>,
    /// Those of the table for bots that made all points or none.
    pub(crate) extremes: Vec<Interval>,
    /// Of Glicko-2.
    pub(crate) glicko: Vec<Interval>,
    /// How many pairs of games the bots have played, added up.
    pub(crate) pairs: usize,
}

impl SeasonIntervals {
    /// Adds another season's.
    pub(crate) fn add(&mut self, other: Self) {
        self.table.extend(other.table);
        self.extremes.extend(other.extremes);
        self.glicko.extend(other.glicko);
        self.pairs += other.pairs;
    }
}

/// How many intervals hold the truth.
pub(crate) fn held(intervals: &[Interval]) -> usize {
    intervals.iter().filter(|(interval, truth)| interval.contains(truth)).count()
}

/// The share of intervals that hold the truth.
pub(crate) fn coverage(intervals: &[Interval]) -> f64 {
    held(intervals) as f64 / intervals.len() as f64
}

/// The median of half an interval's width.
pub(crate) fn median_error(intervals: &[Interval]) -> f64 {
    let mut errors: Vec<f64> =
        intervals.iter().map(|(interval, _)| (interval.end() - interval.start()) / 2.0).collect();
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

/// A number from 0 to 1.
fn uniform(random: &mut SplitMix64) -> f64 {
    (random.next() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Normally distributed with a standard deviation of 1 (Box and Muller 1958).
fn normal(random: &mut SplitMix64) -> f64 {
    let radius = (-2.0 * (1.0 - uniform(random)).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(random)).cos()
}

impl Season {
    /// The half points of a bot that is so much stronger, in a pair of games. The mean over all openings is
    /// what the strengths predict, which is what a rating means.
    pub(crate) fn pair(&self, lead: f64, random: &mut SplitMix64) -> usize {
        let expected = expected_score(lead);
        let around = |random: &mut SplitMix64, most: f64| most * (2.0 * uniform(random) - 1.0);
        let opening = self.advantage + around(random, self.openings);
        let taste = around(random, self.taste);
        // Less where there is less room.
        let room = 4.0 * expected * (1.0 - expected);
        [opening + taste, taste - opening]
            .map(|shift| {
                let score = expected + room * shift;
                let draws = self.draws * 2.0 * score.min(1.0 - score);
                let drawn = uniform(random);
                usize::from(drawn < score - draws / 2.0) + usize::from(drawn < score + draws / 2.0)
            })
            .iter()
            .sum()
    }

    /// Plays a season and rates it.
    pub(crate) fn play(&self, seed: u64) -> SeasonIntervals {
        let mut random = SplitMix64::new(seed);
        let mut truth: Vec<f64> = ANCHORS.to_vec();
        truth.extend((0..self.bots).map(|_| 1500.0 + self.spread * normal(&mut random)));
        let mut bots: Vec<Candidate> = (0..truth.len()).map(|bot| self.newcomer(bot)).collect();
        let mut results = Results::default();
        let mut found = SeasonIntervals::default();
        let matchmaker = Matchmaker::default();
        for _ in 0..self.rounds {
            // Some are away, or still play.
            let ready: Vec<Candidate> = bots.iter().copied().filter(|_| random.below(4) > 0).collect();
            bots.iter_mut().for_each(|bot| bot.waited += Duration::from_secs(10));
            let met = |players| results.between(players).pairs.total();
            for encounter in matchmaker.pair(&ready, met, random.next()) {
                let places = encounter.players.map(|player| player.0 as usize);
                let [first, second] = places;
                let half_points = self.pair(truth[first] - truth[second], &mut random);
                results.add_pair(encounter.players, half_points);
                found.pairs += places.iter().filter(|place| **place >= ANCHORS.len()).count();
                // A period is a day; a round in ten minutes.
                let periods = places.map(|place| bots[place].waited.as_secs_f64() / 10.0 / 144.0);
                let standings = places.map(|place| bots[place].standing);
                let after = Glicko2::default().after_pair(standings, periods, half_points);
                for (at, place) in places.into_iter().enumerate() {
                    let with_house = u64::from(places[1 - at] < ANCHORS.len());
                    let bot = &mut bots[place];
                    (bot.standing, bot.waited) = (after[at], Duration::ZERO);
                    bot.encounters += 1;
                    bot.with_house += with_house;
                }
            }
        }
        let anchors: BTreeMap<BotId, f64> = (0..).map(BotId).zip(ANCHORS).collect();
        for row in table(&results, &anchors) {
            let at = row.bot.0 as usize;
            if let Place::Rated(_) = row.place {
                let glicko = bots[at].standing.estimate();
                let (low, high) = (glicko.value - glicko.error, glicko.value + glicko.error);
                found.glicko.push((low..=high, truth[at]));
                found.table.push((row.interval(), truth[at]));
                if row.points == 0.0 || row.points == row.games as f64 {
                    found.extremes.push((row.interval(), truth[at]));
                }
            }
        }
        found
    }

    /// A bot before the season. Every third owner has two.
    fn newcomer(&self, bot: usize) -> Candidate {
        let anchor = ANCHORS.get(bot);
        Candidate {
            bot: BotId(bot as u64),
            owner: anchor.map_or(Owner::Account((bot - bot / 4) as u64), |_| Owner::House),
            standing: anchor.map_or(Standing::Rated(Rating::default()), |elo| Standing::Anchor(*elo)),
            slots: if anchor.is_some() { 4 } else { 1 },
            waited: Duration::ZERO,
            encounters: 0,
            with_house: 0,
        }
    }
}
