//! Boards as pixels.

use std::sync::{Arc, LazyLock};

use epaint_default_fonts::HACK_REGULAR;
use plyd_core::play::Position;
use plyd_core::svg::Theme;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use crate::error::{ToolError, internal};

/// The longer side of a picture, in pixels.
const SIDE: f32 = 768.0;

/// The one font, whatever is installed.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(HACK_REGULAR.to_vec());
    fonts.set_sans_serif_family("Hack");
    Arc::new(fonts)
});

/// The board as a PNG, with the last move pointed out.
///
/// # Errors
/// The picture cannot be drawn, which is a fault of this program.
pub(crate) fn png(position: &Position) -> Result<Vec<u8>, ToolError> {
    let options = Options { fontdb: Arc::clone(&FONTS), ..Options::default() };
    let tree = Tree::from_str(&position.svg(Theme::Light), &options);
    let tree = tree.map_err(|error| internal(error.to_string()))?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let scale = SIDE / width.max(height);
    let pixels = |units: f32| (units * scale).ceil().clamp(1.0, SIDE) as u32;
    let mut pixmap =
        Pixmap::new(pixels(width), pixels(height)).ok_or_else(|| internal("the picture has no size"))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::game::Setting;
    use plyd_core::nim;
    use std::collections::BTreeSet;

    #[test]
    fn a_picture_shows_something() {
        let drawn = png(&Position::start(&nim::ENTRY)).unwrap();
        let pixmap = Pixmap::decode_png(&drawn).unwrap();
        assert_eq!(pixmap.width().max(pixmap.height()), 768);
        let colours: BTreeSet<[u8; 4]> =
            pixmap.pixels().iter().map(|of| [of.red(), of.green(), of.blue(), of.alpha()]).collect();
        assert!(colours.len() > 2, "{colours:?}");
    }

    #[test]
    fn what_is_written_on_a_board_is_in_its_picture() {
        let rules = ["m", "n"].map(|name| (name.to_owned(), Setting::Int(2)));
        let drawn = |value| {
            let start = format!("2 2 {value} . . . . . . . . . . . . . . .");
            png(&Position::open(
                &plyd_games::sudoku::ENTRY,
                &rules.clone().into_iter().collect(),
                Some(&start),
            )
            .unwrap())
            .unwrap()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }
}
