//! `plyd bench`: how fast each game is searched, and a signature that is equal wherever the search is the
//! same.
//!
//! One thread, depth limits and tables of a fixed size, so that nodes and moves depend on the code alone.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::cli::columns::{Columns, grouped};
use crate::engine::settings;
use crate::engine::{Bench, Entry};
use crate::search::Control;
use crate::search::clock::now_ns;
use serde::Serialize;

use super::failure::Failure;
use super::{parse, position, registry, words, write_json};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd bench                       all games
  plyd bench isolation l-game      some of them
  plyd bench ijk --time 100ms      how deep each position is searched in that time
  plyd bench --json                for programs

The signature is the total of nodes and a hash of each position's nodes and move. A change of rules or search \
changes it; a change of anything else must not. With a time there is none.")]
pub(super) struct Args {
    /// The games; all when absent
    #[arg(value_parser = registry::parser())]
    games: Vec<&'static Entry>,
    /// Search each position for this time, such as 100ms or 1s, and not to its depth
    #[arg(long, value_parser = parse::duration)]
    time: Option<Duration>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    games: Vec<GameReport>,
    #[serde(flatten)]
    total: Work,
    /// Over each position's nodes and move: 8 hex digits; none if a clock ended the searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
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
    #[serde(skip_serializing_if = "str::is_empty")]
    rules: &'static str,
    position: &'static str,
    player: &'static str,
    /// The depth that was searched whole.
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
    let entries = if args.games.is_empty() { registry::games() } else { &args.games };
    let games = entries.iter().map(|entry| measure(entry, args.time)).collect::<Result<Vec<_>, _>>()?;
    let hash = args.time.is_none().then(|| format!("{:08x}", signature(&games)));
    let report = Report { total: Work::sum(games.iter().map(|game| game.total)), games, hash };
    if args.json { write_json(out, &report) } else { show(&report, out) }
}

/// What `plyd bench GAME` prints: the total of nodes, and the hash.
///
/// # Errors
/// The game does not take its own bench positions.
#[cfg(any(feature = "fleet", feature = "ladder"))]
pub(super) fn signature_of(entry: &'static Entry) -> Result<String, Failure> {
    let report = measure(entry, None)?;
    Ok(format!("{} {:08x}", report.total.nodes, signature(std::slice::from_ref(&report))))
}

/// Nodes a second of a game's bench on one core, searched for this time at each of its positions.
///
/// # Errors
/// As [`signature_of`].
#[cfg(feature = "fleet")]
pub(super) fn speed_of(entry: &'static Entry, time: Duration) -> Result<u64, Failure> {
    Ok(measure(entry, Some(time))?.total.nps)
}

fn measure(entry: &'static Entry, time: Option<Duration>) -> Result<GameReport, Failure> {
    let searches = entry.bench.iter().map(|bench| search(entry, bench, time));
    let positions = searches.collect::<Result<Vec<_>, _>>()?;
    let total = Work::sum(positions.iter().map(|searched| searched.work));
    Ok(GameReport { game: entry.name, total, positions })
}

/// Searches a position to its depth, or for some time as the player would by default.
fn search(entry: &'static Entry, bench: &Bench, time: Option<Duration>) -> Result<Searched, Failure> {
    let &Bench { rules, position, player: (player, eval), .. } = bench;
    let named = [("player", player), ("eval", eval)].into_iter().filter(|(_, name)| !name.is_empty());
    let fixed = [("deterministic", if time.is_none() { "true" } else { "false" }), ("hash_mb", "16")];
    let given: Vec<(String, String)> =
        named.chain(fixed).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let parsed = rules.split(',').filter(|rule| !rule.is_empty()).map(parse::assignment);
    let parsed = parsed.collect::<Result<Vec<_>, _>>().map_err(Failure::Failed)?;
    let root = settings::open(entry, &position::rules(entry, &parsed)?, Some(position)).map_err(|fault| {
        let game = entry.name;
        Failure::Failed(format!(
            "{game} does not take its own bench position `{position}`: {}",
            fault.message
        ))
    })?;
    let candidates = root.candidates(&[], &[])?;
    let mut engine = root.engine(&position::options(entry, &given)?)?;
    let control = Control::default();
    match time {
        None => control.set_limits(None, Some(bench.depth)),
        Some(time) => {
            let deadline = now_ns().saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
            control.set_deadlines(deadline, deadline);
        }
    }
    let began = Instant::now();
    let (lines, _) = engine.search(root.as_ref(), &candidates, 1, &control, &mut |_| ());
    let work = Work::new(control.stats().nodes, began.elapsed());
    let depth = if time.is_none() { bench.depth } else { control.stats().depth };
    let mv = lines.into_iter().next().map_or_else(String::new, |line| line.mv().to_owned());
    Ok(Searched { rules, position, player, depth, mv, work })
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
            let position = match at.rules {
                "" => at.position.to_owned(),
                rules => format!("{rules} {}", at.position),
            };
            table.row([game.game.into(), player, depth, nodes, time, nps, at.mv.clone(), position]);
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
    if let Some(hash) = &report.hash {
        writeln!(out, "Bench: {} {hash}", report.total.nodes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(nodes: u64, mv: &str) -> GameReport {
        let work = Work::new(nodes, Duration::from_millis(1));
        let at = Searched { rules: "", position: "p", player: "default", depth: 1, mv: mv.into(), work };
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
