//! Proofs: what a search announces about small positions, beside what our own search finds there.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::referee::{self, Referee};
use super::requests::{endless, go, with};
use super::trial::Trial;
use super::verdict::{Checked, Stop, holds, like, list, text};

/// Positions that a search decides soon, in games that are offered.
pub(super) fn decided(peer: &Conversation<'_>) -> Checked<Vec<(Value, Value)>> {
    let board = |width: u32, height: u32| json!({ "game": "isolation", "rules": { "width": width, "height": height } });
    let rows = [
        (board(3, 3), json!({ "start": "1x./xx./..2 1" })),
        (board(3, 3), json!({})),
        (board(3, 4), json!({ "moves": ["a1"] })),
        (board(4, 4), json!({ "moves": ["b2", "c3"] })),
        (board(4, 4), json!({ "moves": ["a1", "d3", "b3"] })),
        (board(5, 4), json!({ "moves": ["a1", "b1"] })),
        (json!({ "game": "l-game", "rules": { "max_plies": 1 } }), json!({})),
        (json!({ "game": "l-game", "rules": { "max_plies": 2 } }), json!({})),
    ];
    let mut found = Vec::new();
    for row in rows {
        if peer.offers(text(&row.0, "game")?) {
            found.push(row);
        }
    }
    if found.is_empty() {
        Err(Stop::skipped("neither isolation nor the L Game is offered"))
    } else {
        Ok(found)
    }
}

/// Compares the proofs of an answer's lines with the referee's; returns how many there were.
fn check_proofs(referee: Referee, best: &Value, game: &Value, position: &Value) -> Checked<usize> {
    let Some(truth) = referee.root(game, position).as_ref().and_then(referee::proofs) else { return Ok(0) };
    let mut count = 0;
    for line in list(best, "lines")? {
        let (Some(claim), Some(known)) =
            (line["score"].get("proof"), truth.iter().find(|known| line["move"] == known.mv.as_str()))
        else {
            continue;
        };
        let truth = serde_json::to_value(known.score.and_then(|score| score.proof)).unwrap_or_default();
        let came = || format!("{line} at {position} of {game}");
        // A bound claims only one side of the truth.
        let rank = |proof: &Value| ["loss", "draw", "win"].iter().position(|word| proof["outcome"] == *word);
        let is_true = match line["score"]["bound"].as_str() {
            Some("lower") => rank(claim) <= rank(&truth),
            Some("upper") => rank(claim) >= rank(&truth),
            _ => rank(claim) == rank(&truth),
        };
        holds(is_true, format!("what is true: {truth}"), came)?;
        if let (Some(claimed), Some(exact)) = (claim["plies"].as_u64(), truth["plies"].as_u64()) {
            holds(claimed == exact, format!("the exact distance {exact}"), came)?;
        }
        if let (Some(most), Some(exact)) = (claim["plies_max"].as_u64(), truth["plies"].as_u64()) {
            holds(most >= exact, format!("a bound of the distance {exact}"), came)?;
        }
        count += 1;
    }
    Ok(count)
}

/// The proof of the best move is true.
pub(super) fn first(trial: &Trial<'_>) -> Checked {
    prove(trial, 1)
}

/// The proofs of all lines are true.
pub(super) fn of_lines(trial: &Trial<'_>) -> Checked {
    prove(trial, 1000)
}

fn prove(trial: &Trial<'_>, lines: u32) -> Checked {
    let mut peer = trial.greet()?;
    let mut count = 0;
    for (index, (game, position)) in decided(&peer)?.into_iter().enumerate() {
        let fields = json!({ "position": position, "mode": "analyse", "limit": { "time_ms": 1000 }, "multipv": lines });
        let best = peer.best(&go(&format!("g{index}"), &game, fields))?;
        count += check_proofs(trial.referee(), &best, &game, &position)?;
    }
    if count > 0 { Ok(()) } else { Err(Stop::skipped("the server proves nothing within a second")) }
}

/// Whether all lines of a message are proven exactly, with the number of plies.
fn is_proven(message: &Value) -> bool {
    let mut lines = message["lines"].as_array().into_iter().flatten().peekable();
    lines.peek().is_some()
        && lines.all(|line| line["score"]["bound"] == "exact" && line["score"]["proof"]["plies"].is_u64())
}

/// A search whose lines are all proven ends at once.
pub(super) fn ends(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let mut count = 0;
    let (game, position) = decided(&peer)?.swap_remove(0);
    for (index, fields) in [
        json!({ "mode": "ponder" }),
        json!({ "mode": "analyse" }),
        json!({ "mode": "analyse", "multipv": 3 }),
        endless(),
        json!({ "clock": { "kind": "anytime" } }),
        json!({ "clock": { "kind": "per_move", "ms": 600_000 } }),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("g{index}");
        // A search that does not prove it ends by the deadline.
        let fields = with(fields, &json!({ "position": position, "hard_ms": 1500 }));
        let best = peer.best(&go(&id, &game, fields.clone()))?;
        let is_announced = peer.log.iter().any(|heard| {
            heard.message["type"] == "info" && heard.message["id"] == id && is_proven(&heard.message)
        });
        if is_announced || is_proven(&best) {
            like(&best, &json!({ "reason": "proven" })).map_err(|stop| stop.at(&fields.to_string()))?;
            count += 1;
        }
    }
    if count > 0 { Ok(()) } else { Err(Stop::skipped("the server proves nothing within 1.5 s")) }
}
