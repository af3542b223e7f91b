//! What a tree knows about the moves of its root: lines, best first.

use std::cmp::{Ordering, Reverse};

use crate::game::Game;
use crate::score::{Score, Value};
use crate::search::sort::sort_by_key;
use crate::search::thread::{is_lost, is_settled, is_won};
use crate::search::tree::growth::{is_decided, score_of, seen, worth};
use crate::search::tree::store::{Node, NodeId, Store};
use crate::search::{Bound, SearchResult, Variation};

/// The longest line that is reported.
const LONGEST: usize = 64;

/// The lines of a tree, as they change.
pub(super) struct Lines<'a, G: Game> {
    store: &'a Store<G::Move>,
    /// What decides a game: [`crate::game::Evaluator::decisive`].
    decisive: i32,
    multipv: usize,
    reported: Reported,
}

/// What was reported about a tree before.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Reported {
    /// The branch that was best when last asked.
    best: Option<usize>,
    /// The branch that was best at the last look.
    looked: Option<usize>,
}

/// How good a branch is, so that the larger is the better one.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Rank {
    /// 2: won; 1: not decided, or drawn; 0: lost.
    class: u8,
    /// The score of what is decided, the visits of what is not.
    weight: f64,
    mean: f64,
}

impl Eq for Rank {}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |rank: &Self| (rank.class, rank.weight, rank.mean);
        key(self).partial_cmp(&key(other)).expect("ranks are numbers")
    }
}

impl<'a, G: Game> Lines<'a, G> {
    pub(super) fn new(store: &'a Store<G::Move>, decisive: i32, multipv: usize, reported: Reported) -> Self {
        Self { store, decisive, multipv, reported }
    }

    /// What was reported so far.
    pub(super) fn reported(&self) -> Reported {
        self.reported
    }

    /// Whether another branch is best than when last asked.
    pub(super) fn is_new_best(&mut self) -> bool {
        let best = self.best_child(NodeId::ROOT).map(|(_, node)| node.branch());
        std::mem::replace(&mut self.reported.best, best) != best
    }

    /// Whether the best branch is that of the last look, what it is worth, and whether all others are lost.
    pub(super) fn progress(&mut self) -> (bool, Score, bool) {
        let Some((_, best)) = self.best_child(NodeId::ROOT) else { return (false, Score::DRAW, false) };
        let is_same = self.reported.looked.replace(best.branch()) == Some(best.branch());
        let lost =
            self.store.children(NodeId::ROOT).filter(|(_, node)| is_lost::<G>(seen(node, false).1)).count();
        let all = self.store.node(NodeId::ROOT).branches().map_or(0, |branches| branches.all.len());
        (is_same, self.value(best).score, lost + 1 >= all)
    }

    /// Whether the lines asked for are proven with what the rules optimise, and no other move can displace
    /// one.
    pub(super) fn are_settled(&self) -> bool {
        let found = self.found();
        let all_won = !G::SCORED && found.lines.iter().all(|line| is_settled_win::<G>(line.value));
        let ceiling = found
            .lines
            .iter()
            .all(|line| line.value.is_some_and(|(value, _)| is_settled::<G>(value) && value.at_most));
        found.lines.len() == self.multipv && (all_won || ceiling)
    }

    /// The lines, best first.
    pub(super) fn found(&self) -> SearchResult<G::Move> {
        let root = self.store.node(NodeId::ROOT);
        let known = root.branches().expect("the root was looked at");
        let branches = &known.all;
        let mut children: Vec<(NodeId, &Node<G::Move>)> = self.store.children(NodeId::ROOT).collect();
        let bar = self.bar(NodeId::ROOT);
        sort_by_key(&mut children, |(_, node)| (Reverse(self.rank(node, false, bar)), node.branch()));
        let mut ceiling = if children.len() == branches.len() { -Score::INFINITE } else { Score::INFINITE };
        let mut ceilings = vec![ceiling; children.len()];
        for (at, (_, node)) in children.iter().enumerate().rev() {
            ceilings[at] = ceiling;
            ceiling = ceiling.max(seen(node, false).1);
        }
        let depth = super::depth_of(root.visits());
        let tried = children.iter().zip(ceilings).map(|((id, node), ceiling)| {
            let value = self.value(node);
            let value = Value { at_most: value.at_most && ceiling <= value.score, ..value };
            Variation {
                pv: self.line(*id, branches[node.branch()].mv),
                depth,
                value: Some((value, Bound::Exact)),
            }
        });
        let rest = branches
            .iter()
            .enumerate()
            .filter(|(at, _)| children.iter().all(|(_, node)| node.branch() != *at));
        // Before the first visit has come to its end, what looks best is the answer of depth 1.
        let at_sight =
            (known.is_rated && children.is_empty()).then(|| (Value::guess(known.best), Bound::Exact));
        let rest = rest.map(|(at, branch)| {
            let value = at_sight.filter(|_| at == 0);
            Variation { pv: vec![branch.mv], depth: u32::from(value.is_some()), value }
        });
        SearchResult { lines: tried.chain(rest).take(self.multipv).collect() }
    }

    /// The value of a child of the root from the root's view.
    fn value(&self, node: &Node<G::Move>) -> Value {
        let (lower, upper) = seen(node, false);
        if lower >= upper {
            Value::proven(lower)
        } else if is_won::<G>(lower) {
            Value { score: lower, at_least: true, at_most: false }
        } else if is_lost::<G>(upper) {
            Value { score: upper, at_least: false, at_most: true }
        } else {
            Value::guess(score_of::<G>(self.mean(node, false), self.decisive))
        }
    }

    /// The moves from a child of the root on.
    fn line(&self, child: NodeId, mv: G::Move) -> Vec<G::Move> {
        let mut line = vec![mv];
        let mut id = child;
        while let (Some(branches), true) = (self.store.node(id).branches(), line.len() < LONGEST) {
            let Some((next, node)) = self.best_child(id) else { break };
            line.push(branches.all[node.branch()].mv);
            id = next;
        }
        line
    }

    /// The best of the branches of a node that were tried.
    fn best_child(&self, id: NodeId) -> Option<(NodeId, &'a Node<G::Move>)> {
        let is_chance = self.store.node(id).branches()?.is_chance;
        let bar = self.bar(id);
        let mut best: Option<(Rank, NodeId, &Node<G::Move>)> = None;
        for (child, node) in self.store.children(id) {
            let rank = self.rank(node, is_chance, bar);
            // Among equals, the likelier.
            if best.is_none_or(|(known, _, other)| {
                rank > known || (rank == known && node.branch() < other.branch())
            }) {
                best = Some((rank, child, node));
            }
        }
        best.map(|(_, child, node)| (child, node))
    }

    /// What the branch is worth that was tried most often, of those that are not decided.
    fn bar(&self, id: NodeId) -> f64 {
        let open = self.store.children(id).filter(|(_, node)| !is_decided::<G>(node.bounds()));
        let is_chance = self.store.node(id).branches().is_some_and(|branches| branches.is_chance);
        open.max_by_key(|(_, node)| node.visits())
            .map_or(f64::NEG_INFINITY, |(_, node)| self.mean(node, is_chance))
    }

    /// The average of a child's visits from its parent's view, within what is not disproven: a child that is
    /// at best drawn looks no better than a draw.
    fn mean(&self, node: &Node<G::Move>, is_chance: bool) -> f64 {
        let (lower, upper) = seen(node, is_chance);
        seen_mean(node).min(worth::<G>(upper, self.decisive)).max(worth::<G>(lower, self.decisive))
    }

    fn rank(&self, node: &Node<G::Move>, is_chance: bool, bar: f64) -> Rank {
        let (lower, upper) = seen(node, is_chance);
        let mean = seen_mean(node);
        if is_won::<G>(lower) {
            Rank { class: 2, weight: f64::from(lower.raw()), mean }
        } else if is_lost::<G>(upper) {
            Rank { class: 0, weight: f64::from(upper.raw()), mean }
        } else if lower >= upper {
            // Before everything that looks no better, and behind everything else.
            let value = worth::<G>(lower, self.decisive);
            Rank { class: 1, weight: if value >= bar { f64::INFINITY } else { -1.0 }, mean: value }
        } else {
            Rank { class: 1, weight: f64::from(node.visits()), mean }
        }
    }
}

/// The average of a child's visits from its parent's view.
fn seen_mean<M>(node: &Node<M>) -> f64 {
    if node.is_same_side() { node.mean() } else { -node.mean() }
}

fn is_settled_win<G: Game>(value: Option<(Value, Bound)>) -> bool {
    value.is_some_and(|(value, _)| value.score.is_win() && is_settled::<G>(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nim::Nim;
    use crate::search::tree::store::{Branch, Branches};

    #[test]
    fn what_is_at_best_drawn_is_not_before_a_draw() {
        let store: Store<u8> = Store::new(1 << 18);
        let root = store.add(0, false).unwrap();
        let all = [1, 2].map(|mv| Branch { mv, behind: 0 }).into();
        let left_out = (-Score::INFINITE, -Score::INFINITE);
        let branches =
            Branches { all, best: Score::DRAW, sum: 2.0, left_out, is_chance: false, is_rated: true };
        store.branch_out(root, branches);
        let drawn = store.add(0, false).unwrap();
        store.node(drawn).narrow(Score::DRAW, Score::DRAW);
        let open = store.add(1, false).unwrap();
        // From the view of its own side, who at least draws: the visits went badly for that side.
        store.node(open).narrow(Score::DRAW, Score::INFINITE);
        for child in [drawn, open] {
            store.link(root, child);
            store.node(child).enter(0.0);
        }
        store.node(open).leave(0.0, -0.5);
        let lines = Lines::<Nim>::new(&store, 100, 1, Reported::default());
        assert_eq!(lines.found().lines[0].pv, [1]);
        assert!(lines.are_settled());
    }
}
