//! The way to the engine: a daemon of our own or a server elsewhere, asked through the protocol and nothing else.
//!
//! The game is not kept here: each question carries its position, so that a connection that is lost is replaced and the
//! game goes on. Sessions hold what players learn, and are opened again where that is needed.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use crate::client::{Client, ClientError, LineError, Retry, is_final, message_id};
use plyd_protocol::{
    self as wire, BestMove, Board, Command, ErrorMessage, GameRef, Go, Grid, Hello, Info, Inspect,
    InspectResult, Message, NewGame, OnEof, Position, ResultBody, Settings, Stop, StopTarget, Versions, Want,
};

/// The longest wait for an answer that needs no search.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest wait before an overloaded server is asked again; past it the person decides.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The longest wait for a server's greeting, until which nothing is shown.
const GREETING: Duration = Duration::from_secs(5);

/// The most rows or columns of a board that is drawn, and the most characters in a cell: a server may tell any number.
const LARGEST: u32 = 256;
const WIDEST: usize = 32;

/// Where the engine is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// In a process of our own, started from this program.
    Child,
    /// Behind a TCP address, with the token that it may want and the file that has it.
    Tcp { address: String, token: Option<String>, token_file: Option<PathBuf> },
}

/// A connection, made where none is and made again where it broke.
pub(super) struct Link {
    place: Place,
    client: Option<Client>,
    /// The open sessions and what opened them.
    sessions: BTreeMap<&'static str, NewGame>,
    /// The search whose answer is awaited.
    search: Option<String>,
    /// What it was asked, and when.
    asked: Option<(Go, Retry)>,
}

/// What the engine says about the search that is awaited.
#[derive(Debug)]
pub(super) enum Said {
    /// It found something better.
    Better(Info),
    /// It is done.
    Done(Box<BestMove>),
    /// It did not begin, or broke.
    Refused(Refusal),
    /// The connection is gone, and the search with it.
    Lost(String),
}

/// A request that was not carried out.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// The server says why, and where in the request.
    #[error("{}", told(.0))]
    Error(Box<ErrorMessage>),
    /// The server cannot be asked.
    #[error("the engine cannot be reached: {0}")]
    Unreachable(String),
    /// The server does not keep to the protocol.
    #[error("the engine's answer makes no sense: {0}")]
    Nonsense(String),
}

impl Refusal {
    /// The place in the request that is to blame; empty where none is.
    pub(super) fn pointer(&self) -> &str {
        match self {
            Self::Error(error) => error.pointer.as_deref().unwrap_or_default(),
            _ => "",
        }
    }
}

/// The message, behind the name of the setting that it is about.
fn told(error: &ErrorMessage) -> String {
    let pointer = error.pointer.as_deref().unwrap_or_default();
    let setting = ["/options/", "/rules/"].iter().find_map(|parent| pointer.strip_prefix(parent));
    setting.map_or_else(|| error.message.clone(), |name| format!("`{name}`: {}", error.message))
}

impl From<ClientError> for Refusal {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Garbled { .. } => Self::Nonsense(error.to_string()),
            ClientError::Line(error) => Self::Unreachable(error.to_string()),
        }
    }
}

impl Link {
    /// A link that is made when it is first needed.
    pub(super) fn new(place: Place) -> Self {
        Self { place, client: None, sessions: BTreeMap::new(), search: None, asked: None }
    }

    /// Where the engine is.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Where the engine's lines come from, to be waited for beside other things.
    pub(super) fn input(&self) -> Option<BorrowedFd<'_>> {
        self.client.as_ref().map(Client::input)
    }

    /// Asks the rules about a position.
    ///
    /// # Errors
    /// The server's refusal, or that there is no server.
    pub(super) fn inspect(
        &mut self,
        game: &str,
        rules: &Settings,
        position: Position,
        want: &[Want],
    ) -> Result<InspectResult, Refusal> {
        let game = GameRef::Game { game: game.to_owned(), rules: rules.clone() };
        let inspect = Inspect { game, position, want: want.to_vec() };
        let ResultBody::Inspect(result) = self.ask(&Command::Inspect(inspect))? else {
            return Err(Refusal::Nonsense("another answer than that to `inspect`".into()));
        };
        match &result.board {
            Some(board) if !is_drawable(board) => {
                Err(Refusal::Nonsense("a board that no window could show".into()))
            }
            _ => Ok(*result),
        }
    }

    /// Sees to it that the session of that name is open for this game with these options. One that is open for
    /// another is begun anew.
    ///
    /// # Errors
    /// The server's refusal, such as an option that the player does not have.
    pub(super) fn open(&mut self, session: &'static str, game: NewGame) -> Result<(), Refusal> {
        if self.client.is_some() && self.sessions.get(session) == Some(&game) {
            return Ok(());
        }
        self.sessions.remove(session);
        self.ask(&Command::NewGame(game.clone()))?;
        self.sessions.insert(session, game);
        Ok(())
    }

    /// Forgets what players learned in earlier games: sessions are opened anew when they are needed.
    pub(super) fn forget(&mut self) {
        self.sessions.clear();
    }

    /// Begins a search, of which [`Link::said`] tells; one that ran is given up.
    ///
    /// # Errors
    /// There is no server.
    pub(super) fn search(&mut self, go: Go) -> Result<(), Refusal> {
        self.give_up();
        let (id, sent) = self.client()?.request(Command::Go(Box::new(go.clone())))?;
        self.search = Some(id);
        self.asked = Some((go.clone(), Retry::new(&go, sent)));
        Ok(())
    }

    /// Asks the running search for its answer now.
    pub(super) fn stop(&mut self) {
        self.end(false);
    }

    /// Ends the running search without an answer.
    pub(super) fn give_up(&mut self) {
        self.end(true);
        self.search = None;
    }

    fn end(&mut self, discard: bool) {
        if let (Some(id), Some(client)) = (&self.search, &mut self.client) {
            let stop = Stop { target: StopTarget::Go(id.clone()), discard };
            // A connection that is gone is found out when it is read.
            let _gone = client.request(Command::Stop(stop));
        }
    }

    /// The next thing that was said about the awaited search, if anything was; never waits.
    pub(super) fn said(&mut self) -> Option<Said> {
        self.said_until(Instant::now())
    }

    /// The next thing that is said about the awaited search; none if nothing is said for long.
    pub(super) fn said_soon(&mut self) -> Option<Said> {
        self.said_until(Instant::now() + PATIENCE)
    }

    fn said_until(&mut self, deadline: Instant) -> Option<Said> {
        loop {
            let client = self.client.as_mut()?;
            match client.next(deadline) {
                Ok(received) => {
                    let message = received.envelope.message;
                    let awaited = self.search.is_some() && self.search.as_deref() == message_id(&message);
                    if !awaited {
                        continue;
                    }
                    if is_final(&message) {
                        self.search = None;
                    }
                    match message {
                        Message::Info(info) => return Some(Said::Better(info)),
                        Message::BestMove(best) => return Some(Said::Done(best)),
                        Message::Error(error) if self.asked_again(&error) => (),
                        Message::Error(error) => return Some(Said::Refused(Refusal::Error(error))),
                        Message::Result(_) | Message::Notice(_) => (),
                    }
                }
                Err(ClientError::Line(LineError::TimedOut)) => return None,
                Err(error) => {
                    self.drop_connection();
                    return Some(Said::Lost(error.to_string()));
                }
            }
        }
    }

    /// Asks a server that is overloaded again, if the clock allows that and the wait is no longer than a person bears.
    fn asked_again(&mut self, error: &ErrorMessage) -> bool {
        let Some((go, retry)) = &mut self.asked else { return false };
        let pause = retry.pause(go, error, Instant::now()).filter(|pause| *pause <= LONGEST_PAUSE);
        let (Some(pause), Some(client)) = (pause, &mut self.client) else { return false };
        std::thread::sleep(pause);
        retry.renew(go, Instant::now());
        // A connection that is gone is found out when it is read.
        self.search = client.request(Command::Go(Box::new(go.clone()))).ok().map(|(id, _)| id);
        self.search.is_some()
    }

    /// Asks what needs no search. A connection that turns out to be gone is made again, once.
    fn ask(&mut self, command: &Command) -> Result<ResultBody, Refusal> {
        let was_there = self.client.is_some();
        match self.try_ask(command) {
            Err(Refusal::Unreachable(_)) if was_there && self.search.is_none() => {
                self.drop_connection();
                self.try_ask(command)
            }
            answer => answer,
        }
    }

    fn try_ask(&mut self, command: &Command) -> Result<ResultBody, Refusal> {
        let client = self.client()?;
        let (id, _) = client.request(command.clone())?;
        let answer = client.wait_for(Instant::now() + PATIENCE, |message| {
            is_final(message) && message_id(message) == Some(&id)
        })?;
        match answer.envelope.message {
            Message::Result(result) => Ok(result.body),
            Message::Error(error) => Err(Refusal::Error(error)),
            other => Err(Refusal::Nonsense(format!("{other:?}"))),
        }
    }

    fn client(&mut self) -> Result<&mut Client, Refusal> {
        if self.client.is_none() {
            self.sessions.clear();
            self.search = None;
            let mut client = match &self.place {
                Place::Child => {
                    let program = std::env::current_exe()
                        .map_err(|error| Refusal::Unreachable(format!("where is this program? {error}")))?;
                    let mut daemon = Process::new(program);
                    // Its log would be written over the board.
                    daemon.arg("serve").stderr(Stdio::null());
                    Client::spawn(daemon)?
                }
                Place::Tcp { address, .. } => Client::connect(address)?,
            };
            greet(&mut client, &self.place)?;
            self.client = Some(client);
        }
        Ok(self.client.as_mut().expect("it is there now"))
    }

    fn drop_connection(&mut self) {
        self.client = None;
        self.sessions.clear();
        self.search = None;
    }
}

fn is_drawable(board: &Board) -> bool {
    let Grid { rows, cols, row_labels, col_labels, .. } = &board.grid;
    let on_pieces = board.pieces.iter().filter_map(|piece| piece.label.as_ref());
    let mut labels = row_labels.iter().chain(col_labels).chain(on_pieces);
    let cells = u64::from(*rows) * u64::from(*cols);
    board.walls.len() as u64 <= 4 * cells
        && *rows <= LARGEST
        && *cols <= LARGEST
        && labels.all(|label| label.chars().count() <= WIDEST)
}

/// Opens the connection; a server of our own ends with us at once.
fn greet(client: &mut Client, place: &Place) -> Result<(), Refusal> {
    let (token, patience) = match place {
        Place::Child => (None, PATIENCE),
        Place::Tcp { token, .. } => (token.clone(), GREETING),
    };
    let (name, version) = (Some("plyd play".to_owned()), Some(env!("CARGO_PKG_VERSION").to_owned()));
    let hello = Hello {
        protocol: Versions { min: wire::VERSION, max: wire::VERSION },
        client: Some(wire::Client { name, version }),
        token,
        on_eof: OnEof::Cancel,
        ..Hello::default()
    };
    let (id, _) = client.request(Command::Hello(hello))?;
    match client.wait_final(&id, Instant::now() + patience)?.last.envelope.message {
        Message::Result(_) => Ok(()),
        Message::Error(error) => Err(Refusal::Error(error)),
        other => Err(Refusal::Nonsense(format!("{other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_that_would_fill_the_memory_are_none() {
        let grid = |rows, cols| Grid { rows, cols, ..Grid::default() };
        let walled = |count| Board {
            grid: grid(1, 2),
            walls: vec![wire::Wall { cell: [0, 0], side: wire::Side::Up }; count],
            ..Board::default()
        };
        assert!(is_drawable(&walled(8)) && !is_drawable(&walled(9)));
        let labelled = |label: String| Grid { row_labels: vec![label], ..grid(1, 1) };
        for (grid, expected) in [
            (grid(25, 25), true),
            (grid(0, 0), true),
            (grid(u32::MAX, 1), false),
            (grid(1, 257), false),
            (labelled("x".repeat(32)), true),
            (labelled("x".repeat(33)), false),
        ] {
            assert_eq!(is_drawable(&Board { grid: grid.clone(), ..Board::default() }), expected, "{grid:?}");
        }
    }
}
