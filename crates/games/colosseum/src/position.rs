//! Positions and moves of Colosseum Survival, and the keys that positions are hashed by. What moves do is in
//! [`rules`](super::rules).

use super::board::{Open, Side as CellSide, Wall};
use plyd_core::bits::Bits;
use plyd_core::game::Side;
use plyd_core::zobrist;

/// Keys of each player on each cell.
pub(super) static PLAYERS: [[u64; 256]; 2] =
    [zobrist::keys(0x636f_6c6f_7331), zobrist::keys(0x636f_6c6f_7332)];
/// Keys of walls right of each cell, and below.
static WALLS: [[u64; 256]; 2] = [zobrist::keys(0x636f_6c6f_7772), zobrist::keys(0x636f_6c6f_7764)];
/// The key of the second player's turn.
pub(super) const SECOND: u64 = zobrist::mix(0x636f_6c6f_6d76);

/// A move: the cell to walk to, and the side of it to wall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walk {
    /// The cell; sizes up to 8 number it `row * size + column`, and larger ones `row * (size | 1) + column`.
    pub to: u8,
    /// The side.
    pub side: CellSide,
}

/// A state of the game: the walls, the players, whose turn it is, and their zones once they are apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position<B> {
    pub(super) open: Open<B>,
    pub(super) hash: u64,
    pub(super) players: [u8; 2],
    /// How many cells each can reach, once they are apart; nothing before.
    pub(super) zones: [u8; 2],
    pub(super) side: Side,
}

const _: () = assert!(size_of::<Position<plyd_core::bits::Colours<u128>>>() <= 80);

impl<B: Bits> Position<B> {
    /// The sides without walls.
    #[inline]
    #[must_use]
    pub(super) fn open(&self) -> &Open<B> {
        &self.open
    }

    /// The cell on which the side's player stands.
    #[inline]
    #[must_use]
    pub fn player(&self, side: Side) -> u8 {
        self.players[side.index()]
    }

    /// The side to move.
    #[inline]
    #[must_use]
    pub fn mover(&self) -> Side {
        self.side
    }

    /// How many cells each side has for itself, once the players are apart.
    #[inline]
    #[must_use]
    pub fn zones(&self) -> Option<[i32; 2]> {
        (self.zones[0] > 0).then(|| self.zones.map(i32::from))
    }
}

/// The key of a wall.
#[inline]
pub(super) fn wall_key(wall: Wall) -> u64 {
    match wall {
        Wall::Right(cell) => WALLS[0][usize::from(cell)],
        Wall::Below(cell) => WALLS[1][usize::from(cell)],
    }
}
