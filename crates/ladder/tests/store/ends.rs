//! Games from their beginning to their end, and what becomes of the ratings.

use plyd_arena::PlayedGame;
use plyd_ladder::game::{Line, Speaker};
use plyd_ladder::ratings::progress::{Progress, Rated};
use plyd_ladder::ratings::table::{Results, table};
use plyd_ladder::store::{By, Database, Ended, FORFEITS_IN_A_ROW, House};
use plyd_ladder::{BotId, GameId, SeasonId};
use plyd_protocol::Player;

use crate::fixtures::{ALICE, Ladder, encounter, end, house, terms, turn};

pub(crate) fn a_game_goes_on_where_it_was() {
    for mut ladder in Ladder::each() {
        let [ann, _, bob, _] = ladder.bots;
        let begun = ladder.begin([ann, bob], 5_000);
        assert_eq!((begun.terms.clone(), begun.turns.len()), (terms(), 0));
        assert_eq!(begun.players.each_ref().map(|player| player.name.as_str()), ["ann-0", "bob-0"]);
        let other = ladder.begin([ladder.house, bob], 5_000);
        let turns: Vec<_> = (0..3).map(|number| (begun.id, number, turn(number))).collect();
        ladder.store.keep_turns(&turns).unwrap();
        // Kept again, as after a lost connection: the first one stays.
        let changed = (begun.id, 2, turn(8));
        ladder.store.keep_turns(&[changed, (other.id, 0, turn(0)), (begun.id, 3, turn(3))]).unwrap();
        // Games that are not played have no turns; what follows a gap is not gone on with.
        ladder.store.keep_turns(&[(begun.id.partner(), 0, turn(0)), (GameId(99), 0, turn(0))]).unwrap();
        ladder.store.keep_turns(&[(begun.id, 5, turn(5))]).unwrap();
        let mut ladder = ladder.reopen();
        let open = ladder.store.open_games().unwrap();
        assert_eq!(open.iter().map(|game| game.id).collect::<Vec<_>>(), [begun.id, other.id]);
        assert_eq!(open[0].turns, (0..4).map(turn).collect::<Vec<_>>());
        assert_eq!(open[1].turns, [turn(0)]);
        let mut as_begun = open[0].clone();
        as_begun.turns.clear();
        assert_eq!(as_begun, begun);
        assert_eq!(ladder.store.open_encounters().unwrap(), 2);
        ladder.assert_sound();
        let next = ladder.store.end_game(&end(&begun, 2, None), 6_000).unwrap().next.unwrap();
        assert_eq!((next.id, next.turns.len()), (begun.id.partner(), 0));
        assert_eq!(next.players.each_ref().map(|player| player.bot), [bob, ann]);
        assert_eq!((next.opening, next.seed), (begun.opening, begun.seed));
        let open: Vec<GameId> = ladder.store.open_games().unwrap().iter().map(|game| game.id).collect();
        assert_eq!(open, [next.id, other.id]);
    }
}

pub(crate) fn a_game_ends_once_and_a_pair_moves_both_ratings() {
    for mut ladder in Ladder::each() {
        let [ann, _, bob, _] = ladder.bots;
        let house = ladder.house;
        let mut expected = Progress::new(terms().period_ms);
        expected.set(house, Rated::anchor(1500.0));
        let encounters =
            [([ann, bob], [2, 1], 5_000), ([house, ann], [0, 1], 65_000), ([bob, ann], [2, 2], 65_000)];
        for (players, half_points, at_ms) in encounters {
            let first = ladder.begin(players, at_ms);
            let ending = end(&first, half_points[0], None);
            let ended = ladder.store.end_game(&ending, at_ms).unwrap();
            assert!(ended.counted && ended.standings.is_none() && ended.disabled.is_none());
            // Again, and as if it had ended otherwise.
            // Whoever lost the answer is answered again.
            let again = ladder.store.end_game(&ending, at_ms).unwrap();
            assert_eq!((again.counted, &again.next), (false, &ended.next));
            assert!(
                !ladder.store.end_game(&end(&first, 2 - half_points[0], Some(0)), at_ms).unwrap().counted
            );
            let ending = end(&ended.next.unwrap(), 2 - half_points[1], None);
            let ended = ladder.store.end_game(&ending, at_ms).unwrap();
            let rated = expected.add(players, half_points[0] + half_points[1], at_ms);
            assert_eq!(ended.standings, Some(rated.map(|rated| rated.standing)));
            assert!(ended.counted && ended.next.is_none());
            assert_eq!(ladder.store.end_game(&ending, at_ms + 1).unwrap(), Ended::default());
            for bot in players {
                let curve = ladder.store.curve(ladder.pool, bot, 100).unwrap();
                let last = curve.last().unwrap();
                assert_eq!((last.at_ms, last.standing), (at_ms, expected.of(bot).standing));
            }
        }
        assert_eq!(&ladder.store.ratings(ladder.pool).unwrap(), expected.bots());
        assert_eq!(ladder.store.ratings_of(ann).unwrap()[0].rated, expected.of(ann));
        assert_eq!(ladder.store.ratings_of(ladder.bots[1]).unwrap(), []);
        let met: Vec<_> =
            ladder.store.met(ladder.pool).unwrap().iter().map(|met| (met.players, met.encounters)).collect();
        assert_eq!(met, [([house, ann], 1), ([ann, bob], 2)]);
        ladder.assert_sound();
        let checked = ladder.store.check().unwrap();
        assert_eq!((checked.games, checked.open, checked.void, checked.encounters), (6, 0, 0, 3));
        let rows = ladder.store.games_of(ann, Some(GameId(6)), false, 3).unwrap();
        assert_eq!(rows.iter().map(|row| row.id.0).collect::<Vec<_>>(), [5, 4, 3]);
        assert_eq!(rows[0].players, [bob, ann]);
        let half_points = (rows[1].half_points, rows[1].ended_by.as_deref(), rows[1].plies);
        assert_eq!(half_points, (Some(1), Some("blocked"), Some(3)));
        assert_eq!(ladder.store.record(GameId(5)).unwrap().unwrap().number, 5);
        assert_eq!(ladder.store.versions(ann).unwrap()[0].version, "ann-0 1.0");
    }
}

pub(crate) fn records_of_other_games_are_refused() {
    for mut ladder in Ladder::each() {
        let [ann, other, bob, _] = ladder.bots;
        let game = ladder.begin([ann, bob], 5_000);
        let before = ladder.store.open_games().unwrap();
        let changed = |change: &dyn Fn(&mut PlayedGame)| {
            let mut ending = end(&game, 2, None);
            change(&mut ending.played);
            ending
        };
        let cases = [
            ("there is no game 99", changed(&|played| played.number = 99)),
            ("other players", changed(&|played| played.players.reverse())),
            ("other players", changed(&|played| played.players[0].index = other.0 as usize)),
            ("another seed", changed(&|played| played.seed.0 += 1)),
            ("no result", changed(&|played| played.record.result = None)),
        ];
        for (word, ending) in cases {
            let refused = ladder.store.end_game(&ending, 6_000).unwrap_err().to_string();
            assert!(refused.contains(word), "{refused}");
        }
        // The second game does not end before it begins.
        let mut second = end(&game, 2, None);
        second.played.number += 1;
        second.played.players.reverse();
        assert!(!ladder.store.end_game(&second, 6_000).unwrap().counted);
        assert_eq!(ladder.store.open_games().unwrap(), before);
        ladder.assert_sound();
    }
}

pub(crate) fn forfeits_in_a_row_disable_a_bot() {
    for mut ladder in Ladder::each() {
        let [ann, _, bob, _] = ladder.bots;
        // Ends a pair; the bot forfeits both games or none.
        let pair = |ladder: &mut Ladder, forfeits: Option<BotId>| {
            let mut disabled = Vec::new();
            let mut next = Some(ladder.begin([ann, bob], 5_000));
            while let Some(game) = next {
                let index =
                    forfeits.map(|bot| game.players.iter().position(|player| player.bot == bot).unwrap());
                let half_points = index.map_or(1, |index| 2 * index);
                let ended = ladder.store.end_game(&end(&game, half_points, index), 5_000).unwrap();
                disabled.extend(ended.disabled);
                next = ended.next;
            }
            disabled
        };
        assert_eq!(pair(&mut ladder, Some(bob)), []);
        assert_eq!(pair(&mut ladder, Some(bob)), []);
        assert_eq!(ladder.store.bot(bob).unwrap().forfeits, 4);
        // A sound game: it begins anew.
        assert_eq!(pair(&mut ladder, None), []);
        assert_eq!(ladder.store.bot(bob).unwrap().forfeits, 0);
        assert_eq!(pair(&mut ladder, Some(bob)), []);
        assert_eq!(pair(&mut ladder, Some(bob)), []);
        let disabled = pair(&mut ladder, Some(bob));
        assert_eq!(disabled.len(), 1, "once, though it forfeits on");
        assert!(disabled[0].0 == bob && disabled[0].1.contains("5 games in a row"), "{disabled:?}");
        let known = ladder.store.bot(bob).unwrap();
        assert_eq!(
            (known.forfeits, known.disabled.unwrap().why),
            (FORFEITS_IN_A_ROW + 1, disabled[0].1.clone())
        );
        let last = ladder.store.audit(0, 1000).unwrap().pop().unwrap();
        assert_eq!(
            (last.who.as_str(), last.what.as_str(), last.about.as_str()),
            ("ladder", "bot disable", "bob-0")
        );
        let refused = ladder.store.begin(&encounter(ladder.pool, [ann, bob]), 6_000).unwrap_err().to_string();
        assert!(refused.contains("bob-0 is disabled"), "{refused}");
        assert_eq!(ladder.store.bot(ann).unwrap().disabled, None);
        ladder.store.enable("bob-0", "mended", &ALICE).unwrap();
        assert_eq!(ladder.store.bot(bob).unwrap().forfeits, 0);
        pair(&mut ladder, Some(bob));
        assert_eq!(ladder.store.bot(bob).unwrap().disabled, None);
        let forfeits = ladder.store.games_of(bob, None, true, 100).unwrap();
        assert_eq!(forfeits.len(), 12);
        assert!(forfeits.iter().all(|game| game.forfeit_bot == Some(bob)));
        // The house is never disabled: its bots hold the scale.
        let house = ladder.house;
        let mut next = Some(ladder.begin([house, ann], 7_000));
        for _ in 0..FORFEITS_IN_A_ROW + 1 {
            let game = next.unwrap_or_else(|| ladder.begin([house, ann], 7_000));
            let index = game.players.iter().position(|player| player.bot == house).unwrap();
            let ended = ladder.store.end_game(&end(&game, 2 * index, Some(index)), 7_000).unwrap();
            assert_eq!(ended.disabled, None);
            next = ended.next;
        }
        assert_eq!(ladder.store.bot(house).unwrap().disabled, None);
        ladder.assert_sound();
    }
}

pub(crate) fn logs_are_kept_of_each_game_until_they_are_dropped() {
    for mut ladder in Ladder::each() {
        let [ann, _, bob, _] = ladder.bots;
        let line = |text: &str| Line { by: Speaker::Ladder, at_ms: 1, text: text.into() };
        let mut ended = Vec::new();
        for at_ms in [6_000, 7_000, 8_000] {
            let game = ladder.begin([ann, bob], 5_000);
            let mut ending = end(&game, 1, None);
            ending.conversations = [vec![line("to p1"), line("to p1")], vec![line("to p2")]];
            ladder.store.end_game(&ending, at_ms).unwrap();
            ended.push((game.id, ending));
        }
        let logs = |ladder: &mut Ladder, id| {
            [Player::P1, Player::P2].map(|player| ladder.store.log(id, player).unwrap())
        };
        for (id, ending) in &ended {
            assert_eq!(logs(&mut ladder, *id), ending.conversations);
            assert_eq!(ladder.store.conversation(*id).unwrap(), [], "nobody forfeited");
        }
        for (before_ms, dropped, left) in [(6_000, 0, 3), (7_001, 2, 1), (7_001, 0, 1)] {
            assert_eq!(ladder.store.drop_logs(before_ms, &ALICE).unwrap(), dropped);
            let kept = ended.iter().filter(|(id, _)| !logs(&mut ladder, *id)[0].is_empty());
            assert_eq!(kept.count(), left);
        }
        assert_eq!(ladder.store.record(ended[0].0).unwrap().as_ref(), Some(&ended[0].1.played));
        let last = ladder.store.audit(0, 1000).unwrap().pop().unwrap();
        assert_eq!((last.what.as_str(), last.why.contains("of 2 games")), ("games drop-logs", true));
        ladder.assert_sound();
    }
}

pub(crate) fn two_mute_bots_are_both_disabled() {
    for mut ladder in Ladder::each() {
        let [ann, _, bob, _] = ladder.bots;
        let (mut games, mut disabled) = (0, Vec::new());
        while disabled.len() < 2 {
            assert!(games < 2 * FORFEITS_IN_A_ROW, "they keep each other enabled: {disabled:?}");
            let mut next = Some(ladder.begin([ann, bob], 5_000));
            while let Some(game) = next {
                // Who is asked first says nothing, so that the other one is never asked.
                let mut ending = end(&game, 0, Some(0));
                ending.played.answers.clear();
                let ended = ladder.store.end_game(&ending, 5_000).unwrap();
                disabled.extend(ended.disabled.map(|(bot, _)| bot));
                next = ended.next;
                games += 1;
            }
        }
        assert_eq!((disabled, games), (vec![ann, bob], 2 * FORFEITS_IN_A_ROW));
        ladder.assert_sound();
    }
}

pub(crate) fn bots_of_one_owner_never_play_for_ratings() {
    for mut ladder in Ladder::each() {
        let [ann, same, bob, _] = ladder.bots;
        let mate = ladder.store.new_house_bot("mate", &crate::fixtures::house(), &ALICE).unwrap();
        for (players, word) in [
            ([ann, same], "one owner"),
            ([same, ann], "one owner"),
            ([ann, ann], "one owner"),
            ([ladder.house, mate], "one owner"),
            ([ann, BotId(99)], "no bot with the number 99"),
        ] {
            let refused =
                ladder.store.begin(&encounter(ladder.pool, players), 5_000).unwrap_err().to_string();
            assert!(refused.contains(word), "{refused}");
        }
        ladder.store.close_pool("quick", true, "", &ALICE).unwrap();
        let refused = ladder.store.begin(&encounter(ladder.pool, [ann, bob]), 5_000).unwrap_err().to_string();
        assert!(refused.contains("closed"), "{refused}");
        assert_eq!(ladder.store.check().unwrap().open, 0);
        ladder.store.close_pool("Quick", false, "", &ALICE).unwrap();
        ladder.begin([ann, bob], 5_000);
    }
}

pub(crate) fn void_games_count_for_nothing() {
    for mut ladder in Ladder::each() {
        let [ann, _, bob, _] = ladder.bots;
        let eve = By { who: "eve", at_ms: 9_000 };
        ladder.play([ann, bob], [2, 2], 5_000);
        ladder.play([bob, ann], [2, 1], 6_000);
        let running = ladder.begin([ann, bob], 7_000);
        ladder.play([ann, ladder.house], [0, 1], 8_000);
        assert!(ladder.store.void_games(&[GameId(1), GameId(99)], "all or none", &eve).is_err());
        ladder.assert_sound();
        assert_eq!(ladder.store.check().unwrap().void, 0);
        assert!(ladder.store.void_game(GameId(3), "it was cut", &eve).unwrap());
        assert!(!ladder.store.void_game(GameId(3), "again", &eve).unwrap());
        // What remains, in its order.
        let mut expected = Progress::new(terms().period_ms);
        expected.set(ladder.house, Rated::anchor(1500.0));
        expected.add([ann, bob], 4, 5_000);
        expected.add([ann, ladder.house], 1, 8_000);
        assert_eq!(&ladder.store.ratings(ladder.pool).unwrap(), expected.bots());
        let mut results = Results::default();
        results.add_pair([ann, bob], 4);
        results.add_single([bob, ann], 1);
        results.add_pair([ann, ladder.house], 1);
        let anchors = [(ladder.house, 1500.0)].into();
        let found = ladder.store.results(ladder.pool, None).unwrap();
        assert_eq!(table(&found, &anchors), table(&results, &anchors));
        // The record stays; a running game ends at once, and its second never begins.
        assert!(ladder.store.record(GameId(3)).unwrap().is_some());
        assert_eq!(ladder.store.void_games(&[running.id, GameId(3)], "why not", &eve).unwrap(), 1);
        assert!(!ladder.store.end_game(&end(&running, 2, None), 9_500).unwrap().counted);
        assert_eq!(ladder.store.open_games().unwrap(), []);
        let rows = [running.id, running.id.partner()].map(|id| ladder.store.game(id).unwrap());
        assert_eq!(rows.each_ref().map(|row| row.state.as_str()), ["void", "void"]);
        assert_eq!(rows[0].void_why.as_deref(), Some("why not"));
        // The second game alone: the first counts by itself.
        let game = ladder.begin([bob, ann], 9_600);
        let next = ladder.store.end_game(&end(&game, 2, None), 9_700).unwrap().next.unwrap();
        assert!(ladder.store.void_game(next.id, "gone", &eve).unwrap());
        results.add_single([bob, ann], 2);
        let found = ladder.store.results(ladder.pool, None).unwrap();
        assert_eq!(table(&found, &anchors), table(&results, &anchors));
        assert_eq!(&ladder.store.ratings(ladder.pool).unwrap(), expected.bots());
        // And the first one while the second is played.
        let game = ladder.begin([bob, ann], 9_600);
        let next = ladder.store.end_game(&end(&game, 2, None), 9_700).unwrap().next.unwrap();
        assert!(ladder.store.void_game(game.id, "gone", &eve).unwrap());
        let ended = ladder.store.end_game(&end(&next, 2, None), 9_800).unwrap();
        assert!(ended.counted && ended.standings.is_none());
        ladder.assert_sound();
        // What comes later moves on from there.
        ladder.play([bob, ladder.house], [2, 2], 9_900);
        expected.add([bob, ladder.house], 4, 9_900);
        assert_eq!(&ladder.store.ratings(ladder.pool).unwrap(), expected.bots());
        ladder.assert_sound();
    }
}

pub(crate) fn an_anchor_that_moves_moves_all() {
    for mut ladder in Ladder::each() {
        let [ann, ..] = ladder.bots;
        ladder.play([ann, ladder.house], [2, 1], 5_000);
        let before = ladder.store.ratings(ladder.pool).unwrap()[&ann].standing.elo();
        ladder.store.set_anchor("quick", "House", 1700.0, &ALICE).unwrap();
        let after = ladder.store.ratings(ladder.pool).unwrap();
        assert!(after[&ann].standing.elo() > before + 1.0);
        assert_eq!(after[&ladder.house].standing.elo(), 1700.0);
        ladder.assert_sound();
        for (bot, elo, word) in [
            ("ann-0", 1500.0, "no house bot"),
            ("nobody", 1500.0, "no bot nobody"),
            ("house", f64::NAN, "no rating"),
            ("house", f64::INFINITY, "no rating"),
        ] {
            let refused = ladder.store.set_anchor("quick", bot, elo, &ALICE).unwrap_err().to_string();
            assert!(refused.contains(word), "{refused}");
        }
        assert_eq!(ladder.store.ratings(ladder.pool).unwrap(), after);
        // Several at once, or none of them.
        let other = House { nodes: 7, ..house() };
        let anchors = |last: &str| {
            [("weak", house(), 900.0), ("HOUSE", house(), 1500.0), (last, other.clone(), 1400.0)]
                .map(|(name, house, elo)| (name.to_owned(), house, elo))
        };
        let (audit, bots) = (ladder.store.revision().unwrap(), ladder.store.bots().unwrap());
        for name in ["house", "ann-0", "no name"] {
            assert!(ladder.store.calibrate("quick", &anchors(name), &ALICE).is_err(), "{name}");
        }
        assert_eq!((ladder.store.revision().unwrap(), ladder.store.bots().unwrap()), (audit, bots));
        assert_eq!(ladder.store.ratings(ladder.pool).unwrap(), after);
        ladder.store.calibrate("quick", &anchors("other"), &ALICE).unwrap();
        let anchors = ladder.store.pool("quick").unwrap().anchors;
        assert_eq!(anchors.iter().map(|(_, elo)| *elo).collect::<Vec<_>>(), [1500.0, 900.0, 1400.0]);
        assert!(ladder.store.ratings(ladder.pool).unwrap()[&ann].standing.elo() < after[&ann].standing.elo());
        ladder.assert_sound();
    }
}

pub(crate) fn seasons_have_their_own_results() {
    for mut ladder in Ladder::each() {
        let [ann, _, bob, _] = ladder.bots;
        ladder.play([ann, bob], [2, 2], 5_000);
        let across = ladder.begin([ann, bob], 5_500);
        let second = ladder.store.start_season("autumn", &By { who: "eve", at_ms: 6_000 }).unwrap();
        assert!(ladder.store.start_season("Autumn", &ALICE).unwrap_err().to_string().contains("already"));
        ladder.play([ann, bob], [0, 0], 7_000);
        // An encounter that goes on does not count; then it counts where it began.
        let points = |ladder: &mut Ladder, season| {
            let met = ladder.store.results(ladder.pool, season).unwrap().between([ann, bob]);
            (met.points().games, met.points().made)
        };
        let next = ladder.store.end_game(&end(&across, 1, None), 8_000).unwrap().next.unwrap();
        assert_eq!(points(&mut ladder, Some(SeasonId(1))), (2, 2.0));
        ladder.store.end_game(&end(&next, 1, None), 8_000).unwrap();
        assert_eq!(points(&mut ladder, Some(SeasonId(1))), (4, 3.0));
        assert_eq!(points(&mut ladder, Some(second)), (2, 0.0));
        assert_eq!(points(&mut ladder, None), (6, 3.0));
        let names: Vec<String> =
            ladder.store.seasons().unwrap().into_iter().map(|season| season.name).collect();
        assert_eq!(names, ["1", "autumn"]);
    }
}

pub(crate) fn a_game_that_does_not_count_ends_void_with_its_reason() {
    for mut ladder in Ladder::each() {
        let [ann, _, bob, _] = ladder.bots;
        let first = ladder.begin([ann, bob], 5_000);
        ladder.store.keep_turns(&[(first.id, 0, turn(0))]).unwrap();
        let mut ending = end(&first, 2, None);
        ending.played.record.result = None;
        ending.void = Some("the ladder's rules of the game broke: a bug".into());
        let ended = ladder.store.end_game(&ending, 6_000).unwrap();
        assert_eq!((ended.counted, ended.next, ended.standings), (true, None, None));
        // Once more, as after a lost connection.
        assert_eq!(ladder.store.end_game(&ending, 7_000).unwrap(), Ended::default());
        for (game, why) in [(first.id, "broke: a bug"), (first.id.partner(), "the first game")] {
            let row = ladder.store.game(game).unwrap();
            assert_eq!(row.state, "void");
            assert!(row.void_why.as_ref().is_some_and(|kept| kept.contains(why)), "{row:?}");
        }
        assert_eq!(ladder.store.open_games().unwrap(), []);
        let entry = ladder.store.audit(0, 1000).unwrap().pop().unwrap();
        assert_eq!(
            (entry.who.as_str(), entry.what.as_str(), entry.about),
            ("ladder", "games void", "1".into())
        );
        ladder.assert_sound();
    }
}

pub(crate) fn what_bots_write_is_kept_bounded() {
    for mut ladder in Ladder::each() {
        let [ann, _, bob, _] = ladder.bots;
        let game = ladder.begin([ann, bob], 5_000);
        let mut ending = end(&game, 0, Some(0));
        let ugly = "\0\u{202e}<script>'; DROP TABLE game; --\u{1f600}";
        ending.played.forfeit.as_mut().unwrap().reason.message = ugly.into();
        ending.played.record.moves.push(ugly.into());
        ending.played.players[0].build = Some(format!("\0{}", "v".repeat(500)));
        let line = |number: u64| Line {
            by: Speaker::Bot,
            at_ms: number,
            text: format!("{ugly}{}", "\u{1f600}".repeat(9000)),
        };
        ending.conversations[0] = (0..1000).map(line).collect();
        ending.conversations[1] = vec![line(7)];
        ladder.store.end_game(&ending, 6_000).unwrap();
        let record = ladder.store.record(game.id).unwrap().unwrap();
        assert_eq!(record, ending.played, "a record is kept as it is: it is judged by it");
        let kept = ladder.store.conversation(game.id).unwrap();
        assert_eq!((kept.len(), kept[0].at_ms), (Line::MOST, 1000 - Line::MOST as u64));
        assert_eq!(kept[0].text.chars().count(), Line::LONGEST);
        assert!(kept[0].text.starts_with(ugly));
        // The bot that did not forfeit has its log, too.
        assert_eq!(ladder.store.log(game.id, Player::P1).unwrap(), kept);
        let other = ladder.store.log(game.id, Player::P2).unwrap();
        assert_eq!((other.len(), other[0].at_ms, other[0].text.chars().count()), (1, 7, Line::LONGEST));
        let version = &ladder.store.versions(ann).unwrap()[0].version;
        assert!(version.starts_with("\u{fffd}v") && version.chars().count() == 100, "{version}");
        assert_eq!(ladder.store.conversation(GameId(2)).unwrap(), []);
        ladder.assert_sound();
        assert!(matches!(ladder.place.database, Database::Sqlite(_) | Database::Postgres(_)));
    }
}
