//! What a change of the state asks for outside of it.

use std::any::Any;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use super::order::Order;
use super::searches::Answered;
use super::task::Task;
use crate::ids::{ConnId, TaskId, WorkerId};
use crate::signal::Signal;
use plyd_core::search::Control;

/// What is to be done once the lock is given back.
#[derive(Default)]
pub(crate) struct Effects {
    /// Writers and readers to wake.
    pub(crate) signals: Vec<Signal>,
    /// Requests to work on.
    pub(crate) tasks: Vec<Task>,
    /// Searches to wake: their turn came.
    pub(crate) wakes: Vec<Arc<Control>>,
    /// Requests whose answer is wanted sooner than before: at once, or by a clock.
    pub(crate) hurried: Vec<(ConnId, TaskId)>,
    /// Search threads to start.
    pub(crate) spawns: Vec<(WorkerId, Receiver<Order>)>,
    /// Searches that were answered: dropping them writes their lines of log, behind the answers.
    pub(crate) answered: Vec<Answered>,
    /// Jobs that are over, positions, engines: what is dropped outside of the lock, because its destructor is
    /// the games' code.
    pub(crate) deferred_drops: Vec<Box<dyn Any + Send>>,
    /// The same kind of things, if dropping them takes too long for a thread that serves others.
    pub(crate) large_drops: Vec<Box<dyn Any + Send>>,
    /// Whether the watchdog's next instant moved forward.
    pub(crate) rearm: bool,
    /// Whether a shutdown has nothing more to wait for.
    pub(crate) quiet: bool,
}
