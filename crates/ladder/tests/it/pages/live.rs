//! Games that are watched as they are played, at real tables by players of the house.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::http::{Method, StatusCode};
use futures_util::StreamExt;
use plyd_arena::referee::Terms;
use plyd_arena::{Entrant, Strictness};
use plyd_core::options::Options;
use plyd_core::play::Position;
use plyd_games::l_game;
use plyd_ladder::game::{GameEnd, OpenGame, Opening};
use plyd_ladder::live::Live;
use plyd_ladder::pages::{Limits, Settings};
use plyd_ladder::play::{Event, Game, House, HousePlayer, Network, Recorder, Seat, Stopped, Table};
use plyd_ladder::store::NewEncounter;
use plyd_protocol::Seed;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::schema::faults;
use super::site::{Site, request, settings};

/// Longer than any of these tests takes, whatever else the machine does.
const LONG: Duration = Duration::from_secs(120);

/// What a spectator receives.
struct Spectator {
    body: BodyDataStream,
    unread: String,
}

impl Spectator {
    async fn new(site: &Site, path: &str) -> Self {
        let answer = site.answer(request(Method::GET, path).body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Self { body: answer.into_body().into_data_stream(), unread: String::new() }
    }

    /// The next event with its data; none at the end.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.unread.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.unread = rest;
                let field =
                    |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                // A comment has neither.
                if let (Some(name), Some(data)) = (field("event: "), field("data: ")) {
                    return Some((name, serde_json::from_str(&data).unwrap()));
                }
                continue;
            }
            let more = timeout(LONG, self.body.next()).await.expect("something comes");
            self.unread.push_str(str::from_utf8(&more?.unwrap()).unwrap());
        }
    }
}

/// A table at which players of the house play perfectly, for ever unless that is too long.
struct Playing {
    open: OpenGame,
    events: mpsc::Receiver<Event>,
    task: JoinHandle<Result<GameEnd, Stopped>>,
}

impl Playing {
    async fn begin(site: &Site, max_moves: usize) -> Self {
        let start = Position::start(&l_game::ENTRY);
        let opening = Opening { start: start.to_string(), moves: vec![] };
        let players = [site.bots[0], site.bots[2]];
        let new = NewEncounter { pool: site.pool, players, seed: Seed(7), opening };
        let open = site.store(move |store| store.begin(&new, 10_000)).await;
        Self::play(site, &site.live, open, max_moves)
    }

    fn play(site: &Site, live: &Live, open: OpenGame, max_moves: usize) -> Self {
        let (recorder, events) = Recorder::new(1, live.clone());
        let table = Table { bots: Arc::default(), house: Arc::new(House::start(1, 1).unwrap()), recorder };
        let seat = |seed| Seat::House(HousePlayer::new(Options { seed, ..Options::default() }, 100));
        let entrant = |at: usize| Entrant {
            index: open.players[at].bot.0 as usize,
            name: format!("bot {at}"),
            build: None,
        };
        let strictness = Strictness { max_moves, timeout: LONG, ..Strictness::default() };
        let root = Position::start(&l_game::ENTRY).root().clone();
        let game = Game {
            id: open.id,
            pool: site.pool,
            seed: Seed(7),
            players: [seat(1), seat(2)],
            entrants: [entrant(0), entrant(1)],
            terms: Terms { strictness, chance: 7, ..Terms::new(root) },
            network: Network::default(),
            resumed: None,
            voided: None,
        };
        Self { open, events, task: tokio::spawn(async move { table.play(game).await }) }
    }

    /// Keeps the next thing that happens; false: that was the end.
    async fn keep(&mut self, site: &Site) -> bool {
        match timeout(LONG, self.events.recv()).await.expect("the game goes on").unwrap() {
            Event::Turn { game, index, turn } => {
                site.store(move |store| store.keep_turns(&[(game, index, *turn)])).await;
                true
            }
            Event::Ended { end, kept } => {
                site.store(move |store| store.end_game(&end, 20_000)).await;
                kept.send(()).unwrap();
                false
            }
        }
    }

    async fn play_out(mut self, site: &Site) -> GameEnd {
        while self.keep(site).await {}
        self.task.await.unwrap().unwrap()
    }
}

/// The moves that a spectator knows after an event.
fn follow(known: &mut Vec<String>, data: &Value) {
    let first = data["first"].as_u64().unwrap_or(0) as usize;
    assert!(first <= known.len(), "a ply is missing before {data}");
    known.truncate(first);
    known
        .extend(data["moves"].as_array().unwrap().iter().map(|ply| ply["move"].as_str().unwrap().to_owned()));
}

#[tokio::test]
async fn a_game_is_watched_from_its_beginning_to_its_end() {
    let site = Site::new();
    let document = site.json("/api/v1/openapi.json").await;
    let events = &document["paths"]["/api/v1/games/{id}/live"]["get"]["responses"]["200"]["content"];
    let schemas = &events["text/event-stream"]["x-events"];
    let playing = Playing::begin(&site, 12).await;
    let id = playing.open.id;
    let path = format!("/api/v1/games/{id}/live");
    let mut spectator = Spectator::new(&site, &path).await;
    let end = tokio::join!(playing.play_out(&site), async {
        let (mut known, mut text, mut names) = (Vec::new(), Value::Null, Vec::new());
        while let Some((name, data)) = spectator.next().await {
            assert_eq!(faults(&document, &schemas[&name], &data), [""; 0], "{data}");
            if name != "over" {
                follow(&mut known, &data);
                text = data["board"]["text"].clone();
                assert_eq!(data["board"]["ply"], known.len());
            }
            names.push(name);
        }
        (known, text, names)
    });
    let (end, (known, text, names)) = end;
    assert_eq!(known, end.played.record.moves);
    assert_eq!(names.first().map(String::as_str), Some("game"));
    assert_eq!(names.last().map(String::as_str), Some("over"));
    assert!(names[1..names.len() - 1].iter().all(|name| name == "move" || name == "game"), "{names:?}");
    let position = known.iter().fold(Position::start(&l_game::ENTRY), |pos, mv| pos.play(mv).unwrap());
    assert_eq!(text, position.to_string());
    // Now there is nothing to watch any more, as for a game that never begins again.
    assert_eq!(site.get(&path).await.status, StatusCode::NO_CONTENT);
    let page = site.page(&format!("/game/{id}")).await;
    assert!(
        !page.contains("data-playing")
            && page.contains("A draw. As many moves were played as the pool allows."),
        "{page}"
    );
}

#[tokio::test]
async fn pages_show_a_game_as_far_as_it_is() {
    let site = Site::new();
    let mut playing = Playing::begin(&site, 500).await;
    for _ in 0..5 {
        assert!(playing.keep(&site).await);
    }
    let id = playing.open.id;
    let live = site.live.game(id).unwrap();
    assert!(live.record.moves.len() >= 5);
    let game = site.json(&format!("/api/v1/games/{id}")).await;
    assert_eq!(game["state"], "playing");
    let known = game["moves"].as_array().unwrap();
    assert!(known.len() >= 5 && known[0]["player"] == "p1" && known[0]["time_us"].is_u64(), "{game}");
    let boards = site.json(&format!("/api/v1/games/{id}/boards?from=3&limit=2")).await;
    assert_eq!(boards["boards"].as_array().unwrap().len(), 2);
    let page = site.page(&format!("/game/{id}")).await;
    assert!(page.contains("data-playing") && page.contains("It is being played."), "{page}");
    let games = site.page("/games").await;
    assert!(games.contains(&format!("<tr data-game=\"{id}\">")), "{games}");
    assert!(site.page("/").await.contains("1 game is being played"));
    playing.task.abort();
}

#[tokio::test]
async fn a_spectator_who_reads_too_slowly_gets_the_whole_game_again_and_slows_nobody() {
    let site = Site::new();
    let mut playing = Playing::begin(&site, 500).await;
    let mut slow = Spectator::new(&site, &format!("/api/v1/games/{}/live", playing.open.id)).await;
    let mut quick = Spectator::new(&site, "/api/v1/live").await;
    let mut seen = 0;
    // Twice as many moves as a spectator may be behind, of which the slow one reads nothing.
    while seen < 128 {
        assert!(playing.keep(&site).await, "perfect players draw for ever");
        let (name, _) = quick.next().await.unwrap();
        seen += usize::from(name == "move");
    }
    playing.task.abort();
    let _stopped = playing.task.await;
    let mut known = Vec::new();
    let mut games = 0;
    while known.len() < 128 {
        let (name, data) = slow.next().await.unwrap();
        games += usize::from(name == "game");
        follow(&mut known, &data);
    }
    assert!(games >= 1, "the whole game came");
    let position = known.iter().fold(Position::start(&l_game::ENTRY), |pos, mv| pos.play(mv).unwrap());
    assert_eq!(position.played().len(), known.len());
}

#[tokio::test]
async fn spectators_have_so_many_places_and_all_is_over_when_the_ladder_stops() {
    let limits = Limits { spectators: 3, spectators_of_address: 2, ..settings().limits };
    let site = Site::with(Settings { limits, behind_proxy: true, ..settings() });
    let watch = async |address: &str| {
        let builder = request(Method::GET, "/api/v1/live").header("x-forwarded-for", address);
        site.answer(builder.body(Body::empty()).unwrap()).await
    };
    let one = watch("198.51.100.1").await;
    let two = watch("198.51.100.1").await;
    let three = watch("198.51.100.1").await;
    let statuses = [&one, &two, &three].map(|answer| answer.status().as_u16());
    assert_eq!((statuses, three.headers()["retry-after"].to_str().ok()), ([200, 200, 503], Some("30")));
    assert_eq!(three.headers()["content-type"], "application/problem+json");
    let other = watch("198.51.100.2").await;
    assert_eq!(watch("198.51.100.3").await.status().as_u16(), 503);
    drop(one);
    assert_eq!(watch("198.51.100.3").await.status().as_u16(), 200, "a place is free again");
    site.live.close();
    for answer in [two, other] {
        let mut body = answer.into_body().into_data_stream();
        let rest = async { while body.next().await.is_some() {} };
        timeout(LONG, rest).await.expect("the stream ends");
    }
    assert_eq!(watch("198.51.100.4").await.status(), StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn all_games_are_watched_at_once() {
    let site = Site::new();
    let mut spectator = Spectator::new(&site, "/api/v1/live").await;
    let playing = Playing::begin(&site, 6).await;
    let id = playing.open.id;
    let end = playing.play_out(&site).await;
    let mut counts: HashMap<String, usize> = HashMap::new();
    loop {
        let (name, data) = spectator.next().await.unwrap();
        assert_eq!((&data["game"], &data["board"]), (&id.0.into(), &Value::Null));
        *counts.entry(name.clone()).or_default() += 1;
        if name == "over" {
            break;
        }
    }
    let expected = [("began", 1), ("move", end.played.record.moves.len()), ("over", 1)];
    assert_eq!(counts, expected.map(|(name, count)| (name.to_owned(), count)).into());
}
