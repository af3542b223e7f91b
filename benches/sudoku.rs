//! How fast Sudoku boards are solved, moves classified, first moves found and endings decided: `cargo bench
//! --bench sudoku`.
//!
//! CPU time of one thread. Endings come from games of random moves on 3x3 boards; each is searched by a new
//! default player. Option: `--samples N`.

use std::error::Error;
use std::hint::black_box;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use clap::Parser;
use rustix::time::{ClockId, clock_gettime};

use plyd::cli::columns::Columns;
use plyd::effort::Effort;
use plyd::game::{Game, Root, Rules, Turn};
use plyd::games::sudoku::eval::Parity;
use plyd::games::sudoku::layout::Layout;
use plyd::games::sudoku::player::Racer;
use plyd::games::sudoku::position::Position;
use plyd::games::sudoku::presets::Choice;
use plyd::games::sudoku::rules::{Fill, Sudoku};
use plyd::games::sudoku::solutions::taboo_moves;
use plyd::options::Options;
use plyd::search::clock::thread_cpu_time;
use plyd::search::{Control, End, SearchParams, SearchResult, Searcher};
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
        [$(($name, include_str!(concat!("../crates/games/sudoku/src/boards/", $name, ".txt")))),*]
    };
}

const BOARDS: [(&str, &str); 12] = boards!["easy-2x2" "empty-2x2" "random-2x3" "empty-2x3" "easy-3x3" "hard-3x3"
    "random-3x3" "empty-3x3" "random-3x4" "empty-3x4" "random-4x4" "empty-4x4"];
/// What a solved ending may take to count.
const LIMIT: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let mut out = io::stdout().lock();
    let mut table = Columns::new(["board", "solvable", "all moves classified", "first move", "first depth"]);
    let mut nine = Vec::new();
    for (name, text) in BOARDS {
        let (game, pos) = open(text)?;
        let values: Vec<u8> = pos.squares().iter().map(|square| square.value).collect();
        let solve = mean(|| {
            black_box(game.solver().solve(black_box(&values), &[], &mut u64::MAX.clone(), &Effort::free()));
        });
        let classify = mean(|| {
            black_box(taboo_moves(&game, black_box(&pos)));
        });
        if values.len() == 81 {
            nine.push(solve);
        }
        let [mv, depth] = first_answers(&game, &pos);
        table.row([name.to_owned(), shown(solve), shown(classify), shown(mv), shown(depth)]);
    }
    let mean = nine.iter().sum::<Duration>() / nine.len() as u32;
    writeln!(out, "{table}\nsolvable, mean of the boards of 3x3: {mean:.1?}\n")?;
    let mut table = Columns::new(["empty cells", "solved in 1 s", "median", "worst"]);
    for empty in [14, 16, 17, 18, 19, 20] {
        let mut times: Vec<Duration> = (0..args.samples).map(|seed| decide(empty, seed)).collect();
        times.sort_unstable();
        let solved = times.iter().filter(|&&time| time <= LIMIT).count();
        let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
        let bounded = |time: Duration| if time <= LIMIT { shown(time) } else { "over 1 s".to_owned() };
        table.row([
            empty.to_string(),
            format!("{solved} of {}", times.len()),
            bounded(median),
            bounded(worst),
        ]);
    }
    Ok(writeln!(out, "{table}")?)
}

fn shown(time: Duration) -> String {
    format!("{time:.1?}")
}

/// When a new default player published its first move, and its first depth.
fn first_answers(game: &Sudoku, pos: &Position) -> [Duration; 2] {
    let control = Control::default();
    let began = thread_cpu_time();
    let mut times = [Duration::ZERO; 2];
    let mut publish = |found: &SearchResult<Fill>| {
        let at = usize::from(found.lines[0].depth > 0);
        for time in times[..=at].iter_mut().filter(|time| time.is_zero()) {
            *time = thread_cpu_time() - began;
        }
        if at == 1 {
            control.stop();
        }
    };
    let asked = SearchParams { moves: legal(game, pos), multipv: 1 };
    let _answered = player().search(game, &Root::new(pos.clone()), &asked, &control, &mut publish);
    times
}

fn open(text: &str) -> Result<(Sudoku, Position), Box<dyn Error>> {
    let layout = Layout::parse(text).map_err(|error| format!("{error:?}"))?;
    let rules = Rules::new(Vec::new());
    let game = Choice::new(&rules, Some(&layout.stated_rules())).map(Sudoku::new);
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

fn legal(game: &Sudoku, pos: &Position) -> Vec<Fill> {
    let mut moves = Vec::new();
    game.moves(pos, &mut moves);
    moves
}

/// A new default player.
fn player() -> Racer {
    let options = Options { hash_mb: 64, ..Options::default() };
    Racer::new(Parity::default(), &options)
}

/// The CPU time in which a random ending is decided; more than the limit where it is not.
fn decide(empty: usize, seed: u64) -> Duration {
    let game = Sudoku::new(Choice::new(&Rules::default(), None).expect("the default rules exist"));
    let mut random = SplitMix64::new(seed);
    let mut pos = game.start();
    while pos.empty() > empty && game.turn(&pos) == Turn::Move {
        let moves = legal(&game, &pos);
        game.play(&mut pos, moves[random.below(moves.len())]);
    }
    let control = Control::default();
    let asked = SearchParams { moves: legal(&game, &pos), multipv: 1 };
    thread::scope(|scope| {
        let search = scope.spawn(|| {
            let began = thread_cpu_time();
            let (_, end) = player().search(&game, &Root::new(pos), &asked, &control, &mut |_| {});
            (end, thread_cpu_time() - began)
        });
        // By the time of the process, which does nothing else: other programs may have the core.
        let began = process_cpu_time();
        while !search.is_finished() {
            thread::sleep(Duration::from_millis(1));
            if process_cpu_time() - began > LIMIT + LIMIT / 10 {
                control.stop();
            }
        }
        let (end, took) = search.join().expect("a search does not panic");
        if end == End::Proven { took } else { took.max(LIMIT + Duration::from_nanos(1)) }
    })
}

fn process_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
