//! What is logged, between those who log and the thread that writes it.
//!
//! Waking that thread costs the thread that logs a system call, and maybe its core. So the daemon wakes it
//! only once the lock is free and the threads that wait for an answer have had time to write it
//! ([`Log::hold`]).

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;

use super::lines::Noted;
use super::writer::{Writer, line_ends};
use super::{Form, form};
use crate::system::Output;

/// What may wait to be written.
const QUEUE_BYTES: usize = 256 << 10;
/// How long a line that was held back waits, so that its thread does not compete with the answers' readers.
const AFTER_ANSWERS: Duration = Duration::from_millis(1);

/// Lines between those who log and the thread that writes.
pub(super) struct Log {
    queue: Mutex<Queue>,
    /// Wakes the thread for new lines, and those who wait until all is written.
    changed: Condvar,
    /// The lines that were lost so far.
    pub(super) lost: AtomicU64,
}

/// Something that waits to be written.
#[derive(Debug)]
pub(super) enum LogEntry {
    /// What one line will say.
    Noted(Noted),
    /// Whole lines.
    Lines(String),
}

impl From<Noted> for LogEntry {
    fn from(noted: Noted) -> Self {
        Self::Noted(noted)
    }
}

impl From<String> for LogEntry {
    fn from(lines: String) -> Self {
        Self::Lines(lines)
    }
}

impl LogEntry {
    fn bytes(&self) -> usize {
        match self {
            Self::Noted(noted) => noted.bytes(),
            Self::Lines(lines) => lines.len(),
        }
    }

    fn count(&self) -> u64 {
        match self {
            Self::Noted(_) => 1,
            Self::Lines(lines) => line_ends(lines.as_bytes()),
        }
    }

    fn into_lines(self, form: Form) -> String {
        match self {
            Self::Noted(noted) => noted.line(form),
            Self::Lines(lines) => lines,
        }
    }
}

struct Queue {
    /// What waits, oldest first, and its bytes.
    entries: Vec<LogEntry>,
    bytes: usize,
    /// The lines that found no room behind them.
    refused: u64,
    /// Whether what waits is to be written now.
    is_due: bool,
    /// Whether lines that were taken out are not yet written.
    is_writing: bool,
}

impl Log {
    pub(super) const fn new() -> Self {
        Self {
            queue: Mutex::new(Queue {
                entries: Vec::new(),
                bytes: 0,
                refused: 0,
                is_due: false,
                is_writing: false,
            }),
            changed: Condvar::new(),
            lost: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues lines, if there is room. Once lines were refused, so are later ones until the thread takes what
    /// waits: the loss is then one gap, and its place in the log is known.
    pub(super) fn append(&'static self, entry: impl Into<LogEntry>) {
        let entry = entry.into();
        let (bytes, count) = (entry.bytes(), entry.count());
        // A thread that ends has no hold any more.
        let is_held = HOLD.try_with(|hold| hold.postpones(self)).unwrap_or(false);
        let mut queue = self.lock();
        queue.is_due |= !is_held;
        if queue.refused > 0 || queue.bytes + bytes > QUEUE_BYTES {
            queue.refused += count;
            self.lost.fetch_add(count, Relaxed);
        } else {
            queue.bytes += bytes;
            queue.entries.push(entry);
        }
        drop(queue);
        if !is_held {
            self.changed.notify_all();
        }
    }

    /// Wakes the thread to write what waits.
    fn wake(&self) {
        self.lock().is_due = true;
        self.changed.notify_all();
    }

    /// From now on what this thread logs is queued without waking the thread that writes, until the last of
    /// its holds is dropped.
    pub(super) fn hold() -> Hold {
        let _ended = HOLD.try_with(|hold| hold.count.set(hold.count.get() + 1));
        Hold(())
    }

    /// Waits for something to write, and takes all with the number of lines that were refused behind it.
    fn take(&self) -> (Vec<LogEntry>, u64) {
        let mut queue = self.lock();
        if queue.is_writing {
            queue.is_writing = false;
            self.changed.notify_all();
        }
        let mut queue = self
            .changed
            .wait_while(queue, |queue| !queue.is_due || (queue.entries.is_empty() && queue.refused == 0))
            .unwrap_or_else(PoisonError::into_inner);
        (queue.is_writing, queue.is_due, queue.bytes) = (true, false, 0);
        (std::mem::take(&mut queue.entries), std::mem::take(&mut queue.refused))
    }

    /// Waits until all is written or given up, or the time is over; whether it is.
    pub(super) fn flush(&self, time: Duration) -> bool {
        // Somebody may hold lines back.
        self.wake();
        let waits = |queue: &mut Queue| queue.is_writing || !queue.entries.is_empty() || queue.refused > 0;
        let waited = self.changed.wait_timeout_while(self.lock(), time, waits);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Writes what comes, forever.
    pub(super) fn write(&self, output: impl Output) {
        let mut writer = Writer::new(output);
        loop {
            let (entries, refused) = self.take();
            let form = form();
            let lines: String = entries.into_iter().map(|entry| entry.into_lines(form)).collect();
            self.lost.fetch_add(writer.write(lines.as_bytes(), refused), Relaxed);
        }
    }
}

/// What a thread holds back.
struct Held {
    count: Cell<usize>,
    /// The log whose thread is to be woken at the end.
    due: Cell<Option<&'static Log>>,
}

thread_local! {
    static HOLD: Held = const { Held { count: Cell::new(0), due: Cell::new(None) } };
}

impl Held {
    /// Whether a log's thread is woken later.
    fn postpones(&self, log: &'static Log) -> bool {
        let is_held = self.count.get() > 0;
        if is_held {
            self.due.set(Some(log));
        }
        is_held
    }

    /// Ends one hold; what is to be woken if it was the last one.
    fn release(&self) -> Option<&'static Log> {
        self.count.set(self.count.get() - 1);
        if self.count.get() == 0 { self.due.take() } else { None }
    }
}

/// While there is one, lines of this thread are written only together with those of others.
#[must_use]
pub(crate) struct Hold(());

impl Drop for Hold {
    fn drop(&mut self) {
        let Ok(Some(log)) = HOLD.try_with(Held::release) else { return };
        after_answers(Handle::try_current().ok().as_ref(), Wake(log));
    }
}

/// Drops something, whose drop logs or wakes the log's thread, once the answers that are on their way have
/// been read: their readers need the cores. Without a runtime it is dropped at once, and by the end of the
/// runtime at the latest.
pub(crate) fn after_answers<T: Send + 'static>(runtime: Option<&Handle>, logs: T) {
    if let Some(runtime) = runtime {
        runtime.spawn(async move {
            tokio::time::sleep(AFTER_ANSWERS).await;
            drop(logs);
        });
    }
}

/// Wakes a log's thread when dropped, even at the end of a runtime that no longer runs its task.
struct Wake(&'static Log);

impl Drop for Wake {
    fn drop(&mut self) {
        self.0.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{self, BufRead};
    use std::thread;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::super::tests::read_until;
    use super::*;

    /// A log that writes to a pipe, and the reader's end of that.
    fn piped() -> (&'static Log, io::PipeReader) {
        let (reader, writer) = io::pipe().unwrap();
        (writing_to(writer), reader)
    }

    /// A log that writes there, on a thread that stays until the test program ends.
    fn writing_to(output: impl Output + Send + 'static) -> &'static Log {
        let log: &'static Log = Box::leak(Box::new(Log::new()));
        thread::spawn(move || log.write(output));
        log
    }

    #[test]
    fn a_reader_gets_every_line_in_order() {
        let (log, mut reader) = piped();
        for number in 0..100 {
            log.append(format!("{number}\n"));
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
            log.append(format!("line {number} {}\n", "x".repeat(80)));
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
        log.append("again\n".to_owned());
        assert_eq!(read_until(&mut reader, "again\n"), "again\n");
        assert_eq!(log.lost.load(Relaxed), lost);
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted() {
        let log = writing_to(File::options().write(true).open("/dev/full").unwrap());
        log.append("one\ntwo\n".to_owned());
        log.append("three\n".to_owned());
        assert!(log.flush(Duration::from_secs(60)), "they are given up");
        assert_eq!(log.lost.load(Relaxed), 3);
    }

    /// Whether something can be read within a moment.
    fn is_written(reader: &io::PipeReader) -> bool {
        let moment = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        poll(&mut [PollFd::new(reader, PollFlags::IN)], Some(&moment)) == Ok(1)
    }

    #[test]
    fn what_is_held_back_is_written_behind_the_last_hold_in_its_order() {
        let (log, mut reader) = piped();
        log.append("before\n".to_owned());
        assert_eq!(read_until(&mut reader, "before\n"), "before\n");
        let outer = Log::hold();
        log.append("one\n".to_owned());
        drop(Log::hold());
        log.append("two\n".to_owned());
        assert!(!is_written(&reader), "an inner hold ends nothing");
        // Other threads hold nothing back, and nothing overtakes what waits.
        thread::spawn(|| log.append("three\n".to_owned())).join().unwrap();
        assert_eq!(read_until(&mut reader, "three\n"), "one\ntwo\nthree\n");
        log.append("four\n".to_owned());
        drop(outer);
        assert_eq!(read_until(&mut reader, "four\n"), "four\n");
        log.append("five\n".to_owned());
        assert_eq!(read_until(&mut reader, "five\n"), "five\n");
    }

    #[test]
    fn on_a_runtime_lines_are_written_behind_the_tasks_that_are_awake() {
        let (log, mut reader) = piped();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let hold = Log::hold();
            log.append("line\n".to_owned());
            let answer = tokio::spawn(async move { log.append("answer\n".to_owned()) });
            drop(hold);
            assert!(!is_written(&reader), "the tasks have had no turn");
            answer.await.unwrap();
            assert_eq!(read_until(&mut reader, "answer\n"), "line\nanswer\n");
            drop(hold_with(log, "last\n"));
        });
        // Its end leaves nothing behind.
        drop(runtime);
        assert_eq!(read_until(&mut reader, "last\n"), "last\n");
        // Nor does the end of a program in which somebody still holds something back.
        let _hold = hold_with(log, "held\n");
        assert!(log.flush(Duration::from_secs(60)));
        assert_eq!(read_until(&mut reader, "held\n"), "held\n");
    }

    fn hold_with(log: &'static Log, line: &str) -> Hold {
        let hold = Log::hold();
        log.append(line.to_owned());
        hold
    }
}
