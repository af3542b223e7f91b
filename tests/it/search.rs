//! The searches against plain minimax: on random game trees in which players may move twice, chance may
//! decide, and lines join again.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::common::is_whole;
use crate::random_tree::{Node, Noise, SelectiveNoise, Tree};
use plyd::game::{Context, Evaluator, Game, Outcome, Root, Side, Turn};
use plyd::games::isolation::eval::Race;
use plyd::games::isolation::notation::Layout;
use plyd::games::isolation::rules::{Isolation, Target};
use plyd::options::Options;
use plyd::score::Score;
use plyd::search::{Bound, Control, End, SearchParams, SearchResult, Searcher, players};
use plyd::zobrist::mix;

/// The value of a position by the definition, from the view of its side.
fn oracle<const C: bool, const S: bool>(game: &Tree<C, S>, pos: &Node, depth: u32, distance: u32) -> Score {
    let side = game.side(pos);
    let after = |mv: u8, depth, distance| {
        let mut next = *pos;
        game.play(&mut next, mv);
        let score = oracle(game, &next, depth, distance);
        if game.side(&next) == side { score } else { -score }
    };
    match game.turn(pos) {
        Turn::Over(outcome) if S => {
            let [first, second] = outcome.scores.unwrap();
            Score::eval(if side == Side::First { first - second } else { second - first } * 1000)
        }
        Turn::Over(Outcome { winner: None, .. }) => Score::DRAW,
        Turn::Over(Outcome { winner, .. }) if winner == Some(side) => Score::win_in(distance),
        Turn::Over(_) => Score::loss_in(distance),
        Turn::Chance => {
            let mut outcomes = Vec::new();
            game.outcomes(pos, &mut outcomes);
            let scores: Vec<Score> = outcomes.iter().map(|&(mv, _)| after(mv, depth, distance)).collect();
            // All won or all lost is a result; everything else is an average.
            if scores.iter().all(|score| score.is_win()) {
                return *scores.iter().min().unwrap();
            }
            if scores.iter().all(|score| score.is_loss()) {
                return *scores.iter().max().unwrap();
            }
            let total: i64 = outcomes.iter().map(|&(_, weight)| i64::from(weight)).sum();
            let sum: i64 = scores
                .iter()
                .zip(&outcomes)
                .map(|(score, &(_, weight))| {
                    i64::from(score.raw().clamp(-100_000, 100_000)) * i64::from(weight)
                })
                .sum();
            Score::eval((sum as f64 / total as f64).round() as i32)
        }
        Turn::Move if depth == 0 => Noise.evaluate(game, pos, &Context { root: side, last: None }),
        Turn::Move => {
            let mut moves = Vec::new();
            game.moves(pos, &mut moves);
            moves.into_iter().map(|mv| after(mv, depth - 1, distance + 1)).max().unwrap()
        }
    }
}

/// What the moves of a game's first position are worth by the definition. Each is computed once.
struct Worths<'a, const C: bool, const S: bool> {
    game: &'a Tree<C, S>,
    known: RefCell<HashMap<(u8, u32), Score>>,
}

impl<'a, const C: bool, const S: bool> Worths<'a, C, S> {
    fn new(game: &'a Tree<C, S>) -> Self {
        Self { game, known: RefCell::default() }
    }

    /// What a move is worth by a search to this depth, the move itself included.
    fn at(&self, mv: u8, depth: u32) -> Score {
        *self.known.borrow_mut().entry((mv, depth)).or_insert_with(|| {
            let mut next = ROOT;
            self.game.play(&mut next, mv);
            let score = oracle(self.game, &next, depth - 1, 1);
            if self.game.side(&next) == self.game.side(&ROOT) { score } else { -score }
        })
    }

    /// What a move is worth when the game is played to its end.
    fn truth(&self, mv: u8) -> Score {
        self.at(mv, self.game.plies + 1)
    }
}

/// The first position of a random game.
const ROOT: Node = Node { state: 0, ply: 0, lead: 0 };

/// The moves of a game's first position.
fn legal<const C: bool, const S: bool>(game: &Tree<C, S>) -> Vec<u8> {
    let mut legal = Vec::new();
    game.moves(&ROOT, &mut legal);
    legal
}

fn options(player: &str) -> Options {
    Options { player: player.to_owned(), hash_mb: 1, seed: 1, deterministic: true, ..Options::default() }
}

fn search<const C: bool, const S: bool>(
    game: &Tree<C, S>,
    options: &Options,
    moves: &[u8],
    multipv: usize,
    depth: u32,
) -> (SearchResult<u8>, End) {
    search_by(Noise, game, options, moves, multipv, depth)
}

fn search_by<const C: bool, const S: bool>(
    evaluator: impl Evaluator<Tree<C, S>>,
    game: &Tree<C, S>,
    options: &Options,
    moves: &[u8],
    multipv: usize,
    depth: u32,
) -> (SearchResult<u8>, End) {
    let root = Root::new(ROOT);
    let control = Control::default();
    control.set_limits(None, Some(depth));
    let mut player = players::build(game, evaluator, options).unwrap();
    let mut last = None;
    let asked = SearchParams { moves: moves.to_vec(), multipv: multipv.min(moves.len()) };
    let (found, end) = player.search(game, &root, &asked, &control, &mut |found| last = Some(found.clone()));
    assert_eq!(last.as_ref(), Some(&found), "the last answer was published");
    (found, end)
}

/// Checks every line of an answer: legal to its end, ranked, and worth what minimax says of its first move.
fn check<const C: bool, const S: bool>(
    worths: &Worths<'_, C, S>,
    found: &SearchResult<u8>,
    moves: &[u8],
    depth: u32,
    end: End,
) {
    let game = worths.game;
    let mut expected: Vec<Score> = moves.iter().map(|&mv| worths.at(mv, depth)).collect();
    expected.sort_by(|a, b| b.cmp(a));
    for (rank, line) in found.lines.iter().enumerate() {
        let (value, bound) = line.value.expect("a search scores");
        assert_eq!(bound, Bound::Exact);
        assert!(moves.contains(&line.pv[0]));
        let mut pos = ROOT;
        for &mv in &line.pv {
            let legal = match game.turn(&pos) {
                Turn::Over(_) => false,
                Turn::Move => game.is_legal(&pos, mv),
                Turn::Chance => true,
            };
            assert!(legal, "{line:?}");
            game.play(&mut pos, mv);
        }
        // Once proven the search ends, at a depth that need not be the limit.
        if end == End::Proven {
            let truth = worths.truth(line.pv[0]);
            let class = |score: Score| (score.is_win(), score.is_loss(), if S { score.raw() } else { 0 });
            assert_eq!(class(value.score), class(truth), "{line:?}");
        } else if C && value.score.is_win() {
            // Where chance decides when the game is won, the distance is a bound; what is claimed of it is
            // checked below.
            assert!(expected[rank].is_win());
        } else if C && value.score.is_loss() {
            assert!(expected[rank].is_loss());
        } else {
            assert_eq!(value.score, expected[rank], "rank {rank} of {found:?}");
            assert_eq!(value.score, worths.at(line.pv[0], depth), "the move is worth its score: {found:?}");
        }
    }
    check_proofs(worths, found, moves);
}

/// Checks what the lines of an answer claim to be proven: for a line's move, and of the first for the
/// position. Gives how many claims there are.
fn check_proofs<const C: bool, const S: bool>(
    worths: &Worths<'_, C, S>,
    found: &SearchResult<u8>,
    moves: &[u8],
) -> usize {
    let mut claims = 0;
    for (rank, line) in found.lines.iter().enumerate() {
        let (value, _) = line.value.expect("a search scores");
        let mut truths = vec![worths.truth(line.pv[0])];
        if rank == 0 {
            truths.push(moves.iter().map(|&mv| worths.truth(mv)).max().unwrap());
        }
        for truth in truths {
            assert!(!value.at_most || truth <= value.score, "{truth:?} in {found:?}");
            assert!(!value.at_least || truth >= value.score, "{truth:?} in {found:?}");
        }
        claims += usize::from(value.at_most) + usize::from(value.at_least);
    }
    claims
}

fn compare<const C: bool, const S: bool>(player: &str, seeds: u64, depths: std::ops::RangeInclusive<u32>) {
    let mut ends = [0; 2];
    for seed in 0..seeds {
        let game = Tree::<C, S> { seed: mix(seed), width: 3 + seed % 40, plies: 5 + (seed % 6) as u32 };
        let (legal, worths) = (legal(&game), Worths::new(&game));
        for depth in depths.clone() {
            for multipv in [1, 2, 4] {
                let player = Options { depth: (player != "default").then_some(depth), ..options(player) };
                let (found, end) = search(&game, &player, &legal, multipv, depth);
                assert_eq!(found.lines.len(), multipv.min(legal.len()));
                check(&worths, &found, &legal, depth, end);
                ends[usize::from(end == End::Proven)] += 1;
                let some = &legal[legal.len() / 2..];
                let (found, end) = search(&game, &player, some, multipv, depth);
                check(&worths, &found, some, depth, end);
            }
        }
    }
    assert!(ends.iter().all(|&count| count > 20), "both kinds of end occur: {ends:?}");
}

/// How many trees are tried of so many. The first third has every width and every length.
fn sampled(seeds: u64) -> u64 {
    if is_whole() { seeds } else { seeds / 3 }
}

#[test]
fn default_equals_minimax() {
    compare::<false, false>("default", sampled(300), 1..=8);
}

#[test]
fn default_equals_minimax_on_margins() {
    compare::<false, true>("default", sampled(300), 1..=8);
}

#[test]
fn default_equals_expectimax() {
    compare::<true, false>("default", sampled(200), 1..=5);
}

#[test]
fn default_equals_expectimax_on_margins() {
    compare::<true, true>("default", sampled(200), 1..=5);
}

#[test]
fn plain_searches_equal_minimax() {
    compare::<false, false>("minimax", 100, 1..=5);
    compare::<false, false>("alphabeta", 100, 1..=5);
    compare::<false, true>("alphabeta", 100, 1..=5);
}

#[test]
fn plain_searches_equal_expectimax() {
    compare::<true, false>("minimax", 60, 1..=4);
    compare::<true, false>("alphabeta", 60, 1..=4);
}

#[test]
fn a_selective_search_claims_nothing_false() {
    let mut claims = 0;
    for seed in 0..200 {
        let game = Tree::<false, false> { seed: mix(seed + 9000), width: 3 + seed % 60, plies: 12 };
        let (legal, worths) = (legal(&game), Worths::new(&game));
        for (depth, multipv) in [(7, 1), (8, 2), (10, 1), (11, 4), (13, 1)] {
            let (found, _) = search_by(SelectiveNoise, &game, &options("default"), &legal, multipv, depth);
            claims += check_proofs(&worths, &found, &legal);
        }
    }
    assert!(claims > 1000, "{claims} claims");
}

/// What a tree search claims to be proven of random games, and how many of them it proves whole.
fn grow<const C: bool, const S: bool>(threads: usize) -> (usize, usize) {
    let (mut claims, mut proven) = (0, 0);
    for seed in 0..100 {
        let game = Tree::<C, S> { seed: mix(seed + 400), width: 3 + seed % 60, plies: 3 + (seed % 8) as u32 };
        let (legal, worths) = (legal(&game), Worths::new(&game));
        let options = Options { threads, deterministic: threads == 1, ..options("tree") };
        for depth in [1, 3, 6] {
            let (found, end) = search(&game, &options, &legal, 1, depth);
            if found.lines[0].value.is_some() {
                claims += check_proofs(&worths, &found, &legal);
            }
            if end == End::Proven {
                check(&worths, &found, &legal, depth, end);
                proven += 1;
            }
        }
    }
    (claims, proven)
}

#[test]
fn a_tree_search_claims_nothing_false_and_proves_small_games() {
    for (name, (claims, proven)) in [
        ("win or loss", grow::<false, false>(1)),
        ("margins", grow::<false, true>(1)),
        ("chance", grow::<true, false>(1)),
        ("three threads", grow::<false, false>(3)),
    ] {
        assert!(claims > 80 && proven > 15, "{name}: {claims} claims, {proven} proven");
    }
}

#[test]
fn a_tree_is_grown_on_after_a_move() {
    let game = Isolation::<u64>::new(7, 7);
    let options = Options { deterministic: false, hash_mb: 16, ..options("tree") };
    let search = |player: &mut dyn Searcher<_>, root: &Root<Isolation<u64>>, nodes| {
        let mut moves = Vec::new();
        game.moves(&root.pos, &mut moves);
        let control = Control::default();
        control.set_limits(Some(nodes), None);
        let (found, _) =
            player.search(&game, root, &SearchParams { multipv: 1, moves }, &control, &mut |_| ());
        (found, control.stats().depth)
    };
    let player = || players::build(&game, Race::new(&game), &options).unwrap();
    let (mut cold, mut warm) = (0, 0);
    for text in KNIGHTS {
        let mut root = Root::new(Layout::parse(text).unwrap().position(&game));
        let mut kept = player();
        let (found, _) = search(&mut *kept, &root, 20_000);
        for &mv in &found.lines[0].pv[..2] {
            root.play(&game, mv);
        }
        warm += search(&mut *kept, &root, 100).1;
        cold += search(&mut *player(), &root, 100).1;
    }
    assert!(warm > cold, "depth {warm} after another search, {cold} without");
}

#[test]
fn a_tree_that_fills_its_memory_is_pruned_and_grows_on() {
    let game = Isolation::<u64>::new(7, 7);
    let root = Root::new(Layout::parse(KNIGHTS[0]).unwrap().position(&game));
    let mut moves = Vec::new();
    game.moves(&root.pos, &mut moves);
    let search = |hash_mb, threads| {
        let options = Options { threads, deterministic: threads == 1, hash_mb, ..options("tree") };
        let mut player = players::build(&game, Race::new(&game), &options).unwrap();
        let control = Control::default();
        control.set_limits(Some(600_000), None);
        let asked = SearchParams { multipv: 1, moves: moves.clone() };
        let (found, _) = player.search(&game, &root, &asked, &control, &mut |_| ());
        (found, control.stats())
    };
    let (_, whole) = search(64, 1);
    assert!(whole.hash_ppm > 3 * 1_000_000 / 64, "it would fill a megabyte three times: {whole:?}");
    for threads in [1, 3] {
        let (found, pruned) = search(1, threads);
        assert!(pruned.hash_ppm < 1_000_000, "{pruned:?}");
        assert!(pruned.seldepth + 4 > whole.seldepth, "{pruned:?}, {whole:?}");
        assert!(moves.contains(&found.lines[0].pv[0]));
    }
    assert_eq!(search(1, 1), search(1, 1));
}

#[test]
fn threads_prove_the_same_results() {
    let mut options = options("default");
    options.deterministic = false;
    options.threads = 3;
    // Large enough that there is work to share.
    for seed in 0..40 {
        let game = Tree::<false, false> { seed: mix(seed + 7000), width: 5000, plies: 13 };
        let (legal, worths) = (legal(&game), Worths::new(&game));
        // A helper's deeper entries change evaluations, but nothing that is proven.
        let (found, _) = search(&game, &options, &legal, 1, 14);
        check(&worths, &found, &legal, 14, End::Proven);
    }
}

#[test]
fn a_node_limit_gives_the_same_answer_each_time() {
    let game = Tree::<false, false> { seed: 5, width: 100_000, plies: 40 };
    let run = |nodes| {
        let root = Root::new(Node { state: 3, ply: 0, lead: 0 });
        let control = Control::default();
        control.set_limits(Some(nodes), None);
        let mut player = players::build(&game, Noise, &options("default")).unwrap();
        let mut moves = Vec::new();
        game.moves(&root.pos, &mut moves);
        let asked = SearchParams { multipv: 1, moves };
        let answer = player.search(&game, &root, &asked, &control, &mut |_| {});
        (answer, control.stats())
    };
    for nodes in [1, 2, 100, 5_000, 54_321] {
        let (first, second) = (run(nodes), run(nodes));
        assert_eq!(first, second);
        assert!(first.1.nodes <= nodes || first.0.1 == End::Proven, "{:?} of {nodes}", first.1);
    }
}

/// Positions of knight Isolation in which both sides have their chances.
const KNIGHTS: [&str; 4] = [
    "......./....1x./.x...../...xx../..2..../......./....... 1",
    "..x..../....x../.2.x..x/.....1./......./......./....... 1",
    ".x...../...x.../x.1..2./..x..../......./......./....... 1",
    ".x...../...2.../x....../..x..../.1...../.x...../....... 1",
];

/// A search of knight Isolation to a depth: what it found, and its nodes.
fn search_knights(
    player: &mut dyn Searcher<Isolation<u64>>,
    game: &Isolation<u64>,
    root: &Root<Isolation<u64>>,
    multipv: usize,
    depth: u32,
) -> (SearchResult<Target>, u64) {
    let mut moves = Vec::new();
    game.moves(&root.pos, &mut moves);
    let control = Control::default();
    control.set_limits(None, Some(depth));
    let asked = SearchParams { multipv: multipv.min(moves.len()), moves };
    let (found, _) = player.search(game, root, &asked, &control, &mut |_| {});
    (found, control.stats().nodes)
}

#[test]
fn a_search_profits_from_the_one_two_plies_before() {
    let game = Isolation::<u64>::new(7, 7);
    let options = Options { deterministic: false, hash_mb: 16, ..options("default") };
    let player = || players::build(&game, Race::new(&game), &options).unwrap();
    let (mut cold, mut warm) = (0, 0);
    for text in KNIGHTS {
        let mut root = Root::new(Layout::parse(text).unwrap().position(&game));
        let mut kept = player();
        let (found, _) = search_knights(&mut *kept, &game, &root, 1, 14);
        for &mv in &found.lines[0].pv[..2] {
            root.play(&game, mv);
        }
        warm += search_knights(&mut *kept, &game, &root, 1, 14).1;
        cold += search_knights(&mut *player(), &game, &root, 1, 14).1;
    }
    assert!(warm * 10 < cold * 9, "{warm} nodes after another search, {cold} without");
}

#[test]
fn three_lines_cost_less_than_three_searches() {
    let game = Isolation::<u64>::new(7, 7);
    let nodes = |multipv| -> u64 {
        let search = |text| {
            let root = Root::new(Layout::parse(text).unwrap().position(&game));
            let mut player = players::build(&game, Race::new(&game), &options("default")).unwrap();
            search_knights(&mut *player, &game, &root, multipv, 13).1
        };
        KNIGHTS.into_iter().map(search).sum()
    };
    let (one, three) = (nodes(1), nodes(3));
    assert!(three < 3 * one, "{three} nodes for three lines, {one} for one");
}

#[test]
fn a_stopped_search_still_has_an_answer() {
    let game = Tree::<false, false> { seed: 5, width: 100_000, plies: 40 };
    for player in ["default", "random", "greedy", "minimax", "alphabeta", "tree"] {
        let root = Root::new(Node { state: 3, ply: 0, lead: 0 });
        let control = Control::default();
        control.stop();
        let mut searcher = players::build(&game, Noise, &options(player)).unwrap();
        let mut moves = Vec::new();
        game.moves(&root.pos, &mut moves);
        let asked = SearchParams { multipv: 1, moves: moves.clone() };
        let (found, _) = searcher.search(&game, &root, &asked, &control, &mut |_| {});
        assert!(moves.contains(&found.lines[0].pv[0]), "{player}");
    }
}
