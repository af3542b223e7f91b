//! What holds for every message of every connection, judged as it arrives.
//!
//! A broken promise is noted under the name of a check of its own, whichever check brought it about, so that
//! it fails one check. After its first fault a message is not judged further, so that one fault does not
//! count twice.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use plyd_protocol::{Envelope, ErrorCode, MAX_INT, Message, NoticeKind, Reason};
use serde_json::Value;

use super::referee::{Referee, Root};
use super::requests::with;
use super::verdict::{Checked, Stop, holds, list, number, text};
use plyd_client::is_final_json;
use plyd_core::engine::ToMove;

/// The first case of each broken promise so far, by the check that reports it.
#[derive(Debug, Default)]
pub(super) struct Findings(Mutex<BTreeMap<&'static str, Stop>>);

impl Findings {
    /// Whether nothing was found under that name.
    pub(super) fn check(&self, name: &str) -> Checked {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.get(name).map_or(Ok(()), |stop| Err(stop.clone()))
    }

    pub(super) fn note(&self, name: &'static str, checked: Checked) -> bool {
        let Err(stop) = checked else { return true };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_insert(stop);
        false
    }
}

/// The monitor of one connection.
pub(super) struct InvariantMonitor<'f> {
    findings: &'f Findings,
    referee: Referee,
    seq: u64,
    t_us: u64,
    /// How many finals each id still may get.
    open: HashMap<String, u32>,
    /// The positions of running searches that the referee knows.
    searched: HashMap<String, Root>,
    /// The `info` that each running search asked for; none: any.
    events: HashMap<String, Vec<String>>,
    /// The games of sessions whose result has not come, by the id of their `newgame`, and of those that are
    /// open.
    opening: HashMap<String, (String, Value)>,
    sessions: HashMap<String, Value>,
}

impl<'f> InvariantMonitor<'f> {
    /// The monitor of a connection that begins.
    pub(super) fn new(findings: &'f Findings, referee: Referee) -> Self {
        Self {
            findings,
            referee,
            seq: 0,
            t_us: 0,
            open: HashMap::new(),
            searched: HashMap::new(),
            events: HashMap::new(),
            opening: HashMap::new(),
            sessions: HashMap::new(),
        }
    }

    /// Goes on after message `seq` of another connection, whose messages are `heard`: those after `seq` come
    /// again.
    pub(super) fn follow<'m>(&mut self, earlier: &Self, heard: impl Iterator<Item = &'m Value>, seq: u64) {
        (self.seq, self.t_us) = (seq, 0);
        self.open.clone_from(&earlier.open);
        self.sessions.clone_from(&earlier.sessions);
        self.opening.clone_from(&earlier.opening);
        let again = heard.filter(|message| is_final_json(message) && message["seq"].as_u64() > Some(seq));
        for id in again.filter_map(|message| message["id"].as_str()) {
            *self.open.entry(id.to_owned()).or_default() += 1;
        }
    }

    /// Whether a final message of that id is still to come.
    pub(super) fn is_awaited(&self, id: &str) -> bool {
        self.open.get(id).is_some_and(|count| *count > 0)
    }

    /// Notes a line that is sent.
    pub(super) fn sent(&mut self, line: &[u8]) {
        let request: Value = serde_json::from_slice(line).unwrap_or_default();
        let Some(id) = request["id"].as_str() else { return };
        *self.open.entry(id.to_owned()).or_default() += 1;
        match request["cmd"].as_str() {
            Some("newgame") => {
                let session = request["session"].as_str().unwrap_or_default().to_owned();
                // Until its result names the seed, positions of the session are not known.
                self.sessions.remove(&session);
                self.opening.insert(id.to_owned(), (session, request));
            }
            Some("go") if self.open[id] == 1 => {
                let session = request["session"].as_str().and_then(|session| self.sessions.get(session));
                let root = self.referee.root(session.unwrap_or(&request), &request["position"]);
                self.searched.remove(id);
                self.searched.extend(root.map(|root| (id.to_owned(), root)));
                self.events.remove(id);
                self.events.extend(events(&request).map(|events| (id.to_owned(), events)));
            }
            _ => {}
        }
    }

    /// Judges a message; `sent` lines were sent before it was read.
    pub(super) fn heard(&mut self, bytes: &[u8], message: &Value, sent: u64) {
        let findings = self.findings;
        let raw = || String::from_utf8_lossy(bytes).into_owned();
        let is_object = holds(message.is_object(), "one JSON object a line and nothing else", raw);
        if !findings.note("framing/messages", is_object)
            | !findings.note("numbers/integers", only_integers(message))
            | !findings.note("numbers/hashes", hashes(message))
            | !findings.note("numbers/shares", shares(message))
        {
            return self.close(message);
        }
        findings.note("ids/seq", self.seq_follows(message));
        findings.note("ids/stamps", self.stamp_follows(message));
        let expected = "a message as the specification has it";
        let shape = match Envelope::read(bytes) {
            Ok(envelope) => holds(has_known_words(&envelope.message), expected, raw),
            Err(error) => Err(Stop::failed(expected, format!("{error}: {}", raw()))),
        };
        if message.get("seq").is_some()
            && message.get("t_us").is_some()
            && findings.note("framing/messages", shape)
        {
            self.judge(message, sent);
        }
        self.close(message);
    }

    fn judge(&self, message: &Value, sent: u64) {
        let findings = self.findings;
        let id = message["id"].as_str().unwrap_or_default();
        let kind = message["type"].as_str().unwrap_or_default();
        if kind == "error" {
            findings.note("framing/errors", error_is_whole(message, sent));
        }
        let is_open = self.open.get(id).is_some_and(|&count| count > 0);
        if kind == "notice" && !id.is_empty() {
            let came = || message.to_string();
            findings
                .note("ids/notices", holds(is_open, "a notice about a request only before its end", came));
        }
        if kind == "info" {
            let came = || message.to_string();
            findings.note("ids/infos-first", holds(is_open, "an `info` only before the final message", came));
            if let Some(events) = self.events.get(id) {
                let is_wanted = events.iter().any(|event| message["event"] == event.as_str());
                let expected = || format!("only the events {events:?}");
                findings.note("search/events", holds(is_wanted, expected(), came));
            }
        }
        if is_final_json(message) && !id.is_empty() {
            let one = holds(is_open, "exactly one final message of each request", || message.to_string());
            findings.note("ids/one-final", one);
        }
        if kind == "bestmove" {
            findings.note("search/timing", timing(message));
            findings.note("search/reasons", reason(message));
        }
        if kind != "bestmove" && kind != "info" {
            return;
        }
        findings.note("search/lines", lines_agree(message));
        findings.note("search/scores", scores(message));
        if let Some(root) = self.searched.get(id)
            && findings.note("search/legal-moves", legal(message, root))
        {
            findings.note("search/variations", variations(message, root));
            findings.note("search/replies", reply(message, root));
        }
    }

    /// Takes a final message off the books.
    fn close(&mut self, message: &Value) {
        if !is_final_json(message) {
            return;
        }
        let id = message["id"].as_str().or(message["ref"].as_str()).unwrap_or_default();
        if let Some(count) = self.open.get_mut(id) {
            *count = count.saturating_sub(1);
        }
        if message["type"] == "bestmove" {
            self.searched.remove(id);
            self.events.remove(id);
        }
        if let Some((session, request)) = self.opening.remove(id)
            && message["type"] == "result"
        {
            let game = with(request, &serde_json::json!({ "seed": message["seed"] }));
            self.sessions.insert(session, game);
        }
    }

    fn seq_follows(&mut self, message: &Value) -> Checked {
        self.seq += 1;
        let follows = message["seq"].as_u64() == Some(self.seq);
        let checked = holds(follows, format!("seq {}", self.seq), || message.to_string());
        // One gap is reported once.
        self.seq = message["seq"].as_u64().unwrap_or(self.seq);
        checked
    }

    fn stamp_follows(&mut self, message: &Value) -> Checked {
        let t_us = message["t_us"].as_u64();
        let follows = t_us.is_some_and(|t_us| t_us >= self.t_us);
        let checked = holds(follows, format!("t_us of at least {}", self.t_us), || message.to_string());
        self.t_us = t_us.unwrap_or(self.t_us);
        checked
    }
}

/// What a `go` wants as `info`; with the clock `anytime` each better move comes, too.
fn events(request: &Value) -> Option<Vec<String>> {
    let Some(wanted) = request["info"].get("events") else { return Some(vec!["best".to_owned()]) };
    let mut events: Vec<String> =
        wanted.as_array()?.iter().filter_map(|event| event.as_str().map(str::to_owned)).collect();
    if request["clock"]["kind"] == "anytime" {
        events.push("best".to_owned());
    }
    Some(events)
}

fn only_integers(value: &Value) -> Checked {
    let expected = "integers of magnitude 2^53 - 1 at most";
    match value {
        Value::Number(number) => {
            let size = number.as_i64().map(i64::unsigned_abs).or(number.as_u64());
            holds(size.is_some_and(|size| size <= MAX_INT as u64), expected, || number.to_string())
        }
        Value::Array(items) => items.iter().try_for_each(only_integers),
        Value::Object(fields) => fields.iter().try_for_each(|(name, field)| {
            only_integers(field).map_err(|stop| Stop { came: format!("{name}: {}", stop.came), ..stop })
        }),
        _ => Ok(()),
    }
}

fn hashes(message: &Value) -> Checked {
    for field in ["hash", "seed"] {
        if let Some(value) = message.get(field) {
            let is_hex = |text: &str| {
                (1..=16).contains(&text.len())
                    && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            };
            holds(
                value.as_str().is_some_and(is_hex),
                format!("`{field}` of 1 to 16 lower-case hex digits"),
                || value.to_string(),
            )?;
        }
    }
    Ok(())
}

/// Shares in ppm: 1,000,000 together, or at most.
fn shares(message: &Value) -> Checked {
    let whole =
        |shares: &mut dyn Iterator<Item = Option<u64>>| shares.sum::<Option<u64>>() == Some(1_000_000);
    for line in message["lines"].as_array().into_iter().flatten() {
        if let Some(wdl) = line["score"]["wdl"].as_array() {
            let is_whole = wdl.len() == 3 && whole(&mut wdl.iter().map(Value::as_u64));
            holds(is_whole, "`wdl` of 1,000,000 together", || line.to_string())?;
        }
    }
    if let Some(ppm) = message["stats"].get("hash_ppm").and_then(Value::as_u64) {
        holds(ppm <= 1_000_000, "`hash_ppm` of 1,000,000 at most", || message["stats"].to_string())?;
    }
    match message["chance"].as_array() {
        Some(chance) if message["of"] == "inspect" && !chance.is_empty() => {
            let is_whole = whole(&mut chance.iter().map(|outcome| outcome["ppm"].as_u64()));
            holds(is_whole, "chances of 1,000,000 together", || message["chance"].to_string())
        }
        _ => Ok(()),
    }
}

/// An error has its line, a valid pointer, and is fatal if its code is.
fn error_is_whole(message: &Value, sent: u64) -> Checked {
    let came = || message.to_string();
    let line = number(message, "line")?;
    // The end of a connection by an operator answers no line, nor does that by a limit without a `hello`.
    let is_by_limit = message["id"].is_null() && message.get("limit").is_some();
    let is_answer = message["code"] != "disconnected" && !is_by_limit;
    let lines = u64::from(is_answer)..=if is_answer { sent.max(1) } else { 0 };
    holds(lines.contains(&line), format!("a line from {} to {}", lines.start(), lines.end()), came)?;
    if let Some(pointer) = message["pointer"].as_str() {
        let is_escaped = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        let is_pointer = (pointer.is_empty() || pointer.starts_with('/')) && is_escaped;
        holds(is_pointer, "a JSON pointer (RFC 6901)", came)?;
    }
    let code: Option<ErrorCode> = serde_json::from_value(message["code"].clone()).ok();
    // An HTTP request is answered by a fatal `bad_json`.
    if let Some(code) = code.filter(|code| *code != ErrorCode::BadJson) {
        holds(message["fatal"] == code.fatal(), format!("`fatal` {}", code.fatal()), came)?;
    }
    let (is_over, has_outcome) = (code == Some(ErrorCode::GameOver), message.get("outcome").is_some());
    holds(is_over == has_outcome, "an `outcome` with `game_over` alone", came)
}

/// Whether its words stand in the specification's lists. (Clients take others in open lists, but what the
/// suite provokes has its word. A notice that answers no request may be of a kind that nobody knows yet.)
fn has_known_words(message: &Message) -> bool {
    match message {
        Message::BestMove(best) => best.reason != Reason::Other,
        Message::Error(error) => error.code != ErrorCode::Other,
        Message::Notice(notice) => notice.id.is_none() || notice.kind != NoticeKind::Other,
        Message::Result(_) | Message::Info(_) => true,
    }
}

fn timing(message: &Value) -> Checked {
    let at = |name| number(&message["timing"], name);
    let (received, started, decided) = (at("received_us")?, at("started_us")?, at("decided_us")?);
    let written = number(message, "t_us")?;
    let is_ordered = received <= started && started <= decided && decided <= written;
    holds(is_ordered, "received_us <= started_us <= decided_us <= t_us", || message.to_string())
}

fn reason(message: &Value) -> Checked {
    let is_superseded = message["reason"] == "superseded";
    holds(
        is_superseded || message.get("superseded_by").is_none(),
        "`superseded_by` with that reason alone",
        || message.to_string(),
    )
}

fn lines_agree(message: &Value) -> Checked {
    let came = || message.to_string();
    let lines = list(message, "lines")?;
    if message["type"] == "bestmove" {
        holds(!lines.is_empty(), "at least one line", came)?;
    }
    if let Some(first) = lines.first() {
        holds(first["move"] == message["move"], "lines[0].move is `move`", came)?;
    }
    let mut moves = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        holds(line["rank"].as_u64() == Some(index as u64 + 1), "ranks from 1 on", came)?;
        holds(line["pv"][0] == line["move"], "a line's move is the first of its pv", came)?;
        let mv = text(line, "move")?;
        holds(!moves.contains(&mv), "each move in one line", came)?;
        moves.push(mv);
    }
    Ok(())
}

/// A score is not empty, and its parts agree.
fn scores(message: &Value) -> Checked {
    for line in list(message, "lines")? {
        let came = || line.to_string();
        let Some(score) = line.get("score") else {
            continue;
        };
        let has_score = ["eval", "wdl", "proof"].iter().any(|part| score.get(part).is_some());
        holds(has_score, "a score of `eval`, `wdl` or `proof`", came)?;
        let Some(proof) = score.get("proof") else { continue };
        let both = proof.get("plies").is_some() && proof.get("plies_max").is_some();
        holds(!both, "`plies` or `plies_max`, not both", came)?;
        if let Some(margin) = proof["margin"].as_i64() {
            let outcome = ["loss", "draw", "win"][(margin.signum() + 1) as usize];
            holds(proof["outcome"] == outcome, format!("the outcome of the margin's sign: {outcome}"), came)?;
        }
    }
    Ok(())
}

/// A message's move is legal in the searched position.
fn legal(message: &Value, root: &Root) -> Checked {
    let Some(mv) = message["move"].as_str() else { return Ok(()) };
    let is_legal = root.candidates(&[mv.to_owned()], &[]).is_ok();
    holds(is_legal, format!("a legal move at `{}`", root.text()), || message.to_string())
}

/// Every variation is legal: it stops at the end of the game, and has a `~` wherever chance decides.
fn variations(message: &Value, root: &Root) -> Checked {
    for line in list(message, "lines")? {
        let pv: Vec<String> = super::verdict::texts(line, "pv")?;
        if let Err(fault) = root.extend(&pv) {
            return Err(Stop::failed(
                format!("a legal variation at `{}`, to the end of the game at most", root.text()),
                format!("{}: {line}", fault.message),
            ));
        }
    }
    Ok(())
}

/// The reply is a legal one, and there is none if chance comes first or the game is over.
fn reply(message: &Value, root: &Root) -> Checked {
    let (Some(reply), Some(mv)) = (message["ponder"].as_str(), message["move"].as_str()) else {
        return Ok(());
    };
    let expected = "a `ponder` that is a legal reply, and none where chance comes first";
    let Ok(next) = root.extend(&[mv.to_owned()]) else { return Ok(()) };
    let is_reply = next.to_move() != ToMove::Chance && next.candidates(&[reply.to_owned()], &[]).is_ok();
    holds(is_reply, expected, || message.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_games::REGISTRY;
    use serde_json::json;

    const STATS: &str = r#""stats":{"nodes":1,"nps":1,"time_ms":0,"depth":1,"seldepth":1,"hash_ppm":0}"#;

    /// What is found in a conversation: requests, then messages.
    fn found(requests: &[Value], messages: &[&str]) -> Vec<&'static str> {
        let findings = Findings::default();
        let mut monitor = InvariantMonitor::new(&findings, Referee(REGISTRY));
        for request in requests {
            monitor.sent(request.to_string().as_bytes());
        }
        for message in messages {
            let value = serde_json::from_str(message).unwrap_or_default();
            monitor.heard(message.as_bytes(), &value, requests.len() as u64);
        }
        let found = findings.0.into_inner().unwrap();
        found.into_keys().collect()
    }

    #[test]
    fn each_broken_promise_is_found_under_its_name_alone() {
        let go = json!({ "id": "g", "cmd": "go", "game": "isolation", "position": { "moves": ["d4", "b3"] },
            "limit": { "nodes": 9 }, "info": { "events": ["best"] } });
        let best = format!(
            r#"{{"seq":1,"t_us":9,"type":"bestmove","id":"g","reason":"limit","move":"f5","ponder":"d2","hash":"f0","lines":[{{"rank":1,"move":"f5","pv":["f5","d2"],"depth":1,"score":{{"bound":"exact","eval":5}}}}],{STATS},"timing":{{"received_us":1,"started_us":2,"decided_us":3}}}}"#
        );
        assert_eq!(found(std::slice::from_ref(&go), &[&best]), [""; 0]);
        for (old, new, name) in [
            (r#""seq":1"#, r#""seq":2"#, "ids/seq"),
            (r#""nodes":1"#, r#""nodes":1.5"#, "numbers/integers"),
            (r#""nodes":1"#, r#""nodes":9007199254740992"#, "numbers/integers"),
            (r#""hash":"f0""#, r#""hash":"F0""#, "numbers/hashes"),
            (r#""hash_ppm":0"#, r#""hash_ppm":1000001"#, "numbers/shares"),
            (r#""eval":5"#, r#""wdl":[1,2,3]"#, "numbers/shares"),
            (r#""reason":"limit","#, "", "framing/messages"),
            (r#""reason":"limit""#, r#""reason":"boredom""#, "framing/messages"),
            (r#""reason":"limit""#, r#""reason":"limit","superseded_by":"x""#, "search/reasons"),
            (r#""rank":1"#, r#""rank":2"#, "search/lines"),
            (r#""pv":["f5","d2"]"#, r#""pv":["c5","d2"]"#, "search/lines"),
            ("f5", "a1", "search/legal-moves"),
            (r#"["f5","d2"]"#, r#"["f5","d2","d2"]"#, "search/variations"),
            (r#""ponder":"d2""#, r#""ponder":"b7""#, "search/replies"),
            (r#""started_us":2"#, r#""started_us":0"#, "search/timing"),
            (r#""eval":5"#, r#""proof":{"outcome":"win","margin":-2}"#, "search/scores"),
            (r#""eval":5"#, r#""x":5"#, "search/scores"),
        ] {
            let broken = best.replace(old, new);
            assert_ne!(broken, best, "{old}");
            // A variation that begins elsewhere is illegal, too.
            let reported = found(std::slice::from_ref(&go), &[&broken]);
            assert!(reported.contains(&name), "{name}: {reported:?}");
            assert!(reported.len() == 1 || old.contains("pv"), "{name}: {reported:?}");
        }
        let again = best.replace(r#""seq":1"#, r#""seq":2"#);
        assert_eq!(found(std::slice::from_ref(&go), &[&best, &again]), ["ids/one-final"]);
        let late = format!(
            r#"{{"seq":2,"t_us":9,"type":"info","id":"g","event":"best","move":"f5","lines":[],{STATS}}}"#
        );
        assert_eq!(found(std::slice::from_ref(&go), &[&best, &late]), ["ids/infos-first"]);
        let early = late.replace(r#""seq":2"#, r#""seq":1"#).replace("best", "progress");
        assert_eq!(found(std::slice::from_ref(&go), &[&early]), ["search/events"]);
        assert_eq!(found(&[], &["hello"]), ["framing/messages"]);
        // What is new to us may be said if nothing asked for it.
        let notice = r#"{"seq":1,"t_us":9,"type":"notice","kind":"news","message":"m"}"#;
        assert_eq!(found(&[], &[notice]), [""; 0]);
        let told = notice.replace(r#""message""#, r#""id":"g","message""#);
        assert_eq!(found(std::slice::from_ref(&go), &[&told]), ["framing/messages"]);
    }

    #[test]
    fn errors_point_at_what_is_there() {
        let ping = json!({ "id": "p", "cmd": "ping" });
        let error = r#"{"seq":1,"t_us":1,"type":"error","id":"p","line":1,"code":"bad_enum","message":"m","pointer":"/a~1b","fatal":false}"#;
        assert_eq!(found(std::slice::from_ref(&ping), &[error]), [""; 0]);
        for (old, new) in [
            (r#""line":1"#, r#""line":2"#),
            (r#""line":1"#, r#""line":0"#),
            ("/a~1b", "a"),
            ("/a~1b", "/a~2"),
            ("false", "true"),
            ("bad_enum", "game_over"),
        ] {
            assert_eq!(
                found(std::slice::from_ref(&ping), &[&error.replace(old, new)]),
                ["framing/errors"],
                "{new}"
            );
        }
    }
}
