//! The client's end of a WebSocket (RFC 6455): lines become text messages and messages lines. Does no I/O and
//! stores no message: the pieces of one are passed on as they come. No extension is spoken.
//! [`Encoder::frame`] breaks rules for those who want to see what a server does then.

use std::hash::{BuildHasher, Hasher, RandomState};

use tungstenite::handshake::client::generate_key;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::OpCode;

pub use plyd_protocol::frames::ControlFrame;
use plyd_protocol::frames::{Frames, Piece, Writer};

/// First bytes of a client's frames: the bit FIN and the opcodes (RFC 6455, 5.2).
const FINAL: u8 = 0x80;
const CONTINUATION: u8 = 0x0;
const TEXT: u8 = 0x1;
const CLOSE: u8 = 0x8;
const PONG: u8 = 0xa;

/// The longest answer to a request that asks for a WebSocket.
pub(super) const MAX_ANSWER: usize = 16 << 10;

/// A request that asks a server for a WebSocket.
#[derive(Debug)]
pub struct Opening {
    key: String,
}

impl Default for Opening {
    fn default() -> Self {
        Self { key: generate_key() }
    }
}

impl Opening {
    /// The bytes of the request; `host` is the `HOST:PORT` that was called.
    #[must_use]
    pub fn request(&self, host: &str) -> Vec<u8> {
        let key = &self.key;
        format!(
            "GET /ws HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
        )
        .into_bytes()
    }

    /// Reads the answer at the beginning of these bytes; returns its length in bytes, or none if its end is
    /// missing.
    ///
    /// # Errors
    /// Why there is no WebSocket.
    pub fn answered(&self, bytes: &[u8]) -> Result<Option<usize>, String> {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            return if bytes.len() < MAX_ANSWER { Ok(None) } else { Err("it answers without end".into()) };
        };
        let head = String::from_utf8_lossy(&bytes[..end]);
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap_or_default();
        if !status.starts_with("HTTP/1.1 101") {
            return Err(format!("it answers `{}`", plyd_protocol::echo(status)));
        }
        let accepted = lines.filter_map(|line| line.split_once(':')).any(|(name, value)| {
            name.trim().eq_ignore_ascii_case("Sec-WebSocket-Accept")
                && value.trim() == derive_accept_key(self.key.as_bytes())
        });
        if accepted { Ok(Some(end + 4)) } else { Err("it does not accept the key that it was sent".into()) }
    }
}

/// Makes frames of lines.
#[derive(Debug)]
pub struct Encoder {
    /// The state of the generator that draws masks.
    noise: u64,
    /// Whether a line has begun and not ended.
    in_message: bool,
}

impl Default for Encoder {
    fn default() -> Self {
        // A bit is set, since this generator would stay at 0.
        Self { noise: RandomState::new().build_hasher().finish() | 1, in_message: false }
    }
}

impl Encoder {
    /// Appends the frames of these bytes: each line a text message, and a line whose end has not come a
    /// fragment of one.
    pub fn lines(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let line = part.strip_suffix(b"\n");
            let kind = if self.in_message { CONTINUATION } else { TEXT };
            let end = if line.is_some() { FINAL } else { 0 };
            self.frame(end | kind, line.unwrap_or(part), out);
            self.in_message = line.is_none();
        }
    }

    /// Appends the answer to a ping of that payload.
    pub(super) fn pong(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        self.frame(FINAL | PONG, payload, out);
    }

    /// Appends the end of the connection, with a status and a reason as a close frame carries them.
    pub(super) fn close(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        self.frame(FINAL | CLOSE, payload, out);
    }

    /// Appends a frame with this first byte, whatever it says: a test may break the rules with it.
    pub fn frame(&mut self, first: u8, payload: &[u8], out: &mut Vec<u8>) {
        // Marsaglia's xorshift.
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 7;
        self.noise ^= self.noise << 17;
        let [a, b, c, d, ..] = self.noise.to_le_bytes();
        let mask = [a, b, c, d];
        let has = |bit: u8| first & bit != 0;
        let header = FrameHeader {
            is_final: has(FINAL),
            rsv1: has(0x40),
            rsv2: has(0x20),
            rsv3: has(0x10),
            opcode: OpCode::from(first & 0xf),
            mask: Some(mask),
        };
        header.format(payload.len() as u64, out).expect("a Vec takes every byte");
        out.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    }
}

/// Finds lines in the frames of a server.
#[derive(Debug)]
pub struct Decoder {
    frames: Frames,
}

impl Default for Decoder {
    fn default() -> Self {
        Self { frames: Frames::of(Writer::Server) }
    }
}

impl Decoder {
    /// Takes bytes and appends the text in them, each message with a line end; gives the control frames.
    /// Nothing comes behind a close frame.
    ///
    /// # Errors
    /// The rule that the server breaks.
    pub fn take(
        &mut self,
        mut bytes: &mut [u8],
        out: &mut Vec<u8>,
    ) -> Result<Vec<ControlFrame>, &'static str> {
        let mut controls = Vec::new();
        while let Some(piece) = self.frames.next(&mut bytes).map_err(|violation| violation.reason)? {
            match piece {
                Piece::Text { bytes, is_last } => {
                    if bytes.contains(&b'\n') {
                        return Err("there is no line end inside a message");
                    }
                    out.extend_from_slice(bytes);
                    if is_last {
                        out.push(b'\n');
                    }
                }
                Piece::Control(control) => {
                    let is_close = matches!(control, ControlFrame::Close(_));
                    controls.push(control);
                    if is_close {
                        break;
                    }
                }
            }
        }
        Ok(controls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of a server.
    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).ok().filter(|length| *length < 126).unwrap();
        [&[first, length], payload].concat()
    }

    /// What becomes of a stream that arrives in pieces of that size.
    fn read(stream: &[u8], size: usize) -> Result<(String, Vec<ControlFrame>), &'static str> {
        let (mut decoder, mut out, mut controls) = (Decoder::default(), Vec::new(), Vec::new());
        for piece in stream.chunks(size) {
            controls.extend(decoder.take(&mut piece.to_vec(), &mut out)?);
        }
        Ok((String::from_utf8(out).unwrap(), controls))
    }

    #[test]
    fn messages_become_lines_however_they_are_cut() {
        let stream = [
            frame(0x81, b"one"),
            frame(0x01, b"tw"),
            frame(0x89, b"?"),
            frame(0x80, b"o"),
            frame(0x8a, b""),
            frame(0x81, b""),
            frame(0x88, b"\x03\xe8"),
        ]
        .concat();
        for size in [1, 2, 5, 1000] {
            let (lines, controls) = read(&stream, size).unwrap();
            assert_eq!(lines, "one\ntwo\n\n");
            let pong = ControlFrame::Pong(Vec::new());
            let close = ControlFrame::Close(vec![3, 0xe8]);
            assert_eq!(controls, [ControlFrame::Ping(b"?".to_vec()), pong, close]);
        }
        for (first, payload) in
            [(0x82, "x"), (0x80, "x"), (0xc1, "x"), (0x09, ""), (0x81, "a\nb"), (0x83, "")]
        {
            assert!(read(&frame(first, payload.as_bytes()), 1000).is_err(), "{first:x} {payload}");
        }
        assert!(read(&[0x81, 0x81, 0, 0, 0, 0, b'x'], 1000).is_err(), "a mask");
        assert!(read(&[0x81, 0x7e, 0, 1, b'x'], 1000).is_err(), "a length in more bytes than it needs");
        assert!(read(&frame(0x88, b"\x03\xed"), 1000).is_err(), "a status that nobody may send");
    }

    #[test]
    fn lines_become_masked_messages_and_parts_fragments() {
        let unmasked = |bytes: &[u8]| -> Vec<(u8, String)> {
            let (mut at, mut frames) = (0, Vec::new());
            while at < bytes.len() {
                assert_eq!(bytes[at + 1] & 0x80, 0x80);
                let length = usize::from(bytes[at + 1] & 0x7f);
                let mask = &bytes[at + 2..at + 6];
                let payload = &bytes[at + 6..at + 6 + length];
                let text = payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
                frames.push((bytes[at], String::from_utf8(text).unwrap()));
                at += 6 + length;
            }
            frames
        };
        let (mut encoder, mut out) = (Encoder::default(), Vec::new());
        encoder.lines(b"one\n\ntw", &mut out);
        encoder.lines(b"o", &mut out);
        encoder.lines(b"\n", &mut out);
        let frames = [(0x81, "one"), (0x81, ""), (0x01, "tw"), (0x00, "o"), (0x80, "")];
        assert_eq!(unmasked(&out), frames.map(|(first, text)| (first, text.to_owned())));
    }

    #[test]
    fn an_answer_must_accept_the_key() {
        let opening = Opening { key: "dGhlIHNhbXBsZSBub25jZQ==".into() };
        let accept = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
        let good = format!("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n{accept}\r\n\r\n");
        assert_eq!(opening.answered(good.as_bytes()), Ok(Some(good.len())));
        assert_eq!(opening.answered(&good.as_bytes()[..40]), Ok(None));
        for bad in [good.replace("101", "403"), good.replace("s3p", "s4p"), "x".repeat(MAX_ANSWER)] {
            assert!(opening.answered(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
