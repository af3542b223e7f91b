//! Players of games whose [`Game::probe`] proves wins beyond the horizon: they carry out what they announce,
//! and leave no win in one unplayed.

use crate::chase::{Chase, Noise, Probe};
use crate::game::{Game, Root, Side, Turn};
use crate::options::Options;
use crate::rows::Rows;
use crate::score::{Score, Value};
use crate::search::{Control, SearchParams, Searcher, players};
use crate::zobrist::SplitMix64;

/// The nodes of each search.
const NODES: u64 = 20_000;

fn options(player: &str, deterministic: bool) -> Options {
    Options {
        player: player.to_owned(),
        depth: None,
        eval: String::new(),
        threads: 1,
        hash_mb: 1,
        seed: 1,
        level: 10,
        variety: 0,
        deterministic,
        own: Vec::new(),
    }
}

fn legal<G: Game>(game: &G, pos: &G::Position) -> Vec<G::Move> {
    let mut moves = Vec::new();
    match game.turn(pos) {
        Turn::Over(_) => {}
        Turn::Move => game.moves(pos, &mut moves),
        Turn::Chance => {
            let mut outcomes = Vec::new();
            game.outcomes(pos, &mut outcomes);
            moves.extend(outcomes.into_iter().map(|(mv, _)| mv));
        }
    }
    moves
}

fn winner<G: Game>(game: &G, pos: &G::Position) -> Option<Side> {
    if let Turn::Over(outcome) = game.turn(pos) { outcome.winner } else { None }
}

/// A player whose moves are checked.
struct Checked<'a, G: Game> {
    game: &'a G,
    name: String,
    player: Box<dyn Searcher<G>>,
    /// How many more moves may be asked for.
    asks: usize,
    announced: usize,
    at_once: usize,
}

impl<'a, G: Game> Checked<'a, G> {
    fn new(game: &'a G, name: &str, deterministic: bool) -> Self {
        let player = players::build(game, Noise, &options(name, deterministic)).unwrap();
        Self { game, name: name.to_owned(), player, asks: 300, announced: 0, at_once: 0 }
    }

    /// The player's move, and within how many plies it wins if it says so.
    fn ask(&mut self, root: &Root<G>) -> (G::Move, Option<u32>) {
        let moves = legal(self.game, &root.pos);
        let control = Control::default();
        control.set_limits(Some(NODES), Some(60));
        let asked = SearchParams { moves: moves.clone(), multipv: 1 };
        let (found, _) = self.player.search(self.game, root, &asked, &control, &mut |_| ());
        let line = &found.lines[0];
        let win = |(value, _): (Value, _)| {
            value.score.distance().filter(|_| value.is_decided() && value.score.is_win())
        };
        let (mv, plies) = (line.pv[0], line.value.and_then(win));
        let me = self.game.side(&root.pos);
        let wins = |&mv: &G::Move| {
            let mut next = root.clone();
            next.play(self.game, mv);
            winner(self.game, &next.pos) == Some(me)
        };
        if moves.iter().any(wins) {
            self.at_once += 1;
            assert!(wins(&mv), "{}: a win in one is left for a win in {plies:?}", self.name);
        }
        (mv, plies)
    }

    /// Asks for moves after each reply and each chance outcome, or after `some` of them: a win that was
    /// announced within `left` plies is one.
    fn play_out(&mut self, root: &Root<G>, left: u32, mut some: Option<&mut SplitMix64>) {
        if self.asks == 0 {
            return;
        }
        self.asks -= 1;
        let me = self.game.side(&root.pos);
        let (mv, plies) = self.ask(root);
        let plies = plies.unwrap_or_else(|| panic!("{}: no win instead of one in {left}", self.name));
        assert!(plies <= left, "{}: a win in {plies} instead of {left}", self.name);
        let mut waiting = vec![(root.clone(), vec![mv])];
        while let Some((root, mut moves)) = waiting.pop() {
            if let Some(random) = some.as_mut() {
                moves = vec![moves[random.below(moves.len())]];
            }
            for mv in moves {
                let mut next = root.clone();
                next.play(self.game, mv);
                if let Turn::Over(outcome) = self.game.turn(&next.pos) {
                    assert_eq!(outcome.winner, Some(me), "the game is not won");
                } else if self.game.turn(&next.pos) == Turn::Move && self.game.side(&next.pos) == me {
                    assert!(plies > 2, "the game goes on");
                    self.play_out(&next, plies - 2, some.as_deref_mut());
                } else {
                    let replies = legal(self.game, &next.pos);
                    waiting.push((next, replies));
                }
            }
        }
    }

    /// Asks for a move in a position; if a win is announced, plays it out.
    fn check(&mut self, root: &Root<G>, some: Option<&mut SplitMix64>) -> Option<u32> {
        let (_, plies) = self.ask(root);
        if let Some(plies) = plies {
            self.announced += 1;
            self.asks = 300;
            self.play_out(root, plies, some);
        }
        plies
    }
}

/// Plays all that is won on some boards out; gives how many wins were announced.
fn chase<const CHANCE: bool>(player: &str, probe: Probe) -> usize {
    let mut announced = 0;
    for seed in 0..8 {
        let game = Chase::<CHANCE>::new(seed, 60, probe);
        let mut random = SplitMix64::new(seed);
        let mut found = 0;
        for square in game.squares() {
            let Some(truth) = game.truth(square).filter(|score| *score >= Score::win_in(100)) else {
                continue;
            };
            // A tree finds what it promised again in its own memory.
            let is_tree = player == "tree";
            let mut checked = Checked::new(&game, player, !is_tree);
            let plies = checked.check(&Root::new(square), is_tree.then_some(&mut random));
            if probe == Probe::All {
                assert_eq!(plies, truth.distance(), "the quickest win");
            }
            found += usize::from(plies > Some(3));
            announced += checked.announced;
            if found == 5 {
                break;
            }
        }
    }
    announced
}

#[test]
fn wins_of_a_perfect_table_are_won_as_quickly_as_they_can_be() {
    for player in ["default", "tree"] {
        let counts = (chase::<false>(player, Probe::All), chase::<true>(player, Probe::All));
        assert!(counts.0 > 100 && counts.1 > 50, "{player}: {counts:?}");
    }
}

#[test]
fn wins_of_a_table_with_gaps_are_kept() {
    for probe in [Probe::Some, Probe::Nothing] {
        let counts = (chase::<false>("default", probe), chase::<true>("default", probe));
        assert!(counts.0 > 100 && counts.1 > 50, "{probe:?}: {counts:?}");
    }
}

#[test]
fn wins_within_a_bound_of_their_distance_are_kept() {
    for player in ["default", "tree"] {
        let counts = (chase::<false>(player, Probe::Loose), chase::<true>(player, Probe::Loose));
        assert!(counts.0 > 100 && counts.1 > 50, "{player}: {counts:?}");
    }
}

#[test]
fn a_theorem_about_threats_costs_no_win() {
    for (width, height, row, plies) in [(4, 4, 3, 4), (5, 4, 4, 8), (5, 5, 4, 9)] {
        let game = Rows::new(width, height, row);
        let mut random = SplitMix64::new(7);
        for player in ["default", "tree"] {
            let (mut announced, mut at_once) = (0, 0);
            for _ in 0..100 {
                let mut root = Root::new(game.start());
                for _ in 0..plies {
                    let moves = legal(&game, &root.pos);
                    if !moves.is_empty() {
                        root.play(&game, moves[random.below(moves.len())]);
                    }
                }
                if game.turn(&root.pos) != Turn::Move {
                    continue;
                }
                let is_tree = player == "tree";
                let mut checked = Checked::new(&game, player, !is_tree);
                checked.check(&root, is_tree.then_some(&mut random));
                announced += checked.announced;
                at_once += checked.at_once;
            }
            assert!(announced > 10 && at_once > 10, "{player} {width}x{height}: {announced} {at_once}");
        }
    }
}
