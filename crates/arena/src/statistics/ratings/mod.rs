//! Ratings of many players from all their results at once: the Bradley-Terry model, with a draw as half a
//! win.
//!
//! A finite difference explains results only among players who have all made points against each other,
//! directly or through others (Ford 1957); so a player that won all its games stands above the others at no
//! known distance, and the others are rated without it. [`rate`] uses no prior: two players' ratings differ
//! by the Elo of their match. A [`Fit`] can use one, and fixed strengths of known players.
//!
//! Sources: R. A. Bradley and M. E. Terry, "Rank Analysis of Incomplete Block Designs" (1952); L. R. Ford,
//! "Solution of a Ranking Problem from Binary Comparisons" (1957); D. R. Hunter, "MM algorithms for
//! generalized Bradley-Terry models" (2004). The figures are those that Ordo and BayesElo print for
//! chess programs.

mod bradley_terry;
mod groups;
mod matrix;

use serde::Serialize;

use super::{Estimate, Pairing};

pub use bradley_terry::{Assumptions, Fit, Prior};

/// A player's rating.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Rating {
    /// The player by its number.
    pub player: usize,
    /// The players whose ratings can be compared with this one's, counted from 0. All points between two
    /// groups went to the earlier one, or there were none.
    pub group: usize,
    /// The strength in Elo; none for a player that is alone in its group. The error is that of the distance
    /// from where the group is anchored.
    pub elo: Option<Estimate>,
    /// The likelihood, from 0 to 1, of being stronger than the next player of the list; none before another
    /// group.
    pub superiority: Option<f64>,
}

/// Where the ratings of a group are 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Anchor {
    /// At the mean of the players.
    #[default]
    Mean,
    /// At this player, in its group; at the mean in the others.
    Player(usize),
}

/// Rates players by their results, the strongest first.
///
/// The errors follow the variance that was seen among the pairs of games around what the ratings expect (the
/// robust or sandwich estimate: P. J. Huber 1967), so that neither draws nor openings that favour a side make
/// them wrong.
///
/// ```
/// use plyd_arena::statistics::ratings::{Anchor, rate};
/// use plyd_arena::statistics::{Games, Pairing};
///
/// let met = |players, counts| Pairing { singles: Games { counts }, ..Pairing::new(players) };
/// let results = [met([0, 1], [30, 40, 50]), met([1, 2], [20, 40, 60]), met([0, 2], [10, 40, 70])];
/// let ratings = rate(3, &results, Anchor::Player(2));
/// assert_eq!(ratings.iter().map(|rating| rating.player).collect::<Vec<_>>(), [0, 1, 2]);
/// assert_eq!(ratings[2].elo.map(|elo| elo.value), Some(0.0));
/// ```
///
/// # Panics
/// If a pairing names a player whose number is not below `players`.
#[must_use]
pub fn rate(players: usize, pairings: &[Pairing], anchor: Anchor) -> Vec<Rating> {
    let groups = groups::comparable(players, pairings);
    groups
        .iter()
        .enumerate()
        .flat_map(|(group, members)| rate_group(group, members, pairings, anchor))
        .collect()
}

fn rate_group(group: usize, members: &[usize], pairings: &[Pairing], anchor: Anchor) -> Vec<Rating> {
    if let [player] = *members {
        return vec![Rating { player, group, elo: None, superiority: None }];
    }
    let place = |player| members.iter().position(|member| *member == player);
    let within = |pairing: &Pairing| {
        let [first, second] = pairing.players;
        Some(Pairing { players: [place(first)?, place(second)?], ..*pairing })
    };
    let results = pairings.iter().filter_map(within).collect::<Vec<_>>();
    let fit = Fit::new(members.len(), &results, &Assumptions::default());
    let anchored = match anchor {
        Anchor::Mean => None,
        Anchor::Player(player) => place(player),
    };
    let strength = |place| match anchored {
        None => fit.elo(place),
        Some(anchor) => fit.difference(place, anchor),
    };
    let elo: Vec<Estimate> = (0..members.len()).map(strength).collect();
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by(|a, b| elo[*b].value.total_cmp(&elo[*a].value));
    let rating = |(rank, &place): (usize, &usize)| Rating {
        player: members[place],
        group,
        elo: Some(elo[place]),
        superiority: order.get(rank + 1).and_then(|next| fit.superiority(place, *next)),
    };
    order.iter().enumerate().map(rating).collect()
}

#[cfg(test)]
mod tests {
    use super::super::elo::ELO_PER_LOGIT;
    use super::super::normal::Z_95;
    use super::super::simulation::{Opponents, held_in_95_percent};
    use super::super::{Games, Pairs};
    use super::*;
    use plyd_core::zobrist::SplitMix64;

    fn pairs(players: [usize; 2], counts: [u64; 5]) -> Pairing {
        Pairing { pairs: Pairs { counts }, ..Pairing::new(players) }
    }

    #[test]
    fn a_season_of_baseball_is_rated_as_published() {
        // A. Agresti, "Categorical Data Analysis" (2002), tables 10.10 and 10.11: seven teams of the American
        // League in 1987, the wins of the row against the column, and the strengths relative to the last, in
        // logits.
        let teams = [
            ("Milwaukee", [0, 7, 9, 7, 7, 9, 11], 1.58),
            ("Detroit", [6, 0, 7, 5, 11, 9, 9], 1.44),
            ("Toronto", [4, 6, 0, 7, 7, 8, 12], 1.29),
            ("New York", [6, 8, 6, 0, 6, 7, 10], 1.25),
            ("Boston", [6, 2, 6, 7, 0, 7, 12], 1.11),
            ("Cleveland", [4, 4, 5, 6, 6, 0, 6], 0.68),
            ("Baltimore", [2, 4, 1, 3, 1, 7, 0], 0.0),
        ];
        let mut pairings = Vec::new();
        for (row, (_, wins, _)) in teams.iter().enumerate() {
            for (column, (_, losses, _)) in teams.iter().enumerate().skip(row + 1) {
                let singles = Games { counts: [losses[row], 0, wins[column]] };
                pairings.push(Pairing { singles, ..Pairing::new([row, column]) });
            }
        }
        let ratings = rate(7, &pairings, Anchor::Player(6));
        for (rating, (name, _, logits)) in ratings.iter().zip(teams) {
            let Estimate { value, error } = rating.elo.unwrap();
            assert!((value / ELO_PER_LOGIT - logits).abs() < 0.005, "{name}: {rating:?}");
            // "Standard errors are about 0.3", of differences; of none for the team at which they are
            // anchored.
            let standard = error / ELO_PER_LOGIT / Z_95;
            assert!(
                if logits > 0.0 { (0.25..0.36).contains(&standard) } else { standard == 0.0 },
                "{name}: {standard}"
            );
        }
        let order: Vec<_> = ratings.iter().map(|rating| rating.player).collect();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
        // The same with the last team's strength fixed.
        let known = Assumptions { fixed: vec![(6, 1500.0)], prior: Prior::None };
        let fit = Fit::new(7, &pairings, &known);
        for rating in ratings {
            let (elo, fixed) = (rating.elo.unwrap(), fit.elo(rating.player));
            assert!((fixed.value - 1500.0 - elo.value).abs() < 1e-6, "{fixed:?} {elo:?}");
            assert!((fixed.error - elo.error).abs() < 1e-6, "{fixed:?} {elo:?}");
        }
    }

    #[test]
    fn a_prior_and_fixed_players_give_what_is_computed_by_hand() {
        // 0 won 9 pairs and 1 1/2 points of a tenth against the fixed player 1: with the prior 20 of 21
        // points, odds of 20 to 1. The two fixed ones met, too, which says nothing.
        let pairings = [pairs([0, 1], [0, 0, 0, 1, 9]), pairs([1, 2], [3, 0, 0, 0, 0])];
        let known = Assumptions { fixed: vec![(1, 100.0), (2, -50.0)], prior: Prior::Jeffreys };
        let fit = Fit::new(3, &pairings, &known);
        let elo = fit.elo(0);
        assert!((elo.value - 100.0 - 400.0 * 20_f64.log10()).abs() < 1e-6, "{elo:?}");
        // Expected are 20/21 of a point: 9 pairs are 2/21 above that of two games, one 8.5/21 below. Each
        // drew 2/21 of the information to itself, which is put back times the variance of two games. The
        // prior's half win and half loss are 1/21 and 20/21 off. The information is 21 * 20/21 * 1/21.
        let seen = (9.0 * 4.0 + 8.5 * 8.5 + (1.0 + 400.0) / 2.0) / (21.0 * 21.0);
        let squares = seen + 10.0 * (2.0 / 21.0) * 2.0 * 20.0 / (21.0 * 21.0);
        let error = ELO_PER_LOGIT * Z_95 * f64::sqrt(squares) * 21.0 / 20.0;
        assert!((elo.error - error).abs() < 1e-6, "{elo:?} {error}");
        assert_eq!([1, 2].map(|player| fit.elo(player).error), [0.0; 2]);
        assert!((fit.elo(1).value - 100.0).abs() < 1e-9 && (fit.elo(2).value + 50.0).abs() < 1e-9);
        assert_eq!(fit.difference(0, 1).error, elo.error);
    }

    #[test]
    fn two_players_differ_by_the_elo_of_their_match() {
        let pairing = pairs([1, 0], [3, 8, 20, 12, 17]);
        let elo = pairing.elo().unwrap();
        let ratings = rate(2, &[pairing], Anchor::Player(0));
        let rated = ratings[0].elo.unwrap();
        assert_eq!(ratings[0].player, 1);
        assert!((rated.value - elo.value).abs() < 1e-6, "{rated:?} {elo:?}");
        // The error of a match is that of the ends of the score's interval, a rating's that of the curve's
        // slope.
        assert!((rated.error / elo.error - 1.0).abs() < 0.02, "{rated:?} {elo:?}");
        assert!((ratings[0].superiority.unwrap() - pairing.superiority().unwrap()).abs() < 0.01);
        let mean = rate(2, &[pairing], Anchor::Mean);
        assert!((mean[0].elo.unwrap().value - elo.value / 2.0).abs() < 1e-6);
        assert_eq!(mean[0].elo.unwrap().value, -mean[1].elo.unwrap().value);
    }

    #[test]
    fn ratings_of_few_pairs_have_students_interval() {
        // Around an even score the curve is straight enough for both to be alike.
        let pairing = pairs([0, 1], [0, 1, 4, 1, 0]);
        let (elo, rated) = (pairing.elo().unwrap(), rate(2, &[pairing], Anchor::Player(1))[0].elo.unwrap());
        assert!((rated.error / elo.error - 1.0).abs() < 0.05, "{rated:?} {elo:?}");
        // All pairs alike: the distance has no known error, the anchor's own is 0.
        let ratings = rate(2, &[pairs([0, 1], [0, 0, 0, 9, 0])], Anchor::Player(1));
        let errors: Vec<f64> = ratings.iter().map(|rating| rating.elo.unwrap().error).collect();
        assert_eq!((errors, ratings[0].superiority), (vec![f64::INFINITY, 0.0], None));
    }

    #[test]
    fn who_won_or_lost_all_stands_beyond_the_others() {
        // 0 and 3 are rated by their games; 2 lost all, 1 won all, and 4 played none.
        let pairings = [
            pairs([0, 3], [1, 2, 3, 4, 5]),
            pairs([0, 2], [0, 0, 0, 0, 9]),
            pairs([2, 3], [9, 0, 0, 0, 0]),
            pairs([1, 0], [0, 0, 0, 0, 9]),
            pairs([1, 2], [0, 0, 0, 0, 2]),
        ];
        let ratings = rate(5, &pairings, Anchor::Mean);
        let places: Vec<_> =
            ratings.iter().map(|rating| (rating.player, rating.group, rating.elo.is_some())).collect();
        assert_eq!(places, [(1, 0, false), (0, 1, true), (3, 1, true), (2, 2, false), (4, 3, false)]);
        let alone = rate(2, &[Pairing { players: [0, 1], ..pairings[0] }], Anchor::Mean);
        assert_eq!((ratings[1].elo, ratings[2].elo), (alone[0].elo, alone[1].elo));
        assert!(ratings.iter().all(|rating| rating.superiority.is_some() == (rating.player == 0)));
    }

    #[test]
    fn a_half_point_of_a_thousand_is_enough() {
        let pairings = [pairs([0, 1], [0, 0, 0, 1, 9_999]), pairs([1, 2], [0, 0, 0, 1, 9_999])];
        let ratings = rate(3, &pairings, Anchor::Player(1));
        let elo = pairings[0].score().unwrap().value;
        for (rating, expected) in ratings.iter().zip([1.0, 0.0, -1.0]) {
            let expected = expected * super::super::elo(elo);
            assert!((rating.elo.unwrap().value - expected).abs() < 1e-3, "{rating:?}, not {expected}");
        }
    }

    #[test]
    fn intervals_hold_the_true_strengths_as_often_as_they_say() {
        // A round robin with few pairs, and one pairing that was not played.
        let truth = [90.0, 30.0, -20.0, -100.0];
        let played_by = [(0, 1, 40), (0, 2, 40), (0, 3, 40), (1, 2, 60), (1, 3, 80)];
        let opponents = played_by.map(|(a, b, _)| Opponents::new(truth[a] - truth[b], 0.15, 0.15));
        let mut random = SplitMix64::new(7);
        for (anchor, origin) in [(Anchor::Mean, 0.0), (Anchor::Player(2), truth[2])] {
            let held = held_in_95_percent(3000, || {
                let played = played_by.iter().zip(&opponents).map(|(&(a, b, count), opponents)| Pairing {
                    pairs: opponents.pairs(count, &mut random),
                    ..Pairing::new([a, b])
                });
                let mut ratings = rate(4, &played.collect::<Vec<_>>(), anchor);
                ratings.sort_by_key(|rating| rating.player);
                std::array::from_fn::<_, 4, _>(|player| {
                    (ratings[player].elo.unwrap(), truth[player] - origin)
                })
            });
            // The anchor's own interval always does.
            assert_eq!(held, std::array::from_fn(|player| anchor != Anchor::Player(player)), "{anchor:?}");
        }
    }
}
