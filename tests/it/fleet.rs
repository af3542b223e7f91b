//! Matches that workers play, by a real server of NATS: each pair counts once, whatever is killed or stands
//! still, and what nobody may believe is not believed.

mod cancelled;
mod denied;
mod failures;
mod falsehoods;
mod machine;
mod permits;
mod programs;
mod security;
mod tuning;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use plyd::client::Process;
use serde_json::Value;

use crate::common::nats::Nats;
use crate::common::{LogReader, process};
use crate::matches::{command, directory, read, records_in, timeless};

/// A match whose games follow from its arguments, with pairs that take a moment.
const MATCH: [&str; 11] = [
    "isolation",
    "--rules",
    "width=6,height=6",
    "--player",
    "default,nodes=1500",
    "--player",
    "default,nodes=400",
    "--random-plies",
    "3",
    "--seed",
    "5eed",
];

/// How long a worker may say nothing in these tests.
const ACK_WAIT: &str = "1s";

/// A server of NATS, or the reason why there is none: where plyd's own checks run it must be there.
fn nats() -> Nats {
    nats_with("")
}

fn nats_with(configuration: &str) -> Nats {
    Nats::start_with(configuration).expect("nats-server is installed: apt-get install nats-server")
}

/// An nkey, which guards nothing but these tests.
struct Key {
    name: &'static str,
    seed: &'static str,
    public: &'static str,
}

/// Some keys, of the bytes 1, 2, 3 and 4 again and again.
const KEYS: [Key; 4] = [
    Key {
        name: "first",
        seed: "SUAACAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAN7EY",
        public: "UCFIRY65OQE7DFP5KLNS2PF2LVZMUZYJX4OZIEQ36N2IQANUB5XVZ45L",
    },
    Key {
        name: "second",
        seed: "SUAAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAT6EE",
        public: "UCATS5YOVB6ROX2WUNKGNQ2MP3GMXDMKSG2O4N5CLX3A6W4PZGZZJPJO",
    },
    Key {
        name: "third",
        seed: "SUAAGAYDAMBQGAYDAMBQGAYDAMBQGAYDAMBQGAYDAMBQGAYDAMBQGA6BEM",
        public: "UDWUSKGGFDI4FRXK5EBTRECZSVQSSWJHHJOGH6JWG3AUMFFMQ435C2U4",
    },
    Key {
        name: "fourth",
        seed: "SUAAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBH4FY",
        public: "UDFJHLAXAUMHA4OWPOB4P7YO72AQR2HMIUYFOXLXE2DZGM633K7HYREV",
    },
];

/// A worker that is killed when dropped.
fn worker(nats: &Nats, name: &str, more: &[&str]) -> Process {
    worker_at(&nats.url(), name, more)
}

fn worker_at(url: &str, name: &str, more: &[&str]) -> Process {
    let mut launch = process::plyd(
        // Whether the machine of the tests stands still is not what they are about.
        [&["worker", "--nats", url, "--name", name, "--max-noise", "100"], more].concat(),
    );
    launch.command.stdout(Stdio::null()).stderr(Stdio::null());
    process::spawn(launch)
}

/// A coordinator that runs: its process, its log, and where its files are.
struct Coordinator {
    process: Process,
    log: LogReader,
    directory: PathBuf,
}

impl Coordinator {
    fn start(nats: &Nats, directory: &Path, the_match: &[&str]) -> Self {
        let url = nats.url();
        let more = ["--nats", &url, "--ack-wait", ACK_WAIT, "--record", "fleet.jsonl", "--json"];
        let mut launch = command(directory, &[the_match, &more].concat());
        launch.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = process::spawn(launch);
        let log = LogReader::of(&mut process);
        Self { process, log, directory: directory.to_owned() }
    }

    /// How many games it has kept.
    fn kept(&self) -> usize {
        fs::read_to_string(self.directory.join("fleet.jsonl")).map_or(0, |text| text.lines().count())
    }

    /// Waits for its end: the records by number, the report, and what it said.
    fn finish(self) -> (Vec<Value>, Value, Vec<String>) {
        let output = process::outcome(self.process);
        let said = self.log.all();
        assert!(output.status.success(), "{said:#?}");
        let report = serde_json::from_slice(&output.stdout).unwrap();
        (read(&self.directory.join("fleet.jsonl")), report, said)
    }
}

/// What a match is when one process plays it: records and report.
fn local(the_match: &[&str]) -> (Vec<Value>, Value) {
    let directory = directory();
    let played = records_in(&directory, the_match);
    fs::remove_dir_all(directory).unwrap();
    played
}

/// Records without what is another wherever they are played.
fn comparable(records: Vec<Value>) -> Vec<Value> {
    let without_build = |mut record: Value| {
        for entrant in record["players"].as_array_mut().unwrap() {
            entrant.as_object_mut().unwrap().remove("build");
        }
        timeless(record)
    };
    records.into_iter().map(without_build).collect()
}

/// A report without times.
fn without_times(mut report: Value) -> Value {
    for player in report["summary"]["players"].as_array_mut().unwrap() {
        for field in ["time_us", "max_us"] {
            assert!(player[field].take().is_u64(), "{field}");
        }
    }
    report
}

/// What `plyd fleet` shows.
fn fleet(nats: &Nats) -> Value {
    let output = process::output(process::plyd(["fleet", "--nats", &nats.url(), "--json"]));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What `plyd fleet` shows of a worker; null if it does not answer.
fn shown(nats: &Nats, name: &str) -> Value {
    let workers = fleet(nats)["workers"].take();
    workers.as_array().unwrap().iter().find(|worker| worker["name"] == name).cloned().unwrap_or_default()
}

#[test]
fn a_fleet_plays_what_one_process_plays() {
    let the_match = [&MATCH[..], &["--games", "12"]].concat();
    let (records, report) = local(&the_match);
    let (nats, directory) = (nats(), directory());
    let coordinator = Coordinator::start(&nats, &directory, &the_match);
    let _workers = [worker(&nats, "a", &[]), worker(&nats, "b", &["--concurrency", "2"])];
    let (played, reported, _) = coordinator.finish();
    assert_eq!(comparable(played.clone()), comparable(records.clone()));
    assert_eq!(without_times(reported), without_times(report.clone()));
    // What is over is reported again without being played, and without a record.
    let url = nats.url();
    let arguments = [&the_match[..], &["--nats", &url, "--json", "--html", "page.html"]].concat();
    let output = process::output(command(&directory, &arguments));
    let again: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(without_times(again), without_times(report));
    assert!(fs::read_to_string(directory.join("page.html")).unwrap().contains("\"scheduled\":12"));
    let shown = fleet(&nats);
    assert_eq!(shown["matches"].as_array().map(Vec::len), Some(1), "{shown}");
    assert_eq!((&shown["matches"][0]["results"], &shown["matches"][0]["jobs"]), (&6.into(), &0.into()));
    assert_eq!(shown["queue"], serde_json::json!({ "waiting": 0, "taken": 0 }));
    let games: u64 =
        shown["workers"].as_array().unwrap().iter().map(|of| of["games"].as_u64().unwrap()).sum();
    assert_eq!(games, 12, "{shown}");
    // Each record says by which build it was played, the same wherever.
    let build = played[0]["players"][0]["build"].as_str().unwrap();
    assert!(build.starts_with("plyd ") && build.contains("bench"), "{build}");
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_decided_test_ends_the_match_and_what_is_queued() {
    let (nats, directory) = (nats(), directory());
    let the_match = [
        "isolation",
        "--rules",
        "width=5,height=5",
        "--player",
        "default,nodes=500",
        "--player",
        "random,time=1000s",
        "--sprt",
        "elo0=0,elo1=50",
    ];
    let coordinator = Coordinator::start(&nats, &directory, &the_match);
    let _worker = worker(&nats, "a", &["--concurrency", "2"]);
    let (records, report, _) = coordinator.finish();
    assert_eq!(report["ended"], "decided", "{report}");
    assert!(records.len() < 2000, "{}", records.len());
    let mut client = nats.client();
    crate::common::nats::wait_until("nothing is queued", || client.count("plyd_jobs") == 0);
    fs::remove_dir_all(directory).unwrap();
}
