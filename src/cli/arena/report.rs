//! What a match shows: a running score on stderr, and the table or the JSON at its end.

use std::collections::HashSet;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use crate::arena::statistics::Estimate;
use crate::arena::{FaultKind, Match, Summary};
use crate::columns::{Columns, grouped};
use plyd_protocol::{Seed, Settings};
use serde::Serialize;

use crate::cli::failure::Failure;
use crate::cli::words;

/// How often progress is told where no terminal shows a line that changes.
const PARTS: usize = 10;

/// The running score on stderr: one line that changes in a terminal, ten lines elsewhere.
pub(super) struct Progress {
    games: usize,
    terminal: bool,
    told: usize,
}

impl Progress {
    /// Of a match with so many games.
    pub(super) fn new(games: usize) -> Self {
        Self { games, terminal: io::stderr().is_terminal(), told: 0 }
    }

    /// Shows the score after a game.
    pub(super) fn show(&mut self, summary: &Summary) {
        let played = summary.games as usize;
        let part = played * PARTS / self.games;
        let line = format!("{played}/{} games  {}", self.games, standing(summary));
        let mut stderr = io::stderr();
        let _nobody_reads = if self.terminal {
            let end = if played == self.games { "\n" } else { "" };
            write!(stderr, "\r\x1b[2K{line}{end}")
        } else if part > self.told {
            self.told = part;
            writeln!(stderr, "{line}")
        } else {
            Ok(())
        };
    }
}

/// The end of a match, as `--json` prints it.
#[derive(Debug, Serialize)]
pub(super) struct Report<'m> {
    game: &'static str,
    rules: Settings,
    seed: Seed,
    /// How many of the openings differ.
    openings: usize,
    players: [&'m str; 2],
    /// The first player's share of the points, from 0 to 1.
    score: Option<Estimate>,
    elo: Option<Estimate>,
    summary: &'m Summary,
}

impl<'m> Report<'m> {
    /// The end of this match.
    pub(super) fn new(contest: &'m Match, seed: Seed, summary: &'m Summary) -> Self {
        let openings: HashSet<String> = contest.openings.iter().map(|opening| opening.text()).collect();
        Self {
            game: contest.start.entry().name,
            rules: contest.start.rules(),
            seed,
            openings: openings.len(),
            players: [&contest.players[0].name, &contest.players[1].name],
            score: summary.pairs.score(),
            elo: summary.pairs.elo(),
            summary,
        }
    }

    /// Prints it for people.
    pub(super) fn show(&self, out: &mut impl Write) -> Result<(), Failure> {
        let Self { summary, players: [a, b], .. } = self;
        writeln!(out, "{a}\nagainst {b}\n{}\n", standing(summary))?;
        let mut table = Columns::new(["points of a pair", "0", "1/2", "1", "3/2", "2"]);
        let pairs = summary.pairs.counts.map(grouped);
        table.row(std::iter::once("pairs".to_owned()).chain(pairs));
        writeln!(out, "{table}")?;
        let mut heading = vec!["player", "answers", "mean", "longest"];
        heading.extend(FaultKind::ALL.map(FaultKind::name));
        heading.push("contradicted proofs");
        let mut table = Columns::new(heading);
        for (name, conduct) in self.players.iter().zip(&summary.players) {
            let time = |us| words::time(Duration::from_micros(us));
            let mut row = vec![(*name).to_owned(), grouped(conduct.answers)];
            row.extend([time(conduct.mean_us()), time(conduct.max_us)]);
            let faults = FaultKind::ALL.map(|kind| conduct.faults.get(&kind).copied().unwrap_or(0));
            row.extend(faults.into_iter().chain([conduct.contradicted_proofs]).map(grouped));
            table.row(row);
        }
        writeln!(out, "{table}")?;
        let ends: Vec<String> =
            summary.endings.iter().map(|(by, games)| format!("{} {by}", grouped(*games))).collect();
        let range = summary.shortest.zip(summary.longest);
        let (shortest, longest) = range.unwrap_or_default();
        let mean = summary.moves as f64 / summary.games.max(1) as f64;
        writeln!(out, "ended by: {}", ends.join(", "))?;
        Ok(writeln!(
            out,
            "moves a game: {mean:.1} ({shortest} to {longest}); openings: {} different, seed {}",
            self.openings, self.seed
        )?)
    }
}

/// Wins, draws, losses, score and Elo of the first player, in one line.
fn standing(summary: &Summary) -> String {
    let mut text = format!("+{} ={} -{}", summary.wins, summary.draws, summary.losses);
    if let Some(Estimate { value, error }) = summary.pairs.score() {
        text += &format!("  score {:.1} % ± {:.1}", value * 100.0, error * 100.0);
    }
    if let Some(Estimate { value, error }) = summary.pairs.elo() {
        text += &format!("  Elo {value:+.1} ± {error:.1}");
    }
    text
}
