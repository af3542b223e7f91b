//! Every opening of a board solved: what `plyd solve isolation` counts, and the book that it writes.

use std::collections::{BTreeMap, BTreeSet};

use super::board::Board;
use super::rules::{Isolation, Target};
use super::sizes::Size;
use super::solver::Solver;
use plyd_core::bits::Bits;
use plyd_core::engine::{Share, Solved};
use plyd_core::game::{Game, Notation, OpenError, Rules};
use plyd_core::score::{Score, Value};
use plyd_core::search::Control;
use plyd_core::search::clock::thread_cpu_time;
use plyd_core::search::thread::SearchThread;

/// The most cells of a board whose openings are solved: on larger ones an opening takes hours.
const MOST_CELLS: usize = 49;

/// Two placements, and how many pairs the symmetries of the board make of them.
pub(super) struct Opening {
    pub(super) first: Target,
    pub(super) second: Target,
    pub(super) images: usize,
}

/// All pairs of placements up to the symmetries of the board, each as the smallest of its images.
pub(super) fn openings<B: Bits>(board: &Board<B>) -> Vec<Opening> {
    let pairs = board.full().cells().flat_map(|first| {
        let others = board.full() & !B::single(first);
        others.cells().map(move |second| (first, second))
    });
    pairs
        .filter_map(|pair| {
            let images: BTreeSet<_> = images(board, pair).collect();
            (images.first() == Some(&pair)).then_some(Opening {
                first: Target(pair.0),
                second: Target(pair.1),
                images: images.len(),
            })
        })
        .collect()
}

/// The images of a pair of cells, the pair itself first.
pub(super) fn images<B: Bits>(board: &Board<B>, pair: (u8, u8)) -> impl Iterator<Item = (u8, u8)> {
    (0..board.symmetries())
        .map(move |symmetry| (board.image(symmetry, pair.0), board.image(symmetry, pair.1)))
}

/// Solves all openings of the board that the rules name, on one thread.
pub(super) fn solve(rules: &Rules, progress: &mut dyn FnMut(usize, usize)) -> Result<Solved, OpenError> {
    let size = Size::choose(rules, None)?;
    if size.cells() > MOST_CELLS {
        let message = format!(
            "the openings of boards up to {MOST_CELLS} cells are solved; ask `plyd go` about a position of a larger one"
        );
        return Err(OpenError::Rule { name: "width", message });
    }
    let game = Isolation::<u64>::new(size.width(), size.height());
    let board = game.board();
    let (control, mut solver) = (Control::default(), Solver::new(&game));
    let mut thread = SearchThread::alone(&control);
    let openings = openings(board);
    let mut counts: BTreeMap<(&str, bool), (u64, u64)> = BTreeMap::new();
    let mut book = String::new();
    let began = thread_cpu_time();
    for (done, Opening { first, second, images }) in openings.iter().enumerate() {
        progress(done, openings.len());
        let mut pos = game.start();
        let mut line = String::new();
        for &mv in [first, second] {
            line += &game.move_text(&pos, mv);
            line.push(' ');
            game.play(&mut pos, mv);
        }
        let reply = solver.winning_move(&game, &pos, &mut thread).expect("nothing stops it");
        line += &reply.map_or_else(|| "-".to_owned(), |reply| game.move_text(&pos, reply));
        book += &line;
        book.push('\n');
        let one_colour = board.odd().has(first.0) == board.odd().has(second.0);
        let kind = if one_colour { "tokens on one colour" } else { "tokens on two colours" };
        let (positions, classes) = counts.entry((kind, reply.is_none())).or_default();
        *positions += *images as u64;
        *classes += 1;
    }
    let cpu = thread_cpu_time() - began;
    let shares = counts.into_iter().map(|((kind, lost), (positions, classes))| {
        let score =
            if lost { Score::loss_in(size.cells() as u32) } else { Score::win_in(size.cells() as u32) };
        Share { kind, value: Value { score, at_least: !lost, at_most: lost }, positions, classes }
    });
    Ok(Solved { cpu, shares: shares.collect(), book: Some(book) })
}
