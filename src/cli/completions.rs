//! `plyd completions`: completion scripts for shells, made from the command line's own definition.

use std::io::Write;

use clap_complete::Shell;

use super::failure::Failure;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd completions bash > ~/.local/share/bash-completion/completions/plyd
  plyd completions zsh > ~/.zfunc/_plyd
  plyd completions fish > ~/.config/fish/completions/plyd.fish")]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut script = Vec::new();
    // Not to `out`: it would panic if nobody reads any more.
    clap_complete::generate(args.shell, &mut super::command_line(), super::program(), &mut script);
    Ok(out.write_all(&script)?)
}
