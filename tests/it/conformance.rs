//! Every game of the registry keeps the promises of the trait `Game`; see `AnyRoot::check`.

use plyd::effort::Effort;
use plyd::game::{Kind, Rules, Setting};
use plyd::games::REGISTRY;

use crate::games::{games, next, places};

/// The plies that are checked under each set of rules.
const PLIES: usize = 600;

/// The default rules, and every rule changed alone: each word, and numbers at and near both ends.
fn variants(entry: &plyd::engine::Entry) -> Vec<Rules> {
    let mut variants = vec![Rules::default()];
    for spec in entry.rules {
        let values: Vec<Setting> = match spec.kind {
            Kind::Bool { .. } => vec![Setting::Bool(false), Setting::Bool(true)],
            Kind::Int { min, max, .. } => {
                [min, min + 1, (min + max) / 2, max - 1, max].map(Setting::Int).into()
            }
            Kind::Choice(words) | Kind::OpenChoice(words) => {
                words.iter().map(|word| Setting::from(*word)).collect()
            }
            Kind::ChoiceOrInt { choices, min, max } => {
                choices.iter().map(|word| Setting::from(*word)).chain([min, max].map(Setting::Int)).collect()
            }
            Kind::Seed => vec![Setting::from("1"), Setting::from("ffffffffffffffff")],
        };
        variants.extend(values.into_iter().map(|value| Rules::new(vec![(spec.name, value)])));
    }
    variants
}

#[test]
fn every_game_keeps_its_promises() {
    for entry in games() {
        let mut opened = 0;
        for (seed, rules) in variants(entry).into_iter().enumerate() {
            // A rule may be impossible beside the others' defaults: it must say so, not break.
            let Ok(root) = (entry.open)(&rules, None, &Effort::free()) else { continue };
            opened += 1;
            root.check(seed as u64, PLIES)
                .unwrap_or_else(|broken| panic!("{} {rules:?}: {broken}", entry.name));
        }
        assert!(opened >= 1, "{} does not open under its own defaults", entry.name);
    }
}

#[test]
fn entries_are_whole() {
    for entry in games() {
        assert!(!entry.about.is_empty() && !entry.unit.is_empty(), "{}", entry.name);
        assert!(!entry.position_grammar.is_empty() && !entry.move_grammar.is_empty(), "{}", entry.name);
        assert!(entry.evaluators().next().is_some(), "{}", entry.name);
        assert!(!entry.endings.is_empty() && !entry.bench.is_empty(), "{}", entry.name);
        assert_eq!(entry.players().next().map(|named| named.name), Some("default"), "{}", entry.name);
        for bench in entry.bench {
            let root = (entry.open)(&Rules::default(), Some(bench.position), &Effort::free()).unwrap();
            assert!(root.candidates(&[], &[]).is_ok(), "{}: {}", entry.name, bench.position);
        }
        let mut names: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), REGISTRY.len());
    }
}

/// Whether the game reads this text as a position, which then has a text that reads back.
fn is_position(entry: &plyd::engine::Entry, text: &str) -> bool {
    let open = |text: &str| (entry.open)(&Rules::default(), Some(text), &Effort::free());
    let Ok(root) = open(text) else { return false };
    let again = open(&root.text()).unwrap_or_else(|error| panic!("{}: {text:?}: {error:?}", entry.name));
    assert_eq!(again.text(), root.text(), "{}: {text:?}", entry.name);
    true
}

#[test]
fn hostile_texts_are_refused_without_a_panic() {
    let long = "x".repeat(100_000);
    let hostile = [
        "",
        " ",
        "/",
        "1",
        "-1 -1",
        "\u{0}",
        "é",
        "🂡 1",
        "99999999999999999999 1",
        "~",
        "a1 a1 a1 a1 a1",
        &long,
    ];
    for entry in games() {
        let mut refused = 0;
        for place in places(entry) {
            let root = place.root();
            // Some games write moves or positions like this.
            let own = next(root.as_ref());
            for text in hostile.iter().filter(|text| own.iter().all(|mv| mv != *text)) {
                let shown: String = text.chars().take(40).collect();
                assert!(root.extend(&[(*text).to_owned()]).is_err(), "{place}: {shown:?} is a move");
            }
        }
        for text in hostile {
            refused += usize::from(!is_position(entry, text));
        }
        assert!(refused >= hostile.len() / 2, "{}: only {refused} are no positions", entry.name);
        // Every prefix and every text with one character changed is either refused or a position.
        let text = (entry.open)(&Rules::default(), None, &Effort::free()).unwrap().text();
        for cut in (0..text.len()).filter(|&cut| text.is_char_boundary(cut)) {
            let rest = text[cut..].chars().next().map_or(0, char::len_utf8);
            for filler in ["", "9", "é", " ", "x"] {
                is_position(entry, &format!("{}{filler}{}", &text[..cut], &text[cut + rest..]));
            }
        }
    }
}
