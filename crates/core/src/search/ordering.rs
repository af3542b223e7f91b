//! What a search thread remembers to try good moves first: killers, history, and its stacks of moves.
//!
//! Killers are moves that refuted a sibling; history counts what refuted anything (Schaeffer, "The history
//! heuristic and alpha-beta search enhancements in practice", 1989), ageing with each new entry.

use crate::game::{Game, Side};

/// The longest line that a search follows, chance plies included.
pub(super) const MAX_PLY: usize = 256;

const HISTORY_MAX: i32 = 1 << 14;
/// How many keys are compared at once.
const BLOCK: usize = 16;
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

    /// Brings the table's move, or else a killer, to `base`; false if none of them is among the moves from
    /// there on.
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
        let best = at + greatest(&self.keys[at..self.moves.len()]);
        self.moves.swap(at, best);
        self.keys.swap(at, best);
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

/// The place of the greatest key, of equal ones the first.
///
/// Where it stands is unpredictable, so the maximum is found without a branch, many keys at once, and then
/// its place.
#[inline]
fn greatest(keys: &[i32]) -> usize {
    let (blocks, rest) = keys.as_chunks::<BLOCK>();
    let most_of = |keys: &[i32]| keys.iter().fold(i32::MIN, |most, &key| most.max(key));
    let (mut most, mut from) = (most_of(rest), BLOCK * blocks.len());
    // From the last block on, so that of equal ones the first stays.
    for (block, keys) in blocks.iter().enumerate().rev() {
        let most_here = most_of(keys);
        if most_here >= most {
            (most, from) = (most_here, BLOCK * block);
        }
    }
    from + keys[from..].iter().position(|&key| key == most).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zobrist::SplitMix64;

    #[test]
    fn the_greatest_key_is_the_first_of_equal_ones() {
        let mut random = SplitMix64::new(5);
        for len in 1..200 {
            for range in [1, 2, 7, 1000, u64::from(u32::MAX)] {
                let keys: Vec<i32> = (0..len).map(|_| (random.next() % range) as u32 as i32).collect();
                let most = keys.iter().max();
                assert_eq!(Some(greatest(&keys)), keys.iter().position(|key| Some(key) == most), "{keys:?}");
            }
        }
        assert_eq!(greatest(&[i32::MIN; 40]), 0);
    }
}
