//! `plyd tune` and `plyd train` as people run them: the real binary, in a directory of its own.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use plyd::client::Launch;
use rustix::process::Signal;

use crate::common::{TIMEOUT, process};

/// An empty directory in which a command runs; it goes with its contents.
pub(crate) struct Trials {
    verb: &'static str,
    path: PathBuf,
}

impl Trials {
    pub(crate) fn new(verb: &'static str) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("{verb}-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self { verb, path }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Launch {
        let mut launch = process::plyd([&[self.verb], arguments].concat());
        launch.command.current_dir(&self.path).stdout(Stdio::piped()).stderr(Stdio::piped());
        launch
    }

    /// What it says, having done what it should.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let output = process::output(self.command(arguments));
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// Sends it a signal as soon as something holds. On a busy machine it may have ended before, which shows
    /// nothing: then `again` makes it as it was, and it is run once more.
    pub(crate) fn interrupt(
        &self,
        arguments: &[&str],
        signal: Signal,
        holds: impl Fn() -> bool,
        again: impl Fn(),
    ) {
        for _ in 0..100 {
            let mut process = process::spawn(self.command(arguments));
            let end = Instant::now() + TIMEOUT * 10;
            while !holds() && process::runs(&mut process) {
                assert!(Instant::now() < end, "{arguments:?} does not come so far");
                thread::sleep(Duration::from_millis(1));
            }
            if process::runs(&mut process) {
                process::signal(&process, signal);
            }
            let status = process::exit(&mut process);
            if !status.success() {
                return;
            }
            again();
        }
        panic!("{arguments:?} always ends before the signal");
    }

    /// What it says of a mistake in its arguments.
    pub(crate) fn refusal(&self, arguments: &[&str]) -> String {
        let output = process::output(self.command(arguments));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// That it refuses each of some arguments with the words beside them.
    pub(crate) fn refuses(&self, mistakes: &[(&[&str], &[&str])]) {
        for (arguments, words) in mistakes {
            let text = self.refusal(arguments);
            for word in *words {
                assert!(text.contains(word), "{arguments:?} without `{word}`: {text}");
            }
        }
    }
}

impl Deref for Trials {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl Drop for Trials {
    fn drop(&mut self) {
        let _what_is_left_harms_nobody = fs::remove_dir_all(&self.path);
    }
}
