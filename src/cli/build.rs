//! What distinguishes a program from another build of it.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

/// The size of a program's file and when it was written, so that games of another build are not taken for
/// this one's; none if there is no such file.
pub(super) fn of(program: &Path) -> Option<String> {
    let file = fs::metadata(program).ok()?;
    let written = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{:x}-{:x}", file.len(), written.as_nanos()))
}

/// The hash of a program's file, which is the same on each machine that has a copy; none if there is no such
/// file. It takes longer than [`of`], since the file is read.
pub(super) fn content(program: &Path) -> Option<String> {
    let hash = Sha256::digest(fs::read(program).ok()?);
    Some(hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}
