//! Clients that the daemon knows by name: each plays one game after the other in a session of its own, asks
//! for what its role allows, and now and then for more. Some lose their sockets while they wait for a move.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use plyd::bridge;
use plyd::engine::AnyRoot;
use plyd_protocol::{
    Clock, Close, Command, ErrorCode, GameRef, Go, InfoEvent, Limit, Message, Mode, NewGame, ResultBody,
    Role, Settings, Status,
};

use crate::conversation::{Break, Conversation, Trouble, who, wrong};
use crate::honest::{Honest, position};

/// The longest pause before a request, in milliseconds.
const LONGEST_PAUSE_MS: usize = 1500;

/// A game of more plies is given up: some have no end.
const LONGEST_GAME: usize = 80;

/// The longest time between a search's request and the loss of the socket, in milliseconds.
const LONGEST_HOLD_MS: usize = 40;

/// The longest time without a socket, in milliseconds.
const LONGEST_ABSENCE_MS: usize = 300;

/// Who a client is, and what it plays.
pub(crate) struct Regular {
    pub(crate) name: String,
    pub(crate) role: Role,
    /// Its game, which goes on when a connection is lost.
    pub(crate) game: Option<Arc<dyn AnyRoot>>,
    /// Whether this connection has a session for it.
    pub(crate) is_seated: bool,
    /// Whether it loses its socket now and then, and resumes the connection over another one.
    pub(crate) resumes: bool,
}

impl Honest<'_> {
    /// Asks for the next thing, after a pause, and checks the answer.
    pub(crate) fn play(&mut self, conversation: &mut Conversation) -> Result<(), Trouble> {
        let pause = self.random.below(LONGEST_PAUSE_MS) as u64;
        thread::sleep(Duration::from_millis(pause));
        let root = self.seat(conversation)?;
        match self.random.below(8) {
            0 => self.ping(conversation),
            1 => self.beyond(conversation, Role::Operate, Command::Status(Status::default())),
            2 => {
                let limit = Limit { nodes: Some(500), ..Limit::default() };
                self.search(conversation, &root, |go| (go.mode, go.limit) = (Mode::Analyse, limit)).map(drop)
            }
            chance => {
                let played = self.search(conversation, &root, |go| {
                    if chance % 2 == 0 {
                        go.clock = Some(Clock::PerMove { ms: 10 * chance as i64 });
                    } else {
                        go.limit = Limit { nodes: Some(2000), ..Limit::default() };
                    }
                })?;
                match played {
                    Some(mv) => self.advance(conversation, &root, mv),
                    None => Ok(()),
                }
            }
        }
    }

    fn regular(&mut self) -> Result<&mut Regular, Trouble> {
        self.regular.as_mut().ok_or_else(|| Trouble::Wrong("it is nobody in particular".to_owned()))
    }

    /// Opens a session for its game, if this connection has none yet.
    fn seat(&mut self, conversation: &mut Conversation) -> Result<Arc<dyn AnyRoot>, Trouble> {
        let regular = self.regular()?;
        let (is_seated, game) = (regular.is_seated, regular.game.clone());
        let root = match game {
            Some(root) => root,
            None => self.opening()?,
        };
        let regular = self.regular()?;
        if !is_seated {
            let known = who(conversation.known_as.as_deref());
            if known != Some((&regular.name, regular.role)) {
                let message = format!("{} ({:?}) is taken for {known:?}", regular.name, regular.role);
                return Err(Trouble::Wrong(message));
            }
            let new = NewGame {
                session: regular.name.clone(),
                game: root.entry().name.to_owned(),
                rules: bridge::rules(&root.rules()),
                options: Settings::from_iter([("hash_mb", 1)]),
                ..NewGame::default()
            };
            demand(conversation, Command::NewGame(new))?;
        }
        (regular.game, regular.is_seated) = (Some(Arc::clone(&root)), true);
        Ok(root)
    }

    /// Asks for something that needs a role: it is refused exactly if the client's is lower.
    fn beyond(
        &mut self,
        conversation: &mut Conversation,
        least: Role,
        command: Command,
    ) -> Result<(), Trouble> {
        let is_allowed = self.regular()?.role >= least;
        let id = conversation.send(command)?;
        match conversation.settle(&id)?.last.envelope.message {
            Message::Result(_) if is_allowed => Ok(()),
            Message::Error(error) if error.code == ErrorCode::Forbidden && !is_allowed => {
                self.tally.forbidden += 1;
                Ok(())
            }
            Message::Error(error) if error.code == ErrorCode::ShuttingDown => Err(shutting_down()),
            other => Err(wrong("a request that needs a role", &other.to_body())),
        }
    }

    /// Searches its game's position; the move, none if the daemon has no room now or the role is too low.
    fn search(
        &mut self,
        conversation: &mut Conversation,
        root: &Arc<dyn AnyRoot>,
        change: impl FnOnce(&mut Go),
    ) -> Result<Option<String>, Trouble> {
        let regular = self.regular()?;
        let (role, resumes, session) = (regular.role, regular.resumes, regular.name.clone());
        let mut go = Go::new(GameRef::Session { session }, position(root.as_ref()));
        go.info.events = vec![InfoEvent::Started];
        change(&mut go);
        let loses_socket = resumes && self.random.below(3) == 0;
        if loses_socket {
            // Some are over when the client comes back, and some are not.
            let ms = 100 + self.random.below(LONGEST_ABSENCE_MS) as i64;
            (go.limit, go.clock) = (Limit::default(), Some(Clock::PerMove { ms }));
        }
        if go.mode == Mode::Analyse && role < Role::Analyse {
            return self.beyond(conversation, Role::Analyse, Command::Go(Box::new(go))).map(|()| None);
        }
        let id = conversation.send(Command::Go(Box::new(go)))?;
        if loses_socket {
            self.lose_socket(conversation, &id)?;
        }
        let answer = conversation.settle(&id)?;
        self.judge(&answer, root.as_ref())?;
        Ok(match &answer.last.envelope.message {
            Message::BestMove(best) => Some(best.mv.clone()),
            _ => None,
        })
    }

    /// Loses its socket some time after it has asked for a search, and comes back.
    fn lose_socket(&mut self, conversation: &mut Conversation, search: &str) -> Result<(), Trouble> {
        let mut within = |ms| Duration::from_millis(self.random.below(ms) as u64);
        let (hold, absence) = (within(LONGEST_HOLD_MS), within(LONGEST_ABSENCE_MS));
        // What comes meanwhile is known, or is lost with the socket.
        if self.random.below(2) == 0 {
            conversation.listen(hold)?;
        } else {
            thread::sleep(hold);
        }
        let how = if self.random.below(2) == 0 { Break::Reset } else { Break::Unnoticed };
        self.tally.sent_again += conversation.come_back(how, absence)?;
        self.tally.resumed += 1;
        self.tally.resumed_early += u64::from(!conversation.is_settled(search));
        Ok(())
    }

    /// Plays the move, lets an opponent answer at random, and closes the session when the game is over.
    fn advance(
        &mut self,
        conversation: &mut Conversation,
        root: &Arc<dyn AnyRoot>,
        mv: String,
    ) -> Result<(), Trouble> {
        let mut root = root.extend(&[mv]).map_err(|fault| Trouble::Wrong(fault.message))?;
        let mut is_answered = false;
        loop {
            let outcomes: Vec<String> = root.chance().into_iter().map(|outcome| outcome.mv).collect();
            let is_chance = !outcomes.is_empty();
            let moves = if is_chance { outcomes } else { root.legal() };
            if moves.is_empty() || root.played().len() > LONGEST_GAME {
                let regular = self.regular()?;
                (regular.game, regular.is_seated) = (None, false);
                let close = Close { session: regular.name.clone(), connection: None };
                return demand(conversation, Command::Close(close));
            }
            if is_answered && !is_chance {
                break;
            }
            is_answered |= !is_chance;
            let ply = moves[self.random.below(moves.len())].clone();
            root = root.extend(&[ply]).map_err(|fault| Trouble::Wrong(fault.message))?;
        }
        self.regular()?.game = Some(root);
        Ok(())
    }
}

/// Sends a request that has to be granted.
fn demand(conversation: &mut Conversation, command: Command) -> Result<(), Trouble> {
    let id = conversation.send(command)?;
    match conversation.settle(&id)?.last.envelope.message {
        Message::Result(result) if matches!(result.body, ResultBody::NewGame(_) | ResultBody::Close(_)) => {
            Ok(())
        }
        Message::Error(error) if error.code == ErrorCode::ShuttingDown => Err(shutting_down()),
        other => Err(wrong("a session", &other.to_body())),
    }
}

/// The connection is of no use any more; nothing was begun.
fn shutting_down() -> Trouble {
    Trouble::Lost("shutting down".to_owned(), false)
}
