//! Any player made weaker or more varied: the options `level` and `variety`.
//!
//! A weaker player sees less far, is less sure of which of its moves is best, and now and then moves like a
//! beginner; it never waits. A varied one draws among the moves that its search values alike. What is drawn
//! comes from the seed and the position, and a weaker player forgets each search, so that equal questions get
//! equal answers. How much each level is weakened is the games' business.

use crate::game::{Game, Root};
use crate::options::Options;
use crate::score::{Score, Value};
use crate::search::one_ply::choices;
use crate::search::thread::{is_lost, is_won};
use crate::search::{Bound, Control, End, SearchParams, SearchResult, Searcher, Variation};
use crate::zobrist::SplitMix64;

/// How many lines a move is chosen from.
const LINES: usize = 8;
/// Distinguishes these draws from those of the wrapped player, which come from the same seed and position.
const APART: u64 = 0x6c65_7665_6c73_2e2e;
/// The value of a line that is won or lost with a distance: all wins count alike.
const DECIDED: i64 = 1 << 32;

/// What makes a player weaker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weakening {
    /// How many plies it sees.
    pub sight: u32,
    /// The most nodes of a search.
    pub nodes: u64,
    /// A move is played with probability proportional to 2^(-loss / wavers), in thousandths; 0: the best is
    /// played.
    pub wavers: u32,
    /// How many of a thousand moves are made in haste: as a beginner makes them.
    pub hasty: u32,
}

/// The player that `make` makes from `options`, with their `variety`. With a `weakening`, the level's own and
/// a beginner's, it is weakened; the beginner's is for its hasty moves.
///
/// # Errors
/// What `make` refuses.
pub(crate) fn build<G: Game, E>(
    options: &Options,
    weakening: Option<(Weakening, Weakening)>,
    make: impl Fn(&Options) -> Result<Box<dyn Searcher<G>>, E>,
) -> Result<Box<dyn Searcher<G>>, E> {
    let variety = options.variety;
    let Some((weakening, beginner)) = weakening else {
        let player = make(options)?;
        return Ok(if variety == 0 {
            player
        } else {
            Box::new(RandomizedPlayer {
                player,
                noise: SelectionNoise { wavers: 0, variety },
                seed: options.seed,
            })
        });
    };
    // With a table that is kept, or a clock that decides, the strength of a level would depend on the machine
    // and on the game so far.
    let shortsighted = |Weakening { sight, wavers, nodes, .. }| {
        let options = Options {
            depth: Some(options.depth.map_or(sight, |depth| depth.min(sight))),
            threads: 1,
            // The usual and the hasty player share the memory that is granted.
            hash_mb: (options.hash_mb / 2).max(1),
            deterministic: true,
            ..options.clone()
        };
        let randomized = RandomizedPlayer {
            player: make(&options)?,
            noise: SelectionNoise { wavers, variety },
            seed: options.seed,
        };
        Ok((randomized, nodes))
    };
    let (usual, hasty) = (shortsighted(weakening)?, shortsighted(beginner)?);
    Ok(Box::new(Weakened { usual, hasty, haste: weakening.hasty, seed: options.seed }))
}

/// A player that is hasty now and then.
struct Weakened<G: Game> {
    /// The careful player, and the most nodes of a search.
    usual: (RandomizedPlayer<G>, u64),
    /// The hasty player, likewise.
    hasty: (RandomizedPlayer<G>, u64),
    /// How many of a thousand moves are made in haste.
    haste: u32,
    seed: u64,
}

impl<G: Game> Searcher<G> for Weakened<G> {
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        params: &SearchParams<G::Move>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> (SearchResult<G::Move>, End) {
        // The second draw, because the player that varies its moves chooses by the first.
        let mut random = draws(game, root, self.seed);
        random.next();
        let is_hasty = (random.next() >> 32) * 1000 < u64::from(self.haste) << 32;
        let (player, nodes) = if is_hasty { &mut self.hasty } else { &mut self.usual };
        control.cap_nodes(*nodes);
        let (mut found, end) = player.search(game, root, params, control, &mut |found| {
            let mut found = found.clone();
            found.lines.iter_mut().for_each(announce_nothing);
            publish(&found);
        });
        found.lines.iter_mut().for_each(announce_nothing);
        let end = if end == End::Proven && !is_proven(&found) { End::Limit } else { end };
        (found, end)
    }

    fn clear(&mut self) {
        self.usual.0.clear();
        self.hasty.0.clear();
    }
}

/// Keeps only proven losses, and a win by the move itself: a player that may be hasty next time can announce
/// nothing else.
fn announce_nothing<M>(line: &mut Variation<M>) {
    if let Some((value, _)) = &mut line.value
        && !(value.score.is_loss() || value.score == Score::win_in(1))
    {
        *value = Value::guess(value.score);
    }
}

/// Whether what each line is worth is proven.
fn is_proven<M>(found: &SearchResult<M>) -> bool {
    found.lines.iter().all(|line| line.value.is_some_and(|(value, _)| value.is_decided()))
}

/// The draws of a position.
fn draws<G: Game>(game: &G, root: &Root<G>, seed: u64) -> SplitMix64 {
    choices(game, root, seed ^ APART)
}

/// A player that chooses among its best lines.
struct RandomizedPlayer<G: Game> {
    player: Box<dyn Searcher<G>>,
    noise: SelectionNoise,
    seed: u64,
}

/// Which lines may be chosen, and how likely.
#[derive(Clone, Copy, Debug)]
struct SelectionNoise {
    /// As [`Weakening::wavers`].
    wavers: u32,
    /// As [`Options::variety`]; counts if the player does not waver.
    variety: u32,
}

impl<G: Game> Searcher<G> for RandomizedPlayer<G> {
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        params: &SearchParams<G::Move>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> (SearchResult<G::Move>, End) {
        if self.noise.is_strict() {
            return self.player.search(game, root, params, control, publish);
        }
        // One draw a search, so that the choice is steady while lines improve.
        let draw = draws(game, root, self.seed).next() >> 32;
        let multipv = params.multipv.max(LINES.min(params.moves.len()));
        let wide = SearchParams { moves: params.moves.clone(), multipv };
        let noise = self.noise;
        let choose = |found: &SearchResult<G::Move>| {
            let mut found = found.clone();
            let mut scores = scores(&found.lines[..LINES.min(found.lines.len())]);
            if noise.wavers == 0 {
                forget_bounds(&found.lines, &mut scores);
            }
            let chosen =
                if noise.wavers > 0 && is_clear::<G>(&found) { 0 } else { noise.choose(&scores, draw) };
            reorder(&mut found, chosen);
            found.lines.truncate(params.multipv);
            (found, scores[chosen] == scores[0])
        };
        let mut report = |found: &SearchResult<G::Move>| publish(&choose(found).0);
        let (found, end) = self.player.search(game, root, &wide, control, &mut report);
        let (found, is_best) = choose(&found);
        // A move that is not among the best proves nothing about the position.
        let end = if end == End::Proven && !is_best { End::Limit } else { end };
        (found, end)
    }

    fn clear(&mut self) {
        self.player.clear();
    }
}

/// Whether the winner is known: then nobody wavers, but wins at once or loses as late as possible.
fn is_clear<G: Game>(found: &SearchResult<G::Move>) -> bool {
    let clear = |score: Score| is_won::<G>(score) || is_lost::<G>(score);
    found.lines[0].value.is_some_and(|(value, bound)| bound == Bound::Exact && clear(value.score))
}

/// How good each line is in thousandths; none for a line that was not looked at.
fn scores<M>(lines: &[Variation<M>]) -> Vec<Option<i64>> {
    let thousandths = |score: Score| match score.distance() {
        None => i64::from(score.raw()),
        Some(_) if score.is_win() => DECIDED,
        Some(_) => -DECIDED,
    };
    lines.iter().map(|line| line.value.map(|(value, _)| thousandths(value.score))).collect()
}

/// Takes from all lines but the best the scores that are upper bounds: what is worth at most so much may be
/// worth anything less, and is not known to be as good as another one. A player that wavers plays worse moves
/// anyway, and its ratings were measured with the bounds.
fn forget_bounds<M>(lines: &[Variation<M>], scores: &mut [Option<i64>]) {
    for (line, score) in lines.iter().zip(scores).skip(1) {
        if line.value.is_some_and(|(_, bound)| bound == Bound::Upper) {
            *score = None;
        }
    }
}

impl SelectionNoise {
    /// Whether the best line is always the choice.
    fn is_strict(self) -> bool {
        self.wavers == 0 && self.variety == 0
    }

    /// The index of the line to play, drawn with a number uniform below 2^32. Lines without a score are
    /// equally good, and are not played if the first has one.
    fn choose(self, scores: &[Option<i64>], draw: u64) -> usize {
        let weight = |score: &Option<i64>| {
            let worse = match (scores[0], score) {
                (Some(best), Some(score)) => (best - score).max(0),
                (None, None) => 0,
                _ => return 0,
            };
            match i64::from(self.wavers) {
                // Equal within the window: each as likely.
                0 => u64::from(worse < i64::from(self.variety)),
                // Integers only, so that all machines agree; linear between two powers of two.
                wavers => {
                    let (halvings, rest) = ((worse / wavers).min(20), worse % wavers);
                    ((1 << 20) >> halvings) * (2 * wavers - rest) as u64 / (2 * wavers) as u64
                }
            }
        };
        let weights: Vec<u64> = scores.iter().map(weight).collect();
        let total: u64 = weights.iter().sum();
        let mut at = (draw * total) >> 32;
        for (i, &weight) in weights.iter().enumerate() {
            if at < weight {
                return i;
            }
            at -= weight;
        }
        0
    }
}

/// Puts the chosen line first; it no longer bounds the position from above unless it is as good as the best.
fn reorder<M>(found: &mut SearchResult<M>, chosen: usize) {
    let best = found.lines[0].value;
    found.lines[..=chosen].rotate_right(1);
    if let (Some((value, _)), Some((best, _))) = (&mut found.lines[0].value, best) {
        value.at_most &= value.score == best.score && best.at_most;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zobrist::SplitMix64;

    fn shares(scores: &[i64], wavers: u32, variety: u32) -> Vec<usize> {
        let mut random = SplitMix64::new(1);
        let scores: Vec<_> = scores.iter().map(|&score| Some(score)).collect();
        let mut counts = vec![0; scores.len()];
        for _ in 0..10_000 {
            counts[SelectionNoise { wavers, variety }.choose(&scores, random.next() >> 32)] += 1;
        }
        counts
    }

    #[test]
    fn full_strength_plays_the_best_line() {
        assert_eq!(shares(&[500, 500, -3000], 0, 0), [10_000, 0, 0]);
    }

    #[test]
    fn variety_draws_among_equals_alone() {
        let equal = shares(&[500, 500, 499], 0, 1);
        assert!(equal[0] > 4500 && equal[1] > 4500 && equal[2] == 0, "{equal:?}");
        let near = shares(&[500, 400, 350], 0, 101);
        assert!(near[1] > 4500 && near[2] == 0, "{near:?}");
        let won = shares(&[DECIDED, DECIDED, 900_000], 0, 1_000_000);
        assert!(won[1] > 4500 && won[2] == 0, "{won:?}");
    }

    #[test]
    fn what_was_not_looked_at_is_not_played_beside_what_was() {
        for (wavers, variety) in [(0, 1), (0, 1_000_000), (500, 0), (1_000_000, 0)] {
            let mut random = SplitMix64::new(1);
            let mut chosen = |scores: &[Option<i64>]| -> std::collections::BTreeSet<usize> {
                let choose = |_| SelectionNoise { wavers, variety }.choose(scores, random.next() >> 32);
                (0..1000).map(choose).collect()
            };
            for best in [-5000, 0, 5000] {
                assert_eq!(chosen(&[Some(best), None, Some(best), None]), [0, 2].into());
            }
            assert_eq!(chosen(&[None, None, None]), [0, 1, 2].into());
        }
    }

    #[test]
    fn what_is_worth_at_most_as_much_is_not_taken_for_equal() {
        let line = |bound| {
            let value = Some((Value::guess(Score::from_raw(5000)), bound));
            Variation { pv: vec![0], depth: 1, value }
        };
        let lines: Vec<Variation<u8>> =
            [Bound::Upper, Bound::Upper, Bound::Exact, Bound::Lower].map(line).into();
        let mut scores = scores(&lines);
        forget_bounds(&lines, &mut scores);
        assert_eq!(scores, [Some(5000), None, Some(5000), Some(5000)]);
    }

    #[test]
    fn who_wavers_plays_worse_moves_less_often_and_less_so_the_surer() {
        let surer: Vec<Vec<usize>> =
            [8000, 4000, 2000, 1000, 500, 1].map(|wavers| shares(&[2000, 1000, -4000], wavers, 0)).into();
        assert!(surer.windows(2).all(|pair| pair[0][0] < pair[1][0]), "{surer:?}");
        assert!(surer.iter().all(|counts| counts.is_sorted_by(|a, b| a >= b)), "{surer:?}");
        assert_eq!(surer[5], [10_000, 0, 0]);
        let halved = shares(&[1000, 0], 1000, 0);
        assert!((6450..6900).contains(&halved[0]), "{halved:?}");
    }
}
