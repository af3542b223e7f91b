//! The loop of the ladder: looks now and then what commands changed and who is free, and begins encounters.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plyd_core::zobrist::SplitMix64;
use plyd_protocol::{Offer, Seed};
use tokio::task::{JoinSet, spawn_blocking};

use super::pool::{Free, Meetings, OpenPool};
use super::tables::Tables;
use super::{Settings, players};
use crate::game::OpenGame;
use crate::now_ms;
use crate::pairing::Encounter;
use crate::play::Ready;
use crate::ratings::progress::Rated;
use crate::store::{Bot, NewEncounter, StoreError, StoreHandle};
use crate::{BotId, PoolId};

/// The tasks of the encounters.
pub(super) type Tasks = JoinSet<Result<(), StoreError>>;

/// What the loop knows.
pub(super) struct Rounds {
    tables: Tables,
    settings: Settings,
    random: SplitMix64,
    bots: HashMap<BotId, Bot>,
    houses: Vec<BotId>,
    pools: Vec<OpenPool>,
    /// What the audit log was at when bots and pools were read.
    revision: Option<u64>,
    /// Whether a game may be open that nobody plays: it was being begun when the database was lost.
    is_unsure: bool,
    /// Since when a bot has been ready, or when it was paired last.
    since: HashMap<BotId, Instant>,
    /// The offers whose bots were told why nothing comes of them.
    explained: HashMap<BotId, Arc<Offer>>,
}

impl Rounds {
    pub(super) fn new(tables: Tables, settings: Settings) -> Self {
        let random = SplitMix64::new(settings.seed);
        Self {
            tables,
            settings,
            random,
            bots: HashMap::new(),
            houses: Vec::new(),
            pools: Vec::new(),
            revision: None,
            is_unsure: false,
            since: HashMap::new(),
            explained: HashMap::new(),
        }
    }

    fn handle(&self) -> &StoreHandle {
        &self.tables.handle
    }

    /// Goes on with the games that have no end, before any bot can come.
    ///
    /// # Errors
    /// The database fails.
    pub(super) async fn resume(&mut self, tasks: &mut Tasks) -> Result<(), StoreError> {
        let open = self.handle().ask(|store| store.open_games()).await?;
        if !open.is_empty() {
            tracing::info!(target: super::LOG, games = open.len(), "games go on");
        }
        for game in open {
            self.tables.start(tasks, game, true);
        }
        self.refresh().await
    }

    /// A round.
    ///
    /// # Errors
    /// The database fails; one that was only lost is asked again in the next round.
    pub(super) async fn round(&mut self, tasks: &mut Tasks) -> Result<(), StoreError> {
        let done = self.look_and_pair(tasks).await;
        match done {
            Err(error) if error.is_lost() => {
                tracing::warn!(target: super::LOG, %error, "the database does not answer");
                self.is_unsure = true;
                Ok(())
            }
            done => done,
        }
    }

    async fn look_and_pair(&mut self, tasks: &mut Tasks) -> Result<(), StoreError> {
        if self.is_unsure {
            self.adopt(tasks).await?;
        }
        let revision = self.handle().ask(|store| store.revision()).await?;
        if self.revision != Some(revision) {
            self.refresh().await?;
        }
        self.pair(tasks).await?;
        self.explain();
        Ok(())
    }

    /// Tells bots that wait in vain why, once for each offer: their owners would see nothing happen.
    fn explain(&mut self) {
        let ready = self.tables.table.bots.ready();
        self.explained
            .retain(|bot, offer| find(&ready, *bot).is_some_and(|ready| Arc::ptr_eq(&ready.offer, offer)));
        for one in ready {
            let Some(bot) = self.bots.get(&one.bot) else { continue };
            let waited = self.since.get(&one.bot).map_or(Duration::ZERO, Instant::elapsed);
            let free = Free { bot, offer: Some(&one.offer), slots: one.slots, waited };
            let why = if !self.pools.iter().any(|pool| pool.takes(&free)) {
                let open: Vec<String> = self.pools.iter().map(OpenPool::name).collect();
                match &open[..] {
                    [] => "this ladder has no open pool".to_owned(),
                    open => format!("no open pool has what you offer; open are: {}", open.join(", ")),
                }
            } else if waited >= self.settings.alone_after && self.tables.playing().of(one.bot) == 0 {
                "nobody is there to play with: no bot of another owner and no house bot is free in your pools"
                    .to_owned()
            } else {
                continue;
            };
            if !self.explained.contains_key(&one.bot) && self.tables.table.bots.warn(one.bot, &why) {
                tracing::info!(target: super::LOG, bot = bot.name, why, "a bot waits in vain");
                self.explained.insert(one.bot, one.offer);
            }
        }
    }

    /// Goes on with games that are open and that nobody plays.
    async fn adopt(&mut self, tasks: &mut Tasks) -> Result<(), StoreError> {
        // What is played before the question may have ended by its answer.
        let before = self.tables.playing().encounters();
        let open = self.handle().ask(|store| store.open_games()).await?;
        for game in open {
            let id = game.id.encounter();
            if !before.contains(&id) && !self.tables.playing().encounters().contains(&id) {
                let players = game.players.each_ref().map(|player| player.bot);
                if let Some(open) = self.pools.iter_mut().find(|open| open.pool.id == game.pool) {
                    open.meet(players, &self.houses);
                }
                self.tables.start(tasks, game, true);
            }
        }
        self.is_unsure = false;
        Ok(())
    }

    /// Reads bots and pools, and does what commands want: bots that are disabled leave, games become void.
    async fn refresh(&mut self) -> Result<(), StoreError> {
        let (after, playing) = (self.revision, self.tables.playing().games());
        // Of those whoever meets is counted here.
        let known: Vec<PoolId> = self.pools.iter().map(|open| open.pool.id).collect();
        let read = self.handle().ask(move |store| {
            let revision = store.revision()?;
            let entries = match after {
                Some(after) => store.audit(after, revision.saturating_sub(after))?,
                None => Vec::new(),
            };
            let mut pools = Vec::new();
            for pool in store.pools()?.into_iter().filter(|pool| pool.closed_ms.is_none()) {
                // To count all encounters takes long once there are many.
                let met = if known.contains(&pool.id) { Vec::new() } else { store.met(pool.id)? };
                pools.push((pool, met));
            }
            let mut void = Vec::new();
            for id in playing {
                let game = store.game(id)?;
                if game.state == "void" {
                    void.push((id, game.void_why.unwrap_or_default()));
                }
            }
            Ok((revision, entries, store.bots()?, pools, void))
        });
        let (revision, entries, bots, pools, void) = read.await?;
        self.bots = bots.into_iter().map(|bot| (bot.id, bot)).collect();
        self.houses = self.bots.values().filter(|bot| bot.owner.is_none()).map(|bot| bot.id).collect();
        self.houses.sort();
        let mut kept: HashMap<PoolId, Arc<Meetings>> =
            self.pools.drain(..).map(|open| (open.pool.id, open.into_meetings())).collect();
        for (pool, met) in pools {
            let name = pool.name.clone();
            let meetings = kept.remove(&pool.id).unwrap_or_else(|| {
                let mut meetings = Meetings::default();
                met.into_iter().for_each(|met| meetings.add(met.players, met.encounters, &self.houses));
                Arc::new(meetings)
            });
            match OpenPool::new(self.tables.games, pool, meetings) {
                Ok(pool) => self.pools.push(pool),
                Err(why) => tracing::warn!(target: super::LOG, pool = name, why, "a pool is not played"),
            }
        }
        for bot in self.bots.values() {
            if let Some(disabled) = &bot.disabled {
                self.tables.table.bots.forbid(bot.id, &disabled.why);
            }
            let builds = &self.tables.builds;
            if let Some(house) = bot.house.as_ref()
                && !builds.values().any(|build| *build == house.version)
            {
                let pinned = &house.version;
                tracing::warn!(target: super::LOG, bot = bot.name, pinned, ?builds, "a house bot does not play");
            }
        }
        for entry in entries.iter().filter(|entry| entry.what == "bot token") {
            let bots = &self.tables.table.bots;
            let found = self.bots.values().find(|bot| bot.name.eq_ignore_ascii_case(&entry.about));
            let Some((bot, token)) = found.and_then(|bot| Some((bot.id, bots.token(bot.id)?))) else {
                continue;
            };
            // It may have come with the new one before this look.
            let shown = token.clone();
            let of = self.handle().ask(move |store| store.bot_with_token(&shown)).await?;
            if of.is_none_or(|of| of.id != bot) {
                bots.disconnect(bot, &token, "the bot has got a new token");
            }
        }
        for (game, why) in void {
            self.tables.playing().void(game, &why);
        }
        self.revision = Some(revision);
        Ok(())
    }

    /// Begins encounters between those who are free.
    async fn pair(&mut self, tasks: &mut Tasks) -> Result<(), StoreError> {
        let now = Instant::now();
        let ready = self.tables.table.bots.ready();
        self.since.retain(|bot, _| find(&ready, *bot).is_some());
        let mut slots: BTreeMap<BotId, u32> = BTreeMap::new();
        for one in &ready {
            self.since.entry(one.bot).or_insert(now);
            slots.insert(one.bot, one.slots);
        }
        if slots.is_empty() {
            return Ok(());
        }
        for house in self.houses.iter().filter(|house| self.bots[house].house.is_some()) {
            let playing = u32::try_from(self.tables.playing().of(*house)).unwrap_or(u32::MAX);
            slots.insert(*house, self.settings.house_games.saturating_sub(playing));
        }
        let mut ratings: HashMap<PoolId, BTreeMap<BotId, Rated>> = HashMap::new();
        // The pools take turns, an encounter for each bot, until nobody is left who may be paired.
        loop {
            let mut order: Vec<usize> = (0..self.pools.len()).collect();
            for at in (1..order.len()).rev() {
                order.swap(at, self.random.below(at + 1));
            }
            let mut has_begun = false;
            for at in order {
                // A full ladder draws no pairs: with many bots that takes long.
                if self.is_full() {
                    return Ok(());
                }
                let pool = self.pools[at].pool.id;
                if let std::collections::hash_map::Entry::Vacant(vacant) = ratings.entry(pool) {
                    vacant.insert(self.tables.handle.ask(move |store| store.ratings(pool)).await?);
                }
                for encounter in self.encounters(at, &ready, &slots, &ratings[&pool], now).await {
                    if self.is_full() {
                        return Ok(());
                    }
                    has_begun |= self.begin(at, encounter, tasks).await?;
                    for player in encounter.players {
                        self.since.insert(player, now);
                        if let Some(slots) = slots.get_mut(&player) {
                            *slots = slots.saturating_sub(1);
                        }
                    }
                }
            }
            if !has_begun {
                return Ok(());
            }
        }
    }

    /// Whether as many encounters are played as the ladder plays at once.
    fn is_full(&self) -> bool {
        self.tables.playing().count() >= self.settings.games
    }

    /// Who meets in a pool, an encounter for each bot at most.
    async fn encounters(
        &mut self,
        at: usize,
        ready: &[Ready],
        slots: &BTreeMap<BotId, u32>,
        ratings: &BTreeMap<BotId, Rated>,
        now: Instant,
    ) -> Vec<Encounter> {
        let pool = &self.pools[at];
        let build = self.tables.builds.get(&pool.pool.terms.game);
        let mut candidates = Vec::new();
        for (bot, slots) in slots {
            let Some(bot) = self.bots.get(bot).filter(|bot| bot.disabled.is_none()) else { continue };
            let offer = find(ready, bot.id).map(|ready| &*ready.offer);
            let is_there = match &bot.house {
                Some(house) => build == Some(&house.version),
                None => offer.is_some(),
            };
            if !is_there {
                continue;
            }
            let waited = self.since.get(&bot.id).map_or(Duration::ZERO, |since| now - *since);
            let free = Free { bot, offer, slots: *slots, waited };
            if pool.takes(&free) {
                let rated = ratings.get(&bot.id).copied().unwrap_or_else(Rated::newcomer);
                candidates.push(pool.candidate(&free, &rated));
            }
        }
        let (matchmaker, meetings, seed) = (self.settings.matchmaker, pool.meetings(), self.random.next());
        // Beside the thread that stamps answers: bots choose among all others.
        let paired = move || matchmaker.pair(&candidates, |players| meetings.of(players), seed);
        // A panic was reported when it happened.
        spawn_blocking(paired).await.unwrap_or_default()
    }

    /// Begins an encounter; says whether it did. A bot may have been disabled meanwhile.
    async fn begin(
        &mut self,
        at: usize,
        encounter: Encounter,
        tasks: &mut Tasks,
    ) -> Result<bool, StoreError> {
        let (games, seed) = (self.tables.games, Seed(encounter.seed));
        let (pool, terms) = (self.pools[at].pool.id, self.pools[at].pool.terms.clone());
        let drawn = spawn_blocking(move || players::draw(games, &terms, seed)).await;
        let opening = match drawn.unwrap_or_else(|error| Err(format!("the rules broke: {error}"))) {
            Ok(opening) => opening,
            Err(why) => {
                let pool = &self.pools[at].pool.name;
                tracing::error!(target: super::LOG, pool, why, "a pool has no opening");
                return Ok(false);
            }
        };
        let new = NewEncounter { pool, players: encounter.players, seed, opening };
        let begun = self.handle().ask(move |store| store.begin(&new, now_ms())).await;
        let game: OpenGame = match begun {
            Ok(game) => game,
            Err(StoreError::Refused(why)) => {
                tracing::debug!(target: super::LOG, why, "an encounter is not begun");
                return Ok(false);
            }
            // If it was begun all the same, it is found among the open games.
            Err(error) => return Err(error),
        };
        self.pools[at].meet(encounter.players, &self.houses);
        self.tables.start(tasks, game, false);
        Ok(true)
    }

    /// The bots that are there.
    pub(super) fn bots(&self) -> &Arc<crate::play::Bots> {
        &self.tables.table.bots
    }
}

/// A bot among those that take further games, which are in the order of their numbers.
fn find(ready: &[Ready], bot: BotId) -> Option<&Ready> {
    ready.binary_search_by_key(&bot, |ready| ready.bot).ok().map(|at| &ready[at])
}
