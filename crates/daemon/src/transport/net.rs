//! TCP and Unix sockets: two tasks for each connection, all on one thread.
//!
//! That thread decodes short lines only; long ones are decoded on a thread beside it, so that nobody waits
//! for them but the connection that sent them. For the same reason it neither copies nor frees long messages,
//! and gives them away piece by piece.

use std::io;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use plyd_protocol as wire;
use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tracing::Instrument;

use super::newcomers::{Newcomers, Progress};
use super::outgoing::Outgoing;
use super::reading::{LINGER, READ_BYTES, drain};
use super::tls;
use super::{Form, Next, Received, SHORT_LINE, foreign, next_messages};
use crate::ids::{ConnId, NOBODY, SocketId};
use crate::log::{Quota, bounded};
use crate::runtime::Shared;
use crate::signal::Signal;
use crate::spans::{self, Origin};
use crate::state::State;
use crate::state::intake::Reserved;
use crate::state::refusals::Refusal;
use crate::state::session::Arrival;
use crate::system::UnixListener;
use plyd_core::search::clock::now_ns;
use plyd_protocol::framing::{Event, Framing};

/// How long a connection may keep the thread of all connections busy at a time: as long as decoding a short
/// line takes.
const TURN: Duration = Duration::from_micros(200);
/// The pause between two keep-alive probes of a silent peer, and how many may stay unanswered.
const KEEPALIVE_PAUSE: Duration = Duration::from_secs(10);
const KEEPALIVE_QUESTIONS: u32 = 6;
/// The pause after a failure to accept, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Accepts TCP connections forever.
pub(crate) async fn accept_tcp(shared: Arc<Shared>, listener: Arc<TcpListener>) {
    let handshakes = Newcomers::new(Refusal::Handshakes);
    loop {
        match listener.accept().await {
            Ok((stream, peer)) if shared.tls.is_some() => {
                prepare(&shared, &stream);
                let places = tls::places(&shared);
                handshakes.begin(&shared, peer, places, |progress| {
                    secure(Arc::clone(&shared), stream, peer, progress)
                });
            }
            Ok((stream, peer)) => {
                prepare(&shared, &stream);
                let (input, output) = stream.into_split();
                connect(&shared, input, output, Origin::Tcp(peer));
            }
            Err(error) => pause(&error).await,
        }
    }
}

/// Makes a peer a connection once it has shaken hands.
async fn secure(shared: Arc<Shared>, stream: TcpStream, peer: SocketAddr, progress: Progress) {
    if let Some(stream) = tls::accept(&shared, stream, peer, progress).await {
        let (input, output) = tokio::io::split(stream);
        connect(&shared, input, output, Origin::Tls(peer));
    }
}

/// Accepts connections to a Unix socket forever.
pub(crate) async fn accept_unix(shared: Arc<Shared>, listener: Arc<UnixListener>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let (input, output) = stream.into_split();
                connect(&shared, input, output, Origin::Unix);
            }
            Err(error) => pause(&error).await,
        }
    }
}

/// Sets a new TCP connection's options: no delay for small messages, and keep-alive probes.
pub(crate) fn prepare(shared: &Shared, stream: &TcpStream) {
    let ask = || -> io::Result<()> {
        stream.set_nodelay(true)?;
        let silence = shared.lock().limits.keepalive;
        if !silence.is_zero() {
            sockopt::set_socket_keepalive(stream, true)?;
            sockopt::set_tcp_keepidle(stream, silence)?;
            sockopt::set_tcp_keepintvl(stream, KEEPALIVE_PAUSE)?;
            sockopt::set_tcp_keepcnt(stream, KEEPALIVE_QUESTIONS)?;
        }
        Ok(())
    };
    if let Err(error) = ask() {
        tracing::debug!(%error, "an option of a connection cannot be set");
    }
}

pub(super) async fn pause(error: &io::Error) {
    static FAILURES: Quota = Quota::new(5, Duration::from_secs(10));
    bounded!(FAILURES, WARN, %error, "cannot accept a connection");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

fn connect<R, W>(shared: &Arc<Shared>, input: R, output: W, origin: Origin)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (wake, hang_up) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let room = Arc::new(Notify::new());
    let signals = [&wake, &hang_up, &room].map(|notify| Signal::Task(Arc::clone(notify)));
    let (conn, span) = shared.with(|state| {
        let conn = state.open_conn(origin, signals, now_ns());
        (conn, state.span(conn))
    });
    spans::opened(&span);
    let id = SocketId(conn);
    let link = SocketReader { shared: Arc::clone(shared), id, room };
    tokio::spawn(read(link, input, hang_up).instrument(span.clone()));
    tokio::spawn(write(Arc::clone(shared), id, output, wake).instrument(span));
}

/// What the reader of a socket knows.
pub(super) struct SocketReader {
    pub(super) shared: Arc<Shared>,
    pub(super) id: SocketId,
    /// Notified when there may be room for the line that waits.
    pub(super) room: Arc<Notify>,
}

impl SocketReader {
    /// Changes the connection that the socket serves.
    fn with<R>(&self, change: impl FnOnce(&mut State, ConnId) -> R) -> R {
        self.shared.with_conn(self.id, change)
    }
}

async fn read(link: SocketReader, mut input: impl AsyncRead + Unpin, hang_up: Arc<Notify>) {
    let shared = &link.shared;
    let mut framing = Framing::new(wire::MAX_FIRST_LINE);
    let mut buffer = vec![0; READ_BYTES];
    let mut greeted = false;
    loop {
        let count = tokio::select! {
            count = input.read(&mut buffer) => count,
            () = hang_up.notified() => break,
        };
        let time = now_ns();
        shared.traffic.received(*count.as_ref().unwrap_or(&0));
        match count {
            Err(error) => {
                spans::broke(&error.to_string());
                return link.with(|state, conn| state.lose_conn(conn, now_ns(), false));
            }
            Ok(0) => {
                if let Some(event) = framing.finish() {
                    receive(&link, event, time, &mut TimeSlice::begin()).await;
                }
                return link.with(|state, conn| state.input_ended(conn, now_ns()));
            }
            Ok(count) if greeted => {
                let (mut rest, mut turn) = (&buffer[..count], TimeSlice::begin());
                while let Some(event) = framing.next(&mut rest) {
                    receive(&link, event, time, &mut turn).await;
                }
            }
            Ok(count) => greeted = feed_stranger(&link, &mut framing, &buffer[..count], time).await,
        }
        // A socket that always has more must not keep the others waiting.
        tokio::task::yield_now().await;
    }
    drain(shared, input).await;
}

/// The time that a connection may use up before others have their turn.
pub(super) struct TimeSlice {
    began_ns: u64,
}

impl TimeSlice {
    pub(super) fn begin() -> Self {
        Self { began_ns: now_ns() }
    }

    /// Yields to other connections if this turn is over.
    async fn pass_on(&mut self) {
        if now_ns() - self.began_ns > TURN.as_nanos() as u64 {
            tokio::task::yield_now().await;
            *self = Self::begin();
        }
    }
}

/// Takes a line, a long one on another thread; returns once the state has it, so that lines keep their order.
/// If there is no room for it, waits, and reads nothing more of the connection meanwhile.
pub(super) async fn receive(link: &SocketReader, event: Event<'_>, time: u64, turn: &mut TimeSlice) {
    let SocketReader { shared, id, room: freed } = link;
    let event = match event {
        Event::Line { number, bytes } if bytes.len() > SHORT_LINE => {
            let room = wire::decoded_bound(&bytes);
            loop {
                match link.with(|state, conn| state.reserve(conn, room)) {
                    Reserved::Now => break,
                    Reserved::Later => freed.notified().await,
                    Reserved::Unwanted => return,
                }
            }
            Event::Line { number, bytes: bytes.into_owned().into() }
        }
        event => {
            apply(link, Received::decode(shared, *id, event, time)).await;
            return turn.pass_on().await;
        }
    };
    let (decoder, id) = (Arc::clone(shared), *id);
    let decoded = tokio::task::spawn_blocking(move || Received::decode(&decoder, id, event, time)).await;
    match decoded {
        Ok(received) => apply(link, received).await,
        Err(error) => {
            tracing::error!(%error, "a line was not decoded");
            link.with(|state, conn| state.drop_conn(conn, now_ns(), false));
        }
    }
}

/// Takes a line of a peer that has not said hello, and waits for the answer if its token was wrong; returns
/// whether it is still a stranger.
pub(super) async fn receive_of_stranger(
    link: &SocketReader,
    event: Event<'_>,
    time: u64,
    turn: &mut TimeSlice,
) -> bool {
    receive(link, event, time, turn).await;
    while link.with(|state, conn| state.is_late(conn)) {
        link.room.notified().await;
    }
    link.with(|state, conn| state.conns.get(&conn).is_some_and(|conn| conn.needs_hello))
}

/// Gives a line to the state as soon as there is room for it.
async fn apply(link: &SocketReader, received: Received) {
    let mut waits = Some(received);
    while let Some(received) = waits {
        waits = link.shared.with(|state| received.apply_if_room(state));
        if waits.is_some() {
            link.room.notified().await;
        }
    }
}

/// Takes bytes of a peer that has not said hello; true once it has.
async fn feed_stranger(link: &SocketReader, framing: &mut Framing, bytes: &[u8], time: u64) -> bool {
    let mut turn = TimeSlice::begin();
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
                let is_tls = protocol == foreign::TLS;
                let refusal = if is_tls { Refusal::TlsOnPlain } else { Refusal::ForeignProtocol };
                link.shared.with(|state| {
                    let at = Arrival::of(state, link.id, framing.number(), time);
                    state.foreign(&at, refusal, &foreign::message(protocol), now_ns());
                });
                return true;
            }
        }
        let (mut line, mut is_stranger) = (line, true);
        while let Some(event) = framing.next(&mut line) {
            is_stranger = receive_of_stranger(link, event, time, &mut turn).await;
        }
        rest = next;
        if !is_stranger {
            framing.set_limit(wire::MAX_LINE);
            while let Some(event) = framing.next(&mut rest) {
                receive(link, event, time, &mut turn).await;
            }
            return true;
        }
    }
    false
}

/// How many bytes of a line are checked for HTTP: a peer may send one byte at a time, and each time all are
/// checked again.
const MAX_REQUEST_LINE: usize = 2048;

async fn write(shared: Arc<Shared>, link: SocketId, mut output: impl AsyncWrite + Unpin, wake: Arc<Notify>) {
    loop {
        let mut lines = match next_messages(&shared, link, Form::Lines) {
            Next::Write(lines) => lines,
            Next::Wait => {
                wake.notified().await;
                continue;
            }
            Next::Close => {
                // The peer may have closed first, or not read the end that TLS writes.
                let _closed_or_not = tokio::time::timeout(LINGER, output.shutdown()).await;
                return;
            }
            Next::Gone => return,
        };
        if write_all(&shared, link, &mut output, &mut lines, &wake).await.is_break() {
            return;
        }
    }
}

/// Writes everything, and reports each step to the state; breaks if the socket broke or serves nobody any
/// more. Others have their turn after each piece of a long message. What TLS buffers is written as well.
pub(super) async fn write_all(
    shared: &Arc<Shared>,
    link: SocketId,
    output: &mut (impl AsyncWrite + Unpin),
    outgoing: &mut Outgoing,
    wake: &Notify,
) -> ControlFlow<()> {
    loop {
        let is_flush = outgoing.is_empty();
        let step = async {
            if is_flush { output.flush().await.map(|()| 1) } else { output.write(outgoing.piece()).await }
        };
        // A connection that is cut off or loses its socket wakes its writer, which may hang here.
        let written = tokio::select! {
            written = step => written,
            () = wake.notified() => {
                if shared.with_conn(link, |_, conn| conn == NOBODY) {
                    return ControlFlow::Break(());
                }
                continue;
            }
        };
        match written {
            Ok(_) if is_flush => return ControlFlow::Continue(()),
            Ok(count) if count > 0 => {
                outgoing.advance(count);
                shared.traffic.sent(count);
                if !shared.with_conn(link, |state, conn| state.writer_progress(conn, now_ns())) {
                    return ControlFlow::Break(());
                }
                if !outgoing.is_empty() {
                    tokio::task::yield_now().await;
                }
            }
            Ok(_) | Err(_) => {
                spans::broke("the peer takes nothing more");
                shared.with_conn(link, |state, conn| state.lose_conn(conn, now_ns(), false));
                return ControlFlow::Break(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::task::{Context, Poll};

    use super::*;
    use crate::discard::tests::GIVEN;
    use crate::state::outbox::Item;
    use crate::transport::outgoing::PIECE_BYTES;
    use crate::{Config, Daemon};

    /// What a stream was given at a time.
    struct Write {
        bytes: Vec<u8>,
        /// Where the bytes stood.
        at: usize,
        /// The turns that others had had by then.
        turns: usize,
    }

    /// A stream that takes all that it is given, as the system may do for megabytes.
    struct Greedy {
        writes: Arc<Mutex<Vec<Write>>>,
        turns: Arc<AtomicUsize>,
    }

    impl AsyncWrite for Greedy {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            let write =
                Write { bytes: bytes.to_vec(), at: bytes.as_ptr().addr(), turns: self.turns.load(Relaxed) };
            self.writes.lock().unwrap().push(write);
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// What is written of these bodies, on a thread on which others count their turns.
    fn writes(bodies: &mut Vec<String>) -> Vec<Write> {
        let daemon = Daemon::start(&Config::default(), &[]).unwrap();
        let wake = Arc::new(Notify::new());
        let signals = [&wake, &wake, &wake].map(|notify| Signal::Task(Arc::clone(notify)));
        let conn = daemon.shared.with(|state| {
            let conn = state.open_conn(Origin::Unix, signals, now_ns());
            bodies.drain(..).for_each(|body| state.send(conn, Item::body(body), now_ns()));
            state.end_conn(conn, now_ns());
            conn
        });
        let (written, turns) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
        let output = Greedy { writes: Arc::clone(&written), turns: Arc::clone(&turns) };
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
            tokio::spawn(async move {
                loop {
                    turns.fetch_add(1, Relaxed);
                    tokio::task::yield_now().await;
                }
            });
            write(Arc::clone(&daemon.shared), SocketId(conn), output, wake).await;
        });
        assert!(!daemon.shared.lock().conns.contains_key(&conn), "the writer gave up");
        std::mem::take(&mut written.lock().unwrap())
    }

    fn body(bytes: usize) -> String {
        format!("{{\"pad\":\"{}\"}}", "x".repeat(bytes))
    }

    #[test]
    fn others_have_their_turn_after_each_piece_of_a_large_message() {
        let mut bodies = vec![body(10), body(2 << 20), body(20)];
        let (begin, given) = (bodies[1].as_ptr().addr(), GIVEN.get());
        let made_at = begin..begin + bodies[1].len();
        let lines = bodies.iter().zip(1..).map(|(body, seq)| wire::splice(body, seq, 0) + "\n");
        let wanted = lines.collect::<String>();
        let writes = writes(&mut bodies);
        assert!(writes.iter().all(|write| write.bytes.len() <= PIECE_BYTES));
        let copied = writes.iter().filter(|write| !made_at.contains(&write.at));
        let copied: usize = copied.map(|write| write.bytes.len()).sum();
        assert!(copied < 1000, "{copied} bytes were copied");
        assert!(writes[..34].windows(2).all(|pair| pair[0].turns < pair[1].turns), "others had no turn");
        assert_eq!(GIVEN.get() - given, 1, "the body was freed by the thread of all connections");
        let written = String::from_utf8(writes.into_iter().flat_map(|write| write.bytes).collect()).unwrap();
        let stamp = |line: &str| {
            let (before, rest) = line.split_once("\"t_us\":").unwrap();
            (before.to_owned(), rest.split_once(',').unwrap().1.to_owned())
        };
        assert!(written.lines().map(stamp).eq(wanted.lines().map(stamp)), "the messages differ");
    }

    #[test]
    fn short_messages_are_written_together() {
        assert_eq!(writes(&mut vec![body(10); 50]).len(), 1);
    }
}
