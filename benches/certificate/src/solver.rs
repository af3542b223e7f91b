//! Solves positions exactly: depth-first search for a win, with a table of whole positions.
//!
//! Nothing here reads certificates. Where a result is known without a search, a comment says why.

use super::board::{Board, Cells, Position, each};
use super::paths::{self, Walker};
use super::spread::{Race, Spread};
use super::table::Table;

/// Positions with fewer cells within reach than this are searched again rather than kept.
const KEPT: u32 = 12;

/// Says who wins a position.
pub(crate) trait Solve {
    /// Whether the player to move wins.
    fn wins(&mut self, pos: &Position) -> bool;

    /// The positions searched so far.
    fn nodes(&self) -> u64;
}

/// A solver for a board, compiled for its width.
pub(crate) fn solver(board: &Board) -> Box<dyn Solve> {
    match board.width() {
        3 => Box::new(Solver::<3>::new(board)),
        4 => Box::new(Solver::<4>::new(board)),
        5 => Box::new(Solver::<5>::new(board)),
        6 => Box::new(Solver::<6>::new(board)),
        7 => Box::new(Solver::<7>::new(board)),
        8 => Box::new(Solver::<8>::new(board)),
        9 => Box::new(Solver::<9>::new(board)),
        10 => Box::new(Solver::<10>::new(board)),
        11 => Box::new(Solver::<11>::new(board)),
        12 => Box::new(Solver::<12>::new(board)),
        13 => Box::new(Solver::<13>::new(board)),
        14 => Box::new(Solver::<14>::new(board)),
        // A board has no other width.
        _ => Box::new(Solver::<15>::new(board)),
    }
}

/// A move that needs a search.
#[derive(Clone, Copy)]
struct Child {
    /// The open cells after it, without those out of reach of both.
    open: Cells,
    /// How good it looks for the one who moves.
    value: i32,
    /// Where it goes.
    cell: u8,
    /// Whether no cell is within reach of both.
    apart: bool,
}

/// The moves of a position that need a search, the best first.
struct Children {
    list: [Child; 8],
    length: usize,
}

impl Children {
    /// No moves.
    fn new() -> Self {
        Self { list: [Child { open: 0, value: 0, cell: 0, apart: false }; 8], length: 0 }
    }

    /// Adds a move at its place.
    #[inline(always)]
    fn insert(&mut self, child: Child) {
        let mut place = self.length & 7;
        while place > 0 && self.list[place - 1].value < child.value {
            self.list[place] = self.list[place - 1];
            place -= 1;
        }
        self.list[place] = child;
        self.length += 1;
    }
}

/// A solver for boards of `W` columns.
struct Solver<const W: usize> {
    jumps: [Cells; 64],
    table: Table,
    nodes: u64,
}

impl<const W: usize> Solve for Solver<W> {
    fn wins(&mut self, pos: &Position) -> bool {
        let (moves, replies) = (self.moves(pos.mover, pos.open), self.moves(pos.other, pos.open));
        let open = Spread::<W>::reach(pos.open, moves | replies);
        self.search(&Position { open, ..*pos })
    }

    fn nodes(&self) -> u64 {
        self.nodes
    }
}

impl<const W: usize> Solver<W> {
    /// A solver that knows no position yet.
    fn new(board: &Board) -> Self {
        Self { jumps: *board.jumps(), table: Table::default(), nodes: 0 }
    }

    /// The moves of a token.
    #[inline(always)]
    fn moves(&self, cell: u8, open: Cells) -> Cells {
        self.jumps[usize::from(cell & 63)] & open
    }

    /// Whether the player to move wins a position in which every open cell is within reach. The table was
    /// asked before, when the move to the position was sorted.
    fn search(&mut self, pos: &Position) -> bool {
        self.nodes += 1;
        let won = self.expand(pos);
        if pos.open.count_ones() >= KEPT {
            self.table.put(pos, won);
        }
        won
    }

    /// Whether some move wins.
    fn expand(&mut self, pos: &Position) -> bool {
        let (moves, replies) = (self.moves(pos.mover, pos.open), self.moves(pos.other, pos.open));
        if moves == 0 {
            return false;
        }
        // The opponent cannot move, or its only move can be taken.
        if replies == 0 || (replies & (replies - 1) == 0 && moves & replies != 0) {
            return true;
        }
        let mut children = Children::new();
        if self.sort(pos, moves, replies, &mut children) {
            return true;
        }
        for child in &children.list[..children.length & 15] {
            let after = Position { open: child.open, mover: pos.other, other: child.cell };
            let won = if child.apart { self.walk(&after) } else { self.search(&after) };
            if !won {
                return true;
            }
        }
        false
    }

    /// Sorts the moves that need a search; true if one wins without. The opponent has a reply to each.
    #[inline(always)]
    fn sort(&self, pos: &Position, moves: Cells, replies: Cells, children: &mut Children) -> bool {
        let rich = Spread::<W>::four(pos.open);
        for cell in each(moves) {
            let open = pos.open & !(1 << cell);
            let replies = replies & open;
            let onward = self.moves(cell as u8, open);
            // No move after the opponent's, or the opponent can take the only one: this loses.
            if onward == 0 || (onward & (onward - 1) == 0 && onward & replies != 0) {
                continue;
            }
            let race = Race::run::<W>(open, replies, onward);
            let after = Position { open: race.mover | race.other, mover: pos.other, other: cell as u8 };
            if !race.apart && after.open.count_ones() >= KEPT {
                match self.table.get(&after) {
                    Some(true) => continue,
                    Some(false) => return true,
                    None => {}
                }
            }
            let weigh = |cells: Cells| (cells.count_ones() + 2 * (cells & rich).count_ones()) as i32;
            let value = 3 * (weigh(race.other) - weigh(race.mover)) - onward.count_ones() as i32;
            children.insert(Child { open: after.open, value, cell: cell as u8, apart: race.apart });
        }
        false
    }

    /// Whether the player to move wins a position in which no cell is within reach of both.
    fn walk(&self, pos: &Position) -> bool {
        let walker = |cell: u8| {
            let moves = self.moves(cell, pos.open);
            Walker { region: Spread::<W>::reach(pos.open, moves), moves }
        };
        paths::wins::<W>(&self.jumps, &walker(pos.mover), &walker(pos.other))
    }
}
