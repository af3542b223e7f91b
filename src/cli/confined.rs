//! `plyd confined`: what a worker starts to run a program that came from elsewhere. It limits itself, forgets
//! its environment, and becomes the program, without a shell.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::failure::Failure;

/// Files that it may have open.
const FILES: u64 = 256;
/// Bytes of a file that it writes.
const FILE_BYTES: u64 = 64 << 20;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd confined --memory 1024 -- /home/ann/engine --quiet      become it, with 1 GiB of memory at most")]
pub(super) struct Args {
    /// The memory that it may have, in MiB
    #[arg(long, value_name = "MIB")]
    memory: u32,
    /// What to become
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let limits = [
        (Resource::As, u64::from(args.memory) << 20),
        (Resource::Nofile, FILES),
        (Resource::Fsize, FILE_BYTES),
        (Resource::Core, 0),
    ];
    for (resource, most) in limits {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, limit).map_err(io::Error::from)?;
    }
    // Programs that run as somebody else, such as `sudo`, give it nothing.
    #[cfg(target_os = "linux")]
    rustix::thread::set_no_new_privs(true).map_err(io::Error::from)?;
    let (program, arguments) = args.command.split_first().expect("one is required");
    let mut command = Command::new(program);
    command.args(arguments).env_clear().current_dir(env::temp_dir());
    let error = command.exec();
    Err(Failure::Failed(format!("cannot start `{}`: {error}", program.display())))
}
