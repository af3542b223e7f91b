//! Who is at the other end of the lines: a child process or a socket.
//!
//! Knows no lines: it gives the two ends to read and write, neither of which blocks, and ends what it
//! started.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::net::sockopt::set_socket_linger;

use super::process::Process;
use super::reaper::Launch;

/// A peer, which is ended when this is dropped.
#[derive(Debug)]
pub(super) enum Peer {
    Child { process: Process, stdin: Option<ChildStdin>, stdout: ChildStdout },
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Peer {
    /// Starts a child process.
    pub(super) fn spawn(mut launch: Launch) -> io::Result<Self> {
        launch.command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Process::spawn(launch)?;
        let stdin = process.take_stdin();
        let stdout = process.take_stdout().expect("stdout was asked to be a pipe");
        if let Some(stdin) = &stdin {
            never_block(stdin)?;
        }
        Ok(Self::Child { process, stdin, stdout })
    }

    /// Takes a connection, without delay for small packets.
    pub(super) fn tcp(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        never_block(&stream)?;
        Ok(Self::Tcp(stream))
    }

    /// Takes a connection over a Unix socket.
    pub(super) fn unix(stream: UnixStream) -> io::Result<Self> {
        never_block(&stream)?;
        Ok(Self::Unix(stream))
    }

    /// Where its lines come from.
    pub(super) fn input(&self) -> BorrowedFd<'_> {
        match self {
            Self::Child { stdout, .. } => stdout.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }

    /// Where its lines go, until they are finished.
    pub(super) fn output(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Child { stdin, .. } => stdin.as_ref().map(AsFd::as_fd),
            Self::Tcp(stream) => Some(stream.as_fd()),
            Self::Unix(stream) => Some(stream.as_fd()),
        }
    }

    /// Ends what it reads.
    pub(super) fn finish_output(&mut self) {
        match self {
            Self::Child { stdin, .. } => drop(stdin.take()),
            Self::Tcp(stream) => {
                let _gone_already = stream.shutdown(Shutdown::Write);
            }
            Self::Unix(stream) => {
                let _gone_already = stream.shutdown(Shutdown::Write);
            }
        }
    }

    /// Lets the end of a TCP connection be a reset.
    pub(super) fn reset_at_end(&self) {
        if let Self::Tcp(stream) = self {
            let _broken_already = set_socket_linger(stream, Some(Duration::ZERO));
        }
    }

    /// The process, if it is one.
    pub(super) fn process(&mut self) -> Option<&mut Process> {
        match self {
            Self::Child { process, .. } => Some(process),
            Self::Tcp(_) | Self::Unix(_) => None,
        }
    }

    /// The process's id, which is also that of its group.
    pub(super) fn pid(&self) -> Option<u32> {
        match self {
            Self::Child { process, .. } => Some(process.id()),
            Self::Tcp(_) | Self::Unix(_) => None,
        }
    }
}

fn never_block(stream: impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(&stream)?;
    Ok(fcntl_setfl(&stream, flags | OFlags::NONBLOCK)?)
}
