//! The load: bots that wait instead of searching play many games at once before spectators, on the real
//! `plyd ladder serve`. Both ends of each hand-over are threads of this process, so that one clock shows what
//! the ladder takes of a move's time.

mod relay;

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::common::ladder::{Answers, Ladder, Seen, Spectators, WaitingBots, Watched};
use super::markdown::{Table, ms};
use super::samples::{Percentiles, Samples};
use super::usage;
use relay::Relay;

/// What is asked of the load.
#[derive(Debug, clap::Args)]
#[group(id = "load args")]
pub(crate) struct Args {
    /// Measure a ladder under load
    #[arg(long)]
    pub(crate) load: bool,
    /// For how long, in seconds
    #[arg(long, default_value_t = 60, requires = "load")]
    seconds: u64,
    /// How many bots
    #[arg(long, default_value_t = 100, requires = "load")]
    bots: usize,
    /// The most games at once
    #[arg(long, default_value_t = 50, requires = "load")]
    at_once: usize,
    /// How many spectators
    #[arg(long, default_value_t = 500, requires = "load")]
    spectators: usize,
    /// The least time that a bot waits, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 200, requires = "load")]
    least_pause: u64,
    /// The most
    #[arg(long, value_name = "MS", default_value_t = 1000, requires = "load")]
    most_pause: u64,
    /// An empty database of PostgreSQL instead of a file, such as postgres:///load?host=/run/postgresql
    #[arg(long, value_name = "URL", requires = "load")]
    db: Option<String>,
}

/// How long everybody may take to come, before times are taken.
const COMING: Duration = Duration::from_secs(10);

/// By how much the ladder's share may pass the control's, at the 99th percentile.
const SHARE_US: i64 = 5000;

/// The same for what its clocks take: they are stated in milliseconds.
const CLOCK_US: i64 = 1000;

/// A figure and what it is to be.
struct Promises {
    table: Table,
    are_kept: bool,
}

impl Promises {
    fn add(&mut self, promise: &str, measured: impl ToString, is_kept: bool) {
        self.are_kept &= is_kept;
        let is_kept = if is_kept { "yes" } else { "no" };
        self.table.row([promise.to_owned(), measured.to_string(), is_kept.to_owned()]);
    }
}

/// What was measured.
struct Measured {
    seen: Seen,
    watched: Watched,
    /// How many games were watched to their ends.
    ends: u64,
    control: Vec<Duration>,
    /// How many games were played at once, now and then.
    at_once: Vec<usize>,
    /// The ladder's CPU time, and for how long.
    cpu: (Duration, Duration),
    /// The most memory that the ladder used, in KiB.
    memory: u64,
}

/// Measures, and prints it; says whether all promises are kept.
pub(crate) fn measure(args: &Args) -> bool {
    // Both ends of each connection are counted where they are, and the ladder inherits the limit.
    let mut files = getrlimit(Resource::Nofile);
    files.current = files.maximum;
    setrlimit(Resource::Nofile, Rlimit { ..files }).unwrap();
    let mut ladder = match &args.db {
        Some(db) => Ladder::within("bench-load", db.clone()),
        None => Ladder::new("bench-load"),
    };
    let game = ["--game", "isolation", "--rules", "preset=7x7", "--clock", "tc=10s+0.1s"];
    ladder.run(&[&["pool", "add", "load"], &game[..]].concat());
    let names = (0..args.bots).map(|number| format!("bot-{number}"));
    let names: Vec<String> = names.collect();
    let token = |name: &String| ladder.run(&["bot", "new", name, "--owner", name]).trim().to_owned();
    let tokens = names.iter().map(token).collect();
    let (places, at_once) = ((args.bots + 10).to_string(), args.at_once.to_string());
    // Each spectator has an address of its own, as behind a proxy.
    let serve = [
        "--http",
        "127.0.0.1:0",
        "--behind-proxy",
        "--dial",
        "ws://127.0.0.1:80",
        "--quiet",
        "--encounters",
        &at_once,
    ];
    ladder.serve_as(&[&serve[..], &["--connections-per-address", &places]].concat());
    let measured = watch(&mut ladder, tokens, args);
    report(&ladder, &measured, args)
}

fn watch(ladder: &mut Ladder, tokens: Vec<String>, args: &Args) -> Measured {
    let answers = Answers::default();
    let pause = (Duration::from_millis(args.least_pause), Duration::from_millis(args.most_pause));
    let bots = WaitingBots::start(ladder.address.unwrap(), tokens, pause, &answers);
    let spectators = Spectators::start(ladder.web.unwrap(), args.spectators, &answers);
    let relay = Relay::start(&"x".repeat(1000)).unwrap();
    thread::sleep(COMING);
    let id = ladder.id();
    let (began, before) = (Instant::now(), usage::cpu(id).unwrap());
    drop(relay.take());
    bots.measure(true);
    spectators.measure();
    let (mut at_once, mut control) = (Vec::new(), Vec::new());
    while began.elapsed() < Duration::from_secs(args.seconds) {
        thread::sleep(Duration::from_millis(100));
        at_once.push(answers.open());
        control.extend(relay.take());
    }
    bots.measure(false);
    let cpu = (usage::cpu(id).unwrap() - before, began.elapsed());
    let memory = usage::status(id, "VmHWM:").unwrap();
    drop(relay);
    let ends = spectators.games();
    let watched = spectators.leave();
    Measured { seen: bots.leave(ladder), watched, ends, control, at_once, cpu, memory }
}

fn samples(times: &[Duration]) -> Samples {
    times.iter().map(|time| time.as_micros() as i64).collect()
}

fn row(table: &mut Table, what: &str, samples: &Samples) -> Option<Percentiles> {
    let shown = samples.percentiles();
    let of = |part: fn(&Percentiles) -> i64| ms(shown.as_ref().map(part));
    let figures = [of(|shown| shown.p50), of(|shown| shown.p99), of(|shown| shown.max)];
    table.row([what.to_owned(), samples.len().to_string()].into_iter().chain(figures));
    shown
}

/// Prints what was measured; says whether all promises are kept.
fn report(ladder: &Ladder, measured: &Measured, args: &Args) -> bool {
    let Measured { seen, watched, ends, control, at_once, cpu, memory } = measured;
    let mut times = Table::new(["milliseconds", "number", "p50", "p99", "max"]);
    let share = row(&mut times, "a bot's answer to its opponent's `go`", &samples(&seen.shares));
    let control = row(&mut times, "control: a line through a thread", &samples(control));
    let beyond = seen.beyond_us.iter().copied().collect();
    let beyond = row(&mut times, "what the clock took beyond the bot's own time", &beyond);
    row(&mut times, "a game's last answer to its `over`", &samples(&seen.ends));
    row(&mut times, "a bot's answer to its board at a spectator", &samples(&watched.delays));
    row(&mut times, "a page of a spectator", &samples(&watched.waits));

    let checked = ladder.check();
    let mut store = ladder.store();
    let (mut forfeits, mut disabled) = (0, 0);
    for bot in store.bots().unwrap() {
        forfeits += store.games_of(bot.id, None, true, u64::MAX).unwrap().len();
        disabled += usize::from(bot.disabled.is_some());
    }
    let uncounted = forfeits as u64 + checked.void;
    let lost = disabled + seen.faults.len();
    let p99 = |of: &Option<Percentiles>| of.as_ref().map_or(i64::MAX, |of| of.p99);
    let above = p99(&share).saturating_sub(p99(&control));
    let charged = p99(&beyond).saturating_sub(p99(&control));
    let mut promises = Promises { table: Table::new(["promise", "measured", "kept"]), are_kept: true };
    promises.add(
        "share of a move at p99: at most the control's and 5 ms",
        ms(Some(above)),
        above <= SHARE_US,
    );
    promises.add("clocks at p99: at most the control's and 1 ms", ms(Some(charged)), charged <= CLOCK_US);
    promises.add("games that are forfeited or void", uncounted, uncounted == 0);
    promises.add("bots that are disabled or lost their connection", lost, lost == 0);
    promises.add("plies that those who watch a game never saw", watched.lost, watched.lost == 0);
    println!("{}\n{}", times.into_text(), promises.table.into_text());

    let sum: usize = at_once.iter().sum();
    let mean = sum as f64 / at_once.len().max(1) as f64;
    let most = at_once.iter().max().copied().unwrap_or_default();
    println!(
        "{} bots, {} games ended with {} moves, {mean:.1} games at once in the mean and {most} at most.",
        args.bots, checked.games, seen.moves
    );
    println!(
        "{} spectators saw {} events, {} games to their ends and {} pages; {} times a game came anew instead of \
         what was missed, {} plies were missed on the list, and refused was {:?}.",
        args.spectators, watched.events, ends, watched.pages, watched.anew, watched.missed, watched.refused
    );
    let (used, lasted) = (cpu.0.as_secs_f64(), cpu.1.as_secs_f64());
    println!(
        "The ladder used {used:.1} s of CPU time in {lasted:.0} s ({:.0} % of a core) and {} MiB of memory at most.",
        100.0 * used / lasted,
        memory / 1024
    );
    for fault in seen.faults.iter().take(10) {
        println!("{fault}");
    }
    promises.are_kept
}
