//! How a daemon ends: what is in flight may go on for a while, then every search answers, and then all is
//! written and closed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Daemon;
use super::listen::LISTENING;
use crate::log::targets;
use crate::transcript::Transcript;
use plyd_core::search::clock::now_ns;

/// The time that the transcript gets for its last lines if peers that do not read used up the shutdown time.
const LAST_LINES: Duration = Duration::from_millis(250);

impl Daemon {
    /// Closes the listeners and takes no new work; lets searches go on for as long as the limit
    /// [`drain`](crate::Limits::drain) says, and then every search answer. Returns when all is written, or
    /// when the time for that is over.
    pub async fn shut_down(&self) {
        if !self.drain().await {
            self.end_searches().await;
        }
    }

    /// Notes that a signal ends the daemon, and what it waits for. The log of a service says so at every
    /// level; what belongs to a program that started it need not.
    pub(super) fn note_end(&self, is_service: bool) {
        let (limit, searches) = {
            let state = self.shared.lock();
            (state.limits.drain, state.status(now_ns()).searches)
        };
        let what = match searches {
            0 => "no search is in flight".to_owned(),
            1 if limit.is_zero() => "1 search answers now".to_owned(),
            _ if limit.is_zero() => format!("{searches} searches answer now"),
            1 => format!("1 search may go on for {limit:?}"),
            _ => format!("{searches} searches may go on for {limit:?}"),
        };
        if is_service {
            tracing::info!(target: LISTENING, "ending, as a signal asks: {what}");
        } else {
            tracing::info!(target: targets::SERVE, "ending, as a signal asks: {what}");
        }
    }

    /// Closes the listeners, takes no new work and lets what is in flight go on for its time; returns whether
    /// all of it ended by itself and is written.
    pub(super) async fn drain(&self) -> bool {
        self.closing.send_replace(true);
        let limit = self.shared.lock().limits.drain;
        self.shared.with(|state| state.announce_end(limit, now_ns()));
        !limit.is_zero() && tokio::time::timeout(limit, self.shared.quiet.notified()).await.is_ok()
    }

    /// Lets every search answer; returns when all is written, or when the time for that is over.
    pub(super) async fn end_searches(&self) {
        let limit = self.shared.lock().limits.shutdown;
        self.shared.with(|state| state.end_searches(now_ns()));
        if tokio::time::timeout(limit, self.shared.quiet.notified()).await.is_err() {
            tracing::warn!(target: targets::ENDING, "not everything was written in time");
        }
    }

    /// Cuts every connection off and returns when the transcript is written, or when the time for the end,
    /// which began at `began`, is over.
    pub(super) async fn finish(&self, began: Instant) {
        self.closing.send_replace(true);
        self.shared.with(|state| state.close_all(now_ns()));
        let left = self.shared.lock().limits.shutdown.saturating_sub(began.elapsed()).max(LAST_LINES);
        let shared = Arc::clone(&self.shared);
        let finish = move || shared.transcript.iter().for_each(|transcript| transcript.finish(left));
        if let Err(error) = tokio::task::spawn_blocking(finish).await {
            tracing::error!(target: targets::ENDING, %error, "the transcript may lack its end");
        }
    }

    /// Notes that a further signal ends the daemon at once, and what that costs.
    pub(super) fn note_hurry(&self) {
        let searches = self.shared.lock().status(now_ns()).searches;
        let what = match searches {
            0 => {
                tracing::info!(target: targets::SERVE, "a further signal: ending at once");
                return;
            }
            1 => "1 search gets no answer".to_owned(),
            _ => format!("{searches} searches get no answer"),
        };
        tracing::warn!(target: targets::ENDING, "a further signal: ending at once; {what}");
    }

    /// Lets dropping the daemon skip the wait for the transcript.
    pub(super) fn hurry(&self) {
        self.shared.transcript.iter().for_each(Transcript::abandon);
    }
}
