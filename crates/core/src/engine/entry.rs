//! A game of the registry: its names and texts, and how it is opened.

use std::fmt;
use std::sync::Arc;

use super::evaluators::{EvaluatorAt, evaluator_at};
use super::levels::Levels;
use super::solving::Solve;
use super::{AnyRoot, LessonStep, Playable};
use crate::effort::Effort;
use crate::game::{Draft, Named, OpenError, Rules, Spec};
use crate::options::weights::Tunable;
use crate::search::players::NamedPlayer;

/// A game of the registry.
///
/// A game writes what it has and takes the rest from [`Entry::of`]; [`nim`](crate::nim) is a whole game.
///
/// ```
/// use plyd_core::engine::{self, Entry};
/// use plyd_core::game::Named;
/// use plyd_core::nim::{Heap, Nim};
///
/// static ENTRY: Entry = Entry {
///     name: "nim",
///     about: "Take one to three stones from a heap; whoever takes the last one wins.",
///     endings: &[Named::new("taken", "The last stone is taken.")],
///     unit: "game",
///     position_grammar: "The stones, then the mover: 1 or 2.",
///     move_grammar: "The number of stones that are taken.",
///     ..Entry::of::<Nim>(|_rules, _start, _effort| Ok(engine::open(Nim { most: 3 }, Heap::of(21))))
/// };
/// assert_eq!(ENTRY.players().next().map(|player| player.name), Some("default"));
/// ```
pub struct Entry {
    /// The name on the wire.
    pub name: &'static str,
    /// One sentence for people, which begins with the game's name: it is the title on the page, too.
    pub about: &'static str,
    /// The rules' options, in the order in which they are listed.
    pub rules: &'static [Spec],
    /// The options that only this game's players have, beside the weights of its evaluators: see
    /// [`Entry::options`].
    pub own_options: &'static [Spec],
    /// The evaluators, by their place in the list: see [`Entry::evaluators`]. [`Entry::of`] gives them.
    pub evaluator_at: EvaluatorAt,
    /// The players, by their place in the list: see [`Entry::players`]. [`Entry::of`] gives them.
    pub player_at: PlayerAt,
    /// The ways a game ends: the values of an outcome's `by`. Each description begins with the cause; the
    /// consequence, if it has to be stated, follows a colon or a semicolon.
    pub endings: &'static [Named],
    /// How each value of the option `level` is weakened and how strong it is, as [`Levels::parse`] reads it.
    pub levels: &'static str,
    /// The unit of evaluations, which are given in thousandths of it.
    pub unit: &'static str,
    /// How a position's text is written.
    pub position_grammar: &'static str,
    /// How a move's text is written.
    pub move_grammar: &'static str,
    /// Perft counts that others made: lines of `RULES | POSITION | d1 d2 d3 ...`; see
    /// [`conformance`](super::conformance).
    pub perft: &'static str,
    /// Positions that `plyd bench` searches, with the depth for each.
    pub bench: &'static [Bench],
    /// How the whole game is solved, if that is possible.
    pub solve: Option<Solve>,
    /// How boards of the game look on the page of `plyd gui`, as the text of a JavaScript module; none: as
    /// those of any game. Nothing here reads it; `gui/looks.js` says what it may hold.
    pub look: Option<&'static str>,
    /// How the game is explained to those who have never played it, in steps to be played; empty: it is not.
    pub lesson: &'static [LessonStep],
    /// The glyphs on the discs of pieces in [pictures](crate::svg) of its boards: kinds of pieces, each with
    /// an SVG path around the origin in a cell of 100 units. A kind without a glyph shows its label.
    pub glyphs: &'static [(&'static str, &'static str)],
    /// Matches of published reports about the game, as `plyd arena --preset` reads them; none: there are no
    /// such reports. Nothing here reads it.
    pub reports: Option<&'static str>,
    /// What can be changed by hand in a position's text, which may break the rules: see [`Draft`]; none: the
    /// game has no editor.
    pub edits: Option<Edits>,
    /// Opens the game: rules, then the start text if there is one.
    pub open: Open,
}

impl Entry {
    /// An entry with the default of everything that has one: no rules, no options but those of all players,
    /// and levels that nobody measured. The rest is empty.
    pub const DEFAULT: Self = Self {
        name: "",
        about: "",
        rules: &[],
        own_options: &[],
        evaluator_at: |_| None,
        player_at: |_| None,
        endings: &[],
        levels: include_str!("levels.txt"),
        unit: "",
        position_grammar: "",
        move_grammar: "",
        perft: "",
        bench: &[],
        solve: None,
        look: None,
        lesson: &[],
        glyphs: &[],
        reports: None,
        edits: None,
        open: |_, _, _| Err(OpenError::Impossible("the game has no way to open it".to_owned())),
    };

    /// The defaults for a game, with its evaluators and players and how it is opened.
    #[must_use]
    pub const fn of<G: Playable>(open: Open) -> Self {
        Self { evaluator_at: evaluator_at::<G>, player_at: player_at::<G>, open, ..Self::DEFAULT }
    }

    /// The players that the option `player` names; the first is the default.
    pub fn players(&self) -> impl Iterator<Item = &'static Named> + Clone + use<> {
        (0..).map_while(self.player_at)
    }

    /// The evaluators that the option `eval` names; the first is the default.
    pub fn evaluators(&self) -> impl Iterator<Item = &'static Named> + Clone + use<> {
        (0..).map_while(self.evaluator_at).map(|evaluator| &evaluator.named)
    }

    /// The options that only this game's players have, the weights of its evaluators among them.
    pub fn options(&self) -> impl Iterator<Item = &'static Spec> + Clone + use<> {
        let weights = (0..).map_while(self.evaluator_at).filter_map(|evaluator| evaluator.weights.as_ref());
        self.own_options.iter().chain(weights.flat_map(|weights| weights.list))
    }

    /// The evaluators that have weights: what `plyd tune` may change.
    pub fn tunable(&self) -> impl Iterator<Item = Tunable> + Clone + use<> {
        (0..).map_while(self.evaluator_at).filter_map(|evaluator| {
            evaluator.weights.map(|weights| Tunable { evaluator: evaluator.named.name, weights })
        })
    }

    /// The evaluators with tables that `plyd train` fills: see [`Playable::learner`].
    pub fn trainable(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        (0..)
            .map_while(self.evaluator_at)
            .filter(|evaluator| evaluator.is_trained)
            .map(|evaluator| evaluator.named.name)
    }

    /// The levels of this game's players.
    ///
    /// # Panics
    /// If the registry holds a malformed text: a test reads them all.
    #[must_use]
    pub fn levels(&self) -> Levels {
        Levels::parse(self.levels).expect("the registry's levels can be read")
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Gives a game's players by their place in the list.
pub type PlayerAt = fn(usize) -> Option<&'static Named>;

/// The player at a place of the list of a game.
fn player_at<G: Playable>(place: usize) -> Option<&'static Named> {
    NamedPlayer::all(G::PLAYERS).nth(place).map(NamedPlayer::named)
}

/// Opens a game from explicit rules and a start text, or without one from the rules' initial position. If the
/// rules cannot find out, within their bounds and the effort, whether the start is possible, the game is
/// opened all the same, and [`AnyRoot::doubt`] says so.
///
/// # Errors
/// An impossible rule, a start text that cannot be read, or one that the rules do not allow.
pub type Open = fn(&Rules, Option<&str>, &Arc<Effort>) -> Result<Arc<dyn AnyRoot>, OpenError>;

/// Reads a text as a [`Draft`] under explicit rules. The draft has a fault if and only if the game cannot be
/// opened with that text, and the error is the same.
pub type Edits = fn(&Rules, &str, &Arc<Effort>) -> Draft;

/// A position that `plyd bench` searches to a fixed depth.
pub struct Bench {
    /// The rules, as the commands' `--rules` takes them, such as `mode=nondet`; empty for the defaults.
    pub rules: &'static str,
    /// The position's text.
    pub position: &'static str,
    /// The depth.
    pub depth: u32,
    /// The player and the evaluator, by name.
    pub player: (&'static str, &'static str),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::EvaluatorEntry;
    use crate::game::Kind;
    use crate::options::FULL_LEVEL;
    use crate::options::weights::Weights;

    #[test]
    fn each_level_but_the_last_is_weakened_by_default() {
        let levels = Entry::DEFAULT.levels();
        assert_eq!(levels.list.len(), FULL_LEVEL as usize);
        assert!((1..FULL_LEVEL).all(|level| levels.weakening(level).is_some()));
        assert!(levels.weakening(FULL_LEVEL).is_none() && levels.measured_by.is_empty());
        assert!(levels.list.iter().all(|level| level.rating.is_none()));
    }

    #[test]
    fn weights_are_options_behind_those_of_the_game() {
        const SPEC: Spec = Spec { name: "", kind: Kind::Bool { default: None }, about: "" };
        const fn evaluator(name: &'static str, weights: Option<Weights>, is_trained: bool) -> EvaluatorEntry {
            EvaluatorEntry { named: Named::new(name, ""), weights, is_trained }
        }
        const WEIGHTS: Weights = Weights { list: &[Spec { name: "weight", ..SPEC }], file: "" };
        static EVALUATORS: [EvaluatorEntry; 2] =
            [evaluator("plain", None, true), evaluator("weighted", Some(WEIGHTS), false)];
        const ENTRY: Entry = Entry {
            own_options: &[Spec { name: "own", ..SPEC }],
            evaluator_at: |place| EVALUATORS.get(place),
            ..Entry::DEFAULT
        };
        assert_eq!(ENTRY.options().map(|spec| spec.name).collect::<Vec<_>>(), ["own", "weight"]);
        assert_eq!(ENTRY.evaluators().map(|named| named.name).collect::<Vec<_>>(), ["plain", "weighted"]);
        assert_eq!(ENTRY.tunable().map(|one| one.evaluator).collect::<Vec<_>>(), ["weighted"]);
        assert_eq!(ENTRY.trainable().collect::<Vec<_>>(), ["plain"]);
    }
}
