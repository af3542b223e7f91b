//! A fleet whose server lets nobody do more than the documentation says, with keys and over TLS.

use std::fs;
use std::path::Path;

use super::{ACK_WAIT, KEYS, Key, MATCH, fleet, nats_with, read, worker_at};
use crate::common::nats::{Nats, wait_until};
use crate::common::process;
use crate::matches::{command, directory};

/// The rights of workers and coordinators as the documentation has them.
fn rights() -> String {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/fleet.md")).unwrap();
    let start = page.find("WORKER = {").unwrap();
    let end = start + page[start..].find("authorization {").unwrap();
    page[start..end].to_owned()
}

/// The file of a key's seed.
fn seed(nats: &Nats, key: &Key) -> String {
    nats.folder.file(key.name, key.seed)
}

#[test]
fn a_fleet_needs_no_more_rights_than_the_documentation_gives() {
    let [for_worker, for_coordinator, stranger] = [&KEYS[0], &KEYS[1], &KEYS[2]];
    let users = format!(
        "{}authorization {{ users: [\n{{ nkey: {}, permissions: $WORKER }}\n{{ nkey: {}, permissions: $COORDINATOR }}\n] }}",
        rights(),
        for_worker.public,
        for_coordinator.public
    );
    let (nats, directory) = (nats_with(&users), directory());
    let url = nats.url();
    let [for_worker, for_coordinator, stranger] =
        [for_worker, for_coordinator, stranger].map(|key| seed(&nats, key));
    let arguments = [&MATCH[..], &["--games", "4", "--nats", &url, "--nats-nkey", &for_coordinator]].concat();
    let arguments = [&arguments[..], &["--ack-wait", ACK_WAIT, "--record", "fleet.jsonl"]].concat();
    let _worker = worker_at(&url, "a", &["--nats-nkey", &for_worker]);
    let output = process::output(command(&directory, &arguments));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(read(&directory.join("fleet.jsonl")).len(), 4);
    let shown =
        process::output(process::plyd(["fleet", "--nats", &url, "--nats-nkey", &for_coordinator, "--json"]));
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["workers"][0]["games"], 4, "{shown}");
    assert!(!nats.logged().contains("Violation"), "{}", nats.logged());
    // Who is not known gets nowhere, and says why.
    for (more, words) in [(&["--nats-nkey", &stranger][..], "authorization"), (&[], "authorization")] {
        let output = process::output(process::plyd([&["worker", "--nats", &url][..], more].concat()));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(words), "{error}");
    }
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_fleet_works_over_tls_and_with_no_server_that_is_another() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates");
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let tls = format!(
        "tls {{ cert_file: \"{}\", key_file: \"{}\" }}\nauthorization {{ token: \"secret\" }}",
        file("server.pem"),
        file("server.key")
    );
    let (nats, directory) = (nats_with(&tls), directory());
    let url = format!("tls://secret@127.0.0.1:{}", nats.port());
    let authority = file("authority.pem");
    let secured = ["--nats", &url, "--nats-ca", &authority];
    let _worker = worker_at(&url, "a", &["--nats-ca", &authority]);
    let arguments = [&MATCH[..], &["--games", "2", "--ack-wait", ACK_WAIT], &secured].concat();
    let output = process::output(command(&directory, &arguments));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let foreign = file("foreign-authority.pem");
    let output = process::output(process::plyd(["fleet", "--nats", &url, "--nats-ca", &foreign]));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && !error.contains("secret"), "{error}");
    assert!(error.contains("certificate") || error.contains("UnknownIssuer"), "{error}");
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_server_that_is_away_is_waited_for_by_workers_alone() {
    let nats = nats_with("");
    nats.end(rustix::process::Signal::TERM);
    let directory = directory();
    let url = nats.url();
    let output =
        process::output(command(&directory, &[&MATCH[..], &["--games", "2", "--nats", &url]].concat()));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("refused"), "{error}");
    let _worker = worker_at(&url, "patient", &[]);
    nats.serve();
    wait_until("the worker is there", || fleet(&nats)["workers"][0]["name"] == "patient");
    fs::remove_dir_all(directory).unwrap();
}
