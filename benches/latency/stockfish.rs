//! Stockfish beside the daemon: the same questions by UCI.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use ::plyd::client::{Lines, Reaper};

use crate::measure::{Outcome, Subject, TIMEOUT};

/// Where Debian installs it.
const PROGRAM: &str = "/usr/games/stockfish";

/// Stockfish behind a pipe.
pub(crate) struct Stockfish {
    lines: Lines,
}

impl Stockfish {
    /// Starts it with so many threads; none where it is not installed.
    pub(crate) fn start(threads: usize) -> Outcome<Option<Self>> {
        if !Path::new(PROGRAM).exists() {
            return Ok(None);
        }
        // It ends with this process, even if that is killed.
        let launch = Reaper::start(env!("CARGO_BIN_EXE_plyd"))?.launch(&Command::new(PROGRAM))?;
        let mut stockfish = Self { lines: Lines::spawn(launch)? };
        stockfish.lines.send(b"uci")?;
        stockfish.wait("uciok")?;
        stockfish.lines.send(format!("setoption name Threads value {threads}").as_bytes())?;
        stockfish.lines.send(b"position startpos")?;
        stockfish.ping()?;
        Ok(Some(stockfish))
    }

    fn wait(&mut self, word: &str) -> Outcome<Instant> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let line = self.lines.next(deadline)?;
            if line.bytes.starts_with(word.as_bytes()) {
                return Ok(line.at);
            }
        }
    }
}

impl Subject for Stockfish {
    fn name(&self) -> &'static str {
        "stockfish"
    }

    fn ping(&mut self) -> Outcome<Instant> {
        self.lines.send(b"isready")?;
        self.wait("readyok")
    }

    fn think(&mut self) -> Outcome<()> {
        self.lines.send(b"go infinite")?;
        Ok(())
    }

    fn stop(&mut self) -> Outcome<Instant> {
        self.lines.send(b"stop")?;
        self.answer()
    }

    fn ask(&mut self, time: Duration) -> Outcome<()> {
        self.lines.send(format!("go movetime {}", time.as_millis()).as_bytes())?;
        Ok(())
    }

    fn answer(&mut self) -> Outcome<Instant> {
        self.wait("bestmove")
    }
}
