//! Published evaluations of an AI-Isolation project (alikureishy/AI-isolation, `scorefunctions.py`), as their
//! author wrote them: seen from the root player, whoever moves, and so not symmetric.
//!
//! The project scores won and lost positions as infinite; a search of this crate never evaluates those. A
//! token that is not placed yet may go to any open cell, and is neither near nor far.

use super::board::UNPLACED;
use super::eval::UNIT;
use super::rules::{Isolation, Position, Target};
use crate::bits::Bits;
use plyd_core::game::{Context, Evaluator, Named};
use plyd_core::score::Score;

/// The published evaluations, in the order in which the project presents them.
pub const NAMES: [Named; 10] = [
    Named::new("winlose", "Published: 0 until the game is over."),
    Named::new("open-move", "Published: the root player's moves."),
    Named::new("improved", "Published: the root player's moves less the opponent's."),
    Named::new(
        "net-advantage",
        "Published: as `improved`, but on the opponent's turn moves that both have do not count for the root.",
    ),
    Named::new("net-mobility", "Published: 2, 1, -1 or -2 for more or fewer moves, by whose turn it is."),
    Named::new("accessibility", "Published: 1 near the centre, -1 far from it."),
    Named::new("offensive", "Published: 1 if both could go to one cell on the root's turn, else -1."),
    Named::new("proximity", "Published: minus the distance of the tokens, in hops of two cells."),
    Named::new("offensive+near+mobility", "Published: `offensive` plus `proximity`, whatever its name says."),
    Named::new("netadvantage+near", "Published: `net-advantage` plus `offensive`, whatever its name says."),
];

/// A formula of the published evaluations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Formula {
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

/// The formulas in the order of [`NAMES`].
const FORMULAS: [Formula; NAMES.len()] = [
    Formula::WinLose,
    Formula::OpenMove,
    Formula::Improved,
    Formula::NetAdvantage,
    Formula::NetMobility,
    Formula::Accessibility,
    Formula::Offensive,
    Formula::Proximity,
    Formula::OffensiveNear,
    Formula::NetAdvantageNear,
];

/// One of the published evaluations, for boards of one size.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    formula: Formula,
    width: usize,
    height: usize,
}

impl Published {
    /// The evaluation of that name, for a game.
    #[must_use]
    pub fn new<B: Bits>(game: &Isolation<B>, name: &str) -> Option<Self> {
        let found = NAMES.iter().position(|known| known.name == name)?;
        Some(Self { formula: FORMULAS[found], width: game.board().width(), height: game.board().height() })
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
            let mut seen: Vec<Vec<i32>> = vec![Vec::new(); NAMES.len()];
            random_games(width, height, 20, |_, oracle| {
                if oracle.legal_moves(oracle.active).is_empty() {
                    return;
                }
                let pos = Layout::parse(&oracle.text()).unwrap().position(&game);
                for (named, seen) in NAMES.iter().zip(&mut seen) {
                    let evaluator = Published::new(&game, named.name).unwrap();
                    for (player, root) in [Side::First, Side::Second].into_iter().enumerate() {
                        let score = evaluator.evaluate(&game, &pos, &Context { root, last: None });
                        let mover = if player == oracle.active { 1.0 } else { -1.0 };
                        let expected = (1000.0 * mover * published(named.name, oracle, player)) as i32;
                        assert_eq!(
                            score,
                            Score::eval(expected),
                            "{} for {player} of {}",
                            named.name,
                            oracle.text()
                        );
                        let (least, most) = Evaluator::<Isolation<u128>>::range(&evaluator);
                        assert!((least..=most).contains(&expected), "{}: {expected}", named.name);
                        seen.push(expected);
                    }
                }
            });
            for (named, seen) in NAMES.iter().zip(&mut seen) {
                seen.sort_unstable();
                seen.dedup();
                assert!(
                    named.name == "winlose" || seen.len() > 1,
                    "{} is constant on {width}x{height}",
                    named.name
                );
            }
        }
    }

    #[test]
    fn halves_round_to_even_numbers() {
        let halves: Vec<usize> = (3..=15).map(half_to_even).collect();
        assert_eq!(halves, [2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 6, 7, 8]);
    }
}
