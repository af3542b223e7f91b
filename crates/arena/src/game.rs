//! One game of a match: its referee's questions are carried to the players' seats, and their answers back.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use plyd_protocol::Player;

use super::played::{Entrant, PlayedGame, Unplayed, side};
use super::referee::{Play, Step, Terms};
use super::seat::{Answer, NoReply, Seat};
use super::{Match, ScheduledGame};
use plyd_core::zobrist::mix;

/// Which players' programs have crashed, for all tables of a match.
pub(super) type Crashed = [Arc<AtomicBool>];

/// Plays the games of a match one after the other, with a process of each player, or a connection to it.
pub(super) struct Table<'m> {
    the_match: &'m Match,
    /// Its number among the games that are played at once.
    place: usize,
    /// By the player's index in the match.
    seats: Vec<Seat<'m>>,
}

impl Match {
    /// No player has crashed yet.
    pub(super) fn none_crashed(&self) -> Vec<Arc<AtomicBool>> {
        self.players.iter().map(|_| Arc::default()).collect()
    }

    /// On what terms a game is played. Chance is the same in both games of a pair and for all pairings of a
    /// round.
    pub(super) fn terms(&self, scheduled: ScheduledGame) -> Terms {
        let ScheduledGame { round, players, .. } = scheduled;
        Terms {
            opening: self.openings[round].clone(),
            chance: mix(self.seed.0 ^ mix(round as u64 + 1)),
            controls: players.map(|index| self.players[index].time),
            strictness: self.strictness,
        }
    }

    /// Who plays a game.
    pub(super) fn entrants(&self, scheduled: ScheduledGame) -> [Entrant; 2] {
        scheduled.players.map(|index| {
            let super::Player { name, build, .. } = &self.players[index];
            Entrant { index, name: name.clone(), build: build.clone() }
        })
    }
}

impl<'m> Table<'m> {
    /// A table that plays at `place` among those that play at once. A player's process starts with its first
    /// game.
    pub(super) fn new(the_match: &'m Match, place: usize, crashed: &Crashed) -> Self {
        let players = the_match.players.iter().zip(crashed);
        let seats = players
            .map(|(player, has_crashed)| Seat::new(the_match, player, place, Arc::clone(has_crashed)))
            .collect();
        Self { the_match, place, seats }
    }

    /// Starts a game with a player; `seed` draws the player's own choices.
    ///
    /// # Errors
    /// How the player failed, or that its server was overloaded.
    pub(super) fn begin(&mut self, index: usize, seed: u64) -> Result<(), NoReply> {
        self.seats[index].new_game(seed)
    }

    /// Plays a game; the players' own seeds are new in each.
    ///
    /// # Errors
    /// A player's server was overloaded when the game was to begin or a move was due: nobody forfeits the
    /// game, and it does not count.
    pub(super) fn play(&mut self, scheduled: ScheduledGame) -> Result<PlayedGame, Unplayed> {
        let ScheduledGame { number, players, .. } = scheduled;
        let the_match = self.the_match;
        let seed = the_match.seed.0;
        let mut play = Play::new(the_match.terms(scheduled));
        for (player, index) in [Player::P1, Player::P2].into_iter().zip(players) {
            let own = mix(seed.wrapping_add(mix((2 * number + side(player) + 1) as u64)));
            match self.begin(index, own) {
                Ok(()) => {}
                Err(NoReply::Forfeit(reason)) => {
                    play.fail(player, reason);
                    break;
                }
                Err(NoReply::Overloaded(message)) => {
                    return Err(Unplayed { number: number + 1, player: index, message });
                }
            }
        }
        self.show(scheduled, &play);
        if let Err((player, message)) = self.moves(&mut play, scheduled) {
            return Err(Unplayed { number: number + 1, player: players[side(player)], message });
        }
        Ok(play.into_played(number + 1, the_match.seed, the_match.entrants(scheduled)))
    }

    /// Shows a game to the match's spectator, if there is one.
    fn show(&self, scheduled: ScheduledGame, play: &Play) {
        if let Some(spectator) = &self.the_match.spectator {
            spectator.see(self.place, scheduled, play);
        }
    }

    /// Plays to the end of the game.
    ///
    /// # Errors
    /// The player whose server was overloaded, and for how long, for people.
    fn moves(&mut self, play: &mut Play, scheduled: ScheduledGame) -> Result<(), (Player, String)> {
        let (the_match, place, players) = (self.the_match, self.place, scheduled.players);
        while let Step::Ask(ask) = play.step() {
            let player = ask.player;
            let seat = &mut self.seats[players[side(player)]];
            let Answer { reply, at } = match seat.choose(play, ask) {
                Ok(answer) => answer,
                Err(NoReply::Forfeit(reason)) => {
                    play.fail(player, reason);
                    self.show(scheduled, play);
                    break;
                }
                Err(NoReply::Overloaded(message)) => return Err((player, message)),
            };
            let from = at - reply.time;
            let stood_still = || {
                let cores = the_match.cores.as_ref().and_then(|cores| cores.of(place));
                Some(the_match.stalls.as_ref()?.during(from, at, cores))
            };
            if play.answer(reply, stood_still).is_err() {
                seat.disconnect();
            }
            self.show(scheduled, play);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use plyd_core::play::Position;
    use serde_json::{Value, json};

    use super::*;
    use crate::{Address, Player, Strictness};

    /// A server at an address that refuses so many requests for a game before it takes one, and wants to be
    /// asked again after so many ms; counts the requests.
    fn overloaded(times: usize, retry_ms: u64) -> (Address, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Tcp(listener.local_addr().unwrap().to_string());
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let counted = Arc::clone(&counted);
                thread::spawn(move || {
                    let mut left = times;
                    for line in BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok) {
                        let request: Value = serde_json::from_str(&line).unwrap();
                        let id = &request["id"];
                        let answer = match request["cmd"].as_str() {
                            Some("newgame") if left > 0 => {
                                counted.fetch_add(1, Ordering::Relaxed);
                                left -= 1;
                                json!({ "id": id, "type": "error", "code": "overloaded", "message": "full",
                                    "retry_ms": retry_ms })
                            }
                            Some("newgame") => {
                                left = times;
                                json!({ "id": id, "type": "result" })
                            }
                            Some("go") => json!({ "id": id, "type": "bestmove", "move": "1" }),
                            _ => json!({ "id": id, "type": "error", "code": "unknown_cmd" }),
                        };
                        if stream.write_all(format!("{answer}\n").as_bytes()).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        (address, asked)
    }

    #[test]
    fn a_server_that_is_overloaded_when_a_game_begins_loses_nothing() {
        // How often it refuses a game, the pause that it wants, how long the referee waits, in ms, whether
        // the game is played, and how often at least, and at most, the server refuses it.
        for (times, retry_ms, timeout, is_played, least, most) in [
            (2, 1, 60_000, true, 2, 2),
            (usize::MAX, 20, 200, false, 2, 10),
            (usize::MAX, u64::MAX, 60_000, false, 1, 1),
        ] {
            let (full, asked) = overloaded(times, retry_ms);
            let (free, _) = overloaded(0, 0);
            let start = Position::start(&plyd_core::nim::ENTRY);
            let players = vec![Player::new("full", full), Player::new("free", free)];
            let strictness =
                Strictness { max_moves: 4, timeout: Duration::from_millis(timeout), ..Strictness::default() };
            let mut the_match = Match::new(start.game(), players, vec![start.root().clone()]);
            the_match.strictness = strictness;
            let mut table = Table::new(&the_match, 0, &the_match.none_crashed());
            match table.play(the_match.schedule.game(0).unwrap()) {
                Ok(game) => {
                    assert_eq!((game.forfeit, game.answers.len()), (None, 4));
                    assert!(is_played, "{retry_ms}");
                }
                Err(unplayed) => {
                    assert_eq!((unplayed.number, unplayed.player), (1, 0));
                    let message = unplayed.message;
                    assert!(message.starts_with("for ") && message.ends_with(": full"), "{message}");
                    assert!(!is_played, "{retry_ms}");
                }
            }
            let asked = asked.load(Ordering::Relaxed);
            assert!((least..=most).contains(&asked), "{asked} times, {retry_ms} ms between");
            let tried = the_match.try_players().map_err(|error| error.to_string());
            assert_eq!(tried.is_ok(), is_played, "{tried:?}");
            let word = tried.err().is_none_or(|error| error.contains("its server was overloaded for "));
            assert!(word, "{retry_ms}");
        }
    }
}
