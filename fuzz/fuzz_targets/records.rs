//! Files of games: what is whole in one is read, half a line at the end is taken away, and what is read is
//! written and read again unchanged. The games in them are played through, as `plyd show` does.
//!
//! Input: a file.

#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;
use std::{env, fs, process};

use libfuzzer_sys::fuzz_target;
use plyd_arena::PlayedGame;
use plyd_arena::archive::{Archive, ArchiveError};
use plyd_bridge as bridge;
use plyd_core::engine::settings;
use plyd_games::REGISTRY;

/// A file of this process in memory, where there is such a place.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { env::temp_dir() };
    folder.join(format!("plyd-fuzz-records-{}.jsonl", process::id()))
});

fuzz_target!(|data: &[u8]| {
    fs::write(&*FILE, data).expect("the file can be written");
    match open() {
        Ok((archive, games)) => read(data, archive, &games),
        Err(ArchiveError::Line { line, message }) => {
            let lines = data.split(|byte| *byte == b'\n').count();
            assert!((1..=lines).contains(&line) && !message.is_empty(), "line {line}: {message}");
            assert_eq!(file(), data, "a file that is refused stays as it is");
        }
        Err(error) => panic!("{error}"),
    }
    fs::remove_file(&*FILE).expect("the file is there");
});

fn open() -> Result<(Archive, Vec<PlayedGame>), ArchiveError> {
    let mut games = Vec::new();
    let archive = Archive::open(&FILE, |game| {
        games.push(game);
        Ok(())
    })?;
    Ok((archive, games))
}

fn file() -> Vec<u8> {
    fs::read(&*FILE).expect("the file can be read")
}

fn read(data: &[u8], mut archive: Archive, games: &[PlayedGame]) {
    let whole = file();
    let kept = whole.strip_suffix(b"\n").unwrap_or(&whole);
    assert!(data.starts_with(kept), "only the end is taken away");
    assert!(whole.is_empty() || whole.ends_with(b"\n"), "the last line is ended");
    for game in games {
        archive.append(game).expect("the file can be written");
        let indexes = game.players.each_ref().map(|player| player.index);
        if indexes[0] != indexes[1] {
            assert_eq!(indexes.map(|index| game.half_points(index)).iter().sum::<usize>(), 2, "{game:?}");
        }
        show(game);
    }
    let longer = file();
    assert!(longer.starts_with(&whole), "lines are appended");
    drop(archive);
    let (_, again) = open().unwrap_or_else(|error| panic!("what was written is not read: {error}"));
    assert_eq!(again, [games, games].concat(), "what was written is read as something else");
    assert_eq!(file(), longer, "a whole file stays as it is");
}

/// Plays the game as far as it goes.
fn show(game: &PlayedGame) {
    let record = &game.record;
    let Some(entry) = REGISTRY.iter().find(|entry| entry.name == record.game) else {
        return;
    };
    let opened = settings::rules(entry, &bridge::given(&record.rules), 0)
        .and_then(|rules| settings::open(entry, &rules, Some(&record.start)))
        .and_then(|root| root.extend(&record.moves));
    if let Ok(root) = opened {
        assert_eq!(root.played(), record.moves);
    }
}
