//! The games of a match as they are played, for those who watch: how each table stands, how the match
//! stands, the latest results. Boards are drawn where somebody watches, and never by a thread that plays.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use plyd_protocol::{Outcome, Player, Score, ToMove};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::arena::referee::Play;
use crate::arena::{Match, PlayedGame, ScheduledGame};
use crate::bridge;
use crate::cli::words::label;
use crate::daemon::News;
use crate::engine::AnyRoot;

/// The most results that are held: those who come late get no more, whatever the match's length.
const RESULTS: usize = 200;

/// A match that is watched.
pub(super) struct Live {
    game: &'static str,
    names: Vec<String>,
    openings: Vec<Arc<dyn AnyRoot>>,
    state: Mutex<State>,
    /// The latest board of each table.
    boards: Mutex<HashMap<usize, Drawn>>,
}

/// All that is shown. Each part has the state, counted up, since which it is so.
#[derive(Default)]
struct State {
    now: u64,
    tables: BTreeMap<usize, Table>,
    score: Option<(u64, String)>,
    results: VecDeque<(u64, String)>,
    /// The report, once there is one.
    report: Option<(u64, Arc<str>)>,
}

/// A game at a table.
#[derive(Clone)]
struct Table {
    since: u64,
    /// The state in which the game began, which no other has.
    began: u64,
    scheduled: ScheduledGame,
    moves: Vec<String>,
    answers: usize,
    /// What each player announced last, from its own view.
    scores: [Option<Score>; 2],
    /// What the clocks showed when the player who is to move began to think.
    clocks_us: [Option<u64>; 2],
    to_move: Option<ToMove>,
    asked: Instant,
    end: Option<Outcome>,
}

/// A board that was drawn.
struct Drawn {
    began: u64,
    root: Arc<dyn AnyRoot>,
    board: Box<RawValue>,
}

/// The match, as the page gets it first.
#[derive(Serialize)]
struct MatchEvent<'m> {
    game: &'static str,
    players: &'m [String],
}

/// A table, as the page gets it.
#[derive(Serialize)]
struct TableEvent<'t> {
    table: usize,
    /// The game's number, from 1.
    game: usize,
    /// The names of p1 and p2.
    players: [&'t str; 2],
    plies: usize,
    #[serde(rename = "move")]
    mv: Option<&'t str>,
    scores: &'t [Option<Score>; 2],
    clocks_us: &'t [Option<u64>; 2],
    to_move: Option<ToMove>,
    /// For how long the player who is to move has thought by now.
    thought_us: u64,
    end: Option<&'t Outcome>,
    board: Option<&'t RawValue>,
}

/// The result of a game, as the page gets it.
#[derive(Serialize)]
struct ResultEvent<'g> {
    game: usize,
    players: [&'g str; 2],
    winner: Option<Player>,
    by: &'g str,
    plies: usize,
}

impl State {
    /// The next state.
    fn next(&mut self) -> u64 {
        self.now += 1;
        self.now
    }
}

impl Live {
    pub(super) fn new(the_match: &Match) -> Self {
        Self {
            game: the_match.game.name,
            names: the_match.players.iter().map(|player| label(&player.name).to_owned()).collect(),
            openings: the_match.openings.clone(),
            // From 1: who has seen nothing says 0.
            state: Mutex::new(State { now: 1, ..State::default() }),
            boards: Mutex::default(),
        }
    }

    /// A game at a table is as far as this.
    pub(super) fn see(&self, place: usize, scheduled: ScheduledGame, play: &Play) {
        let mut state = self.state();
        let now = state.next();
        let is_same = |table: &Table| {
            table.scheduled.number == scheduled.number && table.answers <= play.answers().len()
        };
        let before = state.tables.remove(&place).filter(is_same);
        let mut table = before.unwrap_or_else(|| Table::new(scheduled, now));
        table.go_on(now, play);
        state.tables.insert(place, table);
    }

    /// A game ended, and the match stands so.
    pub(super) fn add(&self, game: &PlayedGame, score: &impl Serialize) {
        let outcome = game.record.result.as_ref();
        let result = json(&ResultEvent {
            game: game.number,
            players: [0, 1].map(|side| label(&game.players[side].name)),
            winner: outcome.and_then(|outcome| outcome.winner),
            by: outcome.map_or("", |outcome| &outcome.by),
            plies: game.record.moves.len(),
        });
        let score = json(score);
        let mut state = self.state();
        let now = state.next();
        state.score = Some((now, score));
        state.results.push_back((now, result));
        if state.results.len() > RESULTS {
            state.results.pop_front();
        }
    }

    /// The match is over, and this is its report.
    pub(super) fn end(&self, report: String) {
        let mut state = self.state();
        let now = state.next();
        state.report = Some((now, report.into()));
    }

    pub(super) fn report(&self) -> Option<Arc<str>> {
        self.state().report.as_ref().map(|(_, report)| Arc::clone(report))
    }

    /// What changed since a state.
    pub(super) fn news(&self, seen: u64) -> News {
        let state = self.state();
        let tables: Vec<(usize, Table)> = state
            .tables
            .iter()
            .filter(|(_, table)| table.since > seen)
            .map(|(at, table)| (*at, table.clone()))
            .collect();
        let (now, is_last) = (state.now, state.report.is_some());
        let mut events = String::new();
        if seen == 0 {
            events += &event("match", &json(&MatchEvent { game: self.game, players: &self.names }));
        }
        let is_new = |(since, _): &&(u64, String)| *since > seen;
        for (_, score) in state.score.iter().filter(is_new) {
            events += &event("score", score);
        }
        for (_, result) in state.results.iter().filter(is_new) {
            events += &event("result", result);
        }
        // Boards are drawn while nobody waits.
        drop(state);
        for (place, table) in tables {
            events += &event("table", &self.table_event(place, &table));
        }
        if is_last {
            events += &event("over", "{}");
        }
        News { events, seen: now, is_last }
    }

    fn table_event(&self, place: usize, table: &Table) -> String {
        let mut boards = self.boards.lock().unwrap_or_else(PoisonError::into_inner);
        let drawn = self.draw(boards.remove(&place), table);
        let shown = json(&TableEvent {
            table: place,
            game: table.scheduled.number + 1,
            players: table.scheduled.players.map(|index| &*self.names[index]),
            plies: table.moves.len(),
            mv: table.moves.last().map(String::as_str),
            scores: &table.scores,
            clocks_us: &table.clocks_us,
            to_move: table.to_move,
            thought_us: u64::try_from(table.asked.elapsed().as_micros()).unwrap_or(u64::MAX),
            end: table.end.as_ref(),
            board: drawn.as_ref().map(|drawn| &*drawn.board),
        });
        boards.extend(drawn.map(|drawn| (place, drawn)));
        shown
    }

    /// The board of a table, from the one before it if that is of the same game.
    fn draw(&self, before: Option<Drawn>, table: &Table) -> Option<Drawn> {
        let before =
            before.filter(|drawn| drawn.began == table.began && table.moves.starts_with(drawn.root.played()));
        let root = match before {
            Some(drawn) if drawn.root.played().len() == table.moves.len() => return Some(drawn),
            Some(drawn) => drawn.root,
            None => Arc::clone(&self.openings[table.scheduled.round]),
        };
        // What the referee has played the rules allow.
        let root = root.extend(table.moves.get(root.played().len()..)?).ok()?;
        let board = serde_json::value::to_raw_value(&bridge::board(root.board())).ok()?;
        Some(Drawn { began: table.began, root, board })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn new(scheduled: ScheduledGame, now: u64) -> Self {
        Self {
            since: now,
            began: now,
            scheduled,
            moves: Vec::new(),
            answers: 0,
            scores: [None; 2],
            clocks_us: [None; 2],
            to_move: None,
            asked: Instant::now(),
            end: None,
        }
    }

    /// Takes what was played since.
    fn go_on(&mut self, now: u64, play: &Play) {
        self.since = now;
        let played = play.root().played();
        self.moves.extend(played.get(self.moves.len()..).unwrap_or_default().iter().cloned());
        for answer in &play.answers()[self.answers..] {
            self.scores[usize::from(answer.player == Player::P2)] = answer.score;
        }
        self.answers = play.answers().len();
        self.clocks_us = [Player::P1, Player::P2].map(|player| {
            let clock = play.clock(player);
            let shown = clock.left().or(clock.allowed())?;
            u64::try_from(shown.as_micros()).ok()
        });
        self.end = play.ended().map(|end| end.outcome.clone());
        self.to_move = self.end.is_none().then(|| bridge::to_move(play.root().to_move()));
        self.asked = Instant::now();
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it is plain data")
}

/// An event as it is sent; as JSON its data holds no end of a line.
fn event(name: &str, data: &str) -> String {
    let mut text = String::with_capacity(data.len() + 32);
    let _never_fails = write!(text, "event: {name}\ndata: {data}\n\n");
    text
}
