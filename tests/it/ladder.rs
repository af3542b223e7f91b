//! `plyd ladder` as people run it: the real server, bots of `plyd connect`, and bots that misbehave.

mod hand;
mod operate;
mod proxy;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use plyd::client::Process;
use plyd_ladder::GameId;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::common::ladder::Ladder;
use crate::common::{process, until};

/// A bot in a shell. It plays the first legal move, but none as long as the file that it is given is there.
const FIRST: &str = r#"
while read -r line; do
  id=${line#*\"id\":\"}; id=${id%%\"*}
  case $line in
    *'"cmd":"go"'*)
      move=${line#*\"x_legal\":[\"}; move=${move%%\"*}
      while [ -e "$0" ]; do : > "$0.seen"; sleep 0.01; done
      echo "{\"id\":\"$id\",\"type\":\"bestmove\",\"move\":\"$move\"}" ;;
    *) echo "{\"id\":\"$id\",\"type\":\"error\",\"code\":\"unknown_cmd\"}" ;;
  esac
done"#;

/// Bots that no machine is too slow for: a weak plyd, a stronger one, and one of another program.
fn sound_bots(ladder: &Ladder) -> Vec<Process> {
    let level = |level: &str| {
        ["--clock", "tc=10m+1s", "--option", "threads=1", "--option", level].map(str::to_owned).to_vec()
    };
    let hold = ladder.folder.path.join("hold").to_str().unwrap().to_owned();
    let first =
        ["--clock", "tc=10m+1s", "--legal", "--", "sh", "-c", FIRST, &hold].map(str::to_owned).to_vec();
    let bots = [("weak", level("level=1")), ("strong", level("level=4")), ("first", first)];
    let started = bots.map(|(name, arguments)| {
        ladder.connect(&ladder.token(name, &format!("owner-of-{name}")), &arguments)
    });
    started.into()
}

/// A pool on a small board.
fn pool(ladder: &Ladder, name: &str, more: &[&str]) {
    let board = ["--game", "isolation", "--rules", "width=4", "--rules", "height=4", "--opening-plies", "2"];
    ladder.run(&[&["pool", "add", name], &board[..], more].concat());
}

#[test]
fn a_ladder_goes_on_after_it_was_killed_and_after_it_was_stopped() {
    let mut ladder = Ladder::new("ladder-kills");
    pool(&ladder, "calm", &["--clock", "tc=10m+1s"]);
    ladder.serve(&[]);
    let bots = sound_bots(&ladder);
    let mut resumed: BTreeSet<GameId> = BTreeSet::new();
    for (round, is_kill) in [true, false, true, true].into_iter().enumerate() {
        let enough = 4 * (round as u64 + 1);
        until("games are played", || ladder.check().games >= enough);
        // So that a game is in the middle of it.
        let hold = ladder.folder.file("hold", "");
        let seen = format!("{hold}.seen");
        until("a bot holds its move", || std::fs::exists(&seen).unwrap());
        if is_kill {
            ladder.kill()
        } else {
            ladder.stop()
        }
        ladder.check();
        let open = ladder.store().open_games().unwrap();
        assert!(!open.is_empty(), "nobody has ended it");
        resumed.extend(open.iter().map(|game| game.id));
        std::fs::remove_file(hold).unwrap();
        // The bot may look once more before it sees that.
        until("nobody holds a move", || std::fs::remove_file(&seen).is_err());
        ladder.serve(&[]);
    }
    until("what was open is over", || {
        let mut store = ladder.store();
        resumed.iter().all(|game| store.game(*game).unwrap().state == "over")
    });
    let checked = ladder.check();
    assert_eq!(checked.void, 0);
    let mut store = ladder.store();
    for bot in store.bots().unwrap() {
        let forfeits = store.games_of(bot.id, None, true, 100).unwrap();
        assert_eq!((forfeits, bot.disabled), (vec![], None), "{} is sound", bot.name);
        let versions = store.versions(bot.id).unwrap();
        assert!(!versions.is_empty(), "{} said what it is", bot.name);
    }
    // The record of each game is one of the arena, with both players' builds.
    let record = store.record(*resumed.first().unwrap()).unwrap().unwrap();
    assert!(record.players.iter().all(|player| player.build.is_some()), "{:?}", record.players);
    // Bots leave after their games, and the ladder ends.
    for bot in &bots {
        process::signal(bot, Signal::TERM);
    }
    for mut bot in bots {
        assert!(process::exit(&mut bot).success());
    }
    ladder.stop();
    ladder.check();
}

/// How a bot misbehaves when it is asked.
#[derive(Clone, Copy)]
enum Way {
    Mute,
    Late,
    Illegal,
    Leaves,
}

/// Runs a bot that misbehaves until the ladder takes it no more; gives the last error.
fn misbehave(address: SocketAddr, token: &str, clock: Value, way: Way) -> JoinHandle<Value> {
    let token = std::fs::read_to_string(token).unwrap().trim().to_owned();
    let offer = json!({
        "id": "offer", "cmd": "offer", "protocol": { "min": 1, "max": 1 }, "token": token, "legal": true,
        "concurrency": 1, "clocks": [clock],
    });
    thread::spawn(move || {
        loop {
            let mut stream = BufReader::new(TcpStream::connect(address).unwrap());
            writeln!(stream.get_mut(), "{offer}").unwrap();
            let mut line = String::new();
            while stream.read_line(&mut line).is_ok_and(|count| count > 0) {
                let message: Value = serde_json::from_str(&line).unwrap();
                line.clear();
                if message["code"] == "forbidden" {
                    return message;
                }
                let mut answer = |answer: Value| {
                    // The ladder may have closed the connection.
                    let _gone = writeln!(stream.get_mut(), "{answer}");
                };
                let id = &message["id"];
                let best = json!({ "id": id, "type": "bestmove", "move": message["x_legal"][0] });
                match (message["cmd"].as_str(), way) {
                    (Some("ping"), _) => answer(json!({ "id": id, "type": "result", "of": "ping" })),
                    (Some("go"), Way::Late) => {
                        thread::sleep(Duration::from_millis(400));
                        answer(best);
                    }
                    (Some("go"), Way::Illegal) => {
                        answer(json!({ "id": id, "type": "bestmove", "move": "nowhere" }));
                    }
                    (Some("go"), Way::Leaves) => break,
                    _ => {}
                }
            }
        }
    })
}

#[test]
fn each_fault_is_named_and_disables_its_bot_while_others_play_on() {
    let mut ladder = Ladder::new("ladder-faults");
    pool(&ladder, "calm", &["--clock", "tc=10m+1s"]);
    // House bots have no clock: they are never at fault, however busy the machine is.
    pool(&ladder, "short", &["--clock", "time=50ms", "--timeout", "2m"]);
    pool(&ladder, "brief", &["--clock", "time=49ms", "--timeout", "50ms"]);
    pool(&ladder, "long", &["--clock", "time=2m"]);
    for pool in ["short", "brief", "long"] {
        let players = ["--player", "player=random", "--player", "level=2", "--games", "2", "--nodes", "100"];
        let shown = ladder.run(&[&["calibrate", pool], &players[..]].concat());
        assert!(shown.contains("isolation-random") && shown.contains("isolation-level-2"), "{shown}");
    }
    ladder.serve(&["--house-after-ms", "0"]);
    let [mut weak, _strong, _first]: [Process; 3] = sound_bots(&ladder).try_into().ok().unwrap();
    let address = ladder.address.unwrap();
    let per_move = |ms: u64| json!({ "kind": "per_move", "ms": ms });
    let broken = [
        ("mute", Way::Mute, per_move(49), "silence"),
        ("late", Way::Late, per_move(50), "late"),
        ("illegal", Way::Illegal, per_move(120_000), "illegal"),
        ("leaves", Way::Leaves, per_move(50), "crash"),
    ];
    let broken = broken.map(|(name, way, clock, fault)| {
        // Bots of one owner do not meet: each fault is against a house bot.
        let token = ladder.token(name, "mallory");
        (name, fault, misbehave(address, &token, clock, way))
    });
    for (name, fault, bot) in broken {
        let refused = bot.join().unwrap();
        let why = refused["message"].as_str().unwrap();
        assert!(why.starts_with("it forfeited 5 games in a row"), "{why}");
        let mut store = ladder.store();
        let bot = store.bot_named(name).unwrap();
        assert_eq!(bot.disabled.as_ref().map(|disabled| disabled.why.as_str()), Some(why));
        let games = store.games_of(bot.id, None, true, 100).unwrap();
        // The oldest last. What it played beside the fifth one it lost by being disabled.
        let forfeits: Vec<_> = games.iter().rev().filter_map(|game| game.ended_by.as_deref()).collect();
        let (own, rest) = forfeits.split_at(5.min(forfeits.len()));
        assert!(own == [fault; 5] && rest.iter().all(|by| *by == "crash"), "{name}: {forfeits:?}");
        let said = store.conversation(games.last().unwrap().id).unwrap();
        assert!(said.iter().any(|line| line.text.contains("\"cmd\":\"go\"")), "{name}: {said:?}");
    }
    let before = ladder.check().games;
    until("others play on", || ladder.check().games > before + 4);
    // One that a command disables leaves.
    ladder.run(&["bot", "disable", "weak", "--why", "plays under two names"]);
    assert!(!process::exit(&mut weak).success());
    let mut store = ladder.store();
    for bot in store.bots().unwrap().iter().filter(|bot| ["strong", "first"].contains(&bot.name.as_str())) {
        let forfeits = store.games_of(bot.id, None, true, 100).unwrap();
        assert_eq!((forfeits, &bot.disabled), (vec![], &None), "{} is sound", bot.name);
    }
    ladder.stop();
    ladder.check();
}

/// The answer to a request with these headers beside the usual ones.
fn get(address: SocketAddr, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

#[test]
fn bots_dial_in_by_each_way_and_browsers_see_their_games() {
    let authority = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/certificates/authority.pem");
    let file = |name: &str| format!("{}/tests/certificates/{name}", env!("CARGO_MANIFEST_DIR"));
    let (cert, key) = (file("server.pem"), file("server.key"));
    for (name, tls) in [("ladder-plain", &[][..]), ("ladder-tls", &["--tls-cert", &cert, "--tls-key", &key])]
    {
        let mut ladder = Ladder::new(name);
        pool(&ladder, "calm", &["--clock", "tc=10m+1s"]);
        ladder.serve(&[&["--http", "127.0.0.1:0", "--name", "The Ladder"][..], tls].concat());
        let (lines, web) = (ladder.address.unwrap().port(), ladder.web.unwrap().port());
        let urls = match tls.is_empty() {
            true => [format!("tcp://localhost:{lines}"), format!("ws://localhost:{web}")],
            false => [
                format!("tls://localhost:{lines}?ca={authority}"),
                format!("wss://localhost:{web}?ca={authority}"),
            ],
        };
        let bots = [("ann", &urls[0]), ("bob", &urls[1])].map(|(name, url)| {
            let token = ladder.token(name, name);
            ladder.connect_to(url, &token, &["--option", "threads=1", "--option", "level=1"])
        });
        until("they play", || ladder.check().games >= 4);
        if tls.is_empty() {
            let address = ladder.web.unwrap();
            let get = |path: &str, more: &str| get(address, path, more);
            for (path, word) in
                [("/", "The Ladder"), ("/", "calm"), ("/games", "ann"), ("/gui/board.js", "export")]
            {
                let page = get(path, "");
                assert!(page.starts_with("HTTP/1.1 200") && page.contains(word), "{path}: {page}");
            }
            let missing = get("/nowhere", "");
            assert!(missing.starts_with("HTTP/1.1 404"), "{missing}");
            // What is nearly a WebSocket.
            let upgrade = "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
            let old = get("/", &format!("{upgrade}Sec-WebSocket-Version: 8\r\n"));
            assert!(old.starts_with("HTTP/1.1 426") && old.contains("sec-websocket-version: 13"), "{old}");
            let keyless = get("/", "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
            assert!(keyless.starts_with("HTTP/1.1 400"), "{keyless}");
        }
        for bot in &bots {
            process::signal(bot, Signal::TERM);
        }
        for mut bot in bots {
            assert!(process::exit(&mut bot).success());
        }
        ladder.stop();
        // Each pair was played to its end, unless one of them left before its first game.
        let checked = ladder.check();
        assert_eq!((checked.open, checked.games, checked.void % 2), (0, 2 * checked.encounters, 0));
    }
}

#[test]
fn each_command_does_what_it_says() {
    let ladder = Ladder::new("ladder-commands");
    let (_, link, about) = ladder.try_run(&["invite", "ann", "--url", "https://ladder.example/"]);
    assert!(about.contains("within 7 days"), "{about}");
    assert!(link.starts_with("https://ladder.example/join?link=plyd_"), "{link}");
    assert_ne!(ladder.run(&["invite", "ann"]), link);
    pool(&ladder, "quick", &["--clock", "tc=10s+0.1s", "--period", "3"]);
    let players = ["--player", "player=random", "--player", "level=3", "--games", "2", "--nodes", "100"];
    ladder.run(&[&["calibrate", "quick"], &players[..], &["--elo", "900"]].concat());
    let token = ladder.run(&["bot", "new", "kari", "--owner", "Ann"]);
    assert_ne!(ladder.run(&["bot", "token", "kari"]), token);
    ladder.run(&["bot", "disable", "kari", "--why", "a test", "--who", "olga"]);
    ladder.run(&["season", "start", "spring"]);
    ladder.run(&["pool", "close", "quick", "--why", "a pause"]);
    let read = |arguments: &[&str]| -> Value { serde_json::from_str(&ladder.run(arguments)).unwrap() };
    let pools = read(&["pool", "list", "--json"]);
    assert_eq!((&pools[0]["name"], &pools[0]["terms"]["period_ms"]), (&json!("quick"), &json!(259_200_000)));
    assert_eq!(pools[0]["terms"]["network"], json!({ "move_ms": 35, "game_ms": 700 }));
    let anchors = pools[0]["anchors"].as_array().unwrap();
    assert!(anchors.len() == 2 && anchors[0][1] == 900.0 || anchors[1][1] == 900.0, "{anchors:?}");
    assert!(pools[0]["closed_ms"].is_i64());
    ladder.run(&["pool", "open", "quick"]);
    assert!(ladder.run(&["pool", "list"]).contains("tc=10s+100ms"));
    let bots = read(&["bot", "list", "--json"]);
    assert_eq!((&bots[2]["name"], &bots[2]["disabled"]["why"]), (&json!("kari"), &json!("a test")));
    assert!(ladder.run(&["bot", "list"]).contains("a test"));
    ladder.run(&["bot", "enable", "kari"]);
    let spring = &read(&["season", "list", "--json"])[1];
    assert_eq!(spring["name"], "spring");
    // People read times as days and hours.
    let begun = plyd_ladder::utc(spring["begun_ms"].as_i64().unwrap());
    for list in [&["season", "list"][..], &["audit"]] {
        assert!(ladder.run(list).contains(&begun), "{list:?} without {begun}");
    }
    let standings = read(&["standings", "quick", "--json"]);
    assert_eq!(read(&["standings", "--json"]), standings, "there is no other pool");
    let anchors = standings.as_array().unwrap().iter().map(|row| (&row["anchor"], &row["games"]));
    assert_eq!(anchors.collect::<Vec<_>>(), [(&json!(true), &json!(0)); 2]);
    assert_eq!(read(&["games", "list", "--bot", "kari", "--json"]), json!([]));
    assert_eq!(ladder.run(&["games", "drop-logs", "--days", "1"]), "dropped the logs of 0 games\n");
    assert_eq!(read(&["check", "--json"])["faults"], json!([]));
    let audit = ladder.run(&["audit", "--json"]);
    let last: Vec<Value> = audit.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let disabled = last.iter().find(|entry| entry["what"] == "bot disable").unwrap();
    assert_eq!((&disabled["who"], &disabled["why"]), (&json!("olga"), &json!("a test")));
    let file = |name: &str| ladder.folder.path.join(name).to_str().unwrap().to_owned();
    assert_eq!(ladder.run(&["export", &file("games.jsonl")]), "0 games\n");
    assert_eq!(ladder.run(&["import", &file("games.jsonl")]), "0 games of 0 encounters, and 0 bots\n");
    ladder.run(&["backup", &file("copy.db")]);
    for name in ["ladder.db", "copy.db"] {
        let mode = ladder.folder.path.join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name} is for its owner alone");
    }
    // What makes no sense is refused with what to do instead.
    for (arguments, code, word) in [
        (&["backup", &file("copy.db")][..], 2, "give another file"),
        (&["export", &file("games.jsonl")], 2, "give another file"),
        (&["bot", "new", "kari", "--owner", "bob"], 2, "give another name"),
        (&["bot", "token", "nobody"], 2, "bot list"),
        (&["standings", "nowhere"], 2, "pool list"),
        (&["standings", "quick", "--season", "winter"], 2, "season list"),
        (&["games", "void", "7", "--why", "x"], 2, "there is no game 7"),
        (&["pool", "add", "a", "--game", "l-game", "--clock", "time=50us"], 2, "200ms"),
        (
            &["pool", "add", "a", "--game", "isolation", "--clock", "time=1s", "--opening-plies", "999"],
            2,
            "fewer",
        ),
        (
            &["pool", "add", "a", "--game", "isolation", "--rules", "width=99", "--clock", "time=1s"],
            2,
            "width",
        ),
        (&["calibrate", "quick", "--player", "level=3"], 2, "at least two"),
        (&["calibrate", "quick", "--player", "level=3", "--player", "level=3"], 2, "level-3 is there twice"),
        (&["invite", "ann", "--url", "ladder.example"], 2, "https://"),
        (&["invite", "ann", "--url", "https://"], 2, "https://"),
        (&["invite", "ann", "--url", "https://ladder.example/a?b"], 2, "https://"),
        (&["bot", "new", "ida", "--owner", "a/b"], 2, "an owner's name"),
        (&["calibrate", "quick", "--player", "level=77", "--player", "level=1"], 1, "level"),
        (&["serve"], 2, "--tcp or --http"),
        (&["serve", "--tcp", "0.0.0.0:0"], 2, "--insecure"),
        (&["serve", "--tcp", "0.0.0.0:0", "--insecure"], 2, "give --dial"),
        (&["serve", "--http", "127.0.0.1:0", "--behind-proxy"], 2, "give --dial"),
        (&["owner", "disable", "nobody", "--why", "x"], 2, "owner list"),
        (
            &["serve", "--tcp", "127.0.0.1:0", "--tls-cert", "none.pem", "--tls-key", "none.pem"],
            1,
            "none.pem",
        ),
    ] {
        let (found, _, stderr) = ladder.try_run(arguments);
        assert!(found == Some(code) && stderr.contains(word), "{arguments:?}: {found:?} {stderr}");
    }
    let elsewhere = file("nowhere.db");
    let launch = process::plyd(["ladder", "check", "--db", &elsewhere]);
    let refused = String::from_utf8(process::output(launch).stderr).unwrap();
    assert!(refused.contains("plyd ladder init"), "{refused}");
}
