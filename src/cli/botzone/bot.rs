//! The bot: a game so far becomes a question to the daemon, and its answer a move.

use std::time::Duration;
use std::{iter, mem};

use plyd_protocol::{
    self as wire, BestMove, Clock, ErrorCode, GameRef, Go, InfoRequest, Message, NewGame, Position, Request,
    Setting, Settings,
};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::input::{Game, Input, InputError, Ply};
use crate::cli::words;
use crate::daemon::{AskError, Connection};
use crate::search::clock::now_ns;

/// The one session that is needed.
const SESSION: &str = "botzone";

/// What Botzone keeps of a remark, in bytes.
const DEBUG_BYTES: usize = 1024;

/// How long an answer may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// The first answer of a game.
    pub(super) first: Duration,
    /// Each other one.
    pub(super) next: Duration,
    /// What is kept off these; none: a share of them.
    pub(super) margin: Option<Duration>,
}

impl Times {
    /// The time to think, and when the watchdog answers, in ms.
    fn think(self, is_first: bool) -> (u64, u64) {
        let limit = if is_first { self.first } else { self.next };
        let margin = self.margin.unwrap_or_else(|| (limit / 10).min(Duration::from_millis(100)));
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(wire::MAX_INT as u64);
        (ms(limit.saturating_sub(margin)).max(1), ms(limit.saturating_sub(margin / 2)).max(1))
    }
}

/// An answer, as Botzone reads it.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    /// The move; none if the input does not say which position is meant.
    response: Option<String>,
    /// A remark for people.
    debug: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    globaldata: Option<Value>,
}

/// A bot in one game.
pub(super) struct Bot {
    connection: Connection,
    game: &'static str,
    /// What the arguments say of the game.
    rules: Settings,
    startpos: Position,
    options: Settings,
    times: Times,
    /// The game so far, once a line told it.
    so_far: Option<Game>,
    /// The rules of the session.
    opened: Option<Settings>,
    /// Counts the requests: the last id.
    last: u64,
    /// What the daemon warned of while it answered.
    warnings: Vec<String>,
}

impl Bot {
    /// A bot that asks over that connection.
    pub(super) fn new(
        connection: Connection,
        game: &'static str,
        rules: Settings,
        startpos: Position,
        options: Settings,
        times: Times,
    ) -> Self {
        Self {
            connection,
            game,
            rules,
            startpos,
            options,
            times,
            so_far: None,
            opened: None,
            last: 0,
            warnings: Vec::new(),
        }
    }

    /// Opens a game by the rules of the arguments.
    ///
    /// # Errors
    /// The daemon refuses the rules or the options.
    pub(super) fn open(&mut self) -> Result<(), InputError> {
        self.new_game(self.rules.clone(), now_ns())
    }

    /// Answers a line that arrived then.
    pub(super) fn line(&mut self, line: &[u8], arrived_ns: u64) -> Answer {
        match Input::parse(line).and_then(|input| self.so_far(input)) {
            Ok(mut game) => {
                let (data, globaldata) = (game.data.clone(), game.globaldata.clone());
                self.warnings.clear();
                let answer = self.best(&game, arrived_ns);
                if let Ok(best) = &answer {
                    game.plies.push(Ply { text: best.mv.clone(), pointer: "/response".into() });
                    self.so_far = Some(game);
                }
                let warnings = mem::take(&mut self.warnings);
                Answer::of(answer.map(|best| (best.mv.clone(), remark(&best, &warnings))), data, globaldata)
            }
            Err(error) => Answer::of(Err(error), None, None),
        }
    }

    /// The game so far, with what a line says. A game that is told anew is forgotten if it cannot be played,
    /// so that no later request is taken for one of the game before.
    fn so_far(&mut self, input: Input) -> Result<Game, InputError> {
        match (input, &self.so_far) {
            (Input::Game(game), _) => {
                self.so_far = None;
                Ok(game)
            }
            (Input::Next(plies), Some(before)) => {
                let mut game = Game { is_first: false, ..before.clone() };
                game.plies.extend(plies);
                Ok(game)
            }
            (Input::Next(_), None) => {
                let message = "the first line of a game has `requests` and `responses`";
                Err(InputError::new(ErrorCode::MissingField, "/requests", message))
            }
        }
    }

    /// The best move in a game.
    fn best(&mut self, game: &Game, arrived_ns: u64) -> Result<BestMove, InputError> {
        let rules: Settings = self.rules.iter().chain(game.rules.iter()).map(owned).collect();
        if self.opened.as_ref() != Some(&rules) {
            self.new_game(rules, arrived_ns)?;
        }
        let startpos = if game.start.is_some() {
            Position { start: game.start.clone(), moves: Vec::new() }
        } else {
            self.startpos.clone()
        };
        let before = startpos.moves.len();
        let moves = startpos.moves.into_iter().chain(game.plies.iter().map(|ply| ply.text.clone())).collect();
        let position = Position { start: startpos.start, moves };
        let mut go = Go::new(GameRef::Session { session: SESSION.into() }, position);
        let (think, hard) = self.times.think(game.is_first);
        (go.clock, go.hard_ms) = (Some(Clock::PerMove { ms: think as i64 }), Some(hard));
        go.info = InfoRequest { events: Vec::new(), min_interval_ms: 0 };
        self.ask(wire::Command::Go(Box::new(go)), arrived_ns).map_err(|mut error| {
            error.pointer = place(&error.pointer, game, before);
            error
        })
    }

    fn new_game(&mut self, rules: Settings, arrived_ns: u64) -> Result<(), InputError> {
        self.opened = None;
        let new_game = NewGame {
            session: SESSION.into(),
            game: self.game.into(),
            rules: rules.clone(),
            options: self.options.clone(),
            seed: None,
        };
        self.ask::<IgnoredAny>(wire::Command::NewGame(new_game), arrived_ns).map_err(|mut error| {
            if error.pointer.starts_with("/rules") {
                error.pointer.insert_str(0, "/requests/0");
            }
            error
        })?;
        self.opened = Some(rules);
        Ok(())
    }

    /// Sends a request and waits for its final answer.
    fn ask<T: DeserializeOwned>(&mut self, command: wire::Command, arrived_ns: u64) -> Result<T, InputError> {
        self.last += 1;
        let request = Request { id: self.last.to_string(), command };
        let line = serde_json::to_vec(&request).expect("requests hold only text keys and integers");
        if line.len() > wire::MAX_LINE {
            // Its error would name no request.
            let message = format!("as a request the game has more than {} bytes", wire::MAX_LINE);
            return Err(InputError::new(ErrorCode::LineTooLong, "", message));
        }
        let warnings = &mut self.warnings;
        let warned = |message: Message| {
            if let Message::Notice(notice) = message {
                warnings.push(notice.message);
            }
        };
        self.connection.ask(&line, arrived_ns, warned).map_err(|error| match error {
            AskError::Refused(refusal) => {
                let pointer = refusal.pointer.unwrap_or_default();
                InputError::new(refusal.code, pointer, refusal.message)
            }
            AskError::Ended | AskError::Unread(_) => {
                InputError::new(ErrorCode::Internal, "", error.to_string())
            }
        })
    }
}

impl Answer {
    fn of(
        answer: Result<(String, String), InputError>,
        data: Option<Value>,
        globaldata: Option<Value>,
    ) -> Self {
        let (response, mut debug) = match answer {
            Ok((mv, remark)) => (Some(mv), remark),
            Err(error) => (None, error.to_string()),
        };
        while debug.len() > DEBUG_BYTES {
            debug.pop();
        }
        Self { response, debug, data, globaldata }
    }

    /// The answer to a line that cannot be read.
    pub(super) fn to_too_long(limit: usize) -> Self {
        let message = format!("a line of more than {limit} bytes is not read");
        Self::of(Err(InputError::new(ErrorCode::LineTooLong, "", message)), None, None)
    }
}

fn owned((name, value): (&str, &Setting)) -> (String, Setting) {
    (name.to_owned(), value.clone())
}

/// Where in the line stands what the daemon blames; `before` moves are the arguments'.
fn place(pointer: &str, game: &Game, before: usize) -> String {
    if let Some(at) = pointer.strip_prefix("/position/moves/").and_then(|at| at.parse::<usize>().ok()) {
        return at
            .checked_sub(before)
            .and_then(|at| game.plies.get(at))
            .map_or_else(String::new, |ply| ply.pointer.clone());
    }
    match pointer {
        "/position/start" if game.start.is_some() => "/requests/0/position".into(),
        // The position that all of the line leads to.
        _ => String::new(),
    }
}

/// What a search found, for people, and what the daemon warned of.
fn remark(best: &BestMove, warnings: &[String]) -> String {
    let BestMove { lines, stats, .. } = best;
    let score = lines.first().map_or_else(String::new, |line| format!("{}, ", words::line_score(line)));
    let found = format!("{score}depth {}, {} nodes in {} ms", stats.depth, stats.nodes, stats.time_ms);
    iter::once(&found).chain(warnings).map(String::as_str).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_each_limit_is_kept() {
        let ms = Duration::from_millis;
        let times = |first, next, margin| Times { first: ms(first), next: ms(next), margin };
        for (times, first, next) in [
            (times(2000, 1000, None), (1900, 1950), (900, 950)),
            (times(600, 20, None), (540, 570), (18, 19)),
            (times(2, 1, None), (1, 1), (1, 1)),
            (times(2000, 1000, Some(ms(300))), (1700, 1850), (700, 850)),
            (times(100, 100, Some(ms(300))), (1, 1), (1, 1)),
        ] {
            assert_eq!((times.think(true), times.think(false)), (first, next), "{times:?}");
        }
    }
}
