//! The client's end of plyd's protocol: it speaks to a program that it starts, or to a server at an address.
//!
//! It knows the wire format and no game, and trusts no peer: a peer that ends, writes without end or sends
//! nonsense causes a typed error, and no call waits past its deadline. The programs that it starts end with
//! it.
//!
//! # Where to begin
//!
//! - *To play and analyse*: [`blocking::Engine`], or the async `Engine` with the feature `tokio`. They differ
//!   only in how they wait.
//! - *To speak the protocol by hand*: [`Client`] for messages, [`Lines`] for lines.
//! - *To start programs that end with this one, however it ends*: [`Reaper`].

mod address;
pub mod blocking;
mod client;
// Without tokio only the blocking engine uses it.
#[cfg_attr(not(feature = "tokio"), allow(unreachable_pub, reason = "public with tokio"))]
mod engine;
mod error;
mod game;
mod legal;
mod limit;
mod lines;
mod messages;
#[cfg(feature = "tokio")]
mod on_tokio;
mod peer;
mod process;
mod reaper;
mod retry;
mod secure;
mod system;
mod wait;
// The WebSocket of `Lines`, which the conformance suite and the benches speak by hand too.
#[doc(hidden)]
pub mod websocket;

pub use address::{Address, Program};
pub use client::{Answer, Client, LONGEST_ANSWER, Received};
pub use engine::greeting;
#[cfg(feature = "tokio")]
pub use engine::{Engine, Search};
pub use error::{ClientError, Error, LineError};
pub use game::Game;
pub use legal::with_legal;
pub use limit::Limit;
pub use lines::{Lines, ReceivedLine};
pub use messages::{is_final, is_final_json, is_final_type, message_id};
pub use process::Process;
pub use reaper::{Launch, Reaper};
// What the command `plyd reaper` is made of.
#[doc(hidden)]
pub use reaper::{Starter, join, reap};
pub use retry::Retry;
pub use secure::Secured;
// What wakes a thread that waits for a server beside other things.
#[doc(hidden)]
pub use system::{WakeupReader, WakeupWriter, wakeup};

// The README's program is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
