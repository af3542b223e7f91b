//! What a game is: rules, texts, drawings and evaluators, as traits and plain values.
//!
//! Nothing here knows JSON, the protocol, threads or time. A game's crate implements [`Game`] (the rules,
//! hot), [`Notation`] (texts and pictures, cold) and any number of [`Evaluator`]s; everything else in the
//! project is generic over them.

mod book;
mod draft;
mod drawing;
mod evaluator;
mod notation;
mod spec;

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::effort::Effort;
use crate::score::Value;

pub use self::book::BookEntry;
pub use self::draft::{CellSide, Change, Choice, Draft, Edit, TextFault, mover_edit, offset_in};
pub use self::drawing::{Cell, Drawing, Layer, Mark, Piece, Wall};
pub use self::evaluator::{Context, Evaluator, FutilityMargins, LateMoveReductions};
pub use self::notation::Notation;
pub use self::spec::{Kind, Named, OpenError, Rules, Setting, Spec};

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
///
/// ```
/// use plyd_core::game::{Outcome, Side};
///
/// let resigned = Outcome { winner: Some(Side::Second), by: "resignation", scores: None };
/// assert_eq!(resigned.winner.map(Side::other), Some(Side::First));
/// ```
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
///
/// ```
/// use plyd_core::game::{Game, Turn};
/// use plyd_core::nim::{Heap, Nim};
///
/// let nim = Nim { most: 3 };
/// assert_eq!(nim.turn(&Heap::of(1)), Turn::Move);
/// assert!(matches!(nim.turn(&Heap::of(0)), Turn::Over(outcome) if outcome.by == "taken"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Turn {
    /// The side that [`Game::side`] names has at least one legal move.
    Move,
    /// Chance decides: see [`Game::outcomes`].
    Chance,
    /// The game is over.
    Over(Outcome),
}

/// What is shown a move and the position behind it, by [`Game::play_each`].
pub type VisitMove<'a, G> = dyn FnMut(<G as Game>::Move, &<G as Game>::Position) -> ControlFlow<()> + 'a;

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
    /// Whether [`Game::moves`] would list the move (at a chance node: whether the outcome is possible). It is
    /// asked of the moves of any position under the same rules, in positions that are not over. The default
    /// lists them all, which is slow: searches ask it about moves of their tables.
    fn is_legal(&self, pos: &Self::Position, mv: Self::Move) -> bool {
        candidates(self, pos).contains(&mv)
    }
    /// Plays a legal move or chance outcome.
    fn play(&self, pos: &mut Self::Position, mv: Self::Move) -> Self::Undo;
    /// Takes back the move that was played last.
    fn undo(&self, pos: &mut Self::Position, mv: Self::Move, undo: Self::Undo);
    /// A hash that is equal for positions with equal futures under the rules: the same sides, moves and
    /// results, less what [`Game::settled`] says.
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
    /// - *An exact value* ([`Value::proven`]): the result and its distance, or
    ///   the margin in games that score. Nothing behind the position is searched.
    /// - *A bound*: `win_in(n)` that is only `at_least` says that the side wins in `n` plies or fewer,
    ///   `loss_in(n)` that is only `at_most` that it loses in `n` or fewer. A search that comes to it with an
    ///   open window looks behind it for a quicker end. In games that score, a bound of the margin.
    /// - *A result whose distance nobody knows* is such a bound if the rules end the game: in so many plies
    ///   as cells are free. If nothing bounds the distance, give none, and let the evaluation say who is
    ///   ahead: a made-up number would be announced, and not kept.
    ///
    /// A win must stay provable while it is played out: from a win within `n` plies some move leads to the
    /// end of the game or to a loss within `n - 1`, and from a loss within `n` each move to a win within
    /// `n - 1`, each of which the probe, or a search of so few plies, proves again. The distance may lie
    /// beyond any horizon. A search then goes on until no win that it can see is quicker, so that it misses
    /// no win in one, and comes nearer to the end with each move.
    ///
    /// [`conformance`](crate::engine::conformance) compares what it gives with the moves of the same
    /// position, and plays announced wins and losses out.
    fn probe(&self, _pos: &Self::Position) -> Option<Value> {
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
    /// Plays each of these moves in a position, and shows what is behind it, until `visit` breaks off. What
    /// rules that search find out for a move, they may use for the next ones.
    fn play_each(&self, pos: &Self::Position, moves: &[Self::Move], visit: &mut VisitMove<'_, Self>) {
        let mut next = pos.clone();
        for &mv in moves {
            let undo = self.play(&mut next, mv);
            if visit(mv, &next).is_break() {
                return;
            }
            self.undo(&mut next, mv, undo);
        }
    }
    /// The images of a position under the symmetries of the rules, for tests; empty if there are none.
    fn images(&self, _pos: &Self::Position) -> Vec<Self::Position> {
        Vec::new()
    }
}

/// A position with its history: for repetition, novelty, opponent models and the reuse of a search tree.
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

/// The legal moves of a position, or the outcomes at a chance node.
pub(crate) fn candidates<G: Game>(game: &G, pos: &G::Position) -> Vec<G::Move> {
    let (mut moves, mut outcomes) = (Vec::new(), Vec::new());
    match game.turn(pos) {
        Turn::Move => game.moves(pos, &mut moves),
        Turn::Chance => game.outcomes(pos, &mut outcomes),
        Turn::Over(_) => {}
    }
    moves.extend(outcomes.into_iter().map(|(mv, _)| mv));
    moves
}
