//! The conformance suite: our own daemon passes it, and servers that break one promise fail the check that is
//! meant for it.

mod dialer;
pub(crate) mod foreign;
mod mutant;
mod mutants;
mod ours;
mod relay;

use std::collections::BTreeSet;
use std::process::{ExitCode, Output, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::Value;

use crate::common::harness::Test;
use crate::common::process::{self, PLYD};
use mutant::Mutant;
use mutants::each_mutant_is_caught_by_its_check;
use ours::{
    our_bot_passes_as_it_dials, our_daemon_passes_as_a_bot, our_daemon_passes_at_low_limits,
    our_daemon_passes_on_a_unix_socket_with_a_token, our_daemon_passes_on_standard_streams,
    our_daemon_passes_over_tcp, our_daemon_passes_over_websocket, our_daemon_passes_without_a_feature,
};

/// By what name the executable is a mutant: our daemon with one thing distorted.
pub(crate) const MUTANT: &str = "mutant";

/// How long a check may take that our daemon passes: only how long until it fails, however busy the machine
/// is.
const TIMEOUT: &str = "600s";

/// The group of checks that judges bots instead of servers.
const OF_BOTS: &str = "bot/";

/// The group of checks that judges programs that dial.
const OF_DIALERS: &str = "dial/";

// The longest first, so that none of them is alone at the end.
pub(crate) const TESTS: [Test; 16] = [
    ("each mutant is caught by its check", each_mutant_is_caught_by_its_check),
    ("our bot passes as it dials", our_bot_passes_as_it_dials),
    ("our daemon passes over TCP: what is timed", || our_daemon_passes_over_tcp(0)),
    ("our daemon passes over TCP: searches and rules", || our_daemon_passes_over_tcp(1)),
    ("our daemon passes over TCP: connections", || our_daemon_passes_over_tcp(2)),
    ("our daemon passes on standard streams", our_daemon_passes_on_standard_streams),
    ("our daemon passes over WebSocket", our_daemon_passes_over_websocket),
    ("our daemon passes on a Unix socket with a token", our_daemon_passes_on_a_unix_socket_with_a_token),
    ("our daemon passes at low limits", our_daemon_passes_at_low_limits),
    ("our daemon passes without a feature", our_daemon_passes_without_a_feature),
    ("our daemon passes as a bot", our_daemon_passes_as_a_bot),
    ("what is no server fails and hangs nothing", what_is_no_server_fails_and_hangs_nothing),
    ("no server outlives a suite that is killed", no_server_outlives_a_suite_that_is_killed),
    ("a plyd with a foreign game names no other game", foreign::no_other_game_is_named),
    ("a plyd with a foreign game completes its own name", foreign::its_own_name_is_completed),
    ("checks are listed and chosen by name", checks_are_listed_and_chosen_by_name),
];

/// What the mutant does: it distorts as the first two arguments say, and dials what the others name.
pub(crate) fn break_promises(arguments: &[String]) -> ExitCode {
    let mutant = Mutant::read(&arguments[0], &arguments[1]);
    match &arguments[2..] {
        [ladder, token] => dialer::dial(mutant, PLYD, ladder, token),
        _ => mutant.serve(PLYD),
    }
}

fn conform(arguments: &[&str]) -> Output {
    process::output(process::plyd([&["conform"], arguments].concat()))
}

fn report(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text)
        .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// The checks of that verdict.
fn with_verdict(report: &Value, verdict: &str) -> BTreeSet<String> {
    let rows = report["checks"].as_array().unwrap().iter().filter(|row| row["verdict"] == verdict);
    rows.map(|row| format!("{}/{}", row["group"].as_str().unwrap(), row["check"].as_str().unwrap())).collect()
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Nothing fails, and only what the transport has not is skipped.
fn passes(report: &Value, skipped: &[impl AsRef<str>]) {
    let text = report["checks"].as_array().unwrap().iter().filter(|row| row["verdict"] != "passed");
    let text: Vec<String> = text.map(Value::to_string).collect();
    assert_eq!(report["failed"], 0, "{}", text.join("\n"));
    let skipped = skipped.iter().map(|check| check.as_ref().to_owned()).collect();
    assert_eq!(with_verdict(report, "skipped"), skipped, "{}", text.join("\n"));
}

/// Every check, in the order of the list.
fn listed() -> Vec<String> {
    let list = report(&conform(&["--list", "--json"]));
    let checks = list["checks"].as_array().unwrap().iter();
    checks.map(|check| check["check"].as_str().unwrap().to_owned()).collect()
}

fn what_is_no_server_fails_and_hangs_nothing() {
    let chosen = ["--json", "--only", "framing/text", "--only", "ids/of", "--only", "races/stop-all"];
    let more =
        ["--only", "ends/eof-idle", "--only", "liveness/pings", "--only", "ids/seq", "--only", "time/spent"];
    for server in [&["sleep", "1000"][..], &["cat"], &["cat", "/dev/zero"], &["yes", "{}"]] {
        let output = conform(&[&chosen, &more[..], &["--timeout", "400ms", "--"], server].concat());
        let report = report(&output);
        assert_eq!(with_verdict(&report, "passed"), names(&[]), "{server:?}: {report}");
        assert!(report["failed"].as_u64() >= Some(5), "{server:?}: {report}");
        assert_eq!(output.status.code(), Some(1), "{server:?}");
    }
    // What speaks another protocol, or none, is not checked; it says so before any time is over.
    let bot = r#"while read -r line; do echo '{"id":"hello","type":"error","code":"unknown_cmd"}'; done"#;
    for (server, why) in [
        (&["yes"][..], "not the JSON lines of this protocol: `y`"),
        (&["false"], "ended before its first"),
        (&["sh", "-c", bot], "`plyd conform --bot` checks a bot"),
    ] {
        let output = conform(&[&chosen, &more[..], &["--timeout", "60s", "--"], server].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(why) && output.stdout.is_empty(), "{server:?}: {said}");
        assert_eq!(output.status.code(), Some(1), "{server:?}");
    }
    // Nor does a program that should dial.
    for script in ["exit 3", "sleep 1000", "yes", "cat /dev/zero"] {
        let only = ["offer", "turn", "refused", "leaves-dialling"].map(|name| format!("{OF_DIALERS}{name}"));
        let only = only.iter().flat_map(|name| ["--only", name]);
        let program = ["--", "sh", "-c", script, "{ladder}", "{token}"];
        let arguments = ["--json", "--timeout", "400ms", "--dial"].into_iter().chain(only).chain(program);
        let output = conform(&arguments.collect::<Vec<_>>());
        let report = report(&output);
        assert_eq!(with_verdict(&report, "failed").len(), 4, "{script}: {report}");
        assert_eq!(output.status.code(), Some(1), "{script}");
    }
}

fn no_server_outlives_a_suite_that_is_killed() {
    // Each server says its number and then neither reads nor ends; each check starts one.
    let file = env::temp_dir().join(format!("plyd-conform-{}.pids", std::process::id()));
    let script = format!("echo $$ >> '{}'; exec sleep 1000", file.display());
    let mut launch =
        process::plyd(["conform", "--timeout", TIMEOUT, "--only", "ids", "--", "sh", "-c", &script]);
    launch.command.stdout(Stdio::null());
    let mut suite = process::spawn(launch);
    let until = |what: &str, is_so: &dyn Fn() -> bool| {
        let since = Instant::now();
        while !is_so() {
            assert!(since.elapsed() < Duration::from_secs(60), "{what}");
            thread::sleep(Duration::from_millis(10));
        }
    };
    let begun = || -> Vec<String> {
        let text = fs::read_to_string(&file).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    // A process that nobody waited for yet is gone, too.
    let runs = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.contains("(sleep)") && !stat.contains(") Z ")
    };
    until("a check began", &|| begun().iter().any(runs));
    suite.end().unwrap();
    until("no server runs", &|| !begun().iter().any(runs));
    fs::remove_file(&file).unwrap();
}

fn checks_are_listed_and_chosen_by_name() {
    let all = listed();
    assert!(all.len() >= 100, "{}", all.len());
    let chosen = conform(&["--list", "--only", "ends", "--only", "ids/seq"]);
    let text = String::from_utf8(chosen.stdout).unwrap();
    assert!(
        text.contains("ends/eof-idle") && text.contains("ids/seq") && !text.contains("ids/of "),
        "{text}"
    );
    let bots = String::from_utf8(conform(&["--list", "--bot"]).stdout).unwrap();
    assert!(bots.contains("bot/legal") && !bots.contains("ids/seq"), "{bots}");
    let dialers = String::from_utf8(conform(&["--list", "--dial"]).stdout).unwrap();
    assert!(dialers.contains("dial/again") && !dialers.contains("bot/legal"), "{dialers}");
    let whole = String::from_utf8(conform(&["--list"]).stdout).unwrap();
    assert!(whole.contains("bot/legal") && whole.contains("dial/again"), "{whole}");
    for section in ["1. A first conversation", "8. Races and corner cases", "11. Transcripts"] {
        assert!(whole.contains(section), "{section}");
    }
    let list = report(&conform(&["--list", "--json"]));
    let promises = list["promises"].as_array().unwrap();
    assert!(promises.len() >= 100, "{}", promises.len());
    let is_covered =
        |row: &Value| row["unchecked"].is_string() == row["checks"].as_array().unwrap().is_empty();
    assert!(promises.iter().all(is_covered));
    for (arguments, code, words) in [
        (&["--only", "wings"][..], 2, "no check `wings`"),
        (&["--only", "bot/legal"], 2, "give --bot"),
        (&["--bot", "--only", "ids"], 2, "leave out --bot"),
        (&["--only", "dial/offer"], 2, "give --dial"),
        (&["--dial", "--only", "bot/legal"], 2, "give --bot"),
        (&["--dial", "--only", "ids"], 2, "leave out --dial"),
        (&["--dial", "--bot"], 2, "cannot be used with"),
        (&["--dial", "ws=127.0.0.1:0"], 2, "give tcp=HOST:PORT"),
        (&["--dial", "--", "plyd", "connect", "{ladder}"], 2, "has to hold {ladder} and {token}"),
        (&["--game", "isolation"], 2, "--bot"),
        (&["--bot", "cmd=/nowhere"], 1, "cannot start `/nowhere`"),
        (&["tcp=nowhere"], 2, "tcp=127.0.0.1:7117"),
        (&["nowhere"], 2, "wss=HOST:PORT or unix=PATH"),
        (&["tcp=127.0.0.1:1", "--", "cat"], 2, "cannot be used with"),
        (&["--", "/nowhere"], 1, "cannot start `/nowhere`"),
        // Once, with what it says of itself, instead of each check's "the connection is closed".
        (&["--bot", "--", "sh", "-c", "echo 'no such file' >&2; exit 3"], 1, "exit status: 3"),
        (&["--bot", "--", "sh", "-c", "exit 3"], 1, "`sh -c exit 3` cannot be checked"),
        (&["--", "sh", "-c", "read line; echo 'Traceback: x' >&2; exit 1"], 1, "  Traceback: x"),
        // A program that speaks another protocol.
        (&["--bot", "--", "sh", "-c", "while read line; do echo id name x; done"], 1, "not the JSON lines"),
        (&["tcp=127.0.0.1:1"], 1, "cannot connect"),
        (&["unix=/nowhere"], 1, "cannot connect"),
        (&["ws=127.0.0.1:1"], 1, "cannot connect"),
        (&["--token-file", "/nowhere", "tcp=127.0.0.1:1"], 2, "--token-file /nowhere"),
    ] {
        let output = conform(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    let table = conform(&["--only", "ids/of", "--only", "handshake/http"]);
    let text = String::from_utf8(table.stdout).unwrap();
    assert!(text.contains("1 passed, 0 slow, 1 skipped, 0 failed"), "{text}");
}
