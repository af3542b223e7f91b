//! Players that every game has by name: `default`, `random`, `greedy`, `minimax`, `alphabeta`, `tree`.

use crate::game::{Evaluator, Game, Named};
use crate::options::Options;
use crate::search::Searcher;
use crate::search::erased::Erased;
use crate::search::iterate::Iterate;
use crate::search::one_ply::{Greedy, Random};
use crate::search::plain::{Plain, Pruning};
use crate::search::tree::Tree;

/// The players that [`build`] makes; a game lists them beside its own.
pub const COMMON: [Named; 6] = [
    Named::new("default", "The strongest player: iterative deepening (PVS) with a table."),
    Named::new("random", "Any legal move, each as likely, drawn from the seed."),
    Named::new("greedy", "The move whose position the evaluation likes best; ties drawn from the seed."),
    Named::new("minimax", "Plain minimax to the option `depth`; absent, to the search's depth limit, or 3."),
    Named::new(
        "alphabeta",
        "Plain alpha-beta to the option `depth`; absent, to the search's depth limit, or 5.",
    ),
    Named::new(
        "tree",
        "A tree search (PUCT) whose values and likelihoods come from the evaluation; each depth is four times the visits of the last.",
    ),
];

/// The common player that `options.player` names, with an evaluation; none if the name is not common.
pub fn build<G: Game, E: Evaluator<G>>(
    game: &G,
    evaluator: E,
    options: &Options,
) -> Option<Box<dyn Searcher<G>>> {
    Some(match options.player.as_str() {
        "default" => Box::new(Iterate::new(game, evaluator, options)),
        "random" => Box::new(Random::new(options.seed)),
        "greedy" => Box::new(Greedy::new(Erased::new(evaluator), options.seed)),
        "minimax" => Box::new(Plain::new(Erased::new(evaluator), Pruning::None, options.depth, 3)),
        "alphabeta" => Box::new(Plain::new(Erased::new(evaluator), Pruning::AlphaBeta, options.depth, 5)),
        "tree" => Box::new(Tree::new(Erased::new(evaluator), options)),
        _ => return None,
    })
}
