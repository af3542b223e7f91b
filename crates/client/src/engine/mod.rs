//! The conversation with a server. The async engine and the blocking one differ only in how they wait for it.

mod search;

use std::time::{Duration, Instant};

use plyd_protocol::{
    BestMove, ClientInfo, Close, Command, Describe, DescribeWhat, GameInfo, GameRef, Go, Hello, HelloResult,
    Inspect, InspectResult, Message, NewGame, OnEof, Ping, Request, ResultBody, SetOption, Settings, Status,
    StatusResult, Stop, StopTarget, VERSION, Versions, Want,
};

#[cfg(feature = "tokio")]
use crate::Address;
use crate::wait::Wait;
use crate::{Client, ClientError, Error, Game, Limit, LineError, message_id};

pub use search::Search;

/// The default timeout of an answer, and of a request that the server does not read.
const TIMEOUT: Duration = Duration::from_secs(10);

/// As good as forever: the timeout of a search without a time for its move.
const AGES: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A server, for async programs: one that this program starts, or one at an address. It needs a tokio runtime
/// with I/O and time enabled.
///
/// It sends one request at a time; several searches at once need several engines. If the future of a request
/// is dropped, the answer is skipped. A server that was started for the engine is killed when the engine is
/// dropped; [`close`](Self::close) lets the server end by itself.
///
/// ```no_run
/// use std::time::Duration;
///
/// use plyd_client::{Address, Engine, Game, Limit};
///
/// # async fn play() -> Result<(), plyd_client::Error> {
/// let mut plyd = Engine::open(&Address::program("plyd")).await?;
/// let game = Game::named("isolation");
/// let mut search = plyd.go(&game, &Limit::per_move(Duration::from_millis(100))).await?;
/// while let Some(info) = search.next().await? {
///     println!("{:?} at depth {}", info.mv, info.stats.depth);
/// }
/// println!("plays {}", search.best().await?.mv);
/// plyd.close().await
/// # }
/// ```
#[derive(Debug)]
pub struct Engine {
    client: Client,
    wait: Wait,
    timeout: Duration,
    server: HelloResult,
    /// The id of the last request; ids count from 1.
    last: u64,
    /// Whether the server has left a part of the last request unread.
    is_unread: bool,
    /// Searches that were given up while that was so, to be stopped later.
    given_up: Vec<u64>,
}

/// The `hello` with which an engine opens a connection: who the program is, and what becomes of its searches
/// when it ends. A token for the server goes into its `token`.
#[must_use]
pub fn greeting() -> Hello {
    let name = env!("CARGO_PKG_NAME").to_owned();
    Hello {
        protocol: Versions { min: VERSION, max: VERSION },
        client: Some(ClientInfo { name: Some(name), version: Some(env!("CARGO_PKG_VERSION").to_owned()) }),
        on_eof: OnEof::Cancel,
        ..Hello::default()
    }
}

#[cfg(feature = "tokio")]
impl Engine {
    /// Starts the program of an address, or connects.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn open(address: &Address) -> Result<Self, Error> {
        Self::open_with(address, greeting()).await
    }

    /// Like [`open`](Self::open), with a [`greeting`] of the caller's, such as one with a token.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn open_with(address: &Address, hello: Hello) -> Result<Self, Error> {
        let address = address.clone();
        let opened = tokio::task::spawn_blocking(move || Client::at(&address)).await;
        let client = opened.map_err(|_| LineError::Closed)??;
        Self::over(client, hello).await
    }

    /// Takes over a connection that was made elsewhere and on which nothing was sent yet.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn over(client: Client, hello: Hello) -> Result<Self, Error> {
        let wait = crate::on_tokio::OnTokio::watch(client.input()).map_err(LineError::Connect)?;
        Self::begin(client, Wait::OnTokio(wait), hello).await
    }

    /// Ends the connection, and waits until a server that was started for it has ended.
    ///
    /// # Errors
    /// It does not end in time, and is killed.
    pub async fn close(self) -> Result<(), Error> {
        tokio::task::spawn_blocking(move || self.end()).await.map_err(|_| LineError::Closed)?
    }
}

impl Engine {
    pub(crate) async fn begin(mut client: Client, wait: Wait, hello: Hello) -> Result<Self, Error> {
        // All waiting is done by `wait`.
        client.set_write_timeout(Duration::ZERO);
        let server = HelloResult::default();
        let mut engine =
            Self { client, wait, timeout: TIMEOUT, server, last: 0, is_unread: false, given_up: Vec::new() };
        match engine.ask(Command::Hello(hello)).await? {
            ResultBody::Hello(server) => engine.server = *server,
            _ => return Err(Error::Unasked),
        }
        Ok(engine)
    }

    pub(crate) fn end(mut self) -> Result<(), Error> {
        self.client.finish_input();
        self.client.wait_exit(Instant::now() + self.timeout)?;
        Ok(())
    }

    /// Sets the timeout of an answer; 10 s by default. A search gets it on top of the most that its clock
    /// allows for the move, its `time` or its `hard` limit; with none of these, such as by
    /// [`Limit::endless`], it has no timeout.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// What the server says about itself: its name, features, games and limits.
    #[must_use]
    pub fn server(&self) -> &HelloResult {
        &self.server
    }

    /// Sends any request but a search, and waits for its result.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn ask(&mut self, command: Command) -> Result<ResultBody, Error> {
        let id = self.send(command).await?;
        let deadline = Instant::now() + self.timeout;
        match self.receive(id, Some(deadline)).await? {
            Message::Result(result) if result.id == id.to_string() => Ok(result.body),
            Message::Error(error) => Err(Error::Refused(error)),
            _ => Err(Error::Unasked),
        }
    }

    /// Sends a `ping` and waits for its answer.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn ping(&mut self) -> Result<(), Error> {
        self.ask(Command::Ping(Ping::default())).await.map(drop)
    }

    /// Describes a game: its rules, options, players and how its moves are written.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn describe(&mut self, game: &str) -> Result<GameInfo, Error> {
        let describe = Describe { what: DescribeWhat::Game, game: Some(game.to_owned()) };
        match self.ask(Command::Describe(describe)).await? {
            ResultBody::Describe(result) => serde_json::from_value(result.body).map_err(|_| Error::Unasked),
            _ => Err(Error::Unasked),
        }
    }

    /// Opens a session for a whole game, in which the server keeps what its searches found. A session without
    /// a name gets one.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn new_game(&mut self, mut new_game: NewGame) -> Result<Game, Error> {
        if new_game.session.is_empty() {
            new_game.session = format!("game-{}", self.last + 1);
        }
        match self.ask(Command::NewGame(new_game)).await? {
            ResultBody::NewGame(result) => Ok(Game::in_session(result.session)),
            _ => Err(Error::Unasked),
        }
    }

    /// Sets options of the game's session or, without a game, the defaults of later sessions; returns those
    /// in force. If one is wrong, none is set.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn set_options(&mut self, game: Option<&Game>, options: Settings) -> Result<Settings, Error> {
        let session = game.and_then(session).map(str::to_owned);
        match self.ask(Command::SetOption(SetOption { options, session })).await? {
            ResultBody::SetOption(result) => Ok(result.options),
            _ => Err(Error::Unasked),
        }
    }

    /// Asks the rules about the position: who is to move, whether the game is over, the legal moves, or
    /// whatever else `want` names.
    ///
    /// # Errors
    /// See [`Error`]; a move that is not legal is one.
    pub async fn inspect(&mut self, game: &Game, want: &[Want]) -> Result<InspectResult, Error> {
        let Game { game, position } = game.clone();
        let want = want.to_vec();
        match self.ask(Command::Inspect(Inspect { game, position, want, draft: None })).await? {
            ResultBody::Inspect(result) => Ok(*result),
            _ => Err(Error::Unasked),
        }
    }

    /// Searches for a move to play.
    ///
    /// # Errors
    /// See [`Error`]; what the server refuses is reported by the search.
    pub async fn go(&mut self, game: &Game, limit: &Limit) -> Result<Search<'_>, Error> {
        let mut go = Go::new(game.game.clone(), game.position.clone());
        limit.apply(&mut go);
        self.go_with(go).await
    }

    /// Like [`go`](Self::go), with all fields of the request: other modes, several lines, chosen moves, more
    /// `info`.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn go_with(&mut self, go: Go) -> Result<Search<'_>, Error> {
        Search::start(self, go).await
    }

    /// Searches for a move, plays it in the game, and gives what the search found.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn play(&mut self, game: &mut Game, limit: &Limit) -> Result<BestMove, Error> {
        let best = self.go(game, limit).await?.best().await?;
        game.push(best.mv.clone());
        Ok(best)
    }

    /// The server's load and counters.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn status(&mut self) -> Result<StatusResult, Error> {
        match self.ask(Command::Status(Status {})).await? {
            ResultBody::Status(result) => Ok(result),
            _ => Err(Error::Unasked),
        }
    }

    /// Closes the session of a game, if it has one.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn close_game(&mut self, game: &Game) -> Result<(), Error> {
        let Some(session) = session(game).map(str::to_owned) else { return Ok(()) };
        self.ask(Command::Close(Close { session, connection: None })).await.map(drop)
    }

    /// Sends a command; returns its id.
    async fn send(&mut self, command: Command) -> Result<u64, Error> {
        self.flush().await?;
        let id = self.post(command)?;
        self.flush().await?;
        Ok(id)
    }

    /// Sends as much of a command as the server reads at once; [`flush`](Self::flush) sends the rest.
    fn post(&mut self, command: Command) -> Result<u64, Error> {
        self.last += 1;
        match self.client.send(&Request { id: self.last.to_string(), command }) {
            Err(ClientError::Line(LineError::Unread)) => self.is_unread = true,
            sent => drop(sent?),
        }
        Ok(self.last)
    }

    /// Sends the rest of the last request.
    async fn flush(&mut self) -> Result<(), Error> {
        let deadline = Instant::now() + self.timeout;
        loop {
            while self.is_unread {
                match self.client.flush() {
                    Ok(_) => self.is_unread = false,
                    Err(ClientError::Line(LineError::Unread)) => {
                        let output = self.client.output().ok_or(LineError::Closed)?;
                        let waited = self.wait.writable(output, deadline).await;
                        waited.map_err(|error| match error {
                            LineError::TimedOut => LineError::Unread,
                            error => error,
                        })?;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            let Some(id) = self.given_up.pop() else { return Ok(()) };
            self.post(discard(id))?;
        }
    }

    /// Ends an abandoned search as soon as the server reads.
    fn give_up(&mut self, id: u64) {
        if self.is_unread {
            self.given_up.push(id);
        } else {
            // A server that is gone has ended it.
            let _gone_already = self.post(discard(id));
        }
    }

    /// The next message that is about this request or a later one, or about none if it ends the connection.
    /// Messages about earlier requests are skipped, since nobody waits for them any more.
    async fn receive(&mut self, id: u64, deadline: Option<Instant>) -> Result<Message, Error> {
        loop {
            let message = self.next(deadline).await?;
            match &message {
                Message::Notice(_) => {}
                Message::Error(error) if error.id.is_none() => return Ok(message),
                other => match message_id(other).and_then(|of| of.parse::<u64>().ok()) {
                    Some(of) if (id..=self.last).contains(&of) => return Ok(message),
                    Some(of) if (1..id).contains(&of) => {}
                    _ => return Err(Error::Unasked),
                },
            }
            // Without this, a server that has always another of them to read would be read forever.
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(LineError::TimedOut.into());
            }
        }
    }

    async fn next(&mut self, deadline: Option<Instant>) -> Result<Message, Error> {
        let now = Instant::now();
        let deadline = deadline.unwrap_or(now + AGES);
        let mut is_first = true;
        loop {
            self.wait.breathe().await;
            match self.client.next(Instant::now()) {
                Err(ClientError::Line(LineError::TimedOut)) => {}
                received => return Ok(received?.envelope.message),
            }
            // What has arrived already counts, however late it is read.
            if !std::mem::take(&mut is_first) && Instant::now() >= deadline {
                return Err(LineError::TimedOut.into());
            }
            self.wait.readable(self.client.input(), deadline).await?;
        }
    }
}

fn discard(id: u64) -> Command {
    Command::Stop(Stop { target: StopTarget::Go(id.to_string()), discard: true })
}

fn session(game: &Game) -> Option<&str> {
    match &game.game {
        GameRef::Session { session } => Some(session),
        GameRef::Game { .. } => None,
    }
}
