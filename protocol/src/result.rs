//! The bodies of `result` messages, one type per command; those with more in them have files of their own
//! (`inspect`, `limits`, `operate`, `status`).

use crate::operate::{ConnectionsResult, DisconnectResult};
use crate::{InspectResult, Limits, Resumable, Seed, Settings, StatusResult, ToMove};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The final answer to a request that is no `go`.
///
/// ```
/// use plyd_protocol::{ResultBody, ResultMessage};
///
/// let result: ResultMessage = serde_json::from_str(r#"{"id":"1","of":"ping","echo":"hi"}"#)?;
/// let ResultBody::Ping(ping) = result.body else { panic!("another command was answered") };
/// assert_eq!(ping.echo.as_deref(), Some("hi"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultMessage {
    /// The id of the request.
    pub id: String,
    /// What was asked for.
    #[serde(flatten)]
    pub body: ResultBody,
}

/// The body of a result, by the `cmd` of its request, which `of` repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "lowercase")]
pub enum ResultBody {
    /// Of `hello`.
    Hello(Box<HelloResult>),
    /// Of `ping`.
    Ping(PingResult),
    /// Of `describe`.
    Describe(DescribeResult),
    /// Of `newgame`.
    NewGame(NewGameResult),
    /// Of `setoption`.
    SetOption(SetOptionResult),
    /// Of `close`.
    Close(CloseResult),
    /// Of `inspect`.
    Inspect(Box<InspectResult>),
    /// Of `update`.
    Update(UpdateResult),
    /// Of `stop`.
    Stop(StopResult),
    /// Of `status`.
    Status(StatusResult),
    /// Of `connections`.
    Connections(ConnectionsResult),
    /// Of `disconnect`.
    Disconnect(DisconnectResult),
    /// Of `quit`.
    Quit(QuitResult),
}

/// The server and what it offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HelloResult {
    /// The protocol version of this connection: the highest common one.
    pub protocol: u32,
    /// Who the server is.
    pub server: Server,
    /// What the server can do beyond the protocol's core.
    pub features: Vec<String>,
    /// The names of the games.
    pub games: Vec<String>,
    /// The server's limits.
    pub limits: Limits,
    /// That the connection is kept when it loses its socket, if it was asked for and there is room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resumable>,
}

/// Who a server is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A sign of life.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PingResult {
    /// The `echo` of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<String>,
}

/// What the server can do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DescribeResult {
    /// The description; its shape depends on `what`.
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::describe::body"))]
    pub body: serde_json::Value,
}

/// An open session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NewGameResult {
    /// The session's name.
    pub session: String,
    /// The game.
    pub game: String,
    /// The rules in force, all of them.
    pub rules: Settings,
    /// The options in force, all of them.
    pub options: Settings,
    /// The seed given or drawn.
    pub seed: Seed,
    /// Who moves first.
    pub to_move: ToMove,
}

/// Options after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SetOptionResult {
    /// The session; absent: the connection's defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The options in force.
    pub options: Settings,
}

/// A closed session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CloseResult {
    /// The session's name.
    pub session: String,
    /// The connection whose session it was, if the request named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<u64>,
}

/// What an `update` or a `stop` did. An ordinary race is one of these, never an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The search goes on with what was set.
    Updated,
    /// The search ends; its final message follows.
    Stopping,
    /// The final message came before.
    AlreadyFinished,
    /// The target is neither running nor among the last 1,024 finished.
    Unknown,
}

/// The effect of an `update`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateResult {
    /// `updated`, `already_finished` or `unknown`.
    pub effect: Effect,
}

/// The effect of a `stop`.
///
/// ```
/// use plyd_protocol::{Effect, StopResult};
///
/// let result: StopResult = serde_json::from_str(r#"{"effect":"already_finished","targets":[]}"#)?;
/// assert_eq!(result.effect, Effect::AlreadyFinished, "the answer crossed the `stop`");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StopResult {
    /// `stopping`, `already_finished` or `unknown`.
    pub effect: Effect,
    /// The ids of the searches and questions that this `stop` ends, in the order of their arrival.
    pub targets: Vec<String>,
}

/// The last message of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct QuitResult {}
