//! A ladder with many games at once and spectators before them: a small sample of what
//! `cargo bench --features ladder --bench ladder -- --load` measures. It counts, and takes no times.

use std::time::Duration;

use crate::common::ladder::{Answers, Ladder, Spectators, WaitingBots};
use crate::common::until;

#[test]
fn all_games_go_on_and_no_ply_is_lost_while_spectators_come_and_go() {
    let mut ladder = Ladder::new("ladder-load");
    let pool =
        ["pool", "add", "load", "--game", "isolation", "--rules", "preset=7x7", "--clock", "tc=10m+1s"];
    ladder.run(&pool);
    let token = |number: usize| {
        let name = format!("bot-{number}");
        ladder.run(&["bot", "new", &name, "--owner", &name]).trim().to_owned()
    };
    let tokens = (0..10).map(token).collect();
    ladder.serve(&["--http", "127.0.0.1:0", "--behind-proxy", "--dial", "ws://127.0.0.1:80"]);
    let answers = Answers::default();
    let pause = (Duration::from_millis(50), Duration::from_millis(250));
    let bots = WaitingBots::start(ladder.address.unwrap(), tokens, pause, &answers);
    let spectators = Spectators::start(ladder.web.unwrap(), 20, &answers);
    until("all bots play", || answers.open() == 5);
    bots.measure(true);
    spectators.measure();
    until("games are watched to their ends", || spectators.games() >= 20);
    let watched = spectators.leave();
    let seen = bots.leave(&mut ladder);

    assert_eq!((watched.lost, watched.refused.len()), (0, 0), "{:?}", watched.refused);
    assert!(watched.delays.len() > 20, "the boards of {} plies were seen", watched.delays.len());
    assert_eq!(seen.faults, [""; 0]);
    assert!(seen.shares.len() > 100 && !seen.beyond_us.is_empty() && !seen.ends.is_empty());
    ladder.check();
    let mut store = ladder.store();
    for bot in store.bots().unwrap() {
        let forfeits = store.games_of(bot.id, None, true, 100).unwrap();
        assert_eq!((forfeits, bot.disabled), (vec![], None), "{} is sound", bot.name);
    }
}
