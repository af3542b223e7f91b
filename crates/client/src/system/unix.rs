//! Unix: everything is a descriptor, and a process may lead a group.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, ChildStdin, ChildStdout, Command};

use rustix::fs::{Access, OFlags, access, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getppid, kill_process, kill_process_group, waitid,
};

pub(crate) use std::os::unix::net::UnixStream;

/// A child's standard input, which never blocks.
pub(crate) type ChildInput = ChildStdin;
/// A child's standard output.
pub(crate) type ChildOutput = ChildStdout;

/// The end of a wakeup pipe that a thread polls.
pub type WakeupReader = io::PipeReader;
/// The end of a wakeup pipe that wakes the thread.
pub type WakeupWriter = io::PipeWriter;

/// Whether a child can join a reaper by itself: another process's pipe can be opened where `/proc` shows it.
/// Elsewhere the starter reports a child to the reaper right after it started it.
pub(crate) const CHILDREN_JOIN: bool = cfg!(target_os = "linux");

/// Makes writes to a child non-blocking.
pub(crate) fn child_input(stdin: ChildStdin) -> io::Result<ChildInput> {
    let flags = fcntl_getfl(&stdin)?;
    fcntl_setfl(&stdin, flags | OFlags::NONBLOCK)?;
    Ok(stdin)
}

/// A child's output can be waited for as it is.
pub(crate) fn child_output(stdout: ChildStdout) -> io::Result<ChildOutput> {
    Ok(stdout)
}

/// A wakeup pipe: a thread polls the reader, and a byte that is written to the writer wakes it.
pub fn wakeup() -> io::Result<(WakeupReader, WakeupWriter)> {
    io::pipe()
}

/// Lets a program lead a process group of its own.
pub(crate) fn lead_group(command: &mut Command) {
    command.process_group(0);
}

/// Sets the name (`argv[0]`) under which a program is started.
pub(crate) fn call(command: &mut Command, name: &str) {
    command.arg0(name);
}

/// Whether a child has exited. It stays a zombie until it is waited for, so that its number is not given
/// again.
pub(crate) fn has_exited(child: &mut Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}

/// Waits until a child is dead; it stays a zombie until it is waited for.
pub(crate) fn await_death(child: &mut Child) -> io::Result<()> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    retry_on_intr(|| waitid(WaitId::Pid(Pid::from_child(child)), options))?;
    Ok(())
}

/// Kills a child and its group.
pub(crate) fn kill_child(child: &mut Child) {
    let _nobody_is_left = kill_process_group(Pid::from_child(child), Signal::KILL);
    // A process may have left its group, and would then be waited for until it ends by itself.
    let _ended_already = child.kill();
}

/// Kills a group by its number, which is more than 1.
pub(crate) fn kill_group(number: i32) {
    if let Some(group) = Pid::from_raw(number) {
        let _ended_already = kill_process_group(group, Signal::KILL);
        // The group has the number of the process that leads it, which may have left it.
        let _ended_already = kill_process(group, Signal::KILL);
    }
}

/// The descriptor of a pipe in this process.
pub(crate) fn pipe_number(pipe: &ChildStdin) -> i32 {
    pipe.as_raw_fd()
}

/// Makes the group of this process known in the pipe of the process that started it, and then becomes the
/// command.
pub(crate) fn join(starter: u32, pipe: i32, command: &mut Command) -> io::Error {
    match enter(starter, pipe) {
        // The pipe closes in the same step in which this process becomes the command.
        Ok(_pipe) => command.exec(),
        Err(error) => error,
    }
}

fn enter(starter: u32, pipe: i32) -> io::Result<File> {
    let path = format!("/proc/{starter}/fd/{pipe}");
    // Without blocking, this fails if the reaper is gone.
    let flags = OFlags::NONBLOCK.bits() as i32;
    let mut pipe = File::options().write(true).custom_flags(flags).open(path)?;
    // Had the starter ended, its number might be another process's by now.
    if getppid().is_none_or(|parent| parent.as_raw_nonzero().get().cast_unsigned() != starter) {
        return Err(io::Error::other("who started this is gone"));
    }
    fcntl_setfl(&pipe, OFlags::empty())?;
    pipe.write_all(format!("+{}\n", process::id()).as_bytes())?;
    Ok(pipe)
}

/// Looks for a program as the system will, so that its absence is reported when it is started.
pub(crate) fn find(program: &OsStr, command: &Command) -> io::Result<()> {
    let directory = command.get_current_dir().unwrap_or(Path::new(""));
    let given =
        command.get_envs().find(|(name, _)| *name == "PATH").map(|(_, value)| value.map(OsStr::to_owned));
    let places: Vec<PathBuf> = if program.as_bytes().contains(&b'/') {
        vec![PathBuf::new()]
    } else {
        let path: OsString =
            given.unwrap_or_else(|| env::var_os("PATH")).unwrap_or_else(|| "/bin:/usr/bin".into());
        env::split_paths(&path).collect()
    };
    let mut error = Errno::NOENT;
    for place in places {
        let path = directory.join(place).join(program);
        match access(&path, Access::EXEC_OK) {
            Ok(()) if path.is_file() => return Ok(()),
            Ok(()) | Err(Errno::ACCESS) => error = Errno::ACCESS,
            Err(_) => {}
        }
    }
    Err(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_joins_who_is_no_child() {
        let (_reader, writer) = io::pipe().unwrap();
        // This process is not its own parent.
        let error = enter(process::id(), writer.as_raw_fd()).unwrap_err();
        assert_eq!(error.to_string(), "who started this is gone");
        assert!(enter(process::id(), 1_000_000).is_err());
    }

    #[test]
    fn programs_are_found_as_the_system_finds_them() {
        let mut command = Command::new("true");
        assert!(find("sh".as_ref(), &command).is_ok());
        assert!(find("/bin/sh".as_ref(), &command).is_ok());
        for (program, kind) in [
            ("no-such-program", io::ErrorKind::NotFound),
            ("/nowhere", io::ErrorKind::NotFound),
            ("./sh", io::ErrorKind::NotFound),
            ("/etc/passwd", io::ErrorKind::PermissionDenied),
            ("/bin", io::ErrorKind::PermissionDenied),
        ] {
            assert_eq!(find(program.as_ref(), &command).unwrap_err().kind(), kind, "{program}");
        }
        assert!(find("./sh".as_ref(), command.current_dir("/bin")).is_ok());
        assert!(find("sh".as_ref(), command.env("PATH", "/nowhere")).is_err());
    }
}
