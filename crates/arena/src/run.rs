//! A match from its first game to its last: tables beside each other take one game after another.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use plyd_bridge as bridge;
use plyd_core::zobrist::mix;
use plyd_protocol::Seed;

use super::forfeit::ForfeitReason;
use super::game::Table;
use super::matches::Match;
use super::played::{Entrant, Part, PlayedGame, Unplayed};
use super::player::Player;
use super::schedule::ScheduledGame;

/// How often a game is begun if a player's server is overloaded meanwhile.
const ATTEMPTS: usize = 3;

/// A player that could not begin a game.
#[derive(Debug, thiserror::Error)]
#[error("the player `{player}` cannot play: {reason} (mend it, or leave out its --player)")]
pub struct StartError {
    /// The player's name.
    pub player: String,
    /// Why.
    pub reason: ForfeitReason,
}

impl Match {
    /// How many games are to be played: all of the schedule, or those of its shard.
    #[must_use]
    pub fn games(&self) -> usize {
        self.shard.map_or(self.schedule.games(), |shard| shard.games(&self.schedule))
    }

    /// Whether the game of that number, from 0, is to be played.
    fn holds(&self, number: usize) -> bool {
        self.shard.is_none_or(|shard| shard.holds(number))
    }

    /// What the records of its games say about the match, if it is played in shards.
    fn part(&self) -> Option<Part> {
        Some(Part {
            shard: self.shard?,
            format: self.schedule.format(),
            games: self.schedule.games(),
            rules: self.rules.clone(),
            players: self.all_entrants(),
            openings: self.openings_hash(),
        })
    }

    /// All players, as records name them.
    fn all_entrants(&self) -> Vec<Entrant> {
        let entrant = |(index, player): (usize, &Player)| Entrant {
            index,
            name: player.name.clone(),
            build: player.build.clone(),
        };
        self.players.iter().enumerate().map(entrant).collect()
    }

    /// A hash of all openings.
    #[must_use]
    pub fn openings_hash(&self) -> Seed {
        Seed(self.openings.iter().fold(0, |hash, opening| {
            let texts = [opening.start_text(), opening.text()].into_iter().chain(opening.played().to_vec());
            texts.fold(hash, |hash, text| {
                text.bytes().fold(mix(hash.wrapping_add(1)), |hash, byte| mix(hash ^ u64::from(byte)))
            })
        }))
    }

    /// Starts each player once, to report mistakes in its options before they lose a game.
    ///
    /// # Errors
    /// The first player that does not take the game.
    pub fn try_players(&self) -> Result<(), StartError> {
        let mut table = Table::new(self, 0, &self.none_crashed());
        (0..self.players.len()).try_for_each(|index| {
            let player = self.players[index].name.clone();
            table.begin(index, self.seed.0).map_err(|why| StartError { player, reason: why.into() })
        })
    }

    /// Whether a game that was played before belongs to this match. The hash of all openings, which a game of
    /// a shard has, takes long to make and is not compared: compare it with
    /// [`openings_hash`](Self::openings_hash).
    ///
    /// # Errors
    /// What does not fit, for people.
    pub fn owns(&self, game: &PlayedGame) -> Result<(), String> {
        let number = game.number;
        let scheduled = number.checked_sub(1).and_then(|index| self.schedule.game(index));
        let Some(scheduled) = scheduled else {
            return Err(format!("game {number} is not among the {} of this match", self.schedule.games()));
        };
        for (entrant, index) in game.players.iter().zip(scheduled.players) {
            let name = &self.players[index].name;
            if entrant.index != index || entrant.name != *name {
                return Err(format!("game {number} was played by `{}` instead of `{name}`", entrant.name));
            }
            if entrant.build != self.players[index].build {
                return Err(format!("game {number} was played by another build of `{name}`"));
            }
        }
        let shard = game.part.as_ref().map(|part| part.shard);
        if shard != self.shard || !self.holds(scheduled.number) {
            let words = |shard: Option<_>| {
                shard.map_or("the whole match".to_owned(), |shard| format!("shard {shard}"))
            };
            return Err(format!(
                "game {number} was played for {} instead of {}",
                words(shard),
                words(self.shard)
            ));
        }
        let (record, opening) = (&game.record, &self.openings[scheduled.round]);
        let same_opening = record.start == opening.start_text()
            && game.opening == opening.played().len()
            && record.moves.starts_with(opening.played());
        // Shards of a match of another size could never be merged.
        let part = game.part.as_ref();
        let (size, format) = (self.schedule.games(), self.schedule.format());
        let differs = match () {
            () if part.is_some_and(|part| part.games != size || part.format != format) => {
                "is of a match with another number of games, or another format"
            }
            () if part.is_some_and(|part| part.rules != self.rules) => "is of a match with other rules",
            () if part.is_some_and(|part| part.players != self.all_entrants()) => {
                "is of a match with other players"
            }
            () if record.game != self.game.name => "is of another game",
            () if record.rules != bridge::rules(&opening.rules()) => "has other rules",
            () if game.seed != self.seed => "has another seed",
            () if game.terms != self.strictness => "was refereed on other terms",
            () if !same_opening => "has another opening",
            () => return Ok(()),
        };
        Err(format!("game {number} {differs}"))
    }

    /// Plays the two games of a pair, counted from 0, one after the other, with players that are started for
    /// them. A game in which a player's server is overloaded is played again, as [`run`](Self::run) does.
    ///
    /// # Errors
    /// A game in which a server was overloaded each time, or the first one while `halt` is raised.
    ///
    /// # Panics
    /// If the match has no such pair.
    pub fn play_pair(&self, pair: usize, halt: &AtomicBool) -> Result<[PlayedGame; 2], Unplayed> {
        let [first, second] = [2 * pair, 2 * pair + 1]
            .map(|number| self.schedule.game(number).expect("the match has the pair"));
        let mut table = Table::new(self, 0, &self.none_crashed());
        Ok([attempt(&mut table, first, halt)?, attempt(&mut table, second, halt)?])
    }

    /// Plays all games but those whose numbers, counted from 1, are in `played`, and gives each to `finished`
    /// when it ends, before the same table begins another; games that are played at once end in any order.
    /// No further game begins once `halt` is raised.
    ///
    /// A game in which a player's server is overloaded is played again from its beginning; at the third time
    /// it is left out, and given as [`Unplayed`].
    ///
    /// # Errors
    /// The first error of `finished`, after which no further game begins.
    pub fn run<E: Send>(
        &self,
        played: &HashSet<usize>,
        halt: &AtomicBool,
        finished: impl FnMut(Result<PlayedGame, Unplayed>) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let next = AtomicUsize::new(0);
        let judged = Mutex::new((finished, Ok(())));
        let (part, crashed) = (self.part(), self.none_crashed());
        let judge = |game: Result<PlayedGame, Unplayed>| {
            let game = game.map(|game| PlayedGame { part: part.clone(), ..game });
            let (finished, result) = &mut *judged.lock().unwrap_or_else(PoisonError::into_inner);
            if result.is_ok() {
                *result = finished(game);
            }
            result.is_ok()
        };
        thread::scope(|scope| {
            for place in 0..self.concurrency.min(self.games() - played.len()) {
                let (next, judge, crashed) = (&next, &judge, &crashed);
                scope.spawn(move || {
                    let mut table = Table::new(self, place, crashed);
                    let games =
                        std::iter::from_fn(|| self.schedule.game(next.fetch_add(1, Ordering::Relaxed)));
                    for scheduled in games.filter(|scheduled| {
                        self.holds(scheduled.number) && !played.contains(&(scheduled.number + 1))
                    }) {
                        if halt.load(Ordering::Relaxed) {
                            return;
                        }
                        if !judge(attempt(&mut table, scheduled, halt)) {
                            return;
                        }
                    }
                });
            }
        });
        judged.into_inner().unwrap_or_else(PoisonError::into_inner).1
    }
}

/// Plays a game, at most [`ATTEMPTS`] times if a player's server is overloaded.
fn attempt(
    table: &mut Table<'_>,
    scheduled: ScheduledGame,
    halt: &AtomicBool,
) -> Result<PlayedGame, Unplayed> {
    let mut game = table.play(scheduled);
    for _again in 1..ATTEMPTS {
        if game.is_ok() || halt.load(Ordering::Relaxed) {
            break;
        }
        game = table.play(scheduled);
    }
    game
}

#[cfg(test)]
mod tests {
    use plyd_core::play::Position;
    use plyd_protocol::Settings;

    use super::*;
    use crate::referee::Play;
    use crate::{Address, Shard};

    /// The first of two shards of a match of so many openings among players of these names.
    fn shard(openings: usize, names: &[&str]) -> Match {
        let start = Position::start(&plyd_core::nim::ENTRY);
        let players = names.iter().map(|&name| Player::new(name, Address::Tcp("nowhere:1".into())));
        let openings = vec![start.root().clone(); openings];
        Match { shard: Shard::new(0, 2), ..Match::new(start.game(), players.collect(), openings) }
    }

    #[test]
    fn a_shard_does_not_go_on_with_games_of_a_match_of_another_size() {
        let first = shard(2, &["a", "b"]);
        let scheduled = first.schedule.game(0).unwrap();
        let played = Play::new(first.terms(scheduled)).into_played(1, first.seed, first.entrants(scheduled));
        let game = PlayedGame { part: first.part(), ..played };
        assert_eq!(first.owns(&game), Ok(()));
        let mut ruled = shard(2, &["a", "b"]);
        ruled.rules = Settings::from_iter([("most", 4)]);
        for (other, words) in [
            (shard(4, &["a", "b"]), "another number of games"),
            (shard(2, &["a", "b", "c"]), "another number of games"),
            (ruled, "other rules"),
            (Match { shard: None, ..shard(2, &["a", "b"]) }, "instead of the whole match"),
        ] {
            let error = other.owns(&game).unwrap_err();
            assert!(error.starts_with("game 1 ") && error.contains(words), "{words}: {error}");
        }
        // With a higher number of games a whole match goes on.
        let whole = PlayedGame { part: None, ..game };
        assert_eq!(Match { shard: None, ..shard(4, &["a", "b"]) }.owns(&whole), Ok(()));
    }
}
