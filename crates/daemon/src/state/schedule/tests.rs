//! The schedule on a simulated machine: cores that switch at once, and a clock that jumps from decision to
//! decision.

use std::cell::Cell;
use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000;

thread_local! {
    /// The number of debts that were checked.
    pub(crate) static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// Cores that do what the schedule decides.
struct Machine {
    schedule: Schedule,
    now_ns: u64,
    running: BTreeSet<JobId>,
    /// The searches in the order of their first run.
    begun: Vec<JobId>,
    /// The time on its cores that each search had.
    ran_ns: HashMap<JobId, u64>,
    /// The searches whose first iteration takes time, and of whose cores other programs take a share.
    hard: HashMap<JobId, Hard>,
    /// How often the fewest that leave are looked for.
    rounds: usize,
}

/// What makes a search hard.
#[derive(Clone, Copy)]
struct Hard {
    /// The time on its cores that its first iteration takes.
    first_ns: u64,
    /// The share of that time that is CPU time, in percent.
    cpu_percent: u64,
}

const EASY: Hard = Hard { first_ns: 0, cpu_percent: 100 };

impl Machine {
    fn new(cores: usize) -> Self {
        let (running, begun, ran_ns, hard) = (BTreeSet::new(), Vec::new(), HashMap::new(), HashMap::new());
        Self { schedule: Schedule::new(cores), now_ns: 1000 * MS, running, begun, ran_ns, hard, rounds: 16 }
    }

    /// Makes a search's first iteration take so long.
    fn is_slow(&mut self, id: JobId, first_ms: u64) {
        self.hard.insert(id, Hard { first_ns: first_ms * MS, cpu_percent: 100 });
    }

    fn claim(&self, conn: ConnId, threads: usize, class: Class, in_ms: Option<u64>) -> Claim {
        Claim { conn, client: None, threads, class, deadline_ns: in_ms.map(|ms| self.now_ns + ms * MS) }
    }

    fn enter(&mut self, id: JobId, claim: Claim) {
        self.schedule.enter(id, claim, self.now_ns);
        self.schedule.ready(id);
        self.decide();
    }

    fn endless(&mut self, id: JobId, conn: ConnId, threads: usize) {
        self.enter(id, self.claim(conn, threads, Class::Endless, None));
    }

    /// A search for a move; the deadline in ms, if it has one and not a limit.
    fn goes(&mut self, id: JobId, conn: ConnId, in_ms: Option<u64>) {
        self.enter(id, self.claim(conn, 1, Class::Move, in_ms));
    }

    /// Admits a search, if possible; returns the decision.
    fn asks(&mut self, id: JobId, claim: Claim) -> Admission {
        let admission = self.schedule.admission_after(self.rounds, &claim, self.now_ns);
        if let Admission::Displaces(ids) = &admission {
            ids.iter().for_each(|id| self.leave(*id));
        }
        if admission != Admission::Refused {
            self.enter(id, claim);
        }
        admission
    }

    fn leave(&mut self, id: JobId) {
        assert!(self.schedule.leave(id, self.now_ns));
        assert!(!self.schedule.leave(id, self.now_ns), "its cores are given back once");
        self.running.remove(&id);
        self.decide();
    }

    fn decide(&mut self) {
        let (ran_ns, hard) = (&self.ran_ns, &self.hard);
        let progress = |id| {
            let ran_ns = ran_ns.get(&id).copied().unwrap_or(0);
            let Hard { first_ns, cpu_percent } = hard.get(&id).copied().unwrap_or(EASY);
            Progress { is_searched: ran_ns >= first_ns, cpu_ns: ran_ns / 100 * cpu_percent }
        };
        let Changes { begun, resumed, paused } = self.schedule.decide(self.now_ns, progress);
        paused.iter().for_each(|id| assert!(self.running.remove(id), "{id} pauses, which does not run"));
        for id in begun.iter().chain(&resumed) {
            assert!(self.running.insert(*id), "{id} runs already");
            assert_eq!(begun.contains(id), !self.begun.contains(id), "{id} begins once");
        }
        self.begun.extend(begun);
        self.check();
    }

    /// Never more threads than cores, and no idle core that a waiting search could use.
    fn check(&self) {
        let threads = |ids: &BTreeSet<JobId>| ids.iter().map(|id| self.schedule.threads_of(*id)).sum();
        let (running, cores): (usize, usize) = (threads(&self.running), self.schedule.cores);
        assert!(running <= cores, "{running} threads on {cores} cores");
        assert_eq!(running, self.schedule.running());
        for (id, search) in self.schedule.searches.iter().filter(|(id, _)| !self.running.contains(*id)) {
            let fits = running + search.claim.threads <= cores;
            assert!(!search.is_ready || !fits, "{id} waits beside {} idle cores", cores - running);
        }
    }

    fn run(&mut self, ms: u64) {
        let end_ns = self.now_ns + ms * MS;
        while self.now_ns < end_ns {
            let next_ns = self.schedule.next_ns().unwrap_or(end_ns).min(end_ns);
            assert!(next_ns > self.now_ns, "a decision leads to the next at the same instant");
            for id in &self.running {
                *self.ran_ns.entry(*id).or_default() += next_ns - self.now_ns;
            }
            self.now_ns = next_ns;
            if self.schedule.is_due(next_ns) {
                self.decide();
            }
        }
    }

    fn ran_ms(&self, ids: impl IntoIterator<Item = JobId>) -> u64 {
        ids.into_iter().map(|id| self.ran_ns.get(&id).copied().unwrap_or(0)).sum::<u64>() / MS
    }
}

#[test]
fn moves_come_before_what_is_endless_and_the_earliest_deadline_first() {
    let mut machine = Machine::new(1);
    machine.endless(1, 1, 1);
    machine.run(5);
    machine.goes(2, 2, Some(90));
    machine.goes(3, 3, Some(60));
    machine.goes(4, 4, None);
    machine.goes(5, 5, Some(8));
    assert_eq!(machine.running, BTreeSet::from([5]));
    machine.run(6);
    assert_eq!((machine.ran_ms([5]), &machine.running), (6, &BTreeSet::from([3])));
    machine.run(10);
    assert_eq!((machine.ran_ms([3]), &machine.running), (10, &BTreeSet::from([2])));
    machine.run(10);
    assert_eq!(machine.ran_ms([2]), 10);
    // From here on turns: of the moves, whatever ends them.
    machine.run(30);
    assert!([2, 3, 4, 5].iter().all(|id| machine.ran_ms([*id]) >= 5), "{:?}", machine.ran_ns);
    assert_eq!(machine.ran_ms([1]), 5, "an endless search waits for all moves");
    (2..=5).for_each(|id| machine.leave(id));
    assert_eq!(machine.running, BTreeSet::from([1]));
}

/// Searches and threads of each connection, the cores, and the time that each connection gets in ms of 12 s.
type Shares = (&'static [(u64, usize)], usize, &'static [u64]);

#[test]
fn connections_share_alike_however_many_searches_they_have() {
    let table: &[Shares] = &[
        (&[(250, 1), (1, 1)], 1, &[6000, 6000]),
        (&[(250, 1), (1, 1), (1, 1)], 1, &[4000, 4000, 4000]),
        (&[(250, 2), (1, 2), (3, 2)], 2, &[8000, 8000, 8000]),
        // While one thread runs beside a search of two, a core is idle.
        (&[(250, 2), (1, 1)], 2, &[8000, 8000]),
        (&[(2, 1), (1, 2)], 2, &[12_000, 12_000]),
        (&[(9, 1), (1, 1)], 2, &[12_000, 12_000]),
        (&[(9, 1)], 4, &[48_000]),
    ];
    for class in [Class::Endless, Class::Move] {
        for &(conns, cores, shares) in table {
            let mut machine = Machine::new(cores);
            for (conn, &(searches, threads)) in (0..).zip(conns) {
                for search in 0..searches {
                    let claim = machine.claim(conn, threads, class, None);
                    machine.enter(conn * 1000 + search, claim);
                }
            }
            machine.run(12_000);
            for (conn, (&(searches, threads), &share)) in (0..).zip(conns.iter().zip(shares)) {
                let ran = machine.ran_ms((0..searches).map(|search| conn * 1000 + search));
                let used = ran * threads as u64;
                assert!(used.abs_diff(share) <= 100 * cores as u64, "{class:?} {conns:?}: {used} of {share}");
                // And so do the searches of a connection.
                let each = (0..searches).map(|search| machine.ran_ms([conn * 1000 + search]));
                let (least, most) = (each.clone().min().unwrap(), each.max().unwrap());
                assert!(most - least <= 2 * ENDLESS_TURN_NS / MS, "{conns:?}: {least} to {most} ms");
            }
        }
    }
}

#[test]
fn a_connection_that_comes_late_claims_nothing_of_what_was() {
    let mut machine = Machine::new(1);
    machine.endless(1, 1, 1);
    machine.run(10_000);
    machine.endless(2, 2, 1);
    machine.run(1000);
    assert!(machine.ran_ms([2]).abs_diff(500) <= 40, "{:?}", machine.ran_ns);
    assert_eq!(machine.ran_ms([1, 2]), 11_000);
}

#[test]
fn what_does_not_fit_is_refused_of_the_connection_that_has_most() {
    let mut machine = Machine::new(1);
    let claim = |machine: &Machine, conn| machine.claim(conn, 1, Class::Move, Some(100));
    // 87.5 ms carry eight minimums of 10 ms.
    for id in 1..=8 {
        assert_eq!(machine.asks(id, claim(&machine, 1)), Admission::Fits);
    }
    assert_eq!(machine.asks(9, claim(&machine, 1)), Admission::Refused);
    assert_eq!(machine.schedule.backlog_ns(machine.now_ns) / MS, 91);
    // Others get their places from the connection that has most, until it has no more than they; its running
    // search stays.
    for (id, displaced) in [(10, 8), (11, 7), (12, 6), (13, 5), (14, 4)] {
        assert_eq!(machine.asks(id, claim(&machine, id)), Admission::Displaces(vec![displaced]));
    }
    assert_eq!(machine.asks(15, claim(&machine, 10)), Admission::Displaces(vec![3]));
    assert_eq!(machine.asks(16, claim(&machine, 10)), Admission::Refused);
    assert_eq!(machine.asks(17, claim(&machine, 17)), Admission::Displaces(vec![15]));
    // All have one search but the first, of whose two one runs.
    assert_eq!(machine.asks(18, claim(&machine, 18)), Admission::Displaces(vec![2]));
    assert_eq!(machine.asks(19, claim(&machine, 19)), Admission::Refused);
    // Others fit all the same: an endless one, one with more time, one whose clock allows nothing.
    assert_eq!(machine.asks(20, machine.claim(1, 1, Class::Endless, None)), Admission::Fits);
    assert_eq!(machine.asks(21, machine.claim(1, 1, Class::Move, None)), Admission::Fits);
    assert_eq!(machine.asks(22, machine.claim(1, 1, Class::Move, Some(120))), Admission::Fits);
    assert_eq!(machine.asks(23, machine.claim(1, 1, Class::Move, Some(4))), Admission::Fits);
    machine.run(100);
    for id in [1, 10, 11, 12, 13, 14, 17, 18] {
        assert!(machine.ran_ms([id]) >= 10, "{id} had {} ms", machine.ran_ms([id]));
    }
}

#[test]
fn whoever_leaves_makes_a_debt_that_was_late_be_paid_in_time() {
    let mut machine = Machine::new(1);
    let near = |machine: &Machine, conn| machine.claim(conn, 1, Class::Move, Some(100));
    let far = |machine: &Machine| machine.claim(1, 1, Class::Move, Some(60_000));
    // Eight minimums fit into 100 ms, and many more into a minute.
    for (id, conn) in [(1, 1), (2, 1), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8)] {
        assert_eq!(machine.asks(id, near(&machine, conn)), Admission::Fits);
    }
    for id in 100..300 {
        assert_eq!(machine.asks(id, far(&machine)), Admission::Fits);
    }
    // One for one, and none of those that are paid later anyway.
    assert_eq!(machine.asks(9, near(&machine, 9)), Admission::Displaces(vec![2]));
    assert_eq!(machine.asks(10, near(&machine, 10)), Admission::Refused, "the rest stays where none helps");
    let (before, later) =
        (machine.claim(11, 1, Class::Move, Some(110)), machine.claim(12, 1, Class::Move, Some(115)));
    assert_eq!(machine.asks(11, before), Admission::Fits);
    assert_eq!(machine.asks(12, later), Admission::Fits);
}

#[test]
fn as_few_leave_as_are_needed() {
    let mut machine = Machine::new(4);
    for id in 1..=32 {
        assert_eq!(machine.asks(id, machine.claim(1, 1, Class::Move, Some(100))), Admission::Fits);
    }
    // A search of four threads needs a row of its own: 8 rows of 10 ms are in 87.5 ms.
    let gang = |machine: &Machine, conn| machine.claim(conn, 4, Class::Move, Some(100));
    assert_eq!(machine.asks(33, gang(&machine, 2)), Admission::Displaces(vec![32, 31, 30, 29]));
}

#[test]
fn a_search_keeps_its_cores_until_its_first_iteration_is_complete() {
    // The time that the first iteration takes, and what the search has had of 60 ms beside another move,
    // which has had its minimum before.
    for (first_ms, had) in [(0, 28..=36), (9, 28..=36), (14, 28..=36), (38, 40..=45), (200, 60..=60)] {
        let mut machine = Machine::new(1);
        machine.goes(1, 1, None);
        machine.run(10);
        machine.is_slow(2, first_ms);
        machine.goes(2, 2, Some(1000));
        machine.run(60);
        let ran_ms = machine.ran_ms([2]);
        assert!(had.contains(&ran_ms), "{ran_ms} ms of 60 where the first iteration takes {first_ms}");
        // And it is charged for all of it: the other gets as much.
        let least = ran_ms - 10;
        machine.is_slow(2, 0);
        machine.run(60);
        assert!(machine.ran_ms([1]) >= 10 + least, "{:?}", machine.ran_ns);
    }
    // Whoever needs more takes turns in the end.
    let mut machine = Machine::new(1);
    machine.is_slow(1, 10_000);
    machine.goes(1, 1, Some(2000));
    machine.goes(2, 2, Some(2000));
    machine.run(1000);
    assert!(machine.ran_ms([2]) >= 440, "{:?}", machine.ran_ns);
}

#[test]
fn a_minimum_is_cpu_time_where_other_programs_take_a_share_of_the_core() {
    let mut machine = Machine::new(1);
    machine.hard.insert(1, Hard { first_ns: 0, cpu_percent: 50 });
    machine.goes(1, 1, Some(80));
    machine.goes(2, 2, Some(90));
    machine.run(19);
    assert_eq!(machine.ran_ms([1]), 19, "half of them were CPU time");
    machine.run(12);
    assert_eq!(machine.ran_ms([2]), 10 + 1);
}

#[test]
fn an_extra_ends_when_the_first_iteration_is_complete() {
    let mut machine = Machine::new(1);
    machine.is_slow(1, 12);
    machine.goes(1, 1, Some(1000));
    machine.goes(2, 2, None);
    machine.run(13);
    machine.schedule.advanced(1);
    machine.decide();
    assert_eq!((machine.ran_ms([1]), &machine.running), (13, &BTreeSet::from([2])));
    // Where there is no extra, there is nothing to decide.
    machine.schedule.advanced(1);
    machine.schedule.advanced(7);
    assert!(!machine.schedule.is_due(machine.now_ns));
}

#[test]
fn an_extra_costs_no_minimum_and_keeps_out_nobody_with_fewer_searches() {
    let mut machine = Machine::new(1);
    machine.is_slow(1, 1000);
    for id in 1..=8 {
        assert_eq!(machine.asks(id, machine.claim(id, 1, Class::Move, Some(100))), Admission::Fits);
    }
    // 87.5 ms carry one piece beside eight minimums.
    machine.run(85);
    assert!((2..=8).all(|id| machine.ran_ms([id]) == 10), "{:?}", machine.ran_ns);
    assert_eq!(machine.ran_ms([1]), 15);
    (1..=8).for_each(|id| machine.leave(id));
    for id in [11, 12] {
        machine.is_slow(id, 1000);
        assert_eq!(machine.asks(id, machine.claim(1, 1, Class::Move, Some(30))), Admission::Fits);
    }
    machine.run(26);
    assert!(machine.schedule.searches[&12].has_extra);
    let claim = |machine: &Machine, conn| machine.claim(conn, 1, Class::Move, Some(5));
    assert_eq!(machine.asks(20, claim(&machine, 1)), Admission::Refused);
    assert_eq!(machine.asks(21, claim(&machine, 2)), Admission::Fits);
    assert_eq!(machine.running, BTreeSet::from([21]));
    machine.run(3);
    assert_eq!(machine.ran_ms([21]), 3);
}

#[test]
fn a_clock_that_is_almost_over_is_refused_where_minimums_take_the_cores() {
    let mut machine = Machine::new(2);
    let brief = |machine: &Machine, conn| Claim {
        deadline_ns: Some(machine.now_ns + 7 * MS / 2),
        ..machine.claim(conn, 1, Class::Move, None)
    };
    // What takes turns makes room at once.
    machine.endless(1, 1, 2);
    machine.goes(2, 2, None);
    machine.goes(3, 3, None);
    assert_eq!(machine.asks(4, brief(&machine, 4)), Admission::Fits);
    assert!(machine.running.contains(&4));
    machine.leave(4);
    // One core is left by the minimum of another, then none; and one whose clock is over asks for none.
    machine.goes(5, 5, Some(100));
    assert_eq!(machine.asks(6, brief(&machine, 6)), Admission::Fits);
    assert_eq!(machine.asks(7, brief(&machine, 7)), Admission::Refused);
    assert_eq!(machine.asks(8, machine.claim(8, 1, Class::Move, Some(0))), Admission::Fits);
    machine.run(20);
    assert_eq!(machine.asks(9, brief(&machine, 9)), Admission::Fits);
}

#[test]
fn for_a_clock_that_is_almost_over_those_leave_that_have_more_and_have_not_begun() {
    let brief = |machine: &Machine, conn| Claim {
        deadline_ns: Some(machine.now_ns + 7 * MS / 2),
        ..machine.claim(conn, 1, Class::Move, None)
    };
    // One search of each connection runs on two cores, and what the others have waits for its minimum.
    let mut machine = Machine::new(2);
    for (id, conn) in [(1, 1), (2, 2), (3, 1), (4, 1), (5, 2)] {
        machine.goes(id, conn, Some(200));
    }
    assert_eq!(machine.running, BTreeSet::from([1, 2]));
    // Whoever has begun is owed a minimum as well, and stays: two of them leave no core.
    assert_eq!(machine.asks(6, brief(&machine, 6)), Admission::Refused);
    machine.leave(2);
    machine.leave(5);
    assert_eq!(machine.running, BTreeSet::from([1, 3]));
    machine.leave(3);
    machine.goes(7, 1, Some(200));
    machine.leave(4);
    machine.goes(8, 1, Some(300));
    assert_eq!(machine.running, BTreeSet::from([1, 7]));
    assert_eq!(machine.asks(9, brief(&machine, 1)), Admission::Refused, "it has no less than itself");
    machine.leave(7);
    assert_eq!(machine.running, BTreeSet::from([1, 8]));
    machine.leave(8);
    // On one core of two runs a search; the other is kept free by one that is not ready.
    let claim = machine.claim(1, 1, Class::Move, Some(200));
    machine.schedule.enter(10, claim, machine.now_ns);
    machine.decide();
    assert_eq!(machine.asks(11, brief(&machine, 2)), Admission::Displaces(vec![10]));
    assert!(machine.running.contains(&11), "it runs at once");
}

#[test]
fn nobody_is_refused_for_whom_others_could_leave_however_few_the_attempts() {
    for rounds in 0..4 {
        let mut machine = Machine::new(1);
        for id in 1..=8 {
            assert_eq!(machine.asks(id, machine.claim(1, 1, Class::Move, Some(100))), Admission::Fits);
        }
        for id in 9..=40 {
            let in_ms = Some(115 * (id - 8) / 10 + 100);
            assert_eq!(machine.asks(id, machine.claim(1, 1, Class::Move, in_ms)), Admission::Fits, "{id}");
        }
        let claim = machine.claim(2, 1, Class::Move, Some(100));
        let admission = machine.schedule.admission_after(rounds, &claim, machine.now_ns);
        assert!(
            matches!(&admission, Admission::Displaces(ids) if !ids.contains(&1) && (rounds == 0 || ids.len() == 1)),
            "{admission:?} with {rounds}"
        );
        // Those that have less than it, or have begun, never leave.
        let claim = Claim { threads: 1, ..machine.claim(1, 1, Class::Move, Some(100)) };
        let admission = machine.schedule.admission_after(rounds, &claim, machine.now_ns);
        assert_eq!(admission, Admission::Refused, "{rounds}");
    }
}

#[test]
fn an_admission_looks_at_each_debt_a_few_times() {
    let mut machine = Machine::new(1);
    let count = 2500;
    assert_eq!(machine.asks(1, machine.claim(1, 1, Class::Move, Some(20))), Admission::Fits);
    // Ten connections with 250 searches each, all of which fit into a minute.
    for id in 0..count {
        let claim = machine.claim(10 + id % 10, 1, Class::Move, Some(60_000));
        machine.schedule.enter(100 + id, claim, machine.now_ns);
        machine.schedule.ready(100 + id);
    }
    for (conn, in_ms, wanted) in [
        // The one before it runs, and all others come later.
        (2, 20, Admission::Refused),
        (3, 61_000, Admission::Fits),
    ] {
        STEPS.set(0);
        let claim = machine.claim(conn, 1, Class::Move, Some(in_ms));
        assert_eq!(machine.schedule.admission(&claim, machine.now_ns), wanted);
        assert!(STEPS.get() <= 2 * count as usize, "{} steps for {in_ms} ms", STEPS.get());
    }
    // As many as the cores can carry: the searches that leave are found by bisection.
    let most = 60_000 / 8 * 7 / 10 - 1;
    for id in count..most {
        machine.schedule.enter(100 + id, machine.claim(10, 1, Class::Move, Some(60_000)), machine.now_ns);
    }
    STEPS.set(0);
    let claim = machine.claim(3, 1, Class::Move, Some(60_000));
    assert!(
        matches!(machine.schedule.admission(&claim, machine.now_ns), Admission::Displaces(ids) if ids.len() == 1)
    );
    let halves = usize::BITS - (most as usize).leading_zeros() + 3;
    assert!(STEPS.get() <= halves as usize * most as usize, "{} steps", STEPS.get());
}

#[test]
fn a_search_alone_is_never_refused() {
    for (cores, threads, in_ms) in [1, 4].iter().flat_map(|cores| {
        (1..=4).flat_map(move |threads| [0, 1, 4, 5, 6, 10, 11, 100, 100_000].map(|ms| (*cores, threads, ms)))
    }) {
        let mut machine = Machine::new(cores);
        machine.endless(1, 1, 4);
        let claim = machine.claim(2, threads, Class::Move, Some(in_ms));
        assert_eq!(machine.asks(2, claim), Admission::Fits, "{in_ms} ms on {cores} cores");
        assert!(machine.running.contains(&2));
    }
}

#[test]
fn a_search_changes_its_kind_and_waits_for_its_thread() {
    let mut machine = Machine::new(1);
    machine.endless(1, 1, 1);
    machine.endless(2, 2, 1);
    let deadline_ns = Some(machine.now_ns + 50 * MS);
    machine.schedule.change(2, Class::Move, deadline_ns, machine.now_ns);
    machine.decide();
    assert_eq!(machine.running, BTreeSet::from([2]));
    let claim = machine.claim(3, 1, Class::Move, Some(20));
    machine.schedule.enter(3, claim, machine.now_ns);
    machine.decide();
    assert_eq!(machine.running, BTreeSet::from([2]), "its thread is not free");
    machine.schedule.ready(3);
    machine.decide();
    assert_eq!(machine.running, BTreeSet::from([3]));
    machine.run(10);
    assert_eq!(machine.running, BTreeSet::from([2]));
}

#[test]
fn an_update_takes_no_minimum_from_others() {
    let mut machine = Machine::new(1);
    (0..250).for_each(|id| machine.endless(id, 1, 1));
    let claim = machine.claim(2, 1, Class::Move, Some(100));
    assert_eq!(machine.asks(1000, claim), Admission::Fits);
    let deadline_ns = Some(machine.now_ns + 90 * MS);
    for id in 0..250 {
        machine.schedule.change(id, Class::Move, deadline_ns, machine.now_ns);
    }
    machine.decide();
    machine.run(100);
    assert!(machine.ran_ms([1000]) >= 10, "{:?}", machine.ran_ns);
    // Those that fit beside it had theirs.
    assert_eq!((0..250).filter(|id| machine.ran_ms([*id]) >= 10).count(), 7);
}

/// What happens on a machine.
#[derive(Clone, Debug)]
enum Event {
    Comes { conn: ConnId, threads: usize, class: Class, in_ms: Option<u64> },
    Leaves(usize),
    Changes(usize, Class, Option<u64>),
    Passes(u64),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let class = || prop_oneof![Just(Class::Move), Just(Class::Endless)];
    let in_ms = || prop_oneof![Just(None), (0..200u64).prop_map(Some)];
    let event = prop_oneof![
        4 => (0..4u64, 1..4usize, class(), in_ms())
            .prop_map(|(conn, threads, class, in_ms)| Event::Comes { conn, threads, class, in_ms }),
        1 => any::<usize>().prop_map(Event::Leaves),
        1 => (any::<usize>(), class(), in_ms()).prop_map(|(at, class, in_ms)| Event::Changes(at, class, in_ms)),
        3 => (1..30u64).prop_map(Event::Passes),
    ];
    proptest::collection::vec(event, 1..80)
}

#[test]
fn where_all_places_are_taken_whoever_has_most_makes_room() {
    let mut machine = Machine::new(1);
    for id in 1..=3 {
        machine.endless(id, 1, 1);
    }
    machine.goes(4, 2, Some(1000));
    let rooms = |machine: &Machine, places| [1, 2, 3].map(|conn| machine.schedule.room(conn, places));
    assert_eq!(rooms(&machine, 5), [Admission::Fits, Admission::Fits, Admission::Fits]);
    let third = || Admission::Displaces(vec![3]);
    assert_eq!(rooms(&machine, 4), [Admission::Refused, third(), third()]);
    // Searches for moves that have all begun keep no other out either.
    (1..=3).for_each(|id| machine.leave(id));
    machine.goes(5, 2, Some(2000));
    machine.goes(6, 2, None);
    machine.run(100);
    let last = || Admission::Displaces(vec![6]);
    assert_eq!(rooms(&machine, 3), [last(), Admission::Refused, last()]);
}

proptest! {
    /// [`Machine::check`] holds at every decision, and whatever happens, a waiting search is served once the
    /// others have left.
    #[test]
    fn cores_are_never_taken_twice_nor_left_idle(cores in 1..5usize, events in events()) {
        let mut machine = Machine::new(cores);
        let mut inside: Vec<JobId> = Vec::new();
        for (id, event) in (0..).zip(events) {
            match event {
                Event::Comes { conn, threads, class, in_ms } => {
                    let claim = machine.claim(conn, threads, class, in_ms);
                    machine.enter(id, claim);
                    inside.push(id);
                }
                Event::Leaves(at) if !inside.is_empty() => machine.leave(inside.swap_remove(at % inside.len())),
                Event::Changes(at, class, in_ms) if !inside.is_empty() => {
                    let deadline_ns = in_ms.map(|ms| machine.now_ns + ms * MS);
                    machine.schedule.change(inside[at % inside.len()], class, deadline_ns, machine.now_ns);
                    machine.decide();
                }
                Event::Passes(ms) => machine.run(ms),
                _ => {}
            }
        }
        while let Some(id) = machine.running.first().copied() {
            machine.leave(id);
        }
        prop_assert!(machine.schedule.searches.is_empty() && machine.schedule.accounts.is_empty());
        prop_assert_eq!(machine.schedule.held, 0);
    }

    /// Every search that is admitted and stays has its minimum before its deadline, however slow the others
    /// are.
    #[test]
    fn what_is_taken_in_is_kept(
        cores in 1..5usize,
        events in events(),
        slow in any::<u64>(),
        rounds in prop_oneof![0..4usize, Just(16)],
    ) {
        let mut machine = Machine::new(cores);
        machine.rounds = rounds;
        let hard = (0..80).filter(|id| slow >> (id % 64) & 1 == 1);
        machine.hard = hard.map(|id| (id, Hard { first_ns: id * MS, cpu_percent: 100 - id })).collect();
        let mut owed: HashMap<JobId, (u64, u64)> = HashMap::new();
        for (id, event) in (0..).zip(events) {
            match event {
                Event::Comes { conn, threads, class, in_ms } => {
                    let claim = machine.claim(conn, threads, class, in_ms);
                    let minimum_ns = claim.minimum(machine.now_ns);
                    let admission = machine.asks(id, claim);
                    if let Admission::Displaces(ids) = &admission {
                        for id in ids {
                            owed.remove(id);
                            prop_assert!(!machine.ran_ns.contains_key(id), "{id} had begun");
                        }
                    }
                    if admission != Admission::Refused && let Some(deadline_ns) = claim.deadline_ns {
                        owed.insert(id, (deadline_ns, minimum_ns));
                    }
                }
                Event::Passes(ms) => machine.run(ms),
                _ => {}
            }
            for (id, (_, minimum_ns)) in owed.iter().filter(|(_, (at, _))| *at <= machine.now_ns) {
                let ran_ns = machine.ran_ns.get(id).copied().unwrap_or(0);
                prop_assert!(ran_ns >= *minimum_ns, "{id} had {ran_ns} of {minimum_ns} ns");
            }
            let over: Vec<JobId> =
                owed.iter().filter(|(_, (at, _))| *at <= machine.now_ns).map(|(id, _)| *id).collect();
            for id in over {
                owed.remove(&id);
                machine.leave(id);
            }
        }
    }
}
