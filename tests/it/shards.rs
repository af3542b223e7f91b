//! Matches that are played in parts: the parts are the whole, and what is no part of it is refused.

use std::fs;
use std::path::Path;

use crate::common::process;
use crate::matches::{FAST, GREEDY, RANDOM, command, directory, read, records_in, timeless};
use serde_json::{Value, json};

/// How many parts a match has here: as many as leave the last ones a pair less.
const SHARDS: usize = 4;
/// Nine pairs between three players.
const MATCH: [&str; 13] = [
    "isolation",
    "--rules",
    "width=5,height=5",
    "--player",
    FAST,
    "--player",
    GREEDY,
    "--player",
    RANDOM,
    "--games",
    "6",
    "--seed",
    "5eed",
];

/// The name of a part's file.
fn part(index: usize) -> String {
    format!("part-{index}.jsonl")
}

/// Plays one part.
fn play(directory: &Path, index: usize) -> std::process::Output {
    let (shard, file) = (format!("{index}/{SHARDS}"), part(index));
    let arguments = [&MATCH[..], &["--shard", &shard, "--record", &file, "--json"]].concat();
    process::output(command(directory, &arguments))
}

/// What a report says but for times.
fn without_times(mut report: Value) -> Value {
    for player in report["summary"]["players"].as_array_mut().unwrap() {
        for field in ["time_us", "max_us"] {
            assert!(player[field].take().is_u64(), "{field}");
        }
    }
    report
}

fn merge(directory: &Path, files: &[&str]) -> std::process::Output {
    process::output(command(directory, &[&["--json", "--merge"], files].concat()))
}

fn parsed(output: &std::process::Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_parts_of_a_match_are_its_games_and_its_report() {
    let directory = directory();
    let (whole, report) = records_in(&directory, &MATCH);
    let mut games = Vec::new();
    for index in 0..SHARDS {
        let shard = parsed(&play(&directory, index));
        let records = read(&directory.join(part(index)));
        assert_eq!((&shard["scheduled"], &shard["ended"]), (&json!(records.len()), &json!("played")));
        assert_eq!(shard["shard"], format!("{index}/{SHARDS}"));
        assert!(!records.is_empty());
        games.extend(records);
        // The same command plays nothing again.
        assert_eq!(parsed(&play(&directory, index))["summary"]["games"], shard["summary"]["games"]);
    }
    games.sort_by_key(|record| record["number"].as_u64());
    for record in &mut games {
        let part = record.as_object_mut().unwrap().remove("part").unwrap();
        assert_eq!((&part["games"], &part["format"]), (&json!(18), &json!("round_robin")));
        // The binary is known by its content, on each machine.
        for entrant in record["players"].as_array_mut().unwrap() {
            let build = entrant.as_object_mut().unwrap().remove("build").unwrap();
            assert_eq!(build.as_str().map(str::len), Some(32), "{build}");
        }
    }
    let comparable = |mut record: Value| {
        for entrant in record["players"].as_array_mut().unwrap() {
            entrant.as_object_mut().unwrap().remove("build");
        }
        timeless(record)
    };
    let [whole, games] =
        [whole, games].map(|records| records.into_iter().map(comparable).collect::<Vec<_>>());
    assert_eq!(whole, games);
    // In whatever order the files are given.
    let files: Vec<String> = [2, 0, 3, 1].map(part).into();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    assert_eq!(without_times(parsed(&merge(&directory, &files))), without_times(report));
    let page = [&["--html", "page.html", "--merge"][..], &files].concat();
    assert!(process::output(command(&directory, &page)).status.success());
    assert!(fs::read_to_string(directory.join("page.html")).unwrap().contains("\"scheduled\":18"));
    // A page replaces no record.
    let given = [&["--html", files[1], "--merge"][..], &files].concat();
    let before = fs::read(directory.join(files[1])).unwrap();
    let error = String::from_utf8(process::output(command(&directory, &given)).stderr).unwrap();
    assert!(error.contains("would replace the record"), "{error}");
    assert_eq!(fs::read(directory.join(files[1])).unwrap(), before);
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn what_is_no_part_of_the_match_is_refused_by_name() {
    let directory = directory();
    (0..SHARDS).for_each(|index| assert!(play(&directory, index).status.success()));
    let files: Vec<String> = (0..SHARDS).map(part).collect();
    let [a, b, c, d] = [0, 1, 2, 3].map(|index| &*files[index]);
    let lines: Vec<String> =
        fs::read_to_string(directory.join(a)).unwrap().lines().map(str::to_owned).collect();
    // The first part, with its second record as a change makes it.
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut record: Value = serde_json::from_str(&lines[1]).unwrap();
        change(&mut record);
        [&[lines[0].clone(), record.to_string()], &lines[2..]].concat().join("\n")
    };
    let set = |pointer: &'static str, value: Value| {
        changed(&move |record| *record.pointer_mut(pointer).unwrap() = value.clone())
    };
    for (name, text, words) in [
        ("seed", set("/seed", json!("1")), "another seed"),
        ("terms", set("/terms/margin_us", json!(1)), "other terms"),
        ("game", set("/game", json!("l-game")), "another game"),
        ("rules", set("/part/rules", json!({ "width": 6 })), "other rules"),
        ("format", set("/part/format", json!("gauntlet")), "others who meet"),
        ("games", set("/part/games", json!(24)), "another number of games"),
        ("shards", set("/part/shard", json!("0/3")), "another number of shards"),
        ("shard", set("/part/shard", json!("1/4")), "not in shard 1/4"),
        ("no shard", set("/part/shard", json!("4/4")), "no shard"),
        ("openings", set("/part/openings", json!("1")), "other openings"),
        ("player", set("/part/players/0/name", json!("x")), "`x` plays instead of"),
        ("build", set("/part/players/0/build", json!("x")), "another build"),
        ("number", set("/number", json!(2000)), "not among the 18"),
        ("zero", set("/number", json!(0)), "not among the 18"),
        ("sides", set("/players/0/name", json!("x")), "by others"),
        ("opening", set("/opening", json!(1000)), "fewer moves"),
        ("whole", changed(&|record| drop(record.as_object_mut().unwrap().remove("part"))), "--shard"),
        ("nonsense", "dear diary\n".into(), "line 1"),
        ("unknown", lines[0].replace("\"isolation\"", "\"chess\""), "no game `chess`"),
        ("many", lines[0].replace("\"games\":18", "\"games\":18000000000000"), "no match of"),
        ("odd", lines[0].replace("\"games\":18", "\"games\":17"), "no match of"),
        ("none", lines[0].replace("\"games\":18", "\"games\":0"), "no match of"),
        ("empty", String::new(), "shard 0/4 lacks pairs 1, 5, 9"),
        ("half", lines[..lines.len() - 1].join("\n") + "\n{\"record\":1,\"ga", "shard 0/4 lacks pair 9"),
    ] {
        fs::write(directory.join("changed.jsonl"), &text).unwrap();
        assert!(!lines.contains(&text), "{name} changes nothing");
        let output = merge(&directory, &["changed.jsonl", b, c, d]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}: {error}");
        assert!(error.contains(words), "{name}, without `{words}`: {error}");
        assert!(output.stdout.is_empty(), "{name}");
    }
    for (files, words) in [
        (&[a, b, c][..], "shard 3/4 lacks pairs 4, 8"),
        (&[a, b, c, d, b], "there twice; the first is in part-1.jsonl"),
        (&["missing.jsonl"], "missing.jsonl"),
        (&["/dev/zero"], "no regular file"),
        (&["changed.jsonl", "--sprt", "elo0=0,elo1=5"], "cannot be used with"),
    ] {
        let error = String::from_utf8(merge(&directory, files).stderr).unwrap();
        assert!(error.contains(words), "{files:?}, without `{words}`: {error}");
    }
    // The record of another part is not gone on with.
    let other = [&MATCH[..], &["--shard", "1/4", "--record", a]].concat();
    let error = String::from_utf8(process::output(command(&directory, &other)).stderr).unwrap();
    assert!(error.contains("was played for shard 0/4 instead of shard 1/4"), "{error}");
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn what_names_no_part_is_refused() {
    let directory = directory();
    for (given, words) in [
        (&["--shard", "3/3", "--record", "x"][..], "the part from 0 to N-1"),
        (&["--shard", "1", "--record", "x"], "the part from 0 to N-1"),
        (&["--shard", "0/2"], "--record"),
        (&["--shard", "0/2", "--record", "x", "--sprt", "elo0=0,elo1=5"], "cannot be used with"),
        (&["--shard", "9/10", "--record", "x"], "has 9 pairs of games"),
    ] {
        let output = process::output(command(&directory, &[&MATCH[..], given].concat()));
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{given:?}: {error}");
        assert!(error.contains(words), "{given:?}, without `{words}`: {error}");
    }
    fs::remove_dir_all(directory).unwrap();
}
