//! Colosseum Survival: walk, put a wall, and be in the larger zone once the players are apart.
//!
//! ```
//! use plyd_core::engine::settings::Settings;
//! use plyd_core::game::Setting;
//! use plyd_core::play::Position;
//!
//! // Walls and players of the start are drawn by the seed.
//! let drawn = Settings::from_iter([("size", Setting::Int(6)), ("seed", "7".into())]);
//! let pos = Position::open(&plyd_colosseum::ENTRY, &drawn, None)?;
//! assert_eq!(pos.board().rows, 6);
//! let after = pos.play(&pos.legal()[0])?;
//! assert!(after.board().walls.len() > pos.board().walls.len());
//! # Ok::<(), plyd_core::engine::Fault>(())
//! ```
//!
//! In reading order: `board` (walls as bit boards), `ahead` (who walks where sooner), `position`, [`rules`],
//! [`setup`] (size and walls) and `start` (the position that is drawn from them), [`notation`] and `draft`
//! (texts), [`eval`] and `published_eval` (evaluations), `players`. This file opens the game for the
//! registry: it chooses the machine words that hold the board, and nothing of it knows the protocol.

mod ahead;
mod board;
mod draft;
pub mod eval;
mod lesson;
pub mod notation;
#[cfg(test)]
mod oracle;
mod players;
mod position;
mod published_eval;
pub mod rules;
pub mod setup;
mod start;

use std::sync::Arc;

use self::board::MAX_SIZE;
pub use self::board::Side;
pub use self::position::{Position, Walk};

use self::eval::{Ground, Race, WEIGHTS};
use self::notation::Layout;
use self::players::PublishedPlayer;
use self::published_eval::{Part, Published};
use self::rules::{APART, Colosseum};
use self::setup::Setup;
use plyd_core::bits::{Bits, Colours};
use plyd_core::effort::Effort;
use plyd_core::engine::{self, AnyRoot, Bench, Entry, NamedEvaluator, NamedPlayer, Playable};
use plyd_core::game::{Named, OpenError, Rules};
use plyd_core::search::erased::Erased;

/// Colosseum Survival in the registry.
///
/// ```
/// use plyd_core::play::Position;
///
/// let pos = Position::start(&plyd_colosseum::ENTRY);
/// let pos = pos.play(&pos.legal()[0])?;
/// assert_eq!((plyd_colosseum::ENTRY.name, pos.played().len()), ("colosseum", 1));
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
pub static ENTRY: Entry = Entry {
    name: "colosseum",
    about: "Colosseum Survival: walk a few steps and put a wall; once the players are apart, the larger zone wins.",
    rules: setup::RULES,
    endings: &[Named::new(APART, "The players are apart; each scores the cells that it can reach.")],
    levels: include_str!("levels.txt"),
    unit: "cell",
    position_grammar: notation::POSITION_GRAMMAR,
    move_grammar: notation::MOVE_GRAMMAR,
    perft: include_str!("perft.txt"),
    look: Some(include_str!("look.js")),
    lesson: lesson::STEPS,
    reports: Some(include_str!("reports.txt")),
    bench: BENCH,
    edits: Some(draft::edits),
    ..Entry::of::<Colosseum<u64>>(open)
};

/// The name of the default evaluation.
const GROUND: &str = "ground";
/// The name of the published player, and of its evaluation.
const PUBLISHED: &str = "published";

/// Starts, and positions from random games.
const BENCH: &[Bench] = &[
    bench("6 5,2 3,1 10R,11R,21R,30R,41R,42R,51R,11D,20D,21D,34D,42D,43D 1", 6),
    bench("6 0,0 5,5 12R,42R,21D,24D 1", 5),
    bench("8 3,6 2,0 12R,20R,35R,55R,56R,66R,00D,01D,11D,20D,21D,27D,46D 1", 4),
    bench("12 3,4 8,7 34R,86R,25D,86D,5aD,61D,03R,b7R,47R,73R 1", 3),
];

const fn bench(position: &'static str, depth: u32) -> Bench {
    Bench { rules: "", position, depth, player: ("default", GROUND) }
}

fn open(rules: &Rules, start: Option<&str>, _effort: &Arc<Effort>) -> Result<Arc<dyn AnyRoot>, OpenError> {
    let layout = start.map(Layout::parse).transpose()?;
    let setup = Setup::choose(rules, layout.as_ref().map(|layout| layout.size))?;
    let cells = setup.size * setup.size;
    if cells <= u64::CAPACITY {
        open_sized::<u64>(setup, layout.as_ref())
    } else if setup.size < MAX_SIZE {
        open_sized::<Colours<u64>>(setup, layout.as_ref())
    } else {
        open_sized::<Colours<u128>>(setup, layout.as_ref())
    }
}

fn open_sized<B: Bits>(setup: Setup, layout: Option<&Layout>) -> Result<Arc<dyn AnyRoot>, OpenError> {
    let game = Colosseum::<B>::new(setup);
    let start = match layout {
        Some(layout) => layout.position(&game),
        None => game.start()?,
    };
    Ok(engine::open(game, start))
}

impl<B: Bits> Playable for Colosseum<B> {
    const EVALUATORS: &'static [NamedEvaluator<Self>] = &[
        NamedEvaluator::new(
            GROUND,
            "Half of `race`, and the cells with three open sides or more that the mover reaches two steps \
             sooner, less the opponent's.",
            &|game, options| Ground::weighted(game, |spec| options.weight(spec)),
        )
        .with(WEIGHTS),
        NamedEvaluator::new(
            "race",
            "The cells that the mover reaches first less those that the opponent reaches first.",
            &|game, _| Erased::new(Race::new(game)),
        ),
        NamedEvaluator::new(
            "reachable",
            "Published: the cells that the mover can walk to in a move, less those of the opponent.",
            &|game, _| Erased::new(Published::new(game, &[Part::Reachable])),
        ),
        NamedEvaluator::new(
            "aggression",
            "Published: 2 for a last move that put a wall beside the opponent.",
            &|game, _| Erased::new(Published::new(game, &[Part::Aggression])),
        ),
        NamedEvaluator::new(
            "winning",
            "Published: 1000 if the opponent has walls on three sides and the mover can reach the fourth.",
            &|game, _| Erased::new(Published::new(game, &[Part::Winning])),
        ),
        NamedEvaluator::new(
            PUBLISHED,
            "Published: the sum of `reachable`, `aggression` and `winning`.",
            &|game, _| Erased::new(Published::new(game, &Part::ALL)),
        )
        .formerly("seed"),
    ];

    const PLAYERS: &'static [NamedPlayer<Self>] = &[NamedPlayer::new(
        PUBLISHED,
        "The published player, with the evaluation of that name unless another published evaluation is \
             asked for: iterative deepening over alpha-beta with the best size + 3 moves of each position.",
        &|game, evaluator, options| {
            options.expect_eval(&["reachable", "aggression", "winning", PUBLISHED])?;
            let is_usual = options.eval.is_empty();
            let evaluator = if is_usual { Erased::new(Published::new(game, &Part::ALL)) } else { evaluator };
            Ok(Box::new(PublishedPlayer::new(evaluator, options.depth)))
        },
    )
    .formerly("seed")];

    fn entry() -> &'static Entry {
        &ENTRY
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use std::cmp::Ordering;

    use super::position::Position;
    use super::*;
    use plyd_core::engine::{Line, Proof};
    use plyd_core::game::{Context, Evaluator, Game, Kind, Notation, Side};
    use plyd_core::options::Options;
    use plyd_core::search::Control;
    use plyd_core::zobrist::SplitMix64;

    fn options(player: &str, eval: &str) -> Options {
        Options {
            player: player.to_owned(),
            eval: eval.to_owned(),
            hash_mb: 1,
            deterministic: true,
            ..Options::default()
        }
    }

    /// The lines of a player with an evaluation, as many as asked for, chosen from all moves or some.
    fn lines(
        root: &dyn AnyRoot,
        (player, eval): (&str, &str),
        searchmoves: &[String],
        multipv: usize,
        control: &Control,
    ) -> Vec<Line> {
        let mut engine = root.engine(&options(player, eval)).unwrap();
        let candidates = root.candidates(searchmoves, &[]).unwrap();
        engine.search(root, &candidates, multipv, control, &mut |_| ()).0
    }

    /// The answer of a player: the move, and what it claims to be proven.
    fn answer(player: &str, text: &str, nodes: u64) -> (String, Option<Proof>) {
        let root = open(&Rules::default(), Some(text), &Effort::free()).unwrap();
        let control = Control::default();
        control.set_limits(Some(nodes), None);
        let lines = lines(root.as_ref(), (player, GROUND), &[], 1, &control);
        (lines[0].mv().to_owned(), lines[0].value.and_then(|value| value.proof))
    }

    #[test]
    fn searches_win_at_once_and_prove_it() {
        for (text, mv, margin) in
            [("6 0,2 0,0 00R 1", "10u", 34), ("12 8,0 8,1 82R,71D,70D,80D,81D 2", "81l", 142)]
        {
            for player in ["default", "tree"] {
                let (played, proof) = answer(player, text, 30_000);
                let proof = proof.unwrap();
                assert_eq!((played.as_str(), proof.result), (mv, Ordering::Greater), "{player}");
                assert!(proof.margin.is_none_or(|proven| proven == margin), "{player}: {proof:?}");
            }
        }
    }

    #[test]
    fn a_tree_of_evaluations_beyond_a_thousand_cells_keeps_its_limits() {
        // Each reply lets the next mover close the other in, which `published` counts as a thousand cells.
        let text = "6 3,5 2,5 10D,11D,12D,13D,14D,15D,20D,21D,22D,23D,24D 1";
        let root = open(&Rules::default(), Some(text), &Effort::free()).unwrap();
        let control = Control::default();
        control.set_limits(Some(20_000), None);
        let lines = lines(root.as_ref(), ("tree", "published"), &["35d".to_owned()], 1, &control);
        assert_eq!(lines[0].mv(), "35d");
        assert!(control.stats().nodes <= 21_000, "{}", control.stats().nodes);
    }

    #[test]
    fn no_evaluation_counts_as_a_win() {
        let game = Colosseum::<Colours<u128>>::new(Setup::choose(&Rules::default(), Some(12)).unwrap());
        let published = [&[Part::Reachable][..], &[Part::Aggression], &[Part::Winning], &Part::ALL];
        let ranges = published
            .map(|parts| Evaluator::<Colosseum<Colours<u128>>>::range(&Published::new(&game, parts)));
        let most = Ground::weighted(&game, |spec| match spec.kind {
            Kind::Int { max, .. } => max as i32,
            _ => 0,
        });
        let ground = Evaluator::<Colosseum<Colours<u128>>>::range(&most);
        for (least, most) in ranges.into_iter().chain([ground]) {
            assert!(
                -Colosseum::<Colours<u128>>::WIN_BONUS < least
                    && most < Colosseum::<Colours<u128>>::WIN_BONUS
            );
        }
    }

    /// A position on 5x5 with few sides left open, the players not apart.
    fn narrow(game: &Colosseum<u64>, random: &mut SplitMix64) -> Position<u64> {
        let board = game.board();
        loop {
            let players = [(); 2].map(|()| random.below(board.cells()) as u8);
            if players[0] == players[1] {
                continue;
            }
            let mut open = board.bare();
            let mut walls: Vec<_> = board.walls().collect();
            while open.right.len() + open.down.len() > 10 && !walls.is_empty() {
                let wall = walls.swap_remove(random.below(walls.len()));
                open.toggle(wall);
                if board.zone_without(&open, players[0], players[1]).is_some() {
                    open.toggle(wall);
                }
            }
            let side = if random.below(2) == 0 { Side::First } else { Side::Second };
            return game.position(open, players, side);
        }
    }

    /// The margin that the mover gets, by searching every line to its end.
    fn margin(game: &Colosseum<u64>, pos: &Position<u64>, known: &mut HashMap<u64, i32>) -> i32 {
        if let Some(zones) = pos.zones() {
            return zones[pos.mover().index()] - zones[pos.mover().other().index()];
        }
        if let Some(&found) = known.get(&game.hash(pos)) {
            return found;
        }
        let mut moves = Vec::new();
        game.moves(pos, &mut moves);
        let after = |mv| {
            let mut next = *pos;
            game.play(&mut next, mv);
            -margin(game, &next, known)
        };
        let best = moves.into_iter().map(after).max().unwrap();
        known.insert(game.hash(pos), best);
        best
    }

    #[test]
    fn proofs_agree_with_brute_force() {
        let game = Colosseum::<u64>::new(Setup::choose(&Rules::default(), Some(5)).unwrap());
        let (mut random, mut claims) = (SplitMix64::new(7), [0; 3]);
        for _ in 0..40 {
            let pos = narrow(&game, &mut random);
            let root = open(&Rules::default(), Some(&game.position_text(&pos)), &Effort::free()).unwrap();
            let mut known = HashMap::new();
            for player in [
                ("default", GROUND),
                ("tree", GROUND),
                ("tree", "published"),
                ("published", "published"),
                ("published", "winning"),
            ] {
                let control = Control::default();
                control.set_limits(Some(3000), None);
                for line in lines(root.as_ref(), player, &[], 3, &control) {
                    let Some(proof) = line.value.and_then(|value| value.proof) else { continue };
                    let mut next = pos;
                    game.play(&mut next, game.parse_move(&pos, line.mv()).unwrap());
                    let margin = -margin(&game, &next, &mut known);
                    let context = format!("{player:?}: {} {} {proof:?}", game.position_text(&pos), line.mv());
                    assert_eq!(proof.result, margin.cmp(&0), "{context}");
                    assert!(
                        proof.margin.is_none_or(|proven| proven == i64::from(margin)),
                        "{context}: {margin}"
                    );
                    claims[usize::from(margin <= 0) + usize::from(margin < 0)] += 1;
                }
            }
        }
        assert!(claims.iter().all(|&count| count > 3), "{claims:?}");
    }

    #[test]
    fn starts_and_rules_set_the_size_and_seeds_the_start() {
        let text = |given: Vec<(&'static str, plyd_core::game::Setting)>, start: Option<&str>| {
            open(&Rules::new(given), start, &Effort::free()).map(|root| root.text())
        };
        assert!(text(vec![], None).unwrap().starts_with("8 "));
        for size in 5..=12 {
            let given =
                |seed: &str| vec![("size", plyd_core::game::Setting::Int(size)), ("seed", seed.into())];
            let one = text(given("1"), None).unwrap();
            assert_eq!(text(given("1"), None).as_ref(), Ok(&one));
            assert!(one.starts_with(&format!("{size} ")) && text(given("2"), None).unwrap() != one);
            assert_eq!(text(vec![], Some(&one)), Ok(one));
        }
    }

    #[test]
    fn the_published_player_takes_published_evaluations() {
        let root =
            open(&Rules::default(), Some("8 7,6 0,1 02R,10R,66R,74R,15D,52D 1"), &Effort::free()).unwrap();
        let lines_of = |eval| {
            let control = Control::default();
            control.set_limits(None, Some(1));
            lines(root.as_ref(), (PUBLISHED, eval), &[], 1, &control)
        };
        assert_eq!(lines_of(""), lines_of("published"));
        assert_ne!(lines_of("reachable"), lines_of("winning"));
        let fault = root.engine(&options(PUBLISHED, GROUND)).err().unwrap();
        assert!(fault.message.contains("reachable, aggression, winning, published"), "{fault}");
    }

    #[test]
    fn evaluations_are_had_by_name() {
        let layout = Layout::parse("6 2,2 3,3 22R 1").unwrap();
        let setup = Setup::choose(&Rules::default(), Some(6)).unwrap();
        let game = Colosseum::<u64>::new(setup);
        let pos = layout.position(&game);
        let context = Context { root: Side::First, last: None };
        assert_eq!(game.evaluate(&pos, "race"), Ok(Race::new(&game).evaluate(&game, &pos, &context)));
        assert_eq!(game.evaluate(&pos, GROUND), Ok(Ground::new(&game).evaluate(&game, &pos, &context)));
        for (name, parts) in [
            ("reachable", &[Part::Reachable][..]),
            ("aggression", &[Part::Aggression]),
            ("winning", &[Part::Winning]),
            (PUBLISHED, &Part::ALL),
        ] {
            let published = Published::new(&game, parts).evaluate(&game, &pos, &context);
            assert_eq!(game.evaluate(&pos, name), Ok(published), "{name}");
        }
    }
}
