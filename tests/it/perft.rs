//! The number of positions after each number of plies, against counts that others made.
//!
//! Each game brings a file of lines `RULES | POSITION | d1 d2 d3 ...`: rules as `name=value` with commas, or
//! nothing; the position's text, or nothing for the start; the counts from depth 1 on.

use plyd::engine::Counting;
use plyd::search::Control;

use crate::games::{counted, games};

/// Counts past this are left to the command `plyd perft`.
const LIMIT: u64 = 3_000_000;

#[test]
fn counts_are_those_of_others() {
    for entry in games() {
        let counted = counted(entry);
        assert!(!counted.is_empty(), "{} has counts", entry.name);
        for (place, counts) in counted {
            let root = place.root();
            for (depth, count) in (1..).zip(counts).filter(|(_, count)| *count <= LIMIT) {
                let found = root.perft(depth, Counting::Plain, &Control::default());
                assert_eq!(found, count, "{place}, depth {depth}");
            }
        }
    }
}
