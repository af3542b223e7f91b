//! Reads the settings again at each SIGHUP, on a thread of its own.

use std::sync::{Arc, Mutex, PoisonError};

use plyd_protocol::signals::Hangups;
use tokio::sync::oneshot;

use super::Daemon;
use crate::config::Reload;
use crate::runtime::Shared;
use crate::service::ServiceManager;

/// The target of the log lines about settings that were read again. They are worth showing even if nothing
/// else below a warning is: a person asked for the reload, and these lines are the only answer.
pub const SETTINGS: &str = "plyd::settings";

impl Daemon {
    /// Reads the settings again at each SIGHUP, forever.
    pub(super) async fn heed_hangups(&self, mut hangups: Hangups, reload: Box<dyn Reload>) {
        self.heed(async || hangups.next().await, reload).await;
    }

    /// Reads the settings again whenever `next` returns, on a thread of its own: reading a file may hang.
    /// However often `next` returns meanwhile, they are read once more after that.
    pub(crate) async fn heed(&self, mut next: impl AsyncFnMut(), reload: Box<dyn Reload>) {
        let reload = Arc::new(Mutex::new(reload));
        let mut is_due = false;
        loop {
            if !std::mem::take(&mut is_due) {
                next().await;
            }
            let (shared, reload) = (Arc::clone(&self.shared), Arc::clone(&reload));
            let (done, mut is_done) = oneshot::channel();
            let work = move || {
                // If an earlier thread panicked, this one begins afresh.
                read_again(&shared, &mut **reload.lock().unwrap_or_else(PoisonError::into_inner));
                let _daemon_gone = done.send(());
            };
            if let Err(error) = std::thread::Builder::new().name("reload".to_owned()).spawn(work) {
                tracing::error!(target: SETTINGS, %error, "cannot start a thread to read the settings");
                continue;
            }
            let ended = loop {
                tokio::select! {
                    ended = &mut is_done => break ended,
                    () = next() => {
                        if !std::mem::replace(&mut is_due, true) {
                            tracing::warn!(
                                target: SETTINGS,
                                "the settings are still being read; they will be read again after that"
                            );
                        }
                    }
                }
            };
            if ended.is_err() {
                tracing::error!(target: SETTINGS, "the thread that reads the settings panicked");
            }
        }
    }
}

fn read_again(shared: &Arc<Shared>, reload: &mut dyn Reload) {
    let _announced = shared.manager.as_deref().map(ServiceManager::reloading);
    let taken = reload.read().and_then(|config| match shared.reload(&config) {
        Ok(need_restart) => Ok((config, need_restart)),
        Err(error) => Err(error.to_string()),
    });
    match taken {
        Ok((config, need_restart)) => {
            reload.applied();
            shared.lock().tally.reloaded(false);
            tracing::info!(target: SETTINGS, "the settings are read again and in force");
            if !need_restart.is_empty() {
                let names = need_restart.join(", ");
                tracing::warn!(target: SETTINGS, "these settings have changed and need a restart: {names}");
                if let Err(error) = config.check() {
                    tracing::warn!(target: SETTINGS, "a restart would fail: {error}");
                }
            }
        }
        Err(error) => {
            shared.lock().tally.reloaded(true);
            tracing::error!(target: SETTINGS, "the settings stay as they are: {error}");
        }
    }
}
