//! `plyd show`: games from records, as a list, printed, or stepped through.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bridge;
use crate::cli::columns::{Columns, grouped};
use crate::engine::AnyRoot;
use plyd_protocol::Player;

use super::failure::Failure;
use super::records::{self, Game};
use super::{picture, styled, words};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd show games.jsonl                     the games of a match
  plyd show games.jsonl --game 7            one of them: its moves, and the board at the end
  plyd show games.jsonl --game 7 --ply 12   the board after 12 plies
  plyd show games.jsonl --game 7 --step     one board after the other
  tail -n 1 games.jsonl | plyd show -       the game that ended last

A record is a line of JSON: what `plyd arena --record` writes and what the protocol's `inspect` calls `record`. \
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

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if args.step && args.file == Path::new("-") {
        return Err(Failure::Usage("--step reads its steps from the standard input: give a file".into()));
    }
    let games = records::read(&args.file)?;
    if games.len() > 1 && args.game.is_none() && args.ply.is_none() && !args.step {
        return Ok(write!(out, "{}", list(&games))?);
    }
    let game = &records::choose(games, args.game, "--game N")?;
    let boards = boards(game)?;
    if args.step {
        return step(game, &boards, out);
    }
    let last = boards.len() - 1;
    let ply = args.ply.unwrap_or(last);
    let board = boards.get(ply).ok_or_else(|| {
        Failure::Usage(format!("--ply {ply}: the game has only {}", words::count(last as u64, "ply")))
    })?;
    write!(out, "{}", game.heading())?;
    if args.ply.is_none() {
        write!(out, "\n{}", game.moves())?;
        if !game.variations.is_empty() {
            write!(out, "\n{}", game.variations())?;
        }
    }
    Ok(write!(out, "\n{}", after(game, ply, board.as_ref()))?)
}

fn list(games: &[Game]) -> Columns {
    let mut table = Columns::new(["game", "p1", "p2", "moves", "end"]);
    for game in games {
        let number = game.number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        let name = |player| styled::line(game.name(player).unwrap_or("-"));
        let moves = game.record.moves.iter().filter(|mv| !mv.starts_with('~')).count();
        let why = game.forfeit.as_ref().map(|forfeit| format!(": {}", styled::line(&forfeit.reason.message)));
        let end = game.end() + &why.unwrap_or_default();
        table.row([number, name(Player::P1), name(Player::P2), grouped(moves as u64), end]);
    }
    table
}

/// The position after each number of plies, from 0 on.
fn boards(game: &Game) -> Result<Vec<Arc<dyn AnyRoot>>, Failure> {
    let mut boards = vec![Arc::clone(game.start()?.root())];
    for mv in &game.record.moves {
        let next = boards[boards.len() - 1].extend(std::slice::from_ref(mv))?;
        boards.push(next);
    }
    Ok(boards)
}

/// A board and the ply that led to it.
fn after(game: &Game, ply: usize, root: &dyn AnyRoot) -> String {
    let mut text = picture::board(&bridge::board(root.board()));
    text += &game.place(ply);
    text += &match root.outcome() {
        Some(outcome) => format!("; {}\n", words::outcome(&bridge::outcome(outcome))),
        None => format!("; {}\n", words::to_move(bridge::to_move(root.to_move()))),
    };
    if let Some(comment) = game.comment(ply) {
        text += &format!("“{comment}”\n");
    }
    text
}

/// Shows one board after the other, as the lines of the standard input say.
fn step(game: &Game, boards: &[Arc<dyn AnyRoot>], out: &mut impl Write) -> Result<(), Failure> {
    let last = boards.len() - 1;
    let mut ply = 0;
    writeln!(out, "{}", game.heading())?;
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
