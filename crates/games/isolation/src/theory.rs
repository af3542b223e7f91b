//! What is known of a position without search: the solved openings of 7x7, and positions that mirror
//! themselves.
//!
//! *Mirrors*: if a symmetry of the board exchanges the tokens and maps the open cells onto themselves, none
//! onto itself, the mover loses, since the other side can answer each move with its image. So the second
//! player wins every board with an even side.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::board::{Board, UNPLACED};
use super::openings::{images, openings};
use super::rules::{Isolation, Position, Target};
use super::solver::most_plies;
use plyd_core::bits::Bits;
use plyd_core::flood::Flood;
use plyd_core::game::{BookEntry, Game, Side};
use plyd_core::score::{Score, Value};

/// Openings up to symmetry, one a line: both placements, and the first player's winning move or `-`. Written
/// by `plyd solve isolation --board 7x7 --book crates/games/isolation/src/openings-7x7.txt`.
const SEVEN: &str = include_str!("openings-7x7.txt");

/// What is known of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct KnownOutcome {
    /// Whether the mover wins.
    pub won: bool,
    /// A move that wins; in a lost position, one after which the opponent may still err.
    pub mv: Option<Target>,
}

/// The value of a decided position: its distance is known only as a bound.
#[must_use]
pub(super) fn value<B: Bits>(game: &Isolation<B>, pos: &Position<B>, won: bool) -> Value {
    let plies = most_plies(game, pos, won);
    if won {
        Value { score: Score::win_in(plies), at_least: true, at_most: plies == 1 }
    } else {
        // A stuck mover loses at once, not later.
        Value { score: Score::loss_in(plies), at_least: plies == 0, at_most: true }
    }
}

/// The book's entry for a position.
#[must_use]
pub(super) fn book_entry<B: Bits>(game: &Isolation<B>, pos: &Position<B>) -> Option<BookEntry<Target>> {
    let KnownOutcome { won, mv } = from_book(game, pos)?;
    // In a lost position all moves are equally good; the book has the one that sets most problems.
    Some(BookEntry { value: value(game, pos, won), mv })
}

/// A cell on which the mover may place its token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Placement {
    pub cell: u8,
    /// Who wins then.
    pub winner: Side,
    /// How many of the replies win, if the book knows all of them.
    pub replies: Option<u32>,
}

/// What the book knows of each placement; nothing if both tokens are placed.
#[must_use]
pub(super) fn placements<B: Bits>(game: &Isolation<B>, pos: &Position<B>) -> Vec<Placement> {
    let is_placing = pos.token(pos.mover()) == UNPLACED;
    if !is_placing || from_book(game, pos).is_none() {
        return Vec::new();
    }
    let is_first = pos.token(pos.mover().other()) == UNPLACED;
    let after = |cell| {
        let mut after = *pos;
        game.play(&mut after, Target(cell));
        after
    };
    let placed = pos.open().cells().map(|cell| {
        let wins = from_book(game, &after(cell)).is_some_and(|known| known.won);
        let winner = if wins { pos.mover().other() } else { pos.mover() };
        let replies = is_first.then(|| refutations()[usize::from(cell)]);
        Placement { cell, winner, replies }
    });
    placed.collect()
}

/// What theory knows about a position in which the mover can move.
#[must_use]
pub(super) fn at_sight<B: Bits>(game: &Isolation<B>, pos: &Position<B>) -> Option<KnownOutcome> {
    if let Some(known) = from_book(game, pos) {
        return Some(known);
    }
    if is_mirrored(game, pos) {
        return Some(KnownOutcome { won: false, mv: None });
    }
    let mut moves = Vec::new();
    game.moves(pos, &mut moves);
    let mv = moves.into_iter().find(|&mv| {
        let mut after = *pos;
        game.play(&mut after, mv);
        is_mirrored(game, &after)
    })?;
    Some(KnownOutcome { won: true, mv: Some(mv) })
}

/// Whether the mover's opponent can win by answering each move with its image.
fn is_mirrored<B: Bits>(game: &Isolation<B>, pos: &Position<B>) -> bool {
    let board = game.board();
    let [own, opp] = [pos.mover(), pos.mover().other()].map(|side| pos.token(side));
    let [mine, theirs] = [own, opp].map(|cell| board.reach(cell) & pos.open());
    [1, 2, 3, 4, 7].into_iter().filter(|&symmetry| symmetry < board.symmetries()).any(|symmetry| {
        if board.image(symmetry, own) != opp || board.image_of(symmetry, mine) != theirs {
            return false;
        }
        // Cells that nobody can reach may differ.
        let reach = Flood::new(board, pos.open(), mine, theirs).all();
        let moves_each = reach.cells().all(|cell| board.image(symmetry, cell) != cell);
        moves_each && board.image_of(symmetry, reach) == reach
    })
}

/// The solved openings of one board: by the smallest image of both placements, the first player's winning
/// move.
type Book = HashMap<(u8, u8), Option<Target>>;

/// The openings of 7x7.
fn seven() -> &'static Book {
    static BOOK: OnceLock<Book> = OnceLock::new();
    BOOK.get_or_init(|| {
        let board = Board::<u64>::new(7, 7);
        let replies = SEVEN.lines().map(|line| match line.split_whitespace().nth(2) {
            Some("-") => None,
            reply => Some(Target(cell_of(reply.expect("three fields a line")))),
        });
        openings(&board).iter().map(|opening| (opening.first.0, opening.second.0)).zip(replies).collect()
    })
}

/// The number of a cell on 7x7 from its name.
fn cell_of(name: &str) -> u8 {
    let [column, row] = name.as_bytes() else { panic!("`{name}` is no cell of 7x7") };
    (row - b'1') * 7 + (column - b'a')
}

/// What the book knows: positions before the third move.
fn from_book<B: Bits>(game: &Isolation<B>, pos: &Position<B>) -> Option<KnownOutcome> {
    let board = game.board();
    let [own, opp] = [pos.mover(), pos.mover().other()].map(|side| pos.token(side));
    let placed = Side::ALL.iter().filter(|&&side| pos.token(side) != UNPLACED).count();
    let blocked = board.full() & !pos.open();
    if (board.width(), board.height()) != (7, 7) || blocked.len() as usize != placed {
        return None;
    }
    Some(if own != UNPLACED && opp != UNPLACED {
        let mv = reply(board, own, opp);
        KnownOutcome { won: mv.is_some(), mv }
    } else if opp != UNPLACED {
        // Any placement that leaves the other side without a winning reply.
        let mv = pos.open().cells().find(|&cell| reply(board, opp, cell).is_none()).map(Target);
        KnownOutcome { won: mv.is_some(), mv }
    } else {
        // Lost: most errors are possible after the placement that fewest replies refute.
        let refuted = |cell: &u8| refutations()[usize::from(*cell)];
        let mv = board.full().cells().min_by_key(refuted).map(Target);
        KnownOutcome { won: mv.is_some_and(|mv| refuted(&mv.0) == 0), mv }
    })
}

/// How many second placements win against each first one on 7x7.
fn refutations() -> &'static [u32] {
    static COUNTS: OnceLock<Vec<u32>> = OnceLock::new();
    COUNTS.get_or_init(|| {
        let board = Board::<u64>::new(7, 7);
        let refuting = |first: u8| {
            let others = board.full() & !u64::single(first);
            others.cells().filter(|&second| reply(&board, first, second).is_none()).count() as u32
        };
        board.full().cells().map(refuting).collect()
    })
}

/// The winning move of the player on `first`, who moves next, if there is one.
fn reply<B: Bits>(board: &Board<B>, first: u8, second: u8) -> Option<Target> {
    let (symmetry, image) =
        images(board, (first, second)).enumerate().min_by_key(|&(_, image)| image).expect("itself");
    let reply = seven().get(&image).copied().flatten()?;
    board.full().cells().find(|&cell| board.image(symmetry, cell) == reply.0).map(Target)
}

#[cfg(test)]
mod tests {
    use super::super::solver::Solver;
    use super::*;
    use plyd_core::search::Control;
    use plyd_core::search::thread::SearchThread;
    use plyd_core::zobrist::SplitMix64;

    fn play<B: Bits>(game: &Isolation<B>, moves: &[u8]) -> Position<B> {
        let mut pos = game.start();
        for &mv in moves {
            assert!(game.is_legal(&pos, Target(mv)));
            game.play(&mut pos, Target(mv));
        }
        pos
    }

    /// The published theorem: of 1152 openings on one colour and 1200 on two, the first player wins all of
    /// the former and eight of the latter, with its token on the centre and the other a knight's move from
    /// it.
    #[test]
    fn the_book_is_the_parity_theorem() {
        let game = Isolation::<u64>::new(7, 7);
        let board = game.board();
        let mut exceptions = 0;
        for first in 0..49 {
            for second in (0..49).filter(|&second| second != first) {
                let one_colour = board.odd().has(first) == board.odd().has(second);
                let pos = play(&game, &[first, second]);
                let known = at_sight(&game, &pos).expect("in the book");
                assert!(known.mv.is_none_or(|mv| game.is_legal(&pos, mv)));
                if known.won != one_colour {
                    exceptions += 1;
                    assert!(first == 24 && board.reach(24).has(second), "{first} {second}");
                }
            }
            let placed = play(&game, &[first]);
            let known = at_sight(&game, &placed).expect("in the book");
            assert!(known.won);
            assert!(!at_sight(&game, &play(&game, &[first, known.mv.unwrap().0])).unwrap().won);
        }
        assert_eq!(exceptions, 8);
        assert_eq!(at_sight(&game, &game.start()), Some(KnownOutcome { won: false, mv: Some(Target(24)) }));
    }

    #[test]
    fn the_books_winning_moves_win() {
        let game = Isolation::<u64>::new(7, 7);
        let (control, mut random) = (Control::default(), SplitMix64::new(11));
        let mut solver = Solver::new(&game);
        for _ in 0..12 {
            let first = random.below(49) as u8;
            let second = (first + 2 + 2 * random.below(23) as u8) % 49;
            let pos = play(&game, &[first, second]);
            let known = at_sight(&game, &pos).unwrap();
            let Some(mv) = known.mv else { continue };
            let mut after = pos;
            game.play(&mut after, mv);
            assert_eq!(solver.wins(&game, &after, &mut SearchThread::alone(&control)), Some(false));
        }
    }

    #[test]
    fn placements_say_who_wins_and_how_many_replies_do() {
        let game = Isolation::<u64>::new(7, 7);
        let first = placements(&game, &game.start());
        assert_eq!(first.len(), 49);
        assert!(first.iter().all(|placed| placed.winner == Side::Second));
        // The other colour has 24 cells of the 48, or 25; the centre keeps eight of them for itself.
        let replies = |cell: usize| first[cell].replies.unwrap();
        assert_eq!((replies(0), replies(1), replies(24)), (24, 25, 16));
        let centre = play(&game, &[24]);
        let second = placements(&game, &centre);
        assert_eq!(second.iter().filter(|placed| placed.winner == Side::Second).count(), 16);
        assert!(second.iter().all(|placed| placed.replies.is_none()) && second.len() == 48);
        assert_eq!(placements(&game, &play(&game, &[24, 0])), []);
        let other = Isolation::<u64>::new(6, 6);
        assert_eq!(placements(&other, &other.start()), []);
    }

    #[test]
    fn mirrored_positions_are_lost() {
        let control = Control::default();
        let mut mirrored = 0;
        for (width, height) in [(4, 4), (4, 5), (3, 4), (5, 5), (6, 3)] {
            let game = Isolation::<u64>::new(width, height);
            let mut solver = Solver::new(&game);
            let mut random = SplitMix64::new((width * height) as u64);
            for _ in 0..300 {
                let mut pos = game.start();
                loop {
                    if is_mirrored(&game, &pos) {
                        mirrored += 1;
                        let won = solver.wins(&game, &pos, &mut SearchThread::alone(&control));
                        assert_eq!(won, Some(false), "{width}x{height} {pos:?}");
                    }
                    let mut moves = Vec::new();
                    game.moves(&pos, &mut moves);
                    // Now and then the image of the last move, so that mirrored positions come up.
                    let image = pos.token(pos.mover().other());
                    let image = Target(board_image(&game, 1 + random.below(3), image));
                    let mv = match moves[..] {
                        [] => break,
                        _ if moves.contains(&image) && random.below(4) > 0 => image,
                        _ => moves[random.below(moves.len())],
                    };
                    game.play(&mut pos, mv);
                }
            }
            assert_eq!(at_sight(&game, &game.start()).map(|known| known.won), even(width, height));
        }
        assert!(mirrored > 300, "{mirrored}");
    }

    fn board_image<B: Bits>(game: &Isolation<B>, symmetry: usize, cell: u8) -> u8 {
        game.board().image(symmetry, cell)
    }

    /// The second player wins boards with an even side; of the others theory knows nothing.
    fn even(width: usize, height: usize) -> Option<bool> {
        (width.is_multiple_of(2) || height.is_multiple_of(2)).then_some(false)
    }
}
