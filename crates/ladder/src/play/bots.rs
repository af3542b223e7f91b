//! Which bots are there, what each offers, and which games it plays. A bot's games outlive its connection:
//! one that breaks is to come back to them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plyd_protocol::{Clock, ErrorCode, ErrorMessage, Offer};
use tokio::sync::watch;

use super::link::{Closed, ClosedKind, Link};
use crate::BotId;

/// The bots that are connected, or play.
#[derive(Debug, Default)]
pub struct Bots {
    known: Mutex<BTreeMap<BotId, Known>>,
    /// Counts what changes, for those who wait for a bot.
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Known {
    here: Option<Here>,
    /// The names of its games.
    games: BTreeSet<String>,
    /// Why it may not come back to them, if it may not.
    forbidden: Option<String>,
    /// Whether its last offer was that no further game begins, whether it is still there or not.
    is_leaving: bool,
    /// Whether it was there since it has its games, whether it still is or not.
    has_come: bool,
}

/// A bot that is connected.
#[derive(Debug)]
struct Here {
    link: Link,
    offer: Arc<Offer>,
    /// The most games at once, as the ladder applies it.
    concurrency: u32,
}

/// A bot that takes further games.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The bot.
    pub bot: BotId,
    /// What it offers.
    pub offer: Arc<Offer>,
    /// How many games more it takes now.
    pub slots: u32,
}

/// A bot's place in a game, which is free again once this is dropped.
#[derive(Debug)]
pub struct SeatGuard {
    bots: Arc<Bots>,
    bot: BotId,
    game: String,
}

impl Bots {
    /// A bot has come, or offers something else. Another connection of it is ended: it dials again if that
    /// broke, which the ladder may not have seen. Gives the games that it plays.
    pub(super) fn join(&self, bot: BotId, link: &Link, offer: Offer, concurrency: u32) -> Vec<String> {
        let mut bots = self.lock();
        let known = bots.entry(bot).or_default();
        known.forbidden = None;
        known.is_leaving = concurrency == 0;
        known.has_come = true;
        let before = known.here.replace(Here { link: link.clone(), offer: Arc::new(offer), concurrency });
        let games = known.games.iter().cloned().collect();
        drop(bots);
        if let Some(before) = before.filter(|before| !before.link.is(link)) {
            let message = "another program came with the token of this bot and plays on in its place: run one of the two";
            // For good: two programs that both dial again would take the games from each other for ever.
            let mut error = ErrorMessage::new(None, 0, ErrorCode::Forbidden, message);
            error.fatal = true;
            before.link.end(super::line::error(error), Closed::new(ClosedKind::Replaced, message));
        }
        self.changed();
        games
    }

    /// A connection has ended. Nothing changes if the bot has another one by now.
    pub(super) fn leave(&self, bot: BotId, link: &Link) {
        let mut bots = self.lock();
        if let Some(known) = bots.get_mut(&bot)
            && known.here.as_ref().is_some_and(|here| here.link.is(link))
        {
            known.here = None;
            if known.games.is_empty() {
                bots.remove(&bot);
            }
        }
        drop(bots);
        self.changed();
    }

    /// The bots that take further games, by their numbers.
    #[must_use]
    pub fn ready(&self) -> Vec<Ready> {
        let bots = self.lock();
        let ready = bots.iter().filter_map(|(bot, known)| {
            let here = known.here.as_ref().filter(|here| here.link.is_open())?;
            let playing = u32::try_from(known.games.len()).unwrap_or(u32::MAX);
            let slots = here.concurrency.saturating_sub(playing);
            (slots > 0).then(|| Ready { bot: *bot, offer: Arc::clone(&here.offer), slots })
        });
        ready.collect()
    }

    /// Whether a bot wants no further game: it leaves after its games, or did so.
    #[must_use]
    pub fn is_leaving(&self, bot: BotId) -> bool {
        self.lock().get(&bot).is_some_and(|known| known.is_leaving)
    }

    /// Whether a bot was there since it has the games that it plays.
    #[must_use]
    pub fn has_come(&self, bot: BotId) -> bool {
        self.lock().get(&bot).is_some_and(|known| known.has_come)
    }

    /// Whether a bot has a place in a game.
    #[must_use]
    pub fn plays(&self, bot: BotId, game: &str) -> bool {
        self.lock().get(&bot).is_some_and(|known| known.games.contains(game))
    }

    /// Gives a bot a place in a game, whether it is connected or not.
    #[must_use]
    pub fn seat(self: &Arc<Self>, bot: BotId, game: &str) -> SeatGuard {
        self.lock().entry(bot).or_default().games.insert(game.to_owned());
        SeatGuard { bots: Arc::clone(self), bot, game: game.to_owned() }
    }

    /// A bot's connection, and whether it wants the legal moves; nothing while it is away.
    ///
    /// # Errors
    /// Why the bot may not come back.
    pub fn find(&self, bot: BotId) -> Result<Option<(Link, bool)>, String> {
        let bots = self.lock();
        let Some(known) = bots.get(&bot) else { return Ok(None) };
        if let Some(why) = &known.forbidden {
            return Err(why.clone());
        }
        let here = known.here.as_ref().filter(|here| here.link.is_open());
        Ok(here.map(|here| (here.link.clone(), here.offer.legal)))
    }

    /// Waits until a bot is there.
    ///
    /// # Errors
    /// Why the bot may not come back.
    pub async fn wait(&self, bot: BotId) -> Result<(Link, bool), String> {
        let mut changes = self.changes.subscribe();
        loop {
            if let Some(found) = self.find(bot)? {
                return Ok(found);
            }
            // The sender lives as long as this.
            let _never = changes.changed().await;
        }
    }

    /// Counts the changes: a bot came, left, offered something else, or ended a game.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Lets a bot's owner know something; says whether the bot is there.
    pub fn warn(&self, bot: BotId, message: &str) -> bool {
        let link = self.lock().get(&bot).and_then(|known| Some(known.here.as_ref()?.link.clone()));
        link.is_some_and(|link| link.mention(super::line::warning(message)))
    }

    /// Ends a bot's connection, because it is disabled; it loses its games.
    pub fn forbid(&self, bot: BotId, why: &str) {
        let mut bots = self.lock();
        let Some(known) = bots.get_mut(&bot) else { return };
        known.forbidden = Some(why.to_owned());
        let link = known.here.as_ref().map(|here| here.link.clone());
        drop(bots);
        if let Some(link) = link {
            let mut error = ErrorMessage::new(None, 0, ErrorCode::Forbidden, why);
            error.fatal = true;
            link.end(super::line::error(error), Closed::new(ClosedKind::Forbidden, why));
        }
        self.changed();
    }

    /// The token with which a bot is there; none while it is away.
    pub(crate) fn token(&self, bot: BotId) -> Option<String> {
        self.lock().get(&bot).and_then(|known| Some(known.here.as_ref()?.offer.token.clone()))
    }

    /// Ends a bot's connection if it came with this token, which no longer works. It may come back to its
    /// games with another one.
    pub fn disconnect(&self, bot: BotId, token: &str, why: &str) {
        let bots = self.lock();
        let here = bots.get(&bot).and_then(|known| known.here.as_ref());
        let link = here.filter(|here| here.offer.token == token).map(|here| here.link.clone());
        drop(bots);
        if let Some(link) = link {
            let error = ErrorMessage::new(None, 0, ErrorCode::Disconnected, why);
            link.end(super::line::error(error), Closed::new(ClosedKind::Broken, why));
        }
    }

    /// Takes leave of all bots: they may dial again after a time.
    pub fn farewell(&self, message: &str, retry_ms: u64) {
        let links: Vec<Link> =
            self.lock().values().filter_map(|known| Some(known.here.as_ref()?.link.clone())).collect();
        for link in links {
            let line = super::line::going_away(message, retry_ms);
            link.end(line, Closed::new(ClosedKind::Stopped, message));
        }
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<BotId, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SeatGuard {
    /// The bot.
    #[must_use]
    pub fn bot(&self) -> BotId {
        self.bot
    }
}

impl Drop for SeatGuard {
    fn drop(&mut self) {
        let mut bots = self.bots.lock();
        if let Some(known) = bots.get_mut(&self.bot) {
            known.games.remove(&self.game);
            if known.games.is_empty() && known.here.is_none() {
                bots.remove(&self.bot);
            }
        }
        drop(bots);
        self.bots.changed();
    }
}

/// Whether an offer has room for a game: its preset, if it has one, and its clock as the first `go` has it,
/// without the opponent's.
///
/// ```
/// use plyd_ladder::play::offers;
/// use plyd_protocol::{Clock, Offer, OfferedGame};
///
/// let games = vec![OfferedGame { game: "isolation".into(), presets: vec!["7x7".into()] }];
/// let offer = Offer { games, clocks: vec![Clock::PerMove { ms: 100 }], ..Offer::new() };
/// assert!(offers(&offer, "isolation", Some("7x7"), Some(&Clock::PerMove { ms: 100 })));
/// assert!(!offers(&offer, "isolation", Some("11x9"), Some(&Clock::PerMove { ms: 100 })));
/// assert!(!offers(&offer, "isolation", Some("7x7"), Some(&Clock::PerMove { ms: 50 })));
/// assert!(offers(&Offer::new(), "isolation", None, None));
/// ```
#[must_use]
pub fn offers(offer: &Offer, game: &str, preset: Option<&str>, clock: Option<&Clock>) -> bool {
    let has_preset = |presets: &[String]| {
        presets.is_empty() || preset.is_some_and(|preset| presets.iter().any(|offered| offered == preset))
    };
    let plays = offer.games.is_empty()
        || offer.games.iter().any(|offered| offered.game == game && has_preset(&offered.presets));
    let in_time =
        offer.clocks.is_empty() || clock.is_some_and(|clock| offer.clocks.iter().any(|own| own == clock));
    plays && in_time
}
