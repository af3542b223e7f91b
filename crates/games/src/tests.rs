//! What all games of the registry keep to.

use std::collections::BTreeSet;
use std::sync::Arc;

use plyd_core::effort::{Effort, Interrupt};
use plyd_core::engine::conformance::chosen;
use plyd_core::engine::settings::{self, Caps, Renamed, Settings};
use plyd_core::engine::{FaultCode, Place};
use plyd_core::game::{Named, Rules, Spec};
use plyd_core::learning::selfplay::SelfPlay;
use plyd_core::learning::td::Played;
use plyd_core::options::weights::Tunable;
use plyd_core::options::{FULL_LEVEL as FULL, Options};
use plyd_core::search::strength::Weakening;

use crate::REGISTRY;

/// Whether only one of the games is tested, so that sums over all of them say nothing.
fn is_one_game() -> bool {
    chosen(REGISTRY).len() < REGISTRY.len()
}

#[test]
fn every_game_has_levels_that_rise() {
    for entry in chosen(REGISTRY) {
        let levels = entry.levels();
        let name = entry.name;
        assert_eq!(levels.list.len(), FULL as usize, "{name}");
        let command = format!("plyd arena {name} --ladder ");
        let is_measured = levels.list.iter().all(|level| level.rating.is_some());
        assert_eq!(levels.measured_by.starts_with(&command), is_measured, "{name}: {}", levels.measured_by);
        for (number, level) in (1..=FULL).zip(&levels.list) {
            assert_eq!(level.weakening.is_none(), number == FULL, "{name} {number}");
            let Some(Weakening { sight, nodes, wavers, hasty }) = level.weakening else { continue };
            assert!((1..=100).contains(&sight) && (10..=1_000_000).contains(&nodes), "{name} {number}");
            assert!(wavers <= 1_000_000 && hasty <= 1000, "{name} {number}");
        }
        for step in levels.list.windows(2) {
            if let [Some(low), Some(high)] = [step[0].rating, step[1].rating] {
                assert!(low.elo < high.elo, "{name}: {low:?} {high:?}");
            }
            let [Some(low), Some(high)] = [step[0].weakening, step[1].weakening] else { continue };
            let rises = low.sight <= high.sight
                && low.nodes <= high.nodes
                && low.wavers >= high.wavers
                && low.hasty >= high.hasty;
            assert!(rises && low != high, "{name}: {low:?} {high:?}");
        }
        let below_full = levels.weakening(FULL - 1).unwrap();
        assert!(below_full.hasty > 0, "{name}: level 9 is weaker than 10 whatever the time");
    }
}

#[test]
fn every_look_of_a_folder_is_named_by_an_entry() {
    let games = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    let looks = games.map(|game| game.unwrap().path().join("src/look.js"));
    let looks: BTreeSet<String> = looks.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    let named: BTreeSet<String> = REGISTRY.iter().filter_map(|entry| entry.look).map(str::to_owned).collect();
    assert_eq!(looks, named);
    assert!(!looks.is_empty());
}

#[test]
fn each_name_and_each_former_name_stands_for_one_thing() {
    let mut formers = 0;
    for entry in chosen(REGISTRY) {
        let players: Vec<&Named> = entry.players().collect();
        let evaluators: Vec<&Named> = entry.evaluators().collect();
        for (option, list) in [("player", players), ("eval", evaluators)] {
            let names: Vec<&str> =
                list.iter().flat_map(|named| [Some(named.name), named.former]).flatten().collect();
            let distinct: BTreeSet<&str> = names.iter().copied().collect();
            assert_eq!(distinct.len(), names.len(), "{} {option}: {names:?}", entry.name);
            for named in list {
                let given = |name: &str| Settings::from_iter([(option, name)]);
                assert_eq!(settings::check_options(entry, &given(named.name)), Ok(Vec::new()));
                let Some(former) = named.former else { continue };
                let renamed = Renamed { option, former, name: named.name };
                assert_eq!(settings::check_options(entry, &given(former)), Ok(vec![renamed]));
                let caps = Caps { threads: 1, hash_mb: 1 };
                let options = settings::options(entry, &given(former), 0, caps).unwrap();
                let taken = if option == "player" { options.player } else { options.eval };
                assert_eq!(taken, named.name, "{} {option}", entry.name);
                formers += 1;
            }
        }
    }
    assert!(
        formers >= 6 || is_one_game(),
        "{formers}: the players of five games and an evaluator have former names"
    );
}

/// That a player plays by each evaluation that it takes is one of `plyd_core::engine::conformance`'s checks.
#[test]
fn every_player_takes_an_evaluation_or_says_that_it_does_not() {
    let mut refusals = 0;
    for entry in chosen(REGISTRY) {
        let root = settings::open(entry, &Rules::default(), None).unwrap();
        let made = |player: &str, eval: &str| {
            let (player, eval) = (player.to_owned(), eval.to_owned());
            root.engine(&Options { player, eval, hash_mb: 1, ..Options::default() }).map(drop)
        };
        for player in entry.players() {
            for evaluator in entry.evaluators() {
                let Err(fault) = made(player.name, evaluator.name) else { continue };
                let blamed = (FaultCode::OptionInvalid, Place::Option("eval".to_owned()));
                assert_eq!((fault.code, fault.place), blamed, "{}: {}", entry.name, player.name);
                refusals += 1;
            }
            assert_eq!(made(player.name, ""), Ok(()), "{}: {} with its own", entry.name, player.name);
        }
        let first = entry.evaluators().next().unwrap().name;
        assert!(root.eval(first).unwrap().is_some() && root.eval("") == root.eval(first), "{}", entry.name);
        for (refused, option) in [
            (made("nobody", first), "player"),
            (made("default", "nothing"), "eval"),
            (root.eval("nothing").map(drop), "eval"),
            (root.moves(Some("nothing")).map(drop), "eval"),
        ] {
            let fault = refused.unwrap_err();
            let blamed = (FaultCode::OptionInvalid, Place::Option(option.to_owned()));
            assert_eq!((fault.code, fault.place), blamed, "{}: {}", entry.name, fault.message);
        }
    }
    assert!(
        refusals >= 10 || is_one_game(),
        "{refusals}: players of four games have evaluations of their own"
    );
}

#[test]
fn weights_are_options_of_their_game_and_fill_their_file() {
    for entry in chosen(REGISTRY) {
        for Tunable { evaluator, weights } in entry.tunable() {
            let is_option = |weight: &Spec| entry.options().any(|spec| spec == weight);
            assert!(weights.list.iter().all(is_option), "{evaluator}");
            let lines = weights.file.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
            let names: Vec<&str> = lines.map(|line| line.split(' ').next().unwrap()).collect();
            assert_eq!(names, weights.list.iter().map(|weight| weight.name).collect::<Vec<_>>());
        }
    }
}

/// The last number in the last cell of an empty board of 25x25, thousands of times.
#[test]
fn a_long_list_of_moves_is_read_with_an_effort() {
    let entry = REGISTRY.iter().find(|entry| entry.name == "sudoku").unwrap();
    let start = format!("5 5 {}", ["."; 625].join(" "));
    let root = settings::open(entry, &Rules::default(), Some(&start)).unwrap();
    let legal = root.legal();
    let texts = vec![legal.last().unwrap().clone(); 5000];
    let all = root.candidates(&[], &[]).unwrap().indexes;
    assert_eq!(root.candidates(&texts, &[]).unwrap().indexes, [all.len() - 1]);
    assert_eq!(root.candidates(&[], &texts).unwrap().indexes, all[..all.len() - 1]);
    let refused = |effort: &Arc<Effort>, lists: [&[String]; 2]| {
        let fault = root.candidates_within(lists[0], lists[1], effort).unwrap_err();
        assert_eq!(fault.code, FaultCode::Unprepared);
        assert!(effort.was_broken_off());
        fault.place
    };
    // The quick threads give it up, and the slow ones once nobody waits for it.
    let brief = Effort::brief(Interrupt::default());
    assert_eq!(refused(&brief, [&texts, &[]]), Place::SearchMove(Effort::ASSURED as usize));
    let brief = Effort::brief(Interrupt::default());
    assert_eq!(refused(&brief, [&[], &texts]), Place::ExcludeMove(Effort::ASSURED as usize));
    let whole = Effort::whole(Interrupt::default());
    assert!(root.candidates_within(&texts, &texts[..1], &whole).is_err(), "no move is left");
    whole.interrupt().end();
    assert_eq!(refused(&whole, [&texts, &texts]), Place::SearchMove(0));
}

/// Games of the first evaluator that learns, from the initial position of some rules.
fn played(rules: &str, how: &SelfPlay) -> Played {
    let entry = REGISTRY.iter().find(|entry| entry.name == "ijk").unwrap();
    let given = rules.split(',').filter_map(|rule| rule.split_once('=')).collect();
    let rules = settings::rules(entry, &given, 0).unwrap();
    let root = settings::open(entry, &rules, None).unwrap();
    let learner = root.learner("tuples").unwrap();
    learner.play(root.as_ref(), &vec![0; learner.len()], how)
}

#[test]
fn a_game_is_recorded_from_its_first_position_to_its_result() {
    let how = SelfPlay { depth: 3, max_moves: 500, seed: 1 };
    let game = played("preset=v2-4x4", &how);
    assert!(game.seen.len() > 20 && game.seen.len() < 500);
    for (ply, seen) in game.seen.iter().enumerate() {
        assert_eq!((seen.is_first, seen.active.len()), (ply % 2 == 0, 9));
        assert!((0.0..=1.0).contains(&seen.outlook) && seen.unit > 0.0);
    }
    // A search to depth 3 sees the coming end.
    assert_eq!(game.seen.last().map(|seen| seen.outlook), Some(game.result));
    let short = played("preset=v2-4x4", &SelfPlay { max_moves: 5, ..how });
    assert_eq!((short.seen.len(), short.result, &short.seen[..]), (5, 0.5, &game.seen[..5]));
}

#[test]
fn chance_is_drawn_by_the_seed() {
    let how = SelfPlay { depth: 1, max_moves: 60, seed: 1 };
    let game = played("preset=v2-4x4,mode=nondet", &how);
    assert_eq!(game, played("preset=v2-4x4,mode=nondet", &how));
    assert_ne!(game, played("preset=v2-4x4,mode=nondet", &SelfPlay { seed: 2, ..how }));
}
