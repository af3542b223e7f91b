//! The encounters that are played: a task for each, from the first game to the end of the second one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plyd_core::engine::Entry;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinSet, spawn_blocking};

use super::authenticator::TokenAuthenticator;
use super::persistence::{FollowUps, persist};
use super::players;
use crate::game::OpenGame;
use crate::now_ms;
use crate::play::{Resumed, SeatGuard, Table, later};
use crate::store::{Bot, By, House, Store, StoreError, StoreHandle};
use crate::{BotId, EncounterId, GameId};

/// The tables. A copy is of the same tables.
#[derive(Clone)]
pub(super) struct Tables {
    pub(super) games: &'static [&'static Entry],
    pub(super) table: Table,
    pub(super) handle: StoreHandle,
    pub(super) authenticator: TokenAuthenticator,
    pub(super) follow_ups: FollowUps,
    /// The build of this plyd for each game, which house bots are pinned to.
    pub(super) builds: Arc<BTreeMap<String, String>>,
    /// How long to wait for bots of a game that goes on after a restart.
    pub(super) back_within: Duration,
    /// Raised when no further game shall begin.
    pub(super) stopping: watch::Receiver<bool>,
    pub(super) playing: Arc<Mutex<Playing>>,
}

/// What is played now.
#[derive(Default)]
pub(super) struct Playing {
    /// The encounters, with their bots.
    encounters: HashMap<EncounterId, [BotId; 2]>,
    /// The games, each with what makes it void.
    games: HashMap<GameId, oneshot::Sender<String>>,
}

impl Playing {
    pub(super) fn encounters(&self) -> HashSet<EncounterId> {
        self.encounters.keys().copied().collect()
    }

    pub(super) fn games(&self) -> Vec<GameId> {
        self.games.keys().copied().collect()
    }

    pub(super) fn count(&self) -> usize {
        self.encounters.len()
    }

    /// How many encounters of a bot there are.
    pub(super) fn of(&self, bot: BotId) -> usize {
        self.encounters.values().filter(|players| players.contains(&bot)).count()
    }

    /// Makes a game void.
    pub(super) fn void(&mut self, game: GameId, why: &str) {
        if let Some(void) = self.games.remove(&game) {
            let _just_over = void.send(why.to_owned());
        }
    }
}

impl Tables {
    pub(super) fn playing(&self) -> MutexGuard<'_, Playing> {
        self.playing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Plays an encounter from this game on in a task of its own. Its bots have their places when this
    /// returns.
    pub(super) fn start(&self, tasks: &mut JoinSet<Result<(), StoreError>>, game: OpenGame, resumed: bool) {
        let players = game.players.each_ref().map(|player| player.bot);
        self.playing().encounters.insert(game.id.encounter(), players);
        let places = players.map(|bot| self.table.bots.seat(bot, &game.id.name()));
        let tables = self.clone();
        tasks.spawn(async move {
            let id = game.id.encounter();
            let ended = tables.encounter(game, places, resumed).await;
            tables.playing().encounters.remove(&id);
            ended
        });
    }

    async fn encounter(
        &self,
        mut open: OpenGame,
        mut places: [SeatGuard; 2],
        resumed: bool,
    ) -> Result<(), StoreError> {
        // For both games: the first one may end before both bots are back.
        let back_by = resumed.then(|| later(Instant::now(), self.back_within));
        loop {
            let id = open.id;
            let game = match self.prepare(&open).await? {
                Ok((prepared, builds)) => {
                    let turns = open.turns.clone();
                    let resumed = back_by.map(|back_by| Resumed { turns, back_by });
                    players::game(&open, prepared, places, builds, resumed)
                }
                Err(why) => {
                    tracing::error!(target: super::LOG, game = id.0, why, "a game cannot be played");
                    let by = By { who: "ladder", at_ms: now_ms() };
                    let voided = persist(&self.handle, || {
                        let why = why.clone();
                        move |store| store.void_game(id, &why, &by).map(drop)
                    });
                    voided.await?;
                    self.table.call_off(id, &open.terms.game, places, &why).await;
                    return Ok(());
                }
            };
            let (void, voided) = oneshot::channel();
            // One may have said so since they were paired. The second game belongs to what was begun: a bot
            // that could leave before it would play only the better side of an opening.
            let is_begun = resumed || id.is_second();
            let leaves = || open.players.iter().find(|player| self.table.bots.is_leaving(player.bot));
            match leaves().filter(|_| !is_begun) {
                Some(player) => drop(void.send(format!("{} left before this game", player.name))),
                None => drop(self.playing().games.insert(id, void)),
            }
            // A command may have made it void while it was prepared, and nobody could say so here.
            let kept = persist(&self.handle, || move |store: &mut Store| store.game(id)).await?;
            if kept.state == "void" {
                self.playing().void(id, &kept.void_why.unwrap_or_default());
            }
            let played = self.table.play(crate::play::Game { voided: Some(voided), ..game }).await;
            self.playing().games.remove(&id);
            if played.is_err() {
                // The ladder stops: the game goes on at the next start.
                return Ok(());
            }
            let follow_up = self.follow_ups.take(id);
            if let Some((bot, why)) = follow_up.disabled {
                self.table.bots.forbid(bot, &why);
            }
            match follow_up.next {
                Some(next) if !*self.stopping.borrow() => (open, places) = next,
                _ => return Ok(()),
            }
        }
    }

    /// A game with its opening and its house players, and the builds of its players; or why there is none.
    #[allow(clippy::type_complexity, reason = "it is taken apart at once")]
    async fn prepare(
        &self,
        open: &OpenGame,
    ) -> Result<Result<(players::Prepared, [Option<String>; 2]), String>, StoreError> {
        let ids = open.players.each_ref().map(|player| player.bot);
        let known = persist(&self.handle, || {
            move |store: &mut Store| {
                let known = |id, store: &mut Store| {
                    // What it was called last, if it has not come back yet.
                    let version = store.versions(id)?.into_iter().next().map(|latest| latest.version);
                    Ok::<_, StoreError>((store.bot(id)?, version))
                };
                Ok([known(ids[0], store)?, known(ids[1], store)?])
            }
        });
        let known: [(Bot, Option<String>); 2] = known.await?;
        let builds = known.each_ref().map(|(bot, latest)| match &bot.house {
            Some(house) => Some(house.version.clone()),
            None => self.authenticator.version(bot.id).unwrap_or_else(|| latest.clone()),
        });
        let houses: [Option<House>; 2] = known.map(|(bot, _)| bot.house);
        let build = self.builds.get(&open.terms.game);
        if let Some(house) = houses.iter().flatten().find(|house| Some(&house.version) != build) {
            let build = build.map_or("another plyd", String::as_str);
            return Ok(Err(format!("its house bot is pinned to {}, and this is {build}", house.version)));
        }
        let (games, open) = (self.games, open.clone());
        let prepared =
            spawn_blocking(move || players::prepare(games, &open, [houses[0].as_ref(), houses[1].as_ref()]));
        let prepared = prepared.await.unwrap_or_else(|error| Err(format!("the rules broke: {error}")));
        Ok(prepared.map(|prepared| (prepared, builds)))
    }
}
