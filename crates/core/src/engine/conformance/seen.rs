//! What random games have met so far, to compare with each new position: moves of other positions, and the
//! positions that have each hash.

use std::collections::HashMap;
use std::mem;

use crate::engine::Playable;
use crate::game::{Outcome, Turn, candidates};
use crate::search::sort::sort_by_key;
use crate::zobrist::SplitMix64;

/// How many moves of other positions are asked about in each position.
const ASKED: usize = 64;
/// How many positions are kept.
const KEPT: usize = 20_000;
/// How many pairs of different positions with the same hash are compared.
const PAIRS: usize = 100;
/// For how many plies two positions with the same hash are compared.
const PLIES: usize = 300;

/// What was seen under some rules.
pub(super) struct Seen<G: Playable> {
    /// The range of each evaluator.
    ranges: Vec<(i32, i32)>,
    /// The last move seen of each index.
    moves: Vec<G::Move>,
    /// The place in `moves` of each index.
    places: HashMap<usize, usize>,
    /// A position with each hash.
    positions: HashMap<u64, G::Position>,
    /// How many pairs are still compared.
    pairs: usize,
}

impl<G: Playable> Seen<G> {
    pub(super) fn new(game: &G) -> Self {
        let ranges = G::EVALUATORS.iter().map(|evaluator| evaluator.range(game)).collect();
        Self { ranges, moves: Vec::new(), places: HashMap::new(), positions: HashMap::new(), pairs: PAIRS }
    }

    /// Whether each evaluation is within the range that its evaluator promises, where a player is to move.
    pub(super) fn evaluations(&self, game: &G, pos: &G::Position) -> Result<(), String> {
        for (evaluator, &(least, most)) in G::EVALUATORS.iter().zip(&self.ranges) {
            let score = evaluator.evaluate(game, pos).raw();
            if !(least..=most).contains(&score) {
                let name = evaluator.name();
                return Err(format!("{name} evaluates it as {score}, beyond its range of {least} to {most}"));
            }
        }
        Ok(())
    }

    /// Whether the listed moves have different indexes, and `is_legal` agrees with the list on these moves
    /// and on those of other positions.
    pub(super) fn legality(
        &mut self,
        game: &G,
        pos: &G::Position,
        moves: &[G::Move],
        random: &mut SplitMix64,
    ) -> Result<(), String> {
        let mut listed: Vec<Option<G::Move>> = vec![None; game.index_len()];
        for &mv in moves {
            let index = game.index(mv);
            let slot =
                listed.get_mut(index).ok_or_else(|| format!("the index {index} of {mv:?} is too large"))?;
            if slot.replace(mv).is_some() {
                return Err(format!("the index {index} of {mv:?} is taken"));
            }
            if !game.is_legal(pos, mv) {
                return Err(format!("{mv:?} is listed but not legal"));
            }
        }
        for _ in 0..ASKED.min(self.moves.len()) {
            let mv = self.moves[random.below(self.moves.len())];
            if listed[game.index(mv)] != Some(mv) && game.is_legal(pos, mv) {
                return Err(format!("{mv:?}, a move of another position, is legal but not listed"));
            }
        }
        for &mv in moves {
            let place = *self.places.entry(game.index(mv)).or_insert(self.moves.len());
            if place == self.moves.len() {
                self.moves.push(mv);
            } else {
                self.moves[place] = mv;
            }
        }
        Ok(())
    }

    /// Whether a position has the same future as one with the same hash that was seen before.
    ///
    /// A hash need not cover all of a game's history, nor facts about a position that the rules have not
    /// found out.
    pub(super) fn compare(
        &mut self,
        game: &G,
        pos: &G::Position,
        random: &mut SplitMix64,
    ) -> Result<(), String> {
        if game.carries_history() || game.is_undecided(pos) || self.pairs == 0 {
            return Ok(());
        }
        let hash = game.hash(pos);
        let Some(other) = self.positions.get(&hash) else {
            if self.positions.len() < KEPT {
                self.positions.insert(hash, pos.clone());
            }
            return Ok(());
        };
        let text = game.position_text(other);
        if text == game.position_text(pos) {
            return Ok(());
        }
        self.pairs -= 1;
        futures(game, pos, other, random)
            .map_err(|what| format!("{} has the same hash as {text}, but {what}", game.position_text(pos)))
    }
}

/// Whether the same random moves lead from two positions to the same result, not counting the points scored
/// before.
fn futures<G: Playable>(
    game: &G,
    one: &G::Position,
    other: &G::Position,
    random: &mut SplitMix64,
) -> Result<(), String> {
    let (view, before) = (game.side(one), [game.settled(one), game.settled(other)]);
    let mut both = [one.clone(), other.clone()];
    let mut played: Vec<String> = Vec::new();
    for _ in 0..PLIES {
        if both.iter().any(|pos| game.is_undecided(pos)) {
            return Ok(());
        }
        let failed = |what: &str| Err(format!("after {played:?} from both {what}"));
        let [one, other] = &both;
        if game.side(one) != game.side(other) {
            return failed("another side is to move");
        }
        match [game.turn(one), game.turn(other)] {
            [Turn::Over(one), Turn::Over(other)] => {
                let rest = |outcome: &Outcome, before: i32| {
                    let scores = outcome.scores?;
                    Some(1000 * (scores[view.index()] - scores[view.other().index()]) - before)
                };
                let are_equal = if G::SCORED {
                    rest(&one, before[0]) == rest(&other, before[1])
                } else {
                    one.winner == other.winner
                };
                return if are_equal { Ok(()) } else { failed("the result is another") };
            }
            [one, other] if mem::discriminant(&one) != mem::discriminant(&other) => {
                return failed("the game is over, or chance decides, in one of them alone");
            }
            _ => {}
        }
        let [moves, others] = [named(game, one), named(game, other)];
        if !moves.iter().map(|(text, _)| text).eq(others.iter().map(|(text, _)| text)) {
            return failed("other moves are legal");
        }
        let at = random.below(moves.len());
        played.push(moves[at].0.clone());
        game.play(&mut both[0], moves[at].1);
        game.play(&mut both[1], others[at].1);
    }
    Ok(())
}

/// What can be played, by text.
fn named<G: Playable>(game: &G, pos: &G::Position) -> Vec<(String, G::Move)> {
    let mut named: Vec<(String, G::Move)> =
        candidates(game, pos).into_iter().map(|mv| (game.move_text(pos, mv), mv)).collect();
    sort_by_key(&mut named, |(text, _)| text.clone());
    named
}
