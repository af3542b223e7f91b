//! How fast Sudoku boards are solved, moves classified and endings decided: `cargo bench --bench sudoku`.
//!
//! CPU time of one thread. Endings come from games of random moves on 3x3 boards; each is searched by a new default player.
//! Option: `--samples N`.

use std::error::Error;
use std::hint::black_box;
use std::io::{self, Write};
use std::time::Duration;

use clap::Parser;

use plyd::columns::Columns;
use plyd::game::{Game, Root, Rules, Turn};
use plyd::games::sudoku::eval::Parity;
use plyd::games::sudoku::layout::Layout;
use plyd::games::sudoku::player::Racer;
use plyd::games::sudoku::presets::Choice;
use plyd::games::sudoku::position::Position;
use plyd::games::sudoku::rules::Sudoku;
use plyd::games::sudoku::solutions::taboo_moves;
use plyd::options::Options;
use plyd::search::clock::{now_ns, thread_cpu_time};
use plyd::search::{Asked, Control, End, Searcher};
use plyd::zobrist::SplitMix64;

/// Measure the Sudoku solver and the exact search of endings.
#[derive(Debug, Parser)]
struct Args {
    /// Endings a row
    #[arg(long, default_value_t = 50)]
    samples: u64,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

macro_rules! boards {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../src/games/sudoku/boards/", $name, ".txt")))),*]
    };
}

const BOARDS: [(&str, &str); 11] = boards!["easy-2x2" "empty-2x2" "random-2x3" "empty-2x3" "easy-3x3" "hard-3x3"
    "random-3x3" "empty-3x3" "random-3x4" "empty-3x4" "random-4x4"];
/// What a solved ending may take to count.
const LIMIT: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let mut out = io::stdout().lock();
    let mut table = Columns::new(["board", "solvable", "all moves classified"]);
    for (name, text) in BOARDS {
        let (game, pos) = open(text)?;
        let values: Vec<u8> = pos.squares().iter().map(|square| square.value).collect();
        let solve = || {
            black_box(game.solver().solve(black_box(&values), &[], &mut u64::MAX.clone()));
        };
        let classify = || {
            black_box(taboo_moves(&game, black_box(&pos)));
        };
        table.row([name.to_owned(), format!("{:?}", mean(solve)), format!("{:?}", mean(classify))]);
    }
    writeln!(out, "{table}")?;
    let mut table = Columns::new(["empty cells", "solved in 1 s", "median", "worst"]);
    for empty in [14, 16, 18, 20, 22, 24] {
        let mut times: Vec<Duration> = (0..args.samples).map(|seed| decide(empty, seed)).collect();
        times.sort_unstable();
        let solved = times.iter().filter(|&&time| time <= LIMIT).count();
        let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
        let told = |time: Duration| if time <= LIMIT { format!("{time:.1?}") } else { "over 1 s".to_owned() };
        table.row([empty.to_string(), format!("{solved} of {}", times.len()), told(median), told(worst)]);
    }
    Ok(writeln!(out, "{table}")?)
}

fn open(text: &str) -> Result<(Sudoku, Position), Box<dyn Error>> {
    let layout = Layout::parse(text).map_err(|error| format!("{error:?}"))?;
    let game = Choice::new(&Rules::default(), Some(&layout.told())).map(Sudoku::new);
    let game = game.map_err(|error| format!("{error:?}"))?;
    let pos = layout.position(&game).map_err(|error| format!("{error:?}"))?;
    Ok((game, pos))
}

/// The mean CPU time of many calls.
fn mean(mut call: impl FnMut()) -> Duration {
    let began = thread_cpu_time();
    let mut calls = 0;
    while calls < 10 || thread_cpu_time() - began < Duration::from_millis(50) {
        call();
        calls += 1;
    }
    (thread_cpu_time() - began) / calls
}

/// The CPU time in which a random ending is decided; more than the limit where it is not.
fn decide(empty: usize, seed: u64) -> Duration {
    let game = Sudoku::new(Choice::new(&Rules::default(), None).expect("the default rules exist"));
    let mut random = SplitMix64::new(seed);
    let mut pos = game.start();
    let mut moves = Vec::new();
    while pos.empty() > empty && game.turn(&pos) == Turn::Move {
        moves.clear();
        game.moves(&pos, &mut moves);
        game.play(&mut pos, moves[random.below(moves.len())]);
    }
    moves.clear();
    game.moves(&pos, &mut moves);
    let options = Options {
        player: "default".to_owned(),
        depth: None,
        eval: "parity".to_owned(),
        threads: 1,
        hash_mb: 64,
        seed: 0,
        level: 10,
        variety: 0,
        deterministic: false,
        own: Vec::new(),
    };
    let control = Control::default();
    // Wall time: more than the limit, as other programs may have the core.
    let until = now_ns() + 2 * LIMIT.as_nanos() as u64;
    control.set_deadlines(until, until);
    let began = thread_cpu_time();
    let asked = Asked { moves, multipv: 1 };
    let (_, end) = Racer::new(Parity, &options).search(&game, &Root::new(pos), &asked, &control, &mut |_| {});
    let took = thread_cpu_time() - began;
    if end == End::Proven { took } else { took.max(LIMIT + Duration::from_nanos(1)) }
}
