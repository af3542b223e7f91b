//! The solver and the theory as the second opinion of the default player.

use super::rules::{Isolation, Position, Target};
use super::solver::{Solver, expected_nodes, order_of};
use super::theory::{self, value};
use plyd_core::bits::Bits;
use plyd_core::score::Value;
use plyd_core::search::proving::Prover;
use plyd_core::search::thread::SearchThread;

impl<B: Bits> Prover<Isolation<B>> for Solver<B> {
    fn at_sight(&self, game: &Isolation<B>, pos: &Position<B>) -> Option<(Value, Option<Target>)> {
        let (won, mv) = match theory::at_sight(game, pos) {
            Some(known) => (known.won, known.mv),
            None => (self.remembers(game, pos)?, None),
        };
        Some((value(game, pos, won), mv))
    }

    fn decide(
        &mut self,
        game: &Isolation<B>,
        pos: &Position<B>,
        thread: &mut SearchThread<'_>,
    ) -> Option<Value> {
        Some(value(game, pos, self.wins(game, pos, thread)?))
    }

    fn expected_nodes(&self, game: &Isolation<B>, pos: &Position<B>) -> u64 {
        expected_nodes(game, pos)
    }

    fn order(&self, game: &Isolation<B>, pos: &Position<B>, mv: Target) -> i32 {
        order_of(game, pos, mv)
    }

    fn clear(&mut self) {
        Self::clear(self);
    }
}

#[cfg(test)]
mod tests {
    use super::super::eval::Race;
    use super::super::notation::Layout;
    use super::super::oracle::{Oracle, random_games};
    use super::*;
    use plyd_core::bits::Colours;
    use plyd_core::game::{Game, Root, Setting, Turn};
    use plyd_core::options::{EXACT, Options};
    use plyd_core::search::prover_player::ProverPlayer;
    use plyd_core::search::proving::Proving;
    use plyd_core::search::{Control, End, SearchParams, SearchResult, Searcher};

    /// A lost position that takes the solver some 460,000 nodes.
    const MIDDLE: &str = ".x....x..../....x.12.../x.x.x....../..x...xxx../.xx.xx.xx../x.....x.x../....x....../..xxx..x.x./..xxx.xxx.. 1";

    fn options(threads: usize, exact: bool) -> Options {
        Options {
            threads,
            hash_mb: 1,
            deterministic: threads == 1,
            own: vec![(EXACT.name, Setting::Bool(exact))],
            ..Options::default()
        }
    }

    /// Searches without a clock, and checks that what is published, and at the end what is returned, is
    /// legal.
    fn search(
        searcher: &mut dyn Searcher<Isolation<u64>>,
        game: &Isolation<u64>,
        pos: &Position<u64>,
        multipv: usize,
        only: impl Fn(usize) -> bool,
    ) -> (SearchResult<Target>, End) {
        let mut moves = Vec::new();
        game.moves(pos, &mut moves);
        let mut index = 0..;
        moves.retain(|_| only(index.next().expect("endless")));
        let multipv = multipv.min(moves.len());
        let mut last = None;
        let asked = SearchParams { moves, multipv };
        let answer = searcher.search(game, &Root::new(*pos), &asked, &Control::default(), &mut |found| {
            assert_eq!(found.lines.len(), multipv);
            last = Some(found.clone());
        });
        assert!(answer.0.lines.iter().all(|line| asked.moves.contains(&line.pv[0])));
        assert_eq!(Some(&answer.0), last.as_ref());
        answer
    }

    /// Every small position that has a move to choose, from random games, with the oracle's view of it.
    fn positions(mut visit: impl FnMut(&Isolation<u64>, &Position<u64>, &Oracle)) {
        for (width, height) in [(3, 3), (4, 4), (5, 4), (5, 5)] {
            let game = Isolation::new(width, height);
            random_games(width as i32, height as i32, 12, |ply, oracle| {
                let few = oracle.open.len() < 13 && !oracle.legal_moves(oracle.active).is_empty();
                if few && ply > 1 {
                    visit(&game, &Layout::parse(&oracle.text()).unwrap().position(&game), oracle);
                }
            });
        }
    }

    /// The outcome and the distance after each legal move, from the mover's view.
    fn truth(oracle: &Oracle) -> Vec<(bool, u32)> {
        let moves = oracle.legal_moves(oracle.active);
        moves
            .into_iter()
            .map(|place| oracle.after(place).solve())
            .map(|(won, plies)| (!won, plies + 1))
            .collect()
    }

    /// Whether a value says what is true: the outcome exactly, the distance exactly or as a bound.
    fn is_true(value: Value, (won, plies): (bool, u32)) -> bool {
        let distance = value.score.distance().expect("decided");
        let is_distance_true = if value.is_exact() { plies == distance } else { plies <= distance };
        value.is_decided() && value.score.is_win() == won && is_distance_true
    }

    #[test]
    fn every_player_with_the_solver_values_every_line_truly() {
        let mut seen = 0;
        positions(|game, pos, oracle| {
            let moves = oracle.legal_moves(oracle.active);
            let truth = truth(oracle);
            let wins = truth.iter().filter(|after| after.0).count();
            let mut players: [Box<dyn Searcher<Isolation<u64>>>; 3] = [
                Box::new(Proving::new(game, Race::new(game), Solver::new(game), &options(1, false))),
                Box::new(Proving::new(game, Race::new(game), Solver::new(game), &options(2, false))),
                Box::new(ProverPlayer::new(Solver::new(game), &options(1, false))),
            ];
            for player in &mut players {
                for multipv in [1, 2, 8] {
                    let (found, end) = search(&mut **player, game, pos, multipv, |_| true);
                    assert_eq!(end, End::Proven, "{}", oracle.text());
                    for (rank, line) in found.lines.iter().enumerate() {
                        let cell =
                            (i32::from(line.pv[0].0) / oracle.width, i32::from(line.pv[0].0) % oracle.width);
                        let at = moves.iter().position(|&place| place == cell).expect("legal");
                        let (value, _) = line.value.expect("a value");
                        assert!(is_true(value, truth[at]), "{value:?} {:?} {}", truth[at], oracle.text());
                        assert_eq!(value.score.is_win(), rank < wins, "wins first: {}", oracle.text());
                        seen += 1;
                    }
                }
                // Half of the moves alone.
                if moves.len() > 1 {
                    let (found, _) = search(&mut **player, game, pos, 1, |index| index % 2 == 1);
                    let best = truth.iter().skip(1).step_by(2).any(|after| after.0);
                    assert_eq!(found.lines[0].value.expect("a value").0.score.is_win(), best);
                }
            }
        });
        assert!(seen > 1000, "{seen}");
    }

    #[test]
    fn an_announced_win_is_kept_from_the_first_line_on() {
        let game = Isolation::<u64>::new(7, 7);
        let (control, mut judge) = (Control::default(), Solver::new(&game));
        let (mut kept, mut announced) = (0, 0);
        random_games(7, 7, 12, |ply, oracle| {
            if ply != 9 || oracle.legal_moves(oracle.active).is_empty() {
                return;
            }
            let mut player = Proving::new(&game, Race::new(&game), Solver::new(&game), &options(1, false));
            let mut root: Root<Isolation<u64>> =
                Root::new(Layout::parse(&oracle.text()).unwrap().position(&game));
            let mut left = u32::MAX;
            // Later the table has no entries, and a search sees the end at once.
            while game.turn(&root.pos) == Turn::Move && root.pos.open().len() > 24 {
                let mut moves = Vec::new();
                game.moves(&root.pos, &mut moves);
                let asked = SearchParams { moves, multipv: 1 };
                let mut first = None;
                let (found, _) = player.search(&game, &root, &asked, &control, &mut |found| {
                    first = first.or(Some(found.lines[0].pv[0]));
                });
                let line = &found.lines[0];
                let Some((value, _)) = line.value.filter(|(value, _)| value.score.is_win()) else { break };
                let plies = value.score.distance().expect("a win");
                assert!(plies <= left, "{plies} instead of {left} after {:?}: {}", root.plies, oracle.text());
                left = plies.saturating_sub(2);
                if !root.plies.is_empty() {
                    let mut after = root.pos;
                    game.play(&mut after, first.expect("something is published"));
                    let lost = judge.wins(&game, &after, &mut SearchThread::alone(&control)) == Some(false);
                    (kept, announced) = (kept + usize::from(lost), announced + 1);
                }
                root.play(&game, line.pv[0]);
                let mut replies = Vec::new();
                game.moves(&root.pos, &mut replies);
                if let Some(&reply) = replies.first() {
                    root.play(&game, reply);
                }
            }
        });
        assert!(announced > 30 && kept * 10 >= announced * 9, "{kept} of {announced}");
    }

    #[test]
    fn the_option_exact_gives_the_exact_distance() {
        positions(|game, pos, oracle| {
            for threads in [1, 2] {
                let options = options(threads, true);
                let mut player = Proving::new(game, Race::new(game), Solver::new(game), &options);
                let (found, end) = search(&mut player, game, pos, 1, |_| true);
                let value = found.lines[0].value.expect("a value").0;
                assert!(value.is_exact() && end == End::Proven, "{value:?} {}", oracle.text());
                assert!(is_true(value, oracle.solve()), "{value:?} {}", oracle.text());
            }
        });
    }

    #[test]
    fn a_node_limit_is_kept_and_deterministic_searches_repeat_themselves() {
        let game = Isolation::<Colours<u64>>::new(11, 9);
        let root = Root::new(Layout::parse(MIDDLE).unwrap().position(&game));
        let mut moves = Vec::new();
        game.moves(&root.pos, &mut moves);
        let asked = SearchParams { moves, multipv: 1 };
        let mut player = Proving::new(&game, Race::new(&game), Solver::new(&game), &options(1, false));
        for limit in [1, 30_000, 300_000, 900_000] {
            let mut answers = Vec::new();
            for _ in 0..2 {
                let control = Control::default();
                control.set_limits(Some(limit), None);
                let mut seen = 0;
                let answer = player.search(&game, &root, &asked, &control, &mut |_| {
                    let nodes = control.stats().nodes;
                    assert!((seen..=limit).contains(&nodes), "{nodes} after {seen} of {limit}");
                    seen = nodes;
                });
                assert!(control.stats().nodes <= limit);
                answers.push((answer, control.stats()));
            }
            assert_eq!(answers[0], answers[1], "{limit} nodes");
        }
    }

    #[test]
    fn seven_by_seven_is_decided_without_search() {
        let game = Isolation::<u64>::new(7, 7);
        let mut player = Proving::new(&game, Race::new(&game), Solver::new(&game), &options(1, false));
        let mut pos = game.start();
        for (ply, wins) in [(0, false), (1, true), (2, false)] {
            let (found, end) = search(&mut player, &game, &pos, 1, |_| true);
            assert_eq!(end, End::Proven);
            let line = &found.lines[0];
            assert_eq!(line.value.expect("a value").0.score.is_win(), wins, "ply {ply}: {line:?}");
            game.play(&mut pos, line.pv[0]);
        }
    }
}
