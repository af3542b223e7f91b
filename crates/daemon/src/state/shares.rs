//! A bounded resource in which each connection has a small share that no other can take; the rest is first
//! come, first served.

/// The resource, and what is taken of it beyond the shares. Each holder counts what it holds itself.
#[derive(Clone, Debug)]
pub(crate) struct Shares {
    share: usize,
    pool: usize,
    used: usize,
}

/// One part in this many of the whole is given out as shares: enough for ordinary needs, and so little that
/// most of the whole goes where it is needed.
const SHARED_OUT: usize = 4;

impl Shares {
    /// `total` for this number of connections, one of which may hold `most`, and for one without a socket.
    pub(super) fn new(total: usize, most: usize, connections: usize) -> Self {
        let places = connections.max(1) + 1;
        let share = (total / SHARED_OUT / places).min(most);
        Self { share, pool: total - share * places, used: 0 }
    }

    /// What there is beyond the shares.
    pub(super) fn pool(&self) -> usize {
        self.pool
    }

    fn beyond(&self, held: usize) -> usize {
        held.saturating_sub(self.share)
    }

    /// Whether one that holds `old` can have `new` without taking more from the pool.
    pub(crate) fn is_own(&self, old: usize, new: usize) -> bool {
        self.beyond(new) <= self.beyond(old)
    }

    /// Whether one that holds `old` can have `new` within the whole.
    pub(super) fn fits_bounded(&self, old: usize, new: usize) -> bool {
        self.is_own(old, new) || self.used - self.beyond(old) + self.beyond(new) <= self.pool
    }

    /// Like [`fits_bounded`](Self::fits_bounded), but it may exceed the whole as long as no other holds
    /// anything of the pool.
    pub(super) fn fits(&self, old: usize, new: usize) -> bool {
        let others = self.used - self.beyond(old);
        others == 0 || self.fits_bounded(old, new)
    }

    /// What would become free for others if a holder of `old` held only `new`.
    pub(super) fn freed(&self, old: usize, new: usize) -> usize {
        self.beyond(old).saturating_sub(self.beyond(new))
    }

    /// Whether one holds more than its share.
    pub(super) fn is_beyond(&self, held: usize) -> bool {
        self.beyond(held) > 0
    }

    /// Whether nothing is left beyond the shares.
    pub(super) fn is_full(&self) -> bool {
        self.used >= self.pool
    }

    /// Whether one that holds `held` is the only one that holds more than its share.
    pub(super) fn is_alone(&self, held: usize) -> bool {
        self.used == self.beyond(held)
    }

    /// Whether nobody holds more than its share.
    #[cfg(test)]
    pub(super) fn is_unused(&self) -> bool {
        self.used == 0
    }

    /// Counts that one that held `old` holds `new`.
    pub(super) fn change(&mut self, old: usize, new: usize) {
        self.used = self.used - self.beyond(old) + self.beyond(new);
    }
}
