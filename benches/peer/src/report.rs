//! What was measured, as a table and as JSON.

use std::fmt;
use std::time::Duration;

use plyd::cli::columns::{Columns, grouped};
use serde::Serialize;

use crate::searched::Searched;

/// A position searched to a depth by both.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// The depth in plies.
    pub(crate) depth: u32,
    /// The position's text.
    pub(crate) position: &'static str,
    /// plyd on one thread.
    pub(crate) own: Searched,
    /// What it is compared with.
    pub(crate) other: Searched,
}

/// All that was measured.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    /// What plyd on one thread is compared with.
    other: String,
    /// Whether wall time counts, not CPU time.
    by_wall_time: bool,
    positions: Vec<Row>,
    totals: Vec<Total>,
}

/// The sum over the positions at one depth.
#[derive(Clone, Debug, Serialize)]
struct Total {
    depth: u32,
    own: Duration,
    other: Duration,
    /// How many times longer the other took.
    ratio: f64,
}

impl Report {
    /// The report of some searches, ordered by depth.
    pub(crate) fn new(other: String, by_wall_time: bool, positions: Vec<Row>) -> Self {
        let totals = positions
            .chunk_by(|a, b| a.depth == b.depth)
            .map(|rows| {
                let own = rows.iter().map(|row| row.own.time(by_wall_time)).sum::<Duration>();
                let other = rows.iter().map(|row| row.other.time(by_wall_time)).sum::<Duration>();
                Total { depth: rows[0].depth, own, other, ratio: ratio(own, other) }
            })
            .collect();
        Self { other, by_wall_time, positions, totals }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let other = &self.other;
        let mut table = Columns::new([
            "depth".to_owned(),
            "plyd".to_owned(),
            other.clone(),
            "ratio".to_owned(),
            "nodes of plyd".to_owned(),
            format!("of {other}"),
            "value".to_owned(),
            "position".to_owned(),
        ]);
        let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
        for total in &self.totals {
            for row in self.positions.iter().filter(|row| row.depth == total.depth) {
                let (own, other) = (row.own.time(self.by_wall_time), row.other.time(self.by_wall_time));
                table.row([
                    row.depth.to_string(),
                    ms(own),
                    ms(other),
                    format!("{:.2}", ratio(own, other)),
                    grouped(row.own.nodes),
                    grouped(row.other.nodes),
                    row.own.value.to_string(),
                    row.position.to_owned(),
                ]);
            }
            let nodes = |of: fn(&Row) -> u64| {
                grouped(self.positions.iter().filter(|row| row.depth == total.depth).map(of).sum())
            };
            table.row([
                total.depth.to_string(),
                ms(total.own),
                ms(total.other),
                format!("{:.2}", total.ratio),
                nodes(|row| row.own.nodes),
                nodes(|row| row.other.nodes),
                String::new(),
                "all".to_owned(),
            ]);
        }
        write!(f, "{table}")
    }
}

fn ratio(own: Duration, other: Duration) -> f64 {
    other.as_secs_f64() / own.as_secs_f64()
}
