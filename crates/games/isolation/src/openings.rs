//! Every opening of a board solved: what `plyd solve isolation` counts, and the book and the certificate that
//! it writes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use super::board::Board;
use super::certificate::{Certifier, Proof};
use super::rules::{Isolation, Position, Target};
use super::sizes::Size;
use plyd_core::bits::Bits;
use plyd_core::engine::{Share, SolveRequest, Solved, SolvedPart, SolvedParts};
use plyd_core::game::{Game, Notation, OpenError, Rules, Side};
use plyd_core::score::{Score, Value};
use plyd_core::search::Control;
use plyd_core::search::clock::thread_cpu_time;
use plyd_core::search::thread::SearchThread;

/// The most cells of a board whose openings are solved: on larger ones an opening takes hours.
const MOST_CELLS: usize = 64;
/// What stands in a certificate for the moves of a winner who needs none.
const NO_MOVES: &str = "-";

/// Two placements, and how many pairs the symmetries of the board make of them.
pub(super) struct Opening {
    pub(super) first: Target,
    pub(super) second: Target,
    pub(super) images: usize,
}

impl Opening {
    /// The position after both placements.
    fn position(&self, game: &Isolation<u64>) -> Position<u64> {
        let mut pos = game.start();
        game.play(&mut pos, self.first);
        game.play(&mut pos, self.second);
        pos
    }

    /// Both placements.
    fn text(&self, game: &Isolation<u64>) -> String {
        let [first, second] = [self.first, self.second].map(|mv| game.move_text(&game.start(), mv));
        format!("{first} {second}")
    }

    /// Both placements and a winning reply, or `-`.
    fn book_line(&self, game: &Isolation<u64>, proof: &Proof) -> String {
        let pos = self.position(game);
        let reply =
            proof.reply(game, &pos).map_or_else(|| "-".to_owned(), |reply| game.move_text(&pos, reply));
        format!("{} {reply}\n", self.text(game))
    }

    /// Both placements, who wins, and the winner's moves.
    fn certificate_line(&self, game: &Isolation<u64>, Proof { winner, moves }: &Proof) -> String {
        let moves = if moves.is_empty() { NO_MOVES } else { moves };
        format!("{} {} {moves}", self.text(game), winner.index() + 1)
    }
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

/// Solves all openings of the board that the rules name.
pub(super) fn solve(rules: &Rules, request: &mut SolveRequest<'_>) -> Result<SolvedParts, OpenError> {
    let size = Size::choose(rules, None)?;
    if size.cells() > MOST_CELLS {
        let message = format!(
            "the openings of boards up to {MOST_CELLS} cells are solved; ask `plyd go` about a position of a larger one"
        );
        return Err(OpenError::Rule { name: "width", message });
    }
    let game = Isolation::<u64>::new(size.width(), size.height());
    let openings = openings(game.board());
    let known = known_proofs(&game, &openings, request).map_err(OpenError::Malformed)?;
    let (proofs, cpu) = prove(&game, &openings, known, request)?;
    let lines = || openings.iter().zip(&proofs);
    let header = format!("isolation {}x{} plies {}\n", size.width(), size.height(), request.plies);
    let certified = lines().map(|(opening, proof)| opening.certificate_line(&game, proof) + "\n");
    Ok(SolvedParts {
        solved: Solved { cpu, shares: shares(&game, &openings, &proofs) },
        book: lines().map(|(opening, proof)| opening.book_line(&game, proof)).collect(),
        certificate: iter::once(header).chain(certified).collect(),
    })
}

/// Proves the openings that have no proof yet; all proofs, and the CPU time of the new ones.
fn prove(
    game: &Isolation<u64>,
    openings: &[Opening],
    mut proofs: Vec<Option<Proof>>,
    request: &mut SolveRequest<'_>,
) -> Result<(Vec<Proof>, Duration), OpenError> {
    let unproven: Vec<usize> = (0..openings.len()).filter(|&at| proofs[at].is_none()).collect();
    let (plies, threads) = (request.plies, request.threads.clamp(1, unproven.len().max(1)));
    let (next, control) = (AtomicUsize::new(0), Control::default());
    let (sender, proven) = mpsc::channel();
    let work = |sender: Sender<(usize, Proof)>| {
        let (mut certifier, mut thread) = (Certifier::new(game, plies), SearchThread::alone(&control));
        while let Some(&at) = unproven.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(proof) = certifier.prove(&openings[at].position(game), &mut thread) else { break };
            // Nobody receives any more once the solution is stopped.
            let _is_received = sender.send((at, proof));
        }
        thread_cpu_time()
    };
    let cpu = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let sender = sender.clone();
                scope.spawn(|| work(sender))
            })
            .collect();
        drop(sender);
        for (done, (at, proof)) in (openings.len() - unproven.len() + 1..).zip(proven) {
            let text = openings[at].certificate_line(game, &proof);
            proofs[at] = Some(proof);
            if (request.heard)(SolvedPart { text: &text, done, of: openings.len() }).is_break() {
                control.stop();
                return Err(OpenError::Impossible("the solution was stopped".to_owned()));
            }
        }
        Ok(workers.into_iter().map(|worker| worker.join().expect("a proof does not panic")).sum())
    })?;
    let proofs = proofs.into_iter().map(|proof| proof.expect("every opening was given to a worker"));
    Ok((proofs.collect(), cpu))
}

/// What an earlier run proved of each opening; else which text of it is wrong.
fn known_proofs(
    game: &Isolation<u64>,
    openings: &[Opening],
    request: &SolveRequest<'_>,
) -> Result<Vec<Option<Proof>>, String> {
    let places: HashMap<String, usize> =
        openings.iter().enumerate().map(|(at, opening)| (opening.text(game), at)).collect();
    let mut proofs = vec![None; openings.len()];
    for text in request.known {
        let read = || {
            let [first, second, winner, moves] = text.split(' ').collect::<Vec<_>>()[..] else { return None };
            let winner = match winner {
                "1" => Side::First,
                "2" => Side::Second,
                _ => return None,
            };
            let at = *places.get(&format!("{first} {second}"))?;
            let moves = if moves == NO_MOVES { "" } else { moves };
            let proof = Proof { winner, moves: moves.to_owned() };
            proof.fits(game, &openings[at].position(game), request.plies).then_some((at, proof))
        };
        let (at, proof) = read().ok_or_else(|| {
            format!("no opening of this board with a winner's moves up to ply {}: `{text}`", request.plies)
        })?;
        if proofs[at].as_ref().is_some_and(|earlier| *earlier != proof) {
            return Err(format!("this contradicts what stands above it: `{text}`"));
        }
        proofs[at] = Some(proof);
    }
    Ok(proofs)
}

/// The openings by the colours of both tokens and by who wins.
fn shares(game: &Isolation<u64>, openings: &[Opening], proofs: &[Proof]) -> Vec<Share> {
    let board = game.board();
    let mut counts: BTreeMap<(&str, bool), (u64, u64)> = BTreeMap::new();
    for (Opening { first, second, images }, proof) in openings.iter().zip(proofs) {
        let one_colour = board.odd().has(first.0) == board.odd().has(second.0);
        let kind = if one_colour { "tokens on one colour" } else { "tokens on two colours" };
        let (positions, classes) = counts.entry((kind, proof.winner == Side::Second)).or_default();
        *positions += *images as u64;
        *classes += 1;
    }
    let plies = board.cells() as u32;
    let share = |((kind, lost), (positions, classes))| {
        let score = if lost { Score::loss_in(plies) } else { Score::win_in(plies) };
        Share { kind, value: Value { score, at_least: !lost, at_most: lost }, positions, classes }
    };
    counts.into_iter().map(share).collect()
}
