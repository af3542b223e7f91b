//! Ladders with bots in them, and games that end as a test wants.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use plyd_arena::PlayedGame;
use plyd_ladder::game::{GameEnd, OpenGame, Opening, Turn};
use plyd_ladder::store::{By, Database, Ended, House, NewEncounter, Store};
use plyd_ladder::terms::{PoolClock, PoolTerms};
use plyd_ladder::{BotId, OwnerId, PoolId};
use plyd_protocol::{Seed, Settings};
use serde_json::json;

/// Who does what a test does, and when.
pub(crate) const ALICE: By<'static> = By { who: "alice", at_ms: 1_000 };

/// A database that nobody else uses, removed when dropped.
pub(crate) struct Place {
    pub(crate) database: Database,
    folder: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.folder);
    }
}

impl Place {
    /// A file in its folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Empty databases, one of each kind that there is.
pub(crate) fn places() -> Vec<Place> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = |kind: &str| {
        let folder = std::env::temp_dir().join(format!("plyd-store-{}-{number}-{kind}", std::process::id()));
        let _none_yet = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        folder
    };
    let sqlite = folder("sqlite");
    let mut places = vec![Place { database: Database::Sqlite(sqlite.join("ladder.db")), folder: sqlite }];
    if let Some(url) = super::cluster::new_database(&format!("test_{number}")) {
        places.push(Place { database: url.parse().unwrap(), folder: folder("postgres") });
    }
    places
}

/// A ladder with a pool, a house bot in it, and two owners with two bots each.
pub(crate) struct Ladder {
    pub(crate) place: Place,
    pub(crate) store: Store,
    pub(crate) pool: PoolId,
    pub(crate) house: BotId,
    /// `ann-0`, `ann-1`, `bob-0`, `bob-1`.
    pub(crate) bots: [BotId; 4],
    pub(crate) owners: [OwnerId; 2],
}

/// What a house bot plays as.
pub(crate) fn house() -> House {
    let options = Settings([("level".to_owned(), 3.into())].into());
    House { options, nodes: 1000, version: "plyd 0.1.0".into() }
}

/// The terms of the pool.
pub(crate) fn terms() -> PoolTerms {
    let clock = PoolClock::Increment { base_ms: 10_000, inc_ms: 100, moves: None };
    PoolTerms { period_ms: 5_000, ..PoolTerms::new("l-game", clock) }
}

impl Ladder {
    pub(crate) fn new(place: Place) -> Self {
        assert!(Store::init(&place.database, &ALICE).unwrap());
        let mut store = Store::serve(&place.database).unwrap();
        let house = store.new_house_bot("house", &self::house(), &ALICE).unwrap();
        let pool = store.add_pool("quick", &terms(), &[("house".into(), 1500.0)], &ALICE).unwrap();
        let owners = ["ann", "bob"].map(|name| {
            let link = store.invite(name, &ALICE).unwrap();
            store.join(link.text(), 2_000, 9_000).unwrap().0
        });
        let mut bots = Vec::new();
        for (owner, name) in owners.into_iter().zip(["ann", "bob"]) {
            for number in 0..2 {
                let by = By { who: name, at_ms: 3_000 };
                bots.push(store.new_bot(owner, &format!("{name}-{number}"), &by).unwrap());
            }
        }
        Self { place, store, pool, house, bots: bots.try_into().unwrap(), owners }
    }

    /// One ladder on each kind of database.
    pub(crate) fn each() -> impl Iterator<Item = Self> {
        places().into_iter().map(Self::new)
    }

    /// Another server of the same ladder, as after a crash.
    pub(crate) fn reopen(self) -> Self {
        let Self { place, store, pool, house, bots, owners } = self;
        drop(store);
        let store = Store::serve(&place.database).unwrap();
        Self { place, store, pool, house, bots, owners }
    }

    pub(crate) fn begin(&mut self, players: [BotId; 2], at_ms: i64) -> OpenGame {
        self.store.begin(&encounter(self.pool, players), at_ms).unwrap()
    }

    /// Plays both games of an encounter; the first bot makes so many half points in each. The second game
    /// ends at that time.
    pub(crate) fn play(&mut self, players: [BotId; 2], half_points: [usize; 2], at_ms: i64) -> Ended {
        let first = self.begin(players, at_ms);
        let ended = self.store.end_game(&end(&first, half_points[0], None), at_ms).unwrap();
        let second = ended.next.unwrap();
        self.store.end_game(&end(&second, 2 - half_points[1], None), at_ms).unwrap()
    }

    /// Asserts that all agrees.
    pub(crate) fn assert_sound(&mut self) {
        let checked = self.store.check().unwrap();
        assert_eq!(checked.faults, [""; 0], "{:?}", self.place.database);
    }
}

/// An encounter of these bots.
pub(crate) fn encounter(pool: PoolId, players: [BotId; 2]) -> NewEncounter {
    let opening = Opening { start: "start".into(), moves: vec!["a".into(), "b".into()] };
    NewEncounter { pool, players, seed: Seed(7), opening }
}

/// A turn of a game.
pub(crate) fn turn(number: usize) -> Turn {
    let player = if number.is_multiple_of(2) { "p1" } else { "p2" };
    let turn = json!({ "move": format!("m{number}"), "player": player, "time_us": number, "left_us": 9 });
    serde_json::from_value(turn).unwrap()
}

/// The end of a game in which p1 made so many half points; the player of that index may have forfeited it.
pub(crate) fn end(game: &OpenGame, half_points: usize, forfeit: Option<usize>) -> GameEnd {
    let winner = [Some("p2"), None, Some("p1")][half_points];
    let entrants = game.players.each_ref().map(|player| {
        json!({ "index": player.bot.0, "name": player.name, "build": format!("{} 1.0", player.name) })
    });
    let by = forfeit.map_or("blocked", |_| "late");
    let mut record = json!({
        "record": 1, "game": "l-game", "rules": {}, "start": game.opening.start, "moves": ["a", "b", "c"],
        "result": { "winner": winner, "by": by },
        "number": game.id.0, "seed": game.seed, "terms": game.terms.strictness, "players": entrants,
        "opening": 2, "answers": [{ "player": "p1", "time_us": 5, "left_us": 7 }],
    });
    if let Some(index) = forfeit {
        let player = ["p1", "p2"][index];
        record["forfeit"] = json!({ "player": player, "kind": "late", "message": "5 us after its 1 s" });
    }
    let played: PlayedGame = serde_json::from_value(record).unwrap();
    GameEnd::of(played)
}
