//! The published agent's evaluations: a gradient of the letters, or how alike neighbours are.
//!
//! Both value a letter by ten for each step of the alphabet and reward order on the board, whoever owns the
//! tiles: a good value is good for the side that moves at the root.

use super::board::{Board, Tile, places};
use super::rules::{Ijk, Move, Position};
use plyd_core::game::{Context, Evaluator, Game};
use plyd_core::score::Score;

/// The largest sum of either, in units: 36 cells with weights of at most 5, or 60 pairs of neighbours, of 150
/// at most.
const MOST: i32 = 36_000;

/// A published evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Published {
    /// The largest of four weighted sums of the cells' values; each weight falls by 1 a step from one corner.
    Gradient,
    /// Minus the differences between the values of neighbouring tiles.
    Smoothness,
}

impl Published {
    /// The published value of a position, the same for both sides.
    fn value<const CHANCE: bool, B: Board>(self, game: &Ijk<CHANCE, B>, pos: &Position<B>) -> i32 {
        match self {
            Self::Gradient => gradient(game, pos),
            Self::Smoothness => smoothness(game, pos),
        }
    }
}

impl<const CHANCE: bool, B: Board> Evaluator<Ijk<CHANCE, B>> for Published {
    fn evaluate(&self, game: &Ijk<CHANCE, B>, pos: &Position<B>, ctx: &Context<Move>) -> Score {
        let value = 1000 * self.value(game, pos);
        Score::eval(if game.side(pos) == ctx.root { value } else { -value })
    }

    fn range(&self) -> (i32, i32) {
        (-1000 * MOST, 1000 * MOST)
    }

    fn is_root_dependent(&self) -> bool {
        true
    }
}

/// The value of a letter: 10 for `A`, 20 for `B`.
fn letter_value(tile: Tile) -> i32 {
    10 * i32::from(tile.letter)
}

fn gradient<const CHANCE: bool, B: Board>(game: &Ijk<CHANCE, B>, pos: &Position<B>) -> i32 {
    let size = game.variant().size;
    // The products with the weights size - 1 - row - column and column - row; the other two are their
    // negatives.
    let (mut falling, mut rising) = (0, 0);
    for (row, column) in places(size) {
        // An empty cell counts 1 in the published list.
        let value = pos.board().tile(B::cell(row, column)).map_or(1, letter_value);
        falling += value * (size as i32 - 1 - row as i32 - column as i32);
        rising += value * (column as i32 - row as i32);
    }
    falling.abs().max(rising.abs())
}

fn smoothness<const CHANCE: bool, B: Board>(game: &Ijk<CHANCE, B>, pos: &Position<B>) -> i32 {
    let size = game.variant().size;
    let is_on_board = |row, column| row < size && column < size;
    let tile =
        |row, column| is_on_board(row, column).then(|| pos.board().tile(B::cell(row, column))).flatten();
    let mut penalty = 0;
    for (row, column) in places(size) {
        for neighbour in [tile(row, column + 1), tile(row + 1, column)] {
            if let (Some(one), Some(other)) = (tile(row, column), neighbour) {
                penalty += (letter_value(one) - letter_value(other)).abs();
            }
        }
    }
    -penalty
}

#[cfg(test)]
mod tests {
    use super::super::notation::Layout;
    use super::super::variant::Variant;
    use super::*;
    use plyd_core::game::{Rules, Side};

    /// The first of the published matrices as it stands there.
    const TOP_LEFT: [[i32; 6]; 6] = [
        [5, 4, 3, 2, 1, 0],
        [4, 3, 2, 1, 0, -1],
        [3, 2, 1, 0, -1, -2],
        [2, 1, 0, -1, -2, -3],
        [1, 0, -1, -2, -3, -4],
        [0, -1, -2, -3, -4, -5],
    ];

    fn values(text: &str) -> [i32; 2] {
        let layout = Layout::parse(text).unwrap();
        let game =
            Ijk::<false>::new(Variant::choose(&Rules::default(), Some(layout.stated_rules())).unwrap());
        let pos = layout.position(&game).unwrap();
        let context = Context { root: Side::First, last: None };
        [Published::Gradient, Published::Smoothness].map(|published| {
            let value = published.evaluate(&game, &pos, &context).raw();
            let other = published.evaluate(&game, &pos, &Context { root: Side::Second, last: None }).raw();
            assert_eq!(value, -other);
            value
        })
    }

    #[test]
    fn formulas_by_hand() {
        // Every empty cell counts 1 and each matrix sums to 0, so a tile of value v adds (v - 1) times its
        // weight.
        for (text, gradient, smoothness) in [
            ("A...../....../....../....../....../...... +", 9 * 5, 0),
            ("...../...../...../...../....c +", 29 * 4, 0),
            ("AB..../C...../....../....../....../...... +", 9 * 5 + 19 * 4 + 29 * 4, -10 - 20),
            ("....../..aB../..C.../....../....../...... +", 9 * 2 + 19 + 29, -10 - 20),
        ] {
            assert_eq!(values(text), [1000 * gradient, 1000 * smoothness], "{text}");
        }
    }

    #[test]
    fn weights_are_the_published_ones() {
        for row in 0..6 {
            for column in 0..6 {
                let mut rows = [['.'; 6]; 6];
                rows[row][column] = 'C';
                let rows = rows.map(|row| row.iter().collect::<String>());
                // The other matrices are this one turned; their largest product decides.
                let turned = [
                    TOP_LEFT[row][column],
                    TOP_LEFT[row][5 - column],
                    TOP_LEFT[5 - row][column],
                    TOP_LEFT[5 - row][5 - column],
                ];
                let expected = turned.map(|weight| 29 * weight).into_iter().max().unwrap();
                assert_eq!(values(&format!("{} +", rows.join("/")))[0], 1000 * expected);
            }
        }
    }
}
