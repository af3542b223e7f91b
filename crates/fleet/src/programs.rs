//! The programs that a worker keeps in a folder of its own, and which of them may run there.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::build::{Build, Trusted};
use super::denied::Denied;
use super::error::FleetError;
use super::given_back::GivenBack;
use super::queue::Queue;

/// The programs that a worker may run, and where it keeps them.
pub struct Builds {
    folder: PathBuf,
    trusted: Vec<Trusted>,
    most_bytes: u64,
    /// Those that were compared with their names by this process.
    compared: Mutex<HashSet<String>>,
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
            () if !build.is_one() => Err("is no build".to_owned()),
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
    pub(super) async fn fetch(
        &self,
        queue: &Queue,
        build: &Build,
    ) -> Result<Result<(), GivenBack>, FleetError> {
        let why = |why: String| format!("build {}: {why}", shown(&build.hash));
        let failed = |reason: String| Ok(Err(GivenBack::Failed(why(reason))));
        if let Err(reason) = self.check(build) {
            return Ok(Err(Denied(why(reason)).into()));
        }
        let path = self.path(build);
        let compared = || self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if compared().contains(&build.hash) && path.exists() {
            return Ok(Ok(()));
        }
        if fs::read(&path).is_ok_and(|content| build.is_of(&content)) {
            compared().insert(build.hash.clone());
            return Ok(Ok(()));
        }
        let Some(content) = queue.build(build).await? else {
            return failed("it is not on the server".to_owned());
        };
        if !build.is_of(&content) {
            return failed("what is on the server is something else".to_owned());
        }
        match keep(&path, &content) {
            Ok(()) => {
                compared().insert(build.hash.clone());
                Ok(Ok(()))
            }
            Err(error) => failed(error.to_string()),
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

#[cfg(test)]
mod tests {
    use nkeys::KeyPair;

    use super::*;
    use crate::build::Signer;

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
            (
                Build { hash: Build::new(b"else", Vec::new(), None).hash, ..build.clone() },
                "whom this worker trusts",
            ),
            (Build { hash: "../../bin/sh".into(), ..build.clone() }, "is no build"),
            (Build { signature: Some("zz".into()), ..build.clone() }, "whom this worker trusts"),
            (Build::new(&[0; 101], Vec::new(), Some(&signer)), "of 101 bytes"),
        ] {
            let why = builds.check(&changed).unwrap_err();
            assert!(why.contains(words), "{why}");
        }
    }
}
