//! What a search gets on top of its minimum, if the minimum was time on cores but not a search: its first
//! iteration was not complete by then, or other programs had the cores meanwhile.
//!
//! An extra is promised as a minimum is, piece by piece, as long as all that is promised still fits. Minimums
//! come first: a newcomer is not kept out by the extras of a connection that has more searches than its own,
//! and takes from them what it needs.

use super::plan::Debt;
use super::{AdmittedSearch, Class, Schedule};
use crate::ids::JobId;

/// A piece of an extra for a search whose first iteration is not complete: as long as a turn.
const PIECE_NS: u64 = super::MOVE_TURN_NS;
/// Less is not worth a decision: a thread shows its CPU time about as often.
const LEAST_NS: u64 = 500_000;
/// The most that a search gets on top of its minimum. Whoever needs more has a clock that leaves it turns.
const MOST_NS: u64 = 100_000_000;

/// How far a search has come, as its thread shows it.
#[derive(Clone, Copy, Default, Debug)]
pub(in super::super) struct Progress {
    /// Whether its first iteration is complete.
    pub(in super::super) is_searched: bool,
    /// The CPU time that its first thread has used.
    pub(in super::super) cpu_ns: u64,
}

impl AdmittedSearch {
    /// How long it must still run before its deadline to be a real search, in ns.
    fn lacking(&self, progress: Progress, now_ns: u64) -> u64 {
        let Some(deadline_ns) = self.claim.deadline_ns.filter(|_| self.claim.class == Class::Move) else {
            return 0;
        };
        let cpu_ns = self.minimum_ns.saturating_sub(progress.cpu_ns);
        let lacking_ns = if progress.is_searched { cpu_ns } else { cpu_ns.max(PIECE_NS) };
        let most_ns = (self.minimum_ns + MOST_NS).saturating_sub(self.used_ns);
        let lacking_ns =
            lacking_ns.min(most_ns).min(super::claim::usable(deadline_ns.saturating_sub(now_ns)));
        if lacking_ns < LEAST_NS { 0 } else { lacking_ns }
    }

    /// Ends its extra: it takes turns from now on.
    fn drop_extra(&mut self) {
        if self.has_extra {
            self.has_extra = false;
            self.promised_ns = self.promised_ns.min(self.used_ns);
        }
    }
}

impl Schedule {
    /// Gives those that run and have had their minimums what they lack, as far as it fits; ends the extras of
    /// those that lack nothing any more.
    pub(super) fn extend(&mut self, now_ns: u64, progress: impl Fn(JobId) -> Progress) {
        // No more than there are cores.
        for id in self.running.clone() {
            let Some(search) = self.searches.get_mut(&id) else { continue };
            let lacking_ns = search.lacking(progress(id), now_ns);
            if lacking_ns == 0 {
                search.drop_extra();
            } else if search.used_ns >= search.promised_ns {
                search.has_extra = false;
                self.promise_extra(id, lacking_ns, now_ns);
            }
        }
    }

    /// A search's first iteration may be complete: looks whether it has an extra that ends then.
    pub(in super::super) fn advanced(&mut self, id: JobId) {
        self.is_stale |= self.searches.get(&id).is_some_and(|search| search.has_extra);
    }

    /// Takes from the extras what the minimums need, now that there is one more of these.
    pub(super) fn review_extras(&mut self, now_ns: u64) {
        let mut extras: Vec<(u64, JobId, u64)> = Vec::new();
        for (&id, search) in self.searches.iter_mut().filter(|(_, search)| search.has_extra) {
            let owed_ns = search.owed(now_ns);
            search.drop_extra();
            extras.push((search.claim.deadline_ns.unwrap_or(u64::MAX), id, owed_ns));
        }
        self.is_stale |= !extras.is_empty();
        extras.sort_unstable();
        for (_, id, owed_ns) in extras.into_iter().filter(|(_, _, owed_ns)| *owed_ns > 0) {
            self.promise_extra(id, owed_ns, now_ns);
        }
    }

    /// Promises a search `ns` more, if that fits.
    fn promise_extra(&mut self, id: JobId, ns: u64, now_ns: u64) {
        let Some(debt) = self.searches.get(&id).and_then(|search| search.debt(id, ns)) else { return };
        if self.plan(now_ns).carries(&Debt { is_extra: true, ..debt })
            && let Some(search) = self.searches.get_mut(&id)
        {
            search.has_extra = true;
            search.promised_ns = search.used_ns + ns;
        }
    }
}
