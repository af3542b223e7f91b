//! How sockets are read: how much at a time, and what for while they close.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::runtime::Shared;

/// Small enough that a peer that floods the daemon leaves the others their turn.
pub(super) const READ_BYTES: usize = 16 << 10;
/// How long a closing connection still reads what the peer sends: closing with unread bytes would reset the
/// connection, and the peer might never see the last message.
pub(super) const LINGER: Duration = Duration::from_secs(1);
/// Connections that linger at once: past them they are closed at once, so that a flood of them takes no
/// descriptors.
const LINGERING: usize = 64;

/// Reads and drops input for a while before the connection closes.
pub(super) async fn drain(shared: &Shared, mut input: impl AsyncRead + Unpin) {
    let place = Arc::clone(&shared.lingering);
    if Arc::strong_count(&place) > LINGERING {
        return;
    }
    let mut buffer = [0; 4 << 10];
    let discard = async { while input.read(&mut buffer).await.is_ok_and(|count| count > 0) {} };
    // Either the peer closes, or it had its time.
    let _closed_or_not = tokio::time::timeout(LINGER, discard).await;
}
