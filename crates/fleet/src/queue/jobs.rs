//! The pairs that are to be played: queued by coordinators, taken by workers.

use std::time::Duration;

use async_nats::client::Request;
use async_nats::{Client, StatusCode};
use bytes::Bytes;
use futures_util::future::join_all;
use plyd_protocol::with_causes;
use serde_json::{Value, json};

use super::{Queue, stored};
use crate::description::MatchId;
use crate::error::FleetError;
use crate::heartbeat::QueueStatus;
use crate::names;

/// How many jobs are sent before the first of them is known to be stored.
const AT_ONCE: usize = 256;
/// How often it is looked whether all jobs of a match are removed: what a coordinator sent last may be stored
/// meanwhile.
const ATTEMPTS: usize = 5;
/// How long after its time a request that waits for a job may still be answered.
const GRACE: Duration = Duration::from_secs(3);

/// A job that a worker has taken, until it is done or given back or the worker says nothing for too long.
#[derive(Debug)]
pub struct Lease {
    client: Client,
    reply: String,
    /// The match.
    pub id: MatchId,
    /// The pair, from 1.
    pub pair: usize,
    /// How often it was given to a worker, this time included.
    pub deliveries: u32,
    /// What the coordinator sent.
    pub bytes: Bytes,
}

impl Queue {
    /// Queues pairs that are not queued; gives those of which that is known now.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn offer(
        &self,
        id: &MatchId,
        jobs: impl IntoIterator<Item = (usize, Vec<u8>)>,
    ) -> Result<Vec<usize>, FleetError> {
        let mut jobs = jobs.into_iter();
        let mut offered = Vec::new();
        loop {
            let mut sent = Vec::new();
            for (pair, bytes) in jobs.by_ref().take(AT_ONCE) {
                sent.push((pair, self.send(names::job(id, pair), bytes.into()).await?));
            }
            if sent.is_empty() {
                return Ok(offered);
            }
            for (pair, sent) in sent {
                stored(sent).await?;
                offered.push(pair);
            }
        }
    }

    /// Waits for one job, for this time at most.
    ///
    /// # Errors
    /// The server cannot be reached, or there is no queue.
    pub async fn take(&self, wait: Duration) -> Result<Option<Lease>, FleetError> {
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{}.{}", names::JOBS, names::WORKERS);
        let request = json!({ "batch": 1, "expires": u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX) });
        // A job comes under its own subject, by which nothing but an inbox of its own finds the request.
        let request = Request::new()
            .payload(request.to_string().into())
            .inbox(self.client.new_inbox())
            .timeout(Some(wait + GRACE));
        let answer = self.client.send_request(subject, request).await;
        let message = answer.map_err(|error| FleetError::away("no job can be had", &with_causes(&error)))?;
        match message.status {
            None => {}
            Some(StatusCode::NOT_FOUND | StatusCode::TIMEOUT) => return Ok(None),
            Some(status) => {
                let why = message.description.unwrap_or_else(|| status.to_string());
                return Err(FleetError::Away(format!("no job can be had: {why}")));
            }
        }
        let Some(reply) = message.reply else {
            return Err(FleetError::Away("a job without a way back".to_owned()));
        };
        let Some((id, pair)) = names::read(&message.subject) else {
            // Nobody can play it: it is taken away.
            let _nobody_cares = self.client.publish(reply, "+TERM".into()).await;
            return Ok(None);
        };
        Ok(Some(Lease {
            client: self.client.clone(),
            deliveries: deliveries(&reply),
            reply: reply.to_string(),
            id,
            pair,
            bytes: message.payload,
        }))
    }

    /// Takes the jobs of a match out of the queue; those that are played are played to their end.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn take_back(&self, id: &MatchId) -> Result<(), FleetError> {
        for _ in 0..ATTEMPTS {
            let subjects = self.subjects(names::JOBS, &names::jobs(id)).await?;
            if subjects.is_empty() {
                return Ok(());
            }
            for some in subjects.chunks(AT_ONCE) {
                for removed in join_all(some.iter().map(|subject| self.remove_job(subject))).await {
                    removed?;
                }
            }
        }
        Err(FleetError::Away(format!("jobs of match {id} are still queued")))
    }

    /// Removes the job of a subject, if it is there. A purge of all jobs of a match would be one request, but
    /// after it the consumer of NATS 2.9 passes over everything that it has not delivered yet, the jobs of
    /// other matches included.
    async fn remove_job(&self, subject: &str) -> Result<(), FleetError> {
        let request = json!({ "last_by_subj": subject });
        let job = self.api(&format!("STREAM.MSG.GET.{}", names::JOBS), &request).await?;
        if let Some(sequence) = job.and_then(|job| job["message"]["seq"].as_u64()) {
            // Else a worker has acknowledged it just now.
            let _is_gone = self.remove(names::JOBS, sequence).await;
        }
        Ok(())
    }

    /// How many jobs wait, and how many are taken.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn waiting(&self) -> Result<Option<QueueStatus>, FleetError> {
        let info = self.api(&format!("CONSUMER.INFO.{}.{}", names::JOBS, names::WORKERS), &json!({})).await?;
        let status = |info: Value| {
            let (waiting, taken) = (info["num_pending"].as_u64()?, info["num_ack_pending"].as_u64()?);
            Some(QueueStatus { waiting, taken })
        };
        Ok(info.and_then(status))
    }
}

impl Lease {
    /// Says that the pair is still played.
    pub async fn progress(&self) {
        // A server that is gone hears nothing; the pair may be played by another then, too, and count once.
        let _gone = self.client.publish(self.reply.clone(), "+WPI".into()).await;
    }

    /// Says that the job is done, and waits until the server knows.
    ///
    /// # Errors
    /// It does not say so: the job may come again.
    pub async fn done(&self) -> Result<(), FleetError> {
        let answer = self.client.request(self.reply.clone(), "+ACK".into()).await;
        answer
            .map(drop)
            .map_err(|error| FleetError::away("a job cannot be acknowledged", &with_causes(&error)))
    }

    /// Gives the pair back, to be taken by anybody after this time.
    pub async fn give_back(&self, after: Duration) {
        let ns = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
        let text = format!("-NAK {{\"delay\": {ns}}}");
        // If it is not heard, the pair is free when the worker has said nothing for too long.
        let _gone = self.client.publish(self.reply.clone(), text.into()).await;
    }
}

/// How often a job was delivered, by the subject of its acknowledgement: `$JS.ACK.STREAM.CONSUMER.DELIVERIES`
/// and more, with a domain and an account before the stream if the server has domains (NATS' ADR-15).
fn deliveries(reply: &str) -> u32 {
    let tokens: Vec<&str> = reply.split('.').collect();
    let at = if tokens.len() > 9 { 6 } else { 4 };
    tokens.get(at).and_then(|count| count.parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliveries_stand_in_the_subject_of_the_acknowledgement() {
        assert_eq!(deliveries("$JS.ACK.plyd_jobs.workers.3.17.40.1700000000.5"), 3);
        assert_eq!(deliveries("$JS.ACK.hub.ACCOUNT.plyd_jobs.workers.4.17.40.1700000000.5.random"), 4);
        assert_eq!(deliveries("something else"), 1);
    }
}
