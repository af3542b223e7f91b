//! How fast Colosseum Survival and IJK list and play moves, and how fast IJK is searched: `cargo bench
//! --bench moves`.
//!
//! Positions come from games of random moves, and the time is the CPU time of one thread.

use std::error::Error;
use std::hint::black_box;
use std::io::{self, Write};
use std::time::Duration;

use plyd::bits::{Bits, Colours};
use plyd::cli::columns::{Columns, grouped};
use plyd::game::{Game, Root, Rules, Setting, Turn};
use plyd::games::colosseum::rules::Colosseum;
use plyd::games::colosseum::setup::{Setup, StartWalls};
use plyd::games::ijk::eval::Lead;
use plyd::games::ijk::rules::{Ijk, Position};
use plyd::games::ijk::variant::Variant;
use plyd::games::ijk::{Board, Nibbles, Planes};
use plyd::options::Options;
use plyd::search::clock::thread_cpu_time;
use plyd::search::iterate::Iterate;
use plyd::search::{Control, SearchParams, Searcher};
use plyd::zobrist::SplitMix64;

/// Positions that are measured.
const SAMPLES: usize = 2000;
/// The CPU time that a figure is measured for.
const TIME: Duration = Duration::from_secs(1);
/// One of so many positions is searched, and the nodes of a search.
const SEARCHED: usize = 50;
const NODES: u64 = 100_000;
/// The plies to which IJK's lines from the start are counted, each of them played.
const PLIES: u32 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut table =
        Columns::new(["colosseum", "moves a position", "positions listed a second", "moves played a second"]);
    table.row(colosseum::<u64>(6));
    table.row(colosseum::<u64>(8));
    table.row(colosseum::<Colours<u64>>(10));
    table.row(colosseum::<Colours<u128>>(12));
    let mut out = io::stdout();
    writeln!(out, "{table}")?;
    let mut table =
        Columns::new(["ijk", "lines of 10 plies", "moves played a second", "nodes searched a second"]);
    table.row(ijk::<Nibbles>(4)?);
    table.row(ijk::<Planes>(6)?);
    Ok(write!(out, "{table}")?)
}

fn colosseum<B: Bits>(size: usize) -> [String; 4] {
    let game = Colosseum::<B>::new(Setup { size, start_walls: StartWalls::Fall2023, seed: 0 });
    let positions = positions(size as u64, |random| {
        let setup = Setup { size, start_walls: StartWalls::Fall2023, seed: random.next() };
        let game = Colosseum::<B>::new(setup);
        let start = game.start().expect("few walls leave a start");
        (game, start)
    });
    let mut moves = Vec::with_capacity(1024);
    let mut listed = 0;
    for pos in &positions {
        moves.clear();
        game.moves(pos, &mut moves);
        listed += moves.len();
    }
    let list = rate(positions.len(), || {
        for pos in &positions {
            moves.clear();
            game.moves(black_box(pos), &mut moves);
            black_box(&moves);
        }
    });
    let play = played(&game, &positions);
    [size.to_string(), (listed / positions.len()).to_string(), grouped(list), grouped(play)]
}

fn ijk<B: Board>(size: i64) -> Result<[String; 4], Box<dyn Error>> {
    let rules = Rules::new(vec![("size", Setting::Int(size))]);
    let variant = Variant::choose(&rules, None).map_err(|error| format!("{error:?}"))?;
    let game = Ijk::<false, B>::new(variant);
    let positions = positions(size as u64, |_| (game, game.start()));
    let lines = lines(&game, &game.start(), PLIES);
    let play = played(&game, &positions);
    let searched = searched(&game, &positions);
    Ok([format!("{size}x{size}"), grouped(lines), grouped(play), grouped(searched)])
}

/// The lines of so many plies, every one of them played.
fn lines<G: Game>(game: &G, pos: &G::Position, plies: u32) -> u64 {
    if plies == 0 {
        return 1;
    }
    if game.turn(pos) != Turn::Move {
        return 0;
    }
    let mut moves = Vec::new();
    game.moves(pos, &mut moves);
    let behind = moves.into_iter().map(|mv| {
        let mut next = pos.clone();
        game.play(&mut next, mv);
        lines(game, &next, plies - 1)
    });
    behind.sum()
}

/// How many moves a second are played from positions, each looked at whether it ends the game.
fn played<G: Game>(game: &G, positions: &[G::Position]) -> u64 {
    let lists: Vec<_> = positions
        .iter()
        .map(|pos| {
            let mut moves = Vec::new();
            game.moves(pos, &mut moves);
            (pos, moves)
        })
        .collect();
    rate(lists.iter().map(|(_, moves)| moves.len()).sum(), || {
        for (pos, moves) in &lists {
            for &mv in moves {
                let mut next = (*pos).clone();
                game.play(&mut next, mv);
                black_box(game.turn(&next) == Turn::Move);
            }
        }
    })
}

/// How many nodes a second the default search visits.
fn searched<B: Board>(game: &Ijk<false, B>, positions: &[Position<B>]) -> u64 {
    let mut searcher = Iterate::new(game, Lead::default(), &Options::default());
    let began = thread_cpu_time();
    let mut nodes = 0;
    for &pos in positions.iter().step_by(SEARCHED) {
        let control = Control::default();
        control.set_limits(Some(NODES), None);
        let mut moves = Vec::new();
        game.moves(&pos, &mut moves);
        searcher.search(game, &Root::new(pos), &SearchParams { moves, multipv: 1 }, &control, &mut |_| ());
        nodes += control.stats().nodes;
    }
    (nodes as f64 / (thread_cpu_time() - began).as_secs_f64()) as u64
}

/// How often a second something is done that `work` does so many times.
fn rate(times: usize, mut work: impl FnMut()) -> u64 {
    work();
    let began = thread_cpu_time();
    let mut done = 0;
    while thread_cpu_time() - began < TIME {
        work();
        done += times;
    }
    (done as f64 / (thread_cpu_time() - began).as_secs_f64()) as u64
}

/// Positions of random games that are not over; `start` gives each game.
fn positions<G: Game>(
    seed: u64,
    mut start: impl FnMut(&mut SplitMix64) -> (G, G::Position),
) -> Vec<G::Position> {
    let mut random = SplitMix64::new(seed);
    let (mut found, mut moves) = (Vec::with_capacity(SAMPLES), Vec::new());
    while found.len() < SAMPLES {
        let (game, mut pos) = start(&mut random);
        while game.turn(&pos) == Turn::Move && found.len() < SAMPLES {
            found.push(pos.clone());
            moves.clear();
            game.moves(&pos, &mut moves);
            game.play(&mut pos, moves[random.below(moves.len())]);
        }
    }
    found
}
