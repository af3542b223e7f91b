//! The value of the position that is shown, and the bar that shows it.

use crate::cli::picture;
use crate::cli::styled::{Text, Tone};
use crate::cli::words;
use crate::review::winning_likelihood;
use plyd_protocol::{Player, ProofOutcome, Score};

/// Characters of the bar.
const BAR: usize = 20;

/// What a position is worth.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct PositionValue {
    pub(super) score: Score,
    /// From whose view.
    pub(super) by: Player,
}

impl PositionValue {
    /// How likely each side wins, as a bar with the value beside it; `decisive` is the advantage with which
    /// most games are won.
    pub(super) fn bar(&self, decisive: i32) -> Option<Text> {
        let own = likelihood(&self.score, decisive)?;
        let first = if self.by == Player::P1 { own } else { 1.0 - own };
        // Chances come from a server, which may be wrong.
        let full = (first.clamp(0.0, 1.0) * BAR as f64).round() as usize;
        let [p1, p2] = [Player::P1, Player::P2].map(|player| picture::tone(Some(player)));
        let mut line = Text::new("p1 ", p1);
        line.push(&"=".repeat(full), p1);
        line.push(&"-".repeat(BAR - full), p2);
        line.push(" p2", p2);
        line.push(&format!("  {}: {}", words::side_name(self.by), words::score(&self.score)), Tone::Plain);
        Some(line)
    }
}

/// How likely the side wins that has this score, a draw as half a win.
fn likelihood(score: &Score, decisive: i32) -> Option<f64> {
    match (score.proof, score.wdl, score.eval) {
        (Some(proof), ..) => Some(match proof.outcome {
            ProofOutcome::Win => 1.0,
            ProofOutcome::Draw => 0.5,
            ProofOutcome::Loss => 0.0,
        }),
        (None, Some([win, draw, _]), _) => Some((f64::from(win) + 0.5 * f64::from(draw)) / 1e6),
        (None, None, Some(eval)) => Some(winning_likelihood(eval, decisive)),
        (None, None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_become_likelihoods() {
        let likely = |text: &str| likelihood(&serde_json::from_str(text).unwrap(), 2000);
        for (text, expected) in [
            (r#"{"bound":"exact","proof":{"outcome":"win","plies":9}}"#, 1.0),
            (r#"{"bound":"exact","proof":{"outcome":"loss","plies_max":4}}"#, 0.0),
            (r#"{"bound":"exact","proof":{"outcome":"draw"}}"#, 0.5),
            (r#"{"bound":"exact","wdl":[500000,200000,300000]}"#, 0.6),
            (r#"{"bound":"exact","eval":0}"#, 0.5),
        ] {
            assert_eq!(likely(text), Some(expected), "{text}");
        }
        assert!(likely(r#"{"bound":"exact","eval":2000}"#) > Some(0.85));
    }

    #[test]
    fn the_bar_is_the_first_sides_whoever_is_to_move() {
        let bar = |text: &str, by| {
            let score = serde_json::from_str(text).unwrap();
            PositionValue { score, by }.bar(3000).unwrap().plain()
        };
        let even = r#"{"bound":"exact","eval":0}"#;
        assert_eq!(bar(even, Player::P1), "p1 ==========---------- p2  p1: +0.000");
        let lost = r#"{"bound":"exact","proof":{"outcome":"loss","plies":4}}"#;
        assert_eq!(bar(lost, Player::P2), "p1 ==================== p2  p2: loss in 4");
        let beyond = r#"{"bound":"exact","wdl":[4000000000,0,0]}"#;
        assert!(bar(beyond, Player::P1).starts_with("p1 ==================== p2  p1: "));
        assert!(bar(beyond, Player::P2).starts_with("p1 -------------------- p2  p2: "));
    }
}
