//! Texts and pictures: `x y d` for an L, `x y` for a token, coordinates from 1, x to the right and y down.
//!
//! An L is named by the cell where its two bars meet and the direction (N, E, S, W) of its short end; its
//! long end then lies on the only side where it fits.

use super::board::{Cells, pair_mask, pair_of};
use super::draft::Sheet;
pub(super) use super::words::START;
use super::words::{cell, cell_text, cells, l_text, placement, word_count};
use super::{LGame, Move, Position};
use plyd_core::game::{Drawing, Notation, OpenError, Setting};

/// How a position's text is written.
pub(super) const POSITION_GRAMMAR: &str = "L1 N N L2 mover: eleven words, such as `3 1 W 1 1 4 4 2 4 E 1`. An L is `x y d`: \
the cell where its bars meet and the direction N, E, S or W of its short end. A token N is `x y`. The mover is 1 or 2. \
Coordinates go from 1 to 4, x to the right, y down. Letters in any case, tokens in any order; written sorted by x, then y.";

/// How a move's text is written.
pub(super) const MOVE_GRAMMAR: &str = "`x y d`: where the L goes, or `x y d fx fy tx ty`: and a token goes from f to t, \
another cell. With the rule neutrals `both` two token moves may follow, `x y d f t f t`; written with origins and \
destinations sorted, and with the fewest token moves that lead to the position.";

/// Reads a position's text.
///
/// # Errors
/// [`OpenError::Malformed`] for a text that is not eleven words of the right kinds, [`OpenError::Impossible`]
/// for pieces off the board or on top of each other.
pub(super) fn parse_position(game: &LGame, text: &str) -> Result<Position, OpenError> {
    let sheet = Sheet::read(text)?;
    sheet.check(text)?;
    Ok(game.position(sheet.state(), sheet.mover))
}

impl Notation for LGame {
    fn position_text(&self, pos: &Position) -> String {
        Sheet::of(pos).text()
    }

    fn move_text(&self, pos: &Position, mv: Move) -> String {
        let left = pair_mask(pos.state.tokens) & !pair_mask(mv.tokens);
        let mut text = l_text(mv.target);
        for (from, to) in cells(left).zip(cells(mv.landed)) {
            text.push_str(&format!(" {} {}", cell_text(from), cell_text(to)));
        }
        text
    }

    fn parse_move(&self, pos: &Position, text: &str) -> Result<Move, String> {
        let words: Vec<&str> = text.split_ascii_whitespace().take(12).collect();
        let (l, steps) = match words[..] {
            [x, y, d, ref steps @ ..] if matches!(steps.len(), 0 | 4 | 8) => ([x, y, d], steps),
            _ => {
                return Err(format!("a move has three, seven or eleven words, not {}", word_count(&words)));
            }
        };
        let target = placement(l[0], l[1], l[2]).map_err(sentence)?;
        let stood = pair_mask(pos.state.tokens);
        let (mut left, mut landed) = (0, 0);
        for step in steps.chunks_exact(4) {
            let from = 1 << cell(step[0], step[1]).map_err(sentence)?;
            let to = 1 << cell(step[2], step[3]).map_err(sentence)?;
            if from == to {
                return Err("a token that moves goes to another cell".to_owned());
            }
            if stood & from == 0 {
                return Err("no token stands where a token should move from".to_owned());
            }
            if left & from != 0 {
                return Err("one token moves twice".to_owned());
            }
            if landed & to != 0 {
                return Err("both tokens move to one cell".to_owned());
            }
            left |= from;
            landed |= to;
        }
        let stand = (stood & !left) | landed;
        if stand.count_ones() != 2 {
            return Err("a token moves to the other token's cell".to_owned());
        }
        if !steps.is_empty() && stand == stood {
            return Err("tokens that change places do not move".to_owned());
        }
        Ok(Move { target, tokens: pair_on(stand), landed: stand & !stood })
    }

    fn draw(&self, pos: &Position) -> Drawing {
        Sheet::of(pos).board()
    }

    fn rules(&self) -> Vec<(&'static str, Setting)> {
        vec![
            ("neutrals", Setting::from(self.neutrals.name())),
            ("max_plies", Setting::Int(i64::from(self.max_plies))),
            ("repetition", Setting::Int(i64::from(self.repetition))),
        ]
    }
}

/// The index of a pair that is given as a set of two cells.
fn pair_on(set: Cells) -> u8 {
    pair_of(set.trailing_zeros() as usize, 15 - set.leading_zeros() as usize)
}

fn sentence(error: OpenError) -> String {
    match error {
        OpenError::Malformed(message) | OpenError::Impossible(message) | OpenError::Rule { message, .. } => {
            message
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Neutrals;
    use super::super::board::State;
    use super::*;
    use plyd_core::game::{Game, Side};

    const GAME: LGame = LGame::new(Neutrals::One, 0, 0);

    fn start() -> Position {
        parse_position(&GAME, START).expect("valid")
    }

    #[test]
    fn every_position_reads_back() {
        for state in State::all() {
            for mover in [Side::First, Side::Second] {
                let pos = GAME.position(state, mover);
                assert_eq!(parse_position(&GAME, &GAME.position_text(&pos)), Ok(pos));
            }
        }
    }

    #[test]
    fn positions_in_every_accepted_form() {
        for text in [START, "3 1 w 1 1 4 4 2 4 e 1", "3 1 W 4 4 1 1 2 4 E 1", "  3 1 W\t1 1 4 4 2 4 E 1\n"] {
            assert_eq!(GAME.position_text(&parse_position(&GAME, text).expect("valid")), START, "{text}");
        }
        let transposed = "1 3 N 1 1 4 4 4 2 S 1";
        let pos = parse_position(&GAME, transposed).expect("valid");
        assert_eq!(GAME.position_text(&pos), transposed);
        assert_eq!(pos.state.class(), start().state.class());
    }

    #[test]
    fn hostile_position_texts() {
        let long = "1 ".repeat(100_000);
        let malformed = [
            "",
            " ",
            "3 1 W 1 1 4 4 2 4 E",
            "3 1 W 1 1 4 4 2 4 E 1 1",
            "3 1 W 1 1 4 4 2 4 E 3",
            "3 1 Q 1 1 4 4 2 4 E 1",
            "3 1 ÑW 1 1 4 4 2 4 E 1",
            "three 1 W 1 1 4 4 2 4 E 1",
            "-3 1 W 1 1 4 4 2 4 E 1",
            "3 1 W 1 1 4 ４ 2 4 E 1",
            &long,
        ];
        for text in malformed {
            assert!(matches!(parse_position(&GAME, text), Err(OpenError::Malformed(_))), "{text:.60}");
        }
        let impossible = [
            "3 1 N 1 1 4 4 2 4 E 1",
            "5 1 W 1 1 4 4 2 4 E 1",
            "3 1 W 1 0 4 4 2 4 E 1",
            "3 1 W 1 1 4 99999999999999999999999999 2 4 E 1",
            "3 1 W 1 1 1 1 2 4 E 1",
            "3 1 W 3 3 4 4 2 4 E 1",
            "3 1 W 1 1 4 4 2 1 E 1",
        ];
        for text in impossible {
            assert!(matches!(parse_position(&GAME, text), Err(OpenError::Impossible(_))), "{text}");
        }
    }

    #[test]
    fn moves_in_every_accepted_form() {
        let both = LGame::new(Neutrals::Both, 0, 0);
        let cases = [
            (GAME, "3 1 e", "3 1 E"),
            (GAME, " 3 1 E  4 4 1 3 ", "3 1 E 4 4 1 3"),
            (both, "3 1 E 1 1 1 2 4 4 1 3", "3 1 E 1 1 1 2 4 4 1 3"),
            (both, "3 1 E 4 4 1 3 1 1 1 2", "3 1 E 1 1 1 2 4 4 1 3"),
            // Origins and destinations are sorted each for itself.
            (both, "3 1 E 1 1 1 3 4 4 1 2", "3 1 E 1 1 1 2 4 4 1 3"),
            // One token goes where the other stood: the same as one token move.
            (both, "3 1 E 4 4 1 3 1 1 4 4", "3 1 E 1 1 1 3"),
        ];
        for (game, text, written) in cases {
            let pos = parse_position(&game, START).expect("valid");
            let mv = game.parse_move(&pos, text).expect("readable");
            assert!(game.is_legal(&pos, mv), "{text}");
            assert_eq!(game.move_text(&pos, mv), written, "{text}");
        }
    }

    #[test]
    fn illegal_moves() {
        let both = LGame::new(Neutrals::Both, 0, 0);
        let compulsory = LGame::new(Neutrals::Compulsory, 0, 0);
        let none = LGame::new(Neutrals::None, 0, 0);
        let cases = [
            // The L stays, lands on the other L, on a token.
            (GAME, "3 1 W"),
            (GAME, "2 3 E"),
            (GAME, "1 1 S"),
            // A token stays, lands on the new L, on the other L, on the other token; no token, two tokens.
            (GAME, "3 1 E 1 1 1 1"),
            (GAME, "3 1 E 1 1 4 1"),
            (GAME, "3 1 E 1 1 2 2"),
            (GAME, "3 1 E 1 1 4 4"),
            (GAME, "3 1 E 1 2 1 3"),
            (GAME, "3 1 E 1 1 1 2 4 4 1 3"),
            (both, "3 1 E 1 1 1 2 1 1 1 3"),
            (both, "3 1 E 1 1 1 2 4 4 1 2"),
            (both, "3 1 E 1 1 4 4 4 4 1 1"),
            (compulsory, "3 1 E"),
            (none, "3 1 E 1 1 1 2"),
        ];
        for (game, text) in cases {
            let pos = parse_position(&game, START).expect("valid");
            let is_legal = game.parse_move(&pos, text).is_ok_and(|mv| game.is_legal(&pos, mv));
            assert!(!is_legal, "{game:?}: {text}");
        }
    }

    #[test]
    fn unreadable_moves() {
        let long = "3 ".repeat(100_000);
        for text in
            ["", "3 1", "3 1 E 1", "3 1 E 1 1 1", "0 1 E", "3 1 X", "3 1 é", "3 1 E 1 1 1 5", "~3 1 E", &long]
        {
            assert!(GAME.parse_move(&start(), text).is_err(), "{text:.60}");
        }
    }

    #[test]
    fn the_drawing_shows_all_pieces_once() {
        let drawing = GAME.draw(&start());
        let shown: Vec<_> =
            drawing.pieces.iter().map(|piece| (piece.piece, piece.owner, piece.cells.len())).collect();
        let (first, second) = (Some(Side::First), Some(Side::Second));
        assert_eq!(shown, [("l", first, 4), ("l", second, 4), ("token", None, 1), ("token", None, 1)]);
        assert_eq!(drawing.pieces[0].cells[0], (0, 2));
        assert_eq!(drawing.pieces[3].cells, [(3, 3)]);
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in ".{0,60}", numbers in "([0-9NESWnesw]{1,2} ){0,12}") {
            for text in [text, numbers] {
                if let Ok(pos) = parse_position(&GAME, &text) {
                    prop_assert_eq!(parse_position(&GAME, &GAME.position_text(&pos)), Ok(pos));
                }
                if let Ok(mv) = GAME.parse_move(&start(), &text) {
                    prop_assert_eq!(GAME.parse_move(&start(), &GAME.move_text(&start(), mv)), Ok(mv));
                }
            }
        }
    }
}
