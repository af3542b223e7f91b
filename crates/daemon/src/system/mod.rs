//! What systems do differently: streams that are polled, Unix sockets, files that others must not read, and
//! the exchange with a service manager.
//!
//! Both systems offer the same functions, and what one of them lacks is an error there that says so. Beyond
//! this only what Linux alone has (a thread's priority and timers) asks which system it runs on.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

/// A socket that listens, as a service manager hands it over.
#[cfg_attr(windows, allow(dead_code, reason = "nobody hands sockets over there"))]
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(std::net::TcpListener),
    Unix(HandedUnix),
}

/// A socket that was handed over, with its name; or why it is none.
pub(crate) type Handed = (Option<String>, std::io::Result<Socket>);
