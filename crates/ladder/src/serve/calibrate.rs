//! What anchors a pool: house bots of known strength. They are plyd's levels and the players that its games
//! have by name, limited by nodes, so that they are as strong next year and on any machine. How strong they
//! are, a round robin between them says.

use std::sync::Arc;
use std::time::Duration;

use plyd_arena::{Entrant, Strictness};
use plyd_core::engine::Entry;
use plyd_core::zobrist::SplitMix64;
use plyd_protocol::{Seed, Setting, Settings};
use tokio::task::{JoinSet, spawn_blocking};

use super::HOUSE_STEPS;
use super::players::{self, draw};
use crate::game::{OpenGame, Opening, Seated};
use crate::live::Live;
use crate::play::{Bots, Event, Game, Network, Recorder, Seat, Table};
use crate::ratings::table::Results;
use crate::store::House;
use crate::terms::PoolTerms;
use crate::{BotId, EncounterId, PoolId};

/// The highest level, which is the default player.
const FULL: i64 = 10;

/// Players beside the levels that are house bots where a game has them.
const NAMED: [&str; 2] = ["random", "published"];

/// A player that is to be a house bot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contestant {
    /// Its name, behind that of the game.
    pub name: String,
    /// What plays.
    pub house: House,
}

/// The usual house bots of a game: its levels, and the players that are no search. They visit so many nodes
/// for each move.
#[must_use]
pub fn contestants(entry: &Entry, nodes: u64, build: &str) -> Vec<Contestant> {
    let one = |name: String, option: &str, value: Setting| Contestant {
        name,
        house: House {
            options: Settings([(option.to_owned(), value)].into()),
            nodes,
            version: build.to_owned(),
        },
    };
    let levels = (1..=FULL).map(|level| one(format!("level-{level}"), "level", level.into()));
    let has = |name: &&str| entry.players().any(|player| player.name == *name);
    let named = NAMED.into_iter().filter(has).map(|name| one(name.to_owned(), "player", name.into()));
    named.chain(levels).collect()
}

/// Plays a round robin on the terms of a pool: so many pairs of games between any two, on so many threads.
/// In the results, contestants are bots by their places from 1 on; `progress` gets how many pairs of how many
/// are played.
///
/// # Errors
/// Why they cannot play: a contestant that the game does not have, say.
pub async fn round_robin(
    games: &'static [&'static Entry],
    terms: &PoolTerms,
    contestants: &[Contestant],
    pairs: u64,
    threads: usize,
    seed: u64,
    mut progress: impl FnMut(u64, u64),
) -> Result<Results, String> {
    let entry = players::entry(games, &terms.game)?;
    for contestant in contestants {
        players::house(entry, &contestant.house, 0)?;
    }
    let house = crate::play::House::start(threads, HOUSE_STEPS).map_err(|error| error.to_string())?;
    // Nobody keeps these games but for their results.
    let (recorder, mut events) = Recorder::new(1024, Live::new(1));
    let kept = tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            if let Event::Ended { kept, .. } = event {
                let _given_up = kept.send(());
            }
        }
    });
    let table = Table { bots: Arc::new(Bots::default()), house: Arc::new(house), recorder };
    let mut random = SplitMix64::new(seed);
    let count = contestants.len();
    let met = (0..pairs).flat_map(|_| {
        (0..count).flat_map(move |first| (first + 1..count).map(move |second| [first, second]))
    });
    let mut left: Vec<([usize; 2], u64)> = met.map(|players| (players, random.next())).collect();
    left.reverse();
    let all = left.len() as u64;
    let (mut results, mut tasks, mut done) = (Results::default(), JoinSet::new(), 0);
    loop {
        while tasks.len() < threads.max(1)
            && let Some((players, seed)) = left.pop()
        {
            let contestants = players.map(|at| contestants[at].clone());
            let (table, terms, number) = (table.clone(), terms.clone(), all - left.len() as u64);
            tasks.spawn(async move {
                (players, pair(games, &table, &terms, EncounterId(number), contestants, seed).await)
            });
        }
        let Some(played) = tasks.join_next().await else { break };
        let (players, half_points) = played.map_err(|error| error.to_string())?;
        results.add_pair(players.map(|at| BotId(at as u64 + 1)), half_points?);
        done += 1;
        progress(done, all);
    }
    drop(table);
    kept.await.map_err(|error| error.to_string())?;
    Ok(results)
}

/// Plays a pair of games; gives the first one's half points.
async fn pair(
    games: &'static [&'static Entry],
    table: &Table,
    terms: &PoolTerms,
    id: EncounterId,
    contestants: [Contestant; 2],
    seed: u64,
) -> Result<usize, String> {
    let drawn = {
        let terms = terms.clone();
        spawn_blocking(move || draw(games, &terms, Seed(seed))).await
    };
    let opening: Opening = drawn.map_err(|error| error.to_string())??;
    let mut half_points = 0;
    for game in id.games() {
        let order = if game.is_second() { [1, 0] } else { [0, 1] };
        let players =
            order.map(|at| Seated { bot: BotId(at as u64 + 1), name: contestants[at].name.clone() });
        let open = OpenGame {
            id: game,
            pool: PoolId(0),
            terms: terms.clone(),
            players,
            seed: Seed(seed),
            opening: opening.clone(),
            turns: Vec::new(),
        };
        let houses = order.map(|at| contestants[at].house.clone());
        let prepared = {
            let open = open.clone();
            spawn_blocking(move || players::prepare(games, &open, [Some(&houses[0]), Some(&houses[1])])).await
        };
        let players::Prepared { terms, houses } = prepared.map_err(|error| error.to_string())??;
        let [Some(first), Some(second)] = houses else { return Err("a player is missing".into()) };
        let entrant =
            |at: usize| Entrant { index: order[at], name: open.players[at].name.clone(), build: None };
        let strictness = Strictness { margin: Duration::ZERO, ..terms.strictness };
        let end = table
            .play(Game {
                id: game,
                pool: open.pool,
                seed: open.seed,
                players: [Seat::House(first), Seat::House(second)],
                entrants: [entrant(0), entrant(1)],
                terms: plyd_arena::referee::Terms { strictness, ..terms },
                network: Network::default(),
                resumed: None,
                voided: None,
            })
            .await
            .map_err(|error| error.to_string())?;
        if let Some(why) = end.void {
            return Err(why);
        }
        half_points += end.played.half_points(0);
    }
    Ok(half_points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratings::table::{Place, table};
    use crate::terms::PoolClock;
    use plyd_games::REGISTRY;
    use std::collections::BTreeMap;

    #[test]
    fn every_game_has_house_bots_that_play_it() {
        for entry in REGISTRY {
            let contestants = contestants(entry, 100, "plyd 1");
            assert!(contestants.len() >= 11 && contestants[0].name == "random", "{}", entry.name);
            for contestant in contestants {
                players::house(entry, &contestant.house, 7).map(drop).unwrap();
            }
        }
    }

    #[tokio::test]
    async fn a_round_robin_ranks_them_and_comes_out_alike_each_time() {
        let entry = REGISTRY.iter().find(|entry| entry.name == "isolation").unwrap();
        let mut terms = PoolTerms::new("isolation", PoolClock::PerMove { ms: 1 });
        terms.rules = Settings([("preset".to_owned(), "7x7".into())].into());
        let all = contestants(entry, 300, "plyd 1");
        let some: Vec<Contestant> =
            all.into_iter().filter(|one| ["random", "level-10"].contains(&one.name.as_str())).collect();
        let mut rows = Vec::new();
        for threads in [1, 2] {
            let mut last = (0, 0);
            let played =
                round_robin(REGISTRY, &terms, &some, 5, threads, 7, |done, all| last = (done, all)).await;
            assert_eq!(last, (5, 5));
            rows.push(table(&played.unwrap(), &BTreeMap::from([(BotId(1), 1000.0)])));
        }
        assert_eq!(rows[0], rows[1]);
        let Place::Rated(strong) = rows[0][0].place else { panic!("{rows:?}") };
        assert!(rows[0][0].bot == BotId(2) && strong.value > 1200.0, "{rows:?}");
    }

    #[tokio::test]
    async fn what_cannot_play_is_named() {
        let terms = PoolTerms::new("isolation", PoolClock::PerMove { ms: 1 });
        let options = Settings([("player".to_owned(), "grandmaster".into())].into());
        let house = House { options, nodes: 1, version: "plyd 1".into() };
        let stranger = [Contestant { name: "stranger".into(), house }];
        let why = round_robin(REGISTRY, &terms, &stranger, 1, 1, 7, |_, _| ()).await.unwrap_err();
        assert!(why.contains("the house bot cannot play isolation"), "{why}");
        let unknown = PoolTerms::new("chess", PoolClock::PerMove { ms: 1 });
        let why = round_robin(REGISTRY, &unknown, &[], 1, 1, 7, |_, _| ()).await.unwrap_err();
        assert_eq!(why, "this plyd has no game `chess`");
        let mut long = terms;
        long.opening_plies = 1000;
        assert!(draw(REGISTRY, &long, Seed(1)).unwrap_err().contains("give fewer"));
    }
}
