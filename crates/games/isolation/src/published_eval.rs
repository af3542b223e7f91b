//! Published evaluations of an AI-Isolation project (alikureishy/AI-isolation, `scorefunctions.py`), as their
//! author wrote them: seen from the root player, whoever moves, and so not symmetric.
//!
//! The project scores won and lost positions as infinite; a search of this crate never evaluates those. A
//! token that is not placed yet may go to any open cell, and is neither near nor far.

use super::board::UNPLACED;
use super::eval::UNIT;
use super::rules::{Isolation, Position, Target};
use plyd_core::bits::Bits;
use plyd_core::game::{Context, Evaluator};
use plyd_core::score::Score;

/// The formulas, in the order in which the project presents them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Formula {
    WinLose,
    OpenMove,
    Improved,
    NetAdvantage,
    NetMobility,
    Accessibility,
    Offensive,
    Proximity,
    OffensiveNear,
    NetAdvantageNear,
}

#[cfg(test)]
impl Formula {
    /// All of them.
    pub(super) const ALL: [Self; 10] = [
        Self::WinLose,
        Self::OpenMove,
        Self::Improved,
        Self::NetAdvantage,
        Self::NetMobility,
        Self::Accessibility,
        Self::Offensive,
        Self::Proximity,
        Self::OffensiveNear,
        Self::NetAdvantageNear,
    ];
}

/// One of the published evaluations, for boards of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Published {
    formula: Formula,
    width: usize,
    height: usize,
}

impl Published {
    /// The evaluation by a formula, for a game.
    pub(super) fn new<B: Bits>(game: &Isolation<B>, formula: Formula) -> Self {
        Self { formula, width: game.board().width(), height: game.board().height() }
    }
}

impl<B: Bits> Evaluator<Isolation<B>> for Published {
    #[inline]
    fn evaluate(&self, game: &Isolation<B>, pos: &Position<B>, ctx: &Context<Target>) -> Score {
        let view = View {
            active: pos.mover() == ctx.root,
            own: game.targets(pos, ctx.root),
            opp: game.targets(pos, ctx.root.other()),
            own_cell: pos.token(ctx.root),
            opp_cell: pos.token(ctx.root.other()),
            width: self.width,
            height: self.height,
        };
        let score = match self.formula {
            Formula::WinLose => 0,
            Formula::OpenMove => view.own.len() as i32,
            Formula::Improved => view.own.len() as i32 - view.opp.len() as i32,
            Formula::NetAdvantage => view.net_advantage(),
            Formula::NetMobility => view.net_mobility(),
            Formula::Accessibility => view.accessibility(),
            Formula::Offensive => view.offensive(),
            Formula::Proximity => view.proximity(),
            Formula::OffensiveNear => view.offensive() + view.proximity(),
            Formula::NetAdvantageNear => view.net_advantage() + view.offensive(),
        };
        Score::eval(if view.active { score } else { -score } * UNIT)
    }

    fn range(&self) -> (i32, i32) {
        let cells = (self.width * self.height) as i32;
        let hops = (self.width.max(self.height) as i32 - 1) / 2;
        let most = match self.formula {
            Formula::WinLose => 0,
            // A token that is not placed yet has a move to every open cell.
            Formula::OpenMove | Formula::Improved | Formula::NetAdvantage => cells,
            Formula::NetMobility => 2,
            Formula::Accessibility | Formula::Offensive => 1,
            Formula::Proximity => hops,
            Formula::OffensiveNear => hops + 1,
            Formula::NetAdvantageNear => cells + 1,
        };
        (-most * UNIT, most * UNIT)
    }

    fn is_root_dependent(&self) -> bool {
        true
    }
}

/// A position as the root player sees it.
struct View<B> {
    /// Whether the root player is to move.
    active: bool,
    own: B,
    opp: B,
    own_cell: u8,
    opp_cell: u8,
    width: usize,
    height: usize,
}

impl<B: Bits> View<B> {
    fn net_advantage(&self) -> i32 {
        let counted = if self.active { self.own } else { self.own & !self.opp };
        counted.len() as i32 - self.opp.len() as i32
    }

    fn net_mobility(&self) -> i32 {
        match self.own.len() as i32 - self.opp.len() as i32 {
            1.. => 1 + i32::from(self.active),
            0 => 0,
            _ => -2 + i32::from(self.active),
        }
    }

    fn accessibility(&self) -> i32 {
        if self.own_cell == UNPLACED {
            return 0;
        }
        let centre = (half_to_even(self.height), half_to_even(self.width));
        (half_to_even(centre.0).cmp(&hops(self.place(self.own_cell), centre))) as i32
    }

    fn offensive(&self) -> i32 {
        match ((self.own & self.opp).is_empty(), self.active) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => -1,
        }
    }

    fn proximity(&self) -> i32 {
        if self.own_cell == UNPLACED || self.opp_cell == UNPLACED {
            return 0;
        }
        -(hops(self.place(self.own_cell), self.place(self.opp_cell)) as i32)
    }

    /// The row and the column of a cell.
    fn place(&self, cell: u8) -> (usize, usize) {
        (usize::from(cell) / self.width, usize::from(cell) % self.width)
    }
}

/// The published distance of two cells: half the larger of their distances in rows and columns, rounded down.
fn hops(a: (usize, usize), b: (usize, usize)) -> usize {
    a.0.abs_diff(b.0).max(a.1.abs_diff(b.1)) / 2
}

/// Half of `n`, a half rounded to the even neighbour: Python's `round(n / 2)`.
const fn half_to_even(n: usize) -> usize {
    let down = n / 2;
    down + (n & down & 1)
}

#[cfg(test)]
mod tests {
    use super::super::notation::Layout;
    use super::super::oracle::{published, random_games};
    use super::*;
    use plyd_core::game::Side;

    #[test]
    fn every_formula_is_the_published_one() {
        for (width, height) in [(3, 3), (5, 5), (7, 7), (9, 5), (11, 9), (10, 12), (15, 8), (3, 15)] {
            let game = Isolation::<u128>::new(width as usize, height as usize);
            let mut seen = Formula::ALL.map(|_| Vec::new());
            random_games(width, height, 20, |_, oracle| {
                if oracle.legal_moves(oracle.active).is_empty() {
                    return;
                }
                let pos = Layout::parse(&oracle.text()).unwrap().position(&game);
                for (formula, seen) in Formula::ALL.into_iter().zip(&mut seen) {
                    let evaluator = Published::new(&game, formula);
                    for (player, root) in [Side::First, Side::Second].into_iter().enumerate() {
                        let score = evaluator.evaluate(&game, &pos, &Context { root, last: None });
                        let mover = if player == oracle.active { 1.0 } else { -1.0 };
                        let expected = (1000.0 * mover * published(formula, oracle, player)) as i32;
                        let context = format!("{formula:?} for {player} of {}", oracle.text());
                        assert_eq!(score, Score::eval(expected), "{context}");
                        let (least, most) = Evaluator::<Isolation<u128>>::range(&evaluator);
                        assert!((least..=most).contains(&expected), "{context}: {expected}");
                        seen.push(expected);
                    }
                }
            });
            for (formula, mut seen) in Formula::ALL.into_iter().zip(seen) {
                seen.sort_unstable();
                seen.dedup();
                let varies = formula == Formula::WinLose || seen.len() > 1;
                assert!(varies, "{formula:?} is constant on {width}x{height}");
            }
        }
    }

    #[test]
    fn halves_round_to_even_numbers() {
        let halves: Vec<usize> = (3..=15).map(half_to_even).collect();
        assert_eq!(halves, [2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 6, 7, 8]);
    }
}
