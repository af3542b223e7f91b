//! `plyd health`: whether a daemon answers, for images without a shell and for whoever restarts what hangs.
//!
//! Asks as a client does, so that the answer says that clients are answered.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use plyd_protocol::{self as wire, Command, ErrorCode, Message};

use super::failure::Failure;
use super::token_file::read_token;
use super::{over_tls, parse};
use crate::client::{Address, Client, ClientError};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd health tcp=127.0.0.1:7117                   also ws=HOST:PORT, tls=HOST:PORT, wss=HOST:PORT and unix=PATH
  plyd health tcp=127.0.0.1:7117 --token-file token
  plyd health http://127.0.0.1:7120/readyz         a page that answers with the status 200
  plyd health unix=/run/plyd/socket --timeout 1s || systemctl restart plyd

Exit code 0: it answers `hello`, or wants a token and none was given. Exit code 1: it does not. A daemon that is about \
to end takes no connections and does not answer either.")]
pub(super) struct Args {
    /// Where it serves: tcp=HOST:PORT, ws=HOST:PORT, tls=HOST:PORT, wss=HOST:PORT, unix=PATH or
    /// http://HOST:PORT/PATH
    #[arg(value_name = "ADDR", value_parser = place)]
    place: Place,
    /// Show it the token in this file
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// How long all of it may take
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse::duration)]
    timeout: Duration,
}

/// Who is asked.
#[derive(Clone, Debug)]
enum Place {
    /// A daemon.
    Daemon(Address),
    /// A page, by host and port, and path.
    Page(String, String),
}

/// The most of a page's answer that is read: its status stands in the first line, and why behind a short
/// head.
const HEAD_BYTES: u64 = 1 << 10;

fn place(text: &str) -> Result<Place, String> {
    let Some(rest) = text.strip_prefix("http://") else {
        let read = Address::read(text).map(Place::Daemon);
        return read.map_err(|message| format!("{message}, or http://HOST:PORT/PATH"));
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let is_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_port || !is_plain {
        return Err("give a host, a port and a path, such as http://127.0.0.1:7120/readyz".into());
    }
    Ok(Place::Page(host.to_owned(), if path.is_empty() { "/".into() } else { path.into() }))
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let token = args.token_file.as_deref().map(read_token).transpose()?;
    let (place, timeout) = (args.place.clone(), args.timeout);
    let (sender, receiver) = channel();
    // On a thread that is left behind if the time is over: to look up a name, or to connect, may take longer.
    std::thread::Builder::new().name("health".to_owned()).spawn(move || {
        let _nobody_waits = sender.send(match &place {
            Place::Daemon(address) => greet(address, token, timeout),
            Place::Page(host, path) => get(host, path),
        });
    })?;
    match receiver.recv_timeout(timeout) {
        Ok(Ok(())) => Ok(writeln!(out, "ok")?),
        Ok(Err(message)) => Err(Failure::Failed(message)),
        Err(_) => Err(Failure::Failed(format!("no answer within {}", parse::duration_text(timeout)))),
    }
}

/// Says `hello` to a daemon.
fn greet(address: &Address, token: Option<String>, timeout: Duration) -> Result<(), String> {
    let has_token = token.is_some();
    let said = (|| {
        let mut client = Client::at(address)?;
        let hello = wire::Hello {
            protocol: wire::Versions { min: wire::VERSION, max: wire::VERSION },
            client: Some(wire::ClientInfo {
                name: Some("plyd health".to_owned()),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            token,
            ..wire::Hello::default()
        };
        let (id, _) = client.request(Command::Hello(hello))?;
        // Whoever waits for this thread says first that the time is over.
        client.wait_final(&id, Instant::now() + 2 * timeout)
    })();
    match said.map_err(|error| unanswered(address, &error))?.last.envelope.message {
        Message::Result(_) => Ok(()),
        // It answers, and keeps strangers out as it should.
        Message::Error(error) if error.code == ErrorCode::AuthRequired && !has_token => Ok(()),
        Message::Error(error) => Err(error.message),
        _ => Err("it answers something else than was asked".to_owned()),
    }
}

/// Why there is no answer, and what else can be asked.
fn unanswered(address: &Address, error: &ClientError) -> String {
    let hint = over_tls::hint(address, error);
    hint.map_or_else(|| error.to_string(), |hint| format!("{error}. {hint}; {PAGE}"))
}

/// What to ask instead, if TLS is served there.
fn over_tls(place: &str) -> String {
    format!("{}; {PAGE}", over_tls::instead(place))
}

/// What answers without TLS.
const PAGE: &str = "or ask the page of its metrics: http://HOST:PORT/readyz";

/// Asks for a page.
fn get(host: &str, path: &str) -> Result<(), String> {
    let status = (|| {
        let mut stream = TcpStream::connect(host)?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut head = Vec::new();
        stream.take(HEAD_BYTES).read_to_end(&mut head)?;
        let text = String::from_utf8_lossy(&head);
        let line = text.split(['\r', '\n']).next().unwrap_or_default().to_owned();
        // The page says below its head why it is not well.
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.trim()).unwrap_or_default();
        Ok::<_, io::Error>((line, body.lines().next().unwrap_or_default().to_owned()))
    })();
    let (status, why) = status.map_err(|error| format!("cannot ask {host}: {error}"))?;
    let mut words = status.split(' ');
    match (words.next(), words.next()) {
        (Some(version), Some("200")) if version.starts_with("HTTP/1.") => Ok(()),
        // Nothing, or the first byte of an alert of TLS.
        (Some(""), _) => Err(format!("it closes the connection. {}", over_tls(&format!("tls={host}")))),
        _ if status.starts_with('\u{15}') => {
            Err(format!("it answers no HTTP. {}", over_tls(&format!("tls={host}"))))
        }
        (Some(version), Some(_)) if version.starts_with("HTTP/1.") && !why.is_empty() => {
            Err(format!("it answers `{}`: {}", wire::echo(&status), wire::echo(&why)))
        }
        _ => Err(format!("it answers `{}`", wire::echo(&status))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_daemons_or_pages() {
        for (text, found) in [
            ("http://127.0.0.1:7120/readyz", Some(("127.0.0.1:7120", "/readyz"))),
            ("http://[::1]:80", Some(("[::1]:80", "/"))),
            ("http://localhost", None),
            ("http://localhost:80/a b", None),
            ("http://localhost:80/\r\nHost: x", None),
            ("http://", None),
        ] {
            let page = match place(text) {
                Ok(Place::Page(host, path)) => Some((host, path)),
                other => {
                    assert!(other.is_err(), "{text}: {other:?}");
                    None
                }
            };
            assert_eq!(page.as_ref().map(|(host, path)| (host.as_str(), path.as_str())), found, "{text}");
        }
        assert!(matches!(place("unix=/run/plyd"), Ok(Place::Daemon(Address::Unix(_)))));
        assert!(place("localhost").unwrap_err().contains("http://HOST:PORT/PATH"));
    }
}
