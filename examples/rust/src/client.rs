//! One connection to a server that this program starts, one request at a time. It knows no game.

use plyd_protocol::{BestMove, Command, Envelope, ErrorMessage, Go, Info, Message, Request, ResultBody};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

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

    /// Searches, and calls `news` with what comes before the answer.
    ///
    /// # Errors
    /// See [`Error`].
    pub(crate) fn search(&mut self, go: Go, mut news: impl FnMut(&Info)) -> Result<BestMove, Error> {
        self.send(Command::Go(Box::new(go)))?;
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

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        // A server that cannot be waited for has ended already.
        let _ended = self.process.wait();
    }
}
