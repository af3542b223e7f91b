//! Workers, the server and the coordinator are killed or stand still.

use std::fs;
use std::process::Stdio;

use plyd::client::Process;
use rustix::process::Signal;
use serde_json::json;

use super::{Coordinator, MATCH, comparable, fleet, local, nats, nats_with, shown, without_times, worker};
use crate::common::nats::wait_until;
use crate::common::{LogReader, Random, is_whole, process};
use crate::matches::{command, directory};

/// The workers at any time.
const WORKERS: usize = 3;

#[test]
fn each_pair_counts_once_whatever_is_killed() {
    let games = if is_whole() { "300" } else { "40" };
    let the_match = [&MATCH[..], &["--games", games]].concat();
    let all: usize = games.parse().unwrap();
    let (records, report) = local(&the_match);
    let (nats, directory) = (nats(), directory());
    let mut random = Random::new(all as u64);
    let mut coordinator = Coordinator::start(&nats, &directory, &the_match);
    let mut number = 0;
    let mut start = || {
        number += 1;
        worker(&nats, &format!("worker-{number}"), &[])
    };
    let mut workers: Vec<Process> = (0..WORKERS).map(|_| start()).collect();
    // After so many games each: a worker, most often; twice the server, once the coordinator.
    let steps = if is_whole() { 30 } else { 10 };
    let mut kills = 0;
    for step in 1..steps {
        let games = all * step / steps;
        wait_until("games are played", || coordinator.kept() >= games);
        if step == steps / 3 {
            nats.end(Signal::KILL);
            nats.serve();
        } else if step == 2 * steps / 3 {
            nats.end(Signal::TERM);
            nats.serve();
        } else if step == steps / 2 {
            process::signal(&coordinator.process, Signal::KILL);
            process::exit(&mut coordinator.process);
            coordinator = Coordinator::start(&nats, &directory, &the_match);
            // One that finds no server when it begins ends, as a wrong address should.
            wait_until("it is connected, or done", || {
                fleet(&nats)["matches"][0]["coordinator"].is_object() || coordinator.kept() == all
            });
        } else {
            let victim = &mut workers[random.below(WORKERS)];
            process::signal(victim, Signal::KILL);
            process::exit(victim);
            *victim = start();
            kills += 1;
        }
    }
    let (played, reported, said) = coordinator.finish();
    assert_eq!(kills, steps - 4);
    let numbers: Vec<u64> = played.iter().map(|record| record["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=all as u64).collect::<Vec<_>>(), "each game is there once");
    assert_eq!(comparable(played), comparable(records));
    assert_eq!(without_times(reported), without_times(report));
    assert!(!said.iter().any(|line| line.contains("refused")), "{said:#?}");
    fs::remove_dir_all(directory).unwrap();
}

/// Whether a worker has players: the server has sent a pair before the worker has read it.
fn plays(worker: &Process) -> bool {
    let worker = worker.id().to_string();
    fs::read_dir("/proc").unwrap().filter_map(Result::ok).any(|entry| {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // Behind the name, which may hold spaces: the state, and the parent.
        let parent = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().nth(1));
        let command = || fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        parent == Some(&*worker) && command().contains("\0serve\0")
    })
}

#[test]
fn a_worker_that_stood_still_writes_second_and_does_no_harm() {
    let the_match = [&MATCH[..], &["--games", "4"]].concat();
    let (records, _) = local(&the_match);
    let (nats, directory) = (nats(), directory());
    // A window in which JetStream knows message ids that is soon over, as it is after two minutes.
    let mut client = nats.client();
    let window = 100_000_000_u64;
    for (name, subjects, retention) in [
        ("plyd_results", json!(["plyd.match.*", "plyd.result.*.*"]), "limits"),
        ("plyd_jobs", json!(["plyd.job.*.*"]), "workqueue"),
    ] {
        let stream = json!({
            "name": name, "subjects": subjects, "retention": retention, "storage": "file", "num_replicas": 1,
            "max_msgs_per_subject": 1, "discard": "new", "discard_new_per_subject": true, "allow_direct": true,
            "duplicate_window": window,
        });
        let made = client.api(&format!("STREAM.CREATE.{name}"), &stream);
        assert_eq!(made["config"]["duplicate_window"], window, "{made}");
    }
    let coordinator = Coordinator::start(&nats, &directory, &the_match);
    let slow = worker(&nats, "slow", &[]);
    wait_until("it plays", || plays(&slow));
    process::signal(&slow, Signal::STOP);
    let _quick = worker(&nats, "quick", &[]);
    // The match is over only if the pair that the first one has is played by the second, after its wait.
    let (played, _, said) = coordinator.finish();
    process::signal(&slow, Signal::CONT);
    wait_until("it has written second", || {
        let slow = shown(&nats, "slow");
        slow["doubled"].as_u64().unwrap_or(0) + slow["games"].as_u64().unwrap_or(0) / 2 >= 1
            && slow["busy"] == json!([])
    });
    let slow = shown(&nats, "slow");
    assert_eq!(slow["doubled"], 1, "{slow}");
    // Four games in two pairs, and the description.
    assert_eq!(client.count("plyd_results"), 3);
    assert_eq!(client.count("plyd_jobs"), 0);
    assert_eq!(comparable(played), comparable(records));
    assert!(!said.iter().any(|line| line.contains("refused")), "{said:#?}");
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_job_that_is_queued_twice_is_played_once() {
    let the_match = [&MATCH[..], &["--games", "4"]].concat();
    let (nats, directory) = (nats(), directory());
    let coordinator = Coordinator::start(&nats, &directory, &the_match);
    let mut client = nats.client();
    // A job as it is, given back at once.
    let job = client.take();
    client.request(job.reply.as_ref().unwrap(), &[], b"-NAK");
    let _worker = worker(&nats, "a", &[]);
    let (_, report, _) = coordinator.finish();
    assert_eq!(report["summary"]["games"], 4);
    let before = shown(&nats, "a");
    assert_eq!(before["games"], 4, "{before}");
    let stored = client.store(&job.subject, &job.bytes);
    assert!(stored["seq"].is_u64(), "{stored}");
    wait_until("the job is taken away", || client.count("plyd_jobs") == 0);
    let after = shown(&nats, "a");
    assert_eq!((&after["games"], &after["doubled"]), (&json!(4), &json!(0)), "{after}");
    assert_eq!(client.count("plyd_results"), 3);
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_worker_leaves_after_its_pair_and_at_once_if_it_is_told_again() {
    let the_match = [&MATCH[..], &["--games", "40"]].concat();
    let (nats, directory) = (nats(), directory());
    let coordinator = Coordinator::start(&nats, &directory, &the_match);
    let mut client = nats.client();
    let mut polite = worker(&nats, "polite", &[]);
    wait_until("it plays", || plays(&polite));
    process::signal(&polite, Signal::TERM);
    assert!(process::exit(&mut polite).success());
    wait_until("its pair counts", || coordinator.kept() >= 2);
    assert_eq!(client.played(), 0);
    let url = nats.url();
    let mut launch = process::plyd(["worker", "--nats", &url, "--name", "hasty"]);
    launch.command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut hasty = process::spawn(launch);
    let log = LogReader::of(&mut hasty);
    wait_until("it plays", || plays(&hasty));
    process::signal(&hasty, Signal::TERM);
    log.wait_for("leaving");
    process::signal(&hasty, Signal::TERM);
    // On a busy machine its pair may have come to its end before.
    let code = process::exit(&mut hasty).code();
    assert!([Some(0), Some(130)].contains(&code), "{code:?}");
    drop(coordinator);
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn what_a_server_lost_is_played_again_but_for_what_was_counted() {
    let the_match = [&MATCH[..], &["--games", "12"]].concat();
    let (records, report) = local(&the_match);
    let (nats, directory) = (nats(), directory());
    let coordinator = Coordinator::start(&nats, &directory, &the_match);
    let _worker = worker(&nats, "a", &[]);
    wait_until("two pairs count", || coordinator.kept() >= 4);
    nats.end(Signal::KILL);
    let kept = coordinator.kept() as u64;
    nats.lose_all();
    nats.serve();
    let (played, reported, said) = coordinator.finish();
    assert_eq!(comparable(played), comparable(records));
    assert_eq!(without_times(reported), without_times(report));
    assert!(!said.iter().any(|line| line.contains("refused:")), "{said:#?}");
    // The description, and of the six pairs those that were not counted before.
    assert!(nats.client().count("plyd_results") <= 1 + 6 - kept / 2, "{kept} games were kept");
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn jobs_that_a_server_lost_are_queued_again() {
    let the_match = [&MATCH[..], &["--games", "4"]].concat();
    let (nats, directory) = (nats(), directory());
    let coordinator = Coordinator::start(&nats, &directory, &the_match);
    let mut client = nats.client();
    wait_until("both pairs are queued", || client.count("plyd_jobs") == 2);
    client.api("STREAM.PURGE.plyd_jobs", &json!({}));
    // Nothing tells the coordinator, which looks for that now and then.
    wait_until("both pairs are queued again", || client.count("plyd_jobs") == 2);
    drop(coordinator);
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn two_coordinators_of_a_match_count_the_same_and_have_no_pair_played_twice() {
    let the_match = [&MATCH[..], &["--games", "12"]].concat();
    let (records, report) = local(&the_match);
    let (nats, directories) = (nats(), [directory(), directory()]);
    let coordinators = directories.each_ref().map(|of| Coordinator::start(&nats, of, &the_match));
    let mut client = nats.client();
    // Both have queued what they would before anybody plays.
    for coordinator in &coordinators {
        coordinator.log.wait_for("workers of");
    }
    wait_until("all is queued", || client.count("plyd_jobs") == 6);
    let _worker = worker(&nats, "a", &[]);
    for coordinator in coordinators {
        let (played, reported, _) = coordinator.finish();
        assert_eq!(comparable(played), comparable(records.clone()));
        assert_eq!(without_times(reported), without_times(report.clone()));
    }
    // The description and six pairs.
    assert_eq!((client.count("plyd_results"), client.count("plyd_jobs")), (7, 0));
    let worker = shown(&nats, "a");
    assert_eq!((&worker["games"], &worker["doubled"]), (&json!(12), &json!(0)), "{worker}");
    directories.iter().for_each(|of| fs::remove_dir_all(of).unwrap());
}

#[test]
fn matches_of_one_server_end_and_are_taken_up_without_harm_to_each_other() {
    let matches = ["5eed", "f00d"].map(|seed| {
        let mut arguments = MATCH;
        arguments[10] = seed;
        [&arguments[..], &["--games", "16"]].concat()
    });
    let (nats, directory) = (nats(), directory());
    let url = nats.url();
    let arguments = matches.each_ref().map(|of| [&of[..], &["--nats", &url, "--json"]].concat());
    let started = arguments.each_ref().map(|of| {
        let mut launch = command(&directory, of);
        launch.command.stdout(Stdio::piped());
        process::spawn(launch)
    });
    let worker = worker(&nats, "a", &["--concurrency", "2"]);
    let report = |output: &[u8]| without_times(serde_json::from_slice(output).unwrap());
    let played = started.map(|coordinator| report(&process::outcome(coordinator).stdout));
    drop(worker);
    for (of, played) in arguments.iter().zip(played) {
        assert_eq!(played["summary"]["games"], 16);
        assert_eq!(report(&process::output(command(&directory, of)).stdout), played);
    }
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_result_that_is_too_large_is_given_back_until_the_server_takes_it() {
    let the_match = [&MATCH[..], &["--games", "2"]].concat();
    // Enough for the description and the job, and for no games.
    let (nats, directory) = (nats_with("max_payload: 2000"), directory());
    let coordinator = Coordinator::start(&nats, &directory, &the_match);
    let _worker = worker(&nats, "a", &[]);
    wait_until("the worker has given the pair back and says why", || {
        let worker = shown(&nats, "a");
        let why = worker["faults"].to_string();
        why.contains("Payload size limit of 2000") && worker["busy"] == json!([])
    });
    assert_eq!(coordinator.kept(), 0);
    nats.end(Signal::TERM);
    nats.configure("");
    nats.serve();
    let (played, ..) = coordinator.finish();
    assert_eq!(played.len(), 2);
    fs::remove_dir_all(directory).unwrap();
}
