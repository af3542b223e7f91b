//! A build without a feature says so, and how to install one that has it.

use crate::common::process;

/// What the program says about these arguments; it must refuse them.
fn refused(arguments: &[&str]) -> String {
    let output = process::output(process::plyd(arguments));
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn flags_and_addresses_of_tls_name_the_build_that_has_it() {
    for arguments in [
        &["serve", "--tcp", "127.0.0.1:0", "--tls-cert", "a.pem", "--tls-key", "a.key"][..],
        &["serve", "--check", "--tcp", "127.0.0.1:0", "--tls-cert", "a.pem", "--tls-key", "a.key"],
        &["conform", "tls://127.0.0.1:1?ca=a.pem", "--only", "ids/of"],
        &["conform", "wss://127.0.0.1:1", "--only", "ids/of"],
        &["play", "l-game", "--connect", "tls=127.0.0.1:1"],
    ] {
        let said = refused(arguments);
        assert!(said.contains("cargo install --locked --path . --features service"), "{arguments:?}: {said}");
    }
}

#[test]
#[cfg(not(any(feature = "fleet", feature = "mcp")))]
fn commands_and_options_of_other_builds_name_their_feature() {
    for (feature, arguments) in [
        ("ladder", &["ladder", "init"][..]),
        ("ladder", &["help", "ladder"]),
        ("fleet", &["fleet", "--nats", "nats://127.0.0.1"]),
        ("fleet", &["worker", "--help"]),
        ("fleet", &["arena", "l-game", "--player", "random", "--nats", "nats://127.0.0.1"]),
        ("mcp", &["mcp"]),
    ] {
        let said = refused(arguments);
        let command = format!("cargo install --locked --path . --features {feature}\n");
        assert!(said.contains(&command), "{arguments:?}: {said}");
    }
    assert!(refused(&["leder"]).contains("unrecognized subcommand"), "nothing else is explained so");
}
