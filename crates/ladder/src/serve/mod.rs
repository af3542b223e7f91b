//! A ladder that runs: bots dial in, are paired, play, and are rated, unattended.
//!
//! [`serve`] holds the parts together. Bots that the `authenticator` knows wait in the lobby; the loop
//! (`rounds`) pairs those that are free and begins their encounters in the store; each encounter is a task
//! (`tables`) that plays its two games; one task (`persistence`) keeps what happens. Whatever ends it, the
//! next start goes on with the games that have no end.

mod authenticator;
mod calibrate;
mod listen;
mod persistence;
mod players;
mod pool;
mod rounds;
mod tables;
#[cfg(test)]
mod tests;
mod web;

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use plyd_core::engine::Entry;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::live::Live;
use crate::pairing::Matchmaker;
use crate::play::{self, House, Lobby, Recorder, Table};
use crate::store::{StoreError, StoreHandle};
use crate::terms::whole_ms;
use authenticator::TokenAuthenticator;
use persistence::FollowUps;
use rounds::{Rounds, Tasks};
use tables::Tables;

pub use crate::LOG;
pub use calibrate::{Contestant, contestants, round_robin};
pub use listen::{BoxedStream, Handshake, Listener, Stream};
pub use players::{draw, house};
pub use web::Http;

/// How many events may wait to be kept before tables wait.
const WAITING: usize = 1024;

/// How many events a spectator may be behind.
const BEHIND: usize = 1024;

/// How long pages and farewells may take once the ladder stops.
const FAREWELL: Duration = Duration::from_secs(2);

/// How a ladder runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The most encounters at once.
    pub games: usize,
    /// The most of one bot at once, whatever it offers.
    pub games_of_bot: u32,
    /// The most of one house bot at once.
    pub house_games: u32,
    /// On how many threads house bots think.
    pub house_threads: usize,
    /// How often bots are paired.
    pub round: Duration,
    /// After how long a bot that has met nobody is told so.
    pub alone_after: Duration,
    /// How long to wait after a restart for the bots of games that go on.
    pub back_within: Duration,
    /// How long games may go on once the ladder stops; those without an end go on at its next start.
    pub drain: Duration,
    /// When bots that are there then may dial again.
    pub retry: Duration,
    /// Whether all requests come through a proxy that writes whose they are into `X-Forwarded-For`.
    pub behind_proxy: bool,
    /// How connections of bots are treated.
    pub lobby: play::Settings,
    /// How connections of browsers are treated.
    pub http: Http,
    /// Who is paired with whom.
    pub matchmaker: Matchmaker,
    /// What the matchmaker draws from.
    pub seed: u64,
    /// The build of this plyd for each game: a house bot that is pinned to another one does not play.
    pub builds: BTreeMap<String, String>,
}

impl Settings {
    /// The usual settings.
    #[must_use]
    pub fn new(builds: BTreeMap<String, String>, seed: u64) -> Self {
        Self {
            games: 50,
            games_of_bot: 8,
            house_games: 4,
            house_threads: 1,
            round: Duration::from_secs(1),
            alone_after: Duration::from_secs(60),
            back_within: Duration::from_secs(600),
            drain: Duration::ZERO,
            retry: Duration::from_secs(5),
            behind_proxy: false,
            lobby: play::Settings::default(),
            http: Http::default(),
            matchmaker: Matchmaker::default(),
            seed,
            builds,
        }
    }
}

/// Where a ladder listens.
#[derive(Default)]
pub struct Listeners {
    /// For bots, a line of JSON each.
    pub bots: Vec<Listener>,
    /// For browsers, and for bots over WebSockets.
    pub web: Vec<Listener>,
}

/// Why a ladder ended by itself.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The database fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system has no threads or sockets more.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Runs a ladder until `stop`, with these games and the store of its [one server]. `pages` makes
/// what browsers see.
///
/// [one server]: crate::store::Store::serve
///
/// # Errors
/// The database or the system fails.
pub async fn serve<P>(
    handle: StoreHandle,
    games: &'static [&'static Entry],
    settings: Settings,
    listeners: Listeners,
    pages: P,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError>
where
    P: FnOnce(&StoreHandle, &Live) -> Result<Router, ServeError>,
{
    let authenticator = TokenAuthenticator::new(handle.clone(), games, settings.games_of_bot);
    let lobby = Lobby::new(authenticator.clone(), settings.lobby.clone());
    let live = Live::new(BEHIND);
    let (recorder, events) = Recorder::new(WAITING, live.clone());
    let house = Arc::new(House::start(settings.house_threads, HOUSE_STEPS)?);
    let follow_ups = FollowUps::default();
    let mut persistence =
        tokio::spawn(persistence::keep(handle.clone(), Arc::clone(lobby.bots()), follow_ups.clone(), events));
    // No further game begins; then nobody can come any more.
    let (stopping, is_stopping) = watch::channel(false);
    let (closing, is_closing) = watch::channel(false);
    let tables = Tables {
        games,
        table: Table { bots: Arc::clone(lobby.bots()), house, recorder },
        handle: handle.clone(),
        authenticator,
        follow_ups,
        builds: Arc::new(settings.builds.clone()),
        back_within: settings.back_within,
        stopping: is_stopping,
        playing: Arc::default(),
    };
    let mut encounters = Tasks::new();
    let mut rounds = Rounds::new(tables, settings.clone());
    // Their bots have places in the games before any of them can come.
    rounds.resume(&mut encounters).await?;
    let router = pages(&handle, &live)?;
    let mut servers = JoinSet::new();
    // Each connection holds the one end, so that the other one is closed once all are gone.
    let (alive, mut gone) = mpsc::channel::<()>(1);
    listen(listeners, &router, &lobby, &settings, (&is_closing, alive), &mut servers)?;

    let ended = {
        let play = play_on(&mut rounds, &mut encounters, settings.round);
        tokio::select! {
            ended = play => ended,
            kept = &mut persistence => Err(kept.map_or(StoreError::Closed, |kept| kept.err().unwrap_or(StoreError::Closed))),
            () = stop => Ok(()),
        }
    };
    stopping.send_replace(true);
    if ended.is_ok() {
        match encounters.len() {
            0 => tracing::info!(target: LOG, "the ladder stops; no game is being played"),
            games => tracing::info!(target: LOG, games, "the ladder stops; games in play may be finished"),
        }
        // Bots whose connections break meanwhile come back to their games.
        let played_out = async { while encounters.join_next().await.is_some() {} };
        let _go_on_later = timeout(settings.drain, played_out).await;
    }
    closing.send_replace(true);
    let retry_ms = whole_ms(settings.retry);
    rounds.bots().farewell("the ladder stops, and goes on with the games later", retry_ms);
    live.close();
    encounters.shutdown().await;
    // With the last table ends what keeps events.
    drop(rounds);
    if ended.is_ok() {
        let kept = persistence.await;
        kept.map_err(|_| StoreError::Closed)??;
    }
    let left = async {
        while servers.join_next().await.is_some() {}
        gone.recv().await
    };
    let _left_behind = timeout(FAREWELL, left).await;
    Ok(ended?)
}

/// By how much the threads of house bots are nicer than those that read and write.
const HOUSE_STEPS: u8 = 5;

/// Plays for ever.
async fn play_on(rounds: &mut Rounds, encounters: &mut Tasks, round: Duration) -> Result<(), StoreError> {
    let mut ticks = interval(round.max(Duration::from_millis(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => rounds.round(encounters).await?,
            Some(ended) = encounters.join_next() => match ended {
                Ok(ended) => ended?,
                Err(error) => tracing::error!(target: LOG, %error, "an encounter broke"),
            },
        }
    }
}

/// Starts to listen.
fn listen(
    listeners: Listeners,
    router: &Router,
    lobby: &Arc<Lobby<TokenAuthenticator>>,
    settings: &Settings,
    (closing, alive): (&watch::Receiver<bool>, mpsc::Sender<()>),
    servers: &mut JoinSet<()>,
) -> io::Result<()> {
    let stop = || {
        let mut closing = closing.clone();
        async move {
            // The sender lives until it has said so.
            let _gone = closing.wait_for(|closing| *closing).await;
        }
    };
    for listener in listeners.bots {
        let (mut connections, lobby, stop) = (listener.connections()?, Arc::clone(lobby), stop());
        let alive = alive.clone();
        servers.spawn(async move {
            let take = async {
                loop {
                    let (stream, address) = connections.next().await;
                    let (lobby, alive) = (Arc::clone(&lobby), alive.clone());
                    tokio::spawn(async move {
                        let _alive = alive;
                        lobby.serve(stream, Some(address.ip())).await;
                    });
                }
            };
            tokio::select! {
                () = take => {}
                () = stop => {}
            }
        });
    }
    let places = settings.http.places(settings.behind_proxy);
    let bots =
        web::Bots { lobby: Arc::clone(lobby), behind_proxy: settings.behind_proxy, alive: alive.clone() };
    let router = web::with_bots(router.clone(), bots);
    for listener in listeners.web {
        let (connections, head_within) = (listener.connections()?, settings.http.head_within);
        let (router, places, alive) = (router.clone(), Arc::clone(&places), alive.clone());
        servers.spawn(web::serve(connections, router, places, head_within, alive, stop()));
    }
    Ok(())
}
