//! The search of the crate `minimax`, over plyd's rules of knight Isolation.

use std::sync::LazyLock;

use minimax::{Evaluation, IterativeOptions, IterativeSearch, Replacement, Strategy, Winner};
use plyd::bits::{Bits as _, Colours, Part as _};
use plyd::game::Game as _;
use plyd::games::isolation::rules::{Position, Target};

use crate::positions::{HEIGHT, Rules, WIDTH};
use crate::searched::{Searched, timed};

/// `minimax` gives its games no place for a board, so there is one for all.
static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::new(WIDTH, HEIGHT));

/// Which of the options of `minimax` are on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Settings {
    replacement: Replacement,
    null_window: bool,
    countermoves: bool,
    history: bool,
    aspiration: Option<Evaluation>,
    mtdf: bool,
    double_step: bool,
    /// Whether the game lists its moves by plyd's static order, which `minimax` has no hook for.
    sorted: bool,
}

impl Settings {
    /// The fastest of [`Settings::all`] (`--options` tries them); which it is differs from position to
    /// position.
    pub(crate) const FASTEST: [Self; 4] = [
        Self { replacement: Replacement::Always, ..Self::NARROW },
        Self::NARROW,
        Self { replacement: Replacement::TwoTier, ..Self::NARROW },
        Self { replacement: Replacement::TwoTier, aspiration: None, mtdf: true, ..Self::NARROW },
    ];

    const NARROW: Self = Self {
        replacement: Replacement::DepthPreferred,
        null_window: true,
        countermoves: true,
        history: true,
        aspiration: Some(2),
        mtdf: false,
        double_step: true,
        sorted: false,
    };

    /// All settings that keep the value exact: no null move and no extension.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for replacement in [Replacement::TwoTier, Replacement::DepthPreferred, Replacement::Always] {
            for bits in 0..32 {
                let on = |bit: u32| bits >> bit & 1 != 0;
                for (aspiration, mtdf) in
                    [(None, false), (Some(1), false), (Some(2), false), (Some(4), false), (None, true)]
                {
                    all.push(Self {
                        replacement,
                        null_window: on(0),
                        countermoves: on(1),
                        history: on(2),
                        aspiration,
                        mtdf,
                        double_step: on(3),
                        sorted: on(4),
                    });
                }
            }
        }
        all
    }

    fn options(self, table_bytes: usize) -> IterativeOptions {
        let mut options = IterativeOptions::new()
            .with_table_byte_size(table_bytes)
            .with_replacement_strategy(self.replacement)
            .with_null_window_search(self.null_window);
        if self.countermoves {
            options = options.with_countermoves();
        }
        if self.history {
            options = options.with_countermove_history();
        }
        if let Some(window) = self.aspiration {
            options = options.with_aspiration_window(window);
        }
        if self.mtdf {
            options = options.with_mtdf();
        }
        if self.double_step {
            options = options.with_double_step_increment();
        }
        options
    }
}

/// Searches a position with an empty table.
pub(crate) fn search(
    pos: &Position<Colours<u64>>,
    depth: u32,
    table_mb: usize,
    settings: Settings,
) -> Searched {
    if settings.sorted {
        run(Mobility::<true>, pos, depth, settings.options(table_mb << 20))
    } else {
        run(Mobility::<false>, pos, depth, settings.options(table_mb << 20))
    }
}

fn run<const SORTED: bool>(
    evaluator: Mobility<SORTED>,
    pos: &Position<Colours<u64>>,
    depth: u32,
    options: IterativeOptions,
) -> Searched {
    let mut search = IterativeSearch::new(evaluator, options);
    search.set_max_depth(depth as u8);
    let (cpu, wall, _) = timed(|| search.choose_move(pos));
    let nodes = nodes(&search.stats(&mut pos.clone()));
    Searched { cpu, wall, nodes, value: search.root_value().into() }
}

/// The count of nodes, which `minimax` reports only in a sentence: "Explored N nodes to depth".
fn nodes(stats: &str) -> u64 {
    let rest = stats.split_once("Explored ").map_or("", |(_, rest)| rest);
    rest.split(' ').next().and_then(|count| count.parse().ok()).expect("minimax 0.6 reports its nodes so")
}

/// The game as `minimax` sees it.
struct Knights<const SORTED: bool>;

impl<const SORTED: bool> minimax::Game for Knights<SORTED> {
    type S = Position<Colours<u64>>;
    type M = Target;

    #[inline]
    fn generate_moves(pos: &Position<Colours<u64>>, moves: &mut Vec<Target>) -> Option<Winner> {
        RULES.moves(pos, moves);
        if SORTED {
            moves.sort_by_key(|&mv| -RULES.order(pos, mv));
        }
        // Without moves `minimax` takes the game for lost; if this said so, it would leak its list of moves.
        None
    }

    #[inline]
    fn apply(pos: &mut Position<Colours<u64>>, mv: Target) -> Option<Position<Colours<u64>>> {
        let mut next = *pos;
        RULES.play(&mut next, mv);
        Some(next)
    }

    #[inline]
    fn get_winner(pos: &Position<Colours<u64>>) -> Option<Winner> {
        RULES.targets(pos, pos.mover()).is_empty().then_some(Winner::PlayerJustMoved)
    }

    #[inline]
    fn zobrist_hash(pos: &Position<Colours<u64>>) -> u64 {
        RULES.hash(pos)
    }

    /// Never played: `minimax` makes its table of countermoves only for games that have one.
    fn null_move(_: &Position<Colours<u64>>) -> Option<Target> {
        Some(Target(0))
    }

    #[inline]
    fn table_index(mv: Target) -> u16 {
        RULES.index(mv) as u16
    }

    fn max_table_index() -> u16 {
        RULES.index_len() as u16 - 1
    }
}

/// The mover's moves less the opponent's.
struct Mobility<const SORTED: bool>;

impl<const SORTED: bool> minimax::Evaluator for Mobility<SORTED> {
    type G = Knights<SORTED>;

    #[inline]
    fn evaluate(&self, pos: &Position<Colours<u64>>) -> Evaluation {
        let moves = |side| RULES.targets(pos, side).len() as Evaluation;
        moves(pos.mover()) - moves(pos.mover().other())
    }
}
