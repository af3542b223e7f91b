//! `--watch`: shows something again and again.

use std::io::Write;
use std::thread;
use std::time::Duration;

use crossterm::cursor::MoveTo;
use crossterm::queue;
use crossterm::terminal::{Clear, ClearType};

use super::failure::Failure;
use super::styled::Colours;
use super::{parse, write_json};

#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    /// Show it again and again, with so much time between
    #[arg(
        long,
        value_name = "TIME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2s",
        value_parser = parse::duration
    )]
    watch: Option<Duration>,
    /// Write JSON: an object, with --watch one a line
    #[arg(long)]
    json: bool,
}

impl WatchArgs {
    /// Shows what a look finds: once, or again and again with this pause at least. A look that fails ends it
    /// if it is the first; what does not answer later may do so again.
    pub(super) fn show<V: serde::Serialize, W: Write>(
        &self,
        shortest: Duration,
        out: &mut W,
        mut look: impl FnMut() -> Result<V, Failure>,
        show: impl Fn(&V, Colours, &mut W) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let colours = Colours::of_output();
        let is_redrawn = self.watch.is_some() && colours != Colours::Never;
        let frame = |view: &V, out: &mut W| {
            if self.json {
                return write_json(out, view);
            }
            if is_redrawn {
                queue!(out, MoveTo(0, 0), Clear(ClearType::All))?;
            }
            show(view, colours, out)?;
            if self.watch.is_some() && !is_redrawn {
                writeln!(out)?;
            }
            Ok(())
        };
        frame(&look()?, out)?;
        let Some(pause) = self.watch else { return Ok(()) };
        loop {
            out.flush()?;
            thread::sleep(pause.max(shortest));
            match look() {
                Ok(view) => frame(&view, out)?,
                Err(failure) => failure.report(),
            }
        }
    }
}
