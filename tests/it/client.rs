//! The crate `plyd-client` against the real command: whole games by both of its engines, and what becomes of
//! searches.

use std::os::unix::net::UnixStream;

use plyd::client::{self, Address, Client, Engine, Error, Game, Limit, blocking, greeting};
use plyd_protocol::{ErrorCode, InspectResult, NewGame, Outcome, Setting, ToMove, Want};
use tokio::runtime::{Builder, Runtime};

use crate::common::{Folder, TIMEOUT, process};
use crate::short;

const WANTED: [Want; 3] = [Want::ToMove, Want::Outcome, Want::Chance];

fn serve() -> Client {
    Client::spawn(process::plyd(["serve", "--stdio"])).unwrap()
}

fn blocking_engine() -> blocking::Engine {
    let mut plyd = blocking::Engine::over(serve(), greeting()).unwrap();
    plyd.set_timeout(TIMEOUT);
    plyd
}

async fn async_engine() -> Engine {
    let mut plyd = Engine::over(serve(), greeting()).await.unwrap();
    plyd.set_timeout(TIMEOUT);
    plyd
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// A game that ends soon, whoever plays it.
fn new_game(game: &str) -> NewGame {
    let value = |text: &str| text.parse().map_or_else(|_| Setting::from(text), Setting::Int);
    let rules = short::rules(game).split(',').filter_map(|rule| rule.split_once('='));
    let rules = rules.map(|(name, text)| (name, value(text))).collect();
    NewGame { game: game.to_owned(), rules, ..NewGame::default() }
}

/// The move of chance, if it is its turn.
fn drawn(seen: &InspectResult) -> Option<String> {
    let outcomes = seen.chance.as_ref().filter(|_| seen.to_move == Some(ToMove::Chance))?;
    outcomes.first().map(|outcome| outcome.mv.clone())
}

#[test]
fn a_whole_game_of_each_is_played_by_both_engines() {
    let mut plyd = blocking_engine();
    let games = plyd.server().games.clone();
    assert!(games.len() >= 5, "{games:?}");
    let limit = Limit::nodes(20);
    let by_blocking: Vec<(usize, Outcome)> = games
        .iter()
        .map(|name| {
            let mut game = plyd.new_game(new_game(name)).unwrap();
            loop {
                let seen = plyd.inspect(&game, &WANTED).unwrap();
                if let Some(outcome) = seen.outcome.clone().flatten() {
                    plyd.close_game(&game).unwrap();
                    return (game.moves().len(), outcome);
                }
                match drawn(&seen) {
                    Some(mv) => game.push(mv),
                    None => drop(plyd.play(&mut game, &limit).unwrap()),
                }
            }
        })
        .collect();
    assert!(
        by_blocking.iter().all(|(plies, outcome)| *plies > 3 && !outcome.by.is_empty()),
        "{by_blocking:?}"
    );
    plyd.close().unwrap();
    runtime().block_on(async {
        let mut plyd = async_engine().await;
        for name in &games {
            let mut game = plyd.new_game(new_game(name)).await.unwrap();
            loop {
                let seen = plyd.inspect(&game, &WANTED).await.unwrap();
                if seen.outcome.clone().flatten().is_some() {
                    break;
                }
                match drawn(&seen) {
                    Some(mv) => game.push(mv),
                    None => drop(plyd.play(&mut game, &limit).await.unwrap()),
                }
            }
            assert!(game.moves().len() > 3, "{name}: {:?}", game.moves());
        }
        plyd.close().await.unwrap();
    });
}

#[test]
fn a_search_that_is_dropped_is_stopped_and_the_engine_goes_on() {
    let game = Game::named("isolation");
    let mut plyd = blocking_engine();
    let mut search = plyd.go(&game, &Limit::endless()).unwrap();
    assert!(search.next().unwrap().unwrap().mv.is_some());
    drop(search);
    // A `stop` is done before the next line is read.
    let status = plyd.status().unwrap();
    assert_eq!((status.searches, status.counters.cancelled), (0, 1));
    assert!(!plyd.go(&game, &Limit::nodes(100)).unwrap().best().unwrap().mv.is_empty());
    runtime().block_on(async {
        let mut plyd = async_engine().await;
        let mut search = plyd.go(&game, &Limit::endless()).await.unwrap();
        assert!(search.next().await.unwrap().unwrap().mv.is_some());
        drop(search);
        let status = plyd.status().await.unwrap();
        assert_eq!((status.searches, status.counters.cancelled), (0, 1));
        assert!(!plyd.go(&game, &Limit::nodes(100)).await.unwrap().best().await.unwrap().mv.is_empty());
    });
}

#[test]
fn a_search_that_is_stopped_has_a_move() {
    let game = Game::named("colosseum");
    let mut plyd = blocking_engine();
    let mut search = plyd.go(&game, &Limit::endless()).unwrap();
    search.next().unwrap().unwrap();
    search.stop().unwrap();
    let best = search.best().unwrap();
    assert_eq!(best.reason, plyd_protocol::Reason::Stopped);
}

#[test]
fn what_is_refused_has_a_code_and_a_pointer() {
    let mut game = Game::named("isolation");
    game.push("z9");
    let mut plyd = blocking_engine();
    let from_rules = plyd.inspect(&game, &Want::usual()).unwrap_err();
    let from_search = plyd.go(&game, &Limit::nodes(1)).and_then(blocking::Search::best).unwrap_err();
    for error in [from_rules, from_search] {
        assert_eq!(error.code(), Some(ErrorCode::IllegalMove), "{error}");
        assert!(error.pointer().is_some_and(|pointer| pointer.contains("moves")), "{error}");
    }
    // The connection is as good as before.
    plyd.ping().unwrap();
    assert_eq!(plyd.describe("sudoku").unwrap().name, "sudoku");
}

#[test]
fn both_engines_find_a_server_at_a_socket() {
    let folder = Folder::new("client");
    let path = folder.path.join("socket");
    let _server = process::spawn(process::plyd(["serve", "--unix", path.to_str().unwrap()]));
    crate::common::until("a socket that is listened at", || UnixStream::connect(&path).is_ok());
    let address = Address::read(&format!("unix={}", path.display())).unwrap();
    let mut plyd = blocking::Engine::open(&address).unwrap();
    assert_eq!(plyd.server().server.name, "plyd");
    plyd.ping().unwrap();
    plyd.close().unwrap();
    runtime().block_on(async {
        let mut plyd = Engine::open(&address).await.unwrap();
        plyd.ping().await.unwrap();
        plyd.close().await.unwrap();
    });
    let nobody = blocking::Engine::open(&Address::program("no-such-engine")).unwrap_err();
    assert!(matches!(nobody, Error::Connection(client::ClientError::Line(client::LineError::Start { .. }))));
}
