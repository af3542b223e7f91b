//! What a bot that dials out sends to a ladder: who it is and what it plays, before the two change places and
//! the ladder asks it for moves; and how the ladder says that a game is over.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::settings::is_default;
use crate::{ClientInfo, Clock, Record, Versions};
#[cfg(feature = "schema")]
use crate::{MAX_TEXT, MAX_TOKEN};

/// Offers a bot to a ladder: the first line of its connection. Sent again, it says how many games the bot
/// plays from now on.
///
/// ```
/// use plyd_protocol::{Offer, OfferedGame};
///
/// let games = vec![OfferedGame { game: "isolation".into(), presets: vec!["7x7".into()] }];
/// let offer = Offer { token: "plyd_0123".into(), games, ..Offer::new() };
/// assert_eq!(
///     serde_json::to_string(&offer)?,
///     concat!(
///         r#"{"protocol":{"min":1,"max":1},"token":"plyd_0123","#,
///         r#""games":[{"game":"isolation","presets":["7x7"]}],"concurrency":1}"#,
///     ),
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Offer {
    /// The protocol versions that the bot speaks.
    pub protocol: Versions,
    /// The bot's token, which says whose it is.
    #[cfg_attr(feature = "schema", schemars(length(max = MAX_TOKEN)))]
    pub token: String,
    /// The program that dialled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientInfo>,
    /// The bot's own program, as it names itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<ClientInfo>,
    /// The games that it plays; none: all that the ladder has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub games: Vec<OfferedGame>,
    /// The clocks that it plays by, each as the first `go` of a game has it, without the opponent's; none:
    /// all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub clocks: Vec<Clock>,
    /// The most games that it plays at once; 0: no further game begins.
    #[cfg_attr(feature = "schema", schemars(range(max = u32::MAX)))]
    pub concurrency: u32,
    /// Whether each `go` is to hold the legal moves, as `x_legal`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub legal: bool,
}

/// A game of an [`Offer`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OfferedGame {
    /// The game.
    #[cfg_attr(feature = "schema", schemars(length(max = MAX_TEXT)))]
    pub game: String,
    /// The presets of its rules; none: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(inner(length(max = MAX_TEXT))))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub presets: Vec<String>,
}

/// What a ladder answers to an [`Offer`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OfferResult {
    /// The bot's name on the ladder.
    pub bot: String,
    /// The most games that it will play at once.
    pub concurrency: u32,
    /// The games of this bot that go on, by their `x_game`.
    #[serde(default)]
    pub games: Vec<String>,
    /// The ladder sends a line at least this often.
    pub heartbeat_ms: u64,
}

/// Tells a bot that one of its games is over. The bot need not understand it.
///
/// ```
/// use plyd_protocol::{Over, OverOutcome};
///
/// let line = r#"{"id":"2","cmd":"over","x_game":"g81","outcome":"won","message":"no move is left"}"#;
/// let over: Over = serde_json::from_str(line)?;
/// assert_eq!((over.x_game.as_str(), over.outcome, over.next), ("g81", OverOutcome::Won, None));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Over {
    /// The game, by its name on the ladder.
    pub x_game: String,
    /// How it ended for the bot.
    pub outcome: OverOutcome,
    /// Why, for people.
    pub message: String,
    /// The game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Record>,
    /// The game that begins for the bot now, in the place of the one that is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// How a game ended for a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OverOutcome {
    /// The bot won.
    Won,
    /// The opponent won.
    Lost,
    /// Nobody won.
    Drawn,
    /// The game does not count.
    Void,
}

impl Offer {
    /// The offer to play one game at a time, whatever the ladder has; it still needs a token.
    #[must_use]
    pub fn new() -> Self {
        Self {
            protocol: Versions { min: crate::VERSION, max: crate::VERSION },
            token: String::new(),
            client: None,
            engine: None,
            games: Vec::new(),
            clocks: Vec::new(),
            concurrency: 1,
            legal: false,
        }
    }
}

impl Default for Offer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use crate::{ClientInfo, Clock, ErrorCode, Offer, OfferedGame, decode_offer};

    /// The line of an offer with these fields.
    fn line(fields: &str) -> String {
        format!(r#"{{"id":"1","cmd":"offer","protocol":{{"min":1,"max":1}},"token":"t"{fields}}}"#)
    }

    #[test]
    fn an_offer_reads_as_it_was_written() {
        let client = Some(ClientInfo { name: Some("n".into()), version: None });
        let least = Offer { token: "t".into(), ..Offer::new() };
        let whole = Offer {
            client: client.clone(),
            engine: client,
            games: vec![
                OfferedGame { game: "isolation".into(), presets: vec!["7x7".into()] },
                OfferedGame { game: "ijk".into(), presets: Vec::new() },
            ],
            clocks: vec![Clock::PerMove { ms: 5 }, Clock::Bank { turn_ms: 1, bank_ms: 2 }],
            concurrency: 7,
            legal: true,
            ..least.clone()
        };
        for offer in [least, whole] {
            let mut value = serde_json::to_value(&offer).unwrap();
            value["id"] = "9".into();
            value["cmd"] = "offer".into();
            value["x_more"] = "skipped".into();
            assert_eq!(decode_offer(value.to_string().as_bytes()).unwrap(), ("9".to_owned(), offer));
        }
    }

    #[test]
    fn an_offer_that_is_wrong_is_refused_with_its_place() {
        for (line, code, pointer) in [
            ("offer".to_owned(), ErrorCode::BadJson, None),
            (r#"{"cmd":"offer"}"#.to_owned(), ErrorCode::MissingField, Some("/id")),
            (r#"{"id":"1","cmd":"go"}"#.to_owned(), ErrorCode::UnknownCmd, Some("/cmd")),
            (r#"{"id":"1","cmd":"offer"}"#.to_owned(), ErrorCode::MissingField, Some("/protocol")),
            (line(r#","more":1"#), ErrorCode::UnknownField, Some("/more")),
            (line(r#","concurrency":-1"#), ErrorCode::OutOfRange, Some("/concurrency")),
            (line(r#","concurrency":1.5"#), ErrorCode::NotInteger, Some("/concurrency")),
            (line(r#","games":["ijk"]"#), ErrorCode::WrongType, Some("/games/0")),
            (line(r#","games":[{"presets":[]}]"#), ErrorCode::MissingField, Some("/games/0/game")),
            (
                line(r#","games":[{"game":"ijk","presets":[7]}]"#),
                ErrorCode::WrongType,
                Some("/games/0/presets/0"),
            ),
            (line(r#","clocks":[{"kind":"sand"}]"#), ErrorCode::BadEnum, Some("/clocks/0/kind")),
            (line(r#","legal":"yes""#), ErrorCode::WrongType, Some("/legal")),
            (line(r#","token":"u""#), ErrorCode::BadJson, None),
        ] {
            let fault = decode_offer(line.as_bytes()).unwrap_err();
            assert_eq!((fault.code, fault.pointer.as_deref()), (code, pointer), "{line}");
        }
    }
}
