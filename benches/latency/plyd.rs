//! The daemon under measurement, over its standard streams.

use std::process::Command as Process;
use std::time::{Duration, Instant};

use ::plyd::client::{Answer, Client};
use ::plyd::zobrist::SplitMix64;
use plyd_protocol::{
    Clock, Command, GameRef, Go, InfoEvent, Message, Mode, NewGame, Ping, Position, Settings, Stop,
    StopTarget,
};

use crate::control::Control;
use crate::measure::{Outcome, Row, Subject, TIMEOUT, wait};
use crate::samples::Samples;

/// A game whose initial position no search here solves.
const GAME: &str = "isolation";
const RULES: (&str, &str) = ("preset", "11x9");
const SESSION: &str = "bench";

/// The daemon behind a pipe, with one session.
pub(crate) struct Plyd {
    client: Client,
    /// The id of the search that runs.
    search: String,
}

impl Plyd {
    /// Starts the daemon with so many search threads and opens a session.
    pub(crate) fn start(threads: usize) -> Outcome<Self> {
        let mut process = Process::new(env!("CARGO_BIN_EXE_plyd"));
        process.arg("serve").arg("--threads").arg(threads.to_string());
        let mut plyd = Self { client: Client::spawn(process)?, search: String::new() };
        plyd.new_game(GAME, Settings::from_iter([RULES]))?;
        Ok(plyd)
    }

    /// Begins a game in the session.
    pub(crate) fn new_game(&mut self, game: &str, rules: Settings) -> Outcome<()> {
        let game = NewGame { session: SESSION.into(), game: game.into(), rules, ..NewGame::default() };
        let id = self.send(Command::NewGame(game))?;
        match self.wait(&id)?.last.envelope.message {
            Message::Error(error) => Err(error.message.into()),
            _ => Ok(()),
        }
    }

    /// Asks for a move after these within a time.
    pub(crate) fn ask_after(&mut self, moves: &[String], time: Duration) -> Outcome<()> {
        self.go(|go| {
            go.position.moves = moves.to_vec();
            go.clock = Some(Clock::PerMove { ms: time.as_millis() as i64 });
        })
    }

    /// The answer to what was asked last.
    pub(crate) fn last_answer(&mut self) -> Outcome<Answer> {
        let id = self.search.clone();
        self.wait(&id)
    }

    fn send(&mut self, command: Command) -> Outcome<String> {
        Ok(self.client.request(command)?.0)
    }

    fn wait(&mut self, id: &str) -> Outcome<Answer> {
        Ok(self.client.wait_final(id, Instant::now() + TIMEOUT)?)
    }

    fn go(&mut self, change: impl FnOnce(&mut Go)) -> Outcome<()> {
        let mut go = Go::new(GameRef::Session { session: SESSION.into() }, Position::default());
        change(&mut go);
        self.search = self.send(Command::Go(Box::new(go)))?;
        Ok(())
    }
}

impl Subject for Plyd {
    fn name(&self) -> &'static str {
        "plyd"
    }

    fn ping(&mut self) -> Outcome<Instant> {
        let id = self.send(Command::Ping(Ping::default()))?;
        Ok(self.wait(&id)?.last.at)
    }

    fn think(&mut self) -> Outcome<()> {
        self.go(|go| go.mode = Mode::Analyse)
    }

    fn stop(&mut self) -> Outcome<Instant> {
        let target = StopTarget::Go(self.search.clone());
        let stop = self.send(Command::Stop(Stop { target, discard: false }))?;
        let at = self.answer()?;
        self.wait(&stop)?;
        Ok(at)
    }

    fn ask(&mut self, time: Duration) -> Outcome<()> {
        self.go(|go| go.clock = Some(Clock::PerMove { ms: time.as_millis() as i64 }))
    }

    fn answer(&mut self) -> Outcome<Instant> {
        Ok(self.last_answer()?.last.at)
    }
}

/// From the start of the process to its first answer.
pub(crate) fn start_rows(samples: usize) -> Outcome<Vec<Row>> {
    let mut starts = Samples::default();
    for _ in 0..samples {
        let began = Instant::now();
        let mut process = Process::new(env!("CARGO_BIN_EXE_plyd"));
        process.arg("serve");
        let mut plyd = Plyd { client: Client::spawn(process)?, search: String::new() };
        starts.add(began, plyd.ping()?);
    }
    let control = Samples::default();
    Ok(vec![Row { what: "start to first answer", who: "plyd", samples: starts, control, deadline: false }])
}

/// What only the daemon promises: an early first move, and a watchdog.
pub(crate) fn own_rows(plyd: &mut Plyd, control: &mut Control, samples: usize) -> Outcome<Vec<Row>> {
    let mut rng = SplitMix64::new(2);
    let mut rows = Vec::new();

    let mut firsts = Samples::default();
    for _ in 0..samples {
        wait(control, &mut rng);
        let sent = Instant::now();
        plyd.go(|go| {
            go.mode = Mode::Analyse;
            go.info.events = vec![InfoEvent::Best];
        })?;
        let best = plyd.client.wait_for(
            sent + TIMEOUT,
            |message| matches!(message, Message::Info(info) if info.event == InfoEvent::Best),
        )?;
        firsts.add(sent, best.at);
        plyd.stop()?;
    }
    let control_samples = control.take();
    rows.push(Row {
        what: "go to first best",
        who: "plyd",
        samples: firsts,
        control: control_samples,
        deadline: false,
    });

    let hard = Duration::from_millis(10);
    let mut overshoots = Samples::default();
    for _ in 0..samples {
        let due = Instant::now() + hard;
        plyd.go(|go| {
            go.mode = Mode::Analyse;
            go.hard_ms = Some(hard.as_millis() as u64);
        })?;
        control.sleep_to(due);
        overshoots.add(due, plyd.answer()?);
    }
    let control_samples = control.take();
    rows.push(Row {
        what: "hard_ms 10",
        who: "plyd",
        samples: overshoots,
        control: control_samples,
        deadline: true,
    });
    Ok(rows)
}
