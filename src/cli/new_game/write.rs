//! Writes files so that all of them are there or none, and nothing that was there is touched.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use super::template::File;

/// A file or folder that is not yet where it belongs; removed when dropped.
#[derive(Debug)]
pub(super) struct Draft {
    at: PathBuf,
    to: PathBuf,
}

impl Draft {
    /// A folder of these files that is to be at `to`.
    pub(super) fn folder(to: &Path, files: &[File]) -> io::Result<Self> {
        let draft = Self::beside(to)?;
        fs::create_dir(&draft.at)?;
        for (path, text) in files {
            let path = draft.at.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&draft.at))?;
            fs::write(path, text)?;
        }
        Ok(draft)
    }

    /// A new text for the file at `to`, which is there.
    pub(super) fn file(to: &Path, text: &str) -> io::Result<Self> {
        // A file that may not be written is not replaced either.
        let permissions = fs::OpenOptions::new().append(true).open(to)?.metadata()?.permissions();
        let draft = Self::beside(to)?;
        let mut file = fs::File::create_new(&draft.at)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(permissions)?;
        Ok(draft)
    }

    /// A place in the same folder, so that the draft can be moved from there at once.
    fn beside(to: &Path) -> io::Result<Self> {
        let name = to.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no name"))?;
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".{}.{}.{number}.new", name.display(), process::id());
        Ok(Self { at: to.with_file_name(name), to: to.to_owned() })
    }

    /// Where it belongs.
    pub(super) fn path(&self) -> &Path {
        &self.to
    }

    /// Moves it to where it belongs.
    pub(super) fn publish(self) -> io::Result<()> {
        fs::rename(&self.at, &self.to)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // It is not there if it was moved, or could not be made.
        let _ = fs::remove_dir_all(&self.at).or_else(|_| fs::remove_file(&self.at));
    }
}
