//! The measurements that any engine can be put to.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use ::plyd::zobrist::SplitMix64;

use crate::control::Control;
use crate::samples::{Percentiles, Samples};

/// Whatever a measurement can fail with.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// The longest wait for an answer: far above any that is worth a figure.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// An engine behind a pipe.
pub(crate) trait Subject {
    /// The engine's name in the table.
    fn name(&self) -> &'static str;
    /// Asks for a sign of life, and gives the instant at which it arrived.
    fn ping(&mut self) -> Outcome<Instant>;
    /// Starts a search without an end.
    fn think(&mut self) -> Outcome<()>;
    /// Ends the running search, and gives the instant at which its move arrived.
    fn stop(&mut self) -> Outcome<Instant>;
    /// Asks for a move within a time; [`Subject::answer`] gives the instant at which it arrived.
    fn ask(&mut self, time: Duration) -> Outcome<()>;
    /// When the move that was asked for arrived.
    fn answer(&mut self) -> Outcome<Instant>;
}

/// A line of the table.
pub(crate) struct Row {
    /// What was measured.
    pub(crate) what: &'static str,
    /// Of whom.
    pub(crate) who: &'static str,
    /// How late the answers were.
    pub(crate) samples: Samples,
    /// How late a sleeping thread was at the same instants; empty where there is none.
    pub(crate) control: Samples,
    /// Whether answers after the due instant break a promise.
    pub(crate) deadline: bool,
}

impl Row {
    /// The row as text.
    pub(crate) fn to_cells(&self) -> Vec<String> {
        let own = self.samples.percentiles();
        let control = self.control.percentiles();
        let cell = |value: Option<i64>| value.map_or("-".to_owned(), |us| us.to_string());
        let picks: [fn(Percentiles) -> i64; 3] = [|it| it.p50, |it| it.p99, |it| it.p999];
        let mut cells = vec![self.what.to_owned(), self.who.to_owned(), self.samples.len().to_string()];
        cells.extend(picks.map(|pick| cell(own.map(pick))));
        cells.push(cell(own.map(|it| it.max)));
        cells.extend(picks.map(|pick| cell(control.map(pick))));
        cells
            .extend(picks.map(|pick| cell(own.zip(control).map(|(own, control)| pick(own) - pick(control)))));
        cells.push(if self.deadline { self.samples.late().to_string() } else { "-".to_owned() });
        cells
    }

    /// The row as an object.
    pub(crate) fn to_json(&self) -> Value {
        let percentiles = |samples: &Samples| {
            samples
                .percentiles()
                .map(|it| json!({ "p50_us": it.p50, "p99_us": it.p99, "p999_us": it.p999, "max_us": it.max }))
        };
        json!({
            "what": self.what,
            "who": self.who,
            "n": self.samples.len(),
            "samples": percentiles(&self.samples),
            "control": percentiles(&self.control),
            "late": self.deadline.then(|| self.samples.late()),
        })
    }
}

/// Measures what every engine can do.
pub(crate) fn rows(subject: &mut dyn Subject, control: &mut Control, samples: usize) -> Outcome<Vec<Row>> {
    let who = subject.name();
    let mut rng = SplitMix64::new(1);
    let mut rows = Vec::new();

    let idle = pings(subject, control, &mut rng, samples)?;
    rows.push(Row { what: "ping, idle", who, samples: idle, control: control.take(), deadline: false });

    subject.think()?;
    let busy = pings(subject, control, &mut rng, samples)?;
    subject.stop()?;
    rows.push(Row { what: "ping, searching", who, samples: busy, control: control.take(), deadline: false });

    let mut stops = Samples::default();
    for _ in 0..samples {
        subject.think()?;
        wait(control, &mut rng);
        let sent = Instant::now();
        stops.add(sent, subject.stop()?);
    }
    rows.push(Row { what: "stop to move", who, samples: stops, control: control.take(), deadline: false });

    for (what, ms) in [("20 ms a move", 20), ("50 ms a move", 50)] {
        let time = Duration::from_millis(ms);
        let mut overruns = Samples::default();
        for _ in 0..samples {
            let due = Instant::now() + time;
            subject.ask(time)?;
            control.sleep_to(due);
            overruns.add(due, subject.answer()?);
        }
        rows.push(Row { what, who, samples: overruns, control: control.take(), deadline: true });
    }
    Ok(rows)
}

/// Sleeps, as the control does, to an instant 1 to 4 ms from now.
pub(crate) fn wait(control: &mut Control, rng: &mut SplitMix64) {
    let due = Instant::now() + Duration::from_micros(1000 + rng.below(3000) as u64);
    control.sleep_to(due);
    thread::sleep(due.saturating_duration_since(Instant::now()));
}

fn pings(
    subject: &mut dyn Subject,
    control: &mut Control,
    rng: &mut SplitMix64,
    samples: usize,
) -> Outcome<Samples> {
    let mut pings = Samples::default();
    for _ in 0..samples {
        wait(control, rng);
        let sent = Instant::now();
        pings.add(sent, subject.ping()?);
    }
    Ok(pings)
}
