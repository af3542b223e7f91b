//! Servers that end, fall silent, flood or talk nonsense: each is a typed error of both engines, in time.

#![allow(clippy::unwrap_used)]

use std::process::Command;
use std::time::Duration;

use plyd_client::{Client, ClientError, Engine, Error, Game, Limit, LineError, blocking, greeting};
use plyd_protocol::{
    Clock, Command as Request, Envelope, ErrorCode, Message, Ping, ResultBody, ResultMessage,
};
use tokio::runtime::{Builder, Runtime};

/// How long an answer may take where none is to come.
const SHORT: Duration = Duration::from_millis(200);
/// How long it may take where it comes, however busy the machine is.
const LONG: Duration = Duration::from_secs(60);

const PONG: &str = r#"{"seq":2,"t_us":6,"type":"result","id":"2","of":"ping"}"#;
const NOTICE: &str = r#"{"seq":2,"t_us":6,"type":"notice","kind":"warning","message":"more to come"}"#;
const INFO: &str = r#"{"seq":2,"t_us":6,"type":"info","id":"2","event":"best","lines":[],"stats":{"nodes":0,"nps":0,"time_ms":0,"depth":0,"seldepth":0,"hash_ppm":0}}"#;

/// A server that says a good hello, and goes on by a shell script, whose `$2` is a text.
fn server(script: &str, text: &str) -> Client {
    let body = ResultBody::Hello(Box::default());
    let message = Message::Result(Box::new(ResultMessage { id: "1".into(), body }));
    let hello = serde_json::to_string(&Envelope { seq: 1, t_us: 5, message }).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("read -r hello; printf '%s\\n' \"$1\"\n{script}"), "sh", &hello, text]);
    Client::spawn(command).unwrap()
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// What the two engines say to that server when they ask for a sign of life.
fn pings(script: &str, text: &str, timeout: Duration) -> [Result<(), Error>; 2] {
    let mut engine = blocking::Engine::over(server(script, text), greeting()).unwrap();
    engine.set_timeout(timeout);
    let blocked = engine.ping();
    let waited = runtime().block_on(async {
        let mut engine = Engine::over(server(script, text), greeting()).await.unwrap();
        engine.set_timeout(timeout);
        engine.ping().await
    });
    [blocked, waited]
}

fn is_line(error: &Error, wanted: fn(&LineError) -> bool) -> bool {
    matches!(error, Error::Connection(ClientError::Line(line)) if wanted(line))
}

#[test]
fn whatever_a_server_says_is_an_answer_or_a_typed_error() {
    let refused = r#"{"seq":2,"t_us":6,"type":"error","id":"2","line":2,"code":"bad_enum","message":"no such word","pointer":"/what","fatal":false}"#;
    type Check = fn(&Result<(), Error>) -> bool;
    let table: [(&str, &str, Check); 12] = [
        ("read -r ping; echo \"$2\"", PONG, Result::is_ok),
        ("read -r ping; echo; echo \"$2\"", PONG, Result::is_ok),
        ("read -r ping", "", |got| {
            is_line(got.as_ref().unwrap_err(), |line| matches!(line, LineError::Closed))
        }),
        (
            "read -r ping; echo hello",
            "",
            |got| matches!(got, Err(Error::Connection(ClientError::Garbled { line, .. })) if line == "hello"),
        ),
        ("read -r ping; echo '{\"type\":\"result\"}'", "", |got| {
            matches!(got, Err(Error::Connection(ClientError::Garbled { .. })))
        }),
        // The answer to some questions has more than the MiB that a request may have.
        (
            "read -r ping; echo \"$2\" | sed 's/}$//' | tr -d '\\n'; printf ',\"echo\":\"'; head -c 2000000 /dev/zero | tr '\\0' x; echo '\"}'",
            PONG,
            Result::is_ok,
        ),
        ("read -r ping; head -c 70000000 /dev/zero", "", |got| {
            is_line(got.as_ref().unwrap_err(), |line| matches!(line, LineError::TooLong(_)))
        }),
        ("read -r ping; echo \"$2\" | sed 's/\"2\"/\"99\"/'", PONG, |got| matches!(got, Err(Error::Unasked))),
        ("read -r ping; echo \"$2\" | sed 's/\"2\"/\"x\"/'", PONG, |got| matches!(got, Err(Error::Unasked))),
        ("read -r ping; echo \"$2\"", INFO, |got| matches!(got, Err(Error::Unasked))),
        ("read -r ping; echo \"$2\"", refused, |got| {
            let error = got.as_ref().unwrap_err();
            (error.code(), error.pointer()) == (Some(ErrorCode::BadEnum), Some("/what"))
        }),
        ("read -r ping; echo \"$2\" | sed 's/\"id\":\"2\"/\"id\":null/'", refused, |got| {
            got.as_ref().unwrap_err().code() == Some(ErrorCode::BadEnum)
        }),
    ];
    for (script, text, is_right) in table {
        for got in pings(script, text, LONG) {
            assert!(is_right(&got), "{script}: {got:?}");
        }
    }
}

#[test]
fn a_search_that_is_stopped_while_the_server_is_overloaded_is_not_asked_for_again() {
    let overloaded = r#"{"seq":2,"t_us":6,"type":"error","id":"2","line":2,"code":"overloaded","message":"busy","retry_ms":5000,"fatal":false}"#;
    let script = "read -r go; echo \"$2\"; while read -r line; do echo \"$line\"; done";
    runtime().block_on(async {
        let mut engine = Engine::over(server(script, overloaded), greeting()).await.unwrap();
        let game = Game::named("isolation");
        let mut search = engine.go(&game, &Limit::per_move(LONG)).await.unwrap();
        assert!(tokio::time::timeout(SHORT, search.next()).await.is_err(), "it pauses");
        assert_eq!(search.stop().await.unwrap_err().code(), Some(ErrorCode::Overloaded));
        assert!(search.next().await.unwrap().is_none());
    });
}

#[test]
fn a_server_that_is_silent_or_floods_is_waited_for_no_longer_than_allowed() {
    for (script, text) in [("exec sleep 1000", ""), ("exec yes \"$2\"", NOTICE), ("exec yes ''", "")] {
        for got in pings(script, text, SHORT) {
            let error = got.unwrap_err();
            assert!(is_line(&error, |line| matches!(line, LineError::TimedOut)), "{script}: {error}");
        }
    }
}

#[test]
fn a_server_that_does_not_read_is_given_up() {
    // More than a pipe holds.
    let long = || Request::Ping(Ping { echo: Some("x".repeat(1 << 20)) });
    let mut engine = blocking::Engine::over(server("exec sleep 1000", ""), greeting()).unwrap();
    engine.set_timeout(SHORT);
    let blocked = engine.ask(long()).unwrap_err();
    let waited = runtime().block_on(async {
        let mut engine = Engine::over(server("exec sleep 1000", ""), greeting()).await.unwrap();
        engine.set_timeout(SHORT);
        engine.ask(long()).await.unwrap_err()
    });
    for error in [blocked, waited] {
        assert!(is_line(&error, |line| matches!(line, LineError::Unread)), "{error}");
    }
}

#[test]
fn a_request_longer_than_a_pipe_is_sent_whole_to_a_server_that_reads_late() {
    // It says how long the second line was.
    let script = "count=$(head -n 1 | wc -c); echo \"$2\" | sed \"s/}/,\\\"echo\\\":\\\"$count\\\"}/\"";
    let long = || Request::Ping(Ping { echo: Some("x".repeat(1 << 19)) });
    let is_whole = |body: ResultBody| match body {
        ResultBody::Ping(ping) => ping.echo.unwrap().parse::<usize>().unwrap() > 1 << 19,
        _ => false,
    };
    let mut engine = blocking::Engine::over(server(script, PONG), greeting()).unwrap();
    engine.set_timeout(LONG);
    assert!(is_whole(engine.ask(long()).unwrap()));
    let waited = runtime().block_on(async {
        let mut engine = Engine::over(server(script, PONG), greeting()).await.unwrap();
        engine.set_timeout(LONG);
        engine.ask(long()).await.unwrap()
    });
    assert!(is_whole(waited));
}

#[test]
fn a_search_that_talks_without_end_is_overdue() {
    let game = Game::named("isolation");
    let clock = Clock::Increment { me_ms: 1, opp_ms: None, inc_ms: 0, opp_inc_ms: None, moves_to_go: None };
    for limit in [Limit::per_move(Duration::from_millis(1)), Limit::clock(clock)] {
        let mut engine = blocking::Engine::over(server("exec yes \"$2\"", INFO), greeting()).unwrap();
        engine.set_timeout(SHORT);
        let blocked = engine.go(&game, &limit).and_then(blocking::Search::best).unwrap_err();
        let waited = runtime().block_on(async {
            let mut engine = Engine::over(server("exec yes \"$2\"", INFO), greeting()).await.unwrap();
            engine.set_timeout(SHORT);
            engine.go(&game, &limit).await.unwrap().best().await.unwrap_err()
        });
        for error in [blocked, waited] {
            assert!(is_line(&error, |line| matches!(line, LineError::TimedOut)), "{limit:?}: {error}");
        }
    }
}

#[test]
fn a_flood_leaves_other_tasks_their_turn() {
    runtime().block_on(async {
        let mut engine = Engine::over(server("exec yes \"$2\"", NOTICE), greeting()).await.unwrap();
        engine.set_timeout(LONG);
        // The other task ends the wait; if it never had its turn, the flood would last for a minute.
        tokio::select! {
            got = engine.ping() => panic!("{got:?}"),
            () = tokio::time::sleep(Duration::from_millis(1)) => {}
        }
    });
}

#[test]
fn an_answer_that_was_given_up_is_passed_over() {
    // It answers the first ping together with the second.
    let script = "read -r a; read -r b; echo \"$2\"; echo \"$2\" | sed 's/\"2\"/\"3\"/'";
    runtime().block_on(async {
        let mut engine = Engine::over(server(script, PONG), greeting()).await.unwrap();
        engine.set_timeout(LONG);
        tokio::select! {
            biased;
            got = engine.ping() => panic!("{got:?}"),
            () = std::future::ready(()) => {}
        }
        engine.ping().await.unwrap();
    });
}
