//! Reviews of the game at the table: begun by a command, shown as a page when they are ready.

use std::time::Duration;

use crate::cli::styled::{self, Text};
use crate::cli::{review, words};
use crate::review::ReviewLimits;

use super::files;
use super::running_review::{ReviewNews, RunningReview};
use super::table::Table;

impl Table {
    /// Reviews the game with so much time a move; a review that is running is cancelled.
    pub(super) fn begin_review(&mut self, time: Option<Duration>) {
        let game = files::whole_game(self);
        let moves = review::chosen(&game);
        if moves == 0 {
            return self.say("there is no move to review");
        }
        let time = time.unwrap_or(review::DEFAULT_TIME);
        let limits = ReviewLimits { time: Some(time), ..ReviewLimits::default() };
        match RunningReview::begin(game, limits) {
            Ok(running) => {
                self.review = Some(running);
                let (moves, time) = (words::count(moves as u64, "move"), words::time(time));
                self.say(format!("reviewing {moves}, up to {time} each; `stop` cancels it"));
            }
            Err(error) => self.alarm(&format!("the review cannot start: {error}")),
        }
    }

    /// Takes what a review says.
    pub(super) fn look_at_review(&mut self) {
        while let Some(running) = &mut self.review {
            match running.said() {
                None => return,
                Some(ReviewNews::Done(done)) => running.done = done,
                Some(ReviewNews::Over(over)) => {
                    self.review = None;
                    let (game, review) = *over;
                    let mut lines: Vec<Text> = styled::lines(&game.heading());
                    lines.extend(review::pages(&game, &review));
                    self.page("review", lines);
                }
                Some(ReviewNews::Refused(why)) => {
                    self.review = None;
                    self.alarm(&format!("the game cannot be reviewed: {why}"));
                }
            }
        }
    }
}
