//! The messages that wait for a connection's writer.
//!
//! Knows no transport: it orders, numbers and counts. Finals keep their order and are never dropped; of the
//! news of a search at most one per event waits, and the newest wins. A message has its number from the
//! moment that a writer takes it. If the connection may outlive its socket, the last ones are kept, so that
//! the writer of the next socket sends them again.

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

/// A message that was serialised before it was queued, shared by those who write, record and keep it. If it
/// is large, a thread of its own frees it.
#[derive(Debug)]
pub(super) struct Body(String);

impl Drop for Body {
    fn drop(&mut self) {
        if self.0.len() > LARGE_MESSAGE {
            discard::elsewhere(vec![Box::new(std::mem::take(&mut self.0))]);
        }
    }
}

/// The part of a long body that follows the stamp.
#[derive(Debug)]
pub(super) struct LongBody {
    body: Arc<Body>,
    /// Where the part begins.
    start: usize,
}

impl LongBody {
    /// The part as a text.
    pub(super) fn as_str(&self) -> &str {
        &self.body.0[self.start..]
    }
}

/// A message in the form in which it is queued: cheap to queue and to copy under the lock, made a line
/// outside of it.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A message that was serialised before it was queued.
    Body(Arc<Body>),
    /// News of a search, without lines.
    Info(wire::Info, Arc<Vec<wire::Line>>),
    /// The end of a search, without lines, and when it is due.
    BestMove(Box<wire::BestMove>, Arc<Vec<wire::Line>>, Option<u64>),
}

impl Item {
    /// A message that is serialised already.
    pub(super) fn body(text: String) -> Self {
        Self::Body(Arc::new(Body(text)))
    }

    /// The answer of a search that was due then.
    #[cfg(test)]
    pub(super) fn answer(id: &str, due_ns: Option<u64>) -> Self {
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
    pub(super) fn stamp(self, seq: u64, t_us: u64) -> Stamped {
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
    fn bytes(&self) -> usize {
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
    fn forgive(&mut self) {
        if let Self::BestMove(_, _, due_ns) = self {
            *due_ns = None;
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
struct QueuedMessage {
    item: Item,
    /// The bytes that it is counted with.
    bytes: usize,
    /// What it is news of, if it is news.
    news: Option<(JobId, wire::InfoEvent)>,
}

/// A message that was taken, and the bytes that it is counted with.
#[derive(Debug)]
struct Sent {
    item: Item,
    bytes: usize,
}

/// Why what a client missed cannot be sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Missed {
    /// The messages up to this number are not kept any more.
    Gap(u64),
    /// The last message has this number: the client cannot have a later one.
    Ahead(u64),
}

/// The queue of one connection.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    entries: VecDeque<QueuedMessage>,
    /// The last messages that were taken, as far as they fit into so many bytes; 0: none are kept.
    sent: VecDeque<Sent>,
    sent_bytes: usize,
    most_sent: usize,
    /// How many of these, counted from the last one, are to be sent again before anything new, and their
    /// bytes.
    again: usize,
    again_bytes: usize,
    /// Messages of another outbox, which come before everything else.
    foremost: Vec<Numbered>,
    /// Whether nobody is there to take anything.
    is_away: bool,
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
    /// One for the writer of another, with the numbers behind those of the messages that it took: what it has
    /// in hand counts here until it is written.
    pub(super) fn behind(other: &Self) -> Self {
        Self {
            taken: other.taken - other.again as u64,
            held_bytes: other.held_bytes,
            held_large: other.held_large,
            large_since_ns: other.large_since_ns,
            large_since: other.large_since,
            progress_ns: other.progress_ns,
            ..Self::default()
        }
    }

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
        *waiting = QueuedMessage { item, bytes, news: Some(key) };
        1
    }

    /// Takes messages of `about_bytes` in all, at least one if any waits. Taking confirms that everything
    /// taken before was written.
    pub(super) fn take(&mut self, about_bytes: usize, now_ns: u64) -> Vec<Numbered> {
        self.confirm(now_ns);
        let mut batch = std::mem::take(&mut self.foremost);
        while self.held_bytes < about_bytes
            && self.again > 0
            && let Some(Sent { item, bytes }) = self.sent.get(self.sent.len() - self.again)
        {
            batch.push(Numbered { seq: self.taken + 1 - self.again as u64, item: item.clone() });
            self.again -= 1;
            self.again_bytes -= bytes;
            self.held_bytes += bytes;
            self.held_large += large(*bytes);
        }
        while self.held_bytes < about_bytes
            && let Some(QueuedMessage { item, bytes, news }) = self.entries.pop_front()
        {
            self.taken += 1;
            self.queued_bytes -= bytes;
            self.held_bytes += bytes;
            self.queued_large -= large(bytes);
            self.held_large += large(bytes);
            if let Some(key) = news {
                self.news.remove(&key);
            }
            self.keep(&item, bytes);
            batch.push(Numbered { seq: self.taken, item });
        }
        batch
    }

    /// From now on keeps what is taken, as far as it fits into so many bytes.
    pub(super) fn keep_sent(&mut self, most_bytes: usize) {
        self.most_sent = most_bytes;
    }

    /// The bytes of what is kept.
    pub(super) fn kept(&self) -> usize {
        self.sent_bytes
    }

    /// The writer is gone, and nobody knows what arrived of that which it took.
    pub(super) fn lose_writer(&mut self, now_ns: u64) {
        self.confirm(now_ns);
        self.foremost.clear();
        (self.again, self.again_bytes) = (0, 0);
        self.is_away = true;
        self.entries.iter_mut().for_each(|entry| entry.item.forgive());
    }

    /// How many messages are to be sent again to a client that has those up to `seq`; without it, all that
    /// are kept.
    ///
    /// # Errors
    /// Not all of them are kept, or there is no such message.
    pub(super) fn missed(&self, seq: Option<u64>) -> Result<usize, Missed> {
        let gone = self.taken - self.sent.len() as u64;
        match seq {
            None => Ok(self.sent.len()),
            Some(seq) if seq > self.taken => Err(Missed::Ahead(self.taken)),
            Some(seq) if seq < gone => Err(Missed::Gap(gone)),
            Some(seq) => Ok((self.taken - seq) as usize),
        }
    }

    /// There is a writer again: it gets what waits in the outbox of its own, then so many of the last
    /// messages once more, and then what is new. Its time for large messages begins: nobody could read them
    /// before.
    pub(super) fn go_on(&mut self, own: Self, again: usize, now_ns: u64) {
        self.is_away = false;
        self.progress_ns = now_ns;
        let numbers = own.taken + 1..;
        let waiting = own.entries.into_iter().zip(numbers);
        self.foremost = waiting.map(|(entry, seq)| Numbered { seq, item: entry.item }).collect();
        let bytes = || self.sent.iter().rev().take(again).map(|sent| sent.bytes);
        self.again = again;
        self.again_bytes = bytes().sum();
        self.large_since_ns = now_ns;
        self.large_since = self.queued_large + bytes().map(large).sum::<usize>();
    }

    /// Notes that the writer wrote everything that it took.
    pub(super) fn confirm(&mut self, now_ns: u64) {
        self.held_bytes = 0;
        self.held_large = 0;
        if self.queued_large == 0 && self.again == 0 {
            self.large_since = 0;
        }
        self.progress_ns = now_ns;
    }

    /// Notes that the writer got on with what it took.
    pub(super) fn note_progress(&mut self, now_ns: u64) {
        self.progress_ns = now_ns;
    }

    /// The bytes that are queued, once more or for the first time, or in the writer's hand.
    pub(super) fn unsent(&self) -> usize {
        self.again_bytes + self.unsent_anew()
    }

    /// The same without those that are queued once more: they are among what is kept as well.
    pub(super) fn unsent_anew(&self) -> usize {
        self.queued_bytes + self.held_bytes
    }

    /// The same without large messages: the measure of a slow reader.
    pub(super) fn unsent_small(&self) -> usize {
        self.unsent_anew() - self.unsent_large()
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
        !self.entries.is_empty() || self.again > 0 || !self.foremost.is_empty()
    }

    /// Whether nothing is queued and the writer confirmed all it took.
    pub(super) fn is_drained(&self) -> bool {
        self.unsent() == 0 && self.foremost.is_empty()
    }

    fn keep(&mut self, item: &Item, bytes: usize) {
        if self.most_sent == 0 {
            return;
        }
        let mut item = item.clone();
        item.forgive();
        self.sent.push_back(Sent { item, bytes });
        self.sent_bytes += bytes;
        while self.sent_bytes > self.most_sent
            && let Some(oldest) = self.sent.pop_front()
        {
            self.sent_bytes -= oldest.bytes;
        }
    }

    fn append(&mut self, mut item: Item, news: Option<(JobId, wire::InfoEvent)>, now_ns: u64) {
        if self.is_away {
            item.forgive();
        }
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
        self.entries.push_back(QueuedMessage { item, bytes, news });
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
        outbox.push(Item::body(r#"{"type":"bestmove"}"#.into()), 0);
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
        outbox.push(Item::body("a".repeat(1000)), 0);
        assert!(!is_slow(&outbox, 1000), "nothing of it is large");
        for _ in 0..2 {
            outbox.push(Item::body("a".repeat(2 << 20)), 1_000_000_000);
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
        outbox.push(Item::body("x".repeat(1000)), 5);
        outbox.push(Item::body("x".repeat(1000)), 7);
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

    /// What an outbox gives its writer at once: the numbers and the lines without theirs.
    fn numbered(outbox: &mut Outbox) -> Vec<(u64, String)> {
        let all = outbox.take(usize::MAX, 0).into_iter();
        all.map(|taken| (taken.seq, taken.item.stamp(0, 0).into_text())).collect()
    }

    #[test]
    fn what_was_taken_comes_again_before_what_is_new() {
        let say = |outbox: &mut Outbox, word: &str| outbox.push(Item::body(format!(r#"{{"{word}":1}}"#)), 0);
        let mut outbox = Outbox::default();
        say(&mut outbox, "a");
        assert_eq!(outbox.take(usize::MAX, 0).len(), 1);
        assert_eq!(outbox.missed(Some(0)), Err(Missed::Gap(1)), "nothing was kept");
        outbox.keep_sent(10_000);
        ["b", "c", "d"].iter().for_each(|word| say(&mut outbox, word));
        let first = numbered(&mut outbox);
        say(&mut outbox, "e");
        outbox.lose_writer(5);
        push(&mut outbox, 1, Best, "x");
        assert_eq!(push(&mut outbox, 1, Best, "y"), 1, "news are replaced as ever");
        for (seq, missed) in [
            (None, Ok(3)),
            (Some(0), Err(Missed::Gap(1))),
            (Some(1), Ok(3)),
            (Some(3), Ok(1)),
            (Some(4), Ok(0)),
            (Some(5), Err(Missed::Ahead(4))),
        ] {
            assert_eq!(outbox.missed(seq), missed, "{seq:?}");
        }
        // Another outbox had said something, and its last message waits still.
        let mut own = Outbox::default();
        say(&mut own, "p");
        own.take(usize::MAX, 0);
        say(&mut own, "q");
        let waiting = outbox.unsent();
        outbox.go_on(own, 2, 9);
        assert!(outbox.has_waiting() && outbox.unsent() > waiting && outbox.unsent_small() == waiting);
        let second = numbered(&mut outbox);
        assert_eq!(second.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
        assert_eq!(second[1..3], first[1..], "c and d once more");
        assert!(second[0].1.contains('q') && second[3].1.contains('e') && second[4].1.contains('y'));
        outbox.confirm(10);
        assert!(outbox.is_drained() && !outbox.has_waiting() && outbox.kept() > 0);
        // The next time it goes on from there, in small steps.
        outbox.lose_writer(11);
        let again = outbox.missed(Some(1)).unwrap();
        outbox.go_on(Outbox::default(), again, 12);
        let mut steps = Vec::new();
        while outbox.has_waiting() {
            steps.extend(outbox.take(1, 13).into_iter().map(|taken| taken.seq));
        }
        assert_eq!(steps, [2, 3, 4, 5, 6]);
        outbox.confirm(14);
        assert!(outbox.is_drained());
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_oldest_goes_first() {
        let mut outbox = Outbox::default();
        outbox.keep_sent(3000);
        for length in [1000, 1000, 1000, 1000, 10, 2000] {
            outbox.push(Item::body("x".repeat(length)), 0);
            outbox.take(usize::MAX, 0);
            assert!(outbox.kept() <= 3000);
        }
        assert_eq!((outbox.missed(Some(3)), outbox.missed(None)), (Err(Missed::Gap(4)), Ok(2)));
        outbox.push(Item::body("x".repeat(4000)), 0);
        outbox.take(usize::MAX, 0);
        assert_eq!((outbox.missed(Some(6)), outbox.missed(Some(7))), (Err(Missed::Gap(7)), Ok(0)));
        assert_eq!(outbox.kept(), 0);
    }

    #[test]
    fn who_was_away_is_not_answered_late() {
        let bestmove = || Item::answer("g", Some(7));
        let due = |outbox: &mut Outbox| -> Vec<Option<u64>> {
            let all = outbox.take(usize::MAX, 0).into_iter();
            all.filter_map(|taken| match taken.item {
                Item::BestMove(_, _, due_ns) => Some(due_ns),
                _ => None,
            })
            .collect()
        };
        let mut outbox = Outbox::default();
        outbox.keep_sent(100_000);
        outbox.push(bestmove(), 0);
        assert_eq!(due(&mut outbox), [Some(7)]);
        outbox.push(bestmove(), 0);
        outbox.lose_writer(1);
        outbox.push(bestmove(), 2);
        outbox.go_on(Outbox::default(), 1, 3);
        outbox.push(bestmove(), 4);
        assert_eq!(due(&mut outbox), [None, None, None, Some(7)]);
    }

    #[test]
    fn who_comes_back_has_the_whole_time_for_large_messages() {
        const S: u64 = 1_000_000_000;
        let grace = Duration::from_secs(10);
        let mut outbox = Outbox::default();
        outbox.keep_sent(10 << 20);
        for number in 0..3 {
            outbox.push(Item::body("a".repeat(2 << 20)), number);
            outbox.take(1, number);
        }
        outbox.lose_writer(1);
        outbox.push(Item::body("b".repeat(2 << 20)), 2);
        assert!(outbox.is_slow(grace, 1 << 20, 100 * S), "nobody reads it");
        outbox.go_on(Outbox::default(), 3, 100 * S);
        // Four messages of 2 MiB at 1 MiB a second, behind the grace; the first three come once more.
        for taken in 1..=4 {
            assert_eq!(outbox.take(1, 117 * S).len(), 1);
            assert!(!outbox.is_slow(grace, 1 << 20, 117 * S), "{taken}");
            assert!(outbox.is_slow(grace, 1 << 20, 119 * S), "{taken}");
        }
        outbox.confirm(120 * S);
        assert!(!outbox.is_slow(grace, 1 << 20, 1000 * S));
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
        let (info, lines) = info(Best, "c3-c4");
        let item = Item::Info(info, lines);
        let counted = item.bytes();
        assert!(counted >= item.stamp(u64::MAX, u64::MAX).len());
    }
}
