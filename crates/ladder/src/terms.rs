//! On what terms the games of a pool are played.
//!
//! They are fixed as long as the pool exists: a rating means strength on these terms.

use std::time::Duration;

use plyd_arena::{Strictness, TimeControl};
use plyd_protocol::Settings;
use serde::{Deserialize, Serialize};

/// The terms of a pool.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PoolTerms {
    /// The game.
    pub game: String,
    /// Its rules as they were given: those that are not named have their defaults.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub rules: Settings,
    /// Both bots' clock.
    pub clock: PoolClock,
    /// How many random moves begin each game.
    pub opening_plies: usize,
    /// How strict the referee is.
    pub strictness: Strictness,
    /// The time that the way through the network is granted.
    #[serde(default = "most_network_time")]
    pub network: NetworkTime,
    /// A rating period, by which ratings grow uncertain without games, in milliseconds.
    #[serde(default = "week_ms")]
    pub period_ms: u64,
}

/// A clock of a pool, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PoolClock {
    /// A fixed time for each move.
    PerMove {
        /// The time.
        ms: u64,
    },
    /// A time for the game that grows with each move.
    Increment {
        /// The time at the start, and of each further period.
        base_ms: u64,
        /// What is added after each move.
        inc_ms: u64,
        /// The moves of a period; none: the base is for the whole game.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        moves: Option<u32>,
    },
    /// A time for the game that starts to run a delay after the opponent's move.
    Delay {
        /// The time at the start.
        base_ms: u64,
        /// The free time of each move.
        delay_ms: u64,
    },
    /// A time for each turn and a reserve for the game.
    Bank {
        /// The time of each turn.
        turn_ms: u64,
        /// The reserve at the start.
        bank_ms: u64,
    },
}

/// How much of the time that a bot's answers take is put down to the network: the least round trip that was
/// measured, but no more than this. A bot can delay its answers to pings, so that both are bounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NetworkTime {
    /// The most for a move, in milliseconds.
    pub move_ms: u64,
    /// The most for all moves of a bot in one game, in milliseconds.
    pub game_ms: u64,
}

impl NetworkTime {
    /// The most that is granted unless more is asked for: a tenth of a second a move, as between continents,
    /// and 5 s a game.
    pub const MOST: Self = Self { move_ms: 100, game_ms: 5000 };

    /// What goes with a clock: a tenth of the time of a move, and a twentieth of that of a game, but never
    /// more than [`MOST`](Self::MOST). A game is taken for 40 moves.
    ///
    /// ```
    /// use plyd_ladder::terms::{NetworkTime, PoolClock};
    ///
    /// assert_eq!(NetworkTime::of(PoolClock::PerMove { ms: 50 }), NetworkTime { move_ms: 5, game_ms: 100 });
    /// ```
    #[must_use]
    pub fn of(clock: PoolClock) -> Self {
        let move_ms = match clock {
            PoolClock::PerMove { ms } => ms,
            PoolClock::Increment { base_ms, inc_ms, moves } => {
                (base_ms / moves.map_or(MOVES, u64::from).max(1)).saturating_add(inc_ms)
            }
            PoolClock::Delay { base_ms, delay_ms } => (base_ms / MOVES).saturating_add(delay_ms),
            PoolClock::Bank { turn_ms, bank_ms } => (bank_ms / MOVES).saturating_add(turn_ms),
        };
        Self {
            move_ms: (move_ms / 10).min(Self::MOST.move_ms),
            game_ms: (move_ms.saturating_mul(MOVES) / 20).min(Self::MOST.game_ms),
        }
    }
}

/// How many moves a player makes in a game, about.
const MOVES: u64 = 40;

impl PoolTerms {
    /// The game with its own rules, on the usual terms.
    #[must_use]
    pub fn new(game: impl Into<String>, clock: PoolClock) -> Self {
        Self {
            game: game.into(),
            rules: Settings::new(),
            clock,
            opening_plies: 4,
            strictness: Strictness::default(),
            network: NetworkTime::of(clock),
            period_ms: week_ms(),
        }
    }
}

impl PoolClock {
    /// The same clock for the referee.
    #[must_use]
    pub fn control(self) -> TimeControl {
        let ms = Duration::from_millis;
        match self {
            Self::PerMove { ms: time } => TimeControl::PerMove(ms(time)),
            Self::Increment { base_ms, inc_ms, moves } => {
                TimeControl::Increment { base: ms(base_ms), increment: ms(inc_ms), moves }
            }
            Self::Delay { base_ms, delay_ms } => {
                TimeControl::Delay { base: ms(base_ms), delay: ms(delay_ms) }
            }
            Self::Bank { turn_ms, bank_ms } => TimeControl::Bank { turn: ms(turn_ms), bank: ms(bank_ms) },
        }
    }

    /// The clock of a referee, of which whole milliseconds count; none if no time is counted.
    #[must_use]
    pub fn of(control: TimeControl) -> Option<Self> {
        let ms = whole_ms;
        Some(match control {
            TimeControl::Unlimited => return None,
            TimeControl::PerMove(time) => Self::PerMove { ms: ms(time) },
            TimeControl::Increment { base, increment, moves } => {
                Self::Increment { base_ms: ms(base), inc_ms: ms(increment), moves }
            }
            TimeControl::Delay { base, delay } => Self::Delay { base_ms: ms(base), delay_ms: ms(delay) },
            TimeControl::Bank { turn, bank } => Self::Bank { turn_ms: ms(turn), bank_ms: ms(bank) },
        })
    }
}

/// The whole milliseconds of a time, as terms and messages have them; the largest number if it is longer.
///
/// ```
/// use std::time::Duration;
///
/// use plyd_ladder::terms::whole_ms;
///
/// assert_eq!(whole_ms(Duration::from_micros(1999)), 1);
/// assert_eq!(whole_ms(Duration::MAX), u64::MAX);
/// ```
#[must_use]
pub fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What pools were granted whose terms do not name it.
fn most_network_time() -> NetworkTime {
    NetworkTime::MOST
}

fn week_ms() -> u64 {
    7 * 24 * 3600 * 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_read_as_they_were_written_and_are_the_referees() {
        for (clock, json) in [
            (PoolClock::PerMove { ms: 50 }, r#"{"kind":"per_move","ms":50}"#),
            (
                PoolClock::Increment { base_ms: 10_000, inc_ms: 100, moves: None },
                r#"{"kind":"increment","base_ms":10000,"inc_ms":100}"#,
            ),
            (
                PoolClock::Increment { base_ms: 60_000, inc_ms: 0, moves: Some(40) },
                r#"{"kind":"increment","base_ms":60000,"inc_ms":0,"moves":40}"#,
            ),
            (
                PoolClock::Delay { base_ms: 10_000, delay_ms: 1000 },
                r#"{"kind":"delay","base_ms":10000,"delay_ms":1000}"#,
            ),
            (
                PoolClock::Bank { turn_ms: 1000, bank_ms: 30_000 },
                r#"{"kind":"bank","turn_ms":1000,"bank_ms":30000}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&clock).unwrap(), json);
            assert_eq!(serde_json::from_str::<PoolClock>(json).unwrap(), clock);
            assert_eq!(PoolClock::of(clock.control()), Some(clock));
        }
        assert_eq!(PoolClock::of(TimeControl::Unlimited), None);
    }

    #[test]
    fn the_network_is_granted_a_part_of_the_clock() {
        let increment = |base_ms, inc_ms, moves| PoolClock::Increment { base_ms, inc_ms, moves };
        let most = u64::MAX;
        for (clock, move_ms, game_ms) in [
            (PoolClock::PerMove { ms: 0 }, 0, 0),
            (PoolClock::PerMove { ms: 9 }, 0, 18),
            (PoolClock::PerMove { ms: 100 }, 10, 200),
            (PoolClock::PerMove { ms: 1000 }, 100, 2000),
            (PoolClock::PerMove { ms: 60_000 }, 100, 5000),
            (increment(10_000, 100, None), 35, 700),
            (increment(60_000, 0, Some(10)), 100, 5000),
            (increment(1000, 0, Some(0)), 100, 2000),
            (increment(most, most, None), 100, 5000),
            (PoolClock::Delay { base_ms: 4000, delay_ms: 20 }, 12, 240),
            (PoolClock::Delay { base_ms: most, delay_ms: most }, 100, 5000),
            (PoolClock::Bank { turn_ms: 50, bank_ms: 2000 }, 10, 200),
            (PoolClock::Bank { turn_ms: most, bank_ms: most }, 100, 5000),
        ] {
            assert_eq!(NetworkTime::of(clock), NetworkTime { move_ms, game_ms }, "{clock:?}");
        }
    }

    #[test]
    fn terms_that_name_little_are_the_usual_ones() {
        let usual = PoolTerms::new("l-game", PoolClock::PerMove { ms: 5000 });
        let mut json = serde_json::to_value(&usual).unwrap();
        assert_eq!(serde_json::from_value::<PoolTerms>(json.clone()).unwrap(), usual);
        for name in ["network", "period_ms"] {
            assert!(json.as_object_mut().unwrap().remove(name).is_some(), "{name}");
        }
        assert_eq!(serde_json::from_value::<PoolTerms>(json).unwrap(), usual);
    }
}
