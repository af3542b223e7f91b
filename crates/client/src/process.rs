//! A child process in a group of its own, which ends with all that it started, as far as that stayed in its
//! group.

use std::ffi::OsString;
use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::reaper::{Launch, Reaper};
use super::system::{await_death, has_exited, kill_child, lead_group};

/// Variables of a service manager that are for this process alone: a child that took them for its own would
/// speak in our name. Whoever starts a service sets them for the child.
const OURS: [&str; 6] =
    ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"];

/// The interval at which a child's exit is polled.
const EXIT_POLL: Duration = Duration::from_millis(2);

/// A child process, which is killed with its group when this is dropped.
///
/// ```
/// use std::process::Command;
/// use std::time::{Duration, Instant};
///
/// use plyd_client::Process;
///
/// let mut child = Process::spawn(Command::new("true"))?;
/// let status = child.wait_exit(Instant::now() + Duration::from_secs(60))?;
/// assert!(status.is_some_and(|status| status.success()));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Process {
    child: Child,
    status: Option<ExitStatus>,
    reaper: Option<Arc<Reaper>>,
}

impl Process {
    /// Starts a child process.
    ///
    /// # Errors
    /// There is no such program, or the system gives no process.
    #[allow(clippy::disallowed_methods, reason = "this is what ends it")]
    pub fn spawn(launch: impl Into<Launch>) -> io::Result<Self> {
        let Launch { mut command, leads_group, reaper, .. } = launch.into();
        if leads_group {
            lead_group(&mut command);
        }
        let is_set: Vec<OsString> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
        for name in OURS.iter().filter(|name| is_set.iter().all(|set| set != *name)) {
            command.env_remove(name);
        }
        let child = command.spawn()?;
        if let Some(reaper) = &reaper {
            reaper.watch(child.id());
        }
        Ok(Self { child, status: None, reaper })
    }

    /// The process's id, which is also that of its group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The other end of its standard input, if that is a pipe; once.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// The other end of its standard output, if that is a pipe; once.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// The other end of its standard error, if that is a pipe; once.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Waits until the process ends, and then ends what it leaves behind; none at the deadline.
    ///
    /// # Errors
    /// The system cannot say.
    pub fn wait_exit(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        while self.status.is_none() && !has_exited(&mut self.child)? {
            if Instant::now() >= deadline {
                return Ok(None);
            }
            thread::sleep(EXIT_POLL);
        }
        self.end().map(Some)
    }

    /// Kills the whole group, waits for the process, and says how it ended.
    ///
    /// # Errors
    /// The system cannot say.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        kill_child(&mut self.child);
        if let Some(reaper) = &self.reaper {
            // A process that was killed may still join the reaper until it is dead, and its number may be
            // given again as soon as it was waited for: the release belongs between the two.
            await_death(&mut self.child)?;
            reaper.release(self.child.id());
        }
        let status = self.child.wait()?;
        self.status = Some(status);
        Ok(status)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _reaped_already = self.end();
    }
}
