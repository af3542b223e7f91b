//! The boards that the course framework comes with, and what is known of them; for tests.

use super::layout::Layout;
use super::position::Position;
use super::presets::Choice;
use super::rules::Sudoku;
use plyd_core::game::Rules;

/// The game and the position of a text under a preset.
pub(super) fn open(text: &str, preset: &'static str) -> (Sudoku, Position) {
    let layout = Layout::parse(text).unwrap();
    let rules = Rules::new(vec![("preset", preset.into())]);
    let game = Sudoku::new(Choice::new(&rules, Some(&layout.stated_rules())).unwrap());
    let pos = layout.position(&game).unwrap();
    (game, pos)
}

/// A board file and what is known of its position.
pub(super) struct KnownBoard {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    /// Legal moves, taboo ones included.
    pub(super) legal: usize,
    pub(super) taboo: usize,
    /// None if there are too many to count.
    pub(super) solutions: Option<usize>,
}

macro_rules! board {
    ($name:literal, $legal:literal, $taboo:literal, $solutions:expr) => {
        KnownBoard {
            name: $name,
            text: include_str!(concat!($name, ".txt")),
            legal: $legal,
            taboo: $taboo,
            solutions: $solutions,
        }
    };
}

pub(super) const BOARDS: &[KnownBoard] = &[
    board!("easy-2x2", 5, 1, Some(1)),
    board!("easy-3x3", 252, 26, Some(223)),
    board!("empty-2x2", 64, 0, Some(288)),
    board!("empty-2x3", 216, 0, None),
    board!("empty-3x3", 729, 0, None),
    board!("empty-3x4", 1728, 0, None),
    board!("empty-4x4", 4096, 0, None),
    board!("hard-3x3", 303, 239, Some(1)),
    board!("random-2x3", 37, 9, Some(4)),
    board!("random-3x3", 106, 43, Some(5)),
    board!("random-3x4", 221, 131, Some(3)),
    board!("random-4x4", 461, 333, Some(1)),
];

/// The shape and the values of a board file.
pub(super) fn values(text: &str) -> (usize, usize, Vec<u8>) {
    let mut numbers = text.split_whitespace().map(|word| word.parse().unwrap_or(0));
    let (m, n) = (numbers.next().unwrap(), numbers.next().unwrap());
    (m.into(), n.into(), numbers.collect())
}
