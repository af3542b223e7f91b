//! Line by line: for pipes, screen readers, slow lines and terminals that know nothing.

use std::io::{self, Write};

use crate::cli::input::{Input, Signal};
use crate::cli::picture::Detail;
use crate::cli::styled::{Colours, Text};

use super::Front;
use super::catalogue::Shape;
use super::search::Purpose;
use super::table::{Note, Table};

/// The front for lines.
pub(super) struct Plain<W> {
    out: W,
    colours: Colours,
    /// A person types: the program prompts for lines, and takes them while the engine thinks.
    interactive: bool,
    /// The line asks for something already.
    prompted: bool,
    /// The input is over; what still runs is finished first.
    ended: bool,
}

impl<W: Write> Plain<W> {
    pub(super) fn new(out: W, colours: Colours, interactive: bool) -> Self {
        Self { out, colours, interactive, prompted: false, ended: false }
    }

    fn line(&mut self, text: &Text) -> io::Result<()> {
        if std::mem::take(&mut self.prompted) {
            writeln!(self.out)?;
        }
        writeln!(self.out, "{}", text.written(self.colours))
    }

    /// The board and who is to move. While the engine thinks about its answer to the person, the board after
    /// it is the one to show.
    fn board(&mut self, table: &mut Table) -> io::Result<()> {
        let answers = table.search.as_ref().is_some_and(|search| matches!(search.purpose, Purpose::Move(_)));
        let with_me = table.seats.iter().any(super::seats::Seat::is_me);
        if !table.board_due || (answers && with_me) {
            return Ok(());
        }
        table.board_due = false;
        let lines = match table.shape {
            Shape::Words => table.board_words(),
            Shape::Picture => table.picture(None, Detail::Small),
            Shape::Marks => table.picture(None, Detail::Pencil),
        };
        for line in &lines {
            self.line(line)?;
        }
        if let Some([p1, p2]) = table.clocks() {
            self.line(&Text::from(format!("clocks: p1 {}, p2 {}", super::time(p1), super::time(p2))))?;
        }
        if table.outcome().is_none() {
            self.line(&table.status())?;
        }
        Ok(())
    }
}

impl<W: Write> Front for Plain<W> {
    fn input(&mut self, table: &mut Table, input: Input) -> io::Result<()> {
        self.prompted = false;
        match input {
            Input::Line(line) => {
                if table.search.is_some() && !table.is_busy() {
                    // An analysis without a time ends with the next line, which may say no more than that.
                    table.finish_search();
                    if line.trim().is_empty() || line.trim() == "stop" {
                        return Ok(());
                    }
                }
                table.take(&line);
            }
            Input::Unreadable => table.alarm("that line was not read: it is too long, or it is not text"),
            Input::End => self.ended = true,
            Input::Key(_) | Input::Paste(_) => {}
        }
        Ok(())
    }

    fn signal(&mut self, table: &mut Table, signal: Signal) -> io::Result<()> {
        match signal {
            Signal::Interrupt => {
                if self.interactive {
                    // The terminal shows ^C behind the prompt.
                    self.prompted = true;
                }
                table.interrupt();
            }
            Signal::End => table.leaving = true,
            Signal::Redraw => {}
        }
        Ok(())
    }

    fn takes_input(&self, table: &Table) -> bool {
        !self.ended && (self.interactive || !table.is_busy())
    }

    fn show(&mut self, table: &mut Table) -> io::Result<()> {
        for note in table.take_notes() {
            match note {
                Note::Say(text) | Note::Progress(text) => self.line(&text)?,
                Note::Page { lines, .. } => lines.iter().try_for_each(|line| self.line(line))?,
            }
        }
        self.board(table)?;
        if self.ended && !table.leaving {
            if self.interactive || (table.search.is_none() && table.review.is_none()) {
                table.leaving = true;
            } else if !table.is_busy() {
                table.finish_search();
                return self.show(table);
            }
        }
        if self.interactive && !self.prompted && !table.leaving {
            write!(self.out, "> ")?;
            self.prompted = true;
        }
        self.out.flush()
    }
}
