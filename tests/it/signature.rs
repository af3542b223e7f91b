//! The node counts of `plyd bench`, a line a game: equal on every machine, and changed only on purpose.
//!
//! A change to the search, an evaluation or the rules changes the signature. Then the lines of
//! `tests/signature.txt` are renewed with what this test prints, and the commit message ends with the last
//! line of `plyd bench`. A new game adds a line.

use crate::common::process;
use crate::games::games;

#[test]
fn bench_gives_the_recorded_signatures() {
    let recorded = include_str!("../signature.txt");
    let line = |game: &str| {
        let output = process::output(process::plyd(["bench", game]));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let signature = text.lines().find_map(|line| line.strip_prefix("Bench: "));
        format!("{game} {}", signature.unwrap_or_else(|| panic!("{game} has no signature: {text}")))
    };
    let found: Vec<String> = games().iter().map(|entry| line(entry.name)).collect();
    let missing = found.iter().filter(|line| recorded.lines().all(|known| known != *line));
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    assert!(missing.is_empty(), "tests/signature.txt has not\n{}\nbut\n{recorded}", missing.join("\n"));
}
