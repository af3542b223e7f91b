//! What outlives a suite that is killed.

use std::fs;
use std::path::Path;
use std::process::{Command as Program, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use plyd::client::{Process, Reaper};
use rustix::process::{Pid, Signal, kill_process};

use crate::finding::{Figure, Finding, LOST, Place, figure};
use crate::server::{Outcome, PLYD};

/// `kill -9` of `plyd conform` as soon as a server runs.
pub(crate) const FINDING: Finding = Finding {
    lines: &[("30 times `kill -9` of `plyd conform` within 2 ms of its server's start: servers left", "0")],
    measure,
};

const KILLS: usize = 30;
/// The variable of the environment by which the servers are found, wherever they went.
const MARK: &str = "PLYD_FINDINGS_MARK";
/// A server that says that it began, and then neither reads nor ends.
const DEAF: &str = "echo >> begun\nexec sleep 100\n";
/// What is left 2 s after the last kill is left for good.
const GRACE: Duration = Duration::from_secs(2);

/// Ends what has the mark, also where the measurement fails.
struct Marked(String);

impl Marked {
    /// The processes with the mark in their environment. Those that are dead have none.
    fn processes(&self) -> Outcome<Vec<Pid>> {
        let mark = format!("{MARK}={}\0", self.0).into_bytes();
        let found = fs::read_dir("/proc")?.map_while(Result::ok).filter_map(|entry| {
            let environment = fs::read(entry.path().join("environ")).ok()?;
            environment.windows(mark.len()).find(|part| *part == mark)?;
            entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)
        });
        Ok(found.collect())
    }
}

impl Drop for Marked {
    fn drop(&mut self) {
        for process in self.processes().unwrap_or_default() {
            let _ended_already = kill_process(process, Signal::KILL);
        }
    }
}

fn measure(build: &Path) -> Outcome<Vec<Figure>> {
    let place = Place::new("kills")?;
    place.file("deaf", DEAF)?;
    let marked = Marked(format!("{}-{}", std::process::id(), build.display()));
    let reaper = Reaper::start(PLYD)?;
    for number in 0..KILLS {
        let begun = place.0.join("begun");
        let _none_yet = fs::remove_file(&begun);
        let mut conform = Program::new(build);
        conform.args(["conform", "--only", "ids", "--", "sh", "deaf"]);
        conform.current_dir(&place.0).env(MARK, &marked.0);
        let mut launch = reaper.launch(&conform)?;
        launch.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut suite = Process::spawn(launch)?;
        let deadline = Instant::now() + LOST;
        while !begun.exists() {
            if Instant::now() > deadline {
                return Err("no server begins".into());
            }
            thread::yield_now();
        }
        // Instants that are spread evenly; a sleep would be too long.
        let instant = Instant::now() + Duration::from_micros((number * 2000 / KILLS) as u64);
        while Instant::now() < instant {
            std::hint::spin_loop();
        }
        suite.end()?;
    }
    let deadline = Instant::now() + GRACE;
    while !marked.processes()?.is_empty() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(10));
    }
    let left = marked.processes()?.len();
    Ok(vec![figure(format!("{left} after {KILLS} kills"), left == 0)])
}
