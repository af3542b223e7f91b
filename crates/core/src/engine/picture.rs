//! What a picture of a position says beside its board: a title, and the cells of the last move.

use std::collections::BTreeSet;

use super::{Entry, ToMove};
use crate::game::{Cell, Drawing, Outcome, Piece, Side, Wall};

/// The game, how far it has come, and who is to move or has won.
pub(super) fn title(entry: &Entry, plies: usize, to_move: ToMove, outcome: Option<Outcome>) -> String {
    let game = entry.about.split([':', ';', '.']).next().unwrap_or(entry.name);
    let number = |side: Side| side.index() + 1;
    let state = match (outcome, to_move) {
        (Some(Outcome { winner: Some(side), by, .. }), _) => {
            format!("player {} has won ({by})", number(side))
        }
        (Some(Outcome { winner: None, by, .. }), _) => format!("a draw ({by})"),
        (None, ToMove::Player(side)) => format!("player {} to move", number(side)),
        (None, ToMove::Chance) => "chance decides".to_owned(),
    };
    match plies {
        0 => format!("{game}: {state}"),
        1 => format!("{game} after 1 ply: {state}"),
        _ => format!("{game} after {plies} plies: {state}"),
    }
}

/// The cells of all pieces that came or left and of walls that came, by comparing two drawings; what a move
/// merely leaves behind is not among them.
pub(super) fn changed(before: &Drawing, after: &Drawing) -> Vec<Cell> {
    let (old, new) = (keys(&before.pieces), keys(&after.pieces));
    let came = new.difference(&old).filter(|key| key.0 != "blocked");
    let pieces = came.chain(old.difference(&new)).flat_map(|key| key.3.iter().copied());
    let walls = |drawing: &Drawing| -> BTreeSet<(Cell, bool)> {
        drawing.walls.iter().map(|&Wall { cell, right }| (cell, right)).collect()
    };
    let built = &walls(after) - &walls(before);
    let cells: BTreeSet<Cell> = pieces.chain(built.into_iter().map(|(cell, _)| cell)).collect();
    cells.into_iter().collect()
}

/// What makes pieces equal: kind, owner, label and cells, in whatever order.
type Key<'a> = (&'a str, Option<usize>, Option<&'a str>, BTreeSet<Cell>);

fn keys(pieces: &[Piece]) -> BTreeSet<Key<'_>> {
    pieces.iter().map(key).collect()
}

fn key(piece: &Piece) -> Key<'_> {
    let owner = piece.owner.map(Side::index);
    (piece.piece, owner, piece.label.as_deref(), piece.cells.iter().copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::Effort;
    use crate::nim;
    use crate::play::Position;
    use crate::svg::Theme;

    fn piece(cell: Cell, piece: &'static str, owner: Option<Side>) -> Piece {
        Piece { cells: vec![cell], piece, label: None, owner }
    }

    #[test]
    fn what_came_and_what_left_is_pointed_out_and_what_stays_behind_is_not() {
        let token = |cell| piece(cell, "token", Some(Side::First));
        let wall = |cell| Wall { cell, right: true };
        let before = Drawing {
            pieces: vec![token((0, 0)), piece((2, 2), "stone", None)],
            walls: vec![wall((3, 3))],
            ..Drawing::default()
        };
        let after = Drawing {
            pieces: vec![piece((2, 2), "stone", None), token((0, 1)), piece((1, 1), "blocked", None)],
            walls: vec![wall((4, 4)), wall((3, 3))],
            ..Drawing::default()
        };
        assert_eq!(changed(&before, &after), [(0, 0), (0, 1), (4, 4)]);
        assert!(changed(&after, &after).is_empty());
        let lying = |cells: Vec<Cell>| Drawing {
            pieces: vec![Piece { cells, ..token((0, 0)) }],
            ..Drawing::default()
        };
        assert!(changed(&lying(vec![(0, 0), (0, 1)]), &lying(vec![(0, 1), (0, 0)])).is_empty());
    }

    #[test]
    fn a_picture_names_the_position_and_points_out_the_last_move_alone() -> Result<(), crate::engine::Fault> {
        let heap = Position::start(&nim::ENTRY);
        assert!(heap.svg(Theme::Auto).contains(": player 1 to move</title>"));
        assert!(heap.root().changed_within(&Effort::free()).is_empty());
        let heap = heap.play("3")?.play("2")?;
        // What was taken before does not count.
        assert_eq!(heap.root().changed_within(&Effort::free()).len(), 2);
        assert!(heap.svg(Theme::Auto).contains(" after 2 plies: player 1 to move</title>"));
        let mut heap = heap;
        while heap.outcome().is_none() {
            heap = heap.play("1")?;
        }
        assert!(heap.svg(Theme::Auto).contains(" has won (taken)</title>"), "{heap}");
        Ok(())
    }
}
