//! The reviews of a match's games: what its players kept and gave away.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::arena::PlayedGame;
use crate::bridge::review::Counts;
use crate::cli::columns::{Columns, grouped};
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use crate::cli::records::Game;
use crate::cli::review::{self, Limit};
use crate::game::Side;
use crate::review::{Mark, ReviewLimits, ReviewedMove};

/// What the reviews of a match found.
#[derive(Debug, Serialize)]
pub(super) struct MatchReview {
    /// How many games were reviewed.
    games: usize,
    limit: Limit,
    /// The moves of each player by their marks.
    players: Vec<Counts>,
    /// The reviewed moves of each game, by its number.
    #[serde(skip)]
    moves: BTreeMap<usize, Vec<ReviewedMove>>,
}

impl MatchReview {
    /// The review of games that were kept for it, if one is wanted.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub(super) fn wanted(
        limits: Option<ReviewLimits>,
        games: Option<&[PlayedGame]>,
        players: usize,
        halt: &AtomicBool,
    ) -> Result<Option<Self>, Failure> {
        let wanted = limits.zip(games);
        wanted.map(|(limits, games)| Self::of(games, players, limits, halt)).transpose()
    }

    /// Reviews games between so many players, until `halt` is raised.
    ///
    /// # Errors
    /// A game that does not open, or is not one by its rules.
    fn of(
        games: &[PlayedGame],
        players: usize,
        limits: ReviewLimits,
        halt: &AtomicBool,
    ) -> Result<Self, Failure> {
        let total: usize = games.iter().map(|game| review::chosen(&Game::from(game))).sum();
        let mut progress = Progress::of_moves(total as u64);
        let is_halted = || halt.load(Ordering::Relaxed);
        let (mut before, mut reviewed) = (0, 0);
        let (mut counts, mut moves) = (vec![Counts::default(); players], BTreeMap::new());
        for played in games {
            let game = Game::from(played);
            let found = review::review(&game, limits, |done| {
                progress.show((before + done) as u64, "reviewed");
                if is_halted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let found = found.map_err(|failure| match failure {
                Failure::Usage(message) => Failure::Failed(format!("game {}: {message}", played.number)),
                other => other,
            })?;
            let Some(found) = found else { break };
            before += review::chosen(&game);
            reviewed += 1;
            for side in [Side::First, Side::Second] {
                counts[played.players[side.index()].index].join(&Counts::of(&found, side));
            }
            moves.insert(played.number, found.moves);
        }
        Ok(Self { games: reviewed, limit: Limit::of(limits), players: counts, moves })
    }

    /// The review of a move, by the number of its game and the index of its ply.
    pub(super) fn at(&self, game: usize, ply: usize) -> Option<&ReviewedMove> {
        self.moves.get(&game)?.iter().find(|reviewed| reviewed.ply == ply)
    }

    /// The errors that were made, proven ones first.
    pub(super) fn errors(&self) -> impl Iterator<Item = Mark> {
        let is_made = |mark: &Mark| self.players.iter().any(|counts| counts.marks.contains_key(mark.name()));
        Mark::ALL.into_iter().filter(|mark| mark.is_error()).filter(is_made)
    }

    /// The errors of each player.
    pub(super) fn table(&self, names: &[&str]) -> Columns {
        let count = |counts: &Counts, mark: Mark| counts.marks.get(mark.name()).copied().unwrap_or(0);
        let shown: Vec<Mark> = self.errors().collect();
        let mut heading = vec!["player", "moves reviewed"];
        heading.extend(shown.iter().map(|mark| review::mark_name(*mark)));
        let mut table = Columns::new(heading);
        for (name, counts) in names.iter().zip(&self.players) {
            let mut row = vec![(*name).to_owned(), grouped(counts.moves as u64)];
            row.extend(shown.iter().map(|mark| grouped(count(counts, *mark) as u64)));
            table.row(row);
        }
        table
    }
}
