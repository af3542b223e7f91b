//! What a service manager hears: that the daemon serves, reads its settings again, is alive, and ends.

// The functions beside the tests are called by them alone.
use std::fs;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use crate::common::manager::Manager;
use crate::common::{Folder, Peer, process, until};
use plyd::client::Process;
use rustix::process::Signal;
use serde_json::json;

/// A daemon at a socket in the folder, whose service manager this is.
fn start(folder: &Folder, manager: &Manager, arguments: &[&str], variables: &[(&str, &str)]) -> Process {
    let socket = folder.path.join("socket");
    let mut launch = process::plyd(["serve", "--unix", socket.to_str().unwrap()].iter().chain(arguments));
    launch.command.current_dir(&folder.path).env("NOTIFY_SOCKET", &manager.address);
    launch.command.envs(variables.iter().copied()).stdout(Stdio::null()).stderr(Stdio::null());
    process::spawn(launch)
}

fn end(manager: &Manager, mut daemon: Process) -> Vec<String> {
    process::signal(&daemon, Signal::TERM);
    let before = manager.until("STOPPING=1");
    assert!(process::exit(&mut daemon).success());
    before
}

fn ping(folder: &Folder) {
    let stream = UnixStream::connect(folder.path.join("socket")).expect("it listens");
    let mut peer = Peer::new(Box::new(stream.try_clone().unwrap()), stream);
    peer.hello(json!({}));
    peer.ping();
}

#[test]
fn it_is_ready_once_it_listens_and_stopping_when_it_ends() {
    let folder = Folder::new("service-ready");
    let managers = [Manager::new(&folder), Manager::hidden("service-ready")];
    for manager in managers {
        let daemon = start(&folder, &manager, &["--tcp", "127.0.0.1:0"], &[]);
        assert_eq!(manager.until("READY=1"), [""; 0], "nothing comes before");
        // At once: the socket that is opened last listens already.
        ping(&folder);
        assert_eq!(manager.next(), "STATUS=0 connections, 0 searches");
        let before = end(&manager, daemon);
        assert_eq!(before, [""; 0], "no signs of life unless they are asked for");
        assert_eq!(manager.rest(), ["STATUS=ending"]);
    }
}

#[test]
fn a_daemon_that_cannot_serve_is_never_ready() {
    let folder = Folder::new("service-failed");
    let manager = Manager::new(&folder);
    for arguments in [["--tcp", "0.0.0.0:0"], ["--transcript", "no/such/folder"]] {
        let mut daemon = start(&folder, &manager, &arguments, &[]);
        assert!(!process::exit(&mut daemon).success());
        let said = manager.rest();
        assert!(said.iter().all(|message| !message.contains("READY=1")), "{arguments:?}: {said:?}");
    }
}

#[test]
fn each_reload_has_a_beginning_and_an_end() {
    let folder = Folder::new("service-reload");
    let manager = Manager::new(&folder);
    let settings = folder.file("plyd.toml", "idle = 60");
    let daemon = start(&folder, &manager, &["--config", &settings], &[]);
    manager.until("STATUS=0 connections, 0 searches");
    // Whether it is good or not.
    for text in ["idle = 70", "idle = \"nonsense\""] {
        fs::write(&settings, text).unwrap();
        process::signal(&daemon, Signal::HUP);
        let message = manager.next();
        let micros = message.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").expect(&message);
        let uptime = fs::read_to_string("/proc/uptime").unwrap();
        let uptime: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
        assert!(micros.parse::<f64>().unwrap() / 1e6 <= uptime + 1.0, "{message} after {uptime} s");
        assert_eq!(manager.next(), "READY=1", "{text}");
    }
    ping(&folder);
    end(&manager, daemon);
}

#[test]
fn signs_of_life_come_while_they_are_wanted_of_this_process() {
    let folder = Folder::new("service-alive");
    let manager = Manager::new(&folder);
    let daemon = start(&folder, &manager, &[], &[("WATCHDOG_USEC", "20000")]);
    manager.until("READY=1");
    for _ in 0..10 {
        manager.until("WATCHDOG=1");
    }
    // A process that stands still gives none.
    process::signal(&daemon, Signal::STOP);
    let status = format!("/proc/{}/stat", daemon.id());
    until("it stands still", || fs::read_to_string(&status).unwrap().contains(") T "));
    manager.rest();
    let said = manager.within(std::time::Duration::from_millis(300));
    assert!(said.is_empty(), "{said:?}");
    process::signal(&daemon, Signal::CONT);
    manager.until("WATCHDOG=1");
    end(&manager, daemon);
    // Another process is meant, or nobody.
    for variables in [
        [("WATCHDOG_USEC", "2000"), ("WATCHDOG_PID", "1")],
        [("WATCHDOG_USEC", "0"), ("WATCHDOG_PID", "")],
        [("WATCHDOG_USEC", "soon"), ("WATCHDOG_PID", "1")],
    ] {
        let daemon = start(&folder, &manager, &[], &variables);
        manager.until("READY=1");
        for _ in 0..5 {
            ping(&folder);
        }
        let said = end(&manager, daemon);
        assert!(said.iter().all(|message| message != "WATCHDOG=1"), "{variables:?}: {said:?}");
        manager.rest();
    }
}

#[test]
fn a_drain_is_announced_and_signs_of_life_go_on_within_it() {
    let folder = Folder::new("service-drain");
    let manager = Manager::new(&folder);
    let mut daemon = start(&folder, &manager, &["--drain-ms", "4000000000"], &[("WATCHDOG_USEC", "20000")]);
    manager.until("READY=1");
    let stream = UnixStream::connect(folder.path.join("socket")).unwrap();
    let mut peer = Peer::new(Box::new(stream.try_clone().unwrap()), stream);
    peer.hello(json!({}));
    peer.send(&crate::common::go("g", json!({ "clock": crate::common::endless() })));
    peer.info("g", "started");
    manager.until("STATUS=1 connection, 1 search");
    process::signal(&daemon, Signal::TERM);
    manager.until("STOPPING=1");
    for _ in 0..5 {
        manager.until("WATCHDOG=1");
    }
    assert!(process::runs(&mut daemon));
    peer.result(&crate::common::stop("g"));
    peer.closed();
    assert!(process::exit(&mut daemon).success());
}

#[test]
fn a_daemon_of_another_program_speaks_for_nobody() {
    let folder = Folder::new("service-child");
    let manager = Manager::new(&folder);
    // On standard streams alone it is a child of whoever started it.
    let mut launch = process::plyd(["serve"]);
    launch.command.env("NOTIFY_SOCKET", &manager.address);
    let output = process::output_of(launch, "{\"id\":\"1\",\"cmd\":\"ping\"}\n");
    assert!(output.status.success() && !output.stdout.is_empty());
    assert_eq!(manager.rest(), [""; 0]);
    // And what a service starts hears nothing of its manager.
    let list = folder.path.join("environment");
    let script = format!("env > {}; exec {} serve", list.display(), process::PLYD);
    let transcript = concat!(env!("CARGO_MANIFEST_DIR"), "/protocol/transcripts/eof-stop.jsonl");
    let mut launch = process::plyd(["replay", transcript, "--", "sh", "-c", &script]);
    launch.command.env("NOTIFY_SOCKET", &manager.address).env("WATCHDOG_USEC", "1000");
    launch.command.env("LISTEN_PID", "1").env("LISTEN_FDS", "1").env("LISTEN_FDNAMES", "tcp");
    process::output(launch);
    let names = fs::read_to_string(list).unwrap();
    let names: Vec<&str> = names.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert!(names.contains(&"PATH"), "{names:?}");
    for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] {
        assert!(!names.contains(&name), "{name}");
    }
    assert_eq!(manager.rest(), [""; 0]);
}

#[test]
fn an_address_that_is_none_keeps_no_daemon_from_serving() {
    let folder = Folder::new("service-nobody");
    for address in ["nonsense", "/no/such/socket", "@nobody-listens-here", "vsock:2:1", ""] {
        let socket = folder.path.join("socket");
        let mut launch = process::plyd(["serve", "--unix", socket.to_str().unwrap()]);
        launch.command.env("NOTIFY_SOCKET", address).env("WATCHDOG_USEC", "10000");
        launch.command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut daemon = process::spawn(launch);
        until(&format!("{address}: it listens"), || UnixStream::connect(&socket).is_ok());
        ping(&folder);
        process::signal(&daemon, Signal::TERM);
        assert!(process::exit(&mut daemon).success(), "{address}");
    }
}
