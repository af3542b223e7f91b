//! How far work has come, on stderr: the games of a match or of a tuning, the moves of a review, the
//! openings of a solution.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crossterm::terminal::{Clear, ClearType};

/// How often progress is printed if no terminal shows a line that changes.
const PARTS: u64 = 10;

/// Characters of the bar.
const BAR: u64 = 20;

/// The games so far, or the moves: one line that changes in a terminal, ten lines elsewhere.
pub(super) struct Progress {
    games: u64,
    /// What is counted.
    unit: &'static str,
    /// Games that were played before this process began.
    before: u64,
    began: Instant,
    terminal: bool,
    printed: u64,
}

impl Progress {
    /// Of so many games, of which some were played before.
    pub(super) fn new(games: u64, before: u64) -> Self {
        let printed = before * PARTS / games.max(1);
        let (unit, began, terminal) = ("games", Instant::now(), io::stderr().is_terminal());
        Self { games, unit, before, began, terminal, printed }
    }

    /// Of so many moves, none of them done before.
    pub(super) fn of_moves(moves: u64) -> Self {
        Self { unit: "moves", ..Self::new(moves, 0) }
    }

    /// Of so many openings, of which some were solved before.
    pub(super) fn of_openings(openings: u64, before: u64) -> Self {
        Self { unit: "openings", ..Self::new(openings, before) }
    }

    /// Shows how many are played, and how things stand.
    pub(super) fn show(&mut self, played: u64, standing: &str) {
        let Self { games, unit, before, began, .. } = *self;
        let left = time_left(began.elapsed(), played - before, games - played);
        let line = format!("{} {played}/{games} {unit}  {standing}  {left}", bar(played, games));
        let mut stderr = io::stderr();
        let _nobody_reads = if self.terminal {
            write!(stderr, "\r{}{line}", Clear(ClearType::CurrentLine))
        } else if played * PARTS / games > self.printed {
            self.printed = played * PARTS / games;
            writeln!(stderr, "{line}")
        } else {
            Ok(())
        };
    }
}

impl Drop for Progress {
    /// Ends the line, whatever ended the games.
    fn drop(&mut self) {
        if self.terminal {
            let _nobody_reads = writeln!(io::stderr());
        }
    }
}

fn bar(played: u64, games: u64) -> String {
    let full = (played * BAR / games) as usize;
    format!("[{}{}]", "=".repeat(full), " ".repeat(BAR as usize - full))
}

/// The time that the games left will take if they take as long as those that were played.
fn time_left(elapsed: Duration, played: u64, left: u64) -> String {
    match (elapsed.as_secs_f64() * left as f64 / played.max(1) as f64).round() as u64 {
        _ if left == 0 => format!("{} s", elapsed.as_secs()),
        s if s < 60 => format!("{s} s left"),
        s if s < 3600 => format!("{} min {:02} s left", s / 60, s % 60),
        s => format!("{} h {:02} min left", s / 3600, s % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_grows_with_the_games_left() {
        for (elapsed, played, left, text) in [
            (10, 10, 5, "5 s left"),
            (10, 1, 0, "10 s"),
            (10, 10, 65, "1 min 05 s left"),
            (60, 1, 75, "1 h 15 min left"),
            (3, 0, 5, "15 s left"),
        ] {
            assert_eq!(time_left(Duration::from_secs(elapsed), played, left), text);
        }
    }

    #[test]
    fn the_bar_is_full_at_the_end() {
        assert_eq!(bar(0, 7), format!("[{}]", " ".repeat(20)));
        assert_eq!(bar(7, 7), format!("[{}]", "=".repeat(20)));
        assert_eq!(bar(3, 6), format!("[{}{}]", "=".repeat(10), " ".repeat(10)));
    }
}
