//! Unix.

mod files;
mod manager;
mod sockets;
mod streams;

pub(crate) use files::{are_same, may_change_folder, may_write, open_transcript};
pub(crate) use manager::{NotifySocket, handed};
pub(crate) use sockets::{HandedUnix, MAX_SOCKET_PATH, UnixListener, is_socket, keep_private, remove_stale};
pub(crate) use streams::{Input, Output, is_pipe, is_ready, read, write, write_once};

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

/// The processor time that all threads have used, in seconds.
pub(crate) fn cpu_seconds() -> Option<f64> {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}

/// The file descriptors that there may be.
pub(crate) fn max_fds() -> Option<f64> {
    getrlimit(Resource::Nofile).current.map(|most| most as f64)
}
