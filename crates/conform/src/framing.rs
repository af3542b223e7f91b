//! Lines: what ends one, what may surround it, how long and how deep it may be, and the answer to a bad one.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::requests::{ping, with};
use super::trial::{Check, Trial};
use super::verdict::{Checked, holds, like, text};

/// The longest line, in bytes.
const LINE: usize = 1 << 20;

/// The most characters of client text that a message repeats.
const ECHO: usize = 64;

pub(super) const CHECKS: &[Check] = &[
    Check::watched("messages", "each line out is one message of the five types, and nothing else is written"),
    Check::watched(
        "errors",
        "an error has the number of a sent line, a JSON pointer, and the `fatal` of its code",
    ),
    Check::new("line-ends", "a CR before the LF, blanks and tabs around the object are tolerated", line_ends),
    Check::new("blank-lines", "blank lines are ignored, but counted", blank_lines),
    Check::new("line-numbers", "an error has its line's number, bad and long lines counted", line_numbers),
    Check::new("parts", "a line that arrives in parts is read whole", parts),
    Check::new("one-write", "lines that arrive together are all read", one_write),
    Check::new("last-line", "the last line needs no LF", last_line),
    Check::new("text", "any text comes back as it was sent", echoes),
    Check::new("longest-line", "a line of 1 MiB is read", longest_line),
    Check::new("too-long", "a longer line gets one `line_too_long`, and the next line is read", too_long),
    Check::new("endless-line", "a line of 16 MiB gets one `line_too_long`, too", endless_line),
    Check::new("deepest", "32 levels of objects and arrays are read", deepest),
    Check::new("too-deep", "33 levels, or a million, are `bad_json`", too_deep),
    Check::new("bad-utf8", "bytes that are not UTF-8 are `bad_utf8`", bad_utf8),
    Check::new(
        "stray-bytes",
        "a byte-order mark, NUL and bare control characters are `bad_json`",
        stray_bytes,
    ),
    Check::refusals("bad-json", "a line that is not JSON is `bad_json`"),
    Check::refusals("duplicate-keys", "a duplicate key in an object, at any depth, is `bad_json`"),
    Check::refusals("surrogates", "a lone surrogate is `bad_json`"),
    Check::refusals("not-objects", "a JSON value other than an object is `not_object`"),
    Check::new(
        "extensions",
        "fields whose names start with `x_` are skipped wherever they stand",
        extensions,
    ),
    Check::refusals("unknown-fields", "an unknown field is `unknown_field`"),
    Check::refusals("pointers", "pointers escape `~` and `/`"),
    Check::refusals(
        "missing-fields",
        "an absent required field is `missing_field`, with the pointer that it would have",
    ),
    Check::refusals("wrong-types", "a value of a wrong JSON type is `wrong_type`"),
    Check::refusals("nulls", "null is `wrong_type`"),
    Check::refusals("bad-words", "a word outside the allowed ones is `bad_enum`"),
    Check::refusals("first-fault", "of several faults the first in the specification's order is reported"),
    Check::new("echo-cut", "client text in messages is escaped and cut at 64 characters", echo_cut),
];

/// A `ping` whose line has this number of bytes.
fn padded(id: &str, bytes: usize) -> Vec<u8> {
    let line = |padding: &str| json!({ "id": id, "cmd": "ping", "x_padding": padding }).to_string();
    line(&"x".repeat(bytes - line("").len())).into_bytes()
}

/// A bad line, and the error that it gets; the connection goes on.
fn bad(peer: &mut Conversation<'_>, line: &[u8], code: &str) -> Checked {
    peer.send_line(line)?;
    let wanted = json!({ "id": null, "code": code, "line": peer.sent, "fatal": false });
    like(&peer.fault()?, &wanted)
        .map_err(|stop| stop.at(&String::from_utf8_lossy(&line[..line.len().min(99)])))?;
    peer.ping()
}

fn line_ends(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for (index, (before, behind)) in
        [("", "\r"), (" ", ""), ("\t \t", " \t \r"), ("", " ")].iter().enumerate()
    {
        let id = format!("p{index}");
        peer.send_line(format!("{before}{}{behind}", ping(&id)).as_bytes())?;
        like(&peer.any_final()?, &json!({ "type": "result", "id": id }))?;
    }
    peer.send_line(b"{ \"id\" : \"p\" ,\t\"cmd\":\r \"ping\" }")?;
    like(&peer.any_final()?, &json!({ "type": "result", "id": "p" }))
}

fn blank_lines(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    peer.send_line(b"\n\r\n  \n\t\r\n[]")?;
    let wanted = json!({ "type": "error", "code": "not_object", "line": peer.sent });
    like(&peer.any_final()?, &wanted)?;
    peer.ping()
}

fn line_numbers(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let long = vec![b'x'; LINE + 1];
    for lines in [&b"[]"[..], b"\n[]", b"{\n[]", b"\xff\n[]", &[&long[..], b"\n[]"].concat(), b"[]"] {
        // What is no text ends a WebSocket.
        if trial.is_websocket() && std::str::from_utf8(lines).is_err() {
            continue;
        }
        peer.send_line(lines)?;
        loop {
            let fault = peer.any_final()?;
            if fault["code"] == "not_object" {
                like(&fault, &json!({ "line": peer.sent }))?;
                break;
            }
        }
    }
    let request = json!({ "id": "a", "cmd": "ping", "wings": 2 });
    peer.send(&request)?;
    like(&peer.any_final()?, &json!({ "id": "a", "line": peer.sent }))
}

fn parts(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let line = format!("{}\n", json!({ "id": "p", "cmd": "ping", "echo": "ü🎲" }));
    peer.note(line.trim_end().as_bytes());
    // A read may end anywhere, within a character, too.
    for byte in line.as_bytes() {
        peer.send_bytes(&[*byte])?;
        std::thread::yield_now();
    }
    like(&peer.last("p")?, &json!({ "type": "result", "echo": "ü🎲" }))
}

fn one_write(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let requests: Vec<Value> = (0..100).map(|n| ping(&format!("p{n}"))).collect();
    peer.send_all(&requests)?;
    for n in 0..100 {
        like(&peer.any_final()?, &json!({ "type": "result", "id": format!("p{n}") }))?;
    }
    Ok(())
}

fn last_line(trial: &Trial<'_>) -> Checked {
    trial.needs_half_closing()?;
    let mut peer = trial.greet()?;
    let line = ping("p").to_string();
    peer.note(line.as_bytes());
    peer.send_bytes(line.as_bytes())?;
    peer.end_input();
    like(&peer.last("p")?, &json!({ "type": "result", "of": "ping" }))?;
    peer.closed()
}

fn echoes(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for (index, echo) in [
        "",
        "are you there",
        "quotes \" and \\ and / and \u{8}\u{c}\n\r\t",
        "\0\u{1}\u{1f}\u{7f}\u{80}\u{2028}\u{2029}\u{feff}",
        "äß日本語",
        "🎲\u{10ffff}",
        &"\n".repeat(1024),
    ]
    .iter()
    .enumerate()
    {
        let request = json!({ "id": format!("p{index}"), "cmd": "ping", "echo": echo });
        like(&peer.result(&request)?, &json!({ "echo": echo }))?;
    }
    peer.send_line(br#"{"id":"p","cmd":"\u0070ing","\u0065cho":"\ud83c\udfb2\/\u00e9"}"#)?;
    like(&peer.last("p")?, &json!({ "echo": "🎲/é" }))
}

fn longest_line(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for (id, end) in [("a", ""), ("b", "\r")] {
        let mut line = padded(id, LINE - end.len());
        line.extend_from_slice(end.as_bytes());
        peer.send_line(&line)?;
        let answer = peer.any_final()?;
        like(&answer, &json!({ "type": "result", "id": id }))
            .map_err(|stop| stop.at("a line of 1,048,576 bytes"))?;
    }
    Ok(())
}

fn too_long(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for bytes in [LINE + 1, 2 * LINE] {
        bad(&mut peer, &padded("p", bytes), "line_too_long")?;
    }
    Ok(())
}

fn endless_line(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    bad(&mut peer, &vec![b'['; 16 * LINE], "line_too_long")?;
    let errors = peer.log.iter().filter(|heard| heard.message["type"] == "error").count();
    holds(errors == 1, "one error", || format!("{errors}"))
}

/// A `ping` nested so deep, the outermost object counted.
fn nested(levels: usize, open: &str, close: &str) -> String {
    let inner = levels - 1;
    format!(r#"{{"id":"p","cmd":"ping","x_deep":{}0{}}}"#, open.repeat(inner), close.repeat(inner))
}

fn deepest(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        peer.send_line(nested(32, open, close).as_bytes())?;
        like(&peer.any_final()?, &json!({ "type": "result", "id": "p" }))
            .map_err(|stop| stop.at("32 levels"))?;
    }
    Ok(())
}

fn too_deep(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        bad(&mut peer, nested(33, open, close).as_bytes(), "bad_json")?;
    }
    bad(&mut peer, &vec![b'['; 1_000_000], "bad_json")
}

fn bad_utf8(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for line in [
        &b"{\"id\":\"1\",\"cmd\":\"ping\",\"echo\":\"\xff\"}"[..],
        b"{\"id\":\"1\",\"cmd\":\"ping\",\"echo\":\"\xed\xa0\x80\"}",
        b"{\"id\":\"1\",\"cmd\":\"ping\",\"x_\":\"\xf0\x9f\x8e\"}",
        b"\xc0\xaf",
    ] {
        if !trial.is_websocket() {
            bad(&mut peer, line, "bad_utf8")?;
            continue;
        }
        peer.send_line(line)?;
        like(&peer.any_final()?, &json!({ "type": "error", "code": "bad_utf8", "id": null }))?;
        peer.closed_as(1007)?;
        peer = trial.greet()?;
    }
    Ok(())
}

fn stray_bytes(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for line in [
        &b"\xef\xbb\xbf{\"id\":\"1\",\"cmd\":\"ping\"}"[..],
        b"{\"id\":\"1\",\"cmd\":\"ping\"}\0",
        b"{\"id\":\"1\",\"cmd\":\"ping\",\"echo\":\"\x01\"}",
        b"{\"id\":\"1\",\"cmd\":\"ping\",\"echo\":\"a\rb\"}",
    ] {
        bad(&mut peer, line, "bad_json")?;
    }
    Ok(())
}

fn extensions(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let extra = json!({ "x_": null, "x_a": 1, "x_b": { "c": ["d", -2, true] }, "x_text": "e" });
    peer.result(&with(ping("p"), &extra))?;
    let game = peer.vast_game()?;
    let nested = json!({ "id": "g", "cmd": "go", "position": extra, "limit": with(json!({ "nodes": 10 }), &extra),
        "info": extra, "x_more": { "moves": 7 } });
    peer.best(&with(nested, &game)).map(drop)
}

fn echo_cut(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = json!({ "id": "a", "cmd": "inspect", "position": {}, "game": "\u{1b}\n".repeat(100) });
    let word = json!({ "id": "b", "cmd": "w".repeat(100) });
    let field = json!({ "id": "c", "cmd": "ping", "f".repeat(100): 1 });
    for (request, unit) in [(game, "\n"), (word, "w"), (field, "f")] {
        let error = peer.ask(&request)?;
        like(&error, &json!({ "type": "error" }))?;
        let message = text(&error, "message")?;
        let is_plain = !message.chars().any(char::is_control);
        let is_cut = !message.contains(&unit.repeat(ECHO + 1));
        holds(is_plain && is_cut, "client text escaped and cut at 64 characters", || error.to_string())?;
    }
    Ok(())
}
