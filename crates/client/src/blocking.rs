//! The engine and its searches for programs that block: they do what the async ones do, on the calling
//! thread.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use plyd_protocol::{
    BestMove, Command, GameInfo, Go, Hello, HelloResult, Info, InspectResult, NewGame, ResultBody, Settings,
    StatusResult, Update, Want,
};

use crate::wait::Wait;
use crate::{Address, Client, Error, Game, Limit, engine, greeting};

/// A server, for programs that block: one that this program starts, or one at an address.
///
/// It sends one request at a time; several searches at once need several engines. A server that was started
/// for it is killed when the engine is dropped; [`close`](Self::close) lets the server end by itself.
///
/// ```no_run
/// use std::time::Duration;
///
/// use plyd_client::blocking::Engine;
/// use plyd_client::{Address, Game, Limit};
///
/// let mut plyd = Engine::open(&Address::program("plyd"))?;
/// let game = Game::named("isolation");
/// let mut search = plyd.go(&game, &Limit::per_move(Duration::from_millis(100)))?;
/// for info in &mut search {
///     let info = info?;
///     println!("{:?} at depth {}", info.mv, info.stats.depth);
/// }
/// println!("plays {}", search.best()?.mv);
/// plyd.close()?;
/// # Ok::<(), plyd_client::Error>(())
/// ```
#[derive(Debug)]
pub struct Engine(engine::Engine);

/// A search that runs. Dropping it before it has ended stops it on the server, too.
#[derive(Debug)]
#[must_use = "a search that is dropped is stopped"]
pub struct Search<'a>(engine::Search<'a>);

/// The output of a future that is ready at once, as every future of a blocking conversation is.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a conversation on a thread blocks where another would be pending"),
    }
}

impl Engine {
    /// Starts the program of an address, or connects.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn open(address: &Address) -> Result<Self, Error> {
        Self::open_with(address, greeting())
    }

    /// Like [`open`](Self::open), with a [`greeting`] of the caller's, such as one with a token.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn open_with(address: &Address, hello: Hello) -> Result<Self, Error> {
        Self::over(Client::at(address)?, hello)
    }

    /// Takes over a connection that was made elsewhere and on which nothing was sent yet.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn over(client: Client, hello: Hello) -> Result<Self, Error> {
        now(engine::Engine::begin(client, Wait::OnThread, hello)).map(Self)
    }

    /// Sets the timeout of an answer; 10 s by default. A search gets it on top of the most that its clock
    /// allows for the move, its `time` or its `hard` limit; with none of these, such as by
    /// [`Limit::endless`], it has no timeout.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.0.set_timeout(timeout);
    }

    /// What the server says about itself: its name, features, games and limits.
    #[must_use]
    pub fn server(&self) -> &HelloResult {
        self.0.server()
    }

    /// Sends any request but a search, and waits for its result.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn ask(&mut self, command: Command) -> Result<ResultBody, Error> {
        now(self.0.ask(command))
    }

    /// Sends a `ping` and waits for its answer.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn ping(&mut self) -> Result<(), Error> {
        now(self.0.ping())
    }

    /// Describes a game: its rules, options, players and how its moves are written.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn describe(&mut self, game: &str) -> Result<GameInfo, Error> {
        now(self.0.describe(game))
    }

    /// Opens a session for a whole game, in which the server keeps what its searches found. A session without
    /// a name gets one.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn new_game(&mut self, new_game: NewGame) -> Result<Game, Error> {
        now(self.0.new_game(new_game))
    }

    /// Sets options of the game's session or, without a game, the defaults of later sessions; returns those
    /// in force. If one is wrong, none is set.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn set_options(&mut self, game: Option<&Game>, options: Settings) -> Result<Settings, Error> {
        now(self.0.set_options(game, options))
    }

    /// Asks the rules about the position: who is to move, whether the game is over, the legal moves, or
    /// whatever else `want` names.
    ///
    /// # Errors
    /// See [`Error`]; a move that is not legal is one.
    pub fn inspect(&mut self, game: &Game, want: &[Want]) -> Result<InspectResult, Error> {
        now(self.0.inspect(game, want))
    }

    /// Searches for a move to play.
    ///
    /// # Errors
    /// See [`Error`]; what the server refuses is reported by the search.
    pub fn go(&mut self, game: &Game, limit: &Limit) -> Result<Search<'_>, Error> {
        now(self.0.go(game, limit)).map(Search)
    }

    /// Like [`go`](Self::go), with all fields of the request: other modes, several lines, chosen moves, more
    /// `info`.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn go_with(&mut self, go: Go) -> Result<Search<'_>, Error> {
        now(self.0.go_with(go)).map(Search)
    }

    /// Searches for a move, plays it in the game, and gives what the search found.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn play(&mut self, game: &mut Game, limit: &Limit) -> Result<BestMove, Error> {
        now(self.0.play(game, limit))
    }

    /// The server's load and counters.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn status(&mut self) -> Result<StatusResult, Error> {
        now(self.0.status())
    }

    /// Closes the session of a game, if it has one.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn close_game(&mut self, game: &Game) -> Result<(), Error> {
        now(self.0.close_game(game))
    }

    /// Ends the connection, and waits until a server that was started for it has ended.
    ///
    /// # Errors
    /// It does not end in time, and is killed.
    pub fn close(self) -> Result<(), Error> {
        self.0.end()
    }
}

impl Search<'_> {
    /// Waits for the move, and skips the `info` before it.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn best(self) -> Result<BestMove, Error> {
        now(self.0.best())
    }

    /// Asks for the best move so far, which ends the search: [`best`](Self::best) has it.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn stop(&mut self) -> Result<(), Error> {
        now(self.0.stop())
    }

    /// Changes the clock, the limits or the mode. The update's `target` is overwritten with this search.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn update(&mut self, update: Update) -> Result<(), Error> {
        now(self.0.update(update))
    }
}

/// The `info` of the search until it ends; an error ends it. If the server is overloaded, the request is sent
/// again within the same clock.
impl Iterator for Search<'_> {
    type Item = Result<Info, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        now(self.0.next()).transpose()
    }
}
