//! What happens at the tables, for whoever keeps it and for whoever watches.

use std::sync::Arc;

use plyd_arena::PlayedGame;
use plyd_arena::referee::Turn;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::GameId;

/// Takes down what happens at the tables. A copy writes to the same place.
#[derive(Clone, Debug)]
pub struct Recorder {
    kept: mpsc::Sender<Event>,
    live: broadcast::Sender<Arc<News>>,
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
        ended: Box<Ended>,
        /// To be answered once that is kept, after which the bots are informed.
        kept: oneshot::Sender<()>,
    },
}

/// A game that has ended.
#[derive(Clone, PartialEq, Debug)]
pub struct Ended {
    /// The game.
    pub game: GameId,
    /// What was played. A game that does not count has no result.
    pub played: PlayedGame,
    /// Why the game does not count, if it does not.
    pub void: Option<String>,
    /// The last lines between the ladder and each bot in this game, the oldest first.
    pub conversations: [Vec<Exchange>; 2],
}

/// A line between the ladder and a bot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// When, in milliseconds since the game began or went on.
    pub at_ms: u64,
    /// Whose line it is.
    pub direction: Direction,
    /// The line, cut if it is long.
    pub line: String,
}

/// The way of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the ladder to the bot.
    ToBot,
    /// From the bot to the ladder.
    FromBot,
}

/// What spectators see.
#[derive(Clone, PartialEq, Debug)]
pub enum News {
    /// A turn was played.
    Turn {
        /// The game.
        game: GameId,
        /// The turn's index in the game.
        index: usize,
        /// The turn.
        turn: Box<Turn>,
        /// All plies since the start: chance may have had some of them.
        moves: Vec<String>,
    },
    /// A game has ended.
    Over(Box<Ended>),
}

/// Nobody keeps what happens any more: the ladder is being stopped, and its games go on later.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the ladder stops")]
pub struct Stopped;

impl Recorder {
    /// A recorder and where its events arrive. Tables wait while `waiting` events are not taken, without a
    /// clock running; spectators who are more than `live` pieces of news behind miss some of them.
    #[must_use]
    pub fn new(waiting: usize, live: usize) -> (Self, mpsc::Receiver<Event>) {
        let (kept, events) = mpsc::channel(waiting.max(1));
        (Self { kept, live: broadcast::Sender::new(live.max(1)) }, events)
    }

    /// The news from now on.
    #[must_use]
    pub fn watch(&self) -> broadcast::Receiver<Arc<News>> {
        self.live.subscribe()
    }

    /// Takes down a turn; `moves` are all plies since the start.
    pub(super) async fn turn(
        &self,
        game: GameId,
        index: usize,
        turn: Turn,
        moves: impl FnOnce() -> Vec<String>,
    ) -> Result<(), Stopped> {
        let turn = Box::new(turn);
        if self.live.receiver_count() > 0 {
            let news = News::Turn { game, index, turn: turn.clone(), moves: moves() };
            let _nobody_watches = self.live.send(Arc::new(news));
        }
        self.kept.send(Event::Turn { game, index, turn }).await.map_err(|_| Stopped)
    }

    /// Takes down the end of a game, and waits until it is kept.
    pub(super) async fn ended(&self, ended: &Ended) -> Result<(), Stopped> {
        let (kept, is_kept) = oneshot::channel();
        let event = Event::Ended { ended: Box::new(ended.clone()), kept };
        self.kept.send(event).await.map_err(|_| Stopped)?;
        is_kept.await.map_err(|_| Stopped)?;
        let _nobody_watches = self.live.send(Arc::new(News::Over(Box::new(ended.clone()))));
        Ok(())
    }
}
