//! The examples of `docs/errors.md` are what a server answers.

use serde_json::{Value, json};

use plyd_protocol::ErrorCode;

use crate::common::{Peer, Server};

const PAGE: &str = include_str!("../../docs/errors.md");

/// A conversation that the page shows.
struct Example {
    /// The code of its section.
    code: ErrorCode,
    /// The flags of the server.
    flags: Vec<&'static str>,
    requests: Vec<&'static str>,
    answer: Value,
}

/// The examples in the order of the page; `explain.rs` checks that each section has one.
fn examples() -> Vec<Example> {
    let sections = PAGE.split("\n### `").skip(1).map(|part| part.split_once("`\n").unwrap());
    let read = |(name, text): (&str, &'static str)| {
        let lines: Vec<&str> =
            text.split("```text\n").nth(1).unwrap().split("\n```").next().unwrap().lines().collect();
        let behind = |mark: &'static str| lines.iter().filter_map(move |line| line.strip_prefix(mark));
        let flags = behind("$ plyd serve ").flat_map(|flags| flags.split(' ')).collect();
        let answers: Vec<&str> = behind("< ").collect();
        assert_eq!(answers.len(), 1, "{name} shows one answer");
        let (requests, answer) = (behind("> ").collect(), serde_json::from_str(answers[0]).unwrap());
        Example { code: ErrorCode::named(name).unwrap(), flags, requests, answer }
    };
    sections.map(read).collect()
}

/// The first error that the server answers to these requests.
fn error(peer: &mut Peer, requests: &[&str]) -> Value {
    for request in requests {
        peer.line(request.as_bytes());
    }
    peer.wait("an error", |peer| peer.log.iter().any(|message| message["type"] == "error"));
    peer.log.iter().find(|message| message["type"] == "error").expect("just seen").clone()
}

/// Whether the server's message has all that the page shows; the page leaves some fields out.
fn assert_shown(example: &Example, answer: &Value) {
    for (name, value) in example.answer.as_object().unwrap() {
        assert_eq!(&answer[name], value, "`{name}` of {answer}, shown as {}", example.answer);
    }
}

#[test]
fn a_server_answers_as_the_page_shows() {
    let mut asked = 0;
    for example in examples() {
        let sockets = example.flags.iter().position(|flag| *flag == "--tcp");
        if let Some(at) = sockets {
            // At a free port instead of the one that readers would use.
            let flags = [&example.flags[..at], &example.flags[at + 2..]].concat();
            let server = Server::tcp(&flags);
            assert_shown(&example, &error(&mut server.connect(), &example.requests));
        } else if !example.requests.is_empty() {
            let (_server, mut peer) = Server::stdio(&example.flags);
            assert_shown(&example, &error(&mut peer, &example.requests));
        } else {
            continue;
        }
        asked += 1;
    }
    assert!(asked >= 29, "only {asked} examples can be tried");
}

/// For what takes more than lines to bring about, the page shows the answer alone.
#[test]
fn every_example_is_an_error_of_its_code() {
    for example in examples() {
        let mut message = example.answer.clone();
        let fatal = message["fatal"].as_bool().unwrap_or(false);
        assert_eq!(fatal, example.code.fatal(), "{message}");
        let fields = message.as_object_mut().unwrap();
        for (name, value) in
            [("seq", json!(1)), ("t_us", json!(1)), ("fatal", json!(fatal)), ("message", json!(""))]
        {
            fields.entry(name).or_insert(value);
        }
        let envelope = plyd_protocol::Envelope::read(message.to_string().as_bytes()).unwrap();
        let plyd_protocol::Message::Error(error) = envelope.message else { panic!("{:?}", example.code) };
        assert_eq!(error.code, example.code);
    }
}
