//! Perft: the number of positions after each number of plies, to compare rules with other programs.

use std::collections::HashMap;

use super::Counting;
use crate::game::{Game, Turn};
use crate::search::Control;

/// The most counts that are kept: 4 million, some 100 MB.
const CACHE: usize = 4 << 20;

/// Counts the positions `depth` plies after `pos`, chance outcomes included; positions where the game is over
/// count at their ply and have no children.
pub(super) fn count<G: Game>(
    game: &G,
    pos: &G::Position,
    depth: u32,
    counting: Counting,
    control: &Control,
) -> u64 {
    let mut pos = pos.clone();
    let cache = (counting == Counting::Cached).then(HashMap::new);
    let mut counter = Counter { game, control, stack: Vec::new(), outcomes: Vec::new(), cache };
    if depth == 0 { 1 } else { counter.count(&mut pos, depth) }
}

struct Counter<'a, G: Game> {
    game: &'a G,
    control: &'a Control,
    stack: Vec<G::Move>,
    outcomes: Vec<(G::Move, u32)>,
    cache: Option<HashMap<(u64, u32), u64>>,
}

impl<G: Game> Counter<'_, G> {
    fn count(&mut self, pos: &mut G::Position, depth: u32) -> u64 {
        let game = self.game;
        // A hash takes as long as a move of a quick game.
        let key = self.cache.as_ref().filter(|_| depth > 1).map(|_| (game.hash(pos), depth));
        if let Some(&known) = key.and_then(|key| self.cache.as_ref()?.get(&key)) {
            return known;
        }
        let base = self.stack.len();
        match game.turn(pos) {
            Turn::Over(_) => return 0,
            Turn::Move => game.moves(pos, &mut self.stack),
            Turn::Chance => {
                game.outcomes(pos, &mut self.outcomes);
                self.stack.extend(self.outcomes.drain(..).map(|(mv, _)| mv));
            }
        }
        if depth == 1 {
            let count = self.stack.len() - base;
            self.stack.truncate(base);
            return count as u64;
        }
        let mut count = 0_u64;
        for at in base..self.stack.len() {
            if self.control.stopped() {
                break;
            }
            let mv = self.stack[at];
            let undo = game.play(pos, mv);
            count = self.count(pos, depth - 1).saturating_add(count);
            game.undo(pos, mv, undo);
        }
        self.stack.truncate(base);
        if let (Some(key), Some(cache)) = (key, self.cache.as_mut().filter(|cache| cache.len() < CACHE)) {
            cache.insert(key, count);
        }
        count
    }
}
