//! What distinguishes a program from another build of it.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

/// The size of a program's file and when it was written, so that games of another build are not taken for
/// this one's; none if there is no such file.
pub(super) fn of(program: &Path) -> Option<String> {
    let file = std::fs::metadata(program).ok()?;
    let written = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{:x}-{:x}", file.len(), written.as_nanos()))
}

/// The hash of a program's file, which is the same on each machine that has a copy; none if there is no such
/// file. It takes longer than [`of`], since the file is read.
pub(super) fn content(program: &Path) -> Option<String> {
    let mut hash = Sha256::new();
    let mut file = BufReader::with_capacity(1 << 16, File::open(program).ok()?);
    loop {
        let bytes = file.fill_buf().ok()?;
        if bytes.is_empty() {
            break;
        }
        hash.update(bytes);
        let taken = bytes.len();
        file.consume(taken);
    }
    Some(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}
