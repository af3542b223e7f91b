//! The default player: perfect play, and among moves of equal value the one after which an opponent most
//! likely errs.
//!
//! It wins as soon as it can and loses as late as it can. Among drawing moves it first takes the one that
//! leaves the largest share of losing replies (a trap), discounted for positions that this game has already
//! shown; then, if there is time, the one to which a model of the opponent's replies gives the best chance.
//! Without the option `opponent_model` it keeps to the first. The value of a position is never traded for a
//! trap.
//!
//! With the option `depth` it is a weaker player on purpose: it sees wins and losses within that many plies,
//! considers everything else equal, and sets no traps.

use std::cmp::Reverse;

use super::board::State;
use super::opponent::{Opponent, Prospects};
use super::solution::{Node, Solution};
use super::{LGame, Move};
use plyd_core::game::{Game, Root, Turn};
use plyd_core::options::Options;
use plyd_core::score::{Score, Value};
use plyd_core::search::{Bound, Control, End, SearchParams, SearchResult, Searcher, Stats, Variation};
use plyd_core::zobrist::{SplitMix64, mix};

/// How many plies the line of a draw has, at most.
const DRAW_PLIES: usize = 4;

/// The default player.
pub(super) struct Perfect {
    /// Draws among equal moves.
    pub(super) seed: u64,
    /// Whether drawing moves to positions already shown rank lower.
    pub(super) novelty: bool,
    /// Whether the opponent's replies are judged.
    pub(super) opponent_model: bool,
    /// How many plies ahead wins and losses are seen, if not all the way.
    pub(super) depth: Option<u32>,
}

/// A move that may be chosen, with all that ranks it.
struct Choice {
    mv: Move,
    /// From the mover's view, before the move.
    value: Value,
    /// How promising the opponent's replies are, in parts per million.
    trap_ppm: u32,
    /// Random, against predictable play.
    tie: u64,
}

impl Perfect {
    /// The player with the options `seed`, `novelty` and `opponent_model`.
    pub(super) fn new(options: &Options) -> Self {
        Self {
            seed: options.seed,
            novelty: options.own_bool("novelty").unwrap_or(true),
            opponent_model: options.own_bool("opponent_model").unwrap_or(true),
            depth: options.depth,
        }
    }

    /// The moves asked for, best first.
    fn choices(
        &self,
        game: &LGame,
        root: &Root<LGame>,
        asked: &SearchParams<Move>,
        solution: &Solution,
        node: Node,
    ) -> Vec<Choice> {
        let shown = if self.novelty { shown_to_opponent(game, root) } else { Vec::new() };
        let mut random = SplitMix64::new(mix(self.seed) ^ game.hash(&root.pos));
        let mut choices: Vec<Choice> = asked
            .moves
            .iter()
            .map(|&mv| {
                let next = node.after(mv);
                let value = self.seen((-solution.score(next)).earlier(1));
                let mut trap_ppm = if self.depth.is_none() { solution.tally(next).mistakes_ppm() } else { 0 };
                if value.score == Score::DRAW {
                    // A quarter for each time: an opponent that found the way out once will find it again.
                    let class = next.state.class();
                    trap_ppm >>= 2 * shown.iter().filter(|state| **state == class).count().min(15);
                }
                Choice { mv, value, trap_ppm, tie: random.next() }
            })
            .collect();
        choices.sort_by_key(|choice| (Reverse((choice.value.score, choice.trap_ppm)), choice.tie));
        choices
    }

    /// The value that the player gives a score: proven as far as it sees.
    fn seen(&self, score: Score) -> Value {
        match self.depth {
            Some(depth) if score.distance().is_none_or(|plies| plies > depth) => Value::guess(Score::DRAW),
            _ => Value::proven(score),
        }
    }
}

impl Searcher<LGame> for Perfect {
    fn search(
        &mut self,
        game: &LGame,
        root: &Root<LGame>,
        asked: &SearchParams<Move>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<Move>),
    ) -> (SearchResult<Move>, End) {
        let (solution, node) = Solution::new(game, &root.pos);
        let mut choices = self.choices(game, root, asked, &solution, node);
        let mut found = lines(game, root, asked.multipv, &choices, &solution, node);
        show(control, &solution, &found);
        publish(&found);
        let models = self.opponent_model && self.depth.is_none() && choices.len() > 1;
        if models && choices[0].value.score == Score::DRAW {
            let mut is_over = || control.is_over();
            let plies_left = game.plies_left(&root.pos);
            if let Some(opponent) = Opponent::of(game.neutrals, &mut is_over)
                && let Some(prospects) = opponent.prospects(game, root, plies_left, &mut is_over)
            {
                rank_by_prospects(&mut choices, &prospects, game, root);
                found = lines(game, root, asked.multipv, &choices, &solution, node);
                show(control, &solution, &found);
                publish(&found);
            }
        }
        let is_exact = |line: &Variation<Move>| line.value.is_some_and(|(value, _)| value.is_exact());
        let end = if found.lines.iter().all(is_exact) { End::Proven } else { End::Limit };
        (found, end)
    }

    fn clear(&mut self) {}
}

/// Orders the drawing moves by the chances that the model gives them.
fn rank_by_prospects(choices: &mut [Choice], prospects: &Prospects, game: &LGame, root: &Root<LGame>) {
    for choice in choices.iter_mut().filter(|choice| choice.value.score == Score::DRAW) {
        let mut pos = root.pos.clone();
        game.play(&mut pos, choice.mv);
        choice.trap_ppm = match game.turn(&pos) {
            Turn::Move => prospects.wins_ppm(pos.state),
            Turn::Chance | Turn::Over(_) => 0,
        };
    }
    choices.sort_by_key(|choice| (Reverse((choice.value.score, choice.trap_ppm)), choice.tie));
}

/// The classes of the states in which the root mover's opponent was to move so far.
fn shown_to_opponent(game: &LGame, root: &Root<LGame>) -> Vec<State> {
    let mut pos = root.start.clone();
    let mut shown = Vec::new();
    for &mv in &root.plies {
        if pos.mover != root.pos.mover {
            shown.push(pos.state.class());
        }
        game.play(&mut pos, mv);
    }
    shown
}

fn show(control: &Control, solution: &Solution, found: &SearchResult<Move>) {
    let depth = found.lines.iter().map(|line| line.depth).max().unwrap_or(0);
    control.show(Stats { nodes: solution.lookups(), depth, seldepth: depth, hash_ppm: 0 });
}

fn lines(
    game: &LGame,
    root: &Root<LGame>,
    multipv: usize,
    choices: &[Choice],
    solution: &Solution,
    node: Node,
) -> SearchResult<Move> {
    let lines = choices.iter().take(multipv).map(|choice| {
        let pv = best_play(game, root, choice, solution, node);
        Variation { depth: pv.len() as u32, pv, value: Some((choice.value, Bound::Exact)) }
    });
    SearchResult { lines: lines.collect() }
}

/// Best play of both sides from a move on: to the end of a win or loss, some plies of a draw, nothing more if
/// the value is not known.
fn best_play(
    game: &LGame,
    root: &Root<LGame>,
    first: &Choice,
    solution: &Solution,
    mut node: Node,
) -> Vec<Move> {
    let plies = match first.value.score.distance() {
        Some(plies) => plies as usize,
        None if first.value.is_exact() => DRAW_PLIES,
        None => 1,
    };
    let mut pos = root.pos.clone();
    let mut pv = Vec::with_capacity(plies);
    let mut next = Some(first.mv);
    while let Some(mv) = next {
        game.play(&mut pos, mv);
        node = node.after(mv);
        pv.push(mv);
        next = if pv.len() < plies && game.turn(&pos) == Turn::Move {
            best_reply(game, solution, node)
        } else {
            None
        };
    }
    pv
}

/// The move with the best value; among drawing moves the one that leaves the other side most mistakes.
fn best_reply(game: &LGame, solution: &Solution, node: Node) -> Option<Move> {
    let value = |mv: &Move| -solution.score(node.after(*mv));
    let best = game.turns(node.state).map(|mv| value(&mv)).max()?;
    let mut equals = game.turns(node.state).filter(|mv| value(mv) == best);
    if best == Score::DRAW {
        equals.max_by_key(|mv| solution.tally(node.after(*mv)).mistakes_ppm())
    } else {
        equals.next()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Neutrals;
    use super::super::notation::{START, parse_position};
    use super::super::oracle::{game_tree_value, random_states};
    use super::super::tablebase::Tablebase;
    use super::*;
    use plyd_core::game::Side;

    const GAME: LGame = LGame::new(Neutrals::One, 0, 0);
    const PLAYER: Perfect = Perfect { seed: 0, novelty: true, opponent_model: false, depth: None };

    pub(crate) fn legal(game: &LGame, root: &Root<LGame>) -> Vec<Move> {
        let mut moves = Vec::new();
        game.moves(&root.pos, &mut moves);
        moves
    }

    pub(crate) fn ask(
        mut player: Perfect,
        game: &LGame,
        root: &Root<LGame>,
        moves: Vec<Move>,
        multipv: usize,
    ) -> SearchResult<Move> {
        let asked = SearchParams { multipv: multipv.min(moves.len()), moves };
        let (found, end) = player.search(game, root, &asked, &Control::default(), &mut |_| ());
        assert_eq!(end, End::Proven);
        found
    }

    pub(crate) fn answer(player: Perfect, game: &LGame, root: &Root<LGame>) -> Variation<Move> {
        ask(player, game, root, legal(game, root), 1).lines.remove(0)
    }

    fn score(line: &Variation<Move>) -> Score {
        let (value, bound) = line.value.expect("perfect play knows values");
        assert!(value.is_exact() && bound == Bound::Exact);
        value.score
    }

    fn start() -> Root<LGame> {
        Root::new(parse_position(&GAME, START).expect("valid"))
    }

    fn class_after(root: &Root<LGame>, mv: Move) -> State {
        root.pos.state.after(mv.target, mv.tokens).class()
    }

    #[test]
    fn values_and_lines_are_exact_in_every_class() {
        for neutrals in Neutrals::ALL {
            let game = LGame::new(neutrals, 0, 0);
            let classes = State::all().filter(|state| *state == state.class() && !state.is_stuck());
            for (number, state) in
                classes.enumerate().filter(|(number, _)| neutrals == Neutrals::One || number % 7 == 0)
            {
                let root = Root::<LGame>::new(game.position(state.image(number % 8), Side::Second));
                let line = answer(PLAYER, &game, &root);
                let distance = Tablebase::of(neutrals).distance(0, state);
                assert_eq!(score(&line), super::super::solution::score(distance, u32::MAX), "{state:?}");
                let mut pos = root.pos.clone();
                for &mv in &line.pv {
                    assert!(game.turn(&pos) == Turn::Move && game.is_legal(&pos, mv), "{state:?}");
                    game.play(&mut pos, mv);
                }
                match distance {
                    None => assert!((1..=DRAW_PLIES).contains(&line.pv.len())),
                    Some(plies) => {
                        assert_eq!((line.pv.len(), pos.state.is_stuck()), (plies as usize, true));
                        assert_eq!(pos.mover == Side::Second, plies % 2 == 0);
                    }
                }
            }
        }
    }

    #[test]
    fn values_under_all_rules_are_those_of_the_game_tree() {
        for (cap, repetition) in [(3, 0), (5, 2), (6, 3)] {
            let game = LGame::new(Neutrals::None, cap, repetition);
            for state in random_states(u64::from(cap), 60).into_iter().filter(|state| !state.is_stuck()) {
                let mut root = Root::<LGame>::new(game.position(state, Side::First));
                let moves = legal(&game, &root);
                root.play(&game, moves[moves.len() / 2]);
                if game.turn(&root.pos) == Turn::Move {
                    let line = answer(PLAYER, &game, &root);
                    assert_eq!(score(&line), game_tree_value(&game, &mut root.pos.clone()), "{:?}", root.pos);
                }
            }
        }
    }

    #[test]
    fn lines_are_ranked_and_all_different() {
        let found = ask(PLAYER, &GAME, &start(), legal(&GAME, &start()), usize::MAX);
        let scores: Vec<Score> = found.lines.iter().map(score).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b));
        assert_eq!(scores.iter().filter(|score| **score == Score::DRAW).count(), 36);
        let mut indexes: Vec<usize> = found.lines.iter().map(|line| GAME.index(line.pv[0])).collect();
        indexes.sort_unstable();
        indexes.dedup();
        assert_eq!(indexes.len(), 65);
        assert!(
            found
                .lines
                .iter()
                .all(|line| { score(line).distance().is_none_or(|plies| line.pv.len() == plies as usize) })
        );
    }

    #[test]
    fn only_the_moves_asked_for_are_chosen() {
        let all = ask(PLAYER, &GAME, &start(), legal(&GAME, &start()), usize::MAX);
        let losing: Vec<Move> =
            all.lines.iter().filter(|line| score(line).is_loss()).map(|line| line.pv[0]).collect();
        assert_eq!(losing.len(), 29);
        let found = ask(PLAYER, &GAME, &start(), losing.clone(), 3);
        assert_eq!(found.lines.len(), 3);
        assert!(found.lines.iter().all(|line| losing.contains(&line.pv[0]) && score(line).is_loss()));
        // The longest resistance comes first.
        assert_eq!(
            found.lines.iter().map(score).max(),
            all.lines.iter().map(score).filter(|score| score.is_loss()).max()
        );
        assert!(found.lines.is_sorted_by(|a, b| score(a) >= score(b)));
    }

    #[test]
    fn the_trap_with_most_losing_replies_is_set() {
        let root = start();
        let (solution, node) = Solution::new(&GAME, &root.pos);
        let trap = |mv: &Move| solution.tally(node.after(*mv)).mistakes_ppm();
        let drawing =
            legal(&GAME, &root).into_iter().filter(|mv| solution.score(node.after(*mv)) == Score::DRAW);
        let best = drawing.map(|mv| trap(&mv)).max();
        assert_eq!(Some(trap(&answer(PLAYER, &GAME, &root).pv[0])), best);
    }

    #[test]
    fn equal_seeds_give_equal_moves_and_others_vary() {
        // A position with several moves that win at once.
        let wins = |state: &State| {
            let (solution, node) = Solution::new(&GAME, &GAME.position(*state, Side::First));
            GAME.turns(*state).filter(|mv| solution.score(node.after(*mv)) == Score::loss_in(0)).count()
        };
        let state = State::all().find(|state| wins(state) >= 4).expect("such positions exist");
        let root = Root::<LGame>::new(GAME.position(state, Side::First));
        let mut indexes: Vec<usize> = (0..40)
            .map(|seed| {
                let line = answer(Perfect { seed, ..PLAYER }, &GAME, &root);
                assert_eq!(line, answer(Perfect { seed, ..PLAYER }, &GAME, &root));
                assert_eq!(score(&line), Score::win_in(1));
                GAME.index(line.pv[0])
            })
            .collect();
        indexes.sort_unstable();
        indexes.dedup();
        assert!(indexes.len() >= 3, "{indexes:?}");
    }

    #[test]
    fn shown_positions_rank_lower() {
        let mut root = start();
        let first = answer(PLAYER, &GAME, &root).pv[0];
        let shown = class_after(&root, first);
        // Play the move, and come back to the start by moves that exist whatever it was.
        root.play(&GAME, first);
        let mut found = None;
        'search: for reply in legal(&GAME, &root) {
            let mut second = root.clone();
            second.play(&GAME, reply);
            for third in legal(&GAME, &second) {
                let mut after = second.clone();
                after.play(&GAME, third);
                for fourth in legal(&GAME, &after) {
                    if after.pos.state.after(fourth.target, fourth.tokens) == start().pos.state {
                        after.play(&GAME, fourth);
                        found = Some(after);
                        break 'search;
                    }
                }
            }
        }
        let again = found.expect("three plies lead back");
        assert_eq!(again.pos.state, start().pos.state);
        assert_ne!(class_after(&again, answer(PLAYER, &GAME, &again).pv[0]), shown);
        let forgetful = Perfect { novelty: false, ..PLAYER };
        assert_eq!(class_after(&again, answer(forgetful, &GAME, &again).pv[0]), shown);
    }
    #[test]
    fn a_depth_limits_what_is_seen() {
        for state in State::all().filter(|state| *state == state.class() && !state.is_stuck()) {
            let root = Root::<LGame>::new(GAME.position(state, Side::First));
            let asked = SearchParams { moves: legal(&GAME, &root), multipv: 1 };
            let mut player = Perfect { depth: Some(3), ..PLAYER };
            let (found, end) = player.search(&GAME, &root, &asked, &Control::default(), &mut |_| ());
            let line = &found.lines[0];
            let distance = Tablebase::of(Neutrals::One).distance(0, state).filter(|plies| *plies <= 3);
            let expected = distance.map_or(Value::guess(Score::DRAW), |plies| {
                Value::proven(super::super::solution::score(Some(plies), u32::MAX))
            });
            assert_eq!(line.value, Some((expected, Bound::Exact)), "{state:?}");
            assert_eq!(line.pv.len(), distance.map_or(1, |plies| plies as usize));
            assert_eq!(end == End::Proven, distance.is_some());
        }
    }
}
