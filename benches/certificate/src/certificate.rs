//! Reads a certificate and proves each of its lines. Nothing here prints or knows of a command line.
//!
//! The first line of a certificate is `isolation WxH plies N`. Every further line is one opening,
//! `FIRST SECOND WINNER MOVES`: the winner's moves in the first N plies, against every defence, in the order
//! of the walk below. What follows after N plies is left to the solver.

use std::collections::HashSet;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::board::{Board, Position, each};
use super::solver::{Solve, solver};

/// What is wrong with a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The line, counted from 1; the one after the last if something is missing.
    pub(crate) line: usize,
    /// What is wrong there.
    pub(crate) what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Fault {}

/// What a certificate proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    /// The columns of the board.
    pub(crate) width: usize,
    /// The rows of the board.
    pub(crate) height: usize,
    /// The plies that the certificate spells out.
    pub(crate) plies: usize,
    /// The openings up to symmetry: the lines of the certificate but the first.
    pub(crate) classes: usize,
    /// The openings won by player 1 and by player 2 with both tokens on one colour, symmetric ones counted.
    pub(crate) one_colour: [usize; 2],
    /// The same with the tokens on two colours.
    pub(crate) two_colours: [usize; 2],
    /// The positions after N plies that the solver proved.
    pub(crate) leaves: u64,
    /// The positions it searched for that.
    pub(crate) nodes: u64,
}

/// One line: an opening, who is said to win it, and the digits that are to show it.
struct Line<'a> {
    number: usize,
    first: usize,
    second: usize,
    winner: usize,
    digits: &'a str,
}

/// A certificate whose lines have the right form, before any move of it is looked at.
struct Certificate<'a> {
    board: Board,
    plies: usize,
    lines: Vec<Line<'a>>,
}

/// Takes bytes as the text of a certificate.
///
/// # Errors
/// The line with the first byte that is no text.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Fault { line, what: "this is not text in UTF-8".to_owned() }
    })
}

/// Proves a certificate with so many threads; `progress` hears how many openings of how many are proven.
///
/// # Errors
/// The first line that is wrong. Faults of form are found in all lines before the first proof begins.
pub(crate) fn check(
    text: &str,
    threads: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Summary, Fault> {
    let certificate = read(text)?;
    complete(&certificate)?;
    for line in &certificate.lines {
        certificate.follow(line, &mut |_, _| Ok(()))?;
    }
    let (leaves, nodes) = prove(&certificate, threads.max(1), progress)?;
    Ok(certificate.summary(leaves, nodes))
}

/// Reads the lines, each by itself.
fn read(text: &str) -> Result<Certificate<'_>, Fault> {
    let mut rows = text.split('\n').enumerate().map(|(index, row)| (index + 1, row)).collect::<Vec<_>>();
    let (last, rest) = rows.pop().unwrap_or((1, ""));
    if !rest.is_empty() {
        return Err(Fault { line: last, what: "the line has no end: the file was cut".to_owned() });
    }
    let mut rows = rows.into_iter();
    let Some((_, header)) = rows.next() else {
        return Err(Fault { line: 1, what: "the file is empty".to_owned() });
    };
    let (board, plies) = read_header(header).map_err(|what| Fault { line: 1, what })?;
    let lines = rows.map(|(number, row)| read_line(&board, number, row)).collect::<Result<_, _>>()?;
    Ok(Certificate { board, plies, lines })
}

/// Reads the first line, such as `isolation 6x9 plies 10`.
fn read_header(header: &str) -> Result<(Board, usize), String> {
    let wanted = || "expected a header such as `isolation 6x9 plies 10`".to_owned();
    let words: Vec<&str> = header.split(' ').collect();
    let ["isolation", size, "plies", plies] = words[..] else { return Err(wanted()) };
    let (width, height) = size.split_once('x').ok_or_else(wanted)?;
    let (width, height) = (read_number(width).ok_or_else(wanted)?, read_number(height).ok_or_else(wanted)?);
    let plies = read_number(plies).ok_or_else(wanted)?;
    Ok((Board::new(width, height)?, plies))
}

/// Reads a number of one to three digits, without a sign and without leading zeros.
fn read_number(word: &str) -> Option<usize> {
    let plain = (1..=3).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    let plain = plain && (word == "0" || !word.starts_with('0'));
    if plain { word.parse().ok() } else { None }
}

/// Reads a line after the first, such as `a1 c2 1 0213`.
fn read_line<'a>(board: &Board, number: usize, row: &'a str) -> Result<Line<'a>, Fault> {
    let fault = |what: String| Fault { line: number, what };
    let words: Vec<&'a str> = row.split(' ').collect();
    let [first, second, winner, digits] = words[..] else {
        return Err(fault("expected `FIRST SECOND WINNER MOVES`, separated by single blanks".to_owned()));
    };
    let cell = |name: &str| {
        let size = format!("{}x{}", board.width(), board.height());
        board.cell(name).ok_or_else(|| fault(format!("`{}` is no cell of {size}", name.escape_debug())))
    };
    let (first, second) = (cell(first)?, cell(second)?);
    if first == second {
        return Err(fault("both tokens are placed on the same cell".to_owned()));
    }
    let winner = match winner {
        "1" => 0,
        "2" => 1,
        _ => return Err(fault(format!("the winner is 1 or 2, not `{}`", winner.escape_debug()))),
    };
    if digits.is_empty() {
        return Err(fault("the moves are missing: write `-` for none".to_owned()));
    }
    let digits = if digits == "-" { "" } else { digits };
    if let Some(other) = digits.chars().find(|letter| !letter.is_ascii_digit()) {
        return Err(fault(format!("`{}` among the moves is no digit", other.escape_debug())));
    }
    Ok(Line { number, first, second, winner, digits })
}

/// Checks that each opening has one line, it or one of its mirror images.
fn complete(certificate: &Certificate<'_>) -> Result<(), Fault> {
    let board = &certificate.board;
    // The line of each pair of cells; no opening is in line 0.
    let mut lines = vec![0; board.size() * board.size()];
    for line in &certificate.lines {
        let earlier = lines[line.first * board.size() + line.second];
        if earlier != 0 {
            let what = format!("{} is in line {earlier} already, up to symmetry", line.opening(board));
            return Err(Fault { line: line.number, what });
        }
        for (first, second) in board.images(line.first, line.second) {
            lines[first * board.size() + second] = line.number;
        }
    }
    let pairs = (0..lines.len()).map(|pair| (pair / board.size(), pair % board.size()));
    let mut missing =
        pairs.filter(|&(first, second)| first != second && lines[first * board.size() + second] == 0);
    let Some((first, second)) = missing.next() else { return Ok(()) };
    let what = format!("the file ends without opening {} {}", board.name(first), board.name(second));
    Err(Fault { line: certificate.lines.len() + 2, what })
}

/// Proves all lines, side by side, and counts the positions proven and searched.
fn prove(
    certificate: &Certificate<'_>,
    threads: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<(u64, u64), Fault> {
    let lines = &certificate.lines;
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let result = Mutex::new(Ok((0, 0)));
    let work = || {
        let mut solver = solver(&certificate.board);
        let mut leaves = 0;
        while let Some(line) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = certificate.prove(line, &mut *solver);
            leaves += *outcome.as_ref().unwrap_or(&0);
            if let Err(fault) = outcome {
                // Earlier lines are with other threads already: the first of all faults is found.
                next.store(lines.len(), Ordering::Relaxed);
                join(&result, Err(fault));
                return;
            }
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, lines.len());
        }
        join(&result, Ok((leaves, solver.nodes())));
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.min(lines.len()) {
            scope.spawn(work);
        }
    });
    result.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Adds what one thread found: counts add up, and the fault of the earliest line stands.
fn join(result: &Mutex<Result<(u64, u64), Fault>>, found: Result<(u64, u64), Fault>) {
    let mut result = result.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let joined = match (&*result, found) {
        (Ok(one), Ok(other)) => Ok((one.0 + other.0, one.1 + other.1)),
        (Ok(_), Err(fault)) => Err(fault),
        (Err(one), Err(other)) if other.line < one.line => Err(other),
        (Err(one), _) => Err(one.clone()),
    };
    *result = joined;
}

impl Line<'_> {
    /// The opening by the names of its cells.
    fn opening(&self, board: &Board) -> String {
        format!("{} {}", board.name(self.first), board.name(self.second))
    }
}

impl Certificate<'_> {
    /// Follows the moves of a line, and hands each position after N plies to `leaf` with the cells played.
    fn follow(&self, line: &Line<'_>, leaf: &mut Leaf<'_>) -> Result<(), Fault> {
        let path = vec![line.first, line.second];
        let mut walk =
            Walk { certificate: self, winner: line.winner, digits: line.digits.bytes(), path, leaf };
        let result = walk.walk(&Position::placed(&self.board, line.first, line.second), 0);
        let left = walk.digits.len();
        let result = result.and_then(|()| match left {
            0 => Ok(()),
            _ => Err(format!("digits that are too many at the end: {left}")),
        });
        result.map_err(|what| Fault { line: line.number, what })
    }

    /// Proves a line: its winner wins each position after N plies. Gives the number of such positions.
    fn prove(&self, line: &Line<'_>, solver: &mut dyn Solve) -> Result<u64, Fault> {
        let mut proven = HashSet::new();
        self.follow(line, &mut |pos, path| {
            if !proven.insert(*pos) {
                return Ok(());
            }
            let mover_is_winner = path.len() % 2 == line.winner;
            if solver.wins(pos) == mover_is_winner {
                return Ok(());
            }
            let names: Vec<String> = path.iter().map(|&cell| self.board.name(cell)).collect();
            Err(format!("player {} does not win after {}", line.winner + 1, names.join(" ")))
        })?;
        Ok(proven.len() as u64)
    }

    /// Counts who wins what.
    fn summary(&self, leaves: u64, nodes: u64) -> Summary {
        let (mut one_colour, mut two_colours) = ([0; 2], [0; 2]);
        for line in &self.lines {
            let mut images = self.board.images(line.first, line.second);
            images.sort_unstable();
            images.dedup();
            let same = self.board.same_colour(line.first, line.second);
            let counts = if same { &mut one_colour } else { &mut two_colours };
            counts[line.winner] += images.len();
        }
        let (width, height) = (self.board.width(), self.board.height());
        let (plies, classes) = (self.plies, self.lines.len());
        Summary { width, height, plies, classes, one_colour, two_colours, leaves, nodes }
    }
}

/// Judges a position after N plies, given the cells from the first placement on.
type Leaf<'a> = dyn FnMut(&Position, &[usize]) -> Result<(), String> + 'a;

/// The walk through the positions of one line.
struct Walk<'a, 'b> {
    certificate: &'a Certificate<'a>,
    winner: usize,
    digits: std::str::Bytes<'a>,
    path: Vec<usize>,
    leaf: &'a mut Leaf<'b>,
}

impl Walk<'_, '_> {
    /// Walks on from a position: the winner plays by the next digit, the loser every move in turn.
    fn walk(&mut self, pos: &Position, ply: usize) -> Result<(), String> {
        if ply == self.certificate.plies {
            return (self.leaf)(pos, &self.path);
        }
        let moves = pos.moves(&self.certificate.board);
        if ply % 2 == self.winner {
            return self.given(pos, ply, moves);
        }
        for cell in each(moves) {
            self.step(pos, ply, cell)?;
        }
        Ok(())
    }

    /// Plays the move that the next digit gives.
    fn given(&mut self, pos: &Position, ply: usize, moves: u64) -> Result<(), String> {
        if moves == 0 {
            return Err(format!("the winner has no move after {}", self.names()));
        }
        let Some(digit) = self.digits.next() else {
            return Err(format!("too few digits: none is left for the move after {}", self.names()));
        };
        match each(moves).nth(usize::from(digit - b'0')) {
            Some(cell) => self.step(pos, ply, cell),
            None => {
                let (digit, count) = (char::from(digit), moves.count_ones());
                Err(format!("digit {digit} is too large: there are {count} moves after {}", self.names()))
            }
        }
    }

    /// Plays a move and walks on.
    fn step(&mut self, pos: &Position, ply: usize, cell: usize) -> Result<(), String> {
        self.path.push(cell);
        let result = self.walk(&pos.after(cell), ply + 1);
        self.path.pop();
        result
    }

    /// The cells played so far, by name.
    fn names(&self) -> String {
        let board = &self.certificate.board;
        self.path.iter().map(|&cell| board.name(cell)).collect::<Vec<_>>().join(" ")
    }
}
