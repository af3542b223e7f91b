//! `plyd show`: games from records, as a list, printed, or stepped through.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::arena::{Answered, Contradiction, Entrant, Forfeit};
use crate::columns::{Columns, grouped};
use crate::engine::AnyRoot;
use crate::settings;
use plyd_protocol::{Player, Record};
use serde::Deserialize;

use super::failure::Failure;
use super::{picture, position, words};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd show games.jsonl                     the games of a match
  plyd show games.jsonl --game 7            one of them: its moves, and the board at the end
  plyd show games.jsonl --game 7 --ply 12   the board after 12 plies
  plyd show games.jsonl --game 7 --step     one board after the other
  tail -n 1 games.jsonl | plyd show -       the game that ended last

A record is a line of JSON: what `plyd arena --record` writes and what the protocol's `inspect` calls `record`.
While stepping: Enter or n goes on, p back, a number to that ply, q ends.")]
pub(super) struct Args {
    /// The file of records; - is the standard input
    #[arg(value_name = "RECORD")]
    file: PathBuf,
    /// The game of that number; without this a list of all, or the only one
    #[arg(long, value_name = "N")]
    game: Option<usize>,
    /// The board after so many plies; without this the last one
    #[arg(long, value_name = "N", conflicts_with = "step")]
    ply: Option<usize>,
    /// Step through the game
    #[arg(long)]
    step: bool,
}

/// A record, and what a match adds to it. One without a number has that of its line.
#[derive(Debug, Deserialize)]
struct Game {
    #[serde(flatten)]
    record: Record,
    number: Option<usize>,
    players: Option<[Entrant; 2]>,
    #[serde(default)]
    opening: usize,
    #[serde(default)]
    answers: Vec<Answered>,
    forfeit: Option<Forfeit>,
    #[serde(default)]
    contradictions: Vec<Contradiction>,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if args.step && args.file == Path::new("-") {
        return Err(Failure::Usage("--step reads its steps from the standard input: give a file".into()));
    }
    let games = read(&args.file)?;
    let game = match (args.game, &games[..]) {
        (None, [only]) => only,
        (None, _) if args.ply.is_none() && !args.step => return Ok(write!(out, "{}", list(&games))?),
        (None, _) => return Err(Failure::Usage("there are several games: choose one by --game N".into())),
        (Some(number), _) => {
            let found = games.iter().find(|game| game.number == Some(number));
            found.ok_or_else(|| Failure::Usage(format!("there is no game {number} in the file")))?
        }
    };
    let boards = boards(game)?;
    if args.step {
        return step(game, &boards, out);
    }
    let last = boards.len() - 1;
    let ply = args.ply.unwrap_or(last);
    let board = boards.get(ply).ok_or_else(|| Failure::Usage(format!("the game has {last} plies")))?;
    write!(out, "{}", heading(game))?;
    if args.ply.is_none() {
        write!(out, "\n{}", moves(game))?;
    }
    Ok(write!(out, "\n{}", after(game, ply, board.as_ref()))?)
}

/// The games of a file, a line each.
fn read(path: &Path) -> Result<Vec<Game>, Failure> {
    let place = path.display();
    let lines: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path).map_err(|error| Failure::Usage(format!("{place}: {error}")))?;
        Box::new(BufReader::new(file))
    };
    let mut games = Vec::new();
    for (line, number) in lines.lines().zip(1..) {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let mut game: Game = serde_json::from_str(&line).map_err(|error| {
            Failure::Usage(format!("{place}, line {number}: no record of a game: {error}"))
        })?;
        game.number = game.number.or(Some(number));
        games.push(game);
    }
    if games.is_empty() { Err(Failure::Usage(format!("{place}: there is no game in it"))) } else { Ok(games) }
}

fn list(games: &[Game]) -> Columns {
    let mut table = Columns::new(["game", "p1", "p2", "moves", "end"]);
    for game in games {
        let number = game.number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        let name = |player| name(game, player).unwrap_or("-").to_owned();
        let moves = game.record.moves.iter().filter(|mv| !mv.starts_with('~')).count();
        table.row([number, name(Player::P1), name(Player::P2), grouped(moves as u64), end(game)]);
    }
    table
}

fn name(game: &Game, player: Player) -> Option<&str> {
    let [p1, p2] = game.players.as_ref()?;
    Some(match player {
        Player::P1 => &p1.name,
        Player::P2 => &p2.name,
    })
}

fn end(game: &Game) -> String {
    let outcome = game.record.result.as_ref();
    outcome.map_or_else(|| "the game goes on".to_owned(), words::outcome)
}

/// What was played, by whom, and how it ended.
fn heading(game: &Game) -> String {
    let Record { game: played, rules, .. } = &game.record;
    let mut text = played.clone();
    text.extend(rules.iter().map(|(name, value)| format!(" {name}={}", words::setting(value))));
    text.push('\n');
    for (side, player) in [("p1", Player::P1), ("p2", Player::P2)] {
        if let Some(name) = name(game, player) {
            text += &format!("{side}: {name}\n");
        }
    }
    text += &format!("{}\n", end(game));
    if let Some(Forfeit { fault, .. }) = &game.forfeit {
        text += &format!("{fault}\n");
    }
    for Contradiction { answer, message, .. } in &game.contradictions {
        text += &format!("answer {}: {message}\n", answer + 1);
    }
    text
}

/// The plies one by one, with what was told of those that were asked for.
fn moves(game: &Game) -> Columns {
    let mut table = Columns::new(["ply", "move", "by", "time", "left", "score"]);
    for (index, mv) in game.record.moves.iter().enumerate() {
        let mut row = vec![(index + 1).to_string(), mv.clone()];
        row.extend(match answer(game, index) {
            Some(Answered { player, time_us, left_us, score, .. }) => {
                let by = if *player == Player::P1 { "p1" } else { "p2" };
                let time = |us: u64| words::time(Duration::from_micros(us));
                let score = score.as_ref().map_or_else(String::new, words::score);
                [by.to_owned(), time(*time_us), left_us.map_or_else(String::new, time), score]
            }
            None => {
                let by = if mv.starts_with('~') { "chance" } else { "opening" };
                [by.to_owned(), String::new(), String::new(), String::new()]
            }
        });
        table.row(row);
    }
    table
}

/// The answer that is this ply of the game; none in the opening, for chance, and in records that keep no answers.
fn answer(game: &Game, ply: usize) -> Option<&Answered> {
    let moves = game.record.moves.get(game.opening..=ply)?;
    let asked = moves.iter().filter(|mv| !mv.starts_with('~')).count();
    if moves.last()?.starts_with('~') { None } else { game.answers.get(asked - 1) }
}

/// The position after each number of plies, from 0 on.
fn boards(game: &Game) -> Result<Vec<Arc<dyn AnyRoot>>, Failure> {
    let Record { game: name, rules, start, moves, .. } = &game.record;
    let entry = position::game(name)?;
    let rules = settings::rules(entry, rules, 0)?;
    let mut boards = vec![settings::open(entry, &rules, Some(start))?];
    for mv in moves {
        let next = boards[boards.len() - 1].extend(std::slice::from_ref(mv))?;
        boards.push(next);
    }
    Ok(boards)
}

/// A board and the ply that led to it.
fn after(game: &Game, ply: usize, root: &dyn AnyRoot) -> String {
    let mut text = picture::board(&root.board());
    let plies = game.record.moves.len();
    text += &match ply.checked_sub(1) {
        None => format!("the start of {plies} plies"),
        Some(last) => format!("ply {ply} of {plies}: {}", game.record.moves[last]),
    };
    if let Some(answered) = ply.checked_sub(1).and_then(|last| answer(game, last)) {
        text += &format!(", {}", words::time(Duration::from_micros(answered.time_us)));
        if let Some(score) = &answered.score {
            text += &format!(", {}", words::score(score));
        }
    }
    text += &match root.outcome() {
        Some(outcome) => format!("; {}\n", words::outcome(&outcome)),
        None => format!("; {}\n", words::to_move(root.to_move())),
    };
    text
}

/// Shows one board after the other, as the lines of the standard input say.
fn step(game: &Game, boards: &[Arc<dyn AnyRoot>], out: &mut impl Write) -> Result<(), Failure> {
    let last = boards.len() - 1;
    let mut ply = 0;
    writeln!(out, "{}", heading(game))?;
    let mut lines = io::stdin().lines();
    loop {
        writeln!(out, "{}", after(game, ply, boards[ply].as_ref()))?;
        loop {
            if io::stdin().is_terminal() {
                write!(out, "[Enter, p, 0 to {last}, q] ")?;
            }
            out.flush()?;
            let Some(line) = lines.next().transpose()? else { return Ok(()) };
            let next = match line.trim() {
                "" | "n" => ply + 1,
                "p" => ply.saturating_sub(1),
                "q" => return Ok(()),
                number => number.parse().unwrap_or(usize::MAX),
            };
            if next <= last {
                ply = next;
                break;
            }
            writeln!(out, "{}", if next == last + 1 { "that was the last ply" } else { "no such ply" })?;
        }
    }
}
