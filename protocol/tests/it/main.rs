//! The crate from outside: what it reads, what it writes, and that the specification and the schemas say the
//! same.

// Clippy's leave for tests does not reach the functions that tests call.
#![allow(clippy::unwrap_used)]

mod agreement;
mod decode;
mod message;
mod properties;
mod readme;
mod schema;
