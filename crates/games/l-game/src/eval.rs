//! The published heuristics: a judgement of states and one of moves.
//!
//! Source: Milstrey, Lin, Cui, "L Game Report" (2024). One unit is one legal move of the state heuristic.
//! Both know nothing of caps and repetition.

use super::board::{CELLS, CORE, CORNERS, Cells, EDGES, State};
use super::neutrals::Neutrals;
use super::tablebase::Tablebase;
use super::{LGame, Position};
use plyd_core::game::{Context, Evaluator};
use plyd_core::score::Score;

/// A linear judgement of states, in units, from the mover's view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Weights {
    /// For each legal move of the mover.
    pub(super) moves: i32,
    /// For each move that the other side would have, were it to move.
    pub(super) other_moves: i32,
    /// For each cell of an L in the core, the mover's less the other's.
    pub(super) core: i32,
    /// For each cell of an L on a corner, the mover's less the other's.
    pub(super) corners: i32,
    /// Whether lost states count as infinitely bad.
    pub(super) knows_lost: bool,
}

/// The weights of the published state heuristic.
pub(super) const STATE: Weights =
    Weights { moves: 1, other_moves: 0, core: 25, corners: -40, knows_lost: true };

/// Worse than every state that [`Weights`] judge, in units.
pub(super) const INFINITE: i32 = Score::MAX_EVAL.raw() / 1000;

impl Weights {
    /// The judgement of a state in units; `-INFINITE` for a stuck mover.
    pub(super) fn value(self, neutrals: Neutrals, state: State) -> i32 {
        if state.is_stuck() || self.knows_lost && is_lost(neutrals, state) {
            return -INFINITE;
        }
        let own = CELLS[usize::from(state.own)];
        let other = CELLS[usize::from(state.other)];
        let less = |set: Cells| (own & set).count_ones() as i32 - (other & set).count_ones() as i32;
        let turned = State { own: state.other, other: state.own, tokens: state.tokens };
        let moves = |state: State| (state.targets().count_ones() * neutrals.choices()) as i32;
        self.moves * moves(state)
            + self.other_moves * moves(turned)
            + self.core * less(CORE)
            + self.corners * less(CORNERS)
    }
}

/// Whether the mover of a state loses against best play: 29 classes of the game with one optional token move.
pub(super) fn is_lost(neutrals: Neutrals, state: State) -> bool {
    Tablebase::of(neutrals).distance(0, state).is_some_and(|plies| plies % 2 == 0)
}

/// The judgement of a move in units, from the view of the side that makes it: 25 for each cell of its L in
/// the core, -40 if any is a corner, 10 if a token landed on a border cell that is no corner.
pub(super) fn action_value(target: u8, landed: Cells) -> i32 {
    let cells = CELLS[usize::from(target)];
    25 * (cells & CORE).count_ones() as i32 - if cells & CORNERS == 0 { 0 } else { 40 }
        + if landed & EDGES == 0 { 0 } else { 10 }
}

/// The evaluator `state`: the mover's legal moves, 25 for each core cell and -40 for each corner cell of its
/// L less the other's.
///
/// Lost states are infinitely bad: the smallest evaluation that there is, but still an evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StateHeuristic;

impl Evaluator<LGame> for StateHeuristic {
    fn evaluate(&self, game: &LGame, pos: &Position, _ctx: &Context<super::Move>) -> Score {
        match STATE.value(game.neutrals, pos.state) {
            value if value == -INFINITE => -Score::MAX_EVAL,
            value => Score::eval(1000 * value),
        }
    }

    /// At most 17 places of the L with 28 token moves each, 3 core cells and 2 corners.
    fn range(&self) -> (i32, i32) {
        (-Score::MAX_EVAL.raw(), 1000 * (17 * 28 + 3 * 25 + 2 * 40))
    }
}

/// The evaluator `action`: the judgement of the move that led to the position, negated for the mover.
///
/// Without a last move it judges the other side's L where it stands, and no token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ActionHeuristic;

impl Evaluator<LGame> for ActionHeuristic {
    fn evaluate(&self, _game: &LGame, pos: &Position, ctx: &Context<super::Move>) -> Score {
        Score::eval(-1000 * action_value(pos.state.other, ctx.last.map_or(0, |mv| mv.landed)))
    }

    fn range(&self) -> (i32, i32) {
        (-1000 * (3 * 25 + 10), 1000 * 40)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse_position;
    use plyd_core::game::{Game, Notation, Side};

    const GAME: LGame = LGame::new(Neutrals::One, 0, 0);

    fn context(last: Option<super::super::Move>) -> Context<super::super::Move> {
        Context { root: Side::First, last }
    }

    #[test]
    fn state_heuristic_by_hand() {
        // At the start both Ls have two core cells and no corner; 5 places with 13 token moves each.
        let start = parse_position(&GAME, "3 1 W 1 1 4 4 2 4 E 1").expect("valid");
        assert_eq!(StateHeuristic.evaluate(&GAME, &start, &context(None)), Score::eval(65_000));
    }

    #[test]
    fn lost_states_are_the_worst_evaluation() {
        let lost = State::all().filter(|state| is_lost(Neutrals::One, *state));
        let mut count = 0;
        for state in lost {
            let pos = GAME.position(state, Side::First);
            assert_eq!(StateHeuristic.evaluate(&GAME, &pos, &context(None)), -Score::MAX_EVAL);
            count += 1;
        }
        assert_eq!(count, 8 * 29);
    }

    #[test]
    fn action_heuristic_by_hand() {
        let start = parse_position(&GAME, "3 1 W 1 1 4 4 2 4 E 1").expect("valid");
        // The L on 4 1, 3 1, 3 2, 3 3: a corner and two core cells. The token goes to an edge or not.
        let cases = [("3 1 E", 10_000), ("3 1 E 4 4 4 3", 20_000), ("3 1 E 4 4 1 4", 10_000)];
        for (text, expected) in cases {
            let mv = GAME.parse_move(&start, text).expect("readable");
            let mut pos = start.clone();
            GAME.play(&mut pos, mv);
            let value = ActionHeuristic.evaluate(&GAME, &pos, &context(Some(mv)));
            assert_eq!(value, Score::eval(-expected), "{text}");
        }
    }

    #[test]
    fn evaluations_stay_in_their_range() {
        for neutrals in Neutrals::ALL {
            let game = LGame::new(neutrals, 0, 0);
            let (low, high) = StateHeuristic.range();
            let (action_low, action_high) = ActionHeuristic.range();
            for state in State::all().filter(|state| !state.is_stuck()) {
                let pos = game.position(state, Side::Second);
                let value = StateHeuristic.evaluate(&game, &pos, &context(None)).raw();
                assert!((low..=high).contains(&value), "{value}");
                let value = ActionHeuristic.evaluate(&game, &pos, &context(None)).raw();
                assert!((action_low..=action_high).contains(&value), "{value}");
            }
        }
    }
}
