//! A game whose lesson says nonsense is served all the same.

use plyd_core::engine::{Entry, LessonStep};
use plyd_core::nim;
use plyd_core::search::clock::now_ns;
use serde_json::Value;

use super::accepting::Log;
use crate::{Config, Daemon};

const STEP: LessonStep = LessonStep {
    title: "End",
    text: "Whoever takes the last stone wins.",
    task: "Take all.",
    rules: "most=3",
    start: "3 1",
    solutions: &["3"],
};

static NIM: Entry = Entry {
    lesson: &[
        LessonStep { title: "No rule", rules: "lest=3", ..STEP },
        STEP,
        LessonStep { title: "No number", rules: "most=many", ..STEP },
    ],
    ..nim::ENTRY
};

#[test]
fn a_step_whose_rules_are_none_is_left_out_and_the_log_says_so_once() {
    static GAMES: &[&Entry] = &[&NIM];
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let daemon = Daemon::start(&Config::default(), GAMES).unwrap();
    let connection = daemon.connect();
    for _ in 0..2 {
        let line = br#"{"id":"1","cmd":"describe","what":"game","game":"nim"}"#;
        let said: Value = connection.ask(line, now_ns(), |_| {}).unwrap();
        let lesson = said["body"]["lesson"].as_array().unwrap();
        assert_eq!(lesson.len(), 1, "{said}");
        assert_eq!((&lesson[0]["title"], &lesson[0]["rules"]["most"]), (&"End".into(), &3.into()));
    }
    let log = log.text();
    for (title, rule) in [("No rule", "lest=3"), ("No number", "most=many")] {
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(title)).collect();
        assert_eq!(lines.len(), 1, "{log}");
        assert!(lines[0].contains(rule) && lines[0].contains("nim"), "{log}");
    }
}
