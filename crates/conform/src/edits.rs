//! Positions that are set up by hand: what `edits` offers, and what follows from choosing it.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::describe::known;
use super::requests::with;
use super::trial::Trial;
use super::verdict::{Checked, Stop, holds, list, number, text};

/// How many choices of each game are tried.
const TRIED: usize = 6;

/// The choices of a start, and what the server says about the drafts that they make.
pub(super) fn of_starts(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    if !peer.has("edits") {
        return Err(Stop::skipped("no edits are promised"));
    }
    let mut tried = 0;
    for game in known(trial, &peer)? {
        let request = json!({ "id": "s", "cmd": "inspect", "position": {}, "want": ["edits", "text"] });
        let start = peer.result(&with(request, &game))?;
        let Some(draft) = start.get("edits") else { continue };
        let is_start = draft["text"] == start["text"] && draft.get("fault").is_none();
        holds(is_start, "the text of the start, without a fault", || draft.to_string())?;
        let choices: Vec<&Value> =
            list(draft, "edits")?.iter().flat_map(|edit| edit["choices"].as_array()).flatten().collect();
        for choice in choices.iter().step_by(1 + choices.len() / TRIED) {
            made(&mut peer, &game, &chosen(draft, choice)?)?;
            tried += 1;
        }
    }
    if tried == 0 { Err(Stop::skipped("no game has an editor")) } else { Ok(()) }
}

/// The text of a draft after a choice.
fn chosen(draft: &Value, choice: &Value) -> Checked<String> {
    let before: Vec<char> = text(draft, "text")?.chars().collect();
    let (from, to) = (number(choice, "from")? as usize, number(choice, "to")? as usize);
    holds(from <= to && to <= before.len(), "a part of the text", || choice.to_string())?;
    let put = text(choice, "put")?.chars();
    Ok(before[..from].iter().copied().chain(put).chain(before[to..].iter().copied()).collect())
}

/// A draft has a fault if, and only if, it cannot be a start.
fn made(peer: &mut Conversation<'_>, game: &Value, draft: &str) -> Checked {
    let request = json!({ "id": "d", "cmd": "inspect", "position": {}, "draft": draft, "want": ["edits"] });
    let answer = peer.result(&with(request, game))?["edits"].clone();
    let came = || format!("{draft}: {answer}");
    holds(answer["text"] == *draft, "a draft in its usual form", came)?;
    let request = json!({ "id": "p", "cmd": "inspect", "position": { "start": draft }, "want": ["text"] });
    let opened = peer.ask(&with(request, game))?;
    let is_position = opened["type"] == "result";
    holds(answer.get("fault").is_none() == is_position, format!("a fault as in {opened}"), came)?;
    if let Some(fault) = answer.get("fault") {
        let offset = number(fault, "offset")? as usize;
        holds(offset <= draft.chars().count(), "an `offset` within the draft", came)?;
        holds(!text(fault, "message")?.is_empty(), "words in `message`", came)?;
    }
    Ok(())
}
