//! What a bot writes: its lines, how fast they are read, and what each of them is.

use std::ops::Range;
use std::time::{Duration, Instant};

use plyd_arena::referee::PlayerMessage;
use plyd_protocol::framing::{Event, Framing};
use plyd_protocol::{DecodeError, ErrorCode, MAX_LINE, Offer, decode_offer};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::link::{Closed, ClosedKind, broken};

/// How much is read at once.
pub(super) const CHUNK: usize = 1 << 14;

/// The longest offer: the first one is by a stranger.
pub(super) const OFFER: usize = 1 << 16;

/// The most games, presets and clocks of an offer in all: each pool looks through them in each round.
const OFFERED: usize = 500;

/// A longer line is parsed beside the thread that stamps answers, one such line of all bots at a time.
const LONG_LINE: usize = 1 << 14;

/// What a bot may have written at once after a while without a word, as seconds of its rate of bytes.
const BURST: Duration = Duration::from_secs(2);

/// The lines that a bot writes.
pub(super) struct Lines<'s, S> {
    stream: &'s mut S,
    framing: Framing,
    chunk: Box<[u8]>,
    /// What of the chunk was read and not looked at.
    rest: Range<usize>,
    /// When it was read.
    at: Instant,
    pace: Pace,
}

impl<'s, S: AsyncRead + Unpin> Lines<'s, S> {
    pub(super) fn new(stream: &'s mut S, limit: usize, bytes_a_second: u32) -> Self {
        let chunk = vec![0; CHUNK].into_boxed_slice();
        let pace = Pace::new(bytes_a_second);
        Self { stream, framing: Framing::new(limit), chunk, rest: 0..0, at: Instant::now(), pace }
    }

    /// How long a line may be from now on.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.framing.set_limit(limit);
    }

    /// The next line, and when its end arrived; nothing at the end of the stream. What was read stays if this
    /// is dropped before it is done.
    ///
    /// # Errors
    /// The connection broke, or a line is too long.
    pub(super) async fn next(&mut self) -> Result<Option<(Vec<u8>, Instant)>, Closed> {
        loop {
            let mut bytes = &self.chunk[self.rest.clone()];
            let event = self.framing.next(&mut bytes);
            self.rest.start = self.rest.end - bytes.len();
            match event {
                Some(Event::Line { bytes, .. }) => return Ok(Some((bytes.into_owned(), self.at))),
                Some(Event::TooLong { limit, .. }) => return Err(too_long(limit)),
                None if self.framing.is_too_long() => return Err(too_long(MAX_LINE)),
                None => {}
            }
            self.pace.wait().await;
            let read = self.stream.read(&mut self.chunk).await.map_err(|error| broken(&error))?;
            self.at = Instant::now();
            self.pace.spend(read);
            self.rest = 0..read;
            if read == 0 {
                // Half a line at the end is no line: the rest of it may have been lost.
                return Ok(None);
            }
        }
    }
}

fn too_long(limit: usize) -> Closed {
    Closed::new(ClosedKind::Garbled, format!("a line is longer than {limit} bytes"))
}

/// How fast the bytes of a bot are read.
pub(crate) struct Pace {
    a_second: f64,
    /// When all that was read would have been read at that rate.
    due: tokio::time::Instant,
}

impl Pace {
    pub(crate) fn new(bytes_a_second: u32) -> Self {
        Self { a_second: f64::from(bytes_a_second.max(1)), due: tokio::time::Instant::now() }
    }

    /// Counts what was read.
    pub(crate) fn spend(&mut self, bytes: usize) {
        let takes = Duration::from_secs_f64(bytes as f64 / self.a_second);
        self.due = self.due.max(tokio::time::Instant::now()) + takes;
    }

    /// Waits until more may be read.
    pub(crate) async fn wait(&self) {
        let early = self.due.saturating_duration_since(tokio::time::Instant::now());
        if let Some(wait) = early.checked_sub(BURST).filter(|wait| !wait.is_zero()) {
            sleep(wait).await;
        }
    }
}

/// Counts lines by the second.
pub(super) struct Rate {
    most: u32,
    since: Option<Instant>,
    lines: u32,
}

impl Rate {
    pub(super) fn new(most: u32) -> Self {
        Self { most, since: None, lines: 0 }
    }

    /// Whether one more line is allowed.
    pub(super) fn allows(&mut self, at: Instant) -> bool {
        let begins =
            self.since.is_none_or(|since| at.saturating_duration_since(since) >= Duration::from_secs(1));
        if begins {
            (self.since, self.lines) = (Some(at), 0);
        }
        self.lines += 1;
        self.lines <= self.most
    }

    /// Leaves the last line out of the count.
    pub(super) fn forget_one(&mut self) {
        self.lines = self.lines.saturating_sub(1);
    }
}

/// A line of a bot.
pub(super) enum Line {
    /// A message.
    PlayerMessage(PlayerMessage),
    /// A request: an offer, or why it is none.
    Request(Box<Result<(String, Offer), DecodeError>>),
    /// Neither.
    Garbled,
}

impl Line {
    fn of(line: &[u8]) -> Self {
        match PlayerMessage::read(line) {
            Ok(said) => Self::PlayerMessage(said),
            Err(_) if is_request(line) => Self::Request(Box::new(read_offer(line))),
            Err(_) => Self::Garbled,
        }
    }
}

/// Says what the lines of all bots are.
#[derive(Debug)]
pub(super) struct Parser {
    /// Whose turn it is to have a long line parsed.
    long: Semaphore,
}

impl Default for Parser {
    fn default() -> Self {
        Self { long: Semaphore::new(1) }
    }
}

impl Parser {
    /// What a line is.
    pub(super) async fn parse(&self, line: Vec<u8>) -> (Vec<u8>, Line) {
        if line.len() <= LONG_LINE {
            let heard = Line::of(&line);
            return (line, heard);
        }
        let _turn = self.long.acquire().await;
        let parsed = spawn_blocking(move || {
            let heard = Line::of(&line);
            (line, heard)
        });
        // A panic was reported when it happened.
        parsed.await.unwrap_or((Vec::new(), Line::Garbled))
    }
}

/// Reads an offer.
///
/// # Errors
/// What is wrong with it; or it is longer, or has more in it, than a ladder reads.
pub(super) fn read_offer(line: &[u8]) -> Result<(String, Offer), DecodeError> {
    let fault = |id, code, message| DecodeError { id, code, pointer: None, message };
    if line.len() > OFFER {
        let message = format!("an offer has at most {OFFER} bytes");
        return Err(fault(None, ErrorCode::LineTooLong, message));
    }
    let (id, offer) = decode_offer(line)?;
    let games: usize = offer.games.iter().map(|game| 1 + game.presets.len()).sum();
    if games + offer.clocks.len() > OFFERED {
        let message = format!("an offer has at most {OFFERED} games, presets and clocks in all");
        return Err(fault(Some(id), ErrorCode::OutOfRange, message));
    }
    Ok((id, offer))
}

/// Whether a line that is no answer is a request, right or wrong.
fn is_request(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Request {
        #[serde(rename = "cmd")]
        _cmd: IgnoredAny,
    }
    line.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<Request>(line).is_ok()
}
