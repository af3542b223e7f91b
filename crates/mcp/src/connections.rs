//! The connections over HTTP: how many there are at once, and how long one may be silent or leave an answer
//! unread. Knows no tool.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use plyd_protocol::write_timeout::WriteTimeout;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How many clients that find no place are told so at once; further ones are closed without a word.
const REFUSED: usize = 64;

/// How long it may take to tell one of them.
const REFUSED_WITHIN: Duration = Duration::from_secs(5);

/// How long that may take at the end for the requests that are there; their calls are cancelled by then.
const FAREWELL: Duration = Duration::from_secs(5);

/// Serves connections until `end`, `most` at once; then the requests that are there are answered. A
/// connection over which no request comes, or which takes nothing of an answer, for the time `silence` is
/// closed.
pub(crate) async fn serve(
    mut listener: TcpListener,
    router: Router,
    most: usize,
    silence: Duration,
    end: impl Future<Output = ()>,
) {
    let (places, refusals) = (Arc::new(Semaphore::new(most)), Arc::new(Semaphore::new(REFUSED)));
    let (stopping, is_stopping) = watch::channel(());
    let mut served = JoinSet::new();
    let mut end = pin!(end);
    loop {
        let (stream, _) = tokio::select! {
            connection = Listener::accept(&mut listener) => connection,
            Some(_over) = served.join_next() => continue,
            () = &mut end => break,
        };
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            served.spawn(attend(stream, router.clone(), silence, is_stopping.clone(), place));
        } else if let Ok(place) = Arc::clone(&refusals).try_acquire_owned() {
            served.spawn(refuse(stream, place));
        }
    }
    drop((listener, stopping));
    // Half a request may never become a whole one; what is left is dropped with the set.
    let _cut_off = timeout(FAREWELL, async { while served.join_next().await.is_some() {} }).await;
}

/// Serves a connection to its end; once the server stops, to the end of the request that is there.
async fn attend(
    stream: TcpStream,
    router: Router,
    silence: Duration,
    mut stop: watch::Receiver<()>,
    place: OwnedSemaphorePermit,
) {
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(silence);
    let stream = TokioIo::new(WriteTimeout::new(stream, silence));
    let connection = server.serve_connection(stream, TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    let _broke_off = tokio::select! {
        ended = connection.as_mut() => ended,
        // The sender is never used, but dropped.
        _ = stop.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    drop(place);
}

/// Answers a request that there is no place for its connection, and closes that.
async fn refuse(stream: TcpStream, place: OwnedSemaphorePermit) {
    let refusing = service_fn(|_: Request<Incoming>| async { Ok::<Response, Infallible>(busy()) });
    let connection = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), refusing);
    let _broke_off = timeout(REFUSED_WITHIN, connection).await;
    drop(place);
}

fn busy() -> Response {
    let message = "too many connections: try again later, or over one that is there\n";
    (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "1")], message).into_response()
}
