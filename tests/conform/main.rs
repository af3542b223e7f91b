//! The conformance suite: our own daemon passes it, and servers that break one promise fail the check that is
//! meant for it.
//!
//! This executable is also those servers: called by the name `mutant`, it is our daemon with one thing
//! distorted, as its arguments say. That leaves no room for the usual test harness, which would write to the
//! server's output.

// A test that cannot start the command or read its own files has nothing better to do than to panic.
#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
mod dialer;
mod mutant;
mod relay;

use std::collections::BTreeSet;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::Value;

use common::Server;
use common::harness::{self, Test};
use common::process::{self, PLYD};
use mutant::Mutant;
use relay::Relay;

/// How long a check may take that our daemon passes: only how long until it fails, however busy the machine
/// is.
const TIMEOUT: &str = "600s";

/// How many mutants are tried at once.
const WORKERS: usize = 4;

/// Of so many mutants one is tried, unless all are asked for.
const SAMPLE: usize = 12;

/// How many checks that must pass are made beside those that must fail: the next ones of the list.
const BYSTANDERS: usize = 2;

// The longest first, so that none of them is alone at the end.
const TESTS: [Test; 13] = [
    ("each mutant is caught by its check", each_mutant_is_caught_by_its_check),
    ("our bot passes as it dials", our_bot_passes_as_it_dials),
    ("our daemon passes over TCP: what is timed", || our_daemon_passes_over_tcp(0)),
    ("our daemon passes over TCP: searches and rules", || our_daemon_passes_over_tcp(1)),
    ("our daemon passes over TCP: connections", || our_daemon_passes_over_tcp(2)),
    ("our daemon passes on standard streams", our_daemon_passes_on_standard_streams),
    ("our daemon passes over WebSocket", our_daemon_passes_over_websocket),
    ("our daemon passes on a Unix socket with a token", our_daemon_passes_on_a_unix_socket_with_a_token),
    ("our daemon passes at low limits", our_daemon_passes_at_low_limits),
    ("our daemon passes as a bot", our_daemon_passes_as_a_bot),
    ("what is no server fails and hangs nothing", what_is_no_server_fails_and_hangs_nothing),
    ("no server outlives a suite that is killed", no_server_outlives_a_suite_that_is_killed),
    ("checks are listed and chosen by name", checks_are_listed_and_chosen_by_name),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    if Path::new(&arguments[0]).file_name().is_some_and(|name| name == "mutant") {
        let mutant = Mutant::read(&arguments[1], &arguments[2]);
        return match &arguments[3..] {
            [ladder, token] => dialer::dial(mutant, PLYD, ladder, token),
            _ => mutant.serve(PLYD),
        };
    }
    harness::run(&TESTS)
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

/// The checks of a group.
fn group(name: &str) -> Vec<String> {
    listed().into_iter().filter(|check| check.starts_with(name)).collect()
}

/// The groups of checks whose promises a connection keeps, each kind of connection in its own way. What the
/// others promise is decided behind it.
const OF_CONNECTIONS: [&str; 8] =
    ["ends/", "framing/", "handshake/", "ids/", "liveness/", "memory/", "places/", "websocket/"];

/// What is checked on a transport that is not tested whole: its connections, unless all is asked for.
fn of_connections() -> &'static [&'static str] {
    if common::is_whole() { &[""] } else { &OF_CONNECTIONS }
}

/// Runs these groups of checks on a server, or all of them (`""`), and what passes and what is skipped is as
/// expected.
fn suite(groups: &[&str], server: &[&str], skipped: &[String]) {
    let only = groups
        .iter()
        .filter(|group| !group.is_empty())
        .flat_map(|group| ["--only", group.trim_end_matches('/')]);
    let flags = ["--json", "--timeout", TIMEOUT].into_iter().chain(only);
    let output = conform(&flags.chain(server.iter().copied()).collect::<Vec<_>>());
    let is_made = |check: &&String| groups.iter().any(|group| check.starts_with(*group));
    passes(&report(&output), &skipped.iter().filter(is_made).collect::<Vec<_>>());
    assert!(output.status.success());
}

fn our_daemon_passes_on_standard_streams() {
    let others = [
        "ends/quit-alone",
        "fairness/engines",
        "fairness/greedy",
        "fairness/moves",
        "fairness/overload",
        "fairness/questions",
        "handshake/abuse",
        "handshake/first-line",
        "handshake/http",
        "handshake/http-lines",
        "handshake/late-token",
        "handshake/required",
        "handshake/token",
        "ids/connections-apart",
        "ids/same-for-all",
        "liveness/gone",
        "operate/close",
        "operate/disconnect",
    ];
    let of_sockets = ["websocket/", "places/", "resume/"].map(group).concat();
    let skipped = [&others.map(str::to_owned)[..], &of_sockets].concat();
    suite(of_connections(), &["--", PLYD, "serve", "--threads", "2"], &skipped);
}

/// What is of standard streams alone.
const OF_STREAMS: [&str; 6] = [
    "ends/eof-default",
    "ends/hangup",
    "ends/interrupt",
    "ends/terminate",
    "handshake/late-refusal",
    "handshake/optional",
];

/// What is of servers that were started in another way.
const OF_OTHERS: [&str; 6] = [
    "fairness/engines",
    "handshake/late-token",
    "handshake/token",
    "places/address",
    "places/idle",
    "places/late-hello",
];

/// Two parts of the groups of checks; the groups that stand in neither are the third. The parts are checked
/// at once, each on a server of its own: the checks of a server that is called run one by one, and most wait.
const PARTS: [&[&str]; 2] = [&["fairness/", "time/"], &["search/", "races/", "rules/", "preparation/"]];

/// What holds for every message, whatever it is about: checked in each part.
const OF_MESSAGES: [&str; 18] = [
    "framing/messages",
    "framing/errors",
    "numbers/integers",
    "numbers/hashes",
    "numbers/shares",
    "ids/seq",
    "ids/stamps",
    "ids/one-final",
    "ids/infos-first",
    "ids/notices",
    "search/legal-moves",
    "search/variations",
    "search/replies",
    "search/lines",
    "search/scores",
    "search/timing",
    "search/reasons",
    "search/events",
];

fn our_daemon_passes_over_tcp(part: usize) {
    let server = Server::tcp(&["--threads", "2"]);
    let others = OF_STREAMS.into_iter().chain(OF_OTHERS).map(str::to_owned);
    let skipped: Vec<String> = others.chain(group("websocket/")).chain(group("resume/")).collect();
    let listed = listed();
    let all: BTreeSet<&str> = listed.iter().filter_map(|check| check.split_inclusive('/').next()).collect();
    let is_rest = |group: &&str| ![OF_BOTS, OF_DIALERS].contains(group) && !PARTS.concat().contains(group);
    let rest: Vec<&str> = all.into_iter().filter(is_rest).collect();
    let groups = [PARTS.get(part).copied().unwrap_or(&rest), &OF_MESSAGES].concat();
    suite(&groups, &[&format!("tcp={}", server.address())], &skipped);
}

fn our_daemon_passes_over_websocket() {
    let server = Server::websocket(&["--threads", "2"]);
    let others = [
        "ends/eof-cancel",
        "ends/eof-finish",
        "ends/eof-ponder",
        "ends/eof-queued",
        "ends/eof-stop",
        "ends/eof-unanswered",
        "framing/last-line",
        "handshake/http",
        "handshake/http-lines",
    ];
    let skipped = [&OF_STREAMS[..], &OF_OTHERS, &others].concat();
    let skipped: Vec<String> = skipped.into_iter().map(str::to_owned).chain(group("resume/")).collect();
    suite(of_connections(), &[&format!("ws://{}", server.address())], &skipped);
}

fn our_daemon_passes_on_a_unix_socket_with_a_token() {
    let place = env::temp_dir().join(format!("plyd-conform-socket-{}", std::process::id()));
    fs::create_dir_all(&place).unwrap();
    let (socket, token) = (place.join("socket"), place.join("token"));
    fs::write(&token, "open sesame\n").unwrap();
    let (socket, token) = (socket.to_str().unwrap(), token.to_str().unwrap());
    let server = Server::tcp(&["--threads", "2", "--unix", socket, "--token-file", token]);
    let chosen = ["--json", "--timeout", TIMEOUT, "--only", "handshake", "--only", "ids", "--only", "ends"];
    let wait = Instant::now();
    while UnixStream::connect(socket).is_err() {
        assert!(wait.elapsed() < Duration::from_secs(60), "no socket");
        thread::sleep(Duration::from_millis(10));
    }
    let unix = format!("unix={socket}");
    let output = conform(&[&chosen[..], &["--token-file", token, &unix]].concat());
    passes(&report(&output), &OF_STREAMS);
    // The same token, given with an address; and none.
    let tcp = format!("tcp={},token=open sesame", server.address());
    let only = ["--json", "--only", "handshake/token", "--only", "ids/of"];
    passes(&report(&conform(&[&only[..], &[&tcp]].concat())), &[""; 0]);
    let refused = report(&conform(&["--json", "--only", "ids/of", &unix]));
    assert_eq!(with_verdict(&refused, "failed"), names(&["ids/of"]));
    fs::remove_dir_all(&place).unwrap();
}

/// Limits that the check of that name can reach.
const LOW: [(&str, &[&str]); 14] = [
    ("fairness/engines", &["--engines", "6"]),
    ("places/strangers", &["--strangers", "6"]),
    ("places/connections", &["--connections", "8"]),
    ("places/address", &["--per-address", "5"]),
    ("places/late-hello", &["--hello-within", "1"]),
    ("places/idle", &["--idle", "1"]),
    ("resume/promise", KEEPS),
    ("resume/missed", KEEPS),
    ("resume/kept", KEEPS),
    ("resume/old-socket", KEEPS),
    ("resume/unknown", KEEPS),
    ("resume/ahead", KEEPS),
    ("resume/gap", KEEPS),
    ("resume/over", KEEPS),
];

/// The group of those checks, which need no servers of their own.
const RESUME: &str = "resume";

/// What makes a server keep connections.
const KEEPS: &[&str] = &["--resume-ms", "600000"];

/// The arguments of a server whose limits that check can reach.
fn low(check: &str) -> &'static [&'static str] {
    LOW.iter().find(|(name, _)| *name == check).map_or(&[], |(_, arguments)| arguments)
}

fn our_daemon_passes_at_low_limits() {
    let together = (RESUME, KEEPS);
    for (check, arguments) in
        LOW.into_iter().filter(|(check, _)| !check.starts_with(RESUME)).chain([together])
    {
        for (way, server) in [("tcp", Server::tcp(arguments)), ("ws", Server::websocket(arguments))] {
            let address = format!("{way}={}", server.address());
            let output = conform(&["--json", "--timeout", TIMEOUT, "--only", check, &address]);
            passes(&report(&output), &[""; 0]);
        }
    }
}

/// The group of checks that judges bots instead of servers.
const OF_BOTS: &str = "bot/";

fn our_daemon_passes_as_a_bot() {
    let bot = ["--json", "--timeout", TIMEOUT, "--bot"];
    passes(&report(&conform(&[&bot[..], &[&format!("cmd={PLYD} serve --threads 2")]].concat())), &[""; 0]);
    let server = Server::tcp(&["--threads", "2"]);
    let called = format!("tcp={}", server.address());
    passes(&report(&conform(&[&bot[..], &["--game", "l-game", &called]].concat())), &["bot/end"]);
}

/// The group of checks that judges programs that dial.
const OF_DIALERS: &str = "dial/";

fn our_bot_passes_as_it_dials() {
    let dial = ["--json", "--timeout", TIMEOUT, "--dial"];
    passes(&report(&conform(&dial)), &[""; 0]);
    // One that plays several games at once, by the legal moves alone, at a port that is given.
    let few = ["concurrency", "over", "in-turn", "at-once", "going-on", "leaves"]
        .map(|name| format!("{OF_DIALERS}{name}"));
    let few = few.iter().flat_map(|name| ["--only", name]);
    let connect =
        ["--", PLYD, "connect", "{ladder}", "--token-file={token}", "--concurrency", "3", "--legal"];
    let games = ["--game", "isolation:7x7", "--game", "l-game", "--clock", "tc=10s+0.1s"];
    let arguments = dial.into_iter().chain(["tcp=127.0.0.1:0"]).chain(few).chain(connect).chain(games);
    passes(&report(&conform(&arguments.collect::<Vec<_>>())), &[""; 0]);
    // One that is overloaded at first, and plays when it is asked again.
    let place = Place::new("dialer");
    let mutant = place.0.join("mutant");
    let overloaded = r#"become {"id":"once-0","type":"error","code":"overloaded","retry_ms":1}"#;
    let relayed = ["--", mutant.to_str().unwrap(), r#"< {"id":"once-0"}"#, overloaded, "{ladder}", "{token}"];
    let arguments = dial.into_iter().chain(["--only", "dial/at-once"]).chain(relayed);
    passes(&report(&conform(&arguments.collect::<Vec<_>>())), &[""; 0]);
}

/// A row of `mutants.txt`.
struct Row {
    text: String,
    lines: String,
    change: String,
    /// The checks that must fail.
    checks: Vec<String>,
    /// Whether nothing but those is run.
    is_alone: bool,
}

fn rows() -> Vec<Row> {
    let is_row = |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("==");
    let read = |line: &str| {
        let [lines, change, checks] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (checks, is_alone) = match checks.strip_prefix("! ") {
            Some(checks) => (checks, true),
            None => (checks, false),
        };
        let checks = checks.split(' ').map(str::to_owned).collect();
        // A wrong row fails here, not by a server that does not start.
        if lines.starts_with("ws") {
            drop(Relay::read(lines, change));
        } else {
            let of_others = ["tcp", "dial"].into_iter().find_map(|prefix| lines.strip_prefix(prefix));
            drop(Mutant::read(of_others.unwrap_or(lines), change));
        }
        Row { text: line.to_owned(), lines: lines.to_owned(), change: change.to_owned(), checks, is_alone }
    };
    include_str!("mutants.txt").lines().filter(is_row).map(read).collect()
}

/// A directory in which `./mutant` is a mutant; it is removed when dropped.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let place = env::temp_dir().join(format!("plyd-conform-{name}-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("token"), "secret").unwrap();
        std::os::unix::fs::symlink(env::current_exe().unwrap(), place.join("mutant")).unwrap();
        Self(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _stays_for_a_look = fs::remove_dir_all(&self.0);
    }
}

fn each_mutant_is_caught_by_its_check() {
    let listed = listed();
    let all = rows();
    let caught: BTreeSet<&String> = all.iter().map(|row| &row.checks[0]).collect();
    let without: Vec<&String> = listed.iter().filter(|check| !caught.contains(check)).collect();
    let unknown: Vec<&&String> = caught.iter().filter(|check| !listed.contains(check)).collect();
    assert!(without.is_empty() && unknown.is_empty(), "no mutant for {without:?}, no check for {unknown:?}");
    // `cargo test --test conform -- mutant TEXT` tries those whose row holds the text alone.
    let chosen = env::args().skip(1).filter(|argument| !argument.starts_with('-')).nth(1);
    let rows: Vec<Row> = match chosen {
        Some(text) => all.into_iter().filter(|row| row.text.contains(&text)).collect(),
        None if common::is_whole() => all,
        None => all.into_iter().step_by(SAMPLE).collect(),
    };
    assert!(!rows.is_empty());
    let place = Place::new("mutants");
    let mutant = place.0.join("mutant");
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // A machine that is busy may want longer than a check waits for what never comes.
                    let tried = try_mutant(&mutant, row, &listed, "15s")
                        .or_else(|_| try_mutant(&mutant, row, &listed, "120s"));
                    wrong.lock().unwrap().extend(tried.err());
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

fn try_mutant(mutant: &Path, row: &Row, listed: &[String], timeout: &str) -> Result<(), String> {
    let wanted: BTreeSet<String> = row.checks.iter().cloned().collect();
    let mut only = row.checks.clone();
    let kind = |check: &String| [OF_BOTS, OF_DIALERS].into_iter().find(|group| check.starts_with(group));
    if !row.is_alone {
        let of_kind = listed.iter().filter(|check| kind(check) == kind(&row.checks[0]));
        let of_kind: Vec<&String> = of_kind.collect();
        let at = of_kind.iter().position(|check| **check == row.checks[0]).unwrap_or(0);
        only.extend(of_kind.into_iter().cycle().skip(at + 1).take(BYSTANDERS).cloned());
    }
    let mut arguments = vec!["--json", "--timeout", timeout];
    arguments.extend(kind(&row.checks[0]).map(|group| if group == OF_BOTS { "--bot" } else { "--dial" }));
    arguments.extend(only.iter().flat_map(|only| ["--only", only]));
    let output = match row.lines.strip_prefix("tcp") {
        _ if row.lines.starts_with("ws") => {
            let server = Server::websocket(&["--threads", "2"]);
            let address = Relay::read(&row.lines, &row.change).listen(server.address());
            conform(&[&arguments[..], &[&format!("ws={address}")]].concat())
        }
        Some(lines) => {
            let file = mutant.with_file_name("token");
            let token: &[&str] =
                if row.checks[0].contains("token") { &["--token-file", file.to_str().unwrap()] } else { &[] };
            let server = Server::tcp(&[&["--threads", "2"], token, low(&row.checks[0])].concat());
            let address = Mutant::read(lines, &row.change).listen(server.address());
            conform(&[&arguments[..], token, &[&format!("tcp={address}")]].concat())
        }
        None => {
            let lines = row.lines.strip_prefix("dial");
            arguments.extend(["--", mutant.to_str().unwrap(), lines.unwrap_or(&row.lines), &row.change]);
            arguments.extend(lines.into_iter().flat_map(|_| ["{ladder}", "{token}"]));
            conform(&arguments)
        }
    };
    let report = report(&output);
    let failed = with_verdict(&report, "failed");
    if failed == wanted && output.status.code() == Some(1) {
        return Ok(());
    }
    let rows = report["checks"].as_array().unwrap().iter();
    let other: Vec<String> = rows
        .filter(|row| row["verdict"] != "passed")
        .map(|row| format!("    {}: {} / {}", row["check"], row["expected"], row["came"]))
        .collect();
    Err(format!("{}\n  failed {failed:?}\n{}", row.text, other.join("\n")))
}

/// Every check, in the order of the list.
fn listed() -> Vec<String> {
    let list = report(&conform(&["--list", "--json"]));
    let checks = list["checks"].as_array().unwrap().iter();
    checks.map(|check| check["check"].as_str().unwrap().to_owned()).collect()
}

fn what_is_no_server_fails_and_hangs_nothing() {
    let chosen = [
        "--json",
        "--timeout",
        "400ms",
        "--only",
        "framing/text",
        "--only",
        "ids/of",
        "--only",
        "races/stop-all",
    ];
    let more =
        ["--only", "ends/eof-idle", "--only", "liveness/pings", "--only", "ids/seq", "--only", "time/spent"];
    for server in
        [&["yes"][..], &["sleep", "1000"], &["cat"], &["false"], &["cat", "/dev/zero"], &["yes", "{}"]]
    {
        let output = conform(&[&chosen, &more[..], &["--"], server].concat());
        let report = report(&output);
        assert_eq!(with_verdict(&report, "passed"), names(&[]), "{server:?}: {report}");
        assert!(report["failed"].as_u64() >= Some(5), "{server:?}: {report}");
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
        (&["tcp=127.0.0.1:1"], 1, "cannot connect"),
        (&["unix=/nowhere"], 1, "cannot connect"),
        (&["ws=127.0.0.1:1"], 1, "cannot connect"),
        (&["--token-file", "/nowhere", "tcp=127.0.0.1:1"], 2, "--token-file /nowhere"),
    ] {
        let output = conform(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    }
    let table = conform(&["--only", "ids/of", "--only", "handshake/http"]);
    let text = String::from_utf8(table.stdout).unwrap();
    assert!(text.contains("1 passed, 0 slow, 1 skipped, 0 failed"), "{text}");
}
