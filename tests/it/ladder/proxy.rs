//! A ladder behind nginx, with the configuration of `examples/operations`.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use plyd::client::Process;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with, sockopt};

use super::pool;
use crate::common::ladder::Ladder;
use crate::common::{process, until};
use crate::tls::file;

/// Where nginx is; Debian has it where not everybody looks.
fn nginx() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = std::env::split_paths(&path).chain(["/usr/sbin".into()]).collect();
    places.iter().map(|place| place.join("nginx")).find(|program| program.exists())
}

/// The whole configuration of an nginx that runs here, on that port, before that ladder.
fn configuration(ladder: &Ladder, port: u16) -> String {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/operations/ladder-proxy.conf");
    let mut server = fs::read_to_string(example).unwrap();
    let letsencrypt = "/etc/letsencrypt/live/ladder.example";
    for (there, here) in [
        // The port is reserved by a socket that shares it and does not listen.
        ("listen 443 ssl;", format!("listen 127.0.0.1:{port} ssl reuseport;")),
        ("server_name ladder.example;", "server_name localhost;".to_owned()),
        (&format!("{letsencrypt}/fullchain.pem"), file("server.pem")),
        (&format!("{letsencrypt}/privkey.pem"), file("server.key")),
        ("http://127.0.0.1:7128;", format!("http://{};", ladder.web.unwrap())),
    ] {
        assert!(server.contains(there), "{there}");
        server = server.replace(there, &here);
    }
    let at = ladder.folder.path.display();
    format!(
        "daemon off; master_process off; pid {at}/nginx.pid; error_log {at}/nginx.log; events {{}}
         http {{ access_log off; client_body_temp_path {at}/body; proxy_temp_path {at}/proxied;
         fastcgi_temp_path {at}/fast; scgi_temp_path {at}/scgi; uwsgi_temp_path {at}/uwsgi; {server} }}"
    )
}

#[test]
#[allow(clippy::print_stderr, reason = "a test that does not run says so")]
fn bots_dial_through_a_proxy_and_its_restart_costs_no_game() {
    let Some(nginx) = nginx() else {
        eprintln!("skipped: it needs nginx");
        return;
    };
    let reserved = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    sockopt::set_socket_reuseport(&reserved, true).unwrap();
    bind(&reserved, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let port = SocketAddr::try_from(getsockname(&reserved).unwrap()).unwrap().port();

    let mut ladder = Ladder::new("ladder-nginx");
    pool(&ladder, "calm", &["--clock", "tc=10m+1s"]);
    let dial = format!("wss://localhost:{port}");
    ladder.serve(&["--http", "127.0.0.1:0", "--behind-proxy", "--dial", &dial]);
    let settings = ladder.folder.file("nginx.conf", configuration(&ladder, port));
    let start = || -> Process {
        let mut command = Command::new(&nginx);
        command.args(["-e", "stderr", "-c", &settings]);
        let mut launch = process::launch(&command);
        launch.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        process::spawn(launch)
    };
    let mut proxy = start();
    let url = format!("{dial}?ca={}", file("authority.pem"));
    let bots: Vec<Process> = ["ann", "bob"]
        .map(|name| ladder.connect_to(&url, &ladder.token(name, name), &["--option", "level=1"]))
        .into();
    until("a pair is played", || ladder.check().games >= 2);
    for games in [4, 6] {
        // Dropped, it is killed, with the connections of both bots.
        drop(proxy);
        proxy = start();
        until("bots play again", || ladder.check().games >= games);
    }
    drop(bots);
    drop(proxy);
    ladder.stop();
    let checked = ladder.check();
    assert_eq!(checked.void, 0, "{checked:?}");
    let mut store = ladder.store();
    for bot in store.bots().unwrap() {
        let forfeits = store.games_of(bot.id, None, true, u64::MAX).unwrap();
        assert!(forfeits.is_empty(), "{forfeits:?}");
    }
}
