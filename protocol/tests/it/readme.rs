//! The specification's example lines are what the types read and write, and there is one of every kind.

use plyd_protocol::{Command, Envelope, ErrorCode, GameSummary, Guarantees, SettingInfo, decode};
use serde_json::Value;
use std::collections::BTreeSet;

pub(crate) const README: &str = include_str!("../../README.md");

/// The lines of the `json` blocks, as objects.
pub(crate) fn examples() -> impl Iterator<Item = (&'static str, Value)> {
    let blocks = README.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).map(|line| (line, serde_json::from_str(line).expect(line)))
}

fn words(key: &str) -> BTreeSet<String> {
    examples().filter_map(|(_, value)| value[key].as_str().map(str::to_owned)).collect()
}

#[test]
fn example_requests_decode_and_are_written_as_they_stand() {
    for (line, value) in examples().filter(|(_, value)| value.get("cmd").is_some()) {
        let request = decode(line.as_bytes()).expect(line);
        assert_eq!(serde_json::to_value(&request).unwrap(), value);
    }
    assert_eq!(words("cmd"), Command::NAMES.map(str::to_owned).into());
}

#[test]
fn what_a_bot_is_sent_decodes() {
    let sent: Vec<&str> = README.lines().filter_map(|line| line.strip_prefix("> {")).collect();
    assert_eq!(sent.len(), 2);
    for line in sent {
        decode(format!("{{{line}").as_bytes()).expect(line);
    }
}

#[test]
fn example_messages_are_written_as_they_stand() {
    for (line, value) in examples().filter(|(_, value)| value.get("cmd").is_none()) {
        let envelope = Envelope::read(line.as_bytes()).expect(line);
        assert_eq!(serde_json::to_string(&envelope).unwrap(), line);
        assert_eq!(envelope.message.to_line(envelope.seq, envelope.t_us), line);
        assert!(value["seq"].as_u64() > Some(0));
    }
    assert_eq!(words("type"), ["bestmove", "error", "info", "notice", "result"].map(str::to_owned).into());
    let with_results = Command::NAMES.into_iter().filter(|cmd| *cmd != "go").map(str::to_owned);
    assert_eq!(words("of"), with_results.collect());
}

#[test]
fn example_descriptions_are_what_their_types_write() {
    let body =
        |id| examples().find(|(_, v)| v["id"] == id && v["of"] == "describe").unwrap().1["body"].take();
    let games: Vec<GameSummary> = serde_json::from_value(body("d1")).unwrap();
    assert_eq!(serde_json::to_value(games).unwrap(), body("d1"));
    let options: Vec<SettingInfo> = serde_json::from_value(body("d2")).unwrap();
    assert_eq!(serde_json::to_value(options).unwrap(), body("d2"));
}

#[test]
fn every_code_is_listed() {
    for code in ErrorCode::ALL {
        let word = serde_json::to_value(code).unwrap();
        let row = format!("\n| `{}` | ", word.as_str().unwrap());
        assert!(README.contains(&row), "{row}");
    }
}

/// The table of the guarantees has the values that plyd announces, and so does the example of a `hello`.
#[test]
fn guarantees_are_those_that_are_announced() {
    let announced = serde_json::to_value(Guarantees::default()).unwrap();
    let (_, rest) = README.split_once("`guarantees` are delays").unwrap();
    let table = rest.lines().skip_while(|line| !line.starts_with("| `")).take_while(|line| !line.is_empty());
    let mut listed = serde_json::Map::new();
    for row in table {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let names = cells[1].split(", ").map(|name| name.trim_matches('`').to_owned());
        let values = cells[3].split(", ").map(|value| value.parse::<u64>().unwrap().into());
        listed.extend(names.zip(values));
    }
    assert_eq!(Value::from(listed), announced);
    let example = format!(r#""guarantees":{}"#, serde_json::to_string(&Guarantees::default()).unwrap());
    assert_eq!((README.matches(r#""guarantees":{"#).count(), README.matches(&example).count()), (1, 1));
}
