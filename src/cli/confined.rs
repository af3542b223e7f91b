//! `plyd confined`: what a worker starts to run a program that came from elsewhere. It limits itself, forgets
//! its environment, and becomes the program, without a shell.

use std::env;
use std::ffi::OsString;
use std::process::Command;

use super::failure::Failure;
use super::system::become_confined;

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
    let (program, arguments) = args.command.split_first().expect("one is required");
    let mut command = Command::new(program);
    command.args(arguments).env_clear().current_dir(env::temp_dir());
    let error = become_confined(&mut command, u64::from(args.memory) << 20, FILES, FILE_BYTES);
    Err(Failure::Failed(format!("cannot start `{}`: {error}", program.display())))
}
