//! Clients that the daemon knows by name: each plays one game after the other in a session of its own, asks
//! for what its role allows, and now and then for more.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use plyd::bridge;
use plyd::engine::AnyRoot;
use plyd_protocol::{
    Clock, Close, Command, ErrorCode, GameRef, Go, InfoEvent, Limit, Message, Mode, NewGame, ResultBody,
    Role, Settings, Status,
};

use crate::honest::{Honest, Trouble, position, settle, wrong};
use crate::server::{Peer, SESSION};

/// The longest pause before a request, in milliseconds.
const LONGEST_PAUSE_MS: usize = 1500;

/// A game of more plies is given up: some have no end.
const LONGEST_GAME: usize = 80;

/// Who a client is, and what it plays.
pub(crate) struct Regular {
    pub(crate) name: String,
    pub(crate) role: Role,
    /// Its game, which goes on when a connection is lost.
    pub(crate) game: Option<Arc<dyn AnyRoot>>,
    /// Whether this connection has a session for it.
    pub(crate) is_seated: bool,
}

impl Honest<'_> {
    /// Asks for the next thing, after a pause, and checks the answer.
    pub(crate) fn play(&mut self, peer: &mut Peer) -> Result<(), Trouble> {
        let pause = self.random.below(LONGEST_PAUSE_MS) as u64;
        thread::sleep(Duration::from_millis(pause));
        let root = self.seat(peer)?;
        match self.random.below(8) {
            0 => self.ping(peer),
            1 => self.beyond(peer, Role::Operate, Command::Status(Status::default())),
            2 => {
                let limit = Limit { nodes: Some(500), ..Limit::default() };
                self.search(peer, &root, |go| (go.mode, go.limit) = (Mode::Analyse, limit)).map(drop)
            }
            chance => {
                let played = self.search(peer, &root, |go| {
                    if chance % 2 == 0 {
                        go.clock = Some(Clock::PerMove { ms: 10 * chance as i64 });
                    } else {
                        go.limit = Limit { nodes: Some(2000), ..Limit::default() };
                    }
                })?;
                match played {
                    Some(mv) => self.advance(peer, &root, mv),
                    None => Ok(()),
                }
            }
        }
    }

    fn regular(&mut self) -> Result<&mut Regular, Trouble> {
        self.regular.as_mut().ok_or_else(|| Trouble::Wrong("it is nobody in particular".to_owned()))
    }

    /// Opens a session for its game, if this connection has none yet.
    fn seat(&mut self, peer: &mut Peer) -> Result<Arc<dyn AnyRoot>, Trouble> {
        let regular = self.regular()?;
        let (is_seated, game) = (regular.is_seated, regular.game.clone());
        let root = match game {
            Some(root) => root,
            None => self.opening()?,
        };
        let regular = self.regular()?;
        if !is_seated {
            let known = peer.known_as.as_ref().map(|client| (client.name.as_str(), client.role));
            if known != Some((&regular.name, regular.role)) {
                let message = format!("{} ({:?}) is taken for {known:?}", regular.name, regular.role);
                return Err(Trouble::Wrong(message));
            }
            let new = NewGame {
                session: SESSION.to_owned(),
                game: root.entry().name.to_owned(),
                rules: bridge::rules(&root.rules()),
                options: Settings::from_iter([("hash_mb", 1)]),
                ..NewGame::default()
            };
            demand(peer, Command::NewGame(new))?;
        }
        (regular.game, regular.is_seated) = (Some(Arc::clone(&root)), true);
        Ok(root)
    }

    /// Asks for something that needs a role: it is refused exactly if the client's is lower.
    fn beyond(&mut self, peer: &mut Peer, least: Role, command: Command) -> Result<(), Trouble> {
        let is_allowed = self.regular()?.role >= least;
        let id = peer.send(command)?;
        match settle(peer, &id)?.last.envelope.message {
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
        peer: &mut Peer,
        root: &Arc<dyn AnyRoot>,
        change: impl FnOnce(&mut Go),
    ) -> Result<Option<String>, Trouble> {
        let mut go = Go::new(GameRef::Session { session: SESSION.to_owned() }, position(root.as_ref()));
        go.info.events = vec![InfoEvent::Started];
        change(&mut go);
        if go.mode == Mode::Analyse && self.regular()?.role < Role::Analyse {
            return self.beyond(peer, Role::Analyse, Command::Go(Box::new(go))).map(|()| None);
        }
        let id = peer.send(Command::Go(Box::new(go)))?;
        let answer = settle(peer, &id)?;
        self.judge(&answer, root.as_ref())?;
        Ok(match &answer.last.envelope.message {
            Message::BestMove(best) => Some(best.mv.clone()),
            _ => None,
        })
    }

    /// Plays the move, lets an opponent answer at random, and closes the session when the game is over.
    fn advance(&mut self, peer: &mut Peer, root: &Arc<dyn AnyRoot>, mv: String) -> Result<(), Trouble> {
        let mut root = root.extend(&[mv]).map_err(|fault| Trouble::Wrong(fault.message))?;
        let mut is_answered = false;
        loop {
            let outcomes: Vec<String> = root.chance().into_iter().map(|outcome| outcome.mv).collect();
            let is_chance = !outcomes.is_empty();
            let moves = if is_chance { outcomes } else { root.legal() };
            if moves.is_empty() || root.played().len() > LONGEST_GAME {
                let regular = self.regular()?;
                (regular.game, regular.is_seated) = (None, false);
                return demand(peer, Command::Close(Close { session: SESSION.to_owned(), connection: None }));
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
fn demand(peer: &mut Peer, command: Command) -> Result<(), Trouble> {
    let id = peer.send(command)?;
    match settle(peer, &id)?.last.envelope.message {
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
