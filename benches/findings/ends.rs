//! How processes end: what is in flight then, and what earlier runs wrote.

use std::fs;
use std::path::Path;
use std::time::Instant;

use plyd::client::{Client, is_final, message_id};
use plyd_protocol::Message;
use rustix::process::{Pid, Signal, kill_process};

use crate::finding::{Figure, Finding, LOST, Place, figure, stdio};
use crate::server::Outcome;

/// Ends with searches in flight, and the transcript of an earlier run.
pub(crate) const FINDING: Finding = Finding {
    lines: &[
        ("SIGHUP with 5 searches in flight on stdio: final messages", "5"),
        ("a `hello` that is refused behind 5 searches on stdio: their final messages", "5"),
        ("`--transcript` with a file of an earlier run: bytes of that run that are kept", "all"),
    ],
    measure,
};

const SEARCHES: usize = 5;

fn measure(build: &Path) -> Outcome<Vec<Figure>> {
    let hangup = finals(build, |client| {
        let process = client.pid().and_then(|pid| Pid::from_raw(pid.cast_signed())).ok_or("no process")?;
        Ok(kill_process(process, Signal::HUP)?)
    })?;
    let refused = finals(build, |client| {
        client.send_line(br#"{"id":"h","cmd":"hello","protocol":{"min":9,"max":9}}"#)?;
        Ok(())
    })?;
    Ok(vec![hangup, refused, transcript(build)?])
}

/// The final messages of endless searches, ended so.
fn finals(build: &Path, end: fn(&mut Client) -> Outcome<()>) -> Outcome<Figure> {
    // So many threads that all may run.
    let mut client = stdio(build, &["--threads", "8"])?;
    for number in 0..SEARCHES {
        let go = format!(
            "{{\"id\":\"g{number}\",\"cmd\":\"go\",\"game\":\"isolation\",\"rules\":{{\"preset\":\"11x9\"}},\"position\":{{}},\
             \"clock\":{{\"kind\":\"none\"}},\"options\":{{\"hash_mb\":1}},\"info\":{{\"events\":[\"started\"]}}}}"
        );
        client.send_line(go.as_bytes())?;
        client.wait_for(Instant::now() + LOST, |message| matches!(message, Message::Info(_)))?;
    }
    end(&mut client)?;
    let deadline = Instant::now() + LOST;
    let mut finals = 0;
    while let Ok(received) = client.next(deadline) {
        let message = &received.envelope.message;
        let is_search = message_id(message).is_some_and(|id| id.starts_with('g'));
        finals += usize::from(is_final(message) && is_search);
    }
    Ok(figure(finals.to_string(), finals == SEARCHES))
}

fn transcript(build: &Path) -> Outcome<Figure> {
    let place = Place::new("transcript")?;
    let path = place.file("transcript", "")?;
    let mut first = Vec::new();
    for _ in 0..2 {
        let mut client = stdio(build, &["--transcript", &path])?;
        client.send_line(br#"{"id":"p","cmd":"ping","echo":"an earlier run"}"#)?;
        client.wait_final("p", Instant::now() + LOST)?;
        client.finish_input();
        client.wait_exit(Instant::now() + LOST)?;
        if first.is_empty() {
            first = fs::read(&path)?;
        }
    }
    let kept = fs::read(&path)?.starts_with(&first) && fs::read(&path)?.len() > first.len();
    let bytes = if kept { first.len() } else { 0 };
    Ok(figure(format!("{bytes} of {}", first.len()), kept && !first.is_empty()))
}
