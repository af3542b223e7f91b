//! Lines over TLS: the handshake, and the records under the lines or the frames.

use std::io;
use std::time::Instant;

use super::{LineError, Lines, TIMEOUT, send};
use crate::secure::{Secure, Secured};

impl Lines {
    /// Connects over TLS. As over TCP, a server still answers what was asked before the input was finished.
    ///
    /// # Errors
    /// [`LineError::Connect`] if nobody listens there, a file cannot be used, or either end does not trust
    /// the other.
    pub fn connect_tls(to: &Secured) -> Result<Self, LineError> {
        let secure = Secure::begin(to).map_err(LineError::Connect)?;
        let mut lines = Self::connect(&to.at)?;
        lines.secure = Some(Box::new(secure));
        lines.shake_hands().map_err(|error| match error {
            LineError::Connect(error) => LineError::Connect(error),
            error => LineError::Connect(io::Error::other(error.to_string())),
        })?;
        Ok(lines)
    }

    /// Connects to a WebSocket over TLS.
    ///
    /// # Errors
    /// As [`connect_tls`](Self::connect_tls) and [`connect_websocket`](Self::connect_websocket).
    pub fn connect_secure_websocket(to: &Secured) -> Result<Self, LineError> {
        Self::connect_tls(to)?.into_websocket(&to.at)
    }

    fn shake_hands(&mut self) -> Result<(), LineError> {
        let deadline = Instant::now() + TIMEOUT;
        self.send_sealed()?;
        while self.secure.as_ref().is_some_and(|secure| secure.is_handshaking()) {
            self.read(deadline)?;
            if self.ended {
                let message = "it closes during the handshake of TLS; is TLS served there?";
                return Err(LineError::Connect(io::Error::other(message)));
            }
        }
        Ok(())
    }

    /// Writes the encrypted records that wait.
    pub(super) fn send_sealed(&mut self) -> Result<Instant, LineError> {
        let Some(secure) = &mut self.secure else { return Ok(Instant::now()) };
        send(&self.peer, secure.sealed(), self.write_timeout)
    }

    /// Decrypts the `count` bytes of records that were read.
    pub(super) fn open_records(&mut self, count: usize) -> Result<(), LineError> {
        let Some(secure) = &mut self.secure else { return Ok(()) };
        let mut plain = Vec::new();
        let opened = secure.open(count, &mut plain);
        self.ended |= secure.has_ended();
        // An alert, or what TLS answers by itself; the next read reports a peer that left meanwhile.
        let _gone_already = self.send_sealed();
        if self.web.is_some() {
            self.take_frames(&mut plain)?;
        } else {
            self.rest = 0..plain.len();
            self.chunk = plain;
        }
        opened.map_err(LineError::Tls)
    }
}
