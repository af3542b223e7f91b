//! The rules service: `inspect`, settings of games and sessions, with our own rules as the referee. What
//! `describe` lists is judged in `describe`.

use std::collections::{BTreeMap, BTreeSet};

use plyd_bridge as bridge;
use serde_json::{Value, json};

use super::conversation::Conversation;
use super::describe;
use super::edits;
use super::evals;
use super::liveness::rounds;
use super::referee::Root;
use super::requests::{after, endless, go, inspect, newgame, session, with};
use super::trial::{Check, Trial, result_like};
use super::verdict::{Checked, Stop, holds, like, list, number, text, texts};

const WANTS: [&str; 11] =
    ["to_move", "outcome", "legal", "moves", "chance", "board", "text", "hash", "eval", "record", "state"];

/// What a server can be asked for if it has the feature of the same name.
const OFFERED: [&str; 5] = ["svg", "actions", "decisive", "book", "edits"];

/// What may be absent: evaluations, and an advantage measured by them, a text of another referee, a book, and
/// an editor.
const MAY_BE_ABSENT: [&str; 5] = ["eval", "state", "decisive", "book", "edits"];

pub(super) const CHECKS: &[Check] = &[
    Check::new("games", "`describe games` names the games of `hello`", describe::games),
    Check::new("game", "`describe game` lists rules, options, grammars, players and endings", describe::game),
    Check::new("options", "`describe options` lists the options of every game", describe::options),
    Check::new(
        "settings",
        "a rule or an option has a name, a type, bounds that its default keeps, and words",
        describe::settings,
    ),
    Check::new("schema", "`describe schema` gives both schemas", describe::schema),
    Check::new("limits", "`describe limits` gives the limits of `hello`", describe::limits),
    Check::new("defaults", "the defaults that `describe` gives are accepted", describe::defaults),
    Check::new("wants", "`inspect` answers what `want` names and nothing else", wants),
    Check::new("legal", "legal moves, mover and outcome are those of the game's rules", legal),
    Check::new("moves", "`moves` gives the text and outcome after each legal move", moves),
    Check::new(
        "evals",
        "an `eval` in `moves` is from the view of the player who makes the move",
        evals::of_moves,
    ),
    Check::new("eval-side", "`eval` is from the mover's view", evals::of_positions),
    Check::new("texts", "a position's text can be sent back", round_trip),
    Check::new("hashes", "`hash` is equal for equal positions, and differs for others", hashes),
    Check::new("outcomes", "games end as their rules say, with a `by` that `describe` lists", outcomes),
    Check::new("chance", "chance outcomes start with `~` and are listed when chance decides", chance),
    Check::new("boards", "the primitives of `board` lie within its grid", boards),
    Check::new("pictures", "`svg` is one SVG element with a title and a description", pictures),
    Check::new("actions", "`actions` numbers the legal moves, each below `count`", actions),
    Check::new("edits", "a draft of `edits` has a fault unless it can be a start", edits::of_starts),
    Check::new("records", "a record can be sent back", records),
    Check::new("repetition", "repetition counts the positions since `start`", repetition),
    Check::new("max-plies", "`max_plies` counts the moves since `start`", max_plies),
    Check::new("start-size", "a start sets the size, unless a different size is given as a rule", start_size),
    Check::new(
        "newgame",
        "`newgame` returns the rules and options in force, the seed and the mover",
        new_game,
    ),
    Check::new("reset", "a newgame on an open session starts from the defaults", reset),
    Check::new("setoption", "`setoption` sets all options or none", set_option),
    Check::new("default-options", "`setoption` without a session applies to later sessions", default_options),
    Check::new("own-options", "the options of a `go` apply to that search only", own_options),
    Check::new("player-seeds", "equal seeds make players repeat themselves", player_seeds),
    Check::refusals("unknown-games", "an unknown game is `game_unknown`"),
    Check::refusals("rules-refused", "an unknown or impossible rule is `rules_unsupported`"),
    Check::refusals("options-refused", "a bad option is `option_unknown` or `option_invalid`"),
    Check::refusals(
        "fault-order",
        "of several faults of state the first in the order of the list is reported",
    ),
    Check::refusals("positions-refused", "a bad start is `bad_position` or `illegal_position`"),
    Check::refusals("moves-refused", "an illegal move is reported by its index"),
    Check::refusals("game-over", "a go after the end of the game is `game_over`"),
];

/// Walks through each game, and passes on what `inspect` answers and the referee knows at each ply.
fn walk(
    trial: &Trial<'_>,
    plies: usize,
    want: &[&str],
    mut see: impl FnMut(&mut Conversation<'_>, &Value, &Value, &Value, &Root) -> Checked,
) -> Checked {
    let mut peer = trial.greet()?;
    for game in describe::known(trial, &peer)? {
        let mut position = json!({});
        for ply in 0..plies {
            let Some(root) = trial.referee().root(&game, &position) else {
                return Err(Stop::failed(
                    "positions as the rules of the game have them",
                    format!("{position} of {game}"),
                ));
            };
            let result = peer.result(&inspect("i", &game, &position, want))?;
            see(&mut peer, &game, &position, &result, &root)
                .map_err(|stop| stop.at(&format!("{position} of {game}")))?;
            let mut next = root.legal();
            next.extend(root.chance().into_iter().map(|outcome| outcome.mv));
            next.sort();
            // A way through the game, the same in each run.
            let Some(mv) = next.get((ply * 7 + 3) % next.len().max(1)) else { break };
            position = after(&position, std::slice::from_ref(mv));
        }
    }
    Ok(())
}

fn wants(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let offered: Vec<&str> = OFFERED.into_iter().filter(|want| peer.has(want)).collect();
    let wants: Vec<&str> = WANTS.into_iter().chain(offered).collect();
    for game in describe::known(trial, &peer)? {
        let all = peer.result(&inspect("all", &game, &json!({}), &wants))?;
        for &want in &wants {
            let one = peer.result(&inspect(want, &game, &json!({}), &[want]))?;
            // With an evaluation each of `moves` has its own, too.
            if !MAY_BE_ABSENT.contains(&want) {
                holds(one.get(want).is_some(), format!("`{want}`"), || one.to_string())?;
            }
            if want != "moves" {
                holds(one.get(want) == all.get(want), format!("{want} {}", all[want]), || one.to_string())?;
            }
            let other = wants.iter().find(|other| **other != want && one.get(**other).is_some());
            holds(other.is_none(), format!("nothing but `{want}`"), || one.to_string())?;
        }
        let default = peer.result(&with(json!({ "id": "d", "cmd": "inspect", "position": {} }), &game))?;
        let found: Vec<&&str> = wants.iter().filter(|want| default.get(**want).is_some()).collect();
        let is_default = found.iter().map(|want| **want).eq(["to_move", "outcome", "legal"]);
        holds(is_default, "to_move, outcome and legal", || default.to_string())?;
    }
    Ok(())
}

fn legal(trial: &Trial<'_>) -> Checked {
    walk(trial, 12, &["legal", "to_move", "outcome"], |_, _, _, result, root| {
        let (mut legal, mut known) = (texts(result, "legal")?, root.legal());
        legal.sort();
        known.sort();
        holds(legal == known, format!("the moves {known:?}"), || format!("{legal:?}"))?;
        let to_move = serde_json::to_value(bridge::to_move(root.to_move())).unwrap_or_default();
        let outcome = root.outcome().map(|outcome| json!(outcome.winner.map(bridge::player)));
        like(result, &json!({ "to_move": to_move }))?;
        let is_same = outcome.is_some() != result["outcome"].is_null();
        holds(is_same, format!("the outcome {outcome:?}"), || result.to_string())
    })
}

fn moves(trial: &Trial<'_>) -> Checked {
    walk(trial, 6, &["legal", "moves"], |_, _, _, result, root| {
        let known = root.moves(None).unwrap_or_default();
        let moves = list(result, "moves")?;
        let of = |entry: &Value| entry["move"].as_str().map(str::to_owned);
        let mut named: Vec<String> = moves.iter().filter_map(of).collect();
        let mut legal = texts(result, "legal")?;
        named.sort();
        legal.sort();
        holds(named == legal, "an entry for each legal move", || result["moves"].to_string())?;
        for entry in moves {
            let Some(known) = known.iter().find(|known| entry["move"] == known.mv.as_str()) else { continue };
            let is_same = entry["text"] == known.text.as_str()
                && entry.get("outcome").is_some_and(|outcome| !outcome.is_null()) == known.outcome.is_some();
            holds(is_same, format!("the text {} and outcome {:?}", known.text, known.outcome), || {
                entry.to_string()
            })?;
        }
        Ok(())
    })
}

fn round_trip(trial: &Trial<'_>) -> Checked {
    walk(trial, 8, &["text", "hash", "legal"], |peer, game, _, result, root| {
        let known = root.text();
        holds(result["text"] == known.as_str(), format!("the text {known}"), || result.to_string())?;
        let again = json!({ "start": result["text"] });
        // A rule that draws the start is not part of the text.
        let again = peer.result(&inspect("again", game, &again, &["text", "hash", "legal"]))?;
        like(&again, &json!({ "text": result["text"], "hash": result["hash"], "legal": result["legal"] }))
    })
}

fn hashes(trial: &Trial<'_>) -> Checked {
    let mut seen: Vec<(Value, Value, Value)> = Vec::new();
    walk(trial, 10, &["hash", "text"], |peer, game, position, result, _| {
        let again = peer.result(&inspect("again", game, position, &["hash"]))?;
        like(&again, &json!({ "hash": result["hash"] }))?;
        for (other, hash, text) in &seen {
            if other == game {
                let agree = (*hash == result["hash"]) == (*text == result["text"]);
                holds(agree, "equal hashes for equal positions alone", || {
                    format!("{result}, before {text} {hash}")
                })?;
            }
        }
        seen.push((game.clone(), result["hash"].clone(), result["text"].clone()));
        Ok(())
    })?;
    let mut peer = trial.greet()?;
    peer.needs("l-game")?;
    let game = json!({ "game": "l-game" });
    // The same position, written otherwise.
    let mut hash =
        |id: &str, start: &str| peer.result(&inspect(id, &game, &json!({ "start": start }), &["hash"]));
    let written = hash("a", "3 1 W 1 1 4 4 2 4 E 1")?;
    like(&hash("b", "3 1 w 4 4 1 1 2 4 e 1")?, &json!({ "hash": written["hash"] }))
}

fn outcomes(trial: &Trial<'_>) -> Checked {
    let mut endings = Vec::new();
    walk(trial, 400, &["outcome", "legal"], |peer, game, position, result, root| {
        let Some(known) = root.outcome() else {
            return holds(result["outcome"].is_null(), "a game that goes on", || result.to_string());
        };
        let known = serde_json::to_value(bridge::outcome(known)).unwrap_or_default();
        let mut wanted = json!({ "winner": known["winner"] });
        if let Some(scores) = known.get("scores") {
            wanted["scores"] = scores.clone();
        }
        like(&result["outcome"], &wanted)?;
        like(result, &json!({ "legal": [] }))?;
        let body = describe::described(peer, &game["game"])?;
        let is_listed = list(&body, "by")?.iter().any(|by| by["name"] == result["outcome"]["by"]);
        holds(is_listed, "a `by` that `describe` lists", || result.to_string())?;
        endings.push(position.clone());
        Ok(())
    })?;
    if endings.is_empty() { Err(Stop::skipped("no game came to its end")) } else { Ok(()) }
}

fn chance(trial: &Trial<'_>) -> Checked {
    walk(trial, 6, &["to_move", "legal", "chance"], |_, _, _, result, root| {
        let mut known: Vec<String> = root.chance().into_iter().map(|outcome| outcome.mv).collect();
        let outcomes = list(result, "chance")?;
        let of = |outcome: &Value| outcome["move"].as_str().map(str::to_owned);
        let mut named: Vec<String> = outcomes.iter().filter_map(of).collect();
        known.sort();
        named.sort();
        holds(named == known, format!("the outcomes {known:?}"), || result.to_string())?;
        holds(named.iter().all(|mv| mv.starts_with('~')), "outcomes that start with `~`", || {
            result.to_string()
        })?;
        let is_chance = result["to_move"] == "chance";
        holds(is_chance != named.is_empty(), "outcomes where chance is to move", || result.to_string())
    })
}

fn boards(trial: &Trial<'_>) -> Checked {
    walk(trial, 6, &["board"], |_, _, _, result, _| {
        let board = &result["board"];
        let (rows, cols) = (number(&board["grid"], "rows")?, number(&board["grid"], "cols")?);
        let came = || board.to_string();
        for (labels, count) in [("row_labels", rows), ("col_labels", cols)] {
            let labels = list(&board["grid"], labels)?.len() as u64;
            holds(labels == count, format!("{count} labels"), came)?;
        }
        let is_inside = |cell: &Value| {
            let is_below = |at: usize, most: u64| cell[at].as_u64().is_some_and(|at| at < most);
            is_below(0, rows) && is_below(1, cols)
        };
        let items = |field: &str| board[field].as_array().into_iter().flatten();
        for (field, kind) in [("pieces", "piece"), ("marks", "mark")] {
            for item in items(field) {
                let mut cells = item["also"].as_array().into_iter().flatten().chain([&item["cell"]]);
                let is_right = cells.all(is_inside) && item[kind].is_string();
                holds(is_right, format!("a {kind} on the board"), || item.to_string())?;
            }
        }
        for wall in items("walls") {
            let is_side = ["up", "right", "down", "left"].iter().any(|side| wall["side"] == *side);
            holds(is_side && is_inside(&wall["cell"]), "a wall on the board", || wall.to_string())?;
        }
        Ok(())
    })
}

fn pictures(trial: &Trial<'_>) -> Checked {
    if !trial.greet()?.has("svg") {
        return Err(Stop::skipped("no pictures are promised"));
    }
    walk(trial, 4, &["svg"], |peer, game, position, result, _| {
        let svg = text(result, "svg")?;
        let came = || svg.to_owned();
        let is_whole = svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>");
        holds(is_whole && svg.matches("<svg").count() == 1, "one element `svg`", came)?;
        for part in ["title", "desc"] {
            let has_part = svg.contains(&format!("<{part}>")) && svg.contains(&format!("</{part}>"));
            holds(has_part, format!("a `{part}`"), came)?;
        }
        holds(!svg.contains("<script") && !svg.contains("href"), "nothing beside itself", came)?;
        holds(svg.len() <= 256 << 10, "256 KiB at most", || svg.len().to_string())?;
        let again = peer.result(&inspect("again", game, position, &["svg"]))?;
        holds(again["svg"] == *svg, "the same picture again", || again.to_string())
    })
}

fn actions(trial: &Trial<'_>) -> Checked {
    if !trial.greet()?.has("actions") {
        return Err(Stop::skipped("no actions are promised"));
    }
    let mut counts = BTreeMap::new();
    walk(trial, 6, &["legal", "actions"], |_, game, _, result, _| {
        let actions = &result["actions"];
        let came = || actions.to_string();
        let count = number(actions, "count")?;
        let numbers: BTreeSet<u64> = list(actions, "legal")?.iter().filter_map(Value::as_u64).collect();
        let legal = list(result, "legal")?.len();
        let are_apart = numbers.len() == legal && list(actions, "legal")?.len() == legal;
        holds(are_apart, format!("{legal} numbers, all different"), came)?;
        holds(numbers.last().is_none_or(|&most| most < count), "each below `count`", came)?;
        let first = *counts.entry(game.to_string()).or_insert(count);
        holds(first == count, format!("a count of {first} in all positions"), came)
    })
}

fn records(trial: &Trial<'_>) -> Checked {
    walk(trial, 5, &["record", "hash", "text", "outcome"], |peer, game, position, result, _| {
        let record = &result["record"];
        let moves = position.get("moves").cloned().unwrap_or_else(|| json!([]));
        let wanted =
            json!({ "record": 1, "game": game["game"], "moves": moves, "result": result["outcome"] });
        like(record, &wanted)?;
        let again = json!({ "game": record["game"], "rules": record["rules"] });
        let position = json!({ "start": record["start"], "moves": record["moves"] });
        let again = peer.result(&inspect("again", &again, &position, &["hash", "text", "outcome"]))?;
        like(&again, &json!({ "hash": result["hash"], "text": result["text"], "outcome": result["outcome"] }))
    })
}

/// Checks that the L Game is drawn after these moves for the reason `by`; none: that it is not over.
fn drawn_at(peer: &mut Conversation<'_>, rules: &Value, moves: &[String], by: Option<&str>) -> Checked {
    let game = json!({ "game": "l-game", "rules": rules });
    let position = json!({ "moves": moves });
    let outcome = by.map_or(Value::Null, |by| json!({ "winner": null, "by": by }));
    let result = peer.result(&inspect("i", &game, &position, &["outcome"]))?;
    like(&result, &json!({ "outcome": outcome })).map_err(|stop| stop.at(&format!("{rules} after {moves:?}")))
}

fn repetition(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    peer.needs("l-game")?;
    let moves = rounds(trial, &json!({ "game": "l-game", "rules": { "neutrals": "none" } }), 2)?;
    for (repetition, plies, by) in [
        (0, 8, None),
        (2, 3, None),
        (2, 4, Some("repetition")),
        (3, 4, None),
        (3, 7, None),
        (3, 8, Some("repetition")),
    ] {
        let rules = json!({ "neutrals": "none", "repetition": repetition });
        drawn_at(&mut peer, &rules, &moves[..plies], by)?;
    }
    let game = json!({ "game": "l-game", "rules": { "neutrals": "none", "repetition": 2 } });
    let past = inspect("past", &game, &json!({ "moves": moves[..5] }), &["outcome"]);
    peer.refused(&past, &json!({ "code": "illegal_move", "pointer": "/position/moves/4" })).map(drop)
}

fn max_plies(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    peer.needs("l-game")?;
    let moves = rounds(trial, &json!({ "game": "l-game", "rules": { "neutrals": "none" } }), 1)?;
    for (cap, plies, by) in
        [(0, 4, None), (4, 3, None), (4, 4, Some("max_plies")), (1, 0, None), (1, 1, Some("max_plies"))]
    {
        drawn_at(&mut peer, &json!({ "neutrals": "none", "max_plies": cap }), &moves[..plies], by)?;
    }
    Ok(())
}

fn start_size(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    peer.needs("isolation")?;
    let position = json!({ "start": "1.../..../..../..2. 1" });
    let bare = json!({ "game": "isolation" });
    let given = json!({ "game": "isolation", "rules": { "width": 4, "height": 4 } });
    let result = peer.result(&inspect("a", &bare, &position, &["hash", "legal", "record"]))?;
    like(&result, &json!({ "record": { "rules": { "width": 4, "height": 4 } } }))?;
    let same = peer.result(&inspect("b", &given, &position, &["hash", "legal"]))?;
    like(&same, &json!({ "hash": result["hash"], "legal": result["legal"] }))?;
    for rules in [json!({ "width": 5 }), json!({ "preset": "7x7" })] {
        let other = json!({ "game": "isolation", "rules": rules });
        let wanted = json!({ "code": "illegal_position", "pointer": "/position/start" });
        peer.refused(&inspect("c", &other, &position, &["hash"]), &wanted)?;
    }
    Ok(())
}

fn new_game(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    peer.needs("isolation")?;
    let game = json!({ "game": "isolation", "rules": { "preset": "11x9" } });
    let request = newgame("s", &game, json!({ "seed": "5eed", "options": { "depth": 4 } }));
    let wanted = json!({ "session": "s", "game": "isolation", "seed": "5eed", "to_move": "p1",
        "rules": { "width": 11, "height": 9 }, "options": { "depth": 4, "seed": "5eed" } });
    result_like(&mut peer, &request, &wanted)?;
    let request = newgame("s", &game, json!({ "seed": "1", "options": { "seed": "2" } }));
    result_like(&mut peer, &request, &json!({ "seed": "1", "options": { "seed": "2" } }))?;
    let plain = newgame("s", &json!({ "game": "isolation" }), json!({}));
    result_like(&mut peer, &plain, &json!({ "rules": { "width": 7, "height": 7 } }))
}

fn reset(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.result(&newgame("s", &game, json!({ "options": { "depth": 4 } })))?;
    let again = peer.result(&newgame("s", &game, json!({})))?;
    holds(again["options"]["depth"] != 4, "options as by default", || again.to_string())
}

/// A `setoption`.
fn set(id: &str, session: Option<&str>, options: Value) -> Value {
    let request = json!({ "id": id, "cmd": "setoption", "options": options });
    session.map_or(request.clone(), |session| with(request, &json!({ "session": session })))
}

fn set_option(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.result(&newgame("s", &game, json!({ "options": { "depth": 4 } })))?;
    result_like(
        &mut peer,
        &set("1", Some("s"), json!({ "player": "random" })),
        &json!({ "options": { "player": "random", "depth": 4 } }),
    )?;
    let bad = set("2", Some("s"), json!({ "depth": 3, "player": "greedy", "wings": 2 }));
    peer.refused(&bad, &json!({ "code": "option_unknown", "pointer": "/options/wings" }))?;
    result_like(
        &mut peer,
        &set("3", Some("s"), json!({})),
        &json!({ "options": { "player": "random", "depth": 4 } }),
    )
}

fn default_options(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    result_like(&mut peer, &set("1", None, json!({ "depth": 2 })), &json!({ "options": { "depth": 2 } }))?;
    result_like(&mut peer, &newgame("a", &game, json!({})), &json!({ "options": { "depth": 2 } }))?;
    result_like(
        &mut peer,
        &newgame("b", &game, json!({ "options": { "depth": 3 } })),
        &json!({ "options": { "depth": 3 } }),
    )?;
    result_like(&mut peer, &set("2", None, json!({ "depth": 5 })), &json!({ "options": { "depth": 5 } }))?;
    // An open session keeps its own.
    result_like(&mut peer, &set("3", Some("a"), json!({})), &json!({ "options": { "depth": 2 } }))
}

fn own_options(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.result(&newgame("s", &game, json!({ "options": { "player": "alphabeta", "depth": 2 } })))?;
    let s = session("s");
    for (id, options, depth) in [("a", json!({ "depth": 1 }), 1), ("b", json!({}), 2)] {
        let best = peer.best(&go(id, &s, with(endless(), &json!({ "options": options }))))?;
        let reached = number(&best["lines"][0], "depth")?;
        holds(reached == depth, format!("depth {depth}"), || best.to_string())?;
    }
    Ok(())
}

fn player_seeds(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let mut played = |seed: &str| -> Checked<Vec<String>> {
        peer.result(&newgame("s", &game, json!({ "seed": seed, "options": { "player": "random" } })))?;
        let mut moves = Vec::new();
        for _ in 0..6 {
            let fields = with(endless(), &json!({ "position": { "moves": moves } }));
            let best = peer.best(&go("g", &session("s"), fields))?;
            moves.push(text(&best, "move")?.to_owned());
        }
        Ok(moves)
    };
    let first = played("abc")?;
    let again = played("abc")?;
    holds(first == again, format!("{first:?} again"), || format!("{again:?}"))?;
    let others = [played("1")?, played("2")?, played("3")?];
    holds(others.iter().any(|other| *other != first), "other moves by other seeds", || format!("{first:?}"))
}
