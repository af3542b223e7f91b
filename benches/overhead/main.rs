//! What a daemon's clients pay for metrics, logs and TLS: `cargo bench --bench overhead`, and with TLS
//! `cargo bench --bench overhead --features service`.
//!
//! In each round several daemons start: two as they come, and one with each of these. They are asked the same
//! in turns, so that whatever else the machine does disturbs all of them alike. The next round starts them
//! anew, in another order, because equal daemons differ from start to start. The delays of all rounds are
//! pooled: of each daemon the median counts, and its ratio to that of both plain daemons together, with a
//! bootstrap interval over the rounds.
//!
//! The second plain daemon, beside the first alone, is the control: if the interval of its ratio leaves 0.95
//! to 1.05, nothing can be judged here. It fails then, and if metrics, or a log of one line a search, add
//! more than a tenth. Options: `--rounds N`, `--samples N`.

#[path = "../common/bootstrap.rs"]
mod bootstrap;
#[path = "../common/markdown.rs"]
mod markdown;
mod ratio;
#[path = "../common/samples.rs"]
mod samples;
#[path = "../common/server.rs"]
mod server;

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command as Program, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use plyd::client::Address;
use plyd::zobrist::SplitMix64;
use plyd_protocol::{Command, Mode, Ping, Settings};

use markdown::Table;
use ratio::{Ratio, Verdict};
use samples::Samples;
use server::{Door, Outcome, PLYD, Peer, Server};

/// How often the metrics are asked for, many times as often as by Prometheus.
const SCRAPES: Duration = Duration::from_secs(1);
/// What metrics, and a log of one line a search, may make of a median.
const BOUND: f64 = 1.1;
/// Measure what metrics, logs and TLS cost.
#[derive(Debug, Parser)]
struct Args {
    /// Starts of each daemon
    #[arg(long, default_value_t = 72, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Pings of each daemon over all rounds; of stops, a fourth
    #[arg(long, default_value_t = 38_400, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// A kind of daemon.
struct Kind {
    name: &'static str,
    is_bounded: bool,
    way: &'static str,
    options: String,
    arguments: Vec<String>,
    log: Option<PathBuf>,
}

/// A daemon that runs.
struct Side {
    peer: Peer,
    _server: Server,
}

/// What was measured of each kind, in the order of the kinds: the delays of each round.
type Delays = Vec<Vec<Vec<i64>>>;

fn main() -> Outcome<()> {
    let args = Args::parse();
    let log = std::env::temp_dir().join(format!("plyd-overhead-{}.log", std::process::id()));
    let kinds = kinds(&log);
    let measured = rounds(&kinds, args.rounds as usize, args.samples as usize);
    let lines = std::fs::read_to_string(&log).map(|text| text.lines().count());
    let removed = std::fs::remove_file(&log);
    let [pings, stops] = measured?;
    let (lines, searches) = (lines?, stops[LOGGED].iter().map(Vec::len).sum());
    removed?;
    if lines < searches {
        return Err(format!("{lines} lines of log for {searches} searches").into());
    }
    let mut table = Table::new(["us", "n", "p50", "p99", "p50 to plain", "95 % interval", "at most 1.1"]);
    let mut verdicts = Vec::new();
    for (what, delays) in [("ping", &pings), ("stop", &stops)] {
        verdicts.extend(rows(&mut table, what, &kinds, delays)?);
    }
    write!(io::stdout(), "{}", table.into_text())?;
    if verdicts.contains(&Verdict::Exceeded) {
        return Err(format!("more than {BOUND} times the plain daemons' median").into());
    }
    if verdicts.contains(&Verdict::Unknown) {
        return Err(
            "cannot be judged here: equal daemons differ too much. Give it more --rounds, or a machine \
                    without other load"
                .into(),
        );
    }
    Ok(())
}

/// The place of the first plain daemon among the kinds, of the second, and of the one that logs.
const PLAIN: usize = 0;
const CONTROL: usize = 1;
const LOGGED: usize = 3;

fn kinds(log: &Path) -> Vec<Kind> {
    let kind = |name, arguments: &[&str]| Kind {
        name,
        is_bounded: false,
        way: "tcp",
        options: String::new(),
        arguments: arguments.iter().map(ToString::to_string).collect(),
        log: None,
    };
    let logging = ["--log-format", "json", "--log-filter", "plyd_daemon::searches=debug"];
    let mut kinds = vec![
        kind("plain", &[]),
        kind("plain again", &[]),
        // Where they are served is added when it starts.
        Kind { is_bounded: true, ..kind("metrics, asked for each second", &["--metrics"]) },
        Kind { is_bounded: true, log: Some(log.to_owned()), ..kind("a JSON line a search", &logging) },
    ];
    if cfg!(feature = "service") {
        let file = |name: &str| format!("{}/tests/certificates/{name}", env!("CARGO_MANIFEST_DIR"));
        let tls = ["--tls-cert", &file("server.pem"), "--tls-key", &file("server.key")];
        let options = format!("?ca={}", file("authority.pem"));
        kinds.push(Kind { way: "tls", options, ..kind("TLS", &tls) });
    }
    kinds
}

/// A row for each kind of daemon; whether those that have a bound keep it.
fn rows(table: &mut Table, what: &str, kinds: &[Kind], delays: &Delays) -> Outcome<Vec<Verdict>> {
    let both: Vec<Vec<i64>> =
        delays[PLAIN].iter().zip(&delays[CONTROL]).map(|(one, other)| [&one[..], other].concat()).collect();
    let control = Ratio::of(&delays[CONTROL], &delays[PLAIN]);
    let mut verdicts = Vec::new();
    for (at, (kind, own)) in kinds.iter().zip(delays).enumerate() {
        let ratio = match at {
            PLAIN => None,
            CONTROL => control,
            _ => Some(Ratio::of(own, &both).ok_or("a median of 0")?),
        };
        let verdict = ratio.filter(|_| kind.is_bounded).map(|ratio| ratio.judge(BOUND, control.as_ref()));
        verdicts.extend(verdict);
        let pooled = Samples::from_iter(own.iter().flatten().copied());
        let percentiles = pooled.percentiles().ok_or("nothing was measured")?;
        table.row([
            format!("`{what}`, {}", kind.name),
            pooled.len().to_string(),
            percentiles.p50.to_string(),
            percentiles.p99.to_string(),
            ratio.map_or_else(String::new, |it| format!("{:.3}", it.value)),
            ratio.map_or_else(String::new, |it| format!("{:.3} to {:.3}", it.low, it.high)),
            verdict.map_or_else(String::new, |verdict| verdict.to_string()),
        ]);
    }
    Ok(verdicts)
}

/// The delays of `ping` and of `stop` over so many rounds.
fn rounds(kinds: &[Kind], rounds: usize, samples: usize) -> Outcome<[Delays; 2]> {
    let mut measured = [(); 2].map(|()| vec![Vec::new(); kinds.len()]);
    let mut random = SplitMix64::new(7);
    for _ in 0..rounds {
        let metrics = free_address()?;
        let mut sides: Vec<Option<Side>> = kinds.iter().map(|_| None).collect();
        for at in shuffled(kinds.len(), &mut random) {
            sides[at] = Some(start(&kinds[at], metrics)?);
        }
        let mut sides: Vec<Side> = sides.into_iter().flatten().collect();
        let is_over = AtomicBool::new(false);
        let round = thread::scope(|scope| {
            let scraper = scope.spawn(|| scrape(metrics, &is_over));
            let round = measure(&mut sides, samples.div_ceil(rounds), &mut random);
            is_over.store(true, Relaxed);
            scraper.join().map_err(|_| "the scraper panicked")??;
            round
        })?;
        for (all, own) in measured.iter_mut().zip(round) {
            all.iter_mut().zip(own).for_each(|(all, own)| all.push(own.values().to_vec()));
        }
    }
    Ok(measured)
}

/// The numbers below `count` in an order that is drawn.
fn shuffled(count: usize, random: &mut SplitMix64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for place in (1..count).rev() {
        order.swap(place, random.below(place + 1));
    }
    order
}

fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// Starts a daemon of that kind, and connects to it.
fn start(kind: &Kind, metrics: SocketAddr) -> Outcome<Side> {
    let address = free_address()?;
    let mut serve = Program::new(PLYD);
    serve.args(["serve", "--threads", "1"]).args(&kind.arguments);
    if kind.arguments.last().is_some_and(|last| last == "--metrics") {
        serve.arg(metrics.to_string());
    }
    let log = match &kind.log {
        Some(path) => File::options().create(true).append(true).open(path)?.into(),
        None => Stdio::inherit(),
    };
    let server = Server::start_logging(serve, address, log)?;
    let address = Address::read(&format!("{}={address}{}", kind.way, kind.options))?;
    let mut peer = Door { address, token: None }.enter()?;
    peer.open("isolation", Settings::from_iter([("preset", "11x9")]))?;
    Ok(Side { peer, _server: server })
}

/// The delays of `ping` and of `stop` in one round, for each side.
fn measure(sides: &mut [Side], count: usize, random: &mut SplitMix64) -> Outcome<[Vec<Samples>; 2]> {
    let pings = in_turns(sides, count, random, |peer, samples, _| ping(peer, samples))?;
    let stops = in_turns(sides, count.div_ceil(4), random, stop)?;
    Ok([pings, stops])
}

/// Asks one after the other, so often. The order is drawn anew each time: who comes behind whom matters.
fn in_turns(
    sides: &mut [Side],
    count: usize,
    random: &mut SplitMix64,
    ask: impl Fn(&mut Peer, &mut Samples, &mut SplitMix64) -> Outcome<()>,
) -> Outcome<Vec<Samples>> {
    let mut samples = vec![Samples::default(); sides.len()];
    for _ in 0..count {
        for at in shuffled(sides.len(), random) {
            ask(&mut sides[at].peer, &mut samples[at], random)?;
        }
    }
    Ok(samples)
}

fn ping(peer: &mut Peer, samples: &mut Samples) -> Outcome<()> {
    let (id, sent) = peer.client.request(Command::Ping(Ping::default()))?;
    samples.add(sent, peer.wait(&id)?.last.at);
    Ok(())
}

fn stop(peer: &mut Peer, samples: &mut Samples, random: &mut SplitMix64) -> Outcome<()> {
    let go = peer.go(|go| go.mode = Mode::Analyse)?;
    thread::sleep(Duration::from_micros(500 + random.below(2500) as u64));
    let sent = Instant::now();
    peer.stop(&go)?;
    samples.add(sent, peer.wait(&go)?.last.at);
    Ok(())
}

/// Asks for the metrics until it is over.
fn scrape(address: SocketAddr, is_over: &AtomicBool) -> Outcome<()> {
    while !is_over.load(Relaxed) {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        if !answer.starts_with("HTTP/1.1 200") {
            return Err("no metrics".into());
        }
        let next = Instant::now() + SCRAPES;
        while Instant::now() < next && !is_over.load(Relaxed) {
            thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(())
}
