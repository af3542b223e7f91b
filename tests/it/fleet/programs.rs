//! Programs that travel with a match: signed, checked, limited, and run only where they may be.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{ACK_WAIT, KEYS, nats, shown, worker};
use crate::common::nats::wait_until;
use crate::common::process;
use crate::matches::{RANDOM, command, directory};

/// A bot for every game, that plays the first legal move.
const BOT: &str = r#"#!/usr/bin/python3
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"], "type": "error", "code": "unknown_cmd"}
    if request["cmd"] == "go":
        answer = {"id": request["id"], "type": "bestmove", "move": request["x_legal"][0]}
    print(json.dumps(answer), flush=True)
"#;

#[test]
fn a_signed_program_is_run_by_a_worker_that_trusts_the_key() {
    let (nats, directory) = (nats(), directory());
    let bot = directory.join("bot");
    fs::write(&bot, BOT).unwrap();
    fs::set_permissions(&bot, fs::Permissions::from_mode(0o700)).unwrap();
    let [signer, other] = [&KEYS[2], &KEYS[3]];
    let seed = nats.folder.file("signer", signer.seed);
    let url = nats.url();
    let player = format!("cmd={},legal=true,time=1000s", bot.display());
    let the_match = ["isolation", "--rules", "width=5,height=5", "--player", RANDOM, "--player", &player];
    let more = ["--games", "4", "--nats", &url, "--ack-wait", ACK_WAIT, "--json", "--record", "fleet.jsonl"];
    let started = |more: &[&str]| {
        let mut launch = command(&directory, more);
        launch.command.stdout(Stdio::piped());
        process::spawn(launch)
    };
    let all = [&the_match[..], &more, &["--sign", &seed]].concat();
    let coordinator = started(&all);
    let folder = |name: &str| nats.folder.path.join(name).to_str().unwrap().to_owned();
    let [theirs, ours] = ["theirs", "ours"].map(folder);
    let _careful = worker(&nats, "careful", &[]);
    let _loyal =
        worker(&nats, "loyal", &["--allow-programs", "--trust", other.public, "--programs", &theirs]);
    for (name, words) in [("careful", "--allow-programs"), ("loyal", "whom this worker trusts")] {
        wait_until(words, || shown(&nats, name)["faults"].to_string().contains(words));
    }
    assert!(fs::read_dir(&theirs).unwrap().next().is_none(), "nothing is fetched that may not run");
    let _trusting =
        worker(&nats, "trusting", &["--allow-programs", "--trust", signer.public, "--programs", &ours]);
    let output = process::outcome(coordinator);
    assert!(output.status.success());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["summary"]["games"], 4);
    assert_eq!(report["summary"]["players"][1]["faults"], json!({}), "{report}");
    assert_eq!(shown(&nats, "trusting")["games"], 4);
    // Kept by its content, for its owner alone.
    let kept: Vec<_> = fs::read_dir(&ours).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read(&kept[0]).unwrap(), BOT.as_bytes());
    assert_eq!(fs::metadata(&kept[0]).unwrap().permissions().mode() & 0o777, 0o700);
    let name = kept[0].file_name().unwrap().to_str().unwrap();
    let records = super::read(&directory.join("fleet.jsonl"));
    let build = records[0]["players"][1]["build"].as_str().unwrap();
    assert!(name.starts_with(build), "{name} {build}");
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_program_that_travels_has_limits_and_no_environment() {
    let script = "ulimit -v; ulimit -n; ulimit -f; ulimit -c; env; echo \"$@\"";
    let mut launch =
        process::plyd(["confined", "--memory", "64", "--", "/bin/sh", "-c", script, "sh", "a b", "$HOME"]);
    launch.command.env("SECRET", "nobody's business");
    let output = process::output(launch);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..4], ["65536", "256", "131072", "0"], "{text}");
    assert!(!text.contains("SECRET") && text.ends_with("a b $HOME\n"), "{text}");
}
