//! What systems do differently for a worker: files that belong to its user alone.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{make_private_folder, new_program};
#[cfg(windows)]
pub(crate) use windows::{make_private_folder, new_program};
