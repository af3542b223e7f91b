//! The games of this process, and their names as arguments.
//!
//! They are set once, before the command line is parsed: the parser turns a game's name into its entry, and
//! lists the names in help texts and completion scripts. It can know them from a value of the process alone.

use std::sync::OnceLock;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::failure::Failure;
use crate::engine::Entry;
use crate::games::REGISTRY;

static GAMES: OnceLock<Vec<&'static Entry>> = OnceLock::new();

/// Sets the games of this process.
///
/// # Panics
/// If there are none, if two have the same name, or if the games were set or read before.
pub(super) fn set(games: &[&'static Entry]) {
    assert!(!games.is_empty(), "a plyd needs a game");
    for (index, entry) in games.iter().enumerate() {
        let is_new = games[..index].iter().all(|other| other.name != entry.name);
        assert!(is_new, "two games are called `{}`", entry.name);
    }
    assert!(GAMES.set(games.to_vec()).is_ok(), "the games of a process are set once, before they are read");
}

/// The games, in the order in which they are listed; plyd's own if none were set.
pub(super) fn games() -> &'static [&'static Entry] {
    GAMES.get_or_init(|| REGISTRY.to_vec())
}

/// The game of that name.
///
/// # Errors
/// There is none; the sentence lists those that there are.
pub(super) fn game(name: &str) -> Result<&'static Entry, Failure> {
    find(name).ok_or_else(|| {
        let names: Vec<&str> = names().collect();
        Failure::Usage(format!("there is no game `{name}`; there are: {}", names.join(", ")))
    })
}

/// Reads a game's name as an argument.
pub(super) fn parser() -> impl TypedValueParser<Value = &'static Entry> {
    PossibleValuesParser::new(names()).map(|name| find(&name).expect("the parser takes these names alone"))
}

fn find(name: &str) -> Option<&'static Entry> {
    games().iter().copied().find(|entry| entry.name == name)
}

fn names() -> impl Iterator<Item = &'static str> {
    games().iter().map(|entry| entry.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_game_is_answered_with_the_known_ones() {
        let Err(Failure::Usage(message)) = game("no_such_game") else { panic!("there is no such game") };
        assert!(REGISTRY.iter().all(|entry| message.contains(entry.name)), "{message}");
    }

    #[test]
    #[should_panic(expected = "two games are called `l-game`")]
    fn names_are_given_once() {
        set(&[REGISTRY[0], REGISTRY[1], REGISTRY[0]]);
    }
}
