//! Where a server is found: a program to start, or an address to call.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use super::{Launch, LineError, Lines, Reaper};

/// Where a server of the protocol is found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// On the standard streams of a program, which is started.
    Program(Program),
    /// Over TCP, as `HOST:PORT`: a server that runs already.
    Tcp(String),
    /// Over WebSocket, as `HOST:PORT`.
    WebSocket(String),
    /// At the path of a Unix socket.
    Unix(PathBuf),
}

/// A program that speaks the protocol on its standard streams.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The executable.
    pub path: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Address {
    /// How addresses are written.
    pub const WRITTEN: &str = "tcp=HOST:PORT, ws=HOST:PORT or unix=PATH";

    /// Reads `tcp=HOST:PORT`, `ws=HOST:PORT` (or `ws://HOST:PORT`) or `unix=PATH`; none is a program.
    ///
    /// # Errors
    /// What to write instead.
    pub fn read(text: &str) -> Result<Self, String> {
        let wrong = || format!("give {}, such as tcp=127.0.0.1:7117", Self::WRITTEN);
        let text = text.strip_prefix("ws://").map_or(text.to_owned(), |rest| {
            format!("ws={}", rest.trim_end_matches('/').trim_end_matches("/ws"))
        });
        let (way, place) = text.split_once('=').ok_or_else(wrong)?;
        Self::of(way, place).unwrap_or_else(|| Err(wrong()))
    }

    /// The address of that kind (`tcp`, `ws` or `unix`); none if there is no such kind.
    pub fn of(way: &str, place: &str) -> Option<Result<Self, String>> {
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
        match way {
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

impl Program {
    /// The launch of the program. The reaper ends it if this process is killed; without a reaper it sees the
    /// end of its input.
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
    fn addresses_show_their_kind() {
        let read = |text| Address::read(text).ok();
        assert_eq!(read("tcp=localhost:7117"), Some(Address::Tcp("localhost:7117".into())));
        for text in ["ws=[::1]:80", "ws://[::1]:80", "ws://[::1]:80/", "ws://[::1]:80/ws"] {
            assert_eq!(read(text), Some(Address::WebSocket("[::1]:80".into())), "{text}");
        }
        assert_eq!(read("unix=/run/a=b"), Some(Address::Unix("/run/a=b".into())));
        for text in [
            "localhost:7117",
            "tcp=localhost",
            "udp=localhost:7117",
            "ws=:80",
            "ws://h:80/x",
            "tcp=h:99999",
            "unix=",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
