//! Who sees the games of a match as they are played: it sees what the referee knows, and changes nothing.

use super::referee::Play;
use super::schedule::ScheduledGame;

/// Sees the games of a match as they are played.
pub trait Spectator: Send + Sync {
    /// Called when a game begins (again, if a server was overloaded), after each turn, and when the game is
    /// over. `table` counts those that play beside each other from 0.
    ///
    /// The next player is asked after this returns, so it must not wait for anybody.
    fn see(&self, table: usize, scheduled: ScheduledGame, play: &Play);
}
