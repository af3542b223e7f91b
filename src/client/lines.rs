//! A peer that reads and writes lines, each with the instant of its arrival: a child process or a TCP address.
//!
//! Knows no protocol: what a line says is for others.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// How often the exit of a child is looked for: std has no wait with a deadline.
const EXIT_POLL: Duration = Duration::from_millis(2);

/// A peer that reads and writes lines.
#[derive(Debug)]
pub struct Lines {
    peer: Peer,
    arrivals: Receiver<ReceivedLine>,
    /// A line and its end, so that they leave in one write.
    buffer: Vec<u8>,
}

/// A line and when it arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReceivedLine {
    /// When its end was read.
    pub at: Instant,
    /// The line without its end.
    pub bytes: Vec<u8>,
}

/// Why no line can be sent or received.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The program does not start.
    #[error("cannot start `{program}`: {error}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        error: io::Error,
    },
    /// Nobody answers at the address.
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    /// The peer closed the connection or ended.
    #[error("the connection is closed")]
    Closed,
    /// The deadline passed.
    #[error("no answer in time")]
    TimedOut,
}

#[derive(Debug)]
enum Peer {
    Child { child: Child, stdin: Option<ChildStdin> },
    Tcp(TcpStream),
}

impl Lines {
    /// Starts a child process and speaks through its standard input and output. It is killed when this is dropped.
    ///
    /// # Errors
    /// [`LineError::Start`] if there is no such program.
    pub fn spawn(mut command: Command) -> Result<Self, LineError> {
        let program = command.get_program().display().to_string();
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|error| LineError::Start { program, error })?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("stdout was asked to be a pipe");
        let arrivals = read_lines(stdout);
        Ok(Self { peer: Peer::Child { child, stdin }, arrivals, buffer: Vec::new() })
    }

    /// Connects over TCP, without delay for small packets.
    ///
    /// # Errors
    /// [`LineError::Connect`] if nobody listens there.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Self, LineError> {
        let stream = TcpStream::connect(address).map_err(LineError::Connect)?;
        stream.set_nodelay(true).map_err(LineError::Connect)?;
        let arrivals = read_lines(stream.try_clone().map_err(LineError::Connect)?);
        Ok(Self { peer: Peer::Tcp(stream), arrivals, buffer: Vec::new() })
    }

    /// Sends a line and tells when it was on its way.
    ///
    /// # Errors
    /// [`LineError::Closed`] if the peer is gone or the input was finished.
    pub fn send(&mut self, line: &[u8]) -> Result<Instant, LineError> {
        self.buffer.clear();
        self.buffer.extend_from_slice(line);
        self.buffer.push(b'\n');
        let sent = match &mut self.peer {
            Peer::Child { stdin, .. } => stdin.as_mut().ok_or(LineError::Closed)?.write_all(&self.buffer),
            Peer::Tcp(stream) => stream.write_all(&self.buffer),
        };
        sent.map_err(|_| LineError::Closed)?;
        Ok(Instant::now())
    }

    /// The next line.
    ///
    /// # Errors
    /// [`LineError::TimedOut`] at the deadline, [`LineError::Closed`] after the last line.
    pub fn next(&mut self, deadline: Instant) -> Result<ReceivedLine, LineError> {
        let wait = deadline.saturating_duration_since(Instant::now());
        self.arrivals.recv_timeout(wait).map_err(|error| match error {
            RecvTimeoutError::Timeout => LineError::TimedOut,
            RecvTimeoutError::Disconnected => LineError::Closed,
        })
    }

    /// Ends the input: the peer sees the end of file and may still answer.
    pub fn finish_input(&mut self) {
        match &mut self.peer {
            Peer::Child { stdin, .. } => drop(stdin.take()),
            Peer::Tcp(stream) => {
                let _gone_already = stream.shutdown(Shutdown::Write);
            }
        }
    }

    /// Waits until the child process ends; none for a connection over TCP.
    ///
    /// # Errors
    /// [`LineError::TimedOut`] at the deadline.
    pub fn wait_exit(&mut self, deadline: Instant) -> Result<Option<ExitStatus>, LineError> {
        let Peer::Child { child, .. } = &mut self.peer else {
            return Ok(None);
        };
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(Some(status)),
                Ok(None) if Instant::now() < deadline => thread::sleep(EXIT_POLL),
                Ok(None) => return Err(LineError::TimedOut),
                Err(_) => return Err(LineError::Closed),
            }
        }
    }

    /// The child's process id; none for a connection over TCP.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        match &self.peer {
            Peer::Child { child, .. } => Some(child.id()),
            Peer::Tcp(_) => None,
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        match &mut self.peer {
            Peer::Child { child, .. } => {
                let _ended_already = child.kill();
                let _reaped_already = child.wait();
            }
            // The reader's clone of the socket would keep the connection open.
            Peer::Tcp(stream) => {
                let _gone_already = stream.shutdown(Shutdown::Both);
            }
        }
    }
}

/// Reads lines on a thread of its own, which ends with the stream.
fn read_lines(stream: impl Read + Send + 'static) -> Receiver<ReceivedLine> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || forward(BufReader::new(stream), &sender));
    receiver
}

fn forward(mut stream: impl BufRead, sender: &Sender<ReceivedLine>) {
    loop {
        let mut bytes = Vec::new();
        // A connection that breaks ends like one that closes.
        let read = stream.read_until(b'\n', &mut bytes).unwrap_or(0);
        let at = Instant::now();
        if read == 0 {
            return;
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        if sender.send(ReceivedLine { at, bytes }).is_err() {
            return;
        }
    }
}
