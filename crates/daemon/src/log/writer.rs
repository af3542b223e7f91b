//! Writes to the log's output and says there how many lines are missing.

use tracing::Level;

use super::lines::{Fields, Noted};
use super::{ITSELF, form};
use crate::system::{self, Output};

/// What the thread knows of the output.
pub(super) struct Writer<F> {
    output: F,
    /// The lines that are missing before the next one, which the output does not say yet.
    lost: u64,
    /// Whether the output ends within a line.
    is_cut: bool,
}

impl<F: Output> Writer<F> {
    /// For an output of which nothing is known to be missing.
    pub(super) fn new(output: F) -> Self {
        Self { output, lost: 0, is_cut: false }
    }

    /// Writes the lines, with notes of the losses before and after them; returns how many lines could not be
    /// written.
    pub(super) fn write(&mut self, lines: &[u8], lost_behind: u64) -> u64 {
        let unwritten = match self.report().and_then(|()| self.put(lines)) {
            Ok(()) => 0,
            Err(written) => line_ends(&lines[written..]),
        };
        self.lost += unwritten + lost_behind;
        if unwritten == 0 {
            // Where this fails, the next line says so.
            let _later = self.report();
        }
        unwritten
    }

    /// Says how many lines were lost. The error is that none of what follows is written.
    fn report(&mut self) -> Result<(), usize> {
        if self.lost > 0 {
            let plural = if self.lost == 1 { "line of the log was" } else { "lines of the log were" };
            let message = format!("{} {plural} lost", self.lost);
            let line = Noted::of(Level::WARN, ITSELF, Fields::of(&message, &[])).line(form());
            let gap = if self.is_cut { "\n" } else { "" };
            self.put([gap, &line].concat().as_bytes()).or(Err(0_usize))?;
            self.lost = 0;
        }
        Ok(())
    }

    /// Writes bytes, however long the output takes; the error is how many it took before it broke.
    fn put(&mut self, bytes: &[u8]) -> Result<(), usize> {
        let mut written = 0;
        while written < bytes.len() {
            match system::write(&self.output, &bytes[written..]) {
                Ok(count) if count > 0 => {
                    written += count;
                    self.is_cut = bytes[written - 1] != b'\n';
                }
                Ok(_) | Err(_) => return Err(written),
            }
        }
        Ok(())
    }
}

/// The lines in a text.
pub(super) fn line_ends(lines: &[u8]) -> u64 {
    lines.iter().filter(|&&byte| byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};
    use std::thread;

    use super::super::tests::read_until;
    use super::*;

    #[test]
    fn a_gap_within_a_line_is_reported_on_a_line_of_its_own() {
        let (mut reader, output) = io::pipe().unwrap();
        let mut writer = Writer { lost: 2, is_cut: true, ..Writer::new(output) };
        assert_eq!(writer.write(b"next\n", 1), 0);
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert_eq!((lines[0], lines[2]), ("", "next"));
        assert!(lines[1].ends_with(" 2 lines of the log were lost"), "{text}");
        assert!(lines[3].ends_with(" 1 line of the log was lost"), "{text}");
    }

    #[test]
    fn an_output_that_does_not_block_is_waited_for() {
        use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
        let (mut reader, output) = io::pipe().unwrap();
        fcntl_setfl(&output, fcntl_getfl(&output).unwrap() | OFlags::NONBLOCK).unwrap();
        let line = [vec![b'x'; 200 << 10], vec![b'\n']].concat();
        let length = line.len();
        let reading = thread::spawn(move || read_until(&mut reader, "\n").len());
        let mut writer = Writer::new(output);
        assert_eq!(writer.write(&line, 0), 0);
        assert_eq!(reading.join().unwrap(), length);
    }
}
