//! Keys from the bytes that a terminal sends for them: UTF-8, and the sequences of ECMA-48 as xterm and its
//! kin use them.

/// A key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Key {
    Char(char),
    /// A letter with Ctrl, in lower case.
    Ctrl(char),
    Enter,
    Tab,
    Escape,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// F1.
    Help,
    /// Text that was pasted as a whole.
    Paste(String),
}

/// The most bytes that a sequence, or a paste, may have; what is longer is dropped.
const LONGEST: usize = 1 << 16;

const PASTE: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// Finds keys in a stream of bytes.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// The beginning of a key.
    bytes: Vec<u8>,
    /// A paste was too long: all up to its end is dropped, and `bytes` has its mark and the last of what
    /// came.
    dropping: bool,
}

impl Keys {
    /// Takes bytes, and gives the keys that they complete.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.bytes.extend_from_slice(bytes);
        let mut keys = Vec::new();
        while let Some((length, key)) = first(&self.bytes) {
            self.bytes.drain(..length);
            // What is left of a paste that was too long is no key.
            if !std::mem::take(&mut self.dropping) {
                keys.extend(key);
            }
        }
        self.dropping |= self.bytes.starts_with(PASTE) && self.bytes.len() > LONGEST;
        if self.dropping {
            // The end may have begun.
            let last = self.bytes.len().saturating_sub(PASTE_END.len() - 1).max(PASTE.len());
            self.bytes.drain(PASTE.len()..last);
        } else if self.bytes.len() > LONGEST {
            self.bytes.clear();
        }
        keys
    }

    /// Whether a key has begun that may go on; a paste may take its time.
    pub(super) fn is_amid(&self) -> bool {
        !self.bytes.is_empty() && !self.bytes.starts_with(PASTE)
    }

    /// Nothing more comes: what stands there is an Escape and other keys, or nothing.
    pub(super) fn finish(&mut self) -> Vec<Key> {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes == b"\x1b" { vec![Key::Escape] } else { Vec::new() }
    }
}

/// How many bytes the first key has, and which it is, if it is one that is known; none if it is not complete.
fn first(bytes: &[u8]) -> Option<(usize, Option<Key>)> {
    match *bytes {
        [] => None,
        [0x1b, b'[', ..] if bytes.starts_with(PASTE) => {
            let text = &bytes[PASTE.len()..];
            let end = text.windows(PASTE_END.len()).position(|window| window == PASTE_END)?;
            let pasted = (end <= LONGEST).then(|| String::from_utf8_lossy(&text[..end]).into_owned());
            Some((PASTE.len() + end + PASTE_END.len(), pasted.map(Key::Paste)))
        }
        [0x1b, b'[', ..] => control_sequence(bytes),
        [0x1b, b'O', last, ..] => Some((3, named(last))),
        [0x1b, b'O'] | [0x1b] => None,
        // Two Escapes, or a key with Alt, which is the key alone here.
        [0x1b, 0x1b, ..] => Some((1, Some(Key::Escape))),
        [0x1b, ..] => Some((1, None)),
        [b'\r' | b'\n', ..] => Some((1, Some(Key::Enter))),
        [b'\t', ..] => Some((1, Some(Key::Tab))),
        [0x7f | 0x08, ..] => Some((1, Some(Key::Backspace))),
        [byte @ 1..=26, ..] => Some((1, Some(Key::Ctrl(char::from(b'a' + byte - 1))))),
        [byte, ..] if byte < b' ' => Some((1, None)),
        _ => character(bytes),
    }
}

/// `ESC [`, parameters, and a last byte that names the key.
fn control_sequence(bytes: &[u8]) -> Option<(usize, Option<Key>)> {
    let end = 2 + bytes[2..].iter().position(|byte| !(0x20..=0x3f).contains(byte))?;
    let parameters = &bytes[2..end];
    let key = match bytes[end] {
        b'~' => match parameters.split(|byte| *byte == b';').next() {
            Some(b"1" | b"7") => Some(Key::Home),
            Some(b"4" | b"8") => Some(Key::End),
            Some(b"3") => Some(Key::Delete),
            Some(b"5") => Some(Key::PageUp),
            Some(b"6") => Some(Key::PageDown),
            Some(b"11") => Some(Key::Help),
            _ => None,
        },
        last => named(last),
    };
    // A byte that cannot stand in a sequence begins another key.
    let length = if (0x40..=0x7e).contains(&bytes[end]) { end + 1 } else { end };
    Some((length, if length > end { key } else { None }))
}

fn named(last: u8) -> Option<Key> {
    Some(match last {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        b'P' => Key::Help,
        b'M' => Key::Enter,
        _ => return None,
    })
}

fn character(bytes: &[u8]) -> Option<(usize, Option<Key>)> {
    let length = match bytes[0] {
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => return Some((1, None)),
    };
    if bytes.len() < length {
        // What is there already may show that it is no character.
        let is_broken = bytes[1..].iter().any(|byte| !(0x80..=0xbf).contains(byte));
        return is_broken.then_some((1, None));
    }
    match std::str::from_utf8(&bytes[..length]).ok().and_then(|text| text.chars().next()) {
        Some(c) => Some((length, Some(Key::Char(c)))),
        None => Some((1, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(pieces: &[&[u8]]) -> Vec<Key> {
        let mut keys = Keys::default();
        let mut found: Vec<Key> = pieces.iter().flat_map(|piece| keys.take(piece)).collect();
        if keys.is_amid() {
            found.extend(keys.finish());
        }
        found
    }

    #[test]
    fn bytes_become_keys_however_they_are_cut() {
        use Key::{
            Backspace, Char, Ctrl, Delete, Down, End, Enter, Escape, Help, Home, Left, PageDown, PageUp,
            Paste, Right, Tab, Up,
        };
        let table: &[(&[u8], &[Key])] = &[
            (b"d4\r", &[Char('d'), Char('4'), Enter]),
            ("\u{e9}\u{20ac}\u{1f600}".as_bytes(), &[Char('\u{e9}'), Char('\u{20ac}'), Char('\u{1f600}')]),
            (b"\x1b[A\x1b[B\x1b[C\x1b[D", &[Up, Down, Right, Left]),
            (b"\x1bOA\x1bOH\x1bOF\x1bOP", &[Up, Home, End, Help]),
            (
                b"\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[5~\x1b[6~\x1b[3~",
                &[Home, End, Home, End, PageUp, PageDown, Delete],
            ),
            (b"\x1b[1;5D\x1b[3;2~", &[Left, Delete]),
            (b"\x03\x04\x0c\x15", &[Ctrl('c'), Ctrl('d'), Ctrl('l'), Ctrl('u')]),
            (b"\t\x7f\x08", &[Tab, Backspace, Backspace]),
            (b"\x1b", &[Escape]),
            (b"\x1b\x1b", &[Escape, Escape]),
            (b"\x1bx", &[Char('x')]),
            (b"\x1b[200~d4\r\nb3\x1b[201~\r", &[Paste("d4\r\nb3".into()), Enter]),
            (b"\x1b[99;99;99z\x1b[?1;2cq", &[Char('q')]),
            (b"\x1b[1\x03", &[Ctrl('c')]),
            (b"\xff\xfe\x80a\xc3(", &[Char('a'), Char('(')]),
            (b"\x00\x1c", &[]),
        ];
        for (bytes, expected) in table {
            assert_eq!(keys(&[bytes]), *expected, "{bytes:?}");
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(keys(&single), *expected, "{bytes:?}, byte by byte");
        }
    }

    #[test]
    fn a_paste_that_is_too_long_is_no_key_at_all() {
        let begun = [PASTE, &b"d4\r".repeat(LONGEST)].concat();
        let rest = [b"\r", PASTE_END, b"\r", PASTE, b"a", PASTE_END].concat();
        let whole = [&begun[..], &rest[..]].concat();
        let cuts: [Vec<&[u8]>; 3] = [
            vec![&whole],
            whole.chunks(1000).collect(),
            std::iter::once(&begun[..]).chain(rest.chunks(1)).collect(),
        ];
        for pieces in cuts {
            assert_eq!(keys(&pieces), [Key::Enter, Key::Paste("a".into())], "{} pieces", pieces.len());
        }
    }

    #[test]
    fn no_flood_of_bytes_is_stored() {
        let mut keys = Keys::default();
        keys.take(PASTE);
        for _ in 0..1000 {
            assert!(keys.take(&[b'1'; 1000]).len() <= 1000);
            assert!(keys.bytes.len() <= LONGEST);
        }
        let mut keys = Keys::default();
        keys.take(b"\x1b[");
        for _ in 0..1000 {
            keys.take(&[b'1'; 1000]);
        }
        assert!(keys.bytes.len() <= LONGEST);
    }
}
