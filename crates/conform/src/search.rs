//! What searches claim: moves, variations, scores and proofs, with our own rules as the referee.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::evals;
use super::figures;
use super::proofs;
use super::requests::{after, endless, go, inspect, newgame, session, stop, with};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, absent, holds, like, list, number, text, texts};

pub(super) const CHECKS: &[Check] = &[
    Check::watched("legal-moves", "each published move is legal in the searched position"),
    Check::watched("variations", "each variation is legal and stops at the end of the game"),
    Check::watched("replies", "`ponder` is a legal reply, and absent if chance comes first"),
    Check::watched("lines", "lines[0].move, lines[0].pv[0] and `move` are equal, ranks count from 1"),
    Check::watched(
        "scores",
        "a score has a bound and `eval`, `wdl` or `proof`; a margin's sign is the outcome",
    ),
    Check::watched("timing", "received, started and decided are in order"),
    Check::new("timing-clock", "`timing` is true, and on the clock of `t_us`", figures::timing),
    Check::new("stats", "`nodes`, `time_ms` and `nps` are those of the search", figures::stats),
    Check::watched("reasons", "`superseded_by` comes only with the reason `superseded`"),
    Check::watched("events", "only the requested events are sent"),
    Check::new("modes", "move, analyse and ponder end in a legal move, in each game", modes),
    Check::new("players", "every player that `describe` lists answers with a move", players),
    Check::new("hash", "`hash` is the searched position's, equal to that of `inspect`", hash),
    Check::new("multipv", "as many lines as asked for, if there are as many moves", multipv),
    Check::new("ranking", "lines with exact scores are ranked from best to worst", ranking),
    Check::new("score-side", "scores are from the root mover's view", evals::of_searches),
    Check::new("searchmoves", "only `searchmoves` are searched", searchmoves),
    Check::new("excludemoves", "`excludemoves` are not searched, and one must be left", excludemoves),
    Check::new("proofs", "announced proofs are true, and so is their distance", proofs::first),
    Check::new("proofs-of-lines", "the announced proofs of each of several lines are true", proofs::of_lines),
    Check::new(
        "proven-ends",
        "a search whose lines are all proven ends at once, in every mode",
        proofs::ends,
    ),
    Check::new(
        "only-move",
        "one legal move is played at once in mode move, and analysed in the others",
        only_move,
    ),
    Check::new("nodes", "a limit of nodes is kept, and used up unless a proof ends the search", nodes),
    Check::new("depth", "a limit of depth ends the search at it", depth),
    Check::new(
        "repeatable",
        "equal searches with one thread and a limit of nodes give equal answers",
        repeatable,
    ),
    Check::new("reset-forgets", "a session that is reset searches as a new one", reset_forgets),
    Check::new("sessionless", "without a session seeds are 0 and nothing is kept", sessionless),
    Check::new("started-first", "`started` comes first, once, and without a move", started_first),
    Check::new("interval", "each event is sent at most once in `min_interval_ms`", interval),
    Check::new("skipped", "messages that a newer one replaced are counted in `skipped`", figures::skipped),
    Check::new("anytime", "with an unknown deadline the answer is the last `best` move sent", anytime),
    Check::new("game-over", "a go after the end of the game is `game_over` with the outcome", game_over),
    Check::new("chance-node", "a go at a chance node is `illegal_position`", chance_node),
];

/// The games that are offered, of those that the referee knows, with a few plies into each.
fn positions(peer: &mut Conversation<'_>) -> Checked<Vec<(Value, Value)>> {
    let games = [
        json!({ "game": "l-game" }),
        json!({ "game": "l-game", "rules": { "neutrals": "none" } }),
        json!({ "game": "isolation" }),
        json!({ "game": "isolation", "rules": { "width": 4, "height": 5 } }),
        json!({ "game": "sudoku", "rules": { "m": 2, "n": 2 } }),
        json!({ "game": "colosseum", "rules": { "size": 5, "seed": "1" } }),
        json!({ "game": "ijk" }),
        json!({ "game": "ijk", "rules": { "mode": "nondet" } }),
    ];
    let mut found = Vec::new();
    for game in games {
        if !peer.offers(text(&game, "game")?) {
            continue;
        }
        let mut position = json!({});
        for ply in 0..4_usize {
            let id = format!("at{}", found.len());
            let result =
                peer.result(&inspect(&id, &game, &position, &["to_move", "legal", "chance", "outcome"]))?;
            if result["to_move"] == "chance" {
                let drawn = text(&list(&result, "chance")?[0], "move")?.to_owned();
                position = after(&position, &[drawn]);
                continue;
            }
            if !result["outcome"].is_null() {
                break;
            }
            if ply != 1 {
                found.push((game.clone(), position.clone()));
            }
            let legal = texts(&result, "legal")?;
            let Some(mv) = legal.get(legal.len() / 2) else { break };
            position = after(&position, std::slice::from_ref(mv));
        }
    }
    if found.is_empty() {
        Err(Stop::skipped("none of the games that the referee knows is offered"))
    } else {
        Ok(found)
    }
}

/// A conversation that brings messages of every kind, for the monitor to judge.
pub(super) fn everything(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    peer.ping()?;
    peer.ask(&json!({ "id": "d", "cmd": "describe", "what": "options" }))?;
    peer.ask(&json!({ "id": "t", "cmd": "status" }))?;
    peer.ask(&json!({ "id": "e", "cmd": "ping", "wings/~": 2 }))?;
    peer.send_line(b"[]")?;
    peer.fault()?;
    let all = json!({ "events": ["started", "best", "progress"] });
    for (index, (game, position)) in positions(&mut peer)?.into_iter().enumerate() {
        let limit = json!({ "limit": { "nodes": 2000, "depth": 6 } });
        let search =
            with(go(&format!("g{index}"), &game, limit), &json!({ "position": position, "info": all }));
        let several = with(search.clone(), &json!({ "multipv": 1 + index % 3 }));
        peer.ask(if peer.lacking(&several).is_none() { &several } else { &search })?;
        peer.ask(&inspect(&format!("i{index}"), &game, &position, &["hash", "eval", "board", "record"]))?;
    }
    if let Ok(game) = peer.vast_game() {
        peer.ask(&newgame("s", &game, json!({})))?;
        let analysis = go("g", &session("s"), json!({ "mode": "analyse", "info": all }));
        let search = go("g", &session("s"), with(endless(), &json!({ "info": all })));
        peer.send(if peer.lacking(&analysis).is_none() { &analysis } else { &search })?;
        peer.ask(&inspect("i", &session("s"), &json!({ "moves": ["nonsense"] }), &["legal"]))?;
        peer.ask(&stop("g"))?;
        peer.last("g")?;
        peer.ask(&go(
            "quiet",
            &session("s"),
            json!({ "limit": { "nodes": 5000 }, "info": { "events": [] } }),
        ))?;
    }
    // What was sent before is answered now; nothing comes twice.
    peer.ping()
}

fn modes(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let positions = positions(&mut peer)?;
    let mut unknown = Vec::new();
    for (index, (game, position)) in positions.iter().enumerate() {
        for mode in ["move", "analyse", "ponder"] {
            let fields = json!({ "position": position, "mode": mode, "limit": { "nodes": 500, "depth": 3 } });
            let request = go(&format!("{mode}{index}"), game, fields);
            if peer.lacking(&request).is_some() {
                continue;
            }
            let best = peer.best(&request)?;
            // The monitor has judged it, if it knows the position; else the server's own rules do.
            let rules = peer.result(&inspect("legal", game, position, &["legal"]))?;
            let legal = texts(&rules, "legal")?;
            let is_legal = legal.iter().any(|mv| best["move"] == mv.as_str());
            holds(is_legal, format!("a move of {legal:?}"), || best.to_string())?;
            if trial.referee().knows(game) && trial.referee().root(game, position).is_none() {
                unknown.push(format!("{game} {position}"));
            }
        }
    }
    holds(unknown.is_empty(), "positions as the rules of our games have them", || unknown.join(", "))
}

fn players(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let mut count = 0;
    for (game, position) in positions(&mut peer)? {
        if position.get("moves").is_none() {
            continue;
        }
        let about = json!({ "id": "d", "cmd": "describe", "what": "game", "game": game["game"] });
        let body = peer.result(&about)?["body"].clone();
        for player in list(&body, "players")? {
            count += 1;
            let fields = json!({ "position": position, "limit": { "nodes": 300, "depth": 2 },
                "options": { "player": player["name"], "depth": 1 } });
            peer.best(&go(&format!("g{count}"), &game, fields))?;
        }
    }
    Ok(())
}

fn hash(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for (index, (game, position)) in positions(&mut peer)?.into_iter().enumerate() {
        let result = peer.result(&inspect(&format!("i{index}"), &game, &position, &["hash"]))?;
        let fields = json!({ "position": position, "limit": { "nodes": 10 } });
        let best = peer.best(&go(&format!("g{index}"), &game, fields))?;
        like(&best, &json!({ "hash": result["hash"] }))?;
    }
    Ok(())
}

/// A limit that is enough to search all moves, in a mode in which that is done even if there is only one.
fn small(peer: &Conversation<'_>) -> Value {
    let mode = if peer.has("analyse") { "analyse" } else { "move" };
    json!({ "mode": mode, "limit": { "nodes": 2000, "depth": 2 } })
}

fn multipv(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for (index, (game, position)) in positions(&mut peer)?.into_iter().enumerate() {
        let result = peer.result(&inspect(&format!("i{index}"), &game, &position, &["legal"]))?;
        let legal = texts(&result, "legal")?.len();
        for asked in [1, 3, 1000] {
            let fields = with(small(&peer), &json!({ "position": position, "multipv": asked }));
            let best = peer.best(&go(&format!("g{index}-{asked}"), &game, fields))?;
            let (lines, wanted) = (list(&best, "lines")?.len(), legal.min(asked));
            holds(lines == wanted, format!("{wanted} lines of {legal} moves"), || {
                format!("{lines}: {best}")
            })?;
        }
    }
    Ok(())
}

/// A line's exact score as a number that orders such scores of a game.
fn worth(line: &Value) -> Option<(i64, i64)> {
    let score = line.get("score").filter(|score| score["bound"] == "exact")?;
    let Some(proof) = score.get("proof") else { return score["eval"].as_i64().map(|eval| (0, eval)) };
    if let Some(margin) = proof["margin"].as_i64() {
        return Some((0, margin * 1000));
    }
    let plies = proof["plies"].as_i64()?;
    match proof["outcome"].as_str()? {
        "win" => Some((1, -plies)),
        "loss" => Some((-1, plies)),
        _ => None,
    }
}

fn ranking(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for (index, (game, position)) in positions(&mut peer)?.into_iter().enumerate() {
        let fields = with(small(&peer), &json!({ "position": position, "multipv": 5 }));
        let best = peer.best(&go(&format!("g{index}"), &game, fields))?;
        for pair in list(&best, "lines")?.windows(2) {
            // Lines of different depths are of different searches, and a bound is no value.
            let (Some(better), Some(worse)) = (worth(&pair[0]), worth(&pair[1])) else { continue };
            if pair[0]["depth"] == pair[1]["depth"] {
                holds(better >= worse, "the better score first", || {
                    format!("{} above {}", pair[0], pair[1])
                })?;
            }
        }
    }
    Ok(())
}

fn searchmoves(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for (index, (game, position)) in positions(&mut peer)?.into_iter().enumerate() {
        let result = peer.result(&inspect(&format!("i{index}"), &game, &position, &["legal"]))?;
        let legal = texts(&result, "legal")?;
        for wanted in [&legal[legal.len() - 1..], &legal[..legal.len().min(2)]] {
            let fields =
                with(small(&peer), &json!({ "position": position, "multipv": 9, "searchmoves": wanted }));
            let best = peer.best(&go(&format!("g{index}-{}", wanted.len()), &game, fields))?;
            let lines = list(&best, "lines")?;
            let is_wanted = lines.iter().all(|line| wanted.iter().any(|mv| line["move"] == mv.as_str()));
            holds(is_wanted && lines.len() == wanted.len(), format!("lines of {wanted:?}"), || {
                best.to_string()
            })?;
        }
    }
    Ok(())
}

fn excludemoves(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for (index, (game, position)) in positions(&mut peer)?.into_iter().enumerate() {
        let result = peer.result(&inspect(&format!("i{index}"), &game, &position, &["legal"]))?;
        let legal = texts(&result, "legal")?;
        let whole = go(&format!("g{index}"), &game, with(small(&peer), &json!({ "position": position })));
        let first = text(&peer.best(&whole)?, "move")?.to_owned();
        if legal.len() > 1 {
            let best = peer.best(&with(whole.clone(), &json!({ "excludemoves": [first] })))?;
            holds(best["move"] != first.as_str(), format!("another move than {first}"), || best.to_string())?;
        }
        let all = with(whole, &json!({ "excludemoves": legal }));
        peer.refused(&all, &json!({ "code": "illegal_move", "pointer": "/excludemoves" }))?;
    }
    Ok(())
}

fn only_move(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    peer.needs("isolation")?;
    // 11x9; from the corner a knight has two jumps, and one of them is blocked.
    let rows = format!("1........../..x......../{}2.......... 1", ".........../".repeat(6));
    let game = json!({ "game": "isolation" });
    let position = json!({ "start": rows });
    let result = peer.result(&inspect("i", &game, &position, &["legal"]))?;
    like(&result, &json!({ "legal": ["b3"] }))?;
    for (id, fields) in [("a", endless()), ("b", json!({ "clock": { "kind": "per_move", "ms": 600_000 } }))] {
        let best =
            peer.best(&go(id, &game, with(fields, &json!({ "position": position, "hard_ms": 3000 }))))?;
        let is_right = ["only_move", "proven"].iter().any(|reason| best["reason"] == *reason);
        holds(is_right && best["move"] == "b3", "`only_move` b3 at once", || best.to_string())?;
    }
    for mode in ["analyse", "ponder"] {
        let fields = json!({ "position": position, "mode": mode, "limit": { "nodes": 3000 } });
        let best = peer.best(&go(mode, &game, fields))?;
        let is_right = best["reason"] != "only_move" && best["move"] == "b3";
        holds(is_right, "b3, analysed until the limit", || best.to_string())?;
    }
    Ok(())
}

fn nodes(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    for nodes in [1, 10, 1000, 20_000, 60_000] {
        let fields = json!({ "limit": { "nodes": nodes }, "options": { "threads": 1 } });
        let best = peer.best(&go(&format!("g{nodes}"), &game, fields))?;
        like(&best, &json!({ "reason": "limit" }))?;
        let searched = number(&best["stats"], "nodes")?;
        // A search may check its limit only now and then.
        holds(searched <= nodes + 2048, format!("{nodes} nodes, and some at most"), || {
            format!("{searched}: {best}")
        })?;
        holds(searched + 2048 >= nodes / 10 * 9, format!("{nodes} nodes that are used up"), || {
            format!("{searched}: {best}")
        })?;
    }
    Ok(())
}

fn depth(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    for depth in [1, 2, 3] {
        let fields = json!({ "limit": { "depth": depth } });
        let best = peer.best(&go(&format!("g{depth}"), &game, fields))?;
        like(&best, &json!({ "reason": "limit" }))?;
        let reached = number(&best["lines"][0], "depth")?;
        holds(reached == depth, format!("depth {depth}"), || format!("{reached}: {best}"))?;
    }
    Ok(())
}

fn repeatable(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let fields = json!({ "limit": { "nodes": 5000 }, "options": { "threads": 1, "deterministic": true, "seed": "5" } });
    let first = peer.best(&go("g0", &game, fields.clone()))?;
    for round in 1..4 {
        let again = peer.best(&go(&format!("g{round}"), &game, fields.clone()))?;
        like(&again, &json!({ "move": first["move"], "lines": first["lines"], "hash": first["hash"] }))?;
    }
    Ok(())
}

/// A deterministic search that uses what its session keeps.
fn fixed() -> Value {
    json!({ "limit": { "nodes": 50_000 }, "options": { "threads": 1, "seed": "5" } })
}

fn reset_forgets(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let open = newgame("s", &game, json!({ "seed": "5" }));
    peer.result(&open)?;
    let first = peer.best(&go("g0", &session("s"), fixed()))?;
    // What these searches leave in the session must be forgotten.
    for round in 1..4 {
        peer.best(&go(&format!("g{round}"), &session("s"), fixed()))?;
    }
    peer.result(&with(open, &json!({ "id": "again" })))?;
    let again = peer.best(&go("g4", &session("s"), fixed()))?;
    like(&again, &json!({ "move": first["move"], "lines": first["lines"], "hash": first["hash"] }))
}

fn sessionless(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let chosen = json!({ "limit": { "nodes": 1 }, "options": { "player": "random", "threads": 1 } });
    let first = peer.best(&go("g0", &game, chosen.clone()))?;
    for round in 1..6 {
        let again = peer.best(&go(&format!("g{round}"), &game, chosen.clone()))?;
        like(&again, &json!({ "move": first["move"], "hash": first["hash"] }))?;
    }
    peer.result(&newgame("s", &game, json!({ "seed": "0" })))?;
    let seeded = peer.best(&go("s0", &session("s"), chosen))?;
    like(&seeded, &json!({ "move": first["move"], "hash": first["hash"] }))
}

fn started_first(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.best(&go(
        "g",
        &game,
        json!({ "limit": { "nodes": 5000 }, "info": { "events": ["started", "best", "progress"] } }),
    ))?;
    let infos: Vec<&Value> =
        peer.log.iter().map(|heard| &heard.message).filter(|message| message["type"] == "info").collect();
    let starts = infos.iter().filter(|info| info["event"] == "started").count();
    let first = infos.first().copied().unwrap_or(&Value::Null);
    holds(starts == 1 && first["event"] == "started", "one `started`, first", || {
        format!("{starts}; {first}")
    })?;
    absent(first, "move")?;
    let has_move = infos.iter().any(|info| info["event"] == "best" && info["move"].is_string());
    holds(has_move, "a `best` with its move", || format!("{} infos", infos.len()))
}

fn interval(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let info = json!({ "events": ["best", "progress"], "min_interval_ms": 60_000 });
    peer.best(&go("g", &game, json!({ "limit": { "time_ms": 200 }, "info": info })))?;
    for event in ["best", "progress"] {
        let count = peer.log.iter().filter(|heard| heard.message["event"] == event).count();
        holds(count <= 1, format!("one `{event}` a minute"), || format!("{count}"))?;
    }
    Ok(())
}

fn anytime(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    for (id, info) in [("a", json!({})), ("b", json!({ "events": [], "min_interval_ms": 60_000 }))] {
        let from = peer.log.len();
        peer.send(&go(id, &game, json!({ "clock": { "kind": "anytime", "hint_ms": 1 }, "info": info })))?;
        peer.until(from, &format!("a `best` of `{id}`"), |message| message["event"] == "best")?;
        for _ in 0..20 {
            peer.ping()?;
        }
        holds(peer.is_open(id), "it goes on until it is stopped", || "it ended".into())?;
        peer.result(&stop(id))?;
        let best = peer.last(id)?;
        like(&best, &json!({ "reason": "stopped" }))?;
        let news = peer.log[from..].iter().rev().find(|heard| heard.message["event"] == "best");
        let last = news.map(|heard| heard.message["move"].clone());
        holds(last.as_ref() == Some(&best["move"]), "the move of the last `best`", || best.to_string())?;
    }
    Ok(())
}

fn game_over(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    peer.needs("isolation")?;
    let game = json!({ "game": "isolation" });
    let position = json!({ "start": "1xx/xxx/xx2 1" });
    let outcome = peer.result(&inspect("i", &game, &position, &["outcome"]))?["outcome"].clone();
    like(&outcome, &json!({ "winner": "p2" }))?;
    for mode in ["move", "analyse", "ponder"] {
        let fields = json!({ "position": position, "mode": mode, "limit": { "nodes": 5 } });
        let wanted = json!({ "code": "game_over", "pointer": "/position", "outcome": outcome });
        peer.refused(&go(mode, &game, fields), &wanted)?;
    }
    Ok(())
}

fn chance_node(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    peer.needs("ijk")?;
    let game = json!({ "game": "ijk", "rules": { "mode": "nondet" } });
    let mut position = json!({});
    for ply in 0..4 {
        let result =
            peer.result(&inspect(&format!("i{ply}"), &game, &position, &["to_move", "legal", "chance"]))?;
        if result["to_move"] == "chance" {
            like(&result, &json!({ "legal": [] }))?;
            holds(!list(&result, "chance")?.is_empty(), "chance outcomes", || result.to_string())?;
            let fields = json!({ "position": position, "limit": { "nodes": 5 } });
            let wanted = json!({ "code": "illegal_position", "pointer": "/position" });
            peer.refused(&go("g", &game, fields), &wanted)?;
            return Ok(());
        }
        let legal = texts(&result, "legal")?;
        position = after(&position, &legal[..legal.len().min(1)]);
    }
    Err(Stop::failed("a chance node within 4 plies of `nondet`", "none"))
}
