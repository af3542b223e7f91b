//! What happens to the machine of a worker while it plays: its program is replaced, and its cores are
//! watched.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{Coordinator, MATCH, nats, shown, worker};
use crate::common::nats::wait_until;
use crate::common::process;
use crate::matches::directory;

#[test]
fn a_worker_plays_the_build_that_it_announced_after_its_file_was_replaced() {
    let (nats, directory) = (nats(), directory());
    let plyd = directory.join("plyd");
    let own = Path::new(env!("CARGO_BIN_EXE_plyd"));
    // A link, where the folder is on the same file system: the program is large.
    fs::hard_link(own, &plyd).or_else(|_| fs::copy(own, &plyd).map(drop)).unwrap();
    let mut command = Command::new(&plyd);
    command.args(["worker", "--nats", &nats.url(), "--name", "old"]);
    let mut launch = process::launch(&command);
    launch.command.stdout(Stdio::null()).stderr(Stdio::null());
    let _worker = process::spawn(launch);
    wait_until("it is there", || !shown(&nats, "old").is_null());
    let new = directory.join("new");
    fs::write(&new, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o700)).unwrap();
    fs::rename(&new, &plyd).unwrap();
    let coordinator = Coordinator::start(&nats, &directory, &[&MATCH[..], &["--games", "2"]].concat());
    let (_, report, _) = coordinator.finish();
    assert_eq!(report["summary"]["games"], 2);
    let shown = shown(&nats, "old");
    assert_eq!((&shown["games"], &shown["faults"]), (&json!(2), &json!([])), "{shown}");
    fs::remove_dir_all(directory).unwrap();
}

/// How many threads of a process watch the cores.
fn watches(process: u32) -> usize {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap().filter_map(Result::ok);
    let names = threads.filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
    names.filter(|name| name.trim() == "plyd-stalls").count()
}

#[test]
fn pairs_played_at_once_share_one_watch_of_the_cores() {
    let (nats, directory) = (nats(), directory());
    let players =
        ["--player", "default,time=1000s,nodes=60000", "--player", "default,time=1000s,nodes=50000"];
    let the_match = [&["isolation", "--rules", "width=6,height=6", "--games", "16"], &players[..]].concat();
    let coordinator = Coordinator::start(&nats, &directory, &the_match);
    let worker = worker(&nats, "wide", &["--concurrency", "4"]);
    let cores = std::thread::available_parallelism().unwrap().get();
    let mut most = 0;
    wait_until("the match is over", || {
        most = most.max(watches(worker.id()));
        coordinator.kept() == 16
    });
    assert_eq!(most, cores);
    wait_until("nothing is watched for nobody", || watches(worker.id()) == 0);
    coordinator.finish();
    fs::remove_dir_all(directory).unwrap();
}
