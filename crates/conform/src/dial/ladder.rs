//! A ladder that one program dials: how the program is started, when it dials, and what it writes to its log.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::visit::{Joined, Visit};
use crate::system::{self, Signal};
use crate::trial::{LADDER, TOKEN, Trial};
use crate::verdict::{Checked, Stop, holds};
use plyd_client::{Process, Program};

/// The interval at which the ladder looks for a program that dials.
const LOOK: Duration = Duration::from_millis(1);
/// How long the last lines of a log may take.
const LAST_LINES: Duration = Duration::from_secs(1);
/// The most of a program's log that is kept.
const LOG: usize = 1 << 20;

/// A ladder, and the program that is to dial it. The program ends with it.
pub(super) struct Ladder<'w> {
    trial: &'w Trial<'w>,
    /// None once the ladder has stopped listening.
    listener: Option<TcpListener>,
    process: Process,
    log: Arc<Mutex<Vec<u8>>>,
    /// The threads that read the log.
    readers: Vec<JoinHandle<()>>,
    /// The program's token, and the file that has it.
    pub(super) token: String,
    file: PathBuf,
}

/// Why a ladder waits no longer.
pub(super) enum Waited {
    /// The program dialled.
    Called(TcpStream),
    /// It has ended.
    Ended,
    /// The time is over.
    Over,
}

impl<'w> Ladder<'w> {
    /// Starts to listen, and starts the program.
    pub(super) fn start(trial: &'w Trial<'w>) -> Checked<Self> {
        let (program, at) = trial.dialer()?;
        let skipped = |what: &str, error: io::Error| Stop::skipped(format!("{what}: {error}"));
        let listener = TcpListener::bind(at).map_err(|error| skipped(&format!("no port at {at}"), error))?;
        let address = listener.local_addr().and_then(|at| listener.set_nonblocking(true).map(|()| at));
        let address = address.map_err(|error| skipped("no port", error))?;
        let (token, file) = secret().map_err(|error| skipped("no file for a token", error))?;
        let started = start(trial, &at_ladder(program, address, &file));
        let mut process = started.inspect_err(|_| drop(fs::remove_file(&file)))?;
        let log = Arc::new(Mutex::new(Vec::new()));
        let outputs: [Option<Box<dyn Read + Send>>; 2] = [
            process.take_stdout().map(|output| Box::new(output) as _),
            process.take_stderr().map(|output| Box::new(output) as _),
        ];
        let readers = outputs.into_iter().flatten().map(|output| {
            let (log, is_shown) = (Arc::clone(&log), trial.shows_log());
            thread::spawn(move || keep(output, &log, is_shown))
        });
        let readers = readers.collect();
        Ok(Self { trial, listener: Some(listener), process, log, readers, token, file })
    }

    /// Waits until the program dials.
    pub(super) fn called(&mut self) -> Checked<Visit> {
        match self.wait(self.trial.deadline)? {
            Waited::Called(stream) => Visit::new(stream, self.trial.deadline),
            Waited::Ended => Err(Stop::failed("the program dials", self.end_of_log("it has ended"))),
            Waited::Over => Err(Stop::failed("the program dials", self.end_of_log("it does not"))),
        }
    }

    /// Waits until the program dials, and accepts its offer; these of its games go on.
    pub(super) fn joined(&mut self, games: &[&str]) -> Checked<Joined<'w>> {
        let visit = self.called()?;
        let trial = self.trial;
        visit.joined(trial, games)
    }

    /// Waits until the program dials or ends, at most until that instant.
    pub(super) fn wait(&mut self, until: Instant) -> Checked<Waited> {
        loop {
            if let Some(stream) = self.accept()? {
                return Ok(Waited::Called(stream));
            }
            let now = Instant::now();
            if self.has_ended()? {
                self.read_out();
                return Ok(Waited::Ended);
            }
            if now >= until {
                return Ok(Waited::Over);
            }
            thread::sleep(LOOK.min(until - now));
        }
    }

    /// A connection that waits to be taken.
    pub(super) fn accept(&self) -> Checked<Option<TcpStream>> {
        let Some(listener) = &self.listener else { return Ok(None) };
        match listener.accept() {
            Ok((stream, _)) => Ok(Some(stream)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(Stop::skipped(format!("a connection cannot be taken: {error}"))),
        }
    }

    /// Stops listening.
    pub(super) fn close(&mut self) {
        self.listener = None;
    }

    /// Sends the program SIGTERM.
    pub(super) fn terminate(&self) {
        let _ended_already = system::send(Signal::Term, self.process.id());
    }

    /// Waits for the program's end.
    pub(super) fn ended(&mut self, after: &str) -> Checked {
        while !self.has_ended()? {
            if self.trial.is_late() {
                let came = self.end_of_log("it goes on");
                return Err(Stop::failed(format!("the program ends {after}"), came));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    /// What the program wrote so far, to either of its outputs.
    pub(super) fn log(&self) -> String {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&log).into_owned()
    }

    /// Fails if the token can be read where others look.
    pub(super) fn keeps_its_token(&self) -> Checked {
        let log = self.log();
        let line = log.lines().find(|line| line.contains(&self.token));
        let hidden = |line: &str| line.replace(&self.token, "TOKEN");
        holds(line.is_none(), "a log without the token", || hidden(line.unwrap_or_default()))?;
        let is_shown = commands().into_iter().any(|command| command.contains(&self.token));
        holds(!is_shown, "a list of processes without the token", || "it is an argument of one".into())
    }

    /// Lets the log of a program that has ended be read to its end, unless somebody else holds it open.
    fn read_out(&self) {
        let end = Instant::now() + LAST_LINES;
        while Instant::now() < end && !self.readers.iter().all(JoinHandle::is_finished) {
            thread::sleep(LOOK);
        }
    }

    fn has_ended(&mut self) -> Checked<bool> {
        let ended = self.process.wait_exit(Instant::now());
        ended.map(|status| status.is_some()).map_err(|error| Stop::skipped(error.to_string()))
    }

    /// What is wrong, with the last line of the log, which may say why.
    fn end_of_log(&self, what: &str) -> String {
        match self.log().lines().last() {
            Some(line) => format!("{what}; its log ends: {line}"),
            None => what.to_owned(),
        }
    }
}

impl Drop for Ladder<'_> {
    fn drop(&mut self) {
        let _gone_already = fs::remove_file(&self.file);
    }
}

/// The program with its arguments as they are for this ladder.
fn at_ladder(program: &Program, at: SocketAddr, file: &std::path::Path) -> Program {
    let (ladder, token) = (format!("tcp://{at}"), file.display().to_string());
    let arguments = program.arguments.iter().map(|argument| match argument.to_str() {
        Some(text) => text.replace(LADDER, &ladder).replace(TOKEN, &token).into(),
        None => argument.clone(),
    });
    Program { path: program.path.clone(), arguments: arguments.collect() }
}

fn start(trial: &Trial<'_>, program: &Program) -> Checked<Process> {
    let failed = |error: String| Stop::failed("the program starts", error);
    let mut launch = program.launch(trial.reaper()).map_err(|error| failed(error.to_string()))?;
    launch.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Process::spawn(launch).map_err(|error| failed(error.to_string()))
}

/// A token that nobody had before, and a file with it that nobody else reads.
fn secret() -> io::Result<(String, PathBuf)> {
    let random = || RandomState::new().build_hasher().finish();
    let token = format!("plyd_{:016x}{:016x}", random(), random());
    let file = std::env::temp_dir().join(format!("plyd-conform-token-{:016x}", random()));
    let mut opened = system::private_file(&file)?;
    writeln!(opened, "{token}")?;
    Ok((token, file))
}

/// Reads an output to its end, and keeps the beginning.
fn keep(mut output: impl Read, log: &Mutex<Vec<u8>>, is_shown: bool) {
    let mut chunk = vec![0; 4096];
    while let Ok(count @ 1..) = output.read(&mut chunk) {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let room = LOG.saturating_sub(log.len()).min(count);
        log.extend_from_slice(&chunk[..room]);
        if is_shown {
            let _nobody_reads = io::stderr().write_all(&chunk[..count]);
        }
    }
}

/// The commands of all processes that can be seen here.
fn commands() -> Vec<String> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let read = |entry: io::Result<fs::DirEntry>| fs::read(entry.ok()?.path().join("cmdline")).ok();
    processes.filter_map(read).map(|command| String::from_utf8_lossy(&command).into_owned()).collect()
}
