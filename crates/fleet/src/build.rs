//! Programs that travel: known by the hash of their content, signed by somebody, and kept by each worker in a
//! folder of its own.
//!
//! They lie on the server in pieces, one subject each, and not in the object store of NATS: who fetches an
//! object makes a consumer, and a worker that may do that could read what it likes.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nkeys::KeyPair;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::FleetError;
use super::permit::Denied;
use super::queue::Queue;

/// Hexadecimal digits of a program's name.
const HASH_DIGITS: usize = 64;
/// The most arguments of a program.
const MOST_ARGUMENTS: usize = 64;

/// A program that travels.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Build {
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

/// The programs that a worker may run, and where it keeps them.
pub struct Builds {
    folder: PathBuf,
    trusted: Vec<Trusted>,
    most_bytes: u64,
    /// Those that were compared with their names by this process.
    compared: Mutex<HashSet<String>>,
}

impl Build {
    /// The program of a file's content.
    #[must_use]
    pub fn new(content: &[u8], arguments: Vec<String>, signer: Option<&Signer>) -> Self {
        let mut build = Self { hash: hash(content), bytes: content.len() as u64, arguments, signature: None };
        build.signature = signer.map(|Signer(key)| {
            let signature = key.sign(&build.signed()).expect("a signer has a seed");
            hex(&signature)
        });
        build
    }

    /// What is signed: a change of anything that decides what runs is another text.
    fn signed(&self) -> Vec<u8> {
        let unsigned = Self { signature: None, ..self.clone() };
        let text = serde_json::to_string(&unsigned).expect("it holds only texts and integers");
        format!("plyd build 1\n{text}").into_bytes()
    }

    fn is_signed_by(&self, Trusted(key): &Trusted) -> bool {
        let signature = self.signature.as_deref().and_then(from_hex);
        signature.is_some_and(|signature| key.verify(&self.signed(), &signature).is_ok())
    }

    /// Whether the name is one, and no path.
    fn is_named(&self) -> bool {
        self.hash.len() == HASH_DIGITS && from_hex(&self.hash).is_some()
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

impl Builds {
    /// Keeps programs in a folder, which is made and belongs to this user alone.
    ///
    /// # Errors
    /// There is no such folder, and none can be made.
    pub fn new(folder: PathBuf, trusted: Vec<Trusted>, most_bytes: u64) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Ok(Self { folder, trusted, most_bytes, compared: Mutex::default() })
    }

    /// Where a program is kept.
    pub(super) fn path(&self, build: &Build) -> PathBuf {
        self.folder.join(&build.hash)
    }

    /// Whether it may run here.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn check(&self, build: &Build) -> Result<(), String> {
        let (bytes, most) = (build.bytes, self.most_bytes);
        match () {
            () if !build.is_named() || build.arguments.len() > MOST_ARGUMENTS => {
                Err("is no build".to_owned())
            }
            () if build.signature.is_none() => Err("is a build that nobody signed (--sign)".to_owned()),
            () if !self.trusted.iter().any(|trusted| build.is_signed_by(trusted)) => {
                Err("is a build that nobody signed whom this worker trusts (--trust)".to_owned())
            }
            () if bytes > most => Err(format!("is a build of {bytes} bytes, and this worker takes {most}")),
            () => Ok(()),
        }
    }

    /// Sees to it that a program is there, and is what its name says.
    ///
    /// # Errors
    /// It may not run here, or is not what it should be.
    pub(super) async fn fetch(&self, queue: &Queue, build: &Build) -> Result<Result<(), Denied>, FleetError> {
        let denied = |why: String| Ok(Err(Denied(format!("build {}: {why}", shown(&build.hash)))));
        if let Err(why) = self.check(build) {
            return denied(why);
        }
        let path = self.path(build);
        let compared = || self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if compared().contains(&build.hash) && path.exists() {
            return Ok(Ok(()));
        }
        if fs::read(&path).is_ok_and(|content| hash(&content) == build.hash) {
            compared().insert(build.hash.clone());
            return Ok(Ok(()));
        }
        let Some(content) = queue.build(build).await? else {
            return denied("it is not on the server".to_owned());
        };
        if hash(&content) != build.hash {
            return denied("what is on the server is something else".to_owned());
        }
        match keep(&path, &content) {
            Ok(()) => {
                compared().insert(build.hash.clone());
                Ok(Ok(()))
            }
            Err(error) => denied(error.to_string()),
        }
    }
}

/// Writes a program, whole or not at all.
fn keep(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let written = OpenOptions::new().write(true).create(true).truncate(true).mode(0o700).open(&new);
    let written = written.and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&new, path)).inspect_err(|_| {
        let _was_not_there = fs::remove_file(&new);
    })
}

/// As much of a hash as people compare.
fn shown(hash: &str) -> String {
    plyd_protocol::echo(&hash.chars().take(16).collect::<String>())
}

fn hash(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

fn hex(bytes: &[u8]) -> String {
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

    fn key() -> (Signer, Trusted) {
        let key = KeyPair::new_user();
        let trusted = Trusted::read(&key.public_key()).unwrap();
        (Signer::read(&key.seed().unwrap()).unwrap(), trusted)
    }

    fn builds(trusted: Vec<Trusted>) -> Builds {
        Builds { folder: PathBuf::new(), trusted, most_bytes: 100, compared: Mutex::default() }
    }

    #[test]
    fn what_a_trusted_key_signed_may_run_and_nothing_else() {
        let ((signer, trusted), (other, _)) = (key(), key());
        let builds = builds(vec![trusted]);
        let build = Build::new(b"#!/bin/sh", vec!["-x".into()], Some(&signer));
        assert_eq!(builds.check(&build), Ok(()));
        let read: Build = serde_json::from_str(&serde_json::to_string(&build).unwrap()).unwrap();
        assert_eq!(builds.check(&read), Ok(()));
        for (changed, words) in [
            (Build { signature: None, ..build.clone() }, "nobody signed (--sign)"),
            (Build::new(b"#!/bin/sh", vec!["-x".into()], Some(&other)), "whom this worker trusts"),
            (Build { arguments: vec!["-y".into()], ..build.clone() }, "whom this worker trusts"),
            (Build { hash: hash(b"else"), ..build.clone() }, "whom this worker trusts"),
            (Build { hash: "../../bin/sh".into(), ..build.clone() }, "is no build"),
            (Build { signature: Some("zz".into()), ..build.clone() }, "whom this worker trusts"),
            (Build::new(&[0; 101], Vec::new(), Some(&signer)), "of 101 bytes"),
        ] {
            let why = builds.check(&changed).unwrap_err();
            assert!(why.contains(words), "{why}");
        }
    }

    #[test]
    fn a_key_that_is_none_is_refused() {
        assert!(Signer::read("SUABC").is_err() && Trusted::read("UABC").is_err());
    }
}
