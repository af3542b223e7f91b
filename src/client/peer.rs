//! Who is at the other end of the lines: a child process in a group of its own, or a TCP address.
//!
//! Knows no lines: it gives the two ends to read and write, neither of which blocks, and ends what it started.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::keeper::Keeper;

/// How often the exit of a child is looked for.
const EXIT_POLL: Duration = Duration::from_millis(2);

/// A peer, which is ended when this is dropped.
#[derive(Debug)]
pub(super) enum Peer {
    Child(Process),
    Tcp(TcpStream),
}

/// A child process with all that it started, as far as that stayed in its group.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    status: Option<ExitStatus>,
    /// What ends the group if this process is killed.
    keeper: Option<Arc<Keeper>>,
}

impl Peer {
    /// Starts a child process, which a keeper ends if this process is killed.
    pub(super) fn spawn(mut command: Command, keeper: Option<Arc<Keeper>>) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0).spawn()?;
        if let Some(keeper) = &keeper {
            keeper.watch(child.id());
        }
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("stdout was asked to be a pipe");
        let process = Process { child, stdin, stdout, status: None, keeper };
        if let Some(stdin) = &process.stdin {
            never_block(stdin)?;
        }
        Ok(Self::Child(process))
    }

    /// Takes a connection, without delay for small packets.
    pub(super) fn tcp(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        never_block(&stream)?;
        Ok(Self::Tcp(stream))
    }

    /// Where its lines come from.
    pub(super) fn input(&self) -> BorrowedFd<'_> {
        match self {
            Self::Child(process) => process.stdout.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }

    /// Where its lines go, until they are finished.
    pub(super) fn output(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Child(process) => process.stdin.as_ref().map(AsFd::as_fd),
            Self::Tcp(stream) => Some(stream.as_fd()),
        }
    }

    /// Ends what it reads.
    pub(super) fn finish_output(&mut self) {
        match self {
            Self::Child(process) => drop(process.stdin.take()),
            Self::Tcp(stream) => {
                let _gone_already = stream.shutdown(Shutdown::Write);
            }
        }
    }

    /// The process, if it is one.
    pub(super) fn process(&mut self) -> Option<&mut Process> {
        match self {
            Self::Child(process) => Some(process),
            Self::Tcp(_) => None,
        }
    }

    /// The process's id, which is also that of its group.
    pub(super) fn pid(&self) -> Option<u32> {
        match self {
            Self::Child(process) => Some(process.child.id()),
            Self::Tcp(_) => None,
        }
    }
}

impl Process {
    /// Waits until the process ends, and then ends what it leaves behind; none at the deadline.
    pub(super) fn wait_exit(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        while self.status.is_none() && !self.has_exited()? {
            if Instant::now() >= deadline {
                return Ok(None);
            }
            thread::sleep(EXIT_POLL);
        }
        self.end().map(Some)
    }

    /// Whether the process ended. It stays to be waited for, which keeps its number from being given again.
    fn has_exited(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.group()), options)?.is_some())
    }

    /// Kills the whole group, waits for the process, and tells how it ended.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        let _nobody_is_left = kill_process_group(self.group(), Signal::KILL);
        // A process may have left its group, and would then be waited for until it ends by itself.
        let _ended_already = self.child.kill();
        if let Some(keeper) = &self.keeper {
            // First, since the number may be given again as soon as the process was waited for.
            keeper.release(self.child.id());
        }
        let status = self.child.wait()?;
        self.status = Some(status);
        Ok(status)
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _reaped_already = self.end();
    }
}

fn never_block(stream: impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(&stream)?;
    Ok(fcntl_setfl(&stream, flags | OFlags::NONBLOCK)?)
}
