//! The lists that the pages show.

use plyd_ladder::{GameId, OwnerId, PoolId};

use crate::fixtures::{ALICE, Ladder, end, terms, turn};

pub(crate) fn lists_hold_the_latest_first_and_no_more_than_is_asked_for() {
    for mut ladder in Ladder::each() {
        let [ann, _, bob, other] = ladder.bots;
        let numbers = |games: Vec<plyd_ladder::store::GameRow>| -> Vec<u64> {
            games.into_iter().map(|game| game.id.0).collect()
        };
        ladder.play([ann, bob], [2, 1], 5_000);
        let second = ladder.store.add_pool("slow", &terms(), &[], &ALICE).unwrap();
        let first = std::mem::replace(&mut ladder.pool, second);
        ladder.play([ann, other], [1, 1], 6_000);
        ladder.pool = first;
        let begun = ladder.begin([bob, ann], 7_000);
        // Game 6 has not begun.
        for (pool, before, most, expected) in [
            (None, None, 9, &[5, 4, 3, 2, 1][..]),
            (None, None, 2, &[5, 4]),
            (None, Some(4), 2, &[3, 2]),
            (None, Some(1), 2, &[]),
            (Some(first), None, 9, &[5, 2, 1]),
            (Some(second), None, 9, &[4, 3]),
            (Some(second), Some(4), 9, &[3]),
            (Some(PoolId(77)), None, 9, &[]),
            (None, Some(u64::MAX), 1, &[5]),
        ] {
            let found = numbers(ladder.store.games(pool, before.map(GameId), most).unwrap());
            assert_eq!(found, expected, "{pool:?} {before:?} {most}");
        }
        assert_eq!(numbers(ladder.store.games_playing(9).unwrap()), [5]);
        let next = ladder.begin([ann, other], 8_000);
        assert_eq!(numbers(ladder.store.games_playing(9).unwrap()), [7, 5]);
        assert_eq!(numbers(ladder.store.games_playing(1).unwrap()), [7]);
        let row = &ladder.store.games(None, Some(GameId(2)), 1).unwrap()[0];
        assert_eq!((row.pool, row.players, row.half_points), (first, [ann, bob], Some(2)));
        // With the turns that were kept, as long as it is played.
        ladder.store.keep_turns(&[(begun.id, 0, turn(0))]).unwrap();
        let open = ladder.store.open_game(begun.id).unwrap().unwrap();
        assert_eq!((open.id, open.turns), (begun.id, vec![turn(0)]));
        ladder.store.end_game(&end(&begun, 1, None), 9_000).unwrap();
        ladder.store.void_game(next.id, "a test", &ALICE).unwrap();
        for none in [begun.id, next.id, GameId(8), GameId(99)] {
            assert_eq!(ladder.store.open_game(none).unwrap(), None, "{none}");
        }
        assert_eq!(numbers(ladder.store.games_playing(9).unwrap()), [6]);
        for (owner, name) in ladder.owners.into_iter().zip(["ann", "bob"]) {
            let account = ladder.store.account(owner).unwrap().unwrap();
            assert_eq!((account.id, account.name.as_str()), (owner, name));
        }
        assert_eq!(ladder.store.account(OwnerId(99)).unwrap(), None);
    }
}
