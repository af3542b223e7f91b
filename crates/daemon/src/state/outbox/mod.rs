//! The messages that wait for a connection's writer.
//!
//! Knows no transport: it orders, numbers and counts. Finals keep their order and are never dropped; of the
//! news of a search at most one per event waits, and the newest wins. A message has its number from the
//! moment that a writer takes it. If the connection may outlive its socket, the last ones are kept, so that
//! the writer of the next socket sends them again.

mod item;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use plyd_protocol as wire;

use crate::ids::JobId;
#[cfg(test)]
pub(crate) use item::LONG_BODY;
pub(crate) use item::{Item, LARGE_MESSAGE, LongBody, Stamped};

/// A message with its place in the connection's order.
#[derive(Debug)]
pub(crate) struct Numbered {
    /// Its number, from 1 and without gaps.
    pub(crate) seq: u64,
    /// The message.
    pub(crate) item: Item,
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

/// What a message that waits occupies beside its bytes: its place in a queue that grows by doubling, and what
/// the allocator takes for the text.
const PLACE_BYTES: usize = 2 * size_of::<QueuedMessage>() + 64;

/// A queue with room for more messages gives it back once it is mostly empty.
const KEPT_PLACES: usize = 256;

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
pub(crate) struct Outbox {
    entries: VecDeque<QueuedMessage>,
    /// The last messages that were taken, as many as fit into `most_sent` bytes; 0: none are kept.
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
    /// Since when anything is unsent, and the bytes of all messages since then.
    behind_since_ns: u64,
    behind_bytes: usize,
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
            behind_since_ns: other.behind_since_ns,
            behind_bytes: other.behind_bytes,
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
        self.behind_bytes += bytes.saturating_sub(waiting.bytes);
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
        if self.entries.capacity() > KEPT_PLACES && self.entries.len() < self.entries.capacity() / 4 {
            self.entries.shrink_to(KEPT_PLACES.max(2 * self.entries.len()));
        }
        batch
    }

    /// From now on keeps what is taken, as far as it fits into `most_bytes`.
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

    /// There is a writer again: it gets what waits in its own outbox, then the last `again` messages once
    /// more, and then what is new. Its time for large messages begins now: nobody could read them before.
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
        self.behind_since_ns = now_ns;
        self.behind_bytes = self.queued_bytes + self.again_bytes;
    }

    /// Notes that the writer wrote everything that it took.
    pub(super) fn confirm(&mut self, now_ns: u64) {
        self.held_bytes = 0;
        self.held_large = 0;
        if self.queued_large == 0 && self.again == 0 {
            self.large_since = 0;
        }
        if self.unsent() == 0 {
            self.behind_bytes = 0;
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

    /// [`unsent`](Self::unsent) without the bytes that are queued once more: these are among what is kept as
    /// well.
    pub(super) fn unsent_anew(&self) -> usize {
        self.queued_bytes + self.held_bytes
    }

    /// What they occupy: their bytes, and what each takes beside them while it waits.
    pub(super) fn occupied(&self) -> usize {
        self.unsent_anew() + self.entries.len() * PLACE_BYTES
    }

    /// Whether the peer has been behind so long, without a moment at which all was sent, that it reads more
    /// slowly than `bytes_a_second`, after `grace`.
    pub(super) fn is_behind(&self, grace: Duration, bytes_a_second: usize, now_ns: u64) -> bool {
        let needed = grace + Duration::from_millis((self.behind_bytes * 1000 / bytes_a_second) as u64);
        self.unsent_anew() > 0 && self.behind_since_ns.saturating_add(needed.as_nanos() as u64) < now_ns
    }

    /// The bytes that are queued for the first time or in the writer's hand, of all but large messages: the
    /// measure of a slow reader.
    pub(super) fn unsent_small(&self) -> usize {
        self.unsent_anew() - self.unsent_large()
    }

    /// The bytes of large messages that are queued or in the writer's hand.
    pub(super) fn unsent_large(&self) -> usize {
        self.queued_large + self.held_large
    }

    /// Whether the peer reads large messages more slowly than it must while others wait: than
    /// `bytes_a_second`, after `grace`.
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
    pub(crate) fn is_drained(&self) -> bool {
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
        if self.unsent() == 0 {
            (self.behind_since_ns, self.behind_bytes) = (now_ns, 0);
        }
        self.behind_bytes += bytes;
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
