//! What happens to the machine of a worker while it plays: its program is replaced, and its cores are watched.

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
