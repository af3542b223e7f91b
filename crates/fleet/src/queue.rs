//! The server as coordinators and workers see it: streams, subjects, and what is written once. What of it is
//! whose stands in a file each.

mod cancellations;
mod heartbeats;
mod jobs;
mod matches;
mod programs;
mod results;

pub use jobs::Lease;
pub use matches::Backlog;
pub use results::StoredResult;

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, IntoConsumerConfig, pull};
use async_nats::jetstream::context::{Context, PublishAckFuture, PublishErrorKind};
use async_nats::jetstream::message::{PublishMessage, StreamMessage};
use async_nats::jetstream::stream::{
    Config, DirectGetErrorKind, DiscardPolicy, RetentionPolicy, StorageType, Stream,
};
use async_nats::{Client, Subscriber};
use bytes::Bytes;
use plyd_protocol::with_causes;
use serde::Serialize;
use serde_json::{Value, json};

use super::error::FleetError;
use super::names;
use super::server::Server;

/// How long descriptions and results are kept.
const KEPT: Duration = Duration::from_secs(90 * 24 * 3600);
/// The most workers that may wait for a job at once, and the most pairs that may be played at once.
const MOST_WORKERS: i64 = 20_000;
/// How long others may take to answer, or the server to take what is sent last.
const PATIENCE: Duration = Duration::from_secs(1);

/// That there is no such stream, consumer or message.
const NOT_FOUND: u64 = 404;
/// What says that a stream has no such message, with the code 400.
const NO_MESSAGE: u64 = 10_043;

/// A connection to the server of the queue.
#[derive(Clone, Debug)]
pub struct Queue {
    client: Client,
    jetstream: Context,
    results: Stream<()>,
    programs: Stream<()>,
}

/// What became of something that is stored once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stored {
    /// It is there now.
    First,
    /// Something was there before; this is forgotten.
    Second,
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
        let programs = jetstream.get_stream_no_info(names::PROGRAMS).await.map_err(refused)?;
        Ok(Self { client, jetstream, results, programs })
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
        let programs = Config {
            name: names::PROGRAMS.to_owned(),
            subjects: vec![names::PROGRAM_SUBJECTS.to_owned()],
            ..results.clone()
        };
        for config in [&results, &jobs, &programs] {
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

    /// Removes a message of a stream, unless somebody else did.
    async fn remove(&self, stream: &str, sequence: u64) -> Result<(), FleetError> {
        let request = json!({ "seq": sequence, "no_erase": true });
        self.api(&format!("STREAM.MSG.DELETE.{stream}"), &request).await.map(drop)
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
            _ if error["err_code"] == NO_MESSAGE => Ok(None),
            // Too busy, or on its way to another leader.
            Some(500..) => Err(FleetError::Away(format!("{subject}: {said}"))),
            _ => Err(FleetError::Refused(format!("{subject}: {said}"))),
        }
    }
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
