//! What `describe` lists: games, settings and their defaults, schemas, limits.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::requests::newgame;
use super::trial::{Trial, result_like};
use super::verdict::{Checked, Stop, holds, like, list, number, text, texts};

/// The games that are offered, of those that the referee knows.
pub(super) fn known(trial: &Trial<'_>, peer: &Conversation<'_>) -> Checked<Vec<Value>> {
    let games = [
        json!({ "game": "l-game" }),
        json!({ "game": "l-game", "rules": { "neutrals": "both" } }),
        json!({ "game": "l-game", "rules": { "neutrals": "compulsory" } }),
        json!({ "game": "isolation" }),
        json!({ "game": "isolation", "rules": { "width": 3, "height": 4 } }),
        json!({ "game": "sudoku", "rules": { "m": 2, "n": 2 } }),
        json!({ "game": "colosseum", "rules": { "size": 5, "seed": "1" } }),
        json!({ "game": "ijk" }),
        json!({ "game": "ijk", "rules": { "mode": "nondet" } }),
    ];
    let is_known =
        |game: &Value| trial.referee().knows(game) && peer.offers(game["game"].as_str().unwrap_or_default());
    let offered: Vec<Value> = games.into_iter().filter(is_known).collect();
    if offered.is_empty() {
        Err(Stop::skipped("none of the games that the referee knows is offered"))
    } else {
        Ok(offered)
    }
}

pub(super) fn games(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let body = peer.result(&json!({ "id": "d", "cmd": "describe", "what": "games" }))?["body"].clone();
    let mut named = Vec::new();
    for game in body.as_array().into_iter().flatten() {
        named.push(text(game, "name")?.to_owned());
        text(game, "title")?;
    }
    let mut offered = texts(&peer.hello, "games")?;
    named.sort();
    offered.sort();
    holds(named == offered, format!("the games {offered:?}"), || body.to_string())
}

/// What `describe` says about a game.
pub(super) fn described(peer: &mut Conversation<'_>, game: &Value) -> Checked<Value> {
    let request = json!({ "id": "d", "cmd": "describe", "what": "game", "game": game });
    Ok(peer.result(&request)?["body"].clone())
}

pub(super) fn game(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for game in list(&peer.hello.clone(), "games")? {
        let body = described(&mut peer, game)?;
        like(&body, &json!({ "name": game }))?;
        for field in ["title", "position", "moves", "unit"] {
            holds(!text(&body, field)?.is_empty(), format!("words in `{field}`"), || body.to_string())?;
        }
        for field in ["rules", "options", "evaluators", "players", "by"] {
            for item in list(&body, field)? {
                text(item, "name")?;
            }
        }
        holds(body["chance"].is_boolean(), "`chance`, yes or no", || body.to_string())?;
        let players = list(&body, "players")?;
        for name in ["default", "random"] {
            let is_there = players.iter().any(|player| player["name"] == name);
            holds(is_there, format!("the player `{name}`"), || body["players"].to_string())?;
        }
    }
    Ok(())
}

pub(super) fn options(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let body = peer.result(&json!({ "id": "d", "cmd": "describe", "what": "options" }))?["body"].clone();
    let names = ["player", "depth", "eval", "threads", "hash_mb", "level", "seed", "variety"];
    for name in names.into_iter().chain(peer.has("deterministic").then_some("deterministic")) {
        let is_there = body.as_array().into_iter().flatten().any(|option| option["name"] == name);
        holds(is_there, format!("the option `{name}`"), || body.to_string())?;
    }
    Ok(())
}

/// A setting as `describe` lists it.
fn setting(setting: &Value) -> Checked {
    let came = || setting.to_string();
    for field in ["name", "about"] {
        holds(!text(setting, field)?.is_empty(), format!("words in `{field}`"), came)?;
    }
    let kind = text(setting, "type")?;
    let types = ["bool", "int", "word", "word_or_int", "seed", "text"];
    holds(types.contains(&kind), format!("a `type` of {types:?}"), came)?;
    let words = setting.get("words").map(|_| texts(setting, "words")).transpose()?.unwrap_or_default();
    if kind == "word" {
        holds(!words.is_empty(), "`words` of a word", came)?;
    }
    let Some(default) = setting.get("default") else { return Ok(()) };
    let bound = |name: &str| setting[name].as_i64();
    let is_int = default.as_i64().is_some_and(|value| {
        bound("min").is_none_or(|min| min <= value) && bound("max").is_none_or(|max| value <= max)
    });
    let is_word = default.as_str().is_some_and(|word| words.iter().any(|other| other == word));
    let is_right = match kind {
        "bool" => default.is_boolean(),
        "int" => is_int,
        "word" => is_word,
        "word_or_int" => is_int || is_word,
        _ => default.is_string(),
    };
    holds(is_right, "a default of its type and within its bounds", came)
}

pub(super) fn settings(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let options = peer.result(&json!({ "id": "d", "cmd": "describe", "what": "options" }))?;
    list(&options, "body")?.iter().try_for_each(setting)?;
    for game in list(&peer.hello.clone(), "games")? {
        let body = described(&mut peer, game)?;
        for field in ["rules", "options"] {
            list(&body, field)?.iter().try_for_each(setting)?;
        }
        if let Some(levels) = body.get("levels") {
            text(levels, "measured_by")?;
            let mut before = 0;
            for rating in list(levels, "ratings")? {
                let level = number(rating, "level")?;
                let is_next = level > before && rating["elo"].is_i64() && rating["error"].is_u64();
                holds(is_next, "rising levels, each with its `elo` and `error`", || levels.to_string())?;
                before = level;
            }
        }
    }
    Ok(())
}

pub(super) fn schema(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let body = peer.result(&json!({ "id": "d", "cmd": "describe", "what": "schema" }))?["body"].clone();
    let are_there = body["requests"].is_object() && body["messages"].is_object();
    holds(are_there, "`requests` and `messages`", || body.to_string())
}

pub(super) fn defaults(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for game in list(&peer.hello.clone(), "games")? {
        let body = described(&mut peer, game)?;
        for field in ["rules", "options"] {
            for setting in list(&body, field)? {
                let (name, Some(default)) = (text(setting, "name")?, setting.get("default")) else {
                    continue;
                };
                let mut request = newgame("s", &json!({ "game": game }), json!({}));
                request[field] = json!({ name: default });
                result_like(&mut peer, &request, &json!({ field: { name: default } }))?;
            }
        }
    }
    Ok(())
}

pub(super) fn limits(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    if !peer.has("byte_limits") {
        return Err(Stop::skipped("`describe limits` is not promised"));
    }
    let result = peer.result(&json!({ "id": "d", "cmd": "describe", "what": "limits" }))?;
    holds(result["body"] == peer.hello["limits"], peer.hello["limits"].to_string(), || result.to_string())
}
