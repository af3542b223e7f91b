//! The golden conversations in `protocol/transcripts` come out the same, by the command that users have for
//! it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::process::{self, PLYD};
use crate::common::{Folder, Server, go};
use rustix::process::Signal;
use serde_json::json;

/// Replays a transcript against a daemon whose limits do not depend on the machine.
fn replay(file: &Path) -> Output {
    let file = file.to_str().expect("a path in UTF-8");
    process::output(process::plyd(["replay", file, "--", PLYD, "serve", "--threads", "2"]))
}

fn transcripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("protocol/transcripts");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_transcript_replays() {
    let files = transcripts();
    assert!(files.len() >= 6, "{files:?}");
    let mut failed = Vec::new();
    for file in files {
        let output = replay(&file);
        if !output.status.success() {
            let text = [output.stdout, output.stderr].concat();
            failed.push(format!("{}:\n{}", file.display(), String::from_utf8_lossy(&text)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_changed_answer_is_found_and_shown() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("changed.jsonl");
    let ping = r#"{"dir":"in","t_us":1,"conn":1,"line":1,"msg":{"id":"a","cmd":"ping","echo":"now"}}"#;
    let pong = r#"{"dir":"out","t_us":2,"conn":1,"line":1,"msg":{"type":"result","id":"a","of":"ping","echo":"then"}}"#;
    fs::write(&file, format!("{ping}\n{pong}\n")).unwrap();
    let output = replay(&file);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("request `a`") && text.contains("- /echo \"then\"\n  + /echo \"now\""), "{text}");
}

/// The last request of a recording is answered behind the end of the input, which a WebSocket does not have.
#[test]
fn over_websocket_it_waits_for_the_answers_and_says_what_it_cannot_repeat() {
    let folder = Folder::new("transcripts-websocket");
    let recorded = folder.path.join("recorded.jsonl").to_str().unwrap().to_owned();
    let mut recording = Server::websocket(&["--threads", "2", "--transcript", &recorded]);
    let mut peer = recording.greet(json!({}));
    peer.best(&go("last", json!({ "game": "isolation", "limit": { "nodes": 20_000 } })));
    recording.signal(Signal::TERM);
    assert!(recording.exit().success());
    let stopped = Path::new(env!("CARGO_MANIFEST_DIR")).join("protocol/transcripts/eof-stop.jsonl");

    let server = Server::websocket(&["--threads", "2"]);
    let address = format!("ws={}", server.address());
    for (file, timeout, is_repeated) in
        [(&*recorded, "40s", true), (stopped.to_str().unwrap(), "500ms", false)]
    {
        let arguments = ["replay", file, "--connect", &address, "--timeout", timeout];
        let output = process::output(process::plyd(arguments));
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.success(), is_repeated, "{file}: {text}");
        assert_eq!(text.contains("cannot be replayed over WebSocket"), !is_repeated, "{file}: {text}");
    }
}

#[test]
fn an_answer_that_never_comes_ends_the_wait() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("silent.jsonl");
    let pong = r#"{"dir":"out","t_us":2,"conn":1,"line":1,"msg":{"type":"result","id":"never"}}"#;
    fs::write(&file, format!("{pong}\n")).unwrap();
    // `cat` answers nothing and stays until its input ends.
    let arguments = ["replay", file.to_str().unwrap(), "--timeout", "10ms", "--", "cat"];
    let output = process::output(process::plyd(arguments));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("`never`: no answer within 10ms"), "{text}");
}
