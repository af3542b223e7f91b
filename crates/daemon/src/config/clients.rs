//! The clients that a daemon knows by name, as its configuration lists them: each with the hash of a token, a
//! role and limits of its own.
//!
//! Knows no connection: what becomes of the list while the daemon runs is in `identity`.

use std::fmt;

use plyd_protocol::{NamedClient, Role};
use sha2::{Digest, Sha256};

/// A client that the daemon knows by name.
///
/// ```
/// use plyd_daemon::{Client, ClientLimits, TokenHash, new_token};
/// use plyd_protocol::Role;
///
/// let token = new_token(&[7; 32]); // random bytes, in earnest
/// let alice = Client {
///     name: "alice".to_owned(),
///     token: TokenHash::of(&token),
///     role: Role::Play,
///     limits: ClientLimits { searches: Some(2), ..ClientLimits::default() },
/// };
/// let config = plyd_daemon::Config { clients: Some(vec![alice]), ..Default::default() };
/// assert!(config.token.is_none(), "everybody has a token of their own");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Client {
    /// Its name, which no other client has.
    pub name: String,
    /// The hash of its token, which no other client has.
    pub token: TokenHash,
    /// What it may ask for.
    pub role: Role,
    /// How much it may take.
    pub limits: ClientLimits,
}

/// What a client may take at most, over all its connections together. Where a limit is none, only those of
/// the server hold.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ClientLimits {
    /// Connections over sockets at once.
    pub connections: Option<u32>,
    /// Sessions open at once.
    pub sessions: Option<u32>,
    /// Searches at once.
    pub searches: Option<u32>,
    /// Threads of these searches together.
    pub threads: Option<u32>,
    /// Bytes of their hash tables together; and as many again for what its sessions and requests hold.
    pub memory_bytes: Option<u64>,
}

impl Client {
    /// The client as `hello` announces it.
    pub(crate) fn to_wire(&self) -> NamedClient {
        let ClientLimits { connections, sessions, searches, threads, memory_bytes } = self.limits;
        let (name, role) = (self.name.clone(), self.role.into());
        NamedClient { name, role, connections, sessions, searches, threads, memory_bytes }
    }
}

/// Checks tokens, for a server in front of the daemon that accepts connections of its own.
///
/// ```
/// use plyd_daemon::Credentials;
///
/// let credentials = Credentials::new(Some("open sesame".to_owned()), None);
/// assert!(credentials.admit(Some("open sesame")) && !credentials.admit(None));
/// assert!(Credentials::new(None, None).admit(None), "nobody needs a token");
/// ```
#[derive(Clone, Default)]
pub struct Credentials {
    token: Option<String>,
    clients: Option<Vec<Client>>,
}

impl Credentials {
    /// The token of the server and its clients by name, as in [`Config`](crate::Config). Of the clients,
    /// those are admitted whose role may analyse positions.
    #[must_use]
    pub fn new(token: Option<String>, clients: Option<Vec<Client>>) -> Self {
        Self { token, clients }
    }

    /// Whether a token is needed.
    #[must_use]
    pub fn are_needed(&self) -> bool {
        self.token.is_some() || self.clients.is_some()
    }

    /// Whether a peer that shows this token, or none, is admitted.
    #[must_use]
    pub fn admit(&self, token: Option<&str>) -> bool {
        let Some(given) = token else { return !self.are_needed() };
        let is_servers =
            self.token.as_ref().is_some_and(|token| is_same_secret(given.as_bytes(), token.as_bytes()));
        let hash = TokenHash::of(given);
        // Compares with all of them, so that the time does not depend on which one matches.
        let clients = self.clients.iter().flatten();
        let is_clients = clients.fold(false, |found, client| {
            found | (client.token.is_same(&hash) && !matches!(client.role, Role::Play))
        });
        is_servers || is_clients || !self.are_needed()
    }
}

/// The SHA-256 hash of a token, which a daemon keeps instead of the token: whoever reads the hash cannot log
/// in with it.
///
/// A fast hash is enough, because a token is no password: it has at least 128 random bits ([`new_token`]
/// gives it 256), so that no list of likely tokens contains it, and trying all tokens takes forever at any
/// speed. A slow hash would only let strangers use up the processor with wrong tokens.
///
/// ```
/// use plyd_daemon::{TokenHash, new_token};
///
/// let token = new_token(&[7; 32]); // random bytes, in earnest
/// let hash = TokenHash::of(&token);
/// assert_eq!(hash.to_string().parse(), Ok(hash));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenHash([u8; 32]);

/// The prefix of a hash as a text.
const ALGORITHM: &str = "sha256:";

impl TokenHash {
    /// The hash of a token.
    #[must_use]
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// Whether it is the same hash, compared in constant time.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        is_same_secret(&self.0, &other.0)
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ALGORITHM)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::str::FromStr for TokenHash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = text.strip_prefix(ALGORITHM).and_then(|digits| {
            let is_hex = digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
            is_hex.then(|| (0..64).step_by(2).map(byte).collect::<Option<Vec<u8>>>()).flatten()
        });
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        // The text is not repeated: it may be the token itself.
        bytes.map(Self).ok_or_else(|| {
            format!("give the hash of a token, `{ALGORITHM}` and 64 hex digits; `plyd token new` makes one")
        })
    }
}

/// The prefix of each token of [`new_token`], by which a token is found where it does not belong.
const MARK: &str = "plyd_";
/// How many digits behind the mark are taken for a token, or for the beginning of one: messages cut off what
/// a client wrote.
const FEW_DIGITS: usize = 8;

/// Makes a token of 32 random bytes: the prefix `plyd_` and 64 hexadecimal digits.
///
/// ```
/// // As `plyd token new` does, with bytes of the system's randomness.
/// let token = plyd_daemon::new_token(&[0xab; 32]);
/// assert!(token.starts_with("plyd_ab") && token.len() == 69);
/// ```
#[must_use]
pub fn new_token(random: &[u8; 32]) -> String {
    mark_token(random)
}

/// Random bytes as a token with the mark.
pub(crate) fn mark_token(random: &[u8]) -> String {
    random.iter().fold(MARK.to_owned(), |token, byte| format!("{token}{byte:02x}"))
}

/// Whether a text holds something that looks like a token of [`new_token`], or like its beginning.
pub(crate) fn holds_token(text: &str) -> bool {
    text.match_indices(MARK).any(|(at, _)| {
        let digits = text[at + MARK.len()..].bytes().take_while(u8::is_ascii_hexdigit);
        digits.take(FEW_DIGITS).count() == FEW_DIGITS
    })
}

/// Compares secrets in a time that depends only on the length of the given one.
pub(crate) fn is_same_secret(given: &[u8], secret: &[u8]) -> bool {
    let mut difference = given.len() ^ secret.len();
    for (index, byte) in given.iter().enumerate() {
        difference |= usize::from(byte ^ secret.get(index % secret.len().max(1)).copied().unwrap_or(0));
    }
    difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_that_of_the_standard_and_its_text_is_read_again() {
        let hash = TokenHash::of("abc");
        let text = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((hash.to_string().as_str(), text.parse()), (text, Ok(hash)));
        assert!(hash.is_same(&text.to_uppercase().replace("SHA", "sha").parse().unwrap()));
        for other in 0..256 {
            let mut bytes = hash.0;
            bytes[other / 8] ^= 1 << (other % 8);
            assert!(!hash.is_same(&TokenHash(bytes)), "bit {other}");
        }
    }

    #[test]
    fn what_is_no_hash_is_refused_without_its_text() {
        let token = new_token(&[0xab; 32]);
        let digits = "0".repeat(64);
        for text in [
            "",
            "sha256:",
            "secret",
            &token,
            &digits,
            &format!("sha256:{digits}0"),
            &format!("sha256: {}", &digits[1..]),
            &format!("sha256:{}é", &digits[2..]),
            &format!("sha256:+{}", &digits[1..]),
            &format!("sha512:{digits}"),
        ] {
            let error = text.parse::<TokenHash>().unwrap_err();
            assert!(error.contains("plyd token new"), "{error}");
            assert!(text.len() < 10 || !error.contains(text), "{error}");
        }
    }

    #[test]
    fn a_client_that_only_plays_does_not_analyse() {
        let client = |name: &str, role| Client {
            name: name.to_owned(),
            token: TokenHash::of(name),
            role,
            limits: ClientLimits::default(),
        };
        let clients = vec![client("a", Role::Play), client("b", Role::Analyse), client("c", Role::Operate)];
        let credentials = Credentials::new(Some("d".to_owned()), Some(clients));
        let admitted = ["a", "b", "c", "d", "e"].map(|token| credentials.admit(Some(token)));
        assert_eq!(admitted, [false, true, true, true, false]);
        assert!(!credentials.admit(None));
    }

    #[test]
    fn a_token_is_found_also_where_it_was_cut() {
        let token = new_token(&[0xab; 32]);
        assert_eq!((token.len(), &token[..9]), (69, "plyd_abab"));
        assert!(holds_token(&token) && holds_token(&token[..64]) && holds_token(&format!("`{token}`")));
        assert!(holds_token(&format!("plyd_ plyd_plyd_{}", &token[5..])));
        for text in ["", "plyd_", "plyd_1234567", "plyd_seat_12345678", "plyd-12345678", "lyd_123456789"] {
            assert!(!holds_token(text), "{text}");
        }
    }
}
