//! Who wins: a depth-first search for won and lost positions, exact and without evaluations.
//!
//! Moves are tried in the order of the race for cells: a cell counts if it has two exits or more, and twice
//! from four on, or three times on boards of more than 64 cells. One flood per child gives its order, its key
//! (cells that nobody can reach are left out) and whether the tokens are apart; if they are, the longer path
//! wins. The best-known alternatives, proof-number search and trying first the moves that leave the opponent
//! least freedom, need several times the nodes (measured).

use super::board::{Jumps, UNPLACED, by_width};
use super::decided::Decided;
use super::paths::{self, Paths};
use super::rules::{Isolation, Position, Target};
use plyd_core::bits::{Bits, Part};
use plyd_core::flood::{Flood, reachable};
use plyd_core::game::{Game, Side};
use plyd_core::search::thread::SearchThread;

/// Positions with fewer cells in reach are not stored in the table.
const TABLE_CELLS: u32 = 12;

/// The solver of one board, with what it decided so far.
///
/// ```
/// use plyd_core::game::Game;
/// use plyd_core::search::Control;
/// use plyd_core::search::thread::SearchThread;
/// use plyd_isolation::notation::Layout;
/// use plyd_isolation::rules::Isolation;
/// use plyd_isolation::solver::Solver;
///
/// let game = Isolation::<u64>::new(5, 5);
/// let pos = Layout::parse("1..../...../...../...../....2 1").unwrap().position(&game);
/// let control = Control::default();
/// let mut solver = Solver::new(&game);
/// let mut thread = SearchThread::alone(&control);
/// // What follows a winning move is lost for the opponent.
/// if let Some(Some(mv)) = solver.winning_move(&game, &pos, &mut thread) {
///     let mut after = pos;
///     game.play(&mut after, mv);
///     assert_eq!(solver.wins(&game, &after, &mut thread), Some(false));
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Solver<B: Bits> {
    decided: Decided,
    paths: Paths<B>,
    children: Vec<Child<B>>,
}

/// A position after a move that is not decided at sight. Small, because most children are never searched.
#[derive(Clone, Copy, Debug)]
struct Child<B> {
    /// The cells that a token can still reach.
    open: B,
    /// Smaller is tried first.
    order: i32,
    /// Where the token that moved stands.
    cell: u8,
    apart: bool,
}

impl<B: Bits> Solver<B> {
    /// A solver for a game's board that knows nothing yet.
    #[must_use]
    pub fn new(game: &Isolation<B>) -> Self {
        Self {
            decided: Decided::new(game.board().cells()),
            paths: Paths::new(),
            children: Vec::with_capacity(512),
        }
    }

    /// Whether the mover wins; none if the thread ended first.
    pub fn wins(
        &mut self,
        game: &Isolation<B>,
        pos: &Position<B>,
        thread: &mut SearchThread<'_>,
    ) -> Option<bool> {
        if let Some(won) = self.remembers(game, pos) {
            return Some(won);
        }
        let board = game.board();
        let [own, opp] = [pos.mover(), pos.mover().other()].map(|side| pos.token(side));
        let [mine, theirs] = [pos.mover(), pos.mover().other()].map(|side| game.targets(pos, side));
        let flood = Flood::new(board, pos.open(), mine, theirs);
        self.children.clear();
        by_width!(B, board, jumps => {
            let mut dive = Dive { board: jumps, solver: self, thread };
            // If the mover moves on alone it must have the longer path.
            if flood.is_apart(board) {
                dive.outlasts(flood.first, own, flood.second, opp)
            } else {
                dive.wins(flood.all(), own, opp)
            }
        })
    }

    /// Whether the mover wins, if the game is over or the position was decided before.
    #[must_use]
    pub(super) fn remembers(&self, game: &Isolation<B>, pos: &Position<B>) -> Option<bool> {
        let [own, opp] = [pos.mover(), pos.mover().other()].map(|side| pos.token(side));
        let [mine, theirs] = [pos.mover(), pos.mover().other()].map(|side| game.targets(pos, side));
        if mine.is_empty() || theirs.is_empty() {
            return Some(!mine.is_empty());
        }
        let flood = Flood::new(game.board(), pos.open(), mine, theirs);
        self.decided.get(Decided::key(flood.all(), own, opp))
    }

    /// A winning move; `Some(None)` if the mover loses, and `None` if the thread ended first. Of several
    /// winning moves it is the first in the order of the race.
    pub fn winning_move(
        &mut self,
        game: &Isolation<B>,
        pos: &Position<B>,
        thread: &mut SearchThread<'_>,
    ) -> Option<Option<Target>> {
        for mv in by_race(game, pos) {
            let mut after = *pos;
            game.play(&mut after, mv);
            if !self.wins(game, &after, thread)? {
                return Some(Some(mv));
            }
        }
        Some(None)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.decided.clear();
        self.paths.clear();
    }
}

/// The legal moves in the order of the race.
pub(super) fn by_race<B: Bits>(game: &Isolation<B>, pos: &Position<B>) -> Vec<Target> {
    let mut moves = Vec::new();
    game.moves(pos, &mut moves);
    moves.sort_by_cached_key(|&mv| {
        let (flood, onward) = flood_after(game, pos, mv);
        race(&flood, onward)
    });
    moves
}

/// The place of a move in the solver's order; smaller is tried first.
#[must_use]
pub(super) fn order_of<B: Bits>(game: &Isolation<B>, pos: &Position<B>, mv: Target) -> i32 {
    let (flood, onward) = flood_after(game, pos, mv);
    order(&flood, onward, &Exits::of(Jumps::<B, 0>(game.board()), pos.open()))
}

/// The floods of the opponent and of the mover after a move, and where the moved token could go.
fn flood_after<B: Bits>(game: &Isolation<B>, pos: &Position<B>, mv: Target) -> (Flood<B>, B) {
    let board = game.board();
    let open = pos.open() & !B::single(mv.0);
    let theirs = game.targets(pos, pos.mover().other()) & open;
    let mine = board.reach(mv.0) & open;
    (Flood::new(board, open, theirs, mine), mine)
}

/// The cells that have exits: open cells a knight's move away.
struct Exits<B> {
    /// Those with two or more.
    two: B,
    /// Those with four or more.
    four: B,
}

impl<B: Bits> Exits<B> {
    #[inline]
    fn of<const WIDTH: u32>(board: Jumps<'_, B, WIDTH>, open: B) -> Self {
        let (two, four) = board.knights_twice_and_four_times(B::All::of(open));
        let mut exits = Self { two: B::EMPTY, four: B::EMPTY };
        two.put_into(&mut exits.two);
        four.put_into(&mut exits.four);
        exits
    }
}

/// Cells won in the race count most, by their exits, and then the freedom of the token that moved: with the
/// weights that take the fewest nodes, on boards that fit one word and on larger ones
/// (`docs/lab/isolation.md`).
#[inline]
fn order<B: Bits>(flood: &Flood<B>, onward: B, exits: &Exits<B>) -> i32 {
    let (four, freedom) = if B::CAPACITY == 64 { (3, -1) } else { (6, 2) };
    let worth = |cells: B| 3 * (cells & exits.two).len() as i32 + four * (cells & exits.four).len() as i32;
    worth(flood.first) - worth(flood.second) + freedom * onward.len() as i32
}

/// Cells won in the race count most; of equals, freedom of the token that moved.
#[inline]
fn race<B: Bits>(flood: &Flood<B>, onward: B) -> i32 {
    3 * (flood.first.len() as i32 - flood.second.len() as i32) - onward.len() as i32
}

/// The most plies that the game can last from here if the mover wins, or if it loses: a bound on the
/// distance.
#[must_use]
pub(super) fn most_plies<B: Bits>(game: &Isolation<B>, pos: &Position<B>, won: bool) -> u32 {
    let board = game.board();
    let reach = |side| {
        let from = game.targets(pos, side);
        reachable(board, pos.open(), from)
    };
    let moves = |side, region: B| match pos.token(side) {
        UNPLACED => region.len(),
        cell => paths::at_most(Jumps::<B, 0>(board), region, cell),
    };
    let (loser, ahead) = if won { (pos.mover().other(), 1) } else { (pos.mover(), 0) };
    let cells = (reach(pos.mover()) | reach(pos.mover().other())).len();
    // The loser's moves and as many of the winner's, who starts if it is the mover; each uses up a cell.
    let pairs = moves(loser, reach(loser)).min(cells.saturating_sub(ahead) / 2);
    2 * pairs + ahead
}

/// About how many nodes the solver visits for a position: a power of two for each five pairs of open cells in
/// reach that are a knight's move apart, within a factor of ten for nine of ten positions. Measured on 7x7
/// and 11x9 by `cargo bench --bench solver`.
#[must_use]
pub fn expected_nodes<B: Bits>(game: &Isolation<B>, pos: &Position<B>) -> u64 {
    let board = game.board();
    let [mine, theirs] = [pos.mover(), pos.mover().other()].map(|side| game.targets(pos, side));
    let region = Flood::new(board, pos.open(), mine, theirs).all();
    let pairs: u32 = region.cells().map(|cell| (board.reach(cell) & region).len()).sum::<u32>() / 2;
    let placements = Side::ALL.iter().filter(|&&side| pos.token(side) == UNPLACED).count();
    let openings = f64::from(region.len()).powi(placements as i32);
    (10_000.0 * openings * (f64::from(pairs as i32 - 84) / 5.0).exp2()) as u64
}

/// One question on its way down.
struct Dive<'a, 'p, B: Bits, const WIDTH: u32> {
    board: Jumps<'a, B, WIDTH>,
    solver: &'a mut Solver<B>,
    thread: &'a mut SearchThread<'p>,
}

impl<B: Bits, const WIDTH: u32> Dive<'_, '_, B, WIDTH> {
    /// Whether the mover, whose token stands on `own`, wins. Both can move, `open` is what they can reach,
    /// and they are not apart.
    fn wins(&mut self, open: B, own: u8, opp: u8) -> Option<bool> {
        if self.thread.tick() {
            return None;
        }
        let base = self.solver.children.len();
        let won = match self.expand(open, own, opp) {
            Some(()) => true,
            None => self.any_is_lost(base, opp)?,
        };
        self.solver.children.truncate(base);
        if open.len() >= TABLE_CELLS {
            self.solver.decided.put(Decided::key(open, own, opp), won);
        }
        Some(won)
    }

    /// Pushes the children that are not decided at sight; `Some` if one of the moves wins for the mover at
    /// sight.
    fn expand(&mut self, open: B, own: u8, opp: u8) -> Option<()> {
        let board = self.board;
        let mine = board.reach(own) & open;
        let theirs = board.reach(opp) & open;
        if theirs.without_first().is_empty() && !(mine & theirs).is_empty() {
            // Takes the only cell that the opponent could go to.
            return Some(());
        }
        let base = self.solver.children.len();
        let exits = Exits::of(board, open);
        for cell in mine.cells() {
            let open = open & !B::single(cell);
            let theirs = theirs & open;
            let onward = board.reach(cell) & open;
            if onward.is_empty() || (onward.without_first().is_empty() && !(onward & theirs).is_empty()) {
                // The opponent, who can move, wins by any move or by the only one that the token had left.
                continue;
            }
            let flood = Flood::new(&board, open, theirs, onward);
            let (open, apart) = (flood.all(), flood.is_apart(&board));
            let known = if apart {
                paths::outlasts_at_sight(board, flood.first, opp, flood.second, cell)
            } else if open.len() >= TABLE_CELLS {
                self.solver.decided.get(Decided::key(open, opp, cell))
            } else {
                None
            };
            match known {
                Some(false) => return Some(()),
                Some(true) => {}
                None => self.insert(base, Child { open, order: order(&flood, onward, &exits), cell, apart }),
            }
        }
        None
    }

    /// Puts a child at its place among those from `base` on, behind its equals.
    #[inline]
    fn insert(&mut self, base: usize, child: Child<B>) {
        let children = &mut self.solver.children;
        let mut at = children.len();
        children.push(child);
        while at > base && children[at - 1].order > child.order {
            children[at] = children[at - 1];
            at -= 1;
        }
        children[at] = child;
    }

    /// Whether one of the children from `base` on is lost for the opponent, who is to move on `opp`.
    fn any_is_lost(&mut self, base: usize, opp: u8) -> Option<bool> {
        for at in base..self.solver.children.len() {
            let Child { open, cell, apart, .. } = self.solver.children[at];
            let won = if apart {
                let [first, second] =
                    [opp, cell].map(|token| reachable(&self.board, open, self.board.reach(token) & open));
                self.outlasts(first, opp, second, cell)?
            } else {
                self.wins(open, opp, cell)?
            };
            if !won {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether the mover's longest path is longer than the other's, each through its own region.
    fn outlasts(&mut self, mine: B, own: u8, theirs: B, opp: u8) -> Option<bool> {
        let (board, thread) = (self.board, &mut *self.thread);
        let paths = &mut self.solver.paths;
        // The smaller region is searched completely, the larger only as far as needed.
        if theirs.len() <= mine.len() {
            let longest = paths.longest(board, theirs, opp, thread)?;
            paths.reaches(board, mine, own, longest + 1, thread)
        } else {
            let longest = paths.longest(board, mine, own, thread)?;
            Some(!paths.reaches(board, theirs, opp, longest, thread)?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::notation::Layout;
    use super::super::openings::{Opening, openings};
    use super::super::oracle::random_games;
    use super::*;
    use plyd_core::bits::Colours;
    use std::sync::atomic::AtomicU64;

    use plyd_core::search::Control;
    use plyd_core::search::thread::SearchBudget;

    /// Win or loss by the rules alone, every line to its end.
    fn plain<B: Bits>(game: &Isolation<B>, pos: &Position<B>) -> bool {
        let mut moves = Vec::new();
        game.moves(pos, &mut moves);
        moves.into_iter().any(|mv| {
            let mut after = *pos;
            game.play(&mut after, mv);
            !plain(game, &after)
        })
    }

    fn after<B: Bits>(game: &Isolation<B>, first: Target, second: Target) -> Position<B> {
        let mut pos = game.start();
        game.play(&mut pos, first);
        game.play(&mut pos, second);
        pos
    }

    #[test]
    fn small_boards_are_won_and_lost_as_plain_minimax_says() {
        fn check<B: Bits>(width: usize, height: usize) {
            let game = Isolation::<B>::new(width, height);
            let (control, mut solver) = (Control::default(), Solver::new(&game));
            let mut thread = SearchThread::alone(&control);
            for Opening { first, second, .. } in openings(game.board()) {
                let pos = after(&game, first, second);
                let expected = plain(&game, &pos);
                let won = solver.wins(&game, &pos, &mut thread);
                assert_eq!(won, Some(expected), "{width}x{height} {first:?} {second:?}");
                let mv = solver.winning_move(&game, &pos, &mut thread).unwrap();
                assert_eq!(mv.is_some(), expected);
                if let Some(mv) = mv {
                    let mut after = pos;
                    game.play(&mut after, mv);
                    assert!(!plain(&game, &after), "{width}x{height} {first:?} {second:?}: {mv:?}");
                }
            }
        }
        for width in 3..=5 {
            for height in 3..=5 {
                check::<u64>(width, height);
            }
        }
        check::<u128>(5, 4);
        check::<u128>(3, 7);
        check::<Colours<u64>>(3, 7);
    }

    #[test]
    fn late_positions_of_any_board_are_decided_and_their_length_is_bounded() {
        let (control, mut decided) = (Control::default(), [0; 2]);
        let mut thread = SearchThread::alone(&control);
        for (width, height) in [(3, 3), (5, 4), (5, 5), (7, 7), (11, 9), (15, 8)] {
            let game = Isolation::<Colours<u64>>::new(width, height);
            let mut solver = Solver::new(&game);
            random_games(width as i32, height as i32, 40, |_, oracle| {
                let pos = Layout::parse(&oracle.text()).unwrap().position(&game);
                // The oracle is slow: some thousand lines are what it can follow.
                if expected_nodes(&game, &pos) > 4 {
                    return;
                }
                let (won, plies) = oracle.solve();
                assert_eq!(solver.wins(&game, &pos, &mut thread), Some(won), "{}", oracle.text());
                let most = most_plies(&game, &pos, won);
                assert!(plies <= most && plies % 2 == most % 2, "{plies} {most}: {}", oracle.text());
                decided[usize::from(won)] += 1;
            });
        }
        assert!(decided.iter().all(|&count| count > 50), "{decided:?}");
    }

    /// Counts of openings that the side to move wins: tokens on one colour, and on two. The published
    /// theorem: the first player wins on one colour and loses on two, but for eight openings a knight's move
    /// from the centre.
    #[test]
    fn openings_follow_the_parity_theorem() {
        for (width, height, [one, one_won], [two, two_won]) in [
            (5, 5, [288, 288], [312, 8]),
            (5, 7, [578, 578], [612, 8]),
            (5, 6, [420, 420], [450, 0]),
            (4, 5, [180, 160], [200, 0]),
        ] {
            let game = Isolation::<u64>::new(width, height);
            let (control, mut solver) = (Control::default(), Solver::new(&game));
            let mut thread = SearchThread::alone(&control);
            let mut counts = [[0; 2]; 2];
            for Opening { first, second, images } in openings(game.board()) {
                let colours =
                    usize::from(game.board().odd().has(first.0) != game.board().odd().has(second.0));
                let won = solver.wins(&game, &after(&game, first, second), &mut thread);
                counts[colours][0] += images;
                counts[colours][1] += if won == Some(true) { images } else { 0 };
            }
            assert_eq!(counts, [[one, one_won], [two, two_won]], "{width}x{height}");
        }
    }

    #[test]
    fn a_budget_and_a_stop_end_the_question_and_it_can_be_asked_again() {
        let game = Isolation::<u64>::new(6, 6);
        let pos = after(&game, Target(0), Target(9));
        let (control, mut solver) = (Control::default(), Solver::new(&game));
        let shared = AtomicU64::new(0);
        let mut thread =
            SearchThread::first(&SearchBudget { until_nodes: 100, ..SearchBudget::whole(&control, &shared) });
        assert_eq!((solver.wins(&game, &pos, &mut thread), thread.nodes), (None, 100));
        let mut thread = SearchThread::alone(&control);
        let answer = solver.wins(&game, &pos, &mut thread);
        assert_eq!(answer, Solver::new(&game).wins(&game, &pos, &mut thread));
        control.stop();
        assert_eq!(Solver::new(&game).wins(&game, &pos, &mut SearchThread::alone(&control)), None);
        assert!(answer.is_some());
    }
}
