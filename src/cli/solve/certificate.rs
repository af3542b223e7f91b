//! The file of a certificate: it grows while a game is solved, so that a run that is ended goes on, and has
//! its lines in order once all is solved.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use crate::cli::failure::Failure;
use crate::cli::records;

/// A file of whole lines, to which lines are added.
pub(super) struct CertificateFile<'a> {
    path: &'a Path,
    /// The bytes of whole lines that it had at first.
    whole: u64,
    /// None before the first line that is added: what is no certificate stays as it is.
    file: Option<File>,
    /// Why a line could not be added.
    fault: Option<io::Error>,
}

impl<'a> CertificateFile<'a> {
    /// Reads the lines of a file, if there is one. A last line without an end was being written when the
    /// process ended: it is left out.
    ///
    /// # Errors
    /// The file cannot be read, or is no text.
    pub(super) fn read(path: &'a Path) -> Result<(Self, String), Failure> {
        let mut known = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            read => read.map_err(|error| failed("read", path, error))?,
        };
        known.truncate(known.rfind('\n').map_or(0, |end| end + 1));
        Ok((Self { path, whole: known.len() as u64, file: None, fault: None }, known))
    }

    /// Adds a line; whether that succeeded.
    pub(super) fn add(&mut self, line: &str) -> bool {
        self.fault = self.write(line).err();
        self.fault.is_none()
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let file = OpenOptions::new().create(true).append(true).open(self.path)?;
                file.set_len(self.whole)?;
                none.insert(file)
            }
        };
        file.write_all(format!("{line}\n").as_bytes())
    }

    /// Passes on why a line could not be added.
    ///
    /// # Errors
    /// A line could not be added.
    pub(super) fn checked(&mut self) -> Result<(), Failure> {
        self.fault.take().map_or(Ok(()), |error| Err(failed("write", self.path, error)))
    }

    /// Puts the whole text in its place.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn finish(self, whole: &str) -> Result<(), Failure> {
        records::replace(self.path, whole.as_bytes()).map_err(|error| failed("write", self.path, error))
    }
}

fn failed(done: &str, path: &Path, error: impl Display) -> Failure {
    Failure::Failed(format!("cannot {done} `{}`: {error}", path.display()))
}
