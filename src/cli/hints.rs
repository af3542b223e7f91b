//! What a mistake on the command line may have meant, where a guess by similar letters leads astray.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::engine::Entry;

/// Options that a command lacks, and what does the same there.
const OPTIONS: &[(&str, &[&str], &str)] = &[
    (
        "play",
        &["--lvl", "--lv", "--strength", "--skill", "--difficulty", "--elo"],
        "--level 3 is how strong the engine plays, from 1 to 10",
    ),
    (
        "play",
        &["--player", "--players", "--opponent", "--against", "--engine", "--ai", "--bot"],
        "--p2 random plays against another player; `plyd describe GAME` lists them",
    ),
    (
        "play",
        &["--first", "--second", "--side", "--colour", "--color", "--white", "--black"],
        "--p1 default --p2 me lets the engine begin",
    ),
    (
        "play",
        &["--board", "--size", "--width", "--height", "--preset"],
        "the rules say how large the board is, as in --rules width=5,height=5; --position begins at a position",
    ),
    ("play", &["--movetime", "--think", "--limit"], "--time 500ms is how long the engine thinks"),
    ("play", &["--tc", "--bank", "--delay"], "--clock tc=5m+3s is a clock for both sides"),
    (
        "play",
        &["--depth", "--eval", "--threads", "--nodes"],
        "options of the engine: --option depth=3,threads=2",
    ),
    (
        "arena",
        &["--time", "--movetime", "--st", "--nodes", "--depth", "--level", "--option", "--each"],
        "write limits and options after each player, as in --player default,level=3,time=50ms",
    ),
    (
        "arena",
        &["--rounds", "--repeat"],
        "--games is the number of games of each pairing, two for each opening",
    ),
    ("arena", &["--tc", "--clock"], "write a clock after each player, as in --player default,tc=10s+0.1s"),
    (
        "arena",
        &["--engine", "--cmd", "--bot", "--name"],
        "a program is a player, as in --player \"cmd=python3 bot.py,name=anna\"",
    ),
    ("review", &["--time", "--per-move", "--limit"], "--movetime 500ms is how long it thinks about a move"),
    ("go", &["--movetime", "--clock"], "--time 500ms is how long it thinks"),
    (
        "go",
        &["--level", "--player", "--eval", "--threads"],
        "options of the player: --option level=3,threads=2",
    ),
];

/// Words that are no commands, and what does what they ask for.
const COMMANDS: [(&[&str], &str); 1] = [(
    &["level", "levels"],
    "`plyd play GAME --level 3` plays at a level from 1 to 10; `plyd describe GAME` lists this and other options",
)];

/// The error about these arguments with the hint that fits it, in place of the guesses.
pub(super) fn hinted(mut error: Error, arguments: &[String], games: &[&Entry]) -> Error {
    if lacks_game(&error) && arguments.first().is_some_and(|command| command == "play") {
        let how = |entry: &&Entry| StyledStr::from(format!("`plyd play {}`: {}", entry.name, entry.about));
        let listed = games.iter().map(how).collect();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(listed));
        return error;
    }
    let Some(hint) = hint(&error, arguments) else { return error };
    // The usage is made for the guess.
    if error.remove(ContextKind::SuggestedArg).is_some() {
        error.remove(ContextKind::Usage);
    }
    error.remove(ContextKind::SuggestedSubcommand);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(hint)]));
    error
}

/// Whether no game is named where one has to be.
fn lacks_game(error: &Error) -> bool {
    let is_game = |argument: &String| argument.contains("<GAME>");
    error.kind() == ErrorKind::MissingRequiredArgument
        && matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::Strings(missing)) if missing.iter().any(is_game))
}

fn hint(error: &Error, arguments: &[String]) -> Option<&'static str> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    if let Some(word) = text(ContextKind::InvalidSubcommand) {
        return COMMANDS.iter().find(|(words, _)| words.contains(&word)).map(|(_, hint)| *hint);
    }
    let option = text(ContextKind::InvalidArg)?;
    let takes_settings = arguments.iter().any(|argument| ["--rules", "--option"].contains(&&**argument));
    if takes_settings && !option.starts_with('-') && option.contains('=') {
        return Some("commas join settings, without blanks, as in --rules size=6,seed=7");
    }
    let command = arguments.iter().find(|argument| !argument.starts_with('-'))?;
    let found = OPTIONS.iter().find(|(of, options, _)| of == command && options.contains(&option));
    found.map(|(_, _, hint)| *hint)
}
