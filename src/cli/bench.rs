//! `plyd bench`: how fast each game is searched, and a signature that is equal wherever the search is the same.
//!
//! One thread, depth limits and tables of a fixed size, so that nodes and moves depend on the code alone.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::columns::{Columns, grouped};
use crate::engine::{Bench, Entry};
use crate::game::Rules;
use crate::games::REGISTRY;
use crate::search::Control;
use crate::settings;
use serde::Serialize;

use super::failure::Failure;
use super::position;
use super::{words, write_json};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd bench                       all games
  plyd bench isolation l-game      some of them
  plyd bench --json                for programs

The signature is the total of nodes and a hash of each position's nodes and move. A change of rules or search
changes it; a change of anything else must not.")]
pub(super) struct Args {
    /// The games; all when absent
    games: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    games: Vec<GameReport>,
    #[serde(flatten)]
    total: Work,
    /// Over each position's nodes and move: 8 hex digits.
    hash: String,
}

#[derive(Debug, Serialize)]
struct GameReport {
    game: &'static str,
    #[serde(flatten)]
    total: Work,
    positions: Vec<Searched>,
}

#[derive(Debug, Serialize)]
struct Searched {
    position: &'static str,
    player: &'static str,
    depth: u32,
    #[serde(rename = "move")]
    mv: String,
    #[serde(flatten)]
    work: Work,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Work {
    nodes: u64,
    time_us: u64,
    nps: u64,
}

impl Work {
    fn new(nodes: u64, time: Duration) -> Self {
        Self { nodes, time_us: time.as_micros() as u64, nps: words::per_second(nodes, time) }
    }

    fn sum(parts: impl Iterator<Item = Self>) -> Self {
        let (nodes, time_us) =
            parts.fold((0, 0), |(nodes, time_us), part| (nodes + part.nodes, time_us + part.time_us));
        Self::new(nodes, Duration::from_micros(time_us))
    }

    fn cells(self) -> [String; 3] {
        [grouped(self.nodes), words::time(Duration::from_micros(self.time_us)), grouped(self.nps)]
    }
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let entries: Vec<&Entry> = if args.games.is_empty() {
        REGISTRY.to_vec()
    } else {
        args.games.iter().map(|name| position::game(name)).collect::<Result<_, _>>()?
    };
    let games = entries.into_iter().map(measure).collect::<Result<Vec<_>, _>>()?;
    let hash = format!("{:08x}", signature(&games));
    let report = Report { total: Work::sum(games.iter().map(|game| game.total)), games, hash };
    if args.json { write_json(out, &report) } else { show(&report, out) }
}

fn measure(entry: &'static Entry) -> Result<GameReport, Failure> {
    let positions = entry.bench.iter().map(|bench| search(entry, bench)).collect::<Result<Vec<_>, _>>()?;
    let total = Work::sum(positions.iter().map(|searched| searched.work));
    Ok(GameReport { game: entry.name, total, positions })
}

fn search(entry: &'static Entry, bench: &Bench) -> Result<Searched, Failure> {
    let (player, eval) = bench.player;
    let named = [("player", player), ("eval", eval)].into_iter().filter(|(_, name)| !name.is_empty());
    let fixed = [("deterministic", "true"), ("hash_mb", "16")];
    let given: Vec<(String, String)> =
        named.chain(fixed).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let root = settings::open(entry, &Rules::default(), Some(bench.position)).map_err(|fault| {
        let (game, text) = (entry.name, bench.position);
        Failure::Failed(format!("{game} does not take its own bench position `{text}`: {}", fault.message))
    })?;
    let candidates = root.candidates(&[], &[])?;
    let mut engine = root.engine(&position::options(entry, &given)?)?;
    let control = Control::default();
    control.set_limits(None, Some(bench.depth));
    let began = Instant::now();
    let (lines, _) = engine.search(root.as_ref(), &candidates, 1, &control, &mut |_| ());
    let work = Work::new(control.stats().nodes, began.elapsed());
    let mv = lines.into_iter().next().map_or_else(String::new, |line| line.mv);
    Ok(Searched { position: bench.position, player, depth: bench.depth, mv, work })
}

/// FNV-1a (Fowler, Noll, Vo; 64 bits, folded to 32) over a line for each position.
fn signature(games: &[GameReport]) -> u32 {
    let searched = games.iter().flat_map(|game| game.positions.iter().map(|position| (game.game, position)));
    let text: String = searched.map(|(game, at)| format!("{game} {} {}\n", at.work.nodes, at.mv)).collect();
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (hash ^ (hash >> 32)) as u32
}

fn show(report: &Report, out: &mut impl Write) -> Result<(), Failure> {
    let mut table =
        Columns::new(["game", "player", "depth", "nodes", "time", "a second", "move", "position"]);
    for game in &report.games {
        for at in &game.positions {
            let [nodes, time, nps] = at.work.cells();
            let (player, depth) = (at.player.to_owned(), at.depth.to_string());
            table.row([game.game.into(), player, depth, nodes, time, nps, at.mv.clone(), at.position.into()]);
        }
    }
    writeln!(out, "{table}")?;
    let mut table = Columns::new(["game", "nodes", "time", "a second"]);
    for game in &report.games {
        let [nodes, time, nps] = game.total.cells();
        table.row([game.game.to_owned(), nodes, time, nps]);
    }
    let [nodes, time, nps] = report.total.cells();
    table.row(["total".to_owned(), nodes, time, nps]);
    writeln!(out, "{table}")?;
    Ok(writeln!(out, "Bench: {} {}", report.total.nodes, report.hash)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(nodes: u64, mv: &str) -> GameReport {
        let work = Work::new(nodes, Duration::from_millis(1));
        let at = Searched { position: "p", player: "default", depth: 1, mv: mv.into(), work };
        GameReport { game: "g", total: work, positions: vec![at] }
    }

    #[test]
    fn the_signature_depends_on_nodes_and_moves_alone() {
        let mut slower = game(10, "a");
        slower.positions[0].work = Work::new(10, Duration::from_secs(9));
        assert_eq!(signature(&[game(10, "a")]), signature(&[slower]));
        assert_ne!(signature(&[game(10, "a")]), signature(&[game(11, "a")]));
        assert_ne!(signature(&[game(10, "a")]), signature(&[game(10, "b")]));
        // FNV-1a's offset basis, folded: nothing was searched.
        assert_eq!(signature(&[]), 0xcbf2_9ce4 ^ 0x8422_2325);
    }
}
