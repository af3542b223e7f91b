//! A file of games: a line of JSON each, appended when a game ends, so that what was played outlives the process.
//!
//! A line is written at once. A process that is killed in the middle leaves half a line at the end at most; the next one
//! that opens the file takes it away and goes on behind the last whole game.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::PlayedGame;

/// How every record begins: half a line that begins otherwise is none of ours.
const BEGINNING: &[u8] = br#"{"record":"#;

/// A file of games that is open for more.
#[derive(Debug)]
pub struct Archive {
    file: File,
}

/// Why a file of games cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is a device or a pipe, which keeps no games.
    #[error("it is no regular file")]
    NoFile,
    /// Another process writes it.
    #[error("another match is writing it")]
    Locked,
    /// A line is no game, or not one that is wanted.
    #[error("line {line}: {message}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
}

impl Archive {
    /// Opens a file for appending, made where there is none, and gives each of its games to `known`. The file
    /// stays as it is unless all its lines are taken.
    ///
    /// # Errors
    /// [`ArchiveError`]; a line's message is JSON's or what `known` said.
    pub fn open(
        path: &Path,
        known: impl FnMut(PlayedGame) -> Result<(), String>,
    ) -> Result<Self, ArchiveError> {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(ArchiveError::NoFile);
        }
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
            Errno::WOULDBLOCK => ArchiveError::Locked,
            error => ArchiveError::Io(error.into()),
        })?;
        let Whole { bytes, ended } = read(BufReader::new(&file), known)?;
        if file.metadata()?.len() > bytes {
            file.set_len(bytes)?;
        }
        if !ended {
            (&file).write_all(b"\n")?;
        }
        Ok(Self { file })
    }

    /// Appends a game in one write.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&mut self, game: &PlayedGame) -> io::Result<()> {
        let mut line = serde_json::to_vec(game)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

/// What of a file is whole games.
#[derive(PartialEq, Eq, Debug)]
struct Whole {
    /// How many bytes.
    bytes: u64,
    /// Whether the last of them ends its line, as an editor may have left it without.
    ended: bool,
}

/// Gives each game to `known`. Half a record at the end is left out.
fn read(
    mut lines: impl BufRead,
    mut known: impl FnMut(PlayedGame) -> Result<(), String>,
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
        let game = serde_json::from_slice(&bytes).map_err(|error| format!("no record of a game: {error}"));
        let is_half = game.is_err() && !ended;
        if is_half && (bytes.starts_with(BEGINNING) || BEGINNING.starts_with(&bytes)) {
            break;
        }
        game.and_then(&mut known).map_err(|message| ArchiveError::Line { line, message })?;
        whole = Whole { bytes: whole.bytes + read as u64, ended };
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(number: usize) -> String {
        format!(
            r#"{{"record":1,"game":"l-game","rules":{{}},"start":"s","moves":[],"result":{{"winner":"p1","by":"crash"}},"number":{number},"seed":"7","terms":{{"margin_us":0,"patience_us":1,"max_moves":5,"adjudication":"never"}},"players":[{{"index":0,"name":"a"}},{{"index":1,"name":"b","build":"1-2"}}],"opening":0,"answers":[],"forfeit":{{"player":"p2","kind":"crash","message":"gone"}}}}"#
        )
    }

    fn numbers(text: &[u8]) -> Result<(Vec<usize>, u64), String> {
        let mut numbers = Vec::new();
        let whole = read(text, |game| {
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
            let opened = Archive::open(Path::new(device), |_| Ok(()));
            assert!(matches!(opened, Err(ArchiveError::NoFile)), "{device}: {opened:?}");
        }
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
    fn what_is_no_game_is_told_with_its_line() {
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
