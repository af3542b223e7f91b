//! Games of knight Isolation between two evaluations, with the same search, in one process on one thread.
//!
//! `plyd arena` plays whole players by the clock; this plays evaluations alone, by nodes or by CPU time, so
//! that it distinguishes weights on a busy machine too, and tries weights that no player has.

mod contender;
mod duel;
mod worth;

use std::io::{self, Write};
use std::time::Duration;

use clap::Parser;
use plyd::games::isolation::rules::Isolation;

use crate::contender::Contender;
use crate::duel::{Budget, Duel};

/// Plays two evaluations of knight Isolation against each other
#[derive(Debug, Parser)]
struct Args {
    /// An evaluation: territory, race, mobility, or what a cell is worth by its exits, such as
    /// 0,0,500,500,1000
    one: String,
    /// The other
    two: String,
    /// Columns and rows
    #[arg(long, default_value = "11x9", value_parser = size)]
    board: (usize, usize),
    /// Games, in pairs that begin with the same opening
    #[arg(long, default_value_t = 400)]
    games: u32,
    /// Nodes a move; absent, the CPU time counts
    #[arg(long)]
    nodes: Option<u64>,
    /// CPU time a move in milliseconds
    #[arg(long, default_value_t = 20)]
    cpu_ms: u64,
    /// Random plies that open a game
    #[arg(long, default_value_t = 8)]
    opening: u32,
    /// The seed of the openings
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn size(text: &str) -> Result<(usize, usize), String> {
    let parsed =
        text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    parsed.ok_or_else(|| "columns and rows, such as 11x9".to_owned())
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    let game = Isolation::<u128>::new(args.board.0, args.board.1);
    let contender = |name: &str| {
        Contender::new(&game, name).ok_or_else(|| io::Error::other(format!("no evaluation `{name}`")))
    };
    let budget = args.nodes.map_or(Budget::Cpu(Duration::from_millis(args.cpu_ms)), Budget::Nodes);
    let mut duel = Duel::new(&game, [contender(&args.one)?, contender(&args.two)?], budget);
    for pair in 0..args.games.div_ceil(2) {
        duel.play_pair(args.opening, args.seed.wrapping_add(u64::from(pair) << 32));
    }
    write!(io::stdout().lock(), "{duel}")
}
