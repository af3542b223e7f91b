//! Games between bots that dial in: their connections, who is there, and the table at which two of them play.
//!
//! It knows no database: whose a token is, an [`Authenticator`] says, and what happens at a table goes to a
//! [`Recorder`]. Which two meet is decided elsewhere, from what [`Bots::ready`] lists.
//!
//! The tasks run on tokio, of which one thread is enough. They read and write; rules are computed on the
//! runtime's blocking threads, and the moves of the ladder's own players on those of the [`House`], so that a
//! line is stamped when it arrives.

mod admission;
mod bots;
mod house;
mod input;
mod line;
mod link;
mod lobby;
mod recorder;
mod table;
#[cfg(test)]
mod tests;

pub use admission::{Admitted, Authenticator, Refusal};
pub use bots::{Bots, Ready, SeatGuard, offers};
pub use house::{House, HousePlayer};
pub(crate) use input::Pace;
pub use link::{Closed, ClosedKind, FinalAnswer, Link, PendingRequest};
pub use lobby::{Lobby, Settings};
pub use recorder::{Event, Recorder, Stopped};
pub(crate) use table::later;
pub use table::{Game, Network, Resumed, Seat, Table};
