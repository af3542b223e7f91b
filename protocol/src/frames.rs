//! WebSocket frames (RFC 6455) in a stream of bytes, from either end of the wire, and those of a server. Does
//! no I/O and stores no message: the pieces of a message are passed on as they come, so that a long one takes
//! no memory here. No extension is spoken.

use std::io::Cursor;

use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{CloseCode, Control, Data, OpCode};

/// The longest payload of a control frame (RFC 6455, 5.5).
const MAX_CONTROL: usize = 125;

/// What was found in the stream.
#[derive(PartialEq, Eq, Debug)]
pub enum Piece<'a> {
    /// Bytes of a text message.
    Text {
        /// The next bytes, unmasked; there may be none.
        bytes: &'a [u8],
        /// Whether the message ends with them.
        is_last: bool,
    },
    /// A control frame.
    Control(ControlFrame),
}

/// A control frame, with its payload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ControlFrame {
    /// The peer wants a pong of the same payload.
    Ping(Vec<u8>),
    /// The answer to a ping.
    Pong(Vec<u8>),
    /// The peer closes: a status and a reason, or nothing. What comes after means nothing.
    Close(Vec<u8>),
}

/// The status that the payload of a close frame begins with, if it has one.
#[must_use]
pub fn close_status(payload: &[u8]) -> Option<CloseCode> {
    payload.first_chunk().map(|code| u16::from_be_bytes(*code).into())
}

/// The end of the wire that wrote the frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writer {
    /// Its frames are masked.
    Client,
    /// Its frames are not.
    Server,
}

/// Why the connection must fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The status to close with.
    pub code: CloseCode,
    /// The same in words; at most 123 bytes.
    pub reason: &'static str,
}

/// Cuts a stream into pieces.
#[derive(Debug)]
pub struct Frames {
    writer: Writer,
    /// The beginning of a header whose end has not come.
    head: Vec<u8>,
    /// The frame whose payload comes.
    frame: Option<Frame>,
    /// What came of a control frame's payload.
    control: Vec<u8>,
    /// Whether a message has begun and not ended.
    in_message: bool,
}

/// A frame whose header is read.
#[derive(Debug)]
struct Frame {
    opcode: OpCode,
    is_final: bool,
    /// The mask, if there is one, as it applies to the next byte.
    mask: Option<[u8; 4]>,
    remaining: u64,
}

impl Frames {
    /// The beginning of a stream.
    #[must_use]
    pub fn of(writer: Writer) -> Self {
        Self { writer, head: Vec::new(), frame: None, control: Vec::new(), in_message: false }
    }

    /// Takes bytes up to the next piece that they complete; takes all of them if there is none. The bytes are
    /// unmasked in place.
    ///
    /// # Errors
    /// The stream breaks the rules of the protocol, or carries a binary message.
    pub fn next<'a>(&mut self, bytes: &mut &'a mut [u8]) -> Result<Option<Piece<'a>>, Violation> {
        loop {
            let Some(frame) = &mut self.frame else {
                let Some((first, rest)) = std::mem::take(bytes).split_first_mut() else {
                    return Ok(None);
                };
                *bytes = rest;
                self.head.push(*first);
                self.frame = self.header()?;
                continue;
            };
            if bytes.is_empty() && frame.remaining > 0 {
                return Ok(None);
            }
            let count = usize::try_from(frame.remaining).unwrap_or(usize::MAX).min(bytes.len());
            let (payload, rest) = std::mem::take(bytes).split_at_mut(count);
            *bytes = rest;
            frame.unmask(payload);
            frame.remaining -= count as u64;
            let (is_whole, is_final) = (frame.remaining == 0, frame.is_final);
            let opcode = frame.opcode;
            if is_whole {
                self.frame = None;
            }
            match opcode {
                OpCode::Data(_) => {
                    let is_last = is_whole && is_final;
                    self.in_message = !is_last;
                    return Ok(Some(Piece::Text { bytes: payload, is_last }));
                }
                OpCode::Control(control) => {
                    self.control.extend_from_slice(payload);
                    if is_whole {
                        let control = controlled(control, std::mem::take(&mut self.control))?;
                        return Ok(Some(Piece::Control(control)));
                    }
                }
            }
        }
    }

    /// The frame whose header is whole by now.
    fn header(&mut self) -> Result<Option<Frame>, Violation> {
        let broken = |reason| Violation { code: CloseCode::Protocol, reason };
        let parsed = FrameHeader::parse(&mut Cursor::new(&self.head));
        let Some((header, length)) = parsed.map_err(|_| broken("there is no such opcode"))? else {
            return Ok(None);
        };
        let form = self.head[1] & 0x7f;
        self.head.clear();
        if (form == 126 && length < 126) || (form == 127 && length <= u64::from(u16::MAX)) {
            return Err(broken("a length is written in the fewest bytes"));
        }
        if header.rsv1 || header.rsv2 || header.rsv3 {
            return Err(broken("no extension was agreed upon"));
        }
        match (self.writer, header.mask) {
            (Writer::Client, None) => return Err(broken("a client's frames are masked")),
            (Writer::Server, Some(_)) => return Err(broken("a server's frames are not masked")),
            (Writer::Client, Some(_)) | (Writer::Server, None) => {}
        }
        if length > i64::MAX as u64 {
            return Err(broken("a length has 63 bits"));
        }
        match header.opcode {
            OpCode::Control(_) if !header.is_final => return Err(broken("a control frame is one frame")),
            OpCode::Control(_) if length > MAX_CONTROL as u64 => {
                return Err(broken("a control frame carries at most 125 bytes"));
            }
            OpCode::Data(Data::Binary) => {
                let reason = "send each JSON object as a text message";
                return Err(Violation { code: CloseCode::Unsupported, reason });
            }
            OpCode::Data(Data::Continue) if !self.in_message => {
                return Err(broken("there is no message to continue"));
            }
            OpCode::Data(Data::Text) if self.in_message => {
                return Err(broken("a message begins before the last one ended"));
            }
            OpCode::Data(_) | OpCode::Control(_) => {}
        }
        let FrameHeader { opcode, is_final, mask, .. } = header;
        Ok(Some(Frame { opcode, is_final, mask, remaining: length }))
    }
}

impl Frame {
    fn unmask(&mut self, payload: &mut [u8]) {
        let Some(mask) = &mut self.mask else { return };
        for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
            *byte ^= mask;
        }
        mask.rotate_left(payload.len() % 4);
    }
}

/// A whole control frame.
fn controlled(control: Control, payload: Vec<u8>) -> Result<ControlFrame, Violation> {
    Ok(match control {
        Control::Ping => ControlFrame::Ping(payload),
        Control::Pong | Control::Reserved(_) => ControlFrame::Pong(payload),
        Control::Close => {
            match (close_status(&payload), payload.get(2..).map(std::str::from_utf8)) {
                (None, _) if payload.is_empty() => {}
                (None, _) => {
                    return Err(Violation { code: CloseCode::Protocol, reason: "a status has two bytes" });
                }
                (Some(code), _) if !code.is_allowed() => {
                    return Err(Violation { code: CloseCode::Protocol, reason: "there is no such status" });
                }
                (Some(_), Some(Err(_))) => {
                    return Err(Violation { code: CloseCode::Invalid, reason: "a reason is UTF-8" });
                }
                (Some(_), _) => {}
            }
            ControlFrame::Close(payload)
        }
    })
}

/// Appends the header of a text message of so many bytes.
pub fn put_text_header(out: &mut Vec<u8>, bytes: usize) {
    put_header(out, OpCode::Data(Data::Text), bytes);
}

/// Appends a ping, without payload.
pub fn put_ping(out: &mut Vec<u8>) {
    put(out, OpCode::Control(Control::Ping), b"");
}

/// Appends the answer to a ping of that payload.
pub fn put_pong(out: &mut Vec<u8>, payload: &[u8]) {
    put(out, OpCode::Control(Control::Pong), payload);
}

/// Appends the end of the connection.
pub fn put_close(out: &mut Vec<u8>, code: CloseCode, reason: &str) {
    let payload = [&u16::from(code).to_be_bytes(), reason.as_bytes()].concat();
    put(out, OpCode::Control(Control::Close), &payload);
}

/// Appends a frame of a server.
fn put(out: &mut Vec<u8>, opcode: OpCode, payload: &[u8]) {
    put_header(out, opcode, payload.len());
    out.extend_from_slice(payload);
}

/// Appends the header of a frame of a server: whole and not masked.
fn put_header(out: &mut Vec<u8>, opcode: OpCode, bytes: usize) {
    let header = FrameHeader { opcode, ..FrameHeader::default() };
    header.format(bytes as u64, out).expect("a Vec takes every byte");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of a client, its first byte given.
    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![first];
        match payload.len() {
            short @ 0..=125 => bytes.push(0x80 | short as u8),
            medium @ 126..=0xffff => {
                bytes.push(0xfe);
                bytes.extend((medium as u16).to_be_bytes());
            }
            long => {
                bytes.push(0xff);
                bytes.extend((long as u64).to_be_bytes());
            }
        }
        let mask = [0x37, 0xfa, 0x21, 0x3d];
        bytes.extend(mask);
        bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        bytes
    }

    /// What comes of a stream that arrives in pieces of that size: whole messages and control frames, and the
    /// end.
    fn cut(stream: &[u8], size: usize) -> Vec<String> {
        let (mut frames, mut seen, mut message) = (Frames::of(Writer::Client), Vec::new(), Vec::new());
        for chunk in stream.chunks(size) {
            let mut chunk = chunk.to_vec();
            let mut rest = &mut chunk[..];
            loop {
                match frames.next(&mut rest) {
                    Ok(None) => break,
                    Ok(Some(Piece::Text { bytes, is_last })) => {
                        message.extend_from_slice(bytes);
                        if is_last {
                            seen.push(format!("text {}", String::from_utf8_lossy(&message)));
                            message.clear();
                        }
                    }
                    Ok(Some(Piece::Control(ControlFrame::Ping(payload)))) => {
                        seen.push(format!("ping {}", payload.len()));
                    }
                    Ok(Some(Piece::Control(ControlFrame::Pong(_)))) => seen.push("pong".into()),
                    Ok(Some(Piece::Control(ControlFrame::Close(payload)))) => {
                        seen.push(format!("close {}", close_status(&payload).map_or(0, u16::from)));
                        return seen;
                    }
                    Err(violation) => {
                        assert!(violation.reason.len() <= MAX_CONTROL - 2);
                        seen.push(format!("fail {}", violation.code));
                        return seen;
                    }
                }
            }
        }
        seen
    }

    #[test]
    fn frames_are_found_however_they_are_cut() {
        let long = "x".repeat(70_000);
        type Row<'a> = (&'a str, Vec<Vec<u8>>, &'a [&'a str]);
        let table: &[Row<'_>] = &[
            ("a message", vec![frame(0x81, b"Hello")], &["text Hello"]),
            ("an empty one", vec![frame(0x81, b""), frame(0x81, b"a")], &["text ", "text a"]),
            ("of 126 bytes", vec![frame(0x81, &[b'y'; 126])], &[&format!("text {}", "y".repeat(126))]),
            ("of 70,000 bytes", vec![frame(0x81, long.as_bytes())], &[&format!("text {long}")]),
            (
                "in fragments, a ping between",
                vec![frame(0x01, b"He"), frame(0x89, b"?"), frame(0x00, b""), frame(0x80, b"llo")],
                &["ping 1", "text Hello"],
            ),
            ("a long ping", vec![frame(0x89, &[0; 125])], &["ping 125"]),
            ("a pong nobody wanted", vec![frame(0x8a, b"x"), frame(0x81, b"a")], &["pong", "text a"]),
            ("close", vec![frame(0x88, b""), frame(0x81, b"late")], &["close 0"]),
            ("close with a status", vec![frame(0x88, b"\x03\xe8bye")], &["close 1000"]),
            ("close with one of 4999", vec![frame(0x88, b"\x13\x87")], &["close 4999"]),
            ("a status of one byte", vec![frame(0x88, b"\x03")], &["fail 1002"]),
            ("a status nobody may send", vec![frame(0x88, b"\x03\xed")], &["fail 1002"]),
            ("a reason that is no text", vec![frame(0x88, b"\x03\xe8\xff")], &["fail 1007"]),
            ("binary", vec![frame(0x82, b"x")], &["fail 1003"]),
            ("a fragmented binary", vec![frame(0x02, b"x")], &["fail 1003"]),
            ("reserved bits", vec![frame(0xc1, b"x")], &["fail 1002"]),
            ("an unknown kind", vec![frame(0x83, b"x")], &["fail 1002"]),
            ("an unknown control frame", vec![frame(0x8b, b"")], &["fail 1002"]),
            ("nothing to continue", vec![frame(0x80, b"x")], &["fail 1002"]),
            ("a message in a message", vec![frame(0x01, b"x"), frame(0x81, b"x")], &["fail 1002"]),
            ("a control frame in parts", vec![frame(0x09, b"x")], &["fail 1002"]),
            ("a control frame too long", vec![frame(0x89, &[0; 126])], &["fail 1002"]),
            ("no mask", vec![vec![0x81, 0x01, b'x']], &["fail 1002"]),
            ("a length of 64 bits", vec![[&[0x81, 0xff][..], &[0xff; 12]].concat()], &["fail 1002"]),
            ("5 in 16 bits", vec![vec![0x81, 0xfe, 0, 5], vec![0; 9]], &["fail 1002"]),
            ("125 in 16 bits", vec![vec![0x81, 0xfe, 0, 125], vec![0; 129]], &["fail 1002"]),
            (
                "65,535 in 64 bits",
                vec![vec![0x81, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0]],
                &["fail 1002"],
            ),
            ("a ping of 1 in 16 bits", vec![vec![0x89, 0xfe, 0, 1, 0, 0, 0, 0, 0]], &["fail 1002"]),
            ("half a header", vec![vec![0x81, 0xfe, 0x00]], &[]),
        ];
        for (name, stream, expected) in table {
            let stream = stream.concat();
            for size in [1, 2, 3, 7, 4096, usize::MAX] {
                assert_eq!(cut(&stream, size), *expected, "{name}, {size} at a time");
            }
        }
    }

    #[test]
    fn frames_to_a_client_are_as_the_standard_shows_them() {
        let mut out = Vec::new();
        put(&mut out, OpCode::Data(Data::Text), b"Hello");
        put_pong(&mut out, b"Hello");
        put_ping(&mut out);
        put_close(&mut out, CloseCode::Normal, "");
        let expected = b"\x81\x05Hello\x8a\x05Hello\x89\x00\x88\x02\x03\xe8";
        assert_eq!(out, expected);
        out.clear();
        put_text_header(&mut out, 256);
        assert_eq!(out[..4], [0x81, 126, 1, 0]);
    }
}
