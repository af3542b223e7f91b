//! Requests to the engine at the table, and its answers: moves, hints and lines.

use std::time::{Duration, Instant};

use crate::arena::TimeControl;
use crate::cli::styled::{Text, Tone};
use crate::cli::words;
use plyd_protocol::{
    BestMove, Clock, GameRef, Go, InfoEvent, InfoRequest, Line, Mode, Player, Settings, Stats,
};

use super::link::{Refusal, SearchUpdate};
use super::search::{Purpose, RunningSearch};
use super::seats;
use super::table::{Note, Table};

/// How often at most a search reports what it found.
const REPORT_INTERVAL_MS: u64 = 100;

impl Table {
    /// Begins a search for a purpose, in the position that is shown.
    pub(super) fn begin(&mut self, purpose: Purpose, time: Option<Duration>) {
        self.give_up();
        if let Err(refusal) = self.try_begin(purpose, time) {
            self.paused = true;
            self.alarm(&refusal.to_string());
        }
    }

    fn try_begin(&mut self, purpose: Purpose, time: Option<Duration>) -> Result<(), Refusal> {
        let (session, options) = match purpose {
            Purpose::Move(player) => {
                let seat = &self.seats[seats::index(player)];
                (words::side_name(player), seat.options(&self.common))
            }
            Purpose::Hint(_) | Purpose::Value(_) | Purpose::Analysis { .. } => {
                ("analysis", strong(&self.common))
            }
        };
        self.open(session, options)?;
        let mut go = Go::new(GameRef::Session { session: session.to_owned() }, self.history.position());
        go.info = InfoRequest {
            events: vec![InfoEvent::Best, InfoEvent::Progress],
            min_interval_ms: REPORT_INTERVAL_MS,
        };
        let per_move =
            |time: Duration| Clock::PerMove { ms: i64::try_from(time.as_millis()).unwrap_or(i64::MAX >> 11) };
        let mut began = Instant::now();
        match purpose {
            Purpose::Move(player) => {
                // A person who lets the engine move has used the clock until now.
                let is_mine = self.seats[seats::index(player)].is_me() && self.clock_runs();
                if is_mine && self.control != TimeControl::Unlimited {
                    go.elapsed_ms = self.turn_began.elapsed().as_millis() as u64;
                    began = self.turn_began;
                }
                self.turn_began = began;
                let [p1, p2] = self.game_clocks();
                let clock = if player == Player::P1 { p1.to_wire(&p2) } else { p2.to_wire(&p1) };
                go.clock = Some(clock.unwrap_or_else(|| per_move(self.think)));
            }
            Purpose::Hint(_) | Purpose::Value(_) => go.clock = Some(per_move(time.unwrap_or(self.think))),
            Purpose::Analysis { .. } => {
                go.mode = Mode::Analyse;
                go.multipv = self.lines;
                go.limit.time_ms = time.map(|time| time.as_millis() as u64);
            }
        }
        self.link.search(go)?;
        self.search = Some(RunningSearch { purpose, began, lines: Vec::new(), stats: Stats::default() });
        Ok(())
    }

    /// Ends a search with what it has found, and takes that.
    pub(super) fn finish_search(&mut self) {
        self.link.stop();
        while self.search.is_some() {
            match self.link.said_soon() {
                Some(said) => self.heard(said),
                None => self.give_up(),
            }
        }
    }

    /// Takes what the engine says.
    pub(super) fn heard(&mut self, said: SearchUpdate) {
        match said {
            SearchUpdate::Better(info) => {
                let Some(search) = &mut self.search else { return };
                if info.lines.is_empty() {
                    return;
                }
                let is_new = search.lines.first() != info.lines.first() && info.lines[0].score.is_some();
                (search.lines, search.stats) = (info.lines.clone(), info.stats);
                let purpose = search.purpose;
                if is_new && let Purpose::Analysis { .. } = purpose {
                    let line = Text::from(line_text(&info.lines[0], false));
                    self.notes.push(Note::Progress(line));
                }
                self.learn_value(&info.lines, purpose.by());
            }
            SearchUpdate::Done(best) => {
                let Some(search) = self.search.take() else { return };
                self.answered(&search, &best);
            }
            SearchUpdate::Refused(refusal) => {
                self.search = None;
                self.paused = true;
                self.alarm(&refusal.to_string());
            }
            SearchUpdate::Lost(error) => {
                let ran = self.search.take();
                self.alarm(&format!("the engine is gone: {error}"));
                let Some(search) = ran else { return };
                self.paused = true;
                self.alarm(match search.purpose {
                    Purpose::Move(_) => "the game is kept; `continue` calls the engine again",
                    Purpose::Hint(_) | Purpose::Value(_) | Purpose::Analysis { .. } => {
                        "the game is kept; ask again"
                    }
                });
            }
        }
    }

    fn answered(&mut self, search: &RunningSearch, best: &BestMove) {
        self.learn_value(&best.lines, search.purpose.by());
        match search.purpose {
            Purpose::Value(_) => self.show_bar(),
            Purpose::Move(player) => {
                let time = search.began.elapsed();
                let own = best.timing.decided_us.saturating_sub(best.timing.received_us);
                let own = Duration::from_micros(own);
                match self.played(player, best.mv.clone(), time, own, Some(best)) {
                    Ok(()) => self.advance(),
                    Err(refusal) => {
                        self.paused = true;
                        self.alarm(&format!("the engine's move {} cannot be played: {refusal}", best.mv));
                    }
                }
            }
            Purpose::Hint(_) => {
                // A move that is the only one has no score.
                let scored = best.lines.first().filter(|line| line.score.is_some());
                let line = scored.map(|line| line_text(line, true)).unwrap_or_default();
                self.say(Text::new(&format!("hint: {}{line}", best.mv), Tone::Strong));
                self.hint = Some(best.mv.clone());
                // On the engine's turn it took the place of the engine's search.
                self.advance();
            }
            Purpose::Analysis { by, .. } => {
                let title = format!(
                    "analysis for {}, depth {}, {} nodes in {:.1} s",
                    words::side_name(by),
                    best.lines.first().map_or(best.stats.depth, |line| line.depth),
                    crate::cli::columns::grouped(best.stats.nodes),
                    best.stats.time_ms as f64 / 1000.0,
                );
                self.say(Text::new(&title, Tone::Strong));
                for line in &best.lines {
                    self.say(format!("{}. {}", line.rank, line_text(line, false)));
                }
                self.advance();
            }
        }
    }
}

/// A line of a search in words: move, score, and what follows.
pub(super) fn line_text(line: &Line, of_move: bool) -> String {
    let pv: Vec<&str> = line.pv.iter().map(String::as_str).take(12).collect();
    let score = words::line_score(line);
    if of_move {
        return format!(" ({score}; {})", pv.join(", "));
    }
    format!("{score}, depth {}: {}", line.depth, pv.join(", "))
}

/// The options of an engine that gives advice: all that make it fast, none that make it weak.
fn strong(common: &Settings) -> Settings {
    let kept = common.0.iter().filter(|(name, _)| ["threads", "hash_mb"].contains(&name.as_str()));
    Settings(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}
