//! The line reader: however a stream is cut into reads, its lines are those of a plain split.
//!
//! Input: the limit, how many lines it holds for, the limit after them, the seed of the reads' lengths (a
//! byte each), then the stream.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plyd_core::zobrist::SplitMix64;
use plyd_protocol::framing::{Event, Framing};

/// What was found: a line's number, and its bytes unless it was too long.
type LineRead = (u64, Option<Vec<u8>>);

fuzz_target!(|data: &[u8]| {
    let Some((&[first, lines, second, seed], stream)) = data.split_first_chunk() else {
        return;
    };
    // Some limits are above the longest stream.
    let limit = |byte: u8| usize::from(byte) * if byte < 200 { 1 } else { 64 };
    let limits = Limits { first: limit(first), lines: u64::from(lines), second: limit(second) };
    let expected = split(stream, &limits);
    let mut random = SplitMix64::new(seed.into());
    assert_eq!(read(stream, &limits, || usize::MAX), expected, "in one read");
    assert_eq!(read(stream, &limits, || 1), expected, "byte by byte");
    assert_eq!(
        read(stream, &limits, || 1 + random.below(40)),
        expected,
        "in reads of lengths from seed {seed}"
    );
});

/// The limit of the first lines found, how many those are, and the limit of all others.
struct Limits {
    first: usize,
    lines: u64,
    second: usize,
}

/// The lines as the specification has them.
fn split(stream: &[u8], limits: &Limits) -> Vec<LineRead> {
    let mut lines: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    if lines.last() == Some(&&b""[..]) {
        lines.pop();
    }
    let mut found: Vec<LineRead> = Vec::new();
    for (number, line) in (1..).zip(lines) {
        let limit = if (found.len() as u64) < limits.lines { limits.first } else { limits.second };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > limit {
            found.push((number, None));
        } else if line.iter().any(|byte| !b" \t\r".contains(byte)) {
            found.push((number, Some(line.to_vec())));
        }
    }
    found
}

/// The lines as the reader has them.
fn read(stream: &[u8], limits: &Limits, mut length: impl FnMut() -> usize) -> Vec<LineRead> {
    let mut framing = Framing::new(if limits.lines == 0 { limits.second } else { limits.first });
    let mut found = Vec::new();
    let mut rest = stream;
    while !rest.is_empty() {
        let (mut chunk, after) = rest.split_at(length().min(rest.len()));
        rest = after;
        while let Some(event) = framing.next(&mut chunk) {
            found.push(owned(event));
            assert!(framing.partial().is_empty(), "nothing is kept of a line that ended");
            if found.len() as u64 == limits.lines {
                framing.set_limit(limits.second);
            }
        }
        assert!(chunk.is_empty(), "bytes are left without an event");
        let limit = limits.first.max(limits.second);
        assert!(framing.partial().len() <= limit + 1, "{} bytes are kept", framing.partial().len());
        assert!(!framing.is_too_long() || framing.partial().is_empty(), "a line too long is kept");
    }
    found.extend(framing.finish().map(owned));
    assert!(framing.finish().is_none(), "a stream ends twice");
    found
}

fn owned(event: Event<'_>) -> LineRead {
    match event {
        Event::Line { number, bytes } => (number, Some(bytes.into_owned())),
        Event::TooLong { number, .. } => (number, None),
    }
}
