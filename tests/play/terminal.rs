//! A terminal for tests: a pseudo-terminal with a program in it, and a window that shows what it wrote.

use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use plyd::client::Process;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::retry_on_intr;
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::common::process;

/// How long a condition is waited for before the test fails; far above what a loaded machine needs.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// What gives the terminal back: line by line, the usual screen.
pub(crate) const GIVEN_BACK: &str = "\x1b[?1049l";

/// A byte that no program writes.
const END: &str = "\x04";

/// A program in a terminal of its own, killed when dropped.
pub(crate) struct Terminal {
    process: Process,
    keyboard: Option<File>,
    /// Closed when nobody looks at the window any more.
    eye: Option<PipeWriter>,
    /// The program's end, kept to see how it leaves the terminal.
    line: OwnedFd,
    written: Receiver<Vec<u8>>,
    /// All that was written.
    pub(crate) transcript: String,
    /// How much of the transcript was expected already.
    seen: usize,
    pub(crate) window: Window,
}

impl Terminal {
    /// Starts `plyd` in a window of so many rows and columns.
    pub(crate) fn start(arguments: &[&str], rows: usize, cols: usize) -> Self {
        Self::start_with(arguments, rows, cols, &[])
    }

    /// The same with some variables of the environment.
    pub(crate) fn start_with(
        arguments: &[&str],
        rows: usize,
        cols: usize,
        variables: &[(&str, &str)],
    ) -> Self {
        // A session of its own, so that the terminal's signals reach it and nothing else.
        Self::open(&["--ctty"], arguments, rows, cols, variables)
    }

    /// The same in a terminal that sends no signals, not even when it goes.
    pub(crate) fn start_without_signals(arguments: &[&str], rows: usize, cols: usize) -> Self {
        Self::open(&[], arguments, rows, cols, &[])
    }

    fn open(
        session: &[&str],
        arguments: &[&str],
        rows: usize,
        cols: usize,
        variables: &[(&str, &str)],
    ) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let line =
            open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        tcsetwinsize(&master, size(rows, cols)).unwrap();
        let end = || Stdio::from(line.try_clone().unwrap());
        let mut launch =
            process::launch(Command::new("setsid").args(session).arg(process::PLYD).args(arguments));
        launch.command.env("TERM", "xterm-256color").env_remove("NO_COLOR").envs(variables.iter().copied());
        launch.command.stdin(end()).stdout(end()).stderr(end());
        let process = process::spawn(launch.without_group());
        let screen = File::from(master.try_clone().unwrap());
        let (sender, written) = channel();
        let (closed, eye) = pipe().unwrap();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Some(read) = look(&screen, &closed, &mut bytes) {
                if sender.send(bytes[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let (keyboard, eye) = (Some(File::from(master)), Some(eye));
        let window = Window::new(rows, cols);
        Self { process, keyboard, eye, line, written, transcript: String::new(), seen: 0, window }
    }

    /// Types.
    pub(crate) fn send(&mut self, keys: impl AsRef<[u8]>) {
        self.keyboard.as_mut().unwrap().write_all(keys.as_ref()).unwrap();
    }

    /// Waits until the program has written the text, behind what was expected before.
    pub(crate) fn expect(&mut self, text: &str) {
        self.wait(&format!("`{text}`"), |terminal| {
            let found = terminal.transcript[terminal.seen..].find(text);
            found.map(|at| terminal.seen += at + text.len())
        });
    }

    /// Types a line, and waits for what it leads to.
    pub(crate) fn says(&mut self, line: &str, text: &str) {
        self.send(format!("{line}\r"));
        self.expect(text);
    }

    /// Waits until the window shows the text.
    pub(crate) fn shows(&mut self, text: &str) {
        self.wait(&format!("`{text}` in the window"), |terminal| {
            terminal.window.lines().iter().any(|line| line.contains(text)).then_some(())
        });
    }

    /// Waits until something can be had.
    pub(crate) fn wait<T>(&mut self, what: &str, mut wanted: impl FnMut(&mut Self) -> Option<T>) -> T {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(found) = wanted(self) {
                return found;
            }
            if !self.take(deadline) {
                panic!(
                    "no {what}; the window:\n{}\nthe end of what was written: {:?}",
                    self.window.lines().join("\n"),
                    self.transcript
                        .chars()
                        .rev()
                        .take(600)
                        .collect::<Vec<_>>()
                        .iter()
                        .rev()
                        .collect::<String>(),
                );
            }
        }
    }

    /// Takes what the program writes next; false at the deadline and at its end.
    fn take(&mut self, deadline: Instant) -> bool {
        match self.written.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                self.transcript += &text;
                self.window.write(text.trim_end_matches(END));
                true
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => false,
        }
    }

    /// Gives the window another size.
    pub(crate) fn resize(&mut self, rows: usize, cols: usize) {
        self.window = Window::new(rows, cols);
        tcsetwinsize(self.keyboard.as_ref().unwrap(), size(rows, cols)).unwrap();
    }

    /// Whether the terminal is as a shell wants it: lines, shown as they are typed, with signals.
    pub(crate) fn is_as_before(&self) -> bool {
        let modes = tcgetattr(self.line.as_fd()).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        process::signal(&self.process, signal);
    }

    /// Takes the terminal away, as closing its window does.
    pub(crate) fn hang_up(&mut self) {
        self.signal(Signal::HUP);
    }

    /// Closes the window, and waits for the program's end.
    pub(crate) fn close(mut self) -> ExitStatus {
        (self.keyboard, self.eye) = (None, None);
        self.process.wait_exit(Instant::now() + TIMEOUT).unwrap().expect("it ends with its terminal")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Waits for the program's end, and takes all that it has written.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + TIMEOUT;
        let status = loop {
            if let Some(status) = self.process.wait_exit(Instant::now()).unwrap() {
                break status;
            }
            self.take(Instant::now() + Duration::from_millis(20));
            assert!(Instant::now() < deadline, "it does not end:\n{}", self.window.lines().join("\n"));
        };
        // What we write ourselves comes behind all that the program wrote, however late the reader is.
        rustix::io::write(&self.line, END.as_bytes()).unwrap();
        while !self.transcript.ends_with(END) {
            assert!(self.take(deadline), "the terminal ends early: {:?}", self.transcript);
        }
        self.transcript.truncate(self.transcript.len() - END.len());
        status
    }
}

/// Reads what is written; none at the end, and when nobody looks any more.
fn look(mut screen: &File, closed: &PipeReader, bytes: &mut [u8]) -> Option<usize> {
    let mut streams = [PollFd::new(screen, PollFlags::IN), PollFd::new(closed, PollFlags::IN)];
    retry_on_intr(|| poll(&mut streams, None)).unwrap();
    if !streams[1].revents().is_empty() {
        return None;
    }
    screen.read(bytes).ok().filter(|read| *read > 0)
}

fn size(rows: usize, cols: usize) -> Winsize {
    Winsize { ws_row: rows as u16, ws_col: cols as u16, ws_xpixel: 0, ws_ypixel: 0 }
}

/// What a terminal shows that knows the sequences that `plyd play` writes, and no others.
pub(crate) struct Window {
    cells: Vec<Vec<char>>,
    row: usize,
    col: usize,
    /// The beginning of an escape sequence.
    sequence: Option<String>,
}

impl Window {
    fn new(rows: usize, cols: usize) -> Self {
        Self { cells: vec![vec![' '; cols]; rows], row: 0, col: 0, sequence: None }
    }

    /// The rows, without blanks at their ends.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.cells.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned()).collect()
    }

    fn write(&mut self, text: &str) {
        for c in text.chars() {
            if let Some(sequence) = &mut self.sequence {
                sequence.push(c);
                let is_over = sequence.len() > 1 && c.is_ascii_alphabetic();
                if is_over {
                    let sequence = self.sequence.take().unwrap_or_default();
                    self.obey(&sequence);
                }
                continue;
            }
            match c {
                '\x1b' => self.sequence = Some(String::new()),
                '\r' => self.col = 0,
                '\n' => self.row += 1,
                c => {
                    assert!(!c.is_control(), "{c:?} was written to the terminal");
                    let cell = self.cells.get_mut(self.row).and_then(|row| row.get_mut(self.col));
                    if let Some(cell) = cell {
                        *cell = c;
                    }
                    self.col += 1;
                }
            }
        }
    }

    fn obey(&mut self, sequence: &str) {
        let (parameters, last) = sequence[1..].split_at(sequence.len() - 2);
        match last {
            "H" => {
                let place = parameters.split_once(';').unwrap_or(("1", "1"));
                self.row = place.0.parse::<usize>().unwrap() - 1;
                self.col = place.1.parse::<usize>().unwrap() - 1;
            }
            "J" => self.cells.iter_mut().flatten().for_each(|cell| *cell = ' '),
            "K" => self.cells.get_mut(self.row).into_iter().flatten().for_each(|cell| *cell = ' '),
            "m" | "h" | "l" => {}
            _ => panic!("the sequence {sequence:?} was not expected"),
        }
    }
}
