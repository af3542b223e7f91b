//! A burst of connections: those that the daemon has not accepted yet wait, and none is turned away.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;

use crate::common::{Folder, Logged, TIMEOUT, process, until};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::Signal;
use serde_json::json;

/// More than libraries let wait, 128.
const BURST: usize = 200;

#[test]
fn a_burst_of_connections_waits_until_it_is_accepted() {
    let folder = Folder::new("backlog");
    let path = folder.path.join("plyd.socket");
    let unix = path.to_str().unwrap();
    let arguments = ["--tcp", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--unix", unix];
    let daemon = Logged::start(&[&arguments[..], &["--metrics", "127.0.0.1:0"]].concat(), &[], 2);
    let addresses = [daemon.addresses[0], daemon.addresses[1], daemon.metrics()];
    let mode = || fs::metadata(&path).map(|found| found.permissions().mode() & 0o777);
    until("the Unix socket is served", || mode().is_ok_and(|mode| mode == 0o600));
    // It accepts nothing from now on.
    process::signal(&daemon.process, Signal::STOP);
    let status = format!("/proc/{}/status", daemon.process.id());
    until("it stands still", || fs::read_to_string(&status).unwrap().contains("State:\tT"));
    let waiting = addresses.map(|address| (0..BURST).map(|number| tcp(address, number)).collect::<Vec<_>>());
    drop(waiting);
    let address = SocketAddrUnix::new(&path).unwrap();
    let waiting: Vec<OwnedFd> = (0..BURST)
        .map(|number| {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
            connect(&socket, &address).unwrap_or_else(|error| panic!("{number} of {unix}: {error}"));
            socket
        })
        .collect();
    drop(waiting);
    process::signal(&daemon.process, Signal::CONT);
    daemon.greet(json!({})).ping();
    daemon.end();
}

/// A connection that the system completes, without the daemon: at a full backlog it would wait for ever.
fn tcp(address: SocketAddr, number: usize) -> TcpStream {
    TcpStream::connect_timeout(&address, TIMEOUT)
        .unwrap_or_else(|error| panic!("{number} of {address}: {error}"))
}
