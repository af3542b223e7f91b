//! What distinguishes a program from another build of it.

use std::path::Path;
use std::time::UNIX_EPOCH;

/// The size of a program's file and when it was written, so that games of another build are not taken for
/// this one's; none if there is no such file.
pub(super) fn of(program: &Path) -> Option<String> {
    let file = std::fs::metadata(program).ok()?;
    let written = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{:x}-{:x}", file.len(), written.as_nanos()))
}
