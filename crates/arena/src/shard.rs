//! Parts of a match that are played by themselves, on other machines or at other times.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::schedule::Schedule;

/// One of several parts of a match. Pairs of games are dealt out in turn, so that parts differ by one pair at
/// most; both games of a pair are in one part.
///
/// ```
/// use plyd_arena::{Format, Schedule, Shard};
///
/// let shard: Shard = "1/3".parse()?;
/// let schedule = Schedule::new(Format::RoundRobin, 2, 5);
/// let numbers: Vec<usize> = (0..schedule.games()).filter(|&number| shard.holds(number)).collect();
/// assert_eq!(numbers, [2, 3, 8, 9]);
/// assert_eq!(shard.games(&schedule), 4);
/// # Ok::<(), plyd_arena::InvalidShard>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    index: usize,
    count: usize,
}

/// A text that names no shard.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no shard: give I/N, the part from 0 to N-1 and the number of parts, such as 0/4")]
pub struct InvalidShard(String);

impl Shard {
    /// The part with this index, of `count` parts; none if there is no such part.
    #[must_use]
    pub fn new(index: usize, count: usize) -> Option<Self> {
        (index < count).then_some(Self { index, count })
    }

    /// The index of the part, from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.index
    }

    /// How many parts there are.
    #[must_use]
    pub fn count(self) -> usize {
        self.count
    }

    /// Whether the game of that number, from 0, is in this part.
    #[must_use]
    pub fn holds(self, number: usize) -> bool {
        number / 2 % self.count == self.index
    }

    /// How many games of a schedule are in this part.
    #[must_use]
    pub fn games(self, schedule: &Schedule) -> usize {
        let pairs = schedule.games() / 2;
        2 * (pairs / self.count + usize::from(self.index < pairs % self.count))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = InvalidShard;

    fn from_str(text: &str) -> Result<Self, InvalidShard> {
        let numbers = text.split_once('/').and_then(|(index, count)| {
            let number =
                |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok());
            Self::new(number(index)??, number(count)??)
        });
        numbers.ok_or_else(|| InvalidShard(text.to_owned()))
    }
}

impl TryFrom<String> for Shard {
    type Error = InvalidShard;

    fn try_from(text: String) -> Result<Self, InvalidShard> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    #[test]
    fn shards_are_the_whole_and_share_no_pair() {
        for (players, rounds, count) in [(2, 5, 1), (2, 5, 3), (2, 5, 7), (4, 3, 4), (3, 1, 3)] {
            let schedule = Schedule::new(Format::RoundRobin, players, rounds);
            let shards: Vec<Shard> = (0..count).map(|index| Shard::new(index, count).unwrap()).collect();
            for number in 0..schedule.games() {
                let holding = shards.iter().filter(|shard| shard.holds(number)).count();
                assert_eq!(holding, 1, "game {number} of {players} players in {count} parts");
                assert!(shards.iter().all(|shard| shard.holds(number) == shard.holds(number ^ 1)));
            }
            let games: Vec<usize> = shards.iter().map(|shard| shard.games(&schedule)).collect();
            assert_eq!(games.iter().sum::<usize>(), schedule.games());
            assert!(games.iter().max().unwrap() - games.iter().min().unwrap() <= 2, "{games:?}");
            for (shard, games) in shards.iter().zip(games) {
                assert_eq!((0..schedule.games()).filter(|&number| shard.holds(number)).count(), games);
            }
        }
    }

    #[test]
    fn a_shard_is_written_as_it_is_read() {
        for text in ["0/1", "0/4", "3/4", "99/1000"] {
            assert_eq!(text.parse::<Shard>().map(|shard| shard.to_string()).as_deref(), Ok(text));
        }
        for text in
            ["", "/", "1", "1/", "/1", "1/1", "4/4", "-1/4", "+1/4", "0/0", "1/2/3", " 0/1", "0x1/4", "a/b"]
        {
            assert_eq!(text.parse::<Shard>(), Err(InvalidShard(text.into())), "{text}");
        }
    }
}
