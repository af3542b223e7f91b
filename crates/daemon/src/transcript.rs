//! A record of every line in and out, written by a thread of its own that nobody waits for.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::outbox::Stamped;
use super::state::ConnId;

/// Lines that may wait for the disk; past them lines are lost, and the loss is logged.
const QUEUE: usize = 1 << 16;
/// Bytes of lines that may wait, to the same effect.
const QUEUE_BYTES: usize = 64 << 20;
/// What is kept of a line that may hold a token which cannot be blotted out.
const WITHHELD: &str = "a bad line that may hold a token";
/// How long a written line may stay in memory.
const FLUSH: Duration = Duration::from_millis(200);

/// The transcript's end that takes lines.
pub(super) struct Transcript {
    lines: SyncSender<Entry>,
    writer: Mutex<Option<JoinHandle<()>>>,
    load: Arc<Load>,
}

/// What the two ends count.
#[derive(Default)]
struct Load {
    /// The bytes of the lines that wait.
    bytes: AtomicUsize,
    /// The lines lost since that was last logged.
    lost: AtomicU64,
}

impl Load {
    /// Logs in one line what was lost.
    fn tell_lost(&self) {
        let lines = self.lost.swap(0, Relaxed);
        if lines > 0 {
            tracing::warn!(lines, "lines are missing from the transcript");
        }
    }
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
    /// with the same arguments loses nothing.
    ///
    /// # Errors
    /// The file cannot be opened, or the thread cannot be started.
    pub(super) fn append(path: &Path) -> io::Result<Self> {
        let mut file = BufWriter::new(File::options().create(true).append(true).open(path)?);
        if ends_within_a_line(path)? {
            file.write_all(b"\n")?;
        }
        let (lines, queue) = sync_channel(QUEUE);
        let load = Arc::new(Load::default());
        let counted = Arc::clone(&load);
        let writer = std::thread::Builder::new().name("transcript".to_owned()).spawn(move || {
            if let Err(error) = write(&queue, &counted, file) {
                tracing::error!(%error, "the transcript ends here");
            }
        })?;
        Ok(Self { lines, writer: Mutex::new(Some(writer)), load })
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

    /// Waits until everything noted is written, unless somebody waits already.
    pub(super) fn finish(&self) {
        let Some(writer) = self.take_writer() else { return };
        // The writer may have ended because the disk is full.
        let _ended = self.lines.send(Entry::End);
        if writer.join().is_err() {
            tracing::error!("the transcript's thread panicked");
        }
    }

    /// Makes [`finish`](Self::finish) not wait: the disk may hang.
    pub(super) fn abandon(&self) {
        drop(self.take_writer());
    }

    fn take_writer(&self) -> Option<JoinHandle<()>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn note(&self, bytes: usize, entry: impl FnOnce() -> Entry) {
        let fits = self.load.bytes.fetch_add(bytes, Relaxed) + bytes <= QUEUE_BYTES;
        if !fits || self.lines.try_send(entry()).is_err() {
            self.load.bytes.fetch_sub(bytes, Relaxed);
            self.load.lost.fetch_add(1, Relaxed);
        }
    }
}

/// Whether a file's last line lacks its end, because the run that wrote it was killed.
fn ends_within_a_line(path: &Path) -> io::Result<bool> {
    let found = std::fs::metadata(path)?;
    if !found.is_file() || found.len() == 0 {
        return Ok(false);
    }
    let mut file = File::open(path)?;
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn write(queue: &Receiver<Entry>, load: &Load, mut file: BufWriter<File>) -> io::Result<()> {
    let mut dirty = false;
    loop {
        let entry = if dirty {
            match queue.recv_timeout(FLUSH) {
                Err(RecvTimeoutError::Timeout) => {
                    file.flush()?;
                    load.tell_lost();
                    dirty = false;
                    continue;
                }
                entry => entry.ok(),
            }
        } else {
            queue.recv().ok()
        };
        let Some(Entry::Line { t_us, conn, line, said }) = entry else {
            load.tell_lost();
            return file.flush();
        };
        load.bytes.fetch_sub(said.len(), Relaxed);
        let (dir, msg) = match said {
            Said::Client(bytes) => ("in", message(&String::from_utf8_lossy(&bytes))?),
            Said::Server(line) => ("out", message(&line.into_text())?),
        };
        let record = Record { dir, t_us, conn, line, msg: &msg };
        serde_json::to_writer(&mut file, &record)?;
        file.write_all(b"\n")?;
        dirty = true;
    }
}

/// A line as it stands in the record: an object as it was written, less its token; anything else as a text.
fn message(line: &str) -> io::Result<Box<RawValue>> {
    let message = match serde_json::from_str::<&RawValue>(line) {
        Ok(raw) if raw.get().starts_with('{') => hide_token(raw)?.unwrap_or_else(|| raw.to_owned()),
        Ok(_) | Err(_) if may_name_token(line) => to_raw_value(WITHHELD)?,
        Ok(_) | Err(_) => to_raw_value(line)?,
    };
    Ok(message)
}

/// Whether the word may stand in a line, as it is or with escapes.
fn may_name_token(line: &str) -> bool {
    line.contains("token") || line.contains("\\u")
}

/// The object with its token blotted out, if it has one: records are passed around.
fn hide_token(raw: &RawValue) -> io::Result<Option<Box<RawValue>>> {
    if !may_name_token(raw.get()) {
        return Ok(None);
    }
    let Ok(mut object) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(raw.get()) else {
        // Nested too deep, or a number or an escape that stands for nothing.
        return to_raw_value(WITHHELD).map(Some).map_err(io::Error::from);
    };
    let Some(token) = object.get_mut("token") else { return Ok(None) };
    *token = "hidden".into();
    Ok(Some(to_raw_value(&object)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that takes nothing: a pipe whose other end is open and never read.
    fn clogged() -> (std::path::PathBuf, File) {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let path = std::env::temp_dir().join(format!("plyd-test-clogged-{}", std::process::id()));
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let end = File::options().read(true).write(true).open(&path).unwrap();
        (path, end)
    }

    #[test]
    fn what_waits_for_the_disk_is_bounded_in_bytes() {
        let (path, _end) = clogged();
        let transcript = Transcript::append(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let line = vec![b'x'; plyd_protocol::MAX_LINE];
        for number in 0..200 {
            transcript.received(1, number, 0, &line);
        }
        assert!(transcript.load.bytes.load(Relaxed) <= QUEUE_BYTES);
        // One line more may be in the writer's hand.
        let kept = 200 - transcript.load.lost.load(Relaxed);
        assert!((64..=65).contains(&kept), "{kept} lines kept");
        transcript.abandon();
        transcript.finish();
    }

    #[test]
    fn only_objects_are_kept_as_json_and_no_token_is() {
        for (line, kept) in [
            (r#"{"id":"1", "cmd":"ping"}"#, r#"{"id":"1", "cmd":"ping"}"#),
            (r#"{"id":"1","token":"secret"}"#, r#"{"id":"1","token":"hidden"}"#),
            (r#"{"id":"1","cmd":"ping","echo":"token"}"#, r#"{"id":"1","cmd":"ping","echo":"token"}"#),
            ("null", r#""null""#),
            (r#""abc""#, r#""\"abc\"""#),
            (r#"{"id":"#, r#""{\"id\":""#),
            (r#"{"id":"1","token":"secret""#, r#""a bad line that may hold a token""#),
            (r#"{"id":"1","\u0074oken":"secret"}"#, r#"{"id":"1","token":"hidden"}"#),
        ] {
            assert_eq!(message(line).unwrap().get(), kept);
        }
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for line in [
            r#"{"id":"1","\u0074oken":"secret""#,
            r#"["\u0074oken","secret"]"#,
            r#"{"token":"secret","x":"\ud800"}"#,
            r#"{"token":"secret","x":1e999}"#,
            &format!(r#"{{"token":"secret","x":{deep}}}"#),
        ] {
            assert!(!message(line).unwrap().get().contains("secret"), "{line}");
        }
    }
}
