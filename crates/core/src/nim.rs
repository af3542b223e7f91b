//! Nim, a whole game in one file: the example of this documentation, and a game for tests that need one.
//!
//! Players take one to three stones from a heap in turn, and whoever takes the last one wins. It has what
//! every game has: rules ([`Game`]), texts and pictures ([`Notation`]), an evaluation ([`Evaluator`]), and an
//! [`Entry`], which is all that others know of it.

use crate::engine::{self, Bench, Entry, NamedEvaluator, Playable};
use crate::game::{
    BookEntry, Context, Drawing, Evaluator, Game, Kind, Named, Notation, OpenError, Outcome, Piece, Setting,
    Side, Spec, Turn,
};
use crate::score::{Score, Value};
use crate::zobrist::mix;

/// The stones with which a game begins.
const STONES: u8 = 21;
/// The largest heap.
const MOST_STONES: u8 = 200;
/// How many stones may be taken at once, unless the rules say otherwise.
const MOST: u8 = 3;

/// Nim, as the registry would hold it.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// assert_eq!(Position::start(&nim::ENTRY).legal(), ["1", "2", "3"]);
/// ```
pub static ENTRY: Entry = Entry {
    name: "nim",
    about: "Take stones from a heap; whoever takes the last one wins.",
    rules: &[Spec {
        name: "most",
        kind: Kind::Int { min: 1, max: 9, default: Some(MOST as i64) },
        about: "How many stones may be taken at once.",
    }],
    endings: &[Named::new("taken", "The last stone is taken.")],
    unit: "game",
    position_grammar: "The stones that are left, then the mover: 1 or 2.",
    move_grammar: "How many stones are taken.",
    perft: "| 5 1 | 3 8 10 5 1",
    bench: &[Bench { rules: "", position: "21 1", depth: 21, player: ("default", "") }],
    ..Entry::of::<Nim>(|rules, start, _effort| {
        let game = Nim { most: rules.int("most").map_or(MOST, |most| most as u8) };
        let start = start.map_or(Ok(Heap::of(STONES)), read)?;
        Ok(engine::open(game, start))
    })
};

/// The rules.
///
/// ```
/// use plyd_core::game::Game;
/// use plyd_core::nim::{Heap, Nim};
///
/// let (nim, mut heap, mut moves) = (Nim { most: 3 }, Heap::of(5), Vec::new());
/// nim.play(&mut heap, 3);
/// nim.moves(&heap, &mut moves);
/// assert_eq!((heap.stones, moves), (2, vec![1, 2]));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nim {
    /// How many stones may be taken at once.
    pub most: u8,
}

/// A heap, and who takes from it next: [`Nim`] has an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heap {
    /// The stones that are left.
    pub stones: u8,
    /// Who takes next.
    pub side: Side,
}

impl Heap {
    /// A heap of `stones` stones, where a game begins.
    #[must_use]
    pub const fn of(stones: u8) -> Self {
        Self { stones, side: Side::First }
    }
}

impl Game for Nim {
    type Position = Heap;
    /// How many stones are taken.
    type Move = u8;
    type Undo = Heap;

    fn side(&self, heap: &Heap) -> Side {
        heap.side
    }

    fn turn(&self, heap: &Heap) -> Turn {
        match heap.stones {
            0 => Turn::Over(Outcome { winner: Some(heap.side.other()), by: "taken", scores: None }),
            _ => Turn::Move,
        }
    }

    fn moves(&self, heap: &Heap, out: &mut Vec<u8>) {
        out.extend(1..=self.most.min(heap.stones));
    }

    fn is_legal(&self, heap: &Heap, taken: u8) -> bool {
        (1..=self.most.min(heap.stones)).contains(&taken)
    }

    fn play(&self, heap: &mut Heap, taken: u8) -> Heap {
        std::mem::replace(heap, Heap { stones: heap.stones - taken, side: heap.side.other() })
    }

    fn undo(&self, heap: &mut Heap, _taken: u8, before: Heap) {
        *heap = before;
    }

    fn hash(&self, heap: &Heap) -> u64 {
        mix(2 * u64::from(heap.stones) + heap.side.index() as u64)
    }

    fn index(&self, taken: u8) -> usize {
        usize::from(taken)
    }

    fn index_len(&self) -> usize {
        usize::from(self.most) + 1
    }
}

impl Notation for Nim {
    fn position_text(&self, heap: &Heap) -> String {
        format!("{} {}", heap.stones, heap.side.index() + 1)
    }

    fn move_text(&self, _heap: &Heap, taken: u8) -> String {
        taken.to_string()
    }

    fn draw(&self, heap: &Heap) -> Drawing {
        let stone = |at: usize| Piece { cells: vec![(0, at)], piece: "stone", label: None, owner: None };
        let stones = usize::from(heap.stones);
        Drawing {
            rows: 1,
            cols: stones.max(1),
            pieces: (0..stones).map(stone).collect(),
            ..Drawing::default()
        }
    }

    /// A heap is lost if its stones are a multiple of one more than may be taken; the distance is at most its
    /// stones.
    fn book(&self, heap: &Heap) -> Option<BookEntry<u8>> {
        let (stones, over) = (u32::from(heap.stones), heap.stones % (self.most + 1));
        let value = if over == 0 {
            Value { score: Score::loss_in(stones), at_least: false, at_most: true }
        } else {
            Value { score: Score::win_in(stones), at_least: true, at_most: false }
        };
        Some(BookEntry { value, mv: (over > 0).then_some(over) })
    }

    fn rules(&self) -> Vec<(&'static str, Setting)> {
        vec![("most", i64::from(self.most).into())]
    }
}

impl Playable for Nim {
    const EVALUATORS: &'static [NamedEvaluator<Self>] =
        &[NamedEvaluator::new("rest", "Whether the heap can be made a whole number of rounds.", &|_, _| {
            Rest
        })];

    fn entry() -> &'static Entry {
        &ENTRY
    }
}

/// Guesses that the mover wins unless the stones are a multiple of one more than may be taken.
///
/// ```
/// use plyd_core::game::{Context, Evaluator, Side};
/// use plyd_core::nim::{Heap, Nim, Rest};
///
/// let context = Context { root: Side::First, last: None };
/// let evaluate = |stones| Rest.evaluate(&Nim { most: 3 }, &Heap::of(stones), &context);
/// assert!(evaluate(4) < evaluate(5));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rest;

impl Evaluator<Nim> for Rest {
    fn evaluate(&self, nim: &Nim, heap: &Heap, _ctx: &Context<u8>) -> Score {
        let is_lost = heap.stones.is_multiple_of(nim.most + 1);
        Score::eval(if is_lost { -1000 } else { 1000 })
    }

    fn range(&self) -> (i32, i32) {
        (-1000, 1000)
    }
}

/// Reads a heap.
fn read(text: &str) -> Result<Heap, OpenError> {
    let malformed = || OpenError::Malformed("expected the stones, then the mover: 1 or 2".to_owned());
    let (stones, mover) = text.split_once(' ').ok_or_else(malformed)?;
    let side = match mover {
        "1" => Side::First,
        "2" => Side::Second,
        _ => return Err(malformed()),
    };
    let is_plain = stones == "0" || (!stones.starts_with('0') && stones.bytes().all(|b| b.is_ascii_digit()));
    match stones.parse() {
        Ok(stones @ ..=MOST_STONES) if is_plain => Ok(Heap { stones, side }),
        _ => Err(OpenError::Malformed(format!("a heap has 0 to {MOST_STONES} stones"))),
    }
}
