//! Files of games: what `plyd arena --record` and `plyd play` write, and what both and `plyd show` read.
//!
//! A game is the protocol's record with more fields, all of them optional here: a record that `inspect`
//! answered is a game too.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use crate::arena::{Answered, Contradiction, Entrant, Forfeit, PlayedGame};
use crate::bridge;
use crate::cli::columns::Columns;
use crate::cli::words::label;
use crate::engine::{Fault, settings};
use crate::play::Position;
use plyd_protocol::{Player, Record};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::failure::Failure;
use super::{registry, styled, words};

/// The longest line that is read: some device's has no end.
const LINE_BYTES: u64 = 16 << 20;

/// What a file of games holds.
const EXPECTED: &str = "each line is the JSON of a game, as `plyd arena --record FILE` and, in `plyd play`, \
                        `save FILE` write it";

/// A record, and what a match adds to it. One without a number has that of its line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Game {
    /// The line of its file; 0 before it was in one.
    #[serde(skip)]
    pub(super) line: usize,
    #[serde(flatten)]
    pub(super) record: Record,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) number: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) players: Option<[Entrant; 2]>,
    #[serde(default)]
    pub(super) opening: usize,
    #[serde(default)]
    pub(super) answers: Vec<Answered>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) forfeit: Option<Forfeit>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) contradictions: Vec<Contradiction>,
    /// What was said about the positions of the main line, by ply.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) comments: BTreeMap<String, String>,
    /// What was played instead of parts of the main line, or of other variations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) variations: Vec<Variation>,
}

/// A line of play that leaves another one. A list of them is a tree whatever its depth, and no reader
/// recurses.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Variation {
    /// The line that it leaves: 0 is the main line, N the N-th variation, which stands before it.
    of: usize,
    /// After how many plies it leaves it.
    ply: usize,
    moves: Vec<String>,
    /// Comments, scores and clocks, by ply of the whole game.
    #[serde(flatten)]
    more: Map<String, Value>,
}

impl From<&PlayedGame> for Game {
    fn from(game: &PlayedGame) -> Self {
        Self {
            line: 0,
            record: game.record.clone(),
            number: Some(game.number),
            players: Some(game.players.clone()),
            opening: game.opening,
            answers: game.answers.clone(),
            forfeit: game.forfeit.clone(),
            contradictions: game.contradictions.clone(),
            comments: BTreeMap::new(),
            variations: Vec::new(),
        }
    }
}

/// The games of a file, a line each.
pub(super) fn read(path: &Path) -> Result<Vec<Game>, Failure> {
    let place = path.display();
    let mut lines: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path)
            .map_err(|error| Failure::Usage(format!("{place}: {error}; give a file of games: {EXPECTED}")))?;
        Box::new(BufReader::new(file))
    };
    let mut games = Vec::new();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = lines.by_ref().take(LINE_BYTES + 1).read_until(b'\n', &mut line);
        if read.map_err(|error| Failure::Usage(format!("{place}: {error}")))? == 0 {
            break;
        }
        let fail =
            |message: &str| Failure::Usage(format!("{place}, line {number}: no record of a game: {message}"));
        if line.len() as u64 > LINE_BYTES {
            return Err(fail(&format!("more than {LINE_BYTES} bytes")));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let mut game: Game = serde_json::from_slice(&line).map_err(|error| {
            let is_object = line.trim_ascii_start().starts_with(b"{");
            let found = if is_object { error.to_string() } else { "no JSON object".to_owned() };
            fail(&format!("{found}; {EXPECTED}"))
        })?;
        game.number = game.number.or(Some(number));
        game.line = number;
        games.push(game);
    }
    if games.is_empty() { Err(Failure::Usage(format!("{place}: there is no game in it"))) } else { Ok(games) }
}

/// The game of that number among those of a file; without one the only game. `how` is how a number is given.
pub(super) fn choose(games: Vec<Game>, number: Option<usize>, how: &str) -> Result<Game, Failure> {
    let count = games.len();
    let mut games = games.into_iter();
    match (number, games.next()) {
        (None, Some(only)) if count == 1 => Ok(only),
        (None, _) => Err(Failure::Usage(format!("there are several games: choose one by {how}"))),
        (Some(number), first) => {
            let found = first.into_iter().chain(games).find(|game| game.number == Some(number));
            found.ok_or_else(|| Failure::Usage(format!("there is no game {number} in the file")))
        }
    }
}

/// Writes a file of one game. It is whole or as it was before, whatever happens meanwhile.
pub(super) fn write(path: &Path, game: &Game) -> io::Result<()> {
    let mut line = serde_json::to_vec(game)?;
    line.push(b'\n');
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", process::id()));
    let new: PathBuf = path.with_file_name(name);
    let written = fs::write(&new, line).and_then(|()| fs::rename(&new, path));
    written.inspect_err(|_| {
        let _was_not_there = fs::remove_file(&new);
    })
}

impl Game {
    /// The position at which it began.
    ///
    /// # Errors
    /// There is no such game, or it does not open under these rules at this start.
    pub(super) fn start(&self) -> Result<Position, Failure> {
        let Record { game, rules, start, .. } = &self.record;
        let entry = registry::game(game)?;
        // The fault names the part of the record; there are no arguments to blame.
        let refused = |fault: Fault| Failure::Usage(fault.to_string());
        let rules = settings::rules(entry, &bridge::given(rules), 0).map_err(refused)?;
        Ok(settings::open(entry, &rules, Some(start)).map_err(refused)?.into())
    }

    /// Who played a side, if the record names them.
    pub(super) fn name(&self, player: Player) -> Option<&str> {
        let [p1, p2] = self.players.as_ref()?;
        Some(label(match player {
            Player::P1 => &p1.name,
            Player::P2 => &p2.name,
        }))
    }

    /// How it ended.
    pub(super) fn end(&self) -> String {
        let outcome = self.record.result.as_ref();
        outcome
            .map_or_else(|| "the game goes on".to_owned(), |outcome| styled::line(&words::outcome(outcome)))
    }

    /// What was played, by whom, and how it ended; whatever a record says, a terminal may be given it.
    pub(super) fn heading(&self) -> String {
        let Record { game: played, rules, .. } = &self.record;
        let mut text = played.clone();
        text.extend(rules.iter().map(|(name, value)| format!(" {name}={}", words::setting(value))));
        text = styled::line(&text) + "\n";
        for (side, player) in [("p1", Player::P1), ("p2", Player::P2)] {
            if let Some(name) = self.name(player) {
                text += &format!("{side}: {}\n", styled::line(name));
            }
        }
        text += &format!("{}\n", self.end());
        if let Some(Forfeit { reason, .. }) = &self.forfeit {
            text += &format!("{}\n", styled::line(&reason.to_string()));
        }
        for Contradiction { answer, message, .. } in &self.contradictions {
            text += &format!("answer {}: {}\n", answer.saturating_add(1), styled::line(message));
        }
        match self.variations.len() {
            0 => {}
            1 => text += "1 variation beside the main line\n",
            count => text += &format!("{count} variations beside the main line\n"),
        }
        text
    }

    /// The variations, one a line; nothing if there are none.
    pub(super) fn variations(&self) -> String {
        let mut text = String::new();
        for (index, Variation { of, ply, moves, .. }) in self.variations.iter().enumerate() {
            let line = if *of == 0 { String::new() } else { format!(" of variation {of}") };
            let moves = styled::line(&moves.join("; "));
            text += &format!("variation {}, after ply {ply}{line}: {moves}\n", index + 1);
        }
        text
    }

    /// The plies one by one, with time and score of each that a player was asked for.
    pub(super) fn moves(&self) -> Columns {
        let mut table = Columns::new(["ply", "move", "by", "time", "left", "score"]);
        for (index, mv) in self.record.moves.iter().enumerate() {
            let mut row = vec![(index + 1).to_string(), styled::line(mv)];
            row.extend(match self.answer(index) {
                Some(Answered { player, time_us, left_us, score, .. }) => {
                    let by = if *player == Player::P1 { "p1" } else { "p2" };
                    let time = |us: u64| words::time(Duration::from_micros(us));
                    let score = score.as_ref().map_or_else(String::new, words::score);
                    [by.to_owned(), time(*time_us), left_us.map_or_else(String::new, time), score]
                }
                None => {
                    let by = if mv.starts_with('~') {
                        "chance"
                    } else if index < self.opening {
                        "opening"
                    } else {
                        // Moves of people have no answers.
                        ""
                    };
                    [by.to_owned(), String::new(), String::new(), String::new()]
                }
            });
            table.row(row);
        }
        table
    }

    /// The answer that is this ply of the game; none in the opening, for chance, and in records that keep no
    /// answers.
    fn answer(&self, ply: usize) -> Option<&Answered> {
        let moves = self.record.moves.get(self.opening..=ply)?;
        let asked = moves.iter().filter(|mv| !mv.starts_with('~')).count();
        if moves.last()?.starts_with('~') { None } else { self.answers.get(asked - 1) }
    }

    /// Where in the game the position after so many plies stands, and time and score of the move that led to
    /// it.
    pub(super) fn place(&self, ply: usize) -> String {
        let plies = self.record.moves.len();
        let mut text = match ply.checked_sub(1) {
            None => format!("the start of {}", words::count(plies as u64, "ply")),
            Some(last) => format!("ply {ply} of {plies}: {}", styled::line(&self.record.moves[last])),
        };
        if let Some(answered) = ply.checked_sub(1).and_then(|last| self.answer(last)) {
            text += &format!(", {}", words::time(Duration::from_micros(answered.time_us)));
            if let Some(score) = &answered.score {
                text += &format!(", {}", words::score(score));
            }
        }
        text
    }

    /// What was said about the position after so many plies, in one line.
    pub(super) fn comment(&self, ply: usize) -> Option<String> {
        self.comments.get(&ply.to_string()).map(|comment| styled::line(&comment.replace('\n', " ")))
    }
}
