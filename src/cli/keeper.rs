//! `plyd keeper`: what `plyd arena` and `plyd conform` start to end their players and servers if they are killed.

use std::io;
use std::process::Command;

use crate::client::{self, Keeper};

use super::failure::Failure;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  echo +4711 | plyd keeper     kill the process group 4711 when the input ends; -4711 takes it back")]
pub(super) struct Args {}

pub(super) fn run() -> Result<(), Failure> {
    Ok(client::keep(io::stdin().lock())?)
}

/// The process that ends those that are started if this one is killed.
pub(super) fn start() -> io::Result<Keeper> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("keeper");
    Keeper::start(command)
}
