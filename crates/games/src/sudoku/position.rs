//! The state of a game: values, owners, points, what was declared, and how one turn changes it.
//!
//! Knows no solver: [`rules`](super::rules) decide whether a move fills its cell or is taboo. The position
//! carries the witness, the rules maintain it.

use super::grid::Grid;
use super::rules::{Fill, Sudoku};
use plyd_core::game::Side;
use plyd_core::zobrist::mix;

/// A cell of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Square {
    /// Its value; 0 while it is empty.
    pub value: u8,
    /// Its value in a solution of the puzzle.
    pub witness: u8,
    /// Whose value it is; nobody's in `classic`, and of the clues of a start.
    pub owner: Option<Side>,
    /// The values that were declared taboo here, as bits from the lowest.
    pub taboo: u32,
    /// Whether each player may play here once it is empty.
    pub(super) reached: [bool; 2],
}

/// A state of the game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    pub(super) squares: Vec<Square>,
    /// The values in each row, column and block, as bits from the lowest.
    pub(super) used: Vec<u32>,
    /// Empty cells that each player may play.
    pub(super) playable: [u16; 2],
    pub(super) empty: u16,
    pub(super) scores: [i32; 2],
    pub(super) mover: Side,
    pub(super) hash: u64,
    pub(super) history: Vec<Fill>,
    /// The solver's nodes so far, from the start on.
    pub(super) nodes: u64,
    /// Whether they did not suffice: the board may have no solution, and the witness may solve nothing.
    pub(super) is_undecided: bool,
}

/// What a move changed.
#[derive(Clone, Debug)]
pub struct Undo {
    pub(super) mover: Side,
    pub(super) change: Change,
    /// The solution that was the witness, if it changed.
    pub(super) witness: Option<Vec<u8>>,
    pub(super) nodes: u64,
    pub(super) is_undecided: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Taboo,
    /// Points, and which of the neighbours were reached anew, as bits in the grid's order.
    Filled {
        points: i32,
        reached: u8,
    },
}

/// What a position is made from, each list by cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Setup {
    /// The values; 0 for empty cells.
    pub values: Vec<u8>,
    /// A solution; anything if it is undecided whether there is one.
    pub witness: Vec<u8>,
    /// The owners of values.
    pub owners: Vec<Option<Side>>,
    /// The moves that were declared taboo.
    pub taboo: Vec<Fill>,
    /// The points of both players.
    pub scores: [i32; 2],
    /// The player to move, unless that one has no cell to play.
    pub mover: Side,
    /// The moves that led here, as far as they are known.
    pub history: Vec<Fill>,
    /// The nodes that the solver took for it.
    pub nodes: u64,
    /// Whether these did not suffice.
    pub is_undecided: bool,
}

impl Position {
    /// A cell.
    #[inline]
    #[must_use]
    pub fn square(&self, cell: usize) -> &Square {
        &self.squares[cell]
    }

    /// All cells, by rows from the top left.
    #[must_use]
    pub fn squares(&self) -> &[Square] {
        &self.squares
    }

    /// The points of both players.
    #[must_use]
    pub fn scores(&self) -> [i32; 2] {
        self.scores
    }

    /// The side to move.
    #[inline]
    #[must_use]
    pub fn mover(&self) -> Side {
        self.mover
    }

    /// The number of empty cells.
    #[must_use]
    pub fn empty(&self) -> usize {
        self.empty.into()
    }

    /// Whether a player may play a cell: it is empty, and allowed or beside an own one.
    #[inline]
    #[must_use]
    pub fn is_playable(&self, cell: usize, side: Side) -> bool {
        let square = &self.squares[cell];
        square.value == 0 && square.reached[side.index()]
    }

    /// The moves that led here, taboo ones too: those of the start as far as its text listed them, and those
    /// played since.
    #[must_use]
    pub fn history(&self) -> &[Fill] {
        &self.history
    }

    /// Whether a value stands in none of the cell's regions.
    #[inline]
    pub(super) fn fits(&self, grid: &Grid, mv: Fill) -> bool {
        let [row, column, block] = grid.regions_of(mv.cell.into()).map(|region| self.used[region]);
        (row | column | block) >> (mv.value - 1) & 1 == 0
    }

    /// The values that stand in none of an empty cell's regions, as bits from the lowest; none for a full
    /// cell.
    #[inline]
    #[must_use]
    pub(super) fn candidates(&self, grid: &Grid, cell: usize) -> u32 {
        if self.squares[cell].value != 0 {
            return 0;
        }
        let [row, column, block] = grid.regions_of(cell).map(|region| self.used[region]);
        grid.all_values() & !(row | column | block)
    }

    /// The empty cells of a region.
    #[inline]
    #[must_use]
    pub(super) fn missing(&self, grid: &Grid, region: usize) -> u32 {
        grid.side() as u32 - self.used[region].count_ones()
    }

    pub(super) fn set_witness(&mut self, witness: &[u8]) {
        for (square, &value) in self.squares.iter_mut().zip(witness) {
            square.witness = value;
        }
    }

    /// The values of the board, then their solution.
    pub(super) fn boards(&self) -> (Vec<u8>, Vec<u8>) {
        self.squares.iter().map(|square| (square.value, square.witness)).unzip()
    }
}

/// Keys of a fact about a cell and a value; with `kind` apart, 2^20 of each.
const fn key(kind: u64, fact: usize) -> u64 {
    mix((kind << 20 | fact as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x7375_646f_6b75)
}

const VALUE: u64 = 1;
const TABOO: u64 = 2;
const OWNER: u64 = 3;
const ALLOWED: u64 = 4;
const SHAPE: u64 = 5;
pub(super) const SECOND: u64 = key(6, 0);

impl Sudoku {
    /// A position from its parts, which must fit each other: unless it is undecided, the witness solves the
    /// values and every taboo move was declared rightly.
    #[must_use]
    pub(super) fn position(&self, setup: Setup) -> Position {
        let grid = self.grid();
        let mut pos = Position {
            squares: vec![Square::default(); grid.cells()],
            used: vec![0; grid.regions().len()],
            playable: [0; 2],
            empty: 0,
            scores: setup.scores,
            mover: Side::First,
            hash: key(SHAPE, grid.m() * 16 + grid.n()),
            history: setup.history,
            nodes: setup.nodes,
            is_undecided: setup.is_undecided,
        };
        for (cell, square) in pos.squares.iter_mut().enumerate() {
            square.value = setup.values[cell];
            square.witness = setup.witness[cell];
            square.owner = setup.owners[cell];
            square.reached = [!self.is_bound(); 2];
            if square.value == 0 {
                pos.empty += 1;
            } else {
                pos.hash ^= self.fill_key(cell, square.value, square.owner);
                for region in grid.regions_of(cell) {
                    pos.used[region] |= 1 << (square.value - 1);
                }
            }
        }
        for side in Side::ALL {
            let allowed = self.choice().allowed.as_ref().map_or(&[][..], |allowed| &allowed[side.index()]);
            for &cell in allowed {
                pos.hash ^= key(ALLOWED + 4 * side.index() as u64, cell.into());
                pos.squares[usize::from(cell)].reached[side.index()] = true;
            }
            for cell in (0..grid.cells()).filter(|&cell| setup.owners[cell] == Some(side)) {
                for &near in grid.near(cell) {
                    pos.squares[usize::from(near)].reached[side.index()] = true;
                }
            }
        }
        for mv in setup.taboo {
            self.toggle_taboo(&mut pos, mv);
        }
        for side in Side::ALL {
            let cells = (0..grid.cells()).filter(|&cell| pos.is_playable(cell, side));
            pos.playable[side.index()] = cells.count() as u16;
        }
        self.pass_to(&mut pos, setup.mover);
        pos
    }

    fn fill_key(&self, cell: usize, value: u8, owner: Option<Side>) -> u64 {
        let value = key(VALUE, self.number(Fill { cell: cell as u16, value }));
        owner.map_or(value, |owner| value ^ key(OWNER, 2 * cell + owner.index()))
    }

    pub(super) fn toggle_taboo(&self, pos: &mut Position, mv: Fill) {
        pos.squares[usize::from(mv.cell)].taboo ^= 1 << (mv.value - 1);
        pos.hash ^= key(TABOO, self.number(mv));
    }

    /// Makes a side the mover, or the other one if that side has no cell to play and the other has.
    pub(super) fn pass_to(&self, pos: &mut Position, side: Side) {
        let skipped = pos.playable[side.index()] == 0 && pos.playable[side.other().index()] > 0;
        let side = if skipped { side.other() } else { side };
        pos.hash ^= if side == pos.mover { 0 } else { SECOND };
        pos.mover = side;
    }

    /// Fills a cell for the mover; the turn is not passed yet.
    pub(super) fn fill(&self, pos: &mut Position, mv: Fill) -> Change {
        let cell = usize::from(mv.cell);
        let grid = self.grid();
        let points = self.points(pos, cell);
        pos.scores[pos.mover.index()] += points;
        for side in Side::ALL {
            pos.playable[side.index()] -= u16::from(pos.is_playable(cell, side));
        }
        let owner = self.is_bound().then_some(pos.mover);
        pos.squares[cell].value = mv.value;
        pos.squares[cell].owner = owner;
        pos.empty -= 1;
        pos.hash ^= self.fill_key(cell, mv.value, owner);
        for region in grid.regions_of(cell) {
            pos.used[region] |= 1 << (mv.value - 1);
        }
        let mut reached = 0;
        if let Some(side) = owner {
            for (bit, &near) in grid.near(cell).iter().enumerate() {
                let square = &mut pos.squares[usize::from(near)];
                if !std::mem::replace(&mut square.reached[side.index()], true) {
                    reached |= 1 << bit;
                    pos.playable[side.index()] += u16::from(square.value == 0);
                }
            }
        }
        Change::Filled { points, reached }
    }

    /// Empties a cell that the mover filled last.
    pub(super) fn empty(&self, pos: &mut Position, mv: Fill, points: i32, reached: u8) {
        let cell = usize::from(mv.cell);
        let grid = self.grid();
        let owner = pos.squares[cell].owner;
        if let Some(side) = owner {
            for (bit, &near) in grid.near(cell).iter().enumerate() {
                if reached >> bit & 1 != 0 {
                    let square = &mut pos.squares[usize::from(near)];
                    square.reached[side.index()] = false;
                    pos.playable[side.index()] -= u16::from(square.value == 0);
                }
            }
        }
        for region in grid.regions_of(cell) {
            pos.used[region] &= !(1 << (mv.value - 1));
        }
        pos.hash ^= self.fill_key(cell, mv.value, owner);
        pos.empty += 1;
        pos.squares[cell].value = 0;
        pos.squares[cell].owner = None;
        for side in Side::ALL {
            pos.playable[side.index()] += u16::from(pos.is_playable(cell, side));
        }
        pos.scores[pos.mover.index()] -= points;
    }
}
