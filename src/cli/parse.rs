//! Texts of arguments: durations, and names with values.

use std::time::Duration;

use plyd_protocol::{Seed, Setting};

use crate::client::Program;

/// What nobody waits for, so that sums of times stay far from any limit.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Reads a time with its unit: `200ms`, `1.5s`, `2m`. Parts of a microsecond are cut off: neither messages
/// nor records hold them, and what is read from there has to be the same.
///
/// # Errors
/// A sentence that says how a time is written.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        _ => return Err("give a time with its unit, such as 200ms, 1.5s or 2m".into()),
    };
    number
        .parse::<f64>()
        .ok()
        .and_then(|number| Duration::try_from_secs_f64(number * seconds).ok())
        .filter(|time| *time <= LONGEST)
        .map(|time| Duration::from_micros(time.as_micros() as u64))
        .ok_or_else(|| format!("`{text}` is not a time; give one such as 200ms, 1.5s or 2m, a year at most"))
}

/// Reads a time to think, which is not 0.
///
/// # Errors
/// A sentence that says how a time is written.
pub(super) fn thinking_time(text: &str) -> Result<Duration, String> {
    let time = duration(text)?;
    if time.is_zero() { Err("give a time above 0, such as 500ms".into()) } else { Ok(time) }
}

/// A time as [`duration`] reads it.
pub(super) fn duration_text(time: Duration) -> String {
    match time.subsec_nanos() {
        0 if time.as_secs() > 0 && time.as_secs().is_multiple_of(60) => format!("{}m", time.as_secs() / 60),
        0 => format!("{}s", time.as_secs()),
        _ => format!("{}ms", time.as_nanos() as f64 / 1e6),
    }
}

/// Reads a level of the engine's strength.
///
/// # Errors
/// A sentence that says which there are.
pub(super) fn level(text: &str) -> Result<u8, String> {
    let level = text.parse().ok().filter(|level| (1..=10).contains(level));
    level.ok_or_else(|| "give a level from 1, for beginners, to 10, full strength".into())
}

/// Reads a seed.
///
/// # Errors
/// A sentence that says how a seed is written.
pub(super) fn seed(text: &str) -> Result<Seed, String> {
    text.parse().map_err(|_| "give 1 to 16 lower-case hexadecimal digits".into())
}

/// Reads `name=value`.
///
/// # Errors
/// A sentence that says how a setting is written.
pub(super) fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("give a name and a value, such as width=7".into()),
    }
}

/// Reads a program and its arguments, between blanks.
///
/// # Errors
/// A sentence that says how a program is written.
pub(super) fn program(text: &str) -> Result<Program, String> {
    let mut words = text.split_whitespace().map(Into::into);
    let path = words.next().ok_or("give a program, such as cmd=/usr/bin/plyd")?;
    Ok(Program { path, arguments: words.collect() })
}

/// The value of a setting whose type is not known here: a number, a truth value, or else a text.
pub(super) fn setting(text: &str) -> Setting {
    let int = text.parse().ok().map(Setting::Int);
    int.or_else(|| text.parse().ok().map(Setting::Bool)).unwrap_or_else(|| Setting::Text(text.to_owned()))
}

/// Reads a number above 0, at most `most`.
///
/// # Errors
/// A sentence that says so.
pub(super) fn share(text: &str, most: f64) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| 0.0 < *number && *number <= most);
    number.ok_or_else(|| format!("give a number above 0, at most {most}"))
}

/// Reads the size of a board, `7x7`: columns and rows.
///
/// # Errors
/// A sentence that says how a size is written.
pub(super) fn board(text: &str) -> Result<(usize, usize), String> {
    let sides =
        text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    sides.ok_or_else(|| "give columns and rows, such as 7x7 or 11x9".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_have_columns_and_rows() {
        assert_eq!(board("11x9"), Ok((11, 9)));
        for text in ["", "7", "7x", "x7", "7x7x7", "-7x7", "7 x 7"] {
            assert!(board(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_need_a_unit() {
        for (text, ms) in
            [("200ms", Some(200)), ("1s", Some(1000)), ("1.5s", Some(1500)), ("2m", Some(120_000))]
        {
            assert_eq!(duration(text).ok(), ms.map(Duration::from_millis), "{text}");
        }
        for us in [0, 1, 1500, 1_500_000, 60_000_000, 90_000_000, 86_400_000_000] {
            let time = Duration::from_micros(us);
            assert_eq!(duration(&duration_text(time)), Ok(time));
        }
        assert_eq!(duration("525600m"), Ok(LONGEST));
        for (text, us) in [("0.3333ms", 333), ("1.005ms", 1005), ("0.0009ms", 0)] {
            assert_eq!(duration(text), Ok(Duration::from_micros(us)), "{text}");
        }
        for text in ["", "5", "s", "1h", "-1s", "1..s", "525601m", "99999999999999999999999m"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn settings_have_a_name_and_an_equals_sign() {
        assert_eq!(assignment("a=b=c"), Ok(("a".into(), "b=c".into())));
        assert!(assignment("a").is_err() && assignment("=b").is_err());
    }
}
