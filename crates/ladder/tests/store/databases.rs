//! Opening, locking, backing up and checking.

use plyd_ladder::store::{Database, Store, StoreError};

use crate::cluster;
use crate::fixtures::{ALICE, Ladder, Place, places};

/// Runs SQL beside the ladder.
fn meddle(database: &Database, sql: &str) {
    match database {
        Database::Sqlite(path) => rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap(),
        Database::Postgres(url) => {
            let name = url.trim_start_matches("postgres:///").split('?').next().unwrap();
            cluster::client(name).batch_execute(sql).unwrap();
        }
    }
}

fn refusal(opened: Result<Store, StoreError>) -> String {
    opened.err().expect("it is refused").to_string()
}

pub(crate) fn only_a_ladder_is_opened_and_by_one_server() {
    for place in places() {
        let Place { database, .. } = &place;
        let none = refusal(Store::open(database));
        assert!(none.contains("plyd ladder init"), "{none}");
        if let Database::Sqlite(path) = database {
            assert!(!path.exists(), "looking makes no file");
        }
        assert!(Store::init(database, &ALICE).unwrap());
        assert!(!Store::init(database, &ALICE).unwrap(), "it is one already");
        let mut server = Store::serve(database).unwrap();
        for second in
            [refusal(Store::serve(database)), Store::init(database, &ALICE).unwrap_err().to_string()]
        {
            assert!(second.contains("a server has it"), "{second}");
        }
        // Commands work beside a server, and it sees what they did.
        let before = server.revision().unwrap();
        let mut command = Store::open(database).unwrap();
        command.start_season("2", &ALICE).unwrap();
        assert!(server.revision().unwrap() > before);
        assert_eq!(server.seasons().unwrap().len(), 2);
        drop(server);
        Store::serve(database).unwrap();
        meddle(database, "UPDATE plyd_ladder SET version = 999");
        let newer = refusal(Store::open(database));
        assert!(newer.contains("newer plyd"), "{newer}");
        assert!(Store::init(database, &ALICE).is_err());
    }
    for place in places() {
        meddle(&place.database, "CREATE TABLE something (id BIGINT)");
        for refused in [
            refusal(Store::open(&place.database)),
            Store::init(&place.database, &ALICE).unwrap_err().to_string(),
        ] {
            assert!(refused.contains("another program's tables"), "{refused}");
        }
    }
    let text = std::env::temp_dir().join(format!("plyd-store-no-database-{}", std::process::id()));
    std::fs::write(&text, "Not a database, but a text that is long enough to have a header. ".repeat(20))
        .unwrap();
    let refused = refusal(Store::open(&Database::Sqlite(text.clone())));
    std::fs::remove_file(&text).unwrap();
    assert!(refused.contains("not a database"), "{refused}");
    let nowhere: Database = "postgres://ann:secret@localhost:1/ladder".parse().unwrap();
    let refused = refusal(Store::open(&nowhere));
    assert!(
        refused.contains("postgres://ann:...@localhost:1/ladder") && !refused.contains("secret"),
        "{refused}"
    );
}

pub(crate) fn a_backup_is_the_ladder_as_it_was() {
    for mut ladder in Ladder::each() {
        let [ann, _, bob, _] = ladder.bots;
        ladder.play([ann, bob], [2, 1], 5_000);
        ladder.begin([ann, bob], 6_000);
        let to = ladder.place.file("backup.db");
        let backup = ladder.store.backup(&to);
        if let Database::Postgres(_) = ladder.place.database {
            let refused = backup.unwrap_err().to_string();
            assert!(refused.contains("pg_dump") && !to.exists(), "{refused}");
            continue;
        }
        backup.unwrap();
        let again = ladder.store.backup(&to).unwrap_err().to_string();
        assert!(again.contains("there already"), "{again}");
        ladder.play([bob, ann], [2, 2], 7_000);
        let mut copy = Store::serve(&Database::Sqlite(to)).unwrap();
        let checked = copy.check().unwrap();
        assert_eq!((checked.games, checked.open, checked.faults), (2, 2, vec![]));
        assert_eq!(copy.open_games().unwrap().len(), 1);
        let expected = ladder.store.check().unwrap();
        assert_eq!((expected.games, expected.open), (4, 2));
    }
}

pub(crate) fn a_check_finds_what_was_changed() {
    // What is changed, and a word of what is found; nothing: all is well.
    let cases = [
        ("", ""),
        ("UPDATE rating SET elo = elo + 1e-12 WHERE bot = 2", "should have the rating"),
        ("UPDATE rating SET encounters = 7 WHERE bot = 2", "after 2 encounters"),
        (
            "UPDATE step SET volatility = volatility * 1.0000000000000002 WHERE encounter = 1",
            "after encounter 1",
        ),
        ("DELETE FROM rating WHERE bot = 2", "has no rating"),
        ("DELETE FROM step WHERE encounter = 1", "has no rating"),
        ("UPDATE game SET half_points = 0 WHERE id = 1", "another result than its record"),
        ("UPDATE game SET plies = 0 WHERE id = 2", "another length"),
        ("UPDATE game SET p1 = p2, p2 = p1 WHERE id = 2", "other players"),
        ("UPDATE game SET record = '{}' WHERE id = 3", "game 3"),
        ("UPDATE game SET state = 'void' WHERE id = 3", "is not over"),
        ("UPDATE encounter SET rated = NULL WHERE id = 2", "moved no rating"),
        ("UPDATE game SET state = 'waiting' WHERE id = 4", "game 4 is waiting"),
        ("UPDATE counter SET last = 1 WHERE name = 'encounter'", "the counter `encounter`"),
        ("INSERT INTO turn (game, number, turn) VALUES (1, 0, '{}')", "game 1 is not played"),
        ("UPDATE encounter SET rated_ms = rated_ms + 40000 WHERE id = 2", "after encounter 2"),
    ];
    for (sql, word) in cases {
        for mut ladder in Ladder::each() {
            let [ann, _, bob, _] = ladder.bots;
            ladder.play([ann, bob], [2, 1], 5_000);
            ladder.play([bob, ann], [2, 0], 6_000);
            meddle(&ladder.place.database, sql);
            let faults = ladder.store.check().unwrap().faults;
            assert_eq!(faults.is_empty(), word.is_empty(), "{sql}: {faults:?}");
            assert!(faults.iter().any(|fault| fault.contains(word)) || word.is_empty(), "{sql}: {faults:?}");
        }
    }
}
