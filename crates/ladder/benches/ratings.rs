//! Whether ratings find the strengths of simulated players: `cargo bench -p plyd-ladder --bench ratings`.
//!
//! Prints Markdown. For seasons of several kinds: how many of the 95 % intervals hold the true strength, and
//! the median of half their widths in Elo, of the table and of Glicko-2. And how long the table of a large
//! ladder takes.

mod season;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use plyd_core::zobrist::SplitMix64;
use plyd_ladder::BotId;
use plyd_ladder::ratings::table::{Results, table};
use season::{Season, SeasonIntervals, coverage, held, median_error};

/// The least number of intervals of each kind of season.
const INTERVALS: usize = 4000;

fn main() -> io::Result<ExitCode> {
    let usual = Season {
        bots: 30,
        spread: 300.0,
        rounds: 200,
        draws: 0.3,
        advantage: 0.05,
        openings: 0.1,
        taste: 0.05,
    };
    let kinds = [
        ("30 bots, 200 rounds", usual),
        ("40 rounds", Season { rounds: 40, ..usual }),
        ("15 rounds", Season { rounds: 15, ..usual }),
        ("1,000 rounds", Season { rounds: 1000, ..usual }),
        ("8 bots", Season { bots: 8, ..usual }),
        ("100 bots", Season { bots: 100, ..usual }),
        ("strengths twice as far apart, 15 rounds", Season { spread: 600.0, rounds: 15, ..usual }),
        ("strengths twice as far apart", Season { spread: 600.0, ..usual }),
        ("no draws", Season { draws: 0.0, ..usual }),
        ("80 % draws between equals", Season { draws: 0.8, ..usual }),
        ("openings that favour a side", Season { advantage: 0.1, openings: 0.15, taste: 0.0, ..usual }),
        ("openings that suit a bot", Season { advantage: 0.0, openings: 0.0, taste: 0.25, ..usual }),
    ];
    let mut out = io::stdout();
    writeln!(
        out,
        "| season | pairs a bot | intervals | table holds | +- Elo | of those with all or no points | Glicko-2 holds | +- Elo |"
    )?;
    writeln!(out, "|---|--:|--:|--:|--:|--:|--:|--:|")?;
    let mut all = SeasonIntervals::default();
    let mut sound = true;
    for (name, season) in kinds {
        let mut found = SeasonIntervals::default();
        for seed in 0.. {
            found.add(season.play(seed));
            if found.table.len() >= INTERVALS {
                break;
            }
        }
        row(&mut out, name, &found)?;
        sound &= (0.93..=0.97).contains(&coverage(&found.table));
        all.add(found);
    }
    row(&mut out, "all", &all)?;
    writeln!(out, "\n{}", large(1000, 500_000))?;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn row(out: &mut impl Write, name: &str, found: &SeasonIntervals) -> io::Result<()> {
    let intervals = found.table.len();
    let pairs = found.pairs as f64 / intervals as f64;
    let [table, glicko] = [&found.table, &found.glicko]
        .map(|estimates| format!("{:.1} % | {:.0}", 100.0 * coverage(estimates), median_error(estimates)));
    let extremes = format!("{} of {}", held(&found.extremes), found.extremes.len());
    writeln!(out, "| {name} | {pairs:.0} | {intervals} | {table} | {extremes} | {glicko} |")
}

/// How long the table takes of so many bots and pairs of games.
fn large(bots: usize, pairs: usize) -> String {
    let mut random = SplitMix64::new(0);
    let season =
        Season { bots, spread: 0.0, rounds: 0, draws: 0.3, advantage: 0.05, openings: 0.1, taste: 0.05 };
    let elo = |bot: usize| 500.0 + 2000.0 * bot as f64 / bots as f64;
    let mut results = Results::default();
    for _ in 0..pairs {
        let [first, second] = [random.below(bots), random.below(bots - 1)];
        let second = if second >= first { second + 1 } else { second };
        let half_points = season.pair(elo(first) - elo(second), &mut random);
        results.add_pair([first, second].map(|bot| BotId(bot as u64)), half_points);
    }
    let anchors: BTreeMap<BotId, f64> =
        (0..bots).step_by(bots / 10).map(|bot| (BotId(bot as u64), elo(bot))).collect();
    let began = Instant::now();
    let rows = table(&results, &anchors);
    let time = began.elapsed().as_secs_f64();
    format!("The table of {} bots and {} games: {time:.1} s.", rows.len(), 2 * pairs)
}
