//! The player `published`: iterative deepening over plain alpha-beta that looks at the best few moves of each
//! position, as Colak and Zeidan describe it ("COMP 424 Final Project", McGill University, 2023).

use std::ops::RangeInclusive;

use super::position::{Position, Walk};
use super::published_eval::{closing_move, open_sides};
use super::rules::Colosseum;
use plyd_core::bits::Bits;
use plyd_core::game::{Context, Evaluator, Game, Root, Side, Turn};
use plyd_core::score::Value;
use plyd_core::search::published::{Agent, Deepening, RootLine};
use plyd_core::search::thread::{SearchThread, final_value, is_lost, is_won};
use plyd_core::search::{End, SearchParams};

/// The deepest depth.
const DEPTHS: u32 = 10;
/// As many moves of a position are looked at as the board has rows, and this many more.
const BREADTH_MORE: usize = 3;

/// Iterative deepening of limited breadth.
#[derive(Clone, Debug)]
pub(super) struct PublishedPlayer<E> {
    evaluator: E,
    depth: u32,
    /// The side that moves at the root.
    root: Side,
}

impl<E> PublishedPlayer<E> {
    /// The player with an evaluation, and with a depth limit if `depth` gives one.
    #[must_use]
    pub(super) fn new(evaluator: E, depth: Option<u32>) -> Deepening<Self> {
        Deepening(Self { evaluator, depth: depth.unwrap_or(DEPTHS), root: Side::First })
    }

    /// The best few of the moves: first those that do not leave the mover with walls on three sides. Each
    /// move that is judged counts as a node; once the search is over there are none.
    fn best_few<B: Bits>(
        &self,
        game: &Colosseum<B>,
        pos: &Position<B>,
        moves: &[Walk],
        thread: &mut SearchThread<'_>,
    ) -> Vec<Walk>
    where
        E: Evaluator<Colosseum<B>>,
    {
        let mut free = Vec::with_capacity(moves.len());
        let mut trapped = Vec::new();
        for &mv in moves {
            if thread.tick() {
                return Vec::new();
            }
            let mut next = *pos;
            game.play(&mut next, mv);
            let score = match game.turn(&next) {
                Turn::Over(outcome) => final_value::<Colosseum<B>>(&outcome, pos.mover(), 1).score,
                _ => {
                    let context = Context { root: self.root, last: Some(mv) };
                    -self.evaluator.evaluate(game, &next, &context)
                }
            };
            let is_free = open_sides(game, &next, pos.mover()).nth(1).is_some();
            let kind = if is_free || is_won::<Colosseum<B>>(score) { &mut free } else { &mut trapped };
            kind.push((score, mv));
        }
        let mut best = if free.is_empty() { trapped } else { free };
        best.sort_by_key(|&(score, _)| -score.raw());
        best.truncate(game.board().size() + BREADTH_MORE);
        best.into_iter().map(|(_, mv)| mv).collect()
    }
}

impl<B: Bits, E: Evaluator<Colosseum<B>>> Agent<Colosseum<B>> for PublishedPlayer<E> {
    type Evaluator = E;

    fn evaluator(&self) -> &E {
        &self.evaluator
    }

    fn depths(&self, _limit: u32) -> RangeInclusive<u32> {
        1..=self.depth
    }

    fn begin(
        &mut self,
        game: &Colosseum<B>,
        root: &Root<Colosseum<B>>,
        params: &SearchParams<Walk>,
    ) -> Option<Walk> {
        self.root = root.pos.mover();
        let closing = closing_move(game, &root.pos).filter(|mv| params.moves.contains(mv));
        Some(closing.unwrap_or(params.moves[0]))
    }

    fn root_moves(
        &self,
        game: &Colosseum<B>,
        pos: &Position<B>,
        asked: &[Walk],
        thread: &mut SearchThread<'_>,
    ) -> Vec<Walk> {
        self.best_few(game, pos, asked, thread)
    }

    fn moves(
        &self,
        game: &Colosseum<B>,
        pos: &Position<B>,
        thread: &mut SearchThread<'_>,
        out: &mut Vec<Walk>,
    ) {
        let mut moves = Vec::new();
        game.moves(pos, &mut moves);
        out.extend(self.best_few(game, pos, &moves, thread));
    }

    fn lines_kept(&self, _multipv: usize) -> usize {
        1
    }

    fn conclude(&mut self, depth: u32, _values: &[Value], lines: &mut Vec<RootLine<Walk>>) -> Option<End> {
        let line = &mut lines[0];
        line.pv.truncate(1);
        let (is_won, is_lost) =
            (is_won::<Colosseum<B>>(line.value.score), is_lost::<Colosseum<B>>(line.value.score));
        // Moves that were not looked at may be better: the player's own, and from the second ply on the
        // opponent's.
        line.value = Value { at_least: depth == 1 && is_won, at_most: false, ..line.value };
        (is_won || is_lost).then_some(End::Limit)
    }
}

#[cfg(test)]
mod tests {
    use super::super::eval::Race;
    use super::super::notation::Layout;
    use super::super::published_eval::{Part, Published};
    use super::super::setup::{Setup, StartWalls};
    use super::*;
    use plyd_core::game::Notation;
    use plyd_core::search::{Control, SearchResult, Searcher};

    fn search(text: &str, depth: u32) -> (String, SearchResult<Walk>, End) {
        let layout = Layout::parse(text).unwrap();
        let game =
            Colosseum::<u64>::new(Setup { size: layout.size, start_walls: StartWalls::Fall2023, seed: 0 });
        let root = Root::<Colosseum<u64>>::new(layout.position(&game));
        let mut moves = Vec::new();
        game.moves(&root.pos, &mut moves);
        let mut player = PublishedPlayer::new(Published::new(&game, &Part::ALL), Some(depth));
        let asked = SearchParams { moves, multipv: 1 };
        let (found, end) = player.search(&game, &root, &asked, &Control::default(), &mut |_| ());
        (game.move_text(&root.pos, found.lines[0].pv[0]), found, end)
    }

    #[test]
    fn an_enclosed_opponent_is_closed_in() {
        let (mv, found, end) = search("6 0,2 0,0 00R 1", 3);
        assert_eq!((mv.as_str(), end), ("10u", End::Limit));
        assert!(is_won::<Colosseum<u64>>(found.lines[0].value.unwrap().0.score));
    }

    #[test]
    fn a_trap_of_its_own_is_left_unless_forced() {
        // In the corner with one wall: putting the third one there would be a trap.
        let layout = Layout::parse("6 0,0 5,5 00R 1").unwrap();
        let game = Colosseum::<u64>::new(Setup { size: 6, start_walls: StartWalls::Fall2023, seed: 0 });
        let pos = layout.position(&game);
        let (control, race) = (Control::default(), Race::new(&game));
        let (Deepening(player), mut thread) =
            (PublishedPlayer::new(race, None), SearchThread::alone(&control));
        let mut moves = Vec::new();
        game.moves(&pos, &mut moves);
        let kept = player.best_few(&game, &pos, &moves, &mut thread);
        assert_eq!(kept.len(), 9);
        assert!(kept.iter().all(|&mv| {
            let mut next = pos;
            game.play(&mut next, mv);
            open_sides(&game, &next, Side::First).count() > 1
        }));
        let forced: Vec<Walk> = moves.into_iter().filter(|mv| mv.to == 0).collect();
        assert_eq!(player.best_few(&game, &pos, &forced, &mut thread).len(), 1);
    }

    #[test]
    fn a_win_against_the_replies_that_it_looks_at_is_no_proof() {
        // The reply 25d ties; it is not looked at because it leaves the opponent with three walls.
        let (layout, asked) =
            (Layout::parse("6 3,5 2,5 12R,13R,03D,11D,12D,14D,15D,20D,21D,22D,23D,24D 1").unwrap(), "35d");
        let game = Colosseum::<u64>::new(Setup { size: 6, start_walls: StartWalls::Fall2023, seed: 0 });
        let root = Root::<Colosseum<u64>>::new(layout.position(&game));
        let moves = vec![game.parse_move(&root.pos, asked).unwrap()];
        let mut player = PublishedPlayer::new(Published::new(&game, &Part::ALL), Some(3));
        let (found, _) = player.search(
            &game,
            &root,
            &SearchParams { moves, multipv: 1 },
            &Control::default(),
            &mut |_| (),
        );
        let (value, _) = found.lines[0].value.unwrap();
        assert!(is_won::<Colosseum<u64>>(value.score) && !value.at_least && !value.at_most, "{value:?}");
    }

    #[test]
    fn limits_are_kept() {
        let (_, found, end) = search("6 0,0 5,5 12R,42R,21D,24D 1", 2);
        assert_eq!((found.lines[0].depth, end), (2, End::Limit));
        let stopped = Control::default();
        stopped.stop();
        let game = Colosseum::<u64>::new(Setup { size: 6, start_walls: StartWalls::Fall2023, seed: 0 });
        let root = Root::<Colosseum<u64>>::new(Layout::parse("6 0,0 5,5 - 1").unwrap().position(&game));
        let mut moves = Vec::new();
        game.moves(&root.pos, &mut moves);
        let mut player = PublishedPlayer::new(Race::new(&game), None);
        let (found, end) =
            player.search(&game, &root, &SearchParams { moves, multipv: 1 }, &stopped, &mut |_| ());
        assert_eq!((end, found.lines[0].depth), (End::Stopped, 0));
    }
}
