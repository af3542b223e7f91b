//! What the author of a program hears that fails behind a pipe: hints on its output, and the end of its log.
//! Knows no protocol and no game.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// What a program has to do that answers nothing, as far as one can guess.
pub const FLUSH: &str = "does it answer each request, those other than `go` by an error `unknown_cmd`, and flush \
    its output after each line, as `print(..., flush=True)` does in Python?";

/// What a program's output has to be that writes something else.
pub const JSON_LINES: &str = "one JSON object a line (what is for people goes to stderr)";

/// The most bytes that are kept of a log.
const KEPT: usize = 2000;

/// The most characters of a log's last line in a message.
const LONGEST_LAST: usize = 200;

/// The end of what a program writes to stderr, which a thread reads until no process holds its other end.
///
/// ```
/// use std::io::Write;
/// use std::time::Duration;
///
/// use plyd_bridge::program::Log;
///
/// let (log, mut stderr) = Log::keep()?;
/// write!(stderr, "Traceback\n  line 3\nKeyError: 'moves'\n")?;
/// drop(stderr);
/// let wait = Duration::from_secs(60);
/// assert_eq!(log.said_last(wait), "; the last line of its stderr: `KeyError: 'moves'`");
/// assert_eq!(log.lines(2, wait), ["  line 3", "KeyError: 'moves'"]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Log {
    kept: Arc<Mutex<Vec<u8>>>,
    /// Disconnected at the end of the log.
    ended: Receiver<()>,
}

impl Log {
    /// Keeps the end of what is written to the stream that is returned beside it.
    ///
    /// # Errors
    /// The system gives no pipe or no thread.
    pub fn keep() -> io::Result<(Self, PipeWriter)> {
        Self::read(|_| {})
    }

    /// The same, and passes it on to our own stderr until `is_hidden` is raised.
    ///
    /// # Errors
    /// As [`keep`](Self::keep).
    pub fn keep_and_show(is_hidden: Arc<AtomicBool>) -> io::Result<(Self, PipeWriter)> {
        Self::read(move |bytes| {
            if !is_hidden.load(Ordering::Relaxed) {
                let _nobody_reads = io::stderr().write_all(bytes);
            }
        })
    }

    fn read(seen: impl Fn(&[u8]) + Send + 'static) -> io::Result<(Self, PipeWriter)> {
        let (mut reader, writer): (PipeReader, PipeWriter) = io::pipe()?;
        let (sender, ended) = channel();
        let kept = Arc::new(Mutex::new(Vec::new()));
        let log = Self { kept: Arc::clone(&kept), ended };
        thread::Builder::new().name("log".to_owned()).spawn(move || {
            let _until_the_end = sender;
            let mut chunk = [0; 4096];
            loop {
                match reader.read(&mut chunk) {
                    Ok(count @ 1..) => {
                        seen(&chunk[..count]);
                        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                        kept.extend_from_slice(&chunk[..count]);
                        let surplus = kept.len().saturating_sub(KEPT);
                        kept.drain(..surplus);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => break,
                }
            }
        })?;
        Ok((log, writer))
    }

    /// The last lines that are not blank, as a terminal may show them, once the log has ended; after `wait`
    /// at the latest, as a process that was left behind may hold it open.
    #[must_use]
    pub fn lines(&self, most: usize, wait: Duration) -> Vec<String> {
        let _ended_or_not = self.ended.recv_timeout(wait);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(most));
        last.map(|line| line.chars().map(printable).collect()).collect()
    }

    /// What to put behind the words that the program has ended: its last line, cut for display; nothing if it
    /// wrote none.
    #[must_use]
    pub fn said_last(&self, wait: Duration) -> String {
        let Some(line) = self.lines(1, wait).pop() else { return String::new() };
        let line = line.trim();
        let shown: String = line.chars().take(LONGEST_LAST).collect();
        let more = if shown.len() < line.len() { "..." } else { "" };
        format!("; the last line of its stderr: `{shown}{more}`")
    }
}

/// A character as a terminal may show it.
#[must_use]
pub fn printable(c: char) -> char {
    if c.is_control() && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(60);

    #[test]
    fn the_last_line_is_short_and_safe() {
        let (log, mut stderr) = Log::keep().unwrap();
        stderr.write_all("x".repeat(3 * KEPT).as_bytes()).unwrap();
        stderr.write_all(format!("\n\x1b[2J{}\n\n", "ü".repeat(2 * LONGEST_LAST)).as_bytes()).unwrap();
        drop(stderr);
        let last = log.said_last(SOON);
        assert!(last.contains("`\u{fffd}[2Jü") && last.ends_with("ü...`"), "{last}");
        assert!(last.chars().count() < LONGEST_LAST + 50, "{last}");
    }

    #[test]
    fn a_log_that_stays_open_or_is_empty_is_not_waited_for() {
        let (log, mut stderr) = Log::keep().unwrap();
        assert_eq!(log.said_last(Duration::ZERO), "");
        stderr.write_all(b"why\n").unwrap();
        let end = std::time::Instant::now() + SOON;
        while log.said_last(Duration::from_millis(1)).is_empty() {
            assert!(std::time::Instant::now() < end, "the log is not read");
        }
        drop(stderr);
    }
}
