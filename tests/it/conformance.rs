//! Every game of the registry keeps the promises of the trait `Game`; see `AnyRoot::check`.

use plyd::effort::Effort;
use plyd::game::{Kind, Rules, Setting};
use plyd::games::REGISTRY;

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
    for entry in REGISTRY {
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
    for entry in REGISTRY {
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
    for entry in REGISTRY {
        let root = (entry.open)(&Rules::default(), None, &Effort::free()).unwrap();
        for text in hostile {
            assert!(
                (entry.open)(&Rules::default(), Some(text), &Effort::free()).is_err(),
                "{}: {text:?}",
                entry.name
            );
            assert!(root.extend(&[text.to_owned()]).is_err(), "{}: {text:?}", entry.name);
        }
        // Every prefix and every text with one character changed is either refused or a position.
        let text = root.text();
        for cut in (0..text.len()).filter(|&cut| text.is_char_boundary(cut)) {
            for filler in ["", "9", "é", " ", "x"] {
                let broken = format!("{}{filler}{}", &text[..cut], &text[cut + 1..]);
                if let Ok(root) = (entry.open)(&Rules::default(), Some(&broken), &Effort::free()) {
                    assert!(
                        (entry.open)(&Rules::default(), Some(&root.text()), &Effort::free()).is_ok(),
                        "{}: {broken:?}",
                        entry.name
                    );
                }
            }
        }
    }
}
