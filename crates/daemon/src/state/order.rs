//! What goes to a search thread, and what comes back from it.

use std::sync::Arc;

use plyd_protocol as wire;
use tracing::Span;

use super::budget::Memory;
use super::job::{EngineKey, LoadedEngine};
use crate::ids::JobId;
use plyd_core::engine::{AnyRoot, Candidates};
use plyd_core::search::{Control, End};

/// A command to a search thread.
pub(crate) enum Order {
    /// Search.
    Search(Box<Run>),
    /// Drop the engine.
    Forget,
}

/// A search as its thread gets it.
pub(crate) struct Run {
    /// The job.
    pub(crate) job: JobId,
    /// The position.
    pub(crate) root: Arc<dyn AnyRoot>,
    /// The moves to choose from.
    pub(crate) candidates: Candidates,
    /// The lines to give.
    pub(crate) multipv: usize,
    /// The control of the running search.
    pub(crate) control: Arc<Control>,
    /// What the engine that searches is made from.
    pub(crate) key: EngineKey,
    /// A new engine, in case the thread's was made from another key.
    pub(crate) loaded: Option<LoadedEngine>,
    /// The memory that its table is taken from.
    pub(crate) memory: Memory,
    /// Whether the engine must forget what it learned.
    pub(crate) forget: bool,
    /// What the log says around it.
    pub(crate) span: Span,
}

/// How a search came back from its thread.
pub(crate) enum Return {
    /// It ended by itself, or because it was stopped.
    Ended(Vec<wire::Line>, End),
    /// It broke; the log has more under the incident's name.
    Failed {
        /// The incident's name.
        incident: String,
    },
}
