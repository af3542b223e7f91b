//! New settings for a daemon that runs: what of a new [`Config`] takes effect at once, and what only a
//! restart can change.
//!
//! A new limit binds what comes from now on: connections, sessions, searches and their memory stay as they
//! are, also where a smaller limit would not let them in again. Trees that no search uses are the exception.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use plyd_core::search::clock::now_ns;
use plyd_protocol::client::signals::Hangups;
use tokio::sync::oneshot;

use super::config::{Config, ServeError};
use super::daemon::Daemon;
use super::limits::Limits;
use super::log;
use super::service::ServiceManager;
use super::shared::Shared;
use super::state::State;
use super::transport::tls::Tls;
use super::transport::web::Site;

/// The target of the log lines that say what became of settings that were read again, worth showing even if
/// nothing else below a warning is: a person asked for it and sees nothing else.
pub const SETTINGS: &str = "plyd::settings";

/// Where a daemon that runs gets its settings again.
///
/// ```
/// use plyd_daemon::{Config, Limits, Reload};
///
/// /// Reads the number of connections from a file.
/// #[derive(Debug)]
/// struct FromFile(std::path::PathBuf);
///
/// impl Reload for FromFile {
///     fn read(&mut self) -> Result<Config, String> {
///         let text = std::fs::read_to_string(&self.0).map_err(|error| error.to_string())?;
///         let connections = text.trim().parse().map_err(|error| format!("{error}"))?;
///         Ok(Config { limits: Limits { connections, ..Limits::default() }, ..Config::default() })
///     }
///
///     fn applied(&mut self) {}
/// }
///
/// let reload: Box<dyn Reload> = Box::new(FromFile("connections.txt".into()));
/// let config = Config { tcp: vec!["127.0.0.1:7117".to_owned()], reload: Some(reload), ..Config::default() };
/// ```
pub trait Reload: Debug + Send {
    /// Reads them. May take its time: nobody waits for it.
    ///
    /// # Errors
    /// What is wrong, and where.
    fn read(&mut self) -> Result<Config, String>;

    /// What was read is in force.
    fn applied(&mut self);
}

/// What a daemon keeps until its end, and the handles by which the rest is changed.
pub(super) struct Running {
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
    pub(super) fn new(config: &Config) -> Self {
        Self { fixed: Fixed::new(config), exposed: OnceLock::new(), sites: Mutex::default() }
    }

    /// Notes a port for WebSocket.
    pub(super) fn add_site(&self, site: &Arc<Site>) {
        self.sites.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(site));
    }

    /// Notes an address that other machines reach.
    pub(super) fn expose(&self, at: &str) {
        self.exposed.get_or_init(|| at.to_owned());
    }
}

impl Shared {
    /// Puts a new configuration in force as far as that is possible; returns the settings that are other ones
    /// than at the start and need a restart.
    ///
    /// # Errors
    /// The configuration cannot be had; nothing has changed.
    fn reload(self: &Arc<Self>, config: &Config) -> Result<Vec<&'static str>, ServeError> {
        let Running { fixed, exposed, sites } = &self.running;
        if let Some(at) = exposed.get().filter(|_| !config.is_open()) {
            return Err(ServeError::Exposed { at: at.clone() });
        }
        // Who shook hands without a certificate might say hello after the token is gone.
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
        for site in &*sites.lock().unwrap_or_else(PoisonError::into_inner) {
            site.set_origins(&config.ws_origins);
        }
        let limits = Limits { cores: fixed.threads, ..config.limits.clone() };
        self.with(|state| {
            // What others than the users of this machine reach stays open to them until a restart.
            state.is_exposed |= config.is_exposed() || exposed.get().is_some();
            state.reconfigure(limits, config.token.clone());
            state.set_clients(config.clients.clone(), now_ns());
        });
        Ok(fixed.differing(&Fixed::new(config)))
    }
}

impl Daemon {
    /// Puts a new configuration in force as far as that is possible while the daemon runs: the limits, the
    /// token, the clients, the origins, the certificates, and the file of the transcript, which is opened
    /// again in any case. No connection, session or search ends by it, but those of clients that are not
    /// known any more. Returns the names of the settings (as flags of `plyd serve`) that are other ones
    /// than at the start and need a restart.
    ///
    /// # Errors
    /// The transcript cannot be written, a certificate cannot be used, or other machines could connect
    /// without a token. Nothing has changed then.
    pub fn reload(&self, config: &Config) -> Result<Vec<&'static str>, ServeError> {
        self.shared.reload(config)
    }

    /// Reads the settings again at each SIGHUP, for ever.
    pub(super) async fn heed_hangups(&self, mut hangups: Hangups, reload: Box<dyn Reload>) {
        self.heed(async || hangups.next().await, reload).await;
    }

    /// Reads the settings again whenever `next` returns, on a thread of its own: a file may hang. However
    /// often it returns meanwhile, they are read once more after that.
    pub(super) async fn heed(&self, mut next: impl AsyncFnMut(), reload: Box<dyn Reload>) {
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

impl State {
    /// Puts other limits and another token in force.
    pub(super) fn reconfigure(&mut self, limits: Limits, token: Option<String>) {
        self.memory.set_total(limits.hash_bytes);
        self.limits = limits;
        self.token = token;
        self.resize_sessions();
        self.resize_intake();
        self.trim_engines();
        // Searches that wait for a slot look again.
        self.freed = true;
    }

    /// How many connections share what is bounded in all: those that there may be, or those that there are.
    pub(super) fn shared_by(&self) -> usize {
        self.limits.connections.max(self.conns.len())
    }
}
