//! Tasks that accept connections: one that dies is started again, and what it accepts has the options that
//! were asked for.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::net::sockopt;
use tokio::net::TcpListener;
use tracing_subscriber::fmt::MakeWriter;

use super::fake::GAMES;
use super::network::TIMEOUT;
use crate::daemon::listen::keep_accepting;
use crate::transport::net;
use crate::{Config, Daemon, Limits};

/// A log that a test reads.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn a_task_that_dies_is_started_again_and_the_log_says_so() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let (runtime, daemon) = (runtime(), Daemon::start(&Config::default(), GAMES).unwrap());
    let answer = runtime.block_on(async {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let (address, shared) = (listener.local_addr().unwrap(), Arc::clone(&daemon.shared));
        let starts = Arc::new(AtomicUsize::new(0));
        keep_accepting(address.to_string(), daemon.closing.subscribe(), move || {
            let (shared, listener, starts) =
                (Arc::clone(&shared), Arc::clone(&listener), Arc::clone(&starts));
            async move {
                assert!(starts.fetch_add(1, Relaxed) >= 2, "as the test wants");
                net::accept_tcp(shared, listener).await;
            }
        });
        let asking = tokio::task::spawn_blocking(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(TIMEOUT)).unwrap();
            stream
                .write_all(b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n")
                .unwrap();
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line).unwrap();
            line
        });
        asking.await.unwrap()
    });
    assert!(answer.contains(r#""of":"hello""#), "{answer}");
    let text = log.text();
    let restarts = text.lines().filter(|line| line.contains("is started again"));
    assert_eq!(
        restarts.filter(|line| line.contains("ERROR") && line.contains("127.0.0.1")).count(),
        2,
        "{text}"
    );
}

#[test]
fn the_system_asks_silent_peers_whether_they_are_there_where_that_is_wanted() {
    for keepalive in [Duration::ZERO, Duration::from_secs(17)] {
        let limits = Limits { keepalive, ..Limits::default() };
        let daemon = Daemon::start(&Config { limits, ..Config::default() }, GAMES).unwrap();
        runtime().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let _peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            net::prepare(&daemon.shared, &stream);
            assert!(stream.nodelay().unwrap());
            assert_eq!(sockopt::socket_keepalive(&stream), Ok(!keepalive.is_zero()));
            if !keepalive.is_zero() {
                assert_eq!(sockopt::tcp_keepidle(&stream), Ok(keepalive));
            }
        });
    }
}

#[test]
fn listeners_close_when_the_end_begins() {
    let runtime = runtime();
    let daemon = Daemon::start(&Config::default(), GAMES).unwrap();
    let path = std::env::temp_dir().join(format!("plyd-test-closing-{}", std::process::id()));
    runtime.block_on(async {
        let raw = daemon.serve_tcp("127.0.0.1:0").await.unwrap();
        let web = daemon.serve_ws("127.0.0.1:0", &[]).await.unwrap();
        let _file = daemon.serve_unix(&path).unwrap();
        for address in [raw, web] {
            TcpStream::connect(address).unwrap();
        }
        UnixStream::connect(&path).unwrap();
        // Cut off, the connections leave nothing to wait for.
        daemon.shut_down().await;
        let end = Instant::now() + TIMEOUT;
        let are_open = || {
            [raw, web].into_iter().any(|address| TcpStream::connect(address).is_ok())
                || UnixStream::connect(&path).is_ok()
        };
        while are_open() {
            assert!(Instant::now() < end, "somebody listens");
            tokio::task::yield_now().await;
        }
    });
}
