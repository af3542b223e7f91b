//! `plyd systemd`: the units say what the settings ask for, and systemd takes them and calls them safe.

// The functions beside the tests are called by them alone.
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};

use crate::common::{Folder, process};

/// What `plyd systemd` prints.
fn units(arguments: &[&str]) -> Output {
    let mut launch = process::plyd(["systemd"].iter().chain(arguments));
    // What the tests of others have in their environment is no setting of these.
    launch.command.stdin(Stdio::null());
    process::output(launch)
}

fn unit(arguments: &[&str]) -> String {
    let output = units(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    // The files of tests are temporary ones of one user, and name users that need not be here.
    let known = ["the service cannot read", "has no user", "has no TLS", "the unit would not start"];
    let is_known = said.lines().all(|line| known.iter().any(|known| line.contains(known)));
    assert!(output.status.success() && is_known, "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn refusal(arguments: &[&str]) -> String {
    let output = units(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    said
}

/// The values of a name, in their order.
fn values<'u>(unit: &'u str, name: &str) -> Vec<&'u str> {
    unit.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('=')).collect()
}

/// Settings that a service may have, each with whether it is a whole set: what they are served by.
fn settings(folder: &Folder) -> [Vec<String>; 6] {
    let all = folder.file(
        "all.toml",
        "tcp = [\"0.0.0.0:7117\", \"[::1]:7117\"]\nws = [\"127.0.0.1:7118\"]\nunix = \"/run/plyd/socket\"\n\
         token-file = \"/etc/plyd/token\"\ntranscript = \"/var/lib/plyd/transcript\"\ndrain-ms = 30000\nhash-mb = 512\n",
    );
    let named = folder.file(
        "named.toml",
        "tcp = [\"0.0.0.0:7117\"]\nws = [\"0.0.0.0:7118\"]\nmetrics = \"127.0.0.1:7120\"\n\
         clients-file = \"/etc/plyd/clients.toml\"\ntls-cert = \"/etc/plyd/fullchain.pem\"\n\
         tls-key = \"/etc/plyd/privkey.pem\"\ntls-client-ca = \"/etc/plyd/authority.pem\"\nresume-ms = 60000\n",
    );
    let texts: [&[&str]; 6] = [
        &["--config", &all],
        &["--tcp", "127.0.0.1:7117"],
        &["--unix", "/run/plyd/a b/100%", "-vv"],
        &["--tcp", "0.0.0.0:443", "--token-file", "/etc/plyd/token", "--transcript", "/var/log/plyd/lines"],
        &["--ws", "[::]:7118", "--insecure", "--ws-origin", "https://example.org"],
        &["--config", &named],
    ];
    texts.map(|texts| texts.iter().map(ToString::to_string).collect())
}

/// The unit by these arguments and more.
fn print(arguments: &[String], more: &[&str]) -> String {
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.extend(more);
    unit(&arguments)
}

#[test]
fn a_service_gets_what_its_settings_need_and_no_more() {
    let folder = Folder::new("units");
    let [all, tcp, ..] = settings(&folder);
    let service = print(&all, &["--exec", "/usr/local/bin/plyd"]);
    let exec = format!("/usr/local/bin/plyd serve --config {} --token-file=%d/token-file", all[1]);
    for (name, wanted) in [
        ("Type", &["notify"][..]),
        ("ExecStart", &[&exec]),
        ("ExecReload", &["/bin/kill -HUP $MAINPID"]),
        ("LoadCredential", &["token-file:/etc/plyd/token"]),
        ("StateDirectory", &["plyd"]),
        ("RuntimeDirectory", &["plyd"]),
        // 30 s of drain, 5 s of shutdown, and 5 s more.
        ("TimeoutStopSec", &["40"]),
        // 512 of tables, three times 256 of requests, sessions and answers, and the rest.
        ("MemoryMax", &["1536M"]),
        ("WatchdogSec", &["30"]),
        ("CapabilityBoundingSet", &[""]),
        ("IPAddressDeny", &[]),
        ("DynamicUser", &["yes"]),
    ] {
        assert_eq!(values(&service, name), wanted, "{name} in {service}");
    }
    // systemd makes the socket, and its folder: the service must not take that away when it ends.
    let activated = print(&all, &["--activated"]);
    assert_eq!(values(&activated, "RuntimeDirectory"), [""; 0]);
    assert_eq!(values(&activated, "Requires"), ["plyd.socket"]);
    assert_eq!(values(&activated, "Also"), ["plyd.socket"]);
    let sockets = print(&all, &["--socket"]);
    let listens = ["0.0.0.0:7117", "[::1]:7117", "127.0.0.1:7118", "/run/plyd/socket"];
    assert_eq!(values(&sockets, "ListenStream"), listens);
    assert_eq!(values(&sockets, "FileDescriptorName"), [""; 0], "each is known by its address");
    assert_eq!(values(&sockets, "SocketMode"), ["0660"]);

    let service = print(&tcp, &["--resume-ms", "60000", "--resume-connections", "100", "--resume-mb", "2"]);
    // 1024 of tables, 768 as above, 256 for the rest; 200 of messages that were sent, and as many that wait.
    assert_eq!(values(&service, "MemoryMax"), ["2448M"]);

    let service = print(&tcp, &[]);
    assert_eq!(values(&service, "IPAddressAllow"), ["localhost"]);
    assert_eq!(values(&service, "ExecReload"), [""; 0], "without a file SIGHUP ends it");
    let tls = ["--tls-cert", "/etc/plyd/certificate", "--tls-key", "/etc/plyd/key"];
    for more in [&["--clients-file", "/etc/plyd/clients"][..], &tls] {
        assert_eq!(values(&print(&tcp, more), "ExecReload"), ["/bin/kill -HUP $MAINPID"], "{more:?}");
    }
    assert_eq!(values(&print(&tcp, &["--socket"]), "FileDescriptorName"), ["tcp"]);
}

#[test]
fn a_service_of_a_user_who_exists_reads_files_where_they_are() {
    let folder = Folder::new("units-user");
    let [all, tcp, ..] = settings(&folder);
    // So that a reload finds new ones.
    let own = print(&all, &["--exec", "/usr/local/bin/plyd", "--user", "plyd"]);
    let exec = format!("/usr/local/bin/plyd serve --config {}", all[1]);
    for (name, wanted) in [
        ("ExecStart", &[exec.as_str()][..]),
        ("ExecReload", &["/bin/kill -HUP $MAINPID"]),
        ("LoadCredential", &[]),
        ("DynamicUser", &[]),
        ("User", &["plyd"]),
        ("StateDirectory", &["plyd"]),
        ("ProtectHome", &["yes"]),
    ] {
        assert_eq!(values(&own, name), wanted, "{name} in {own}");
    }
    let at_home = ["--exec", "/opt/plyd", "--clients-file", "/home/ops/clients", "--user", "plyd"];
    let own = print(&tcp, &at_home);
    let exec = "/opt/plyd serve --clients-file=/home/ops/clients --tcp=127.0.0.1:7117";
    let sorted = |text: &str| text.split(' ').map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(sorted(values(&own, "ExecStart")[0]), sorted(exec));
    assert_eq!(values(&own, "ProtectHome"), ["read-only"]);
}

#[test]
fn a_service_may_do_what_its_sockets_and_secrets_need() {
    let folder = Folder::new("units-rights");
    let [_, _, unix, low, open, named] = settings(&folder);
    let service = print(&unix, &["--exec", "/opt/my games/plyd"]);
    assert_eq!(
        values(&service, "ExecStart"),
        ["\"/opt/my games/plyd\" serve \"--unix=/run/plyd/a b/100%%\" --verbose --verbose"]
    );
    assert_eq!(values(&service, "RuntimeDirectory"), ["\"plyd/a b\""]);
    assert_eq!(values(&service, "PrivateNetwork"), ["yes"]);
    assert_eq!(values(&service, "RestrictAddressFamilies"), ["AF_UNIX"]);

    let service = print(&low, &[]);
    assert_eq!(values(&service, "AmbientCapabilities"), ["CAP_NET_BIND_SERVICE"]);
    assert_eq!(values(&service, "LogsDirectory"), ["plyd"]);
    // A socket of systemd's needs no right of the daemon's.
    assert_eq!(values(&print(&low, &["--activated"]), "AmbientCapabilities"), [""]);
    assert!(values(&print(&open, &[]), "ExecStart")[0].contains(" --ws-origin=https://example.org"));

    // Each secret is a credential of its own.
    let service = print(&named, &["--exec", "/usr/local/bin/plyd"]);
    let credentials = [
        "clients-file:/etc/plyd/clients.toml",
        "tls-cert:/etc/plyd/fullchain.pem",
        "tls-client-ca:/etc/plyd/authority.pem",
        "tls-key:/etc/plyd/privkey.pem",
    ];
    let mut loaded = values(&service, "LoadCredential");
    loaded.sort_unstable();
    assert_eq!(loaded, credentials);
    // 1024 of tables, 768 of requests, sessions and answers, twice 64 of what is kept, and the rest.
    assert_eq!(values(&service, "MemoryMax"), ["2176M"]);
}

#[test]
fn what_cannot_run_as_a_service_is_refused_with_what_to_do() {
    let rows: [(&[&str], &[&str]); 19] = [
        (&[], &["nothing would be served", "give `tcp`, `ws` or `unix`"]),
        (&["--socket"], &["nothing would be served", "--config"]),
        (&["--stdio", "--tcp", "127.0.0.1:7117"], &["stdio", "a service has no standard input"]),
        (&["--tcp", "127.0.0.1:7117", "--transcript", "lines"], &["transcript", "absolute path"]),
        (&["--tcp", "127.0.0.1:7117", "--transcript", "/srv/lines"], &["transcript", "/var/lib/plyd"]),
        (&["--tcp", "127.0.0.1:7117", "--token-file", "token"], &["token-file", "absolute path"]),
        (&["--tcp", "0.0.0.0:7117"], &["0.0.0.0:7117", "--token-file", "--insecure"]),
        (&["--socket", "--ws", "[::]:7117"], &["[::]:7117", "--token-file"]),
        (
            &["--tcp", "127.0.0.1:7117", "--metrics", "0.0.0.0:7120"],
            &["0.0.0.0:7120", "metrics", "--insecure"],
        ),
        (&["--unix", "socket"], &["unix", "absolute path"]),
        (&["--unix", "/tmp/socket"], &["unix", "/run/plyd", "--activated"]),
        (&["--tcp", "127.0.0.1:7117", "--exec", "plyd"], &["--exec", "absolute path"]),
        (&["--unix", "/run/plyd/a\nExecStart=/bin/sh"], &["cannot stand in a unit"]),
        (&["--socket", "--tcp", "localhost:7117"], &["tcp", "a number for the host"]),
        (&["--socket", "--tcp", "127.0.0.1:0"], &["tcp", "a port above 0"]),
        (&["--socket", "--tcp", "127.0.0.1:7117", "--user", "plyd"], &["--user", "--socket"]),
        (&["--tcp", "127.0.0.1:7117", "--user", "root"], &["--user", "of the daemon's own"]),
        (&["--tcp", "127.0.0.1:7117", "--user", "a\nExecStart=/bin/sh"], &["--user", "the name of a user"]),
        (
            &["--tcp", "127.0.0.1:7117", "--user", "plyd", "--token-file", "token"],
            &["token-file", "absolute path"],
        ),
    ];
    for (arguments, wanted) in rows {
        let said = refusal(arguments);
        for text in wanted {
            assert!(said.contains(text), "{arguments:?}: `{text}` is not in {said}");
        }
    }
    assert!(refusal(&["--config", "/no/such/file"]).contains("/no/such/file"));
    assert!(refusal(&["--tcp", "127.0.0.1:7117", "--hash-mb", "much"]).contains("--hash-mb"));
}

#[test]
fn what_may_keep_a_service_from_starting_is_a_warning() {
    let folder = Folder::new("units-doubts");
    let settings = folder.file("plyd.toml", "tcp = [\"127.0.0.1:7117\"]\n");
    let warnings = |arguments: &[&str]| {
        let output = units(arguments);
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let mode = |mode| fs::set_permissions(&settings, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o600);
    assert!(warnings(&["--config", &settings]).contains("chmod o+r"));
    assert!(!warnings(&["--config", &settings, "--user", "daemon"]).contains("chmod"), "it may own the file");
    mode(0o644);
    assert!(!warnings(&["--config", &settings]).contains("chmod"));
    let temporary = warnings(&["--tcp", "127.0.0.1:7117", "--user", "daemon", "--token-file", "/tmp/token"]);
    assert!(temporary.contains("cannot read /tmp/token"), "{temporary}");
    assert!(warnings(&["--tcp", "127.0.0.1:7117", "--user", "no-such-one"]).contains("useradd"));
    let tls =
        ["--tcp", "127.0.0.1:7117", "--tls-cert", "/etc/plyd/cert.pem", "--tls-key", "/etc/plyd/key.pem"];
    assert_eq!(warnings(&tls).contains("no TLS"), !cfg!(feature = "service"));
    assert_eq!(warnings(&[&tls[..], &["--exec", "/bin/sh"]].concat()), "");
    let started = |program: &str| warnings(&["--tcp", "127.0.0.1:7117", "--exec", program]);
    assert!(started("/no/such/plyd").contains("would not start /no/such/plyd"));
    assert!(started(&settings).contains("is no program: chmod +x"), "a file that nobody may execute");
    assert_eq!(warnings(&["--tcp", "127.0.0.1:7117"]), "");
}

/// systemd's own judge of units, where there is one.
fn judge(arguments: &[&str]) -> Option<Output> {
    let found = std::env::var_os("PATH")?;
    std::env::split_paths(&found).find(|folder| folder.join("systemd-analyze").exists())?;
    let mut command = Command::new("systemd-analyze");
    Some(process::output(process::launch(command.args(arguments).env("SYSTEMD_PAGER", ""))))
}

#[test]
fn systemd_takes_the_units_and_calls_them_safe() {
    let folder = Folder::new("units-judged");
    for settings in settings(&folder) {
        let arguments: Vec<&str> = settings.iter().map(String::as_str).collect();
        for more in [&[][..], &["--activated"], &["--user", "daemon"]] {
            let service = unit(&[&arguments[..], more].concat());
            let path = folder.file("plyd.service", service);
            let socket = folder.file("plyd.socket", unit(&[&arguments[..], &["--socket"]].concat()));
            let Some(verified) = judge(&["verify", "--man=no", &path, &socket]) else { return };
            let said = String::from_utf8_lossy(&verified.stderr);
            // Of other units of the machine it may complain.
            assert!(verified.status.success() && !said.contains("plyd"), "{settings:?} {more:?}: {said}");
            let judged =
                judge(&["security", "--offline=true", "--threshold=20", "--no-pager", &path]).unwrap();
            let said = String::from_utf8_lossy(&judged.stdout);
            // The threshold is in tenths: 2.0 at most.
            let tail = said.lines().last().unwrap_or_default();
            assert!(
                judged.status.success() && tail.contains("exposure level"),
                "{settings:?} {more:?}: {said}"
            );
        }
    }
}

#[test]
fn systemd_takes_the_ladders_unit_and_calls_it_safe() {
    let folder = Folder::new("units-ladder");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/operations/plyd-ladder.service");
    let unit = std::fs::read_to_string(example).unwrap();
    // systemd looks whether the program is there.
    let here = unit.replace("/usr/local/bin/plyd", env!("CARGO_BIN_EXE_plyd"));
    assert_ne!(unit, here);
    let path = folder.file("plyd-ladder.service", here);
    let Some(verified) = judge(&["verify", "--man=no", &path]) else { return };
    let said = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success() && !said.contains("plyd"), "{said}");
    let judged = judge(&["security", "--offline=true", "--threshold=20", "--no-pager", &path]).unwrap();
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stdout));
}
