//! The terminal while the full screen has it: raw, on its other screen, and always given back as it was.

use std::io;
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::style::{Attribute, SetAttribute};
use crossterm::terminal::{
    self, Clear, ClearType, DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen,
};
use crossterm::{cursor, execute};

use super::system;

/// Whether the full screen has it. Global, as a panic of any thread must give it back.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal in raw mode, until this is dropped.
#[derive(Debug)]
pub(super) struct Terminal(());

impl Terminal {
    /// Takes the terminal of the standard input and output.
    ///
    /// # Errors
    /// It is none, or gone.
    pub(super) fn enter() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let usual = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                give_back();
                usual(panic);
            }));
        });
        let terminal = Self(());
        take()?;
        Ok(terminal)
    }

    /// Stops the process as Ctrl-Z does elsewhere, and takes the terminal again when it goes on.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(super) fn suspend(&self) -> io::Result<()> {
        give_back();
        system::suspend()?;
        take()
    }

    /// Rows and columns; a terminal that does not know them is taken for one of the usual size.
    pub(super) fn size(&self) -> (usize, usize) {
        match terminal::size() {
            Ok((cols @ 1.., rows @ 1..)) => (rows.into(), cols.into()),
            _ => (24, 80),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
    }
}

/// The other screen, pastes marked as such, no wrapping at the edge.
fn take() -> io::Result<()> {
    terminal::enable_raw_mode()?;
    TAKEN.store(true, Ordering::Relaxed);
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, DisableLineWrap, Clear(ClearType::All))
}

/// Gives the terminal back, if it was taken.
fn give_back() {
    if TAKEN.swap(false, Ordering::Relaxed) {
        let _gone = execute!(
            io::stdout(),
            SetAttribute(Attribute::Reset),
            EnableLineWrap,
            DisableBracketedPaste,
            cursor::Show,
            LeaveAlternateScreen
        );
        let _gone = terminal::disable_raw_mode();
    }
}
