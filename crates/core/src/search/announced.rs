//! An announced win, remembered so that it is carried out: a search that announces a win within some plies
//! has to deliver it.

use crate::game::{Game, Root};
use crate::search::SearchResult;

/// The win that a search announced last, if it announced one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct AnnouncedWin {
    /// The hash of the position after the winning move, and the plies left then.
    announced: Option<(u64, u32)>,
}

impl AnnouncedWin {
    /// The win that the lines of an answer announce, if they do.
    pub(super) fn of<G: Game>(game: &G, root: &Root<G>, found: &SearchResult<G::Move>) -> Self {
        let line = &found.lines[0];
        let win =
            line.value.map(|(value, _)| value).filter(|value| value.is_decided() && value.score.is_win());
        let announced = win.and_then(|value| value.score.distance()).map(|plies| {
            let mut pos = root.pos.clone();
            game.play(&mut pos, line.pv[0]);
            (game.hash(&pos), plies.saturating_sub(1))
        });
        Self { announced }
    }

    /// Within how many plies the mover wins, if the winning move was played and the mover has had only forced
    /// moves since.
    pub(super) fn left<G: Game>(self, game: &G, root: &Root<G>) -> Option<u32> {
        let (hash, plies) = self.announced?;
        let mut pos = root.start.clone();
        let mut left = None;
        for &mv in &root.plies {
            if game.hash(&pos) == hash {
                left = Some(plies);
            } else if game.side(&pos) == game.side(&root.pos) && !is_only_move(game, &pos) {
                left = None;
            }
            game.play(&mut pos, mv);
            left = left.and_then(|left| left.checked_sub(1));
        }
        left
    }
}

/// Whether there is nothing to choose.
fn is_only_move<G: Game>(game: &G, pos: &G::Position) -> bool {
    let mut moves = Vec::new();
    game.moves(pos, &mut moves);
    moves.len() == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nim::{Heap, Nim};
    use crate::score::{Score, Value};

    #[test]
    fn a_promise_holds_while_the_mover_keeps_to_it() {
        for most in [1, 3] {
            let game = Nim { most };
            let mut root = Root::new(Heap::of(51));
            let value = Value { score: Score::win_in(21), at_least: true, at_most: false };
            let found = SearchResult::one(1, 0, Some(value));
            let announced = AnnouncedWin::of(&game, &root, &found);
            assert_eq!(announced.left(&game, &root), None, "nothing was played yet");
            let mut other = root.clone();
            other.play(&game, 2);
            other.play(&game, 1);
            assert_eq!(announced.left(&game, &other), None, "another move was played");
            root.play(&game, 1);
            root.play(&game, 1);
            assert_eq!(announced.left(&game, &root), Some(19));
            root.play(&game, 1);
            root.play(&game, 1);
            let left = (most == 1).then_some(17);
            assert_eq!(announced.left(&game, &root), left, "only moves without a choice keep it");
            assert_eq!(AnnouncedWin::default().left(&game, &root), None);
        }
    }
}
