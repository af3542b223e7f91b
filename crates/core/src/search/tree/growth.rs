//! How a search tree grows: from the root to a position not seen before, and back with what that is worth.
//!
//! At each node the branch is chosen that looks best, plus a bonus that grows with its likelihood and with
//! the time since it was tried (PUCT: Rosin, "Multi-armed bandits with episode context", 2011; Silver et al.,
//! "Mastering the game of Go without human knowledge", 2017). Likelihoods and values come from the static
//! evaluation; nothing is played out at random. What is proven goes up beside the averages (Winands et al.,
//! "Monte-Carlo tree search solver", 2008).

use crate::game::{Game, Side, Turn};
use crate::score::{Score, Value};
use crate::search::erased::Erased;
use crate::search::first_look::FirstLook;
use crate::search::one_ply::outlook;
use crate::search::sort::sort_by_key;
use crate::search::thread::{SearchThread, final_value, is_lost, is_won};
use crate::search::tree::depth_of;
use crate::search::tree::store::{Branch, Branches, Node, NodeId, Store};

/// The weight of likelihoods beside values.
const EXPLORE: f64 = 1.5;
/// The disadvantage, as a part of an advantage that decides a game, at which a branch is tried a good third
/// as often as the best.
const TEMPERATURE: f64 = 0.4;
/// What is proven of the best move if there is no move.
const NOTHING: (Score, Score) =
    (Score::from_raw(-Score::INFINITE.raw()), Score::from_raw(-Score::INFINITE.raw()));
/// How finely branches are distinguished: into how many parts an advantage that decides a game is divided.
const STEPS: i32 = 256;

/// One thread that grows a tree.
pub(super) struct Growth<'a, G: Game> {
    pub(super) game: &'a G,
    pub(super) evaluator: &'a Erased<G>,
    /// [`crate::game::Evaluator::decisive`].
    pub(super) decisive: i32,
    pub(super) store: &'a Store<G::Move>,
    pub(super) root: Side,
    pub(super) thread: SearchThread<'a>,
    pub(super) buffers: Buffers<G>,
}

/// What a thread keeps from visit to visit, so that it does not allocate.
pub(super) struct Buffers<G: Game> {
    path: Vec<(NodeId, f64)>,
    moves: Vec<G::Move>,
    rated: Vec<(G::Move, Value)>,
}

impl<G: Game> Default for Buffers<G> {
    fn default() -> Self {
        Self { path: Vec::with_capacity(64), moves: Vec::with_capacity(512), rated: Vec::with_capacity(512) }
    }
}

/// Where a visit goes on from a node.
enum Step {
    /// To a position that was visited before.
    Again(NodeId),
    /// To the next branch, by its number.
    Next(usize),
    /// Nowhere: all that can be reached is decided.
    Nowhere,
}

impl<G: Game> Growth<'_, G> {
    /// One visit of the tree below a position; false when the thread ends it or nothing is left to find out.
    pub(super) fn visit(&mut self, root: &G::Position) -> bool {
        let (game, store) = (self.game, self.store);
        let mut pos = root.clone();
        let mut id = NodeId::ROOT;
        let mut last = None;
        self.buffers.path.clear();
        self.buffers.path.push((id, 0.0));
        store.node(id).enter(0.0);
        let value = loop {
            let node = store.node(id);
            let Some(branches) = node.branches() else {
                match self.look(id, &mut pos, last) {
                    Some(value) => break Some(value),
                    None => break None,
                }
            };
            let (number, child) = match self.choose(id, branches) {
                Step::Again(child) => (store.node(child).branch(), Some(child)),
                Step::Next(number) => (number, None),
                Step::Nowhere => {
                    self.thread.tick();
                    break self.settled_worth(id, branches);
                }
            };
            let branch = branches.all[number];
            let side = game.side(&pos);
            game.play(&mut pos, branch.mv);
            last = Some(branch.mv);
            let is_same_side = game.side(&pos) == side;
            let Some(child) = child.or_else(|| self.open(id, number, is_same_side)) else {
                // Another thread was quicker, or there is no memory: the value at sight must do.
                self.thread.tick();
                break Some(self.worth_at_sight(branches, branch));
            };
            let entered = if is_same_side { -1.0 } else { 1.0 };
            store.node(child).enter(entered);
            self.buffers.path.push((child, entered));
            id = child;
        };
        self.back_up(value.unwrap_or(0.0));
        self.thread.seldepth = self.thread.seldepth.max(self.buffers.path.len() as u32 - 1);
        value.is_some() && !self.thread.is_over()
    }

    /// Shows how far the search has come.
    pub(super) fn show(&mut self) {
        let root = self.store.node(NodeId::ROOT);
        let is_looked_at = root.branches().is_some_and(|branches| branches.is_rated) || root.opened() > 0;
        self.thread.depth = if is_looked_at { depth_of(root.visits()) } else { 0 };
        self.thread.hash_ppm = self.store.used_ppm();
        self.thread.show();
    }

    /// Gives the next branch of a node a node of its own.
    fn open(&self, id: NodeId, number: usize, is_same_side: bool) -> Option<NodeId> {
        let may = !self.store.is_full() && self.store.node(id).claim(number);
        let child = if may { self.store.add(number, is_same_side) } else { None }?;
        self.store.link(id, child);
        Some(child)
    }

    /// The value of a node from which there is nowhere to go; none if that is the root, and everything is
    /// found out.
    fn settled_worth(&self, id: NodeId, branches: &Branches<G::Move>) -> Option<f64> {
        let node = self.store.node(id);
        // Another thread may have opened the last branch and not backed up its value yet.
        let is_whole = || self.store.children(id).count() == branches.all.len();
        if id == NodeId::ROOT {
            return (!is_decided::<G>(node.bounds()) && !is_whole()).then(|| self.worth(branches.best));
        }
        let is_known = is_decided::<G>(node.bounds());
        Some(if is_known { self.decided_worth(node) } else { self.worth(branches.best) })
    }

    /// The branch to try next.
    fn choose(&self, id: NodeId, branches: &Branches<G::Move>) -> Step {
        if branches.is_chance {
            return self.choose_outcome(id, branches);
        }
        let node = self.store.node(id);
        let next = node.opened();
        let explore = EXPLORE * f64::from(node.visits()).sqrt() / f64::from(branches.sum);
        let mut best = f64::NEG_INFINITY;
        let mut step = Step::Nowhere;
        if let Some(&branch) = branches.all.get(next) {
            best = self.worth_at_sight(branches, branch) + explore * f64::from(likelihood(branch.behind));
            step = Step::Next(next);
        }
        for (child, node) in self.store.children(id) {
            if is_decided::<G>(node.bounds()) {
                continue;
            }
            let mean = if node.is_same_side() { node.mean() } else { -node.mean() };
            let likely = f64::from(likelihood(branches.all[node.branch()].behind));
            let worth = mean + explore * likely / f64::from(1 + node.visits());
            if worth > best {
                best = worth;
                step = Step::Again(child);
            }
        }
        step
    }

    /// The outcome that was tried too seldom for its weight.
    fn choose_outcome(&self, id: NodeId, branches: &Branches<G::Move>) -> Step {
        let node = self.store.node(id);
        let mut least = f64::INFINITY;
        let mut step = Step::Nowhere;
        let next = node.opened();
        if let Some(branch) = branches.all.get(next) {
            least = 1.0 / f64::from(branch.behind.max(1));
            step = Step::Next(next);
        }
        for (child, node) in self.store.children(id) {
            let weight = f64::from(branches.all[node.branch()].behind.max(1));
            let share = f64::from(1 + node.visits()) / weight;
            if share < least {
                least = share;
                step = Step::Again(child);
            }
        }
        step
    }

    /// Looks at a new position: its branches, and what it is worth from the view of its side; none if the
    /// thread ended.
    fn look(&mut self, id: NodeId, pos: &mut G::Position, last: Option<G::Move>) -> Option<f64> {
        let game = self.game;
        let node = self.store.node(id);
        let settled = match game.turn(pos) {
            Turn::Over(outcome) => Some(final_value::<G>(&outcome, game.side(pos), 0)),
            Turn::Chance => return self.look_at_outcomes(id, pos, last),
            Turn::Move => game.probe(pos).filter(|value| is_decided::<G>(bounds(*value))),
        };
        if let Some(value) = settled {
            self.thread.tick();
            node.settle(value);
            return Some(self.worth(value.score));
        }
        self.buffers.moves.clear();
        game.moves(pos, &mut self.buffers.moves);
        self.rate(game, pos, false)?;
        let (best, left_out) = self.keep_what_matters(node);
        self.branch_out(id, best, left_out, true);
        Some(self.worth(best))
    }

    /// Looks at some moves of the root, all of which are kept. What they look like at sight is a search of
    /// depth 1, unless the thread ends before.
    pub(super) fn look_at_root(&mut self, pos: &G::Position, moves: &[G::Move]) {
        self.buffers.moves.clear();
        self.buffers.moves.extend_from_slice(moves);
        // Without a value for each of them, the game's order must do.
        let look = FirstLook::new(self.game);
        let game = look.game(self.game);
        let is_rated = self.rate(game, &mut pos.clone(), true).is_some();
        if look.has_undecided() {
            self.buffers.rated.iter_mut().for_each(|rated| rated.1 = Value::guess(rated.1.score));
        }
        if !is_rated {
            let unknown = |&mv| (mv, Value::guess(Score::DRAW));
            self.buffers.rated.clear();
            self.buffers.rated.extend(moves.iter().map(unknown));
            let game = self.game;
            sort_by_key(&mut self.buffers.rated, |rated| -i64::from(game.order(pos, rated.0)));
        }
        let best = self.buffers.rated.first().map_or(Score::DRAW, |rated| rated.1.score);
        self.branch_out(NodeId::ROOT, best, NOTHING, is_rated);
    }

    /// Rates the moves in the buffer by what they look like at sight, the best first; none if the thread
    /// ended. At the root [`Game::probe`] is asked for wins, too: the quickest comes first, and the first win
    /// that is found ends the search.
    fn rate(&mut self, game: &G, pos: &mut G::Position, is_root: bool) -> Option<()> {
        let Buffers { moves, rated, .. } = &mut self.buffers;
        rated.clear();
        let side = game.side(pos);
        for &mv in moves.iter() {
            if self.thread.tick() {
                return None;
            }
            let undo = game.play(pos, mv);
            let is_same_side = game.side(pos) == side;
            let of_mover = |value: Value| if is_same_side { value } else { -value };
            let seen = of_mover(outlook(game, self.evaluator, pos, Some(mv), self.root));
            let known = if is_root && game.turn(pos) == Turn::Move { game.probe(pos) } else { None };
            let win = known.map(of_mover).filter(|value| value.at_least && is_won::<G>(value.score));
            game.undo(pos, mv, undo);
            let win = win.map(|value| Value { score: value.score.earlier(1), ..value });
            rated.push((mv, win.unwrap_or(seen)));
        }
        sort_by_key(rated, |rated| -i64::from(rated.1.score.raw()));
        Some(())
    }

    /// Drops branches that need not be tried, and keeps what that proves. It keeps only the best branch if
    /// that wins at once or all lose at once, and else drops those that lose at once. Gives the best value at
    /// sight, and what is proven of the best that was dropped.
    fn keep_what_matters(&mut self, node: &Node<G::Move>) -> (Score, (Score, Score)) {
        let rated = &mut self.buffers.rated;
        let (_, best) = rated[0];
        let mut left_out = NOTHING;
        if best.at_least && is_won::<G>(best.score) {
            rated.truncate(1);
            node.narrow(best.score, Score::INFINITE);
        } else if best.at_most && is_lost::<G>(best.score) {
            rated.truncate(1);
            node.settle(best);
        } else {
            let losing = rated.partition_point(|(_, value)| !is_lost::<G>(value.score));
            if let Some(&(_, value)) = rated.get(losing) {
                left_out = bounds(value);
                node.narrow(left_out.0, Score::INFINITE);
            }
            rated.truncate(losing);
        }
        (best.score, left_out)
    }

    /// Keeps the rated moves as the branches of a node.
    fn branch_out(&mut self, id: NodeId, best: Score, left_out: (Score, Score), is_rated: bool) {
        let step = step(self.decisive);
        let behind = |score: Score| {
            (best.raw().saturating_sub(score.raw()) / step).clamp(0, i32::from(u16::MAX)) as u16
        };
        let branch = |&(mv, value): &(G::Move, Value)| Branch { mv, behind: behind(value.score) };
        let all: Box<[_]> = self.buffers.rated.iter().map(branch).collect();
        let sum = all.iter().map(|branch| likelihood(branch.behind)).sum();
        self.store.branch_out(id, Branches { all, best, sum, left_out, is_chance: false, is_rated });
    }

    /// Looks at a chance node: its outcomes, and their average at sight.
    fn look_at_outcomes(&mut self, id: NodeId, pos: &mut G::Position, last: Option<G::Move>) -> Option<f64> {
        let game = self.game;
        if self.thread.tick() {
            return None;
        }
        let value = outlook(game, self.evaluator, pos, last, self.root);
        let mut outcomes = Vec::new();
        game.outcomes(pos, &mut outcomes);
        sort_by_key(&mut outcomes, |outcome| -i64::from(outcome.1));
        let total: u64 = outcomes.iter().map(|outcome| u64::from(outcome.1)).sum();
        let share = |weight: u32| (u64::from(weight) * u64::from(u16::MAX) / total) as u16;
        let all = outcomes.iter().map(|&(mv, weight)| Branch { mv, behind: share(weight) }).collect();
        let branches = Branches {
            all,
            best: value.score,
            sum: 1.0,
            left_out: NOTHING,
            is_chance: true,
            is_rated: false,
        };
        self.store.branch_out(id, branches);
        Some(self.worth(value.score))
    }

    /// What a branch looks like at sight, from the view of its node's side.
    fn worth_at_sight(&self, branches: &Branches<G::Move>, branch: Branch<G::Move>) -> f64 {
        let score = branches.best.raw() - i32::from(branch.behind) * step(self.decisive);
        self.worth(Score::eval(score))
    }

    /// The value of a node whose outcome is proven.
    fn decided_worth(&self, node: &Node<G::Move>) -> f64 {
        let (lower, upper) = node.bounds();
        self.worth(if is_lost::<G>(upper) { upper } else { lower })
    }

    fn worth(&self, score: Score) -> f64 {
        worth::<G>(score, self.decisive)
    }

    /// Backs up the value of the last node of the path, from the view of its side.
    fn back_up(&mut self, value: f64) {
        let mut value = value;
        let mut changed = true;
        for at in (0..self.buffers.path.len()).rev() {
            let (id, entered) = self.buffers.path[at];
            let node = self.store.node(id);
            // The last node's own bounds were set when it was looked at.
            if changed && at + 1 < self.buffers.path.len() {
                changed = self.tighten(id);
            }
            if is_decided::<G>(node.bounds()) {
                value = self.decided_worth(node);
            }
            node.leave(entered, value);
            if !node.is_same_side() {
                value = -value;
            }
        }
    }

    /// Infers from the children what is proven of a node; says whether that is more than before.
    fn tighten(&self, id: NodeId) -> bool {
        let node = self.store.node(id);
        let Some(branches) = node.branches() else { return false };
        let before = node.bounds();
        let (mut count, mut least) = (0, Score::INFINITE);
        let (mut lower, mut upper) = branches.left_out;
        for (_, child) in self.store.children(id) {
            let (child_lower, child_upper) = seen(child, branches.is_chance);
            least = least.min(child_lower);
            lower = lower.max(child_lower);
            upper = upper.max(child_upper);
            count += 1;
        }
        let is_whole = count == branches.all.len();
        if branches.is_chance {
            lower = if is_whole { least } else { -Score::INFINITE };
        }
        node.narrow(lower, if is_whole { upper } else { Score::INFINITE });
        node.bounds() != before
    }
}

/// The advantage by which branches are distinguished, if `decisive` decides a game.
fn step(decisive: i32) -> i32 {
    (decisive / STEPS).max(1)
}

/// What is proven of a child, from the view of its parent's side.
pub(super) fn seen<M>(child: &Node<M>, is_after_chance: bool) -> (Score, Score) {
    let (lower, upper) = child.bounds();
    let moves = u32::from(!is_after_chance);
    let (lower, upper) = (lower.earlier(moves), upper.earlier(moves));
    if child.is_same_side() { (lower, upper) } else { (-upper, -lower) }
}

/// Whether the outcome is proven, and in games that score the margin, unless it is enough to win.
pub(super) fn is_decided<G: Game>((lower, upper): (Score, Score)) -> bool {
    lower >= upper || is_won::<G>(lower) || is_lost::<G>(upper)
}

fn bounds(value: Value) -> (Score, Score) {
    let lower = if value.at_least { value.score } else { -Score::INFINITE };
    (lower, if value.at_most { value.score } else { Score::INFINITE })
}

/// A score on the scale from -1, lost, to 1, won: close to the hyperbolic tangent, and the same on every
/// machine. See [`crate::game::Evaluator::decisive`].
pub(super) fn worth<G: Game>(score: Score, decisive: i32) -> f64 {
    if is_won::<G>(score) {
        return 1.0;
    }
    if is_lost::<G>(score) {
        return -1.0;
    }
    let x = f64::from(score.raw()) / f64::from(decisive);
    let x = x.clamp(-3.0, 3.0);
    0.999 * x * (27.0 + x * x) / (27.0 + 9.0 * x * x)
}

/// The score that is worth so much: the inverse of [`worth`] for evaluations.
pub(super) fn score_of<G: Game>(value: f64, decisive: i32) -> Score {
    let most = 3 * decisive;
    let (mut low, mut high) = (-most, most);
    while low < high {
        let middle = low + (high - low) / 2;
        if worth::<G>(Score::eval(middle), decisive) < value {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Score::eval(low)
}

/// The likelihood of a branch that looks so much worse than the best, which counts 1: close to an
/// exponential.
fn likelihood(behind: u16) -> f32 {
    let x = (f64::from(behind) / (f64::from(STEPS) * TEMPERATURE)) as f32;
    1.0 / (1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x / 24.0))))
}
