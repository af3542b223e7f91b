//! The reaper: a process that outlives the one that starts processes, and kills their groups if the starter
//! is killed.
//!
//! A group is known to the reaper before anything runs in it. The reaper reads a line for each group that
//! begins and ends from a pipe, which ends with the starter, however that ended. A child is started as `plyd
//! reaper --join`, which writes its own group into that pipe and then becomes the command, with the same
//! process id. If the starter dies before that, the pipe cannot be opened any more, and nothing is started;
//! if it dies after that, the reaper knows.
//!
//! The reaper runs in a group of its own, so that what is sent to the starter's group does not reach it. A
//! process that leaves its group on purpose escapes, unless it is the one that was started.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::process::{self, Child, ChildStdin, Command, Stdio};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use super::system::{self, CHILDREN_JOIN};

/// A program to be started, by itself or once a [`Reaper`] knows of it.
///
/// ```no_run
/// use std::process::{Command, Stdio};
///
/// use plyd_client::{Launch, Lines};
///
/// let mut launch = Launch::from(Command::new("plyd"));
/// launch.command.arg("serve").stderr(Stdio::null());
/// let server = Lines::spawn(launch)?;
/// # Ok::<(), plyd_client::LineError>(())
/// ```
#[derive(Debug)]
pub struct Launch {
    /// What was asked for.
    pub(super) program: OsString,
    /// What is started: streams, arguments and environment may be set.
    pub command: Command,
    pub(super) leads_group: bool,
    /// What ends the group if this process is killed.
    pub(super) reaper: Option<Arc<Reaper>>,
}

impl Launch {
    /// The process stays in our group until it makes a group of its own, as `setsid` does.
    #[must_use]
    pub fn without_group(mut self) -> Self {
        self.leads_group = false;
        self
    }
}

impl From<Command> for Launch {
    /// A program that outlives this process if that is killed.
    fn from(command: Command) -> Self {
        Self { program: command.get_program().to_owned(), command, leads_group: true, reaper: None }
    }
}

/// The starter's end of a reaper.
///
/// ```no_run
/// use std::process::Command;
///
/// use plyd_client::{Client, Reaper};
///
/// let reaper = Reaper::start("plyd")?;
/// // Ends with this process, even if that is killed.
/// let server = Client::spawn(reaper.launch(&Command::new("plyd"))?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Reaper {
    process: Child,
    /// None only while it is dropped.
    input: Mutex<Option<ChildStdin>>,
    /// What starts `plyd`.
    plyd: OsString,
}

impl Reaper {
    /// Starts a reaper; `plyd` is the executable, whose command `reaper` is both the reaper and what joins
    /// it.
    ///
    /// # Errors
    /// It does not start.
    #[allow(clippy::disallowed_methods, reason = "a reaper ends with its input")]
    pub fn start(plyd: impl Into<OsString>) -> io::Result<Arc<Self>> {
        let plyd = plyd.into();
        let mut command = Command::new(&plyd);
        command.arg("reaper").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        system::call(&mut command, "plyd");
        system::lead_group(&mut command);
        let mut process = command.spawn()?;
        let input = Mutex::new(process.stdin.take());
        Ok(Arc::new(Self { process, input, plyd }))
    }

    /// Prepares the start of the command's program with its arguments, environment and directory; the program
    /// runs only once the reaper knows its group.
    ///
    /// # Errors
    /// There is no such program.
    pub fn launch(self: &Arc<Self>, command: &Command) -> io::Result<Launch> {
        let reaper = Some(Arc::clone(self));
        let program = command.get_program();
        system::find(program, command)?;
        let mut joining = Command::new(if CHILDREN_JOIN { &self.plyd } else { program });
        if CHILDREN_JOIN {
            let starter = Starter { process: process::id(), pipe: self.pipe() };
            system::call(&mut joining, "plyd");
            joining.args(["reaper", "--join", &starter.to_string(), "--"]).arg(program);
        }
        joining.args(command.get_args());
        if let Some(directory) = command.get_current_dir() {
            joining.current_dir(directory);
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => joining.env(name, value),
                None => joining.env_remove(name),
            };
        }
        Ok(Launch { program: program.to_owned(), command: joining, leads_group: true, reaper })
    }

    /// Makes the reaper kill the child that was started, if this process is killed.
    pub(super) fn watch(&self, group: u32) {
        if !CHILDREN_JOIN {
            self.say('+', group);
        }
    }

    /// Makes the reaper forget a group that is about to end, since its number may be given again.
    pub(super) fn release(&self, group: u32) {
        self.say('-', group);
    }

    fn say(&self, sign: char, group: u32) {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(input) = input.as_mut() {
            // Without a reaper nothing is started any more, and what runs ends as it would without one.
            let _reaper_gone = input.write_all(format!("{sign}{group}\n").as_bytes());
        }
    }

    /// The descriptor of the pipe in this process.
    fn pipe(&self) -> i32 {
        let input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        system::pipe_number(input.as_ref().expect("it is there until this is dropped"))
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        drop(self.input.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        let _ended_already = self.process.wait();
    }
}

/// The process that starts a child, and the number of its pipe to the reaper; `PROCESS:PIPE` on a command
/// line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Starter {
    process: u32,
    pipe: i32,
}

impl std::fmt::Display for Starter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.process, self.pipe)
    }
}

impl FromStr for Starter {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (process, pipe) = text.split_once(':').ok_or("give PROCESS:PIPE")?;
        match (process.parse(), pipe.parse()) {
            (Ok(process), Ok(pipe)) => Ok(Self { process, pipe }),
            _ => Err("give two numbers"),
        }
    }
}

/// Makes the group of this process known to the starter's reaper, and then becomes the command.
///
/// # Errors
/// The starter or the reaper is gone, or the command cannot be started.
pub fn join(starter: Starter, command: &mut Command) -> io::Error {
    system::join(starter.process, starter.pipe, command)
}

/// Reads which groups begin (`+123`) and end (`-123`) until the input ends, then kills those that are left.
///
/// # Errors
/// The input cannot be read, or a line of it says nothing of the kind; what is left is killed then too.
pub fn reap(input: impl BufRead) -> io::Result<()> {
    let mut groups = HashSet::new();
    let mut nonsense = None;
    let read = input.lines().try_for_each(|line| {
        let line = line?;
        let (sign, number) = line.split_at_checked(1).unwrap_or_default();
        // Group 1 would mean every process.
        if let Some(group) = number.parse::<i32>().ok().filter(|group| *group > 1) {
            match sign {
                "+" => drop(groups.insert(group)),
                "-" => drop(groups.remove(&group)),
                _ => nonsense = nonsense.take().or(Some(line)),
            }
        } else if !line.is_empty() {
            nonsense = nonsense.take().or(Some(line));
        }
        Ok(())
    });
    for group in groups {
        system::kill_group(group);
    }
    read.and_then(|()| match nonsense {
        None => Ok(()),
        Some(line) => {
            let message =
                format!("expected lines like +4711 or -4711, found `{}`", plyd_protocol::echo(&line));
            Err(io::Error::new(io::ErrorKind::InvalidData, message))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::process::Process;
    use super::*;
    use std::fs;
    use std::os::fd::OwnedFd;
    use std::os::unix::process::ExitStatusExt;
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::process::Signal;

    #[test]
    fn what_is_left_is_killed() {
        let start = || {
            let mut command = Command::new("sleep");
            command.arg("1000");
            Process::spawn(command).unwrap()
        };
        let (mut left, mut ended) = (start(), start());
        let lines = format!("+{0}\n+{1}\nnonsense\n\n-{1}\n", left.id(), ended.id());
        let error = reap(lines.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("`nonsense`"), "{error}");
        let status = left.wait_exit(Instant::now() + Duration::from_secs(40)).unwrap();
        assert_eq!(status.unwrap().signal(), Some(Signal::KILL.as_raw()));
        assert!(ended.wait_exit(Instant::now()).unwrap().is_none(), "it was released");
    }

    #[test]
    fn a_group_is_released_when_its_process_is_dead() {
        let (lines, pipe) = io::pipe().unwrap();
        #[allow(clippy::disallowed_methods, reason = "it ends at once")]
        let process = Command::new("true").spawn().unwrap();
        let input = Mutex::new(Some(ChildStdin::from(OwnedFd::from(pipe))));
        let reaper = Arc::new(Reaper { process, input, plyd: OsString::new() });
        // It keeps what it reads, which takes the system some ms to free at its end.
        let mut command = Command::new("tail");
        command.arg("-n1").stdin(Stdio::piped()).stdout(Stdio::null());
        let mut process = Process::spawn(Launch { reaper: Some(reaper), ..Launch::from(command) }).unwrap();
        let mut input = process.take_stdin().unwrap();
        for _ in 0..100 {
            input.write_all(&[0; 1 << 20]).unwrap();
        }
        let stat = format!("/proc/{}/stat", process.id());
        let released = format!("-{}", process.id());
        let reader = thread::spawn(move || {
            let mut lines = io::BufReader::new(lines).lines().map_while(Result::ok);
            assert!(lines.any(|line| line == released));
            fs::read_to_string(stat)
        });
        process.end().unwrap();
        drop(process);
        // It was waited for in the meantime, or was dead.
        if let Ok(stat) = reader.join().unwrap() {
            assert!(stat.contains(") Z "), "{stat}");
        }
    }

    #[test]
    fn a_starter_is_read_as_it_is_written() {
        let starter = Starter { process: 4711, pipe: 5 };
        assert_eq!(starter.to_string().parse(), Ok(starter));
        for text in ["", "1", "1:", ":1", "-1:5", "1:x"] {
            assert!(text.parse::<Starter>().is_err(), "{text}");
        }
    }
}
