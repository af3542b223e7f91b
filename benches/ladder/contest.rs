//! The contest: bots of all kinds play some thousand games, and what comes of it is as it is known
//! beforehand.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use std::{fs, thread};

use plyd::client::Process;
use plyd::zobrist::SplitMix64;
use plyd_ladder::ratings::table::{Place, Row, table};
use plyd_ladder::store::Checked;
use plyd_ladder::{BotId, GameId};
use serde_json::Value;

use super::bots::{Entrant, Kind, entrants};
use super::common::ladder::Ladder;

/// What is asked of the contest.
#[derive(Debug, clap::Args)]
#[group(id = "contest args")]
pub(crate) struct Args {
    /// How many games are played
    #[arg(long, default_value_t = 2000)]
    games: u64,
    /// How often the ladder is killed meanwhile
    #[arg(long, default_value_t = 0)]
    kills: u64,
    /// What the instants of the kills are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A pool on a small board, whose clock no sound bot needs.
const POOL: [&str; 13] = [
    "pool",
    "add",
    "bench",
    "--game",
    "isolation",
    "--rules",
    "width=5",
    "--rules",
    "height=5",
    "--clock",
    "tc=3s+0.1s",
    "--timeout",
    "3s",
];

/// Holds it, and prints what came of it.
pub(crate) fn hold(args: &Args) {
    let mut random = SplitMix64::new(args.seed);
    let mut ladder = Ladder::new("bench-ladder");
    ladder.run(&POOL);
    let house = ["--player", "player=random", "--player", "level=2", "--nodes", "1000", "--games", "40"];
    ladder.run(&[&["calibrate", "bench"], &house[..]].concat());
    ladder.serve(&["--house-after-ms", "2000"]);
    let (entrants, missing) = entrants(&ladder.folder.path);
    let start = |ladder: &Ladder, entrant: &Entrant| {
        let token = format!("{}/{}.token", ladder.folder.path.display(), entrant.name);
        let mut arguments = vec!["--record".to_owned(), own_file(ladder, entrant)];
        arguments.extend_from_slice(&entrant.arguments);
        ladder.connect(&token, &arguments)
    };
    let mut running: BTreeMap<&str, Process> = BTreeMap::new();
    for entrant in &entrants {
        ladder.token(entrant.name, &format!("owner-of-{}", entrant.name));
        running.insert(entrant.name, start(&ladder, entrant));
    }
    let began = Instant::now();
    let (mut kills, mut restarts) = (0, 0);
    let mut next_kill = next(&mut random, 0, args);
    loop {
        thread::sleep(Duration::from_millis(300 + random.next() % 700));
        let games = ladder.check().games;
        if kills < args.kills && games >= next_kill {
            ladder.kill();
            kills += 1;
            ladder.check();
            ladder.serve(&["--house-after-ms", "2000"]);
            next_kill = next(&mut random, games, args);
        }
        if games >= args.games && kills == args.kills && are_disabled(&ladder, &entrants) {
            break;
        }
        let unlucky = entrants.iter().find(|entrant| entrant.kind == Kind::Restarted).unwrap();
        if random.below(10) == 0 {
            // Dropped, it is killed.
            running.remove(unlucky.name);
            running.insert(unlucky.name, start(&ladder, unlucky));
            restarts += 1;
        }
    }
    let lasted = began.elapsed();
    ladder.stop();
    drop(running);
    report(&ladder, &entrants, &missing, lasted);
    println!("\nThe ladder was killed {kills} times, and one of the bots {restarts} times.");
}

/// Whether no broken bot plays any more.
fn are_disabled(ladder: &Ladder, entrants: &[Entrant]) -> bool {
    let bots = ladder.store().bots().unwrap();
    let broken = entrants.iter().filter(|entrant| matches!(entrant.kind, Kind::Broken(_)));
    let is_disabled = |name: &str| bots.iter().any(|bot| bot.name == name && bot.disabled.is_some());
    broken.into_iter().all(|entrant| is_disabled(entrant.name))
}

/// Where a bot keeps the games that it learnt the ends of.
fn own_file(ladder: &Ladder, entrant: &Entrant) -> String {
    format!("{}/{}.games", ladder.folder.path.display(), entrant.name)
}

/// After how many games the ladder is killed next.
fn next(random: &mut SplitMix64, games: u64, args: &Args) -> u64 {
    games + random.next() % (2 * args.games / (args.kills + 1)).max(1)
}

fn report(ladder: &Ladder, entrants: &[Entrant], missing: &[&str], lasted: Duration) {
    let checked = ladder.check();
    let mut store = ladder.store();
    let pool = store.pool("bench").unwrap();
    let results = store.results(pool.id, None).unwrap();
    let rows = table(&results, &pool.anchors.iter().copied().collect());
    let bots: BTreeMap<BotId, _> = store.bots().unwrap().into_iter().map(|bot| (bot.id, bot)).collect();
    let elo = |row: &Row| match row.place {
        Place::Anchor(elo) => format!("{elo:.0}, fixed"),
        Place::Rated(elo) => format!("{:.0} ± {:.0}", elo.value, elo.error),
        Place::Apart { .. } => "apart".into(),
    };
    println!("| bot | Elo | games | points | forfeits | disabled |\n|---|---|---|---|---|---|");
    let mut faults = Vec::new();
    for row in &rows {
        let bot = &bots[&row.bot];
        let games = store.games_of(row.bot, None, true, u64::MAX).unwrap();
        let forfeits: Vec<String> = games.iter().rev().filter_map(|game| game.ended_by.clone()).collect();
        let mut by: BTreeMap<&str, u64> = BTreeMap::new();
        forfeits.iter().for_each(|forfeit| *by.entry(forfeit).or_default() += 1);
        let shown = by.iter().map(|(by, count)| format!("{count} {by}")).collect::<Vec<_>>().join(", ");
        let disabled = if bot.disabled.is_some() { "yes" } else { "" };
        println!("| {} | {} | {} | {} | {shown} | {disabled} |", bot.name, elo(row), row.games, row.points);
        let kind = entrants.iter().find(|entrant| entrant.name == bot.name).map(|entrant| entrant.kind);
        let is_right = match kind {
            // A house bot.
            None | Some(Kind::Sound(_)) => forfeits.is_empty() && bot.disabled.is_none(),
            Some(Kind::Restarted) => forfeits.iter().all(|by| by == "crash" || by == "late"),
            Some(Kind::Broken(fault)) => {
                // What it was to play beside its fifth it lost by being disabled.
                let own = forfeits.iter().take_while(|by| *by == fault).count();
                bot.disabled.is_some() && own >= 5 && forfeits[own..].iter().all(|by| by == "crash")
            }
        };
        if !is_right {
            let forfeits = games.iter().filter_map(|game| store.record(game.id).unwrap()?.forfeit);
            let why = forfeits.map(|forfeit| forfeit.reason.message).collect::<Vec<_>>().join("; ");
            faults.push(format!("{} ({kind:?}): {shown}: {why}", bot.name));
        }
    }
    let ranked: Vec<(u32, &Row)> = rows
        .iter()
        .filter_map(|row| {
            let kind = entrants.iter().find(|entrant| entrant.name == bots[&row.bot].name)?.kind;
            if let Kind::Sound(Some(rank)) = kind { Some((rank, row)) } else { None }
        })
        .collect();
    for (rank, weaker) in &ranked {
        for (_, stronger) in ranked.iter().filter(|(other, _)| other > rank) {
            if weaker.interval().start() > stronger.interval().end() {
                faults.push(format!("{} is above {}", bots[&weaker.bot].name, bots[&stronger.bot].name));
            }
        }
    }
    println!(
        "\n{} games in {:.0} s, {} void and {} open; {} ratings computed anew are the same bits.",
        checked.games,
        lasted.as_secs_f64(),
        checked.void,
        checked.open,
        checked.ratings
    );
    let (own, lost) = compare_own(ladder, entrants, &checked, &mut faults);
    println!(
        "The bots themselves kept {own} records, each of them a game that the ladder has, none twice; of {lost} games they \
         did not learn the end."
    );
    if !missing.is_empty() {
        println!("Not on this machine: {}.", missing.join(", "));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Compares what the bots kept with what the ladder has: how many records they have, and how many they lack.
fn compare_own(
    ladder: &Ladder,
    entrants: &[Entrant],
    checked: &Checked,
    faults: &mut Vec<String>,
) -> (usize, usize) {
    let mut store = ladder.store();
    let mut of_bots: BTreeMap<u64, BTreeMap<String, usize>> = BTreeMap::new();
    for id in 1..=checked.games + checked.void + checked.open {
        let Some(played) = store.record(GameId(id)).unwrap() else { continue };
        let record = serde_json::to_value(&played.record).unwrap().to_string();
        for player in &played.players {
            let of_bot = of_bots.entry(player.index as u64).or_default();
            *of_bot.entry(record.clone()).or_default() += 1;
        }
    }
    let bots = store.bots().unwrap();
    let (mut own, mut lost) = (0, 0);
    // One that is killed may have written half a line.
    for entrant in entrants.iter().filter(|entrant| entrant.kind != Kind::Restarted) {
        let id = bots.iter().find(|bot| bot.name == entrant.name).unwrap().id;
        let mut kept = of_bots.remove(&id.0).unwrap_or_default();
        for line in fs::read_to_string(own_file(ladder, entrant)).unwrap().lines() {
            let record = serde_json::from_str::<Value>(line).unwrap().to_string();
            own += 1;
            match kept.get_mut(&record) {
                Some(count) if *count > 0 => *count -= 1,
                _ => faults.push(format!("{} has a game that the ladder lacks: {record}", entrant.name)),
            }
        }
        lost += kept.into_values().sum::<usize>();
    }
    (own, lost)
}
