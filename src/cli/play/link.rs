//! The way to the engine: a daemon of our own or a server elsewhere, asked through the protocol and nothing
//! else.
//!
//! The game is not kept here: each question carries its position, so that a connection that is lost is
//! replaced and the game goes on. Sessions hold what players learn, and are opened again if that is
//! needed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::fd::BorrowedFd;

use crate::cli::own;
use crate::client::{Address, Client, ClientError, LineError, Retry, is_final, message_id};
use plyd_protocol::{
    self as wire, BestMove, Board, Command, ErrorMessage, GameRef, Go, Grid, Hello, Info, Inspect,
    InspectResult, Message, NewGame, OnEof, Position, ResultBody, Settings, Stop, StopTarget, Versions, Want,
};

/// The longest wait for an answer that needs no search.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The longest wait before an overloaded server is asked again; after that the person decides.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The longest wait for a server's greeting, until which nothing is shown.
const GREETING: Duration = Duration::from_secs(5);

/// The most rows or columns of a board that is drawn, and the most characters in a cell: a server may
/// send any number.
const LARGEST: u32 = 256;
const WIDEST: usize = 32;

/// Where the engine is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// In a process of our own, started from this program.
    Child,
    /// At an address, with the token that it may want and the file that has it.
    Server { address: Address, token: Option<String>, token_file: Option<PathBuf> },
}

/// A connection, made when it is first needed and again after it broke.
pub(super) struct Link {
    place: Place,
    client: Option<Client>,
    /// The open sessions and what opened them.
    sessions: BTreeMap<&'static str, NewGame>,
    /// The search whose answer is pending.
    search: Option<String>,
    /// What it was asked, and when.
    asked: Option<(Go, Retry)>,
    /// When the search is requested again, if nobody stops it before.
    again: Option<Again>,
}

/// The next attempt of a search that an overloaded server refused.
struct Again {
    at: Instant,
    /// The answer if there is no next attempt.
    refusal: Box<ErrorMessage>,
    /// Whether the search was stopped.
    stopped: bool,
}

/// News from the engine about the pending search.
#[derive(Debug)]
pub(super) enum SearchUpdate {
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
    #[error("{}", error_text(.0))]
    Error(Box<ErrorMessage>),
    /// The server cannot be asked.
    #[error("the engine cannot be reached: {0}")]
    Unreachable(String),
    /// The server does not keep to the protocol.
    #[error("the engine's answer makes no sense: {0}")]
    Nonsense(String),
}

impl Refusal {
    /// The place in the request that is to blame; empty if none is.
    pub(super) fn pointer(&self) -> &str {
        match self {
            Self::Error(error) => error.pointer.as_deref().unwrap_or_default(),
            _ => "",
        }
    }
}

/// The message, behind the name of the setting that it is about.
fn error_text(error: &ErrorMessage) -> String {
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
        Self { place, client: None, sessions: BTreeMap::new(), search: None, asked: None, again: None }
    }

    /// Where the engine is.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// The source of the engine's lines, to be polled beside other inputs.
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
        let inspect = Inspect { game, position, want: want.to_vec(), draft: None };
        let ResultBody::Inspect(result) = self.ask(&Command::Inspect(inspect))? else {
            return Err(Refusal::Nonsense("another answer than that to `inspect`".into()));
        };
        match &result.board {
            Some(board) if !is_drawable(board) => {
                Err(Refusal::Nonsense("a board that is too large to show".into()))
            }
            _ => Ok(*result),
        }
    }

    /// Makes sure that the session of that name is open for this game with these options. One that is open
    /// for another is begun anew.
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

    /// Begins a search, whose news [`Link::said`] returns; one that ran is given up.
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
        self.asked = None;
        self.again = None;
    }

    fn end(&mut self, discard: bool) {
        // A request that is refused from now on is not sent again.
        self.asked = None;
        if let Some(again) = &mut self.again {
            again.stopped = true;
        }
        if let (Some(id), Some(client)) = (&self.search, &mut self.client) {
            let stop = Stop { target: StopTarget::Go(id.clone()), discard };
            // A lost connection shows when it is read.
            let _gone = client.request(Command::Stop(stop));
        }
    }

    /// The next thing that was said about the awaited search, if anything was; never waits.
    pub(super) fn said(&mut self) -> Option<SearchUpdate> {
        self.said_until(Instant::now())
    }

    /// The next thing that is said about the awaited search; none if nothing is said for long.
    pub(super) fn said_soon(&mut self) -> Option<SearchUpdate> {
        self.said_until(Instant::now() + TIMEOUT)
    }

    /// When an overloaded server is asked again, by [`Link::said`].
    pub(super) fn next_attempt(&self) -> Option<Instant> {
        self.again.as_ref().map(|again| again.at)
    }

    fn said_until(&mut self, deadline: Instant) -> Option<SearchUpdate> {
        loop {
            if let Some(again) = self.again.take_if(|again| again.stopped) {
                return Some(SearchUpdate::Refused(Refusal::Error(again.refusal)));
            }
            if let Some(again) = self.again.take_if(|again| again.at <= Instant::now()) {
                if self.asked.as_ref().is_some_and(|(_, retry)| !retry.has_time(Instant::now())) {
                    return Some(SearchUpdate::Refused(Refusal::Error(again.refusal)));
                }
                if let Err(error) = self.ask_again() {
                    self.drop_connection();
                    return Some(SearchUpdate::Lost(error.to_string()));
                }
            }
            let attempt = self.next_attempt().filter(|attempt| *attempt < deadline);
            let client = self.client.as_mut()?;
            match client.next(attempt.unwrap_or(deadline)) {
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
                        Message::Info(info) => return Some(SearchUpdate::Better(info)),
                        Message::BestMove(best) => return Some(SearchUpdate::Done(best)),
                        Message::Error(error) => {
                            self.again = self.next_attempt_after(&error);
                            if self.again.is_none() {
                                return Some(SearchUpdate::Refused(Refusal::Error(error)));
                            }
                        }
                        Message::Result(_) | Message::Notice(_) => (),
                    }
                }
                Err(ClientError::Line(LineError::TimedOut)) if attempt.is_some() => {}
                Err(ClientError::Line(LineError::TimedOut)) => return None,
                Err(error) => {
                    self.drop_connection();
                    return Some(SearchUpdate::Lost(error.to_string()));
                }
            }
        }
    }

    /// The next attempt at an overloaded server, if the clock allows one and the pause is no longer than a
    /// person bears.
    fn next_attempt_after(&self, refusal: &ErrorMessage) -> Option<Again> {
        let (go, retry) = self.asked.as_ref()?;
        let now = Instant::now();
        let pause = retry.pause(go, refusal, now).filter(|pause| *pause <= LONGEST_PAUSE)?;
        Some(Again { at: now + pause, refusal: Box::new(refusal.clone()), stopped: false })
    }

    fn ask_again(&mut self) -> Result<(), ClientError> {
        if let (Some((go, retry)), Some(client)) = (&mut self.asked, &mut self.client) {
            retry.renew(go, Instant::now());
            let (id, _) = client.request(Command::Go(Box::new(go.clone())))?;
            self.search = Some(id);
        }
        Ok(())
    }

    /// Sends a request that needs no search. A lost connection is made again, once.
    fn ask(&mut self, command: &Command) -> Result<ResultBody, Refusal> {
        let was_there = self.client.is_some();
        match self.try_ask(command) {
            Err(Refusal::Unreachable(_)) if was_there && self.search.is_none() && self.again.is_none() => {
                self.drop_connection();
                self.try_ask(command)
            }
            answer => answer,
        }
    }

    fn try_ask(&mut self, command: &Command) -> Result<ResultBody, Refusal> {
        let client = self.client()?;
        let (id, _) = client.request(command.clone())?;
        let answer = client.wait_for(Instant::now() + TIMEOUT, |message| {
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
            self.drop_connection();
            let mut client = match &self.place {
                Place::Child => {
                    let mut daemon = own::command().map_err(|error| {
                        Refusal::Unreachable(format!("cannot find this program: {error}"))
                    })?;
                    // Its log would be written over the board.
                    daemon.stderr(Stdio::null());
                    Client::spawn(daemon)?
                }
                Place::Server { address, .. } => Client::at(address)?,
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
        self.again = None;
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
    let (token, timeout) = match place {
        Place::Child => (None, TIMEOUT),
        Place::Server { token, .. } => (token.clone(), GREETING),
    };
    let (name, version) = (Some("plyd play".to_owned()), Some(env!("CARGO_PKG_VERSION").to_owned()));
    let hello = Hello {
        protocol: Versions { min: wire::VERSION, max: wire::VERSION },
        client: Some(wire::ClientInfo { name, version }),
        token,
        on_eof: OnEof::Cancel,
        ..Hello::default()
    };
    let (id, _) = client.request(Command::Hello(hello))?;
    match client.wait_final(&id, Instant::now() + timeout)?.last.envelope.message {
        Message::Result(_) => Ok(()),
        Message::Error(error) => Err(Refusal::Error(error)),
        other => Err(Refusal::Nonsense(format!("{other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::thread::{self, JoinHandle};

    use super::*;

    /// A server that is overloaded at the first `go`, for as long as the longest pause, and plays `a1` at the
    /// second; gives what it was asked once its client is gone.
    fn busy_server() -> (Place, JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Tcp(listener.local_addr().unwrap().to_string());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked: Vec<String> = Vec::new();
            for line in BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok) {
                let request = wire::decode(line.as_bytes()).unwrap();
                let (id, cmd) = (request.id, request.command.name());
                let answer = match cmd {
                    "go" if asked.iter().any(|cmd| cmd == "go") => format!(
                        r#""type":"bestmove","id":"{id}","reason":"clock","move":"a1","hash":"0","lines":[],"stats":{{"nodes":1,"nps":1,"time_ms":1,"depth":1,"seldepth":1,"hash_ppm":0}},"timing":{{"received_us":1,"started_us":1,"decided_us":1}}"#
                    ),
                    "go" => format!(
                        r#""type":"error","id":"{id}","line":1,"code":"overloaded","message":"busy","fatal":false,"retry_ms":{}"#,
                        LONGEST_PAUSE.as_millis()
                    ),
                    "stop" => format!(r#""type":"result","id":"{id}","of":"stop","effect":"unknown""#),
                    _ => format!(r#""type":"result","id":"{id}","of":"ping""#),
                };
                writeln!(stream, r#"{{"seq":1,"t_us":1,{answer}}}"#).unwrap();
                asked.push(cmd.to_owned());
            }
            asked
        });
        (Place::Server { address, token: None, token_file: None }, server)
    }

    fn searching() -> (Link, JoinHandle<Vec<String>>) {
        let (place, server) = busy_server();
        let mut link = Link::new(place);
        let game = GameRef::Game { game: "isolation".into(), rules: Settings::new() };
        let mut go = Go::new(game, Position::default());
        go.clock = Some(wire::Clock::PerMove { ms: 600_000 });
        link.search(go).unwrap();
        let end = Instant::now() + TIMEOUT;
        while link.search.is_some() {
            assert!(Instant::now() < end, "the refusal does not come");
            assert!(link.said().is_none());
        }
        (link, server)
    }

    #[test]
    fn an_overloaded_server_is_asked_again_when_it_said() {
        let (mut link, server) = searching();
        assert!(link.next_attempt().is_some());
        assert!(matches!(link.said_soon(), Some(SearchUpdate::Done(best)) if best.mv == "a1"));
        assert_eq!(link.next_attempt(), None);
        drop(link);
        assert_eq!(server.join().unwrap(), ["hello", "go", "go"]);
    }

    #[test]
    fn a_search_that_is_stopped_is_not_asked_for_again() {
        for discard in [false, true] {
            let (mut link, server) = searching();
            if discard {
                link.give_up();
                assert_eq!(link.next_attempt(), None);
                assert!(link.said().is_none());
            } else {
                link.stop();
                let overloaded = |error: &ErrorMessage| error.code == wire::ErrorCode::Overloaded;
                assert!(
                    matches!(link.said(), Some(SearchUpdate::Refused(Refusal::Error(error))) if overloaded(&error))
                );
            }
            drop(link);
            assert_eq!(server.join().unwrap(), ["hello", "go"]);
        }
    }

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
