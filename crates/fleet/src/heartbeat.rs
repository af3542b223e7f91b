//! How workers and coordinators say that they live, and what `plyd fleet` shows of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::description::MatchId;

/// How a worker is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Its name.
    pub name: String,
    /// Its plyd.
    pub version: String,
    /// Cores of its machine.
    pub cores: usize,
    /// Nodes a second of one core in the bench of each game that it has played.
    #[serde(default)]
    pub speeds: BTreeMap<String, u64>,
    /// How many pairs it plays at once.
    pub concurrency: usize,
    /// For how long it runs, in seconds.
    pub up_s: u64,
    /// The pairs that it plays now.
    pub busy: Vec<Busy>,
    /// Games that it played and stored.
    pub games: u64,
    /// Pairs that somebody else had stored before it.
    pub doubled: u64,
    /// What went wrong, the latest last.
    pub faults: Vec<Fault>,
    /// Whether it ends after the pairs that it plays.
    pub leaves: bool,
}

/// A pair that is played.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Busy {
    /// The match.
    #[serde(rename = "match")]
    pub id: MatchId,
    /// The pair, from 1.
    pub pair: usize,
    /// For how long, in seconds.
    pub for_s: u64,
}

/// Something that went wrong, once or again and again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fault {
    /// What, for people.
    pub message: String,
    /// How often.
    pub count: u64,
}

/// The queue of all matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct QueueStatus {
    /// Pairs that wait for a worker.
    pub waiting: u64,
    /// Pairs that workers have taken, or have given back to be offered later.
    pub taken: u64,
}

/// How the coordinator of a match is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CoordinatorStatus {
    /// The match.
    #[serde(rename = "match")]
    pub id: MatchId,
    /// What is played, for people.
    pub title: String,
    /// Pairs with a result.
    pub pairs: usize,
    /// Pairs in all.
    pub scheduled: usize,
    /// How things stand, for people.
    pub standing: String,
    /// Results that were refused, by worker.
    pub refused: BTreeMap<String, u64>,
}

/// The most faults that a worker names.
const MOST_FAULTS: usize = 8;

/// Adds a fault; one that is there already moves to the end.
pub(super) fn add_fault(faults: &mut Vec<Fault>, message: String) {
    let known = faults.iter().position(|fault| fault.message == message);
    let count = known.map_or(0, |at| faults.remove(at).count) + 1;
    if faults.len() == MOST_FAULTS {
        faults.remove(0);
    }
    faults.push(Fault { message, count });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_counted_and_the_oldest_forgotten() {
        let mut faults = Vec::new();
        for message in ["a", "b", "a"] {
            add_fault(&mut faults, message.to_owned());
        }
        assert_eq!(
            faults.iter().map(|fault| (&*fault.message, fault.count)).collect::<Vec<_>>(),
            [("b", 1), ("a", 2)]
        );
        (0..MOST_FAULTS).for_each(|n| add_fault(&mut faults, n.to_string()));
        assert_eq!((faults.len(), &*faults[0].message), (MOST_FAULTS, "0"));
    }
}
