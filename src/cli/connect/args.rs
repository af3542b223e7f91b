//! What `plyd connect` is given, and what it offers to the ladder of that.

use std::ffi::OsString;
use std::path::PathBuf;

use plyd_protocol::{self as wire, Clock, Offer, OfferedGame};

use crate::arena::GameClock;
use crate::cli::failure::Failure;
use crate::cli::token_file::read_token;
use crate::cli::{clock, parse};
use crate::client::Address;

/// The most games at once.
pub(super) const MOST_GAMES: i64 = 64;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd connect wss://ladder.example --token-file bot.token
                                                   plyd plays whatever the ladder has
  plyd connect tls://ladder.example:7127 --token-file bot.token --game {isolation} --concurrency 2
  plyd connect tcp=127.0.0.1:7127 --token-file bot.token --game isolation:7x7 --option level=5
  plyd connect tcp=127.0.0.1:7127 --token-file bot.token --legal -- python3 bot.py
                                                   any program that speaks the protocol on stdin and stdout

The ladder asks for moves, and the bot answers. If the connection breaks, it dials again, and the games go on. \
After SIGTERM or Ctrl-C it begins no further game, and ends after those in progress; a second one ends it at once.

A program of your own needs to answer only `go`; with --legal each `go` holds the legal moves as `x_legal`. One process \
is started for each game that may be played at once.")]
pub(in crate::cli) struct Args {
    /// The ladder: wss://HOST[:PORT], tls://HOST:PORT or unix=PATH; on this machine also ws:// and tcp://
    #[arg(value_name = "URL", value_parser = ladder)]
    pub(super) ladder: Address,
    /// The bot's token, in a file
    #[arg(long, value_name = "FILE")]
    pub(super) token_file: PathBuf,
    /// A game that it plays, with a preset of its rules if it plays that one alone [default: all that the
    /// ladder has]
    #[arg(long = "game", value_name = "GAME[:PRESET]", value_parser = game)]
    pub(super) games: Vec<OfferedGame>,
    /// A clock that it plays by: tc=5m+3s, time=100ms and the like [default: all]
    #[arg(long = "clock", value_name = "CLOCK", value_parser = start_clock)]
    pub(super) clocks: Vec<Clock>,
    /// The most games at once, 1 to 64
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MOST_GAMES))]
    pub(super) concurrency: u32,
    /// Get the legal moves with each `go`, as `x_legal`
    #[arg(long)]
    pub(super) legal: bool,
    /// An option of the bot, such as level=5
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = parse::assignment)]
    pub(super) options: Vec<(String, String)>,
    /// Append each game that ends to this file, as a record for `plyd show`
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Send the token unencrypted to another machine
    #[arg(long)]
    pub(super) insecure: bool,
    /// Print what happens as lines of JSON
    #[arg(long)]
    pub(super) json: bool,
    /// The program that plays, and its arguments [default: plyd]
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

/// Reads the address of a ladder. A URL without a port has that of HTTPS.
pub(in crate::cli) fn ladder(text: &str) -> Result<Address, String> {
    if let Some((pages, rest)) = text.split_once("://")
        && let Some((_, way)) =
            [("http", "ws"), ("https", "wss")].into_iter().find(|(http, _)| *http == pages)
    {
        let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
        return Err(format!("that is where its pages are; a bot dials {way}://{place}"));
    }
    let needs_port = text.split_once("://").is_some_and(|(way, rest)| {
        let place = rest.split(['/', '?']).next().unwrap_or_default();
        way == "wss"
            && !place.is_empty()
            && place.rsplit_once(':').is_none_or(|(_, port)| port.ends_with(']'))
    });
    if !needs_port {
        // A ladder's port, where that of a daemon would be named.
        return Address::read(text).map_err(|message| message.replace(":7117", ":7127"));
    }
    let end = text.find("://").map_or(0, |start| start + 3);
    let end = text[end..].find(['/', '?']).map_or(text.len(), |length| end + length);
    Address::read(&format!("{}:443{}", &text[..end], &text[end..]))
}

fn game(text: &str) -> Result<OfferedGame, String> {
    let (game, preset) = text.split_once(':').map_or((text, None), |(game, preset)| (game, Some(preset)));
    if game.is_empty() || preset.is_some_and(str::is_empty) {
        return Err("give a game, and a preset behind a colon, such as isolation:7x7".into());
    }
    Ok(OfferedGame { game: game.into(), presets: preset.map(Into::into).into_iter().collect() })
}

/// Reads a clock as the first `go` of a game has it, without the opponent's.
fn start_clock(text: &str) -> Result<Clock, String> {
    let clock = GameClock::new(clock::read(text)?);
    let unlimited = GameClock::new(crate::arena::TimeControl::Unlimited);
    clock.to_wire(&unlimited).ok_or_else(|| "give a clock".into())
}

/// What the ladder is offered.
pub(super) fn offer(args: &Args) -> Result<Offer, Failure> {
    let mut games: Vec<OfferedGame> = Vec::new();
    for given in &args.games {
        match games.iter_mut().find(|game| game.game == given.game) {
            // All presets of a game are more than some.
            Some(game) if game.presets.is_empty() || given.presets.is_empty() => game.presets.clear(),
            Some(game) => game.presets.extend(given.presets.iter().cloned()),
            None => games.push(given.clone()),
        }
    }
    let (name, version) = (Some("plyd connect".to_owned()), Some(env!("CARGO_PKG_VERSION").to_owned()));
    Ok(Offer {
        token: read_token(&args.token_file)?,
        client: Some(wire::ClientInfo { name, version }),
        games,
        clocks: args.clocks.clone(),
        concurrency: args.concurrency,
        legal: args.legal,
        ..Offer::new()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_ladder_at_the_port_of_https_needs_no_port() {
        for (text, expected) in [
            ("wss://ladder.example", "wss=ladder.example:443"),
            ("wss://ladder.example/ws", "wss=ladder.example:443"),
            ("wss://[2001:db8::1]", "wss=[2001:db8::1]:443"),
            ("wss://ladder.example?ca=/a:1", "wss=ladder.example:443?ca=/a:1"),
            ("wss://ladder.example:8443/ws", "wss=ladder.example:8443"),
            ("tls://ladder.example:7127", "tls=ladder.example:7127"),
        ] {
            assert_eq!(ladder(text).unwrap().to_string(), expected, "{text}");
        }
        for text in ["wss://", "tls://ladder.example", "ladder.example"] {
            let message = ladder(text).unwrap_err();
            assert!(!message.contains("7117"), "{text}: {message}");
        }
    }

    #[test]
    fn whoever_gives_the_address_of_the_pages_is_told_what_to_dial() {
        for (text, dialled) in [
            ("http://127.0.0.1:7128", "ws://127.0.0.1:7128"),
            ("https://ladder.example", "wss://ladder.example"),
            ("https://ladder.example/join?link=plyd_1", "wss://ladder.example"),
        ] {
            let error = ladder(text).unwrap_err();
            assert!(error.ends_with(&format!("a bot dials {dialled}")), "{error}");
            assert!(ladder(dialled).is_ok(), "{dialled}");
        }
    }

    #[test]
    fn games_are_offered_with_all_presets_that_are_named() {
        for (given, expected) in [
            (&["isolation"][..], &[("isolation", &[][..])][..]),
            (&["isolation:7x7", "ijk", "isolation:5x5"], &[("isolation", &["7x7", "5x5"]), ("ijk", &[])]),
            (&["isolation:7x7", "isolation"], &[("isolation", &[])]),
        ] {
            let folder = std::env::temp_dir().join(format!("plyd-connect-{}", std::process::id()));
            std::fs::write(&folder, "token\n").unwrap();
            let args = Args {
                ladder: Address::Tcp("localhost:1".into()),
                token_file: folder.clone(),
                games: given.iter().map(|text| game(text).unwrap()).collect(),
                clocks: Vec::new(),
                concurrency: 2,
                legal: false,
                options: Vec::new(),
                record: None,
                insecure: false,
                json: false,
                command: Vec::new(),
            };
            let offered = offer(&args).unwrap_or_else(|failure| panic!("{failure}")).games;
            let _gone = std::fs::remove_file(folder);
            let offered: Vec<_> =
                offered.iter().map(|game| (game.game.as_str(), &game.presets[..])).collect();
            let expected: Vec<(&str, Vec<String>)> = expected
                .iter()
                .map(|(game, presets)| (*game, presets.iter().map(|preset| (*preset).to_owned()).collect()))
                .collect();
            assert_eq!(
                offered,
                expected.iter().map(|(game, presets)| (*game, &presets[..])).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn clocks_are_offered_as_a_game_begins_with_them() {
        for (text, expected) in [
            ("time=100ms", json!({ "kind": "per_move", "ms": 100 })),
            ("tc=10s+0.1s", json!({ "kind": "increment", "me_ms": 10_000, "inc_ms": 100 })),
            ("bank=1s+30s", json!({ "kind": "bank", "turn_ms": 1000, "bank_ms": 30_000 })),
        ] {
            assert_eq!(json!(start_clock(text).unwrap()), expected, "{text}");
        }
        assert!(start_clock("soon").is_err());
    }
}
