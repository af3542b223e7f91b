//! The terminal while the full screen has it: raw, on its other screen, and always given back as it was.

use std::io::{self, Write};
use std::panic;
use std::sync::{Mutex, Once, PoisonError};

use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// The other screen, pastes marked as such, no wrapping at the edge.
const ENTER: &str = "\x1b[?1049h\x1b[?2004h\x1b[?7l\x1b[2J";
const LEAVE: &str = "\x1b[0m\x1b[?7h\x1b[?2004l\x1b[?25h\x1b[?1049l";

/// How the terminal was, while it is raw. Global, as a panic of any thread must give it back.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

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
                restore();
                usual(panic);
            }));
        });
        make_raw()?;
        Ok(Self(()))
    }

    /// Stops the process as Ctrl-Z does elsewhere, and takes the terminal again when it goes on.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(super) fn suspend(&self) -> io::Result<()> {
        restore();
        kill_process(getpid(), Signal::TSTP)?;
        make_raw()
    }

    /// Rows and columns; a terminal that does not know them is taken for one of the usual size.
    pub(super) fn size(&self) -> (usize, usize) {
        match tcgetwinsize(io::stdout()) {
            Ok(size) if size.ws_row > 0 && size.ws_col > 0 => (size.ws_row.into(), size.ws_col.into()),
            _ => (24, 80),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

fn make_raw() -> io::Result<()> {
    let stdin = io::stdin();
    let before = tcgetattr(&stdin)?;
    let mut raw = before.clone();
    raw.make_raw();
    *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
    tcsetattr(&stdin, OptionalActions::Now, &raw)?;
    write(ENTER)
}

/// Gives the terminal back, if it was taken.
fn restore() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(before) = before {
        let _gone = write(LEAVE);
        let _gone = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
