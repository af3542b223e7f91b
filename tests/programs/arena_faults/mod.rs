//! Matches against players that misbehave: what each is blamed for, and that nothing of it stays.

mod stub;

use std::io::BufReader;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use plyd::engine::conformance::chosen;
use plyd::games::REGISTRY;
use serde_json::{Value, json};

use crate::common::harness::Test;
use crate::common::{self, process};
use crate::matches::{FAST, command, directory, records_in};
use stub::{ASKED, PROCESSES, Stub};

/// By what name the executable is a player that misbehaves.
pub(crate) const STUB: &str = "stub";

/// A wait of the default length would only make the tests longer.
const TIMEOUT: [&str; 2] = ["--timeout", "5s"];

/// The same by the name that the argument had before.
const OLD_TIMEOUT: [&str; 2] = ["--patience", "5s"];

/// Two games of which the stub is asked for one move: with sides swapped the opponent's move ends the game.
const ONE_MOVE: [&str; 7] = ["l-game", "--rules", "max_plies=1", "--random-plies", "0", "--games", "2"];

pub(crate) const TESTS: [Test; 18] = [
    ("each fault is recorded by its name", each_fault_is_recorded_by_its_name),
    ("a bot plays every game", a_bot_plays_every_game),
    ("a bot passes its checks", a_bot_passes_its_checks),
    ("a bot that is slow for the arena is warned", a_bot_that_is_slow_for_the_arena_is_warned),
    ("checks are shown as they end", checks_are_shown_as_they_end),
    ("a bot's checks say what it wrote last and what may be wrong", a_bots_checks_say_what_may_be_wrong),
    ("a report says why games were forfeited", a_report_says_why_games_were_forfeited),
    ("a bot at an address needs no hello", a_bot_at_an_address_needs_no_hello),
    ("a second answer is recorded", a_second_answer_is_recorded),
    ("a failed player is started again", a_failed_player_is_started_again),
    ("a failed connection is made again", a_failed_connection_is_made_again),
    ("players that do not begin end the command", players_that_do_not_begin_end_the_command),
    ("a margin forgives", a_margin_forgives),
    ("a machine that stood still is forgiven", a_machine_that_stood_still_is_forgiven),
    ("a broken search is recorded", a_broken_search_is_recorded),
    ("a proof that does not come true is counted", a_proof_that_does_not_come_true_is_counted),
    ("no process outlives the match", no_process_outlives_the_match),
    ("no process outlives a referee that is killed", no_process_outlives_a_referee_that_is_killed),
];

/// What the stub does: it plays as its arguments say.
pub(crate) fn misbehave(arguments: &[String]) -> ExitCode {
    // Nobody is left to report an error to.
    let _referee_gone = stub::run(&arguments.join(" "));
    ExitCode::SUCCESS
}

/// A directory in which `./stub` is the stub; it is removed when dropped.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        let place = directory();
        std::os::unix::fs::symlink(env::current_exe().unwrap(), place.join(STUB)).unwrap();
        Self(place)
    }

    /// Plays [`ONE_MOVE`] against the stub: records and report.
    fn against(&self, way: &str, limit: &str, options: &[&str]) -> (Vec<Value>, Value) {
        let stub = format!("cmd=./stub {way},{limit}");
        records_in(&self.0, &[&ONE_MOVE, &["--player", &stub, "--player", FAST][..], options].concat())
    }

    /// The processes that stubs listed, of those that are alive.
    fn alive(&self) -> Vec<String> {
        let listed = fs::read_to_string(self.0.join(PROCESSES)).unwrap_or_default();
        listed.lines().filter(|process| is_alive(process)).map(str::to_owned).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _stays_for_a_look = fs::remove_dir_all(&self.0);
    }
}

/// Whether there is such a process that is more than a number that nobody asked for.
fn is_alive(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
}

/// Waits until it holds.
fn wait(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(40);
    while !holds() {
        assert!(Instant::now() < end, "not in time: {what}");
        thread::yield_now();
    }
}

fn each_fault_is_recorded_by_its_name() {
    let text = include_str!("faults.txt");
    let sample = if common::is_whole() { 1 } else { 2 };
    let rows: Vec<[&str; 4]> = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>().try_into().expect(line))
        .step_by(sample)
        .collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check_fault(row);
                }
            });
        }
    });
}

/// Plays against the stub and compares with a row of `faults.txt`.
fn check_fault(row: &[&str; 4]) {
    let [way, limit, fault, word] = row;
    let place = Place::new();
    let options: &[&str] = if ["silence", "overloaded"].contains(fault) { &TIMEOUT } else { &[] };
    let (mut records, report) = place.against(way, limit, options);
    let drawn = json!({ "winner": null, "by": "max_plies" });
    let faults = &report["summary"]["players"][0]["faults"];
    let left_out = u64::from(*fault == "overloaded");
    assert_eq!(report["summary"]["unplayed"], left_out, "{row:?}");
    assert_eq!(report["summary"]["players"][0]["overloaded"], left_out, "{row:?}");
    if left_out > 0 {
        // The first game is in no record, and counts for nobody.
        assert_eq!((records.len(), &records[0]["number"]), (1, &json!(2)), "{row:?}");
        assert_eq!(
            (&report["ended"], &report["summary"]["games"]),
            (&json!("overloaded"), &json!(1)),
            "{row:?}"
        );
        assert_eq!(faults, &json!({}), "{row:?}");
        records.insert(0, Value::Null);
    } else if fault.is_empty() {
        assert_eq!((&records[0]["forfeit"], &records[0]["result"]), (&Value::Null, &drawn), "{row:?}");
        assert_eq!(faults, &json!({}), "{row:?}");
    } else {
        let forfeit = &records[0]["forfeit"];
        assert_eq!(
            (&forfeit["player"], &forfeit["kind"]),
            (&json!("p1"), &json!(fault)),
            "{row:?}: {forfeit}"
        );
        assert!(forfeit["message"].as_str().unwrap().contains(word), "{row:?}: {forfeit}");
        assert_eq!(records[0]["result"], json!({ "winner": "p2", "by": fault }), "{row:?}");
        assert_eq!(faults, &json!({ *fault: 1 }), "{row:?}");
    }
    assert_eq!(records[1]["result"], drawn, "{row:?}");
    assert_eq!(place.alive(), [""; 0], "{row:?}");
}

/// What is known of a bot's answers: who and when, and nothing that it would have had to say.
fn is_bare(answer: &Value) -> bool {
    answer.as_object().unwrap().keys().all(|field| ["player", "time_us", "left_us"].contains(&&**field))
}

fn a_bot_plays_every_game() {
    for entry in chosen(REGISTRY) {
        let place = Place::new();
        let game = [entry.name, "--games", "2", "--max-moves", "80"];
        let players = ["--player", "cmd=./stub bot plays,legal=true,tc=1000s", "--player", FAST];
        let (records, report) = records_in(&place.0, &[&game[..], &players].concat());
        assert_eq!(report["summary"]["players"][0]["faults"], json!({}), "{}: {}", entry.name, records[0]);
        for record in &records {
            let answers = record["answers"].as_array().unwrap();
            let bot = if record["players"][0]["index"] == 0 { "p1" } else { "p2" };
            let (own, others): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer["player"] == bot);
            assert!(!own.is_empty() && own.into_iter().all(is_bare), "{record}");
            assert!(others.iter().all(|answer| answer["own_us"].is_u64()), "{record}");
        }
        // What is missing is missing in what is made of it, too.
        let again = ["--html", "match.html", "--record", "games.jsonl"];
        let shown = process::output(command(&place.0, &[&game[..], &players, &again].concat()));
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
        let mut show = process::plyd(["show", "games.jsonl", "--game", "1"]);
        show.command.current_dir(&place.0);
        assert!(process::output(show).status.success());
    }
}

fn a_bot_passes_its_checks() {
    let place = Place::new();
    let mut conform = process::plyd(["conform", "--bot", "--timeout", "600s", "cmd=./stub bot plays"]);
    conform.command.current_dir(&place.0);
    let output = process::output(conform);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains(", 0 skipped, 0 failed"), "{text}");
}

fn a_bot_that_is_slow_for_the_arena_is_warned() {
    let place = Place::new();
    let arguments = ["conform", "--bot", "--game", "isolation", "--only", "bot/clocks", "--timeout", "600s"];
    let mut conform = process::plyd([&arguments[..], &["cmd=./stub bot plays slowly"]].concat());
    conform.command.current_dir(&place.0);
    let output = process::output(conform);
    let text = String::from_utf8(output.stdout).unwrap();
    for word in ["0 passed, 1 slow", "a move within 100ms", "such as time=1s"] {
        assert!(output.status.success() && text.contains(word), "{word}: {text}");
    }
}

fn checks_are_shown_as_they_end() {
    let place = Place::new();
    // The second check waits for an end that does not come.
    let only = ["--only", "bot/answers", "--only", "bot/end", "--timeout", "600s"];
    let arguments =
        [&["conform", "--bot", "--game", "l-game"][..], &only, &["cmd=./stub bot stays"]].concat();
    let mut conform = process::plyd(arguments);
    conform.command.current_dir(&place.0);
    let (mut process, _input, lines) = process::spoken_with(conform);
    let first = lines.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(first.starts_with("bot/answers ") && first.contains("passed"), "{first}");
    assert!(process::runs(&mut process));
}

fn a_bots_checks_say_what_may_be_wrong() {
    let place = Place::new();
    let came = |way: &str, check: &str| {
        let bot = format!("cmd=./stub {way}");
        let only = ["conform", "--bot", "--game", "l-game", "--timeout", "5s", "--only", check, &bot];
        let mut conform = process::plyd(only);
        conform.command.current_dir(&place.0);
        let output = process::output(conform);
        assert_eq!(output.status.code(), Some(1), "{way}");
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    for (way, check, word) in [
        ("bot silent", "bot/answers", "and ended with its input: does it answer"),
        ("bot keeps back", "bot/answers", "only once its input had ended: does it answer"),
        // It may be slow to start.
        ("bot no more reads", "bot/answers", "flush its output after each line, as `print(..., flush=True)`"),
        ("bot crash", "bot/answers", "KeyError: 'moves'"),
        // It answers, but not often enough within the 5 s.
        ("bot dawdles", "bot/legal", "s; the time of a check, 5s, is over: --timeout 50s gives more"),
        ("bot crashes later", "bot/once", "closed; the last line of its stderr: `KeyError: 'moves'`"),
    ] {
        let text = came(way, check);
        assert!(text.contains(word), "{way}: no `{word}` in {text}");
    }
}

fn a_report_says_why_games_were_forfeited() {
    let place = Place::new();
    let report = |player: &str| {
        let players = ["--player", player, "--player", FAST];
        let output = process::output(command(&place.0, &[&ONE_MOVE[..], &players].concat()));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = report("cmd=./stub illegal,nodes=1");
    for word in [
        "warning: 1 of 2 games was forfeited: this is no measure of strength",
        "`cmd=./stub illegal,nodes=1` forfeited 1 of its 2 games:",
        "illegal 1, first in game 1: `1 1 N`: ",
        "`,legal=true` behind it",
        "`plyd conform --bot --game l-game \"cmd=./stub illegal\"`",
    ] {
        assert!(text.contains(word), "no `{word}` in:\n{text}");
    }
    let text = report("cmd=./stub late 60,time=1ms");
    assert!(text.contains("ms after its 1ms") && text.contains("--margin 50ms"), "{text}");
    assert!(!report("cmd=./stub good,nodes=1").contains("forfeited"));
    // The list of a record's games says it, too.
    let mut show = process::plyd(["show", "games.jsonl"]);
    show.command.current_dir(&place.0);
    let players = ["--player", "cmd=./stub crash,nodes=1", "--player", FAST, "--record", "games.jsonl"];
    assert!(process::output(command(&place.0, &[&ONE_MOVE[..], &players].concat())).status.success());
    let listed = String::from_utf8(process::output(show).stdout).unwrap();
    assert!(listed.contains("p2 wins by crash: it ended, exit status: 3"), "{listed}");
}

/// The address of a stub that behaves so towards whoever connects, until this process ends.
fn stub_at_an_address(way: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let input = BufReader::new(stream.try_clone().unwrap());
            thread::spawn(move || Stub::new(way, stream).play(input));
        }
    });
    address
}

fn a_bot_at_an_address_needs_no_hello() {
    let player = format!("tcp={},nodes=1,legal=true", stub_at_an_address("bot plays"));
    let players = ["--player", &*player, "--player", FAST];
    let (_, report) = records_in(&Place::new().0, &[&["isolation", "--games", "2"], &players[..]].concat());
    assert_eq!(report["summary"]["players"][0]["faults"], json!({}), "{report}");
}

fn a_second_answer_is_recorded() {
    for way in ["twice", "bot twice"] {
        let (records, report) = Place::new().against(way, "nodes=1", &[]);
        // It comes in the place of the answer to the next request, with which the second game begins.
        assert_eq!(report["summary"]["players"][0]["faults"], json!({ "protocol": 1 }), "{way}");
        let message = records[1]["forfeit"]["message"].as_str().unwrap();
        assert!(message.contains("an answer to `2`, where `3` was asked"), "{way}: {message}");
    }
}

fn a_failed_player_is_started_again() {
    let place = Place::new();
    let players = ["--player", FAST, "--player", "cmd=./stub crash,nodes=1"];
    let (_, report) = records_in(&place.0, &[&["isolation", "--games", "6"], &players[..]].concat());
    assert_eq!(report["summary"]["players"][1]["faults"], json!({ "crash": 6 }), "{report}");
    assert_eq!(report["summary"]["meetings"][0]["wins"], 6, "{report}");
    // Its stderr is shown until its first crash, and its name is said once.
    let shown = process::output(command(&place.0, &[&["isolation", "--games", "6"], &players[..]].concat()));
    let text = String::from_utf8_lossy(&shown.stderr);
    for line in
        ["Traceback\n", "`cmd=./stub crash,nodes=1` crashed; what it writes to stderr is shown no more\n"]
    {
        assert_eq!(text.matches(line).count(), 1, "{text}");
    }
}

fn a_failed_connection_is_made_again() {
    let player = format!("tcp={},nodes=1", stub_at_an_address("hangs up"));
    let place = Place::new();
    let players = ["--player", FAST, "--player", &player];
    let (records, report) = records_in(&place.0, &[&["isolation", "--games", "4"], &players[..]].concat());
    assert_eq!(records[0]["forfeit"]["message"], "the connection is closed");
    assert_eq!(report["summary"]["players"][1]["faults"], json!({ "crash": 4 }), "{report}");
}

fn players_that_do_not_begin_end_the_command() {
    let place = Place::new();
    // Nobody listens where somebody just stopped to.
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (player, word) in [
        ("cmd=./stub refuses", "never heard of it"),
        ("cmd=./stub begins with nothing", "no message of the protocol"),
        ("cmd=./stub begins with another", "no answer to `newgame`"),
        ("cmd=./stub begins never", "no answer in time"),
        ("cmd=/nowhere,nodes=1", "cannot start `/nowhere`"),
        (&format!("tcp={nobody}"), "cannot connect"),
    ] {
        let players = ["--player", FAST, "--player", player];
        let output = process::output(command(&place.0, &[&ONE_MOVE[..], &OLD_TIMEOUT, &players].concat()));
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{player}: {text}");
        for word in [word, "leave out its --player"] {
            assert!(text.contains(word), "{player} without `{word}`: {text}");
        }
        assert!(output.stdout.is_empty(), "{player}");
    }
}

fn a_margin_forgives() {
    let (records, report) = Place::new().against("late 50", "time=1ms", &["--margin", "20s"]);
    assert_eq!(report["summary"]["players"][0]["faults"], json!({}));
    assert!(records[0]["answers"][0]["time_us"].as_u64() > Some(1000), "{}", records[0]);
}

fn a_machine_that_stood_still_is_forgiven() {
    // The stub stops the referee and so the watches; nothing else is as sure to be seen.
    for (way, options, faults, forgiven) in [
        ("stops the referee", &["--forgive-stalls"][..], json!({}), true),
        ("stops the referee", &[], json!({"late": 1}), false),
        ("late 2000", &["--forgive-stalls"], json!({"late": 1}), false),
    ] {
        let (records, report) = Place::new().against(way, "time=300ms", options);
        assert_eq!(report["summary"]["players"][0]["faults"], faults, "{way} {options:?}");
        assert_eq!(records[0]["answers"][0].get("forgiven_us").is_some(), forgiven, "{way} {options:?}");
        assert_eq!(report["summary"]["players"][0]["forgiven"].as_u64() > Some(0), forgiven);
    }
}

fn a_broken_search_is_recorded() {
    let (records, _) = Place::new().against("failed", "nodes=1", &[]);
    assert_eq!(records[0]["answers"][0]["incident"], "inc-7");
}

fn a_proof_that_does_not_come_true_is_counted() {
    let (records, report) = Place::new().against("boasts", "nodes=1", &[]);
    assert_eq!(records[0]["contradictions"][0]["message"], "announced a win and drew");
    assert_eq!(report["summary"]["players"][0]["contradicted_proofs"], 1);
    assert_eq!(report["summary"]["players"][1]["contradicted_proofs"], 0);
}

fn no_process_outlives_the_match() {
    // The trial before the match starts the stub too; what crashed was started again.
    for (way, processes, faults) in [
        ("good", 2, json!({})),
        ("stays", 2, json!({})),
        ("leaves its group", 2, json!({})),
        ("forks", 4, json!({})),
        ("forks and crashes", 6, json!({ "crash": 1 })),
    ] {
        let place = Place::new();
        let (_, report) = place.against(way, "nodes=1", &[]);
        assert_eq!(report["summary"]["players"][0]["faults"], faults, "{way}");
        let listed = fs::read_to_string(place.0.join(PROCESSES)).unwrap();
        assert!(listed.lines().count() >= processes, "{way}: {listed}");
        // What was killed may take a moment to go.
        wait(way, || place.alive().is_empty());
    }
}

fn no_process_outlives_a_referee_that_is_killed() {
    let place = Place::new();
    // They never answer, do not see the end of their input, and each has started another process.
    let players =
        ["--player", "cmd=./stub forks and hangs,time=1000s", "--player", "cmd=./stub forks and hangs"];
    let mut referee = command(&place.0, &[&ONE_MOVE[..], &players].concat());
    referee.command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut referee = process::spawn(referee);
    wait("the question", || place.0.join(ASKED).exists());
    assert_eq!(place.alive().len(), 4);
    referee.end().unwrap();
    wait("the players end", || place.alive().is_empty());
}
