//! Knight's moves of whole sets of cells at once, for a width that is known when the program is compiled.
//!
//! Nothing here knows the height: a result may hold bits below the last row, which callers mask away.

use super::board::Cells;

/// The cells of a column from `from` to `until`, without `until`, in all rows that 64 bits can hold.
const fn columns(width: usize, from: usize, until: usize) -> Cells {
    let mut cells = 0;
    let mut cell = 0;
    while cell < 64 {
        if cell % width >= from && cell % width < until {
            cells |= 1 << cell;
        }
        cell += 1;
    }
    cells
}

/// The cells of one colour of a chess board, in all rows that 64 bits can hold.
const fn light(width: usize) -> Cells {
    let mut cells = 0;
    let mut cell = 0;
    while cell < 64 {
        if (cell / width + cell % width).is_multiple_of(2) {
            cells |= 1 << cell;
        }
        cell += 1;
    }
    cells
}

/// A sum of three bits in every cell: the ones and the twos.
const fn add(one: Cells, two: Cells, three: Cells) -> (Cells, Cells) {
    let half = one ^ two;
    (half ^ three, (one & two) | (half & three))
}

/// The geometry of a board of `W` columns.
pub(crate) struct Spread<const W: usize>;

impl<const W: usize> Spread<W> {
    const FROM_SECOND: Cells = columns(W, 1, W);
    const FROM_THIRD: Cells = columns(W, 2, W);
    const BUT_LAST: Cells = columns(W, 0, W - 1);
    const BUT_LAST_TWO: Cells = columns(W, 0, W - 2);

    /// The cells of the colour of cell 0.
    pub(crate) const LIGHT: Cells = light(W);

    /// All cells a knight's move away from some cell of the set.
    #[inline(always)]
    pub(crate) fn all(set: Cells) -> Cells {
        let near = ((set << 1) & Self::FROM_SECOND) | ((set >> 1) & Self::BUT_LAST);
        let far = ((set << 2) & Self::FROM_THIRD) | ((set >> 2) & Self::BUT_LAST_TWO);
        (near << (2 * W)) | (near >> (2 * W)) | (far << W) | (far >> W)
    }

    /// All cells from which a knight can move to at least four cells of the set.
    #[inline(always)]
    pub(crate) fn four(set: Cells) -> Cells {
        let right = (set << 1) & Self::FROM_SECOND;
        let left = (set >> 1) & Self::BUT_LAST;
        let far_right = (set << 2) & Self::FROM_THIRD;
        let far_left = (set >> 2) & Self::BUT_LAST_TWO;
        let (ones_a, twos_a) = add(right << (2 * W), right >> (2 * W), left << (2 * W));
        let (ones_b, twos_b) = add(left >> (2 * W), far_right << W, far_right >> W);
        let (ones_c, twos_c) = add(far_left << W, far_left >> W, 0);
        let (_, twos_d) = add(ones_a, ones_b, ones_c);
        (twos_a & twos_b) | (twos_c & twos_d) | ((twos_a | twos_b) & (twos_c | twos_d))
    }

    /// All cells that a knight on `cell` can reach through open cells.
    #[inline(always)]
    pub(crate) fn reach(open: Cells, start: Cells) -> Cells {
        let mut reached = start & open;
        let mut edge = reached;
        while edge != 0 {
            edge = Self::all(edge) & open & !reached;
            reached |= edge;
        }
        reached
    }
}

/// Who is first at which cell, if both tokens flood the open cells step by step.
#[derive(Clone, Copy)]
pub(crate) struct Race {
    /// The cells where the player to move is first.
    pub(crate) mover: Cells,
    /// The cells where the other player is first.
    pub(crate) other: Cells,
    /// Whether no cell is within reach of both.
    pub(crate) apart: bool,
}

impl Race {
    /// Floods the open cells from the first moves of both players; the one to move floods first.
    #[inline(always)]
    pub(crate) fn run<const W: usize>(open: Cells, moves: Cells, replies: Cells) -> Self {
        let (mut edge, mut other_edge) = (moves, replies & !moves);
        let (mut mover, mut other) = (edge, other_edge);
        let mut contact = moves & replies;
        while edge | other_edge != 0 {
            let step = Spread::<W>::all(edge) & open;
            let other_step = Spread::<W>::all(other_edge) & open;
            contact |= step & other;
            edge = step & !(mover | other);
            mover |= edge;
            other_edge = other_step & !(mover | other);
            other |= other_edge;
            contact |= other_step & mover;
        }
        Self { mover, other, apart: contact == 0 }
    }
}
