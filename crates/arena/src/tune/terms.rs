//! What a tuning is: everything on which its result depends, as the first line of its file records it.

use plyd_protocol::{Setting, Settings};
use serde::{Deserialize, Serialize};

use super::spsa::{Gains, Parameter};
use crate::archive::Kept;
use crate::trials::{Games, list};
use plyd_core::game::Kind;
use plyd_core::options::weights::{self, Tunable};

/// Everything on which the result depends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Terms {
    /// The game, and how games begin and end.
    #[serde(flatten)]
    pub games: Games,
    /// The weights that are tuned.
    pub weights: Vec<Weight>,
    /// Other options of the players.
    pub options: Settings,
    /// Nodes of each move.
    pub nodes: u64,
    /// How often the weights are changed.
    pub iterations: u32,
    /// Pairs of games between two changes.
    pub pairs: u32,
    /// By what part of its step a weight moves for one won game in the last pair.
    pub rate: f64,
    /// The step of each weight in percent of its range.
    pub step_percent: f64,
}

/// A weight that is tuned.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Weight {
    /// The option.
    pub name: String,
    /// The value at the beginning.
    pub start: i64,
    /// The smallest value.
    pub min: i64,
    /// The largest value.
    pub max: i64,
}

impl Terms {
    /// How many games there are.
    #[must_use]
    pub fn scheduled(&self) -> u64 {
        2 * self.gains().pairs
    }

    pub(super) fn gains(&self) -> Gains {
        Gains { pairs: u64::from(self.iterations) * u64::from(self.pairs), rate: self.rate }
    }

    pub(super) fn parameters(&self) -> Vec<Parameter> {
        let parameter = |&Weight { start, min, max, .. }: &Weight| Parameter {
            min,
            max,
            start,
            step: (max - min) as f64 * self.step_percent / 100.0,
        };
        self.weights.iter().map(parameter).collect()
    }

    /// The first part in which other terms differ, as the command line calls it.
    pub(super) fn difference(&self, other: &Self) -> Option<&'static str> {
        let differs = [
            (self.options != other.options, "--option"),
            (self.weights != other.weights, "--weights, or other weights to begin with"),
            (self.nodes != other.nodes, "--nodes"),
            (self.iterations != other.iterations, "--iterations"),
            (self.pairs != other.pairs, "--pairs"),
            (self.rate != other.rate, "--rate"),
            (self.step_percent != other.step_percent, "--step"),
        ];
        let all = self.games.differences(&other.games).into_iter().chain(differs);
        all.into_iter().find_map(|(differs, name)| differs.then_some(name))
    }

    /// The command that gives these terms, without what does not change the result.
    #[must_use]
    pub(super) fn command(&self) -> String {
        let names: Vec<&str> = self.weights.iter().map(|weight| weight.name.as_str()).collect();
        let mut options = self.options.clone();
        for weight in &self.weights {
            options.insert(weight.name.as_str(), weight.start);
        }
        let more = [
            ("weights", names.join(",")),
            ("option", list(&options)),
            ("nodes", self.nodes.to_string()),
            ("iterations", self.iterations.to_string()),
            ("pairs", self.pairs.to_string()),
            ("rate", self.rate.to_string()),
            ("step", self.step_percent.to_string()),
        ];
        self.games.command("tune", &more)
    }

    /// The evaluator's file of weights with these values: see [`plyd_core::options::weights`].
    #[must_use]
    pub fn file(&self, tunable: &Tunable, values: &[i64], games: u64) -> String {
        let mut text = format!(
            "# Weights of {}'s evaluator `{}`, by {games} games of\n",
            self.games.game, self.games.evaluator
        );
        text += &format!("# {}\n", self.command());
        for spec in tunable.weights.list {
            let tuned = self.weights.iter().zip(values).find(|(weight, _)| weight.name == spec.name);
            let value = match (tuned, self.options.get(spec.name)) {
                (Some((_, &value)), _) | (None, Some(&Setting::Int(value))) => value,
                (None, _) => weights::default(spec).into(),
            };
            text += &format!("{} {value}\n", spec.name);
        }
        text
    }
}

/// The weights of an evaluator with these names at their start: the values of `options`, or the defaults.
#[must_use]
pub fn weights(tunable: &Tunable, is_tuned: impl Fn(&str) -> bool, options: &Settings) -> Vec<Weight> {
    let weight = |spec: &plyd_core::game::Spec| {
        let Kind::Int { min, max, default } = spec.kind else { return None };
        let given = match options.get(spec.name) {
            Some(Setting::Int(value)) => Some(*value),
            _ => default,
        };
        Some(Weight { name: spec.name.to_owned(), start: given?, min, max })
    };
    tunable.weights.list.iter().filter(|spec| is_tuned(spec.name)).filter_map(weight).collect()
}

/// A line of a tuning's file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "tune", rename_all = "snake_case")]
pub enum Line {
    /// The first line.
    Terms(Terms),
    /// Each of the other lines.
    Iteration(Iteration),
}

impl Kept for Line {
    const BEGINNING: &'static [u8] = br#"{"tune":"#;
    const WHAT: &'static str = "line of a tuning";
}

/// What an iteration found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Iteration {
    /// Its number, counted from 1.
    pub number: u32,
    /// For each pair, the games that `plus` won minus those that it lost.
    pub results: Vec<i32>,
    /// The weights after it, rounded.
    pub values: Vec<i64>,
}

#[cfg(test)]
mod tests {
    use plyd_protocol::Seed;

    use super::*;
    use plyd_core::engine::Entry;
    use plyd_core::engine::conformance::chosen;
    use plyd_core::zobrist::SplitMix64;
    use plyd_games::REGISTRY;

    fn terms(tunable: &Tunable, options: Settings) -> Terms {
        Terms {
            games: Games {
                game: "g".into(),
                position: Some("a b".into()),
                moves: vec!["m1".into(), "m2".into()],
                rules: [("size", 3_i64)].into_iter().collect(),
                evaluator: tunable.evaluator.into(),
                random_plies: 2,
                max_moves: 50,
                seed: Seed(10),
                build: Some("b".into()),
            },
            weights: weights(tunable, |_| true, &options),
            options,
            nodes: 100,
            iterations: 5,
            pairs: 4,
            rate: 0.002,
            step_percent: 2.5,
        }
    }

    #[test]
    fn a_file_of_the_defaults_gives_what_the_game_has() {
        for tunable in chosen(REGISTRY).into_iter().flat_map(Entry::tunable) {
            let terms = terms(&tunable, Settings::new());
            let starts: Vec<i64> = terms.weights.iter().map(|weight| weight.start).collect();
            let values = |file: &str| -> Vec<String> {
                file.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
            };
            assert_eq!(values(&terms.file(&tunable, &starts, 40)), values(tunable.weights.file));
        }
    }

    #[test]
    fn a_line_reads_as_it_was_written_and_the_command_has_the_terms() {
        let tunable = &plyd_games::ijk::ENTRY.tunable().next().unwrap();
        let terms = terms(tunable, [("lead_full", 7_i64)].into_iter().collect());
        assert_eq!(terms.scheduled(), 40);
        for line in [
            Line::Terms(terms.clone()),
            Line::Iteration(Iteration { number: 3, results: vec![-2, 0, 1], values: vec![5, -6] }),
        ] {
            let text = serde_json::to_string(&line).unwrap();
            assert!(text.as_bytes().starts_with(Line::BEGINNING), "{text}");
            assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line);
        }
        // Or its own state would be another tuning's.
        let mut random = SplitMix64::new(1);
        for _ in 0..1000 {
            let rate = random.next() as f64 / u64::MAX as f64;
            let line = Line::Terms(Terms { rate, ..terms.clone() });
            let text = serde_json::to_string(&line).unwrap();
            assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line, "{rate}");
        }
        let command = terms.command();
        for part in [
            "plyd tune g --position 'a b' --moves m1 m2 --rules size=3",
            "lead_full=7",
            "--rate 0.002",
            "--seed a",
        ] {
            assert!(command.contains(part), "{command}");
        }
        assert_eq!(terms.difference(&terms), None);
        assert_eq!(terms.difference(&Terms { rate: 0.003, ..terms.clone() }), Some("--rate"));
    }
}
