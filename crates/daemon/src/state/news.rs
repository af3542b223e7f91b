//! The news of one search: which its client wants, and when each may go out.
//!
//! News that come faster than the client wants them are held back, and what is held is replaced by what comes
//! after it.

use std::time::Duration;

use plyd_protocol as wire;
use plyd_protocol::InfoEvent;

/// What a client hears of a search while it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    wants: Wants,
    best: RateLimit,
    progress: RateLimit,
    /// When `progress` is sent at the latest.
    reminder_ns: u64,
    shown_depth: u32,
}

/// Which news a client wants.
#[derive(Clone, Copy, Debug)]
struct Wants {
    started: bool,
    best: bool,
    progress: bool,
    interval_ns: u64,
}

/// News of one kind, held back until the client's interval is over.
#[derive(Clone, Copy, Debug, Default)]
struct RateLimit {
    /// The earliest instant at which the next one may be queued.
    next_ns: u64,
    /// Whether one is held back until then.
    held: bool,
    /// How many earlier ones it replaced.
    skipped: u64,
}

impl RateLimit {
    /// Counts what is held back as replaced, even if its time has come: whoever sends it may be late.
    fn replace(&mut self) {
        self.skipped += u64::from(std::mem::take(&mut self.held));
    }
}

impl News {
    /// The news that a client asks for.
    pub(super) fn new(request: &wire::InfoRequest) -> Self {
        let has = |event| request.events.contains(&event);
        let wants = Wants {
            started: has(InfoEvent::Started),
            best: has(InfoEvent::Best),
            progress: has(InfoEvent::Progress),
            interval_ns: request.min_interval_ms.saturating_mul(1_000_000),
        };
        let rate = RateLimit::default();
        Self { wants, best: rate, progress: rate, reminder_ns: 0, shown_depth: 0 }
    }

    /// From now on each better move is wanted at once.
    pub(super) fn want_every_move(&mut self) {
        self.wants = Wants { best: true, interval_ns: 0, ..self.wants };
    }

    /// Whether the client wants news of this kind.
    pub(super) fn wants(&self, event: InfoEvent) -> bool {
        match event {
            InfoEvent::Started => self.wants.started,
            InfoEvent::Best => self.wants.best,
            InfoEvent::Progress => self.wants.progress,
        }
    }

    /// The search begins; `reminder` is the time after which `progress` is sent for the first time.
    pub(super) fn began(&mut self, now_ns: u64, reminder: Duration) {
        self.remind_after(now_ns, reminder);
    }

    /// Which news published lines make, given how far the search has come and whether they are new. They
    /// replace what is held back.
    pub(super) fn of(&mut self, lines_changed: bool, depth: u32) -> Vec<InfoEvent> {
        let mut news = Vec::new();
        if lines_changed && self.wants.best {
            self.best.replace();
            news.push(InfoEvent::Best);
        }
        if depth > self.shown_depth {
            self.shown_depth = depth;
            if self.wants.progress {
                self.progress.replace();
                news.push(InfoEvent::Progress);
            }
        }
        news
    }

    /// Whether news of this kind may go out now, and how many they replaced; otherwise they are held, and
    /// [`News::overdue`] lists them once they may go. `reminder` is the time after which `progress` is sent
    /// even if no depth was completed.
    pub(super) fn pass(&mut self, event: InfoEvent, now_ns: u64, reminder: Duration) -> Option<u64> {
        let rate = match event {
            InfoEvent::Started => return Some(0),
            InfoEvent::Best => &mut self.best,
            InfoEvent::Progress => &mut self.progress,
        };
        if now_ns < rate.next_ns {
            rate.held = true;
            return None;
        }
        rate.next_ns = now_ns.saturating_add(self.wants.interval_ns);
        rate.held = false;
        let skipped = std::mem::take(&mut rate.skipped);
        if event == InfoEvent::Progress {
            self.remind_after(now_ns, reminder);
        }
        Some(skipped)
    }

    /// The kinds of news that have waited long enough; reminders only if there `is_progress`.
    pub(super) fn overdue(&self, now_ns: u64, is_progress: bool) -> Vec<InfoEvent> {
        let held = |rate: RateLimit| rate.held && rate.next_ns <= now_ns;
        let mut news = Vec::new();
        if held(self.best) {
            news.push(InfoEvent::Best);
        }
        if held(self.progress) || self.reminder(is_progress).is_some_and(|at| at <= now_ns) {
            news.push(InfoEvent::Progress);
        }
        news
    }

    /// When the next news may be overdue; reminders only if there `is_progress`.
    pub(super) fn next_ns(&self, is_progress: bool) -> Option<u64> {
        let held = |rate: RateLimit| rate.held.then_some(rate.next_ns);
        let news = [held(self.best), held(self.progress), self.reminder(is_progress)];
        news.into_iter().flatten().min()
    }

    fn reminder(&self, is_progress: bool) -> Option<u64> {
        (self.wants.progress && is_progress).then_some(self.reminder_ns)
    }

    fn remind_after(&mut self, now_ns: u64, reminder: Duration) {
        let pause = self.wants.interval_ns.max(reminder.as_nanos() as u64);
        self.reminder_ns = now_ns.saturating_add(pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn what_is_replaced_is_counted_even_if_it_is_overdue() {
        let events = vec![InfoEvent::Best, InfoEvent::Progress];
        let mut news = News::new(&wire::InfoRequest { events, min_interval_ms: 10 });
        let mut sent = Vec::new();
        // When what came, and whether it is new or was held back.
        for (at_ms, depth) in [(0, 1), (1, 2), (2, 3), (10, 0), (11, 4), (30, 5), (31, 6), (60, 0)] {
            let (now_ns, is_new) = (at_ms * MS, depth > 0);
            let events = if is_new { news.of(true, depth) } else { news.overdue(now_ns, true) };
            assert_eq!(events, [InfoEvent::Best, InfoEvent::Progress], "{at_ms} ms");
            let reminder = Duration::from_secs(9);
            let passed: Vec<_> = events.into_iter().map(|event| news.pass(event, now_ns, reminder)).collect();
            sent.push((at_ms, passed));
        }
        let (none, some) = (None, Some);
        let expected = [
            (0, some(0)),
            (1, none),
            (2, none),
            (10, some(1)),
            (11, none),
            (30, some(1)),
            (31, none),
            (60, some(0)),
        ];
        assert_eq!(sent, expected.map(|(at_ms, skipped)| (at_ms, vec![skipped; 2])));
    }
}
