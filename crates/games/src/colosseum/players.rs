//! The player `published`: iterative deepening over plain alpha-beta that looks at the best few moves of each
//! position, as Colak and Zeidan describe it ("COMP 424 Final Project", McGill University, 2023).
//!
//! No table: it is there to measure others against.

use super::published_eval::{closing_move, open_sides};
use super::rules::{Colosseum, Position, Walk};
use crate::bits::Bits;
use plyd_core::game::{Context, Evaluator, Game, Root, Side, Turn};
use plyd_core::score::{Score, Value};
use plyd_core::search::thread::{SearchThread, final_value, is_lost, is_won};
use plyd_core::search::{Control, End, SearchParams, SearchResult, Searcher, clock};

/// The last depth.
const DEPTHS: u32 = 10;
/// The moves that are looked at: so many plus the number of rows.
const BREADTH_MORE: usize = 3;

/// Iterative deepening of limited breadth.
#[derive(Clone, Debug)]
pub struct PublishedPlayer<E> {
    evaluator: E,
    depth: u32,
}

impl<E> PublishedPlayer<E> {
    /// The player with an evaluation and the deepest depth that it may search to, if it is limited.
    #[must_use]
    pub fn new(evaluator: E, depth: Option<u32>) -> Self {
        Self { evaluator, depth: depth.unwrap_or(DEPTHS) }
    }
}

impl<B: Bits, E: Evaluator<Colosseum<B>>> Searcher<Colosseum<B>> for PublishedPlayer<E> {
    fn search(
        &mut self,
        game: &Colosseum<B>,
        root: &Root<Colosseum<B>>,
        asked: &SearchParams<Walk>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<Walk>),
    ) -> (SearchResult<Walk>, End) {
        let thread = SearchThread::alone(control);
        let mut tree = Tree { game, evaluator: &self.evaluator, root: root.pos.mover(), thread };
        let mut found = SearchResult::one(asked.moves[0], 0, None);
        if let Some(mv) = closing_move(game, &root.pos).filter(|mv| asked.moves.contains(mv)) {
            found = SearchResult::one(mv, 0, None);
        }
        publish(&found);
        let mut end = End::Limit;
        for depth in 1..=self.depth.min(control.depth_limit()) {
            match tree.choose(&root.pos, &asked.moves, depth) {
                Ok((mv, score)) => {
                    // Moves that were not looked at may be better: the player's own, and from the second ply
                    // on the opponent's.
                    let at_least = depth == 1 && is_won::<Colosseum<B>>(score);
                    let value = Value { score, at_least, at_most: false };
                    found = SearchResult::one(mv, depth, Some(value));
                }
                Err(reason) => {
                    end = reason;
                    break;
                }
            }
            tree.thread.depth = depth;
            tree.thread.show();
            publish(&found);
            let decided = found.lines[0].value.is_some_and(|(value, _)| {
                is_won::<Colosseum<B>>(value.score) || is_lost::<Colosseum<B>>(value.score)
            });
            if decided {
                break;
            }
            if clock::now_ns() >= control.soft_ns() {
                end = End::Clock;
                break;
            }
        }
        tree.thread.show();
        (found, end)
    }

    fn clear(&mut self) {}
}

/// Alpha-beta over one tree.
struct Tree<'a, B: Bits, E> {
    game: &'a Colosseum<B>,
    evaluator: &'a E,
    root: Side,
    thread: SearchThread<'a>,
}

/// A move, the position after it, and its static value for the mover.
type Successor<B> = (Score, Walk, Position<B>);

impl<B: Bits, E: Evaluator<Colosseum<B>>> Tree<'_, B, E> {
    /// The best of the moves at the root and its score.
    fn choose(&mut self, pos: &Position<B>, moves: &[Walk], depth: u32) -> Result<(Walk, Score), End> {
        let (mut best, mut alpha) = (None, -Score::INFINITE);
        for (_, mv, next) in self.successors(pos, moves.to_vec())? {
            let score = -self.alpha_beta(&next, mv, depth - 1, 1, -Score::INFINITE, -alpha)?;
            if score > alpha || best.is_none() {
                (best, alpha) = (Some(mv), score);
            }
        }
        Ok((best.expect("a position has successors"), alpha))
    }

    /// The score of a position from its mover's view.
    fn alpha_beta(
        &mut self,
        pos: &Position<B>,
        last: Walk,
        depth: u32,
        ply: u32,
        mut alpha: Score,
        beta: Score,
    ) -> Result<Score, End> {
        self.thread.visit(ply)?;
        if let Turn::Over(outcome) = self.game.turn(pos) {
            return Ok(final_value::<Colosseum<B>>(&outcome, pos.mover(), ply).score);
        }
        if depth == 0 {
            return Ok(self.rate(pos, last));
        }
        let mut moves = Vec::new();
        self.game.moves(pos, &mut moves);
        let mut best = -Score::INFINITE;
        for (_, mv, next) in self.successors(pos, moves)? {
            best = best.max(-self.alpha_beta(&next, mv, depth - 1, ply + 1, -beta, -alpha)?);
            alpha = alpha.max(best);
            if best >= beta {
                break;
            }
        }
        Ok(best)
    }

    /// The best few moves: first those that do not leave the mover with walls on three sides.
    fn successors(&mut self, pos: &Position<B>, moves: Vec<Walk>) -> Result<Vec<Successor<B>>, End> {
        let mut free = Vec::with_capacity(moves.len());
        let mut trapped = Vec::new();
        for mv in moves {
            self.thread.visit(0)?;
            let mut next = *pos;
            self.game.play(&mut next, mv);
            let score = match self.game.turn(&next) {
                Turn::Over(outcome) => final_value::<Colosseum<B>>(&outcome, pos.mover(), 1).score,
                _ => -self.rate(&next, mv),
            };
            let is_free = open_sides(self.game, &next, pos.mover()).nth(1).is_some();
            let kind = if is_free || is_won::<Colosseum<B>>(score) { &mut free } else { &mut trapped };
            kind.push((score, mv, next));
        }
        let mut moves = if free.is_empty() { trapped } else { free };
        moves.sort_by_key(|&(score, ..)| -score.raw());
        moves.truncate(self.game.board().size() + BREADTH_MORE);
        Ok(moves)
    }

    fn rate(&self, pos: &Position<B>, last: Walk) -> Score {
        let context = Context { root: self.root, last: Some(last) };
        self.evaluator.evaluate(self.game, pos, &context)
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
        let mut tree =
            Tree { game: &game, evaluator: &race, root: Side::First, thread: SearchThread::alone(&control) };
        let mut moves = Vec::new();
        game.moves(&pos, &mut moves);
        let kept = tree.successors(&pos, moves.clone()).unwrap();
        assert_eq!(kept.len(), 9);
        assert!(kept.iter().all(|(_, _, next)| open_sides(&game, next, Side::First).count() > 1));
        let forced: Vec<Walk> = moves.into_iter().filter(|mv| mv.to == 0).collect();
        assert_eq!(tree.successors(&pos, forced).unwrap().len(), 1);
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
