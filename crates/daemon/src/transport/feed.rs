//! A page that shows what a command does while it does it: a few files, and news as server-sent events.
//!
//! Knows no daemon. No browser can slow the work: one that is behind gets the state as it is by then instead
//! of all that led to it, so a single piece of news is held for each. One that reads nothing is disconnected.

use std::borrow::Cow;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::watch;
use tokio::time::timeout;
use tungstenite::http::{Method, Request, StatusCode};

use super::http::{self, Answer};
use super::net::pause;
use super::newcomers::Progress;
use super::web::VISITORS;
use crate::site::Guard;
use plyd_protocol::newcomers::Newcomers;

/// Where the events are.
const EVENTS: &str = "/events";
/// The least time between two pieces of news: nobody can see more of them.
const FRAME: Duration = Duration::from_millis(100);
/// Something is sent at least this often, so that a peer that is gone is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a peer may take to read what it is sent.
const READ_TIME: Duration = Duration::from_secs(10);
/// What a page of files may load; the host is known to be harmless.
const OF_FILES: &str =
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// What a page may load that is one file.
const OF_WHOLE: &str = "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file of a page.
#[derive(Clone, Debug)]
pub struct FeedFile {
    /// Its type, as in `Content-Type`.
    pub mime: &'static str,
    /// What is in it.
    pub bytes: Cow<'static, [u8]>,
    /// Whether it is a page that holds all its scripts and styles.
    pub is_whole: bool,
}

/// What a visitor gets who has seen everything up to some state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct News {
    /// Events, as [server-sent events](https://html.spec.whatwg.org/multipage/server-sent-events.html) are
    /// written; empty: there are none.
    pub events: String,
    /// The state that the visitor has seen by then.
    pub seen: u64,
    /// Whether no more events follow.
    pub is_last: bool,
}

/// What a [`Feed`] shows.
pub trait Source: Send + Sync + 'static {
    /// The file at a path such as `/`.
    fn file(&self, path: &str) -> Option<FeedFile>;

    /// The news for a visitor who has seen everything up to this state; 0: who has seen nothing.
    fn news(&self, seen: u64) -> News;
}

/// A page that a thread of its own serves until this is dropped.
#[derive(Debug)]
pub struct Feed {
    showing: Arc<Showing>,
    /// Ends the thread when it is dropped.
    _alive: tokio::sync::oneshot::Sender<()>,
}

struct Showing {
    source: Arc<dyn Source>,
    guard: Guard,
    changed: watch::Sender<()>,
    visitors: Mutex<Visitors>,
    left: Condvar,
}

/// Who is being served.
#[derive(Clone, Copy, Debug, Default)]
struct Visitors {
    /// Who follows the news.
    following: usize,
    /// Who got the last of the news, and has not come back for the page that it speaks of.
    to_come: usize,
    /// Who is being sent a file.
    reading: usize,
}

impl std::fmt::Debug for Showing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Showing").field("visitors", &self.visitors).finish_non_exhaustive()
    }
}

impl Feed {
    /// Serves the page of a source to whoever connects to this socket.
    ///
    /// # Errors
    /// The system gives no thread or no sockets.
    pub fn start(listener: TcpListener, source: Arc<dyn Source>) -> io::Result<Self> {
        let guard = Guard::new(listener.local_addr()?.ip(), &[]);
        let showing = Arc::new(Showing {
            source,
            guard,
            changed: watch::Sender::new(()),
            visitors: Mutex::default(),
            left: Condvar::new(),
        });
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (alive, mut ended) = tokio::sync::oneshot::channel::<()>();
        let work = Arc::clone(&showing);
        let serve = move || {
            runtime.block_on(async {
                tokio::select! {
                    error = accept(work, listener) => tracing::warn!(%error, "the page cannot be shown any more"),
                    _ = &mut ended => {}
                }
            });
        };
        thread::Builder::new().name("feed".to_owned()).spawn(serve)?;
        Ok(Self { showing, _alive: alive })
    }

    /// Announces that there are news; returns at once, however many visitors look.
    pub fn changed(&self) {
        self.showing.changed.send_replace(());
    }

    /// Waits until all who follow have got the last of the news and the file that it led them to, but no
    /// longer than `longest`.
    pub fn wait(&self, longest: Duration) {
        self.changed();
        let is_busy = |visitors: &mut Visitors| visitors.following + visitors.to_come + visitors.reading > 0;
        let waited = self.showing.left.wait_timeout_while(self.showing.visitors(), longest, is_busy);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Showing {
    fn visitors(&self) -> MutexGuard<'_, Visitors> {
        self.visitors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, change: impl FnOnce(&mut Visitors)) {
        change(&mut self.visitors());
        self.left.notify_all();
    }

    /// The answer to a request for a file.
    fn answer(&self, request: &Request<()>) -> Answer {
        if let Err(refusal) =
            http::refuse_changes(request).and_then(|()| http::own_host(request, &self.guard))
        {
            return refusal;
        }
        let Some(file) = self.source.file(request.uri().path()) else {
            return Answer::refusal(StatusCode::NOT_FOUND, "there is no such file");
        };
        let policy = if file.is_whole { OF_WHOLE } else { OF_FILES };
        let mut answer = Answer::found(file.mime, &file.bytes).of_page(policy);
        answer.is_last = http::wants_close(request);
        answer
    }
}

/// Serves whoever comes; ends with the listener.
async fn accept(showing: Arc<Showing>, listener: TcpListener) -> io::Error {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return error,
    };
    let visitors = Newcomers::default();
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                begin(&visitors, &showing, stream, peer);
            }
            Err(error) => pause(&error).await,
        }
    }
}

fn begin(visitors: &Newcomers, showing: &Arc<Showing>, stream: TcpStream, peer: SocketAddr) {
    let showing = Arc::clone(showing);
    let left = visitors.begin(peer, VISITORS, |progress| visit(showing, stream, progress));
    if let Some(left) = left {
        tracing::debug!(peer = %left.peer, "left for somebody who came later");
    }
}

/// Who is served is counted until they are gone, whatever ends that.
struct Counted {
    showing: Arc<Showing>,
    of: fn(&mut Visitors) -> &mut usize,
}

impl Counted {
    fn new(showing: &Arc<Showing>, of: fn(&mut Visitors) -> &mut usize) -> Self {
        showing.count(|visitors| *of(visitors) += 1);
        Self { showing: Arc::clone(showing), of }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.showing.count(|visitors| *(self.of)(visitors) -= 1);
    }
}

/// Answers a peer until it leaves, is turned away, or follows the news.
async fn visit(showing: Arc<Showing>, mut stream: TcpStream, progress: Progress) {
    let _slower = stream.set_nodelay(true);
    let mut ahead = Vec::new();
    loop {
        let (answer, is_head_only) = match http::next_request(&mut stream, &mut ahead).await {
            Ok(None) => return,
            Err(refusal) => (refusal, false),
            Ok(Some(request)) if request.uri().path() == EVENTS && request.method() == Method::GET => {
                match http::own_host(&request, &showing.guard) {
                    Ok(_) => return follow(showing, stream, progress).await,
                    Err(refusal) => (refusal, false),
                }
            }
            Ok(Some(request)) => (showing.answer(&request), request.method() == Method::HEAD),
        };
        let reading = Counted::new(&showing, |visitors| &mut visitors.reading);
        // Whoever asks for something after the last of the news asks for what that led to.
        showing.count(|visitors| visitors.to_come = visitors.to_come.saturating_sub(1));
        let written = http::write(&mut stream, &answer, is_head_only).await;
        drop(reading);
        if written.is_err() || answer.is_last {
            return;
        }
        progress.note();
    }
}

/// Sends news to a peer until it leaves or there are no more.
async fn follow(showing: Arc<Showing>, stream: TcpStream, progress: Progress) {
    let following = Counted::new(&showing, |visitors| &mut visitors.following);
    let (mut input, mut output) = stream.into_split();
    let news = async {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\
                    X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n";
        send(&mut output, head).await?;
        let (mut changed, mut seen) = (showing.changed.subscribe(), 0);
        loop {
            changed.borrow_and_update();
            let News { events, seen: now, is_last } = showing.source.news(seen);
            seen = now;
            send(&mut output, if events.is_empty() { ":\n\n" } else { &events }).await?;
            progress.note();
            if is_last {
                return io::Result::Ok(true);
            }
            tokio::time::sleep(FRAME).await;
            let _nothing_new = timeout(HEARTBEAT, changed.changed()).await;
        }
    };
    let gone = async {
        let mut byte = [0];
        // What it says is not asked for; only its end is.
        while input.read(&mut byte).await.is_ok_and(|count| count > 0) {}
    };
    tokio::select! {
        sent = news => if sent.is_ok_and(|is_last| is_last) {
            showing.count(|visitors| visitors.to_come += 1);
        },
        () = gone => {}
    }
    drop(following);
    let _gone = output.shutdown().await;
}

async fn send(output: &mut OwnedWriteHalf, text: &str) -> io::Result<()> {
    let written = timeout(READ_TIME, output.write_all(text.as_bytes())).await;
    written.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream as Stream;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
    use std::time::Instant;

    const LONG: Duration = Duration::from_secs(60);

    /// Counts, with news that fill the buffers of sockets.
    #[derive(Default)]
    struct Counter {
        now: AtomicU64,
        is_over: AtomicBool,
        /// How often news were asked for.
        asked: AtomicU64,
    }

    impl Source for Counter {
        fn file(&self, path: &str) -> Option<FeedFile> {
            let is_there = path == "/" || (path == "/report" && self.is_over.load(SeqCst));
            is_there.then(|| FeedFile {
                mime: "text/html; charset=utf-8",
                bytes: Cow::Borrowed(b"a page"),
                is_whole: path == "/report",
            })
        }

        fn news(&self, seen: u64) -> News {
            self.asked.fetch_add(1, SeqCst);
            let now = self.now.load(SeqCst);
            let events = format!("event: count\ndata: {now} since {seen} {}\n\n", "x".repeat(1 << 20));
            News { events, seen: now, is_last: self.is_over.load(SeqCst) }
        }
    }

    fn feed() -> (Feed, Arc<Counter>, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, source) = (listener.local_addr().unwrap(), Arc::new(Counter::default()));
        (Feed::start(listener, Arc::<Counter>::clone(&source)).unwrap(), source, address)
    }

    fn ask(address: SocketAddr, path: &str, host: &str) -> Stream {
        let mut stream = Stream::connect(address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    fn answer(address: SocketAddr, path: &str, host: &str) -> String {
        let mut text = String::new();
        ask(address, path, host).read_to_string(&mut text).unwrap();
        text
    }

    /// Reads events up to one whose data begins so.
    fn read_until(stream: &mut Stream, data: &str) {
        let (mut text, mut buffer) = (String::new(), vec![0; 1 << 16]);
        while !text.contains(data) {
            let count = stream.read(&mut buffer).unwrap();
            assert!(count > 0, "no event of {data}");
            // What was asked for may lie across two pieces.
            text.drain(..text.len().saturating_sub(64));
            text.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
        }
    }

    #[test]
    fn whoever_reads_nothing_stops_nobody_and_holds_one_piece_of_news() {
        let (feed, source, address) = feed();
        let stuck = ask(address, "/events", "127.0.0.1");
        let mut reader = ask(address, "/events", "127.0.0.1");
        for now in 1..=20 {
            source.now.store(now, SeqCst);
            feed.changed();
            read_until(&mut reader, &format!("data: {now} since"));
        }
        // The one who reads asked for each; the other for as many as its socket took.
        let asked = source.asked.load(SeqCst);
        assert!((20..40).contains(&asked), "{asked}");
        // Of changes in between only the last is seen.
        for now in 21..=1000 {
            source.now.store(now, SeqCst);
            feed.changed();
        }
        read_until(&mut reader, "data: 1000 since");
        assert!(source.asked.load(SeqCst) < asked + 100);
        drop((stuck, reader));
        feed.wait(LONG);
    }

    #[test]
    fn the_last_news_lead_to_a_file_that_is_waited_for() {
        let (feed, source, address) = feed();
        let follower = thread::spawn(move || {
            let mut follower = ask(address, "/events", "127.0.0.1");
            read_until(&mut follower, "data: 1 since");
            follower.read_to_end(&mut Vec::new()).unwrap();
            answer(address, "/report", "127.0.0.1")
        });
        source.now.store(1, SeqCst);
        while source.asked.load(SeqCst) == 0 {
            thread::yield_now();
        }
        source.is_over.store(true, SeqCst);
        feed.changed();
        feed.wait(LONG);
        drop(feed);
        let report = follower.join().unwrap();
        assert!(
            report.starts_with("HTTP/1.1 200") && report.contains("script-src 'unsafe-inline'"),
            "{report}"
        );
    }

    #[test]
    fn those_who_do_not_come_back_are_not_waited_for_long() {
        let (feed, source, address) = feed();
        let _stuck = ask(address, "/events", "127.0.0.1");
        while source.asked.load(SeqCst) == 0 {
            thread::yield_now();
        }
        let began = Instant::now();
        feed.wait(Duration::from_millis(50));
        assert!(began.elapsed() >= Duration::from_millis(50));
    }

    #[test]
    fn only_who_names_this_machine_gets_something() {
        let (_feed, _, address) = feed();
        for (path, host, status) in [
            ("/", "127.0.0.1", "200"),
            ("/", "localhost:7120", "200"),
            ("/", "evil.example", "403"),
            ("/events", "evil.example", "403"),
            ("/report", "127.0.0.1", "404"),
        ] {
            let text = answer(address, path, host);
            assert!(text.starts_with(&format!("HTTP/1.1 {status}")), "{path} {host}: {text}");
        }
    }
}
