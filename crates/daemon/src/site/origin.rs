//! Which pages may use a socket that browsers reach: checks the `Host` and `Origin` of a request.
//!
//! Every page that a browser shows can send requests to this machine; what it cannot do is lie about these
//! two. A name that its owner lets point here (DNS rebinding) makes a foreign page look like one of the same
//! host, but the name stands in `Host`: so only addresses and names that nobody else can own are taken for
//! ours.

use std::net::IpAddr;

use tungstenite::http::Uri;
use tungstenite::http::uri::Authority;

/// Decides which requests are accepted.
///
/// ```
/// use plyd_daemon::Guard;
///
/// let guard = Guard::new([127, 0, 0, 1].into(), &["https://games.example.org".to_owned()]);
/// assert!(guard.knows_host("localhost:7118") && !guard.knows_host("games.example.net"));
/// assert!(guard.lets_in("https://games.example.org", "localhost:7118"));
/// assert!(!guard.lets_in("https://games.example.net", "localhost:7118"));
/// ```
#[derive(Clone, Debug)]
pub struct Guard {
    /// Origins allowed beside the same host, in lower case.
    allowed: Vec<String>,
    /// Whether the socket is bound to a loopback address.
    is_local: bool,
}

impl Guard {
    /// A guard of a socket bound to `address` that lets these origins in, too.
    #[must_use]
    pub fn new(address: IpAddr, origins: &[String]) -> Self {
        let allowed = origins.iter().map(|origin| origin.to_ascii_lowercase()).collect();
        Self { allowed, is_local: address.is_loopback() }
    }

    /// Whether a `Host` names this server for certain: an address, a name of this machine alone, or that of
    /// an allowed origin.
    #[must_use]
    pub fn knows_host(&self, host: &str) -> bool {
        let Ok(authority) = host.to_ascii_lowercase().parse::<Authority>() else {
            return false;
        };
        if authority.as_str().contains('@') {
            return false;
        }
        let name = authority.host();
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        match bare.parse::<IpAddr>() {
            Ok(address) => !self.is_local || address.is_loopback(),
            Err(_) => {
                name == "localhost"
                    || name.ends_with(".localhost")
                    || self.allowed.iter().any(|origin| authority_of(origin) == Some(authority.as_str()))
            }
        }
    }

    /// Whether a page of this origin may connect if its request names this host.
    #[must_use]
    pub fn lets_in(&self, origin: &str, host: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        if self.allowed.contains(&origin) {
            return true;
        }
        authority_of(&origin).is_some_and(|own| own.eq_ignore_ascii_case(host)) && self.knows_host(host)
    }
}

/// The host and port of an origin, as in `Host`.
fn authority_of(origin: &str) -> Option<&str> {
    origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
}

/// Checks that a text is an origin as browsers write it: `http://host[:port]` or `https://host[:port]`.
///
/// ```
/// assert_eq!(plyd_daemon::check_origin("https://games.example.org"), Ok(()));
/// assert!(plyd_daemon::check_origin("games.example.org/page").is_err());
/// ```
///
/// # Errors
/// What to write instead.
pub fn check_origin(text: &str) -> Result<(), String> {
    let is_origin = authority_of(&text.to_ascii_lowercase()).is_some_and(|authority| {
        !authority.contains('@') && authority.parse::<Authority>().is_ok() && !authority.contains('/')
    });
    if is_origin && text.parse::<Uri>().is_ok() {
        return Ok(());
    }
    Err("give the origin of a page as browsers write it, such as https://example.org or http://localhost:8080".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str, origins: &[&str]) -> Guard {
        let origins: Vec<String> = origins.iter().map(|origin| (*origin).to_owned()).collect();
        origins.iter().for_each(|origin| check_origin(origin).unwrap());
        Guard::new(address.parse().unwrap(), &origins)
    }

    #[test]
    fn only_names_that_nobody_else_can_own_are_ours() {
        let local = guard("127.0.0.1", &["https://Games.example:444"]);
        let remote = guard("0.0.0.0", &[]);
        for (host, locally, remotely) in [
            ("127.0.0.1:7118", true, true),
            ("127.0.0.1", true, true),
            ("127.8.9.1:1", true, true),
            ("[::1]:7118", true, true),
            ("localhost:7118", true, true),
            ("LOCALHOST", true, true),
            ("plyd.localhost:7118", true, true),
            ("192.168.1.7:7118", false, true),
            ("[fe80::1]:7118", false, true),
            ("games.example:444", true, false),
            ("games.example", false, false),
            ("evil.example:7118", false, false),
            ("localhost.evil.example", false, false),
            ("127.0.0.1.evil.example", false, false),
            ("user@127.0.0.1:7118", false, false),
            ("127.0.0.1:7118/", false, false),
            ("127.1", false, false),
            ("", false, false),
            ("[::1", false, false),
            ("\u{e9}.localhost", false, false),
        ] {
            assert_eq!(local.knows_host(host), locally, "{host}, locally");
            assert_eq!(remote.knows_host(host), remotely, "{host}, remotely");
        }
    }

    #[test]
    fn pages_of_the_same_host_and_those_allowed_are_let_in() {
        let guard = guard("127.0.0.1", &["https://games.example"]);
        for (origin, host, expected) in [
            ("http://127.0.0.1:7118", "127.0.0.1:7118", true),
            ("http://localhost:7118", "localhost:7118", true),
            ("http://LocalHost:7118", "localhost:7118", true),
            ("https://localhost:7118", "localhost:7118", true),
            ("https://games.example", "127.0.0.1:7118", true),
            ("https://GAMES.example", "127.0.0.1:7118", true),
            ("http://games.example", "127.0.0.1:7118", false),
            ("https://games.example:444", "127.0.0.1:7118", false),
            ("http://localhost:8080", "localhost:7118", false),
            ("http://localhost", "localhost:7118", false),
            ("http://127.0.0.1:7118", "localhost:7118", false),
            ("http://evil.example:7118", "evil.example:7118", false),
            ("http://evil.example", "127.0.0.1:7118", false),
            ("null", "127.0.0.1:7118", false),
            ("file://", "", false),
            ("http://", "", false),
            ("127.0.0.1:7118", "127.0.0.1:7118", false),
            ("", "127.0.0.1:7118", false),
        ] {
            assert_eq!(guard.lets_in(origin, host), expected, "{origin} at {host}");
        }
    }

    #[test]
    fn origins_are_checked_when_they_are_given() {
        for text in ["https://example.org", "http://localhost:8080", "http://[::1]:80"] {
            assert_eq!(check_origin(text), Ok(()), "{text}");
        }
        for text in
            ["", "*", "null", "example.org", "ftp://x", "http://", "http://x/", "http://x/y", "http://a@b"]
        {
            assert!(check_origin(text).is_err(), "{text}");
        }
    }
}
