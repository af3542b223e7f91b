//! The store on its own thread, and connections that are lost.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::{fs, thread};

use plyd_ladder::store::{Database, Store, StoreError, StoreHandle};

use crate::cluster;
use crate::fixtures::{ALICE, Ladder};

pub(crate) fn does_all_that_it_is_asked() {
    for ladder in Ladder::each() {
        let Ladder { place, store, pool, .. } = ladder;
        let handle = StoreHandle::new(store).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let clone = handle.clone();
            let asked = clone.ask(move |store| store.ratings(pool));
            assert_eq!(asked.await.unwrap().len(), 1);
            let refused = handle.ask(|store| store.bot_named("nobody").map(|_| ())).await;
            assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
            for number in 0..20 {
                // Nobody waits for the answer.
                let asked = handle.ask(move |store| store.start_season(&format!("s{number}"), &ALICE));
                let _given_up = futures_poll_once(asked).await;
            }
        });
        drop(runtime);
        drop(handle);
        // It is closed, and all is done.
        let mut store = Store::serve(&place.database).unwrap();
        let names: Vec<String> = store.seasons().unwrap().into_iter().map(|season| season.name).collect();
        assert_eq!(names[1..], (0..20).map(|number| format!("s{number}")).collect::<Vec<_>>());
        let handle = StoreHandle::new(store).unwrap();
        let panicked = handle.ask_blocking(|_| -> Result<(), _> { panic!("on purpose") });
        assert!(matches!(panicked, Err(StoreError::Closed)), "{panicked:?}");
        assert!(matches!(handle.ask_blocking(Store::seasons), Err(StoreError::Closed)));
    }
}

/// Polls a future once, and drops it.
async fn futures_poll_once<T>(future: impl Future<Output = T>) -> bool {
    let mut future = Box::pin(future);
    std::future::poll_fn(|context| std::task::Poll::Ready(future.as_mut().poll(context).is_ready())).await
}

/// Ends all connections to a database, and waits until they have ended.
pub(crate) fn terminate(other: &mut postgres::Client, database: &str) -> usize {
    let sql = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = $1";
    other.query(sql, &[&database]).unwrap().len()
}

/// The name of a database in its URL.
fn name(url: &str) -> String {
    url.trim_start_matches("postgres:///").split('?').next().unwrap().to_owned()
}

pub(crate) fn a_lost_connection_is_made_anew() {
    for mut ladder in Ladder::each() {
        let Database::Postgres(url) = ladder.place.database.clone() else { continue };
        let [ann, _, bob, _] = ladder.bots;
        let game = ladder.begin([ann, bob], 5_000);
        let (mut other, name) = (cluster::client("postgres"), name(&url));
        let ending = crate::fixtures::end(&game, 2, None);
        let store = &mut ladder.store;
        // Nobody notices, whatever finds out: a query, one transaction that reads, and one that writes.
        assert_eq!(terminate(&mut other, &name), 1);
        assert_eq!(store.games_playing(9).unwrap().len(), 1);
        assert_eq!(terminate(&mut other, &name), 1);
        assert_eq!(store.open_games().unwrap().len(), 1);
        assert_eq!(terminate(&mut other, &name), 1);
        assert!(store.end_game(&ending, 6_000).unwrap().counted);
        // It is the one server again.
        assert!(Store::serve(&ladder.place.database).is_err());
        ladder.assert_sound();
    }
}

/// A connection of which the database does not see that it is dead, as after a network that broke.
pub(crate) fn a_connection_that_died_keeps_nobody_out() {
    let Some(url) = cluster::new_database("half_open") else { return };
    let folder = PathBuf::from(format!("/tmp/plyd-pg-{}-proxy", std::process::id()));
    let _none_yet = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    let listener = UnixListener::bind(folder.join(".s.PGSQL.5432")).unwrap();
    let clients: Arc<Mutex<Vec<UnixStream>>> = Arc::default();
    let kept = Arc::clone(&clients);
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = UnixStream::connect(cluster::socket()).unwrap();
            kept.lock().unwrap().push(client.try_clone().unwrap());
            for (mut from, mut to) in
                [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)]
            {
                // The end of the one is none of the other.
                thread::spawn(move || {
                    let _ended = io::copy(&mut from, &mut to);
                    loop {
                        thread::park();
                    }
                });
            }
        }
    });
    let proxied =
        url.replace(cluster::socket().parent().unwrap().to_str().unwrap(), folder.to_str().unwrap());
    let database: Database = proxied.parse().unwrap();
    Store::init(&url.parse().unwrap(), &ALICE).unwrap();
    let mut store = Store::serve(&database).unwrap();
    for client in clients.lock().unwrap().drain(..) {
        client.shutdown(Shutdown::Both).unwrap();
    }
    store.start_season("2", &ALICE).unwrap();
    // It is the one server again.
    assert!(Store::serve(&url.parse().unwrap()).is_err());
    fs::remove_dir_all(&folder).unwrap();
}
