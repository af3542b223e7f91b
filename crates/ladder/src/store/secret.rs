//! Tokens, links of invitation and logins: random texts of which the database keeps the hash alone.

use std::fmt::{self, Write};
use std::io;

use sha2::{Digest, Sha256};

/// A secret that was just made. It is shown once.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Draws one. It begins with `plyd_`, as the tokens of `plyd token` do, so that logs leave it out.
    ///
    /// # Errors
    /// The system has no randomness.
    pub fn draw() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(hex("plyd_", &bytes)))
    }

    /// What is shown.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// What is kept of a secret. It has 256 random bits, so that nothing slower is needed.
pub(super) fn hash(secret: &str) -> String {
    hex("sha256:", &Sha256::digest(secret.as_bytes()))
}

fn hex(beginning: &str, bytes: &[u8]) -> String {
    let mut text = beginning.to_owned();
    for byte in bytes {
        let _cannot_fail = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_hashes_are_those_of_sha256() {
        let [first, second] = [Secret::draw().unwrap(), Secret::draw().unwrap()];
        assert!(first != second && first.text().len() == 69 && first.text().starts_with("plyd_"));
        assert_eq!(format!("{first:?}"), "Secret");
        // FIPS 180-2, appendix B.1.
        assert_eq!(hash("abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
