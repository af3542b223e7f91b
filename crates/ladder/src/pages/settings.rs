//! What a ladder says of itself, and how much it gives to whom.

use std::time::Duration;

/// The settings of the pages.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// The ladder's name, for the head of each page.
    pub name: String,
    /// What bots dial, such as `wss://ladder.example`, with the flags that `plyd connect` needs for it: it
    /// stands in the commands that the owner's page gives.
    pub dial: String,
    /// Whether browsers reach the pages over TLS: then the cookie of a login goes over TLS alone.
    pub over_tls: bool,
    /// Whether all requests come through a proxy that writes whose they are into `X-Forwarded-For`. Without
    /// one whoever asks could write anything there.
    pub behind_proxy: bool,
    /// How long a login lasts.
    pub login_for: Duration,
    /// For how long an answer that costs much, such as a table, is given again without being made anew; one
    /// that takes longer than a 20th of this to make, for 20 times as long as it takes.
    pub fresh_for: Duration,
    /// How much the pages give.
    pub limits: Limits,
}

/// How much the pages give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many requests of one address are answered at once, after it has asked nothing for a while. A page
    /// with a board takes some twenty.
    pub burst: u32,
    /// How many requests of one address are answered a second in the long run.
    pub requests_a_second: u32,
    /// How many spectators watch at once.
    pub spectators: usize,
    /// How many of them may come from one address.
    pub spectators_of_address: usize,
    /// The most bytes of a request's body.
    pub body: usize,
    /// How many requests may ask the database, or let something be computed, at once. Others wait for their
    /// turn.
    pub at_once: usize,
    /// How long a request waits for its turn before it is turned away.
    pub turn_within: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: "plyd ladder".into(),
            dial: "ws://127.0.0.1:7127".into(),
            over_tls: false,
            behind_proxy: false,
            login_for: Duration::from_secs(30 * 24 * 3600),
            fresh_for: Duration::from_secs(3),
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            burst: 120,
            requests_a_second: 20,
            spectators: 1000,
            spectators_of_address: 20,
            body: 16 << 10,
            at_once: 64,
            turn_within: Duration::from_secs(5),
        }
    }
}
