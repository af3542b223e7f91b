//! The referee's clocks: how much time a player has for a move, what a `go` says about it, and when the flag
//! falls.
//!
//! Reads no time itself: the referee says how long each answer took.

use std::time::Duration;

use plyd_protocol::Clock;
use serde::{Deserialize, Serialize};

use super::micros;

/// The time that a player has, for each move or for the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeControl {
    /// None: only limits end its searches.
    #[default]
    Unlimited,
    /// A fixed time for each move.
    #[serde(with = "micros")]
    PerMove(Duration),
    /// A time for the game that grows with each move. With `moves`, the base is added again after each such
    /// number of moves.
    Increment {
        /// The time at the start, and of each further period.
        #[serde(rename = "base_us", with = "micros")]
        base: Duration,
        /// What is added after each move.
        #[serde(rename = "increment_us", with = "micros")]
        increment: Duration,
        /// The moves of a period; none: the base is for the whole game.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        moves: Option<u32>,
    },
    /// A time for the game that starts to run a delay after the opponent's move; what is left of the delay is
    /// lost.
    Delay {
        /// The time at the start.
        #[serde(rename = "base_us", with = "micros")]
        base: Duration,
        /// The free time of each move.
        #[serde(rename = "delay_us", with = "micros")]
        delay: Duration,
    },
    /// A time for each turn and a reserve for the game; what is left of a turn is lost.
    Bank {
        /// The time of each turn.
        #[serde(rename = "turn_us", with = "micros")]
        turn: Duration,
        /// The reserve at the start.
        #[serde(rename = "bank_us", with = "micros")]
        bank: Duration,
    },
}

impl TimeControl {
    /// The same control with each of its times multiplied by `thousandths` / 1000, in whole microseconds.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use plyd_arena::TimeControl;
    ///
    /// let slower = TimeControl::PerMove(Duration::from_millis(100)).scaled(1500);
    /// assert_eq!(slower, TimeControl::PerMove(Duration::from_millis(150)));
    /// ```
    #[must_use]
    pub fn scaled(self, thousandths: u32) -> Self {
        let scaled = |time: Duration| {
            let us = time.as_micros().saturating_mul(thousandths.into()) / 1000;
            Duration::from_micros(u64::try_from(us).unwrap_or(u64::MAX))
        };
        match self {
            Self::Unlimited => Self::Unlimited,
            Self::PerMove(time) => Self::PerMove(scaled(time)),
            Self::Increment { base, increment, moves } => {
                Self::Increment { base: scaled(base), increment: scaled(increment), moves }
            }
            Self::Delay { base, delay } => Self::Delay { base: scaled(base), delay: scaled(delay) },
            Self::Bank { turn, bank } => Self::Bank { turn: scaled(turn), bank: scaled(bank) },
        }
    }
}

/// A player's clock in one game.
///
/// ```
/// use std::time::Duration;
///
/// use plyd_arena::{GameClock, TimeControl};
///
/// let (base, increment) = (Duration::from_secs(60), Duration::from_secs(1));
/// let mut clock = GameClock::new(TimeControl::Increment { base, increment, moves: None });
/// assert_eq!(clock.press(Duration::from_secs(11), Duration::ZERO), Ok(()));
/// assert_eq!(clock.left(), Some(Duration::from_secs(50)));
/// // The flag falls: ten seconds late.
/// assert_eq!(clock.press(Duration::from_secs(60), Duration::ZERO), Err(Duration::from_secs(10)));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameClock {
    control: TimeControl,
    /// What is left for the game, if that is counted.
    left: Duration,
    /// The moves to the next period, if there are periods.
    moves_to_go: Option<u32>,
}

impl GameClock {
    /// The clock at the start of a game.
    pub fn new(control: TimeControl) -> Self {
        let (left, moves_to_go) = match control {
            TimeControl::Unlimited | TimeControl::PerMove(_) => (Duration::ZERO, None),
            TimeControl::Increment { base, moves, .. } => (base, moves),
            TimeControl::Delay { base, .. } => (base, None),
            TimeControl::Bank { bank, .. } => (bank, None),
        };
        Self { control, left, moves_to_go }
    }

    /// The time in which the next move must be answered; none if it is not limited.
    pub fn allowed(&self) -> Option<Duration> {
        match self.control {
            TimeControl::Unlimited => None,
            TimeControl::PerMove(time) => Some(time),
            TimeControl::Increment { .. } => Some(self.left),
            TimeControl::Delay { delay, .. } => Some(self.left + delay),
            TimeControl::Bank { turn, .. } => Some(self.left + turn),
        }
    }

    /// The time that is left for the game; none for a control without a time for the game.
    pub fn left(&self) -> Option<Duration> {
        match self.control {
            TimeControl::Unlimited | TimeControl::PerMove(_) => None,
            TimeControl::Increment { .. } | TimeControl::Delay { .. } | TimeControl::Bank { .. } => {
                Some(self.left)
            }
        }
    }

    /// The clock as a `go` sends it, rounded down to milliseconds, with the opponent's time if the opponent
    /// has a time for the game.
    pub fn to_wire(&self, opponent: &Self) -> Option<Clock> {
        let (opp_ms, opp_inc_ms) = match opponent.control {
            TimeControl::Increment { increment, .. } => (Some(signed_ms(opponent.left)), ms(increment)),
            TimeControl::Delay { .. } => (Some(signed_ms(opponent.left)), 0),
            TimeControl::Unlimited | TimeControl::PerMove(_) | TimeControl::Bank { .. } => (None, 0),
        };
        let me_ms = signed_ms(self.left);
        match self.control {
            TimeControl::Unlimited => None,
            TimeControl::PerMove(time) => Some(Clock::PerMove { ms: signed_ms(time) }),
            TimeControl::Increment { increment, .. } => Some(Clock::Increment {
                me_ms,
                opp_ms,
                inc_ms: ms(increment),
                opp_inc_ms: opp_ms.map(|_| opp_inc_ms),
                moves_to_go: self.moves_to_go,
            }),
            TimeControl::Delay { delay, .. } => Some(Clock::Delay { me_ms, opp_ms, delay_ms: ms(delay) }),
            TimeControl::Bank { turn, .. } => Some(Clock::Bank { turn_ms: signed_ms(turn), bank_ms: me_ms }),
        }
    }

    /// Counts a move that took `time`. An answer that is late within the margin is forgiven: nothing
    /// is left then.
    ///
    /// # Errors
    /// The flag fell: by how much the move exceeded what the clock and the margin allow.
    pub fn press(&mut self, time: Duration, margin: Duration) -> Result<(), Duration> {
        let allowed = self.allowed().unwrap_or(Duration::MAX);
        if time > allowed.saturating_add(margin) {
            return Err(time - allowed);
        }
        match self.control {
            TimeControl::Unlimited | TimeControl::PerMove(_) => {}
            TimeControl::Increment { base, increment, moves } => {
                self.left = self.left.saturating_sub(time) + increment;
                self.moves_to_go = self.moves_to_go.map(|moves| moves - 1);
                if self.moves_to_go == Some(0) {
                    self.left += base;
                    self.moves_to_go = moves;
                }
            }
            TimeControl::Delay { delay: free, .. } | TimeControl::Bank { turn: free, .. } => {
                self.left = self.left.saturating_sub(time.saturating_sub(free));
            }
        }
        Ok(())
    }

    /// Counts a move as [`press`](Self::press) does. If the flag fell and `stood_still` gives a time, the
    /// margin is wider by that time; returns by how much the answer was late.
    ///
    /// # Errors
    /// The flag fell: by how much the move exceeded what the clock allows.
    pub(super) fn press_forgiving(
        &mut self,
        time: Duration,
        margin: Duration,
        stood_still: impl FnOnce() -> Option<Duration>,
    ) -> Result<Option<Duration>, Duration> {
        match self.press(time, margin) {
            Ok(()) => Ok(None),
            Err(late) => {
                let still = stood_still().ok_or(late)?;
                self.press(time, margin.saturating_add(still)).map(|()| Some(late))
            }
        }
    }
}

fn ms(time: Duration) -> u64 {
    time.as_millis() as u64
}

fn signed_ms(time: Duration) -> i64 {
    time.as_millis() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use TimeControl::{Bank, Delay, Increment, PerMove, Unlimited};

    const fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    const fn to_ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// What happened; control; margin; the time of each move in us; then what is left in us, or by how much
    /// the last move was late.
    type Case = (&'static str, TimeControl, u64, &'static [u64], Result<Option<u64>, u64>);

    #[test]
    fn flags_fall_and_time_is_counted_to_the_microsecond() {
        let moves = |moves, increment| Increment { base: to_ms(100), increment: to_ms(increment), moves };
        let delay = Delay { base: to_ms(100), delay: to_ms(10) };
        let bank = Bank { turn: to_ms(10), bank: to_ms(100) };
        #[rustfmt::skip]
        let table: &[Case] = &[
            ("no clock", Unlimited, 0, &[9_000_000_000], Ok(None)),
            ("the very time of a move", PerMove(to_ms(50)), 0, &[50_000, 50_000], Ok(None)),
            ("late by 1 us", PerMove(to_ms(50)), 0, &[50_001], Err(1)),
            ("late by 1 ms", PerMove(to_ms(50)), 0, &[51_000], Err(1000)),
            ("late by 1 ms, within the margin", PerMove(to_ms(50)), 1, &[51_000], Ok(None)),
            ("late by more than the margin", PerMove(to_ms(50)), 1, &[51_001], Err(1001)),
            ("the whole game's time", moves(None, 0), 0, &[60_000, 40_000], Ok(Some(0))),
            ("the flag falls", moves(None, 0), 0, &[60_000, 40_001], Err(1)),
            ("the increment comes after the move", moves(None, 5), 0, &[60_000, 45_001], Err(1)),
            ("the increment is kept", moves(None, 5), 0, &[60_000, 45_000], Ok(Some(5_000))),
            ("nothing is left of what the margin forgave", moves(None, 5), 1, &[100_900], Ok(Some(5_000))),
            ("a period ends", moves(Some(2), 0), 0, &[60_000, 40_000], Ok(Some(100_000))),
            ("time saved is kept over a period", moves(Some(2), 0), 0, &[10_000, 10_000, 10_000], Ok(Some(170_000))),
            ("the flag falls in the second period", moves(Some(1), 0), 0, &[100_000, 100_001], Err(1)),
            ("the delay is free", delay, 0, &[10_000, 4_000, 10_000], Ok(Some(100_000))),
            ("past the delay the clock runs", delay, 0, &[30_000, 5_000], Ok(Some(80_000))),
            ("delay and time are spent", delay, 0, &[110_001], Err(1)),
            ("a turn is free", bank, 0, &[10_000, 1_000], Ok(Some(100_000))),
            ("a turn draws on the bank", bank, 0, &[70_000, 50_000], Ok(Some(0))),
            ("turn and bank are spent", bank, 0, &[70_000, 50_001], Err(1)),
        ];
        for &(what, control, margin, times, expected) in table {
            let mut clock = GameClock::new(control);
            let pressed = times.iter().try_for_each(|time| clock.press(us(*time), to_ms(margin)));
            let left = clock.left().map(|left| left.as_micros() as u64);
            let found = pressed.map(|()| left).map_err(|late| late.as_micros() as u64);
            assert_eq!(found, expected, "{what}");
        }
    }

    #[test]
    fn what_stood_still_is_forgiven() {
        // The time of the answer, the margin, for how long the machine stood still, and the result, in
        // ms.
        for (time, margin, still, expected) in [
            (50, 0, Some(0), Ok(None)),
            (57, 0, Some(7), Ok(Some(7))),
            (58, 0, Some(7), Err(8)),
            (57, 0, None, Err(7)),
            (57, 7, Some(0), Ok(None)),
            (60, 3, Some(7), Ok(Some(10))),
            (61, 3, Some(7), Err(11)),
        ] {
            let mut clock = GameClock::new(PerMove(to_ms(50)));
            let found = clock.press_forgiving(to_ms(time), to_ms(margin), || still.map(to_ms));
            assert_eq!(found, expected.map(|late| late.map(to_ms)).map_err(to_ms), "{time} ms");
        }
    }

    #[test]
    fn a_go_has_both_clocks_in_whole_milliseconds() {
        let game = Increment { base: to_ms(100), increment: to_ms(5), moves: Some(40) };
        let delay = Delay { base: to_ms(70), delay: to_ms(10) };
        let bank = Bank { turn: to_ms(10), bank: to_ms(60) };
        for (control, opponent, expected) in [
            (Unlimited, game, "null"),
            (PerMove(to_ms(3)), game, r#"{"kind":"per_move","ms":3}"#),
            (
                game,
                game,
                r#"{"kind":"increment","me_ms":103,"opp_ms":100,"inc_ms":5,"opp_inc_ms":5,"moves_to_go":39}"#,
            ),
            (
                game,
                delay,
                r#"{"kind":"increment","me_ms":103,"opp_ms":70,"inc_ms":5,"opp_inc_ms":0,"moves_to_go":39}"#,
            ),
            (game, bank, r#"{"kind":"increment","me_ms":103,"inc_ms":5,"moves_to_go":39}"#),
            (delay, game, r#"{"kind":"delay","me_ms":70,"opp_ms":100,"delay_ms":10}"#),
            (bank, game, r#"{"kind":"bank","turn_ms":10,"bank_ms":60}"#),
        ] {
            let mut clock = GameClock::new(control);
            clock.press(us(1_200), Duration::ZERO).unwrap();
            let found = serde_json::to_string(&clock.to_wire(&GameClock::new(opponent))).unwrap();
            assert_eq!(found, expected, "{control:?} against {opponent:?}");
        }
    }
}
