//! Signs of life for a service manager: none comes from a daemon that hangs, whichever part of it does.

use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::network::{Served, TIMEOUT};
use crate::{Config, ServiceManager};

/// How long a daemon that is well may be silent.
const WATCHDOG: Duration = Duration::from_millis(10);

/// Many times as long.
const SILENCE: Duration = Duration::from_millis(200);

struct Heard {
    path: PathBuf,
    socket: UnixDatagram,
    served: Served,
}

impl Heard {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plyd-test-{name}-{}", std::process::id()));
        let _none_left = std::fs::remove_file(&path);
        let socket = UnixDatagram::bind(&path).unwrap();
        let manager = ServiceManager::at(path.as_os_str(), Some(WATCHDOG)).unwrap();
        let served = Served::new(Config { manager: Some(Arc::new(manager)), ..Config::default() });
        {
            let _runtime = served.runtime.enter();
            served.daemon.announce_start();
        }
        Self { path, socket, served }
    }

    /// Waits for that many signs of life.
    fn hear(&self, count: usize) {
        self.socket.set_nonblocking(false).unwrap();
        self.socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        let mut bytes = [0; 256];
        for _ in 0..count {
            while let length = self.socket.recv(&mut bytes).expect("a sign of life")
                && &bytes[..length] != b"WATCHDOG=1"
            {}
        }
    }

    /// Nothing comes, but what was on its way already.
    fn is_silent(&self) -> bool {
        self.socket.set_nonblocking(true).unwrap();
        let mut bytes = [0; 256];
        std::thread::sleep(SILENCE);
        while self.socket.recv(&mut bytes).is_ok() {}
        std::thread::sleep(SILENCE);
        self.socket.recv(&mut bytes).is_err()
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.path);
    }
}

#[test]
fn nothing_is_heard_while_somebody_keeps_the_lock() {
    let heard = Heard::new("lock");
    heard.hear(3);
    let state = heard.served.daemon.shared.lock();
    assert!(heard.is_silent());
    drop(state);
    heard.hear(3);
}

#[test]
fn nothing_is_heard_while_the_network_thread_is_stuck() {
    let heard = Heard::new("network");
    heard.hear(3);
    let (release, stuck) = std::sync::mpsc::channel::<()>();
    heard.served.runtime.spawn(async move { stuck.recv() });
    assert!(heard.is_silent());
    release.send(()).unwrap();
    heard.hear(3);
}

#[test]
fn nothing_is_heard_once_nobody_keeps_the_deadlines() {
    let heard = Heard::new("deadlines");
    heard.hear(3);
    let shared = &heard.served.daemon.shared;
    {
        // As at the end, which is all that ends that thread.
        let _state = shared.lock();
        shared.over.store(true, Relaxed);
    }
    shared.watchdog.notify_all();
    assert!(heard.is_silent());
}
