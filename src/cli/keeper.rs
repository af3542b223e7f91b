//! `plyd keeper`: what `plyd arena` starts to end its players if it is killed.

use std::io;

use crate::arena;

use super::failure::Failure;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  echo +4711 | plyd keeper     kill the process group 4711 when the input ends; -4711 takes it back")]
pub(super) struct Args {}

pub(super) fn run() -> Result<(), Failure> {
    Ok(arena::keep(io::stdin().lock())?)
}
