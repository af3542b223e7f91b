//! Who sees the games of a match as they are played. It knows what a referee knows, and changes nothing.

use super::referee::Play;
use super::schedule::ScheduledGame;

/// Sees the games of a match as they are played.
pub trait Spectator: Send + Sync {
    /// A game at one of the tables that play beside each other, counted from 0, is as far as this: it begins,
    /// anew if a server was overloaded, a turn was played, or it is over.
    ///
    /// The next player is asked after this returns, so it must not wait for anybody.
    fn see(&self, table: usize, scheduled: ScheduledGame, play: &Play);
}
