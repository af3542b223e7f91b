//! What a writer took and has not written yet: short messages as one run of bytes, long ones from where they
//! were made. Does no I/O.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Form;
use crate::state::outbox::{LongBody, Stamped};
use plyd_protocol::frames;

/// The most bytes that a writer hands to the system before it yields to others: the system copies them, and
/// for a local connection it does the other end's work too.
pub(super) const PIECE_BYTES: usize = 64 << 10;

/// Bytes to write, in order.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    parts: VecDeque<Part>,
    /// The bytes of the first part that are written.
    written: usize,
}

#[derive(Debug)]
enum Part {
    Short(Vec<u8>),
    Long(Arc<LongBody>),
}

impl Part {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Short(bytes) => bytes,
            Self::Long(body) => body.as_str().as_bytes(),
        }
    }
}

impl From<Vec<u8>> for Outgoing {
    fn from(bytes: Vec<u8>) -> Self {
        Self { parts: VecDeque::from([Part::Short(bytes)]), written: 0 }
    }
}

impl Outgoing {
    /// Appends a message.
    pub(super) fn put(&mut self, line: &Stamped, form: Form) {
        let bytes = self.last_bytes();
        if let Form::Frames = form {
            frames::put_text_header(bytes, line.len());
        }
        bytes.extend_from_slice(line.head.as_bytes());
        if let Some(rest) = &line.rest {
            self.parts.push_back(Part::Long(Arc::clone(rest)));
        }
        if let Form::Lines = form {
            self.last_bytes().push(b'\n');
        }
    }

    /// Puts bytes before everything else, none of which is written yet.
    pub(super) fn put_first(&mut self, mut bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        if let Some(Part::Short(first)) = self.parts.front_mut() {
            bytes.append(first);
            *first = bytes;
        } else {
            self.parts.push_front(Part::Short(bytes));
        }
    }

    /// What is to be written next, of [`PIECE_BYTES`] at most; empty once everything is written.
    pub(super) fn piece(&self) -> &[u8] {
        let rest = self.parts.front().map_or(&[][..], |part| &part.bytes()[self.written..]);
        &rest[..rest.len().min(PIECE_BYTES)]
    }

    /// Notes that `count` bytes of the piece are written. A part that is written to its end is freed.
    pub(super) fn advance(&mut self, count: usize) {
        self.written += count;
        while let Some(first) = self.parts.front()
            && self.written >= first.bytes().len()
        {
            self.written -= first.bytes().len();
            self.parts.pop_front();
        }
    }

    /// The bytes that are not written.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.bytes().len()).sum::<usize>() - self.written
    }

    /// Whether everything is written.
    pub(super) fn is_empty(&self) -> bool {
        self.piece().is_empty()
    }

    /// All that is not written, in one piece.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        if let [Part::Short(bytes)] = self.parts.make_contiguous()
            && self.written == 0
        {
            return std::mem::take(bytes);
        }
        let mut bytes = Vec::with_capacity(self.len());
        while !self.is_empty() {
            bytes.extend_from_slice(self.piece());
            self.advance(self.piece().len());
        }
        bytes
    }

    /// The bytes at the end, to be appended to.
    fn last_bytes(&mut self) -> &mut Vec<u8> {
        if !matches!(self.parts.back(), Some(Part::Short(_))) {
            self.parts.push_back(Part::Short(Vec::new()));
        }
        match self.parts.back_mut() {
            Some(Part::Short(bytes)) => bytes,
            _ => unreachable!("it was put there"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::outbox::{Item, LONG_BODY};

    const LONG: usize = 5 * PIECE_BYTES / 2;

    /// A body of so many bytes.
    fn body(bytes: usize) -> String {
        assert!(bytes > 100);
        format!("{{\"pad\":\"{}\"}}", "x".repeat(bytes - 10))
    }

    /// The successive pieces, for a stream that takes so many bytes of each at most.
    fn pieces(mut outgoing: Outgoing, taken: usize) -> Vec<Vec<u8>> {
        let mut pieces = Vec::new();
        while !outgoing.is_empty() {
            let piece = outgoing.piece();
            let piece = piece[..piece.len().min(taken)].to_vec();
            outgoing.advance(piece.len());
            pieces.push(piece);
        }
        assert_eq!(outgoing.len(), 0);
        pieces
    }

    /// Three messages, of which the second has a body of so many bytes, and the lines that they are.
    fn messages(form: Form, bytes: usize) -> (Outgoing, Vec<u8>) {
        let (mut outgoing, mut wanted) = (Outgoing::default(), Vec::new());
        for (seq, body) in [body(101), body(bytes), body(200)].into_iter().enumerate() {
            let line = plyd_protocol::splice(&body, seq as u64, 7);
            if let Form::Frames = form {
                frames::put_text_header(&mut wanted, line.len());
            }
            wanted.extend_from_slice(line.as_bytes());
            if let Form::Lines = form {
                wanted.push(b'\n');
            }
            outgoing.put(&Item::body(body).stamp(seq as u64, 7), form);
        }
        assert_eq!(outgoing.len(), wanted.len());
        (outgoing, wanted)
    }

    #[test]
    fn messages_are_whole_and_in_order_however_they_are_cut() {
        for form in [Form::Lines, Form::Frames] {
            for bytes in [101, LONG_BODY, LONG_BODY + 1, LONG] {
                for taken in [999, usize::MAX] {
                    let (outgoing, wanted) = messages(form, bytes);
                    assert!(pieces(outgoing, taken).concat() == wanted, "{bytes} bytes, {taken} at a time");
                }
                let (outgoing, wanted) = messages(form, bytes);
                assert!(outgoing.into_bytes() == wanted, "{bytes} bytes at once");
                let (mut outgoing, wanted) = messages(form, bytes);
                outgoing.put_first(b"ping".to_vec());
                assert!(outgoing.into_bytes() == [b"ping", &wanted[..]].concat(), "{bytes} bytes last");
            }
        }
    }

    #[test]
    fn short_messages_are_one_piece() {
        let (outgoing, wanted) = messages(Form::Lines, 101);
        assert_eq!(pieces(outgoing, usize::MAX), [wanted]);
    }

    #[test]
    fn a_long_message_comes_in_pieces_from_where_it_was_made() {
        let (mut outgoing, long) = (Outgoing::default(), body(LONG));
        let made_at = long.as_bytes().as_ptr_range();
        outgoing.put(&Item::body(long).stamp(1, 7), Form::Lines);
        let (mut copied, mut count) = (0, 0);
        while !outgoing.is_empty() {
            let piece = outgoing.piece();
            assert!(piece.len() <= PIECE_BYTES);
            if !made_at.contains(&piece.as_ptr()) {
                copied += piece.len();
            }
            count += 1;
            outgoing.advance(piece.len());
        }
        assert!(copied < 100, "{copied} bytes were copied");
        assert_eq!(count, 5, "the stamp, three pieces of the body, the end of the line");
    }
}
