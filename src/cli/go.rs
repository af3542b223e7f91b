//! `plyd go`: one answer in one position, for people or for scripts.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use crate::bridge;
use crate::cli::columns::{Columns, grouped};
use crate::engine::AnyRoot;
use crate::search::clock::now_ns;
use crate::search::{Control, End, UNLIMITED};
use plyd_protocol::{ErrorCode, Hash, Line, Reason, Stats};
use serde::Serialize;

use super::failure::Failure;
use super::position::{self, PositionArgs};
use super::{parse, picture, words, write_json};

/// The time to think if no limit is given.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd go {l-game}
  plyd go {isolation} --time 5s --multipv 3
  plyd go isolation --rules width=5,height=5 --depth 20 --json
  plyd go isolation --option player=greedy --nodes 10000

The first limit that is reached ends the search; without any it thinks for 1s. A proven answer comes at once.")]
pub(super) struct Args {
    #[command(flatten)]
    position: PositionArgs,
    /// Options of the player, such as player=random,seed=5; `plyd describe GAME` lists them
    #[arg(long = "option", value_name = "NAME=VALUE", value_delimiter = ',', value_parser = parse::assignment)]
    options: Vec<(String, String)>,
    /// Time to think, such as 1s or 200ms
    #[arg(long, value_parser = parse::duration)]
    time: Option<Duration>,
    /// Depth to search to, in plies
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(plyd_protocol::MAX_SEARCH_DEPTH)))]
    depth: Option<u32>,
    /// Positions to visit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=plyd_protocol::MAX_INT as u64))]
    nodes: Option<u64>,
    /// How many of the best moves to print
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    multipv: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The answer as `--json` prints it: the fields have the protocol's names and meanings.
#[derive(Debug, Serialize)]
struct Answer {
    game: &'static str,
    position: String,
    reason: Reason,
    #[serde(rename = "move")]
    mv: String,
    hash: Hash,
    lines: Vec<Line>,
    stats: Stats,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let root = args.position.open()?;
    let answer = match search(args, root.as_ref()) {
        Ok(answer) => answer,
        Err(Failure::Refused { code: ErrorCode::GameOver, message }) => {
            return Err(over(root.as_ref(), message));
        }
        Err(failure) => return Err(failure),
    };
    if args.json { write_json(out, &answer) } else { show(root.as_ref(), &answer, out) }
}

fn search(args: &Args, root: &dyn AnyRoot) -> Result<Answer, Failure> {
    let began = now_ns();
    let candidates = root.candidates(&[], &[])?;
    let mut engine = root.engine(&position::options(root.entry(), &args.options)?)?;
    let control = Control::default();
    control.set_limits(args.nodes, args.depth);
    let limited = args.nodes.is_some() || args.depth.is_some();
    let time = args.time.or((!limited).then_some(DEFAULT_TIME));
    let deadline = time
        .map_or(UNLIMITED, |time| began.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(UNLIMITED)));
    control.set_deadlines(deadline, deadline);
    let watched = io::stderr().is_terminal();
    let mut progress = |lines| {
        if watched {
            report(&bridge::lines(lines));
        }
    };
    let (lines, end) = engine.search(root, &candidates, args.multipv as usize, &control, &mut progress);
    let elapsed = Duration::from_nanos(now_ns() - began);
    let lines = bridge::lines(lines);
    let counted = control.stats();
    let stats = Stats {
        nodes: counted.nodes,
        nps: words::per_second(counted.nodes, elapsed),
        time_ms: elapsed.as_millis() as u64,
        depth: counted.depth,
        seldepth: counted.seldepth,
        hash_ppm: counted.hash_ppm,
    };
    let best = lines.first().ok_or_else(|| Failure::Failed("the player gave no move".into()))?;
    let reason = match end {
        End::Proven => Reason::Proven,
        // The only time there is here is a limit.
        End::Limit | End::Clock => Reason::Limit,
        End::Stopped => Reason::Stopped,
    };
    let (mv, hash) = (best.mv.clone(), Hash(root.hash()));
    Ok(Answer { game: root.entry().name, position: root.text(), reason, mv, hash, lines, stats })
}

/// The answer if there is nothing to search: how the game ended.
fn over(root: &dyn AnyRoot, message: String) -> Failure {
    let message = match root.outcome() {
        Some(outcome) => format!("the game is over: {}", words::outcome(&bridge::outcome(outcome))),
        None => message,
    };
    Failure::Refused { code: ErrorCode::GameOver, message }
}

/// One better answer, on stderr.
fn report(lines: &[Line]) {
    for line in lines {
        let _nobody_reads = writeln!(
            io::stderr(),
            "depth {:>3}  {:<20} {}",
            line.depth,
            words::line_score(line),
            line.pv.join(", ")
        );
    }
}

fn show(root: &dyn AnyRoot, answer: &Answer, out: &mut impl Write) -> Result<(), Failure> {
    write!(out, "{}", picture::board(&bridge::board(root.board())))?;
    writeln!(out, "{}: {}\n", words::to_move(bridge::to_move(root.to_move())), answer.position)?;
    let mut table = Columns::new(["best", "score", "depth", "line"]);
    for line in &answer.lines {
        table.row([line.mv.clone(), words::line_score(line), line.depth.to_string(), line.pv.join(", ")]);
    }
    let Stats { nodes, nps, time_ms, .. } = answer.stats;
    let end = match answer.reason {
        Reason::Proven => "proven",
        _ => "not proven",
    };
    writeln!(out, "{table}")?;
    Ok(writeln!(out, "{end}; {} nodes in {time_ms} ms, {} a second", grouped(nodes), grouped(nps))?)
}
