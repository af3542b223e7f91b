//! The positions that are searched.

use plyd::bits::Colours;
use plyd::games::isolation::notation::Layout;
use plyd::games::isolation::rules::{Isolation, Position};

/// Knight Isolation on 11x9, as both searches play it.
pub(crate) type Rules = Isolation<Colours<u64>>;

/// Columns.
pub(crate) const WIDTH: usize = 11;
/// Rows.
pub(crate) const HEIGHT: usize = 9;

/// From random games, after 8, 10, 12 and 14 plies. In each a search to 16 plies by mobility finds neither
/// side far ahead (at most two moves), and no end.
const TEXTS: [&str; 4] = [
    "..x......../.........../.2.x......./.........../..x......../.........../.1.x......./.........../..x.x...... 1",
    ".....x...../..xx......./....x.1..../..xx......./.2..xx...../.........../.........../.........../........... 1",
    "......x..../....x....../.........../.....x...../.....x...../......x..../....x.x...2/.......x.../...1.x...x. 1",
    ".........../.........../.........x./.......x.../.....x..x.1/......xx.../.....x..xx./.......x..x/........x2. 1",
];

/// The positions with their texts.
pub(crate) fn all(game: &Rules) -> Vec<(&'static str, Position<Colours<u64>>)> {
    TEXTS
        .iter()
        .map(|&text| (text, Layout::parse(text).expect("the texts are positions").position(game)))
        .collect()
}
