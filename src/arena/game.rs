//! One game: the referee asks the players in turn and decides what their answers are worth.

use std::sync::Arc;

use plyd_protocol::{Outcome, Player, Position, Record, ToMove};

use super::opening::settle;
use super::played::{Answered, Entrant, Forfeit, PlayedGame, other, side};
use super::proof::{Ending, contradictions};
use super::seat::{Fault, FaultKind, Seat};
use super::{Fixture, Match};
use crate::engine::AnyRoot;
use crate::zobrist::{SplitMix64, mix};

/// How a game ends that the referee ends as a draw.
const MAX_MOVES: &str = "max_moves";

/// A referee with a process of each player.
pub(super) struct Referee<'m> {
    contest: &'m Match,
    /// By the player's index in the match.
    seats: Vec<Seat<'m>>,
}

/// A game that is being played.
struct Board {
    /// Who plays: the indexes in the match of p1 and p2.
    players: [usize; 2],
    root: Arc<dyn AnyRoot>,
    chance: SplitMix64,
    answers: Vec<Answered>,
}

/// How a game ended.
enum End {
    Rules(Outcome),
    MaxMoves,
    Forfeit(Forfeit),
}

impl<'m> Referee<'m> {
    /// A referee whose processes are started by their first game.
    pub(super) fn new(contest: &'m Match) -> Self {
        let seats = contest.players.iter().map(|player| Seat::new(player, contest.strictness));
        Self { contest, seats: seats.collect() }
    }

    /// Tells a player that a game begins; `seed` draws the player's own choices.
    ///
    /// # Errors
    /// How the player failed.
    pub(super) fn begin(&mut self, index: usize, seed: u64) -> Result<(), Fault> {
        self.seats[index].new_game(self.contest.game.name, &self.contest.rules, seed)
    }

    /// Plays a game. Chance is the same in both games of a pair and for all pairings of a round; the players' own seeds are
    /// new in each game.
    pub(super) fn play(&mut self, fixture: Fixture) -> PlayedGame {
        let opening = &self.contest.openings[fixture.round];
        let seed = self.contest.seed.0;
        let mut board = Board {
            players: fixture.players,
            root: opening.clone(),
            chance: SplitMix64::new(mix(seed ^ mix(fixture.round as u64 + 1))),
            answers: Vec::new(),
        };
        let sides = [Player::P1, Player::P2];
        let begun = sides.into_iter().zip(fixture.players).try_for_each(|(player, index)| {
            let own = mix(seed.wrapping_add(mix((2 * fixture.number + side(player) + 1) as u64)));
            self.begin(index, own).map_err(|fault| Forfeit { player, fault })
        });
        let end = begun.and_then(|()| self.moves(&mut board)).unwrap_or_else(End::Forfeit);
        self.finish(fixture.number, opening.as_ref(), board, end)
    }

    /// Plays to the end of the game.
    ///
    /// # Errors
    /// Who forfeits, and why.
    fn moves(&mut self, board: &mut Board) -> Result<End, Forfeit> {
        loop {
            board.root = settle(board.root.clone(), &mut board.chance);
            if let Some(outcome) = board.root.outcome() {
                return Ok(End::Rules(outcome));
            }
            if board.answers.len() >= self.contest.strictness.max_moves {
                return Ok(End::MaxMoves);
            }
            let player = if board.root.to_move() == ToMove::P1 { Player::P1 } else { Player::P2 };
            let seat = &mut self.seats[board.players[side(player)]];
            board.ask(player, seat).map_err(|fault| Forfeit { player, fault: seat.dismiss(fault) })?;
        }
    }

    fn finish(&self, number: usize, opening: &dyn AnyRoot, board: Board, end: End) -> PlayedGame {
        let ending = match &end {
            End::Rules(outcome) => Ending::Rules(outcome),
            End::MaxMoves => Ending::Cut,
            End::Forfeit(forfeit) => Ending::Forfeit(forfeit.player),
        };
        let contradictions = contradictions(&board.answers, ending);
        let decided = |winner, by: &str| Outcome { winner, by: by.to_owned(), scores: None };
        let (outcome, forfeit) = match end {
            End::Rules(outcome) => (outcome, None),
            End::MaxMoves => (decided(None, MAX_MOVES), None),
            End::Forfeit(forfeit) => {
                (decided(Some(other(forfeit.player)), forfeit.fault.kind.name()), Some(forfeit))
            }
        };
        let entrant = |index: usize| Entrant { index, name: self.contest.players[index].name.clone() };
        PlayedGame {
            record: Record {
                record: Record::VERSION,
                game: opening.entry().name.to_owned(),
                rules: opening.rules(),
                start: opening.start_text(),
                moves: board.root.played().to_vec(),
                result: Some(outcome),
            },
            number: number + 1,
            seed: self.contest.seed,
            players: board.players.map(entrant),
            opening: opening.played().len(),
            answers: board.answers,
            forfeit,
            contradictions,
        }
    }
}

impl Board {
    /// Asks for a move and plays it.
    ///
    /// # Errors
    /// What is wrong with the answer, or that there is none.
    fn ask(&mut self, player: Player, seat: &mut Seat<'_>) -> Result<(), Fault> {
        // The start is always told: rules may draw it, and not all draw alike.
        let position = Position { start: Some(self.root.start_text()), moves: self.root.played().to_vec() };
        let reply = seat.choose(position)?;
        let score = reply.best.lines.first().and_then(|line| line.score);
        self.answers.push(Answered { player, time_us: reply.time.as_micros() as u64, score });
        if let Some(late) = reply.late {
            return Err(late);
        }
        let mv = reply.best.mv;
        self.root = self.root.extend(std::slice::from_ref(&mv)).map_err(|fault| {
            Fault::new(FaultKind::Illegal, format!("`{}`: {}", plyd_protocol::echo(&mv), fault.message))
        })?;
        Ok(())
    }
}
