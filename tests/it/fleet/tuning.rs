//! A tuning by workers gives what one process finds, whatever the order in which results come.

use rustix::process::Signal;
use serde_json::Value;

use super::{ACK_WAIT, nats, worker};
use crate::common::nats::wait_until;
use crate::common::process;
use crate::trials::Trials;

/// Some iterations on a board where games last some moves.
const TUNING: [&str; 15] = [
    "ijk",
    "--rules",
    "size=4",
    "--nodes",
    "100",
    "--iterations",
    "6",
    "--pairs",
    "4",
    "--rate",
    "0.2",
    "--max-moves",
    "60",
    "--random-plies=2",
    "--json",
];

/// A report without the build, which a fleet names in another way.
fn comparable(output: &[u8]) -> Value {
    let mut report: Value = serde_json::from_slice(output).unwrap();
    assert!(report["build"].take().is_string());
    report
}

#[test]
fn workers_tune_as_one_process_does() {
    let directory = Trials::new("tune");
    let local = comparable(&directory.run(&TUNING).stdout);
    let nats = nats();
    let url = nats.url();
    let arguments = [&TUNING[..], &["--nats", &url, "--ack-wait", ACK_WAIT]].concat();
    let mut first = process::spawn(directory.command(&arguments));
    let _workers = [worker(&nats, "a", &[]), worker(&nats, "b", &["--concurrency", "2"])];
    // The first coordinator is killed in the middle; another takes it up from what the server has.
    let mut client = nats.client();
    wait_until("some iterations are played", || client.count("plyd_results") > 9);
    process::signal(&first, Signal::KILL);
    process::exit(&mut first);
    let output = directory.run(&[&arguments[..], &["--state", "state.jsonl"]].concat());
    assert_eq!(comparable(&output.stdout), local);
    // No more than the pairs of one iteration were ever queued beyond what was played, and each came once.
    assert_eq!(client.count("plyd_results"), 1 + 6 * 4);
    assert_eq!(client.count("plyd_jobs"), 0);
}
