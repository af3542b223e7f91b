//! What a game is: rules, texts, drawings and evaluators, as traits and plain values.
//!
//! Nothing here knows JSON, the protocol, threads or time. A game's folder implements [`Game`] (the rules,
//! hot), [`Notation`] (texts and pictures, cold) and any number of [`Evaluator`]s; everything else in the
//! project is generic over them.

use std::fmt;
use std::sync::Arc;

use crate::effort::Effort;

/// One of the two players. `First` is `p1` on the wire.
///
/// ```
/// use plyd_core::game::Side;
///
/// assert_eq!(Side::First.other(), Side::Second);
/// assert_eq!(Side::ALL.map(Side::index), [0, 1]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Side {
    /// The player who starts the game.
    First,
    /// The other player.
    Second,
}

impl Side {
    /// Both players.
    pub const ALL: [Self; 2] = [Self::First, Self::Second];

    /// The opponent.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// 0 for the first player, 1 for the second.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// How a game ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The winner; none for a draw.
    pub winner: Option<Side>,
    /// Why the game ended: one of the names in the registry entry's `endings`.
    pub by: &'static str,
    /// Final points or cells of both players, in games that count them.
    pub scores: Option<[i32; 2]>,
}

/// Whose turn it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Turn {
    /// The side that [`Game::side`] names has at least one legal move.
    Move,
    /// Chance decides: see [`Game::outcomes`].
    Chance,
    /// The game is over.
    Over(Outcome),
}

/// A game's rules; `self` holds what is fixed during a game (size, options).
///
/// Positions are values that [`Game::play`] changes and [`Game::undo`] restores. The methods of this trait
/// are called at each node of a search: they must not allocate once warm, lock, or do I/O.
///
/// ```
/// use plyd_core::game::{Game, Turn};
/// use plyd_core::nim::{Heap, Nim};
///
/// let nim = Nim { most: 3 };
/// let mut heap = Heap::of(5);
/// let mut moves = Vec::new();
/// nim.moves(&heap, &mut moves);
/// assert_eq!(moves, [1, 2, 3]);
///
/// let before = (heap, nim.hash(&heap));
/// let undo = nim.play(&mut heap, 2);
/// assert_eq!((heap.stones, nim.turn(&heap)), (3, Turn::Move));
/// nim.undo(&mut heap, 2, undo);
/// assert_eq!((heap, nim.hash(&heap)), before);
/// ```
pub trait Game: Clone + PartialEq + Send + Sync + 'static {
    /// A state of the game. It carries ply counts or repetition keys only when a rule needs them; then they
    /// enter the hash.
    type Position: Clone + Send + Sync;
    /// A move, or a chance outcome.
    type Move: Copy + Eq + fmt::Debug + Send + Sync;
    /// What [`Game::undo`] needs to take a move back.
    type Undo;
    /// Whether the game has chance nodes. The chance branches of a search compile away if it is false.
    const STOCHASTIC: bool = false;
    /// Whether the final margin is what players optimise; otherwise it is winning, and winning soon.
    const SCORED: bool = false;
    /// In games that score, what a win is worth beside the margin, in thousandths. It exceeds every
    /// evaluation if a certain narrow win is better than a likely wide one.
    const WIN_BONUS: i32 = 0;
    /// With fewer plies left than this, a search neither probes the table nor sorts moves. It is large in
    /// games in which a node costs less than a cache miss.
    const TABLE_DEPTH: i32 = 3;
    /// Whether a search prefetches the table's entries of the positions after a node's moves. False if
    /// playing the moves for their hashes costs more than waiting for memory.
    const PREFETCH: bool = true;

    /// The side from whose view the position is valued: the mover, or at a chance node and at the end of the
    /// game the side that would move next. Defined at every node.
    fn side(&self, pos: &Self::Position) -> Side;
    /// Whether a player moves, chance decides, or the game is over.
    fn turn(&self, pos: &Self::Position) -> Turn;
    /// Appends every legal move to `out`, in an order that depends on the position alone.
    fn moves(&self, pos: &Self::Position, out: &mut Vec<Self::Move>);
    /// Whether [`Game::moves`] would list the move (at a chance node: whether the outcome is possible). The
    /// default lists them all, which is slow: searches ask it about moves of their tables.
    fn is_legal(&self, pos: &Self::Position, mv: Self::Move) -> bool {
        candidates(self, pos).contains(&mv)
    }
    /// Plays a legal move or chance outcome.
    fn play(&self, pos: &mut Self::Position, mv: Self::Move) -> Self::Undo;
    /// Takes back the move that was played last.
    fn undo(&self, pos: &mut Self::Position, mv: Self::Move, undo: Self::Undo);
    /// A hash that is equal for positions with equal futures under the rules.
    fn hash(&self, pos: &Self::Position) -> u64;
    /// The hash after a legal move, to prefetch table slots early. The default plays the move on a copy,
    /// which is slower than to change the hash by the move alone; if it takes longer than waiting for memory,
    /// set [`Game::PREFETCH`] to false.
    fn hash_after(&self, pos: &Self::Position, mv: Self::Move) -> u64 {
        let mut next = pos.clone();
        self.play(&mut next, mv);
        self.hash(&next)
    }
    /// Appends the chance outcomes of a chance node with their weights (all above 0).
    fn outcomes(&self, _pos: &Self::Position, _out: &mut Vec<(Self::Move, u32)>) {}
    /// A number below [`Game::index_len`], different for different moves of one position.
    fn index(&self, mv: Self::Move) -> usize;
    /// The size of tables that [`Game::index`] indexes; at most 65,535.
    fn index_len(&self) -> usize;
    /// Points already scored, in thousandths, from the view of [`Game::side`]: tables store values less this.
    fn settled(&self, _pos: &Self::Position) -> i32 {
        0
    }
    /// What is proven of a position in which a player is to move, by a table of solved positions or by a
    /// theorem about the rules; asked at each node. From the view of [`Game::side`], with the distance from
    /// this position on in moves (chance plies are not counted).
    ///
    /// Whatever it gives must be true of best play by both sides, whatever chance does:
    /// - *An exact value* ([`Value::proven`](crate::score::Value::proven)): the result and its distance, or
    ///   the margin in games that score. Nothing behind the position is searched.
    /// - *A bound*: `win_in(n)` that is only `at_least` says that the side wins in `n` plies or fewer,
    ///   `loss_in(n)` that is only `at_most` that it loses in `n` or fewer. A search that comes to it with an
    ///   open window looks behind it for a quicker end. In games that score, a bound of the margin.
    /// - *A result whose distance nobody knows* is such a bound if the rules end the game: in so many plies
    ///   as cells are free. If nothing bounds the distance, give none, and let the evaluation say who is
    ///   ahead: a number out of the air is announced, and not kept.
    ///
    /// A win must stay provable while it is played out: from a win within `n` plies some move leads to the
    /// end of the game or to a loss within `n - 1`, and from a loss within `n` each move to a win within
    /// `n - 1`, each of which the probe, or a search of so few plies, proves again. The distance may lie
    /// beyond any horizon. A search then goes on until no win that it can see is quicker, so that it misses
    /// no win in one, and comes nearer to the end with each move.
    ///
    /// `tests/it/conformance.rs` compares what it gives with the moves of the same position, and plays
    /// announced wins and losses out.
    fn probe(&self, _pos: &Self::Position) -> Option<crate::score::Value> {
        None
    }
    /// Appends the moves that quiescence looks at; none means that every position is quiet.
    fn noisy(&self, _pos: &Self::Position, _out: &mut Vec<Self::Move>) {}
    /// Static ordering of moves (larger is tried first): also breadth limits and tree-search priors.
    fn order(&self, _pos: &Self::Position, _mv: Self::Move) -> i32 {
        0
    }
    /// Whether positions carry more than their text says, such as counts of plies or of occurrences, because
    /// a rule needs it.
    fn carries_history(&self) -> bool {
        false
    }
    /// The same rules with work that heeds an effort; none if all of it is quick.
    fn heeding(&self, _effort: &Arc<Effort>) -> Option<Self> {
        None
    }
    /// Whether the rules, whose work is bounded, left open what the start is or what a later move does. Such
    /// a move was assumed to do what most do, and nothing is proven about the position.
    fn is_undecided(&self, _pos: &Self::Position) -> bool {
        false
    }
    /// The images of a position under the symmetries of the rules, for tests; empty if there are none.
    fn images(&self, _pos: &Self::Position) -> Vec<Self::Position> {
        Vec::new()
    }
}

/// What an evaluation may look at besides the position.
pub struct Context<M> {
    /// The side that moves at the root: some published scores are not symmetric.
    pub root: Side,
    /// The move that led to the position, if any: some published scores judge a move.
    pub last: Option<M>,
}

/// Late move reductions (LMR): after which moves a search looks less deep, unless one of them then raises
/// alpha.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LateMoveReductions {
    /// The moves of a node that are tried first, and in full.
    pub first: usize,
    /// The smallest depth of a node whose other moves are reduced.
    pub from: i32,
    /// How many plies less deep.
    pub plies: i32,
}

/// The margins of futility and reverse futility pruning, in thousandths: how far from the window an
/// evaluation must be for a search near the horizon to trust it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FutilityMargins {
    /// One ply above the horizon, no move is tried if the evaluation is so far below alpha (futility).
    pub behind: i32,
    /// One and two plies above the horizon, no reply is looked for if the evaluation is so far above beta
    /// (reverse futility).
    pub ahead: [i32; 2],
}

/// A static evaluation of positions that are not over. All but [`Evaluator::evaluate`] stays the same during
/// a search.
///
/// ```
/// use plyd_core::game::Evaluator;
/// use plyd_core::nim::{Heap, Nim, Rest};
/// use plyd_core::score::Score;
///
/// let nim = Nim { most: 3 };
/// assert_eq!(Rest.evaluate_alone(&nim, &Heap::of(5)), Score::eval(1000));
/// assert_eq!(Rest.evaluate_alone(&nim, &Heap::of(4)), Score::eval(-1000));
/// ```
pub trait Evaluator<G: Game>: Clone + Send + Sync + 'static {
    /// The value of the position from the view of [`Game::side`], as an evaluation.
    fn evaluate(&self, game: &G, pos: &G::Position, ctx: &Context<G::Move>) -> crate::score::Score;

    /// The value of a position by itself: at the root, with no move that led to it.
    fn evaluate_alone(&self, game: &G, pos: &G::Position) -> crate::score::Score {
        self.evaluate(game, pos, &Context { root: game.side(pos), last: None })
    }

    /// The smallest and the largest evaluation that [`Evaluator::evaluate`] gives, in thousandths: the bounds
    /// that pruning at chance nodes rests on.
    fn range(&self) -> (i32, i32);

    /// Whether the value depends on [`Context::root`]; then a table must not be shared between the sides.
    fn is_root_dependent(&self) -> bool {
        false
    }

    /// How a search reduces late moves, if that wins games. What it claims to be proven is proven all the
    /// same.
    fn lmr(&self) -> Option<LateMoveReductions> {
        None
    }

    /// When a search near the horizon need not look further, if that wins games. It claims nothing to be
    /// proven by it.
    fn futility(&self) -> Option<FutilityMargins> {
        None
    }

    /// An advantage, in thousandths, with which most games are won; a tree search turns it into likelihoods.
    fn decisive(&self) -> i32 {
        3000
    }
}

/// A position with the way to it: for repetition, novelty, opponent models and the reuse of a search tree.
///
/// ```
/// use plyd_core::game::Root;
/// use plyd_core::nim::{Heap, Nim};
///
/// let mut root = Root::<Nim>::new(Heap::of(21));
/// root.play(&Nim { most: 3 }, 1);
/// assert_eq!((root.start.stones, root.plies.len(), root.pos.stones), (21, 1, 20));
/// ```
#[derive(Clone)]
pub struct Root<G: Game> {
    /// Where the game began.
    pub start: G::Position,
    /// The plies played since, chance outcomes included.
    pub plies: Vec<G::Move>,
    /// The position that they lead to.
    pub pos: G::Position,
}

impl<G: Game> Root<G> {
    /// A game that begins at `start`.
    #[must_use]
    pub fn new(start: G::Position) -> Self {
        Self { pos: start.clone(), start, plies: Vec::new() }
    }

    /// Plays a legal move or chance outcome.
    pub fn play(&mut self, game: &G, mv: G::Move) {
        game.play(&mut self.pos, mv);
        self.plies.push(mv);
    }
}

/// The texts and the picture of a game: how positions and moves are written.
///
/// ```
/// use plyd_core::game::Notation;
/// use plyd_core::nim::{Heap, Nim};
///
/// let (nim, heap) = (Nim { most: 3 }, Heap::of(5));
/// assert_eq!(nim.position_text(&heap), "5 1");
/// assert_eq!(nim.parse_move(&heap, "2"), Ok(2));
/// assert!(nim.parse_move(&heap, "all of them").is_err());
/// assert_eq!(nim.draw(&heap).pieces.len(), 5);
/// ```
pub trait Notation: Game {
    /// The position's text, which reads back as an equal position.
    fn position_text(&self, pos: &Self::Position) -> String;
    /// The position as the game's own referee writes it, if that is another text; it may hold less than
    /// [`Notation::position_text`], and is read like it.
    fn state_text(&self, _pos: &Self::Position) -> Option<String> {
        None
    }
    /// The text of a legal move or chance outcome (the latter begins with `~`).
    fn move_text(&self, pos: &Self::Position, mv: Self::Move) -> String;
    /// Reads a move's text in any accepted form; it need not be legal. The default looks for a legal move of
    /// this text, which is slow in long games.
    ///
    /// # Errors
    /// Says what is wrong with the text, in a sentence without the text itself.
    fn parse_move(&self, pos: &Self::Position, text: &str) -> Result<Self::Move, String> {
        let found = candidates(self, pos).into_iter().find(|&mv| self.move_text(pos, mv) == text);
        found.ok_or_else(|| "no legal move is written so".to_owned())
    }
    /// The board as generic primitives.
    fn draw(&self, pos: &Self::Position) -> Drawing;
    /// The effective rules, by the names of the registry entry's `rules`.
    fn rules(&self) -> Vec<(&'static str, Setting)> {
        Vec::new()
    }
}

/// The legal moves of a position, or the outcomes at a chance node.
fn candidates<G: Game>(game: &G, pos: &G::Position) -> Vec<G::Move> {
    let (mut moves, mut outcomes) = (Vec::new(), Vec::new());
    match game.turn(pos) {
        Turn::Move => game.moves(pos, &mut moves),
        Turn::Chance => game.outcomes(pos, &mut outcomes),
        Turn::Over(_) => {}
    }
    moves.extend(outcomes.into_iter().map(|(mv, _)| mv));
    moves
}

/// A value of a rule or an option.
///
/// ```
/// use plyd_core::game::Setting;
///
/// assert_eq!([true.into(), 7.into(), "left".into()].map(|value: Setting| value.to_string()), ["true", "7",
/// "left"]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Setting {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A word.
    Text(String),
}

impl From<bool> for Setting {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Setting {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Setting {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Setting {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
        }
    }
}

/// Which values a rule or an option takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Yes or no.
    Bool {
        /// The value when absent; none where it depends on other settings, which `about` explains.
        default: Option<bool>,
    },
    /// A whole number in an inclusive range.
    Int {
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
        /// The value when absent; none where it depends on other settings, which `about` explains.
        default: Option<i64>,
    },
    /// One of some words; the first is the default.
    Choice(&'static [&'static str]),
    /// One of some words; which of them when absent depends on other settings, as `about` explains.
    OpenChoice(&'static [&'static str]),
    /// One of some words (the first is the default) or a whole number in an inclusive range.
    ChoiceOrInt {
        /// The words.
        choices: &'static [&'static str],
        /// The smallest number.
        min: i64,
        /// The largest number.
        max: i64,
    },
    /// A seed: 1 to 16 lower-case hex digits, drawn when absent.
    Seed,
}

/// A rule or an option: its name, the values it takes, what it is for.
///
/// ```
/// use plyd_core::game::{Kind, Spec};
///
/// /// Read by `rules.int("width").unwrap_or(7)`.
/// const WIDTH: Spec = Spec {
///     name: "width",
///     kind: Kind::Int { min: 4, max: 9, default: Some(7) },
///     about: "The number of columns.",
/// };
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spec {
    /// The name on the wire.
    pub name: &'static str,
    /// The values.
    pub kind: Kind,
    /// One sentence for people.
    pub about: &'static str,
}

/// Something chosen by name (an evaluator, a player, an ending) and what it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Named {
    /// The name on the wire.
    pub name: &'static str,
    /// One sentence for people.
    pub about: &'static str,
    /// What it was called in the version before, whose name is still taken.
    pub former: Option<&'static str>,
}

impl Named {
    /// Something that never had another name.
    #[must_use]
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about, former: None }
    }

    /// The same, which was called `former` in the version before.
    #[must_use]
    pub const fn formerly(self, former: &'static str) -> Self {
        Self { former: Some(former), ..self }
    }

    /// What a name stands for in a list: what has that name today, or else what had it before.
    pub fn find(mut list: impl Iterator<Item = &'static Self> + Clone, name: &str) -> Option<&'static Self> {
        let today = list.clone().find(|named| named.name == name);
        today.or_else(|| list.find(|named| named.former == Some(name)))
    }
}

/// A cell of a drawing: row from the top, column from the left, both from 0.
pub type Cell = (usize, usize);

/// A board as generic primitives, so that one client draws every game.
///
/// ```
/// use plyd_core::game::{Drawing, Piece, Side};
///
/// let disc = Piece { cells: vec![(5, 3)], piece: "disc", label: None, owner: Some(Side::First) };
/// let board = Drawing { rows: 6, cols: 7, pieces: vec![disc], ..Drawing::default() };
/// assert_eq!(board.pieces[0].cells, [(5, 3)]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Drawing {
    /// Rows of the grid.
    pub rows: usize,
    /// Columns of the grid.
    pub cols: usize,
    /// Heavier lines after each so many rows and columns (sudoku's blocks).
    pub blocks: Option<(usize, usize)>,
    /// What stands on cells.
    pub pieces: Vec<Piece>,
    /// Walls on cell sides; the border needs none.
    pub walls: Vec<Wall>,
    /// Cells to point out: the last move, targets, taboo values.
    pub marks: Vec<Mark>,
    /// The names of the rows in move texts, from the top.
    pub row_labels: Vec<String>,
    /// The names of the columns in move texts, from the left.
    pub col_labels: Vec<String>,
    /// Points or cells won so far, in games that score.
    pub scores: Option<[i32; 2]>,
}

/// Something that stands on a cell, or on several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Where: its first cell, then the others that it covers.
    pub cells: Vec<Cell>,
    /// What, in one of the game's own words: `token`, `blocked`, `l`, `tile`, `value`.
    pub piece: &'static str,
    /// What is written on it, if anything.
    pub label: Option<String>,
    /// Whose it is, if anyone's.
    pub owner: Option<Side>,
}

/// A wall between a cell and the neighbour on its right or below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wall {
    /// The cell.
    pub cell: Cell,
    /// Whether the wall is on the right side of the cell; otherwise it is below it.
    pub right: bool,
}

/// A cell to point out, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// Where.
    pub cell: Cell,
    /// Why, in a word: `last`, `target`, `taboo`.
    pub mark: &'static str,
    /// Whom it concerns; none: both.
    pub owner: Option<Side>,
    /// More, if there is more to say.
    pub label: Option<String>,
}

/// The rules that a client gave explicitly, each checked against its [`Spec`].
///
/// ```
/// use plyd_core::game::Rules;
///
/// let rules = Rules::new(vec![("width", 9.into()), ("torus", true.into())]);
/// assert_eq!((rules.int("width"), rules.bool("torus"), rules.text("walls")), (Some(9), Some(true), None));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rules(Vec<(&'static str, Setting)>);

impl Rules {
    /// Rules from checked settings.
    #[must_use]
    pub fn new(settings: Vec<(&'static str, Setting)>) -> Self {
        Self(settings)
    }

    /// The rule's explicit value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.0.iter().find(|(given, _)| *given == name).map(|(_, value)| value)
    }

    /// The explicit rules, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Setting)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// The rule's explicit value, if it is a whole number.
    #[must_use]
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(Setting::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// The rule's explicit value, if it is a word.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Setting::Text(value)) => Some(value),
            _ => None,
        }
    }

    /// The rule's explicit value, if it is yes or no.
    #[must_use]
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.get(name) {
            Some(Setting::Bool(value)) => Some(*value),
            _ => None,
        }
    }
}

/// Why a game cannot be opened with some rules and a start text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OpenError {
    /// A rule's value is impossible, alone or beside the others.
    Rule {
        /// The rule.
        name: &'static str,
        /// What is wrong, in a sentence.
        message: String,
    },
    /// The start text cannot be read.
    Malformed(String),
    /// The start text can be read, but no such position exists under the rules, or it contradicts a rule that
    /// was given explicitly.
    Impossible(String),
}
