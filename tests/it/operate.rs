//! What operators ask over the wire: who is connected, and the end of sessions and connections of others. The
//! commands for it are in `operate_commands`.

// The functions beside the tests are called by them alone.
use crate::common::{Peer, Server, endless, go, open, until, with};
use crate::identity::{Clients, endless_go, greet, search};
use crate::reload::Daemon;
use serde_json::{Value, json};

/// All connections, with how many pages they took.
pub(crate) fn connections(operator: &mut Peer) -> (Vec<Value>, usize) {
    let (mut all, mut after, mut pages): (Vec<Value>, u64, usize) = (Vec::new(), 0, 0);
    loop {
        let page = operator.result(&json!({ "id": "k", "cmd": "connections", "after": after }));
        pages += 1;
        all.extend(page["connections"].as_array().unwrap().iter().cloned());
        match page.get("next") {
            None => {
                assert_eq!(page["count"], all.len(), "{page}");
                assert!(all.is_sorted_by_key(|one| one["connection"].as_u64().unwrap()), "{all:?}");
                return (all, pages);
            }
            Some(next) => {
                assert_eq!(*next, all.last().unwrap()["connection"]);
                after = next.as_u64().unwrap();
            }
        }
    }
}

/// The connection whose client calls itself so.
pub(crate) fn find(operator: &mut Peer, name: &str) -> Value {
    let (all, _) = connections(operator);
    let found = all.iter().find(|one| one["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {all:?}")).clone()
}

/// The number of that connection.
pub(crate) fn number(operator: &mut Peer, name: &str) -> u64 {
    find(operator, name)["connection"].as_u64().unwrap()
}

/// A connection whose client calls itself so.
pub(crate) fn called(server: &Server, name: &str) -> Peer {
    server.greet(json!({ "client": { "name": name } }))
}

#[test]
fn an_operator_sees_who_is_connected_what_they_search_and_what_waits() {
    let clients = Clients::new("operate-list");
    let alice = clients.add("alice", &["--role", "analyse"]);
    let ops = clients.add("ops", &["--role", "operate"]);
    let server = clients.serve(&["--threads", "1"]);
    let stranger = server.connect();
    let mut of_alice = server.connect();
    // What a peer calls itself is shown without what a terminal would obey, and no longer than messages are.
    let hostile = format!("\x1b[31mred\u{202e}\u{7}{}", "x".repeat(900));
    of_alice.hello(json!({ "token": alice, "client": { "name": hostile } }));
    open(&mut of_alice, "s");
    open(&mut of_alice, "idle");
    search(&mut of_alice, &endless_go("g", json!({ "session": "s" })));
    of_alice.send(&go("w", json!({ "session": "s", "limit": { "nodes": 100 }, "queue": true })));
    search(&mut of_alice, &endless_go("turn", json!({ "mode": "move" })));
    of_alice.send(&go("due", json!({ "clock": { "kind": "per_move", "ms": 900_000 } })));
    of_alice.info("due", "started");

    let mut operator = greet(&server, &ops);
    // Positions are read on threads of their own.
    let is_read = |all: &[Value]| {
        let mut searches = all.iter().flat_map(|one| one["searches"].as_array().unwrap());
        searches.all(|search| search["state"] != "preparing")
    };
    let (mut all, mut pages) = (Vec::new(), 0);
    until("all positions are read", || {
        (all, pages) = connections(&mut operator);
        is_read(&all)
    });
    assert_eq!((all.len(), pages), (3, 1), "{all:?}");
    let of = |client: &str| all.iter().find(|one| one["client"] == client).unwrap();
    let nobody = all.iter().find(|one| one["state"] == "stranger").unwrap();
    assert_eq!(
        (nobody.get("role"), nobody.get("client"), nobody.get("name")),
        (None, None, None),
        "{nobody}"
    );
    assert_eq!((&of("ops")["role"], of("ops").get("name")), (&json!("operate"), None));

    let one = of("alice");
    let text = one.to_string();
    assert!(!text.contains(&alice) && !text.contains(&ops), "a token in {text}");
    let name = one["name"].as_str().unwrap();
    assert!(name.starts_with("\\u{1b}[31mred\\u{202e}\\u{7}xxx") && name.chars().count() <= 65, "{name}");
    assert!(one["peer"].as_str().unwrap().starts_with("127.0.0.1:"), "{one}");
    for (field, wanted) in [
        ("transport", json!("tcp")),
        ("state", json!("open")),
        ("role", json!("analyse")),
        ("requests", json!(4)),
    ] {
        assert_eq!(one[field], wanted, "{field} in {one}");
    }
    assert_eq!(
        one["sessions"],
        json!([{ "session": "idle", "game": "isolation" }, { "session": "s", "game": "isolation" }])
    );
    let searches = one["searches"].as_array().unwrap();
    let shown: Vec<[&Value; 4]> = searches
        .iter()
        .map(|search| [&search["id"], &search["state"], &search["game"], &search["threads"]])
        .collect();
    let game = &json!("isolation");
    let (one_thread, waiting) = (&json!(1), &json!("waiting"));
    assert_eq!(shown[1], [&json!("w"), waiting, game, one_thread]);
    for (at, id) in [(0, "g"), (2, "turn"), (3, "due")] {
        assert_eq!((shown[at][0], shown[at][2], shown[at][3]), (&json!(id), game, one_thread));
        assert!(["starting", "searching"].iter().any(|state| shown[at][1] == state), "{searches:?}");
    }
    assert_eq!((&searches[0]["session"], searches[2].get("session")), (&json!("s"), None));
    assert_eq!([0, 1, 2].map(|at| searches[at].get("due_ms")), [None; 3], "{searches:?}");
    let due = searches[3]["due_ms"].as_u64().unwrap();
    assert!(due > 0 && due <= 900_000, "{searches:?}");
    assert!(searches.iter().all(|search| search["stats"]["nodes"].is_u64() && search["age_ms"].is_u64()));
    drop(stranger);
}

#[test]
fn many_connections_come_in_pages_each_once() {
    const MANY: usize = 70;
    let server = Server::tcp(&["--threads", "1"]);
    let mut operator = called(&server, "operator");
    let peers: Vec<Peer> = (0..MANY).map(|n| called(&server, &format!("peer-{n}"))).collect();
    let (all, pages) = connections(&mut operator);
    assert_eq!(all.len(), MANY + 1);
    assert!(pages >= 2, "{pages}");
    for n in 0..MANY {
        let name = format!("peer-{n}");
        assert_eq!(all.iter().filter(|one| one["name"] == name.as_str()).count(), 1, "{name}");
    }
    // Behind the last one there is nothing, however far.
    for after in [all.last().unwrap()["connection"].as_u64().unwrap(), (1 << 53) - 1] {
        let page = operator.result(&json!({ "id": "k", "cmd": "connections", "after": after }));
        assert_eq!((&page["connections"], page.get("next")), (&json!([]), None), "{page}");
        assert_eq!(page["count"], MANY + 1);
    }
    drop(peers);
}

#[test]
fn a_page_is_short_whatever_a_connection_has_in_flight() {
    const SEARCHES: usize = 200;
    let server = Server::tcp(&["--threads", "1"]);
    let mut operator = called(&server, "operator");
    let names = ["greedy-1", "greedy-2", "greedy-3"];
    let mut greedy = names.map(|name| called(&server, name));
    for (peer, name) in greedy.iter_mut().zip(names) {
        open(peer, "s");
        let fields = json!({ "session": "s", "queue": true, "clock": endless(), "info": { "events": [] } });
        let searches = (0..SEARCHES).map(|n| go(&format!("{n:a>64}"), fields.clone()));
        peer.send_all(&searches.collect::<Vec<_>>());
        until("all are in flight", || find(&mut operator, name)["requests"] == SEARCHES);
    }
    let page = operator.result(&json!({ "id": "k", "cmd": "connections" }));
    assert_eq!(page["connections"].as_array().unwrap().len(), 2, "the operator and the first of them");
    assert!(page.to_string().len() < 200 << 10, "{} bytes", page.to_string().len());
    assert_eq!(connections(&mut operator).0.len(), 4);
}

#[test]
fn a_session_that_an_operator_closes_answers_its_searches_and_is_gone() {
    for server in [Server::tcp(&["--threads", "2"]), Server::websocket(&["--threads", "2"])] {
        let mut operator = called(&server, "operator");
        let (mut peer, mut other) = (called(&server, "peer"), called(&server, "other"));
        for peer in [&mut peer, &mut other] {
            open(peer, "s");
            search(peer, &endless_go("g", json!({ "session": "s" })));
        }
        peer.send(&go("waits", json!({ "session": "s", "limit": { "nodes": 9 }, "queue": true })));
        let connection = number(&mut operator, "peer");
        let close = json!({ "id": "c", "cmd": "close", "session": "s", "connection": connection });
        let closed = operator.result(&close);
        assert_eq!((&closed["session"], &closed["connection"]), (&json!("s"), &json!(connection)));
        let best = peer.last("g");
        assert_eq!((&best["type"], &best["reason"]), (&json!("bestmove"), &json!("closed")), "{best}");
        // The one that waits has a move as soon as its position is read.
        let last = peer.last("waits");
        assert!(last["reason"] == "closed" || last["code"] == "unprepared", "{last}");
        let warned = peer.log.iter().position(|message| message["kind"] == "warning").expect("a warning");
        let ended = peer.log.iter().position(|message| message["type"] == "bestmove").unwrap();
        assert!(warned < ended, "{:?}", peer.log);
        assert!(peer.log[warned]["message"].as_str().unwrap().contains("`s`"), "{:?}", peer.log[warned]);
        assert_eq!(
            peer.ask(&go("h", json!({ "session": "s", "limit": { "nodes": 9 } })))["code"],
            "session_unknown"
        );
        assert_eq!(operator.ask(&close)["code"], "session_unknown");
        // Its name is its client's to use again, and nobody else's session ended.
        open(&mut peer, "s");
        peer.best(&go("i", json!({ "session": "s", "limit": { "nodes": 9 } })));
        other.ping();
        assert!(other.is_open("g"));
        let status = operator.result(&json!({ "id": "t", "cmd": "status" }));
        assert_eq!((&status["searches"], &status["sessions"]), (&json!(1), &json!(2)), "{status}");
    }
}

#[test]
fn a_connection_that_an_operator_ends_answers_its_searches_and_hears_why() {
    for server in [Server::tcp(&["--threads", "2"]), Server::websocket(&["--threads", "2"])] {
        let mut operator = called(&server, "operator");
        let (mut peer, mut other) = (called(&server, "peer"), called(&server, "other"));
        search(&mut other, &endless_go("g", json!({})));
        search(&mut peer, &endless_go("g", json!({})));
        peer.send(&go("clock", json!({ "clock": { "kind": "per_move", "ms": 900_000 } })));
        peer.info("clock", "started");
        let connection = number(&mut operator, "peer");
        let disconnect = json!({ "id": "d", "cmd": "disconnect", "connection": connection });
        assert_eq!(operator.result(&disconnect)["connections"], json!([connection]));
        let said = peer.closed();
        let end = said.last().unwrap();
        assert_eq!(
            [&end["type"], &end["code"], &end["fatal"], &end["id"], &end["line"]],
            [&json!("error"), &json!("disconnected"), &json!(true), &Value::Null, &json!(0)],
            "{end}"
        );
        let answered = said.iter().filter(|message| message["reason"] == "stopped").count();
        assert_eq!((answered, peer.open()), (2, 0), "each search has its answer");
        assert_eq!(operator.ask(&disconnect)["code"], "connection_unknown");
        other.ping();
        assert!(other.is_open("g"));
        // A stranger has nothing in flight, and may be ended too.
        let mut stranger = server.connect();
        let mut stranger_number = Value::Null;
        until("the stranger is listed", || {
            let (all, _) = connections(&mut operator);
            let found = all.iter().find(|one| one["state"] == "stranger");
            stranger_number = found.map_or(Value::Null, |one| one["connection"].clone());
            !stranger_number.is_null()
        });
        operator.result(&json!({ "id": "d", "cmd": "disconnect", "connection": stranger_number }));
        assert_eq!(stranger.closed().last().unwrap()["code"], "disconnected");
        // So may the operator itself, behind the answer.
        let own = number(&mut operator, "operator");
        operator.result(&json!({ "id": "d", "cmd": "disconnect", "connection": own }));
        assert_eq!(operator.closed().last().unwrap()["code"], "disconnected");
        called(&server, "another").ping();
    }
}

#[test]
fn all_connections_of_a_client_end_by_its_name_and_the_log_says_by_whom() {
    let clients = Clients::new("operate-name");
    let (alice, bob) = (clients.add("alice", &[]), clients.add("bob", &[]));
    let ops = clients.add("ops", &["--role", "operate"]);
    let mut daemon = Daemon::without_settings("operate-name", &["--clients-file", &clients.file, "-v"]);
    let of = |token: &str| json!({ "token": token, "client": { "name": "ops" } });
    let mut of_alice = [daemon.greet(of(&alice)), daemon.greet(of(&alice))];
    let mut of_bob = daemon.greet(of(&bob));
    let mut operator = daemon.greet(json!({ "token": ops }));
    search(&mut of_alice[0], &endless_go("g", json!({})));
    let ended = operator.result(&json!({ "id": "d", "cmd": "disconnect", "client": "alice" }));
    assert_eq!(ended["connections"].as_array().unwrap().len(), 2, "{ended}");
    for peer in &mut of_alice {
        assert_eq!(peer.closed().last().unwrap()["code"], "disconnected");
    }
    let line = daemon.logged("an operator ends a connection");
    assert!(line.contains(r#"client="ops""#) && line.contains("connection="), "{line}");
    // Names that clients give themselves count for nothing.
    let refused = operator.ask(&json!({ "id": "d", "cmd": "disconnect", "client": "alice" }));
    assert_eq!((&refused["code"], &refused["pointer"]), (&json!("connection_unknown"), &json!("/client")));
    of_bob.ping();
    // Whoever is on the list still may come again.
    let mut again = daemon.greet(of(&alice));
    for request in [
        json!({ "id": "f", "cmd": "connections" }),
        json!({ "id": "f", "cmd": "disconnect", "client": "bob" }),
        json!({ "id": "f", "cmd": "close", "session": "s", "connection": 1 }),
    ] {
        assert_eq!(again.ask(&request)["code"], "forbidden", "{request}");
    }
    of_bob.ping();
    let metric = operator.result(&json!({ "id": "t", "cmd": "status" }))["counters"].clone();
    assert_eq!(metric["connections_dropped"], 2, "{metric}");
    assert!(daemon.end().success());
}

#[test]
fn an_operator_may_end_what_a_drain_waits_for() {
    let mut server = Server::tcp(&["--threads", "1", "--drain-ms", "4000000000"]);
    let mut operator = called(&server, "operator");
    let mut peer = called(&server, "peer");
    open(&mut peer, "s");
    search(&mut peer, &endless_go("g", json!({ "session": "s" })));
    let connection = number(&mut operator, "peer");
    server.signal(rustix::process::Signal::TERM);
    operator.notice("going_away");
    assert_eq!(connections(&mut operator).0.len(), 2);
    operator.result(&json!({ "id": "c", "cmd": "close", "session": "s", "connection": connection }));
    assert_eq!(peer.last("g")["reason"], "closed");
    // Nothing is in flight any more: the drain is over.
    assert!(server.exit().success());
}

#[test]
fn whoever_has_no_name_looks_after_others_only_where_nobody_is_kept_out() {
    let clients = Clients::new("operate-nameless");
    clients.add("alice", &[]);
    let token = clients.folder.file("token", "open sesame");
    let socket = clients.folder.path.join("socket");
    let socket = socket.to_str().unwrap();
    let about_others = [
        json!({ "id": "c", "cmd": "connections" }),
        json!({ "id": "d", "cmd": "disconnect", "connection": 4711 }),
        json!({ "id": "e", "cmd": "close", "session": "s", "connection": 4711 }),
    ];
    let shown = json!({ "token": "open sesame" });
    let named = ["--clients-file", &clients.file, "--token-file", &token];
    for (arguments, hello, may) in [
        (&[][..], json!({}), true),
        (&["--insecure"], json!({}), false),
        (&["--token-file", &token], shown.clone(), false),
        (&named, shown.clone(), false),
    ] {
        let server = Server::tcp(arguments);
        let mut peer = server.greet(hello);
        for request in &about_others {
            let answer = peer.ask(request);
            assert_eq!(answer["code"] != "forbidden", may, "{arguments:?}: {answer}");
        }
        // What was allowed before is allowed.
        peer.result(&json!({ "id": "t", "cmd": "status" }));
    }
    // Over WebSocket too, unless pages of another origin may connect: behind a proxy all come from loopback.
    for (arguments, may) in [(&[][..], true), (&["--ws-origin", "https://play.example"], false)] {
        let answer = Server::websocket(arguments).greet(json!({})).ask(&about_others[0]);
        assert_eq!(answer["code"] != "forbidden", may, "{arguments:?}: {answer}");
    }
    // The process that started it may, and the user whose socket it is.
    let (server, mut peer) = Server::both(&["--token-file", &token, "--unix", socket]);
    peer.result(&about_others[0]);
    assert_eq!(server.greet(shown.clone()).ask(&about_others[0])["code"], "forbidden");
    // Nor does the list call such a client an operator.
    let named = server.greet(with(shown.clone(), &json!({ "client": { "name": "nameless" } })));
    assert_eq!(find(&mut peer, "nameless")["role"], "analyse");
    drop(named);
    let stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
    let mut peer = Peer::new(Box::new(stream.try_clone().unwrap()), stream);
    peer.hello(with(shown, &json!({ "client": { "name": "local" } })));
    assert_eq!(find(&mut peer, "local")["role"], "operate");
}
