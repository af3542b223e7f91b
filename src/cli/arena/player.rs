//! The text of a player: `default,eval=mobility,time=100ms` or `cmd=/usr/bin/plyd serve,player=default,nodes=5000`.

use std::time::Duration;

use crate::arena::{Player, Program};
use crate::engine::Entry;
use crate::options::COMMON;
use crate::settings;
use plyd_protocol::{Limit, Setting, Settings};

use crate::cli::failure::Failure;
use crate::cli::{parse, position};

/// The time for a move of a player that has no limit.
const DEFAULT_TIME: Duration = Duration::from_millis(100);

/// Reads a player of a game. Options of our own players are checked; those of other programs are theirs to check.
pub(super) fn player(entry: &Entry, text: &str) -> Result<Player, Failure> {
    read(entry, text).map_err(|message| Failure::Usage(format!("--player {text}: {message}")))
}

fn read(entry: &Entry, text: &str) -> Result<Player, String> {
    let (mut program, mut time, mut limit) = (None, None, Limit::default());
    let mut options: Vec<(String, String)> = Vec::new();
    let mut names = Vec::new();
    for (index, part) in text.split(',').enumerate() {
        let (name, value) = match parse::assignment(part) {
            Ok(setting) => setting,
            Err(_) if index == 0 && !part.is_empty() => ("player".into(), part.into()),
            Err(message) => return Err(format!("`{part}`: {message}")),
        };
        if names.contains(&name) {
            return Err(format!("`{name}` is given twice"));
        }
        match &*name {
            "cmd" => program = Some(command(&value)?),
            "time" => time = Some(move_time(&value)?),
            "nodes" => limit.nodes = Some(count(&value)?),
            // Some players have a depth of their own, the others search to the limit.
            "depth" => {
                limit.depth = Some(count(&value)?);
                options.push((name.clone(), value));
            }
            _ => options.push((name.clone(), value)),
        }
        names.push(name);
    }
    if limit.is_empty() {
        time = time.or(Some(DEFAULT_TIME));
    }
    let options = match &program {
        Some(_) => foreign_options(entry, &options),
        None => own_options(entry, &options)?,
    };
    let program = program.map_or_else(own_program, Ok)?;
    Ok(Player { name: text.to_owned(), program, options, time, limit })
}

/// This very program.
fn own_program() -> Result<Program, String> {
    let path = std::env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    Ok(Program { path: path.into(), arguments: vec!["serve".into()] })
}

/// A program and its arguments, between blanks.
fn command(text: &str) -> Result<Program, String> {
    let mut words = text.split_whitespace().map(Into::into);
    let path = words.next().ok_or("give a program, such as cmd=/usr/bin/plyd")?;
    Ok(Program { path, arguments: words.collect() })
}

/// A time for a move: the protocol counts whole milliseconds.
fn move_time(text: &str) -> Result<Duration, String> {
    let time = parse::duration(text)?;
    let whole = time.subsec_nanos() % 1_000_000 == 0;
    if whole && !time.is_zero() { Ok(time) } else { Err("give a time of whole milliseconds".into()) }
}

fn count<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("`{text}` is no count"))
}

fn own_options(entry: &Entry, given: &[(String, String)]) -> Result<Settings, String> {
    let options = position::told_options(entry, given);
    settings::check_options(entry, &options).map_err(|fault| {
        let name = fault.pointer.trim_start_matches("/options/").to_owned();
        format!("`{name}`: {}", fault.message)
    })?;
    Ok(options)
}

/// What our game does not have has the type that it looks like.
fn foreign_options(entry: &Entry, given: &[(String, String)]) -> Settings {
    let known = |name: &str| COMMON.iter().chain(entry.options).any(|spec| spec.name == name);
    let (known, unknown): (Vec<_>, Vec<_>) = given.iter().cloned().partition(|(name, _)| known(name));
    let mut options = position::told_options(entry, &known);
    for (name, text) in unknown {
        let int = text.parse().ok().map(Setting::Int);
        let value = int.or_else(|| text.parse().ok().map(Setting::Bool));
        options.insert(name, value.unwrap_or(Setting::Text(text)));
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::REGISTRY;

    fn isolation(text: &str) -> Result<Player, String> {
        read(REGISTRY.iter().find(|entry| entry.name == "isolation").unwrap(), text)
    }

    fn json(options: &Settings) -> String {
        serde_json::to_string(options).unwrap()
    }

    #[test]
    fn a_player_has_options_and_limits() {
        for (text, options, ms, nodes, depth) in [
            ("default", r#"{"player":"default"}"#, Some(100), None, None),
            ("default,time=2s", r#"{"player":"default"}"#, Some(2000), None, None),
            ("default,nodes=50", r#"{"player":"default"}"#, None, Some(50), None),
            ("eval=mobility,depth=3", r#"{"depth":3,"eval":"mobility"}"#, None, None, Some(3)),
            ("threads=2,seed=7", r#"{"seed":"7","threads":2}"#, Some(100), None, None),
        ] {
            let player = isolation(text).unwrap();
            assert_eq!(json(&player.options), options, "{text}");
            assert_eq!(player.time, ms.map(Duration::from_millis), "{text}");
            assert_eq!((player.limit.nodes, player.limit.depth), (nodes, depth), "{text}");
            assert_eq!((&*player.name, player.program.arguments.len()), (text, 1));
        }
    }

    #[test]
    fn another_program_takes_what_options_it_likes() {
        let player = isolation("cmd=/bin/other serve -v,player=mine,style=3,bold=true,nodes=9").unwrap();
        let program = Program { path: "/bin/other".into(), arguments: vec!["serve".into(), "-v".into()] };
        assert_eq!(player.program, program);
        assert_eq!(json(&player.options), r#"{"bold":true,"player":"mine","style":3}"#);
    }

    #[test]
    fn mistakes_are_told_before_a_game_is_played() {
        for (text, word) in [
            ("", "a name"),
            ("expert", "`player`"),
            ("default,eval=best", "`eval`"),
            ("default,threads=many", "`threads`"),
            ("default,colour=red", "`colour`"),
            ("default,time=5", "unit"),
            ("default,time=1.2345s", "whole"),
            ("default,time=0ms", "whole"),
            ("default,nodes=-1", "-1"),
            ("default,random", "`random`"),
            ("default,player=random", "twice"),
            ("cmd= ,nodes=5", "program"),
        ] {
            let message = isolation(text).unwrap_err();
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}
