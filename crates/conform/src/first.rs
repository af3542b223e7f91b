//! A first question to a program, before the checks. A program that ends at it, or speaks another protocol,
//! would fail all checks, for a reason that none of them sees. So the reason is shown once instead: its exit
//! status and the end of its log, what it answered, or that it keeps its answers back.

use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use super::bot;
use super::trial::{Plan, Subject};
use plyd_bridge::program::{FLUSH, JSON_LINES, Log, printable};
use plyd_client::{LineError, Lines, Program, is_final_json};
use serde_json::Value;

/// How long the first answer is waited for. Whether a later one is right is for the checks to judge.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a program may take to end once its output has.
const EXIT: Duration = Duration::from_secs(1);
/// The most lines that are shown of its log.
const SHOWN_LINES: usize = 12;

/// The most characters that are shown of a line that is not JSON.
const SHOWN_CHARS: usize = 80;

/// Why nothing could be checked.
#[derive(Debug)]
pub enum NotChecked {
    /// The program does not start, or nobody listens.
    Unreachable(LineError),
    /// The program starts, but does not speak this protocol.
    Program {
        /// Its command.
        program: String,
        /// What it does instead, and what it wrote.
        why: String,
    },
}

impl fmt::Display for NotChecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(error) => error.fmt(f),
            Self::Program { program, why } => write!(f, "`{program}` cannot be checked: {why}"),
        }
    }
}

impl Error for NotChecked {}

impl From<LineError> for NotChecked {
    fn from(error: LineError) -> Self {
        Self::Unreachable(error)
    }
}

/// What followed a question.
enum Heard {
    /// An answer, right or wrong.
    Answer(Value),
    /// Nothing within the time.
    Nothing,
    /// Lines came within the time, but none was JSON; one of them.
    Foreign(String),
    /// The program ended.
    End,
}

/// Starts the program, and asks it something.
///
/// # Errors
/// It does not start, ends before it has answered, or answers with something that is not JSON; or it is a bot
/// that answers nothing before its input ends.
pub(super) fn answers(plan: &Plan, program: &Program) -> Result<(), NotChecked> {
    let failed = |why: String| NotChecked::Program { program: plan.address.to_string(), why };
    let mut launch = program.launch(plan.reaper.as_ref())?;
    let log = if plan.log {
        None
    } else {
        let (log, writer) = Log::keep().map_err(|error| failed(error.to_string()))?;
        launch.command.stderr(writer);
        Some(log)
    };
    let mut lines = Lines::spawn(launch)?;
    let patience = PATIENCE.min(plan.timeout);
    let deadline = Instant::now() + patience;
    let mut has_answered = false;
    for line in questions(plan) {
        match heard(&mut lines, Some(&line), deadline) {
            Heard::Answer(message) if is_of_a_bot(plan, &message) => {
                return Err(failed(
                    "it answers `hello` by the error `unknown_cmd`, as a bot may and a server may not: \
                     `plyd conform --bot` checks a bot"
                        .to_owned(),
                ));
            }
            Heard::Answer(_) => has_answered = true,
            // Whether a server, or a later answer, is in time is for the checks to judge.
            Heard::Nothing if has_answered || !matches!(plan.subject, Subject::Bot { .. }) => return Ok(()),
            Heard::Nothing => return kept_back(&mut lines, patience).map_err(failed),
            Heard::Foreign(line) => {
                return Err(failed(format!(
                    "its answers are not the JSON lines of this protocol: `{line}`; expected {JSON_LINES}"
                )));
            }
            Heard::End => {
                let Ok(Some(status)) = lines.wait_exit(Instant::now() + EXIT) else { return Ok(()) };
                drop(lines);
                let log = log.map(|log| log.lines(SHOWN_LINES, EXIT));
                let wrote = match log.as_deref() {
                    None => String::new(),
                    Some([]) => ", and wrote nothing to stderr".to_owned(),
                    Some(lines) => format!(", and wrote to stderr:\n  {}", lines.join("\n  ")),
                };
                return Err(failed(format!("it ended before its first answer ({status}){wrote}")));
            }
        }
    }
    Ok(())
}

/// What is asked: a server greets, and a bot plays one of the games.
fn questions(plan: &Plan) -> Vec<Vec<u8>> {
    match &plan.subject {
        Subject::Bot { games } => games.iter().filter_map(|entry| bot::first_question(entry).ok()).collect(),
        Subject::Server | Subject::Dialer { .. } => vec![plan.hello().to_string().into_bytes()],
    }
}

/// Whether what is checked as a server answers as a bot: it knows `go` alone.
fn is_of_a_bot(plan: &Plan, answer: &Value) -> bool {
    matches!(plan.subject, Subject::Server) && answer["type"] == "error" && answer["code"] == "unknown_cmd"
}

/// Ends the input of a bot that has answered nothing. One that keeps its answers in a buffer writes them now,
/// or ends without them. One that does neither may be slow to start, and is left to the checks.
fn kept_back(lines: &mut Lines, waited: Duration) -> Result<(), String> {
    lines.finish_input();
    match heard(lines, None, Instant::now() + EXIT) {
        Heard::Nothing => Ok(()),
        Heard::End => {
            Err(format!("it answered nothing within {waited:?}, and ended with its input: {FLUSH}"))
        }
        Heard::Answer(_) | Heard::Foreign(_) => {
            Err(format!("it answered nothing within {waited:?}, and only once its input had ended: {FLUSH}"))
        }
    }
}

/// What follows that question, or none, until the deadline.
fn heard(lines: &mut Lines, question: Option<&[u8]>, deadline: Instant) -> Heard {
    if question.is_some_and(|question| matches!(lines.send(question), Err(LineError::Closed))) {
        return Heard::End;
    }
    let mut otherwise = Heard::Nothing;
    loop {
        // Without this, lines that are there already would count after the deadline, too, and a program that
        // writes without end would never be given up.
        if Instant::now() >= deadline {
            return otherwise;
        }
        match lines.next(deadline) {
            Ok(line) => match serde_json::from_slice::<Value>(&line.bytes) {
                Ok(message) if is_final_json(&message) => return Heard::Answer(message),
                // What it says beside its answers is for the checks.
                Ok(_) => {}
                Err(_) => {
                    let text = String::from_utf8_lossy(&line.bytes);
                    let shown: String = text.chars().take(SHOWN_CHARS).map(printable).collect();
                    otherwise = Heard::Foreign(shown);
                }
            },
            Err(LineError::Closed) => return Heard::End,
            Err(_) => return otherwise,
        }
    }
}
