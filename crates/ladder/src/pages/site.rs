//! What all requests share: the ladder's store for changes, another one for what is shown, and answers that
//! are given again for a while.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use plyd_core::engine::Entry;
use tokio::sync::Semaphore;

use super::model::{Crosstable, Standings, Tally};
use super::rates::{Peer, Place, Places, Rates};
use super::refusal::{Kind, Refusal};
use super::settings::Settings;
use super::worker::{Worker, give_way};
use crate::store::{Keeper, Store, StoreError};
use crate::{PoolId, SeasonId};

/// The most tables that are kept.
const TABLES: usize = 256;

/// What all requests share.
pub(super) struct Site {
    pub(super) settings: Settings,
    /// The games that can be drawn.
    pub(super) games: &'static [&'static Entry],
    /// The ladder's own store, for changes alone.
    keeper: Keeper,
    /// Another one on the same database, so that nobody who looks keeps a game waiting.
    reader: Keeper,
    /// Who may wait for the reader.
    waiting: Semaphore,
    /// Where tables and boards are made.
    worker: Worker,
    tables: Mutex<HashMap<Key, Kept>>,
    /// Who makes tables: others wait, and find them made.
    making: tokio::sync::Mutex<()>,
    rates: Rates,
    spectators: Arc<Places>,
}

/// Whose tables: a pool's, in a season or by all games.
type Key = (PoolId, Option<SeasonId>);

/// When tables were made, and they.
type Kept = (Instant, Arc<Tables>);

/// The tables of a pool.
pub(super) struct Tables {
    pub(super) standings: Standings,
    pub(super) crosstable: Crosstable,
    /// What they were made of.
    pub(super) tally: Tally,
}

impl Site {
    pub(super) fn new(
        settings: Settings,
        games: &'static [&'static Entry],
        keeper: Keeper,
        reader: Keeper,
    ) -> io::Result<Self> {
        let (limits, worker) = (settings.limits, Worker::new()?);
        Ok(Self {
            games,
            keeper,
            reader,
            waiting: Semaphore::new(limits.waiting),
            worker,
            tables: Mutex::default(),
            making: tokio::sync::Mutex::default(),
            rates: Rates::new(limits.burst, limits.requests_a_second),
            spectators: Places::new(limits.spectators, limits.spectators_of_address),
            settings,
        })
    }

    /// Reads from the store that nobody plays by.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let Ok(_place) = self.waiting.try_acquire() else { return Err(overloaded()) };
        let work = |store: &mut Store| {
            give_way();
            work(store)
        };
        Ok(self.reader.ask(work).await?)
    }

    /// Changes what the ladder keeps.
    pub(super) async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let Ok(_place) = self.waiting.try_acquire() else { return Err(overloaded()) };
        Ok(self.keeper.ask(work).await?)
    }

    /// Computes something beside the runtime, and behind the games.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let Ok(_place) = self.waiting.try_acquire() else { return Err(overloaded()) };
        self.worker.compute(work).await.ok_or_else(|| Refusal::new(Kind::Failed, "the ladder failed"))
    }

    /// The tables of a pool, if there is one.
    pub(super) async fn tables(
        &self,
        pool: PoolId,
        season: Option<SeasonId>,
    ) -> Result<Option<Arc<Tables>>, Refusal> {
        let key = (pool, season);
        let kept = || {
            let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
            let (made, tables) = tables.get(&key)?;
            (made.elapsed() < self.settings.fresh_for).then(|| Arc::clone(tables))
        };
        if let Some(tables) = kept() {
            return Ok(Some(tables));
        }
        let _making = self.making.lock().await;
        if let Some(tables) = kept() {
            return Ok(Some(tables));
        }
        let Some(tally) = self.read(move |store| Tally::read(store, pool, season)).await? else {
            return Ok(None);
        };
        let make = move || {
            let (standings, crosstable) = tally.tables();
            Tables { standings, crosstable, tally }
        };
        let made = Arc::new(self.compute(make).await?);
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if tables.len() >= TABLES {
            tables.clear();
        }
        tables.insert(key, (Instant::now(), Arc::clone(&made)));
        Ok(Some(made))
    }

    /// Whether a peer may ask once more.
    pub(super) fn admits(&self, peer: Peer) -> bool {
        self.rates.take(peer, Instant::now())
    }

    /// A place for a spectator.
    pub(super) fn spectator(&self, peer: Peer) -> Result<Place, Refusal> {
        self.spectators.take(peer).ok_or_else(|| {
            Refusal::new(Kind::TooManySpectators, "there are too many spectators: try again in a while")
        })
    }
}

fn overloaded() -> Refusal {
    Refusal::new(Kind::Overloaded, "the ladder has too much to do: try again in a second")
}
