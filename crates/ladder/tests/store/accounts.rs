//! Owners and bots.

use plyd_ladder::BotId;
use plyd_ladder::store::{By, House, LINK_MS};

use crate::fixtures::{ALICE, Ladder, house};

pub(crate) fn links_work_once_and_logins_for_their_time() {
    for mut ladder in Ladder::each() {
        let store = &mut ladder.store;
        let link = store.invite("Carol", &ALICE).unwrap();
        assert_eq!(store.accounts().unwrap().last().unwrap().joined_ms, None);
        let (carol, login) = store.join(link.text(), 10_000, 20_000).unwrap();
        let account = store.login(login.text(), 19_999).unwrap().unwrap();
        assert_eq!((account.id, account.name.as_str(), account.joined_ms), (carol, "Carol", Some(10_000)));
        assert_eq!(store.login(login.text(), 20_000).unwrap(), None);
        for stranger in ["", "plyd_", link.text(), "' OR 1=1 --"] {
            assert_eq!(store.login(stranger, 15_000).unwrap(), None, "{stranger}");
            let refused = store.join(stranger, 10_000, 20_000).unwrap_err().to_string();
            assert!(refused.contains("each works once"), "{refused}");
        }
        // A new link ends the one before, by whatever case the name is written; who joined first stays.
        let [old, new] = [store.invite("carol", &ALICE).unwrap(), store.invite("CAROL", &ALICE).unwrap()];
        assert!(store.join(old.text(), 11_000, 20_000).is_err());
        let (same, second) = store.join(new.text(), 12_000, 20_000).unwrap();
        assert_eq!(same, carol);
        assert_eq!(store.login(second.text(), 15_000).unwrap().unwrap().joined_ms, Some(10_000));
        store.log_out(second.text()).unwrap();
        assert_eq!(store.login(second.text(), 15_000).unwrap(), None);
        assert!(store.login(login.text(), 15_000).unwrap().is_some());
        assert_eq!(store.accounts().unwrap().len(), 3);
        // A link grows old.
        for (age_ms, works) in [(LINK_MS, false), (LINK_MS - 1, true)] {
            let link = store.invite("Carol", &By { at_ms: 50_000, ..ALICE }).unwrap();
            let joined = store.join(link.text(), 50_000 + age_ms, i64::MAX);
            assert_eq!(joined.is_ok(), works, "{age_ms}");
        }
    }
}

pub(crate) fn an_owner_who_is_disabled_is_out_with_all_bots() {
    for mut ladder in Ladder::each() {
        let [ann, bob] = ladder.owners;
        let store = &mut ladder.store;
        let eve = By { who: "eve", at_ms: 60_000 };
        let login = store.invite("ann", &eve).unwrap();
        let (_, login) = store.join(login.text(), 60_001, 99_000).unwrap();
        let link = store.invite("Ann", &eve).unwrap();
        store.disable("ann-1", "it is late", &eve).unwrap();
        let before = store.revision().unwrap();
        assert!(store.disable_owner("nobody", "spam", &eve).unwrap_err().to_string().contains("owner list"));
        assert!(store.enable_owner("ann", "", &eve).unwrap_err().to_string().contains("not disabled"));
        store.disable_owner("ANN", "spam", &eve).unwrap();
        let whats: Vec<_> =
            store.audit(before, 9).unwrap().into_iter().map(|entry| (entry.what, entry.about)).collect();
        let expected = [("bot disable", "ann-0"), ("owner disable", "ann")];
        assert_eq!(whats, expected.map(|(what, about)| (what.to_owned(), about.to_owned())));
        assert_eq!(store.login(login.text(), 60_002).unwrap(), None);
        for refused in [
            store.join(link.text(), 60_002, 99_000).map(drop),
            store.invite("ann", &eve).map(drop),
            store.new_bot(ann, "ann-2", &eve).map(drop),
            store.enable("ann-0", "", &eve),
            store.disable_owner("ann", "more spam", &eve),
        ] {
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("disabled: spam") || refused.contains("does not work"), "{refused}");
        }
        let disabled = |store: &mut plyd_ladder::store::Store| {
            let bots = store.bots().unwrap().into_iter().filter_map(|bot| bot.disabled);
            bots.map(|disabled| disabled.why).collect::<Vec<_>>()
        };
        assert_eq!(disabled(store), ["its owner is disabled: spam", "it is late"]);
        store.new_bot(bob, "bob-2", &eve).unwrap();
        store.enable_owner("ann", "sorry", &eve).unwrap();
        assert_eq!(disabled(store), ["it is late"], "what was disabled before stays so");
        assert_eq!(store.login(login.text(), 60_002).unwrap(), None, "a new invitation is wanted");
        let link = store.invite("ann", &eve).unwrap();
        assert_eq!(store.join(link.text(), 60_003, 99_000).unwrap().0, ann);
    }
}

pub(crate) fn bots_have_one_owner_one_name_and_one_token() {
    for mut ladder in Ladder::each() {
        let [ann, bob] = ladder.owners;
        let store = &mut ladder.store;
        for taken in ["ann-0", "ANN-0", "house", "House"] {
            let refused = store.new_bot(bob, taken, &ALICE).unwrap_err().to_string();
            assert!(refused.contains("already"), "{refused}");
        }
        assert!(store.new_bot(bob, "<b>", &ALICE).is_err());
        assert_eq!(store.bot_with_token("").unwrap(), None);
        let bot = store.bot_named("Ann-0").unwrap();
        assert_eq!((bot.owner, bot.has_token, bot.forfeits), (Some(ann), false, 0));
        let token = store.new_token(bot.id, &ALICE).unwrap();
        assert_eq!(store.bot_with_token(token.text()).unwrap().unwrap().id, bot.id);
        let next = store.new_token(bot.id, &ALICE).unwrap();
        assert_eq!(store.bot_with_token(token.text()).unwrap(), None);
        assert!(store.bot_with_token(next.text()).unwrap().unwrap().has_token);
        assert!(store.new_token(ladder.house, &ALICE).unwrap_err().to_string().contains("house bot"));
        assert!(store.new_token(BotId(99), &ALICE).unwrap_err().to_string().contains("99"));
        assert_eq!(store.bot(ladder.house).unwrap().house, Some(house()));
        let none = House { nodes: 0, ..house() };
        assert!(store.new_house_bot("still", &none, &ALICE).is_err());
        // Two are there.
        for number in 2..50 {
            store.new_bot(bob, &format!("more-{number}"), &ALICE).unwrap();
        }
        let refused = store.new_bot(bob, "one-more", &ALICE).unwrap_err().to_string();
        assert!(refused.contains("50 bots at most"), "{refused}");
        store.new_bot(ann, "one-more", &ALICE).unwrap();
        // A bot that names itself anew each time.
        for at_ms in 0..150 {
            store.note_version(bot.id, &format!("v{at_ms}"), at_ms).unwrap();
        }
        let hour_ms = 3_600_000;
        // A version is written once an hour, and whenever it is another one.
        for (version, now_ms, first_ms, last_ms) in [
            ("v149", 200, 149, 149),
            ("v149", 148 + hour_ms, 149, 149),
            ("v149", 149 + hour_ms, 149, 149 + hour_ms),
            ("v148", 150 + hour_ms, 148, 150 + hour_ms),
            ("v149", 151 + hour_ms, 149, 151 + hour_ms),
            // A clock that was set back.
            ("v149", 100, 149, 100),
        ] {
            store.note_version(bot.id, version, now_ms).unwrap();
            let versions = store.versions(bot.id).unwrap();
            let noted = versions.iter().find(|known| known.version == version).unwrap();
            assert_eq!((versions.len(), noted.first_ms, noted.last_ms), (100, first_ms, last_ms), "{now_ms}");
        }
    }
}

pub(crate) fn what_is_done_stands_in_the_audit_log() {
    for mut ladder in Ladder::each() {
        let store = &mut ladder.store;
        let before = store.revision().unwrap();
        let eve = By { who: "eve", at_ms: 77 };
        store.disable("Bob-1", "it spams\0 the log", &eve).unwrap();
        store.enable("bob-1", "sorry", &eve).unwrap();
        store.close_pool("quick", true, "it is late", &eve).unwrap();
        let name = "a".repeat(2000);
        store.enable("bob-1", &name, &eve).unwrap();
        assert!(store.disable("nobody", "", &eve).is_err());
        let entries = store.audit(before, 100).unwrap();
        let seen: Vec<[&str; 4]> =
            entries.iter().map(|entry| [entry.who.as_str(), &entry.what, &entry.about, &entry.why]).collect();
        assert_eq!(seen[0], ["eve", "bot disable", "bob-1", "it spams\u{fffd} the log"]);
        assert_eq!(seen[1], ["eve", "bot enable", "bob-1", "sorry"]);
        assert_eq!(seen[2], ["eve", "pool close", "quick", "it is late"]);
        assert_eq!((seen.len(), seen[3][3].len(), entries[3].at_ms), (4, 1000, 77));
        assert_eq!(store.revision().unwrap(), before + 4);
        assert_eq!(store.audit(before + 1, 2).unwrap(), entries[1..3]);
        assert_eq!(store.audit(0, 1).unwrap()[0].what, "season start");
    }
}
