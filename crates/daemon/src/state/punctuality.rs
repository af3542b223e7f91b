//! How soon answers are written once their deadlines come, and so what of a short time must be kept for that.
//!
//! The system delays threads as long as other programs have its cores: not at all, or by time slices of some
//! milliseconds. So the margin follows what was seen of the last answers, of all connections.

use std::collections::VecDeque;

use plyd_core::search::clock::Margin;

use super::outbox::{Item, Numbered};

/// How many answers are remembered, and how many of them must be known for a smaller margin.
const REMEMBERED: usize = 64;
const ENOUGH: usize = 16;

/// After so long without an answer at its deadline nothing is known any more: other programs may have come.
const FORGOTTEN_NS: u64 = 10_000_000_000;

/// The least margin: what a machine does to a thread now and then although it has nothing else to do.
const LEAST_US: u32 = 2_000;

/// The delays of the last answers that came at their deadlines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Punctuality {
    /// In microseconds, the oldest first.
    delays_us: VecDeque<u32>,
    /// When the last one was seen.
    seen_ns: u64,
}

impl Punctuality {
    /// A writer took messages: notes the delays of the answers among them whose deadlines have come. Others
    /// were decided before, and say nothing.
    pub(super) fn taken(&mut self, batch: &[Numbered], now_ns: u64) {
        for numbered in batch {
            if let Item::BestMove(_, _, Some(times)) = &numbered.item
                && let Some(delay_ns) = now_ns.checked_sub(times.deadline_ns)
            {
                self.note(u32::try_from(delay_ns / 1000).unwrap_or(u32::MAX), now_ns);
            }
        }
    }

    /// What is to be kept of the time of a search that begins: twice the longest delay, but not more than
    /// where nothing is known.
    pub(super) fn margin(&self, now_ns: u64) -> Margin {
        if self.delays_us.len() < ENOUGH || self.is_forgotten(now_ns) {
            return Margin::default();
        }
        let longest_us = self.delays_us.iter().copied().max().unwrap_or_default();
        Margin::at_least(longest_us.saturating_mul(2).max(LEAST_US)).min(Margin::default())
    }

    fn note(&mut self, delay_us: u32, now_ns: u64) {
        if self.is_forgotten(now_ns) {
            self.delays_us.clear();
        }
        self.seen_ns = now_ns;
        if self.delays_us.len() == REMEMBERED {
            self.delays_us.pop_front();
        }
        self.delays_us.push_back(delay_us);
    }

    fn is_forgotten(&self, now_ns: u64) -> bool {
        self.seen_ns.saturating_add(FORGOTTEN_NS) < now_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::promises::Times;

    const MS: u64 = 1_000_000;

    /// Answers whose deadlines came every 5 ms from `from_ms` on, and that were taken so many us later.
    fn see(punctuality: &mut Punctuality, from_ms: u64, delays_us: &[i64]) {
        for (place, delay_us) in delays_us.iter().enumerate() {
            let deadline_ns = (from_ms + 5 * place as u64) * MS;
            let times = Times { deadline_ns, due_ns: None };
            let answer = Numbered { seq: 1, item: Item::answer("", Some(times)) };
            punctuality.taken(&[answer], deadline_ns.saturating_add_signed(delay_us * 1000));
        }
    }

    #[test]
    fn the_margin_follows_the_delays_of_the_last_answers() {
        let quick = [200; ENOUGH];
        let table: &[(&str, Vec<i64>, u32)] = &[
            ("nothing is known", vec![], 5000),
            ("too little is known", vec![200; ENOUGH - 1], 5000),
            ("answers are quick", quick.to_vec(), 2000),
            ("one was delayed", [&quick[..], &[1700]].concat(), 3400),
            ("one was delayed long", [&[700_000], &quick[..]].concat(), 5000),
            ("it was delayed long ago", [&[700_000], &[200; REMEMBERED][..]].concat(), 2000),
            ("one was so before", [&[1700], &[200; REMEMBERED - 1][..]].concat(), 3400),
            ("those decided before their deadlines say nothing", [-300; REMEMBERED].to_vec(), 5000),
        ];
        for (what, delays_us, expected) in table {
            let mut punctuality = Punctuality::default();
            see(&mut punctuality, 1000, delays_us);
            assert_eq!(punctuality.margin(1500 * MS), Margin::at_least(*expected), "{what}");
        }
    }

    #[test]
    fn what_was_seen_is_forgotten() {
        let mut punctuality = Punctuality::default();
        see(&mut punctuality, 0, &[200; ENOUGH]);
        let seen_ns = punctuality.seen_ns;
        assert_eq!(punctuality.margin(seen_ns + FORGOTTEN_NS), Margin::at_least(LEAST_US));
        assert_eq!(punctuality.margin(seen_ns + FORGOTTEN_NS + 1), Margin::default());
        see(&mut punctuality, seen_ns / MS + 10_001, &[200; ENOUGH - 1]);
        assert_eq!(punctuality.margin(seen_ns + FORGOTTEN_NS + 100 * MS), Margin::default());
    }
}
