//! The pages that are made from the program: `docs/reference`.
//!
//! `UPDATE_PAGES=1 cargo test --features ladder,fleet,mcp --test it reference::` renews them.

use std::env;
use std::fs;
use std::path::Path;
#[cfg(all(feature = "ladder", feature = "fleet", feature = "mcp"))]
use std::process::Command;

use serde_json::Value;

use crate::common::process;

/// Compares a page with what it should be, or renews it.
fn assert_current(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference").join(name);
    if env::var_os("UPDATE_PAGES").is_some() {
        fs::write(&path, text).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let (line, differs) =
        (1..).zip(text.lines()).find(|(n, line)| found.lines().nth(n - 1) != Some(line)).unwrap_or_default();
    assert!(
        found == text,
        "docs/reference/{name} is not current, line {line}: `{differs}`; UPDATE_PAGES=1 renews it"
    );
}

/// The help of a command, as wide as a page.
#[cfg(all(feature = "ladder", feature = "fleet", feature = "mcp"))]
fn help(command: &[&str]) -> String {
    let mut plyd = Command::new(process::PLYD);
    let output = process::output(process::launch(plyd.args(command).arg("--help").env("COLUMNS", "100")));
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The names of the commands below a command, by its help.
#[cfg(all(feature = "ladder", feature = "fleet", feature = "mcp"))]
fn below(help: &str) -> Vec<&str> {
    let list = help.split("\nCommands:\n").nth(1).unwrap_or_default().split("\n\n").next().unwrap();
    // What stands further right goes on with the line before.
    let names = list.lines().filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    names.filter_map(|line| line.split(' ').next()).filter(|name| !["", "help"].contains(name)).collect()
}

#[cfg(all(feature = "ladder", feature = "fleet", feature = "mcp"))]
fn describe(command: &mut Vec<String>, page: &mut String) {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let text = help(&words);
    let name = [&["plyd"][..], &words].concat().join(" ");
    *page += &format!("\n## `{name}`\n\n```text\n{}\n```\n", text.trim_end());
    for name in below(&text) {
        command.push(name.to_owned());
        describe(command, page);
        command.pop();
    }
}

/// The page has what a build with all features has; `.ci/run` tests one.
#[cfg(all(feature = "ladder", feature = "fleet", feature = "mcp"))]
#[test]
fn the_page_of_commands_is_what_their_help_says() {
    let mut page = "# Commands\n\nThis page is made from the program: it is what `plyd --help` and `plyd COMMAND --help` say, in a build \
                    with\nall features (`--features ladder,fleet,mcp`).\n"
        .to_owned();
    describe(&mut Vec::new(), &mut page);
    for name in ["plyd serve", "plyd token new", "plyd ladder pool add", "plyd worker"] {
        assert!(page.contains(&format!("\n## `{name}`\n")), "{name}");
    }
    assert!(!page.contains("reaper\n"), "what is internal is left out");
    assert_current("commands.md", &page);
}

/// What `plyd describe` says, with these further arguments.
fn described(arguments: &[&str]) -> Value {
    let output = process::output(process::plyd([&["describe"], arguments, &["--json"]].concat()));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The values that a rule or an option takes.
fn values(spec: &Value) -> String {
    match spec["type"].as_str().unwrap() {
        "int" => format!("{} to {}", spec["min"], spec["max"]),
        "bool" => "true, false".to_owned(),
        "seed" => "1 to 16 hexadecimal digits".to_owned(),
        kind => {
            let words =
                spec["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned());
            let range = (kind == "word_or_int").then(|| format!("{} to {}", spec["min"], spec["max"]));
            words.chain(range).collect::<Vec<_>>().join(", ")
        }
    }
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn specs(title: &str, of: &Value) -> String {
    let mut table = format!("\n### {title}\n\n| name | values | default | |\n|---|---|---|---|\n");
    for spec in of.as_array().unwrap() {
        let default = match &spec["default"] {
            Value::Null => String::new(),
            Value::String(word) => word.clone(),
            other => other.to_string(),
        };
        let (name, about) = (spec["name"].as_str().unwrap(), spec["about"].as_str().unwrap());
        table += &format!("| `{name}` | {} | {default} | {} |\n", cell(&values(spec)), cell(about));
    }
    table
}

fn named(title: &str, of: &Value) -> String {
    let mut table = format!("\n### {title}\n\n| name | |\n|---|---|\n");
    for one in of.as_array().unwrap() {
        let (name, about) = (one["name"].as_str().unwrap(), one["about"].as_str().unwrap());
        table += &format!("| `{name}` | {} |\n", cell(about));
    }
    table
}

#[test]
fn the_page_of_rules_and_options_is_what_describe_says() {
    let mut page = "# Rules and options by name\n\nThis page is made from the program: it is what `plyd describe GAME` says. \
                    [The rules of the\ngames](../rules.md) have a page of their own.\n"
        .to_owned();
    for game in described(&[]).as_array().unwrap() {
        let name = game["name"].as_str().unwrap();
        let game = described(&[name]);
        let text = |field: &str| game[field].as_str().unwrap().to_owned();
        page += &format!(
            "\n## `{name}`\n\n{}\n\n- **Position**: {}\n- **Move**: {}\n",
            text("title"),
            text("position"),
            text("moves")
        );
        page += &format!("- **Unit** of evaluations: {}, in thousandths\n", text("unit"));
        page += &specs("Rules", &game["rules"]);
        page += &specs("Options", &game["options"]);
        page += &named("Players", &game["players"]);
        page += &named("Evaluations", &game["evaluators"]);
        page += &named("Endings", &game["by"]);
    }
    assert_current("options.md", &page);
}
