//! Who is at the other end of the lines: a child process or a socket.
//!
//! Knows no lines: it gives the two ends to read and write, neither of which blocks, and ends what it
//! started.

use std::io;
use std::net::{Shutdown, TcpStream};
use std::process::Stdio;
use std::time::Duration;

use rustix::fd::{AsFd, BorrowedFd};
use rustix::net::sockopt::set_socket_linger;

use super::process::Process;
use super::reaper::Launch;
use super::system::{ChildInput, ChildOutput, UnixStream, child_input, child_output};

/// A peer, which is ended when this is dropped.
#[derive(Debug)]
pub(super) enum Peer {
    Child { process: Process, stdin: Option<ChildInput>, stdout: ChildOutput },
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Peer {
    /// Starts a child process.
    pub(super) fn spawn(mut launch: Launch) -> io::Result<Self> {
        launch.command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Process::spawn(launch)?;
        let stdin = process.take_stdin().map(child_input).transpose()?;
        let stdout = child_output(process.take_stdout().expect("stdout was asked to be a pipe"))?;
        Ok(Self::Child { process, stdin, stdout })
    }

    /// Takes a connection, without delay for small packets.
    pub(super) fn tcp(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self::Tcp(stream))
    }

    /// Takes a connection over a Unix socket.
    pub(super) fn unix(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
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

    /// Makes the end of a TCP connection a reset.
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
