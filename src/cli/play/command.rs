//! What a player can say: commands, and the way back from a mistake.
//!
//! Knows no game: a line that is no command may be a move, which the rules decide. `catalogue` lists the
//! commands with their words and help.

use super::catalogue::{COMMANDS, Command, Spec};

/// Why a line is no command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoCommand {
    /// Its first word names none.
    Unknown,
    /// It names a command and is wrong: what to write instead.
    Wrong(String),
}

/// Reads a line. A beginning that is unique to one command is enough.
///
/// # Errors
/// [`NoCommand`]; a line of blanks is unknown.
pub(super) fn read(line: &str) -> Result<Command, NoCommand> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let spec = find(word)?;
    (spec.read)(rest.trim()).map_err(|message| NoCommand::Wrong(format!("`{}`: {message}", spec.name)))
}

/// The command that a word names or begins.
fn find(word: &str) -> Result<&'static Spec, NoCommand> {
    let word = match word.to_lowercase().as_str() {
        "" => return Err(NoCommand::Unknown),
        "?" => "help".to_owned(),
        "exit" | "bye" => "quit".to_owned(),
        "analyze" => "analyse".to_owned(),
        "resume" => "continue".to_owned(),
        word => word.to_owned(),
    };
    if let Some(exact) = COMMANDS.iter().find(|spec| spec.name == word) {
        return Ok(exact);
    }
    let begun: Vec<&Spec> = COMMANDS.iter().filter(|spec| spec.name.starts_with(&word)).collect();
    match begun[..] {
        [] => Err(NoCommand::Unknown),
        [only] => Ok(only),
        _ => {
            let names: Vec<&str> = begun.iter().map(|spec| spec.name).collect();
            Err(NoCommand::Wrong(format!("`{word}` could be {}", names.join(" or "))))
        }
    }
}

/// The names of all commands.
pub(super) fn names<'a>() -> impl Iterator<Item = &'a str> {
    COMMANDS.iter().map(|spec| spec.name)
}

/// The help on one command; none if there is no such command.
pub(super) fn help(word: &str) -> Option<String> {
    let spec = find(word).ok()?;
    let Spec { name, takes, about, example, .. } = spec;
    Some(format!("{name} {takes}\n  {about}\n  For example: {example}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::arena::TimeControl;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn every_command_reads_its_example_and_explains_itself() {
        for spec in COMMANDS {
            assert!(read(spec.example).is_ok(), "{}: {:?}", spec.example, read(spec.example));
            assert!(spec.example.starts_with(spec.name), "{}", spec.name);
            assert!(help(spec.name).unwrap().contains(spec.about));
            assert!(
                !spec.about.ends_with('.') && spec.about.starts_with(char::is_lowercase),
                "{}",
                spec.name
            );
        }
    }

    #[test]
    fn lines_are_read_as_they_are_meant() {
        let pairs = |given: &[(&str, &str)]| -> Vec<(String, String)> {
            given.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
        };
        for (line, expected) in [
            ("help", Command::Help(None)),
            ("?", Command::Help(None)),
            ("  HELP   undo ", Command::Help(Some("undo".into()))),
            ("und", Command::Undo(0)),
            ("undo 3", Command::Undo(3)),
            ("back", Command::Step(-1)),
            ("next 12", Command::Step(12)),
            ("ply 0", Command::Ply(0)),
            ("analyze", Command::Analyse { lines: None, time: None }),
            ("analyse 2", Command::Analyse { lines: Some(2), time: None }),
            ("analyse 500ms 2", Command::Analyse { lines: Some(2), time: Some(ms(500)) }),
            ("hint", Command::Hint(None)),
            ("hint 1.5s", Command::Hint(Some(ms(1500)))),
            ("p2 minimax,depth=3", Command::Seat(1, "minimax,depth=3".into())),
            ("level 10", Command::Level(10)),
            ("option eval=race, threads=2", Command::Set(pairs(&[("eval", "race"), ("threads", "2")]))),
            ("new", Command::New(Vec::new())),
            ("new width=5,height=6", Command::New(pairs(&[("width", "5"), ("height", "6")]))),
            ("clock off", Command::Clock(TimeControl::Unlimited)),
            ("clock time=2s", Command::Clock(TimeControl::PerMove(ms(2000)))),
            ("save my game.jsonl", Command::Save(Some("my game.jsonl".into()))),
            ("load my game.jsonl 7", Command::Load("my game.jsonl".into(), Some(7))),
            ("load 7", Command::Load("7".into(), None)),
            ("exit", Command::Quit),
            ("q", Command::Quit),
        ] {
            assert_eq!(read(line), Ok(expected), "{line}");
        }
    }

    #[test]
    fn what_cannot_be_meant_says_what_can() {
        for (line, word) in [
            ("undo -1", "from 1 on"),
            ("undo 0", "from 1 on"),
            ("undo x", "`x`"),
            ("undo 99999999999999999999", "from 1 on"),
            ("go now", "takes nothing"),
            ("level 0", "1 to 10"),
            ("level", "1 to 10"),
            ("time 5", "200ms"),
            ("time 0s", "above 0"),
            ("hint soon", "200ms"),
            ("analyse 0", "from 1"),
            ("analyse 1 2", "one number"),
            ("analyse 99999999999 1s", "one number"),
            ("analyse 1s 2s", "one time"),
            ("clock 5m", "tc=5m+3s"),
            ("clock tc=5", "unit"),
            ("option", "width=7"),
            ("option threads", "width=7"),
            ("view sideways", "clockwise"),
            ("view", "clockwise"),
            ("load", "load game.jsonl"),
            ("p1", "`me`"),
            ("position", "`text`"),
            ("ply", "ply 0"),
            ("board tile", "board words"),
            ("p", "p1 or p2 or ply"),
            ("re", "redo or review or resign or replay"),
        ] {
            match read(line) {
                Err(NoCommand::Wrong(message)) => assert!(message.contains(word), "{line}: {message}"),
                other => panic!("{line}: {other:?}"),
            }
        }
        for line in ["", "   ", "d4", "3 1 W", "frobnicate", "\u{0}", "~c4", "\u{130}"] {
            assert_eq!(read(line), Err(NoCommand::Unknown), "{line}");
        }
    }
}
