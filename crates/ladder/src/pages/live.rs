//! Games as they are played, sent to spectators as server-sent events.
//!
//! One task reads the news. It writes each event once for all who watch a game, and draws boards only of
//! games that somebody watches. A spectator who reads too slowly misses events and gets the whole game anew.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use plyd_bridge::given;
use plyd_core::play::Position;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender};
use tokio::time::timeout;

use super::boards::{self, BoardAt};
use super::model::{Ply, plies};
use super::refusal::Refusal;
use super::site::Site;
use crate::GameId;
use crate::live::{Live, LiveEvent, LiveGame, LiveTurn, Update, Watcher};
use crate::rates::{Peer, Place};

/// How many events a spectator may be behind.
const BEHIND: usize = 64;
/// So often something is sent, so that a spectator who is gone is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A game as far as it is: the event `game`, the first one of a game's, and again for those who missed some.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(super) struct Snapshot {
    /// The game.
    game: GameId,
    /// The plies up to now.
    moves: Vec<Ply>,
    /// The board, unless this ladder does not know the game's rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    board: Option<BoardAt>,
}

/// What was played in a game: the event `move`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(super) struct Played {
    /// The game.
    game: GameId,
    /// The index in the game of the first of these plies, from 0: they replace what is known from there on.
    first: usize,
    /// The plies: a move, and what chance did before or after it.
    moves: Vec<Ply>,
    /// The board after them, in the events of one game.
    #[serde(skip_serializing_if = "Option::is_none")]
    board: Option<BoardAt>,
}

/// A game that began, `began`, or ended, `over`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(super) struct Turning {
    /// The game.
    game: GameId,
}

/// Where spectators get their events.
pub(super) struct Hub {
    live: Live,
    /// None: the ladder stops.
    channels: Mutex<Option<Channels>>,
}

/// Who watches what.
struct Channels {
    /// All games.
    all: Sender<Bytes>,
    /// One game each, as long as somebody watches it.
    rooms: HashMap<GameId, Sender<Bytes>>,
}

/// Somebody in a game's room.
struct Inside {
    events: Receiver<Bytes>,
    /// Dropped behind the receiver, which no longer counts then.
    _leaving: Leaving,
}

/// Closes a room behind the last one who leaves it.
struct Leaving {
    hub: Arc<Hub>,
    id: GameId,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if let Some(channels) = self.hub.channels().as_mut()
            && channels.rooms.get(&self.id).is_some_and(|room| room.receiver_count() == 0)
        {
            channels.rooms.remove(&self.id);
        }
    }
}

/// How far the task that passes news on is with a game.
struct Followed {
    game: Arc<LiveGame>,
    /// The plies up to now.
    moves: Vec<String>,
    /// The latest position that was drawn.
    drawn: Option<Position>,
}

impl Hub {
    pub(super) fn new(live: Live) -> Arc<Self> {
        let channels = Channels { all: Sender::new(BEHIND), rooms: HashMap::new() };
        Arc::new(Self { live, channels: Mutex::new(Some(channels)) })
    }

    /// A game that is being played, as far as it is.
    pub(super) fn game(&self, id: GameId) -> Option<Arc<LiveGame>> {
        self.live.game(id)
    }

    /// All games that are being played.
    pub(super) fn games(&self) -> Vec<Arc<LiveGame>> {
        self.live.games()
    }

    fn channels(&self) -> MutexGuard<'_, Option<Channels>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The events of a game from now on; none if the ladder stops.
    fn enter(self: &Arc<Self>, id: GameId) -> Option<Inside> {
        let mut channels = self.channels();
        let room = channels.as_mut()?.rooms.entry(id).or_insert_with(|| Sender::new(BEHIND));
        Some(Inside { events: room.subscribe(), _leaving: Leaving { hub: Arc::clone(self), id } })
    }

    /// A game's room, if somebody is in it.
    fn room(&self, id: GameId) -> Option<Sender<Bytes>> {
        self.channels().as_ref()?.rooms.get(&id).cloned()
    }

    /// The games that are watched.
    fn watched(&self) -> Vec<GameId> {
        self.channels().as_ref().map_or_else(Vec::new, |channels| channels.rooms.keys().copied().collect())
    }

    /// Sends to those who watch all games.
    fn send_to_all(&self, event: impl FnOnce() -> Bytes) {
        if let Some(Channels { all, .. }) = &*self.channels()
            && all.receiver_count() > 0
        {
            let _nobody_watches = all.send(event());
        }
    }

    /// Sends to those who watch one game.
    fn send(&self, id: GameId, event: Bytes) {
        if let Some(room) = self.room(id) {
            let _nobody_watches = room.send(event);
        }
    }

    /// Ends the events of a game.
    fn end(&self, id: GameId) {
        self.send(id, written("over", &Turning { game: id }));
        if let Some(channels) = self.channels().as_mut() {
            channels.rooms.remove(&id);
        }
    }
}

/// Passes the news on until the ladder stops. They count from when this is called.
pub(super) fn pass_on(site: Arc<Site>, hub: Arc<Hub>) -> impl Future<Output = ()> + Send {
    let (games, watcher) = hub.live.watch();
    pass_on_from(site, hub, follow(games), watcher)
}

async fn pass_on_from(
    site: Arc<Site>,
    hub: Arc<Hub>,
    mut followed: HashMap<GameId, Followed>,
    mut watcher: Watcher,
) {
    while let Some(update) = watcher.next().await {
        match update {
            Update::Event(event) => match &*event {
                LiveEvent::Began(game) => {
                    followed.insert(game.id, Followed::new(Arc::clone(game)));
                    hub.send_to_all(|| written("began", &Turning { game: game.id }));
                    if hub.room(game.id).is_some() {
                        hub.send(game.id, snapshot(&site, game).await);
                    }
                }
                LiveEvent::Turn(turn) => {
                    if let Some(game) = followed.get_mut(&turn.game) {
                        pass_on_turn(&site, &hub, game, turn).await;
                    }
                }
                LiveEvent::Ended(end) => {
                    let id = end.id();
                    followed.remove(&id);
                    hub.send_to_all(|| written("over", &Turning { game: id }));
                    hub.end(id);
                }
            },
            Update::Behind(games) => {
                followed = follow(games);
                for id in hub.watched() {
                    match followed.get(&id) {
                        Some(now) => hub.send(id, snapshot(&site, &now.game).await),
                        None => hub.end(id),
                    }
                }
            }
        }
    }
    *hub.channels() = None;
}

fn follow(games: Vec<Arc<LiveGame>>) -> HashMap<GameId, Followed> {
    games.into_iter().map(|game| (game.id, Followed::new(game))).collect()
}

async fn pass_on_turn(site: &Site, hub: &Hub, followed: &mut Followed, turn: &LiveTurn) {
    let (id, first) = (turn.game, followed.moves.len());
    followed.moves.extend_from_slice(&turn.plies);
    let moves = plies(&turn.plies, 0, std::slice::from_ref(&turn.turn.answered));
    let mut event = Played { game: id, first, moves, board: None };
    hub.send_to_all(|| written("move", &event));
    if hub.room(id).is_none() {
        // The position grows old; whoever comes next lets it be played anew.
        followed.drawn = None;
        return;
    }
    if let Some((position, board)) = followed.draw(site).await {
        followed.drawn = Some(position);
        event.board = Some(board);
    }
    hub.send(id, written("move", &event));
}

impl Followed {
    fn new(game: Arc<LiveGame>) -> Self {
        Self { moves: game.record.moves.clone(), game, drawn: None }
    }

    /// The position now, and its board; none if this ladder does not know the rules.
    async fn draw(&mut self, site: &Site) -> Option<(Position, BoardAt)> {
        let entry = *site.games.iter().find(|entry| entry.name == self.game.record.game)?;
        let (before, moves, game) = (self.drawn.take(), self.moves.clone(), Arc::clone(&self.game));
        let work = move || {
            let before = before.filter(|before| moves.starts_with(before.played()));
            let mut position = match before {
                Some(before) => before,
                None => Position::open(entry, &given(&game.record.rules), Some(&game.record.start)).ok()?,
            };
            for mv in &moves[position.played().len()..] {
                position = position.play(mv).ok()?;
            }
            let board = boards::at(moves.len(), &position);
            Some((position, board))
        };
        site.compute_at_once(work).await.ok()?
    }
}

/// The event that holds a whole game.
async fn snapshot(site: &Site, game: &Arc<LiveGame>) -> Bytes {
    let moves = plies(&game.record.moves, game.opening, &game.answers);
    let board = Followed::new(Arc::clone(game)).draw(site).await.map(|(_, board)| board);
    written("game", &Snapshot { game: game.id, moves, board })
}

/// An event as it is sent.
fn written(name: &str, data: &impl Serialize) -> Bytes {
    // As JSON it holds no end of a line.
    let data = serde_json::to_string(data).expect("it has texts for keys, and nothing that JSON cannot say");
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// Lets somebody watch a game. One that is over has no events.
///
/// # Errors
/// There is no such game, or there are too many spectators.
pub(super) async fn watch_game(
    site: Arc<Site>,
    hub: Arc<Hub>,
    peer: Peer,
    id: GameId,
) -> Result<Response, Refusal> {
    let place = site.spectator(peer)?;
    let nothing = || Ok(StatusCode::NO_CONTENT.into_response());
    // There are rooms for games alone.
    if hub.game(id).is_none() && !is_to_come(&site, id).await? {
        return nothing();
    }
    let Some(inside) = hub.enter(id) else { return nothing() };
    let first = match hub.game(id) {
        Some(game) => {
            let _turn = site.turn().await?;
            snapshot(&site, &game).await
        }
        // The end of a game is kept before it is news, so that none is waited for in vain.
        None if is_to_come(&site, id).await? => Bytes::from_static(BEAT),
        None => return nothing(),
    };
    let events = Events::Game { inside, site, hub, id };
    Ok(stream_of(Seen { ready: VecDeque::from([first]), events, is_last: false, _place: place }))
}

/// Whether a game is still to end.
///
/// # Errors
/// There is no such game.
async fn is_to_come(site: &Site, id: GameId) -> Result<bool, Refusal> {
    let found = site.read(move |store| store.game(id)).await;
    let game = found.map_err(|refusal| refusal.or_not_found("game"))?;
    Ok(matches!(game.state.as_str(), "waiting" | "playing"))
}

/// Lets somebody watch all games.
///
/// # Errors
/// There are too many spectators.
pub(super) async fn watch_all(site: Arc<Site>, hub: Arc<Hub>, peer: Peer) -> Result<Response, Refusal> {
    let place = site.spectator(peer)?;
    let events = hub.channels().as_ref().map(|channels| channels.all.subscribe());
    let Some(events) = events else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    // The head of the answer goes out with the first bytes of its body.
    let ready = VecDeque::from([Bytes::from_static(BEAT)]);
    Ok(stream_of(Seen { ready, events: Events::All(events), is_last: false, _place: place }))
}

/// A comment, which clients pass over.
const BEAT: &[u8] = b":\n\n";

/// A spectator.
struct Seen {
    /// What is sent first.
    ready: VecDeque<Bytes>,
    events: Events,
    /// Whether nothing comes behind what is ready.
    is_last: bool,
    _place: Place,
}

/// What a spectator watches.
enum Events {
    /// All games.
    All(Receiver<Bytes>),
    /// One game, which is had again as a whole if events were missed.
    Game { inside: Inside, site: Arc<Site>, hub: Arc<Hub>, id: GameId },
}

impl Seen {
    /// What to send next; none: that was all.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(event) = self.ready.pop_front() {
            return Some(event);
        }
        if self.is_last {
            return None;
        }
        let events = match &mut self.events {
            Events::All(events) => events,
            Events::Game { inside, .. } => &mut inside.events,
        };
        match (timeout(HEARTBEAT, events.recv()).await, &mut self.events) {
            (Err(_), _) | (Ok(Err(RecvError::Lagged(_))), Events::All(_)) => Some(Bytes::from_static(BEAT)),
            (Ok(Ok(event)), events) => {
                self.is_last = matches!(events, Events::Game { .. }) && event.starts_with(b"event: over\n");
                Some(event)
            }
            (Ok(Err(RecvError::Closed)), _) => None,
            (Ok(Err(RecvError::Lagged(_))), Events::Game { inside, site, hub, id }) => {
                // What comes from now on is in the game as it is then, or behind it.
                *inside = hub.enter(*id)?;
                let Some(game) = hub.game(*id) else {
                    self.is_last = true;
                    return Some(written("over", &Turning { game: *id }));
                };
                // Whoever waits in vain has its place all the same, and gets the game then.
                let _turn = site.turn().await;
                Some(snapshot(site, &game).await)
            }
        }
    }
}

fn stream_of(seen: Seen) -> Response {
    let events = stream::unfold(seen, |mut seen| async move {
        let event = seen.next().await?;
        Some((Ok::<_, Infallible>(event), seen))
    });
    let mut response = Body::from_stream(events).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // nginx would keep events back until a buffer is full.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::tests::game;
    use crate::pages::refusal::Kind;
    use crate::pages::settings::Settings;
    use crate::store::tests::TestPlace;
    use crate::store::{Store, StoreHandle};

    fn rooms(hub: &Hub) -> usize {
        hub.watched().len()
    }

    #[tokio::test]
    async fn rooms_are_those_of_games_that_somebody_watches() {
        let place = TestPlace::new();
        let handle = StoreHandle::new(Store::open(&place.database).unwrap()).unwrap();
        let site = Site::new(Settings::default(), plyd_games::REGISTRY, handle.clone(), handle).unwrap();
        let (site, live) = (Arc::new(site), Live::new(8));
        let hub = Hub::new(live.clone());
        let watch = |id| watch_game(Arc::clone(&site), Arc::clone(&hub), Peer::of(None), GameId(id));
        for id in 1000..1100 {
            let refused = watch(id).await.unwrap_err();
            assert_eq!((refused.kind, rooms(&hub)), (Kind::NotFound, 0));
        }
        for id in [1, 2] {
            live.began(game(id));
        }
        let (one, same, other) = (watch(1).await.unwrap(), watch(1).await.unwrap(), watch(2).await.unwrap());
        assert_eq!(rooms(&hub), 2);
        drop((one, other));
        assert_eq!(rooms(&hub), 1, "somebody is left in one");
        drop(same);
        assert_eq!(rooms(&hub), 0);
    }
}
