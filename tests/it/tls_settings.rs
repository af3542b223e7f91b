//! The settings of TLS: files that do not fit, files that are read again, and the environment.

use std::time::Instant;

use crate::common::{Folder, TIMEOUT, process};
use crate::tls::{Daemon, ask, file, refused};
use plyd::client::Client;
use plyd_protocol::{Command, Ping};
use rustix::process::Signal;

#[test]
fn files_that_do_not_fit_keep_the_daemon_from_starting() {
    let folder = Folder::new("tls-files");
    let nothing = folder.file("nothing.pem", "");
    let half = std::fs::read_to_string(file("server.pem")).unwrap();
    let half = folder.file("half.pem", &half[..half.len() / 2]);
    let (cert, key) = (file("server.pem"), file("server.key"));
    let key_text = std::fs::read_to_string(&key).unwrap();
    let secret = key_text.lines().nth(1).unwrap();
    for (flags, words) in [
        (vec!["--tls-cert", "/nowhere.pem", "--tls-key", &key], vec!["/nowhere.pem", "No such file"]),
        (vec!["--tls-cert", &nothing, "--tls-key", &key], vec!["nothing.pem", "no certificate"]),
        (vec!["--tls-cert", &half, "--tls-key", &key], vec!["half.pem", "not whole"]),
        (vec!["--tls-cert", &cert, "--tls-key", &cert], vec!["server.pem", "no private key"]),
        (vec!["--tls-cert", &key, "--tls-key", &key], vec!["server.key", "no certificate"]),
        (vec!["--tls-cert", &cert, "--tls-key", &file("foreign.key")], vec!["foreign.key", "not the one of"]),
        (vec!["--tls-cert", &cert, "--tls-key", &key, "--tls-client-ca", &nothing], vec!["nothing.pem"]),
        (vec!["--tls-cert", &cert], vec!["tls-cert", "`tls-key`"]),
        (vec!["--tls-key", &key], vec!["tls-key", "`tls-cert`"]),
        (vec!["--tls-client-ca", &cert], vec!["tls-client-ca", "`tls-cert`"]),
    ] {
        for check in [&["--check"][..], &[]] {
            let arguments = [&["serve", "--tcp", "127.0.0.1:0"], &flags[..], check].concat();
            let output = process::output(process::plyd(arguments));
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "{flags:?}");
            assert!(words.iter().all(|word| said.contains(word)), "{flags:?}: {said}");
            assert!(!said.contains(secret), "a key is shown: {said}");
        }
    }
}

#[test]
fn certificates_are_read_again_and_bad_ones_change_nothing() {
    let folder = Folder::new("tls-reload");
    let place = |name: &str| {
        for end in ["pem", "key"] {
            folder.file(&format!("served.{end}"), std::fs::read(file(&format!("{name}.{end}"))).unwrap());
        }
    };
    place("server");
    let path = |end: &str| folder.path.join(format!("served.{end}")).to_str().unwrap().to_owned();
    let daemon = Daemon::start(&["--tls-cert".into(), path("pem"), "--tls-key".into(), path("key")]);
    let (ours, foreign) = (daemon.trusting(), daemon.addresses(&[("ca", "foreign-authority.pem")]));
    let mut before: Vec<Client> = ours.iter().map(|address| ask(address).unwrap()).collect();

    folder.file("served.key", "");
    daemon.signal(Signal::HUP);
    let said = daemon.logged("the settings stay as they are");
    assert!(said.contains("served.key") && said.contains("no private key"), "{said}");
    ours.iter().for_each(|address| drop(ask(address).unwrap()));

    place("foreign");
    daemon.signal(Signal::HUP);
    daemon.logged("the settings are read again and in force");
    for (ours, foreign) in ours.iter().zip(&foreign) {
        ask(foreign).unwrap();
        assert!(refused(ours).contains("UnknownIssuer"));
    }
    // Who was connected is not asked again.
    for client in &mut before {
        let (id, _) = client.request(Command::Ping(Ping::default())).unwrap();
        client.wait_final(&id, Instant::now() + TIMEOUT).unwrap();
    }
}

#[test]
fn whether_clients_show_certificates_changes_with_a_restart_alone() {
    let folder = Folder::new("tls-clients");
    let settings = |more: &str| {
        let text = format!("tls-cert = '{}'\ntls-key = '{}'\n{more}", file("server.pem"), file("server.key"));
        folder.file("plyd.toml", text)
    };
    let token = folder.file("token", "secret");
    let with_token = format!("token-file = '{token}'\n");
    let with_authority = format!("tls-client-ca = '{}'\n", file("authority.pem"));
    let daemon = Daemon::start(&["--config".into(), settings(&with_token)]);
    settings(&with_authority);
    daemon.signal(Signal::HUP);
    let said = daemon.logged("the settings stay as they are");
    assert!(said.contains("tls-client-ca"), "{said}");
    // Nobody may come in without the token meanwhile.
    for address in daemon.trusting() {
        let said = refused(&address);
        assert!(said.contains("AuthRequired"), "{said}");
    }
}

#[test]
fn the_environment_alone_can_set_tls() {
    let variables = [
        ("PLYD_SERVE_TLS_CERT", file("server.pem")),
        ("PLYD_SERVE_TLS_KEY", file("server.key")),
        ("PLYD_SERVE_TLS_CLIENT_CA", file("authority.pem")),
    ];
    let daemon = Daemon::start_in(&[], &variables);
    for address in daemon.trusting() {
        assert!(refused(&address).contains("?cert=FILE"), "{address}");
    }
    let showing = [("ca", "authority.pem"), ("cert", "client.pem"), ("key", "client.key")];
    for address in daemon.addresses(&showing) {
        ask(&address).unwrap();
    }
    assert!(ask(&format!("tcp={}", daemon.tcp)).is_err());
    // What one of them names is said, as of a flag.
    for (index, words) in [(0, "no certificate"), (1, "no private key"), (2, "no certificate")] {
        let mut launch = process::plyd(["serve", "--check", "--tcp", "127.0.0.1:0"]);
        launch.command.envs(variables.iter().map(|(name, value)| (name, value)));
        launch.command.env(variables[index].0, "/dev/null");
        let output = process::output(launch);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("/dev/null") && said.contains(words), "{said}");
    }
}

#[test]
fn the_authorities_of_clients_are_read_again() {
    let folder = Folder::new("tls-authorities");
    let place = |name: &str| folder.file("clients.pem", std::fs::read(file(name)).unwrap());
    let tls = ["--tls-cert", &file("server.pem"), "--tls-key", &file("server.key")].map(str::to_owned);
    let clients = ["--tls-client-ca".to_owned(), place("authority.pem")];
    let daemon = Daemon::start(&[&tls[..], &clients].concat());
    let showing = |name: &str| {
        let [cert, key] = ["pem", "key"].map(|end| format!("{name}.{end}"));
        daemon.addresses(&[("ca", "authority.pem"), ("cert", &cert), ("key", &key)])
    };
    let (ours, foreign) = (showing("client"), showing("foreign-client"));
    let mut before: Vec<Client> = ours.iter().map(|address| ask(address).unwrap()).collect();
    foreign.iter().for_each(|address| drop(refused(address)));
    place("foreign-authority.pem");
    daemon.signal(Signal::HUP);
    daemon.logged("the settings are read again and in force");
    for (ours, foreign) in ours.iter().zip(&foreign) {
        ask(foreign).unwrap();
        refused(ours);
    }
    // Who was let in before stays.
    for client in &mut before {
        let (id, _) = client.request(Command::Ping(Ping::default())).unwrap();
        client.wait_final(&id, Instant::now() + TIMEOUT).unwrap();
    }
}
