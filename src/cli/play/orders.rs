//! What each command does at the table.

use std::time::{Duration, Instant};

use crate::arena::TimeControl;
use crate::cli::picture::{self, Detail, Emphasis};
use crate::cli::styled::{self, Text, Tone};
use crate::cli::{position, words};
use crate::engine::settings::Renamed;
use plyd_protocol::{Cell, Player, Settings};

use super::catalogue::COMMANDS;
use super::catalogue::{Command, Shape};
use super::command::{self, NoCommand};
use super::cursor;
use super::files;
use super::search::Purpose;
use super::seats::{self, Seat};
use super::suggest;
use super::table::{Situation, Table};

/// How often the table looks at a review that runs.
const LOOK: Duration = Duration::from_millis(100);

/// How many moves are named at most.
const NAMED: usize = 12;

impl Table {
    /// Takes a line of the person at the keyboard: a move, or else a command, or else something that was
    /// meant to be one of them.
    pub(super) fn take(&mut self, line: &str) {
        self.warned = false;
        if line.trim().is_empty() {
            if self.history.looking {
                self.step(1);
            }
            return;
        }
        if let Some(mv) = suggest::exact(line, &self.here.legal) {
            let mv = mv.to_owned();
            return self.play_mine(mv);
        }
        match command::read(line) {
            Ok(command) => self.obey(command),
            Err(NoCommand::Wrong(message)) => self.alarm(&message),
            Err(NoCommand::Unknown) => self.guess(line.trim()),
        }
    }

    /// Handles Ctrl-C: the first ends a search, the second the program.
    pub(super) fn interrupt(&mut self) {
        if self.warned {
            self.leaving = true;
            return;
        }
        self.warned = true;
        match self.search.as_ref().map(|search| search.purpose) {
            Some(purpose) => {
                self.paused |= matches!(purpose, Purpose::Move(_));
                self.link.stop();
                self.say("stopped; Ctrl-C again leaves");
            }
            None if self.review.take().is_some() => {
                self.say("the review is cancelled; Ctrl-C again leaves");
            }
            None => {
                self.say("Ctrl-C again leaves and prints how to resume the game; `save FILE` keeps it");
            }
        }
    }

    /// Does what a command says.
    pub(super) fn obey(&mut self, command: Command) {
        match command {
            Command::Help(None) => self.help(),
            Command::Help(Some(word)) => match command::help(&word) {
                Some(help) => self.page("help", styled::lines(&help)),
                None => self.alarm(&format!("there is no command `{word}`; `help` lists all")),
            },
            Command::Moves(beginning) => self.show_moves(&beginning),
            Command::Board(shape) => self.show_board(shape),
            Command::Text => {
                let text = self.here.text.clone();
                self.say(text);
            }
            Command::Rules => self.show_rules(),
            Command::History => {
                let game = files::game(self);
                let lines = styled::lines(&format!("{}\n{}", game.heading(), game.moves()));
                self.page("history", lines);
            }
            Command::Undo(count) => self.undo(count),
            Command::Redo(count) => self.redo(count),
            Command::Step(plies) => self.step(plies),
            Command::Ply(ply) => self.look_at(ply),
            Command::Replay => {
                self.look_at(0);
                self.say("Enter or `next` shows the next ply, `back` the one before, `continue` plays on");
            }
            Command::Continue => self.play_on(),
            Command::Pause => {
                self.paused = true;
                self.give_up();
                self.say("the engine waits; `continue` lets it play on");
            }
            Command::Go => match self.mover() {
                Some(player) => self.begin(Purpose::Move(player), None),
                None => self.nothing_to_search(),
            },
            Command::Stop => self.stop(),
            Command::Review(time) => self.begin_review(time),
            Command::Bar(is_on) => self.turn_bar(is_on),
            Command::Hint(time) => match self.mover() {
                Some(player) => self.begin(Purpose::Hint(player), time),
                None => self.nothing_to_search(),
            },
            Command::Analyse { lines, time } => {
                self.lines = lines.unwrap_or(self.lines);
                match self.mover() {
                    Some(by) => self.begin(Purpose::Analysis { by, timed: time.is_some() }, time),
                    None => self.nothing_to_search(),
                }
            }
            Command::Seat(side, who) => self.seat(side, &who),
            Command::Swap => {
                self.give_up();
                self.seats.swap(0, 1);
                self.show_seats();
                self.resume();
            }
            Command::Resign => self.resign(),
            Command::Watch => self.watch(),
            Command::Level(level) => self.set(&[("level".to_owned(), level.to_string())]),
            Command::Set(given) => self.set(&given),
            Command::Time(time) => {
                self.think = time;
                self.say(format!("the engine thinks up to {} about a move", words::time(time)));
            }
            Command::Clock(control) => {
                self.control = control;
                self.say(if control == TimeControl::Unlimited {
                    "the clock is off"
                } else {
                    "the clock runs for both sides; time used so far counts"
                });
                self.resume();
            }
            Command::New(given) => self.new_game(&given),
            Command::Position(text) => self.play_from(text),
            Command::Save(file) => files::save(self, file),
            Command::Load(file, number) => files::load(self, &file, number),
            Command::View(turn) => {
                self.view = self.view.turned(turn);
                self.board_due = true;
            }
            Command::Quit => self.leaving = true,
        }
    }

    /// Ends a search with what it has found, and a review without a result.
    fn stop(&mut self) {
        match (self.review.take(), &self.search) {
            (Some(_), _) => self.say("the review is cancelled"),
            (None, Some(_)) => self.link.stop(),
            (None, None) if self.mover().is_some_and(|player| !self.seats[seats::index(player)].is_me()) => {
                self.say("no search is running; `go` lets the engine move");
            }
            (None, None) => self.say("no search is running"),
        }
    }

    /// Shows the board, from now on in another shape if one is given.
    fn show_board(&mut self, shape: Option<Shape>) {
        self.shape = shape.unwrap_or(self.shape);
        self.board_due = true;
    }

    /// Goes on from the position that is shown.
    fn play_on(&mut self) {
        if self.history.looking && !self.history.is_at_end() {
            self.say("you play on from here; `redo` brings back what came after");
        }
        let same_turn = self.clock_runs().then_some(self.turn_began);
        self.history.looking = false;
        self.paused = false;
        self.refreshed();
        self.turn_began = same_turn.unwrap_or(self.turn_began);
        self.advance();
    }

    /// Lets the engine play for whoever sits here.
    fn watch(&mut self) {
        for seat in &mut self.seats {
            if seat.is_me() {
                *seat = Seat::engine();
            }
        }
        self.show_seats();
        self.resume();
    }

    /// Begins a game at the position of a text.
    fn play_from(&mut self, text: String) {
        let (rules, before) = (self.given.clone(), files::unsaved(self));
        if let Err(refusal) = self.open_game(self.entry, rules, Some(text), Vec::new()) {
            return self.alarm(&format!("no such position: {refusal}; `text` shows how one is written"));
        }
        self.say_unsaved(before);
        self.advance();
    }

    /// A line that is neither a move of the list nor a command: another way to write a move, or a mistake.
    fn guess(&mut self, line: &str) {
        let mistyped = |message: String, near: &[&str]| match near {
            [] => format!("{message}; `moves` lists the moves, `help` the commands"),
            _ => format!("{message}; did you mean {}?", quoted(near)),
        };
        let said = plyd_protocol::echo(line);
        let begun = suggest::beginning(line, &self.here.legal);
        if let [only] = begun[..] {
            let only = only.to_owned();
            return self.alarm(&mistyped(format!("`{said}` is not a move"), &[&only]));
        }
        if !begun.is_empty() {
            let more = if begun.len() > NAMED { ", ..." } else { "" };
            let named = quoted(&begun[..begun.len().min(NAMED)]);
            return self.alarm(&format!("{} moves begin with `{said}`: {named}{more}", begun.len()));
        }
        // The rules may know the move by another text than the one that they list.
        let mut message = format!("`{said}` is neither a legal move here nor a command");
        if self.mover().is_some() && line.len() <= 100 {
            match self.try_mine(line.to_owned()) {
                Ok(()) => return,
                // How a move is written says nothing to whoever wrote a word, such as `draw`.
                Err(refused) if line.len() <= 3 || line.contains(|c: char| c.is_ascii_digit()) => {
                    message += &format!(": {refused}");
                }
                Err(_) => {}
            }
        }
        let moves = self.here.legal.iter().map(String::as_str);
        let near = suggest::nearest(line, moves.chain(command::names()), 5);
        // What stands behind a command is no part of its name: `levle 3`.
        let first = line.split_whitespace().next().unwrap_or_default();
        let meant = if near.is_empty() { suggest::nearest(first, command::names(), 5) } else { near };
        // Why the rules refuse it would mislead whoever mistyped a word.
        let is_word = first.len() > 2 && first.chars().all(char::is_alphabetic);
        let message = match (&meant[..], is_word) {
            ([], _) | (_, false) => mistyped(message, &meant),
            (meant, true) => mistyped("no such command or move".to_owned(), meant),
        };
        self.alarm(&message);
    }

    fn help(&mut self) {
        let mut table = crate::cli::columns::Columns::plain();
        for spec in COMMANDS {
            table.row([format!("{} {}", spec.name, spec.takes).trim_end(), spec.about]);
        }
        let mut lines = vec![
            Text::from("Type a move to play it; `moves` lists the legal ones. Commands can be abbreviated."),
            Text::default(),
        ];
        lines.extend(styled::lines(&table.to_string()));
        self.page("help", lines);
    }

    fn show_moves(&mut self, beginning: &str) {
        let found = suggest::beginning(beginning, &self.here.legal);
        if found.is_empty() {
            let message = match self.mover() {
                None => self.status().plain(),
                Some(_) => format!("no move begins with `{}`", plyd_protocol::echo(beginning)),
            };
            return self.say(message);
        }
        let count = words::count(found.len() as u64, "move");
        let separator = if found.iter().any(|mv| mv.contains(' ')) { " | " } else { " " };
        let line = Text::from(found.join(separator));
        self.page("moves", vec![Text::new(&count, Tone::Strong), line]);
    }

    fn show_rules(&mut self) {
        let mut lines = vec![
            Text::new(self.entry.about, Tone::Strong),
            Text::from(format!("A move: {}", self.entry.move_grammar)),
        ];
        for (name, value) in self.history.rules.iter() {
            let about = self.entry.rules.iter().find(|spec| spec.name == name).map_or("", |spec| spec.about);
            lines.push(Text::from(format!("{name}={}  {about}", words::setting(value))));
        }
        lines.push(Text::from(format!("seed {:x}", self.seed)));
        self.page("rules", lines);
    }

    fn nothing_to_search(&mut self) {
        let why = self.standstill();
        self.alarm(&format!("there is nothing to search: {why}"));
    }

    /// The board in words, for those who listen to it.
    pub(super) fn board_words(&self) -> Vec<Text> {
        let board = &self.here.board;
        picture::words(board, |cell| cursor::name(board, self.here.naming, cell))
    }

    /// The board as it is seen, with a cell under the cursor or none.
    pub(super) fn picture(&self, cursor: Option<Cell>, detail: Detail) -> Vec<Text> {
        let Situation { board, last, targets, .. } = &self.here;
        let emphasis = Emphasis { last: last.clone(), targets: targets.clone(), cursor };
        picture::lines(&self.view.board(board), &self.view.emphasis(&emphasis, board), detail)
    }

    /// Takes back this many moves, or with 0 up to the person's last one.
    fn undo(&mut self, count: usize) {
        self.travel(count, -1);
    }

    fn redo(&mut self, count: usize) {
        self.travel(count, 1);
    }

    fn travel(&mut self, count: usize, way: i32) {
        let before = self.history.clone();
        self.history.looking = false;
        let mut made = 0;
        loop {
            // A flag that fell, or a resignation, stands behind the last move and is taken back as one.
            let fell = way < 0 && self.history.is_at_end() && self.history.broken_off.take().is_some();
            if !(fell || if way < 0 { self.history.back() } else { self.history.forward() }) {
                break;
            }
            made += 1;
            if let Err(refusal) = self.refresh() {
                self.history = before;
                return self.alarm(&refusal.to_string());
            }
            // Only now: where there is nothing to go to, the engine thinks on.
            self.give_up();
            let my_turn = self.mover().is_some_and(|player| self.seats[seats::index(player)].is_me());
            let nobody = !self.seats.iter().any(Seat::is_me);
            if if count > 0 { made == count } else { my_turn || nobody } {
                break;
            }
        }
        if made == 0 {
            self.history = before;
            return self.say(if way < 0 {
                "there is nothing to take back"
            } else {
                "there is nothing to play again"
            });
        }
        let moves = words::count(made as u64, "move");
        let verb = if way < 0 { "taken back" } else { "played again" };
        let rest = if made < count { ": there are no more" } else { "" };
        self.say(format!("{moves} {verb}{rest}"));
        // Otherwise the engine would at once play again what was just taken back.
        self.paused = self.mover().is_some_and(|player| !self.seats[seats::index(player)].is_me());
        self.measure();
    }

    fn step(&mut self, plies: i64) {
        let at = self.history.at() as i64;
        self.look_at(usize::try_from(at.saturating_add(plies)).unwrap_or(0));
    }

    /// Shows the position after so many plies, or the nearest there is.
    pub(super) fn look_at(&mut self, ply: usize) {
        let (before, was_looking) = (self.history.at(), self.history.looking);
        self.history.go_to(ply);
        if ply > self.history.len() {
            self.say("that was the last ply; `continue` plays on");
        }
        self.history.looking = true;
        if let Err(refusal) = self.refresh() {
            self.history.go_to(before);
            self.history.looking = was_looking;
            return self.alarm(&refusal.to_string());
        }
        self.give_up();
        let place = files::whole_game(self).place(self.history.at());
        self.say(place);
        self.measure();
    }

    fn seat(&mut self, side: usize, who: &str) {
        let seat = match Seat::read(self.entry, who) {
            Ok(seat) => seat,
            Err(message) => return self.alarm(&message),
        };
        self.give_up();
        let player = seats::player(side);
        if !seat.is_me() {
            let options = seat.options(&self.common);
            if let Err(refusal) = self.open(words::side_name(player), options) {
                self.alarm(&format!(
                    "{refusal}; `plyd describe {}` lists players and options",
                    self.entry.name
                ));
                return self.resume();
            }
        }
        let renamed = position::renamed(self.entry, &seat.own());
        self.seats[side] = seat;
        self.show_seats();
        self.say_renamed(&renamed);
        self.resume();
    }

    /// Sets options of the engine's players, if they take them.
    fn set(&mut self, given: &[(String, String)]) {
        self.give_up();
        let options = position::option_settings(self.entry, given);
        let renamed = position::renamed(self.entry, &options);
        // A player that was seated or loaded with such an option has it anew as well.
        let seats = self.seats.clone().map(|seat| seat.under(&options));
        let common = Settings(self.common.0.clone().into_iter().chain(options.0).collect());
        let former = (std::mem::replace(&mut self.common, common), std::mem::replace(&mut self.seats, seats));
        let engines: Vec<Player> = [Player::P1, Player::P2]
            .into_iter()
            .filter(|player| !self.seats[seats::index(*player)].is_me())
            .collect();
        // Without an engine at the table, a session that nobody uses shows whether the options exist.
        let sessions = if engines.is_empty() { vec![Player::P1] } else { engines };
        for player in sessions {
            let options = self.seats[seats::index(player)].options(&self.common);
            if let Err(refusal) = self.open(words::side_name(player), options) {
                (self.common, self.seats) = former;
                self.alarm(&format!("{refusal}; `plyd describe {}` lists the options", self.entry.name));
                return self.resume();
            }
        }
        self.show_seats();
        self.say_renamed(&renamed);
        self.resume();
    }

    /// Says which of the given names have been renamed since.
    fn say_renamed(&mut self, renamed: &[Renamed]) {
        for renamed in renamed {
            self.say(renamed.to_string());
        }
    }

    /// Says that the engine lacks the player that a record names for a side.
    pub(super) fn say_absent(&mut self, player: Player, name: &str) {
        let side = words::side_name(player);
        let name = plyd_protocol::echo(name);
        self.alarm(&format!(
            "{side} was `{name}`, which cannot play here; `{side} NAME` seats another player"
        ));
    }

    pub(super) fn show_seats(&mut self) {
        let text = format!("{}, {}", self.named(Player::P1), self.named(Player::P2));
        self.say(text);
    }

    /// Lets the side to move go on after something other than the position changed.
    fn resume(&mut self) {
        if !self.history.looking {
            self.paused = false;
        }
        self.advance();
    }

    fn new_game(&mut self, given: &[(String, String)]) {
        let mut rules = self.given.clone();
        if !given.is_empty() {
            rules = position::rule_settings(self.entry, given);
        }
        let (former, before) = (self.seed, files::unsaved(self));
        self.seed = crate::zobrist::mix(former.wrapping_add(1));
        match self.open_game(self.entry, rules, None, Vec::new()) {
            Ok(()) => {
                self.say_unsaved(before);
                self.say(format!("a new game, seed {:x}", self.seed));
                self.advance();
            }
            Err(refusal) => {
                self.seed = former;
                self.alarm(&format!("{refusal}; `plyd describe {}` lists the rules", self.entry.name));
            }
        }
    }

    /// How long until the clock, a review or an overloaded server must be looked at, even without any input.
    pub(super) fn next_tick(&self) -> Option<Duration> {
        let runs = self.control != TimeControl::Unlimited && self.mover().is_some() && !self.paused;
        let attempt = self.link.next_attempt().map(|at| at.saturating_duration_since(Instant::now()));
        let look = self.review.as_ref().map(|_| LOOK);
        runs.then_some(Duration::from_millis(200)).into_iter().chain(attempt).chain(look).min()
    }
}

fn quoted(texts: &[&str]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
    match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => quoted.concat(),
    }
}
