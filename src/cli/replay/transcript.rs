//! Reading transcripts: lines of `{dir, t_us, conn, line, msg}`.
//!
//! A file may hold several runs of a daemon, one behind the other, each with a connection 1. The `line` of a
//! connection counts up in each direction, so that one that does not belongs to a later run.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::client::is_final_json;

/// What happened on a connection.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Record {
    /// The connection.
    pub conn: u64,
    /// What happened.
    pub event: Event,
}

/// Something that a replay repeats or expects.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Event {
    /// The client sent a line.
    Line(String),
    /// The client ended its input.
    End,
    /// The server sent the last message about a request.
    Final(Value),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Direction {
    In,
    Out,
}

#[derive(Deserialize)]
struct Written<'a> {
    dir: Direction,
    conn: u64,
    #[serde(default)]
    line: Option<u64>,
    #[serde(borrow)]
    msg: &'a RawValue,
}

/// Distinguishes the connections of several runs.
#[derive(Default)]
struct Connections {
    /// By the number that a run gave it: the number among all, and the last line in and out.
    known: BTreeMap<u64, (u64, [u64; 2])>,
    last: u64,
    /// Those that took up others, by their numbers among all: what they say goes on from anywhere.
    later: BTreeSet<u64>,
}

impl Connections {
    /// The number among the connections of all runs; that of the first run's are the run's own.
    fn number(&mut self, written: &Written<'_>) -> u64 {
        let way = written.dir as usize;
        let is_new = match (self.known.get(&written.conn), written.line) {
            (None, _) => true,
            (Some((number, _)), _) if way == Direction::Out as usize && self.later.contains(number) => false,
            (Some((_, lines)), Some(line)) => line <= lines[way],
            (Some(_), None) => false,
        };
        if is_new {
            let number = if written.conn > self.last { written.conn } else { self.last + 1 };
            self.last = number;
            self.known.insert(written.conn, (number, [0; 2]));
        }
        let (number, lines) = self.known.entry(written.conn).or_default();
        lines[way] = written.line.unwrap_or(lines[way]);
        *number
    }
}

/// Reads a transcript; messages that are not final are left out, and so is a line that a killed run left half
/// written. Left out as well are connections that took up others: the tokens for that are in no transcript.
///
/// # Errors
/// Names the first line that is no record and says why.
pub(super) fn read(text: &str) -> Result<Vec<Record>, String> {
    let (mut records, mut connections) = (Vec::new(), Connections::default());
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let written: Written = match serde_json::from_str(line) {
            Ok(written) => written,
            Err(error) if error.is_eof() => continue,
            Err(error) => return Err(format!("line {}: no record: {error}", index + 1)),
        };
        let conn = connections.number(&written);
        let event = match written.dir {
            Direction::In => Some(sent(written.msg.get())),
            Direction::Out => {
                serde_json::from_str(written.msg.get()).ok().filter(is_answer).map(Event::Final)
            }
        };
        if event.as_ref().is_some_and(takes_up) {
            connections.later.insert(conn);
        }
        records.extend(event.map(|event| Record { conn, event }));
    }
    records.retain(|record| !connections.later.contains(&record.conn));
    Ok(records)
}

/// Whether a message answers something that the client sent. The fatal errors of line 0 do not: no replay
/// repeats what an operator did, or another socket.
fn is_answer(message: &Value) -> bool {
    is_final_json(message) && message["line"] != 0
}

/// Whether it is a `hello` that takes up a connection which lost its socket.
fn takes_up(event: &Event) -> bool {
    let Event::Line(line) = event else { return false };
    let is_it = |request: Value| request["cmd"] == "hello" && request.pointer("/resume/token").is_some();
    line.contains("resume") && serde_json::from_str(line).is_ok_and(is_it)
}

/// For each connection without a recorded end of input, the index of its last line: the input ends right
/// after it.
pub(super) fn last_lines(records: &[Record]) -> BTreeMap<u64, usize> {
    let mut last = BTreeMap::new();
    for (index, record) in records.iter().enumerate() {
        if matches!(record.event, Event::Line(_)) {
            last.insert(record.conn, index);
        }
    }
    for record in records.iter().filter(|record| record.event == Event::End) {
        last.remove(&record.conn);
    }
    last
}

/// A line is recorded as the JSON that it was; one that was none as a string, the end of the input as null.
fn sent(msg: &str) -> Event {
    match serde_json::from_str(msg) {
        Ok(Value::String(line)) => Event::Line(line),
        Ok(Value::Null) => Event::End,
        _ => Event::Line(msg.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_ends_and_finals_are_kept_and_infos_left_out() {
        let text = r#"
{"dir":"in","t_us":1,"conn":1,"line":1,"msg":{"id":"a", "cmd":"ping","x_":1.50}}
{"dir":"out","t_us":2,"conn":1,"line":1,"msg":{"type":"info","id":"a"}}
{"dir":"out","t_us":2,"conn":1,"line":2,"msg":{"type":"result","id":"a"}}
{"dir":"in","t_us":3,"conn":1,"line":2,"msg":"no \"JSON\""}
{"dir":"out","t_us":3,"conn":1,"line":3,"msg":{"type":"error","id":null,"line":0,"code":"disconnected"}}
{"dir":"in","t_us":4,"conn":2,"line":1,"msg":{}}
{"dir":"in","t_us":5,"conn":2,"line":2,"msg":null}
"#;
        let records = read(text).unwrap();
        let events: Vec<Event> = records.iter().map(|record| record.event.clone()).collect();
        assert_eq!(
            events,
            [
                Event::Line(r#"{"id":"a", "cmd":"ping","x_":1.50}"#.into()),
                Event::Final(serde_json::json!({"type": "result", "id": "a"})),
                Event::Line(r#"no "JSON""#.into()),
                Event::Line("{}".into()),
                Event::End,
            ]
        );
        assert_eq!(last_lines(&records), BTreeMap::from([(1, 2)]));
    }

    #[test]
    fn a_connection_that_took_up_another_is_left_out() {
        let text = r#"
{"dir":"in","t_us":1,"conn":1,"line":1,"msg":{"id":"h","cmd":"hello","resume":{"keep_ms":1}}}
{"dir":"in","t_us":2,"conn":2,"line":1,"msg":{"id":"h","cmd":"hello","resume":{"token":"hidden"}}}
{"dir":"out","t_us":3,"conn":2,"line":2,"msg":{"type":"result","id":"h"}}
{"dir":"in","t_us":4,"conn":3,"line":1,"msg":{"id":"p","cmd":"ping","echo":"resume","resume":{"token":1}}}
"#;
        let conns: Vec<u64> = read(text).unwrap().iter().map(|record| record.conn).collect();
        assert_eq!(conns, [1, 3]);
        // Its own error has the number of a message that comes again.
        let text = r#"
{"dir":"in","t_us":1,"conn":2,"line":1,"msg":{}}
{"dir":"out","t_us":2,"conn":2,"line":1,"msg":{"type":"error","id":null,"line":1}}
{"dir":"in","t_us":3,"conn":2,"line":2,"msg":{"id":"h","cmd":"hello","resume":{"token":"hidden","seq":0}}}
{"dir":"out","t_us":4,"conn":2,"line":1,"msg":{"type":"result","id":"a"}}
{"dir":"out","t_us":5,"conn":2,"line":2,"msg":{"type":"result","id":"h"}}
{"dir":"in","t_us":6,"conn":2,"line":3,"msg":{"id":"p","cmd":"ping"}}
{"dir":"in","t_us":1,"conn":2,"line":1,"msg":{"id":"h","cmd":"hello"}}
"#;
        let conns: Vec<u64> = read(text).unwrap().iter().map(|record| record.conn).collect();
        assert_eq!(conns, [3], "only that of a later run");
    }

    #[test]
    fn runs_in_one_file_are_distinguished() {
        let line = |dir: &str, conn: u64, line: u64, id: &str| {
            format!(
                r#"{{"dir":"{dir}","t_us":1,"conn":{conn},"line":{line},"msg":{{"type":"result","id":"{id}"}}}}"#
            )
        };
        let text = [
            line("in", 1, 1, "a"),
            line("in", 3, 1, "b"),
            line("out", 1, 1, "a"),
            r#"{"dir":"in","t_us":1,"con"#.to_owned(),
            line("in", 1, 1, "c"),
            line("out", 1, 1, "c"),
            line("in", 1, 2, "d"),
            line("in", 2, 1, "e"),
        ];
        let records = read(&text.join("\n")).unwrap();
        let conns: Vec<u64> = records.iter().map(|record| record.conn).collect();
        assert_eq!(conns, [1, 3, 1, 4, 4, 4, 5]);
    }

    #[test]
    fn a_line_that_is_no_record_is_named() {
        let error = read("\n{\"dir\":\"sideways\"}").unwrap_err();
        assert!(error.starts_with("line 2: "), "{error}");
    }
}
