//! What a process costs, by `/proc`.

#![allow(dead_code, reason = "each bench uses a part of this")]

use std::error::Error;
use std::fs;
use std::time::Duration;

/// Whatever cannot be read.
type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The CPU time that the threads of a process used so far.
pub(crate) fn cpu(pid: u32) -> Outcome<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name before the parenthesis may hold spaces; user and system time are the 12th and 13th behind it.
    let (_, fields) = stat.rsplit_once(')').ok_or("no name in /proc")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    let ticks = ticks.sum::<Result<u64, _>>()?;
    // Linux counts for user space in hundredths of a second, whatever the kernel's own ticks are.
    Ok(Duration::from_millis(10 * ticks))
}

/// A number of `/proc/PID/status`, such as `VmRSS:` in KiB or `Threads:`.
pub(crate) fn status(pid: u32, name: &str) -> Outcome<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such line in /proc")?;
    Ok(line.split_whitespace().next().ok_or("an empty line in /proc")?.parse()?)
}
