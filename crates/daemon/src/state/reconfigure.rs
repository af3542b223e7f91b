//! Other limits and another token for a daemon that runs.

use super::State;
use crate::config::limits::Limits;

impl State {
    /// Puts other limits and another token in force.
    pub(crate) fn reconfigure(&mut self, limits: Limits, token: Option<String>) {
        self.memory.set_total(limits.hash_bytes);
        self.limits = limits;
        self.token = token;
        self.resize_sessions();
        self.resize_intake();
        self.resize_unread();
        self.trim_engines();
        // Searches that wait for a slot look again.
        self.freed = true;
    }

    /// How many connections share what is bounded in all: those that there may be, or those that there are.
    pub(super) fn shared_by(&self) -> usize {
        self.limits.connections.max(self.conns.len())
    }
}
