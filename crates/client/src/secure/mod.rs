//! The client's end of TLS: which authorities it trusts, and which certificate it shows. Builds without the
//! feature `tls` can name such a server, but not connect to it.

#[cfg(not(feature = "tls"))]
#[path = "absent.rs"]
mod session;
#[cfg(feature = "tls")]
mod session;

use std::fmt;
use std::path::PathBuf;

pub(super) use session::Secure;

/// A server that is called over TLS.
///
/// ```
/// use plyd_client::Secured;
///
/// let server = Secured::read("games.example:7117?ca=/etc/games/ca.pem")?;
/// assert_eq!(server.ca.as_deref(), Some("/etc/games/ca.pem".as_ref()));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Secured {
    /// `HOST:PORT`. The server's certificate must be for this host.
    pub at: String,
    /// The file (PEM) of the certificate authorities to trust; none: those of this system.
    pub ca: Option<PathBuf>,
    /// The files (PEM) of the certificate to show to the server, and of its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

impl Secured {
    /// How the part behind `HOST:PORT` is written.
    pub const WRITTEN: &str = "?ca=FILE, ?cert=FILE&key=FILE or all three";

    /// Reads `HOST:PORT`, with `?ca=FILE&cert=FILE&key=FILE` or some of these behind it.
    ///
    /// # Errors
    /// A sentence that says what to write instead.
    pub fn read(text: &str) -> Result<Self, String> {
        let (at, options) = text.split_once('?').unwrap_or((text, ""));
        let (mut ca, mut cert, mut key) = (None, None, None);
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (name, file) = option.split_once('=').unwrap_or((option, ""));
            let place = match name {
                "ca" => &mut ca,
                "cert" => &mut cert,
                "key" => &mut key,
                _ => return Err(format!("`{name}`: give {}", Self::WRITTEN)),
            };
            if file.is_empty() || place.replace(PathBuf::from(file)).is_some() {
                return Err(format!("`{name}`: give one file, as in {name}=FILE"));
            }
        }
        let identity = match (cert, key) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            _ => return Err("a certificate and its key go together: cert=FILE&key=FILE".into()),
        };
        Ok(Self { at: at.to_owned(), ca, identity })
    }
}

impl fmt::Display for Secured {
    /// As [`Secured::read`] takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cert, key) = self.identity.as_ref().map(|(cert, key)| (cert, key)).unzip();
        let files = [("ca", self.ca.as_ref()), ("cert", cert), ("key", key)];
        let files =
            files.iter().filter_map(|(name, file)| file.map(|file| format!("{name}={}", file.display())));
        let options = files.collect::<Vec<_>>().join("&");
        write!(f, "{}{}{options}", self.at, if options.is_empty() { "" } else { "?" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stand_behind_the_address() {
        let read = |text| Secured::read(text).map(|it| (it.at, it.ca, it.identity));
        let at = || "h:1".to_owned();
        assert_eq!(read("h:1"), Ok((at(), None, None)));
        assert_eq!(read("h:1?ca=a=b"), Ok((at(), Some("a=b".into()), None)));
        let identity = Some(("c".into(), "/k".into()));
        assert_eq!(read("h:1?key=/k&ca=a&cert=c"), Ok((at(), Some("a".into()), identity)));
        for text in ["h:1?cert=c", "h:1?key=k", "h:1?ca", "h:1?ca=", "h:1?ca=a&ca=b", "h:1?verify=no"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
