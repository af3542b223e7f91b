//! Who plays whom, with which opening, and in which order.

use serde::{Deserialize, Serialize};

/// Who meets whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Each player meets each other one.
    #[default]
    RoundRobin,
    /// The first player meets each other one.
    Gauntlet,
    /// Each player meets the next one.
    Ladder,
}

/// The games of a match, counted from 0. In each round every pairing plays one opening twice, with sides
/// swapped, so that a match that ends early has given all pairings the same openings.
///
/// ```
/// use plyd_arena::{Format, Schedule};
///
/// let schedule = Schedule::new(Format::Gauntlet, 3, 10);
/// assert_eq!(schedule.pairings(), [[0, 1], [0, 2]]);
/// assert_eq!(schedule.games(), 40);
/// // The second game of a pair is the first with sides swapped.
/// let players = [0, 1].map(|number| schedule.game(number).map(|game| game.players));
/// assert_eq!(players, [Some([0, 1]), Some([1, 0])]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    format: Format,
    pairings: Vec<[usize; 2]>,
    rounds: usize,
}

/// A game of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScheduledGame {
    /// The game's number in the match, from 0; 2n and 2n + 1 are a pair.
    pub number: usize,
    /// The round, which is also the index of its opening.
    pub round: usize,
    /// The index of the pairing.
    pub pairing: usize,
    /// Who plays: the indexes of p1 and p2.
    pub players: [usize; 2],
}

impl Format {
    /// How many pairings there are between `players`, without making them; none if there are too many to
    /// count.
    ///
    /// ```
    /// use plyd_arena::Format;
    ///
    /// let counts = [Format::RoundRobin, Format::Gauntlet, Format::Ladder].map(|format| format.pairings(4));
    /// assert_eq!(counts, [Some(6), Some(3), Some(3)]);
    /// ```
    #[must_use]
    pub fn pairings(self, players: usize) -> Option<usize> {
        let others = players.saturating_sub(1);
        match self {
            Self::RoundRobin => players.checked_mul(others).map(|twice| twice / 2),
            Self::Gauntlet | Self::Ladder => Some(others),
        }
    }
}

impl Schedule {
    /// A schedule for this number of players; each round is a pair of games for each pairing.
    #[must_use]
    pub fn new(format: Format, players: usize, rounds: usize) -> Self {
        let meets = |[first, second]: &[usize; 2]| match format {
            Format::RoundRobin => true,
            Format::Gauntlet => *first == 0,
            Format::Ladder => second - first == 1,
        };
        let all = (0..players).flat_map(|first| (first + 1..players).map(move |second| [first, second]));
        Self { format, pairings: all.filter(meets).collect(), rounds }
    }

    /// Who meets whom, as it was asked for.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Who meets: indexes of players, the smaller one first.
    #[must_use]
    pub fn pairings(&self) -> &[[usize; 2]] {
        &self.pairings
    }

    /// How many openings there are.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// How many games there are.
    #[must_use]
    pub fn games(&self) -> usize {
        2 * self.rounds * self.pairings.len()
    }

    /// The game with this number; none if the schedule ends before.
    #[must_use]
    pub fn game(&self, number: usize) -> Option<ScheduledGame> {
        if number >= self.games() {
            return None;
        }
        let (pair, swapped) = (number / 2, number % 2 == 1);
        let (round, pairing) = (pair / self.pairings.len(), pair % self.pairings.len());
        let [first, second] = self.pairings[pairing];
        let players = if swapped { [second, first] } else { [first, second] };
        Some(ScheduledGame { number, round, pairing, players })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn all_who_should_meet_do_so_equally_often_and_on_both_sides() {
        for (format, players, rounds, pairings) in [
            (Format::RoundRobin, 2, 3, 1),
            (Format::RoundRobin, 5, 2, 10),
            (Format::Gauntlet, 2, 1, 1),
            (Format::Gauntlet, 5, 4, 4),
            (Format::Ladder, 2, 3, 1),
            (Format::Ladder, 5, 4, 4),
        ] {
            let schedule = Schedule::new(format, players, rounds);
            assert_eq!(format.pairings(players), Some(schedule.pairings().len()));
            assert_eq!((schedule.pairings().len(), schedule.games()), (pairings, 2 * rounds * pairings));
            let mut games_of = BTreeMap::new();
            for number in 0..schedule.games() {
                let scheduled = schedule.game(number).unwrap();
                *games_of.entry(scheduled.players).or_insert(0) += 1;
                let pair = schedule.game(number ^ 1).unwrap();
                assert_eq!((pair.round, pair.pairing), (scheduled.round, scheduled.pairing));
                assert_eq!(pair.players, [scheduled.players[1], scheduled.players[0]]);
            }
            assert_eq!(games_of.len(), 2 * pairings);
            assert!(games_of.values().all(|games| *games == rounds));
            let meets = |[a, b]: &[usize; 2]| match format {
                Format::RoundRobin => true,
                Format::Gauntlet => a.min(b) == &0,
                Format::Ladder => a.abs_diff(*b) == 1,
            };
            assert!(games_of.keys().all(meets), "{format:?}: {games_of:?}");
            assert_eq!(schedule.game(schedule.games()), None);
        }
    }

    #[test]
    fn a_round_ends_before_the_next_begins() {
        let schedule = Schedule::new(Format::RoundRobin, 3, 4);
        let rounds: Vec<usize> = (0..24).map(|number| schedule.game(number).unwrap().round).collect();
        assert!(rounds.is_sorted() && rounds.chunks(6).all(|round| round[0] == round[5]), "{rounds:?}");
    }
}
