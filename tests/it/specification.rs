//! The tables and the grammars of `protocol/README.md` are what the server announces and what the games read
//! and write.

use std::collections::{BTreeMap, BTreeSet};

use plyd::engine::Entry;
use plyd::engine::conformance::{Sample, few, next, samples};
use plyd::games::REGISTRY;
use serde_json::{Value, json};

use crate::common::{Peer, Random, Server};
use crate::games::Request;

const PAGE: &str = include_str!("../../protocol/README.md");

/// The part of the page under a heading that begins so, up to the next heading.
fn section(heading: &str) -> &'static str {
    let at = PAGE.find(&format!("\n{heading}")).unwrap_or_else(|| panic!("no `{heading}`"));
    let rest = &PAGE[at + 1..];
    let body = rest.split_once('\n').expect("a heading ends").1;
    body.split("\n#").next().unwrap_or_default()
}

/// The rows of the table behind this head, as cells.
fn table(part: &'static str, head: &str) -> Vec<Vec<&'static str>> {
    let rows = part.split_once(head).unwrap_or_else(|| panic!("no table `{head}`")).1.lines().skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.map(|row| row[1..row.len() - 1].split(" | ").map(|cell| cell.trim()).collect()).collect()
}

/// What stands between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The games whose texts the page has: those that others add need none.
fn games() -> Vec<&'static Entry> {
    let part = PAGE.split_once("### Texts of positions").unwrap().1.split("\n## ").next().unwrap();
    let names = part.lines().filter_map(|line| line.strip_prefix("#### `"));
    let entry = |line: &'static str| {
        let name = line.split('`').next();
        *REGISTRY.iter().find(|entry| Some(entry.name) == name).unwrap_or_else(|| panic!("no game {line}"))
    };
    let games: Vec<&'static Entry> = names.map(entry).collect();
    assert!(games.len() >= 5);
    games
}

fn described(peer: &mut Peer, fields: Value) -> Value {
    let mut request = json!({ "id": "d", "cmd": "describe" });
    request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    peer.result(&request)["body"].clone()
}

#[test]
fn the_features_are_those_of_the_table() {
    let listed: Vec<&str> = table(section("### Features"), "| feature | the server |")
        .iter()
        .map(|row| quoted(row[0])[0])
        .collect();
    let server = Server::tcp(&["--resume-ms", "1000"]);
    assert_eq!(server.connect().hello(json!({}))["features"], json!(listed));
    let (_server, mut peer) = Server::stdio(&[]);
    let without: Vec<&str> = listed.into_iter().filter(|feature| *feature != "resume").collect();
    assert_eq!(peer.hello(json!({}))["features"], json!(without));
}

#[test]
fn the_options_of_every_game_are_those_of_the_table() {
    let rows = table(section("### Options of every game"), "| option | value | |");
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    let body = described(&mut peer, json!({ "what": "options" }));
    let value = |option: &Value| match option["type"].as_str().unwrap() {
        "int" => format!("{} to {}", option["min"], option["max"]),
        "word" => "a name".to_owned(),
        "bool" => "boolean".to_owned(),
        kind => kind.to_owned(),
    };
    let default = |option: &Value| match &option["default"] {
        Value::Null => String::new(),
        Value::String(word) => format!(" = `{word}`"),
        default => format!(" = {default}"),
    };
    let is_told = |option: &Value| (option["name"].clone(), value(option) + &default(option));
    let told: BTreeSet<(String, String)> =
        rows.iter().map(|row| (quoted(row[0])[0].to_owned(), row[1].to_owned())).collect();
    let there: BTreeSet<(String, String)> = body
        .as_array()
        .unwrap()
        .iter()
        .map(is_told)
        .map(|(name, text)| (name.as_str().unwrap().to_owned(), text))
        .collect();
    assert_eq!(told, there);
    // Games agree on the players that the page names.
    for game in REGISTRY {
        for player in quoted(rows[0][2]).into_iter().filter(|word| !["players", "describe"].contains(word)) {
            assert!(game.players().any(|named| named.name == player), "{} {player}", game.name);
        }
    }
}

/// An expression of a grammar.
#[derive(Debug)]
enum Expr {
    Text(String),
    /// One of the characters of these ranges.
    Class(Vec<(char, char)>),
    Name(String),
    Sequence(Vec<Expr>),
    Choice(Vec<Expr>),
    Repeat {
        of: Box<Expr>,
        is_optional: bool,
        is_repeated: bool,
    },
}

/// A grammar in the notation of the XML specification, as far as the page uses it.
struct Grammar(BTreeMap<String, Expr>);

impl Grammar {
    fn of(game: &str) -> Self {
        let block = section(&format!("#### `{game}`")).split("```ebnf\n").nth(1).expect("a grammar");
        let rules = block.split("```").next().unwrap().lines().map(|line| {
            let (name, expr) = line.split_once("::=").expect("a rule");
            let mut rest = expr.trim();
            let expr = choice(&mut rest);
            assert!(rest.is_empty(), "{line}: {rest}");
            (name.trim().to_owned(), expr)
        });
        let mut rules: BTreeMap<String, Expr> = rules.collect();
        let space = Expr::Class([' ', '\t', '\r', '\n'].map(|space| (space, space)).into());
        let space = Expr::Repeat { of: Box::new(space), is_optional: false, is_repeated: true };
        rules.insert("_".to_owned(), space);
        Self(rules)
    }

    /// Whether a text is what a name stands for.
    fn matches(&self, name: &str, text: &str) -> bool {
        // White space stands around texts that may hold it.
        let has_space = format!("{:?}", self.0[name]).contains("\"_\"");
        let text = if has_space { text.trim() } else { text };
        self.ends(&self.0[name], text, &[0].into()).contains(&text.len())
    }

    /// Where an expression can end that begins at one of these places.
    fn ends(&self, expr: &Expr, text: &str, begins: &BTreeSet<usize>) -> BTreeSet<usize> {
        match expr {
            Expr::Text(part) => begins
                .iter()
                .filter(|&&at| text[at..].starts_with(part.as_str()))
                .map(|at| at + part.len())
                .collect(),
            Expr::Class(ranges) => begins
                .iter()
                .filter_map(|&at| {
                    let found = text[at..].chars().next()?;
                    let is_in = ranges.iter().any(|&(first, last)| (first..=last).contains(&found));
                    is_in.then_some(at + found.len_utf8())
                })
                .collect(),
            Expr::Name(name) => self.ends(&self.0[name], text, begins),
            Expr::Sequence(parts) => {
                parts.iter().fold(begins.clone(), |begins, part| self.ends(part, text, &begins))
            }
            Expr::Choice(parts) => parts.iter().flat_map(|part| self.ends(part, text, begins)).collect(),
            Expr::Repeat { of, is_optional, is_repeated } => {
                let mut all = if *is_optional { begins.clone() } else { BTreeSet::new() };
                let mut fresh = begins.clone();
                loop {
                    fresh = self.ends(of, text, &fresh).difference(&all).copied().collect();
                    all.extend(&fresh);
                    if fresh.is_empty() || !is_repeated {
                        return all;
                    }
                }
            }
        }
    }

    /// The characters that stand in its texts, each as a text.
    fn characters(&self) -> Vec<String> {
        fn collect(expr: &Expr, all: &mut BTreeSet<char>) {
            match expr {
                Expr::Text(text) => all.extend(text.chars()),
                Expr::Class(ranges) => all.extend(ranges.iter().flat_map(|&(first, last)| [first, last])),
                Expr::Name(_) => {}
                Expr::Sequence(parts) | Expr::Choice(parts) => {
                    parts.iter().for_each(|part| collect(part, all));
                }
                Expr::Repeat { of, .. } => collect(of, all),
            }
        }
        let mut all = BTreeSet::new();
        self.0.values().for_each(|expr| collect(expr, &mut all));
        all.into_iter().map(String::from).collect()
    }
}

fn choice(rest: &mut &str) -> Expr {
    let mut parts = vec![sequence(rest)];
    while let Some(more) = rest.strip_prefix('|') {
        *rest = more.trim_start();
        parts.push(sequence(rest));
    }
    if parts.len() == 1 { parts.remove(0) } else { Expr::Choice(parts) }
}

fn sequence(rest: &mut &str) -> Expr {
    let mut parts = Vec::new();
    while !rest.is_empty() && !rest.starts_with(['|', ')']) {
        parts.push(repeated(rest));
    }
    Expr::Sequence(parts)
}

fn repeated(rest: &mut &str) -> Expr {
    let of = single(rest);
    let sign = rest.chars().next().filter(|sign| "?*+".contains(*sign));
    *rest = rest[sign.map_or(0, char::len_utf8)..].trim_start();
    match sign {
        None => of,
        Some(sign) => Expr::Repeat { of: Box::new(of), is_optional: sign != '+', is_repeated: sign != '?' },
    }
}

fn single(rest: &mut &str) -> Expr {
    let until = |rest: &mut &str, end: char| {
        let (inside, more) = rest[1..].split_once(end).expect("an end");
        *rest = more;
        inside.to_owned()
    };
    match rest.chars().next().expect("an expression") {
        '(' => {
            *rest = rest[1..].trim_start();
            let inside = choice(rest);
            *rest = rest.strip_prefix(')').expect("a closing parenthesis");
            inside
        }
        '\'' => Expr::Text(until(rest, '\'')),
        '[' => {
            let inside: Vec<char> = until(rest, ']').chars().collect();
            let mut ranges = Vec::new();
            let mut at = 0;
            while at < inside.len() {
                let is_range = at + 2 < inside.len() && inside[at + 1] == '-';
                ranges.push((inside[at], inside[if is_range { at + 2 } else { at }]));
                at += if is_range { 3 } else { 1 };
            }
            Expr::Class(ranges)
        }
        _ => {
            let end =
                rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
            let (name, more) = rest.split_at(end);
            *rest = more;
            assert!(!name.is_empty(), "{rest}");
            Expr::Name(name.to_owned())
        }
    }
}

#[test]
fn grammars_are_read_as_they_are_meant() {
    let mut rest = "'a' ( [b-d+-] 'e'? )* | 'f'+ '|'";
    let grammar = Grammar([("x".to_owned(), choice(&mut rest))].into());
    for text in ["a", "ab", "abe", "ace-e+", "f|", "fff|"] {
        assert!(grammar.matches("x", text), "{text}");
    }
    for text in ["", "b", "ae", "af", "|", "f", "a ", "é"] {
        assert!(!grammar.matches("x", text), "{text}");
    }
}

/// Text that the games read beside the grammar: the state text of a referee, which the page describes in
/// words.
fn is_state_text(text: &str) -> bool {
    text.trim_start().starts_with(|first: char| first == '#' || first.is_ascii_lowercase())
}

#[test]
fn the_examples_of_the_grammars_are_played() {
    for entry in games() {
        let grammar = Grammar::of(entry.name);
        let part = section(&format!("#### `{}`", entry.name));
        let rows = table(part, "| rules | position | move | after it |");
        assert!(rows.len() > 1, "{}", entry.name);
        for row in rows {
            let [position, mv, after] = [row[1], row[2], row[3]].map(|cell| quoted(cell)[0]);
            let sample = Sample::new(entry, quoted(row[0]).first().unwrap_or(&""), position).unwrap();
            let played = sample.root().unwrap().extend(&[mv.to_owned()]).unwrap().text();
            assert_eq!(played, after, "{sample} {mv}");
            assert_eq!(sample.at(after).root().unwrap().text(), after);
            assert!(grammar.matches("position", position) && grammar.matches("position", after), "{sample}");
            assert!(grammar.matches("move", mv), "{sample} {mv}");
        }
    }
}

/// A text with one character replaced, left out or doubled.
fn changed(text: &str, characters: &[String], random: &mut Random) -> String {
    let places: Vec<(usize, char)> = text.char_indices().collect();
    let &(at, old) = random.pick(&places);
    let new = match random.below(4) {
        0 => String::new(),
        1 => format!("{old}{old}"),
        2 => format!("{}{old}", random.pick(characters)),
        _ => random.pick(characters).clone(),
    };
    format!("{}{new}{}", &text[..at], &text[at + old.len_utf8()..])
}

#[test]
fn whatever_a_game_writes_or_reads_follows_its_grammar() {
    let mut random = Random::new(25);
    for entry in games() {
        let grammar = Grammar::of(entry.name);
        let characters = grammar.characters();
        let mut taken = 0;
        for sample in few(entry, 12, 2000).unwrap() {
            for plies in [0, 1, 2, 7, 30] {
                let moves = sample.stroll(&mut random, plies);
                let root = sample.root().unwrap().extend(&moves).unwrap();
                let text = root.text();
                assert!(grammar.matches("position", &text), "{}: {text}", entry.name);
                let next = next(root.as_ref());
                for mv in moves.iter().chain(&next) {
                    assert!(grammar.matches("move", mv), "{}: {mv}", entry.name);
                }
                for _ in 0..100 {
                    let near = changed(&text, &characters, &mut random);
                    if !is_state_text(&near) && sample.at(&near).root().is_ok() {
                        taken += 1;
                        assert!(grammar.matches("position", &near), "{} reads {near:?}", entry.name);
                    }
                    if next.is_empty() {
                        continue;
                    }
                    let mv: &String = random.pick(&next);
                    let near = changed(mv, &characters, &mut random);
                    if root.extend(std::slice::from_ref(&near)).is_ok() {
                        taken += 1;
                        assert!(grammar.matches("move", &near), "{} plays {near:?}", entry.name);
                    }
                }
            }
        }
        assert!(taken > 50, "{}: only {taken} of the changed texts were read", entry.name);
    }
}

#[test]
fn the_page_names_the_rules_and_the_options_of_each_game() {
    for entry in games() {
        let part = section(&format!("#### `{}`", entry.name));
        let head = part.split("```").next().unwrap();
        let (rules, options) = head.split_once("Options: ").unwrap_or((head, ""));
        let own: Vec<&str> = entry.own_options.iter().map(|option| option.name).collect();
        assert_eq!(quoted(options), own, "{}", entry.name);
        for rule in entry.rules {
            assert!(quoted(rules).contains(&rule.name), "{}: {}", entry.name, rule.name);
        }
    }
}

#[test]
fn a_state_text_is_read_as_it_is_written() {
    let entry = games().into_iter().find(|entry| entry.name == "sudoku").unwrap();
    let listed: Vec<&str> =
        table(section("#### `sudoku`"), "| name | value |").iter().flat_map(|row| quoted(row[0])).collect();
    for sample in samples(entry).unwrap() {
        let root = sample.root().unwrap();
        let Some(state) = root.state_text() else { panic!("no state text") };
        let names = state.lines().filter_map(|line| line.split_once(" =")).map(|(name, _)| name);
        assert!(names.clone().all(|name| listed.contains(&name)), "{state}");
        assert_eq!(sample.at(&state).root().unwrap().state_text(), Some(state));
    }
}
