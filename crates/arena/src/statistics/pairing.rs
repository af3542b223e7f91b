//! All that two players played against each other.

use serde::Serialize;

use super::{Estimate, Games, Pairs, Points};

/// The results between two players, from the first one's view.
///
/// ```
/// use plyd_arena::statistics::{Games, Pairing, Pairs};
///
/// let pairing = Pairing {
///     players: [0, 1],
///     pairs: Pairs { counts: [0, 10, 20, 15, 5] },
///     singles: Games { counts: [0, 0, 1] },
/// };
/// assert_eq!((pairing.points().games, pairing.points().made), (101, 58.5));
/// assert_eq!(pairing.reversed().points().made, 42.5);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Pairing {
    /// The players by their numbers.
    pub players: [usize; 2],
    /// The pairs of games.
    pub pairs: Pairs,
    /// The games without another one of the same opening, such as the last ones of a match that was stopped.
    pub singles: Games,
}

impl Pairing {
    /// Players who have not met yet.
    #[must_use]
    pub fn new(players: [usize; 2]) -> Self {
        Self { players, pairs: Pairs::default(), singles: Games::default() }
    }

    /// The same results, seen by the opponent.
    #[must_use]
    pub fn reversed(self) -> Self {
        let [first, second] = self.players;
        Self { players: [second, first], pairs: self.pairs.reversed(), singles: self.singles.reversed() }
    }

    /// The points of the first player.
    #[must_use]
    pub fn points(&self) -> Points {
        self.pairs.points() + self.singles.points()
    }

    /// The share of the points: see [`Points::score`].
    #[must_use]
    pub fn score(&self) -> Option<Estimate> {
        self.points().score()
    }

    /// The difference in Elo: see [`Points::elo`].
    #[must_use]
    pub fn elo(&self) -> Option<Estimate> {
        self.points().elo()
    }

    /// The likelihood of superiority: see [`Points::superiority`].
    #[must_use]
    pub fn superiority(&self) -> Option<f64> {
        self.points().superiority()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_single_games_add_up() {
        let pairing = Pairing {
            players: [0, 1],
            pairs: Pairs { counts: [0, 1, 2, 1, 1] },
            singles: Games { counts: [1, 0, 2] },
        };
        let points = pairing.points();
        assert_eq!((points.games, points.made), (13, 8.0));
        // The share is 8/13. Of the pairs: 1/2 1 1 3/2 2 around 16/13; of the games: 0 1 1 around 8/13.
        let squares = [6.5 - 16.0, 13.0 - 16.0, 13.0 - 16.0, 19.5 - 16.0, 26.0 - 16.0, -8.0, 5.0, 5.0];
        let variance = squares.iter().map(|thirteenths| thirteenths * thirteenths / 169.0).sum::<f64>();
        assert!((points.variance() - variance).abs() < 1e-12, "{points:?}");
        assert_eq!(points.units, 8);
        let reversed = pairing.reversed();
        assert_eq!((reversed.players, reversed.points().made), ([1, 0], 5.0));
        assert_eq!(reversed.reversed(), pairing);
    }
}
