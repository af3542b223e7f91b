//! What every game of the registry promises, checked on random games.
//!
//! In the manner of OpenSpiel's conformance suite: the checks know no game, so a new game is checked by being
//! registered. Whether the rules are the right ones is left to perft counts and oracles.

use crate::effort::Effort;
use crate::game::{Root, Rules, Turn};
use crate::zobrist::SplitMix64;

use super::Playable;

mod players;
mod probe;

pub use players::{announced, wins_in_one};

/// A position with more moves than this has some of them played and taken back, others all.
const MANY: usize = 128;
/// How many of many.
const PLAYED: usize = 8;

/// Plays random games from `start` until `plies` plies are checked; gives the number of finished games.
///
/// # Errors
/// The first broken promise, with the position in which it shows.
pub(super) fn check<G: Playable>(
    game: &G,
    start: &Root<G>,
    seed: u64,
    plies: usize,
) -> Result<usize, String> {
    let mut random = SplitMix64::new(seed);
    let mut root = start.clone();
    let mut finished = 0;
    for _ in 0..plies {
        let mut moves = ply(game, &root, &mut random).map_err(|broken| {
            format!("{} after {:?}: {broken}", game.position_text(&root.pos), root.plies)
        })?;
        if moves.is_empty() {
            finished += 1;
            root = Root::new(start.pos.clone());
        } else {
            root.play(game, moves.swap_remove(random.below(moves.len())));
        }
    }
    Ok(finished)
}

macro_rules! ensure {
    ($holds:expr, $($message:tt)*) => {
        if !$holds {
            return Err(format!($($message)*));
        }
    };
}

/// Checks one position and gives what can be played in it: nothing when the game is over.
///
/// Of more than [`MANY`] moves only [`PLAYED`], drawn, are played and taken back.
fn ply<G: Playable>(game: &G, root: &Root<G>, random: &mut SplitMix64) -> Result<Vec<G::Move>, String> {
    let pos = &root.pos;
    text(game, pos)?;
    images(game, pos)?;
    if game.turn(pos) == Turn::Move {
        probe::check(game, pos)?;
    }
    let mut moves = Vec::new();
    match game.turn(pos) {
        Turn::Over(outcome) => {
            let known = G::entry().endings.iter().any(|ending| ending.name == outcome.by);
            ensure!(known, "`{}` is none of the entry's endings", outcome.by);
            ensure!(outcome.scores.is_some() == G::SCORED, "scores belong to games that score");
        }
        Turn::Move => game.moves(pos, &mut moves),
        Turn::Chance => {
            ensure!(G::STOCHASTIC, "a chance node in a game without chance");
            let mut outcomes = Vec::new();
            game.outcomes(pos, &mut outcomes);
            ensure!(outcomes.iter().all(|&(_, weight)| weight > 0), "an outcome without weight");
            moves.extend(outcomes.into_iter().map(|(mv, _)| mv));
        }
    }
    let over = matches!(game.turn(pos), Turn::Over(_));
    ensure!(over == moves.is_empty(), "a game that goes on has moves, a finished one has none");
    let mut seen = vec![false; game.index_len()];
    ensure!(game.index_len() <= usize::from(u16::MAX), "too many indexes for the table");
    for &mv in &moves {
        ensure!(game.is_legal(pos, mv), "{mv:?} is listed but not legal");
        let index = game.index(mv);
        ensure!(!std::mem::replace(&mut seen[index], true), "the index {index} of {mv:?} is taken");
        let text = game.move_text(pos, mv);
        ensure!(game.parse_move(pos, &text) == Ok(mv), "`{text}` does not read back as {mv:?}");
        ensure!(
            text.starts_with('~') == (game.turn(pos) == Turn::Chance),
            "`{text}`: only chance plies have a `~`"
        );
    }
    if moves.len() > MANY {
        (0..PLAYED).try_for_each(|_| undo(game, pos, moves[random.below(moves.len())]))?;
    } else {
        moves.iter().try_for_each(|&mv| undo(game, pos, mv))?;
    }
    Ok(moves)
}

/// A move played and taken back leaves no trace, and its hash is known before.
fn undo<G: Playable>(game: &G, pos: &G::Position, mv: G::Move) -> Result<(), String> {
    let before = (game.position_text(pos), game.hash(pos), game.side(pos), game.settled(pos));
    let mut copy = pos.clone();
    let expected = game.hash_after(pos, mv);
    let undo = game.play(&mut copy, mv);
    ensure!(game.hash(&copy) == expected, "hash_after is wrong for {mv:?}");
    game.undo(&mut copy, mv, undo);
    let after = (game.position_text(&copy), game.hash(&copy), game.side(&copy), game.settled(&copy));
    ensure!(before == after, "undo of {mv:?} gives {after:?} for {before:?}");
    let (mut first, mut second) = (Vec::new(), Vec::new());
    if game.turn(pos) == Turn::Move {
        game.moves(pos, &mut first);
        game.moves(&copy, &mut second);
    }
    ensure!(first == second, "undo of {mv:?} changes the list of moves");
    Ok(())
}

/// The position's text reads back as an equal position, with an equal hash made from scratch.
fn text<G: Playable>(game: &G, pos: &G::Position) -> Result<(), String> {
    if game.is_undecided(pos) {
        // The position may be impossible, which a reader with more effort to spend finds out.
        return Ok(());
    }
    let text = game.position_text(pos);
    let names = G::entry().rules;
    let rules = game.rules().into_iter().filter(|(name, _)| names.iter().any(|spec| spec.name == *name));
    let again = (G::entry().open)(&Rules::new(rules.collect()), Some(&text), &Effort::free())
        .map_err(|error| format!("its text does not read back: {error:?}"))?;
    ensure!(again.text() == text, "it reads back as {}", again.text());
    if !game.carries_history() {
        ensure!(again.hash() == game.hash(pos), "read back it has another hash");
    }
    Ok(())
}

/// The images under the symmetries of the rules are worth the same.
fn images<G: Playable>(game: &G, pos: &G::Position) -> Result<(), String> {
    let worth = |pos: &G::Position| {
        let mut moves = Vec::new();
        let goes_on = game.turn(pos) == Turn::Move;
        if goes_on {
            game.moves(pos, &mut moves);
        }
        let eval = goes_on.then(|| G::EVALUATORS[0].evaluate(game, pos));
        (game.turn(pos), moves.len(), game.probe(pos), eval)
    };
    let own = worth(pos);
    for image in game.images(pos) {
        ensure!(worth(&image) == own, "its image {} is worth something else", game.position_text(&image));
    }
    Ok(())
}
