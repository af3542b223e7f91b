//! What a position and a player answer, as plain values: moves are texts, and a search's values are given in
//! a form that needs no knowledge of the game.

use std::cmp::Ordering;

use crate::game::{Game, Outcome, Side};
use crate::score::{Score, Value};
use crate::search::Bound;
use crate::search::thread::{is_lost, is_won};

/// Who decides the next ply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToMove {
    /// A player.
    Player(Side),
    /// Chance.
    Chance,
}

/// A legal move and what follows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Successor {
    /// The move's text.
    pub mv: String,
    /// The text of the position after it.
    pub text: String,
    /// The static evaluation after it in thousandths, from the view of the side that makes the move.
    pub eval: Option<i64>,
    /// The outcome, if the move ends the game.
    pub outcome: Option<Outcome>,
}

/// A chance outcome and its probability.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChanceOutcome {
    /// The outcome's text.
    pub mv: String,
    /// Its probability in parts per million. All outcomes together have 1,000,000; the first takes what
    /// rounding leaves.
    pub ppm: u32,
}

/// The legal moves as numbers, for programs that learn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Actions {
    /// How many actions there are under these rules; the number of each action is below it.
    pub count: usize,
    /// The number of each legal move, in the order of [`AnyRoot::legal`](super::AnyRoot::legal).
    pub legal: Vec<usize>,
}

/// A variation and its value.
///
/// ```
/// use plyd_core::engine::Line;
///
/// let line = Line { pv: vec!["e2e4".to_owned(), "e7e5".to_owned()], depth: 2, value: None };
/// assert_eq!((line.mv(), line.pv.join(" ")), ("e2e4", "e2e4 e7e5".to_owned()));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The variation: legal plies, the move to be played first.
    pub pv: Vec<String>,
    /// The depth completed; 0 if nothing was searched yet.
    pub depth: u32,
    /// The value; absent at depth 0 and for players that give none.
    pub value: Option<Evaluation>,
}

impl Line {
    /// The move to be played.
    #[must_use]
    pub fn mv(&self) -> &str {
        &self.pv[0]
    }
}

/// A value from the root mover's view: at least one of `eval` and `proof`.
///
/// ```
/// use std::cmp::Ordering;
///
/// use plyd_core::nim;
/// use plyd_core::options::Options;
/// use plyd_core::play::{Player, Position, SearchLimits};
///
/// let pos = Position::open(&nim::ENTRY, &Default::default(), Some("6 1"))?;
/// let answer = Player::new(&pos, &Options::default())?.best(&pos, &SearchLimits::default())?;
/// let value = answer.lines[0].value.expect("it was searched");
/// match value.proof {
///     // The distance to the end is exact, or a bound of it is known.
///     Some(proof) => {
///         assert_eq!(proof.result, Ordering::Greater);
///         assert!(proof.plies.or(proof.plies_max) >= Some(3));
///     }
///     None => println!("about {} thousandths", value.eval.unwrap_or(0)),
/// }
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Evaluation {
    /// How it relates to the true value.
    pub bound: Bound,
    /// Thousandths of the game's unit.
    pub eval: Option<i64>,
    /// What is proven.
    pub proof: Option<Proof>,
}

/// A proven result, from the root mover's view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proof {
    /// The result under best play: greater is a win, equal a draw, less a loss.
    pub result: Ordering,
    /// The exact distance to the end under best play, in moves, chance plies not counted.
    pub plies: Option<u32>,
    /// An upper bound of that distance.
    pub plies_max: Option<u32>,
    /// The final difference in whole points or cells, scores so far included.
    pub margin: Option<i64>,
}

impl Evaluation {
    /// Splits a search's value into what is estimated and what is proven.
    ///
    /// In games that score, a proven margin is an evaluation too, and the result may be proven before the
    /// margin is. Elsewhere a proven result has no evaluation, and its distance is exact only when both sides
    /// of it are proven, or it is a win in one.
    pub(super) fn of<G: Game>(value: Value, bound: Bound) -> Self {
        let Value { score, .. } = value;
        let raw = score.raw().clamp(-Score::MAX_EVAL.raw(), Score::MAX_EVAL.raw());
        let is_won_or_lost = is_won::<G>(score) || is_lost::<G>(score);
        let points = if G::SCORED && is_won_or_lost { raw - raw.signum() * G::WIN_BONUS } else { raw };
        let eval = Some(i64::from(points));
        let proof = Proof { result: score.cmp(&Score::DRAW), plies: None, plies_max: None, margin: None };
        if G::SCORED {
            let is_decided = is_won_or_lost && if raw > 0 { value.at_least } else { value.at_most };
            let margin = value.is_exact().then_some(i64::from(points / 1000));
            let proof = (value.is_exact() || is_decided).then_some(Proof { margin, ..proof });
            return Self { bound, eval, proof };
        }
        if !value.is_decided() {
            return Self { bound, eval, proof: None };
        }
        // No win is quicker than one move.
        let is_exact = value.is_exact() || score == Score::win_in(1);
        let (plies, plies_max) = if is_exact { (score.distance(), None) } else { (None, score.distance()) };
        Self { bound: Bound::Exact, eval: None, proof: Some(Proof { plies, plies_max, ..proof }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nim::Nim;

    #[test]
    fn a_distance_is_exact_if_both_sides_of_it_are_proven_or_it_is_one() {
        let at_least = |score| Value { score, at_least: true, at_most: false };
        for (value, plies, plies_max) in [
            (Value::proven(Score::win_in(3)), Some(3), None),
            (at_least(Score::win_in(3)), None, Some(3)),
            (at_least(Score::win_in(1)), Some(1), None),
            (-at_least(Score::win_in(2)), None, Some(2)),
        ] {
            let proof = Evaluation::of::<Nim>(value, Bound::Exact).proof.expect("it is decided");
            assert_eq!((proof.plies, proof.plies_max), (plies, plies_max), "{value:?}");
        }
    }
}
