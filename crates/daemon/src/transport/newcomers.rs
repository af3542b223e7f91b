//! Peers of a listener that are no connections yet ([`newcomers`]); each that makes room for another is
//! logged.

use std::net::SocketAddr;

use plyd_protocol::newcomers;

use crate::runtime::Shared;
use crate::state::refusals::Refusal;

pub(super) use newcomers::Places;
pub(crate) use newcomers::Progress;

/// The peers of one listener. They end with it.
#[derive(Debug)]
pub(super) struct Newcomers {
    /// Why a peer is turned away that makes room for another.
    reason: Refusal,
    peers: newcomers::Newcomers,
}

impl Newcomers {
    /// No peers yet. One that makes room for another is turned away for `reason`.
    pub(super) fn new(reason: Refusal) -> Self {
        Self { reason, peers: newcomers::Newcomers::default() }
    }

    /// Begins to serve a peer by a task of its own. If there is no place left, it takes that of another: of
    /// one of the same network, if that has too many.
    pub(super) fn begin<F>(
        &self,
        shared: &Shared,
        peer: SocketAddr,
        places: Places,
        serve: impl FnOnce(Progress) -> F,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        if let Some(left) = self.peers.begin(peer, places, serve) {
            let reason = if left.is_of_network { Refusal::ConnectionsPerAddress } else { self.reason };
            shared.lock().note_peer(left.peer, reason, None);
        }
    }
}
