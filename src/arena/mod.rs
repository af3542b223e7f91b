//! Matches between players: processes that speak the protocol, and a referee that trusts neither of them.
//!
//! The referee keeps its own copy of each game through [`AnyRoot`], asks each player in turn, reads its own clock, and
//! notes every move with its time and score. It knows no game and no search: what it knows of a player is the lines that
//! its process writes.

mod clock;
mod cores;
mod game;
mod keeper;
mod opening;
mod played;
mod player;
mod proof;
mod seat;
pub mod statistics;
mod summary;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use plyd_protocol::Settings;

use crate::engine::AnyRoot;

pub use clock::TimeControl;
pub use cores::{Cores, CoresError};
pub use keeper::{Keeper, keep};
pub use opening::{NoOpening, openings};
pub use played::{Answered, Contradiction, Entrant, Forfeit, PlayedGame};
pub use player::{Address, Player, Program};
pub use seat::{Fault, FaultKind};
pub use summary::{Conduct, Summary};

use game::Referee;

/// A match between two players: each opening is played twice, with sides swapped.
pub struct Match {
    /// The rules' initial position, or another one where all games begin.
    pub start: Arc<dyn AnyRoot>,
    /// The rules that were given, as the players are told them.
    pub rules: Settings,
    /// The players: the first is the one whose score is told.
    pub players: [Player; 2],
    /// A position for each pair of games, reached from `start`.
    pub openings: Vec<Arc<dyn AnyRoot>>,
    /// How strict the referee is.
    pub strictness: Strictness,
    /// The seed of chance and of the players' own choices.
    pub seed: u64,
    /// How many games are played at once.
    pub concurrency: usize,
    /// The cores of games that are played at once; none: the system decides.
    pub cores: Option<Cores>,
    /// What ends the players' processes if this one is killed; none: they see the end of their input.
    pub keeper: Option<Keeper>,
}

/// What the referee allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strictness {
    /// How much later than its clock an answer may arrive.
    pub margin: Duration,
    /// How long beyond its clock and the margin an answer is waited for; also the wait for any other answer.
    pub patience: Duration,
    /// The moves after the opening at which a game that goes on is a draw.
    pub max_moves: usize,
    /// Which games end before their rules end them.
    pub adjudication: Adjudication,
}

/// When the referee decides a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Adjudication {
    /// Never.
    #[default]
    Never,
    /// When the latest answers of both players announce the same proven end.
    Proof,
}

/// A player that does not even begin.
#[derive(Debug, thiserror::Error)]
#[error("the player `{player}` cannot play: {fault}")]
pub struct StartError {
    /// The player's name.
    pub player: String,
    /// Why.
    pub fault: Fault,
}

impl Match {
    /// How many games there are.
    #[must_use]
    pub fn games(&self) -> usize {
        2 * self.openings.len()
    }

    /// Starts each player once, to tell mistakes in its options before a game is lost by them.
    ///
    /// # Errors
    /// The first player that does not take the game.
    pub fn try_players(&self) -> Result<(), StartError> {
        let mut referee = Referee::new(self, 0);
        (0..self.players.len()).try_for_each(|index| {
            let player = self.players[index].name.clone();
            referee.begin(index, self.seed).map_err(|fault| StartError { player, fault })
        })
    }

    /// Plays all games and gives each to `finished` when it ends; games that are played at once end in any order.
    ///
    /// # Errors
    /// The first error of `finished`, after which no further game begins.
    pub fn run<E>(&self, mut finished: impl FnMut(PlayedGame) -> Result<(), E>) -> Result<(), E> {
        let next = AtomicUsize::new(0);
        let (sender, played) = mpsc::channel();
        thread::scope(|scope| {
            for place in 0..self.concurrency.min(self.games()) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    let mut referee = Referee::new(self, place);
                    let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
                    for number in numbers.take_while(|number| *number < self.games()) {
                        if sender.send(referee.play(number)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            // Owned by the loop, so that an error closes the channel and the referees see it.
            played.into_iter().try_for_each(&mut finished)
        })
    }
}
