//! The commands as people and scripts meet them: the real binary, its output and its exit codes.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Output, Stdio};

use crate::common::process;
use plyd_protocol::{Envelope, Message};
use rustix::process::Signal;
use serde_json::Value;

const GAME: &str = "l-game";

/// Runs the command with some input.
fn plyd_with(arguments: &[&str], input: &[u8]) -> Output {
    process::output_of(process::plyd(arguments), input)
}

fn plyd(arguments: &[&str]) -> Output {
    plyd_with(arguments, b"")
}

/// What a command that succeeds writes.
fn stdout(arguments: &[&str]) -> String {
    let output = plyd(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(arguments)).unwrap()
}

#[test]
fn commands_write_what_people_look_for() {
    for (arguments, words) in [
        (&["help"][..], &["serve", "replay", "Exit codes"][..]),
        (&["describe"], &["l-game", "plyd describe GAME"]),
        (&["describe", GAME], &["neutrals", "player", "hash_mb", "position", "ending"]),
        (&["go", GAME, "--depth", "2"], &["p1 to move", "best", "nodes"]),
        (&["go", GAME, "--depth", "2", "--multipv", "3"], &["score", "line"]),
        (&["perft", GAME, "2", "--divide"], &["7,956", "first move"]),
        (&["bench", GAME], &["Bench: ", "total"]),
        (&["solve", GAME], &["draw", "18,368"]),
        (&["solve", "isolation", "--board", "5x5"], &["loss, tokens on two colours        304", "600"]),
    ] {
        let text = stdout(arguments);
        for word in words {
            assert!(text.contains(word), "{arguments:?} without `{word}`:\n{text}");
        }
    }
}

#[test]
fn json_has_the_fields_that_programs_read() {
    let go = json(&["go", GAME, "--nodes", "5000", "--json"]);
    assert_eq!(go["lines"][0]["pv"][0], go["move"]);
    assert_eq!(go["game"], GAME);
    let perft = json(&["perft", GAME, "2", "--json", "--divide"]);
    let counts: Vec<u64> =
        perft["counts"].as_array().unwrap().iter().map(|count| count["nodes"].as_u64().unwrap()).collect();
    assert_eq!(counts, [65, 7956]);
    let shares = perft["divide"].as_array().unwrap();
    assert_eq!(shares.iter().map(|share| share["nodes"].as_u64().unwrap()).sum::<u64>(), 7956);
    assert_eq!(json(&["describe", GAME, "--json"])["name"], GAME);
    assert!(json(&["describe", "--json"]).as_array().is_some_and(|games| !games.is_empty()));
}

#[test]
fn counts_that_are_too_large_are_refused_and_the_others_shown() {
    for more in [&[][..], &["--divide"], &["--json"]] {
        let arguments = ["perft", GAME, "30", "--cached", "--rules", "neutrals=none"];
        let output = plyd(&[&arguments[..], more].concat());
        assert_eq!(output.status.code(), Some(1));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("depth 22 has more positions than can be counted"), "{error}");
        let counts = String::from_utf8(output.stdout).unwrap().replace(',', "");
        assert!(counts.contains("220550920872859") && !counts.contains("18446744073709551615"), "{counts}");
    }
}

#[test]
fn the_bench_signature_is_the_same_twice() {
    let signature = |bench: Value| (bench["nodes"].clone(), bench["hash"].clone());
    let first = signature(json(&["bench", GAME, "--json"]));
    assert_eq!(first, signature(json(&["bench", GAME, "--json"])));
    assert!(first.0.as_u64() > Some(0));
}

#[test]
fn nonsense_is_refused_with_a_way_out() {
    for (arguments, word) in [
        (&["nonsense"][..], "Usage: plyd"),
        (&["go"], "GAME"),
        (&["go", "no_such_game"], "[possible values: l-game, "),
        (&["go", GAME, "--time", "5"], "200ms"),
        (&["go", GAME, "--depth", "0"], "--depth"),
        (&["go", GAME, "--position", "nonsense"], "--position"),
        (&["go", GAME, "--moves", "nonsense"], "move 1 of --moves"),
        (&["go", GAME, "--rules", "neutrals"], "width=7"),
        (&["go", GAME, "--rules", "neutrals=some"], "--rules neutrals"),
        (&["go", GAME, "--rules", "gravity=1"], "neutrals"),
        (&["go", GAME, "--option", "player=me"], "random"),
        (&["go", GAME, "--option", "depth=deep"], "1 to 1000"),
        (&["perft", GAME], "DEPTH"),
        (&["solve", "isolation", "--board", "11x9"], "plyd go"),
        (&["solve", "isolation", "--board", "big"], "7x7"),
        (&["solve", GAME, "--board", "4x4"], "neutrals"),
        (&["solve", GAME, "--book", "unwritten"], "--book"),
        (&["perft", GAME, "0"], "1.."),
        (&["bench", "no_such_game"], "[possible values: l-game, "),
        (&["describe", "no_such_game"], "[possible values: l-game, "),
        (&["replay", "/nowhere"], "cannot read"),
        (&["replay", "Cargo.toml"], "line 1"),
        (&["serve", "--tcp", "7117"], "127.0.0.1:7117"),
        (&["serve", "--token-file", "/nowhere"], "--token-file"),
        (&["serve", "--engines", "x"], "a whole number from 1"),
        (&["serve", "--engines", "-1"], "a whole number from 1"),
        (&["serve", "--engines", "0"], "a whole number from 1"),
        (&["serve", "--idle", "1e9"], "a whole number from 0"),
        (&["serve", "--idle", "-1"], "a whole number from 0"),
        (&["serve", "--keepalive", "32768"], "a whole number from 0 to 32767"),
        (&["serve", "--silence", "0"], "a whole number from 1"),
        (&["serve", "--threads", "0"], "a whole number from 1 to 256"),
        (&["serve", "--threads", "-2"], "a whole number from 1 to 256"),
        (&["serve", "--search-nice", "20"], "a whole number from 0 to 19"),
        (&["serve", "--hash-mb", "1.5"], "a whole number from 1"),
        (&["completions", "cmd"], "bash"),
    ] {
        let output = plyd(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(word), "{arguments:?} without `{word}`: {text}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_refusal_by_a_code_says_where_to_read_about_it() {
    for (arguments, code) in [
        (&["go", GAME, "--position", "nonsense"][..], "bad_position"),
        (&["go", GAME, "--moves", "nonsense"], "illegal_move"),
        (&["draw", GAME, "--rules", "gravity=1"], "rules_unsupported"),
        (&["go", GAME, "--rules", "max_plies=1", "--moves", "4 3 W"], "game_over"),
        (&["play", GAME, "--p2", "default", "--option", "level=11"], "option_invalid"),
    ] {
        let output = plyd(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        let (_, command) =
            text.rsplit_once("For more information, try 'plyd ").unwrap_or_else(|| panic!("{text}"));
        let command = command.trim_end().trim_end_matches("'.");
        assert_eq!(command, format!("explain {code}"), "{arguments:?}");
        let words: Vec<&str> = command.split(' ').collect();
        assert!(stdout(&words).starts_with(&format!("{code}\n")), "{code}");
    }
    assert!(stdout(&["explain"]).contains("illegal_move"));
    let output = plyd(&["explain", "ilegal_move"]);
    assert!(
        String::from_utf8(output.stderr).unwrap().contains("the nearest is `illegal_move`"),
        "a similar code is suggested"
    );
    assert!(stdout(&["explain", "late"]).contains("--margin 50ms"));
}

#[test]
fn what_was_meant_is_named_where_letters_alone_lead_astray() {
    let players = ["arena", "isolation", "--player", "default", "--player", "random"];
    let of_players = "--player default,level=3,time=50ms";
    for (arguments, hint, absent) in [
        (&[&players[..], &["--time", "50ms"]].concat()[..], of_players, "--timeout"),
        (&[&players[..], &["--movetime=50ms"]].concat(), of_players, "--moves"),
        (&["go", "isolation", "--level", "3"], "--option level=3", "-- --level"),
        (&["go", "colosseum", "--rules", "size=6", "seed=7"], "--rules size=6,seed=7", "similar"),
        (&["levels"], "`plyd play GAME --level 3`", "'solve'"),
        // What letters find stays.
        (&["go", "isolation", "--tyme", "1s"], "'--time'", "--option level=3"),
    ] {
        let output = plyd(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(hint) && !text.contains(absent), "{arguments:?}: {text}");
    }
}

#[test]
fn what_holds_no_games_is_told_what_would() {
    for command in ["show", "review"] {
        let output = plyd(&[command, "README.md"]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(
            text.contains("README.md, line 1: ") && text.contains("`plyd arena --record FILE`"),
            "{text}"
        );
    }
}

#[test]
fn a_former_name_is_taken_with_a_line_on_stderr() {
    let warning =
        "warning: `player`: `seed` is called `published` now; the next version takes the new name only\n";
    let players = ["arena", "isolation", "--games", "2", "--rules", "width=3,height=3", "--player", "random"];
    for (arguments, count) in [
        (&["go", GAME, "--option", "player=seed", "--nodes", "9"][..], 1),
        (&["go", GAME, "--option", "player=published", "--nodes", "9"], 0),
        (&[&players[..], &["--player", "seed,nodes=9"]].concat(), 1),
        (&["play", GAME, "--p1", "seed,depth=1", "--p2", "random", "--rules", "max_plies=4"], 1),
    ] {
        let output = plyd(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{arguments:?}: {said}");
        assert_eq!(said.matches(warning).count(), count, "{arguments:?}: {said}");
    }
}

#[test]
fn a_game_that_is_over_is_reported_with_its_outcome() {
    let output = plyd(&["go", GAME, "--rules", "max_plies=1", "--moves", "4 3 W"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("a draw by max plies"), "{text}");
}

#[test]
fn manual_pages_are_written_for_each_command() {
    let folder = std::env::temp_dir().join(format!("plyd-man-{}", std::process::id()));
    let man = folder.join("man1");
    stdout(&["man", man.to_str().unwrap()]);
    let page = |name: &str| std::fs::read_to_string(man.join(name)).unwrap();
    assert!(page("plyd.1").contains("plyd\\-go(1)"), "{}", page("plyd.1"));
    for example in ["plyd go isolation", "\\-\\-time"] {
        assert!(page("plyd-go.1").contains(example), "{example}");
    }
    // What nobody calls has none.
    assert!(!man.join("plyd-reaper.1").exists());

    let file = folder.join("file");
    std::fs::write(&file, "").unwrap();
    let refused = plyd(&["man", file.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("cannot write manual pages to"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_version_tells_the_build() {
    assert_eq!(stdout(&["-V"]), concat!("plyd ", env!("CARGO_PKG_VERSION"), "\n"));
    let version = stdout(&["--version"]);
    let build = version.lines().nth(1).unwrap();
    assert!(build.starts_with("built from "), "{version}");
    assert!(build.contains(std::env::consts::OS), "{version}");
    assert_eq!(build.contains("service"), cfg!(feature = "service"), "{version}");
}

#[test]
fn the_version_says_whether_popcnt_is_compiled_out() {
    let lacks = cfg!(all(target_arch = "x86_64", not(target_feature = "popcnt")));
    let version = stdout(&["--version"]);
    assert_eq!(version.lines().next(), Some(concat!("plyd ", env!("CARGO_PKG_VERSION"))));
    assert_eq!(version.contains("without popcnt"), lacks, "{version}");
}

#[test]
fn completions_are_scripts_that_know_the_commands_and_the_games() {
    // What else can stand in an argument only some shells' scripts know.
    for (shell, words) in [
        ("bash", &["perft", "isolation"][..]),
        ("zsh", &["perft", "isolation"]),
        ("fish", &["perft"]),
        ("elvish", &["perft"]),
        ("powershell", &["perft"]),
    ] {
        let script = stdout(&["completions", shell]);
        assert!(words.iter().all(|word| script.contains(word)), "{shell}");
    }
}

#[test]
fn a_reader_who_had_enough_ends_a_command_quietly() {
    for arguments in [
        &["completions", "bash"][..],
        &["describe"],
        &["describe", GAME],
        &["describe", GAME, "--json"],
        &["config", "example"],
        &["help", "go"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut launch = process::plyd(arguments);
        launch.command.stdout(writer).stderr(Stdio::piped());
        let output = process::outcome(process::spawn(launch));
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), &*text), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn every_command_explains_itself() {
    for command in [
        "serve",
        "go",
        "gui",
        "play",
        "perft",
        "bench",
        "describe",
        "arena",
        "conform",
        "replay",
        "ugi",
        "botzone",
        "explain",
        "completions",
    ] {
        assert!(stdout(&["help", command]).contains("Examples:"), "{command}");
    }
}

#[test]
fn the_first_game_plays_to_its_end() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/first-game.jsonl");
    let input = std::fs::read(file).unwrap();
    let asked: Vec<Value> =
        input.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let output = plyd_with(&[], &input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let messages: Vec<Envelope> = text.lines().map(|line| Envelope::read(line.as_bytes()).unwrap()).collect();
    let count = |wanted: fn(&Message) -> bool| messages.iter().filter(|it| wanted(&it.message)).count();
    let gos = asked.iter().filter(|request| request["cmd"] == "go").count();
    assert_eq!(count(|message| matches!(message, Message::BestMove(_))), gos, "{text}");
    assert_eq!(count(|message| matches!(message, Message::Error(_))), 0, "{text}");
    assert_eq!(count(|message| matches!(message, Message::Result(_))), asked.len() - gos, "{text}");
}

#[test]
fn an_address_in_use_is_a_failure_with_a_reason() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let output = plyd(&["serve", "--tcp", &address]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&address) && text.contains("port (0 for any free one)"), "{text}");
}

#[test]
fn a_path_that_cannot_be_a_socket_is_a_failure_with_a_reason() {
    // Not below the directory of the build, whose path may be too long for a socket.
    let directory = std::env::temp_dir().join(format!("plyd-cli-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (file, live) = (directory.join("file"), directory.join("live"));
    std::fs::write(&file, "").unwrap();
    let _listens = std::os::unix::net::UnixListener::bind(&live).unwrap();
    let long = directory.join("x".repeat(120));
    for (path, word) in [
        (&file, "a file is there"),
        (&directory, "a directory is there"),
        (&live, "another server listens there"),
        (&long, if cfg!(target_os = "linux") { "at most 107 bytes" } else { "at most" }),
    ] {
        let path = path.to_str().unwrap();
        let output = plyd(&["serve", "--unix", path]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(path) && text.contains(word), "no `{word}`: {text}");
    }
    assert!(file.is_file(), "what is no socket stays");
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn zero_leaves_a_limit_out_where_there_may_be_none() {
    let hello = br#"{"id":"h","cmd":"hello","protocol":{"min":1,"max":1}}"#;
    let output =
        plyd_with(&["serve", "--stdio", "--idle", "0", "--per-address", "0", "--keepalive", "0"], hello);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["limits"]["idle_ms"], 0, "{answer}");
    assert_eq!(answer["limits"]["connections_per_address"], 0, "{answer}");
}

#[test]
fn a_daemon_logs_what_it_listens_on_and_nothing_else() {
    let socket = std::env::temp_dir().join(format!("plyd-cli-{}.sock", std::process::id()));
    let path = socket.to_str().unwrap();
    for (flag, at, named) in [
        ("--tcp", "127.0.0.1:0", "127.0.0.1:"),
        ("--ws", "127.0.0.1:0", "127.0.0.1:"),
        ("--unix", path, path),
    ] {
        let mut launch = process::plyd(["serve", flag, at]);
        launch.command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut server = process::spawn(launch);
        let mut log = BufReader::new(server.take_stderr().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        assert!(line.contains("INFO") && line.contains(&format!("listening on {named}")), "{line}");
        process::signal(&server, Signal::TERM);
        assert!(process::exit(&mut server).success());
        let mut rest = String::new();
        log.read_to_string(&mut rest).unwrap();
        let of_the_end =
            |line: &str| line.contains(" ending, as a signal asks: ") || line.ends_with(" ended");
        assert!(rest.lines().all(of_the_end), "what is no warning is logged with -v only: {rest}");
    }
}

#[test]
fn play_without_a_game_lists_the_games() {
    let output = plyd(&["play"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    for entry in plyd::games::REGISTRY {
        assert!(text.contains(&format!("`plyd play {}`: {}", entry.name, entry.about)), "{text}");
    }
    let other = String::from_utf8(plyd(&["go"]).stderr).unwrap();
    assert!(!other.contains("plyd play"), "{other}");
}

#[test]
fn a_server_that_cannot_be_called_is_named() {
    for called in ["tcp=127.0.0.1:1", "ws=127.0.0.1:1", "unix=/nowhere.sock"] {
        let output = plyd(&["conform", called, "--only", "framing/line-ends"]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(called.split_once('=').unwrap().1), "{text}");
    }
}

#[test]
fn nonsense_for_the_reaper_is_one_line() {
    let output = plyd_with(&["reaper"], b"nonsense\nmore\n");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1), "{text}");
    assert!(text.contains("`nonsense`") && text.contains("+4711"), "{text}");
}
