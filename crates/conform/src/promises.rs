//! What the specification promises and which checks cover it: `promises.txt`, a table.

use serde::Serialize;

/// A promise of the specification.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Promise {
    /// The section where it stands.
    pub section: &'static str,
    /// What is promised.
    pub promise: &'static str,
    /// The checks that cover it, as `GROUP/CHECK`.
    pub checks: Vec<&'static str>,
    /// Why no check covers it, if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<&'static str>,
}

/// All promises, in the order of the specification.
///
/// ```
/// // What the specification promises and no check can see.
/// for promise in plyd_conform::promises() {
///     if let Some(reason) = promise.unchecked {
///         println!("{}: {} ({reason})", promise.section, promise.promise);
///     }
/// }
/// ```
///
/// # Panics
/// If a row of the table is malformed, which a test would find.
pub fn promises() -> impl Iterator<Item = Promise> {
    let mut section = "";
    include_str!("promises.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with(['#', '@']))
        .filter_map(move |line| {
            if let Some(name) = line.strip_prefix("== ") {
                section = name;
                return None;
            }
            let (promise, covered) = line.split_once(" | ").expect("a row has two columns");
            let unchecked = covered.strip_prefix("unchecked: ");
            let checks = if unchecked.is_none() { covered.split(' ').collect() } else { Vec::new() };
            Some(Promise { section, promise, checks, unchecked })
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;
    use std::collections::BTreeSet;

    #[test]
    fn every_check_stands_behind_a_promise_and_every_promise_has_a_check_or_a_reason() {
        let known: BTreeSet<String> = names().map(|(group, check, _)| format!("{group}/{check}")).collect();
        let named: BTreeSet<String> =
            promises().flat_map(|promise| promise.checks).map(str::to_owned).collect();
        let unknown: Vec<&String> = named.difference(&known).collect();
        let without: Vec<&String> = known.difference(&named).collect();
        assert!(unknown.is_empty() && without.is_empty(), "no check {unknown:?}, no promise for {without:?}");
        for promise in promises() {
            let reason = promise.unchecked.is_some_and(|reason| reason.len() > 10);
            assert!(reason != promise.checks.iter().any(|check| !check.is_empty()), "{promise:?}");
            assert!(promise.promise.len() > 5 && !promise.promise.ends_with('.'), "{promise:?}");
        }
    }

    #[test]
    fn every_section_of_the_specification_has_promises() {
        let page = include_str!("../../../protocol/README.md");
        let sections: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let mut covered: Vec<&str> = promises().map(|promise| promise.section).collect();
        covered.dedup();
        assert_eq!(covered, sections);
    }

    /// The hash (FNV-1a, of 64 bits) of a section's words outside its examples, so that lines may be broken
    /// elsewhere.
    fn hash(section: &str) -> String {
        let examples = section.split("```").skip(1).step_by(2);
        let text = examples.fold(section.to_owned(), |text, example| text.replace(example, ""));
        let words = text.split_whitespace().flat_map(|word| word.bytes().chain([b' ']));
        let hash = words.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("{hash:016x}")
    }

    #[test]
    fn the_rows_of_a_section_are_looked_at_again_when_it_changes() {
        let page = include_str!("../../../protocol/README.md");
        let expected: Vec<String> = page
            .split("\n## ")
            .skip(1)
            .map(|section| format!("{} @ {}", section.lines().next().unwrap_or_default(), hash(section)))
            .collect();
        let mut section = "";
        let mut noted = Vec::new();
        for line in include_str!("promises.txt").lines() {
            section = line.strip_prefix("== ").unwrap_or(section);
            noted.extend(line.strip_prefix("@ ").map(|hash| format!("{section} @ {hash}")));
        }
        assert_eq!(
            noted, expected,
            "a section changed: give its new promises rows in promises.txt, then its new hash"
        );
        assert_ne!(hash("It waits."), hash("It waits. It answers."));
        assert_eq!(hash("It\nwaits. ```json\n1\n```"), hash("It waits. ```json\n2\n```"));
    }
}
