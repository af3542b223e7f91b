//! Sockets that a service manager holds: they are served by their names or addresses, stay when the daemon
//! ends, and nobody is refused while it restarts.

// The functions beside the tests are called by them alone.
use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;

use crate::common::manager::{Manager, handing};
use crate::common::{Folder, Peer, process, until, websocket};
use plyd::client::Process;
use rustix::process::Signal;
use serde_json::json;

fn local() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn copy(listener: &TcpListener) -> OwnedFd {
    listener.try_clone().unwrap().into()
}

/// Starts a daemon that serves these, and waits until it says so.
fn start(manager: &Manager, sockets: Vec<OwnedFd>, names: &str, arguments: &[&str]) -> Process {
    let variables = format!("LISTEN_FDNAMES={names}");
    let mut launch = handing(sockets, &variables, arguments);
    launch.command.env("NOTIFY_SOCKET", &manager.address);
    let daemon = process::spawn(launch);
    manager.until("READY=1");
    daemon
}

fn end(mut daemon: Process) {
    process::signal(&daemon, Signal::TERM);
    assert!(process::exit(&mut daemon).success());
}

/// Talks to whoever serves there.
fn talk(mut peer: Peer) {
    peer.hello(json!({}));
    peer.ping();
}

fn talk_tcp(address: SocketAddr) {
    let stream = TcpStream::connect(address).unwrap();
    talk(Peer::tcp(stream.try_clone().unwrap(), stream));
}

fn talk_ws(address: SocketAddr) {
    let (lines, messages) = websocket::open(TcpStream::connect(address).unwrap());
    talk(Peer::new(Box::new(lines), messages));
}

#[test]
fn names_decide_what_sockets_speak() {
    let folder = Folder::new("sockets-names");
    let manager = Manager::new(&folder);
    let path = folder.path.join("socket");
    let ((tcp, tcp_at), (ws, ws_at)) = (local(), local());
    let unix = UnixListener::bind(&path).unwrap();
    for round in 0..2 {
        let sockets = vec![copy(&ws), unix.try_clone().unwrap().into(), copy(&tcp)];
        let daemon = start(&manager, sockets, "ws:unix:tcp", &[]);
        talk_tcp(tcp_at);
        talk_ws(ws_at);
        let stream = UnixStream::connect(&path).unwrap();
        talk(Peer::new(Box::new(stream.try_clone().unwrap()), stream));
        // No child process could have them.
        for number in 3..6 {
            let about = fs::read_to_string(format!("/proc/{}/fdinfo/{number}", daemon.id())).unwrap();
            let flags = about.lines().find_map(|line| line.strip_prefix("flags:")).unwrap().trim();
            let flags = u32::from_str_radix(flags, 8).unwrap();
            assert!(flags & 0o2_000_000 != 0, "descriptor {number} is inherited: {about}");
        }
        end(daemon);
        // They are not the daemon's to remove.
        assert!(path.exists(), "round {round}");
        TcpStream::connect(tcp_at).unwrap();
    }
}

#[test]
fn the_settings_say_what_a_socket_without_such_a_name_speaks() {
    let folder = Folder::new("sockets-addresses");
    let manager = Manager::new(&folder);
    let path = folder.path.join("socket");
    let ((tcp, tcp_at), (ws, ws_at)) = (local(), local());
    let unix = UnixListener::bind(&path).unwrap();
    let config = format!("tcp = [\"{tcp_at}\"]\nws = [\"{ws_at}\"]\nunix = \"{}\"\n", path.display());
    let config = folder.file("plyd.toml", config);
    let sockets = vec![unix.try_clone().unwrap().into(), copy(&ws), copy(&tcp)];
    // As one socket unit names them.
    let names = "plyd.socket:plyd.socket:plyd.socket";
    let daemon = start(&manager, sockets, names, &["--config", &config, "--ws-origin", "http://localhost"]);
    talk_tcp(tcp_at);
    talk_ws(ws_at);
    let stream = UnixStream::connect(&path).unwrap();
    talk(Peer::new(Box::new(stream.try_clone().unwrap()), stream));
    end(daemon);
    assert!(path.exists());
    // What is not handed over is opened beside it, and goes with the daemon.
    let other = folder.path.join("other");
    let arguments = ["--unix", other.to_str().unwrap()];
    let daemon = start(&manager, vec![copy(&tcp)], "tcp", &arguments);
    talk_tcp(tcp_at);
    let stream = UnixStream::connect(&other).unwrap();
    talk(Peer::new(Box::new(stream.try_clone().unwrap()), stream));
    end(daemon);
    assert!(!other.exists());
}

/// What a daemon says that cannot serve what it is handed.
fn refusal(descriptors: Vec<OwnedFd>, variables: &str, arguments: &[&str]) -> String {
    let folder = Folder::new("sockets-refused");
    let log = folder.path.join("log");
    let mut launch = handing(descriptors, variables, arguments);
    launch.command.env("LOG", &log);
    let mut daemon = process::spawn(launch);
    let status = process::exit(&mut daemon);
    let said = fs::read_to_string(log).unwrap();
    assert!(!status.success() && said.contains("error: "), "{variables} {arguments:?}: {said}");
    said
}

#[test]
fn what_cannot_be_served_is_named_and_what_to_do() {
    let folder = Folder::new("sockets-hostile");
    let (tcp, at) = local();
    let stream = || OwnedFd::from(TcpStream::connect(at).unwrap());
    let file = || OwnedFd::from(File::open(folder.file("file", "text")).unwrap());
    let udp = || OwnedFd::from(UdpSocket::bind("127.0.0.1:0").unwrap());
    let unix = || OwnedFd::from(UnixListener::bind(folder.path.join("socket")).unwrap());
    let open = || OwnedFd::from(TcpListener::bind("0.0.0.0:0").unwrap());
    let rows: [(Vec<OwnedFd>, &str, &[&str]); 12] = [
        (vec![file()], "LISTEN_FDNAMES=tcp", &["`tcp`", "descriptor 3"]),
        (vec![udp()], "LISTEN_FDNAMES=tcp", &["neither a TCP socket nor a Unix socket"]),
        (vec![stream()], "LISTEN_FDNAMES=tcp", &["does not listen", "Accept=no"]),
        (vec![copy(&tcp), file()], "LISTEN_FDNAMES=tcp:ws", &["`ws`", "descriptor 4"]),
        (vec![copy(&tcp)], "LISTEN_FDNAMES=unix", &["`unix`", "name it `tcp` or `ws`"]),
        (vec![unix()], "LISTEN_FDNAMES=ws", &["`ws`", "name it `unix`"]),
        (
            vec![copy(&tcp)],
            "LISTEN_FDNAMES=plyd.socket",
            &["`plyd.socket`", "FileDescriptorName=tcp", &at.to_string()],
        ),
        (vec![copy(&tcp)], "", &["FileDescriptorName=tcp"]),
        (vec![copy(&tcp)], "LISTEN_FDNAMES=tcp LISTEN_FDS=2", &["descriptor 4"]),
        (vec![copy(&tcp)], "LISTEN_FDS=4000000000", &["LISTEN_FDS must be a number up to 64"]),
        (vec![copy(&tcp)], "LISTEN_FDS=-1", &["LISTEN_FDS must be a number up to 64"]),
        (vec![open()], "LISTEN_FDNAMES=tcp", &["refusing to listen on 0.0.0.0:", "without a token"]),
    ];
    for (descriptors, variables, wanted) in rows {
        let said = refusal(descriptors, variables, &[]);
        for text in wanted {
            assert!(said.contains(text), "{variables}: `{text}` is not in {said}");
        }
    }
}

#[test]
fn sockets_of_another_process_are_left_alone() {
    let (tcp, _) = local();
    let mut launch = handing(vec![copy(&tcp)], "LISTEN_PID=1 LISTEN_FDNAMES=nonsense", &[]);
    launch.command.stderr(Stdio::null());
    // Nothing else is to be served, so that it serves standard input, which is at its end.
    assert!(process::exit(&mut process::spawn(launch)).success());
}

#[test]
fn nobody_is_refused_while_the_daemon_restarts() {
    let folder = Folder::new("sockets-restart");
    let manager = Manager::new(&folder);
    let (listener, address) = local();
    let is_over = AtomicBool::new(false);
    let (served, cut) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let clients = [(); 4].map(|()| {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    // A refusal ends the test here.
                    let stream = TcpStream::connect(address).expect("nobody is refused");
                    let was_served = greet(stream);
                    (if was_served { &served } else { &cut }).fetch_add(1, Relaxed);
                }
            })
        });
        for round in 0..6 {
            let mut daemon = start(&manager, vec![copy(&listener)], "tcp", &[]);
            let before = served.load(Relaxed);
            until("20 more are served", || served.load(Relaxed) >= before + 20);
            // In order, or killed.
            process::signal(&daemon, if round % 2 == 0 { Signal::TERM } else { Signal::KILL });
            process::exit(&mut daemon);
            manager.rest();
            // Nobody serves now, and they wait.
        }
        let daemon = start(&manager, vec![copy(&listener)], "tcp", &[]);
        let before = served.load(Relaxed);
        until("20 more are served", || served.load(Relaxed) >= before + 20);
        is_over.store(true, Relaxed);
        clients.into_iter().for_each(|client| client.join().expect("nobody is refused"));
        end(daemon);
    });
    // Those that were connected when it ended connected again.
    let (served, cut) = (served.into_inner(), cut.into_inner());
    assert!(served >= 140 && cut < served, "{served} served, {cut} cut off");
}

/// Whether a `hello` is answered on this connection before it ends.
fn greet(mut stream: TcpStream) -> bool {
    use std::io::{BufRead, BufReader, Write};
    let hello = b"{\"id\":\"h\",\"cmd\":\"hello\",\"protocol\":{\"min\":1,\"max\":1}}\n";
    if stream.write_all(hello).is_err() {
        return false;
    }
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.take(2).any(|line| line.contains("\"of\":\"hello\""))
}
