//! New settings for a daemon that runs.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::accepting::Log;
use super::fake::GAMES;
use super::script::Stage;
use crate::config::limits::Limits;
use crate::signal::Signal;
use crate::spans::Origin;
use crate::state::State;
use crate::state::budget::Memory;
use crate::state::job::Phase;
use crate::{Config, Daemon, Reload, ServeError};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn limits(connections: usize) -> Limits {
    Limits { connections, ..Limits::default() }
}

#[test]
fn what_needs_a_restart_is_named_until_it_is_as_at_the_start() {
    let daemon = Daemon::start(&Config::default(), GAMES).unwrap();
    let cores = Limits::default().cores;
    for (config, names) in [
        (Config { limits: limits(1), token: Some("t".into()), insecure: true, ..Config::default() }, &[][..]),
        (Config { ws_origins: vec!["http://a".into()], ..Config::default() }, &[]),
        (Config { stdio: true, ..Config::default() }, &["stdio"]),
        (
            Config { tcp: vec!["[::1]:0".into()], ws: vec!["[::1]:0".into()], ..Config::default() },
            &["tcp", "ws"],
        ),
        (Config { unix: Some("/x".into()), search_nice: 3, ..Config::default() }, &["unix", "search-nice"]),
        (Config { limits: Limits { cores: cores + 1, ..limits(7) }, ..Config::default() }, &["threads"]),
        (Config { transcript: Some("/nowhere/x".into()), ..Config::default() }, &["transcript"]),
        (Config::default(), &[]),
    ] {
        assert_eq!(daemon.reload(&config).unwrap(), names, "{config:?}");
        let state = daemon.shared.lock();
        let in_force = (state.limits.connections, state.limits.cores, &state.token);
        assert_eq!(in_force, (config.limits.connections, cores, &config.token), "{config:?}");
    }
}

/// Settings that somebody sends while they are read: so many connections, or a panic.
#[derive(Debug)]
struct Sent(Receiver<Option<usize>>);

impl Reload for Sent {
    fn read(&mut self) -> Result<Config, String> {
        let connections = self.0.recv().map_err(|error| error.to_string())?;
        let connections = connections.unwrap_or_else(|| std::panic::resume_unwind(Box::new("as asked")));
        Ok(Config { limits: limits(connections), ..Config::default() })
    }

    fn applied(&mut self) {}
}

/// Lets everything else go on until that is true.
async fn until(is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "it is never so");
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_reload_that_panics_or_hangs_leaves_the_later_ones_as_they_are() {
    let daemon = Daemon::start(&Config::default(), GAMES).unwrap();
    let (settings, sent) = channel();
    let (hangup, mut hangups) = tokio::sync::mpsc::unbounded_channel();
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let connections = || daemon.shared.lock().limits.connections;
    let steps = async {
        hangup.send(()).unwrap();
        settings.send(None).unwrap();
        until(|| log.text().contains("panicked")).await;
        // The first is read while two more come, which count as one.
        for _ in 0..3 {
            hangup.send(()).unwrap();
        }
        until(|| log.text().contains("still being read")).await;
        assert_eq!(log.text().matches("still being read").count(), 1, "{}", log.text());
        for number in [5, 6] {
            settings.send(Some(number)).unwrap();
            until(|| connections() == number).await;
        }
        hangup.send(()).unwrap();
        settings.send(Some(7)).unwrap();
        until(|| connections() == 7).await;
    };
    let next = async || hangups.recv().await.expect("the sender lives as long");
    let heed = daemon.heed(next, Box::new(Sent(sent)));
    runtime().block_on(async {
        tokio::select! {
            () = heed => panic!("it heeds nothing any more"),
            () = steps => {}
        }
    });
}

#[test]
fn the_memory_of_tables_follows_the_limit() {
    let daemon = Daemon::start(&Config::default(), GAMES).unwrap();
    let limits = Limits { hash_bytes: 3 << 20, ..Limits::default() };
    daemon.reload(&Config { limits, ..Config::default() }).unwrap();
    assert_eq!(daemon.shared.lock().memory.total(), 3 << 20);
    assert_eq!(daemon.shared.request_worker.memory.total(), 3 << 20);
}

#[test]
fn a_configuration_that_cannot_be_had_changes_nothing() {
    let path = std::env::temp_dir().join(format!("plyd-test-reload-{}", std::process::id()));
    let transcript = || Some(path.clone());
    let token = || Some("secret".to_owned());
    let daemon =
        Daemon::start(&Config { transcript: transcript(), token: token(), ..Config::default() }, GAMES)
            .unwrap();
    runtime().block_on(daemon.serve_tcp("0.0.0.0:0")).unwrap();
    let open = daemon.reload(&Config { limits: limits(1), transcript: transcript(), ..Config::default() });
    assert!(matches!(open, Err(ServeError::Exposed { .. })), "{open:?}");
    let nowhere = Some(PathBuf::from("/nowhere/transcript"));
    let lost = daemon.reload(&Config {
        limits: limits(1),
        transcript: nowhere,
        token: token(),
        ..Config::default()
    });
    assert!(matches!(lost, Err(ServeError::Transcript { .. })), "{lost:?}");
    {
        let state = daemon.shared.lock();
        assert_eq!((state.limits.connections, &state.token), (Limits::default().connections, &token()));
    }
    let insecure = Config { transcript: transcript(), insecure: true, ..Config::default() };
    assert_eq!(daemon.reload(&insecure).unwrap(), [""; 0]);
    assert_eq!(daemon.shared.lock().token, None);
    drop(daemon);
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn sessions_forget_their_trees_where_fewer_engines_are_allowed() {
    let mut stage = Stage::new();
    for session in ["a", "b", "c"] {
        open(&mut stage, session);
        analyse(&mut stage, session);
        if session != "c" {
            come_back(&mut stage, session);
        }
    }
    for (engines, names) in [(3, "a b c"), (2, "b c"), (1, "c"), (512, "c")] {
        allow(&mut stage, engines);
        assert_eq!(kept(&stage), names, "{engines} engines");
        assert_eq!(stage.state.conns.values().map(|conn| conn.sessions.len()).sum::<usize>(), 3);
    }
    assert_eq!(stage.state.jobs.len(), 1, "the search goes on");
}

#[test]
fn what_searched_when_fewer_engines_were_allowed_forgets_when_it_ends() {
    let mut stage = Stage::new();
    for session in ["a", "b"] {
        open(&mut stage, session);
        analyse(&mut stage, session);
    }
    allow(&mut stage, 1);
    assert_eq!(kept(&stage), "a b", "both search");
    come_back(&mut stage, "a");
    assert_eq!(kept(&stage), "b");
    come_back(&mut stage, "b");
    assert_eq!(kept(&stage), "b", "one is allowed");
}

#[test]
fn a_session_whose_search_waits_for_its_turn_forgets_last() {
    let mut stage = Stage::new();
    for session in ["a", "b"] {
        open(&mut stage, session);
        analyse(&mut stage, session);
        come_back(&mut stage, session);
    }
    // Both cores are taken.
    for id in ["x", "y"] {
        let search = r#""cmd":"go","game":"counting","position":{},"clock":{"kind":"none"}"#;
        stage.request(&format!(r#"{{"id":"{id}",{search}}}"#));
    }
    stage.take_orders();
    let search = r#""cmd":"go","position":{},"clock":{"kind":"none"}"#;
    stage.request(&format!(r#"{{"id":"again","session":"a",{search}}}"#));
    let phase = stage.state.jobs.values().find(|job| job.name == "again").map(|job| job.phase);
    assert_eq!(phase, Some(Phase::Starting));
    for (engines, names) in [(4, "a b"), (3, "a"), (2, "")] {
        allow(&mut stage, engines);
        assert_eq!(kept(&stage), names, "{engines} engines");
    }
    assert_eq!(stage.state.jobs.len(), 3, "the searches go on");
}

/// Opens a session.
fn open(stage: &mut Stage, session: &str) {
    stage.request(&format!(r#"{{"id":"n","cmd":"newgame","session":"{session}","game":"counting"}}"#));
}

/// Begins a search in a session, under its name.
fn analyse(stage: &mut Stage, session: &str) {
    let go = r#""cmd":"go","position":{},"mode":"analyse""#;
    stage.request(&format!(r#"{{"id":"{session}","session":"{session}",{go}}}"#));
    stage.take_orders();
}

/// Ends the search of a session.
fn come_back(stage: &mut Stage, session: &str) {
    let jobs = &stage.state.jobs;
    let job = *jobs.iter().find(|(_, job)| job.name == session).expect("it searches").0;
    stage.return_from(job, "proven");
    stage.wait(1);
}

fn allow(stage: &mut Stage, engines: usize) {
    let limits = Limits { engines, ..stage.state.limits.clone() };
    stage.state.reconfigure(limits, None);
}

/// The sessions that keep an engine.
fn kept(stage: &Stage) -> String {
    let sessions = stage.state.conns.values().flat_map(|conn| &conn.sessions);
    let mut kept: Vec<&str> =
        sessions.filter(|(_, session)| session.worker.is_some()).map(|(name, _)| name.as_str()).collect();
    kept.sort_unstable();
    kept.join(" ")
}

#[test]
fn shares_are_for_all_connections_that_there_are() {
    const CONNECTIONS: usize = 20;
    let nobody = || Signal::Task(Arc::default());
    let mut state = State::new(limits(CONNECTIONS), &[], None, Memory::new(0), 0);
    for _ in 0..CONNECTIONS {
        state.open_conn(Origin::Unix, [nobody(), nobody(), nobody()], 0);
    }
    state.reconfigure(limits(1), None);
    let total = state.limits.session_bytes_in_all;
    assert!(!state.session_bytes.is_own(0, total / CONNECTIONS), "the shares exceed the whole");
    assert!(state.session_bytes.is_own(0, total / CONNECTIONS / 8), "each has one");
}
