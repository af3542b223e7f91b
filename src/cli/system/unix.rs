//! Unix.

use std::ffi::{OsStr, OsString};
use std::fs::{File, FileType, Metadata};
use std::io::{self, Stdin};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
#[cfg(feature = "fleet")]
use std::os::unix::process::CommandExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
#[cfg(feature = "fleet")]
use std::process::Command;
use std::process::ExitStatus;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::{Pid, getpid, kill_process, kill_process_group};
use tokio::signal::unix::{SignalKind, signal};

use super::Signal;

/// Whether a signal reports another size of the window; else the terminal reports it among the keys.
pub(in crate::cli) const SIZE_IS_A_SIGNAL: bool = true;

/// The signals to a program that a person uses.
pub(in crate::cli) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
    window: tokio::signal::unix::Signal,
}

impl Signals {
    /// Takes them over; within a runtime.
    ///
    /// # Errors
    /// The system refuses.
    pub(in crate::cli) fn install() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            window: signal(SignalKind::window_change())?,
        })
    }

    /// Waits for the next one.
    pub(in crate::cli) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::End,
            _ = self.hangup.recv() => Signal::End,
            _ = self.window.recv() => Signal::Redraw,
        }
    }
}

/// What shows that the terminal is gone.
pub(in crate::cli) fn terminal(stdin: &Stdin) -> Option<BorrowedFd<'_>> {
    Some(stdin.as_fd())
}

/// Stops this process as Ctrl-Z does; returns when it goes on.
///
/// # Errors
/// The system refuses.
pub(in crate::cli) fn suspend() -> io::Result<()> {
    Ok(kill_process(getpid(), rustix::process::Signal::TSTP)?)
}

/// Asks a process group to end, as Ctrl-C does; false if none can be asked.
pub(in crate::cli) fn interrupt_group(leader: u32) -> bool {
    let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) else { return false };
    let _ended_already = kill_process_group(group, rustix::process::Signal::INT);
    true
}

/// The exit code of a process, with those that shells give to signals.
pub(in crate::cli) fn exit_code(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// Opens a file to read. Of a pipe that nobody writes to the end is read at once; opening it in the ordinary
/// way would wait for a writer.
///
/// # Errors
/// It cannot be opened.
pub(in crate::cli) fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
}

/// Waits until there is something to read of a file that was opened so.
///
/// # Errors
/// There is nothing in time.
pub(in crate::cli) fn await_readable(file: &File, end: Instant) -> io::Result<()> {
    let left = end.saturating_duration_since(Instant::now());
    let left = Timespec::try_from(left).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&left)) {
        Ok(0) => Err(io::Error::new(io::ErrorKind::TimedOut, "nobody wrote to this pipe in time")),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Opens a file of secrets to read and to append, made for its owner alone if there is none, and waits for
/// others that do the same; they wait until it is closed.
///
/// # Errors
/// It cannot be opened.
pub(in crate::cli) fn open_secrets(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).append(true).create(true).mode(0o600).open(path)?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}

/// Whether every user of the system may read a file.
pub(in crate::cli) fn others_read(metadata: &Metadata) -> bool {
    metadata.permissions().mode() & 0o004 != 0
}

/// Whether anybody may run a file as a program.
pub(in crate::cli) fn is_executable(metadata: &Metadata) -> bool {
    metadata.permissions().mode() & 0o111 != 0
}

/// Whether a file is a pipe.
pub(in crate::cli) fn is_pipe(kind: FileType) -> bool {
    kind.is_fifo()
}

/// Raises the limit of open files as far as the system allows; gives the limit, if there is one.
#[cfg(feature = "ladder")]
pub(in crate::cli) fn raise_open_files() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, ..limit };
    // The limit stays what it is if the system refuses.
    let _refused = setrlimit(Resource::Nofile, raised);
    getrlimit(Resource::Nofile).current
}

/// The machine's name.
#[cfg(feature = "fleet")]
pub(in crate::cli) fn machine_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Whether a program can be started within limits.
#[cfg(feature = "fleet")]
pub(in crate::cli) const CONFINES: bool = true;

/// What starting another program allocates at most, in bytes.
#[cfg(feature = "fleet")]
const RESERVE: usize = 64 << 10;

/// Becomes a program with so many bytes of memory and so many open files, which writes no larger file than
/// that. It returns if that fails.
#[cfg(feature = "fleet")]
pub(in crate::cli) fn become_confined(
    program: &mut Command,
    memory: u64,
    files: u64,
    file_bytes: u64,
) -> io::Error {
    use rustix::process::{Resource, Rlimit, setrlimit};

    let limits = [
        (Resource::As, memory),
        (Resource::Nofile, files),
        (Resource::Fsize, file_bytes),
        (Resource::Core, 0),
    ];
    // This program may take up more than `memory` before it has become the other one. The system then gives
    // it none, and what it allocates on the way comes from what it frees below.
    let reserve = vec![1_u8; RESERVE];
    for (resource, most) in limits {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        if let Err(error) = setrlimit(resource, limit) {
            return error.into();
        }
    }
    // Programs that run as somebody else, such as `sudo`, give it nothing.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::thread::set_no_new_privs(true) {
        return error.into();
    }
    drop(std::hint::black_box(reserve));
    program.exec()
}

/// The elements of a list, between commas.
pub(in crate::cli) fn elements(list: &OsStr) -> Vec<OsString> {
    let parts = list.as_bytes().split(|byte| *byte == b',');
    parts.map(|part| OsStr::from_bytes(part.trim_ascii()).to_owned()).collect()
}
