//! One client with 250 endless searches of two threads each, beside honest ones with 100 ms a move.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use plyd::zobrist::SplitMix64;
use plyd_protocol::{Clock, Command, GameRef, Go, Message, Ping, Position, Settings};

use crate::control::Control;
use crate::samples::Samples;
use crate::server::{Outcome, Peer, Server, TIMEOUT};

/// The endless searches that the greedy client keeps in flight.
const ENDLESS: usize = 250;
/// An honest client's time for a move.
const MOVE: Duration = Duration::from_millis(100);
/// A game whose initial position no search here solves.
const GAME: &str = "isolation";
const RULES: (&str, &str) = ("preset", "11x9");

/// What honest clients saw.
#[derive(Default)]
pub(crate) struct Seen {
    /// How late the answers came.
    pub(crate) late: Samples,
    pub(crate) control: Samples,
    /// The nodes of each answer.
    pub(crate) nodes: Vec<u64>,
    /// Answers of no completed depth.
    pub(crate) shallow: usize,
    /// Times that the server asked to try again.
    pub(crate) overloaded: usize,
    /// Moves that got no answer in time for trying again, or lost their connection.
    pub(crate) refused: usize,
}

/// A phase: what the honest clients saw, and the answers to `ping`.
pub(crate) struct Phase {
    pub(crate) seen: Seen,
    pub(crate) pings: Samples,
}

/// Lets honest clients play for so long on a daemon of their own, beside a greedy one or not.
pub(crate) fn phase(
    daemon: &Path,
    time: Duration,
    seed: u64,
    honest: u64,
    is_greedy: bool,
) -> Outcome<Phase> {
    let server = Server::start(daemon, &[])?;
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let greedy = is_greedy.then(|| scope.spawn(|| greedy(server.connect()?, &over)));
        if is_greedy {
            // All its searches are there before the first honest move.
            thread::sleep(Duration::from_secs(1));
        }
        let end = Instant::now() + time;
        let server = &server;
        let players: Vec<_> =
            (0..honest).map(|index| scope.spawn(move || play(server, end, seed + index))).collect();
        let pings = ping(server, end);
        let mut seen = Seen::default();
        let mut failure = None;
        for player in players {
            match player.join().map_err(|_| "a client's thread panicked")? {
                Ok(more) => seen.add(more),
                Err(error) => failure = Some(error),
            }
        }
        over.store(true, Ordering::Relaxed);
        if let Some(greedy) = greedy {
            greedy.join().map_err(|_| "the greedy client's thread panicked")??;
        }
        failure.map_or(Ok(()), Err)?;
        Ok(Phase { seen, pings: pings? })
    })
}

impl Seen {
    fn add(&mut self, other: Self) {
        self.late.extend(other.late);
        self.control.extend(other.control);
        self.nodes.extend(other.nodes);
        self.shallow += other.shallow;
        self.overloaded += other.overloaded;
        self.refused += other.refused;
    }
}

/// Keeps its searches in flight until it is over: for each that ends it asks for another one, as soon as it
/// may.
fn greedy(mut peer: Peer, over: &AtomicBool) -> Outcome<()> {
    let ask = |peer: &mut Peer| {
        let game = GameRef::Game { game: GAME.into(), rules: Settings::from_iter([RULES]) };
        let mut go = Go::new(game, Position::default());
        go.clock = Some(Clock::None);
        go.options.insert("threads", 2);
        go.options.insert("hash_mb", 1);
        go.info.events.clear();
        peer.send(Command::Go(Box::new(go)))
    };
    for _ in 0..ENDLESS {
        ask(&mut peer)?;
    }
    while !over.load(Ordering::Relaxed) {
        let ended = peer.client.wait_for(Instant::now() + Duration::from_millis(100), plyd::client::is_final);
        let Ok(ended) = ended else {
            continue;
        };
        if let Message::Error(error) = &ended.envelope.message {
            thread::sleep(Duration::from_millis(error.retry_ms.unwrap_or(1)));
        }
        ask(&mut peer)?;
    }
    Ok(())
}

/// Asks for a move after the other, with short pauses, and notes how late each comes. Where the server is
/// overloaded, it asks again within the same time, as the protocol has it.
fn play(server: &Server, end: Instant, seed: u64) -> Outcome<Seen> {
    let mut peer = seated(server)?;
    let mut control = Control::start();
    let mut random = SplitMix64::new(seed);
    let mut seen = Seen::default();
    while Instant::now() < end {
        let due = Instant::now() + MOVE;
        control.sleep_to(due);
        // A daemon whose threads get no CPU time may take an honest client for one that does not read.
        let Ok((answer, overloaded)) = peer.ask_move(due) else {
            seen.refused += 1;
            peer = seated(server)?;
            continue;
        };
        seen.overloaded += overloaded;
        match answer.map(|answer| (answer.last.at, answer.last.envelope.message)) {
            Some((at, Message::BestMove(best))) => {
                seen.late.add(due, at);
                seen.nodes.push(best.stats.nodes);
                seen.shallow += usize::from(best.lines.first().is_none_or(|line| line.depth == 0));
            }
            Some((_, other)) => return Err(other.to_body().into()),
            None => {
                seen.refused += 1;
                thread::sleep(due.saturating_duration_since(Instant::now()));
            }
        }
        thread::sleep(Duration::from_micros(random.below(10_000) as u64));
    }
    seen.control = control.take();
    Ok(seen)
}

/// A connection with its session.
fn seated(server: &Server) -> Outcome<Peer> {
    let mut peer = server.connect()?;
    peer.open(GAME, Settings::from_iter([RULES]))?;
    Ok(peer)
}

/// Asks for signs of life until the end; one that does not come counts as long as it was waited for.
fn ping(server: &Server, end: Instant) -> Outcome<Samples> {
    let mut peer = server.connect()?;
    let mut pings = Samples::default();
    while Instant::now() < end {
        let sent = Instant::now();
        let id = peer.send(Command::Ping(Ping::default()))?;
        match peer.wait_for(&id, TIMEOUT) {
            Ok(answer) => pings.add(sent, answer.last.at),
            Err(_) => {
                pings.add(sent, Instant::now());
                peer = server.connect()?;
            }
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(pings)
}
