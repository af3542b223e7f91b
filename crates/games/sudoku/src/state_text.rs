//! The state text of the course framework's version 14: lines of `name = value`, read and written.

use super::layout::{Layout, malformed, number, player, scores};
use super::position::Position;
use super::rules::{Fill, Sudoku};
use super::written::{cell_text, declared};
use plyd_core::game::{OpenError, Side};

/// Whether a position's text is a state text.
pub(super) fn is_one(text: &str) -> bool {
    text.trim_start().starts_with(|first: char| first == '#' || first.is_ascii_lowercase())
}

/// Reads a state text. A line that starts with a space continues the value before; `#` starts a comment.
///
/// # Errors
/// Those of [`Layout::parse`].
pub(super) fn parse(text: &str) -> Result<Layout, OpenError> {
    let entries = Entries::read(text)?;
    let size = |name| number(entries.get(name).unwrap_or_default().trim());
    let mut layout = Layout::empty(size("rows")?, size("columns")?)?;
    let Some(board) = entries.get("board") else { return malformed("the state has no `board`") };
    layout.read_cells(board, board.split_whitespace())?;
    let fills = |name| match entries.get(name) {
        Some(list) => fills(&layout, list),
        None => Ok(Vec::new()),
    };
    let (taboo, history) = (fills("taboo-moves")?, fills("moves")?);
    (layout.taboo, layout.history) = (taboo, history);
    if let Some(list) = entries.get("scores") {
        let mut list = Scanner::bracketed(list)?;
        let first = list.number()?;
        list.expect(",")?;
        layout.scores = scores(first, list.number()?)?;
        list.end()?;
    }
    if let Some(mover) = entries.get("current-player") {
        layout.mover = player(mover.split_whitespace())?;
    }
    for (at, name) in ["allowed-squares1", "allowed-squares2"].into_iter().enumerate() {
        if let Some(list) = entries.get(name) {
            let places = Scanner(list).list(Scanner::place)?;
            let cells = places.into_iter().map(|(row, column)| layout.cell_at(row, column));
            layout.allowed[at] = Some(super::layout::ascending(cells.collect::<Result<Vec<u16>, _>>()?));
        }
    }
    Ok(layout)
}

/// The state text of a position. Outside `classic` it cannot express that a clue belongs to nobody: like the
/// framework, it writes such clues as player 2's.
#[must_use]
pub(super) fn write(game: &Sudoku, pos: &Position) -> String {
    let (grid, bound) = (game.grid(), game.is_bound());
    let width = if bound { 6 } else { 4 };
    let mut text = format!("rows = {}\ncolumns = {}\nboard =\n", grid.m(), grid.n());
    for row in pos.squares().chunks(grid.side()) {
        for square in row {
            let owner = square.owner.or(bound.then_some(Side::Second));
            text += &format!("{:>width$}", cell_text(square.value, owner));
        }
        text.push('\n');
    }
    let place = |cell: usize| {
        let (row, column) = grid.place(cell);
        format!("({row},{column})")
    };
    let fill = |mv: Fill| format!("{} -> {}", place(mv.cell.into()), mv.value);
    let fills = |moves: Vec<String>| format!("[{}]", moves.join(", "));
    text += &format!("taboo-moves = {}\n", fills(declared(pos).map(fill).collect()));
    text += &format!("moves = {}\n", fills(pos.history().iter().copied().map(fill).collect()));
    let [first, second] = pos.scores();
    text += &format!("scores = [{first}, {second}]\ncurrent-player = {}\n", pos.mover().index() + 1);
    if let Some(allowed) = &game.choice().allowed {
        let mut list = |name: String, cells: Vec<usize>| {
            let cells: Vec<String> = cells.into_iter().map(place).collect();
            text += format!("{name} = {}", cells.join(", ")).trim_end();
            text.push('\n');
        };
        for (player, cells) in (1..).zip(allowed) {
            list(format!("allowed-squares{player}"), cells.iter().map(|&cell| cell.into()).collect());
        }
        for side in Side::ALL {
            let own = pos.squares().iter().enumerate().filter(|(_, square)| square.owner == Some(side));
            list(format!("occupied-squares{}", side.index() + 1), own.map(|(cell, _)| cell).collect());
        }
    }
    text
}

/// The names that a state text may hold.
const NAMES: [&str; 11] = [
    "rows",
    "columns",
    "board",
    "taboo-moves",
    "moves",
    "scores",
    "current-player",
    "allowed-squares1",
    "allowed-squares2",
    "occupied-squares1",
    "occupied-squares2",
];

/// The names of a text with their values, each once.
struct Entries(Vec<(&'static str, String)>);

impl Entries {
    fn read(text: &str) -> Result<Self, OpenError> {
        let mut entries: Vec<(&'static str, String)> = Vec::new();
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        for line in lines.filter(|line| !line.trim().is_empty()) {
            if line.starts_with([' ', '\t']) {
                let Some((_, value)) = entries.last_mut() else {
                    return malformed("the first line continues nothing");
                };
                value.push(' ');
                value.push_str(line);
                continue;
            }
            let Some((name, value)) = line.split_once('=') else {
                return malformed("a line is neither `name = value` nor begins with a space");
            };
            let Some(&name) = NAMES.iter().find(|&&known| known == name.trim()) else {
                return malformed(format!("the names of a state are {}", NAMES.join(", ")));
            };
            if entries.iter().any(|(known, _)| *known == name) {
                return malformed(format!("`{name}` stands twice"));
            }
            entries.push((name, value.to_owned()));
        }
        Ok(Self(entries))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// The moves of a list such as `[(0,1) -> 2, (3,3) -> 4]`.
fn fills(layout: &Layout, list: &str) -> Result<Vec<Fill>, OpenError> {
    let fill = |scanner: &mut Scanner<'_>| {
        let (row, column) = scanner.place()?;
        scanner.expect("->")?;
        layout.fill_at(row, column, scanner.number()?)
    };
    Scanner::bracketed(list)?.list(fill)
}

/// The rest of a list that is being read.
struct Scanner<'a>(&'a str);

impl<'a> Scanner<'a> {
    /// What stands between `[` and `]`.
    fn bracketed(text: &'a str) -> Result<Self, OpenError> {
        let inside = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        inside.map_or_else(|| malformed("a list stands between `[` and `]`"), |inside| Ok(Self(inside)))
    }

    fn expect(&mut self, token: &str) -> Result<(), OpenError> {
        match self.0.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.0 = rest;
                Ok(())
            }
            None => malformed(format!("expected `{token}` in a list")),
        }
    }

    fn number(&mut self) -> Result<usize, OpenError> {
        let text = self.0.trim_start();
        let end = text.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(text.len());
        self.0 = &text[end..];
        number(&text[..end])
    }

    /// `(row,column)`.
    fn place(&mut self) -> Result<(usize, usize), OpenError> {
        self.expect("(")?;
        let row = self.number()?;
        self.expect(",")?;
        let column = self.number()?;
        self.expect(")")?;
        Ok((row, column))
    }

    fn end(&self) -> Result<(), OpenError> {
        if self.0.trim().is_empty() { Ok(()) } else { malformed("a list goes on where it should end") }
    }

    /// The items up to the end, parted by commas.
    fn list<T>(
        mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, OpenError>,
    ) -> Result<Vec<T>, OpenError> {
        let mut items = Vec::new();
        while self.end().is_err() {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(item(&mut self)?);
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use super::super::presets::Choice;
    use super::super::written;
    use super::*;
    use plyd_core::game::{Game, Rules};

    fn open(rules: &Rules, text: &str) -> (Sudoku, Position) {
        let layout = if is_one(text) { parse(text) } else { Layout::parse(text) }.unwrap();
        let game = Sudoku::new(Choice::new(rules, Some(&layout.stated_rules())).unwrap());
        let pos = layout.position(&game).unwrap();
        (game, pos)
    }

    const CLASSIC: &str = "\
rows = 2
columns = 2
board =
   1   2   3   .
   3   4   1   2
   2   1   .   3
   .   3   .   1
taboo-moves = [(2,2) -> 2]
moves = [(0,0) -> 1, (2,2) -> 2]
scores = [3, 0]
current-player = 2
";

    const BOUND: &str = "\
rows = 2
columns = 2
board =
    1+    .    2-    .
     .    .     .    .
     .    .     .    .
     .    .     .    .
taboo-moves = []
moves = [(0,0) -> 1, (0,2) -> 2]
scores = [0, 0]
current-player = 1
allowed-squares1 = (0,0), (3,3)
allowed-squares2 = (0,2)
occupied-squares1 = (0,0)
occupied-squares2 = (0,2)
";

    #[test]
    fn states_read_back() {
        for state in [
            CLASSIC,
            &BOUND
                .replace("    .    2-    .", "     .    2-     .")
                .replace("     .    .     .    .", "     .     .     .     ."),
        ] {
            let (game, mut pos) = open(&Rules::default(), state);
            assert_eq!(write(&game, &pos), state);
            let line = written::write(&game, &pos);
            let (again, same) = open(&Rules::default(), &line);
            assert_eq!((again.hash(&same), same.scores()), (game.hash(&pos), pos.scores()), "{line}");
            let mut moves = Vec::new();
            game.moves(&pos, &mut moves);
            game.play(&mut pos, moves[0]);
            assert_eq!(pos.history().len(), 3);
        }
    }

    #[test]
    fn states_are_read_with_comments_defaults_and_foreign_owners() {
        let short =
            "# a state\nrows = 2 # of a block\ncolumns=2\nboard = . . . .\n . . . .\n\n\t. . . . . . . .\n";
        let (game, pos) = open(&Rules::default(), short);
        assert!(!game.is_bound());
        assert_eq!(written::write(&game, &pos), written::write(&game, &game.start()));
        let rows = Rules::new(vec![("preset", "rows".into())]);
        let (game, pos) = open(&rows, "2 2 1 . . . . . . . . . . . . . . 2+");
        let state = write(&game, &pos);
        assert!(state.contains("board =\n    1-     .") && state.contains("    2+\ntaboo"), "{state}");
        assert!(state.ends_with("occupied-squares1 = (3,3)\noccupied-squares2 =\n"), "{state}");
    }

    #[test]
    fn broken_states_are_refused() {
        for (from, to) in [
            ("rows = 2\n", ""),
            ("rows = 2", "rows = 9"),
            ("board", "bord"),
            ("rows = 2", " rows = 2"),
            ("scores = [3, 0]", "scores = [3]"),
            ("scores = [3, 0]", "scores = 3, 0"),
            ("scores = [3, 0]", "scores = [3, 0]\nscores = [3, 0]"),
            ("current-player = 2", "current-player = 0"),
            ("[(2,2) -> 2]", "[(2,2) -> 2"),
            ("[(2,2) -> 2]", "[(2,2) - 2]"),
            ("[(2,2) -> 2]", "[(2,4) -> 2]"),
            ("[(2,2) -> 2]", "[(2,2) -> 2 (2,2) -> 3]"),
            ("   1   2   3   .", "   1   2   3"),
            ("   1   2   3   .", "   1   2   3   5"),
            ("moves = ", "moves "),
        ] {
            assert_ne!(CLASSIC.replacen(from, to, 1), CLASSIC);
            assert!(parse(&CLASSIC.replacen(from, to, 1)).is_err(), "{to}");
        }
    }
}
