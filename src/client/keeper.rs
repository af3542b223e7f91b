//! What outlives who started processes: a process that kills their groups when the starter itself was killed.
//!
//! The starter tells it each group that begins and ends, a line each. Its input ends with the starter, however that
//! ended. It runs in a group of its own, so that what is sent to a terminal's group does not reach it.

use std::collections::HashSet;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The starter's end of a keeper.
#[derive(Debug)]
pub struct Keeper {
    process: Child,
    /// None only while it is dropped.
    input: Mutex<Option<ChildStdin>>,
}

impl Keeper {
    /// Starts the command, which must do nothing but [`keep`] its standard input.
    ///
    /// # Errors
    /// It does not start.
    pub fn start(mut command: Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut process = command.spawn()?;
        let input = Mutex::new(process.stdin.take());
        Ok(Self { process, input })
    }

    /// From now on the group is killed with this process.
    pub(crate) fn watch(&self, group: u32) {
        self.tell('+', group);
    }

    /// The group is about to end, and its number may be given again.
    pub(crate) fn release(&self, group: u32) {
        self.tell('-', group);
    }

    fn tell(&self, sign: char, group: u32) {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(input) = input.as_mut() {
            // Without a keeper all goes on as it would if none had been started.
            let _keeper_gone = input.write_all(format!("{sign}{group}\n").as_bytes());
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.input.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        let _ended_already = self.process.wait();
    }
}

/// Reads which groups begin (`+123`) and end (`-123`) until the input ends, then kills those that are left.
///
/// # Errors
/// The input cannot be read; what is left is killed then too.
pub fn keep(input: impl BufRead) -> io::Result<()> {
    let mut groups = HashSet::new();
    let read = input.lines().try_for_each(|line| {
        let line = line?;
        let (sign, number) = line.split_at_checked(1).unwrap_or_default();
        // Group 1 would mean every process.
        if let Some(group) = number.parse().ok().filter(|group| *group > 1).and_then(Pid::from_raw) {
            match sign {
                "+" => drop(groups.insert(group)),
                _ => drop(groups.remove(&group)),
            }
        }
        Ok(())
    });
    for group in groups {
        let _ended_already = kill_process_group(group, Signal::KILL);
        // The group has the number of the process that leads it, which may have left it.
        let _ended_already = kill_process(group, Signal::KILL);
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn what_is_left_is_killed() {
        let start = || Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
        let (mut left, mut ended) = (start(), start());
        let lines = format!("+{0}\n+{1}\nnonsense\n\n-{1}\n", left.id(), ended.id());
        keep(lines.as_bytes()).unwrap();
        assert_eq!(left.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
        assert!(ended.try_wait().unwrap().is_none(), "it was released");
        ended.kill().unwrap();
        ended.wait().unwrap();
    }
}
