//! How fast Colosseum Survival lists and plays moves: `cargo bench --bench moves`.
//!
//! Positions come from games of random moves, and the time is the CPU time of one thread.

use std::error::Error;
use std::hint::black_box;
use std::io::{self, Write};
use std::time::Duration;

use plyd::columns::{Columns, grouped};
use plyd::game::{Game, Turn};
use plyd::games::bits::{Bits, U192};
use plyd::games::colosseum::rules::{Colosseum, Position};
use plyd::games::colosseum::setup::{self, Setup, StartWalls};
use plyd::search::clock::thread_cpu_time;
use plyd::zobrist::SplitMix64;

/// Positions that are measured.
const SAMPLES: usize = 2000;
/// The CPU time that a figure is measured for.
const TIME: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn Error>> {
    let mut table =
        Columns::new(["size", "moves a position", "positions listed a second", "moves played a second"]);
    table.row(measure::<u64>(6));
    table.row(measure::<u64>(8));
    table.row(measure::<u128>(10));
    table.row(measure::<U192>(12));
    Ok(write!(io::stdout(), "{table}")?)
}

fn measure<B: Bits>(size: usize) -> [String; 4] {
    let game = Colosseum::<B>::new(Setup { size, start_walls: StartWalls::Fall2023, seed: 0 });
    let positions = positions::<B>(size);
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
    let lists: Vec<_> = positions
        .iter()
        .map(|pos| {
            let mut moves = Vec::new();
            game.moves(pos, &mut moves);
            (pos, moves)
        })
        .collect();
    let play = rate(listed, || {
        for (pos, moves) in &lists {
            for &mv in moves {
                let mut next = **pos;
                game.play(&mut next, mv);
                black_box(game.turn(&next) == Turn::Move);
            }
        }
    });
    [size.to_string(), (listed / positions.len()).to_string(), grouped(list), grouped(play)]
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

/// Positions of random games that are not over.
fn positions<B: Bits>(size: usize) -> Vec<Position<B>> {
    let mut random = SplitMix64::new(size as u64);
    let (mut found, mut moves) = (Vec::with_capacity(SAMPLES), Vec::new());
    while found.len() < SAMPLES {
        let setup = Setup { size, start_walls: StartWalls::Fall2023, seed: random.next() };
        let game = Colosseum::<B>::new(setup);
        let mut pos = setup::start(&game).expect("few walls leave a start");
        while game.turn(&pos) == Turn::Move && found.len() < SAMPLES {
            found.push(pos);
            moves.clear();
            game.moves(&pos, &mut moves);
            game.play(&mut pos, moves[random.below(moves.len())]);
        }
    }
    found
}
