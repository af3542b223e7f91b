//! One connection to a server, one request at a time. It knows no game.

use std::io::{Error as IoError, ErrorKind};
use std::time::{Duration, Instant};

use plyd_protocol::client::{Address, LineError, Lines, Program, Retry};
use plyd_protocol::{
    BestMove, Command, Envelope, ErrorMessage, Go, Hello, Info, Message, Request, ResultBody, VERSION,
    Versions,
};

/// A server that is silent for so long is taken for gone.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server, and the way to it. Dropping it ends a server that was started for it, which ends when its input
/// does.
pub(crate) struct Client {
    lines: Lines,
    requests: u64,
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The server cannot be started or reached, or is gone.
    #[error("the server is gone: {0}")]
    Gone(#[from] LineError),
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

/// Reads where a server is: an address such as `wss://HOST:PORT`, or the path of a program to start.
///
/// # Errors
/// [`Error::Gone`] for an address that is none.
pub(crate) fn place(text: &str) -> Result<Address, Error> {
    if text.contains('=') || text.contains("://") {
        let wrong = |why| LineError::Connect(IoError::new(ErrorKind::InvalidInput, why));
        return Ok(Address::read(text).map_err(wrong)?);
    }
    Ok(Address::Program(Program { path: text.into(), arguments: Vec::new() }))
}

impl Client {
    /// Starts the program, or connects and shows the server a token.
    ///
    /// # Errors
    /// See [`Error`].
    pub(crate) fn open(place: &Address, token: Option<String>) -> Result<Self, Error> {
        let mut client = Self { lines: place.lines()?, requests: 0 };
        // A program that we have started knows us.
        if !matches!(place, Address::Program(_)) {
            let protocol = Versions { min: VERSION, max: VERSION };
            client.ask(Command::Hello(Hello { protocol, token, ..Hello::default() }))?;
        }
        Ok(client)
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
        let retry = Retry::new(&go, Instant::now());
        loop {
            match self.try_search(&go, &mut news) {
                Err(Error::Refused(error)) => {
                    let Some(pause) = retry.pause(&go, &error, Instant::now()) else {
                        return Err(Error::Refused(error));
                    };
                    std::thread::sleep(pause);
                    // The pause may have lasted longer.
                    if !retry.has_time(Instant::now()) {
                        return Err(Error::Refused(error));
                    }
                    retry.renew(&mut go, Instant::now());
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
        self.lines.send(&serde_json::to_vec(&request)?)?;
        Ok(())
    }

    /// The next message that is no notice.
    fn receive(&mut self) -> Result<Message, Error> {
        loop {
            let line = self.lines.next(Instant::now() + TIMEOUT)?;
            match serde_json::from_slice::<Envelope>(&line.bytes)?.message {
                Message::Notice(_) => {}
                Message::Error(error) => return Err(Error::Refused(error)),
                message => return Ok(message),
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.lines.finish_input();
        // One that does not end in time is killed.
        let _ended = self.lines.wait_exit(Instant::now() + TIMEOUT);
    }
}
