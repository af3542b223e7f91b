//! Cores that are shared out: moves with a clock before what is endless, a greedy client slows itself alone,
//! and what the cores cannot carry is refused.

// The functions beside the tests are called by them alone.
use crate::common::{Peer, Server, endless, first_place, go, open, place, stop, with};
use serde_json::{Value, json};

/// A client's searches beside which others play: as many as a connection may have in flight.
const GREEDY: usize = 250;

fn small() -> Value {
    json!({ "hash_mb": 1 })
}

fn per_move(ms: u64) -> Value {
    json!({ "kind": "per_move", "ms": ms })
}

#[test]
fn endless_searches_leave_moves_their_time() {
    let server = Server::tcp(&["--threads", "2"]);
    let mut greedy = server.greet(json!({}));
    for index in 0..GREEDY {
        let options = json!({ "threads": 2, "hash_mb": 1 });
        let clock = if index % 2 == 0 { endless() } else { json!({ "kind": "anytime" }) };
        greedy.send(&go(&format!("e{index}"), json!({ "clock": clock, "options": options })));
    }
    // Each has a legal move at once, and few of them can run.
    for index in 0..GREEDY {
        let best = greedy.info(&format!("e{index}"), "best");
        assert!(best["move"].is_string(), "{best}");
    }
    let status = greedy.result(&json!({ "id": "t", "cmd": "status" }));
    assert_eq!((&status["searches"], &status["threads"]), (&json!(GREEDY), &json!(2)), "{status}");
    let mut honest = server.greet(json!({}));
    for index in 0..5 {
        // Other programs may take the cores for a move's time, but not for ever longer ones.
        let is_searched = (0..6).any(|doubled| {
            let fields = json!({ "clock": per_move(200 << doubled), "options": small() });
            let best = honest.best(&go(&format!("m{index}"), fields));
            assert_eq!(best["reason"], "clock", "{best}");
            best["stats"]["nodes"].as_u64() > Some(0) && best["stats"]["depth"].as_u64() >= Some(1)
        });
        assert!(is_searched, "no iteration is whole");
    }
    // A search that waits is stopped as soon as one that runs.
    let result = greedy.result(&json!({ "id": "s", "cmd": "stop", "all": true }));
    assert_eq!(result["targets"].as_array().unwrap().len(), GREEDY, "{result}");
    greedy.wait("all best moves", |peer| peer.open() == 0);
    assert!((0..GREEDY).all(|index| greedy.last(&format!("e{index}"))["reason"] == "stopped"));
    let status = honest.result(&json!({ "id": "t", "cmd": "status" }));
    let counts = [&status["searches"], &status["threads"], &status["counters"]["abandoned"]];
    assert_eq!(counts, [&json!(0); 3], "{status}");
}

#[test]
fn search_threads_step_back_on_sockets_by_one_and_as_far_as_asked() {
    let check = |server: Server, mut peer: Peer, steps: i32| {
        peer.send(&go("g", json!({ "clock": endless(), "options": small() })));
        peer.info("g", "best");
        let [own, searches] = ["plyd", "search-"].map(|name| server.nices(name));
        assert!(!searches.is_empty() && !own.is_empty(), "{own:?} {searches:?}");
        assert!(searches.iter().all(|nice| *nice == (own[0] + steps).min(19)), "{own:?} {searches:?}");
    };
    let (server, peer) = Server::stdio(&[]);
    check(server, peer, 0);
    let on_sockets: [(&[&str], i32); 3] =
        [(&[], 1), (&["--search-nice", "0"], 0), (&["--search-nice", "7"], 7)];
    for (arguments, steps) in on_sockets {
        let server = Server::tcp(arguments);
        let peer = server.greet(json!({}));
        check(server, peer, steps);
    }
}

#[test]
fn every_search_gets_its_turns() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    let searches = ["a", "b", "c", "d"];
    for id in searches {
        peer.send(&go(
            id,
            json!({ "clock": endless(), "options": small(), "info": { "events": ["progress"] } }),
        ));
    }
    // Each goes on to some depth, though one alone can run.
    for id in searches {
        peer.wait("a depth of each", |peer| {
            peer.log.iter().any(|line| line["id"] == id && line["stats"]["depth"].as_u64() >= Some(3))
        });
    }
    for id in searches {
        assert_eq!(peer.result(&stop(id))["effect"], "stopping");
        let best = peer.last(id);
        assert!(best["stats"]["nodes"].as_u64() > Some(0), "{best}");
    }
}

#[test]
fn a_paused_search_goes_on_and_gives_the_same_answer() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    for threads in [1, 2] {
        let options = json!({ "hash_mb": 4, "threads": threads, "deterministic": threads == 1 });
        let long = json!({ "limit": { "nodes": 100_000 }, "options": options });
        let alone = peer.best(&go("alone", long.clone()));
        peer.send(&go("long", long));
        for index in 0..5 {
            let options = json!({ "threads": 2, "hash_mb": 1 });
            let short = json!({ "limit": { "nodes": 5000 }, "options": options });
            peer.send(&go(&format!("short{index}"), short));
        }
        let beside = peer.last("long");
        peer.wait("all best moves", |peer| peer.open() == 0);
        for best in [&alone, &beside] {
            assert_eq!(best["reason"], "limit", "{best}");
        }
        if threads == 1 {
            assert_eq!(alone["stats"]["nodes"], beside["stats"]["nodes"]);
            assert_eq!(alone["lines"], beside["lines"]);
        }
    }
}

#[test]
fn beyond_the_cores_the_greedy_alone_are_refused() {
    // 250 minimums of 10 ms do not fit into the 1.7 s that a clock of 2 s carries of them, unless they come
    // in slowly. What other programs leave of the cores may carry less than it seems, but not with ever
    // longer clocks.
    assert!((0..5).any(|doubled| is_searched_behind_many(2000 << doubled)), "the honest search never began");
}

/// Whether the only search of a connection begins that comes behind many others with the same clock; it is
/// not refused.
fn is_searched_behind_many(ms: u64) -> bool {
    let server = Server::tcp(&["--threads", "1"]);
    let (mut greedy, mut honest) = (server.greet(json!({})), server.greet(json!({})));
    let mover =
        |id: &str| go(id, json!({ "clock": per_move(ms), "options": small(), "info": { "events": [] } }));
    let mut moves: Vec<Value> = (0..GREEDY).map(|index| mover(&format!("g{index}"))).collect();
    // Searches are taken in one after the other; this one is refused when all before it were.
    moves.push(with(mover("behind"), &json!({ "clock": endless(), "searchmoves": ["nowhere"] })));
    let us = |message: &Value| message["t_us"].as_u64().unwrap();
    let began = us(&greedy.result(&json!({ "id": "p", "cmd": "ping" })));
    greedy.send_all(&moves);
    let best = honest.best(&with(mover("h"), &json!({ "info": { "events": ["started"] } })));
    assert_eq!(best["reason"], "clock", "{best}");
    let behind = greedy.last("behind");
    assert_eq!(behind["code"], "illegal_move", "{behind}");
    greedy.wait("all answers", |peer| peer.open() == 0);
    let mut refused = 0;
    for index in 0..GREEDY {
        let last = greedy.last(&format!("g{index}"));
        if last["code"] == "overloaded" {
            assert_eq!(last["fatal"], false, "{last}");
            assert!(last["retry_ms"].as_u64() >= Some(1), "{last}");
            refused += 1;
        } else {
            // Where it takes seconds to read a position, it may not be read in time.
            assert!(last["reason"] == "clock" || last["code"] == "unprepared", "{last}");
        }
    }
    // As long as they came in, minimums were paid.
    let carried_ms = (us(&behind) - began) / 1000 + ms / 8 * 7;
    assert!(refused > 0 || 10 * GREEDY as u64 <= carried_ms, "none was refused in {carried_ms} ms");
    first_place(&honest, "h") < place(&honest, "h")
}

#[test]
fn one_search_on_an_idle_server_is_never_refused() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    for (round, ms) in [-5, 0, 1, 2, 5, 8, 10, 11, 15, 20, 50].into_iter().enumerate() {
        let best = peer.best(&go(&format!("g{round}"), json!({ "clock": { "kind": "per_move", "ms": ms } })));
        assert!(best["move"].is_string(), "{ms} ms: {best}");
    }
}

#[test]
fn a_clock_that_is_almost_over_beside_many_is_searched_or_refused_and_never_silent() {
    let server = Server::tcp(&["--threads", "1"]);
    let (mut greedy, mut honest) = (server.greet(json!({})), server.greet(json!({})));
    // More minimums than a second pays, with clocks that leave time for all.
    let moves: Vec<Value> = (0..GREEDY)
        .map(|index| go(&format!("g{index}"), json!({ "clock": per_move(60_000), "options": small() })))
        .collect();
    greedy.send_all(&moves);
    greedy.info("g0", "started");
    for (round, ms) in [-5, 0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 20].into_iter().enumerate() {
        // The ledger wants a warning before a move that a clock left no time for.
        let clock = json!({ "clock": { "kind": "per_move", "ms": ms }, "options": small() });
        let last = honest.ask(&go(&format!("h{round}"), clock));
        if last["type"] == "error" {
            assert_eq!(
                (&last["code"], &last["fatal"]),
                (&json!("overloaded"), &json!(false)),
                "{ms}: {last}"
            );
            assert!(last["retry_ms"].as_u64() >= Some(1), "{ms}: {last}");
            assert!(ms > 0, "a clock that is over asks for no core: {last}");
        } else {
            assert_eq!(last["reason"], "clock", "{ms}: {last}");
        }
    }
    greedy.result(&json!({ "id": "s", "cmd": "stop", "all": true }));
    greedy.wait("all answers", |peer| peer.open() == 0);
}

#[test]
fn a_move_that_there_was_no_time_to_search_says_so_whatever_ended_it() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    for (fields, reason) in [
        (json!({ "clock": per_move(0) }), "clock"),
        (json!({ "clock": { "kind": "increment", "me_ms": -7, "inc_ms": 100 } }), "clock"),
        (json!({ "limit": { "time_ms": 0 } }), "limit"),
        (json!({ "clock": endless(), "hard_ms": 0 }), "deadline"),
        (json!({ "mode": "analyse", "hard_ms": 0 }), "deadline"),
        // Here nothing was lacking.
        (json!({ "limit": { "nodes": 1 } }), "nodes"),
        (json!({ "clock": per_move(60_000), "options": { "player": "random" } }), "nodes"),
    ] {
        let before = peer.log.len();
        let best = peer.best(&go("g", fields));
        let warned = peer.log[before..].iter().filter(|message| message["type"] == "notice").count();
        let is_unsearched = best["lines"][0]["depth"] == 0;
        if reason == "nodes" {
            assert_eq!((&best["reason"], warned), (&json!("limit"), 0), "{best}");
        } else {
            assert_eq!((&best["reason"], warned), (&json!(reason), usize::from(is_unsearched)), "{best}");
        }
        // Whose deadline was over as the request came, was not searched.
        assert!(reason != "deadline" || is_unsearched, "{best}");
    }
}

#[test]
fn a_go_that_may_wait_is_not_refused() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    let ids: Vec<String> = (0..GREEDY).map(|index| format!("w{index}")).collect();
    for id in &ids {
        peer.send(&go(id, json!({ "clock": per_move(2000), "options": small(), "queue": true })));
    }
    // The first that end have had their clock's time; some of the others wait still.
    assert_eq!(peer.last("w0")["reason"], "clock");
    assert!(peer.is_open(&ids[GREEDY - 1]));
    peer.result(&json!({ "id": "s", "cmd": "stop", "all": true }));
    peer.wait("all answers", |peer| peer.open() == 0);
    for id in &ids[1..] {
        let last = peer.last(id);
        assert_eq!(last["type"], "bestmove", "{last}");
    }
}

#[test]
fn the_client_with_most_searches_makes_room_for_others() {
    let server = Server::tcp(&["--engines", "4", "--threads", "1"]);
    let mut greedy = server.greet(json!({}));
    for id in ["a", "b", "c", "d"] {
        greedy.send(&go(id, json!({ "clock": endless(), "options": small() })));
        greedy.info(id, "best");
    }
    let refused = greedy.ask(&go("e", json!({ "clock": endless(), "options": small() })));
    assert_eq!((&refused["code"], &refused["retry_ms"]), (&json!("overloaded"), &json!(1000)), "{refused}");
    let mut honest = server.greet(json!({}));
    let fields = json!({ "clock": per_move(60_000), "limit": { "nodes": 1000 }, "options": small() });
    let best = honest.best(&go("m", fields));
    assert!(best["stats"]["nodes"].as_u64() > Some(0), "{best}");
    let last = greedy.last("d");
    assert_eq!(last["reason"], "superseded", "{last}");
    // Its place is free again.
    greedy.send(&go("f", json!({ "clock": endless(), "options": small() })));
    greedy.info("f", "best");
}

#[test]
fn sessions_keep_their_players_as_far_as_there_are_places() {
    let server = Server::tcp(&["--engines", "2", "--threads", "1"]);
    let mut peer = server.greet(json!({}));
    let mut nodes = Vec::new();
    for turn in 0..2 {
        for session in ["a", "b", "c"] {
            if turn == 0 {
                open(&mut peer, session);
            }
            let limit = json!({ "nodes": 2000 });
            let options = json!({ "hash_mb": 8, "deterministic": true });
            let fields = json!({ "session": session, "limit": limit, "options": options });
            let best = peer.best(&go(&format!("{session}{turn}"), fields));
            nodes.push(best["stats"]["nodes"].clone());
            let status = peer.result(&json!({ "id": "t", "cmd": "status" }));
            assert!(status["hash_bytes"].as_u64() <= Some(16 << 20), "{status}");
        }
    }
    assert!(nodes.iter().all(|count| *count == nodes[0] && count.as_u64() > Some(0)), "{nodes:?}");
}

#[test]
fn searches_that_have_begun_keep_no_other_client_out() {
    let server = Server::tcp(&["--engines", "4", "--threads", "1"]);
    let mut greedy = [server.greet(json!({})), server.greet(json!({}))];
    for peer in &mut greedy {
        for id in ["a", "b"] {
            // Moves by their limits, so long that it makes no difference.
            peer.send(&go(id, json!({ "limit": { "nodes": 1_u64 << 52 }, "options": small() })));
            peer.info(id, "best");
        }
    }
    let mut honest = server.greet(json!({}));
    let fields = json!({ "clock": per_move(60_000), "limit": { "nodes": 1000 }, "options": small() });
    let best = honest.best(&go("m", fields));
    assert!(best["stats"]["nodes"].as_u64() > Some(0), "{best}");
    // One search of one of them made room.
    let counts = greedy.each_mut().map(|peer| {
        let stopped = peer.result(&json!({ "id": "s", "cmd": "stop", "all": true }));
        peer.wait("their ends", |peer| peer.open() == 0);
        stopped["targets"].as_array().unwrap().len()
    });
    assert_eq!(counts.iter().sum::<usize>(), 3, "{counts:?}");
}
