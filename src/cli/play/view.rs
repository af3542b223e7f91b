//! The side from which the board is looked at: one of the eight ways to turn and mirror a square.
//!
//! Only the picture turns. Rows and columns take their labels along, so that moves keep their names.

use crate::cli::picture::Emphasis;
use plyd_protocol::{Board, Cell, Side};

/// A way to turn or mirror the picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ViewChange {
    /// Left and right change places.
    X,
    /// Top and bottom change places.
    Y,
    /// Rows become columns.
    Transpose,
    Clockwise,
    CounterClockwise,
    /// Back to how the game draws it.
    Reset,
}

impl ViewChange {
    /// Reads the name of a way, or a beginning of it.
    ///
    /// # Errors
    /// A sentence with all names.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        Ok(match text.to_lowercase().as_str() {
            "x" => Self::X,
            "y" => Self::Y,
            "t" | "transpose" => Self::Transpose,
            "cw" | "clockwise" => Self::Clockwise,
            "ccw" | "counter-clockwise" | "counterclockwise" => Self::CounterClockwise,
            "r" | "reset" => Self::Reset,
            _ => {
                return Err(
                    "say x (left and right change places), y (top and bottom), transpose, clockwise, \
                            counter-clockwise or reset"
                        .into(),
                );
            }
        })
    }
}

/// How the board is seen: first transposed or not, then mirrored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct View {
    transposed: bool,
    /// Top and bottom have changed places.
    rows_turned: bool,
    /// Left and right have changed places.
    cols_turned: bool,
}

impl View {
    /// The view after one more turn of the picture.
    pub(super) fn turned(self, turn: ViewChange) -> Self {
        match turn {
            ViewChange::X => Self { cols_turned: !self.cols_turned, ..self },
            ViewChange::Y => Self { rows_turned: !self.rows_turned, ..self },
            ViewChange::Transpose => Self {
                transposed: !self.transposed,
                rows_turned: self.cols_turned,
                cols_turned: self.rows_turned,
            },
            ViewChange::Clockwise => self.turned(ViewChange::Transpose).turned(ViewChange::X),
            ViewChange::CounterClockwise => self.turned(ViewChange::Transpose).turned(ViewChange::Y),
            ViewChange::Reset => Self::default(),
        }
    }

    /// The board as it is seen.
    pub(super) fn board(self, board: &Board) -> Board {
        let size = [board.grid.rows, board.grid.cols];
        let mut seen = board.clone();
        let grid = &mut seen.grid;
        if self.transposed {
            std::mem::swap(&mut grid.rows, &mut grid.cols);
            std::mem::swap(&mut grid.row_labels, &mut grid.col_labels);
            grid.block = grid.block.map(|[height, width]| [width, height]);
        }
        if self.rows_turned {
            grid.row_labels.reverse();
        }
        if self.cols_turned {
            grid.col_labels.reverse();
        }
        for piece in &mut seen.pieces {
            piece.cell = self.cell(piece.cell, size);
            for cell in &mut piece.also {
                *cell = self.cell(*cell, size);
            }
        }
        for wall in &mut seen.walls {
            (wall.cell, wall.side) = (self.cell(wall.cell, size), self.side(wall.side));
        }
        for mark in &mut seen.marks {
            mark.cell = self.cell(mark.cell, size);
        }
        seen
    }

    /// What stands out, at the places where it is seen.
    pub(super) fn emphasis(self, emphasis: &Emphasis, board: &Board) -> Emphasis {
        let size = [board.grid.rows, board.grid.cols];
        let seen = |cells: &[Cell]| cells.iter().map(|cell| self.cell(*cell, size)).collect();
        Emphasis {
            last: seen(&emphasis.last),
            targets: seen(&emphasis.targets),
            cursor: emphasis.cursor.map(|cell| self.cell(cell, size)),
        }
    }

    /// Where a cell of a board of so many rows and columns is seen.
    pub(super) fn cell(self, [row, col]: Cell, [rows, cols]: [u32; 2]) -> Cell {
        let ([row, col], [rows, cols]) =
            if self.transposed { ([col, row], [cols, rows]) } else { ([row, col], [rows, cols]) };
        let turned = |at: u32, size: u32, is_turned| {
            if is_turned { size.saturating_sub(at.saturating_add(1)) } else { at }
        };
        [turned(row, rows, self.rows_turned), turned(col, cols, self.cols_turned)]
    }

    /// Where a side of a cell is seen; the same for a direction.
    fn side(self, side: Side) -> Side {
        let transposed = match side {
            side if !self.transposed => side,
            Side::Up => Side::Left,
            Side::Left => Side::Up,
            Side::Down => Side::Right,
            Side::Right => Side::Down,
        };
        match transposed {
            Side::Up if self.rows_turned => Side::Down,
            Side::Down if self.rows_turned => Side::Up,
            Side::Left if self.cols_turned => Side::Right,
            Side::Right if self.cols_turned => Side::Left,
            side => side,
        }
    }

    /// The direction on the board of one that is seen.
    pub(super) fn direction(self, seen: Side) -> Side {
        let all = [Side::Up, Side::Right, Side::Down, Side::Left];
        all.into_iter().find(|side| self.side(*side) == seen).unwrap_or(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_protocol::{Grid, Piece, Player, Wall};

    use crate::cli::picture;

    fn board() -> Board {
        let piece = Piece {
            cell: [0, 0],
            also: vec![[0, 1]],
            piece: "l".into(),
            owner: Some(Player::P1),
            label: None,
        };
        Board {
            grid: Grid {
                rows: 2,
                cols: 3,
                row_labels: vec!["1".into(), "2".into()],
                col_labels: ["a", "b", "c"].map(Into::into).into(),
                ..Grid::default()
            },
            pieces: vec![piece],
            walls: vec![Wall { cell: [1, 1], side: Side::Right }],
            ..Board::default()
        }
    }

    fn drawn(turns: &[ViewChange]) -> String {
        let view = turns.iter().fold(View::default(), |view, turn| view.turned(*turn));
        picture::board(&view.board(&board()))
            .lines()
            .filter(|line| !line.contains("p1's"))
            .fold(String::new(), |text, line| text + line + "\n")
    }

    #[test]
    fn pictures_turn_and_labels_with_them() {
        for (turns, expected) in [
            (&[][..], "   a b c\n  +-+-+-+\n1 |L L .|\n2 |. .|.|\n  +-+-+-+\n"),
            (&[ViewChange::X], "   c b a\n  +-+-+-+\n1 |. L L|\n2 |.|. .|\n  +-+-+-+\n"),
            (&[ViewChange::Y], "   a b c\n  +-+-+-+\n2 |. .|.|\n1 |L L .|\n  +-+-+-+\n"),
            (&[ViewChange::Transpose], "   1 2\n  +-+-+\na |L .|\nb |L .|\n    +-+\nc |. .|\n  +-+-+\n"),
            (&[ViewChange::Clockwise], "   2 1\n  +-+-+\na |. L|\nb |. L|\n  +-+\nc |. .|\n  +-+-+\n"),
            (
                &[ViewChange::CounterClockwise],
                "   1 2\n  +-+-+\nc |. .|\n    +-+\nb |L .|\na |L .|\n  +-+-+\n",
            ),
        ] {
            assert_eq!(drawn(turns), expected, "{turns:?}:\n{}", drawn(turns));
        }
    }

    #[test]
    fn turns_make_a_group_of_eight() {
        use ViewChange::{Clockwise, CounterClockwise, Reset, Transpose, X, Y};
        for (turns, same) in [
            (&[Clockwise; 4][..], &[][..]),
            (&[Clockwise, CounterClockwise], &[]),
            (&[X, X], &[]),
            (&[Clockwise, Clockwise], &[X, Y]),
            (&[Transpose, Clockwise], &[X]),
            (&[X, Clockwise], &[Clockwise, Y]),
            (&[Clockwise, X, Transpose, Reset], &[]),
        ] {
            assert_eq!(drawn(turns), drawn(same), "{turns:?}");
        }
    }

    #[test]
    fn directions_come_back_from_where_they_are_seen() {
        let all = [Side::Up, Side::Right, Side::Down, Side::Left];
        for turn in [
            ViewChange::X,
            ViewChange::Y,
            ViewChange::Transpose,
            ViewChange::Clockwise,
            ViewChange::CounterClockwise,
        ] {
            let view = View::default().turned(turn);
            for side in all {
                assert_eq!(view.direction(view.side(side)), side, "{turn:?}");
            }
        }
        assert_eq!(View::default().turned(ViewChange::Clockwise).direction(Side::Right), Side::Up);
    }
}
