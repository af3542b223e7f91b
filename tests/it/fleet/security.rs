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

/// A file of the certificates.
fn certificate(name: &str) -> String {
    file("certificates", name)
}

/// A file of the tests.
fn file(folder: &str, name: &str) -> String {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder).join(name);
    place.to_str().unwrap().to_owned()
}

/// Has a worker and a coordinator who are let in by these arguments play a pair.
fn play(url: &str, entry: &[&str]) {
    let directory = directory();
    let _worker = worker_at(url, "a", entry);
    let arguments = [&MATCH[..], &["--games", "2", "--ack-wait", ACK_WAIT, "--nats", url], entry].concat();
    let output = process::output(command(&directory, &arguments));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::remove_dir_all(directory).unwrap();
}

/// What is said to somebody who is not let in by these arguments.
fn refused(url: &str, entry: &[&str]) -> String {
    let output = process::output(process::plyd([&["fleet", "--nats", url], entry].concat()));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{error}");
    error
}

#[test]
fn a_fleet_works_over_tls_and_with_no_server_that_is_another() {
    let tls = format!(
        "tls {{ cert_file: \"{}\", key_file: \"{}\" }}\nauthorization {{ token: \"secret\" }}",
        certificate("server.pem"),
        certificate("server.key")
    );
    let nats = nats_with(&tls);
    let url = format!("tls://secret@127.0.0.1:{}", nats.port());
    play(&url, &["--nats-ca", &certificate("authority.pem")]);
    let error = refused(&url, &["--nats-ca", &certificate("foreign-authority.pem")]);
    assert!(!error.contains("secret"), "{error}");
    assert!(error.contains("certificate") || error.contains("UnknownIssuer"), "{error}");
}

#[test]
fn a_server_that_wants_certificates_lets_those_in_who_have_one() {
    let tls = format!(
        "tls {{ cert_file: \"{}\", key_file: \"{}\", ca_file: \"{}\", verify: true }}",
        certificate("server.pem"),
        certificate("server.key"),
        certificate("authority.pem")
    );
    let nats = nats_with(&tls);
    let url = format!("tls://127.0.0.1:{}", nats.port());
    let authority = certificate("authority.pem");
    let files = ["client", "foreign-client"]
        .map(|name| [certificate(&format!("{name}.pem")), certificate(&format!("{name}.key"))]);
    let [own, foreign] = files.each_ref().map(|[of, key]| {
        ["--nats-ca", authority.as_str(), "--nats-cert", of.as_str(), "--nats-key", key.as_str()]
    });
    play(&url, &own);
    refused(&url, &own[..2]);
    refused(&url, &foreign);
}

#[test]
fn a_server_of_accounts_lets_those_in_who_have_credentials() {
    let nats = nats_with(&fs::read_to_string(file("credentials", "server.conf")).unwrap());
    let url = nats.url();
    let credentials = file("credentials", "user.creds");
    play(&url, &["--nats-creds", &credentials]);
    // The same without the right key.
    let text = fs::read_to_string(&credentials).unwrap();
    let own = text.lines().find(|line| line.starts_with("SU")).unwrap();
    let forged = nats.folder.file("forged.creds", text.replace(own, KEYS[0].seed));
    for entry in [&[][..], &["--nats-creds", &forged]] {
        let error = refused(&url, entry);
        assert!(error.contains("authorization"), "{error}");
    }
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
