//! The games as tools of agents: a server of the Model Context Protocol (MCP), on standard streams and over
//! streamable HTTP, by the official SDK.
//!
//! It decides nothing about games: each tool asks a [`Daemon`](plyd_daemon::Daemon) of the same process, in
//! lines of its protocol, and hands its typed errors on, with code and pointer. Reviews and pictures alone
//! come straight from [`plyd_core`]. It knows no command line and no file.
//!
//! # Where to begin
//!
//! [`Tools`] is the server without a transport. [`serve_stdio`] speaks on the standard streams,
//! [`serve_stream`] on any other stream, and [`http::serve`] on a socket that listens. [`Bounds`] says how
//! much a call may take.
//!
//! # Layout
//!
//! In reading order: `bounds` and `error`; `arguments` (of a call), `engine` (what the daemon is asked),
//! `kept` (games between calls); `play`, `search`, `judged` and `picture` (what tools do); `catalogue` (the
//! tools as agents see them), `resources` and `prompts`; `tools` (all of it for the SDK); `connections`, and
//! `http` (who may come in over them).

#![cfg_attr(
    not(feature = "server"),
    allow(rustdoc::broken_intra_doc_links, reason = "there is nothing to link to")
)]
#![cfg(feature = "server")]

mod arguments;
mod bounds;
mod catalogue;
mod connections;
mod engine;
mod error;
pub mod http;
mod judged;
mod kept;
mod picture;
mod play;
mod prompts;
mod resources;
mod search;
mod tools;

pub use bounds::Bounds;
pub use tools::{Tools, serve_stdio, serve_stream};
