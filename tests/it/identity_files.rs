//! The file of clients and `plyd token`: what is made, what is refused and where, and who may read it.

// The functions beside the tests are called by them alone.
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::common::{Folder, process};
use crate::identity::token;

fn plyd(arguments: &[&str]) -> Output {
    process::output(process::plyd(arguments))
}

/// What a command that fails with that exit code says.
fn refusal(code: i32, arguments: &[&str]) -> String {
    let output = plyd(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{arguments:?}: {said}");
    assert!(said.starts_with("error: ") && !said.contains(['\0', '\x1b']), "{arguments:?}: {said}");
    said
}

/// What is said of a file of clients by `plyd serve --check`, if it is good.
fn check(file: &str) -> String {
    let output = plyd(&["serve", "--check", "--tcp", "127.0.0.1:0", "--clients-file", file]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_token_is_printed_once_and_its_hash_alone_is_kept() {
    let folder = Folder::new("token-new");
    let file = folder.path.join("clients.toml");
    let file = file.to_str().unwrap();
    let first = token(file, "alice", &[]);
    let second = token(file, "lab_2-b", &["--role", "operate", "--memory-mb", "64", "--threads", "2"]);
    for made in [&first, &second] {
        let digits = made.strip_prefix("plyd_").expect("its mark");
        assert!(
            digits.len() == 64 && digits.bytes().all(|digit| b"0123456789abcdef".contains(&digit)),
            "{made}"
        );
    }
    assert_ne!(first, second);
    let text = fs::read_to_string(file).unwrap();
    assert!(!text.contains(&first[5..15]) && !text.contains(&second[5..15]), "{text}");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("token = \"sha256:")).collect();
    let expected = [
        "[alice]",
        "role = \"play\"",
        "",
        "[lab_2-b]",
        "role = \"operate\"",
        "threads = 2",
        "memory-mb = 64",
    ];
    assert_eq!(lines, expected);
    assert_eq!((text.lines().count(), mode(file)), (9, 0o600));
    assert_eq!(check(file), "");

    // A file that people wrote is added to, whatever it ends with, and keeps its mode.
    fs::write(file, "# ours").unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o640)).unwrap();
    token(file, "alice", &[]);
    let text = fs::read_to_string(file).unwrap();
    assert!(text.starts_with("# ours\n\n[alice]\n") && mode(file) == 0o640, "{text}");

    // Without a file, what belongs into it is apart from the token.
    let output = plyd(&["token", "new", "bob", "--sessions", "3"]);
    let (token, table) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success() && token.trim_end().len() == 69 && token.lines().count() == 1, "{token}");
    assert!(!table.contains(&token[5..15]) && table.contains("[bob]\ntoken = \"sha256:"), "{table}");
    assert_eq!(check(&folder.file("table", &table)), "");
}

#[test]
fn clients_that_are_added_at_once_are_all_there() {
    let folder = Folder::new("token-many");
    let file = folder.path.join("clients.toml");
    let file = file.to_str().unwrap();
    let names: Vec<String> = (0..8).map(|number| format!("client-{number}")).collect();
    let launch = |name: &String| {
        let mut launch = process::plyd(["token", "new", name, "--clients-file", file]);
        launch.command.stdout(Stdio::null());
        process::spawn(launch)
    };
    let mut processes: Vec<_> = names.iter().map(launch).collect();
    assert!(processes.iter_mut().all(|process| process::exit(process).success()));
    let text = fs::read_to_string(file).unwrap();
    assert!(names.iter().all(|name| text.contains(&format!("[{name}]\n"))), "{text}");
    assert_eq!(check(file), "");
}

#[test]
fn a_client_that_cannot_be_added_leaves_the_file_as_it_is() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = Folder::new("token-refused");
    let file = folder.path.join("clients.toml");
    let file = file.to_str().unwrap();
    token(file, "alice", &[]);
    let text = fs::read_to_string(file).unwrap();
    let broken = folder.file("broken", "[bob\n");
    let (pipe, directory) = (folder.path.join("pipe"), folder.path.to_str().unwrap());
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    for (code, arguments, word) in [
        (1, &["alice", "--clients-file", file][..], "it has a client alice already"),
        (2, &["bob", "--clients-file", &broken], "broken:1: "),
        (1, &["bob", "--clients-file", pipe.to_str().unwrap()], "this is no regular file"),
        (1, &["bob", "--clients-file", directory], "this is no regular file"),
        (1, &["bob", "--clients-file", "/nowhere/clients"], "No such file"),
        (2, &["a b"], "1 to 64 of A-Z a-z 0-9 - _"),
        (2, &["a.b"], "1 to 64 of A-Z a-z 0-9 - _"),
        (2, &[""], "1 to 64 of A-Z a-z 0-9 - _"),
        (2, &[&"x".repeat(65)], "1 to 64 of A-Z a-z 0-9 - _"),
        (2, &["bob", "--role", "admin"], "give play, analyse, operate"),
        (2, &["bob", "--sessions", "0"], "give a whole number from 1"),
        (2, &["bob", "--memory-mb", "-1"], "give a whole number from 1"),
    ] {
        let said = refusal(code, &[&["token", "new"], arguments].concat());
        assert!(said.contains(word), "{arguments:?} without `{word}`: {said}");
    }
    assert_eq!(fs::read_to_string(file).unwrap(), text);
}

#[test]
fn mistakes_in_the_file_are_named_with_their_line() {
    let folder = Folder::new("clients-mistakes");
    let hash = format!("sha256:{}", "0a".repeat(32));
    let secret = format!("plyd_{}", "5e".repeat(32));
    let good = format!("[a]\ntoken = \"{hash}\"\n");
    for (text, words) in [
        (format!("{good}rol = 'play'"), &[":3: there is no setting `rol`; the nearest is `role`"][..]),
        (
            format!("{good}memory_mb = 3"),
            &[":3: there is no setting `memory_mb`; the nearest is `memory-mb`"],
        ),
        (format!("{good}[a.b]\nrole = 'play'"), &[":3: there is no setting `b`"]),
        (format!("{good}role = 'Play'"), &[":3: role: give play, analyse, operate"]),
        (format!("{good}role = 3"), &[":3: role: give a text in quotes"]),
        (
            format!("{good}searches = 0\nthreads = '2'"),
            &[":3: searches: give a whole number from 1", ":4: threads: give"],
        ),
        (format!("{good}sessions = -1"), &[":3: sessions: give a whole number from 1"]),
        (format!("{good}sessions = 99999999999"), &[":3: sessions: give a whole number from 1"]),
        (format!("{good}\n[a]\ntoken = 'x'"), &[":4: duplicate key"]),
        (
            format!("{good}\n[b]\ntoken = \"{hash}\""),
            &[":4: b has the token of a: each client needs its own"],
        ),
        ("\n[a]\nrole = 'play'".to_owned(), &[":2: a has no `token`: `plyd token new a` makes one"]),
        ("[a]\ntoken = ''".to_owned(), &[":1: a has no `token`"]),
        ("[a]\ntoken = 'sha256:12'".to_owned(), &[":2: token: give the hash of a token"]),
        (format!("[a]\ntoken = '{secret}'"), &[":2: token: give the hash of a token"]),
        ("a = 3".to_owned(), &[":1: give a table, `[a]`"]),
        ("token = 'x'".to_owned(), &[":1: give a table, `[token]`"]),
        ("[[a]]\ntoken = 'x'".to_owned(), &[":1: give a table, `[a]`"]),
        (format!("['a b']\ntoken = \"{hash}\""), &[":1: `a b`: a client's name is 1 to 64 of"]),
        (format!("[\"\\u001b[2J\"]\ntoken = \"{hash}\""), &[":1: `\\u{1b}[2J`: a client's name is"]),
        (format!("[{}]\ntoken = \"{hash}\"", "n".repeat(65)), &["a client's name is 1 to 64"]),
        ("[a".to_owned(), &[":1: "]),
        ("#".repeat(2 << 20), &["the file has more than 1048576 bytes"]),
    ] {
        let file = folder.file("clients.toml", &text);
        for arguments in [&["serve", "--check"][..], &["serve"]] {
            let said = refusal(2, &[arguments, &["--tcp", "127.0.0.1:0", "--clients-file", &file]].concat());
            for word in words {
                let word = if word.starts_with(':') { format!("{file}{word}") } else { (*word).to_owned() };
                assert!(said.contains(&word), "{text:?} without `{word}`: {said}");
            }
            assert!(!said.contains(&secret[5..20]), "{said}");
        }
    }
    let said = refusal(2, &["serve", "--clients-file", "/nowhere/clients"]);
    assert!(said.contains("/nowhere/clients: No such file"), "{said}");
}

#[test]
fn the_token_of_the_server_is_no_clients() {
    let folder = Folder::new("clients-shared");
    let file = folder.path.join("clients.toml");
    let file = file.to_str().unwrap();
    let shared = folder.file("token", token(file, "alice", &[]));
    let said = refusal(2, &["serve", "--check", "--token-file", &shared, "--clients-file", file]);
    assert!(said.contains("the client alice has the token of --token-file"), "{said}");
}

#[test]
fn whoever_lets_others_read_a_file_of_tokens_is_warned() {
    let folder = Folder::new("clients-readable");
    let (clients, token) = (folder.file("clients.toml", ""), folder.file("token", "secret"));
    for (of_clients, of_token, warnings) in [
        (0o600, 0o600, &[][..]),
        (0o640, 0o400, &[]),
        (0o644, 0o600, &[&clients]),
        (0o600, 0o604, &[&token]),
        (0o666, 0o644, &[&token, &clients]),
    ] {
        for (path, mode) in [(&clients, of_clients), (&token, of_token)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let output = plyd(&["serve", "--check", "--clients-file", &clients, "--token-file", &token]);
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.lines().count(), warnings.len(), "{said}");
        for (line, path) in said.lines().zip(warnings) {
            assert!(line.contains("WARN") && line.contains(&format!("every user can read {path}")), "{line}");
        }
    }
}

#[test]
fn a_file_of_clients_keeps_strangers_out_also_when_it_is_empty() {
    let folder = Folder::new("clients-open");
    let empty = folder.file("clients.toml", "");
    let open = ["serve", "--check", "--tcp", "0.0.0.0:0"];
    let said = refusal(2, &open);
    assert!(said.contains("--clients-file"), "{said}");
    assert!(plyd(&[&open[..], &["--clients-file", &empty]].concat()).status.success());
}
