//! Reviews of games: what each move kept and what it gave away, by proofs where there are some and by
//! estimates elsewhere.
//!
//! A review searches each position with the game's strongest player, then the played move by itself, and the
//! other moves together where the played one may be the only move that keeps the result. It goes from the end
//! of a game to its beginning, so that a proof about a position is also a proof about the move that led to
//! it. The value of a move is its value before chance decides: an expectation, if chance decides next. The
//! module knows no record, no file and no colour; only the searches read the time.
//!
//! In reading order: `value` (what proofs and estimates say), `mark` (the marks that follow from them), this
//! file (what is asked and answered), and `carry` (what proofs say about the moves that follow).
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use plyd_core::game::Side;
//! use plyd_core::nim;
//! use plyd_core::play::Position;
//! use plyd_core::review::{Mark, ReviewLimits, Reviewer};
//!
//! // Ten stones: two must be taken. The second player misses its chance and loses.
//! let start = Position::open(&nim::ENTRY, &Default::default(), Some("10 1"))?;
//! let moves = ["1", "2", "3", "1", "3"].map(str::to_owned);
//! let limits = ReviewLimits { nodes: Some(10_000), ..ReviewLimits::default() };
//! let mut reviewer = Reviewer::new(&start, limits)?;
//! let review = reviewer.review(&start, &moves, 0, |_, _| ControlFlow::Continue(()))?;
//! let review = review.expect("nobody broke it off");
//! let marks: Vec<Mark> = review.moves.iter().map(|reviewed| reviewed.mark).collect();
//! assert_eq!(marks[..2], [Mark::ThrewAway, Mark::ThrewAway]);
//! let better = review.moves[0].better.as_ref().expect("there is a better move");
//! assert_eq!(better.mv(), "2");
//! assert_eq!(review.count(Side::First, Mark::ThrewAway), 1);
//! # Ok::<(), plyd_core::engine::Fault>(())
//! ```

mod carry;
mod mark;
mod value;

use std::ops::ControlFlow;
use std::time::Duration;

pub use self::mark::Mark;
pub use self::value::winning_likelihood;

use crate::engine::{Evaluation, Fault, FaultCode, Line, Place, ToMove};
use crate::game::{Setting, Side};
use crate::options::{EXACT, Options};
use crate::play::{Player, Position, SearchLimits};

/// The most plies of a game that is reviewed: all its positions are kept at once, each with the way to it.
pub const MOST_PLIES: usize = 2000;

/// What a review may spend on a move: half of it on the position, a quarter on the move, and a quarter on
/// the other moves. Without nodes and time a move that nothing proves would be searched for ever.
///
/// ```
/// use std::time::Duration;
///
/// use plyd_core::review::ReviewLimits;
///
/// let limits = ReviewLimits { time: Some(Duration::from_secs(1)), threads: 2, ..ReviewLimits::default() };
/// assert_eq!(limits.nodes, None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReviewLimits {
    /// The positions to visit.
    pub nodes: Option<u64>,
    /// The time, at most.
    pub time: Option<Duration>,
    /// Threads of a search.
    pub threads: usize,
    /// Size of the transposition table in MiB.
    pub hash_mb: usize,
    /// How many times more the limit of a move is spent on a move that seems to have lost the game; 0: not at
    /// all. A reader who is shown a blunder looks for the better move, so there has to be one.
    pub doubt: u32,
}

impl Default for ReviewLimits {
    /// One thread, without limits.
    fn default() -> Self {
        Self { nodes: None, time: None, threads: 1, hash_mb: Options::default().hash_mb, doubt: 8 }
    }
}

impl ReviewLimits {
    /// The limits of a search that may take one part in `parts`.
    fn part(&self, parts: u32) -> SearchLimits {
        let nodes = self.nodes.map(|nodes| (nodes / u64::from(parts)).max(1));
        SearchLimits { nodes, time: self.time.map(|time| time / parts), ..SearchLimits::default() }
    }

    /// The limits of a search in doubt.
    fn in_doubt(&self) -> SearchLimits {
        let nodes = self.nodes.map(|nodes| nodes.saturating_mul(u64::from(self.doubt)));
        let time = self.time.map(|time| time.saturating_mul(self.doubt));
        SearchLimits { nodes, time, ..SearchLimits::default() }
    }
}

/// A game's moves with what they were worth.
#[derive(Clone, PartialEq, Debug)]
pub struct Review {
    /// The moves that players chose, in the order of the game: neither the opening nor chance.
    pub moves: Vec<ReviewedMove>,
}

impl Review {
    /// How many moves of a side have a mark.
    #[must_use]
    pub fn count(&self, side: Side, mark: Mark) -> usize {
        self.moves.iter().filter(|reviewed| reviewed.side == side && reviewed.mark == mark).count()
    }
}

/// A move with what it was worth; values are from its player's view.
#[derive(Clone, PartialEq, Debug)]
pub struct ReviewedMove {
    /// Its index among the game's plies.
    pub ply: usize,
    /// Its text, as the game lists it.
    pub mv: String,
    /// Who made it.
    pub side: Side,
    /// The value of the position before it, under the best move.
    pub before: Option<Evaluation>,
    /// The value of the move. Distances count from the position before it, as that of `before`.
    pub after: Option<Evaluation>,
    /// What is to be said of it.
    pub mark: Mark,
    /// Whether each other move is proven to have a worse result, or there is none.
    pub is_only: bool,
    /// How much less likely the player wins than it might have, from 0 to 1: half of that, if one of the two
    /// values is proven and the other estimated.
    pub loss: Option<f64>,
    /// The better move with what would follow, if the mark says that there is one.
    pub better: Option<Line>,
}

/// Reviews games under the same rules.
pub struct Reviewer {
    limits: ReviewLimits,
    /// Searches for results with their exact distances.
    player: Player,
    /// Searches for results alone.
    referee: Player,
    /// The advantage with which most games are won.
    decisive: i32,
}

impl Reviewer {
    /// Reviews games under the rules of a position.
    ///
    /// # Errors
    /// The game has no player with so many threads or so large a table.
    pub fn new(position: &Position, limits: ReviewLimits) -> Result<Self, Fault> {
        let ReviewLimits { threads, hash_mb, .. } = limits;
        let options = Options { threads, hash_mb, ..Options::default() };
        let has_exact = position.game().options().any(|spec| spec.name == EXACT.name);
        let own = has_exact.then_some((EXACT.name, Setting::Bool(true))).into_iter().collect();
        Ok(Self {
            limits,
            player: Player::new(position, &Options { own, ..options.clone() })?,
            referee: Player::new(position, &options)?,
            decisive: position.root().decisive(),
        })
    }

    /// Reviews a game from its start; nobody chose its first `opening` plies. `progress` is called before
    /// each move with the number of moves done and the number of all; if it breaks the review off, there is
    /// no result.
    ///
    /// # Errors
    /// A ply that the rules do not allow, at [`Place::Ply`], counted from the start of the position; a game
    /// of more than [`MOST_PLIES`]; a start under other rules than the reviewer's.
    pub fn review(
        &mut self,
        start: &Position,
        moves: &[String],
        opening: usize,
        mut progress: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Option<Review>, Fault> {
        let positions = positions(start, moves)?;
        let players = |position: &Position| match position.to_move() {
            ToMove::Player(side) if position.outcome().is_none() => Some(side),
            _ => None,
        };
        let chosen = positions.iter().skip(opening).take(moves.len().saturating_sub(opening));
        let total = chosen.filter(|position| players(position).is_some()).count();
        let mut reviewed = Vec::with_capacity(total);
        // The value of the position behind the move, and for whom; none before chance.
        let mut behind = positions.last().and_then(Position::outcome).map(|end| {
            let side = Side::First;
            (side, value::of_end(&end, side))
        });
        for ply in (opening..moves.len()).rev() {
            let Some(side) = players(&positions[ply]) else {
                behind = None;
                continue;
            };
            if progress(reviewed.len(), total).is_break() {
                return Ok(None);
            }
            let behind_it = behind.map(|(whose, value)| value::earlier(value, whose != side));
            let judged = self.judge(&positions[ply], ply, side, &moves[ply], behind_it)?;
            behind = judged.before.map(|value| (side, value));
            reviewed.push(judged);
        }
        reviewed.reverse();
        carry::on(&mut reviewed, self.decisive);
        Ok(Some(Review { moves: reviewed }))
    }

    /// Judges a move; `behind` is the move's value as the position after it shows it, if that is known.
    fn judge(
        &mut self,
        position: &Position,
        ply: usize,
        side: Side,
        played: &str,
        behind: Option<Evaluation>,
    ) -> Result<ReviewedMove, Fault> {
        let legal = position.legal();
        let place = position.root().candidates(&[played.to_owned()], &[])?.indexes[0];
        let mv = legal[place].clone();
        let others: Vec<String> = legal.into_iter().filter(|other| *other != mv).collect();
        if others.is_empty() {
            let value = match behind {
                Some(value) => Some(value),
                None => best(&mut self.player, position, self.limits.part(2))?.value,
            };
            let (mark, before, after) = (Mark::Forced, value, value);
            return Ok(ReviewedMove {
                ply,
                mv,
                side,
                before,
                after,
                mark,
                is_only: true,
                loss: None,
                better: None,
            });
        }
        let (mut best, mut after) = self.compare(position, &mv, &others, behind)?;
        let mut before = value::at_least(best.value, after);
        if let Some(value) = self.kept(position, &mv, before, after)? {
            after = Some(value);
            before = value::at_least(best.value, after);
        }
        if let Some(line) = self.doubted(position, &others, before, after)? {
            before = after
                .zip(line.value)
                .and_then(|(after, other)| value::of_lost(&after, &other))
                .or(line.value);
            best = line;
        }
        let loss = before.zip(after).and_then(|(before, after)| mark::loss(&before, &after, self.decisive));
        let is_best = best.mv() == mv || before == after;
        let mark = match before.zip(after) {
            Some((before, after)) => mark::of(&before, &after, is_best, loss),
            None => Mark::Unknown,
        };
        let is_only = best.mv() == mv && self.is_only(position, others, after)?;
        let better = (mark.is_error() && best.mv() != mv).then_some(best);
        Ok(ReviewedMove { ply, mv, side, before, after, mark, is_only, loss, better })
    }

    /// The best line of a position, and the value of the move that was played.
    fn compare(
        &mut self,
        position: &Position,
        mv: &str,
        others: &[String],
        behind: Option<Evaluation>,
    ) -> Result<(Line, Option<Evaluation>), Fault> {
        let found = best(&mut self.player, position, self.limits.part(2))?;
        let proven = behind.filter(|value| value::proof(value).is_some());
        if found.mv() == mv {
            let is_refuted = found.value.as_ref().and_then(value::proof).is_none()
                && proven.as_ref().and_then(value::proof).is_some_and(|proof| !proof.result.is_gt());
            if !is_refuted {
                let value = value::surer(found.value, proven);
                return Ok((found, value));
            }
            // The search prefers a move that the rest of the game proves to be no win: which other move is
            // best?
            let limits = SearchLimits { searchmoves: others.to_vec(), ..self.limits.part(4) };
            return Ok((best(&mut self.player, position, limits)?, proven));
        }
        if proven.is_some() {
            return Ok((found, proven));
        }
        // As deep as the best move, because evaluations swing with the side to move.
        let depth = (found.depth > 0).then_some(found.depth);
        let searchmoves = vec![mv.to_owned()];
        let alone =
            best(&mut self.player, position, SearchLimits { depth, searchmoves, ..self.limits.part(4) })?;
        Ok((found, alone.value))
    }

    /// The value of the move that was played, if it can be proven: that of the position is, and by estimate
    /// the move lost some of it.
    fn kept(
        &mut self,
        position: &Position,
        mv: &str,
        before: Option<Evaluation>,
        after: Option<Evaluation>,
    ) -> Result<Option<Evaluation>, Fault> {
        let (Some(before), Some(after), 1..) = (before, after, self.limits.doubt) else { return Ok(None) };
        if value::proof(&before).is_none() || value::proof(&after).is_some() {
            return Ok(None);
        }
        let loss = mark::loss(&before, &after, self.decisive);
        if mark::of(&before, &after, false, loss) != Mark::Unknown {
            return Ok(None);
        }
        let limits = SearchLimits { searchmoves: vec![mv.to_owned()], ..self.limits.in_doubt() };
        let value = best(&mut self.referee, position, limits)?.value;
        Ok(value.filter(|value| value::proof(value).is_some()))
    }

    /// The best other move of a position, if its value can be proven and was only estimated until now, and
    /// the move that was played seems to have lost the game.
    fn doubted(
        &mut self,
        position: &Position,
        others: &[String],
        before: Option<Evaluation>,
        after: Option<Evaluation>,
    ) -> Result<Option<Line>, Fault> {
        let (Some(before), Some(after), 1..) = (before, after, self.limits.doubt) else { return Ok(None) };
        let is_lost = value::proof(&after).is_some_and(|proof| proof.result.is_lt());
        let loss = mark::loss(&before, &after, self.decisive);
        if !is_lost || value::proof(&before).is_some() || !mark::of(&before, &after, false, loss).is_error() {
            return Ok(None);
        }
        let limits = SearchLimits { searchmoves: others.to_vec(), ..self.limits.in_doubt() };
        let line = best(&mut self.referee, position, limits)?;
        Ok(line.value.as_ref().is_some_and(|value| value::proof(value).is_some()).then_some(line))
    }

    /// Whether each of the other moves is proven to have a worse result than a move of this value.
    fn is_only(
        &mut self,
        position: &Position,
        others: Vec<String>,
        value: Option<Evaluation>,
    ) -> Result<bool, Fault> {
        let Some(kept) = value.as_ref().and_then(value::proof).filter(|proof| proof.result.is_ge()) else {
            return Ok(false);
        };
        let limits = SearchLimits { searchmoves: others, ..self.limits.part(4) };
        let line = best(&mut self.referee, position, limits)?;
        Ok(line.value.as_ref().and_then(value::proof).is_some_and(|other| other.result < kept.result))
    }
}

/// The best line that a player finds.
fn best(player: &mut Player, position: &Position, limits: SearchLimits) -> Result<Line, Fault> {
    Ok(player.best(position, &limits)?.lines.swap_remove(0))
}

/// The position before each ply, and the last one.
fn positions(start: &Position, moves: &[String]) -> Result<Vec<Position>, Fault> {
    if moves.len() > MOST_PLIES {
        let message = format!("games of up to {MOST_PLIES} plies are reviewed; this one has {}", moves.len());
        return Err(Fault::new(FaultCode::Unprepared, Place::Position, message));
    }
    let mut positions = Vec::with_capacity(moves.len() + 1);
    positions.push(start.clone());
    for mv in moves {
        let next = positions[positions.len() - 1].play(mv)?;
        positions.push(next);
    }
    Ok(positions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Proof;
    use crate::nim;
    use crate::search::Bound;
    use std::cmp::Ordering;

    fn heap(text: &str) -> Position {
        Position::open(&nim::ENTRY, &Default::default(), Some(text)).unwrap()
    }

    fn texts(moves: &[&str]) -> Vec<String> {
        moves.iter().map(|mv| (*mv).to_owned()).collect()
    }

    fn review(start: &Position, moves: &[&str], opening: usize) -> Review {
        let limits = ReviewLimits { nodes: Some(100_000), ..ReviewLimits::default() };
        let mut reviewer = Reviewer::new(start, limits).unwrap();
        let go_on = |_, _| ControlFlow::Continue(());
        reviewer.review(start, &texts(moves), opening, go_on).unwrap().expect("nobody broke it off")
    }

    #[test]
    fn marks_are_those_of_the_theory_in_all_games_of_a_small_heap() {
        // All games from nine stones, checked by hand-made rules: a multiple of four is lost.
        let mut games = vec![(heap("9 1"), Vec::new())];
        let mut seen = 0;
        while let Some((position, moves)) = games.pop() {
            if position.outcome().is_none() {
                for mv in position.legal() {
                    let mut longer: Vec<String> = moves.clone();
                    longer.push(mv.clone());
                    games.push((position.play(&mv).unwrap(), longer));
                }
                continue;
            }
            let moves: Vec<&str> = moves.iter().map(String::as_str).collect();
            // A sample of them, of all lengths.
            if moves.iter().map(|mv| mv.len() + mv.as_bytes()[0] as usize).sum::<usize>() % 5 != 0 {
                continue;
            }
            seen += 1;
            let review = review(&heap("9 1"), &moves, 0);
            let mut left = 9;
            for reviewed in &review.moves {
                let taken: u32 = reviewed.mv.parse().unwrap();
                let (won, keeps) = (left % 4 != 0, (left - taken).is_multiple_of(4));
                let proof = reviewed.before.unwrap().proof.unwrap();
                assert_eq!(proof.result.is_gt(), won, "{left}: {reviewed:?}");
                match reviewed.mark {
                    Mark::Forced => assert_eq!(left, 1),
                    Mark::ThrewAway => {
                        assert!(won && !keeps, "{left}: {reviewed:?}");
                        let better: u32 = reviewed.better.as_ref().unwrap().mv().parse().unwrap();
                        assert!((left - better).is_multiple_of(4));
                    }
                    Mark::KeptWin | Mark::WinsLater => {
                        // No other number of stones does it.
                        assert!(keeps && reviewed.is_only, "{left}: {reviewed:?}");
                    }
                    Mark::BestDefence | Mark::LostSooner | Mark::WasLost => assert!(!won),
                    other => panic!("{other:?}"),
                }
                left -= taken;
            }
        }
        assert!(seen > 15, "{seen}");
    }

    #[test]
    fn a_move_that_seems_to_lose_is_doubted_before_it_is_called_an_error() {
        // Forty stones are lost. A few nodes prove nothing of the other moves.
        let start = heap("40 1");
        let limits = ReviewLimits { nodes: Some(1), ..ReviewLimits::default() };
        let mut reviewer = Reviewer::new(&start, limits).unwrap();
        let even = Evaluation { bound: Bound::Exact, eval: Some(0), proof: None };
        let proof = Proof { result: Ordering::Less, plies: None, plies_max: Some(20), margin: None };
        let after = Evaluation { eval: None, proof: Some(proof), ..even };
        let others = texts(&["2", "3"]);
        assert_eq!(reviewer.doubted(&start, &others, Some(even), Some(after)).unwrap(), None);
        reviewer.limits.nodes = Some(100_000);
        let found = reviewer.doubted(&start, &others, Some(even), Some(after)).unwrap().expect("proven");
        let lost = value::of_lost(&after, &found.value.unwrap()).expect("lost").proof.unwrap();
        assert_eq!((lost.result, lost.plies), (Ordering::Less, None));
        assert!(lost.plies_max >= Some(20), "{lost:?}");
        // A move that is not proven to lose is not doubted, whatever it lost.
        assert_eq!(reviewer.doubted(&start, &others, Some(even), Some(even)).unwrap(), None);
    }

    #[test]
    fn distances_count_from_the_position_before_the_move() {
        let review = review(&heap("8 1"), &["3", "1", "1", "3"], 0);
        // This game has no option `exact`, so that some distances are bounds.
        let plies = |value: Option<Evaluation>| {
            value.and_then(|value| value.proof).and_then(|proof| proof.plies.or(proof.plies_max))
        };
        // Eight are lost in four moves, three at once in the worst case.
        let first = &review.moves[0];
        assert_eq!((plies(first.before), first.mark.is_proven()), (Some(4), true), "{first:?}");
        let last = &review.moves[3];
        assert_eq!((plies(last.before), plies(last.after), last.mark), (Some(1), Some(1), Mark::KeptWin));
        assert_eq!(last.after.unwrap().proof.unwrap().result, Ordering::Greater);
    }

    #[test]
    fn openings_and_unfinished_games_are_reviewed_as_far_as_players_chose() {
        let unfinished = review(&heap("21 1"), &["1", "1", "2"], 1);
        assert_eq!(unfinished.moves.iter().map(|reviewed| reviewed.ply).collect::<Vec<_>>(), [1, 2]);
        assert!(review(&heap("21 1"), &["1"], 5).moves.is_empty());
        assert!(review(&heap("21 1"), &[], 0).moves.is_empty());
    }

    #[test]
    fn what_cannot_be_reviewed_is_refused_with_its_place() {
        let start = heap("21 1");
        let limits = ReviewLimits { nodes: Some(100), ..ReviewLimits::default() };
        let mut reviewer = Reviewer::new(&start, limits).unwrap();
        let go_on = |_, _| ControlFlow::Continue(());
        let fault = reviewer.review(&start, &texts(&["1", "9"]), 0, go_on).unwrap_err();
        assert_eq!((fault.code, fault.place), (FaultCode::IllegalMove, Place::Ply(1)));
        let fault = reviewer.review(&start, &vec!["1".to_owned(); MOST_PLIES + 1], 0, go_on).unwrap_err();
        assert!(fault.message.contains("2000 plies"), "{fault}");
        let broken_off = |done, _| if done == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        assert_eq!(reviewer.review(&start, &texts(&["1", "1", "1"]), 0, broken_off).unwrap(), None);
    }
}
