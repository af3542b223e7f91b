//! The race with any worth of cells: the family to which the race and the default evaluation belong.

use plyd::bits::Bits;
use plyd::flood::Flood;
use plyd::game::{Context, Evaluator, LateMoveReductions};
use plyd::games::isolation::eval::LMR;
use plyd::games::isolation::rules::{Isolation, Position, Target};
use plyd::score::Score;

/// The cells that the mover reaches first less the opponent's, each worth so many thousandths by its exits.
#[derive(Clone, Debug)]
pub(crate) struct Worth {
    by_exits: [i32; 9],
}

impl Worth {
    /// Reads what a cell with 0, 1 and more exits is worth, with commas between; the last stands for all
    /// above.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let given: Vec<i32> =
            text.split(',').map(|worth| worth.trim().parse().ok()).collect::<Option<_>>()?;
        let by_exits = std::array::from_fn(|exits| given[exits.min(given.len() - 1)]);
        Some(Self { by_exits })
    }
}

impl<B: Bits> Evaluator<Isolation<B>> for Worth {
    fn evaluate(&self, game: &Isolation<B>, pos: &Position<B>, _ctx: &Context<Target>) -> Score {
        let (mine, theirs) = (game.targets(pos, pos.mover()), game.targets(pos, pos.mover().other()));
        let flood = Flood::new(game.board(), pos.open(), mine, theirs);
        let exits = |cell| (game.board().reach(cell) & pos.open()).len() as usize;
        let worth = |region: B| region.cells().map(|cell| self.by_exits[exits(cell)]).sum::<i32>();
        Score::eval(worth(flood.first) - worth(flood.second))
    }

    fn range(&self) -> (i32, i32) {
        let most = self.by_exits.iter().map(|worth| worth.abs()).max().unwrap_or(0) * B::CAPACITY as i32;
        (-most, most)
    }

    fn lmr(&self) -> Option<LateMoveReductions> {
        Some(LMR)
    }
}
