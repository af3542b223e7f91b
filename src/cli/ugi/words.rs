//! What a UGI program reads: options, news of a search, results, each as a line of words.

use plyd_protocol::{Bound, Line, Outcome, Player, Proof, ProofOutcome, Score, Stats};

use super::command::move_word;
use crate::engine::Entry;
use crate::game::{Kind, Named, Spec};
use crate::options::COMMON;

/// UGI's name of the option `hash_mb`.
const HASH: &str = "hash";
/// The option that sets how many lines a search reports.
pub(super) const MULTIPV: &str = "multipv";
/// The score of a proven win of unknown distance, in hundredths of the game's unit.
const WON: i64 = 100_000;

/// The options as `ugi` lists them: those of the game's players, and the number of lines.
pub(super) fn options(entry: &Entry, threads: usize) -> Vec<String> {
    let mut lines: Vec<String> = COMMON
        .iter()
        .chain(entry.options())
        .filter_map(|spec| {
            let kind = match spec.name {
                "player" => combo(entry.players())?,
                "eval" => combo(entry.evaluators())?,
                "threads" => format!("type spin default 1 min 1 max {threads}"),
                _ => kind(spec.kind),
            };
            Some(format!("option name {} {kind}", ugi_name(spec.name)))
        })
        .collect();
    lines.push(format!("option name {MULTIPV} type spin default 1 min 1 max {}", plyd_protocol::MAX_MULTIPV));
    lines
}

fn combo(names: impl Iterator<Item = &'static Named>) -> Option<String> {
    let words: Vec<&str> = names.map(|named| named.name).collect();
    choice(&words)
}

fn choice(words: &[&str]) -> Option<String> {
    let first = words.first()?;
    let vars: String = words.iter().map(|word| format!(" var {word}")).collect();
    Some(format!("type combo default {first}{vars}"))
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Bool { default: Some(default) } => format!("type check default {default}"),
        Kind::Int { min, max, default: Some(default) } => {
            format!("type spin default {default} min {min} max {max}")
        }
        // One below the least stands for "not set": see [`value`].
        Kind::Int { min, max, default: None } => format!("type spin default {0} min {0} max {max}", min - 1),
        Kind::Choice(words) => choice(words).unwrap_or_else(|| "type string default <empty>".into()),
        Kind::ChoiceOrInt { choices, .. } => {
            format!("type string default {}", choices.first().unwrap_or(&"<empty>"))
        }
        Kind::Bool { default: None } | Kind::OpenChoice(_) | Kind::Seed => {
            "type string default <empty>".into()
        }
    }
}

fn ugi_name(name: &str) -> &str {
    if name == "hash_mb" { HASH } else { name }
}

/// The option of that name, in letters of any case; UGI programs differ in that.
pub(super) fn option(entry: &'static Entry, name: &str) -> Option<&'static Spec> {
    let is_meant =
        |spec: &&Spec| name.eq_ignore_ascii_case(spec.name) || name.eq_ignore_ascii_case(ugi_name(spec.name));
    COMMON.iter().chain(entry.options()).find(is_meant)
}

/// A value as the engine takes it; none if it stands for "not set".
pub(super) fn value(kind: Kind, text: &str) -> Option<&str> {
    let is_unset = match kind {
        _ if text.is_empty() || text == "<empty>" => true,
        Kind::Int { min, default: None, .. } => text.parse::<i64>().is_ok_and(|value| value == min - 1),
        _ => false,
    };
    (!is_unset).then_some(text)
}

/// One of the best lines of a search.
pub(super) fn info(line: &Line, stats: &Stats) -> String {
    let score = line.score.as_ref().map(score).unwrap_or_default();
    let pv: String = line.pv.iter().map(|mv| format!(" {}", move_word(mv))).collect();
    let Stats { nodes, nps, time_ms, seldepth, hash_ppm, .. } = stats;
    format!(
        "info depth {} seldepth {} multipv {}{score} nodes {nodes} nps {nps} hashfull {} time {time_ms} pv{pv}",
        line.depth,
        seldepth.max(&line.depth),
        line.rank,
        hash_ppm / 1000,
    )
}

/// A score from the mover's view, with a blank before it: `cp` in hundredths of the game's unit or `mate` in
/// plies, then what is proven.
fn score(score: &Score) -> String {
    let mut text = match (&score.proof, score.eval) {
        (Some(proof), _) => proven(proof),
        (None, Some(eval)) => {
            let bound = match score.bound {
                Bound::Exact => "",
                Bound::Lower => " lowerbound",
                Bound::Upper => " upperbound",
            };
            format!(" score cp {}{bound}", eval / 10)
        }
        (None, None) => String::new(),
    };
    if let Some([win, draw, loss]) = score.wdl {
        text += &format!(" wdl {} {} {}", win / 1000, draw / 1000, loss / 1000);
    }
    text
}

fn proven(proof: &Proof) -> String {
    let (name, sign, bound) = match proof.outcome {
        ProofOutcome::Win => ("win", 1, "lowerbound"),
        ProofOutcome::Draw => ("draw", 0, ""),
        ProofOutcome::Loss => ("loss", -1, "upperbound"),
    };
    let score = match (proof.margin, proof.plies, proof.plies_max) {
        (Some(margin), ..) => format!("cp {}", margin * 100),
        (None, ..) if sign == 0 => "cp 0".to_owned(),
        (None, Some(plies), _) => format!("mate {}", sign * i64::from(plies)),
        (None, None, Some(most)) => format!("mate {} {bound}", sign * i64::from(most)),
        (None, None, None) => format!("cp {}", sign * WON),
    };
    format!(" score {score} proof {name}")
}

/// The result of a position.
pub(super) fn result(outcome: Option<&Outcome>) -> &'static str {
    match outcome.map(|outcome| outcome.winner) {
        None => "none",
        Some(None) => "draw",
        Some(Some(Player::P1)) => "p1win",
        Some(Some(Player::P2)) => "p2win",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::conformance::chosen;
    use crate::games::REGISTRY;

    #[test]
    fn scores_are_in_hundredths_or_plies() {
        for (wire, text) in [
            (r#"{"bound":"exact","eval":-1230}"#, " score cp -123"),
            (r#"{"bound":"lower","eval":90}"#, " score cp 9 lowerbound"),
            (r#"{"bound":"upper","eval":0}"#, " score cp 0 upperbound"),
            (r#"{"bound":"exact","proof":{"outcome":"win","plies":9}}"#, " score mate 9 proof win"),
            (
                r#"{"bound":"exact","proof":{"outcome":"loss","plies_max":4}}"#,
                " score mate -4 upperbound proof loss",
            ),
            (r#"{"bound":"exact","proof":{"outcome":"win"}}"#, " score cp 100000 proof win"),
            (r#"{"bound":"exact","proof":{"outcome":"loss","margin":-3}}"#, " score cp -300 proof loss"),
            (r#"{"bound":"exact","proof":{"outcome":"draw"}}"#, " score cp 0 proof draw"),
            (r#"{"bound":"exact","eval":10,"wdl":[600000,0,400000]}"#, " score cp 1 wdl 600 0 400"),
        ] {
            assert_eq!(score(&serde_json::from_str(wire).unwrap()), text);
        }
    }

    #[test]
    fn moves_of_several_words_become_one() {
        let line = Line {
            rank: 2,
            mv: "3 1 W".into(),
            pv: vec!["3 1 W".into(), "2 4 E 1 1 2 2".into()],
            depth: 5,
            score: None,
        };
        let stats = Stats { nodes: 7, nps: 70, time_ms: 100, depth: 5, seldepth: 3, hash_ppm: 999_999 };
        assert_eq!(
            info(&line, &stats),
            "info depth 5 seldepth 5 multipv 2 nodes 7 nps 70 hashfull 999 time 100 pv 3_1_W 2_4_E_1_1_2_2"
        );
    }

    #[test]
    fn every_option_has_a_type_and_a_default_that_is_taken() {
        for entry in chosen(REGISTRY) {
            for line in options(entry, 2) {
                let words: Vec<&str> = line.split(' ').collect();
                let ["option", "name", name, "type", kind, "default", default, ..] = words[..] else {
                    panic!("{line}");
                };
                assert!(["spin", "combo", "check", "string"].contains(&kind), "{line}");
                if let Some(spec) = option(entry, name) {
                    assert!(value(spec.kind, default).is_none_or(|value| !value.is_empty()), "{line}");
                } else {
                    assert_eq!(name, MULTIPV, "{line}");
                }
            }
        }
    }

    #[test]
    fn options_are_found_in_any_case_and_by_either_name() {
        let entry = REGISTRY[0];
        for (name, spec) in
            [("Hash", "hash_mb"), ("hash_mb", "hash_mb"), ("THREADS", "threads"), ("depth", "depth")]
        {
            assert_eq!(option(entry, name).map(|found| found.name), Some(spec));
        }
        assert!(option(entry, "ownbook").is_none());
        let depth = option(entry, "depth").unwrap().kind;
        assert_eq!((value(depth, "0"), value(depth, "7"), value(depth, "x")), (None, Some("7"), Some("x")));
        assert_eq!(value(Kind::Seed, "<empty>"), None);
    }
}
