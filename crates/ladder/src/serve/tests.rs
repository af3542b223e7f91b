//! Encounters at the tables: a real database, the real authenticator, and bots over streams in memory.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plyd_core::engine::Entry;
use plyd_protocol::{Seed, Settings as Rules};
use serde_json::{Value, json};
use tokio::io::{DuplexStream, duplex};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::Settings;
use super::authenticator::TokenAuthenticator;
use super::persistence::{self, FollowUps};
use super::players::draw;
use super::rounds::Rounds;
use super::tables::Tables;
use crate::game::OpenGame;
use crate::live::Live;
use crate::play::{self, House, Lobby, Recorder, Table};
use crate::store::{By, Checked, Database, NewEncounter, Store, StoreError, StoreHandle};
use crate::terms::{PoolClock, PoolTerms};
use crate::test_bot::{Bot, LONG};
use crate::{BotId, GameId, PoolId};

/// A clock that ends in none of them.
const CALM: PoolClock = PoolClock::PerMove { ms: 600_000 };

/// A ladder with a pool and two bots of two owners.
struct Ladder {
    folder: PathBuf,
    handle: StoreHandle,
    lobby: Arc<Lobby<TokenAuthenticator>>,
    tables: Tables,
    tasks: JoinSet<Result<(), StoreError>>,
    stopping: watch::Sender<bool>,
    pool: PoolId,
    terms: PoolTerms,
    bots: [(BotId, String); 2],
    _persistence: JoinHandle<Result<(), StoreError>>,
}

impl Drop for Ladder {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.folder);
    }
}

impl Ladder {
    fn open(terms: PoolTerms) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("plyd-tables-{}-{number}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let database = Database::Sqlite(folder.join("ladder.db"));
        let by = By { who: "test", at_ms: 1 };
        Store::init(&database, &by).unwrap();
        let mut store = Store::serve(&database).unwrap();
        let pool = store.add_pool("pool", &terms, &[], &by).unwrap();
        let bots = ["ann", "bob"].map(|name| {
            let link = store.invite(name, &by).unwrap();
            let owner = store.join(link.text(), 2, 9).unwrap().0;
            let bot = store.new_bot(owner, name, &by).unwrap();
            (bot, store.new_token(bot, &by).unwrap().text().to_owned())
        });
        let handle = StoreHandle::new(store).unwrap();
        let authenticator = TokenAuthenticator::new(handle.clone(), plyd_games::REGISTRY, 4);
        let lobby = Lobby::new(authenticator.clone(), play::Settings::default());
        let (recorder, events) = Recorder::new(8, Live::new(8));
        let follow_ups = FollowUps::default();
        let persistence =
            persistence::keep(handle.clone(), Arc::clone(lobby.bots()), follow_ups.clone(), events);
        let (stopping, is_stopping) = watch::channel(false);
        let tables = Tables {
            games: plyd_games::REGISTRY,
            table: Table {
                bots: Arc::clone(lobby.bots()),
                house: Arc::new(House::start(1, 0).unwrap()),
                recorder,
            },
            handle: handle.clone(),
            authenticator,
            follow_ups,
            builds: Arc::default(),
            back_within: LONG,
            stopping: is_stopping,
            playing: Arc::default(),
        };
        let (tasks, persistence) = (JoinSet::new(), tokio::spawn(persistence));
        Self { folder, handle, lobby, tables, tasks, stopping, pool, terms, bots, _persistence: persistence }
    }

    /// Begins an encounter of the bots, in the database alone.
    async fn begin(&self, seed: u64) -> OpenGame {
        let opening = draw(plyd_games::REGISTRY, &self.terms, Seed(seed)).unwrap();
        let players = [self.bots[0].0, self.bots[1].0];
        let new = NewEncounter { pool: self.pool, players, seed: Seed(seed), opening };
        self.ask(move |store| store.begin(&new, 5)).await
    }

    fn start(&mut self, game: OpenGame, resumed: bool) {
        self.tables.start(&mut self.tasks, game, resumed);
    }

    /// Waits for the end of an encounter.
    async fn ended(&mut self) {
        timeout(LONG, self.tasks.join_next()).await.expect("in time").unwrap().unwrap().unwrap();
        assert_eq!(self.tables.playing().count(), 0);
    }

    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.handle.ask(work).await.unwrap()
    }

    async fn check(&self) -> Checked {
        let checked = self.ask(Store::check).await;
        assert_eq!(checked.faults, [""; 0]);
        checked
    }

    /// One of the bots, once it is taken.
    async fn join(&self, at: usize) -> Bot<DuplexStream> {
        let (own, theirs) = duplex(1 << 16);
        tokio::spawn(Arc::clone(&self.lobby).serve(theirs, None));
        Bot::join(own, self.bots[at].1.clone()).await
    }
}

async fn done<T>(task: JoinHandle<T>) -> T {
    timeout(LONG, task).await.expect("in time").unwrap()
}

/// The terms of games of some moves.
fn terms(clock: PoolClock) -> PoolTerms {
    let mut terms = PoolTerms::new("l-game", clock);
    terms.strictness.max_moves = 12;
    terms
}

#[tokio::test]
async fn a_bot_that_is_leaving_plays_both_games_of_its_pair() {
    let mut ladder = Ladder::open(terms(CALM));
    let mut leaving = ladder.join(0).await;
    let other = ladder.join(1).await.plays(2);
    let game = ladder.begin(7).await;
    ladder.start(game, false);
    let go = leaving.read().await.unwrap();
    assert_eq!(go["x_game"], "g1");
    leaving.offer(0).await;
    let taken = leaving.read().await.unwrap();
    assert_eq!((&taken["concurrency"], &taken["games"]), (&json!(0), &json!(["g1"])));
    leaving.first(&go).await;
    let ends = [leaving.play().await, leaving.play().await];
    let named = ends.each_ref().map(|end| (&end["x_game"], &end["next"]));
    let [first, second] = ["g1", "g2"].map(Value::from);
    assert_eq!(named, [(&first, &second), (&second, &Value::Null)]);
    assert_eq!(done(other).await.len(), 2);
    ladder.ended().await;
    let checked = ladder.check().await;
    assert_eq!((checked.games, checked.void, checked.encounters), (2, 0, 1));
}

#[tokio::test]
async fn a_bot_that_plays_no_game_of_the_ladder_is_refused_with_their_names() {
    let ladder = Ladder::open(terms(CALM));
    let mut ann = ladder.join(0).await;
    ann.write(json!({
        "id": "chess", "cmd": "offer", "protocol": { "min": 1, "max": 1 }, "token": ann.token,
        "games": [{ "game": "chess" }, { "game": "go" }], "concurrency": 1,
    }))
    .await;
    let refused = ann.read().await.unwrap();
    assert_eq!((&refused["code"], &refused["fatal"]), (&json!("game_unknown"), &json!(true)), "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("no game `chess`") && message.contains("isolation"), "{message}");
    assert_eq!(ann.read().await, None);
}

#[tokio::test]
async fn a_bot_that_waits_in_vain_is_told_why_once_for_each_offer() {
    let mut ladder = Ladder::open(terms(CALM));
    let settings = Settings { alone_after: Duration::ZERO, ..Settings::new(BTreeMap::new(), 7) };
    let mut rounds = Rounds::new(ladder.tables.clone(), settings);
    let mut ann = ladder.join(0).await;
    for (games, why) in [
        (json!(["chess", "ijk"]), "no open pool has what you offer; open are: pool (l-game)"),
        (json!(["l-game"]), "nobody is there to play with"),
    ] {
        let games: Vec<Value> =
            games.as_array().unwrap().iter().map(|game| json!({ "game": game })).collect();
        ann.write(json!({
            "id": "again", "cmd": "offer", "protocol": { "min": 1, "max": 1 }, "token": ann.token, "games": games,
            "concurrency": 1, "legal": true,
        }))
        .await;
        assert_eq!(ann.read().await.unwrap()["type"], "result");
        for _ in 0..3 {
            rounds.round(&mut ladder.tasks).await.unwrap();
        }
        let told = ann.read().await.unwrap();
        assert_eq!((&told["type"], &told["kind"]), (&json!("notice"), &json!("warning")), "{told}");
        assert!(told["message"].as_str().unwrap().starts_with(why), "{told}");
    }
    // What comes next is a question.
    let bob = ladder.join(1).await.plays(2);
    rounds.round(&mut ladder.tasks).await.unwrap();
    assert_eq!(ann.play().await["x_game"], "g1");
    assert_eq!(ann.play().await["x_game"], "g2");
    done(bob).await;
    ladder.ended().await;
}

#[tokio::test]
async fn a_full_ladder_draws_no_pairs() {
    let mut ladder = Ladder::open(terms(CALM));
    let settings = Settings { games: 0, ..Settings::new(BTreeMap::new(), 7) };
    let mut rounds = Rounds::new(ladder.tables.clone(), settings);
    let _bots = [ladder.join(0).await, ladder.join(1).await];
    // No pairs are drawn without the ratings.
    let database = rusqlite::Connection::open(ladder.folder.join("ladder.db")).unwrap();
    database.execute_batch("DROP TABLE rating").unwrap();
    rounds.round(&mut ladder.tasks).await.unwrap();
}

#[tokio::test]
async fn a_new_token_cuts_off_who_came_with_the_old_one_and_nobody_else() {
    let mut ladder = Ladder::open(terms(CALM));
    let mut rounds = Rounds::new(ladder.tables.clone(), Settings::new(BTreeMap::new(), 7));
    let mut bob = ladder.join(1).await;
    rounds.round(&mut ladder.tasks).await.unwrap();
    let ids = ladder.bots.each_ref().map(|(bot, _)| *bot);
    let by = By { who: "test", at_ms: 3 };
    let renewed = ladder.ask(move |store| {
        let renewed = ids.map(|bot| store.new_token(bot, &by).map(|token| token.text().to_owned()));
        let [ann, bob] = renewed;
        Ok([ann?, bob?])
    });
    ladder.bots[0].1 = renewed.await[0].clone();
    // She comes before the ladder looks what commands changed.
    let mut ann = ladder.join(0).await;
    rounds.round(&mut ladder.tasks).await.unwrap();
    let cut = bob.read().await.unwrap();
    assert_eq!(
        (&cut["code"], &cut["message"]),
        (&json!("disconnected"), &json!("the bot has got a new token"))
    );
    ann.offer(1).await;
    let taken = ann.read().await.unwrap();
    assert_eq!((&taken["type"], &taken["of"]), (&json!("result"), &json!("offer")), "{taken}");
}

#[tokio::test]
async fn a_bot_that_goes_after_the_first_game_loses_the_second_by_its_clock() {
    let mut ladder = Ladder::open(terms(PoolClock::PerMove { ms: 200 }));
    let other = ladder.join(0).await.plays(2);
    let mut goes = ladder.join(1).await;
    let game = ladder.begin(7).await;
    ladder.start(game, false);
    // Who is late in this game does not matter.
    while let Some(message) = goes.read().await {
        match message["cmd"].as_str() {
            Some("go") => {
                goes.first(&message).await;
                goes.offer(0).await;
            }
            Some("over") => break,
            _ => {}
        }
    }
    drop(goes);
    done(other).await;
    ladder.ended().await;
    let second = ladder.ask(|store| store.game(GameId(2))).await;
    assert_eq!((second.state.as_str(), second.forfeit_bot), ("over", Some(ladder.bots[1].0)));
    assert_eq!(ladder.check().await.encounters, 1, "the pair counts for both");
}

#[tokio::test]
async fn a_ladder_that_stops_between_the_games_of_a_pair_goes_on_with_the_second() {
    let mut ladder = Ladder::open(terms(CALM));
    let mut bots = [ladder.join(0).await, ladder.join(1).await];
    let game = ladder.begin(7).await;
    ladder.start(game, false);
    let go = bots[0].read().await.unwrap();
    ladder.stopping.send(true).unwrap();
    bots[0].first(&go).await;
    let [one, other] = bots.map(|bot| bot.plays(1));
    assert_eq!(done(one).await[0]["next"], "g2");
    assert_eq!(done(other).await[0]["next"], "g2");
    ladder.ended().await;
    let mut open = ladder.ask(Store::open_games).await;
    assert_eq!(open.iter().map(|game| game.id).collect::<Vec<_>>(), [GameId(2)]);
    let mut bots = [ladder.join(0).await, ladder.join(1).await];
    // Both are leaving already when it goes on.
    for bot in &mut bots {
        bot.offer(0).await;
        assert_eq!(bot.read().await.unwrap()["concurrency"], 0);
    }
    ladder.start(open.remove(0), true);
    for bot in bots.map(|bot| bot.plays(1)) {
        assert_ne!(done(bot).await[0]["outcome"], "void");
    }
    ladder.ended().await;
    assert_eq!(ladder.check().await.encounters, 1);
}

#[tokio::test]
async fn a_game_that_becomes_void_while_it_is_prepared_is_not_played() {
    let mut ladder = Ladder::open(terms(CALM));
    let bots = [ladder.join(0).await, ladder.join(1).await];
    let game = ladder.begin(7).await;
    // No table could be reached then.
    let by = By { who: "eve", at_ms: 6 };
    assert!(ladder.ask(move |store| store.void_game(GameId(1), "a wrong start", &by)).await);
    ladder.start(game, false);
    for mut bot in bots {
        let over = bot.read().await.unwrap();
        assert_eq!((&over["cmd"], &over["outcome"]), (&json!("over"), &json!("void")));
        assert_eq!((&over["message"], &over["next"]), (&json!("a wrong start"), &Value::Null));
    }
    ladder.ended().await;
    assert_eq!(ladder.check().await.void, 2);
}

#[tokio::test]
async fn a_game_that_cannot_be_prepared_is_called_off() {
    let mut ladder = Ladder::open(terms(CALM));
    let bots = [ladder.join(0).await, ladder.join(1).await];
    let mut game = ladder.begin(7).await;
    game.opening.start = "no position".into();
    ladder.start(game, false);
    for mut bot in bots {
        let over = bot.read().await.unwrap();
        assert_eq!((&over["x_game"], &over["outcome"]), (&json!("g1"), &json!("void")));
        assert!(over["message"].as_str().unwrap().contains("opening cannot be read"), "{over}");
    }
    ladder.ended().await;
    assert_eq!(ladder.check().await.void, 2);
}

/// What chance did in a game, and all that was played.
fn chance(over: &Value) -> (Vec<String>, Vec<String>) {
    let moves: Vec<String> = serde_json::from_value(over["record"]["moves"].clone()).unwrap();
    (moves.iter().filter(|ply| ply.starts_with('~')).cloned().collect(), moves)
}

#[tokio::test]
async fn chance_does_the_same_in_both_games_of_a_pair_and_something_else_in_another_pair() {
    let entry: &Entry = &plyd_games::ijk::ENTRY;
    let rules = Rules([("mode".to_owned(), "nondet".into())].into());
    let mut terms = PoolTerms { rules, ..PoolTerms::new(entry.name, CALM) };
    terms.strictness.max_moves = 20;
    let mut ladder = Ladder::open(terms);
    let bots = [ladder.join(0).await.plays(4), ladder.join(1).await.plays(4)];
    for seed in [7, 8] {
        let game = ladder.begin(seed).await;
        ladder.start(game, false);
        ladder.ended().await;
    }
    for bot in bots {
        let ends = done(bot).await;
        let played: Vec<_> = ends.iter().map(chance).collect();
        // Both sides play alike, so that whole games are equal if chance is, with sides swapped.
        assert_eq!(played[0], played[1]);
        assert_eq!(played[2], played[3]);
        assert!(!played[0].0.is_empty() && played[0].0 != played[2].0, "{played:?}");
        let openings = ends.iter().map(|end| &end["record"]["start"]).collect::<Vec<_>>();
        assert_eq!((openings[0], openings[2]), (openings[1], openings[3]));
    }
    assert_eq!(ladder.check().await.encounters, 2);
}
