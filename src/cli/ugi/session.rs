//! The commands of a UGI program, carried out one after the other by requests to the daemon.
//!
//! It waits for the answer to each request but `go`, so that answers come in the order of the questions.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use plyd_protocol::{
    self as wire, GameRef, Go, InfoEvent, InfoRequest, Inspect, InspectResult, Message, Mode, NewGame,
    Player, Position, QuitMode, Request, ResultBody, Settings, StopTarget, ToMove, UpdateMode, Want, echo,
};

use super::command::{Command, GoParameters, Place, Query};
use super::running::{NO_MOVE, Running};
use super::{note, print, words};
use crate::cli::position;
use crate::daemon::Connection;
use crate::engine::Entry;
use crate::search::clock::now_ns;

/// The one session that is needed.
const SESSION: &str = "ugi";

/// The game that is played and how far it is.
pub(super) struct Session {
    entry: &'static Entry,
    rules: Settings,
    startpos: Position,
    /// What the threads of one search may be.
    threads: usize,
    options: Settings,
    multipv: u32,
    /// The position, or why there is none.
    board: Result<Board, String>,
    requests: Requests,
    running: Arc<Running>,
    /// The `go` that ponders, for its clock.
    pondering: Option<GoParameters>,
}

/// A position that the rules know.
struct Board {
    position: Position,
    to_move: ToMove,
    outcome: Option<wire::Outcome>,
}

/// The way to the daemon.
pub(super) struct Requests {
    connection: Arc<Connection>,
    /// The final messages of all requests but `go`.
    answers: Receiver<Message>,
    /// Counts the requests: the last id.
    last: u64,
    /// When the line arrived that is carried out.
    arrived_ns: u64,
}

impl Drop for Requests {
    /// The end of input.
    fn drop(&mut self) {
        self.connection.finish_input();
    }
}

/// Why a request has no result.
pub(super) enum Unanswered {
    /// The daemon refused it, in a sentence.
    Refused(String),
    /// The daemon is gone.
    Gone,
}

impl Session {
    /// Opens a game that begins at `startpos`.
    ///
    /// # Errors
    /// The rules are refused, or the daemon is gone.
    pub(super) fn open(
        entry: &'static Entry,
        rules: Settings,
        startpos: Position,
        threads: usize,
        requests: Requests,
        running: Arc<Running>,
    ) -> Result<Self, Unanswered> {
        let mut session = Self {
            entry,
            rules,
            startpos,
            threads,
            options: Settings::new(),
            multipv: 1,
            board: Err("there is no position yet".into()),
            requests,
            running,
            pondering: None,
        };
        session.new_game(Settings::new())?;
        session.place(Place { fen: None, moves: Vec::new() })?;
        Ok(session)
    }

    /// Carries out a line that arrived then; gives whether there is more to come.
    ///
    /// # Errors
    /// [`Unanswered::Gone`] alone.
    pub(super) fn line(&mut self, line: &str, arrived_ns: u64) -> Result<bool, Unanswered> {
        self.requests.arrived_ns = arrived_ns;
        match Command::parse(line) {
            // The position before would be another game.
            Err(message) if line.split_whitespace().next() == Some("position") => self.unread(&message),
            Err(message) => note(&message),
            Ok(Command::Quit) => {
                self.running.release();
                let quit = wire::Command::Quit(wire::Quit { mode: QuitMode::Stop });
                self.requests.ask(quit)?;
                return Ok(false);
            }
            Ok(command) => match self.run(command) {
                Err(Unanswered::Refused(message)) => note(&message),
                done => done?,
            },
        }
        Ok(true)
    }

    /// A line came that cannot be read. It may have been a position, so that none is left.
    pub(super) fn unread(&mut self, message: &str) {
        self.board = Err(message.to_owned());
        note(&format!("no position: {message}"));
    }

    /// The input ended: a search with a limit ends by it, any other answers now.
    pub(super) fn finish(self) {
        self.running.release();
    }

    fn run(&mut self, command: Command<'_>) -> Result<(), Unanswered> {
        match command {
            Command::Ugi => self.introduce(),
            Command::IsReady => {
                self.requests.ask(wire::Command::Ping(wire::Ping::default()))?;
                print(["readyok".to_owned()]);
            }
            Command::NewGame => {
                self.new_game(self.options.clone())?;
                self.place(Place { fen: None, moves: Vec::new() })?;
            }
            Command::SetOption { name, value } => self.set_option(name, value)?,
            Command::Position(place) => self.place(place)?,
            Command::Go(search) => self.go(search)?,
            Command::PonderHit => self.ponder_hit()?,
            Command::Stop => self.stop()?,
            Command::Query(query) => self.query(query)?,
            Command::Quit => {}
        }
        Ok(())
    }

    fn introduce(&self) {
        let about = [
            format!("id name {} {} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"), self.entry.name),
            "id author the plyd authors".to_owned(),
        ];
        let options = words::options(self.entry, self.threads);
        print(about.into_iter().chain(options).chain(["ugiok".to_owned()]));
    }

    /// Begins a game anew, with nothing left of the one before.
    fn new_game(&mut self, options: Settings) -> Result<(), Unanswered> {
        self.end_search()?;
        let new_game = NewGame {
            session: SESSION.into(),
            game: self.entry.name.into(),
            rules: self.rules.clone(),
            options: options.clone(),
            seed: None,
        };
        self.requests.ask(wire::Command::NewGame(new_game))?;
        self.options = options;
        Ok(())
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), Unanswered> {
        if name.eq_ignore_ascii_case(words::MULTIPV) {
            let lines = value.parse().ok().filter(|lines| (1..=wire::MAX_MULTIPV).contains(lines));
            self.multipv = lines.ok_or_else(|| {
                Unanswered::Refused(format!("{name}: expected an integer from 1 to {}", wire::MAX_MULTIPV))
            })?;
            return Ok(());
        }
        let spec = words::option(self.entry, name).ok_or_else(|| {
            Unanswered::Refused(format!("no such option `{}`; `ugi` lists them", echo(name)))
        })?;
        let mut options = self.options.clone();
        options.0.remove(spec.name);
        if let Some(text) = words::value(spec.kind, value) {
            let given = [(spec.name.to_owned(), text.to_owned())];
            options.0.extend(position::option_settings(self.entry, &given).0);
        }
        self.new_game(options).map_err(|unanswered| match unanswered {
            Unanswered::Refused(message) => Unanswered::Refused(format!("{}: {message}", spec.name)),
            Unanswered::Gone => Unanswered::Gone,
        })
    }

    /// Takes a position. One that cannot be played leaves none: the one before would be another game.
    fn place(&mut self, place: Place) -> Result<(), Unanswered> {
        let position = place.after(&self.startpos);
        match self.inspect(&position, vec![Want::ToMove, Want::Outcome]) {
            Ok(seen) => {
                let to_move = seen.to_move.unwrap_or(ToMove::P1);
                self.board = Ok(Board { position, to_move, outcome: seen.outcome.flatten() });
                Ok(())
            }
            Err(Unanswered::Refused(message)) => {
                self.board = Err(message.clone());
                Err(Unanswered::Refused(format!("no position: {message}")))
            }
            Err(Unanswered::Gone) => Err(Unanswered::Gone),
        }
    }

    fn inspect(&mut self, position: &Position, want: Vec<Want>) -> Result<Box<InspectResult>, Unanswered> {
        let inspect = Inspect { game: game(), position: position.clone(), want, draft: None };
        match self.requests.ask(wire::Command::Inspect(inspect))? {
            ResultBody::Inspect(seen) => Ok(seen),
            _ => Err(Unanswered::Refused("the engine does not know the position".into())),
        }
    }

    fn go(&mut self, search: GoParameters) -> Result<(), Unanswered> {
        self.end_search()?;
        search.ignored.iter().for_each(|ignored| note(ignored));
        let board = match &self.board {
            Ok(board) => board,
            Err(message) => {
                note(&format!("no position: {message}"));
                print([format!("bestmove {NO_MOVE}")]);
                return Ok(());
            }
        };
        let mut go = Go::new(game(), board.position.clone());
        (go.mode, go.clock, go.limit) = (search.mode(), search.clock(mover(board)), search.limit());
        go.multipv = self.multipv;
        go.searchmoves.clone_from(&search.moves);
        go.info = InfoRequest { events: vec![InfoEvent::Best, InfoEvent::Progress], min_interval_ms: 0 };
        let ponders = go.mode == Mode::Ponder;
        if ponders {
            // It begins with `ponderhit`, as the clock does.
            go.limit.time_ms = None;
        }
        let (id, line) = match self.requests.next(wire::Command::Go(Box::new(go))) {
            Ok(next) => next,
            Err(message) => {
                note(&message);
                print([format!("bestmove {NO_MOVE}")]);
                return Ok(());
            }
        };
        self.running.begin(id, ponders);
        self.pondering = ponders.then_some(search);
        self.requests.send(&line);
        Ok(())
    }

    /// The search goes on as one for a move, its clock starting now; without clock and limit until `stop`.
    fn ponder_hit(&mut self) -> Result<(), Unanswered> {
        let (Some(search), Ok(board)) = (self.pondering.take(), &self.board) else {
            return Err(Unanswered::Refused("nothing is pondered on".into()));
        };
        let (clock, limit) = (search.clock(mover(board)), search.limit());
        let Some(target) = self.running.release() else {
            return Ok(());
        };
        if clock.is_some() || !limit.is_empty() {
            let mode = Some(UpdateMode::Move);
            self.requests.ask(wire::Command::Update(wire::Update {
                target,
                clock,
                limit,
                hard_ms: None,
                mode,
            }))?;
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Unanswered> {
        self.pondering = None;
        if let Some(target) = self.running.release() {
            let stop = wire::Stop { target: StopTarget::Go(target), discard: false };
            self.requests.ask(wire::Command::Stop(stop))?;
        }
        Ok(())
    }

    /// Ends the search, if one runs, and waits for its answer.
    fn end_search(&mut self) -> Result<(), Unanswered> {
        self.stop()?;
        self.running.wait();
        Ok(())
    }

    fn query(&mut self, query: Query) -> Result<(), Unanswered> {
        let answer = match (&self.board, query) {
            (Ok(board), Query::Fen) => {
                let position = board.position.clone();
                self.inspect(&position, vec![Want::Text])?.text.unwrap_or_default()
            }
            (Ok(board), Query::P1Turn) => (board.to_move == ToMove::P1).to_string(),
            (Ok(board), Query::GameOver) => board.outcome.is_some().to_string(),
            (Ok(board), Query::Result) => words::result(board.outcome.as_ref()).to_owned(),
            // Over without a result: the one answer upon which a manager does not wait for a move that cannot
            // come.
            (Err(_), Query::P1Turn | Query::GameOver) => true.to_string(),
            (Err(_), Query::Result | Query::Fen) => words::result(None).to_owned(),
        };
        print([format!("response {answer}")]);
        Ok(())
    }
}

impl Requests {
    /// Requests of that connection, whose answers come that way.
    pub(super) fn new(connection: Arc<Connection>, answers: Receiver<Message>) -> Self {
        Self { connection, answers, last: 0, arrived_ns: now_ns() }
    }

    /// The id and the line of the next request.
    ///
    /// # Errors
    /// A sentence, if the line is longer than the daemon reads: its error would name no request.
    fn next(&self, command: wire::Command) -> Result<(String, Vec<u8>), String> {
        let id = (self.last + 1).to_string();
        let request = Request { id: id.clone(), command };
        let line = serde_json::to_vec(&request).expect("requests hold only text keys and integers");
        if line.len() > wire::MAX_LINE {
            return Err(format!("too long: as a request it has more than {} bytes", wire::MAX_LINE));
        }
        Ok((id, line))
    }

    /// Sends the next request.
    fn send(&mut self, line: &[u8]) {
        self.last += 1;
        self.connection.send(line, self.arrived_ns);
    }

    /// Sends a request and waits for its result. One request is under way at a time, so that the next answer
    /// is its.
    fn ask(&mut self, command: wire::Command) -> Result<ResultBody, Unanswered> {
        let (_, line) = self.next(command).map_err(Unanswered::Refused)?;
        self.send(&line);
        match self.answers.recv() {
            Ok(Message::Result(result)) => Ok(result.body),
            Ok(Message::Error(error)) => Err(Unanswered::Refused(error.message)),
            Ok(_) | Err(_) => Err(Unanswered::Gone),
        }
    }
}

fn game() -> GameRef {
    GameRef::Session { session: SESSION.into() }
}

fn mover(board: &Board) -> Player {
    if board.to_move == ToMove::P2 { Player::P2 } else { Player::P1 }
}
