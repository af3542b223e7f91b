//! The numbers that bound the daemon; `hello` publishes those that clients meet.

use std::time::Duration;

use plyd_protocol as wire;

/// How long a handshake of TLS may take at most, if `hello` may take longer.
const LONGEST_HANDSHAKE: Duration = Duration::from_secs(10);
/// The most bytes of a handshake of TLS: a client's certificate and those above it.
pub(crate) const HANDSHAKE_BYTES: usize = 64 << 10;

/// What the daemon allows at most.
///
/// ```
/// use std::time::Duration;
///
/// use plyd_daemon::Limits;
///
/// let limits = Limits { cores: 2, idle: Duration::from_secs(600), ..Limits::default() };
/// assert_eq!((limits.sessions, limits.hash_bytes), (64, 1 << 30));
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    /// Search threads that run at once.
    pub cores: usize,
    /// Bytes of all transposition tables together.
    pub hash_bytes: u64,
    /// Connections over sockets that have said `hello`, at once.
    pub connections: usize,
    /// Connections over sockets that have not said `hello`, at once.
    pub strangers: usize,
    /// Connections of one address at once; 0: no limit of its own.
    pub connections_per_address: usize,
    /// Engines in memory at once: those of admitted searches, and those that sessions keep.
    pub engines: usize,
    /// Sessions of one connection.
    pub sessions: usize,
    /// Requests in flight on one connection.
    pub requests: usize,
    /// Bytes that the requests in flight of one connection occupy, as decoded.
    pub request_bytes: usize,
    /// The same for all connections together.
    pub request_bytes_in_all: usize,
    /// Bytes that the sessions of one connection hold.
    pub session_bytes: usize,
    /// The same for all connections together.
    pub session_bytes_in_all: usize,
    /// Bad lines after which a connection that has not said `hello` is closed.
    pub bad_lines: u32,
    /// Unsent bytes at which a connection is closed, large messages not counted.
    pub unsent_bytes: usize,
    /// Bytes that the unsent messages of all connections may occupy together; past that, connections with
    /// more than their share are read no further, and large answers are refused.
    pub unsent_bytes_in_all: usize,
    /// Time without progress on unsent bytes after which a connection is closed.
    pub stalled: Duration,
    /// Time in which `hello` must come if it is required.
    pub handshake: Duration,
    /// Silence after which a WebSocket peer is pinged, and pinged again, until it is cut off.
    pub silence: Duration,
    /// Time without a line and without a request in flight after which a greeted connection is closed; zero:
    /// never.
    pub idle: Duration,
    /// Silence after which the system probes a TCP peer (keep-alive); zero: never.
    pub keepalive: Duration,
    /// The longest time that a connection is kept for its client after its socket broke; zero: none is kept.
    pub resume: Duration,
    /// Connections at once that have the promise to be kept.
    pub resume_connections: usize,
    /// Bytes of messages that each of them keeps to send them again; also its share of what may wait for all
    /// clients that are away.
    pub resume_bytes: usize,
    /// Time that searches have after the end of input.
    pub eof: Duration,
    /// Time that searches in flight may go on when the daemon ends; zero: they answer at once.
    pub drain: Duration,
    /// Time that a shutdown takes at most after that.
    pub shutdown: Duration,
    /// Time in which a search thread must yield once its search is over; then it is abandoned.
    pub abandon: Duration,
    /// Time that an ending search has to publish its first move; then a legal move is chosen for it.
    pub first_move: Duration,
    /// Time that an ending search has to read its position, and a question whose session is closed to answer.
    pub preparation: Duration,
    /// Time that reading the position of a `go` may take beside the searches; then the search begins on what
    /// is known, and after as long again the `go` ends.
    pub reading: Duration,
    /// Time after which a client that wants `progress` gets one even if no depth was completed.
    pub progress: Duration,
    /// Idle search threads that are kept.
    pub idle_workers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            hash_bytes: 1 << 30,
            connections: 256,
            strangers: 64,
            connections_per_address: 0,
            engines: 512,
            sessions: 64,
            requests: 256,
            request_bytes: 16 << 20,
            request_bytes_in_all: 256 << 20,
            session_bytes: 16 << 20,
            session_bytes_in_all: 256 << 20,
            bad_lines: 16,
            unsent_bytes: wire::MAX_UNSENT,
            unsent_bytes_in_all: 256 << 20,
            stalled: Duration::from_secs(10),
            handshake: Duration::from_secs(30),
            silence: Duration::from_secs(20),
            idle: Duration::ZERO,
            keepalive: Duration::from_secs(60),
            resume: Duration::ZERO,
            resume_connections: 64,
            resume_bytes: 1 << 20,
            eof: Duration::from_secs(10),
            drain: Duration::ZERO,
            shutdown: Duration::from_secs(5),
            abandon: Duration::from_secs(2),
            first_move: Duration::from_millis(5),
            preparation: Duration::from_secs(1),
            reading: Duration::from_secs(10),
            progress: Duration::from_secs(1),
            idle_workers: 4,
        }
    }
}

impl Limits {
    /// The limits as `hello` announces them.
    #[must_use]
    pub(crate) fn to_wire(&self) -> wire::Limits {
        wire::Limits {
            requests: self.requests as u32,
            sessions: self.sessions as u32,
            searches: self.cores as u32,
            threads: self.cores as u32,
            hash_bytes: self.hash_bytes,
            unsent_bytes: self.unsent_bytes as u64,
            stalled_ms: self.stalled.as_millis() as u64,
            eof_ms: self.eof.as_millis() as u64,
            drain_ms: self.drain.as_millis() as u64,
            shutdown_ms: self.shutdown.as_millis() as u64,
            request_bytes: self.request_bytes as u64,
            request_bytes_in_all: self.request_bytes_in_all as u64,
            session_bytes: self.session_bytes as u64,
            session_bytes_in_all: self.session_bytes_in_all as u64,
            unsent_bytes_in_all: self.unsent_bytes_in_all as u64,
            connections: self.connections as u32,
            strangers: self.strangers as u32,
            connections_per_address: self.connections_per_address as u32,
            hello_ms: self.handshake.as_millis() as u64,
            bad_lines: self.bad_lines,
            idle_ms: self.idle.as_millis() as u64,
            keepalive_ms: self.keepalive.as_millis() as u64,
            silence_ms: self.silence.as_millis() as u64,
            engines: self.engines as u32,
            resume_ms: self.resume.as_millis() as u64,
            resume_connections: self.resume_connections as u32,
            resume_bytes: self.resume_bytes as u64,
            ..wire::Limits::default()
        }
    }

    /// The limits as `hello` announces them over TLS: with those of handshakes.
    #[must_use]
    pub(crate) fn to_wire_over_tls(&self) -> wire::Limits {
        wire::Limits {
            handshakes: self.strangers as u32,
            handshake_ms: self.tls_handshake().as_millis() as u64,
            handshake_bytes: HANDSHAKE_BYTES as u64,
            ..self.to_wire()
        }
    }

    /// How long a handshake of TLS may take.
    pub(crate) fn tls_handshake(&self) -> Duration {
        self.handshake.min(LONGEST_HANDSHAKE)
    }
}
