//! Keeps what happens at the tables, and what follows from the end of a game.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::game::{GameEnd, OpenGame, Turn};
use crate::now_ms;
use crate::play::{Bots, Event, SeatGuard};
use crate::store::{Ended, Store, StoreError, StoreHandle};
use crate::{BotId, GameId};

/// How many events are taken at once: their turns are kept in one transaction.
const AT_ONCE: usize = 256;

/// How long to wait before a database that was lost is asked again: at first, and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// What follows from the ends of games, until the table's task takes it.
#[derive(Clone, Default)]
pub(super) struct FollowUps(Arc<Mutex<HashMap<GameId, FollowUp>>>);

/// What follows from the end of a game.
#[derive(Default)]
pub(super) struct FollowUp {
    /// The second game of the encounter, with its players' places.
    pub(super) next: Option<(OpenGame, [SeatGuard; 2])>,
    /// The bot that was disabled, and why.
    pub(super) disabled: Option<(BotId, String)>,
}

impl FollowUps {
    pub(super) fn take(&self, game: GameId) -> FollowUp {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&game).unwrap_or_default()
    }

    fn put(&self, game: GameId, follow_up: FollowUp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(game, follow_up);
    }
}

/// Keeps all events until there are no tables any more.
///
/// # Errors
/// The database fails, so that no game can be kept: those in progress are where they were kept last.
pub(super) async fn keep(
    handle: StoreHandle,
    bots: Arc<Bots>,
    follow_ups: FollowUps,
    mut events: mpsc::Receiver<Event>,
) -> Result<(), StoreError> {
    let mut taken = Vec::new();
    while events.recv_many(&mut taken, AT_ONCE).await > 0 {
        let mut turns = Vec::new();
        for event in taken.drain(..) {
            match event {
                Event::Turn { game, index, turn } => turns.push((game, index, *turn)),
                Event::Ended { end, kept } => {
                    // The turns of a game are kept before its end.
                    keep_turns(&handle, &mut turns).await?;
                    let follow_up = end_game(&handle, &bots, *end).await?;
                    if let Some((game, follow_up)) = follow_up {
                        follow_ups.put(game, follow_up);
                    }
                    // The table's task may have been given up.
                    let _given_up = kept.send(());
                }
            }
        }
        keep_turns(&handle, &mut turns).await?;
    }
    Ok(())
}

async fn keep_turns(handle: &StoreHandle, turns: &mut Vec<(GameId, usize, Turn)>) -> Result<(), StoreError> {
    let turns = Arc::new(std::mem::take(turns));
    if turns.is_empty() {
        return Ok(());
    }
    persist(handle, || {
        let turns = Arc::clone(&turns);
        move |store| store.keep_turns(&turns)
    })
    .await
}

/// Ends a game; gives what follows. What cannot be counted becomes void, with the reason.
async fn end_game(
    handle: &StoreHandle,
    bots: &Arc<Bots>,
    end: GameEnd,
) -> Result<Option<(GameId, FollowUp)>, StoreError> {
    let (id, at_ms) = (end.id(), now_ms());
    let end = Arc::new(end);
    let ended = persist(handle, || {
        let end = Arc::clone(&end);
        move |store| store.end_game(&end, at_ms)
    });
    let ended = match ended.await {
        Err(StoreError::Refused(why)) => {
            tracing::error!(target: super::LOG, game = id.0, why, "a game's end is refused");
            let void = Arc::new(GameEnd { void: Some(why), ..(*end).clone() });
            persist(handle, || {
                let void = Arc::clone(&void);
                move |store| store.end_game(&void, at_ms)
            })
            .await?
        }
        ended => ended?,
    };
    report(&end, &ended);
    let Ended { next, disabled, .. } = ended;
    let next = next.map(|next| {
        // Before the first game gives its places back, so that nobody else takes them.
        let seats = next.players.each_ref().map(|player| bots.seat(player.bot, &next.id.name()));
        (next, seats)
    });
    let follow_up = FollowUp { next, disabled };
    Ok((follow_up.next.is_some() || follow_up.disabled.is_some()).then_some((id, follow_up)))
}

fn report(end: &GameEnd, ended: &Ended) {
    let [p1, p2] = end.played.players.each_ref().map(|entrant| entrant.name.as_str());
    let game = end.id().0;
    match (&end.void, &end.played.forfeit) {
        (Some(why), _) => tracing::warn!(target: super::LOG, game, p1, p2, why, "a game does not count"),
        (None, Some(forfeit)) => {
            let why = forfeit.reason.to_string();
            let by = end.played.entrant(forfeit.player).name.as_str();
            tracing::info!(target: super::LOG, game, p1, p2, by, why, "a game was forfeited");
        }
        (None, None) => {
            let points = end.played.half_points(end.played.players[0].index) as f64 / 2.0;
            tracing::info!(target: super::LOG, game, p1, p2, points, "a game ended");
        }
    }
    if let Some((bot, why)) = &ended.disabled {
        // It forfeited this game.
        let name =
            end.played.forfeit.as_ref().map(|forfeit| end.played.entrant(forfeit.player).name.as_str());
        tracing::warn!(target: super::LOG, bot = bot.0, name, why, "a bot is disabled");
    }
}

/// Asks the store until it is not lost: what is asked may be asked again.
///
/// # Errors
/// It fails otherwise.
pub(super) async fn persist<T, W>(handle: &StoreHandle, mut work: impl FnMut() -> W) -> Result<T, StoreError>
where
    T: Send + 'static,
    W: FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
{
    let [mut pause, most] = PAUSES;
    loop {
        match handle.ask(work()).await {
            Err(error) if error.is_lost() => {
                tracing::warn!(target: super::LOG, %error, "the database does not answer; asking again");
                sleep(pause).await;
                pause = (2 * pause).min(most);
            }
            answer => return answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::store::By;
    use crate::store::tests::TestPlace;

    #[tokio::test]
    async fn what_another_process_keeps_from_being_written_is_written_later() {
        let place = TestPlace::new();
        let crate::store::Database::Sqlite(path) = &place.database else { panic!("a file") };
        let handle = StoreHandle::new(Store::serve(&place.database).unwrap()).unwrap();
        // As a command does that computes the ratings of a large pool.
        let command = rusqlite::Connection::open(path).unwrap();
        command.execute_batch("BEGIN IMMEDIATE").unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let (counted, own) = (Arc::clone(&asked), handle.clone());
        let written = tokio::spawn(async move {
            persist(&own, || {
                counted.fetch_add(1, Ordering::Relaxed);
                |store: &mut Store| store.start_season("2", &By { who: "test", at_ms: 2 })
            })
            .await
        });
        let deadline = tokio::time::Instant::now() + Duration::from_secs(120);
        while asked.load(Ordering::Relaxed) < 2 {
            assert!(tokio::time::Instant::now() < deadline && !written.is_finished(), "it asks again");
            // Whoever reads is answered meanwhile.
            assert_eq!(handle.ask(|store| store.seasons()).await.unwrap().len(), 1);
        }
        command.execute_batch("COMMIT").unwrap();
        written.await.unwrap().unwrap();
        assert_eq!(handle.ask(|store| store.seasons()).await.unwrap().len(), 2);
    }
}
