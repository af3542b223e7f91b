//! Export and import.

use plyd_ladder::GameId;
use plyd_ladder::store::{By, Store};
use plyd_protocol::Player;

use crate::fixtures::{ALICE, Ladder, Place, end, places};

/// A ladder after some games: with forfeits, void games, a season more and games that go on.
fn played(mut ladder: Ladder) -> Ladder {
    let [ann, other, bob, last] = ladder.bots;
    let house = ladder.house;
    for step in 0..12_i64 {
        let players = [[ann, bob], [house, other], [last, other], [bob, house]][step as usize % 4];
        let half_points = [[2, 2], [0, 1], [1, 1], [2, 0], [1, 2]][step as usize % 5];
        ladder.play(players, half_points, 5_000 + 1_500 * step);
        if step == 5 {
            ladder.store.start_season("2", &ALICE).unwrap();
        }
    }
    let game = ladder.begin([ann, bob], 30_000);
    let mut ending = end(&game, 2, Some(1));
    ending.conversations[1] = vec![plyd_ladder::game::Line {
        by: plyd_ladder::game::Speaker::Ladder,
        at_ms: 4,
        text: "{\"id\":\"1\"}".into(),
    }];
    ending.conversations[0] = [ending.conversations[1].clone(), ending.conversations[1].clone()].concat();
    // The second game of the pair goes on, and so does another.
    ladder.store.end_game(&ending, 31_000).unwrap();
    ladder.begin([last, other], 32_000);
    ladder.store.void_games(&[GameId(3), GameId(10)], "a fault of the ladder's", &ALICE).unwrap();
    ladder
}

fn export(store: &mut Store) -> Vec<u8> {
    let mut lines = Vec::new();
    let games = store.export(&mut lines).unwrap();
    assert_eq!(games as usize, lines.iter().filter(|byte| **byte == b'\n').count());
    lines
}

fn import(place: &Place, lines: &[u8]) -> Result<Store, String> {
    Store::init(&place.database, &ALICE).unwrap();
    let mut store = Store::serve(&place.database).unwrap();
    match store.import(&mut &*lines, &By { who: "eve", at_ms: 50_000 }) {
        Ok(_) => Ok(store),
        Err(error) => {
            let checked = store.check().unwrap();
            assert_eq!(
                (checked.games, checked.open, checked.void, store.bots().unwrap().len()),
                (0, 0, 0, 0)
            );
            Err(error.to_string())
        }
    }
}

pub(crate) fn games_go_from_one_database_to_another() {
    for (ladder, place) in Ladder::each().zip(places().into_iter().rev()) {
        let mut ladder = played(ladder);
        let lines = export(&mut ladder.store);
        let text = String::from_utf8(lines.clone()).unwrap();
        assert!(text.lines().all(|line| line.starts_with(r#"{"record":1,"#)));
        // Each is a record of the arena.
        let games: Vec<plyd_arena::PlayedGame> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(games.len(), 25);
        // In whatever order they come.
        let mut turned: Vec<&str> = text.lines().collect();
        turned.reverse();
        let mut copy = import(&place, (turned.join("\n") + "\n\n").as_bytes()).unwrap();
        let checked = copy.check().unwrap();
        assert_eq!(checked.faults, [""; 0]);
        assert_eq!((checked.games, checked.encounters), (23, 10));
        let pool = copy.pool("quick").unwrap();
        assert_eq!((pool.terms.clone(), pool.anchors.len()), (crate::fixtures::terms(), 1));
        assert_eq!(copy.ratings(pool.id).unwrap(), ladder.store.ratings(ladder.pool).unwrap());
        // The void games were taken over; that of the pair that goes on has no partner yet.
        assert_eq!(copy.game(GameId(3)).unwrap().void_why.as_deref(), Some("a fault of the ladder's"));
        assert_eq!(copy.conversation(GameId(25)).unwrap().len(), 1);
        let logs = [Player::P1, Player::P2].map(|player| copy.log(GameId(25), player).unwrap().len());
        assert_eq!(logs, [2, 1]);
        assert_eq!(export(&mut copy), lines, "and out of it come the same lines");
        let again = copy.import(&mut &*lines, &ALICE).unwrap_err().to_string();
        assert!(again.contains("has games already"), "{again}");
        // It goes on: numbers are not given twice, bots need new tokens.
        let ann = copy.bot_named("ann-0").unwrap();
        assert!(!ann.has_token && ann.owner.is_some());
        let link = copy.invite("Ann", &ALICE).unwrap();
        let (owner, _) = copy.join(link.text(), 1, 2).unwrap();
        assert_eq!(Some(owner), ann.owner);
        let new = copy.new_bot(owner, "new", &ALICE).unwrap();
        assert!(new > *ladder.bots.last().unwrap());
        let house = copy.bot_named("house").unwrap().id;
        let game = copy.begin(&crate::fixtures::encounter(pool.id, [house, new]), 60_000).unwrap();
        assert_eq!(game.id, GameId(27));
    }
}

pub(crate) fn a_closed_pool_stays_closed() {
    for (mut ladder, place) in Ladder::each().zip(places()) {
        let [ann, _, bob, _] = ladder.bots;
        ladder.play([ann, bob], [2, 1], 5_000);
        ladder.store.close_pool("quick", true, "it is late", &By { who: "eve", at_ms: 40_000 }).unwrap();
        let lines = export(&mut ladder.store);
        let mut copy = import(&place, &lines).unwrap();
        assert_eq!(copy.pool("quick").unwrap().closed_ms, Some(40_000));
        assert_eq!(export(&mut copy), lines);
    }
}

pub(crate) fn half_a_pair_is_taken_over_too() {
    for (ladder, place) in Ladder::each().zip(places()) {
        let mut ladder = played(ladder);
        let lines = String::from_utf8(export(&mut ladder.store)).unwrap();
        let without =
            lines.lines().filter(|line| !line.contains(r#""number":8,"#)).collect::<Vec<_>>().join("\n");
        let mut copy = import(&place, without.as_bytes()).unwrap();
        let checked = copy.check().unwrap();
        assert_eq!((checked.games, checked.encounters, checked.faults), (22, 9, vec![]));
        assert!(copy.game(GameId(8)).unwrap().void_why.unwrap().contains("not among the games"));
    }
}

pub(crate) fn what_is_no_export_changes_nothing() {
    let mut ladder = played(Ladder::each().next().unwrap());
    let text = String::from_utf8(export(&mut ladder.store)).unwrap();
    let [first, second] = [0, 1].map(|line| text.lines().nth(line).unwrap().to_owned());
    let twice = |line: &str| format!("{line}\n{line}\n");
    let record = first.split(r#","x_ladder""#).next().unwrap().to_owned() + "}";
    for (lines, word) in [
        ("dear diary".into(), "line 1: no record of a ladder's game"),
        (record, "line 1: no record of a ladder's game: missing field `x_ladder`"),
        (format!("{first}\n{{\"record\":1}}"), "line 2: no record"),
        (twice(&first), "line 2: game 1 came before"),
        (first.replace(r#""number":1,"#, r#""number":0,"#), "0 is no number of a game"),
        (first.replace(r#""number":1,"#, r#""number":18446744073709551615,"#), "is no number of a game"),
        (first.replace("ann-0", "<b>"), "a bot's name"),
        (format!("{first}\n{}", second.replace("ann-0", "ann-9")), "import into a new one"),
        (format!("{first}\n{}", second.replace(r#""index":2,"#, r#""index":3,"#)), "import into a new one"),
        (format!("{first}\n{}", second.replace("10000", "10001")), "other terms"),
        (first.replace(r#""owners":["ann","#, r#""owners":[null,"#), "neither owner nor player"),
        (first.replace(r#""quick""#, r#""../quick""#), "a pool's name"),
        (first.replace(r#""result":{"#, r#""result":null,"was":{"#), "has no result"),
        (first.replace(r#""index":4"#, r#""index":2"#), "import into a new one"),
    ] {
        assert_ne!(lines, first, "{word}");
        let place = places().remove(0);
        let refused = import(&place, lines.as_bytes()).err().unwrap_or_else(|| panic!("{word}"));
        assert!(refused.contains(word), "{word}: {refused}");
    }
    // A ladder with bots of its own.
    let mut other = Ladder::each().next().unwrap();
    other.store.new_house_bot("more", &crate::fixtures::house(), &ALICE).unwrap();
    let changed = text.replace("ann-0", "more");
    let refused = other.store.import(&mut changed.as_bytes(), &ALICE).unwrap_err().to_string();
    assert!(refused.contains("import into a new one"), "{refused}");
    other.assert_sound();
}
