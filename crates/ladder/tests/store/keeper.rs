//! The store on its own thread, and connections that are lost.

use plyd_ladder::store::{Database, Keeper, Store, StoreError};

use crate::cluster;
use crate::fixtures::{ALICE, Ladder};

pub(crate) fn does_all_that_it_is_asked() {
    for ladder in Ladder::each() {
        let Ladder { place, store, pool, .. } = ladder;
        let keeper = Keeper::new(store).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let clone = keeper.clone();
            let asked = clone.ask(move |store| store.ratings(pool));
            assert_eq!(asked.await.unwrap().len(), 1);
            let refused = keeper.ask(|store| store.bot_named("nobody").map(|_| ())).await;
            assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
            for number in 0..20 {
                // Nobody waits for the answer.
                let asked = keeper.ask(move |store| store.start_season(&format!("s{number}"), &ALICE));
                let _given_up = futures_poll_once(asked).await;
            }
        });
        drop(runtime);
        drop(keeper);
        // It is closed, and all is done.
        let mut store = Store::serve(&place.database).unwrap();
        let names: Vec<String> = store.seasons().unwrap().into_iter().map(|season| season.name).collect();
        assert_eq!(names[1..], (0..20).map(|number| format!("s{number}")).collect::<Vec<_>>());
        let keeper = Keeper::new(store).unwrap();
        let panicked = keeper.ask_blocking(|_| -> Result<(), _> { panic!("on purpose") });
        assert!(matches!(panicked, Err(StoreError::Closed)), "{panicked:?}");
        assert!(matches!(keeper.ask_blocking(Store::seasons), Err(StoreError::Closed)));
    }
}

/// Polls a future once, and drops it.
async fn futures_poll_once<T>(future: impl Future<Output = T>) -> bool {
    let mut future = Box::pin(future);
    std::future::poll_fn(|context| std::task::Poll::Ready(future.as_mut().poll(context).is_ready())).await
}

pub(crate) fn a_lost_connection_is_made_anew() {
    for mut ladder in Ladder::each() {
        let Database::Postgres(url) = ladder.place.database.clone() else { continue };
        let [ann, _, bob, _] = ladder.bots;
        let game = ladder.begin([ann, bob], 5_000);
        let name = url.trim_start_matches("postgres:///").split('?').next().unwrap().to_owned();
        let mut other = cluster::client("postgres");
        let sql = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = $1";
        assert_eq!(other.query(sql, &[&name]).unwrap().len(), 1);
        // The first may be what finds out.
        let ending = crate::fixtures::end(&game, 2, None);
        let ended = match ladder.store.end_game(&ending, 6_000) {
            Err(error) if error.is_lost() => ladder.store.end_game(&ending, 6_000).unwrap(),
            ended => ended.unwrap(),
        };
        assert!(ended.counted);
        // It is the one server again.
        assert!(Store::serve(&ladder.place.database).is_err());
        ladder.assert_sound();
    }
}
