//! The state machine by the script: every row of the contract's corners, with a clock that stands still.
//!
//! A script is a text file of scenarios (`# title`). Its lines:
//! `> JSON` a request on the connection; `< JSON` the next message, of which these fields are looked at;
//! `-` no message waits; `hold` / `prepare` requests that take time are left waiting / worked on;
//! `longer ID` one of them takes longer than the quick threads have;
//! `search ID` a thread takes the search; `publish ID MOVE [DEPTH]` it publishes; `return ID END` it comes
//! back (`limit`, `clock`, `proven`, `stopped`, `panic`); `hurried ID` / `calm ID` a question is to end soon,
//! or not; `pausing ID` / `running ID` its thread waits for its turn, or not; `wait MS` time passes; `eof`,
//! `gone`, `shutdown`; `drain MS` the end is announced, before it; `lose ID` the thread that was to take the
//! search could not be started; `searched ID` its first iteration is complete, and it had the CPU time that
//! it was promised; `closed` the connection is over; `status JSON`; `conn NAME` the connection
//! meant from here on, opened at its first mention (those whose names begin with `tcp` must shake hands);
//! `token TEXT` what `hello` must show there from here on; `limit NAME NUMBER` a limit from here on, by its
//! name in `limits`.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use plyd_protocol as wire;
use serde_json::Value;

use super::fake::{GAMES, LOCKED, line};
use crate::config::limits::Limits;
use crate::ids::{ConnId, JobId, WorkerId};
use crate::runtime::prepare::RequestWorker;
use crate::signal::Signal;
use crate::spans::Origin;
use crate::state::budget::Memory;
use crate::state::conn::Taken;
use crate::state::job::Phase;
use crate::state::order::{Order, Return, Run};
use crate::state::outbox::{Item, LARGE_MESSAGE};
use crate::state::schedule::tests::STEPS;
use crate::state::session::Arrival;
use crate::state::task::{Output, Task};
use crate::state::{Effects, State};
use plyd_core::effort::Effort;
use plyd_core::search::{Control, End, Stats};

/// A state with everything around it played by hand.
pub(super) struct Stage {
    pub(super) state: State,
    worker: RequestWorker,
    pub(super) now_ns: u64,
    tasks: Vec<Task>,
    orders: HashMap<WorkerId, Receiver<Order>>,
    pub(super) running: HashMap<JobId, (WorkerId, Box<Run>)>,
    names: HashMap<String, JobId>,
    conns: HashMap<String, ConnId>,
    pub(super) conn: ConnId,
    lines: HashMap<ConnId, u64>,
    inbox: HashMap<ConnId, Vec<Value>>,
    pub(super) hold: bool,
}

impl Stage {
    pub(super) fn new() -> Self {
        let limits = Limits { cores: 2, hash_bytes: 1 << 30, sessions: 3, requests: 4, ..Limits::default() };
        let memory = Memory::new(limits.hash_bytes);
        let now_ns = 1_000_000_000;
        let mut stage = Self {
            state: State::new(limits, GAMES, None, memory.clone(), now_ns),
            worker: RequestWorker { games: GAMES, memory, threads: 2 },
            now_ns,
            tasks: Vec::new(),
            orders: HashMap::new(),
            running: HashMap::new(),
            names: HashMap::new(),
            conns: HashMap::new(),
            conn: 0,
            lines: HashMap::new(),
            inbox: HashMap::new(),
            hold: false,
        };
        stage.conn("main");
        stage
    }

    fn conn(&mut self, name: &str) {
        let nobody = || Signal::Task(Arc::default());
        if !self.conns.contains_key(name) {
            let origin = if name.starts_with("tcp") { Origin::Unix } else { Origin::Stdio };
            let id = self.state.open_conn(origin, [nobody(), nobody(), nobody()], self.now_ns);
            self.conns.insert(name.to_owned(), id);
        }
        self.conn = self.conns[name];
    }

    /// Changes the state as under its lock, and then does what follows from that.
    fn locked<R>(&mut self, change: impl FnOnce(&mut State, u64) -> R) -> R {
        let result = self.change(change);
        if !self.hold {
            self.prepare();
        }
        result
    }

    /// Changes the state; no game's destructor may run meanwhile.
    fn change<R>(&mut self, change: impl FnOnce(&mut State, u64) -> R) -> R {
        LOCKED.set(true);
        let result = change(&mut self.state, self.now_ns);
        let effects = self.state.settle(self.now_ns);
        LOCKED.set(false);
        let Effects { tasks, spawns, .. } = effects;
        self.tasks.extend(tasks);
        self.orders.extend(spawns);
        result
    }

    /// Works on what takes time, as the pool does.
    pub(super) fn prepare(&mut self) {
        while !self.tasks.is_empty() {
            let task = self.tasks.remove(0);
            let output = match self.state.context(&task) {
                Ok(context) => self.worker.work(&task, context, &Effort::whole(task.interrupt.clone())),
                Err(refusal) => Output::Refused(refusal),
            };
            let next = self.change(|state, now_ns| {
                state.commit(&task, output, now_ns);
                state.next_in_lane(&task)
            });
            self.tasks.extend(next);
        }
    }

    pub(super) fn request(&mut self, text: &str) {
        let number = self.lines.entry(self.conn).or_default();
        *number += 1;
        let at =
            Arrival { conn: self.conn, line: *number, received_ns: self.now_ns, bytes: 0, fresh_token: None };
        match wire::decode(text.as_bytes()) {
            Ok(request) => {
                let name = request.id.clone();
                // What the request began is known before it is worked on.
                self.change(|state, now_ns| state.request(&at, request, now_ns));
                if let Some((id, _)) = self.state.jobs.iter().find(|(_, job)| job.name == name) {
                    self.names.insert(name, *id);
                }
            }
            Err(fault) => self.change(|state, now_ns| state.bad_line(&at, fault, now_ns)),
        }
        if !self.hold {
            self.prepare();
        }
    }

    /// Lets every thread take the search that it was given.
    pub(super) fn take_orders(&mut self) {
        let mut taken = Vec::new();
        for (worker, orders) in &self.orders {
            while let Ok(order) = orders.try_recv() {
                if let Order::Search(run) = order {
                    taken.push(run.job);
                    self.running.insert(run.job, (*worker, run));
                }
            }
        }
        for job in taken {
            self.locked(|state, now_ns| state.search_began(job, now_ns));
        }
    }

    fn search(&mut self, name: &str) {
        self.take_orders();
        assert!(self.running.contains_key(&self.names[name]), "no thread was given {name}");
    }

    fn control(&self, name: &str) -> &Control {
        &self.running[&self.names[name]].1.control
    }

    pub(super) fn publish_to(&mut self, job: JobId, mv: &str, depth: u32) {
        self.locked(|state, now_ns| state.publish(job, Arc::new(vec![line(mv, depth)]), now_ns));
    }

    pub(super) fn return_from(&mut self, job: JobId, end: &str) {
        let (worker, _) = self.running.remove(&job).expect("a thread took it");
        let lines = vec![line("+2", 9)];
        let returned = match end {
            "proven" => Return::Ended(lines, End::Proven),
            "limit" => Return::Ended(lines, End::Limit),
            "clock" => Return::Ended(lines, End::Clock),
            "stopped" => Return::Ended(Vec::new(), End::Stopped),
            "panic" => Return::Failed { incident: "i".into() },
            other => panic!("no such end: {other}"),
        };
        self.locked(|state, now_ns| state.came_back(worker, job, returned, now_ns));
    }

    /// The thread of a job could not be started.
    fn lose(&mut self, job: JobId) {
        let given = self.state.workers.iter().find(|(_, worker)| worker.busy == Some(job));
        let worker = *given.expect("a thread was given it").0;
        self.orders.remove(&worker);
        self.locked(|state, now_ns| state.lost(worker, now_ns));
    }

    pub(super) fn wait(&mut self, ms: u64) {
        let end = self.now_ns + ms * 1_000_000;
        let mut ticks = 0;
        while let Some(at) = self.state.next_timer().filter(|at| *at <= end) {
            ticks += 1;
            assert!(ticks < 100_000, "a timer that is set for a time that has passed, again and again");
            self.now_ns = self.now_ns.max(at);
            self.locked(State::tick);
        }
        self.now_ns = end;
    }

    pub(super) fn next(&mut self) -> Option<Value> {
        let inbox = self.inbox.entry(self.conn).or_default();
        if let Taken::Batch(batch) = self.state.take_messages(self.conn, usize::MAX, self.now_ns) {
            inbox.extend(batch.into_iter().map(|taken| {
                let line = taken.item.stamp(taken.seq, self.now_ns / 1000);
                serde_json::from_str::<Value>(&line.into_text()).unwrap()
            }));
        }
        (!inbox.is_empty()).then(|| inbox.remove(0))
    }

    fn step(&mut self, step: &str) -> Result<(), String> {
        let (word, rest) = step.split_once(' ').unwrap_or((step, ""));
        let words: Vec<&str> = rest.split(' ').collect();
        match word {
            ">" => self.request(rest),
            "<" => {
                let wanted: Value = serde_json::from_str(rest).map_err(|error| error.to_string())?;
                let message = self.next().ok_or("no message waits")?;
                if !covers(&message, &wanted) {
                    return Err(format!("got {message}"));
                }
            }
            "-" => {
                if let Some(message) = self.next() {
                    return Err(format!("got {message}"));
                }
            }
            "hold" => self.hold = true,
            "prepare" => {
                self.hold = false;
                self.prepare();
            }
            "longer" => {
                let task =
                    self.tasks.iter().position(|task| task.name == rest).expect("a request of that id");
                let task = self.tasks.remove(task);
                self.change(|state, now_ns| state.takes_longer(&task, now_ns));
                self.tasks.push(task);
            }
            "search" => self.search(rest),
            "publish" => {
                let depth = words.get(2).map_or(0, |depth| depth.parse().unwrap());
                self.publish_to(self.names[words[0]], words[1], depth);
            }
            "stopping" => {
                if !self.control(rest).stopped() {
                    return Err("it was not asked to stop".into());
                }
            }
            "hurried" | "calm" => {
                let conn = self.state.conns.get(&self.conn).ok_or("the connection is over")?;
                let mut pending = conn.tasks.values();
                let found = pending.find(|pending| pending.name == rest).ok_or("no such request waits")?;
                if found.interrupt.is_hurried() != (word == "hurried") {
                    return Err("the other way round".into());
                }
            }
            "pausing" | "running" => {
                let gate = self.control(rest).gate();
                if gate.is_closed() != (word == "pausing") {
                    return Err("the other way round".into());
                }
            }
            "searched" => {
                let control = self.control(rest);
                control.show(Stats { depth: 1, ..Stats::default() });
                control.show_cpu(1_000_000_000);
            }
            "return" => self.return_from(self.names[words[0]], words[1]),
            "wait" => self.wait(rest.parse().unwrap()),
            "eof" => {
                let conn = self.conn;
                self.locked(|state, now_ns| state.input_ended(conn, now_ns));
            }
            "gone" => {
                let conn = self.conn;
                self.locked(|state, now_ns| state.drop_conn(conn, now_ns, false));
            }
            "shutdown" => {
                if !self.state.shutting_down {
                    self.locked(|state, now_ns| state.announce_end(Duration::ZERO, now_ns));
                }
                self.locked(State::end_searches);
            }
            "drain" => {
                let limit = Duration::from_millis(rest.parse().unwrap());
                self.locked(|state, now_ns| state.announce_end(limit, now_ns));
            }
            "lose" => self.lose(self.names[rest]),
            "closed" => {
                if let Some(message) = self.next() {
                    return Err(format!("got {message}"));
                }
                if self.state.conns.contains_key(&self.conn) {
                    return Err("it is open".into());
                }
            }
            "status" => {
                let wanted: Value = serde_json::from_str(rest).map_err(|error| error.to_string())?;
                let status = serde_json::to_value(self.state.status(self.now_ns)).unwrap();
                if !covers(&status, &wanted) {
                    return Err(format!("got {status}"));
                }
            }
            "conn" => self.conn(rest),
            "token" => {
                let limits = self.state.limits.clone();
                self.locked(|state, _| state.reconfigure(limits, Some(rest.to_owned())));
            }
            "limit" => {
                let number: u64 = words[1].parse().unwrap();
                let (mut limits, token) = (self.state.limits.clone(), self.state.token.clone());
                match words[0] {
                    "engines" => limits.engines = number as usize,
                    "idle_ms" => limits.idle = Duration::from_millis(number),
                    other => return Err(format!("no such limit: {other}")),
                }
                self.locked(|state, _| state.reconfigure(limits, token));
            }
            other => return Err(format!("no such step: {other}")),
        }
        Ok(())
    }
}

/// Whether a message has the wanted fields; `"!"` as a value wants the field to be absent.
fn covers(message: &Value, wanted: &Value) -> bool {
    match (message, wanted) {
        (Value::Object(message), Value::Object(wanted)) => wanted
            .iter()
            .all(|(name, wanted)| message.get(name).map_or(wanted == "!", |message| covers(message, wanted))),
        (message, wanted) => message == wanted,
    }
}

#[test]
fn searches_that_wait_are_not_all_looked_at_whenever_somebody_may_start() {
    let mut stage = Stage::new();
    stage.state.limits.requests = 1000;
    let search = r#""cmd":"go","game":"counting","position":{},"clock":{"kind":"per_move","ms":32},"options":{"threads":2},"queue":true,"info":{"events":[]}"#;
    for conn in ["main", "other"] {
        stage.conn(conn);
        (0..300).for_each(|id| stage.request(&format!(r#"{{"id":"{conn}{id}",{search}}}"#)));
    }
    let begun = |stage: &Stage| stage.state.jobs.values().filter(|job| job.phase != Phase::Waiting).count();
    assert_eq!(begun(&stage), 2, "two minimums fit into 32 ms");
    STEPS.set(0);
    stage.wait(9);
    // The first of either connection, at a few decisions.
    assert!(STEPS.get() <= 60, "{} debts were looked at", STEPS.get());
    stage.wait(1);
    assert_eq!(begun(&stage), 3, "one minimum was had");
    stage.wait(100);
    let left = |conn: &str| {
        let is_left = |id: &&String| id.starts_with(conn);
        let names: Vec<&String> = stage.state.jobs.values().map(|job| &job.name).filter(is_left).collect();
        names.len()
    };
    // The other connection's first took the place of one that had not begun; from there on by the order of
    // arrival.
    assert_eq!((left("main") < 295, left("other")), (true, 299), "{} of the first", left("main"));
}

#[test]
fn what_a_peer_left_unread_is_freed_by_a_thread_of_its_own() {
    let mut stage = Stage::new();
    for (bytes, large) in [(1000, 0), (LARGE_MESSAGE + 1, 1)] {
        stage.conn(&format!("tcp{bytes}"));
        let (conn, now_ns) = (stage.conn, stage.now_ns);
        stage.state.send(conn, Item::body("x".repeat(bytes)), now_ns);
        stage.state.drop_conn(conn, now_ns, false);
        let effects = stage.state.settle(now_ns);
        assert_eq!((effects.large_drops.len(), effects.deferred_drops.len()), (large, 1 - large), "{bytes}");
    }
}

#[test]
fn corners() {
    let mut failures = Vec::new();
    for scenario in include_str!("corners.txt").split("\n# ").skip(1) {
        let (title, steps) = scenario.split_once('\n').expect("a title");
        let mut stage = Stage::new();
        for step in steps.lines().map(str::trim).filter(|step| !step.is_empty()) {
            if let Err(why) = stage.step(step) {
                failures.push(format!("{title}\n    {step}\n    {why}"));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
