//! A first question to a program, before the checks: one that ends by it would fail them all, for a reason
//! that none of them sees. So its exit status and the last of its log are shown once, instead.

use std::io::{self, PipeReader, Read};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::bot;
use super::trial::{Plan, Subject};
use plyd_client::{LineError, Lines, Program, is_final_json};
use serde_json::Value;

/// How long the first answer is waited for. Whether a later one is right is for the checks to say.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a program may take to end once its output has.
const EXIT: Duration = Duration::from_secs(1);
/// The most that is shown of its log.
const SHOWN_BYTES: usize = 2000;
const SHOWN_LINES: usize = 12;

/// Starts the program, and asks it something.
///
/// # Errors
/// [`LineError::Start`] if it does not start, or ends before it has answered.
pub(super) fn answers(plan: &Plan, program: &Program) -> Result<(), LineError> {
    let mut launch = program.launch(plan.reaper.as_ref())?;
    let log = if plan.log {
        None
    } else {
        let (reader, writer) = io::pipe().map_err(|error| failed(program, error))?;
        launch.command.stderr(writer);
        Some(tail(reader).map_err(|error| failed(program, error))?)
    };
    let mut lines = Lines::spawn(launch)?;
    let deadline = Instant::now() + PATIENCE.min(plan.timeout);
    let has_ended = questions(plan).iter().any(|line| !is_heard(&mut lines, line, deadline));
    if !has_ended {
        return Ok(());
    }
    let Ok(Some(status)) = lines.wait_exit(Instant::now() + EXIT) else { return Ok(()) };
    drop(lines);
    let log = log.and_then(|log| log.recv_timeout(EXIT).ok()).unwrap_or_default();
    let wrote = match &*log {
        _ if plan.log => String::new(),
        "" => ", and wrote nothing to stderr".to_owned(),
        log => format!(", and wrote to stderr:\n{log}"),
    };
    Err(failed(program, io::Error::other(format!("it ended before its first answer ({status}){wrote}"))))
}

fn failed(program: &Program, error: io::Error) -> LineError {
    LineError::Start { program: program.path.to_string_lossy().into_owned(), error }
}

/// What is asked: a server greets, and a bot plays one of the games.
fn questions(plan: &Plan) -> Vec<Vec<u8>> {
    match &plan.subject {
        Subject::Bot { games } => games.iter().filter_map(|entry| bot::first_question(entry).ok()).collect(),
        Subject::Server | Subject::Dialer { .. } => vec![plan.hello().to_string().into_bytes()],
    }
}

/// Whether the program goes on after that question.
fn is_heard(lines: &mut Lines, question: &[u8], deadline: Instant) -> bool {
    if matches!(lines.send(question), Err(LineError::Closed)) {
        return false;
    }
    loop {
        match lines.next(deadline) {
            Ok(line) => {
                let message: Value = serde_json::from_slice(&line.bytes).unwrap_or_default();
                if is_final_json(&message) {
                    return true;
                }
            }
            Err(LineError::Closed) => return false,
            Err(_) => return true,
        }
    }
}

/// Reads a log to its end; gives the last lines then, as a terminal may show them.
fn tail(mut log: PipeReader) -> io::Result<Receiver<String>> {
    let (sender, receiver) = channel();
    thread::Builder::new().name("log".to_owned()).spawn(move || {
        let (mut kept, mut chunk) = (Vec::new(), [0; 4096]);
        while let Ok(count @ 1..) = log.read(&mut chunk) {
            kept.extend_from_slice(&chunk[..count]);
            let surplus = kept.len().saturating_sub(SHOWN_BYTES);
            kept.drain(..surplus);
        }
        let text = String::from_utf8_lossy(&kept);
        let lines: Vec<&str> = text.lines().collect();
        let shown = |c: char| if c.is_control() && c != '\t' { char::REPLACEMENT_CHARACTER } else { c };
        let last = lines.iter().skip(lines.len().saturating_sub(SHOWN_LINES));
        let last: Vec<String> = last.map(|line| format!("  {line}").chars().map(shown).collect()).collect();
        let _nobody_waits = sender.send(last.join("\n"));
    })?;
    Ok(receiver)
}
