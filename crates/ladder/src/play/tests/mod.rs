//! A ladder's lobby and tables with bots that dial in over sockets of this machine.

mod faults;
mod games;
mod offers;
mod returns;

use std::any::Any;
use std::collections::BTreeMap;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plyd_arena::referee::{ForfeitKind, Terms, Turn};
use plyd_arena::{Entrant, Strictness, TimeControl};
use plyd_core::effort::Effort;
use plyd_core::engine::{
    Actions, AnyRoot, Candidates, ChanceOutcome, Counting, Engine, Entry, Fault, Learner, Successor, ToMove,
};
use plyd_core::game::{Drawing, Rules};
use plyd_core::nim;
use plyd_core::options::Options;
use plyd_core::play::Position;
use plyd_core::search::Control;
use plyd_games::REGISTRY;
use plyd_protocol::{ErrorCode, Offer, Player, Seed};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::*;
use crate::game::GameEnd;
use crate::live::{Live, LiveEvent, Update};
use crate::test_bot::{Bot, LONG};
use crate::{BotId, GameId, PoolId};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The token with which a bot comes while the ladder cannot look tokens up.
const TROUBLE: &str = "trouble";

/// Lets bots in by tokens such as `bot-7`, but not number 13, and none by the token of a ladder in trouble.
struct ByNumber;

impl Authenticator for ByNumber {
    async fn admit(&self, offer: &Offer, _: Option<IpAddr>) -> Result<Admitted, Refusal> {
        if offer.token == TROUBLE {
            let message = "the database does not answer".to_owned();
            return Err(Refusal { code: ErrorCode::TooManyConnections, message });
        }
        let number = offer.token.strip_prefix("bot-").and_then(|number| number.parse().ok());
        match number {
            Some(13) => Err(Refusal { code: ErrorCode::Forbidden, message: "three forfeits".into() }),
            Some(number) => Ok(Admitted { bot: BotId(number), name: format!("the {number}"), most_games: 4 }),
            None => Err(Refusal { code: ErrorCode::AuthFailed, message: "no such token".into() }),
        }
    }
}

/// A ladder, and what its recorder was given.
struct Ladder {
    lobby: Arc<Lobby<ByNumber>>,
    table: Table,
    address: SocketAddr,
    kept: JoinHandle<BTreeMap<GameId, Vec<Turn>>>,
    listening: JoinHandle<()>,
}

impl Ladder {
    async fn open(settings: Settings) -> Self {
        Self::reopen(settings, BTreeMap::new()).await
    }

    /// A ladder whose recorder has some turns of its games already.
    async fn reopen(settings: Settings, known: BTreeMap<GameId, Vec<Turn>>) -> Self {
        let lobby = Lobby::new(ByNumber, settings);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let visited = Arc::clone(&lobby);
        let listening = tokio::spawn(async move {
            loop {
                let (stream, address) = listener.accept().await.unwrap();
                tokio::spawn(Arc::clone(&visited).serve(stream, Some(address.ip())));
            }
        });
        let (recorder, events) = Recorder::new(4, Live::new(1));
        let table =
            Table { bots: Arc::clone(lobby.bots()), house: Arc::new(House::start(2, 1).unwrap()), recorder };
        Self { lobby, table, address, kept: tokio::spawn(keep(events, known)), listening }
    }

    /// Plays a game of these two.
    fn play(&self, game: Game) -> JoinHandle<Result<GameEnd, Stopped>> {
        let table = self.table.clone();
        tokio::spawn(async move { table.play(game).await })
    }

    fn bot(&self, number: u64, game: u64) -> Seat {
        Seat::Bot(Arc::new(self.lobby.bots().seat(BotId(number), &GameId(game).name())))
    }

    /// The turns of each game, once the ladder is closed.
    async fn close(self) -> BTreeMap<GameId, Vec<Turn>> {
        self.listening.abort();
        drop((self.table, self.lobby));
        self.kept.await.unwrap()
    }
}

/// Keeps what happens.
async fn keep(
    mut events: mpsc::Receiver<Event>,
    mut games: BTreeMap<GameId, Vec<Turn>>,
) -> BTreeMap<GameId, Vec<Turn>> {
    while let Some(event) = events.recv().await {
        match event {
            Event::Turn { game, index, turn } => {
                let turns = games.entry(game).or_default();
                assert_eq!(turns.len(), index, "turns come in their order");
                turns.push(*turn);
            }
            Event::Ended { kept, .. } => drop(kept.send(())),
        }
    }
    games
}

fn settings() -> Settings {
    Settings { heartbeat: ms(50), ..Settings::default() }
}

fn game(id: u64, players: [Seat; 2], opening: Arc<dyn AnyRoot>) -> Game {
    let entrant = |index| Entrant { index, name: format!("bot {index}"), build: None };
    let strictness = Strictness { max_moves: 12, timeout: LONG, ..Strictness::default() };
    Game {
        id: GameId(id),
        pool: PoolId(1),
        seed: Seed(7),
        players,
        entrants: [entrant(1), entrant(2)],
        terms: Terms { strictness, chance: 7, ..Terms::new(opening) },
        network: Network::default(),
        resumed: None,
        voided: None,
    }
}

fn heap() -> Arc<dyn AnyRoot> {
    Position::start(&nim::ENTRY).root().clone()
}

/// A bot of that number that has not offered itself yet.
async fn dial(address: SocketAddr, number: u64) -> Bot<TcpStream> {
    Bot::new(TcpStream::connect(address).await.unwrap(), token(number))
}

/// A bot of that number whose offer was taken.
async fn join(address: SocketAddr, number: u64) -> Bot<TcpStream> {
    Bot::join(TcpStream::connect(address).await.unwrap(), token(number)).await
}

fn token(number: u64) -> String {
    format!("bot-{number}")
}

/// Runs a bot that plays `games` games at once or one after the other.
fn bot(address: SocketAddr, number: u64, games: usize) -> JoinHandle<Vec<Value>> {
    tokio::spawn(async move { join(address, number).await.plays(games).await.unwrap() })
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let waited = timeout(LONG, async {
        while !holds() {
            sleep(ms(1)).await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("not in time: {what}"));
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    timeout(LONG, work).await.expect("in time")
}
