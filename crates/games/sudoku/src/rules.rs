//! The rules of Competitive Sudoku as a [`Game`]; texts, evaluations and players are elsewhere.
//!
//! The rules are those of the course framework `competitive_sudoku`: the preset `classic` those of its
//! versions 8 to 13, the others those of version 14. A move that leaves the puzzle without a solution is
//! declared taboo and passes the turn.

use std::sync::Arc;

use super::found::FoundSolutions;
use super::grid::Grid;
pub use super::position::Fill;
use super::position::{Change, Position, SECOND, Setup, Undo};
use super::presets::{Choice, Preset};
use super::shape::Shape;
use super::solver::{Solved, Solver};
use super::witness;
use plyd_core::effort::Effort;
use plyd_core::game::{Game, Outcome, Side, Turn, VisitMove};

/// The ending of games in which every cell has a value.
pub(super) const FULL: &str = "full";
/// The ending of games in which neither player has a cell left to play.
pub(super) const STUCK: &str = "stuck";

/// The points for a value, by the number of regions that it completes.
pub(super) const POINTS: [i32; 4] = [0, 1, 3, 7];

/// Competitive Sudoku on a board of a fixed shape, with fixed cells that each player is allowed.
///
/// ```
/// use plyd_core::game::{Game, Rules, Turn};
/// use plyd_sudoku::presets::Choice;
/// use plyd_sudoku::rules::Sudoku;
///
/// let game = Sudoku::new(Choice::new(&Rules::default(), None).unwrap());
/// assert_eq!(game.turn(&game.start()), Turn::Move);
/// ```
#[derive(Clone, Debug)]
pub struct Sudoku {
    shape: &'static Shape,
    choice: Arc<Choice>,
    effort: Arc<Effort>,
}

/// The nodes that the solver may visit for a position, from its start on through all its moves: some 40 ms on
/// the largest boards. What they do not decide stays undecided, so that equal positions always get the same
/// decision.
pub(super) const POSITION_NODES: u64 = 30_000;

/// The cells for which an exchange of values in the known solution takes a step of an [`Effort`], about a
/// microsecond.
const CELLS_A_STEP: u64 = 50;

/// What a legal move does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// It fills its cell: a solution of the board with it.
    Fills(Vec<u8>),
    /// It is taboo: the board has no solution with it.
    Passes,
    /// It was not found out.
    Undecided,
}

impl Sudoku {
    /// The game that was chosen.
    #[must_use]
    pub fn new(choice: Choice) -> Self {
        let shape = Shape::of(choice.shape.0, choice.shape.1);
        Self { shape, choice: Arc::new(choice), effort: Effort::free() }
    }

    /// The grid.
    #[inline]
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.shape.grid
    }

    /// The solver for boards of this shape.
    #[must_use]
    pub fn solver(&self) -> &Solver {
        &self.shape.solver
    }

    /// What bounds the solver's work.
    #[must_use]
    pub(super) fn effort(&self) -> &Effort {
        &self.effort
    }

    /// Shape, preset and allowed cells.
    #[must_use]
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Whether players are bound to cells of their own.
    #[inline]
    #[must_use]
    pub(super) fn is_bound(&self) -> bool {
        self.choice.preset != Preset::Classic
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
            nodes: 0,
            is_undecided: false,
        })
    }

    /// The number of a move; see [`Game::index`].
    #[inline]
    pub(super) fn number(&self, mv: Fill) -> usize {
        mv.number(self.grid())
    }

    /// The points that a value in an empty cell scores, if it is placed.
    #[inline]
    #[must_use]
    pub fn points(&self, pos: &Position, cell: usize) -> i32 {
        let completed =
            self.grid().regions_of(cell).into_iter().filter(|&r| pos.missing(self.grid(), r) == 1);
        POINTS[completed.count()]
    }

    /// Whether a legal move is known to be taboo: the puzzle has no solution with it.
    #[must_use]
    pub fn is_taboo(&self, pos: &Position, mv: Fill) -> bool {
        pos.square(mv.cell.into()).witness != mv.value && self.effect(pos, mv).0 == Effect::Passes
    }

    /// What a legal move does whose value is not the witness's, and the nodes that the solver took to find it
    /// out.
    pub(super) fn effect(&self, pos: &Position, mv: Fill) -> (Effect, u64) {
        if pos.is_undecided {
            return (Effect::Undecided, 0);
        }
        if !self.effort.spend_anyway(self.grid().cells() as u64 / CELLS_A_STEP + 1) {
            return (Effect::Undecided, 0);
        }
        let (mut values, mut witness) = pos.boards();
        if witness::exchange(self.grid(), &values, &mut witness, mv.cell.into(), mv.value) {
            return (Effect::Fills(witness), 0);
        }
        values[usize::from(mv.cell)] = mv.value;
        let most = self.effort.granted().unwrap_or(POSITION_NODES.saturating_sub(pos.nodes));
        let mut left = most;
        let solved = self.solver().solve(&values, &witness, &mut left, &self.effort);
        self.effort.take(most - left);
        let effect = match solved {
            Solved::By(solution) => Effect::Fills(solution),
            Solved::Never => Effect::Passes,
            Solved::Unknown => Effect::Undecided,
        };
        (effect, most - left)
    }

    /// Whether the mover has a move. A solution of the board gives a move for each playable cell; if it is
    /// undecided whether there is one, a cell may have no number left.
    pub(super) fn has_move(&self, pos: &Position) -> bool {
        let open = |cell: usize| pos.open_values(self.grid(), cell) != 0;
        (0..self.grid().cells()).any(|cell| pos.is_playable(cell, pos.mover) && open(cell))
    }

    /// Plays a legal move as one that fills its cell; the witness is left as it is.
    pub(super) fn play_as_fill(&self, pos: &mut Position, mv: Fill) -> Undo {
        let mover = pos.mover;
        let (nodes, is_undecided) = (pos.nodes, pos.is_undecided);
        let change = self.fill(pos, mv);
        pos.history.push(mv);
        self.pass_to(pos, mover.other());
        Undo { mover, change, witness: None, nodes, is_undecided }
    }
}

impl PartialEq for Sudoku {
    fn eq(&self, other: &Self) -> bool {
        self.choice.is_same_game(&other.choice)
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
        if pos.playable != [0; 2] && (!pos.is_undecided || self.has_move(pos)) {
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
            out.extend(Fill::all(cell, pos.open_values(self.grid(), cell)));
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

    /// If the solver does not find out what the move does, it is assumed to fill its cell.
    fn play(&self, pos: &mut Position, mv: Fill) -> Undo {
        let (mover, nodes, is_undecided) = (pos.mover, pos.nodes, pos.is_undecided);
        let (mut old, mut is_taboo) = (None, false);
        if pos.square(mv.cell.into()).witness != mv.value && !is_undecided {
            let (effect, taken) = self.effect(pos, mv);
            pos.nodes += taken;
            match effect {
                Effect::Fills(witness) => {
                    old = Some(pos.boards().1);
                    pos.set_witness(&witness);
                }
                Effect::Passes => is_taboo = true,
                Effect::Undecided => {
                    self.effort.leave_undecided();
                    pos.is_undecided = true;
                }
            }
        }
        if !is_taboo {
            return Undo { witness: old, nodes, is_undecided, ..self.play_as_fill(pos, mv) };
        }
        self.toggle_taboo(pos, mv);
        pos.history.push(mv);
        self.pass_to(pos, mover.other());
        Undo { mover, change: Change::Taboo, witness: None, nodes, is_undecided }
    }

    fn undo(&self, pos: &mut Position, mv: Fill, undo: Undo) {
        pos.history.pop();
        pos.hash ^= if pos.mover == undo.mover { 0 } else { SECOND };
        pos.mover = undo.mover;
        (pos.nodes, pos.is_undecided) = (undo.nodes, undo.is_undecided);
        match undo.change {
            Change::Taboo => self.toggle_taboo(pos, mv),
            Change::Filled { points, reached } => self.empty(pos, mv, points, reached),
        }
        if let Some(witness) = undo.witness {
            pos.set_witness(&witness);
        }
    }

    fn heeding(&self, effort: &Arc<Effort>) -> Option<Self> {
        Some(Self { effort: Arc::clone(effort), ..self.clone() })
    }

    fn is_undecided(&self, pos: &Position) -> bool {
        pos.is_undecided
    }

    fn play_each(&self, pos: &Position, moves: &[Fill], visit: &mut VisitMove<'_, Self>) {
        let mut known = FoundSolutions::of(self.grid(), pos);
        for &mv in moves {
            let mut next = known.position(mv).clone();
            self.play(&mut next, mv);
            known.learn(&next);
            if visit(mv, &next).is_break() {
                return;
            }
        }
    }

    #[inline]
    fn hash(&self, pos: &Position) -> u64 {
        pos.hash
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

    /// Points first; then moves that complete nothing for the opponent, and among them those that are known
    /// to fill.
    fn order(&self, pos: &Position, mv: Fill) -> i32 {
        let cell = usize::from(mv.cell);
        let given = self.grid().regions_of(cell).into_iter().filter(|&r| pos.missing(self.grid(), r) == 2);
        let known = pos.square(cell).witness == mv.value;
        8 * self.points(pos, cell) - 4 * given.count() as i32 + i32::from(known)
    }
}

#[cfg(test)]
mod tests {
    use super::super::boards::{self, BOARDS};
    use super::super::layout::Layout;
    use super::super::oracle::{Oracle, solved};
    use super::super::written;
    use super::*;
    use plyd_core::game::Rules;
    use plyd_core::zobrist::SplitMix64;

    /// The same position for both.
    fn both(oracle: &Oracle, preset: Preset, seed: u64) -> (Sudoku, Position) {
        let values: Vec<String> = oracle.board.iter().flatten().map(usize::to_string).collect();
        let text = format!("{} {} {}", oracle.m, oracle.n, values.join(" "));
        let rules =
            Rules::new(vec![("preset", preset.name().into()), ("seed", format!("{seed:x}").as_str().into())]);
        let layout = Layout::parse(&text).unwrap();
        let game = Sudoku::new(Choice::new(&rules, Some(&layout.stated_rules())).unwrap());
        let pos = layout.position(&game).unwrap();
        (game, pos)
    }

    /// Plays a random game with both and compares everything that the rules say; gives the taboo moves and
    /// the skips.
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
            let text = written::write(&game, &pos);
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

    /// Random games in which the solver has few nodes: a move does what it does without a bound, or is
    /// undecided, and from then on every move is assumed to fill. Taking it back leaves no trace.
    #[test]
    fn what_is_undecided_is_taken_as_placed() {
        let (mut undecided, mut decided) = (0, 0);
        for seed in 0..30 {
            let mut random = SplitMix64::new(seed);
            let (m, n, clues) = [(2, 3, 6), (3, 3, 30), (3, 3, 34)][seed as usize % 3];
            let mut values = solved(m, n, &mut random);
            let mut cells: Vec<usize> = (0..values.len()).collect();
            while cells.len() > clues {
                values[cells.swap_remove(random.below(cells.len()))] = 0;
            }
            let (game, mut pos) = both(&Oracle::new(m, n, &values), Preset::Classic, seed);
            let effort = Effort::free();
            effort.grant(Some(random.below(300) as u64));
            let bounded = game.heeding(&effort).unwrap();
            let mut known = pos.clone();
            while game.turn(&pos) == Turn::Move {
                let mut moves = Vec::new();
                game.moves(&pos, &mut moves);
                let mv = moves[random.below(moves.len())];
                let before = pos.clone();
                let undo = bounded.play(&mut pos, mv);
                let mut back = pos.clone();
                bounded.undo(&mut back, mv, undo);
                assert_eq!(back, before);
                if game.is_undecided(&pos) {
                    undecided += 1;
                    assert!(effort.has_undecided());
                    assert_eq!(pos.square(mv.cell.into()).value, mv.value);
                } else {
                    decided += 1;
                    game.play(&mut known, mv);
                    assert_eq!(pos.hash, known.hash, "{mv:?}");
                }
            }
        }
        assert!(undecided > 100 && decided > 100, "{undecided} {decided}");
    }

    #[test]
    fn equal_futures_have_equal_hashes() {
        let open = |text: &str| {
            let layout = Layout::parse(text).unwrap();
            let game = Sudoku::new(Choice::new(&Rules::default(), Some(&layout.stated_rules())).unwrap());
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

    /// The moves that a first look at a position leaves undecided, among how many.
    fn undecided(game: &Sudoku, pos: &Position) -> (usize, usize) {
        let effort = Effort::first_look();
        let looking = game.heeding(&effort).expect("its work heeds an effort");
        let mut moves = Vec::new();
        looking.moves(pos, &mut moves);
        let mut next = pos.clone();
        let is_undecided = |mv: &&Fill| {
            let undo = looking.play(&mut next, **mv);
            let is_undecided = looking.is_undecided(&next);
            looking.undo(&mut next, **mv, undo);
            assert!(next == *pos && !(is_undecided && pos.square(mv.cell.into()).witness == mv.value));
            is_undecided
        };
        (moves.iter().filter(is_undecided).count(), moves.len())
    }

    #[test]
    fn a_first_look_decides_all_moves_on_boards_of_3x3_and_some_on_the_largest() {
        for board in BOARDS {
            let (game, pos) = boards::open(board.text, "classic");
            let (undecided, moves) = undecided(&game, &pos);
            let is_usual = game.grid().side() <= 9;
            assert!(undecided == 0 || !is_usual, "{undecided} of {moves} moves of {}", board.name);
        }
        let mut random = SplitMix64::new(5);
        let game =
            Sudoku::new(Choice::new(&Rules::new(vec![("m", 5.into()), ("n", 5.into())]), None).unwrap());
        for filled in [0, 250] {
            let mut pos = game.start();
            for _ in 0..filled {
                let open: Vec<usize> =
                    (0..game.grid().cells()).filter(|&cell| pos.is_playable(cell, pos.mover())).collect();
                let cell = open[random.below(open.len())];
                let value = pos.square(cell).witness;
                game.play(&mut pos, Fill { cell: cell as u16, value });
            }
            let (undecided, moves) = undecided(&game, &pos);
            assert!(undecided > moves / 2 && undecided < moves, "{undecided} of {moves}");
        }
    }
}
