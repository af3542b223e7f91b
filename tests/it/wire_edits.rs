//! Positions that are set up by hand, through the wire: the want `edits` of `inspect`.

use crate::common::{Peer, Server, with};
use crate::games::{Request, games};
use plyd::engine::conformance::Sample;
use serde_json::{Value, json};

/// What can be changed in a text.
fn edits(peer: &mut Peer, game: &Value, text: &str) -> Value {
    let request = json!({ "id": "e", "cmd": "inspect", "position": {}, "draft": text, "want": ["edits"] });
    peer.result(&with(request, game))["edits"].clone()
}

/// The text after a choice, as any client makes it.
fn chosen(draft: &Value, choice: &Value) -> String {
    let text: Vec<char> = draft["text"].as_str().unwrap().chars().collect();
    let at = |name: &str| choice[name].as_u64().unwrap() as usize;
    let put = choice["put"].as_str().unwrap().chars();
    text[..at("from")].iter().copied().chain(put).chain(text[at("to")..].iter().copied()).collect()
}

/// Every choice of the start leads to a draft that shows it, and a draft without a fault can be played.
#[test]
fn each_choice_makes_a_draft_and_those_without_a_fault_are_positions() {
    let (_server, mut peer) = Server::stdio(&[]);
    for entry in games().into_iter().filter(|entry| entry.edits.is_some()) {
        let game = Sample::new(entry, "", "").unwrap().game();
        let of_start = peer.result(&with(
            json!({ "id": "s", "cmd": "inspect", "position": {}, "want": ["edits", "text", "board"] }),
            &game,
        ));
        let start = &of_start["edits"];
        assert_eq!((&start["text"], start.get("fault")), (&of_start["text"], None), "{game}");
        assert_eq!(start["board"]["pieces"], of_start["board"]["pieces"], "{game}");
        let choices: Vec<(&Value, &Value)> = start["edits"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|edit| edit["choices"].as_array().unwrap().iter().map(move |choice| (edit, choice)))
            .collect();
        assert!(choices.len() > 20, "{game}");
        // Some of each kind, as cells have even numbers of choices: a board of sudoku has thousands.
        let step = (1 + choices.len() / 60) | 1;
        let (mut positions, mut faults) = (0, 0);
        for (edit, choice) in choices.into_iter().step_by(step) {
            let text = chosen(start, choice);
            let draft = edits(&mut peer, &game, &text);
            assert_eq!(draft["text"], text.as_str(), "{game}: {choice}");
            let is_changed = text != start["text"].as_str().unwrap();
            if is_changed && edit["what"] != "Board" {
                let place = |other: &&Value| {
                    ["what", "cell", "side"].iter().all(|name| other.get(*name) == edit.get(*name))
                };
                let again = draft["edits"].as_array().unwrap().iter().find(place).unwrap();
                let same = |other: &&Value| {
                    ["label", "piece", "owner"].iter().all(|name| other.get(*name) == choice.get(*name))
                };
                let so = again["choices"].as_array().unwrap().iter().find(same).unwrap().get("so");
                let was_so = choice.get("so").is_some();
                assert_eq!(so.is_some(), !was_so, "{game} {edit}: {choice} in {text}");
            }
            let opened =
                peer.ask(&with(json!({ "id": "o", "cmd": "inspect", "position": { "start": text } }), &game));
            match draft.get("fault") {
                None => {
                    assert_eq!(opened["type"], "result", "{game}: {text}: {opened}");
                    positions += 1;
                }
                Some(fault) => {
                    assert_eq!((&opened["message"], &opened["type"]), (&fault["message"], &json!("error")));
                    assert!(fault["offset"].as_u64().unwrap() as usize <= text.len(), "{fault}");
                    faults += 1;
                }
            }
        }
        assert!(positions > 3, "{game}: {positions} positions, {faults} faults");
    }
}

#[test]
fn a_fault_of_a_draft_is_no_error_and_is_at_its_character() {
    let Some(game) = games().into_iter().find(|entry| entry.name == "isolation") else { return };
    let game = Sample::new(game, "", "").unwrap().game();
    let (_server, mut peer) = Server::stdio(&[]);
    let draft = edits(&mut peer, &game, "1../.1./..2 1");
    assert_eq!(draft["fault"]["cell"], json!([1, 1]));
    assert_eq!(draft["fault"]["offset"], 5);
    assert_eq!(draft["board"]["pieces"].as_array().unwrap().len(), 3, "{draft}");
    for (text, offset) in [("é é", 2), ("", 0), ("\u{10000}\u{10000} 1", 0), (".../.../... 1é", 12)] {
        let draft = edits(&mut peer, &game, text);
        assert_eq!((&draft["text"], &draft["edits"]), (&json!(text), &json!([])), "{draft}");
        assert_eq!(draft["fault"]["offset"], offset, "{text}: {draft}");
        assert!(draft.get("board").is_none(), "{draft}");
    }
    let long = edits(&mut peer, &game, &"1".repeat(300_000));
    assert_eq!(long["fault"]["offset"], 300_000);
}

#[test]
fn a_draft_is_a_string_and_its_rules_are_those_of_the_request_or_the_session() {
    let Some(game) = games().into_iter().find(|entry| entry.name == "isolation") else { return };
    let game = Sample::new(game, "", "").unwrap().game();
    let (_server, mut peer) = Server::stdio(&[]);
    let wrong = json!({ "id": "w", "cmd": "inspect", "position": {}, "draft": 1, "want": ["edits"] });
    let error = peer.ask(&with(wrong, &game));
    assert_eq!((&error["code"], &error["pointer"]), (&json!("wrong_type"), &json!("/draft")), "{error}");
    peer.result(&json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "isolation", "rules": { "preset": "7x7" } }));
    let of_session = json!({ "id": "d", "cmd": "inspect", "session": "s", "position": {}, "draft": ".../.../... 1", "want": ["edits"] });
    let draft = peer.result(&of_session)["edits"].clone();
    assert!(draft["fault"]["message"].as_str().unwrap().contains("the rules ask for 7"), "{draft}");
    assert_eq!(draft["board"]["grid"]["rows"], 3);
    // Without a draft it is about the position; without the want nothing is said.
    let after = json!({ "id": "a", "cmd": "inspect", "session": "s", "position": { "moves": ["d4"] }, "want": ["edits", "text"] });
    let after = peer.result(&after);
    assert_eq!(after["edits"]["text"], after["text"]);
    let unasked =
        peer.result(&with(json!({ "id": "u", "cmd": "inspect", "position": {}, "draft": "x" }), &game));
    assert!(unasked.get("edits").is_none(), "{unasked}");
}
