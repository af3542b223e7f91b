//! The messages that wait for a connection's writer.
//!
//! Knows no transport: it orders, numbers and counts. Finals keep their order and are never dropped; of the
//! news of a search at most one per event waits, and the newest wins.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use plyd_protocol as wire;

use super::discard;

/// A message of more bytes is large: much was asked for, which does not make the reader slow.
pub(super) const LARGE_MESSAGE: usize = 1 << 20;

/// A longer body is not copied but written in place: copying would occupy a thread that serves others.
pub(super) const LONG_BODY: usize = 64 << 10;

/// A search, over all connections.
pub(super) type JobId = u64;

/// A message with its stamp, as it stands on the line: whole, or without a long body's bytes, which stay
/// where they are.
#[derive(Debug)]
pub(super) struct Stamped {
    /// What the line begins with; all of it, unless a long body follows.
    pub(super) head: String,
    /// The rest.
    pub(super) rest: Option<Arc<LongBody>>,
}

impl Stamped {
    /// The bytes of the line, without its end.
    pub(super) fn len(&self) -> usize {
        self.head.len() + self.rest.as_ref().map_or(0, |rest| rest.as_str().len())
    }

    /// The line as one text, without its end.
    pub(super) fn into_text(self) -> String {
        match self.rest {
            Some(rest) => self.head + rest.as_str(),
            None => self.head,
        }
    }
}

/// The part of a long body that follows the stamp, shared by those who write it and record it. If it is
/// large, a thread of its own frees it.
#[derive(Debug)]
pub(super) struct LongBody {
    body: String,
    /// Where the part begins.
    start: usize,
}

impl LongBody {
    /// The part as a text.
    pub(super) fn as_str(&self) -> &str {
        &self.body[self.start..]
    }
}

impl Drop for LongBody {
    fn drop(&mut self) {
        if self.body.len() > LARGE_MESSAGE {
            discard::elsewhere(vec![Box::new(std::mem::take(&mut self.body))]);
        }
    }
}

/// A message in the form in which it is queued: cheap to queue under the lock, made a line outside of it.
#[derive(Debug)]
pub(super) enum Item {
    /// A message that was serialised before it was queued.
    Body(String),
    /// News of a search, without lines.
    Info(wire::Info, Arc<Vec<wire::Line>>),
    /// The end of a search, without lines.
    BestMove(Box<wire::BestMove>, Arc<Vec<wire::Line>>),
}

impl Item {
    /// The item as a line, without its line end.
    pub(super) fn stamp(self, seq: u64, t_us: u64) -> Stamped {
        let head = match self {
            Self::Body(body) if body.len() > LONG_BODY => {
                let (head, rest) = wire::stamp(&body, seq, t_us);
                let start = body.len() - rest.len();
                return Stamped { head, rest: Some(Arc::new(LongBody { body, start })) };
            }
            Self::Body(body) => wire::splice(&body, seq, t_us),
            Self::Info(mut info, lines) => {
                info.lines = Arc::unwrap_or_clone(lines);
                wire::Message::Info(info).to_line(seq, t_us)
            }
            Self::BestMove(mut bestmove, lines) => {
                bestmove.lines = Arc::unwrap_or_clone(lines);
                wire::Message::BestMove(bestmove).to_line(seq, t_us)
            }
        };
        Stamped { head, rest: None }
    }

    /// The bytes that it takes as a line, or a little more.
    fn bytes(&self) -> usize {
        const ENVELOPE: usize = 64;
        const SEARCH: usize = 512;
        const LINE: usize = 160;
        let of = |lines: &[wire::Line]| -> usize {
            let pv = |line: &wire::Line| line.pv.iter().map(|mv| mv.len() + 3).sum::<usize>();
            lines.iter().map(|line| LINE + line.mv.len() + pv(line)).sum()
        };
        match self {
            Self::Body(body) => ENVELOPE + body.len(),
            Self::Info(_, lines) | Self::BestMove(_, lines) => ENVELOPE + SEARCH + of(lines),
        }
    }
}

/// A message with its place in the connection's order.
#[derive(Debug)]
pub(super) struct Numbered {
    /// Its number, from 1 and without gaps.
    pub(super) seq: u64,
    /// The message.
    pub(super) item: Item,
}

/// A message that waits.
#[derive(Debug)]
struct Entry {
    item: Item,
    /// The bytes that it is counted with.
    bytes: usize,
    /// What it is news of, if it is news.
    news: Option<(JobId, wire::InfoEvent)>,
}

/// The queue of one connection.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    entries: VecDeque<Entry>,
    /// How many entries were taken so far: the absolute place of the first that waits, and the last `seq`.
    taken: u64,
    /// The absolute places of news that wait.
    news: HashMap<(JobId, wire::InfoEvent), u64>,
    queued_bytes: usize,
    /// Bytes that the writer took and has not confirmed.
    held_bytes: usize,
    /// The bytes of large messages among the queued and among the held ones.
    queued_large: usize,
    held_large: usize,
    /// Since when there are any, and the bytes of all since then.
    large_since_ns: u64,
    large_since: usize,
    /// When the writer last got on, or the queue last began to fill.
    progress_ns: u64,
}

impl Outbox {
    /// Queues a message that is never dropped.
    pub(super) fn push(&mut self, item: Item, now_ns: u64) {
        self.append(item, None, now_ns);
    }

    /// Queues news of a search, or replaces news of the same event that still wait. Returns how many were
    /// replaced (0 or 1).
    pub(super) fn push_info(
        &mut self,
        job: JobId,
        mut info: wire::Info,
        lines: Arc<Vec<wire::Line>>,
        now_ns: u64,
    ) -> u64 {
        let key = (job, info.event);
        let Some(&place) = self.news.get(&key) else {
            self.news.insert(key, self.taken + self.entries.len() as u64);
            self.append(Item::Info(info, lines), Some(key), now_ns);
            return 0;
        };
        let waiting = &mut self.entries[(place - self.taken) as usize];
        if let Item::Info(old, _) = &waiting.item {
            info.skipped += old.skipped + 1;
        }
        let item = Item::Info(info, lines);
        let bytes = item.bytes();
        if self.queued_large + self.held_large == 0 {
            self.large_since_ns = now_ns;
        }
        self.queued_bytes = self.queued_bytes - waiting.bytes + bytes;
        self.queued_large = self.queued_large - large(waiting.bytes) + large(bytes);
        self.large_since += large(bytes).saturating_sub(large(waiting.bytes));
        *waiting = Entry { item, bytes, news: Some(key) };
        1
    }

    /// Takes messages of `about_bytes` in all, at least one if any waits. Taking confirms that everything
    /// taken before was written.
    pub(super) fn take(&mut self, about_bytes: usize, now_ns: u64) -> Vec<Numbered> {
        self.confirm(now_ns);
        let mut batch = Vec::new();
        while self.held_bytes < about_bytes
            && let Some(Entry { item, bytes, news }) = self.entries.pop_front()
        {
            self.taken += 1;
            self.queued_bytes -= bytes;
            self.held_bytes += bytes;
            self.queued_large -= large(bytes);
            self.held_large += large(bytes);
            if let Some(key) = news {
                self.news.remove(&key);
            }
            batch.push(Numbered { seq: self.taken, item });
        }
        batch
    }

    /// Notes that the writer wrote everything that it took.
    pub(super) fn confirm(&mut self, now_ns: u64) {
        self.held_bytes = 0;
        self.held_large = 0;
        if self.queued_large == 0 {
            self.large_since = 0;
        }
        self.progress_ns = now_ns;
    }

    /// Notes that the writer got on with what it took.
    pub(super) fn note_progress(&mut self, now_ns: u64) {
        self.progress_ns = now_ns;
    }

    /// The bytes that are queued or in the writer's hand.
    pub(super) fn unsent(&self) -> usize {
        self.queued_bytes + self.held_bytes
    }

    /// The same without large messages: the measure of a slow reader.
    pub(super) fn unsent_small(&self) -> usize {
        self.unsent() - self.unsent_large()
    }

    /// The bytes of large messages that are queued or in the writer's hand.
    pub(super) fn unsent_large(&self) -> usize {
        self.queued_large + self.held_large
    }

    /// Whether the peer reads large messages more slowly than it must while others wait: so many bytes a
    /// second, after `grace`.
    pub(super) fn is_slow(&self, grace: Duration, bytes_a_second: usize, now_ns: u64) -> bool {
        let needed = grace + Duration::from_millis((self.large_since * 1000 / bytes_a_second) as u64);
        self.unsent_large() > 0 && self.large_since_ns.saturating_add(needed.as_nanos() as u64) < now_ns
    }

    /// Since when nothing moved, if something waits.
    pub(super) fn waiting_since(&self) -> Option<u64> {
        (self.unsent() > 0).then_some(self.progress_ns)
    }

    /// Whether messages wait to be taken.
    pub(super) fn has_waiting(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Whether nothing is queued and the writer confirmed all it took.
    pub(super) fn is_drained(&self) -> bool {
        self.unsent() == 0
    }

    fn append(&mut self, item: Item, news: Option<(JobId, wire::InfoEvent)>, now_ns: u64) {
        if self.is_drained() {
            self.progress_ns = now_ns;
        }
        let bytes = item.bytes();
        if self.unsent_large() == 0 {
            self.large_since_ns = now_ns;
        }
        self.queued_bytes += bytes;
        self.queued_large += large(bytes);
        self.large_since += large(bytes);
        self.entries.push_back(Entry { item, bytes, news });
    }
}

/// The bytes of a message if it is large, else none.
fn large(bytes: usize) -> usize {
    if bytes > LARGE_MESSAGE { bytes } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::InfoEvent::{Best, Progress};

    fn info(event: wire::InfoEvent, mv: &str) -> (wire::Info, Arc<Vec<wire::Line>>) {
        let info = wire::Info {
            id: "s".into(),
            event,
            mv: Some(mv.into()),
            lines: Vec::new(),
            stats: wire::Stats::default(),
            skipped: 0,
        };
        let line = wire::Line { rank: 1, mv: mv.into(), pv: vec![mv.into()], depth: 0, score: None };
        (info, Arc::new(vec![line]))
    }

    fn push(outbox: &mut Outbox, job: JobId, event: wire::InfoEvent, mv: &str) -> u64 {
        let (info, lines) = info(event, mv);
        outbox.push_info(job, info, lines, 0)
    }

    fn lines(outbox: &mut Outbox) -> Vec<String> {
        outbox
            .take(usize::MAX, 0)
            .into_iter()
            .map(|taken| taken.item.stamp(taken.seq, 0).into_text())
            .collect()
    }

    #[test]
    fn newest_news_win_in_the_oldest_place() {
        let mut outbox = Outbox::default();
        assert_eq!(push(&mut outbox, 1, Best, "a"), 0);
        assert_eq!(push(&mut outbox, 2, Best, "x"), 0);
        assert_eq!(push(&mut outbox, 1, Progress, "p"), 0);
        assert_eq!(push(&mut outbox, 1, Best, "b"), 1);
        assert_eq!(push(&mut outbox, 1, Best, "c"), 1);
        outbox.push(Item::Body(r#"{"type":"bestmove"}"#.into()), 0);
        let lines = lines(&mut outbox);
        assert_eq!(lines.len(), 4);
        assert!(lines[0].contains(r#""move":"c""#) && lines[0].contains(r#""skipped":2"#), "{}", lines[0]);
        assert!(lines[1].contains(r#""move":"x""#) && !lines[1].contains("skipped"));
        assert!(lines[2].contains(r#""event":"progress""#));
        assert_eq!(lines[3], r#"{"seq":4,"t_us":0,"type":"bestmove"}"#);
    }

    #[test]
    fn large_messages_have_a_time_by_their_length() {
        let mut outbox = Outbox::default();
        let is_slow =
            |outbox: &Outbox, s: u64| outbox.is_slow(Duration::from_secs(10), 1 << 20, s * 1_000_000_000);
        outbox.push(Item::Body("a".repeat(1000)), 0);
        assert!(!is_slow(&outbox, 1000), "nothing of it is large");
        for _ in 0..2 {
            outbox.push(Item::Body("a".repeat(2 << 20)), 1_000_000_000);
        }
        assert!(!is_slow(&outbox, 15) && is_slow(&outbox, 16), "10 s and 4 s, from the first second on");
        outbox.take(usize::MAX, 0);
        assert!(is_slow(&outbox, 16), "taken is not written");
        outbox.confirm(0);
        assert!(!is_slow(&outbox, 1000));
    }

    #[test]
    fn news_taken_are_no_longer_replaced() {
        let mut outbox = Outbox::default();
        push(&mut outbox, 1, Best, "a");
        assert_eq!(lines(&mut outbox).len(), 1);
        assert_eq!(push(&mut outbox, 1, Best, "b"), 0);
        let lines = lines(&mut outbox);
        assert!(lines[0].starts_with(r#"{"seq":2,"#) && !lines[0].contains("skipped"));
    }

    #[test]
    fn a_writer_that_hangs_keeps_its_bytes_counted() {
        let mut outbox = Outbox::default();
        outbox.push(Item::Body("x".repeat(1000)), 5);
        outbox.push(Item::Body("x".repeat(1000)), 7);
        assert_eq!(outbox.waiting_since(), Some(5));
        let all = outbox.unsent();
        assert_eq!(outbox.take(1, 9).len(), 1);
        assert_eq!(outbox.unsent(), all);
        assert_eq!(outbox.waiting_since(), Some(9));
        outbox.note_progress(11);
        assert_eq!(outbox.waiting_since(), Some(11));
        assert_eq!(outbox.take(1, 12).len(), 1);
        assert_eq!(outbox.unsent(), all / 2);
        assert!(outbox.take(1, 13).is_empty());
        assert!(outbox.is_drained() && outbox.waiting_since().is_none());
    }

    #[test]
    fn a_long_body_stays_where_it_was_made_and_a_large_one_is_freed_elsewhere() {
        let given = discard::tests::GIVEN.get();
        for (bytes, is_long, is_large) in
            [(LONG_BODY, false, false), (LONG_BODY + 1, true, false), (LARGE_MESSAGE + 1, true, true)]
        {
            let body = format!("{{{}}}", " ".repeat(bytes - 2));
            let (begin, line) = (body.as_ptr(), wire::splice(&body, 1, 2));
            let stamped = Item::Body(body).stamp(1, 2);
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
        let (info, lines) = info(Best, "c3-c4");
        let item = Item::Info(info, lines);
        let counted = item.bytes();
        assert!(counted >= item.stamp(u64::MAX, u64::MAX).len());
    }
}
