//! The games that are played now, and what happens in them, for whoever watches.
//!
//! Nobody who watches can slow a game: what happens is sent to all without waiting for anybody. A spectator
//! who is slower than the games loses events, and gets the games as they are instead. It knows no network.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plyd_arena::Answered;
use plyd_protocol::{Player, Record};
use serde::Serialize;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::game::{GameEnd, Seated, Turn};
use crate::terms::PoolClock;
use crate::{GameId, PoolId};

/// The games that are played now. A copy is of the same games.
///
/// ```
/// use plyd_ladder::live::{Live, Update};
///
/// # async fn page(live: Live) {
/// let (games, mut watcher) = live.watch();
/// println!("{} games are played", games.len());
/// while let Some(update) = watcher.next().await {
///     match update {
///         Update::Event(event) => println!("something happened in game {}", event.game()),
///         Update::Behind(games) => println!("some events were missed; {} games now", games.len()),
///     }
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Live(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    games: BTreeMap<GameId, Arc<LiveGame>>,
    /// None once the ladder stops.
    feed: Option<broadcast::Sender<Arc<LiveEvent>>>,
}

/// A game that is played.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LiveGame {
    /// Which one.
    pub id: GameId,
    /// The pool, whose terms it is played on.
    pub pool: PoolId,
    /// Who plays: p1, then p2.
    pub players: [Seated; 2],
    /// Their clocks; none: it is not limited, as a house bot is not.
    pub clocks: [Option<PoolClock>; 2],
    /// The game, its rules, where it began, and all plies since, with which any board can draw it. It has no
    /// result yet.
    pub record: Record,
    /// How many of the plies are the opening, which nobody chose.
    pub opening: usize,
    /// The players' answers so far, with what is left of their clocks and their evaluations.
    pub answers: Vec<Answered>,
    /// The text of the position.
    pub text: String,
    /// Who is to move; none: the game is just over.
    pub to_move: Option<Player>,
    /// When the player who is to move could begin to think, in milliseconds since 1970.
    pub since_ms: i64,
}

/// What happens in a game.
#[derive(Clone, PartialEq, Debug)]
pub enum LiveEvent {
    /// It began, or goes on after the ladder was started again.
    Began(Arc<LiveGame>),
    /// A turn was played.
    Turn(Box<LiveTurn>),
    /// It ended.
    Ended(Arc<GameEnd>),
}

/// A turn with what it led to.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LiveTurn {
    /// The game.
    pub game: GameId,
    /// The turn's index in the game, from 0: that of its answer.
    pub index: usize,
    /// The turn.
    pub turn: Turn,
    /// What was played since the turn before: the move, and chance's part.
    pub plies: Vec<String>,
    /// The text of the position now.
    pub text: String,
    /// Who is to move now; none: the game is over.
    pub to_move: Option<Player>,
    /// When it was played, in milliseconds since 1970.
    pub at_ms: i64,
}

/// What a spectator gets.
#[derive(Clone, PartialEq, Debug)]
pub enum Update {
    /// Something happened.
    Event(Arc<LiveEvent>),
    /// The spectator was too slow and missed events: these are the games as they are now.
    Behind(Vec<Arc<LiveGame>>),
}

/// A spectator.
#[derive(Debug)]
pub struct Watcher {
    live: Live,
    feed: Option<broadcast::Receiver<Arc<LiveEvent>>>,
}

impl Live {
    /// No games. A spectator may be `behind` events behind the games before some are missed.
    #[must_use]
    pub fn new(behind: usize) -> Self {
        let feed = Some(broadcast::Sender::new(behind.max(1)));
        Self(Arc::new(Mutex::new(State { games: BTreeMap::new(), feed })))
    }

    /// The games, the oldest first.
    #[must_use]
    pub fn games(&self) -> Vec<Arc<LiveGame>> {
        self.lock().games.values().cloned().collect()
    }

    /// A game, if it is played now.
    #[must_use]
    pub fn game(&self, id: GameId) -> Option<Arc<LiveGame>> {
        self.lock().games.get(&id).cloned()
    }

    /// The games as they are, and all that happens from then on.
    #[must_use]
    pub fn watch(&self) -> (Vec<Arc<LiveGame>>, Watcher) {
        let (games, feed) = self.subscribe();
        (games, Watcher { live: self.clone(), feed })
    }

    /// How many watch.
    #[must_use]
    pub fn spectators(&self) -> usize {
        self.lock().feed.as_ref().map_or(0, broadcast::Sender::receiver_count)
    }

    /// Ends all feeds: the ladder stops.
    pub fn close(&self) {
        self.lock().feed = None;
    }

    pub(crate) fn began(&self, game: LiveGame) {
        let mut state = self.lock();
        let game = Arc::new(game);
        state.games.insert(game.id, Arc::clone(&game));
        state.send(LiveEvent::Began(game));
    }

    pub(crate) fn turn(&self, turn: LiveTurn) {
        let mut state = self.lock();
        if let Some(game) = state.games.get_mut(&turn.game) {
            // It is copied only if somebody has it.
            let game = Arc::make_mut(game);
            game.record.moves.extend_from_slice(&turn.plies);
            game.answers.push(turn.turn.answered.clone());
            game.text.clone_from(&turn.text);
            (game.to_move, game.since_ms) = (turn.to_move, turn.at_ms);
        }
        state.send(LiveEvent::Turn(Box::new(turn)));
    }

    pub(crate) fn ended(&self, end: GameEnd) {
        let mut state = self.lock();
        state.games.remove(&end.id());
        state.send(LiveEvent::Ended(Arc::new(end)));
    }

    /// A game was left without an end: the ladder goes on with it later.
    pub(crate) fn left(&self, id: GameId) {
        self.lock().games.remove(&id);
    }

    fn subscribe(&self) -> (Vec<Arc<LiveGame>>, Option<broadcast::Receiver<Arc<LiveEvent>>>) {
        let state = self.lock();
        let feed = state.feed.as_ref().map(broadcast::Sender::subscribe);
        (state.games.values().cloned().collect(), feed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Sent under the lock, so that what a new spectator sees first and what comes then fit together.
    fn send(&self, event: LiveEvent) {
        if let Some(feed) = &self.feed {
            let _nobody_watches = feed.send(Arc::new(event));
        }
    }
}

impl LiveEvent {
    /// In which game it happens.
    #[must_use]
    pub fn game(&self) -> GameId {
        match self {
            Self::Began(game) => game.id,
            Self::Turn(turn) => turn.game,
            Self::Ended(end) => end.id(),
        }
    }
}

impl Watcher {
    /// Waits for what happens next; nothing once the ladder stops.
    pub async fn next(&mut self) -> Option<Update> {
        match self.feed.as_mut()?.recv().await {
            Ok(event) => Some(Update::Event(event)),
            Err(RecvError::Lagged(_)) => {
                let (games, feed) = self.live.subscribe();
                self.feed = feed;
                Some(Update::Behind(games))
            }
            Err(RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// A game of which nothing was played.
    pub(crate) fn game(id: u64) -> LiveGame {
        let seated = |bot: u64| Seated { bot: crate::BotId(bot), name: format!("bot-{bot}") };
        let record =
            json!({ "record": 1, "game": "nim", "rules": { "most": 3 }, "start": "21 1", "moves": [] });
        LiveGame {
            id: GameId(id),
            pool: PoolId(1),
            players: [seated(1), seated(2)],
            clocks: [Some(PoolClock::PerMove { ms: 100 }), None],
            record: serde_json::from_value(record).unwrap(),
            opening: 0,
            answers: Vec::new(),
            text: "21 1".into(),
            to_move: Some(Player::P1),
            since_ms: 1,
        }
    }

    fn turn(game: u64, index: usize) -> LiveTurn {
        let player = ["p1", "p2"][index % 2];
        let turn = json!({ "move": "3", "player": player, "time_us": 7, "left_us": null });
        LiveTurn {
            game: GameId(game),
            index,
            turn: serde_json::from_value(turn).unwrap(),
            plies: vec!["3".into()],
            text: format!("{} stones", 18 - 3 * index),
            to_move: Some(Player::P2),
            at_ms: 2 + index as i64,
        }
    }

    fn end(game: u64) -> GameEnd {
        let LiveGame { record, .. } = self::game(game);
        let mut played = serde_json::to_value(record).unwrap();
        let more = json!({
            "number": game, "seed": "7", "terms": plyd_arena::Strictness::default(), "opening": 0, "answers": [],
            "players": [{ "index": 1, "name": "bot-1" }, { "index": 2, "name": "bot-2" }],
        });
        played.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        GameEnd::of(serde_json::from_value(played).unwrap())
    }

    fn shape(update: Option<Update>) -> String {
        match update {
            None => "closed".into(),
            Some(Update::Behind(games)) => {
                let games = games.iter().map(|game| format!("{}@{}", game.id, game.answers.len()));
                format!("behind: {}", games.collect::<Vec<_>>().join(" "))
            }
            Some(Update::Event(event)) => match &*event {
                LiveEvent::Began(game) => format!("began {}", game.id),
                LiveEvent::Turn(turn) => format!("turn {} of {}", turn.index, turn.game),
                LiveEvent::Ended(end) => format!("ended {}", end.id()),
            },
        }
    }

    #[tokio::test]
    async fn spectators_see_what_happens_and_what_there_is() {
        let live = Live::new(8);
        live.began(game(1));
        let (games, mut watcher) = live.watch();
        assert_eq!((games.len(), live.spectators()), (1, 1));
        live.turn(turn(1, 0));
        live.began(game(2));
        live.turn(turn(1, 1));
        live.ended(end(1));
        for expected in ["turn 0 of 1", "began 2", "turn 1 of 1", "ended 1"] {
            assert_eq!(shape(watcher.next().await), expected);
        }
        // What somebody holds stays as it was.
        assert_eq!((games[0].answers.len(), games[0].text.as_str()), (0, "21 1"));
        assert_eq!(live.games().iter().map(|game| game.id).collect::<Vec<_>>(), [GameId(2)]);
        live.left(GameId(2));
        assert_eq!((live.game(GameId(2)), live.games()), (None, vec![]));
        live.close();
        assert_eq!(shape(watcher.next().await), "closed");
        let (_, mut late) = live.watch();
        assert_eq!(shape(late.next().await), "closed");
    }

    #[tokio::test]
    async fn a_slow_spectator_gets_the_games_as_they_are_and_goes_on() {
        let live = Live::new(4);
        live.began(game(1));
        let (_, mut slow) = live.watch();
        for index in 0..6 {
            live.turn(turn(1, index));
        }
        let now = live.game(GameId(1)).unwrap();
        assert_eq!((now.answers.len(), now.record.moves.len(), now.text.as_str()), (6, 6, "3 stones"));
        assert_eq!((now.to_move, now.since_ms), (Some(Player::P2), 7));
        assert_eq!(shape(slow.next().await), "behind: 1@6");
        live.turn(turn(1, 6));
        assert_eq!(shape(slow.next().await), "turn 6 of 1");
    }
}
