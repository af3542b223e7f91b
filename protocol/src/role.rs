//! Clients that a server knows by name: what they may ask for, and how much of it.
//!
//! Nothing here knows which request needs which role, nor who checks it.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::OpenWord;
use crate::open::shown_as_on_the_wire;

/// What a client may ask for; each role may do what those before it may.
///
/// ```
/// use plyd_protocol::Role;
///
/// assert!(Role::Operate > Role::Play, "a role may do what those before it may");
/// assert_eq!(Role::ALL.map(|role| role.to_string()), ["play", "analyse", "operate"]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Plays games: rules, sessions, searches for a move, ponders.
    #[default]
    Play,
    /// Analyses positions, too.
    Analyse,
    /// Sees the whole server and ends what others do there, too.
    Operate,
}

impl Role {
    /// Every role, the lowest first.
    pub const ALL: [Self; 3] = [Self::Play, Self::Analyse, Self::Operate];
}

shown_as_on_the_wire!(Role);

/// A client that the server knows by name, with the limits that count over all its connections together. A
/// limit that is absent is the server's alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NamedClient {
    /// Its name.
    pub name: String,
    /// What it may ask for.
    pub role: OpenWord<Role>,
    /// Connections over sockets at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// Sessions open at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u32>,
    /// Searches at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searches: Option<u32>,
    /// Threads of these searches together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Bytes of their hash tables; and as many again for what its sessions and requests hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}
