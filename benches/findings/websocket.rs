//! WebSocket frames against the rules.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use plyd::client::websocket::{ControlFrame, Decoder, Encoder, Opening};

use crate::finding::{Figure, Finding, LOST, figure, free_address, tcp};
use crate::server::Outcome;

/// Messages of several lines, and lengths in more bytes than they need.
pub(crate) const FINDING: Finding = Finding {
    lines: &[
        ("a WebSocket message with two requests and a line feed between them: lines that it makes", "1"),
        ("a WebSocket frame whose length of 24 is written in 16 bits", "closed, 1002"),
    ],
    measure,
};

/// How long more answers are waited for.
const QUIET: Duration = Duration::from_millis(500);

fn measure(build: &Path) -> Outcome<Vec<Figure>> {
    let address = free_address()?;
    let _server = tcp(build, &["--ws", &address.to_string()])?;
    let mut web = Web::open(TcpStream::connect(address)?, &address.to_string())?;
    web.send(&frame(br#"{"id":"h","cmd":"hello","protocol":{"min":1,"max":1}}"#))?;
    web.answers(1, LOST)?;
    web.send(&frame(b"{\"id\":\"a\",\"cmd\":\"ping\"}\n{\"id\":\"b\",\"cmd\":\"ping\"}"))?;
    let lines = web.answers(2, QUIET)?.len();
    let ping = br#"{"id":"c","cmd":"ping" }"#;
    // The length is a byte unless it is above 125.
    let mut wide = vec![0x81, 0x80 | 126];
    wide.extend((ping.len() as u16).to_be_bytes());
    wide.extend([0; 4]);
    wide.extend(ping);
    web.send(&wide)?;
    let answers = web.answers(1, LOST)?;
    let (text, is_kept) = match web.status {
        Some(status) => (format!("closed, {status}"), status == 1002),
        None if answers.is_empty() => ("no answer".to_owned(), false),
        None => ("accepted".to_owned(), false),
    };
    Ok(vec![figure(lines.to_string(), lines == 1), figure(text, is_kept)])
}

/// A text message in one frame.
fn frame(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    Encoder::default().frame(0x81, text, &mut bytes);
    bytes
}

/// A WebSocket of which each byte is ours.
struct Web {
    stream: TcpStream,
    decoder: Decoder,
    text: Vec<u8>,
    /// The status with which the server closed.
    status: Option<u16>,
}

impl Web {
    fn open(mut stream: TcpStream, host: &str) -> Outcome<Self> {
        stream.set_read_timeout(Some(LOST))?;
        let opening = Opening::default();
        stream.write_all(&opening.request(host))?;
        let mut head = Vec::new();
        while opening.answered(&head)?.is_none() {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            head.extend(byte);
        }
        Ok(Self { stream, decoder: Decoder::default(), text: Vec::new(), status: None })
    }

    fn send(&mut self, bytes: &[u8]) -> Outcome<()> {
        Ok(self.stream.write_all(bytes)?)
    }

    /// The next messages: so many, or those that come in that time before the end.
    fn answers(&mut self, count: usize, time: Duration) -> Outcome<Vec<String>> {
        let end = Instant::now() + time;
        let mut chunk = [0; 4096];
        while self.lines() < count && self.status.is_none() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.stream.set_read_timeout(Some(left))?;
            let read = match self.stream.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
                Err(error) => return Err(error.into()),
            };
            for control in self.decoder.take(&mut chunk[..read], &mut self.text)? {
                if let ControlFrame::Close(payload) = control {
                    self.status = Some(payload.first_chunk().map_or(1005, |two| u16::from_be_bytes(*two)));
                }
            }
        }
        let text = String::from_utf8(std::mem::take(&mut self.text))?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    fn lines(&self) -> usize {
        self.text.iter().filter(|byte| **byte == b'\n').count()
    }
}
