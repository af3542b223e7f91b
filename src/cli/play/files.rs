//! Games in files: saved, loaded, and printed as a command that takes them up again.

use std::collections::BTreeMap;
use std::path::Path;

use crate::arena::{Answered, Entrant};
use crate::cli::records::Game;
use crate::cli::{clock, parse, records, registry, words};
use plyd_protocol::{Player, Position, Record, Settings, ToMove, Want};

use super::history::{self, BrokenOff, History, Ply};
use super::link::{Place, Refusal};
use super::seats::{self, Seat};
use super::table::{THINK, Table};
use crate::engine::Entry;
use crate::game::Kind;

impl Table {
    /// Begins a game, with the moves that were played before, and forgets the one before; what the rules draw
    /// and are given no seed for is drawn by the table's.
    ///
    /// # Errors
    /// The server does not take rules, start or moves; the game before goes on then.
    pub(super) fn open_game(
        &mut self,
        entry: &'static Entry,
        given: Settings,
        start: Option<String>,
        moves: Vec<String>,
    ) -> Result<(), Refusal> {
        let mut rules = given.clone();
        let draws = entry.rules.iter().find(|spec| spec.kind == Kind::Seed && start.is_none());
        if let Some(spec) = draws.filter(|spec| rules.get(spec.name).is_none()) {
            rules.insert(spec.name, format!("{:x}", self.seed));
        }
        let position = Position { start, moves };
        let wants = [Want::Record];
        let record = self.link.inspect(entry.name, &rules, position, &wants)?.record;
        let Record { rules, start, moves, .. } =
            record.ok_or_else(|| Refusal::Nonsense("`inspect` without a record".into()))?;
        let answers = self.answered_before(entry, &rules, &start, &moves)?;
        let history = History::new(rules, start, history::plies(moves, 0, answers), None);
        self.sit_down(entry, history)?;
        self.given = given;
        Ok(())
    }

    /// Says how to take up the game that another one took the place of, if it was not saved.
    pub(super) fn say_unsaved(&mut self, before: Option<String>) {
        if let Some(command) = before {
            self.say("the game before is not saved; this command resumes it:");
            self.say(format!("  {command}"));
        }
    }

    /// The answers with which moves were made before the game came to this table: a review judges them as
    /// those that follow, and they took no time here.
    fn answered_before(
        &mut self,
        entry: &'static Entry,
        rules: &Settings,
        start: &str,
        moves: &[String],
    ) -> Result<Vec<Answered>, Refusal> {
        let mut answers = Vec::new();
        for ply in 0..moves.len() {
            let before = Position { start: Some(start.to_owned()), moves: moves[..ply].to_vec() };
            match self.link.inspect(entry.name, rules, before, &[Want::ToMove])?.to_move {
                Some(ToMove::P1) => answers.push(history::untimed(Player::P1)),
                Some(ToMove::P2) => answers.push(history::untimed(Player::P2)),
                Some(ToMove::Chance) | None => {}
            }
        }
        Ok(answers)
    }

    /// Takes up a game that stands somewhere.
    fn sit_down(&mut self, entry: &'static Entry, history: History) -> Result<(), Refusal> {
        let former = (self.entry, std::mem::replace(&mut self.history, history));
        self.entry = entry;
        if let Err(refusal) = self.refresh() {
            (self.entry, self.history) = former;
            return Err(refusal);
        }
        // Only now: if the game before goes on, so does its search.
        self.give_up();
        self.link.forget();
        self.file = None;
        self.saved = self.history.saved();
        self.paused = false;
        self.decisive = None;
        Ok(())
    }
}

/// The game as it would be saved: without what was taken back.
pub(super) fn game(table: &Table) -> Game {
    record(table, table.history.kept())
}

/// The game with what was taken back.
pub(super) fn whole_game(table: &Table) -> Game {
    record(table, table.history.plies())
}

fn record(table: &Table, plies: &[Ply]) -> Game {
    let (moves, opening, answers) = history::record(plies);
    let name = |index: usize| Entrant { index, name: table.seats[index].name(&table.common), build: None };
    let at_end = plies.len() == table.history.at();
    Game {
        line: 0,
        record: Record {
            record: Record::VERSION,
            game: table.entry.name.to_owned(),
            rules: table.history.rules.clone(),
            start: table.history.start.clone(),
            moves,
            result: table.outcome().filter(|_| at_end),
        },
        number: None,
        players: Some([name(0), name(1)]),
        opening,
        answers,
        forfeit: match &table.history.broken_off {
            Some(BrokenOff::Forfeit(forfeit)) if at_end => Some(forfeit.clone()),
            _ => None,
        },
        contradictions: Vec::new(),
        comments: BTreeMap::new(),
        variations: Vec::new(),
    }
}

/// Saves the game to a file, or to the one that it has.
pub(super) fn save(table: &mut Table, file: Option<String>) {
    let path = match (file, &table.file) {
        (Some(file), _) => file.into(),
        (None, Some(path)) => path.clone(),
        (None, None) => return table.alarm("give a file, such as `save game.jsonl`"),
    };
    if path.exists() && table.file.as_ref() != Some(&path) {
        return table.alarm(&format!("{}: this file exists already; give another name", path.display()));
    }
    // The end may lie behind the position that is looked at.
    let at = table.history.at();
    let elsewhere = table.history.looking && !table.history.is_at_end();
    if elsewhere {
        table.history.go_to(table.history.len());
        table.refreshed();
    }
    let game = game(table);
    if elsewhere {
        table.history.go_to(at);
        table.refreshed();
    }
    match records::write(&path, &game) {
        Ok(()) => {
            table.say(saved(game.record.moves.len(), table.history.len(), &path));
            table.saved = table.history.saved();
            table.file = Some(path);
        }
        Err(error) => table.alarm(&format!("`save`: cannot write {}: {error}", path.display())),
    }
}

/// What was saved, and what was not: a game is saved without what was taken back.
fn saved(plies: usize, all: usize, path: &Path) -> String {
    let back = all.saturating_sub(plies);
    let more = match back {
        0 => String::new(),
        _ => format!(
            "; without the {} that {} taken back (`redo` brings {} back)",
            words::count(back as u64, "ply"),
            if back == 1 { "was" } else { "were" },
            if back == 1 { "it" } else { "them" },
        ),
    };
    format!("saved {} to {}{more}", words::count(plies as u64, "ply"), path.display())
}

/// Goes on with a game from a file.
pub(super) fn load(table: &mut Table, file: &str, number: Option<usize>) {
    let before = unsaved(table);
    match try_load(table, Path::new(file), number, "its number, as in `load FILE 2`") {
        Ok(_players) => {
            table.say_unsaved(before);
            table.advance();
        }
        Err(message) => table.alarm(&format!("`load`: {message}")),
    }
}

/// Takes up a game from a file, and reports what it is; `how` is how a number is given. Gives the names of
/// those who played it, if the record has them.
///
/// # Errors
/// A sentence for people; the game before goes on.
pub(super) fn try_load(
    table: &mut Table,
    path: &Path,
    number: Option<usize>,
    how: &str,
) -> Result<Option<[String; 2]>, String> {
    if path == Path::new("-") {
        return Err("standard input is used for commands: give a file".into());
    }
    let games = records::read(path).map_err(|failure| failure.to_string())?;
    let is_alone = games.len() == 1;
    let game =
        records::choose(games, number, how).map_err(|failure| format!("{}: {failure}", path.display()))?;
    let place = path.display();
    let entry = registry::game(&game.record.game).map_err(|failure| format!("{place}: {failure}"))?;
    let heading = game.heading();
    let players = game.players.map(|players| players.map(|player| player.name));
    // `save` writes the game alone: it takes the place of no other games, and of no comments and variations.
    let is_whole = is_alone && game.variations.is_empty() && game.comments.is_empty();
    let Record { rules, start, moves, result, .. } = game.record;
    let plies = history::plies(moves, game.opening, game.answers);
    let resigned = || {
        let winner = result.as_ref().filter(|outcome| outcome.by == BrokenOff::RESIGNATION)?.winner?;
        Some(BrokenOff::Resigned(seats::other(winner)))
    };
    let broken_off = game.forfeit.map(BrokenOff::Forfeit).or_else(resigned);
    let history = History::new(rules.clone(), start, plies, broken_off);
    table.sit_down(entry, history).map_err(|refusal| format!("{place}: {}", misfit(&refusal)))?;
    // Another game is drawn anew.
    table.given = rules;
    table
        .given
        .0
        .retain(|name, _| !entry.rules.iter().any(|spec| spec.name == name && spec.kind == Kind::Seed));
    table.file = is_whole.then(|| path.to_owned());
    for line in heading.lines() {
        table.say(line);
    }
    if result.is_some() && table.outcome().is_none() {
        table.say("by the rules this game is not over: you can play on");
    }
    Ok(players)
}

/// What is wrong with a record, by the place of the request that its parts were put into.
fn misfit(refusal: &Refusal) -> String {
    let pointer = refusal.pointer();
    let place = match pointer.strip_prefix("/position/moves/").and_then(|index| index.parse::<usize>().ok()) {
        Some(index) => format!("its ply {}", index + 1),
        None if pointer.starts_with("/position/start") => "its start".to_owned(),
        None if pointer.starts_with("/rules") => "its rules".to_owned(),
        None => return refusal.to_string(),
    };
    format!("{place} cannot be used: {refusal}")
}

/// What to say of a game that is left unsaved: the command that takes it up again.
pub(super) fn unsaved(table: &Table) -> Option<String> {
    let is_saved = table.history.kept().is_empty() || table.history.is_in(&table.saved);
    (!is_saved).then(|| resume(table))
}

/// The command that takes up the game at its present position, to be pasted into a shell.
pub(super) fn resume(table: &Table) -> String {
    let mut line = format!("plyd play {} --seed {:x}", table.entry.name, table.seed);
    for (index, usual) in [Seat::Me, Seat::engine()].iter().enumerate() {
        let name = table.seats[index].name(&table.common);
        if name != usual.name(&Settings::new()) {
            line += &format!(" --p{} {}", index + 1, shell(&name));
        }
    }
    if table.think != THINK {
        line += &format!(" --time {}", parse::duration_text(table.think));
    }
    if let Some(clock) = clock::text(table.control) {
        line += &format!(" --clock {}", shell(&clock));
    }
    if let Place::Server { address, token_file, .. } = table.link.place() {
        line += &format!(" --connect {}", shell(&address.to_string()));
        if let Some(file) = token_file {
            line += &format!(" --token-file {}", shell(&file.to_string_lossy()));
        }
    }
    let rules: Vec<String> =
        table.history.rules.iter().map(|(name, value)| format!("{name}={}", words::setting(value))).collect();
    if !rules.is_empty() {
        line += &format!(" --rules {}", shell(&rules.join(",")));
    }
    line += &format!(" --position {}", shell(&table.history.start));
    let kept = table.history.kept();
    if !kept.is_empty() {
        line += " --moves";
        line.extend(kept.iter().map(|ply| format!(" {}", shell(&ply.text))));
    }
    line
}

/// A word as a shell reads it.
fn shell(text: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_=,./:+".contains(c);
    if !text.is_empty() && text.chars().all(is_safe) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_read_words_back() {
        for (text, quoted) in [
            ("d4", "d4"),
            ("3 1 W", "'3 1 W'"),
            ("~c4", "'~c4'"),
            ("a'b", r"'a'\''b'"),
            ("", "''"),
            ("1,2,3", "1,2,3"),
        ] {
            assert_eq!(shell(text), quoted);
        }
    }
}
