//! The lines to and from a player.

use std::time::Instant;

use plyd_bridge::program::Log;
use plyd_client::{Address, ClientError, LineError, Lines, ReceivedLine, with_legal};
use plyd_protocol::{self as wire, Command, Request};

use super::referee::PlayerMessage;

/// A connection to a player.
pub(super) struct Link {
    pub(super) lines: Lines,
    /// What its program writes to stderr, if it is one.
    pub(super) log: Option<Log>,
    /// Counts the requests: the last id.
    last: u64,
}

/// A message and when it arrived.
pub(super) struct ReceivedMessage {
    pub(super) at: Instant,
    pub(super) said: PlayerMessage,
}

impl Link {
    /// Connects to a server.
    pub(super) fn call(address: &Address) -> Result<Self, LineError> {
        Ok(Self::new(address.lines()?))
    }

    pub(super) fn new(lines: Lines) -> Self {
        Self { lines, log: None, last: 0 }
    }

    /// Sends a command under an id of its own, with the legal moves if they are given; returns the id, and
    /// when the last byte was sent.
    pub(super) fn request(
        &mut self,
        command: Command,
        legal: Option<&[String]>,
    ) -> Result<(String, Instant), LineError> {
        self.last += 1;
        let request = Request { id: self.last.to_string(), command };
        let line = match legal {
            Some(moves) => with_legal(&request, moves),
            None => serde_json::to_vec(&request).expect("requests hold only text keys and integers"),
        };
        let sent = self.lines.send(&line)?;
        Ok((request.id, sent))
    }

    /// The next message.
    pub(super) fn next(&mut self, deadline: Instant) -> Result<ReceivedMessage, ClientError> {
        let ReceivedLine { at, bytes } = self.lines.next(deadline)?;
        match PlayerMessage::read(&bytes) {
            Ok(said) => Ok(ReceivedMessage { at, said }),
            Err(error) => {
                let line = wire::echo(&String::from_utf8_lossy(&bytes));
                Err(ClientError::Garbled { line, error })
            }
        }
    }
}
