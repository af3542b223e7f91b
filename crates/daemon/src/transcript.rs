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

use super::ServeError;
use super::outbox::Stamped;
use super::state::ConnId;
use losses::Losses;

/// Bytes that may wait for the disk.
const QUEUE_BYTES: usize = 64 << 20;
/// What a line that waits takes beside its text.
const ENTRY_BYTES: usize = size_of::<Entry>() + 16;
/// Bytes of records that are written at once.
const BATCH_BYTES: usize = 64 << 10;
/// How long a record may stay in memory while the file takes more.
const FLUSH: Duration = Duration::from_millis(200);

/// The transcript's end that takes lines.
pub(super) struct Transcript {
    lines: Sender<Entry>,
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

enum Entry {
    Line { t_us: u64, conn: ConnId, line: u64, said: Said },
    End,
}

/// A line by who said it.
enum Said {
    Client(Vec<u8>),
    Server(Stamped),
}

impl Said {
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
        let failed = |error| ServeError::Transcript { path: path.to_owned(), error };
        let file = file::open(path).map_err(failed)?;
        if has_stdio && (file::are_same(&file, io::stdout()) || file::are_same(&file, io::stdin())) {
            return Err(ServeError::TranscriptOnStdio { path: path.to_owned() });
        }
        Self::start(path, file, token).map_err(failed)
    }

    fn start(path: &Path, file: File, token: Option<String>) -> io::Result<Self> {
        let mut writer = Writer { file, token, batch: Vec::new(), batched: 0, load: Arc::default() };
        if file::ends_within_a_line(path, &writer.file.metadata()?)? {
            writer.batch.push(b'\n');
        }
        let load = Arc::clone(&writer.load);
        let (lines, queue) = channel();
        let (ending, ended) = channel();
        std::thread::Builder::new().name("transcript".to_owned()).spawn(move || {
            let _until_the_end: Sender<Infallible> = ending;
            writer.run(&queue);
        })?;
        Ok(Self { lines, writer: Mutex::new(Some(ended)), load })
    }

    /// Notes a line from a client.
    pub(super) fn received(&self, conn: ConnId, line: u64, t_us: u64, bytes: &[u8]) {
        let entry = || Entry::Line { t_us, conn, line, said: Said::Client(bytes.to_vec()) };
        self.note(bytes.len(), entry);
    }

    /// Notes a line to a client, whose number is its `seq`.
    pub(super) fn sent(&self, conn: ConnId, seq: u64, t_us: u64, line: Stamped) {
        self.note(line.len(), || Entry::Line { t_us, conn, line: seq, said: Said::Server(line) });
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
        let _ended = self.lines.send(Entry::End);
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

    fn note(&self, bytes: usize, entry: impl FnOnce() -> Entry) {
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
    /// The token that clients must show.
    token: Option<String>,
    /// Records that are not written yet, and how many they are.
    batch: Vec<u8>,
    batched: u64,
    load: Arc<Load>,
}

impl Writer {
    /// Writes lines until the end; once that fails, counts all later lines as lost.
    fn run(mut self, queue: &Receiver<Entry>) {
        if let Err(error) = self.write(queue) {
            tracing::error!(%error, "the transcript ends here");
            self.load.losses.note(self.batched);
            while let Ok(Entry::Line { said, .. }) = queue.recv() {
                self.load.bytes.fetch_sub(said.len() + ENTRY_BYTES, Relaxed);
                self.load.losses.note(1);
            }
        }
    }

    fn write(&mut self, queue: &Receiver<Entry>) -> io::Result<()> {
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
            let Some(Entry::Line { t_us, conn, line, said }) = entry else {
                return self.flush();
            };
            self.load.bytes.fetch_sub(said.len() + ENTRY_BYTES, Relaxed);
            self.batched += 1;
            let (dir, text) = match said {
                Said::Client(bytes) => ("in", bytes),
                Said::Server(line) => ("out", line.into_text().into_bytes()),
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
