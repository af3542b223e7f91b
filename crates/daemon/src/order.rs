//! What goes to a search thread, and what comes back from it.

use std::sync::Arc;

use plyd_protocol as wire;
use tracing::Span;

use super::budget::Memory;
use super::ids::JobId;
use super::job::{EngineKey, LoadedEngine};
use plyd_core::engine::{AnyRoot, Candidates};
use plyd_core::search::{Control, End};

/// A command to a search thread.
pub(super) enum Order {
    /// Search.
    Search(Box<Run>),
    /// Drop the engine.
    Forget,
}

/// A search as its thread gets it.
pub(super) struct Run {
    /// The job.
    pub(super) job: JobId,
    /// The position.
    pub(super) root: Arc<dyn AnyRoot>,
    /// The moves to choose from.
    pub(super) candidates: Candidates,
    /// The lines to give.
    pub(super) multipv: usize,
    /// The control of the running search.
    pub(super) control: Arc<Control>,
    /// What the engine that searches is made from.
    pub(super) key: EngineKey,
    /// A new engine, in case the thread's was made from another key.
    pub(super) loaded: Option<LoadedEngine>,
    /// The memory that its table is taken from.
    pub(super) memory: Memory,
    /// Whether the engine must forget what it learned.
    pub(super) forget: bool,
    /// What the log says around it.
    pub(super) span: Span,
}

/// How a search came back from its thread.
pub(super) enum Return {
    /// It ended by itself, or because it was stopped.
    Ended(Vec<wire::Line>, End),
    /// It broke; the log has more under the incident's name.
    Failed {
        /// The incident's name.
        incident: String,
    },
}
