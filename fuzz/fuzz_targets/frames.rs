//! WebSocket frames: however a stream is cut into reads, its messages are those of a plain reading of RFC
//! 6455, and what the server writes is read again unchanged.
//!
//! Input: the seed of the reads' lengths (a byte), then the stream.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plyd_core::zobrist::SplitMix64;
use plyd_protocol::frames::{
    ControlFrame, Frames, Piece, Writer, close_status, put_close, put_ping, put_pong, put_text_header,
};
use tungstenite::protocol::frame::coding::CloseCode;

/// What was found.
#[derive(PartialEq, Debug)]
enum FrameRead {
    Text(Vec<u8>),
    Ping(Vec<u8>),
    Pong,
    Close(Option<u16>),
    /// The connection fails, with this status.
    Fail(u16),
    /// So much of a message has come, and not its end.
    Partial(Vec<u8>),
}

fuzz_target!(|data: &[u8]| {
    let Some((&seed, stream)) = data.split_first() else {
        return;
    };
    let expected = plain(stream);
    let mut random = SplitMix64::new(seed.into());
    assert_eq!(read(stream, || usize::MAX), expected, "in one read");
    assert_eq!(read(stream, || 1), expected, "byte by byte");
    assert_eq!(read(stream, || 1 + random.below(40)), expected, "in reads of lengths from seed {seed}");
    written(stream);
});

/// The messages as the server reads them.
fn read(stream: &[u8], mut length: impl FnMut() -> usize) -> Vec<FrameRead> {
    let (mut frames, mut found, mut message) = (Frames::of(Writer::Client), Vec::new(), Vec::new());
    let mut stream = stream.to_vec();
    let mut rest = &mut stream[..];
    while !rest.is_empty() {
        let count = length().min(rest.len());
        let (mut chunk, after) = rest.split_at_mut(count);
        rest = after;
        loop {
            match frames.next(&mut chunk) {
                Ok(None) => break,
                Ok(Some(Piece::Text { bytes, is_last })) => {
                    message.extend_from_slice(bytes);
                    if is_last {
                        found.push(FrameRead::Text(std::mem::take(&mut message)));
                    }
                }
                Ok(Some(Piece::Control(ControlFrame::Ping(payload)))) => {
                    assert!(payload.len() <= 125);
                    found.push(FrameRead::Ping(payload));
                }
                Ok(Some(Piece::Control(ControlFrame::Pong(_)))) => found.push(FrameRead::Pong),
                Ok(Some(Piece::Control(ControlFrame::Close(payload)))) => {
                    found.push(FrameRead::Close(close_status(&payload).map(u16::from)));
                    return found;
                }
                Err(violation) => {
                    assert!(violation.reason.len() <= 123, "{violation:?}");
                    found.push(FrameRead::Fail(violation.code.into()));
                    return found;
                }
            }
        }
    }
    if !message.is_empty() {
        found.push(FrameRead::Partial(message));
    }
    found
}

/// The messages as RFC 6455, section 5.2, has them.
fn plain(stream: &[u8]) -> Vec<FrameRead> {
    let (mut found, mut message, mut in_message) = (Vec::new(), Vec::new(), false);
    let mut rest = stream;
    while let Some(frame) = Frame::read(&mut rest) {
        if let Some(status) = frame.violation(in_message) {
            found.push(FrameRead::Fail(status));
            return found;
        }
        match frame.opcode {
            0 | 1 => {
                message.extend_from_slice(&frame.payload);
                in_message = !(frame.is_final && frame.is_whole);
                if !in_message {
                    found.push(FrameRead::Text(std::mem::take(&mut message)));
                }
            }
            _ if !frame.is_whole => {}
            8 => {
                let status = frame.payload.first_chunk().map(|code| u16::from_be_bytes(*code));
                found.push(match status {
                    None if frame.payload.is_empty() => FrameRead::Close(None),
                    Some(1000..=1003 | 1007..=1013 | 3000..=4999)
                        if str::from_utf8(&frame.payload[2..]).is_err() =>
                    {
                        FrameRead::Fail(1007)
                    }
                    Some(code @ (1000..=1003 | 1007..=1013 | 3000..=4999)) => FrameRead::Close(Some(code)),
                    _ => FrameRead::Fail(1002),
                });
                return found;
            }
            9 => found.push(FrameRead::Ping(frame.payload)),
            _ => found.push(FrameRead::Pong),
        }
    }
    if !message.is_empty() {
        found.push(FrameRead::Partial(message));
    }
    found
}

/// A frame, with as much of its payload as there is.
struct Frame {
    is_final: bool,
    reserved: u8,
    opcode: u8,
    is_masked: bool,
    length: u64,
    /// Whether the length is written in the fewest bytes.
    is_minimal: bool,
    payload: Vec<u8>,
    is_whole: bool,
}

impl Frame {
    /// Takes a frame from the stream; none unless its header is whole.
    fn read(stream: &mut &[u8]) -> Option<Self> {
        let (&[first, second], mut rest) = stream.split_first_chunk()?;
        let length = match second & 0x7f {
            126 => u16::from_be_bytes(*take(&mut rest)?).into(),
            127 => u64::from_be_bytes(*take(&mut rest)?),
            short => short.into(),
        };
        let is_minimal = match second & 0x7f {
            126 => length > 125,
            127 => length > u16::MAX.into(),
            _ => true,
        };
        let is_masked = second & 0x80 != 0;
        let mask = if is_masked { *take(&mut rest)? } else { [0; 4] };
        let count = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
        let (payload, rest) = rest.split_at(count);
        *stream = rest;
        Some(Self {
            is_final: first & 0x80 != 0,
            reserved: first & 0x70,
            opcode: first & 0x0f,
            is_masked,
            length,
            is_minimal,
            payload: payload.iter().enumerate().map(|(i, byte)| byte ^ mask[i % 4]).collect(),
            is_whole: count as u64 == length,
        })
    }

    /// The status with which the connection fails.
    fn violation(&self, in_message: bool) -> Option<u16> {
        let is_control = self.opcode & 8 != 0;
        let breaks_rules = matches!(self.opcode, 3..=7 | 11..)
            || self.reserved != 0
            || !self.is_masked
            || !self.is_minimal
            || self.length > i64::MAX as u64
            || is_control && (!self.is_final || self.length > 125)
            || self.opcode == 0 && !in_message
            || self.opcode == 1 && in_message;
        if breaks_rules { Some(1002) } else { (self.opcode == 2).then_some(1003) }
    }
}

fn take<'a, const N: usize>(stream: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (taken, rest) = stream.split_first_chunk()?;
    *stream = rest;
    Some(taken)
}

/// The server's frames are whole, without a mask, and carry what they are given.
fn written(payload: &[u8]) {
    let control = &payload[..payload.len().min(123)];
    let reason = str::from_utf8(control).unwrap_or_default();
    let close = [&1000_u16.to_be_bytes(), reason.as_bytes()].concat();
    let mut out = Vec::new();
    put_text_header(&mut out, payload.len());
    out.extend_from_slice(payload);
    put_pong(&mut out, control);
    put_ping(&mut out);
    put_close(&mut out, CloseCode::Normal, reason);
    let mut rest = &out[..];
    for (opcode, payload) in [(1, payload), (10, control), (9, b""), (8, &close[..])] {
        let frame = Frame::read(&mut rest).expect("a frame was written");
        assert!(
            frame.is_final && frame.is_whole && !frame.is_masked && frame.is_minimal && frame.reserved == 0
        );
        assert_eq!((frame.opcode, &frame.payload[..]), (opcode, payload));
    }
    assert!(rest.is_empty());
}
