//! The daemon from outside and from inside, with a game made for it.

pub(crate) mod accepting;
mod chaos;
mod fake;
mod lessons;
mod network;
mod probes;
mod reload;
mod script;
mod service;
mod streams;
mod web;
