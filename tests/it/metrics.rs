//! The metrics and the probes of a daemon: what they say is what happened, and whoever asks for them disturbs
//! nobody.

// The functions beside the tests are called by them alone.
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::common::scrape::{Scrape, ask};
use crate::common::{Folder, Logged, Random, TIMEOUT, endless, go, process, stop, until};
use rustix::process::Signal;
use serde_json::{Value, json};

/// A client that counts what it does.
struct Client {
    input: BufReader<TcpStream>,
    counts: BTreeMap<String, f64>,
}

impl Client {
    fn new(stream: TcpStream) -> Self {
        let mut client = Self { input: BufReader::new(stream), counts: BTreeMap::new() };
        client.count("plyd_connections_opened_total{transport=\"tcp\"}", 1);
        client.ask(&json!({ "id": "h", "cmd": "hello", "protocol": { "min": 1, "max": 1 } }));
        client
    }

    fn count(&mut self, series: &str, more: u64) {
        *self.counts.entry(series.to_owned()).or_default() += more as f64;
    }

    /// Sends a line and reads until its answer.
    fn line(&mut self, line: &str) -> Value {
        self.input.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
        self.count("plyd_received_bytes_total", line.len() as u64 + 1);
        self.count("plyd_lines_total", 1);
        loop {
            let mut answer = String::new();
            assert!(self.input.read_line(&mut answer).unwrap() > 0, "it goes on");
            self.count("plyd_sent_bytes_total", answer.len() as u64);
            let answer: Value = serde_json::from_str(&answer).unwrap();
            match answer["type"].as_str().unwrap() {
                "error" => {
                    self.count(&format!("plyd_errors_total{{code={}}}", answer["code"]), 1);
                    return answer;
                }
                "result" | "bestmove" => return answer,
                _ => {}
            }
        }
    }

    /// Sends a request that can be read.
    fn ask(&mut self, request: &Value) -> Value {
        self.count(&format!("plyd_requests_total{{cmd={}}}", request["cmd"]), 1);
        self.line(&request.to_string())
    }

    /// Searches a move of a game.
    fn search(&mut self, game: &str, fields: &Value) {
        let request = json!({ "id": "g", "cmd": "go", "game": game, "position": {} });
        let answer = self.ask(&crate::common::with(request, fields));
        assert_eq!(answer["type"], "bestmove", "{answer}");
        self.count(&format!("plyd_answers_total{{game=\"{game}\",reason={}}}", answer["reason"]), 1);
        self.count(&format!("plyd_searches_total{{game=\"{game}\"}}"), 1);
        for time in ["plyd_queue_time_seconds_count", "plyd_search_time_seconds_count"] {
            self.count(time, 1);
        }
        self.count(
            &format!("plyd_nodes_total{{game=\"{game}\"}}"),
            answer["stats"]["nodes"].as_u64().unwrap(),
        );
        let is_timed = fields.get("clock").is_some() || fields["limit"].get("time_ms").is_some();
        self.count("plyd_timed_answers_total", is_timed.into());
    }

    /// Does one of many things.
    fn act(&mut self, what: usize) {
        match what {
            0 => drop(self.ask(&json!({ "id": "p", "cmd": "ping" }))),
            1 => self
                .search("isolation", &json!({ "limit": { "nodes": 300 }, "info": { "events": ["best"] } })),
            2 => self.search("l-game", &json!({ "limit": { "depth": 2 } })),
            3 => self.search("colosseum", &json!({ "limit": { "nodes": 50 } })),
            4 => self.search("isolation", &json!({ "limit": { "nodes": 9, "time_ms": 60_000 } })),
            5 => self.search(
                "isolation",
                &json!({ "limit": { "nodes": 9 }, "clock": { "kind": "per_move", "ms": 60_000 } }),
            ),
            6 => {
                for (cmd, more) in [("newgame", json!({ "game": "l-game" })), ("close", json!({}))] {
                    self.ask(&crate::common::with(json!({ "id": "s", "cmd": cmd, "session": "s" }), &more));
                }
            }
            7 => drop(self.ask(&json!({ "id": "d", "cmd": "describe", "what": "games" }))),
            8 => drop(self.ask(&json!({ "id": "o", "cmd": "setoption", "options": {} }))),
            9 => drop(self.ask(&json!({ "id": "x", "cmd": "stop", "target": "nothing" }))),
            // What goes wrong: words of a peer's choice become no label.
            10 => drop(self.line(&json!({ "id": "u", "cmd": format!("cmd-{what}") }).to_string())),
            11 => drop(self.line("no json")),
            12 => drop(self.ask(&go("w", json!({ "game": "chess", "rules": {}, "limit": { "nodes": 1 } })))),
            13 => {
                drop(self.ask(&go("w", json!({ "position": { "moves": ["?"] }, "limit": { "nodes": 1 } }))))
            }
            _ => drop(self.ask(&json!({ "id": "c", "cmd": "close", "session": format!("session-{what}") }))),
        }
    }
}

#[test]
fn after_real_work_every_number_is_exact() {
    let arguments = ["--tcp", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--threads", "2"];
    let daemon = Logged::start(&arguments, &[], 1);
    let metrics = daemon.metrics();
    let before = Scrape::of(metrics);
    let clients: Vec<_> = (0..6)
        .map(|seed| {
            let mut client = Client::new(daemon.socket(0));
            thread::spawn(move || {
                let mut random = Random::new(seed);
                (0..15).for_each(|what| client.act(what));
                for _ in 0..60 {
                    client.act(random.below(15));
                }
                client
            })
        })
        .collect();
    let clients: Vec<Client> = clients.into_iter().map(|client| client.join().unwrap()).collect();
    let mut expected: BTreeMap<String, f64> = BTreeMap::new();
    for (series, count) in clients.iter().flat_map(|client| &client.counts) {
        *expected.entry(series.clone()).or_default() += count;
    }
    let after = Scrape::of(metrics);
    for (series, count) in &expected {
        assert_eq!((after.get(series), before.get(series)), (*count, 0.0), "{series}");
    }
    // Nothing else was counted, and no series appeared.
    assert!(after.0.keys().eq(before.0.keys()), "the series changed");
    let counted = ["plyd_requests_total", "plyd_errors_total", "plyd_answers_total", "plyd_searches_total"];
    for metric in counted.into_iter().chain(["plyd_nodes_total", "plyd_connections_opened_total"]) {
        let of = |(name, _): &(&String, &f64)| name.split('{').next() == Some(metric);
        let sum: f64 = expected.iter().filter(of).map(|(_, count)| count).sum();
        assert_eq!(after.sum(metric), sum, "{metric}");
    }
    assert_eq!(after.get("plyd_connections{state=\"open\"}"), 6.0);
    assert_eq!(after.sum("plyd_connections"), 6.0);
    assert_eq!(after.sum("plyd_searches_in_flight"), 0.0);
    assert_eq!((after.get("plyd_sessions"), after.get("plyd_watchdog_answers_total")), (0.0, 0.0));
    assert_eq!(after.get("plyd_threads_max"), 2.0);
    assert_eq!(after.get("plyd_answer_lateness_seconds_count"), 0.0);
    for (name, least) in
        [("plyd_uptime_seconds", 0.0), ("process_resident_memory_bytes", 1e6), ("process_open_fds", 9.0)]
    {
        assert!(after.get(name) > least, "{name}: {}", after.get(name));
    }
    assert!(after.get("process_cpu_seconds_total") > before.get("process_cpu_seconds_total"));
    drop(clients);
    let end = Instant::now() + TIMEOUT;
    while Scrape::of(metrics).sum("plyd_connections") > 0.0 {
        assert!(Instant::now() < end, "connections stay");
    }
    daemon.end();
}

#[test]
fn a_scrape_waits_for_no_search_and_shows_those_that_run() {
    let arguments = ["--tcp", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--threads", "2"];
    let daemon = Logged::start(&arguments, &[], 1);
    let metrics = daemon.metrics();
    let mut peer = daemon.greet(json!({}));
    for id in ["a", "b"] {
        peer.send(&go(id, json!({ "mode": "analyse", "clock": endless() })));
        peer.info(id, "best");
    }
    let first = Scrape::of(metrics);
    assert_eq!(first.get("plyd_searches_in_flight{phase=\"searching\"}"), 2.0);
    assert_eq!(
        (first.get("plyd_threads_busy"), first.get("plyd_searches_total{game=\"isolation\"}")),
        (2.0, 2.0)
    );
    assert!(first.get("plyd_table_memory_bytes") > 0.0);
    let nodes = "plyd_nodes_total{game=\"isolation\"}";
    let end = Instant::now() + TIMEOUT;
    while Scrape::of(metrics).get(nodes) <= first.get(nodes) {
        assert!(Instant::now() < end, "the nodes do not grow");
    }
    for id in ["a", "b"] {
        peer.send(&stop(id));
        peer.last(id);
    }
    let unsearched = Scrape::of(metrics).get("plyd_unsearched_answers_total");
    let best = peer.best(&go("late", json!({ "clock": endless(), "hard_ms": 0 })));
    assert_eq!((&best["reason"], &best["lines"][0]["depth"]), (&json!("deadline"), &json!(0)), "{best}");
    let last = Scrape::of(metrics);
    assert_eq!((unsearched, last.get("plyd_unsearched_answers_total")), (0.0, 1.0));
    assert_eq!(last.get("plyd_answers_total{game=\"isolation\",reason=\"stopped\"}"), 2.0);
    assert_eq!(last.sum("plyd_searches_in_flight"), 0.0);
    daemon.end();
}

/// A client that does not read lets its own answer wait, however quick the daemon is: that is late, and by
/// how much is known.
#[test]
fn an_answer_that_is_written_after_its_time_is_late_by_what_it_waited() {
    let daemon = Logged::start(&["--tcp", "127.0.0.1:0", "--metrics", "127.0.0.1:0"], &[], 1);
    let metrics = daemon.metrics();
    let mut stream = daemon.socket(0);
    writeln!(stream, "{}", json!({ "id": "h", "cmd": "hello", "protocol": { "min": 1, "max": 1 } })).unwrap();
    // More than its socket holds, less than it is cut off for.
    let ping = json!({ "id": "p", "cmd": "ping", "echo": "e".repeat(1000) });
    let (many, mut pings) = (format!("{ping}\n").repeat(200), 0);
    while Scrape::of(metrics).get("plyd_unsent_bytes") < f64::from(4 << 20) {
        stream.write_all(many.as_bytes()).unwrap();
        pings += 200;
        let handled = || Scrape::of(metrics).get("plyd_requests_total{cmd=\"ping\"}") == f64::from(pings);
        until("the pings are answered", handled);
    }
    let go = go("late", json!({ "game": "isolation", "limit": { "time_ms": 20 } }));
    writeln!(stream, "{go}").unwrap();
    until("the search is over", || Scrape::of(metrics).sum("plyd_answers_total") == 1.0);
    let before = Scrape::of(metrics);
    assert_eq!(before.get("plyd_answer_lateness_seconds_count"), 0.0, "it is not written yet");
    thread::sleep(Duration::from_secs(1));
    let lines = BufReader::new(&stream).lines();
    let is_best = |line: &String| line.contains("\"type\":\"bestmove\"");
    assert!(lines.map(Result::unwrap).any(|line| is_best(&line)));
    until("it is counted", || Scrape::of(metrics).get("plyd_timed_answers_total") == 1.0);
    let after = Scrape::of(metrics);
    assert_eq!(after.get("plyd_answer_lateness_seconds_count"), 1.0);
    let late = after.get("plyd_answer_lateness_seconds_sum");
    assert!(late > 0.9, "a second less what is left of its 20 ms: {late}");
    daemon.end();
}

#[test]
fn refusals_and_reloads_are_counted() {
    let folder = Folder::new("metrics-refusals");
    let file = folder.file("plyd.toml", "");
    let token = folder.file("token", "open sesame");
    let arguments = ["--tcp", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--metrics", "127.0.0.1:0"];
    let arguments =
        [&arguments[..], &["--config", &file, "--token-file", &token, "--strangers", "3"]].concat();
    let daemon = Logged::start(&arguments, &[], 2);
    let metrics = daemon.metrics();
    let hello = |fields: Value| {
        crate::common::with(json!({ "id": "h", "cmd": "hello", "protocol": { "min": 1, "max": 1 } }), &fields)
    };
    daemon.connect().ask(&hello(json!({ "token": "wrong" })));
    daemon.connect().ask(&hello(json!({})));
    ask(daemon.addresses[0], "GET / HTTP/1.1\r\n\r\n");
    ask(daemon.addresses[0], &"x\n".repeat(16));
    let page = "GET /ws HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil\r\nConnection: Upgrade\r\n\
                Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    ask(daemon.addresses[1], page);
    let silent: Vec<TcpStream> = (0..5).map(|_| daemon.socket(0)).collect();
    // The first two leave for the last two.
    for mut socket in silent.iter().take(2) {
        socket.read_to_end(&mut Vec::new()).unwrap();
    }
    for (settings, result) in [("conections = 1", "stay as they are"), ("connections = 9", "and in force")] {
        fs::write(&file, settings).unwrap();
        process::signal(&daemon.process, Signal::HUP);
        daemon.wait_for(result);
    }
    let scrape = Scrape::of(metrics);
    for (series, count) in [
        ("plyd_errors_total{code=\"auth_failed\"}", 1.0),
        ("plyd_errors_total{code=\"auth_required\"}", 1.0),
        ("plyd_refusals_total{reason=\"foreign_protocol\"}", 1.0),
        ("plyd_refusals_total{reason=\"bad_lines\"}", 1.0),
        ("plyd_refusals_total{reason=\"origin\"}", 1.0),
        ("plyd_refusals_total{reason=\"strangers\"}", 2.0),
        ("plyd_connections{state=\"stranger\"}", 3.0),
        ("plyd_reloads_total{result=\"applied\"}", 1.0),
        ("plyd_reloads_total{result=\"refused\"}", 1.0),
        ("plyd_connections_max", 9.0),
    ] {
        assert_eq!(scrape.get(series), count, "{series}");
    }
    daemon.end();
}

#[test]
fn whoever_asks_badly_is_turned_away_and_keeps_nobody_out() {
    let daemon = Logged::start(&["--tcp", "127.0.0.1:0", "--metrics", "127.0.0.1:0"], &[], 1);
    let metrics = daemon.metrics();
    let with_host =
        |host: &str| format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let last = "Host: localhost\r\nConnection: close\r\n\r\n";
    for (request, status) in [
        (format!("GET /healthz HTTP/1.1\r\n{last}"), "200"),
        (format!("GET /readyz?verbose HTTP/1.1\r\n{last}"), "200"),
        (format!("GET / HTTP/1.1\r\n{last}"), "200"),
        ("GET /healthz HTTP/1.0\r\n\r\n".into(), "200"),
        (with_host(&metrics.to_string()), "200"),
        (with_host("[::1]:9"), "200"),
        (with_host("plyd.evil.example"), "403"),
        (with_host("169.254.1.1"), "403"),
        (with_host(""), "403"),
        (format!("GET /../metrics HTTP/1.1\r\n{last}"), "404"),
        (format!("GET /metrics/ HTTP/1.1\r\n{last}"), "404"),
        (format!("POST /metrics HTTP/1.1\r\nContent-Length: 2\r\n{last}{{}}"), "405"),
        (format!("DELETE /metrics HTTP/1.1\r\n{last}"), "405"),
        (format!("GET /metrics HTTP/1.1\r\nContent-Length: 2\r\n{last}{{}}"), "413"),
        (format!("GET /{} HTTP/1.1\r\n{last}", "x".repeat(9000)), "431"),
        (format!("GET /metrics HTTP/1.1\r\n{}{last}", "a: b\r\n".repeat(70)), "431"),
        ("{\"id\":\"1\",\"cmd\":\"ping\"}\r\n\r\n".into(), "400"),
        ("\u{16}\u{3}\u{1}\0\0".into(), "400"),
        ("\0\0\0\0".into(), "400"),
    ] {
        let answer = ask(metrics, &request);
        let shown: String = request.chars().take(60).collect();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{shown:?}: {answer}");
    }
    let head = ask(metrics, &format!("HEAD /metrics HTTP/1.1\r\n{last}"));
    assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");
    let two = ask(
        metrics,
        &format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /readyz HTTP/1.1\r\n{last}"),
    );
    assert_eq!(two.matches("HTTP/1.1 200 ").count(), 2, "{two}");
    // Peers that say nothing, or half of something.
    let visitors: Vec<TcpStream> = (0..200)
        .map(|number| {
            let mut visitor = TcpStream::connect(metrics).unwrap();
            visitor.write_all(&b"GET /metrics HTTP/1.1\r\nHost: l"[..number % 30]).unwrap();
            visitor
        })
        .collect();
    assert_eq!(Scrape::of(metrics).sum("plyd_connections"), 0.0, "who watches is no client");
    drop(visitors);
    daemon.greet(json!({})).ping();
    daemon.end();
}

#[test]
fn metrics_are_not_shown_to_other_machines_by_mistake() {
    let folder = Folder::new("metrics-exposed");
    let token = folder.file("token", "open sesame");
    let base = ["serve", "--tcp", "127.0.0.1:0", "--metrics", "0.0.0.0:0"];
    for (more, code) in [
        (&[][..], 1),
        (&["--token-file", &token], 1),
        (&["--check"], 2),
        (&["--check", "--token-file", &token], 2),
        (&["--check", "--insecure"], 0),
    ] {
        let output = process::output(process::plyd([&base, more].concat()));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{more:?}: {said}");
        let is_refused = said.contains("refusing to serve metrics on 0.0.0.0:0");
        assert_eq!(is_refused, code > 0, "{more:?}: {said}");
    }
    let arguments = ["--tcp", "127.0.0.1:0", "--metrics", "0.0.0.0:0", "--insecure"];
    let daemon = Logged::start(&arguments, &[], 1);
    let port = daemon.metrics().port();
    // There it may have any name.
    let answer = ask(
        SocketAddr::from(([127, 0, 0, 1], port)),
        "GET /healthz HTTP/1.1\r\nHost: plyd.example\r\nConnection: close\r\n\r\n",
    );
    assert!(answer.ends_with("\r\n\r\nok\n"), "{answer}");
    daemon.end();
}

/// The metrics that a text speaks of.
fn named(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let is_metric = |word: &&str| word.starts_with("plyd_") || word.starts_with("process_");
    // A crate is none.
    words.filter(|word| is_metric(word) && *word != "plyd_daemon").collect()
}

#[test]
fn the_dashboard_the_rules_and_the_manual_speak_of_metrics_that_there_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let dashboard = read("examples/operations/grafana-dashboard.json");
    let panels: Value = serde_json::from_str(&dashboard).unwrap();
    let panels = panels["panels"].as_array().unwrap();
    let titles: Vec<&str> = panels.iter().map(|panel| panel["title"].as_str().unwrap()).collect();
    assert!(titles.len() >= 12, "{titles:?}");
    let daemon = Logged::start(&["--tcp", "127.0.0.1:0", "--metrics", "127.0.0.1:0"], &[], 1);
    let scrape = Scrape::of(daemon.metrics());
    let there: Vec<&str> = scrape.0.keys().map(|name| name.split('{').next().unwrap()).collect();
    let is_there = |name: &str| there.contains(&name) || there.contains(&&*format!("{name}_count"));
    let rules = read("examples/operations/prometheus-rules.yml");
    let manual = read("docs/operating.md");
    for (what, text, least) in [("dashboard", &dashboard, 20), ("rules", &rules, 8), ("manual", &manual, 5)] {
        let names = named(text);
        assert!(names.len() >= least, "{what}: {names:?}");
        for name in names {
            assert!(is_there(name), "the {what} speaks of {name}");
        }
    }
    daemon.end();
}

#[test]
fn queued_searches_are_counted_with_the_time_that_they_waited() {
    let daemon = Logged::start(&["--tcp", "127.0.0.1:0", "--metrics", "127.0.0.1:0"], &[], 1);
    let metrics = daemon.metrics();
    let mut peer = daemon.greet(json!({}));
    crate::common::open(&mut peer, "s");
    let begin = Instant::now();
    peer.send(&go("first", json!({ "session": "s", "clock": endless() })));
    peer.info("first", "started");
    peer.send(&go("next", json!({ "session": "s", "queue": true, "limit": { "nodes": 1 } })));
    peer.ping();
    thread::sleep(Duration::from_millis(300));
    peer.result(&stop("first"));
    peer.wait("the next answer", |peer| !peer.is_open("next"));
    // Both searches together took no longer than all this twice.
    let (least, most) = (0.3, 2.0 * begin.elapsed().as_secs_f64());
    let scrape = Scrape::of(metrics);
    let times = ["plyd_queue_time_seconds_sum", "plyd_search_time_seconds_sum"].map(|name| scrape.get(name));
    assert!(times.iter().all(|&time| (least..=most).contains(&time)), "{least} to {most}: {times:?}");
    daemon.end();
}

#[test]
fn a_daemon_that_drains_is_alive_and_not_ready() {
    let flags = ["--tcp", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--drain-ms", "4000000000"];
    let daemon = Logged::start(&flags, &[], 1);
    let metrics = daemon.metrics();
    let probe = |path: &str| {
        ask(metrics, &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
    };
    let mut peer = daemon.greet(json!({}));
    peer.send(&go("g", json!({ "clock": endless() })));
    peer.info("g", "started");
    assert!(["/healthz", "/readyz"].iter().all(|path| probe(path).starts_with("HTTP/1.1 200 ")));
    process::signal(&daemon.process, Signal::TERM);
    peer.notice("going_away");
    let ready = probe("/readyz");
    assert!(ready.starts_with("HTTP/1.1 503 ") && ready.contains("the daemon shuts down"), "{ready}");
    assert!(probe("/healthz").starts_with("HTTP/1.1 200 "));
    // The last search ends it.
    peer.result(&stop("g"));
    peer.closed();
    daemon.end();
}
