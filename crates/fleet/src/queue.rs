//! The server as coordinators and workers see it: streams, subjects, and what is written once.

use std::collections::BTreeMap;
use std::time::Duration;

use async_nats::client::Request;
use async_nats::jetstream::consumer::{AckPolicy, IntoConsumerConfig, pull};
use async_nats::jetstream::context::{Context, PublishAckFuture, PublishErrorKind};
use async_nats::jetstream::message::{PublishMessage, StreamMessage};
use async_nats::jetstream::stream::{
    Config, DirectGetErrorKind, DiscardPolicy, RetentionPolicy, StorageType, Stream,
};
use async_nats::{Client, StatusCode, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt;
use plyd_protocol::with_causes;
use serde::Serialize;
use serde_json::{Value, json};

use super::build::Build;
use super::description::MatchId;
use super::error::FleetError;
use super::heartbeat::QueueStatus;
use super::names;
use super::server::Server;

/// How long descriptions and results are kept.
const KEPT: Duration = Duration::from_secs(90 * 24 * 3600);
/// The most workers that may wait for a job at once, and the most pairs that may be played at once.
const MOST_WORKERS: i64 = 20_000;
/// Bytes of a piece of a program: a server takes messages of 1 MiB at most, unless it is set up otherwise.
const PIECE: usize = 256 << 10;
/// How many jobs are sent before the first of them is known to be stored.
const AT_ONCE: usize = 256;
/// How long after its time a request that waits for a job may still be answered.
const GRACE: Duration = Duration::from_secs(3);
/// How long others may take to answer, or the server to take what is sent last.
const PATIENCE: Duration = Duration::from_secs(1);

/// That there is no such stream, consumer or message.
const NOT_FOUND: u64 = 404;

/// A connection to the server of the queue.
#[derive(Clone, Debug)]
pub struct Queue {
    client: Client,
    jetstream: Context,
    results: Stream<()>,
    builds: Stream<()>,
}

/// What became of something that is stored once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stored {
    /// It is there now.
    First,
    /// Something was there before; this is forgotten.
    Second,
}

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
    /// Connects to a server. `name` is what it calls the connection.
    ///
    /// # Errors
    /// It is not there, or does not let us in.
    pub async fn connect(server: &Server, name: &str) -> Result<Self, FleetError> {
        let client = server.connect(name).await?;
        let jetstream = async_nats::jetstream::new(client.clone());
        let refused = |error| FleetError::Refused(with_causes(&error));
        let results = jetstream.get_stream_no_info(names::RESULTS).await.map_err(refused)?;
        let builds = jetstream.get_stream_no_info(names::BUILDS).await.map_err(refused)?;
        Ok(Self { client, jetstream, results, builds })
    }

    /// Makes the streams and the consumer that are not there; those that are stay as they are, so that an
    /// operator may have other limits or replicas. `ack_wait` is how long a worker may say nothing before its
    /// pair goes to another.
    ///
    /// # Errors
    /// The server cannot be reached, or has no JetStream.
    pub async fn set_up(&self, ack_wait: Duration) -> Result<(), FleetError> {
        let results = Config {
            name: names::RESULTS.to_owned(),
            subjects: names::RESULT_SUBJECTS.map(str::to_owned).to_vec(),
            retention: RetentionPolicy::Limits,
            storage: StorageType::File,
            max_age: KEPT,
            // Also a client that forgets to ask for it cannot write over what is there.
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            allow_direct: true,
            num_replicas: 1,
            ..Config::default()
        };
        let jobs = Config {
            name: names::JOBS.to_owned(),
            subjects: vec![names::JOB_SUBJECTS.to_owned()],
            retention: RetentionPolicy::WorkQueue,
            storage: StorageType::File,
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            num_replicas: 1,
            ..Config::default()
        };
        let builds = Config {
            name: names::BUILDS.to_owned(),
            subjects: vec![names::BUILD_SUBJECTS.to_owned()],
            ..results.clone()
        };
        for config in [&results, &jobs, &builds] {
            let name = &config.name;
            if self.api(&format!("STREAM.INFO.{name}"), &json!({})).await?.is_none() {
                self.api(&format!("STREAM.CREATE.{name}"), config).await?;
            }
        }
        let workers = pull::Config {
            durable_name: Some(names::WORKERS.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait,
            max_waiting: MOST_WORKERS,
            max_ack_pending: MOST_WORKERS,
            ..pull::Config::default()
        };
        if self.ack_wait().await?.is_none() {
            let request = json!({ "stream_name": names::JOBS, "config": workers.into_consumer_config() });
            let subject = format!("CONSUMER.DURABLE.CREATE.{}.{}", names::JOBS, names::WORKERS);
            self.api(&subject, &request).await?;
        }
        Ok(())
    }

    /// How long a worker may say nothing before its pair goes to another; none if there is no queue yet.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn ack_wait(&self) -> Result<Option<Duration>, FleetError> {
        let info = self.api(&format!("CONSUMER.INFO.{}.{}", names::JOBS, names::WORKERS), &json!({})).await?;
        Ok(info.and_then(|info| info["config"]["ack_wait"].as_u64()).map(Duration::from_nanos))
    }

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

    /// Stores a program, if it is not there.
    ///
    /// # Errors
    /// The server cannot be reached, or does not take it.
    pub async fn store_build(&self, build: &Build, content: &[u8]) -> Result<(), FleetError> {
        let pieces = || (0_u64..).zip(content.chunks(PIECE));
        let last = names::piece(&build.hash, pieces().count().saturating_sub(1) as u64);
        if message(&self.builds, last).await?.is_some() {
            return Ok(());
        }
        for (number, piece) in pieces() {
            let subject = names::piece(&build.hash, number);
            self.store(subject, Bytes::copy_from_slice(piece)).await?;
        }
        Ok(())
    }

    /// The content of a program; none if it is not there whole.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn build(&self, build: &Build) -> Result<Option<Vec<u8>>, FleetError> {
        let mut content = Vec::new();
        for number in 0..build.bytes.div_ceil(PIECE as u64) {
            let piece = message(&self.builds, names::piece(&build.hash, number)).await?;
            let Some(piece) = piece else { return Ok(None) };
            content.extend_from_slice(&piece.payload);
            if content.len() as u64 > build.bytes {
                return Ok(None);
            }
        }
        Ok(Some(content))
    }

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

    /// The first result of a match at this place of the stream or behind it.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn next_result(&self, id: &MatchId, from: u64) -> Result<Option<StoredResult>, FleetError> {
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
        let subject = format!("STREAM.MSG.DELETE.{}", names::RESULTS);
        self.api(&subject, &json!({ "seq": sequence, "no_erase": true })).await.map(drop)
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
    pub async fn cancel(&self, id: &MatchId) -> Result<(), FleetError> {
        let subject = format!("STREAM.PURGE.{}", names::JOBS);
        self.api(&subject, &json!({ "filter": names::jobs(id) })).await.map(drop)
    }

    /// Forgets a match: its jobs, its results and its description.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn forget(&self, id: &MatchId) -> Result<(), FleetError> {
        self.cancel(id).await?;
        let subject = format!("STREAM.PURGE.{}", names::RESULTS);
        for filter in [names::results(id), names::description(id)] {
            self.api(&subject, &json!({ "filter": filter })).await?;
        }
        Ok(())
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

    /// Sends what is still to be sent.
    pub async fn flush(&self) {
        let _the_server_is_gone = tokio::time::timeout(PATIENCE, self.client.flush()).await;
    }

    /// The subjects of a stream that fit a pattern.
    async fn subjects(&self, stream: &str, filter: &str) -> Result<Vec<String>, FleetError> {
        let mut found = Vec::new();
        loop {
            // The server gives so many at once as it likes.
            let request = json!({ "subjects_filter": filter, "offset": found.len() });
            let info = self.api(&format!("STREAM.INFO.{stream}"), &request).await?.unwrap_or_default();
            let subjects = info["state"]["subjects"].as_object();
            let before = found.len();
            found.extend(subjects.into_iter().flat_map(|subjects| subjects.keys().cloned()));
            if found.len() == before || info["total"].as_u64().is_none_or(|total| found.len() as u64 >= total)
            {
                return Ok(found);
            }
        }
    }

    async fn subscribe(&self, subject: String) -> Result<Subscriber, FleetError> {
        let subscribed = self.client.subscribe(subject).await;
        subscribed.map_err(|error| FleetError::Refused(with_causes(&error)))
    }

    async fn say(&self, subject: String, bytes: Bytes) -> Result<(), FleetError> {
        let said = self.client.publish(subject, bytes).await;
        said.map_err(|error| FleetError::Refused(with_causes(&error)))
    }

    async fn store(&self, subject: String, bytes: Bytes) -> Result<Stored, FleetError> {
        stored(self.send(subject, bytes).await?).await
    }

    /// Sends a message to a subject that has none.
    async fn send(&self, subject: String, bytes: Bytes) -> Result<PublishAckFuture, FleetError> {
        let message = PublishMessage::build().payload(bytes).expected_last_subject_sequence(0);
        self.jetstream.send_publish(subject, message).await.map_err(unstored)
    }

    /// Asks the server's own API; none if there is no such thing.
    async fn api(&self, subject: &str, payload: &impl Serialize) -> Result<Option<Value>, FleetError> {
        let asked: Result<Value, _> = self.jetstream.request(subject.to_owned(), payload).await;
        let answer =
            asked.map_err(|error| FleetError::away("the server does not answer", &with_causes(&error)))?;
        let error = &answer["error"];
        if error.is_null() {
            return Ok(Some(answer));
        }
        let said = error["description"].as_str().unwrap_or_default();
        match error["code"].as_u64() {
            Some(NOT_FOUND) => Ok(None),
            // Too busy, or on its way to another leader.
            Some(500..) => Err(FleetError::Away(format!("{subject}: {said}"))),
            _ => Err(FleetError::Refused(format!("{subject}: {said}"))),
        }
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

/// The message of a subject of a stream; none if there is none, or no such stream.
async fn message(stream: &Stream<()>, subject: String) -> Result<Option<StreamMessage>, FleetError> {
    match stream.direct_get_last_for_subject(subject).await {
        Ok(message) => Ok(Some(message)),
        Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
        Err(error) => Err(FleetError::away("a message cannot be read", &with_causes(&error))),
    }
}

/// Waits until the server has stored a message, or says that another one was there.
async fn stored(sent: PublishAckFuture) -> Result<Stored, FleetError> {
    match sent.await {
        Ok(_) => Ok(Stored::First),
        Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(Stored::Second),
        Err(error) => Err(unstored(error)),
    }
}

fn unstored(error: async_nats::jetstream::context::PublishError) -> FleetError {
    let message = format!("a message cannot be stored: {}", with_causes(&error));
    if error.kind() == PublishErrorKind::MaxPayloadExceeded {
        FleetError::Refused(message)
    } else {
        FleetError::Away(message)
    }
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
