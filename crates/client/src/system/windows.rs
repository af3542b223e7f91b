//! Windows: only sockets can be waited for, so a child's pipes are read and written through a pair of sockets
//! of this machine, by a thread each. Instead of process groups there are trees of processes.
//!
//! It compiles, and nobody has tested it.

use std::ffi::OsStr;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::windows::io::{AsSocket, BorrowedSocket};
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

/// A child's standard input, which never blocks.
pub(crate) type ChildInput = TcpStream;
/// A child's standard output.
pub(crate) type ChildOutput = TcpStream;

/// The end of a wakeup pair that a thread polls.
pub type WakeupReader = TcpStream;
/// The end of a wakeup pair that wakes the thread.
pub type WakeupWriter = TcpStream;

/// The program leads a group (`CREATE_NEW_PROCESS_GROUP`).
const NEW_PROCESS_GROUP: u32 = 0x200;

/// No child can join a reaper by itself: the starter reports it.
pub(crate) const CHILDREN_JOIN: bool = false;

/// What stands for a Unix socket: none is ever connected.
#[derive(Debug)]
pub(crate) enum UnixStream {}

impl UnixStream {
    pub(crate) fn connect(_: impl AsRef<Path>) -> io::Result<Self> {
        Err(absent("plyd has no Unix sockets on this system; give tcp=HOST:PORT"))
    }

    pub(crate) fn shutdown(&self, _: Shutdown) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn set_nonblocking(&self, _: bool) -> io::Result<()> {
        match *self {}
    }
}

impl AsSocket for UnixStream {
    fn as_socket(&self) -> BorrowedSocket<'_> {
        match *self {}
    }
}

/// Makes writes to a child non-blocking.
pub(crate) fn child_input(mut stdin: ChildStdin) -> io::Result<ChildInput> {
    let (ours, mut theirs) = pair()?;
    ours.set_nonblocking(true)?;
    carry("a program's input", move || io::copy(&mut theirs, &mut stdin))?;
    Ok(ours)
}

/// Makes a child's output a socket that can be polled.
pub(crate) fn child_output(mut stdout: ChildStdout) -> io::Result<ChildOutput> {
    let (ours, mut theirs) = pair()?;
    carry("a program's output", move || io::copy(&mut stdout, &mut theirs))?;
    Ok(ours)
}

/// Copies on a thread of its own, which ends with either end.
fn carry(name: &str, copy: impl FnOnce() -> io::Result<u64> + Send + 'static) -> io::Result<()> {
    let carrying = move || {
        // Whoever waits sees its own end of the sockets close.
        let _broke = copy();
    };
    thread::Builder::new().name(name.to_owned()).spawn(carrying).map(drop)
}

/// Two sockets of this machine that are connected with each other.
fn pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let ours = TcpStream::connect(listener.local_addr()?)?;
    let own = ours.local_addr()?;
    loop {
        let (theirs, from) = listener.accept()?;
        // Any program of this machine may connect meanwhile.
        if from == own {
            ours.set_nodelay(true)?;
            theirs.set_nodelay(true)?;
            return Ok((ours, theirs));
        }
    }
}

/// A wakeup pair: a thread polls the reader, and a byte that is written to the writer wakes it.
pub fn wakeup() -> io::Result<(WakeupReader, WakeupWriter)> {
    pair()
}

/// Keeps console events, such as Ctrl-C, from a program.
pub(crate) fn lead_group(command: &mut Command) {
    command.creation_flags(NEW_PROCESS_GROUP);
}

/// Does nothing: here a program is always started under the name of its path.
pub(crate) fn call(_: &mut Command, _: &str) {}

/// Whether a child ended. Its number is not given again while `child` is there.
pub(crate) fn has_exited(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Waits until a child is dead.
pub(crate) fn await_death(child: &mut Child) -> io::Result<()> {
    child.wait().map(drop)
}

/// Kills a child with all that it started, as long as it runs.
pub(crate) fn kill_child(child: &mut Child) {
    if !matches!(child.try_wait(), Ok(Some(_))) {
        kill_tree(child.id());
        let _ended_already = child.kill();
    }
}

/// Kills a process by its number, with all that it started.
pub(crate) fn kill_group(number: i32) {
    if let Ok(id) = number.try_into() {
        kill_tree(id);
    }
}

#[allow(clippy::disallowed_methods, reason = "it ends at once")]
fn kill_tree(id: u32) {
    let mut command = Command::new("taskkill");
    command.args(["/T", "/F", "/PID", &id.to_string()]);
    let _ended_already = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

/// Pipes have no numbers that another process could open them by.
pub(crate) fn pipe_number(_: &ChildStdin) -> i32 {
    -1
}

/// Nobody joins.
pub(crate) fn join(_: u32, _: i32, _: &mut Command) -> io::Error {
    absent("processes do not join a reaper by themselves on this system")
}

/// The program is started by its own name, and the system reports its absence then.
pub(crate) fn find(_: &OsStr, _: &Command) -> io::Result<()> {
    Ok(())
}

fn absent(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, message)
}
