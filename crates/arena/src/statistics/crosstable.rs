//! Who made how many points against whom.

use serde::Serialize;

use super::{Games, Pairing, Pairs};

/// A player's row of a crosstable.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Row {
    /// The points of all games.
    pub points: f64,
    /// How many games there are.
    pub games: u64,
    /// The results against each player; none against itself and against those whom it has not met.
    pub cells: Vec<Option<Cell>>,
}

/// A player's results against another one.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Cell {
    /// The points.
    pub points: f64,
    /// How many games there are.
    pub games: u64,
    /// The pairs among them.
    pub pairs: Pairs,
    /// The games without another one of the same opening.
    pub singles: Games,
}

/// The results of each player, in the order of their numbers. Several pairings of the same players are added
/// up.
///
/// ```
/// use plyd_arena::statistics::{Games, Pairing, crosstable};
///
/// let met = |players, counts| Pairing { singles: Games { counts }, ..Pairing::new(players) };
/// let table = crosstable(3, &[met([0, 1], [1, 0, 3]), met([1, 2], [0, 2, 0])]);
/// assert_eq!(table[1].points, 2.0);
/// assert!(table[0].cells[2].is_none());
/// ```
///
/// # Panics
/// If a pairing names a player whose number is not below `players`.
#[must_use]
pub fn crosstable(players: usize, pairings: &[Pairing]) -> Vec<Row> {
    let mut met: Vec<Vec<Option<Pairing>>> = vec![vec![None; players]; players];
    for pairing in pairings.iter().flat_map(|pairing| [*pairing, pairing.reversed()]) {
        let [row, column] = pairing.players;
        let sum = met[row][column].get_or_insert(Pairing::new([row, column]));
        sum.pairs += pairing.pairs;
        sum.singles += pairing.singles;
    }
    met.into_iter()
        .map(|opponents| Row::new(opponents.into_iter().map(|met| met.and_then(cell)).collect()))
        .collect()
}

impl Row {
    fn new(cells: Vec<Option<Cell>>) -> Self {
        let met = || cells.iter().flatten();
        Self {
            points: met().fold(0.0, |sum, cell| sum + cell.points),
            games: met().map(|cell| cell.games).sum(),
            cells,
        }
    }
}

/// None without a game.
fn cell(Pairing { pairs, singles, .. }: Pairing) -> Option<Cell> {
    let points = pairs.points() + singles.points();
    (points.games > 0).then_some(Cell { points: points.made, games: points.games, pairs, singles })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(players: [usize; 2], pairs: [u64; 5], singles: [u64; 3]) -> Pairing {
        Pairing { players, pairs: Pairs { counts: pairs }, singles: Games { counts: singles } }
    }

    #[test]
    fn points_stand_in_rows_against_columns() {
        let rows = crosstable(
            4,
            &[
                played([0, 1], [0, 0, 1, 0, 2], [0, 0, 0]),
                played([2, 0], [1, 0, 0, 0, 0], [0, 1, 0]),
                played([1, 0], [0, 1, 0, 0, 0], [0, 0, 1]),
                Pairing::new([2, 3]),
            ],
        );
        let points: Vec<Vec<_>> = rows
            .iter()
            .map(|row| row.cells.iter().map(|cell| cell.map(|cell| cell.points)).collect())
            .collect();
        let expected = [
            vec![None, Some(6.5), Some(2.5), None],
            vec![Some(2.5), None, None, None],
            vec![Some(0.5), None, None, None],
            vec![None; 4],
        ];
        assert_eq!(points, expected);
        let sums: Vec<_> = rows.iter().map(|row| (row.points, row.games)).collect();
        assert_eq!(sums, [(9.0, 12), (2.5, 9), (0.5, 3), (0.0, 0)]);
        let cell = rows[1].cells[0].unwrap();
        assert_eq!((cell.pairs.counts, cell.singles.counts), ([2, 1, 1, 0, 0], [0, 0, 1]));
    }
}
