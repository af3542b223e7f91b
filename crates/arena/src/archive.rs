//! A file that grows with the work, a line of JSON for each part that ended, so that what was done outlives
//! the process: the games of a match, the iterations of a tuning.
//!
//! A line is written at once. A process that is killed in the middle leaves at most half a line at the end;
//! the next process that opens the file cuts it off and goes on after the last whole line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::lock;

/// What a line records.
pub trait Kept: Serialize + DeserializeOwned {
    /// How every line begins. Half a line that begins otherwise belongs to another file, and is not cut off.
    const BEGINNING: &'static [u8];
    /// What a line is, for people, such as `record of a game`.
    const WHAT: &'static str;
}

/// A file that is open for more lines.
#[derive(Debug)]
pub struct Archive {
    file: File,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is a device or a pipe, which keeps nothing.
    #[error("it is no regular file")]
    NoFile,
    /// Another process writes it.
    #[error("another process is writing it")]
    Locked,
    /// A line is no such record, or not one of this work.
    #[error("line {line}: {message}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
}

impl Archive {
    /// Opens a file for appending, made if there is none, and gives each of its lines to `known`. The file
    /// stays as it is unless all its lines are taken.
    ///
    /// # Errors
    /// [`ArchiveError`]; a line's message is JSON's or what `known` said.
    pub fn open<T: Kept>(
        path: &Path,
        known: impl FnMut(T) -> Result<(), String>,
    ) -> Result<Self, ArchiveError> {
        let locked = |error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock => ArchiveError::Locked,
            _ => ArchiveError::Io(error),
        };
        let file = lock::open(path).map_err(locked)?;
        if !file.metadata()?.is_file() {
            return Err(ArchiveError::NoFile);
        }
        lock::hold(&file).map_err(locked)?;
        let mut archive = Self { file };
        let Whole { bytes, ended } = read(BufReader::new(&archive.file), known)?;
        if archive.file.metadata()?.len() > bytes {
            archive.file.set_len(bytes)?;
        }
        // Not every system appends by itself to a file that can be cut.
        archive.file.seek(SeekFrom::End(0))?;
        if !ended {
            archive.file.write_all(b"\n")?;
        }
        Ok(archive)
    }

    /// Appends a line in one write.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append<T: Kept>(&mut self, kept: &T) -> io::Result<()> {
        let mut line = serde_json::to_vec(kept)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

impl Drop for Archive {
    fn drop(&mut self) {
        lock::release(&self.file);
    }
}

/// Gives each line of a file to `known`, and leaves the file as it is. Half a line at its end is left out.
///
/// # Errors
/// As [`Archive::open`], but that others may write it meanwhile.
pub fn read_file<T: Kept>(
    path: &Path,
    known: impl FnMut(T) -> Result<(), String>,
) -> Result<(), ArchiveError> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(ArchiveError::NoFile);
    }
    read(BufReader::new(file), known).map(|_whole| ())
}

/// The part of a file that is whole lines.
#[derive(PartialEq, Eq, Debug)]
struct Whole {
    /// How many bytes.
    bytes: u64,
    /// Whether the last one ends its line: an editor may have removed the line end.
    ended: bool,
}

/// Gives each line to `known`. Half a line at the end is left out.
fn read<T: Kept>(
    mut lines: impl BufRead,
    mut known: impl FnMut(T) -> Result<(), String>,
) -> Result<Whole, ArchiveError> {
    let mut whole = Whole { bytes: 0, ended: true };
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let read = lines.read_until(b'\n', &mut bytes)?;
        if read == 0 {
            break;
        }
        let ended = bytes.last() == Some(&b'\n');
        let kept = serde_json::from_slice(&bytes).map_err(|error| match bytes.trim_ascii() {
            [] => format!("no {}: it is empty", T::WHAT),
            _ => format!("no {}: {error}", T::WHAT),
        });
        let is_half = kept.is_err() && !ended;
        if is_half && (bytes.starts_with(T::BEGINNING) || T::BEGINNING.starts_with(&bytes)) {
            break;
        }
        kept.and_then(&mut known).map_err(|message| ArchiveError::Line { line, message })?;
        whole = Whole { bytes: whole.bytes + read as u64, ended };
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlayedGame;

    fn game(number: usize) -> String {
        format!(
            r#"{{"record":1,"game":"l-game","rules":{{}},"start":"s","moves":[],"result":{{"winner":"p1","by":"crash"}},"number":{number},"seed":"7","terms":{{"margin_us":0,"patience_us":1,"max_moves":5,"adjudication":"never"}},"players":[{{"index":0,"name":"a"}},{{"index":1,"name":"b","build":"1-2"}}],"opening":0,"answers":[],"forfeit":{{"player":"p2","kind":"crash","message":"gone"}}}}"#
        )
    }

    fn numbers(text: &[u8]) -> Result<(Vec<usize>, u64), String> {
        let mut numbers = Vec::new();
        let whole = read(text, |game: PlayedGame| {
            numbers.push(game.number);
            if game.number < 100 { Ok(()) } else { Err("too many".into()) }
        });
        whole.map(|whole| (numbers, whole.bytes)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_game_reads_as_it_was_written() {
        let text = game(3);
        let read: PlayedGame = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }

    #[test]
    fn a_device_is_no_archive() {
        for device in ["/dev/zero", "/dev/full", "/dev/null"] {
            let opened = Archive::open(Path::new(device), |_: PlayedGame| Ok(()));
            assert!(matches!(opened, Err(ArchiveError::NoFile)), "{device}: {opened:?}");
        }
    }

    #[test]
    fn an_archive_is_locked_until_it_is_dropped_whoever_has_a_copy_of_its_descriptor() {
        let path = std::env::temp_dir().join(format!("plyd-archive-{}.jsonl", std::process::id()));
        let open = || Archive::open(&path, |_: PlayedGame| Ok(()));
        let archive = open().unwrap();
        let second = open();
        let _copy = archive.file.try_clone().unwrap();
        drop(archive);
        let third = open();
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(second, Err(ArchiveError::Locked)), "{second:?}");
        third.unwrap();
    }

    #[test]
    fn half_a_line_is_dropped_wherever_it_was_cut() {
        let (first, second) = (game(1) + "\n", game(2));
        for cut in 0..second.len() {
            let text = format!("{first}{}", &second[..cut]);
            assert_eq!(numbers(text.as_bytes()), Ok((vec![1], first.len() as u64)), "{cut}");
        }
        for whole in [format!("{first}{second}"), format!("{first}{second}\n")] {
            assert_eq!(numbers(whole.as_bytes()), Ok((vec![1, 2], whole.len() as u64)));
        }
    }

    #[test]
    fn what_is_no_game_is_refused_with_its_line() {
        for (text, message) in [
            ("dear diary", "line 1: no record of a game"),
            ("dear diary\n", "line 1: no record of a game"),
            ("\n", "line 1: no record of a game"),
            (&format!("{}\n{{}}\n", game(1)), "line 2: no record of a game"),
            (&format!("{}\n{}\n", game(1), game(100)), "line 2: too many"),
        ] {
            let error = numbers(text.as_bytes()).unwrap_err();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
}
