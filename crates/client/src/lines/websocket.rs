//! Lines over a WebSocket: how it is opened and closed, and the frames under the lines.

use std::io;
use std::time::Instant;

use super::{LineError, Lines, READ_BYTES, TIMEOUT};
use crate::websocket::{ControlFrame, Decoder, Encoder, Opening};
use plyd_protocol::frames::close_status;

/// A WebSocket under the lines.
#[derive(Debug, Default)]
pub(super) struct Web {
    pub(super) encoder: Encoder,
    decoder: Decoder,
    /// What was read, before lines were found in it.
    pub(super) raw: Vec<u8>,
    /// The frames that leave in one write.
    pub(super) frames: Vec<u8>,
    /// Whether a close frame was sent.
    pub(super) is_closed: bool,
    /// The payload of the last pong.
    pong: Option<Vec<u8>>,
    /// The status with which the server closed.
    status: Option<u16>,
}

impl Lines {
    /// Connects to a WebSocket at `HOST:PORT`, each line a text message. Finishing the input closes it.
    ///
    /// # Errors
    /// [`LineError::Connect`] if nobody listens there, or what listens speaks no WebSocket.
    pub fn connect_websocket(address: &str) -> Result<Self, LineError> {
        Self::connect(address)?.into_websocket(address)
    }

    /// Asks for a WebSocket on a connection to `HOST:PORT`.
    pub(super) fn into_websocket(mut self, address: &str) -> Result<Self, LineError> {
        let refused = |message: String| LineError::Connect(io::Error::other(message));
        let opening = Opening::default();
        self.send_bytes(&opening.request(address))?;
        let deadline = Instant::now() + TIMEOUT;
        let mut answer = Vec::new();
        let end = loop {
            self.read(deadline)?;
            answer.extend_from_slice(&self.chunk[self.rest.clone()]);
            if let Some(end) = opening.answered(&answer).map_err(refused)? {
                break end;
            }
            if self.ended {
                let message = "it closes where it is asked for a WebSocket";
                return Err(LineError::Connect(io::Error::new(io::ErrorKind::UnexpectedEof, message)));
            }
        };
        self.web = Some(Box::new(Web { raw: vec![0; READ_BYTES], ..Web::default() }));
        self.take_frames(&mut answer[end..])?;
        Ok(self)
    }

    /// The status with which the server closed the WebSocket; none before that, or if it gave none.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.web.as_ref().and_then(|web| web.status)
    }

    /// The payload of the last pong of a WebSocket.
    #[must_use]
    pub fn pong(&self) -> Option<&[u8]> {
        self.web.as_ref().and_then(|web| web.pong.as_deref())
    }

    /// Sends a close frame, unless one was sent.
    pub(super) fn close(&mut self, payload: &[u8]) -> Result<(), LineError> {
        if let Some(web) = &mut self.web
            && !std::mem::replace(&mut web.is_closed, true)
        {
            web.encoder.close(payload, &mut web.frames);
            self.write_out()?;
        }
        Ok(())
    }

    /// Finds lines in frames, and answers control frames.
    pub(super) fn take_frames(&mut self, bytes: &mut [u8]) -> Result<(), LineError> {
        let Some(web) = &mut self.web else { return Ok(()) };
        self.chunk.clear();
        let controls = web.decoder.take(bytes, &mut self.chunk);
        self.rest = 0..self.chunk.len();
        for control in controls.map_err(LineError::Frames)? {
            match control {
                ControlFrame::Ping(payload) => web.encoder.pong(&payload, &mut web.frames),
                ControlFrame::Pong(payload) => web.pong = Some(payload),
                ControlFrame::Close(payload) => {
                    web.status = close_status(&payload).map(u16::from);
                    self.ended = true;
                    let _gone_already = self.close(&payload);
                    return Ok(());
                }
            }
        }
        // The next read reports a peer that left meanwhile.
        let _gone_already = self.write_out();
        Ok(())
    }
}
