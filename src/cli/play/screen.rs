//! The full screen: the board with a cell to choose, what the engine thinks, what was said, and a line to
//! write.

use std::io::{self, Write};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::cli::frame::Frame;
use crate::cli::input::{Input, Signal};
use crate::cli::picture::{self, Detail};
use crate::cli::styled::{Colours, Style, Text, Tone};
use crate::cli::terminal::Terminal;
use crate::cli::words;
use plyd_protocol::{Cell, Side};

use super::Front;
use super::catalogue::{Command, Shape};
use super::command;
use super::cursor;
use super::line_editor::LineEditor;
use super::search::Purpose;
use super::suggest;
use super::table::{Note, Table};
use super::thinking::line_text;

/// How many lines of what was said are kept.
const KEPT: usize = 300;

/// The least width beside the board that is worth using.
const PANEL: usize = 30;

/// Blanks between the board and what stands beside it.
const GAP: usize = 3;

/// Lines that are kept above and below the board: title, status, what was said last, prompt, keys.
const BELOW: usize = 7;

const PROMPT: &str = "> ";

const KEYS: &str = "arrows cell, Enter play, Tab complete, PgUp/PgDn step, F1 help, Ctrl-C stop";

/// The front for a terminal.
pub(super) struct Screen<W> {
    out: W,
    terminal: Terminal,
    colours: Colours,
    editor: LineEditor,
    /// The chosen cell, of the board as the game has it.
    cell: Option<Cell>,
    /// What was said, the last at the end.
    said: Vec<Text>,
    page: Option<Page>,
    frame: Frame,
    size: (usize, usize),
}

/// Something that is read instead of the board.
struct Page {
    title: String,
    lines: Vec<Text>,
    from: usize,
}

impl<W: Write> Screen<W> {
    /// Takes the terminal.
    ///
    /// # Errors
    /// It cannot be had.
    pub(super) fn new(out: W, colours: Colours) -> io::Result<Self> {
        let terminal = Terminal::enter()?;
        let size = terminal.size();
        let (editor, said, frame) = (LineEditor::default(), Vec::new(), Frame::default());
        Ok(Self { out, terminal, colours, editor, cell: None, said, page: None, frame, size })
    }

    /// Draws everything anew, for the window as it is now.
    fn redraw(&mut self) {
        self.size = self.terminal.size();
        self.frame.forget();
    }

    /// Obeys a key. Control matters only with a character, other modifiers never.
    fn key(&mut self, table: &mut Table, key: KeyEvent) -> io::Result<()> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if (key.code, control) != (KeyCode::Char('c'), true) {
            table.warned = false;
        }
        match (key.code, control) {
            (KeyCode::Char('c'), true) => {
                self.page = None;
                table.interrupt();
            }
            (KeyCode::Char('z'), true) => {
                self.terminal.suspend()?;
                // The size may have changed meanwhile, and the signal went to whoever had the terminal.
                self.redraw();
            }
            (KeyCode::Char('l'), true) => self.frame.forget(),
            // Whoever types on goes on with the game; the first letter is not lost.
            (KeyCode::Char(c), false) if self.page.is_some() && c != ' ' => {
                self.page = None;
                self.edit(key.code, false);
            }
            (code, _) if self.page.is_some() => self.turn_page(code),
            (KeyCode::F(1), _) => table.obey(Command::Help(None)),
            (KeyCode::PageUp, _) => table.obey(Command::Step(-1)),
            (KeyCode::PageDown, _) => table.obey(Command::Step(1)),
            // A line feed is Ctrl-J here.
            (KeyCode::Enter, _) | (KeyCode::Char('j'), true) => self.enter(table),
            (KeyCode::Tab, _) => self.complete(table),
            (code, control) if !self.editor.is_empty() => self.edit(code, control),
            (KeyCode::Char('d'), true) => table.leaving = true,
            (KeyCode::Char('?'), false) => table.obey(Command::Help(None)),
            (KeyCode::Home, _) => table.obey(Command::Ply(0)),
            (KeyCode::End, _) => table.obey(Command::Ply(table.history.len())),
            (KeyCode::Up, _) => self.go(table, Side::Up),
            (KeyCode::Down, _) => self.go(table, Side::Down),
            (KeyCode::Left, _) => self.go(table, Side::Left),
            (KeyCode::Right, _) => self.go(table, Side::Right),
            (KeyCode::Esc, _) => self.cell = None,
            (code, control) => self.edit(code, control),
        }
        Ok(())
    }

    fn edit(&mut self, code: KeyCode, control: bool) {
        let editor = &mut self.editor;
        match (code, control) {
            (KeyCode::Char(c), false) => editor.insert(c.encode_utf8(&mut [0; 4])),
            (KeyCode::Backspace, _) | (KeyCode::Char('h'), true) => editor.backspace(),
            (KeyCode::Delete, _) => editor.delete(),
            (KeyCode::Left, _) | (KeyCode::Char('b'), true) => editor.go(-1),
            (KeyCode::Right, _) | (KeyCode::Char('f'), true) => editor.go(1),
            (KeyCode::Home, _) | (KeyCode::Char('a'), true) => editor.go(isize::MIN),
            (KeyCode::End, _) | (KeyCode::Char('e'), true) => editor.go(isize::MAX),
            (KeyCode::Up, _) | (KeyCode::Char('p'), true) => editor.recall_earlier(),
            (KeyCode::Down, _) | (KeyCode::Char('n'), true) => editor.recall_later(),
            (KeyCode::Char('w'), true) => editor.delete_word(),
            (KeyCode::Esc, _) | (KeyCode::Char('u'), true) => editor.clear(),
            _ => {}
        }
    }

    fn turn_page(&mut self, code: KeyCode) {
        let rows = self.size.0.saturating_sub(2).max(1);
        let Some(page) = &mut self.page else { return };
        match code {
            KeyCode::Up => page.from = page.from.saturating_sub(1),
            KeyCode::Down => page.from += 1,
            KeyCode::PageUp => page.from = page.from.saturating_sub(rows),
            KeyCode::PageDown | KeyCode::Char(' ') => page.from += rows,
            KeyCode::Home => page.from = 0,
            KeyCode::End => page.from = usize::MAX,
            _ => self.page = None,
        }
    }

    /// Writes the first line of a paste, as there is only one; a page is left, as by typing.
    fn paste(&mut self, text: &str) {
        self.page = None;
        self.editor.insert(text.lines().next().unwrap_or_default());
    }

    /// Chooses the next cell in a direction, or plays the direction if that is a move.
    fn go(&mut self, table: &mut Table, seen: Side) {
        let side = table.view.direction(seen);
        if let Some(mv) = cursor::direction(&table.here.legal, side) {
            let mv = mv.to_owned();
            return table.take(&mv);
        }
        let grid = &table.here.board.grid;
        let Some([row, col]) = self.cell else {
            self.cell = Some([grid.rows / 2, grid.cols / 2]);
            return;
        };
        let (row, col) = match side {
            Side::Up => (row.saturating_sub(1), col),
            Side::Down => ((row + 1).min(grid.rows.saturating_sub(1)), col),
            Side::Left => (row, col.saturating_sub(1)),
            Side::Right => (row, (col + 1).min(grid.cols.saturating_sub(1))),
        };
        self.cell = Some([row, col]);
    }

    fn enter(&mut self, table: &mut Table) {
        let line = self.editor.take();
        match self.cell.filter(|_| line.trim().is_empty() && !table.history.looking) {
            Some(cell) => self.choose(table, cell),
            None => table.take(&line),
        }
    }

    /// Plays the only move that a cell begins, or begins to write the one that is meant.
    fn choose(&mut self, table: &mut Table, cell: Cell) {
        let (board, moves, naming) = (&table.here.board, &table.here.legal, table.here.naming);
        let name = cursor::name(board, naming, cell);
        let found = naming.map(|naming| cursor::at(board, naming, moves, cell)).unwrap_or_default();
        match found[..] {
            [] => table.alarm(&format!("nothing can be played at {name}")),
            [only] => {
                let only = only.to_owned();
                table.take(&only);
            }
            _ => {
                self.editor.set(suggest::common(&found));
                self.complete(table);
            }
        }
    }

    /// Completes the line as far as all its completions agree, and lists the ways to go on.
    fn complete(&mut self, table: &mut Table) {
        let line = self.editor.text();
        if line.trim().is_empty() {
            if let Some(hint) = table.hint.clone() {
                self.editor.set(&hint);
            }
            return;
        }
        let moves = suggest::beginning(&line, &table.here.legal);
        let word = line.to_lowercase();
        let commands: Vec<&str> = command::names().filter(|name| name.starts_with(word.trim())).collect();
        let found = if moves.is_empty() { commands } else { moves };
        let common = suggest::common(&found);
        if common.chars().count() > line.chars().count() {
            self.editor.set(common);
        }
        if found.len() > 1 {
            let named: Vec<&str> = found.iter().copied().take(40).collect();
            let more = if found.len() > named.len() { " ..." } else { "" };
            table.say(format!("{}{more}", named.join(" | ")));
        } else if found.is_empty() {
            table.say(format!("nothing begins with `{}`", plyd_protocol::echo(&line)));
        }
    }

    /// All lines of the window, and where the cursor stands in it.
    fn lines(&mut self, table: &mut Table) -> (Vec<Text>, (usize, usize)) {
        let (rows, cols) = self.size;
        if let Some(page) = &mut self.page {
            return (page_lines(page, rows, cols), (rows.saturating_sub(1), 0));
        }
        let (head, foot) = (usize::from(rows >= 6), usize::from(rows >= 12));
        let middle = rows.saturating_sub(head + foot + 1);
        let board = self.board(table);
        let mut lines = Vec::new();
        let shown = board.len().min(middle.saturating_sub(1));
        if head > 0 {
            lines.push(if shown < board.len() || board.iter().any(|line| line.width() > cols) {
                Text::new("the window is too small for the board", Tone::Alarm)
            } else {
                title(table)
            });
        }
        let width = board.iter().map(Text::width).max().unwrap_or(0);
        let beside = cols.saturating_sub(width + GAP);
        let panel = panel(table, self.cell, if beside >= PANEL { beside } else { cols });
        for (index, line) in board.into_iter().take(shown).enumerate() {
            let mut line = line;
            if let Some(text) = panel.get(index).filter(|_| beside >= PANEL) {
                line.push(&" ".repeat(width + GAP - line.width()), Tone::Plain);
                line.append(text);
            }
            lines.push(line);
        }
        let rest = middle.saturating_sub(shown);
        if rest > 0 {
            lines.push(table.status());
        }
        let mut below: Vec<Text> = table.bar_line().into_iter().collect();
        if beside < PANEL {
            below.extend(panel.into_iter().take(3));
        }
        let room = rest.saturating_sub(1 + below.len());
        let said: Vec<Text> =
            self.said.iter().rev().take(room).rev().flat_map(|text| text.wrapped(cols)).collect();
        below.extend(said.into_iter().rev().take(room).rev());
        below.truncate(rest.saturating_sub(1));
        lines.extend(below);
        lines.resize(rows.saturating_sub(1 + foot), Text::default());
        let (text, at) = self.editor.window(cols.saturating_sub(PROMPT.len()).max(1));
        let row = lines.len();
        lines.push(Text::from(format!("{PROMPT}{text}")));
        if foot > 0 {
            lines.push(Text::new(KEYS, Tone::Faint));
        }
        (lines, (row, PROMPT.len() + at))
    }

    /// The board, its cells as large as leaves room for the panel beside it and some lines below.
    fn board(&self, table: &Table) -> Vec<Text> {
        let (rows, cols) = self.size;
        if table.shape == Shape::Words {
            return table.board_words().iter().flat_map(|line| line.wrapped(cols)).collect();
        }
        let fits = |lines: &Vec<Text>| {
            let width = lines.iter().map(Text::width).max().unwrap_or(0);
            lines.len() + BELOW <= rows && width + GAP + PANEL <= cols
        };
        let large = [Detail::Pencil, Detail::Wide].map(|detail| (detail, table.picture(self.cell, detail)));
        let found = large.into_iter().find(|(_, lines)| fits(lines)).map(|(_, lines)| lines);
        found.unwrap_or_else(|| table.picture(self.cell, Detail::Small))
    }

    fn draw(&mut self, table: &mut Table) -> io::Result<()> {
        let (lines, (row, col)) = self.lines(table);
        let (rows, cols) = self.size;
        let lines: Vec<String> =
            lines.iter().take(rows).map(|line| line.cut(cols).written(self.colours)).collect();
        self.frame.draw(&mut self.out, lines, Some((row, col)))
    }
}

impl<W: Write> Front for Screen<W> {
    fn input(&mut self, table: &mut Table, input: Input) -> io::Result<()> {
        match input {
            Input::Key(key) => self.key(table, key)?,
            Input::Paste(text) => {
                table.warned = false;
                self.paste(&text);
            }
            Input::End => table.leaving = true,
            Input::Unreadable => table.alarm("what was pasted is too long, and was not read"),
            Input::Line(_) => {}
        }
        Ok(())
    }

    fn signal(&mut self, table: &mut Table, signal: Signal) -> io::Result<()> {
        match signal {
            Signal::Interrupt => table.interrupt(),
            Signal::End => table.leaving = true,
            Signal::Redraw => self.redraw(),
        }
        Ok(())
    }

    fn takes_input(&self, _table: &Table) -> bool {
        true
    }

    fn show(&mut self, table: &mut Table) -> io::Result<()> {
        for note in table.take_notes() {
            match note {
                Note::Say(text) => self.said.push(text),
                // The panel shows it.
                Note::Progress(_) => {}
                Note::Page { title, lines } => self.page = Some(Page { title, lines, from: 0 }),
            }
        }
        let surplus = self.said.len().saturating_sub(KEPT);
        self.said.drain(..surplus);
        table.board_due = false;
        self.draw(table)
    }
}

fn title(table: &Table) -> Text {
    let mut line = Text::new(table.entry.name, Tone::Strong);
    let clocks = table.clocks();
    for (index, player) in [plyd_protocol::Player::P1, plyd_protocol::Player::P2].into_iter().enumerate() {
        line.push("  ", Tone::Plain);
        line.push(&table.named(player), picture::tone(Some(player)));
        if let Some(clocks) = clocks {
            line.push(&format!(" {}", super::time(clocks[index])), Tone::Plain);
        }
    }
    line
}

/// What is marked in the chosen cell, what the engine thinks, and the last moves.
fn panel(table: &Table, cell: Option<Cell>, width: usize) -> Vec<Text> {
    let mut lines = Vec::new();
    if let Some(cell) = cell {
        let board = &table.here.board;
        let marks = board.marks.iter().filter(|mark| mark.cell == cell);
        let texts: Vec<String> = marks
            .map(|mark| {
                format!("{} {}", mark.mark, mark.label.as_deref().unwrap_or_default()).trim_end().to_owned()
            })
            .collect();
        if !texts.is_empty() {
            let name = cursor::name(board, table.here.naming, cell);
            lines.push(Text::from(format!("{name}: {}", texts.join("; "))).cut(width));
        }
    }
    if let Some(search) = &table.search {
        let by = search.purpose.by();
        let what = match search.purpose {
            Purpose::Move(_) => "thinking for",
            Purpose::Hint(_) => "hint for",
            Purpose::Value(_) => "evaluation for",
            Purpose::Analysis { .. } => "analysis for",
        };
        let nodes = crate::cli::columns::grouped(search.stats.nodes);
        let head = format!("{what} {}: {nodes} nodes", words::side_name(by));
        lines.push(Text::new(&head, picture::tone(Some(by))));
        for line in &search.lines {
            lines.push(Text::from(line_text(line, false)).cut(width));
        }
        lines.push(Text::default());
    }
    if let Some(review) = &table.review {
        lines.push(Text::from(format!("review: {} of {} moves", review.done, review.moves)));
    }
    let (at, moves) = (table.history.at(), table.history.position().moves);
    for (index, mv) in moves.iter().enumerate().rev().take(12) {
        let style = Style { marked: index + 1 == at, ..Style::from(Tone::Faint) };
        lines.push(Text::new(&format!("{:>3}. {mv}", index + 1), style));
    }
    lines
}

fn page_lines(page: &mut Page, rows: usize, cols: usize) -> Vec<Text> {
    let lines: Vec<Text> = page.lines.iter().flat_map(|line| line.wrapped(cols)).collect();
    let room = rows.saturating_sub(2).max(1);
    page.from = page.from.min(lines.len().saturating_sub(room));
    let until = (page.from + room).min(lines.len());
    let mut shown = vec![Text::new(&page.title, Tone::Strong)];
    shown.extend_from_slice(&lines[page.from..until]);
    shown.resize(rows.saturating_sub(1), Text::default());
    let place = format!(
        "lines {} to {until} of {}; arrows and PgDn scroll, Esc goes back",
        page.from + 1,
        lines.len()
    );
    shown.push(Text::new(&place, Tone::Faint));
    shown
}
