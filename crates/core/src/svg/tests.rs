//! What no game draws: hostile labels, cells outside the grid, boards without end. Pictures of games are
//! compared by their bytes in the tests of the commands.

use super::*;
use crate::game::{Layer, Mark, Piece, Wall};

/// Whether all elements of a picture are closed in order, and no text holds markup.
fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (inside, text) = tag.split_once('>').expect("a tag ends");
        assert!(!text.contains(['>', '\0']), "{text}");
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{svg}");
        } else if !inside.ends_with('/') {
            open.push(inside.split(' ').next().expect("a tag has a name"));
        }
        assert!(inside.matches('"').count().is_multiple_of(2), "{inside}");
    }
    assert!(open.is_empty(), "{open:?}");
}

fn piece(cells: Vec<Cell>, piece: &'static str, label: Option<&str>, owner: Option<Side>) -> Piece {
    Piece { cells, piece, label: label.map(str::to_owned), owner }
}

#[test]
fn hostile_labels_stay_texts() {
    let hostile = "</text><script>alert('1')</script><text x=\"";
    let labels = vec![hostile.to_owned(), "]]>&\0".to_owned()];
    let mark = |mark| Mark { cell: (0, 0), mark, owner: None, label: Some(hostile.to_owned()) };
    let board = Drawing {
        rows: 2,
        cols: 2,
        pieces: ["l", "tile", "value", "blocked", "other"]
            .map(|kind| piece(vec![(0, 1)], kind, Some(hostile), Some(Side::Second)))
            .into(),
        marks: ["last", "target", "candidates", "taboo", "reachable", "<b>"].map(mark).into(),
        row_labels: labels.clone(),
        col_labels: labels,
        ..Drawing::default()
    };
    for theme in [Theme::Auto, Theme::Light, Theme::Dark] {
        let glyphs = [("other", "M0 0\"/><script>")];
        let picture =
            Picture { title: hostile, theme, last: &[(1, 1)], glyphs: &glyphs, ..Picture::of(&board) };
        let svg = picture.svg();
        assert_well_formed(&svg);
        assert!(!svg.contains("<script") && !svg.contains("<b>"), "{svg}");
        assert_eq!(svg, picture.svg(), "equal drawings give equal bytes");
    }
}

#[test]
fn whatever_a_drawing_holds_the_picture_is_bounded() {
    let far = usize::MAX;
    let many: Vec<Cell> = (0..100_000).map(|at| (at % 300, at / 300)).collect();
    let board = Drawing {
        rows: far,
        cols: far,
        blocks: Some((far, far)),
        pieces: vec![
            piece(Vec::new(), "none", None, None),
            piece(vec![(far, far)], "token", Some(&"x".repeat(1 << 20)), None),
            piece(many.clone(), "l", None, Some(Side::First)),
            piece(many.clone(), "l", None, Some(Side::Second)),
        ],
        walls: many.iter().map(|&cell| Wall { cell, right: true }).collect(),
        marks: many
            .iter()
            .map(|&cell| Mark { cell, mark: "candidates", owner: None, label: Some("1 2 3 x 4 5".into()) })
            .collect(),
        row_labels: vec!["y".repeat(1000); 1000],
        col_labels: vec!["z".repeat(1000); 1000],
        scores: Some([i32::MIN, i32::MAX]),
        layers: Vec::new(),
    };
    let svg = Picture { title: &"t".repeat(1 << 20), last: &many, ..Picture::of(&board) }.svg();
    assert_well_formed(&svg);
    assert!(svg.len() < 4 << 20, "{}", svg.len());
    let nothing = Picture::of(&Drawing::default()).svg();
    assert_well_formed(&nothing);
    assert!(nothing.contains("0 rows and 0 columns"), "{nothing}");
}

#[test]
fn cells_of_the_last_move_are_pointed_out_below_the_pieces() {
    let token = piece(vec![(0, 1)], "token", None, Some(Side::First));
    let board = Drawing { rows: 1, cols: 3, pieces: vec![token], ..Drawing::default() };
    let last = "<rect x=\"100\" y=\"0\" width=\"100\" height=\"100\" class=\"plyd-last\"";
    let plain = Picture::of(&board).svg();
    assert!(!plain.contains("plyd-last"), "{plain}");
    let pointed = Picture { last: &[(0, 1), (9, 9)], ..Picture::of(&board) }.svg();
    assert_eq!(pointed.matches(last).count(), 1, "{pointed}");
    assert!(pointed.find(last) < pointed.find("<circle"), "{pointed}");
    let mark = Mark { cell: (0, 1), mark: "last", owner: None, label: None };
    let marked = Drawing { marks: vec![mark], ..board };
    assert_eq!(Picture::of(&marked).svg().matches(last).count(), 1);
}

#[test]
fn values_that_are_taboo_are_struck() {
    let mark = |mark, label: &str| Mark { cell: (0, 0), mark, owner: None, label: Some(label.into()) };
    let board = Drawing {
        rows: 4,
        cols: 4,
        blocks: Some((2, 2)),
        marks: vec![mark("candidates", "1 2 4 9"), mark("taboo", "2"), mark("declared", "3")],
        ..Drawing::default()
    };
    let svg = Picture { theme: Theme::Light, ..Picture::of(&board) }.svg();
    let group = |colour: &str| {
        let rest = svg.split_once(&format!("fill=\"{colour}\">")).expect("a group").1;
        let texts = rest.split("</g>").next().expect("it ends").split("</text>");
        texts.filter_map(|text| text.rsplit('>').next()).collect::<String>()
    };
    assert_eq!(group("#62666e"), "14", "a value beyond the block's is left out");
    assert_eq!(group("#b3261e"), "23");
}

#[test]
fn layers_are_drawn_that_are_shown() {
    let mark = |mark, owner, label: &str| Mark { cell: (0, 1), mark, owner, label: Some(label.into()) };
    let board = Drawing {
        rows: 4,
        cols: 4,
        blocks: Some((2, 2)),
        marks: vec![mark("candidates", None, "3")],
        layers: vec![
            Layer { name: "fits", is_usual: true, kinds: &["candidates"], ..Layer::default() },
            Layer { name: "book", marks: vec![mark("wins", Some(Side::Second), "16")], ..Layer::default() },
        ],
        ..Drawing::default()
    };
    let usual = Picture::of(&board).svg();
    assert!(usual.contains(">3</text>") && !usual.contains("plyd-p2-ground"), "{usual}");
    let mut other = board.clone();
    assert_eq!(other.show_layers(&["book"]), Ok(()));
    let svg = Picture::of(&other).svg();
    assert!(!svg.contains(">3</text>") && svg.contains(">16</text>"), "{svg}");
    let ground = "<rect x=\"100\" y=\"0\" width=\"100\" height=\"100\" class=\"plyd-p2-ground\"";
    assert!(svg.contains(ground) && svg.contains("player 2&#39;s wins 16: row 1 column 2."), "{svg}");
    assert_eq!(other.show_layers(&["fits", "bok"]), Err("bok".to_owned()));
}

#[test]
fn a_glyph_stands_on_the_disc_of_its_kind() {
    let board = Drawing {
        rows: 1,
        cols: 2,
        pieces: vec![piece(vec![(0, 0)], "token", None, None), piece(vec![(0, 1)], "stone", None, None)],
        ..Drawing::default()
    };
    let svg = Picture { glyphs: &[("token", "M0 0h9z")], ..Picture::of(&board) }.svg();
    assert_eq!(svg.matches("<path d=\"M0 0h9z\" transform=\"translate(50 50)\"").count(), 1, "{svg}");
}
