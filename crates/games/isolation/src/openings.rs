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
use plyd_core::engine::{Share, Solved, Solving};
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
pub(super) fn solve(rules: &Rules, solving: &mut Solving<'_>) -> Result<Solved, OpenError> {
    let size = Size::choose(rules, None)?;
    if size.cells() > MOST_CELLS {
        let message = format!(
            "the openings of boards up to {MOST_CELLS} cells are solved; ask `plyd go` about a position of a larger one"
        );
        return Err(OpenError::Rule { name: "width", message });
    }
    let game = Isolation::<u64>::new(size.width(), size.height());
    let openings = openings(game.board());
    let plies = solving.certificate.as_ref().map_or(1, |certificate| certificate.plies);
    let header = format!("isolation {}x{} plies {plies}", size.width(), size.height());
    let mut proofs = vec![None; openings.len()];
    if let Some(certificate) = &mut solving.certificate {
        if !certificate.known.is_empty() {
            proofs =
                known_proofs(&game, &openings, certificate.known, &header).map_err(OpenError::Malformed)?;
        } else if (certificate.line)(&header).is_break() {
            return Err(stopped());
        }
    }
    let cpu = prove(&game, &openings, plies, &mut proofs, solving)?;
    let proofs: Vec<Proof> = proofs.into_iter().flatten().collect();
    let lines = || openings.iter().zip(&proofs);
    let book = lines().map(|(opening, proof)| opening.book_line(&game, proof)).collect();
    let certificate = solving.certificate.is_some().then(|| {
        let lines = lines().map(|(opening, proof)| opening.certificate_line(&game, proof));
        iter::once(header).chain(lines).map(|line| line + "\n").collect()
    });
    Ok(Solved { cpu, shares: shares(&game, &openings, &proofs), book: Some(book), certificate })
}

/// Proves the openings that have no proof yet; the CPU time of that.
fn prove(
    game: &Isolation<u64>,
    openings: &[Opening],
    plies: u32,
    proofs: &mut [Option<Proof>],
    solving: &mut Solving<'_>,
) -> Result<Duration, OpenError> {
    let open: Vec<usize> = (0..openings.len()).filter(|&at| proofs[at].is_none()).collect();
    let mut done = openings.len() - open.len();
    (solving.progress)(done, openings.len());
    let (next, control) = (AtomicUsize::new(0), Control::default());
    let (sender, proven) = mpsc::channel();
    let work = |sender: Sender<(usize, Proof)>| {
        let (mut certifier, mut thread) = (Certifier::new(game, plies), SearchThread::alone(&control));
        while let Some(&at) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(proof) = certifier.prove(&openings[at].position(game), &mut thread) else { break };
            // Nobody receives any more once the solution is stopped.
            let _is_received = sender.send((at, proof));
        }
        thread_cpu_time()
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..solving.threads.clamp(1, open.len().max(1)))
            .map(|_| {
                let sender = sender.clone();
                scope.spawn(|| work(sender))
            })
            .collect();
        drop(sender);
        for (at, proof) in proven {
            done += 1;
            (solving.progress)(done, openings.len());
            if let Some(certificate) = &mut solving.certificate
                && (certificate.line)(&openings[at].certificate_line(game, &proof)).is_break()
            {
                control.stop();
                return Err(stopped());
            }
            proofs[at] = Some(proof);
        }
        Ok(workers.into_iter().map(|worker| worker.join().expect("a proof does not panic")).sum())
    })
}

fn stopped() -> OpenError {
    OpenError::Impossible("the solution was stopped".to_owned())
}

/// What an earlier run proved, of each opening; else what is wrong with its text.
fn known_proofs(
    game: &Isolation<u64>,
    openings: &[Opening],
    text: &str,
    header: &str,
) -> Result<Vec<Option<Proof>>, String> {
    let mut lines = text.lines();
    match lines.next() {
        Some(first) if first == header => {}
        first => {
            return Err(format!(
                "the certificate begins with `{}`, not with `{header}`",
                first.unwrap_or_default()
            ));
        }
    }
    let places: HashMap<String, usize> =
        openings.iter().enumerate().map(|(at, opening)| (opening.text(game), at)).collect();
    let mut proofs = vec![None; openings.len()];
    for (number, line) in (2..).zip(lines) {
        let known = line.rsplitn(3, ' ').collect::<Vec<_>>();
        let [moves, winner, opening] = known[..] else {
            return Err(format!("line {number} of the certificate has no moves: `{line}`"));
        };
        let at = *places
            .get(opening)
            .ok_or_else(|| format!("line {number} of the certificate has no opening: `{line}`"))?;
        let winner = match winner {
            "1" => Side::First,
            "2" => Side::Second,
            _ => return Err(format!("line {number} of the certificate names no winner, 1 or 2: `{line}`")),
        };
        let moves = if moves == NO_MOVES { "" } else { moves };
        if !moves.bytes().all(|digit| matches!(digit, b'0'..=b'7')) {
            return Err(format!(
                "line {number} of the certificate has moves that are no digits from 0 to 7: `{line}`"
            ));
        }
        proofs[at] = Some(Proof { winner, moves: moves.to_owned() });
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
