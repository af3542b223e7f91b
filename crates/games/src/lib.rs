//! The games that plyd plays: a crate each, in a folder beside this one's `src`, and one line each in the
//! [`REGISTRY`].
//!
//! # Where to begin
//!
//! Find a game by its name, or name its entry, such as [`isolation::ENTRY`]; everything else is done by
//! [`plyd_core::play`]:
//!
//! ```
//! use std::time::Duration;
//!
//! use plyd_core::options::Options;
//! use plyd_core::play::{Player, Position, SearchLimits};
//! use plyd_core::search::Control;
//!
//! let game = plyd_games::find("isolation").ok_or("there is no such game")?;
//! let pos = Position::start(game).play("d4")?.play("b3")?;
//! println!("{} moves, among them {}", pos.legal().len(), pos.legal()[0]);
//!
//! // A search with limits, which reports each better line.
//! let mut player = Player::new(&pos, &Options { hash_mb: 64, ..Options::default() })?;
//! let time = Some(Duration::from_millis(50));
//! let limits = SearchLimits { time, multipv: 2, ..SearchLimits::default() };
//! let answer = player.search(&pos, &limits, &Control::default(), |lines| {
//!     println!("depth {}: {}", lines[0].depth, lines[0].pv.join(" "));
//! })?;
//! println!("{} after {} nodes", answer.mv(), answer.stats.nodes);
//!
//! // A search without limits, which another thread stops.
//! let control = Control::default();
//! let answer = std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         std::thread::sleep(Duration::from_millis(20));
//!         control.stop();
//!     });
//!     player.search(&pos, &SearchLimits::default(), &control, |_| ())
//! })?;
//! assert!(pos.legal().iter().any(|mv| mv == answer.mv()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The rules of a game are also available as types, for a program that needs no texts: `isolation::rules` and
//! the like, with [`plyd_core::game::Game`] and the searches that are generic over it.

use plyd_core::engine::Entry;

#[cfg(test)]
mod drafts;
#[cfg(test)]
mod tests;

/// The game of that name.
///
/// ```
/// assert_eq!(plyd_games::find("l-game").map(|game| game.name), Some("l-game"));
/// assert!(plyd_games::find("no_such_game").is_none());
/// ```
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    REGISTRY.iter().copied().find(|entry| entry.name == name)
}

/// The crate of each game as a module, and all of them as a list.
macro_rules! games {
    ($($module:ident = $package:ident,)*) => {
        $(pub use $package as $module;)*

        /// Every game that plyd plays, in the order in which they are listed.
        ///
        /// ```
        /// for game in plyd_games::REGISTRY {
        ///     println!("{}: {}", game.name, game.about);
        /// }
        /// ```
        pub static REGISTRY: &[&Entry] = &[$(&$module::ENTRY),*];
    };
}

games! {
    l_game = plyd_l_game,
    isolation = plyd_isolation,
    sudoku = plyd_sudoku,
    colosseum = plyd_colosseum,
    ijk = plyd_ijk,
}
