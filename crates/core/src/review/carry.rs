//! Proofs carried forward: they also hold for later moves, which a review that goes back from the end judged
//! before.

use super::mark::{self, Mark};
use super::{ReviewedMove, value};
use crate::engine::Evaluation;
use crate::game::Side;

/// Carries proofs forward to the moves that follow: each move of a lost position loses, and the position
/// after a move is worth what the move is proven to be worth. Chance breaks the chain. No move becomes an
/// error by it.
pub(super) fn on(moves: &mut [ReviewedMove], decisive: i32) {
    let mut known: Option<(usize, Side, Evaluation)> = None;
    for reviewed in moves {
        let here = known.filter(|(ply, ..)| ply + 1 == reviewed.ply);
        let here = here.map(|(_, side, value)| value::later(value, side != reviewed.side));
        let proven = |value: &Evaluation| value::proof(value).is_some();
        let before = reviewed.before.filter(proven).or(here).or(reviewed.before);
        let after = match reviewed.after {
            Some(after) if proven(&after) => Some(after),
            after if reviewed.mark == Mark::Forced => before.filter(proven).or(after),
            after => before.as_ref().and_then(value::of_any_move).or(after),
        };
        if (before, after) != (reviewed.before, reviewed.after) {
            reviewed.remark(before, after, decisive);
        }
        known = reviewed.after.filter(proven).map(|value| (reviewed.ply, reviewed.side, value));
    }
}

impl ReviewedMove {
    /// Marks it by other values, unless that would make an error of it.
    fn remark(&mut self, before: Option<Evaluation>, after: Option<Evaluation>, decisive: i32) {
        let (Some(from), Some(to)) = (before, after) else { return };
        let loss = mark::loss(&from, &to, decisive);
        let mark = match self.mark {
            Mark::Forced => Mark::Forced,
            was => mark::of(&from, &to, was == Mark::Best, loss),
        };
        if (mark.is_error() || mark == Mark::Unknown) && !self.mark.is_error() {
            return;
        }
        (self.before, self.after, self.mark) = (before, after, mark);
        self.loss = self.loss.and(loss);
        self.better = self.better.take().filter(|_| mark.is_error());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Proof;
    use crate::search::Bound;
    use std::cmp::Ordering;

    /// A move with an even loss behind it, as a search might have found it.
    fn reviewed(ply: usize, before: Evaluation, after: Evaluation, mark: Mark) -> ReviewedMove {
        let side = if ply.is_multiple_of(2) { Side::First } else { Side::Second };
        let (before, after, mv) = (Some(before), Some(after), ply.to_string());
        ReviewedMove { ply, mv, side, before, after, mark, is_only: false, loss: Some(0.2), better: None }
    }

    #[test]
    fn a_proven_loss_holds_for_all_that_follows() {
        let even = Evaluation { bound: Bound::Exact, eval: Some(0), proof: None };
        let lost = |plies_max| Evaluation {
            eval: None,
            proof: Some(Proof {
                result: Ordering::Less,
                plies: None,
                plies_max: Some(plies_max),
                margin: None,
            }),
            ..even
        };
        let worth = |value: Option<Evaluation>| {
            value.and_then(|value| value.proof).map(|proof| (proof.result, proof.plies_max))
        };
        let mut moves = vec![
            reviewed(0, lost(10), even, Mark::Good),
            reviewed(1, even, Evaluation { eval: Some(-1), ..even }, Mark::Good),
            // What was a blunder by estimate: the move before it kept the win, by a proof.
            reviewed(3, value::earlier(lost(6), true), value::earlier(lost(6), true), Mark::KeptWin),
            reviewed(4, even, even, Mark::Blunder),
            // Chance came between.
            reviewed(7, even, even, Mark::Blunder),
        ];
        on(&mut moves, 3000);
        let marks: Vec<Mark> = moves.iter().map(|reviewed| reviewed.mark).collect();
        // The second might be an error now, as the first position was lost: nothing but an estimate says so.
        assert_eq!(marks, [Mark::WasLost, Mark::Good, Mark::KeptWin, Mark::WasLost, Mark::Blunder]);
        assert_eq!(worth(moves[0].after), Some((Ordering::Less, Some(10))));
        assert_eq!(worth(moves[3].before), Some((Ordering::Less, Some(6))));
        assert_eq!((moves[3].before, moves[3].better.is_none()), (moves[3].after, true));
    }
}
