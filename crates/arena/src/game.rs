//! One game: the referee asks the players in turn, keeps their clocks, and decides what their answers are
//! worth.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plyd_protocol::{Outcome, Player, Position, Record};

use super::clock::GameClock;
use super::opening::settle;
use super::played::{Answered, Entrant, Forfeit, PlayedGame, Unplayed, other, side};
use super::proof::{Agreed, Ending, agreed, contradictions};
use super::seat::{ForfeitKind, ForfeitReason, NoReply, Reply, Seat};
use super::{Adjudication, Fixture, Match};
use plyd_bridge as bridge;
use plyd_core::engine::{AnyRoot, ToMove};
use plyd_core::zobrist::{SplitMix64, mix};

/// How a game ends that the referee ends as a draw.
const MAX_MOVES: &str = "max_moves";

/// How a game ends whose end both players proved alike.
const ADJUDICATION: &str = "adjudication";

/// A referee with a process of each player, or a connection to it.
pub(super) struct Referee<'m> {
    the_match: &'m Match,
    /// Its number among the games that are played at once.
    place: usize,
    /// By the player's index in the match.
    seats: Vec<Seat<'m>>,
}

/// A game that is being played.
struct Board {
    /// Who plays: the indexes in the match of p1 and p2.
    players: [usize; 2],
    /// The only handle to it, so that moves are played in place.
    root: Arc<dyn AnyRoot>,
    start: String,
    chance: SplitMix64,
    /// The clocks of p1 and p2.
    clocks: [GameClock; 2],
    margin: Duration,
    answers: Vec<Answered>,
}

/// How a game ended.
enum End {
    Rules(Outcome),
    Adjudicated(Agreed),
    MaxMoves,
    Forfeit(Forfeit),
}

/// Why a game cannot go on.
enum Halt {
    Forfeit(Forfeit),
    /// That player's server was overloaded, and said so in these words.
    Overloaded(Player, String),
}

impl<'m> Referee<'m> {
    /// The referee of that one of the games that are played at once; its processes are started by their first
    /// game.
    pub(super) fn new(the_match: &'m Match, place: usize) -> Self {
        Self {
            the_match,
            place,
            seats: the_match.players.iter().map(|player| Seat::new(the_match, player, place)).collect(),
        }
    }

    /// Starts a game with a player; `seed` draws the player's own choices.
    ///
    /// # Errors
    /// How the player failed.
    pub(super) fn begin(&mut self, index: usize, seed: u64) -> Result<(), ForfeitReason> {
        self.seats[index].new_game(seed)
    }

    /// Plays a game. Chance is the same in both games of a pair and for all pairings of a round; the players'
    /// own seeds are new in each game.
    ///
    /// # Errors
    /// A player's server was overloaded when a move was due: nobody forfeits the game, and it does not count.
    pub(super) fn play(&mut self, fixture: Fixture) -> Result<PlayedGame, Unplayed> {
        let Fixture { number, round, players, .. } = fixture;
        let opening = &self.the_match.openings[round];
        let seed = self.the_match.seed.0;
        let mut board = Board {
            players,
            root: opening.extend(&[]).expect("no move is no illegal one"),
            start: opening.start_text(),
            chance: SplitMix64::new(mix(seed ^ mix(round as u64 + 1))),
            clocks: players.map(|index| GameClock::new(self.the_match.players[index].time)),
            margin: self.the_match.strictness.margin,
            answers: Vec::new(),
        };
        let sides = [Player::P1, Player::P2];
        let begun = sides.into_iter().zip(players).try_for_each(|(player, index)| {
            let own = mix(seed.wrapping_add(mix((2 * number + side(player) + 1) as u64)));
            self.begin(index, own).map_err(|reason| Halt::Forfeit(Forfeit { player, reason }))
        });
        let end = match begun.and_then(|()| self.moves(&mut board)) {
            Ok(end) => end,
            Err(Halt::Forfeit(forfeit)) => End::Forfeit(forfeit),
            Err(Halt::Overloaded(player, message)) => {
                let player = players[side(player)];
                return Err(Unplayed { number: number + 1, player, message });
            }
        };
        Ok(self.finish(number, opening.as_ref(), board, end))
    }

    /// Plays to the end of the game.
    ///
    /// # Errors
    /// Who forfeits, and why; or whose server was overloaded.
    fn moves(&mut self, board: &mut Board) -> Result<End, Halt> {
        loop {
            settle(alone(&mut board.root), &mut board.chance);
            if let Some(outcome) = board.root.outcome() {
                return Ok(End::Rules(bridge::outcome(outcome)));
            }
            if self.the_match.strictness.adjudication == Adjudication::Proof
                && let Some(agreed) = agreed(&board.answers)
            {
                return Ok(End::Adjudicated(agreed));
            }
            if board.answers.len() >= self.the_match.strictness.max_moves {
                return Ok(End::MaxMoves);
            }
            let player = match board.root.to_move() {
                ToMove::Player(side) => bridge::player(side),
                ToMove::Chance => unreachable!("chance is settled"),
            };
            let seat = &mut self.seats[board.players[side(player)]];
            let (the_match, place) = (self.the_match, self.place);
            let stood_still = |from, to| {
                let cores = the_match.cores.as_ref().and_then(|cores| cores.of(place));
                Some(the_match.stalls.as_ref()?.during(from, to, cores))
            };
            board.ask(player, seat, stood_still).map_err(|error| match error {
                NoReply::Forfeit(reason) => Halt::Forfeit(Forfeit { player, reason: seat.fail(reason) }),
                NoReply::Overloaded(message) => Halt::Overloaded(player, message),
            })?;
        }
    }

    fn finish(&self, number: usize, opening: &dyn AnyRoot, board: Board, end: End) -> PlayedGame {
        let ending = match &end {
            End::Rules(outcome) => Ending::Won(outcome.winner),
            End::Adjudicated(agreed) => Ending::Won(agreed.winner),
            End::MaxMoves => Ending::Cut,
            End::Forfeit(forfeit) => Ending::Forfeit(forfeit.player),
        };
        let contradictions = contradictions(&board.answers, ending);
        let decided = |winner, by: &str| Outcome { winner, by: by.to_owned(), scores: None };
        let (outcome, forfeit) = match end {
            End::Rules(outcome) => (outcome, None),
            End::Adjudicated(agreed) => (decided(agreed.winner, ADJUDICATION), None),
            End::MaxMoves => (decided(None, MAX_MOVES), None),
            End::Forfeit(forfeit) => {
                (decided(Some(other(forfeit.player)), forfeit.reason.kind.name()), Some(forfeit))
            }
        };
        let entrant = |index: usize| {
            let super::Player { name, build, .. } = &self.the_match.players[index];
            Entrant { index, name: name.clone(), build: build.clone() }
        };
        PlayedGame {
            record: Record {
                record: Record::VERSION,
                game: opening.entry().name.to_owned(),
                rules: bridge::rules(&opening.rules()),
                start: opening.start_text(),
                moves: board.root.played().to_vec(),
                result: Some(outcome),
            },
            number: number + 1,
            seed: self.the_match.seed,
            terms: self.the_match.strictness,
            players: board.players.map(entrant),
            opening: opening.played().len(),
            answers: board.answers,
            forfeit,
            contradictions,
        }
    }
}

impl Board {
    /// Asks for a move and plays it. `stood_still` returns for how long the machine did between two
    /// instants, if that is watched.
    ///
    /// # Errors
    /// What is wrong with the answer, or that there is none.
    fn ask(
        &mut self,
        player: Player,
        seat: &mut Seat<'_>,
        stood_still: impl FnOnce(Instant, Instant) -> Option<Duration>,
    ) -> Result<(), NoReply> {
        // The start is always sent: rules may draw it, and not all draw alike.
        let position = Position { start: Some(self.start.clone()), moves: self.root.played().to_vec() };
        let [own, opponent] = [player, other(player)].map(|player| &self.clocks[side(player)]);
        let allowed = own.allowed();
        let clock = own.to_wire(opponent);
        let reply = seat.choose(self.root.as_ref(), position, clock, allowed.unwrap_or_default())?;
        let clock = &mut self.clocks[side(player)];
        let still = || stood_still(reply.at - reply.time, reply.at);
        let pressed = clock.press_forgiving(reply.time, self.margin, still);
        self.answers.push(answered(player, &reply, clock, pressed.ok().flatten()));
        if let Err(late) = pressed {
            let message = format!("{} us after its {:?}", late.as_micros(), allowed.unwrap_or_default());
            return Err(ForfeitReason::new(ForfeitKind::Late, message).into());
        }
        let mv = reply.best.mv;
        alone(&mut self.root).play(&mv).map_err(|fault| {
            let message = format!("`{}`: {}", plyd_protocol::echo(&mv), fault.message);
            NoReply::Forfeit(ForfeitReason::new(ForfeitKind::Illegal, message))
        })
    }
}

/// A position, to be played on.
fn alone(root: &mut Arc<dyn AnyRoot>) -> &mut dyn AnyRoot {
    Arc::get_mut(root).expect("the board alone holds it")
}

/// What is kept of an answer, with the clock after it.
fn answered(player: Player, reply: &Reply, clock: &GameClock, forgiven: Option<Duration>) -> Answered {
    let Reply { best, time, .. } = reply;
    Answered {
        player,
        time_us: time.as_micros() as u64,
        own_us: best.own_time().map(|time| time.as_micros() as u64),
        left_us: clock.left().map(|left| left.as_micros() as u64),
        forgiven_us: forgiven.map(|late| late.as_micros() as u64),
        score: best.score(),
        incident: best.incident.clone(),
    }
}
