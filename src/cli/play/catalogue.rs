//! All commands with their words and help, in one table, and how each reads what follows its name.

use std::time::Duration;

use crate::arena::TimeControl;
use crate::cli::{clock, parse};

use super::view::ViewChange;

/// A command.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Command {
    Help(Option<String>),
    Moves(String),
    Board(Option<Shape>),
    Text,
    Rules,
    History,
    Undo(usize),
    Redo(usize),
    /// This many plies on, or back if negative.
    Step(i64),
    Ply(usize),
    Replay,
    Continue,
    Pause,
    Go,
    Stop,
    Hint(Option<Duration>),
    Analyse {
        lines: Option<u32>,
        time: Option<Duration>,
    },
    /// Who plays a side: 0 is p1.
    Seat(usize, String),
    Swap,
    Resign,
    Watch,
    Level(u32),
    Set(Vec<(String, String)>),
    Time(Duration),
    Clock(TimeControl),
    New(Vec<(String, String)>),
    Position(String),
    Save(Option<String>),
    Load(String, Option<usize>),
    View(ViewChange),
    /// How long to think about a move.
    Review(Option<Duration>),
    Bar(bool),
    Quit,
}

/// How the board is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// As a picture.
    Picture,
    /// As a picture with pencil marks in its cells, if there are any.
    Marks,
    /// In words.
    Words,
}

/// A command's name with what it takes and does.
pub(super) struct Spec {
    pub(super) name: &'static str,
    /// What follows the name.
    pub(super) takes: &'static str,
    pub(super) about: &'static str,
    /// One that can be given as it stands.
    pub(super) example: &'static str,
    /// Reads what follows the name.
    pub(super) read: fn(&str) -> Result<Command, String>,
}

/// All commands, in the order in which help lists them.
pub(super) const COMMANDS: &[Spec] = &[
    Spec {
        name: "help",
        takes: "[COMMAND]",
        about: "the commands, or one of them in full",
        example: "help undo",
        read: |rest| Ok(Command::Help((!rest.is_empty()).then(|| rest.to_owned()))),
    },
    Spec {
        name: "moves",
        takes: "[PREFIX]",
        about: "the legal moves, or those that begin with PREFIX",
        example: "moves d",
        read: |rest| Ok(Command::Moves(rest.to_owned())),
    },
    Spec {
        name: "board",
        takes: "[words|picture|marks]",
        about: "show the board again; a word changes how it is shown from now on: in words, such as for a \
                screen reader, as a picture, or with marks in its cells, such as Sudoku's candidates",
        example: "board words",
        read: |rest| match rest {
            "" => Ok(Command::Board(None)),
            "picture" => Ok(Command::Board(Some(Shape::Picture))),
            "marks" => Ok(Command::Board(Some(Shape::Marks))),
            "words" => Ok(Command::Board(Some(Shape::Words))),
            _ => Err("say `board`, `board words`, `board picture` or `board marks`".into()),
        },
    },
    Spec {
        name: "undo",
        takes: "[N]",
        about: "take back moves up to your last one, or N moves",
        example: "undo 2",
        read: |rest| Ok(Command::Undo(count(rest, 0)?)),
    },
    Spec {
        name: "redo",
        takes: "[N]",
        about: "play again what was taken back",
        example: "redo",
        read: |rest| Ok(Command::Redo(count(rest, 0)?)),
    },
    Spec {
        name: "hint",
        takes: "[TIME]",
        about: "what the engine would play here",
        example: "hint 2s",
        read: |rest| Ok(Command::Hint((!rest.is_empty()).then(|| parse::duration(rest)).transpose()?)),
    },
    Spec {
        name: "analyse",
        takes: "[LINES] [TIME]",
        about: "the best lines as they are found, until `stop` or for a time; proven results are named",
        example: "analyse 3 5s",
        read: analyse,
    },
    Spec {
        name: "review",
        takes: "[TIME]",
        about: "judge each move so far, by proofs where possible; TIME is per move",
        example: "review 1s",
        read: |rest| Ok(Command::Review((!rest.is_empty()).then(|| parse::thinking_time(rest)).transpose()?)),
    },
    Spec {
        name: "bar",
        takes: "[on|off]",
        about: "show a bar with who is ahead, and the engine's score at its moves; or hide both",
        example: "bar on",
        read: |rest| match rest {
            "" | "on" => Ok(Command::Bar(true)),
            "off" => Ok(Command::Bar(false)),
            _ => Err("say `bar` or `bar off`".into()),
        },
    },
    Spec {
        name: "go",
        takes: "",
        about: "let the engine move now for the side to move",
        example: "go",
        read: |rest| bare(rest, Command::Go),
    },
    Spec {
        name: "stop",
        takes: "",
        about: "stop the search: the engine plays its move at once, an analysis ends",
        example: "stop",
        read: |rest| bare(rest, Command::Stop),
    },
    Spec {
        name: "swap",
        takes: "",
        about: "change sides with the opponent",
        example: "swap",
        read: |rest| bare(rest, Command::Swap),
    },
    Spec {
        name: "resign",
        takes: "",
        about: "give the game up; `undo` takes it back",
        example: "resign",
        read: |rest| bare(rest, Command::Resign),
    },
    Spec {
        name: "watch",
        takes: "",
        about: "hand the game to the engine: it plays both sides; `p1 me` takes a side back",
        example: "watch",
        read: |rest| bare(rest, Command::Watch),
    },
    Spec {
        name: "p1",
        takes: "WHO",
        about: "who plays the first side: `me`, or a player with options",
        example: "p1 me",
        read: |rest| seat(0, rest),
    },
    Spec {
        name: "p2",
        takes: "WHO",
        about: "who plays the second side; `plyd describe GAME` lists the players",
        example: "p2 minimax,depth=3",
        read: |rest| seat(1, rest),
    },
    Spec {
        name: "level",
        takes: "1 to 10",
        about: "how strong the engine plays; 10 is full strength",
        example: "level 3",
        read: |rest| match rest.parse() {
            Ok(level @ 1..=10) => Ok(Command::Level(level)),
            _ => Err("give a level from 1 to 10, such as `level 3`".into()),
        },
    },
    Spec {
        name: "option",
        takes: "NAME=VALUE",
        about: "set options of the engine, such as its evaluation",
        example: "option threads=1,hash_mb=64",
        read: |rest| Ok(Command::Set(assignments(rest)?)),
    },
    Spec {
        name: "time",
        takes: "TIME",
        about: "how long the engine may think about a move",
        example: "time 500ms",
        read: |rest| parse::thinking_time(rest).map(Command::Time),
    },
    Spec {
        name: "clock",
        takes: "CLOCK|off",
        about: "a clock for both sides, from now on: tc=5m+3s, delay=5m+3s, bank=10s+5m or time=30s",
        example: "clock tc=5m+3s",
        read: |rest| match rest {
            "off" => Ok(Command::Clock(TimeControl::Unlimited)),
            _ => Ok(Command::Clock(clock::read(rest)?)),
        },
    },
    Spec {
        name: "back",
        takes: "[N]",
        about: "look at the position N plies before; nothing is taken back until you move",
        example: "back 3",
        read: |rest| Ok(Command::Step(-i64::try_from(count(rest, 1)?).unwrap_or(i64::MAX))),
    },
    Spec {
        name: "next",
        takes: "[N]",
        about: "look at the position N plies after; while looking back, Enter alone does the same",
        example: "next",
        read: |rest| Ok(Command::Step(i64::try_from(count(rest, 1)?).unwrap_or(i64::MAX))),
    },
    Spec {
        name: "ply",
        takes: "N",
        about: "look at the position after N plies; 0 is the start",
        example: "ply 0",
        read: |rest| match rest.parse() {
            Ok(ply) => Ok(Command::Ply(ply)),
            Err(_) => Err("give a number of plies, such as `ply 0` for the start".into()),
        },
    },
    Spec {
        name: "replay",
        takes: "",
        about: "go through the game from its start, ply by ply with Enter",
        example: "replay",
        read: |rest| bare(rest, Command::Replay),
    },
    Spec {
        name: "continue",
        takes: "",
        about: "play on from here: what comes after the position shown is dropped by the next move",
        example: "continue",
        read: |rest| bare(rest, Command::Continue),
    },
    Spec {
        name: "pause",
        takes: "",
        about: "the engine waits; `continue` lets it play on",
        example: "pause",
        read: |rest| bare(rest, Command::Pause),
    },
    Spec {
        name: "view",
        takes: "WAY",
        about: "turn the picture: x, y, transpose, clockwise, counter-clockwise, or reset; moves keep their names",
        example: "view clockwise",
        read: |rest| ViewChange::read(rest).map(Command::View),
    },
    Spec {
        name: "save",
        takes: "[FILE]",
        about: "write the game to a file that `plyd show` and `load` read",
        example: "save game.jsonl",
        read: |rest| Ok(Command::Save((!rest.is_empty()).then(|| rest.to_owned()))),
    },
    Spec {
        name: "load",
        takes: "FILE [N]",
        about: "go on with a game from a file, the Nth one if it has several",
        example: "load game.jsonl 2",
        read: load,
    },
    Spec {
        name: "new",
        takes: "[NAME=VALUE]",
        about: "start a new game, with these rules if any are given, such as max_plies=50 in the L game; prints the \
                command that resumes a game that was not saved",
        example: "new",
        read: |rest| match rest {
            "" => Ok(Command::New(Vec::new())),
            _ => Ok(Command::New(assignments(rest)?)),
        },
    },
    Spec {
        name: "position",
        takes: "TEXT",
        about: "start a new game at this position; the example is one of the L game",
        example: "position 3 1 W 1 1 4 4 2 4 E 1",
        read: |rest| match rest {
            "" => Err("give the text of a position; `text` shows how one is written".into()),
            _ => Ok(Command::Position(rest.to_owned())),
        },
    },
    Spec {
        name: "text",
        takes: "",
        about: "the position as a text",
        example: "text",
        read: |rest| bare(rest, Command::Text),
    },
    Spec {
        name: "rules",
        takes: "",
        about: "how moves are written, and the rules in force",
        example: "rules",
        read: |rest| bare(rest, Command::Rules),
    },
    Spec {
        name: "history",
        takes: "",
        about: "the moves so far, with times and scores",
        example: "history",
        read: |rest| bare(rest, Command::History),
    },
    Spec {
        name: "quit",
        takes: "",
        about: "leave; prints the command that resumes the game",
        example: "quit",
        read: |rest| bare(rest, Command::Quit),
    },
];

fn bare(rest: &str, command: Command) -> Result<Command, String> {
    if rest.is_empty() { Ok(command) } else { Err(format!("takes nothing, but `{rest}` was given")) }
}

/// A count from 1 on; `absent` if none is given.
fn count(rest: &str, absent: usize) -> Result<usize, String> {
    match rest {
        "" => Ok(absent),
        _ => rest
            .parse()
            .ok()
            .filter(|count| *count > 0)
            .ok_or_else(|| format!("`{rest}` is not a count; give a number from 1 on, or none")),
    }
}

fn analyse(rest: &str) -> Result<Command, String> {
    let (mut lines, mut time) = (None, None);
    let wrong_count = || format!("give one number of lines, from 1 to {}", plyd_protocol::MAX_MULTIPV);
    for word in rest.split_whitespace() {
        match word.parse() {
            Ok(count @ 1..=plyd_protocol::MAX_MULTIPV) if lines.is_none() => lines = Some(count),
            Ok(_) => return Err(wrong_count()),
            // A number that is too large for any count.
            Err(_) if word.bytes().all(|byte| byte.is_ascii_digit()) => return Err(wrong_count()),
            Err(_) if time.is_none() => time = Some(parse::duration(word)?),
            Err(_) => return Err("give one time, such as 5s".into()),
        }
    }
    Ok(Command::Analyse { lines, time })
}

fn seat(side: usize, rest: &str) -> Result<Command, String> {
    match rest {
        "" => Err("say who plays: `me`, or a player such as `default` or `minimax,depth=3`".into()),
        _ => Ok(Command::Seat(side, rest.to_owned())),
    }
}

fn assignments(rest: &str) -> Result<Vec<(String, String)>, String> {
    rest.split([',', ' '])
        .filter(|part| !part.is_empty())
        .map(parse::assignment)
        .collect::<Result<Vec<_>, _>>()
        .and_then(|given| {
            if given.is_empty() { Err("give a name and a value, such as width=7".into()) } else { Ok(given) }
        })
}

/// A file's name may have blanks in it; a number at the end is that of the game.
fn load(rest: &str) -> Result<Command, String> {
    if rest.is_empty() {
        return Err("give a file, such as `load game.jsonl`".into());
    }
    let numbered = rest.rsplit_once(char::is_whitespace);
    Ok(match numbered.and_then(|(file, number)| Some((file.trim(), number.parse().ok()?))) {
        Some((file, number)) => Command::Load(file.to_owned(), Some(number)),
        None => Command::Load(rest.to_owned(), None),
    })
}
