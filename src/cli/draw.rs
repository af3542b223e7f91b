//! `plyd draw`: a board as a picture, as `inspect` answers it for `svg`.

use std::io::Write;

use crate::effort::Effort;
use crate::game::Drawing;
use crate::svg::Theme;

use super::columns::Columns;
use super::failure::Failure;
use super::position::PositionArgs;

/// What stands for no layer at all.
const NONE: &str = "none";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd draw {isolation} > board.svg
  plyd draw isolation --moves d4 b3 c6 > board.svg
  plyd draw isolation --layer book > openings.svg
  plyd draw sudoku --list-layers
  plyd draw l-game --position \"3 3 E 2 1 3 4 2 4 W 1\" --theme dark > board.svg
  plyd draw colosseum --rules size=8,seed=5 | inkscape --pipe --export-filename=board.png

The picture marks the last move. It needs no font and no other file, and is the same on every machine.")]
pub(super) struct Args {
    #[command(flatten)]
    position: PositionArgs,
    /// Its colours
    #[arg(long, value_enum, default_value_t = Shade::Auto)]
    theme: Shade,
    /// The layers to draw in the place of the usual ones; `none` draws none
    #[arg(long = "layer", value_name = "NAME", value_delimiter = ',', num_args = 1)]
    layers: Vec<String>,
    /// List the layers that the board has, and draw nothing
    #[arg(long, conflicts_with_all = ["layers", "theme"])]
    list_layers: bool,
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
    let position = args.position.open()?;
    let effort = Effort::free();
    let mut board = position.board_within(&effort);
    if args.list_layers {
        return list(&board, out);
    }
    if !args.layers.is_empty() {
        show(&mut board, &args.layers, args.position.entry().name)?;
    }
    Ok(out.write_all(position.svg_of(&board, theme, &effort).as_bytes())?)
}

/// Names each layer with what it shows.
fn list(board: &Drawing, out: &mut impl Write) -> Result<(), Failure> {
    let mut table = Columns::plain();
    for layer in &board.layers {
        table.row([layer.name, layer.label, if layer.is_usual { "usual" } else { "" }]);
    }
    Ok(write!(out, "{table}")?)
}

/// Shows the layers that were asked for, and no others.
fn show(board: &mut Drawing, names: &[String], game: &str) -> Result<(), Failure> {
    let wanted: &[String] = if names == [NONE] { &[] } else { names };
    let has = match &board.layers[..] {
        [] => "it has none".to_owned(),
        layers => {
            let names: Vec<&str> = layers.iter().map(|layer| layer.name).collect();
            format!("it has {}", names.join(", "))
        }
    };
    board.show_layers(wanted).map_err(|name| {
        Failure::Usage(format!("--layer {name}: this board of {game} has no such layer; {has}"))
    })
}
