//! The rules of IJK as a [`Game`]; texts, evaluations and players are elsewhere.
//!
//! A move slides all tiles; then the other side becomes the mover and gets a tile, an `A` or an `a`. Where
//! chance chooses its cell, that is a chance ply between the move and the test for the end. The rules are
//! those of the course's skeleton code, versions 1.0 and 2.0 (October and November 2019), and of the
//! published text: see [`Variant`].

use super::board::{Board, Case, Cells, K, Slide, Tile, square};
use super::nibbles::Nibbles;
use super::planes::Planes;
use super::variant::{EndTest, Skip, Variant, Win};
use std::marker::PhantomData;

use plyd_core::game::{Game, Outcome, Side, Turn};
use plyd_core::zobrist::mix;

/// The ending by a `K` or `k`.
pub(super) const BY_K: &str = "k";
/// The ending by a full board.
pub(super) const BY_FULL: &str = "full";
/// The ending by a position that occurred too often.
pub(super) const BY_REPETITION: &str = "repetition";
/// The ending by the cap on moves.
pub(super) const BY_MAX_PLIES: &str = "max_plies";

/// Positions are distinguished by their plies only in this many moves before the cap: more than any search
/// sees.
const NEAR_CAP: u16 = 512;

/// IJK under one variant of its rules, its tiles held in a `B`; chance chooses the cells of new tiles if
/// `CHANCE`.
///
/// ```
/// use plyd_core::game::{Game, Rules, Turn};
/// use plyd_ijk::rules::Ijk;
/// use plyd_ijk::variant::Variant;
///
/// let game = Ijk::<false>::new(Variant::choose(&Rules::default(), None).unwrap());
/// let pos = game.start();
/// assert_eq!(game.turn(&pos), Turn::Move);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ijk<const CHANCE: bool, B = Planes> {
    variant: Variant,
    cells: Cells,
    /// What distinguishes, in a hash, the empty boards of different sizes.
    size_key: u64,
    board: PhantomData<B>,
}

/// A state of the game, its tiles held in a `B`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position<B = Planes> {
    board: B,
    /// The mass of the upper-case tiles less that of the lower-case ones.
    balance: i32,
    /// Moves since the start; 0 without a cap.
    plies: u16,
    mover: Side,
    /// Whether the mover's tile has no cell yet.
    awaits: bool,
    /// The cell that `S` flips; 0 if nothing is flipped.
    last: u8,
    /// How often this board occurred since it became full, by [`Ijk::phase`]; zeros without the rule
    /// `repetition`.
    seen: [u8; 4],
}

const _: () = assert!(size_of::<Position<Planes>>() <= 56 && size_of::<Position<Nibbles>>() <= 32);

/// A slide, the move `S`, or where chance puts a tile.
///
/// ```
/// use plyd_ijk::Slide;
/// use plyd_ijk::rules::{Action, Move};
///
/// assert_eq!(Move::slide(Slide::Left).action(), Action::Slide(Slide::Left));
/// assert_eq!(Move::SKIP.action(), Action::Skip);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move(u8);

impl Move {
    /// The move `S`.
    pub const SKIP: Self = Self(4);
    /// The first of the chance outcomes.
    pub(super) const TILES: u8 = 5;

    /// The move that slides all tiles.
    #[must_use]
    pub const fn slide(slide: Slide) -> Self {
        Self(slide as u8)
    }

    /// The chance outcome that puts the tile on a cell, by its number.
    #[must_use]
    pub(super) const fn tile(cell: u8) -> Self {
        Self(Self::TILES + cell)
    }

    /// What the move does.
    #[inline]
    #[must_use]
    pub const fn action(self) -> Action {
        match self.0 {
            slide @ 0..=3 => Action::Slide(Slide::ALL[slide as usize]),
            4 => Action::Skip,
            tile => Action::Tile(tile - Self::TILES),
        }
    }
}

/// What a move does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Slides all tiles.
    Slide(Slide),
    /// Passes or flips a tile, as the rules have it.
    Skip,
    /// Puts the awaited tile on a cell.
    Tile(u8),
}

/// The case of a side's tiles.
#[inline]
#[must_use]
pub(super) const fn case(side: Side) -> Case {
    match side {
        Side::First => Case::Upper,
        Side::Second => Case::Lower,
    }
}

impl<B: Board> Position<B> {
    /// The tiles.
    #[inline]
    #[must_use]
    pub(super) const fn board(&self) -> &B {
        &self.board
    }

    /// The side to move.
    #[inline]
    #[must_use]
    pub(super) const fn mover(&self) -> Side {
        self.mover
    }

    /// Whether chance has to put the mover's tile on a cell first.
    #[inline]
    #[must_use]
    pub(super) const fn awaits(&self) -> bool {
        self.awaits
    }

    /// The cell that the move `S` flips, if the rules have such a move.
    #[must_use]
    pub(super) const fn last(&self) -> u8 {
        self.last
    }

    /// The mass of the mover's tiles less that of the other side's.
    #[inline]
    #[must_use]
    pub(super) const fn balance(&self) -> i32 {
        match self.mover {
            Side::First => self.balance,
            Side::Second => -self.balance,
        }
    }
}

impl<const CHANCE: bool, B: Board> Ijk<CHANCE, B> {
    /// The game under rules whose `chance` is `CHANCE`.
    #[must_use]
    pub fn new(variant: Variant) -> Self {
        debug_assert_eq!(variant.chance, CHANCE);
        let (cells, size_key) = (square::<B>(variant.size), square::<Planes>(variant.size).rotate_left(16));
        Self { variant, cells, size_key, board: PhantomData }
    }

    /// The rules.
    #[must_use]
    pub const fn variant(&self) -> &Variant {
        &self.variant
    }

    /// The cells of the board.
    #[inline]
    #[must_use]
    pub(super) const fn cells(&self) -> Cells {
        self.cells
    }

    /// The position where the game begins.
    #[must_use]
    pub fn start(&self) -> Position<B> {
        let mut board = B::default();
        if !self.variant.random_first {
            board.put(0, Tile { letter: 1, case: Case::Upper });
        }
        self.position(board, Side::First, self.variant.random_first, 0)
    }

    /// A position with a history of its own, which awaits a tile only if chance places it; `last` is the cell
    /// that `S` flips, or 0.
    #[must_use]
    pub(super) fn position(&self, board: B, mover: Side, awaits: bool, last: u8) -> Position<B> {
        let balance = board.mass(board.of(Case::Upper)) - board.mass(board.of(Case::Lower));
        let mut pos = Position { board, balance, plies: 0, mover, awaits, last, seen: [0; 4] };
        self.remember(&mut pos);
        pos
    }

    /// The cells without a tile.
    #[inline]
    #[must_use]
    pub(super) fn empty(&self, pos: &Position<B>) -> Cells {
        self.cells & !pos.board.occupied()
    }

    /// Plays the move `S`.
    ///
    /// Few rules have it, and inlined into a search it would take registers from the slides.
    #[cold]
    #[inline(never)]
    fn skip(&self, pos: &mut Position<B>) {
        let flips = self.variant.skip == Skip::Flip;
        if flips && let Some(tile) = pos.board.tile(pos.last) {
            let mass = 1 << (tile.letter - 1);
            pos.board.flip(pos.last);
            pos.balance += match tile.case {
                Case::Upper => -2 * mass,
                Case::Lower => 2 * mass,
            };
        }
        self.hand_over(pos, !flips);
    }

    /// Makes the other side the mover, which gets a tile if the move adds one.
    #[inline]
    fn hand_over(&self, pos: &mut Position<B>, adds_tile: bool) {
        pos.mover = pos.mover.other();
        pos.plies += u16::from(self.variant.max_plies > 0);
        let empty = self.empty(pos);
        if empty == 0 || !adds_tile {
            self.remember(pos);
        } else if CHANCE {
            pos.awaits = true;
        } else {
            self.place(pos, empty.trailing_zeros() as u8);
        }
    }

    /// Gives the mover its tile.
    #[inline]
    pub(super) fn place(&self, pos: &mut Position<B>, cell: u8) {
        pos.board.put(cell, Tile { letter: 1, case: case(pos.mover) });
        pos.balance += match pos.mover {
            Side::First => 1,
            Side::Second => -1,
        };
        pos.awaits = false;
        if !CHANCE && self.variant.skip == Skip::Flip {
            pos.last = cell;
        }
        // Tiles only come to boards that were not full: counts of full ones no longer matter.
        pos.seen = [0; 4];
        self.remember(pos);
    }

    /// Counts a position with a full board.
    #[inline]
    fn remember(&self, pos: &mut Position<B>) {
        if self.variant.repetition > 0 && self.empty(pos) == 0 {
            self.count(pos);
        }
    }

    /// Counts this position.
    #[cold]
    #[inline(never)]
    fn count(&self, pos: &mut Position<B>) {
        let count = &mut pos.seen[self.phase(pos)];
        *count = count.saturating_add(1);
    }

    /// Whether a position occurred too often, by rules that ask for it.
    #[cold]
    #[inline(never)]
    fn is_repeated(&self, pos: &Position<B>) -> bool {
        pos.seen[self.phase(pos)] >= self.variant.repetition
    }

    /// Which of the positions that share a full board this is: `S` may flip one tile and flip it back, and
    /// the sides alternate. Everything else adds mass, and leads to boards that were never there before.
    fn phase(&self, pos: &Position<B>) -> usize {
        let flips = self.variant.skip == Skip::Flip;
        let is_lower = pos.board.of(Case::Lower) >> pos.last & 1 == 1;
        2 * usize::from(flips && is_lower) + pos.mover.index()
    }

    /// Whether the board alone may end the game: nearly always it does not, so that this is what a node
    /// costs.
    #[inline]
    fn may_be_decided(&self, pos: &Position<B>) -> bool {
        pos.board.ks() != 0 || (self.variant.full_ends && self.empty(pos) == 0)
    }

    /// The outcome, if the board alone ends the game.
    #[cold]
    #[inline(never)]
    fn decided(&self, pos: &Position<B>) -> Option<Outcome> {
        let board = &pos.board;
        let (ks, full) = (board.ks(), self.variant.full_ends && self.empty(pos) == 0);
        let outcome = |winner, by| Some(Outcome { winner, by, scores: None });
        let of = |case| match case {
            Case::Upper => Side::First,
            Case::Lower => Side::Second,
        };
        if self.variant.win == Win::Any && ks != 0 {
            let first = board.tile(ks.trailing_zeros() as u8).map(|tile| of(tile.case));
            return outcome(first, BY_K);
        }
        // A side without tiles counts as having the first letter.
        let [upper, lower] = [Case::Upper, Case::Lower].map(|case| board.highest(case).max(1));
        let is_k = self.variant.win == Win::Highest && (upper == K || lower == K);
        if !is_k && !full {
            return None;
        }
        let winner = match upper.cmp(&lower) {
            std::cmp::Ordering::Greater => Some(Side::First),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Less => Some(Side::Second),
        };
        outcome(winner, if is_k { BY_K } else { BY_FULL })
    }
}

impl<const CHANCE: bool, B: Board> Game for Ijk<CHANCE, B> {
    type Position = Position<B>;
    type Move = Move;
    type Undo = Position<B>;
    const STOCHASTIC: bool = CHANCE;
    const PREFETCH: bool = B::IS_QUICK;

    #[inline]
    fn side(&self, pos: &Position<B>) -> Side {
        pos.mover
    }

    #[inline]
    fn turn(&self, pos: &Position<B>) -> Turn {
        if CHANCE && pos.awaits {
            return Turn::Chance;
        }
        if (pos.mover == Side::First || self.variant.end == EndTest::Ply)
            && self.may_be_decided(pos)
            && let Some(outcome) = self.decided(pos)
        {
            return Turn::Over(outcome);
        }
        let Variant { repetition, max_plies, .. } = self.variant;
        let drawn = |by| Turn::Over(Outcome { winner: None, by, scores: None });
        if repetition > 0 && self.is_repeated(pos) {
            drawn(BY_REPETITION)
        } else if max_plies > 0 && pos.plies >= max_plies {
            drawn(BY_MAX_PLIES)
        } else {
            Turn::Move
        }
    }

    #[inline]
    fn moves(&self, _pos: &Position<B>, out: &mut Vec<Move>) {
        // Of a length that the compiler knows.
        out.extend_from_slice(&Slide::ALL.map(Move::slide));
        if self.variant.skip != Skip::None {
            out.push(Move::SKIP);
        }
    }

    #[inline]
    fn is_legal(&self, pos: &Position<B>, mv: Move) -> bool {
        match mv.action() {
            Action::Slide(_) => !pos.awaits,
            Action::Skip => !pos.awaits && self.variant.skip != Skip::None,
            Action::Tile(cell) => pos.awaits && self.empty(pos) >> cell & 1 == 1,
        }
    }

    #[inline(always)]
    fn play(&self, pos: &mut Position<B>, mv: Move) -> Position<B> {
        let before = *pos;
        match mv.action() {
            Action::Slide(slide) => {
                let won = pos.board.slide(slide, self.cells, case(pos.mover));
                pos.balance += match pos.mover {
                    Side::First => 2 * won,
                    Side::Second => -2 * won,
                };
                self.hand_over(pos, true);
            }
            Action::Skip => self.skip(pos),
            Action::Tile(cell) => self.place(pos, cell),
        }
        before
    }

    #[inline]
    fn undo(&self, pos: &mut Position<B>, _mv: Move, before: Position<B>) {
        *pos = before;
    }

    #[inline]
    fn hash(&self, pos: &Position<B>) -> u64 {
        let Position { board, plies, mover, awaits, last, seen, .. } = *pos;
        let near_cap = plies.saturating_sub(self.variant.max_plies.saturating_sub(NEAR_CAP));
        let state = u64::from(last) << 2 | (mover.index() as u64) << 1 | u64::from(awaits);
        let history = u64::from(u32::from_le_bytes(seen)) << 16 | u64::from(near_cap);
        let state = state << 48 | history;
        board.key(mix(state ^ self.size_key))
    }

    fn outcomes(&self, pos: &Position<B>, out: &mut Vec<(Move, u32)>) {
        let mut empty = self.empty(pos);
        while empty != 0 {
            out.push((Move::tile(empty.trailing_zeros() as u8), 1));
            empty &= empty - 1;
        }
    }

    #[inline]
    fn index(&self, mv: Move) -> usize {
        usize::from(mv.0)
    }

    #[inline]
    fn index_len(&self) -> usize {
        let last = self.variant.size - 1;
        usize::from(Move::TILES) + if CHANCE { usize::from(B::cell(last, last)) + 1 } else { 0 }
    }

    fn carries_history(&self) -> bool {
        self.variant.max_plies > 0 || self.variant.repetition > 0
    }

    /// The board turned and mirrored, unless a rule asks for the first of some cells.
    fn images(&self, pos: &Position<B>) -> Vec<Position<B>> {
        let Variant { skip, win, .. } = self.variant;
        if !CHANCE || skip == Skip::Flip || win == Win::Any {
            return Vec::new();
        }
        let image = |turn| Position { board: pos.board.image(self.variant.size, turn), ..*pos };
        (0..8).map(image).collect()
    }
}
