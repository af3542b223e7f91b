//! A position text taken apart: `m n`, the cells, and what stands after a `;`.
//!
//! Reads untrusted texts, which `written` writes; `state_text` reads those of the framework's own form.
//! Whether the board can be played on is checked when the layout becomes a position.

use super::grid::Grid;
use super::position::{Position, Setup};
use super::presets::StatedRules;
use super::rules::{Effect, Fill, POSITION_NODES, Sudoku};
use super::solver::Solved;
use plyd_core::game::{OpenError, Side, TextFault, offset_in};

/// How a position is written.
pub(super) const POSITION_GRAMMAR: &str = "`m n` (rows and columns of a block), then the cells by rows: `.` or `0` (empty) or a \
     value, with `+` or `-` behind it if it is player 1's or 2's (not in `classic`). Then, each optional and after a `;`: \
     `scores a b`, `taboo r,c,v ...`, `mover 1`, `allowed1 r,c ...`, `allowed2 r,c ...`; rows and columns from 0 at the top left: \
     `2 2 1 2 . . . . . . . . . . . . 2 1 ; scores 0 0 ; mover 1`. White space is free, so that a board file is a \
     position; the framework's state text (`rows = m`, ...) is read, too.";

/// The most points that a text may give.
const MAX_SCORE: usize = 1_000_000;

/// What a position text says.
///
/// ```
/// use plyd_core::game::Rules;
/// use plyd_sudoku::layout::Layout;
/// use plyd_sudoku::presets::Choice;
/// use plyd_sudoku::rules::Sudoku;
///
/// let layout = Layout::parse("2 2 1 2 3 4 3 4 . . . . 4 1 4 1 . 3").unwrap();
/// let choice = Choice::new(&Rules::default(), Some(&layout.stated_rules())).unwrap();
/// let game = Sudoku::new(choice);
/// assert_eq!(layout.position(&game).unwrap().empty(), 5);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Rows and columns of a block.
    pub shape: (usize, usize),
    /// The values by cells; 0 for empty ones.
    pub values: Vec<u8>,
    /// Whose they are.
    pub owners: Vec<Option<Side>>,
    /// The moves that were declared taboo.
    pub taboo: Vec<Fill>,
    /// The points of both players.
    pub scores: [i32; 2],
    /// The player to move.
    pub mover: Side,
    /// The cells that each player is allowed, if they are listed.
    pub allowed: [Option<Vec<u16>>; 2],
    /// The moves that led here, if they are listed.
    pub history: Vec<Fill>,
}

pub(super) fn malformed<T>(message: impl Into<String>) -> Result<T, OpenError> {
    Err(OpenError::Malformed(message.into()))
}

fn impossible<T>(message: impl Into<String>) -> Result<T, OpenError> {
    Err(OpenError::Impossible(message.into()))
}

/// A whole number of at most seven digits.
pub(super) fn number(word: &str) -> Result<usize, OpenError> {
    match word.parse() {
        Ok(number) if word.len() <= 7 && word.bytes().all(|byte| byte.is_ascii_digit()) => Ok(number),
        _ => malformed("expected a whole number"),
    }
}

impl Layout {
    /// Reads a position's text.
    ///
    /// # Errors
    /// [`OpenError::Malformed`] if the text has another form; [`OpenError::Impossible`] if it names a
    /// cell or a value that the board does not have.
    pub fn parse(text: &str) -> Result<Self, OpenError> {
        Ok(Self::read(text)?)
    }

    /// The same, with the place where the text is wrong.
    pub(super) fn read(text: &str) -> Result<Self, TextFault> {
        let mut parts = text.split(';');
        let cells = parts.next().unwrap_or_default();
        let mut words = cells.split_whitespace();
        let (Some(m), Some(n)) = (words.next(), words.next()) else {
            let message = "a position begins with the rows and the columns of a block";
            return Err(TextFault::malformed(cells.len(), message));
        };
        let at = |part| move |error: OpenError| TextFault { offset: offset_in(text, part), ..error.into() };
        let mut layout = Self::empty(number(m).map_err(at(m))?, number(n).map_err(at(n))?).map_err(at(m))?;
        layout.read_cells(cells, words)?;
        let mut seen: Vec<&str> = Vec::new();
        for part in parts {
            let mut words = part.split_whitespace();
            let Some(name) = words.next() else {
                return Err(TextFault::malformed(offset_in(text, part), "nothing stands after a `;`"));
            };
            if seen.contains(&name) {
                return Err(TextFault::malformed(offset_in(text, name), "the same stands after two `;`"));
            }
            seen.push(name);
            match name {
                "scores" => layout.scores = layout.pair(words).map_err(at(name))?,
                "taboo" => {
                    let fill = |word| layout.fill(word).map_err(at(word));
                    layout.taboo = words.map(fill).collect::<Result<_, _>>()?;
                }
                "mover" => layout.mover = player(words).map_err(at(name))?,
                "allowed1" => layout.allowed[0] = Some(layout.cells(words).map_err(at(name))?),
                "allowed2" => layout.allowed[1] = Some(layout.cells(words).map_err(at(name))?),
                _ => {
                    let message = "after a `;` stands `scores`, `taboo`, `mover`, `allowed1` or `allowed2`";
                    return Err(TextFault::malformed(offset_in(text, name), message));
                }
            }
        }
        Ok(layout)
    }

    /// The empty board of a shape.
    pub(super) fn empty(m: usize, n: usize) -> Result<Self, OpenError> {
        if !Grid::BLOCK.contains(&m) || !Grid::BLOCK.contains(&n) {
            let (least, most) = (Grid::BLOCK.start(), Grid::BLOCK.end());
            return impossible(format!("blocks have {least} to {most} rows and columns, not {m} and {n}"));
        }
        let cells = m * n * m * n;
        Ok(Self {
            shape: (m, n),
            values: vec![0; cells],
            owners: vec![None; cells],
            taboo: Vec::new(),
            scores: [0; 2],
            mover: Side::First,
            allowed: [None, None],
            history: Vec::new(),
        })
    }

    pub(super) fn side(&self) -> usize {
        self.shape.0 * self.shape.1
    }

    /// Reads the values of all cells, which are words of a text.
    pub(super) fn read_cells<'a>(
        &mut self,
        text: &str,
        words: impl Iterator<Item = &'a str>,
    ) -> Result<(), TextFault> {
        let (side, cells) = (self.side(), self.values.len());
        let mut read = 0;
        for word in words {
            let offset = offset_in(text, word);
            if read == cells {
                return Err(TextFault::malformed(offset, format!("more than {cells} cells")));
            }
            let (row, column) = (read / side, read % side);
            let malformed = |what: &str| {
                TextFault::malformed(offset, format!("the cell {row},{column} is {what}")).at((row, column))
            };
            let (digits, owner) = match word.as_bytes() {
                [.., b'+'] => (&word[..word.len() - 1], Some(Side::First)),
                [.., b'-'] => (&word[..word.len() - 1], Some(Side::Second)),
                _ => (word, None),
            };
            let value = match (digits, owner) {
                (".", None) => 0,
                (digits, _) => number(digits).map_err(|_| malformed("neither `.` nor a value"))?,
            };
            if value == 0 && owner.is_some() {
                return Err(malformed("empty, but somebody's"));
            }
            if value > side {
                let message = format!("the value {value} at {row},{column} is more than {side}");
                return Err(TextFault::impossible(offset, message).at((row, column)));
            }
            self.values[read] = value as u8;
            self.owners[read] = owner;
            read += 1;
        }
        if read < cells {
            let end = text.trim_end().len();
            return Err(TextFault::malformed(end, format!("{read} cells instead of {cells}")));
        }
        Ok(())
    }

    fn pair<'a>(&self, mut words: impl Iterator<Item = &'a str>) -> Result<[i32; 2], OpenError> {
        match (words.next(), words.next(), words.next()) {
            (Some(first), Some(second), None) => scores(number(first)?, number(second)?),
            _ => malformed("after `scores` stand two numbers"),
        }
    }

    /// A move, checked against the board's shape.
    pub(super) fn fill_at(&self, row: usize, column: usize, value: usize) -> Result<Fill, OpenError> {
        let cell = self.cell_at(row, column)?;
        if !(1..=self.side()).contains(&value) {
            return impossible(format!("the value {value} for {row},{column} is not 1 to {}", self.side()));
        }
        Ok(Fill { cell, value: value as u8 })
    }

    /// A cell, checked against the board's shape.
    pub(super) fn cell_at(&self, row: usize, column: usize) -> Result<u16, OpenError> {
        let side = self.side();
        if row >= side || column >= side {
            return impossible(format!(
                "the cell {row},{column} is off the board of {side} rows and columns"
            ));
        }
        Ok((row * side + column) as u16)
    }

    fn fill(&self, word: &str) -> Result<Fill, OpenError> {
        match word.split(',').collect::<Vec<_>>()[..] {
            [row, column, value] => self.fill_at(number(row)?, number(column)?, number(value)?),
            _ => malformed("a taboo move is written `r,c,v`"),
        }
    }

    fn cells<'a>(&self, words: impl Iterator<Item = &'a str>) -> Result<Vec<u16>, OpenError> {
        let cell = |word: &str| match word.split(',').collect::<Vec<_>>()[..] {
            [row, column] => self.cell_at(number(row)?, number(column)?),
            _ => malformed("an allowed cell is written `r,c`"),
        };
        let cells = words.map(cell).collect::<Result<Vec<u16>, _>>()?;
        Ok(ascending(cells))
    }

    /// What the text says about the rules of its game.
    #[must_use]
    pub fn stated_rules(&self) -> StatedRules {
        StatedRules {
            shape: self.shape,
            allowed: self.allowed.clone(),
            has_owners: self.owners.iter().any(Option::is_some),
        }
    }

    /// The position in a game of that shape; it is undecided if the solver does not find out whether it is
    /// possible.
    ///
    /// # Errors
    /// [`OpenError::Impossible`] with the first cell at which the board breaks the rules or has no solution
    /// any more, or with a declared move that is not taboo; the fault knows the cell, and no text.
    pub fn position(self, game: &Sudoku) -> Result<Position, TextFault> {
        let mut left = POSITION_NODES;
        let solution = self.solution(game, &mut left)?;
        let is_undecided = solution.is_none();
        let taboo = self.taboo;
        let mut setup = Setup {
            witness: solution.unwrap_or_else(|| self.values.clone()),
            values: self.values,
            owners: self.owners,
            taboo: Vec::new(),
            scores: self.scores,
            mover: self.mover,
            history: self.history,
            nodes: POSITION_NODES - left,
            is_undecided,
        };
        let mut pos = game.position(setup.clone());
        for &mv in &taboo {
            let cell = usize::from(mv.cell);
            let stands = setup.values[cell] == mv.value;
            let fits = pos.candidates(game.grid(), cell) >> (mv.value - 1) & 1 != 0;
            let effect = if stands || (fits && pos.square(cell).witness == mv.value) {
                Effect::Fills(Vec::new())
            } else if fits {
                let (effect, nodes) = game.effect(&pos, mv);
                pos.nodes += nodes;
                effect
            } else {
                Effect::Passes
            };
            match effect {
                Effect::Fills(_) => {
                    let (row, column) = game.grid().place(cell);
                    let message = format!("the taboo move {row},{column},{} leaves a solution", mv.value);
                    return Err(TextFault::impossible(0, message).at((row, column)));
                }
                Effect::Passes => {}
                Effect::Undecided => pos.is_undecided = true,
            }
        }
        (setup.nodes, setup.is_undecided) = (pos.nodes, pos.is_undecided);
        if setup.is_undecided {
            game.effort().leave_undecided();
        }
        Ok(game.position(Setup { taboo: ascending(taboo), ..setup }))
    }

    /// A solution of the board; none if the nodes do not suffice to find one or to prove that there is none.
    fn solution(&self, game: &Sudoku, nodes: &mut u64) -> Result<Option<Vec<u8>>, TextFault> {
        let grid = game.grid();
        let mut used = vec![0_u32; grid.regions().len()];
        for (cell, &value) in self.values.iter().enumerate().filter(|&(_, &value)| value != 0) {
            for region in grid.regions_of(cell) {
                if used[region] >> value & 1 != 0 {
                    let (row, column) = grid.place(cell);
                    let name = ["row", "column", "block"][region / grid.side()];
                    let message = format!("the value {value} at {row},{column} is in its {name} already");
                    return Err(TextFault::impossible(0, message).at((row, column)));
                }
                used[region] |= 1 << value;
            }
        }
        match game.solver().solve(&self.values, &[], nodes, game.effort()) {
            Solved::By(solution) => return Ok(Some(solution)),
            Solved::Unknown => return Ok(None),
            Solved::Never => {}
        }
        // The values before some cell have a solution, those up to it have none: bisection finds that cell.
        let clues: Vec<usize> = (0..self.values.len()).filter(|&cell| self.values[cell] != 0).collect();
        let (mut solved, mut unsolved) = (0, clues.len());
        while unsolved - solved > 1 {
            let middle = (solved + unsolved) / 2;
            let mut values = vec![0; self.values.len()];
            clues[..middle].iter().for_each(|&cell| values[cell] = self.values[cell]);
            match game.solver().solve(&values, &[], nodes, game.effort()) {
                Solved::By(_) => solved = middle,
                Solved::Never => unsolved = middle,
                Solved::Unknown => return Err(TextFault::impossible(0, "the board has no solution")),
            }
        }
        let (row, column) = grid.place(clues[unsolved - 1]);
        let value = self.values[clues[unsolved - 1]];
        let message = format!("with the value {value} at {row},{column} the board has no solution");
        Err(TextFault::impossible(0, message).at((row, column)))
    }
}

/// The points of both players.
pub(super) fn scores(first: usize, second: usize) -> Result<[i32; 2], OpenError> {
    if first.max(second) > MAX_SCORE {
        return impossible(format!("nobody has more than {MAX_SCORE} points"));
    }
    Ok([first as i32, second as i32])
}

/// A player's number.
pub(super) fn player<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<Side, OpenError> {
    match (words.next(), words.next()) {
        (Some("1"), None) => Ok(Side::First),
        (Some("2"), None) => Ok(Side::Second),
        _ => malformed("the mover is `1` or `2`"),
    }
}

/// Each once, ascending.
pub(super) fn ascending<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort_unstable();
    list.dedup();
    list
}

#[cfg(test)]
mod tests {
    use super::super::boards::BOARDS;
    use super::super::presets::Choice;
    use super::super::written::write;
    use super::*;
    use plyd_core::game::Rules;

    fn open(text: &str) -> Result<String, OpenError> {
        let layout = Layout::parse(text)?;
        let game = Sudoku::new(Choice::new(&Rules::default(), Some(&layout.stated_rules()))?);
        Ok(write(&game, &layout.position(&game)?))
    }

    #[test]
    fn board_files_are_positions() {
        for board in BOARDS {
            let words: Vec<&str> = board.text.split_whitespace().collect();
            let line = format!("{} ; scores 0 0 ; mover 1", words.join(" "));
            assert_eq!(open(board.text).as_ref(), Ok(&line), "{}", board.name);
            assert_eq!(open(&line), Ok(line));
        }
    }

    #[test]
    fn texts_read_back() {
        for text in [
            "2 2 1 2 . . . . . . . . . . . . 2 1 ; scores 0 0 ; mover 1",
            "2 2 1 2 3 . 3 4 1 2 2 1 . 3 . 3 . 1 ; scores 3 1 ; taboo 2,2,2 3,0,2 ; mover 2",
            "2 2 1 2 3 4 3 4 1 2 2 1 4 3 4 3 2 1 ; scores 30 11 ; mover 1",
            "2 2 1+ 2- 3 . . . . . . . . . . . . . ; scores 0 0 ; mover 1 ; allowed1 2,2 ; allowed2 0,3 3,3",
            "2 2 . . . . . . . . . . . . . . . . ; scores 0 0 ; mover 2 ; allowed1 ; allowed2 3,3",
        ] {
            assert_eq!(open(text).as_deref(), Ok(text));
            assert_eq!(open(&text.replace(' ', " \n\t")).as_deref(), Ok(text));
        }
        // Lists that a preset would imply, where no rule names one.
        for text in [
            "2 2 . . . . . . . . . . . . . . . . ; scores 0 0 ; mover 1 ; allowed1 0,0 0,1 0,2 0,3 ; allowed2 3,0 3,1 3,2 3,3",
            "2 2 1+ . . . . . . . . . . . . . . . ; scores 0 0 ; mover 2 ; allowed1 0,0 0,1 0,2 0,3 ; allowed2 3,0 3,1 3,2 3,3",
        ] {
            assert_eq!(open(text).as_deref(), Ok(text));
        }
        let short = "2 2 1 2 0 . 0 0 0 0 0 . . . . . 2 1;mover 1;scores 0 0";
        let long = "2 2 1 2 . . . . . . . . . . . . 2 1 ; scores 0 0 ; mover 1";
        assert_eq!(open(short).as_deref(), Ok(long));
        // A player who cannot play is skipped, and lists are put in order.
        let skipped = "2 2 . . . . . . . . . . . . . . . . ; mover 1 ; allowed1 ; allowed2 3,3 3,0 3,3";
        assert!(open(skipped).unwrap().ends_with("mover 2 ; allowed1 ; allowed2 3,0 3,3"));
    }

    #[test]
    fn texts_are_malformed_or_impossible() {
        const BOARD: &str = "2 2 1 2 3 . 3 4 1 2 2 1 . 3 . 3 . 1";
        let table: &[(String, &str)] = &[
            (String::new(), "malformed"),
            ("2".into(), "malformed"),
            ("2 2".into(), "0 cells instead of 16"),
            ("1 4 . .".into(), "blocks have 2 to 5"),
            ("6 2 . .".into(), "blocks have 2 to 5"),
            ("99999999999999999999 1".into(), "malformed"),
            (format!("{BOARD} ."), "more than 16 cells"),
            (BOARD.replace('.', ".+"), "0,3"),
            (BOARD.replacen('.', "x", 1), "0,3"),
            (BOARD.replacen('.', "5", 1), "the value 5 at 0,3 is more than 4"),
            (BOARD.replacen('.', "-1", 1), "0,3"),
            (BOARD.replacen('.', "1", 1), "the value 1 at 0,3 is in its row already"),
            ("2 2 1 . . . . . . . 1 . . . . . . .".into(), "the value 1 at 2,0 is in its column already"),
            ("2 2 1 . . . . 1 . . . . . . . . . .".into(), "the value 1 at 1,1 is in its block already"),
            (
                "2 2 1 2 . . . . . 3 . . . 4 . . . .".into(),
                "with the value 3 at 1,3 the board has no solution",
            ),
            (format!("{BOARD};"), "nothing stands after"),
            (format!("{BOARD};points 1 2"), "after a `;` stands"),
            (format!("{BOARD};scores 1"), "two numbers"),
            (format!("{BOARD};scores 1 -2"), "whole number"),
            (format!("{BOARD};scores 1 9999999"), "points"),
            (format!("{BOARD};scores 1 2;scores 1 2"), "two `;`"),
            (format!("{BOARD};mover 3"), "the mover"),
            (format!("{BOARD};taboo 0,3"), "r,c,v"),
            (format!("{BOARD};taboo 0,4,1"), "0,4 is off the board"),
            (format!("{BOARD};taboo 0,3,5"), "1 to 4"),
            (format!("{BOARD};taboo 0,3,4"), "the taboo move 0,3,4 leaves a solution"),
            (format!("{BOARD};taboo 0,0,1"), "the taboo move 0,0,1 leaves a solution"),
            (format!("{BOARD};allowed1 0,0"), "classic"),
            (BOARD.replacen('1', "1+", 1), "classic"),
        ];
        for (text, expected) in table {
            let error = format!("{:?}", open(text).expect_err(text)).to_lowercase();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
