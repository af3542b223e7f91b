//! Reading and writing the streams of the process; the system can say when that would block.

use std::io;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::Errno;

/// What can be read.
pub(crate) trait Input: AsFd {}
impl<T: AsFd> Input for T {}

/// What can be written.
pub(crate) trait Output: AsFd {}
impl<T: AsFd> Output for T {}

/// Reads what there is, and waits for it.
pub(crate) fn read(input: &impl Input, buffer: &mut [u8]) -> io::Result<usize> {
    retried(input, PollFlags::IN, || rustix::io::read(input, &mut *buffer))
}

/// Writes a part, and waits until that is possible.
pub(crate) fn write(output: &impl Output, bytes: &[u8]) -> io::Result<usize> {
    retried(output, PollFlags::OUT, || rustix::io::write(output, bytes))
}

/// Writes as much as is possible without blocking, if the output [is ready](is_ready).
pub(crate) fn write_once(output: &impl Output, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::write(output, bytes)?)
}

/// Whether an output is a pipe: only for a pipe the system can say when a write would block.
pub(crate) fn is_pipe(output: &impl Output) -> bool {
    rustix::fs::fstat(output).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
}

/// Whether a pipe takes something at once.
pub(crate) fn is_ready(output: &impl Output) -> bool {
    let mut ready = [PollFd::new(output, PollFlags::OUT)];
    poll(&mut ready, Some(&Timespec::default())) == Ok(1) && ready[0].revents() == PollFlags::OUT
}

/// Reads or writes, again after a signal, and when the stream is ready if another process made it
/// non-blocking.
fn retried<T>(
    stream: &impl AsFd,
    ready: PollFlags,
    mut io: impl FnMut() -> Result<T, Errno>,
) -> io::Result<T> {
    loop {
        match io() {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => match poll(&mut [PollFd::new(stream, ready)], None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            },
            done => return Ok(done?),
        }
    }
}
