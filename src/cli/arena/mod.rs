//! `plyd arena`: a match between two players, through the protocol, with a referee that trusts neither.

mod player;
mod report;
mod sprt;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::arena::{self, Match, PlayedGame, Strictness, Summary};
use plyd_protocol::Seed;

use super::failure::Failure;
use super::position::PositionArgs;
use super::{parse, write_json};
use report::Progress;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd arena l-game --player default --player alphabeta,depth=3 --games 40
  plyd arena isolation --player default,time=50ms --player default,eval=mobility,time=50ms
  plyd arena isolation --player default,nodes=20000 --player cmd=/usr/bin/plyd,nodes=20000 --record games.jsonl

A player is a name from `plyd describe GAME` with its options, and limits: time=100ms a move, nodes=N, depth=N; without
any it has 100ms. cmd=PROGRAM is any other program that speaks the protocol, such as an older plyd; it is started
without a shell, and commas end it. Each opening is played twice, with sides swapped; errors are 95 % intervals.")]
pub(super) struct Args {
    #[command(flatten)]
    position: PositionArgs,
    /// A player, to be given twice: NAME or cmd=PROGRAM, then options and limits
    #[arg(long = "player", value_name = "PLAYER", required = true)]
    players: Vec<String>,
    /// Games; each opening takes two
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..))]
    games: u32,
    /// Random moves with which each pair of games begins
    #[arg(long, value_name = "N", default_value_t = 2)]
    random_plies: u16,
    /// The seed of openings, of chance and of the players' choices: 1 to 16 hexadecimal digits
    #[arg(long, value_name = "HEX", default_value = "0", value_parser = seed)]
    seed: Seed,
    /// Games played at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: u16,
    /// How much later than its time an answer may arrive before the game is lost
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = parse::duration)]
    margin: Duration,
    /// How long beyond its time and the margin an answer is waited for
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse::duration)]
    patience: Duration,
    /// The moves after which a game that goes on is a draw
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    max_moves: u32,
    /// Append a record of each game to this file, a line of JSON each
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let contest = contest(args)?;
    let mut file = args.record.as_deref().map(records).transpose()?;
    contest.try_players().map_err(|error| Failure::Usage(error.to_string()))?;
    let mut summary = Summary::default();
    let mut progress = Progress::new(contest.games());
    contest.run(|game| {
        if let Some(file) = &mut file {
            append(file, &game)?;
        }
        summary.add(&game);
        progress.show(&summary);
        Ok::<(), io::Error>(())
    })?;
    let report = report::Report::new(&contest, args.seed, &summary);
    if args.json { write_json(out, &report) } else { report.show(out) }
}

/// The match that the arguments describe.
fn contest(args: &Args) -> Result<Match, Failure> {
    let start = args.position.open()?;
    let [first, second] = &args.players[..] else {
        return Err(Failure::Usage("give --player twice: a match has two players".into()));
    };
    if args.games % 2 == 1 {
        return Err(Failure::Usage("give --games an even number: each opening is played twice".into()));
    }
    let players = [player::player(start.entry(), first)?, player::player(start.entry(), second)?];
    let (plies, pairs) = (args.random_plies.into(), args.games as usize / 2);
    let openings = arena::openings(&start, plies, pairs, args.seed.0)
        .map_err(|error| Failure::Usage(format!("{error}; give fewer --random-plies")))?;
    Ok(Match {
        rules: args.position.told_rules()?,
        start,
        players,
        openings,
        strictness: Strictness {
            margin: args.margin,
            patience: args.patience,
            max_moves: args.max_moves as usize,
        },
        seed: args.seed.0,
        concurrency: args.concurrency.into(),
    })
}

fn seed(text: &str) -> Result<Seed, String> {
    text.parse().map_err(|_| "give 1 to 16 lower-case hexadecimal digits".into())
}

fn records(path: &Path) -> Result<File, Failure> {
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.map_err(|error| Failure::Usage(format!("--record {}: {error}", path.display())))
}

/// Appends a game in one write, so that what is in the file is whole.
fn append(file: &mut File, game: &PlayedGame) -> io::Result<()> {
    let mut line = serde_json::to_vec(game)?;
    line.push(b'\n');
    file.write_all(&line)
}
