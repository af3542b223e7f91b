//! The record of a solution: what was solved outlives the process, so that an interrupted run goes on.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::arena::archive::{Archive, ArchiveError, Kept};
use crate::cli::failure::Failure;
use plyd_protocol::Settings;

/// The version of the format.
const VERSION: u32 = 1;

/// What is solved. Parts of another solution are refused.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Terms {
    pub(super) game: String,
    /// The rules that were given.
    pub(super) rules: Settings,
    /// The ply up to which parts have moves.
    pub(super) plies: u32,
}

/// A line of the record.
#[derive(Serialize, Deserialize)]
struct Line {
    solution: u32,
    #[serde(flatten)]
    terms: Terms,
    /// What is proven, as the game says it.
    part: String,
}

impl Kept for Line {
    const BEGINNING: &'static [u8] = br#"{"solution":"#;
    const WHAT: &'static str = "part of a solution";
}

/// The file, open for more parts.
pub(super) struct SolutionRecord {
    path: PathBuf,
    archive: Archive,
    terms: Terms,
}

impl SolutionRecord {
    /// Opens a record, or makes one; also the parts that it has.
    ///
    /// # Errors
    /// It cannot be written, or is the record of something else.
    pub(super) fn open(path: &Path, terms: Terms) -> Result<(Self, Vec<String>), Failure> {
        let mut known = Vec::new();
        let opened = Archive::open(path, |line: Line| {
            if line.solution != VERSION || line.terms != terms {
                return Err("it is part of another solution".to_owned());
            }
            known.push(line.part);
            Ok(())
        });
        let archive = opened.map_err(|error| match error {
            ArchiveError::Line { .. } => refused(path, &error.to_string()),
            _ => Failure::Usage(format!("--record {}: {error}", path.display())),
        })?;
        Ok((Self { path: path.to_owned(), archive, terms }, known))
    }

    /// Adds a part.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn add(&mut self, part: &str) -> Result<(), Failure> {
        let line = Line { solution: VERSION, terms: self.terms.clone(), part: part.to_owned() };
        let failed = |error| Failure::Failed(format!("--record {}: {error}", self.path.display()));
        self.archive.append(&line).map_err(failed)
    }
}

/// A record with which the work cannot go on.
pub(super) fn refused(path: &Path, message: &str) -> Failure {
    let path = path.display();
    Failure::Usage(format!(
        "--record {path}: {message}; give the arguments of the run that it holds, or another file"
    ))
}
