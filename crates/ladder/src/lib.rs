//! The core of a ladder on which bots compete: how strong they are, and who plays whom next.
//!
//! It knows no network, no clock and no game: results, times and seeds are arguments, and the same arguments
//! give the same answer, so that ratings can be computed anew from the records. With the feature `server` it
//! keeps all of it in a database, `store`, which nothing else here knows.
//!
//! # Where to begin
//!
//! A [`Matchmaker`](pairing::Matchmaker) says which bots meet. Each [`Encounter`](pairing::Encounter) is a
//! pair of games of one opening with sides swapped, whose result moves both ratings at once
//! ([`Glicko2`](ratings::glicko::Glicko2)) and joins the [`Results`](ratings::table::Results), of which the
//! [`table`](ratings::table::table) is made.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use plyd_ladder::BotId;
//! use plyd_ladder::ratings::table::{Place, Results, table};
//!
//! let (house, bot) = (BotId(1), BotId(2));
//! let mut results = Results::default();
//! for half_points in [3, 2, 4, 3, 1, 2, 3, 4] {
//!     results.add_pair([bot, house], half_points);
//! }
//! let rows = table(&results, &BTreeMap::from([(house, 1500.0)]));
//! let Place::Rated(elo) = rows[0].place else { panic!("it met the anchor") };
//! assert_eq!((rows[0].bot, elo.value > 1500.0), (bot, true));
//! println!("{:.0} Elo, a 95 % interval of {:.0} around it", elo.value, elo.error);
//! ```

/// What the log lines of a ladder are about.
#[cfg(feature = "server")]
pub const LOG: &str = "plyd::ladder";

#[cfg(feature = "server")]
mod clock;
pub mod game;
mod ids;
#[cfg(feature = "server")]
pub mod live;
#[cfg(feature = "server")]
pub mod pages;
pub mod pairing;
#[cfg(feature = "server")]
pub mod play;
#[cfg(feature = "server")]
mod rates;
pub mod ratings;
#[cfg(feature = "server")]
mod requester;
#[cfg(feature = "server")]
pub mod serve;
#[cfg(feature = "server")]
pub mod store;
pub mod terms;
#[cfg(feature = "server")]
#[cfg(test)]
mod test_bot;

#[cfg(feature = "server")]
pub use clock::{now_ms, utc};
pub use ids::{BotId, EncounterId, GameId, OwnerId, PoolId, SeasonId};
