//! The programs that are sent along with matches, in pieces.

use bytes::Bytes;

use super::{Queue, message};
use crate::error::FleetError;
use crate::names;
use crate::sent_program::SentProgram;

/// Bytes of a piece of a program: a server takes messages of 1 MiB at most, unless it is set up otherwise.
const PIECE: usize = 256 << 10;

impl Queue {
    /// Stores a program, if it is not there.
    ///
    /// # Errors
    /// The server cannot be reached, or does not take it.
    pub async fn store_program(&self, program: &SentProgram, content: &[u8]) -> Result<(), FleetError> {
        let pieces = || (0_u64..).zip(content.chunks(PIECE));
        let last = names::piece(&program.hash, pieces().count().saturating_sub(1) as u64);
        if message(&self.programs, last).await?.is_some() {
            return Ok(());
        }
        for (number, piece) in pieces() {
            let subject = names::piece(&program.hash, number);
            self.store(subject, Bytes::copy_from_slice(piece)).await?;
        }
        Ok(())
    }

    /// The content of a program; none if it is not there whole.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn program(&self, program: &SentProgram) -> Result<Option<Vec<u8>>, FleetError> {
        let mut content = Vec::new();
        for number in 0..program.bytes.div_ceil(PIECE as u64) {
            let piece = message(&self.programs, names::piece(&program.hash, number)).await?;
            let Some(piece) = piece else { return Ok(None) };
            content.extend_from_slice(&piece.payload);
            if content.len() as u64 > program.bytes {
                return Ok(None);
            }
        }
        Ok(Some(content))
    }
}
