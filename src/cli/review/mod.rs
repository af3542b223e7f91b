//! `plyd review`: what each move of a recorded game kept and what it gave away.
//!
//! In reading order: `reviewed` reviews a game of a record, for this command, for `plyd play` and for the
//! arena; `shape` has it as JSON, and `text` for people.

mod reviewed;
mod shape;
mod text;

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::failure::Failure;
use super::progress::Progress;
use super::records::{self, Game};
use super::styled::Colours;
use super::{parse, write_json};
use crate::review::ReviewLimits;

pub(super) use reviewed::{chosen, review};
pub(super) use shape::{Limit, ReviewedGame};
pub(super) use text::{mark_name, mark_words, pages};

/// The time for a move if no limit is given.
pub(super) const DEFAULT_TIME: Duration = Duration::from_millis(500);

/// How long a review takes before it says how far it is.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd review game.jsonl                       a game that `plyd play` or the page of `plyd gui` saved
  plyd review games.jsonl --game 7             one game of `plyd arena --record`
  plyd review games.jsonl --nodes 200000 --json > reviews.jsonl
  plyd review game.jsonl --movetime 5s --threads 2
  tail -n 1 games.jsonl | plyd review -        the game that ended last

A mark in words is proven: the win was kept, or thrown away. One behind ~ is an estimate: ?! an inaccuracy (5 % of winning \
likelihood lost), ? a mistake (10 %), ?? a blunder (15 %). Openings of a match are not reviewed: nobody chose them. With \
--nodes and one thread a review is the same each time; without a limit it thinks for 500ms a move.")]
pub(super) struct Args {
    /// The file of records; - is the standard input
    #[arg(value_name = "RECORD")]
    file: PathBuf,
    /// The game of that number; without this all of them
    #[arg(long, value_name = "N")]
    game: Option<usize>,
    /// Time to think about a move, at most, such as 500ms or 5s [default: 500ms, with --nodes none]
    #[arg(long, value_name = "TIME", value_parser = parse::thinking_time)]
    movetime: Option<Duration>,
    /// Positions to visit for a move, at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=plyd_protocol::MAX_INT as u64))]
    nodes: Option<u64>,
    /// Threads of a search
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Print one JSON object a game, a line each
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let limits = limits(args);
    let mut games = records::read(&args.file)?;
    if args.game.is_some() {
        games = vec![records::choose(games, args.game, "--game N")?];
    }
    let place = args.file.display();
    let at_line = |game: &Game, failure: Failure| match failure {
        Failure::Usage(message) => Failure::Usage(format!("{place}, line {}: {message}", game.line)),
        other => other,
    };
    let mut following = Following::new(games.iter().map(chosen).sum());
    for (index, game) in games.iter().enumerate() {
        let shown = review(game, limits, |done| following.show(done));
        let Some(shown) = shown.map_err(|failure| at_line(game, failure))? else { return Ok(()) };
        following.pass(chosen(game));
        if args.json {
            write_json(out, &ReviewedGame::new(game, limits, &shown))?;
        } else {
            following.clear();
            if index > 0 {
                writeln!(out)?;
            }
            let colours = Colours::of_output();
            write!(out, "{}", game.heading())?;
            for line in pages(game, &shown) {
                writeln!(out, "{}", line.written(colours))?;
            }
        }
        // A game is worth reading while the next one is reviewed.
        out.flush()?;
    }
    Ok(())
}

/// Reads what a review may spend on a move, in one word: a time such as `200ms`, or `nodes=N`.
///
/// # Errors
/// A sentence that says how it is written.
pub(super) fn read_limit(text: &str) -> Result<ReviewLimits, String> {
    if let Some(nodes) = text.strip_prefix("nodes=") {
        let nodes = nodes.parse().ok().filter(|nodes| *nodes > 0);
        let nodes = nodes.ok_or("give a number of nodes from 1 on, such as nodes=100000")?;
        return Ok(ReviewLimits { nodes: Some(nodes), ..ReviewLimits::default() });
    }
    let time = parse::thinking_time(text).map_err(|error| format!("{error}, or nodes=N"))?;
    Ok(ReviewLimits { time: Some(time), ..ReviewLimits::default() })
}

/// What the arguments let a review spend.
fn limits(args: &Args) -> ReviewLimits {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    ReviewLimits {
        nodes: args.nodes,
        time: args.movetime.or(args.nodes.is_none().then_some(DEFAULT_TIME)),
        threads: usize::from(args.threads).min(available),
        ..ReviewLimits::default()
    }
}

/// How far the review of several games is, on stderr once it has taken a while.
struct Following {
    began: Instant,
    moves: usize,
    /// The moves of the games that are reviewed.
    before: usize,
    progress: Option<Progress>,
}

impl Following {
    fn new(moves: usize) -> Self {
        Self { began: Instant::now(), moves, before: 0, progress: None }
    }

    fn show(&mut self, done: usize) -> ControlFlow<()> {
        if self.began.elapsed() >= PATIENCE && self.moves > 0 {
            let progress = self.progress.get_or_insert_with(|| Progress::of_moves(self.moves as u64));
            progress.show((self.before + done).min(self.moves) as u64, "");
        }
        ControlFlow::Continue(())
    }

    fn pass(&mut self, moves: usize) {
        self.before += moves;
    }

    /// Ends the line of a terminal, behind which a game is printed.
    fn clear(&mut self) {
        self.progress = None;
    }
}
