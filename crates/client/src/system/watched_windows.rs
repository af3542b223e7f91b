//! Sockets, as tokio watches them on Windows, where everything that is waited for is one.

use std::io;
use std::os::windows::io::{AsSocket, BorrowedSocket};

use tokio::io::Interest;
use tokio::net::TcpStream;

/// A handle of its own for a socket. It is for waiting alone: the bytes go through the original.
#[derive(Debug)]
pub(crate) struct Watched(TcpStream);

impl Watched {
    /// Watches a socket that is read; must be called within a runtime.
    pub(crate) fn input(socket: BorrowedSocket<'_>) -> io::Result<Self> {
        let own = std::net::TcpStream::from(socket.try_clone_to_owned()?);
        // Tokio wants it so; how it is read does not depend on that, because it is read when it is ready.
        own.set_nonblocking(true)?;
        TcpStream::from_std(own).map(Self)
    }

    /// Watches a socket that is written; must be called within a runtime.
    pub(crate) fn output(socket: BorrowedSocket<'_>) -> io::Result<Self> {
        Self::input(socket)
    }

    /// Waits until tokio reports the socket as ready.
    pub(crate) async fn ready(&self, interest: Interest) -> io::Result<()> {
        self.0.ready(interest).await.map(drop)
    }

    /// Looks at the socket; `WouldBlock` clears the readiness that tokio caches.
    pub(crate) fn try_io(
        &self,
        interest: Interest,
        look: impl FnOnce(BorrowedSocket<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.0.try_io(interest, || look(self.0.as_socket()))
    }
}
