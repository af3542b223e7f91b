//! The report of a whole match from the records of its shards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plyd_core::engine::Entry;

use super::archive::{self, ArchiveError};
use super::header::Header;
use super::played::{Part, PlayedGame};
use super::schedule::Schedule;
use super::shard::Shard;
use super::summary::Summary;

/// The most players of a match, which bounds the pairings that a record can ask for.
const MOST_PLAYERS: usize = 10_000;
/// The most games of a match that is merged, which bounds the memory that a record can ask for.
const MOST_GAMES: usize = 10_000_000;
/// How many numbers of pairs a message names.
const NAMED: usize = 10;

/// Why files of records are not the shards of one match.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A file cannot be read, or one of its records does not fit.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ArchiveError,
    },
    /// There is no record at all.
    #[error("there is no record of a game in these files")]
    Empty,
    /// Games are missing.
    #[error("{0}")]
    Missing(String),
}

/// Reads the records of all shards of a match, in any order, and gives each of its games to `game`.
///
/// # Errors
/// The first file that cannot be read, or has a record of another match, of a game that its shard does not
/// hold, or of a game that came before; otherwise the pairs that are missing.
pub fn merge(
    paths: &[PathBuf],
    games: &[&'static Entry],
    mut game: impl FnMut(&PlayedGame),
) -> Result<(Header, Summary), MergeError> {
    let mut merged: Option<Merged<'_>> = None;
    for path in paths {
        let read = archive::read_file(path, |played: PlayedGame| {
            if merged.is_none() {
                merged = Some(Merged::new(path, &played, games)?);
            }
            let merged = merged.as_mut().expect("it was just made");
            merged.take(path, &played)?;
            game(&played);
            Ok(())
        });
        read.map_err(|source| MergeError::File { path: path.clone(), source })?;
    }
    let merged = merged.ok_or(MergeError::Empty)?;
    merged.missing().map_or(Ok((merged.header, merged.summary)), |missing| Err(MergeError::Missing(missing)))
}

/// What was read so far.
struct Merged<'p> {
    header: Header,
    /// What the first record said, for comparison.
    first: (&'p Path, PlayedGame),
    summary: Summary,
    /// The file of each game that was there, by its number.
    found: Vec<Option<&'p Path>>,
}

impl<'p> Merged<'p> {
    /// The match of this record.
    ///
    /// # Errors
    /// The record belongs to no match in shards, or to one that is impossible.
    fn new(path: &'p Path, played: &PlayedGame, games: &[&'static Entry]) -> Result<Self, String> {
        let part = part(played)?;
        let name = &played.record.game;
        let entry = games.iter().find(|entry| entry.name == name);
        let game = *entry.ok_or_else(|| format!("there is no game `{}` here", plyd_protocol::echo(name)))?;
        let count = part.players.len();
        if let Some((index, player)) =
            part.players.iter().enumerate().find(|(index, player)| player.index != *index)
        {
            return Err(format!("player {index} of its match has the number {}", player.index));
        }
        let is_known = (2..=MOST_PLAYERS).contains(&count);
        // Each round is a pair of games of each pairing.
        let of_round = part.format.pairings(count).filter(|_| is_known).map(|pairings| 2 * pairings);
        let of_round = of_round.filter(|games| part.games > 0 && part.games.is_multiple_of(*games));
        let rounds = of_round.map(|games| part.games / games);
        let Some(rounds) = rounds.filter(|_| part.games <= MOST_GAMES) else {
            return Err(format!("there is no match of {} games between {count} players", part.games));
        };
        let header = Header {
            game,
            rules: part.rules.clone(),
            seed: played.seed,
            players: part.players.iter().map(|player| player.name.clone()).collect(),
            schedule: Schedule::new(part.format, count, rounds),
            strictness: played.terms,
        };
        let summary = Summary::new(&header.schedule, count);
        Ok(Self { header, first: (path, played.clone()), summary, found: Vec::new() })
    }

    /// Counts a game.
    ///
    /// # Errors
    /// Why the game does not belong to this match, or came before.
    fn take(&mut self, path: &'p Path, played: &PlayedGame) -> Result<(), String> {
        let number = played.number;
        let part = part(played)?;
        let (first_path, first) = &self.first;
        let of_first = first.part.as_ref().expect("it was looked at");
        let elsewhere = |what: &str| {
            Err(format!("game {number} is of another match than those of {}: {what}", first_path.display()))
        };
        match () {
            () if played.record.game != first.record.game => return elsewhere("another game"),
            () if played.seed != first.seed => return elsewhere("another seed"),
            () if played.terms != first.terms => return elsewhere("other terms of the referee"),
            () if part.rules != of_first.rules => return elsewhere("other rules"),
            () if part.format != of_first.format || part.games != of_first.games => {
                return elsewhere("another number of games, or others who meet");
            }
            () if part.shard.count() != of_first.shard.count() => {
                return elsewhere("another number of shards");
            }
            () if part.openings != of_first.openings => return elsewhere("other openings"),
            () => {}
        }
        if part.players.len() != of_first.players.len() {
            return elsewhere("another number of players");
        }
        for (player, known) in part.players.iter().zip(&of_first.players) {
            if player.name != known.name || player.index != known.index {
                return elsewhere(&format!("`{}` plays instead of `{}`", player.name, known.name));
            }
            if player.build != known.build {
                return elsewhere(&format!("another build of `{}`", player.name));
            }
        }
        let Some(scheduled) = number.checked_sub(1).and_then(|index| self.header.schedule.game(index)) else {
            return Err(format!("game {number} is not among the {} of this match", part.games));
        };
        if !part.shard.holds(scheduled.number) {
            return Err(format!(
                "game {number} is not in shard {}, of which its record says it is",
                part.shard
            ));
        }
        let entrants = scheduled.players.map(|index| &of_first.players[index]);
        if played.players.iter().zip(entrants).any(|(player, entrant)| player != entrant) {
            return Err(format!("game {number} was played by others than this match has there"));
        }
        if played.opening > played.record.moves.len() {
            return Err(format!("game {number} has fewer moves than its opening"));
        }
        if self.found.len() < number {
            self.found.resize(number, None);
        }
        if let Some(before) = self.found[number - 1].replace(path) {
            return Err(format!("game {number} is there twice; the first is in {}", before.display()));
        }
        self.summary.add(played);
        Ok(())
    }

    /// Which pairs are missing, if some are.
    fn missing(&self) -> Option<String> {
        let games = self.header.schedule.games();
        let shards = self.first.1.part.as_ref().map_or(1, |part| part.shard.count());
        let has = |number: usize| self.found.get(number).is_some_and(Option::is_some);
        let mut missing: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for pair in (0..games / 2).filter(|pair| !has(2 * pair) || !has(2 * pair + 1)) {
            missing.entry(pair % shards).or_default().push(pair + 1);
        }
        let lines: Vec<String> = missing
            .into_iter()
            .filter_map(|(index, pairs)| {
                let shard = Shard::new(index, shards)?;
                let named: Vec<String> = pairs.iter().take(NAMED).map(usize::to_string).collect();
                let more = pairs.len().saturating_sub(NAMED);
                let more = if more == 0 { String::new() } else { format!(" and {more} more") };
                let pair = if pairs.len() == 1 { "pair" } else { "pairs" };
                Some(format!("shard {shard} lacks {pair} {}{more}", named.join(", ")))
            })
            .collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// What a record says about the whole match.
fn part(played: &PlayedGame) -> Result<&Part, String> {
    let missing = || format!("game {} was not played with --shard", played.number);
    played.part.as_ref().ok_or_else(missing)
}
