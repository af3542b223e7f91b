//! A crowd: 2,000 idle connections and 200 that play, `cargo bench --bench crowd`.
//!
//! The players ask for a move, think as long as it takes to leave the cores half idle, and ask again. Beside
//! them one connection asks for signs of life and one stops searches, each with a control thread that sleeps
//! to the same instants. Prints the memory before and after they came and went, the delays of `ping` and
//! `stop`, and the late moves, in Markdown. With `--size` it prints instead what a session of each game
//! takes, and how many moves a second a core finds.

#[path = "../common/control.rs"]
mod control;
#[path = "../common/markdown.rs"]
mod markdown;
#[path = "../common/samples.rs"]
mod samples;
#[path = "../common/server.rs"]
mod server;
mod size;

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use plyd::zobrist::SplitMix64;
use plyd_protocol::{Command, ErrorCode, Message, Mode, Ping, Settings};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use control::Control;
use markdown::{Table, ms};
use samples::Samples;
use server::{Outcome, PLYD, Peer, Server};

/// A game whose initial position no search here solves.
const GAME: &str = "isolation";
const RULES: (&str, &str) = ("preset", "11x9");
/// The share of the cores' time that the players ask for.
const LOAD: f64 = 0.5;

/// Measure a daemon with many connections.
#[derive(Debug, Parser)]
struct Args {
    /// The binary to measure; the one of this build when absent
    #[arg(long, value_name = "PATH", default_value = PLYD)]
    daemon: PathBuf,
    /// Measure sessions and searches, of which an operator has to know how many there may be
    #[arg(long)]
    size: bool,
    /// Sessions of each game, with --size
    #[arg(long, default_value_t = 100)]
    sessions: u32,
    /// Connections that shake hands and say nothing more
    #[arg(long, default_value_t = 2000)]
    idle: usize,
    /// Connections that play
    #[arg(long, default_value_t = 200)]
    active: u64,
    /// Milliseconds for a move
    #[arg(long, default_value_t = 50)]
    move_ms: u64,
    /// Seconds of play; with --size, at each number of players
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Seed of everything that is random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// What was measured of one kind of request.
#[derive(Default)]
struct Row {
    times: Samples,
    control: Samples,
    /// Times that the server asked to try again.
    overloaded: usize,
    /// Moves that it had no time for.
    refused: usize,
    /// Moves of depth 0.
    shallow: usize,
    nodes: u64,
}

impl Row {
    fn add(&mut self, other: Self) {
        self.times.extend(other.times);
        self.control.extend(other.control);
        self.overloaded += other.overloaded;
        self.refused += other.refused;
        self.shallow += other.shallow;
        self.nodes += other.nodes;
    }

    /// Asks for a move that is due then, as clients do. One that gets none waits until then.
    fn ask(&mut self, peer: &mut Peer, due: Instant) -> Outcome<()> {
        let (answer, overloaded) = peer.ask_move(due)?;
        self.overloaded += overloaded;
        let Some(answer) = answer else {
            self.refused += 1;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            return Ok(());
        };
        match answer.last.envelope.message {
            Message::BestMove(best) => {
                self.times.add(due, answer.last.at);
                self.shallow += usize::from(best.lines.first().is_none_or(|line| line.depth == 0));
                self.nodes += best.stats.nodes;
                Ok(())
            }
            other => Err(other.to_body().into()),
        }
    }
}

fn main() -> Outcome<()> {
    let args = Args::parse();
    // Both ends of each connection, and some for everything else; the daemon inherits the limit.
    let mut files = getrlimit(Resource::Nofile);
    files.current = files.maximum;
    setrlimit(Resource::Nofile, Rlimit { ..files })?;

    if args.size {
        return size::print(&args);
    }
    let connections = (args.idle as u64 + args.active + 10).to_string();
    // The players come all at once. A build without the flags has limits of its own.
    let server = Server::start(&args.daemon, &["--connections", &connections, "--strangers", &connections])
        .or_else(|_| Server::start(&args.daemon, &[]))?;
    let mut memory = Table::new(["memory", "KiB", "KiB a connection"]);
    let level = |server: &Server| server.proc_status("VmRSS:");
    let alone = level(&server)?;
    memory.row(["no connection".to_owned(), alone.to_string(), String::new()]);
    let idle = (0..args.idle).map(|_| shake_hands(&server)).collect::<Outcome<Vec<_>>>()?;
    let with_idle = level(&server)?;
    let each = (with_idle.saturating_sub(alone)) as f64 / args.idle.max(1) as f64;
    memory.row([format!("{} idle", idle.len()), with_idle.to_string(), format!("{each:.1}")]);

    let rows = play(&server, &args)?;
    let with_active = level(&server)?;
    memory.row([format!("{} more that played", args.active), with_active.to_string(), String::new()]);
    drop(idle);
    thread::sleep(Duration::from_secs(2));
    memory.row(["2 s after all left".to_owned(), level(&server)?.to_string(), String::new()]);

    let mut delays = Table::new([
        "while they play",
        "n",
        "p50, ms",
        "p99",
        "max",
        "control p50",
        "control p99",
        "late",
        "depth 0",
        "`overloaded`",
        "no move",
    ]);
    let moves = format!("moves of {} ms, past their time", args.move_ms);
    for (name, row, has_limit) in
        [(&*moves, &rows.0, true), ("`ping`", &rows.1, false), ("`stop` to `bestmove`", &rows.2, false)]
    {
        let (times, control) = (row.times.percentiles(), row.control.percentiles());
        let count = |count: usize| if has_limit { count.to_string() } else { "-".to_owned() };
        delays.row([
            name.to_owned(),
            row.times.len().to_string(),
            ms(times.map(|it| it.p50)),
            ms(times.map(|it| it.p99)),
            ms(times.map(|it| it.max)),
            ms(control.map(|it| it.p50)),
            ms(control.map(|it| it.p99)),
            count(row.times.late()),
            count(row.shallow),
            row.overloaded.to_string(),
            count(row.refused),
        ]);
    }
    let cores = cores();
    Ok(writeln!(
        io::stdout(),
        "{} on {cores} cores: {} idle connections, {} that play for {} s\n\n{}\n{}",
        args.daemon.display(),
        args.idle,
        args.active,
        args.seconds,
        memory.into_text(),
        delays.into_text()
    )?)
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// A connection after its handshake, as a plain stream.
fn shake_hands(server: &Server) -> Outcome<TcpStream> {
    let mut stream = TcpStream::connect(server.address())?;
    stream.set_read_timeout(Some(server::TIMEOUT))?;
    stream.write_all(b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n")?;
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line)?;
    if line.contains("\"of\":\"hello\"") { Ok(stream) } else { Err(format!("not let in: {line}").into()) }
}

/// Lets all play; gives the moves, the signs of life, and the stops.
fn play(server: &Server, args: &Args) -> Outcome<(Row, Row, Row)> {
    let end = Instant::now() + Duration::from_secs(args.seconds);
    let time = Duration::from_millis(args.move_ms);
    // From move to move, so that all together ask for that share of the cores.
    let period = time.mul_f64(args.active as f64 / (cores() as f64 * LOAD));
    thread::scope(|scope| {
        let players: Vec<_> = (0..args.active)
            .map(|index| {
                let random = SplitMix64::new(args.seed.wrapping_mul(1_000_003).wrapping_add(index));
                scope.spawn(move || moves(server.connect()?, end, time, period, random))
            })
            .collect();
        let pinging = scope.spawn(|| pings(server.connect()?, end));
        let stops = stops(server.connect()?, end);
        let mut all = Row::default();
        for player in players {
            all.add(player.join().map_err(|_| "a player's thread panicked")??);
        }
        let pings = pinging.join().map_err(|_| "the thread that pings panicked")??;
        Ok((all, pings, stops?))
    })
}

/// Asks for a move in each period, and notes how much past its time it comes.
fn moves(
    mut peer: Peer,
    end: Instant,
    time: Duration,
    period: Duration,
    mut random: SplitMix64,
) -> Outcome<Row> {
    peer.open(GAME, Settings::from_iter([RULES]))?;
    let mut control = Control::start();
    let mut row = Row::default();
    loop {
        // Half a period to one and a half; the first one sooner, so that all are spread.
        let share = if row.times.len() == 0 { 0.0 } else { 0.5 } + random.below(1000) as f64 / 1000.0;
        thread::sleep(period.mul_f64(share).min(end.saturating_duration_since(Instant::now())));
        if Instant::now() >= end {
            break;
        }
        let due = Instant::now() + time;
        control.sleep_to(due);
        row.ask(&mut peer, due)?;
    }
    row.control = control.take();
    Ok(row)
}

/// Waits 1 to 10 ms, as the control does.
fn wait(control: &mut Control, random: &mut SplitMix64) {
    let due = Instant::now() + Duration::from_micros(1000 + random.below(9000) as u64);
    control.sleep_to(due);
    thread::sleep(due.saturating_duration_since(Instant::now()));
}

fn pings(mut peer: Peer, end: Instant) -> Outcome<Row> {
    let (mut control, mut random, mut row) = (Control::start(), SplitMix64::new(1), Row::default());
    while Instant::now() < end {
        wait(&mut control, &mut random);
        let sent = Instant::now();
        let id = peer.send(Command::Ping(Ping::default()))?;
        row.times.add(sent, peer.wait(&id)?.last.at);
    }
    row.control = control.take();
    Ok(row)
}

fn stops(mut peer: Peer, end: Instant) -> Outcome<Row> {
    peer.open(GAME, Settings::from_iter([RULES]))?;
    let (mut control, mut random, mut row) = (Control::start(), SplitMix64::new(2), Row::default());
    while Instant::now() < end {
        let id = peer.go(|go| go.mode = Mode::Analyse)?;
        wait(&mut control, &mut random);
        let sent = Instant::now();
        let stop = peer.stop(&id)?;
        let answer = peer.wait(&id)?;
        match answer.last.envelope.message {
            Message::BestMove(_) => row.times.add(sent, answer.last.at),
            Message::Error(error) if error.code == ErrorCode::Overloaded => {
                row.overloaded += 1;
                thread::sleep(Duration::from_millis(error.retry_ms.unwrap_or(1)));
            }
            other => return Err(other.to_body().into()),
        }
        peer.wait(&stop)?;
        // What is started again at once would take a core for itself.
        thread::sleep(Duration::from_millis(20));
    }
    row.control = control.take();
    Ok(row)
}
