//! `plyd explain`: what an error code means and what to do, as `docs/errors.md` has it.
//!
//! Knows the page alone, which has a section for each code.

use std::ffi::OsStr;
use std::io::Write;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;

use super::columns::Columns;
use super::failure::Failure;
use super::nearest::nearest;
use crate::arena::ForfeitKind;

/// The page, which is part of the program, so that it fits its version and is there without a network.
const PAGE: &str = include_str!("../../docs/errors.md");

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd explain                   all codes
  plyd explain illegal_move      what one means and what to do
  plyd explain late              why a game of `plyd arena` or a ladder was forfeited

The codes are those of the protocol: `code` in a message of the type `error`.")]
pub(super) struct Args {
    /// The code of an error, or how a game was forfeited; a list of all codes when absent
    #[arg(value_parser = Codes, hide_possible_values = true)]
    code: Option<&'static str>,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match args.code.and_then(explained) {
        Some(text) => write!(out, "{text}")?,
        None => {
            let mut table = Columns::new(["code", "what it means"]);
            for (code, text) in sections() {
                table.row([code.to_owned(), first_sentence(text)]);
            }
            write!(out, "{table}\nplyd explain CODE says what to do.\n")?;
        }
    }
    Ok(())
}

/// Reads the name of a code or of a forfeit. There are too many for an error that lists them.
#[derive(Clone)]
struct Codes;

impl TypedValueParser for Codes {
    type Value = &'static str;

    fn parse_ref(
        &self,
        command: &clap::Command,
        _: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let asked = value.to_string_lossy();
        names().find(|name| *name == asked).ok_or_else(|| {
            let near = nearest(&asked, names().map(str::to_owned));
            let message =
                format!("there is no code `{asked}`; the nearest is `{near}`; `plyd explain` lists all");
            command.clone().error(ErrorKind::InvalidValue, message)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(names().map(PossibleValue::new)))
    }
}

/// All that can be explained.
fn names() -> impl Iterator<Item = &'static str> {
    sections().map(|(name, _)| name).chain(ForfeitKind::ALL.map(ForfeitKind::name))
}

/// Why a game is forfeited, and what to do about it.
fn forfeit(kind: ForfeitKind) -> &'static str {
    match kind {
        ForfeitKind::Late => {
            "The answer came after the player's time, measured by the referee from the end of writing the `go` to
the end of reading the answer.

What to do. Give the player more time: time=1s behind it in `plyd arena`, where a move has 100ms without it.
--margin 50ms forgives what is late by no more. A bot reads its time in `clock`, and answers before it is over."
        }
        ForfeitKind::Illegal => {
            "The rules do not allow the move that the player answered.

What to do. Compare the move, which the report and `plyd show` name, with how moves are written: `plyd describe
GAME`. `legal=true` behind a player of `plyd arena`, or `plyd connect --legal`, sends the legal moves as `x_legal`."
        }
        ForfeitKind::Crash => {
            "The player's program does not start, ended, or closed its output; or its connection broke.

What to do. Read what it wrote to stderr, which the terminal shows. If it needs the field `x_legal`, put
`legal=true` behind the player of `plyd arena`, or give `plyd connect --legal`."
        }
        ForfeitKind::Timeout => {
            "The player did not answer, or read nothing, for so long that the referee gave up: 10s beyond its time,
or what --timeout says.

What to do. Write each answer at once: most languages keep output back until it is flushed
(`print(..., flush=True)` in Python)."
        }
        ForfeitKind::Protocol => {
            "The player wrote a line that the protocol does not allow: no JSON, another `id` than that of the
request, a `move` that is no text; or it answered with an `error`.

What to do. Write nothing but answers to the standard output; what is for people goes to stderr.
`plyd conform --bot cmd=\"./bot\"` checks each of these points."
        }
    }
}

/// The codes of the page with what it says about each.
fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    let parts = PAGE.split("\n### `").skip(1).filter_map(|part| part.split_once("`\n"));
    // A chapter may follow.
    parts.map(|(code, text)| (code, text.split("\n## ").next().unwrap_or_default().trim()))
}

/// What the page says about a code, for a terminal.
fn explained(code: &'static str) -> Option<String> {
    if let Some(kind) = ForfeitKind::ALL.into_iter().find(|kind| kind.name() == code) {
        return Some(format!("{code}: a game was forfeited\n\n{}\n", forfeit(kind)));
    }
    let (_, text) = sections().find(|(name, _)| *name == code)?;
    let mut shown = format!("{code}\n\n");
    let mut is_example = false;
    for line in plain(text).lines() {
        if line.starts_with("```") {
            is_example = !is_example;
        } else {
            let indent = if is_example { "  " } else { "" };
            shown += &format!("{indent}{line}\n");
        }
    }
    Some(shown)
}

fn first_sentence(text: &str) -> String {
    let paragraph = plain(text.split("\n\n").next().unwrap_or_default()).replace('\n', " ");
    paragraph.split_once(". ").map_or(paragraph.clone(), |(first, _)| format!("{first}."))
}

/// The text without what Markdown marks: links become their texts, and nothing is bold.
fn plain(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let (before, label) = before.rsplit_once('[').unwrap_or(("", before));
        shown.extend([before, label]);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    shown += rest;
    shown.replace("**", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_protocol::ErrorCode;

    #[test]
    fn every_code_has_a_section_in_the_order_of_the_specification_and_no_section_is_without_a_code() {
        let codes: Vec<Option<ErrorCode>> = sections().map(|(name, _)| ErrorCode::named(name)).collect();
        assert_eq!(codes, ErrorCode::ALL.map(Some));
        assert_eq!(PAGE.matches("\n### ").count(), codes.len(), "a heading that is no code");
    }

    #[test]
    fn every_section_says_what_to_do_and_has_an_example() {
        for (code, text) in sections() {
            assert!(text.contains("\n\n**What to do.** "), "{code}");
            assert_eq!(text.matches("```").count(), 2, "{code} has one example");
            assert!(text.contains(&format!("\"code\":\"{code}\"")), "the example of {code} shows it");
        }
    }

    #[test]
    fn a_section_is_printed_without_marks_and_alone() {
        let text = explained("bad_position").unwrap();
        assert!(text.starts_with("bad_position\n\nThe text in `start`"), "{text}");
        assert!(text.contains("\nWhat to do. Compare it with the grammar;"), "{text}");
        assert!(text.contains("\n  > {\"id\":\"1\""), "examples are indented: {text}");
        for absent in ["](", "**", "```", "\n#", "illegal_position"] {
            assert!(!text.contains(absent), "`{absent}` in {text}");
        }
        // The last of a chapter.
        assert!(!explained("unknown_cmd").unwrap().contains("The connection"));
    }

    #[test]
    fn forfeits_are_explained_and_no_code_has_their_names() {
        for kind in ForfeitKind::ALL {
            assert!(ErrorCode::named(kind.name()).is_none(), "{kind:?}");
            let text = explained(kind.name()).unwrap();
            assert!(
                text.contains("\n\nWhat to do. ") && text.lines().all(|line| line.len() <= 120),
                "{text}"
            );
        }
    }

    #[test]
    fn the_list_has_a_sentence_for_each_code() {
        for (code, text) in sections() {
            let sentence = first_sentence(text);
            assert!(sentence.ends_with('.') && !sentence.contains("\n"), "{code}: {sentence}");
        }
    }
}
