//! `plyd explain`: what an error code means and what to do, as `docs/errors.md` has it.
//!
//! Knows the page alone, which has a section for each code.

use std::io::Write;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::columns::Columns;
use super::failure::Failure;

/// The page, which is part of the program, so that it fits its version and is there without a network.
const PAGE: &str = include_str!("../../docs/errors.md");

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd explain                   all codes
  plyd explain illegal_move      what one means and what to do

The codes are those of the protocol: `code` in a message of the type `error`.")]
pub(super) struct Args {
    /// The code of an error; a list of all when absent
    #[arg(value_parser = parser(), hide_possible_values = true)]
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

fn parser() -> impl TypedValueParser<Value = &'static str> {
    let find = |code: String| sections().map(|(name, _)| name).find(|name| *name == code);
    PossibleValuesParser::new(sections().map(|(name, _)| name))
        .map(move |code| find(code).expect("the parser takes these names alone"))
}

/// The codes of the page with what it says about each.
fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    let parts = PAGE.split("\n### `").skip(1).filter_map(|part| part.split_once("`\n"));
    // A chapter may follow.
    parts.map(|(code, text)| (code, text.split("\n## ").next().unwrap_or_default().trim()))
}

/// What the page says about a code, for a terminal.
fn explained(code: &'static str) -> Option<String> {
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
    fn the_list_has_a_sentence_for_each_code() {
        for (code, text) in sections() {
            let sentence = first_sentence(text);
            assert!(sentence.ends_with('.') && !sentence.contains("\n"), "{code}: {sentence}");
        }
    }
}
