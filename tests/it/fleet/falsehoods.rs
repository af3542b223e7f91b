//! What a false worker sends is not believed, and its pair is played again.

use std::fs;

use plyd_fleet::{Credentials, Queue, Server};
use serde_json::{Value, json};

use super::{Coordinator, MATCH, comparable, local, nats, worker};
use crate::common::nats::wait_until;
use crate::matches::directory;

/// What a worker may change of its result, and what is said of it.
type Falsehood = (&'static str, fn(&mut Value));

/// A game of a result.
fn first(result: &mut Value) -> &mut Value {
    &mut result["games"][0]
}

const FALSEHOODS: &[Falsehood] = &[
    ("its moves and its result are not those of the rules", |result| {
        let winner = &mut first(result)["result"]["winner"];
        *winner = if *winner == "p1" { json!("p2") } else { json!("p1") };
    }),
    ("turn 1: ", |result| first(result)["moves"][3] = json!("z9")),
    ("it has no end", |result| {
        first(result)["moves"].as_array_mut().unwrap().pop();
        first(result)["answers"].as_array_mut().unwrap().pop();
    }),
    ("its answers are not those of its moves", |result| {
        first(result)["answers"].as_array_mut().unwrap().pop();
    }),
    ("has another opening", |result| first(result)["opening"] = json!(2)),
    ("has another seed", |result| first(result)["seed"] = json!("1")),
    ("was refereed on other terms", |result| first(result)["terms"]["max_moves"] = json!(7)),
    ("is of another game", |result| first(result)["game"] = json!("l-game")),
    ("has other rules", |result| first(result)["rules"]["width"] = json!(7)),
    ("was played by", |result| first(result)["players"][0]["name"] = json!("somebody")),
    ("by another build", |result| first(result)["players"][0]["build"] = json!("mine")),
    ("was played for shard", |result| {
        let players = first(result)["players"].clone();
        let part = json!({ "shard": "0/2", "format": "round_robin", "games": 4, "rules": {}, "players": players,
            "openings": "1" });
        first(result)["part"] = part;
    }),
    ("is not of pair", |result| first(result)["number"] = json!(999)),
    ("is not of pair", |result| result["games"].as_array_mut().unwrap().swap(0, 1)),
    ("it is forfeited after its end", |result| {
        first(result)["forfeit"] = json!({ "player": "p1", "kind": "crash", "message": "so I say" });
    }),
    ("contradicted proofs", |result| {
        first(result)["contradictions"] = json!([{ "player": "p1", "answer": 0, "message": "so I say" }]);
    }),
    ("longer than anybody waits", |result| first(result)["answers"][0]["time_us"] = json!(u64::MAX)),
    ("a late answer is forgiven", |result| first(result)["answers"][0]["forgiven_us"] = json!(1)),
    ("it is the other player's", |result| first(result)["answers"][0]["player"] = json!("p1")),
    ("were scaled in another way", |result| result["scale"] = json!(1000)),
    ("it cannot be read", |result| *result = json!({ "worker": "liar" })),
    ("it cannot be read", |result| drop(result["games"].as_array_mut().unwrap().pop())),
];

#[test]
fn what_is_false_is_refused_and_the_pair_is_played_again() {
    let the_match = [&MATCH[..], &["--games", "4"]].concat();
    let (records, _) = local(&the_match);
    let (nats, directory) = (nats(), directory());
    let coordinator = Coordinator::start(&nats, &directory, &the_match);
    let mut client = nats.client();
    // The coordinator's own words for its players.
    let build = {
        client.take();
        client.description().json()["match"]["players"][0]["build"].clone()
    };
    let result_of = |pair: usize| {
        let mut games = records[2 * (pair - 1)..2 * pair].to_vec();
        for game in &mut games {
            game["players"].as_array_mut().unwrap().iter_mut().for_each(|of| of["build"] = build.clone());
        }
        json!({ "worker": "liar", "games": games })
    };
    for (words, change) in FALSEHOODS {
        let job = client.take();
        let pair = job.pair();
        let mut result = result_of(pair);
        change(&mut result);
        assert_ne!(result, result_of(pair), "{words}: nothing is changed");
        client.done(&job);
        let stored =
            client.store(&job.subject.replace("plyd.job.", "plyd.result."), result.to_string().as_bytes());
        assert!(stored["seq"].is_u64(), "{stored}");
        let said = coordinator.log.wait_for("a result is refused");
        assert!(said.contains(words), "without `{words}`: {said}");
        wait_until("it is taken away", || client.count("plyd_results") == 1);
    }
    assert_eq!(coordinator.kept(), 0);
    // What is true is believed, whoever sends it.
    let job = client.take();
    let pair = job.pair();
    let result = job.subject.replace("plyd.job.", "plyd.result.");
    // Subjects that no pair has are passed over.
    let (of_match, _) = result.rsplit_once('.').unwrap();
    for pair in ["x", "0", "4294967296", "18446744073709551615"] {
        client.store(&format!("{of_match}.{pair}"), b"whose?");
    }
    client.store(&result, result_of(pair).to_string().as_bytes());
    client.done(&job);
    wait_until("it counts", || coordinator.kept() == 2);
    let _worker = worker(&nats, "honest", &[]);
    let (played, _, said) = coordinator.finish();
    assert_eq!(comparable(played), comparable(records));
    let count = FALSEHOODS.len() - 2;
    let counted = format!("{count} results of worker `liar` were refused");
    assert!(said.iter().any(|line| line.contains(&counted)), "{said:#?}");
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_result_that_another_coordinator_has_removed_is_removed() {
    let (nats, directory) = (nats(), directory());
    // It makes the streams.
    let coordinator = Coordinator::start(&nats, &directory, &MATCH);
    let mut client = nats.client();
    let job = client.take();
    // A place that no pair has, so that no coordinator reads it.
    let (of_match, _) = job.subject.rsplit_once('.').unwrap();
    let stored = client.store(&format!("{}.x", of_match.replace("plyd.job.", "plyd.result.")), b"whose?");
    let sequence = stored["seq"].as_u64().unwrap();
    let server = Server { url: nats.url(), credentials: Credentials::None, authority: None, identity: None };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let queue = Queue::connect(&server, "both").await.unwrap();
        for attempt in 1..=2 {
            queue.remove_result(sequence).await.unwrap_or_else(|error| panic!("attempt {attempt}: {error}"));
        }
    });
    drop(coordinator);
    fs::remove_dir_all(directory).unwrap();
}
