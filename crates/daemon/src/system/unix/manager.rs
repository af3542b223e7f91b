//! What a service manager gives: a socket to speak to, and sockets that listen.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::super::{Handed, Socket};
use super::HandedUnix;

/// A socket that a service manager listens to.
#[derive(Debug)]
pub(crate) struct NotifySocket {
    socket: UnixDatagram,
    address: SocketAddr,
}

impl NotifySocket {
    /// The socket at an address: a path, or `@` and an abstract name. A message waits for `timeout` at most.
    ///
    /// # Errors
    /// It is neither, or the system gives no socket.
    pub(crate) fn at(address: &OsStr, timeout: Duration) -> io::Result<Self> {
        let address = match address.as_bytes() {
            [b'@', name @ ..] => abstract_address(name)?,
            [b'/', ..] => SocketAddr::from_pathname(Path::new(address))?,
            _ => {
                let message = "an address of a service manager begins with `/` or `@`";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
        };
        let socket = UnixDatagram::unbound()?;
        socket.set_write_timeout(Some(timeout))?;
        Ok(Self { socket, address })
    }

    pub(crate) fn send(&self, message: &str) -> io::Result<()> {
        self.socket.send_to_addr(message.as_bytes(), &self.address).map(drop)
    }

    /// The time of the monotonic clock, by which both go, in us.
    pub(crate) fn now_us(&self) -> i128 {
        let now = clock_gettime(ClockId::Monotonic);
        i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1_000
    }
}

#[cfg(target_os = "linux")]
fn abstract_address(name: &[u8]) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt;
    SocketAddr::from_abstract_name(name)
}

#[cfg(not(target_os = "linux"))]
fn abstract_address(_name: &[u8]) -> io::Result<SocketAddr> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no abstract names of sockets"))
}

/// The sockets that were handed over, each of which is kept from child processes.
///
/// # Errors
/// The environment contradicts itself.
pub(crate) fn handed() -> Result<Vec<Handed>, String> {
    let descriptors = sd_listen_fds::get().map_err(|error| error.to_string())?;
    Ok(descriptors.into_iter().map(|(name, fd)| (name, take(fd.into_std()))).collect())
}

fn take(fd: OwnedFd) -> io::Result<Socket> {
    match kind(&fd) {
        Ok(Kind::Tcp) => Ok(Socket::Tcp(fd.into())),
        Ok(Kind::Unix) => Ok(Socket::Unix(HandedUnix(fd.into()))),
        Err(error) => {
            // It may not even be open, and is not to be closed then.
            let _not_ours = fd.into_raw_fd();
            Err(error)
        }
    }
}

/// What kind of socket it is.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "nobody hands sockets over there"))]
#[derive(Clone, Copy)]
enum Kind {
    Tcp,
    Unix,
}

/// What kind of socket a descriptor is, if it is one that listens; it is kept from child processes.
#[cfg(target_os = "linux")]
fn kind(fd: &OwnedFd) -> io::Result<Kind> {
    use rustix::io::{FdFlags, fcntl_setfd};
    use rustix::net::sockopt::{socket_acceptconn, socket_domain, socket_type};
    use rustix::net::{AddressFamily, SocketType};

    fcntl_setfd(fd, FdFlags::CLOEXEC)?;
    let refused = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    let kind = match (socket_domain(fd)?, socket_type(fd)?) {
        (AddressFamily::INET | AddressFamily::INET6, SocketType::STREAM) => Kind::Tcp,
        (AddressFamily::UNIX, SocketType::STREAM) => Kind::Unix,
        _ => return refused("it is neither a TCP socket nor a Unix socket of streams"),
    };
    if !socket_acceptconn(fd)? {
        return refused("it does not listen; its socket unit needs `Accept=no`");
    }
    Ok(kind)
}

/// Nobody hands anything over elsewhere.
#[cfg(not(target_os = "linux"))]
fn kind(_fd: &OwnedFd) -> io::Result<Kind> {
    Err(io::ErrorKind::Unsupported.into())
}
