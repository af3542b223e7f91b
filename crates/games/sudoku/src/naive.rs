//! The game as seen by players who know no solutions: every legal move fills its cell.

use super::position::Position;
use super::rules::{Fill, Sudoku};
use plyd_core::game::{Game, Outcome, Root, Side, Turn};
use plyd_core::score::Value;
use plyd_core::search::{Control, End, SearchParams, SearchResult, Searcher, Variation};

/// The game without taboo moves but those that were declared. It ends when the mover has no legal move.
#[derive(Clone, PartialEq)]
pub(super) struct Naive(Sudoku);

impl Naive {
    /// The game as it is seen.
    #[must_use]
    pub(super) fn new(game: &Sudoku) -> Self {
        Self(game.clone())
    }

    /// The game as it is.
    #[must_use]
    pub(super) fn rules(&self) -> &Sudoku {
        &self.0
    }
}

impl Game for Naive {
    type Position = Position;
    type Move = Fill;
    type Undo = <Sudoku as Game>::Undo;
    const SCORED: bool = true;

    fn side(&self, pos: &Position) -> Side {
        self.0.side(pos)
    }

    fn turn(&self, pos: &Position) -> Turn {
        if self.0.has_move(pos) {
            return Turn::Move;
        }
        let [first, second] = pos.scores();
        let winner = match first - second {
            1.. => Some(Side::First),
            0 => None,
            _ => Some(Side::Second),
        };
        Turn::Over(Outcome { winner, by: super::rules::STUCK, scores: Some(pos.scores()) })
    }

    fn moves(&self, pos: &Position, out: &mut Vec<Fill>) {
        self.0.moves(pos, out);
    }

    fn is_legal(&self, pos: &Position, mv: Fill) -> bool {
        self.0.is_legal(pos, mv)
    }

    fn play(&self, pos: &mut Position, mv: Fill) -> Self::Undo {
        self.0.play_as_fill(pos, mv)
    }

    fn undo(&self, pos: &mut Position, mv: Fill, undo: Self::Undo) {
        self.0.undo(pos, mv, undo);
    }

    fn hash(&self, pos: &Position) -> u64 {
        self.0.hash(pos)
    }

    fn index(&self, mv: Fill) -> usize {
        self.0.index(mv)
    }

    fn index_len(&self) -> usize {
        self.0.index_len()
    }

    fn settled(&self, pos: &Position) -> i32 {
        self.0.settled(pos)
    }
}

/// A root of one view of the game as one of another.
pub(super) fn root_of<G, H>(root: &Root<G>) -> Root<H>
where
    G: Game<Position = Position, Move = Fill>,
    H: Game<Position = Position, Move = Fill>,
{
    Root { start: root.start.clone(), plies: root.plies.clone(), pos: root.pos.clone() }
}

/// A player that sees the game in this way; it proves nothing.
pub(super) struct Unknowing<S>(S);

impl<S> Unknowing<S> {
    /// A player of the whole game, made from a player of the game without taboo moves.
    #[must_use]
    pub(super) fn new(player: S) -> Self {
        Self(player)
    }
}

impl<S: Searcher<Naive>> Searcher<Sudoku> for Unknowing<S> {
    fn search(
        &mut self,
        game: &Sudoku,
        root: &Root<Sudoku>,
        asked: &SearchParams<Fill>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<Fill>),
    ) -> (SearchResult<Fill>, End) {
        // A line ends with its first move: the second may not be legal once the first was taboo.
        let as_guesses = |found: &SearchResult<Fill>| SearchResult {
            lines: found
                .lines
                .iter()
                .map(|line| Variation {
                    pv: line.pv[..1].to_vec(),
                    depth: line.depth,
                    value: line.value.map(|(value, bound)| (Value::guess(value.score), bound)),
                })
                .collect(),
        };
        let root = root_of(root);
        let mut report = |found: &SearchResult<Fill>| publish(&as_guesses(found));
        let (found, end) = self.0.search(&Naive::new(game), &root, asked, control, &mut report);
        (as_guesses(&found), if end == End::Proven { End::Limit } else { end })
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::boards::{BOARDS, open};
    use super::super::rules::STUCK;
    use super::*;
    use plyd_core::score::Score;
    use plyd_core::search::Bound;
    use plyd_core::zobrist::SplitMix64;

    /// Random games in which every move fills its cell, until the mover has none, which is often before the
    /// board is full.
    #[test]
    fn every_move_fills_and_games_end_where_there_is_none() {
        let mut early = 0;
        for (seed, board) in BOARDS.iter().enumerate().flat_map(|(seed, board)| {
            ["classic", "rows"].map(|preset| (2 * seed as u64, open(board.text, preset)))
        }) {
            let (game, mut pos) = board;
            let naive = Naive::new(&game);
            let mut random = SplitMix64::new(seed);
            loop {
                let mut moves = Vec::new();
                naive.moves(&pos, &mut moves);
                let turn = naive.turn(&pos);
                assert_eq!(turn == Turn::Move, !moves.is_empty());
                if let Turn::Over(outcome) = turn {
                    assert_eq!((outcome.by, outcome.scores), (STUCK, Some(pos.scores())));
                    let [first, second] = pos.scores();
                    let winner =
                        (first != second).then_some(if first > second { Side::First } else { Side::Second });
                    assert_eq!(outcome.winner, winner);
                    early += usize::from(pos.empty() > 0);
                    break;
                }
                let mv = moves[random.below(moves.len())];
                assert!(naive.is_legal(&pos, mv));
                let (before, after) = (pos.clone(), naive.hash_after(&pos, mv));
                let undo = naive.play(&mut pos, mv);
                assert_eq!((naive.hash(&pos), pos.square(mv.cell.into()).value), (after, mv.value));
                assert_eq!(pos.empty(), before.empty() - 1);
                let mut back = pos.clone();
                naive.undo(&mut back, mv, undo);
                assert_eq!(back, before);
            }
        }
        assert!(early > 5, "{early}");
    }

    /// A player that claims to have proven everything.
    struct Sure;

    impl Searcher<Naive> for Sure {
        fn search(
            &mut self,
            _game: &Naive,
            _root: &Root<Naive>,
            asked: &SearchParams<Fill>,
            _control: &Control,
            publish: &mut dyn FnMut(&SearchResult<Fill>),
        ) -> (SearchResult<Fill>, End) {
            let value = Value::proven(Score::eval(7000));
            let line =
                |&mv: &Fill| Variation { pv: vec![mv, mv], depth: 9, value: Some((value, Bound::Exact)) };
            let found = SearchResult { lines: asked.moves.iter().map(line).collect() };
            publish(&found);
            (found, End::Proven)
        }

        fn clear(&mut self) {}
    }

    #[test]
    fn what_it_proves_is_a_guess_and_its_lines_are_one_move_long() {
        let (game, pos) = open(BOARDS[0].text, "classic");
        let mut moves = Vec::new();
        game.moves(&pos, &mut moves);
        let asked = SearchParams { multipv: moves.len(), moves };
        let root = Root::new(pos);
        let mut published = Vec::new();
        let mut publish = |found: &SearchResult<Fill>| published.push(found.clone());
        let (found, end) =
            Unknowing::new(Sure).search(&game, &root, &asked, &Control::default(), &mut publish);
        assert_eq!((end, &published), (End::Limit, &vec![found.clone()]));
        assert_eq!(found.lines.len(), asked.moves.len());
        for (line, mv) in found.lines.iter().zip(&asked.moves) {
            let (value, _) = line.value.expect("a value");
            assert_eq!((&line.pv, value), (&vec![*mv], Value::guess(Score::eval(7000))));
        }
    }
}
