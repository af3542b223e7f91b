//! The node counts of `plyd bench`: equal on every machine, and changed only on purpose.
//!
//! A change to the search, an evaluation or the rules changes the signature. Then `tests/signature.txt` is
//! renewed with what this test prints, and the commit message ends with the new line.

use crate::common::process;

#[test]
fn bench_gives_the_recorded_signature() {
    let output = process::output(process::plyd(["bench"]));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let signature = text.lines().rfind(|line| line.starts_with("Bench: ")).expect("a signature");
    assert_eq!(signature, include_str!("../signature.txt").trim(), "in tests/signature.txt");
}
