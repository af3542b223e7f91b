//! The opening of a connection: `hello`, versions, features, and strangers on the port.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::requests::{endless, go, ping, with};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, holds, like, list, number, text, texts};

pub(super) const CHECKS: &[Check] = &[
    Check::new("result", "`hello` gives version, server, features, games and limits", result),
    Check::new("limits", "`hello` announces the limits that the specification fixes", limits),
    Check::new("optional", "on standard streams `hello` may be left out or come late", optional),
    Check::new("required", "over sockets another first request is a fatal `handshake_required`", required),
    Check::new("version", "the highest common version is chosen", version),
    Check::new("no-version", "without a common version: a fatal `version_unsupported`", no_version),
    Check::new("features", "announced features can be required", features),
    Check::new("no-feature", "an unknown required feature is a fatal `feature_unsupported`", no_feature),
    Check::new("refusal-order", "version is checked before features", refusal_order),
    Check::new(
        "token",
        "without a token: a fatal `auth_required`; with a wrong one: a fatal `auth_failed`",
        token,
    ),
    Check::new("late-token", "a wrong token is answered late; a right one is answered meanwhile", late_token),
    Check::new(
        "late-refusal",
        "a late `hello` that is refused lets searches answer first, then ends the connection",
        late_refusal,
    ),
    Check::new("repeated", "a second `hello` is `handshake_repeated` and changes nothing", repeated),
    Check::new(
        "bad-hello",
        "a `hello` with a fault does not end the connection: a good one may follow",
        bad_hello,
    ),
    Check::new("first-line", "before `hello` a line over sockets has 16 KiB at most", first_line),
    Check::new(
        "abuse",
        "over sockets too many bad lines before `hello` bring a notice `protocol_abuse` and the end",
        abuse,
    ),
    Check::new("http", "an HTTP request over a socket gets a fatal `bad_json`", http),
    Check::new(
        "http-lines",
        "any line that could belong to an HTTP request's head gets a fatal `bad_json`, wherever it is cut",
        http_lines,
    ),
];

/// A `hello` that is refused ends its connection.
fn refused(trial: &Trial<'_>, request: &Value, fields: &Value) -> Checked {
    let mut peer = trial.open()?;
    // What follows a fatal error is not answered.
    peer.send_all(&[request.clone(), ping("late")])?;
    let error = peer.last(request["id"].as_str().unwrap_or_default())?;
    like(&error, &with(json!({ "type": "error", "line": 1, "fatal": true }), fields))?;
    peer.closed()?;
    holds(peer.log.len() == 1, "nothing behind a fatal error", || format!("{} messages", peer.log.len()))
}

fn result(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.open()?;
    let client =
        json!({ "client": { "name": "plyd conform", "version": "1" }, "on_eof": "finish", "require": [] });
    let result = peer.result(&with(trial.hello(), &client))?;
    like(&result, &json!({ "of": "hello", "protocol": 1 }))?;
    text(&result["server"], "name")?;
    text(&result["server"], "version")?;
    texts(&result, "features")?;
    holds(!texts(&result, "games")?.is_empty(), "at least one game", || result.to_string())?;
    holds(result["limits"].is_object(), "an object `limits`", || result.to_string())
}

fn limits(trial: &Trial<'_>) -> Checked {
    let peer = trial.greet()?;
    let limits = &peer.hello["limits"];
    let fixed = json!({ "line_bytes": 1 << 20, "nesting": 32, "finished_ids": 1024, "multipv": 1000, "depth": 1000,
        "unsent_bytes": 8 << 20, "stalled_ms": 10_000, "eof_ms": 10_000, "shutdown_ms": 5000 });
    like(limits, &fixed)?;
    for name in ["requests", "sessions", "searches", "threads", "hash_bytes"] {
        holds(number(limits, name)? > 0, format!("a positive `{name}`"), || limits.to_string())?;
    }
    if limits.get("drain_ms").is_some() {
        number(limits, "drain_ms")?;
    }
    if peer.has("byte_limits") {
        for name in [
            "request_bytes",
            "request_bytes_in_all",
            "session_bytes",
            "session_bytes_in_all",
            "unsent_bytes_in_all",
            "connections",
            "strangers",
            "hello_ms",
            "bad_lines",
            "engines",
        ] {
            holds(number(limits, name)? > 0, format!("a positive `{name}`"), || limits.to_string())?;
        }
        // 0 if there is none.
        for name in ["connections_per_address", "idle_ms", "keepalive_ms"] {
            number(limits, name)?;
        }
        if peer.has("websocket") {
            holds(number(limits, "silence_ms")? > 0, "a positive `silence_ms`", || limits.to_string())?;
        }
        // All of them where TLS is served, and none elsewhere.
        let of_tls = ["handshakes", "handshake_ms", "handshake_bytes"];
        for name in of_tls.iter().filter(|_| of_tls.iter().any(|name| limits.get(name).is_some())) {
            holds(number(limits, name)? > 0, format!("a positive `{name}`"), || limits.to_string())?;
        }
    }
    Ok(())
}

fn optional(trial: &Trial<'_>) -> Checked {
    trial.needs_stdio()?;
    let mut peer = trial.open()?;
    peer.ping()?;
    like(&peer.result(&trial.hello())?, &json!({ "protocol": 1 }))?;
    peer.ping()
}

fn required(trial: &Trial<'_>) -> Checked {
    trial.needs_socket()?;
    for request in [ping("p"), json!({ "id": "q", "cmd": "quit" }), json!({ "id": "s", "cmd": "status" })] {
        refused(trial, &request, &json!({ "code": "handshake_required" }))?;
    }
    Ok(())
}

fn version(trial: &Trial<'_>) -> Checked {
    for (min, max) in [(0, 1), (1, 65_535), (0, 65_535)] {
        let peer = trial.greet_with(&json!({ "protocol": { "min": min, "max": max } }))?;
        let chosen = number(&peer.hello, "protocol")?;
        // A later server may speak a later version, but never one that the client does not.
        holds((1..=max).contains(&chosen), format!("a version from 1 to {max}"), || peer.hello.to_string())?;
    }
    Ok(())
}

fn no_version(trial: &Trial<'_>) -> Checked {
    for (min, max) in [(0, 0), (65_535, 65_535)] {
        let request = with(trial.hello(), &json!({ "protocol": { "min": min, "max": max } }));
        refused(trial, &request, &json!({ "code": "version_unsupported", "pointer": "/protocol" }))?;
    }
    Ok(())
}

fn features(trial: &Trial<'_>) -> Checked {
    let features = texts(&trial.greet()?.hello, "features")?;
    trial.greet_with(&json!({ "require": features }))?.ping()
}

fn no_feature(trial: &Trial<'_>) -> Checked {
    let mut features = texts(&trial.greet()?.hello, "features")?;
    let pointer = format!("/require/{}", features.len());
    features.push("levitation".to_owned());
    let request = with(trial.hello(), &json!({ "require": features }));
    refused(trial, &request, &json!({ "code": "feature_unsupported", "pointer": pointer }))
}

fn refusal_order(trial: &Trial<'_>) -> Checked {
    let both = json!({ "protocol": { "min": 65_535, "max": 65_535 }, "require": ["levitation"] });
    refused(trial, &with(trial.hello(), &both), &json!({ "code": "version_unsupported" }))
}

fn token(trial: &Trial<'_>) -> Checked {
    trial.needs_socket()?;
    let Some(token) = trial.token() else {
        return Err(Stop::skipped("the server wants no token, or none was given to the suite"));
    };
    let mut without = trial.hello();
    if let Some(fields) = without.as_object_mut() {
        fields.remove("token");
    }
    refused(trial, &without, &json!({ "code": "auth_required", "pointer": "/token" }))?;
    let wrong = |token: String| with(trial.hello(), &json!({ "token": token }));
    for other in [String::new(), format!("{token}x"), token.chars().skip(1).collect(), "x".repeat(4096)] {
        refused(trial, &wrong(other), &json!({ "code": "auth_failed", "pointer": "/token" }))?;
    }
    // The version is checked before the token, features after it.
    let later = json!({ "protocol": { "min": 65_535, "max": 65_535 } });
    refused(trial, &with(wrong("x".into()), &later), &json!({ "code": "version_unsupported" }))?;
    let more = json!({ "require": ["levitation"] });
    refused(trial, &with(wrong("x".into()), &more), &json!({ "code": "auth_failed" }))?;
    trial.greet()?.ping()
}

fn repeated(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet_with(&json!({ "on_eof": "stop" }))?;
    for fields in [json!({ "on_eof": "cancel" }), json!({ "protocol": { "min": 65_535, "max": 65_535 } })] {
        peer.refused(
            &with(trial.hello(), &fields),
            &json!({ "code": "handshake_repeated", "fatal": false }),
        )?;
    }
    peer.ping()?;
    if trial.is_websocket() {
        return Ok(());
    }
    let game = peer.vast_game()?;
    peer.send(&go("g", &game, endless()))?;
    peer.info("g", "started")?;
    peer.end_input();
    like(&peer.last("g")?, &json!({ "type": "bestmove", "reason": "stopped" }))
}

fn bad_hello(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.open()?;
    for (fields, code, pointer) in [
        (json!({ "protocol": {} }), "missing_field", "/protocol/min"),
        (json!({ "wings": 2 }), "unknown_field", "/wings"),
        (json!({ "protocol": { "min": 2, "max": 1 } }), "out_of_range", "/protocol/max"),
        (json!({ "on_eof": "ponder" }), "bad_enum", "/on_eof"),
    ] {
        let wanted = json!({ "code": code, "pointer": pointer, "fatal": false });
        peer.refused(&with(trial.hello(), &fields), &wanted)?;
    }
    peer.result(&trial.hello())?;
    peer.ping()
}

fn first_line(trial: &Trial<'_>) -> Checked {
    trial.needs_socket()?;
    let mut peer = trial.open()?;
    peer.send(&with(trial.hello(), &json!({ "x_padding": "x".repeat(17 << 10) })))?;
    like(&peer.any_final()?, &json!({ "code": "line_too_long", "id": null, "line": 1, "fatal": false }))?;
    peer.result(&trial.hello())?;
    peer.result(&with(ping("p"), &json!({ "x_padding": "x".repeat(17 << 10) }))).map(drop)
}

fn abuse(trial: &Trial<'_>) -> Checked {
    trial.needs_socket()?;
    // How many bad lines are one too many.
    let greeted = trial.greet()?;
    let most = if greeted.has("byte_limits") { number(&greeted.hello["limits"], "bad_lines")? } else { 16 };
    let mut peer = trial.open()?;
    for _ in 1..most {
        peer.send_line(b"[]")?;
        like(&peer.fault()?, &json!({ "code": "not_object", "fatal": false }))?;
    }
    // A good `hello` may still follow.
    trial.greet()?.ping()?;
    peer.send_line(b"[]")?;
    peer.closed()?;
    let messages = peer.log.iter().map(|heard| &heard.message);
    let notices: Vec<&Value> = messages.filter(|message| message["kind"] == "protocol_abuse").collect();
    holds(notices.len() == 1, "a notice `protocol_abuse` before the end", || format!("{}", notices.len()))?;
    if greeted.has("byte_limits") {
        like(notices[0], &json!({ "limit": "bad_lines" }))?;
    }
    let faults = peer.log.iter().filter(|heard| heard.message["type"] == "error").count() as u64;
    holds(faults == most, format!("an error for each of {most} lines"), || format!("{faults}"))
}

fn http(trial: &Trial<'_>) -> Checked {
    trial.needs_socket()?;
    if trial.is_websocket() {
        return Err(Stop::skipped("of raw ports alone"));
    }
    // What a page makes a browser send, with a conversation in its body that must not be held.
    let body = format!("{}\n{}", trial.hello(), ping("p"));
    for head in [
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r",
        "POST /go HTTP/1.0\r\nContent-Length: 2\r\n\r",
        "PROPFIND /x HTTP/1.1\r\nHost: localhost\r\n\r",
        "wings * HTTP/1.1\r\n\r",
    ] {
        let stranger = &format!("{head}\n{body}");
        let mut peer = trial.open()?;
        peer.send_line(stranger.as_bytes())?;
        let error = peer.fault()?;
        like(&error, &json!({ "code": "bad_json", "id": null, "fatal": true }))
            .map_err(|stop| stop.at(stranger))?;
        peer.closed()?;
        holds(peer.log.len() == 1, "one answer", || format!("{} messages", peer.log.len()))?;
    }
    list(&trial.greet()?.hello, "games").map(drop)
}

fn http_lines(trial: &Trial<'_>) -> Checked {
    trial.needs_socket()?;
    if trial.is_websocket() {
        return Err(Stop::skipped("of raw ports alone"));
    }
    for line in [
        "Host: localhost",
        "content-length:2",
        "GET /",
        "M-SEARCH * HTTP/1.1",
        "GET  \t /two",
        "\n\r\n\nGET / HTTP/1.1",
        "GET http://localhost/ HTTP/1.1",
        "CONNECT localhost:7117 HTTP/1.1",
        "Upgrade h2c HTTP/2.0",
    ] {
        // In two packets, followed by a conversation that must not be held.
        let behind = format!("{line}\n{}\n{}\n", trial.hello(), ping("p"));
        let (start, rest) = behind.split_at(line.len() / 2);
        let mut peer = trial.open()?;
        peer.send_bytes(start.as_bytes())?;
        std::thread::yield_now();
        peer.send_bytes(rest.as_bytes())?;
        behind.lines().for_each(|line| peer.note(line.as_bytes()));
        let error = peer.fault()?;
        like(&error, &json!({ "code": "bad_json", "id": null, "fatal": true }))
            .map_err(|stop| stop.at(line))?;
        peer.closed()?;
        holds(peer.log.len() == 1, "one answer", || format!("{} messages", peer.log.len()))?;
    }
    trial.greet()?.ping()
}

fn late_token(trial: &Trial<'_>) -> Checked {
    /// The least that a wrong token waits.
    const LATE: Duration = Duration::from_millis(100);
    trial.needs_socket()?;
    if trial.token().is_none() {
        return Err(Stop::skipped("the server wants no token, or none was given to the suite"));
    }
    let guess = with(trial.hello(), &json!({ "token": "guess" }));
    for (round, least) in [LATE, 2 * LATE, 4 * LATE].into_iter().enumerate() {
        let mut guesser = trial.open()?;
        let since = Instant::now();
        guesser.send_all(&[guess.clone(), ping("unread")])?;
        if round == 2 {
            trial.greet()?.ping()?;
            let expected = "a right token is answered before a wrong one that came earlier";
            holds(guesser.is_silent(), expected, || "the wrong one was answered first".into())?;
        }
        let refusal = guesser.last("hello")?;
        let waited = since.elapsed();
        holds(
            waited >= least,
            format!("{} ms before the answer to a wrong token", least.as_millis()),
            || format!("{} ms", waited.as_millis()),
        )?;
        like(&refusal, &json!({ "type": "error", "code": "auth_failed" }))?;
        guesser.closed()?;
        let answers = guesser.log.len();
        holds(answers == 1, "one answer, as nothing else is read", || format!("{answers}"))?;
    }
    Ok(())
}

fn late_refusal(trial: &Trial<'_>) -> Checked {
    trial.needs_stdio()?;
    let game = trial.greet()?.vast_game()?;
    let mut peer = trial.open()?;
    peer.send(&go("g", &game, endless()))?;
    peer.info("g", "started")?;
    let late = with(trial.hello(), &json!({ "protocol": { "min": 65_535, "max": 65_535 } }));
    peer.send_all(&[late, ping("unread")])?;
    like(&peer.last("g")?, &json!({ "type": "bestmove", "reason": "stopped" }))?;
    like(&peer.last("hello")?, &json!({ "code": "version_unsupported", "fatal": true }))?;
    peer.closed()?;
    let (best, refusal) = (peer.place("g")?, peer.place("hello")?);
    let is_last = refusal + 1 == peer.log.len() && best < refusal;
    holds(is_last, "the fatal error behind all other messages, as the last one", || {
        peer.log.iter().map(|heard| heard.message.to_string()).collect::<Vec<_>>().join("\n")
    })
}
