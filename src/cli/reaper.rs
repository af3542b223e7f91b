//! `plyd reaper`: what `plyd arena`, `plyd conform` and `plyd replay` start to end their players and servers
//! if they are killed.

use std::ffi::OsString;
use std::io;
use std::process::Command;
use std::sync::Arc;

use crate::client::{self, Reaper, Starter};

use super::failure::Failure;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  echo +4711 | plyd reaper     kill the process group 4711 when the input ends; -4711 takes it back")]
pub(super) struct Args {
    /// Make this process known to the reaper of the process that started it, and become the command
    #[arg(long, value_name = "PROCESS:PIPE", requires = "command")]
    join: Option<Starter>,
    /// What to become
    #[arg(last = true, requires = "join")]
    command: Vec<OsString>,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    match (args.join, args.command.split_first()) {
        (Some(starter), Some((program, arguments))) => {
            let error = client::join(starter, Command::new(program).args(arguments));
            Err(Failure::Failed(format!("cannot start `{}`: {error}", program.display())))
        }
        _ => Ok(client::reap(io::stdin().lock())?),
    }
}

/// The process that ends those that are started if this one is killed.
pub(super) fn start() -> io::Result<Arc<Reaper>> {
    // This very program, even if its file was replaced meanwhile.
    let plyd = if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { std::env::current_exe()? };
    Reaper::start(plyd)
}
