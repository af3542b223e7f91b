//! A search that the ladder waits for, as a process of the bot is asked for it.

use std::time::Instant;

use serde_json::{Value, json};

use super::answer::Object;

/// A search, under the ladder's id and under ours.
pub(super) struct RelayedSearch {
    pub(super) ours: String,
    pub(super) theirs: String,
    /// What was asked, as the ladder sent it.
    pub(super) go: Object,
    /// When that was.
    pub(super) at: Instant,
    /// Whether it is asked once more if its process fails: not after that, nor once anything else was asked
    /// about it, which another process would not know of.
    pub(super) is_repeatable: bool,
    /// What was asked about it before it could be sent, by our ids.
    pub(super) held: Vec<(String, Object)>,
}

impl RelayedSearch {
    /// The `go`, with the time that has passed since it came.
    pub(super) fn now(&self) -> Object {
        let mut go = self.go.clone();
        let passed = u64::try_from(self.at.elapsed().as_millis()).unwrap_or(u64::MAX);
        if passed > 0 {
            let before = go.get("elapsed_ms").and_then(Value::as_u64).unwrap_or_default();
            go.insert("elapsed_ms".into(), json!(before.saturating_add(passed)));
        }
        go
    }
}
