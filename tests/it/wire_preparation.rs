//! Reading positions: it is bounded, shared out, ended by whoever asked, and the same for whoever asks.

// The functions beside the tests are called by them alone.
use std::time::{Duration, Instant};

use crate::common::boards::{Board, SLOW};
use crate::common::{Peer, Server, TIMEOUT, is_whole, until, with};
use serde_json::{Value, json};

/// A question about a slow board, in a session of its own, so that it waits for none of the others.
fn slow_question(id: usize, want: &[&str]) -> Value {
    json!({ "id": format!("slow{id}"), "cmd": "inspect", "session": format!("s{id}"), "position": slow(id), "want": want })
}

/// A slow position.
fn slow(id: usize) -> Value {
    let board = Board::new(SLOW[id % SLOW.len()]);
    json!({ "start": board.start(), "moves": [board.mv()] })
}

fn open(peer: &mut Peer, id: usize) {
    peer.result(&json!({ "id": "n", "cmd": "newgame", "session": format!("s{id}"), "game": "sudoku" }));
}

/// A `go` without a session.
fn go(id: &str, game: &str, position: &Value, fields: Value) -> Value {
    with(json!({ "id": id, "cmd": "go", "game": game, "position": position }), &fields)
}

fn per_move(ms: u64) -> Value {
    json!({ "clock": { "kind": "per_move", "ms": ms } })
}

/// Whether a message holds a proof anywhere.
fn claims_proof(message: &Value) -> bool {
    message.to_string().contains("\"proof\"") || message["reason"] == "proven"
}

fn warnings<'a>(peer: &'a Peer, id: &str) -> Vec<&'a Value> {
    let is_it =
        |message: &&Value| message["type"] == "notice" && message["kind"] == "warning" && message["id"] == id;
    peer.log.iter().filter(is_it).collect()
}

#[test]
fn a_slow_question_is_undecided_and_a_go_takes_the_move_as_placed() {
    let (_server, mut peer) = Server::stdio(&[]);
    for (id, players) in
        [(0, &["default", "greedy", "alphabeta", "tree", "published"][..]), (1, &["default"])]
    {
        open(&mut peer, id);
        let error = peer.ask(&slow_question(id, &["legal"]));
        assert_eq!((&error["code"], &error["pointer"]), (&json!("undecided"), &json!("/position/moves/0")));
        for player in players {
            let fields = json!({ "limit": { "nodes": 20 }, "options": { "player": player }, "multipv": 2 });
            let best = peer.best(&go("g", "sudoku", &slow(id), fields));
            assert!(!claims_proof(&best), "{player}: {best}");
            let warnings = warnings(&peer, "g");
            assert!(warnings.last().unwrap()["seq"].as_u64() < best["seq"].as_u64(), "{warnings:?}");
        }
        assert_eq!(warnings(&peer, "g").len(), 5 + id, "one for each go");
    }
    // The same position without the move is decided, and so is its picture, as far as it is known.
    let start = json!({ "start": slow(0)["start"] });
    let ask = json!({ "id": "i", "cmd": "inspect", "game": "sudoku", "position": start, "want": ["legal", "board"] });
    let result = peer.result(&ask);
    let moves = result["legal"].as_array().unwrap();
    assert!(moves.contains(&slow(0)["moves"][0]), "the move fits");
    let marks = result["board"]["marks"].as_array().unwrap();
    assert!(marks.iter().any(|mark| mark["mark"] == "undecided"), "some moves of it are undecided");
    let error = peer.ask(&with(ask, &json!({ "want": ["text", "moves"] })));
    assert_eq!((&error["code"], &error["pointer"]), (&json!("undecided"), &json!("/want/1")), "{error}");
}

#[test]
fn equal_questions_get_equal_answers_whatever_else_is_asked() {
    let server = Server::tcp(&[]);
    let mut busy = server.greet(json!({}));
    let mut peer = server.greet(json!({}));
    open(&mut peer, 0);
    let easy = json!({ "start": slow(0)["start"], "moves": [] });
    let questions = [
        json!({ "position": slow(0), "want": ["legal"] }),
        json!({ "position": easy, "want": ["board", "hash"] }),
        json!({ "position": slow(1), "want": ["legal"] }),
    ];
    let mut answers: Vec<Vec<Value>> = vec![Vec::new(); questions.len()];
    for round in 0..3 {
        for id in 0..4 {
            if round == 0 {
                open(&mut busy, id);
            }
            busy.send(&with(slow_question(id, &["legal"]), &json!({ "id": format!("b{round}-{id}") })));
        }
        for (question, answers) in questions.iter().zip(&mut answers) {
            // In a session, which may remember, and without one; after a go that was cut short, too.
            let game = if round % 2 == 0 { json!({ "session": "s0" }) } else { json!({ "game": "sudoku" }) };
            let cut = json!({ "id": "cut", "cmd": "go", "position": question["position"],
                "clock": { "kind": "per_move", "ms": 0 } });
            let _either = peer.ask(&with(cut, &game));
            let ask = with(with(json!({ "id": "q", "cmd": "inspect" }), question), &game);
            let mut answer = peer.ask(&ask);
            for field in ["seq", "t_us", "line"] {
                answer.as_object_mut().unwrap().remove(field);
            }
            answers.push(answer);
        }
    }
    for answers in answers {
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    }
}

#[test]
fn boards_of_every_filling_are_answered_each_time_alike() {
    let (_server, mut peer) = Server::stdio(&[]);
    let fillings: &[usize] = if is_whole() { &[30, 35, 40, 45, 50, 55, 60] } else { &[30, 45, 60] };
    for (filling, kind) in fillings.iter().flat_map(|filling| [(filling, "cut"), (filling, "drawn")]) {
        let board = if kind == "cut" { Board::filled(7, *filling) } else { Board::drawn(7, *filling) };
        for moves in [json!([]), json!([board.mv()])] {
            let position = json!({ "start": board.start(), "moves": moves });
            let ask = json!({ "id": "i", "cmd": "inspect", "game": "sudoku", "position": position, "want": ["legal"] });
            let mut answers = [peer.ask(&ask), peer.ask(&ask)];
            for answer in &mut answers {
                for field in ["seq", "t_us", "line"] {
                    answer.as_object_mut().unwrap().remove(field);
                }
            }
            assert_eq!(answers[0], answers[1], "{kind} {filling}");
            let known = ["undecided", "illegal_position", "illegal_move", "bad_position"];
            let is_known =
                answers[0]["type"] == "result" || known.iter().any(|code| answers[0]["code"] == *code);
            assert!(is_known, "{kind} {filling}: {}", answers[0]);
            // A move is given, unless there is no such position.
            let last = peer.ask(&go("g", "sudoku", &position, per_move(100)));
            let is_there = answers[0]["type"] == "result" || answers[0]["code"] == "undecided";
            assert_eq!(last["type"] == "bestmove", is_there, "{kind} {filling}: {last}");
        }
    }
}

#[test]
fn slow_questions_of_one_client_delay_no_other() {
    let server = Server::tcp(&[]);
    let mut greedy = server.greet(json!({}));
    let count = 8;
    for id in 0..count {
        open(&mut greedy, id);
    }
    // Some seconds of work for two threads.
    let asked: Vec<Value> = (0..25 * count)
        .map(|at| with(slow_question(at % count, &["legal"]), &json!({ "id": format!("slow{at}") })))
        .collect();
    greedy.send_all(&asked);
    let mut other = server.greet(json!({}));
    for round in 0..3 {
        let described =
            other.result(&json!({ "id": "d", "cmd": "describe", "what": "game", "game": "sudoku" }));
        assert_eq!(described["body"]["name"], "sudoku");
        let rules = json!({ "rules": { "preset": "11x9" } });
        let best = other.best(&go("g", "isolation", &json!({}), with(per_move(20), &rules)));
        assert_eq!(best["reason"], "clock", "{round}: {best}");
        let endless = json!({ "clock": { "kind": "none" }, "info": { "events": ["started"] } });
        other.send(&go("e", "isolation", &json!({}), with(endless, &rules)));
        let stopped = other.result(&json!({ "id": "s", "cmd": "stop", "target": "e" }));
        assert_eq!(stopped["effect"], "stopping");
        assert_eq!(other.last("e")["reason"], "stopped");
        other.result(
            &json!({ "id": "i", "cmd": "inspect", "game": "sudoku", "position": { "moves": ["0,0,1"] } }),
        );
    }
    let result = greedy.result(&json!({ "id": "s", "cmd": "stop", "all": true }));
    let waiting = result["targets"].as_array().unwrap().len();
    assert!(waiting > asked.len() / 2, "the other one was answered before most of {waiting} slow questions");
    for request in &asked {
        let code = greedy.last(request["id"].as_str().unwrap())["code"].clone();
        assert!(code == "undecided" || code == "unprepared", "{code}");
    }
}

/// The nice value of the threads that answer quick questions. A thread has its name and its value once it
/// answered one.
fn nice_of_requests(server: &Server, peer: &mut Peer) -> i32 {
    peer.result(&json!({ "id": "quick", "cmd": "inspect", "game": "l-game", "position": {} }));
    server.nices("request")[0]
}

#[test]
fn what_no_clock_waits_for_is_read_below_the_priority_of_searches() {
    let server = Server::tcp(&["--threads", "2"]);
    let mut peers: Vec<Peer> = (0..3).map(|_| server.greet(json!({}))).collect();
    let searches = nice_of_requests(&server, &mut peers[0]);
    // Each takes seconds even on a machine that does nothing else, unless it is stopped.
    let large = json!({ "rules": { "m": 5, "n": 5 }, "position": { "start": empty() } });
    for peer in &mut peers {
        for id in 0..20 {
            let ask =
                json!({ "id": format!("large{id}"), "cmd": "inspect", "game": "sudoku", "want": ["moves"] });
            peer.send(&with(ask, &large));
        }
    }
    // So many are read at once as there are threads for them, and no connection has both.
    let end = Instant::now() + TIMEOUT;
    loop {
        let nices = server.nices("slow-reading");
        assert!(nices.len() <= 2, "{nices:?}");
        // A thread that was just started has not set its value yet. The system knows none above 19.
        if nices == [(searches + 10).min(19); 2] {
            break;
        }
        assert!(Instant::now() < end, "{nices:?} above {searches}");
    }
    // A search whose position was read so runs as any other.
    let mut other = server.greet(json!({}));
    for peer in &mut peers {
        peer.result(&json!({ "id": "s", "cmd": "stop", "all": true }));
    }
    let start = json!({ "start": slow(0)["start"] });
    let endless = json!({ "clock": { "kind": "none" }, "options": { "player": "alphabeta" } });
    other.send(&go("e", "sudoku", &start, endless));
    other.info("e", "best");
    assert_eq!(server.nices("search-"), [searches]);
    other.result(&json!({ "id": "s", "cmd": "stop", "all": true }));
    assert_eq!(other.last("e")["reason"], "stopped");
}

#[test]
fn beside_a_slow_question_only_the_quickest_of_its_connection_go_ahead() {
    let server = Server::tcp(&["--threads", "2"]);
    let mut peer = server.greet(json!({}));
    for (session, game) in [("large", "sudoku"), ("long", "l-game"), ("short", "l-game")] {
        let rules = if game == "sudoku" { json!({ "m": 5, "n": 5 }) } else { json!({}) };
        peer.result(
            &json!({ "id": "n", "cmd": "newgame", "session": session, "game": game, "rules": rules }),
        );
    }
    let ask = |id: &str, position: Value, want: &str| json!({ "id": id, "cmd": "inspect", "session": id, "position": position, "want": [want] });
    let cycle = ["4 1 W", "1 4 E", "3 1 W", "2 4 E"];
    let moves = |count| json!({ "moves": cycle.iter().copied().cycle().take(count).collect::<Vec<_>>() });
    // Too long for a glance, and quick enough for the quick threads if nothing slow is in flight.
    peer.result(&ask("long", moves(500), "hash"));
    // It takes seconds, unless it is stopped.
    peer.send(&ask("large", json!({}), "moves"));
    until("a slow thread reads", || {
        peer.ping();
        !server.nices("slow-reading").is_empty()
    });
    // Not a continuation of what the session remembers.
    peer.send(&ask("long", moves(400), "hash"));
    peer.result(&ask("short", moves(50), "hash"));
    peer.result(&json!({ "id": "s", "cmd": "stop", "target": "large" }));
    assert_eq!(peer.last("long")["of"], "inspect");
    let ended = peer.last("large");
    assert_eq!(ended["code"], "unprepared", "{ended}");
    let place = |id: &str| peer.log.iter().rposition(|message| message["id"] == id).unwrap();
    let places = ["short", "large", "long"].map(place);
    assert!(places.is_sorted(), "{places:?}: {:?}", peer.log);
}

/// What each of the connections asks that hold the slow threads.
const HELD: usize = 4;

/// Connections whose questions hold all threads for slow ones for long, however many there are: each takes
/// seconds, and one connection's are answered one after the other.
fn hold_slow_threads(server: &Server, other: &mut Peer) -> Vec<Peer> {
    let mut greedy: Vec<Peer> = (0..6).map(|_| server.greet(json!({}))).collect();
    let ask = json!({ "cmd": "inspect", "game": "sudoku", "rules": { "m": 5, "n": 5 }, "position": {},
        "want": ["moves"] });
    for peer in &mut greedy {
        let asked: Vec<Value> =
            (0..HELD).map(|at| with(ask.clone(), &json!({ "id": format!("q{at}") }))).collect();
        peer.send_all(&asked);
    }
    until("two slow threads read", || {
        other.ping();
        server.nices("slow-reading").len() >= 2
    });
    greedy
}

/// So many moves are too much for the quick threads, and no search begins before all were played.
fn long_game() -> Value {
    let cycle = ["4 1 W", "1 4 E", "3 1 W", "2 4 E"];
    let moves: Vec<&str> = cycle.iter().copied().cycle().take(1200).collect();
    json!({ "moves": moves })
}

/// What was ended before it was read waits for no thread, and so nothing behind it does.
#[test]
fn what_is_over_before_it_was_read_holds_up_nothing() {
    let server = Server::tcp(&["--threads", "2"]);
    let mut other = server.greet(json!({}));
    let mut greedy = hold_slow_threads(&server, &mut other);
    other.send(&go("x", "l-game", &long_game(), json!({ "mode": "analyse" })));
    other.ping();
    other.result(&json!({ "id": "s", "cmd": "stop", "target": "x", "discard": true }));
    assert_eq!(other.last("x")["code"], "cancelled");
    let brief = with(per_move(600_000), &json!({ "limit": { "nodes": 1 } }));
    other.best(&go("m", "l-game", &json!({}), brief));
    let newgame =
        json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "sudoku", "rules": { "m": 5, "n": 5 } });
    other.result(&newgame);
    other.send(&json!({ "id": "q", "cmd": "inspect", "session": "s", "position": {}, "want": ["moves"] }));
    other.result(&newgame);
    assert_eq!(other.last("q")["code"], "unprepared");
    expect_held(&mut greedy);
}

/// Checks that nobody who came before in the queue of the slow threads has had more than its turn.
fn expect_held(greedy: &mut [Peer]) {
    let left: Vec<usize> = greedy
        .iter_mut()
        .map(|peer| {
            let result = peer.result(&json!({ "id": "s", "cmd": "stop", "all": true }));
            result["targets"].as_array().unwrap().len()
        })
        .collect();
    assert!(left.contains(&HELD), "the questions that came before were read first: {left:?} are left");
}

/// A search that no clock waits for is read as if one did, if one waits for what comes behind it.
#[test]
fn a_move_with_a_clock_waits_for_no_search_of_its_own_that_waits_for_others() {
    let server = Server::tcp(&["--threads", "2"]);
    let mut other = server.greet(json!({}));
    let mut greedy = hold_slow_threads(&server, &mut other);
    let brief = with(per_move(600_000), &json!({ "limit": { "nodes": 1 } }));
    for (at, last) in ["go", "update"].into_iter().enumerate() {
        for ahead in 0..2 {
            let analysis = json!({ "mode": "analyse", "limit": { "nodes": 1 } });
            other.send(&go(&format!("ahead{at}{ahead}"), "l-game", &long_game(), analysis));
        }
        if last == "go" {
            other.send(&go(last, "l-game", &json!({}), brief.clone()));
        } else {
            other.send(&go(last, "l-game", &json!({}), with(brief.clone(), &json!({ "mode": "ponder" }))));
            other.ping();
            other.result(&json!({ "id": "u", "cmd": "update", "target": last, "mode": "move" }));
        }
        let best = other.last(last);
        assert_eq!(best["type"], "bestmove", "{best}");
    }
    expect_held(&mut greedy);
}

#[test]
fn a_move_with_a_clock_waits_for_no_slow_question() {
    let server = Server::tcp(&["--threads", "2"]);
    let mut other = server.greet(json!({}));
    let mut greedy = hold_slow_threads(&server, &mut other);
    let position = long_game();
    // A clock that no busy machine uses up: what ends the search is its limit, or the table of the game.
    let brief = with(per_move(600_000), &json!({ "limit": { "nodes": 1 } }));
    let best = other.best(&go("move", "l-game", &position, brief.clone()));
    assert!(best["reason"] == "proven" || best["reason"] == "limit", "{best}");
    // A search that becomes one for a move while it waits.
    let ponder = with(brief, &json!({ "mode": "ponder" }));
    other.send(&go("hit", "l-game", &position, ponder));
    other.ping();
    other.result(&json!({ "id": "u", "cmd": "update", "target": "hit", "mode": "move" }));
    let best = other.last("hit");
    assert_eq!(best["type"], "bestmove", "{best}");
    let searches = nice_of_requests(&server, &mut other);
    let urgent = server.nices("urgent-request");
    assert!(!urgent.is_empty() && urgent.iter().all(|&nice| nice == searches), "{urgent:?} not {searches}");
    for peer in &mut greedy {
        let result = peer.result(&json!({ "id": "s", "cmd": "stop", "all": true }));
        assert!(
            result["targets"].as_array().unwrap().len() > 1,
            "its questions were answered before: {result}"
        );
    }
}

#[test]
fn clocks_and_stops_end_the_reading_of_a_position() {
    let (_server, mut peer) = Server::stdio(&[]);
    for (id, fields, reason) in [
        ("clock", per_move(50), "clock"),
        ("none", per_move(0), "clock"),
        ("hard", json!({ "clock": { "kind": "none" }, "hard_ms": 50 }), "deadline"),
        ("stop", json!({ "clock": { "kind": "none" } }), "stopped"),
    ] {
        // A player that is never through, so that nothing else ends the search.
        let fields = with(fields, &json!({ "options": { "player": "alphabeta" } }));
        for at in 0..3 {
            let name = format!("{id}{at}");
            peer.send(&go(&name, "sudoku", &slow(at), fields.clone()));
            if id == "stop" {
                peer.send(&json!({ "id": "s", "cmd": "stop", "target": name }));
            }
            // Read to the end, a position takes minutes in a build that is not optimised: more than is waited
            // for here.
            let best = peer.last(&name);
            assert_eq!(best["type"], "bestmove", "{best}");
            assert_eq!(best["reason"], reason, "{best}");
            assert!(!claims_proof(&best) && best["move"].is_string(), "{best}");
            // One says how the position was read, another one that no time was left to search.
            let warnings = warnings(&peer, &name);
            let is_searched = best["lines"][0]["depth"] != 0 || reason == "stopped";
            assert_eq!(warnings.len(), if is_searched { 1 } else { 2 }, "{best} after {warnings:?}");
        }
    }
    // Ordinary positions are read whole however little time there is.
    let moves = json!({ "moves": ["0,0,1", "0,1,2", "4,4,5", "8,8,9"] });
    let best = peer.best(&go("ordinary", "sudoku", &moves, per_move(0)));
    // There is no time to search them, and no other warning.
    let warnings = warnings(&peer, "ordinary");
    assert!(
        warnings.len() == 1 && warnings[0]["message"].as_str().unwrap().contains("not searched"),
        "{warnings:?}"
    );
    assert_eq!(best["lines"][0]["depth"], 0, "{best}");
}

#[test]
fn a_close_ends_what_is_read_for_its_session() {
    let (_server, mut peer) = Server::stdio(&[]);
    open(&mut peer, 0);
    // More than can be answered in the second that they are given.
    let count = 200;
    let mut requests = Vec::new();
    for at in 0..count {
        let fields = json!({ "id": format!("q{at}"), "session": "s0" });
        requests.push(with(slow_question(at, &["legal"]), &fields));
    }
    requests.push(
        json!({ "id": "g", "cmd": "go", "session": "s0", "position": {}, "clock": { "kind": "none" } }),
    );
    requests.push(json!({ "id": "c", "cmd": "close", "session": "s0" }));
    peer.send_all(&requests);
    assert_eq!(peer.last("c")["type"], "result");
    let last = peer.last("g");
    assert!(last["reason"] == "closed" || last["code"] == "unprepared", "{last}");
    for at in 0..count {
        let code = peer.last(&format!("q{at}"))["code"].clone();
        // Those that were answered in that time are the first ones.
        let is_answered = code == "undecided" && at < count - 1;
        assert!(is_answered || code == "unprepared", "q{at}: {code}");
    }
    // Quick questions before a close are answered.
    open(&mut peer, 0);
    let quick = json!({ "id": "i", "cmd": "inspect", "session": "s0", "position": { "moves": ["0,0,1"] } });
    peer.send_all(&[quick, json!({ "id": "c", "cmd": "close", "session": "s0" })]);
    assert_eq!(peer.last("i")["type"], "result");
    assert_eq!(peer.last("c")["type"], "result");
}

#[test]
fn a_stop_ends_slow_questions_and_lets_quick_ones_be_answered() {
    let (_server, mut peer) = Server::stdio(&[]);
    let slow_ones = |prefix: &str| -> Vec<Value> {
        let ask = |at| {
            let (id, want) = (format!("{prefix}{at}"), ["legal"]);
            json!({ "id": id, "cmd": "inspect", "game": "sudoku", "position": slow(at), "want": want })
        };
        (0..10).map(ask).collect()
    };
    let quick = json!({ "id": "i", "cmd": "inspect", "game": "isolation", "position": {} });
    let stop_all = json!({ "id": "s", "cmd": "stop", "all": true });
    peer.send_all(&[&slow_ones("q")[..], &[quick, stop_all]].concat());
    let result = peer.last("s");
    assert_eq!(result["effect"], "stopping");
    let targets = result["targets"].as_array().unwrap();
    for at in 0..10 {
        let code = peer.last(&format!("q{at}"))["code"].clone();
        // The first may have been answered before the stop came.
        assert!(code == "unprepared" || (at == 0 && code == "undecided"), "q{at}: {code}");
        assert!(targets.contains(&json!(format!("q{at}"))) || code == "undecided", "{result}");
    }
    assert_eq!(targets.last(), Some(&json!("i")), "{result}");
    assert_eq!(peer.last("i")["type"], "result", "a quick question is answered, stopped or not");
    // By its id one question ends alone.
    peer.send_all(&[&slow_ones("r")[..2], &[json!({ "id": "s", "cmd": "stop", "target": "r1" })]].concat());
    let result = peer.last("s");
    assert_eq!((&result["effect"], &result["targets"]), (&json!("stopping"), &json!(["r1"])), "{result}");
    assert_eq!(peer.last("r0")["code"], "undecided");
    assert_eq!(peer.last("r1")["code"], "unprepared");
    let result = peer.result(&json!({ "id": "s", "cmd": "stop", "target": "r1" }));
    assert_eq!((&result["effect"], &result["targets"]), (&json!("unknown"), &json!([])), "{result}");
}

#[test]
fn nothing_is_computed_for_a_client_that_left() {
    let server = Server::tcp(&[]);
    let mut observer = server.greet(json!({}));
    for round in 0..2 {
        let mut peer = server.greet(json!({}));
        let count = 8;
        for id in 0..count {
            open(&mut peer, id);
        }
        let mut requests = Vec::new();
        for at in 0..24 * count {
            // Both what is slow to decide and what is long to write.
            let want = if (at / count) % 2 == 0 { ["legal"] } else { ["moves"] };
            let position = if (at / count) % 2 == 0 { slow(at) } else { json!({ "start": empty() }) };
            let fields = json!({ "id": format!("q{at}"), "position": position });
            requests.push(with(slow_question(at % count, &want), &fields));
        }
        peer.send_all(&requests);
        if round == 0 {
            peer.end_input();
        }
        drop(peer);
        // The process is quiet within a second, or, where the machine is busy, soon after.
        let end = Instant::now() + TIMEOUT;
        loop {
            let before = server.cpu_ticks();
            let since = Instant::now();
            while since.elapsed() < Duration::from_millis(300) {
                std::thread::yield_now();
            }
            if server.cpu_ticks() <= before + 1 {
                break;
            }
            assert!(Instant::now() < end, "the process computes for nobody");
        }
        observer.ping();
    }
}

/// The empty board of 25x25.
fn empty() -> String {
    format!("5 5 {}", ["."; 625].join(" "))
}
