//! New settings for a daemon that runs: what of a new [`Config`] takes effect at once, and what only a
//! restart can change.
//!
//! A new limit binds what comes from now on: connections, sessions, searches and their memory stay as they
//! are, also where a smaller limit would not let them in again. Trees that no search uses are the exception.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use plyd_core::search::clock::now_ns;

use super::Shared;
use crate::config::Config;
use crate::config::limits::Limits;
use crate::log;
use crate::serve_error::ServeError;
use crate::site::Site;
use crate::tls::Tls;

/// What a daemon keeps until its end, and the handles by which the rest is changed.
pub(crate) struct Running {
    fixed: Fixed,
    /// An address that other machines reach, if there is one.
    exposed: OnceLock<String>,
    /// The ports for WebSocket.
    sites: Mutex<Vec<Arc<Site>>>,
}

/// The settings that a restart alone changes.
struct Fixed {
    stdio: bool,
    tcp: Vec<String>,
    ws: Vec<String>,
    metrics: Option<String>,
    unix: Option<PathBuf>,
    threads: usize,
    search_nice: u8,
    has_tls: bool,
    wants_certificates: bool,
    has_transcript: bool,
}

impl Fixed {
    fn new(config: &Config) -> Self {
        // All fields by name, so that a new one cannot be forgotten.
        let Config {
            stdio,
            tcp,
            ws,
            metrics,
            tls,
            unix,
            transcript,
            search_nice,
            limits,
            // What changes at once.
            ws_origins: _,
            token: _,
            clients: _,
            insecure: _,
            // What is no setting.
            page: _,
            handed: _,
            manager: _,
            reload: _,
        } = config;
        Self {
            stdio: *stdio,
            tcp: tcp.clone(),
            ws: ws.clone(),
            metrics: metrics.clone(),
            unix: unix.clone(),
            threads: limits.cores,
            search_nice: *search_nice,
            has_tls: tls.is_some(),
            wants_certificates: config.wants_certificates(),
            has_transcript: transcript.is_some(),
        }
    }

    /// The settings that are not the same in another.
    fn differing(&self, other: &Self) -> Vec<&'static str> {
        [
            ("stdio", self.stdio != other.stdio),
            ("tcp", self.tcp != other.tcp),
            ("ws", self.ws != other.ws),
            ("metrics", self.metrics != other.metrics),
            ("tls-cert", self.has_tls != other.has_tls),
            ("unix", self.unix != other.unix),
            ("threads", self.threads != other.threads),
            ("search-nice", self.search_nice != other.search_nice),
            ("transcript", self.has_transcript != other.has_transcript),
        ]
        .into_iter()
        .filter_map(|(name, differs)| differs.then_some(name))
        .collect()
    }
}

impl Running {
    pub(crate) fn new(config: &Config) -> Self {
        Self { fixed: Fixed::new(config), exposed: OnceLock::new(), sites: Mutex::default() }
    }

    /// Notes a port for WebSocket.
    pub(crate) fn add_site(&self, site: &Arc<Site>) {
        self.sites.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(site));
    }

    /// Notes an address that other machines reach.
    pub(crate) fn expose(&self, at: &str) {
        self.exposed.get_or_init(|| at.to_owned());
    }
}

impl Shared {
    /// Puts a new configuration in force as far as that is possible; returns the settings that differ from
    /// those at the start and need a restart.
    ///
    /// # Errors
    /// The configuration cannot be put in force; nothing has changed.
    pub(crate) fn reload(self: &Arc<Self>, config: &Config) -> Result<Vec<&'static str>, ServeError> {
        let Running { fixed, exposed, sites } = &self.running;
        if let Some(at) = exposed.get().filter(|_| !config.is_open()) {
            return Err(ServeError::Exposed { at: at.clone() });
        }
        // A client that connected without a certificate might say hello after the token is gone.
        if config.wants_certificates() != fixed.wants_certificates {
            return Err(ServeError::ClientCertificates);
        }
        let certificates = match &config.tls {
            Some(files) => Some(Tls::load(files)?),
            None => None,
        };
        config.token.iter().for_each(|token| log::keep_out(token));
        // The steps that can fail come first, and the transcript knows a new token before anybody may use
        // it.
        match (&self.transcript, &config.transcript) {
            (Some(transcript), Some(path)) => {
                transcript.continue_in(path, fixed.stdio, config.token.clone())?;
            }
            (Some(transcript), None) => transcript.keep_out(config.token.clone()),
            (None, _) => {}
        }
        if let (Some(tls), Some(certificates)) = (&self.tls, certificates) {
            tls.replace(certificates);
        }
        let limits = Limits { cores: fixed.threads, ..config.limits.clone() };
        self.with(|state| {
            // What others than the users of this machine reach stays open to them until a restart.
            state.serves_others |= config.serves_others() || exposed.get().is_some();
            state.reconfigure(limits, config.token.clone());
            state.set_clients(config.clients.clone(), now_ns());
        });
        // The last: clients without a name are no operators any more when others may come.
        for site in &*sites.lock().unwrap_or_else(PoisonError::into_inner) {
            site.set_origins(&config.ws_origins);
        }
        Ok(fixed.differing(&Fixed::new(config)))
    }
}
