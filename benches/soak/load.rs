//! The usual load: searches of several games that are stopped, superseded, discarded and abandoned at random.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use plyd::cli::columns::{Columns, grouped};
use plyd::client::Answer;
use plyd::zobrist::SplitMix64;
use plyd_protocol::{
    Clock, Command, ErrorCode, GameRef, Go, Limit, Message, Mode, NewGame, Position, Settings, Stop,
    StopTarget,
};

use crate::server::{Outcome, Peer, SESSION, Server};

/// Asks for `gos` searches over so many connections at once.
pub(crate) fn run(server: &Server, connections: u64, gos: u64, seed: u64) -> Outcome<Tally> {
    let games = server.connect()?.games;
    let players: Vec<_> = (0..connections)
        .map(|index| {
            let (address, games) = (server.address(), games.clone());
            let share = gos / connections + u64::from(index < gos % connections);
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

/// What was asked and answered.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) gos: u64,
    moves: u64,
    cancelled: u64,
    overloaded: u64,
    disconnects: u64,
    /// Answers that the protocol does not allow; the first few.
    pub(crate) complaints: Vec<String>,
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

    /// The counts.
    pub(crate) fn table(&self) -> Columns {
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
                    // Not queued: a ponder that waited for a core could start after its move, and nobody
                    // would end it.
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
