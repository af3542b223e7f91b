//! Pairs of games from the same random opening. A game ends as soon as the solver
//! proves its winner, as it does for the default player, or by the rules.

use std::fmt;
use std::time::Duration;

use plyd::bits::Bits;
use plyd::game::{Game, Side, Turn};
use plyd::games::isolation::rules::Position;
use plyd::games::isolation::solver::{Solver, expected_nodes};
use plyd::search::Control;
use plyd::search::thread::SearchThread;
use plyd::zobrist::{SplitMix64, mix};

use crate::contender::{Contender, Rules};

/// Positions that look harder than this, in nodes, are not given to the solver.
const EXPECTED: u64 = 4_000;
/// The nodes after which the solver gives up.
const GIVEN_UP: u64 = 30_000;
/// Nodes of a contender's first move, before its speed is known.
const FIRST: u64 = 20_000;
/// Standard deviations on each side of a share that hold 95 %.
const DEVIATIONS: f64 = 1.96;

/// What a contender may spend on a move.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Budget {
    /// So many nodes.
    Nodes(u64),
    /// As many nodes as the contender searched in that CPU time so far.
    Cpu(Duration),
}

/// Games between two contenders, and their result so far.
pub(crate) struct Duel<'a> {
    game: &'a Rules,
    contenders: [Contender; 2],
    budget: Budget,
    solver: Solver<u128>,
}

impl<'a> Duel<'a> {
    /// A duel before its first game.
    pub(crate) fn new(game: &'a Rules, contenders: [Contender; 2], budget: Budget) -> Self {
        Self { game, contenders, budget, solver: Solver::new(game) }
    }

    /// Plays an opening of random plies twice, with the sides swapped.
    pub(crate) fn play_pair(&mut self, opening: u32, seed: u64) {
        let mut random = SplitMix64::new(mix(seed));
        let mut pos = self.game.start();
        let mut moves = Vec::new();
        for _ in 0..opening {
            moves.clear();
            self.game.moves(&pos, &mut moves);
            if !moves.is_empty() {
                self.game.play(&mut pos, moves[random.below(moves.len())]);
            }
        }
        // Who is to move with both tokens on one colour, or not to move with them on two, is favoured.
        let [first, second] = Side::ALL.map(|side| self.game.board().odd().has(pos.token(side)));
        let favoured = if first == second { pos.mover() } else { pos.mover().other() };
        for first in [0, 1] {
            self.contenders.iter_mut().for_each(Contender::begin);
            let winner = self.play(pos, first);
            self.contenders[winner.index() ^ first].won[usize::from(winner != favoured)] += 1;
        }
    }

    /// The winner of a game in which the contender `first` plays for [`Side::First`].
    fn play(&mut self, mut pos: Position<u128>, first: usize) -> Side {
        while self.game.turn(&pos) == Turn::Move {
            if let Some(won) = self.decide(&pos) {
                return if won { pos.mover() } else { pos.mover().other() };
            }
            let contender = &mut self.contenders[pos.mover().index() ^ first];
            let nodes = match self.budget {
                Budget::Nodes(nodes) => nodes,
                Budget::Cpu(_) if contender.nodes == 0 => FIRST,
                Budget::Cpu(time) => {
                    (contender.nodes as f64 * time.as_secs_f64() / contender.cpu.as_secs_f64()) as u64
                }
            };
            let mv = contender.choose(self.game, &pos, nodes);
            self.game.play(&mut pos, mv);
        }
        pos.mover().other()
    }

    /// Whether the mover wins, if the solver finds that soon.
    fn decide(&mut self, pos: &Position<u128>) -> Option<bool> {
        if expected_nodes(self.game, pos) > EXPECTED {
            return None;
        }
        let control = Control::default();
        control.set_limits(Some(GIVEN_UP), None);
        self.solver.wins(self.game, pos, &mut SearchThread::alone(&control))
    }
}

impl fmt::Display for Duel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, two] = [0, 1].map(|at| self.contenders[at].won.iter().sum::<u32>());
        let games = f64::from(one + two);
        let share = f64::from(one) / games;
        let error = DEVIATIONS * (share * (1.0 - share) / games).sqrt();
        let (share, error) = (100.0 * share, 100.0 * error);
        writeln!(f, "{one} - {two}: {share:.1} % +- {error:.1} % for {}", self.contenders[0].name)?;
        for contender in &self.contenders {
            let Contender { name, won, moves, nodes, depths, cpu, .. } = contender;
            let moves = f64::from(*moves);
            writeln!(
                f,
                "{name}: won {} favoured by parity and {} not; a move {:.0} nodes, depth {:.1}, {:.2} ms; a node {:.0} ns",
                won[0],
                won[1],
                *nodes as f64 / moves,
                *depths as f64 / moves,
                1e3 * cpu.as_secs_f64() / moves,
                1e9 * cpu.as_secs_f64() / *nodes as f64,
            )?;
        }
        Ok(())
    }
}
