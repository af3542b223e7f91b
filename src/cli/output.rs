//! Files that commands write at their end: whether they can be is seen at the beginning.

use std::fs;
use std::io;
use std::path::Path;

use super::failure::Failure;

/// Makes the file that `flag` names if there is none; it must keep what is written and not be that of the `record`, which it
/// would replace.
///
/// # Errors
/// It cannot be used so.
pub(super) fn try_path(flag: &str, path: &Path, record: Option<&Path>) -> Result<(), Failure> {
    let told = |what: &dyn std::fmt::Display| Failure::Usage(format!("{flag} {}: {what}", path.display()));
    // Opened only where it is a file: to open a pipe waits for its reader.
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(told(&"it is no regular file")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(told(&error)),
        _ => fs::File::options().create(true).append(true).open(path).map_err(|error| told(&error))?,
    };
    let place = |path: &Path| fs::canonicalize(path).ok();
    match record {
        Some(record) if place(record).is_some_and(|record| Some(record) == place(path)) => {
            Err(told(&"it would replace the record of the games: give another file"))
        }
        _ => Ok(()),
    }
}
