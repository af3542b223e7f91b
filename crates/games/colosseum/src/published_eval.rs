//! Published evaluations of a Colosseum Survival agent (Colak and Zeidan, "COMP 424 Final Project", McGill
//! University, 2023): from the mover's view, and about the last move if the formula judges a move.

use super::board::Side as CellSide;
use super::eval::UNIT;
use super::position::{Position, Walk};
use super::rules::Colosseum;
use plyd_core::bits::Bits;
use plyd_core::game::{Context, Evaluator, Side};
use plyd_core::score::Score;

/// What a wall beside the opponent is worth.
const AGGRESSION: i32 = 2;
/// The worth of being able to close the opponent in.
const WINNING: i32 = 1000;

/// A part of the published evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// The cells that the mover can walk to in a move, less those of the opponent.
    Reachable,
    /// A last move that put a wall beside the opponent.
    Aggression,
    /// Being able to close the opponent in.
    Winning,
}

impl Part {
    /// All of them.
    pub(super) const ALL: [Self; 3] = [Self::Reachable, Self::Aggression, Self::Winning];
}

/// The sum of some parts of the published evaluation, for boards of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Published {
    reachable: bool,
    aggression: bool,
    winning: bool,
    cells: i32,
}

impl Published {
    /// The evaluation by some parts, for a game.
    pub(super) fn new<B: Bits>(game: &Colosseum<B>, parts: &[Part]) -> Self {
        Self {
            reachable: parts.contains(&Part::Reachable),
            aggression: parts.contains(&Part::Aggression),
            winning: parts.contains(&Part::Winning),
            cells: game.board().cells() as i32,
        }
    }
}

impl<B: Bits> Evaluator<Colosseum<B>> for Published {
    #[inline]
    fn evaluate(&self, game: &Colosseum<B>, pos: &Position<B>, ctx: &Context<Walk>) -> Score {
        let (own, opp) = (pos.mover(), pos.mover().other());
        let mut score = 0;
        if self.reachable {
            score += game.walkable(pos, own).len() as i32 - game.walkable(pos, opp).len() as i32;
        }
        if self.aggression && ctx.last.is_some_and(|mv| is_beside(game, mv, pos.player(own))) {
            score -= AGGRESSION;
        }
        if self.winning && closing_move(game, pos).is_some() {
            score += WINNING;
        }
        Score::eval(score * UNIT)
    }

    fn range(&self) -> (i32, i32) {
        let part = |has: bool, most: i32| if has { most } else { 0 };
        let reachable = part(self.reachable, self.cells);
        let least = -reachable - part(self.aggression, AGGRESSION);
        (least * UNIT, (reachable + part(self.winning, WINNING)) * UNIT)
    }
}

/// Whether a move walls a side of a cell that the mover does not stand on.
fn is_beside<B: Bits>(game: &Colosseum<B>, mv: Walk, cell: u8) -> bool {
    let wall = game.board().wall(mv.to, mv.side);
    wall.is_some() && CellSide::ALL.into_iter().any(|side| game.board().wall(cell, side) == wall)
}

/// The move that closes in an opponent with walls on three sides, if the mover can reach the fourth.
#[must_use]
pub(super) fn closing_move<B: Bits>(game: &Colosseum<B>, pos: &Position<B>) -> Option<Walk> {
    let (board, cell) = (game.board(), pos.player(pos.mover().other()));
    let mut open = open_sides(game, pos, pos.mover().other());
    let (Some(side), None) = (open.next(), open.next()) else { return None };
    let (to, back) = match side {
        CellSide::Up => (cell - board.row() as u8, CellSide::Down),
        CellSide::Right => (cell + 1, CellSide::Left),
        CellSide::Down => (cell + board.row() as u8, CellSide::Up),
        CellSide::Left => (cell - 1, CellSide::Right),
    };
    game.walkable(pos, pos.mover()).has(to).then_some(Walk { to, side: back })
}

/// The open sides of the cell on which a player stands.
pub(super) fn open_sides<B: Bits>(
    game: &Colosseum<B>,
    pos: &Position<B>,
    side: Side,
) -> impl Iterator<Item = CellSide> + use<B> {
    let (sides, cell) = (game.board().sides(pos.open()), pos.player(side));
    CellSide::ALL.into_iter().zip(sides).filter(move |(_, open)| open.has(cell)).map(|(side, _)| side)
}

#[cfg(test)]
mod tests {
    use super::super::notation::Layout;
    use super::super::oracle::random_games;
    use super::super::setup::{Setup, StartWalls};
    use super::*;
    use plyd_core::game::{Game, Notation};

    fn game(size: usize) -> Colosseum<u64> {
        Colosseum::new(Setup { size, start_walls: StartWalls::Fall2023, seed: 0 })
    }

    fn value(parts: &[Part], text: &str, last: Option<&str>) -> i32 {
        let layout = Layout::parse(text).unwrap();
        let game = game(layout.size);
        let pos = layout.position(&game);
        let last = last.map(|mv| game.parse_move(&pos, mv).unwrap());
        let context = Context { root: Side::First, last };
        Published::new(&game, parts).evaluate(&game, &pos, &context).raw()
    }

    #[test]
    fn each_part_counts_what_it_says() {
        let table: &[(&[Part], &str, Option<&str>, i32)] = &[
            // From the corner 10 cells within 3 steps, from beside the centre 23.
            (&[Part::Reachable], "6 0,0 3,3 - 1", None, -13_000),
            (&[Part::Reachable], "6 0,0 3,3 - 2", None, 13_000),
            (&[Part::Aggression], "6 0,0 3,3 22R 1", Some("22r"), 0),
            (&[Part::Aggression], "6 2,2 3,3 22R 1", Some("23l"), -2000),
            (&[Part::Aggression], "6 2,2 3,3 22R 1", None, 0),
            (&[Part::Winning], "6 0,2 0,0 00R 1", None, 1_000_000),
            (&[Part::Winning], "6 5,5 0,0 00R 1", None, 0),
            (&[Part::Winning], "6 0,2 0,0 - 1", None, 0),
            (&[Part::Winning], "6 0,2 0,0 00R 2", None, 0),
            (&Part::ALL, "6 2,2 3,3 22R 1", Some("23l"), -5000),
        ];
        for &(parts, text, last, expected) in table {
            assert_eq!(value(parts, text, last), expected, "{parts:?}: {text}");
        }
    }

    #[test]
    fn the_closing_move_wins() {
        let mut closed = 0;
        let game = game(5);
        random_games(5, 300, |_, oracle| {
            let pos = Layout::parse(&oracle.text()).unwrap().position(&game);
            if let Some(mv) = closing_move(&game, &pos).filter(|_| pos.zones().is_none()) {
                assert!(game.is_legal(&pos, mv), "{}", oracle.text());
                let mut after = pos;
                game.play(&mut after, mv);
                assert_eq!(after.zones().map(|zones| zones[pos.mover().other().index()]), Some(1));
                closed += 1;
            }
        });
        assert!(closed > 20, "{closed}");
    }

    #[test]
    fn values_stay_within_their_range() {
        let game = game(6);
        let mut reached = false;
        random_games(6, 10, |_, oracle| {
            let pos = Layout::parse(&oracle.text()).unwrap().position(&game);
            for parts in [&[Part::Reachable][..], &[Part::Aggression], &[Part::Winning], &Part::ALL] {
                let published = Published::new(&game, parts);
                let (least, most) = Evaluator::<Colosseum<u64>>::range(&published);
                // A wall beside the mover, as the last move.
                let beside = open_sides(&game, &pos, pos.mover()).next();
                let beside = beside.map(|side| Walk { to: pos.player(pos.mover()), side });
                for last in [None, beside] {
                    let context = Context { root: Side::First, last };
                    let value = published.evaluate(&game, &pos, &context).raw();
                    assert!((least..=most).contains(&value), "{parts:?}: {}", oracle.text());
                    if parts == [Part::Aggression] {
                        reached |= value == least;
                    }
                }
            }
        });
        assert!(reached);
    }
}
