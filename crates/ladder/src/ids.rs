//! The numbers by which a ladder knows what it keeps. Each counts from 1 and is given once.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// A bot by its number.
    BotId;
    /// An owner of bots.
    OwnerId;
    /// A pool: bots of one game, one set of rules and one clock.
    PoolId;
    /// A season: the time in which games count for one table.
    SeasonId;
    /// A pair of games of one opening with sides swapped.
    EncounterId;
    /// A game. The games of encounter n are 2n - 1 and 2n, as in a match of the arena.
    GameId;
}

impl EncounterId {
    /// Its games, in the order in which they are played.
    ///
    /// ```
    /// use plyd_ladder::{EncounterId, GameId};
    ///
    /// assert_eq!(EncounterId(3).games(), [GameId(5), GameId(6)]);
    /// assert_eq!(GameId(5).encounter(), GameId(6).encounter());
    /// ```
    #[must_use]
    pub fn games(self) -> [GameId; 2] {
        [GameId(2 * self.0 - 1), GameId(2 * self.0)]
    }
}

impl GameId {
    /// The pair of games that it belongs to.
    #[must_use]
    pub fn encounter(self) -> EncounterId {
        EncounterId(self.0.div_ceil(2))
    }

    /// Whether it is the second one of its pair, with sides swapped.
    #[must_use]
    pub fn is_second(self) -> bool {
        self.0.is_multiple_of(2)
    }

    /// The name of the game in what its bots are sent (`x_game`).
    #[must_use]
    pub fn name(self) -> String {
        format!("g{}", self.0)
    }

    /// The other game of the pair.
    #[must_use]
    pub fn partner(self) -> Self {
        Self(if self.is_second() { self.0 - 1 } else { self.0 + 1 })
    }
}
