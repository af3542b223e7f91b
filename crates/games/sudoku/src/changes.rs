//! How a position is made, and how one turn changes it and takes that back.
//!
//! Knows no solver: [`rules`](super::rules) decide whether a move fills its cell or is taboo.

use super::position::{
    ALLOWED, Change, Fill, OWNER, Position, SECOND, SHAPE, Setup, Square, TABOO, VALUE, key,
};
use super::rules::Sudoku;
use plyd_core::game::Side;

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
