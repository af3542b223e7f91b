//! Sockets that were listening before the process started: a service manager made them and keeps them, so
//! that nobody is refused while the daemon restarts (sd_listen_fds(3)).

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

use crate::serve_error::ServeError;
use crate::system::{self, Socket};

/// The descriptor of the first one.
const FIRST: u32 = 3;

/// The most sockets that are taken over.
const MOST: u32 = 64;

/// Sockets that were handed over, each with its name.
///
/// ```no_run
/// use plyd_daemon::{Config, Handed};
///
/// // With a socket unit of systemd; nothing elsewhere.
/// let handed = Handed::from_env()?;
/// let tcp = if handed.is_empty() { vec!["127.0.0.1:7117".to_owned()] } else { Vec::new() };
/// let config = Config { handed, tcp, ..Config::default() };
/// # Ok::<(), plyd_daemon::ServeError>(())
/// ```
#[derive(Debug, Default)]
pub struct Handed(pub(crate) Vec<HandedSocket>);

#[derive(Debug)]
pub(crate) struct HandedSocket {
    /// Its number.
    pub(crate) number: u32,
    /// Its name.
    pub(crate) name: String,
    /// The socket.
    pub(crate) socket: Socket,
}

/// What a socket speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Tcp,
    Ws,
    Unix,
}

/// The addresses that are served on sockets that were handed over, and need no other.
#[derive(Debug, Default)]
pub(crate) struct HandedAddresses {
    /// Of TCP and WebSocket.
    pub(crate) addresses: Vec<SocketAddr>,
    /// Of Unix sockets.
    pub(crate) paths: Vec<PathBuf>,
}

impl Handed {
    /// Takes over the sockets that the environment names, if they are meant for this process (`LISTEN_PID`,
    /// `LISTEN_FDS`, `LISTEN_FDNAMES`); no child process gets them. To be called once, before anything else
    /// opens files.
    ///
    /// # Errors
    /// A descriptor is no socket that listens, or the environment contradicts itself.
    pub fn from_env() -> Result<Self, ServeError> {
        let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
        if number("LISTEN_PID") != Some(std::process::id()) {
            return Ok(Self::default());
        }
        let wrong = |what: String| ServeError::Handed { name: String::new(), number: FIRST, what };
        if number("LISTEN_FDS").is_none_or(|count| count > MOST) {
            return Err(wrong(format!("LISTEN_FDS must be a number up to {MOST}")));
        }
        let named =
            system::handed().map_err(wrong)?.into_iter().zip(FIRST..).map(|((name, socket), number)| {
                let name = name.unwrap_or_default();
                match socket {
                    Ok(socket) => Ok(HandedSocket { number, name, socket }),
                    Err(error) => Err(ServeError::Handed { name, number, what: error.to_string() }),
                }
            });
        // All of them, so that each is kept from child processes.
        named.collect::<Vec<_>>().into_iter().collect::<Result<_, _>>().map(Self)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl HandedSocket {
    /// What it is to speak: by its name, or by the setting, of TCP or of WebSocket, that lists its address.
    pub(crate) fn way(&self, tcp: &[String], ws: &[String]) -> Result<Way, ServeError> {
        match (self.name.as_str(), &self.socket) {
            ("tcp", Socket::Tcp(_)) => Ok(Way::Tcp),
            ("ws", Socket::Tcp(_)) => Ok(Way::Ws),
            ("tcp" | "ws", Socket::Unix(_)) => Err(self.refused("it is a Unix socket; name it `unix`")),
            ("unix", Socket::Tcp(_)) => {
                Err(self.refused("it is a TCP socket; name it `tcp` or `ws`, as it is to speak"))
            }
            // Whatever its name, it can speak one way alone.
            (_, Socket::Unix(_)) => Ok(Way::Unix),
            (_, Socket::Tcp(listener)) => {
                let at = listener.local_addr().map_err(|error| self.refused(error))?;
                let is_among = |list: &[String]| list.iter().any(|other| is_same(other, at));
                match (is_among(tcp), is_among(ws)) {
                    (true, _) => Ok(Way::Tcp),
                    (_, true) => Ok(Way::Ws),
                    _ => Err(self.refused(format!(
                        "nothing says what it is to speak: put `FileDescriptorName=tcp` or \
                         `FileDescriptorName=ws` into its socket unit, or give its address {at} with the setting \
                         `tcp` or `ws`"
                    ))),
                }
            }
        }
    }

    fn refused(&self, what: impl fmt::Display) -> ServeError {
        ServeError::Handed { name: self.name.clone(), number: self.number, what: what.to_string() }
    }
}

/// Whether an address as a setting has it (`HOST:PORT`) is this one.
fn is_same(written: &str, address: SocketAddr) -> bool {
    written.to_socket_addrs().is_ok_and(|mut found| found.any(|found| found == address))
}

impl HandedAddresses {
    /// Whether there are any.
    pub(crate) fn is_empty(&self) -> bool {
        self.addresses.is_empty() && self.paths.is_empty()
    }

    /// Whether this address, as a setting has it, is among them.
    pub(crate) fn has(&self, written: &str) -> bool {
        self.addresses.iter().any(|address| is_same(written, *address))
    }

    /// Whether this path is.
    pub(crate) fn has_path(&self, path: &Path) -> bool {
        self.paths.iter().any(|taken| taken == path)
    }
}
