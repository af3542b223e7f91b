//! The bodies of `describe`: what the registry says about games, in the wire's words.

use plyd_protocol as wire;
use plyd_protocol::{
    DescribeWhat, ErrorCode, GameInfo, GameSummary, LessonStep, LevelRating, LevelsInfo, SettingInfo,
    SettingKind, Word,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::log::targets;
use crate::state::request_error::RequestError;
use plyd_bridge as bridge;
use plyd_core::engine::levels::{Level, Rating};
use plyd_core::engine::settings;
use plyd_core::engine::{self, Entry};
use plyd_core::game::{Kind, Named, Spec};
use plyd_core::options::COMMON;

/// The game of that name.
///
/// # Errors
/// `game_unknown` at `/game`.
pub(super) fn entry(games: &[&'static Entry], name: &str) -> Result<&'static Entry, RequestError> {
    games.iter().copied().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = games.iter().map(|entry| entry.name).collect();
        RequestError::new(ErrorCode::GameUnknown, format!("the games are: {}", known.join(", "))).at("/game")
    })
}

/// What `describe` answers.
///
/// # Errors
/// `missing_field` or `game_unknown` at `/game`.
pub(super) fn body(games: &[&'static Entry], asked: &wire::Describe) -> Result<Value, RequestError> {
    let named = match asked.what {
        DescribeWhat::Game | DescribeWhat::Options => {
            asked.game.as_deref().map(|name| entry(games, name)).transpose()?
        }
        DescribeWhat::Games | DescribeWhat::Schema | DescribeWhat::Limits => None,
    };
    match (asked.what, named) {
        (DescribeWhat::Games, _) => json(&games.iter().map(|entry| summary(entry)).collect::<Vec<_>>()),
        (DescribeWhat::Game, Some(entry)) => json(&game(entry)),
        (DescribeWhat::Game, None) => {
            Err(RequestError::new(ErrorCode::MissingField, "which game?").at("/game"))
        }
        (DescribeWhat::Options, Some(entry)) => json(&options(entry)),
        (DescribeWhat::Options, None) => json(&common_options(games)),
        (DescribeWhat::Limits, _) => {
            Err(RequestError::new(ErrorCode::Internal, "the daemon's state answers this"))
        }
        (DescribeWhat::Schema, _) => {
            let schemas = wire::schemas().into_iter().map(|(name, schema)| (name.to_owned(), schema));
            Ok(schemas.collect::<Map<_, _>>().into())
        }
    }
}

fn json(value: &impl Serialize) -> Result<Value, RequestError> {
    serde_json::to_value(value).map_err(|error| {
        RequestError::new(ErrorCode::Internal, format!("the description is no JSON: {error}"))
    })
}

fn summary(entry: &Entry) -> GameSummary {
    GameSummary { name: entry.name.to_owned(), title: entry.about.to_owned() }
}

fn game(entry: &Entry) -> GameInfo {
    GameInfo {
        name: entry.name.to_owned(),
        title: entry.about.to_owned(),
        rules: entry.rules.iter().map(setting).collect(),
        options: options(entry),
        position: entry.position_grammar.to_owned(),
        moves: entry.move_grammar.to_owned(),
        unit: entry.unit.to_owned(),
        chance: entry.move_grammar.contains('~'),
        evaluators: words(entry.evaluators()),
        players: words(entry.players()),
        by: words(entry.endings.iter()),
        levels: levels(entry),
        // The log named the steps that cannot be read when the daemon started.
        lesson: entry.lesson.iter().filter_map(|step| lesson_step(entry, step).ok()).collect(),
        editor: entry.edits.is_some(),
    }
}

/// Logs what `describe` leaves out of lessons. A game that was registered without its conformance suite may
/// say nonsense there, and the daemon serves the rest of it all the same.
pub(crate) fn log_faults(games: &[&'static Entry]) {
    for entry in games {
        for step in entry.lesson {
            if let Err(rule) = lesson_step(entry, step) {
                tracing::warn!(
                    target: targets::LESSONS,
                    game = entry.name,
                    step = step.title,
                    rule,
                    "the lesson lacks a step: its rule cannot be read"
                );
            }
        }
    }
}

/// A step of a lesson; the rule that cannot be read, if there is one.
fn lesson_step(entry: &Entry, step: &engine::LessonStep) -> Result<LessonStep, &'static str> {
    let rules = settings::written(entry, step.rules)?;
    Ok(LessonStep {
        title: step.title.to_owned(),
        text: step.text.to_owned(),
        task: step.task.to_owned(),
        rules: bridge::rules(&rules),
        start: Some(step.start.to_owned()).filter(|text| !text.is_empty()),
        solutions: step.solutions.iter().map(|&mv| mv.to_owned()).collect(),
    })
}

/// The measured strengths of a game's levels.
fn levels(entry: &Entry) -> Option<LevelsInfo> {
    let levels = entry.levels();
    let rating = |(level, Level { rating, .. }): (u32, &Level)| {
        rating.map(|Rating { elo, error }| LevelRating { level, elo, error })
    };
    let ratings: Vec<LevelRating> = (1..).zip(&levels.list).filter_map(rating).collect();
    (!ratings.is_empty()).then(|| LevelsInfo { measured_by: levels.measured_by.to_owned(), ratings })
}

/// The options of a game's players, with the names that `player` and `eval` take there.
fn options(entry: &Entry) -> Vec<SettingInfo> {
    COMMON.iter().chain(entry.options()).map(|spec| option(spec, entry)).collect()
}

/// The options of every game, with the words of all games.
fn common_options(games: &[&'static Entry]) -> Vec<SettingInfo> {
    let mut all: Vec<SettingInfo> = Vec::new();
    for info in games.iter().flat_map(|entry| COMMON.iter().map(|spec| option(spec, entry))) {
        match all.iter_mut().find(|known| known.name == info.name) {
            None => all.push(info),
            Some(known) => {
                let new = info.words.into_iter().filter(|word| !known.words.contains(word));
                let new: Vec<String> = new.collect();
                known.words.extend(new);
                if known.default != info.default {
                    known.default = None;
                }
            }
        }
    }
    all
}

fn option(spec: &Spec, entry: &Entry) -> SettingInfo {
    let names: Vec<&Named> = match spec.name {
        "player" => entry.players().collect(),
        "eval" => entry.evaluators().collect(),
        _ => return setting(spec),
    };
    let words: Vec<String> = names.iter().map(|named| named.name.to_owned()).collect();
    SettingInfo { default: words.first().map(|first| first.as_str().into()), words, ..setting(spec) }
}

fn setting(spec: &Spec) -> SettingInfo {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let (kind, range, words) = match spec.kind {
        Kind::Bool { .. } => (SettingKind::Bool, None, Vec::new()),
        Kind::Int { min, max, .. } => (SettingKind::Int, Some((min, max)), Vec::new()),
        Kind::Choice(choices) | Kind::OpenChoice(choices) => (SettingKind::Word, None, owned(choices)),
        Kind::ChoiceOrInt { choices, min, max } => (SettingKind::WordOrInt, Some((min, max)), owned(choices)),
        Kind::Seed => (SettingKind::Seed, None, Vec::new()),
    };
    SettingInfo {
        name: spec.name.to_owned(),
        kind: kind.into(),
        default: settings::default(spec.kind).as_ref().map(bridge::setting),
        min: range.map(|(min, _)| min),
        max: range.map(|(_, max)| max),
        words,
        about: spec.about.to_owned(),
    }
}

fn words(names: impl Iterator<Item = &'static Named>) -> Vec<Word> {
    names.map(|named| Word { name: named.name.to_owned(), about: named.about.to_owned() }).collect()
}
