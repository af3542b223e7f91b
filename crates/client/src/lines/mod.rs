//! A peer that reads and writes lines, each with the instant of its arrival: a child process or a server at
//! an address.
//!
//! It does not know what the lines mean. It trusts no peer: no call waits past its deadline, whether the peer
//! writes nothing, writes without end or does not read, and no more is stored than one line and one read. It
//! runs no threads, except two that carry a child's pipes on Windows. What arrives between calls waits in the
//! buffers of the system, and a peer that fills them has to wait.

mod secure;
mod websocket;

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::ops::Range;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use plyd_protocol::MAX_LINE;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;

use super::error::LineError;
use super::peer::Peer;
use super::reaper::Launch;
use super::secure::Secure;
use super::system::UnixStream;
use plyd_protocol::framing::{Event, Framing};

use websocket::Web;

/// The most bytes of one read.
const READ_BYTES: usize = 64 << 10;

/// The longest single wait: some systems count its milliseconds in 31 bits.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The default timeout for connecting, and for a peer that does not read.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A peer that reads and writes lines.
///
/// ```
/// use std::process::Command;
/// use std::time::{Duration, Instant};
///
/// use plyd_client::Lines;
///
/// let mut echo = Lines::spawn(Command::new("cat"))?;
/// echo.send(b"a line")?;
/// assert_eq!(echo.next(Instant::now() + Duration::from_secs(60))?.bytes, b"a line");
/// # Ok::<(), plyd_client::LineError>(())
/// ```
#[derive(Debug)]
pub struct Lines {
    peer: Peer,
    framing: Framing,
    /// What was read last, and the part of it that was not searched for lines yet.
    chunk: Vec<u8>,
    rest: Range<usize>,
    /// When that was read.
    at: Instant,
    /// Whether the peer has ended its output.
    ended: bool,
    /// A line and its end, so that they leave in one write.
    outgoing: Vec<u8>,
    write_timeout: Duration,
    /// The frames that lines are carried in, over a WebSocket.
    web: Option<Box<Web>>,
    /// The records that all of it is carried in, over TLS.
    secure: Option<Box<Secure>>,
}

/// A line and when it arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReceivedLine {
    /// When its end was read.
    pub at: Instant,
    /// The line without its end.
    pub bytes: Vec<u8>,
}

impl Lines {
    /// Starts a child process in a process group of its own, and speaks to it through its standard input and
    /// output. The whole group is killed when this is dropped, and as soon as the process is seen to have
    /// ended.
    ///
    /// # Errors
    /// [`LineError::Start`] if there is no such program.
    pub fn spawn(launch: impl Into<Launch>) -> Result<Self, LineError> {
        let launch = launch.into();
        let program = launch.program.display().to_string();
        let peer = Peer::spawn(launch).map_err(|error| LineError::Start { program, error })?;
        Ok(Self::new(peer))
    }

    /// Connects over TCP, with `TCP_NODELAY`; the timeout is 10 s for each address of a name.
    ///
    /// # Errors
    /// [`LineError::Connect`] if nobody listens there.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Self, LineError> {
        Self::try_connect(address).map_err(LineError::Connect)
    }

    fn try_connect(address: impl ToSocketAddrs) -> io::Result<Self> {
        let mut failed = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, TIMEOUT) {
                Ok(stream) => return Ok(Self::new(Peer::tcp(stream)?)),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Connects to a Unix socket.
    ///
    /// # Errors
    /// [`LineError::Connect`] if nobody listens there.
    pub fn connect_unix(path: impl AsRef<Path>) -> Result<Self, LineError> {
        let peer = UnixStream::connect(path).and_then(Peer::unix);
        Ok(Self::new(peer.map_err(LineError::Connect)?))
    }

    fn new(peer: Peer) -> Self {
        Self {
            peer,
            framing: Framing::new(MAX_LINE),
            chunk: vec![0; READ_BYTES],
            rest: 0..0,
            at: Instant::now(),
            ended: false,
            outgoing: Vec::new(),
            write_timeout: TIMEOUT,
            web: None,
            secure: None,
        }
    }

    /// Sets how long a send may wait for a peer that does not read; 10 s by default.
    pub fn set_write_timeout(&mut self, timeout: Duration) {
        self.write_timeout = timeout;
    }

    /// Sets the longest line that is accepted from the peer, in bytes; 1 MiB by default.
    pub fn set_longest(&mut self, bytes: usize) {
        self.framing.set_limit(bytes);
    }

    /// Sends a line; returns when it was sent.
    ///
    /// # Errors
    /// [`LineError::Closed`] if the peer is gone or the input was finished, [`LineError::Unread`] if it does
    /// not read.
    pub fn send(&mut self, line: &[u8]) -> Result<Instant, LineError> {
        self.outgoing.clear();
        self.outgoing.extend_from_slice(line);
        self.outgoing.push(b'\n');
        self.write()
    }

    /// Sends bytes as they are, a part of a line or several; returns when they were sent.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<Instant, LineError> {
        self.outgoing.clear();
        self.outgoing.extend_from_slice(bytes);
        self.write()
    }

    /// Sends bytes without framing, even over a WebSocket: frames that the caller made.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn send_raw(&mut self, bytes: &[u8]) -> Result<Instant, LineError> {
        let out = self.web.as_mut().map_or(&mut self.outgoing, |web| &mut web.frames);
        out.clear();
        out.extend_from_slice(bytes);
        self.write_out()
    }

    fn write(&mut self) -> Result<Instant, LineError> {
        if let Some(web) = &mut self.web {
            if web.is_closed {
                return Err(LineError::Closed);
            }
            web.encoder.lines(&self.outgoing, &mut web.frames);
        }
        self.write_out()
    }

    /// Writes the bytes that wait, without framing.
    fn write_out(&mut self) -> Result<Instant, LineError> {
        let bytes = self.web.as_mut().map_or(&mut self.outgoing, |web| &mut web.frames);
        let Some(secure) = &mut self.secure else {
            return send(&self.peer, bytes, self.write_timeout);
        };
        if !bytes.is_empty() {
            secure.seal(bytes)?;
            bytes.clear();
        }
        self.send_sealed()
    }

    /// Sends the rest of the last line, if sending it ended with [`LineError::Unread`]; a new line would end
    /// up in the middle of it.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn flush(&mut self) -> Result<Instant, LineError> {
        self.write_out()
    }

    /// The next line that is not blank.
    ///
    /// # Errors
    /// [`LineError::TimedOut`] at the deadline, [`LineError::Closed`] after the last line,
    /// [`LineError::TooLong`] as soon as a line is known to be longer than [allowed](Self::set_longest).
    pub fn next(&mut self, deadline: Instant) -> Result<ReceivedLine, LineError> {
        for reads in 0.. {
            let mut unseen = &self.chunk[self.rest.clone()];
            let event = self.framing.next(&mut unseen);
            self.rest.start = self.rest.end - unseen.len();
            match event {
                Some(event) => return received(event, self.at),
                None if self.framing.is_too_long() => return Err(LineError::TooLong(self.framing.limit())),
                None if self.ended => {
                    let last = self.framing.finish();
                    return last.map_or(Err(LineError::Closed), |event| received(event, self.at));
                }
                // A peer may always have more to read, and never end its line.
                None if reads > 0 && Instant::now() >= deadline => break,
                None => self.read(deadline)?,
            }
        }
        Err(LineError::TimedOut)
    }

    /// The stream that lines arrive on, to be polled beside other streams.
    #[must_use]
    pub fn input(&self) -> BorrowedFd<'_> {
        self.peer.input()
    }

    /// The stream that lines are written to, to be polled if the peer does not read; none once the input has
    /// ended.
    #[must_use]
    pub fn output(&self) -> Option<BorrowedFd<'_>> {
        self.peer.output()
    }

    /// Whether the peer can still answer once the input has ended: not over a WebSocket, which closes in both
    /// directions at once.
    #[must_use]
    pub fn answers_after_input(&self) -> bool {
        self.web.is_none()
    }

    /// Ends the input: the peer sees the end of file and [may still answer](Self::answers_after_input).
    pub fn finish_input(&mut self) {
        if self.web.is_some() {
            // Nothing can be sent behind it, in either direction.
            let _gone_already = self.close(&1000_u16.to_be_bytes());
            return;
        }
        if let Some(secure) = &mut self.secure {
            secure.finish();
            let _gone_already = self.send_sealed();
        }
        self.peer.finish_output();
    }

    /// Makes the end of a TCP connection a reset, so that the peer sees it break instead of end. What is not
    /// sent by then is lost.
    pub fn reset_at_end(&self) {
        self.peer.reset_at_end();
    }

    /// Waits until the child process ends, and kills what it leaves behind; none for a connection over TCP.
    ///
    /// # Errors
    /// [`LineError::TimedOut`] at the deadline.
    pub fn wait_exit(&mut self, deadline: Instant) -> Result<Option<ExitStatus>, LineError> {
        let Some(process) = self.peer.process() else {
            return Ok(None);
        };
        let exit = process.wait_exit(deadline).map_err(|_| LineError::Closed)?;
        exit.map(Some).ok_or(LineError::TimedOut)
    }

    /// The child's process id, which is also that of its group; none for a connection over TCP.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.peer.pid()
    }

    /// Waits for bytes and reads what is there.
    fn read(&mut self, deadline: Instant) -> Result<(), LineError> {
        loop {
            if !is_ready(self.peer.input(), PollFlags::IN, deadline)? {
                return Err(LineError::TimedOut);
            }
            let room = match (&mut self.secure, &mut self.web) {
                (Some(secure), _) => secure.raw(),
                (None, Some(web)) => &mut web.raw,
                (None, None) => &mut self.chunk,
            };
            match rustix::io::read(self.peer.input(), &mut room[..]) {
                Ok(count) => {
                    self.at = Instant::now();
                    self.ended = count == 0;
                    return self.take(count);
                }
                Err(Errno::INTR | Errno::AGAIN) => {}
                // A connection that breaks ends like one that closes.
                Err(_) => {
                    self.ended = true;
                    return Ok(());
                }
            }
        }
    }
}

impl Lines {
    /// Takes the first `count` bytes of what was read.
    fn take(&mut self, count: usize) -> Result<(), LineError> {
        if self.secure.is_some() {
            return self.open_records(count);
        }
        let Some(web) = &mut self.web else {
            self.rest = 0..count;
            return Ok(());
        };
        let mut raw = std::mem::take(&mut web.raw);
        let taken = self.take_frames(&mut raw[..count]);
        if let Some(web) = &mut self.web {
            web.raw = raw;
        }
        taken
    }
}

/// Writes bytes and removes those that were written; returns when the last one was sent.
fn send(peer: &Peer, bytes: &mut Vec<u8>, timeout: Duration) -> Result<Instant, LineError> {
    let mut sent = 0;
    let mut deadline = None;
    while sent < bytes.len() {
        let output = peer.output().ok_or(LineError::Closed)?;
        match rustix::io::write(output, &bytes[sent..]) {
            Ok(count) => sent += count,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let deadline = *deadline.get_or_insert_with(|| Instant::now() + timeout);
                if !is_ready(output, PollFlags::OUT, deadline)? {
                    bytes.drain(..sent);
                    return Err(LineError::Unread);
                }
            }
            Err(_) => return Err(LineError::Closed),
        }
    }
    bytes.clear();
    Ok(Instant::now())
}

/// Converts what the framing found.
fn received(event: Event<'_>, at: Instant) -> Result<ReceivedLine, LineError> {
    match event {
        Event::Line { bytes, .. } => Ok(ReceivedLine { at, bytes: bytes.into_owned() }),
        Event::TooLong { limit, .. } => Err(LineError::TooLong(limit)),
    }
}

/// Waits until a stream is ready or broken (reading or writing shows which); false at the deadline.
pub(crate) fn is_ready(
    stream: BorrowedFd<'_>,
    ready: PollFlags,
    deadline: Instant,
) -> Result<bool, LineError> {
    let mut streams = [PollFd::new(&stream, ready)];
    loop {
        let rest = deadline.saturating_duration_since(Instant::now());
        // A longer wait is split: the loop waits for the rest.
        match poll(&mut streams, Timespec::try_from(rest.min(LONGEST_WAIT)).ok().as_ref()) {
            Ok(0) if rest > LONGEST_WAIT => {}
            Ok(count) => return Ok(count > 0),
            Err(Errno::INTR) => {}
            Err(_) => return Err(LineError::Closed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    fn shell(script: &str) -> Lines {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Lines::spawn(command).unwrap()
    }

    fn texts(lines: &mut Lines) -> Vec<String> {
        let text = |line: ReceivedLine| String::from_utf8_lossy(&line.bytes).into_owned();
        std::iter::from_fn(|| lines.next(soon()).ok()).map(text).collect()
    }

    #[test]
    fn lines_come_whole_and_the_last_one_without_its_end() {
        assert_eq!(texts(&mut shell("printf 'a\\r\\n\\n'; printf b; printf 'c\\nd'")), ["a", "bc", "d"]);
    }

    #[test]
    fn a_line_longer_than_a_pipe_is_sent_whole() {
        let mut counter = Lines::spawn(Command::new("wc")).unwrap();
        counter.send(&vec![b'x'; MAX_LINE]).unwrap();
        counter.finish_input();
        let counts = String::from_utf8(counter.next(soon()).unwrap().bytes).unwrap();
        assert!(counts.ends_with("1048577"), "{counts}");
        assert!(matches!(counter.send(b"more"), Err(LineError::Closed)));
    }

    #[test]
    fn a_peer_that_does_not_read_is_given_up() {
        let mut deaf = shell("exec sleep 1000");
        deaf.set_write_timeout(Duration::from_millis(20));
        let sent = deaf.send(&vec![b'x'; MAX_LINE]);
        assert!(matches!(sent, Err(LineError::Unread)), "{sent:?}");
    }

    #[test]
    fn floods_end_at_the_deadline_and_long_lines_at_their_limit() {
        let flood = shell("exec yes ''").next(Instant::now() + Duration::from_millis(300)).unwrap_err();
        assert!(matches!(flood, LineError::TimedOut), "{flood}");
        for script in ["exec cat /dev/zero", "head -c 1048577 /dev/zero; echo"] {
            let error = shell(script).next(soon()).unwrap_err();
            assert!(matches!(error, LineError::TooLong(MAX_LINE)), "{script}: {error}");
        }
    }

    #[test]
    fn children_of_the_child_end_with_it() {
        // The grandchild prints its number; the child itself goes on, or is gone already.
        for script in ["sleep 1000 & echo $!; wait", "sleep 1000 & echo $!; exec 1>&-"] {
            let mut parent = shell(script);
            let grandchild = String::from_utf8(parent.next(soon()).unwrap().bytes).unwrap();
            let runs = || is_running(&grandchild);
            assert!(runs(), "{script}");
            drop(parent);
            let end = soon();
            while runs() {
                assert!(Instant::now() < end, "{script}: {grandchild} is still there");
                std::thread::yield_now();
            }
        }
    }

    /// Whether there is such a process that is not dead; one that nobody waited for yet is.
    fn is_running(pid: &str) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
    }
}
