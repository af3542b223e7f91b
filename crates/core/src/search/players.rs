//! Players that every game has by name: `default`, `random`, `greedy`, `minimax`, `alphabeta`, `tree`.

use crate::game::{Evaluator, Game, Named};
use crate::options::{OptionError, Options};
use crate::search::Searcher;
use crate::search::erased::Erased;
use crate::search::iterate::Iterate;
use crate::search::one_ply::{Greedy, Random};
use crate::search::plain::{Plain, Pruning};
use crate::search::tree::Tree;

/// The players that [`build`] makes. A game's entry has them beside its own, and in the place of those that
/// have the same names.
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

/// The common player that `options.player` names, with an evaluation.
///
/// ```
/// use plyd_core::nim::{Nim, Rest};
/// use plyd_core::options::Options;
/// use plyd_core::search::players;
///
/// let nim = Nim { most: 3 };
/// for name in players::COMMON.map(|named| named.name) {
///     let options = Options { player: name.to_owned(), ..Options::default() };
///     assert!(players::build(&nim, Rest, &options).is_ok(), "{name}");
/// }
/// ```
///
/// # Errors
/// No common player has that name.
pub fn build<G: Game, E: Evaluator<G>>(
    game: &G,
    evaluator: E,
    options: &Options,
) -> Result<Box<dyn Searcher<G>>, OptionError> {
    Ok(match options.player.as_str() {
        "default" => Box::new(Iterate::new(game, evaluator, options)),
        "random" => Box::new(Random::new(options.seed)),
        "greedy" => Box::new(Greedy::new(Erased::new(evaluator), options.seed)),
        "minimax" => Box::new(Plain::new(Erased::new(evaluator), Pruning::None, options.depth, 3)),
        "alphabeta" => Box::new(Plain::new(Erased::new(evaluator), Pruning::AlphaBeta, options.depth, 5)),
        "tree" => Box::new(Tree::new(Erased::new(evaluator), options)),
        name => {
            let names = COMMON.map(|named| named.name).join(", ");
            let message =
                format!("`{name}` is no player of this game, nor one that games have in common: {names}");
            return Err(OptionError { name: "player", message });
        }
    })
}
