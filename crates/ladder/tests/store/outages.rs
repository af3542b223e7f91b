//! A ladder that serves while its connections to PostgreSQL break, and while PostgreSQL is away.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use axum::Router;
use plyd_ladder::serve::{Listener, Listeners, Settings, serve};
use plyd_ladder::store::{Checked, Database, Store, StoreHandle};
use plyd_ladder::terms::{PoolClock, PoolTerms};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::cluster::{Cluster, connect};
use crate::fixtures::ALICE;
use crate::handle::terminate;

/// How long a condition is waited for.
const TIMEOUT: Duration = Duration::from_secs(120);

/// How often the connections are ended, and each so many times the server, too.
const LOSSES: u64 = 40;
const RESTARTS: u64 = 20;

/// Plays the first legal move until the ladder is gone.
fn play(address: SocketAddr, token: &str) {
    let offer = json!({
        "id": "offer", "cmd": "offer", "protocol": { "min": 1, "max": 1 }, "token": token, "legal": true,
        "concurrency": 2,
    });
    // It may be refused while the database is away.
    while let Ok(stream) = TcpStream::connect(address) {
        let mut stream = BufReader::new(stream);
        let answer = |stream: &mut BufReader<TcpStream>, answer: Value| {
            let _gone = writeln!(stream.get_mut(), "{answer}");
        };
        answer(&mut stream, offer.clone());
        let mut line = String::new();
        while stream.read_line(&mut line).is_ok_and(|count| count > 0) {
            let message: Value = serde_json::from_str(&line).unwrap();
            line.clear();
            let id = &message["id"];
            match message["cmd"].as_str() {
                Some("ping") => answer(&mut stream, json!({ "id": id, "type": "result", "of": "ping" })),
                Some("go") => {
                    answer(
                        &mut stream,
                        json!({ "id": id, "type": "bestmove", "move": message["x_legal"][0] }),
                    );
                }
                _ => {}
            }
        }
    }
}

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < TIMEOUT, "never: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// What a check finds, by a connection of its own, which may be ended too.
fn check(database: &Database) -> Option<Checked> {
    let checked = Store::open(database).ok()?.check().ok()?;
    assert_eq!(checked.faults, [""; 0]);
    Some(checked)
}

pub(crate) fn games_go_on_while_the_database_is_lost() {
    let Some(cluster) = Cluster::start("outages") else { return };
    let database: Database = cluster.new_database("ladder").parse().unwrap();
    Store::init(&database, &ALICE).unwrap();
    let mut store = Store::open(&database).unwrap();
    let clock = PoolClock::Increment { base_ms: 600_000, inc_ms: 1_000, moves: None };
    let rules = serde_json::from_value(json!({ "width": 4, "height": 4 })).unwrap();
    let terms = PoolTerms { rules, opening_plies: 2, ..PoolTerms::new("isolation", clock) };
    store.add_pool("quick", &terms, &[], &ALICE).unwrap();
    let tokens = ["ann", "bob", "cleo", "dan"].map(|name| {
        let link = store.invite(name, &ALICE).unwrap();
        let owner = store.join(link.text(), 2_000, 9_000).unwrap().0;
        let bot = store.new_bot(owner, name, &ALICE).unwrap();
        store.new_token(bot, &ALICE).unwrap().text().to_owned()
    });
    drop(store);
    let (stop, stopped) = oneshot::channel::<()>();
    let (listening, address) = std::sync::mpsc::channel();
    let server = {
        let database = database.clone();
        thread::spawn(move || {
            // It blocks, which a runtime does not allow.
            let handle = StoreHandle::new(Store::serve(&database).unwrap()).unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
                listening.send(socket.local_addr().unwrap()).unwrap();
                let listeners = Listeners { bots: vec![Listener { socket, tls: None }], web: Vec::new() };
                let settings =
                    Settings { round: Duration::from_millis(5), ..Settings::new(Default::default(), 7) };
                let pages = |_: &_, _: &_| Ok(Router::new());
                let stop = async { drop(stopped.await) };
                serve(handle, plyd_games::REGISTRY, settings, listeners, pages, stop).await
            })
        })
    };
    let address = address.recv().unwrap();
    let bots = tokens.map(|token| thread::spawn(move || play(address, &token)));
    let mut other = connect(&cluster, "postgres");
    let mut games = 0;
    for loss in 1..=LOSSES {
        until("games are played", || check(&database).is_some_and(|checked| checked.games > games));
        // Somewhere within what it asks.
        thread::sleep(Duration::from_micros(loss * 997 % 3_000));
        if loss.is_multiple_of(RESTARTS) {
            cluster.end();
            cluster.serve();
            other = connect(&cluster, "postgres");
        } else {
            assert!(terminate(&mut other, "ladder") > 0);
        }
        games = check(&database).map_or(games, |checked| checked.games.max(games));
    }
    until("games are played", || check(&database).is_some_and(|checked| checked.games > games + 20));
    stop.send(()).unwrap();
    server.join().unwrap().unwrap();
    bots.into_iter().for_each(|bot| bot.join().unwrap());
    // Nothing is lost, doubled or left lying: both games of each pair were played, but of those that went on
    // at the end. Four bots with two games each play four pairs at most.
    let mut store = Store::open(&database).unwrap();
    let checked = check(&database).unwrap();
    assert_eq!(checked.void, 0);
    assert!(store.open_encounters().unwrap() <= 4, "{checked:?}");
    for bot in store.bots().unwrap() {
        assert_eq!(store.games_of(bot.id, None, true, 100).unwrap(), [], "{} forfeited", bot.name);
    }
}
