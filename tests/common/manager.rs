//! A service manager, as systemd is one to a daemon: it hears how the daemon is, and holds its sockets.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::Duration;

use plyd::client::Launch;

use super::{Folder, TIMEOUT, process};

/// The messages of daemons.
pub(crate) struct Manager {
    socket: UnixDatagram,
    /// What daemons find it by.
    pub(crate) address: String,
}

impl Manager {
    /// One that listens at a path.
    pub(crate) fn new(folder: &Folder) -> Self {
        let path = folder.path.join("notify");
        let socket = UnixDatagram::bind(&path).expect("a new socket");
        Self { socket, address: path.to_str().expect("a path in UTF-8").to_owned() }
    }

    /// One that listens at an abstract name.
    #[cfg(target_os = "linux")]
    pub(crate) fn hidden(name: &str) -> Self {
        use std::os::linux::net::SocketAddrExt;
        let name = format!("plyd-{name}-{}", std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).expect("a short name");
        let socket = UnixDatagram::bind_addr(&address).expect("a new socket");
        Self { socket, address: format!("@{name}") }
    }

    /// The next message, its fields in lines.
    pub(crate) fn next(&self) -> String {
        self.socket.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        self.receive().expect("a message comes")
    }

    /// Waits for a message with that line; gives those before it.
    pub(crate) fn until(&self, line: &str) -> Vec<String> {
        let mut before = Vec::new();
        loop {
            let message = self.next();
            if message.lines().any(|found| found == line) {
                return before;
            }
            before.push(message);
        }
    }

    /// All that has come already.
    pub(crate) fn rest(&self) -> Vec<String> {
        self.socket.set_nonblocking(true).expect("a flag");
        let rest = std::iter::from_fn(|| self.receive().ok()).collect();
        self.socket.set_nonblocking(false).expect("a flag");
        rest
    }

    /// All that comes within a time.
    pub(crate) fn within(&self, time: Duration) -> Vec<String> {
        std::thread::sleep(time);
        self.rest()
    }

    fn receive(&self) -> io::Result<String> {
        let mut bytes = [0; 4096];
        let length = self.socket.recv(&mut bytes)?;
        Ok(String::from_utf8(bytes[..length].to_vec()).expect("a text"))
    }
}

/// What starts `plyd serve` with these descriptors from number 3 on, as systemd hands them over; at most
/// three, which the shell between moves there. Variables such as `LISTEN_FDNAMES=tcp:ws`
/// stand before it.
pub(crate) fn handing(descriptors: Vec<OwnedFd>, variables: &str, arguments: &[&str]) -> Launch {
    let count = descriptors.len();
    let moved = ["3<&0", "4<&1", "5<&2"][..count].join(" ");
    // Its log goes to where the log is read even if the third descriptor came as stderr.
    let script = format!(
        "exec {moved} 0</dev/null 1>/dev/null 2>\"$LOG\"; \
         exec env LISTEN_PID=$$ LISTEN_FDS={count} {variables} \"$0\" serve -v \"$@\""
    );
    let mut launch = process::launch(Command::new("sh").args(["-c", &script, process::PLYD]).args(arguments));
    let null = || Stdio::from(File::open("/dev/null").expect("a device"));
    launch.command.env("LOG", "/dev/null").stdin(null()).stdout(null()).stderr(null());
    for (at, fd) in descriptors.into_iter().enumerate() {
        match at {
            0 => launch.command.stdin(Stdio::from(fd)),
            1 => launch.command.stdout(Stdio::from(fd)),
            _ => launch.command.stderr(Stdio::from(fd)),
        };
    }
    launch
}
