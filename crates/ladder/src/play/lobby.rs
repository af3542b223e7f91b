//! Where bots dial in: each connection begins with an offer, and ends when the bot or the ladder wants it to.

use std::collections::HashMap;
use std::future::Future;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use plyd_arena::referee::PlayerMessage;
use plyd_protocol::framing::{Event, Framing};
use plyd_protocol::newcomers::network;
use plyd_protocol::{ErrorCode, ErrorMessage, MAX_LINE, Offer, OfferResult, VERSION, decode_offer};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, split};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::bots::Bots;
use super::line;
use super::link::{Closed, ClosedKind, Link, broken, garbled};
use crate::BotId;
use crate::rates::{Peer, Rates};
use crate::terms::whole_ms;

/// The longest first line: an offer, by a stranger.
const OFFER: usize = 1 << 16;

/// How much is read at once.
const CHUNK: usize = 1 << 14;

/// A longer line is parsed beside the thread that stamps answers, one such line of all bots at a time.
const LONG_LINE: usize = 1 << 14;

/// What a bot may have written at once after a while without a word, as seconds of its rate of bytes.
const BURST: Duration = Duration::from_secs(2);

/// How long a bot whose connection has ended may go on writing.
const LINGER: Duration = Duration::from_secs(1);

/// Says which bots may come in.
pub trait Authenticator: Send + Sync + 'static {
    /// Whose the token of an offer is; `by` is the address that dials, if it has one.
    fn admit(
        &self,
        offer: &Offer,
        by: Option<IpAddr>,
    ) -> impl Future<Output = Result<Admitted, Refusal>> + Send;
}

/// A bot that may come in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Admitted {
    /// Which one.
    pub bot: BotId,
    /// Its name on the ladder.
    pub name: String,
    /// The most games at once that the ladder allows it.
    pub most_games: u32,
}

/// Why a bot may not come in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Such as `auth_failed` for a wrong token, and `forbidden` for a bot that is disabled.
    pub code: ErrorCode,
    /// Why, for people.
    pub message: String,
}

/// How connections are treated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The most connections at once.
    pub connections: usize,
    /// The most of them from one address, or from one network (/64) of IPv6.
    pub connections_of_address: usize,
    /// How many offers of one address are taken at once, after it has sent none for a while.
    pub offers_at_once: u32,
    /// How many offers of one address are taken a second in the long run.
    pub offers_a_second: u32,
    /// How long a connection may take to send its offer.
    pub offer_within: Duration,
    /// How often a bot is sent a `ping`.
    pub heartbeat: Duration,
    /// How long a bot may leave unread what it is sent.
    pub unread_within: Duration,
    /// The most lines of a bot in a second, besides its answers to what it was asked.
    pub lines_a_second: u32,
    /// How many bytes of a bot are read in a second in the long run, and twice as many at once. What it
    /// writes beyond that waits, and so do its own answers behind it.
    pub bytes_a_second: u32,
}

impl Default for Settings {
    /// 1,000 connections, 100 of one address, and of that 200 offers at once and 5 a second; 10 s for the
    /// offer and for what is unread; a ping each 15 s; 500 lines and 1 MiB a second.
    fn default() -> Self {
        Self {
            connections: 1000,
            connections_of_address: 100,
            offers_at_once: 200,
            offers_a_second: 5,
            offer_within: Duration::from_secs(10),
            heartbeat: Duration::from_secs(15),
            unread_within: Duration::from_secs(10),
            lines_a_second: 500,
            bytes_a_second: 1 << 20,
        }
    }
}

/// The place where bots come in.
#[derive(Debug)]
pub struct Lobby<D> {
    authenticator: D,
    settings: Settings,
    bots: Arc<Bots>,
    /// How many connections there are, by address or IPv6 network.
    places: Mutex<HashMap<Option<IpAddr>, usize>>,
    /// How often offers come, by address.
    offers: Rates,
    /// Whose turn it is to have a long line parsed.
    parsing: Semaphore,
}

/// A connection's place, which is free again once this is dropped.
struct Place<D> {
    lobby: Arc<Lobby<D>>,
    of: Option<IpAddr>,
}

impl<D: Authenticator> Lobby<D> {
    /// A lobby with nobody in it.
    #[must_use]
    pub fn new(authenticator: D, settings: Settings) -> Arc<Self> {
        let (places, parsing) = (Mutex::default(), Semaphore::new(1));
        let offers = Rates::new(settings.offers_at_once, settings.offers_a_second);
        Arc::new(Self { authenticator, settings, bots: Arc::default(), places, offers, parsing })
    }

    /// Who is there.
    #[must_use]
    pub fn bots(&self) -> &Arc<Bots> {
        &self.bots
    }

    /// Serves a connection to its end.
    pub async fn serve<S>(self: Arc<Self>, stream: S, by: Option<IpAddr>)
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let (mut input, output) = split(stream);
        let (link, outbox) = Link::new();
        let unread_within = self.settings.unread_within;
        let writer = {
            let link = link.clone();
            tokio::spawn(async move { outbox.write(output, &link, unread_within).await })
        };
        let why = match self.place(by) {
            Some(_place) => Arc::clone(&self).visit(&mut input, &link, by).await,
            None => Err(refusal(None, ErrorCode::TooManyConnections, "all places are taken")),
        };
        match why {
            Ok(closed) => link.close(closed),
            Err(error) => {
                let message = error.message.clone();
                link.end(line::error(error), Closed::new(ClosedKind::Garbled, message));
            }
        }
        let _ended = writer.await;
        // A socket that is closed while there is something to read takes back what it was the last to say.
        let unread = async {
            let mut chunk = vec![0; CHUNK];
            while input.read(&mut chunk).await.is_ok_and(|read| read > 0) {}
        };
        let _endless = timeout(LINGER, unread).await;
    }

    /// Reads the offer and then what the bot writes.
    ///
    /// # Errors
    /// What is wrong with the connection, as the bot is to read it.
    async fn visit(
        self: Arc<Self>,
        input: &mut (impl AsyncRead + Unpin),
        link: &Link,
        by: Option<IpAddr>,
    ) -> Result<Closed, ErrorMessage> {
        let mut lines = Lines::new(input, OFFER, self.settings.bytes_a_second);
        let first = match timeout(self.settings.offer_within, lines.next()).await {
            Ok(Ok(Some((first, _)))) => first,
            Ok(Ok(None)) => return Ok(Closed::new(ClosedKind::Broken, "it left without an offer")),
            Ok(Err(closed)) => return Err(refusal(None, ErrorCode::LineTooLong, &closed.message)),
            Err(_) => return Err(refusal(None, ErrorCode::TimedOut, "no offer came")),
        };
        let (id, offer) = decode_offer(&first).map_err(|fault| {
            let is_other = fault.code == ErrorCode::UnknownCmd;
            let mut error = fault.into_message(1);
            if is_other {
                error.code = ErrorCode::HandshakeRequired;
                error.message = "a bot sends its `offer` first".to_owned();
            }
            error.fatal = true;
            error
        })?;
        if !self.takes_offer(by) {
            // Whoever dials again later is let in.
            let message = "too many offers came from this address: dial again in a while";
            return Err(refusal(Some(&id), ErrorCode::TooManyConnections, message));
        }
        let bot = self.admit(&id, offer, link, None, by).await?;
        lines.framing.set_limit(MAX_LINE);
        let alive = tokio::spawn(link.clone().keep_alive(self.settings.heartbeat));
        let why = self.listen_to(lines, bot, link, by).await;
        alive.abort();
        // Tables see the end before the roster does, and wait for the bot to come back.
        if let Ok(closed) = &why {
            link.close(closed.clone());
        }
        self.bots.leave(bot, link);
        why
    }

    /// Reads what the bot writes, until the connection has ended.
    async fn listen_to(
        self: &Arc<Self>,
        mut lines: Lines<'_, impl AsyncRead + Unpin>,
        bot: BotId,
        link: &Link,
        by: Option<IpAddr>,
    ) -> Result<Closed, ErrorMessage> {
        let offering = Arc::new(AtomicBool::new(false));
        let mut rate = Rate::new(self.settings.lines_a_second);
        loop {
            let next = tokio::select! {
                next = lines.next() => next,
                why = link.closed() => return Ok(why),
            };
            let (line, at) = match next {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(Closed::new(ClosedKind::Broken, "it closed the connection")),
                Err(closed) if closed.kind == ClosedKind::Garbled => {
                    return Err(fatal(ErrorCode::LineTooLong, &closed.message));
                }
                Err(closed) => return Ok(closed),
            };
            if !rate.allows(at) {
                let message = format!("more than {} lines in a second", self.settings.lines_a_second);
                return Err(fatal(ErrorCode::TooManyRequests, &message));
            }
            let (line, heard) = self.parse(line).await;
            match heard {
                Line::PlayerMessage(said) => {
                    let is_awaited = link
                        .hear(said, at, &line)
                        .map_err(|closed| fatal(ErrorCode::BadJson, &closed.message))?;
                    // The ladder paces its own questions: a bot that plays many quick games is no flood.
                    if is_awaited {
                        rate.forget_one();
                    }
                }
                Line::Request => self.request(&line, bot, link, by, &offering).await,
                Line::Garbled => return Err(fatal(ErrorCode::BadJson, &garbled(&line).message)),
            }
        }
    }

    /// What a line is.
    async fn parse(&self, line: Vec<u8>) -> (Vec<u8>, Line) {
        if line.len() <= LONG_LINE {
            let heard = Line::of(&line);
            return (line, heard);
        }
        let _turn = self.parsing.acquire().await;
        let parsed = spawn_blocking(move || {
            let heard = Line::of(&line);
            (line, heard)
        });
        // A panic was reported when it happened.
        parsed.await.unwrap_or((Vec::new(), Line::Garbled))
    }

    /// Answers a request: a further offer, which is judged in a task of its own, so that no answer is stamped
    /// late by it. One is judged at a time.
    async fn request(
        self: &Arc<Self>,
        line: &[u8],
        bot: BotId,
        link: &Link,
        by: Option<IpAddr>,
        offering: &Arc<AtomicBool>,
    ) {
        let (id, offer) = match decode_offer(line) {
            Ok(offer) => offer,
            Err(fault) => return link.say(line::error(fault.into_message(0))).await,
        };
        let too_many = |message: &str| {
            line::error(ErrorMessage::new(Some(id.clone()), 0, ErrorCode::TooManyRequests, message))
        };
        if !self.takes_offer(by) {
            return link.say(too_many("too many offers came from this address: wait for a while")).await;
        }
        if offering.swap(true, Ordering::Relaxed) {
            return link.say(too_many("the offer before is not answered yet")).await;
        }
        let (lobby, link, offering) = (Arc::clone(self), link.clone(), Arc::clone(offering));
        tokio::spawn(async move {
            if let Err(error) = lobby.admit(&id, offer, &link, Some(bot), by).await {
                let message = error.message.clone();
                link.end(line::error(error), Closed::new(ClosedKind::Forbidden, message));
            }
            offering.store(false, Ordering::Relaxed);
        });
    }

    /// Lets a bot in if it may, and answers its offer; `known` is who it was before.
    ///
    /// # Errors
    /// Why it may not.
    async fn admit(
        &self,
        id: &str,
        offer: Offer,
        link: &Link,
        known: Option<BotId>,
        by: Option<IpAddr>,
    ) -> Result<BotId, ErrorMessage> {
        let refuse = |code, message: &str| refusal(Some(id), code, message);
        if !(offer.protocol.min..=offer.protocol.max).contains(&VERSION) {
            let message = format!("this ladder speaks version {VERSION} of the protocol");
            return Err(refuse(ErrorCode::VersionUnsupported, &message));
        }
        let admitted = self
            .authenticator
            .admit(&offer, by)
            .await
            .map_err(|refusal| refuse(refusal.code, &refusal.message))?;
        let Admitted { bot, name, most_games } = admitted;
        if known.is_some_and(|known| known != bot) {
            return Err(refuse(ErrorCode::Forbidden, "the token is another bot's"));
        }
        let concurrency = offer.concurrency.min(most_games);
        let games = self.bots.join(bot, link, offer, concurrency);
        let heartbeat_ms = whole_ms(self.settings.heartbeat);
        let result = OfferResult { bot: name, concurrency, games, heartbeat_ms };
        link.say(line::taken(id, &result)).await;
        Ok(bot)
    }

    /// Whether one more offer of that address is taken. Each is looked up in the database.
    fn takes_offer(&self, by: Option<IpAddr>) -> bool {
        by.is_none() || self.offers.take(Peer::of(by), Instant::now())
    }

    /// A place for a connection, if there is one.
    fn place(self: &Arc<Self>, by: Option<IpAddr>) -> Option<Place<D>> {
        let of = by.map(network);
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let taken: usize = places.values().sum();
        let taken_by_it = places.get(&of).copied().unwrap_or_default();
        let is_crowded = of.is_some() && taken_by_it >= self.settings.connections_of_address;
        if taken >= self.settings.connections || is_crowded {
            return None;
        }
        *places.entry(of).or_default() += 1;
        Some(Place { lobby: Arc::clone(self), of })
    }
}

impl<D> Drop for Place<D> {
    fn drop(&mut self) {
        let mut places = self.lobby.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = places.get_mut(&self.of) {
            *taken -= 1;
            if *taken == 0 {
                places.remove(&self.of);
            }
        }
    }
}

/// An error after which the connection closes.
fn refusal(id: Option<&str>, code: ErrorCode, message: &str) -> ErrorMessage {
    let mut error = ErrorMessage::new(id.map(str::to_owned), 0, code, message);
    error.fatal = true;
    error
}

fn fatal(code: ErrorCode, message: &str) -> ErrorMessage {
    refusal(None, code, message)
}

/// A line of a bot.
enum Line {
    /// A message.
    PlayerMessage(PlayerMessage),
    /// A request, right or wrong.
    Request,
    /// Neither.
    Garbled,
}

impl Line {
    fn of(line: &[u8]) -> Self {
        match PlayerMessage::read(line) {
            Ok(said) => Self::PlayerMessage(said),
            Err(_) if is_request(line) => Self::Request,
            Err(_) => Self::Garbled,
        }
    }
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

/// The lines that a bot writes.
struct Lines<'s, S> {
    stream: &'s mut S,
    framing: Framing,
    chunk: Box<[u8]>,
    /// What of the chunk was read and not looked at.
    rest: std::ops::Range<usize>,
    /// When it was read.
    at: Instant,
    pace: Pace,
}

impl<'s, S: AsyncRead + Unpin> Lines<'s, S> {
    fn new(stream: &'s mut S, limit: usize, bytes_a_second: u32) -> Self {
        let chunk = vec![0; CHUNK].into_boxed_slice();
        let pace = Pace::new(bytes_a_second);
        Self { stream, framing: Framing::new(limit), chunk, rest: 0..0, at: Instant::now(), pace }
    }

    /// The next line, and when its end arrived; nothing at the end of the stream. What was read stays if this
    /// is dropped before it is done.
    ///
    /// # Errors
    /// The connection broke, or a line is too long.
    async fn next(&mut self) -> Result<Option<(Vec<u8>, Instant)>, Closed> {
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
struct Pace {
    a_second: f64,
    /// When all that was read would have been read at that rate.
    due: tokio::time::Instant,
}

impl Pace {
    fn new(bytes_a_second: u32) -> Self {
        Self { a_second: f64::from(bytes_a_second.max(1)), due: tokio::time::Instant::now() }
    }

    /// Counts what was read.
    fn spend(&mut self, bytes: usize) {
        let takes = Duration::from_secs_f64(bytes as f64 / self.a_second);
        self.due = self.due.max(tokio::time::Instant::now()) + takes;
    }

    /// Waits until more may be read.
    async fn wait(&self) {
        let early = self.due.saturating_duration_since(tokio::time::Instant::now());
        if let Some(wait) = early.checked_sub(BURST).filter(|wait| !wait.is_zero()) {
            sleep(wait).await;
        }
    }
}

/// Counts lines by the second.
struct Rate {
    most: u32,
    since: Option<Instant>,
    lines: u32,
}

impl Rate {
    fn new(most: u32) -> Self {
        Self { most, since: None, lines: 0 }
    }

    /// Whether one more line is allowed.
    fn allows(&mut self, at: Instant) -> bool {
        let begins =
            self.since.is_none_or(|since| at.saturating_duration_since(since) >= Duration::from_secs(1));
        if begins {
            (self.since, self.lines) = (Some(at), 0);
        }
        self.lines += 1;
        self.lines <= self.most
    }

    /// Leaves the last line out of the count.
    fn forget_one(&mut self) {
        self.lines = self.lines.saturating_sub(1);
    }
}
