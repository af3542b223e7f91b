//! What holds for every request: methods, files, headers, and limits.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use plyd_ladder::pages::{Limits, Settings};
use tokio::task::JoinSet;

use super::site::{Site, request, settings};

#[tokio::test]
async fn methods_are_those_that_an_address_has() {
    let site = Site::new();
    for (method, path, status) in [
        (Method::GET, "/", 200),
        (Method::HEAD, "/", 200),
        (Method::HEAD, "/api/v1/pools", 200),
        (Method::HEAD, "/static/ladder.css", 200),
        (Method::HEAD, "/nothing", 404),
        (Method::POST, "/", 405),
        (Method::DELETE, "/api/v1/pools", 405),
        (Method::GET, "/owner/bots", 405),
        (Method::PUT, "/static/ladder.css", 405),
        (Method::POST, "/nothing", 404),
    ] {
        let answer = site.ask(request(method.clone(), path).body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status.as_u16(), status, "{method} {path}");
        if method == Method::HEAD {
            assert_eq!(answer.text, "", "{path}");
        }
        if status == 405 {
            assert!(answer.headers.contains_key("allow"), "{method} {path}");
        }
        let kind = answer.headers["content-type"].to_str().unwrap();
        if status >= 400 {
            let expected = if path.starts_with("/api/") {
                "application/problem+json"
            } else {
                "text/html; charset=utf-8"
            };
            assert_eq!(kind, expected, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn only_listed_files_are_served() {
    let site = Site::new();
    for (path, status) in [
        ("/static/ladder.css", 200),
        ("/static/game.js", 200),
        ("/gui/board.js", 200),
        ("/gui/style.css", 200),
        ("/gui/index.html", 404),
        ("/gui/", 404),
        ("/static/", 404),
        ("/static/../Cargo.toml", 404),
        ("/static/..%2fmod.rs", 404),
        ("/static/%2e%2e%2fmod.rs", 404),
        ("/static/ladder.css%00", 404),
        ("/gui/../Cargo.toml", 404),
        ("/gui/..%2f..%2fCargo.toml", 404),
        ("/gui/%2e%2e/%2e%2e/etc/passwd", 404),
        ("/gui//etc/passwd", 404),
        ("/gui/%ff", 400),
    ] {
        assert_eq!(site.get(path).await.status.as_u16(), status, "{path}");
    }
    // What the pages' modules import is served.
    for script in ["/static/events.js", "/static/game.js", "/static/games.js"] {
        let text = site.page(script).await;
        let imports = text.lines().filter_map(|line| line.strip_prefix("import ")?.split('\'').nth(1));
        for path in imports {
            site.page(path).await;
        }
    }
}

#[tokio::test]
async fn a_browser_runs_nothing_that_is_no_file_of_the_site() {
    let site = Site::new();
    site.play([site.bots[0], site.bots[2]], [2, 2]).await;
    for path in ["/", "/pool/1", "/bot/2", "/games", "/game/1", "/api", "/owner", "/join?link=x", "/nothing"]
    {
        let answer = site.get(path).await;
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{path}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.headers[name], value, "{path}");
        }
        // The policy would forbid it, and the page would be broken.
        for forbidden in [" style=", "<style", " onclick=", "javascript:", "<script>"] {
            assert!(!answer.text.contains(forbidden), "{path}: {forbidden}");
        }
        for tag in answer.text.split("<script").skip(1) {
            assert!(tag.starts_with(" type=\"module\" src=\"/static/"), "{path}: {tag}");
        }
        assert!(answer.text.contains("<html lang=\"en\">") && answer.text.contains("<main"), "{path}");
        assert_eq!(answer.text.matches("<h1>").count(), 1, "{path}");
    }
}

#[tokio::test]
async fn whoever_asks_too_often_waits_and_others_do_not() {
    let limits = Limits { burst: 3, requests_a_second: 0, ..settings().limits };
    let site = Site::with(Settings { limits, behind_proxy: true, ..settings() });
    let ask = |address: &'static str, path: &'static str| {
        let builder = request(Method::GET, path).header("x-forwarded-for", address);
        site.ask(builder.body(Body::empty()).unwrap())
    };
    for _ in 0..3 {
        assert_eq!(ask("198.51.100.1", "/api").await.status, StatusCode::OK);
    }
    let refused = ask("198.51.100.1", "/api/v1/pools").await;
    assert_eq!((refused.status.as_u16(), refused.headers["retry-after"].to_str().ok()), (429, Some("1")));
    assert!(refused.text.contains("\"code\":\"too_many_requests\""), "{}", refused.text);
    let page = ask("198.51.100.1", "/").await;
    assert_eq!((page.status.as_u16(), page.headers["retry-after"].to_str().ok()), (429, Some("1")));
    assert!(page.text.contains("you ask too often"), "{}", page.text);
    // A page that was refused is loaded again by the browser. Answers of the API are a program's to ask for,
    // and a form is not sent twice.
    assert_eq!(page.headers["refresh"], "1");
    assert!(page.text.contains("tries again by itself"), "{}", page.text);
    assert!(!refused.headers.contains_key("refresh"));
    let form = request(Method::POST, "/owner/log-out").header("x-forwarded-for", "198.51.100.1");
    let form = site.ask(form.body(Body::empty()).unwrap()).await;
    assert_eq!((form.status.as_u16(), form.headers.contains_key("refresh")), (429, false));
    assert!(!form.text.contains("tries again by itself"), "{}", form.text);
    assert_eq!(ask("198.51.100.2", "/api").await.status, StatusCode::OK);
}

#[tokio::test]
async fn requests_are_bounded() {
    let site = Site::new();
    let long = format!("/?{}", "a".repeat(5000));
    assert_eq!(site.get(&long).await.status, StatusCode::BAD_REQUEST);
    let form = request(Method::POST, "/join").header("content-type", "application/x-www-form-urlencoded");
    let body = format!("csrf=a&link={}", "b".repeat(1 << 20));
    let answer = site.ask(form.body(body.into()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE, "{}", answer.text);
    let json = request(Method::POST, "/join").header("content-type", "application/json");
    let answer = site.ask(json.body("{}".into()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.text);
    // A database that is too busy.
    let limits = Limits { at_once: 0, turn_within: Duration::ZERO, ..settings().limits };
    let site = Site::with(Settings { limits, ..settings() });
    let answer = site.get("/api/v1/pools").await;
    assert_eq!((answer.status.as_u16(), answer.headers["retry-after"].to_str().ok()), (503, Some("1")));
    assert!(answer.text.contains("\"code\":\"overloaded\""), "{}", answer.text);
    let page = site.get("/").await;
    assert_eq!((page.status.as_u16(), page.headers["refresh"].to_str().ok()), (503, Some("1")));
    // A page that is not there is not there a second later either.
    assert!(!site.get("/nothing").await.headers.contains_key("refresh"));
}

#[tokio::test]
async fn all_who_come_at_once_are_answered_one_after_the_other() {
    let limits = Limits { at_once: 1, turn_within: Duration::from_secs(3600), ..settings().limits };
    let site = Arc::new(Site::with(Settings { limits, ..settings() }));
    site.play([site.bots[0], site.bots[2]], [2, 0]).await;
    let mut answers = JoinSet::new();
    for _ in 0..50 {
        for path in ["/", "/games", "/game/1", "/api/v1/pools"] {
            let site = Arc::clone(&site);
            answers.spawn(async move { site.get(path).await });
        }
    }
    while let Some(answer) = answers.join_next().await {
        let answer = answer.unwrap();
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    }
}
