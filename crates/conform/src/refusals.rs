//! Checks that are rows of a table: a line that is refused, and how. `refusals.txt` says what its columns
//! mean.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::requests::{endless, go, session, stop};
use super::trial::Trial;
use super::verdict::{Checked, Stop, holds, like};

/// A row: the line, and the id, the code and the pointer of the error.
pub(super) type Row = [&'static str; 4];

/// The rows under the name of a check.
pub(super) fn rows(name: &str) -> Vec<Row> {
    let mut is_ours = false;
    let mut rows = Vec::new();
    for line in include_str!("refusals.txt").lines() {
        if let Some(section) = line.strip_prefix("== ") {
            is_ours = section == name;
        } else if is_ours && !line.is_empty() && !line.starts_with("# ") {
            let row: Vec<&str> = line.split(" | ").collect();
            rows.push(Row::try_from(row).expect("a row has four columns"));
        }
    }
    rows
}

/// Sends the rows of a check whose games and features are offered.
pub(super) fn check(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let rows = rows(&trial.name);
    let speaks_of = |word: &str| rows.iter().any(|row| row[0].contains(word));
    let mut open = Vec::new();
    for (name, game) in [
        ("l", json!({ "game": "l-game" })),
        ("i", json!({ "game": "isolation", "rules": { "preset": "11x9" } })),
        ("busy", json!({ "game": "isolation", "rules": { "preset": "11x9" } })),
        ("pond", json!({ "game": "isolation", "rules": { "preset": "11x9" } })),
    ] {
        let is_spoken_of = speaks_of(&format!(r#""session":"{name}""#))
            || name == "busy" && speaks_of(r#""mover""#)
            || name == "pond" && speaks_of(r#""ponder","cmd""#);
        let is_taken = name != "pond" || peer.has("ponder");
        if is_spoken_of && is_taken && peer.offers(game["game"].as_str().unwrap_or_default()) {
            peer.sessions(&[name], &game)?;
            open.push(name);
        }
    }
    for (name, id, fields) in [("busy", "mover", endless()), ("pond", "ponder", json!({ "mode": "ponder" }))]
    {
        if open.contains(&name) {
            peer.send(&go(id, &session(name), fields))?;
            peer.info(id, "started")?;
        }
    }
    let mut count = 0;
    for row in &rows {
        if is_offered(row, &peer, &open) {
            refuse(&mut peer, row).map_err(|stop| stop.at(row[0]))?;
            count += 1;
        }
    }
    for (name, id) in [("busy", "mover"), ("pond", "ponder")] {
        if open.contains(&name) {
            like(&peer.result(&stop(id))?, &json!({ "effect": "stopping" }))?;
            like(&peer.last(id)?, &json!({ "reason": "stopped" }))?;
        }
    }
    peer.ping()?;
    if count > 0 {
        Ok(())
    } else {
        Err(Stop::skipped("no line of it names only games and features that are offered"))
    }
}

/// Whether the games and sessions that a row names are there, and the features that it uses.
fn is_offered(row: &Row, peer: &Conversation<'_>, open: &[&str]) -> bool {
    let names = |word: &str| row[0].contains(word);
    let games =
        ["l-game", "isolation"].iter().all(|game| !names(&format!(r#""{game}""#)) || peer.offers(game));
    let sessions = ["l", "i", "busy", "pond"]
        .iter()
        .all(|name| !names(&format!(r#""session":"{name}""#)) || open.contains(name));
    let ids = (!names(r#""id":"mover""#) || open.contains(&"busy"))
        && (!names(r#""id":"ponder""#) || open.contains(&"pond"));
    let request: Value = serde_json::from_str(row[0]).unwrap_or_default();
    games && sessions && ids && peer.lacking(&request).is_none()
}

fn refuse(peer: &mut Conversation<'_>, [line, id, code, pointer]: &Row) -> Checked {
    peer.send_line(line.as_bytes())?;
    let error = peer.any_final()?;
    let id: Value = if *id == "-" { Value::Null } else { json!(id) };
    like(&error, &json!({ "type": "error", "code": code, "id": id, "line": peer.sent, "fatal": false }))?;
    // Whether a line that is no request has a pointer, the specification leaves open.
    if !["*", "-"].contains(pointer) {
        like(&error, &json!({ "pointer": pointer }))?;
    }
    if *code == "duplicate_id" {
        let is_named = ["mover", "ponder"].iter().any(|id| error["ref"] == *id);
        holds(is_named, "`ref` names the request in flight", || error.to_string())?;
    }
    Ok(())
}
