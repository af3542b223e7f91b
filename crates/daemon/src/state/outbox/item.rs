//! A message as it is queued, and as it stands on its line.
//!
//! Knows no queue: an item is cheap to queue and to copy under the lock, and becomes a line outside of it.

use std::sync::Arc;

use plyd_protocol as wire;

use crate::discard;

/// A message of more bytes is large: much was asked for, which does not make the reader slow.
pub(crate) const LARGE_MESSAGE: usize = 1 << 20;

/// A longer body is not copied but written in place: copying would occupy a thread that serves others.
pub(crate) const LONG_BODY: usize = 64 << 10;

/// A message with its stamp, as it stands on the line: whole, or without a long body's bytes, which stay
/// where they are.
#[derive(Debug)]
pub(crate) struct Stamped {
    /// What the line begins with; all of it, unless a long body follows.
    pub(crate) head: String,
    /// The rest.
    pub(crate) rest: Option<Arc<LongBody>>,
}

impl Stamped {
    /// The bytes of the line, without its end.
    pub(crate) fn len(&self) -> usize {
        self.head.len() + self.rest.as_ref().map_or(0, |rest| rest.as_str().len())
    }

    /// The line as one text, without its end.
    pub(crate) fn into_text(self) -> String {
        match self.rest {
            Some(rest) => self.head + rest.as_str(),
            None => self.head,
        }
    }
}

/// A message that was serialised before it was queued, shared by those who write, record and keep it. If it
/// is large, a thread of its own frees it.
#[derive(Debug)]
pub(crate) struct Body(String);

impl Drop for Body {
    fn drop(&mut self) {
        if self.0.len() > LARGE_MESSAGE {
            discard::elsewhere(vec![Box::new(std::mem::take(&mut self.0))]);
        }
    }
}

/// The part of a long body that follows the stamp.
#[derive(Debug)]
pub(crate) struct LongBody {
    body: Arc<Body>,
    /// Where the part begins.
    start: usize,
}

impl LongBody {
    /// The part as a text.
    pub(crate) fn as_str(&self) -> &str {
        &self.body.0[self.start..]
    }
}

/// A message in the form in which it is queued: cheap to queue and to copy under the lock, made a line
/// outside of it.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// A message that was serialised before it was queued.
    Body(Arc<Body>),
    /// News of a search, without lines.
    Info(wire::Info, Arc<Vec<wire::Line>>),
    /// The end of a search, without lines, and when it is due.
    BestMove(Box<wire::BestMove>, Arc<Vec<wire::Line>>, Option<u64>),
}

impl Item {
    /// A message that is serialised already.
    pub(crate) fn body(mut text: String) -> Self {
        // Serialising may leave as much room again. A long text was reserved as a whole, or is not worth
        // moving.
        if text.len() <= LONG_BODY {
            text.shrink_to_fit();
        }
        Self::Body(Arc::new(Body(text)))
    }

    /// The answer of a search that was due then.
    #[cfg(test)]
    pub(crate) fn answer(id: &str, due_ns: Option<u64>) -> Self {
        let bestmove = wire::BestMove {
            id: id.to_owned(),
            reason: wire::Reason::Clock,
            mv: "a".to_owned(),
            ponder: None,
            hash: wire::Hash(0),
            lines: Vec::new(),
            stats: wire::Stats::default(),
            timing: wire::Timing { received_us: 0, started_us: 0, decided_us: 0 },
            superseded_by: None,
            incident: None,
        };
        Self::BestMove(Box::new(bestmove), Arc::default(), due_ns)
    }

    /// The item as a line, without its line end.
    pub(crate) fn stamp(self, seq: u64, t_us: u64) -> Stamped {
        let head = match self {
            Self::Body(body) if body.0.len() > LONG_BODY => {
                let (head, rest) = wire::stamp(&body.0, seq, t_us);
                let start = body.0.len() - rest.len();
                return Stamped { head, rest: Some(Arc::new(LongBody { body, start })) };
            }
            Self::Body(body) => wire::splice(&body.0, seq, t_us),
            Self::Info(mut info, lines) => {
                info.lines = Arc::unwrap_or_clone(lines);
                wire::Message::Info(info).to_line(seq, t_us)
            }
            Self::BestMove(mut bestmove, lines, _) => {
                bestmove.lines = Arc::unwrap_or_clone(lines);
                wire::Message::BestMove(bestmove).to_line(seq, t_us)
            }
        };
        Stamped { head, rest: None }
    }

    /// The bytes that it takes as a line, or a little more.
    pub(super) fn bytes(&self) -> usize {
        const ENVELOPE: usize = 64;
        const SEARCH: usize = 512;
        const LINE: usize = 160;
        let of = |lines: &[wire::Line]| -> usize {
            let pv = |line: &wire::Line| line.pv.iter().map(|mv| mv.len() + 3).sum::<usize>();
            lines.iter().map(|line| LINE + line.mv.len() + pv(line)).sum()
        };
        match self {
            Self::Body(body) => ENVELOPE + body.0.len(),
            Self::Info(_, lines) | Self::BestMove(_, lines, _) => ENVELOPE + SEARCH + of(lines),
        }
    }

    /// Forgets when it is due: whoever reads it late has not been there.
    pub(super) fn forgive(&mut self) {
        if let Self::BestMove(_, _, due_ns) = self {
            *due_ns = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> Item {
        let info = wire::Info {
            id: "s".into(),
            event: wire::InfoEvent::Best,
            mv: Some("c3-c4".into()),
            lines: Vec::new(),
            stats: wire::Stats::default(),
            skipped: 0,
        };
        let mv = "c3-c4".to_owned();
        let line = wire::Line { rank: 1, pv: vec![mv.clone()], mv, depth: 0, score: None };
        Item::Info(info, Arc::new(vec![line]))
    }

    #[test]
    fn a_long_body_stays_where_it_was_made_and_a_large_one_is_freed_elsewhere() {
        let given = discard::tests::GIVEN.get();
        for (bytes, is_long, is_large) in
            [(LONG_BODY, false, false), (LONG_BODY + 1, true, false), (LARGE_MESSAGE + 1, true, true)]
        {
            let body = format!("{{{}}}", " ".repeat(bytes - 2));
            let (begin, line) = (body.as_ptr(), wire::splice(&body, 1, 2));
            let stamped = Item::body(body).stamp(1, 2);
            assert_eq!((stamped.len(), stamped.rest.is_some()), (line.len(), is_long), "{bytes}");
            if let Some(rest) = &stamped.rest {
                assert_eq!(rest.as_str().as_ptr(), begin.wrapping_add(1), "it was copied");
            }
            assert!(stamped.into_text() == line, "{bytes}");
            assert_eq!(discard::tests::GIVEN.get() - given, usize::from(is_large), "{bytes}");
        }
    }

    #[test]
    fn counted_bytes_cover_the_real_ones() {
        let item = info();
        let counted = item.bytes();
        assert!(counted >= item.stamp(u64::MAX, u64::MAX).len());
    }
}
