//! The matches that the server has: their descriptions, and what lies there of each.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Serialize;

use super::{Queue, Stored, message};
use crate::description::MatchId;
use crate::error::FleetError;
use crate::names;

/// What lies in the streams of a match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Backlog {
    /// The match.
    #[serde(rename = "match")]
    pub id: MatchId,
    /// Pairs with a result.
    pub results: usize,
    /// Pairs that are queued or played.
    pub jobs: usize,
}

impl Queue {
    /// Stores the description of a match, if it is not there.
    ///
    /// # Errors
    /// The server cannot be reached, or does not take it.
    pub async fn describe(&self, id: &MatchId, bytes: Vec<u8>) -> Result<Stored, FleetError> {
        self.store(names::description(id), bytes.into()).await
    }

    /// The description of a match; none if it is not there.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn description(&self, id: &MatchId) -> Result<Option<Bytes>, FleetError> {
        Ok(message(&self.results, names::description(id)).await?.map(|message| message.payload))
    }

    /// The matches that are there, and what there is of each.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn matches(&self) -> Result<Vec<Backlog>, FleetError> {
        let mut found = BTreeMap::new();
        for subject in self.subjects(names::RESULTS, names::RESULT_SUBJECTS[0]).await? {
            if let Some(id) = subject.strip_prefix("plyd.match.").and_then(|id| id.parse().ok()) {
                found.insert(id, (0, 0));
            }
        }
        for (id, (results, jobs)) in &mut found {
            *results = self.subjects(names::RESULTS, &names::results(id)).await?.len();
            *jobs = self.subjects(names::JOBS, &names::jobs(id)).await?.len();
        }
        Ok(found.into_iter().map(|(id, (results, jobs))| Backlog { id, results, jobs }).collect())
    }
}
