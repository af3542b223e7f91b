//! WebSocket (RFC 6455): what a message is, which frames end the connection and with which status, and who
//! may open one.
//!
//! Builds the frames that break a rule itself, since the suite's client does not build any.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::requests::{endless, go, ping};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, holds, like};
use plyd_client::websocket::{Encoder, Opening};

/// First bytes of frames: those that end their message, and those of a message that goes on.
const TEXT: u8 = 0x81;
const BINARY: u8 = 0x82;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const BEGIN: u8 = 0x01;
const MIDDLE: u8 = 0x00;
const END: u8 = 0x80;

/// The statuses of a close frame that the specification names.
const PROTOCOL_ERROR: u16 = 1002;
const UNSUPPORTED: u16 = 1003;
const NOT_TEXT: u16 = 1007;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "messages",
        "a message is one line: a line feed in it is white space, and two objects in it are `bad_json`",
        messages,
    ),
    Check::new(
        "fragments",
        "a message in fragments is read whole, whatever control frames come between them",
        fragments,
    ),
    Check::new(
        "text",
        "bytes that are not UTF-8, in any fragment, end the connection with status 1007",
        text,
    ),
    Check::new("binary", "a binary message ends the connection with status 1003", binary),
    Check::new("lengths", "a length not in its shortest form ends the connection with 1002", lengths),
    Check::new("masks", "a frame without a mask ends the connection with 1002", masks),
    Check::new("kinds", "reserved bits and unknown opcodes end the connection with 1002", kinds),
    Check::new("control", "a fragmented or long control frame ends the connection with 1002", control),
    Check::new(
        "order",
        "fragments that continue nothing, or are not continued, end the connection with 1002",
        order,
    ),
    Check::new("pings", "a ping is answered by a pong with its payload", pings),
    Check::new(
        "close",
        "a close frame ends searches without an answer, and is answered by one with its status",
        close,
    ),
    Check::new("paths", "the WebSocket is at `/ws` and `/` only", paths),
    Check::new("origins", "pages of other origins are refused", origins),
];

/// A frame with a mask.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Encoder::default().frame(first, payload, &mut out);
    out
}

/// A connection after its `hello`, over WebSocket.
fn greet<'t>(trial: &Trial<'t>) -> Checked<Conversation<'t>> {
    trial.needs_websocket()?;
    trial.greet()
}

/// Sends frames that end the connection with that status; what stands behind them is not answered.
fn ends(trial: &Trial<'_>, name: &str, frames: &[u8], status: u16) -> Checked {
    let mut peer = greet(trial)?;
    let heard = peer.log.len();
    let behind = frame(TEXT, ping("behind").to_string().as_bytes());
    // Complete lines, in case the server takes them for some.
    [frames, &behind].into_iter().for_each(|line| peer.note(line));
    peer.send_frames(&[frames, &behind].concat())?;
    peer.closed_as(status).map_err(|stop| stop.at(name))?;
    let answers = peer.log[heard..].iter().filter(|heard| heard.message["type"] == "result").count();
    holds(answers == 0, format!("{name}: no answer"), || format!("{answers} results"))
}

/// Sends a message, as a line that is judged like others, and takes what answers it.
fn say(peer: &mut Conversation<'_>, message: &str) -> Checked<Value> {
    peer.note(message.as_bytes());
    peer.send_frames(&frame(TEXT, message.as_bytes()))?;
    peer.any_final().map_err(|stop| stop.at(message))
}

fn messages(trial: &Trial<'_>) -> Checked {
    let mut peer = greet(trial)?;
    for message in [
        "{\"id\":\"p\",\n\"cmd\":\"ping\"}",
        "\n{\"id\":\"p\",\"cmd\":\"ping\"}\n",
        "{\"id\"\n:\n\n\"p\",\"cmd\":\"ping\"\r\n}",
    ] {
        let answer = say(&mut peer, message)?;
        like(&answer, &json!({ "type": "result", "id": "p" })).map_err(|stop| stop.at(message))?;
    }
    for message in [
        "{\"id\":\"p\",\"cmd\":\"ping\"}\n{\"id\":\"q\",\"cmd\":\"ping\"}",
        "{\"id\":\"p\",\"cmd\":\"ping\",\"echo\":\"a\nb\"}",
    ] {
        let answer = say(&mut peer, message)?;
        let wanted =
            json!({ "type": "error", "code": "bad_json", "id": null, "line": peer.sent, "fatal": false });
        like(&answer, &wanted).map_err(|stop| stop.at(message))?;
    }
    peer.ping()
}

fn fragments(trial: &Trial<'_>) -> Checked {
    let mut peer = greet(trial)?;
    let line = json!({ "id": "p", "cmd": "ping", "echo": "ü🎲" }).to_string();
    peer.note(line.as_bytes());
    // Each byte a fragment, so that characters are cut, with empty ones and pings between them.
    let (last, others) = line.as_bytes().split_last().unwrap_or((&0, &[]));
    let mut frames = frame(BEGIN, &[]);
    for byte in others {
        frames.extend(frame(MIDDLE, &[*byte]));
        frames.extend(frame(PING, b"between"));
        frames.extend(frame(MIDDLE, &[]));
    }
    frames.extend(frame(END, &[*last]));
    peer.send_frames(&frames)?;
    like(&peer.any_final()?, &json!({ "type": "result", "id": "p", "echo": "ü🎲" }))?;
    peer.ping()
}

fn text(trial: &Trial<'_>) -> Checked {
    let broken: [&[&[u8]]; 4] = [
        &[b"{\"id\":\"1\",\"cmd\":\"ping\",\"echo\":\"\xff\"}"],
        &[b"{\"id\":\"1\",\"cmd\":\"ping\",\"echo\":\"\xed\xa0", b"\x80\"}"],
        &[b"{\"id\":\"1\",\"cmd\":\"ping\",\"x_\":\"\xf0\x9f", b"\"}"],
        &[b"\xc0\xaf"],
    ];
    for fragments in broken {
        let mut frames = Vec::new();
        for (at, fragment) in fragments.iter().enumerate() {
            let kind = if at == 0 { BEGIN } else { MIDDLE };
            frames.extend(frame(if at + 1 == fragments.len() { kind | END } else { kind }, fragment));
        }
        let name = format!("{:?}", String::from_utf8_lossy(&fragments.concat()));
        ends(trial, &name, &frames, NOT_TEXT)?;
    }
    Ok(())
}

fn binary(trial: &Trial<'_>) -> Checked {
    ends(trial, "a binary message", &frame(BINARY, ping("p").to_string().as_bytes()), UNSUPPORTED)
}

fn lengths(trial: &Trial<'_>) -> Checked {
    let message = ping("p").to_string().into_bytes();
    let short = message.len() as u8;
    let long = [&message[..], &[b' '; 200]].concat();
    for (name, head, payload) in [
        ("a short length in 16 bits", [&[TEXT, 0x80 | 126, 0, short][..], &[0; 4]].concat(), &message),
        (
            "a short length in 64 bits",
            [&[TEXT, 0x80 | 127, 0, 0, 0, 0, 0, 0, 0, short][..], &[0; 4]].concat(),
            &message,
        ),
        (
            "a length of 16 bits in 64",
            [&[TEXT, 0x80 | 127][..], &(long.len() as u64).to_be_bytes(), &[0; 4]].concat(),
            &long,
        ),
    ] {
        ends(trial, name, &[&head[..], payload].concat(), PROTOCOL_ERROR)?;
    }
    Ok(())
}

fn masks(trial: &Trial<'_>) -> Checked {
    let message = ping("p").to_string().into_bytes();
    let bare = [&[TEXT, message.len() as u8][..], &message].concat();
    ends(trial, "a text message without a mask", &bare, PROTOCOL_ERROR)?;
    ends(trial, "a ping without a mask", &[PING, 1, b'?'], PROTOCOL_ERROR)
}

fn kinds(trial: &Trial<'_>) -> Checked {
    let message = ping("p").to_string().into_bytes();
    for (name, first) in [
        ("the first reserved bit", TEXT | 0x40),
        ("the second reserved bit", TEXT | 0x20),
        ("the third reserved bit", TEXT | 0x10),
        ("the unknown kind 3", 0x83),
        ("the unknown kind 11", 0x8b),
    ] {
        ends(trial, name, &frame(first, &message), PROTOCOL_ERROR)?;
    }
    Ok(())
}

fn control(trial: &Trial<'_>) -> Checked {
    ends(trial, "a ping that is a fragment", &frame(PING & !END, b"?"), PROTOCOL_ERROR)?;
    ends(trial, "a ping of 126 bytes", &frame(PING, &[b'?'; 126]), PROTOCOL_ERROR)?;
    ends(trial, "a ping of 70,000 bytes", &frame(PING, &[b'?'; 70_000]), PROTOCOL_ERROR)
}

fn order(trial: &Trial<'_>) -> Checked {
    let message = ping("p").to_string().into_bytes();
    ends(trial, "a fragment that continues nothing", &frame(END, &message), PROTOCOL_ERROR)?;
    let inside = [frame(BEGIN, b"{"), frame(TEXT, &message)].concat();
    ends(trial, "a message inside another one", &inside, PROTOCOL_ERROR)
}

fn pings(trial: &Trial<'_>) -> Checked {
    let mut peer = greet(trial)?;
    for payload in [&b"one"[..], b"", &[0xff; 125]] {
        // Of several that wait the last one is answered.
        peer.send_frames(&[frame(PING, b"earlier"), frame(PING, payload)].concat())?;
        loop {
            // The pong need not be the next that comes.
            peer.ping()?;
            if peer.pong() == Some(payload) {
                break;
            }
            holds(!trial.is_late(), format!("a pong of {payload:?}"), || format!("{:?}", peer.pong()))?;
        }
    }
    Ok(())
}

fn close(trial: &Trial<'_>) -> Checked {
    for status in [1000_u16, 1001, 4000] {
        trial.needs_websocket()?;
        let mut peer = trial.greet_with(&json!({ "on_eof": "finish" }))?;
        let game = peer.vast_game()?;
        peer.send(&go("g", &game, endless()))?;
        peer.info("g", "started")?;
        peer.send_frames(&frame(CLOSE, &[&status.to_be_bytes()[..], b"done"].concat()))?;
        peer.closed_as(status)?;
        holds(peer.is_open("g"), "no final message behind a close", || "one".into())?;
    }
    Ok(())
}

/// The status of the answer to a request for a WebSocket, which is changed before it is sent.
fn asked(trial: &Trial<'_>, change: impl Fn(&str, &str) -> String) -> Checked<String> {
    let address = trial.needs_websocket()?;
    let broken = |error: plyd_client::LineError| Stop::failed("an answer", error.to_string());
    let mut lines = trial.before_websocket().map_err(broken)?;
    let request = String::from_utf8_lossy(&Opening::default().request(address)).into_owned();
    lines.send_raw(change(&request, address).as_bytes()).map_err(broken)?;
    let first = lines.next(trial.deadline).map_err(broken)?;
    let first = String::from_utf8_lossy(&first.bytes).into_owned();
    Ok(first.split(' ').nth(1).unwrap_or_default().to_owned())
}

fn paths(trial: &Trial<'_>) -> Checked {
    for (path, is_there) in [("/ws", true), ("/", true), ("/wings", false), ("/ws/more", false)] {
        let status = asked(trial, |request, _| request.replace("GET /ws ", &format!("GET {path} ")))?;
        holds((status == "101") == is_there, format!("a WebSocket at `{path}`: {is_there}"), || status)?;
    }
    Ok(())
}

fn origins(trial: &Trial<'_>) -> Checked {
    let with = |request: &str, origin: &str| {
        request.replace("Connection: ", &format!("Origin: {origin}\r\nConnection: "))
    };
    // A page of the address itself is let in, unless the address is a name that others may own.
    if trial.needs_websocket()?.parse::<SocketAddr>().is_ok() {
        let status = asked(trial, |request, address| with(request, &format!("http://{address}")))?;
        holds(status == "101", "a page of the server's own address is let in", || status)?;
    }
    for origin in ["https://wings.example", "http://127.0.0.1:1", "null"] {
        let status = asked(trial, |request, _| with(request, origin))?;
        holds(status == "403", format!("a page of `{origin}` is refused: 403"), || status)?;
    }
    // A name that its owner lets point here.
    let status = asked(trial, |request, address| {
        let named = request.replace(&format!("Host: {address}"), "Host: wings.example");
        with(&named, "http://wings.example")
    })?;
    holds(status == "403", "a page of a host whose name points here is refused: 403", || status)
}
