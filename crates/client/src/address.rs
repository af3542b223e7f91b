//! Where a server is found: a program to start, or an address to call.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use super::{Launch, LineError, Lines, Reaper, Secured};

/// Where a server of the protocol is found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// On the standard streams of a program, which is started.
    Program(Program),
    /// Over TCP, as `HOST:PORT`: a server that runs already.
    Tcp(String),
    /// Over WebSocket, as `HOST:PORT`.
    WebSocket(String),
    /// Over TLS.
    Tls(Secured),
    /// Over WebSocket and TLS.
    SecureWebSocket(Secured),
    /// At the path of a Unix socket.
    Unix(PathBuf),
}

/// A program that speaks the protocol on its standard streams.
///
/// ```
/// use plyd_client::{Address, Client, Program};
///
/// let nobody = Program { path: "no-such-engine".into(), arguments: vec!["--threads=1".into()] };
/// let error = Client::at(&Address::Program(nobody)).expect_err("there is no such program");
/// assert!(error.to_string().contains("no-such-engine"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The executable.
    pub path: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Address {
    /// How addresses are written.
    pub const WRITTEN: &str = "tcp=HOST:PORT, ws=HOST:PORT, tls=HOST:PORT, wss=HOST:PORT or unix=PATH";

    /// The kinds of addresses: what stands before the `=`.
    pub const WAYS: [&str; 5] = ["tcp", "ws", "tls", "wss", "unix"];

    /// A program on the standard streams, without arguments.
    #[must_use]
    pub fn program(path: impl Into<OsString>) -> Self {
        Self::Program(Program { path: path.into(), arguments: Vec::new() })
    }

    /// Reads `tcp=HOST:PORT`, `ws=HOST:PORT`, `tls=HOST:PORT`, `wss=HOST:PORT` (each also with `://` instead
    /// of `=`) or `unix=PATH`; a program cannot be written this way. After `tls` and `wss` addresses may
    /// stand what [`Secured::read`] takes, such as `?ca=FILE`.
    ///
    /// ```
    /// use plyd_client::Address;
    ///
    /// assert_eq!(Address::read("unix=/run/plyd"), Ok(Address::Unix("/run/plyd".into())));
    /// assert_eq!(Address::read("ws://localhost:80/ws"), Ok(Address::WebSocket("localhost:80".into())));
    /// assert!(matches!(Address::read("tls://localhost:7117?ca=ca.pem"), Ok(Address::Tls(_))));
    /// assert!(Address::read("localhost").is_err());
    /// ```
    ///
    /// # Errors
    /// A sentence that says what to write instead.
    pub fn read(text: &str) -> Result<Self, String> {
        let wrong = || format!("give {}, such as tcp=127.0.0.1:7117", Self::WRITTEN);
        let (way, place) = Self::url(text).or_else(|| text.split_once('=')).ok_or_else(wrong)?;
        Self::of(way, place).unwrap_or_else(|| Err(wrong()))
    }

    /// Splits the URL of a server (`ws://HOST:PORT`) into its kind and its place; none if it is no such URL.
    #[must_use]
    pub fn url(text: &str) -> Option<(&str, &str)> {
        text.split_once("://").filter(|(way, _)| *way != "unix" && Self::WAYS.contains(way))
    }

    /// The address of a kind (one of [`WAYS`](Self::WAYS)); none if there is no such kind. Its error says
    /// what to write instead of `place`.
    pub fn of(way: &str, place: &str) -> Option<Result<Self, String>> {
        let (place, options) = match place.find('?').filter(|_| ["tls", "wss"].contains(&way)) {
            Some(end) => place.split_at(end),
            None => (place, ""),
        };
        let place = match way {
            "ws" | "wss" => place.trim_end_matches('/').trim_end_matches("/ws"),
            "tcp" | "tls" => place.trim_end_matches('/'),
            _ => place,
        };
        let is_port = place.rsplit_once(':').is_some_and(|(host, port)| {
            let is_host = !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || c == '/');
            is_host && port.parse::<u16>().is_ok()
        });
        let called = |address: fn(String) -> Self| {
            if is_port {
                Ok(address(place.to_owned()))
            } else {
                Err(format!("give a host and a port, such as {way}=127.0.0.1:7117"))
            }
        };
        let secured = |address: fn(Secured) -> Self| {
            called(Self::Tcp).and_then(|_| Secured::read(&format!("{place}{options}"))).map(address)
        };
        match way {
            "tls" => Some(secured(Self::Tls)),
            "wss" => Some(secured(Self::SecureWebSocket)),
            "tcp" => Some(called(Self::Tcp)),
            "ws" => Some(called(Self::WebSocket)),
            "unix" if place.is_empty() => Some(Err("give the path of a socket".into())),
            "unix" => Some(Ok(Self::Unix(place.into()))),
            _ => None,
        }
    }

    /// Starts the program, or connects.
    ///
    /// # Errors
    /// [`LineError::Start`] if there is no such program, [`LineError::Connect`] if nobody listens there.
    pub fn lines(&self) -> Result<Lines, LineError> {
        let (connected, place) = match self {
            Self::Program(program) => return Lines::spawn(program.launch(None)?),
            Self::Tcp(address) => (Lines::connect(address), address.clone()),
            Self::WebSocket(address) => (Lines::connect_websocket(address), address.clone()),
            Self::Tls(to) => (Lines::connect_tls(to), to.at.clone()),
            Self::SecureWebSocket(to) => (Lines::connect_secure_websocket(to), to.at.clone()),
            Self::Unix(path) => (Lines::connect_unix(path), path.display().to_string()),
        };
        connected.map_err(|error| match error {
            LineError::Connect(error) => {
                LineError::Connect(io::Error::new(error.kind(), format!("{place}: {error}")))
            }
            error => error,
        })
    }
}

impl fmt::Display for Address {
    /// As [`Address::read`] takes it; a program as its path and its arguments.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(program) => {
                write!(f, "{}", program.path.display())?;
                program.arguments.iter().try_for_each(|argument| write!(f, " {}", argument.display()))
            }
            Self::Tcp(at) => write!(f, "tcp={at}"),
            Self::WebSocket(at) => write!(f, "ws={at}"),
            Self::Tls(to) => write!(f, "tls={to}"),
            Self::SecureWebSocket(to) => write!(f, "wss={to}"),
            Self::Unix(path) => write!(f, "unix={}", path.display()),
        }
    }
}

impl Program {
    /// Prepares the launch of the program. If this process is killed, the reaper kills the program too;
    /// without a reaper the program only sees the end of its input.
    ///
    /// # Errors
    /// [`LineError::Start`] if there is no such program.
    pub fn launch(&self, reaper: Option<&Arc<Reaper>>) -> Result<Launch, LineError> {
        let mut command = Command::new(&self.path);
        command.args(&self.arguments);
        let Some(reaper) = reaper else {
            return Ok(command.into());
        };
        let program = self.path.display().to_string();
        reaper.launch(&command).map_err(|error| LineError::Start { program, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_they_are_read() {
        for text in [
            "tcp=localhost:7117",
            "ws=[::1]:80",
            "tls=h:1",
            "wss=h:1?ca=/a",
            "tls=h:1?ca=a&cert=b&key=c",
            "unix=/run/plyd",
        ] {
            assert_eq!(Address::read(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn addresses_show_their_kind() {
        let read = |text| Address::read(text).ok();
        assert_eq!(read("tcp=localhost:7117"), Some(Address::Tcp("localhost:7117".into())));
        for text in ["ws=[::1]:80", "ws://[::1]:80", "ws://[::1]:80/", "ws://[::1]:80/ws"] {
            assert_eq!(read(text), Some(Address::WebSocket("[::1]:80".into())), "{text}");
        }
        let secured =
            |at: &str, ca: Option<&str>| Secured { at: at.into(), ca: ca.map(Into::into), identity: None };
        for text in ["tls=h:1?ca=/a/ws", "tls://h:1?ca=/a/ws", "tls://h:1/?ca=/a/ws"] {
            assert_eq!(read(text), Some(Address::Tls(secured("h:1", Some("/a/ws")))), "{text}");
        }
        for text in ["wss=[::1]:80", "wss://[::1]:80", "wss://[::1]:80/", "wss://[::1]:80/ws"] {
            assert_eq!(read(text), Some(Address::SecureWebSocket(secured("[::1]:80", None))), "{text}");
        }
        assert_eq!(read("unix=/run/a=b"), Some(Address::Unix("/run/a=b".into())));
        for text in [
            "localhost:7117",
            "tcp=localhost",
            "udp=localhost:7117",
            "ws=:80",
            "ws://h:80/x",
            "tcp=h:99999",
            "tls=h",
            "tls=h:1?ca",
            "wss://h:80/x",
            "tcp=h:1?ca=a",
            "unix://run/a",
            "unix=",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
