//! IJK in which the cells of new tiles are drawn beforehand: a game without chance, for searches that average
//! over draws.

use super::board::Board;
use super::rules::{Ijk, Move, Position};
use plyd_core::game::{Context, Evaluator, FutilityMargins, Game, LateMoveReductions, Turn};
use plyd_core::score::Score;
use plyd_core::search::ensemble::Draw;
use plyd_core::zobrist::mix;

/// The game of chance with one draw of all its tiles: where a tile goes depends on the board alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drawn<B> {
    game: Ijk<true, B>,
    /// A key that follows from the number of the draw.
    key: u64,
    /// The hash of a board whose tile is not drawn, and where it lies among the empty cells: see
    /// [`Draw::drawn_but`].
    but: (u64, u32),
}

impl<B: Board> Drawn<B> {
    /// The cell where the awaited tile of a position goes.
    #[inline]
    fn cell(&self, pos: &Position<B>) -> u8 {
        let empty = self.game.empty(pos);
        let hash = pos.board().key(0);
        let draw = if hash == self.but.0 { u64::from(self.but.1) } else { mix(hash ^ self.key) >> 32 };
        B::nth(empty, ((draw * u64::from(empty.count_ones())) >> 32) as u32)
    }
}

impl<B: Board> Draw for Ijk<true, B> {
    type Drawn = Drawn<B>;
    type Within<E: Evaluator<Self>> = Within<E>;

    fn within<E: Evaluator<Self>>(evaluator: E) -> Within<E> {
        Within(evaluator)
    }

    fn drawn(&self, number: u64) -> Drawn<B> {
        // If there is a board of that hash, its first empty cell is as good a draw as any.
        Drawn { game: *self, key: mix(number), but: (0, 0) }
    }

    fn drawn_but(&self, number: u64, node: &Position<B>, place: u32) -> Drawn<B> {
        Drawn { but: (node.board().key(0), place), ..self.drawn(number) }
    }

    fn outcome(&self, drawn: &Drawn<B>, pos: &Position<B>) -> Move {
        Move::tile(drawn.cell(pos))
    }
}

impl<B: Board> Game for Drawn<B> {
    type Position = Position<B>;
    type Move = Move;
    type Undo = Position<B>;
    const PREFETCH: bool = false;

    #[inline]
    fn side(&self, pos: &Position<B>) -> plyd_core::game::Side {
        self.game.side(pos)
    }

    #[inline]
    fn turn(&self, pos: &Position<B>) -> Turn {
        self.game.turn(pos)
    }

    #[inline]
    fn moves(&self, pos: &Position<B>, out: &mut Vec<Move>) {
        self.game.moves(pos, out);
    }

    #[inline]
    fn is_legal(&self, pos: &Position<B>, mv: Move) -> bool {
        self.game.is_legal(pos, mv)
    }

    #[inline]
    fn play(&self, pos: &mut Position<B>, mv: Move) -> Position<B> {
        let before = self.game.play(pos, mv);
        if pos.awaits() {
            self.game.place(pos, self.cell(pos));
        }
        before
    }

    #[inline]
    fn undo(&self, pos: &mut Position<B>, mv: Move, before: Position<B>) {
        self.game.undo(pos, mv, before);
    }

    #[inline]
    fn hash(&self, pos: &Position<B>) -> u64 {
        self.game.hash(pos) ^ self.key
    }

    #[inline]
    fn index(&self, mv: Move) -> usize {
        self.game.index(mv)
    }

    #[inline]
    fn index_len(&self) -> usize {
        self.game.index_len()
    }
}

/// An evaluation of the game that values its drawn games in the same way.
#[derive(Clone)]
pub struct Within<E>(E);

impl<B: Board, E: Evaluator<Ijk<true, B>>> Evaluator<Drawn<B>> for Within<E> {
    #[inline]
    fn evaluate(&self, drawn: &Drawn<B>, pos: &Position<B>, ctx: &Context<Move>) -> Score {
        self.0.evaluate(&drawn.game, pos, ctx)
    }

    fn range(&self) -> (i32, i32) {
        self.0.range()
    }

    fn is_root_dependent(&self) -> bool {
        self.0.is_root_dependent()
    }

    fn decisive(&self) -> i32 {
        self.0.decisive()
    }

    fn lmr(&self) -> Option<LateMoveReductions> {
        self.0.lmr()
    }

    fn futility(&self) -> Option<FutilityMargins> {
        self.0.futility()
    }
}

#[cfg(test)]
mod tests {
    use super::super::eval::Lead;
    use std::collections::HashMap;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::super::notation::Layout;
    use super::super::oracle;
    use super::super::variant::Variant;
    use super::*;
    use plyd_core::game::{Notation, Root, Rules, Side};
    use plyd_core::options::Options;
    use plyd_core::search::ensemble::Ensemble;
    use plyd_core::search::iterate::Iterate;
    use plyd_core::search::{Bound, Control, End, SearchParams, SearchResult, Searcher, clock};

    fn game(size: i64) -> Ijk<true> {
        capped(size, 30_000)
    }

    /// The game, ending after `plies` plies.
    fn capped(size: i64, plies: i64) -> Ijk<true> {
        let rules = vec![
            ("size", plyd_core::game::Setting::Int(size)),
            ("mode", "nondet".into()),
            ("max_plies", plyd_core::game::Setting::Int(plies)),
        ];
        Ijk::new(Variant::choose(&Rules::new(rules), None).unwrap())
    }

    fn options() -> Options {
        Options { hash_mb: 1, seed: 3, deterministic: true, ..Options::default() }
    }

    fn answer(game: &Ijk<true>, text: &str, multipv: usize, nodes: u64) -> (SearchResult<Move>, End) {
        let pos = Layout::parse(text).unwrap().position(game).unwrap();
        ask(&mut Ensemble::new(game, Lead::default(), &options()), game, pos, multipv, nodes)
    }

    /// The position of a text, and its moves.
    fn placed(game: &Ijk<true>, text: &str) -> (Position, Vec<Move>) {
        let pos = Layout::parse(text).unwrap().position(game).unwrap();
        let mut moves = Vec::new();
        game.moves(&pos, &mut moves);
        (pos, moves)
    }

    fn ask(
        player: &mut dyn Searcher<Ijk<true>>,
        game: &Ijk<true>,
        pos: Position,
        multipv: usize,
        nodes: u64,
    ) -> (SearchResult<Move>, End) {
        let mut moves = Vec::new();
        game.moves(&pos, &mut moves);
        let control = Control::default();
        control.set_limits(Some(nodes), None);
        player.search(game, &Root::new(pos), &SearchParams { moves, multipv }, &control, &mut |_| ())
    }

    #[test]
    fn tiles_of_a_draw_go_anywhere_and_always_to_the_same_cell() {
        let game = game(4);
        let pos = Layout::parse("Ab../..../..../...A + ~").unwrap().position(&game).unwrap();
        let mut counts = [0; 64];
        for number in 0..1300 {
            let drawn = game.drawn(number);
            let cell = drawn.cell(&pos);
            assert_eq!(cell, game.drawn(number).cell(&pos));
            counts[usize::from(cell)] += 1;
        }
        assert_eq!(counts.iter().filter(|&&count| count > 60).count(), 13, "{counts:?}");
        assert_eq!(counts.iter().sum::<u32>(), 1300);
    }

    #[test]
    fn a_tile_that_is_placed_lies_there_and_others_where_they_were_drawn() {
        let game = game(4);
        let read = |text| Layout::parse(text).unwrap().position(&game).unwrap();
        let (node, other) = (read("Ab../..../..../...A + ~"), read("Ab../..../A.../.... + ~"));
        let (drawn, places) = (game.drawn(5), u64::from(u32::MAX) + 1);
        let empty: Vec<u8> = (0..64).filter(|cell| game.empty(&node) >> cell & 1 == 1).collect();
        for (at, &cell) in (0..).zip(&empty) {
            let all = empty.len() as u64;
            // From the first place that is the cell's to the last one.
            for place in [(at * places).div_ceil(all), ((at + 1) * places).div_ceil(all) - 1] {
                let but = game.drawn_but(5, &node, place as u32);
                assert_eq!((but.cell(&node), but.cell(&other)), (cell, drawn.cell(&other)), "{place}");
            }
        }
    }

    #[test]
    fn lines_are_legal_with_their_chance_plies() {
        let game = game(4);
        let text = "AbcD/b.aA/c..d/A... +";
        let (found, _) = answer(&game, text, 4, 50_000);
        assert_eq!(found.lines.len(), 4);
        for line in &found.lines {
            let mut pos = Layout::parse(text).unwrap().position(&game).unwrap();
            for &mv in &line.pv {
                assert!(game.is_legal(&pos, mv), "{:?}", line.pv);
                game.play(&mut pos, mv);
            }
            assert!(line.pv.len() > 4, "{:?}", line.pv);
        }
        assert_eq!(answer(&game, text, 4, 50_000).0, found, "equal questions get equal answers");
    }

    #[test]
    fn what_holds_against_every_outcome_is_proven_and_nothing_else() {
        let game = game(4);
        // A K is two slides away for upper case, and lower case has nothing near.
        let (found, end) = answer(&game, "JJ../..../..../..a. +", 1, 200_000);
        let (value, _) = found.lines[0].value.unwrap();
        assert!(end == End::Proven && value.is_decided() && value.score.is_win(), "{value:?}");
        let (found, _) = answer(&game, "EdCb/c.../B.../a... +", 1, 50_000);
        assert!(!found.lines[0].value.unwrap().0.is_decided());
    }

    #[test]
    fn a_proven_move_before_moves_that_may_be_better_proves_no_draw() {
        let (game, text) = (game(4), "EDDe/BCCd/DBBE/CDD. -");
        let pos = Layout::parse(text).unwrap().position(&game).unwrap();
        for multipv in [1, 4] {
            let (found, end) = answer(&game, text, multipv, 50_000);
            assert_eq!((game.move_text(&pos, found.lines[0].pv[0]).as_str(), end), ("U", End::Limit));
            // That move does draw.
            let (value, bound) = found.lines[0].value.unwrap();
            assert!(value.at_least && value.score == Score::DRAW && bound == Bound::Exact, "{value:?}");
            assert!(!value.is_decided(), "{value:?}");
        }
    }

    #[test]
    fn the_search_of_the_game_itself_goes_on_when_drawn_games_are_decided() {
        // An eighth of the nodes does not prove the draw by the cap; the drawn games see it at once.
        let game = capped(2, 2);
        let mut player = Ensemble::new(&game, Lead::default(), &options());
        let (found, end) = ask(&mut player, &game, game.start(), 4, 1000);
        assert_eq!(end, End::Proven);
        assert!(found.lines.iter().all(|line| line.value.unwrap().0.is_decided()), "{:?}", found.lines);
        // Without a proof the search uses all that it is granted.
        let game = self::game(3);
        let (pos, moves) = placed(&game, ".bd/.Ad/aDa +");
        let control = Control::default();
        control.set_limits(Some(200_000), None);
        let mut player = Ensemble::new(&game, Lead::default(), &options());
        player.search(&game, &Root::new(pos), &SearchParams { moves, multipv: 1 }, &control, &mut |_| ());
        assert_eq!(control.stats().nodes, 200_000);
    }

    /// An evaluation that makes a plan which ends at once, in the middle of the drawn games.
    #[derive(Clone)]
    struct Alarm {
        control: Arc<Control>,
        evaluated: Arc<AtomicU64>,
    }

    impl Alarm {
        const AT: u64 = 300_000;
    }

    impl Evaluator<Ijk<true>> for Alarm {
        fn evaluate(&self, game: &Ijk<true>, pos: &Position, ctx: &Context<Move>) -> Score {
            if self.evaluated.fetch_add(1, Relaxed) + 1 == Self::AT {
                let now = clock::now_ns();
                self.control.set_deadlines(now, now + 3_600_000_000_000);
            }
            Lead::default().evaluate(game, pos, ctx)
        }

        fn range(&self) -> (i32, i32) {
            Evaluator::<Ijk<true>>::range(&Lead::default())
        }
    }

    #[test]
    fn a_plan_that_is_made_in_the_middle_of_the_drawn_games_is_kept() {
        let game = game(4);
        let (pos, moves) = placed(&game, "AbcD/b.aA/c..d/A... +");
        let (control, evaluated) = (Arc::new(Control::default()), Arc::new(AtomicU64::new(0)));
        control.set_limits(Some(8 * Alarm::AT), None);
        let alarm = Alarm { control: Arc::clone(&control), evaluated: Arc::clone(&evaluated) };
        let mut player = Ensemble::new(&game, alarm, &options());
        let params = SearchParams { moves, multipv: 1 };
        let (found, end) = player.search(&game, &Root::new(pos), &params, &control, &mut |_| ());
        // It is seen at the next look at the clock, 1,024 nodes later at most.
        let evaluated = evaluated.load(Relaxed);
        assert!((Alarm::AT..Alarm::AT + 1200).contains(&evaluated), "{evaluated}");
        assert!(end == End::Clock && found.lines[0].depth > 4, "{end:?}, {found:?}");
    }

    #[test]
    fn threads_share_the_drawn_games_and_keep_all_limits() {
        let game = game(4);
        let (pos, moves) = placed(&game, "AbcD/b.aA/c..d/A... +");
        let search = |threads, nodes, depth, stop_at: u32| {
            let options = Options { hash_mb: 16, seed: 3, threads, ..Options::default() };
            let control = Control::default();
            control.set_limits(nodes, depth);
            let params = SearchParams { moves: moves.clone(), multipv: 4 };
            let mut player = Ensemble::new(&game, Lead::default(), &options);
            let (found, end) = player.search(&game, &Root::new(pos), &params, &control, &mut |found| {
                if found.lines[0].depth >= stop_at {
                    control.stop();
                }
            });
            assert_eq!(found.lines.len(), 4);
            (found, end, control.stats())
        };
        let (_, _, alone_stats) = search(1, None, Some(8), u32::MAX);
        for threads in [2, 3, 8, 16] {
            let (found, end, stats) = search(threads, None, Some(8), u32::MAX);
            assert_eq!((end, stats.depth), (End::Limit, 8));
            assert!(found.lines.iter().all(|line| line.depth == 8 && game.is_legal(&pos, line.pv[0])));
            // Each game is searched by one of them.
            let [more, less] = [alone_stats, stats].map(|stats| stats.nodes * 5 / 4);
            assert!(stats.nodes < more && alone_stats.nodes < less, "{stats:?}, alone {alone_stats:?}");
            let (_, end, stats) = search(threads, Some(200_000), None, u32::MAX);
            let most = 200_000 + 1024 * threads as u64;
            assert!(end == End::Limit && (200_000..=most).contains(&stats.nodes), "{threads}: {stats:?}");
            let (found, end, _) = search(threads, None, None, 6);
            assert_eq!((end, found.lines[0].depth), (End::Stopped, 6));
        }
    }

    /// What the first player gets at least and at most, whatever chance does, by searching every line.
    fn certain(game: &Ijk<true>, pos: &Position, known: &mut HashMap<u64, [i8; 2]>) -> [i8; 2] {
        let key = game.hash(pos);
        if let Some(&found) = known.get(&key) {
            return found;
        }
        let found = match game.turn(pos) {
            Turn::Over(outcome) => {
                let worth = |side| if side == Side::First { 1 } else { -1 };
                [outcome.winner.map_or(0, worth); 2]
            }
            Turn::Chance => {
                let mut outcomes = Vec::new();
                game.outcomes(pos, &mut outcomes);
                let all: Vec<_> = outcomes.iter().map(|&(mv, _)| after(game, pos, mv, known)).collect();
                [
                    all.iter().map(|range| range[0]).min().unwrap(),
                    all.iter().map(|range| range[1]).max().unwrap(),
                ]
            }
            Turn::Move => {
                let mut moves = Vec::new();
                game.moves(pos, &mut moves);
                let all: Vec<_> = moves.iter().map(|&mv| after(game, pos, mv, known)).collect();
                let end = |at: usize| {
                    let ends = all.iter().map(|range| range[at]);
                    if pos.mover() == Side::First { ends.max() } else { ends.min() }.unwrap()
                };
                [end(0), end(1)]
            }
        };
        known.insert(key, found);
        found
    }

    fn after(game: &Ijk<true>, pos: &Position, mv: Move, known: &mut HashMap<u64, [i8; 2]>) -> [i8; 2] {
        let mut next = *pos;
        game.play(&mut next, mv);
        certain(game, &next, known)
    }

    #[test]
    fn proofs_hold_against_every_outcome_by_brute_force() {
        let mut claims = [0; 3];
        // Whole games on 2x2; of larger boards the last plies before a cap on them.
        for (size, cap, positions) in [(2, 0, 400), (3, 4, 150), (4, 3, 60)] {
            let game = capped(size, cap);
            let rules = oracle::Rules { size: size as usize, ..oracle::Rules::preset("v2", true) };
            let mut players: [Box<dyn Searcher<Ijk<true>>>; 2] = [
                Box::new(Ensemble::new(&game, Lead::default(), &options())),
                Box::new(Iterate::new(&game, Lead::default(), &options())),
            ];
            let (mut known, mut seen) = (HashMap::new(), 0);
            oracle::random_games(&rules, positions, 11, |oracle, _| {
                let pos = Layout::parse(&oracle.text()).unwrap().position(&game).unwrap();
                if game.turn(&pos) != Turn::Move {
                    return;
                }
                seen += 1;
                let side = if pos.mover() == Side::First { 1 } else { -1 };
                for player in &mut players {
                    let (found, _) = ask(player.as_mut(), &game, pos, 4, 20_000);
                    for line in &found.lines {
                        let (value, _) = line.value.unwrap();
                        if !value.is_decided() {
                            continue;
                        }
                        let result = if value.score.is_win() { 1 } else { -i8::from(value.score.is_loss()) };
                        let range = after(&game, &pos, line.pv[0], &mut known);
                        assert_eq!(range, [side * result; 2], "{}: {line:?}", oracle.text());
                        claims[(result + 1) as usize] += 1;
                        if line == &found.lines[0] {
                            let range = certain(&game, &pos, &mut known);
                            assert_eq!(range, [side * result; 2], "{}: {found:?}", oracle.text());
                        }
                    }
                }
            });
            assert!(seen > positions / 4, "{seen} positions of size {size}");
        }
        assert!(claims.iter().all(|&count| count > 20), "{claims:?}");
    }
}
