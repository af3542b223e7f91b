//! What holds for every message of a connection, checked as it arrives.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// Words of a field `code`.
const CODES: &str = "bad_utf8 bad_json line_too_long not_object bad_id duplicate_id missing_field unknown_field \
    wrong_type not_integer out_of_range bad_enum unknown_cmd handshake_required handshake_repeated \
    version_unsupported feature_unsupported auth_required auth_failed resume_unknown resume_gap forbidden \
    connection_unknown disconnected timed_out too_many_connections too_many_requests too_many_sessions \
    overloaded shutting_down session_unknown session_busy game_unknown rules_unsupported bad_position \
    illegal_position undecided illegal_move game_over option_unknown option_invalid cancelled unprepared \
    internal";

/// Words of a field `reason`.
const REASONS: &str = "proven clock limit only_move stopped superseded deadline closed failed shutdown";

/// The connection's requests without a final message, and the last message's place.
#[derive(Default)]
pub(crate) struct Ledger {
    open: HashMap<String, usize>,
    /// The open requests about which a warning came.
    warned: HashSet<String>,
    seq: u64,
    t_us: u64,
}

impl Ledger {
    /// Notes a request sent.
    pub(crate) fn sent(&mut self, id: &str) {
        *self.open.entry(id.to_owned()).or_default() += 1;
    }

    /// That of a connection which goes on with another one from this message on; `log` is what came there.
    pub(crate) fn follow(&mut self, earlier: &Self, log: &[Value], seq: u64) {
        (self.open, self.seq, self.t_us) = (earlier.open.clone(), seq, 0);
        self.warned.clone_from(&earlier.warned);
        for message in log.iter().filter(|message| message["seq"].as_u64() > Some(seq)) {
            if let ("result" | "bestmove" | "error", Some(id)) =
                (message["type"].as_str().unwrap_or_default(), message["id"].as_str())
            {
                self.sent(id);
            }
        }
    }

    /// Whether a final message of that id is still to come.
    pub(crate) fn is_open(&self, id: &str) -> bool {
        self.open.get(id).is_some_and(|&count| count > 0)
    }

    /// How many final messages are still to come.
    pub(crate) fn open(&self) -> usize {
        self.open.values().sum()
    }

    /// Checks a message against those before.
    pub(crate) fn arrived(&mut self, message: &Value) {
        let number = |name: &str| message[name].as_u64().unwrap_or_else(|| panic!("no {name}: {message}"));
        assert_eq!(number("seq"), self.seq + 1, "seq has a gap: {message}");
        self.seq += 1;
        assert!(number("t_us") >= self.t_us, "t_us runs backwards: {message}");
        self.t_us = number("t_us");
        only_integers(message, message);
        match message["type"].as_str() {
            Some("notice") => {
                assert!(message["kind"].is_string() && message["message"].is_string(), "{message}");
                self.warned.extend(message["id"].as_str().map(str::to_owned));
            }
            Some("info") => {
                assert!(self.is_open(id(message)), "an info without a running request: {message}");
                lines_agree(message);
            }
            Some("result") => {
                assert!(message["of"].is_string(), "{message}");
                self.close(id(message), message);
            }
            Some("bestmove") => {
                assert!(word_of(REASONS, &message["reason"]), "{message}");
                assert!(is_hash(&message["hash"]), "{message}");
                assert!(message["move"].is_string(), "{message}");
                lines_agree(message);
                let at = |name: &str| message["timing"][name].as_u64().unwrap_or_else(|| panic!("{message}"));
                assert!(at("received_us") <= at("started_us"), "{message}");
                assert!(at("started_us") <= at("decided_us"), "{message}");
                assert!(at("decided_us") <= self.t_us, "{message}");
                // Absent, too, where the newer search is another connection's.
                assert!(
                    message["reason"] == "superseded" || message.get("superseded_by").is_none(),
                    "{message}"
                );
                let is_warned = self.warned.contains(id(message));
                assert!(is_warned || !is_unsearched(message), "a silent answer of depth 0: {message}");
                self.close(id(message), message);
            }
            Some("error") => {
                assert!(word_of(CODES, &message["code"]), "{message}");
                assert!(message["line"].is_u64() && message["fatal"].is_boolean(), "{message}");
                assert!(message["message"].is_string(), "{message}");
                if message["code"] == "duplicate_id" {
                    assert!(message["id"].is_null(), "{message}");
                    self.close(message["ref"].as_str().expect("a ref"), message);
                } else if !message["id"].is_null() {
                    self.close(id(message), message);
                }
            }
            _ => panic!("an unknown type: {message}"),
        }
    }

    fn close(&mut self, id: &str, message: &Value) {
        self.warned.remove(id);
        match self.open.get_mut(id) {
            Some(count) if *count > 0 => *count -= 1,
            _ => panic!("a final message too many: {message}"),
        }
    }
}

/// The id of a message that has one.
fn id(message: &Value) -> &str {
    message["id"].as_str().unwrap_or_else(|| panic!("no id: {message}"))
}

fn word_of(words: &str, value: &Value) -> bool {
    value.as_str().is_some_and(|value| words.split_whitespace().any(|word| word == value))
}

/// Whether a clock was over before the move was searched. A limit may be one of nodes, which is no want of time.
fn is_unsearched(best: &Value) -> bool {
    let line = &best["lines"][0];
    word_of("clock deadline", &best["reason"]) && line["depth"] == 0 && line["score"].get("proof").is_none()
}

fn is_hash(value: &Value) -> bool {
    let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    value.as_str().is_some_and(|text| (1..=16).contains(&text.len()) && text.chars().all(hex))
}

/// Ranks count from 1, the first line has the message's move, and each line's move starts its own
/// variation.
fn lines_agree(message: &Value) {
    for name in ["nodes", "nps", "time_ms", "depth", "seldepth", "hash_ppm"] {
        assert!(message["stats"][name].is_u64(), "{name}: {message}");
    }
    let lines = message["lines"].as_array().unwrap_or_else(|| panic!("no lines: {message}"));
    if message["type"] == "bestmove" {
        assert!(!lines.is_empty(), "{message}");
    }
    if let Some(first) = lines.first() {
        assert_eq!(first["move"], message["move"], "{message}");
    }
    for (at, line) in lines.iter().enumerate() {
        assert_eq!(line["rank"], at + 1, "{message}");
        assert_eq!(line["move"], line["pv"][0], "{message}");
        assert!(line["depth"].is_u64(), "{message}");
        if let Some(score) = line.get("score") {
            assert!(word_of("exact lower upper", &score["bound"]), "{message}");
            let parts = ["eval", "wdl", "proof"].iter().filter(|name| score.get(**name).is_some()).count();
            assert!(parts > 0, "{message}");
            if let Some(proof) = score.get("proof") {
                assert!(word_of("win draw loss", &proof["outcome"]), "{message}");
            }
        }
    }
}

/// No fraction and nothing past 2^53 - 1 is on the wire.
fn only_integers(value: &Value, message: &Value) {
    const MOST: u64 = (1 << 53) - 1;
    match value {
        Value::Number(number) => {
            let size = number.as_i64().map(i64::unsigned_abs).or(number.as_u64());
            assert!(size.is_some_and(|size| size <= MOST), "{number} in {message}");
        }
        Value::Array(items) => items.iter().for_each(|item| only_integers(item, message)),
        Value::Object(fields) => fields.values().for_each(|field| only_integers(field, message)),
        _ => {}
    }
}
