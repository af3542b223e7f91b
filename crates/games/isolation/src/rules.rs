//! The rules of knight Isolation as a [`Game`]; texts, evaluations and players are elsewhere.
//!
//! Each side first puts its token on any open cell, then the sides jump in turn, a knight's move to an open
//! cell. A cell once occupied stays blocked. A mover without a move loses; there are no draws. The rules are
//! those of the referees for 7x7 (`isolation.Board`) and for 11x9 boards.

use std::sync::Arc;

use super::board::{Board, UNPLACED};
use plyd_core::bits::Bits;
use plyd_core::game::{Game, Outcome, Side, Turn};
use plyd_core::zobrist;

/// The ending of every game: the mover has no move.
pub(super) const STUCK: &str = "stuck";

/// Keys of a token of each side on each cell, [`UNPLACED`] included.
static TOKENS: [[u64; 256]; 2] = [zobrist::keys(0x6973_6f6c_6131), zobrist::keys(0x6973_6f6c_6132)];
/// Keys of cells that are not open.
static BLOCKED: [u64; 256] = zobrist::keys(0x6973_6f6c_6278);
/// The key of the second player's turn.
const SECOND: u64 = zobrist::mix(0x6973_6f6c_6d76);

/// Knight Isolation on a board of a fixed size, whose cells fit a `B`.
///
/// ```
/// use plyd_core::game::{Game, Notation};
/// use plyd_isolation::rules::Isolation;
///
/// let game = Isolation::<u64>::new(7, 7);
/// let mut pos = game.start();
/// let mut moves = Vec::new();
/// game.moves(&pos, &mut moves);
/// assert_eq!((moves.len(), game.move_text(&pos, moves[0])), (49, "a1".to_owned()));
/// let undo = game.play(&mut pos, moves[0]);
/// game.undo(&mut pos, moves[0], undo);
/// assert_eq!(game.hash(&pos), game.hash(&game.start()));
/// ```
#[derive(Clone, Debug)]
pub struct Isolation<B: Bits> {
    board: Arc<Board<B>>,
}

/// A cell to put a token on: a move. Its number is `row * width + column`, from the top left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target(pub u8);

/// A state of the game: the open cells, the tokens and the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position<B> {
    open: B,
    tokens: Tokens,
    side: Side,
    hash: u64,
}

/// The cells of both sides' tokens, eight bits each: in one number, which need not lie in memory to find one
/// of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Tokens(u16);

impl Tokens {
    #[inline]
    fn new([first, second]: [u8; 2]) -> Self {
        Self(u16::from_le_bytes([first, second]))
    }

    #[inline]
    fn get(self, side: Side) -> u8 {
        (self.0 >> (8 * side.index())) as u8
    }

    #[inline]
    fn set(&mut self, side: Side, cell: u8) {
        let shift = 8 * side.index();
        self.0 = self.0 & !(0xff << shift) | u16::from(cell) << shift;
    }
}

/// Where the token that moved last stood before.
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    from: u8,
}

impl<B: Bits> Position<B> {
    /// The cells that were never occupied.
    #[inline]
    #[must_use]
    pub fn open(&self) -> B {
        self.open
    }

    /// The cell of the side's token, or [`UNPLACED`].
    #[inline]
    #[must_use]
    pub fn token(&self, side: Side) -> u8 {
        self.tokens.get(side)
    }

    /// The side to move.
    #[inline]
    #[must_use]
    pub fn mover(&self) -> Side {
        self.side
    }
}

impl<B: Bits> Isolation<B> {
    /// The game on a board of that size: sides of 3 to 15 cells, and no more cells than a `B` holds.
    #[must_use]
    pub fn new(width: usize, height: usize) -> Self {
        Self { board: Arc::new(Board::new(width, height)) }
    }

    /// The board.
    #[inline]
    #[must_use]
    pub fn board(&self) -> &Board<B> {
        &self.board
    }

    /// The position before both placements, all cells open.
    #[must_use]
    pub fn start(&self) -> Position<B> {
        self.position(self.board.full(), [UNPLACED; 2], Side::First)
    }

    /// A position from its parts; the tokens of both sides stand on cells that are not open, or are
    /// [`UNPLACED`].
    #[must_use]
    pub fn position(&self, open: B, tokens: [u8; 2], side: Side) -> Position<B> {
        let size = zobrist::mix((self.board.width() * 16 + self.board.height()) as u64);
        let blocked =
            (self.board.full() & !open).cells().fold(size, |hash, cell| hash ^ BLOCKED[cell as usize]);
        let hash = blocked
            ^ TOKENS[0][tokens[0] as usize]
            ^ TOKENS[1][tokens[1] as usize]
            ^ if side == Side::Second { SECOND } else { 0 };
        Position { open, tokens: Tokens::new(tokens), side, hash }
    }

    /// The open cells that the side's token could go to if it were to move.
    #[inline]
    #[must_use]
    pub fn targets(&self, pos: &Position<B>, side: Side) -> B {
        self.board.reach(pos.token(side)) & pos.open
    }
}

/// What changes in the hash when the side's token goes from one cell to another, or back.
#[inline]
fn change(side: Side, from: u8, to: u8) -> u64 {
    let tokens = &TOKENS[side.index()];
    tokens[from as usize] ^ tokens[to as usize] ^ BLOCKED[to as usize] ^ SECOND
}

impl<B: Bits> PartialEq for Isolation<B> {
    fn eq(&self, other: &Self) -> bool {
        (self.board.width(), self.board.height()) == (other.board.width(), other.board.height())
    }
}

impl<B: Bits> Game for Isolation<B> {
    type Position = Position<B>;
    type Move = Target;
    type Undo = Undo;
    const TABLE_DEPTH: i32 = 6;

    #[inline]
    fn side(&self, pos: &Position<B>) -> Side {
        pos.side
    }

    #[inline]
    fn turn(&self, pos: &Position<B>) -> Turn {
        // The cells are counted, because for a test whether there is none the compiler reads both colours at
        // once, which would wait for the two writes of the move before.
        let is_stuck = matches!(self.targets(pos, pos.side).len(), 0);
        if is_stuck {
            Turn::Over(Outcome { winner: Some(pos.side.other()), by: STUCK, scores: None })
        } else {
            Turn::Move
        }
    }

    #[inline]
    fn moves(&self, pos: &Position<B>, out: &mut Vec<Target>) {
        self.targets(pos, pos.side).each(|cell| out.push(Target(cell)));
    }

    #[inline]
    fn is_legal(&self, pos: &Position<B>, mv: Target) -> bool {
        usize::from(mv.0) < self.board.cells() && self.targets(pos, pos.side).has(mv.0)
    }

    #[inline]
    fn play(&self, pos: &mut Position<B>, mv: Target) -> Undo {
        let from = pos.token(pos.side);
        pos.tokens.set(pos.side, mv.0);
        pos.open ^= B::single(mv.0);
        pos.hash ^= change(pos.side, from, mv.0);
        pos.side = pos.side.other();
        Undo { from }
    }

    #[inline]
    fn undo(&self, pos: &mut Position<B>, mv: Target, undo: Undo) {
        pos.side = pos.side.other();
        pos.tokens.set(pos.side, undo.from);
        pos.open ^= B::single(mv.0);
        pos.hash ^= change(pos.side, undo.from, mv.0);
    }

    #[inline]
    fn hash(&self, pos: &Position<B>) -> u64 {
        pos.hash
    }

    #[inline]
    fn hash_after(&self, pos: &Position<B>, mv: Target) -> u64 {
        pos.hash ^ change(pos.side, pos.token(pos.side), mv.0)
    }

    #[inline]
    fn index(&self, mv: Target) -> usize {
        usize::from(mv.0)
    }

    #[inline]
    fn index_len(&self) -> usize {
        self.board.cells()
    }

    /// Freedom first: the open cells that the target reaches, plus two if the opponent could go to the
    /// target.
    #[inline]
    fn order(&self, pos: &Position<B>, mv: Target) -> i32 {
        let onward = (self.board.reach(mv.0) & pos.open).len() as i32;
        let taken = self.targets(pos, pos.side.other()).has(mv.0);
        onward + 2 * i32::from(taken)
    }

    fn images(&self, pos: &Position<B>) -> Vec<Position<B>> {
        let board = &self.board;
        let images = (0..board.symmetries()).map(|symmetry| {
            let tokens = Side::ALL.map(|side| board.image(symmetry, pos.token(side)));
            self.position(board.image_of(symmetry, pos.open), tokens, pos.side)
        });
        images.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::board::{MAX_CELLS, MAX_SIDE, MIN_SIDE};
    use super::super::notation::Layout;
    use super::super::oracle::{Oracle, random_games};
    use super::*;
    use plyd_core::bits::Colours;
    use plyd_core::game::Notation;

    /// Leaves at exactly `depth` plies.
    fn perft<B: Bits>(game: &Isolation<B>, pos: &mut Position<B>, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let mut moves = Vec::new();
        game.moves(pos, &mut moves);
        let count = |mv| {
            let undo = game.play(pos, mv);
            let count = perft(game, pos, depth - 1);
            game.undo(pos, mv, undo);
            count
        };
        moves.into_iter().map(count).sum()
    }

    fn perft_line<B: Bits>(game: &Isolation<B>, start: Option<&Layout>, counts: &str) {
        let mut pos = start.map_or_else(|| game.start(), |start| start.position(game));
        for (depth, count) in (1..).zip(counts.split_whitespace()) {
            assert_eq!(perft(game, &mut pos, depth).to_string(), count, "depth {depth} of {counts}");
        }
    }

    #[test]
    fn perft_counts_stand() {
        for line in include_str!("perft.txt").lines() {
            let [rules, position, counts] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            let start =
                Some(position).filter(|text| !text.is_empty()).map(|text| Layout::parse(text).unwrap());
            if rules == "preset=11x9" {
                perft_line(&Isolation::<u128>::new(11, 9), start.as_ref(), counts);
                perft_line(&Isolation::<Colours<u64>>::new(11, 9), start.as_ref(), counts);
            } else {
                perft_line(&Isolation::<u64>::new(7, 7), start.as_ref(), counts);
                perft_line(&Isolation::<u128>::new(7, 7), start.as_ref(), counts);
            }
        }
    }

    /// Follows the oracle's game and compares everything that the rules say.
    fn follow<B: Bits>(width: usize, height: usize) {
        let game = Isolation::<B>::new(width, height);
        let mut pos = game.start();
        random_games(width as i32, height as i32, 2, |ply, oracle| {
            if ply == 0 {
                pos = game.start();
            } else {
                let (row, column) = oracle.tokens[1 - oracle.active].unwrap();
                let mv = Target((row * width as i32 + column) as u8);
                let (before, hash) = (pos, game.hash_after(&pos, mv));
                let undo = game.play(&mut pos, mv);
                assert_eq!(game.hash(&pos), hash);
                let mut back = pos;
                game.undo(&mut back, mv, undo);
                assert_eq!(back, before);
            }
            assert_eq!(game.position_text(&pos), oracle.text());
            assert_eq!(
                pos,
                game.position(pos.open(), Side::ALL.map(|side| pos.token(side)), pos.mover()),
                "hash of {}",
                oracle.text()
            );
            let mut moves = Vec::new();
            game.moves(&pos, &mut moves);
            let cell = |&(row, column): &(i32, i32)| Target((row * width as i32 + column) as u8);
            let expected: Vec<Target> = oracle.legal_moves(oracle.active).iter().map(cell).collect();
            assert_eq!(moves, expected, "{}", oracle.text());
            for cell in 0..=u8::MAX {
                assert_eq!(game.is_legal(&pos, Target(cell)), moves.contains(&Target(cell)), "{cell}");
            }
            let winner = Some([Side::Second, Side::First][oracle.active]);
            let over = Turn::Over(Outcome { winner, by: STUCK, scores: None });
            assert_eq!(game.turn(&pos), if moves.is_empty() { over } else { Turn::Move });
        });
    }

    #[test]
    fn games_on_every_board_agree_with_the_oracle() {
        for width in MIN_SIDE..=MAX_SIDE {
            for height in MIN_SIDE..=MAX_SIDE.min(MAX_CELLS / width) {
                follow::<u128>(width, height);
                if width % 2 == 1 {
                    follow::<Colours<u64>>(width, height);
                }
                if width * height <= 64 {
                    follow::<u64>(width, height);
                }
            }
        }
    }

    #[test]
    fn different_positions_have_different_hashes() {
        let mut seen: HashMap<u64, String> = HashMap::new();
        for (width, height) in [(3, 4), (4, 3), (5, 5), (11, 9)] {
            let game = Isolation::<u128>::new(width, height);
            random_games(width as i32, height as i32, 200, |_, oracle| {
                let text = oracle.text();
                let pos = Layout::parse(&text).unwrap().position(&game);
                assert_eq!(seen.entry(game.hash(&pos)).or_insert_with(|| text.clone()), &text);
                let other =
                    game.position(pos.open(), Side::ALL.map(|side| pos.token(side)), pos.mover().other());
                assert_ne!(game.hash(&other), game.hash(&pos));
            });
        }
    }

    #[test]
    fn images_play_alike() {
        for (width, height, count) in [(7, 7, 8), (11, 9, 4)] {
            let game = Isolation::<u128>::new(width, height);
            random_games(width as i32, height as i32, 5, |ply, oracle| {
                let mut pos = Layout::parse(&oracle.text()).unwrap().position(&game);
                let mut images = game.images(&pos);
                assert_eq!(images.len(), count);
                assert_eq!(images[0], pos, "the first image is the position itself");
                let leaves = perft(&game, &mut pos, if ply < 2 { 1 } else { 3 });
                for image in &mut images {
                    assert_eq!(perft(&game, image, if ply < 2 { 1 } else { 3 }), leaves, "{}", oracle.text());
                }
                images.sort_by_key(|image| game.position_text(image));
                images.dedup();
                assert!(ply < 3 || images.len() > 1, "{}", oracle.text());
            });
        }
    }

    /// Whether the mover wins, by trying every line once.
    fn wins<B: Bits>(game: &Isolation<B>, pos: &mut Position<B>, known: &mut HashMap<u64, bool>) -> bool {
        if let Some(&wins) = known.get(&game.hash(pos)) {
            return wins;
        }
        let any = game.targets(pos, pos.mover()).cells().any(|cell| {
            let undo = game.play(pos, Target(cell));
            let wins = !self::wins(game, pos, known);
            game.undo(pos, Target(cell), undo);
            wins
        });
        known.insert(game.hash(pos), any);
        any
    }

    #[test]
    fn the_second_player_wins_small_boards() {
        for (width, height) in [(3, 3), (3, 4), (4, 3), (4, 4), (3, 5)] {
            let game = Isolation::<u64>::new(width, height);
            assert!(!wins(&game, &mut game.start(), &mut HashMap::new()), "{width}x{height}");
        }
        assert!(!Oracle::new(3, 3).solve().0);
    }

    /// The openings that the first player wins, as cells of both tokens: with both tokens on one colour, and
    /// on different colours.
    fn won_openings(width: u8, height: u8) -> [Vec<(u8, u8)>; 2] {
        let game = Isolation::<u64>::new(width.into(), height.into());
        let (mut known, mut won) = (HashMap::new(), [Vec::new(), Vec::new()]);
        let colour = |cell: u8| (cell % width + cell / width) % 2;
        for first in 0..width * height {
            for second in (0..width * height).filter(|&second| second != first) {
                let mut pos = game.start();
                game.play(&mut pos, Target(first));
                game.play(&mut pos, Target(second));
                if wins(&game, &mut pos, &mut known) {
                    won[usize::from(colour(first) != colour(second))].push((first, second));
                }
            }
        }
        won
    }

    #[test]
    fn the_colours_of_the_tokens_decide_openings() {
        // Of 180 openings with both tokens on one colour 20 are lost, and all with different colours.
        let [same, different] = won_openings(4, 5);
        assert_eq!((same.len(), different.len()), (160, 0));
        // All 288 openings on one colour are won; of 312 on different ones only those a knight's move from
        // the centre.
        let [same, different] = won_openings(5, 5);
        let centre = Isolation::<u64>::new(5, 5).board().reach(12).cells().map(|second| (12, second));
        assert_eq!((same.len(), different), (288, centre.collect()));
    }
}
