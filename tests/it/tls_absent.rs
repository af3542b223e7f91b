//! A build without TLS says so, and which build has it.

use crate::common::process;

#[test]
fn flags_and_addresses_of_tls_name_the_build_that_has_it() {
    for arguments in [
        &["serve", "--tcp", "127.0.0.1:0", "--tls-cert", "a.pem", "--tls-key", "a.key"][..],
        &["serve", "--check", "--tcp", "127.0.0.1:0", "--tls-cert", "a.pem", "--tls-key", "a.key"],
        &["conform", "tls://127.0.0.1:1?ca=a.pem", "--only", "ids/of"],
        &["conform", "wss://127.0.0.1:1", "--only", "ids/of"],
        &["play", "l-game", "--connect", "tls=127.0.0.1:1"],
    ] {
        let output = process::output(process::plyd(arguments));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(said.contains("cargo install --locked --path . --features service"), "{arguments:?}: {said}");
    }
}
