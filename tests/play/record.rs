//! Records of games, in files of their own.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use plyd::bridge;
use plyd::engine::{AnyRoot, settings};
use plyd::games::REGISTRY;
use plyd_protocol::Record;

/// A file of its own for a test, gone when dropped.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plyd-play-{}-{name}.jsonl", std::process::id()));
        let _none_there = fs::remove_file(&path);
        Self(path)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    pub(crate) fn record(&self) -> Record {
        serde_json::from_str(&fs::read_to_string(&self.0).unwrap()).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _never_written = fs::remove_file(&self.0);
    }
}

/// Plays a record's moves by the rules themselves.
pub(crate) fn replayed(record: &Record) -> Arc<dyn AnyRoot> {
    let entry = REGISTRY.iter().find(|entry| entry.name == record.game).unwrap();
    let rules = settings::rules(entry, &bridge::given(&record.rules), 0).unwrap();
    let start = settings::open(entry, &rules, Some(&record.start)).unwrap();
    start.extend(&record.moves).unwrap()
}
