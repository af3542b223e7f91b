//! The programs that a worker keeps in a folder of its own, and which of them may run there.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::denied::Denied;
use super::error::FleetError;
use super::given_back::GivenBack;
use super::queue::Queue;
use super::sent_program::{SentProgram, Trusted};
use super::system::{make_private_folder, new_program};

/// The programs that a worker may run, and where it keeps them.
pub struct Programs {
    folder: PathBuf,
    trusted: Vec<Trusted>,
    most_bytes: u64,
    /// Those that were compared with their names by this process.
    compared: Mutex<HashSet<String>>,
}

impl Programs {
    /// Keeps programs in a folder, which is made and belongs to this user alone.
    ///
    /// # Errors
    /// There is no such folder, and none can be made.
    pub fn new(folder: PathBuf, trusted: Vec<Trusted>, most_bytes: u64) -> io::Result<Self> {
        make_private_folder(&folder)?;
        Ok(Self { folder, trusted, most_bytes, compared: Mutex::default() })
    }

    /// Where a program is kept.
    pub(super) fn path(&self, program: &SentProgram) -> PathBuf {
        self.folder.join(&program.hash)
    }

    /// Whether it may run here.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn check(&self, program: &SentProgram) -> Result<(), String> {
        let (bytes, most) = (program.bytes, self.most_bytes);
        match () {
            () if !program.is_one() => Err("is no program".to_owned()),
            () if program.signature.is_none() => Err("is a program that nobody signed (--sign)".to_owned()),
            () if !self.trusted.iter().any(|trusted| program.is_signed_by(trusted)) => {
                Err("is a program that nobody signed whom this worker trusts (--trust)".to_owned())
            }
            () if bytes > most => Err(format!("is a program of {bytes} bytes, and this worker takes {most}")),
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
        program: &SentProgram,
    ) -> Result<Result<(), GivenBack>, FleetError> {
        let why = |why: String| format!("program {}: {why}", shown(&program.hash));
        let failed = |reason: String| Ok(Err(GivenBack::Failed(why(reason))));
        if let Err(reason) = self.check(program) {
            return Ok(Err(Denied(why(reason)).into()));
        }
        let path = self.path(program);
        let compared = || self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if compared().contains(&program.hash) && path.exists() {
            return Ok(Ok(()));
        }
        if fs::read(&path).is_ok_and(|content| program.is_of(&content)) {
            compared().insert(program.hash.clone());
            return Ok(Ok(()));
        }
        let Some(content) = queue.program(program).await? else {
            return failed("it is not on the server".to_owned());
        };
        if !program.is_of(&content) {
            return failed("what is on the server is something else".to_owned());
        }
        match keep(&path, &content) {
            Ok(()) => {
                compared().insert(program.hash.clone());
                Ok(Ok(()))
            }
            Err(error) => failed(error.to_string()),
        }
    }
}

/// Writes a program, whole or not at all.
fn keep(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let written = new_program(&new).and_then(|mut file| {
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
    use crate::sent_program::Signer;

    fn key() -> (Signer, Trusted) {
        let key = KeyPair::new_user();
        let trusted = Trusted::read(&key.public_key()).unwrap();
        (Signer::read(&key.seed().unwrap()).unwrap(), trusted)
    }

    fn programs(trusted: Vec<Trusted>) -> Programs {
        Programs { folder: PathBuf::new(), trusted, most_bytes: 100, compared: Mutex::default() }
    }

    #[test]
    fn what_a_trusted_key_signed_may_run_and_nothing_else() {
        let ((signer, trusted), (other, _)) = (key(), key());
        let programs = programs(vec![trusted]);
        let program = SentProgram::new(b"#!/bin/sh", vec!["-x".into()], Some(&signer));
        assert_eq!(programs.check(&program), Ok(()));
        let read: SentProgram = serde_json::from_str(&serde_json::to_string(&program).unwrap()).unwrap();
        assert_eq!(programs.check(&read), Ok(()));
        for (changed, words) in [
            (SentProgram { signature: None, ..program.clone() }, "nobody signed (--sign)"),
            (SentProgram::new(b"#!/bin/sh", vec!["-x".into()], Some(&other)), "whom this worker trusts"),
            (SentProgram { arguments: vec!["-y".into()], ..program.clone() }, "whom this worker trusts"),
            (
                SentProgram { hash: SentProgram::new(b"else", Vec::new(), None).hash, ..program.clone() },
                "whom this worker trusts",
            ),
            (SentProgram { hash: "../../bin/sh".into(), ..program.clone() }, "is no program"),
            (SentProgram { signature: Some("zz".into()), ..program.clone() }, "whom this worker trusts"),
            (SentProgram::new(&[0; 101], Vec::new(), Some(&signer)), "of 101 bytes"),
        ] {
            let why = programs.check(&changed).unwrap_err();
            assert!(why.contains(words), "{why}");
        }
    }
}
