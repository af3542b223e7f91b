//! What all requests share: the ladder's store for changes, another one for what is shown, and answers that
//! are given again for a while.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use plyd_core::engine::Entry;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::model::{Crosstable, Standings, Tally};
use super::refusal::{Kind, Refusal};
use super::settings::Settings;
use super::worker::{Desk, Worker, give_way};
use crate::rates::{Peer, Place, Places, Rates};
use crate::store::{Store, StoreError, StoreHandle};
use crate::{PoolId, SeasonId};

/// For how long the list of the games that are being played is given again.
const PLAYING_FOR: Duration = Duration::from_secs(1);

/// The most tables that are kept.
const TABLES: usize = 256;

/// What all requests share.
pub(super) struct Site {
    pub(super) settings: Settings,
    /// The games that can be drawn.
    pub(super) games: &'static [&'static Entry],
    /// The ladder's own store, for changes alone.
    handle: StoreHandle,
    /// Another one on the same database, so that nobody who looks keeps a game waiting.
    reader: StoreHandle,
    /// Who may ask the stores and the worker. Whoever comes first has the first turn.
    turns: Semaphore,
    /// Where requests are answered.
    desk: Desk,
    /// Where tables and boards are made.
    worker: Worker,
    tables: Mutex<HashMap<Key, Kept>>,
    /// The list of the games that are being played, as it is written out.
    playing: tokio::sync::Mutex<Option<(Instant, Bytes)>>,
    /// Who makes tables: others wait, and find them made.
    making: tokio::sync::Mutex<()>,
    rates: Rates,
    spectators: Arc<Places>,
}

/// Whose tables: a pool's, in a season or by all games.
type Key = (PoolId, Option<SeasonId>);

/// Tables that are given again for a while.
struct Kept {
    made: Instant,
    /// How long they are given again.
    for_: Duration,
    tables: Arc<Tables>,
}

/// Reading and making the tables of a pool takes one part in so many of the time, however large the pool is.
const SHARE: u32 = 20;

/// Tables are this old at most.
const OLDEST: Duration = Duration::from_secs(600);

/// How long tables are given again that took so long: more encounters take longer, and change them less.
fn kept_for(fresh_for: Duration, took: Duration) -> Duration {
    // Nothing is given again at all if that is wanted.
    if fresh_for.is_zero() { fresh_for } else { fresh_for.max((SHARE * took).min(OLDEST)) }
}

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
        handle: StoreHandle,
        reader: StoreHandle,
    ) -> io::Result<Self> {
        let (limits, desk, worker) = (settings.limits, Desk::new()?, Worker::new()?);
        Ok(Self {
            games,
            handle,
            reader,
            turns: Semaphore::new(limits.at_once),
            desk,
            worker,
            tables: Mutex::default(),
            playing: tokio::sync::Mutex::default(),
            making: tokio::sync::Mutex::default(),
            rates: Rates::new(limits.burst, limits.requests_a_second),
            spectators: Places::new(limits.spectators, limits.spectators_of_address),
            settings,
        })
    }

    /// Waits for a turn. Hundreds who come at the same instant are answered one after the other; how many
    /// may wait, the connections of browsers bound.
    pub(super) async fn turn(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        let turn = timeout(self.settings.limits.turn_within, self.turns.acquire()).await;
        turn.ok().and_then(Result::ok).ok_or_else(overloaded)
    }

    /// Reads from the store that nobody plays by.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let _turn = self.turn().await?;
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
        let _turn = self.turn().await?;
        Ok(self.handle.ask(work).await?)
    }

    /// Answers a request beside the thread of the games.
    pub(super) async fn answer<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.desk.answer(work).await.ok_or_else(failed)
    }

    /// Computes something beside the runtime, and behind the games.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let _turn = self.turn().await?;
        self.compute_at_once(work).await
    }

    /// The same for those who have their turn, or need none: the task that passes the news on computes one
    /// thing at a time, and all who watch wait for it.
    pub(super) async fn compute_at_once<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        self.worker.compute(work).await.ok_or_else(failed)
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
            let kept = tables.get(&key)?;
            (kept.made.elapsed() < kept.for_).then(|| Arc::clone(&kept.tables))
        };
        if let Some(tables) = kept() {
            return Ok(Some(tables));
        }
        let _making = self.making.lock().await;
        if let Some(tables) = kept() {
            return Ok(Some(tables));
        }
        let read = move |store: &mut Store| {
            let begun = Instant::now();
            Ok((Tally::read(store, pool, season)?, begun.elapsed()))
        };
        let (Some(tally), reading) = self.read(read).await? else { return Ok(None) };
        let make = move || {
            let begun = Instant::now();
            let (standings, crosstable) = tally.tables();
            (Tables { standings, crosstable, tally }, begun.elapsed())
        };
        let (made, making) = self.compute(make).await?;
        let made = Arc::new(made);
        let for_ = kept_for(self.settings.fresh_for, reading + making);
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if tables.len() >= TABLES {
            tables.clear();
        }
        tables.insert(key, Kept { made: Instant::now(), for_, tables: Arc::clone(&made) });
        Ok(Some(made))
    }

    /// The list of the games that are being played; all who follow it ask for it at once, and get the same
    /// one for a second.
    pub(super) async fn playing(
        &self,
        write: impl Future<Output = Result<Bytes, Refusal>>,
    ) -> Result<Bytes, Refusal> {
        let mut kept = self.playing.lock().await;
        if let Some((made, list)) = &*kept
            && made.elapsed() < PLAYING_FOR.min(self.settings.fresh_for)
        {
            return Ok(list.clone());
        }
        let list = write.await?;
        *kept = Some((Instant::now(), list.clone()));
        Ok(list)
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

fn failed() -> Refusal {
    Refusal::new(Kind::Failed, "the ladder failed")
}

fn overloaded() -> Refusal {
    Refusal::new(Kind::Overloaded, "the ladder has too much to do: try again in a second")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::TestPlace;

    #[test]
    fn tables_that_take_long_are_given_again_for_longer() {
        let ms = Duration::from_millis;
        for (fresh_for_ms, took_ms, expected_ms) in
            [(3000, 0, 3000), (3000, 150, 3000), (3000, 500, 10_000), (3000, 100_000, 600_000), (0, 500, 0)]
        {
            assert_eq!(kept_for(ms(fresh_for_ms), ms(took_ms)), ms(expected_ms), "{took_ms}");
        }
    }

    #[tokio::test]
    async fn the_list_of_games_that_are_played_is_written_once_for_all_who_ask() {
        let place = TestPlace::new();
        let handle = StoreHandle::new(Store::open(&place.database).unwrap()).unwrap();
        for (fresh_for, expected) in [(Duration::from_secs(3600), 2), (Duration::ZERO, 100)] {
            let settings = Settings { fresh_for, ..Settings::default() };
            let site = Site::new(settings, &[], handle.clone(), handle.clone()).unwrap();
            let mut written = 0;
            let begun = Instant::now();
            for number in 0..100_u8 {
                let list = site.playing(async {
                    written += 1;
                    Ok(vec![number].into())
                });
                list.await.unwrap();
            }
            // Once for each second that it takes.
            let most = if fresh_for.is_zero() { expected } else { expected + begun.elapsed().as_secs() };
            assert!((1..=most).contains(&written) && (written == 100) == fresh_for.is_zero(), "{written}");
        }
    }
}
