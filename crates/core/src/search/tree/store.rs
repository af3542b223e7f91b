//! The nodes of a search tree, shared by the threads that grow it, without locks.
//!
//! A node is a position that was visited. Its branches are the moves in the order in which they are tried;
//! those tried so far have nodes of their own, which hang on a list. Nodes are never freed: what is to be
//! kept of a tree, after a move or when the memory is full, is copied.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicUsize, Ordering};

use crate::score::{Score, Value};

/// Nodes that are allocated together.
const CHUNK: usize = 1 << 10;
/// Nodes between two checks whether to give up a copy.
const ASKED: usize = 1 << 10;
/// The value of a node is counted in such parts of a won game.
pub(super) const ONE: f64 = (1 << 20) as f64;

/// The number of a node in its store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NodeId(u32);

impl NodeId {
    /// The first node of every store.
    pub(super) const ROOT: Self = Self(0);
    const NONE: u32 = u32::MAX;
}

/// A move of a node, or a chance outcome.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Branch<M> {
    pub(super) mv: M,
    /// How much worse than the best branch it looks, in small parts of an advantage that decides a game; at a
    /// chance node the weight.
    pub(super) behind: u16,
}

/// What is known of a position's moves without search.
#[derive(Debug)]
pub(super) struct Branches<M> {
    /// The likeliest first.
    pub(super) all: Box<[Branch<M>]>,
    /// What the best branch is worth at sight, from the view of the node's side.
    pub(super) best: Score,
    /// The sum of the likelihoods of all branches.
    pub(super) sum: f32,
    /// What is proven of the best of the moves that were left out because they lose while others do not: the
    /// smallest and the largest value that are not disproven.
    pub(super) left_out: (Score, Score),
    /// Whether chance chooses.
    pub(super) is_chance: bool,
    /// Whether all that was found out about the branches at sight is known.
    pub(super) is_rated: bool,
}

/// A position that was visited.
#[derive(Debug)]
pub(super) struct Node<M> {
    visits: AtomicU32,
    /// The sum of the visits' values from the view of the node's side, in parts of [`ONE`].
    total: AtomicI64,
    lower: AtomicI32,
    upper: AtomicI32,
    branches: OnceLock<Branches<M>>,
    /// How many branches were given nodes, or are about to be.
    opened: AtomicU32,
    /// The list of their nodes, the latest first.
    child: AtomicU32,
    sibling: AtomicU32,
    /// Which branch of the parent leads here; and, in the lowest bit, whether the side stays the same.
    branch: AtomicU32,
}

// Every field is meaningful alone and relaxed, but for the links: a node is written before it is linked
// (release), and read after the link is (acquire).
impl<M> Node<M> {
    fn new() -> Self {
        Self {
            visits: AtomicU32::new(0),
            total: AtomicI64::new(0),
            lower: AtomicI32::new((-Score::INFINITE).raw()),
            upper: AtomicI32::new(Score::INFINITE.raw()),
            branches: OnceLock::new(),
            opened: AtomicU32::new(0),
            child: AtomicU32::new(NodeId::NONE),
            sibling: AtomicU32::new(NodeId::NONE),
            branch: AtomicU32::new(0),
        }
    }

    #[inline]
    pub(super) fn visits(&self) -> u32 {
        self.visits.load(Ordering::Relaxed)
    }

    /// The average of the visits' values, from -1 to 1.
    #[inline]
    pub(super) fn mean(&self) -> f64 {
        self.total.load(Ordering::Relaxed) as f64 / (ONE * f64::from(self.visits().max(1)))
    }

    /// Counts a visit that is not over yet as lost for the side that chose it (virtual loss), so that other
    /// threads go elsewhere.
    #[inline]
    pub(super) fn enter(&self, value: f64) {
        self.visits.fetch_add(1, Ordering::Relaxed);
        self.total.fetch_add((value * ONE) as i64, Ordering::Relaxed);
    }

    /// Corrects what [`Node::enter`] counted.
    #[inline]
    pub(super) fn leave(&self, entered: f64, value: f64) {
        self.total.fetch_add((value * ONE) as i64 - (entered * ONE) as i64, Ordering::Relaxed);
    }

    /// The smallest and the largest value that are not disproven.
    #[inline]
    pub(super) fn bounds(&self) -> (Score, Score) {
        let load = |bound: &AtomicI32| Score::from_raw(bound.load(Ordering::Relaxed));
        (load(&self.lower), load(&self.upper))
    }

    /// Keeps what is proven beside what was.
    pub(super) fn narrow(&self, lower: Score, upper: Score) {
        self.lower.fetch_max(lower.raw(), Ordering::Relaxed);
        self.upper.fetch_min(upper.raw(), Ordering::Relaxed);
    }

    /// Keeps the value of a position that needs no moves to be known.
    pub(super) fn settle(&self, value: Value) {
        let lower = if value.at_least { value.score } else { -Score::INFINITE };
        let upper = if value.at_most { value.score } else { Score::INFINITE };
        self.narrow(lower, upper);
    }

    /// The moves, once they were looked at.
    #[inline]
    pub(super) fn branches(&self) -> Option<&Branches<M>> {
        self.branches.get()
    }

    /// Keeps the moves, unless another thread already did.
    pub(super) fn branch_out(&self, branches: Branches<M>) {
        // What another thread found is the same.
        let _ = self.branches.set(branches);
    }

    /// How many branches were tried, or are about to be.
    #[inline]
    pub(super) fn opened(&self) -> usize {
        self.opened.load(Ordering::Relaxed) as usize
    }

    /// Claims the next branch to be tried; none if another thread was quicker.
    pub(super) fn claim(&self, next: usize) -> bool {
        let next = next as u32;
        self.opened.compare_exchange(next, next + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The number of the branch of the parent that leads here.
    #[inline]
    pub(super) fn branch(&self) -> usize {
        (self.branch.load(Ordering::Relaxed) >> 1) as usize
    }

    /// Whether the node is seen from the same side as its parent.
    #[inline]
    pub(super) fn is_same_side(&self) -> bool {
        self.branch.load(Ordering::Relaxed) & 1 != 0
    }

    fn copy_counts(&self, other: &Self) {
        for (own, other) in [(&self.visits, &other.visits), (&self.opened, &other.opened)] {
            own.store(other.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self.total.store(other.total.load(Ordering::Relaxed), Ordering::Relaxed);
        let (lower, upper) = other.bounds();
        self.narrow(lower, upper);
    }
}

/// Nodes that were allocated together.
type Chunk<M> = Box<[Node<M>]>;

/// The nodes of one tree, within a limit of memory.
#[derive(Debug)]
pub(super) struct Store<M> {
    chunks: Box<[OnceLock<Chunk<M>>]>,
    used: AtomicUsize,
    /// Bytes of branches.
    bytes: AtomicUsize,
    limit: usize,
}

impl<M: Copy> Store<M> {
    /// An empty store of at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        let chunks = limit / (CHUNK * size_of::<Node<M>>()) + 2;
        Self {
            chunks: (0..chunks).map(|_| OnceLock::new()).collect(),
            used: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            limit,
        }
    }

    /// A node, not linked to any; none if there is no room.
    pub(super) fn add(&self, branch: usize, is_same_side: bool) -> Option<NodeId> {
        let id = self.used.fetch_add(1, Ordering::Relaxed);
        let chunk = self.chunks.get(id / CHUNK)?;
        let node = &chunk.get_or_init(|| (0..CHUNK).map(|_| Node::new()).collect())[id % CHUNK];
        node.branch.store((branch as u32) << 1 | u32::from(is_same_side), Ordering::Relaxed);
        Some(NodeId(id as u32))
    }

    #[inline]
    pub(super) fn node(&self, id: NodeId) -> &Node<M> {
        let chunk = self.chunks[id.0 as usize / CHUNK].get();
        &chunk.expect("a node has its number from the store")[id.0 as usize % CHUNK]
    }

    /// Hangs a node on its parent's list.
    pub(super) fn link(&self, parent: NodeId, id: NodeId) {
        let (parent, node) = (self.node(parent), self.node(id));
        let mut first = parent.child.load(Ordering::Relaxed);
        loop {
            node.sibling.store(first, Ordering::Relaxed);
            match parent.child.compare_exchange_weak(first, id.0, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => first = now,
            }
        }
    }

    /// The nodes of the branches that were tried, the latest first.
    #[inline]
    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = (NodeId, &Node<M>)> {
        let mut next = self.node(id).child.load(Ordering::Acquire);
        std::iter::from_fn(move || {
            let id = (next != NodeId::NONE).then_some(NodeId(next))?;
            let node = self.node(id);
            // It was written before the node was linked, and is never written again.
            next = node.sibling.load(Ordering::Relaxed);
            Some((id, node))
        })
    }

    /// Keeps a node's moves and counts their memory.
    pub(super) fn branch_out(&self, id: NodeId, branches: Branches<M>) {
        self.bytes.fetch_add(branches.all.len() * size_of::<Branch<M>>(), Ordering::Relaxed);
        self.node(id).branch_out(branches);
    }

    /// Whether the memory that it may use is used up.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.bytes() >= self.limit
    }

    fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed) + self.used.load(Ordering::Relaxed) * size_of::<Node<M>>()
    }

    /// How full the store is, in parts per million.
    pub(super) fn used_ppm(&self) -> u32 {
        (self.bytes() as u64 * 1_000_000 / self.limit.max(1) as u64).min(1_000_000) as u32
    }

    /// The node behind a move, if the move was tried.
    pub(super) fn child_by(&self, id: NodeId, mv: M) -> Option<NodeId>
    where
        M: PartialEq,
    {
        let branches = self.node(id).branches()?;
        self.children(id).find(|(_, node)| branches.all[node.branch()].mv == mv).map(|(id, _)| id)
    }

    /// How often a node must have been visited, so that what was looked at behind all such nodes takes half
    /// of the memory at most: no node was visited more often than its parent. None if it was given up.
    fn busy(&self, is_over: &dyn Fn() -> bool) -> Option<u32> {
        if 2 * self.bytes() < self.limit {
            return Some(0);
        }
        let used = self.used.load(Ordering::Relaxed).min(self.chunks.len() * CHUNK);
        let mut sizes: Vec<(u32, usize)> = Vec::new();
        for id in 0..used {
            if id.is_multiple_of(ASKED) && is_over() {
                return None;
            }
            let node = self.chunks[id / CHUNK].get().map(|chunk| &chunk[id % CHUNK]);
            if let Some((node, branches)) = node.and_then(|node| Some((node, node.branches()?))) {
                let branches = branches.all.len() * size_of::<Branch<M>>();
                sizes.push((node.visits(), branches + node.opened() * size_of::<Node<M>>()));
            }
        }
        most_visited_first(&mut sizes);
        let mut bytes = 0;
        for (visits, size) in sizes {
            bytes += size;
            if 2 * bytes > self.limit {
                return Some(visits + 1);
            }
        }
        Some(0)
    }

    /// A copy that takes half of the memory at most, without what is behind the nodes that were visited
    /// least. None if `is_over`, which is polled, gave it up.
    pub(super) fn pruned(&self, is_over: &dyn Fn() -> bool) -> Option<Self> {
        let copy = Self::new(self.limit);
        if let Some(root) = copy.add(0, false) {
            // The root's own branches are always kept.
            let busy = self.busy(is_over)?.min(self.node(NodeId::ROOT).visits());
            copy.graft(self, vec![(NodeId::ROOT, root)], busy, is_over)?;
        }
        Some(copy)
    }

    /// Takes over the counts that an older tree has of the root's branches, which were looked at anew. Gives
    /// the branches there and here, for [`take_over`](Self::take_over).
    pub(super) fn inherit(&self, old: &Self, from: NodeId) -> Vec<(NodeId, NodeId)>
    where
        M: PartialEq,
    {
        let root = self.node(NodeId::ROOT);
        let mut inherited = Vec::new();
        let Some((known, branches)) = old.node(from).branches().zip(root.branches()) else {
            return inherited;
        };
        // The branches are tried in their order: what comes after one that was not tried is tried anew.
        for (number, branch) in branches.all.iter().enumerate() {
            let tried = old.children(from).find(|(_, node)| known.all[node.branch()].mv == branch.mv);
            let Some((id, node)) = tried else { break };
            let Some(copy) = self.add(number, node.is_same_side()) else { break };
            root.claim(number);
            self.link(NodeId::ROOT, copy);
            inherited.push((id, copy));
            let copy = self.node(copy);
            copy.copy_counts(node);
            // What is behind it is not here yet.
            copy.opened.store(0, Ordering::Relaxed);
            root.visits.fetch_add(node.visits(), Ordering::Relaxed);
            let total = node.total.load(Ordering::Relaxed);
            root.total.fetch_add(if node.is_same_side() { total } else { -total }, Ordering::Relaxed);
        }
        inherited
    }

    /// Takes over what an older tree has behind the branches that were inherited, until `is_over`, which is
    /// polled, gives it up: the rest is looked at anew.
    pub(super) fn take_over(
        &self,
        old: &Self,
        inherited: Vec<(NodeId, NodeId)>,
        is_over: &dyn Fn() -> bool,
    ) -> Option<()> {
        self.graft(old, inherited, old.busy(is_over)?, is_over)
    }

    /// Copies what hangs on nodes of another store, and their counts, to nodes of this one, but nothing
    /// behind nodes that were visited fewer than `least` times. None if it was given up halfway: nodes that
    /// were not reached have no branches yet.
    fn graft(
        &self,
        other: &Self,
        mut waiting: Vec<(NodeId, NodeId)>,
        least: u32,
        is_over: &dyn Fn() -> bool,
    ) -> Option<()> {
        let mut copied: usize = 0;
        while let Some((from, to)) = waiting.pop() {
            if copied.is_multiple_of(ASKED) && is_over() {
                return None;
            }
            copied += 1;
            let (old, new) = (other.node(from), self.node(to));
            new.copy_counts(old);
            let Some(branches) = old.branches().filter(|_| old.visits() >= least) else {
                // It is looked at anew when it is visited again.
                new.opened.store(0, Ordering::Relaxed);
                continue;
            };
            let Branches { ref all, best, sum, left_out, is_chance, is_rated } = *branches;
            self.branch_out(to, Branches { all: all.clone(), best, sum, left_out, is_chance, is_rated });
            // The list is the latest first, and so is that of the copy.
            let children: Vec<(NodeId, &Node<M>)> = other.children(from).collect();
            for &(id, node) in children.iter().rev() {
                let copy = self
                    .add(node.branch(), node.is_same_side())
                    .expect("the copy of a part is no larger than the whole");
                self.link(to, copy);
                waiting.push((id, copy));
            }
        }
        Some(())
    }
}

/// Sorts visits and sizes in place, for all games by the same code: there may be as many as nodes.
fn most_visited_first(sizes: &mut [(u32, usize)]) {
    sizes.sort_unstable_by_key(|&(visits, _)| std::cmp::Reverse(visits));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_can_be_given_up() {
        let full: Store<u8> = Store::new(1 << 18);
        while !full.is_full() {
            full.add(0, false).unwrap();
        }
        assert!(full.pruned(&|| true).is_none(), "while its nodes are looked at");
        let wide: Store<u8> = Store::new(1 << 20);
        let root = wide.add(0, false).unwrap();
        let all = vec![Branch { mv: 0, behind: 0 }; 3000].into_boxed_slice();
        let (best, left_out) = (Score::DRAW, (Score::DRAW, Score::DRAW));
        wide.branch_out(root, Branches { all, best, sum: 1.0, left_out, is_chance: false, is_rated: true });
        for branch in 0..3000 {
            wide.link(root, wide.add(branch, false).unwrap());
        }
        assert!(wide.pruned(&|| true).is_none(), "while they are copied");
        let copy = wide.pruned(&|| false).unwrap();
        assert_eq!((copy.children(root).count(), copy.bytes()), (3000, wide.bytes()));
    }

    /// A tree with two moves at each of three nodes, of which the second move at the root was tried most.
    fn small() -> Store<u8> {
        let store = Store::new(1 << 20);
        let root = store.add(0, false).unwrap();
        let branch_out = |id| {
            let all = [0, 1].map(|mv| Branch { mv, behind: 0 }).into();
            let (best, left_out) = (Score::DRAW, (Score::DRAW, Score::DRAW));
            store
                .branch_out(id, Branches { all, best, sum: 1.0, left_out, is_chance: false, is_rated: true });
            [0, 1].map(|number| {
                store.node(id).claim(number);
                let child = store.add(number, false).unwrap();
                store.link(id, child);
                store.node(child).visits.store(5 + number as u32, Ordering::Relaxed);
                child
            })
        };
        for child in branch_out(root) {
            branch_out(child);
        }
        store
    }

    #[test]
    fn the_branches_are_inherited_at_once_and_what_is_behind_them_until_it_is_given_up() {
        let old = small();
        for is_over in [true, false] {
            let new: Store<u8> = Store::new(1 << 20);
            let root = new.add(0, false).unwrap();
            let all = [1, 0].map(|mv| Branch { mv, behind: 0 }).into();
            let (best, left_out) = (Score::DRAW, (Score::DRAW, Score::DRAW));
            new.branch_out(
                root,
                Branches { all, best, sum: 1.0, left_out, is_chance: false, is_rated: true },
            );
            let inherited = new.inherit(&old, NodeId::ROOT);
            let visits =
                |id| new.children(id).map(|(_, node)| (node.branch(), node.visits())).collect::<Vec<_>>();
            assert_eq!((new.node(root).visits(), visits(root)), (11, vec![(1, 5), (0, 6)]));
            let kept: Vec<NodeId> = inherited.iter().map(|(_, kept)| *kept).collect();
            assert_eq!(new.take_over(&old, inherited, &|| is_over).is_none(), is_over);
            for id in kept {
                let node = new.node(id);
                let expected = if is_over { (0, Vec::new()) } else { (2, vec![(1, 6), (0, 5)]) };
                assert_eq!((node.opened(), visits(id)), expected);
                assert_eq!(node.branches().is_none(), is_over);
            }
        }
    }
}
