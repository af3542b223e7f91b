//! What is known of a position or a move: proofs before estimates, seen from one ply earlier, and as
//! likelihoods.

use std::cmp::Ordering;

use crate::engine::{Evaluation, Proof};
use crate::game::{Outcome, Side};
use crate::search::Bound;

/// What a value proves of the result, if it does.
pub(super) fn proof(value: &Evaluation) -> Option<Proof> {
    value.proof.filter(|proof| match proof.result {
        Ordering::Greater => value.bound != Bound::Upper,
        Ordering::Equal => value.bound == Bound::Exact,
        Ordering::Less => value.bound != Bound::Lower,
    })
}

/// A value that consists of this proof alone.
fn proven(proof: Proof) -> Evaluation {
    let eval = proof.margin.map(|margin| 1000 * margin);
    Evaluation { bound: Bound::Exact, eval, proof: Some(proof) }
}

/// The value of a game's end for a side.
pub(super) fn of_end(end: &Outcome, side: Side) -> Evaluation {
    let result = match end.winner {
        None => Ordering::Equal,
        Some(winner) if winner == side => Ordering::Greater,
        Some(_) => Ordering::Less,
    };
    let margin = end.scores.map(|scores| {
        let [own, other] = [scores[side.index()], scores[side.other().index()]];
        i64::from(own) - i64::from(other)
    });
    // Games that score have no distances.
    let plies = (margin.is_none() && result.is_ne()).then_some(0);
    proven(Proof { result, plies, plies_max: None, margin })
}

/// The value of a move from that of the position behind it; `turns` if the other side is to move there.
pub(super) fn earlier(value: Evaluation, turns: bool) -> Evaluation {
    from_there(value, turns, |plies| plies.saturating_add(1))
}

/// The value of the position behind a move from that of the move: the way back of [`earlier`].
pub(super) fn later(value: Evaluation, turns: bool) -> Evaluation {
    from_there(value, turns, |plies| plies.saturating_sub(1))
}

/// A value as seen from one ply away, by the other side if it `turns`.
fn from_there(value: Evaluation, turns: bool, distance: impl Fn(u32) -> u32) -> Evaluation {
    let Evaluation { bound, eval, proof } = value;
    let proof = proof.map(|proof| Proof {
        plies: proof.plies.map(&distance),
        plies_max: proof.plies_max.map(&distance),
        ..proof
    });
    if !turns {
        return Evaluation { bound, eval, proof };
    }
    let bound = match bound {
        Bound::Exact => Bound::Exact,
        Bound::Lower => Bound::Upper,
        Bound::Upper => Bound::Lower,
    };
    let proof = proof.map(|proof| Proof {
        result: proof.result.reverse(),
        margin: proof.margin.map(|margin| -margin),
        ..proof
    });
    Evaluation { bound, eval: eval.map(|eval| -eval), proof }
}

/// The value of each move of a position that is proven to be lost: they all lose, none of them later.
pub(super) fn of_any_move(position: &Evaluation) -> Option<Evaluation> {
    let proof = proof(position).filter(|proof| proof.result.is_lt())?;
    let plies_max = proof.plies.or(proof.plies_max);
    Some(proven(Proof { result: proof.result, plies: None, plies_max, margin: None }))
}

/// The value of a position in which one move loses, and so does the best of all others.
pub(super) fn of_lost(one: &Evaluation, other: &Evaluation) -> Option<Evaluation> {
    let [one, other] = [of_any_move(one)?.proof?, of_any_move(other)?.proof?];
    let plies_max = one.plies_max.zip(other.plies_max).map(|(one, other)| one.max(other));
    Some(proven(Proof { plies_max, ..one }))
}

/// The more informative of two values of the same move or position: an exact proof, then any proof, then an
/// estimate; of two estimates, the first.
pub(super) fn surer(first: Option<Evaluation>, second: Option<Evaluation>) -> Option<Evaluation> {
    let (Some(one), Some(other)) = (first, second) else { return first.or(second) };
    Some(match (proof(&one), proof(&other)) {
        (None, Some(_)) => other,
        (Some(known), Some(also)) if known.result == also.result && says_more(&also, &known) => other,
        _ => one,
    })
}

/// Whether a proof of the same result says more of its distance or margin.
fn says_more(proof: &Proof, than: &Proof) -> bool {
    let detail = |proof: &Proof| proof.plies.is_some() || proof.margin.is_some();
    match (detail(proof), detail(than)) {
        (is_exact, same) if is_exact != same => is_exact,
        (true, _) => false,
        (false, _) => proof.plies_max.is_some_and(|plies| than.plies_max.is_none_or(|than| plies < than)),
    }
}

/// The value of a position, raised to at least the value of one of its moves.
pub(super) fn at_least(position: Option<Evaluation>, mv: Option<Evaluation>) -> Option<Evaluation> {
    let (Some(known), Some(reached)) = (position, mv) else { return position.or(mv) };
    let is_better = match (proof(&known), proof(&reached)) {
        (None, None) => reached.eval > known.eval,
        (None, Some(to)) => match to.result {
            Ordering::Greater => true,
            // That no other move is better is not proven.
            Ordering::Equal => return Some(drawn_at_least(known)),
            Ordering::Less => false,
        },
        // What is proven to be no better than this stays; an estimate does not raise it.
        (Some(_), None) => false,
        (Some(from), Some(to)) if from.result != to.result => to.result > from.result,
        (Some(from), Some(to)) => match (from.margin.zip(to.margin), from.plies.zip(to.plies)) {
            (Some((could, does)), _) => does > could,
            (None, Some((could, does))) if to.result.is_gt() => does < could,
            (None, Some((could, does))) => does > could,
            (None, None) if to.result.is_gt() => return Some(quicker(known, &from, &to)),
            (None, None) => false,
        },
    };
    match proof(&known) {
        // With an exact value of the other moves, the move's is that of the position.
        Some(_) if is_better => Some(reached),
        None if is_better => Some(as_position(reached)),
        _ => Some(known),
    }
}

/// An estimated position's value if a move is proven to draw.
fn drawn_at_least(position: Evaluation) -> Evaluation {
    match position.eval {
        Some(1..) => position,
        _ => Evaluation { bound: Bound::Lower, eval: Some(0), proof: None },
    }
}

/// A move's value as that of the position: nothing says that another move is no quicker.
fn as_position(mv: Evaluation) -> Evaluation {
    let Some(found) = proof(&mv).filter(|proof| proof.result.is_gt() && proof.plies != Some(1)) else {
        return mv;
    };
    let plies_max = found.plies.or(found.plies_max);
    Evaluation {
        bound: if mv.eval.is_some() { Bound::Lower } else { mv.bound },
        eval: mv.eval,
        proof: Some(Proof { plies: None, plies_max, margin: None, ..found }),
    }
}

/// The value of a won position in which a move is won, too.
fn quicker(position: Evaluation, from: &Proof, to: &Proof) -> Evaluation {
    let reached = to.plies.or(to.plies_max);
    if from.plies.is_some() || from.margin.is_some() || reached.is_none() {
        return position;
    }
    let plies_max = reached.into_iter().chain(from.plies_max).min();
    Evaluation { proof: Some(Proof { plies_max, ..*from }), ..position }
}

/// The likelihood of winning that a value implies, with a draw as half a win; `decisive` as
/// [`Evaluator::decisive`](crate::game::Evaluator::decisive).
pub(super) fn likelihood(value: &Evaluation, decisive: i32) -> Option<f64> {
    match proof(value) {
        Some(proof) => Some(match proof.result {
            Ordering::Greater => 1.0,
            Ordering::Equal => 0.5,
            Ordering::Less => 0.0,
        }),
        None => Some(winning_likelihood(value.eval?, decisive)),
    }
}

/// The likelihood of winning, from 0 to 1, that an evaluation in thousandths implies, with a draw as half a
/// win; `decisive` as [`AnyRoot::decisive`](crate::engine::AnyRoot::decisive) has it.
///
/// ```
/// use plyd_core::review::winning_likelihood;
///
/// assert_eq!(winning_likelihood(0, 3000), 0.5);
/// assert!(winning_likelihood(3000, 3000) > 0.85);
/// ```
#[must_use]
pub fn winning_likelihood(eval: i64, decisive: i32) -> f64 {
    0.5 + 0.5 * libm::tanh(eval as f64 / f64::from(decisive.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Ordering::{Equal, Greater, Less};

    fn exact(result: Ordering, plies: Option<u32>) -> Evaluation {
        proven(Proof { result, plies, plies_max: None, margin: None })
    }

    fn within(result: Ordering, plies: u32) -> Evaluation {
        proven(Proof { result, plies: None, plies_max: Some(plies), margin: None })
    }

    fn estimate(eval: i64) -> Evaluation {
        Evaluation { bound: Bound::Exact, eval: Some(eval), proof: None }
    }

    #[test]
    fn a_proof_is_one_of_its_result_alone() {
        for (result, bound, is_proof) in [
            (Greater, Bound::Exact, true),
            (Greater, Bound::Lower, true),
            (Greater, Bound::Upper, false),
            (Equal, Bound::Exact, true),
            (Equal, Bound::Lower, false),
            (Less, Bound::Upper, true),
            (Less, Bound::Lower, false),
        ] {
            let value = Evaluation { bound, ..exact(result, None) };
            assert_eq!(proof(&value).is_some(), is_proof, "{result:?} {bound:?}");
        }
    }

    #[test]
    fn values_turn_and_grow_on_the_way_back() {
        assert_eq!(earlier(exact(Less, Some(4)), true), exact(Greater, Some(5)));
        assert_eq!(earlier(exact(Greater, Some(4)), false), exact(Greater, Some(5)));
        assert_eq!(earlier(within(Greater, 4), true), within(Less, 5));
        assert_eq!(earlier(exact(Equal, None), true), exact(Equal, None));
        let lower = Evaluation { bound: Bound::Lower, ..estimate(250) };
        assert_eq!(earlier(lower, true), Evaluation { bound: Bound::Upper, ..estimate(-250) });
    }

    #[test]
    fn ends_are_seen_from_both_sides() {
        let won = Outcome { winner: Some(Side::Second), by: "taken", scores: None };
        assert_eq!(of_end(&won, Side::Second), exact(Greater, Some(0)));
        assert_eq!(of_end(&won, Side::First), exact(Less, Some(0)));
        let scored = Outcome { scores: Some([7, 12]), ..won };
        let lost = of_end(&scored, Side::First);
        assert_eq!(lost.eval, Some(-5000));
        assert_eq!(lost.proof.map(|proof| (proof.plies, proof.margin)), Some((None, Some(-5))));
    }

    #[test]
    fn the_surer_value_counts() {
        for (first, second, counts) in [
            (estimate(5), estimate(9), estimate(5)),
            (estimate(5), exact(Less, Some(3)), exact(Less, Some(3))),
            (within(Greater, 9), exact(Greater, Some(7)), exact(Greater, Some(7))),
            (exact(Greater, Some(7)), within(Greater, 5), exact(Greater, Some(7))),
            (within(Less, 9), within(Less, 7), within(Less, 7)),
            (exact(Equal, None), estimate(9), exact(Equal, None)),
        ] {
            assert_eq!(surer(Some(first), Some(second)), Some(counts), "{first:?} {second:?}");
        }
        assert_eq!(surer(None, Some(estimate(1))), Some(estimate(1)));
    }

    #[test]
    fn a_position_is_worth_no_less_than_its_moves() {
        let at_least_drawn = Evaluation { bound: Bound::Lower, ..estimate(0) };
        for (position, mv, expected) in [
            (estimate(5), estimate(9), estimate(9)),
            (estimate(9), estimate(5), estimate(9)),
            // A win in three is known; that none is quicker is not.
            (estimate(9), exact(Greater, Some(3)), within(Greater, 3)),
            (estimate(9), exact(Greater, Some(1)), exact(Greater, Some(1))),
            (estimate(9), exact(Equal, None), estimate(9)),
            (estimate(-9), exact(Equal, None), at_least_drawn),
            (estimate(9), exact(Less, Some(4)), estimate(9)),
            (within(Greater, 9), exact(Greater, Some(5)), within(Greater, 5)),
            (exact(Greater, Some(3)), exact(Greater, Some(5)), exact(Greater, Some(3))),
            (exact(Equal, None), exact(Less, Some(2)), exact(Equal, None)),
            (exact(Greater, Some(5)), exact(Greater, Some(3)), exact(Greater, Some(3))),
            (within(Less, 6), exact(Less, Some(4)), within(Less, 6)),
            (exact(Less, Some(4)), exact(Less, Some(6)), exact(Less, Some(6))),
            (exact(Less, Some(6)), estimate(9000), exact(Less, Some(6))),
        ] {
            assert_eq!(at_least(Some(position), Some(mv)), Some(expected), "{position:?} {mv:?}");
        }
    }

    #[test]
    fn likelihoods_go_from_lost_to_won() {
        let likely = |value: &Evaluation| likelihood(value, 3000).unwrap();
        assert_eq!(likely(&exact(Greater, Some(3))), 1.0);
        assert_eq!(likely(&exact(Equal, None)), 0.5);
        assert_eq!(likely(&estimate(0)), 0.5);
        assert!(likely(&estimate(3000)) > 0.85 && likely(&estimate(300_000)) <= 1.0);
        assert!((likely(&estimate(700)) + likely(&estimate(-700)) - 1.0).abs() < 1e-12);
    }
}
