//! `plyd draw`: a board as a picture, as `inspect` answers it for `svg`.

use std::io::Write;

use crate::svg::Theme;

use super::failure::Failure;
use super::position::PositionArgs;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd draw {isolation} > board.svg
  plyd draw isolation --moves d4 b3 c6 > board.svg
  plyd draw l-game --position \"3 3 E 2 1 3 4 2 4 W 1\" --theme dark > board.svg
  plyd draw colosseum --rules size=8,seed=5 | inkscape --pipe --export-filename=board.png

The picture marks the last move. It needs no font and no other file, and is the same on every machine.")]
pub(super) struct Args {
    #[command(flatten)]
    position: PositionArgs,
    /// Its colours
    #[arg(long, value_enum, default_value_t = Shade::Auto)]
    theme: Shade,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Shade {
    /// As its reader prefers
    Auto,
    /// Light, whatever the reader prefers
    Light,
    /// Dark, whatever the reader prefers
    Dark,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let theme = match args.theme {
        Shade::Auto => Theme::Auto,
        Shade::Light => Theme::Light,
        Shade::Dark => Theme::Dark,
    };
    Ok(out.write_all(args.position.open()?.svg(theme).as_bytes())?)
}
