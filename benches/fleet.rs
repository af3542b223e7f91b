//! What a fleet carries: `cargo bench --bench fleet --features fleet`.
//!
//! First many workers that answer at once, with records that were played before: what the server and the
//! coordinator can take, what a game costs in messages and bytes, what memory they need, and how long another
//! coordinator takes to take the match up when all of its results are there. Then real workers, 1, 2 and 4,
//! on this machine: what a fleet costs beside the local arena. Options: `--workers N`, `--pairs N` of the
//! first, `--games N` of the second, `--at-once` for the first alone.

#![allow(clippy::print_stdout, reason = "it prints what it finds")]

#[path = "common/usage.rs"]
mod usage;

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use plyd::client::{Launch, Process, Reaper};
use plyd_fleet::{Credentials, Queue, Server};
use serde_json::{Value, json};

const PLYD: &str = env!("CARGO_BIN_EXE_plyd");

/// Matches that are played within moments, with short records and with long ones.
const QUICK: [[&str; 7]; 2] = [quick("width=5,height=5"), quick("preset=11x9")];

const fn quick(rules: &str) -> [&str; 7] {
    ["isolation", "--rules", rules, "--player", "greedy,time=1000s", "--player", "random,time=1000s"]
}

/// A match that keeps a core busy for some tenths of a second a game.
const BUSY: [&str; 7] = [
    "isolation",
    "--rules",
    "preset=11x9",
    "--player",
    "default,nodes=100000",
    "--player",
    "default,nodes=50000",
];

/// Measure a fleet.
#[derive(Debug, Parser)]
struct Args {
    /// Workers that answer at once
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    workers: u32,
    /// Pairs that they answer
    #[arg(long, default_value_t = 3000, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Games of the real workers
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(2..))]
    games: u32,
    /// Leave the real workers out
    #[arg(long)]
    at_once: bool,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let args = Args::parse();
    let folder = std::env::temp_dir().join(format!("plyd-fleet-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let bench = Bench { reaper: Reaper::start(PLYD)?, folder };
    let at_once = QUICK.iter().try_for_each(|the_match| bench.at_once(&args, the_match));
    let measured = at_once.and_then(|()| if args.at_once { Ok(()) } else { bench.real(&args) });
    fs::remove_dir_all(&bench.folder)?;
    measured
}

struct Bench {
    reaper: Arc<Reaper>,
    folder: PathBuf,
}

/// A server of NATS that runs.
struct Nats {
    process: Process,
    port: u16,
    monitor: u16,
}

impl Bench {
    /// Workers that answer at once.
    fn at_once(&self, args: &Args, the_match: &[&str]) -> Outcome<()> {
        let games = (2 * args.pairs).to_string();
        let record = self.folder.join("local.jsonl");
        let quick = [the_match, &["--games", &games]].concat();
        self.run(&[&quick[..], &["--record", path(&record), "--concurrency", "2"]].concat())?;
        let text = fs::read_to_string(&record)?;
        let mut records: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        records.sort_by_key(|record| record["number"].as_u64());
        fs::remove_file(&record)?;
        let plies: usize = records.iter().map(|record| record["moves"].as_array().map_or(0, Vec::len)).sum();
        let nats = self.nats(the_match[2])?;
        let before = nats.traffic()?;
        let url = nats.url();
        let queued = (2 * args.workers).to_string();
        let more = ["--nats", &url, "--queued", &queued, "--json"];
        let coordinator = self.start(&[&["arena"], &quick[..], &more].concat(), Stdio::null())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let began = Instant::now();
        // Workers wait for further jobs for a while, so the end is that of the coordinator.
        let server = nats.process.id();
        let coordinator = thread::spawn(move || {
            let ended = ended(coordinator);
            (ended, usage::cpu(server), began.elapsed())
        });
        let records = Arc::new(records);
        let answered = runtime.block_on(answer_all(&url, args.workers, &records))?;
        let (ended, of_server, time) = coordinator.join().map_err(|_| "the coordinator was lost")?;
        let Ended { peak_kib: memory, cpu, is_success } = ended?;
        if !is_success {
            return Err("the coordinator failed".into());
        }
        let after = nats.traffic()?;
        let busy = |cpu: Duration| 100.0 * cpu.as_secs_f64() / time.as_secs_f64();
        let games = f64::from(2 * args.pairs);
        println!(
            "{} workers that answer at once, {} pairs of {:.1} plies a game, {answered} answers: {:.1} s, \
             {:.0} games/s; a game {:.1} messages and {:.0} bytes in, {:.1} messages and {:.0} bytes out; \
             coordinator {:.0} % of a core and {} MiB, server {:.0} % of a core and {} MiB",
            args.workers,
            args.pairs,
            plies as f64 / games,
            time.as_secs_f64(),
            games / time.as_secs_f64(),
            (after[0] - before[0]) / games,
            (after[2] - before[2]) / games,
            (after[1] - before[1]) / games,
            (after[3] - before[3]) / games,
            busy(cpu),
            memory / 1024,
            busy(of_server?),
            peak_kib(nats.process.id())? / 1024,
        );
        let began = Instant::now();
        self.run(&[&quick[..], &more].concat())?;
        println!("taking up {} pairs with results: {:.2} s", args.pairs, began.elapsed().as_secs_f64());
        Ok(())
    }

    /// Real workers on this machine.
    fn real(&self, args: &Args) -> Outcome<()> {
        let games = args.games.to_string();
        let busy = [&BUSY[..], &["--games", &games]].concat();
        let minute = |began: Instant| f64::from(args.games) * 60.0 / began.elapsed().as_secs_f64();
        for concurrency in ["1", "2"] {
            let began = Instant::now();
            self.run(&[&busy[..], &["--concurrency", concurrency]].concat())?;
            println!("the local arena, --concurrency {concurrency}: {:.0} games a minute", minute(began));
        }
        for count in [1, 2, 4] {
            let nats = self.nats(&count.to_string())?;
            let url = nats.url();
            let mut workers = Vec::new();
            for _ in 0..count {
                workers.push(self.start(&["worker", "--nats", &url], Stdio::null())?);
            }
            let began = Instant::now();
            self.run(&[&busy[..], &["--nats", &url]].concat())?;
            let rate = minute(began);
            let memory = workers.iter().map(|worker| peak_kib(worker.id())).sum::<Outcome<u64>>()?;
            println!(
                "{count} workers: {rate:.0} games a minute; memory of a worker without its players {} MiB",
                memory / count / 1024
            );
        }
        Ok(())
    }

    fn launch(&self, command: &mut Command, output: Stdio) -> Outcome<Process> {
        let mut launch: Launch = self.reaper.launch(command)?;
        launch.command.stdin(Stdio::null()).stdout(output).stderr(Stdio::null());
        Ok(Process::spawn(launch)?)
    }

    fn start(&self, arguments: &[&str], output: Stdio) -> Outcome<Process> {
        self.launch(Command::new(PLYD).args(arguments), output)
    }

    fn run(&self, arguments: &[&str]) -> Outcome<()> {
        let ended = ended(self.start(&[&["arena"], arguments].concat(), Stdio::null())?)?;
        if ended.is_success { Ok(()) } else { Err(format!("plyd arena {arguments:?} failed").into()) }
    }

    fn nats(&self, name: &str) -> Outcome<Nats> {
        let free = || Ok::<_, std::io::Error>(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port());
        let (port, monitor) = (free()?, free()?);
        let (p, m) = (port.to_string(), monitor.to_string());
        let store = self.folder.join(name);
        let mut command = Command::new("nats-server");
        command.args(["-js", "-a", "127.0.0.1", "-p", &p, "-m", &m, "-sd", path(&store)]);
        let mut process = self.launch(&mut command, Stdio::null())?;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if process.wait_exit(Instant::now() + Duration::from_millis(10))?.is_some() {
                return Err("nats-server ended as soon as it was started".into());
            }
        }
        Ok(Nats { process, port, monitor })
    }
}

impl Nats {
    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Messages in and out, and bytes in and out.
    fn traffic(&self) -> Outcome<[f64; 4]> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.monitor))?;
        stream.write_all(b"GET /varz HTTP/1.0\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let body = text.split_once("\r\n\r\n").ok_or("no answer")?.1;
        let varz: Value = serde_json::from_str(body)?;
        Ok(["in_msgs", "out_msgs", "in_bytes", "out_bytes"].map(|name| varz[name].as_f64().unwrap_or(0.0)))
    }
}

/// Answers jobs by so many workers until none comes; how many were answered.
async fn answer_all(url: &str, workers: u32, records: &Arc<Vec<Value>>) -> Outcome<usize> {
    let server =
        Server { url: url.to_owned(), credentials: Credentials::None, authority: None, identity: None };
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..workers {
        let (server, records) = (server.clone(), Arc::clone(records));
        tasks.spawn(async move {
            let queue = Queue::connect(&server, &format!("simulated-{number}")).await?;
            let (mut builds, mut answered, mut idle) = (HashMap::new(), 0, 0);
            while idle < 5 {
                let Ok(Some(lease)) = queue.take(Duration::from_secs(1)).await else {
                    idle += 1;
                    continue;
                };
                idle = 0;
                if !builds.contains_key(&lease.id) {
                    let bytes = queue.description(&lease.id).await?.unwrap_or_default();
                    let described: Value = serde_json::from_slice(&bytes).unwrap_or_default();
                    builds.insert(lease.id.clone(), described["match"]["players"][0]["build"].clone());
                }
                let mut games = records[2 * (lease.pair - 1)..2 * lease.pair].to_vec();
                for player in
                    games.iter_mut().flat_map(|game| game["players"].as_array_mut().into_iter().flatten())
                {
                    player["build"] = builds[&lease.id].clone();
                }
                let result = json!({ "worker": "simulated", "games": games }).to_string();
                queue.store_result(&lease.id, lease.pair, result.into()).await?;
                lease.done().await?;
                answered += 1;
            }
            Ok::<usize, plyd_fleet::FleetError>(answered)
        });
    }
    let mut answered = 0;
    while let Some(task) = tasks.join_next().await {
        answered += task??;
    }
    Ok(answered)
}

/// What a process was when it ended.
struct Ended {
    peak_kib: u64,
    cpu: Duration,
    is_success: bool,
}

/// Waits for the end of a process.
fn ended(mut process: Process) -> Outcome<Ended> {
    let (mut memory, mut cpu) = (0, Duration::ZERO);
    loop {
        memory = peak_kib(process.id()).unwrap_or(memory);
        cpu = usage::cpu(process.id()).unwrap_or(cpu);
        if let Some(status) = process.wait_exit(Instant::now() + Duration::from_millis(20))? {
            return Ok(Ended { peak_kib: memory, cpu, is_success: status.success() });
        }
    }
}

/// The peak memory of a process in KiB.
fn peak_kib(process: u32) -> Outcome<u64> {
    usage::status(process, "VmHWM:")
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a temporary folder has a name in UTF-8")
}
