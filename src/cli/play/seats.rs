//! Who sits at a side: the person at the keyboard, or a player of the engine.

use crate::arena::Address;
use crate::cli::{parse, position};
use crate::engine::Entry;
use plyd_protocol::{Player, Setting, Settings};

/// The name of the person, in commands and records.
pub(super) const ME: &str = "me";

/// Who plays a side.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Seat {
    /// The person at the keyboard.
    Me,
    /// A player, with options of its own.
    Engine(Settings),
}

impl Seat {
    /// The engine with its default options.
    pub(super) fn engine() -> Self {
        Self::Engine(Settings::new())
    }

    /// Reads `me`, or a player's name with options: `minimax,depth=3`.
    ///
    /// # Errors
    /// A sentence that says how a player is written. Whether there is such a player, the server knows.
    pub(super) fn read(entry: &Entry, text: &str) -> Result<Self, String> {
        let text = text.trim();
        if ["me", "you", "human", "i"].contains(&text.to_lowercase().as_str()) {
            return Ok(Self::Me);
        }
        let mut given = Vec::new();
        for (index, part) in text.split(',').map(str::trim).enumerate() {
            match parse::assignment(part) {
                Ok((name, _)) if name == "cmd" || Address::WAYS.contains(&name.as_str()) => {
                    return Err(format!(
                        "`{part}`: `plyd arena` plays programs and servers against each other; to play against a \
                         server here, start with `--connect`"
                    ));
                }
                Ok(setting) => given.push(setting),
                Err(_) if index == 0 && !part.is_empty() && !part.contains('=') => {
                    given.push(("player".to_owned(), part.to_owned()));
                }
                Err(_) => {
                    return Err(format!(
                        "`{part}` is no option; say `me`, or a player such as `minimax,depth=3`"
                    ));
                }
            }
        }
        Ok(Self::Engine(position::option_settings(entry, &given)))
    }

    /// Whether the person plays.
    pub(super) fn is_me(&self) -> bool {
        *self == Self::Me
    }

    /// The player's own options.
    pub(super) fn own(&self) -> Settings {
        match self {
            Self::Me => Settings::new(),
            Self::Engine(own) => own.clone(),
        }
    }

    /// The same player without options of its own that all players have.
    pub(super) fn under(self, common: &Settings) -> Self {
        match self {
            Self::Me => Self::Me,
            Self::Engine(own) => {
                let kept = own.0.into_iter().filter(|(name, _)| common.get(name).is_none());
                Self::Engine(Settings(kept.collect()))
            }
        }
    }

    /// The player's options over those that all players have.
    pub(super) fn options(&self, common: &Settings) -> Settings {
        Settings(common.0.clone().into_iter().chain(self.own().0).collect())
    }

    /// The name in records and headings, such as `me` or `default,level=3`.
    pub(super) fn name(&self, common: &Settings) -> String {
        if self.is_me() {
            return ME.to_owned();
        }
        let options = self.options(common);
        let player = options.get("player").map_or_else(|| "default".to_owned(), text);
        let others = options.iter().filter(|(name, _)| *name != "player");
        others.fold(player, |name, (option, value)| format!("{name},{option}={}", text(value)))
    }
}

fn text(value: &Setting) -> String {
    crate::cli::words::setting(value)
}

/// A side as an index: p1 is 0.
pub(super) fn index(player: Player) -> usize {
    usize::from(player == Player::P2)
}

/// The side of an index.
pub(super) fn player(index: usize) -> Player {
    if index == 0 { Player::P1 } else { Player::P2 }
}

/// The other side.
pub(super) fn other(side: Player) -> Player {
    player(1 - index(side))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::registry;

    #[test]
    fn players_are_read_and_named_alike() {
        let entry = registry::game("isolation").unwrap();
        let level = Settings::from_iter([("level", 3)]);
        for (read, named) in [
            ("me", "me"),
            ("You", "me"),
            ("default", "default,level=3"),
            ("minimax, depth=2", "minimax,depth=2,level=3"),
            ("eval=mobility,level=5", "default,eval=mobility,level=5"),
        ] {
            assert_eq!(Seat::read(entry, read).unwrap().name(&level), named, "{read}");
        }
        for text in ["cmd=./bot", "default,cmd=./bot", "tcp=localhost:7117"] {
            assert!(Seat::read(entry, text).unwrap_err().contains("plyd arena"), "{text}");
        }
        let own = Seat::read(entry, "default,level=5,threads=2").unwrap();
        assert_eq!(own.under(&level).name(&level), "default,level=3,threads=2");
        for text in ["", ",", "default,,", "default,fast"] {
            assert!(Seat::read(entry, text).unwrap_err().contains("minimax,depth=3"), "{text}");
        }
    }
}
