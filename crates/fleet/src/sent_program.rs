//! Programs that are sent along with matches: known by the hash of their content, and signed by somebody.
//!
//! They lie on the server in pieces, one subject each, and not in the object store of NATS: who fetches an
//! object makes a consumer, and a worker that may do that could read what it likes.

use std::fmt::Write as _;

use nkeys::KeyPair;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Hexadecimal digits of a program's name.
const HASH_DIGITS: usize = 64;
/// The most arguments of a program.
const MOST_ARGUMENTS: usize = 64;

/// A program that is sent along with a match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SentProgram {
    /// SHA-256 of the file, in hexadecimal.
    pub hash: String,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// What it is started with.
    pub arguments: Vec<String>,
    /// A signature of all of this, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// A key that signs programs.
pub struct Signer(KeyPair);

/// Who may sign what runs here.
pub struct Trusted(KeyPair);

impl SentProgram {
    /// The program of a file's content.
    #[must_use]
    pub fn new(content: &[u8], arguments: Vec<String>, signer: Option<&Signer>) -> Self {
        let mut program =
            Self { hash: hash(content), bytes: content.len() as u64, arguments, signature: None };
        program.signature = signer.map(|Signer(key)| {
            let signature = key.sign(&program.signed()).expect("a signer has a seed");
            hex(&signature)
        });
        program
    }

    /// What is signed: a change of anything that decides what runs is another text.
    fn signed(&self) -> Vec<u8> {
        let unsigned = Self { signature: None, ..self.clone() };
        let text = serde_json::to_string(&unsigned).expect("it holds only texts and integers");
        format!("plyd program 1\n{text}").into_bytes()
    }

    /// Whether the signature is of that key.
    pub(super) fn is_signed_by(&self, Trusted(key): &Trusted) -> bool {
        let signature = self.signature.as_deref().and_then(from_hex);
        signature.is_some_and(|signature| key.verify(&self.signed(), &signature).is_ok())
    }

    /// Whether the name is one, and no path, and the arguments are as many as they may be.
    pub(super) fn is_one(&self) -> bool {
        self.hash.len() == HASH_DIGITS
            && from_hex(&self.hash).is_some()
            && self.arguments.len() <= MOST_ARGUMENTS
    }

    /// Whether this is the content that the hash is of.
    pub(super) fn is_of(&self, content: &[u8]) -> bool {
        hash(content) == self.hash
    }
}

impl Signer {
    /// Reads the seed of an nkey.
    ///
    /// # Errors
    /// It is none.
    pub fn read(seed: &str) -> Result<Self, String> {
        KeyPair::from_seed(seed.trim()).map(Self).map_err(|error| error.to_string())
    }

    /// The key that others may trust.
    #[must_use]
    pub fn public_key(&self) -> String {
        self.0.public_key()
    }
}

impl Trusted {
    /// Reads a public nkey.
    ///
    /// # Errors
    /// It is none.
    pub fn read(key: &str) -> Result<Self, String> {
        KeyPair::from_public_key(key.trim()).map(Self).map_err(|error| error.to_string())
    }
}

fn hash(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _strings_take_all = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| {
        (0..text.len()).step_by(2).filter_map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_none_is_refused() {
        assert!(Signer::read("SUABC").is_err() && Trusted::read("UABC").is_err());
    }
}
