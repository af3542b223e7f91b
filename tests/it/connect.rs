//! `plyd connect`: a bot that dials a ladder, which then asks it for moves. The ladders here are the tests.

mod dialling;
mod failures;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use crate::common::{Folder, TIMEOUT, process, until};
use plyd::client::Process;
use rustix::process::Signal;
use serde_json::{Value, json};

/// A bot that answers `go` alone, by a move that names its process. Some positions end it badly, and one is
/// babbled about before it is answered.
pub(crate) const LEAST: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
  case $line in
    *'"die"'*) exit 3 ;;
    *'"hang"'*) sleep 1000 ;;
    *'"babble"'*) echo 'thinking...'; echo '[]'; echo "{\"id\":\"$id\",\"type\":\"bestmove\",\"move\":\"$$\"}" ;;
    *'"flood"'*) yes 'thinking...' ;;
    *'"garble"'*) echo '{"type":"bestmove",' ;;
    *'"cmd":"go"'*) echo "{\"id\":\"$id\",\"type\":\"bestmove\",\"move\":\"$$\"}" ;;
    *) echo "{\"id\":\"$id\",\"type\":\"error\",\"code\":\"unknown_cmd\",\"message\":\"go alone\"}" ;;
  esac
done"#;

/// A bot that greets as a server does, warns of each search, and has no sessions all the same.
const GREETS: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
  case $line in
    *'"cmd":"hello"'*) echo "{\"id\":\"$id\",\"type\":\"result\",\"of\":\"hello\",\"server\":{\"name\":\"greeter\"}}" ;;
    *'"cmd":"go"'*'"x_legal":["a","b"]}')
      echo "{\"id\":\"$id\",\"type\":\"notice\",\"kind\":\"warning\",\"message\":\"no answer yet\"}"
      echo "{\"id\":\"$id\",\"type\":\"bestmove\",\"move\":\"last\"}" ;;
    *) echo "{\"id\":\"$id\",\"type\":\"error\",\"code\":\"unknown_cmd\"}" ;;
  esac
done"#;

/// A ladder that waits for its bot.
struct Ladder {
    listener: TcpListener,
    folder: Folder,
}

/// Its end of a bot's connection.
struct Visit {
    lines: BufReader<TcpStream>,
}

impl Ladder {
    fn new(name: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let folder = Folder::new(name);
        folder.file("token", "plyd_of_the_bot\n");
        Self { listener, folder }
    }

    /// Starts `plyd connect` with these arguments.
    fn bot(&self, arguments: &[&str]) -> Process {
        let address = format!("tcp={}", self.listener.local_addr().unwrap());
        let token = self.folder.path.join("token");
        let mut launch = process::plyd(["connect", &address, "--token-file", token.to_str().unwrap()]);
        launch.command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        process::spawn(launch)
    }

    /// Starts a bot that answers `go` alone.
    fn least(&self, arguments: &[&str]) -> Process {
        self.bot(&[arguments, &["--", "sh", "-c", LEAST]].concat())
    }

    /// A ladder that such a bot has joined.
    fn with_least(name: &str, arguments: &[&str]) -> (Self, Process, Visit) {
        let ladder = Self::new(name);
        let bot = ladder.least(arguments);
        let (visit, _) = ladder.joined(&[]);
        (ladder, bot, visit)
    }

    /// Waits until the bot dials.
    fn called(&self) -> Visit {
        let mut stream = None;
        until("the bot dials", || {
            stream = self.listener.accept().ok();
            stream.is_some()
        });
        let (stream, _) = stream.unwrap();
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        Visit { lines: BufReader::new(stream) }
    }

    /// Waits until the bot dials, and takes it; gives its offer.
    fn joined(&self, games: &[&str]) -> (Visit, Value) {
        let mut visit = self.called();
        let offer = visit.read();
        visit.take(&offer, games, 60_000);
        (visit, offer)
    }
}

impl Visit {
    /// Writes a line.
    fn write(&mut self, line: &str) {
        self.lines.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next line, which is not the end.
    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("`{line}`"))
    }

    /// Whether the bot is gone.
    fn is_over(&mut self) -> bool {
        self.lines.fill_buf().map_or(true, <[u8]>::is_empty)
    }

    /// Takes the bot; the games that go on.
    fn take(&mut self, offer: &Value, games: &[&str], heartbeat_ms: u64) {
        let answer = json!({
            "type": "result", "id": offer["id"], "of": "offer", "bot": "kari", "concurrency": offer["concurrency"],
            "games": games, "heartbeat_ms": heartbeat_ms,
        });
        self.write(&answer.to_string());
    }

    /// Sends a request, and takes its answer.
    fn ask(&mut self, request: &Value) -> Value {
        self.write(&request.to_string());
        self.answer(request["id"].as_str().unwrap())
    }

    /// Waits for the final answer to a request.
    fn answer(&mut self, id: &str) -> Value {
        loop {
            let line = self.read();
            if line["id"] == id && line["type"] != "info" && line["type"] != "notice" {
                return line;
            }
        }
    }

    /// The move that is answered in a game after these moves.
    fn best(&mut self, id: &str, game: &str, moves: &[&str]) -> String {
        let answer = self.ask(&go(id, game, moves));
        assert_eq!(answer["type"], "bestmove", "{answer}");
        answer["move"].as_str().unwrap().to_owned()
    }

    /// Says that a game has ended.
    fn over(&mut self, game: &str) {
        let answer = self.ask(&json!({ "id": "over", "cmd": "over", "x_game": game, "outcome": "won" }));
        assert_eq!((&answer["type"], &answer["of"]), (&json!("result"), &json!("over")));
    }
}

/// Asks for a move in a game.
fn go(id: &str, game: &str, moves: &[&str]) -> Value {
    json!({
        "id": id, "cmd": "go", "x_game": game, "game": "isolation", "rules": { "preset": "7x7" },
        "position": { "moves": moves }, "clock": { "kind": "per_move", "ms": 50 },
    })
}

/// What a bot that has ended wrote.
fn said(bot: Process) -> (Option<i32>, String, String) {
    let output = process::outcome(bot);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn plyd_plays_what_it_offered_and_leaves_after_its_games() {
    let ladder = Ladder::new("connect-plays");
    let record = ladder.folder.path.join("games.jsonl");
    let arguments =
        ["--game", "isolation:7x7", "--game", "ijk", "--concurrency", "2", "--clock", "tc=10s+0.1s"];
    let recorded = ["--record", record.to_str().unwrap(), "--option", "threads=1"];
    let bot = ladder.bot(&[&arguments[..], &recorded].concat());
    let (mut visit, offer) = ladder.joined(&[]);
    assert_eq!((&offer["cmd"], &offer["token"]), (&json!("offer"), &json!("plyd_of_the_bot")));
    assert_eq!(offer["protocol"], json!({ "min": 1, "max": 1 }));
    assert_eq!(offer["games"], json!([{ "game": "isolation", "presets": ["7x7"] }, { "game": "ijk" }]));
    assert_eq!(offer["clocks"], json!([{ "kind": "increment", "me_ms": 10_000, "inc_ms": 100 }]));
    assert_eq!((&offer["concurrency"], &offer["legal"]), (&json!(2), &Value::Null));
    let pong = visit.ask(&json!({ "id": "p", "cmd": "ping", "echo": "there?" }));
    assert_eq!((&pong["of"], &pong["echo"]), (&json!("ping"), &json!("there?")));

    // A move that is given back is legal, or the next `go` would be refused.
    let mut moves = vec!["d4".to_owned()];
    for number in 0..3 {
        let asked: Vec<&str> = moves.iter().map(String::as_str).collect();
        let best = visit.best(&format!("a{number}"), "a", &asked);
        moves.push(best);
    }
    let endless = json!({ "id": "b", "cmd": "go", "x_game": "b", "game": "isolation", "rules": { "preset": "11x9" },
        "position": {}, "clock": { "kind": "none" }, "info": { "events": ["started"] } });
    visit.write(&endless.to_string());
    assert_eq!(visit.read()["event"], "started");
    // Two games were offered, no third.
    let refused = visit.ask(&go("c", "c", &["d4"]));
    assert_eq!(refused["code"], "too_many_sessions", "{refused}");
    visit.write(&json!({ "id": "s", "cmd": "stop", "target": "b" }).to_string());
    let answers = [visit.read(), visit.read()];
    let of =
        |id: &str| answers.iter().find(|answer| answer["id"] == id).unwrap_or_else(|| panic!("{answers:?}"));
    assert_eq!((&of("b")["type"], &of("b")["reason"]), (&json!("bestmove"), &json!("stopped")));
    assert_eq!(of("s")["type"], "result");

    // It leaves after the games that it has, and begins none.
    process::signal(&bot, Signal::TERM);
    let last = visit.read();
    assert_eq!((&last["cmd"], &last["concurrency"]), (&json!("offer"), &json!(0)));
    visit.take(&last, &["a", "b"], 60_000);
    assert!(!visit.best("a3", "a", &[]).is_empty());
    let record_of_a = json!({ "record": 1, "game": "isolation", "rules": { "preset": "7x7" }, "start": "", "moves": ["d4"] });
    let over = json!({ "id": "o", "cmd": "over", "x_game": "a", "outcome": "lost", "message": "no move left", "record": record_of_a });
    assert_eq!(visit.ask(&over)["type"], "result");
    // The second game of a pair belongs to what it plays: it keeps its place, and is played.
    let over = json!({ "id": "ob", "cmd": "over", "x_game": "b", "outcome": "won", "next": "b2" });
    assert_eq!(visit.ask(&over)["type"], "result");
    let known = ["b2", "c", "d"].map(|game| visit.ask(&go(&format!("n{game}"), game, &["d4"])));
    assert_eq!(known[0]["type"], "bestmove");
    assert_eq!([&known[1]["code"], &known[2]["code"]], ["too_many_sessions"; 2], "{known:?}");
    visit.over("b2");
    assert!(visit.is_over());
    let (code, text, complaint) = said(bot);
    assert_eq!(code, Some(0), "{complaint}");
    for line in [
        "joined as kari",
        "game a: isolation 7x7",
        "game a: lost, no move left",
        "game b: won",
        "game b2: isolation 7x7",
        "left",
    ] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(record).unwrap()).unwrap();
    assert_eq!(recorded, record_of_a);
}

#[test]
fn each_game_has_a_process_of_its_own() {
    let ladder = Ladder::new("connect-lanes");
    let _bot = ladder.least(&["--concurrency", "2", "--legal"]);
    let (mut visit, offer) = ladder.joined(&[]);
    assert_eq!((&offer["legal"], &offer["games"]), (&json!(true), &Value::Null));
    let (a, b) = (visit.best("1", "a", &[]), visit.best("2", "b", &[]));
    assert_ne!(a, b);
    for number in 0..3 {
        assert_eq!(visit.best(&format!("a{number}"), "a", &[]), a);
        assert_eq!(visit.best(&format!("b{number}"), "b", &[]), b);
    }
    visit.over("a");
    assert_eq!((visit.best("3", "c", &[]), visit.best("4", "b", &[])), (a, b));
}

/// A bot with sessions that shows the id of each session's request as its move.
const SESSIONS: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
  case $line in
    *'"cmd":"newgame"'*)
      opened=$id
      echo "{\"id\":\"$id\",\"type\":\"notice\",\"kind\":\"warning\",\"message\":\"wait\"}"
      echo "{\"id\":\"$id\",\"type\":\"result\",\"of\":\"newgame\"}" ;;
    *'"cmd":"go"'*) echo "{\"id\":\"$id\",\"type\":\"bestmove\",\"move\":\"$opened $id\"}" ;;
    *) echo "{\"id\":\"$id\",\"type\":\"result\",\"of\":\"hello\"}" ;;
  esac
done"#;

#[test]
fn no_two_requests_to_a_bot_have_one_id() {
    let ladder = Ladder::new("connect-ids");
    let _bot = ladder.bot(&["--", "sh", "-c", SESSIONS]);
    let (mut visit, _) = ladder.joined(&[]);
    let mut ids = Vec::new();
    for game in ["a", "b", "c"] {
        let shown = visit.best("1", game, &[]);
        ids.extend(shown.split(' ').map(str::to_owned));
        visit.over(game);
    }
    let different: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(different.len(), 6, "{ids:?}");
}

#[test]
fn what_plyd_refuses_is_refused_and_no_other_game_played() {
    let ladder = Ladder::new("connect-unknown");
    let _bot = ladder.bot(&[]);
    let (mut visit, offer) = ladder.joined(&[]);
    assert_eq!(offer["engine"]["name"], "plyd", "{offer}");
    visit.best("1", "a", &["d4"]);
    visit.over("a");
    let mut chess = go("2", "b", &["d4"]);
    chess["game"] = json!("chess");
    assert_eq!(visit.ask(&chess)["code"], "game_unknown");
    let mut other = go("3", "b", &["d4"]);
    other["rules"] = json!({ "preset": "none such" });
    assert_eq!(visit.ask(&other)["code"], "rules_unsupported");
    visit.best("4", "b", &["d4"]);
}

#[test]
fn a_bot_may_greet_and_have_no_sessions() {
    let ladder = Ladder::new("connect-greets");
    let _bot = ladder.bot(&["--", "sh", "-c", GREETS]);
    let (mut visit, offer) = ladder.joined(&[]);
    assert_eq!(offer["engine"], json!({ "name": "greeter" }));
    // The moves stand last in the line, whatever else the ladder says.
    let mut asked = go("1", "a", &["d4"]);
    asked["x_legal"] = json!(["a", "b"]);
    asked["x_opponent"] = json!("kari");
    assert_eq!(visit.ask(&asked)["move"], "last");
}

#[test]
fn lines_that_come_together_are_served_together() {
    let ladder = Ladder::new("connect-together");
    let _bot = ladder.least(&[]);
    let mut visit = ladder.called();
    let offer = visit.read();
    let answer = json!({
        "type": "result", "id": offer["id"], "of": "offer", "bot": "kari", "concurrency": 1, "games": ["a"],
        "heartbeat_ms": 60_000,
    });
    let pings = (0..200).map(|number| json!({ "id": format!("p{number}"), "cmd": "ping" }).to_string());
    let lines: Vec<String> = [answer.to_string()].into_iter().chain(pings).collect();
    visit.write(&lines.join("\n"));
    for number in 0..200 {
        assert_eq!(visit.read()["id"], format!("p{number}"));
    }
}

#[test]
fn options_reach_a_bot_that_has_some() {
    let ladder = Ladder::new("connect-options");
    let _bot = ladder.bot(&["--option", "level=1"]);
    let (mut visit, _) = ladder.joined(&[]);
    let answer = visit.ask(&go("1", "a", &["d4"]));
    assert_eq!(answer["type"], "bestmove", "{answer}");
}

#[test]
fn a_stop_of_all_ends_the_search_of_each_game() {
    let ladder = Ladder::new("connect-stop-all");
    let _bot = ladder.bot(&["--concurrency", "2", "--option", "threads=1"]);
    let (mut visit, _) = ladder.joined(&[]);
    let stop = |id: &str| json!({ "id": id, "cmd": "stop", "all": true });
    let nothing = visit.ask(&stop("none"));
    assert_eq!((&nothing["effect"], &nothing["targets"]), (&json!("already_finished"), &json!([])));
    for id in ["a", "b"] {
        let endless = json!({ "id": id, "cmd": "go", "x_game": id, "game": "isolation", "rules": { "preset": "11x9" },
            "position": {}, "clock": { "kind": "none" }, "info": { "events": [] } });
        visit.write(&endless.to_string());
    }
    // Their sessions may not be open yet.
    let mut stopping = visit.ask(&stop("s"));
    stopping["targets"].as_array_mut().unwrap().sort_by_key(Value::to_string);
    assert_eq!((&stopping["effect"], &stopping["targets"]), (&json!("stopping"), &json!(["a", "b"])));
    let mut ended = [visit.read(), visit.read()];
    ended.sort_by_key(|best| best["id"].to_string());
    for (best, id) in ended.iter().zip(["a", "b"]) {
        assert_eq!((&best["id"], &best["reason"]), (&json!(id), &json!("stopped")), "{best}");
    }
    assert_eq!(visit.ask(&stop("again"))["effect"], "already_finished");
}

#[test]
fn what_a_ladder_should_not_ask_is_answered_and_changes_nothing() {
    let (_ladder, _bot, mut visit) = Ladder::with_least("connect-odd", &[]);
    let process = visit.best("1", "a", &[]);
    for (line, expected) in [
        (json!({ "id": "x", "cmd": "hello" }), json!("unknown_cmd")),
        (json!({ "id": "x", "cmd": "quit" }), json!("unknown_cmd")),
        (json!({ "id": "x", "cmd": "offer" }), json!("unknown_cmd")),
        (json!({ "id": "x", "cmd": "stop", "target": "nobody" }), Value::Null),
        (json!({ "id": "x", "cmd": "stop", "target": 7 }), Value::Null),
        (json!({ "id": "x", "cmd": "update" }), Value::Null),
        (json!({ "id": "x", "cmd": "over" }), Value::Null),
        (
            json!({ "id": "x", "cmd": "over", "x_game": "none", "outcome": "\u{1b}[2J", "record": 7 }),
            Value::Null,
        ),
    ] {
        assert_eq!(visit.ask(&line)["code"], expected, "{line}");
    }
    for line in [
        json!({}),
        json!({ "cmd": "go" }),
        json!({ "id": 7, "cmd": "ping" }),
        json!({ "type": "notice", "kind": "warning", "message": "you lose too much" }),
        json!({ "type": "bestmove", "id": "1" }),
        json!({ "type": "result", "id": "offer-9" }),
    ] {
        visit.write(&line.to_string());
    }
    assert_eq!(visit.best("2", "a", &[]), process);
}

#[test]
fn a_bot_without_games_leaves_at_once_and_takes_its_processes_along() {
    let (_ladder, bot, mut visit) = Ladder::with_least("connect-leaves", &["--json"]);
    let process = visit.best("1", "a", &[]);
    visit.over("a");
    process::signal(&bot, Signal::INT);
    let last = visit.read();
    assert_eq!(last["concurrency"], 0);
    visit.take(&last, &[], 60_000);
    let (code, text, _) = said(bot);
    assert_eq!(code, Some(0));
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["joined", "begun", "over", "left"]);
    assert!(!std::path::Path::new("/proc").join(process).exists());
}

#[test]
fn a_game_that_goes_on_is_played_to_its_end_before_the_bot_leaves() {
    let ladder = Ladder::new("connect-stays");
    let bot = ladder.least(&[]);
    // The ladder has not asked for a move yet.
    let (mut visit, _) = ladder.joined(&["a"]);
    process::signal(&bot, Signal::TERM);
    let last = visit.read();
    visit.take(&last, &["a"], 60_000);
    visit.best("1", "a", &[]);
    visit.over("a");
    assert_eq!(said(bot).0, Some(0));
}

#[test]
fn the_last_offer_is_sent_again_after_the_ladder_refused_it_for_now() {
    let ladder = Ladder::new("connect-refused");
    let bot = ladder.least(&[]);
    let (mut visit, _) = ladder.joined(&["a"]);
    process::signal(&bot, Signal::TERM);
    let last = visit.read();
    let refused = json!({
        "type": "error", "id": last["id"], "line": 0, "code": "too_many_requests", "message": "wait for a while",
    });
    visit.write(&refused.to_string());
    let again = visit.read();
    assert_eq!((&again["cmd"], &again["concurrency"]), (&json!("offer"), &json!(0)));
    assert_ne!(again["id"], last["id"]);
    visit.take(&again, &["a"], 60_000);
    assert_eq!(visit.ask(&go("more", "b", &[]))["code"], "too_many_sessions");
    visit.best("1", "a", &[]);
    visit.over("a");
    assert_eq!(said(bot).0, Some(0));
}

#[test]
fn a_signal_while_it_dials_ends_it_at_once() {
    // Nobody listens, or whoever does says nothing.
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let ladder = Ladder::new("connect-dials");
    let silent = Ladder::new("connect-dials-in-vain");
    let address = nobody.local_addr().unwrap();
    drop(nobody);
    let token = ladder.folder.path.join("token");
    let token = token.to_str().unwrap();
    let mut launch = process::plyd(["connect", &format!("tcp={address}"), "--token-file", token, "--json"]);
    launch.command.args(["--", "sh", "-c", LEAST]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut alone = process::spawn(launch);
    let mut lines = BufReader::new(alone.take_stdout().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(line.contains("\"lost\""), "{line}");
    process::signal(&alone, Signal::TERM);
    line.clear();
    lines.read_line(&mut line).unwrap();
    assert_eq!(line, "{\"event\":\"left\"}\n");
    assert_eq!(process::outcome(alone).status.code(), Some(0));

    let waits = silent.least(&[]);
    let mut visit = silent.called();
    let offer = visit.read();
    assert_eq!(offer["cmd"], "offer");
    process::signal(&waits, Signal::TERM);
    assert!(visit.is_over());
    assert_eq!(said(waits).0, Some(0));
}

#[test]
fn tokens_do_not_travel_in_the_open() {
    let folder = Folder::new("connect-open");
    let token = folder.file("token", "secret\n");
    for address in ["tcp=192.0.2.1:7127", "ws://ladder.example:80"] {
        let output = process::output(process::plyd(["connect", address, "--token-file", &token]));
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{complaint}");
        assert!(complaint.contains("wss://") && !complaint.contains("secret"), "{complaint}");
    }
    let address = "wss://localhost:1?ca=/no/such/file";
    let absent = process::output(process::plyd(["connect", address, "--token-file", &token]));
    assert_eq!(absent.status.code(), Some(1), "neither a build nor a file is mended by a second attempt");
}
