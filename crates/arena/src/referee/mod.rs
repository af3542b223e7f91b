//! The referee of one game, without any I/O: it knows the rules, the clocks and what was played, and decides
//! what each answer is worth. It knows no socket, no thread and no clock of the machine; whoever carries its
//! questions to the players says how long each answer took.
//!
//! [`Play`] is the game, [`Question`] the `go` that a player gets, and [`PlayerMessage`] what comes back.

mod message;
mod question;

use std::sync::Arc;
use std::time::Duration;

use plyd_protocol::{Clock, Outcome, Player, Position, Record, Score, Seed};
use serde::{Deserialize, Serialize};

use crate::clock::{GameClock, TimeControl};
use crate::opening::settle;
use crate::played::{Answered, Contradiction, Entrant, Forfeit, PlayedGame, other, side};
use crate::proof::{Ending, agreed, contradictions};
use crate::{Adjudication, Strictness};
use plyd_bridge as bridge;
use plyd_core::engine::{AnyRoot, Fault, ToMove};
use plyd_core::zobrist::SplitMix64;

pub use crate::forfeit::{ForfeitKind, ForfeitReason};
pub use message::{Best, PlayerMessage, Refused, RequestResult};
pub use question::{GoSettings, Question, Verdict};

/// The `by` of a game that the referee ends as a draw.
const MAX_MOVES: &str = "max_moves";

/// The `by` of a game whose end both players proved alike.
const ADJUDICATION: &str = "adjudication";

/// On what terms a game is played.
#[derive(Clone)]
pub struct Terms {
    /// Where the players take over.
    pub opening: Arc<dyn AnyRoot>,
    /// The seed of chance: equal seeds draw alike.
    pub chance: u64,
    /// The clocks of p1 and p2.
    pub controls: [TimeControl; 2],
    /// How strict the referee is.
    pub strictness: Strictness,
}

impl Terms {
    /// A game from an opening without clocks, on the usual terms.
    #[must_use]
    pub fn new(opening: Arc<dyn AnyRoot>) -> Self {
        Self { opening, chance: 0, controls: [TimeControl::Unlimited; 2], strictness: Strictness::default() }
    }
}

/// A game that is played.
///
/// ```
/// use std::time::Duration;
///
/// use plyd_arena::referee::{Play, Reply, Step, Terms};
/// use plyd_arena::TimeControl;
/// use plyd_core::play::Position;
///
/// let start = Position::start(&plyd_core::nim::ENTRY);
/// let controls = [TimeControl::PerMove(Duration::from_millis(100)); 2];
/// let mut play = Play::new(Terms { controls, ..Terms::new(start.root().clone()) });
/// // Both take three stones until seven of them leave none.
/// while let Step::Ask(ask) = play.step() {
///     let time = ask.allowed.unwrap_or_default() / 2;
///     play.answer(Reply::new("3", time), || None).expect("it is legal and in time");
/// }
/// let Step::Over(end) = play.step() else { panic!("it is over") };
/// assert_eq!((end.outcome.by.as_str(), play.answers().len()), ("taken", 7));
/// ```
pub struct Play {
    terms: Terms,
    /// The only handle to it, so that moves are played in place. A player is to move, or the game is over.
    root: Arc<dyn AnyRoot>,
    start: String,
    chance: SplitMix64,
    /// The clocks of p1 and p2.
    clocks: [GameClock; 2],
    answers: Vec<Answered>,
    end: Option<End>,
}

/// What is to be done next in a game.
#[derive(Debug)]
pub enum Step<'p> {
    /// A player is to be asked for a move.
    Ask(MoveRequest),
    /// Nothing: the game is over.
    Over(&'p End),
}

/// Which player is asked for a move, and in which position.
#[derive(Clone, PartialEq, Debug)]
pub struct MoveRequest {
    /// Who.
    pub player: Player,
    /// The whole game so far. Its start is always given: some rules draw it, and not all programs draw alike.
    pub position: Position,
    /// The clocks as they are sent to the player, if it has one.
    pub clock: Option<Clock>,
    /// The time in which it must answer; none: it is not limited.
    pub allowed: Option<Duration>,
}

/// A player's answer: the move that it chose.
#[derive(Clone, PartialEq, Debug)]
pub struct Reply {
    /// The move.
    pub mv: String,
    /// The time that it took; only whole microseconds count.
    pub time: Duration,
    /// What was granted for the network on top of that time, if anything.
    pub granted: Option<Duration>,
    /// The time from receiving the `go` to deciding, if the player reports it.
    pub own: Option<Duration>,
    /// The score that it announced for the move, from its own view.
    pub score: Option<Score>,
    /// The name under which its log explains why its search broke, if it reports that.
    pub incident: Option<String>,
}

impl Reply {
    /// A move and the time that it took, with nothing else reported.
    pub fn new(mv: impl Into<String>, time: Duration) -> Self {
        Self { mv: mv.into(), time, granted: None, own: None, score: None, incident: None }
    }
}

/// A move of a player, with what is kept of its answer: what [`Play::resume`] needs of a game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Turn {
    /// The move.
    #[serde(rename = "move")]
    pub mv: String,
    /// The answer.
    #[serde(flatten)]
    pub answered: Answered,
}

/// How a game ended.
#[derive(Clone, PartialEq, Debug)]
pub struct End {
    /// Who won. `by` is one of the game's endings, `adjudication`, `max_moves`, or the kind of a forfeit.
    pub outcome: Outcome,
    /// Who forfeited it and why, if somebody did.
    pub forfeit: Option<Forfeit>,
    /// The first announced proof of each player that the game contradicted.
    pub contradictions: Vec<Contradiction>,
}

/// Turns that cannot be a game on these terms.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("turn {}: {message}", .turn + 1)]
pub struct ResumeError {
    /// The index of the first turn that cannot be.
    pub turn: usize,
    /// Why.
    pub message: String,
}

impl Play {
    /// A game in which only the opening was played.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        let mut play = Self {
            root: terms.opening.extend(&[]).expect("no move is no illegal one"),
            start: terms.opening.start_text(),
            chance: SplitMix64::new(terms.chance),
            clocks: terms.controls.map(GameClock::new),
            answers: Vec::new(),
            end: None,
            terms,
        };
        play.settle();
        play
    }

    /// Resumes a game that was interrupted after these turns, as if it had not been: with the same clocks and
    /// the same chance outcomes.
    ///
    /// # Errors
    /// The turns cannot be a game on these terms: a move is not legal or is the wrong player's, a clock shows
    /// another time, or a turn comes after the end.
    pub fn resume(terms: Terms, turns: &[Turn]) -> Result<Self, ResumeError> {
        let mut play = Self::new(terms);
        for (index, turn) in turns.iter().enumerate() {
            play.replay(turn).map_err(|message| ResumeError { turn: index, message })?;
        }
        Ok(play)
    }

    /// What is to be done next.
    #[must_use]
    pub fn step(&self) -> Step<'_> {
        if let Some(end) = &self.end {
            return Step::Over(end);
        }
        let player = self.to_move();
        let [own, opponent] = [player, other(player)].map(|player| self.clock(player));
        Step::Ask(MoveRequest {
            player,
            position: Position { start: Some(self.start.clone()), moves: self.root.played().to_vec() },
            clock: own.to_wire(opponent),
            allowed: own.allowed(),
        })
    }

    /// Takes the answer of the player to move, and returns its turn, with the move as the game writes it. If
    /// the flag fell, `stood_still` says how long the machine stood still meanwhile, and so much lateness is
    /// forgiven.
    ///
    /// # Errors
    /// The player forfeits: the answer is late, or the move is not legal. The game is over.
    ///
    /// # Panics
    /// If the game is over already.
    pub fn answer(
        &mut self,
        reply: Reply,
        stood_still: impl FnOnce() -> Option<Duration>,
    ) -> Result<Turn, ForfeitReason> {
        assert!(self.end.is_none(), "nobody is asked in a game that is over");
        let player = self.to_move();
        let clock = &mut self.clocks[side(player)];
        let allowed = clock.allowed();
        // What is not recorded does not count, so that a resumed game has the same clocks.
        let time = Duration::from_micros(micros(reply.time));
        let pressed = clock.press_forgiving(time, self.terms.strictness.margin, stood_still);
        let answered = Answered {
            player,
            time_us: micros(time),
            granted_us: reply.granted.map(micros),
            own_us: reply.own.map(micros),
            left_us: clock.left().map(micros),
            forgiven_us: pressed.ok().flatten().map(micros),
            score: reply.score,
            incident: reply.incident,
        };
        self.answers.push(answered.clone());
        let played = match pressed {
            Ok(_) => self.spelled(&reply.mv).and_then(|mv| self.play(&mv).map(|()| mv)),
            Err(late) => {
                let message = format!("{late:.1?} after its {:?}", allowed.unwrap_or_default());
                Err(ForfeitReason::new(ForfeitKind::Late, message))
            }
        };
        match played {
            Ok(mv) => {
                self.settle();
                Ok(Turn { mv, answered })
            }
            Err(reason) => {
                self.fail(player, reason.clone());
                Err(reason)
            }
        }
    }

    /// Ends the game: the player forfeits it, unless it is over already.
    pub fn fail(&mut self, player: Player, reason: ForfeitReason) {
        if self.end.is_none() {
            let outcome = decided(Some(other(player)), reason.kind.name());
            self.end(Ending::Forfeit(player), outcome, Some(Forfeit { player, reason }));
        }
    }

    /// The position.
    #[must_use]
    pub fn root(&self) -> &dyn AnyRoot {
        self.root.as_ref()
    }

    /// The clock of a player.
    #[must_use]
    pub fn clock(&self, player: Player) -> &GameClock {
        &self.clocks[side(player)]
    }

    /// How it ended; none: it goes on.
    #[must_use]
    pub fn ended(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// The players' answers so far, in their order; one that forfeits the game is among them.
    #[must_use]
    pub fn answers(&self) -> &[Answered] {
        &self.answers
    }

    /// What was played so far, with the result if the game is over.
    #[must_use]
    pub fn record(&self) -> Record {
        Record {
            record: Record::VERSION,
            game: self.root.entry().name.to_owned(),
            rules: bridge::rules(&self.root.rules()),
            start: self.start.clone(),
            moves: self.root.played().to_vec(),
            result: self.end.as_ref().map(|end| end.outcome.clone()),
        }
    }

    /// The finished game as it is kept, with its number, from 1, the seed of its match, and who played.
    #[must_use]
    pub fn into_played(self, number: usize, seed: Seed, players: [Entrant; 2]) -> PlayedGame {
        let record = self.record();
        let (forfeit, contradictions) = match self.end {
            Some(end) => (end.forfeit, end.contradictions),
            None => (None, Vec::new()),
        };
        PlayedGame {
            record,
            number,
            seed,
            terms: self.terms.strictness,
            part: None,
            players,
            opening: self.terms.opening.played().len(),
            answers: self.answers,
            forfeit,
            contradictions,
        }
    }

    /// Who is to move in a game that is not over.
    fn to_move(&self) -> Player {
        match self.root.to_move() {
            ToMove::Player(side) => bridge::player(side),
            ToMove::Chance => unreachable!("chance is settled"),
        }
    }

    /// A move as the game writes it: what else the player wrote, such as a million blanks, must not be sent
    /// to its opponent.
    fn spelled(&self, mv: &str) -> Result<String, ForfeitReason> {
        let found = self.root.candidates(&[mv.to_owned()], &[]);
        found.map(|found| found.first_text).map_err(|fault| illegal(mv, &fault))
    }

    /// Plays a move.
    fn play(&mut self, mv: &str) -> Result<(), ForfeitReason> {
        alone(&mut self.root).play(mv).map_err(|fault| illegal(mv, &fault))
    }

    /// Draws pending chance outcomes, and ends a game that is over.
    fn settle(&mut self) {
        settle(alone(&mut self.root), &mut self.chance);
        if let Some(outcome) = self.root.outcome() {
            let outcome = bridge::outcome(outcome);
            self.end(Ending::Won(outcome.winner), outcome, None);
        } else if self.terms.strictness.adjudication == Adjudication::Proof
            && let Some(agreed) = agreed(&self.answers)
        {
            self.end(Ending::Won(agreed.winner), decided(agreed.winner, ADJUDICATION), None);
        } else if self.answers.len() >= self.terms.strictness.max_moves {
            self.end(Ending::Cut, decided(None, MAX_MOVES), None);
        }
    }

    fn end(&mut self, ending: Ending, outcome: Outcome, forfeit: Option<Forfeit>) {
        let contradictions = contradictions(&self.answers, ending);
        self.end = Some(End { outcome, forfeit, contradictions });
    }

    /// Plays a turn again, and checks it.
    fn replay(&mut self, turn: &Turn) -> Result<(), String> {
        let Turn { mv, answered } = turn;
        if self.end.is_some() {
            return Err("the game is over".to_owned());
        }
        let player = self.to_move();
        if answered.player != player {
            return Err("it is the other player's".to_owned());
        }
        let margin = match answered.forgiven_us {
            Some(_) => Duration::MAX,
            None => self.terms.strictness.margin,
        };
        let clock = &mut self.clocks[side(player)];
        let pressed = clock.press(Duration::from_micros(answered.time_us), margin);
        pressed.map_err(|late| format!("it is {late:?} late"))?;
        if clock.left().map(micros) != answered.left_us {
            return Err("its clock shows another time".to_owned());
        }
        self.play(mv).map_err(|fault| fault.message)?;
        self.answers.push(answered.clone());
        self.settle();
        Ok(())
    }
}

/// An outcome that the referee decides instead of the rules.
fn decided(winner: Option<Player>, by: &str) -> Outcome {
    Outcome { winner, by: by.to_owned(), scores: None }
}

/// The forfeit by a move that is none.
fn illegal(mv: &str, fault: &Fault) -> ForfeitReason {
    let message = format!("`{}`: {}", plyd_protocol::echo(mv), fault.message);
    ForfeitReason::new(ForfeitKind::Illegal, message)
}

/// A position, to be played on.
fn alone(root: &mut Arc<dyn AnyRoot>) -> &mut dyn AnyRoot {
    Arc::get_mut(root).expect("the game alone holds it")
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
