//! The L Game (Edward de Bono, 1967): two Ls and two neutral tokens on a board of 4 by 4.
//!
//! ```
//! use plyd_core::options::Options;
//! use plyd_core::play::{Player, Position, SearchLimits};
//!
//! let start = Position::start(&plyd_l_game::ENTRY);
//! assert_eq!(start.legal().len(), 65);
//! // Played well, the game never ends.
//! let mut player = Player::new(&start, &Options::default())?;
//! let answer = player.best(&start, &SearchLimits::default())?;
//! assert!(answer.lines[0].value.and_then(|value| value.proof).is_some_and(|proof| proof.result.is_eq()));
//! # Ok::<(), plyd_core::engine::Fault>(())
//! ```
//!
//! A turn puts the mover's L on a different set of four free cells and then, if the mover likes, a token on
//! another free cell. A mover whose L cannot move loses. The game is solved: `tablebase` holds the distance
//! to the end of all 18,368 states, and the default player (`perfect`) plays from it.
//!
//! Modules in reading order: `board` (geometry), `neutrals` (variants), this one (the rules), `notation` and
//! `draft` (texts), `tablebase` and `solution` (exact values), `census` (these in numbers), `perfect` with
//! `opponent` on `class_graph` (the default player), `eval` and `published` (the published heuristics and the
//! agent that they come from), `entry` (the registry's entry).

mod board;
mod census;
mod class_graph;
#[cfg(test)]
mod counts;
mod draft;
mod entry;
mod eval;
mod lesson;
mod neutrals;
mod notation;
mod opponent;
#[cfg(test)]
mod oracle;
mod perfect;
mod published;
mod solution;
mod tablebase;
mod words;

pub use entry::ENTRY;
pub use neutrals::Neutrals;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use self::board::{
    CELLS, CLEAR, CORE, CORNERS, Cells, PAIRS, PLACEMENTS, Pairs, SYMMETRIES, State, pair_mask,
};
use self::tablebase::Tablebase;
use plyd_core::game::{Game, OpenError, Outcome, Rules, Side, Turn};
use plyd_core::score::Value;
use plyd_core::zobrist::mix;

/// The rules of one game.
///
/// ```
/// use plyd_core::game::{Game, Notation};
/// use plyd_l_game::{LGame, Neutrals};
///
/// let game = LGame::new(Neutrals::One, 0, 0);
/// let mut pos = game.start();
/// let mv = game.parse_move(&pos, "4 3 W")?;
/// game.play(&mut pos, mv);
/// // A solved game: every position is known.
/// assert!(game.probe(&pos).is_some_and(|value| value.is_exact()));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LGame {
    neutrals: Neutrals,
    /// The number of plies after which the game is drawn; 0: never.
    max_plies: u32,
    /// At which occurrence a position is a draw, the start included; 0: never.
    repetition: u32,
}

/// A state of the game, with as much of its history as the rules need.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    state: State,
    mover: Side,
    /// Plies since the start; 0 without a cap.
    ply: u32,
    /// How often each position occurred since the start, this one included; empty without repetition.
    seen: HashMap<(State, Side), u32>,
    /// The sum of the keys of `seen`: the order of what was seen does not matter.
    seen_hash: u64,
}

/// A turn: where the L goes, and where the tokens then stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// The placement of the L.
    target: u8,
    /// The pair that the tokens stand on after the move.
    tokens: u8,
    /// The cells that tokens moved to.
    landed: Cells,
}

/// The state before a move, which takes the move back.
#[derive(Debug)]
pub struct Undo(State);

const _: () = assert!(size_of::<Move>() == 4 && size_of::<State>() == 3);

impl LGame {
    /// The rules; 0 switches `max_plies` and `repetition` off.
    #[must_use]
    pub const fn new(neutrals: Neutrals, max_plies: u32, repetition: u32) -> Self {
        Self { neutrals, max_plies, repetition }
    }

    /// The game under the rules that were given.
    pub(crate) fn of(rules: &Rules) -> Result<Self, OpenError> {
        let neutrals = rules.text("neutrals").unwrap_or(Neutrals::NAMES[0]);
        let neutrals = Neutrals::named(neutrals).ok_or_else(|| OpenError::Rule {
            name: "neutrals",
            message: format!("one of {}", Neutrals::NAMES.join(", ")),
        })?;
        let count = |name: &'static str| match u32::try_from(rules.int(name).unwrap_or(0)) {
            Ok(count) => Ok(count),
            Err(_) => Err(OpenError::Rule { name, message: "a count that is not negative".to_owned() }),
        };
        let game = Self::new(neutrals, count("max_plies")?, count("repetition")?);
        if game.repetition == 1 {
            let message = "the start itself would draw: 0 (off) or 2 and more".to_owned();
            return Err(OpenError::Rule { name: "repetition", message });
        }
        Ok(game)
    }

    /// Where a game begins.
    #[must_use]
    pub fn start(&self) -> Position {
        notation::parse_position(self, notation::START).expect("a test reads the start")
    }

    /// The position of a text, as the entry's `position_grammar` describes it.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(&self, text: &str) -> Result<Position, OpenError> {
        notation::parse_position(self, text)
    }

    /// A position with a history of its own.
    fn position(&self, state: State, mover: Side) -> Position {
        let mut pos = Position { state, mover, ply: 0, seen: HashMap::new(), seen_hash: 0 };
        self.remember(&mut pos);
        pos
    }

    fn remember(&self, pos: &mut Position) {
        if self.repetition > 0 {
            *pos.seen.entry((pos.state, pos.mover)).or_default() += 1;
            pos.seen_hash = pos.seen_hash.wrapping_add(seen_key(pos.state, pos.mover));
        }
    }

    /// How many plies may still be played; without a cap, more than any distance.
    const fn plies_left(&self, pos: &Position) -> u32 {
        if self.max_plies == 0 { u32::MAX } else { self.max_plies.saturating_sub(pos.ply) }
    }

    /// The ending that draws the position, if the mover is not stuck.
    fn drawn_by(&self, pos: &Position) -> Option<&'static str> {
        let occurrences = || pos.seen.get(&(pos.state, pos.mover)).copied().unwrap_or(0);
        if self.repetition > 0 && occurrences() >= self.repetition {
            Some("repetition")
        } else if self.plies_left(pos) == 0 {
            Some("max_plies")
        } else {
            None
        }
    }

    /// The pairs that the tokens may stand on after the mover's L went to `target`.
    fn token_choices(&self, state: State, target: u8) -> Pairs {
        self.neutrals.reach()[usize::from(state.tokens)]
            & CLEAR[usize::from(state.other)]
            & CLEAR[usize::from(target)]
    }

    /// Every move of a state, whatever the way to it.
    fn turns(&self, state: State) -> impl Iterator<Item = Move> {
        let stood = pair_mask(state.tokens);
        board::placements(state.targets()).flat_map(move |target| {
            board::pairs(self.token_choices(state, target)).map(move |tokens| Move {
                target,
                tokens,
                landed: pair_mask(tokens) & !stood,
            })
        })
    }

    fn hash_of(&self, state: State, mover: Side, ply: u32, seen_hash: u64) -> u64 {
        mix(u64::from(ply) << 32 | position_key(state, mover)).wrapping_add(seen_hash)
    }
}

impl Game for LGame {
    type Position = Position;
    type Move = Move;
    type Undo = Undo;

    fn side(&self, pos: &Position) -> Side {
        pos.mover
    }

    fn turn(&self, pos: &Position) -> Turn {
        if pos.state.is_stuck() {
            return Turn::Over(Outcome { winner: Some(pos.mover.other()), by: "stuck", scores: None });
        }
        match self.drawn_by(pos) {
            Some(by) => Turn::Over(Outcome { winner: None, by, scores: None }),
            None => Turn::Move,
        }
    }

    fn moves(&self, pos: &Position, out: &mut Vec<Move>) {
        if self.drawn_by(pos).is_none() {
            out.extend(self.turns(pos.state));
        }
    }

    fn is_legal(&self, pos: &Position, mv: Move) -> bool {
        usize::from(mv.target) < PLACEMENTS
            && usize::from(mv.tokens) < PAIRS
            && pos.state.targets() >> mv.target & 1 == 1
            && self.token_choices(pos.state, mv.target) >> mv.tokens & 1 == 1
            && mv.landed == pair_mask(mv.tokens) & !pair_mask(pos.state.tokens)
            && self.drawn_by(pos).is_none()
    }

    fn play(&self, pos: &mut Position, mv: Move) -> Undo {
        let before = pos.state;
        pos.state = before.after(mv.target, mv.tokens);
        pos.mover = pos.mover.other();
        pos.ply += u32::from(self.max_plies > 0);
        self.remember(pos);
        Undo(before)
    }

    fn undo(&self, pos: &mut Position, _mv: Move, Undo(before): Undo) {
        if self.repetition > 0 {
            if let Entry::Occupied(mut count) = pos.seen.entry((pos.state, pos.mover)) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                }
            }
            pos.seen_hash = pos.seen_hash.wrapping_sub(seen_key(pos.state, pos.mover));
        }
        pos.ply -= u32::from(self.max_plies > 0);
        pos.mover = pos.mover.other();
        pos.state = before;
    }

    fn hash(&self, pos: &Position) -> u64 {
        self.hash_of(pos.state, pos.mover, pos.ply, pos.seen_hash)
    }

    fn hash_after(&self, pos: &Position, mv: Move) -> u64 {
        let (state, mover) = (pos.state.after(mv.target, mv.tokens), pos.mover.other());
        let seen = if self.repetition > 0 { seen_key(state, mover) } else { 0 };
        let ply = pos.ply + u32::from(self.max_plies > 0);
        self.hash_of(state, mover, ply, pos.seen_hash.wrapping_add(seen))
    }

    fn index(&self, mv: Move) -> usize {
        usize::from(mv.target) * PAIRS + usize::from(mv.tokens)
    }

    fn index_len(&self) -> usize {
        PLACEMENTS * PAIRS
    }

    /// The table's value, unless positions seen before may draw a game that is won or lost otherwise: see
    /// `solution`.
    fn probe(&self, pos: &Position) -> Option<Value> {
        let distance = Tablebase::of(self.neutrals).distance(0, pos.state);
        let repeats = self.repetition > 0 && solution::repetitions_matter(self, pos);
        (!repeats).then(|| Value::proven(solution::score(distance, self.plies_left(pos))))
    }

    /// Prefers the L in the core and off the corners.
    fn order(&self, _pos: &Position, mv: Move) -> i32 {
        let cells = CELLS[usize::from(mv.target)];
        (cells & CORE).count_ones() as i32 - 2 * (cells & CORNERS).count_ones() as i32
    }

    fn carries_history(&self) -> bool {
        self.max_plies > 0 || self.repetition > 0
    }

    fn images(&self, pos: &Position) -> Vec<Position> {
        (0..SYMMETRIES)
            .map(|symmetry| {
                let seen: HashMap<_, _> = pos
                    .seen
                    .iter()
                    .map(|(&(state, mover), &count)| ((state.image(symmetry), mover), count))
                    .collect();
                let seen_hash = sum_of_keys(&seen);
                Position { state: pos.state.image(symmetry), seen, seen_hash, ..*pos }
            })
            .collect()
    }
}

/// The sum of the keys of all that was seen.
fn sum_of_keys(seen: &HashMap<(State, Side), u32>) -> u64 {
    let key = |(&(state, mover), &count)| seen_key(state, mover).wrapping_mul(u64::from(count));
    seen.iter().map(key).fold(0, u64::wrapping_add)
}

fn position_key(state: State, mover: Side) -> u64 {
    u64::from(state.key()) | (mover.index() as u64) << 20
}

/// Mixed differently from the position's own hash, so that the two never cancel.
fn seen_key(state: State, mover: Side) -> u64 {
    mix(position_key(state, mover) | 1 << 63)
}

#[cfg(test)]
mod tests {
    use super::notation::{START, parse_position};
    use super::*;
    use plyd_core::game::Notation;

    fn at(game: &LGame, text: &str) -> Position {
        parse_position(game, text).expect("valid")
    }

    fn legal(game: &LGame, pos: &Position) -> Vec<Move> {
        let mut moves = Vec::new();
        game.moves(pos, &mut moves);
        moves
    }

    fn play_all(game: &LGame, pos: &mut Position, texts: &[&str]) {
        for text in texts {
            let mv = game.parse_move(pos, text).expect("readable");
            assert!(game.is_legal(pos, mv), "{text}");
            game.play(pos, mv);
        }
    }

    fn ended_by(game: &LGame, pos: &Position) -> Option<&'static str> {
        match game.turn(pos) {
            Turn::Over(outcome) => Some(outcome.by),
            Turn::Chance | Turn::Move => None,
        }
    }

    #[test]
    fn the_start_is_drawn_in_every_variant() {
        for neutrals in Neutrals::ALL {
            let game = LGame::new(neutrals, 0, 0);
            assert_eq!(game.probe(&at(&game, START)), Some(Value::proven(plyd_core::score::Score::DRAW)));
        }
    }

    #[test]
    fn a_stuck_mover_loses_even_on_the_last_ply() {
        let game = LGame::new(Neutrals::One, 1, 0);
        let won = State::all().find(|state| Tablebase::of(Neutrals::One).distance(0, *state) == Some(1));
        let pos = game.position(won.expect("wins exist"), Side::Second);
        let mut endings = Vec::new();
        for mv in legal(&game, &pos) {
            let mut after = pos.clone();
            game.play(&mut after, mv);
            let Turn::Over(outcome) = game.turn(&after) else { panic!("one ply is all there is") };
            assert_eq!(outcome.winner, (outcome.by == "stuck").then_some(Side::Second));
            assert!(legal(&game, &after).is_empty());
            endings.push(outcome.by);
        }
        assert!(endings.contains(&"stuck") && endings.contains(&"max_plies"));
    }

    #[test]
    fn the_nth_occurrence_draws_with_the_start_included() {
        // Four plies that lead back to the start.
        let round = ["3 1 E", "2 2 W", "3 1 W", "2 4 E"];
        let game = LGame::new(Neutrals::One, 0, 3);
        let mut pos = at(&game, START);
        play_all(&game, &mut pos, &round);
        assert_eq!((pos.state, ended_by(&game, &pos)), (at(&game, START).state, None));
        play_all(&game, &mut pos, &round[..3]);
        assert_eq!(ended_by(&game, &pos), None);
        play_all(&game, &mut pos, &round[3..]);
        assert_eq!(ended_by(&game, &pos), Some("repetition"));
        assert!(legal(&game, &pos).is_empty());
        let twice = LGame::new(Neutrals::One, 0, 2);
        let mut pos = at(&twice, START);
        play_all(&twice, &mut pos, &round);
        assert_eq!(ended_by(&twice, &pos), Some("repetition"));
    }

    #[test]
    fn equal_states_of_different_movers_are_different_positions() {
        let game = LGame::new(Neutrals::One, 0, 2);
        let state = at(&game, START).state;
        let turned = State { own: state.other, other: state.own, ..state };
        let first = game.position(state, Side::First);
        let second = game.position(turned, Side::Second);
        assert_ne!(game.hash(&first), game.hash(&second));
        assert_ne!(game.hash(&first), game.hash(&game.position(state, Side::Second)));
    }

    #[test]
    fn undo_restores_and_hashes_follow() {
        for (max_plies, repetition) in [(0, 0), (9, 0), (0, 2), (9, 3)] {
            let game = LGame::new(Neutrals::One, max_plies, repetition);
            let mut pos = at(&game, START);
            let mut random = plyd_core::zobrist::SplitMix64::new(5);
            while game.turn(&pos) == Turn::Move && random.below(40) > 0 {
                let moves = legal(&game, &pos);
                for &mv in &moves {
                    let (before, announced) = (pos.clone(), game.hash_after(&pos, mv));
                    let undo = game.play(&mut pos, mv);
                    assert_eq!(game.hash(&pos), announced);
                    assert!(game.index(mv) < game.index_len());
                    game.undo(&mut pos, mv, undo);
                    assert_eq!(pos, before);
                }
                game.play(&mut pos, moves[random.below(moves.len())]);
            }
        }
    }

    #[test]
    fn hashes_distinguish_plies_and_occurrences_only_if_rules_do() {
        let round = ["3 1 E", "2 2 W", "3 1 W", "2 4 E"];
        for (max_plies, repetition, equal) in [(0, 0, true), (100, 0, false), (0, 9, false)] {
            let game = LGame::new(Neutrals::One, max_plies, repetition);
            let start = at(&game, START);
            let mut pos = start.clone();
            play_all(&game, &mut pos, &round);
            assert_eq!(game.hash(&pos) == game.hash(&start), equal, "{max_plies} {repetition}");
        }
    }

    #[test]
    fn eight_images_have_equal_values_and_move_counts() {
        let game = LGame::new(Neutrals::One, 12, 2);
        let mut pos = at(&game, START);
        play_all(&game, &mut pos, &["3 1 E", "2 2 W 1 1 1 3"]);
        let images = game.images(&pos);
        assert_eq!(images.len(), 8);
        for image in images {
            assert_eq!(game.probe(&image), game.probe(&pos));
            assert_eq!(legal(&game, &image).len(), legal(&game, &pos).len());
            assert_eq!(image.seen_hash, sum_of_keys(&image.seen));
        }
    }
}
