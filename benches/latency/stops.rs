//! `stop` beside Stockfish's, one and the other in turns, with the ratio of the 99th percentiles.

use std::io::{self, Write};
use std::time::Instant;

use ::plyd::cli::columns::grouped;
use ::plyd::zobrist::SplitMix64;

use crate::bootstrap::{interval, resample};
use crate::control::Control;
use crate::measure::{Outcome, Subject, wait};
use crate::plyd::Plyd;
use crate::samples::Samples;
use crate::stockfish::Stockfish;

/// How often both start anew.
const ROUNDS: usize = 3;

/// Measures so many stops of each in each round, and prints a table.
pub(crate) fn run(samples: usize, threads: usize) -> Outcome<()> {
    let mut control = Control::start();
    let mut rng = SplitMix64::new(4);
    let mut pooled = [Samples::default(), Samples::default()];
    let mut controls = Samples::default();
    let mut text =
        "| round | who | n | p50, us | p99 | p99.9 | max |\n|--:|---|--:|--:|--:|--:|--:|\n".to_owned();
    for round in 1..=ROUNDS {
        let Some(mut stockfish) = Stockfish::start(threads)? else {
            return Err("there is no stockfish here: `apt install stockfish`".into());
        };
        let mut plyd = Plyd::start(threads)?;
        let mut own = [Samples::default(), Samples::default()];
        for _ in 0..samples {
            let subjects: [&mut dyn Subject; 2] = [&mut plyd, &mut stockfish];
            for (subject, samples) in subjects.into_iter().zip(&mut own) {
                subject.think()?;
                wait(&mut control, &mut rng);
                let sent = Instant::now();
                samples.add(sent, subject.stop()?);
            }
        }
        controls.extend(control.take());
        for ((who, samples), pooled) in ["plyd", "stockfish"].into_iter().zip(own).zip(&mut pooled) {
            text += &row(&round.to_string(), who, &samples);
            pooled.extend(samples);
        }
    }
    for (who, samples) in ["plyd", "stockfish"].into_iter().zip(&pooled) {
        text += &row("all", who, samples);
    }
    text += &row("all", "control", &controls);
    let [plyd, stockfish] = pooled.each_ref().map(Samples::values);
    let ratio = |plyd: &mut [i64], stockfish: &mut [i64]| p99(plyd) as f64 / p99(stockfish).max(1) as f64;
    let measured = ratio(&mut plyd.to_vec(), &mut stockfish.to_vec());
    let resampled =
        |rng: &mut SplitMix64| Some(ratio(&mut resample(plyd, rng), &mut resample(stockfish, rng)));
    let [low, high] = interval(resampled).ok_or("nothing was measured")?;
    let total = grouped(plyd.len() as u64);
    Ok(writeln!(
        io::stdout(),
        "`stop` to `bestmove`, {threads} search threads\n\n{text}\np99 of plyd / p99 of Stockfish over {total} of each: \
         {measured:.2}, 95 % interval {low:.2} to {high:.2} (bootstrap)"
    )?)
}

fn row(round: &str, who: &str, samples: &Samples) -> String {
    samples.percentiles().map_or_else(String::new, |it| {
        let n = samples.len();
        format!("| {round} | {who} | {n} | {} | {} | {} | {} |\n", it.p50, it.p99, it.p999, it.max)
    })
}

/// The 99th percentile by nearest rank; puts the values into another order.
fn p99(values: &mut [i64]) -> i64 {
    let rank = (values.len() * 99).div_ceil(100).max(1) - 1;
    *values.select_nth_unstable(rank).1
}
