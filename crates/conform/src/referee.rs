//! The games of this process as the referee of another server's searches.
//!
//! Other games have no referee: the claims of their searches are not checked.

use std::sync::Arc;

use plyd_protocol as wire;
use serde_json::Value;

use plyd_bridge as bridge;
use plyd_core::engine::settings::{self, Caps, Settings};
use plyd_core::engine::{AnyRoot, Entry};
use plyd_core::search::Control;

/// A position as the referee knows it.
pub(super) type Root = Arc<dyn AnyRoot>;

/// The size of the hash table of our own searches, in MiB.
const HASH_MB: usize = 16;

/// The rules of some games.
#[derive(Clone, Copy)]
pub(super) struct Referee(pub(super) &'static [&'static Entry]);

impl Referee {
    /// Whether it knows the game that the fields of a request name.
    pub(super) fn knows(self, game: &Value) -> bool {
        self.entry(game).is_some()
    }

    /// The position of a request, with the fields that name its game; none if the referee does not know it.
    pub(super) fn root(self, game: &Value, position: &Value) -> Option<Root> {
        let entry = self.entry(game)?;
        let given: wire::Settings = match game.get("rules") {
            Some(rules) => serde_json::from_value(rules.clone()).ok()?,
            None => wire::Settings::new(),
        };
        let seed = game["seed"].as_str().and_then(|seed| u64::from_str_radix(seed, 16).ok()).unwrap_or(0);
        let rules = settings::rules(entry, &bridge::given(&given), seed).ok()?;
        let root = settings::open(entry, &rules, position["start"].as_str()).ok()?;
        let moves = position["moves"].as_array().map(Vec::as_slice).unwrap_or_default();
        let moves: Option<Vec<String>> = moves.iter().map(|mv| mv.as_str().map(str::to_owned)).collect();
        root.extend(&moves?).ok()
    }

    fn entry(self, game: &Value) -> Option<&'static Entry> {
        self.0.iter().copied().find(|entry| game["game"] == entry.name)
    }
}

/// The proven value of each of these moves, by our own player's search; none if it cannot prove them.
pub(super) fn proofs(root: &Root) -> Option<Vec<wire::Line>> {
    let entry = root.entry();
    let caps = Caps { threads: 1, hash_mb: HASH_MB };
    let options = settings::options(entry, &Settings::new(), 0, caps).ok()?;
    let candidates = root.candidates(&[], &[]).ok()?;
    let mut engine = root.engine(&options).ok()?;
    let control = Control::default();
    control.set_limits(Some(20_000_000), None);
    let all = candidates.indexes.len();
    let (lines, _) = engine.search(root.as_ref(), &candidates, all, &control, &mut |_| ());
    let lines = bridge::lines(lines);
    let is_proven = |line: &wire::Line| line.score.is_some_and(|score| score.proof.is_some());
    (lines.len() == all && lines.iter().all(is_proven)).then_some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_games::REGISTRY;
    use serde_json::json;

    fn root(game: &Value, position: &Value) -> Option<Root> {
        Referee(REGISTRY).root(game, position)
    }

    #[test]
    fn positions_are_opened_as_in_requests() {
        let small = json!({ "game": "isolation", "rules": { "width": 3, "height": 3 } });
        for (game, position, is_known) in [
            (&json!({ "game": "isolation" }), json!({ "moves": ["d4", "b3"] }), true),
            (&json!({ "game": "isolation" }), json!({ "moves": ["d4", "d4"] }), false),
            (&json!({ "game": "isolation" }), json!({ "moves": [4] }), false),
            (&json!({ "game": "no_such_game" }), json!({}), false),
            (&json!({ "session": "s" }), json!({}), false),
            (&json!({ "game": "l-game", "rules": { "neutrals": "two" } }), json!({}), false),
            (&small, json!({ "start": "1../.../..2 1" }), true),
        ] {
            assert_eq!(root(game, &position).is_some(), is_known, "{game} {position}");
        }
    }

    #[test]
    fn small_boards_are_proven_move_by_move() {
        let game = json!({ "game": "isolation", "rules": { "width": 3, "height": 4 } });
        let root = root(&game, &json!({ "moves": ["a1"] })).unwrap();
        assert_eq!(proofs(&root).unwrap().len(), 11);
    }
}
