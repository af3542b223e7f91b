//! `plyd describe`: the games, their rules, options, players and texts, as tables or as the protocol sends
//! them.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::cli::columns::Columns;
use crate::client::Client;
use crate::engine::Entry;
use crate::engine::levels::Rating;
use crate::engine::settings;
use crate::game::{Kind, Named, Spec};
use crate::options::COMMON;
use plyd_protocol::{Command, Describe, DescribeWhat, Message, Request, ResultBody};

use super::failure::Failure;
use super::{own, registry, write_json};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd describe                    the games
  plyd describe {isolation}          one game in full
  plyd describe {isolation} --json   the same as the protocol's `describe` answers it")]
pub(super) struct Args {
    /// The game; a list of all when absent
    #[arg(value_parser = registry::parser())]
    game: Option<&'static Entry>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The longest wait for an answer of a daemon that has nothing else to do.
const TIMEOUT: Duration = Duration::from_secs(20);

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match args.game {
        game if args.json => write_json(out, &ask(game.map(|entry| entry.name.to_owned()))?),
        None => show_games(out),
        Some(entry) => show_game(entry, out),
    }
}

/// Asks a daemon, so that this is what clients receive.
fn ask(game: Option<String>) -> Result<serde_json::Value, Failure> {
    let what = if game.is_some() { DescribeWhat::Game } else { DescribeWhat::Games };
    let command = Command::Describe(Describe { what, game });
    let mut client = Client::spawn(own::command()?)?;
    client.send(&Request { id: "describe".into(), command })?;
    match client.wait_final("describe", Instant::now() + TIMEOUT)?.last.envelope.message {
        Message::Result(result) => match result.body {
            ResultBody::Describe(describe) => Ok(describe.body),
            other => Err(Failure::Failed(format!("no answer to describe: {other:?}"))),
        },
        Message::Error(error) => Err(Failure::Failed(error.message)),
        other => Err(Failure::Failed(format!("no answer to describe: {other:?}"))),
    }
}

fn show_games(out: &mut impl Write) -> Result<(), Failure> {
    let mut table = Columns::new(["game", "what it is"]);
    for entry in registry::games() {
        table.row([entry.name, entry.about]);
    }
    writeln!(out, "{table}")?;
    Ok(writeln!(out, "`plyd describe GAME` lists its rules, options, players and texts.")?)
}

fn show_game(entry: &Entry, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(out, "{}: {}\n", entry.name, entry.about)?;
    let mut texts = Columns::plain();
    texts.row(["position", entry.position_grammar]);
    texts.row(["move", entry.move_grammar]);
    texts.row(["unit", &format!("{}; evaluations are thousandths of it", entry.unit)]);
    writeln!(out, "{texts}")?;
    write_specs("rule", entry.rules.iter().copied(), out)?;
    // Which names these two take depends on the game; the tables below list them.
    let own = COMMON.iter().filter(|spec| spec.kind != Kind::Choice(&[])).chain(entry.options());
    write_specs("option", own.copied(), out)?;
    write_names("player", entry.players(), out)?;
    write_names("eval", entry.evaluators(), out)?;
    write_names("ending", entry.endings.iter(), out)?;
    write_levels(entry, out)
}

/// How strong the default player's levels were measured to be.
fn write_levels(entry: &Entry, out: &mut impl Write) -> Result<(), Failure> {
    let levels = entry.levels();
    if levels.measured_by.is_empty() {
        return Ok(());
    }
    let mut table = Columns::new(["level", "Elo above random moves"]);
    for (number, level) in (1..).zip(&levels.list) {
        let rating =
            level.rating.map_or_else(String::new, |Rating { elo, error }| format!("{elo} ± {error}"));
        table.row([number.to_string(), rating]);
    }
    writeln!(out, "{table}")?;
    Ok(writeln!(out, "The levels of the default player, measured by\n  {}", levels.measured_by)?)
}

fn write_specs(
    heading: &str,
    specs: impl Iterator<Item = Spec>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut table = Columns::new([heading, "values", "default", "what it is"]);
    let mut any = false;
    for spec in specs {
        any = true;
        let default = settings::default(spec.kind).map_or_else(String::new, |value| value.to_string());
        table.row([spec.name.to_owned(), values(spec.kind), default, spec.about.to_owned()]);
    }
    if any {
        writeln!(out, "{table}")?;
    }
    Ok(())
}

fn write_names(
    heading: &str,
    names: impl Iterator<Item = &'static Named>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut names = names.peekable();
    if names.peek().is_none() {
        return Ok(());
    }
    let mut table = Columns::new([heading, "what it is"]);
    for named in names {
        table.row([named.name, named.about]);
    }
    Ok(writeln!(out, "{table}")?)
}

/// The values that a setting takes.
fn values(kind: Kind) -> String {
    match kind {
        Kind::Bool { .. } => "true, false".into(),
        Kind::Int { min, max, .. } => format!("{min} to {max}"),
        Kind::Choice(choices) | Kind::OpenChoice(choices) => choices.join(", "),
        Kind::ChoiceOrInt { choices, min, max } => format!("{}, {min} to {max}", choices.join(", ")),
        Kind::Seed => "1-16 hex digits".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_listed_as_they_are_written() {
        for (kind, text) in [
            (Kind::Bool { default: Some(true) }, "true, false"),
            (Kind::Int { min: 1, max: 9, default: None }, "1 to 9"),
            (Kind::Choice(&["a", "b"]), "a, b"),
            (Kind::OpenChoice(&["a", "b"]), "a, b"),
            (Kind::ChoiceOrInt { choices: &["a"], min: 0, max: 3 }, "a, 0 to 3"),
        ] {
            assert_eq!(values(kind), text);
        }
    }
}
