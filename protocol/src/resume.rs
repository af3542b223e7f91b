//! Connections that outlive their sockets: how `hello` asks for that, or takes such a connection up, and what
//! the answer says.

#[cfg(feature = "schema")]
use std::borrow::Cow;

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::{MAX_INT, MAX_TOKEN};

/// What `hello` wants of a connection that outlives its socket.
///
/// ```
/// use plyd_protocol::{Hello, Resume, Versions};
///
/// let protocol = Versions { min: 1, max: 1 };
/// // After the socket broke: with the token that the server gave, and the last message that came.
/// let resume = Some(Resume::Take { token: "0123".to_owned(), seq: Some(17) });
/// let hello = Hello { protocol, resume, ..Hello::default() };
/// assert_eq!(
///     serde_json::to_string(&hello)?,
///     r#"{"protocol":{"min":1,"max":1},"resume":{"token":"0123","seq":17}}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Resume {
    /// That this connection becomes one.
    Keep {
        /// For how long the server is to wait for the client once the socket has broken.
        keep_ms: u64,
    },
    /// To take up one that has lost its socket.
    Take {
        /// The token that the server gave when it promised to wait.
        token: String,
        /// The last message that the client has; absent: whatever the server still has is sent again.
        #[serde(skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
    },
}

#[cfg(feature = "schema")]
impl JsonSchema for Resume {
    fn schema_name() -> Cow<'static, str> {
        "Resume".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "keep_ms": {
                    "description": "For how long the server is to wait once the socket has broken; excludes `token`.",
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_INT,
                },
                "token": {
                    "description": "The token of the connection that is taken up.",
                    "type": "string",
                    "maxLength": MAX_TOKEN,
                },
                "seq": {
                    "description": "The last message that the client has; absent: all that the server has is sent again.",
                    "type": "integer",
                    "minimum": 0,
                    "maximum": MAX_INT,
                },
            },
            "oneOf": [
                { "required": ["token"], "properties": { "keep_ms": false } },
                { "required": ["keep_ms"], "properties": { "token": false, "seq": false } },
            ],
        })
    }
}

/// The promise to wait for the client of a connection that loses its socket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Resumable {
    /// The token by which the connection is taken up, a secret; only in the answer that gives the promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// For how long the server waits.
    pub keep_ms: u64,
    /// The lines of the connection that the server read before this `hello`.
    pub lines: u64,
}
