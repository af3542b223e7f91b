//! A record of every line in and out, written by a thread of its own that nobody waits for.
//!
//! What waits for the disk is bounded. Lines past the bound, and those that cannot be written, are lost,
//! counted and logged.

mod file;
mod losses;
mod secrets;

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::value::RawValue;

use super::ids::ConnId;
use super::serve_error::ServeError;
use crate::state::outbox::Stamped;
use crate::system::{are_same, open_transcript};
use losses::Losses;

/// Bytes that may wait for the disk.
const QUEUE_BYTES: usize = 64 << 20;
/// What a line that waits takes beside its text.
const ENTRY_BYTES: usize = size_of::<TranscriptEntry>() + 16;
/// Bytes of records that are written at once.
const BATCH_BYTES: usize = 64 << 10;
/// How long a record may stay in memory while the file takes more.
const FLUSH: Duration = Duration::from_millis(200);

/// The transcript's end that takes lines.
pub(super) struct Transcript {
    lines: Sender<TranscriptEntry>,
    /// Disconnected when the writer has ended; none once a caller waited for that.
    writer: Mutex<Option<Receiver<Infallible>>>,
    load: Arc<Load>,
}

/// What the two ends count.
#[derive(Default)]
struct Load {
    /// The bytes that wait.
    bytes: AtomicUsize,
    losses: Losses,
}

enum TranscriptEntry {
    Line {
        t_us: u64,
        conn: ConnId,
        line: u64,
        said: TranscriptLine,
    },
    /// From here on in this file, without this token.
    Continue(Continued),
    /// From here on in the same file, without this token.
    KeepOut(Option<String>),
    End,
}

/// A file that is ready to be written, and the token to keep out of it.
struct Continued {
    file: File,
    /// What reads the same file, if it can be read again.
    reader: Option<File>,
    token: Option<String>,
}

impl Continued {
    fn open(path: &Path, has_stdio: bool, token: Option<String>) -> Result<Self, ServeError> {
        let failed = |error| ServeError::Transcript { path: path.to_owned(), error };
        let file = open_transcript(path).map_err(failed)?;
        if has_stdio && (are_same(&file, io::stdout()) || are_same(&file, io::stdin())) {
            return Err(ServeError::TranscriptOnStdio { path: path.to_owned() });
        }
        let reader = file::reader(path, &file).map_err(failed)?;
        Ok(Self { file, reader, token })
    }
}

/// A line by who said it.
enum TranscriptLine {
    Client(Vec<u8>),
    Server(Stamped),
}

impl TranscriptLine {
    fn len(&self) -> usize {
        match self {
            Self::Client(bytes) => bytes.len(),
            Self::Server(line) => line.len(),
        }
    }
}

/// A line of the file.
#[derive(Serialize)]
struct Record<'a> {
    dir: &'static str,
    t_us: u64,
    conn: ConnId,
    line: u64,
    msg: &'a RawValue,
}

impl Transcript {
    /// Begins a transcript in a new file, or behind what an earlier run wrote: a daemon that is started again
    /// with the same arguments loses nothing. It keeps `token` out, and keeps off the standard streams if
    /// `has_stdio`: these carry the protocol.
    ///
    /// # Errors
    /// The file cannot be opened or is one of those streams, or the thread cannot be started.
    pub(super) fn append(path: &Path, has_stdio: bool, token: Option<String>) -> Result<Self, ServeError> {
        let opened = Continued::open(path, has_stdio, token)?;
        Self::start(opened).map_err(|error| ServeError::Transcript { path: path.to_owned(), error })
    }

    fn start(opened: Continued) -> io::Result<Self> {
        let writer = Writer::new(opened, Arc::default());
        let load = Arc::clone(&writer.load);
        let (lines, queue) = channel();
        let (ending, ended) = channel();
        std::thread::Builder::new().name("transcript".to_owned()).spawn(move || {
            let _until_the_end: Sender<Infallible> = ending;
            writer.run(&queue);
        })?;
        Ok(Self { lines, writer: Mutex::new(Some(ended)), load })
    }

    /// Goes on in the file at `path`, which may be a new one if the old one was renamed, and keeps `token`
    /// out from now on. Nobody waits for that; all that was noted before stands in the old file.
    ///
    /// # Errors
    /// As for [`append`](Self::append); the transcript then goes on as before.
    pub(super) fn continue_in(
        &self,
        path: &Path,
        has_stdio: bool,
        token: Option<String>,
    ) -> Result<(), ServeError> {
        let opened = Continued::open(path, has_stdio, token)?;
        // The writer has ended only if it panicked, and the log says so.
        let _ended = self.lines.send(TranscriptEntry::Continue(opened));
        Ok(())
    }

    /// Goes on in the same file, and keeps `token` out from now on.
    pub(super) fn keep_out(&self, token: Option<String>) {
        // As in `continue_in`.
        let _ended = self.lines.send(TranscriptEntry::KeepOut(token));
    }

    /// Notes a line from a client.
    pub(super) fn received(&self, conn: ConnId, line: u64, t_us: u64, bytes: &[u8]) {
        let entry =
            || TranscriptEntry::Line { t_us, conn, line, said: TranscriptLine::Client(bytes.to_vec()) };
        self.note(bytes.len(), entry);
    }

    /// Notes a line to a client, whose number is its `seq`.
    pub(super) fn sent(&self, conn: ConnId, seq: u64, t_us: u64, line: Stamped) {
        self.note(line.len(), || TranscriptEntry::Line {
            t_us,
            conn,
            line: seq,
            said: TranscriptLine::Server(line),
        });
    }

    /// The number of lines that are lost, as it grows.
    pub(super) fn lost(&self) -> Arc<AtomicU64> {
        self.load.losses.total()
    }

    /// Waits until everything noted is written, unless another caller waits already, or until the time is
    /// over: the disk may hang.
    pub(super) fn finish(&self, time: Duration) {
        let Some(writer) = self.take_writer() else { return };
        // The writer takes it last. It has ended already only if it panicked, and the log says so.
        let _ended = self.lines.send(TranscriptEntry::End);
        if writer.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            tracing::warn!("the transcript was not written in time: its last lines are missing");
        }
        self.load.losses.report();
    }

    /// Lets [`finish`](Self::finish) return without a wait.
    pub(super) fn abandon(&self) {
        drop(self.take_writer());
    }

    fn take_writer(&self) -> Option<Receiver<Infallible>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn note(&self, bytes: usize, entry: impl FnOnce() -> TranscriptEntry) {
        let bytes = bytes + ENTRY_BYTES;
        let fits = self.load.bytes.fetch_add(bytes, Relaxed) + bytes <= QUEUE_BYTES;
        if !fits || self.lines.send(entry()).is_err() {
            self.load.bytes.fetch_sub(bytes, Relaxed);
            self.load.losses.note(1);
        }
    }
}

/// The thread that writes.
struct Writer {
    file: File,
    reader: Option<File>,
    /// The token that clients must show.
    token: Option<String>,
    /// Records that are not written yet, and how many they are.
    batch: Vec<u8>,
    batched: u64,
    load: Arc<Load>,
}

impl Writer {
    fn new(opened: Continued, load: Arc<Load>) -> Self {
        let Continued { file, reader, token } = opened;
        Self { file, reader, token, batch: Vec::new(), batched: 0, load }
    }

    /// Writes lines until the end; once that fails, counts the later lines as lost until it is to go on in
    /// another file.
    fn run(mut self, queue: &Receiver<TranscriptEntry>) {
        loop {
            let next = self.write(queue).unwrap_or_else(|error| {
                self.give_up(&error);
                self.lose(queue)
            });
            let Some(opened) = next else { return };
            self = Self::new(opened, self.load);
        }
    }

    /// Leaves a file that cannot be written.
    fn give_up(&self, error: &io::Error) {
        tracing::error!(%error, "the transcript ends here");
        self.load.losses.note(self.batched);
    }

    /// Counts lines as lost until the end, or until the transcript is to go on in a file.
    fn lose(&self, queue: &Receiver<TranscriptEntry>) -> Option<Continued> {
        loop {
            match queue.recv() {
                Ok(TranscriptEntry::Line { said, .. }) => {
                    self.load.bytes.fetch_sub(said.len() + ENTRY_BYTES, Relaxed);
                    self.load.losses.note(1);
                }
                // The file to go on in comes with the token of its time.
                Ok(TranscriptEntry::KeepOut(_)) => {}
                Ok(TranscriptEntry::Continue(opened)) => return Some(opened),
                Ok(TranscriptEntry::End) | Err(_) => return None,
            }
        }
    }

    /// Writes lines until the end, or until the transcript is to go on in another file.
    fn write(&mut self, queue: &Receiver<TranscriptEntry>) -> io::Result<Option<Continued>> {
        // Looked at only now: when the file was opened, the last lines to an earlier one may have been under
        // way, and that may be the same.
        if self.reader.as_ref().map_or(Ok(false), file::ends_within_a_line)? {
            self.batch.push(b'\n');
        }
        // When the oldest record of the batch came.
        let mut since = Instant::now();
        loop {
            let entry = if self.batch.is_empty() {
                let entry = queue.recv().ok();
                since = Instant::now();
                entry
            } else {
                match queue.recv_timeout(FLUSH.saturating_sub(since.elapsed())) {
                    Err(RecvTimeoutError::Timeout) => {
                        self.flush()?;
                        continue;
                    }
                    entry => entry.ok(),
                }
            };
            let (t_us, conn, line, said) = match entry {
                Some(TranscriptEntry::Line { t_us, conn, line, said }) => (t_us, conn, line, said),
                Some(TranscriptEntry::Continue(opened)) => {
                    self.flush().unwrap_or_else(|error| self.give_up(&error));
                    return Ok(Some(opened));
                }
                Some(TranscriptEntry::KeepOut(token)) => {
                    self.token = token;
                    continue;
                }
                Some(TranscriptEntry::End) | None => return self.flush().map(|()| None),
            };
            self.load.bytes.fetch_sub(said.len() + ENTRY_BYTES, Relaxed);
            self.batched += 1;
            let (dir, text) = match said {
                TranscriptLine::Client(bytes) => ("in", bytes),
                TranscriptLine::Server(line) => ("out", line.into_text().into_bytes()),
            };
            let msg = secrets::message(&text, self.token.as_deref())?;
            let record = Record { dir, t_us, conn, line, msg: &msg };
            serde_json::to_writer(&mut self.batch, &record)?;
            self.batch.push(b'\n');
            if self.batch.len() >= BATCH_BYTES || since.elapsed() >= FLUSH {
                self.flush()?;
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.batch)?;
        self.batch.clear();
        self.batched = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// No test waits so long, unless it fails.
    const TIMEOUT: Duration = Duration::from_secs(60);

    /// A file that takes nothing: a pipe whose other end is open and never read.
    fn clogged(name: &str) -> (PathBuf, File) {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let path = std::env::temp_dir().join(format!("plyd-test-{name}-{}", std::process::id()));
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let end = File::options().read(true).write(true).open(&path).unwrap();
        (path, end)
    }

    fn append(path: &Path) -> Transcript {
        Transcript::append(path, false, None).unwrap()
    }

    #[test]
    fn what_waits_for_the_disk_is_bounded_in_bytes_and_the_rest_is_counted_at_once() {
        let (path, _end) = clogged("clogged");
        let transcript = append(&path);
        std::fs::remove_file(&path).unwrap();
        let lost = transcript.lost();
        let line = vec![b'x'; plyd_protocol::MAX_LINE];
        for number in 0..200 {
            transcript.received(1, number, 0, &line);
        }
        assert!(transcript.load.bytes.load(Relaxed) <= QUEUE_BYTES);
        // One line more may be in the writer's hand.
        let kept = 200 - lost.load(Relaxed);
        assert!((63..=64).contains(&kept), "{kept} lines kept");
        // Many small lines are bounded, too.
        for number in 0..2_000_000 {
            transcript.received(1, number, 0, b"");
        }
        assert!(lost.load(Relaxed) > 200 - kept);
        transcript.abandon();
        transcript.finish(TIMEOUT);
    }

    #[test]
    fn the_end_does_not_wait_for_a_file_that_hangs() {
        let (path, end) = clogged("hung");
        let transcript = append(&path);
        std::fs::remove_file(&path).unwrap();
        transcript.received(1, 1, 0, &vec![b'x'; plyd_protocol::MAX_LINE]);
        transcript.finish(Duration::from_millis(1));
        // Nothing is left to wait for.
        transcript.finish(TIMEOUT);
        drop(end);
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted() {
        let transcript = append(Path::new("/dev/full"));
        let lost = transcript.lost();
        for number in 1..=1000 {
            transcript.received(1, number, 0, &[b'x'; 1000]);
        }
        transcript.finish(TIMEOUT);
        assert_eq!(lost.load(Relaxed), 1000);
    }

    #[test]
    fn a_transcript_goes_on_in_another_file_and_loses_nothing() {
        let path = std::env::temp_dir().join(format!("plyd-test-rotated-{}", std::process::id()));
        let (old, gone) = (path.with_extension("1"), Path::new("/nowhere/transcript"));
        let transcript = Transcript::append(&path, false, Some("first".into())).unwrap();
        let line = |number| transcript.received(1, number, 0, b"{}");
        line(1);
        // The same file; then one that cannot be had.
        transcript.continue_in(&path, false, Some("first".into())).unwrap();
        line(2);
        transcript.received(1, 3, 0, br#"{"echo":"second"}"#);
        assert!(matches!(transcript.continue_in(gone, false, None), Err(ServeError::Transcript { .. })));
        std::fs::rename(&path, &old).unwrap();
        // As if an earlier run had been killed within a line.
        std::fs::write(&path, "{").unwrap();
        transcript.continue_in(&path, false, Some("second".into())).unwrap();
        line(4);
        transcript.received(1, 5, 0, br#"{"echo":"second"}"#);
        transcript.finish(TIMEOUT);
        let [first, second] = [&old, &path].map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            std::fs::remove_file(path).unwrap();
            text
        });
        let lines = |text: &str, numbers: &[u64]| {
            let found: Vec<&str> = text.lines().filter(|line| line.starts_with(r#"{"dir":"in""#)).collect();
            assert_eq!(found.len(), numbers.len(), "{text}");
            for (line, number) in found.into_iter().zip(numbers) {
                assert!(line.contains(&format!(r#""line":{number},"#)), "{text}");
            }
        };
        lines(&first, &[1, 2, 3]);
        assert_eq!(first.lines().count(), 3, "{first}");
        lines(&second, &[4, 5]);
        assert!(first.contains("second") && second.starts_with("{\n") && !second.contains("second"));
        assert_eq!(transcript.lost().load(Relaxed), 0);
    }

    #[test]
    fn a_transcript_that_broke_goes_on_in_a_file_that_can_be_written() {
        let path = std::env::temp_dir().join(format!("plyd-test-mended-{}", std::process::id()));
        let transcript = append(Path::new("/dev/full"));
        transcript.received(1, 1, 0, b"{}");
        // Whether the writer has found out by now or finds out by this.
        transcript.continue_in(&path, false, None).unwrap();
        transcript.received(1, 2, 0, b"{}");
        transcript.finish(TIMEOUT);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text, concat!(r#"{"dir":"in","t_us":0,"conn":1,"line":2,"msg":{}}"#, "\n"));
        assert_eq!(transcript.lost().load(Relaxed), 1);
    }

    #[test]
    fn a_record_stands_in_a_line_of_its_own_behind_what_a_failed_write_left() {
        let path = std::env::temp_dir().join(format!("plyd-test-cut-{}", std::process::id()));
        let transcript = append(Path::new("/dev/full"));
        transcript.received(1, 1, 0, b"{}");
        std::fs::write(&path, "").unwrap();
        let opened = Continued::open(&path, false, None).unwrap();
        // As if the writer had failed there after the file was opened again.
        std::fs::write(&path, "{").unwrap();
        assert!(transcript.lines.send(TranscriptEntry::Continue(opened)).is_ok());
        transcript.received(1, 2, 0, b"{}");
        transcript.finish(TIMEOUT);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text, concat!("{\n", r#"{"dir":"in","t_us":0,"conn":1,"line":2,"msg":{}}"#, "\n"));
    }

    #[test]
    fn what_is_noted_is_written() {
        let path = std::env::temp_dir().join(format!("plyd-test-written-{}", std::process::id()));
        let transcript = append(&path);
        let written = || std::fs::read_to_string(&path).unwrap();
        transcript.received(7, 1, 5, b"{}");
        // While nothing follows, too.
        let end = Instant::now() + TIMEOUT;
        while written().is_empty() {
            assert!(Instant::now() < end);
            std::thread::yield_now();
        }
        transcript.sent(7, 1, 6, Stamped { head: "[]".to_owned(), rest: None });
        transcript.finish(TIMEOUT);
        let text = written();
        std::fs::remove_file(&path).unwrap();
        let first = r#"{"dir":"in","t_us":5,"conn":7,"line":1,"msg":{}}"#;
        assert_eq!(text, format!("{first}\n{}\n", r#"{"dir":"out","t_us":6,"conn":7,"line":1,"msg":"[]"}"#));
        assert_eq!(transcript.lost().load(Relaxed), 0);
    }
}
