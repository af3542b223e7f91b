//! Whoever starts processes leaves none behind, even if it is killed (`kill -9`) at any instant.
//!
//! `PLYD_KILLS=500 cargo test --test programs -- killed` kills more often than the default.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use crate::common::harness::Test;
use crate::common::process::{PLYD, launch, spawn};
use crate::common::{Random, Server, TIMEOUT};
use plyd::client::Process;
use rustix::process::{Pid, Signal, kill_process};

/// How often each starter is killed, unless `PLYD_KILLS` says otherwise.
const KILLS: u64 = 12;

/// By what name the executable is a program that is killed.
pub(crate) const STARTER: &str = "starter";

/// The variable of the environment by which processes are found, however they were started and wherever they
/// went.
const MARK: &str = "PLYD_KILLS_MARK";

/// What a process is called with until its program begins.
const JOIN: &[u8] = b"\0reaper\0--join\0";

/// A server that neither reads nor ends, and says that it began.
const DEAF: &str = "echo >> begun\nexec sleep 1000\n";

pub(crate) const TESTS: [Test; 3] = [
    ("no process outlives a starter that is killed", no_process_outlives_a_starter),
    ("no process outlives a script that is killed", no_process_outlives_a_script),
    ("nothing is left of a command that ends", nothing_is_left_of_a_command),
];

/// Who starts processes.
#[derive(Clone, Copy, Debug)]
enum Starter {
    Conform,
    Arena,
    Test,
}

/// The instant of a kill.
#[derive(Clone, Copy, Debug)]
enum Instants {
    /// Within the first 200 us of its program.
    AtOnce,
    /// Until some processes run.
    Soon,
    /// Within 2 ms of the beginning of a process that the starter started.
    ServerBegins,
}

/// What the program that is killed does: it starts daemons until then.
pub(crate) fn start_daemons() -> ! {
    let mut servers = Vec::new();
    loop {
        let (server, mut peer) = Server::stdio(&[]);
        peer.ping();
        // Those that are dropped end in the usual way.
        servers.truncate(2);
        servers.insert(0, (server, peer));
        fs::write("begun", "").unwrap();
    }
}

fn no_process_outlives_a_starter() {
    let kills: u64 = env::var("PLYD_KILLS").map_or(KILLS, |kills| kills.parse().expect("PLYD_KILLS=NUMBER"));
    let seed = u64::from(std::process::id());
    let mut random = Random::new(seed);
    for number in 0..kills {
        for starter in [Starter::Conform, Starter::Arena, Starter::Test] {
            let instants = match random.below(4) {
                0 => Instants::AtOnce,
                1 => Instants::Soon,
                _ => Instants::ServerBegins,
            };
            let row = format!("{starter:?} {instants:?}, kill {number} of seed {seed}");
            kill(starter, instants, &mut random, &format!("{seed}-{number}-{starter:?}"), &row);
        }
    }
}

fn kill(starter: Starter, instants: Instants, random: &mut Random, mark: &str, row: &str) {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kills-{mark}"));
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("deaf"), DEAF).unwrap();
    let own = place.join(STARTER);
    symlink(env::current_exe().unwrap(), &own).unwrap();
    let (program, arguments) = match starter {
        Starter::Conform => (Path::new(PLYD), &["conform", "--only", "ids", "--", "sh", "deaf"][..]),
        Starter::Arena => {
            let players = &["arena", "l-game", "--player", "cmd=sh deaf", "--player", "cmd=sh deaf"];
            (Path::new(PLYD), &players[..])
        }
        Starter::Test => (&*own, &[][..]),
    };
    let mut command = Command::new(program);
    command.args(arguments);
    command.current_dir(&place).env(MARK, mark);
    let mut launch = launch(&command);
    launch.command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut process = spawn(launch);
    await_program(process.id(), row);
    let begun = Instant::now();
    let delay: usize = match instants {
        Instants::AtOnce => random.below(200),
        Instants::Soon => random.below(60_000),
        Instants::ServerBegins => {
            let end = begun + TIMEOUT;
            while !place.join("begun").exists() {
                assert!(Instant::now() < end, "{row}: no process begins");
                thread::yield_now();
            }
            begun.elapsed().as_micros() as usize + random.below(2000)
        }
    };
    // A sleep would be too long for the first microseconds.
    while begun.elapsed() < Duration::from_micros(delay as u64) {
        std::hint::spin_loop();
    }
    process.end().unwrap();
    await_the_end(mark, row);
    fs::remove_dir_all(&place).unwrap();
}

/// Waits until no process has the mark any more.
fn await_the_end(mark: &str, row: &str) {
    let end = Instant::now() + TIMEOUT;
    loop {
        let left = marked(mark);
        if left.is_empty() {
            return;
        }
        if Instant::now() > end {
            for (process, _) in &left {
                let _ended_already = kill_process(*process, Signal::KILL);
            }
            panic!("{row}: {left:?} are left");
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits for a process with the mark and such a command.
fn await_marked(mark: &str, is_meant: impl Fn(&str) -> bool) -> Pid {
    let end = Instant::now() + TIMEOUT;
    loop {
        let processes = marked(mark);
        if let Some((process, _)) = processes.iter().find(|(_, command)| is_meant(command)) {
            return *process;
        }
        assert!(Instant::now() < end, "what is meant is not among {processes:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The process alone is killed, and not its group, as by whoever knows no more than its number.
fn no_process_outlives_a_script() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/run-tests");
    #[allow(clippy::disallowed_methods, reason = "it ends at once")]
    let has_python = Command::new("python3").arg("--version").output().is_ok();
    let mark = format!("{}-script", std::process::id());
    for (program, arguments, server) in [
        (PLYD, &["reaper", "--run", "--", "sh", "-c", "sleep 1000 & sleep 1001 & wait"][..], "sleep 1001"),
        (script, &["-k", "test_speaks_over_sockets"], " serve "),
    ] {
        if program == script && !has_python {
            continue;
        }
        let mut command = Command::new(program);
        // These tests may run within a reaper themselves, and then the script would not start one of its own.
        command.args(arguments).env("PLYD_BIN", PLYD).env(MARK, &mark).env_remove("PLYD_REAPED");
        let mut launch = launch(&command);
        launch.command.stdout(Stdio::null()).stderr(Stdio::null());
        let process = spawn(launch);
        await_marked(&mark, |command| command.contains(server));
        kill_process(pid(&process), Signal::KILL).unwrap();
        await_the_end(&mark, program);
    }
}

/// What a command that runs within a reaper leaves behind ends with it, and its exit code is passed on.
fn nothing_is_left_of_a_command() {
    let mark = format!("{}-command", std::process::id());
    for (script, kill, signals, code) in [
        ("sleep 1000 & exit 7", false, &[][..], 7),
        ("sleep 1000 & kill -9 $$", false, &[], 128 + 9),
        ("sleep 1000 & sleep 1001; true", true, &[], 128 + 9),
        // It is asked to end as by Ctrl-C, and killed if it was asked already.
        ("trap 'exit 5' INT; sleep 1000 & sleep 1001", false, &[Signal::TERM], 5),
        ("trap '' INT; sleep 1000 & sleep 1001", false, &[Signal::TERM, Signal::INT], 128 + 9),
    ] {
        let mut command = Command::new(PLYD);
        command.args(["reaper", "--run", "--", "sh", "-c", script]).env(MARK, &mark);
        let mut process = spawn(launch(&command));
        if kill || !signals.is_empty() {
            await_marked(&mark, |command| command.starts_with("sleep 1001"));
        }
        if kill {
            let shell = await_marked(&mark, |command| command.starts_with("sh -c"));
            kill_process(shell, Signal::KILL).unwrap();
        }
        signals.iter().for_each(|signal| kill_process(pid(&process), *signal).unwrap());
        let status = process.wait_exit(Instant::now() + TIMEOUT).unwrap().expect(script);
        assert_eq!(status.code(), Some(code), "{script}");
        await_the_end(&mark, script);
    }
}

fn pid(process: &Process) -> Pid {
    i32::try_from(process.id()).ok().and_then(Pid::from_raw).expect("a process has a number")
}

/// Waits until a process runs its program, and no longer what makes it known to the reaper of this test.
fn await_program(process: u32, row: &str) {
    let path = format!("/proc/{process}/cmdline");
    let end = Instant::now() + TIMEOUT;
    // A sleep would be too long for the first microseconds.
    while fs::read(&path).unwrap().windows(JOIN.len()).any(|part| part == JOIN) {
        assert!(Instant::now() < end, "{row}: its program does not begin");
        std::hint::spin_loop();
    }
}

/// The processes with the mark in their environment, with their commands. Those that are dead have none.
fn marked(mark: &str) -> Vec<(Pid, String)> {
    let mark = format!("{MARK}={mark}\0").into_bytes();
    let processes = fs::read_dir("/proc").unwrap().map_while(Result::ok).map(|entry| entry.path());
    let found = processes.filter_map(|path| {
        let environment = fs::read(path.join("environ")).ok()?;
        environment.windows(mark.len()).find(|part| *part == mark)?;
        let command = fs::read(path.join("cmdline")).unwrap_or_default();
        let process = path.file_name()?.to_str()?.parse().ok().and_then(Pid::from_raw)?;
        Some((process, String::from_utf8_lossy(&command).replace('\0', " ")))
    });
    found.collect()
}
