//! Whether a record that somebody else wrote is a game of a match: the game is played again, by the rules.

use std::time::Duration;

use super::forfeit::ForfeitKind;
use super::matches::Match;
use super::played::PlayedGame;
use super::referee::{Play, Step, Turn};

/// No answer takes so long: sums of times stay in their range.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

impl Match {
    /// Whether a game that was played elsewhere is one of this match: its players, opening, seed and terms
    /// are those of its number, each move is legal and each outcome of chance the one that the seed draws,
    /// clocks show what their times leave, and the result is the one that the rules or the referee give.
    ///
    /// `scale` is how many thousandths of their times the players were given, as in
    /// [`TimeControl::scaled`](super::TimeControl::scaled); 1000: their whole times.
    ///
    /// What it cannot know is what happened there: how long an answer took, and that a player forfeited.
    ///
    /// # Errors
    /// What does not fit, for people.
    pub fn verify(&self, game: &PlayedGame, scale: u32) -> Result<(), String> {
        self.owns(game)?;
        let number = game.number;
        let wrong = |what: &str| Err(format!("game {number}: {what}"));
        let times = game.answers.iter().map(|answered| Duration::from_micros(answered.time_us));
        if times.max().is_some_and(|time| time > LONGEST) {
            return wrong("an answer took longer than anybody waits");
        }
        let scheduled = self.schedule.game(number - 1).expect("the game is one of the match");
        let chosen: Vec<&String> =
            game.record.moves[game.opening..].iter().filter(|mv| !mv.starts_with('~')).collect();
        // The answer that lost the game, if it did, has no move in the record.
        let forfeits = |kinds: &[ForfeitKind]| {
            game.forfeit.as_ref().is_some_and(|forfeit| kinds.contains(&forfeit.reason.kind))
        };
        let lost = usize::from(forfeits(&[ForfeitKind::Illegal, ForfeitKind::Late]));
        if game.answers.len() != chosen.len() + lost {
            return wrong("its answers are not those of its moves");
        }
        let turns: Vec<Turn> = chosen
            .into_iter()
            .zip(&game.answers)
            .map(|(mv, answered)| Turn { mv: mv.clone(), answered: answered.clone() })
            .collect();
        let mut terms = self.terms(scheduled);
        terms.controls = terms.controls.map(|control| control.scaled(scale));
        let mut play = match Play::resume(terms, &turns) {
            Ok(play) => play,
            Err(error) => return wrong(&error.to_string()),
        };
        if let Some(forfeit) = &game.forfeit {
            let asked = match play.step() {
                Step::Ask(ask) => ask.player,
                Step::Over(_) => return wrong("it is forfeited after its end"),
            };
            // Before the first move either player may fail to begin.
            if forfeit.player != asked && !turns.is_empty() {
                return wrong("the player forfeits who is not to move");
            }
            if lost == 1 && game.answers.last().is_some_and(|answered| answered.player != asked) {
                return wrong("the last answer is not that of the player who forfeits");
            }
            play.fail(forfeit.player, forfeit.reason.clone());
        }
        let Step::Over(end) = play.step() else { return wrong("it has no end") };
        if play.record() != game.record {
            return wrong("its moves and its result are not those of the rules");
        }
        if lost == 0 && end.contradictions != game.contradictions {
            return wrong("its contradicted proofs are not those of its answers");
        }
        if game.answers.iter().any(|answered| answered.forgiven_us.is_some())
            && !self.strictness.forgives_stalls
        {
            return wrong("a late answer is forgiven that was not to be");
        }
        Ok(())
    }
}
