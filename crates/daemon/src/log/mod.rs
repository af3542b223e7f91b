//! The log: a thread of its own writes the lines to stderr, so that no caller ever waits for it or fails
//! with it.
//!
//! Knows nothing of what is logged; its form is a matter of `lines`, and what peers can cause is bounded by
//! a `Quota`. Lines wait in a queue of bounded size. Lines are
//! lost and counted if the queue is full (nobody reads stderr) or they cannot be written (the disk is full
//! or the reader gone); the log says how many as soon as it can be written again.

mod lines;
mod quota;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io;
use std::iter;
use std::os::fd::AsFd;
use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tracing::Level;
use tracing_subscriber::fmt::format;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::registry::{Registry, SpanRef};

use lines::Fields;

pub use lines::Layer;
pub(crate) use quota::{Quota, bounded, left_out};

/// What may wait to be written.
const QUEUE_BYTES: usize = 256 << 10;

/// How long the end of the process waits for the lines that are left.
const FLUSH: Duration = Duration::from_millis(250);

/// The target of the lines that the log writes about itself.
const ITSELF: &str = "plyd::log";
/// The most secrets that are kept out of the log; of more, the latest.
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

/// Whether a text holds a secret.
fn is_secret(text: &str) -> bool {
    let secrets = SECRETS.read().unwrap_or_else(PoisonError::into_inner);
    secrets.iter().any(|secret| text.contains(secret))
}

/// The time as lines have it.
fn now() -> String {
    let mut text = String::new();
    let _no_clock = SystemTime.format_time(&mut format::Writer::new(&mut text));
    text
}

/// A line that is a JSON object, of something that happened outside of any span.
fn json(level: Level, target: &str, fields: &Fields) -> String {
    lines::json(level, target, fields, iter::empty::<SpanRef<'_, Registry>>())
}

/// Lines between those who log and the thread that writes.
struct Log {
    queue: Mutex<Queue>,
    /// Wakes the thread for new lines, and those who wait until all is written.
    changed: Condvar,
    /// The lines that were lost so far.
    lost: AtomicU64,
}

struct Queue {
    /// Whole lines, oldest first.
    lines: Vec<u8>,
    /// The lines that found no room behind them.
    refused: u64,
    /// Whether lines that were taken out are not yet written.
    is_writing: bool,
}

impl Log {
    const fn new() -> Self {
        Self {
            queue: Mutex::new(Queue { lines: Vec::new(), refused: 0, is_writing: false }),
            changed: Condvar::new(),
            lost: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues whole lines, if there is room. Once lines were refused, so are later ones until the thread
    /// takes what waits: the loss is then one gap, and its place in the log is known.
    fn append(&self, lines: &[u8]) {
        let mut queue = self.lock();
        if queue.refused > 0 || queue.lines.len() + lines.len() > QUEUE_BYTES {
            let count = line_ends(lines);
            queue.refused += count;
            self.lost.fetch_add(count, Relaxed);
        } else {
            queue.lines.extend_from_slice(lines);
        }
        drop(queue);
        self.changed.notify_all();
    }

    /// Waits for lines, and takes all with the number of those that were refused behind them.
    fn take(&self) -> (Vec<u8>, u64) {
        let mut queue = self.lock();
        if queue.is_writing {
            queue.is_writing = false;
            self.changed.notify_all();
        }
        let mut queue = self
            .changed
            .wait_while(queue, |queue| queue.lines.is_empty() && queue.refused == 0)
            .unwrap_or_else(PoisonError::into_inner);
        queue.is_writing = true;
        (std::mem::take(&mut queue.lines), std::mem::take(&mut queue.refused))
    }

    /// Waits until all is written or given up, or the time is over; whether it is.
    fn flush(&self, time: Duration) -> bool {
        let waits = |queue: &mut Queue| queue.is_writing || !queue.lines.is_empty() || queue.refused > 0;
        let waited = self.changed.wait_timeout_while(self.lock(), time, waits);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Writes what comes, for ever.
    fn write(&self, output: impl AsFd) {
        let mut writer = Writer { output, lost: 0, is_cut: false };
        loop {
            let (lines, refused) = self.take();
            self.lost.fetch_add(writer.write(&lines, refused), Relaxed);
        }
    }
}

/// What the thread knows of the output.
struct Writer<F> {
    output: F,
    /// The lines that are missing before the next one, which the output does not say yet.
    lost: u64,
    /// Whether the output ends within a line.
    is_cut: bool,
}

impl<F: AsFd> Writer<F> {
    /// Writes the lines, with notes of the losses before and after them; returns how many lines could not be
    /// written.
    fn write(&mut self, lines: &[u8], lost_behind: u64) -> u64 {
        let unwritten = match self.report().and_then(|()| self.put(lines)) {
            Ok(()) => 0,
            Err(written) => line_ends(&lines[written..]),
        };
        self.lost += unwritten + lost_behind;
        if unwritten == 0 {
            // Where this fails, the next line says so.
            let _later = self.report();
        }
        unwritten
    }

    /// Says how many lines were lost. The error is that none of what follows is written.
    fn report(&mut self) -> Result<(), usize> {
        if self.lost > 0 {
            let plural = if self.lost == 1 { "line of the log was" } else { "lines of the log were" };
            let message = format!("{} {plural} lost", self.lost);
            let line = match form() {
                Form::Text => format!("{}  WARN {ITSELF}: {message}\n", now()),
                Form::Json => json(Level::WARN, ITSELF, &Fields::of(&message, &[])),
            };
            let gap = if self.is_cut { "\n" } else { "" };
            self.put([gap, &line].concat().as_bytes()).or(Err(0_usize))?;
            self.lost = 0;
        }
        Ok(())
    }

    /// Writes bytes, however long the output takes; the error is how many it took before it broke.
    fn put(&mut self, bytes: &[u8]) -> Result<(), usize> {
        let mut written = 0;
        while written < bytes.len() {
            match rustix::io::write(&self.output, &bytes[written..]) {
                Ok(count) if count > 0 => {
                    written += count;
                    self.is_cut = bytes[written - 1] != b'\n';
                }
                Err(Errno::INTR) => {}
                // The parent may have made stderr non-blocking; an error here shows in the next write.
                Err(Errno::AGAIN) => {
                    let _ready_or_broken = poll(&mut [PollFd::new(&self.output, PollFlags::OUT)], None);
                }
                Ok(_) | Err(_) => return Err(written),
            }
        }
        Ok(())
    }
}

fn line_ends(lines: &[u8]) -> u64 {
    lines.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Writes what is left of the log, for a moment at most, when dropped.
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
    panic::set_hook(Box::new(|panic| LOG.append(panic_text(panic).as_bytes())));
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
            json(Level::ERROR, ITSELF, &Fields::of("a thread panicked", &texts[..count]))
        }
    }
}

/// Waits a moment until the log is written; returns whether it is. If not, a write to stderr would block.
pub fn flush() -> bool {
    LOG.flush(FLUSH)
}

/// The lines of the log that were lost so far.
pub(crate) fn lost() -> u64 {
    LOG.lost.load(Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{BufRead, Read};
    use std::sync::Arc;

    /// A log that writes to a pipe, and the reader's end of that.
    fn piped() -> (Arc<Log>, io::PipeReader) {
        let (reader, writer) = io::pipe().unwrap();
        let log = Arc::new(Log::new());
        let writing = Arc::clone(&log);
        // The thread stays until the test program ends.
        thread::spawn(move || writing.write(writer));
        (log, reader)
    }

    /// Reads until the end of a text.
    fn read_until(reader: &mut io::PipeReader, end: &str) -> String {
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
    fn a_reader_gets_every_line_in_order() {
        let (log, mut reader) = piped();
        for number in 0..100 {
            log.append(format!("{number}\n").as_bytes());
        }
        let expected: String = (0..100).map(|number| format!("{number}\n")).collect();
        assert_eq!(read_until(&mut reader, "\n99\n"), expected);
        assert!(log.flush(Duration::from_secs(60)));
        assert_eq!(log.lost.load(Relaxed), 0);
    }

    #[test]
    fn an_unread_log_loses_lines_and_says_where_and_how_many() {
        let (log, mut reader) = piped();
        let appended = 20_000;
        for number in 0..appended {
            log.append(format!("line {number} {}\n", "x".repeat(80)).as_bytes());
        }
        assert!(!log.flush(Duration::from_millis(1)), "nobody reads");
        let lost = log.lost.load(Relaxed);
        assert!((1..appended).contains(&lost), "{lost}");
        // Where the writer was slow to begin, there is a gap before the pipe was full and one behind it.
        let (mut next, mut missing) = (0, 0);
        let mut lines = io::BufReader::new(&mut reader).lines();
        while next < appended {
            let line = lines.next().unwrap().unwrap();
            match line.split_once("  WARN plyd::log: ") {
                Some((_, report)) => {
                    let count: u64 = report.split_once(' ').unwrap().0.parse().unwrap();
                    assert_eq!(report, format!("{count} lines of the log were lost"));
                    (next, missing) = (next + count, missing + count);
                }
                None => {
                    assert!(line.starts_with(&format!("line {next} ")), "{next}: {line}");
                    next += 1;
                }
            }
        }
        assert_eq!((next, missing), (appended, lost));
        drop(lines);
        log.append(b"again\n");
        assert_eq!(read_until(&mut reader, "again\n"), "again\n");
        assert_eq!(log.lost.load(Relaxed), lost);
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted() {
        let log = Arc::new(Log::new());
        let writing = Arc::clone(&log);
        thread::spawn(move || writing.write(File::options().write(true).open("/dev/full").unwrap()));
        log.append(b"one\ntwo\n");
        log.append(b"three\n");
        assert!(log.flush(Duration::from_secs(60)), "they are given up");
        assert_eq!(log.lost.load(Relaxed), 3);
    }

    #[test]
    fn a_gap_within_a_line_is_reported_on_a_line_of_its_own() {
        let (mut reader, output) = io::pipe().unwrap();
        let mut writer = Writer { output, lost: 2, is_cut: true };
        assert_eq!(writer.write(b"next\n", 1), 0);
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert_eq!((lines[0], lines[2]), ("", "next"));
        assert!(lines[1].ends_with(" 2 lines of the log were lost"), "{text}");
        assert!(lines[3].ends_with(" 1 line of the log was lost"), "{text}");
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
        assert_eq!((line_ends(line.as_bytes()), line.ends_with("}\n")), (1, true));
        let object: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&object["level"], &object["target"]), (&"ERROR".into(), &ITSELF.into()));
        assert_eq!(
            (&object["fields"]["panic"], &object["fields"]["thread"]),
            (&panic.into(), &"search-1".into())
        );
        assert!(object["fields"].get("backtrace").is_none() && object["spans"] == serde_json::json!([]));
    }

    #[test]
    fn an_output_that_does_not_block_is_waited_for() {
        use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
        let (mut reader, output) = io::pipe().unwrap();
        fcntl_setfl(&output, fcntl_getfl(&output).unwrap() | OFlags::NONBLOCK).unwrap();
        let line = [vec![b'x'; 200 << 10], vec![b'\n']].concat();
        let length = line.len();
        let reading = thread::spawn(move || read_until(&mut reader, "\n").len());
        let mut writer = Writer { output, lost: 0, is_cut: false };
        assert_eq!(writer.write(&line, 0), 0);
        assert_eq!(reading.join().unwrap(), length);
    }
}
