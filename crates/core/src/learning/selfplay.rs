//! A game of an evaluation against itself, as training sees it.

use super::network::{Network, Sum};
use super::td::{Played, Seen};
use crate::game::{Game, Root, Side, Turn};
use crate::options::Options;
use crate::score::Score;
use crate::search::erased::Erased;
use crate::search::iterate::Iterate;
use crate::search::{Control, SearchParams, Searcher};
use crate::zobrist::SplitMix64;

/// How games are played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SelfPlay {
    /// To what depth each move is searched.
    pub depth: u32,
    /// Moves after which an unfinished game counts as a draw.
    pub max_moves: u32,
    /// The seed of the chance outcomes.
    pub seed: u64,
}

/// Plays a game from a position to its end.
pub(crate) fn play<G: Game, N: Network<G>>(
    game: &G,
    mut root: Root<G>,
    network: &N,
    weights: &[i16],
    options: &Options,
    how: &SelfPlay,
) -> Played {
    // Learning takes minutes once, and a search of its own would lengthen every build.
    let evaluator = Erased::new(network.evaluator(weights));
    let mut searcher = Iterate::new(game, evaluator, options);
    let mut random = SplitMix64::new(how.seed);
    let mut seen = Vec::new();
    loop {
        settle(game, &mut root, &mut random);
        if let Turn::Over(outcome) = game.turn(&root.pos) {
            return Played { seen, result: outcome.winner.map_or(0.5, |winner| for_first(winner, 1.0)) };
        }
        if seen.len() as u32 == how.max_moves {
            return Played { seen, result: 0.5 };
        }
        let side = game.side(&root.pos);
        let mut params = SearchParams { moves: Vec::new(), multipv: 1 };
        game.moves(&root.pos, &mut params.moves);
        let control = Control::default();
        control.set_limits(None, Some(how.depth));
        let (found, _) = searcher.search(game, &root, &params, &control, &mut |_| ());
        let line = &found.lines[0];
        let mut active = Vec::new();
        let Sum { base, unit, decisive } = network.sum(game, &root.pos, &mut active);
        let scale = f64::from(decisive.max(1));
        let outlook = line.value.map(|(value, _)| likelihood(value.score, scale));
        seen.push(Seen {
            is_first: side == Side::First,
            base: f64::from(base) / scale,
            unit: f64::from(unit) / scale,
            active,
            outlook: for_first(side, outlook.unwrap_or(0.5)),
        });
        root.play(game, line.pv[0]);
    }
}

/// Turns a side's likelihood of winning into the first player's.
fn for_first(side: Side, likelihood: f64) -> f64 {
    if side == Side::First { likelihood } else { 1.0 - likelihood }
}

/// How likely the side that has this score wins.
fn likelihood(score: Score, decisive: f64) -> f64 {
    if score.is_win() {
        1.0
    } else if score.is_loss() {
        0.0
    } else {
        super::td::logistic(f64::from(score.raw()) / decisive)
    }
}

/// Draws what chance decides, until a player is to move or the game is over.
fn settle<G: Game>(game: &G, root: &mut Root<G>, random: &mut SplitMix64) {
    let mut outcomes = Vec::new();
    while game.turn(&root.pos) == Turn::Chance {
        outcomes.clear();
        game.outcomes(&root.pos, &mut outcomes);
        let total: u32 = outcomes.iter().map(|&(_, weight)| weight).sum();
        let mut place = random.below(total as usize) as u32;
        let drawn = outcomes.iter().find(|&&(_, weight)| {
            let reaches = place < weight;
            place = place.saturating_sub(weight);
            reaches
        });
        let &(outcome, _) = drawn.expect("the place is within the weights");
        root.play(game, outcome);
    }
}
