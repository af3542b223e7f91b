//! One connection to a server that this program starts, one request at a time. It knows no game.

use plyd_protocol::{
    BestMove, Clock, Command, Envelope, ErrorCode, ErrorMessage, Go, Info, Message, Mode, Request, ResultBody,
};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

/// When to ask an overloaded server again, where it does not say.
const USUAL_RETRY_MS: u64 = 100;

/// A server and the pipes to it. Dropping it ends the server, which ends when its input does.
pub(crate) struct Client {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: u64,
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The server cannot be started, or is gone.
    #[error("the server is gone: {0}")]
    Gone(#[from] std::io::Error),
    /// What came is no message of the protocol.
    #[error("no message of the protocol: {0}")]
    Nonsense(#[from] serde_json::Error),
    /// The server refused the request.
    #[error("{:?}: {}", .0.code, .0.message)]
    Refused(Box<ErrorMessage>),
    /// The answer is one to another request.
    #[error("an answer that was not asked for")]
    Unasked,
}

impl Client {
    /// Starts `program`.
    ///
    /// # Errors
    /// [`Error::Gone`] where it cannot be started.
    pub(crate) fn start(program: &str) -> Result<Self, Error> {
        let mut process =
            std::process::Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("the output is a pipe"));
        Ok(Self { process, input, output, requests: 0 })
    }

    /// Asks anything but a search.
    ///
    /// # Errors
    /// See [`Error`].
    pub(crate) fn ask(&mut self, command: Command) -> Result<ResultBody, Error> {
        self.send(command)?;
        match self.receive()? {
            Message::Result(result) => Ok(result.body),
            _ => Err(Error::Unasked),
        }
    }

    /// Searches, and calls `news` with what comes before the answer. A server that is overloaded is asked
    /// again within the same clock.
    ///
    /// # Errors
    /// See [`Error`].
    pub(crate) fn search(&mut self, mut go: Go, mut news: impl FnMut(&Info)) -> Result<BestMove, Error> {
        let (began, elapsed_ms, allowed_ms) = (Instant::now(), go.elapsed_ms, allowed_ms(&go));
        loop {
            match self.try_search(&go, &mut news) {
                Err(Error::Refused(error))
                    if error.code == ErrorCode::Overloaded && go.mode == Mode::Move =>
                {
                    let pause_ms = error.retry_ms.unwrap_or(USUAL_RETRY_MS).max(1);
                    let spent_ms = || elapsed_ms + began.elapsed().as_millis() as u64 + 1;
                    if spent_ms() + pause_ms >= allowed_ms {
                        return Err(Error::Refused(error));
                    }
                    std::thread::sleep(Duration::from_millis(pause_ms));
                    go.elapsed_ms = spent_ms();
                }
                answer => return answer,
            }
        }
    }

    fn try_search(&mut self, go: &Go, mut news: impl FnMut(&Info)) -> Result<BestMove, Error> {
        self.send(Command::Go(Box::new(go.clone())))?;
        loop {
            match self.receive()? {
                Message::Info(info) => news(&info),
                Message::BestMove(best) => return Ok(*best),
                _ => return Err(Error::Unasked),
            }
        }
    }

    fn send(&mut self, command: Command) -> Result<(), Error> {
        self.requests += 1;
        let request = Request { id: self.requests.to_string(), command };
        let mut line = serde_json::to_vec(&request)?;
        line.push(b'\n');
        let input = self.input.as_mut().expect("the input is open until the drop");
        input.write_all(&line)?;
        Ok(input.flush()?)
    }

    /// The next message that is no notice.
    fn receive(&mut self) -> Result<Message, Error> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
            }
            match serde_json::from_str::<Envelope>(&line)?.message {
                Message::Notice(_) => {}
                Message::Error(error) => return Err(Error::Refused(error)),
                message => return Ok(message),
            }
        }
    }
}

/// The time that the clock of a `go` leaves for the move, in ms; without end where it has none.
fn allowed_ms(go: &Go) -> u64 {
    let positive = |ms: i64| u64::try_from(ms).unwrap_or(0);
    match go.clock {
        Some(Clock::PerMove { ms }) => positive(ms),
        Some(Clock::Increment { me_ms, .. }) => positive(me_ms),
        Some(Clock::Delay { me_ms, delay_ms, .. }) => positive(me_ms).saturating_add(delay_ms),
        Some(Clock::Bank { turn_ms, bank_ms }) => positive(turn_ms).saturating_add(positive(bank_ms)),
        Some(Clock::Anytime { .. } | Clock::None) | None => u64::MAX,
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        // A server that cannot be waited for has ended already.
        let _ended = self.process.wait();
    }
}
