//! The board: cells, the 48 places of an L, pairs of tokens, symmetries and states, as tables made at compile
//! time.
//!
//! Knows geometry only: neither turns, nor variants, nor texts. Cells are numbered `4 * x + y` with x to the
//! right and y down, both from 0, so that ascending cells are sorted by x, then y, as the texts want them.

/// A set of cells: bit `4 * x + y`.
pub(super) type Cells = u16;
/// A set of L placements, by index.
pub(super) type Placements = u64;
/// A set of token pairs, by index.
pub(super) type Pairs = u128;

/// How many placements an L has.
pub(super) const PLACEMENTS: usize = 48;
/// How many pairs of cells two tokens can stand on, were the board empty.
pub(super) const PAIRS: usize = 120;
/// How many ordered pairs of Ls fit on the board together.
pub(super) const ROWS: usize = 656;
/// How many symmetries a square has.
pub(super) const SYMMETRIES: usize = 8;

/// The four corner cells.
pub(super) const CORNERS: Cells = 0x9009;
/// The four centre cells.
pub(super) const CORE: Cells = 0x0660;
/// The border cells that are no corners.
pub(super) const EDGES: Cells = !(CORNERS | CORE);

/// Where the short end of an L points, in the order of [`AT`].
pub(super) const DIRECTIONS: [char; 4] = ['N', 'E', 'S', 'W'];

/// No placement, in [`AT`].
pub(super) const NOWHERE: u8 = u8::MAX;

const GEOMETRY: Geometry = Geometry::new();
/// The cells of each placement.
pub(super) static CELLS: [Cells; PLACEMENTS] = GEOMETRY.cells;
/// The cell where the bars of each placement meet, and its direction.
pub(super) static NAMES: [(u8, u8); PLACEMENTS] = GEOMETRY.names;
/// The placement whose bars meet in a cell with the short end in a direction, or [`NOWHERE`].
pub(super) static AT: [[u8; 4]; 16] = GEOMETRY.at;
/// The placements that have no cell in common with a placement.
pub(super) static APART: [Placements; PLACEMENTS] = GEOMETRY.apart;
/// The placements that touch neither token of a pair.
static MISSING: [Placements; PAIRS] = GEOMETRY.missing;
/// The pairs that touch no cell of a placement.
pub(super) static CLEAR: [Pairs; PLACEMENTS] = GEOMETRY.clear;
/// The two cells of each pair, the smaller first.
pub(super) static PAIR_CELLS: [(u8, u8); PAIRS] = GEOMETRY.pair_cells;
/// The image of each placement under each symmetry.
static PLACEMENT_IMAGES: [[u8; PLACEMENTS]; SYMMETRIES] = GEOMETRY.placement_images;
/// The image of each pair under each symmetry.
static PAIR_IMAGES: [[u8; PAIRS]; SYMMETRIES] = GEOMETRY.pair_images;
/// The symmetry that takes each placement to the smallest of its images: exactly one, for an L has none
/// itself.
static HOMING: [u8; PLACEMENTS] = GEOMETRY.homing;
/// The number of each ordered pair of Ls with no cell in common; `u16::MAX` for the others.
static ROW: [[u16; PLACEMENTS]; PLACEMENTS] = GEOMETRY.row;
/// The two Ls of each row.
pub(super) static ROW_LS: [(u8, u8); ROWS] = GEOMETRY.row_ls;

/// The index of the pair of two different cells, in either order.
pub(super) const fn pair_of(a: usize, b: usize) -> u8 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    (high * (high - 1) / 2 + low) as u8
}

/// The cells of a pair of tokens.
pub(super) fn pair_mask(pair: u8) -> Cells {
    let (a, b) = PAIR_CELLS[usize::from(pair)];
    1 << a | 1 << b
}

/// The number of two Ls that have no cell in common, below [`ROWS`].
pub(super) fn row(own: u8, other: u8) -> usize {
    let row = ROW[usize::from(own)][usize::from(other)];
    debug_assert!(row != u16::MAX, "the Ls overlap");
    usize::from(row)
}

/// The indexes in a set of placements, ascending.
pub(super) fn placements(mut set: Placements) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        if set == 0 {
            return None;
        }
        let first = set.trailing_zeros() as u8;
        set &= set - 1;
        Some(first)
    })
}

/// The indexes in a set of pairs, ascending.
pub(super) fn pairs(mut set: Pairs) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        if set == 0 {
            return None;
        }
        let first = set.trailing_zeros() as u8;
        set &= set - 1;
        Some(first)
    })
}

/// What stands on the board, from the mover's view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) struct State {
    /// The placement of the mover's L.
    pub(super) own: u8,
    /// The placement of the other L.
    pub(super) other: u8,
    /// The pair of cells that the tokens stand on.
    pub(super) tokens: u8,
}

impl State {
    /// The places that the mover's L may go to.
    pub(super) fn targets(self) -> Placements {
        APART[usize::from(self.other)] & MISSING[usize::from(self.tokens)] & !(1 << self.own)
    }

    /// Whether the mover's L cannot move.
    pub(super) fn is_stuck(self) -> bool {
        self.targets() == 0
    }

    /// The state after the mover's L went to `target` and the tokens stand on `tokens`.
    pub(super) const fn after(self, target: u8, tokens: u8) -> Self {
        Self { own: self.other, other: target, tokens }
    }

    /// Whether no two of the pieces share a cell.
    #[cfg(test)]
    pub(super) fn is_disjoint(self) -> bool {
        APART[usize::from(self.own)] >> self.other & 1 == 1
            && (CLEAR[usize::from(self.own)] & CLEAR[usize::from(self.other)]) >> self.tokens & 1 == 1
    }

    /// A number below 2^20, different for different states.
    pub(super) const fn key(self) -> u32 {
        self.own as u32 | (self.other as u32) << 6 | (self.tokens as u32) << 12
    }

    /// The image under a symmetry.
    pub(super) fn image(self, symmetry: usize) -> Self {
        let placement = &PLACEMENT_IMAGES[symmetry];
        Self {
            own: placement[usize::from(self.own)],
            other: placement[usize::from(self.other)],
            tokens: PAIR_IMAGES[symmetry][usize::from(self.tokens)],
        }
    }

    /// The one state that stands for all eight images of this one.
    pub(super) fn class(self) -> Self {
        self.image(usize::from(HOMING[usize::from(self.own)]))
    }

    /// All 18,368 states, ordered by row, then tokens.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        ROW_LS.iter().flat_map(|&(own, other)| {
            let free = CLEAR[usize::from(own)] & CLEAR[usize::from(other)];
            pairs(free).map(move |tokens| Self { own, other, tokens })
        })
    }
}

/// All tables, made together because each rests on the ones before.
struct Geometry {
    cells: [Cells; PLACEMENTS],
    names: [(u8, u8); PLACEMENTS],
    at: [[u8; 4]; 16],
    apart: [Placements; PLACEMENTS],
    missing: [Placements; PAIRS],
    clear: [Pairs; PLACEMENTS],
    pair_cells: [(u8, u8); PAIRS],
    placement_images: [[u8; PLACEMENTS]; SYMMETRIES],
    pair_images: [[u8; PAIRS]; SYMMETRIES],
    homing: [u8; PLACEMENTS],
    row: [[u16; PLACEMENTS]; PLACEMENTS],
    row_ls: [(u8, u8); ROWS],
}

impl Geometry {
    const fn new() -> Self {
        let mut tables = Self {
            cells: [0; PLACEMENTS],
            names: [(0, 0); PLACEMENTS],
            at: [[NOWHERE; 4]; 16],
            apart: [0; PLACEMENTS],
            missing: [0; PAIRS],
            clear: [0; PLACEMENTS],
            pair_cells: [(0, 0); PAIRS],
            placement_images: [[0; PLACEMENTS]; SYMMETRIES],
            pair_images: [[0; PAIRS]; SYMMETRIES],
            homing: [0; PLACEMENTS],
            row: [[u16::MAX; PLACEMENTS]; PLACEMENTS],
            row_ls: [(0, 0); ROWS],
        };
        tables.place_ls();
        tables.place_tokens();
        tables.turn_the_board();
        tables.number_rows();
        tables
    }

    const fn place_ls(&mut self) {
        let mut count = 0;
        let mut cell = 0;
        while cell < 16 {
            let mut direction = 0;
            while direction < 4 {
                if let Some(cells) = l_cells(cell / 4, cell % 4, direction) {
                    self.cells[count] = cells;
                    self.names[count] = (cell as u8, direction as u8);
                    self.at[cell][direction] = count as u8;
                    count += 1;
                }
                direction += 1;
            }
            cell += 1;
        }
        assert!(count == PLACEMENTS);
    }

    const fn place_tokens(&mut self) {
        let mut high = 1;
        while high < 16 {
            let mut low = 0;
            while low < high {
                let pair = pair_of(low, high) as usize;
                self.pair_cells[pair] = (low as u8, high as u8);
                let mut l = 0;
                while l < PLACEMENTS {
                    if self.cells[l] & (1 << low | 1 << high) == 0 {
                        self.missing[pair] |= 1 << l;
                        self.clear[l] |= 1 << pair;
                    }
                    l += 1;
                }
                low += 1;
            }
            high += 1;
        }
    }

    const fn turn_the_board(&mut self) {
        let mut l = 0;
        while l < PLACEMENTS {
            self.homing[l] = u8::MAX;
            l += 1;
        }
        let mut symmetry = 0;
        while symmetry < SYMMETRIES {
            let mut l = 0;
            while l < PLACEMENTS {
                let mut image = 0;
                while self.cells[image] != cells_image(symmetry, self.cells[l]) {
                    image += 1;
                }
                self.placement_images[symmetry][l] = image as u8;
                let home = self.homing[l];
                if home == u8::MAX || image < self.placement_images[home as usize][l] as usize {
                    self.homing[l] = symmetry as u8;
                }
                l += 1;
            }
            let mut pair = 0;
            while pair < PAIRS {
                let (a, b) = self.pair_cells[pair];
                self.pair_images[symmetry][pair] =
                    pair_of(cell_image(symmetry, a as usize), cell_image(symmetry, b as usize));
                pair += 1;
            }
            symmetry += 1;
        }
    }

    const fn number_rows(&mut self) {
        let mut count = 0;
        let mut own = 0;
        while own < PLACEMENTS {
            let mut other = 0;
            while other < PLACEMENTS {
                if self.cells[own] & self.cells[other] == 0 {
                    self.apart[own] |= 1 << other;
                    self.row[own][other] = count as u16;
                    self.row_ls[count] = (own as u8, other as u8);
                    count += 1;
                }
                other += 1;
            }
            own += 1;
        }
        assert!(count == ROWS);
    }
}

/// The cells of the L whose bars meet in (x, y) with the short end in a direction, if that end is on the
/// board. The long end then fits on one side only.
const fn l_cells(x: usize, y: usize, direction: usize) -> Option<Cells> {
    let short = match direction {
        0 if y > 0 => cell_at(x, y - 1),
        1 if x < 3 => cell_at(x + 1, y),
        2 if y < 3 => cell_at(x, y + 1),
        3 if x > 0 => cell_at(x - 1, y),
        _ => return None,
    };
    let long = if direction.is_multiple_of(2) {
        if x < 2 { cell_at(x + 1, y) | cell_at(x + 2, y) } else { cell_at(x - 1, y) | cell_at(x - 2, y) }
    } else if y < 2 {
        cell_at(x, y + 1) | cell_at(x, y + 2)
    } else {
        cell_at(x, y - 1) | cell_at(x, y - 2)
    };
    Some(cell_at(x, y) | short | long)
}

const fn cell_at(x: usize, y: usize) -> Cells {
    1 << (4 * x + y)
}

/// The image of a cell: bit 0 of `symmetry` mirrors x, bit 1 mirrors y, bit 2 then swaps them.
const fn cell_image(symmetry: usize, cell: usize) -> usize {
    let x = if symmetry & 1 == 0 { cell / 4 } else { 3 - cell / 4 };
    let y = if symmetry & 2 == 0 { cell % 4 } else { 3 - cell % 4 };
    if symmetry & 4 == 0 { 4 * x + y } else { 4 * y + x }
}

const fn cells_image(symmetry: usize, cells: Cells) -> Cells {
    let mut image = 0;
    let mut cell = 0;
    while cell < 16 {
        if cells >> cell & 1 == 1 {
            image |= 1 << cell_image(symmetry, cell);
        }
        cell += 1;
    }
    image
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn states_fall_into_classes_of_eight() {
        let states: Vec<State> = State::all().collect();
        assert_eq!(states.len(), 18_368);
        assert!(states.iter().all(|state| state.is_disjoint()));
        let classes: HashSet<State> = states.iter().map(|state| state.class()).collect();
        assert_eq!(classes.len(), 2_296);
        for state in &states {
            let images: HashSet<State> = (0..SYMMETRIES).map(|symmetry| state.image(symmetry)).collect();
            assert_eq!(images.len(), SYMMETRIES);
            assert!(images.iter().all(|image| image.class() == state.class() && image.is_disjoint()));
        }
    }

    #[test]
    fn pairs_of_ls_fall_into_82_classes() {
        let states = State::all().map(|state| state.class());
        let rows: HashSet<usize> = states.map(|state| row(state.own, state.other)).collect();
        assert_eq!(rows.len(), 82);
    }

    #[test]
    fn an_l_lies_on_three_cells_in_one_line_and_four_in_all() {
        for cells in CELLS {
            assert_eq!(cells.count_ones(), 4);
            let columns = [0x000f_u16, 0x00f0, 0x0f00, 0xf000].map(|column| (cells & column).count_ones());
            let rows = [0x1111_u16, 0x2222, 0x4444, 0x8888].map(|row| (cells & row).count_ones());
            assert_eq!(columns.iter().chain(&rows).filter(|&&count| count == 3).count(), 1, "{cells:#06x}");
        }
        assert_eq!(CELLS.iter().collect::<HashSet<_>>().len(), PLACEMENTS);
    }

    #[test]
    fn the_board_is_corners_core_and_edges() {
        assert_eq!([CORNERS, CORE, EDGES].map(u16::count_ones), [4, 4, 8]);
        assert_eq!(CORNERS | CORE | EDGES, u16::MAX);
    }
}
