//! The published agent: alpha-beta to a small depth, lost states as leaves, another move on each revisit.
//!
//! Source: Milstrey, Lin, Cui, "L Game Report" (2024): the state heuristic; "death states", here the lost
//! states of the variant, end a line with an infinite value; and among equally good moves the agent takes
//! another one each time that a state comes again. `suggest` is the same at depth 1, without the switching.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use super::board::State;
use super::eval::{StateHeuristic, is_lost};
use super::{LGame, Move, Position};
use plyd_core::game::{Game, Root};
use plyd_core::options::Options;
use plyd_core::score::{Score, Value};
use plyd_core::search::published::{Agent, Deepening, RootLine};
use plyd_core::search::thread::SearchThread;
use plyd_core::search::{End, SearchParams};

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
#[derive(Clone, Debug)]
pub(super) struct PublishedPlayer {
    depth: u32,
    ties: Ties,
    /// The state at the root, and how often it occurred before.
    root: Option<(State, usize)>,
    multipv: usize,
}

impl PublishedPlayer {
    /// The agent with the option `depth`, 2 when absent.
    pub(super) fn new(options: &Options) -> Deepening<Self> {
        Self::to(options.depth.unwrap_or(DEPTH).max(1), Ties::Switch)
    }

    /// The move that looks best at depth 1.
    pub(super) const fn suggest() -> Deepening<Self> {
        Self::to(1, Ties::First)
    }

    const fn to(depth: u32, ties: Ties) -> Deepening<Self> {
        Deepening(Self { depth, ties, root: None, multipv: 1 })
    }
}

impl Agent<LGame> for PublishedPlayer {
    type Evaluator = StateHeuristic;

    const HEEDS_CLOCK: bool = false;

    fn evaluator(&self) -> &StateHeuristic {
        &StateHeuristic
    }

    fn depths(&self, _limit: u32) -> RangeInclusive<u32> {
        1..=self.depth
    }

    fn begin(&mut self, game: &LGame, root: &Root<LGame>, params: &SearchParams<Move>) -> Option<Move> {
        self.root = (self.ties == Ties::Switch).then(|| (root.pos.state, earlier_visits(game, root)));
        self.multipv = params.multipv;
        None
    }

    fn moves(&self, game: &LGame, pos: &Position, _thread: &mut SearchThread<'_>, out: &mut Vec<Move>) {
        let base = out.len();
        game.moves(pos, out);
        out[base..].sort_by_key(|mv| Reverse(game.order(pos, *mv)));
    }

    fn is_leaf(&self, game: &LGame, pos: &Position) -> bool {
        is_lost(game.neutrals, pos.state)
    }

    fn lines_kept(&self, _multipv: usize) -> usize {
        usize::MAX
    }

    /// One below the best, so that an equal value is exact; all values if several lines are asked for.
    fn root_alpha(&self, lines: &[RootLine<Move>], _is_full: bool) -> Score {
        let best = lines.first().filter(|_| self.multipv == 1);
        best.map_or(-Score::INFINITE, |line| line.value.score.below())
    }

    fn conclude(&mut self, _depth: u32, values: &[Value], lines: &mut Vec<RootLine<Move>>) -> Option<End> {
        // A line's value is the position's too: nothing bounds it from above unless every move is bounded so.
        let bounded = values.iter().all(|value| value.at_most);
        for line in &mut *lines {
            line.value.at_most &= bounded;
        }
        if let Some((state, visits)) = self.root {
            switch(state, visits, lines);
        }
        lines.truncate(self.multipv);
        lines.iter().all(|line| line.value.is_decided()).then_some(End::Proven)
    }
}

/// Puts first the one among the best moves whose turn it is.
///
/// Best moves are distinguished and ordered by the class of the state that they lead to, so that a revisit in
/// another image of the position counts as one and gets another move.
fn switch(state: State, visits: usize, lines: &mut [RootLine<Move>]) {
    let best = lines[0].value;
    let class = |line: &RootLine<Move>| state.after(line.pv[0].target, line.pv[0].tokens).class();
    let mut classes: Vec<State> = lines.iter().filter(|line| line.value == best).map(class).collect();
    classes.sort_unstable();
    classes.dedup();
    let turn = classes[visits % classes.len()];
    let chosen = lines.iter().position(|line| class(line) == turn).expect("the class is of one of the lines");
    lines[..=chosen].rotate_right(1);
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

#[cfg(test)]
mod tests {
    use super::super::Neutrals;
    use super::super::notation::{START, parse_position};
    use super::super::tablebase::Tablebase;
    use super::*;
    use plyd_core::game::{Context, Evaluator, Side};
    use plyd_core::search::{Control, SearchResult, Searcher};

    const GAME: LGame = LGame::new(Neutrals::One, 0, 0);

    fn answer(
        mut agent: Deepening<PublishedPlayer>,
        root: &Root<LGame>,
        multipv: usize,
    ) -> (SearchResult<Move>, End) {
        let mut moves = Vec::new();
        GAME.moves(&root.pos, &mut moves);
        let asked = SearchParams { multipv: multipv.min(moves.len()), moves };
        agent.search(&GAME, root, &asked, &Control::default(), &mut |_| ())
    }

    fn agent(depth: u32) -> Deepening<PublishedPlayer> {
        PublishedPlayer::to(depth, Ties::Switch)
    }

    fn distance(state: State) -> Option<u32> {
        Tablebase::of(Neutrals::One).distance(0, state)
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
