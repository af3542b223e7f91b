//! Lines in a stream of bytes, each with its number; long ones are dropped without being stored. Used by both
//! ends of the wire; does no I/O.

use std::borrow::Cow;

/// What was found in the stream.
#[derive(PartialEq, Eq, Debug)]
pub enum Event<'a> {
    /// A line that is not blank, without its end.
    Line {
        /// Its number among all lines, from 1.
        number: u64,
        /// Its bytes.
        bytes: Cow<'a, [u8]>,
    },
    /// A line that was longer than allowed.
    TooLong {
        /// Its number.
        number: u64,
        /// What is allowed, in bytes.
        limit: usize,
    },
}

/// Cuts a stream into lines.
///
/// ```
/// use plyd_protocol::framing::{Event, Framing};
///
/// // A stream comes in pieces that know nothing of lines.
/// let mut framing = Framing::new(1 << 20);
/// let mut lines = Vec::new();
/// for mut piece in [&br#"{"id":"1","#[..], b"\"cmd\":\"ping\"}\n{\"id\":\"2\""] {
///     while let Some(event) = framing.next(&mut piece) {
///         if let Event::Line { number, bytes } = event {
///             lines.push((number, bytes.into_owned()));
///         }
///     }
/// }
/// assert_eq!(lines, [(1, br#"{"id":"1","cmd":"ping"}"#.to_vec())]);
/// assert_eq!(framing.partial(), br#"{"id":"2""#);
/// ```
#[derive(Debug)]
pub struct Framing {
    /// The beginning of a line whose end has not come.
    partial: Vec<u8>,
    limit: usize,
    /// Whether the line at hand is already too long.
    dropping: bool,
    lines: u64,
}

impl Framing {
    /// Lines of at most `limit` bytes, their ends not counted.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { partial: Vec::new(), limit, dropping: false, lines: 0 }
    }

    /// The most bytes of a line.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Changes the limit, from the line at hand on.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// The first bytes of the line whose end has not come.
    #[must_use]
    pub fn partial(&self) -> &[u8] {
        &self.partial
    }

    /// Whether the line at hand is already too long; its end will only confirm that.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        self.dropping
    }

    /// The number of the line at hand.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.lines + 1
    }

    /// Takes bytes up to the next line that they complete; takes all of them if there is none.
    pub fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<Event<'a>> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (piece, rest) = (&bytes[..end], &bytes[end + 1..]);
            *bytes = rest;
            let found = if self.partial.is_empty() && !self.dropping {
                // The usual case: the line is whole and need not be copied.
                self.lines += 1;
                event(Cow::Borrowed(piece), self.lines, self.limit)
            } else {
                self.keep(piece);
                self.complete()
            };
            if found.is_some() {
                return found;
            }
        }
        self.keep(std::mem::take(bytes));
        None
    }

    /// The stream ended: the last line, if that lacks its end.
    pub fn finish(&mut self) -> Option<Event<'static>> {
        if self.dropping || !self.partial.is_empty() { self.complete() } else { None }
    }

    fn keep(&mut self, piece: &[u8]) {
        // One byte more than the limit may be a CR.
        self.dropping |= self.partial.len() + piece.len() > self.limit + 1;
        if self.dropping {
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(piece);
        }
    }

    fn complete(&mut self) -> Option<Event<'static>> {
        self.lines += 1;
        if std::mem::take(&mut self.dropping) {
            return Some(Event::TooLong { number: self.lines, limit: self.limit });
        }
        event(Cow::Owned(std::mem::take(&mut self.partial)), self.lines, self.limit)
    }
}

fn event(mut line: Cow<'_, [u8]>, number: u64, limit: usize) -> Option<Event<'_>> {
    if line.ends_with(b"\r") {
        match &mut line {
            Cow::Borrowed(bytes) => *bytes = &bytes[..bytes.len() - 1],
            Cow::Owned(bytes) => bytes.truncate(bytes.len() - 1),
        }
    }
    if line.len() > limit {
        return Some(Event::TooLong { number, limit });
    }
    if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
        return None;
    }
    Some(Event::Line { number, bytes: line })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(limit: usize, pieces: &[&[u8]]) -> Vec<String> {
        let mut framing = Framing::new(limit);
        let mut seen = Vec::new();
        let mut note = |event: Event<'_>| {
            seen.push(match event {
                Event::Line { number, bytes } => format!("{number} {}", String::from_utf8_lossy(&bytes)),
                Event::TooLong { number, .. } => format!("{number} too long"),
            });
        };
        for piece in pieces {
            let mut rest = *piece;
            while let Some(event) = framing.next(&mut rest) {
                note(event);
            }
        }
        framing.finish().into_iter().for_each(&mut note);
        seen
    }

    #[test]
    fn lines_are_found_however_they_are_cut() {
        let table: &[(&str, usize, &str, &[&str])] = &[
            ("plain", 9, "a\nb\n", &["1 a", "2 b"]),
            ("the last without an end", 9, "a\nb", &["1 a", "2 b"]),
            ("blank lines count", 9, "\n \t\r\na\r\n\n", &["3 a"]),
            ("at the limit", 3, "abc\nabc\r\n", &["1 abc", "2 abc"]),
            ("past the limit", 3, "abcd\nabc\nabcdefgh\r\nx", &["1 too long", "2 abc", "3 too long", "4 x"]),
            ("past the limit at the end", 3, "a\nabcdefgh", &["1 a", "2 too long"]),
            ("a CR is no end", 9, "a\rb\n", &["1 a\rb"]),
            ("nothing", 9, "", &[]),
        ];
        for (name, limit, input, expected) in table {
            assert_eq!(cut(*limit, &[input.as_bytes()]), *expected, "{name}, whole");
            let bytes: Vec<&[u8]> = input.as_bytes().chunks(1).collect();
            assert_eq!(cut(*limit, &bytes), *expected, "{name}, byte by byte");
            let pairs: Vec<&[u8]> = input.as_bytes().chunks(2).collect();
            assert_eq!(cut(*limit, &pairs), *expected, "{name}, two by two");
        }
    }

    #[test]
    fn long_lines_are_not_stored() {
        let mut framing = Framing::new(1000);
        for _ in 0..100 {
            assert_eq!(framing.next(&mut &[b'x'; 1000][..]), None);
            assert!(framing.partial.capacity() <= 3000);
        }
        assert!(framing.is_too_long());
        assert!(matches!(framing.next(&mut &b"\n"[..]), Some(Event::TooLong { .. })));
        assert!(!framing.is_too_long());
    }
}
