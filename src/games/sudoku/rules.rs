//! The rules of Competitive Sudoku as a [`Game`]; texts, evaluations and players are elsewhere.
//!
//! The rules are those of the course framework `competitive_sudoku`: the preset `classic` those of its versions 8 to 13,
//! the others those of version 14. A move that leaves the puzzle without a solution is declared taboo and passes the turn.

use std::sync::Arc;

use super::grid::Grid;
use super::presets::{Choice, Preset};
use super::solver::{Solved, Solver};
use super::witness;
use crate::game::{Game, Outcome, Side, Turn};
use crate::zobrist::mix;

/// The ending of games in which every cell has a value.
pub const FULL: &str = "full";
/// The ending of games in which neither player has a cell left to play.
pub const STUCK: &str = "stuck";

/// Points for completing so many regions with one value.
pub const POINTS: [i32; 4] = [0, 1, 3, 7];

/// Competitive Sudoku on a board of a fixed shape, with fixed cells that each player is allowed.
#[derive(Clone, Debug)]
pub struct Sudoku {
    board: Arc<Board>,
}

#[derive(Debug)]
struct Board {
    grid: Grid,
    solver: Solver,
    choice: Choice,
}

/// A value for a cell: a move. It fills the cell, or is declared taboo.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fill {
    /// The cell, by rows from the top left.
    pub cell: u16,
    /// The value, from 1.
    pub value: u8,
}

/// A cell of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Square {
    /// Its value; 0 while it is empty.
    pub value: u8,
    /// Its value in a solution of the puzzle.
    pub witness: u8,
    /// Whose value it is; nobody's in `classic`, and of the clues of a start.
    pub owner: Option<Side>,
    /// The values that were declared taboo here, as bits from the lowest.
    pub taboo: u32,
    /// Whether each player may play here once it is empty.
    reached: [bool; 2],
}

/// A state of the game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    squares: Vec<Square>,
    /// The values in each row, column and block, as bits from the lowest.
    used: Vec<u32>,
    /// Empty cells that each player may play.
    playable: [u16; 2],
    empty: u16,
    scores: [i32; 2],
    mover: Side,
    hash: u64,
    history: Vec<Fill>,
}

/// What a move changed.
#[derive(Clone, Debug)]
pub struct Undo {
    mover: Side,
    effect: Effect,
    /// The solution that was the witness, where it changed.
    witness: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug)]
enum Effect {
    Taboo,
    /// Points, and which of the neighbours were reached anew, as bits in the grid's order.
    Filled {
        points: i32,
        reached: u8,
    },
}

/// What a position is made from, each list by cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setup {
    /// The values; 0 for empty cells.
    pub values: Vec<u8>,
    /// A solution.
    pub witness: Vec<u8>,
    /// The owners of values.
    pub owners: Vec<Option<Side>>,
    /// The moves that were declared taboo.
    pub taboo: Vec<Fill>,
    /// The points of both players.
    pub scores: [i32; 2],
    /// The player to move, unless that one has no cell to play.
    pub mover: Side,
    /// The moves that led here, as far as they are known.
    pub history: Vec<Fill>,
}

impl Position {
    /// A cell.
    #[inline]
    #[must_use]
    pub fn square(&self, cell: usize) -> &Square {
        &self.squares[cell]
    }

    /// All cells, by rows from the top left.
    #[must_use]
    pub fn squares(&self) -> &[Square] {
        &self.squares
    }

    /// The points of both players.
    #[must_use]
    pub fn scores(&self) -> [i32; 2] {
        self.scores
    }

    /// The side to move.
    #[inline]
    #[must_use]
    pub fn mover(&self) -> Side {
        self.mover
    }

    /// The number of empty cells.
    #[must_use]
    pub fn empty(&self) -> usize {
        self.empty.into()
    }

    /// Whether a player may play a cell: it is empty, and allowed or beside an own one.
    #[inline]
    #[must_use]
    pub fn is_playable(&self, cell: usize, side: Side) -> bool {
        let square = &self.squares[cell];
        square.value == 0 && square.reached[side.index()]
    }

    /// The moves that led here, taboo ones too: those of the start as far as its text told, and those played since.
    #[must_use]
    pub fn history(&self) -> &[Fill] {
        &self.history
    }

    /// Whether a value stands in none of the cell's regions.
    #[inline]
    fn fits(&self, grid: &Grid, mv: Fill) -> bool {
        let [row, column, block] = grid.regions_of(mv.cell.into()).map(|region| self.used[region]);
        (row | column | block) >> (mv.value - 1) & 1 == 0
    }

    /// The values that stand in none of an empty cell's regions, as bits from the lowest; none for a full cell.
    #[inline]
    #[must_use]
    pub fn candidates(&self, grid: &Grid, cell: usize) -> u32 {
        if self.squares[cell].value != 0 {
            return 0;
        }
        let [row, column, block] = grid.regions_of(cell).map(|region| self.used[region]);
        grid.all_values() & !(row | column | block)
    }

    /// The empty cells of a region.
    #[inline]
    #[must_use]
    pub fn missing(&self, grid: &Grid, region: usize) -> u32 {
        grid.side() as u32 - self.used[region].count_ones()
    }

    /// The values of the board, then their solution.
    fn boards(&self) -> (Vec<u8>, Vec<u8>) {
        self.squares.iter().map(|square| (square.value, square.witness)).unzip()
    }
}

/// Keys of a fact about a cell and a value; with `kind` apart, 2^20 of each.
const fn key(kind: u64, fact: usize) -> u64 {
    mix((kind << 20 | fact as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x7375_646f_6b75)
}

const VALUE: u64 = 1;
const TABOO: u64 = 2;
const OWNER: u64 = 3;
const ALLOWED: u64 = 4;
const SHAPE: u64 = 5;
const SECOND: u64 = key(6, 0);

impl Sudoku {
    /// The game that was chosen.
    #[must_use]
    pub fn new(choice: Choice) -> Self {
        let grid = Grid::new(choice.shape.0, choice.shape.1);
        Self { board: Arc::new(Board { solver: Solver::new(&grid), grid, choice }) }
    }

    /// The grid.
    #[inline]
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.board.grid
    }

    /// The solver for boards of this shape.
    #[must_use]
    pub fn solver(&self) -> &Solver {
        &self.board.solver
    }

    /// Shape, preset and allowed cells.
    #[must_use]
    pub fn choice(&self) -> &Choice {
        &self.board.choice
    }

    /// Whether players are bound to cells of their own.
    #[inline]
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.board.choice.preset != Preset::Classic
    }

    /// The empty board.
    #[must_use]
    pub fn start(&self) -> Position {
        let cells = self.grid().cells();
        self.position(Setup {
            values: vec![0; cells],
            witness: witness::pattern(self.grid()),
            owners: vec![None; cells],
            taboo: Vec::new(),
            scores: [0; 2],
            mover: Side::First,
            history: Vec::new(),
        })
    }

    /// A position from its parts, which must fit each other: the witness solves the values, every taboo move was
    /// declared rightly.
    #[must_use]
    pub fn position(&self, setup: Setup) -> Position {
        let grid = self.grid();
        let mut pos = Position {
            squares: vec![Square::default(); grid.cells()],
            used: vec![0; grid.regions().len()],
            playable: [0; 2],
            empty: 0,
            scores: setup.scores,
            mover: Side::First,
            hash: key(SHAPE, grid.m() * 16 + grid.n()),
            history: setup.history,
        };
        for (cell, square) in pos.squares.iter_mut().enumerate() {
            square.value = setup.values[cell];
            square.witness = setup.witness[cell];
            square.owner = setup.owners[cell];
            square.reached = [!self.is_bound(); 2];
            if square.value == 0 {
                pos.empty += 1;
            } else {
                pos.hash ^= self.fill_key(cell, square.value, square.owner);
                for region in grid.regions_of(cell) {
                    pos.used[region] |= 1 << (square.value - 1);
                }
            }
        }
        for side in Side::ALL {
            let allowed = self.choice().allowed.as_ref().map_or(&[][..], |allowed| &allowed[side.index()]);
            for &cell in allowed {
                pos.hash ^= key(ALLOWED + 4 * side.index() as u64, cell.into());
                pos.squares[usize::from(cell)].reached[side.index()] = true;
            }
            for cell in (0..grid.cells()).filter(|&cell| setup.owners[cell] == Some(side)) {
                for &near in grid.near(cell) {
                    pos.squares[usize::from(near)].reached[side.index()] = true;
                }
            }
        }
        for mv in setup.taboo {
            self.toggle_taboo(&mut pos, mv);
        }
        for side in Side::ALL {
            let cells = (0..grid.cells()).filter(|&cell| pos.is_playable(cell, side));
            pos.playable[side.index()] = cells.count() as u16;
        }
        self.pass_to(&mut pos, setup.mover);
        pos
    }

    /// The number of a move; see [`Game::index`].
    #[inline]
    fn number(&self, mv: Fill) -> usize {
        usize::from(mv.cell) * self.grid().side() + usize::from(mv.value) - 1
    }

    fn fill_key(&self, cell: usize, value: u8, owner: Option<Side>) -> u64 {
        let value = key(VALUE, self.number(Fill { cell: cell as u16, value }));
        owner.map_or(value, |owner| value ^ key(OWNER, 2 * cell + owner.index()))
    }

    fn toggle_taboo(&self, pos: &mut Position, mv: Fill) {
        pos.squares[usize::from(mv.cell)].taboo ^= 1 << (mv.value - 1);
        pos.hash ^= key(TABOO, self.number(mv));
    }

    /// Makes a side the mover, or the other one if that side has no cell to play and the other has.
    fn pass_to(&self, pos: &mut Position, side: Side) {
        let skipped = pos.playable[side.index()] == 0 && pos.playable[side.other().index()] > 0;
        let side = if skipped { side.other() } else { side };
        pos.hash ^= if side == pos.mover { 0 } else { SECOND };
        pos.mover = side;
    }

    /// The points that a value in an empty cell scores, if it is placed.
    #[inline]
    #[must_use]
    pub fn points(&self, pos: &Position, cell: usize) -> i32 {
        let completed =
            self.grid().regions_of(cell).into_iter().filter(|&r| pos.missing(self.grid(), r) == 1);
        POINTS[completed.count()]
    }

    /// Whether a legal move is taboo: the puzzle has no solution with it.
    #[must_use]
    pub fn is_taboo(&self, pos: &Position, mv: Fill) -> bool {
        pos.square(mv.cell.into()).witness != mv.value && self.witness_with(pos, mv).is_none()
    }

    /// A solution with a legal move, if there is one.
    pub(super) fn witness_with(&self, pos: &Position, mv: Fill) -> Option<Vec<u8>> {
        let (mut values, mut witness) = pos.boards();
        if witness::exchange(self.grid(), &values, &mut witness, mv) {
            return Some(witness);
        }
        values[usize::from(mv.cell)] = mv.value;
        match self.solver().solve(&values, &witness, &mut u64::MAX.clone()) {
            Solved::By(solution) => Some(solution),
            Solved::Never | Solved::Unknown => None,
        }
    }

    pub(super) fn set_witness(pos: &mut Position, witness: &[u8]) {
        for (square, &value) in pos.squares.iter_mut().zip(witness) {
            square.witness = value;
        }
    }

    /// Plays a legal move as one that fills its cell; the witness is left as it is.
    pub(super) fn play_as_fill(&self, pos: &mut Position, mv: Fill) -> Undo {
        let mover = pos.mover;
        let effect = self.fill(pos, mv);
        pos.history.push(mv);
        self.pass_to(pos, mover.other());
        Undo { mover, effect, witness: None }
    }

    /// Fills a cell for the mover; the turn is not passed yet.
    fn fill(&self, pos: &mut Position, mv: Fill) -> Effect {
        let cell = usize::from(mv.cell);
        let grid = self.grid();
        let points = self.points(pos, cell);
        pos.scores[pos.mover.index()] += points;
        for side in Side::ALL {
            pos.playable[side.index()] -= u16::from(pos.is_playable(cell, side));
        }
        let owner = self.is_bound().then_some(pos.mover);
        pos.squares[cell].value = mv.value;
        pos.squares[cell].owner = owner;
        pos.empty -= 1;
        pos.hash ^= self.fill_key(cell, mv.value, owner);
        for region in grid.regions_of(cell) {
            pos.used[region] |= 1 << (mv.value - 1);
        }
        let mut reached = 0;
        if let Some(side) = owner {
            for (bit, &near) in grid.near(cell).iter().enumerate() {
                let square = &mut pos.squares[usize::from(near)];
                if !std::mem::replace(&mut square.reached[side.index()], true) {
                    reached |= 1 << bit;
                    pos.playable[side.index()] += u16::from(square.value == 0);
                }
            }
        }
        Effect::Filled { points, reached }
    }

    /// Empties a cell that the mover filled last.
    fn empty(&self, pos: &mut Position, mv: Fill, points: i32, reached: u8) {
        let cell = usize::from(mv.cell);
        let grid = self.grid();
        let owner = pos.squares[cell].owner;
        if let Some(side) = owner {
            for (bit, &near) in grid.near(cell).iter().enumerate() {
                if reached >> bit & 1 != 0 {
                    let square = &mut pos.squares[usize::from(near)];
                    square.reached[side.index()] = false;
                    pos.playable[side.index()] -= u16::from(square.value == 0);
                }
            }
        }
        for region in grid.regions_of(cell) {
            pos.used[region] &= !(1 << (mv.value - 1));
        }
        pos.hash ^= self.fill_key(cell, mv.value, owner);
        pos.empty += 1;
        pos.squares[cell].value = 0;
        pos.squares[cell].owner = None;
        for side in Side::ALL {
            pos.playable[side.index()] += u16::from(pos.is_playable(cell, side));
        }
        pos.scores[pos.mover.index()] -= points;
    }
}

impl PartialEq for Sudoku {
    fn eq(&self, other: &Self) -> bool {
        self.board.choice == other.board.choice
    }
}

impl Game for Sudoku {
    type Position = Position;
    type Move = Fill;
    type Undo = Undo;
    const SCORED: bool = true;

    #[inline]
    fn side(&self, pos: &Position) -> Side {
        pos.mover
    }

    fn turn(&self, pos: &Position) -> Turn {
        if pos.playable != [0; 2] {
            return Turn::Move;
        }
        let [first, second] = pos.scores;
        let winner = match first.cmp(&second) {
            std::cmp::Ordering::Greater => Some(Side::First),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Less => Some(Side::Second),
        };
        let by = if pos.empty == 0 { FULL } else { STUCK };
        Turn::Over(Outcome { winner, by, scores: Some(pos.scores) })
    }

    /// Every move that does not lose at once: taboo ones that were not declared are among them.
    fn moves(&self, pos: &Position, out: &mut Vec<Fill>) {
        for cell in (0..self.grid().cells()).filter(|&cell| pos.is_playable(cell, pos.mover)) {
            let mut values = pos.candidates(self.grid(), cell) & !pos.squares[cell].taboo;
            while values != 0 {
                out.push(Fill { cell: cell as u16, value: values.trailing_zeros() as u8 + 1 });
                values &= values - 1;
            }
        }
    }

    fn is_legal(&self, pos: &Position, mv: Fill) -> bool {
        let (cell, value) = (usize::from(mv.cell), usize::from(mv.value));
        cell < self.grid().cells()
            && (1..=self.grid().side()).contains(&value)
            && pos.is_playable(cell, pos.mover)
            && pos.squares[cell].taboo >> (value - 1) & 1 == 0
            && pos.fits(self.grid(), mv)
    }

    fn play(&self, pos: &mut Position, mv: Fill) -> Undo {
        let mover = pos.mover;
        let (mut old, mut is_taboo) = (None, false);
        if pos.square(mv.cell.into()).witness != mv.value {
            match self.witness_with(pos, mv) {
                Some(witness) => {
                    old = Some(pos.boards().1);
                    Self::set_witness(pos, &witness);
                }
                None => is_taboo = true,
            }
        }
        if !is_taboo {
            return Undo { witness: old, ..self.play_as_fill(pos, mv) };
        }
        self.toggle_taboo(pos, mv);
        pos.history.push(mv);
        self.pass_to(pos, mover.other());
        Undo { mover, effect: Effect::Taboo, witness: None }
    }

    fn undo(&self, pos: &mut Position, mv: Fill, undo: Undo) {
        pos.history.pop();
        pos.hash ^= if pos.mover == undo.mover { 0 } else { SECOND };
        pos.mover = undo.mover;
        match undo.effect {
            Effect::Taboo => self.toggle_taboo(pos, mv),
            Effect::Filled { points, reached } => self.empty(pos, mv, points, reached),
        }
        if let Some(witness) = undo.witness {
            Self::set_witness(pos, &witness);
        }
    }

    #[inline]
    fn hash(&self, pos: &Position) -> u64 {
        pos.hash
    }

    fn hash_after(&self, pos: &Position, mv: Fill) -> u64 {
        let mut next = pos.clone();
        self.play(&mut next, mv);
        next.hash
    }

    #[inline]
    fn index(&self, mv: Fill) -> usize {
        self.number(mv)
    }

    fn index_len(&self) -> usize {
        self.grid().cells() * self.grid().side()
    }

    fn settled(&self, pos: &Position) -> i32 {
        1000 * (pos.scores[pos.mover.index()] - pos.scores[pos.mover.other().index()])
    }

    /// Points first; then moves that complete nothing for the opponent, and among them those that are known to fill.
    fn order(&self, pos: &Position, mv: Fill) -> i32 {
        let cell = usize::from(mv.cell);
        let given = self.grid().regions_of(cell).into_iter().filter(|&r| pos.missing(self.grid(), r) == 2);
        let known = pos.square(cell).witness == mv.value;
        8 * self.points(pos, cell) - 4 * given.count() as i32 + i32::from(known)
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{self, Layout};
    use super::super::oracle::{Oracle, solved};
    use super::*;
    use crate::game::Rules;
    use crate::zobrist::SplitMix64;

    /// The same position for both.
    fn both(oracle: &Oracle, preset: Preset, seed: u64) -> (Sudoku, Position) {
        let values: Vec<String> = oracle.board.iter().flatten().map(usize::to_string).collect();
        let text = format!("{} {} {}", oracle.m, oracle.n, values.join(" "));
        let rules =
            Rules::new(vec![("preset", preset.name().into()), ("seed", format!("{seed:x}").as_str().into())]);
        let layout = Layout::parse(&text).unwrap();
        let game = Sudoku::new(Choice::new(&rules, Some(&layout.told())).unwrap());
        let pos = layout.position(&game).unwrap();
        (game, pos)
    }

    /// Plays a random game with both and compares everything that the rules say; gives the taboo moves and the skips.
    fn follow(m: usize, n: usize, preset: Preset, clues: usize, seed: u64) -> (usize, usize) {
        let mut random = SplitMix64::new(seed);
        let mut values = solved(m, n, &mut random);
        let mut cells: Vec<usize> = (0..values.len()).collect();
        while cells.len() > clues {
            values[cells.swap_remove(random.below(cells.len()))] = 0;
        }
        let (game, mut pos) = both(&Oracle::new(m, n, &values), preset, seed);
        let places = |cells: &Vec<u16>| cells.iter().map(|&cell| game.grid().place(cell.into())).collect();
        let mut oracle = Oracle::new(m, n, &values);
        if let Some([first, second]) = &game.choice().allowed {
            oracle = oracle.bound(places(first), places(second));
        }
        // A start whose mover cannot play is the other's.
        oracle.mover = pos.mover().index();
        let mut skips = 0;
        loop {
            let text = layout::write(&game, &pos);
            assert_eq!(pos.scores(), oracle.scores, "{text}");
            let mut moves = Vec::new();
            game.moves(&pos, &mut moves);
            let over = matches!(game.turn(&pos), Turn::Over(_));
            assert_eq!((over, moves.is_empty()), (oracle.is_over(), over), "{text}");
            if over {
                return (oracle.taboo.len(), skips);
            }
            assert_eq!(pos.mover().index(), oracle.mover, "{text}");
            let place = |mv: Fill| (game.grid().place(mv.cell.into()), usize::from(mv.value));
            assert_eq!(moves.iter().copied().map(place).collect::<Vec<_>>(), oracle.legal(), "{text}");
            let mv = moves[random.below(moves.len())];
            assert_eq!(game.is_taboo(&pos, mv), oracle.is_taboo(place(mv)), "{mv:?} {text}");
            let before = pos.clone();
            let undo = game.play(&mut pos, mv);
            let mut back = pos.clone();
            game.undo(&mut back, mv, undo);
            assert_eq!(back, before, "{mv:?} {text}");
            oracle.play(place(mv));
            skips += usize::from(oracle.mover == before.mover().index());
        }
    }

    #[test]
    fn games_agree_with_the_oracle() {
        for preset in Preset::ALL {
            let (mut taboo, mut skips) = (0, 0);
            for seed in 0..24 {
                let (m, n, clues) =
                    [(2, 2, 0), (2, 3, 6), (3, 2, 12), (2, 2, 5), (3, 3, 34)][seed as usize % 5];
                let (more_taboo, more_skips) = follow(m, n, preset, clues, seed);
                taboo += more_taboo;
                skips += more_skips;
            }
            assert!(taboo > 50, "{preset:?}: {taboo} taboo moves");
            assert_eq!(skips > 0, preset != Preset::Classic, "{preset:?}: {skips} skips");
        }
    }

    #[test]
    fn equal_futures_have_equal_hashes() {
        let open = |text: &str| {
            let layout = Layout::parse(text).unwrap();
            let game = Sudoku::new(Choice::new(&Rules::default(), Some(&layout.told())).unwrap());
            game.hash(&layout.position(&game).unwrap())
        };
        let text = "2 2 1 2 3 . 3 4 1 2 2 1 . 3 . 3 . 1";
        let all = [
            text.to_owned(),
            text.replace("1 2 3 .", "1 2 3 4"),
            format!("{text};mover 2"),
            format!("{text};taboo 2,2,2"),
            format!("{text};taboo 3,0,2"),
            format!("{text};allowed1 0,3;allowed2 2,2"),
            format!("{text};allowed1 2,2;allowed2 0,3"),
            format!("{text};allowed1 0,3;allowed2 2,2").replace("1 2 3", "1+ 2 3"),
            format!("{text};allowed1 0,3;allowed2 2,2").replace("1 2 3", "1- 2 3"),
        ];
        for (i, text) in all.iter().enumerate() {
            assert_eq!(open(text), open(&format!("{text};scores 3 4")), "points are not in the hash");
            assert!(all[..i].iter().all(|other| open(other) != open(text)), "{text}");
        }
    }
}
