//! Which searches are taken in: whether their minimums fit beside all others', and whether there is a place
//! for them; and who makes room for them.

use std::collections::{BTreeSet, BinaryHeap, HashMap};

use super::plan::{Debt, Plan, ends, first_late};
use super::{AdmittedSearch, Claim, Class, Schedule};
use crate::ids::{ConnId, JobId};

/// The most attempts to find the fewest searches that leave for a newcomer. Each attempt mends the first late
/// debt, which is usually the cause of the later ones. After these the rest is mended at once, so that a
/// decision takes a bounded time and nobody is refused for whom others could leave.
const MAX_ROUNDS: usize = 16;

/// Whether a search can be admitted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in super::super) enum Admission {
    /// It fits.
    Fits,
    /// It fits once these leave: each belongs to a connection that has more than the newcomer's.
    Displaces(Vec<JobId>),
    /// It does not fit.
    Refused,
}

impl Schedule {
    /// Whether one more search fits into `places` without any that leaves.
    pub(in super::super) fn has_place(&self, places: usize) -> bool {
        self.searches.len() < places
    }

    /// Whether one more search of a connection fits into `places`, if need be by one that leaves.
    pub(in super::super) fn room(&self, conn: ConnId, places: usize) -> Admission {
        if self.has_place(places) {
            return Admission::Fits;
        }
        let mut counts: HashMap<ConnId, usize> = HashMap::from([(conn, 1)]);
        self.searches.values().for_each(|search| *counts.entry(search.claim.conn).or_default() += 1);
        // Of the connection that has the most, the search that loses least: one that has not begun, else one
        // without an end, the newest first.
        let leaving = self.searches.iter().filter_map(|(&id, search)| {
            let count = counts[&search.claim.conn];
            let is_cheap = (!search.has_begun, search.claim.class == Class::Endless);
            (count > counts[&conn]).then_some((count, search.claim.conn, is_cheap, id))
        });
        leaving.max().map_or(Admission::Refused, |(_, _, _, id)| Admission::Displaces(vec![id]))
    }

    /// Whether a search can be admitted so that every minimum fits.
    pub(in super::super) fn admission(&self, claim: &Claim, now_ns: u64) -> Admission {
        self.admission_after(MAX_ROUNDS, claim, now_ns)
    }

    /// Like [`admission`](Self::admission), with this number of attempts before the rest is mended at once.
    pub(super) fn admission_after(&self, rounds: usize, claim: &Claim, now_ns: u64) -> Admission {
        let mut plan = self.plan(now_ns);
        let Some(debt) = plan.debt_of(claim) else { return Admission::Fits };
        let mut counts: HashMap<ConnId, usize> = HashMap::from([(claim.conn, 1)]);
        let timed = |search: &&AdmittedSearch| {
            search.claim.class == Class::Move && search.claim.deadline_ns.is_some()
        };
        self.searches
            .values()
            .filter(timed)
            .for_each(|search| *counts.entry(search.claim.conn).or_default() += 1);
        let count_of = |id: &JobId| counts.get(&self.searches[id].claim.conn).copied().unwrap_or(0);
        // The extras of connections that have more give way.
        plan.debts.retain(|debt| {
            !debt.is_extra || debt.to.as_ref().is_none_or(|id| count_of(id) <= counts[&claim.conn])
        });
        if claim.is_brief(now_ns) {
            let mut leaving = self.leaving(&plan.debts, counts[&claim.conn], &counts).into_iter();
            let mut displaced = Vec::new();
            while !plan.has_spare(claim) {
                let Some(next) = leaving.next() else { return Admission::Refused };
                plan.debts.retain(|debt| debt.to != Some(next));
                displaced.push(next);
            }
            return if displaced.is_empty() { Admission::Fits } else { Admission::Displaces(displaced) };
        }
        let from_ns = debt.deadline_ns;
        let at = plan.place_of(&debt);
        plan.debts.insert(at, debt);
        let mut displaced = Vec::new();
        for round in 0..=rounds {
            let Some(late) = first_late(self.cores, now_ns, from_ns, plan.debts.iter()) else {
                return if displaced.is_empty() { Admission::Fits } else { Admission::Displaces(displaced) };
            };
            // Debts that are paid after the first late one do not delay it.
            let end = if round < rounds { late + 1 } else { plan.debts.len() };
            let leaving = self.leaving(&plan.debts[..end], counts[&claim.conn], &counts);
            let order: HashMap<JobId, usize> = leaving.iter().copied().zip(0..).collect();
            let is_enough = |count: usize| {
                let stays =
                    |debt: &&Debt| debt.to.and_then(|id| order.get(&id)).is_none_or(|place| *place >= count);
                first_late(self.cores, now_ns, from_ns, plan.debts[..end].iter().filter(stays)).is_none()
            };
            // As few as needed: the more leave, the earlier the others are paid.
            let (mut too_few, mut enough) = (0, leaving.len() + 1);
            while enough - too_few > 1 {
                let count = usize::midpoint(too_few, enough);
                if is_enough(count) { enough = count } else { too_few = count }
            }
            let Some(leaving) = leaving.get(..enough) else { return Admission::Refused };
            for id in leaving {
                *counts.entry(self.searches[id].claim.conn).or_default() -= 1;
            }
            plan.debts
                .retain(|debt| debt.to.and_then(|id| order.get(&id)).is_none_or(|place| *place >= enough));
            displaced.extend_from_slice(leaving);
        }
        // The last attempt left no debt late.
        Admission::Displaces(displaced)
    }

    /// The owed searches that may leave for a connection with `own` searches: first those of the connection
    /// that has the most, and of these the newest. None of them has run.
    fn leaving(&self, debts: &[Debt], own: usize, counts: &HashMap<ConnId, usize>) -> Vec<JobId> {
        let mut unbegun: HashMap<ConnId, BTreeSet<JobId>> = HashMap::new();
        for id in debts.iter().filter_map(|debt| debt.to) {
            let search = &self.searches[&id];
            if !search.has_begun {
                unbegun.entry(search.claim.conn).or_default().insert(id);
            }
        }
        let mut next: BinaryHeap<(usize, JobId, ConnId)> = unbegun
            .iter_mut()
            .filter_map(|(conn, ids)| Some((counts.get(conn).copied().unwrap_or(0), ids.pop_last()?, *conn)))
            .collect();
        let mut leaving = Vec::new();
        while let Some((count, id, conn)) = next.pop().filter(|(count, ..)| *count > own) {
            leaving.push(id);
            if let Some(id) = unbegun.get_mut(&conn).and_then(BTreeSet::pop_last) {
                next.push((count - 1, id, conn));
            }
        }
        leaving
    }

    /// In how many nanoseconds all minimums are paid.
    pub(in super::super) fn backlog_ns(&self, now_ns: u64) -> u64 {
        ends(self.cores, self.plan(now_ns).debts.iter()).max().unwrap_or(0) / 7 * 8
    }

    /// What is owed.
    pub(in super::super) fn plan(&self, now_ns: u64) -> Plan {
        let owed = self.searches.iter().filter_map(|(&id, search)| search.debt(id, search.owed(now_ns)));
        let mut debts: Vec<Debt> = owed.collect();
        debts.sort_by_key(|debt| debt.deadline_ns);
        Plan { cores: self.cores, now_ns, debts }
    }
}
