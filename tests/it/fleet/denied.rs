//! Jobs that a worker may not play, in any number, keep it from none that it may.

use std::fs;

use serde_json::json;

use super::{Coordinator, MATCH, nats, shown, worker};
use crate::matches::directory;

/// Jobs that lie before those of the match.
const STALE: usize = 300;

#[test]
fn jobs_of_another_build_cost_a_worker_next_to_nothing() {
    let (nats, directory) = (nats(), directory());
    let the_match = [&MATCH[..], &["--games", "4"]].concat();
    let coordinator = Coordinator::start(&nats, &directory, &the_match);
    let mut client = nats.client();
    let job = client.take();
    client.request(job.reply.as_ref().unwrap(), &[], b"-NAK");
    let mut described = client.description().json();
    // The match is queued again behind the jobs of a match whose coordinator has ended.
    drop(coordinator);
    client.api("STREAM.PURGE.plyd_jobs", &json!({}));
    *described.pointer_mut("/match/players/0/build").unwrap() = json!("plyd 9, bench 1 2");
    described["match"]["rounds"] = json!(STALE);
    let bytes = described.to_string();
    let id = plyd_fleet::MatchId::of(bytes.as_bytes());
    client.store(&format!("plyd.match.{id}"), bytes.as_bytes());
    for pair in 1..=STALE {
        client.store(&format!("plyd.job.{id}.{pair}"), &job.bytes);
    }
    let coordinator = Coordinator::start(&nats, &directory, &the_match);
    // A worker that rests after each of them would not come to the match while this test waits for it.
    let _worker = worker(&nats, "a", &[]);
    let (_, report, _) = coordinator.finish();
    assert_eq!(report["summary"]["games"], 4);
    let faults = &shown(&nats, "a")["faults"];
    assert!(faults[0]["message"].as_str().unwrap().contains("is of `plyd 9, bench 1 2`"), "{faults}");
    assert!(faults[0]["count"].as_u64() >= Some(STALE as u64), "{faults}");
    fs::remove_dir_all(directory).unwrap();
}
