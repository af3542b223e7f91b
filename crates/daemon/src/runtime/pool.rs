//! The threads that work on requests, and whose turn it is.
//!
//! Connections take turns, and none holds more than half of the threads of a kind. Quick requests never wait
//! for slow ones: the quick threads try each request with some milliseconds of work ([`Effort::brief`]). A
//! request that needs more is restarted on the slow threads, or on the urgent ones if a clock runs: no
//! question keeps a move waiting. A connection that has slow requests is likely to send more of them, and the
//! attempts at those would take the cores from others' quick ones: each gets a glance instead
//! ([`Effort::glance`]). A slow request whose answer is wanted at once goes back to the quick threads: a
//! search then begins without what they cannot decide in that time, and a question ends without an answer.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use plyd_protocol::ErrorCode;

use super::Shared;
use super::priority::give_way;
use crate::ids::{ConnId, TaskId};
use crate::log::targets;
use crate::state::request_error::RequestError;
use crate::state::task::{Context, Output, Task, Work};
use plyd_core::effort::Effort;
use plyd_core::search::clock::now_ns;

/// The most threads that work on quick requests.
const QUICK_THREADS: usize = 4;
/// By how much the nice value of work that no clock waits for exceeds that of searches. Beside a search it
/// gets a tenth of a core, less than the schedule leaves for it when it promises minimums.
pub(crate) const SLOW_NICE: u8 = 10;

/// The most threads for urgent requests, and for slow ones: half of the cores, since they are not scheduled,
/// but enough that no connection holds all.
fn slow_threads(cores: usize) -> usize {
    (cores / 2).clamp(2, QUICK_THREADS)
}

/// Which threads work on a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Requests that some milliseconds of work answer.
    Quick,
    /// Longer ones that a clock or a stop waits for.
    Urgent,
    /// Longer ones that nothing waits for.
    Slow,
}

/// The requests that wait for a thread.
pub(crate) struct Pool {
    queues: Mutex<Queues>,
    ready: [Condvar; 3],
}

struct Queues {
    of: [Queue; 3],
    closed: bool,
}

/// The requests that wait for threads of a kind.
struct Queue {
    turns: Turns<Task>,
    max_threads: usize,
    threads: usize,
    idle: usize,
}

impl Queue {
    fn new(max_threads: usize) -> Self {
        Self { turns: Turns::new(max_threads / 2), max_threads, threads: 0, idle: 0 }
    }
}

/// The queue of each connection; connections take turns.
struct Turns<T> {
    /// The most tasks of one connection in progress at once.
    max_of_one: usize,
    /// The connections with waiting tasks, in the order of their turns.
    waiting: VecDeque<(ConnId, VecDeque<T>)>,
    /// The tasks in progress, by connection.
    working: HashMap<ConnId, usize>,
}

impl<T> Turns<T> {
    fn new(max_of_one: usize) -> Self {
        Self { max_of_one, waiting: VecDeque::new(), working: HashMap::new() }
    }

    fn push(&mut self, conn: ConnId, item: T) {
        match self.waiting.iter_mut().find(|(of, _)| *of == conn) {
            Some((_, items)) => items.push_back(item),
            None => self.waiting.push_back((conn, VecDeque::from([item]))),
        }
    }

    /// Takes the next task; its connection goes to the end of the line.
    fn next(&mut self) -> Option<T> {
        let is_free =
            |(conn, _): &(ConnId, _)| self.working.get(conn).is_none_or(|&some| some < self.max_of_one);
        let at = self.waiting.iter().position(is_free)?;
        let (conn, mut items) = self.waiting.remove(at)?;
        let item = items.pop_front();
        if !items.is_empty() {
            self.waiting.push_back((conn, items));
        }
        *self.working.entry(conn).or_default() += 1;
        item
    }

    /// Notes that a task of a connection is done.
    fn done(&mut self, conn: ConnId) {
        if let Some(working) = self.working.get_mut(&conn) {
            *working -= 1;
            if *working == 0 {
                self.working.remove(&conn);
            }
        }
    }

    /// Takes the given task out of the queue, if it waits there.
    fn remove(&mut self, conn: ConnId, is_meant: impl Fn(&T) -> bool) -> Option<T> {
        let at = self.waiting.iter().position(|(of, _)| *of == conn)?;
        let items = &mut self.waiting[at].1;
        let item = items.iter().position(is_meant).and_then(|index| items.remove(index));
        if items.is_empty() {
            self.waiting.remove(at);
        }
        item
    }

    /// Whether a task of a connection waits or is in progress.
    fn has(&self, conn: ConnId) -> bool {
        self.working.contains_key(&conn) || self.waiting.iter().any(|(of, _)| *of == conn)
    }

    fn len(&self) -> usize {
        self.waiting.iter().map(|(_, items)| items.len()).sum()
    }
}

impl Pool {
    /// A pool for this number of cores, without a thread yet.
    pub(crate) fn new(cores: usize) -> Self {
        let of = [QUICK_THREADS, slow_threads(cores), slow_threads(cores)].map(Queue::new);
        Self { queues: Mutex::new(Queues { of, closed: false }), ready: Default::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the first thread, so that the first request need not.
    pub(crate) fn warm(&self, shared: &Arc<Shared>) {
        self.lock().of[Kind::Quick as usize].threads += 1;
        self.spawn_thread(shared, Kind::Quick);
    }

    /// Queues a task.
    pub(super) fn submit(&self, shared: &Arc<Shared>, task: Task) {
        self.give(shared, Kind::Quick, task);
    }

    /// Speeds up a task that waits for an urgent or a slow thread: at once if it is hurried, otherwise on the
    /// kind of thread that suits it by now.
    pub(super) fn hurry(&self, shared: &Arc<Shared>, conn: ConnId, id: TaskId) {
        let mut queues = self.lock();
        let found = [Kind::Urgent, Kind::Slow]
            .into_iter()
            .find_map(|kind| queues.of[kind as usize].turns.remove(conn, |task| task.id == id));
        drop(queues);
        if let Some(task) = found {
            self.repeat(shared, task, Kind::Quick);
        }
    }

    /// Restarts a task on a thread for long work, or on one of the kind `in_hurry` if it is hurried by now. A
    /// later hurry finds it in a queue.
    fn repeat(&self, shared: &Arc<Shared>, task: Task, in_hurry: Kind) {
        shared.with(|state| state.takes_longer(&task, now_ns()));
        let kind = longer(shared, &task);
        let mut queues = self.lock();
        let kind = if task.interrupt.is_hurried() { in_hurry } else { kind };
        queues.of[kind as usize].turns.push(task.conn, task);
        self.have(shared, kind, queues);
    }

    fn give(&self, shared: &Arc<Shared>, kind: Kind, task: Task) {
        let mut queues = self.lock();
        queues.of[kind as usize].turns.push(task.conn, task);
        self.have(shared, kind, queues);
    }

    /// Makes sure that a thread takes what was just queued.
    fn have(&self, shared: &Arc<Shared>, kind: Kind, mut queues: MutexGuard<'_, Queues>) {
        let queue = &mut queues.of[kind as usize];
        let short = queue.turns.len() > queue.idle && queue.threads < queue.max_threads;
        queue.threads += usize::from(short);
        drop(queues);
        if short {
            self.spawn_thread(shared, kind);
        } else {
            self.ready[kind as usize].notify_one();
        }
    }

    /// Ends the threads once they are idle.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.ready.iter().for_each(Condvar::notify_all);
    }

    fn spawn_thread(&self, shared: &Arc<Shared>, kind: Kind) {
        let worker = Arc::clone(shared);
        let name = match kind {
            Kind::Quick => "request",
            Kind::Urgent => "urgent-request",
            Kind::Slow => "slow-request",
        };
        let started = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            worker.priority.apply();
            while let Some(task) = worker.pool.next(kind) {
                run(&worker, kind, task);
            }
        });
        if let Err(error) = started {
            tracing::error!(target: targets::POOL, %error, "cannot start a thread for requests");
            let mut queues = self.lock();
            let queue = &mut queues.of[kind as usize];
            queue.threads -= 1;
            let stranded = if queue.threads == 0 { queue.turns.next() } else { None };
            drop(queues);
            // Without any thread the caller does the work: late is better than never.
            if let Some(task) = stranded {
                run(shared, kind, task);
            }
        }
    }

    fn next(&self, kind: Kind) -> Option<Task> {
        let mut queues = self.lock();
        loop {
            if let Some(task) = queues.of[kind as usize].turns.next() {
                return Some(task);
            }
            if queues.closed {
                return None;
            }
            queues.of[kind as usize].idle += 1;
            queues = self.ready[kind as usize].wait(queues).unwrap_or_else(PoisonError::into_inner);
            queues.of[kind as usize].idle -= 1;
        }
    }

    /// Whether a connection has requests on the slow threads, or waiting for them.
    fn has_slow(&self, conn: ConnId) -> bool {
        self.lock().of[Kind::Slow as usize].turns.has(conn)
    }

    fn done(&self, kind: Kind, conn: ConnId) {
        self.lock().of[kind as usize].turns.done(conn);
    }
}

/// Works on a task, then queues the next one of its lane. A panic fails this request only, neither the
/// thread nor the lane.
fn run(shared: &Arc<Shared>, kind: Kind, task: Task) {
    let conn = task.conn;
    let span = task.span.clone();
    let _within = span.enter();
    let answered = catch_unwind(AssertUnwindSafe(|| answer(shared, kind, &task)));
    shared.pool.done(kind, conn);
    match answered {
        Ok(Answered::Fully) => {}
        Ok(Answered::Partly) => return shared.pool.repeat(shared, task, Kind::Quick),
        Ok(Answered::NotYet) => return shared.pool.repeat(shared, task, Kind::Urgent),
        Err(panic) => {
            let refusal = broken(shared, panic);
            shared.with(|state| {
                let open =
                    state.conns.get(&task.conn).is_some_and(|conn| conn.inflight.contains_key(&task.name));
                if open {
                    state.commit(&task, Output::Refused(refusal), now_ns());
                }
            });
        }
    }
    let next = shared.with(|state| state.next_in_lane(&task));
    if let Some(next) = next {
        shared.pool.submit(shared, next);
    }
}

/// Which threads work on what the quick ones cannot answer.
fn longer(shared: &Arc<Shared>, task: &Task) -> Kind {
    if shared.with(|state| state.is_urgent(task)) { Kind::Urgent } else { Kind::Slow }
}

/// Whether the quick threads give a task less time than others: nothing waits for it, and the slow threads
/// have others of its connection.
fn is_glanced_at(shared: &Arc<Shared>, task: &Task) -> bool {
    !task.interrupt.is_hurried() && shared.pool.has_slow(task.conn) && longer(shared, task) == Kind::Slow
}

/// The result of the work on a task.
enum Answered {
    Fully,
    /// More time would decide it; in a hurry, what the quick threads found is good enough.
    Partly,
    /// Any answer takes more time than they have.
    NotYet,
}

fn answer(shared: &Arc<Shared>, kind: Kind, task: &Task) -> Answered {
    let output = match shared.with(|state| state.context(task)) {
        _ if task.interrupt.is_ended() => Output::Refused(RequestError::unprepared()),
        Err(refusal) => Output::Refused(refusal),
        Ok(context) => {
            let is_go = matches!(task.work, Work::Go(..));
            let is_glance = kind == Kind::Quick && is_glanced_at(shared, task);
            let effort = match kind {
                Kind::Quick if is_glance => Effort::glance(task.interrupt.clone()),
                Kind::Quick => Effort::brief(task.interrupt.clone()),
                Kind::Urgent | Kind::Slow if is_go => Effort::whole(task.interrupt.clone()),
                Kind::Urgent | Kind::Slow => Effort::of_question(task.interrupt.clone()),
            };
            let effort = if kind == Kind::Slow { effort.in_pieces(give_way) } else { effort };
            let output = if kind == Kind::Slow {
                work_apart(shared, task, context, &effort)
            } else {
                catch_unwind(AssertUnwindSafe(|| shared.request_worker.work(task, context, &effort)))
            };
            let output = output.unwrap_or_else(|panic| Output::Refused(broken(shared, panic)));
            // In a hurry a search begins with what is known; a question cannot use that. After a glance both
            // are tried once more.
            let is_hurried = task.interrupt.is_hurried() && !is_glance;
            let is_short = effort.was_broken_off() || (effort.was_cut() && !(is_hurried && is_go));
            let is_over = task.interrupt.is_ended() || (is_hurried && !is_go);
            match kind {
                _ if !is_short => output,
                Kind::Quick if !is_over => {
                    drop_output(output);
                    return if effort.was_broken_off() && is_go && !is_glance {
                        Answered::NotYet
                    } else {
                        Answered::Partly
                    };
                }
                _ => {
                    drop_output(output);
                    Output::Refused(RequestError::unprepared())
                }
            }
        }
    };
    shared.with(|state| state.commit(task, output, now_ns()));
    Answered::Fully
}

/// Works on what no clock waits for, below the priority of searches. On a thread of its own, because a thread
/// cannot raise its priority again, and what it starts inherits it: the caller commits, which may start a
/// search.
fn work_apart(
    shared: &Shared,
    task: &Task,
    context: Context,
    effort: &Arc<Effort>,
) -> std::thread::Result<Output> {
    let mut context = Some(context);
    let mut work = || Some(shared.request_worker.work(task, context.take()?, effort));
    let done = std::thread::scope(|scope| {
        let apart = || {
            let _within = task.span.enter();
            shared.slow_priority.apply();
            work()
        };
        let started = std::thread::Builder::new().name("slow-reading".to_owned()).spawn_scoped(scope, apart);
        started.map(std::thread::ScopedJoinHandle::join)
    });
    let output = match done {
        Ok(joined) => joined?,
        Err(error) => {
            tracing::error!(target: targets::POOL, %error, "cannot start a thread for a slow request");
            catch_unwind(AssertUnwindSafe(work))?
        }
    };
    Ok(output.unwrap_or_else(|| Output::Refused(RequestError::unprepared())))
}

/// Drops the output of work that is redone: its destructors are the games' code.
fn drop_output(output: Output) {
    if catch_unwind(AssertUnwindSafe(|| drop(output))).is_err() {
        tracing::error!(target: targets::POOL, "dropping what a game made panicked");
    }
}

/// The answer to a request that panicked.
fn broken(shared: &Shared, panic: Box<dyn Any + Send>) -> RequestError {
    let incident = shared.incident("a request panicked", panic.as_ref());
    if let Err(worse) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        // The payload of a game's panic may itself panic when dropped; the second payload is not dropped.
        std::mem::forget(worse);
    }
    RequestError::new(ErrorCode::Internal, format!("the server failed; see {incident} in its log"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_take_turns_and_none_holds_all_threads() {
        let mut turns = Turns::new(2);
        for item in 0..5 {
            turns.push(1, (1, item));
        }
        turns.push(2, (2, 0));
        turns.push(3, (3, 0));
        assert_eq!([turns.next(), turns.next(), turns.next()], [Some((1, 0)), Some((2, 0)), Some((3, 0))]);
        assert_eq!(turns.next(), Some((1, 1)));
        assert_eq!((turns.next(), turns.len()), (None, 3), "one connection has its share");
        turns.push(2, (2, 1));
        assert_eq!(turns.next(), Some((2, 1)), "others go before");
        turns.done(1);
        assert_eq!(turns.next(), Some((1, 2)));
        assert_eq!(turns.remove(1, |item| item.1 == 4), Some((1, 4)));
        assert_eq!((turns.remove(1, |item| item.1 == 4), turns.len()), (None, 1));
        // What is in progress counts as well as what waits.
        assert!([1, 2, 3].into_iter().all(|conn| turns.has(conn)) && !turns.has(4));
        turns.done(3);
        assert!(!turns.has(3));
    }
}
