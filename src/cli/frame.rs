//! What stands in the window while the full screen has it. Every line is made anew, but only changed ones are
//! written, so that little goes over a slow connection.

use std::io::{self, Write};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::style::Print;
use crossterm::terminal::{Clear, ClearType};

/// The lines as they stand there.
#[derive(Debug, Default)]
pub(super) struct Frame {
    lines: Vec<String>,
    /// The row and the column of its cursor, if it shows one.
    cursor: Option<(usize, usize)>,
}

impl Frame {
    /// Draws everything anew the next time: the window has another size, or others wrote there.
    pub(super) fn forget(&mut self) {
        self.lines.clear();
    }

    /// Shows these lines, and the cursor at that row and column.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(super) fn draw(
        &mut self,
        out: &mut impl Write,
        lines: Vec<String>,
        cursor: Option<(usize, usize)>,
    ) -> io::Result<()> {
        if self.lines == lines && self.cursor == cursor {
            return Ok(());
        }
        self.cursor = cursor;
        let is_new = self.lines.len() != lines.len();
        if is_new {
            queue!(out, Clear(ClearType::All))?;
        }
        queue!(out, Hide)?;
        for (index, line) in lines.iter().enumerate() {
            if is_new || self.lines[index] != *line {
                queue!(out, MoveTo(0, index as u16), Clear(ClearType::CurrentLine), Print(line))?;
            }
        }
        if let Some((row, col)) = cursor {
            queue!(out, MoveTo(col as u16, row as u16), Show)?;
        }
        self.lines = lines;
        out.flush()
    }
}
