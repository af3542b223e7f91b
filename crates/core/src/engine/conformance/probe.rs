//! Whether what [`Game::probe`] gives agrees with the moves of the same position.

use crate::game::{Game, Turn};
use crate::score::{Score, Value};
use crate::search::thread::final_value;

/// Wins and losses within this many plies are searched to their end.
const SHORT: u32 = 3;
/// The most positions that a search visits.
const MOST: usize = 20_000;

/// What gives the value of a position.
type Probe<'a, G> = &'a dyn Fn(&<G as Game>::Position) -> Option<Value>;

/// The smallest and the largest value that are not disproven.
type Bounds = (Score, Score);

const UNKNOWN: Bounds = (Score::from_raw(-Score::INFINITE.raw()), Score::INFINITE);

/// Checks that the probe's value of a position with a player to move agrees with the values of the positions
/// after its moves, as the probe and the end of the game give them.
///
/// # Errors
/// Says what does not agree.
pub(super) fn check<G: Game>(game: &G, pos: &G::Position) -> Result<(), String> {
    compare(game, pos, &|pos| game.probe(pos))
}

fn compare<G: Game>(game: &G, pos: &G::Position, probe: Probe<'_, G>) -> Result<(), String> {
    let Some(value) = probe(pos) else { return Ok(()) };
    if !value.at_least && !value.at_most {
        return Err(format!("its probe gives {:?}, of which nothing is proven", value.score));
    }
    let claimed = bounds(Some(value));
    let plies = value.score.distance().filter(|plies| *plies <= SHORT);
    let mut search = FullWidth { game, probe, left: MOST };
    let found = search.within(&mut pos.clone(), plies.unwrap_or(1), true);
    let Some((least, most)) = found else { return Ok(()) };
    if least > claimed.1 || most < claimed.0 {
        return Err(format!("its probe gives {value:?}, its moves something from {least:?} to {most:?}"));
    }
    // A claim about so few plies must be confirmed by searching them.
    let is_found = (!claimed.0.is_win() || least >= claimed.0) && (!claimed.1.is_loss() || most <= claimed.1);
    if plies.is_some() && !is_found {
        return Err(format!("its probe gives {value:?}, which its moves do not prove"));
    }
    Ok(())
}

/// What a value proves.
fn bounds(value: Option<Value>) -> Bounds {
    value.map_or(UNKNOWN, |value| {
        let least = if value.at_least { value.score } else { UNKNOWN.0 };
        (least, if value.at_most { value.score } else { UNKNOWN.1 })
    })
}

struct FullWidth<'a, G: Game> {
    game: &'a G,
    probe: Probe<'a, G>,
    left: usize,
}

impl<G: Game> FullWidth<'_, G> {
    /// What a search of `plies` plies proves about a position, from the view of its side; none if it would
    /// visit too many positions.
    fn within(&mut self, pos: &mut G::Position, plies: u32, is_root: bool) -> Option<Bounds> {
        self.left = self.left.checked_sub(1)?;
        let game = self.game;
        let known = match game.turn(pos) {
            Turn::Over(outcome) => {
                let value = final_value::<G>(&outcome, game.side(pos), 0);
                return Some((value.score, value.score));
            }
            Turn::Chance => return self.outcomes(pos, plies),
            Turn::Move if is_root => UNKNOWN,
            Turn::Move => bounds((self.probe)(pos)),
        };
        if plies == 0 {
            return Some(known);
        }
        let mut moves = Vec::new();
        game.moves(pos, &mut moves);
        let (mut least, mut most) = (UNKNOWN.0, UNKNOWN.0);
        for mv in moves {
            let after = self.after(pos, mv, plies - 1)?;
            least = least.max(after.0.earlier(1));
            most = most.max(after.1.earlier(1));
        }
        Some((least.max(known.0), most.min(known.1)))
    }

    /// The same of a chance node: what is proven of all outcomes.
    fn outcomes(&mut self, pos: &mut G::Position, plies: u32) -> Option<Bounds> {
        let mut outcomes = Vec::new();
        self.game.outcomes(pos, &mut outcomes);
        let (mut least, mut most) = (UNKNOWN.1, UNKNOWN.0);
        for (mv, _) in outcomes {
            let after = self.after(pos, mv, plies)?;
            least = least.min(after.0);
            most = most.max(after.1);
        }
        Some((least, most))
    }

    /// What is proven after a move or an outcome, from the view of the side before it.
    fn after(&mut self, pos: &mut G::Position, mv: G::Move, plies: u32) -> Option<Bounds> {
        let game = self.game;
        let side = game.side(pos);
        let undo = game.play(pos, mv);
        let bounds = self.within(pos, plies, false);
        let is_same_side = game.side(pos) == side;
        game.undo(pos, mv, undo);
        let (least, most) = bounds?;
        Some(if is_same_side { (least, most) } else { (-most, -least) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chase::{self, Chase};
    use crate::nim::{Heap, Nim};
    use crate::rows::Rows;
    use crate::zobrist::SplitMix64;

    #[test]
    fn what_is_proven_agrees() {
        for probe in [chase::Probe::All, chase::Probe::Some, chase::Probe::Loose] {
            let (plain, chance) = (Chase::<false>::new(1, 60, probe), Chase::<true>::new(1, 60, probe));
            for square in plain.squares().filter(|square| plain.turn(square) == Turn::Move) {
                assert_eq!(check(&plain, &square), Ok(()), "{probe:?} {square}");
            }
            for square in chance.squares().filter(|square| chance.turn(square) == Turn::Move) {
                assert_eq!(check(&chance, &square), Ok(()), "{probe:?} {square}");
            }
        }
        let rows = Rows::new(4, 4, 3);
        let mut random = SplitMix64::new(1);
        for _ in 0..200 {
            let mut pos = rows.start();
            while rows.turn(&pos) == Turn::Move {
                assert_eq!(check(&rows, &pos), Ok(()), "{pos:?}");
                let mut moves = Vec::new();
                rows.moves(&pos, &mut moves);
                rows.play(&mut pos, moves[random.below(moves.len())]);
            }
        }
    }

    #[test]
    fn what_is_false_is_found() {
        let bound = |score: Score| Value { score, at_least: score.is_win(), at_most: score.is_loss() };
        for (stones, value, expected) in [
            (2, Value::proven(Score::win_in(1)), true),
            (2, Value::proven(Score::win_in(3)), false),
            (2, bound(Score::win_in(3)), true),
            (2, Value::proven(Score::DRAW), false),
            (2, bound(Score::loss_in(90)), false),
            (3, Value::proven(Score::loss_in(2)), true),
            (3, bound(Score::loss_in(3)), true),
            (3, bound(Score::loss_in(1)), false),
            (3, bound(Score::win_in(3)), false),
            (4, Value::proven(Score::win_in(3)), true),
            (4, bound(Score::win_in(2)), false),
            // A claim about more plies is only checked for contradictions.
            (9, bound(Score::loss_in(70)), true),
            (9, Value::guess(Score::DRAW), false),
        ] {
            let probe = |heap: &Heap| (heap.stones == stones).then_some(value);
            let result = compare(&Nim { most: 2 }, &Heap::of(stones), &probe);
            assert_eq!(result.is_ok(), expected, "{stones} {value:?}: {result:?}");
        }
    }
}
