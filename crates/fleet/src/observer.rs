//! A look at the whole fleet: what lies on the server, and what workers and coordinators say.

use serde::Serialize;
use tokio::runtime::Runtime;

use super::description::{Description, MatchId};
use super::error::FleetError;
use super::heartbeat::{CoordinatorStatus, QueueStatus, WorkerStatus};
use super::queue::{Backlog, Queue};
use super::server::Server;

/// Looks at a fleet, as often as it is asked.
pub struct Observer {
    runtime: Runtime,
    queue: Queue,
}

/// A fleet.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FleetStatus {
    /// How many pairs are queued; none if there is no queue yet.
    pub queue: Option<QueueStatus>,
    /// The matches that the server has.
    pub matches: Vec<MatchStatus>,
    /// The workers that answer, by name.
    pub workers: Vec<WorkerStatus>,
}

/// A match.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MatchStatus {
    /// What lies on the server.
    #[serde(flatten)]
    pub backlog: Backlog,
    /// What is played, if it can be read.
    pub description: Option<Description>,
    /// What its coordinator says, if there is one.
    pub coordinator: Option<CoordinatorStatus>,
}

impl Observer {
    /// Connects to a server.
    ///
    /// # Errors
    /// It is not there, or does not let us in.
    pub fn connect(server: &Server) -> Result<Self, FleetError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let queue = runtime.block_on(Queue::connect(server, "plyd-fleet"))?;
        Ok(Self { runtime, queue })
    }

    /// How the fleet is. It takes a second: until then workers may answer.
    ///
    /// # Errors
    /// The server is away.
    pub fn look(&mut self) -> Result<FleetStatus, FleetError> {
        self.runtime.block_on(look(&self.queue))
    }

    /// Ends the coordinators of a match, and takes its jobs out of the queue.
    ///
    /// # Errors
    /// The server is away, has no such match, or a coordinator does not end.
    pub fn cancel(&mut self, id: &MatchId) -> Result<(), FleetError> {
        self.runtime.block_on(async {
            find(&self.queue, id).await?;
            self.queue.cancel(id).await
        })
    }

    /// Ends the coordinators of a match, and removes it from the server.
    ///
    /// # Errors
    /// The server is away, has no such match, or a coordinator does not end.
    pub fn forget(&mut self, id: &MatchId) -> Result<(), FleetError> {
        self.runtime.block_on(async {
            find(&self.queue, id).await?;
            self.queue.forget(id).await
        })
    }
}

/// Finds a match on the server: its description is stored before its first job, and as long as its results.
async fn find(queue: &Queue, id: &MatchId) -> Result<(), FleetError> {
    let description = queue.description(id).await?;
    let none = || FleetError::Refused(format!("there is no match {id} on the server"));
    description.map(drop).ok_or_else(none)
}

async fn look(queue: &Queue) -> Result<FleetStatus, FleetError> {
    let (workers, coordinators) = queue.statuses().await?;
    // What says something else is not of this version.
    let mut workers: Vec<WorkerStatus> =
        workers.iter().filter_map(|bytes| serde_json::from_slice(bytes).ok()).collect();
    workers.sort_by(|a, b| a.name.cmp(&b.name));
    let coordinators: Vec<CoordinatorStatus> =
        coordinators.iter().filter_map(|bytes| serde_json::from_slice(bytes).ok()).collect();
    let waiting = queue.waiting().await?;
    let mut matches = Vec::new();
    if waiting.is_some() {
        for backlog in queue.matches().await? {
            let bytes = queue.description(&backlog.id).await?;
            let description = bytes.and_then(|bytes| Description::read(&bytes, &backlog.id).ok());
            let coordinator = coordinators.iter().find(|status| status.id == backlog.id).cloned();
            matches.push(MatchStatus { backlog, description, coordinator });
        }
    }
    Ok(FleetStatus { queue: waiting, matches, workers })
}
