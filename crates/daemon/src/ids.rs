//! The numbers by which the daemon's files name things to each other.

/// A connection.
pub(super) type ConnId = u64;
/// A search thread.
pub(super) type WorkerId = u64;
/// A search, over all connections.
pub(super) type JobId = u64;
/// A task; later ones have larger numbers.
pub(super) type TaskId = u64;
/// A client that is known by name. Another token makes it another one.
pub(super) type ClientId = u64;

/// What a socket serves that serves no connection any more: a number that no connection has.
pub(super) const NOBODY: ConnId = 0;

/// A socket, or another way in, by the number of the connection that it opened.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct SocketId(pub(super) ConnId);
