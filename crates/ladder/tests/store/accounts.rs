//! Owners and bots.

use plyd_ladder::BotId;
use plyd_ladder::store::{By, House};

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
        store.note_version(bot.id, "v149", 200).unwrap();
        let versions = store.versions(bot.id).unwrap();
        assert_eq!((versions.len(), versions[0].version.as_str()), (100, "v149"));
        assert_eq!((versions[0].first_ms, versions[0].last_ms), (149, 200));
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
