//! The marks that a review gives to moves, and by which rules.

use std::cmp::Ordering;

use super::value;
use crate::engine::{Evaluation, Proof};

/// The losses of winning likelihood from which an estimated move is an inaccuracy, a mistake and a blunder:
/// the thresholds of lichess, where they are 0.1, 0.2 and 0.3 on a scale from -1 to 1.
const INACCURACY: f64 = 0.05;
const MISTAKE: f64 = 0.10;
const BLUNDER: f64 = 0.15;
/// The part that counts of a loss from an estimated to a proven value: estimates are cautious about certain
/// results, so that half of such a loss may come from the estimate.
const MIXED: f64 = 0.5;

/// What a review says about a move.
///
/// ```
/// use plyd_core::review::Mark;
///
/// assert_eq!(Mark::ThrewAway.name(), "threw_away");
/// assert!(Mark::ThrewAway.is_proven() && Mark::ThrewAway.is_error());
/// assert!(!Mark::Blunder.is_proven() && Mark::Blunder.is_error());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mark {
    /// There was no other legal move.
    Forced,
    /// The position is proven to be won, before and after the move.
    KeptWin,
    /// The win was kept, and comes later than it might; both distances are exact.
    WinsLater,
    /// The position is proven to be drawn, before and after the move.
    KeptDraw,
    /// No move loses later, or by less; both distances, or margins, are exact.
    BestDefence,
    /// The position was lost, whatever is played.
    WasLost,
    /// The loss comes sooner than it need; both distances are exact.
    LostSooner,
    /// The result stays, and its margin is worse than it might be; both margins are exact.
    GavePoints,
    /// A proven win or draw is proven to be worse now.
    ThrewAway,
    /// By estimate, no move is better.
    Best,
    /// By estimate, little was lost.
    Good,
    /// By estimate, some winning chances were lost.
    Inaccuracy,
    /// By estimate, many winning chances were lost.
    Mistake,
    /// By estimate, most winning chances were lost.
    Blunder,
    /// Nothing is known of the position or the move, or not whether the move keeps what was proven before it.
    Unknown,
}

impl Mark {
    /// All of them, from what is proven to what is estimated.
    pub const ALL: [Self; 15] = [
        Self::Forced,
        Self::KeptWin,
        Self::WinsLater,
        Self::KeptDraw,
        Self::BestDefence,
        Self::WasLost,
        Self::LostSooner,
        Self::GavePoints,
        Self::ThrewAway,
        Self::Best,
        Self::Good,
        Self::Inaccuracy,
        Self::Mistake,
        Self::Blunder,
        Self::Unknown,
    ];

    /// Its name, for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forced => "forced",
            Self::KeptWin => "kept_win",
            Self::WinsLater => "wins_later",
            Self::KeptDraw => "kept_draw",
            Self::BestDefence => "best_defence",
            Self::WasLost => "was_lost",
            Self::LostSooner => "lost_sooner",
            Self::GavePoints => "gave_points",
            Self::ThrewAway => "threw_away",
            Self::Best => "best",
            Self::Good => "good",
            Self::Inaccuracy => "inaccuracy",
            Self::Mistake => "mistake",
            Self::Blunder => "blunder",
            Self::Unknown => "unknown",
        }
    }

    /// Whether it rests on proofs alone.
    #[must_use]
    pub const fn is_proven(self) -> bool {
        matches!(
            self,
            Self::KeptWin
                | Self::WinsLater
                | Self::KeptDraw
                | Self::BestDefence
                | Self::WasLost
                | Self::LostSooner
                | Self::GavePoints
                | Self::ThrewAway
        )
    }

    /// Whether there was a better move.
    #[must_use]
    pub const fn is_error(self) -> bool {
        matches!(
            self,
            Self::WinsLater
                | Self::LostSooner
                | Self::GavePoints
                | Self::ThrewAway
                | Self::Inaccuracy
                | Self::Mistake
                | Self::Blunder
        )
    }
}

/// The loss of winning likelihood, as far as it counts.
pub(super) fn loss(before: &Evaluation, after: &Evaluation, decisive: i32) -> Option<f64> {
    let lost = value::likelihood(before, decisive)? - value::likelihood(after, decisive)?;
    let is_mixed = value::proof(before).is_some() != value::proof(after).is_some();
    Some(lost.max(0.0) * if is_mixed { MIXED } else { 1.0 })
}

/// The mark of a move that was not the only one, from the values of the position and of the move; `is_best`
/// if no search prefers another move.
pub(super) fn of(before: &Evaluation, after: &Evaluation, is_best: bool, loss: Option<f64>) -> Mark {
    if let (Some(from), Some(to)) = (value::proof(before), value::proof(after)) {
        return by_proof(&from, &to);
    }
    match loss {
        None => Mark::Unknown,
        // That a proven result is gone takes a proof, too.
        Some(loss) if loss >= INACCURACY && value::proof(before).is_some() => Mark::Unknown,
        Some(loss) if loss >= BLUNDER => Mark::Blunder,
        Some(loss) if loss >= MISTAKE => Mark::Mistake,
        Some(loss) if loss >= INACCURACY => Mark::Inaccuracy,
        Some(_) if is_best => Mark::Best,
        Some(_) => Mark::Good,
    }
}

fn by_proof(from: &Proof, to: &Proof) -> Mark {
    if to.result < from.result {
        return Mark::ThrewAway;
    }
    // Margins are known in games that score, distances in the others.
    let margins = from.margin.zip(to.margin);
    let distances = from.plies.zip(to.plies);
    match from.result {
        _ if margins.is_some_and(|(could, does)| does < could) => Mark::GavePoints,
        Ordering::Greater if distances.is_some_and(|(could, does)| does > could) => Mark::WinsLater,
        Ordering::Greater => Mark::KeptWin,
        Ordering::Equal => Mark::KeptDraw,
        Ordering::Less if distances.is_some_and(|(could, does)| does < could) => Mark::LostSooner,
        Ordering::Less if distances.is_some() || margins.is_some() => Mark::BestDefence,
        Ordering::Less => Mark::WasLost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Bound;
    use Ordering::{Equal, Greater, Less};

    const UNKNOWN: Proof = Proof { result: Equal, plies: None, plies_max: None, margin: None };

    fn marked(from: Proof, to: Proof) -> Mark {
        let value = |proof| Evaluation { bound: Bound::Exact, eval: None, proof: Some(proof) };
        of(&value(from), &value(to), true, None)
    }

    #[test]
    fn proofs_say_what_was_kept_and_what_was_thrown_away() {
        let known = |result, plies| Proof { result, plies: Some(plies), ..UNKNOWN };
        let within = |result, plies| Proof { result, plies_max: Some(plies), ..UNKNOWN };
        for (from, to, mark) in [
            (known(Greater, 5), known(Greater, 5), Mark::KeptWin),
            (known(Greater, 5), known(Greater, 9), Mark::WinsLater),
            (known(Greater, 5), within(Greater, 9), Mark::KeptWin),
            (within(Greater, 5), known(Greater, 9), Mark::KeptWin),
            (known(Greater, 5), UNKNOWN, Mark::ThrewAway),
            (within(Greater, 5), within(Less, 4), Mark::ThrewAway),
            (UNKNOWN, known(Less, 4), Mark::ThrewAway),
            (UNKNOWN, UNKNOWN, Mark::KeptDraw),
            (known(Less, 6), known(Less, 6), Mark::BestDefence),
            (known(Less, 6), known(Less, 4), Mark::LostSooner),
            (known(Less, 6), within(Less, 4), Mark::WasLost),
            (within(Less, 6), known(Less, 4), Mark::WasLost),
        ] {
            assert_eq!(marked(from, to), mark, "{from:?} {to:?}");
        }
    }

    #[test]
    fn margins_count_where_there_are_scores() {
        let by = |result, margin| Proof { result, margin: Some(margin), ..UNKNOWN };
        let unsure = |result| Proof { result, ..UNKNOWN };
        for (from, to, mark) in [
            (by(Greater, 5), by(Greater, 5), Mark::KeptWin),
            (by(Greater, 5), by(Greater, 3), Mark::GavePoints),
            (by(Greater, 5), unsure(Greater), Mark::KeptWin),
            (by(Less, -3), by(Less, -5), Mark::GavePoints),
            (by(Less, -3), by(Less, -3), Mark::BestDefence),
            (by(Less, -3), unsure(Less), Mark::WasLost),
            (by(Greater, 5), by(Less, -3), Mark::ThrewAway),
            (by(Equal, 0), by(Equal, 0), Mark::KeptDraw),
        ] {
            assert_eq!(marked(from, to), mark, "{from:?} {to:?}");
        }
    }

    #[test]
    fn estimates_are_marked_by_the_likelihood_that_was_lost() {
        let value = |eval| Evaluation { bound: Bound::Exact, eval: Some(eval), proof: None };
        for (from, to, mark) in [
            (0, 0, Mark::Best),
            (0, -100, Mark::Good),
            (0, -350, Mark::Inaccuracy),
            (0, -700, Mark::Mistake),
            (0, -1500, Mark::Blunder),
            // Where little can be lost, nothing is.
            (30_000, 20_000, Mark::Good),
            (-100, 100, Mark::Good),
        ] {
            let (before, after) = (value(from), value(to));
            let lost = loss(&before, &after, 3000);
            assert_eq!(of(&before, &after, from == to, lost), mark, "{from} {to}");
        }
    }

    #[test]
    fn half_counts_of_a_loss_from_an_estimate_to_a_proof_and_none_from_a_proof_to_an_estimate() {
        let proven = |result| Evaluation {
            bound: Bound::Exact,
            eval: None,
            proof: Some(Proof { result, plies: Some(9), ..UNKNOWN }),
        };
        let estimate = |eval| Evaluation { bound: Bound::Exact, eval, proof: None };
        let mark = |from, to| of(&from, &to, false, loss(&from, &to, 3000));
        for (from, to, expected) in [
            (proven(Greater), estimate(Some(4500)), Mark::Good),
            (proven(Greater), estimate(Some(0)), Mark::Unknown),
            (proven(Greater), estimate(None), Mark::Unknown),
            (estimate(Some(0)), proven(Less), Mark::Blunder),
            (estimate(Some(-4500)), proven(Less), Mark::Good),
        ] {
            assert_eq!(mark(from, to), expected, "{from:?} {to:?}");
        }
    }

    #[test]
    fn names_are_all_different() {
        let mut names = Mark::ALL.map(Mark::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Mark::ALL.len());
    }
}
