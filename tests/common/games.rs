//! The games that tests check, all from the registry, and what is asked in the positions that they bring.

use plyd::bridge;
use plyd::engine::conformance::{Sample, chosen, few, next, samples};
use plyd::engine::{Entry, ToMove};
use plyd::games::REGISTRY;
use serde_json::{Value, json};

use super::common::Random;

/// The games that are tested: all, or the one that the environment names, as in `PLYD_GAME=ijk cargo test`.
pub(crate) fn games() -> Vec<&'static Entry> {
    chosen(REGISTRY)
}

/// What the tests of the wire ask of a position.
pub(crate) trait Request {
    /// The fields of a request that name the game and its rules.
    fn game(&self) -> Value;
    /// The field `position` of a request, some moves later. The start is named, as some rules draw theirs.
    fn position(&self, moves: &[String]) -> Value;
    /// Some plies at random, fewer if the game ends sooner.
    fn stroll(&self, random: &mut Random, plies: usize) -> Vec<String>;
    /// About so many plies at random, after which a player is to move.
    fn stroll_to_move(&self, random: &mut Random, plies: usize) -> Vec<String>;
}

impl Request for Sample {
    fn game(&self) -> Value {
        json!({ "game": self.entry.name, "rules": bridge::rules(&self.rules) })
    }

    fn position(&self, moves: &[String]) -> Value {
        json!({ "start": self.root().unwrap().text(), "moves": moves })
    }

    fn stroll(&self, random: &mut Random, plies: usize) -> Vec<String> {
        let mut root = self.root().unwrap();
        for _ in 0..plies {
            let moves = next(root.as_ref());
            if moves.is_empty() {
                break;
            }
            root = root.extend(&[random.pick(&moves).clone()]).unwrap();
        }
        root.played().to_vec()
    }

    fn stroll_to_move(&self, random: &mut Random, plies: usize) -> Vec<String> {
        let mut moves = self.stroll(random, plies);
        let root = |moves: &[String]| self.root().unwrap().extend(moves).unwrap();
        while root(&moves).outcome().is_some() {
            moves.pop();
        }
        while root(&moves).to_move() == ToMove::Chance {
            moves.push(random.pick(&next(root(&moves).as_ref())).clone());
        }
        if root(&moves).outcome().is_some() { Vec::new() } else { moves }
    }
}

/// Whether the game counts points, so that a win at once may be less than another.
pub(crate) fn counts_points(entry: &'static Entry) -> bool {
    let mut random = Random::new(1);
    let outcome = samples(entry).unwrap().into_iter().find_map(|sample| {
        let moves = sample.stroll(&mut random, 500);
        sample.root().unwrap().extend(&moves).unwrap().outcome()
    });
    outcome.is_some_and(|outcome| outcome.scores.is_some())
}

/// What searches can be asked: the fields of a request that name a game and its rules, and its `position`,
/// from at most so many positions with at most so many moves each.
pub(crate) fn questions(entry: &'static Entry, most: usize, moves: usize) -> Vec<(Value, Value)> {
    let mut random = Random::new(5);
    let question = |(sample, plies): (Sample, usize)| {
        (sample.game(), sample.position(&sample.stroll_to_move(&mut random, plies)))
    };
    few(entry, most, moves).unwrap().into_iter().zip([0, 2, 5].into_iter().cycle()).map(question).collect()
}
