//! Nim with a fault, which the checks have to find.

use std::sync::Arc;

use super::{announcements, check, evaluations, rules, wins};
use crate::effort::Effort;
use crate::engine::{self, AnyRoot, Entry, NamedEvaluator, NamedPlayer, Playable};
use crate::game::{
    Context, Drawing, Evaluator, Game, Kind, Notation, OpenError, Outcome, Root, Rules, Setting, Side, Spec,
    Turn,
};
use crate::nim::{self, Heap, Nim, Rest};
use crate::score::Score;
use crate::search::players;
use crate::zobrist::mix;

const NIM: Nim = Nim { most: 3 };

/// What is wrong with a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Defect {
    Nothing,
    /// Every number of stones is legal.
    Legality,
    /// The side to move is left out of the hash.
    Hash,
    /// Evaluations are twice as large as promised.
    Range,
    /// The game goes on when no stone is left.
    Stuck,
    /// No stone is ever taken.
    Endless,
    /// None: whoever takes the last stone loses, so that nobody wins by a move.
    Misere,
    /// One player plays by the first evaluation, whichever it is asked for.
    Deaf,
    /// None: the same player refuses all others.
    Choosy,
}

const FAULTS: [(Defect, &str); 5] = [
    (Defect::Nothing, ""),
    (Defect::Legality, "a move of another position, is legal but not listed"),
    (Defect::Hash, "but after [] from both another side is to move"),
    (Defect::Range, "rest evaluates it as 2000, beyond its range of -1000 to 1000"),
    (Defect::Stuck, "nothing can be played"),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Faulty(Defect);

impl Game for Faulty {
    type Position = Heap;
    type Move = u8;
    type Undo = Heap;

    fn side(&self, heap: &Heap) -> Side {
        NIM.side(heap)
    }

    fn turn(&self, heap: &Heap) -> Turn {
        match (self.0, NIM.turn(heap)) {
            (Defect::Stuck, _) => Turn::Move,
            (Defect::Misere, Turn::Over(end)) => Turn::Over(Outcome { winner: Some(heap.side), ..end }),
            (_, turn) => turn,
        }
    }

    fn moves(&self, heap: &Heap, out: &mut Vec<u8>) {
        if self.0 == Defect::Endless { out.push(0) } else { NIM.moves(heap, out) }
    }

    fn is_legal(&self, heap: &Heap, taken: u8) -> bool {
        match self.0 {
            Defect::Legality => true,
            Defect::Endless => taken == 0,
            _ => NIM.is_legal(heap, taken),
        }
    }

    fn play(&self, heap: &mut Heap, taken: u8) -> Heap {
        NIM.play(heap, taken)
    }

    fn undo(&self, heap: &mut Heap, taken: u8, before: Heap) {
        NIM.undo(heap, taken, before);
    }

    fn hash(&self, heap: &Heap) -> u64 {
        if self.0 == Defect::Hash { mix(heap.stones.into()) } else { NIM.hash(heap) }
    }

    fn index(&self, taken: u8) -> usize {
        NIM.index(taken)
    }

    fn index_len(&self) -> usize {
        NIM.index_len()
    }
}

impl Notation for Faulty {
    fn position_text(&self, heap: &Heap) -> String {
        NIM.position_text(heap)
    }

    fn move_text(&self, heap: &Heap, taken: u8) -> String {
        NIM.move_text(heap, taken)
    }

    fn draw(&self, heap: &Heap) -> Drawing {
        NIM.draw(heap)
    }

    fn rules(&self) -> Vec<(&'static str, Setting)> {
        vec![("fault", (self.0 as i64).into())]
    }
}

impl Playable for Faulty {
    const EVALUATORS: &'static [NamedEvaluator<Self>] = &[
        NamedEvaluator::new("rest", "", &|game: &Self, _| *game),
        NamedEvaluator::new("flat", "", &|_, _| Flat),
    ];

    const PLAYERS: &'static [NamedPlayer<Self>] =
        &[NamedPlayer::new("greedy", "", &|game, evaluator, options| match game.0 {
            Defect::Deaf => players::build(game, *game, options),
            Defect::Choosy => {
                options.expect_eval(&["rest"])?;
                players::build(game, evaluator, options)
            }
            _ => players::build(game, evaluator, options),
        })];

    fn entry() -> &'static Entry {
        &ENTRY
    }
}

/// Values nothing.
#[derive(Clone, Copy)]
struct Flat;

impl Evaluator<Faulty> for Flat {
    fn evaluate(&self, _game: &Faulty, _heap: &Heap, _ctx: &Context<u8>) -> Score {
        Score::DRAW
    }

    fn range(&self) -> (i32, i32) {
        (0, 0)
    }
}

impl Evaluator<Self> for Faulty {
    fn evaluate(&self, _game: &Self, heap: &Heap, _ctx: &Context<u8>) -> Score {
        let score = Rest.evaluate_alone(&NIM, heap).raw();
        Score::eval(if self.0 == Defect::Range { 2 * score } else { score })
    }

    fn range(&self) -> (i32, i32) {
        Rest.range()
    }
}

/// Reads all positions of its games.
static ENTRY: Entry = Entry {
    rules: &[Spec { name: "fault", kind: Kind::Int { min: 0, max: 5, default: Some(0) }, about: "" }],
    endings: nim::ENTRY.endings,
    ..Entry::of::<Faulty>(|rules, start, effort| {
        let read = (nim::ENTRY.open)(&Rules::default(), start, effort)?.text();
        let (stones, side) = read.split_once(' ').expect("the stones and the side");
        let side = if side == "1" { Side::First } else { Side::Second };
        let heap = Heap { stones: stones.parse().expect("a number"), side };
        let fault = match rules.int("fault") {
            None | Some(0) => Defect::Nothing,
            Some(1) => Defect::Legality,
            Some(2) => Defect::Hash,
            Some(3) => Defect::Range,
            Some(4) => Defect::Stuck,
            Some(_) => Defect::Endless,
        };
        Ok(engine::open(Faulty(fault), heap))
    })
};

#[test]
fn each_fault_is_found() {
    for (fault, words) in FAULTS {
        let found = check(&Faulty(fault), &Root::new(Heap::of(21)), 1, 600);
        match (fault, found) {
            (Defect::Nothing, found) => assert!(found.is_ok_and(|finished| finished > 10)),
            (_, Ok(_)) => panic!("{fault:?} is not found"),
            (_, Err(message)) => assert!(message.contains(words), "{fault:?}: {message}"),
        }
    }
}

#[test]
fn games_without_an_end_and_rules_that_break_are_found() {
    static ENDLESS: Entry = Entry {
        name: "endless",
        ..Entry::of::<Faulty>(|_, _, _| Ok(engine::open(Faulty(Defect::Endless), Heap::of(21))))
    };
    fn strict(rules: &Rules, error: OpenError) -> Result<Arc<dyn AnyRoot>, OpenError> {
        let is_default = rules.iter().next().is_none();
        if is_default { (nim::ENTRY.open)(rules, None, &Effort::free()) } else { Err(error) }
    }
    const RULE: &[Spec] = &[Spec { name: "most", kind: Kind::Bool { default: None }, about: "" }];
    static BROKEN: Entry = Entry {
        name: "broken",
        rules: RULE,
        open: |rules, _, _| strict(rules, OpenError::Malformed("a".to_owned())),
        ..Entry::DEFAULT
    };
    static IMPOSSIBLE: Entry = Entry {
        open: |rules, _, _| strict(rules, OpenError::Rule { name: "most", message: "b".to_owned() }),
        rules: RULE,
        ..Entry::DEFAULT
    };
    let message = rules(&ENDLESS).unwrap_err();
    assert!(message.contains("endless: none of the random games came to an end"), "{message}");
    let message = rules(&BROKEN).unwrap_err();
    assert!(message.contains("broken most=false does not open: "), "{message}");
    assert_eq!(rules(&IMPOSSIBLE), Ok(()), "a rule may be impossible beside the defaults of the others");
}

#[test]
fn a_game_in_which_nobody_wins_by_a_move_passes() {
    static MISERE: Entry =
        Entry::of::<Faulty>(|_, _, _| Ok(engine::open(Faulty(Defect::Misere), Heap::of(21))));
    assert_eq!(wins(&MISERE), Ok(()));
    assert_eq!(announcements(&MISERE), Ok(()));
}

#[test]
fn a_player_that_takes_an_evaluation_and_plays_by_another_is_found() {
    const DEAF: Entry = Entry {
        name: "deaf",
        ..Entry::of::<Faulty>(|_, _, _| Ok(engine::open(Faulty(Defect::Deaf), Heap::of(21))))
    };
    const CHOOSY: Entry =
        Entry { open: |_, _, _| Ok(engine::open(Faulty(Defect::Choosy), Heap::of(21))), ..DEAF };
    let message = evaluations(&DEAF).unwrap_err();
    assert!(message.starts_with("deaf, player greedy: it plays by `rest` and by `flat` alike"), "{message}");
    assert_eq!(evaluations(&CHOOSY), Ok(()));
}
