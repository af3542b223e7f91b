//! What Windows has instead of signals. It compiles, and nobody has tested it.

use std::io;

use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
};

/// Ctrl-C, Ctrl-Break, the end of the console's window, and the end of the system.
pub struct Signals {
    interrupt: CtrlC,
    stop: CtrlBreak,
    close: CtrlClose,
    shutdown: CtrlShutdown,
}

impl Signals {
    /// Takes them over from the system's default, which would end the process at once.
    ///
    /// # Errors
    /// The system refuses.
    pub fn install() -> io::Result<Self> {
        Ok(Self {
            interrupt: ctrl_c()?,
            stop: ctrl_break()?,
            close: ctrl_close()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    /// The same: there is no SIGHUP.
    ///
    /// # Errors
    /// The system refuses.
    pub fn install_without_hangup() -> io::Result<Self> {
        Self::install()
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.stop.recv() => {}
            _ = self.close.recv() => {}
            _ = self.shutdown.recv() => {}
        }
    }
}

/// SIGHUP, which nobody can send here.
pub struct Hangups(());

impl Hangups {
    /// Takes over nothing.
    ///
    /// # Errors
    /// Never.
    pub fn install() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Waits for ever.
    pub async fn next(&mut self) {
        std::future::pending().await
    }
}

/// There is no SIGHUP to be heeded.
///
/// # Errors
/// Never.
pub fn let_children_heed_hangup() -> io::Result<()> {
    Ok(())
}
