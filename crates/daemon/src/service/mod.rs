//! Messages to the service manager, such as systemd, about the state of the daemon.
//!
//! Speaks the protocol of sd_notify(3), one datagram a message, and knows nothing of what the daemon does. It
//! is a page of code on top of the standard library, which has abstract names of sockets as well; with a
//! crate it would be no shorter, and the crate would read the environment in its own way.

pub(crate) mod handed;

use std::ffi::OsStr;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use crate::system::NotifySocket;

/// The longest that a message waits for a service manager that does not read. Hundreds of messages fit into
/// its queue before that.
const TIMEOUT: Duration = Duration::from_millis(100);

/// The service manager that started the daemon, and is notified of its state.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use plyd_daemon::{Config, ServiceManager};
///
/// // Under systemd; none elsewhere.
/// let manager = ServiceManager::from_env()?.map(Arc::new);
/// let config = Config { manager, ..Config::default() };
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ServiceManager {
    socket: NotifySocket,
    /// How long the daemon may go without a sign of life; none: forever.
    watchdog: Option<Duration>,
    /// Whether [`stopping`](Self::stopping) was sent.
    is_stopping: AtomicBool,
}

/// A reload that the service manager knows of; its end is announced when this is dropped.
pub(crate) struct Reloading<'a>(&'a ServiceManager);

impl ServiceManager {
    /// The service manager that the environment names (`NOTIFY_SOCKET`, and `WATCHDOG_USEC` if it is meant
    /// for this process), if there is one.
    ///
    /// # Errors
    /// There is no such socket, or the system gives none to speak from.
    pub fn from_env() -> io::Result<Option<Self>> {
        let Some(address) = std::env::var_os("NOTIFY_SOCKET").filter(|address| !address.is_empty()) else {
            return Ok(None);
        };
        let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
        let is_ours = std::env::var_os("WATCHDOG_PID").is_none()
            || number("WATCHDOG_PID") == Some(std::process::id().into());
        let watchdog = number("WATCHDOG_USEC").filter(|micros| is_ours && *micros > 0);
        Self::at(&address, watchdog.map(Duration::from_micros)).map(Some)
    }

    /// The service manager that listens at an address: a path, or `@` and an abstract name. The daemon may go
    /// without a sign of life for `watchdog`.
    ///
    /// # Errors
    /// It is neither, or the system gives no socket.
    pub fn at(address: &OsStr, watchdog: Option<Duration>) -> io::Result<Self> {
        let socket = NotifySocket::at(address, TIMEOUT)?;
        Ok(Self { socket, watchdog, is_stopping: AtomicBool::new(false) })
    }

    /// How long it may go without [`Self::alive`].
    pub(crate) fn watchdog(&self) -> Option<Duration> {
        self.watchdog
    }

    /// Notifies that the daemon serves.
    pub(crate) fn ready(&self) {
        // A reload may end after the daemon began to.
        if !self.is_stopping.load(Relaxed) {
            self.send("READY=1");
        }
    }

    /// Notifies that the daemon reads its settings again, until the value is dropped.
    pub(crate) fn reloading(&self) -> Reloading<'_> {
        if !self.is_stopping.load(Relaxed) {
            self.send(&format!("RELOADING=1\nMONOTONIC_USEC={}", self.socket.now_us()));
        }
        Reloading(self)
    }

    /// Notifies that the daemon ends.
    pub(crate) fn stopping(&self) {
        self.is_stopping.store(true, Relaxed);
        self.send("STOPPING=1");
    }

    /// Sets what the service manager shows to people as the daemon's status, on one line.
    pub(crate) fn status(&self, text: &str) {
        self.send(&format!("STATUS={}", text.replace('\n', " ")));
    }

    /// Notifies that the daemon is not stuck.
    pub(crate) fn alive(&self) {
        self.send("WATCHDOG=1");
    }

    fn send(&self, message: &str) {
        if let Err(error) = self.socket.send(message) {
            tracing::warn!(%error, message, "the service manager cannot be reached");
        }
    }
}

impl Drop for Reloading<'_> {
    fn drop(&mut self) {
        self.0.ready();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use super::*;

    #[test]
    fn an_address_is_a_path_or_an_abstract_name() {
        let long = format!("/{}", "x".repeat(200));
        for (address, good) in [
            ("/run/systemd/notify", true),
            ("@plyd", true),
            ("@", true),
            ("run/notify", false),
            ("vsock:2:1234", false),
            (&long, false),
        ] {
            let found = ServiceManager::at(OsStr::new(address), None);
            assert_eq!(found.is_ok(), good, "{address}: {found:?}");
        }
    }

    #[test]
    fn messages_are_as_systemd_reads_them() {
        let path = std::env::temp_dir().join(format!("plyd-test-notify-{}", std::process::id()));
        let _none_left = std::fs::remove_file(&path);
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let next = || {
            let mut bytes = [0; 200];
            let length = socket.recv(&mut bytes).unwrap();
            String::from_utf8(bytes[..length].to_vec()).unwrap()
        };
        let manager = ServiceManager::at(path.as_os_str(), None).unwrap();
        manager.ready();
        assert_eq!(next(), "READY=1");
        let reloading = manager.reloading();
        let said = next();
        let micros = said.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap();
        assert!(micros.parse::<u64>().unwrap() > 0, "{said}");
        drop(reloading);
        assert_eq!(next(), "READY=1");
        manager.status("2 searches\nREADY=1");
        assert_eq!(next(), "STATUS=2 searches READY=1");
        manager.alive();
        assert_eq!(next(), "WATCHDOG=1");
        let reloading = manager.reloading();
        assert!(next().starts_with("RELOADING=1"));
        manager.stopping();
        drop(reloading);
        manager.status("end");
        // Nothing says that it is ready once it ends.
        assert_eq!([next(), next()], ["STOPPING=1", "STATUS=end"]);
        std::fs::remove_file(&path).unwrap();
        // Nobody listens any more: that is logged, and holds nobody up.
        manager.alive();
    }
}
