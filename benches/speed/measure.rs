//! The CPU time and the instructions of two builds that do the same work.

use std::fmt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::Outcome;
use super::build::{Build, stdout_of};
use super::ratio::Ratio;
use super::workload::Workload;

#[path = "../common/markdown.rs"]
mod markdown;
#[path = "../common/usage.rs"]
mod usage;

/// From this ratio on a row is slower: half of the slowdown that is to be found.
const SLOWER: f64 = 1.015;

/// A row of the report.
pub(crate) struct Measured {
    /// What was measured.
    pub name: &'static str,
    /// Nodes a second of CPU time, before and after.
    rates: Option<[f64; 2]>,
    /// CPU time after to before.
    time: Ratio,
    /// Instructions after to before, where valgrind counts them.
    instructions: Option<f64>,
}

impl Measured {
    /// The CPU times of so many rounds, and the instructions.
    pub(crate) fn of(row: &Workload, before: &Build, after: &Build, rounds: usize) -> Outcome<Self> {
        let (rates, time) = times(row, before, after, rounds)?;
        let instructions = match (instructions(row, before)?, instructions(row, after)?) {
            (Some(before), Some(after)) => Some(after as f64 / before as f64),
            _ => None,
        };
        Ok(Self { name: row.name, rates, time, instructions })
    }

    /// Measures the CPU times anew.
    pub(crate) fn measure_again(
        &mut self,
        row: &Workload,
        before: &Build,
        after: &Build,
        rounds: usize,
    ) -> Outcome<()> {
        (self.rates, self.time) = times(row, before, after, rounds)?;
        Ok(())
    }

    /// Whether the CPU time says that the row is slower.
    pub(crate) fn is_slower_by_time(&self) -> bool {
        self.time.value >= SLOWER && self.time.low > 1.0
    }

    /// Whether the row is slower.
    pub(crate) fn is_slower(&self) -> bool {
        let by_instructions = self.instructions.is_some_and(|ratio| ratio >= SLOWER);
        self.is_slower_by_time() || (by_instructions && self.time.high >= 1.0)
    }

    /// Rows in Markdown.
    pub(crate) fn table(rows: &[Self]) -> String {
        let heading = ["", "before, M/s", "after, M/s", "speed", "95 % interval", "instructions", "slower"];
        let mut table = markdown::Table::new(heading);
        for row in rows {
            let rate = |at: usize| row.rates.map_or(String::new(), |rates| format!("{:.2}", rates[at] / 1e6));
            table.row([
                row.name.to_owned(),
                rate(0),
                rate(1),
                format!("{:.3}", 1.0 / row.time.value),
                format!("{:.3} to {:.3}", 1.0 / row.time.high, 1.0 / row.time.low),
                row.instructions.map_or("-".to_owned(), |ratio| format!("{ratio:.3}")),
                (if row.is_slower() { "yes" } else { "" }).to_owned(),
            ]);
        }
        table.into_text()
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ratio { value, low, high } = self.time;
        write!(f, "{}: CPU time {value:.3} ({low:.3} to {high:.3})", self.name)?;
        match self.instructions {
            Some(ratio) => write!(f, ", instructions {ratio:.3}"),
            None => Ok(()),
        }
    }
}

/// The rates of two builds, and the ratio of their CPU times, from rounds in which both work in turns.
fn times(row: &Workload, before: &Build, after: &Build, rounds: usize) -> Outcome<(Option<[f64; 2]>, Ratio)> {
    let mut seconds = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        // Who begins changes, so that a machine that warms up favours neither.
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for which in order {
            let build = [before, after][which];
            seconds[which].push(cpu_time(build, &row.whole())?.as_secs_f64());
        }
    }
    let ratio = Ratio::of(&seconds[1], &seconds[0]).ok_or("no rounds")?;
    let [old, new] = seconds.map(super::ratio::median);
    Ok((row.nodes().map(|units| [units as f64 / old, units as f64 / new]), ratio))
}

/// The CPU time of a command of plyd.
#[allow(clippy::disallowed_methods, reason = "it ends by itself")]
pub(crate) fn cpu_time(build: &Build, args: &[String]) -> Outcome<Duration> {
    let mut child = Command::new(&build.binary)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let used = wait(&child);
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("{} {}: {status}", build.binary.display(), args.join(" ")).into());
    }
    used
}

/// Waits until a process has ended, and reads what it used before the system forgets it.
fn wait(child: &Child) -> Outcome<Duration> {
    let pid = Pid::from_raw(child.id().cast_signed()).ok_or("no process")?;
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    Ok(usage::cpu(child.id()).map_err(|error| error.to_string())?)
}

/// The instructions that a build takes for the small form of a row, less those of an even smaller one where
/// there is such a form; none without valgrind.
fn instructions(row: &Workload, build: &Build) -> Outcome<Option<u64>> {
    if stdout_of(Command::new("valgrind").arg("--version")).is_err() {
        return Ok(None);
    }
    let Some((more, less)) = row.counted() else { return Ok(None) };
    let more = counted(build, &more)?;
    Ok(match less {
        Some(less) => more.zip(counted(build, &less)?).map(|(more, less)| more - less),
        None => more,
    })
}

/// The instructions of a command of plyd, by callgrind; none where it does not know what the program does.
#[allow(clippy::disallowed_methods, reason = "it ends by itself")]
fn counted(build: &Build, args: &[String]) -> Outcome<Option<u64>> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(&build.binary).args(args);
    let output = valgrind.output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let found = text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    Ok(if output.status.success() { found } else { None })
}
