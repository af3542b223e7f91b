//! A process that ends games is killed at random instants: no game is lost, none is counted twice, and the
//! ratings are those of the records.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use plyd_core::zobrist::SplitMix64;
use plyd_ladder::store::{Database, Store};
use plyd_ladder::{BotId, GameId};
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::fixtures::{Ladder, encounter, end, turn};

/// How often it is killed on each database, unless `PLYD_KILLS` says otherwise.
const KILLS: u64 = 50;

/// How many games it plays at once.
const AT_ONCE: usize = 4;

/// What is killed: plays games of random results, and writes the number of each whose end was kept.
pub(crate) fn end_games(database: &Database, seed: u64) -> ! {
    // However the test ends, this ends with it.
    set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
    // The server of the database may not have seen yet that the one before is gone.
    let mut store = loop {
        match Store::serve(database) {
            Ok(store) => break store,
            Err(error) if error.to_string().contains("a server has it") => {
                thread::sleep(Duration::from_millis(1));
            }
            Err(error) => panic!("{error}"),
        }
    };
    let mut random = SplitMix64::new(seed);
    let pool = store.pool("quick").unwrap().id;
    let bots: Vec<BotId> = store.bots().unwrap().iter().map(|bot| bot.id).collect();
    let mut out = std::io::stdout().lock();
    writeln!(out, "begun").unwrap();
    let mut open = store.open_games().unwrap();
    // It goes on where the one before was killed: no encounter has both games open.
    assert!(open.len() <= AT_ONCE, "{open:?}");
    for now_ms in 0.. {
        while open.len() < AT_ONCE {
            let players = [random.below(bots.len()), random.below(bots.len())].map(|at| bots[at]);
            // Not all may meet.
            if let Ok(game) = store.begin(&encounter(pool, players), now_ms) {
                open.push(game);
            }
        }
        let at = random.below(open.len());
        if open[at].turns.len() < 3 {
            let game = &mut open[at];
            let number = game.turns.len();
            store.keep_turns(&[(game.id, number, turn(number))]).unwrap();
            game.turns.push(turn(number));
            continue;
        }
        let game = open.swap_remove(at);
        let ended = store.end_game(&end(&game, random.below(3), None), now_ms).unwrap();
        assert!(ended.counted, "game {} was open", game.id);
        // In one write: whoever reads it reads all of the line or nothing.
        out.write_all(format!("{}\n", game.id).as_bytes()).unwrap();
        out.flush().unwrap();
        open.extend(ended.next);
    }
    unreachable!("it is killed")
}

#[allow(clippy::disallowed_methods, reason = "it asks the system to end it with us")]
pub(crate) fn lose_no_game_and_double_none() {
    let kills: u64 = std::env::var("PLYD_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    for ladder in Ladder::each() {
        let Ladder { place, store, .. } = ladder;
        drop(store);
        let seed = u64::from(std::process::id());
        let mut random = SplitMix64::new(seed);
        let mut ended: Vec<GameId> = Vec::new();
        for kill in 0..kills {
            let (sender, lines) = mpsc::channel::<String>();
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["ender", &url(&place.database), &random.next().to_string()])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let stdout = BufReader::new(child.stdout.take().unwrap());
            let reader = thread::spawn(move || {
                for line in stdout.lines().map_while(Result::ok) {
                    sender.send(line).unwrap();
                }
            });
            // Some are killed before they begin, most within the next games.
            let games = random.below(12);
            let mut seen = Vec::new();
            while seen.len() < games {
                let Ok(line) = lines.recv() else { panic!("it ended by itself (seed {seed}, kill {kill})") };
                seen.push(line);
            }
            thread::sleep(Duration::from_micros(random.next() % 3_000));
            child.kill().unwrap();
            child.wait().unwrap();
            reader.join().unwrap();
            seen.extend(lines.try_iter());
            ended.extend(
                seen.iter().filter(|line| *line != "begun").map(|line| GameId(line.parse().unwrap())),
            );
            // What is kept agrees with itself, and holds all of which it was said.
            let mut store = Store::open(&place.database).unwrap();
            let checked = store.check().unwrap();
            assert_eq!(checked.faults, [""; 0], "seed {seed}, kill {kill}");
            for id in &ended {
                assert_eq!(store.game(*id).unwrap().state, "over", "game {id}, seed {seed}, kill {kill}");
            }
            // At most the last one was kept and not said.
            let said = ended.len() as u64;
            assert!(
                (said..=said + kill + 1).contains(&checked.games),
                "{said} of {}, seed {seed}",
                checked.games
            );
        }
        let mut once = ended.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), ended.len(), "a game ended twice (seed {seed})");
        assert!(ended.len() as u64 > 2 * kills, "{} games are few", ended.len());
    }
}

/// The database as an argument, with its password if it has one.
fn url(database: &Database) -> String {
    match database {
        Database::Sqlite(path) => path.to_str().unwrap().into(),
        Database::Postgres(url) => url.clone(),
    }
}
