//! Players by name: those that every game has (`default`, `random`, `greedy`, `minimax`, `alphabeta`,
//! `tree`), and what a game lists of its own.

use crate::game::{Evaluator, Game, Named};
use crate::options::{OptionError, Options};
use crate::search::Searcher;
use crate::search::erased::Erased;
use crate::search::iterate::Iterate;
use crate::search::one_ply::{Greedy, Random};
use crate::search::plain::{Plain, Pruning};
use crate::search::tree::Tree;

/// A player, or why the options do not make one.
pub type Made<G> = Result<Box<dyn Searcher<G>>, OptionError>;

/// How a player is made: for a game, with an evaluation, by options.
pub type MakePlayer<G> = dyn Fn(&G, Erased<G>, &Options) -> Made<G> + Sync;

/// A player of a game: its name, what it is, and how it is made.
///
/// ```
/// use plyd_core::nim::Nim;
/// use plyd_core::search::one_ply::Random;
/// use plyd_core::search::players::NamedPlayer;
///
/// /// What [`Playable::PLAYERS`](plyd_core::engine::Playable::PLAYERS) of a game would be.
/// const PLAYERS: &[NamedPlayer<Nim>] = &[
///     NamedPlayer::strongest("The strongest player, in the words of this game."),
///     NamedPlayer::new("careless", "Any move.", &|_, _, options| Ok(Box::new(Random::new(options.seed))))
///         .formerly("random-move"),
/// ];
/// assert_eq!(PLAYERS[0].named().name, "default");
/// ```
pub struct NamedPlayer<G: Game> {
    named: Named,
    /// None: the strongest search, which is compiled for each evaluation separately.
    make: Option<&'static MakePlayer<G>>,
}

impl<G: Game> NamedPlayer<G> {
    /// The players that games have in common. A game's own one takes the place of one that has the same name.
    pub const COMMON: &'static [Self] = &[
        Self::strongest("The strongest player: iterative deepening (PVS) with a table."),
        Self::new("random", "A random legal move, drawn from the seed.", &|_, _, options| {
            Ok(Box::new(Random::new(options.seed)))
        }),
        Self::new(
            "greedy",
            "The move whose position the evaluation likes best; ties drawn from the seed.",
            &|_, evaluator, options| Ok(Box::new(Greedy::new(evaluator, options.seed))),
        ),
        Self::new(
            "minimax",
            "Plain minimax to the option `depth`; absent, to the search's depth limit, or 3. With a deadline it deepens from 1.",
            &|_, evaluator, options| Ok(Box::new(Plain::new(evaluator, Pruning::None, options.depth, 3))),
        ),
        Self::new(
            "alphabeta",
            "Plain alpha-beta to the option `depth`; absent, to the search's depth limit, or 5. With a deadline it deepens from 1.",
            &|_, evaluator, options| {
                Ok(Box::new(Plain::new(evaluator, Pruning::AlphaBeta, options.depth, 5)))
            },
        ),
        Self::new(
            "tree",
            "A tree search (PUCT) whose values and likelihoods come from the evaluation; each depth is four times the visits of the last.",
            &|_, evaluator, options| Ok(Box::new(Tree::new(evaluator, options))),
        ),
    ];

    /// A player that `make` makes.
    #[must_use]
    pub const fn new(name: &'static str, about: &'static str, make: &'static MakePlayer<G>) -> Self {
        Self { named: Named::new(name, about), make: Some(make) }
    }

    /// The player `default`: [`Playable::strongest`](crate::engine::Playable::strongest) makes it.
    #[must_use]
    pub const fn strongest(about: &'static str) -> Self {
        Self { named: Named::new("default", about), make: None }
    }

    /// The same with its name in the previous version, which is still accepted.
    #[must_use]
    pub const fn formerly(self, former: &'static str) -> Self {
        Self { named: self.named.formerly(former), make: self.make }
    }

    /// Its name, and what it is.
    #[must_use]
    pub const fn named(&self) -> &Named {
        &self.named
    }

    /// All players of a game whose own ones are `own`: the common ones first, or those that replace them.
    pub(crate) fn all(own: &'static [Self]) -> impl Iterator<Item = &'static Self> + Clone {
        let is_same = |one: &Self, other: &Self| one.named.name == other.named.name;
        let in_place =
            move |common: &'static Self| own.iter().find(|own| is_same(own, common)).unwrap_or(common);
        let is_more = move |own: &&Self| !Self::COMMON.iter().any(|common| is_same(common, own));
        Self::COMMON.iter().map(in_place).chain(own.iter().filter(is_more))
    }
}

/// The player that `options.player` names, with an evaluation; `own` are the game's own players.
///
/// # Errors
/// No player has that name, or it cannot be made.
pub(crate) fn make<G: Game, E: Evaluator<G>>(
    game: &G,
    own: &'static [NamedPlayer<G>],
    evaluator: E,
    options: &Options,
    strongest: impl FnOnce(E) -> Made<G>,
) -> Made<G> {
    let mut players = NamedPlayer::all(own);
    let Some(player) = players.clone().find(|player| player.named.name == options.player) else {
        let names: Vec<&str> = players.by_ref().map(|player| player.named.name).collect();
        let message = format!("`{}` is no player of this game: {}", options.player, names.join(", "));
        return Err(OptionError { name: "player", message });
    };
    match player.make {
        Some(make) => make(game, Erased::new(evaluator), options),
        None => strongest(evaluator),
    }
}

/// The common player that `options.player` names, with an evaluation.
///
/// ```
/// use plyd_core::nim::{Nim, Rest};
/// use plyd_core::options::Options;
/// use plyd_core::search::players::{self, NamedPlayer};
///
/// let nim = Nim { most: 3 };
/// for player in NamedPlayer::<Nim>::COMMON {
///     let options = Options { player: player.named().name.to_owned(), ..Options::default() };
///     assert!(players::build(&nim, Rest, &options).is_ok());
/// }
/// ```
///
/// # Errors
/// No common player has that name.
pub fn build<G: Game, E: Evaluator<G>>(game: &G, evaluator: E, options: &Options) -> Made<G> {
    make(game, &[], evaluator, options, |evaluator| Ok(Box::new(Iterate::new(game, evaluator, options))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nim::Nim;

    #[test]
    fn a_player_of_its_own_takes_the_place_of_the_common_one_of_its_name() {
        const OWN: &[NamedPlayer<Nim>] = &[
            NamedPlayer::new("solver", "own", &|_, _, options| Ok(Box::new(Random::new(options.seed)))),
            NamedPlayer::new("greedy", "own", &|_, _, options| Ok(Box::new(Random::new(options.seed)))),
        ];
        let names = |own| NamedPlayer::all(own).map(|player| player.named.name).collect::<Vec<_>>();
        let common = ["default", "random", "greedy", "minimax", "alphabeta", "tree"];
        assert_eq!(names(&[]), common);
        assert_eq!(names(OWN), [&common[..], &["solver"]].concat());
        let own: Vec<&str> = NamedPlayer::all(OWN)
            .filter(|player| player.named.about == "own")
            .map(|player| player.named.name)
            .collect();
        assert_eq!(own, ["greedy", "solver"]);
    }
}
