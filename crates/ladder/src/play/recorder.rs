//! What happens at the tables, for whoever keeps it and for whoever watches.

use plyd_arena::referee::Turn;
use tokio::sync::{mpsc, oneshot};

use crate::GameId;
use crate::game::GameEnd;
use crate::live::{Live, LiveGame, LiveTurn};

/// Takes down what happens at the tables. A copy writes to the same place.
#[derive(Clone, Debug)]
pub struct Recorder {
    kept: mpsc::Sender<Event>,
    live: Live,
}

/// What is to be kept.
#[derive(Debug)]
pub enum Event {
    /// A turn was played: with the ones before it enough to go on with the game.
    Turn {
        /// The game.
        game: GameId,
        /// The turn's index in the game.
        index: usize,
        /// The turn.
        turn: Box<Turn>,
    },
    /// A game has ended.
    Ended {
        /// How.
        end: Box<GameEnd>,
        /// To be answered once that is kept, after which the bots are informed.
        kept: oneshot::Sender<()>,
    },
}

/// Nobody keeps what happens any more: the ladder is being stopped, and its games go on later.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the ladder stops")]
pub struct Stopped;

impl Recorder {
    /// A recorder and where its events arrive. Tables wait while `waiting` events are not taken, without a
    /// clock running. Spectators see the same, and nobody waits for them.
    #[must_use]
    pub fn new(waiting: usize, live: Live) -> (Self, mpsc::Receiver<Event>) {
        let (kept, events) = mpsc::channel(waiting.max(1));
        (Self { kept, live }, events)
    }

    /// What spectators see.
    #[must_use]
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// A game begins, or goes on.
    pub(super) fn began(&self, game: LiveGame) {
        self.live.began(game);
    }

    /// Takes down a turn.
    pub(super) async fn turn(&self, turn: LiveTurn) -> Result<(), Stopped> {
        let event = Event::Turn { game: turn.game, index: turn.index, turn: Box::new(turn.turn.clone()) };
        self.live.turn(turn);
        self.kept.send(event).await.map_err(|_| Stopped)
    }

    /// Takes down the end of a game, and waits until it is kept.
    pub(super) async fn ended(&self, end: &GameEnd) -> Result<(), Stopped> {
        let (kept, is_kept) = oneshot::channel();
        let event = Event::Ended { end: Box::new(end.clone()), kept };
        self.kept.send(event).await.map_err(|_| Stopped)?;
        is_kept.await.map_err(|_| Stopped)?;
        self.live.ended(end.clone());
        Ok(())
    }
}
