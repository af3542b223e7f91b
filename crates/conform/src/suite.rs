//! Which checks there are, and how they are run against a server.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::first::NotChecked;
use super::monitor::Findings;
use super::trial::{Check, Group, Plan, Run, Subject, Trial, lines};
use super::verdict::{Checked, Stop, Verdict};
use super::{
    bot, dial, ends, fairness, first, framing, handshake, ids, liveness, memory, numbers, operate, places,
    preparation, races, refusals, resume, rules, search, time, websocket,
};
use plyd_client::Address;

/// How many checks run at once, each with a server of its own.
const WORKERS: usize = 4;

/// How many checks of a bot that dials out run at once, each with a ladder of its own: most of their time
/// is pauses.
const LADDERS: usize = 8;

/// How often a check is made at most if it fails by its times alone.
const TIMES: usize = 3;

/// The groups in the order of the report. The last two measure times, and are run when nothing else is.
pub(super) const GROUPS: [Group; 17] = [
    Group { name: "framing", checks: framing::CHECKS },
    Group { name: "numbers", checks: numbers::CHECKS },
    Group { name: "websocket", checks: websocket::CHECKS },
    Group { name: "handshake", checks: handshake::CHECKS },
    Group { name: "places", checks: places::CHECKS },
    Group { name: "ids", checks: ids::CHECKS },
    Group { name: "search", checks: search::CHECKS },
    Group { name: "races", checks: races::CHECKS },
    Group { name: "liveness", checks: liveness::CHECKS },
    Group { name: "ends", checks: ends::CHECKS },
    Group { name: "operate", checks: operate::CHECKS },
    Group { name: "resume", checks: resume::CHECKS },
    Group { name: "rules", checks: rules::CHECKS },
    Group { name: "preparation", checks: preparation::CHECKS },
    Group { name: "memory", checks: memory::CHECKS },
    Group { name: "fairness", checks: fairness::CHECKS },
    Group { name: "time", checks: time::CHECKS },
];

/// The name of the group of bots, which no other group checks.
pub const BOT: &str = "bot";

/// The name of the group of bots that dial out, which no other group checks.
pub const DIAL: &str = "dial";

/// Those groups.
const BOTS: Group = Group { name: BOT, checks: bot::CHECKS };
const DIALERS: Group = Group { name: DIAL, checks: dial::CHECKS };

/// What came of a check.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The group.
    pub group: &'static str,
    /// The check.
    pub check: &'static str,
    /// How it ended.
    pub verdict: Verdict,
    /// What the specification says, unless it passed; why, if it was skipped.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub expected: String,
    /// What came instead.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub came: String,
    /// How long it took.
    pub time_ms: u64,
}

/// Every check as group, name and what it is about: those of servers, and then the groups `bot`
/// and `dial`.
///
/// ```
/// let (group, check, about) = plyd_conform::names().next().expect("there are checks");
/// println!("{group}/{check}: {about}");
/// assert!(plyd_conform::names().count() > 100);
/// ```
pub fn names() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let groups = GROUPS.iter().chain([&BOTS, &DIALERS]);
    groups.flat_map(|group| group.checks.iter().map(|check| (group.name, check.name, check.about)))
}

/// Runs what the plan names: [the crate's page](crate) has an example.
///
/// # Errors
/// The server does not start, ends before its first answer or answers with something that is not JSON; or
/// nobody listens.
pub fn run(plan: &Plan) -> Result<Vec<Row>, NotChecked> {
    run_seen(plan, |_| {})
}

/// The same, and shows each row as soon as its check has ended, by the thread that ran it. Rows that depend
/// on the whole conversation come last.
///
/// # Errors
/// As [`run`].
pub fn run_seen(plan: &Plan, seen: impl Fn(&Row) + Sync) -> Result<Vec<Row>, NotChecked> {
    match (&plan.subject, &plan.address) {
        (Subject::Dialer { .. }, _) => {}
        (_, Address::Program(program)) => first::answers(plan, program)?,
        _ => drop(lines(plan)?),
    }
    let groups: &[Group] = match plan.subject {
        Subject::Server => &GROUPS,
        Subject::Bot { .. } => &[BOTS],
        Subject::Dialer { .. } => &[DIALERS],
    };
    let wanted: Vec<(&'static str, &'static Check)> = groups
        .iter()
        .flat_map(|group| group.checks.iter().map(|check| (group.name, check)))
        .filter(|(group, check)| {
            let full = format!("{group}/{}", check.name);
            plan.only.is_empty() || plan.only.iter().any(|only| only == group || *only == full)
        })
        .collect();
    let findings = Findings::default();
    let shown = wanted.iter().any(|(_, check)| matches!(check.run, Run::Watched));
    // Over a socket all checks share one server, and its search threads.
    let workers = match (&plan.subject, &plan.address) {
        // Each check listens at the same port.
        (Subject::Dialer { at }, _) if at.port() > 0 => 1,
        (Subject::Dialer { .. }, _) => LADDERS,
        (_, Address::Program(_)) => thread::available_parallelism().map_or(1, NonZero::get).clamp(2, WORKERS),
        _ => 1,
    };
    let (timed, others): (Vec<usize>, Vec<usize>) =
        (0..wanted.len()).partition(|&index| ["fairness", "time"].contains(&wanted[index].0));
    let rows: Vec<Mutex<Option<Row>>> = wanted.iter().map(|_| Mutex::new(None)).collect();
    let run_one = |index: usize| {
        let (group, check) = wanted[index];
        let row = made(plan, &findings, group, check);
        row.iter().for_each(&seen);
        *rows[index].lock().unwrap_or_else(PoisonError::into_inner) = row;
    };
    let mut shown = shown.then(|| Mutex::new(Ok(())));
    spread(workers, others.len() + 1, |job| match (job, &shown) {
        (0, Some(shown)) => {
            let trial = Trial::new(plan, &findings, "messages");
            *shown.lock().unwrap_or_else(PoisonError::into_inner) = search::everything(&trial);
        }
        (0, None) => {}
        _ => run_one(others[job - 1]),
    });
    spread(1, timed.len(), |job| run_one(timed[job]));
    let shown =
        shown.take().map_or(Ok(()), |shown| shown.into_inner().unwrap_or_else(PoisonError::into_inner));
    let rows = rows.into_iter().zip(wanted).map(|(row, (group, check))| {
        let row = row.into_inner().unwrap_or_else(PoisonError::into_inner);
        row.unwrap_or_else(|| {
            let row = row_of(group, check, watched(&findings, group, check, &shown), Duration::ZERO);
            seen(&row);
            row
        })
    });
    Ok(rows.collect())
}

/// Gives each number below `jobs` to one of `workers` threads.
fn spread(workers: usize, jobs: usize, job: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..workers.min(jobs) {
            scope.spawn(|| {
                loop {
                    match next.fetch_add(1, Ordering::Relaxed) {
                        index if index < jobs => job(index),
                        _ => break,
                    }
                }
            });
        }
    });
}

/// Runs a check; none for a check that the monitor decides.
fn made(plan: &Plan, findings: &Findings, group: &'static str, check: &'static Check) -> Option<Row> {
    let trial = Trial::new(plan, findings, &format!("{group}/{}", check.name));
    let began = Instant::now();
    let checked = match check.run {
        Run::Conversation(run) => (1..TIMES).fold(run(&trial), |checked, _again| match checked {
            Err(Stop { is_late: true, .. }) => run(&trial),
            checked => checked,
        }),
        Run::Refusals => refusals::check(&trial),
        Run::Watched => return None,
    };
    Some(row_of(group, check, checked, began.elapsed()))
}

/// The monitor's verdict on a check; skipped if there was no conversation to judge.
fn watched(findings: &Findings, group: &str, check: &Check, shown: &Checked) -> Checked {
    findings.check(&format!("{group}/{}", check.name))?;
    match shown {
        Err(stop) if stop.verdict == Verdict::Failed => Err(Stop::skipped(format!(
            "no conversation to judge: expected {}, came {}",
            stop.expected, stop.came
        ))),
        _ => Ok(()),
    }
}

fn row_of(group: &'static str, check: &'static Check, checked: Checked, time: Duration) -> Row {
    let time_ms = time.as_millis() as u64;
    let (verdict, expected, came) = match checked {
        Ok(()) => (Verdict::Passed, String::new(), String::new()),
        Err(Stop { verdict, expected, came, .. }) => (verdict, expected, came),
    };
    Row { group, check: check.name, verdict, expected, came, time_ms }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_have_names_of_their_own() {
        let mut all: Vec<String> = names().map(|(group, check, _)| format!("{group}/{check}")).collect();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(count >= 100, "{count}");
        assert!(names().all(|(_, _, about)| !about.is_empty() && !about.ends_with('.')));
    }

    #[test]
    fn every_check_of_refusals_has_rows() {
        for group in &GROUPS {
            for check in group.checks.iter().filter(|check| matches!(check.run, Run::Refusals)) {
                let name = format!("{}/{}", group.name, check.name);
                assert!(!refusals::rows(&name).is_empty(), "{name}");
            }
        }
    }
}
