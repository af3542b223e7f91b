//! TCP and Unix sockets: two tasks for each connection, all on one thread.
//!
//! That thread decodes short lines only; long ones are decoded on a thread beside it, so that nobody waits for them but
//! the connection that sent them.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use plyd_protocol as wire;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Notify;

use super::{Form, Next, Received, Signal, foreign, next_messages};
use crate::daemon::Shared;
use crate::daemon::conn::Origin;
use crate::daemon::session::Arrival;
use crate::daemon::state::ConnId;
use crate::framing::{Event, Framing};
use crate::search::clock::now_ns;

/// Small enough that a peer that floods the daemon leaves the others their turn.
pub(super) const READ_BYTES: usize = 16 << 10;
/// The longest line that is decoded on the one thread that serves all connections.
const SHORT_LINE: usize = 16 << 10;
/// How long a closing connection still reads what the peer sends: closing with unread bytes would reset the
/// connection, and the peer might never see the last message.
pub(super) const LINGER: Duration = Duration::from_secs(1);
/// The pause after a failure to accept, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Accepts TCP connections for ever.
pub(in crate::daemon) async fn accept_tcp(shared: Arc<Shared>, listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "small messages may be delayed");
                }
                let (input, output) = stream.into_split();
                connect(&shared, input, output, &peer.to_string());
            }
            Err(error) => pause(&error).await,
        }
    }
}

/// Accepts connections to a Unix socket for ever.
pub(in crate::daemon) async fn accept_unix(shared: Arc<Shared>, listener: UnixListener) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let (input, output) = stream.into_split();
                connect(&shared, input, output, "unix");
            }
            Err(error) => pause(&error).await,
        }
    }
}

pub(super) async fn pause(error: &io::Error) {
    tracing::warn!(%error, "cannot accept a connection");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

fn connect<R, W>(shared: &Arc<Shared>, input: R, output: W, peer: &str)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (wake, hang_up) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let signals = (Signal::Task(Arc::clone(&wake)), Signal::Task(Arc::clone(&hang_up)));
    let conn = shared.with(|state| state.open_conn(Origin::Socket, signals.0, signals.1, now_ns()));
    tracing::info!(conn, peer, "connection");
    tokio::spawn(read(Arc::clone(shared), conn, input, hang_up));
    tokio::spawn(write(Arc::clone(shared), conn, output, wake));
}

async fn read(shared: Arc<Shared>, conn: ConnId, mut input: impl AsyncRead + Unpin, hang_up: Arc<Notify>) {
    let mut framing = Framing::new(wire::MAX_FIRST_LINE);
    let mut buffer = vec![0; READ_BYTES];
    let mut greeted = false;
    loop {
        let count = tokio::select! {
            count = input.read(&mut buffer) => count,
            () = hang_up.notified() => break,
        };
        let time = now_ns();
        match count {
            Err(error) => {
                tracing::info!(conn, %error, "connection broke");
                return shared.with(|state| state.drop_conn(conn, now_ns(), false));
            }
            Ok(0) => {
                if let Some(event) = framing.finish() {
                    receive(&shared, conn, event, time).await;
                }
                return shared.with(|state| state.input_ended(conn, now_ns()));
            }
            Ok(count) if greeted => {
                let mut rest = &buffer[..count];
                while let Some(event) = framing.next(&mut rest) {
                    receive(&shared, conn, event, time).await;
                }
            }
            Ok(count) => greeted = feed_stranger(&shared, conn, &mut framing, &buffer[..count], time),
        }
    }
    drain(input).await;
}

/// Reads on for a while what nobody wants any more, before the connection closes.
pub(super) async fn drain(mut input: impl AsyncRead + Unpin) {
    let mut buffer = [0; 4 << 10];
    let discard = async { while input.read(&mut buffer).await.is_ok_and(|count| count > 0) {} };
    // Either the peer closes, or it had its time.
    let _closed_or_not = tokio::time::timeout(LINGER, discard).await;
}

/// Takes a line, a long one on another thread; returns once the state has it, so that lines keep their order.
pub(super) async fn receive(shared: &Arc<Shared>, conn: ConnId, event: Event<'_>, time: u64) {
    let event = match event {
        Event::Line { number, bytes } if bytes.len() > SHORT_LINE => {
            Event::Line { number, bytes: bytes.into_owned().into() }
        }
        event => return receive_here(shared, conn, event, time),
    };
    let decoder = Arc::clone(shared);
    match tokio::task::spawn_blocking(move || Received::decode(&decoder, conn, event, time)).await {
        Ok(received) => shared.with(|state| received.apply(state)),
        Err(error) => {
            tracing::error!(conn, %error, "a line was not decoded");
            shared.with(|state| state.drop_conn(conn, now_ns(), false));
        }
    }
}

/// Takes a line on the thread of all connections.
fn receive_here(shared: &Arc<Shared>, conn: ConnId, event: Event<'_>, time: u64) {
    let received = Received::decode(shared, conn, event, time);
    shared.with(|state| received.apply(state));
}

/// Takes bytes of a peer that has not said hello; true once it has.
fn feed_stranger(shared: &Arc<Shared>, conn: ConnId, framing: &mut Framing, bytes: &[u8], time: u64) -> bool {
    let is_stranger = || shared.with(|state| state.conns.get(&conn).is_some_and(|conn| conn.needs_hello));
    let mut rest = bytes;
    while !rest.is_empty() {
        let (line, next) = match rest.iter().position(|byte| *byte == b'\n') {
            Some(end) => rest.split_at(end + 1),
            None => (rest, &rest[rest.len()..]),
        };
        if !framing.is_too_long() {
            let mut head = [framing.partial(), line].concat();
            head.truncate(MAX_REQUEST_LINE);
            if let Some(protocol) = foreign::protocol(&head) {
                let at = Arrival { conn, line: framing.number(), received_ns: time };
                let message = format!("this is {protocol}, but the port speaks JSON lines");
                shared.with(|state| state.foreign(&at, &message, now_ns()));
                return true;
            }
        }
        let mut line = line;
        while let Some(event) = framing.next(&mut line) {
            receive_here(shared, conn, event, time);
        }
        rest = next;
        if !is_stranger() {
            framing.set_limit(wire::MAX_LINE);
            while let Some(event) = framing.next(&mut rest) {
                receive_here(shared, conn, event, time);
            }
            return true;
        }
    }
    false
}

/// The bytes of a line that are looked at for HTTP: a peer may send one at a time, and each is looked at again.
const MAX_REQUEST_LINE: usize = 2048;

async fn write(shared: Arc<Shared>, conn: ConnId, mut output: impl AsyncWrite + Unpin, wake: Arc<Notify>) {
    loop {
        let lines = match next_messages(&shared, conn, Form::Lines) {
            Next::Write(lines) => lines,
            Next::Wait => {
                wake.notified().await;
                continue;
            }
            Next::Close => {
                // The peer may have closed first.
                let _closed = output.shutdown().await;
                return;
            }
            Next::Gone => return,
        };
        if write_all(&shared, conn, &mut output, &lines, &wake).await.is_break() {
            return;
        }
    }
}

/// Writes bytes, telling the state of each step; breaks where the connection broke or was cut off.
pub(super) async fn write_all(
    shared: &Arc<Shared>,
    conn: ConnId,
    output: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
    wake: &Notify,
) -> ControlFlow<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        // A connection that is cut off wakes its writer, which may hang here.
        let written = tokio::select! {
            written = output.write(rest) => written,
            () = wake.notified() => {
                if shared.with(|state| !state.conns.contains_key(&conn)) {
                    return ControlFlow::Break(());
                }
                continue;
            }
        };
        match written {
            Ok(count) if count > 0 => {
                rest = &rest[count..];
                shared.with(|state| state.writer_progress(conn, now_ns()));
            }
            Ok(_) | Err(_) => {
                tracing::info!(conn, "connection broke");
                shared.with(|state| state.drop_conn(conn, now_ns(), false));
                return ControlFlow::Break(());
            }
        }
    }
    ControlFlow::Continue(())
}
