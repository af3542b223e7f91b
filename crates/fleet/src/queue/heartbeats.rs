//! What workers and coordinators say of themselves, to whoever listens; nothing of it is stored.

use std::collections::BTreeMap;

use async_nats::Subscriber;
use bytes::Bytes;
use futures_util::StreamExt;

use super::{PATIENCE, Queue};
use crate::description::MatchId;
use crate::error::FleetError;
use crate::names;

impl Queue {
    /// The requests to workers and coordinators to say how they are.
    ///
    /// # Errors
    /// The connection is closed for good.
    pub async fn questions(&self) -> Result<Subscriber, FleetError> {
        self.subscribe(names::ASK.to_owned()).await
    }

    /// Asks workers and coordinators how they are, and gives their answers, those of workers first.
    ///
    /// # Errors
    /// The connection is closed for good.
    pub async fn statuses(&self) -> Result<(Vec<Bytes>, Vec<Bytes>), FleetError> {
        let mut workers = self.subscribe(names::ALL_WORKERS.to_owned()).await?;
        let mut coordinators = self.subscribe(names::ALL_COORDINATORS.to_owned()).await?;
        self.say(names::ASK.to_owned(), Bytes::new()).await?;
        let end = tokio::time::Instant::now() + PATIENCE;
        let mut heard = (BTreeMap::new(), BTreeMap::new());
        loop {
            tokio::select! {
                Some(message) = workers.next() => drop(heard.0.insert(message.subject, message.payload)),
                Some(message) = coordinators.next() => drop(heard.1.insert(message.subject, message.payload)),
                () = tokio::time::sleep_until(end) => break,
            }
        }
        Ok((heard.0.into_values().collect(), heard.1.into_values().collect()))
    }

    /// Says how a worker is.
    ///
    /// # Errors
    /// The connection is closed for good.
    pub async fn say_worker(&self, name: &str, bytes: Vec<u8>) -> Result<(), FleetError> {
        self.say(names::worker(name), bytes.into()).await
    }

    /// Says how the coordinator of a match is.
    ///
    /// # Errors
    /// The connection is closed for good.
    pub async fn say_coordinator(&self, id: &MatchId, bytes: Vec<u8>) -> Result<(), FleetError> {
        self.say(names::coordinator(id), bytes.into()).await
    }
}
