//! Whether the daemon gives back what it takes: `cargo bench --bench soak`, with `-- --searches 1000` for a short one.
//!
//! Fifty connections ask for searches of several games, and stop, supersede, discard and abandon them at random (from
//! a seed). Then threads, file descriptors, memory and the daemon's own counts must be back where they were after a
//! warm-up. Exits 1 on a leak or on an answer that the protocol does not allow.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Command as Program, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use plyd::client::{Answer, Client, Process, Reaper};
use plyd::columns::{Columns, grouped};
use plyd::zobrist::SplitMix64;
use plyd_protocol::{
    Clock, Command, ErrorCode, GameRef, Go, Hello, Limit, Message, Mode, NewGame, Position, ResultBody,
    Settings, Status, StatusResult, Stop, StopTarget, Versions,
};

/// The longest wait for an answer, and for the daemon to come to rest.
const PATIENCE: Duration = Duration::from_secs(30);
/// Search threads that the daemon may keep for later.
const KEPT_THREADS: u64 = 4;
/// What an allocator may keep.
const KEPT_MEMORY_KIB: u64 = 32 * 1024;
const SESSION: &str = "soak";

/// Load the daemon and look for leaks.
#[derive(Clone, Debug, Parser)]
struct Args {
    /// Searches to ask for
    #[arg(long, default_value_t = 20_000)]
    searches: u64,
    /// Connections at once
    #[arg(long, default_value_t = 50)]
    connections: u64,
    /// Seed of everything that is random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    let args = Args::parse();
    let mut out = io::stdout().lock();
    let daemon = Daemon::start()?;

    let warm_up = daemon.load(&args, args.searches / 10, args.seed)?;
    let before = daemon.rest()?;
    let began = Instant::now();
    let tally = daemon.load(&args, args.searches, args.seed.wrapping_add(1))?;
    let took = began.elapsed();
    let mut after = daemon.rest()?;
    // What rests may still shrink: idle threads end on their own time.
    let deadline = Instant::now() + PATIENCE;
    while !after.leaks(&before).is_empty() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(100));
        after = daemon.rest()?;
    }

    let asked = grouped(warm_up.gos + tally.gos);
    writeln!(out, "{asked} gos over {} connections in {:.1} s\n", args.connections, took.as_secs_f64())?;
    writeln!(out, "{}", tally.table())?;
    writeln!(out, "{}", levels(&before, &after))?;
    let leaks = after.leaks(&before);
    for leak in &leaks {
        writeln!(out, "leak: {leak}")?;
    }
    for complaint in &tally.complaints {
        writeln!(out, "wrong answer: {complaint}")?;
    }
    let clean = leaks.is_empty() && tally.complaints.is_empty();
    writeln!(out, "{}", if clean { "no leak" } else { "not clean" })?;
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The daemon as a child process that listens on a free port; it ends with this one.
struct Daemon {
    process: Process,
    address: SocketAddr,
}

impl Daemon {
    fn start() -> Outcome<Self> {
        // The port is free again when the daemon binds it, unless another process is quicker.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let plyd = env!("CARGO_BIN_EXE_plyd");
        let mut serve = Program::new(plyd);
        serve.args(["serve", "--tcp", &address.to_string()]);
        let mut launch = Reaper::start(plyd)?.launch(&serve)?;
        launch.command.stdin(Stdio::null());
        let daemon = Self { process: Process::spawn(launch)?, address };
        let deadline = Instant::now() + PATIENCE;
        while let Err(error) = Client::connect(address) {
            if Instant::now() > deadline {
                return Err(error.into());
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(daemon)
    }

    /// Asks for `gos` searches over all connections at once.
    fn load(&self, args: &Args, gos: u64, seed: u64) -> Outcome<Tally> {
        let games = Peer::connect(self.address)?.games;
        let players: Vec<_> = (0..args.connections)
            .map(|index| {
                let (address, games) = (self.address, games.clone());
                let share = gos / args.connections + u64::from(index < gos % args.connections);
                thread::spawn(move || {
                    let rng = SplitMix64::new(seed.wrapping_mul(1_000_003).wrapping_add(index));
                    Load { address, games, rng, tally: Tally::default() }.run(share)
                })
            })
            .collect();
        let mut total = Tally::default();
        for player in players {
            total.add(player.join().map_err(|_| "a connection's thread panicked")??);
        }
        Ok(total)
    }

    /// The level at rest: once no search runs and no session is open.
    fn rest(&self) -> Outcome<Level> {
        let mut peer = Peer::connect(self.address)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let status = peer.status()?;
            if (status.searches == 0 && status.sessions == 0) || Instant::now() > deadline {
                return Level::read(self.process.id(), status);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// What the process holds.
#[derive(Clone, Debug)]
struct Level {
    status: StatusResult,
    threads: u64,
    descriptors: u64,
    memory_kib: u64,
}

impl Level {
    fn read(pid: u32, status: StatusResult) -> Outcome<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/status"))?;
        let field = |name: &str| -> Outcome<u64> {
            let line =
                text.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such line in /proc")?;
            Ok(line.split_whitespace().next().ok_or("an empty line in /proc")?.parse()?)
        };
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd"))?.count() as u64;
        Ok(Self { status, threads: field("Threads:")?, descriptors, memory_kib: field("VmRSS:")? })
    }

    /// What is above the level after the warm-up.
    fn leaks(&self, before: &Self) -> Vec<String> {
        let allowed_kib = before.memory_kib + before.memory_kib / 4 + KEPT_MEMORY_KIB;
        [
            ("searches", self.status.searches, 0),
            ("sessions", self.status.sessions, 0),
            ("busy search threads", self.status.threads, 0),
            ("threads", self.threads, before.threads + KEPT_THREADS),
            ("file descriptors", self.descriptors, before.descriptors),
            ("memory in KiB", self.memory_kib, allowed_kib),
            ("abandoned searches", self.status.counters.abandoned, 0),
            ("failed searches", self.status.counters.failed, 0),
        ]
        .into_iter()
        .filter(|(_, level, allowed)| level > allowed)
        .map(|(name, level, allowed)| format!("{name}: {level}, allowed are {allowed}"))
        .collect()
    }
}

fn levels(before: &Level, after: &Level) -> Columns {
    let mut table = Columns::new(["at rest", "after warm-up", "after load"]);
    let mut row = |name: &str, pick: fn(&Level) -> u64| {
        table.row([name.to_owned(), grouped(pick(before)), grouped(pick(after))]);
    };
    row("searches", |level| level.status.searches);
    row("sessions", |level| level.status.sessions);
    row("busy search threads", |level| level.status.threads);
    row("table bytes", |level| level.status.hash_bytes);
    row("threads", |level| level.threads);
    row("file descriptors", |level| level.descriptors);
    row("memory in KiB", |level| level.memory_kib);
    row("connections so far", |level| level.status.counters.connections);
    row("searches so far", |level| level.status.counters.searches);
    table
}

/// What was asked and answered.
#[derive(Debug, Default)]
struct Tally {
    gos: u64,
    moves: u64,
    cancelled: u64,
    overloaded: u64,
    disconnects: u64,
    /// Answers that the protocol does not allow; the first few.
    complaints: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.gos += other.gos;
        self.moves += other.moves;
        self.cancelled += other.cancelled;
        self.overloaded += other.overloaded;
        self.disconnects += other.disconnects;
        self.complaints.extend(other.complaints);
        self.complaints.truncate(10);
    }

    fn count(&mut self, answer: &Answer) {
        match &answer.last.envelope.message {
            Message::BestMove(_) => self.moves += 1,
            Message::Error(error) if error.code == ErrorCode::Cancelled => self.cancelled += 1,
            Message::Error(error) if error.code == ErrorCode::Overloaded => self.overloaded += 1,
            other => self.complaints.push(other.to_body()),
        }
    }

    fn table(&self) -> Columns {
        let mut table = Columns::new(["what", "count"]);
        for (name, count) in [
            ("gos", self.gos),
            ("moves", self.moves),
            ("cancelled", self.cancelled),
            ("overloaded", self.overloaded),
            ("disconnects", self.disconnects),
        ] {
            table.row([name.to_owned(), grouped(count)]);
        }
        table
    }
}

/// One connection's share of the load.
struct Load {
    address: SocketAddr,
    games: Vec<String>,
    rng: SplitMix64,
    tally: Tally,
}

impl Load {
    fn run(mut self, gos: u64) -> Outcome<Tally> {
        let mut peer = self.join()?;
        while self.tally.gos < gos {
            match self.rng.below(10) {
                0 => {
                    // Nobody waits for this one: the connection breaks while it runs.
                    self.go(&mut peer, |go| go.mode = Mode::Analyse)?;
                    self.pause();
                    drop(peer);
                    self.tally.disconnects += 1;
                    peer = self.join()?;
                }
                1 | 2 => {
                    let id = self.go(&mut peer, |go| go.mode = Mode::Analyse)?;
                    self.pause();
                    self.stop(&mut peer, &id)?;
                }
                3 => {
                    // Not queued: a ponder that waited for a slot could start after its move, and nobody would end it.
                    let ponder = self.go(&mut peer, |go| (go.mode, go.queue) = (Mode::Ponder, false))?;
                    self.pause();
                    let nodes = Some(1 + self.rng.below(3000) as u64);
                    let id = self.go(&mut peer, |go| go.limit = Limit { nodes, ..Limit::default() })?;
                    for id in [ponder, id] {
                        self.tally.count(&peer.wait(&id)?);
                    }
                }
                4..7 => {
                    let clock = Clock::PerMove { ms: self.rng.below(8) as i64 };
                    let id = self.go(&mut peer, |go| go.clock = Some(clock))?;
                    self.tally.count(&peer.wait(&id)?);
                }
                _ => {
                    let nodes = Some(1 + self.rng.below(3000) as u64);
                    let id = self.go(&mut peer, |go| go.limit = Limit { nodes, ..Limit::default() })?;
                    self.tally.count(&peer.wait(&id)?);
                }
            }
        }
        Ok(self.tally)
    }

    /// Connects and opens a session of some game with a small table.
    fn join(&mut self) -> Outcome<Peer> {
        let mut peer = Peer::connect(self.address)?;
        let game = self.games[self.rng.below(self.games.len())].clone();
        let mut options = Settings::new();
        options.insert("hash_mb", 1);
        let session = SESSION.to_owned();
        let id = peer.send(Command::NewGame(NewGame { session, game, options, ..NewGame::default() }))?;
        match peer.wait(&id)?.last.envelope.message {
            Message::Result(_) => Ok(peer),
            other => Err(other.to_body().into()),
        }
    }

    fn go(&mut self, peer: &mut Peer, change: impl FnOnce(&mut Go)) -> Outcome<String> {
        self.tally.gos += 1;
        let session = SESSION.to_owned();
        let mut go = Go::new(GameRef::Session { session }, Position::default());
        go.queue = self.rng.below(2) == 0;
        change(&mut go);
        peer.send(Command::Go(Box::new(go)))
    }

    fn stop(&mut self, peer: &mut Peer, id: &str) -> Outcome<()> {
        let discard = self.rng.below(2) == 0;
        let stop = peer.send(Command::Stop(Stop { target: StopTarget::Go(id.into()), discard }))?;
        peer.wait(&stop)?;
        self.tally.count(&peer.wait(id)?);
        Ok(())
    }

    fn pause(&mut self) {
        thread::sleep(Duration::from_micros(self.rng.below(4000) as u64));
    }
}

/// A connection after its handshake.
struct Peer {
    client: Client,
    games: Vec<String>,
}

impl Peer {
    fn connect(address: SocketAddr) -> Outcome<Self> {
        let mut peer = Self { client: Client::connect(address)?, games: Vec::new() };
        let protocol = Versions { min: plyd_protocol::VERSION, max: plyd_protocol::VERSION };
        let id = peer.send(Command::Hello(Hello { protocol, ..Hello::default() }))?;
        match peer.wait(&id)?.last.envelope.message {
            Message::Result(result) => match result.body {
                ResultBody::Hello(hello) => peer.games = hello.games,
                other => return Err(format!("no answer to hello: {other:?}").into()),
            },
            other => return Err(other.to_body().into()),
        }
        Ok(peer)
    }

    fn send(&mut self, command: Command) -> Outcome<String> {
        Ok(self.client.request(command)?.0)
    }

    fn wait(&mut self, id: &str) -> Outcome<Answer> {
        self.client.wait_final(id, Instant::now() + PATIENCE).map_err(|error| format!("{id}: {error}").into())
    }

    fn status(&mut self) -> Outcome<StatusResult> {
        let id = self.send(Command::Status(Status::default()))?;
        match self.wait(&id)?.last.envelope.message {
            Message::Result(result) => match result.body {
                ResultBody::Status(status) => Ok(status),
                other => Err(format!("no answer to status: {other:?}").into()),
            },
            other => Err(other.to_body().into()),
        }
    }
}
