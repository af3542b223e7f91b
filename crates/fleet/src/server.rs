//! Where the server is, and by what we are let in.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr};
use percent_encoding::percent_decode_str;
use plyd_protocol::with_causes;

use super::error::FleetError;
use super::retry::pause;

/// How long the server may take to answer.
const ANSWER: Duration = Duration::from_secs(5);
/// How often a connection that says nothing is looked at: a machine that vanished says nothing.
const PING: Duration = Duration::from_secs(10);

/// A server of NATS, or several of one cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// `nats://HOST:PORT`, or `tls://HOST:PORT`; several are separated by commas.
    pub url: String,
    /// What lets us in.
    pub credentials: Credentials,
    /// The authorities that the server's certificate is checked with; none: the system's.
    pub authority: Option<PathBuf>,
    /// Our own certificate and its key, if the server wants one.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// What lets a client in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Credentials {
    /// Nothing but what the URL says.
    #[default]
    None,
    /// A file with a JWT and the seed of its key, as `nsc` writes it.
    File(PathBuf),
    /// A file with the seed of an nkey.
    Nkey(PathBuf),
}

impl Server {
    /// Connects by a name that is a part of a subject, and stays connected: a connection that breaks is made
    /// again for ever, with pauses that grow.
    ///
    /// # Errors
    /// [`FleetError::Refused`] if what was given cannot be used or the server does not let us in, else
    /// [`FleetError::Away`].
    pub(super) async fn connect(&self, name: &str) -> Result<Client, FleetError> {
        let unusable = |file: &PathBuf, error: std::io::Error| {
            FleetError::Refused(format!("{}: {error}", file.display()))
        };
        let mut options = ConnectOptions::new()
            .name(name)
            // A prefix of its own, so that a permission can keep others from reading what is meant for it.
            .custom_inbox_prefix(format!("_INBOX.{name}"))
            .max_reconnects(None)
            .ping_interval(PING)
            .request_timeout(Some(ANSWER))
            .reconnect_delay_callback(pause)
            .event_callback(|event| async move { log_event(&event) });
        match &self.credentials {
            Credentials::None => match self.named() {
                Some((user, Some(password))) => options = options.user_and_password(user, password),
                Some((token, None)) => options = options.token(token),
                None => {}
            },
            Credentials::File(path) => {
                options = options.credentials_file(path).await.map_err(|error| unusable(path, error))?;
            }
            Credentials::Nkey(path) => {
                let seed = std::fs::read_to_string(path).map_err(|error| unusable(path, error))?;
                options = options.nkey(seed.trim().to_owned());
            }
        }
        if let Some(authority) = &self.authority {
            options = options.add_root_certificates(authority.clone());
        }
        if let Some((certificate, key)) = &self.identity {
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        // What was asked to be secret must not go out in the clear.
        if self.authority.is_some() || self.identity.is_some() || self.url.contains("tls://") {
            options = options.require_tls(true);
        }
        let servers: Vec<&str> = self.url.split(',').map(str::trim).collect();
        options.connect(servers).await.map_err(|error| {
            let message = format!("{}: {}", self.shown(), with_causes(&error));
            match error.kind() {
                ConnectErrorKind::Io | ConnectErrorKind::Dns | ConnectErrorKind::TimedOut => {
                    FleetError::Away(message)
                }
                _ => FleetError::Refused(message),
            }
        })
    }

    /// What stands before the host in the URL, which the library leaves alone: a user and a password, or a
    /// token alone.
    fn named(&self) -> Option<(String, Option<String>)> {
        let server: ServerAddr = self.url.split(',').next()?.trim().parse().ok()?;
        let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        Some((plain(server.username()?), server.password().map(plain)))
    }

    /// The URL without what lets us in.
    #[must_use]
    pub fn shown(&self) -> String {
        let one = |url: &str| match (url.split_once("://"), url.rsplit_once('@')) {
            (Some((way, _)), Some((_, host))) => format!("{way}://{host}"),
            (None, Some((_, host))) => host.to_owned(),
            _ => url.to_owned(),
        };
        self.url.split(',').map(|url| one(url.trim())).collect::<Vec<_>>().join(",")
    }
}

/// What is logged of a connection.
fn log_event(event: &Event) {
    match event {
        Event::Connected => tracing::info!("connected"),
        Event::Disconnected => tracing::warn!("the server is gone; it is called again until it is there"),
        Event::ServerError(error) => tracing::warn!("the server says: {error}"),
        event => tracing::debug!("{event}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_may_have_a_token_or_a_user_with_a_password() {
        let named = |url: &str| {
            let url = url.to_owned();
            Server { url, credentials: Credentials::None, authority: None, identity: None }.named()
        };
        let pair = |user: &str, password: Option<&str>| Some((user.to_owned(), password.map(str::to_owned)));
        assert_eq!(named("nats://10.0.0.1:4222"), None);
        assert_eq!(named("nats://secret@10.0.0.1:4222"), pair("secret", None));
        assert_eq!(named("tls://ann:p%40ss@10.0.0.1, nats://10.0.0.2"), pair("ann", Some("p@ss")));
    }

    #[test]
    fn a_password_is_not_shown() {
        for (url, shown) in [
            ("nats://localhost:4222", "nats://localhost:4222"),
            ("nats://ann:secret@localhost:4222", "nats://localhost:4222"),
            ("ann:secret@h,tls://t@i:1", "h,tls://i:1"),
        ] {
            let server = Server {
                url: url.to_owned(),
                credentials: Credentials::None,
                authority: None,
                identity: None,
            };
            assert_eq!(server.shown(), shown);
        }
    }
}
