//! Stones in a row on a small board, with the shortest of its theorems as [`Game::probe`]: a side that faces
//! two threats and has none itself loses in two plies.

use crate::game::{Game, Outcome, Side, Turn};
use crate::score::{Score, Value};
use crate::zobrist::mix;

/// The rules: the first side with `row` stones in a line wins, and a full board is a draw.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Rows {
    /// Whether the theorem is used.
    pub(crate) is_probed: bool,
    cells: u32,
    lines: Vec<u32>,
}

/// A board: each side's stones as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stones {
    stones: [u32; 2],
    mover: Side,
}

impl Rows {
    /// A board of `width` by `height` cells.
    pub(crate) fn new(width: i32, height: i32, row: i32) -> Self {
        let mut lines = Vec::new();
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            for (right, down) in [(1, 0), (0, 1), (1, 1), (-1, 1)] {
                let cells = (0..row).map(|step| (x + step * right, y + step * down));
                if cells.clone().all(|(x, y)| (0..width).contains(&x) && y < height) {
                    lines.push(cells.fold(0, |line, (x, y)| line | 1 << (y * width + x)));
                }
            }
        }
        Self { is_probed: true, cells: (width * height) as u32, lines }
    }

    /// The empty board.
    pub(crate) fn start(&self) -> Stones {
        Stones { stones: [0; 2], mover: Side::First }
    }

    fn free(&self, pos: &Stones) -> u32 {
        !(pos.stones[0] | pos.stones[1]) & ((1 << self.cells) - 1)
    }

    /// The cells on which a side has a row with its next stone.
    fn threats(&self, pos: &Stones, side: Side) -> u32 {
        let (own, free) = (pos.stones[side.index()], self.free(pos));
        let open = self.lines.iter().map(|line| line & !own);
        open.filter(|open| open.count_ones() == 1 && open & free != 0).fold(0, |all, open| all | open)
    }
}

impl Game for Rows {
    type Position = Stones;
    type Move = u8;
    type Undo = ();

    fn side(&self, pos: &Stones) -> Side {
        pos.mover
    }

    fn turn(&self, pos: &Stones) -> Turn {
        let last = pos.mover.other();
        let has_row = self.lines.iter().any(|line| line & !pos.stones[last.index()] == 0);
        if has_row || self.free(pos) == 0 {
            let (winner, by) = if has_row { (Some(last), "row") } else { (None, "full") };
            return Turn::Over(Outcome { winner, by, scores: None });
        }
        Turn::Move
    }

    fn moves(&self, pos: &Stones, out: &mut Vec<u8>) {
        out.extend((0..self.cells as u8).filter(|&cell| self.is_legal(pos, cell)));
    }

    fn is_legal(&self, pos: &Stones, cell: u8) -> bool {
        self.free(pos) >> cell & 1 == 1
    }

    fn play(&self, pos: &mut Stones, cell: u8) {
        pos.stones[pos.mover.index()] ^= 1 << cell;
        pos.mover = pos.mover.other();
    }

    fn undo(&self, pos: &mut Stones, cell: u8, (): ()) {
        pos.mover = pos.mover.other();
        pos.stones[pos.mover.index()] ^= 1 << cell;
    }

    fn hash(&self, pos: &Stones) -> u64 {
        // Whose turn it is follows from the number of stones.
        mix(u64::from(pos.stones[0]) << 32 | u64::from(pos.stones[1]))
    }

    fn hash_after(&self, pos: &Stones, cell: u8) -> u64 {
        let mut next = *pos;
        self.play(&mut next, cell);
        self.hash(&next)
    }

    fn index(&self, cell: u8) -> usize {
        cell.into()
    }

    fn index_len(&self) -> usize {
        self.cells as usize
    }

    fn probe(&self, pos: &Stones) -> Option<Value> {
        let is_lost = self.is_probed
            && self.threats(pos, pos.mover) == 0
            && self.threats(pos, pos.mover.other()).count_ones() >= 2;
        is_lost.then(|| Value::proven(Score::loss_in(2)))
    }
}
