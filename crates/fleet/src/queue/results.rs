//! The results of pairs: stored once by workers, read by coordinators.

use async_nats::Subscriber;
use async_nats::jetstream::stream::DirectGetErrorKind;
use bytes::Bytes;
use futures_util::future::join_all;
use plyd_protocol::with_causes;
use serde_json::json;

use super::{Queue, Stored, message};
use crate::description::MatchId;
use crate::error::FleetError;
use crate::names;

/// A result as it lies in its stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredResult {
    /// Its place in the stream.
    pub sequence: u64,
    /// The pair, from 1; none if the subject under which it was stored names none.
    pub pair: Option<usize>,
    /// What was stored.
    pub bytes: Bytes,
}

impl Queue {
    /// Stores the result of a pair, unless one is there.
    ///
    /// # Errors
    /// The server cannot be reached, or does not take it, since it is too large.
    pub async fn store_result(&self, id: &MatchId, pair: usize, bytes: Bytes) -> Result<Stored, FleetError> {
        let stored = self.store(names::result(id, pair), bytes).await?;
        self.say(names::stored(id), Bytes::new()).await?;
        Ok(stored)
    }

    /// Whether a pair has a result.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn has_result(&self, id: &MatchId, pair: usize) -> Result<bool, FleetError> {
        Ok(message(&self.results, names::result(id, pair)).await?.is_some())
    }

    /// The first results of a match at this place of the stream or behind it, in their order; none only if
    /// there are none. As many requests as `window` says are sent at once, one for each place, so that all of
    /// their answers take little longer than one. They find fewer results where those of other matches lie
    /// between.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn results(
        &self,
        id: &MatchId,
        from: u64,
        window: usize,
    ) -> Result<Vec<StoredResult>, FleetError> {
        let requests = (from..).take(window).map(|place| self.next_result(id, place));
        let mut found: Vec<StoredResult> = Vec::new();
        for answer in join_all(requests).await {
            let Some(result) = answer? else { break };
            if found.last().is_none_or(|last| last.sequence < result.sequence) {
                found.push(result);
            }
        }
        Ok(found)
    }

    /// The first result of a match at this place of the stream or behind it.
    async fn next_result(&self, id: &MatchId, from: u64) -> Result<Option<StoredResult>, FleetError> {
        match self.results.direct_get_next_for_subject(names::results(id), Some(from)).await {
            Ok(message) => {
                let pair = names::read(&message.subject).map(|(_, pair)| pair);
                Ok(Some(StoredResult { sequence: message.sequence, pair, bytes: message.payload }))
            }
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
            Err(error) => Err(FleetError::away("a result cannot be read", &with_causes(&error))),
        }
    }

    /// The result of a pair.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn result(&self, id: &MatchId, pair: usize) -> Result<Option<StoredResult>, FleetError> {
        let message = message(&self.results, names::result(id, pair)).await?;
        Ok(message.map(|message| StoredResult {
            sequence: message.sequence,
            pair: Some(pair),
            bytes: message.payload,
        }))
    }

    /// The pairs of a match that have a result, from 1.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn pairs(&self, id: &MatchId) -> Result<Vec<usize>, FleetError> {
        let subjects = self.subjects(names::RESULTS, &names::results(id)).await?;
        Ok(subjects.iter().filter_map(|subject| names::read(subject)).map(|(_, pair)| pair).collect())
    }

    /// Takes a result out of the stream, so that another one can be stored for its pair.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn remove_result(&self, sequence: u64) -> Result<(), FleetError> {
        self.remove(names::RESULTS, sequence).await
    }

    /// The last place of the stream of results; none if there is no such stream.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn last_place(&self) -> Result<Option<u64>, FleetError> {
        let info = self.api(&format!("STREAM.INFO.{}", names::RESULTS), &json!({})).await?;
        Ok(info.and_then(|info| info["state"]["last_seq"].as_u64()))
    }

    /// A notice for each result of a match that is stored. Some may be missed.
    ///
    /// # Errors
    /// The connection is closed for good.
    pub async fn notices(&self, id: &MatchId) -> Result<Subscriber, FleetError> {
        self.subscribe(names::stored(id)).await
    }
}
