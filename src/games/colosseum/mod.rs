//! Colosseum Survival: walk, put a wall, and be in the larger zone once the players are apart.
//!
//! In reading order: [`board`] (walls as bit boards), [`rules`], [`setup`] (size and start positions), [`notation`] and
//! [`eval`] (evaluations). This file opens the game for the registry: it chooses the machine words that hold the board,
//! and nothing of it knows the protocol.

pub mod board;
pub mod eval;
pub mod notation;
#[cfg(test)]
mod oracle;
pub mod rules;
pub mod setup;

use std::sync::Arc;

use self::eval::Race;
use self::notation::Layout;
use self::rules::{APART, Colosseum, Position};
use self::setup::Setup;
use crate::engine::{self, AnyRoot, Bench, Entry, OptionError, Playable};
use crate::game::{Context, Evaluator, Game, Named, OpenError, Rules};
use crate::games::bits::{Bits, U192};
use crate::options::Options;
use crate::score::Score;
use crate::search::Searcher;
use crate::search::players::{self as common, COMMON};

/// Colosseum Survival in the registry.
pub static ENTRY: Entry = Entry {
    name: "colosseum",
    about: "Colosseum Survival: walk a few steps and put a wall; once the players are apart, the larger zone wins.",
    rules: setup::RULES,
    options: &[],
    evaluators: &[Named {
        name: "race",
        about: "The cells that the mover reaches first less those that the opponent reaches first.",
    }],
    players: &[COMMON[0], COMMON[1], COMMON[2], COMMON[3], COMMON[4], COMMON[5]],
    endings: &[Named {
        name: APART,
        about: "The players are apart; each scores the cells that it can reach.",
    }],
    unit: "cell",
    position_grammar: notation::POSITION_GRAMMAR,
    move_grammar: notation::MOVE_GRAMMAR,
    perft: include_str!("perft.txt"),
    bench: BENCH,
    solve: None,
    open,
};

/// Starts, and positions from random games.
const BENCH: &[Bench] = &[
    bench("6 5,2 3,1 10R,11R,21R,30R,41R,42R,51R,11D,20D,21D,34D,42D,43D 1", 6),
    bench("6 0,0 5,5 12R,42R,21D,24D 1", 5),
    bench("8 3,6 2,0 12R,20R,35R,55R,56R,66R,00D,01D,11D,20D,21D,27D,46D 1", 4),
    bench("12 3,4 8,7 34R,86R,25D,86D,5aD,61D,03R,b7R,47R,73R 1", 3),
];

const fn bench(position: &'static str, depth: u32) -> Bench {
    Bench { position, depth, player: ("default", "race") }
}

fn open(rules: &Rules, start: Option<&str>) -> Result<Arc<dyn AnyRoot>, OpenError> {
    let layout = start.map(Layout::parse).transpose()?;
    let setup = Setup::choose(rules, layout.as_ref().map(|layout| layout.size))?;
    let cells = setup.size * setup.size;
    if cells <= u64::CAPACITY {
        open_sized::<u64>(setup, layout.as_ref())
    } else if cells <= u128::CAPACITY {
        open_sized::<u128>(setup, layout.as_ref())
    } else {
        open_sized::<U192>(setup, layout.as_ref())
    }
}

fn open_sized<B: Bits>(setup: Setup, layout: Option<&Layout>) -> Result<Arc<dyn AnyRoot>, OpenError> {
    let game = Colosseum::<B>::new(setup);
    let start = match layout {
        Some(layout) => layout.position(&game),
        None => setup::start(&game)?,
    };
    Ok(engine::open(game, start))
}

impl<B: Bits> Playable for Colosseum<B> {
    fn entry() -> &'static Entry {
        &ENTRY
    }

    fn searcher(&self, options: &Options) -> Result<Box<dyn Searcher<Self>>, OptionError> {
        Ok(common::build(self, Race::new(self), options).expect("the entry lists the common players"))
    }

    fn evaluate(&self, pos: &Position<B>, _evaluator: &str) -> Score {
        let context = Context { root: self.side(pos), last: None };
        Race::new(self).evaluate(self, pos, &context)
    }
}
