//! A game of a tuning by itself. It follows from the terms and from its pair alone, with the settings and the
//! opening of that pair, so it may be played on another machine than the tuning.

use std::sync::atomic::AtomicBool;

use plyd_protocol::Settings;

use super::game::{self, Limits, Played};
use super::spsa::Probe;
use super::terms::Terms;
use plyd_bridge as bridge;
use plyd_core::engine::settings::{self, Caps};
use plyd_core::engine::{AnyRoot, Entry, Fault};
use plyd_core::options::Options;
use plyd_core::zobrist::mix;

/// The size of a player's hash table in MiB: what a search of some thousand nodes fills.
const HASH_MB: usize = 16;

/// A pair of games: the same opening from both sides.
#[derive(Clone, Copy)]
pub struct Trial<'t> {
    /// The terms of the tuning.
    pub terms: &'t Terms,
    /// The game.
    pub entry: &'static Entry,
    /// The number of the pair, from 0.
    pub pair: u64,
    /// Where it begins.
    pub opening: &'t dyn AnyRoot,
}

impl Trial<'_> {
    /// Plays the first game of the pair between two settings, or the `second` one; gives the points of `plus`
    /// and the moves of both players, and nothing if `halt` was raised before the end.
    ///
    /// # Errors
    /// A setting that a player cannot have.
    pub fn play(
        &self,
        probe: &Probe,
        second: bool,
        halt: &AtomicBool,
    ) -> Result<Option<(i32, Vec<String>)>, Fault> {
        let own = self.terms.drawn(self.pair, if second { 3 } else { 2 });
        let plus = self.terms.player(self.entry, &probe.plus, own)?;
        let minus = self.terms.player(self.entry, &probe.minus, mix(own))?;
        let players = if second { [&minus, &plus] } else { [&plus, &minus] };
        let limits = Limits { nodes: self.terms.nodes, moves: self.terms.games.max_moves };
        let played = game::play(self.opening, players, limits, self.chance(), halt)?;
        Ok(played.map(|Played { points, moves }| (if second { -points } else { points }, moves)))
    }

    /// The points of `plus` in a game of these moves of both players, by the rules.
    ///
    /// # Errors
    /// They are no whole game, for people.
    pub fn judge(&self, moves: &[String], second: bool) -> Result<i32, String> {
        let points = game::judge(self.opening, moves, self.terms.games.max_moves, self.chance())?;
        Ok(if second { -points } else { points })
    }

    fn chance(&self) -> u64 {
        self.terms.drawn(self.pair, 1)
    }
}

impl Terms {
    /// A number of the pair: 0 draws its opening, 1 its chance, 2 and 3 the players of its games.
    pub(super) fn drawn(&self, pair: u64, which: u64) -> u64 {
        mix(self.games.seed.0.wrapping_add(mix(4 * pair + which + 1)))
    }

    /// The options of a setting.
    ///
    /// # Errors
    /// A player cannot have them.
    pub(super) fn player(&self, entry: &Entry, values: &[i64], seed: u64) -> Result<Options, Fault> {
        let mut given: Settings = self.options.clone();
        given.insert("eval", self.games.evaluator.as_str());
        given.insert("deterministic", true);
        for (weight, &value) in self.weights.iter().zip(values) {
            given.insert(weight.name.as_str(), value);
        }
        settings::options(entry, &bridge::given(&given), seed, Caps { threads: 1, hash_mb: HASH_MB })
    }
}
