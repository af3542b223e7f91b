//! What every game promises, checked on random games, on hostile texts and by asking its players.
//!
//! In the manner of OpenSpiel's conformance suite: the checks know no game, so a new game is checked by being
//! registered; a game in another crate calls [`all`] in a test. Perft counts and oracles check whether the
//! rules are the right ones.

use std::ops::ControlFlow;

use crate::effort::Effort;
use crate::game::{Game, Root, Rules, Side, Turn};
use crate::zobrist::SplitMix64;

use super::Playable;
use seen::Seen;

mod book;
mod chosen;
mod evaluations;
mod players;
mod probe;
mod samples;
mod seen;
mod suite;
#[cfg(test)]
mod tests;

pub use chosen::{chosen, is_whole};
pub use evaluations::evaluations;
pub use players::{announced, wins_in_one};
pub use samples::{Sample, counted, few, next, samples};
pub use suite::{CHECKS, Check, all, announcements, counts, entry, hostile_texts, name, rules, wins};

/// In a position with more moves than this, only some of them are played and taken back; otherwise all are.
const MANY: usize = 128;
/// How many moves of such a position are played.
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
    let mut seen = Seen::new(game);
    let mut root = start.clone();
    let mut finished = 0;
    for _ in 0..plies {
        let mut moves = ply(game, &root, &mut seen, &mut random).map_err(|broken| {
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
/// If there are more than [`MANY`] moves, only [`PLAYED`] random ones are played and taken back.
fn ply<G: Playable>(
    game: &G,
    root: &Root<G>,
    seen: &mut Seen<G>,
    random: &mut SplitMix64,
) -> Result<Vec<G::Move>, String> {
    let pos = &root.pos;
    text(game, pos)?;
    images(game, pos)?;
    seen.compare(game, pos, random)?;
    let mut moves = Vec::new();
    match game.turn(pos) {
        Turn::Over(outcome) => {
            let known = G::entry().endings.iter().any(|ending| ending.name == outcome.by);
            ensure!(known, "`{}` is none of the entry's endings", outcome.by);
            ensure!(outcome.scores.is_some() == G::SCORED, "scores belong to games that score");
            return Ok(moves);
        }
        Turn::Move => {
            probe::check(game, pos)?;
            seen.evaluations(game, pos)?;
            game.moves(pos, &mut moves);
            let most = moves.iter().map(|&mv| game.index(mv)).max();
            ensure!(most < Some(game.actions()), "the index {most:?} of a move is no action");
        }
        Turn::Chance => {
            ensure!(G::STOCHASTIC, "a chance node in a game without chance");
            let mut outcomes = Vec::new();
            game.outcomes(pos, &mut outcomes);
            ensure!(outcomes.iter().all(|&(_, weight)| weight > 0), "an outcome without weight");
            moves.extend(outcomes.into_iter().map(|(mv, _)| mv));
        }
    }
    ensure!(!moves.is_empty(), "the game is not over, and nothing can be played");
    ensure!(game.index_len() <= usize::from(u16::MAX), "too many indexes for the table");
    for &mv in &moves {
        let text = game.move_text(pos, mv);
        ensure!(game.parse_move(pos, &text) == Ok(mv), "`{text}` does not read back as {mv:?}");
        ensure!(
            text.starts_with('~') == (game.turn(pos) == Turn::Chance),
            "`{text}`: only chance plies have a `~`"
        );
    }
    if game.turn(pos) == Turn::Move {
        book::check(game, pos, &moves)?;
    }
    seen.legality(game, pos, &moves, random)?;
    let played: Vec<G::Move> = if moves.len() > MANY {
        (0..PLAYED).map(|_| moves[random.below(moves.len())]).collect()
    } else {
        moves.clone()
    };
    each(game, pos, &played)?;
    let before = View::new(game, pos);
    for mv in played {
        let after = undo(game, pos, &before, mv)?;
        seen.compare(game, &after, random)?;
    }
    Ok(moves)
}

/// Checks that moves which are played one at a time, with what the rules found out for those before, lead
/// where each leads alone.
fn each<G: Playable>(game: &G, pos: &G::Position, moves: &[G::Move]) -> Result<(), String> {
    let (mut left, mut fault) = (moves.iter(), None);
    game.play_each(pos, moves, &mut |mv, next| {
        let mut alone = pos.clone();
        game.play(&mut alone, mv);
        // More may be found out when more is known before.
        let is_open = game.is_undecided(next) || game.is_undecided(&alone);
        let seen = |pos: &G::Position| (game.position_text(pos), game.hash(pos), game.side(pos));
        if left.next() == Some(&mv) && (is_open || seen(next) == seen(&alone)) {
            return ControlFlow::Continue(());
        }
        fault = Some(format!("{mv:?}, played among others, leads to {}", game.position_text(next)));
        ControlFlow::Break(())
    });
    let is_whole = left.next().is_none();
    fault.map_or(Ok(()), Err)?;
    ensure!(is_whole, "`play_each` leaves moves out");
    Ok(())
}

/// What can be seen of a position.
struct View<G: Game> {
    seen: (String, u64, Side, i32),
    moves: Vec<G::Move>,
}

impl<G: Playable> View<G> {
    fn new(game: &G, pos: &G::Position) -> Self {
        let seen = (game.position_text(pos), game.hash(pos), game.side(pos), game.settled(pos));
        let mut moves = Vec::new();
        if game.turn(pos) == Turn::Move {
            game.moves(pos, &mut moves);
        }
        Self { seen, moves }
    }
}

/// Checks that a move played and taken back leaves no trace, and that its hash was predicted; gives the
/// position after it.
fn undo<G: Playable>(
    game: &G,
    pos: &G::Position,
    before: &View<G>,
    mv: G::Move,
) -> Result<G::Position, String> {
    let mut copy = pos.clone();
    let expected = game.hash_after(pos, mv);
    let undo = game.play(&mut copy, mv);
    ensure!(game.hash(&copy) == expected, "hash_after is wrong for {mv:?}");
    let played = copy.clone();
    game.undo(&mut copy, mv, undo);
    let after = View::new(game, &copy);
    ensure!(before.seen == after.seen, "undo of {mv:?} gives {:?} for {:?}", after.seen, before.seen);
    ensure!(before.moves == after.moves, "undo of {mv:?} changes the list of moves");
    Ok(played)
}

/// Checks that the position's text reads back as an equal position, with an equal hash made from scratch.
fn text<G: Playable>(game: &G, pos: &G::Position) -> Result<(), String> {
    if game.is_undecided(pos) {
        // The position may be impossible, and a reader with more effort to spend may find that out.
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

/// Checks that the images under the symmetries of the rules have the same value.
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
