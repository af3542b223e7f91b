//! [`Learner`] for any game: a network behind one object.

use super::typed::Typed;
use super::{AnyRoot, Learner, Playable};
use crate::engine::settings::{self, Caps};
use crate::learning::network::Network;
use crate::learning::selfplay::{self, SelfPlay};
use crate::learning::td::Played;
use crate::options::Options;

/// A network with the game that it learns.
struct TypedLearner<G, N> {
    game: G,
    network: N,
    options: Options,
}

/// A game's network as an object: [`Network`] has an example.
pub fn learner<G: Playable, N: Network<G>>(game: &G, network: N) -> Box<dyn Learner> {
    let caps = Caps { threads: 1, hash_mb: 1 };
    let options = settings::options(G::entry(), &Default::default(), 0, caps).expect("nothing is asked for");
    Box::new(TypedLearner { game: game.clone(), network, options })
}

impl<G: Playable, N: Network<G>> Learner for TypedLearner<G, N> {
    fn len(&self) -> usize {
        N::LEN
    }

    fn most(&self) -> i16 {
        N::MOST
    }

    fn play(&self, opening: &dyn AnyRoot, weights: &[i16], how: &SelfPlay) -> Played {
        let typed =
            opening.as_any().downcast_ref::<Typed<G>>().expect("the opening is of the learner's game");
        selfplay::play(&self.game, typed.root.clone(), &self.network, weights, &self.options, how)
    }

    fn file(&self, weights: &[i16]) -> Vec<u8> {
        N::file(&self.network.evaluator(weights))
    }
}
