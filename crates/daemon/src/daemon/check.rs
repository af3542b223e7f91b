//! The check of a configuration beforehand: what would keep a daemon from starting, as far as that can be
//! known without listening, writing or starting anything.

use std::io;
use std::net::ToSocketAddrs;
use std::path::Path;

use super::listen::{check_length, is_local};
use crate::config::Config;
use crate::serve_error::ServeError;
use crate::system;
use crate::tls::Tls;

impl Config {
    /// Checks whether a daemon could start with it: whether its addresses can be resolved and keep strangers
    /// out, its certificates fit their key, and its transcript and its socket can be written.
    ///
    /// ```
    /// use plyd_daemon::{Config, ServeError};
    ///
    /// let config = Config { tcp: vec!["0.0.0.0:0".to_owned()], ..Config::default() };
    /// assert!(matches!(config.check(), Err(ServeError::Exposed { .. })), "strangers could connect");
    /// let config = Config { token: Some("open sesame".to_owned()), ..config };
    /// assert!(config.check().is_ok());
    /// ```
    ///
    /// # Errors
    /// The first thing that would keep it from starting.
    pub fn check(&self) -> Result<(), ServeError> {
        if let Some(files) = &self.tls {
            Tls::load(files)?;
        }
        self.check_addresses()?;
        if let Some(path) = &self.unix {
            let checked = check_length(path).and_then(|()| may_create(path));
            checked.map_err(|error| ServeError::Listen { at: path.display().to_string(), error })?;
        }
        if let Some(path) = &self.transcript {
            let checked = if path.exists() { may_write(path) } else { may_create(path) };
            checked.map_err(|error| ServeError::Transcript { path: path.clone(), error })?;
        }
        Ok(())
    }

    /// Checks whether its addresses can be resolved and keep strangers out: what can be known without its
    /// files, on another machine than the daemon's.
    ///
    /// # Errors
    /// The first address that a daemon would refuse.
    pub fn check_addresses(&self) -> Result<(), ServeError> {
        for at in self.tcp.iter().chain(&self.ws) {
            let found = at.to_socket_addrs().map_err(|error| ServeError::Listen { at: at.clone(), error })?;
            if !self.is_open() && found.into_iter().any(|address| !is_local(address)) {
                return Err(ServeError::Exposed { at: at.clone() });
            }
        }
        if let Some(at) = &self.metrics {
            let found = at.to_socket_addrs().map_err(|error| ServeError::Listen { at: at.clone(), error })?;
            if !self.insecure && found.into_iter().any(|address| !is_local(address)) {
                return Err(ServeError::ExposedMetrics { at: at.clone() });
            }
        }
        Ok(())
    }
}

fn may_write(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    system::may_write(path)
}

/// Whether a file of that name can be made, or replaced.
fn may_create(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    system::may_change_folder(folder)
}
