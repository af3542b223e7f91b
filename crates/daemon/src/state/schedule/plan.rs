//! The test of admission: how the cores pay what searches with deadlines are owed, earliest deadline first.

use super::claim::{Claim, usable};
use crate::ids::JobId;

/// What is owed at an instant, the earliest deadline first.
pub(in super::super) struct Plan {
    pub(super) cores: usize,
    pub(super) now_ns: u64,
    pub(super) debts: Vec<Debt>,
}

impl Plan {
    /// Whether one more search can be taken in so that every minimum fits, without any that leave.
    pub(in super::super) fn fits(&self, claim: &Claim) -> bool {
        if claim.is_brief(self.now_ns) {
            return self.has_spare(claim);
        }
        self.debt_of(claim).is_none_or(|debt| self.carries(&debt))
    }

    /// Whether one more debt can be paid so that all are paid in time.
    pub(super) fn carries(&self, debt: &Debt) -> bool {
        let (before, after) = self.debts.split_at(self.place_of(debt));
        let debts = before.iter().chain([debt]).chain(after);
        first_late(self.cores, self.now_ns, debt.deadline_ns, debts).is_none()
    }

    /// Whether there are cores for a newcomer that no minimum needs now.
    pub(super) fn has_spare(&self, claim: &Claim) -> bool {
        let taken: usize = self.debts.iter().map(|debt| debt.threads).sum();
        taken + claim.threads.clamp(1, self.cores) <= self.cores
    }

    /// What a newcomer would be owed, if anything.
    pub(super) fn debt_of(&self, claim: &Claim) -> Option<Debt> {
        let (deadline_ns, owed_ns) = (claim.deadline_ns?, claim.minimum(self.now_ns));
        let threads = claim.threads.clamp(1, self.cores);
        (owed_ns > 0).then_some(Debt { deadline_ns, threads, owed_ns, to: None, is_extra: false })
    }

    /// Behind those of the same deadline.
    pub(super) fn place_of(&self, debt: &Debt) -> usize {
        self.debts.partition_point(|other| other.deadline_ns <= debt.deadline_ns)
    }
}

/// What is left of a search's minimum.
#[derive(Debug)]
pub(super) struct Debt {
    pub(super) deadline_ns: u64,
    pub(super) threads: usize,
    pub(super) owed_ns: u64,
    /// The search that is owed; none: the newcomer.
    pub(super) to: Option<JobId>,
    /// Whether it comes on top of a minimum that is paid.
    pub(super) is_extra: bool,
}

/// The first debt with a deadline of `from_ns` or later that is not paid in time; earlier ones are paid.
pub(super) fn first_late<'a>(
    cores: usize,
    now_ns: u64,
    from_ns: u64,
    debts: impl Iterator<Item = &'a Debt> + Clone,
) -> Option<usize> {
    let is_late = |(debt, end_ns): (&Debt, u64)| {
        debt.deadline_ns >= from_ns && end_ns > usable(debt.deadline_ns.saturating_sub(now_ns))
    };
    debts.clone().zip(ends(cores, debts)).position(is_late)
}

/// When each debt is paid, from now, in this order, if no other search comes.
pub(super) fn ends<'a>(cores: usize, debts: impl Iterator<Item = &'a Debt>) -> impl Iterator<Item = u64> {
    let mut busy = vec![0; cores];
    debts.map(move |debt| {
        #[cfg(test)]
        super::tests::STEPS.set(super::tests::STEPS.get() + 1);
        busy.sort_unstable();
        let end_ns: u64 = busy[debt.threads - 1] + debt.owed_ns;
        busy[..debt.threads].fill(end_ns);
        end_ns
    })
}
