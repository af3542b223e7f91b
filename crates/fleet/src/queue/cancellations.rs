//! The end of a match by somebody else than its coordinator, which would queue it again if it did not hear of
//! that.

use std::time::Duration;

use async_nats::client::Request;
use async_nats::{RequestErrorKind, Subscriber};
use bytes::Bytes;
use plyd_protocol::with_causes;
use serde_json::json;
use tokio::time::Instant;

use super::Queue;
use crate::description::MatchId;
use crate::error::FleetError;
use crate::names;

/// How long a coordinator may take to end, before it is looked whether one still listens.
const TO_END: Duration = Duration::from_millis(200);
/// After which time one that still listens is none that will end.
const PATIENCE: Duration = Duration::from_secs(10);

impl Queue {
    /// The notices that a match is cancelled.
    ///
    /// # Errors
    /// The connection is closed for good.
    pub async fn cancellations(&self, id: &MatchId) -> Result<Subscriber, FleetError> {
        self.subscribe(names::cancel(id)).await
    }

    /// Ends the coordinators of a match, and takes its jobs out of the queue. Its results stay.
    ///
    /// # Errors
    /// The server cannot be reached, or a coordinator does not end.
    pub async fn cancel(&self, id: &MatchId) -> Result<(), FleetError> {
        self.end_coordinators(id).await?;
        self.take_back(id).await
    }

    /// Ends the coordinators of a match, and forgets its jobs, its results and its description.
    ///
    /// # Errors
    /// The server cannot be reached, or a coordinator does not end.
    pub async fn forget(&self, id: &MatchId) -> Result<(), FleetError> {
        self.cancel(id).await?;
        for filter in [names::results(id), names::description(id)] {
            let subject = format!("STREAM.PURGE.{}", names::RESULTS);
            self.api(&subject, &json!({ "filter": filter })).await?;
        }
        Ok(())
    }

    /// Gives notice until the server says that nobody listens any more. A coordinator does not answer: it
    /// would need the right to write to the inboxes of others.
    async fn end_coordinators(&self, id: &MatchId) -> Result<(), FleetError> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let notice = Request::new().payload(Bytes::new()).timeout(Some(TO_END));
            match self.client.send_request(names::cancel(id), notice).await {
                Err(error) if error.kind() == RequestErrorKind::NoResponders => return Ok(()),
                Err(error) if error.kind() != RequestErrorKind::TimedOut => {
                    return Err(FleetError::away("no notice can be given", &with_causes(&error)));
                }
                _ => {}
            }
        }
        Err(FleetError::Refused(format!(
            "a coordinator of match {id} does not end, and would queue it again: end it first"
        )))
    }
}
