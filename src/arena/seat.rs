//! A player's process at the board: started when a game needs it, asked for moves by the referee's clock, and
//! killed as soon as it fails.

use std::fmt;
use std::time::{Duration, Instant};

use plyd_protocol::{
    BestMove, Command, ErrorMessage, GameRef, Go, InfoRequest, Message, NewGame, Position, ResultBody, Seed,
    Settings,
};
use serde::{Deserialize, Serialize};

use super::{Player, Strictness};
use crate::client::{Client, ClientError, LineError, Received, is_final, message_id};

/// The one session that a player's process holds.
const SESSION: &str = "match";

/// How long a process that closed its output may take to end, so that its exit code can be told.
const EXIT: Duration = Duration::from_secs(1);

/// A player's place: its process, if one runs.
pub(super) struct Seat<'m> {
    player: &'m Player,
    strictness: Strictness,
    client: Option<Client>,
}

/// A player's answer and the time that it took by the referee's clock.
pub(super) struct Reply {
    pub(super) best: Box<BestMove>,
    /// From the end of writing the `go` to the end of reading the `bestmove`.
    pub(super) time: Duration,
    /// Whether that is more than the clock and the margin allow.
    pub(super) late: Option<Fault>,
}

/// Why a player forfeits a game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Fault {
    /// What kind of failure it is.
    pub kind: FaultKind,
    /// What happened, for people.
    pub message: String,
}

/// The ways to forfeit a game.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// A move that the rules do not allow.
    Illegal,
    /// An answer after the time.
    Late,
    /// The process does not start, ends, or closes its output.
    Crash,
    /// No answer for so long that the referee gave up.
    Silence,
    /// An answer that the protocol does not allow, or an error.
    Protocol,
}

impl FaultKind {
    /// All kinds, in the order in which they are told.
    pub const ALL: [Self; 5] = [Self::Late, Self::Illegal, Self::Crash, Self::Silence, Self::Protocol];

    /// The kind as records tell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Illegal => "illegal",
            Self::Late => "late",
            Self::Crash => "crash",
            Self::Silence => "silence",
            Self::Protocol => "protocol",
        }
    }
}

impl Fault {
    pub(super) fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// An error that a player answered: `asked` is what it was asked.
    fn refused(asked: &str, error: &ErrorMessage) -> Self {
        let place = error.pointer.as_deref().map(|pointer| format!(" at {pointer}")).unwrap_or_default();
        Self::new(FaultKind::Protocol, format!("`{asked}` was refused{place}: {}", error.message))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.message)
    }
}

impl<'m> Seat<'m> {
    /// A seat whose process is started with the first game.
    pub(super) fn new(player: &'m Player, strictness: Strictness) -> Self {
        Self { player, strictness, client: None }
    }

    /// Begins a game, with nothing left of the game before; starts the process where none runs.
    ///
    /// # Errors
    /// How the player failed; its process is killed.
    pub(super) fn new_game(&mut self, game: &str, rules: &Settings, seed: u64) -> Result<(), Fault> {
        let options = self.player.options.clone();
        let (game, rules, seed) = (game.to_owned(), rules.clone(), Some(Seed(seed)));
        let new_game = NewGame { session: SESSION.to_owned(), game, rules, options, seed };
        let (_, answer) = self.ask(Command::NewGame(new_game), self.strictness.patience)?;
        match answer.envelope.message {
            Message::Result(result) if matches!(result.body, ResultBody::NewGame(_)) => Ok(()),
            Message::Error(error) => Err(self.dismiss(Fault::refused("newgame", &error))),
            _ => Err(self.dismiss(Fault::new(FaultKind::Protocol, "no answer to `newgame`"))),
        }
    }

    /// Asks for a move in a position.
    ///
    /// # Errors
    /// How the player failed; its process is killed.
    pub(super) fn choose(&mut self, position: Position) -> Result<Reply, Fault> {
        let mut go = Go::new(GameRef::Session { session: SESSION.to_owned() }, position);
        go.clock = self.player.clock();
        go.limit = self.player.limit;
        go.info = InfoRequest { events: Vec::new(), min_interval_ms: 0 };
        let Strictness { margin, patience, .. } = self.strictness;
        let patience = self.player.time.unwrap_or_default() + margin + patience;
        let (sent, answer) = self.ask(Command::Go(Box::new(go)), patience)?;
        match answer.envelope.message {
            Message::BestMove(best) => {
                let time = answer.at.saturating_duration_since(sent);
                Ok(Reply { best, time, late: self.late(time) })
            }
            Message::Error(error) => Err(self.dismiss(Fault::refused("go", &error))),
            _ => Err(self.dismiss(Fault::new(FaultKind::Protocol, "the answer to `go` is no `bestmove`"))),
        }
    }

    /// Kills the process, so that the next game starts a fresh one; gives the fault back.
    pub(super) fn dismiss(&mut self, fault: Fault) -> Fault {
        self.client = None;
        fault
    }

    fn late(&self, time: Duration) -> Option<Fault> {
        let allowed = self.player.time?;
        (time > allowed + self.strictness.margin).then(|| {
            let message = format!("{} us after its {} ms", (time - allowed).as_micros(), allowed.as_millis());
            Fault::new(FaultKind::Late, message)
        })
    }

    /// Sends a command and waits for its final message; tells when the last byte left.
    fn ask(&mut self, command: Command, patience: Duration) -> Result<(Instant, Received), Fault> {
        self.try_ask(command, patience).map_err(|fault| self.dismiss(fault))
    }

    fn try_ask(&mut self, command: Command, patience: Duration) -> Result<(Instant, Received), Fault> {
        let client = match &mut self.client {
            Some(client) => client,
            none => none.insert(
                Client::spawn(self.player.program.command())
                    .map_err(|error| Fault::new(FaultKind::Crash, error.to_string()))?,
            ),
        };
        let (id, sent) = client.request(command).map_err(|error| broken(client, error))?;
        let answer = wait_final(client, &id, sent + patience)?;
        Ok((sent, answer))
    }
}

/// Waits for the final message about a request, however much else is written meanwhile.
fn wait_final(client: &mut Client, id: &str, deadline: Instant) -> Result<Received, Fault> {
    loop {
        let received = client.next(deadline).map_err(|error| broken(client, error))?;
        let message = &received.envelope.message;
        match message {
            Message::Error(error) if error.id.is_none() => return Err(Fault::refused("a line", error)),
            _ if is_final(message) && message_id(message) == Some(id) => return Ok(received),
            // A chatty player is silent too: the deadline ends the wait even where there is always a line to read.
            _ if Instant::now() >= deadline => return Err(broken(client, LineError::TimedOut.into())),
            _ => (),
        }
    }
}

/// What a connection's failure says about the player.
fn broken(client: &mut Client, error: ClientError) -> Fault {
    match error {
        ClientError::Line(LineError::TimedOut) => Fault::new(FaultKind::Silence, error.to_string()),
        ClientError::Line(_) => {
            let exit = client.wait_exit(Instant::now() + EXIT).ok().flatten();
            let message = exit.map_or_else(|| error.to_string(), |status| format!("it ended, {status}"));
            Fault::new(FaultKind::Crash, message)
        }
        ClientError::Garbled { .. } => Fault::new(FaultKind::Protocol, error.to_string()),
    }
}
