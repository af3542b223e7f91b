//! The wire of plyd's protocol, and the only place that knows it.
//!
//! The crate holds plain data types for every request ([`Request`]) and every message ([`Message`]), a strict
//! decoder for request lines ([`decode`]) and the JSON Schema of both directions ([`schemas`]). It knows no
//! game, no session and no transport: whether a move is legal, a session open or a token right is for the
//! daemon to say. The specification for authors of clients is this crate's `README.md`.
//!
//! # Where to begin
//!
//! A client writes a [`Request`] a line and reads an [`Envelope`] a line:
//!
//! ```
//! use plyd_protocol::{Clock, Command, Envelope, GameRef, Go, Message, Position, Request, Settings};
//!
//! let game = GameRef::Game { game: "isolation".into(), rules: Settings::new() };
//! let clock = Some(Clock::PerMove { ms: 100 });
//! let command = Command::Go(Box::new(Go { clock, ..Go::new(game, Position::default()) }));
//! let line = serde_json::to_string(&Request { id: "1".into(), command })?;
//! assert!(line.starts_with(r#"{"id":"1","cmd":"go","game":"isolation","#));
//!
//! let line = r#"{"seq":1,"t_us":9,"type":"result","id":"1","of":"ping"}"#;
//! let answer = Envelope::read(line.as_bytes())?;
//! assert!(matches!(answer.message, Message::Result(result) if result.id == "1"));
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! The crate `plyd-client` does that over processes and sockets. A server reads its lines with [`framing`],
//! and each by [`decode`].

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod board;
mod causes;
mod decode;
mod describe;
mod echo;
mod edits;
mod error;
mod fields;
// What plyd's own ends of a connection and its fuzz targets share: no part of the protocol's interface.
#[cfg(feature = "websocket")]
#[doc(hidden)]
pub mod frames;
pub mod framing;
mod hex;
mod inspect;
mod json;
mod limits;
mod line;
mod message;
// What plyd's own servers share: no part of the protocol's interface.
#[cfg(feature = "server")]
#[doc(hidden)]
pub mod newcomers;
mod offer;
mod open;
mod operate;
mod outcome;
mod position;
mod record;
mod request;
mod result;
mod resume;
mod role;
mod schema;
#[cfg(feature = "schema")]
mod schema_of_types;
mod search;
mod settings;
// The same.
#[cfg(feature = "server")]
#[doc(hidden)]
pub mod signals;
mod size;
mod status;
#[cfg(feature = "server")]
#[doc(hidden)]
pub mod write_timeout;

pub use board::{Board, Cell, Grid, Layer, Mark, Piece, Side, Wall};
// What plyd's own crates say of errors of libraries.
#[doc(hidden)]
pub use causes::with_causes;
pub use decode::{DecodeError, decode, decode_offer};
pub use describe::{
    GameInfo, GameSummary, LessonStep, LevelRating, LevelsInfo, Schemas, SettingInfo, SettingKind, Word,
};
pub use echo::{echo, kind_of, pointer};
pub use edits::{Edit, EditChoice, EditFault, Edits};
pub use error::{ErrorClass, ErrorCode};
pub use hex::{Hash, ParseHexError, Seed};
pub use inspect::{Actions, Book, BookMove, ChanceInfo, InspectResult, MoveInfo, Replies, ToMove};
pub use limits::{Guarantees, Limits};
pub use line::{Bound, Line, Proof, ProofOutcome, Score, Stats, Timing};
pub use message::{BestMove, Envelope, ErrorMessage, Info, Message, Notice, NoticeKind, Reason};
// How the daemon numbers messages that it has serialised already.
#[doc(hidden)]
pub use message::{splice, stamp};
pub use offer::{Offer, OfferResult, OfferedGame, Over, OverOutcome};
pub use open::OpenWord;
pub use operate::{
    ConnectionInfo, ConnectionState, Connections, ConnectionsResult, Disconnect, DisconnectResult,
    DisconnectTarget, SearchInfo, SearchState, SessionInfo,
};
pub use outcome::{Outcome, Player};
pub use position::{GameRef, Position};
pub use record::Record;
pub use request::{
    ClientInfo, Close, Command, Describe, DescribeWhat, Hello, Inspect, NewGame, OnEof, Ping, Quit, QuitMode,
    Request, SetOption, Status, Versions, Want,
};
pub use result::{
    CloseResult, DescribeResult, Effect, HelloResult, NewGameResult, PingResult, QuitResult, ResultBody,
    ResultMessage, Server, SetOptionResult, StopResult, UpdateResult,
};
pub use resume::{Resumable, Resume};
pub use role::{NamedClient, Role};
pub use schema::schemas;
#[cfg(feature = "schema")]
pub use schema_of_types::{ladder_schemas_of_types, schemas_of_types};
pub use search::{Clock, Go, InfoEvent, InfoRequest, Limit, Mode, Stop, StopTarget, Update, UpdateMode};
pub use settings::{Setting, Settings};
// What the daemon counts a request's memory with.
#[doc(hidden)]
pub use size::decoded_bound;
pub use status::{Counters, StatusResult};

/// The protocol version that this crate speaks.
pub const VERSION: u32 = 1;
/// The longest line in bytes, its line end not counted.
pub const MAX_LINE: usize = 1 << 20;
/// The longest line in bytes before `hello` where `hello` must come first.
pub const MAX_FIRST_LINE: usize = 16 << 10;
/// The deepest nesting of objects and arrays, the outermost object counted.
pub const MAX_DEPTH: usize = 32;
/// The largest magnitude of an integer on the wire, 2^53 - 1.
pub const MAX_INT: i64 = (1 << 53) - 1;
/// The longest id or session name in characters.
pub const MAX_ID: usize = 64;
/// The longest `echo`, `client.name`, `client.version` or required feature in characters.
pub const MAX_TEXT: usize = 1024;
/// The longest `token` in characters.
pub const MAX_TOKEN: usize = 4096;
/// The characters of client text that a message or a pointer repeats at most.
pub const MAX_ECHO: usize = 64;
/// The number of finished ids that a connection remembers, to answer `already_finished`.
pub const FINISHED_IDS: usize = 1024;
/// The most lines a search can be asked for (`multipv`).
pub const MAX_MULTIPV: u32 = 1000;
/// The deepest depth limit.
pub const MAX_SEARCH_DEPTH: u32 = 1000;
/// The most moves to the next time control (`moves_to_go`).
pub const MAX_MOVES_TO_GO: u32 = 10_000;
/// The highest protocol version that `hello` can name.
pub const MAX_VERSION: u32 = 65_535;
/// The unsent bytes at which a connection is closed.
pub const MAX_UNSENT: usize = 8 << 20;
