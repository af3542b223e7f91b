//! Our own daemon and our own bot pass the checks, on each transport.

use std::collections::BTreeSet;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use super::mutants::Place;
use super::{MUTANT, OF_BOTS, OF_DIALERS, TIMEOUT, conform, listed, names, passes, report, with_verdict};
use crate::common::process::PLYD;
use crate::common::{self, Server};

/// The checks of a group.
fn group(name: &str) -> Vec<String> {
    listed().into_iter().filter(|check| check.starts_with(name)).collect()
}

/// The groups of checks whose promises a connection keeps, each kind of connection in its own way. What the
/// others promise is decided behind it, and so is how much memory answers and requests take, which are the
/// dearest checks.
const OF_CONNECTIONS: [&str; 7] =
    ["ends/", "framing/", "handshake/", "ids/", "liveness/", "places/", "websocket/"];

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

pub(crate) fn our_daemon_passes_on_standard_streams() {
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
    let groups: &[&str] = if common::is_whole() { &[""] } else { &OF_CONNECTIONS };
    suite(groups, &["--", PLYD, "serve", "--threads", "2"], &skipped);
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
const PARTS: [&[&str]; 2] = [&["time/", FAIRNESS], &["search/", "races/", "rules/", "preparation/"]];

/// This group keeps all cores busy for as long as it lasts, so it is checked only if all is asked for:
/// `tests/it/wire_shares.rs` tests how the daemon shares cores, too.
const FAIRNESS: &str = "fairness/";

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

pub(crate) fn our_daemon_passes_over_tcp(part: usize) {
    let server = Server::tcp(&["--threads", "2"]);
    let others = OF_STREAMS.into_iter().chain(OF_OTHERS).map(str::to_owned);
    let skipped: Vec<String> = others.chain(group("websocket/")).chain(group("resume/")).collect();
    let listed = listed();
    let all: BTreeSet<&str> = listed.iter().filter_map(|check| check.split_inclusive('/').next()).collect();
    let is_rest = |group: &&str| ![OF_BOTS, OF_DIALERS].contains(group) && !PARTS.concat().contains(group);
    let rest: Vec<&str> = all.into_iter().filter(is_rest).collect();
    let mut groups = [PARTS.get(part).copied().unwrap_or(&rest), &OF_MESSAGES].concat();
    groups.retain(|&group| group != FAIRNESS || common::is_whole());
    suite(&groups, &[&format!("tcp={}", server.address())], &skipped);
}

pub(crate) fn our_daemon_passes_over_websocket() {
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
    suite(&OF_CONNECTIONS, &[&format!("ws://{}", server.address())], &skipped);
}

pub(crate) fn our_daemon_passes_on_a_unix_socket_with_a_token() {
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
pub(crate) fn low(check: &str) -> &'static [&'static str] {
    LOW.iter().find(|(name, _)| *name == check).map_or(&[], |(_, arguments)| arguments)
}

pub(crate) fn our_daemon_passes_at_low_limits() {
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

/// Features that a check may use without being about them, and such a check of each.
const FEATURES: [(&str, &str); 7] = [
    ("analyse", "races/analysis-superseded"),
    ("anytime", "races/stop-behind-go"),
    ("deterministic", "search/repeatable"),
    ("hard_ms", "races/update-limits"),
    ("multipv", "search/multipv"),
    ("ponder", "races/refused-go"),
    ("queue", "races/stop-queued"),
];

/// What a server need not have is skipped, and nothing fails for it.
pub(crate) fn our_daemon_passes_without_a_feature() {
    let place = Place::new("features");
    let mutant = place.0.join(MUTANT);
    let lacks = FEATURES.map(|(feature, _)| feature).join(" ");
    let server = ["--", mutant.to_str().unwrap(), "<>", &format!("without {lacks}")];
    let flags = ["--json", "--timeout", TIMEOUT];
    let only = ["races", "search", "ends", "ids", "numbers", "framing", "time/hard", "time/ponder-clock"];
    let only: Vec<&str> = only.into_iter().flat_map(|only| ["--only", only]).collect();
    let report = report(&conform(&[&flags[..], &only, &server].concat()));
    assert_eq!(with_verdict(&report, "failed"), names(&[]), "{report}");
    let skipped = with_verdict(&report, "skipped");
    assert!(FEATURES.iter().all(|(_, check)| skipped.contains(*check)), "{report}");
}

pub(crate) fn our_daemon_passes_as_a_bot() {
    let bot = ["--json", "--timeout", TIMEOUT, "--bot"];
    passes(&report(&conform(&[&bot[..], &[&format!("cmd={PLYD} serve --threads 2")]].concat())), &[""; 0]);
    let server = Server::tcp(&["--threads", "2"]);
    let called = format!("tcp={}", server.address());
    passes(&report(&conform(&[&bot[..], &["--game", "l-game", &called]].concat())), &["bot/end"]);
}

pub(crate) fn our_bot_passes_as_it_dials() {
    let dial = ["--json", "--timeout", TIMEOUT, "--dial"];
    passes(&report(&conform(&dial)), &[""; 0]);
    // One that plays several games at once, by the legal moves alone, at a port that is given.
    let few = ["concurrency", "limit", "over", "in-turn", "at-once", "going-on", "leaves"]
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
    // One that uses up much of its clock for each move.
    let relayed = ["--", mutant.to_str().unwrap(), r#"> {"cmd":"go"}"#, "use-clock", "{ladder}", "{token}"];
    let only = ["moves", "in-turn", "limit"].map(|name| format!("{OF_DIALERS}{name}"));
    let only = only.iter().flat_map(|name| ["--only", name]);
    let arguments = ["--json", "--timeout", "120s", "--dial"].into_iter().chain(only).chain(relayed);
    passes(&report(&conform(&arguments.collect::<Vec<_>>())), &[""; 0]);
}
