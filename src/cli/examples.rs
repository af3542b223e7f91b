//! The examples in help texts, for the games and the name that this program has.
//!
//! They are written for plyd's own games. A program with others shows an example of `{isolation}`, as it
//! stands in the texts, with its own first game instead, and leaves out those of a game that it lacks.

use clap::Command;

use crate::engine::Entry;
use crate::games::REGISTRY;

/// What stands above the examples.
const HEADING: &str = "Examples:\n";

/// How an example begins.
const PLYD: &str = "  plyd";

/// A command and its subcommands, with the examples of a program with that name and these games.
pub(super) fn of(command: Command, program: &str, games: &[&'static Entry]) -> Command {
    let command = command.mut_subcommands(|subcommand| of(subcommand, program, games));
    match command.get_after_help().map(ToString::to_string) {
        Some(text) => command.after_help(fitted(&text, program, games)),
        None => command,
    }
}

/// A text as such a program shows it.
fn fitted(text: &str, program: &str, games: &[&'static Entry]) -> String {
    let Some((before, rest)) = text.split_once(HEADING) else { return text.to_owned() };
    let (examples, after) = rest.split_once("\n\n").map_or((rest, None), |(of, after)| (of, Some(after)));
    let has = |name: &str| games.iter().any(|entry| entry.name == name);
    let lacked: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).filter(|name| !has(name)).collect();
    let mut lines = Vec::new();
    let mut is_kept = true;
    for line in examples.lines() {
        let is_command = line.strip_prefix(PLYD).is_some_and(|rest| !goes_on(rest));
        if is_command {
            let line = REGISTRY.iter().fold(line.to_owned(), |line, entry| {
                let name = if has(entry.name) { entry.name } else { games[0].name };
                replaced(&line, &format!("{{{}}}", entry.name), entry.name.len(), name)
            });
            is_kept = !lacked.iter().any(|name| names(&line, name));
            lines.extend(is_kept.then(|| line.replacen(PLYD, &format!("  {program}"), 1)));
        } else if is_kept {
            // It explains the one above, in a column that moves with the program's name.
            let (indent, text) = line.split_at(line.len() - line.trim_start().len());
            let indent = (indent.len() + program.len()).saturating_sub(PLYD.trim_start().len());
            lines.push(format!("{}{text}", " ".repeat(indent)));
        }
    }
    let examples = if lines.is_empty() { String::new() } else { format!("{HEADING}{}", lines.join("\n")) };
    let parts = [&*format!("{before}{examples}"), after.unwrap_or_default()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// A line with a name, of a game, instead of an `old` word that takes `width` columns; what is explained
/// behind it stays in its column, if there is room.
fn replaced(line: &str, old: &str, width: usize, name: &str) -> String {
    const GAP: &str = "   ";
    let Some((before, after)) = line.split_once(old) else { return line.to_owned() };
    let Some((command, explained)) = after.split_once(GAP) else { return format!("{before}{name}{after}") };
    let text = explained.trim_start();
    let spaces = GAP.len() + explained.len() - text.len();
    let spaces = (spaces + width).saturating_sub(name.len()).max(1);
    format!("{before}{name}{command}{}{text}", " ".repeat(spaces))
}

/// Whether a line has a name as a word of its own.
fn names(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        !line[..at].ends_with(|c: char| c == '-' || c == '/' || c.is_alphanumeric())
            && !goes_on(&line[at + name.len()..])
    })
}

/// Whether a word goes on here.
fn goes_on(rest: &str) -> bool {
    rest.starts_with(|c: char| c == '-' || c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Examples:
  plyd go {isolation} --time 1s    its best move
                                   of this turn
  plyd go l-game                   another
                                   game
  plyd go --json                   for programs
                                   and others

More of `plyd go isolation`.";

    /// A game by the name of one of plyd's own.
    fn game(name: &str) -> &'static Entry {
        REGISTRY.iter().find(|entry| entry.name == name).expect("plyd has it")
    }

    #[test]
    fn a_program_shows_examples_of_its_own_games() {
        let whole = TEXT.replace("{isolation}", "isolation");
        let few = "\
Examples:
  seven go ijk --time 1s          its best move
                                    of this turn
  seven go --json                   for programs
                                    and others

More of `plyd go isolation`.";
        assert_eq!(fitted(TEXT, "plyd", REGISTRY), whole);
        assert_eq!(fitted(TEXT, "seven", &[game("ijk")]), few);
    }

    #[test]
    fn no_heading_is_left_without_examples() {
        let games = [game("ijk")];
        assert_eq!(fitted("Examples:\n  plyd go l-game\n\nMore.", "plyd", &games), "More.");
        assert_eq!(fitted("Examples:\n  plyd go l-game", "plyd", &games), "");
        assert_eq!(fitted("No examples.", "plyd", &games), "No examples.");
        // Neither a folder nor a part of a longer word is a game.
        for text in ["Examples:\n  plyd tune --out src/sudoku", "Examples:\n  plyd tune --pre-sudoku"] {
            assert_eq!(fitted(text, "plyd", &games), text);
        }
    }
}
