//! A search whose request is valid, with the engine that may search.

use std::sync::Arc;

use plyd_protocol as wire;

use crate::state::budget::{Memory, MemoryClaim};
use crate::state::holdings::POSITION_BYTES;
use plyd_core::engine::{AnyRoot, Candidates, Engine, Fault};
use plyd_core::game::Rules;
use plyd_core::options::Options;

/// An engine with the memory that it takes.
pub(crate) struct LoadedEngine {
    /// The key it was made from.
    pub(crate) key: EngineKey,
    /// The player.
    pub(crate) engine: Box<dyn Engine>,
    /// Its table's memory.
    _claim: MemoryClaim,
}

impl LoadedEngine {
    /// A new engine, with as much of the memory that its options ask for as there is.
    ///
    /// # Errors
    /// An option that the game's players cannot have.
    pub(crate) fn new(root: &dyn AnyRoot, key: EngineKey, memory: &Memory) -> Result<Self, Fault> {
        let claim = memory.claim((key.options.hash_mb as u64) << 20);
        let options = Options { hash_mb: (claim.bytes() >> 20) as usize, ..key.options.clone() };
        Ok(Self { engine: root.engine(&options)?, key, _claim: claim })
    }
}

/// What an engine was made from; a search with the same key can use it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EngineKey {
    /// The player's options.
    pub(crate) options: Options,
    /// The effective rules.
    pub(crate) rules: Rules,
}

/// A search whose request is valid.
pub(crate) struct Prepared {
    /// The game's name.
    pub(crate) game: &'static str,
    /// The position.
    pub(crate) root: Arc<dyn AnyRoot>,
    /// The `start` by which the client named it.
    pub(crate) start: Option<String>,
    /// The bytes of the texts that name it.
    pub(crate) position_bytes: usize,
    /// The moves to choose from.
    pub(crate) candidates: Candidates,
    /// The lines to give.
    pub(crate) multipv: usize,
    /// The position's hash.
    pub(crate) hash: u64,
    /// A legal move, for a search that ends before it published one.
    pub(crate) fallback: wire::Line,
    /// What the engine must be made from.
    pub(crate) key: EngineKey,
    /// A new engine, unless the session's engine seemed to fit; the thread decides which one searches.
    pub(crate) loaded: Option<LoadedEngine>,
    /// The notices about the request that the client gets before the answer.
    pub(crate) warnings: Vec<String>,
    /// Whether the next request would read the same position: false if there was no time to read it fully.
    pub(crate) is_lasting: bool,
}

impl Prepared {
    /// The heap bytes that it occupies beside those of its request, or a little more; without its engine,
    /// whose tables have a budget of their own.
    pub(crate) fn heap_bytes(&self) -> usize {
        // The position keeps the texts of its moves.
        POSITION_BYTES + self.position_bytes + size_of_val(self.candidates.indexes.as_slice())
    }
}
