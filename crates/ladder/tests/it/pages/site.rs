//! A ladder's site, and hands to ask it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use plyd_ladder::game::{GameEnd, OpenGame, Opening};
use plyd_ladder::live::Live;
use plyd_ladder::pages::{File, Files, Limits, Parts, Settings, router};
use plyd_ladder::store::{Ended, NewEncounter, Store, StoreError, StoreHandle};
use plyd_ladder::{BotId, GameId, OwnerId, PoolId};
use plyd_protocol::Seed;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::fixtures::{Ladder, Place, places};

/// More than any answer here has.
const MOST: usize = 16 << 20;

/// A site over a ladder.
pub(crate) struct Site {
    pub(crate) handle: StoreHandle,
    pub(crate) live: Live,
    pub(crate) pool: PoolId,
    pub(crate) house: BotId,
    pub(crate) bots: [BotId; 4],
    pub(crate) owners: [OwnerId; 2],
    router: Router,
    /// Dropped last: it removes the files.
    _place: Place,
}

/// What a request was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

/// Limits that no test reaches by accident, and no answer that is given again.
pub(crate) fn settings() -> Settings {
    let limits = Limits { burst: 100_000, requests_a_second: 100_000, ..Limits::default() };
    Settings { fresh_for: Duration::ZERO, limits, ..Settings::default() }
}

impl Site {
    pub(crate) fn new() -> Self {
        Self::with(settings())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let Ladder { place, store, pool, house, bots, owners } = Ladder::new(places().remove(0));
        let handle = StoreHandle::new(store).unwrap();
        let reader = StoreHandle::new(Store::open(&place.database).unwrap()).unwrap();
        let live = Live::new(64);
        let parts = Parts {
            handle: handle.clone(),
            reader,
            live: live.clone(),
            games: plyd_games::REGISTRY,
            boards: boards(),
            settings,
        };
        let router = router(parts).unwrap();
        Self { handle, live, pool, house, bots, owners, router, _place: place }
    }

    /// Does something with the ladder's store.
    pub(crate) async fn store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.handle.ask(work).await.unwrap()
    }

    /// What a request is answered, its body unread.
    pub(crate) async fn answer(&self, request: Request<Body>) -> axum::response::Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub(crate) async fn ask(&self, request: Request<Body>) -> Answer {
        let (head, body) = self.answer(request).await.into_parts();
        let bytes = to_bytes(body, MOST).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Answer { status: head.status, headers: head.headers, text }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(request(Method::GET, path).body(Body::empty()).unwrap()).await
    }

    /// The same for what must be there.
    pub(crate) async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        answer.text
    }

    pub(crate) async fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.page(path).await).unwrap()
    }

    /// Begins an encounter of the first moves of the L Game.
    pub(crate) async fn begin(&self, players: [BotId; 2]) -> OpenGame {
        let pool = self.pool;
        let opening = Opening { start: start(), moves: moves(2) };
        let new = NewEncounter { pool, players, seed: Seed(7), opening };
        self.store(move |store| store.begin(&new, 10_000)).await
    }

    /// Ends a game after some real moves.
    pub(crate) async fn end(&self, game: &OpenGame, half_points: usize, forfeit: Option<usize>) -> Ended {
        let end = end(game, half_points, forfeit);
        self.store(move |store| store.end_game(&end, 20_000)).await
    }

    /// Plays both games of an encounter; the first bot makes so many half points in each.
    pub(crate) async fn play(&self, players: [BotId; 2], half_points: [usize; 2]) -> [GameId; 2] {
        let first = self.begin(players).await;
        let second = self.end(&first, half_points[0], None).await.next.unwrap();
        self.end(&second, 2 - half_points[1], None).await;
        [first.id, second.id]
    }
}

/// A request of some browser.
pub(crate) fn request(method: Method, path: &str) -> axum::http::request::Builder {
    let peer: SocketAddr = "192.0.2.1:1234".parse().unwrap();
    Request::builder().method(method).uri(path).extension(ConnectInfo(peer))
}

/// The start of the L Game.
pub(crate) fn start() -> String {
    plyd_core::play::Position::start(&plyd_games::l_game::ENTRY).to_string()
}

/// So many first moves of the L Game.
pub(crate) fn moves(count: usize) -> Vec<String> {
    let mut position = plyd_core::play::Position::start(&plyd_games::l_game::ENTRY);
    for _ in 0..count {
        let mv = position.legal().remove(0);
        position = position.play(&mv).unwrap();
    }
    position.played().to_vec()
}

/// The end of a game of four moves, in which both announced scores.
pub(crate) fn end(game: &OpenGame, half_points: usize, forfeit: Option<usize>) -> GameEnd {
    let mut end = super::fixtures::end(game, half_points, forfeit);
    let played = &mut end.played;
    played.record.start = start();
    played.record.moves = moves(4);
    if let Some(result) = played.record.result.as_mut().filter(|_| forfeit.is_none()) {
        result.by = "stuck".into();
    }
    let answer = |player, eval| {
        json!({
            "player": player, "time_us": 1_500, "left_us": 9_000_000, "score": { "bound": "exact", "eval": eval },
        })
    };
    let answers = json!([answer("p1", 1250), answer("p2", -800)]);
    played.answers = serde_json::from_value(answers).unwrap();
    end
}

/// The files of the boards, as `gui/` has them.
fn boards() -> Files {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gui");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mime = match path.extension().and_then(|ending| ending.to_str()) {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("html") => "text/html; charset=utf-8",
            _ => continue,
        };
        let name = format!("/{}", path.file_name().unwrap().to_str().unwrap());
        let bytes: &'static [u8] = std::fs::read(&path).unwrap().leak();
        files.push((name, File { mime, bytes }));
    }
    Arc::new(move |path| files.iter().find(|(name, _)| name == path).map(|(_, file)| *file))
}
