//! What a game's book says about a position: its value, and the value of each move.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

use super::Playable;
use super::answer::Evaluation;
use super::typed::Typed;
use crate::game::{BookEntry, Turn};
use crate::score::{Score, Value};
use crate::search::Bound;

/// What a book says about a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BookPage {
    /// What it is worth to the side to move.
    pub value: Evaluation,
    /// The moves that the book can judge, the best first.
    pub moves: Vec<BookMove>,
}

/// What a book says about a move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BookMove {
    /// The move's text.
    pub mv: String,
    /// Other moves that are equivalent to it under a symmetry of the rules.
    pub alike: Vec<String>,
    /// What it is worth to the side that makes it.
    pub value: Evaluation,
    /// What its replies are worth, if the book knows all of them.
    pub replies: Option<Replies>,
    /// The book's best reply, if it names one and the position is not lost for the side that replies.
    pub reply: Option<String>,
}

/// How many replies win, draw and lose for the side that replies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Replies {
    /// Replies that win.
    pub wins: usize,
    /// Replies that draw.
    pub draws: usize,
    /// Replies that lose.
    pub losses: usize,
}

/// A move whose value is known.
struct Judged<M> {
    mv: M,
    alike: Vec<M>,
    value: Value,
    replies: Option<Replies>,
    reply: Option<String>,
}

impl<G: Playable> Typed<G> {
    /// What the book says about the position.
    pub(super) fn look_up(&self) -> Option<BookPage> {
        let Self { game, root, .. } = self;
        if game.turn(&root.pos) != Turn::Move {
            return None;
        }
        let BookEntry { value, mv: named } = game.book(&root.pos)?;
        let mut judged: Vec<Judged<G::Move>> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut moves = Vec::new();
        game.moves(&root.pos, &mut moves);
        for mv in moves {
            let mut after = root.pos.clone();
            game.play(&mut after, mv);
            let text = folded(game, &after);
            if let Some(&place) = places.get(&text) {
                judged[place].alike.push(mv);
            } else if let Some(value) = worth(game, &root.pos, &after) {
                places.insert(text, judged.len());
                let reply = game.book(&after).filter(|entry| !entry.value.score.is_loss());
                let reply = reply.and_then(|entry| entry.mv).map(|reply| game.move_text(&after, reply));
                judged.push(Judged { mv, alike: Vec::new(), value, replies: replies(game, &after), reply });
            } else if named == Some(mv) {
                judged.push(Judged { mv, alike: Vec::new(), value, replies: None, reply: None });
            }
        }
        judged.sort_by_key(|judged| {
            let won = judged.replies.map_or(0, |replies| replies.wins);
            (Reverse(judged.value.score.cmp(&Score::DRAW)), won)
        });
        let text = |mv: G::Move| game.move_text(&root.pos, mv);
        let moves = judged.into_iter().map(|Judged { mv, alike, value, replies, reply }| BookMove {
            mv: text(mv),
            alike: alike.into_iter().map(text).collect(),
            value: Evaluation::of::<G>(value, Bound::Exact),
            replies,
            reply,
        });
        Some(BookPage { value: Evaluation::of::<G>(value, Bound::Exact), moves: moves.collect() })
    }
}

/// The text that all images of a position share.
fn folded<G: Playable>(game: &G, pos: &G::Position) -> String {
    let images = game.images(pos).into_iter().map(|image| game.position_text(&image));
    images.chain([game.position_text(pos)]).min().expect("the position itself")
}

/// What `pos` is worth to the side that moved there from `from`, if the rules or the book know it.
pub(super) fn worth<G: Playable>(game: &G, from: &G::Position, pos: &G::Position) -> Option<Value> {
    let side = game.side(from);
    match game.turn(pos) {
        Turn::Chance => None,
        Turn::Over(outcome) if G::SCORED => {
            let scores = outcome.scores?;
            Some(Value::proven(Score::eval(1000 * (scores[side.index()] - scores[side.other().index()]))))
        }
        Turn::Over(outcome) => Some(Value::proven(match outcome.winner {
            None => Score::DRAW,
            Some(winner) if winner == side => Score::win_in(1),
            Some(_) => Score::loss_in(1),
        })),
        Turn::Move => {
            let known = game.book(pos)?.value;
            let own = if game.side(pos) == side { known } else { -known };
            Some(Value { score: own.score.earlier(1), ..own })
        }
    }
}

/// How many moves of a position win, draw and lose for the side that makes them, if the value of each is
/// known.
fn replies<G: Playable>(game: &G, pos: &G::Position) -> Option<Replies> {
    if game.turn(pos) != Turn::Move {
        return None;
    }
    let mut moves = Vec::new();
    game.moves(pos, &mut moves);
    let mut replies = Replies::default();
    for mv in moves {
        let mut after = pos.clone();
        game.play(&mut after, mv);
        match worth(game, pos, &after)?.score.cmp(&Score::DRAW) {
            Ordering::Greater => replies.wins += 1,
            Ordering::Equal => replies.draws += 1,
            Ordering::Less => replies.losses += 1,
        }
    }
    Some(replies)
}

#[cfg(test)]
mod tests {
    use crate::nim;
    use crate::play::Position;

    use super::Replies;

    #[test]
    fn each_move_of_a_solved_game_is_judged_the_best_first() {
        let heap = Position::open(&nim::ENTRY, &Default::default(), Some("6 1")).unwrap();
        let page = heap.root().book().expect("Nim is solved");
        let results: Vec<(&str, bool)> = page
            .moves
            .iter()
            .map(|judged| (judged.mv.as_str(), judged.value.proof.unwrap().result.is_gt()))
            .collect();
        assert_eq!(results, [("2", true), ("1", false), ("3", false)]);
        assert_eq!(page.moves[0].replies, Some(Replies { wins: 0, draws: 0, losses: 3 }));
        assert_eq!((page.moves[0].reply.as_deref(), page.moves[1].reply.as_deref()), (None, Some("1")));
        let over = Position::open(&nim::ENTRY, &Default::default(), Some("0 1")).unwrap();
        assert_eq!(over.root().book(), None);
    }
}
