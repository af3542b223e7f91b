//! Matches on many machines: a coordinator puts the pairs of games of a match into a queue of NATS JetStream,
//! and workers anywhere take one pair at a time, play it, and store its result there.
//!
//! Each pair counts once, whatever dies: jobs and results have one subject a pair, and the first write to a
//! subject wins, for ever, because the server compares the subject's last sequence. Nothing rests on message
//! ids, which JetStream forgets after some minutes, nor on acknowledgements, which may come too late: whoever
//! writes second learns that somebody was first, which is as good.
//!
//! It knows no game, no command line and no file: which games there are, what a worker may run and what is
//! done with a result is the caller's. How a pair is played is [`plyd_arena`]'s.
//!
//! # Where to begin
//!
//! [`Queue`] is the server as both ends see it, with its streams and subjects; [`coordinate`] puts [`Work`]
//! there and takes the results, and [`work`] is a worker's whole life. [`Description`], [`Job`] and
//! [`PairResult`] are what they send each other. A match and a worker have names that are parts of subjects:
//!
//! ```
//! # #[cfg(feature = "nats")] {
//! use plyd_fleet::is_name;
//!
//! assert!(is_name("lab-7"));
//! assert!(!is_name("lab.7"), "a dot separates the parts of a subject");
//! # }
//! ```

#![cfg_attr(
    not(feature = "nats"),
    allow(rustdoc::broken_intra_doc_links, reason = "there is nothing to link to")
)]
#![cfg(feature = "nats")]

mod coordinator;
mod denied;
mod description;
mod error;
mod given_back;
mod heartbeat;
mod message;
mod names;
mod noise;
mod observer;
mod permit;
mod programs;
mod queue;
mod recent;
mod retry;
mod sent_program;
mod server;
mod system;
mod worker;

pub use coordinator::{Ended, Ending, Refusal, Work, coordinate};
pub use denied::Denied;
pub use description::{DescribedMatch, DescribedPlayer, Description, Location, MatchId, Task};
pub use error::FleetError;
pub use heartbeat::{Busy, CoordinatorStatus, Fault, QueueStatus, WorkerStatus};
pub use message::{Job, PairResult, TrialResult};
pub use names::is_name;
pub use observer::{FleetStatus, MatchStatus, Observer};
pub use permit::Permit;
pub use programs::Programs;
pub use queue::{Backlog, Lease, Queue, Stored, StoredResult};
pub use sent_program::{SentProgram, Signer, Trusted};
pub use server::{Credentials, Server};
pub use worker::{Left, WorkerSettings, work};
