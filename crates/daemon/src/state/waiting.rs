//! Searches that wait by `queue`: which of them are checked when something becomes free.
//!
//! The cost must not grow with their number. So they wait in lines, one for each connection and kind, and
//! only the first of each line is checked. A search whose session is busy is set aside until the session is
//! free.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::ids::{ConnId, JobId};

/// What a search waits for, besides a slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    /// Its session alone.
    Session,
    /// A minimum: it has a deadline.
    Minimum,
    /// A core: it is an analysis or a ponder.
    Core,
}

/// Where a search waits.
#[derive(Clone, Debug)]
enum Place {
    Line(Kind, ConnId),
    Aside(Kind, ConnId, String),
}

/// All searches that wait.
#[derive(Default, Debug)]
pub(crate) struct Waiting {
    lines: BTreeMap<(Kind, ConnId), BTreeSet<JobId>>,
    aside: HashMap<(ConnId, String), BTreeSet<JobId>>,
    places: HashMap<JobId, Place>,
}

impl Waiting {
    /// A search gets in line, by the order of its arrival; it may have waited before.
    pub(super) fn enter(&mut self, id: JobId, conn: ConnId, kind: Kind) {
        self.leave(id);
        self.lines.entry((kind, conn)).or_default().insert(id);
        self.places.insert(id, Place::Line(kind, conn));
    }

    /// A search waits no longer.
    pub(super) fn leave(&mut self, id: JobId) {
        match self.places.remove(&id) {
            None => {}
            Some(Place::Line(kind, conn)) => {
                if let Some(line) = self.lines.get_mut(&(kind, conn)) {
                    line.remove(&id);
                    if line.is_empty() {
                        self.lines.remove(&(kind, conn));
                    }
                }
            }
            Some(Place::Aside(_, conn, session)) => {
                let key = (conn, session);
                if let Some(aside) = self.aside.get_mut(&key) {
                    aside.remove(&id);
                    if aside.is_empty() {
                        self.aside.remove(&key);
                    }
                }
            }
        }
    }

    /// A search in line waits until its session is free.
    pub(super) fn set_aside(&mut self, id: JobId, session: &str) {
        let Some(Place::Line(kind, conn)) = self.places.get(&id).cloned() else { return };
        self.leave(id);
        self.aside.entry((conn, session.to_owned())).or_default().insert(id);
        self.places.insert(id, Place::Aside(kind, conn, session.to_owned()));
    }

    /// A session is free: the searches set aside for it get in line again.
    pub(super) fn session_is_free(&mut self, conn: ConnId, session: &str) {
        for id in self.aside.remove(&(conn, session.to_owned())).unwrap_or_default() {
            if let Some(Place::Aside(kind, ..)) = self.places.remove(&id) {
                self.enter(id, conn, kind);
            }
        }
    }

    /// The first of each line, in the order of arrival.
    pub(super) fn heads(&self) -> BTreeSet<(JobId, Kind, ConnId)> {
        self.lines.iter().filter_map(|(&(kind, conn), line)| Some((*line.first()?, kind, conn))).collect()
    }

    /// The first of a line.
    pub(super) fn head(&self, kind: Kind, conn: ConnId) -> Option<JobId> {
        self.lines.get(&(kind, conn))?.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_the_order_of_arrival_and_sessions_hold_nobody_else_up() {
        let mut waiting = Waiting::default();
        for (id, conn, kind) in [(1, 1, Kind::Minimum), (2, 2, Kind::Minimum), (3, 1, Kind::Core)] {
            waiting.enter(id, conn, kind);
        }
        (10..1000).for_each(|id| waiting.enter(id, 1, Kind::Minimum));
        let heads = |waiting: &Waiting| waiting.heads().into_iter().map(|(id, ..)| id).collect::<Vec<_>>();
        assert_eq!(heads(&waiting), [1, 2, 3], "three looks, however many wait");
        waiting.set_aside(1, "s");
        waiting.set_aside(10, "s");
        waiting.set_aside(11, "t");
        assert_eq!(heads(&waiting), [2, 3, 12]);
        waiting.leave(10);
        waiting.session_is_free(1, "s");
        assert_eq!((heads(&waiting), waiting.head(Kind::Minimum, 1)), (vec![1, 2, 3], Some(1)));
        // An update makes it another kind.
        waiting.enter(1, 1, Kind::Session);
        assert_eq!(waiting.head(Kind::Session, 1), Some(1));
        assert_eq!(waiting.head(Kind::Minimum, 1), Some(12));
        (0..1000).for_each(|id| waiting.leave(id));
        assert!(waiting.lines.is_empty() && waiting.aside.is_empty() && waiting.places.is_empty());
    }
}
