//! What a daemon's clients pay for metrics, logs and TLS: `cargo bench --bench overhead`, and with TLS
//! `cargo bench --bench overhead --features service`.
//!
//! Several daemons run side by side: one as it comes, and one with each of these. They are asked the same in
//! turns, so that whatever else the machine does disturbs all of them alike. Of each delay the median counts,
//! and its ratio to that of the plain daemon, with a bootstrap interval. It fails if metrics, or a log of one
//! line a search, add more than a tenth. Options: `--samples N`.

#[path = "../common/markdown.rs"]
mod markdown;
#[path = "../common/samples.rs"]
mod samples;
#[path = "../common/server.rs"]
mod server;

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command as Program, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use plyd::client::Address;
use plyd::zobrist::SplitMix64;
use plyd_protocol::{Command, Mode, Ping, Settings};

use markdown::Table;
use samples::Samples;
use server::{Door, Outcome, PLYD, Peer, Server};

/// How often the metrics are asked for, many times as often as by Prometheus.
const SCRAPES: Duration = Duration::from_secs(1);
/// What metrics, and a log of one line a search, may make of a median.
const BOUND: f64 = 1.1;
/// Resamples of the bootstrap.
const RESAMPLES: usize = 2000;

/// Measure what metrics, logs and TLS cost.
#[derive(Debug, Parser)]
struct Args {
    /// Pings of each daemon; of stops, a fourth
    #[arg(long, default_value_t = 8000)]
    samples: usize,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// A daemon with something more than the plain one.
struct Side {
    name: &'static str,
    is_bounded: bool,
    peer: Peer,
    _server: Server,
}

fn main() -> Outcome<()> {
    let args = Args::parse();
    let metrics = free_address()?;
    let log = std::env::temp_dir().join(format!("plyd-overhead-{}.log", std::process::id()));
    let file = |name: &str| format!("{}/tests/certificates/{name}", env!("CARGO_MANIFEST_DIR"));
    let scraped = ["--metrics", &metrics.to_string()];
    let logging = ["--log-format", "json", "--log-filter", "plyd_daemon::searches=debug"];
    let (certificate, key) = (file("server.pem"), file("server.key"));
    let tls = ["--tls-cert", &certificate, "--tls-key", &key];
    let mut sides = vec![
        side("plain", &[], Stdio::inherit(), "tcp", "")?,
        side("plain again", &[], Stdio::inherit(), "tcp", "")?,
        side("metrics, asked for each second", &scraped, Stdio::inherit(), "tcp", "")?,
        side("a JSON line a search", &logging, Stdio::from(File::create(&log)?), "tcp", "")?,
    ];
    sides[2..].iter_mut().for_each(|side| side.is_bounded = true);
    if cfg!(feature = "service") {
        let trusted = format!("?ca={}", file("authority.pem"));
        sides.push(side("TLS", &tls, Stdio::inherit(), "tls", &trusted)?);
    }
    let is_over = AtomicBool::new(false);
    let measured = thread::scope(|scope| {
        let scraper = scope.spawn(|| scrape(metrics, &is_over));
        let measured = measure(&mut sides, args.samples);
        is_over.store(true, Relaxed);
        scraper.join().map_err(|_| "the scraper panicked")??;
        measured
    });
    let lines = std::fs::read_to_string(&log)?.lines().count();
    std::fs::remove_file(&log)?;
    let [pings, stops] = measured?;
    if lines < stops[0].len() {
        return Err(format!("{lines} lines of log for {} searches", stops[0].len()).into());
    }
    let mut table = Table::new(["us", "n", "p50", "p99", "p50 to plain", "95 % interval", "kept"]);
    let mut is_kept = true;
    for (what, samples) in [("`ping`", &pings), ("`stop`", &stops)] {
        for (side, own) in sides.iter().zip(samples) {
            let Some(it) = own.percentiles() else { continue };
            let (ratio, low, high) = ratio(&samples[0], own);
            let kept = side.is_bounded.then_some(ratio <= BOUND);
            is_kept &= kept.unwrap_or(true);
            table.row([
                format!("{what}, {}", side.name),
                own.len().to_string(),
                it.p50.to_string(),
                it.p99.to_string(),
                format!("{ratio:.3}"),
                format!("{low:.3} to {high:.3}"),
                kept.map_or("", |kept| if kept { "yes" } else { "no" }).to_owned(),
            ]);
        }
    }
    write!(io::stdout(), "{}", table.into_text())?;
    if is_kept { Ok(()) } else { Err(format!("more than {BOUND} times the plain daemon's median").into()) }
}

fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// Starts a daemon with these arguments, and connects to it.
fn side(name: &'static str, arguments: &[&str], log: Stdio, way: &str, options: &str) -> Outcome<Side> {
    let address = free_address()?;
    let mut serve = Program::new(PLYD);
    serve.args(["serve", "--threads", "1"]).args(arguments);
    let server = Server::start_logging(serve, address, log)?;
    let address = Address::read(&format!("{way}={address}{options}"))?;
    let mut peer = Door { address, token: None }.enter()?;
    peer.open("isolation", Settings::from_iter([("preset", "11x9")]))?;
    Ok(Side { name, is_bounded: false, peer, _server: server })
}

/// The delays of `ping` and of `stop`, for each side.
fn measure(sides: &mut [Side], count: usize) -> Outcome<[Vec<Samples>; 2]> {
    let mut random = SplitMix64::new(7);
    let pings = in_turns(sides, count, ping)?;
    let stops = in_turns(sides, count / 4, |peer, samples| stop(peer, samples, &mut random))?;
    Ok([pings, stops])
}

/// Asks one after the other, so often. The order is drawn anew each time: who comes behind whom matters.
fn in_turns(
    sides: &mut [Side],
    count: usize,
    mut ask: impl FnMut(&mut Peer, &mut Samples) -> Outcome<()>,
) -> Outcome<Vec<Samples>> {
    let mut samples = vec![Samples::default(); sides.len()];
    let mut random = SplitMix64::new(11);
    let mut order: Vec<usize> = (0..sides.len()).collect();
    for _ in 0..count {
        for place in (1..order.len()).rev() {
            order.swap(place, random.below(place + 1));
        }
        for &at in &order {
            ask(&mut sides[at].peer, &mut samples[at])?;
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

/// The ratio of the medians of two series that were measured in turns, and its 95 % interval.
fn ratio(plain: &Samples, other: &Samples) -> (f64, f64, f64) {
    let mut random = SplitMix64::new(1);
    let (plain, other) = (plain.values(), other.values());
    let count = plain.len().min(other.len());
    let median = |values: &mut Vec<i64>| {
        let middle = values.len() / 2;
        *values.select_nth_unstable(middle).1 as f64
    };
    let of = |turns: &mut dyn FnMut(usize) -> usize| {
        let turns: Vec<usize> = (0..count).map(turns).collect();
        let pick = |values: &[i64]| turns.iter().map(|turn| values[*turn]).collect::<Vec<_>>();
        median(&mut pick(other)) / median(&mut pick(plain))
    };
    let mut ratios: Vec<f64> = (0..RESAMPLES).map(|_| of(&mut |_| random.below(count))).collect();
    ratios.sort_by(f64::total_cmp);
    (of(&mut |turn| turn), ratios[RESAMPLES / 40], ratios[RESAMPLES - 1 - RESAMPLES / 40])
}
