//! What a search asks of the cores, and what it is promised of them.

use std::collections::HashMap;

use crate::ids::{ClientId, ConnId};

/// The time on its cores that every admitted search with a deadline gets, unless its deadline leaves less.
const MINIMUM_NS: u64 = 10_000_000;
/// What it takes at most to pause one search and start another, on a machine that keeps up.
const SWITCH_NS: u64 = 2_000_000;
/// Below this a clock leaves no time to wait for another search to pause.
const BRIEF_NS: u64 = 2 * SWITCH_NS;

/// What kind of search it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(in super::super) enum Class {
    /// For a move, by a clock or a limit: never waits for the others.
    Move,
    /// Analyses, ponders, and searches for a move that only a stop ends.
    Endless,
}

/// What a search asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Claim {
    /// Whose it is.
    pub(in super::super) conn: ConnId,
    /// The client of that connection, if it is known by name.
    pub(in super::super) client: Option<ClientId>,
    /// The cores that it takes at once, at most as many as there are.
    pub(in super::super) threads: usize,
    /// What kind it is.
    pub(in super::super) class: Class,
    /// Its deadline, if it has one.
    pub(in super::super) deadline_ns: Option<u64>,
}

/// What the admitted searches of a client hold.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in super::super) struct Holding {
    /// How many they are.
    pub(in super::super) searches: usize,
    /// Their threads together.
    pub(in super::super) threads: usize,
}

/// What the admitted searches of each client hold, as long as it has any.
#[derive(Default, Debug)]
pub(super) struct Holdings(HashMap<ClientId, Holding>);

impl Holdings {
    /// Adds a search that is admitted.
    pub(super) fn add(&mut self, claim: &Claim) {
        let Some(client) = claim.client else { return };
        let holding = self.0.entry(client).or_default();
        holding.searches += 1;
        holding.threads += claim.threads;
    }

    /// Takes a search away that was added.
    pub(super) fn remove(&mut self, claim: &Claim) {
        let Some(client) = claim.client else { return };
        let Some(holding) = self.0.get_mut(&client) else { return };
        holding.searches -= 1;
        holding.threads -= claim.threads;
        if holding.searches == 0 {
            self.0.remove(&client);
        }
    }

    /// What the searches of a client hold.
    pub(super) fn of(&self, client: Option<ClientId>) -> Holding {
        client.and_then(|client| self.0.get(&client)).copied().unwrap_or_default()
    }
}

impl Claim {
    /// The time until its deadline, if it is for a move and has one.
    fn left(&self, now_ns: u64) -> Option<u64> {
        let deadline_ns = self.deadline_ns.filter(|_| self.class == Class::Move)?;
        Some(deadline_ns.saturating_sub(now_ns))
    }

    /// Whether its deadline is so near that it can have no minimum unless cores are free of others'.
    pub(super) fn is_brief(&self, now_ns: u64) -> bool {
        self.left(now_ns).is_some_and(|left_ns| (1..BRIEF_NS).contains(&left_ns))
    }

    /// The time on its cores that it is promised if it is admitted now.
    pub(super) fn minimum(&self, now_ns: u64) -> u64 {
        match self.left(now_ns) {
            Some(left_ns) if left_ns < BRIEF_NS => left_ns / 2,
            Some(left_ns) => usable(left_ns).min(MINIMUM_NS),
            None => 0,
        }
    }
}

/// The part of the time that is promised; the rest is for starting, pausing and whatever else the process
/// does.
pub(super) fn usable(ns: u64) -> u64 {
    (ns / 8 * 7).min(ns.saturating_sub(SWITCH_NS))
}
