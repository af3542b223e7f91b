//! One client with 250 endless searches of two threads each, beside two honest ones with 100 ms a move; and
//! four honest clients alone, to know what a fair share is.

use std::path::Path;
use std::time::Duration;

use crate::Promises;
use crate::endless::{Phase, phase};
use crate::markdown::{Table, ms};
use crate::server::Outcome;

/// Measures the phases, each on a daemon of its own.
pub(crate) fn measure(daemon: &Path, time: Duration, seed: u64) -> Outcome<(Table, Promises)> {
    let fair = phase(daemon, time, seed, 4, false)?;
    let beside = phase(daemon, time, seed, 2, true)?;
    let mut table = Table::new([
        "honest clients, 100 ms a move",
        "answers",
        "late p50, ms",
        "p99",
        "max",
        "control p50",
        "p99",
        "depth 0",
        "nodes p50",
        "`overloaded`",
        "without answer",
        "ping p50",
        "p99",
    ]);
    for (name, phase) in [("four alone", &fair), ("two beside a greedy one", &beside)] {
        let Phase { seen, pings } = phase;
        let (late, control, ping) =
            (seen.late.percentiles(), seen.control.percentiles(), pings.percentiles());
        table.row([
            name.to_owned(),
            seen.late.len().to_string(),
            ms(late.map(|it| it.p50)),
            ms(late.map(|it| it.p99)),
            ms(late.map(|it| it.max)),
            ms(control.map(|it| it.p50)),
            ms(control.map(|it| it.p99)),
            seen.shallow.to_string(),
            median(&seen.nodes).to_string(),
            seen.overloaded.to_string(),
            seen.refused.to_string(),
            ms(ping.map(|it| it.p50)),
            ms(ping.map(|it| it.p99)),
        ]);
    }
    Ok((table, promises(&fair, &beside)))
}

fn promises(fair: &Phase, beside: &Phase) -> Promises {
    let mut promises = Promises::new();
    let seen = &beside.seen;
    if let (Some(late), Some(control)) = (seen.late.percentiles(), seen.control.percentiles()) {
        for (name, late, control, allowed) in [
            ("late at p50 by at most the control + 5 ms", late.p50, control.p50, 5000),
            ("late at p99 by at most the control + 20 ms", late.p99, control.p99, 20_000),
        ] {
            let measured = format!("{} ms, control {} ms", ms(Some(late)), ms(Some(control)));
            promises.add(name, measured, late <= control.max(0) + allowed);
        }
    }
    promises.add("no move at depth 0", seen.shallow.to_string(), seen.shallow == 0);
    promises.add("no move without an answer", seen.refused.to_string(), seen.refused == 0);
    let share = median(&seen.nodes) as f64 / median(&fair.seen.nodes).max(1) as f64;
    promises.add(
        "nodes at least half of those beside three honest ones",
        format!("{share:.2}"),
        share >= 0.5,
    );
    if let Some(ping) = beside.pings.percentiles() {
        promises.add("ping p50 under 1 ms", format!("{} ms", ms(Some(ping.p50))), ping.p50 < 1000);
    }
    promises
}

fn median(values: &[u64]) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}
