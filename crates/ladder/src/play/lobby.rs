//! Where bots dial in: each connection begins with an offer, and ends when the bot or the ladder wants it to.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plyd_protocol::{DecodeError, ErrorCode, ErrorMessage, MAX_LINE, Offer, OfferResult, VERSION};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, split};
use tokio::time::timeout;

use super::admission::{Admitted, Authenticator, Refusal};
use super::bots::Bots;
use super::input::{CHUNK, Line, Lines, OFFER, Parser, Rate, read_offer};
use super::line;
use super::link::{Closed, ClosedKind, Link, garbled};
use crate::BotId;
use crate::rates::{Peer, Places, Rates};
use crate::terms::whole_ms;

/// How long a bot whose connection has ended may go on writing.
const LINGER: Duration = Duration::from_secs(1);

/// How much of that is read, of which as much may be on its way as a line is long.
const REST: usize = 2 * MAX_LINE;

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
    places: Arc<Places>,
    /// How often offers come, by address.
    offers: Rates,
    parser: Parser,
}

impl<D: Authenticator> Lobby<D> {
    /// A lobby with nobody in it.
    #[must_use]
    pub fn new(authenticator: D, settings: Settings) -> Arc<Self> {
        let places = Places::new(settings.connections, settings.connections_of_address);
        let offers = Rates::new(settings.offers_at_once, settings.offers_a_second);
        let (bots, parser) = (Arc::default(), Parser::default());
        Arc::new(Self { authenticator, settings, bots, places, offers, parser })
    }

    /// Who is there.
    #[must_use]
    pub fn bots(&self) -> &Arc<Bots> {
        &self.bots
    }

    /// How fast the frames of a bot's WebSocket are read: more than its lines take that way.
    pub(crate) fn frame_bytes_a_second(&self) -> u32 {
        self.settings.bytes_a_second.saturating_mul(2)
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
        let place = self.places.take(Peer::of(by));
        let why = match &place {
            Some(_) => Arc::clone(&self).visit(&mut input, &link, by).await,
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
        // Whoever floods it need not read that.
        let unread = async {
            let (mut chunk, mut left) = (vec![0; CHUNK], if place.is_some() { REST } else { OFFER });
            while left > 0
                && let Ok(read @ 1..) = input.read(&mut chunk).await
            {
                left = left.saturating_sub(read);
            }
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
        let (id, offer) = read_offer(&first).map_err(|fault| {
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
        let bot = self.admit(&id, offer, link, None, by).await.map_err(|denied| denied.error)?;
        lines.set_limit(MAX_LINE);
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
            let (line, heard) = self.parser.parse(line).await;
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
                Line::Request(offer) => self.request(*offer, bot, link, by, &offering).await,
                Line::Garbled => return Err(fatal(ErrorCode::BadJson, &garbled(&line).message)),
            }
        }
    }

    /// Answers a request: a further offer, which is judged in a task of its own, so that no answer is stamped
    /// late by it. One is judged at a time.
    async fn request(
        self: &Arc<Self>,
        offer: Result<(String, Offer), DecodeError>,
        bot: BotId,
        link: &Link,
        by: Option<IpAddr>,
        offering: &Arc<AtomicBool>,
    ) {
        let (id, offer) = match offer {
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
            if let Err(Denied { error, kind }) = lobby.admit(&id, offer, &link, Some(bot), by).await {
                let message = error.message.clone();
                if error.code == ErrorCode::TooManyConnections {
                    // The ladder's own trouble: the offer before stands.
                    let code = ErrorCode::TooManyRequests;
                    link.say(line::error(ErrorMessage::new(Some(id), 0, code, message))).await;
                } else {
                    link.end(line::error(error), Closed::new(kind, message));
                }
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
    ) -> Result<BotId, Denied> {
        let deny = |kind, code, message: &str| Denied { error: refusal(Some(id), code, message), kind };
        if !(offer.protocol.min..=offer.protocol.max).contains(&VERSION) {
            let message = format!("this ladder speaks version {VERSION} of the protocol");
            return Err(deny(ClosedKind::Broken, ErrorCode::VersionUnsupported, &message));
        }
        let admitted = self.authenticator.admit(&offer, by).await.map_err(|Refusal { code, message }| {
            let is_disabled = code == ErrorCode::Forbidden;
            let kind = if is_disabled { ClosedKind::Forbidden } else { ClosedKind::Broken };
            deny(kind, code, &message)
        })?;
        let Admitted { bot, name, most_games } = admitted;
        if known.is_some_and(|known| known != bot) {
            return Err(deny(ClosedKind::Broken, ErrorCode::Forbidden, "the token is another bot's"));
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
        self.offers.take(Peer::of(by), Instant::now())
    }
}

/// Why an offer is not taken.
struct Denied {
    error: ErrorMessage,
    /// How the connection ends by it, if the bot was let in before: a bot may come back to its games unless
    /// it is disabled.
    kind: ClosedKind,
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
