//! Who may come in: the bot whose token an offer shows, unless it is disabled.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plyd_core::engine::Entry;
use plyd_protocol::{ClientInfo, ErrorCode, Offer, echo};
use tokio::sync::Semaphore;

use crate::BotId;
use crate::now_ms;
use crate::play::{Admitted, Authenticator, Refusal};
use crate::store::{StoreError, StoreHandle};

/// The most characters of a version.
const LONGEST: usize = 100;

/// How many offers may wait for the database: one more is to come back later.
const WAITING: usize = 64;

/// Knows bots by their tokens. A copy is the same authenticator.
#[derive(Clone)]
pub(super) struct TokenAuthenticator {
    handle: StoreHandle,
    /// The games that the ladder knows.
    games: &'static [&'static Entry],
    most_games: u32,
    /// What those that came called themselves.
    versions: Arc<Mutex<HashMap<BotId, Option<String>>>>,
    /// Who may wait for the database.
    waiting: Arc<Semaphore>,
}

impl TokenAuthenticator {
    pub(super) fn new(handle: StoreHandle, games: &'static [&'static Entry], most_games: u32) -> Self {
        let waiting = Arc::new(Semaphore::new(WAITING));
        Self { handle, games, most_games, versions: Arc::default(), waiting }
    }

    /// Refuses a bot that plays none of the ladder's games: no pool can ever have what it offers.
    fn knows_a_game(&self, offer: &Offer) -> Result<(), Refusal> {
        let is_known = |name: &str| self.games.iter().any(|entry| entry.name == name);
        let Some(first) = offer.games.first() else { return Ok(()) };
        if offer.games.iter().any(|offered| is_known(&offered.game)) {
            return Ok(());
        }
        let names: Vec<&str> = self.games.iter().map(|entry| entry.name).collect();
        let message =
            format!("this ladder has no game `{}`; it has: {}", echo(&first.game), names.join(", "));
        Err(Refusal { code: ErrorCode::GameUnknown, message })
    }

    /// What a bot called itself, if it came since the ladder was started.
    pub(super) fn version(&self, bot: BotId) -> Option<Option<String>> {
        self.lock().get(&bot).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<BotId, Option<String>>> {
        self.versions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Authenticator for TokenAuthenticator {
    async fn admit(&self, offer: &Offer, by: Option<IpAddr>) -> Result<Admitted, Refusal> {
        let Ok(_place) = self.waiting.try_acquire() else {
            let message = "the ladder has too much to do: dial again in a while".to_owned();
            return Err(Refusal { code: ErrorCode::TooManyConnections, message });
        };
        let (token, version) = (offer.token.clone(), version(offer));
        let noted = version.clone();
        let found = self.handle.ask(move |store| {
            let found = store.bot_with_token(&token)?;
            if let (Some(bot), Some(version)) = (&found, &noted)
                && bot.disabled.is_none()
            {
                store.note_version(bot.id, version, now_ms())?;
            }
            Ok(found)
        });
        let bot = match found.await {
            Ok(Some(bot)) => bot,
            Ok(None) => {
                let message = "no bot of this ladder has this token: it may have got a new one".to_owned();
                return Err(Refusal { code: ErrorCode::AuthFailed, message });
            }
            Err(error) => return Err(unavailable(&error)),
        };
        if let Some(disabled) = bot.disabled {
            return Err(Refusal { code: ErrorCode::Forbidden, message: disabled.why });
        }
        self.knows_a_game(offer)?;
        self.lock().insert(bot.id, version);
        tracing::info!(target: super::LOG, bot = bot.name, by = by.map(tracing::field::display), "a bot came");
        Ok(Admitted { bot: bot.id, name: bot.name, most_games: self.most_games })
    }
}

/// What the ladder's own trouble is for a bot: a reason to come back later.
fn unavailable(error: &StoreError) -> Refusal {
    tracing::error!(target: super::LOG, %error, "a bot cannot be looked up");
    Refusal { code: ErrorCode::TooManyConnections, message: "the ladder's database does not answer".into() }
}

/// The name and version of what plays, or else of what dials.
fn version(offer: &Offer) -> Option<String> {
    let text = |client: &Option<ClientInfo>| {
        let client = client.as_ref()?;
        let words = [client.name.as_deref()?, client.version.as_deref().unwrap_or_default()];
        Some(words.join(" ").trim().chars().take(LONGEST).collect::<String>())
    };
    text(&offer.engine).or_else(|| text(&offer.client)).filter(|version| !version.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_that_of_the_engine_or_else_of_what_dials() {
        let client = |name: &str, version: Option<&str>| {
            Some(ClientInfo { name: Some(name.into()), version: version.map(Into::into) })
        };
        let nameless = Some(ClientInfo { name: None, version: Some("9".into()) });
        let long = "\u{1f600}".repeat(2 * LONGEST);
        for (engine, dials, expected) in [
            (client("kari", Some("2.1")), client("plyd connect", None), Some("kari 2.1".to_owned())),
            (nameless, client("plyd connect", None), Some("plyd connect".to_owned())),
            (client("  ", None), None, None),
            (None, None, None),
            (client(&long, None), None, Some("\u{1f600}".repeat(LONGEST))),
        ] {
            let offer = Offer { engine, client: dials, ..Offer::new() };
            assert_eq!(version(&offer), expected);
        }
    }
}
