//! The protocol by hand: requests, and the messages about them. No call waits past its deadline.

use std::collections::VecDeque;
use std::net::ToSocketAddrs;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use plyd_protocol::{self as wire, Envelope, Message, Request};
use rustix::fd::BorrowedFd;

use crate::{Address, ClientError, Launch, LineError, Lines, ReceivedLine, is_final, message_id};

/// The longest answer that is read, in bytes: far longer than any that the specification describes.
pub const LONGEST_ANSWER: usize = 64 << 20;

/// A connection to a server.
///
/// ```no_run
/// use std::time::{Duration, Instant};
///
/// use plyd_client::{Address, Client};
/// use plyd_protocol::{Clock, Command, GameRef, Go, Message, Position, Settings};
///
/// let mut server = Client::at(&Address::read("tcp=127.0.0.1:7117")?)?;
/// let game = GameRef::Game { game: "isolation".into(), rules: Settings::new() };
/// let go = Go { clock: Some(Clock::PerMove { ms: 100 }), ..Go::new(game, Position::default()) };
/// let (id, _) = server.request(Command::Go(Box::new(go)))?;
/// let answer = server.wait_final(&id, Instant::now() + Duration::from_secs(5))?;
/// if let Message::BestMove(best) = answer.last.envelope.message {
///     println!("{} after {} infos", best.mv, answer.infos.len());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Client {
    lines: Lines,
    /// Messages that arrived while another one was awaited.
    waiting: VecDeque<Received>,
    /// The id of the last request that the client numbered.
    last: u64,
}

/// A message and when it arrived.
#[derive(Clone, Debug)]
pub struct Received {
    /// When the end of its line was read.
    pub at: Instant,
    /// The message with its number and stamp.
    pub envelope: Envelope,
}

/// Everything that was said about one request.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use plyd_client::Client;
/// use plyd_protocol::{Command, Message, Ping};
///
/// let said = r#"{"seq":1,"t_us":5,"type":"result","id":"1","of":"ping","echo":"a"}"#;
/// let mut printf = std::process::Command::new("printf");
/// printf.args(["%s\\n", said]);
/// let mut server = Client::spawn(printf)?;
/// let answer = server.wait_final("1", Instant::now() + Duration::from_secs(60))?;
/// assert!(answer.infos.is_empty() && matches!(answer.last.envelope.message, Message::Result(_)));
/// # Ok::<(), plyd_client::ClientError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Answer {
    /// The `info` messages, in the order of their arrival.
    pub infos: Vec<Received>,
    /// The final message.
    pub last: Received,
}

impl Client {
    /// Starts a server as a child process and speaks to it through its standard streams; it inherits our
    /// stderr unless the command says otherwise. The child is killed with its process group when the client
    /// is dropped.
    ///
    /// # Errors
    /// [`LineError::Start`] if there is no such program.
    pub fn spawn(launch: impl Into<Launch>) -> Result<Self, ClientError> {
        Ok(Self::new(Lines::spawn(launch)?))
    }

    /// Connects to a server over TCP.
    ///
    /// # Errors
    /// [`LineError::Connect`] if nobody listens there.
    pub fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        Ok(Self::new(Lines::connect(address)?))
    }

    /// Starts the program of an address, or connects.
    ///
    /// # Errors
    /// [`LineError::Start`] if there is no such program, [`LineError::Connect`] if nobody listens there.
    pub fn at(address: &Address) -> Result<Self, ClientError> {
        Ok(Self::new(address.lines()?))
    }

    fn new(mut lines: Lines) -> Self {
        lines.set_longest(LONGEST_ANSWER);
        Self { lines, waiting: VecDeque::new(), last: 0 }
    }

    /// Sets how long a send may wait for a server that does not read; 10 s by default.
    pub fn set_write_timeout(&mut self, timeout: Duration) {
        self.lines.set_write_timeout(timeout);
    }

    /// Sends a request; returns when its last byte was sent.
    ///
    /// # Errors
    /// [`LineError::Closed`] if the server is gone, [`LineError::Unread`] if it does not read.
    pub fn send(&mut self, request: &Request) -> Result<Instant, ClientError> {
        let line = serde_json::to_vec(request).expect("requests hold only text keys and integers");
        Ok(self.lines.send(&line)?)
    }

    /// Sends a command under an id of the client's own (`1`, `2` and so on); returns the id, and when its
    /// last byte was sent.
    ///
    /// # Errors
    /// [`LineError::Closed`] if the server is gone, [`LineError::Unread`] if it does not read.
    pub fn request(&mut self, command: wire::Command) -> Result<(String, Instant), ClientError> {
        self.last += 1;
        let request = Request { id: self.last.to_string(), command };
        let sent = self.send(&request)?;
        Ok((request.id, sent))
    }

    /// Sends a line as it is, whether it is a request or not.
    ///
    /// # Errors
    /// [`LineError::Closed`] if the server is gone, [`LineError::Unread`] if it does not read.
    pub fn send_line(&mut self, line: &[u8]) -> Result<Instant, ClientError> {
        Ok(self.lines.send(line)?)
    }

    /// The next message that no call has returned yet.
    ///
    /// # Errors
    /// [`LineError::TimedOut`] at the deadline, [`LineError::Closed`] if none can come any more.
    pub fn next(&mut self, deadline: Instant) -> Result<Received, ClientError> {
        match self.waiting.pop_front() {
            Some(received) => Ok(received),
            None => self.receive(deadline),
        }
    }

    /// The final message of a request with the `info` messages before it; messages about other requests wait
    /// for their own call.
    ///
    /// # Errors
    /// [`LineError::TimedOut`] at the deadline, [`LineError::Closed`] if it cannot come any more.
    pub fn wait_final(&mut self, id: &str, deadline: Instant) -> Result<Answer, ClientError> {
        let last = self.wait_for(deadline, |message| is_final(message) && message_id(message) == Some(id))?;
        let (infos, others) =
            self.waiting.drain(..).partition(|received| message_id(&received.envelope.message) == Some(id));
        self.waiting = others;
        Ok(Answer { infos: Vec::from(infos), last })
    }

    /// The first message that `wanted` picks; the others wait for their own call.
    ///
    /// # Errors
    /// [`LineError::TimedOut`] at the deadline, [`LineError::Closed`] if it cannot come any more.
    pub fn wait_for(
        &mut self,
        deadline: Instant,
        mut wanted: impl FnMut(&Message) -> bool,
    ) -> Result<Received, ClientError> {
        let found = self.waiting.iter().position(|received| wanted(&received.envelope.message));
        if let Some(received) = found.and_then(|index| self.waiting.remove(index)) {
            return Ok(received);
        }
        loop {
            let received = self.receive(deadline)?;
            if wanted(&received.envelope.message) {
                return Ok(received);
            }
            self.waiting.push_back(received);
            // Without this, a server that always has another line to read would keep the call waiting
            // forever.
            if Instant::now() >= deadline {
                return Err(LineError::TimedOut.into());
            }
        }
    }

    /// The stream that messages arrive on, to be polled beside other streams. [`Client::next`] returns
    /// messages that were read already without a wait.
    #[must_use]
    pub fn input(&self) -> BorrowedFd<'_> {
        self.lines.input()
    }

    /// The stream that requests are written to, to be polled if the server does not read; none once the input
    /// has ended.
    #[must_use]
    pub fn output(&self) -> Option<BorrowedFd<'_>> {
        self.lines.output()
    }

    /// Sends what is left of a request that the server did not read in time.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn flush(&mut self) -> Result<Instant, ClientError> {
        Ok(self.lines.flush()?)
    }

    /// Ends the input: the server sees the end of file and may still answer.
    pub fn finish_input(&mut self) {
        self.lines.finish_input();
    }

    /// Waits until the child process ends; none for a connection over TCP.
    ///
    /// # Errors
    /// [`LineError::TimedOut`] at the deadline.
    pub fn wait_exit(&mut self, deadline: Instant) -> Result<Option<ExitStatus>, ClientError> {
        Ok(self.lines.wait_exit(deadline)?)
    }

    /// The child's process id; none for a connection over TCP.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.lines.pid()
    }

    fn receive(&mut self, deadline: Instant) -> Result<Received, ClientError> {
        let ReceivedLine { at, bytes } = self.lines.next(deadline)?;
        match Envelope::read(&bytes) {
            Ok(envelope) => Ok(Received { at, envelope }),
            Err(error) => Err(ClientError::Garbled {
                line: plyd_protocol::echo(&String::from_utf8_lossy(&bytes)),
                error,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    /// A server that plays a fixed script.
    fn script(lines: &[&str]) -> Client {
        let mut command = Command::new("printf");
        command.arg("%s\n").args(lines);
        Client::spawn(command).unwrap()
    }

    const STARTED: &str = r#"{"seq":1,"t_us":5,"type":"info","id":"a","event":"started","lines":[],
        "stats":{"nodes":0,"nps":0,"time_ms":0,"depth":0,"seldepth":0,"hash_ppm":0}}"#;
    const PONG_B: &str = r#"{"seq":2,"t_us":6,"type":"result","id":"b","of":"ping"}"#;
    const PONG_A: &str = r#"{"seq":3,"t_us":7,"type":"result","id":"a","of":"ping"}"#;

    #[test]
    fn finals_are_found_behind_others_and_take_their_infos_along() {
        let mut client = script(&[&STARTED.replace('\n', ""), PONG_B, PONG_A]);
        let answer = client.wait_final("a", soon()).unwrap();
        assert_eq!((answer.infos.len(), answer.last.envelope.seq), (1, 3));
        assert_eq!(client.next(soon()).unwrap().envelope.seq, 2);
        let end = client.next(soon());
        assert!(matches!(end, Err(ClientError::Line(LineError::Closed))), "{end:?}");
        assert!(client.wait_exit(soon()).unwrap().unwrap().success());
    }

    #[test]
    fn a_line_that_is_no_message_is_reported() {
        let error = script(&["hello"]).next(soon()).unwrap_err();
        assert!(error.to_string().contains("`hello`"), "{error}");
    }

    #[test]
    fn a_silent_server_is_not_waited_for() {
        let mut client = Client::spawn(Command::new("cat")).unwrap();
        let error = client.wait_final("a", Instant::now()).unwrap_err();
        assert!(matches!(error, ClientError::Line(LineError::TimedOut)), "{error}");
    }
}
