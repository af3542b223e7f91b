//! A port that browsers reach: the pages that may use it, and its own page.
//!
//! Knows no socket: requests are answered in `transport::web`.

mod origin;

use std::net::SocketAddr;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use super::page::Page;

pub use origin::{Guard, check_origin};

/// What a port serves, and to whom.
pub(crate) struct Site {
    address: SocketAddr,
    guard: RwLock<Guard>,
    pub(crate) page: Option<Page>,
}

impl Site {
    /// A site of a socket bound to `address`, with a page or without, that lets pages of these origins in,
    /// too.
    pub(crate) fn new(address: SocketAddr, origins: &[String], page: Option<Page>) -> Self {
        Self { address, guard: RwLock::new(Guard::new(address.ip(), origins)), page }
    }

    /// Lets pages of these origins in from now on, instead of those before.
    pub(crate) fn set_origins(&self, origins: &[String]) {
        let guard = Guard::new(self.address.ip(), origins);
        *self.guard.write().unwrap_or_else(PoisonError::into_inner) = guard;
    }

    /// Who is let in.
    pub(crate) fn guard(&self) -> RwLockReadGuard<'_, Guard> {
        self.guard.read().unwrap_or_else(PoisonError::into_inner)
    }
}
