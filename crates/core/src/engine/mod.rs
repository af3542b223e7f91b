//! Erasure of types: games and searches as objects.
//!
//! Above this module nothing is generic: the daemon and the commands see [`Entry`] (a game of the registry),
//! [`AnyRoot`] (a position with its history, which answers questions about the rules) and [`Engine`] (a
//! player that searches), with one virtual call per command. Within a search, rules are called directly and
//! evaluations through a virtual call (`search/erased.rs`), because compiling a copy of every search for each
//! evaluation took half of a build. In optimised builds the strongest players make no such call, unless a
//! game asks for it. Moves become texts in this module; values stay those of the core. It does no I/O and
//! reads no clock.
//! clock.

use std::any::Any;
use std::sync::Arc;

use crate::effort::Effort;
use crate::game::{Cell, Drawing, Evaluator, Notation, Outcome, Rules};
use crate::learning::selfplay::SelfPlay;
use crate::learning::td::Played;
use crate::options::Options;
use crate::score::Score;
use crate::search::iterate::Iterate;
use crate::search::players;
use crate::search::{Control, End};
use crate::svg::{Picture, Theme};

mod answer;
mod book;
pub mod conformance;
mod entry;
mod evaluators;
mod fault;
mod learner;
mod lesson;
pub mod levels;
mod perft;
mod picture;
mod player;
mod root;
pub mod settings;
mod solving;
mod typed;

pub use answer::{Actions, ChanceOutcome, Evaluation, Line, Proof, Successor, ToMove};
pub use book::{BookMove, BookPage, Replies};
pub use entry::{Bench, Edits, Entry, Open, PlayerAt};
pub use evaluators::{EvaluatorAt, EvaluatorEntry, MakeEvaluator, NamedEvaluator};
pub use fault::{Fault, FaultCode, Place};
pub use learner::learner;
pub use lesson::LessonStep;
pub use root::open;
pub use solving::{Share, Solve, SolveByParts, SolveRequest, Solved, SolvedPart, SolvedParts};

pub use crate::options::OptionError;
pub use crate::search::players::{Made, NamedPlayer};

/// How [`AnyRoot::perft`] counts.
///
/// ```
/// use plyd_core::engine::Counting;
/// use plyd_core::nim;
/// use plyd_core::play::Position;
/// use plyd_core::search::Control;
///
/// let pos = Position::start(&nim::ENTRY);
/// let count = |how| pos.root().perft(7, how, &Control::default());
/// assert_eq!(count(Counting::Plain), 2187);
/// assert_eq!(count(Counting::Cached), 2187);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// Every position is visited: a measure of speed too.
    Plain,
    /// A position that was counted before to the same depth is not visited again; positions are distinguished
    /// by their hashes.
    Cached,
}

/// A game that the registry can hold: its rules, texts, and players by name.
///
/// ```
/// use plyd_core::engine::Playable;
/// use plyd_core::nim::{Heap, Nim};
/// use plyd_core::options::Options;
/// use plyd_core::score::Score;
///
/// let nim = Nim { most: 3 };
/// assert_eq!(Nim::entry().name, "nim");
/// // By name, as the option `eval` and `player` have them.
/// assert_eq!(nim.evaluate(&Heap::of(4), "rest"), Ok(Score::eval(-1000)));
/// assert!(nim.searcher(&Options { player: "greedy".to_owned(), ..Options::default() }).is_ok());
/// ```
pub trait Playable: Notation {
    /// The evaluators that the option `eval` names; the first is the default. They are named here alone.
    const EVALUATORS: &'static [NamedEvaluator<Self>];

    /// The players that only this game has, and those that replace common players of the same names; see
    /// [`NamedPlayer::COMMON`] for the common ones. They are named here alone.
    const PLAYERS: &'static [NamedPlayer<Self>] = &[];

    /// The game's entry in the registry.
    fn entry() -> &'static Entry;

    /// The player `default` with an evaluation. It is compiled for each evaluation, so that it calls that one
    /// directly.
    ///
    /// # Errors
    /// An option that is not available, and why.
    fn strongest<E: Evaluator<Self>>(&self, evaluator: E, options: &Options) -> Made<Self> {
        Ok(Box::new(Iterate::new(self, evaluator, options)))
    }

    /// The player that the options name, with an evaluation, as [`PLAYERS`](Self::PLAYERS) makes it.
    ///
    /// # Errors
    /// There is no such player, or it cannot be made with these options.
    fn player<E: Evaluator<Self>>(&self, evaluator: E, options: &Options) -> Made<Self> {
        players::make(self, Self::PLAYERS, evaluator, options, |evaluator| self.strongest(evaluator, options))
    }

    /// The player that the options name, with the evaluator that they name.
    ///
    /// # Errors
    /// As [`Playable::player`]; there is no such evaluator.
    fn searcher(&self, options: &Options) -> Made<Self> {
        NamedEvaluator::find(&options.eval)?.player(self, options)
    }

    /// The static evaluation of a position that is not over, from the view of
    /// [`Game::side`](crate::game::Game::side), by the evaluator of that name.
    ///
    /// # Errors
    /// There is no such evaluator.
    fn evaluate(&self, pos: &Self::Position, evaluator: &str) -> Result<Score, OptionError> {
        Ok(NamedEvaluator::find(evaluator)?.evaluate(self, pos))
    }

    /// What `plyd train` teaches the evaluator of that name, one of the entry's
    /// [`trainable`](Entry::trainable).
    ///
    /// # Errors
    /// Why there is nothing to learn under these rules, in a sentence.
    fn learner(&self, _evaluator: &str) -> Result<Box<dyn Learner>, String> {
        Err("it has no tables".to_owned())
    }

    /// How many actions players have under these rules: the [index](crate::game::Game::index) of each move of
    /// a player is smaller. Where outcomes of chance have the larger indexes, it is less than
    /// [`index_len`](crate::game::Game::index_len).
    fn actions(&self) -> usize {
        self.index_len()
    }

    /// How good a legal move looks before anything is searched (larger is better): the first of the
    /// best-looking moves is the answer if time runs out before a search says more. Called once for each move
    /// of the root, so that it may cost more than [`Game::order`](crate::game::Game::order).
    fn at_sight(&self, pos: &Self::Position, mv: Self::Move) -> i32 {
        self.order(pos, mv)
    }
}

/// A position of any game with its history: it answers what `inspect` asks, and makes engines.
///
/// ```
/// use plyd_core::engine::{AnyRoot, Counting};
/// use plyd_core::nim;
/// use plyd_core::play::Position;
/// use plyd_core::search::Control;
///
/// let root = Position::start(&nim::ENTRY).root().extend(&["3".to_owned()]).unwrap();
/// assert_eq!((root.text(), root.played().len()), ("18 2".to_owned(), 1));
/// assert_eq!(root.perft(2, Counting::Plain, &Control::default()), 9);
/// ```
pub trait AnyRoot: Send + Sync {
    /// The game.
    fn entry(&self) -> &'static Entry;
    /// The effective rules.
    fn rules(&self) -> Rules;
    /// Plays more moves: the position after `moves` from here.
    ///
    /// # Errors
    /// [`FaultCode::IllegalMove`] at [`Place::Ply`], counted from the start of the game;
    /// [`FaultCode::Unprepared`] there if the effort broke the work off.
    fn extend_within(&self, moves: &[String], effort: &Arc<Effort>) -> Result<Arc<dyn AnyRoot>, Fault>;
    /// [`extend_within`](Self::extend_within) with whatever effort it takes.
    ///
    /// # Errors
    /// [`FaultCode::IllegalMove`] at [`Place::Ply`], counted from the start of the game.
    fn extend(&self, moves: &[String]) -> Result<Arc<dyn AnyRoot>, Fault> {
        self.extend_within(moves, &Effort::free())
    }
    /// Plays one more move or chance outcome, in place.
    ///
    /// # Errors
    /// As [`extend`](Self::extend); nothing is played then.
    fn play(&mut self, text: &str) -> Result<(), Fault>;
    /// The texts of the plies played since the start, as they were written.
    fn played(&self) -> &[String];
    /// What the rules could not find out on the way here; everything after it is likely but not certain.
    fn doubt(&self) -> Option<Doubt> {
        None
    }
    /// Whether chance has a part in the game.
    fn is_stochastic(&self) -> bool;
    /// Whose turn it is.
    fn to_move(&self) -> ToMove;
    /// How the game ended, if it is over.
    fn outcome(&self) -> Option<Outcome>;
    /// The legal moves' texts; none at a chance node or at the end.
    fn legal(&self) -> Vec<String>;
    /// The legal moves as numbers; none at a chance node or at the end.
    fn actions(&self) -> Actions;
    /// The legal moves, each with the position after it, and its evaluation if an evaluator is named.
    ///
    /// # Errors
    /// `undecided` if the rules do not find out what a move does; `unprepared` if the effort broke the work
    /// off. Both without a place. `option_invalid` if there is no such evaluator.
    fn moves_within(&self, evaluator: Option<&str>, effort: &Arc<Effort>) -> Result<Vec<Successor>, Fault>;
    /// [`moves_within`](Self::moves_within) with an effort that nobody ends.
    ///
    /// # Errors
    /// `undecided`; `option_invalid` if there is no such evaluator.
    fn moves(&self, evaluator: Option<&str>) -> Result<Vec<Successor>, Fault> {
        self.moves_within(evaluator, &Effort::free())
    }
    /// What the game's book of solved positions says about this one, if it holds it.
    fn book(&self) -> Option<BookPage> {
        None
    }
    /// The chance outcomes with their probabilities; none elsewhere.
    fn chance(&self) -> Vec<ChanceOutcome>;
    /// The position's text.
    fn text(&self) -> String;
    /// The position as the game's own referee writes it, if that is another text.
    fn state_text(&self) -> Option<String>;
    /// The text of the position where the game began.
    fn start_text(&self) -> String;
    /// The board as drawing primitives; what the rules could not find out about it is marked as such or left
    /// out.
    fn board_within(&self, effort: &Arc<Effort>) -> Drawing;
    /// [`board_within`](Self::board_within) with whatever effort it takes.
    fn board(&self) -> Drawing {
        self.board_within(&Effort::free())
    }
    /// The cells that the last move changed, with the chance outcomes behind it; none if a move may shift
    /// everything.
    fn changed_within(&self, _effort: &Arc<Effort>) -> Vec<Cell> {
        Vec::new()
    }
    /// The board as a picture, SVG, with the last move pointed out.
    fn svg_within(&self, theme: Theme, effort: &Arc<Effort>) -> String {
        self.svg_of(&self.board_within(effort), theme, effort)
    }
    /// The same picture with the layers that `drawing` shows; `drawing` must be of this position.
    fn svg_of(&self, drawing: &Drawing, theme: Theme, effort: &Arc<Effort>) -> String {
        let title = picture::title(self.entry(), self.played().len(), self.to_move(), self.outcome());
        let last = self.changed_within(effort);
        let glyphs = self.entry().glyphs;
        Picture { drawing, title: &title, last: &last, glyphs, theme }.svg()
    }
    /// [`svg_within`](Self::svg_within) with whatever effort it takes.
    fn svg(&self, theme: Theme) -> String {
        self.svg_within(theme, &Effort::free())
    }
    /// The position's hash.
    fn hash(&self) -> u64;
    /// The static evaluation from the mover's view, in thousandths, unless the game is over.
    ///
    /// # Errors
    /// `option_invalid` at `/options/eval`: there is no such evaluator.
    fn eval(&self, evaluator: &str) -> Result<Option<i64>, Fault>;
    /// An advantage, in thousandths, with which most games are won, as the default evaluation sees it.
    fn decisive(&self) -> i32;
    /// Counts the positions after `depth` plies, chance outcomes included; positions where the game is over
    /// count at their ply and have no children; `u64::MAX` if there are more. Stops early, with a wrong
    /// count, when `control` says stop.
    fn perft(&self, depth: u32, counting: Counting, control: &Control) -> u64;
    /// Plays random games from here until `plies` plies are checked against what every game promises (see
    /// [`conformance`]); gives the number of finished games.
    ///
    /// # Errors
    /// The first broken promise, in a sentence.
    fn check(&self, seed: u64, plies: usize) -> Result<usize, String>;
    /// Which of the legal moves a search may choose: all, or those of `searchmoves` less `excludemoves`.
    ///
    /// # Errors
    /// `game_over` with the outcome, `illegal_position` at a chance node, `illegal_move` at `/searchmoves/N`
    /// or `/excludemoves/N`, and at `/excludemoves` when nothing is left; `unprepared` at the move at which
    /// the effort broke the work off.
    fn candidates_within(
        &self,
        searchmoves: &[String],
        excludemoves: &[String],
        effort: &Arc<Effort>,
    ) -> Result<Candidates, Fault>;
    /// [`candidates_within`](Self::candidates_within) with whatever effort it takes.
    ///
    /// # Errors
    /// `game_over`, `illegal_position` or `illegal_move`.
    fn candidates(&self, searchmoves: &[String], excludemoves: &[String]) -> Result<Candidates, Fault> {
        self.candidates_within(searchmoves, excludemoves, &Effort::free())
    }
    /// A player for games with these rules.
    ///
    /// # Errors
    /// `option_invalid` at `/options/NAME`.
    fn engine(&self, options: &Options) -> Result<Box<dyn Engine>, Fault>;
    /// A learner for the tables of an evaluator under these rules.
    ///
    /// # Errors
    /// `option_invalid` at `/options/eval`.
    fn learner(&self, evaluator: &str) -> Result<Box<dyn Learner>, Fault>;
    /// The concrete type, for engines of the same game.
    fn as_any(&self) -> &dyn Any;
}

/// What the rules had not found out about a position when their work ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doubt {
    /// Whether the start is possible.
    Start,
    /// What the ply of that index does.
    Ply(usize),
}

/// The moves that a search may choose from: indexes into the list of legal moves, ascending.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidates {
    /// The indexes; at least one.
    pub indexes: Vec<usize>,
    /// Whether the position has a single legal move.
    pub forced: bool,
    /// Which legal move looks best before anything is searched: see [`Playable::at_sight`].
    pub first: usize,
    /// The text of that move.
    pub first_text: String,
}

/// A player that keeps what it learned between searches. One thread owns it.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::options::Options;
/// use plyd_core::play::Position;
/// use plyd_core::search::Control;
///
/// let pos = Position::start(&nim::ENTRY);
/// let root = pos.root();
/// let mut engine = root.engine(&Options::default()).unwrap();
/// // The first two moves alone, and a line for each.
/// let candidates = root.candidates(&["1".to_owned(), "2".to_owned()], &[]).unwrap();
/// let control = Control::default();
/// control.set_limits(None, Some(21));
/// let (lines, _end) = engine.search(root.as_ref(), &candidates, 2, &control, &mut |_| ());
/// assert_eq!((lines[0].mv(), lines[1].mv()), ("1", "2"));
/// ```
pub trait Engine: Send {
    /// Whether it can search this position: the same game under the same rules.
    fn fits(&self, root: &dyn AnyRoot) -> bool;
    /// Searches. Publishes a legal move before the first node, each better answer at once, and returns the
    /// last answer. Lines are ranked from 1 and legal; `lines[0].pv[0]` is the move.
    fn search(
        &mut self,
        root: &dyn AnyRoot,
        candidates: &Candidates,
        multipv: usize,
        control: &Control,
        publish: &mut dyn FnMut(Vec<Line>),
    ) -> (Vec<Line>, End);
    /// Forgets everything learned in earlier searches.
    fn clear(&mut self);
}

/// A learning evaluation of any game. Threads share it. [`learner`] makes it;
/// [`Network`](crate::learning::network::Network) has an example.
#[expect(clippy::len_without_is_empty, reason = "what has no weights does not learn")]
pub trait Learner: Sync {
    /// How many weights it has.
    fn len(&self) -> usize;
    /// The largest magnitude of a weight.
    fn most(&self) -> i16;
    /// Plays the evaluation with these weights against itself, from an opening of the same game under the
    /// same rules.
    fn play(&self, opening: &dyn AnyRoot, weights: &[i16], how: &SelfPlay) -> Played;
    /// The evaluation with these weights as the file that the build reads.
    fn file(&self, weights: &[i16]) -> Vec<u8>;
}
