//! A connection to a ladder: dialled, opened by an offer, and alive as long as lines come.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use plyd_protocol::{ErrorClass, ErrorCode, Offer, OfferResult, echo};
use rustix::fd::BorrowedFd;
use serde_json::{Value, json};

use super::LOOK;
use super::answer::Object;
use crate::client::{Address, LineError, Lines};

/// What the ids of offers begin with.
const OFFER: &str = "offer-";
/// How long a ladder may take to answer an offer.
const ANSWER: Duration = Duration::from_secs(20);
/// A ladder that is silent for so many of its heartbeats is gone.
const HEARTBEATS: u32 = 3;
/// The bounds of what is taken for a heartbeat.
const HEARTBEAT: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(300)];
/// How much a ladder may say before it answers an offer.
const MOST_EARLY: usize = 64;
/// How many lines are looked at for why it ended a connection.
const LAST_LINES: usize = 1000;
/// How long the ladder may leave unread what it is sent.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// Why there is no connection any more.
#[derive(Debug)]
pub(super) enum Gone {
    /// It broke, or the ladder cannot be reached; it may be dialled again, and not before so long.
    Broken(String, Option<Duration>),
    /// The ladder does not take this bot.
    Refused(String),
}

/// An open connection.
pub(super) struct Link {
    lines: Lines,
    /// What it said before it answered the first offer, such as a notice, until that is read.
    early: VecDeque<Object>,
    /// A ladder that is silent for so long is gone.
    silence: Duration,
    heard: Instant,
    /// How many offers were sent, and how many were answered.
    offers: u64,
    answers: u64,
    /// How many games at once the last one was of.
    concurrency: u32,
}

impl Link {
    /// Dials the ladder and offers the bot, which may leave meanwhile.
    ///
    /// # Errors
    /// The ladder is not there, or does not take the bot; or the bot has left.
    pub(super) fn open(
        address: &Address,
        offer: &Offer,
        has_left: impl Fn() -> bool,
    ) -> Result<(Self, OfferResult), Gone> {
        let lines = address.lines().map_err(|error| match &error {
            // This build, or a file of ours: dialling again mends neither.
            LineError::Connect(why)
                if matches!(why.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) =>
            {
                Gone::Refused(error.to_string())
            }
            _ => Gone::Broken(error.to_string(), None),
        })?;
        let mut link = Self {
            lines,
            early: VecDeque::new(),
            silence: ANSWER,
            heard: Instant::now(),
            offers: 0,
            answers: 0,
            concurrency: 0,
        };
        link.lines.set_write_timeout(WRITE_TIMEOUT);
        link.offer(offer)?;
        let end = Instant::now() + ANSWER;
        loop {
            let Some(message) = link.read(end.min(Instant::now() + LOOK))? else {
                match Instant::now() >= end {
                    true => return Err(Gone::Broken("it answers no offer".into(), None)),
                    false if has_left() => return Err(Gone::Broken("the bot has left".into(), None)),
                    false => continue,
                }
            };
            if !link.is_answered() {
                link.early.push_back(message);
                if link.early.len() > MOST_EARLY {
                    let why = format!("it said more than {MOST_EARLY} lines, and answered no offer");
                    return Err(Gone::Broken(why, None));
                }
                continue;
            }
            let taken: OfferResult = serde_json::from_value(Value::Object(message))
                .map_err(|error| Gone::Refused(format!("this is no ladder: its answer has {error}")))?;
            let heartbeat = Duration::from_millis(taken.heartbeat_ms);
            link.silence = heartbeat.clamp(HEARTBEAT[0], HEARTBEAT[1]) * HEARTBEATS;
            return Ok((link, taken));
        }
    }

    /// Whether the last offer was answered.
    pub(super) fn is_answered(&self) -> bool {
        self.answers == self.offers
    }

    /// Whether further games may begin: until the ladder has answered an offer of none.
    pub(super) fn takes_more(&self) -> bool {
        self.concurrency > 0 || !self.is_answered()
    }

    /// Sends an offer.
    pub(super) fn offer(&mut self, offer: &Offer) -> Result<(), Gone> {
        self.offers += 1;
        self.concurrency = offer.concurrency;
        let id = format!("{OFFER}{}", self.offers);
        let Ok(Value::Object(mut request)) = serde_json::to_value(offer) else {
            return Err(Gone::Refused("the offer cannot be written".into()));
        };
        request.insert("id".into(), json!(id));
        request.insert("cmd".into(), json!("offer"));
        self.send(&request)
    }

    /// Sends a line.
    pub(super) fn send(&mut self, line: &Object) -> Result<(), Gone> {
        let line = serde_json::to_vec(line).map_err(|error| Gone::Refused(error.to_string()))?;
        match self.lines.send(&line) {
            Ok(_) => Ok(()),
            // What it said last says more than that it is gone.
            Err(error) => Err(self.last_words().unwrap_or_else(|| broken(&error))),
        }
    }

    /// The next line of the ladder that has come, if there is one.
    ///
    /// # Errors
    /// There is no connection any more, or the ladder is silent for too long.
    pub(super) fn next(&mut self) -> Result<Option<Object>, Gone> {
        if let Some(early) = self.early.pop_front() {
            return Ok(Some(early));
        }
        match self.read(Instant::now())? {
            None if self.heard.elapsed() > self.silence => {
                Err(Gone::Broken(format!("it said nothing for {:?}", self.silence), None))
            }
            message => Ok(message),
        }
    }

    /// Where its lines come from.
    pub(super) fn input(&self) -> BorrowedFd<'_> {
        self.lines.input()
    }

    /// The next line; none at the deadline.
    fn read(&mut self, deadline: Instant) -> Result<Option<Object>, Gone> {
        let line = match self.lines.next(deadline) {
            Ok(line) => line,
            Err(LineError::TimedOut) => return Ok(None),
            Err(error) => return Err(broken(&error)),
        };
        self.heard = line.at;
        let Ok(Value::Object(message)) = serde_json::from_slice(&line.bytes) else {
            let line = echo(&String::from_utf8_lossy(&line.bytes));
            if line.starts_with("HTTP/") {
                return Err(Gone::Refused("these are its pages: give ws:// or wss:// instead".to_owned()));
            }
            return Err(match self.has_joined() {
                true => Gone::Broken(format!("it wrote `{line}`"), None),
                false => Gone::Refused(format!("this is no ladder: it wrote `{line}`")),
            });
        };
        if message.get("type").is_some_and(|kind| kind == "result")
            && message.get("id") == Some(&json!(format!("{OFFER}{}", self.offers)))
        {
            self.answers = self.offers;
        }
        farewell(&message, self.has_joined()).map_or(Ok(Some(message)), Err)
    }

    /// Whether the ladder has taken the bot.
    fn has_joined(&self) -> bool {
        self.answers > 0
    }

    /// What the ladder said before it closed the connection.
    fn last_words(&mut self) -> Option<Gone> {
        // It may write without end.
        for _ in 0..LAST_LINES {
            let line = self.lines.next(Instant::now()).ok()?;
            let message = serde_json::from_slice(&line.bytes).unwrap_or_default();
            if let Some(gone) = farewell(&message, self.has_joined()) {
                return Some(gone);
            }
        }
        None
    }
}

fn broken(error: &LineError) -> Gone {
    Gone::Broken(error.to_string(), None)
}

/// Whether a message is the last one of the connection: a notice that the ladder goes away, a fatal error, or
/// any error about the offer with which the bot wants to join. Once it has joined, only what takes its right
/// away keeps it from coming back.
fn farewell(message: &Object, has_joined: bool) -> Option<Gone> {
    let text = |field| message.get(field).and_then(Value::as_str).unwrap_or_default();
    let retry = message.get("retry_ms").and_then(Value::as_u64).map(Duration::from_millis);
    match text("type") {
        "notice" if text("kind") == "going_away" => {
            Some(Gone::Broken(format!("it goes away: {}", text("message")), retry))
        }
        "error" => {
            let is_fatal = message.get("fatal") == Some(&Value::Bool(true));
            if !is_fatal && (has_joined || !text("id").starts_with(OFFER)) {
                return None;
            }
            // A code that this build does not know is for people to look at.
            let may_return = match ErrorCode::named(text("code")) {
                Some(ErrorCode::AuthFailed | ErrorCode::AuthRequired | ErrorCode::Forbidden) => false,
                Some(ErrorCode::TooManyConnections | ErrorCode::Disconnected) => true,
                Some(code) if matches!(code.class(), ErrorClass::Resources | ErrorClass::Internal) => true,
                _ => has_joined,
            };
            let why = format!("{} ({})", text("message"), text("code"));
            Some(if may_return { Gone::Broken(why, retry) } else { Gone::Refused(why) })
        }
        _ => None,
    }
}

/// Whether an address is one that tokens may be sent to as they are: encrypted, or on this machine.
pub(in crate::cli) fn is_safe(address: &Address) -> bool {
    match address {
        Address::Tcp(at) | Address::WebSocket(at) => {
            let host = at.rsplit_once(':').map_or(at.as_str(), |(host, _)| host);
            let host = host.trim_start_matches('[').trim_end_matches(']');
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|host| host.is_loopback())
        }
        Address::Tls(_) | Address::SecureWebSocket(_) | Address::Unix(_) | Address::Program(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_go_to_this_machine_or_encrypted() {
        for (address, expected) in [
            ("tcp=127.0.0.1:80", true),
            ("ws=localhost:80", true),
            ("ws://[::1]:80", true),
            ("tls=ladder.example:443", true),
            ("wss://ladder.example:443/ws", true),
            ("unix=/run/ladder", true),
            ("tcp=192.0.2.1:80", false),
            ("ws://ladder.example:80", false),
            ("tcp=localhost.example:80", false),
        ] {
            assert_eq!(is_safe(&Address::read(address).unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn only_what_cannot_change_by_itself_ends_the_attempts() {
        let gone = |text: &str, has_joined| {
            let Value::Object(message) = serde_json::from_str(text).unwrap() else { unreachable!() };
            farewell(&message, has_joined).map(|gone| matches!(gone, Gone::Refused(_)))
        };
        // Whether it is refused before it has joined, and afterwards.
        for (text, [before, after]) in [
            (r#"{"type":"error","id":"offer-1","code":"auth_failed","message":"m"}"#, [Some(true), None]),
            (r#"{"type":"error","code":"auth_failed","message":"m","fatal":true}"#, [Some(true); 2]),
            (r#"{"type":"error","code":"forbidden","message":"m","fatal":true}"#, [Some(true); 2]),
            (r#"{"type":"error","code":"some_day","message":"m","fatal":true}"#, [Some(true), Some(false)]),
            (
                r#"{"type":"error","code":"line_too_long","message":"m","fatal":true}"#,
                [Some(true), Some(false)],
            ),
            (
                r#"{"type":"error","id":"offer-1","code":"too_many_connections","message":"m"}"#,
                [Some(false), None],
            ),
            (r#"{"type":"error","id":"offer-1","code":"shutting_down","message":"m"}"#, [Some(false), None]),
            (r#"{"type":"error","code":"disconnected","message":"m","fatal":true}"#, [Some(false); 2]),
            (r#"{"type":"notice","kind":"going_away","message":"m"}"#, [Some(false); 2]),
            (r#"{"type":"notice","kind":"warning","message":"m"}"#, [None; 2]),
            (r#"{"type":"error","id":"7","code":"internal","message":"m","fatal":false}"#, [None; 2]),
            (r#"{"type":"result","id":"offer-1"}"#, [None; 2]),
        ] {
            assert_eq!([gone(text, false), gone(text, true)], [before, after], "{text}");
        }
    }
}
