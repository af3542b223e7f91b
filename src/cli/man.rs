//! `plyd man`: manual pages, made from the command line's own definition.

use std::io::Write;
use std::path::PathBuf;

use super::failure::Failure;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd man ~/.local/share/man/man1
  man plyd-go")]
pub(super) struct Args {
    /// The folder, which is made if it is not there
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let folder = &args.folder;
    let failed =
        |error| Failure::Failed(format!("cannot write manual pages to {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(super::command_line().name("plyd"), folder).map_err(failed)?;
    Ok(writeln!(out, "wrote manual pages to {}", folder.display())?)
}
