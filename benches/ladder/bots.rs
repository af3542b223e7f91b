//! The bots of the bench: plyd's levels, bots in other languages, and some that misbehave.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A bot that is to compete.
pub(crate) struct Entrant {
    pub(crate) name: &'static str,
    /// What `plyd connect` gets beside the ladder and the token.
    pub(crate) arguments: Vec<String>,
    pub(crate) kind: Kind,
}

/// What is known of a bot beforehand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// It forfeits nothing. Of those with a rank, the higher one is stronger.
    Sound(Option<u32>),
    /// It is killed and started again now and then, and forfeits by nothing else.
    Restarted,
    /// It forfeits each game by this.
    Broken(&'static str),
}

/// A bot in a shell; `MOVE` is what it does when it is asked.
fn shell(what: &str) -> String {
    let script = r#"
while read -r line; do
  id=${line#*\"id\":\"}; id=${id%%\"*}
  move=${line#*\"x_legal\":[\"}; move=${move%%\"*}
  case $line in
    *'"cmd":"go"'*) MOVE ;;
    *) echo "{\"id\":\"$id\",\"type\":\"error\",\"code\":\"unknown_cmd\"}" ;;
  esac
done"#;
    script.replace("MOVE", what)
}

const BEST: &str = r#"echo "{\"id\":\"$id\",\"type\":\"bestmove\",\"move\":\"$move\"}""#;

/// All of them; programs are built in that folder. A language that this machine lacks is left out, and said.
pub(crate) fn entrants(folder: &Path) -> (Vec<Entrant>, Vec<&'static str>) {
    let option = |options: &[&str]| {
        let options = options.iter().flat_map(|option| ["--option", option]);
        options.map(str::to_owned).collect::<Vec<_>>()
    };
    let program = |words: &[&str]| {
        ["--legal", "--"].iter().chain(words).map(|word| (*word).to_owned()).collect::<Vec<_>>()
    };
    let mut entrants = Vec::new();
    let mut add = |name, arguments, kind| entrants.push(Entrant { name, arguments, kind });
    for (name, level, rank) in
        [("level-1", "level=1", 1), ("level-4", "level=4", 4), ("level-7", "level=7", 7)]
    {
        add(name, option(&["threads=1", level]), Kind::Sound(Some(rank)));
    }
    add("random", option(&["threads=1", "player=random"]), Kind::Sound(Some(0)));
    add("restarted", option(&["threads=1", "level=3"]), Kind::Restarted);
    let source = |name: &str| format!("{}/examples/bots/{name}", env!("CARGO_MANIFEST_DIR"));
    let built = |name: &str| folder.join(name).to_str().expect("a path in UTF-8").to_owned();
    let mut missing = Vec::new();
    let classes = folder.to_str().expect("a path in UTF-8");
    let languages: [(&'static str, &[&str], Vec<String>); 6] = [
        ("python", &["python3", "--version"], vec!["python3".into(), source("bot.py")]),
        ("javascript", &["node", "--version"], vec!["node".into(), source("bot.mjs")]),
        ("c", &["cc", "-o", &built("bot-c"), &source("bot.c")], vec![built("bot-c")]),
        (
            "rust",
            &["rustc", "--edition", "2024", "-o", &built("bot-rs"), &source("bot.rs")],
            vec![built("bot-rs")],
        ),
        ("go", &["go", "build", "-o", &built("bot-go"), &source("bot.go")], vec![built("bot-go")]),
        (
            "java",
            &["javac", "-d", classes, &source("Bot.java")],
            vec!["java".into(), "-cp".into(), classes.into(), "Bot".into()],
        ),
    ];
    for (name, makes, command) in languages {
        if !succeeds(makes) {
            missing.push(name);
            continue;
        }
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        add(name, program(&words), Kind::Sound(None));
    }
    for (name, what, fault) in [
        ("mute", ":".to_owned(), "silence"),
        ("late", format!("sleep 4; {BEST}"), "late"),
        ("illegal", BEST.replace("$move", "nowhere"), "illegal"),
    ] {
        add(name, program(&["sh", "-c", &shell(&what)]), Kind::Broken(fault));
    }
    (entrants, missing)
}

/// Whether a command succeeds.
#[allow(clippy::disallowed_methods, reason = "it ends at once")]
fn succeeds(words: &[&str]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let mut command = Command::new(PathBuf::from(program));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
