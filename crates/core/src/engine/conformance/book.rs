//! Whether a game's book agrees with itself: a position is worth as much as its best move.

use crate::engine::Playable;
use crate::engine::book::worth;
use crate::score::Score;

/// Whether the book's value of a position is proven, the move that it names is legal and keeps it, and no
/// other move is worth more, as far as the book knows.
pub(super) fn check<G: Playable>(game: &G, pos: &G::Position, moves: &[G::Move]) -> Result<(), String> {
    let Some(entry) = game.book(pos) else { return Ok(()) };
    if !entry.value.is_decided() {
        return Err(format!("the book's value {:?} is not proven", entry.value));
    }
    if let Some(mv) = entry.mv.filter(|mv| !moves.contains(mv)) {
        return Err(format!("the book names {mv:?}, which is not legal"));
    }
    let result = entry.value.score.cmp(&Score::DRAW);
    let mut best = None;
    let mut all = true;
    for &mv in moves {
        let mut after = pos.clone();
        game.play(&mut after, mv);
        let Some(value) = worth(game, pos, &after) else {
            all = false;
            continue;
        };
        let reached = value.score.cmp(&Score::DRAW);
        if reached > result || (entry.mv == Some(mv) && reached < result) {
            return Err(format!("the book has {:?} for the position and {value:?} for {mv:?}", entry.value));
        }
        best = best.max(Some(reached));
    }
    if all && best != Some(result) {
        return Err(format!("the book has {:?} for the position, and no move is worth that", entry.value));
    }
    Ok(())
}
