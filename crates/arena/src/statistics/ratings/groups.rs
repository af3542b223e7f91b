//! Which players' strengths can be compared.

use std::cmp::Reverse;

use super::Pairing;

/// The players in groups within which each has made points against each other one, directly or through
/// others: the strongly connected components of "made points against". A group that made points against
/// another one comes first.
pub(super) fn comparable(players: usize, pairings: &[Pairing]) -> Vec<Vec<usize>> {
    let reached = reached(players, pairings);
    let mut order: Vec<usize> = (0..players).collect();
    // Who reaches a player reaches all that this player reaches, and more unless they are in one group.
    order.sort_by_key(|&player| {
        let set = &reached[player];
        Reverse((set.iter().filter(|reached| **reached).count(), set))
    });
    order.chunk_by(|a, b| reached[*a] == reached[*b]).map(<[usize]>::to_vec).collect()
}

/// For each player, against whom it made points, directly or through others; itself is one of them.
/// Warshall's algorithm.
fn reached(players: usize, pairings: &[Pairing]) -> Vec<Vec<bool>> {
    let mut reached: Vec<Vec<bool>> =
        (0..players).map(|player| (0..players).map(|other| other == player).collect()).collect();
    for pairing in pairings.iter().flat_map(|pairing| [*pairing, pairing.reversed()]) {
        let [player, opponent] = pairing.players;
        reached[player][opponent] |= pairing.points().made > 0.0;
    }
    for through in 0..players {
        let beyond = reached[through].clone();
        for set in reached.iter_mut().filter(|set| set[through]) {
            set.iter_mut().zip(&beyond).for_each(|(reached, more)| *reached |= more);
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::super::super::Games;
    use super::*;

    #[test]
    fn groups_stand_in_the_order_of_their_strength() {
        let won =
            |winner, loser| Pairing { singles: Games { counts: [0, 0, 1] }, ..Pairing::new([winner, loser]) };
        let drawn =
            |one, other| Pairing { singles: Games { counts: [0, 1, 0] }, ..Pairing::new([one, other]) };
        let cases = [
            (2, vec![], vec![vec![0], vec![1]]),
            (2, vec![won(1, 0)], vec![vec![1], vec![0]]),
            (2, vec![won(1, 0), won(0, 1)], vec![vec![0, 1]]),
            (3, vec![won(0, 1), won(1, 2), won(2, 0)], vec![vec![0, 1, 2]]),
            (4, vec![drawn(0, 3), drawn(1, 2), won(1, 0)], vec![vec![1, 2], vec![0, 3]]),
            (5, vec![drawn(1, 4), drawn(2, 3), won(1, 0), won(2, 0)], vec![vec![1, 4], vec![2, 3], vec![0]]),
            (5, vec![won(2, 1), won(2, 0), drawn(3, 1)], vec![vec![2], vec![1, 3], vec![0], vec![4]]),
        ];
        for (players, pairings, groups) in cases {
            assert_eq!(comparable(players, &pairings), groups, "{pairings:?}");
        }
    }
}
