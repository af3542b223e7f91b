//! Where the games of a match begin: at the rules' start, at one position, or at those of a file.

use std::collections::HashSet;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use plyd_protocol::{Record, echo};
use serde::Deserialize;

use crate::engine::settings;
use crate::engine::{AnyRoot, Entry};
use crate::game::Rules;

use crate::cli::failure::Failure;
use crate::cli::system::is_pipe;
use crate::cli::words;

/// A record of a game; one that a match wrote says how much of it was the opening.
#[derive(Deserialize)]
struct Game {
    #[serde(flatten)]
    record: Record,
    opening: Option<usize>,
}

/// What a line may be.
const FORMS: &str = "a line is a position, moves from the start such as `d4 b3` (with commas between them where \
                     moves have blanks), or a record of a game";

/// Reads a file of openings, one a line: a position's text, the moves from the start, or a record of a game,
/// played on as far as its `opening` says or else to its end. Empty lines, those that begin with `#`, and
/// openings that are there already are left out.
pub(super) fn read(path: &Path, entry: &Entry, rules: &Rules) -> Result<Vec<Arc<dyn AnyRoot>>, Failure> {
    let fail = |place: &str, message: &dyn Display| {
        Failure::Usage(format!("--openings {}{place}: {message}", path.display()))
    };
    let kind = std::fs::metadata(path).map_err(|error| fail("", &format!("{error}; {FORMS}")))?.file_type();
    if !kind.is_file() && !is_pipe(kind) {
        // A device may have no end.
        return Err(fail("", &"it is neither a file nor a pipe"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| fail("", &error))?;
    let mut openings: Vec<_> = text
        .lines()
        .zip(1..)
        .filter(|(line, _)| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|(line, number)| {
            opening(entry, rules, line).map_err(|message| fail(&format!(", line {number}"), &message))
        })
        .collect::<Result<_, _>>()?;
    // A match's own records have each opening twice.
    let mut seen = HashSet::new();
    openings.retain(|opening: &Arc<dyn AnyRoot>| seen.insert(opening.text()));
    if openings.is_empty() { Err(fail("", &"there is no opening in it")) } else { Ok(openings) }
}

fn opening(entry: &Entry, rules: &Rules, line: &str) -> Result<Arc<dyn AnyRoot>, String> {
    let root = if line.starts_with('{') {
        recorded(entry, rules, line)?
    } else {
        written(entry, rules, line.trim())?
    };
    if root.outcome().is_some() { Err("the game is over there".into()) } else { Ok(root) }
}

/// The position of a record after its opening.
fn recorded(entry: &Entry, rules: &Rules, line: &str) -> Result<Arc<dyn AnyRoot>, String> {
    let Game { record, opening } =
        serde_json::from_str(line).map_err(|error| format!("no record of a game: {error}; {FORMS}"))?;
    if record.game != entry.name {
        return Err(format!("a record of `{}`", echo(&record.game)));
    }
    let mut moves = record.moves;
    moves.truncate(opening.unwrap_or(usize::MAX));
    let root = settings::open(entry, rules, Some(&record.start)).and_then(|start| start.extend(&moves));
    root.map_err(|fault| fault.message)
}

/// The position that a line writes, or the one to which its moves lead.
fn written(entry: &Entry, rules: &Rules, line: &str) -> Result<Arc<dyn AnyRoot>, String> {
    let no_position = match settings::open(entry, rules, Some(line)) {
        Ok(root) => return Ok(root),
        Err(fault) => fault.message,
    };
    let start = settings::open(entry, rules, None).map_err(|fault| fault.message)?;
    let with_blanks: Vec<String> = line.split(',').map(|mv| mv.trim().to_owned()).collect();
    let without: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let root = start.extend(&with_blanks).or_else(|fault| match &with_blanks[..] {
        [_] => start.extend(&without),
        _ => Err(fault),
    });
    root.map_err(|fault| format!("no position: {no_position}; no moves: {}; {FORMS}", fault.message))
}

/// How the games of a match begin, for people.
pub(super) fn text(file: Option<&Path>, is_placed: bool, random_plies: u16) -> String {
    let random = (random_plies > 0).then(|| words::count(random_plies.into(), "random ply"));
    let given = match file {
        Some(path) => Some(format!("openings of {}", path.display())),
        None => is_placed.then(|| "the given position".to_owned()),
    };
    match (given, random) {
        (Some(given), Some(random)) => format!("{given} and {random}"),
        (Some(given), None) => given,
        (None, Some(random)) => format!("openings of {random}"),
        (None, None) => "from the start".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::REGISTRY;

    #[test]
    fn a_report_says_how_games_begin() {
        for (file, is_placed, random_plies, expected) in [
            (None, false, 0, "from the start"),
            (None, false, 2, "openings of 2 random plies"),
            (None, true, 0, "the given position"),
            (None, true, 1, "the given position and 1 random ply"),
            (Some("book.txt"), false, 0, "openings of book.txt"),
            (Some("book.txt"), false, 4, "openings of book.txt and 4 random plies"),
        ] {
            assert_eq!(text(file.map(Path::new), is_placed, random_plies), expected);
        }
    }

    #[test]
    fn openings_are_positions_or_games() {
        let entry = REGISTRY.iter().find(|entry| entry.name == "isolation").unwrap();
        let rules = settings::rules(entry, &Default::default(), 0).unwrap();
        let start = settings::open(entry, &rules, None).unwrap().start_text();
        let record = |game: &str, moves: &str, more: &str| {
            format!(
                r#"{{"record":1,"game":"{game}","rules":{{}},"start":"{start}","moves":[{moves}],"result":null{more}}}"#
            )
        };
        for (line, expected) in [
            (start.clone(), Ok(0)),
            (record("isolation", r#""d4","a1""#, ""), Ok(2)),
            (record("isolation", r#""d4","a1""#, r#","opening":1"#), Ok(1)),
            (record("isolation", r#""d4","d4""#, ""), Err("do not allow")),
            (record("chess", "", ""), Err("a record of `chess`")),
            ("{}".into(), Err("no record of a game")),
            ("d4 a1 b3".into(), Ok(3)),
            ("d4, a1".into(), Ok(2)),
            ("d4 d4".into(), Err("no moves: ")),
            ("nonsense".into(), Err("a line is a position, moves from the start")),
            (r#"{"moves":["d4"]}"#.into(), Err("a line is a position, moves from the start")),
        ] {
            match (opening(entry, &rules, &line), expected) {
                (Ok(root), Ok(plies)) => assert_eq!(root.played().len(), plies, "{line}"),
                (Err(message), Err(word)) => assert!(message.contains(word), "{line}: {message}"),
                (found, _) => panic!("{line}: {:?}", found.map(|root| root.text())),
            }
        }
        // Moves with blanks in them have commas between them.
        let entry = REGISTRY.iter().find(|entry| entry.name == "l-game").unwrap();
        let rules = settings::rules(entry, &Default::default(), 0).unwrap();
        let first = opening(entry, &rules, "4 1 W").unwrap();
        let two = format!("4 1 W, {}", first.legal()[0]);
        assert_eq!(opening(entry, &rules, &two).unwrap().played().len(), 2);
        assert!(opening(entry, &rules, "4 1 W,").is_err(), "an empty move is none");
    }
}
