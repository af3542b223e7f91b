//! Boards of Colosseum Survival: which sides of cells are open, where one can walk, and what a wall closes.
//!
//! A board knows its size and the walls, and nothing of players, turns or texts. Sizes up to 8 fit a `u64`,
//! in which cell `row * size + column` has that number. Beyond, the cells of the two colours of a chess board
//! are in words of their own, and a row of even size is followed by a number without a cell, so that each
//! step changes the parity of the number.

use plyd_core::bits::{Bits, Part};
use plyd_core::flood::{Step, reachable};

/// The smallest size.
pub(super) const MIN_SIZE: usize = 5;
/// The largest size.
pub(super) const MAX_SIZE: usize = 12;

/// A side of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Side {
    /// Towards the row above.
    Up,
    /// Towards the next column.
    Right,
    /// Towards the row below.
    Down,
    /// Towards the column before.
    Left,
}

impl Side {
    /// The sides in the order of the referee.
    pub const ALL: [Self; 4] = [Self::Up, Self::Right, Self::Down, Self::Left];
}

/// A wall, or the place of one: on the right side of a cell or below it, and so on the left side of the next
/// cell or above the one below.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Wall {
    /// On the right side of the cell.
    Right(u8),
    /// Below the cell.
    Below(u8),
}

/// The sides of cells that have no wall; the border counts as walls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Open<B> {
    /// The cells whose right side is open.
    pub right: B,
    /// The cells whose lower side is open.
    pub down: B,
}

impl<B: Bits> Open<B> {
    /// Whether there is no wall.
    #[inline]
    #[must_use]
    pub(super) fn has(&self, wall: Wall) -> bool {
        match wall {
            Wall::Right(cell) => self.right.has(cell),
            Wall::Below(cell) => self.down.has(cell),
        }
    }

    /// Puts a wall where none is, or takes it away.
    #[inline]
    pub(super) fn toggle(&mut self, wall: Wall) {
        // Without a branch: which of both it is cannot be predicted.
        let (cell, is_right) = match wall {
            Wall::Right(cell) => (cell, true),
            Wall::Below(cell) => (cell, false),
        };
        let set = B::single(cell);
        self.right ^= if is_right { set } else { B::EMPTY };
        self.down ^= if is_right { B::EMPTY } else { set };
    }
}

/// How far apart the numbers of two cells in a column are, one below the other, on a board of that size.
#[must_use]
pub(super) const fn row_len(size: usize) -> usize {
    if size * size <= 64 { size } else { size | 1 }
}

/// The number of a cell on a board of that size.
#[must_use]
pub(super) const fn cell_at(size: usize, row: usize, column: usize) -> u8 {
    (row * row_len(size) + column) as u8
}

/// The row and the column of a cell on a board of that size.
#[must_use]
pub(super) const fn place_of(size: usize, cell: u8) -> (usize, usize) {
    (cell as usize / row_len(size), cell as usize % row_len(size))
}

/// What a board's size fixes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Board<B> {
    size: u32,
    full: B,
    /// The cells of the first row and of the first column.
    top: B,
    left: B,
}

impl<B: Bits> Board<B> {
    /// The board of that size, which must be within [`MIN_SIZE`], [`MAX_SIZE`] and the capacity of `B`. Where
    /// colours are apart, it must be one of the larger or odd sizes, and words of 128 bits are for the
    /// largest alone.
    #[must_use]
    pub(super) fn new(size: usize) -> Self {
        assert!((MIN_SIZE..=MAX_SIZE).contains(&size) && row_len(size) * size <= B::CAPACITY + size % 2);
        assert!(B::COLOURS == 1 || row_len(size) % 2 == 1);
        assert!(B::CAPACITY <= 128 || size == MAX_SIZE);
        let set_of = |rows: usize, columns: usize| {
            let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
            cells.fold(B::EMPTY, |set, (row, column)| set | B::single(cell_at(size, row, column)))
        };
        Self { size: size as u32, full: set_of(size, size), top: set_of(1, size), left: set_of(size, 1) }
    }

    /// The number of rows, and of columns.
    #[inline]
    #[must_use]
    pub(super) fn size(&self) -> usize {
        // Only one size needs words of 128 bits: with this hint the compiler shifts them without other cases.
        if B::CAPACITY > 128 { MAX_SIZE } else { self.size as usize }
    }

    /// The number of cells.
    #[inline]
    #[must_use]
    pub(super) fn cells(&self) -> usize {
        self.size() * self.size()
    }

    /// One more than the largest number of a cell.
    #[inline]
    #[must_use]
    pub(super) fn numbers(&self) -> usize {
        self.row() as usize * self.size()
    }

    /// A cell by its row and its column.
    #[must_use]
    pub(super) fn cell_at(&self, row: usize, column: usize) -> u8 {
        cell_at(self.size(), row, column)
    }

    /// The row and the column of a cell.
    #[must_use]
    pub(super) fn place_of(&self, cell: u8) -> (usize, usize) {
        place_of(self.size(), cell)
    }

    /// All cells.
    #[inline]
    #[must_use]
    pub(super) fn full(&self) -> B {
        self.full
    }

    /// How many steps a player may walk.
    #[inline]
    #[must_use]
    pub(super) fn steps(&self) -> u32 {
        self.size().div_ceil(2) as u32
    }

    /// A board without walls.
    #[must_use]
    pub(super) fn bare(&self) -> Open<B> {
        let without = |edge: B| self.full() & !edge;
        Open { right: without(self.left).down(1), down: without(self.top).down(self.row()) }
    }

    /// How far apart the numbers of two cells in a column are, one below the other.
    #[inline]
    pub(super) fn row(&self) -> u32 {
        // With this hint the compiler knows by how many bits the two colours differ, and shifts a u128
        // without the case of 64 and more.
        if B::COLOURS > 1 { self.size() as u32 & 15 | 1 } else { row_len(self.size()) as u32 & 15 }
    }

    /// The place of the wall on a side of a cell; none at the border above and on the left.
    #[inline]
    #[must_use]
    pub(super) fn wall(&self, cell: u8, side: Side) -> Option<Wall> {
        // Which side it is cannot be predicted, so there is no branch for it.
        let back = match side {
            Side::Up => self.row() as u8,
            Side::Left => 1,
            Side::Right | Side::Down => 0,
        };
        let is_below = matches!(side, Side::Up | Side::Down);
        let place = cell.checked_sub(back)?;
        Some(if is_below { Wall::Below(place) } else { Wall::Right(place) })
    }

    /// The cells whose sides are open: those above, right, down and left.
    #[inline]
    #[must_use]
    pub(super) fn sides(&self, open: &Open<B>) -> [B; 4] {
        [open.down.up(self.row()), open.right, open.down, open.right.up(1)]
    }

    /// The cells that are open on three sides or more.
    #[inline]
    #[must_use]
    pub(super) fn wide(&self, open: &Open<B>) -> B {
        let [up, right, down, left] = self.sides(open);
        (up & right & (down | left)) | (down & left & (up | right))
    }

    /// The board with its walls, to walk on.
    #[inline]
    #[must_use]
    pub(super) fn paths<'a>(&self, open: &'a Open<B>) -> Paths<'a, B> {
        Paths { open, row: self.row() }
    }

    /// Whether a wall on an open side may part cells that are connected without it.
    ///
    /// It cannot unless both its ends meet the border or another wall, because one can walk around a loose
    /// end.
    #[inline]
    #[must_use]
    pub(super) fn may_close(&self, open: &Open<B>, wall: Wall) -> bool {
        let row = self.row();
        // The cells at whose lower right corner a wall ends, or the border is.
        let met = !(open.right & open.down & open.right.down(row) & open.down.down(1));
        let (cell, other) = match wall {
            Wall::Right(cell) => (cell, met.up(row) | self.top),
            Wall::Below(cell) => (cell, met.up(1) | self.left),
        };
        (met & other).has(cell)
    }

    /// The cells that are connected with `cell`, unless `other` is one of them.
    #[inline]
    #[must_use]
    pub(super) fn zone_without(&self, open: &Open<B>, cell: u8, other: u8) -> Option<B> {
        let paths = self.paths(open);
        let mut zone = B::single(cell);
        loop {
            let more = zone | paths.step(zone);
            if more.has(other) {
                return None;
            }
            if more == zone {
                return Some(zone);
            }
            zone = more;
        }
    }

    /// The cells that are connected with `cell`.
    #[must_use]
    pub(super) fn zone(&self, open: &Open<B>, cell: u8) -> B {
        reachable(&self.paths(open), !B::EMPTY, B::single(cell))
    }

    /// Where a symmetry takes a cell: 0 is the identity, 3 turns the board by half.
    #[must_use]
    pub(super) fn image(&self, symmetry: usize, cell: u8) -> u8 {
        let last = self.size() - 1;
        let (mut row, mut column) = self.place_of(cell);
        if symmetry & 1 != 0 {
            column = last - column;
        }
        if symmetry & 2 != 0 {
            row = last - row;
        }
        if symmetry & 4 != 0 {
            (row, column) = (column, row);
        }
        self.cell_at(row, column)
    }

    /// Where a symmetry takes the place of a wall between two cells.
    #[must_use]
    pub(super) fn image_of_wall(&self, symmetry: usize, wall: Wall) -> Wall {
        let (cell, next) = match wall {
            Wall::Right(cell) => (cell, cell + 1),
            Wall::Below(cell) => (cell, cell + self.row() as u8),
        };
        let (a, b) = (self.image(symmetry, cell), self.image(symmetry, next));
        if a.abs_diff(b) == 1 { Wall::Right(a.min(b)) } else { Wall::Below(a.min(b)) }
    }

    /// The places of all walls: those right of cells, then those below, by cell.
    pub(super) fn walls(&self) -> impl Iterator<Item = Wall> + use<B> {
        let bare = self.bare();
        bare.right.cells().map(Wall::Right).chain(bare.down.cells().map(Wall::Below))
    }
}

/// A board with its walls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paths<'a, B> {
    open: &'a Open<B>,
    row: u32,
}

impl<B: Bits> Step<B> for Paths<'_, B> {
    #[inline]
    fn step<P: Part<B>>(&self, part: P) -> P::Next {
        let Open { right, down } = *self.open;
        let ahead = (part & P::of(right)).up(1) | (part & P::of(down)).up(self.row);
        let back = (part.down(1) & P::Next::of(right)) | (part.down(self.row) & P::Next::of(down));
        ahead | back
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::bits::Colours;
    use plyd_core::zobrist::SplitMix64;

    /// Walls at random, and any two cells.
    fn random_board<B: Bits>(board: &Board<B>, random: &mut SplitMix64) -> (Open<B>, [u8; 2]) {
        let mut open = board.bare();
        let most = 1 + random.below(board.cells());
        for wall in board.walls() {
            if random.below(2 * board.cells()) < most {
                open.toggle(wall);
            }
        }
        let size = board.size();
        (open, [(); 2].map(|()| board.cell_at(random.below(size), random.below(size))))
    }

    /// The zone of every cell before and after every wall of a random board.
    fn check<B: Bits>(size: usize, boards: u64) -> (usize, usize) {
        let board = Board::<B>::new(size);
        let mut random = SplitMix64::new(size as u64);
        let (mut free, mut closing) = (0, 0);
        for _ in 0..boards {
            let (open, [cell, other]) = random_board(&board, &mut random);
            let zone = board.zone(&open, cell);
            assert_eq!(board.zone_without(&open, cell, other), Some(zone).filter(|zone| !zone.has(other)));
            for wall in board.walls().filter(|&wall| open.has(wall)) {
                let mut after = open;
                after.toggle(wall);
                let (Wall::Right(near) | Wall::Below(near)) = wall;
                let far = if wall == Wall::Right(near) { near + 1 } else { near + board.row() as u8 };
                let closes = !board.zone(&after, near).has(far);
                assert!(!closes || board.may_close(&open, wall), "{open:?} {wall:?}");
                *(if board.may_close(&open, wall) { &mut closing } else { &mut free }) += 1;
            }
        }
        (free, closing)
    }

    #[test]
    fn a_wall_that_closes_meets_others_at_both_ends() {
        let mut sum = (0, 0);
        for size in MIN_SIZE..=MAX_SIZE {
            let (free, closing) = match size {
                ..=8 => check::<u64>(size, 1250),
                9..=11 => check::<Colours<u64>>(size, 1250),
                _ => check::<Colours<u128>>(size, 1250),
            };
            sum = (sum.0 + free, sum.1 + closing);
        }
        assert!(sum.0 > 100_000 && sum.1 > 100_000, "{sum:?}");
    }

    #[test]
    fn words_of_all_sizes_agree() {
        let (small, large) = (Board::<u64>::new(8), Board::<u128>::new(8));
        let mut random = SplitMix64::new(3);
        for _ in 0..200 {
            let (open, [cell, _]) = random_board(&small, &mut random);
            let wide = Open { right: u128::from(open.right), down: u128::from(open.down) };
            assert_eq!(u128::from(small.zone(&open, cell)), large.zone(&wide, cell));
            let sides = small.sides(&open).map(u128::from);
            // A shift past the last row leaves the word of 64 bits only.
            assert_eq!(sides, large.sides(&wide).map(|set| set & large.full()));
        }
    }

    #[test]
    fn symmetries_keep_neighbours() {
        let board = Board::<u64>::new(5);
        for symmetry in 0..8 {
            let mut images: Vec<Wall> =
                board.walls().map(|wall| board.image_of_wall(symmetry, wall)).collect();
            assert!(images.iter().all(|&wall| board.bare().has(wall)));
            images.dedup();
            assert_eq!(images.len(), 40);
        }
        assert_eq!(board.image(3, 0), 24);
        assert_eq!(board.image_of_wall(3, Wall::Right(0)), Wall::Right(23));
    }
}
