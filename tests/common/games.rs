//! The games that tests check, and positions in which to check them, all from the registry.

use std::sync::Arc;

use plyd::bridge;
use plyd::effort::Effort;
use plyd::engine::{AnyRoot, Entry, ToMove};
use plyd::game::{Kind, Rules, Setting};
use plyd::games::REGISTRY;
use serde_json::{Value, json};

use super::common::Random;

/// The games that are tested: all, or the one that the environment names, as in `PLYD_GAME=ijk cargo test`.
pub(crate) fn games() -> Vec<&'static Entry> {
    let name = std::env::var_os("PLYD_GAME").filter(|name| !name.is_empty());
    let name = name.map(|name| name.to_string_lossy().into_owned());
    chosen(name.as_deref()).unwrap_or_else(|unknown| panic!("{unknown}"))
}

fn chosen(name: Option<&str>) -> Result<Vec<&'static Entry>, String> {
    let is_chosen = |entry: &&&Entry| name.is_none_or(|name| entry.name == name);
    let games: Vec<_> = REGISTRY.iter().filter(is_chosen).copied().collect();
    if games.is_empty() {
        let names: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
        return Err(format!(
            "there is no game `{}`, which PLYD_GAME names; there are: {}",
            name.unwrap_or_default(),
            names.join(", ")
        ));
    }
    Ok(games)
}

/// A position that a game brings: rules, and where it starts.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) entry: &'static Entry,
    pub(crate) rules: Rules,
    /// The position's text; none for the rules' own start.
    pub(crate) start: Option<String>,
}

impl Place {
    /// The rules as a text with commas, the position as a text, or nothing.
    fn new(entry: &'static Entry, rules: &str, start: &str) -> Self {
        let rules = rules.split(',').filter(|rule| !rule.is_empty()).map(|rule| setting(entry, rule));
        let start = Some(start.to_owned()).filter(|text| !text.is_empty());
        Self { entry, rules: Rules::new(rules.collect()), start }
    }

    /// Another position under the same rules.
    pub(crate) fn at(&self, text: &str) -> Self {
        Self { start: Some(text.to_owned()), ..self.clone() }
    }

    /// The position.
    pub(crate) fn root(&self) -> Arc<dyn AnyRoot> {
        (self.entry.open)(&self.rules, self.start.as_deref(), &Effort::free())
            .unwrap_or_else(|error| panic!("{self}: {error:?}"))
    }

    /// The fields of a request that name the game and its rules.
    pub(crate) fn game(&self) -> Value {
        json!({ "game": self.entry.name, "rules": bridge::rules(&self.rules) })
    }

    /// The field `position` of a request, some moves later. The start is named, as some rules draw theirs.
    pub(crate) fn position(&self, moves: &[String]) -> Value {
        json!({ "start": self.root().text(), "moves": moves })
    }

    /// The rules as the commands take them.
    pub(crate) fn rules_text(&self) -> String {
        self.rules.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
    }

    /// Some plies at random, fewer if the game ends sooner.
    pub(crate) fn stroll(&self, random: &mut Random, plies: usize) -> Vec<String> {
        let mut root = self.root();
        for _ in 0..plies {
            let moves = next(root.as_ref());
            if moves.is_empty() {
                break;
            }
            root = root.extend(&[random.pick(&moves).clone()]).unwrap();
        }
        root.played().to_vec()
    }

    /// About so many plies at random, after which a player is to move.
    fn stroll_to_move(&self, random: &mut Random, plies: usize) -> Vec<String> {
        let mut moves = self.stroll(random, plies);
        let root = |moves: &[String]| self.root().extend(moves).unwrap();
        while root(&moves).outcome().is_some() {
            moves.pop();
        }
        while root(&moves).to_move() == ToMove::Chance {
            moves.push(random.pick(&next(root(&moves).as_ref())).clone());
        }
        if root(&moves).outcome().is_some() { Vec::new() } else { moves }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: {}", self.entry.name, self.rules_text(), self.start.as_deref().unwrap_or("start"))
    }
}

/// What can be played: the moves, or at a chance node the outcomes.
pub(crate) fn next(root: &dyn AnyRoot) -> Vec<String> {
    match root.to_move() {
        ToMove::Chance => root.chance().into_iter().map(|outcome| outcome.mv).collect(),
        ToMove::Player(_) => root.legal(),
    }
}

/// Whether the game counts points, so that a win at once may be less than another.
pub(crate) fn counts_points(entry: &'static Entry) -> bool {
    let mut random = Random::new(1);
    let outcome = places(entry).into_iter().find_map(|place| {
        let moves = place.stroll(&mut random, 500);
        place.root().extend(&moves).unwrap().outcome()
    });
    outcome.is_some_and(|outcome| outcome.scores.is_some())
}

/// All positions that a game brings: its start, those with counts, those of the benchmark.
pub(crate) fn places(entry: &'static Entry) -> Vec<Place> {
    let counted = counted(entry).into_iter().map(|(place, _)| place);
    let searched = entry.bench.iter().map(|bench| Place::new(entry, bench.rules, bench.position));
    std::iter::once(Place::new(entry, "", "")).chain(counted).chain(searched).collect()
}

/// At most so many of these positions, with at most so many moves each: of as many rules as can be.
pub(crate) fn few(entry: &'static Entry, most: usize, moves: usize) -> Vec<Place> {
    let mut places: Vec<Place> = places(entry);
    places.retain(|place| {
        let root = place.root();
        root.outcome().is_none() && next(root.as_ref()).len() <= moves
    });
    let of_rules = |place: &Place| place.rules_text();
    let mut few: Vec<Place> = Vec::new();
    while few.len() < most && !places.is_empty() {
        let least = |place: &Place| few.iter().filter(|other| of_rules(other) == of_rules(place)).count();
        let at = (0..places.len()).min_by_key(|&at| least(&places[at])).unwrap();
        few.push(places.remove(at));
    }
    assert!(!few.is_empty(), "{}: no position has {moves} moves or fewer", entry.name);
    few
}

/// What searches can be asked: the fields of a request that name a game and its rules, and its `position`,
/// from at most so many positions with at most so many moves each.
pub(crate) fn questions(entry: &'static Entry, most: usize, moves: usize) -> Vec<(Value, Value)> {
    let mut random = Random::new(5);
    let question = |(place, plies): (Place, usize)| {
        (place.game(), place.position(&place.stroll_to_move(&mut random, plies)))
    };
    few(entry, most, moves).into_iter().zip([0, 2, 5].into_iter().cycle()).map(question).collect()
}

/// The positions of a game's `perft.txt`, with the counts.
pub(crate) fn counted(entry: &'static Entry) -> Vec<(Place, Vec<u64>)> {
    let lines = entry.perft.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let counted = lines.map(|line| {
        let [rules, position, counts] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{}: `{line}` has not three fields", entry.name)
        };
        let counts = counts.split_whitespace().map(|count| count.parse().unwrap());
        (Place::new(entry, rules, position), counts.collect())
    });
    counted.collect()
}

fn setting(entry: &Entry, rule: &str) -> (&'static str, Setting) {
    let known = rule
        .split_once('=')
        .and_then(|(name, value)| Some((entry.rules.iter().find(|spec| spec.name == name)?, value)));
    let Some((spec, value)) = known else { panic!("{}: there is no rule `{rule}`", entry.name) };
    let value = match spec.kind {
        Kind::Bool { .. } => Setting::Bool(value.parse().unwrap()),
        Kind::Int { .. } => Setting::Int(value.parse().unwrap()),
        Kind::Choice(_) | Kind::OpenChoice(_) | Kind::Seed => Setting::from(value),
        Kind::ChoiceOrInt { .. } => value.parse().map_or_else(|_| Setting::from(value), Setting::Int),
    };
    (spec.name, value)
}

#[test]
fn a_game_is_chosen_by_its_name() {
    assert_eq!(chosen(None).unwrap().len(), REGISTRY.len());
    for entry in REGISTRY {
        assert_eq!(chosen(Some(entry.name)).unwrap().len(), 1);
    }
    for unknown in ["chess", "l game", "\u{fffd}"] {
        let told = chosen(Some(unknown)).err().unwrap();
        assert!(REGISTRY.iter().all(|entry| told.contains(entry.name)), "{told}");
    }
}
