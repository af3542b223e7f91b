//! The words of positions and moves: cells, Ls, and the position where the game begins.

use super::board::{AT, Cells, DIRECTIONS, NAMES, NOWHERE};
use plyd_core::game::OpenError;

/// The text of the position where the game begins unless another is given.
pub(super) const START: &str = "3 1 W 1 1 4 4 2 4 E 1";

pub(super) fn l_text(l: u8) -> String {
    let (corner, direction) = NAMES[usize::from(l)];
    format!("{} {}", cell_text(corner), DIRECTIONS[usize::from(direction)])
}

pub(super) fn cell_text(cell: u8) -> String {
    format!("{} {}", cell / 4 + 1, cell % 4 + 1)
}

pub(super) fn row_and_column(cell: u8) -> (usize, usize) {
    (usize::from(cell % 4), usize::from(cell / 4))
}

/// The cells of a set, sorted by x, then y.
pub(super) fn cells(set: Cells) -> impl Iterator<Item = u8> {
    (0..16).filter(move |cell| set >> cell & 1 == 1)
}

pub(super) fn placement(x: &str, y: &str, direction: &str) -> Result<u8, OpenError> {
    let corner = cell(x, y)?;
    let direction = DIRECTIONS
        .iter()
        .position(|letter| direction.eq_ignore_ascii_case(letter.encode_utf8(&mut [0; 4])))
        .ok_or_else(|| OpenError::Malformed("the direction of an L is one of N, E, S, W".to_owned()))?;
    match AT[corner][direction] {
        NOWHERE => Err(OpenError::Impossible("the short end of an L lies off the board".to_owned())),
        l => Ok(l),
    }
}

pub(super) fn cell(x: &str, y: &str) -> Result<usize, OpenError> {
    Ok(4 * coordinate(x)? + coordinate(y)?)
}

/// A coordinate, from 0.
fn coordinate(word: &str) -> Result<usize, OpenError> {
    match word.as_bytes() {
        [digit @ b'1'..=b'4'] => Ok(usize::from(digit - b'1')),
        digits if digits.iter().all(u8::is_ascii_digit) => {
            Err(OpenError::Impossible("a coordinate lies off the board: they go from 1 to 4".to_owned()))
        }
        _ => Err(OpenError::Malformed("a coordinate is a digit from 1 to 4".to_owned())),
    }
}

/// How many words there are, of which at most twelve were split off.
pub(super) fn word_count(words: &[&str]) -> String {
    if words.len() > 11 { "more".to_owned() } else { words.len().to_string() }
}
