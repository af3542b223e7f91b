//! The published agent: alpha-beta to a small depth, lost states as leaves, another move on each revisit.
//!
//! Source: Milstrey, Lin, Cui, "L Game Report" (2024): the state heuristic; "death states", here the lost
//! states of the variant, end a line with an infinite value; and among equally good moves the agent takes
//! another one each time that a state comes again. `suggest` is the same at depth 1, without the switching.

use std::cmp::Reverse;

use super::board::State;
use super::eval::{StateHeuristic, is_lost};
use super::{LGame, Move, Position};
use plyd_core::game::{Context, Evaluator, Game, Root, Side, Turn};
use plyd_core::options::Options;
use plyd_core::score::{Score, Value};
use plyd_core::search::thread::{SearchThread, final_value};
use plyd_core::search::{Bound, Control, End, Line, SearchParams, SearchResult, Searcher};

/// The depth at which the published agent drops no drawn or won position.
const DEPTH: u32 = 2;

/// Which of several equally good moves is played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ties {
    /// The first.
    First,
    /// Another one each time that the position comes again.
    Switch,
}

/// The published agent.
pub(super) struct PublishedPlayer {
    depth: u32,
    ties: Ties,
}

impl PublishedPlayer {
    /// The agent with the option `depth`, 2 when absent.
    pub(super) fn new(options: &Options) -> Self {
        Self { depth: options.depth.unwrap_or(DEPTH).max(1), ties: Ties::Switch }
    }

    /// The move that looks best at depth 1.
    pub(super) const fn suggest() -> Self {
        Self { depth: 1, ties: Ties::First }
    }

    /// Puts first the one among the best moves whose turn it is.
    ///
    /// Best moves are distinguished and ordered by the class of the state that they lead to, so that a
    /// revisit in another image of the position counts as one and gets another move.
    fn switch(&self, game: &LGame, root: &Root<LGame>, lines: &mut [Line<Move>]) {
        let best = lines[0].value;
        let class = |line: &Line<Move>| root.pos.state.after(line.pv[0].target, line.pv[0].tokens).class();
        let mut classes: Vec<State> = lines.iter().filter(|line| line.value == best).map(class).collect();
        classes.sort_unstable();
        classes.dedup();
        let turn = classes[earlier_visits(game, root) % classes.len()];
        let chosen =
            lines.iter().position(|line| class(line) == turn).expect("the class is of one of the lines");
        lines[..=chosen].rotate_right(1);
    }
}

impl Searcher<LGame> for PublishedPlayer {
    fn search(
        &mut self,
        game: &LGame,
        root: &Root<LGame>,
        asked: &SearchParams<Move>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<Move>),
    ) -> (SearchResult<Move>, End) {
        let mut tree =
            Tree { game, root: root.pos.mover, thread: SearchThread::alone(control), stack: Vec::new() };
        let mut found = SearchResult::one(asked.moves[0], 0, None);
        for depth in 1..=self.depth.min(control.depth_limit().max(1)) {
            let Some(mut lines) = tree.root(&root.pos, asked, depth) else {
                break;
            };
            if self.ties == Ties::Switch {
                self.switch(game, root, &mut lines);
            }
            lines.truncate(asked.multipv);
            found = SearchResult { lines };
            tree.thread.depth = depth;
            tree.thread.show();
            publish(&found);
            if found.lines.iter().all(|line| line.value.is_some_and(|(value, _)| value.is_decided())) {
                return (found, End::Proven);
            }
        }
        tree.thread.show();
        let end = tree.thread.end().unwrap_or(End::Limit);
        (found, end)
    }

    fn clear(&mut self) {}
}

/// How often the root's position occurred before, up to symmetry.
fn earlier_visits(game: &LGame, root: &Root<LGame>) -> usize {
    let class = root.pos.state.class();
    let mut pos = root.start.clone();
    let mut visits = 0;
    for &mv in &root.plies {
        visits += usize::from(pos.mover == root.pos.mover && pos.state.class() == class);
        game.play(&mut pos, mv);
    }
    visits
}

/// One alpha-beta search.
struct Tree<'a> {
    game: &'a LGame,
    root: Side,
    thread: SearchThread<'a>,
    stack: Vec<Move>,
}

impl Tree<'_> {
    /// All lines asked for, best first, those of equal value in the order of the moves; none if there was no
    /// time.
    fn root(&mut self, pos: &Position, asked: &SearchParams<Move>, depth: u32) -> Option<Vec<Line<Move>>> {
        let mut pos = pos.clone();
        let mut lines = Vec::with_capacity(asked.moves.len());
        let mut best = -Score::INFINITE;
        for &mv in &asked.moves {
            // One below the best, so that an equal value is exact; all values if several lines are asked for.
            let alpha =
                if asked.multipv == 1 && best > -Score::INFINITE { best.below() } else { -Score::INFINITE };
            let mut pv = Vec::new();
            let before = self.game.play(&mut pos, mv);
            let value = -self.node(&mut pos, depth - 1, 1, mv, (-Score::INFINITE, -alpha), &mut pv);
            self.game.undo(&mut pos, mv, before);
            if self.thread.is_over() {
                return None;
            }
            best = best.max(value.score);
            pv.push(mv);
            pv.reverse();
            lines.push(Line { pv, depth, value: Some((value, Bound::Exact)) });
        }
        // A line's value is the position's too: nothing bounds it from above unless every move is bounded so.
        let bounded = lines.iter().all(|line| line.value.is_some_and(|(value, _)| value.at_most));
        for (value, _) in lines.iter_mut().filter_map(|line| line.value.as_mut()) {
            value.at_most &= bounded;
        }
        lines.sort_by_key(|line| Reverse(line.value.map(|(value, _)| value.score)));
        Some(lines)
    }

    /// The value of a position after `last`, `distance` plies below the root; gives the line in reverse.
    fn node(
        &mut self,
        pos: &mut Position,
        depth: u32,
        distance: u32,
        last: Move,
        (mut alpha, beta): (Score, Score),
        pv: &mut Vec<Move>,
    ) -> Value {
        pv.clear();
        if self.thread.tick() {
            return Value::default();
        }
        let game = self.game;
        self.thread.seldepth = self.thread.seldepth.max(distance);
        if let Turn::Over(outcome) = game.turn(pos) {
            return final_value::<LGame>(&outcome, pos.mover, distance);
        }
        if depth == 0 || is_lost(game.neutrals, pos.state) {
            let context = Context { root: self.root, last: Some(last) };
            return Value::guess(StateHeuristic.evaluate(game, pos, &context));
        }
        let base = self.stack.len();
        game.moves(pos, &mut self.stack);
        self.stack[base..].sort_by_key(|mv| Reverse(game.order(pos, *mv)));
        let mut best = Value::guess(-Score::INFINITE);
        let mut bounded = true;
        let mut line = Vec::new();
        for at in base..self.stack.len() {
            let mv = self.stack[at];
            let before = game.play(pos, mv);
            let value = -self.node(pos, depth - 1, distance + 1, mv, (-beta, -alpha), &mut line);
            game.undo(pos, mv, before);
            if self.thread.is_over() {
                break;
            }
            bounded &= value.at_most;
            if value.score > best.score {
                best = value;
                line.push(mv);
                std::mem::swap(pv, &mut line);
                alpha = alpha.max(value.score);
                if best.score >= beta {
                    bounded = false;
                    break;
                }
            }
        }
        self.stack.truncate(base);
        Value { at_most: bounded, ..best }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Neutrals;
    use super::super::notation::{START, parse_position};
    use super::super::table::Table;
    use super::*;

    const GAME: LGame = LGame::new(Neutrals::One, 0, 0);

    fn answer(mut agent: PublishedPlayer, root: &Root<LGame>, multipv: usize) -> (SearchResult<Move>, End) {
        let mut moves = Vec::new();
        GAME.moves(&root.pos, &mut moves);
        let asked = SearchParams { multipv: multipv.min(moves.len()), moves };
        agent.search(&GAME, root, &asked, &Control::default(), &mut |_| ())
    }

    fn agent(depth: u32) -> PublishedPlayer {
        PublishedPlayer { depth, ties: Ties::Switch }
    }

    fn distance(state: State) -> Option<u32> {
        Table::of(Neutrals::One).distance(0, state)
    }

    #[test]
    fn at_depth_two_it_drops_no_value() {
        // Its published claim; the classes stand for all states.
        let outcome = |state: State| distance(state).map(|plies| plies % 2);
        for state in State::all().filter(|state| *state == state.class() && !state.is_stuck()) {
            let root = Root::<LGame>::new(GAME.position(state, Side::First));
            let (found, _) = answer(agent(2), &root, 1);
            let mv = found.lines[0].pv[0];
            let after = outcome(state.after(mv.target, mv.tokens));
            assert_eq!(after.map(|parity| 1 - parity), outcome(state), "{state:?}");
        }
    }

    #[test]
    fn suggest_takes_the_best_evaluation_after_one_move() {
        let root = Root::<LGame>::new(parse_position(&GAME, START).expect("valid"));
        let mut moves = Vec::new();
        GAME.moves(&root.pos, &mut moves);
        let value = |mv: &Move| {
            let mut pos = root.pos.clone();
            GAME.play(&mut pos, *mv);
            -StateHeuristic.evaluate(&GAME, &pos, &Context { root: Side::First, last: Some(*mv) })
        };
        let best = moves.iter().map(value).max();
        let first = moves.iter().find(|mv| Some(value(mv)) == best);
        let (found, end) = answer(PublishedPlayer::suggest(), &root, 1);
        assert_eq!(Some(&found.lines[0].pv[0]), first);
        assert_eq!(end, End::Limit);
    }

    #[test]
    fn revisits_get_other_moves() {
        // A drawn position in which several classes of moves are best.
        let mut root = Root::<LGame>::new(parse_position(&GAME, START).expect("valid"));
        let (all, _) = answer(agent(1), &root, usize::MAX);
        let best = all.lines.iter().filter(|line| line.value == all.lines[0].value);
        let start = root.pos.state;
        let class = |mv: Move| start.after(mv.target, mv.tokens).class();
        let mut classes: Vec<State> = best.map(|line| class(line.pv[0])).collect();
        classes.sort_unstable();
        classes.dedup();
        let mut chosen = Vec::new();
        for _ in 0..classes.len() {
            let (found, _) = answer(agent(1), &root, 1);
            chosen.push(class(found.lines[0].pv[0]));
            for text in ["3 1 E", "2 2 W", "3 1 W", "2 4 E"] {
                let mv = plyd_core::game::Notation::parse_move(&GAME, &root.pos, text).expect("readable");
                root.play(&GAME, mv);
            }
        }
        assert_eq!(chosen, classes);
        assert!(classes.len() > 1);
    }

    #[test]
    fn alpha_beta_agrees_with_full_windows() {
        for number in [0, 17, 400, 1_111, 2_000] {
            let state =
                State::all().filter(|state| *state == state.class()).nth(number).expect("2,296 classes");
            let root = Root::<LGame>::new(GAME.position(state, Side::Second));
            if state.is_stuck() {
                continue;
            }
            let (one, _) = answer(agent(2), &root, 1);
            let (all, _) = answer(agent(2), &root, usize::MAX);
            let score = |found: &SearchResult<Move>| found.lines[0].value.map(|(value, _)| value.score);
            assert_eq!((score(&one), one.lines[0].pv[0]), (score(&all), all.lines[0].pv[0]), "{state:?}");
        }
    }

    #[test]
    fn a_stop_is_obeyed_with_a_legal_move() {
        let root = Root::<LGame>::new(parse_position(&GAME, START).expect("valid"));
        let mut moves = Vec::new();
        GAME.moves(&root.pos, &mut moves);
        let control = Control::default();
        control.stop();
        let asked = SearchParams { moves: moves.clone(), multipv: 1 };
        let (found, end) = agent(1000).search(&GAME, &root, &asked, &control, &mut |_| ());
        assert_eq!(end, End::Stopped);
        assert!(moves.contains(&found.lines[0].pv[0]));
    }
}
