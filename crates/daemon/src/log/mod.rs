//! The log: a thread of its own writes the lines to stderr, so that no caller ever waits for it or fails
//! with it.
//!
//! Knows nothing of what is logged; its form is a matter of `lines`, and what peers can cause is bounded by
//! a `Quota`. What is logged waits in a `queue` of bounded size. Lines are lost and counted if the queue is
//! full (nobody reads stderr) or they cannot be written (the disk is full or the reader gone); the `writer`
//! says how many as soon as it can write again.

mod lines;
mod queue;
mod quota;
pub(crate) mod targets;
mod writer;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io;
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use tracing::Level;
use tracing_subscriber::fmt::format;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

use lines::{Fields, Noted};
use queue::{Hold, Log};

pub use lines::Layer;
pub(crate) use queue::after_answers;
pub(crate) use quota::{Quota, bounded, left_out};

/// How long the end of the process waits for the lines that are left.
const FLUSH: Duration = Duration::from_millis(250);

/// The target of the lines that the log writes about itself.
const ITSELF: &str = "plyd::log";
/// The most secrets that are kept out of the log; beyond that, the oldest is forgotten.
const SECRETS_MOST: usize = 8;

/// The log of the process.
static LOG: Log = Log::new();
/// Whether its lines are JSON.
static IS_JSON: AtomicBool = AtomicBool::new(false);
/// Texts that are never shown.
static SECRETS: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// The form of the log's lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Form {
    /// Text, for people.
    #[default]
    Text,
    /// A JSON object a line, with `time`, `level`, `target`, `fields` and `spans`.
    Json,
}

/// Writes lines in this form from now on.
pub fn set_form(form: Form) {
    IS_JSON.store(form == Form::Json, Relaxed);
}

/// The form of the lines.
#[must_use]
pub fn form() -> Form {
    if IS_JSON.load(Relaxed) { Form::Json } else { Form::Text }
}

/// Keeps a secret out of the log: a value that holds it is not shown.
pub(crate) fn keep_out(secret: &str) {
    let mut secrets = SECRETS.write().unwrap_or_else(PoisonError::into_inner);
    if !secret.is_empty() && !secrets.iter().any(|known| known == secret) {
        let surplus = (secrets.len() + 1).saturating_sub(SECRETS_MOST);
        secrets.drain(..surplus);
        secrets.push(secret.to_owned());
    }
}

/// Whether a text holds a secret: one that was kept out, or what looks like the token of a client by name, of
/// which the daemon knows only a hash.
fn is_secret(text: &str) -> bool {
    if crate::config::clients::holds_token(text) {
        return true;
    }
    let secrets = SECRETS.read().unwrap_or_else(PoisonError::into_inner);
    secrets.iter().any(|secret| text.contains(secret))
}

/// The time as lines have it.
fn now() -> String {
    let mut text = String::new();
    let _no_clock = SystemTime.format_time(&mut format::Writer::new(&mut text));
    text
}

/// When dropped, writes what is left of the log, for at most 250 ms.
#[derive(Debug)]
pub struct Flush(());

impl Drop for Flush {
    fn drop(&mut self) {
        // Otherwise it was done by `flush`.
        if thread::panicking() {
            flush();
        }
    }
}

/// Starts the thread that writes the log to stderr. Panics are logged too from now on: a thread that panics
/// must not wait for stderr either.
///
/// # Errors
/// The system gives no thread.
pub fn start() -> io::Result<Flush> {
    thread::Builder::new().name("log".into()).spawn(|| LOG.write(io::stderr()))?;
    panic::set_hook(Box::new(|panic| LOG.append(panic_text(panic))));
    Ok(Flush(()))
}

/// What is logged of a panic.
fn panic_text(panic: &PanicHookInfo<'_>) -> String {
    let thread = thread::current();
    let backtrace = Backtrace::capture();
    let backtrace = (backtrace.status() == BacktraceStatus::Captured).then(|| backtrace.to_string());
    panic_lines(form(), thread.name().unwrap_or("<unnamed>"), &panic.to_string(), backtrace.as_deref())
}

/// A panic as text, in the standard library's form, or as JSON.
fn panic_lines(form: Form, thread: &str, panic: &str, backtrace: Option<&str>) -> String {
    match form {
        Form::Text => {
            let backtrace = backtrace.map(|text| format!("stack backtrace:\n{text}\n")).unwrap_or_default();
            let text = format!("\nthread '{thread}' {panic}\n{backtrace}");
            // Its lines stay lines.
            let shown = |line: &str| line.chars().flat_map(lines::escaped).collect::<String>();
            text.split('\n').map(shown).collect::<Vec<_>>().join("\n")
        }
        Form::Json => {
            let texts = [("thread", thread), ("panic", panic), ("backtrace", backtrace.unwrap_or_default())];
            let count = texts.len() - usize::from(backtrace.is_none());
            let fields = Fields::of("a thread panicked", &texts[..count]);
            Noted::of(Level::ERROR, ITSELF, fields).line(Form::Json)
        }
    }
}

/// Waits at most 250 ms until the log is written; returns whether it is. If not, a write to stderr would
/// block.
pub fn flush() -> bool {
    LOG.flush(FLUSH)
}

/// Holds back what this thread logs until the hold is dropped, so that logging delays nothing else that the
/// thread does.
pub(crate) fn hold() -> Hold {
    Log::hold()
}

/// The lines of the log that were lost so far.
pub(crate) fn lost() -> u64 {
    LOG.lost.load(Relaxed)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Reads until the end of a text.
    pub(super) fn read_until(reader: &mut io::PipeReader, end: &str) -> String {
        let mut text = Vec::new();
        let mut chunk = vec![0; 64 << 10];
        while !text.ends_with(end.as_bytes()) {
            let count = reader.read(&mut chunk).unwrap();
            assert!(count > 0, "the log goes on");
            text.extend_from_slice(&chunk[..count]);
        }
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_panic_is_text_or_one_object_and_commands_no_terminal() {
        let panic = "panicked at src/x.rs:1:2:\nbad \u{1b}[2J \"move\"";
        let text = panic_lines(Form::Text, "search-1", panic, Some("0: main"));
        assert_eq!(
            text,
            "\nthread 'search-1' panicked at src/x.rs:1:2:\nbad \\u{1b}[2J \"move\"\nstack backtrace:\n0: main\n"
        );
        let line = panic_lines(Form::Json, "search-1", panic, None);
        assert_eq!((line.lines().count(), line.ends_with("}\n")), (1, true));
        let object: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&object["level"], &object["target"]), (&"ERROR".into(), &ITSELF.into()));
        assert_eq!(
            (&object["fields"]["panic"], &object["fields"]["thread"]),
            (&panic.into(), &"search-1".into())
        );
        assert!(object["fields"].get("backtrace").is_none() && object["spans"] == serde_json::json!([]));
    }
}
