//! The rules of Colosseum Survival as a [`Game`]; texts, start positions, evaluations and players are
//! elsewhere.
//!
//! A player walks some steps and puts a wall on an open side of the cell that it then stands on. Once the
//! players are apart, each scores the cells that it can still reach, and the larger zone wins. The rules are
//! those of the referee of COMP 424 (McGill University, Fall 2023).

use super::ahead::Ahead;
use super::board::{Board, Open, Side as CellSide, Wall};
use super::position::{PLAYERS, Position, SECOND, Walk, wall_key};
use super::setup::Setup;
use plyd_core::bits::Bits;
use plyd_core::flood::{Flood, Step};
use plyd_core::game::{Game, Outcome, Side, Turn};
use plyd_core::zobrist;

/// The ending of every game: the players are apart.
pub(super) const APART: &str = "apart";

/// Colosseum Survival on a board of a fixed size, whose cells fit a `B`.
///
/// ```
/// use plyd_core::game::{Game, Rules, Turn};
/// use plyd_colosseum::rules::Colosseum;
/// use plyd_colosseum::setup::Setup;
///
/// let small = Setup::choose(&Rules::default(), Some(6)).unwrap();
/// let game = Colosseum::<u64>::new(small);
/// let pos = game.start().unwrap();
/// assert_eq!(game.turn(&pos), Turn::Move);
/// ```
#[derive(Clone, Debug)]
pub struct Colosseum<B> {
    board: Board<B>,
    setup: Setup,
}

impl<B: Bits> Colosseum<B> {
    /// The game as it was set up; the cells must fit a `B`.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self { board: Board::new(setup.size), setup }
    }

    /// The board.
    #[inline]
    #[must_use]
    pub(super) fn board(&self) -> &Board<B> {
        &self.board
    }

    /// What the rules' options say.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// A position from its parts; the players stand on different cells.
    #[must_use]
    pub(super) fn position(&self, open: Open<B>, players: [u8; 2], side: Side) -> Position<B> {
        let mut hash = zobrist::mix(self.board.size() as u64);
        for wall in self.board.walls().filter(|&wall| !open.has(wall)) {
            hash ^= wall_key(wall);
        }
        hash ^= PLAYERS[0][usize::from(players[0])] ^ PLAYERS[1][usize::from(players[1])];
        if side == Side::Second {
            hash ^= SECOND;
        }
        let mut pos = Position { open, hash, players, zones: [0; 2], side };
        self.part(&mut pos);
        pos
    }

    /// The cells to which the side's player could walk, its own among them.
    #[inline]
    #[must_use]
    pub(super) fn walkable(&self, pos: &Position<B>, side: Side) -> B {
        let paths = self.board.paths(&pos.open);
        let others = !B::single(pos.player(side.other()));
        let mut cells = B::single(pos.player(side));
        for _ in 0..self.board.steps() {
            cells |= paths.step(cells) & others;
        }
        cells
    }

    /// The cells that `own` reaches first less those that `opp` reaches first, both walking a step at a time;
    /// cells that both reach in the same step count for neither.
    #[inline]
    #[must_use]
    pub(super) fn lead(&self, open: &Open<B>, own: u8, opp: u8) -> i32 {
        let (own, opp) = (B::single(own), B::single(opp));
        // In one word the flood of the evaluation is quicker.
        if B::COLOURS == 1 {
            let [own, opp] = Ahead::new(&self.board.paths(open), own, opp).first;
            return own.len() as i32 - opp.len() as i32;
        }
        let flood = Flood::new(&self.board.paths(open), self.board.full(), own, opp);
        // The cells that both reached are in both sets.
        flood.first.len() as i32 - flood.second.len() as i32
    }

    /// The place of the wall of a legal move.
    #[inline]
    fn wall(&self, mv: Walk) -> Wall {
        self.board.wall(mv.to, mv.side).expect("a legal move walls an open side, which has a cell beyond it")
    }

    /// Counts the zones if the players are apart. Not inlined: most walls close nothing.
    #[inline(never)]
    fn part(&self, pos: &mut Position<B>) {
        let [first, second] = pos.players;
        if let Some(zone) = self.board.zone_without(&pos.open, first, second) {
            pos.zones = [zone.len() as u8, self.board.zone(&pos.open, second).len() as u8];
        }
    }

    /// What a legal move changes in the hash.
    #[inline]
    fn change(&self, pos: &Position<B>, mv: Walk) -> u64 {
        let keys = &PLAYERS[pos.side.index()];
        let from = pos.player(pos.side);
        keys[usize::from(from)] ^ keys[usize::from(mv.to)] ^ wall_key(self.wall(mv)) ^ SECOND
    }
}

impl<B: Bits> PartialEq for Colosseum<B> {
    /// The way the start was drawn does not make a different game.
    fn eq(&self, other: &Self) -> bool {
        self.board == other.board
    }
}

impl<B: Bits> Game for Colosseum<B> {
    type Position = Position<B>;
    type Move = Walk;
    type Undo = Position<B>;
    const SCORED: bool = true;
    const WIN_BONUS: i32 = 2_000_000;

    #[inline]
    fn side(&self, pos: &Position<B>) -> Side {
        pos.side
    }

    #[inline]
    fn turn(&self, pos: &Position<B>) -> Turn {
        let Some(scores) = pos.zones() else { return Turn::Move };
        let winner = match scores[0].cmp(&scores[1]) {
            std::cmp::Ordering::Greater => Some(Side::First),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Less => Some(Side::Second),
        };
        Turn::Over(Outcome { winner, by: APART, scores: Some(scores) })
    }

    /// Which sides are open is unpredictable, so each move is written, and overwritten by the next one if its
    /// side is closed: there is no branch to mispredict.
    #[inline]
    fn moves(&self, pos: &Position<B>, out: &mut Vec<Walk>) {
        let reach = self.walkable(pos, pos.side);
        let sides = self.board.sides(&pos.open).map(|open| open & reach);
        // The last move is followed by one that is not counted.
        let (first, most) = (out.len(), sides.len() * reach.len() as usize + 1);
        out.resize(first + most, Walk { to: 0, side: CellSide::Up });
        let list = &mut out[first..];
        let mut count = 0;
        for index in 0..B::WORDS {
            let mut places = (0..B::COLOURS).fold(0, |all, colour| all | reach.word(index, colour));
            while places != 0 {
                let bit = places.trailing_zeros();
                for colour in 0..B::COLOURS {
                    let to = ((64 * index + bit as usize) * B::COLOURS + colour) as u8;
                    for (side, open) in CellSide::ALL.into_iter().zip(sides) {
                        list[count] = Walk { to, side };
                        count += (open.word(index, colour) >> bit & 1) as usize;
                    }
                }
                places &= places - 1;
            }
        }
        out.truncate(first + count);
    }

    #[inline]
    fn is_legal(&self, pos: &Position<B>, mv: Walk) -> bool {
        usize::from(mv.to) < self.board.numbers()
            && self.board.wall(mv.to, mv.side).is_some_and(|wall| pos.open.has(wall))
            && self.walkable(pos, pos.side).has(mv.to)
    }

    /// Inlined, so that no search has to write down what it does not read: the position before, and at a leaf
    /// also the hash.
    #[inline(always)]
    fn play(&self, pos: &mut Position<B>, mv: Walk) -> Position<B> {
        let before = *pos;
        let wall = self.wall(mv);
        let may_close = self.board.may_close(&pos.open, wall);
        pos.hash ^= self.change(pos, mv);
        pos.players[pos.side.index()] = mv.to;
        pos.open.toggle(wall);
        if may_close {
            self.part(pos);
        }
        pos.side = pos.side.other();
        before
    }

    #[inline]
    fn undo(&self, pos: &mut Position<B>, _mv: Walk, before: Position<B>) {
        *pos = before;
    }

    #[inline]
    fn hash(&self, pos: &Position<B>) -> u64 {
        pos.hash
    }

    #[inline]
    fn hash_after(&self, pos: &Position<B>, mv: Walk) -> u64 {
        pos.hash ^ self.change(pos, mv)
    }

    #[inline]
    fn index(&self, mv: Walk) -> usize {
        usize::from(mv.to) * CellSide::ALL.len() + mv.side as usize
    }

    #[inline]
    fn index_len(&self) -> usize {
        self.board.numbers() * CellSide::ALL.len()
    }

    /// The lead after the move: there are so many moves that a good order is worth an evaluation of each.
    #[inline]
    fn order(&self, pos: &Position<B>, mv: Walk) -> i32 {
        let mut open = pos.open;
        open.toggle(self.wall(mv));
        self.lead(&open, mv.to, pos.player(pos.side.other()))
    }

    fn images(&self, pos: &Position<B>) -> Vec<Position<B>> {
        let board = &self.board;
        let image = |symmetry| {
            let mut open = board.bare();
            for wall in board.walls().filter(|&wall| !pos.open.has(wall)) {
                open.toggle(board.image_of_wall(symmetry, wall));
            }
            self.position(open, pos.players.map(|cell| board.image(symmetry, cell)), pos.side)
        };
        (0..8).map(image).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::board::{MAX_SIZE, MIN_SIZE};
    use super::super::notation::Layout;
    use super::super::oracle::{Oracle, random_games};
    use super::super::setup::StartWalls;
    use super::*;
    use plyd_core::bits::Colours;
    use plyd_core::engine::conformance::is_whole;
    use plyd_core::game::Notation;

    fn game<B: Bits>(size: usize) -> Colosseum<B> {
        Colosseum::new(Setup { size, start_walls: StartWalls::Fall2023, seed: 0 })
    }

    fn read(text: &str) -> (Colosseum<Colours<u128>>, Position<Colours<u128>>) {
        // Only size 12 may use three words, so smaller boards use their own type.
        let layout = Layout::parse(text).unwrap();
        assert_eq!(layout.size, MAX_SIZE);
        let game = game(MAX_SIZE);
        let pos = layout.position(&game);
        (game, pos)
    }

    fn small(text: &str) -> (Colosseum<u64>, Position<u64>) {
        let layout = Layout::parse(text).unwrap();
        let game = game(layout.size);
        let pos = layout.position(&game);
        (game, pos)
    }

    fn legal<B: Bits>(game: &Colosseum<B>, pos: &Position<B>) -> Vec<String> {
        let mut moves = Vec::new();
        game.moves(pos, &mut moves);
        moves.into_iter().map(|mv| game.move_text(pos, mv)).collect()
    }

    fn after(text: &str, moves: &str) -> (Colosseum<u64>, Position<u64>) {
        let (game, mut pos) = small(text);
        for mv in moves.split_whitespace() {
            let mv = game.parse_move(&pos, mv).unwrap();
            assert!(game.is_legal(&pos, mv));
            game.play(&mut pos, mv);
        }
        (game, pos)
    }

    fn outcome(text: &str, moves: &str) -> Option<(Option<Side>, [i32; 2])> {
        let (game, pos) = after(text, moves);
        match game.turn(&pos) {
            Turn::Over(outcome) => Some((outcome.winner, outcome.scores.unwrap())),
            _ => None,
        }
    }

    /// Leaves at exactly `depth` plies or at the end of the game before.
    fn perft<B: Bits>(game: &Colosseum<B>, pos: &mut Position<B>, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        if game.turn(pos) != Turn::Move {
            return 0;
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

    #[test]
    fn both_words_count_alike() {
        for line in include_str!("perft.txt").lines().take(2) {
            let [_, position, counts] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            let layout = Layout::parse(position).unwrap();
            let (narrow, wide) = (game::<u64>(layout.size), game::<u128>(layout.size));
            let (mut pos, mut wide_pos) = (layout.position(&narrow), layout.position(&wide));
            for (depth, count) in (1..).zip(counts.split_whitespace()) {
                assert_eq!(perft(&narrow, &mut pos, depth).to_string(), count);
                assert_eq!(perft(&wide, &mut wide_pos, depth).to_string(), count);
            }
        }
    }

    /// Follows the oracle's games and compares everything that the rules say.
    fn follow<B: Bits>(size: usize, games: u64) {
        let game = game::<B>(size);
        let mut before: Option<(Oracle, Position<B>)> = None;
        random_games(size as i32, games, |ply, oracle| {
            let mut pos = Layout::parse(&oracle.text()).unwrap().position(&game);
            if let Some((last, mut played)) = before.take().filter(|_| ply > 0) {
                let mv = last
                    .legal_moves()
                    .into_iter()
                    .find(|&mv| last.after(mv).text() == oracle.text())
                    .map(|((row, column), side)| Walk {
                        to: game.board().cell_at(row as usize, column as usize),
                        side: CellSide::ALL[side],
                    })
                    .unwrap();
                let (hash, start) = (game.hash_after(&played, mv), played);
                let undo = game.play(&mut played, mv);
                assert_eq!((played, game.hash(&played)), (pos, hash), "{}", oracle.text());
                game.undo(&mut played, mv, undo);
                assert_eq!(played, start);
            }
            assert_eq!(game.position_text(&pos), oracle.text());
            assert_eq!(pos.zones(), oracle.scores(), "{}", oracle.text());
            if oracle.scores().is_none() {
                let mut moves = Vec::new();
                game.moves(&pos, &mut moves);
                let mv = |((row, column), side): ((i32, i32), usize)| Walk {
                    to: game.board().cell_at(row as usize, column as usize),
                    side: CellSide::ALL[side],
                };
                let expected: Vec<Walk> = oracle.legal_moves().into_iter().map(mv).collect();
                assert_eq!(moves, expected, "{}", oracle.text());
                for to in 0..=u8::MAX {
                    for side in CellSide::ALL {
                        let mv = Walk { to, side };
                        assert_eq!(game.is_legal(&pos, mv), moves.contains(&mv), "{mv:?}");
                    }
                }
                // Whoever moves next.
                pos.side = pos.side.other();
                assert!(!legal(&game, &pos).is_empty());
                pos.side = pos.side.other();
            }
            before = Some((oracle.clone(), pos));
        });
    }

    #[test]
    fn games_of_every_size_agree_with_the_oracle() {
        let games = if is_whole() { 6 } else { 2 };
        for size in MIN_SIZE..=MAX_SIZE {
            match size {
                ..=8 => {
                    follow::<u64>(size, games);
                    follow::<u128>(size, 1);
                }
                9..=11 => follow::<Colours<u64>>(size, 2),
                _ => follow::<Colours<u128>>(size, 2),
            }
        }
    }

    #[test]
    fn players_walk_half_the_size_rounded_up() {
        for (text, farthest) in [("5 0,0 4,4 -", "03"), ("6 0,0 5,5 -", "03"), ("7 0,0 6,6 -", "04")] {
            let (game, pos) = small(text);
            let moves = legal(&game, &pos);
            assert!(moves.contains(&format!("{farthest}d")), "{text}");
            assert!(moves.iter().all(|mv| &mv[..2] <= farthest || !mv.starts_with('0')), "{text}");
        }
        let (game, pos) = read("12 0,0 11,11 -");
        assert!(legal(&game, &pos).contains(&"06d".to_owned()));
        assert!(!legal(&game, &pos).contains(&"07d".to_owned()));
    }

    #[test]
    fn nobody_walks_through_the_opponent_or_onto_it() {
        // A corridor along the upper edge, in which the opponent stands.
        let (game, pos) = small("5 0,0 0,1 00D,01D,02D 1");
        assert_eq!(legal(&game, &pos), ["00r"]);
        // The same with the opponent elsewhere.
        let (game, pos) = small("5 0,0 4,4 00D,01D,02D 1");
        assert_eq!(legal(&game, &pos), ["00r", "01r", "01l", "02r", "02l", "03r", "03d", "03l"]);
    }

    #[test]
    fn staying_put_is_legal_and_the_wall_mandatory() {
        let (game, pos) = small("6 2,2 4,4 -");
        let moves = legal(&game, &pos);
        for side in ["22u", "22r", "22d", "22l"] {
            assert!(moves.contains(&side.to_owned()));
        }
        for mv in &moves {
            let (_, next) = after("6 2,2 4,4 -", mv);
            let walls = |open: &Open<u64>| 60 - open.right.len() - open.down.len();
            assert_eq!((walls(pos.open()), walls(next.open())), (0, 1), "{mv}");
        }
    }

    #[test]
    fn a_wall_belongs_to_both_its_cells() {
        for (own, theirs) in [("22r", "23l"), ("22d", "32u")] {
            // After a wall elsewhere the opponent could put its own there, seen from the other cell.
            let [(game, open), (_, walled)] = ["22u", own].map(|mv| after("6 2,2 3,3 -", mv));
            let mv = game.parse_move(&open, theirs).unwrap();
            assert!(game.is_legal(&open, mv) && !game.is_legal(&walled, mv), "{theirs}");
        }
    }

    #[test]
    fn one_may_wall_the_side_that_faces_the_opponent_and_box_oneself_in() {
        assert_eq!(outcome("6 2,2 2,3 -", "22r"), None);
        // Three walls around (0,0) and its neighbour's: the fourth boxes the mover in.
        assert_eq!(outcome("6 0,0 5,5 00R", "00d"), Some((Some(Side::Second), [1, 35])));
        // The opponent is boxed in from outside.
        assert_eq!(outcome("6 1,0 0,0 00R", "10u"), Some((Some(Side::First), [35, 1])));
    }

    #[test]
    fn the_larger_zone_wins_equal_ones_tie_and_pockets_are_nobodys() {
        let halves = "6 2,0 3,0 20D,21D,22D,23D,24D";
        assert_eq!(outcome(halves, ""), None);
        let (_, pos) = after("6 2,5 3,0 20D,21D,22D,23D,24D", "25d");
        assert_eq!(pos.zones(), Some([18, 18]));
        assert_eq!(outcome("6 2,5 3,0 20D,21D,22D,23D,24D", "25d"), Some((None, [18, 18])));
        // A corner that neither can reach is in no zone.
        let pocket = "6 2,5 3,0 20D,21D,22D,23D,24D,05D,04R";
        assert_eq!(outcome(pocket, "25d"), Some((Some(Side::Second), [17, 18])));
        // Players do not bar connections: cells behind the opponent are connected.
        assert_eq!(outcome("6 0,0 0,1 00D,01D,02D", "00r"), Some((Some(Side::Second), [1, 35])));
        assert_eq!(outcome("6 0,0 0,1 00D,01D,02D 2", "03d"), None);
    }

    #[test]
    fn a_start_may_be_over() {
        assert_eq!(outcome("6 0,0 5,5 00R,00D", ""), Some((Some(Side::Second), [1, 35])));
    }

    #[test]
    fn different_positions_have_different_hashes() {
        let mut seen: HashMap<u64, String> = HashMap::new();
        for size in [5, 6, 8] {
            let game = game::<u64>(size);
            random_games(size as i32, 100, |_, oracle| {
                let text = oracle.text();
                let pos = Layout::parse(&text).unwrap().position(&game);
                assert_eq!(seen.entry(game.hash(&pos)).or_insert_with(|| text.clone()), &text);
            });
        }
    }

    #[test]
    fn images_play_alike() {
        let game = game::<u64>(6);
        random_games(6, 3, |_, oracle| {
            let mut pos = Layout::parse(&oracle.text()).unwrap().position(&game);
            let mut images = game.images(&pos);
            assert_eq!((images.len(), images[0]), (8, pos));
            let leaves = perft(&game, &mut pos, 2);
            assert!(images.iter_mut().all(|image| perft(&game, image, 2) == leaves), "{}", oracle.text());
        });
    }
}
