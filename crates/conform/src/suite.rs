//! Which checks there are, and how they are run against a server.

use std::num::NonZero;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use super::requests::with;
use super::talk::Talk;
use super::verdict::{Checked, Stop, Verdict, like};
use super::witness::{Findings, Witness};
use super::{
    ends, fairness, framing, handshake, ids, liveness, memory, numbers, places, preparation, races, refusals,
    rules, search, time, websocket,
};
use plyd_protocol::client::{Address, LineError, Lines, Reaper};

/// How many checks talk to servers of their own at once.
const WORKERS: usize = 4;

/// Checks that belong together.
pub(super) struct Group {
    pub name: &'static str,
    pub checks: &'static [Check],
}

/// One thing that the specification says.
pub(super) struct Check {
    pub name: &'static str,
    /// What it says, in a few words.
    pub about: &'static str,
    pub run: Run,
}

/// How a check is made.
pub(super) enum Run {
    /// By a conversation of its own.
    Talk(fn(&Trial<'_>) -> Checked),
    /// By the rows of `refusals.txt` under its name.
    Refusals,
    /// By all messages of all conversations; see [`Findings`].
    Watched,
}

impl Check {
    pub(super) const fn talk(
        name: &'static str,
        about: &'static str,
        run: fn(&Trial<'_>) -> Checked,
    ) -> Self {
        Self { name, about, run: Run::Talk(run) }
    }

    pub(super) const fn refusals(name: &'static str, about: &'static str) -> Self {
        Self { name, about, run: Run::Refusals }
    }

    pub(super) const fn watched(name: &'static str, about: &'static str) -> Self {
        Self { name, about, run: Run::Watched }
    }
}

/// The groups in the order of the report. The last two measure times, and are run when nothing else is.
pub(super) const GROUPS: [Group; 15] = [
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
    Group { name: "rules", checks: rules::CHECKS },
    Group { name: "preparation", checks: preparation::CHECKS },
    Group { name: "memory", checks: memory::CHECKS },
    Group { name: "fairness", checks: fairness::CHECKS },
    Group { name: "time", checks: time::CHECKS },
];

/// What is to be checked.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The server.
    pub address: Address,
    /// The token that it wants, if it wants one.
    pub token: Option<String>,
    /// How long a check may take.
    pub timeout: Duration,
    /// Groups and checks (`GROUP/CHECK`) to run; all when empty.
    pub only: Vec<String>,
    /// Whether the log of a server that is started goes to our stderr; else it is dropped.
    pub log: bool,
    /// What ends the servers that are started if this process is killed; none: they see the end of their
    /// input.
    pub reaper: Option<Arc<Reaper>>,
}

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

/// What a check is run with.
pub(super) struct Trial<'a> {
    plan: &'a Plan,
    findings: &'a Findings,
    /// `GROUP/CHECK`.
    pub name: String,
    pub deadline: Instant,
}

impl<'a> Trial<'a> {
    /// A connection of its own on which nothing was said: a process that is started, or a new connection.
    pub(super) fn open(&self) -> Checked<Talk<'a>> {
        let lines = lines(self.plan).map_err(|error| Stop::failed("a connection", error.to_string()))?;
        Ok(Talk::new(lines, self.deadline, Witness::new(self.findings)))
    }

    /// The same after a `hello`.
    pub(super) fn greet(&self) -> Checked<Talk<'a>> {
        self.greet_with(&json!({}))
    }

    /// The same after a `hello` with further fields.
    pub(super) fn greet_with(&self, fields: &Value) -> Checked<Talk<'a>> {
        let mut talk = self.open()?;
        talk.hello = talk.result(&with(self.hello(), fields))?;
        Ok(talk)
    }

    /// A `hello` of a client that speaks version 1.
    pub(super) fn hello(&self) -> Value {
        let mut hello = json!({ "id": "hello", "cmd": "hello", "protocol": { "min": 1, "max": 1 } });
        if let Some(token) = &self.plan.token {
            hello["token"] = json!(token);
        }
        hello
    }

    /// Whether the check must come to its end.
    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// The token that the server wants.
    pub(super) fn token(&self) -> Option<&str> {
        self.plan.token.as_deref()
    }

    /// Whether the server speaks on standard streams.
    pub(super) fn is_stdio(&self) -> bool {
        matches!(self.plan.address, Address::Program(_))
    }

    /// Whether the server is at a Unix socket.
    pub(super) fn is_unix(&self) -> bool {
        matches!(self.plan.address, Address::Unix(_))
    }

    /// Whether lines are messages of a WebSocket.
    pub(super) fn is_websocket(&self) -> bool {
        matches!(self.plan.address, Address::WebSocket(_))
    }

    /// The host and port of a WebSocket; skips the check where there is none.
    pub(super) fn needs_websocket(&self) -> Checked<&str> {
        match &self.plan.address {
            Address::WebSocket(address) => Ok(address),
            _ => Err(Stop::skipped("of WebSocket alone")),
        }
    }

    /// Skips the check over WebSocket, where nothing can be sent behind the end of the input.
    pub(super) fn needs_half_closing(&self) -> Checked {
        if self.is_websocket() {
            Err(Stop::skipped("not of a WebSocket, which ends in both directions at once"))
        } else {
            Ok(())
        }
    }

    /// Skips the check over sockets.
    pub(super) fn needs_stdio(&self) -> Checked {
        if self.is_stdio() { Ok(()) } else { Err(Stop::skipped("of processes on standard streams alone")) }
    }

    /// Skips the check where there is one connection alone.
    pub(super) fn needs_several_connections(&self) -> Checked {
        if self.is_stdio() {
            Err(Stop::skipped("of servers at an address alone: standard streams are one connection"))
        } else {
            Ok(())
        }
    }

    /// Skips the check on standard streams.
    pub(super) fn needs_socket(&self) -> Checked {
        if self.is_stdio() { Err(Stop::skipped("of sockets alone")) } else { Ok(()) }
    }
}

fn lines(plan: &Plan) -> Result<Lines, LineError> {
    match &plan.address {
        Address::Program(program) => {
            let mut launch = program.launch(plan.reaper.as_ref())?;
            if !plan.log {
                launch.command.stderr(Stdio::null());
            }
            Lines::spawn(launch)
        }
        address => address.lines(),
    }
}

/// Every check as group, name and what it is about.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    GROUPS.iter().flat_map(|group| group.checks.iter().map(|check| (group.name, check.name, check.about)))
}

/// Runs what the plan names.
///
/// # Errors
/// The server does not start, or nobody listens.
pub fn run(plan: &Plan) -> Result<Vec<Row>, LineError> {
    drop(lines(plan)?);
    let wanted: Vec<(&'static str, &'static Check)> = GROUPS
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
    let workers = match plan.address {
        Address::Program(_) => thread::available_parallelism().map_or(1, NonZero::get).clamp(2, WORKERS),
        _ => 1,
    };
    let (timed, others): (Vec<usize>, Vec<usize>) =
        (0..wanted.len()).partition(|&index| ["fairness", "time"].contains(&wanted[index].0));
    let rows: Vec<Mutex<Option<Row>>> = wanted.iter().map(|_| Mutex::new(None)).collect();
    let run_one = |index: usize| {
        let (group, check) = wanted[index];
        let row = made(plan, &findings, group, check);
        *rows[index].lock().unwrap_or_else(PoisonError::into_inner) = row;
    };
    let mut shown = shown.then(|| Mutex::new(Ok(())));
    spread(workers, others.len() + 1, |job| match (job, &shown) {
        (0, Some(shown)) => {
            let trial = trial(plan, &findings, "messages");
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
        row.unwrap_or_else(|| row_of(group, check, watched(&findings, group, check, &shown), Duration::ZERO))
    });
    Ok(rows.collect())
}

/// Gives each number below `jobs` to one of so many threads.
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

fn trial<'a>(plan: &'a Plan, findings: &'a Findings, name: &str) -> Trial<'a> {
    Trial { plan, findings, name: name.to_owned(), deadline: Instant::now() + plan.timeout }
}

/// Makes a check; none of those that all messages decide.
fn made(plan: &Plan, findings: &Findings, group: &'static str, check: &'static Check) -> Option<Row> {
    let trial = trial(plan, findings, &format!("{group}/{}", check.name));
    let began = Instant::now();
    let checked = match check.run {
        Run::Talk(run) => run(&trial),
        Run::Refusals => refusals::check(&trial),
        Run::Watched => return None,
    };
    Some(row_of(group, check, checked, began.elapsed()))
}

/// What all messages say about a check; where none were to be had, nothing is said.
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
        Err(Stop { verdict, expected, came }) => (verdict, expected, came),
    };
    Row { group, check: check.name, verdict, expected, came, time_ms }
}

/// Asks for `like` of the result of a request; what most checks of `rules` and `handshake` are.
pub(super) fn told(talk: &mut Talk<'_>, request: &Value, fields: &Value) -> Checked {
    let result = talk.result(request)?;
    like(&result, fields).map_err(|stop| stop.at(&request.to_string()))
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
