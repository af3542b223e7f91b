//! `plyd fleet`: which workers there are, what they play, and how the matches stand.

use std::io::Write;
use std::time::Duration;

use plyd_fleet::{Busy, CoordinatorStatus, FleetStatus, MatchId, QueueStatus, WorkerStatus};

use super::columns::{Columns, grouped};
use super::failure::Failure;
use super::nats::NatsArgs;
use super::styled::{self, Colours};
use super::watch::WatchArgs;

/// The shortest time between two looks.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
/// Digits of a match's name in tables: enough for people.
const SHOWN_DIGITS: usize = 8;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd fleet --nats nats://10.0.0.1:4222
  plyd fleet --nats nats://10.0.0.1:4222 --watch           again every 2 s, until Ctrl-C
  plyd fleet --nats nats://10.0.0.1:4222 --json | jq .workers
  plyd fleet --nats nats://10.0.0.1:4222 --forget 8c7dd922ad47494fc02c388e12c00eac

Results stay on the server for 90 days, or until the match is forgotten.")]
pub(super) struct Args {
    #[command(flatten)]
    nats: NatsArgs,
    #[command(flatten)]
    watch: WatchArgs,
    /// End a match, given by its full name, which --json prints: its coordinator ends, its jobs are taken out
    /// of the queue, and its results stay
    #[arg(long, value_name = "MATCH", conflicts_with_all = ["watch", "json"])]
    cancel: Option<MatchId>,
    /// End a match and remove it from the server: its jobs, its results and its description
    #[arg(long, value_name = "MATCH", conflicts_with_all = ["watch", "json", "cancel"])]
    forget: Option<MatchId>,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut observer = plyd_fleet::Observer::connect(&args.nats.server())?;
    if let Some(id) = &args.cancel {
        return Ok(observer.cancel(id)?);
    }
    if let Some(id) = &args.forget {
        return Ok(observer.forget(id)?);
    }
    args.watch.show(SHORTEST_PAUSE, out, || Ok(observer.look()?), show)
}

fn show(view: &FleetStatus, _: Colours, out: &mut impl Write) -> Result<(), Failure> {
    let mut matches = Columns::new(["match", "pairs", "queued", "what", "standing"]);
    for shown in &view.matches {
        let id = shown.backlog.id.to_string();
        let (pairs, what, standing) = match (&shown.coordinator, &shown.description) {
            (Some(CoordinatorStatus { pairs, scheduled, title, standing, .. }), _) => {
                (format!("{pairs}/{scheduled}"), styled::line(title), styled::line(standing))
            }
            (None, Some(description)) => {
                let (results, pairs) = (shown.backlog.results, description.pairs());
                let standing = if results < pairs { "no coordinator" } else { "complete" };
                (format!("{results}/{pairs}"), styled::line(&description.title()), standing.to_owned())
            }
            (None, None) => (shown.backlog.results.to_string(), String::new(), String::new()),
        };
        matches.row([id[..SHOWN_DIGITS].to_owned(), pairs, shown.backlog.jobs.to_string(), what, standing]);
    }
    let mut workers = Columns::new(["worker", "plyd", "cores", "nodes/s", "up", "games", "plays", "faults"]);
    for worker in &view.workers {
        let WorkerStatus { name, version, cores, speeds, up_s, games, busy, faults, leaves, .. } = worker;
        let plays = busy
            .iter()
            .map(|Busy { id, pair, for_s }| format!("{}/{pair} {for_s} s", &id.to_string()[..SHOWN_DIGITS]));
        let leaving = leaves.then(|| "leaves".to_owned());
        let plays: Vec<String> = plays.chain(leaving).collect();
        let last = faults.last().map(|fault| format!(" {}", styled::line(&fault.message)));
        let count: u64 = faults.iter().map(|fault| fault.count).sum();
        workers.row([
            styled::line(name),
            styled::line(version),
            cores.to_string(),
            speeds
                .iter()
                .map(|(game, speed)| format!("{game} {}", grouped(*speed)))
                .collect::<Vec<_>>()
                .join(", "),
            format!("{} s", grouped(*up_s)),
            games.to_string(),
            plays.join(", "),
            format!("{count}{}", last.unwrap_or_default()),
        ]);
    }
    match view.queue {
        Some(QueueStatus { waiting, taken }) => {
            writeln!(out, "pairs that wait: {waiting}, that are taken: {taken}")?;
        }
        None => writeln!(out, "there is no queue yet: `plyd arena --nats` makes it")?,
    }
    writeln!(out, "\n{matches}\n{workers}")?;
    for (worker, count) in
        view.matches.iter().filter_map(|of| of.coordinator.as_ref()).flat_map(|of| &of.refused)
    {
        writeln!(out, "{count} results of {} were refused", styled::line(worker))?;
    }
    Ok(())
}
