//! A program that calls `main_with` with one game, which plyd does not have and which has none of the
//! optional parts: it speaks of that game and of its own name alone.

use std::os::unix::fs::symlink;
use std::process::{Command, Output, Stdio};
use std::{env, io};

use plyd::games::REGISTRY;

use crate::common::{Folder, process};

/// The name by which this executable is that program.
pub(crate) const NAME: &str = "five";

/// A folder in which the program stands.
struct Foreign(Folder);

impl Foreign {
    fn new(test: &str) -> Self {
        let folder = Folder::new(test);
        symlink(env::current_exe().unwrap(), folder.path.join(NAME)).unwrap();
        Self(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.0.path.join(NAME));
        command.args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        process::output(process::launch(&self.command(arguments)))
    }

    /// What a command that succeeds writes.
    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Whether a text has a game's name as a word.
fn names(text: &str, game: &str) -> bool {
    let is_part = |c: char| c == '-' || c.is_alphanumeric();
    text.match_indices(game)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + game.len()..].starts_with(is_part))
}

pub(crate) fn no_other_game_is_named() {
    let program = Foreign::new("foreign");
    let own = |text: &str| {
        let other = REGISTRY.iter().find(|entry| names(text, entry.name));
        assert!(other.is_none(), "{}: {text}", other.unwrap().name);
    };
    let help = program.done(&["--help"]);
    own(&help);
    assert!(help.contains("five go nim"), "{help}");
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.lines().map_while(|line| line.split_whitespace().next());
    let commands: Vec<&str> = commands.collect();
    assert!(commands.len() > 20, "{commands:?}");
    let mut shown = 0;
    for command in commands {
        let help = program.done(&["help", command]);
        own(&help);
        assert!(!help.contains("Examples:\n\n") && !help.contains("\n  plyd "), "{help}");
        // Where the text has a place for a game in braces, the help has a game's name.
        assert!(!help.contains('{') || ["botzone", "conform"].contains(&command), "{help}");
        shown += usize::from(help.contains("five ") && names(&help, "nim"));
    }
    assert!(shown > 5, "{shown} commands with examples of the game are few");
    assert!(program.done(&["describe"]).contains("Take stones from a heap"));
    for (arguments, words) in [
        (&["solve", "nim"][..], "nim cannot be solved whole; no other game can"),
        (&["tune", "nim"], "no evaluator of nim has weights; no other game has an evaluator with weights"),
        (&["train", "nim"], "no evaluator of nim has tables; no other game has an evaluator with tables"),
        (&["arena", "--preset", "x"], "no game of this program has a published report"),
        (&["go", "isolation"], "[possible values: nim]"),
    ] {
        let output = program.run(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(words), "{arguments:?}: {text}");
    }
}

pub(crate) fn its_own_name_is_completed() {
    let program = Foreign::new("foreign-completions");
    for (shell, words) in [
        ("bash", "complete -F _five -o nosort -o bashdefault -o default five"),
        ("zsh", "#compdef five\n"),
        ("fish", "complete -c five "),
    ] {
        let script = program.done(&["completions", shell]);
        assert!(script.contains(words) && !script.contains("_plyd"), "{shell}: {script}");
    }
    // Nobody reads it.
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut launch = process::launch(&program.command(&["completions", "bash"]));
    launch.command.stdout(writer).stderr(Stdio::piped());
    let output = process::outcome(process::spawn(launch));
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}
