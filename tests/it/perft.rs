//! The number of positions after each number of plies, against counts that others made.
//!
//! Each game brings a file of lines `RULES | POSITION | d1 d2 d3 ...`: rules as `name=value` with commas, or
//! nothing; the position's text, or nothing for the start; the counts from depth 1 on.

use plyd::effort::Effort;
use plyd::engine::Counting;
use plyd::game::{Kind, Rules, Setting};
use plyd::games::REGISTRY;
use plyd::search::Control;

/// Counts past this are left to the command `plyd perft`.
const LIMIT: u64 = 3_000_000;

#[test]
fn counts_are_those_of_others() {
    for entry in REGISTRY {
        let lines: Vec<&str> =
            entry.perft.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).collect();
        assert!(!lines.is_empty(), "{} has counts", entry.name);
        for line in lines {
            let [rules, position, counts] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
                panic!("{}: `{line}` has three fields", entry.name)
            };
            let rules = Rules::new(
                rules.split(',').filter(|rule| !rule.is_empty()).map(|rule| read(entry, rule)).collect(),
            );
            let start = Some(position).filter(|text| !text.is_empty());
            let root = (entry.open)(&rules, start, &Effort::free())
                .unwrap_or_else(|error| panic!("{line}: {error:?}"));
            for (depth, count) in (1..).zip(counts.split_whitespace()) {
                let count: u64 = count.parse().unwrap();
                if count <= LIMIT {
                    assert_eq!(
                        root.perft(depth, Counting::Plain, &Control::default()),
                        count,
                        "{} depth {depth}: {line}",
                        entry.name
                    );
                }
            }
        }
    }
}

fn read(entry: &plyd::engine::Entry, rule: &str) -> (&'static str, Setting) {
    let (name, value) = rule.split_once('=').unwrap();
    let spec = entry.rules.iter().find(|spec| spec.name == name).unwrap();
    let value = match spec.kind {
        Kind::Bool { .. } => Setting::Bool(value.parse().unwrap()),
        Kind::Int { .. } => Setting::Int(value.parse().unwrap()),
        Kind::Choice(_) | Kind::OpenChoice(_) | Kind::Seed => Setting::from(value),
        Kind::ChoiceOrInt { .. } => value.parse().map_or_else(|_| Setting::from(value), Setting::Int),
    };
    (spec.name, value)
}
