//! An agent that knows nothing but the tools, by the official client: it plays every game to its end, over a
//! pair of streams and over HTTP, and is refused what it must not have.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use plyd_daemon::{Config, Credentials, Daemon};
use plyd_games::REGISTRY;
use plyd_mcp::{Bounds, Tools, http, serve_stream};
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, GetPromptRequestParams,
    ReadResourceRequestParams,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, RunningService, ServiceExt};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// More moves than a game of these takes.
const LONG: usize = 2000;

type Agent = RunningService<RoleClient, ()>;

fn tools(bounds: Bounds) -> Tools {
    let daemon = Daemon::start(&Config::default(), REGISTRY).unwrap();
    Tools::new(Arc::new(daemon), REGISTRY, bounds, |board| format!("{} pieces", board.pieces.len()))
}

/// An agent at the other end of a pair of streams.
async fn on_streams(bounds: Bounds) -> Agent {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(theirs);
    tokio::spawn(serve_stream(tools(bounds), input, output));
    ().serve(ours).await.unwrap()
}

/// The address of a server over HTTP, with a token if there is one.
async fn over_http(token: Option<&str>) -> String {
    over_http_within(Bounds::default(), token).await
}

/// The same within some bounds.
async fn over_http_within(bounds: Bounds, token: Option<&str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let credentials = Credentials::new(token.map(str::to_owned), None);
    tokio::spawn(http::serve(tools(bounds), listener, &[], credentials, std::future::pending()));
    format!("http://{address}{}", http::PATH)
}

/// An agent that comes over HTTP, with a token and an origin if there are any.
async fn by_http(url: &str, token: Option<&str>, origin: Option<&'static str>) -> Result<Agent, String> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    if let Some(token) = token {
        config = config.auth_header(token);
    }
    let origin = origin.map(|origin| (HeaderName::from_static("origin"), HeaderValue::from_static(origin)));
    let config = config.custom_headers(origin.into_iter().collect::<HashMap<_, _>>());
    ().serve(StreamableHttpClientTransport::from_config(config)).await.map_err(|error| error.to_string())
}

async fn call(agent: &Peer<RoleClient>, tool: &'static str, arguments: Value) -> CallToolResult {
    let arguments = arguments.as_object().unwrap().clone();
    agent.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap()
}

/// What a tool answers; it must not refuse.
async fn answer(agent: &Peer<RoleClient>, tool: &'static str, arguments: Value) -> Value {
    let said = call(agent, tool, arguments.clone()).await;
    assert_ne!(said.is_error, Some(true), "{tool} {arguments}: {said:?}");
    said.structured_content.unwrap()
}

/// The code and the pointer of a refusal.
async fn refusal(agent: &Peer<RoleClient>, tool: &'static str, arguments: Value) -> (String, String) {
    let said = call(agent, tool, arguments).await;
    assert_eq!(said.is_error, Some(true), "{said:?}");
    let error = said.structured_content.unwrap()["error"].take();
    let text = |field: &str| error[field].as_str().unwrap_or_default().to_owned();
    (text("code"), text("pointer"))
}

/// Plays a game to its end: one side takes the engine's moves, the other one of the legal moves in turn.
async fn play_to_the_end(agent: &Peer<RoleClient>, game: &str) {
    play_under(agent, game, json!({})).await;
}

/// The same under some rules.
async fn play_under(agent: &Peer<RoleClient>, game: &str, rules: Value) {
    let begun = answer(agent, "new_game", json!({ "game": game, "rules": rules, "seed": "7" })).await;
    let id = begun["game_id"].clone();
    let (mut standing, mut turn) = (begun, 0);
    while standing["outcome"].is_null() {
        let mv = if standing["to_move"] == "p1" {
            let limit = json!({ "nodes": 200 });
            answer(agent, "best_move", json!({ "game_id": id, "limit": limit })).await["move"].take()
        } else {
            let listed = answer(agent, "legal_moves", json!({ "game_id": id })).await;
            let moves = listed["moves"].as_array().unwrap();
            assert!(!moves.is_empty(), "{game}: {listed}");
            moves[turn * 7 % moves.len()].clone()
        };
        let ply = standing["ply"].as_u64().unwrap();
        standing = answer(agent, "make_move", json!({ "game_id": id, "move": mv })).await;
        assert!(standing["ply"].as_u64().unwrap() > ply, "{game}: {standing}");
        turn += 1;
        assert!(turn < LONG, "{game} does not end: {standing}");
    }
    let drawn = call(agent, "draw_board", json!({ "game_id": id })).await;
    assert_eq!((drawn.is_error, drawn.content.len()), (Some(false), 2), "{game}: a text and a picture");
    let moved = call(agent, "make_move", json!({ "game_id": id, "move": "zz" })).await;
    assert_eq!(moved.is_error, Some(true), "{game} is over");
    let uri = format!("plyd://records/{}", id.as_str().unwrap());
    let record = agent.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
    let record = serde_json::to_value(record).unwrap()["contents"][0]["text"].take();
    let record: Value = serde_json::from_str(record.as_str().unwrap()).unwrap();
    assert_eq!(record["result"], standing["outcome"], "{game}");
    answer(agent, "end_game", json!({ "game_id": id })).await;
}

async fn play_all(agent: &Peer<RoleClient>) {
    let listed = answer(agent, "list_games", json!({})).await;
    let names: Vec<&str> =
        listed["games"].as_array().unwrap().iter().map(|game| game["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), REGISTRY.len());
    for game in names {
        play_to_the_end(agent, game).await;
    }
}

#[tokio::test]
async fn an_agent_plays_every_game_on_streams() {
    let agent = on_streams(Bounds::default()).await;
    play_all(&agent).await;
}

#[tokio::test]
async fn an_agent_plays_every_game_over_http() {
    let url = over_http(Some("secret")).await;
    let agent = by_http(&url, Some("secret"), None).await.unwrap();
    play_all(&agent).await;
}

#[tokio::test]
async fn chance_moves_by_itself() {
    let agent = on_streams(Bounds::default()).await;
    play_under(&agent, "ijk", json!({ "preset": "v2-4x4", "mode": "nondet" })).await;
}

#[tokio::test]
async fn a_server_with_too_many_calls_refuses_more() {
    let agent = on_streams(Bounds { calls: 1, ..Bounds::default() }).await;
    let id = answer(&agent, "new_game", json!({ "game": "sudoku" })).await["game_id"].take();
    let search = || refusal_or_move(&agent, json!({ "game_id": id, "limit": { "time_ms": 2000 } }));
    let (first, second) = tokio::join!(search(), search());
    let mut said = [first, second];
    said.sort();
    assert_eq!(said, ["move", "overloaded"]);
}

#[tokio::test]
async fn a_picture_that_nobody_waits_for_keeps_its_place_until_it_is_drawn() {
    let agent = on_streams(Bounds { calls: 1, ..Bounds::default() }).await;
    let large = json!({ "game": "sudoku", "rules": { "m": 5, "n": 5 } });
    let id = answer(&agent, "new_game", large).await["game_id"].take();
    let picture = json!({ "game_id": id, "as": "image" });
    let since = tokio::time::Instant::now();
    answer_of(&agent, "draw_board", &picture).await;
    let takes = since.elapsed();
    let mut is_kept = false;
    // One may be drawn far sooner than the first, on a busy machine.
    for _ in 0..20 {
        let arguments = picture.as_object().unwrap().clone();
        let params = CallToolRequestParams::new("draw_board").with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let drawing = agent.send_cancellable_request(request, PeerRequestOptions::default()).await.unwrap();
        tokio::time::sleep(takes / 10).await;
        drawing.cancel(None).await.unwrap();
        tokio::time::sleep(takes / 10).await;
        is_kept |= answer_of(&agent, "list_games", &json!({})).await == "overloaded";
        while answer_of(&agent, "list_games", &json!({})).await == "overloaded" {
            tokio::time::sleep(takes / 10).await;
        }
        if is_kept {
            break;
        }
    }
    assert!(is_kept);
}

/// The code of the refusal, if it is one.
async fn answer_of(agent: &Peer<RoleClient>, tool: &'static str, arguments: &Value) -> String {
    let said = call(agent, tool, arguments.clone()).await.structured_content.unwrap_or_default();
    said["error"]["code"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn half_a_request_does_not_keep_the_server_from_ending() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (end, is_over) = tokio::sync::oneshot::channel::<()>();
    let end_of_it = async { drop(is_over.await) };
    let credentials = Credentials::new(None, None);
    // Without the bound it lasts for the longest call, and this is far longer than the test waits.
    let bounds = Bounds { search: Duration::from_secs(6000), ..Bounds::default() };
    let bounds = Bounds { silence: Duration::from_secs(6000), ..bounds };
    let served = tokio::spawn(http::serve(tools(bounds), listener, &[], credentials, end_of_it));
    let mut half = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
        Accept: application/json, text/event-stream\r\nContent-Length: 1000\r\n\r\n{{",
        http::PATH
    );
    half.write_all(head.as_bytes()).await.unwrap();
    // One that comes later is answered, so the half is there, too.
    let url = format!("http://{address}{}", http::PATH);
    asked_until_let_in(&url).await;
    end.send(()).unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(120), served).await;
    ended.expect("it ends").unwrap().unwrap();
}

/// `move` if the engine finds one, else the code of the refusal.
async fn refusal_or_move(agent: &Peer<RoleClient>, arguments: Value) -> String {
    let said = call(agent, "best_move", arguments).await.structured_content.unwrap();
    let code = said["error"]["code"].as_str();
    code.map_or_else(|| if said["move"].is_string() { "move" } else { "nothing" }.to_owned(), str::to_owned)
}

/// A connection of an HTTP client of its own.
async fn connected(url: &str) -> BufReader<TcpStream> {
    let address = url.strip_prefix("http://").unwrap().trim_end_matches(http::PATH);
    BufReader::new(TcpStream::connect(address).await.unwrap())
}

/// The status of the answer to a question that leaves a connection open, if that is still there.
async fn asked(connection: &mut BufReader<TcpStream>) -> Option<u16> {
    let address = connection.get_ref().peer_addr().unwrap();
    let request = format!("OPTIONS {} HTTP/1.1\r\nHost: {address}\r\n\r\n", http::PATH);
    connection.write_all(request.as_bytes()).await.ok()?;
    let mut status = String::new();
    connection.read_line(&mut status).await.ok().filter(|count| *count > 0)?;
    let mut line = String::new();
    while connection.read_line(&mut line).await.unwrap() > 2 {
        line.clear();
    }
    status.split(' ').nth(1).and_then(|number| number.parse().ok())
}

/// Asks over new connections until one is let in; each that is not is refused by its status.
async fn asked_until_let_in(url: &str) -> BufReader<TcpStream> {
    let within = tokio::time::Instant::now() + Duration::from_secs(60);
    loop {
        let mut connection = connected(url).await;
        match asked(&mut connection).await {
            Some(204) => return connection,
            // Its silence may have ended it, on a busy machine.
            None | Some(503) => {}
            status => panic!("{status:?}"),
        }
        assert!(tokio::time::Instant::now() < within, "nobody is let in");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn connections_beyond_the_most_are_refused_until_others_end() {
    let url = over_http_within(Bounds { connections: 2, ..Bounds::default() }, None).await;
    let (mut first, mut second) = (connected(&url).await, connected(&url).await);
    assert_eq!((asked(&mut first).await, asked(&mut second).await), (Some(204), Some(204)));
    let mut third = connected(&url).await;
    assert_eq!(asked(&mut third).await, Some(503));
    let mut rest = Vec::new();
    third.read_to_end(&mut rest).await.unwrap();
    assert!(String::from_utf8_lossy(&rest).starts_with("too many connections"), "and it is closed");
    assert_eq!(asked(&mut first).await, Some(204), "those that are there go on");
    drop(second);
    let mut other = asked_until_let_in(&url).await;
    assert_eq!((asked(&mut first).await, asked(&mut other).await), (Some(204), Some(204)));
}

#[tokio::test]
async fn a_connection_that_brings_no_request_keeps_nobody_out() {
    let bounds = Bounds { connections: 1, silence: Duration::from_millis(100), ..Bounds::default() };
    let url = over_http_within(bounds, None).await;
    let mut silent = connected(&url).await;
    asked_until_let_in(&url).await;
    assert_eq!(asked(&mut silent).await, None, "it was closed");
}

#[tokio::test]
async fn a_connection_that_leaves_its_answers_unread_keeps_nobody_out() {
    let bounds = Bounds { connections: 1, silence: Duration::from_millis(100), ..Bounds::default() };
    let url = over_http_within(bounds, None).await;
    let address = url.strip_prefix("http://").unwrap().trim_end_matches(http::PATH);
    let socket = TcpSocket::new_v4().unwrap();
    // Small, so that a few answers fill it.
    socket.set_recv_buffer_size(4096).unwrap();
    let mut unread = socket.connect(address.parse().unwrap()).await.unwrap();
    let request = format!("OPTIONS {} HTTP/1.1\r\nHost: {address}\r\n\r\n", http::PATH);
    let asking = async {
        let mut status = [0; 12];
        // It asks on and on, so that it is not closed for its silence.
        while unread.write_all(request.as_bytes()).await.is_ok() {
            if status[0] == 0 {
                unread.peek(&mut status).await.unwrap();
            }
        }
        assert_eq!(status, *b"HTTP/1.1 204", "it is let in");
    };
    tokio::time::timeout(Duration::from_secs(60), asking).await.expect("it is closed");
    asked_until_let_in(&url).await;
}

#[tokio::test]
async fn who_has_no_token_or_a_foreign_origin_stays_outside() {
    let url = over_http(Some("secret")).await;
    assert!(by_http(&url, None, None).await.is_err());
    assert!(by_http(&url, Some("other"), None).await.is_err());
    assert!(by_http(&url, Some("secret"), Some("https://evil.example")).await.is_err());
    assert!(by_http(&url, Some("secret"), None).await.is_ok());
}

#[tokio::test]
async fn the_browser_of_a_page_that_is_let_in_gets_to_know_that() {
    let url = over_http(Some("secret")).await;
    let asked = |origin: &str| {
        let asked = reqwest::Client::new().request(reqwest::Method::OPTIONS, &url).header("origin", origin);
        asked.header("access-control-request-method", "POST").send()
    };
    let own = url.trim_end_matches("/mcp");
    let answer = asked(own).await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["access-control-allow-origin"]),
        (204, &own.parse().unwrap())
    );
    let refused = asked("https://evil.example").await.unwrap();
    assert_eq!(
        (refused.status().as_u16(), refused.headers().get("access-control-allow-origin")),
        (403, None)
    );
}

#[tokio::test]
async fn each_refusal_says_what_is_wrong_and_where() {
    let bounds = Bounds { games: 1, search: Duration::from_secs(2), ..Bounds::default() };
    let agent = on_streams(bounds).await;
    let at = |code: &str, pointer: &str| (code.to_owned(), pointer.to_owned());
    assert_eq!(refusal(&agent, "new_game", json!({"game": "chess"})).await, at("game_unknown", "/game"));
    assert_eq!(refusal(&agent, "new_game", json!({})).await, at("missing_field", "/game"));
    let sized = json!({"game": "colosseum", "rules": {"size": 99}});
    assert_eq!(refusal(&agent, "new_game", sized).await, at("rules_unsupported", "/rules/size"));
    let moved = json!({"game": "isolation", "moves": ["d4", "zz"]});
    assert_eq!(refusal(&agent, "new_game", moved).await, at("illegal_move", "/moves/1"));
    let id = answer(&agent, "new_game", json!({"game": "isolation"})).await["game_id"].take();
    assert_eq!(refusal(&agent, "new_game", json!({"game": "ijk"})).await, at("too_many_sessions", ""));
    let asked = |more: Value| {
        let mut asked = more;
        asked["game_id"] = id.clone();
        asked
    };
    assert_eq!(refusal(&agent, "make_move", asked(json!({"move": "zz"}))).await, at("illegal_move", "/move"));
    let long = asked(json!({"limit": {"time_ms": 2001}}));
    assert_eq!(refusal(&agent, "best_move", long).await, at("out_of_range", "/limit/time_ms"));
    let wrong = asked(json!({"limit": {"nodes": "many"}}));
    assert_eq!(refusal(&agent, "analyse", wrong).await, at("wrong_type", "/limit/nodes"));
    assert_eq!(
        refusal(&agent, "best_move", asked(json!({"level": 99}))).await,
        at("option_invalid", "/level")
    );
    assert_eq!(refusal(&agent, "draw_board", asked(json!({"as": "film"}))).await, at("bad_enum", "/as"));
    assert_eq!(refusal(&agent, "legal_moves", asked(json!({"more": 1}))).await, at("unknown_field", "/more"));
    assert_eq!(
        refusal(&agent, "legal_moves", json!({"game_id": "g1"})).await,
        at("session_unknown", "/game_id")
    );
    assert_eq!(refusal(&agent, "undo", json!({})).await, at("unknown_cmd", ""));
}

#[tokio::test]
async fn a_game_is_analysed_reviewed_and_drawn() {
    let agent = on_streams(Bounds::default()).await;
    let begun = json!({"game": "isolation", "rules": {"width": 4, "height": 4}, "moves": ["a1", "d4", "b3"]});
    let id = answer(&agent, "new_game", begun).await["game_id"].take();
    let found =
        answer(&agent, "analyse", json!({"game_id": id, "limit": {"nodes": 100_000}, "lines": 2})).await;
    let lines = found["lines"].as_array().unwrap();
    assert!(lines.len() <= 2 && lines[0]["score"]["proof"].is_object(), "4x4 is solved: {found}");
    let review = answer(&agent, "review_game", json!({"game_id": id, "time_ms": 2000})).await;
    let moves = review["moves"].as_array().unwrap();
    assert_eq!(moves.len(), 3, "{review}");
    assert!(moves.iter().all(|reviewed| reviewed["mark"].is_string()), "{review}");
    let drawn = serde_json::to_value(call(&agent, "draw_board", json!({"game_id": id})).await).unwrap();
    assert!(drawn["content"][0]["text"].as_str().unwrap().ends_with("pieces"), "{drawn}");
    assert_eq!(drawn["content"][1]["mimeType"], "image/png");
    assert!(
        drawn["content"][1]["data"].as_str().unwrap().starts_with("iVBORw0KGgo"),
        "the signature of a PNG"
    );
}

#[tokio::test]
async fn rules_and_prompts_are_there_to_be_read() {
    let agent = on_streams(Bounds::default()).await;
    let resources = agent.list_all_resources().await.unwrap();
    assert_eq!(resources.len(), REGISTRY.len());
    for resource in resources {
        let read = agent.read_resource(ReadResourceRequestParams::new(resource.uri.clone())).await.unwrap();
        let text = serde_json::to_value(read).unwrap()["contents"][0]["text"].take();
        let rules: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
        assert!(resource.uri.ends_with(rules["name"].as_str().unwrap()), "{rules}");
    }
    assert!(agent.read_resource(ReadResourceRequestParams::new("plyd://rules/chess")).await.is_err());
    let names: Vec<String> =
        agent.list_all_prompts().await.unwrap().into_iter().map(|prompt| prompt.name).collect();
    assert_eq!(names, ["play", "analyse"]);
    let asked = |arguments: Value| {
        GetPromptRequestParams::new("play").with_arguments(arguments.as_object().unwrap().clone())
    };
    let prompt =
        serde_json::to_string(&agent.get_prompt(asked(json!({"game": "ijk"}))).await.unwrap()).unwrap();
    assert!(prompt.contains("ijk") && prompt.contains("new_game"), "{prompt}");
    assert!(agent.get_prompt(asked(json!({}))).await.is_err());
}
