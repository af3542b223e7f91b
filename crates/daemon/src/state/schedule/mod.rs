//! The scheduler: shares the cores out between all searches, so that there are never more running search
//! threads than cores.
//!
//! Knows no thread, no clock and no job: instants come in as numbers, and the decisions which searches
//! start, resume and pause come out. Searches are served in this order:
//!
//! 1. Searches for a move that have a deadline, until each has had its minimum, and the extra that makes it
//!    a real search: earliest deadline first.
//! 2. Searches for a move that end by themselves: in turns, the connection that used least first.
//! 3. What runs until somebody stops it: in longer turns, the connection that used least first.
//!
//! A search of several threads takes its cores together (gang scheduling). A search that is not among the
//! first to fit pauses at once, whatever is left of its turn. A search with a deadline is admitted only if
//! every minimum still fits before its deadline: the test simulates how the cores will pay all debts,
//! earliest deadline first, so that each promise is kept.

mod admission;
mod claim;
mod extra;
mod plan;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, HashMap};

use crate::ids::{ClientId, ConnId, JobId};
use claim::Holdings;
use plan::Debt;

pub(super) use admission::Admission;
pub(super) use claim::{Claim, Class, Holding};
pub(super) use extra::Progress;
pub(super) use plan::Plan;

/// A turn of a search for a move that had its minimum.
const MOVE_TURN_NS: u64 = 5_000_000;
/// A turn of a search without an end.
const ENDLESS_TURN_NS: u64 = 20_000_000;
/// What changes on the cores.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Changes {
    /// Searches that run for the first time.
    pub(super) begun: Vec<JobId>,
    /// Searches that go on.
    pub(super) resumed: Vec<JobId>,
    /// Searches that pause.
    pub(super) paused: Vec<JobId>,
}

/// An admitted search.
#[derive(Debug)]
struct AdmittedSearch {
    claim: Claim,
    /// The CPU time that it was promised.
    minimum_ns: u64,
    /// The time on its cores at which it has had what it was promised.
    promised_ns: u64,
    /// Whether what it is owed comes on top of its minimum.
    has_extra: bool,
    /// Whether it can run: its thread is free.
    is_ready: bool,
    has_begun: bool,
    /// Its time on its cores.
    used_ns: u64,
    turn: Option<TimeSlice>,
}

/// A search's time on its cores while it runs.
#[derive(Clone, Copy, Debug)]
struct TimeSlice {
    /// Until when it is charged.
    charged_ns: u64,
    /// When others get their turn.
    until_ns: u64,
    /// Its place when the turn began, which it keeps while the turn lasts.
    place: Place,
}

/// The rank of a search: the smallest runs first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Place {
    rank: Rank,
    /// The deadline, or what the connection used.
    first: u64,
    /// What the search itself used.
    second: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Rank {
    Promised,
    Turns(Class),
}

impl AdmittedSearch {
    fn rank(&self) -> Rank {
        if self.used_ns < self.promised_ns { Rank::Promised } else { Rank::Turns(self.claim.class) }
    }

    /// The rest of its minimum at an instant, which it must get before its deadline.
    fn owed(&self, now_ns: u64) -> u64 {
        let running_ns = self.turn.map_or(0, |turn| now_ns.saturating_sub(turn.charged_ns));
        let owed_ns = self.promised_ns.saturating_sub(self.used_ns + running_ns);
        let left_ns = self.claim.deadline_ns.map_or(0, |deadline_ns| deadline_ns.saturating_sub(now_ns));
        owed_ns.min(left_ns)
    }

    /// So much owed to it before its deadline; none if it has no deadline, or is owed nothing.
    fn debt(&self, id: JobId, owed_ns: u64) -> Option<Debt> {
        let Claim { threads, deadline_ns, .. } = self.claim;
        let debt =
            Debt { deadline_ns: deadline_ns?, threads, owed_ns, to: Some(id), is_extra: self.has_extra };
        (owed_ns > 0).then_some(debt)
    }
}

/// The time that a connection used, while it has searches.
#[derive(Debug)]
struct Account {
    searches: usize,
    used_ns: u64,
}

/// All admitted searches, and which of them run.
#[derive(Debug)]
pub(crate) struct Schedule {
    cores: usize,
    searches: BTreeMap<JobId, AdmittedSearch>,
    accounts: HashMap<(Class, ConnId), Account>,
    holdings: Holdings,
    /// The searches that run.
    running: Vec<JobId>,
    /// The threads of all searches.
    held: usize,
    /// Whether something changed since the last decision.
    is_stale: bool,
    /// When the next decision is due, if nothing changes until then.
    next_ns: Option<u64>,
    /// Whether a search that is not admitted waits for minimums to be paid.
    is_awaited: bool,
}

impl Schedule {
    /// An empty schedule for this number of cores.
    pub(super) fn new(cores: usize) -> Self {
        Self {
            cores: cores.max(1),
            searches: BTreeMap::new(),
            accounts: HashMap::new(),
            holdings: Holdings::default(),
            running: Vec::new(),
            held: 0,
            is_stale: false,
            next_ns: None,
            is_awaited: false,
        }
    }

    /// Whether a search is admitted.
    pub(super) fn holds(&self, id: JobId) -> bool {
        self.searches.contains_key(&id)
    }

    /// The threads of a search, if it is admitted.
    pub(super) fn threads_of(&self, id: JobId) -> usize {
        self.searches.get(&id).map_or(0, |search| search.claim.threads)
    }

    /// What the searches of a client hold.
    pub(super) fn held_by(&self, client: Option<ClientId>) -> Holding {
        self.holdings.of(client)
    }

    /// The threads that run.
    pub(super) fn running(&self) -> usize {
        self.running.iter().map(|id| self.threads_of(*id)).sum()
    }

    /// Whether `threads` more get cores of their own, once `freed` leave.
    pub(super) fn fits(&self, threads: usize, freed: usize) -> bool {
        self.held.saturating_sub(freed) + threads <= self.cores
    }

    /// Whether `threads` could run now without pausing a search.
    pub(super) fn has_idle(&self, threads: usize) -> bool {
        self.running() + threads <= self.cores
    }

    /// Sets whether a decision is due whenever a minimum was paid.
    pub(super) fn await_minimums(&mut self, is_awaited: bool) {
        self.is_stale |= is_awaited && !self.is_awaited;
        self.is_awaited = is_awaited;
    }

    /// Admits a search. It runs once it is [`Schedule::ready`].
    pub(super) fn enter(&mut self, id: JobId, claim: Claim, now_ns: u64) {
        let claim = Claim { threads: claim.threads.clamp(1, self.cores), ..claim };
        self.charge(now_ns);
        self.open_account(claim);
        self.held += claim.threads;
        self.holdings.add(&claim);
        let minimum_ns = claim.minimum(now_ns);
        let search = AdmittedSearch {
            claim,
            minimum_ns,
            promised_ns: minimum_ns,
            has_extra: false,
            is_ready: false,
            has_begun: false,
            used_ns: 0,
            turn: None,
        };
        let old = self.searches.insert(id, search);
        debug_assert!(old.is_none(), "a search comes in once");
        if minimum_ns > 0 {
            self.review_extras(now_ns);
        }
    }

    /// The search's thread is free.
    pub(super) fn ready(&mut self, id: JobId) {
        if let Some(search) = self.searches.get_mut(&id) {
            search.is_ready = true;
            self.is_stale = true;
        }
    }

    /// Changes a search's kind or deadline. It has a minimum from now on only if that fits; it stays in any
    /// case.
    pub(super) fn change(&mut self, id: JobId, class: Class, deadline_ns: Option<u64>, now_ns: u64) {
        self.charge(now_ns);
        let Some(search) = self.searches.get_mut(&id) else { return };
        let old = search.claim;
        let claim = Claim { class, deadline_ns, ..old };
        search.claim = claim;
        search.promised_ns = search.used_ns;
        search.has_extra = false;
        if self.plan(now_ns).fits(&claim)
            && let Some(search) = self.searches.get_mut(&id)
        {
            search.promised_ns += claim.minimum(now_ns);
        }
        if let Some(search) = self.searches.get_mut(&id) {
            search.minimum_ns = search.promised_ns;
        }
        self.close_account(old);
        self.open_account(claim);
        self.is_stale = true;
    }

    /// Removes a search that is over or leaves its cores for good; returns whether it was admitted.
    pub(super) fn leave(&mut self, id: JobId, now_ns: u64) -> bool {
        self.charge(now_ns);
        let Some(search) = self.searches.remove(&id) else { return false };
        self.held -= search.claim.threads;
        self.holdings.remove(&search.claim);
        self.running.retain(|running| *running != id);
        self.close_account(search.claim);
        self.is_stale = true;
        true
    }

    /// A connection that searches again starts level with the one that used least: none saves time up.
    fn open_account(&mut self, claim: Claim) {
        let of_class = self.accounts.iter().filter(|((class, _), _)| *class == claim.class);
        let least_ns = of_class.map(|(_, account)| account.used_ns).min().unwrap_or(0);
        let fresh = || Account { searches: 0, used_ns: least_ns };
        self.accounts.entry((claim.class, claim.conn)).or_insert_with(fresh).searches += 1;
    }

    fn close_account(&mut self, claim: Claim) {
        let key = (claim.class, claim.conn);
        if let Some(account) = self.accounts.get_mut(&key) {
            account.searches -= 1;
            if account.searches == 0 {
                self.accounts.remove(&key);
            }
        }
    }

    /// Charges those that run for their time since the last charge.
    fn charge(&mut self, now_ns: u64) {
        for id in &self.running {
            let Some(search) = self.searches.get_mut(id) else { continue };
            let Some(turn) = &mut search.turn else { continue };
            let ns = now_ns.saturating_sub(turn.charged_ns);
            turn.charged_ns = now_ns;
            search.used_ns += ns;
            if let Some(account) = self.accounts.get_mut(&(search.claim.class, search.claim.conn)) {
                account.used_ns += ns * search.claim.threads as u64;
            }
        }
    }

    /// Whether there is something to decide.
    pub(super) fn is_due(&self, now_ns: u64) -> bool {
        self.is_stale || self.next_ns.is_some_and(|at| at <= now_ns)
    }

    /// When there is something to decide, if nothing else happens.
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.next_ns
    }

    /// Decides who runs from now on, by how far those that run have come.
    pub(super) fn decide(&mut self, now_ns: u64, progress: impl Fn(JobId) -> Progress) -> Changes {
        self.charge(now_ns);
        self.extend(now_ns, progress);
        self.is_stale = false;
        let mut changes = Changes::default();
        let chosen = self.choose(now_ns);
        let mut is_waited_for = self.is_awaited;
        let mut next_ns = u64::MAX;
        self.running.clear();
        for (&id, search) in &mut self.searches {
            let Some(place) = chosen.get(&id) else {
                if search.turn.take().is_some() {
                    changes.paused.push(id);
                }
                is_waited_for |= search.is_ready;
                continue;
            };
            let goes_on = search.turn.filter(|turn| turn.until_ns > now_ns && turn.place.rank == place.rank);
            let fresh = || TimeSlice {
                charged_ns: now_ns,
                until_ns: now_ns
                    + match place.rank {
                        Rank::Promised => search.promised_ns - search.used_ns,
                        Rank::Turns(Class::Move) => MOVE_TURN_NS,
                        Rank::Turns(Class::Endless) => ENDLESS_TURN_NS,
                    },
                place: *place,
            };
            let turn = goes_on.unwrap_or_else(fresh);
            next_ns = next_ns.min(turn.until_ns);
            self.running.push(id);
            match search.turn.replace(turn) {
                Some(_) => {}
                None if search.has_begun => changes.resumed.push(id),
                None => changes.begun.push(id),
            }
            search.has_begun = true;
        }
        // If no search waits, those that run need no turns.
        self.next_ns = Some(next_ns).filter(|_| is_waited_for && next_ns != u64::MAX);
        changes
    }

    /// The searches to run, with their ranks: the first by rank that fit, one after the other.
    fn choose(&self, now_ns: u64) -> HashMap<JobId, Place> {
        let mut waiting: Vec<(JobId, Place, &Claim)> = self
            .searches
            .iter()
            .filter(|(_, search)| search.is_ready)
            .map(|(&id, search)| (id, self.place(search, now_ns), &search.claim))
            .collect();
        let mut chosen: HashMap<JobId, Place> = HashMap::new();
        let mut idle = self.cores;
        while idle > 0 {
            let fitting = waiting.iter().enumerate().filter(|(_, (_, _, claim))| claim.threads <= idle);
            let Some((at, _)) = fitting.min_by_key(|(_, (id, place, _))| (*place, *id)) else { break };
            let (id, place, claim) = waiting.swap_remove(at);
            idle -= claim.threads;
            // A connection that gets a core is charged for that turn before it competes for the next core.
            if let Rank::Turns(class) = place.rank {
                let turn_ns = if class == Class::Move { MOVE_TURN_NS } else { ENDLESS_TURN_NS };
                let cost_ns = turn_ns * claim.threads as u64;
                let same = |other: &Claim, rank| other.conn == claim.conn && rank == place.rank;
                let others = waiting.iter_mut().filter(|(_, place, other)| same(other, place.rank));
                others.for_each(|(_, place, _)| place.first += cost_ns);
            }
            // What counts later is the time used, not this advance.
            chosen.insert(id, self.place(&self.searches[&id], now_ns));
        }
        chosen
    }

    fn place(&self, search: &AdmittedSearch, now_ns: u64) -> Place {
        let rank = search.rank();
        if let Some(turn) = search.turn
            && turn.place.rank == rank
            && turn.until_ns > now_ns
        {
            return turn.place;
        }
        match rank {
            Rank::Promised => Place { rank, first: search.claim.deadline_ns.unwrap_or(u64::MAX), second: 0 },
            Rank::Turns(class) => {
                let account = self.accounts.get(&(class, search.claim.conn));
                Place { rank, first: account.map_or(0, |account| account.used_ns), second: search.used_ns }
            }
        }
    }
}
