//! The text of a clock: `time=100ms`, `tc=40/60s+0.5s`, `delay=10s+1s`, `bank=1s+30s`.

use std::time::Duration;

use plyd_protocol::MAX_MOVES_TO_GO;

use super::parse;
use crate::arena::TimeControl;

/// The names of the settings that are clocks.
pub(super) const NAMES: [&str; 4] = ["time", "tc", "delay", "bank"];

/// Reads a clock by the name of its setting, one of [`NAMES`].
///
/// # Errors
/// A sentence that says how it is written.
pub(super) fn clock(name: &str, text: &str) -> Result<TimeControl, String> {
    Ok(match name {
        "time" => TimeControl::PerMove(positive(text)?),
        "delay" => {
            let (base, delay) = sum(text)?;
            TimeControl::Delay { base: positive(base)?, delay: whole(delay)? }
        }
        "bank" => {
            let (turn, bank) = sum(text)?;
            TimeControl::Bank { turn: positive(turn)?, bank: whole(bank)? }
        }
        _ => {
            let (moves, time) = match text.split_once('/') {
                Some((moves, time)) => (Some(period(moves)?), time),
                None => (None, text),
            };
            let (base, increment) = sum(time).unwrap_or((time, "0ms"));
            TimeControl::Increment { base: positive(base)?, increment: whole(increment)?, moves }
        }
    })
}

/// A clock for the game with a unit behind each time that lacks one: seconds, as in cutechess and fastchess.
/// People who play themselves mean minutes as often, so they have to say it.
pub(super) fn in_seconds(text: &str) -> String {
    let (period, times) =
        text.split_once('/').map_or(("", text), |(moves, times)| (&text[..=moves.len()], times));
    let is_bare = |time: &str| time.ends_with(|c: char| c.is_ascii_digit());
    let times = times.split('+').map(|time| if is_bare(time) { format!("{time}s") } else { time.to_owned() });
    format!("{period}{}", times.collect::<Vec<_>>().join("+"))
}

/// Reads a clock with its name, such as `tc=5m+3s`.
///
/// # Errors
/// A sentence that says how it is written.
pub(super) fn read(text: &str) -> Result<TimeControl, String> {
    let setting = text.split_once('=').filter(|(name, _)| NAMES.contains(name));
    let (name, value) =
        setting.ok_or("give a clock, such as tc=5m+3s, delay=5m+3s, bank=10s+5m or time=30s")?;
    clock(name, value)
}

/// A clock as [`read`] reads it; none if no time is counted.
pub(super) fn text(control: TimeControl) -> Option<String> {
    Some(match control {
        TimeControl::Unlimited => return None,
        TimeControl::PerMove(time) => format!("time={}", parse::duration_text(time)),
        TimeControl::Increment { base, increment, moves } => {
            let period = moves.map_or_else(String::new, |moves| format!("{moves}/"));
            let (base, increment) = (parse::duration_text(base), parse::duration_text(increment));
            format!("tc={period}{base}+{increment}")
        }
        TimeControl::Delay { base, delay } => {
            format!("delay={}+{}", parse::duration_text(base), parse::duration_text(delay))
        }
        TimeControl::Bank { turn, bank } => {
            format!("bank={}+{}", parse::duration_text(turn), parse::duration_text(bank))
        }
    })
}

fn sum(text: &str) -> Result<(&str, &str), String> {
    text.split_once('+').ok_or_else(|| "give two times with a plus, such as 10s+1s".into())
}

/// The moves of a period.
fn period(text: &str) -> Result<u32, String> {
    let moves = text.parse().ok().filter(|moves| (1..=MAX_MOVES_TO_GO).contains(moves));
    moves.ok_or_else(|| format!("`{text}` is no number of moves from 1 to {MAX_MOVES_TO_GO}"))
}

fn positive(text: &str) -> Result<Duration, String> {
    let time = whole(text)?;
    if time.is_zero() { Err("give a time above 0".into()) } else { Ok(time) }
}

/// A time in whole milliseconds, in which the protocol counts.
fn whole(text: &str) -> Result<Duration, String> {
    let time = parse::duration(text)?;
    let is_whole = time.subsec_nanos() % 1_000_000 == 0;
    if is_whole { Ok(time) } else { Err("give a time of whole milliseconds".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TimeControl::{Bank, Delay, Increment, PerMove};

    #[test]
    fn clocks_are_read() {
        let ms = Duration::from_millis;
        for (name, text, expected) in [
            ("time", "100ms", PerMove(ms(100))),
            ("tc", "10s", Increment { base: ms(10_000), increment: ms(0), moves: None }),
            ("tc", "10s+0.1s", Increment { base: ms(10_000), increment: ms(100), moves: None }),
            ("tc", "40/1m+500ms", Increment { base: ms(60_000), increment: ms(500), moves: Some(40) }),
            ("delay", "10s+1s", Delay { base: ms(10_000), delay: ms(1000) }),
            ("bank", "1s+30s", Bank { turn: ms(1000), bank: ms(30_000) }),
        ] {
            assert_eq!(clock(name, text), Ok(expected), "{name}={text}");
            assert_eq!(read(&format!("{name}={text}")), Ok(expected), "{name}={text}");
            let written = super::text(expected).unwrap();
            assert_eq!(read(&written), Ok(expected), "{written}");
        }
    }

    #[test]
    fn seconds_may_be_left_out_where_they_are_meant() {
        for (text, expected) in [
            ("10+0.1", "10s+0.1s"),
            ("40/60", "40/60s"),
            ("40/1m+0.5", "40/1m+0.5s"),
            ("10s+100ms", "10s+100ms"),
            ("", ""),
            ("10+", "10s+"),
        ] {
            assert_eq!(in_seconds(text), expected, "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (name, text, word) in [
            ("time", "5", "unit"),
            ("time", "0ms", "above 0"),
            ("time", "1.2345s", "whole"),
            ("time", "600000m", "year"),
            ("time", "1s+1s", "unit"),
            ("tc", "0s+1s", "above 0"),
            ("tc", "0/10s", "moves"),
            ("tc", "many/10s", "many"),
            ("tc", "10s+", "unit"),
            ("tc", "10+0.1", "unit"),
            ("delay", "10s", "plus"),
            ("bank", "0s+5s", "above 0"),
        ] {
            let message = clock(name, text).unwrap_err();
            assert!(message.contains(word), "{name}={text}: {message}");
        }
        for text in ["", "5m", "chess=5m", "tc"] {
            assert!(read(text).unwrap_err().contains("tc=5m+3s"), "{text}");
        }
    }
}
