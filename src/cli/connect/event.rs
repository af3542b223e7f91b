//! What `plyd connect` reports.

use std::io::{self, Write};

use serde::Serialize;

use crate::cli::styled::shown;
use crate::cli::words;

/// Something that happened.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event<'e> {
    /// The ladder took the bot.
    Joined { bot: &'e str, concurrency: u32, games: &'e [String] },
    /// A game begins.
    Begun { name: &'e str, game: &'e str, preset: &'e str },
    /// A game has ended.
    Over { name: &'e str, outcome: &'e str, why: &'e str },
    /// A process of the bot failed.
    Failed { name: &'e str, why: &'e str },
    /// A process of the bot wrote a line that is no message, and was passed over.
    Stray { name: &'e str, line: &'e str },
    /// The ladder says something to the bot's owner.
    Notice { message: &'e str },
    /// The connection broke, or could not be had.
    Lost { why: &'e str, again_ms: u64 },
    /// The bot has left.
    Left,
}

/// A text in which the token is not shown.
pub(super) fn without(text: &str, token: &str) -> String {
    if token.is_empty() { text.to_owned() } else { text.replace(token, "hidden") }
}

impl Event<'_> {
    /// Writes it as a line, of JSON or for people, without the token that the ladder may repeat. What the
    /// ladder wrote cannot command a terminal.
    pub(super) fn write(&self, json: bool, token: &str, out: &mut impl Write) -> io::Result<()> {
        let line = if json {
            let quoted = serde_json::to_string(token)?;
            without(&serde_json::to_string(self)?, &quoted[1..quoted.len() - 1])
        } else {
            without(&self.text(), token).chars().map(shown).collect()
        };
        writeln!(out, "{line}")?;
        out.flush()
    }

    fn text(&self) -> String {
        match self {
            Self::Joined { bot, concurrency, games } => {
                let games = match games.len() {
                    0 => String::new(),
                    count => format!(", {count} in progress"),
                };
                let most = words::count(u64::from(*concurrency), "game");
                format!("joined as {bot}, {most} at most{games}")
            }
            Self::Begun { name, game, preset: "" } => format!("game {name}: {game}"),
            Self::Begun { name, game, preset } => format!("game {name}: {game} {preset}"),
            Self::Over { name, outcome, why: "" } => format!("game {name}: {outcome}"),
            Self::Over { name, outcome, why } => format!("game {name}: {outcome}, {why}"),
            Self::Failed { name: "", why } => format!("the bot failed: {why}"),
            Self::Failed { name, why } => format!("game {name}: the bot failed: {why}"),
            Self::Stray { name: "", line } => format!("the bot wrote what is no message: `{line}`"),
            Self::Stray { name, line } => format!("game {name}: the bot wrote what is no message: `{line}`"),
            Self::Notice { message } => format!("the ladder says: {message}"),
            Self::Lost { why, again_ms } => {
                format!("no connection: {why}; again in {:.1} s", *again_ms as f64 / 1000.0)
            }
            Self::Left => "left".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_the_ladder_repeats_is_not_shown() {
        for (token, json, expected) in [
            ("plyd_1", false, "the ladder says: hidden is withdrawn, \u{fffd}[2Jhidden\n"),
            (
                "plyd_1",
                true,
                "{\"event\":\"notice\",\"message\":\"hidden is withdrawn, \\u001b[2Jhidden\"}\n",
            ),
            (
                "a \"b\"",
                true,
                "{\"event\":\"notice\",\"message\":\"hidden is withdrawn, \\u001b[2Jhidden\"}\n",
            ),
        ] {
            let mut out = Vec::new();
            let message = format!("{token} is withdrawn, \u{1b}[2J{token}");
            Event::Notice { message: &message }.write(json, token, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
        assert_eq!(without("said", ""), "said");
    }
}
