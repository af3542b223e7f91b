//! What reaches the table from outside beside the engine: keys or lines, and signals.
//!
//! Each has a thread that waits for it. All are heard by one, which sleeps until one of them or the engine
//! has something to say: a byte in a pipe wakes it.

use std::io::{self, BufRead, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::signal::unix::{SignalKind, signal};

use super::keys::{Key, Keys};

/// How many lines or keys are read ahead.
const AHEAD: usize = 64;

/// The longest line that is taken, in bytes: far longer than any move or position.
const LONGEST: usize = 1 << 16;

/// How long to wait for the rest of a key's bytes; an Escape that stands alone is a key.
const REST: Timespec = Timespec { tv_sec: 0, tv_nsec: 30_000_000 };

/// What came in.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Input {
    Line(String),
    /// A line that is too long, or no text.
    Unreadable,
    Key(Key),
    /// The end of the input.
    End,
}

/// A signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Signal {
    /// Ctrl-C, if the terminal makes a signal of it.
    Interrupt,
    /// The process is to end, or its terminal is gone.
    End,
    /// The window has another size, or the process runs again after it was stopped.
    Redraw,
}

/// All of it.
pub(super) struct Inputs {
    pub(super) input: Receiver<Input>,
    pub(super) signals: Receiver<Signal>,
    wake: PipeReader,
}

impl Inputs {
    /// Listens to the standard input, by lines.
    pub(super) fn lines() -> io::Result<Self> {
        Self::listen(read_lines)
    }

    /// Listens to the terminal, by keys.
    pub(super) fn keys() -> io::Result<Self> {
        Self::listen(read_keys)
    }

    fn listen(read: fn(&Bell<Input>)) -> io::Result<Self> {
        let (wake, ring) = io::pipe()?;
        let (input_sender, input) = sync_channel(AHEAD);
        let (signal_sender, signals) = sync_channel(AHEAD);
        listen_to_signals(Bell { sender: signal_sender, ring: ring.try_clone()? })?;
        let bell = Bell { sender: input_sender, ring };
        thread::Builder::new().name("input".into()).spawn(move || {
            read(&bell);
            bell.send(Input::End);
        })?;
        Ok(Self { input, signals, wake })
    }

    /// Sleeps until something may have come in here or at the engine, or a time is over.
    pub(super) fn wait(&mut self, engine: Option<BorrowedFd<'_>>, time: Option<Duration>) -> io::Result<()> {
        let time = time.and_then(|time| Timespec::try_from(time).ok());
        let mut streams = vec![PollFd::new(&self.wake, PollFlags::IN)];
        if let Some(engine) = &engine {
            streams.push(PollFd::new(engine, PollFlags::IN));
        }
        match poll(&mut streams, time.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        if !streams[0].revents().is_empty() {
            // One byte for each thing that was sent; a byte left unread only wakes once more, for nothing.
            let _some = (&self.wake).read(&mut [0; AHEAD])?;
        }
        Ok(())
    }
}

/// Sends something and wakes the thread that waits for it.
struct Bell<T> {
    sender: SyncSender<T>,
    ring: PipeWriter,
}

impl<T> Bell<T> {
    /// False if nobody listens any more.
    fn send(&self, what: T) -> bool {
        self.sender.send(what).is_ok() && (&self.ring).write_all(&[0]).is_ok()
    }
}

fn listen_to_signals(bell: Bell<Signal>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let inside = runtime.enter();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut window = signal(SignalKind::window_change())?;
    drop(inside);
    thread::Builder::new().name("signals".into()).spawn(move || {
        loop {
            let signal = runtime.block_on(async {
                tokio::select! {
                    _ = interrupt.recv() => Signal::Interrupt,
                    _ = terminate.recv() => Signal::End,
                    _ = hangup.recv() => Signal::End,
                    _ = window.recv() => Signal::Redraw,
                }
            });
            if !bell.send(signal) {
                return;
            }
        }
    })?;
    Ok(())
}

fn read_lines(bell: &Bell<Input>) {
    let mut stdin = io::stdin().lock();
    loop {
        let mut bytes = Vec::new();
        let read = (&mut stdin).take(LONGEST as u64).read_until(b'\n', &mut bytes);
        let whole = bytes.ends_with(b"\n") || bytes.len() < LONGEST;
        match read {
            Ok(0) | Err(_) => return,
            Ok(_) if !whole => {
                if !skip_line(&mut stdin) || !bell.send(Input::Unreadable) {
                    return;
                }
            }
            Ok(_) => {
                let line =
                    String::from_utf8(bytes).map(|line| line.trim_end_matches(['\r', '\n']).to_owned());
                if !bell.send(line.map_or(Input::Unreadable, Input::Line)) {
                    return;
                }
            }
        }
    }
}

/// Drops the rest of a line without storing it.
fn skip_line(stdin: &mut impl BufRead) -> bool {
    loop {
        let Ok(bytes) = stdin.fill_buf() else { return false };
        if bytes.is_empty() {
            return true;
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(bytes.len(), |end| end + 1);
        stdin.consume(used);
        if end.is_some() {
            return true;
        }
    }
}

fn read_keys(bell: &Bell<Input>) {
    let stdin = io::stdin();
    let mut keys = Keys::default();
    let mut bytes = [0; 1024];
    loop {
        let rest_is_over = || {
            let mut streams = [PollFd::new(&stdin, PollFlags::IN)];
            matches!(poll(&mut streams, Some(&REST)), Ok(0))
        };
        let found = if keys.is_amid() && rest_is_over() {
            keys.finish()
        } else {
            match rustix::io::read(stdin.as_fd(), &mut bytes) {
                Ok(0) => return,
                Ok(read) => keys.take(&bytes[..read]),
                Err(Errno::INTR) => continue,
                Err(_) => return,
            }
        };
        for key in found {
            if !bell.send(Input::Key(key)) {
                return;
            }
        }
    }
}
