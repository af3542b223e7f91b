//! Games of records, reviewed.

use std::ops::ControlFlow;

use crate::cli::failure::Failure;
use crate::cli::records::Game;
use crate::cli::styled;
use crate::engine::{Fault, Place};
use crate::review::{Review, ReviewLimits, Reviewer};

/// How many moves of a game players chose, so far as its record says.
pub(crate) fn chosen(game: &Game) -> usize {
    game.record.moves.iter().skip(game.opening).filter(|mv| !mv.starts_with('~')).count()
}

/// Reviews a game, unless `progress` breaks it off, which is told how many moves are done.
///
/// # Errors
/// The record is of no game that is known here, or the rules do not allow what stands in it.
pub(crate) fn review(
    game: &Game,
    limits: ReviewLimits,
    mut progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Option<Review>, Failure> {
    let start = game.start()?;
    let moves = &game.record.moves;
    let refused = |fault| Failure::Usage(in_record(game, &fault));
    let mut reviewer = Reviewer::new(&start, limits).map_err(refused)?;
    reviewer.review(&start, moves, game.opening, |done, _| progress(done)).map_err(refused)
}

/// A fault with the ply of the record that is to blame.
fn in_record(game: &Game, fault: &Fault) -> String {
    let named = |ply: usize| game.record.moves.get(ply).map(|mv| styled::line(&plyd_protocol::echo(mv)));
    match fault.place {
        Place::Ply(ply) => {
            let mv = named(ply).map(|mv| format!(" `{mv}`")).unwrap_or_default();
            format!("ply {}{mv}: {}", ply + 1, fault.message)
        }
        _ => fault.to_string(),
    }
}
