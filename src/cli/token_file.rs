//! The file that holds the token of a client or a server.

use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use plyd_protocol::MAX_TOKEN;

use super::failure::Failure;
use super::system::{await_readable, open_without_waiting};

/// What the longest token takes.
const TOKEN_BYTES: usize = 4 * MAX_TOKEN;
/// What a line end may take behind it.
const LINE_END_BYTES: usize = "\r\n".len();
/// How long a pipe may take to bring it: the program that writes there may ask somebody for a password.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The token in a file, without the line end that editors add. The file may be a pipe that somebody writes
/// to, such as that of `<(COMMAND)` in a shell.
///
/// # Errors
/// The file cannot be read in time, or holds no token.
pub(super) fn read_token(path: &Path) -> Result<String, Failure> {
    let usage = |message: String| Failure::Usage(format!("--token-file {}: {message}", path.display()));
    let most = TOKEN_BYTES + LINE_END_BYTES;
    let bytes = read(path, most, TIMEOUT).map_err(|error| usage(error.to_string()))?;
    let too_long =
        || usage(format!("the file holds more than a token, which has at most {MAX_TOKEN} characters"));
    if bytes.len() > most {
        return Err(too_long());
    }
    let text = str::from_utf8(&bytes).map_err(|error| usage(error.to_string()))?;
    let token = text.trim_end_matches(['\r', '\n']);
    if token.is_empty() {
        return Err(usage("the file is empty; write the token into it".into()));
    }
    if token.chars().count() > MAX_TOKEN {
        return Err(too_long());
    }
    Ok(token.to_owned())
}

/// What a file holds, but little more than `most` bytes: it may be one without end, such as a device.
fn read(path: &Path, most: usize, timeout: Duration) -> io::Result<Vec<u8>> {
    let mut file = open_without_waiting(path)?;
    let end = Instant::now() + timeout;
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    while bytes.len() <= most {
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => await_readable(&file, end)?,
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    /// A pipe in the file system, and what removes it.
    struct Pipe(std::path::PathBuf);

    impl Pipe {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("plyd-test-token-{name}-{}", std::process::id()));
            mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
            Self(path)
        }

        /// The end to write to, which waits for nobody.
        fn writer(&self) -> File {
            File::options().read(true).write(true).open(&self.0).unwrap()
        }
    }

    impl Drop for Pipe {
        fn drop(&mut self) {
            let _leftover = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn a_pipe_without_a_writer_holds_no_token() {
        let pipe = Pipe::new("unused");
        let said = read_token(&pipe.0).unwrap_err().to_string();
        assert!(said.contains("the file is empty"), "{said}");
    }

    #[test]
    fn a_pipe_whose_writer_writes_nothing_is_given_up() {
        let pipe = Pipe::new("silent");
        let writer = pipe.writer();
        let error = read(&pipe.0, 9, Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
        drop(writer);
    }

    #[test]
    fn the_token_may_come_late_and_in_pieces() {
        let pipe = Pipe::new("late");
        let mut writer = pipe.writer();
        writer.write_all(b"sec").unwrap();
        let path = pipe.0.clone();
        let reader = std::thread::spawn(move || read_token(&path).map_err(|error| error.to_string()));
        writer.write_all(b"ret\n").unwrap();
        // Without a reader, the end of the writer would be that of the text.
        while rustix::io::ioctl_fionread(&writer).unwrap() > 0 && !reader.is_finished() {
            std::thread::yield_now();
        }
        drop(writer);
        assert_eq!(reader.join().unwrap().as_deref(), Ok("secret"));
    }
}
