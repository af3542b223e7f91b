//! One game of a match: its referee's questions are carried to the players' seats, and their answers back.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use plyd_protocol::Player;

use super::played::{Entrant, PlayedGame, Unplayed, side};
use super::referee::{ForfeitReason, Play, Step, Terms};
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
    /// How the player failed.
    pub(super) fn begin(&mut self, index: usize, seed: u64) -> Result<(), ForfeitReason> {
        self.seats[index].new_game(seed)
    }

    /// Plays a game; the players' own seeds are new in each.
    ///
    /// # Errors
    /// A player's server was overloaded when a move was due: nobody forfeits the game, and it does not count.
    pub(super) fn play(&mut self, scheduled: ScheduledGame) -> Result<PlayedGame, Unplayed> {
        let ScheduledGame { number, players, .. } = scheduled;
        let the_match = self.the_match;
        let seed = the_match.seed.0;
        let mut play = Play::new(the_match.terms(scheduled));
        for (player, index) in [Player::P1, Player::P2].into_iter().zip(players) {
            let own = mix(seed.wrapping_add(mix((2 * number + side(player) + 1) as u64)));
            if let Err(reason) = self.begin(index, own) {
                play.fail(player, reason);
                break;
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
