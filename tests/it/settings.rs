//! The settings of `plyd serve`: the file, the environment and the flags, what is wrong with them, and what
//! they come to. What SIGHUP makes of them is in `reload`.

// The functions beside the tests are called by them alone.
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{Folder, process};
use serde_json::{Value, json};

/// Runs the command with these variables in its environment.
fn plyd(arguments: &[&str], variables: &[(&str, &OsStr)]) -> Output {
    let mut launch = process::plyd(arguments);
    launch.command.envs(variables.iter().copied());
    process::output(launch)
}

/// A line of what `--check` prints.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Row {
    name: String,
    value: String,
    from: String,
}

/// The settings that are in force, as `--check` lists them.
fn check(arguments: &[&str], variables: &[(&str, &OsStr)]) -> Vec<Row> {
    let output = plyd(&[&["serve", "--check"], arguments].concat(), variables);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{arguments:?} {variables:?}: {said}");
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.strip_suffix("\nok\n").unwrap_or_else(|| panic!("it ends by `ok`: {text}"));
    let row = |line: &str| {
        // Numbers stand to the right.
        let mut cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        let row = [(); 3].map(|()| cells.next().unwrap_or_else(|| panic!("{text}")).to_owned());
        assert_eq!(cells.next(), None, "{text}");
        let [name, value, from] = row;
        Row { name, value, from }
    };
    let mut rows = text.lines().map(row);
    assert_eq!(rows.next().map(|row| row.name), Some("setting".into()), "{text}");
    rows.collect()
}

#[test]
fn a_check_for_programs_says_the_same() {
    let folder = Folder::new("json");
    let token = folder.file("token", "secret");
    let file = folder.file(
        "plyd.toml",
        format!("tcp = ['127.0.0.1:1', '[::1]:1']\n\nhash-mb = 5\ntoken-file = '{token}'\ninsecure = true\n"),
    );
    let output = plyd(
        &["serve", "--check", "--json", "--config", &file, "--idle", "7", "-vv"],
        &[("PLYD_SERVE_WS", OsStr::new("127.0.0.1:2")), ("PLYD_SERVE_ENGINES", OsStr::new("60"))],
    );
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with("}\n") && text.lines().count() == 1, "{text}");
    let settings = serde_json::from_str::<Value>(&text).unwrap()["settings"].take();
    let settings = settings.as_array().unwrap();
    let names: Vec<&str> = settings.iter().map(|one| one["name"].as_str().unwrap()).collect();
    let (_, all) = example();
    assert_eq!(names, all.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
    for wanted in [
        json!({ "name": "tcp", "value": ["127.0.0.1:1", "[::1]:1"], "from": "file", "file": file, "line": 1 }),
        json!({ "name": "hash-mb", "value": 5, "from": "file", "file": file, "line": 3 }),
        json!({ "name": "token-file", "value": token, "from": "file", "file": file, "line": 4 }),
        json!({ "name": "insecure", "value": true, "from": "file", "file": file, "line": 5 }),
        json!({ "name": "ws", "value": ["127.0.0.1:2"], "from": "environment", "variable": "PLYD_SERVE_WS" }),
        json!({ "name": "engines", "value": 60, "from": "environment", "variable": "PLYD_SERVE_ENGINES" }),
        json!({ "name": "idle", "value": 7, "from": "flag" }),
        json!({ "name": "verbose", "value": 2, "from": "flag" }),
        json!({ "name": "stdio", "value": false, "from": "default" }),
        json!({ "name": "ws-origin", "value": [], "from": "default" }),
        json!({ "name": "unix", "value": null, "from": "default" }),
        json!({ "name": "connections", "value": 256, "from": "default" }),
    ] {
        let name = &wanted["name"];
        assert_eq!(settings.iter().find(|one| one["name"] == *name), Some(&wanted));
    }
    // What is wrong is said as without it.
    for arguments in [&["--check", "--json", "--hash-mb", "0"][..], &["--json"]] {
        let output = plyd(&[&["serve"], arguments].concat(), &[]);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{output:?}");
    }
}

/// What is said of settings that are refused.
fn refusal(arguments: &[&str], variables: &[(&str, &OsStr)]) -> String {
    let row = format!("{arguments:?} {variables:?}");
    let output = plyd(&[&["serve"], arguments].concat(), variables);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{row}: {said}");
    assert!(output.stdout.is_empty() && said.starts_with("error: "), "{row}: {said}");
    assert!(said.len() < 4000 && !said.contains(['\0', '\x1b']), "{row}: {said}");
    said
}

/// The settings with their defaults, as the example has them.
fn example() -> (String, Vec<(String, String)>) {
    let output = plyd(&["config", "example"], &[]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let settings = text.lines().filter_map(|line| line.strip_prefix('#')?.split_once(" = "));
    let settings = settings.filter(|(name, _)| !name.starts_with([' ', '#']));
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    (text, settings)
}

fn variable(name: &str) -> String {
    format!("PLYD_SERVE_{}", name.to_uppercase().replace('-', "_"))
}

/// Three good values of a setting, by the form of its default, as a variable has them.
fn values(name: &str, default: &str, folder: &Folder) -> [String; 3] {
    match default {
        "true" | "false" => ["true", "false", "true"].map(str::to_owned),
        "[]" if name == "ws-origin" => ["http://a", "http://b,https://c:1", "http://d"].map(str::to_owned),
        "[]" => ["127.0.0.1:1", "127.0.0.1:2,[::1]:2", "127.0.0.1:3"].map(str::to_owned),
        _ if name == "metrics" => ["127.0.0.1:1", "127.0.0.1:2", "[::1]:3"].map(str::to_owned),
        _ if name == "log-format" => ["text", "json", "text"].map(str::to_owned),
        _ if name == "log-filter" => ["warn", "info", "error"].map(str::to_owned),
        "\"\"" if name.starts_with("tls-") => {
            // Copies fit each other, whichever source each is from.
            let of_which = match name {
                "tls-cert" => "server.pem",
                "tls-key" => "server.key",
                _ => "authority.pem",
            };
            let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates").join(of_which);
            let original = fs::read(original).unwrap();
            [1, 2, 3].map(|number| folder.file(&format!("{name}-{number}"), &original))
        }
        "\"\"" if name == "clients-file" => ["d", "e", "f"].map(|file| folder.file(file, "")),
        "\"\"" => ["a", "b", "c"].map(|file| folder.file(file, "secret")),
        number => {
            assert!(number.parse::<u32>().is_ok(), "{name} = {number}");
            ["1", "2", "3"].map(str::to_owned)
        }
    }
}

/// A value as the file has it.
fn toml(default: &str, value: &str) -> String {
    match default {
        "[]" => {
            format!("[{}]", value.split(',').map(|part| format!("\"{part}\"")).collect::<Vec<_>>().join(", "))
        }
        text if text.starts_with('"') => format!("\"{value}\""),
        _ => value.to_owned(),
    }
}

/// A value as flags have it.
fn flags(name: &str, default: &str, value: &str) -> Vec<String> {
    match (name, default) {
        ("verbose", _) => vec![format!("-{}", "v".repeat(value.parse().unwrap()))],
        (_, "[]") => value.split(',').map(|part| format!("--{name}={part}")).collect(),
        _ => vec![format!("--{name}={value}")],
    }
}

/// Whether a build without TLS refuses a setting.
fn is_left_out(name: &str) -> bool {
    name.starts_with("tls-") && cfg!(not(feature = "service"))
}

#[test]
fn of_each_setting_the_environment_overrides_the_file_and_flags_override_both() {
    let folder = Folder::new("order");
    let check = |arguments: &[&str], variables: &[(&str, &OsStr)]| -> Vec<Row> {
        check(arguments, variables).into_iter().filter(|row| !is_left_out(&row.name)).collect()
    };
    let (_, settings) = example();
    assert!(settings.len() >= 20, "{settings:?}");
    let rows: Vec<(&str, &str, [String; 3])> = settings
        .iter()
        .filter(|(name, _)| !is_left_out(name))
        .map(|(name, default)| (name.as_str(), default.as_str(), values(name, default, &folder)))
        .collect();
    let text: String =
        rows.iter().map(|(name, default, [low, ..])| format!("{name} = {}\n", toml(default, low))).collect();
    let file = folder.file("all.toml", text);
    let in_file: Vec<Row> = rows
        .iter()
        .zip(1..)
        .map(|((name, _, [low, ..]), line)| Row {
            name: (*name).to_owned(),
            value: low.replace(',', ", "),
            from: format!("{file}:{line}"),
        })
        .collect();
    assert_eq!(check(&["--config", &file], &[]), in_file);
    let mut names: Vec<String> = rows.iter().map(|(name, ..)| variable(name)).collect();
    for (index, (name, default, [_, middle, high])) in rows.iter().enumerate() {
        let mut expected = in_file.clone();
        let name_in_environment = names[index].clone();
        let own = [(name_in_environment.as_str(), OsStr::new(middle))];
        expected[index].value = middle.replace(',', ", ");
        expected[index].from.clone_from(&name_in_environment);
        assert_eq!(check(&["--config", &file], &own), expected, "{name}");
        assert_eq!(check(&["--config", &file, "--no-env"], &own), in_file, "{name}");
        let high_flags = flags(name, default, high);
        let arguments: Vec<&str> =
            ["--config", &file].into_iter().chain(high_flags.iter().map(String::as_str)).collect();
        expected[index].value = high.replace(',', ", ");
        expected[index].from = "flag".into();
        assert_eq!(check(&arguments, &own), expected, "{name}");
    }
    // The file may be named there, too, and a variable with an empty value is none.
    names.sort();
    let empty: Vec<(&str, &OsStr)> = names.iter().map(|name| (name.as_str(), OsStr::new(""))).collect();
    let named = [&[("PLYD_SERVE_CONFIG", OsStr::new(&file))], &empty[..]].concat();
    assert_eq!(check(&[], &named), in_file);
}

#[test]
fn the_example_is_the_defaults_and_each_of_its_lines_can_be_used() {
    let folder = Folder::new("example");
    let (text, settings) = example();
    assert!(text.lines().all(|line| line.chars().count() <= 100 && line.trim_end() == line), "{text}");
    assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')), "{text}");
    let defaults = check(&["--no-env"], &[]);
    let names: Vec<&str> = defaults.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(settings.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), names);
    assert!(defaults.iter().all(|row| row.from == "default"), "{defaults:?}");
    assert_eq!(check(&["--config", &folder.file("as-it-is", &text)], &[]), defaults);
    let is_setting = |line: &&str| settings.iter().any(|(name, _)| line.starts_with(&format!("#{name} = ")));
    let used: Vec<String> = text
        .lines()
        .map(|line| if is_setting(&line) { line[1..].to_owned() } else { line.to_owned() })
        .collect();
    let file = folder.file("used", used.join("\n"));
    let values =
        |rows: &[Row]| rows.iter().map(|row| (row.name.clone(), row.value.clone())).collect::<Vec<_>>();
    let rows = check(&["--config", &file], &[]);
    assert_eq!(values(&rows), values(&defaults));
    for row in rows {
        let line: usize = row.from.strip_prefix(&format!("{file}:")).unwrap().parse().unwrap();
        assert!(used[line - 1].starts_with(&format!("{} = ", row.name)), "{row:?}");
    }
}

#[test]
fn mistakes_in_the_file_are_named_with_their_line() {
    let folder = Folder::new("mistakes");
    for (text, words) in [
        ("conections = 3", &[":1: there is no setting `conections`; the nearest is `connections`"][..]),
        ("\n# hash\nhash_mb = 3", &[":3: there is no setting `hash_mb`; the nearest is `hash-mb`"]),
        ("config = \"x\"", &[":1: there is no setting `config`"]),
        ("check = true", &[":1: there is no setting `check`"]),
        ("no-env = true", &[":1: there is no setting `no-env`"]),
        (
            "[limits]\nconnections = 1",
            &[":1: there is no setting `limits`; if it is a table, leave its name out"],
        ),
        ("limits.connections = 1", &[":1: there is no setting `limits`"]),
        ("\"a\\nb\\u001b[2J\" = 1", &[":1: there is no setting `a\\nb\\u{1b}[2J`"]),
        ("\"\" = 1", &[":1: there is no setting ``"]),
        ("\nhash-mb = \"512\"", &[":2: hash-mb: give a whole number, without quotes"]),
        ("hash-mb = 1.5", &[":1: hash-mb: give a whole number"]),
        ("hash-mb = true", &[":1: hash-mb: give a whole number"]),
        ("hash-mb = 2020-01-01", &[":1: hash-mb: give a whole number"]),
        ("hash-mb = 0", &[":1: hash-mb: give a whole number from 1"]),
        ("hash-mb = -1", &[":1: hash-mb: give a whole number from 1"]),
        ("hash-mb = 99999999999999999999", &[":1: hash-mb: give a whole number from 1"]),
        ("keepalive = 40_000", &[":1: keepalive: give a whole number from 0 to 32767"]),
        ("verbose = 4", &[":1: verbose: give a number from 0 to 3"]),
        ("verbose = -1", &[":1: verbose: give a number from 0 to 3"]),
        ("stdio = 1", &[":1: stdio: give true or false, without quotes"]),
        ("insecure = \"true\"", &[":1: insecure: give true or false"]),
        ("unix = 3", &[":1: unix: give a text in quotes"]),
        ("tcp = \"127.0.0.1:1\"", &[":1: tcp: give a list of texts, such as [\"one\", \"other\"]"]),
        ("tcp = [1]", &[":1: tcp[0]: give a text in quotes"]),
        ("tcp = [\n\"127.0.0.1:1\",\n\n2.5]", &[":4: tcp[1]: give a text in quotes"]),
        ("ws-origin = [\"http://x\", [\"http://y\"]]", &[":1: ws-origin[1]: give a text in quotes"]),
        ("[tcp]", &[":1: tcp: give a list of texts"]),
        ("[[tcp]]\nx = 1", &[":1: tcp[0]: give a text in quotes"]),
        ("tcp = [\"127.0.0.1:1\",\n\"x\"]", &[":2: tcp[1]: give a host and a port"]),
        ("tcp = [\n\"y\",\n\"127.0.0.1:1\", \"x\"]", &[":2: tcp[0]: give a host", ":3: tcp[2]: give a host"]),
        ("tcp = [\"\"]", &[":1: tcp[0]: give a host and a port"]),
        ("ws = [\"127.0.0.1:1\"]\nws-origin = [\"x\"]", &[":2: ws-origin[0]: give the origin of a page"]),
        ("\nstdio = false", &[":2: stdio: nothing would be served; give `tcp`"]),
        (
            "\nws-origin = [\"http://x\"]",
            &[":2: ws-origin: nothing serves WebSocket; give an address with `ws`"],
        ),
        ("hash-mb = 1\n\nhash-mb = 2", &[":3: duplicate key"]),
        ("\nhash-mb = ", &[":2: "]),
        ("hash-mb", &[":1: "]),
        ("hash-mb = 1 idle = 2", &[":1: "]),
        ("tcp = [\"127.0.0.1:1\"", &[":1: "]),
        (
            "hash = 1\nidle = \"\"\nidle = 0\nthreads = 0",
            &[":1: ", ":2: idle: ", ":3: duplicate", ":4: threads: "],
        ),
        ("token-file = \"/nowhere/token\"", &["/nowhere/token", "No such file"]),
        ("token-file = \"a\\u0000b\"", &["token-file"]),
    ] {
        let file = folder.file("plyd.toml", text);
        let said = refusal(&["--config", &file], &[]);
        for word in words {
            let word = if word.starts_with(':') { format!("{file}{word}") } else { (*word).to_owned() };
            assert!(said.contains(&word), "{text:?} without `{word}`: {said}");
        }
    }
}

#[test]
fn files_that_hold_no_settings_are_refused_at_once() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = Folder::new("hostile");
    let pipe = folder.path.join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let many: String = (0..5000).map(|number| format!("x{number} = 1\n")).collect();
    let files = |name: &str, text: &[u8]| PathBuf::from(folder.file(name, text));
    for (path, word) in [
        (files("latin", b"idle = 1\n# caf\xe9\n"), "line 2: this is no UTF-8"),
        (files("binary", b"\x7fELF\0\0\0\0"), ":1: "),
        (files("nul", b"idle\0 = 1"), ":1: "),
        (files("mark", b"\xff\xfei\0d\0l\0e\0"), "line 1: this is no UTF-8"),
        (files("huge", &vec![b'#'; 300 << 10]), "more than 65536 bytes"),
        (files("many", many.as_bytes()), "and 4980 more"),
        (files("deep", format!("tcp = {}", "[".repeat(60_000)).as_bytes()), ":1: "),
        (files("tables", "[a]\n".repeat(16_000).as_bytes()), ":2: duplicate key"),
        (files("name", format!("{} = 1", "n".repeat(60_000)).as_bytes()), ":1: there is no setting `nnn"),
        (files("dots", format!("a{} = 1", ".a".repeat(30_000)).as_bytes()), ":1: "),
        (folder.path.clone(), "no regular file"),
        (pipe, "no regular file"),
        ("/dev/zero".into(), "no regular file"),
        ("/nowhere".into(), "No such file"),
    ] {
        let said = refusal(&["--config", path.to_str().unwrap()], &[]);
        let named = format!("{}:", path.display());
        assert!(said.contains(&named) && said.contains(word), "{} without `{word}`: {said}", path.display());
    }
}

#[test]
fn mistakes_in_the_environment_are_named_with_their_variable() {
    for (name, value, word) in [
        (
            "PLYD_SERVE_HASH",
            "1",
            "PLYD_SERVE_HASH: there is no such setting; the nearest is PLYD_SERVE_HASH_MB",
        ),
        ("PLYD_SERVE_hash_mb", "1", "the nearest is PLYD_SERVE_HASH_MB"),
        ("PLYD_SERVE_CONFIGURATION", "1", "the nearest is PLYD_SERVE_CONFIG"),
        ("PLYD_SERVE_", "1", "there is no such setting"),
        ("PLYD_SERVE_CHECK", "true", "there is no such setting"),
        ("PLYD_SERVE_NO_ENV", "true", "there is no such setting"),
        ("PLYD_SERVE_HASH_MB", "0", "PLYD_SERVE_HASH_MB: give a whole number from 1"),
        ("PLYD_SERVE_HASH_MB", " 1", "PLYD_SERVE_HASH_MB: give a whole number from 1"),
        ("PLYD_SERVE_VERBOSE", "4", "PLYD_SERVE_VERBOSE: give a number from 0 to 3"),
        ("PLYD_SERVE_STDIO", "yes", "PLYD_SERVE_STDIO: give true or false"),
        ("PLYD_SERVE_TCP", "127.0.0.1:1,", "PLYD_SERVE_TCP: tcp[1]: give a host and a port"),
        (
            "PLYD_SERVE_TLS_CERT",
            "a.pem",
            "PLYD_SERVE_TLS_CERT: tls-cert: give its key with `tls-key` as well",
        ),
        ("PLYD_SERVE_TLS_KEY", "a.key", "PLYD_SERVE_TLS_KEY: tls-key: give its certificate with `tls-cert`"),
        (
            "PLYD_SERVE_TLS_CLIENT_CA",
            "a.pem",
            "PLYD_SERVE_TLS_CLIENT_CA: tls-client-ca: nothing is served over TLS",
        ),
        ("PLYD_SERVE_WS_ORIGIN", "http://x", "PLYD_SERVE_WS_ORIGIN: ws-origin: nothing serves WebSocket"),
        ("PLYD_SERVE_CONFIG", "/nowhere", "/nowhere: No such file"),
    ] {
        let said = refusal(&[], &[(name, OsStr::new(value))]);
        assert!(said.contains(word), "{name}={value} without `{word}`: {said}");
    }
    let no_text = OsString::from(OsStr::from_bytes(b"\xff"));
    let said = refusal(&[], &[("PLYD_SERVE_HASH_MB", &no_text)]);
    assert!(said.contains("PLYD_SERVE_HASH_MB: "), "{said}");
    // All that is wrong is said at once.
    let said = refusal(&[], &[("PLYD_SERVE_X", OsStr::new("1")), ("PLYD_SERVE_IDLE", OsStr::new("x"))]);
    assert_eq!(said.lines().count(), 2, "{said}");
    let said = refusal(&["--ws-origin", "http://x"], &[]);
    assert!(said.contains("flag: ws-origin: nothing serves WebSocket"), "{said}");
    for arguments in [&["--stdio=false"][..], &["--stdio=false", "--check"]] {
        let said = refusal(arguments, &[]);
        assert!(said.contains("flag: stdio: nothing would be served"), "{said}");
    }
}

#[test]
fn a_path_in_the_environment_need_be_no_text() {
    let folder = Folder::new("path");
    let path = folder.path.join(OsStr::from_bytes(b"\xff"));
    fs::write(&path, "secret").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let rows = check(&[], &[("PLYD_SERVE_TOKEN_FILE", path.as_os_str())]);
    let row = rows.iter().find(|row| row.name == "token-file").unwrap();
    assert!(row.from == "PLYD_SERVE_TOKEN_FILE" && row.value.contains("path"), "{row:?}");
}

#[test]
fn a_check_starts_nothing_and_says_what_would_keep_a_daemon_from_starting() {
    let folder = Folder::new("check");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, transcript) = (taken.local_addr().unwrap().to_string(), folder.path.join("transcript"));
    let socket = folder.path.join("socket");
    let file = folder.file("file", "open sesame\n");
    let empty = folder.file("empty", "");
    check(
        &["--tcp", &port, "--unix", socket.to_str().unwrap(), "--transcript", transcript.to_str().unwrap()],
        &[],
    );
    assert!(!transcript.exists() && !socket.exists());
    let rows = check(&["--tcp", "0.0.0.0:0", "--token-file", &file, "--transcript", &file], &[]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "open sesame\n");
    assert!(rows.iter().all(|row| !row.value.contains("sesame")), "{rows:?}");
    let folder = folder.path.to_str().unwrap();
    let long = format!("{folder}/{}", "x".repeat(120));
    for (arguments, word) in [
        (&["--tcp", "0.0.0.0:0"][..], "refusing to listen on 0.0.0.0:0 without a token"),
        (&["--ws", "[::]:0"], "refusing to listen on [::]:0 without a token"),
        (&["--tcp", "no.such.host.invalid:1"], "cannot listen on no.such.host.invalid:1"),
        (&["--token-file", "/nowhere"], "--token-file /nowhere"),
        (&["--token-file", &empty], "the file is empty"),
        (&["--transcript", "/nowhere/file"], "cannot write the transcript /nowhere/file"),
        (&["--transcript", folder], "cannot write the transcript"),
        (&["--unix", "/nowhere/socket"], "cannot listen on /nowhere/socket"),
        (&["--unix", folder], "cannot listen on"),
        (&["--unix", &long], "bytes"),
    ] {
        let said = refusal(&[&["--check"], arguments].concat(), &[]);
        assert!(said.contains(word), "{arguments:?} without `{word}`: {said}");
    }
}

#[test]
fn the_token_may_be_in_a_file_or_a_pipe_that_is_open_already() {
    let folder = Folder::new("descriptor");
    let file = folder.file("token", "secret\n");
    for path in ["/dev/stdin", "/dev/fd/0"] {
        let launch = || process::plyd(["serve", "--check", "--token-file", path]);
        let mut from_file = launch();
        from_file.command.stdin(fs::File::open(&file).unwrap());
        for (output, is_good) in [
            (process::output(from_file), true),
            (process::output_of(launch(), "secret"), true),
            (process::output_of(launch(), ""), false),
        ] {
            assert_eq!(output.status.success(), is_good, "{path}: {output:?}");
        }
    }
}

#[test]
fn a_daemon_has_the_settings_that_it_was_given() {
    let folder = Folder::new("daemon");
    let file = folder.file("plyd.toml", "hash-mb = 5\nengines = 6\nidle = 7\n");
    let hello = br#"{"id":"h","cmd":"hello","protocol":{"min":1,"max":1}}"#;
    let limits = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut launch = process::plyd(arguments);
        launch.command.envs(variables.iter().copied());
        let output = process::output_of(launch, hello);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        ["hash_bytes", "engines", "idle_ms"].map(|name| answer["limits"][name].as_u64().unwrap())
    };
    let environment = [("PLYD_SERVE_ENGINES", "60"), ("PLYD_SERVE_IDLE", "70")];
    let config = ("PLYD_SERVE_CONFIG", file.as_str());
    assert_eq!(limits(&["serve", "--config", &file], &[]), [5 << 20, 6, 7000]);
    assert_eq!(limits(&["serve", "--config", &file, "--idle", "9"], &environment), [5 << 20, 60, 9000]);
    // Also where no command is given, which is the same.
    assert_eq!(limits(&[], &[&[config], &environment[..]].concat()), [5 << 20, 60, 70_000]);
    assert_eq!(limits(&["serve", "--no-env", "--config", &file], &environment), [5 << 20, 6, 7000]);
}

#[test]
fn the_servers_of_other_commands_have_no_settings_from_the_environment() {
    let variables = [("PLYD_SERVE_TCP", OsStr::new("nonsense")), ("PLYD_SERVE_STDIO", OsStr::new("false"))];
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("protocol/transcripts/inspect.jsonl");
    for arguments in [
        &["describe", "--json"][..],
        &["replay", recorded.to_str().unwrap()],
        &[
            "arena",
            "isolation",
            "--games",
            "2",
            "--rules",
            "width=3,height=3",
            "--player",
            "random",
            "--player",
            "random",
        ],
        &["conform", "--only", "framing/line-ends"],
    ] {
        let output = plyd(arguments, &variables);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
    }
}
