//! What a search thread remembers to try good moves first: killers, history, and its stacks of moves.
//!
//! Killers are moves that refuted a sibling; history counts what refuted anything (Schaeffer, "The history
//! heuristic and alpha-beta search enhancements in practice", 1989), ageing with each new entry.

use crate::game::{Game, Side};

/// The longest line that a search follows, chance plies included.
pub(super) const MAX_PLY: usize = 256;

const HISTORY_MAX: i32 = 1 << 14;
/// What a unit of [`Game::order`] is worth in history.
const ORDER: i32 = 128;

/// One thread's killers, history and stacks. All buffers are kept from search to search, so that nodes do not
/// allocate.
pub(super) struct History<G: Game> {
    /// The moves of all nodes on the path, the last node's on top.
    pub moves: Vec<G::Move>,
    /// The ordering keys of `moves`.
    pub keys: Vec<i32>,
    /// The outcomes of all chance nodes on the path.
    pub outcomes: Vec<(G::Move, u32)>,
    /// What each of `outcomes` is worth at least.
    pub least: Vec<i64>,
    /// The best line from each ply on.
    pub pv: Vec<Vec<G::Move>>,
    killers: Vec<[Option<G::Move>; 2]>,
    counts: [Vec<i32>; 2],
}

impl<G: Game> History<G> {
    /// An empty history for one game.
    #[must_use]
    pub(super) fn new(game: &G) -> Self {
        Self {
            moves: Vec::with_capacity(1024),
            keys: Vec::with_capacity(1024),
            outcomes: Vec::new(),
            least: Vec::new(),
            pv: (0..=MAX_PLY + 1).map(|_| Vec::with_capacity(16)).collect(),
            killers: vec![[None; 2]; MAX_PLY + 2],
            counts: [vec![0; game.index_len()], vec![0; game.index_len()]],
        }
    }

    /// Forgets what earlier searches taught.
    pub(super) fn clear(&mut self) {
        self.killers.fill([None; 2]);
        self.counts.iter_mut().for_each(|table| table.fill(0));
    }

    /// Prepares for a new search: stacks empty, what was learned halved.
    pub(super) fn begin(&mut self) {
        self.moves.clear();
        self.keys.clear();
        self.outcomes.clear();
        self.least.clear();
        self.killers.fill([None; 2]);
        self.counts.iter_mut().flatten().for_each(|count| *count /= 2);
    }

    /// Brings the table's move, or else a killer, to `base`; false if the moves from there on hold none.
    #[inline]
    pub(super) fn tt_move_first(&mut self, game: &G, ply: usize, base: usize, first: Option<u16>) -> bool {
        let moves = &mut self.moves[base..];
        let killers = self.killers[ply];
        let killer = |killer: Option<G::Move>| moves.iter().position(|&mv| killer == Some(mv));
        let at = first
            .and_then(|first| moves.iter().position(|&mv| game.index(mv) == usize::from(first)))
            .or_else(|| killer(killers[0]).or_else(|| killer(killers[1])));
        if let Some(at) = at {
            moves.swap(0, at);
        }
        at.is_some()
    }

    /// Gives keys to the moves from `base` on.
    #[inline]
    pub(super) fn score_moves(&mut self, game: &G, pos: &G::Position, base: usize) {
        let side = game.side(pos).index();
        self.keys.resize(base, 0);
        let history = &self.counts[side];
        self.keys.extend(
            self.moves[base..].iter().map(|&mv| history[game.index(mv)] + ORDER * game.order(pos, mv)),
        );
    }

    /// Brings the best of the moves from `at` on to `at`, and returns it.
    #[inline]
    pub(super) fn pick_next(&mut self, at: usize) -> G::Move {
        let keys = &self.keys[at..self.moves.len()];
        let mut best = 0;
        for (i, &key) in keys.iter().enumerate() {
            if key > keys[best] {
                best = i;
            }
        }
        self.moves.swap(at, at + best);
        self.keys.swap(at, at + best);
        self.moves[at]
    }

    /// The moves that refuted a position of this ply last, the latest first.
    #[inline]
    pub(super) fn killers(&self, ply: usize) -> [Option<G::Move>; 2] {
        self.killers[ply]
    }

    /// Learns that a move refuted a position of this ply.
    #[inline]
    pub(super) fn store_killer(&mut self, ply: usize, mv: G::Move) {
        let killers = &mut self.killers[ply];
        if killers[0] != Some(mv) {
            *killers = [Some(mv), killers[0]];
        }
    }

    /// Learns that the move at `at` refuted its node, and that those from `base` up to it did not.
    pub(super) fn update_history(
        &mut self,
        game: &G,
        side: Side,
        ply: usize,
        depth: i32,
        base: usize,
        at: usize,
    ) {
        self.store_killer(ply, self.moves[at]);
        let bonus = (depth * depth).min(HISTORY_MAX / 4);
        let table = &mut self.counts[side.index()];
        for i in base..=at {
            let count = &mut table[game.index(self.moves[i])];
            let change = if i == at { bonus } else { -bonus };
            *count += change - *count * bonus / HISTORY_MAX;
        }
    }

    /// Makes `mv`, followed by the line of the next ply, the line of this ply.
    pub(super) fn extend_pv(&mut self, ply: usize, mv: G::Move) {
        let (head, tail) = self.pv.split_at_mut(ply + 1);
        head[ply].clear();
        head[ply].push(mv);
        head[ply].extend_from_slice(&tail[0]);
    }
}
