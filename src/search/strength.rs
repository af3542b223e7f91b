//! Any player made weaker or more various: the options `level` and `variety`.
//!
//! A weaker player sees less far, is less sure of which of its good moves is best, and now and then overlooks
//! something; it never waits. A various one draws among the moves that its search values alike. Both let the
//! player search several lines and choose among them; the choice is drawn from the seed and the position, so
//! that equal questions get equal answers.

use crate::game::{Game, Root};
use crate::options::Options;
use crate::search::one_ply::choices;
use crate::search::{Asked, Control, End, Found, Searcher};

/// The level at which a player is not weakened.
pub const FULL: u32 = 10;

/// The lines among which the choice is made.
const LINES: usize = 8;
/// Advantages past this count alike, in thousandths: so do won positions.
const CLEAR: i64 = 20_000;

/// How far the levels below [`FULL`] see, in plies.
const SIGHT: [u32; FULL as usize - 1] = [1, 2, 3, 4, 6, 8, 10, 13, 16];

/// The options of the player to be weakened, which sees less far.
#[must_use]
pub fn weakened(options: &Options) -> Options {
    let mut weaker = options.clone();
    if let Some(&sight) = SIGHT.get(options.level.saturating_sub(1) as usize) {
        weaker.depth = Some(options.depth.map_or(sight, |depth| depth.min(sight)));
    }
    weaker
}

/// `player`, made weaker or more various as the options say.
#[must_use]
pub fn adjust<G: Game>(player: Box<dyn Searcher<G>>, options: &Options) -> Box<dyn Searcher<G>> {
    if options.level >= FULL && options.variety == 0 {
        return player;
    }
    Box::new(Adjusted { player, level: options.level, variety: options.variety, seed: options.seed })
}

struct Adjusted<G: Game> {
    player: Box<dyn Searcher<G>>,
    level: u32,
    variety: u32,
    seed: u64,
}

/// Two draws, each uniform below 2^32, made once a search so that the choice is steady while lines improve.
struct Draws {
    overlooks: u64,
    choice: u64,
}

impl<G: Game> Searcher<G> for Adjusted<G> {
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        asked: &Asked<G::Move>,
        control: &Control,
        publish: &mut dyn FnMut(&Found<G::Move>),
    ) -> (Found<G::Move>, End) {
        let mut random = choices(game, root, self.seed);
        let draws = Draws { overlooks: random.next() >> 32, choice: random.next() >> 32 };
        let multipv = asked.multipv.max(LINES.min(asked.moves.len()));
        let wide = Asked { moves: asked.moves.clone(), multipv };
        let (level, variety) = (self.level, self.variety);
        let choose = |found: &Found<G::Move>| {
            let mut found = found.clone();
            let scores = scores(&found);
            let chosen = choose(&scores, level, variety, &draws);
            reorder(&mut found, chosen);
            found.lines.truncate(asked.multipv);
            (found, scores[chosen] == scores[0])
        };
        let mut tell = |found: &Found<G::Move>| publish(&choose(found).0);
        let (found, end) = self.player.search(game, root, &wide, control, &mut tell);
        let (found, is_best) = choose(&found);
        // A move that is not among the best proves nothing about the position.
        let end = if end == End::Proven && !is_best { End::Limit } else { end };
        (found, end)
    }

    fn clear(&mut self) {
        self.player.clear();
    }
}

/// How good each line is in thousandths, none of them past [`CLEAR`]; nothing for lines without a score.
fn scores<M>(found: &Found<M>) -> Vec<i64> {
    let score = |line: &crate::search::Line<M>| {
        line.value.map_or(0, |(value, _)| i64::from(value.score.raw()).clamp(-CLEAR, CLEAR))
    };
    found.lines.iter().map(score).collect()
}

/// The index of the line to play.
fn choose(scores: &[i64], level: u32, variety: u32, draws: &Draws) -> usize {
    let weights: Vec<u64> = if level >= FULL {
        // Equal within the window: each as likely.
        let window = i64::from(variety) - 1;
        scores.iter().map(|score| u64::from(scores[0] - score <= window)).collect()
    } else {
        let missing = u64::from(FULL - level);
        if draws.overlooks < ((missing * missing) << 32) / 400 {
            vec![1; scores.len()]
        } else {
            // Each `scale` that a move is worse halves its chance: integers alone, equal on every machine.
            let scale = 60 * (missing * missing) as i64;
            scores.iter().map(|score| (1 << 20) >> ((scores[0] - score) / scale).clamp(0, 20)).collect()
        }
    };
    let total: u64 = weights.iter().sum();
    let mut at = (draws.choice * total) >> 32;
    for (i, &weight) in weights.iter().enumerate() {
        if at < weight {
            return i;
        }
        at -= weight;
    }
    0
}

/// Puts the chosen line first; it no longer bounds the position from above unless it is as good as the best.
fn reorder<M>(found: &mut Found<M>, chosen: usize) {
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

    fn shares(scores: &[i64], level: u32, variety: u32) -> Vec<usize> {
        let mut random = SplitMix64::new(1);
        let mut counts = vec![0; scores.len()];
        for _ in 0..10_000 {
            let draws = Draws { overlooks: random.next() >> 32, choice: random.next() >> 32 };
            counts[choose(scores, level, variety, &draws)] += 1;
        }
        counts
    }

    #[test]
    fn full_strength_plays_the_best_line() {
        assert_eq!(shares(&[500, 500, -3000], FULL, 0), [10_000, 0, 0]);
    }

    #[test]
    fn variety_draws_among_equals_alone() {
        let equal = shares(&[500, 500, 499], FULL, 1);
        assert!(equal[0] > 4500 && equal[1] > 4500 && equal[2] == 0, "{equal:?}");
        let near = shares(&[500, 400, 350], FULL, 101);
        assert!(near[1] > 4500 && near[2] == 0, "{near:?}");
    }

    #[test]
    fn each_level_plays_the_best_line_more_often() {
        let best: Vec<usize> = (1..=FULL).map(|level| shares(&[2000, 1000, -4000], level, 0)[0]).collect();
        assert!(best.windows(2).all(|pair| pair[0] < pair[1]), "{best:?}");
    }
}
