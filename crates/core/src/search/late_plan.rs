//! A search whose clock begins in the middle of it, as at the end of a ponder: it ends in the planned time,
//! however long its iterations are by then.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::chase::Noise;
use crate::game::{Context, Evaluator, Game, Root};
use crate::options::Options;
use crate::rows::{Rows, Stones};
use crate::score::{Score, Value};
use crate::search::erased::Erased;
use crate::search::iterate::Iterate;
use crate::search::prover_player::ProverPlayer;
use crate::search::proving::{Prover, Proving};
use crate::search::thread::SearchThread;
use crate::search::tree::Tree;
use crate::search::{Control, End, SearchParams, Searcher, clock};

/// The evaluation at which the plan is made, in the middle of an iteration.
const MADE_AT: u64 = 60_000;
/// A search sees it at its next look at the clock, 1,024 nodes later at most; the tree ends its visit first.
const SEEN_BY: u64 = MADE_AT + 1200;
/// The most nodes to search.
const LIMIT: u64 = 10 * MADE_AT;
const HOUR_NS: u64 = 3_600_000_000_000;

/// An evaluation that makes a plan at some time.
#[derive(Clone)]
struct Alarm {
    control: Arc<Control>,
    evaluated: Arc<AtomicU64>,
    /// How much later than at once the plan ends, and how much later time is free.
    later_ns: u64,
    free_ns: u64,
}

impl Alarm {
    fn new(control: &Arc<Control>, later_ns: u64, free_ns: u64) -> Self {
        Self { control: Arc::clone(control), evaluated: Arc::default(), later_ns, free_ns }
    }

    fn count(&self) {
        if self.evaluated.fetch_add(1, Relaxed) + 1 == MADE_AT {
            let now = clock::now_ns();
            self.control.set_free(now + self.free_ns);
            self.control.set_deadlines(now + self.later_ns, now + 10 * HOUR_NS);
        }
    }
}

impl Evaluator<Rows> for Alarm {
    fn evaluate(&self, rows: &Rows, pos: &Stones, context: &Context<u8>) -> Score {
        self.count();
        Noise.evaluate(rows, pos, context)
    }

    fn range(&self) -> (i32, i32) {
        Evaluator::<Rows>::range(&Noise)
    }
}

/// Visits positions and decides nothing.
struct Busy(Alarm);

impl Prover<Rows> for Busy {
    fn at_sight(&self, _: &Rows, _: &Stones) -> Option<(Value, Option<u8>)> {
        None
    }

    fn decide(&mut self, _: &Rows, _: &Stones, thread: &mut SearchThread<'_>) -> Option<Value> {
        while !thread.tick() {
            self.0.count();
        }
        None
    }

    fn expected_nodes(&self, _: &Rows, _: &Stones) -> u64 {
        // Beside a search it is never worth starting.
        u64::MAX
    }

    fn order(&self, _: &Rows, _: &Stones, cell: u8) -> i32 {
        cell.into()
    }

    fn clear(&mut self) {}
}

const PLAYERS: [&str; 4] = ["iterate", "tree", "proving", "prover"];

/// How a search by one thread ends, and how many positions it evaluates.
fn ended(player: &str, control: &Arc<Control>, later_ns: u64, free_ns: u64) -> (End, u64) {
    let rows = Rows::new(5, 5, 5);
    let options = Options { hash_mb: 16, threads: 1, ..Options::default() };
    let alarm = Alarm::new(control, later_ns, free_ns);
    let evaluated = Arc::clone(&alarm.evaluated);
    let mut player: Box<dyn Searcher<Rows>> = match player {
        "iterate" => Box::new(Iterate::new(&rows, alarm, &options)),
        "tree" => Box::new(Tree::new(Erased::new(alarm), &options)),
        "proving" => Box::new(Proving::new(&rows, alarm.clone(), Busy(alarm), &options)),
        _ => Box::new(ProverPlayer::new(Busy(alarm), &options)),
    };
    control.set_limits(Some(LIMIT), None);
    let mut params = SearchParams { moves: Vec::new(), multipv: 1 };
    rows.moves(&rows.start(), &mut params.moves);
    let (_, end) = player.search(&rows, &Root::new(rows.start()), &params, control, &mut |_| ());
    (end, evaluated.load(Relaxed))
}

#[test]
fn a_plan_that_is_made_in_the_middle_of_a_search_is_kept() {
    for player in PLAYERS {
        let (end, evaluated) = ended(player, &Arc::default(), 0, 0);
        assert!((MADE_AT..SEEN_BY).contains(&evaluated), "{player}: {evaluated}");
        assert_eq!(end, End::Clock, "{player}");
    }
}

#[test]
fn what_such_a_plan_leaves_is_used() {
    for player in PLAYERS {
        for (later_ns, free_ns) in [(HOUR_NS, 0), (0, HOUR_NS)] {
            let control = Arc::default();
            let (end, _) = ended(player, &control, later_ns, free_ns);
            assert_eq!((end, control.stats().nodes), (End::Limit, LIMIT), "{player}");
        }
    }
}

#[test]
fn a_search_that_begins_with_its_plan_ends_the_iteration_that_it_began() {
    let control = Arc::new(Control::default());
    let now = clock::now_ns();
    control.set_deadlines(now + HOUR_NS, now + 10 * HOUR_NS);
    let (_, evaluated) = ended("iterate", &control, 0, 0);
    assert!(evaluated > SEEN_BY, "{evaluated}");
}
