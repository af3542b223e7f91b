//! Files that commands write at their end: whether they can be is seen at the beginning.

use std::fs;
use std::io;
use std::path::Path;

use super::failure::Failure;

/// What the file of `--record` and `--state` holds.
pub(super) const GAMES: &str = "record of the games";

/// Makes the file that `flag` names if there is none; it must keep what is written and not be the `other`
/// one, which it would replace: what that holds, and its path.
///
/// # Errors
/// It cannot be used so.
pub(super) fn try_path(flag: &str, path: &Path, other: Option<(&str, &Path)>) -> Result<(), Failure> {
    let refusal = |what: &dyn std::fmt::Display| Failure::Usage(format!("{flag} {}: {what}", path.display()));
    // Opened only if it is a file: opening a pipe waits for its reader.
    let is_new = match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(refusal(&"it is no regular file")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refusal(&error)),
        found => found.is_err(),
    };
    fs::File::options().create(true).append(true).open(path).map_err(|error| refusal(&error))?;
    let place = |path: &Path| fs::canonicalize(path).ok();
    let is_same = |other: &Path| place(other).is_some_and(|other| Some(other) == place(path));
    let Some((what, _)) = other.filter(|(_, other)| is_same(other)) else { return Ok(()) };
    if is_new {
        fs::remove_file(path).map_err(|error| refusal(&error))?;
    }
    Err(refusal(&format!("it would replace the {what}: give another file")))
}
