//! The page's counts that a plain perft does not give: distinct positions, lines without moves that change
//! nothing, and lines in which moves to the same position count once.

use std::collections::HashSet;

use super::board::{Board, Slide};
use super::nibbles::{self, Nibbles};
use super::rules::{Ijk, Move, Position};
use super::variant::{Skip, Variant};
use plyd_core::game::{Game, Rules, Turn};

/// Preset, then by depth from 1: distinct positions.
const STATES: &[(&str, &[usize])] = &[
    ("v2-4x4", &[3, 9, 29, 87, 244, 592, 0, 0, 0, 16_181]),
    ("v2", &[3, 9, 29, 87, 251, 636, 0, 0, 0, 22_749]),
    ("v1", &[4, 16, 60, 192, 590, 1661]),
    ("text", &[3, 9, 33, 106, 330, 911]),
];

/// Preset, then by depth from 1: lines of slides that all change the board.
const WITHOUT_NO_OPS: &[(&str, &[usize])] = &[
    ("v2-4x4", &[2, 6, 18, 60, 207, 723, 0, 0, 0, 104_409]),
    ("v2", &[2, 6, 18, 60, 207, 733, 0, 0, 0, 110_664]),
];

/// Preset, then by depth from 1: lines in which children that are alike count once.
const MERGED: &[(&str, &[usize])] = &[
    ("v2-4x4", &[3, 12, 45, 178, 712, 2770, 0, 0, 0, 641_493]),
    ("v2", &[3, 12, 45, 178, 712, 2812, 0, 0, 0, 687_984]),
];

fn children<B: Board>(game: &Ijk<false, B>, pos: &Position<B>) -> Vec<Position<B>> {
    let mut moves = Vec::new();
    if game.turn(pos) == Turn::Move {
        game.moves(pos, &mut moves);
    }
    let after = |mv: Move| {
        let mut next = *pos;
        game.play(&mut next, mv);
        next
    };
    moves.into_iter().map(after).collect()
}

/// What distinguishes positions: all of their text.
fn key<B: Board>(pos: &Position<B>) -> (B, usize, u8) {
    (*pos.board(), pos.mover().index(), pos.last())
}

/// Compares the table with what is counted from the start, on both kinds of boards where both can be.
fn check(
    table: &[(&'static str, &[usize])],
    count: fn(&Ijk<false>, &Position, usize) -> usize,
    count_nibbles: fn(&Ijk<false, Nibbles>, &Position<Nibbles>, usize) -> usize,
) {
    for &(preset, expected) in table {
        let variant = Variant::choose(&Rules::new(vec![("preset", preset.into())]), None).unwrap();
        for (depth, &expected) in (1..).zip(expected).filter(|row| *row.1 > 0) {
            let game = Ijk::<false>::new(variant);
            assert_eq!(count(&game, &game.start(), depth), expected, "{preset} depth {depth}");
            if variant.size == nibbles::SIZE {
                let game = Ijk::<false, Nibbles>::new(variant);
                assert_eq!(count_nibbles(&game, &game.start(), depth), expected, "{preset} depth {depth}");
            }
        }
    }
}

#[test]
fn distinct_positions() {
    fn count<B: Board>(game: &Ijk<false, B>, pos: &Position<B>, depth: usize) -> usize {
        let mut layer = vec![*pos];
        for _ in 0..depth {
            let mut seen = HashSet::new();
            layer = layer
                .iter()
                .flat_map(|pos| children(game, pos))
                .filter(|pos| seen.insert(key(pos)))
                .collect();
        }
        layer.len()
    }
    check(STATES, count, count);
}

#[test]
fn lines_without_moves_that_change_nothing() {
    fn count<B: Board>(game: &Ijk<false, B>, pos: &Position<B>, depth: usize) -> usize {
        if depth == 0 {
            return 1;
        }
        let changes = |slide: &Slide| {
            let mut board = *pos.board();
            board.slide(*slide, game.cells(), super::rules::case(pos.mover()));
            board != *pos.board()
        };
        assert_eq!(game.variant().skip, Skip::None);
        let after = children(game, pos);
        let changing = Slide::ALL.iter().zip(&after).filter(|(slide, _)| changes(slide));
        changing.map(|(_, next)| count(game, next, depth - 1)).sum()
    }
    check(WITHOUT_NO_OPS, count, count);
}

#[test]
fn lines_in_which_equal_children_count_once() {
    fn count<B: Board>(game: &Ijk<false, B>, pos: &Position<B>, depth: usize) -> usize {
        if depth == 0 {
            return 1;
        }
        let mut seen = HashSet::new();
        let after = children(game, pos).into_iter().filter(|next| seen.insert(key(next)));
        after.map(|next| count(game, &next, depth - 1)).sum()
    }
    check(MERGED, count, count);
}
