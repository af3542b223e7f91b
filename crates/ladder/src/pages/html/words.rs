//! Numbers, times and results as the pages write them.

use plyd_protocol::{Bound, ProofOutcome, Score, Setting, Settings};

use crate::terms::PoolClock;
use crate::utc;

/// A time for programs and for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::pages) struct When {
    /// As HTML's `datetime` has it.
    pub(in crate::pages) machine: String,
    /// As people read it.
    pub(in crate::pages) human: String,
}

/// A time in milliseconds since 1970, in UTC.
pub(in crate::pages) fn when(at_ms: i64) -> When {
    let machine = utc(at_ms);
    // To the minute.
    let human = machine.rsplit_once(':').map_or("", |(minute, _)| minute).replace('T', " ");
    When { machine, human }
}

/// A whole number with a proper minus.
pub(in crate::pages) fn whole(value: f64) -> String {
    let rounded = value.round();
    if rounded < 0.0 { format!("\u{2212}{:.0}", -rounded) } else { format!("{:.0}", rounded.abs()) }
}

/// A 95 % interval; a side may have no bound.
pub(in crate::pages) fn interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{} to {}", whole(low), whole(high)),
        (Some(low), None) => format!("{} or more", whole(low)),
        (None, Some(high)) => format!("{} or less", whole(high)),
        (None, None) => "unknown".into(),
    }
}

/// Points, in halves.
pub(in crate::pages) fn points(points: f64) -> String {
    if points.fract() == 0.0 { format!("{points:.0}") } else { format!("{points:.1}") }
}

/// Points as a share of the games.
pub(in crate::pages) fn share(points: f64, games: u64) -> String {
    if games == 0 { "\u{2013}".into() } else { format!("{:.0} %", 100.0 * points / games as f64) }
}

/// A time of a move or of a clock.
pub(in crate::pages) fn time(us: u64) -> String {
    match us {
        0..1000 => format!("{us} \u{b5}s"),
        1000..1_000_000 => format!("{} ms", us / 1000),
        1_000_000..60_000_000 => format!("{:.1} s", us as f64 / 1e6),
        _ => format!("{}:{:02} min", us / 60_000_000, us / 1_000_000 % 60),
    }
}

fn seconds(ms: u64) -> String {
    let text = format!("{:.3}", ms as f64 / 1000.0);
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A clock.
pub(in crate::pages) fn clock(clock: PoolClock) -> String {
    match clock {
        PoolClock::PerMove { ms } => format!("{} a move", seconds(ms)),
        PoolClock::Increment { base_ms, inc_ms: 0, moves: None } => format!("{} a game", seconds(base_ms)),
        PoolClock::Increment { base_ms, inc_ms, moves } => {
            let period = moves.map_or_else(String::new, |moves| format!(" for each {moves} moves"));
            format!("{}{period} + {} a move", seconds(base_ms), seconds(inc_ms))
        }
        PoolClock::Delay { base_ms, delay_ms } => {
            format!("{} a game after a delay of {} a move", seconds(base_ms), seconds(delay_ms))
        }
        PoolClock::Bank { turn_ms, bank_ms } => {
            format!("{} a turn and {} in reserve", seconds(turn_ms), seconds(bank_ms))
        }
    }
}

/// Rules or options, such as `preset=7x7`.
pub(in crate::pages) fn settings(settings: &Settings) -> String {
    let one = |(name, value): (&str, &Setting)| {
        let value = match value {
            Setting::Bool(value) => value.to_string(),
            Setting::Int(value) => value.to_string(),
            Setting::Text(value) => value.clone(),
        };
        format!("{name}={value}")
    };
    settings.iter().map(|(name, value)| one((name, value))).collect::<Vec<_>>().join(", ")
}

/// A score, from the view of the one who moved.
pub(in crate::pages) fn score(score: &Score) -> String {
    let edge = match score.bound {
        Bound::Exact => "",
        Bound::Lower => "\u{2265} ",
        Bound::Upper => "\u{2264} ",
    };
    if let Some(proof) = &score.proof {
        let outcome = match proof.outcome {
            ProofOutcome::Win => "win",
            ProofOutcome::Draw => "draw",
            ProofOutcome::Loss => "loss",
        };
        let by = proof.margin.filter(|margin| *margin != 0).map(|margin| format!(" by {}", margin.abs()));
        let distance = match (proof.plies, proof.plies_max) {
            (Some(plies), _) => format!(" in {plies}"),
            (None, Some(most)) => format!(" in at most {most}"),
            (None, None) => String::new(),
        };
        return format!("{edge}{outcome}{}{distance}", by.unwrap_or_default());
    }
    if let Some(eval) = score.eval {
        let units = eval as f64 / 1000.0;
        let sign = if eval > 0 {
            "+"
        } else if eval < 0 {
            "\u{2212}"
        } else {
            ""
        };
        return format!("{edge}{sign}{:.2}", units.abs());
    }
    match score.wdl {
        Some([win, draw, _]) => format!("{edge}{} % win, {} % draw", win / 10_000, draw / 10_000),
        None => "\u{2013}".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn people_read_times_to_the_minute() {
        let shown = when(951_782_399_000);
        assert_eq!((&*shown.machine, &*shown.human), ("2000-02-28T23:59:59Z", "2000-02-28 23:59"));
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!([1499.6, -0.4, 0.4, -12.6].map(whole), ["1500", "0", "0", "\u{2212}13"]);
        assert_eq!(interval(Some(1490.2), Some(1556.0)), "1490 to 1556");
        assert_eq!(interval(None, Some(1556.0)), "1556 or less");
        assert_eq!([7.0, 7.5, 0.0].map(points), ["7", "7.5", "0"]);
        assert_eq!([share(1.5, 4), share(0.0, 0)], ["38 %", "\u{2013}"]);
        let times = [999, 1500, 1_250_000, 61_000_000].map(time);
        assert_eq!(times, ["999 \u{b5}s", "1 ms", "1.2 s", "1:01 min"]);
    }

    #[test]
    fn clocks_are_sentences() {
        for (given, words) in [
            (PoolClock::PerMove { ms: 50 }, "0.05 s a move"),
            (PoolClock::Increment { base_ms: 10_000, inc_ms: 100, moves: None }, "10 s + 0.1 s a move"),
            (PoolClock::Increment { base_ms: 60_000, inc_ms: 0, moves: None }, "60 s a game"),
            (
                PoolClock::Increment { base_ms: 60_000, inc_ms: 0, moves: Some(40) },
                "60 s for each 40 moves + 0 s a move",
            ),
            (PoolClock::Bank { turn_ms: 1000, bank_ms: 30_000 }, "1 s a turn and 30 s in reserve"),
        ] {
            assert_eq!(clock(given), words);
        }
    }

    #[test]
    fn scores_are_as_the_board_page_writes_them() {
        for (given, words) in [
            (json!({ "bound": "exact", "eval": 1234 }), "+1.23"),
            (json!({ "bound": "exact", "eval": -50 }), "\u{2212}0.05"),
            (json!({ "bound": "lower", "eval": 0 }), "\u{2265} 0.00"),
            (json!({ "bound": "exact", "wdl": [600_000, 300_000, 100_000] }), "60 % win, 30 % draw"),
            (json!({ "bound": "exact", "proof": { "outcome": "win", "plies": 9 } }), "win in 9"),
            (
                json!({ "bound": "exact", "proof": { "outcome": "loss", "plies_max": 48 } }),
                "loss in at most 48",
            ),
            (json!({ "bound": "exact" }), "\u{2013}"),
        ] {
            assert_eq!(score(&serde_json::from_value(given).unwrap()), words);
        }
    }
}
