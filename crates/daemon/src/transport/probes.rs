//! A port for monitors of the daemon: its numbers for Prometheus, and whether it lives and takes work.
//!
//! No client is served here, nothing is changed, and no token is asked for.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tungstenite::http::header::HOST;
use tungstenite::http::{Method, Request, StatusCode};

use super::http::{self, Answer};
use super::net::{pause, prepare};
use super::newcomers::{Newcomers, Progress};
use super::reading::drain;
use super::web::VISITORS;
use crate::metrics::{exposition, scrape};
use crate::runtime::Shared;
use crate::site::Guard;
use crate::state::refusals::Refusal;
use plyd_core::search::clock::now_ns;

/// What the text of the metrics is.
const EXPOSITION: &str = "text/plain; version=0.0.4; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// What is found at the root, for people.
const INDEX: &str = "\
/metrics  numbers, for Prometheus
/healthz  200 if the daemon lives, 503 if it must be started again
/readyz   200 if it takes new work, 503 if not
";

/// Answers monitors forever.
pub(crate) async fn accept(shared: Arc<Shared>, listener: Arc<TcpListener>, address: SocketAddr) {
    // On a loopback address, a `Host` that does not name it is of a page in a browser (DNS rebinding), not of
    // a monitor; other machines may know this one by any name.
    let guard = address.ip().to_canonical().is_loopback().then(|| Guard::new(address.ip(), &[]));
    let visitors = Newcomers::new(Refusal::Visitors);
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                prepare(&shared, &stream);
                let visit = |progress| visit(Arc::clone(&shared), guard.clone(), stream, progress);
                visitors.begin(&shared, peer, VISITORS, visit);
            }
            Err(error) => pause(&error).await,
        }
    }
}

/// Answers a monitor until it leaves or is turned away.
async fn visit(shared: Arc<Shared>, guard: Option<Guard>, mut stream: TcpStream, progress: Progress) {
    let mut ahead = Vec::new();
    loop {
        let (answer, is_head_only) = match http::next_request(&mut stream, &mut ahead).await {
            Ok(None) => return,
            Err(refusal) => (refusal, false),
            Ok(Some(request)) => {
                (answer(&shared, guard.as_ref(), &request), request.method() == Method::HEAD)
            }
        };
        if http::write(&mut stream, &answer, is_head_only).await.is_err() {
            return;
        }
        if answer.is_last {
            break;
        }
        progress.note();
    }
    if stream.shutdown().await.is_ok() {
        drain(&shared, stream).await;
    }
}

fn answer(shared: &Shared, guard: Option<&Guard>, request: &Request<()>) -> Answer {
    if let Err(refusal) = http::refuse_changes(request) {
        return refusal;
    }
    // Probes of HTTP/1.0 name no host; browsers always do.
    let is_foreign = guard.is_some_and(|guard| {
        let hosts = request.headers().get_all(HOST).iter();
        hosts.into_iter().any(|host| !host.to_str().is_ok_and(|host| guard.knows_host(host)))
    });
    if is_foreign {
        return Answer::refusal(StatusCode::FORBIDDEN, "this is for localhost, under no other name");
    }
    let mut answer = match request.uri().path() {
        "/" => Answer::found(TEXT, INDEX.as_bytes()),
        "/metrics" => Answer::found(EXPOSITION, exposition(&scrape(shared, now_ns())).as_bytes()),
        "/healthz" => verdict(shared.lock().health(now_ns())),
        "/readyz" => verdict(shared.lock().readiness(now_ns())),
        _ => return Answer::refusal(StatusCode::NOT_FOUND, "there are /metrics, /healthz and /readyz"),
    };
    answer.is_last |= http::wants_close(request);
    answer
}

/// The answer to a probe.
fn verdict(found: Result<(), &'static str>) -> Answer {
    match found {
        Ok(()) => Answer::found(TEXT, b"ok\n"),
        Err(what) => Answer::refusal(StatusCode::SERVICE_UNAVAILABLE, what),
    }
}
