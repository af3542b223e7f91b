//! What a person gives a program beside the server that it speaks with: keys or lines, and signals.
//!
//! Each has a thread that waits for it. All are heard by one, which sleeps until one of them or the server
//! has something to say: a byte in a pipe wakes it.

use std::io::{self, BufRead, Read, Stdin, Write};
use std::panic;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crossterm::event::{self, Event, KeyEvent};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;

pub(super) use super::system::Signal;
use super::system::{self, SIZE_IS_A_SIGNAL, Signals};
use crate::client::{WakeupReader, WakeupWriter, wakeup};

/// How many lines or keys are read ahead.
const AHEAD: usize = 64;

/// The longest line or paste that is taken, in bytes: far longer than any move or position.
const LONGEST: usize = 1 << 16;

/// What came in.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Input {
    Line(String),
    /// A line that is too long, or no text; a paste that is too long.
    Unreadable,
    Key(KeyEvent),
    /// Text that was pasted as a whole.
    Paste(String),
    /// The end of the input.
    End,
}

/// All of it.
pub(super) struct Inputs {
    pub(super) input: Receiver<Input>,
    pub(super) signals: Receiver<Signal>,
    wake: WakeupReader,
    /// The terminal, if it is listened to by keys.
    terminal: Option<Stdin>,
}

impl Inputs {
    /// Listens to the standard input, by lines.
    pub(super) fn lines() -> io::Result<Self> {
        Self::listen(read_lines, None)
    }

    /// Listens to the terminal, by keys.
    pub(super) fn keys() -> io::Result<Self> {
        Self::listen(read_keys, Some(io::stdin()))
    }

    fn listen(read: fn(&Bell<Input>, &Bell<Signal>), terminal: Option<Stdin>) -> io::Result<Self> {
        let (wake, ring) = wakeup()?;
        let (input_sender, input) = sync_channel(AHEAD);
        let (signal_sender, signals) = sync_channel(AHEAD);
        listen_to_signals(Bell { sender: signal_sender.clone(), ring: ring.try_clone()? })?;
        let signal_bell = Bell { sender: signal_sender, ring: ring.try_clone()? };
        let bell = Bell { sender: input_sender, ring };
        thread::Builder::new().name("input".into()).spawn(move || {
            // A panic ends the input, too; else the program would go on without a keyboard.
            let _reported = panic::catch_unwind(panic::AssertUnwindSafe(|| read(&bell, &signal_bell)));
            bell.send(Input::End);
        })?;
        Ok(Self { input, signals, wake, terminal })
    }

    /// Sleeps until something may have come in here or at the server, or a time is over.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(super) fn wait(&mut self, server: Option<BorrowedFd<'_>>, time: Option<Duration>) -> io::Result<()> {
        let time = time.and_then(|time| Timespec::try_from(time).ok());
        let mut streams = vec![PollFd::new(&self.wake, PollFlags::IN)];
        // With nothing asked for, poll still reports that the terminal is gone. The thread that reads the
        // keys does not notice: crossterm tries again for ever
        // (<https://github.com/crossterm-rs/crossterm/issues/793>).
        let terminal = self.terminal.as_ref().and_then(system::terminal);
        streams.extend(terminal.iter().map(|terminal| PollFd::new(terminal, PollFlags::empty())));
        let ends = streams.len();
        streams.extend(server.iter().map(|server| PollFd::new(server, PollFlags::IN)));
        match poll(&mut streams, time.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        if streams[1..ends].iter().any(|terminal| !terminal.revents().is_empty()) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the terminal is gone"));
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
    ring: WakeupWriter,
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
    let mut signals = Signals::install()?;
    drop(inside);
    thread::Builder::new().name("signals".into()).spawn(move || {
        loop {
            let signal = runtime.block_on(signals.next());
            if !bell.send(signal) {
                return;
            }
        }
    })?;
    Ok(())
}

fn read_lines(bell: &Bell<Input>, _: &Bell<Signal>) {
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

fn read_keys(bell: &Bell<Input>, signals: &Bell<Signal>) {
    while let Ok(event) = event::read() {
        let input = match event {
            Event::Key(key) if !key.is_release() => Input::Key(key),
            Event::Paste(text) if text.len() > LONGEST => Input::Unreadable,
            Event::Paste(text) => Input::Paste(text),
            Event::Resize(..) if !SIZE_IS_A_SIGNAL => {
                if !signals.send(Signal::Redraw) {
                    return;
                }
                continue;
            }
            // Another size is reported by its signal, even while crossterm waits for the rest of a key.
            _ => continue,
        };
        if !bell.send(input) {
            return;
        }
    }
}
